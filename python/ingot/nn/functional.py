# SPDX-License-Identifier: Apache-2.0
"""Layers and losses as functions."""

from __future__ import annotations

from typing import Any

from .. import _tensor
from .._tensor import (
    Tensor, adaptive_avg_pool2d, avg_pool2d, batch_norm, conv1d, conv2d, conv_transpose2d, dropout,
    elu, gelu, group_norm, huber_loss, layer_norm, leaky_relu, log_softmax, mae_loss, max_pool2d,
    mse_loss, one_hot, pad, relu, rms_norm, sigmoid, silu, softmax, softplus, tanh)
from .._tensor import bce_logits_loss as binary_cross_entropy_with_logits
from .._tensor import bce_loss as binary_cross_entropy
from .._tensor import cross_entropy_loss as cross_entropy
from .._tensor import mae_loss as l1_loss

__all__ = ["linear", "embedding", "mse_loss", "l1_loss", "mae_loss", "huber_loss",
           "binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy", "relu",
           "gelu", "silu", "sigmoid", "tanh", "softplus", "leaky_relu", "elu", "softmax",
           "log_softmax", "dropout", "layer_norm", "rms_norm", "batch_norm", "group_norm",
           "conv1d", "conv2d", "conv_transpose2d", "max_pool2d", "avg_pool2d",
           "adaptive_avg_pool2d", "one_hot", "pad"]


def linear(x: Any, weight: Any, bias: Any = None) -> Tensor:
    """x @ weight.T + bias: weight (out, in)."""
    y = _tensor.matmul(x, _tensor.asarray(weight).mT)
    return y if bias is None else y + bias


def embedding(ids: Any, weight: Any) -> Tensor:
    """Rows of weight (V, E) by their ids."""
    return _tensor.embedding(weight, ids)
