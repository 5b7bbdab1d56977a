# SPDX-License-Identifier: Apache-2.0
"""Activations as modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _tensor
from .._tensor import Tensor
from .module import Module


class Function(Module):
    """A function with fixed further arguments."""

    _function: Callable[..., Tensor]

    def forward(self, *inputs: Any) -> Tensor:
        return type(self)._function(*inputs, **self.__dict__.get("_arguments", {}))

    def extra_repr(self) -> str:
        return ", ".join(f"{k}={v!r}" for k, v in self.__dict__.get("_arguments", {}).items())


class ReLU(Function):
    """max(x, 0)."""
    _function = staticmethod(_tensor.relu)


class SiLU(Function):
    """x * sigmoid(x)."""
    _function = staticmethod(_tensor.silu)


class Sigmoid(Function):
    """1 / (1 + exp(-x))."""
    _function = staticmethod(_tensor.sigmoid)


class Tanh(Function):
    """The hyperbolic tangent."""
    _function = staticmethod(_tensor.tanh)


class Softplus(Function):
    """log(1 + exp(x))."""
    _function = staticmethod(_tensor.softplus)


class GELU(Function):
    """x * Phi(x): the exact form, or "tanh" for the usual approximation."""
    _function = staticmethod(_tensor.gelu)

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self._arguments = {"approximate": approximate}


class LeakyReLU(Function):
    """x where it is positive, else slope * x."""
    _function = staticmethod(_tensor.leaky_relu)

    def __init__(self, negative_slope: float = 0.01) -> None:
        super().__init__()
        self._arguments = {"slope": negative_slope}


class ELU(Function):
    """x where it is positive, else alpha * (exp(x) - 1)."""
    _function = staticmethod(_tensor.elu)

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self._arguments = {"alpha": alpha}


class Softmax(Function):
    """Exponentials that sum to 1 along an axis."""
    _function = staticmethod(_tensor.softmax)

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self._arguments = {"axis": dim}


class LogSoftmax(Softmax):
    """The logarithm of softmax."""
    _function = staticmethod(_tensor.log_softmax)


class Sine(Module):
    """sin(w0 * x), as SIRENs have it."""

    def __init__(self, w0: float = 30.0) -> None:
        super().__init__()
        self.w0 = w0

    def forward(self, x: Any) -> Tensor:
        return _tensor.sin(_tensor.asarray(x) * self.w0)

    def extra_repr(self) -> str:
        return f"w0={self.w0}"
