# SPDX-License-Identifier: Apache-2.0
"""Complex numbers for Fourier transforms. Tensors have no complex element type: a Complex holds a
tensor of pairs (.., 2), real and imaginary parts, and is as much of an array as transforms need:
arithmetic, indices, magnitude and angle. Gradients go through its parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _tensor
from ._tensor import Tensor

__all__ = ["Complex", "angle", "complex", "conj", "imag", "is_complex", "real", "view_as_complex",
           "view_as_real"]


class Complex:
    """Complex numbers: real and imaginary parts as tensors that broadcast to one shape, or an array
    or list of Python's or NumPy's complex numbers alone."""

    __array_ufunc__ = None  # NumPy leaves operators to this class
    __slots__ = ("pairs",)

    pairs: Tensor

    def __init__(self, real: Any, imag: Any = None) -> None:
        if isinstance(real, Complex):
            self.pairs = real.pairs
            return
        if imag is None and not isinstance(real, Tensor):
            real, imag = _parts(real)
        re = _real_tensor(real)
        im = _tensor.zeros_like(re) if imag is None else _real_tensor(imag)
        re, im = re + _tensor.zeros_like(im), im + _tensor.zeros_like(re)
        self.pairs = _tensor.stack([re, im], axis=-1)

    @classmethod
    def _of(cls, pairs: Tensor) -> Complex:
        self = cls.__new__(cls)
        self.pairs = pairs
        return self

    # ---- What it is ----

    @property
    def real(self) -> Tensor:
        """The real parts."""
        return self.pairs[..., 0]

    @property
    def imag(self) -> Tensor:
        """The imaginary parts."""
        return self.pairs[..., 1]

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes, without that of the pairs."""
        return self.pairs.shape[:-1]

    @property
    def ndim(self) -> int:
        """The number of axes, without that of the pairs."""
        return self.pairs.ndim - 1

    @property
    def size(self) -> int:
        """How many complex numbers there are."""
        return self.pairs.size // 2

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a single complex number has no length")
        return self.shape[0]

    def __getitem__(self, key: Any) -> Complex:
        """As a tensor's: the last axis, of pairs, cannot be reached."""
        items = key if isinstance(key, tuple) else (key,)
        dots = any(item is Ellipsis for item in items)
        whole = (*items, slice(None)) if dots else (*items, ..., slice(None))
        return Complex._of(self.pairs[whole])

    def __repr__(self) -> str:
        return f"Complex(real={self.real!r}, imag={self.imag!r})"

    # ---- Values ----

    def numpy(self) -> Any:
        """The values as a NumPy array of complex64."""
        import numpy as np
        return np.ascontiguousarray(self.pairs.float().numpy()).view(np.complex64)[..., 0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        values = self.numpy()
        return values if dtype is None else values.astype(dtype)

    def tolist(self) -> Any:
        """The values as nested lists of Python's complex numbers."""
        return self.numpy().tolist()

    def item(self) -> Any:
        """The single value."""
        return self.numpy().item()

    def abs(self) -> Tensor:
        """The magnitudes; their gradient at 0 is 0."""
        return self.pairs.norm(2.0, axis=-1)

    __abs__ = abs

    def angle(self) -> Tensor:
        """The angles, from -pi to pi."""
        return _tensor.atan2(self.imag, self.real)

    def conj(self) -> Complex:
        """With imaginary parts of the other sign."""
        return Complex._of(_tensor.stack([self.real, -self.imag], axis=-1))

    def detach(self) -> Complex:
        """The same values without history."""
        return Complex._of(self.pairs.detach())

    def reshape(self, *shape: Any) -> Complex:
        """The same numbers in another shape."""
        lengths = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return Complex._of(self.pairs.reshape(*lengths, 2))

    def _reduced(self, name: str, axis: Any, keepdim: bool) -> Complex:
        axes = (axis,) if isinstance(axis, int) else range(self.ndim) if axis is None else axis
        places = tuple(a if a >= 0 else a - 1 for a in axes)
        return Complex._of(getattr(self.pairs, name)(axis=places, keepdim=keepdim))

    def sum(self, axis: Any = None, keepdim: bool = False) -> Complex:
        """The sum over one axis, several, or all."""
        return self._reduced("sum", axis, keepdim)

    def mean(self, axis: Any = None, keepdim: bool = False) -> Complex:
        """The mean over one axis, several, or all."""
        return self._reduced("mean", axis, keepdim)

    # ---- Arithmetic ----

    def __neg__(self) -> Complex:
        return Complex._of(-self.pairs)

    def __add__(self, other: Any) -> Complex:
        return _with(other, lambda o: _made(self.real + o.real, self.imag + o.imag))

    def __sub__(self, other: Any) -> Complex:
        return _with(other, lambda o: _made(self.real - o.real, self.imag - o.imag))

    def __rsub__(self, other: Any) -> Complex:
        return -self + other

    def __mul__(self, other: Any) -> Complex:
        return _with(other, lambda o: _made(self.real * o.real - self.imag * o.imag,
                                            self.real * o.imag + self.imag * o.real))

    def __matmul__(self, other: Any) -> Complex:
        return _with(other, lambda o: _made(self.real @ o.real - self.imag @ o.imag,
                                            self.real @ o.imag + self.imag @ o.real))

    def __truediv__(self, other: Any) -> Complex:
        def quotient(o: Complex) -> Complex:
            square = o.pairs.square().sum(axis=-1)
            top = self * o.conj()
            return _made(top.real / square, top.imag / square)
        return _with(other, quotient)

    def __rtruediv__(self, other: Any) -> Complex:
        return _with(other, lambda o: o / self)

    def __rmatmul__(self, other: Any) -> Complex:
        return _with(other, lambda o: o @ self)

    __radd__, __rmul__ = __add__, __mul__

    def __eq__(self, other: Any) -> Any:
        return _with(other, lambda o: (self.real == o.real) & (self.imag == o.imag))

    __hash__ = None  # type: ignore[assignment]


def _real_tensor(x: Any) -> Tensor:
    t = _tensor.asarray(x)
    return t if t.dtype.is_floating_point else t.float()


def _parts(x: Any) -> tuple[Any, Any]:
    """Real and imaginary parts of numbers that are not tensors."""
    if hasattr(x, "real") and hasattr(x, "imag"):
        return x.real, x.imag
    if not isinstance(x, (list, tuple)):
        return x, None
    both = [_parts(item) for item in x]
    return [re for re, _ in both], [0.0 if im is None else im for _, im in both]


def _made(re: Tensor, im: Tensor) -> Complex:
    return Complex._of(_tensor.stack([re, im], axis=-1))


def _with(other: Any, function: Callable[[Complex], Any]) -> Any:
    if isinstance(other, str) or other is None:
        return NotImplemented
    return function(other if isinstance(other, Complex) else Complex(other))


# ---- Functions ----

def complex(real: Any, imag: Any = None) -> Complex:
    """Complex numbers from real and imaginary parts."""
    return Complex(real, imag)


def view_as_real(x: Complex) -> Tensor:
    """The tensor of pairs (.., 2)."""
    return x.pairs


def view_as_complex(x: Any) -> Complex:
    """Complex numbers over a tensor of pairs (.., 2)."""
    x = _real_tensor(x)
    if x.ndim == 0 or x.shape[-1] != 2:
        raise _tensor.ShapeError(f"view_as_complex(): shape {x.shape}, not pairs (.., 2)")
    return Complex._of(x)


def is_complex(x: Any) -> bool:
    """Whether it is a Complex."""
    return isinstance(x, Complex)


def real(x: Any) -> Tensor:
    """The real parts; of a tensor itself."""
    return x.real if isinstance(x, Complex) else _tensor.asarray(x)


def imag(x: Any) -> Tensor:
    """The imaginary parts."""
    return x.imag if isinstance(x, Complex) else _tensor.zeros_like(x)


def conj(x: Any) -> Any:
    """With imaginary parts of the other sign; a tensor itself."""
    return x.conj() if isinstance(x, Complex) else _tensor.asarray(x)


def angle(x: Any) -> Tensor:
    """The angles of complex numbers, from -pi to pi."""
    return Complex(x).angle()


