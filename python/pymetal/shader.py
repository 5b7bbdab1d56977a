# SPDX-License-Identifier: Apache-2.0
"""Text tools for Metal sources: a small preprocessor, templates, a kernel generator.

Nothing here needs a device. The preprocessor works on text before the compiler sees it: it
splices files in, keeps or drops #ifdef blocks by names given from Python, and replaces macros
by whole words. What it does not understand (#if, #elif, #pragma, #undef) it passes on.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

__all__ = [
    "ShaderPreprocessor",
    "ShaderTemplate",
    "compute_shader_hash",
    "create_compute_kernel",
    "COMMON_SNIPPETS",
]

_MAX_DEPTH = 50  # files inside files; more is a cycle through changing names

_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(ifdef|ifndef|if|else|elif|endif)\b[ \t]*(\w*)")
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]+(?:<([^>\n]+)>|\"([^\"\n]+)\")[^\n]*$", re.M)
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)([^\n]*)(?:\n|\Z)", re.M)


class ShaderPreprocessor:
    """Expands includes, macros and #ifdef blocks of a source; every setter returns self.

    >>> ShaderPreprocessor().define("N", 4).process("float a[N];")
    'float a[4];'
    """

    def __init__(self,
                 include_paths: Iterable[str | os.PathLike[str]] | None = None) -> None:
        """include_paths: folders to look for included files in, in this order."""
        self._paths = [Path(path) for path in include_paths or ()]
        self._macros: dict[str, str] = {}
        self._functions: dict[str, Callable[[str], object]] = {}
        # The name as the include line has it -> text, path.
        self._texts: dict[str, tuple[str, Path]] = {}

    def add_include_path(self, path: str | os.PathLike[str]) -> ShaderPreprocessor:
        """Looks for included files in `path` too, after the folders given before."""
        self._paths.append(Path(path))
        return self

    def define(self, name: str, value: object = "1") -> ShaderPreprocessor:
        """Replaces the word `name` by `value`, and makes #ifdef `name` true."""
        self._macros[name] = str(value)
        return self

    def define_many(self, defines: Mapping[str, object]) -> ShaderPreprocessor:
        """define() for each pair of a dict."""
        for name, value in defines.items():
            self.define(name, value)
        return self

    def undefine(self, name: str) -> ShaderPreprocessor:
        """Forgets a macro; one that is not defined is no error."""
        self._macros.pop(name, None)
        return self

    def register_macro_function(self, name: str,
                                func: Callable[[str], object]) -> ShaderPreprocessor:
        """Replaces NAME(arguments) by func("arguments").

        The arguments are the text up to the first closing parenthesis, unparsed.
        """
        self._functions[name] = func
        return self

    def clear_cache(self) -> ShaderPreprocessor:
        """Forgets the texts of included files, so that changes on disk are seen."""
        self._texts.clear()
        return self

    def process(self, source: str, source_file: str | os.PathLike[str] | None = None,
                process_includes: bool = True, process_defines: bool = True,
                process_conditionals: bool = True) -> str:
        """The source after conditionals, then includes, then macros.

        source_file: where the text comes from; its folder is searched first.
        A file that is not found raises FileNotFoundError, and so does <metal_stdlib>: pass
        process_includes=False to leave includes to the compiler.
        """
        if process_conditionals:
            source = self._choose(source)
        if process_includes:
            folder = Path(source_file).resolve().parent if source_file else None
            source = self._splice(source, folder, set(), 0)
        if process_defines:
            source = self._replace(source)
        return source

    def process_file(self, filepath: str | os.PathLike[str], **kwargs: Any) -> str:
        """process() on the text of a file; keywords as there."""
        return self.process(Path(filepath).read_text(encoding="utf-8"), source_file=filepath,
                            **kwargs)

    def _choose(self, source: str) -> str:
        """Keeps the branch of each #ifdef/#ifndef that holds; #if blocks pass unchanged."""
        kept: list[str] = []
        blocks: list[list[bool]] = []  # innermost last: [is ours, this branch is kept]
        for line in source.split("\n"):
            match = _DIRECTIVE.match(line)
            word, name = match.groups() if match else ("", "")
            if word in ("ifdef", "ifndef"):
                blocks.append([True, (name in self._macros) == (word == "ifdef")])
                continue
            if word == "if":
                blocks.append([False, True])
            elif blocks and blocks[-1][0] and word == "else":
                blocks[-1][1] = not blocks[-1][1]
                continue
            elif blocks and word == "endif":
                ours, _ = blocks.pop()
                if ours:
                    continue
            if all(keep for _, keep in blocks):
                kept.append(line)
        return "\n".join(kept)

    def _find(self, name: str, folder: Path | None) -> tuple[str, Path]:
        """(text, path) of an included file."""
        if name not in self._texts:
            places = ([folder] if folder else []) + self._paths
            for place in places:
                path = place / name
                if path.is_file():
                    self._texts[name] = (path.read_text(encoding="utf-8"), path.resolve())
                    break
            else:
                where = ", ".join(str(place) for place in places) or "no folders given"
                raise FileNotFoundError(f"included file '{name}' not found (searched: {where})")
        return self._texts[name]

    def _splice(self, source: str, folder: Path | None, seen: set[str], depth: int) -> str:
        """Puts included files in place of their lines, each of them once."""
        if depth > _MAX_DEPTH:
            raise RecursionError(f"includes are nested more than {_MAX_DEPTH} deep")

        def expand(match: re.Match[str]) -> str:
            name = match.group(1) or match.group(2)
            if name in seen:
                return f"// already included: {name}"
            seen.add(name)
            text, path = self._find(name, folder)
            inner = self._splice(text, path.parent, seen, depth + 1)
            return f"// begin include: {name}\n{inner}\n// end include: {name}"

        return _INCLUDE.sub(expand, source)

    def _replace(self, source: str) -> str:
        """Takes #define lines out and replaces words, the longest names first."""
        macros = dict(self._macros)

        def collect(match: re.Match[str]) -> str:
            macros[match.group(1)] = match.group(2).strip() or "1"
            return ""

        source = _DEFINE.sub(collect, source)
        for name in sorted(macros, key=len, reverse=True):
            # The value is put in as it is: backslashes mean nothing.
            source = macros[name].join(re.split(rf"\b{re.escape(name)}\b", source))
        for name, func in self._functions.items():
            # Text and arguments take turns.
            parts = re.split(rf"\b{re.escape(name)}\s*\(([^)]*)\)", source)
            parts[1::2] = [str(func(arguments)) for arguments in parts[1::2]]
            source = "".join(parts)
        return source


