#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Prints srgb_tables.h: `python3 srgb_tables.py > srgb_tables.h`. The transfer function is evaluated
# with 50 digits, so that every entry is the correctly rounded one.
import struct
from decimal import Decimal as D, getcontext

getcontext().prec = 50


def to_linear(e):
    return e / D("12.92") if e <= D("0.04045") else ((e + D("0.055")) / D("1.055")) ** D("2.4")


def bits(f):
    return struct.unpack("<I", struct.pack("<f", f))[0]


def from_bits(b):
    return struct.unpack("<f", struct.pack("<I", b))[0]


def nearest(x):  # struct rounds a double: look at the neighbours with all digits
    b = bits(float(x))
    return min((b - 1, b, b + 1) if b else (b, b + 1), key=lambda c: abs(D(from_bits(c)) - x))


def at_least(x):
    b = bits(float(x))
    while D(from_bits(b)) < x:
        b += 1
    while b and D(from_bits(b - 1)) >= x:
        b -= 1
    return b


def table(name, type_, values, per_line, form):
    print(f"static const {type_} {name}[{len(values)}] = {{")
    for i in range(0, len(values), per_line):
        print("    " + " ".join(form(v) + "," for v in values[i : i + per_line]))
    print("};")


decode = [nearest(to_linear(D(i) / 255)) for i in range(256)]
# Code i + 1 begins here. The last entry is never reached: larger than any clamped value.
steps = [at_least(to_linear((D(i) + D("0.5")) / 255)) for i in range(255)] + [bits(2.0)]
first = bits(2.0**-13)  # 12.92 * 255 * 2^-13 < 0.5: code 0
guess = []
for i in range(13 * 128 + 1):
    b = first + (i << 16)
    guess.append(sum(1 for s in steps if s <= b))
    assert sum(1 for s in steps if b < s < b + (1 << 16)) <= 1
guess += [0] * 3  # vector code reads four bytes at a time

print("// SPDX-License-Identifier: Apache-2.0")
print("// srgb_tables.h: written by srgb_tables.py. Bit patterns of floats.")
print("//   srgb_decode[code]   linear value of an 8-bit code")
print("//   srgb_step[code]     smallest linear value that is encoded as code + 1 or more")
print("//   srgb_guess[k]       code of the float with bits SRGB_FIRST + (k << 16); between two of")
print("//                       them there is at most one step")
print("// clang-format off")
print("#ifndef INGOT_CPU_SRGB_TABLES_H\n#define INGOT_CPU_SRGB_TABLES_H\n#include <stdint.h>")
print(f"#define SRGB_FIRST 0x{first:08x}u // 2^-13")
table("srgb_decode", "uint32_t", decode, 8, lambda v: f"0x{v:08x}")
table("srgb_step", "uint32_t", steps, 8, lambda v: f"0x{v:08x}")
table("srgb_guess", "uint8_t", guess, 16, str)
print("#endif")
