# SPDX-License-Identifier: Apache-2.0
"""Learning rates with the names, arguments and values of torch.optim.lr_scheduler.

    schedule = lr_scheduler.StepLR(optimizer, step_size=30)
    for epoch in range(90):
        train()
        schedule.step()

LinearLR and ConstantLR are PyTorch's here; optim.LinearLR and optim.ConstantLR have a warm-up and
arguments of their own."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .schedules import CosineLR, ExponentialLR, Schedule, StepLR

if TYPE_CHECKING:
    from . import Optimizer

__all__ = ["ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "ExponentialLR", "LRScheduler",
           "LambdaLR", "LinearLR", "MultiStepLR", "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau", "SequentialLR",
           "StepLR"]

LRScheduler = Schedule


def _for_groups(optimizer: Optimizer, name: str, value: Any) -> list[Any]:
    """One value for each group, or those of a list."""
    n = len(optimizer.param_groups)
    values = list(value) if isinstance(value, (list, tuple)) else [value] * n
    if len(values) != n:
        raise ValueError(f"{len(values)} values of {name} for {n} groups")
    return values


class MultiStepLR(Schedule):
    """Times gamma at each of the milestones."""

    def __init__(self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1) -> None:
        self.milestones = sorted(milestones)
        super().__init__(optimizer, gamma=gamma)

    def rate(self, step: int, base: float) -> float:
        return base * self.gamma ** bisect.bisect_right(self.milestones, step)


class LambdaLR(Schedule):
    """The first rate times lr_lambda(step): one function, or one for each group."""

    _scales = False

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]]
                 ) -> None:
        self.lr_lambdas = _for_groups(optimizer, "lr_lambda", lr_lambda)
        super().__init__(optimizer)

    def _rates(self, step: int) -> list[float]:
        return [base * factor(step) for base, factor in zip(self.base_rates, self.lr_lambdas)]


class ConstantLR(Schedule):
    """Times factor for the first total_iters steps."""

    def __init__(self, optimizer: Optimizer, factor: float = 1 / 3, total_iters: int = 5) -> None:
        if not 0 <= factor <= 1:
            raise ValueError(f"ConstantLR: a factor from 0 to 1, not {factor}")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer)

    def rate(self, step: int, base: float) -> float:
        return base * (self.factor if step < self.total_iters else 1)


class LinearLR(Schedule):
    """Times a factor that goes straight from start_factor to end_factor in total_iters steps."""

    def __init__(self, optimizer: Optimizer, start_factor: float = 1 / 3, end_factor: float = 1.0,
                 total_iters: int = 5) -> None:
        if not 0 < start_factor <= 1 or not 0 <= end_factor <= 1:
            raise ValueError("LinearLR: start_factor is above 0 and at most 1, end_factor from 0 to 1, not "
                             f"{start_factor} and {end_factor}")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer)

    def rate(self, step: int, base: float) -> float:
        done = min(step / self.total_iters, 1) if self.total_iters else 1
        return base * (self.start_factor + (self.end_factor - self.start_factor) * done)


class PolynomialLR(Schedule):
    """Times (1 - step / total_iters) ** power, and 0 from there on."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0) -> None:
        if total_iters < 1:
            raise ValueError(f"PolynomialLR: total_iters of {total_iters}")
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer)

    def rate(self, step: int, base: float) -> float:
        return base * max(1 - step / self.total_iters, 0) ** self.power


