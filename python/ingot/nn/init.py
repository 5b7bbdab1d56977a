# SPDX-License-Identifier: Apache-2.0
"""New values for tensors: the first ones of networks."""

from __future__ import annotations

import math

from .. import _tensor
from .._methods import no_grad
from .._tensor import Tensor

__all__ = ["uniform_", "normal_", "constant_", "zeros_", "ones_", "kaiming_uniform_",
           "kaiming_normal_", "xavier_uniform_", "xavier_normal_"]


def _fans(tensor: Tensor) -> tuple[int, int]:
    if tensor.ndim < 2:
        raise _tensor.ShapeError(f"fans need two axes; the shape is {tensor.shape}")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _give(tensor: Tensor, values: Tensor) -> Tensor:
    with no_grad():
        return tensor.copy_(values)


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, seed: int | None = None) -> Tensor:
    """Uniform from a to b."""
    return _give(tensor, _tensor.uniform(tensor.shape, a, b, seed=seed))


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0,
            seed: int | None = None) -> Tensor:
    """Normally distributed."""
    return _give(tensor, _tensor.randn(tensor.shape, seed=seed) * std + mean)


def constant_(tensor: Tensor, value: float) -> Tensor:
    """One value."""
    return _give(tensor, _tensor.full_like(tensor.detach(), value))


def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    return constant_(tensor, 0)


def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    return constant_(tensor, 1)


def kaiming_uniform_(tensor: Tensor, gain: float = math.sqrt(2), seed: int | None = None) -> Tensor:
    """Uniform within gain * sqrt(3 / fan_in); gain: sqrt(2) for ReLU."""
    bound = gain * math.sqrt(3 / max(1, _fans(tensor)[0]))
    return uniform_(tensor, -bound, bound, seed)


def kaiming_normal_(tensor: Tensor, gain: float = math.sqrt(2), seed: int | None = None) -> Tensor:
    """Normal with deviation gain / sqrt(fan_in); gain: sqrt(2) for ReLU."""
    return normal_(tensor, 0.0, gain / math.sqrt(max(1, _fans(tensor)[0])), seed)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, seed: int | None = None) -> Tensor:
    """Uniform within gain * sqrt(6 / (fan_in + fan_out))."""
    bound = gain * math.sqrt(6 / max(1, sum(_fans(tensor))))
    return uniform_(tensor, -bound, bound, seed)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, seed: int | None = None) -> Tensor:
    """Normal with deviation gain * sqrt(2 / (fan_in + fan_out))."""
    return normal_(tensor, 0.0, gain * math.sqrt(2 / max(1, sum(_fans(tensor)))), seed)
