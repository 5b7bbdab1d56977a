# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions on tensors: np.sum(t), np.exp(t), np.add(array, t), np.concatenate([t, t]).

A function that tensors have, too, gives a tensor and is recorded like any other operation:
gradients go through it, and nothing is computed yet. One they do not have, or with an argument that
only NumPy knows (where=, casting=), is NumPy's: it sees the values as arrays and gives an array.
out= may be a tensor, which is given the value, or an array, which is written. NumPy is not imported
here: it calls."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from . import _functions, _tensor, linalg
from ._tensor import Tensor

# ---- Universal functions ----

_SAME = ("exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh sqrt square reciprocal "
         "sign floor ceil trunc isnan isinf isfinite logical_and logical_or logical_xor "
         "logical_not minimum maximum remainder floor_divide matmul bitwise_and bitwise_or "
         "bitwise_xor left_shift right_shift").split()
_OTHER = {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "div",
          "true_divide": "div", "power": "pow", "mod": "remainder", "negative": "neg",
          "absolute": "abs", "fabs": "abs", "rint": "round", "arcsin": "asin", "arccos": "acos",
          "arctan": "atan", "arctan2": "atan2", "invert": "bitwise_not",
          "bitwise_not": "bitwise_not", "equal": "eq", "not_equal": "ne", "less": "lt",
          "less_equal": "le", "greater": "gt", "greater_equal": "ge"}
_UFUNCS: dict[str, Callable[..., Tensor]] = {
    **{name: getattr(_tensor, name) for name in _SAME},
    **{name: getattr(_tensor, own) for name, own in _OTHER.items()}}
_REDUCED = {"add": "sum", "multiply": "prod", "maximum": "amax", "minimum": "amin",
            "logical_and": "all", "logical_or": "any"}
_ACCUMULATED = {"add": "cumsum", "multiply": "cumprod"}


def _operand(x: Any) -> Any:
    """Tensors as they are, Python's numbers too; anything else of NumPy's by its values: an
    operator between it and a tensor would come here again."""
    if isinstance(x, Tensor) or type(x) in (bool, int, float):  # numpy.float64 is a float, too
        return x
    return x.item() if getattr(x, "ndim", None) == 0 else _tensor.asarray(x)


def _deliver(result: Any, out: Any) -> Any:
    """The result, or what out= was given for it."""
    if isinstance(out, tuple):
        out = out[0] if len(out) == 1 else None
    if out is None:
        return result
    if isinstance(out, Tensor):
        return out.copy_(result)
    out[...] = result.numpy()
    return out


def _ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], named: dict[str, Any]) -> Any:
    if method == "__call__" and ufunc.__name__ in _UFUNCS:
        return _UFUNCS[ufunc.__name__](*map(_operand, inputs), **named)
    table = {"reduce": _REDUCED, "accumulate": _ACCUMULATED}.get(method, {})
    if ufunc.__name__ not in table:
        return NotImplemented
    named.setdefault("axis", 0)
    return getattr(_operand(inputs[0]), table[ufunc.__name__])(**named)


