# SPDX-License-Identifier: Apache-2.0
"""Optimisers and learning rates. A step is one kernel per parameter; float16 and bfloat16
parameters have a float32 copy that is the truth.

    optimizer = optim.AdamW(net.parameters(), lr=1e-3)
    schedule = optim.CosineLR(optimizer, period=1000, warmup=50)
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        schedule.step()
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .. import _tensor
from .._files import load, save
from .._tensor import Tensor
from ..nn import clip_grad_norm_, clip_grad_value_
from . import lr_scheduler
from .lr_scheduler import CosineAnnealingLR
from .schedules import ConstantLR, CosineLR, ExponentialLR, LinearLR, Schedule, StepLR

__all__ = ["Optimizer", "SGD", "Adam", "AdamW", "RMSprop", "ParameterGroup", "Schedule",
           "ConstantLR", "StepLR", "ExponentialLR", "CosineLR", "CosineAnnealingLR", "LinearLR",
           "lr_scheduler", "clip_grad_norm_", "clip_grad_value_"]


class ParameterGroup(Mapping[str, Any]):
    """Parameters and their options: group["params"], group["lr"], ... Of the options, lr can be
    set."""

    def __init__(self, optimizer: Optimizer, index: int, params: list[Tensor],
                 options: dict[str, Any]) -> None:
        self._optimizer, self._index = optimizer, index
        self._params, self._options = params, options

    def __getitem__(self, name: str) -> Any:
        if name == "params":
            return self._params
        if name == "lr":
            return self._optimizer._native.rate(self._index)
        return self._options[name]

    def __setitem__(self, name: str, value: Any) -> None:
        if name != "lr":
            raise KeyError(f"only lr can be set, not {name}")
        self._optimizer._native.set_rate(self._index, _rate(value))

    def _initial(self) -> float:
        """The rate before the first schedule; PyTorch keeps it under this name."""
        return self._options.setdefault("initial_lr", self["lr"])

    def __iter__(self) -> Iterator[str]:
        return iter(("params", "lr", *(name for name in self._options if name != "lr")))

    def __len__(self) -> int:
        return 1 + len({"lr", *self._options})


def _rate(value: Any) -> float:
    value = float(value)
    if not value >= 0 or value == float("inf"):
        raise ValueError(f"a learning rate is 0 or more, not {value}")
    return value


class Optimizer:
    """What all optimisers have. Parameters are tensors that require gradients, or groups of them:
    a list of dicts with "params" and options of their own."""

    _kind: int

    def __init__(self, params: Any, options: dict[str, Any]) -> None:
        groups = [params] if isinstance(params, Tensor) else list(params)
        if not groups:
            raise ValueError("an optimiser without parameters")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        self._defaults = options
        self._native: Any = None
        self.param_groups: list[ParameterGroup] = []
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, group: dict[str, Any]) -> None:
        """More parameters: {"params": [...], "lr": ...}."""
        if not isinstance(group, dict) or "params" not in group:
            raise TypeError('a group is a dict with "params" in it')
        params = group["params"]
        params = [params] if isinstance(params, Tensor) else list(params)
        own = {name: value for name, value in group.items() if name != "params"}
        if "betas" in own:
            own["beta1"], own["beta2"] = own.pop("betas")
        options = {**self._defaults, **own}
        for name in own:
            if name not in self._defaults:
                raise TypeError(f"{type(self).__name__} has no option {name!r}")
        _check(options)
        if self._native is None:
            self._native = _tensor.Optimizer(self._kind, params, options)
        else:
            self._native.add_group(params, options)
        self.param_groups.append(ParameterGroup(self, len(self.param_groups), params, options))

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """New values for all parameters, from their gradients; all or none. closure: computes the
        loss anew, which is returned."""
        loss = closure() if closure is not None else None
        self._native.step()
        return loss

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drops the gradients; set_to_none=False: makes them 0."""
        if set_to_none:
            self._native.zero_grad()
            return
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    parameter.grad.detach().zero_()

    @property
    def lr(self) -> float:
        """The learning rate of the first group; to set it sets those of all."""
        return self._native.rate(0)

    @lr.setter
    def lr(self, value: float) -> None:
        self._native.set_rate(-1, _rate(value))

    def state_dict(self) -> dict[str, Any]:
        """Steps, state tensors by name, and the options of the groups."""
        return {"steps": self._native.steps,
                "state": {name: tensor.detach() for name, tensor in self._native.state()},
                "groups": [{name: value for name, value in group.items() if name != "params"}
                           for group in self.param_groups]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """What state_dict() gave, for the same parameters in the same order. Nothing changes if
        something does not fit."""
        own = self._native.state()
        given = state["state"]
        groups = state.get("groups", [])
        if len(groups) != len(self.param_groups):
            raise ValueError(f"load_state_dict(): {len(groups)} groups for "
                             f"{len(self.param_groups)}")
        wrong = sorted(set(given) ^ {name for name, _ in own})
        if wrong:
            raise KeyError(f"load_state_dict(): of another optimiser: {', '.join(wrong)}")
        values = [_tensor.asarray(given[name]) for name, _ in own]
        for (name, tensor), value in zip(own, values):
            if tensor.shape != value.shape:
                raise _tensor.ShapeError(f"load_state_dict(): {name} is {tensor.shape}, and "
                                         f"{value.shape} was given")
        for i, value in enumerate(values):
            self._native.set_state(i, value)
        self._native.steps = int(state["steps"])
        for group, options in zip(self.param_groups, groups):
            group["lr"] = options["lr"]

    def save(self, path: Any) -> None:
        """state_dict() as a safetensors file."""
        state = self.state_dict()
        rates = ",".join(repr(group["lr"]) for group in state["groups"])
        save(path, state["state"] or {"none": _tensor.zeros(1)},
             {"steps": str(state["steps"]), "rates": rates, "kind": type(self).__name__})

    def load(self, path: Any) -> None:
        """load_state_dict() of a file of save()."""
        tensors, metadata = load(path, return_metadata=True)
        if metadata.get("kind") != type(self).__name__:
            raise ValueError(f"{path}: the state of {metadata.get('kind')}, not of "
                             f"{type(self).__name__}")
        tensors.pop("none", None)
        self.load_state_dict({"steps": int(metadata["steps"]), "state": tensors, "groups": [
            {"lr": float(rate)} for rate in metadata["rates"].split(",")]})

    def __repr__(self) -> str:
        n = sum(len(group["params"]) for group in self.param_groups)
        return f"{type(self).__name__}({n} parameters, lr={self.lr:g})"


def _check(options: Mapping[str, Any]) -> None:
    """Ranges, as PyTorch has them."""
    _rate(options["lr"])
    for name in ("weight_decay", "momentum", "eps"):
        if not options.get(name, 0) >= 0:
            raise ValueError(f"{name} is 0 or more, not {options[name]}")
    for name in ("beta1", "beta2", "alpha"):
        if not 0 <= options.get(name, 0) < 1:
            raise ValueError(f"{name} is from 0 to below 1, not {options[name]}")
    if options.get("nesterov") and (not options["momentum"] or options["dampening"]):
        raise ValueError("nesterov needs a momentum, and no dampening")


def _no_amsgrad(amsgrad: bool) -> None:
    if amsgrad:
        raise ValueError("amsgrad: the greatest mean square is not kept; Adam and AdamW are there without it")


class SGD(Optimizer):
    """Steps against the gradient, with momentum (the first velocity is the gradient)."""

    _kind = 0

    def __init__(self, params: Any, lr: float = 1e-2, momentum: float = 0.0, dampening: float = 0.0,
                 weight_decay: float = 0.0, nesterov: bool = False) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "dampening": dampening,
                                  "weight_decay": weight_decay, "nesterov": nesterov})


class Adam(Optimizer):
    """By the running mean of the gradient and of its square, with bias correction."""

    _kind = 1

    def __init__(self, params: Any, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
                 eps: float = 1e-8, weight_decay: float = 0.0, amsgrad: bool = False) -> None:
        _no_amsgrad(amsgrad)
        super().__init__(params, {"lr": lr, "beta1": betas[0], "beta2": betas[1], "eps": eps,
                                  "weight_decay": weight_decay})


class AdamW(Optimizer):
    """Adam with weight decay that is not part of the gradient."""

    _kind = 2

    def __init__(self, params: Any, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
                 eps: float = 1e-8, weight_decay: float = 1e-2, amsgrad: bool = False) -> None:
        _no_amsgrad(amsgrad)
        super().__init__(params, {"lr": lr, "beta1": betas[0], "beta2": betas[1], "eps": eps,
                                  "weight_decay": weight_decay})


class RMSprop(Optimizer):
    """By the running mean of the square of the gradient."""

    _kind = 3

    def __init__(self, params: Any, lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8,
                 weight_decay: float = 0.0, momentum: float = 0.0) -> None:
        super().__init__(params, {"lr": lr, "alpha": alpha, "eps": eps,
                                  "weight_decay": weight_decay, "momentum": momentum})
