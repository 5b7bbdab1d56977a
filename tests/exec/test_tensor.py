# SPDX-License-Identifier: Apache-2.0
"""matmul2d and cooperative tensors against NumPy in double precision.

Kernels are generated: one for each form, run for several sizes. Each is compiled for vectors (w32), for the
reference code (w1: one thread at a time, its own implementation), with checked accesses, and with randomised
layouts of cooperative tensors; the answers must agree with the reference in all of them.
"""
import os
import subprocess
import sys
import tempfile
import types

import numpy as np
import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_exec as ex  # noqa: E402

HEADER = """#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;
"""
RANDOM = "-D__INGOT_TENSOR_LAYOUT_RANDOM=1"
# name -> (options of the library, options of the code)
WAYS = {"w32": ([], ["--width", "32"]), "w1": ([], ["--width", "1"]),
        "w32-checked": ([], ["--width", "32", "--validate"]),
        "w1-checked": ([], ["--width", "1", "--validate"]),
        "random": ([RANDOM], ["--width", "32"]), "w1-random": ([RANDOM], ["--width", "1"]),
        "avx2": ([], ["--width", "32", "--cpu", "x86-64-v3"])}
MAIN = ["w32", "w1", "random"]  # the others for a few forms: a compilation takes its time


# ---- element types: MSL name -> (array of random values, to double, store)

def bf16_of(x):
    b = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    return ((b + 0x7fff + (b >> 16 & 1)) >> 16).astype(np.uint16)


