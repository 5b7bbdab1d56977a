# SPDX-License-Identifier: Apache-2.0
"""Layers and losses as functions."""

from __future__ import annotations

import math
from typing import Any

from .. import _tensor
from .._tensor import (
    Tensor, adaptive_avg_pool2d, avg_pool2d, batch_norm, conv_transpose1d,
    conv_transpose2d, dropout, elu, gelu, group_norm, huber_loss, layer_norm, leaky_relu,
    log_softmax, mae_loss, max_pool2d, mse_loss, one_hot, pad, relu, rms_norm,
    sigmoid, silu, softmax, softplus, tanh)
from .._tensor import bce_logits_loss as binary_cross_entropy_with_logits
from .._tensor import bce_loss as binary_cross_entropy
from .._tensor import mae_loss as l1_loss
from .resize import interpolate

__all__ = ["linear", "embedding", "mse_loss", "l1_loss", "mae_loss", "huber_loss",
           "binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy", "relu",
           "gelu", "silu", "sigmoid", "tanh", "softplus", "leaky_relu", "elu", "softmax",
           "log_softmax", "dropout", "layer_norm", "rms_norm", "batch_norm", "group_norm",
           "conv1d", "conv2d", "conv_transpose1d", "conv_transpose2d", "max_pool2d", "avg_pool2d",
           "adaptive_avg_pool2d", "one_hot", "pad", "interpolate", "normalize",
           "scaled_dot_product_attention"]


def linear(x: Any, weight: Any, bias: Any = None) -> Tensor:
    """x @ weight.T + bias: weight (out, in)."""
    y = _tensor.matmul(x, _tensor.asarray(weight).mT)
    return y if bias is None else y + bias


