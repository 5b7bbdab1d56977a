# SPDX-License-Identifier: Apache-2.0
"""Gradients: which operations are remembered, and grad()."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from . import _tensor
from ._tensor import Tensor

__all__ = ["grad", "inference_mode", "no_grad"]


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
