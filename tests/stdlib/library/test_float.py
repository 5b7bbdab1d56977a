# SPDX-License-Identifier: Apache-2.0
"""Common, relational and geometric functions, conversions, packing and matrices against NumPy."""
import numpy as np
import pytest

from harness import run

FLOATS = {"half": (np.float16, np.uint16, 10), "float": (np.float32, np.uint32, 23)}
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 1.5, 2.5, 3.5, np.inf, -np.inf, np.nan, 65504.0,
         6.1035156e-05, 5.9604645e-08, -5.9604645e-08, 1e-40, -1e-40, 3e38, 0.25, 100.0, -7.75]


def values(dtype, n, seed, low=-4.0, high=4.0, edges=True):
    rng = np.random.default_rng(seed)
    with np.errstate(over="ignore"):
        out = np.concatenate([np.array(EDGES if edges else [], np.float64),
                              rng.uniform(low, high, n)])[:n].astype(dtype)
    rng.shuffle(out)
    return out


def same(a, b):
    """Equal, or both NaN; -0 and +0 count as equal."""
    return (a == b) | (np.isnan(a) & np.isnan(b))


def pieces(element, count, pointer):
    if count == 1:
        return f"{pointer}[i]"
    return (f"vec<{element}, {count}>("
            + ", ".join(f"{pointer}[i * {count} + {c}]" for c in range(count)) + ")")


def evaluate(element, count, expressions, inputs, out_dtype, out_type, options=()):
    """Runs expressions of x, y, z; yields a row per expression. A flag (bool) comes back as 0 or 1."""
    n = len(inputs[0]) // count
    vector = element if count == 1 else f"vec<{element}, {count}>"
    body = ""
    for row, expression in enumerate(expressions):
        for c in range(count):
            part = f"({expression})" + ("" if count == 1 else f"[{c}]")
            body += f"    o[({row} * n + i) * {count} + {c}] = {out_type}({part});\n"
    names = "xyz"[:len(inputs)]
    source = ("kernel void k(" + ", ".join(f"device const {element} *p{v}" for v in names)
              + f", device {out_type} *o, uint i [[thread_position_in_grid]], "
              f"uint n [[threads_per_grid]]) {{\n"
              + "".join(f"    {vector} {v} = {pieces(element, count, 'p' + v)};\n" for v in names)
              + body + "}\n")
    for width, (out,) in run(source, inputs, [(out_dtype, n * count * len(expressions))], n,
                             options=options):
        yield width, out.reshape(len(expressions), -1)


@pytest.mark.sample(3)
@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("mode", ["fast", "safe"])
def test_relational(element, count, mode):
    dtype, bits, mantissa = FLOATS[element]
    n = 192
    x, y = values(dtype, n * count, 1), values(dtype, n * count, 2)
    raw = x.view(bits)
    exponent = (raw >> mantissa) & ((1 << (np.dtype(dtype).itemsize * 8 - 1 - mantissa)) - 1)
    top = (1 << (np.dtype(dtype).itemsize * 8 - 1 - mantissa)) - 1
    fraction = raw & ((1 << mantissa) - 1)
    want = {
        "isnan(x)": (exponent == top) & (fraction != 0),
        "isinf(x)": (exponent == top) & (fraction == 0),
        "isfinite(x)": exponent != top,
        "isnormal(x)": (exponent != top) & (exponent != 0),
        "signbit(x)": (raw >> (np.dtype(dtype).itemsize * 8 - 1)) == 1,
        "isordered(x, y)": ~(np.isnan(x) | np.isnan(y)),
        "isunordered(x, y)": np.isnan(x) | np.isnan(y),
    }
    if mode == "safe":  # fast maths may assume that no operand is NaN
        want |= {"x < y": x < y, "x >= y": x >= y, "x == y": x == y, "x != y": x != y}
    for width, rows in evaluate(element, count, list(want), [x, y], np.uint8, "uchar",
                                [f"--math={mode}"]):
        for row, (name, expected) in zip(rows, want.items()):
            bad = np.flatnonzero(row != expected)
            assert bad.size == 0, (width, name, x[bad[0]], y[bad[0]], row[bad[0]])