def normalize(input: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """x / max(norm, eps): vectors of length 1 along an axis; those that are 0 stay 0."""
    x = _tensor.asarray(input)
    return x / x.norm(p, axis=dim, keepdim=True).clamp(eps)


def _padded(x: Any, weight: Any, stride: Any, padding: Any, dilation: Any, axes: int) -> tuple[Any, Any]:
    """What a convolution with padding="same" or "valid" is without the word. Where one side needs one
    zero more, it is the one behind, and x gets it here."""
    if not isinstance(padding, str):
        return x, padding
    if padding not in ("same", "valid"):
        raise ValueError(f'padding is "same", "valid" or a number, not {padding!r}')
    if padding == "valid":
        return x, 0
    steps, gaps = ((v,) * axes if isinstance(v, int) else tuple(v) for v in (stride, dilation))
    if any(step != 1 for step in steps):
        raise ValueError(f'padding="same" goes with a stride of 1, not {stride}')
    zeros = [gap * (taps - 1) for gap, taps in zip(gaps, _tensor.asarray(weight).shape[-axes:])]
    x = _tensor.asarray(x)
    for i, n in enumerate(zeros):
        if n % 2:
            x = _tensor.pad(x, x.ndim - axes + i, 0, 1)
    half = tuple(n // 2 for n in zeros)
    return x, half if axes > 1 else half[0]


def conv1d(x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
           groups: int = 1) -> Tensor:
    """x (N, C, L) with weight (O, C / groups, K) and bias (O). padding: a number, "same" or "valid"."""
    x, padding = _padded(x, weight, stride, padding, dilation, 1)
    return _tensor.conv1d(x, weight, bias, stride, padding, dilation, groups)


def conv2d(x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
           groups: int = 1) -> Tensor:
    """x (N, C, H, W) with weight (O, C / groups, KH, KW) and bias (O). padding: numbers, "same" or "valid"."""
    x, padding = _padded(x, weight, stride, padding, dilation, 2)
    return _tensor.conv2d(x, weight, bias, stride, padding, dilation, groups)


def embedding(ids: Any, weight: Any) -> Tensor:
    """Rows of weight (V, E) by their ids."""
    return _tensor.embedding(weight, ids)


def _classes_last(x: Tensor, target: Tensor) -> tuple[Tensor, Tensor, bool]:
    """Logits (C), (N, C) or (N, C, ..) with their classes as the last axis; whether the target is of
    probabilities."""
    at = 0 if x.ndim == 1 else 1
    wanted = x.shape[:at] + x.shape[at + 1:]
    if target.dtype.is_floating_point and target.shape == x.shape:
        return x.movedim(at, -1), target.movedim(at, -1), True
    if not x.ndim or target.shape != wanted or target.dtype.is_floating_point:
        hint = ("; for classes in the last axis write input.movedim(-1, 1)"
                if x.ndim > 2 and target.shape == x.shape[:-1] else "")
        raise _tensor.ShapeError(f"cross_entropy(): input (N, C, ..) of {x.shape} goes with class numbers of {wanted} "
                                 f"or probabilities of {x.shape}, not with {target.dtype.name} of {target.shape}{hint}")
    return x.movedim(at, -1) if x.ndim > 2 else x, target, False


def _reduced(losses: Tensor, total: Any, reduction: str) -> Tensor:
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f'reduction is "mean", "sum" or "none", not {reduction!r}')
    return losses if reduction == "none" else losses.sum() / total if reduction == "mean" else losses.sum()


def _weighted_classes(x: Tensor, target: Tensor, weight: Tensor | None, ignore: int, reduction: str,
                      smoothing: float) -> Tensor:
    """Cross-entropy of classes where some do not count, count more, or share with the others."""
    keep = target != ignore
    safe = _tensor.where(keep, target, 0)
    share = keep.astype(x.dtype)
    if weight is not None:
        share = share * weight[safe]
    losses = _tensor.cross_entropy_loss(x, safe, "none") * share
    if smoothing:
        each = -_tensor.log_softmax(x, -1)
        even = (each if weight is None else each * weight).sum(axis=-1) * keep.astype(x.dtype)
        losses = losses * (1 - smoothing) + even * (smoothing / x.shape[-1])
    return _reduced(losses, share.sum(), reduction)


def cross_entropy(input: Any, target: Any, weight: Any = None, size_average: None = None, ignore_index: int = -100,
                  reduce: None = None, reduction: str = "mean", label_smoothing: float = 0.0) -> Tensor:
    """Cross-entropy of logits (N, C, ..) with class numbers (N, ..) or probabilities (N, C, ..). weight: how much each
    class counts; ignore_index: a class number that does not; label_smoothing: what all classes share."""
    if size_average is not None or reduce is not None:
        raise TypeError("cross_entropy(): size_average and reduce are gone; write reduction=")
    if not 0 <= label_smoothing <= 1:
        raise ValueError(f"cross_entropy(): label_smoothing is from 0 to 1, not {label_smoothing}")
    x, target, soft = _classes_last(_tensor.asarray(input), _tensor.asarray(target))
    weight = None if weight is None else _tensor.asarray(weight)
    if weight is not None and weight.shape != x.shape[-1:]:
        raise _tensor.ShapeError(f"cross_entropy(): weight of {weight.shape} for {x.shape[-1]} classes")
    plain = weight is None and not label_smoothing
    if soft:
        if plain:
            return _tensor.cross_entropy_loss(x, target, reduction)
        target = target * (1 - label_smoothing) + label_smoothing / x.shape[-1]
        parts = -_tensor.log_softmax(x, -1) * (target if weight is None else target * weight)
        return _reduced(parts.sum(axis=-1), parts.size // x.shape[-1], reduction)
    if plain and not 0 <= ignore_index < x.shape[-1]:
        try:
            return _tensor.cross_entropy_loss(x, target, reduction)
        except _tensor.IndexOutOfRange:
            if not bool((target == ignore_index).any().item()):
                raise
    return _weighted_classes(x, target, weight, ignore_index, reduction, label_smoothing)


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
