# SPDX-License-Identifier: Apache-2.0
"""Losses as modules."""

from __future__ import annotations

from .. import _tensor
from .activations import Function


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


class CrossEntropyLoss(_Loss):
    """Cross-entropy of logits (.., C) with class numbers (..) or probabilities (.., C)."""
    _function = staticmethod(_tensor.cross_entropy_loss)


class HuberLoss(Function):
    """d * d / 2 up to delta, delta * (abs(d) - delta / 2) beyond."""
    _function = staticmethod(_tensor.huber_loss)

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__()
        self._arguments = {"delta": delta, "reduction": reduction}