@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_common(element, count):
    dtype, _, _ = FLOATS[element]
    n = 192
    x = values(dtype, n * count, 3)
    lo = values(dtype, n * count, 4, -2, 0, edges=False)
    hi = values(dtype, n * count, 5, 0.5, 2, edges=False)
    f = x.astype(np.float64)
    sign = np.where(np.isnan(x), 0.0, np.sign(f))
    with np.errstate(invalid="ignore"):
        exact = {
            "clamp(x, y, z)": np.where(np.isnan(x), lo, np.clip(x, lo, hi)),
            "saturate(x)": np.where(np.isnan(x), 0, np.clip(x, 0, 1)).astype(dtype),
            "sign(x)": sign.astype(dtype),
            "step(y, x)": np.where(x < lo, 0, 1).astype(dtype),
            "select(x, y, z > 1)": np.where(hi > 1, lo, x),
        }
        t = np.clip((f - lo) / (hi.astype(np.float64) - lo), 0, 1)
        near = {
            "smoothstep(y, z, x)": np.where(np.isnan(x), np.nan, t * t * (3 - 2 * t)),
            "mix(y, z, saturate(x))": lo + (hi.astype(np.float64) - lo) * exact["saturate(x)"],
        }
    tolerance = 4e-3 if element == "half" else 1e-6
    for width, rows in evaluate(element, count, [*exact, *near], [x, lo, hi], dtype, element,
                                ["--math=safe"]):
        for row, (name, want) in zip(rows, (exact | near).items()):
            ok = same(row, want) if name in exact else (
                np.isnan(want) | (np.abs(row - want) <= tolerance))
            bad = np.flatnonzero(~ok)
            assert bad.size == 0, (width, name, x[bad[0]], lo[bad[0]], hi[bad[0]], row[bad[0]])


def test_sign_of_zero():
    x = np.array([0.0, -0.0] * 32, np.float32)
    for width, (row,) in evaluate("float", 1, ["sign(x)"], [x], np.float32, "float",
                                  ["--math=safe"]):
        assert (row.view(np.uint32) == x.view(np.uint32)).all(), width


@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize("count", [2, 3, 4])
def test_geometric(element, count):
    dtype, _, _ = FLOATS[element]
    n = 128
    a, b, c = (values(dtype, n * count, seed, -2, 2, edges=False) for seed in (6, 7, 8))
    x, y, z = (v.astype(np.float64).reshape(n, count) for v in (a, b, c))
    dot = (x * y).sum(1)
    unit = y / np.linalg.norm(y, axis=1, keepdims=True)
    eta = 0.75
    cosine = (unit * x).sum(1, keepdims=True)
    k = 1 - eta * eta * (1 - cosine * cosine)
    want = {
        "dot(x, y)": dot,
        "length(x)": np.linalg.norm(x, axis=1),
        "length_squared(x)": (x * x).sum(1),
        "distance(x, y)": np.linalg.norm(x - y, axis=1),
        "distance_squared(x, y)": ((x - y) ** 2).sum(1),
        "normalize(x)": x / np.linalg.norm(x, axis=1, keepdims=True),
        "reflect(x, y)": x - 2 * (x * y).sum(1, keepdims=True) * y,
        "faceforward(x, y, z)": np.where((z * y).sum(1, keepdims=True) < 0, x, -x),
        "refract(x, normalize(y), (E)0.75)":
            np.where(k < 0, 0, eta * x - (eta * cosine + np.sqrt(np.maximum(k, 0))) * unit),
    }
    if element == "float":
        want |= {"fast::length(x)": want["length(x)"], "precise::normalize(x)": want["normalize(x)"],
                 "fast::distance(x, y)": want["distance(x, y)"]}
    if count == 3:
        want["cross(x, y)"] = np.cross(x, y)
    calls = [f"vec<{element}, {count}>({e})".replace("(E)", f"({element})") for e in want]
    tolerance = 0.06 if element == "half" else 2e-5
    near_edge = np.abs(k[:, 0]) < 0.05  # total reflection starts here: either side is right
    for width, rows in evaluate(element, count, calls, [a, b, c], dtype, element):
        for row, (name, expected) in zip(rows, want.items()):
            got = row.astype(np.float64).reshape(n, count)
            expected = expected[:, None] if expected.ndim == 1 else expected
            bad = (np.abs(got - expected) > tolerance).any(1)
            if name.startswith("refract"):
                bad &= ~near_edge
            if name.startswith("faceforward"):
                bad &= np.abs((z * y).sum(1)) > 0.05
            first = np.flatnonzero(bad)
            assert first.size == 0, (width, name, x[first[0]], y[first[0]], got[first[0]])


