# SPDX-License-Identifier: Apache-2.0
"""Functions of tensors made of others, and other names for some."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from . import _tensor
from ._tensor import Tensor

__all__ = ["allclose", "array_equal", "einsum", "nonzero", "outer", "dot", "movedim", "meshgrid", "bmm",
           "repeat", "quantile", "unique", "isclose", "take_along_axis", "concatenate", "negative",
           "absolute", "multiply", "subtract", "divide", "true_divide", "power", "mod", "invert",
           "bitwise_left_shift", "bitwise_right_shift", "randint", "eval", "clip", "max", "min", "median",
           "Places", "unbind", "take", "scalar_tensor", "ravel", "normal"]


# ---- Other names ----

negative = _tensor.neg
absolute = _tensor.abs
multiply = _tensor.mul
subtract = _tensor.sub
divide = true_divide = _tensor.div
power = _tensor.pow
mod = _tensor.remainder
invert = _tensor.bitwise_not
bitwise_left_shift, bitwise_right_shift = _tensor.left_shift, _tensor.right_shift
clip = _tensor.clamp
concatenate = _tensor.concat
unbind = _tensor.unstack


# ---- Comparing ----

def isclose(x: Any, y: Any, rtol: float = 1e-5, atol: float = 1e-8,
            equal_nan: bool = False) -> Tensor:
    """Whether abs(x - y) <= atol + rtol * abs(y), element by element."""
    x, y = _tensor.asarray(x), _tensor.asarray(y)
    close = (x == y) | ((x - y).abs() <= atol + rtol * y.abs())
    return close | (x.isnan() & y.isnan()) if equal_nan else close


def allclose(x: Any, y: Any, rtol: float = 1e-5, atol: float = 1e-8,
             equal_nan: bool = False) -> bool:
    """Whether isclose() holds for all elements."""
    return bool(isclose(x, y, rtol, atol, equal_nan).all().item())


def array_equal(x: Any, y: Any) -> bool:
    """Whether shapes and all elements are equal."""
    x, y = _tensor.asarray(x), _tensor.asarray(y)
    return x.shape == y.shape and bool((x == y).all().item())


# ---- Moving ----

def ravel(x: Any) -> Tensor:
    """All elements along one axis."""
    return _tensor.reshape(x, (-1,))


def movedim(x: Any, source: int, destination: int) -> Tensor:
    """A view with one axis at another place."""
    x = _tensor.asarray(x)
    for axis in (source, destination):
        if not -x.ndim <= axis < x.ndim:
            raise _tensor.IndexOutOfRange(f"movedim: axis {axis} of a tensor of {x.ndim}")
    axes = list(range(x.ndim))
    axes.insert(destination % x.ndim, axes.pop(source % x.ndim))
    return x.permute(axes)


def meshgrid(*tensors: Any, indexing: str = "xy") -> list[Tensor]:
    """Coordinates of a grid from those of its axes. indexing: "xy" as NumPy's default, or "ij"."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f'meshgrid(): indexing is "xy" or "ij", not {indexing!r}')
    ts = [ravel(t) for t in tensors]
    order = list(range(len(ts)))
    if indexing == "xy" and len(ts) > 1:
        order[0], order[1] = 1, 0
    shape = [ts[i].size for i in order]
    result = []
    for i, t in enumerate(ts):
        place = [1] * len(ts)
        place[order.index(i)] = t.size
        result.append(t.reshape(place).expand(shape))
    return result


def take(x: Any, index: Any, axis: int | None = None) -> Tensor:
    """Elements by their places along an axis, or in the flattened tensor."""
    x = _tensor.asarray(x)
    if axis is None:
        return ravel(x)[_tensor.asarray(index)]
    if not -x.ndim <= axis < x.ndim:
        raise _tensor.IndexOutOfRange(f"take: axis {axis} of a tensor of {x.ndim}")
    return x[(slice(None),) * (axis % x.ndim) + (_tensor.asarray(index),)]


def take_along_axis(x: Any, index: Any, axis: int) -> Tensor:
    """gather() with the arguments in NumPy's order."""
    return _tensor.gather(x, axis, index)


def nonzero(x: Any) -> tuple[Tensor, ...]:
    """The places of the elements that are not 0, one tensor for each axis."""
    x = _tensor.asarray(x)
    mask = ravel(x != 0)
    flat = _tensor.arange(x.size)[mask]
    places = []
    for n in reversed(x.shape):
        places.append(flat % n)
        flat = flat // n
    return tuple(reversed(places))


# ---- Products ----

