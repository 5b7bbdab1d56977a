# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks: RNN, LSTM, GRU, and a step of each. Parameters have PyTorch's names, shapes
and order of gates. What a step needs of its input is one product for all steps; then step follows
step."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .. import _tensor
from .._tensor import Tensor
from . import init
from .functional import linear
from .module import Module, Parameter

# From a step's input part and hidden part, both (N, gates * H), and the state to the next state.
_Step = Callable[[Tensor, Tensor, tuple[Tensor, ...]], tuple[Tensor, ...]]


def _rnn_step(activation: Callable[[Any], Tensor]) -> _Step:
    return lambda x, h, state: (activation(x + h),)


def _lstm_step(x: Tensor, h: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    i, f, g, o = (x + h).chunk(4, -1)
    cell = f.sigmoid() * state[1] + i.sigmoid() * g.tanh()
    return o.sigmoid() * cell.tanh(), cell


def _gru_step(x: Tensor, h: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    xr, xz, xn = x.chunk(3, -1)
    hr, hz, hn = h.chunk(3, -1)
    z = (xz + hz).sigmoid()
    new = (xn + (xr + hr).sigmoid() * hn).tanh()
    return (new + z * (state[0] - new),)


_ACTIVATIONS = {"tanh": _tensor.tanh, "relu": _tensor.relu}


def _activation(name: str) -> Callable[[Any], Tensor]:
    if name not in _ACTIVATIONS:
        raise ValueError(f'nonlinearity is "tanh" or "relu", not {name!r}')
    return _ACTIVATIONS[name]


def _register(module: Module, suffix: str, gates: int, inputs: int, hidden: int, bias: bool,
              made: dict[str, Any], seed: int | None) -> None:
    """weight_ih, weight_hh, bias_ih, bias_hh, uniform within 1 / sqrt(hidden)."""
    shapes = {"weight_ih": (gates * hidden, inputs), "weight_hh": (gates * hidden, hidden),
              "bias_ih": (gates * hidden,), "bias_hh": (gates * hidden,)}
    bound = 1 / math.sqrt(hidden)
    for i, (name, shape) in enumerate(shapes.items()):
        parameter = None
        if bias or name.startswith("weight"):
            parameter = init.uniform_(Parameter(_tensor.zeros(shape, **made)), -bound, bound,
                                      None if seed is None else seed + i)
        module.register_parameter(name + suffix, parameter)


def _check(*sizes: int) -> None:
    if any(size < 1 for size in sizes):
        raise ValueError(f"sizes of {', '.join(map(str, sizes))}: all must be 1 or more")


class _Recurrent(Module):
    _gates, _states = 1, 1

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
                 batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False,
                 dtype: Any = None, device: Any = None, seed: int | None = None) -> None:
        super().__init__()
        _check(input_size, hidden_size, num_layers)
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, dropout
        self.bidirectional = bidirectional
        self._ends = ("", "_reverse") if bidirectional else ("",)
        for layer in range(num_layers):
            inputs = input_size if layer == 0 else hidden_size * len(self._ends)
            for k, end in enumerate(self._ends):
                at = None if seed is None else seed + 8 * layer + 4 * k
                _register(self, f"_l{layer}{end}", self._gates, inputs, hidden_size, bias,
                          {"dtype": dtype, "device": device}, at)

    def _step(self, x: Tensor, h: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        raise NotImplementedError

    def _line(self, x: Tensor, suffix: str, state: tuple[Tensor, ...]
              ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """One layer in one direction: x (T, N, in) -> (T, N, H) and the last state."""
        part = {name: getattr(self, f"{name}_{suffix}")
                for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}
        inputs = linear(x, part["weight_ih"], part["bias_ih"])
        steps, outputs = range(x.shape[0]), []
        for t in reversed(steps) if suffix.endswith("_reverse") else steps:
            hidden = linear(state[0], part["weight_hh"], part["bias_hh"])
            state = self._step(inputs[t], hidden, state)
            outputs.append(state[0])
        if suffix.endswith("_reverse"):
            outputs.reverse()
        return _tensor.stack(outputs, 0), state

    def _begin(self, x: Tensor, given: Any, single: bool) -> list[Tensor]:
        """The states before the first step, each (layers * directions, N, H)."""
        shape = (self.num_layers * len(self._ends), x.shape[1], self.hidden_size)
        if given is None:
            return [_tensor.zeros(shape, dtype=x.dtype, device=x.device)] * self._states
        states = [_tensor.asarray(s) for s in (given if self._states > 1 else (given,))]
        states = [s.unsqueeze(1) if single else s for s in states]
        for s in states:
            if len(states) != self._states or s.shape != shape:
                raise _tensor.ShapeError(f"{type(self).__name__}: {self._states} first states of "
                                         f"{shape}, not {[s.shape for s in states]}")
        return states

    def forward(self, x: Any, state: Any = None) -> tuple[Tensor, Any]:
        x = _tensor.asarray(x)
        single = x.ndim == 2
        if x.ndim not in (2, 3) or x.shape[-1] != self.input_size:
            raise _tensor.ShapeError(f"{type(self).__name__}: x of shape {x.shape}, and (T, N, "
                                     f"{self.input_size}) or (T, {self.input_size}) is wanted")
        x = x.unsqueeze(1) if single else x.transpose(0, 1) if self.batch_first else x
        if x.shape[0] == 0:
            raise _tensor.ShapeError(f"{type(self).__name__}: no step in shape {x.shape}")
        first, last = self._begin(x, state, single), []
        for layer in range(self.num_layers):
            lines = []
            for end in self._ends:
                begin = tuple(s[len(last)] for s in first)
                line, end_state = self._line(x, f"l{layer}{end}", begin)
                lines.append(line)
                last.append(end_state)
            x = lines[0] if len(lines) == 1 else _tensor.concat(lines, -1)
            if self.dropout > 0 and self.training and layer + 1 < self.num_layers:
                x = _tensor.dropout(x, self.dropout)
        ends = [_tensor.stack([state[i] for state in last], 0) for i in range(self._states)]
        if single:
            x, ends = x.squeeze(1), [s.squeeze(1) for s in ends]
        elif self.batch_first:
            x = x.transpose(0, 1)
        return x, tuple(ends) if self._states > 1 else ends[0]

    def extra_repr(self) -> str:
        return (f"{self.input_size}, {self.hidden_size}, num_layers={self.num_layers}, "
                f"batch_first={self.batch_first}, bidirectional={self.bidirectional}")


class RNN(_Recurrent):
    """h' = tanh(x part + h part), or relu: x (T, N, in), or (N, T, in) with batch_first, or (T,
    in); gives all outputs (T, N, H) and the last state (layers, N, H)."""

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1,
                 nonlinearity: str = "tanh", **named: Any) -> None:
        super().__init__(input_size, hidden_size, num_layers, **named)
        self.nonlinearity = nonlinearity
        object.__setattr__(self, "_step", _rnn_step(_activation(nonlinearity)))


class LSTM(_Recurrent):
    """Long short-term memory: x as for RNN; gives all outputs and (h, c), each (layers, N, H)."""

    _gates, _states = 4, 2
    _step = staticmethod(_lstm_step)  # type: ignore[assignment]


class GRU(_Recurrent):
    """Gated recurrent units: x as for RNN; gives all outputs and the last state (layers, N, H)."""

    _gates = 3
    _step = staticmethod(_gru_step)  # type: ignore[assignment]


class _Cell(Module):
    _gates, _states = 1, 1
    _step: _Step

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, dtype: Any = None,
                 device: Any = None, seed: int | None = None) -> None:
        super().__init__()
        _check(input_size, hidden_size)
        self.input_size, self.hidden_size = input_size, hidden_size
        _register(self, "", self._gates, input_size, hidden_size, bias,
                  {"dtype": dtype, "device": device}, seed)

    def forward(self, x: Any, state: Any = None) -> Any:
        x = _tensor.asarray(x)
        if state is None:
            zero = _tensor.zeros((*x.shape[:-1], self.hidden_size), dtype=x.dtype)
            states: tuple[Any, ...] = (zero,) * self._states
        else:
            states = tuple(state) if self._states > 1 else (state,)
        made = self._step(linear(x, self.weight_ih, self.bias_ih),
                          linear(states[0], self.weight_hh, self.bias_hh), states)
        return made if self._states > 1 else made[0]

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}"


class RNNCell(_Cell):
    """One step of RNN: x (N, in) and h (N, H) -> (N, H)."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True,
                 nonlinearity: str = "tanh", **named: Any) -> None:
        super().__init__(input_size, hidden_size, bias, **named)
        object.__setattr__(self, "_step", _rnn_step(_activation(nonlinearity)))


class LSTMCell(_Cell):
    """One step of LSTM: x (N, in) and (h, c) -> (h, c)."""

    _gates, _states = 4, 2
    _step = staticmethod(_lstm_step)


class GRUCell(_Cell):
    """One step of GRU: x (N, in) and h (N, H) -> (N, H)."""

    _gates = 3
    _step = staticmethod(_gru_step)
