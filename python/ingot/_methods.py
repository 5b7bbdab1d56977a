# SPDX-License-Identifier: Apache-2.0
"""Methods that are said best in Python. They are put into the class Tensor here, so that there is one class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _tensor
from ._functions import (  # Places: pickles of earlier versions name it here
    Places,  # noqa: F401
    allclose, bmm, dot, isclose, max, median, min, movedim, nonzero, quantile, ravel, take, unique)
from ._tensor import Tensor


def _repeat(self: Tensor, *sizes: Any) -> Tensor:
    """The whole again and again along each axis, as PyTorch's method; tile()."""
    return self.tile(*sizes)


def cuda(self: Tensor, device: Any = None, non_blocking: bool = False) -> Tensor:
    """On a GPU of CUDA's."""
    name = "cuda" if device is None else f"cuda:{device}" if isinstance(device, int) else device
    return self.to(name)


class _Size(int):
    """The number of elements, as NumPy's size; called, the lengths of the axes, as PyTorch's."""

    _shape: tuple[int, ...]

    def __call__(self, dim: int | None = None) -> Any:
        return self._shape if dim is None else self._shape[dim]


def _size(self: Tensor) -> _Size:
    """The number of elements; size() the shape, size(dim) a length of it."""
    size = _Size(self.numel())
    size._shape = self.shape
    return size


def numpy(self: Tensor) -> Any:
    """The values as a NumPy array of its own. bfloat16 becomes float32. numpy.asarray(tensor)
    makes no copy, and what it gives cannot be written."""
    import numpy as np
    return np.array(self.float() if self.dtype == "bfloat16" else self)