def test_refract_of_long_vectors():
    """What is not normalised keeps its digits, also where eta * dot and the root nearly cancel."""
    rng = np.random.default_rng(21)
    n, count, eta = 256, 3, 0.75
    a, b = (rng.uniform(-100, 100, n * count).astype(np.float32) for _ in range(2))
    x, y = (v.astype(np.float64).reshape(n, count) for v in (a, b))
    along = eta * (x * y).sum(1, keepdims=True)
    total = along + np.sqrt(1 - eta * eta + along * along)
    want, scale = eta * x - total * y, np.abs(eta * x) + np.abs(total * y)
    clear = np.abs(along[:, 0]) > 0.1 * eta * np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    assert clear.sum() > n / 2 and (along[clear] < 0).sum() > n / 5
    for width, rows in evaluate("float", count, ["refract(x, y, 0.75f)"], [a, b], np.float32, "float"):
        error = np.abs(rows[0].astype(np.float64).reshape(n, count) - want) / scale
        assert error[clear].max() < 1e-5, (width, error[clear].max())


INTS = {"char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16,
        "int": np.int32, "uint": np.uint32, "long": np.int64, "ulong": np.uint64}


@pytest.mark.parametrize("target", INTS)
def test_float_to_integer(target):
    """Toward zero within the range of the type, for scalars and vectors alike."""
    kind = INTS[target]
    info = np.iinfo(kind)
    rng = np.random.default_rng(11)
    low = max(float(info.min), -2.0**40)
    x = np.concatenate([rng.uniform(low, min(float(info.max), 2.0**40), 200), [0, -0.0, 0.99, 1.99,
                        -0.99, 100.5]]).astype(np.float32)
    x = x[(x > float(info.min) - 1) & (x.astype(np.float64) < float(info.max))]
    x = np.resize(x, 192)
    want = np.trunc(x.astype(np.float64)).astype(kind)
    source = (f"kernel void k(device const float *x, device {target} *a, device {target} *b, "
              f"uint i [[thread_position_in_grid]]) {{ a[i] = {target}(x[i]); "
              f"b[i] = {target}3(float3(x[i], 0, x[i])).z; }}")
    for width, (a, b) in run(source, [x], [(kind, len(x))] * 2, len(x)):
        assert (a == want).all() and (b == want).all(), width


def test_integer_to_float_and_half():
    rng = np.random.default_rng(12)
    x = rng.integers(-2**31, 2**31, 256).astype(np.int32)
    x[:6] = [0, 1, -1, 2**31 - 1, -2**31, 2**24 + 1]
    source = """kernel void k(device const int *x, device float *a, device half *b, device float *c,
                              uint i [[thread_position_in_grid]]) {
        a[i] = x[i];
        b[i] = half2(int2(x[i] >> 16)).y;
        c[i] = float4(uint4(as_type<uint>(x[i]))).w;
    }"""
    for width, (a, b, c) in run(source, [x], [(np.float32, 256), (np.float16, 256),
                                              (np.float32, 256)], 256):
        assert (a == x.astype(np.float32)).all(), width
        assert (b == (x >> 16).astype(np.float16)).all(), width
        assert (c == x.view(np.uint32).astype(np.float32)).all(), width


