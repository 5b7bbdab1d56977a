# SPDX-License-Identifier: Apache-2.0
"""Losses as modules."""

from __future__ import annotations

from typing import Any

from .. import _tensor
from .._tensor import Tensor
from .activations import Function
from .functional import cross_entropy
from .module import Module


class _Loss(Function):
    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self._arguments = {"reduction": reduction}


class MSELoss(_Loss):
    """(x - target) ** 2."""
    _function = staticmethod(_tensor.mse_loss)


class L1Loss(_Loss):
    """abs(x - target)."""
    _function = staticmethod(_tensor.mae_loss)


class BCELoss(_Loss):
    """Binary cross-entropy of probabilities."""
    _function = staticmethod(_tensor.bce_loss)


class BCEWithLogitsLoss(_Loss):
    """Binary cross-entropy of logits."""
    _function = staticmethod(_tensor.bce_logits_loss)


class CrossEntropyLoss(Module):
    """Cross-entropy of logits (N, C, ..) with class numbers (N, ..) or probabilities (N, C, ..)."""

    def __init__(self, weight: Any = None, size_average: None = None, ignore_index: int = -100, reduce: None = None,
                 reduction: str = "mean", label_smoothing: float = 0.0) -> None:
        super().__init__()
        self.register_buffer("weight", None if weight is None else _tensor.asarray(weight))
        self._arguments = {"size_average": size_average, "ignore_index": ignore_index, "reduce": reduce,
                           "reduction": reduction, "label_smoothing": label_smoothing}

    def forward(self, input: Any, target: Any) -> Tensor:
        return cross_entropy(input, target, self.weight, **self._arguments)


class HuberLoss(Function):
    """d * d / 2 up to delta, delta * (abs(d) - delta / 2) beyond."""
    _function = staticmethod(_tensor.huber_loss)

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__()
        self._arguments = {"delta": delta, "reduction": reduction}
