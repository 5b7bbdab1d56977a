#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the .pyi files of pymetal from the module itself.

    PYTHONPATH=build/python python3 python/pymetal_stubs.py FOLDER

The extension's docstrings carry the types: a method's first line is its signature with types,
a property's text begins with its type and, where it cannot be set, "read-only". Everything in a
stub comes from there, so that stubs, documentation and argument parsing cannot disagree.
The build calls it for its own package (CMakeLists.txt): FOLDER is where the package lies.
"""

import enum
import inspect
import pathlib
import re
import sys
import textwrap

if __name__ == "__main__":
    del sys.path[0]  # this folder: its pymetal has no extension

import pymetal as pm  # noqa: E402

HEAD = '''# SPDX-License-Identifier: Apache-2.0
# Made by python/pymetal_stubs.py from the module's docstrings: change those instead.
'''
SUBMODULES = ("advanced", "compute", "enums", "exceptions", "graphics", "metal4", "shader", "types")
# CPython 3.11 does not show the buffer protocol as a method.
BUFFERS = ("Buffer", "BufferView", "Tensor")


def public(names):
    return [name for name in names if not name.startswith("_")]


def text(doc, indent):
    """A docstring as it stands in a stub."""
    lines = inspect.cleandoc(doc).splitlines()
    if len(lines) == 1:
        # The closing quotes stand on the last line, if that has room for them.
        lines = textwrap.wrap(lines[0], 94 - len(indent), break_on_hyphens=False)
    if len(lines) == 1:
        return f'{indent}"""{lines[0]}"""\n'
    body = "".join(f"{indent}{line}".rstrip() + "\n" for line in lines)
    return f'{indent}"""{body[len(indent):]}{indent}"""\n'


def definition(name, arguments, returns, indent):
    """`def name(...) -> returns:`, one argument a line where it would be too long."""
    line = f"{indent}def {name}({', '.join(arguments)}) -> {returns}:"
    if len(line) > 96:  # room for " ..."
        parts = "".join(f"{indent}    {argument},\n" for argument in arguments)
        line = f"{indent}def {name}(\n{parts}{indent}) -> {returns}:"
    return line


def split(arguments):
    """Arguments at the commas outside of brackets."""
    return [part.strip() for part in re.split(r",(?![^\[(]*[\])])", arguments) if part.strip()]


def or_none(argument):
    """`x: int | None = None`, also where the docstring says `x: int = None`."""
    return re.sub(r"^(\w+: (?!.*\bNone\b.* = )(?!Any ).*) = None$", r"\1 | None = None", argument)


def function(item, name, indent, first=None):
    """A def with the signature of its docstring's first line."""
    head, _, rest = inspect.getdoc(item).partition("\n\n")
    match = re.fullmatch(r"(\w+)\((.*)\) -> (.+)", head, re.S)
    if not match or match.group(1) != name:
        raise SystemExit(f"{item!r}: the docstring begins with no signature: {head!r}")
    arguments = ([first] if first else []) + [or_none(argument) for argument in split(match.group(2))]
    returns = match.group(3).replace("numpy.ndarray", "numpy.ndarray[Any, numpy.dtype[numpy.uint8]]")
    result = definition(name, arguments, returns, indent) + "\n"
    return result + text(rest or "No more to say.", indent + "    ") + f"{indent}    ...\n"


def property_of(item, name, indent):
    doc = inspect.getdoc(item)
    match = re.match(r"([^:]+?)(, read-only)?: (.+)", doc, re.S)
    if not match:
        raise SystemExit(f"{item!r}: the docstring begins with no type: {doc!r}")
    kind, read_only, rest = match.groups()
    result = f"{indent}@property\n{indent}def {name}(self) -> {kind}:\n"
    result += text(rest, indent + "    ") + f"{indent}    ...\n"
    if not read_only:
        result += f"{indent}@{name}.setter\n"
        result += definition(name, ["self", f"value: {kind}"], "None", indent) + " ...\n"
    return result


def initializer(kind):
    """__init__ of the classes that have a constructor: types are those of the properties."""
    parts = ["self"]
    for name, parameter in inspect.signature(kind).parameters.items():
        doc = inspect.getdoc(getattr(kind, name))
        type_name = re.match(r"[^:]+?(?=, read-only|:)", doc).group()
        # A member of an enumeration is shown by its number, which is no value of the type.
        plain = type(parameter.default).__name__ in type_name.split(" | ")
        default = repr(parameter.default) if plain or parameter.default is None else "..."
        parts.append(f"{name}: {type_name}"
                     + ("" if parameter.default is parameter.empty else f" = {default}"))
    return definition("__init__", parts, "None", "    ") + " ...\n"


