# SPDX-License-Identifier: Apache-2.0
"""Learning rates by PyTorch's names: by hand, and the same program with PyTorch where it is installed."""

import math

import pytest
from test_ingot_like_torch import both, leaf

import ingot


def rates(T, make, n, lr=0.8, metric=None):
    optimizer = T.optim.SGD([leaf(T, [1.0])], lr=lr)
    made = make(T.optim.lr_scheduler, optimizer)
    made = made if isinstance(made, tuple) else (made,)
    seen = [optimizer.param_groups[0]["lr"]]
    for i in range(n):
        optimizer.step()
        for schedule in made:
            schedule.step(*([] if metric is None else [metric[i]]))
        seen.append(optimizer.param_groups[0]["lr"])
    assert made[-1].get_last_lr() == [seen[-1]]
    return seen


HALF = math.sqrt(0.5)
CASES = [
    ("step", lambda s, o: s.StepLR(o, 2, 0.5), [0.8, 0.8, 0.4, 0.4, 0.2]),
    ("milestones", lambda s, o: s.MultiStepLR(o, [1, 3], gamma=0.5), [0.8, 0.4, 0.4, 0.2, 0.2]),
    ("milestone twice", lambda s, o: s.MultiStepLR(o, [2, 2], gamma=0.5), [0.8, 0.8, 0.2]),
    ("exponential", lambda s, o: s.ExponentialLR(o, 0.5), [0.8, 0.4, 0.2, 0.1]),
    ("lambda", lambda s, o: s.LambdaLR(o, lambda i: 1 / (i + 1)), [0.8, 0.4, 0.8 / 3, 0.2]),
    ("constant", lambda s, o: s.ConstantLR(o, 0.5, 2), [0.4, 0.4, 0.8, 0.8]),
    ("linear", lambda s, o: s.LinearLR(o, 0.5, total_iters=4), [0.4, 0.5, 0.6, 0.7, 0.8, 0.8]),
    ("linear down", lambda s, o: s.LinearLR(o, 1.0, 0.5, 2), [0.8, 0.6, 0.4, 0.4]),
    ("polynomial", lambda s, o: s.PolynomialLR(o, 4, 2.0), [0.8, 0.45, 0.2, 0.05, 0, 0]),
    ("cosine and up again", lambda s, o: s.CosineAnnealingLR(o, 2, 0.2), [0.8, 0.5, 0.2, 0.5, 0.8, 0.5]),
    ("restarts", lambda s, o: s.CosineAnnealingWarmRestarts(o, 1, 2), [0.8, 0.8, 0.4, 0.8, 0.4 * (1 + HALF)]),
    ("one cycle", lambda s, o: s.OneCycleLR(o, 1.0, 10, pct_start=0.5, cycle_momentum=False, div_factor=4, final_div_factor=5),
     [0.25, 0.25 + 0.375 * (1 - HALF), 0.625, 0.25 + 0.375 * (1 + HALF), 1.0]),
    ("one straight cycle", lambda s, o: s.OneCycleLR(o, 1.0, epochs=2, steps_per_epoch=3, pct_start=0.5, cycle_momentum=False,
                                                     anneal_strategy="linear", div_factor=2, final_div_factor=5),
     [0.5, 0.75, 1.0, 0.7, 0.4, 0.1]),
    ("three phases", lambda s, o: s.OneCycleLR(o, 1.0, 10, pct_start=0.4, cycle_momentum=False, three_phase=True,
                                               anneal_strategy="linear", div_factor=4, final_div_factor=5),
     [0.25, 0.5, 0.75, 1.0, 0.75, 0.5, 0.25, 0.25 - 0.2 / 3, 0.25 - 0.4 / 3, 0.05]),
    ("one after the other", lambda s, o: s.SequentialLR(o, [s.LinearLR(o, 0.5, total_iters=2), s.ExponentialLR(o, 0.5)], [2]),
     [0.4, 0.6, 0.8, 0.4, 0.2]),
    ("two at once", lambda s, o: (s.ExponentialLR(o, 0.5), s.StepLR(o, 2, 0.1)), [0.8, 0.4, 0.02, 0.01, 0.0005]),
    ("with a floor", lambda s, o: (s.ExponentialLR(o, 0.5), s.CosineAnnealingLR(o, 2, 0.2)), [0.8, 0.3, 0.2])]


