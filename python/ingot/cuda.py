# SPDX-License-Identifier: Apache-2.0
"""GPUs of CUDA's, with PyTorch's names."""

from __future__ import annotations

from typing import Any

from . import _tensor

__all__ = ["is_available", "device_count", "get_device_name", "synchronize", "manual_seed", "manual_seed_all",
           "empty_cache"]


def _device(index: int) -> _tensor.Device | None:
    try:
        return _tensor.Device(f"cuda:{index}")
    except _tensor.DeviceError:
        return None


def device_count() -> int:
    """How many GPUs there are."""
    n = 0
    while n < 16 and _device(n) is not None:
        n += 1
    return n


def is_available() -> bool:
    """Whether there is a GPU."""
    return _device(0) is not None


def _given(device: Any) -> _tensor.Device:
    name = "cuda" if device is None else f"cuda:{device}" if isinstance(device, int) else device
    return _tensor.Device(name)


def get_device_name(device: Any = None) -> str:
    """What a GPU is called."""
    return _given(device).name


def synchronize(device: Any = None) -> None:
    """Waits for all work of a GPU."""
    _given(device).synchronize()


def empty_cache() -> None:
    """Gives memory that waits for the next tensors back to the system."""
    for index in range(device_count()):
        _tensor.Device(f"cuda:{index}").pool.clear()


def manual_seed(seed: int) -> None:
    """ingot.manual_seed(): random numbers do not depend on the device."""
    _tensor.manual_seed(seed)


manual_seed_all = manual_seed
