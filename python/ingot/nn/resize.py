# SPDX-License-Identifier: Apache-2.0
"""Pictures of another size: interpolate() and Upsample, by PyTorch's rules for where a pixel comes from."""

from __future__ import annotations

import struct
from typing import Any

from .. import _tensor
from .._tensor import Tensor
from .module import Module

_AXES = {"linear": 1, "bilinear": 2, "trilinear": 3}


def _single(value: float) -> float:
    """Rounded to float32, in which PyTorch computes places: at whole numbers it matters."""
    return struct.unpack("f", struct.pack("f", value))[0]


def _nearest(x: Tensor, axis: int, size: int, scale: float, exact: bool) -> Tensor:
    last = x.shape[axis] - 1
    places = [min(int(_single((i + 0.5 if exact else i) * scale)), last) for i in range(size)]
    return _tensor.index_select(x, axis, _tensor.tensor(places, dtype="int64"))


def _linear(x: Tensor, axis: int, size: int, scale: float, align_corners: bool) -> Tensor:
    last = x.shape[axis] - 1
    if align_corners:
        places = [i * last / (size - 1) if size > 1 else 0.0 for i in range(size)]
    else:
        places = [max((i + 0.5) * scale - 0.5, 0.0) for i in range(size)]
    lower = [min(int(place), last) for place in places]
    upper = [min(i + 1, last) for i in lower]
    shape = [size if i == axis else 1 for i in range(x.ndim)]
    weight = _tensor.tensor([place - i for place, i in zip(places, lower)], dtype=x.dtype).reshape(shape)
    a, b = (_tensor.index_select(x, axis, _tensor.tensor(i, dtype="int64")) for i in (lower, upper))
    return a * (1 - weight) + b * weight


def _sizes(x: Tensor, size: Any, scale_factor: Any) -> list[tuple[int, float]]:
    """The new length of each axis behind (N, C), and how far apart its places are in the old one."""
    if (size is None) == (scale_factor is None):
        raise ValueError("interpolate(): either size or scale_factor")
    lengths = x.shape[2:]
    given = size if scale_factor is None else scale_factor
    values = list(given) if isinstance(given, (list, tuple)) else [given] * len(lengths)
    if len(values) != len(lengths):
        raise _tensor.ShapeError(f"interpolate(): {len(values)} values for the {len(lengths)} axes behind (N, C)")
    if scale_factor is None:
        made = [(int(new), old / new if new > 0 else 0.0) for old, new in zip(lengths, values)]
    else:
        made = [(int(old * factor), 1 / factor if factor > 0 else 0.0) for old, factor in zip(lengths, values)]
    if any(new < 1 for new, _ in made) or not all(lengths):
        raise _tensor.ShapeError(f"interpolate(): from {tuple(lengths)} to {tuple(new for new, _ in made)}")
    return made


def interpolate(input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
                align_corners: bool | None = None) -> Tensor:
    """x (N, C, ..) with other lengths behind (N, C): a size, or factors. mode: "nearest", "nearest-exact",
    or "linear", "bilinear" and "trilinear" for one, two and three axes; align_corners: first and last
    pixels stay where they are, else the edges of the picture do."""
    x = _tensor.asarray(input)
    if mode not in ("nearest", "nearest-exact", *_AXES):
        raise ValueError(f'interpolate(): no mode {mode!r}; there are "nearest", "nearest-exact", '
                         '"linear", "bilinear" and "trilinear"')
    if x.ndim < 3 or mode in _AXES and x.ndim != _AXES[mode] + 2:
        raise _tensor.ShapeError(f"interpolate(): {mode} of {x.shape}")
    if mode not in _AXES and align_corners is not None:
        raise ValueError(f"interpolate(): {mode} has no align_corners")
    for i, (new, scale) in enumerate(_sizes(x, size, scale_factor)):
        if mode in _AXES:
            x = _linear(x, i + 2, new, scale, bool(align_corners))
        else:
            x = _nearest(x, i + 2, new, _single(scale), mode == "nearest-exact")
    return x


class Upsample(Module):
    """interpolate() as a module."""

    def __init__(self, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
                 align_corners: bool | None = None) -> None:
        super().__init__()
        self.size, self.scale_factor, self.mode, self.align_corners = size, scale_factor, mode, align_corners

    def forward(self, x: Any) -> Tensor:
        return interpolate(x, self.size, self.scale_factor, self.mode, self.align_corners)

    def extra_repr(self) -> str:
        return f"size={self.size}, scale_factor={self.scale_factor}, mode={self.mode!r}"
