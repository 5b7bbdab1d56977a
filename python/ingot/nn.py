# SPDX-License-Identifier: Apache-2.0
"""Networks: modules with parameters, layers, and losses. Names of parameters, their shapes and the
numbers they start with are PyTorch's, so that files go both ways.

    net = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 10))
    loss = nn.functional.cross_entropy(net(x), labels)
"""

from __future__ import annotations

import math
import sys
import types
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from . import _tensor
from ._methods import _list, no_grad, save
from ._tensor import Tensor

__all__ = ["Parameter", "Module", "Sequential", "ModuleList", "Linear", "Conv2d", "Conv1d",
           "BatchNorm1d", "BatchNorm2d", "LayerNorm", "RMSNorm", "GroupNorm", "Dropout",
           "Embedding", "ReLU", "GELU", "SiLU", "Sigmoid", "Tanh", "LeakyReLU", "ELU", "Softplus",
           "Softmax", "LogSoftmax", "Flatten", "Identity", "MaxPool2d", "AvgPool2d",
           "AdaptiveAvgPool2d", "Sine", "MSELoss", "L1Loss", "HuberLoss", "BCELoss",
           "BCEWithLogitsLoss", "CrossEntropyLoss", "functional", "init", "clip_grad_norm_",
           "clip_grad_value_"]


class Parameter(Tensor):
    """A tensor that a module trains: a leaf that requires a gradient."""

    def __new__(cls, data: Any, dtype: Any = None, device: Any = None,
                requires_grad: bool = True) -> Parameter:
        return super().__new__(cls, data, dtype, device, requires_grad)


