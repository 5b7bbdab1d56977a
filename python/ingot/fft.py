# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms, with the names of numpy.fft and torch.fft. Transforms take tensors, arrays
and ingot.Complex, and give ingot.Complex (irfft, irfft2, irfftn: tensors). Any length; gradients go
through. norm: "backward" (the inverse is divided by n), "ortho" or "forward"."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from . import _tensor
from ._complex import Complex, _real_tensor
from ._tensor import Tensor

__all__ = ["fft", "fft2", "fftfreq", "fftn", "fftshift", "ifft", "ifft2", "ifftn", "ifftshift",
           "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn"]

_NORMS = ("backward", "ortho", "forward")


def _pairs(x: Any) -> Tensor:
    return (x if isinstance(x, Complex) else Complex(x)).pairs


def _axis(call: str, ndim: int, axis: int) -> int:
    if not -ndim <= axis < ndim:
        raise _tensor.IndexOutOfRange(f"{call}(): axis {axis} of {ndim} axes")
    return axis % ndim


def _sized(pairs: Tensor, n: int | None, axis: int, call: str) -> Tensor:
    """The axis cut off, or filled up with zeros, to length n."""
    length = pairs.shape[axis]
    n = length if n is None else n
    if n < 1:
        raise ValueError(f"{call}(): a length of {n}")
    if n < length:
        return pairs[(slice(None),) * axis + (slice(n),)]
    return pairs.pad(axis, 0, n - length) if n > length else pairs


def _scaled(x: Tensor, n: int, norm: str | None, inverse: bool) -> Tensor:
    """From the scale of "backward" to that of another norm."""
    if norm not in (None, *_NORMS):
        raise ValueError(f"norm is one of {', '.join(_NORMS)}, not {norm!r}")
    if norm in (None, "backward"):
        return x
    root = math.sqrt(n) if norm == "ortho" else n
    return x * (root if inverse else 1 / root)


def _one(call: str, x: Any, n: int | None, axis: int, norm: str | None, inverse: bool) -> Complex:
    pairs = _pairs(x)
    axis = _axis(call, pairs.ndim - 1, axis)
    pairs = _sized(pairs, n, axis, call)
    made = _tensor._fft(pairs, axis, inverse)
    return Complex._of(_scaled(made, pairs.shape[axis], norm, inverse))


