# SPDX-License-Identifier: Apache-2.0
"""Learning rates as functions of the step, with a warm-up: what all schedules have, and the simple ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .. import _tensor

if TYPE_CHECKING:
    from . import Optimizer


class Schedule:
    """Sets the rates of an optimiser. In the first `warmup` steps they rise from rate / warmup to
    what the groups had before their first schedule; step() goes on to the next. Rates that others
    set meanwhile, another schedule for one, are scaled: two schedules are multiplied."""

    _kind = 0
    _scales = True  # else what others set is replaced

    def __init__(self, optimizer: Optimizer, period: int = 0, gamma: float = 1.0,
                 min_rate: float = 0.0, warmup: int = 0) -> None:
        if warmup < 0 or period < 0:
            raise ValueError("steps are not negative")
        self.optimizer = optimizer
        self.base_rates = [group._initial() for group in optimizer.param_groups]
        self.warmup, self.period, self.gamma, self.min_rate = warmup, period, gamma, min_rate
        self.last_step = 0
        self._set(self.base_rates)

    def rate(self, step: int, base: float) -> float:
        """The rate of a step; the first is 0."""
        return _tensor._schedule_rate(self._kind, base, self.warmup, self.period, self.gamma,
                                      self.min_rate, step)

    def _rates(self, step: int) -> list[float]:
        return [self.rate(step, base) for base in self.base_rates]

    def _set(self, before: list[float]) -> None:
        """The rates of this step; before: those that the step before it had by this schedule alone."""
        for group, old, new in zip(self.optimizer.param_groups, before, self._rates(self.last_step)):
            now = group["lr"]
            if self._scales and now != old:
                span, floor = old - self.min_rate, self.min_rate
                new = (now - floor) * (new - floor) / span + floor if span else now + new - old
            group["lr"] = new

    def step(self) -> None:
        """The rates of the next step."""
        before = self._rates(self.last_step)
        self.last_step += 1
        self._set(before)

    @property
    def last_epoch(self) -> int:
        """last_step, as PyTorch calls it."""
        return self.last_step

    def get_last_lr(self) -> list[float]:
        """The rates of the groups now."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """Where it is."""
        return {"last_step": self.last_step, "base_rates": list(self.base_rates)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on where state_dict() was."""
        self.last_step = int(state["last_step"])
        self.base_rates = list(state["base_rates"])
        for group, rate in zip(self.optimizer.param_groups, self._rates(self.last_step)):
            group["lr"] = rate


class ConstantLR(Schedule):
    """No change after the warm-up."""

    def __init__(self, optimizer: Optimizer, warmup: int = 0) -> None:
        super().__init__(optimizer, warmup=warmup)


class StepLR(Schedule):
    """Times gamma every step_size steps."""

    _kind = 1

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1,
                 warmup: int = 0) -> None:
        super().__init__(optimizer, step_size, gamma, warmup=warmup)


class ExponentialLR(Schedule):
    """Times gamma every step."""

    _kind = 2

    def __init__(self, optimizer: Optimizer, gamma: float, warmup: int = 0) -> None:
        super().__init__(optimizer, 0, gamma, warmup=warmup)


class CosineLR(Schedule):
    """By half a cosine down to min_rate after `period` steps, where it stays."""

    _kind = 3

    def __init__(self, optimizer: Optimizer, period: int, min_rate: float = 0.0,
                 warmup: int = 0) -> None:
        super().__init__(optimizer, period, 1.0, min_rate, warmup)


class LinearLR(Schedule):
    """Straight down to min_rate after `period` steps, where it stays."""

    _kind = 4

    def __init__(self, optimizer: Optimizer, period: int, min_rate: float = 0.0,
                 warmup: int = 0) -> None:
        super().__init__(optimizer, period, 1.0, min_rate, warmup)
