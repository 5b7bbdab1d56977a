# SPDX-License-Identifier: Apache-2.0
"""New values for tensors: the first ones of networks. Those of the C library (ig_init_*)."""

from __future__ import annotations

import math

from .. import _tensor
from .._gradients import no_grad
from .._tensor import Tensor

__all__ = ["uniform_", "normal_", "constant_", "zeros_", "ones_", "kaiming_uniform_",
           "kaiming_normal_", "xavier_uniform_", "xavier_normal_"]


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, seed: int | None = None) -> Tensor:
    """Uniform from a to b."""
    _tensor._init_uniform(tensor, a, b, seed)
    return tensor


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0,
            seed: int | None = None) -> Tensor:
    """Normally distributed."""
    _tensor._init_normal(tensor, mean, std, seed)
    return tensor


def constant_(tensor: Tensor, value: float) -> Tensor:
    """One value."""
    with no_grad():
        return tensor.copy_(_tensor.full_like(tensor.detach(), value))


def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    return constant_(tensor, 0)


def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    return constant_(tensor, 1)


def kaiming_uniform_(tensor: Tensor, gain: float = math.sqrt(2), seed: int | None = None) -> Tensor:
    """Uniform within gain * sqrt(3 / fan_in); gain: sqrt(2) for ReLU."""
    _tensor._init_kaiming_uniform(tensor, gain, seed)
    return tensor


def kaiming_normal_(tensor: Tensor, gain: float = math.sqrt(2), seed: int | None = None) -> Tensor:
    """Normal with deviation gain / sqrt(fan_in); gain: sqrt(2) for ReLU."""
    _tensor._init_kaiming_normal(tensor, gain, seed)
    return tensor


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, seed: int | None = None) -> Tensor:
    """Uniform within gain * sqrt(6 / (fan_in + fan_out))."""
    _tensor._init_xavier_uniform(tensor, gain, seed)
    return tensor


def xavier_normal_(tensor: Tensor, gain: float = 1.0, seed: int | None = None) -> Tensor:
    """Normal with deviation gain * sqrt(2 / (fan_in + fan_out))."""
    _tensor._init_xavier_normal(tensor, gain, seed)
    return tensor
