# SPDX-License-Identifier: Apache-2.0
"""Limits for gradients, and parameters as one vector."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from .. import _tensor
from .._gradients import _list
from .._tensor import Tensor

__all__ = ["clip_grad_norm_", "clip_grad_value_", "parameters_to_vector", "vector_to_parameters"]


def clip_grad_norm_(parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0) -> Tensor:
    """Scales all gradients so that their norm together is at most max_norm; the norm before, as a
    tensor: nothing is read."""
    parameters = _list(parameters)
    if norm_type == 2:
        return _tensor._clip_grad_norm(parameters, max_norm)
    grads = [parameter.grad for parameter in parameters if parameter.grad is not None]
    if not grads:
        return _tensor.zeros(())
    norm = _tensor.stack([grad.detach().norm(norm_type) for grad in grads]).norm(norm_type)
    scale = (max_norm / (norm + 1e-6)).clamp(None, 1.0)
    for grad in grads:
        grad.detach().mul_(scale)
    return norm


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    """Gradients within -clip_value .. clip_value."""
    _tensor._clip_grad_value(_list(parameters), clip_value)


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All elements of the parameters, one after the other; gradients go through."""
    return _tensor.concat([parameter.reshape(-1) for parameter in _list(parameters)])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Gives the parameters the values that parameters_to_vector() would read back."""
    targets, vec = _list(parameters), _tensor.asarray(vec)
    ends = list(itertools.accumulate((int(t.size) for t in targets), initial=0))
    if vec.ndim != 1 or vec.shape[0] != ends[-1]:
        raise _tensor.ShapeError(f"vector_to_parameters(): {ends[-1]} numbers in one axis, not {vec.shape}")
    for target, begin, end in zip(targets, ends, ends[1:]):
        target.data.copy_(vec.detach()[begin:end].reshape(target.shape))
