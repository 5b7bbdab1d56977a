#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes ingot/_tensor.pyi from the extension itself, as pymetal_stubs.py does for pymetal.

    PYTHONPATH=build/python python3 python/ingot_stubs.py FOLDER

The first line of a docstring is the signature with types. The rest of the package is Python with
annotations and needs no stubs.
"""

import ast
import builtins
import importlib.util
import inspect
import pathlib
import sys

if __name__ == "__main__":
    del sys.path[0]  # this folder: its packages have no extensions

from ingot import _tensor  # noqa: E402

spec = importlib.util.spec_from_file_location("stubs", pathlib.Path(__file__).parent / "pymetal_stubs.py")
stubs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(stubs)

HEAD = '''# SPDX-License-Identifier: Apache-2.0
# Made by python/ingot_stubs.py from the module's docstrings: change those instead.
"""Tensors of libingot-tensor for Python."""

import builtins
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias, overload

from _typeshed import ReadableBuffer as BytesLike

TensorLike: TypeAlias = "Tensor | float | Sequence[Any] | Any"
DTypeLike: TypeAlias = "DType | str | type | Any"
DeviceLike: TypeAlias = "Device | str"

'''
# Lengths may be given one by one: zeros(2, 3), x.reshape(2, 3).
SPREAD = {"zeros": "shape", "ones": "shape", "empty": "shape", "rand": "shape", "randn": "shape",
          "reshape": "shape", "expand": "shape", "broadcast_to": "shape", "permute": "axes",
          "transpose": "axes", "tile": "times"}
BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor",
          "lshift", "rshift")
SPECIAL = {
    "__eq__": "(self, other: Any, /) -> Tensor: ...  # type: ignore[override]",
    "__ne__": "(self, other: Any, /) -> Tensor: ...  # type: ignore[override]",
    "__lt__": "(self, other: Any, /) -> Tensor: ...",
    "__le__": "(self, other: Any, /) -> Tensor: ...",
    "__gt__": "(self, other: Any, /) -> Tensor: ...",
    "__ge__": "(self, other: Any, /) -> Tensor: ...",
    "__divmod__": "(self, other: Any, /) -> tuple[Tensor, Tensor]: ...",
    "__rdivmod__": "(self, other: Any, /) -> tuple[Tensor, Tensor]: ...",
    "__neg__": "(self) -> Tensor: ...", "__pos__": "(self) -> Tensor: ...",
    "__abs__": "(self) -> Tensor: ...", "__invert__": "(self) -> Tensor: ...",
    "__bool__": "(self) -> bool: ...", "__int__": "(self) -> int: ...",
    "__float__": "(self) -> float: ...", "__index__": "(self) -> int: ...",
    "__len__": "(self) -> int: ...", "__hash__": "(self) -> int: ...",
    "__iter__": "(self) -> Iterator[Tensor]: ...",
    "__getitem__": "(self, key: Any, /) -> Tensor: ...",
    "__setitem__": "(self, key: Any, value: Any, /) -> None: ...",
    "__buffer__": "(self, flags: int, /) -> memoryview: ...",
}
for name in BINARY:
    for prefix in ("", "r", "i"):
        SPECIAL[f"__{prefix}{name}__"] = "(self, other: Any, /) -> Tensor: ..."


def function(item, name, indent, first=None):
    """A def by its docstring; where lengths may be spread, a second one."""
    one = stubs.function(item, name, indent, first)
    if name not in SPREAD:
        return one
    head = inspect.getdoc(item).partition("\n\n")[0]
    inner, returns = head[head.index("(") + 1:].rsplit(") -> ", 1)
    parts = stubs.split(inner)
    at = next(i for i, part in enumerate(parts) if part.startswith(SPREAD[name] + ":"))
    parts[at] = f"*{SPREAD[name]}: int"
    many = stubs.definition(name, ([first] if first else []) + parts, returns, indent)
    return f"{indent}@overload\n{one}{indent}@overload\n{many} ...\n"


def python_method(item, name, indent):
    """A method that was written in Python, by its annotations."""
    parts = ["self"]
    signature = inspect.signature(item)
    for parameter in list(signature.parameters.values())[1:]:
        kind = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
        parts.append(f"{kind}{parameter.name}: {parameter.annotation}{default}")
    result = stubs.definition(name, parts, signature.return_annotation, indent)
    doc = inspect.getdoc(item)
    return result + "\n" + (stubs.text(doc, indent + "    ") if doc else "") + f"{indent}    ...\n"


def unshadowed(text):
    """A class's text where bool, int and float in annotations are Python's, also if methods have these names."""
    (node,) = ast.parse(text).body
    methods = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
    methods |= {target.id for item in node.body if isinstance(item, ast.Assign) for target in item.targets}
    lines = text.split("\n")
    places = []
    for item in ast.walk(node):
        if isinstance(item, ast.FunctionDef):
            given = item.args
            every = given.posonlyargs + given.args + given.kwonlyargs + [a for a in (given.vararg, given.kwarg) if a]
            for part in [item.returns] + [argument.annotation for argument in every]:
                places += [(n.lineno - 1, n.col_offset) for n in (ast.walk(part) if part else ())
                           if isinstance(n, ast.Name) and n.id in methods and hasattr(builtins, n.id)]
    for line, column in sorted(places, reverse=True):
        lines[line] = lines[line][:column] + "builtins." + lines[line][column:]
    return "\n".join(lines)


def class_of(kind):
    bases = [base.__name__ for base in kind.__bases__ if base is not object]
    result = f"class {kind.__name__}{'(' + ', '.join(bases) + ')' if bases else ''}:\n"
    result += stubs.text(kind.__doc__.split("\n--\n\n")[-1], "    ")
    if kind is _tensor.Tensor:
        result += ("    def __new__(cls, data: TensorLike, dtype: DTypeLike | None = None, "
                   "device: DeviceLike | None = None,\n                requires_grad: bool = "
                   "False) -> Any: ...\n")
    elif kind is _tensor.Device:
        result += '    def __new__(cls, name: DeviceLike = "metal") -> Device: ...\n'
    elif kind.__text_signature__:
        names = [name for name in inspect.signature(kind).parameters]
        result += (f"    def __new__(cls, {', '.join(f'{n}: Any = ...' for n in names)}) -> Any: "
                   "...\n" if names else "    def __new__(cls) -> Any: ...\n")
    for name, item in sorted(vars(kind).items()):
        if inspect.isgetsetdescriptor(item) and not name.startswith("__"):
            result += stubs.property_of(item, name, "    ")
        elif isinstance(item, property):
            result += f"    @property\n    def {name}(self) -> Any:\n"
            result += stubs.text(item.__doc__, "        ") + "        ...\n"
        elif inspect.isfunction(item) and (not name.startswith("_") or name == "__array__"):
            result += python_method(item, name, "    ")
        elif inspect.ismethoddescriptor(item) or isinstance(item, staticmethod):
            if name.startswith("_") and "dlpack" not in name:
                continue
            item = getattr(kind, name) if isinstance(item, staticmethod) else item
            flavour = ("staticmethod" if isinstance(vars(kind)[name], staticmethod) else
                       "classmethod" if type(item).__name__ == "classmethod_descriptor" else "")
            first = {"staticmethod": None, "classmethod": "cls"}.get(flavour, "self")
            result += f"    @{flavour}\n" if flavour else ""
            doc = inspect.getdoc(item).partition("(")[0]
            if doc != name:  # another name for a method
                result += f"    {name} = {doc}\n"
            else:
                result += function(item, name, "    ", first)
    if kind is _tensor.Tensor:
        result += "".join(f"    def {name}{rest}\n" for name, rest in SPECIAL.items())
    return unshadowed(result) + "\n"


def module():
    errors, classes, functions, constants = [], [], [], []
    for name, item in sorted(vars(_tensor).items()):
        if name.startswith("__"):
            continue
        if isinstance(item, type) and issubclass(item, Exception):
            errors.append(item)
        elif isinstance(item, type):
            classes.append(item)
        elif isinstance(item, _tensor.DType):
            constants.append(f"{name}: Final[DType]\n")
        else:
            functions.append(function(item, name, "") + "\n")
    errors.sort(key=lambda kind: (len(kind.__mro__), kind.__name__))
    errors = [f"class {kind.__name__}({', '.join(b.__name__ for b in kind.__bases__)}):\n"
              f"{stubs.text(kind.__doc__, '    ')}\n" for kind in errors]
    return (HEAD + "".join(constants) + "\n" + "".join(errors) + "".join(map(class_of, classes))
            + "".join(functions)).rstrip("\n") + "\n"


def files():
    return {"_tensor.pyi": module()}


if __name__ == "__main__":
    stubs.write(files())