class ShaderTemplate:
    """A source with {placeholders} as of str.format; braces of the source itself are doubled.

    >>> ShaderTemplate("device {type} *p").set_default("type", "float").render()
    'device float *p'
    """

    def __init__(self, template: str) -> None:
        """template: the text."""
        self._template = template
        self._defaults: dict[str, object] = {}

    def set_default(self, name: str, value: object) -> ShaderTemplate:
        """The value of a placeholder that render() is not given."""
        self._defaults[name] = value
        return self

    def set_defaults(self, defaults: Mapping[str, object]) -> ShaderTemplate:
        """set_default() for each pair of a dict."""
        self._defaults.update(defaults)
        return self

    def render(self, **kwargs: object) -> str:
        """The text with every placeholder filled in; KeyError names one without a value."""
        return self._template.format(**{**self._defaults, **kwargs})

    def render_with_preprocessor(self, preprocessor: ShaderPreprocessor,
                                 **kwargs: object) -> str:
        """render(), then preprocessor.process()."""
        return preprocessor.process(self.render(**kwargs))


def compute_shader_hash(source: str) -> str:
    """SHA-256 of the source as UTF-8, in 64 hexadecimal digits: a key for caches."""
    return hashlib.sha256(source.encode("utf-8")).hexdigest()


def create_compute_kernel(name: str, body: str, buffers: Iterable[tuple[str, str, str]],
                          threads_per_grid: bool = True, include_stdlib: bool = True) -> str:
    """The source of a kernel whose buffers stand at index 0, 1, ... in the order given.

    buffers: (name, element type, access) each; access "read" makes the pointer const.
    threads_per_grid: the body may use `idx`, the thread's position in the grid.
    """
    parameters = []
    for index, (label, element, access) in enumerate(buffers):
        space = "device const" if access == "read" else "device"
        parameters.append(f"{space} {element}* {label} [[buffer({index})]]")
    if threads_per_grid:
        parameters.append("uint idx [[thread_position_in_grid]]")
    head = f"kernel void {name}("
    text = COMMON_SNIPPETS["metal_stdlib"].lstrip() + "\n" if include_stdlib else ""
    text += head + (",\n" + " " * len(head)).join(parameters) + ") {\n"
    text += "".join(f"    {line}\n" for line in body.strip().splitlines())
    return text + "}\n"


COMMON_SNIPPETS: dict[str, str] = {
    "metal_stdlib": """
#include <metal_stdlib>
using namespace metal;
""",
    "float_constants": """
constant float PI = 3.14159265358979323846;
constant float TAU = 6.28318530717958647692;
constant float E = 2.71828182845904523536;
constant float SQRT2 = 1.41421356237309504880;
""",
    "int_constants": """
#ifndef INT_MAX // <metal_stdlib> has them as macros
constant int INT_MAX = 2147483647;
constant int INT_MIN = (-2147483647 - 1);
constant uint UINT_MAX = 4294967295u;
#endif
""",
}
