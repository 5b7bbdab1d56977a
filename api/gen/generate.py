#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what the table of Metal's API says, for those who build on it.

usage: generate.py objc INCLUDE-FOLDER OUT-FOLDER
       generate.py python OUT-FOLDER
       generate.py c [--check]

objc: OUT gets face_classes.c and face_objects.h (methods and classes), face_strings.m (constants), include/
(headers for programs) and coverage.md. A row whose C function is not there ends the build here.
python: OUT gets the enumerations and constants that pymetal's extension includes.
c: writes Apple's enumerators in include/ingot again (c.py); --check: says which headers would change, and fails.
"""
import pathlib
import sys

import c
import coverage
import python
import table
from cheaders import Headers
from objc import headers as objc
from objc.bind import Binder
from objc.classes import Classes
from objc.fill import Filler
from types_ import Types

TABLE = pathlib.Path(__file__).resolve().parents[1]


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
          f"{body}\n{classes.names()}")
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


def write_python(api, out):
    write(out / "enums.def", python.enumerations(api))
    write(out / "constants.def", python.constants(api))


def write_c(api, check):
    """1 if a header is not what the table says and only looking was asked for."""
    wrong = 0
    for path, text in c.headers(api, TABLE.parent / "include").items():
        if check and path.read_text() != text:
            print(f"{path.relative_to(TABLE.parent)}: not what the table says (run api/gen/generate.py c)")
            wrong = 1
        elif not check:
            write(path, text)
    return wrong


def main():
    api, words = table.read(TABLE), sys.argv[1:]
    if words[:1] == ["objc"] and len(words) == 3:
        return write_objc(api, words[1], pathlib.Path(words[2]))
    if words[:1] == ["python"] and len(words) == 2:
        return write_python(api, pathlib.Path(words[1]))
    if words in (["c"], ["c", "--check"]):
        return write_c(api, len(words) == 2)
    raise SystemExit(__doc__)


if __name__ == "__main__":
    sys.exit(main())
