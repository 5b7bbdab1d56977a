# SPDX-License-Identifier: Apache-2.0
"""The functions of <metal_math> as kernels see them: compiled by mslc, run one thread at a time and
vectorised, compared with NumPy in double precision. test_math.c compares the kernels below them over
many more arguments; here the overloads, the math modes, vectors, halves and code generation count.
"""
import pathlib
import re
import sys

import numpy as np
import pytest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "library"))
import harness  # noqa: E402

np.seterr(all="ignore")
INF = np.inf


def quadrant(x):
    """abs(x) * pi as a rest of at most pi / 4 and the number of its quarter."""
    r = np.fmod(np.abs(x), 2.0)
    n = np.rint(2 * r)
    return (r - 0.5 * n) * np.pi, np.where(np.isnan(n), 0, n).astype(int) & 3


def sinpi(x):
    a, q = quadrant(x)
    v = np.where(q & 1, np.cos(a), np.sin(a))
    return np.copysign(1, x) * np.where((q & 2 != 0) & (v != 0), -v, v)


def cospi(x):
    a, q = quadrant(x)
    v = np.where(q & 1, np.sin(a), np.cos(a))
    return np.where((q & 1 != 0) & (a == 0), 0.0, np.where((q == 1) | (q == 2), -v, v))


REFERENCE = {
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "sinpi": sinpi, "cospi": cospi,
    "tanpi": lambda x: sinpi(x) / cospi(x), "asin": np.arcsin, "acos": np.arccos,
    "atan": np.arctan, "exp": np.exp, "exp2": np.exp2,
    "exp10": lambda x: np.power(10.0, x), "log": np.log, "log2": np.log2, "log10": np.log10,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "rsqrt": lambda x: 1 / np.sqrt(x),
    "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    "fract": lambda x: np.where(np.isnan(x), x, np.minimum(x - np.floor(x), float.fromhex(
        "0x1.fffffep-1"))),
}
# Exact in double already, and so in float after one rounding.
EXACT = {"ceil": np.ceil, "floor": np.floor, "trunc": np.trunc, "rint": np.rint, "abs": np.abs,
         "fabs": np.abs, "sqrt": np.sqrt}


def bounds():
    """name -> (ulp precise, ulp fast, abs fast, lo, hi), from the table that test_math.c uses."""
    rows = re.findall(r"^F\((\w+), \w+, \w+, \w+, (.*)\)$",
                      (HERE / "math_functions.def").read_text(), re.M)
    return {name: [float(v.strip().replace("INFINITY", "inf")) for v in rest.split(",")]
            for name, rest in rows}


BOUNDS = bounds()
assert set(BOUNDS) == set(REFERENCE)

EDGES = np.array([0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000,
                  0x33800000, 0x3effffff, 0x3f000000, 0xbf000000, 0x3f7fffff, 0x3f800000,
                  0xbf800000, 0x3f800001, 0x3fc00000, 0xbfc00000, 0x40000000, 0xc0000000,
                  0x40200000, 0x40490fdb, 0x42b17217, 0x42b17218, 0xc2aeac50, 0xc2cff1b5,
                  0x43000000, 0x48000000, 0x4affffff, 0x4b000001, 0x4b800001, 0x501502f9,
                  0x7149f2ca, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000],
                 np.uint32).view(np.float32)


