# SPDX-License-Identifier: Apache-2.0
"""The functions of <metal_math> as kernels see them: overloads, functions of three arguments, vectors, constant
expressions. Their errors are test_accuracy.py's, and those of the kernels below them over many more arguments
test_math.c's.
"""
import pathlib
import sys

import numpy as np
import pytest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "library")]
import accuracy  # noqa: E402
import harness  # noqa: E402

np.seterr(all="ignore")


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


def fmax(x, y):
    return np.where(np.isnan(y) | (x > y), x, y)


def fmin(x, y):
    return np.where(np.isnan(y) | (x < y), x, y)


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


VECTOR1, VECTOR2 = ([f.name for f in accuracy.functions(accuracy.FLOAT, n)] for n in (1, 2))


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
