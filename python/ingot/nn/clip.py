# SPDX-License-Identifier: Apache-2.0
"""Limits for gradients."""

from __future__ import annotations

from collections.abc import Iterable

from .. import _tensor
from .._methods import _list
from .._tensor import Tensor


def clip_grad_norm_(parameters: Tensor | Iterable[Tensor], max_norm: float) -> Tensor:
    """Scales all gradients so that their norm together is at most max_norm; the norm before, as a
    tensor: nothing is read."""
    return _tensor._clip_grad_norm(_list(parameters), max_norm)


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    """Gradients within -clip_value .. clip_value."""
    _tensor._clip_grad_value(_list(parameters), clip_value)