@both
@pytest.mark.parametrize("make, want", [pytest.param(*c[1:], id=c[0]) for c in CASES])
def test_rates(T, make, want):
    assert rates(T, make, len(want) - 1) == pytest.approx(want, rel=1e-5, abs=1e-7)


@both
def test_plateau(T):
    def make(s, o):
        return s.ReduceLROnPlateau(o, factor=0.5, patience=1, cooldown=1, min_lr=0.15)
    metric = [1.0, 0.5, 0.5, 0.49999, 0.5, 0.5, 0.5, 0.4, 0.5, 0.5, 0.5, 0.5, 0.5]
    #  0.5 again and too small a change: halved; one step off; two more bad ones: halved; then to min_lr
    assert rates(T, make, 13, metric=metric) == pytest.approx(
        [0.8, 0.8, 0.8, 0.8, 0.4, 0.4, 0.4, 0.2, 0.2, 0.2, 0.15, 0.15, 0.15, 0.15])
    highest = rates(T, lambda s, o: s.ReduceLROnPlateau(o, "max", 0.5, 0, 0.1, "abs"), 4, metric=[1.0, 1.05, 1.2, 1.1])
    assert highest == pytest.approx([0.8, 0.8, 0.4, 0.4, 0.2])


@both
def test_a_rate_set_by_hand_is_scaled(T):
    optimizer = T.optim.SGD([leaf(T, [1.0])], lr=0.8)
    schedule = T.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    optimizer.param_groups[0]["lr"] = 0.1
    optimizer.step()
    schedule.step()
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.05)
    assert optimizer.param_groups[0]["initial_lr"] == pytest.approx(0.8) and schedule.last_epoch == 1


@both
def test_groups_and_state(T):
    def made():
        optimizer = T.optim.SGD([{"params": [leaf(T, [1.0])]}, {"params": [leaf(T, [1.0])], "lr": 0.1}], lr=0.8)
        return optimizer, T.optim.lr_scheduler.LambdaLR(optimizer, [lambda i: 0.5 ** i, lambda i: 1 + i])
    optimizer, schedule = made()
    optimizer.step()
    schedule.step()
    assert schedule.get_last_lr() == pytest.approx([0.4, 0.2])
    other, again = made()
    other.load_state_dict(optimizer.state_dict())
    again.load_state_dict(schedule.state_dict())
    other.step()
    again.step()
    assert again.get_last_lr() == pytest.approx([0.2, 0.3])


@both
def test_bad_schedules(T):
    s = T.optim.lr_scheduler
    optimizer = T.optim.Adam([leaf(T, [1.0])], lr=0.8)
    for bad in (lambda: s.LambdaLR(optimizer, [abs, abs]), lambda: s.LinearLR(optimizer, 0.0),
                lambda: s.ConstantLR(optimizer, 2.0), lambda: s.CosineAnnealingWarmRestarts(optimizer, 0),
                lambda: s.OneCycleLR(optimizer, 1.0), lambda: s.ReduceLROnPlateau(optimizer, factor=1.5),
                lambda: s.ReduceLROnPlateau(optimizer, "least"), lambda: s.OneCycleLR(optimizer, 1.0, 5, pct_start=2),
                lambda: s.SequentialLR(optimizer, [s.ExponentialLR(optimizer, 0.5)], [1])):
        with pytest.raises(ValueError):
            bad()
    cycle = s.OneCycleLR(optimizer, 1.0, 2, cycle_momentum=False)
    optimizer.step()
    cycle.step()
    with pytest.raises(ValueError):
        cycle.step()
        cycle.step()


def test_a_momentum_that_cannot_cycle():
    with pytest.raises(ValueError, match="cycle_momentum=False"):
        ingot.optim.lr_scheduler.OneCycleLR(ingot.optim.SGD([leaf(ingot, [1.0])]), 1.0, 5)