def to_bfloat(x):
    """Round to nearest even at 16 bits; NaN stays NaN."""
    u = x.astype(np.float32).view(np.uint32).astype(np.uint64)
    rounded = ((u + 0x7fff + ((u >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(x), np.uint16(0x7fc0), rounded)


def from_bfloat(u):
    return (u.astype(np.uint32) << 16).view(np.float32)


def same_bfloat(a, b):
    """As same(); a denormal may be flushed to zero, as some processors do when they convert."""
    return same(a, b) | ((a == 0) & (np.abs(b) < 2.0**-126))


def test_bfloat():
    x, y = values(np.float32, 256, 13), values(np.float32, 256, 14)
    source = """kernel void k(device const float *x, device const float *y, device bfloat *a,
                              device bfloat *b, device float *c, uint i [[thread_position_in_grid]]) {
        a[i] = bfloat(x[i]);
        b[i] = (bfloat3(x[i]) * bfloat3(y[i])).z;
        c[i] = float(bfloat(x[i])) + float(half(1.0h)) * 0;
    }"""
    with np.errstate(all="ignore"):
        product = to_bfloat(from_bfloat(to_bfloat(x)) * from_bfloat(to_bfloat(y)))
    for width, (a, b, c) in run(source, [x, y], [(np.uint16, 256), (np.uint16, 256),
                                                 (np.float32, 256)], 256, options=["--math=safe"]):
        assert same_bfloat(from_bfloat(a), from_bfloat(to_bfloat(x))).all(), width
        assert same_bfloat(from_bfloat(b), from_bfloat(product)).all(), width
        assert same_bfloat(c, from_bfloat(to_bfloat(x))).all(), width


def round_even(x):
    return np.rint(x)


def test_pack():
    rng = np.random.default_rng(15)
    x = rng.uniform(-1.5, 1.5, (256, 4)).astype(np.float32)
    x[:6] = [[0, 1, -1, 0.5], [np.nan, np.inf, -np.inf, -0.0], [0.5 / 255, 1.5 / 255, 2.5 / 255, 1],
             [1e-40, 2, -2, 0.25], [1 / 3, 2 / 3, 0.1, 0.9], [0.04045, 0.0031308, 0.003, 0.5]]
    source = """kernel void k(device const float4 *x, device uint *o, uint i [[thread_position_in_grid]]) {
        o[i * 8 + 0] = pack_float_to_unorm4x8(x[i]);
        o[i * 8 + 1] = pack_float_to_snorm4x8(x[i]);
        o[i * 8 + 2] = pack_float_to_unorm2x16(x[i].xy);
        o[i * 8 + 3] = pack_float_to_snorm2x16(x[i].xy);
        o[i * 8 + 4] = pack_float_to_unorm10a2(x[i]);
        o[i * 8 + 5] = pack_float_to_unorm565(x[i].xyz);
        o[i * 8 + 6] = pack_float_to_srgb_unorm4x8(x[i]);
        o[i * 8 + 7] = pack_half_to_unorm4x8(half4(x[i]));
    }"""

    def field(v, most, lowest, width, shift):
        v = np.where(np.isnan(v), 0, np.clip(v, lowest, 1))
        scaled = round_even(np.float32(v) * np.float32(most)).astype(np.int64)
        return (scaled & ((1 << width) - 1)) << shift

    def unorm(v, *layout):
        return sum(field(v[:, c], (1 << w) - 1, 0, w, s) for c, (w, s) in enumerate(layout))

    def snorm(v, *layout):
        return sum(field(v[:, c], (1 << (w - 1)) - 1, -1, w, s) for c, (w, s) in enumerate(layout))

    bytes4 = [(8, 0), (8, 8), (8, 16), (8, 24)]
    clipped = np.where(np.isnan(x), 0, np.clip(x, 0, 1)).astype(np.float64)
    srgb = np.where(clipped <= 0.0031308, 12.92 * clipped, 1.055 * clipped ** (1 / 2.4) - 0.055)
    srgb[:, 3] = clipped[:, 3]
    with np.errstate(over="ignore"):
        as_half = x.astype(np.float16).astype(np.float32)
    want = [unorm(x, *bytes4), snorm(x, *bytes4), unorm(x, (16, 0), (16, 16)),
            snorm(x, (16, 0), (16, 16)), unorm(x, (10, 0), (10, 10), (10, 20), (2, 30)),
            unorm(x, (5, 0), (6, 5), (5, 11)), None, unorm(as_half, *bytes4)]
    for width, (out,) in run(source, [x], [(np.uint32, 256 * 8)], 256, options=["--math=safe"]):
        out = out.reshape(256, 8)
        for column, expected in enumerate(want):
            if expected is not None:
                bad = np.flatnonzero(out[:, column] != expected)
                assert bad.size == 0, (width, column, x[bad[0]], hex(out[bad[0], column]))
        got = np.stack([out[:, 6] >> s & 255 for s in (0, 8, 16, 24)], 1)
        assert (np.abs(got - srgb * 255) <= 0.5 + 1e-3).all(), width


def test_unpack():
    rng = np.random.default_rng(16)
    x = rng.integers(0, 2**32, 256, dtype=np.uint32)
    x[:4] = [0, 0xffffffff, 0x80808080, 0x80008000]
    calls = ["unpack_unorm4x8_to_float(x[i])", "unpack_snorm4x8_to_float(x[i])",
             "float4(unpack_unorm2x16_to_float(x[i]), 0, 0)",
             "float4(unpack_snorm2x16_to_float(x[i]), 0, 0)", "unpack_unorm10a2_to_float(x[i])",
             "float4(unpack_unorm565_to_float(ushort(x[i])), 0)",
             "unpack_unorm4x8_srgb_to_float(x[i])", "float4(unpack_unorm4x8_to_half(x[i]))"]
    source = ("kernel void k(device const uint *x, device float4 *o, uint i [[thread_position_in_grid]]"
              ") {" + "".join(f"o[i * {len(calls)} + {c}] = {e};" for c, e in enumerate(calls)) + "}")

    def unorm(shifts, bits):
        return np.stack([(x >> s & ((1 << b) - 1)) / ((1 << b) - 1)
                         for s, b in zip(shifts, bits)], 1)

    def snorm(shifts, b):
        raw = np.stack([(x >> s & ((1 << b) - 1)).astype(np.int64) for s in shifts], 1)
        raw -= (raw >> (b - 1)) << b
        return np.maximum(raw / ((1 << (b - 1)) - 1), -1)

    bytes4 = unorm((0, 8, 16, 24), (8,) * 4)
    srgb = np.where(bytes4 <= 0.04045, bytes4 / 12.92, ((bytes4 + 0.055) / 1.055) ** 2.4)
    srgb[:, 3] = bytes4[:, 3]
    want = [bytes4, snorm((0, 8, 16, 24), 8), unorm((0, 16), (16, 16)), snorm((0, 16), 16),
            unorm((0, 10, 20, 30), (10, 10, 10, 2)), unorm((0, 5, 11), (5, 6, 5)), srgb, bytes4]
    for width, (out,) in run(source, [x], [(np.float32, 256 * 4 * len(calls))], 256):
        out = out.reshape(256, len(calls), 4)
        for row, expected in enumerate(want):
            error = np.abs(out[:, row, :expected.shape[1]] - expected).max()
            assert error <= (5e-4 if row == 7 else 1e-6), (width, calls[row], error)


@pytest.mark.sample(5)
@pytest.mark.parametrize("cols", [2, 3, 4])
@pytest.mark.parametrize("rows", [2, 3, 4])
@pytest.mark.parametrize("element", ["float", "half"])
def test_matrix(cols, rows, element):
    dtype, _, _ = FLOATS[element]
    n = 64
    rng = np.random.default_rng(17)
    data = rng.uniform(-2, 2, (n, cols * rows)).astype(dtype)
    m = data.astype(np.float64).reshape(n, cols, rows)  # [thread][column][row]
    other = data[::-1].astype(np.float64).reshape(n, rows, cols)
    v = data[:, :cols].astype(np.float64)
    u = data[:, :rows].astype(np.float64)
    M, N = f"{element}{cols}x{rows}", f"{element}{rows}x{cols}"
    elements = ", ".join(f"x[i * {cols * rows} + {e}]" for e in range(cols * rows))
    reverse = elements.replace("[i *", "[(n - 1 - i) *")
    size = max(cols, rows) ** 2
    det = f"o[j++] = determinant(m);" if cols == rows else ""
    source = f"""
    template <class T> void put(device {element} *o, thread uint &j, T m, int c, int r) {{
        for (int a = 0; a < c; a++)
            for (int b = 0; b < r; b++) o[j++] = m[a][b];
    }}
    kernel void k(device const {element} *x, device {element} *o, uint i [[thread_position_in_grid]],
                  uint n [[threads_per_grid]]) {{
        {M} m({elements});
        {N} w({reverse});
        uint j = i * {8 * size};
        put(o, j, m, {cols}, {rows});
        put(o, j, transpose(m), {rows}, {cols});
        put(o, j, m * w, {rows}, {rows});
        put(o, j, (m + m) * ({element})0.5 - m / ({element})4, {cols}, {rows});
        vec<{element}, {rows}> a = m * vec<{element}, {cols}>({', '.join(f'm[{c // rows}][{c % rows}]' for c in range(cols))});
        for (int c = 0; c < {rows}; c++) o[j++] = a[c];
        vec<{element}, {cols}> b = m[0] * m;
        for (int c = 0; c < {cols}; c++) o[j++] = b[c];
        {det}
    }}"""
    # matrices as [column][row]: (m * w)[c] = sum over k of m[k] * w[c][k]
    product = np.einsum("nkr,nck->ncr", m, other)
    want = [m.reshape(n, -1), m.transpose(0, 2, 1).reshape(n, -1), product.reshape(n, -1),
            (m * 0.75).reshape(n, -1), np.einsum("ncr,nc->nr", m, v), np.einsum("nr,ncr->nc", u, m)]
    if cols == rows:
        want.append(np.linalg.det(m.transpose(0, 2, 1))[:, None])
    want = np.concatenate(want, 1)
    tolerance = 0.15 if element == "half" else 1e-4
    for width, (out,) in run(source, [data], [(dtype, n * 8 * size)], n):
        got = out.reshape(n, -1)[:, :want.shape[1]].astype(np.float64)
        assert np.abs(got - want).max() <= tolerance, (width, np.abs(got - want).max(0))
