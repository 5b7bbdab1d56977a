# SPDX-License-Identifier: Apache-2.0
"""Attention with several heads. Parameters have PyTorch's names and shapes."""

from __future__ import annotations

import math
from typing import Any

from .. import _tensor
from .._tensor import Tensor
from . import init
from .functional import _attention, linear
from .layers import Linear
from .module import Module, Parameter


class MultiheadAttention(Module):
    """query (L, N, E), key (S, N, E) and value (S, N, E), or with batch_first (N, L, E), or without
    a batch (L, E): the result like query, and the weights (N, L, S). Where keys and values
    have other lengths, kdim and vdim say so. Masks are PyTorch's: True leaves a key out."""

    def __init__(self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True,
                 kdim: int | None = None, vdim: int | None = None, batch_first: bool = False,
                 dtype: Any = None, device: Any = None, seed: int | None = None) -> None:
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError(f"{num_heads} heads of {embed_dim} numbers")
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.kdim, self.vdim = kdim or embed_dim, vdim or embed_dim
        self.batch_first, self.head_dim = batch_first, embed_dim // num_heads
        made = {"dtype": dtype, "device": device}
        self._joined = self.kdim == self.vdim == embed_dim
        if self._joined:
            names = {"in_proj_weight": (3 * embed_dim, embed_dim)}
        else:
            names = {"q_proj_weight": (embed_dim, embed_dim),
                     "k_proj_weight": (embed_dim, self.kdim),
                     "v_proj_weight": (embed_dim, self.vdim)}
        for i, (name, shape) in enumerate(names.items()):
            weight = Parameter(_tensor.zeros(shape, **made))
            self.register_parameter(name, init.xavier_uniform_(
                weight, seed=None if seed is None else seed + i))
        self.register_parameter("in_proj_bias", Parameter(_tensor.zeros(3 * embed_dim, **made))
                                if bias else None)
        self.out_proj = Linear(embed_dim, embed_dim, bias,
                               seed=None if seed is None else seed + 3, **made)
        if bias:
            init.zeros_(self.out_proj.bias)

    def _projected(self, x: Tensor, i: int) -> Tensor:
        """Query, key or value, 0 to 2: (N, length, E) -> (N, heads, length, head_dim)."""
        e = self.embed_dim
        weight = (self.in_proj_weight[i * e:(i + 1) * e] if self._joined else
                  getattr(self, ("q_proj_weight", "k_proj_weight", "v_proj_weight")[i]))
        bias = None if self.in_proj_bias is None else self.in_proj_bias[i * e:(i + 1) * e]
        y = linear(x, weight, bias)
        return y.reshape(*y.shape[:2], self.num_heads, self.head_dim).transpose(1, 2)

    def _mask(self, n: int, attn_mask: Any, key_padding_mask: Any) -> Tensor | None:
        """Both masks as one that is added: (N or 1, heads or 1, L or 1, S)."""
        total = None
        for mask, heads in ((attn_mask, True), (key_padding_mask, False)):
            if mask is None:
                continue
            mask = _tensor.asarray(mask)
            if mask.dtype == "bool":
                mask = _tensor.where(mask, -math.inf, _tensor.zeros(mask.shape))
            if not heads:
                mask = mask.reshape(-1, 1, 1, mask.shape[-1])
            elif mask.ndim == 3:
                mask = mask.reshape(n, self.num_heads, *mask.shape[1:])
            total = mask if total is None else total + mask
        return total

    def forward(self, query: Any, key: Any, value: Any, key_padding_mask: Any = None,
                need_weights: bool = True, attn_mask: Any = None,
                average_attn_weights: bool = True, is_causal: bool = False
                ) -> tuple[Tensor, Tensor | None]:
        inputs = [_tensor.asarray(x) for x in (query, key, value)]
        single = inputs[0].ndim == 2
        if any(x.ndim != (2 if single else 3) for x in inputs):
            raise _tensor.ShapeError("MultiheadAttention: three axes each, or two each, not "
                                     f"{', '.join(str(x.shape) for x in inputs)}")
        if single:
            inputs = [x.unsqueeze(0) for x in inputs]
        elif not self.batch_first:
            inputs = [x.transpose(0, 1) for x in inputs]
        q, k, v = (self._projected(x, i) for i, x in enumerate(inputs))
        n, _, length, _ = q.shape
        mask = self._mask(n, attn_mask, key_padding_mask)
        causal = is_causal and attn_mask is None
        if causal and mask is not None:  # a padding mask beside it
            seen = _tensor.ones((length, k.shape[-2])).tril().bool()
            mask, causal = mask + _tensor.where(seen, _tensor.zeros(seen.shape), -math.inf), False
        weights = _attention(q, k, mask, self.dropout if self.training else 0.0, causal, None)
        y = (weights @ v).transpose(1, 2).reshape(n, length, self.embed_dim)
        y = self.out_proj(y)
        if average_attn_weights:
            weights = weights.mean(axis=1)
        if single:
            y, weights = y.squeeze(0), weights.squeeze(0)
        elif not self.batch_first:
            y = y.transpose(0, 1)
        return y, weights if need_weights else None

    def extra_repr(self) -> str:
        return f"{self.embed_dim}, {self.num_heads}, batch_first={self.batch_first}"
