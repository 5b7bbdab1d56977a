# SPDX-License-Identifier: Apache-2.0
"""Compressed blocks against decoders written here from the specifications, with big integers instead of bit
readers and fractions instead of floats: every mode of every format, random contents, blocks that are not
valid. Tables are those of the specifications (ARB_texture_compression_bptc, OpenGL ES 3 appendix C,
KHR_texture_compression_astc_hdr, Khronos Data Format); what can be derived instead of copied is derived."""
import ctypes
import os
import random
import re
from fractions import Fraction as F

import numpy as np
import pytest

host = ctypes.CDLL(os.environ["INGOT_BLOCKS_HOST"])
HERE = os.path.dirname(os.path.abspath(__file__))


def decoded(pixel_format, block, texels=16):
    out = np.zeros((texels, 4), np.float32)
    assert host.host_decode_block(ctypes.c_uint32(pixel_format), bytes(block), out.ctypes.data_as(ctypes.c_void_p))
    return out


def blocks(n, size, seed):
    r = random.Random(seed)
    for _ in range(n):
        yield bytearray(r.randrange(256) for _ in range(size)), r


def linear(e):  # of a value that is not a table's
    e = float(e)
    return e / 12.92 if e <= 0.04045 else ((e + 0.055) / 1.055) ** 2.4


def rgba8(texels, srgb=False):
    return np.array([[linear(F(v, 255)) if srgb and c < 3 else v / 255 for c, v in enumerate(t)] for t in texels],
                    np.float32)


def same(got, want, exact=True):
    if exact:
        np.testing.assert_array_equal(got, want)
    else:
        np.testing.assert_allclose(got, want, rtol=2e-7, atol=1e-9)


# BC1 .. BC5

def color_block(b, four):
    c = [int.from_bytes(b[i:i + 2], "little") for i in (0, 2)]
    rgb = [(F(v >> 11, 31), F(v >> 5 & 63, 63), F(v & 31, 31)) for v in c]

    def mix(x, y):
        return tuple((x * p + y * q) / (x + y) for p, q in zip(*rgb)) + (F(1),)
    if four or c[0] > c[1]:
        palette = [mix(1, 0), mix(0, 1), mix(2, 1), mix(1, 2)]
    else:
        palette = [mix(1, 0), mix(0, 1), mix(1, 1), (F(0),) * 4]
    bits = int.from_bytes(b[4:8], "little")
    return [palette[bits >> 2 * t & 3] for t in range(16)]


def value_block(b, signed):
    def number(v):
        return F(max(v - 256 if v > 127 else v, -127), 127) if signed else F(v, 255)
    raw = [v - 256 if signed and v > 127 else v for v in b[:2]]
    x, y = number(b[0]), number(b[1])
    if raw[0] > raw[1]:
        palette = [x, y] + [((7 - i) * x + i * y) / 7 for i in range(1, 7)]
    else:
        palette = [x, y] + [((5 - i) * x + i * y) / 5 for i in range(1, 5)] + [F(-1 if signed else 0), F(1)]
    bits = int.from_bytes(b[2:8], "little")
    return [palette[bits >> 3 * t & 7] for t in range(16)]


@pytest.mark.parametrize("srgb", [0, 1])
def test_bc1_to_bc3(srgb):
    def check(pixel_format, b, texels):
        want = np.array([[linear(v) if srgb and c < 3 else float(v) for c, v in enumerate(t)] for t in texels], np.float32)
        same(decoded(pixel_format + srgb, b), want, exact=not srgb)
    for b, r in blocks(200, 16, 1):
        if r.random() < 0.2:
            b[0:2] = b[2:4]
            b[8:10] = b[10:12]
        check(130, b[:8], color_block(b, False))
        colors = color_block(b[8:], True)
        alpha = [F(int.from_bytes(b[:8], "little") >> 4 * t & 15, 15) for t in range(16)]
        check(132, b, [c[:3] + (a,) for c, a in zip(colors, alpha)])
        check(134, b, [c[:3] + (a,) for c, a in zip(colors, value_block(b, False))])


@pytest.mark.parametrize("signed", [0, 1])
def test_bc4_and_bc5(signed):
    for b, r in blocks(300, 16, 2):
        if r.random() < 0.2:
            b[0] = r.choice([0x80, 0x81, 0x7f, 0, 255])
            b[1] = r.choice([0x80, 0x81, 0x7f, 0, 255])
        red, green = value_block(b, signed), value_block(b[8:], signed)
        same(decoded(140 + signed, b[:8]), np.array([[float(v), 0, 0, 1] for v in red], np.float32))
        same(decoded(142 + signed, b), np.array([[float(v), float(w), 0, 1] for v, w in zip(red, green)], np.float32))


# BC6H and BC7. Partitions and anchors: the C file's table is the specification's; an anchor is always
# the first or a later texel of its own subset, which is checked here.

def c_table(name):
    text = open(os.path.join(HERE, "../../src/texel/bptc_tables.h")).read()
    return [int(v, 0) for v in re.search(name + r"\[64\] = \{([^}]*)\}", text).group(1).replace("\n", " ").split(",") if v.strip()]


