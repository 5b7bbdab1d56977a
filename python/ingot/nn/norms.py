# SPDX-License-Identifier: Apache-2.0
"""Normalisations: of a batch, of the last axes, of groups of channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _tensor
from .._tensor import Tensor
from .module import Module, Parameter


def _scale_and_shift(module: Module, shape: int | Sequence[int], weight: bool, bias: bool,
                     dtype: Any, device: Any) -> None:
    """A weight of ones and a bias of zeros, each or none."""
    made = {"dtype": dtype, "device": device}
    module.register_parameter("weight", Parameter(_tensor.ones(shape, **made)) if weight else None)
    module.register_parameter("bias", Parameter(_tensor.zeros(shape, **made)) if bias else None)


def _shape(value: int | Sequence[int]) -> tuple[int, ...]:
    return (value,) if isinstance(value, int) else tuple(value)


class _BatchNorm(Module):
    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.1,
                 affine: bool = True, track_running_stats: bool = True, dtype: Any = None,
                 device: Any = None) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        _scale_and_shift(self, num_features, affine, affine, dtype, device)
        tracked, made = track_running_stats, {"dtype": dtype, "device": device}
        self.register_buffer("running_mean", _tensor.zeros(num_features, **made)
                             if tracked else None)
        self.register_buffer("running_var", _tensor.ones(num_features, **made)
                             if tracked else None)
        self.register_buffer("num_batches_tracked", _tensor.zeros((), dtype="int64", device=device)
                             if tracked else None)

    def forward(self, x: Any) -> Tensor:
        if self.training and self.num_batches_tracked is not None:
            self.num_batches_tracked += 1
        training = self.training or self.running_mean is None
        return _tensor.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias,
                                  training, self.momentum, self.eps)

    def extra_repr(self) -> str:
        return f"{self.num_features}, eps={self.eps}, momentum={self.momentum}"


class BatchNorm1d(_BatchNorm):
    """Per channel of x (N, C) or (N, C, L). Running mean and variance are used when not
    training."""


class BatchNorm2d(_BatchNorm):
    """Per channel of x (N, C, H, W). Running mean and variance are used when not training."""


class LayerNorm(Module):
    """(x - mean) / sqrt(variance + eps) over the last axes, of this shape."""

    def __init__(self, normalized_shape: int | Sequence[int], eps: float = 1e-5,
                 elementwise_affine: bool = True, bias: bool = True, dtype: Any = None,
                 device: Any = None) -> None:
        super().__init__()
        self.normalized_shape, self.eps = _shape(normalized_shape), eps
        _scale_and_shift(self, self.normalized_shape, elementwise_affine,
                         elementwise_affine and bias, dtype, device)

    def forward(self, x: Any) -> Tensor:
        return _tensor.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}"


class RMSNorm(Module):
    """x / sqrt(mean(x * x) + eps) over the last axes, of this shape."""

    def __init__(self, normalized_shape: int | Sequence[int], eps: float = 1e-6,
                 elementwise_affine: bool = True, dtype: Any = None, device: Any = None) -> None:
        super().__init__()
        self.normalized_shape, self.eps = _shape(normalized_shape), eps
        self.register_parameter("weight", Parameter(
            _tensor.ones(self.normalized_shape, dtype=dtype, device=device))
            if elementwise_affine else None)

    def forward(self, x: Any) -> Tensor:
        return _tensor.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}"


class GroupNorm(Module):
    """Per element of the batch and group of channels of x (N, C, ..)."""

    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True,
                 dtype: Any = None, device: Any = None) -> None:
        super().__init__()
        self.num_groups, self.eps = num_groups, eps
        _scale_and_shift(self, num_channels, affine, affine, dtype, device)

    def forward(self, x: Any) -> Tensor:
        return _tensor.group_norm(x, self.num_groups, self.weight, self.bias, self.eps)