class Module:
    """Parameters, buffers (what is saved and not trained), modules inside, and forward(). What is
    assigned to an attribute is found by its type."""

    training: bool

    def __init__(self) -> None:
        for name in ("_parameters", "_buffers", "_modules"):
            object.__setattr__(self, name, OrderedDict())
        object.__setattr__(self, "training", True)

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """What the module does; a subclass says it."""
        raise NotImplementedError(f"{type(self).__name__} has no forward()")

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        return self.forward(*inputs, **named)

    # ---- Attributes ----

    def __setattr__(self, name: str, value: Any) -> None:
        tables = self.__dict__
        if "_modules" not in tables:
            raise AttributeError(f"{type(self).__name__}: super().__init__() comes first")
        kind = ("_parameters" if isinstance(value, Parameter) else
                "_modules" if isinstance(value, Module) else None)
        if kind is None:
            for table in ("_parameters", "_buffers", "_modules"):
                if name in tables[table]:
                    buffer = table == "_buffers" and isinstance(value, Tensor)
                    if value is not None and not buffer:
                        raise TypeError(f"{name} is one of the {table[1:]}, and cannot be "
                                        f"{type(value).__name__}")
                    tables[table][name] = value
                    return
            object.__setattr__(self, name, value)
            return
        for table in ("_parameters", "_buffers", "_modules"):
            tables[table].pop(name, None)
        tables.pop(name, None)
        tables[kind][name] = value

    def __getattr__(self, name: str) -> Any:
        for table in ("_parameters", "_buffers", "_modules"):
            found = self.__dict__.get(table, {})
            if name in found:
                return found[name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __delattr__(self, name: str) -> None:
        for table in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__.get(table, {}):
                del self.__dict__[table][name]
                return
        object.__delattr__(self, name)

    def register_buffer(self, name: str, tensor: Tensor | None) -> None:
        """A tensor that is saved with the parameters and not trained."""
        self._buffers[name] = tensor

    def register_parameter(self, name: str, parameter: Parameter | None) -> None:
        """A parameter under a name; None: there is none."""
        self._parameters[name] = parameter

    def add_module(self, name: str, module: Module) -> None:
        """A module inside, under a name."""
        if not isinstance(module, Module):
            raise TypeError(f"a module is expected, not {type(module).__name__}")
        self._modules[name] = module

    # ---- What is inside ----

    def named_modules(self, prefix: str = "", _seen: set[int] | None = None
                      ) -> Iterator[tuple[str, Module]]:
        """This module and all inside, each once."""
        seen = set() if _seen is None else _seen
        if id(self) in seen:
            return
        seen.add(id(self))
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(f"{prefix}.{name}" if prefix else name, seen)

    def modules(self) -> Iterator[Module]:
        """This module and all inside, each once."""
        return (module for _, module in self.named_modules())

    def children(self) -> Iterator[Module]:
        """The modules directly inside."""
        return iter(module for module in self._modules.values() if module is not None)

    def _named(self, table: str) -> Iterator[tuple[str, Tensor]]:
        seen: set[int] = set()
        for prefix, module in self.named_modules():
            for name, tensor in module.__dict__[table].items():
                if tensor is not None and id(tensor) not in seen:
                    seen.add(id(tensor))
                    yield f"{prefix}.{name}" if prefix else name, tensor

    def named_parameters(self) -> Iterator[tuple[str, Tensor]]:
        """All parameters with their names, those of modules inside with dots."""
        return self._named("_parameters")

    def parameters(self) -> Iterator[Tensor]:
        """All parameters."""
        return (tensor for _, tensor in self._named("_parameters"))

    def named_buffers(self) -> Iterator[tuple[str, Tensor]]:
        """All buffers with their names."""
        return self._named("_buffers")

    def buffers(self) -> Iterator[Tensor]:
        """All buffers."""
        return (tensor for _, tensor in self._named("_buffers"))

    # ---- Modes ----

    def train(self, mode: bool = True) -> Module:
        """Training, which decides what dropout and batch norm do; of modules inside too."""
        for module in self.modules():
            object.__setattr__(module, "training", bool(mode))
        return self

    def eval(self) -> Module:
        """Not training."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Module:
        """Whether the parameters want gradients."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self) -> None:
        """Drops the gradients of all parameters."""
        for parameter in self.parameters():
            parameter.grad = None

    def apply(self, function: Callable[[Module], Any]) -> Module:
        """Calls a function with every module inside, and this one last."""
        for module in self.children():
            module.apply(function)
        function(self)
        return self

    def to(self, dtype: Any) -> Module:
        """Parameters and buffers of floating types in another one. Optimisers made before keep
        what they have."""
        for module in self.modules():
            for table in ("_parameters", "_buffers"):
                for name, tensor in module.__dict__[table].items():
                    if tensor is None or not tensor.dtype.is_floating_point:
                        continue
                    kind = type(tensor)
                    module.__dict__[table][name] = kind(
                        tensor.detach(), dtype=dtype, requires_grad=tensor.requires_grad)
        return self

    def half(self) -> Module:
        """to("float16")."""
        return self.to("float16")

    def float(self) -> Module:
        """to("float32")."""
        return self.to("float32")

    # ---- Saving ----

    def state_dict(self) -> dict[str, Tensor]:
        """Parameters and buffers by name, as they are now."""
        names = [*self.named_parameters(), *self.named_buffers()]
        order = {}
        for prefix, module in self.named_modules():
            for table in ("_parameters", "_buffers"):
                for name in module.__dict__[table]:
                    order[f"{prefix}.{name}" if prefix else name] = len(order)
        names.sort(key=lambda pair: order[pair[0]])
        return {name: tensor.detach() for name, tensor in names}

    def load_state_dict(self, state: Mapping[str, Any], strict: bool = True) -> None:
        """New values by name. Nothing changes if a shape does not fit; strict: nor if names are
        missing or too many."""
        own = {**dict(self.named_parameters()), **dict(self.named_buffers())}
        missing = [name for name in own if name not in state]
        unknown = [name for name in state if name not in own]
        if strict and (missing or unknown):
            raise KeyError("load_state_dict(): " + "; ".join(
                part for part in (f"missing: {', '.join(missing)}" if missing else "",
                                  f"unknown: {', '.join(unknown)}" if unknown else "") if part))
        values = {name: _tensor.asarray(value) for name, value in state.items() if name in own}
        for name, value in values.items():
            if value.shape != own[name].shape:
                raise _tensor.ShapeError(f"load_state_dict(): {name} is {own[name].shape}, and "
                                         f"{value.shape} was given")
        with no_grad():
            for name, value in values.items():
                own[name].copy_(value)

    def save(self, path: Any) -> None:
        """state_dict() as a safetensors file."""
        save(path, self.state_dict())

    def load(self, path: Any, strict: bool = True) -> None:
        """load_state_dict() of a safetensors file."""
        from ._methods import load
        self.load_state_dict(load(path), strict)

    # ---- Text ----

    def extra_repr(self) -> str:
        """What repr() shows between the brackets."""
        return ""

    def __repr__(self) -> str:
        inside = [f"({name}): {module!r}".replace("\n", "\n  ")
                  for name, module in self._modules.items()]
        if not inside:
            return f"{type(self).__name__}({self.extra_repr()})"
        return f"{type(self).__name__}(\n  " + "\n  ".join(inside) + "\n)"


# ---- Modules of modules ----

class Sequential(Module):
    """One after the other, under the names "0", "1", ..."""

    def __init__(self, *modules: Any) -> None:
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], Mapping):
            named = list(modules[0].items())
        else:
            named = [(str(i), module) for i, module in enumerate(modules)]
        for name, module in named:
            self.add_module(name, module)

    def forward(self, x: Any) -> Any:
        for module in self._modules.values():
            x = module(x)
        return x

    def append(self, module: Module) -> Sequential:
        """One more at the end."""
        self.add_module(str(len(self)), module)
        return self

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return Sequential(*list(self._modules.values())[i])
        return list(self._modules.values())[i]