def double_of(a, t):
    if t == "bfloat":
        return (a.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return a.astype(np.float64)


def numbers(rng, shape, t):
    if t == "bfloat":
        return bf16_of(rng.uniform(-1, 1, shape))
    if t in ("half", "float"):
        return rng.uniform(-1, 1, shape).astype(np.float16 if t == "half" else np.float32)
    if t == "int":
        return rng.integers(-1000, 1000, shape).astype(np.int32)
    lo, hi = {"int8_t": (-128, 128), "uint8_t": (0, 256)}[t]
    return rng.integers(lo, hi, shape).astype(np.int8 if t == "int8_t" else np.uint8)


def assert_near(got, want, magnitude, t, what):
    """`want` in double; `magnitude`: sum of the products' sizes. One rounding of a float sum to the type."""
    got = double_of(got, t)
    if t == "int":
        assert np.array_equal(got, want), what
        return
    eps = {"float": 2.0**-24, "half": 2.0**-11, "bfloat": 2.0**-8}[t]
    bound = np.maximum(np.abs(want), 2.0**-14) * eps * 2.02 + magnitude * 2.0**-21 + 1e-30
    bad = ~(np.abs(got - want) <= bound)
    if bad.any():
        at = np.unravel_index(int(np.argmax(bad)), bad.shape)
        raise AssertionError(f"{what}: element {tuple(int(i) for i in at)} is {got[at]}, not {want[at]}; "
                             f"{int(bad.sum())} of {bad.size} differ")


# ---- compiling and running

class Kernels:
    """Source in, code objects out; each is made once."""

    def __init__(self, folder):
        self.folder, self.libraries, self.objects = folder, {}, {}

    def library(self, source, options):
        key = (source, tuple(options))
        if key not in self.libraries:
            stem = os.path.join(self.folder, str(len(self.libraries)))
            with open(stem + ".metal", "w") as f:
                f.write(source)
            r = subprocess.run([ex.MSLC, "build", stem + ".metal", *options, "-o", stem + ".metallib"],
                               capture_output=True, text=True, timeout=120)
            assert r.returncode == 0, r.stderr + r.stdout
            self.libraries[key] = stem + ".metallib"
        return self.libraries[key]

    def run(self, source, kernel, way, arrays, grid, group, threadgroup=None, n_reports=0):
        library_options, options = WAYS[way]
        library = self.library(source, library_options)
        key = (library, kernel, way, group)
        if key not in self.objects:
            so = os.path.join(self.folder, f"o{len(self.objects)}.so")
            r = subprocess.run([ex.MSLC, "build", library, "--emit=obj", "--function", kernel, "-o", so, "--group",
                                ",".join(map(str, group)), *options], capture_output=True, text=True, timeout=120)
            assert r.returncode == 0, r.stderr + r.stdout
            self.objects[key] = so
        run = types.SimpleNamespace(args=dict(enumerate(arrays)), memory=threadgroup or {}, tensors={}, grid=grid,
                                    group=group)
        placed = {i: ex.between_pages(a, True) for i, a in enumerate(arrays)}
        ex.reports.clear()
        ex.execute(run, self.objects[key], placed)
        assert len(ex.reports) == n_reports, f"{kernel} {way}: {len(ex.reports)} reports: {ex.reports[:3]}"
        for i, a in enumerate(arrays):
            a[...] = placed[i].reshape(a.shape)


@pytest.fixture(scope="module")
def kernels():
    with tempfile.TemporaryDirectory() as folder:
        yield Kernels(folder)


def matmul_source(name, t, m=64, n=32, k=None, ta=False, tb=False, accumulate=False, relaxed=False, groups=4,
                  body="op.run(mA, mB, mC);", before=""):
    """Buffers a, b, c and sizes M, N, K; a threadgroup computes the tile (tg.x, tg.y) of m x n."""
    scope = {0: "execution_thread", 1: "execution_simdgroup"}.get(groups, f"execution_simdgroups<{groups}>")
    flag = lambda b: "true" if b else "false"
    mode = "multiply_accumulate" if accumulate else "multiply"
    return HEADER + f"""
{before}
kernel void {name}(device {t[0]} *a [[buffer(0)]], device {t[1]} *b [[buffer(1)]],
                   device {t[2]} *c [[buffer(2)]], constant int *size [[buffer(3)]],
                   uint2 tg [[threadgroup_position_in_grid]], uint tid [[thread_index_in_threadgroup]]) {{
    int M = size[0], N = size[1], K = size[2];
    auto A = tensor(a, dextents<int, 2>({'M, K' if ta else 'K, M'}));
    auto B = tensor(b, dextents<int, 2>({'K, N' if tb else 'N, K'}));
    auto C = tensor(c, dextents<int, 2>(N, M));
    constexpr auto d = matmul2d_descriptor({m}, {n}, {'dynamic_length_v<int>' if k is None else k}, {flag(ta)},
                                           {flag(tb)}, {flag(relaxed)}, matmul2d_descriptor::mode::{mode});
    matmul2d<d, {scope}> op;
    int y = tg.y * {m}, x = tg.x * {n};
    auto mA = A.slice({'y, 0' if ta else '0, y'});
    auto mB = B.slice({'0, x' if tb else 'x, 0'});
    auto mC = C.slice(x, y);
    {body}
}}
"""


def check_matmul(kernels, source, name, t, sizes, way, m, n, groups, ta=False, tb=False, accumulate=False, limit_k=None,
                 after=lambda x, rows, cols: x, threads=None):
    rng = np.random.default_rng(7)
    for M, N, K in sizes:
        a, b = numbers(rng, (M, K), t[0]), numbers(rng, (K, N), t[1])
        c = numbers(rng, (M, N), t[2])
        da, db, dc = double_of(a, t[0]), double_of(b, t[1]), double_of(c, t[2])
        if limit_k is not None:
            da, db = da[:, :limit_k], db[:limit_k]
        want = da @ db + (dc if accumulate else 0)
        size = np.abs(da) @ np.abs(db) + np.abs(dc)
        want = after(want, np.arange(M)[:, None], np.arange(N)[None, :])
        arrays = [np.ascontiguousarray(a.T if ta else a), np.ascontiguousarray(b.T if tb else b), c,
                  np.array([M, N, K, 0], np.int32)]
        width = threads or 32 * max(1, groups)
        grid = (-(-N // n) * width, -(-M // m), 1)
        kernels.run(source, name, way, arrays, grid, (width, 1, 1))
        assert_near(arrays[2], want, size, t[2], f"{name} {way} {M}x{N}x{K}")


SIZES = [(1, 1, 1), (17, 29, 17), (64, 32, 64), (113, 29, 255), (29, 113, 1), (255, 17, 113)]
F16 = ("half", "half", "float")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("groups", [1, 2, 4, 8])
def test_simdgroups(kernels, groups, way):
    source = matmul_source("mm", F16, groups=groups)
    sizes = SIZES if way not in ("w1", "w1-random") else SIZES[:4]
    if way not in MAIN and groups != 2:
        pytest.skip("one number of SIMD-groups is enough this way")
    check_matmul(kernels, source, "mm", F16, sizes, way, 64, 32, groups)


# Apple's table: left, right, destination.
COMBINATIONS = [
    ("half", "half", "half"), ("half", "int8_t", "half"), ("half", "uint8_t", "half"), ("int8_t", "half", "half"),
    ("uint8_t", "half", "half"), ("half", "half", "float"), ("half", "float", "float"), ("half", "int8_t", "float"),
    ("half", "uint8_t", "float"), ("float", "half", "float"), ("float", "float", "float"), ("float", "int8_t", "float"),
    ("float", "uint8_t", "float"), ("int8_t", "half", "float"), ("uint8_t", "half", "float"), ("int8_t", "float", "float"),
    ("uint8_t", "float", "float"), ("int8_t", "int8_t", "int"), ("uint8_t", "uint8_t", "int"),
    ("bfloat", "bfloat", "bfloat"), ("bfloat", "bfloat", "float"), ("bfloat", "float", "float"),
    ("bfloat", "int8_t", "bfloat"), ("bfloat", "int8_t", "float"), ("float", "bfloat", "float"),
    ("int8_t", "bfloat", "bfloat"), ("int8_t", "bfloat", "float"), ("bfloat", "half", "bfloat"), ("bfloat", "half", "half"),
    ("bfloat", "half", "float"), ("half", "bfloat", "bfloat"), ("half", "bfloat", "half"), ("half", "bfloat", "float"),
    ("bfloat", "uint8_t", "bfloat"), ("bfloat", "uint8_t", "float"), ("uint8_t", "bfloat", "bfloat"),
    ("uint8_t", "bfloat", "float")]
COOPERATIVE = """
    auto cT = op.get_destination_cooperative_tensor<decltype(mA), decltype(mB), {t}>();
    {before}
    op.run(mA, mB, cT);
    {after}
    cT.store(mC);
"""


@pytest.mark.sample(2)
@pytest.mark.parametrize("t", COMBINATIONS, ids="-".join)
def test_types(kernels, t):
    """Every combination, to memory and to a cooperative tensor, by SIMD-groups and by one thread."""
    source = matmul_source("mm", t, m=32, n=48, groups=2)
    check_matmul(kernels, source, "mm", t, [(29, 113, 17)], "w32", 32, 48, 2)
    body = COOPERATIVE.format(t=t[2], before="cT.load(mC.slice(0, 0));", after="")
    body = body.replace("store(mC)", "store(mC.slice(0, 0))") # slices made in the call are tensors like others
    source = matmul_source("coop", t, m=17, n=29, groups=2, accumulate=True, body=body)
    for way in ("w32", "w1"):
        check_matmul(kernels, source, "coop", t, [(29, 31, 17)], way, 17, 29, 2, accumulate=True)
    source = matmul_source("thr", t, m=3, n=13, groups=0)
    check_matmul(kernels, source, "thr", t, [(5, 17, 29)], "w32", 3, 13, 0, threads=1)


@pytest.mark.parametrize("way", MAIN)
def test_sums_start_at_zero(kernels, way):
    """multiply_accumulate into a cooperative tensor that nobody has set."""
    for groups in (2, 0):
        body = COOPERATIVE.format(t="float", before="", after="")
        source = matmul_source("fresh", F16, m=16, n=29, groups=groups, accumulate=True, body=body)
        check_matmul(kernels, source, "fresh", F16, [(29, 31, 17)], way, 16, 29, groups, threads=32 * groups or 1)


@pytest.mark.parametrize("way", MAIN)
@pytest.mark.parametrize("ta", [False, True])
@pytest.mark.parametrize("tb", [False, True])
def test_transposed(kernels, ta, tb, way):
    for groups in (2, 0):
        source = matmul_source("mm", F16, m=17, n=33, ta=ta, tb=tb, accumulate=True, relaxed=True, groups=groups)
        check_matmul(kernels, source, "mm", F16, [(29, 113, 17), (17, 33, 255)], way, 17, 33, groups, ta=ta, tb=tb,
                     accumulate=True, threads=32 * groups or 1)


@pytest.mark.parametrize("way", MAIN)
def test_static_k(kernels, way):
    """k of the descriptor overrides the tensors' extents."""
    for groups in (4, 0):
        source = matmul_source("mm", F16, m=16, n=16, k=19, groups=groups)
        check_matmul(kernels, source, "mm", F16, [(17, 29, 64), (16, 16, 19), (16, 1, 5)], way, 16, 16, groups, limit_k=19,
                     threads=32 * groups or 1)


@pytest.mark.sample(5)
@pytest.mark.parametrize("way", MAIN)
@pytest.mark.parametrize("m,n,groups", [(64, 32, 4), (64, 64, 1), (17, 29, 1), (29, 17, 2), (16, 8, 1), (5, 113, 4), (1, 255, 8),
                                        (255, 1, 4), (16, 16, 0), (3, 5, 0)])
def test_cooperative(kernels, m, n, groups, way):
    """Post-processing by coordinates: relu, then plus row + 2 * column."""
    after = """
    for (ushort i = 0; i < cT.get_capacity(); i++) {
        if (!cT.is_valid_element(i)) continue;
        auto at = cT.get_multidimensional_index(i);
        cT[i] = max(cT[i], 0.0f) + (y + at[1]) + 2 * (x + at[0]);
    }"""
    body = COOPERATIVE.format(t="float", before="", after=after)
    source = matmul_source("coop", F16, m=m, n=n, groups=groups, body=body)
    check_matmul(kernels, source, "coop", F16, [(17, 29, 31), (m, n, 17), (m + 1, n + 1, 5)], way, m, n, groups,
                 after=lambda x, r, c: np.maximum(x, 0) + r + 2 * c, threads=32 * groups or 1)


@pytest.mark.parametrize("way", MAIN)
def test_iterators(kernels, way):
    """begin, end, get, set, fill, load: c = a * b + 2 * c, element by element."""
    body = """
    auto cT = op.get_destination_cooperative_tensor<decltype(mA), decltype(mB), float>();
    auto dT = op.get_destination_cooperative_tensor<decltype(mA), decltype(mB), float>();
    cT.fill(1e30f);
    op.run(mA, mB, cT);
    dT.load(mC);
    auto from = dT.begin();
    for (auto it = cT.begin(); it != cT.end(); it++, ++from)
        if (cT.is_valid_element(it)) *it += *from;
    for (ushort i = 0; i < cT.get_capacity(); i++) {
        auto copy = dT;
        cT.set(i, cT.get(i) + copy.get(i));
    }
    if (is_iterator_compatible(cT, dT)) cT.store(mC);
"""
    for m, n, groups in ((32, 32, 2), (13, 7, 1)):
        source = matmul_source("it", F16, m=m, n=n, groups=groups, body=body)
        rng = np.random.default_rng(3)
        M, N, K = 29, 37, 17
        a, b, c = numbers(rng, (M, K), "half"), numbers(rng, (K, N), "half"), numbers(rng, (M, N), "float")
        want = double_of(a, "half") @ double_of(b, "half") + 2.0 * c
        arrays = [a, b, c, np.array([M, N, K, 0], np.int32)]
        kernels.run(source, "it", way, arrays, (-(-N // n) * 32 * groups, -(-M // m), 1), (32 * groups, 1, 1))
        assert_near(arrays[2], want, np.full(want.shape, K + 2.0), "float", f"iterators {way}")


REDUCE = HEADER + """
constant constexpr int M = {m}, N = {n}, K = {k};
kernel void reduce(device half *a [[buffer(0)]], device half *b [[buffer(1)]], device {t} *c [[buffer(2)]],
                   device {t} *rows [[buffer(3)]], device {t} *columns [[buffer(4)]]) {{
    auto A = tensor(a, dextents<int, 2>(K, M));
    auto B = tensor(b, dextents<int, 2>(N, K));
    auto C = tensor(c, dextents<int, 2>(N, M));
    constexpr auto d = matmul2d_descriptor(M, N, K);
    matmul2d<d, execution_simdgroup> op;
    auto cT = op.get_destination_cooperative_tensor<decltype(A), decltype(B), {t}>();
    op.run(A, B, cT);
    auto r = op.get_row_reduction_destination_cooperative_tensor<decltype(A), decltype(B), {t}>();
    auto l = op.get_column_reduction_destination_cooperative_tensor<decltype(A), decltype(B), {t}>();
    reduce_rows(cT, r, reduction_operation::{op}, reduction_operation_identity<{t}>::{op}_identity);
    reduce_columns(cT, l, reduction_operation::{op}, reduction_operation_identity<{t}>::{op}_identity);
    auto R = tensor(rows, dextents<int, 1>(M));
    auto L = tensor(columns, dextents<int, 1>(N));
    r.store(R);
    l.store(L);
    for (auto it = cT.begin(); it != cT.end(); it++)
        if (cT.is_valid_element(it)) *it -= *r.map_iterator(it) + *l.map_iterator(it);
    if (is_iterator_compatible(cT, r) && is_iterator_compatible(cT, l)) cT.store(C);
}}
"""


@pytest.mark.sample(5)
@pytest.mark.parametrize("way", MAIN)
@pytest.mark.parametrize("op", ["sum", "max", "min"])
@pytest.mark.parametrize("m,n", [(16, 32), (17, 29), (8, 64), (3, 1)])
def test_reductions(kernels, m, n, op, way):
    k = 11
    rng = np.random.default_rng(5)
    a, b = numbers(rng, (m, k), "half"), numbers(rng, (k, n), "half")
    c, rows, columns = np.zeros((m, n), np.float32), np.zeros(m, np.float32), np.zeros(n, np.float32)
    source = REDUCE.format(m=m, n=n, k=k, t="float", op=op)
    kernels.run(source, "reduce", way, [a, b, c, rows, columns], (32, 1, 1), (32, 1, 1))
    want = double_of(a, "half") @ double_of(b, "half")
    f = {"sum": np.sum, "max": np.max, "min": np.min}[op]
    assert np.allclose(rows, f(want, 1), rtol=1e-5, atol=1e-5)
    assert np.allclose(columns, f(want, 0), rtol=1e-5, atol=1e-5)
    assert np.allclose(c, want - f(want, 1)[:, None] - f(want, 0)[None, :], rtol=1e-5, atol=1e-4)


INPUTS = HEADER + """
kernel void inputs(device {ta} *a [[buffer(0)]], device {tb} *b [[buffer(1)]], device float *c [[buffer(2)]],
                   uint s [[simdgroup_index_in_threadgroup]]) {{
    constexpr auto d = matmul2d_descriptor({m}, {n}, {k}, {left}, {right}, false,
                                           matmul2d_descriptor::mode::multiply_accumulate);
    matmul2d<d, execution_simdgroup> op;
    auto x = op.get_left_input_cooperative_tensor<{ta}, {tb}, float>();
    auto y = op.get_right_input_cooperative_tensor<{ta}, {tb}, float>();
    auto z = op.get_destination_cooperative_tensor<decltype(x), decltype(y), float>();
    a += s * {m} * {k}, b += s * {n} * {k}, c += s * {m} * {n};
    for (ushort i = 0; i < x.get_capacity(); i++) {{
        auto at = x.get_multidimensional_index(i);
        if (x.is_valid_element(i)) x[i] = a[at[1] * {ca} + at[0]];
    }}
    for (ushort i = 0; i < y.get_capacity(); i++) {{
        auto at = y.get_multidimensional_index(i);
        if (y.is_valid_element(i)) y[i] = b[at[1] * {cb} + at[0]];
    }}
    z.fill(1.0f);
    op.run(x, y, z);
    auto Z = tensor(c, dextents<int, 2>({n}, {m}));
    z.store(Z);
}}
"""


@pytest.mark.sample(5)
@pytest.mark.parametrize("way", MAIN)
@pytest.mark.parametrize("m,n,k,left,right", [(16, 32, 16, 0, 0), (16, 32, 16, 0, 1), (17, 29, 13, 1, 0), (8, 8, 8, 1, 1)])
def test_inputs(kernels, m, n, k, left, right, way):
    """Cooperative tensors on all three sides; each SIMD-group on its own."""
    rng = np.random.default_rng(9)
    for ta, tb in (("half", "half"), ("bfloat", "int8_t")):
        a, b = numbers(rng, (3, m, k), ta), numbers(rng, (3, k, n), tb)
        c = np.zeros((3, m, n), np.float32)
        da, db = double_of(a, ta), double_of(b, tb)
        want, size = da @ db + 1, np.abs(da) @ np.abs(db) + 1
        source = INPUTS.format(ta=ta, tb=tb, m=m, n=n, k=k, left="true" if left else "false",
                               right="true" if right else "false", ca=m if left else k, cb=k if right else n)
        arrays = [np.ascontiguousarray(a.swapaxes(1, 2) if left else a),
                  np.ascontiguousarray(b.swapaxes(1, 2) if right else b), c]
        kernels.run(source, "inputs", way, arrays, (96, 1, 1), (96, 1, 1))
        assert_near(c, want, size, "float", f"inputs {way}")


ATTENTION = HEADER + """
kernel void attention(device half *q [[buffer(0)]], device half *k [[buffer(1)]], device half *v [[buffer(2)]],
                      device float *o [[buffer(3)]]) {{
    auto Q = tensor(q, dextents<int, 2>({d}, {m}));
    auto K = tensor(k, dextents<int, 2>({d}, {n}));
    auto V = tensor(v, dextents<int, 2>({d}, {n}));
    auto O = tensor(o, dextents<int, 2>({d}, {m}));
    constexpr auto qk = matmul2d_descriptor({m}, {n}, {d}, false, true);
    constexpr auto pv = matmul2d_descriptor({m}, {d}, {n});
    matmul2d<qk, execution_simdgroup> first;
    matmul2d<pv, execution_simdgroup> second;
    auto s = first.get_destination_cooperative_tensor<decltype(Q), decltype(K), float>();
    first.run(Q, K, s);
    auto top = first.get_row_reduction_destination_cooperative_tensor<decltype(Q), decltype(K), float>();
    auto sum = first.get_row_reduction_destination_cooperative_tensor<decltype(Q), decltype(K), float>();
    reduce_rows(s, top, reduction_operation::max, -INFINITY);
    for (ushort i = 0; i < s.get_capacity(); i++)
        if (s.is_valid_element(i)) s[i] = exp(s[i] - *top.map_iterator(s.get_iterator(i)));
    reduce_rows(s, sum);
    threadgroup half p[{m} * {n}];
    auto r = second.get_destination_cooperative_tensor<decltype(Q), decltype(V), float>();
    for (ushort i = 0; i < s.get_capacity(); i++)
        if (s.is_valid_element(i)) s[i] /= *sum.map_iterator(s.get_iterator(i));
    if (second.is_compatible_as_left_input<half, half, float>(s)) {{
        auto x = second.get_left_input_cooperative_tensor<half, half, float>(s);
        second.run(x, V, r);
    }} else {{
        auto P = tensor(p, dextents<int, 2>({n}, {m}));
        s.store(P);
        simdgroup_barrier(mem_flags::mem_threadgroup);
        second.run(P, V, r);
    }}
    r.store(O);
}}
"""


@pytest.mark.parametrize("way", MAIN)
@pytest.mark.parametrize("m,n,d", [(16, 32, 64), (17, 29, 13)])
def test_attention(kernels, m, n, d, way):
    """A cooperative result becomes the left input of the next product."""
    rng = np.random.default_rng(2)
    q, k, v = numbers(rng, (m, d), "half"), numbers(rng, (n, d), "half"), numbers(rng, (n, d), "half")
    o = np.zeros((m, d), np.float32)
    s = double_of(q, "half") @ double_of(k, "half").T
    p = np.exp(s - s.max(1, keepdims=True))
    want = p / p.sum(1, keepdims=True) @ double_of(v, "half")
    kernels.run(ATTENTION.format(m=m, n=n, d=d), "attention", way, [q, k, v, o], (32, 1, 1), (32, 1, 1))
    assert np.allclose(o, want, atol=2e-3)


BLOCKED = HEADER + """
kernel void blocked(device float *a [[buffer(0)]], device float *b [[buffer(1)]], device float *c [[buffer(2)]],
                    constant int *size [[buffer(3)]], uint2 tg [[threadgroup_position_in_grid]],
                    uint tid [[thread_index_in_threadgroup]]) {{
    constexpr int T = {tile}, D = {depth};
    int M = size[0], N = size[1], K = size[2], row = tg.y * T, column = tg.x * T;
    threadgroup float sa[T * D], sb[D * T];
    auto A = tensor(sa, extents<int, D, T>());
    auto B = tensor(sb, extents<int, T, D>());
    auto C = tensor(c, dextents<int, 2>(N, M)).slice(column, row);
    constexpr auto d = matmul2d_descriptor(T, T, D, false, false, false, matmul2d_descriptor::mode::multiply_accumulate);
    matmul2d<d, execution_simdgroups<{groups}>> op;
    auto sum = op.get_destination_cooperative_tensor<decltype(A), decltype(B), float>();
    sum.fill(0);
    for (int k = 0; k < K; k += D) {{
        for (uint i = tid; i < T * D; i += {groups} * 32) {{
            int y = row + i / D, x = k + i % D;
            sa[i] = y < M && x < K ? a[y * K + x] : 0;
            y = k + i / T, x = column + i % T;
            sb[i] = y < K && x < N ? b[y * N + x] : 0;
        }}
        threadgroup_barrier(mem_flags::mem_threadgroup);
        op.run(A, B, sum);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }}
    sum.store(C);
}}
"""


@pytest.mark.sample(4)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("groups,tile,depth", [(1, 32, 16), (4, 32, 8), (2, 24, 7)])
def test_barriers(kernels, groups, tile, depth, way):
    """Threadgroup memory filled, used and filled again: the sums live across barriers."""
    t = ("float", "float", "float")
    source = BLOCKED.format(groups=groups, tile=tile, depth=depth)
    check_matmul(kernels, source, "blocked", t, [(29, 17, 113), (64, 33, 31)], way, tile, tile, groups)


def test_layout_is_randomised(kernels):
    """A program that takes element i of thread l for position 32 * i + l is wrong, and only then."""
    body = """
    auto cT = op.get_destination_cooperative_tensor<decltype(mA), decltype(mB), float>();
    op.run(mA, mB, cT);
    for (ushort i = 0; i < cT.get_capacity(); i++) c[i * 32 + tid] = cT[i];
"""
    source = matmul_source("lazy", F16, m=8, n=32, groups=1, body=body)
    rng = np.random.default_rng(1)
    a, b = numbers(rng, (8, 16), "half"), numbers(rng, (16, 32), "half")
    want = double_of(a, "half") @ double_of(b, "half")
    for way, right in (("w32", True), ("w1", True), ("random", False), ("w1-random", False)):
        c = np.zeros((8, 32), np.float32)
        kernels.run(source, "lazy", way, [a, b, c, np.array([8, 32, 16, 0], np.int32)], (32, 1, 1), (32, 1, 1))
        assert np.allclose(c, want, atol=1e-5) == right, way
        assert np.allclose(np.sort(c.ravel()), np.sort(want.ravel()), atol=1e-5), way


@pytest.mark.parametrize("way", ["w32-checked", "w1-checked"])
def test_extents_that_lie(kernels, way):
    """With checks, a matrix that is not all in its buffer is reported by each thread and nothing is touched."""
    source = matmul_source("mm", F16, m=16, n=16, groups=1)
    for short in range(3):  # the last element of this one is missing
        arrays = [np.ones(256 - (i == short), t) for i, t in enumerate((np.float16, np.float16, np.float32))]
        kernels.run(source, "mm", way, [*arrays, np.array([16, 16, 16, 0], np.int32)], (32, 1, 1), (32, 1, 1), n_reports=32)
        assert (arrays[2] == 1).all()
    source = CONVOLUTION.format(ta="half", tw="half", td="float", kw=3, kh=3, tile="8, 4, 4, 1", stride="1, 1", dilation="1, 1",
                                offset="-1, -1", groups=1, mode="multiply", body=CONVOLUTION_BODIES[0])
    for short in range(3):
        lengths = [8 * 4 * 4, 8 * 8 * 9, 8 * 4 * 4]
        arrays = [np.ones(n - (i == short), t) for i, (n, t) in enumerate(zip(lengths, (np.float16, np.float16, np.float32)))]
        size = np.array([8, 4, 4, 1, 8, 4, 4, 0], np.int32)
        kernels.run(source, "convolve", way, [*arrays, size], (32, 1, 1), (32, 1, 1), n_reports=32)
        assert (arrays[2] == 1).all()


NIBBLES = HEADER + """
kernel void nibbles(device {ta} *a [[buffer(0)]], device uchar *b [[buffer(1)]], device {tc} *c [[buffer(2)]],
                    constant int *size [[buffer(3)]], uint2 tg [[threadgroup_position_in_grid]]) {{
    int M = size[0], N = size[1], K = size[2];
    auto A = tensor(a, dextents<int, 2>(K, M)).slice(0, tg.y * {m});
    auto B = tensor<device {tb}, dextents<int, 2>, tensor_inline>(b, dextents<int, 2>({order})).slice({slice});
    auto C = tensor(c, dextents<int, 2>(N, M)).slice(tg.x * {n}, tg.y * {m});
    matmul2d<matmul2d_descriptor({m}, {n}, dynamic_length_v<int>, false, {transposed}), {scope}> op;
    op.run(A, B, C);
}}
"""


@pytest.mark.sample(3)
@pytest.mark.parametrize("scope", ["execution_simdgroups<2>", "execution_thread"])
@pytest.mark.parametrize("t", [("half", "int4b_format", "float"), ("bfloat", "uint4b_format", "bfloat"),
                               ("int8_t", "int4b_format", "int"), ("uint8_t", "uint4b_format", "int")], ids="-".join)
def test_nibbles(kernels, t, scope):
    """Weights of four bits, two to a byte, in rows that begin in the middle of one."""
    m, n, rng = 16, 24, np.random.default_rng(4)
    for transposed in (False, True):
        for M, N, K in ((17, 29, 31), (3, 24, 64)):
            a, c = numbers(rng, (M, K), t[0]), np.zeros((M, N), {"float": np.float32, "bfloat": np.uint16, "int": np.int32}[t[2]])
            b = rng.integers(0, 16, (K, N)) if t[1][0] == "u" else rng.integers(-8, 8, (K, N))
            flat = np.append((b.T if transposed else b).ravel() & 15, [0])[: (K * N + 1) // 2 * 2].astype(np.uint8)
            packed = (flat[0::2] | flat[1::2] << 4).astype(np.uint8)
            source = NIBBLES.format(ta=t[0], tb=t[1], tc=t[2], m=m, n=n, scope=scope, order="K, N" if transposed else "N, K",
                                    slice=f"0, tg.x * {n}" if transposed else f"tg.x * {n}, 0",
                                    transposed="true" if transposed else "false")
            width = 64 if "simd" in scope else 1
            for way in ("w32", "w1", "w32-checked"):
                if transposed and N > n:
                    break  # a row of an odd number of elements does not begin at a byte: no slice there
                kernels.run(source, "nibbles", way, [a, packed, c, np.array([M, N, K, 0], np.int32)],
                            (-(-N // n) * width, -(-M // m), 1), (width, 1, 1))
                da = double_of(a, t[0])
                assert_near(c, da @ b, np.abs(da) @ np.abs(b), t[2], f"nibbles {way} {M}x{N}x{K}")


CONVOLUTION = HEADER + """
kernel void convolve(device {ta} *a [[buffer(0)]], device {tw} *w [[buffer(1)]], device {td} *c [[buffer(2)]],
                     constant int *n [[buffer(3)]]) {{
    auto A = tensor(a, dextents<int, 4>(n[0], n[1], n[2], n[3]));
    auto W = tensor(w, dextents<int, 4>(n[4], n[0], {kw}, {kh}));
    auto C = tensor(c, dextents<int, 4>(n[4], n[5], n[6], n[3]));
    constexpr auto d = convolution2d_descriptor(
        int4({tile}), int4(8, 8, 8, 1), int2({kw}, {kh}), convolution2d_activation_layout::nhwc,
        convolution2d_weights_layout::hwio, int2({stride}), int2({dilation}), 1, false,
        convolution2d_descriptor::mode::{mode});
    convolution2d<d, execution_simdgroups<{groups}>> op;
    op.set_offsets(int2({offset}));
    {body}
}}
"""
CONVOLUTION_BODIES = ["op.run(A, W, C);", """
    auto cT = op.get_destination_cooperative_tensor<decltype(A), decltype(W), {td}>();
    cT.load(C);
    op.run(A, W, cT);
    for (ushort i = 0; i < cT.get_capacity(); i++) {{
        auto at = cT.get_multidimensional_index(i);
        if (cT.is_valid_element(i)) cT[i] += at[0] + 2 * at[1] + 4 * at[2] + 8 * at[3];
    }}
    cT.store(C);"""]


@pytest.mark.sample(3)
@pytest.mark.parametrize("way", ["w32", "w1", "random", "w32-checked"])
@pytest.mark.parametrize("body", [0, 1])
@pytest.mark.parametrize("t,groups,stride,dilation,offset,kernel", [
    (("half", "half", "float"), 4, (1, 1), (1, 1), (-1, -1), (3, 3)), (("float", "float", "float"), 1, (2, 1), (1, 2), (0, 1), (3, 2)),
    (("half", "half", "half"), 2, (1, 1), (2, 2), (-2, -2), (3, 3)), (("int8_t", "int8_t", "int"), 2, (1, 2), (1, 1), (0, 0), (1, 1))])
def test_convolution(kernels, t, groups, stride, dilation, offset, kernel, body, way):
    """Padding, strides, dilations; a tile that is larger than the result, and one that is smaller."""
    rng = np.random.default_rng(6)
    for (channels, width, height, batch, outputs), tile in (((5, 9, 7, 2, 11), (16, 8, 8, 2)), ((16, 6, 6, 1, 16), (8, 5, 6, 1))):
        kw, kh = kernel
        ow, oh = (-(-width // stride[0]), -(-height // stride[1]))
        a, w = numbers(rng, (batch, height, width, channels), t[0]), numbers(rng, (kh, kw, channels, outputs), t[1])
        c = numbers(rng, (batch, oh, ow, outputs), t[2])
        da, dw, dc = double_of(a, t[0]), double_of(w, t[1]), double_of(c, t[2])
        want, size = dc.copy(), np.abs(dc)
        for n in range(min(batch, tile[3])):
            for y in range(min(oh, tile[2])):
                for x in range(min(ow, tile[1])):
                    o = min(outputs, tile[0])
                    total, magnitude = (dc[n, y, x, :o] if body else 0) + np.zeros(o), np.zeros(o)
                    for ky in range(kh):
                        for kx in range(kw):
                            sx = x * stride[0] + kx * dilation[0] + offset[0]
                            sy = y * stride[1] + ky * dilation[1] + offset[1]
                            if 0 <= sx < width and 0 <= sy < height:
                                total = total + da[n, sy, sx] @ dw[ky, kx, :, :o]
                                magnitude += np.abs(da[n, sy, sx]) @ np.abs(dw[ky, kx, :, :o])
                    want[n, y, x, :o] = total + (np.arange(o) + 2 * x + 4 * y + 8 * n if body else 0)
                    size[n, y, x, :o] += magnitude + 64
        pair = lambda v: f"{v[0]}, {v[1]}"
        source = CONVOLUTION.format(ta=t[0], tw=t[1], td=t[2], kw=kw, kh=kh, tile=", ".join(map(str, tile)), stride=pair(stride),
                                    dilation=pair(dilation), offset=pair(offset), groups=groups,
                                    mode="multiply_accumulate" if body else "multiply",
                                    body=CONVOLUTION_BODIES[body].format(td=t[2]))
        arrays = [a, w, c, np.array([channels, width, height, batch, outputs, ow, oh, 0], np.int32)]
        kernels.run(source, "convolve", way, arrays, (32 * groups, 1, 1), (32 * groups, 1, 1))
        if t[2] == "half":
            size *= 2.0**10  # the elements are rounded once more when the coordinates are added
        assert_near(c, want, size, t[2], f"convolution {way}")


PACKED = HEADER + """
template <typename T> struct Fragment {{ T e[8]; }};
static inline short2 corner(ushort lane) {{
    short quad = lane >> 2;
    return short2(((quad & 2) | (lane & 1)) * 4, (quad & 4) | ((lane >> 1) & 3));
}}
template <typename T> static Fragment<T> load(device T *p, int stride, ushort lane) {{
    short2 at = corner(lane);
    Fragment<T> f;
    for (short i = 0; i < 8; i++) f.e[i] = p[(at.y + i / 4 * 8) * stride + at.x + i % 4];
    return f;
}}
kernel void packed(device {ta} *a [[buffer(0)]], device {tb} *b [[buffer(1)]], device float *c [[buffer(2)]],
                   ushort lane [[thread_index_in_simdgroup]]) {{
    constexpr auto d = matmul2d_descriptor(16, 32, 16, false, {right}, true, matmul2d_descriptor::mode::multiply_accumulate);
    matmul2d<d, execution_simdgroup> op;
    Fragment<float> sums[2] = {{}};
    for (int k = 0; k < {k}; k += 16) {{
        Fragment<{ta}> x = load(a + k, {k}, lane);
        auto ct_a = op.get_left_input_cooperative_tensor<{ta}, {tb}, float>();
        auto ct_b = op.get_right_input_cooperative_tensor<{ta}, {tb}, float>();
        auto ct_c = op.get_destination_cooperative_tensor<decltype(ct_a), decltype(ct_b), float>();
        for (short i = 0; i < 8; i++) ct_a[i] = x.e[i];
        for (short f = 0; f < 2; f++) {{
            Fragment<{tb}> y = {right} ? load(b + f * 16 * {k} + k, {k}, lane) : load(b + k * 32 + f * 16, 32, lane);
            for (short i = 0; i < 8; i++) ct_b[f * 8 + i] = y.e[i], ct_c[f * 8 + i] = sums[f].e[i];
        }}
        op.run(ct_a, ct_b, ct_c);
        for (short i = 0; i < 16; i++) sums[i / 8].e[i % 8] = ct_c[i];
    }}
    short2 at = corner(lane);
    for (short i = 0; i < 16; i++) c[(at.y + (i / 4 & 1) * 8) * 32 + i / 8 * 16 + at.x + i % 4] = sums[i / 8].e[i % 8];
}}
"""


@pytest.mark.sample(3)
@pytest.mark.parametrize("way", ["w32", "w1", "avx2", "w32-checked"])
@pytest.mark.parametrize("right", [False, True])
def test_packed_registers(kernels, right, way):
    """Programs that pack the fragments of 16 x 16 themselves, without asking for coordinates."""
    rng, k = np.random.default_rng(8), 48
    for ta, tb in (("half", "half"), ("bfloat", "float"), ("int8_t", "half")):
        a, b, c = numbers(rng, (16, k), ta), numbers(rng, (k, 32), tb), np.zeros((16, 32), np.float32)
        da, db = double_of(a, ta), double_of(b, tb)
        source = PACKED.format(ta=ta, tb=tb, k=k, right="true" if right else "false")
        kernels.run(source, "packed", way, [a, np.ascontiguousarray(b.T) if right else b, c], (32, 1, 1), (32, 1, 1))
        assert_near(c, da @ db, np.abs(da) @ np.abs(db), "float", f"packed {way}")


OWN = HEADER + """
kernel void own(constant half *a [[buffer(0)]], device half *b [[buffer(1)]], device float *c [[buffer(2)]],
                device uint *which [[buffer(3)]], uint tid [[thread_index_in_threadgroup]]) {{
    uint s = tid / 32; // the same for all threads of a SIMD-group, which the compiler cannot see
    auto A = tensor(a + which[s] * 17 * 19, dextents<int, 2>(19, 17));
    auto B = tensor(b + s * 19 * 13, dextents<int, 2>(13, 19));
    auto C = tensor(c + s * 17 * 13, dextents<int, 2>(13, 17));
    matmul2d<matmul2d_descriptor(17, 13, 19), execution_simdgroup> op;
    if (which[s] == 7) return;
    if (tid / 32 != 2) {{
        op.run(A, B, C);
    }} else {{
        auto cT = op.get_destination_cooperative_tensor<decltype(A), decltype(B), float>();
        op.run(A, B, cT);
        cT.store(C);
    }}
}}
"""


@pytest.mark.parametrize("way", WAYS)
def test_simdgroups_of_their_own(kernels, way):
    """One product for each SIMD-group, one of them none; the last has half of its threads. Left in constant memory."""
    rng = np.random.default_rng(12)
    a, b = numbers(rng, (4, 17, 19), "half"), numbers(rng, (4, 19, 13), "half")
    c, which = np.full((4, 17, 13), 5, np.float32), np.array([3, 7, 0, 1], np.uint32)
    kernels.run(OWN.format(), "own", way, [a, b, c, which], (112, 1, 1), (112, 1, 1))
    for s, w in enumerate(which):
        da, db = double_of(a[w % 4], "half"), double_of(b[s], "half")
        assert_near(c[s], da @ db if w != 7 else np.full((17, 13), 5.0), np.abs(da) @ np.abs(db), "float", f"own {way} {s}")


def test_large_tensors_need_no_copy():
    """Set to zero and copied as a whole, a cooperative tensor is still laid out by element."""
    body = """
    auto cT = op.get_destination_cooperative_tensor<decltype(mA), decltype(mB), {t}>();
    for (ushort i = 0; i < cT.get_capacity(); i++) cT[i] = 0;
    auto best = cT;
    for (int i = 0; i < M; i++) {{
        op.run(mA, mB, cT);
        if (i == 3) best = cT;
    }}
    op.run(mA, mB, best);
    best.store(mC);
"""
    with tempfile.TemporaryDirectory() as folder:
        for t in (F16, ("half", "half", "half")):
            path = os.path.join(folder, "large.metal")
            with open(path, "w") as f:
                f.write(matmul_source("large", t, m=128, n=128, groups=4, accumulate=True, body=body.format(t=t[2])))
            r = subprocess.run([ex.MSLC, "build", path, "--emit=ll", "--function", "large", "--group", "128"],
                               capture_output=True, text=True, timeout=120)
            assert r.returncode == 0, r.stderr
            assert "tensor.op" in r.stdout and "tensor.slab" not in r.stdout