P2, P3 = c_table("bptc_partition_2"), c_table("bptc_partition_3")
A2, A3A, A3B = c_table("bptc_anchor_2"), c_table("bptc_anchor_3a"), c_table("bptc_anchor_3b")
WEIGHTS = {n: [(64 * i + ((1 << n) - 1) // 2) // ((1 << n) - 1) for i in range(1 << n)] for n in (2, 3, 4)}


def test_bptc_tables():
    assert WEIGHTS[2] == [0, 21, 43, 64] and WEIGHTS[3] == [0, 9, 18, 27, 37, 46, 55, 64]
    assert len(set(P2)) == 64 and len(set(P3)) == 64
    for i in range(64):
        assert P2[i] & 1 == 0 and P2[i] >> A2[i] & 1 == 1
        subsets = [P3[i] >> 2 * t & 3 for t in range(16)]
        assert set(subsets) == {0, 1, 2} and subsets[0] == 0
        assert subsets[A3A[i]] == 1 and subsets[A3B[i]] == 2


def subsets_of(n, p):
    return [0 if n == 1 else P2[p] >> t & 1 if n == 2 else P3[p] >> 2 * t & 3 for t in range(16)]


def anchors_of(n, p):
    return {0} if n == 1 else {0, A2[p]} if n == 2 else {0, A3A[p], A3B[p]}


class Bits:
    def __init__(self, block):
        self.v = int.from_bytes(block, "little")

    def take(self, n):
        out = self.v & ((1 << n) - 1)
        self.v >>= n
        return out


BC7 = [(3, 4, 0, 0, 4, 0, 1, 0, 3, 0), (2, 6, 0, 0, 6, 0, 0, 1, 3, 0), (3, 6, 0, 0, 5, 0, 0, 0, 2, 0),
       (2, 6, 0, 0, 7, 0, 1, 0, 2, 0), (1, 0, 2, 1, 5, 6, 0, 0, 2, 3), (1, 0, 2, 0, 7, 8, 0, 0, 2, 2),
       (1, 0, 0, 0, 7, 7, 1, 0, 4, 0), (2, 6, 0, 0, 5, 5, 1, 0, 2, 0)]


def bc7(block):
    bits = Bits(block)
    mode = next((i for i in range(8) if block[0] >> i & 1), None)
    if mode is None:
        return [(0, 0, 0, 0)] * 16
    bits.take(mode + 1)
    ns, pb, rb, isb, cb, ab, epb, spb, ib, ib2 = BC7[mode]
    part, rot, sel = bits.take(pb), bits.take(rb), bits.take(isb)
    comps = [[bits.take(cb) for _ in range(2 * ns)] for _ in range(3)] + [[bits.take(ab) for _ in range(2 * ns)]]
    pbits = [bits.take(1) for _ in range(2 * ns)] if epb else None
    if spb:
        pbits = [b for b in [bits.take(1) for _ in range(ns)] for _ in range(2)]

    def widen(v, n, p):
        if n == 0:
            return 255
        if p is not None:
            v, n = 2 * v + p, n + 1
        text = format(v, "0%db" % n)
        return int((text * 3)[:8], 2)
    ends = [[widen(comps[c][i], cb if c < 3 else ab, pbits[i] if pbits else None) for c in range(4)] for i in range(2 * ns)]
    anchors, subsets = anchors_of(ns, part), subsets_of(ns, part)
    first = [bits.take(ib - (t in anchors)) for t in range(16)]
    second = [bits.take(ib2 - (t in anchors)) for t in range(16)] if ib2 else None
    out = []
    for t in range(16):
        w1 = WEIGHTS[ib][first[t]]
        w2 = WEIGHTS[ib2][second[t]] if ib2 else w1
        wc, wa = (w2, w1) if sel else (w1, w2)
        e0, e1 = ends[2 * subsets[t]], ends[2 * subsets[t] + 1]
        texel = [(e0[c] * (64 - w) + e1[c] * w + 32) // 64 for c, w in enumerate((wc, wc, wc, wa))]
        if rot:
            texel[3], texel[rot - 1] = texel[rot - 1], texel[3]
        out.append(tuple(texel))
    return out


def test_bc7():
    for b, r in blocks(1600, 16, 3):
        mode = r.randrange(9)
        b[0] = (b[0] >> (mode + 1) << (mode + 1) | 1 << mode) & 255 if mode < 8 else 0
        want = bc7(b)
        same(decoded(152, b), rgba8(want))
        same(decoded(153, b), rgba8(want, True), exact=False)


BC6H = {  # mode: transformed, endpoint bits, delta bits, fields as the specification writes them
    0: (1, 10, (5, 5, 5), "g2[4],b2[4],b3[4],r0[9:0],g0[9:0],b0[9:0],r1[4:0],g3[4],g2[3:0],g1[4:0],b3[0],g3[3:0],b1[4:0],"
        "b3[1],b2[3:0],r2[4:0],b3[2],r3[4:0],b3[3]"),
    1: (1, 7, (6, 6, 6), "g2[5],g3[4],g3[5],r0[6:0],b3[0],b3[1],b2[4],g0[6:0],b2[5],b3[2],g2[4],b0[6:0],b3[3],b3[5],b3[4],"
        "r1[5:0],g2[3:0],g1[5:0],g3[3:0],b1[5:0],b2[3:0],r2[5:0],r3[5:0]"),
    2: (1, 11, (5, 4, 4), "r0[9:0],g0[9:0],b0[9:0],r1[4:0],r0[10],g2[3:0],g1[3:0],g0[10],b3[0],g3[3:0],b1[3:0],b0[10],b3[1],"
        "b2[3:0],r2[4:0],b3[2],r3[4:0],b3[3]"),
    6: (1, 11, (4, 5, 4), "r0[9:0],g0[9:0],b0[9:0],r1[3:0],r0[10],g3[4],g2[3:0],g1[4:0],g0[10],g3[3:0],b1[3:0],b0[10],b3[1],"
        "b2[3:0],r2[3:0],b3[0],b3[2],r3[3:0],g2[4],b3[3]"),
    10: (1, 11, (4, 4, 5), "r0[9:0],g0[9:0],b0[9:0],r1[3:0],r0[10],b2[4],g2[3:0],g1[3:0],g0[10],b3[0],g3[3:0],b1[4:0],"
         "b0[10],b2[3:0],r2[3:0],b3[1],b3[2],r3[3:0],b3[4],b3[3]"),
    14: (1, 9, (5, 5, 5), "r0[8:0],b2[4],g0[8:0],g2[4],b0[8:0],b3[4],r1[4:0],g3[4],g2[3:0],g1[4:0],b3[0],g3[3:0],b1[4:0],"
         "b3[1],b2[3:0],r2[4:0],b3[2],r3[4:0],b3[3]"),
    18: (1, 8, (6, 5, 5), "r0[7:0],g3[4],b2[4],g0[7:0],b3[2],g2[4],b0[7:0],b3[3],b3[4],r1[5:0],g2[3:0],g1[4:0],b3[0],"
         "g3[3:0],b1[4:0],b3[1],b2[3:0],r2[5:0],r3[5:0]"),
    22: (1, 8, (5, 6, 5), "r0[7:0],b3[0],b2[4],g0[7:0],g2[5],g2[4],b0[7:0],g3[5],b3[4],r1[4:0],g3[4],g2[3:0],g1[5:0],"
         "g3[3:0],b1[4:0],b3[1],b2[3:0],r2[4:0],b3[2],r3[4:0],b3[3]"),
    26: (1, 8, (5, 5, 6), "r0[7:0],b3[1],b2[4],g0[7:0],b2[5],g2[4],b0[7:0],b3[5],b3[4],r1[4:0],g3[4],g2[3:0],g1[4:0],b3[0],"
         "g3[3:0],b1[5:0],b2[3:0],r2[4:0],b3[2],r3[4:0],b3[3]"),
    30: (0, 6, (6, 6, 6), "r0[5:0],g3[4],b3[0],b3[1],b2[4],g0[5:0],g2[5],b2[5],b3[2],g2[4],b0[5:0],g3[5],b3[3],b3[5],b3[4],"
         "r1[5:0],g2[3:0],g1[5:0],g3[3:0],b1[5:0],b2[3:0],r2[5:0],r3[5:0]"),
    3: (0, 10, (10, 10, 10), "r0[9:0],g0[9:0],b0[9:0],r1[9:0],g1[9:0],b1[9:0]"),
    7: (1, 11, (9, 9, 9), "r0[9:0],g0[9:0],b0[9:0],r1[8:0],r0[10],g1[8:0],g0[10],b1[8:0],b0[10]"),
    11: (1, 12, (8, 8, 8), "r0[9:0],g0[9:0],b0[9:0],r1[7:0],r0[10:11],g1[7:0],g0[10:11],b1[7:0],b0[10:11]"),
    15: (1, 16, (4, 4, 4), "r0[9:0],g0[9:0],b0[9:0],r1[3:0],r0[10:15],g1[3:0],g0[10:15],b1[3:0],b0[10:15]"),
}


def bc6h(block, signed):
    bits = Bits(block)
    mode = block[0] & 3 if block[0] & 3 < 2 else block[0] & 31
    if mode not in BC6H:
        return [(0, 0, 0)] * 16
    bits.take(2 if mode < 2 else 5)
    transformed, epb, deltas, fields = BC6H[mode]
    v = {c + str(i): 0 for c in "rgb" for i in range(4)}
    for name, high, low in re.findall(r"(\w\d)\[(\d+)(?::(\d+))?\]", fields):
        high, low = int(high), int(low or high)
        for bit in range(low, high + 1) if high >= low else range(low, high - 1, -1):  # the first bit is the low one
            v[name] |= bits.take(1) << bit
    two = mode not in (3, 7, 11, 15)
    part = bits.take(5) if two else 0

    def extend(x, n):
        return x - (1 << n) if x >> (n - 1) & 1 else x
    ends = []
    for c, d in zip("rgb", deltas):
        e = [v[c + "0"]] + [extend(v[c + str(i)], d) if signed or transformed else v[c + str(i)] for i in (1, 2, 3)]
        if transformed:
            e = [e[0]] + [(e[0] + x) % (1 << epb) for x in e[1:]]
            if signed:
                e = [extend(x, epb) for x in e]
        elif signed:
            e[0] = extend(e[0], epb)
        ends.append(e)

    def unquantize(x):
        if not signed:
            if epb >= 15 or x == 0:
                return x
            return 0xffff if x == (1 << epb) - 1 else ((x << 15) + 0x4000) >> (epb - 1)
        if epb >= 16:
            return x
        s, x = x < 0, abs(x)
        u = 0 if x == 0 else 0x7fff if x >= (1 << (epb - 1)) - 1 else ((x << 15) + 0x4000) >> (epb - 1)
        return -u if s else u
    ends = [[unquantize(x) for x in e] for e in ends]
    n, index_bits = (2, 3) if two else (1, 4)
    subsets, anchors, out = subsets_of(n, part), anchors_of(n, part), []
    for t in range(16):
        w = WEIGHTS[index_bits][bits.take(index_bits - (t in anchors))]
        texel = []
        for e in ends:
            x = (e[2 * subsets[t]] * (64 - w) + e[2 * subsets[t] + 1] * w + 32) >> 6
            texel.append(x * 31 // 64 if not signed else (0x8000 | (-x * 31 // 32) if x < 0 else x * 31 // 32))
        out.append(tuple(texel))
    return out


@pytest.mark.parametrize("signed", [0, 1])
def test_bc6h(signed):
    for b, r in blocks(2000, 16, 4 + signed):
        mode = r.choice(list(BC6H) + [19, 31])
        b[0] = b[0] & ~3 | mode if mode < 2 else b[0] & ~31 | mode
        want = np.ones((16, 4), np.float32)
        want[:, :3] = np.array(bc6h(b, signed), np.uint16).view(np.float16)
        same(decoded(150 if signed else 151, b), want)


# ETC2 and EAC

ETC = [(2, 8), (5, 17), (9, 29), (13, 42), (18, 60), (24, 80), (33, 106), (47, 183)]
DISTANCE = [3, 6, 11, 16, 23, 32, 41, 64]
EAC = [[-3, -6, -9, -15, 2, 5, 8, 14], [-3, -7, -10, -13, 2, 6, 9, 12], [-2, -5, -8, -13, 1, 4, 7, 12],
       [-2, -4, -6, -13, 1, 3, 5, 12], [-3, -6, -8, -12, 2, 5, 7, 11], [-3, -7, -9, -11, 2, 6, 8, 10],
       [-4, -7, -8, -11, 3, 6, 7, 10], [-3, -5, -8, -11, 2, 4, 7, 10], [-2, -6, -8, -10, 1, 5, 7, 9],
       [-2, -5, -8, -10, 1, 4, 7, 9], [-2, -4, -8, -10, 1, 3, 7, 9], [-2, -5, -7, -10, 1, 4, 6, 9],
       [-3, -4, -7, -10, 2, 3, 6, 9], [-1, -2, -3, -10, 0, 1, 2, 9], [-4, -6, -8, -9, 3, 5, 7, 8],
       [-3, -5, -7, -9, 2, 4, 6, 8]]


def clamp(v, low=0, high=255):
    return min(max(v, low), high)


def etc2(block, punch):
    text = format(int.from_bytes(block, "big"), "064b")  # text[63 - n] is bit n

    def f(high, low):
        return int(text[63 - high:64 - low], 2)

    def wide(v, n):
        s = format(v, "0%db" % n)
        return int((s * 3)[:8], 2)

    def s3(high):
        v = f(high, high - 2)
        return v - 8 if v > 3 else v
    flag = f(33, 33)
    opaque = flag or not punch
    out = [None] * 16

    def index(t):
        return f(t + 16, t + 16) * 2 + f(t, t)

    def paint(colors):
        for t in range(16):
            x, y, i = t // 4, t % 4, index(t)
            out[y * 4 + x] = (0, 0, 0, 0) if not opaque and i == 2 else tuple(clamp(c) for c in colors[i]) + (255,)

    def shifted(c, d):
        return [v + d for v in c]

    def halves(a, b):
        for t in range(16):
            x, y, i = t // 4, t % 4, index(t)
            second = (y if f(32, 32) else x) >= 2
            m = ETC[f(36, 34) if second else f(39, 37)]
            d = [m[0] if opaque else 0, m[1], -m[0], -m[1]][i]
            out[y * 4 + x] = (0, 0, 0, 0) if not opaque and i == 2 else tuple(clamp(v + d) for v in (b if second else a)) + (255,)
    if not flag and not punch:
        halves([wide(f(h, h - 3), 4) for h in (63, 55, 47)], [wide(f(h, h - 3), 4) for h in (59, 51, 43)])
        return out
    base = [f(h, h - 4) for h in (63, 55, 47)]
    sums = [b + s3(h) for b, h in zip(base, (58, 50, 42))]
    bad = next((i for i, v in enumerate(sums) if not 0 <= v <= 31), None)
    if bad is None:
        halves([wide(v, 5) for v in base], [wide(v, 5) for v in sums])
    elif bad == 0:
        a = [wide(v, 4) for v in (f(60, 59) * 4 + f(57, 56), f(55, 52), f(51, 48))]
        b = [wide(v, 4) for v in (f(47, 44), f(43, 40), f(39, 36))]
        d = DISTANCE[f(35, 34) * 2 + f(32, 32)]
        paint([a, shifted(b, d), b, shifted(b, -d)])
    elif bad == 1:
        a = [f(62, 59), f(58, 56) * 2 + f(52, 52), f(51, 51) * 8 + f(49, 47)]
        b = [f(46, 43), f(42, 39), f(38, 35)]
        d = DISTANCE[f(34, 34) * 4 + f(32, 32) * 2 + (a >= b)]
        a, b = [wide(v, 4) for v in a], [wide(v, 4) for v in b]
        paint([shifted(a, d), shifted(a, -d), shifted(b, d), shifted(b, -d)])
    else:
        o = [wide(f(62, 57), 6), wide(f(56, 56) * 64 + f(54, 49), 7), wide(f(48, 48) * 32 + f(44, 43) * 8 + f(41, 39), 6)]
        h = [wide(f(38, 34) * 2 + f(32, 32), 6), wide(f(31, 25), 7), wide(f(24, 19), 6)]
        v = [wide(f(18, 13), 6), wide(f(12, 6), 7), wide(f(5, 0), 6)]
        for t in range(16):
            x, y = t % 4, t // 4
            out[t] = tuple(clamp((x * (h[c] - o[c]) + y * (v[c] - o[c]) + 4 * o[c] + 2) >> 2) for c in range(3)) + (255,)
    return out


def eac(block, eleven, signed):
    v = int.from_bytes(block, "big")
    base, mul, table = v >> 56, v >> 52 & 15, EAC[v >> 48 & 15]
    if signed:
        base = max(base - 256 if base > 127 else base, -127)
    out = [None] * 16
    for t in range(16):
        m = table[v >> (45 - 3 * t) & 7]
        if not eleven:
            value = clamp(base + m * mul)
        else:
            value = base * 8 + (0 if signed else 4) + (m * mul * 8 if mul else m)
            value = clamp(value, -1023, 1023) if signed else clamp(value, 0, 2047)
        out[t % 4 * 4 + t // 4] = value
    return out


def test_etc2():
    for b, r in blocks(1500, 16, 6):
        if r.random() < 0.5:  # sums that leave their range: T, H and planar modes
            b[8 + r.randrange(3)] = r.choice([0x04, 0x05, 0xfb, 0xf9, 0xfa])
        color = b[8:]
        same(decoded(180, color), rgba8(etc2(color, False)))
        same(decoded(182, color), rgba8(etc2(color, True)))
        same(decoded(181, color), rgba8(etc2(color, False), True), exact=False)
        want = [t[:3] + (a,) for t, a in zip(etc2(color, False), eac(b[:8], False, False))]
        same(decoded(178, b), rgba8(want))


def test_eac():
    for b, r in blocks(400, 16, 7):
        if r.random() < 0.2:
            b[1] &= 15
            b[0] = r.choice([0, 128, 255, 127])
        for signed, top in ((0, 2047), (1, 1023)):
            red, green = eac(b[:8], True, signed), eac(b[8:], True, signed)
            same(decoded(170 + 2 * signed, b[:8]), np.array([[x / top, 0, 0, 1] for x in red], np.float32))
            same(decoded(174 + 2 * signed, b), np.array([[x / top, y / top, 0, 1] for x, y in zip(red, green)], np.float32))


# ASTC

ASTC_SIZES = [(4, 4), (5, 4), (5, 5), (6, 5), (6, 6), None, (8, 5), (8, 6), (8, 8), (10, 5), (10, 6), (10, 8), (10, 10),
              (12, 10), (12, 12)]
LEVELS = [2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256]


def split(levels):  # (bits, base of the digit)
    for base in (1, 3, 5):
        if levels % base == 0 and (levels // base & (levels // base - 1)) == 0:
            return (levels // base).bit_length() - 1, base


def cost(n, levels):
    bits, base = split(levels)
    return n * bits + {1: 0, 3: -(-8 * n // 5), 5: -(-7 * n // 3)}[base]


def trits(t):
    b = [t >> i & 1 for i in range(8)]
    if b[4] & b[3] & b[2]:
        c, t3, t4 = [b[0], b[1], b[5], b[6], b[7]], 2, 2
    else:
        c = b[:5]
        t4, t3 = (2, b[7]) if b[6] & b[5] else (b[7], b[6] * 2 + b[5])
    if c[1] & c[0]:
        return (c[3] * 2 + (c[2] & (1 - c[3])), c[4], 2, t3, t4)
    if c[3] & c[2]:
        return (c[1] * 2 + c[0], 2, 2, t3, t4)
    return (c[1] * 2 + (c[0] & (1 - c[1])), c[3] * 2 + c[2], c[4], t3, t4)


def quints(q):
    b = [q >> i & 1 for i in range(7)]
    if b[2] & b[1] and not b[6] | b[5]:
        return (4, 4, b[0] * 4 + (b[4] & (1 - b[0])) * 2 + (b[3] & (1 - b[0])))
    if b[2] & b[1]:
        q2, c = 4, [b[0], 1 - b[5], 1 - b[6], b[3], b[4]]
    else:
        q2, c = b[6] * 2 + b[5], b[:5]
    low, high = c[2] * 4 + c[1] * 2 + c[0], c[4] * 2 + c[3]
    return (high, 4, q2) if low == 5 else (low, high, q2)


def test_trits_and_quints_reach_every_combination():
    assert {trits(t) for t in range(256)} == {(a, b, c, d, e) for a in range(3) for b in range(3) for c in range(3)
                                              for d in range(3) for e in range(3)}
    assert {quints(t) for t in range(128)} == {(a, b, c) for a in range(5) for b in range(5) for c in range(5)}
    # Bits that a short sequence leaves out are zero, and so are the digits it leaves out.
    for n, width in ((1, 2), (2, 4), (3, 5), (4, 7)):
        assert {trits(t)[:n] for t in range(1 << width)} == {trits(t)[:n] for t in range(256)}
    for n, width in ((1, 3), (2, 5)):
        assert {quints(t)[:n] for t in range(1 << width)} == {quints(t)[:n] for t in range(128)}


def take_sequence(v, n, levels):  # v: bits from the first on
    bits, base = split(levels)
    group, shares = {1: (1, (0,)), 3: (5, (2, 2, 1, 2, 1)), 5: (3, (3, 2, 2))}[base]
    v &= (1 << cost(n, levels)) - 1
    out = []
    while len(out) < n:
        packed, have, low = 0, 0, []
        for share in shares:
            low.append(v & ((1 << bits) - 1))
            v >>= bits
            packed |= (v & ((1 << share) - 1)) << have
            v >>= share
            have += share
        digits = trits(packed) if base == 3 else quints(packed) if base == 5 else (0,)
        out += [(d, m) for d, m in zip(digits, low)]
    return out[:n]


def spread(levels, top):
    """Unquantised values by (digit, bits). The specification gives formulas; what they amount to is this: the
    lowest bit mirrors (v and top - v), and the other values of even codes are spread evenly."""
    bits, base = split(levels)
    b_terms = {(3, 1): "", (3, 2): "b000b0bb0", (3, 3): "cb000cbcb", (3, 4): "dcb000dcb", (3, 5): "edcb000ed", (3, 6): "fedcb000f",
               (5, 1): "", (5, 2): "b0000bb00", (5, 3): "cb0000cbc", (5, 4): "dcb0000dc", (5, 5): "edcb0000e"} if top == 255 else \
              {(3, 1): "", (3, 2): "b000b0b", (3, 3): "cb000cb", (5, 1): "", (5, 2): "b0000b0"}
    c_terms = {(3, 1): 204, (3, 2): 93, (3, 3): 44, (3, 4): 22, (3, 5): 11, (3, 6): 5, (5, 1): 113, (5, 2): 54, (5, 3): 26,
               (5, 4): 13, (5, 5): 6} if top == 255 else {(3, 1): 50, (3, 2): 23, (3, 3): 11, (5, 1): 28, (5, 2): 13}
    width = 8 if top == 255 else 6
    table = {}
    for d in range(base):
        for m in range(1 << bits):
            if base == 1:
                table[d, m] = int((format(m, "0%db" % bits) * 8)[:width], 2)
                continue
            if bits == 0:
                table[d, m] = {3: [0, 32, 63], 5: [0, 16, 32, 47, 63]}[base][d]
                continue
            b = 0
            for ch in b_terms[base, bits]:
                b = b * 2 + (0 if ch == "0" else m >> (ord(ch) - 97) & 1)
            t = d * c_terms[base, bits] + b
            ones = (1 << (width + 1)) - 1
            table[d, m] = ((t ^ ones) >> 2) | (1 << (width - 1)) if m & 1 else t >> 2
    return table


@pytest.mark.parametrize("top", [255, 63])
def test_unquantised_values_are_spread_evenly(top):
    for levels in LEVELS[4 if top == 255 else 0:21 if top == 255 else 12]:
        values = sorted(spread(levels, top).values())
        assert len(set(values)) == levels and values[0] == 0 and values[-1] == top
        if (levels, top) != (5, 63) and (levels, top) != (3, 63):
            assert values == [top - v for v in reversed(values)]
        for i, v in enumerate(values):
            assert abs(v - top * i / (levels - 1)) <= (2 if top == 255 else 1)


def grid(mode):
    """Width, height, levels, dual plane of the weights; None: reserved."""
    bit = [mode >> i & 1 for i in range(11)]
    a, b = bit[5] + 2 * bit[6], bit[7] + 2 * bit[8]
    high, dual = bit[9], bit[10]
    if bit[0] | bit[1]:
        r = bit[4] + 2 * bit[0] + 4 * bit[1]
        kind = bit[2] + 2 * bit[3]
        w, h = [(b + 4, a + 2), (b + 8, a + 2), (a + 2, b + 8), (bit[7] + 2, a + 2) if bit[8] else (a + 2, bit[7] + 6)][kind]
    else:
        r = bit[4] + 2 * bit[2] + 4 * bit[3]
        if b == 2:
            w, h, high, dual = a + 6, bit[9] + 2 * bit[10] + 6, 0, 0
        elif b == 3:
            if a > 1:
                return None
            w, h = [(6, 10), (10, 6)][a]
        else:
            w, h = [(12, a + 2), (a + 2, 12)][b]
    if r < 2:
        return None
    return w, h, [[2, 3, 4, 5, 6, 8], [10, 12, 16, 20, 24, 32]][high][r - 2], dual


def partition(seed, n, x, y, small):
    if n == 1:
        return 0
    if small:
        x, y = 2 * x, 2 * y
    seed += (n - 1) * 1024
    p = seed
    M = 0xffffffff
    p ^= p >> 15
    p = (p - (p << 17)) & M
    p = (p + (p << 7)) & M
    p = (p + (p << 4)) & M
    p ^= p >> 5
    p = (p + (p << 16)) & M
    p ^= p >> 7
    p ^= p >> 3
    p = (p ^ (p << 6)) & M
    p ^= p >> 17
    s = [(p >> 4 * i & 15) ** 2 for i in range(8)]
    if seed & 1:
        sh1, sh2 = (4 if seed & 2 else 5), (6 if n == 3 else 5)
    else:
        sh1, sh2 = (6 if n == 3 else 5), (4 if seed & 2 else 5)
    s = [v >> (sh2 if i % 2 else sh1) for i, v in enumerate(s)]
    score = [(s[2 * i] * x + s[2 * i + 1] * y + (p >> (14 - 4 * i))) & 63 for i in range(n)]
    return max(range(n), key=lambda i: (score[i], -i))


def astc_ends(mode, v):
    def contract(c):
        return [(c[0] + c[2]) >> 1, (c[1] + c[2]) >> 1, c[2], c[3]]

    def signed_pair(base, offset):
        base = base >> 1 | offset & 128
        offset = offset >> 1 & 63
        return base, offset - 64 if offset & 32 else offset
    if mode == 0:
        e = [v[0]] * 3 + [255], [v[1]] * 3 + [255]
    elif mode == 1:
        low = v[0] >> 2 | v[1] & 192
        e = [low] * 3 + [255], [min(low + (v[1] & 63), 255)] * 3 + [255]
    elif mode == 4:
        e = [v[0]] * 3 + [v[2]], [v[1]] * 3 + [v[3]]
    elif mode == 5:
        (l, dl), (a, da) = signed_pair(v[0], v[1]), signed_pair(v[2], v[3])
        e = [l] * 3 + [a], [l + dl] * 3 + [a + da]
    elif mode in (6, 10):
        a0, a1 = (v[4], v[5]) if mode == 10 else (255, 255)
        e = [c * v[3] >> 8 for c in v[:3]] + [a0], v[:3] + [a1]
    elif mode in (8, 12):
        a0, a1 = (v[6], v[7]) if mode == 12 else (255, 255)
        low, high = [v[0], v[2], v[4], a0], [v[1], v[3], v[5], a1]
        e = (low, high) if sum(high[:3]) >= sum(low[:3]) else (contract(high), contract(low))
    elif mode in (9, 13):
        pairs = [signed_pair(v[i], v[i + 1]) for i in range(0, len(v), 2)]
        if mode == 9:
            pairs.append((255, 0))
        low, high = [b for b, _ in pairs], [b + o for b, o in pairs]
        e = (low, high) if sum(o for _, o in pairs[:3]) >= 0 else (contract(high), contract(low))
    else:
        e = [255, 0, 255, 255], [255, 0, 255, 255]
    return [[clamp(c) for c in end] for end in e]


def astc_hdr_ends(mode, v):
    """As the specification's code has them, by masks of modes: what the C file's tables must agree with."""
    def top(c):
        return min(max(c, 0), 0xfff)

    def swapped(c, major):
        c = list(c)
        c[0], c[major] = c[major], c[0]
        return c
    if mode == 2:
        low, high = (v[0] << 4, v[1] << 4) if v[1] >= v[0] else ((v[1] << 4) + 8, (v[0] << 4) - 8)
        return [low] * 3 + [0x780], [high] * 3 + [0x780]
    if mode == 3:
        if v[0] & 0x80:
            low, d = (v[1] & 0xe0) << 4 | (v[0] & 0x7f) << 2, (v[1] & 0x1f) << 2
        else:
            low, d = (v[1] & 0xf0) << 4 | (v[0] & 0x7f) << 1, (v[1] & 0x0f) << 1
        return [low] * 3 + [0x780], [top(low + d)] * 3 + [0x780]
    if mode == 7:
        bits = (v[0] & 0xc0) >> 6 | (v[1] & 0x80) >> 5 | (v[2] & 0x80) >> 4
        major, which = (bits >> 2, bits & 3) if bits & 12 != 12 else (bits & 3, 4) if bits != 15 else (0, 5)
        red, green, blue, scale = v[0] & 0x3f, v[1] & 0x1f, v[2] & 0x1f, v[3] & 0x1f
        x = [v[1] >> 6 & 1, v[1] >> 5 & 1, v[2] >> 6 & 1, v[2] >> 5 & 1, v[3] >> 7 & 1, v[3] >> 6 & 1, v[3] >> 5 & 1]

        def has(mask, i, bit):
            return x[i] << bit if mask >> which & 1 else 0
        green |= has(0x30, 0, 6) | has(0x3a, 1, 5)
        blue |= has(0x30, 2, 6) | has(0x3a, 3, 5)
        scale |= has(0x3d, 6, 5) | has(0x2d, 5, 6) | has(0x04, 4, 7)
        red |= (has(0x3b, 4, 6) | has(0x04, 3, 6) | has(0x10, 5, 7) | has(0x0f, 2, 7) | has(0x05, 1, 8) |
                has(0x0a, 0, 8) | has(0x05, 0, 9) | has(0x02, 6, 9) | has(0x01, 3, 10) | has(0x02, 5, 10))
        red, green, blue, scale = [c << (1, 1, 2, 3, 4, 5)[which] for c in (red, green, blue, scale)]
        if which != 5:
            green, blue = red - green, red - blue
        high = swapped((red, green, blue), major)
        return [top(c - scale) for c in high] + [0x780], [top(c) for c in high] + [0x780]
    major = (v[4] & 0x80) >> 7 | (v[5] & 0x80) >> 6
    if major == 3:
        low, high = [v[0] << 4, v[2] << 4, (v[4] & 0x7f) << 5], [v[1] << 4, v[3] << 4, (v[5] & 0x7f) << 5]
    else:
        which = (v[1] & 0x80) >> 7 | (v[2] & 0x80) >> 6 | (v[3] & 0x80) >> 5
        x = [v[2] >> 6 & 1, v[3] >> 6 & 1, v[4] >> 6 & 1, v[5] >> 6 & 1, v[4] >> 5 & 1, v[5] >> 5 & 1]

        def has(mask, i, bit):
            return x[i] << bit if mask >> which & 1 else 0
        n = (7, 6, 7, 6, 5, 6, 5, 6)[which]
        d = [(c & ((1 << n) - 1)) - ((c >> (n - 1) & 1) << n) for c in v[4:6]]
        a = v[0] | (v[1] & 0x40) << 2 | has(0xa4, 0, 9) | has(0x08, 2, 9) | has(0x50, 4, 9) | has(0x50, 5, 10)
        a |= has(0xa0, 1, 10) | has(0xc0, 2, 11)
        c = v[1] & 0x3f | has(0x04, 1, 6) | has(0xe8, 3, 6) | has(0x20, 2, 7)
        b = v[2] & 0x3f | has(0x5b, 0, 6) | has(0x12, 2, 7), v[3] & 0x3f | has(0x5b, 1, 6) | has(0x12, 3, 7)
        s = 1 << ((which >> 1) ^ 3)
        high = [top(a * s), top((a - b[0]) * s), top((a - b[1]) * s)]
        low = [top((a - c) * s), top((a - b[0] - c - d[0]) * s), top((a - b[1] - c - d[1]) * s)]
        low, high = swapped(low, major), swapped(high, major)
    if mode == 11:
        return low + [0x780], high + [0x780]
    if mode == 14:
        return low + [v[6]], high + [v[7]]
    which, a0, a1 = v[6] >> 7 | v[7] >> 6 & 2, v[6] & 0x7f, v[7] & 0x7f
    if which == 3:
        return low + [a0 << 5], high + [a1 << 5]
    a0 |= (a1 << (which + 1)) & 0x780
    a1 = ((a1 & (0x3f >> which)) ^ (0x20 >> which)) - (0x20 >> which)
    return low + [a0 << (4 - which)], high + [top((a0 + a1) << (4 - which))]


def astc(block, bw, bh, srgb, hdr=False):
    """16-bit values of every texel; None: not a valid block."""
    v = int.from_bytes(block, "little")
    if v & 0x1ff == 0x1fc:
        extent = [v >> (12 + 13 * i) & 8191 for i in range(4)]
        ok = v >> 9 & 1 <= hdr and v >> 10 & 3 == 3 and (extent == [8191] * 4 or (extent[0] < extent[1] and extent[2] < extent[3]))
        half = "half" if v >> 9 & 1 else None
        color = [v >> (64 + 16 * c) & 65535 for c in range(4)]
        return [[(half, c) for c in color] if half else color] * (bw * bh) if ok else None
    g = grid(v & 2047)
    if not g:
        return None
    gw, gh, levels, dual = g
    n_weights = gw * gh * (2 if dual else 1)
    wbits = cost(n_weights, levels)
    n = (v >> 11 & 3) + 1
    if gw > bw or gh > bh or n_weights > 64 or not 24 <= wbits <= 96 or (dual and n == 4):
        return None
    end = 128 - wbits
    if n == 1:
        modes, at, seed = [v >> 13 & 15], 17, 0
    else:
        seed, at = v >> 13 & 1023, 29
        if v >> 23 & 3 == 0:
            modes = [v >> 25 & 15] * n
        else:
            extra = 3 * n - 4
            end -= extra
            stream = (v >> 25 & 15) | (v >> end & ((1 << extra) - 1)) << 4
            classes = [(v >> 23 & 3) - 1 + (stream >> i & 1) for i in range(n)]
            modes = [4 * c + (stream >> (n + 2 * i) & 3) for i, c in enumerate(classes)]
    plane = None
    if dual:
        end -= 2
        plane = v >> end & 3
    counts = [2 * (m // 4 + 1) for m in modes]
    total = sum(counts)
    fits = [l for l in LEVELS[4:] if cost(total, l) <= end - at] if end >= at else []
    if total > 18 or not fits:
        return None
    table = spread(fits[-1], 255)
    values = [table[p] for p in take_sequence(v >> at, total, fits[-1])]
    ends, kinds, used = [], [], 0
    for m, c in zip(modes, counts):
        wide = 0 if not hdr or m not in (2, 3, 7, 11, 14, 15) else 7 if m == 14 else 15
        kinds.append(wide)
        ends.append((astc_hdr_ends if wide else astc_ends)(m, values[used:used + c]))
        used += c
    backwards = int(format(v, "0128b")[::-1], 2)
    table = spread(levels, 63)
    weights = [table[p] for p in take_sequence(backwards, n_weights, levels)]
    weights = [w + (w > 32) for w in weights]
    out = []
    for y in range(bh):
        for x in range(bw):
            gs = ((1024 + bw // 2) // (bw - 1) * x * (gw - 1) + 32) >> 6
            gt = ((1024 + bh // 2) // (bh - 1) * y * (gh - 1) + 32) >> 6
            fs, ft = gs % 16, gt % 16
            w11 = (fs * ft + 8) >> 4
            corners = [(0, 0, 16 - fs - ft + w11), (1, 0, fs - w11), (0, 1, ft - w11), (1, 1, w11)]

            def weight(p):
                total = 8
                for i, j, w in corners:
                    if w:
                        k = gs // 16 + i + (gt // 16 + j) * gw
                        total += w * weights[k * (2 if dual else 1) + p]
                return total >> 4
            which = partition(seed, n, x, y, bw * bh < 31)
            e = ends[which]
            texel = []
            for c in range(4):
                w = weight(1 if plane == c else 0)
                low, high = [(q[c] << 8 | 128) if srgb and c < 3 else q[c] * 257 for q in e]
                if kinds[which] >> c & 1:
                    texel.append(("wide", ((e[0][c] << 4) * (64 - w) + (e[1][c] << 4) * w + 32) >> 6))
                else:
                    texel.append((low * (64 - w) + high * w + 32) >> 6)
            out.append(texel)
    return out


def half_float(bits):
    return float(np.array([bits], np.uint16).view(np.float16)[0])


def toward_zero(v):
    if isinstance(v, tuple) and v[0] == "half":
        return half_float(v[1])
    if isinstance(v, tuple):
        e, m = v[1] >> 11, v[1] & 0x7ff
        m = 3 * m if m < 512 else 4 * m - 512 if m < 1536 else 5 * m - 2048
        return half_float(min(e << 10 | m >> 3, 0x7bff))
    if v == 65535:
        return 1.0
    f = np.float16(v / 65536)
    return float(np.nextafter(f, np.float16(0)) if float(f) > v / 65536 else f)


def astc_expected(texels, n, srgb):
    if texels is None:
        return np.array([[1, 0, 1, 1]] * n, np.float32)
    return np.array([[linear(F(v >> 8, 255)) if srgb and c < 3 else toward_zero(v) for c, v in enumerate(t)] for t in texels],
                    np.float32)


@pytest.mark.parametrize("size", [s for s in ASTC_SIZES if s], ids=lambda s: "%dx%d" % s)
def test_astc(size):
    bw, bh = size
    at, r = ASTC_SIZES.index(size), random.Random(bw * 100 + bh)
    seen, valid = set(), 0
    while valid < 120:
        block = bytearray(r.randrange(256) for _ in range(16))
        if valid % 16 == 15:
            block[0], block[1] = 0xfc, r.choice([0x0d, 0xfd])
            if r.random() < 0.7:
                block[1:8] = b"\xfd" + b"\xff" * 6
        else:
            v = int.from_bytes(block, "little")
            parts = r.choice([0, 0, 1, 2, 3])
            v = v & ~(3 << 11) | parts << 11
            if parts == 0:
                v = v & ~(15 << 13) | valid % 16 << 13
            block = bytearray(v.to_bytes(16, "little"))
        texels = astc(block, bw, bh, False)
        same(decoded(204 + at, block, bw * bh), astc_expected(texels, bw * bh, False))
        same(decoded(186 + at, block, bw * bh), astc_expected(astc(block, bw, bh, True), bw * bh, True), exact=False)
        same(decoded(222 + at, block, bw * bh), astc_expected(astc(block, bw, bh, False, True), bw * bh, False))
        if texels is not None:
            valid += 1
            seen.add(grid(int.from_bytes(block[:2], "little") & 2047))
    assert len(seen) > 10


# PVRTC: whole levels, since blocks need their neighbours. Here the two pictures are made first, in
# fractions, then the picture of what is stored of the mixtures, then the texels.

def pvrtc_colors(word):
    def widen(v, n):  # to 5 bits
        return int((format(v, f"0{n}b") * 2)[:5], 2)
    a, b = word & 0xfffe, word >> 16
    out = []
    for v, low in ((a, 1), (b, 0)):
        if v >> 15:
            blue = widen((v & 31) >> low, 5 - low)
            out.append((v >> 10 & 31, v >> 5 & 31, blue, 15))
        else:
            blue = widen((v & 15) >> low, 4 - low)
            out.append((widen(v >> 8 & 15, 4), widen(v >> 4 & 15, 4), blue, (v >> 12 & 7) * 2))
    return out


def pvrtc_pictures(words, columns, rows, bw):
    """(y, x) -> colours of A and of B in 8 bits."""
    colors = [[pvrtc_colors(words[y][x][1]) for x in range(columns)] for y in range(rows)]
    pictures = {}
    for y in range(rows * 4):
        for x in range(columns * bw):
            px, py = F(x, bw) - F(1, 2), F(y, 4) - F(1, 2)  # in blocks, from the middle of the first
            cx, cy = px // 1, py // 1
            u, v = px - cx, py - cy
            both = []
            for k in range(2):
                def corner(dx, dy):
                    return colors[(cy + dy) % rows][(cx + dx) % columns][k]
                mix = [(1 - v) * ((1 - u) * p + u * q) + v * ((1 - u) * r + u * s) for p, q, r, s in
                       zip(corner(0, 0), corner(1, 0), corner(0, 1), corner(1, 1))]
                both.append([int(m * 8 // 1 + m / 4 // 1) for m in mix[:3]] + [int(mix[3] * 16 // 1 + mix[3] // 1)])
            pictures[y, x] = both
    return pictures


def pvrtc_mixtures(words, columns, rows, bw):
    """(y, x) -> eighths of B, is it a hole."""
    height, width, known, ways = rows * 4, columns * bw, {}, {}
    for by in range(rows):
        for bx in range(columns):
            bits, word = words[by][bx]
            places = [(by * 4 + y, bx * bw + x) for y in range(4) for x in range(bw)]
            if bw == 4:
                table = [(0, 0), (4, 0), (4, 1), (8, 0)] if word & 1 else [(0, 0), (3, 0), (5, 0), (8, 0)]
                known.update((p, table[bits >> 2 * i & 3]) for i, p in enumerate(places))
            elif not word & 1:
                known.update((p, (8 * (bits >> i & 1), 0)) for i, p in enumerate(places))
            else:
                way = "both" if not bits & 1 else "down" if bits >> 20 & 1 else "across"
                pairs = [bits >> 2 * i & 3 for i in range(16)]
                for i in (0,) if way == "both" else (0, 10):
                    pairs[i] = pairs[i] >> 1 and 3
                for i, p in enumerate(q for q in places if sum(q) % 2 == 0):
                    known[p] = ([0, 3, 5, 8][pairs[i]], 0)
                ways.update((q, way) for q in places if sum(q) % 2)
    out = dict(known)
    for (y, x), way in ways.items():
        near = {"across": [(0, -1), (0, 1)], "down": [(-1, 0), (1, 0)]}
        near["both"] = near["across"] + near["down"]
        values = [known[(y + dy) % height, (x + dx) % width][0] for dy, dx in near[way]]
        out[y, x] = ((2 * sum(values) + len(values)) // (2 * len(values)), 0)
    return out


def pvrtc(data, size, bw, alpha):
    columns, rows = max(2, size // bw), max(2, size // 4)
    words = [[tuple(int.from_bytes(data[(y * columns + x) * 8 + k:][:4], "little") for k in (0, 4))
              for x in range(columns)] for y in range(rows)]
    pictures = pvrtc_pictures(words, columns, rows, bw)
    mixtures = pvrtc_mixtures(words, columns, rows, bw)
    texels = []
    for y in range(size):
        for x in range(size):
            (a, b), (m, hole) = pictures[y, x], mixtures[y, x]
            rgba = [(p * (8 - m) + q * m) // 8 for p, q in zip(a, b)]
            texels.append(rgba[:3] + [255 if not alpha else 0 if hole else rgba[3]])
    return texels


def pvrtc_data(size, bw, r):
    data = bytearray(r.randbytes(max(2, size // bw) * max(2, size // 4) * 8))
    for i in range(0, len(data), 8):  # the modes of 2 bits hang on three bits: each as often as the others
        way = r.randrange(4)
        data[i + 4] = data[i + 4] & 0xfe | (way > 0)
        data[i] = data[i] & 0xfe | (way > 1)
        if way > 1:
            data[i + 2] = data[i + 2] & 0xef | (way > 2) << 4
    return bytes(data)


@pytest.mark.parametrize("pixel_format", range(160, 168))
def test_pvrtc(pixel_format):
    bw, alpha, srgb = 4 if pixel_format & 2 else 8, pixel_format >= 164, pixel_format & 1
    r = random.Random(pixel_format)
    for size, level in [(32, 0), (16, 0), (16, 1), (8, 0), (8, 1), (4, 0), (2, 1), (1, 0)]:
        at = size >> level
        data = pvrtc_data(at, bw, r)
        out = np.zeros((at * at, 4), np.float32)
        assert host.host_decode_level(pixel_format, size, level, len(data), data, out.ctypes.data_as(ctypes.c_void_p))
        same(out, rgba8(pvrtc(data, at, bw, alpha), srgb), exact=not srgb)
    assert not host.host_decode_level(pixel_format, 24, 0, 0, b"", None)
    assert not host.host_decode_block(pixel_format, bytes(8), None)


def test_pvrtc_by_hand():
    """A is opaque red, B opaque blue, the first block's texels go from one to the other; then a hole."""
    def level(pixel_format, mixtures, word, size=8):
        data = b"".join((mixtures if i == 0 else 0).to_bytes(4, "little") + word.to_bytes(4, "little") for i in range(4))
        out = np.zeros((size * size, 4), np.float32)
        assert host.host_decode_level(pixel_format, size, 0, 32, data, out.ctypes.data_as(ctypes.c_void_p))
        return (out * 255).round().astype(int).tolist()
    red_blue = 0x801ffc00
    assert level(166, 0b11100100, red_blue)[:5] == [[255, 0, 0, 255], [159, 0, 95, 255], [95, 0, 159, 255],
                                                    [0, 0, 255, 255], [255, 0, 0, 255]]
    assert level(166, 0b11100100, red_blue | 1)[:4] == [[255, 0, 0, 255], [127, 0, 127, 255], [127, 0, 127, 0],
                                                        [0, 0, 255, 255]]
    assert level(162, 0b11100100, red_blue | 1)[2] == [127, 0, 127, 255]
    assert level(164, 0b10, red_blue)[:3] == [[255, 0, 0, 255], [0, 0, 255, 255], [255, 0, 0, 255]]