class CosineAnnealingLR(CosineLR):
    """By half a cosine down to eta_min in T_max steps, and up again in as many."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0,
                 warmup: int = 0) -> None:
        if T_max < 1:
            raise ValueError(f"CosineAnnealingLR: T_max of {T_max}")
        super().__init__(optimizer, T_max, eta_min, warmup)

    def rate(self, step: int, base: float) -> float:
        if step > self.warmup:
            done = (step - self.warmup) % (2 * self.period)
            step = self.warmup + min(done, 2 * self.period - done)
        return super().rate(step, base)


class CosineAnnealingWarmRestarts(Schedule):
    """By half a cosine down to eta_min, again and again: in T_0 steps, then T_mult times as many."""

    _scales = False

    def __init__(self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0) -> None:
        if T_0 < 1 or T_mult < 1:
            raise ValueError(f"CosineAnnealingWarmRestarts: T_0 of {T_0}, T_mult of {T_mult}")
        self.T_0, self.T_mult = T_0, T_mult
        super().__init__(optimizer, min_rate=eta_min)

    def rate(self, step: int, base: float) -> float:
        length = self.T_0
        if self.T_mult == 1:
            step %= length
        while step >= length:
            step, length = step - length, length * self.T_mult
        return self.min_rate + (base - self.min_rate) * (1 + math.cos(math.pi * step / length)) / 2


class OneCycleLR(Schedule):
    """Up from max_lr / div_factor to max_lr in the first pct_start of total_steps, then down to
    1 / final_div_factor of where it began; three_phase: first down as it came up. Optimisers keep their
    momentum here, so that cycle_momentum=False must be said."""

    _scales = False

    def __init__(self, optimizer: Optimizer, max_lr: float | Sequence[float], total_steps: int | None = None,
                 epochs: int | None = None, steps_per_epoch: int | None = None, pct_start: float = 0.3,
                 anneal_strategy: str = "cos", cycle_momentum: bool = True, base_momentum: float = 0.85,
                 max_momentum: float = 0.95, div_factor: float = 25.0, final_div_factor: float = 1e4,
                 three_phase: bool = False) -> None:
        if cycle_momentum:
            raise ValueError("OneCycleLR: the momentum of an optimiser cannot change here: write cycle_momentum=False")
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise ValueError("OneCycleLR: total_steps, or epochs and steps_per_epoch")
            total_steps = epochs * steps_per_epoch
        if total_steps < 1 or not 0 <= pct_start <= 1 or anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"OneCycleLR: {total_steps} steps, pct_start of {pct_start}, "
                             f"an anneal_strategy of {anneal_strategy!r}")
        self.total_steps, self.anneal_strategy = total_steps, anneal_strategy
        self.max_rates = [float(rate) for rate in _for_groups(optimizer, "max_lr", max_lr)]
        self.div_factor, self.final_div_factor = div_factor, final_div_factor
        up = pct_start * total_steps - 1
        down = 2 * pct_start * total_steps - 2 if three_phase else up
        # Where each phase ends, and which of (first, highest, first, last) rates it goes between.
        self._phases = [(up, 0, 1)] + ([(down, 1, 0)] if three_phase else [])
        self._phases.append((total_steps - 1, self._phases[-1][2], 2))
        super().__init__(optimizer)

    def _rates(self, step: int) -> list[float]:
        if step >= self.total_steps:
            raise ValueError(f"OneCycleLR: step {step + 1} of {self.total_steps}")
        begin = 0.0
        for end, source, target in self._phases:
            if step <= end:
                break
            begin = end
        done = (step - begin) / (end - begin) if end != begin else 1.0
        if self.anneal_strategy == "cos":
            done = (1 - math.cos(math.pi * done)) / 2
        rates = []
        for highest in self.max_rates:
            first = highest / self.div_factor
            points = (first, highest, first / self.final_div_factor)
            rates.append(points[source] + (points[target] - points[source]) * done)
        return rates


class SequentialLR(Schedule):
    """One schedule after the other: from each milestone on the next, from its beginning."""

    _scales = False

    def __init__(self, optimizer: Optimizer, schedulers: Sequence[Schedule], milestones: Sequence[int]) -> None:
        if not schedulers or len(milestones) != len(schedulers) - 1 or list(milestones) != sorted(milestones):
            raise ValueError(f"SequentialLR: {len(schedulers)} schedulers with milestones {list(milestones)}")
        if any(not isinstance(s, Schedule) or s.optimizer is not optimizer for s in schedulers):
            raise ValueError("SequentialLR: schedulers of this optimizer, by steps alone")
        self.schedulers, self.milestones = list(schedulers), list(milestones)
        super().__init__(optimizer)

    def _rates(self, step: int) -> list[float]:
        i = bisect.bisect_right(self.milestones, step)
        return self.schedulers[i]._rates(step - (self.milestones[i - 1] if i else 0))


class ReduceLROnPlateau:
    """Times factor when step(metrics) saw nothing better for more than `patience` steps. mode: "min"
    or "max" is better, by threshold, which is a part of the best ("rel") or a difference ("abs")."""

    def __init__(self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10,
                 threshold: float = 1e-4, threshold_mode: str = "rel", cooldown: int = 0,
                 min_lr: float | Sequence[float] = 0.0, eps: float = 1e-8) -> None:
        if not factor < 1 or mode not in ("min", "max") or threshold_mode not in ("rel", "abs"):
            raise ValueError(f'ReduceLROnPlateau: a factor below 1, "min" or "max", "rel" or "abs", not {factor}, '
                             f"{mode!r}, {threshold_mode!r}")
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        self.threshold, self.threshold_mode, self.cooldown, self.eps = threshold, threshold_mode, cooldown, eps
        self.min_lrs = _for_groups(optimizer, "min_lr", min_lr)
        self.best = math.inf if mode == "min" else -math.inf
        self.num_bad_epochs = self.cooldown_counter = self.last_epoch = 0

    def _better(self, value: float) -> bool:
        sign = 1 if self.mode == "max" else -1
        if self.threshold_mode == "abs":
            return sign * value > sign * self.best + self.threshold
        return sign * value > sign * self.best * (1 + sign * self.threshold)

    def step(self, metrics: Any) -> None:
        """The rates after a step that gave this number (a tensor's is read)."""
        value = float(metrics)
        self.last_epoch += 1
        if self._better(value):
            self.best, self.num_bad_epochs = value, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            for group, least in zip(self.optimizer.param_groups, self.min_lrs):
                rate = max(group["lr"] * self.factor, least)
                if group["lr"] - rate > self.eps:
                    group["lr"] = rate
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0

    def get_last_lr(self) -> list[float]:
        """The rates of the groups now."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """Where it is."""
        return {name: getattr(self, name) for name in ("best", "num_bad_epochs", "cooldown_counter", "last_epoch")}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on where state_dict() was; the rates are the optimiser's."""
        for name in self.state_dict():
            setattr(self, name, state[name])