class ModuleList(Sequential):
    """Modules in a list, without a forward() of its own."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        super().__init__(*modules)

    def forward(self, *inputs: Any, **named: Any) -> Any:
        raise NotImplementedError("a ModuleList has no forward()")


# ---- Layers ----

def _bound_uniform(shape: Sequence[int], bound: float, dtype: Any, device: Any,
                   seed: int | None) -> Parameter:
    return Parameter(_tensor.uniform(shape, -bound, bound, dtype=dtype, device=device, seed=seed))


class Linear(Module):
    """x (.., in) -> (.., out): weight (out, in), bias (out)."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True, dtype: Any = None,
                 device: Any = None, seed: int | None = None) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        bound = 1 / math.sqrt(in_features) if in_features > 0 else 0.0
        self.weight = _bound_uniform((out_features, in_features), bound, dtype, device, seed)
        self.register_parameter("bias", _bound_uniform(
            (out_features,), bound, dtype, device, None if seed is None else seed + 1)
            if bias else None)

    def forward(self, x: Any) -> Tensor:
        y = _tensor.matmul(x, self.weight.mT)
        return y if self.bias is None else y + self.bias

    def extra_repr(self) -> str:
        return f"{self.in_features}, {self.out_features}, bias={self.bias is not None}"


def _pair(value: Any) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else tuple(value)  # type: ignore[return-value]


class Conv2d(Module):
    """x (N, in, H, W): weight (out, in / groups, height, width), bias (out)."""

    _function = staticmethod(_tensor.conv2d)
    _axes = 2

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1,
                 padding: Any = 0, dilation: Any = 1, groups: int = 1, bias: bool = True,
                 dtype: Any = None, device: Any = None, seed: int | None = None) -> None:
        super().__init__()
        if groups < 1 or in_channels % groups or out_channels % groups:
            raise ValueError(f"{groups} groups of {in_channels} and {out_channels} channels")
        kernel = _pair(kernel_size)[:self._axes]
        self.in_channels, self.out_channels, self.kernel_size = in_channels, out_channels, kernel
        self.stride, self.padding, self.dilation, self.groups = stride, padding, dilation, groups
        fan_in = in_channels // groups * math.prod(kernel)
        bound = 1 / math.sqrt(fan_in) if fan_in else 0.0
        self.weight = _bound_uniform((out_channels, in_channels // groups, *kernel), bound, dtype,
                                     device, seed)
        self.register_parameter("bias", _bound_uniform(
            (out_channels,), bound, dtype, device, None if seed is None else seed + 1)
            if bias else None)

    def forward(self, x: Any) -> Tensor:
        return self._function(x, self.weight, self.bias, self.stride, self.padding, self.dilation,
                              self.groups)

    def extra_repr(self) -> str:
        return (f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
                f"stride={self.stride}, padding={self.padding}")


class Conv1d(Conv2d):
    """x (N, in, L): weight (out, in / groups, length), bias (out)."""

    _function = staticmethod(_tensor.conv1d)
    _axes = 1


class _BatchNorm(Module):
    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.1,
                 affine: bool = True, track_running_stats: bool = True, dtype: Any = None,
                 device: Any = None) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        made = {"dtype": dtype, "device": device}
        self.register_parameter("weight", Parameter(_tensor.ones(num_features, **made))
                                if affine else None)
        self.register_parameter("bias", Parameter(_tensor.zeros(num_features, **made))
                                if affine else None)
        tracked = track_running_stats
        self.register_buffer("running_mean", _tensor.zeros(num_features, **made)
                             if tracked else None)
        self.register_buffer("running_var", _tensor.ones(num_features, **made)
                             if tracked else None)
        self.register_buffer("num_batches_tracked", _tensor.zeros((), dtype="int64", device=device)
                             if tracked else None)

    def forward(self, x: Any) -> Tensor:
        if self.training and self.num_batches_tracked is not None:
            self.num_batches_tracked += 1
        training = self.training or self.running_mean is None
        return _tensor.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias,
                                  training, self.momentum, self.eps)

    def extra_repr(self) -> str:
        return f"{self.num_features}, eps={self.eps}, momentum={self.momentum}"