def __array__(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Any:
    """For NumPy, where the buffer protocol does not do (bfloat16)."""
    import numpy as np
    array = np.asarray(memoryview(self.float() if self.dtype == "bfloat16" else self))
    return np.array(array, dtype=dtype) if copy or dtype is not None else array


def __reduce__(self: Tensor) -> Any:
    """Pickled by values; Python has no letter for bfloat16, and old ones none for float16."""
    words = self.float() if self.dtype in ("bfloat16", "float16") else self
    return (_unpickle, (memoryview(words).tobytes(), self.shape,
                        words.dtype.name, self.dtype.name,
                        self.requires_grad and self.is_leaf, type(self)))


def _unpickle(data: bytes, shape: tuple[int, ...], stored: str, dtype: str, requires_grad: bool,
              kind: type) -> Tensor:
    codes = {"float32": "f", "int8": "b", "uint8": "B", "int16": "h", "int32": "i", "int64": "q",
             "bool": "?"}
    flat = _tensor.tensor(memoryview(data).cast(codes[stored]) if data else [], dtype=stored)
    return kind(flat.reshape(shape), dtype=dtype, requires_grad=requires_grad)


def __deepcopy__(self: Tensor, memo: dict[int, Any]) -> Tensor:
    result = type(self)(self.detach().clone(), requires_grad=self.requires_grad and self.is_leaf)
    result.__dict__.update(getattr(self, "__dict__", {})) if hasattr(result, "__dict__") else None
    memo[id(self)] = result
    return result


def __copy__(self: Tensor) -> Tensor:
    return type(self)(self.detach(), requires_grad=self.requires_grad and self.is_leaf)


def __format__(self: Tensor, spec: str) -> str:
    return format(self.item(), spec) if spec and self.size == 1 else format(str(self), spec)


def zero_(self: Tensor) -> Tensor:
    """Gives all elements the value 0."""
    return self.fill_(0)


def view(self: Tensor, *shape: Any) -> Tensor:
    """The same memory in another shape; reshape() makes a copy where that is not possible."""
    shown = self.reshape(*shape)
    if not shown._shares(self):
        raise _tensor.ShapeError(f"view(): elements of shape {self.shape} with strides {self.strides} cannot be "
                                 f"shown as {shown.shape} where they are; use reshape()")
    return shown


def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Gives the elements normally distributed numbers."""
    return self.copy_(_tensor.randn(self.shape, device=self.device) * std + mean)


def uniform_(self: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Gives the elements numbers that are uniform from a to b."""
    return self.copy_(_tensor.uniform(self.shape, a, b, device=self.device))


def bernoulli_(self: Tensor, p: float = 0.5) -> Tensor:
    """Gives the elements 1 with probability p, else 0."""
    return self.copy_(_tensor.rand(self.shape, device=self.device) < p)


def _scaled(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def scaled(self: Tensor, other: Any, *, alpha: float = 1) -> Tensor:
        return function(self, other if alpha == 1 else other * alpha)
    return scaled


def addcmul(x: Tensor, tensor1: Any, tensor2: Any, *, value: float = 1) -> Tensor:
    """x + value * tensor1 * tensor2."""
    return x + value * (tensor1 * tensor2)


def addcdiv(x: Tensor, tensor1: Any, tensor2: Any, *, value: float = 1) -> Tensor:
    """x + value * tensor1 / tensor2."""
    return x + value * (tensor1 / tensor2)


def lerp(x: Tensor, end: Any, weight: Any) -> Tensor:
    """x + weight * (end - x)."""
    return x + weight * (end - x)


_CHANGES = ("abs neg sign floor ceil round trunc square reciprocal sqrt rsqrt exp exp2 expm1 log log2 log10 log1p "
            "sin cos tan asin acos atan sinh cosh tanh erf sigmoid relu silu leaky_relu elu clamp clip mul div pow "
            "remainder floor_divide minimum maximum masked_fill scatter scatter_add index_add index_copy tril triu "
            "bitwise_and bitwise_or bitwise_xor bitwise_not logical_and logical_or logical_xor logical_not eq ne lt "
            "le gt ge").split()


def _changing(name: str, function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def changed(self: Tensor, *arguments: Any, **named: Any) -> Tensor:
        return self._in_place(function, arguments, named)
    changed.__name__ = changed.__qualname__ = name + "_"
    changed.__doc__ = f"{name}() in place: the tensor, and all that share its memory, have the result."
    return changed


def _bool(self: Tensor) -> Tensor:
    """The values as bool."""
    return self.astype("bool")


def cpu(self: Tensor) -> Tensor:
    """Itself: memory is shared with the host."""
    return self


def _add_methods() -> None:
    own = {"numpy": numpy, "__array__": __array__, "__reduce__": __reduce__,
           "__deepcopy__": __deepcopy__, "__copy__": __copy__, "__format__": __format__,
           "zero_": zero_, "view": view, "bool": _bool, "cpu": cpu, "ravel": ravel,
           "movedim": movedim, "take": take, "nonzero": nonzero, "allclose": allclose, "dot": dot,
           "isclose": isclose, "bmm": bmm, "repeat": _repeat, "quantile": quantile,
           "unique": unique, "max": max, "min": min, "median": median, "clip": Tensor.clamp, "unbind": Tensor.unstack,
           "cuda": cuda, "normal_": normal_, "uniform_": uniform_, "bernoulli_": bernoulli_, "addcmul": addcmul,
           "addcdiv": addcdiv, "lerp": lerp,
           "dims": property(lambda self: self.shape, doc="The lengths of the axes.")}
    for name, item in own.items():
        if not hasattr(Tensor, name) or name.startswith("__"):
            setattr(Tensor, name, item)
    setattr(Tensor, "size", property(_size, doc=_size.__doc__))
    for name in _CHANGES:
        setattr(Tensor, name + "_", _changing(name, getattr(Tensor, name)))
    for name, item in (("add", _scaled(_tensor.add)), ("sub", _scaled(_tensor.sub)),
                       ("addcmul", addcmul), ("addcdiv", addcdiv), ("lerp", lerp)):
        setattr(Tensor, name + "_", _changing(name, item))


_add_methods()
