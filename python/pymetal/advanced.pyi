# SPDX-License-Identifier: Apache-2.0
# Made by python/pymetal_stubs.py from the module's docstrings: change those instead.
"""Copies, heaps, fences, events, argument buffers, indirect commands, archives and capture."""

from . import (
    ArgumentDescriptor,
    ArgumentEncoder,
    BinaryArchive,
    BinaryArchiveDescriptor,
    BlitCommandEncoder,
    CaptureDescriptor,
    CaptureManager,
    CaptureScope,
    Event,
    Fence,
    Heap,
    HeapDescriptor,
    IndirectCommandBuffer,
    IndirectCommandBufferDescriptor,
    IndirectComputeCommand,
    ResidencySet,
    SharedEvent,
    SharedEventListener,
    shared_capture_manager,
)

__all__ = [
    "ArgumentDescriptor",
    "ArgumentEncoder",
    "BinaryArchive",
    "BinaryArchiveDescriptor",
    "BlitCommandEncoder",
    "CaptureDescriptor",
    "CaptureManager",
    "CaptureScope",
    "Event",
    "Fence",
    "Heap",
    "HeapDescriptor",
    "IndirectCommandBuffer",
    "IndirectCommandBufferDescriptor",
    "IndirectComputeCommand",
    "ResidencySet",
    "SharedEvent",
    "SharedEventListener",
    "shared_capture_manager",
]
