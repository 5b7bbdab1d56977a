# SPDX-License-Identifier: Apache-2.0
"""Copies, heaps, fences, events, argument buffers, indirect commands, archives and capture."""

from ._pymetal import (
    ArgumentDescriptor,
    ArgumentEncoder,
    BinaryArchive,
    BinaryArchiveDescriptor,
    BlitCommandEncoder,
    CaptureManager,
    CaptureScope,
    Event,
    Fence,
    Heap,
    HeapDescriptor,
    IndirectCommandBuffer,
    IndirectCommandBufferDescriptor,
    SharedEvent,
    shared_capture_manager,
)

__all__ = [
    "ArgumentDescriptor",
    "ArgumentEncoder",
    "BinaryArchive",
    "BinaryArchiveDescriptor",
    "BlitCommandEncoder",
    "CaptureManager",
    "CaptureScope",
    "Event",
    "Fence",
    "Heap",
    "HeapDescriptor",
    "IndirectCommandBuffer",
    "IndirectCommandBufferDescriptor",
    "SharedEvent",
    "shared_capture_manager",
]
