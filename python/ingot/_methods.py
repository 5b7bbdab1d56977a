# SPDX-License-Identifier: Apache-2.0
"""What Python says best: functions and methods of tensors made of others, and other names for
some. Methods are put into the class Tensor here, so that there is one class."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from . import _tensor
from ._tensor import Tensor, float32, int32

__all__ = ["allclose", "array_equal", "einsum", "grad", "inference_mode", "no_grad", "nonzero", "outer", "dot",
           "movedim", "meshgrid", "bmm", "repeat", "quantile", "unique",
           "isclose", "take_along_axis", "compile", "concatenate", "negative",
           "absolute", "multiply", "subtract", "divide", "true_divide", "power", "mod", "invert",
           "bitwise_left_shift", "bitwise_right_shift", "randint", "eval", "device", "clip", "max", "min", "median", "Places",
           "unbind", "take", "scalar_tensor", "pool", "pool_statistics",
           "default_device", "ravel", "normal", "save", "load", "kernel", "Kernel"]

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


# ---- Gradients ----

class no_grad:
    """Operations of this thread remember nothing inside of `with no_grad():`, or in a function
    that it decorates."""

    def __enter__(self) -> no_grad:
        _tensor._no_grad_begin()
        return self

    def __exit__(self, *_: object) -> None:
        _tensor._no_grad_end()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def inside(*arguments: Any, **named: Any) -> Any:
            with no_grad():
                return function(*arguments, **named)
        return inside


class inference_mode(no_grad):
    """no_grad() under PyTorch's other name; inference_mode(False) changes nothing."""

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode

    def __enter__(self) -> inference_mode:
        if self.mode:
            super().__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        if self.mode:
            super().__exit__()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return super().__call__(function) if self.mode else function


def _list(x: Any) -> list[Any]:
    return [x] if isinstance(x, Tensor) else list(x)


def grad(outputs: Tensor | Sequence[Tensor], inputs: Tensor | Sequence[Tensor],
         grad_outputs: Tensor | Sequence[Tensor] | None = None, retain_graph: bool | None = None,
         create_graph: bool = False) -> tuple[Tensor, ...]:
    """The gradients of the sum of the outputs (times grad_outputs) for the inputs, which may be
    results; zeros where nothing leads. Gradients of leaves are left alone. create_graph: they can
    be differentiated again."""
    seeds = None if grad_outputs is None else _list(grad_outputs)
    retain = create_graph if retain_graph is None else retain_graph
    return tuple(_tensor._grad(_list(outputs), _list(inputs), seeds, retain, create_graph))


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


def _repeat(self: Tensor, *sizes: Any) -> Tensor:
    """The whole again and again along each axis, as PyTorch's method; tile()."""
    return self.tile(*sizes)


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


# ---- The device ----

def compile(model: Any = None, **options: Any) -> Any:
    """The function or module itself: operations are recorded and fused without it. For programs that
    call torch.compile(), also as a decorator with options, which change nothing."""
    return model if model is not None else lambda function: function


def device(name: Any = "metal", index: int | None = None) -> _tensor.Device:
    """The device of a name: "cpu", "cuda", "cuda:1", "mps" (the default Metal device); device("cuda", 1)."""
    return _tensor.Device(name if index is None else f"{name}:{index}")


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


def default_device() -> _tensor.Device:
    """The system's default Metal device."""
    return _tensor.Device()


def pool() -> _tensor.Pool:
    """The buffer pool of the default device."""
    return _tensor.Device().pool


def pool_statistics() -> dict[str, int]:
    """The counters of the default device's buffer pool, as ig_pool_statistics has them."""
    return _tensor.Device().pool.statistics


# ---- Methods ----

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


# ---- Files ----