def einsum(equation: str, *operands: Any) -> Tensor:
    """Sums of products over named axes: einsum("ij,jk->ik", a, b)."""
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    return _tensor._einsum(equation, list(operands))


def dot(x: Any, y: Any) -> Tensor:
    """The product of two vectors; of others as by matmul()."""
    return _tensor.matmul(x, y)


def outer(x: Any, y: Any) -> Tensor:
    """All products of an element of x with one of y."""
    return ravel(x).unsqueeze(1) * ravel(y).unsqueeze(0)


def bmm(x: Any, y: Any) -> Tensor:
    """The products of two stacks of matrices: (B, M, K) times (B, K, N)."""
    x, y = _tensor.asarray(x), _tensor.asarray(y)
    if x.ndim != 3 or y.ndim != 3 or x.shape[0] != y.shape[0]:
        raise _tensor.ShapeError(f"bmm(): shapes {x.shape} and {y.shape} are not (B, M, K) and "
                                 "(B, K, N); matmul() broadcasts")
    return _tensor.matmul(x, y)


# ---- The largest, the smallest, the middle ----

class Places(NamedTuple):
    """Elements along an axis, and where they are."""
    values: Tensor
    indices: Tensor


def _one_axis(call: str, axis: Any, keepdim: bool, other: dict[str, Any]) -> tuple[Any, bool]:
    """An axis by either name, and whether it is kept."""
    known = {"dim", "keepdims"}
    if set(other) - known or ("dim" in other and axis is not None):
        raise TypeError(f"{call}() has the arguments axis (or dim) and keepdim (or keepdims), not "
                        f"{', '.join(sorted(other))}")
    return other.get("dim", axis), other.get("keepdims", keepdim)


def _extreme(call: str, values: Callable[..., Tensor], places: Callable[..., Tensor],
             of_two: Callable[..., Tensor], what: str) -> Callable[..., Any]:
    def extreme(x: Any, axis: Any = None, keepdim: bool = False, **other: Any) -> Any:
        if "other" in other or isinstance(axis, Tensor):
            return of_two(x, other.pop("other", axis))
        out = other.pop("out", None)
        axis, keepdim = _one_axis(call, axis, keepdim, other)
        if not isinstance(axis, int):
            return values(x, axis, keepdim) if out is None else values(x, axis, keepdim, out=out)
        x = _tensor.asarray(x)
        index = places(x, axis, True)
        if x.requires_grad and _tensor.is_grad_enabled():  # the gradient goes there alone
            found = _tensor.gather(x, axis, index) if x.ndim else x.clone()
        else:
            found = values(x, axis, True)
        if not keepdim and x.ndim:
            found, index = found.squeeze(axis), index.squeeze(axis)
        return Places(found, index) if out is None else Places(out[0].copy_(found), out[1].copy_(index))
    extreme.__name__ = extreme.__qualname__ = call
    extreme.__doc__ = (f"The {what}: of all elements; along one axis the pair (values, indices); of two tensors element "
                       f"by element. a{call}() gives values alone, of several axes as well.")
    return extreme


max = _extreme("max", _tensor.amax, _tensor.argmax, _tensor.maximum, "largest")
min = _extreme("min", _tensor.amin, _tensor.argmin, _tensor.minimum, "smallest")