def __array_ufunc__(self: Tensor, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
    """For NumPy: a universal function with a tensor among its arguments."""
    out = named.pop("out", None)
    dtype = named.pop("dtype", None)
    known = set(named) <= ({"axis", "keepdims"} if method != "__call__" else set())
    result = _ufunc(ufunc, method, inputs, dict(named)) if known else NotImplemented
    if result is not NotImplemented:
        return _deliver(result if dtype is None else result.astype(dtype), out)
    for name, value in (("out", out), ("dtype", dtype)):
        if value is not None:
            named[name] = value
    return getattr(ufunc, method)(*_arrays(inputs), **_arrays(named))


# ---- Functions ----

def _arrays(x: Any) -> Any:
    """The same with arrays for the tensors in it."""
    import numpy as np
    if isinstance(x, Tensor):
        return np.asarray(x) if x.dtype != "bfloat16" else x.numpy()
    if isinstance(x, dict):
        return {name: value if name == "out" else _arrays(value) for name, value in x.items()}
    return type(x)(map(_arrays, x)) if type(x) in (list, tuple) else x


def _reduction(name: str) -> Callable[..., Any]:
    function = getattr(_tensor, name)

    def reduced(a: Any, axis: Any = None, dtype: Any = None, out: Any = None,
                keepdims: bool = False) -> Any:
        a = a if dtype is None else _tensor.asarray(a).astype(dtype)
        return _deliver(function(a, axis=axis, keepdim=keepdims), out)
    return reduced


def _extreme(name: str) -> Callable[..., Any]:
    function = getattr(_tensor, name)
    return lambda a, axis=None, out=None, keepdims=False: _deliver(
        function(a, axis=axis, keepdim=keepdims), out)


def _spread(name: str) -> Callable[..., Any]:
    function = getattr(_tensor, name)
    return lambda a, axis=None, dtype=None, out=None, ddof=0, keepdims=False: _deliver(
        function(a if dtype is None else _tensor.asarray(a).astype(dtype), axis=axis,
                 correction=ddof, keepdim=keepdims), out)


def _scan(name: str) -> Callable[..., Any]:
    function = getattr(_tensor, name)
    return lambda a, axis=None, dtype=None, out=None: _deliver(
        function(a, axis=axis) if dtype is None else function(a, axis=axis).astype(dtype), out)


def _percent(q: Any) -> Any:
    parts = _operand(q)
    return parts / 100.0 if isinstance(parts, (int, float)) else [p / 100.0 for p in q]


def _like(name: str) -> Callable[..., Any]:
    function = getattr(_tensor, name)
    return lambda a, *value, dtype=None: function(a, *value, dtype=dtype)


def _dot(a: Any, b: Any, out: Any = None) -> Any:
    a, b = _tensor.asarray(a), _tensor.asarray(b)
    if not a.ndim or not b.ndim:
        return _deliver(a * b, out)
    if b.ndim > 2:  # the sum goes over the last axis but one
        return _deliver(_tensor.matmul(a.reshape(*a.shape[:-1], *([1] * (b.ndim - 2)), 1,
                                                 a.shape[-1]), b).squeeze(-2), out)
    return _deliver(_tensor.matmul(a, b), out)


def _round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    a, scale = _tensor.asarray(a), 10.0 ** decimals
    return _deliver(a.round() if not decimals else (a * scale).round() / scale, out)


def _where(condition: Any, x: Any, y: Any) -> Tensor:
    return _tensor.where(condition, _operand(x), _operand(y))


def _concatenate(arrays: Any, axis: int | None = 0, out: Any = None) -> Any:
    if axis is None:
        arrays, axis = [_functions.ravel(a) for a in arrays], 0
    return _deliver(_tensor.concat(list(arrays), axis=axis), out)


def _clip(a: Any, a_min: Any, a_max: Any, out: Any = None) -> Any:
    return _deliver(_tensor.clamp(a, a_min, a_max), out)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: _reduction(name) for name in ("sum", "mean", "prod")},
    **{name: _extreme(name) for name in ("amax", "amin", "any", "all", "argmax", "argmin")},
    "max": _extreme("amax"), "min": _extreme("amin"),
    "count_nonzero": lambda a, axis=None, *, keepdims=False: _tensor.count_nonzero(
        a, axis=axis, keepdim=keepdims),
    "std": _spread("std"), "var": _spread("var"),
    "cumsum": _scan("cumsum"), "cumprod": _scan("cumprod"),
    "sort": lambda a, axis=-1: _tensor.sort(*((a, axis) if axis is not None else
                                              (_functions.ravel(a), 0)))[0],
    "argsort": lambda a, axis=-1: _tensor.argsort(*((a, axis) if axis is not None else
                                                    (_functions.ravel(a), 0))),
    "median": _extreme("_median"), "repeat": _functions.repeat,
    "quantile": lambda a, q, axis=None, out=None, *, method="linear", keepdims=False: _deliver(
        _functions.quantile(a, q, axis, keepdims, method), out),
    "percentile": lambda a, q, axis=None, out=None, *, method="linear", keepdims=False: _deliver(
        _functions.quantile(a, _percent(q), axis, keepdims, method), out),
    "unique": lambda ar, *, return_inverse=False, return_counts=False: _functions.unique(
        ar, return_inverse, return_counts),
    "dot": _dot, "outer": lambda a, b: _functions.outer(a, b),
    "einsum": lambda subscripts, *operands: _functions.einsum(subscripts, *operands),
    "round": _round, "round_": _round, "around": _round, "where": _where,
    "clip": _clip, "concatenate": _concatenate,
    "stack": lambda arrays, axis=0, out=None: _deliver(_tensor.stack(list(arrays), axis=axis), out),
    "reshape": lambda a, newshape: _tensor.reshape(a, newshape),
    "ravel": lambda a: _functions.ravel(a),
    "transpose": lambda a, axes=None: a.T if axes is None else _tensor.permute(a, axes),
    "swapaxes": lambda a, axis1, axis2: _tensor.swapaxes(a, axis1, axis2),
    "squeeze": lambda a, axis=None: _tensor.squeeze(a, axis),
    "expand_dims": lambda a, axis: _tensor.expand_dims(a, axis),
    "moveaxis": lambda a, source, destination: _functions.movedim(a, source, destination),
    "broadcast_to": lambda array, shape: _tensor.broadcast_to(array, shape),
    "flip": lambda m, axis: _tensor.flip(m, axis),
    "roll": lambda a, shift, axis: _tensor.roll(a, shift, axis),
    "tile": lambda A, reps: _tensor.tile(A, reps),
    "tril": lambda m, k=0: _tensor.tril(m, k), "triu": lambda m, k=0: _tensor.triu(m, k),
    "diagonal": lambda a, offset=0, axis1=0, axis2=1: _tensor.diagonal(a, offset, axis1, axis2),
    "take": lambda a, indices, axis=None: _functions.take(a, indices, axis),
    "take_along_axis": lambda arr, indices, axis: _functions.take_along_axis(arr, indices, axis),
    "nonzero": lambda a: _functions.nonzero(a),
    "isclose": lambda a, b, rtol=1e-5, atol=1e-8, equal_nan=False: _functions.isclose(
        a, b, rtol, atol, equal_nan),
    "allclose": lambda a, b, rtol=1e-5, atol=1e-8, equal_nan=False: _functions.allclose(
        a, b, rtol, atol, equal_nan),
    "array_equal": lambda a1, a2: _functions.array_equal(a1, a2),
    "zeros_like": _like("zeros_like"), "ones_like": _like("ones_like"),
    "full_like": _like("full_like"), "empty_like": _like("zeros_like"),
    **{f"linalg.{name}": getattr(linalg, name) for name in
       ("solve", "inv", "det", "slogdet", "cholesky", "qr", "svd", "eigh", "eigvalsh", "lstsq",
        "norm", "matrix_rank", "pinv", "matrix_power")},
    "shape": lambda a: a.shape, "ndim": lambda a: a.ndim, "size": lambda a: a.size,
    "copy": lambda a: a.clone(),
}


def __array_function__(self: Tensor, function: Any, types: Any, arguments: Any,
                       named: Any) -> Any:
    """For NumPy: a function with a tensor among its arguments."""
    place = (function.__module__ or "").removeprefix("numpy").strip(".")
    own = _FUNCTIONS.get(f"{place}.{function.__name__}" if place in ("linalg", "fft")
                         else function.__name__)
    if own is not None and all(issubclass(t, Tensor) or t.__module__ == "numpy" for t in types):
        try:
            inspect.signature(own).bind(*arguments, **named)
        except TypeError:
            pass  # arguments that only NumPy knows
        else:
            return own(*arguments, **named)
    return function(*_arrays(arguments), **_arrays(named))


for _name, _item in (("__array_ufunc__", __array_ufunc__),
                     ("__array_function__", __array_function__)):
    setattr(Tensor, _name, _item)
