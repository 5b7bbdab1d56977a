# SPDX-License-Identifier: Apache-2.0
"""What networks are made of: Parameter, Module, and modules of modules."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from .. import _tensor
from .._files import load, save
from .._gradients import no_grad
from .._tensor import Tensor


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

    def to(self, *what: Any, **named: Any) -> Module:
        """Parameters and buffers of floating types in another one, or all of them on a device
        ("cpu": where they are). They stay the same objects; make optimisers afterwards."""
        for module in self.modules():
            for table in ("_parameters", "_buffers"):
                for tensor in module.__dict__[table].values():
                    if tensor is None:
                        continue
                    made = tensor.detach().to(*what, **named)
                    if made.dtype != tensor.dtype and not tensor.dtype.is_floating_point:
                        made = tensor.detach().to(made.device)
                    if made.dtype != tensor.dtype or made.device != tensor.device:
                        tensor.data, tensor.grad = made, None
        return self

    def cuda(self, device: Any = None) -> Module:
        """On a GPU of CUDA's."""
        return self.to("cuda" if device is None else f"cuda:{device}" if isinstance(device, int) else device)

    def cpu(self) -> Module:
        """to("cpu")."""
        return self.to("cpu")

    def double(self) -> Module:
        """There is no float64."""
        raise _tensor.DTypeError("double(): tensors have no float64")

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