class BatchNorm1d(_BatchNorm):
    """Per channel of x (N, C) or (N, C, L). Running mean and variance are used when not
    training."""


class BatchNorm2d(_BatchNorm):
    """Per channel of x (N, C, H, W). Running mean and variance are used when not training."""


class LayerNorm(Module):
    """(x - mean) / sqrt(variance + eps) over the last axes, of this shape."""

    def __init__(self, normalized_shape: int | Sequence[int], eps: float = 1e-5,
                 elementwise_affine: bool = True, bias: bool = True, dtype: Any = None,
                 device: Any = None) -> None:
        super().__init__()
        shape = ((normalized_shape,) if isinstance(normalized_shape, int)
                 else tuple(normalized_shape))
        self.normalized_shape, self.eps = shape, eps
        made = {"dtype": dtype, "device": device}
        self.register_parameter("weight", Parameter(_tensor.ones(shape, **made))
                                if elementwise_affine else None)
        self.register_parameter("bias", Parameter(_tensor.zeros(shape, **made))
                                if elementwise_affine and bias else None)

    def forward(self, x: Any) -> Tensor:
        return _tensor.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}"


class RMSNorm(Module):
    """x / sqrt(mean(x * x) + eps) over the last axes, of this shape."""

    def __init__(self, normalized_shape: int | Sequence[int], eps: float = 1e-6,
                 elementwise_affine: bool = True, dtype: Any = None, device: Any = None) -> None:
        super().__init__()
        shape = ((normalized_shape,) if isinstance(normalized_shape, int)
                 else tuple(normalized_shape))
        self.normalized_shape, self.eps = shape, eps
        self.register_parameter("weight", Parameter(
            _tensor.ones(shape, dtype=dtype, device=device)) if elementwise_affine else None)

    def forward(self, x: Any) -> Tensor:
        return _tensor.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}"


class GroupNorm(Module):
    """Per element of the batch and group of channels of x (N, C, ..)."""

    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True,
                 dtype: Any = None, device: Any = None) -> None:
        super().__init__()
        self.num_groups, self.eps = num_groups, eps
        made = {"dtype": dtype, "device": device}
        self.register_parameter("weight", Parameter(_tensor.ones(num_channels, **made))
                                if affine else None)
        self.register_parameter("bias", Parameter(_tensor.zeros(num_channels, **made))
                                if affine else None)

    def forward(self, x: Any) -> Tensor:
        return _tensor.group_norm(x, self.num_groups, self.weight, self.bias, self.eps)


class Dropout(Module):
    """0 with probability p, else x / (1 - p), anew in every training step; x when not training."""

    def __init__(self, p: float = 0.5, seed: int | None = None) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"a probability is from 0 to 1, not {p}")
        self.p, self.seed = p, seed

    def forward(self, x: Any) -> Tensor:
        if not self.training:
            return _tensor.asarray(x)
        if self.seed is not None:
            self.seed += 1
        return _tensor.dropout(x, self.p, True, self.seed)

    def extra_repr(self) -> str:
        return f"p={self.p}"


class Embedding(Module):
    """Indices (..) -> (.., dim): weight (n, dim)."""

    def __init__(self, num_embeddings: int, embedding_dim: int, dtype: Any = None,
                 device: Any = None, seed: int | None = None) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.weight = Parameter(_tensor.randn((num_embeddings, embedding_dim), dtype=dtype,
                                              device=device, seed=seed))

    def forward(self, ids: Any) -> Tensor:
        return _tensor.embedding(self.weight, ids)

    def extra_repr(self) -> str:
        return f"{self.num_embeddings}, {self.embedding_dim}"


