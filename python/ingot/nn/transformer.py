# SPDX-License-Identifier: Apache-2.0
"""Encoders of transformers. Parameters have PyTorch's names and shapes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from .. import _tensor
from .._tensor import Tensor
from .attention import MultiheadAttention
from .layers import Dropout, Linear
from .module import Module, ModuleList
from .norms import LayerNorm

_ACTIVATIONS = {"relu": _tensor.relu, "gelu": _tensor.gelu}


class TransformerEncoderLayer(Module):
    """Attention of a sequence to itself, then two linear layers, each added to what goes in and
    normalised behind it (norm_first: before it). x (L, N, E), or with batch_first (N, L, E), or (L, E)."""

    def __init__(self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
                 activation: str | Callable[[Tensor], Tensor] = "relu", layer_norm_eps: float = 1e-5,
                 batch_first: bool = False, norm_first: bool = False, bias: bool = True, device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__()
        if isinstance(activation, str) and activation not in _ACTIVATIONS:
            raise ValueError(f'TransformerEncoderLayer: an activation is "relu", "gelu" or a function, not {activation!r}')
        made = {"dtype": dtype, "device": device}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **made)
        self.linear1 = Linear(d_model, dim_feedforward, bias, **made)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **made)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, **made)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, **made)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        self.activation = _ACTIVATIONS[activation] if isinstance(activation, str) else activation

    def _attended(self, x: Tensor, mask: Any, padding: Any, is_causal: bool) -> Tensor:
        y, _ = self.self_attn(x, x, x, padding, False, mask, is_causal=is_causal)
        return self.dropout1(y)

    def _fed_forward(self, x: Tensor) -> Tensor:
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))

    def forward(self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool = False) -> Tensor:
        x, masks = _tensor.asarray(src), (src_mask, src_key_padding_mask, is_causal)
        if self.norm_first:
            x = x + self._attended(self.norm1(x), *masks)
            return x + self._fed_forward(self.norm2(x))
        x = self.norm1(x + self._attended(x, *masks))
        return self.norm2(x + self._fed_forward(x))


class TransformerEncoder(Module):
    """Copies of a layer, one after the other, and a norm behind them if it is given."""

    def __init__(self, encoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        if num_layers < 1:
            raise ValueError(f"TransformerEncoder: {num_layers} layers")
        self.layers = ModuleList(copy.deepcopy(encoder_layer) for _ in range(num_layers))
        self.num_layers, self.norm = num_layers, norm

    def forward(self, src: Any, mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool | None = None) -> Tensor:
        x = _tensor.asarray(src)
        for layer in self.layers:
            x = layer(x, src_mask=mask, src_key_padding_mask=src_key_padding_mask, is_causal=bool(is_causal))
        return x if self.norm is None else self.norm(x)