def median(x: Any, axis: Any = None, keepdim: bool = False, **other: Any) -> Any:
    """The middle element in order, the lower one of two; along one axis the pair (values, indices).
    quantile(x, 0.5) is the mean of the two, as numpy.median()."""
    axis, keepdim = _one_axis("median", axis, keepdim, other)
    x = _tensor.asarray(x)
    if axis is not None and not isinstance(axis, int):
        raise TypeError(f"median(): one axis or none, not {axis!r}")
    line = x.reshape(-1) if axis is None or not x.ndim else x
    at = 0 if axis is None or not x.ndim else axis % x.ndim if -x.ndim <= axis < x.ndim else axis
    if not line.shape or not 0 <= at < line.ndim or line.shape[at] == 0:
        raise _tensor.IndexOutOfRange(f"median(): axis {axis} of shape {x.shape} has no elements, or is not there")
    values, indices = line.sort(at)
    middle = (slice(None),) * at + ((line.shape[at] - 1) // 2,)
    found, where = values[middle], indices[middle]
    if line.dtype.is_floating_point:  # what is not a number is the median of all it is among
        bad = line.isnan()
        found = _tensor.where(bad.any(at), float("nan"), found)
        where = _tensor.where(bad.any(at), bad.astype("int8").argmax(at), where)
    if axis is None:
        return found
    if not x.ndim:
        return Places(found, where)
    return Places(found.unsqueeze(at), where.unsqueeze(at)) if keepdim else Places(found, where)


# ---- Repeating and ordering ----

def repeat(x: Any, repeats: Any, axis: int | None = None) -> Tensor:
    """Each element several times along an axis, or along all in one line, as NumPy's function:
    repeats is a number, or one for each element. The method x.repeat(2, 3) is PyTorch's: the whole
    again and again, as tile()."""
    x = _tensor.asarray(x)
    if axis is None:
        x, axis = ravel(x), 0
    if isinstance(repeats, int):
        return _tensor.repeat_interleave(x, repeats, axis)
    counts = _tensor.asarray(repeats).tolist()
    counts = counts if isinstance(counts, list) else [counts]
    if len(counts) == 1:
        return _tensor.repeat_interleave(x, counts[0], axis)
    if not -x.ndim <= axis < x.ndim:
        raise _tensor.IndexOutOfRange(f"repeat: axis {axis} of a tensor of {x.ndim}")
    if len(counts) != x.shape[axis] or any(n < 0 for n in counts):
        raise ValueError(f"repeat(): {len(counts)} numbers for an axis of {x.shape[axis]}, none "
                         "of them negative")
    places = [i for i, n in enumerate(counts) for _ in range(n)]
    return _tensor.index_select(x, axis, _tensor.tensor(places, dtype="int64"))


def _listed(q: Any) -> Any:
    return q.tolist() if hasattr(q, "tolist") else list(q)  # as Python's floats, which are double


_BETWEEN = ("linear", "lower", "higher", "nearest", "midpoint")


def quantile(x: Any, q: Any, axis: Any = None, keepdim: bool = False,
             interpolation: str = "linear", **other: Any) -> Tensor:
    """The value below which a part q of the elements lies, over one axis, several, or all; for a
    list of q a new first axis. interpolation (or method): "linear", "lower", "higher", "nearest",
    "midpoint"."""
    known = {"dim": "axis", "keepdims": "keepdim", "method": "interpolation"}
    if set(other) - set(known):
        raise TypeError(f"quantile() has no argument {sorted(set(other) - set(known))[0]!r}")
    axis = other.get("dim", axis)
    how = other.get("method", interpolation)
    if how not in _BETWEEN:
        raise ValueError(f"quantile(): interpolation is one of {', '.join(_BETWEEN)}, not {how!r}")
    each = q if isinstance(q, (int, float)) else _listed(q)
    made = [_tensor._quantile(x, one, axis, other.get("keepdims", keepdim), _BETWEEN.index(how))
            for one in (each if isinstance(each, list) else [each])]
    return _tensor.stack(made) if isinstance(each, list) else made[0]


def unique(x: Any, return_inverse: bool = False, return_counts: bool = False) -> Any:
    """The different elements in order; with return_inverse, where each element of x is among them
    (in the shape of x), with return_counts how often each is there."""
    values, inverse, counts = _tensor._unique(x)
    chosen = [values] + [inverse] * bool(return_inverse) + [counts] * bool(return_counts)
    return chosen[0] if len(chosen) == 1 else tuple(chosen)


# ---- Making ----

def scalar_tensor(value: float, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor without axes."""
    return _tensor.full((), value, dtype=dtype, device=device)


def normal(mean: float = 0.0, std: float = 1.0, shape: int | Sequence[int] = (), dtype: Any = None,
           device: Any = None, seed: int | None = None) -> Tensor:
    """Normally distributed numbers."""
    return _tensor.randn(shape, dtype=dtype, device=device, seed=seed) * std + mean


def randint(low: int, high: Any = None, shape: Any = None, dtype: Any = None, device: Any = None,
            seed: int | None = None, size: Any = None, requires_grad: bool = False) -> Tensor:
    """Integers from low to high - 1, equally likely; randint(high, shape): from 0 on."""
    if size is not None:
        shape = size
    if not isinstance(high, int):
        low, high, shape = 0, low, high if shape is None else shape
    elif shape is None:
        raise TypeError("randint(low, high, shape), or randint(high, shape): a shape is a tuple")
    if requires_grad:
        raise _tensor.DTypeError("randint(): integers have no gradients")
    return _tensor._randint(low, high, shape, dtype, device, seed)


def eval(*tensors: Any) -> Any:
    """Starts to compute the values of one or more tensors, and returns them. Reading does it by itself."""
    made = tuple(_tensor.eval(tensor) for tensor in tensors)
    return made[0] if len(made) == 1 else made
