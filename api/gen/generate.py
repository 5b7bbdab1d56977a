#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what the table of Metal's API says, for those who build on it.

usage: generate.py objc INCLUDE-FOLDER OUT-FOLDER
       generate.py python OUT-FOLDER
       generate.py swift OVERLAY-FOLDER MODULES-FOLDER OUT-FOLDER
       generate.py accessors OUT-FOLDER [--list]
       generate.py c [--check]

objc: OUT gets face_classes.c and face_objects.h (methods and classes), face_strings.m (constants), include/
(headers for programs) and coverage.md. A row whose C function is not there ends the build here.
python: OUT gets the classes, enumerations and constants of pymetal's extension.
swift: MODULES gets Metal/*.swift, simd/*.swift and CIngotMetal/calls.h, OUT calls.m, the C functions that they call (one for each
message). A member that no rule gives and that the hand-written overlay does not say it has ends the build here.
accessors: OUT gets the bodies of C's plain accessors (accessors.py); --list: prints the names of these files instead.
c: writes enumerators and declarations of accessors in include/ingot again (c.py); --check: says which headers would
change, and fails.
"""
import pathlib
import re
import sys

import accessors
import c
import coverage
import table
from cheaders import Headers
from objc import headers as objc
from objc.bind import Binder
from objc.classes import Classes
from objc.fill import Filler
from python import classes as pymetal
from python import enums
from swift import simd
from swift.calls import Calls
from swift.kinds import Kinds
from swift.module import Module
from types_ import Types

TABLE = pathlib.Path(__file__).resolve().parents[1]


def write(path, text):
    """Only if it changed: what depends on it is then built again, else not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def faces(api, include):
    types, headers = Types(api), Headers(include)
    return Classes(api, types, headers, Binder(api, types, headers), Filler(api, types, headers))


def write_objc(api, include, out):
    classes = faces(api, include)
    types = classes.types
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
    write(out / "enums.def", enums.enumerations(api))
    write(out / "constants.def", enums.constants(api))
    known = faces(api, TABLE.parent / "include")
    for name, text in pymetal.Classes(api, known.types, known.headers, known).files().items():
        write(out / name, text)


def write_swift(api, overlay, modules, out):
    types = Types(api)
    kinds = Kinds(api, types)
    calls = Calls(api, types, kinds)
    by_hand = {m[1] for path in sorted(overlay.glob("*.swift")) for m in re.finditer(r"// by hand: (.+)", path.read_text())}
    for name, text in Module(api, types, kinds, calls, by_hand).files().items():
        write(modules / "Metal" / name, text)
    write(modules / "simd/Vectors.swift", simd.vectors(objc.NOTE))
    write(modules / "simd/Matrices.swift", simd.matrices(objc.NOTE))
    write(modules / "CIngotMetal/calls.h", calls.header())
    write(out / "calls.m", calls.source())


def write_accessors(api, out, only_names):
    for name, text in accessors.Accessors(api, Types(api)).files().items():
        if only_names:
            print(out / name)
        else:
            write(out / name, text)


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
    if words[:1] == ["swift"] and len(words) == 4:
        return write_swift(api, *map(pathlib.Path, words[1:]))
    if words[:1] == ["accessors"] and words[2:] in ([], ["--list"]):
        return write_accessors(api, pathlib.Path(words[1]), len(words) == 3)
    if words in (["c"], ["c", "--check"]):
        return write_c(api, len(words) == 2)
    raise SystemExit(__doc__)


if __name__ == "__main__":
    sys.exit(main())