class Flatten(Module):
    """Some neighbouring axes as one; all but the first."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, x: Any) -> Tensor:
        return _tensor.flatten(x, self.start_dim, self.end_dim)


class Identity(Module):
    """x itself."""

    def forward(self, x: Any) -> Tensor:
        return x


class MaxPool2d(Module):
    """The largest of each window."""

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
                 ceil_mode: bool = False) -> None:
        super().__init__()
        self._arguments = (kernel_size, stride, padding, dilation, ceil_mode)

    def forward(self, x: Any) -> Tensor:
        return _tensor.max_pool2d(x, *self._arguments)


class AvgPool2d(Module):
    """The mean of each window."""

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0,
                 ceil_mode: bool = False, count_include_pad: bool = True) -> None:
        super().__init__()
        self._arguments = (kernel_size, stride, padding, ceil_mode, count_include_pad)

    def forward(self, x: Any) -> Tensor:
        return _tensor.avg_pool2d(x, *self._arguments)


class AdaptiveAvgPool2d(Module):
    """Means of as many windows as the output has pixels."""

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, x: Any) -> Tensor:
        return _tensor.adaptive_avg_pool2d(x, self.output_size)


# ---- Activations and losses ----

class _Function(Module):
    """A function with fixed further arguments."""

    _function: Callable[..., Tensor]

    def forward(self, *inputs: Any) -> Tensor:
        return type(self)._function(*inputs, **self.__dict__.get("_arguments", {}))

    def extra_repr(self) -> str:
        return ", ".join(f"{k}={v!r}" for k, v in self.__dict__.get("_arguments", {}).items())


class ReLU(_Function):
    """max(x, 0)."""
    _function = staticmethod(_tensor.relu)


class SiLU(_Function):
    """x * sigmoid(x)."""
    _function = staticmethod(_tensor.silu)


class Sigmoid(_Function):
    """1 / (1 + exp(-x))."""
    _function = staticmethod(_tensor.sigmoid)


class Tanh(_Function):
    """The hyperbolic tangent."""
    _function = staticmethod(_tensor.tanh)


class Softplus(_Function):
    """log(1 + exp(x))."""
    _function = staticmethod(_tensor.softplus)


class GELU(_Function):
    """x * Phi(x), by the form with tanh, or "none" for the exact one."""
    _function = staticmethod(_tensor.gelu)

    def __init__(self, approximate: str = "tanh") -> None:
        super().__init__()
        self._arguments = {"approximate": approximate}


class LeakyReLU(_Function):
    """x where it is positive, else slope * x."""
    _function = staticmethod(_tensor.leaky_relu)

    def __init__(self, negative_slope: float = 0.01) -> None:
        super().__init__()
        self._arguments = {"slope": negative_slope}


class ELU(_Function):
    """x where it is positive, else alpha * (exp(x) - 1)."""
    _function = staticmethod(_tensor.elu)

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self._arguments = {"alpha": alpha}


class Softmax(_Function):
    """Exponentials that sum to 1 along an axis."""
    _function = staticmethod(_tensor.softmax)

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self._arguments = {"axis": dim}


class LogSoftmax(Softmax):
    """The logarithm of softmax."""
    _function = staticmethod(_tensor.log_softmax)


class Sine(Module):
    """sin(w0 * x), as SIRENs have it."""

    def __init__(self, w0: float = 30.0) -> None:
        super().__init__()
        self.w0 = w0

    def forward(self, x: Any) -> Tensor:
        return _tensor.sin(_tensor.asarray(x) * self.w0)

    def extra_repr(self) -> str:
        return f"w0={self.w0}"


class _Loss(_Function):
    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self._arguments = {"reduction": reduction}


class MSELoss(_Loss):
    """(x - target) ** 2."""
    _function = staticmethod(_tensor.mse_loss)


class L1Loss(_Loss):
    """abs(x - target)."""
    _function = staticmethod(_tensor.mae_loss)


class BCELoss(_Loss):
    """Binary cross-entropy of probabilities."""
    _function = staticmethod(_tensor.bce_loss)


class BCEWithLogitsLoss(_Loss):
    """Binary cross-entropy of logits."""
    _function = staticmethod(_tensor.bce_logits_loss)


class CrossEntropyLoss(_Loss):
    """Cross-entropy of logits (.., C) with class numbers (..) or probabilities (.., C)."""
    _function = staticmethod(_tensor.cross_entropy_loss)


class HuberLoss(_Function):
    """d * d / 2 up to delta, delta * (abs(d) - delta / 2) beyond."""
    _function = staticmethod(_tensor.huber_loss)

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__()
        self._arguments = {"delta": delta, "reduction": reduction}


# ---- Gradients ----

def clip_grad_norm_(parameters: Tensor | Iterable[Tensor], max_norm: float) -> Tensor:
    """Scales all gradients so that their norm together is at most max_norm; the norm before, as a
    tensor: nothing is read."""
    return _tensor._clip_grad_norm(_list(parameters), max_norm)


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    """Gradients within -clip_value .. clip_value."""
    _tensor._clip_grad_value(_list(parameters), clip_value)


# ---- The functional names ----

def _linear(x: Any, weight: Any, bias: Any = None) -> Tensor:
    """x @ weight.T + bias: weight (out, in)."""
    y = _tensor.matmul(x, _tensor.asarray(weight).mT)
    return y if bias is None else y + bias


def _embedding(ids: Any, weight: Any) -> Tensor:
    """Rows of weight (V, E) by their ids."""
    return _tensor.embedding(weight, ids)


functional = types.ModuleType(__name__ + ".functional", "Layers and losses as functions.")
functional.__dict__.update(
    linear=_linear, embedding=_embedding, mse_loss=_tensor.mse_loss, l1_loss=_tensor.mae_loss,
    mae_loss=_tensor.mae_loss, huber_loss=_tensor.huber_loss,
    binary_cross_entropy=_tensor.bce_loss,
    binary_cross_entropy_with_logits=_tensor.bce_logits_loss,
    cross_entropy=_tensor.cross_entropy_loss,
    **{name: getattr(_tensor, name) for name in (
        "relu", "gelu", "silu", "sigmoid", "tanh", "softplus", "leaky_relu", "elu", "softmax",
        "log_softmax", "dropout", "layer_norm", "rms_norm", "batch_norm", "group_norm", "conv1d",
        "conv2d", "conv_transpose2d", "max_pool2d", "avg_pool2d", "adaptive_avg_pool2d",
        "one_hot", "pad")})
sys.modules[functional.__name__] = functional


# ---- First values ----

def _fans(tensor: Tensor) -> tuple[int, int]:
    if tensor.ndim < 2:
        raise _tensor.ShapeError(f"fans need two axes; the shape is {tensor.shape}")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _give(tensor: Tensor, values: Tensor) -> Tensor:
    with no_grad():
        return tensor.copy_(values)


def _uniform(tensor: Tensor, a: float = 0.0, b: float = 1.0, seed: int | None = None) -> Tensor:
    """Uniform from a to b."""
    return _give(tensor, _tensor.uniform(tensor.shape, a, b, seed=seed))


def _normal(tensor: Tensor, mean: float = 0.0, std: float = 1.0,
            seed: int | None = None) -> Tensor:
    """Normally distributed."""
    return _give(tensor, _tensor.randn(tensor.shape, seed=seed) * std + mean)


def _constant(tensor: Tensor, value: float) -> Tensor:
    """One value."""
    return _give(tensor, _tensor.full_like(tensor.detach(), value))


def _kaiming_uniform(tensor: Tensor, gain: float = math.sqrt(2), seed: int | None = None) -> Tensor:
    """Uniform within gain * sqrt(3 / fan_in); gain: sqrt(2) for ReLU."""
    bound = gain * math.sqrt(3 / max(1, _fans(tensor)[0]))
    return _uniform(tensor, -bound, bound, seed)


def _kaiming_normal(tensor: Tensor, gain: float = math.sqrt(2), seed: int | None = None) -> Tensor:
    """Normal with deviation gain / sqrt(fan_in); gain: sqrt(2) for ReLU."""
    return _normal(tensor, 0.0, gain / math.sqrt(max(1, _fans(tensor)[0])), seed)


def _xavier_uniform(tensor: Tensor, gain: float = 1.0, seed: int | None = None) -> Tensor:
    """Uniform within gain * sqrt(6 / (fan_in + fan_out))."""
    bound = gain * math.sqrt(6 / max(1, sum(_fans(tensor))))
    return _uniform(tensor, -bound, bound, seed)


def _xavier_normal(tensor: Tensor, gain: float = 1.0, seed: int | None = None) -> Tensor:
    """Normal with deviation gain * sqrt(2 / (fan_in + fan_out))."""
    return _normal(tensor, 0.0, gain * math.sqrt(2 / max(1, sum(_fans(tensor)))), seed)


init = types.ModuleType(__name__ + ".init", "New values for tensors: the first ones of networks.")
init.__dict__.update(
    uniform_=_uniform, normal_=_normal, constant_=_constant,
    zeros_=lambda tensor: _constant(tensor, 0), ones_=lambda tensor: _constant(tensor, 1),
    kaiming_uniform_=_kaiming_uniform, kaiming_normal_=_kaiming_normal,
    xavier_uniform_=_xavier_uniform, xavier_normal_=_xavier_normal)
sys.modules[init.__name__] = init
