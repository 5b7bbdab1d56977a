# SPDX-License-Identifier: Apache-2.0
"""Integer functions, operators and conversions against Python's unbounded integers."""
import numpy as np
import pytest

from harness import run

TYPES = {"char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16,
         "int": np.int32, "uint": np.uint32, "long": np.int64, "ulong": np.uint64}


def limits(dtype):
    info = np.iinfo(dtype)
    return int(info.min), int(info.max), info.bits


def wrap(x, dtype):
    lo, hi, bits = limits(dtype)
    x &= (1 << bits) - 1
    return x - (1 << bits) if x > hi else x


def clamp(x, lo, hi):
    return max(lo, min(hi, x))


def values(dtype, n, seed):
    """Edge values first, then random ones of every magnitude."""
    lo, hi, bits = limits(dtype)
    edges = [0, 1, 2, 3, hi, hi - 1, lo, lo + 1, hi // 2, hi // 2 + 1, wrap(-1, dtype), 85, 7]
    rng = np.random.default_rng(seed)
    rest = [wrap(int(rng.integers(0, 2**63)) * 2 + int(rng.integers(0, 2)) >> int(rng.integers(0, 64)),
                 dtype) for _ in range(n - len(edges))]
    out = np.array(edges + rest, object)
    rng.shuffle(out)
    return out.astype(dtype)


def bits_of(x, bits):
    return x & ((1 << bits) - 1)


def reference(name, dtype, scalar):
    lo, hi, w = limits(dtype)
    shift = max(w, 32) if scalar else w  # a scalar is promoted to int before it is shifted
    mask = (1 << w) - 1
    return {
        "abs": lambda x, y, z: abs(x),
        "absdiff": lambda x, y, z: abs(x - y),
        "addsat": lambda x, y, z: clamp(x + y, lo, hi),
        "subsat": lambda x, y, z: clamp(x - y, lo, hi),
        "clamp": lambda x, y, z: min(max(x, y), z),
        "clz": lambda x, y, z: w - bits_of(x, w).bit_length(),
        "ctz": lambda x, y, z: w if x == 0 else (x & -x).bit_length() - 1,
        "popcount": lambda x, y, z: bin(bits_of(x, w)).count("1"),
        "reverse_bits": lambda x, y, z: int(format(bits_of(x, w), f"0{w}b")[::-1], 2),
        "hadd": lambda x, y, z: (x + y) >> 1,
        "rhadd": lambda x, y, z: (x + y + 1) >> 1,
        "max": lambda x, y, z: max(x, y),
        "min": lambda x, y, z: min(x, y),
        "max3": lambda x, y, z: max(x, y, z),
        "min3": lambda x, y, z: min(x, y, z),
        "median3": lambda x, y, z: sorted([x, y, z])[1],
        "mulhi": lambda x, y, z: (x * y) >> w,
        "madhi": lambda x, y, z: ((x * y) >> w) + z,
        "madsat": lambda x, y, z: clamp(x * y + z, lo, hi),
        "rotate": lambda x, y, z: (bits_of(x, w) << (y % w) | bits_of(x, w) >> (w - y % w)) & mask,
        "mul24": lambda x, y, z: x * y,
        "mad24": lambda x, y, z: x * y + z,
        "add": lambda x, y, z: x + y,
        "sub": lambda x, y, z: x - y,
        "mul": lambda x, y, z: x * y,
        "and": lambda x, y, z: x & y,
        "or": lambda x, y, z: x | y,
        "xor": lambda x, y, z: x ^ y,
        "shl": lambda x, y, z: x << (y % shift),
        "shr": lambda x, y, z: x >> (y % shift),
        "not": lambda x, y, z: ~x,
        "neg": lambda x, y, z: -x,
        "select": lambda x, y, z: y if x < z else x,
    }[name]


CALLS = {name: f"{name}(x, y)" for name in
         ("absdiff", "addsat", "subsat", "hadd", "rhadd", "max", "min", "mulhi", "rotate")}
CALLS |= {name: f"{name}(x)" for name in ("abs", "clz", "ctz", "popcount", "reverse_bits")}
CALLS |= {name: f"{name}(x, y, z)" for name in ("clamp", "max3", "min3", "median3", "madhi", "madsat")}
CALLS |= {"add": "x + y", "sub": "x - y", "mul": "x * y", "and": "x & y", "or": "x | y",
          "xor": "x ^ y", "shl": "x << y", "shr": "x >> y", "not": "~x", "neg": "-x",
          "select": "select(x, y, x < z)"}


def check(name, got, x, y, z, dtype, out_dtype, scalar, label):
    f = reference(name, dtype, scalar)
    want = np.array([wrap(f(int(a), int(b), int(c)), out_dtype) for a, b, c in zip(x, y, z)], object)
    bad = np.flatnonzero(np.array([int(g) for g in got], object) != want)
    assert bad.size == 0, (f"{label} {name}({x[bad[0]]}, {y[bad[0]]}, {z[bad[0]]}) = {got[bad[0]]}, "
                           f"not {want[bad[0]]} ({bad.size} of {len(x)} wrong)")


@pytest.mark.sample(3)
@pytest.mark.parametrize("element, count", [(e, c) for e in TYPES for c in (1, 4)]
                         + [("int", 2), ("int", 3), ("uchar", 2), ("ulong", 3)])
def test_functions(element, count):
    dtype = TYPES[element]
    unsigned = TYPES["u" + element.lstrip("u")]
    names = list(CALLS)
    if element in ("int", "uint"):
        names += ["mul24", "mad24"]
    calls = CALLS | {"mul24": "mul24(x >> 8, y >> 8)", "mad24": "mad24(x >> 8, y >> 8, z)"}
    n = 256
    x, y, z = (values(dtype, n * count, seed) for seed in (1, 2, 3))
    if count == 1:
        y[:64] = np.repeat(x[:8], 8)  # equal operands
    lo, hi = np.minimum(y, z), np.maximum(y, z)
    vector = element if count == 1 else f"vec<{element}, {count}>"
    load = (lambda p: f"{p}[i]") if count == 1 else (
        lambda p: f"{vector}(" + ", ".join(f"{p}[i * {count} + {c}]" for c in range(count)) + ")")
    body, kinds = [], []
    for index, name in enumerate(names):
        result = unsigned if name == "absdiff" else dtype
        kinds.append(result)
        typename = {v: k for k, v in TYPES.items()}[result]
        rtype = typename if count == 1 else f"vec<{typename}, {count}>"
        # clamp needs ordered bounds: y and z of the others are min and max of the inputs
        args = "x = lx, y = ly, z = lz"
        body.append(f"    {{ {vector} {args}; {rtype} r = {calls[name]};\n")
        for c in range(count):
            part = "r" if count == 1 else f"r[{c}]"
            body.append(f"      o[({index} * n + i) * {count} + {c}] = ({element}){part};\n")
        body.append("    }\n")
    source = (f"kernel void k(device const {element} *px, device const {element} *py, "
              f"device const {element} *pz, device {element} *o, uint i [[thread_position_in_grid]],"
              f" uint n [[threads_per_grid]]) {{\n"
              f"    {vector} lx = {load('px')}, ly = {load('py')}, lz = {load('pz')};\n"
              + "".join(body) + "}\n")
    for width, (out,) in run(source, [x, lo, hi], [(dtype, n * count * len(names))], n):
        out = out.reshape(len(names), n * count)
        for row, name, kind in zip(out, names, kinds):
            a, b = (x, lo) if "24" not in name else (x >> 8, lo >> 8)
            check(name, row.astype(kind), a, b, hi, dtype, kind, count == 1, f"{vector} width {width}")


@pytest.mark.parametrize("element", TYPES)
def test_bit_fields(element):
    dtype = TYPES[element]
    _, _, w = limits(dtype)
    n = 512
    x, y = values(dtype, n, 5), values(dtype, n, 6)
    rng = np.random.default_rng(7)
    offset = rng.integers(0, w, n).astype(np.uint32)
    count = np.array([rng.integers(0, w - int(o) + 1) for o in offset], np.uint32)
    offset[:4], count[:4] = [0, 0, w - 1, 3], [0, w, 1, 0]
    source = f"""kernel void k(device const {element} *x, device const {element} *y,
            device const uint *offset, device const uint *count, device {element} *a,
            device {element} *b, device {element} *c, uint i [[thread_position_in_grid]]) {{
        a[i] = extract_bits(x[i], offset[i], count[i]);
        b[i] = insert_bits(x[i], y[i], offset[i], count[i]);
        c[i] = extract_bits(vec<{element}, 3>(y[i], x[i], y[i]), offset[i], count[i]).y;
    }}"""

    def extract(v, o, k):
        field = bits_of(v, w) >> o & ((1 << k) - 1)
        signed = np.issubdtype(dtype, np.signedinteger) and k > 0 and field >> (k - 1)
        return field - (1 << k) if signed else field

    def insert(base, v, o, k):
        mask = ((1 << k) - 1) << o
        return wrap(bits_of(base, w) & ~mask | v << o & mask, dtype)

    rows = list(zip(map(int, x), map(int, y), map(int, offset), map(int, count)))
    want_a = [extract(v, o, k) for v, _, o, k in rows]
    want_b = [insert(v, u, o, k) for v, u, o, k in rows]
    for width, (a, b, c) in run(source, [x, y, offset, count], [(dtype, n)] * 3, n):
        assert [int(v) for v in a] == want_a, width
        assert [int(v) for v in b] == want_b, width
        assert [int(v) for v in c] == want_a, width


@pytest.mark.parametrize("element", TYPES)
def test_division(element):
    """Truncating division; by zero and INT_MIN / -1 nothing is promised but that the kernel goes on."""
    dtype = TYPES[element]
    lo, _, _ = limits(dtype)
    n = 512
    x, y = values(dtype, n, 8), values(dtype, n, 9)
    y[:32] = 0
    if lo:
        x[32:40], y[32:40] = lo, -1
    source = f"""kernel void k(device const {element} *x, device const {element} *y,
            device {element} *q, device {element} *r, uint i [[thread_position_in_grid]]) {{
        q[i] = x[i] / y[i];
        r[i] = (vec<{element}, 2>(x[i]) % vec<{element}, 2>(y[i])).y;
    }}"""
    for width, (q, r) in run(source, [x, y], [(dtype, n)] * 2, n):
        for a, b, quotient, rest in zip(map(int, x), map(int, y), map(int, q), map(int, r)):
            if b == 0 or (a == lo and b == -1):
                continue
            want = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            assert (quotient, rest) == (want, a - want * b), (width, a, b)


@pytest.mark.parametrize("source_type", TYPES)
def test_conversions(source_type):
    """Between integer types, to bool, and as_type."""
    dtype = TYPES[source_type]
    n = 64
    x = values(dtype, n * 4, 10)
    lines, outs = [], []
    for index, (element, kind) in enumerate(TYPES.items()):
        lines.append(f"device {element} *o{index}")
        outs.append((kind, n * 4))
    body = "".join(f"((device {e}4 *)o{k})[i] = {e}4(v);" for k, e in enumerate(TYPES))
    source = (f"kernel void k(device const {source_type}4 *x, {', '.join(lines)}, device uchar *t, "
              f"uint i [[thread_position_in_grid]]) {{ {source_type}4 v = x[i]; {body} "
              f"bool4 b = bool4(v); for (int c = 0; c < 4; c++) t[4 * i + c] = b[c]; }}")
    for width, (*made, truth) in run(source, [x], outs + [(np.uint8, n * 4)], n):
        for out, kind in zip(made, TYPES.values()):
            assert (out == x.astype(kind)).all(), (width, kind)
        assert (truth == (x != 0)).all(), width