def save(path: Any, tensors: Any, metadata: dict[str, str] | None = None) -> None:
    """Writes a tensor to a .npy file, or a dict of named tensors to a safetensors file. The file
    is there as a whole or not at all. save(tensors, path), PyTorch's order, is the same."""
    if isinstance(path, (Tensor, Mapping)) and isinstance(tensors, (str, os.PathLike)):
        path, tensors = tensors, path
    if isinstance(tensors, Tensor):
        if metadata:
            raise ValueError("save(): a .npy file has no metadata")
        _tensor._save_npy(path, tensors)
    else:
        names = dict(tensors)
        _tensor._save_safetensors(path, list(names), list(names.values()), dict(metadata or {}))


def load(path: Any, device: Any = None, return_metadata: bool = False, *, map_location: Any = None,
         weights_only: bool = True) -> Any:
    """A tensor from a .npy file, a dict of tensors from a safetensors file, what torch.save() wrote of
    tensors, dicts and lists from a .pt file (by what the file begins with, not by its name). No code in
    a file is run, so that weights_only cannot be False. return_metadata: (dict, metadata) of
    safetensors. map_location: the device."""
    if not weights_only:
        raise ValueError("load(): tensors are read, and no other objects: weights_only cannot be False")
    device = map_location if device is None else device
    with open(path, "rb") as file:
        start = file.read(6)
    if start == b"\x93NUMPY":
        return _tensor._load_npy(path, device)
    if start[:4] == b"PK\x03\x04":
        from ._pt import load_pt
        return load_pt(path, device)
    tensors, metadata = _tensor._load_safetensors(path, device)
    return (tensors, metadata) if return_metadata else tensors


# ---- Kernels of one's own ----

class Kernel:
    """An operation from a function in the Metal Shading Language. Buffers are numbered: the inputs
    from 0 on, the output behind them, the scalars behind that."""

    def __init__(self, source: str, name: str, device: Any = None) -> None:
        self._kernel = _tensor.UserKernel(source, name, device)
        self.name = name
        self._elementwise = False

    @classmethod
    def elementwise(cls, inputs: str, expression: str, scalars: str = "",
                    device: Any = None) -> Kernel:
        """One expression per element, with broadcasting: elementwise("x,b", "max(x * s + b, 0.0f)",
        scalars="s")."""
        self = cls.__new__(cls)
        self._kernel = _tensor.UserKernel.elementwise(inputs, scalars, expression, device)
        self.name = expression
        self._elementwise = True
        return self

    def backward(self, function: Callable[..., Iterable[Tensor | None]]) -> Callable[..., Any]:
        """How gradients pass: function(inputs, output, grad, scalars) returns a gradient, or None,
        for each input. May stand before the function as @kernel.backward."""
        self._kernel.set_backward(function)
        return function

    def __call__(self, *inputs: Any, scalars: Sequence[float | int] = (),
                 shape: int | Sequence[int] | None = None, dtype: Any = None,
                 threads: int | Sequence[int] | None = None,
                 threadgroup: int | Sequence[int] | None = None) -> Tensor:
        """A new tensor. Its shape and type are those of the first input, if not given. Scalars
        are `constant float &` in the kernel, ints `constant int &`."""
        tensors = [_tensor.asarray(x) for x in inputs]
        if not tensors and (shape is None or dtype is None):
            raise ValueError("a kernel without inputs needs shape and dtype")
        if shape is None:
            shape = tensors[0].shape
        if dtype is None:
            dtype = tensors[0].dtype
        kinds = [(int32 if isinstance(s, int) and not isinstance(s, bool) else float32, s)
                 for s in scalars]
        return self._kernel.call(tensors, shape, dtype, [k.name for k, _ in kinds],
                                 [float(s) for _, s in kinds], _three(threads), _three(threadgroup))


def _three(size: int | Sequence[int] | None) -> tuple[int, int, int]:
    if size is None:
        return (0, 0, 0)
    sizes = (size,) if isinstance(size, int) else tuple(size)
    if not 1 <= len(sizes) <= 3 or any(n < 1 for n in sizes):
        raise ValueError(f"one to three sizes of 1 or more, not {size!r}")
    return (*sizes, 1, 1)[:3]  # type: ignore[return-value]


def kernel(source: str, name: str, device: Any = None) -> Kernel:
    """Kernel(source, name, device)."""
    return Kernel(source, name, device)
