# SPDX-License-Identifier: Apache-2.0
"""Layers: linear, convolutions, embedding, dropout, pools."""

from __future__ import annotations

from typing import Any

from .. import _tensor
from .._tensor import Tensor
from .functional import conv1d, conv2d, linear
from .module import Module, Parameter


def _weight_and_bias(module: Module, shape: tuple[int, ...], bias: bool, dtype: Any, device: Any,
                     seed: int | None, n_bias: int | None = None) -> None:
    """A weight of this shape (out, in, ..) and a bias (out) or none, with PyTorch's first values;
    those of the C library's modules for the same seed. n_bias: its length, where it is another."""
    made = {"dtype": dtype, "device": device}
    weight = Parameter(_tensor.zeros(shape, **made))
    shift = Parameter(_tensor.zeros(n_bias or shape[0], **made)) if bias else None
    _tensor._init_layer(weight, shift, seed)
    module.register_parameter("weight", weight)
    module.register_parameter("bias", shift)


class Linear(Module):
    """x (.., in) -> (.., out): weight (out, in), bias (out)."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True, dtype: Any = None,
                 device: Any = None, seed: int | None = None) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        _weight_and_bias(self, (out_features, in_features), bias, dtype, device, seed)

    def forward(self, x: Any) -> Tensor:
        return linear(x, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"{self.in_features}, {self.out_features}, bias={self.bias is not None}"


def _pair(value: Any) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else tuple(value)  # type: ignore[return-value]


class Conv2d(Module):
    """x (N, in, H, W): weight (out, in / groups, height, width), bias (out). padding may
    be "same"."""

    _function = staticmethod(conv2d)
    _axes = 2

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1,
                 padding: Any = 0, dilation: Any = 1, groups: int = 1, bias: bool = True,
                 dtype: Any = None, device: Any = None, seed: int | None = None) -> None:
        super().__init__()
        if groups < 1 or in_channels % groups or out_channels % groups:
            raise ValueError(f"{groups} groups of {in_channels} and {out_channels} channels")
        if padding == "same" and any(step != 1 for step in _pair(stride)):
            raise ValueError(f'padding="same" goes with a stride of 1, not {stride}')
        kernel = _pair(kernel_size)[:self._axes]
        self.in_channels, self.out_channels, self.kernel_size = in_channels, out_channels, kernel
        self.stride, self.padding, self.dilation, self.groups = stride, padding, dilation, groups
        _weight_and_bias(self, (out_channels, in_channels // groups, *kernel), bias, dtype, device,
                         seed)

    def forward(self, x: Any) -> Tensor:
        return self._function(x, self.weight, self.bias, self.stride, self.padding, self.dilation,
                              self.groups)

    def extra_repr(self) -> str:
        return (f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
                f"stride={self.stride}, padding={self.padding}")


class Conv1d(Conv2d):
    """x (N, in, L): weight (out, in / groups, length), bias (out)."""

    _function = staticmethod(conv1d)
    _axes = 1


class ConvTranspose2d(Module):
    """What Conv2d does to gradients, x (N, in, H, W): weight (in, out / groups, height, width),
    bias (out)."""

    _function = staticmethod(_tensor.conv_transpose2d)
    _axes = 2

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1,
                 padding: Any = 0, output_padding: Any = 0, groups: int = 1, bias: bool = True,
                 dilation: Any = 1, dtype: Any = None, device: Any = None,
                 seed: int | None = None) -> None:
        super().__init__()
        if groups < 1 or in_channels % groups or out_channels % groups:
            raise ValueError(f"{groups} groups of {in_channels} and {out_channels} channels")
        kernel = _pair(kernel_size)[:self._axes]
        self.in_channels, self.out_channels, self.kernel_size = in_channels, out_channels, kernel
        self.stride, self.padding, self.dilation, self.groups = stride, padding, dilation, groups
        self.output_padding = output_padding
        _weight_and_bias(self, (in_channels, out_channels // groups, *kernel), bias, dtype, device,
                         seed, out_channels)

    def forward(self, x: Any) -> Tensor:
        return self._function(x, self.weight, self.bias, self.stride, self.padding, self.dilation,
                              self.groups, self.output_padding)

    def extra_repr(self) -> str:
        return (f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
                f"stride={self.stride}, padding={self.padding}, "
                f"output_padding={self.output_padding}")


class ConvTranspose1d(ConvTranspose2d):
    """What Conv1d does to gradients, x (N, in, L): weight (in, out / groups, length), bias
    (out)."""

    _function = staticmethod(_tensor.conv_transpose1d)
    _axes = 1


class Dropout(Module):
    """0 with probability p, else x / (1 - p), anew in every training step; x when not training."""

    def __init__(self, p: float = 0.5, seed: int | None = None) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"a probability is from 0 to 1, not {p}")
        self.p, self.seed = p, seed

    def forward(self, x: Any) -> Tensor:
        if not self.training:
            return _tensor.asarray(x)
        if self.seed is not None:
            self.seed += 1
        return _tensor.dropout(x, self.p, True, self.seed)

    def extra_repr(self) -> str:
        return f"p={self.p}"


class Embedding(Module):
    """Indices (..) -> (.., dim): weight (n, dim)."""

    def __init__(self, num_embeddings: int, embedding_dim: int, dtype: Any = None,
                 device: Any = None, seed: int | None = None) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.weight = Parameter(_tensor.randn((num_embeddings, embedding_dim), dtype=dtype,
                                              device=device, seed=seed))

    def forward(self, ids: Any) -> Tensor:
        return _tensor.embedding(self.weight, ids)

    def extra_repr(self) -> str:
        return f"{self.num_embeddings}, {self.embedding_dim}"


class Flatten(Module):
    """Some neighbouring axes as one; all but the first."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, x: Any) -> Tensor:
        return _tensor.flatten(x, self.start_dim, self.end_dim)


class Identity(Module):
    """x itself."""

    def forward(self, x: Any) -> Tensor:
        return x


class MaxPool2d(Module):
    """The largest of each window."""

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
                 ceil_mode: bool = False) -> None:
        super().__init__()
        self._arguments = (kernel_size, stride, padding, dilation, ceil_mode)

    def forward(self, x: Any) -> Tensor:
        return _tensor.max_pool2d(x, *self._arguments)


class AvgPool2d(Module):
    """The mean of each window."""

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0,
                 ceil_mode: bool = False, count_include_pad: bool = True) -> None:
        super().__init__()
        self._arguments = (kernel_size, stride, padding, ceil_mode, count_include_pad)

    def forward(self, x: Any) -> Tensor:
        return _tensor.avg_pool2d(x, *self._arguments)


class AdaptiveAvgPool2d(Module):
    """Means of as many windows as the output has pixels."""

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, x: Any) -> Tensor:
        return _tensor.adaptive_avg_pool2d(x, self.output_size)
