# SPDX-License-Identifier: Apache-2.0
"""cheaders.py: what include/ingot declares: functions, descriptor structs, callbacks, enumerations.

The headers are read, not compiled: their declarations are plain enough for a few patterns.
"""
import collections
import pathlib
import re

Function = collections.namedtuple("Function", "name result params")  # params: [(type, name)]
Field = collections.namedtuple("Field", "type name array")


def parameter(text):
    text = " ".join(text.split())
    found = re.fullmatch(r"(.*?)(\w+)(\[\w*\])?", text)
    return found[1].strip() + (" *" if found[3] else ""), found[2]


class Headers:
    def __init__(self, include):
        text = "\n".join(p.read_text() for p in sorted(pathlib.Path(include).glob("ingot/metal*.h")))
        text = re.sub(r"/\*.*?\*/", "", re.sub(r"//[^\n]*", "", text), flags=re.S)
        self.functions, self.structs, self.callbacks = {}, {}, {}
        for m in re.finditer(r"MTL_API\s+([^;(]*?)\b(\w+)\s*\(([^;]*?)\);", text, re.S):
            params = [] if m[3].strip() == "void" else [parameter(p) for p in m[3].split(",")]
            self.functions[m[2]] = Function(m[2], " ".join(m[1].split()), params)
        for m in re.finditer(r"struct (\w+) \{([^{}]*)\}", text):
            self.structs[m[1]] = {f.name: f for f in self.fields(m[2])}
        for m in re.finditer(r"typedef void \(\*(\w+)\)\(([^;]*?)\);", text, re.S):
            self.callbacks[m[1]] = [parameter(p) for p in re.sub(r"\([^()]*\)\([^()]*\)", " *f", m[2]).split(",")]

        self.handles = set(re.findall(r"typedef struct (\w+) \1;", text)) - set(self.structs)

    @staticmethod
    def fields(body):
        for line in body.split(";"):
            line = " ".join(line.split())
            found = re.fullmatch(r"((?:const )?\w+)(.*)", line)
            if not found or "(" in line:
                continue
            for one in found[2].split(","):
                part = re.fullmatch(r"\s*(\**(?:const \*)?)\s*(\w+)(?:\[(\w+)\])?\s*", one)
                if part:
                    yield Field((found[1] + " " + part[1]).strip(), part[2], part[3])
