# SPDX-License-Identifier: Apache-2.0
"""Kernels of one's own, on tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from . import _tensor
from ._tensor import Tensor, float32, int32

__all__ = ["kernel", "Kernel"]


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
