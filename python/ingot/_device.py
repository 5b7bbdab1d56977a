# SPDX-License-Identifier: Apache-2.0
"""The device that tensors live on, and its pool of memory."""

from __future__ import annotations

from typing import Any

from . import _tensor

__all__ = ["compile", "device", "pool", "pool_statistics", "default_device"]


def compile(model: Any = None, **options: Any) -> Any:
    """The function or module itself: operations are recorded and fused without it. For programs that
    call torch.compile(), also as a decorator with options, which change nothing."""
    return model if model is not None else lambda function: function


def device(name: Any = "metal", index: int | None = None) -> _tensor.Device:
    """The device of a name: "cpu", "cuda", "cuda:1", "mps" (the default Metal device); device("cuda", 1)."""
    return _tensor.Device(name if index is None else f"{name}:{index}")


def default_device() -> _tensor.Device:
    """The system's default Metal device."""
    return _tensor.Device()


def pool() -> _tensor.Pool:
    """The buffer pool of the default device."""
    return _tensor.Device().pool


def pool_statistics() -> dict[str, int]:
    """The counters of the default device's buffer pool, as ig_pool_statistics has them."""
    return _tensor.Device().pool.statistics
