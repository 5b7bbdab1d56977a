#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what the table of Metal's API says, for those who build on it.

usage: generate.py objc INCLUDE-FOLDER OUT-FOLDER

objc: OUT gets face_classes.c and face_objects.h (methods and classes), face_strings.m (constants), include/
(headers for programs) and coverage.md. A row whose C function is not there ends the build here.
"""
import pathlib
import re
import sys

import coverage
import table
from cheaders import Headers
from objc import headers as objc
from objc.bind import Binder
from objc.classes import Classes
from objc.fill import Filler
from types_ import Types

TABLE = pathlib.Path(__file__).resolve().parents[1]


def enumerators(api, include):
    """Libingot spells Apple's enumerators a second time: the compiler compares the values."""
    text = "\n".join(p.read_text() for p in sorted(pathlib.Path(include).glob("ingot/metal*.h")))
    here = set(re.findall(r"\b(MTL\w+)\s*=", text))
    rows = ""
    for e in api.enums.values():
        for name, value in e.items:
            if name in here and re.fullmatch(r"-?\d+", value):
                rows += f'_Static_assert({name} == {value}, "{name}");\n'
    return rows


def write(path, text):
    """Only if it changed: what depends on it is then built again, else not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def write_objc(api, include, out):
    types, headers = Types(api), Headers(include)
    filler = Filler(api, types, headers)
    classes = Classes(api, types, headers, Binder(api, types, headers), filler)
    body, prototypes = classes.source()
    write(out / "face_objects.h", f"{objc.NOTE}#ifndef INGOT_FACE_OBJECTS_H\n#define INGOT_FACE_OBJECTS_H\n"
          f'#include "mac/face/face.h"\n{prototypes}#endif\n')
    write(out / "face_classes.c", f'{objc.NOTE}#include "face_objects.h"\n#include <float.h>\n#include "mac/face/abi_classes.h"\n'
          f"{enumerators(api, include)}{body}\n{classes.names()}")
    write(out / "face_strings.m", objc.strings(api))
    metal = objc.Header(api, types, "Metal")
    write(out / "include/Metal/Metal.h", metal.text("INGOT_METAL_METAL_H", ["Foundation/Foundation.h", "Metal/MTLForeign.h"]))
    layer = objc.Header(api, types, "QuartzCore")
    write(out / "include/QuartzCore/CAMetalLayer.h",
          layer.text("INGOT_QUARTZCORE_CAMETALLAYER_H", ["Metal/Metal.h", "QuartzCore/CALayer.h"]))
    for header in api.headers:
        if "/" not in header:
            write(out / f"include/Metal/{header}.h", f"{objc.NOTE}#import <Metal/Metal.h>\n")
    write(out / "coverage.md", coverage.page(api, classes.report))


def main():
    if len(sys.argv) != 4 or sys.argv[1] != "objc":
        raise SystemExit(__doc__)
    write_objc(table.read(TABLE), sys.argv[2], pathlib.Path(sys.argv[3]))


if __name__ == "__main__":
    main()