def special(kind):
    result = ""
    if kind.__name__ in BUFFERS:
        result += "    def __buffer__(self, flags: int, /) -> memoryview: ...\n"
    if "__len__" in vars(kind):
        result += "    def __len__(self) -> int: ...\n"
    return result


def class_of(kind):
    bases = [base.__name__ for base in kind.__bases__ if base is not object]
    result = f"class {kind.__name__}{'(' + ', '.join(bases) + ')' if bases else ''}:\n"
    result += text(kind.__doc__.split("\n--\n\n")[-1], "    ")
    if kind.__text_signature__:
        result += initializer(kind)
    for name, item in sorted(vars(kind).items()):
        if inspect.isgetsetdescriptor(item) and not name.startswith("__"):
            result += property_of(item, name, "    ")
        elif inspect.ismethoddescriptor(item) and (not name.startswith("__") or "dlpack" in name):
            of_class = type(item).__name__ == "classmethod_descriptor"
            result += "    @classmethod\n" if of_class else ""
            result += function(item, name, "    ", "cls" if of_class else "self")
    return result + special(kind) + "\n"


def enum_of(kind):
    result = f"class {kind.__name__}(enum.Enum):\n" + text(kind.__doc__, "    ")
    for name, member in kind.__members__.items():
        # None cannot be written as a name; None_ is the same member.
        if name != "None":
            result += f"    {name} = {member.value}\n"
    return result + "\n"


def error_of(kind):
    return f"class {kind.__name__}({kind.__base__.__name__}):\n{text(kind.__doc__, '    ')}\n"


def package():
    enums, errors, classes, functions, constants = [], [], [], [], []
    for name in public(pm.__all__):
        item = getattr(pm, name)
        if inspect.ismodule(item):
            continue
        if type(item) is int:
            constants.append(f"{name}: Final = {item}\n")
        elif not isinstance(item, type):
            functions.append(function(item, name, "") + "\n")
        elif issubclass(item, enum.Enum):
            enums.append(enum_of(item))
        elif issubclass(item, Exception):
            errors.append(item)
        else:
            classes.append(item)
    # A base stands before what derives from it.
    errors.sort(key=lambda kind: (len(kind.__mro__), kind.__name__))
    classes.sort(key=lambda kind: (len(kind.__mro__), kind.__name__))
    parts = [HEAD, text(pm.__doc__, ""), "\n",
             "import enum\nimport os\nfrom collections.abc import Callable, Sequence\n"
             "from typing import Any, Final\n\n"
             "import numpy\nfrom _typeshed import ReadableBuffer as BytesLike\n\n",
             "".join(f"from . import {name} as {name}\n" for name in SUBMODULES), "\n",
             "__version__: str\n__all__: list[str]\n\n", *constants, "\n", *enums,
             *map(error_of, errors), *map(class_of, classes), *functions,
             "# Apple's whole names.\n", *(f"MTL{kind.__name__} = {kind.__name__}\n" for kind in classes
                                          if not kind.__name__.startswith("MTL"))]
    return "".join(parts).rstrip("\n") + "\n"


def submodule(name):
    """Submodules hold names of the package, and say so."""
    module = getattr(pm, name)
    names = sorted(module.__all__)
    imports = "".join(f"    {item},\n" for item in names)
    exports = "".join(f'    "{item}",\n' for item in names)
    return (HEAD + text(module.__doc__, "") + f"\nfrom . import (\n{imports})\n"
            f"\n__all__ = [\n{exports}]\n")


def files():
    """name -> text of every stub; shader.py has its types itself."""
    result = {"__init__.pyi": package()}
    for name in SUBMODULES:
        if name != "shader":
            result[f"{name}.pyi"] = submodule(name)
    return result


def write(made):
    """Puts stubs, name -> text, into the folder that the command line names."""
    folder = pathlib.Path(sys.argv[1])
    for name, content in made.items():
        part = folder / f"{name}.part"
        part.write_text(content, encoding="utf-8")
        part.replace(folder / name)  # whole or not at all, and never through a link


if __name__ == "__main__":
    write(files())