def fft(x: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Complex:
    """The transform along an axis, which is cut off or filled with zeros to length n."""
    return _one("fft", x, n, axis, norm, False)


def ifft(x: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Complex:
    """The inverse of fft()."""
    return _one("ifft", x, n, axis, norm, True)


def rfft(x: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Complex:
    """The first half of the transform of real numbers, n // 2 + 1 values: the rest mirrors it."""
    if isinstance(x, Complex):
        raise _tensor.DTypeError("rfft(): real numbers are wanted, not complex ones")
    result = fft(_real_tensor(x), n, axis, norm)
    axis = _axis("rfft", result.ndim, axis)
    return result[(slice(None),) * axis + (slice(result.shape[axis] // 2 + 1),)]


def irfft(x: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of rfft(): n real numbers, 2 (m - 1) of m if n is not given."""
    pairs = _pairs(x)
    axis = _axis("irfft", pairs.ndim - 1, axis)
    n = 2 * (pairs.shape[axis] - 1) if n is None else n
    if n < 1:
        raise ValueError(f"irfft(): a length of {n}")
    half = Complex._of(_sized(pairs, n // 2 + 1, axis, "irfft"))
    # What has no partner is real.
    lead = (slice(None),) * axis
    tail = half[lead + (slice(1, (n + 1) // 2),)]
    alone = [half[lead + (slice(i, i + 1),)].real for i in
             ((0, n // 2) if n % 2 == 0 else (0,))]
    alone = [_tensor.stack([re, _tensor.zeros_like(re)], axis=-1) for re in alone]
    mirrored = tail.conj().pairs.flip(axis)
    parts = [alone[0], tail.pairs, *alone[1:], mirrored]
    whole = _tensor.concat([part for part in parts if part.shape[axis]], axis=axis)
    made = _tensor._fft(whole, axis, True)[..., 0]
    return _scaled(made, n, norm, True)


# ---- Several axes ----

def _axes(ndim: int, s: Any, axes: Any) -> tuple[list[int], list[int | None]]:
    if axes is None:
        axes = range(ndim) if s is None else range(ndim - len(s), ndim)
    axes = [axes] if isinstance(axes, int) else list(axes)
    lengths = [None] * len(axes) if s is None else list(s)
    if len(lengths) != len(axes):
        raise ValueError(f"{len(lengths)} lengths for {len(axes)} axes")
    return axes, lengths


def _many(call: str, x: Any, s: Any, axes: Any, norm: str | None, inverse: bool) -> Complex:
    result = Complex._of(_pairs(x))
    for axis, n in zip(*_axes(result.ndim, s, axes)):
        result = _one(call, result, n, axis, norm, inverse)
    return result


def fftn(x: Any, s: Sequence[int] | None = None, axes: Sequence[int] | None = None,
         norm: str | None = None) -> Complex:
    """The transform along several axes, or all; s: their lengths."""
    return _many("fftn", x, s, axes, norm, False)


def ifftn(x: Any, s: Sequence[int] | None = None, axes: Sequence[int] | None = None,
          norm: str | None = None) -> Complex:
    """The inverse of fftn()."""
    return _many("ifftn", x, s, axes, norm, True)


def fft2(x: Any, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1),
         norm: str | None = None) -> Complex:
    """The transform along two axes."""
    return _many("fft2", x, s, axes, norm, False)


def ifft2(x: Any, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1),
          norm: str | None = None) -> Complex:
    """The inverse of fft2()."""
    return _many("ifft2", x, s, axes, norm, True)


def rfftn(x: Any, s: Sequence[int] | None = None, axes: Sequence[int] | None = None,
          norm: str | None = None) -> Complex:
    """fftn() of real numbers: the last of the axes has half of the values, as rfft() has."""
    x = _real_tensor(x)
    places, lengths = _axes(x.ndim, s, axes)
    result = rfft(x, lengths[-1], places[-1], norm)
    return _many("rfftn", result, lengths[:-1], places[:-1], norm, False)


def irfftn(x: Any, s: Sequence[int] | None = None, axes: Sequence[int] | None = None,
           norm: str | None = None) -> Tensor:
    """The inverse of rfftn()."""
    x = Complex(x)
    places, lengths = _axes(x.ndim, s, axes)
    result = _many("irfftn", x, lengths[:-1], places[:-1], norm, True)
    return irfft(result, lengths[-1], places[-1], norm)


def rfft2(x: Any, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1),
          norm: str | None = None) -> Complex:
    """rfftn() along two axes."""
    return rfftn(x, s, axes, norm)


def irfft2(x: Any, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1),
           norm: str | None = None) -> Tensor:
    """The inverse of rfft2()."""
    return irfftn(x, s, axes, norm)


# ---- Frequencies ----

def fftfreq(n: int, d: float = 1.0) -> Tensor:
    """The frequency of each value of fft(), for samples d apart: 0, 1, .., -2, -1 over n d."""
    if n < 1:
        raise ValueError(f"fftfreq(): a length of {n}")
    places = list(range((n + 1) // 2)) + list(range(-(n // 2), 0))
    return _tensor.tensor([place / (n * d) for place in places], dtype="float32")


def rfftfreq(n: int, d: float = 1.0) -> Tensor:
    """The frequency of each value of rfft(): 0, 1, .., n // 2 over n d."""
    if n < 1:
        raise ValueError(f"rfftfreq(): a length of {n}")
    return _tensor.tensor([place / (n * d) for place in range(n // 2 + 1)], dtype="float32")


def _shifted(x: Any, axes: Any, back: bool) -> Any:
    complex_ = isinstance(x, Complex)
    t = x.pairs if complex_ else _tensor.asarray(x)
    ndim = t.ndim - complex_
    for axis in (range(ndim) if axes is None else [axes] if isinstance(axes, int) else axes):
        axis = _axis("fftshift", ndim, axis)
        n = t.shape[axis]
        t = t.roll(-(n // 2) if back else n // 2, axis)
    return Complex._of(t) if complex_ else t


def fftshift(x: Any, axes: int | Sequence[int] | None = None) -> Any:
    """The frequency 0 in the middle of the axes, or of all."""
    return _shifted(x, axes, False)


def ifftshift(x: Any, axes: int | Sequence[int] | None = None) -> Any:
    """The inverse of fftshift()."""
    return _shifted(x, axes, True)
