# SPDX-License-Identifier: Apache-2.0
"""Layers and losses as functions."""

from __future__ import annotations

import math
from typing import Any

from .. import _tensor
from .._tensor import (
    Tensor, adaptive_avg_pool2d, avg_pool2d, batch_norm, conv1d, conv2d, conv_transpose1d,
    conv_transpose2d, dropout, elu, gelu, group_norm, huber_loss, layer_norm, leaky_relu,
    log_softmax, mae_loss, max_pool2d, mse_loss, one_hot, pad, relu, rms_norm,
    sigmoid, silu, softmax, softplus, tanh)
from .._tensor import bce_logits_loss as binary_cross_entropy_with_logits
from .._tensor import bce_loss as binary_cross_entropy
from .._tensor import cross_entropy_loss as cross_entropy
from .._tensor import mae_loss as l1_loss

__all__ = ["linear", "embedding", "mse_loss", "l1_loss", "mae_loss", "huber_loss",
           "binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy", "relu",
           "gelu", "silu", "sigmoid", "tanh", "softplus", "leaky_relu", "elu", "softmax",
           "log_softmax", "dropout", "layer_norm", "rms_norm", "batch_norm", "group_norm",
           "conv1d", "conv2d", "conv_transpose1d", "conv_transpose2d", "max_pool2d", "avg_pool2d",
           "adaptive_avg_pool2d", "one_hot", "pad", "scaled_dot_product_attention"]


def linear(x: Any, weight: Any, bias: Any = None) -> Tensor:
    """x @ weight.T + bias: weight (out, in)."""
    y = _tensor.matmul(x, _tensor.asarray(weight).mT)
    return y if bias is None else y + bias


def embedding(ids: Any, weight: Any) -> Tensor:
    """Rows of weight (V, E) by their ids."""
    return _tensor.embedding(weight, ids)


def _attention(query: Tensor, key: Tensor, mask: Any, dropout_p: float, is_causal: bool,
               scale: float | None) -> Tensor:
    """How much each of L queries (.., L, E) takes of each of S keys (.., S, E): (.., L, S)."""
    scores = (query * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)) @ key.mT
    if is_causal:
        if mask is not None:
            raise ValueError("attention has a mask or is causal, not both")
        mask = _tensor.ones((query.shape[-2], key.shape[-2])).tril().bool()
    if mask is not None:
        mask = _tensor.asarray(mask)
        scores = (_tensor.where(mask, scores, -math.inf) if mask.dtype == "bool" else
                  scores + mask.astype(scores.dtype))
    weights = _tensor.softmax(scores, -1)
    return _tensor.dropout(weights, dropout_p) if dropout_p > 0 else weights


def scaled_dot_product_attention(query: Any, key: Any, value: Any, attn_mask: Any = None,
                                 dropout_p: float = 0.0, is_causal: bool = False,
                                 scale: float | None = None) -> Tensor:
    """softmax(query @ key.mT * scale + mask) @ value: query (.., L, E), key (.., S, E), value
    (.., S, V). A mask of bool says who takes part; of numbers is added. is_causal: query i sees
    keys up to i. scale: 1 / sqrt(E) if it is not given."""
    query, key = _tensor.asarray(query), _tensor.asarray(key)
    if attn_mask is None and dropout_p <= 0 and not is_causal:
        return _tensor._attention(query, key, value,
                                  1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    return _attention(query, key, attn_mask, dropout_p, is_causal, scale) @ value
