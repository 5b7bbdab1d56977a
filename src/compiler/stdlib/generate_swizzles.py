#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints detail/swizzles.h: the list of swizzles of 2-, 3- and 4-component vectors.

One macro per vector width, __MSL_SWIZZLES_<N>(R, W2, W3, W4): R(count, name, alias) for a swizzle that
repeats a component and so can only be read, W<count>(components..., name, alias) for one that can
also be assigned. vec and packed_vec turn the entries into properties. After a change:

    python3 generate_swizzles.py > detail/swizzles.h
"""
import itertools

XYZW, RGBA = "xyzw", "rgba"


def entries(width):
    for count in (2, 3, 4):
        for pick in itertools.product(range(width), repeat=count):
            name = "".join(XYZW[i] for i in pick)
            alias = "".join(RGBA[i] for i in pick)
            if len(set(pick)) == count:
                yield f"W{count}({', '.join(name)}, {name}, {alias})"
            else:
                yield f"R({count}, {name}, {alias})"


def main():
    out = ["// SPDX-License-Identifier: Apache-2.0",
           "// swizzles.h: made by generate_swizzles.py; see there.", "#pragma once"]
    for width in (2, 3, 4):
        lines, line = [], "   "
        for entry in entries(width):
            if len(line) + len(entry) > 96:
                lines.append(line)
                line = "   "
            line += " " + entry
        lines.append(line)
        out.append(f"#define __MSL_SWIZZLES_{width}(R, W2, W3, W4) \\")
        out.append(" \\\n".join(lines))
    print("\n".join(out))


if __name__ == "__main__":
    main()
