# SPDX-License-Identifier: Apache-2.0
"""enums.py: enumerations and option bits of pymetal, as the tables that python/pymetal_ext includes.

Names are Apple's without what all of them begin with: StorageMode.Shared. Where a digit would begin one, the last word of
the enumeration stands before it: ArgumentBuffersTier.Tier1. Those of Metal 4 keep MTL4.
"""
import re

NOTE = "// Written by api/gen/generate.py from api/*.api: do not edit.\n// clang-format off\n"


def plain_name(name):
    """As Python has it."""
    return re.sub(r"^(MTL(?!4)|CA)", "", name)


def members(e):
    prefix = e.python[e.python.index("prefix") + 1] if "prefix" in e.python else ""
    for i in e.items:
        if "objc" in i.marks or "nopython" in i.marks:
            continue
        rest = i.name[len(e.name):]
        word = prefix or (re.search(r"[A-Z][a-z]*$", e.name)[0] if rest[0].isdigit() else "")
        yield word + rest, i.name


def exported(e):
    return int(e.python[e.python.index("exported") + 1]) if "exported" in e.python else 0


def enumerations(api):
    """enums.def: ENUM(name, text, exported, members); the exported ones first, in their order."""
    out = NOTE
    some = [e for e in api.enums.values() if e.python and e.python[0] != "constants"]
    for e in sorted(some, key=lambda e: exported(e) or len(api.enums)):
        rows = "\n".join(f"    MEMBER({name}, {full})" for name, full in members(e))
        out += f'ENUM({plain_name(e.name)}, "{e.python[0]}", {"true" if exported(e) else "false"},\n{rows})\n'
    return out + "#undef ENUM\n#undef MEMBER\n"


def constants(api):
    """constants.def: CONSTANT(name, value)."""
    out = NOTE
    for e in api.enums.values():
        if "constants" not in e.python:
            continue
        without = e.python[2] if "without" in e.python else ""
        for i in e.items:
            if "objc" not in i.marks and "nopython" not in i.marks:
                name = re.sub("^MTL4?", "", i.name)
                out += f"CONSTANT({name.replace(without, '') if without else name}, {i.name})\n"
    return out + "#undef CONSTANT\n"