def arguments(n, seed):
    """Edge values, then random bits, then values near 1."""
    random = np.random.RandomState(seed)
    bits = random.randint(0, 1 << 32, n, np.uint32).view(np.float32)
    small = (random.randn(n // 2) * 4).astype(np.float32)
    return np.concatenate([EDGES, bits[:n - n // 2 - len(EDGES)], small])


def ulp(want, digits=24, least=-149):
    _, e = np.frexp(want)
    return np.ldexp(1.0, np.maximum(np.where(np.isfinite(want), e, 0) - digits, least))


def errors(got, want):
    """In ulp of float; NaN and infinities must agree, zeros in sign."""
    got = got.astype(np.float64)
    off = np.abs(got - want) / ulp(np.clip(want, -3.4e38, 3.4e38))
    overflow = np.isinf(got) & (np.abs(want) >= float.fromhex("0x1.ffffffp127"))
    right = ((np.isnan(got) & np.isnan(want)) | (overflow & (np.sign(got) == np.sign(want))) |
             ((got == want) & ((got != 0) | (np.signbit(got) == np.signbit(want)))))
    off = np.where((got == 0) & (want == 0), INF, off)
    return np.where(right, 0, np.where(np.isnan(off), INF, off))


def expect(condition, name, got, want, *inputs):
    bad = np.flatnonzero(~condition)
    if len(bad):
        i = bad[0]
        values = ", ".join(float(x[i]).hex() for x in inputs)
        pytest.fail(f"{name}({values}) = {float(got[i]).hex()}, expected {float(want[i]).hex()}; "
                    f"{len(bad)} of {len(condition)} wrong")


def same(a, b):
    return (a.view(np.uint8).reshape(len(a), -1) == b.view(np.uint8).reshape(len(b), -1)).all(1) | (
        np.isnan(a) & np.isnan(b))


# The machine's own code, 256-bit vectors, and x86-64 as of 2003 without FMA or rounding.
@pytest.mark.parametrize("mode,target", [("fast", ()), ("safe", ()), ("fast", ("--cpu=x86-64-v3",)),
                                         ("safe", ("--cpu=x86-64",))],
                         ids=["fast", "safe", "avx2", "sse2"])
def test_functions_of_one_argument(mode, target):
    names = [*REFERENCE, *EXACT]
    x = arguments(1024, 1)
    n = len(x)
    for start in range(0, len(names), 8):
        chunk = names[start:start + 8]
        rows = [f"{space}{name}" for name in chunk for space in ("precise::", "fast::", "")]
        body = "".join(f"o[i + {k * n}] = {row}(v); " for k, row in enumerate(rows))
        source = ("kernel void k(device const float *a, device float *o, "
                  f"uint i [[thread_position_in_grid]]) {{ float v = a[i]; {body}}}")
        first = None
        for width, (out,) in harness.run(source, [x], [(np.float32, n * len(rows))], n,
                                         options=(f"--math={mode}", *target)):
            table = out.reshape(len(rows), n)
            for k, name in enumerate(chunk):
                precise, fast, plain = table[3 * k:3 * k + 3]
                check_variants(name, precise, fast, x)
                expect(same(plain, fast if mode == "fast" else precise), f"{mode} {name}", plain,
                       precise, x)
            first = table if first is None else first
            for row, a, b in zip(rows, first, table):
                expect(same(a, b), f"width {width} {row}", b, a, x)


def check_variants(name, precise, fast, x):
    wide = x.astype(np.float64)
    if name in EXACT:
        want = EXACT[name](wide).astype(np.float32)
        expect(same(precise, want), f"precise::{name}", precise, want, x)
        expect(same(fast, want), f"fast::{name}", fast, want, x)
        return
    want = REFERENCE[name](wide)
    ulp_precise, ulp_fast, abs_fast, lo, hi = BOUNDS[name]
    expect(errors(precise, want) <= ulp_precise, f"precise::{name}", precise, want, x)
    inside = (np.abs(wide) >= lo) & (np.abs(wide) <= hi)
    near = np.abs(fast - want) <= abs_fast
    expect(~inside | near | (errors(fast, want) <= ulp_fast), f"fast::{name}", fast, want, x)


def fmax(x, y):
    return np.where(np.isnan(y) | (x > y), x, y)


def fmin(x, y):
    return np.where(np.isnan(y) | (x < y), x, y)


def nextafter(x, y):
    return np.nextafter(x, y)


TWO = {"copysign": np.copysign, "fdim": lambda x, y: np.where(x <= y, np.float32(0), x - y),
       "fmod": np.fmod, "nextafter": nextafter, "fmax": fmax, "max": fmax, "fmin": fmin,
       "min": fmin, "divide": np.divide}


def pairs():
    x, y = np.meshgrid(EDGES, EDGES)
    a, b = arguments(1500, 3), arguments(1500, 4)
    extra = np.random.RandomState(5)
    base = np.exp2(extra.uniform(-3, 3, 500)).astype(np.float32)
    power = extra.uniform(-30, 30, 500).astype(np.float32)
    return (np.concatenate([x.ravel(), a, base, -base[:99]]),
            np.concatenate([y.ravel(), b, power, np.rint(power[:99])]))


@pytest.mark.parametrize("mode", ["fast", "safe"])
def test_functions_of_two_arguments(mode):
    x, y = pairs()
    n = len(x)
    rows = [f"precise::{name}" for name in (*TWO, "pow", "powr", "atan2")] + ["fast::atan2"]
    rows += [name for name in ("fmax", "max", "fmin", "min")]
    body = "".join(f"o[i + {k * n}] = {row}(x, y); " for k, row in enumerate(rows))
    source = ("kernel void k(device const float *a, device const float *b, device float *o, "
              f"uint i [[thread_position_in_grid]]) {{ float x = a[i], y = b[i]; {body}}}")
    wx, wy = x.astype(np.float64), y.astype(np.float64)
    # either zero may come back
    both_zero = (x == 0) & (y == 0)
    for width, (out,) in harness.run(source, [x, y], [(np.float32, n * len(rows))], n,
                                     options=(f"--math={mode}",)):
        got = dict(zip(rows, out.reshape(len(rows), n)))
        for row, values in got.items():
            name = row.split("::")[-1]
            if name in TWO:
                want = TWO[name](x, y).astype(np.float32)
                skip = both_zero if name[-3:] in ("max", "min") else np.zeros(n, bool)
                expect(skip | same(values, want), f"width {width} {row}", values, want, x, y)
        want = np.power(wx, wy)
        expect(errors(got["precise::pow"], want) <= 8, "precise::pow", got["precise::pow"], want, x,
               y)
        powr = got["precise::powr"]
        expect((x >= 0) | np.isnan(powr) | (x == 0), "precise::powr", powr, want, x, y)
        positive = ~((x > 0) & ~np.isnan(y))
        expect(positive | (errors(powr, want) <= 8), "precise::powr", powr, want, x, y)
        want = np.arctan2(wx, wy)
        expect(errors(got["precise::atan2"], want) <= 3, "precise::atan2", got["precise::atan2"],
               want, x, y)
        usual = np.isnan(x) | np.isnan(y) | (errors(got["fast::atan2"], want) <= 5)
        expect(usual, "fast::atan2", got["fast::atan2"], want, x, y)


def test_functions_with_two_results():
    x = arguments(2048, 6)
    n = len(x)
    k = np.random.RandomState(7).randint(-320, 320, n).astype(np.int32)
    source = """kernel void k(device const float *a, device const int *b, device float *o, device int *e,
        uint i [[thread_position_in_grid]]) {
        uint n = %d;
        float x = a[i], c, whole;
        int exponent;
        o[i] = precise::sincos(x, c);
        o[i + n] = c;
        o[i + 2 * n] = sincos(x, c);
        o[i + 3 * n] = c;
        o[i + 4 * n] = modf(x, whole);
        o[i + 5 * n] = whole;
        o[i + 6 * n] = frexp(x, exponent);
        o[i + 7 * n] = ldexp(x, b[i]);
        e[i] = exponent;
        e[i + n] = ilogb(x);
    }""" % n
    wide = x.astype(np.float64)
    finite = np.isfinite(x)
    for width, (out, ints) in harness.run(source, [x, k], [(np.float32, 8 * n), (np.int32, 2 * n)],
                                          n):
        o, e = out.reshape(8, n), ints.reshape(2, n)
        expect(errors(o[0], np.sin(wide)) <= 2, "precise::sincos", o[0], np.sin(wide), x)
        expect(errors(o[1], np.cos(wide)) <= 2, "cos of precise::sincos", o[1], np.cos(wide), x)
        near = np.abs(x) <= np.float32(np.pi)
        expect(~near | (np.abs(o[2] - np.sin(wide)) < 2e-7), "sincos", o[2], np.sin(wide), x)
        expect(~near | (np.abs(o[3] - np.cos(wide)) < 2e-7), "cos of sincos", o[3], np.cos(wide), x)
        part, whole = np.modf(x)
        expect(same(o[4], part), "modf", o[4], part, x)
        expect(same(o[5], whole), "whole of modf", o[5], whole, x)
        m, exponent = np.frexp(x)
        expect(same(o[6], m), "frexp", o[6], m, x)
        expect((e[0] == exponent) | ~finite, "exponent of frexp", e[0], exponent, x)
        want = np.ldexp(wide, k).astype(np.float32)
        expect(same(o[7], want), "ldexp", o[7], want, x, k)
        want = np.where(np.isinf(x), 2**31 - 1, np.where((x == 0) | np.isnan(x), -2**31,
                                                         exponent - 1))
        expect(e[1] == want, "ilogb", e[1], want, x)


def test_functions_of_three_arguments():
    random = np.random.RandomState(8)
    x, y, z = (random.choice(arguments(512, s), 4096) for s in (9, 10, 11))
    n = len(x)
    rows = ["fma", "precise::fma", "fmax3", "max3", "fmin3", "min3", "fmedian3", "median3",
            "fast::max3", "fast::min3", "fast::median3"]
    body = "".join(f"o[i + {k * n}] = {row}(a[i], b[i], c[i]); " for k, row in enumerate(rows))
    source = ("kernel void k(device const float *a, device const float *b, device const float *c, "
              f"device float *o, uint i [[thread_position_in_grid]]) {{ {body}}}")
    plain = ~(np.isnan(x) | np.isnan(y) | np.isnan(z))
    nonzero = (x != 0) & (y != 0) & (z != 0)
    ordered = np.sort(np.stack([x, y, z]), 0)
    # The product of floats is exact in long double, and its sum is where neither part is lost.
    lx, ly, lz = (v.astype(np.longdouble) for v in (x, y, z))
    total = lx * ly + lz
    exact = ((total - lx * ly == lz) & (total - lz == lx * ly)) | ~np.isfinite(total)
    for width, (out,) in harness.run(source, [x, y, z], [(np.float32, n * len(rows))], n):
        for row, got in zip(rows, out.reshape(len(rows), n)):
            if row.endswith("fma"):
                want = total.astype(np.float32)
                expect(~exact | (want == 0) | same(got, want), row, got, want, x, y, z)
            else:
                want = ordered[2 if "max" in row else 0 if "min" in row else 1]
                expect(~plain | ~nonzero | same(got, want), f"width {width} {row}", got, want, x, y,
                       z)
                if not row.startswith("fast") and "median" not in row:
                    fold = fmax if "max" in row else fmin
                    want = fold(fold(x, y), z)
                    expect(~nonzero | same(got, want), row, got, want, x, y, z)


VECTOR1 = [*REFERENCE, *EXACT]
VECTOR2 = [*TWO, "pow", "powr", "atan2"]


@pytest.mark.parametrize("scalar,dtype", [("float", np.float32), ("half", np.float16)])
def test_vectors_are_scalars_by_component(scalar, dtype):
    """Each output record: whether the vector function equals the scalar one in all components."""
    random = np.random.RandomState(12)
    n = 128
    with np.errstate(over="ignore"):
        x = np.concatenate([arguments(2 * n, 13), random.randn(2 * n)]).astype(dtype)
    bits = "uint" if scalar == "float" else "ushort"
    tests = []
    for size in (2, 3, 4):
        v = f"{scalar}{size}"
        for name in VECTOR1:
            same_bits = " && ".join(f"same({name}(p)[{c}], {name}(p[{c}]))" for c in range(size))
            tests.append((f"{name}({v})", f"{{ {v} p = {v}(q{size}); ok = {same_bits}; }}"))
        for name in VECTOR2:
            same_bits = " && ".join(f"same({name}(p, r)[{c}], {name}(p[{c}], r[{c}]))"
                                    for c in range(size))
            tests.append((f"{name}({v}, {v})",
                          f"{{ {v} p = {v}(q{size}), r = {v}(s{size}); ok = {same_bits}; }}"))
    swizzle = {2: "xy", 3: "xyz", 4: "xyzw"}
    for start in range(0, len(tests), 24):
        chunk = tests[start:start + 24]
        body = "".join(f"{code} if (!ok) f |= 1u << {k};\n" for k, (_, code) in enumerate(chunk))
        for size, part in swizzle.items():
            body = body.replace(f"q{size}", f"a[i].{part}").replace(f"s{size}", f"a[n - 1 - i].{part}")
        source = f"""static bool same({scalar} a, {scalar} b) {{
            return as_type<{bits}>(a) == as_type<{bits}>(b) || (isnan(a) && isnan(b));
        }}
        kernel void k(device const {scalar}4 *a, device uint *o, uint i [[thread_position_in_grid]]) {{
            const uint n = {n}; bool ok = true; uint f = 0; {body} o[i] = f;
        }}"""
        for width, (out,) in harness.run(source, [x], [(np.uint32, n)], n):
            wrong = np.bitwise_or.reduce(out)
            assert wrong == 0, [name for k, (name, _) in enumerate(chunk) if wrong >> k & 1]


def test_every_half():
    """All 65536 halves; the specification allows one ulp, and none for what can be exact."""
    x = np.arange(65536, dtype=np.uint16).view(np.float16)
    wide = x.astype(np.float64)
    references = {**REFERENCE, **EXACT}
    references["fract"] = lambda v: np.where(np.isnan(v), v, np.minimum(
        v - np.floor(v), float.fromhex("0x1.ffcp-1")))
    names = list(references)
    for start in range(0, len(names), 8):
        chunk = names[start:start + 8]
        body = "".join(f"o[i + {k * 65536}] = {name}(a[i]); " for k, name in enumerate(chunk))
        source = ("kernel void k(device const half *a, device half *o, "
                  f"uint i [[thread_position_in_grid]]) {{ {body}}}")
        for width, (out,) in harness.run(source, [x], [(np.float16, 65536 * len(chunk))], 65536):
            for name, got in zip(chunk, out.reshape(len(chunk), 65536)):
                want = references[name](wide)
                exact = name in EXACT or name == "round"
                off = np.abs(got - want) / ulp(np.clip(want, -65504, 65504), 11, -24)
                right = same(got, want.astype(np.float16)) | ~np.isnan(off) & np.isfinite(got) & (
                    off <= (0 if exact else 1))
                right |= np.isinf(got) & (np.abs(want) > 65472) & (np.sign(got) == np.sign(want))
                expect(right, f"width {width} {name}(half)", got, want, x)


def test_overloads_resolve():
    done = harness.mslc(str(HERE / "overloads.metal"))
    assert done.returncode == 0 and done.stdout + done.stderr == ""


@pytest.mark.parametrize("call,message", [
    ("max(f[0].x, 1)", "call to 'max' is ambiguous"),
    ("max(f[0].x, h[0].x)", "call to 'max' is ambiguous"),
    ("sin(1)", "call to 'sin' is ambiguous"),
    ("pow(2, 3)", "call to 'pow' is ambiguous"),
    ("sin(n[0])", "no matching function for call to 'sin'"),
    ("fast::sin(h[0])", "no matching function for call to 'sin'"),
    ("max(f[0], h[0])", "no matching function for call to 'max'"),
    ("max(f[0].xy, f[0].xyz)", "no matching function for call to 'max'"),
    ("sincos(f[0].x, f[1].x)", "no matching function for call to 'sincos'"),
    ("frexp(f[0].x, f[1].x)", "no matching function for call to 'frexp'"),
    ("erf(f[0].x)", "use of undeclared identifier 'erf'"),
])
def test_what_metal_rejects(call, message):
    source = harness.PREAMBLE + ("kernel void k(device float4 *f, device int4 *n, device half4 *h) "
                                 f"{{ f[0] = float4({call}); }}")
    done = harness.mslc(source=source)
    assert done.returncode == 1 and message in done.stdout + done.stderr, done.stdout + done.stderr


def test_constant_expressions():
    """What can be computed at compile time, and initialisers of program-scope constants."""
    source = """constexpr constant float a = max(1.0f, 2.0f), b = fma(2.0f, 3.0f, 1.0f), c = abs(-2.0f);
    static_assert(a == 2.0f && b == 7.0f && c == 2.0f);
    constexpr constant float3 v = max(float3(1, 2, 3), 2.0);
    static_assert(v.x == 2.0f && v.z == 3.0f);
    constant float root = sqrt(2.0f), whole = floor(2.5f), sine = precise::sin(1.0f);
    kernel void k(device float *o) { o[0] = root; o[1] = whole; o[2] = sine; }"""
    for width, (out,) in harness.run(source, [], [(np.float32, 3)], 1, 1):
        assert list(out[:2]) == [np.float32(np.sqrt(2)), 2] and abs(out[2] - np.sin(1)) < 1.2e-7
