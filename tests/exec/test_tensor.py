# SPDX-License-Identifier: Apache-2.0
"""matmul2d and cooperative tensors (tests/exec/test_tensor.py) against NumPy in double precision.

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
        "random": ([RANDOM], ["--width", "32"]), "w1-random": ([RANDOM], ["--width", "1"]),
        "avx2": ([], ["--width", "32", "--cpu", "x86-64-v3"])}


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

    def run(self, source, kernel, way, arrays, grid, group, threadgroup=None):
        library_options, options = WAYS[way]
        library = self.library(source, library_options)
        key = (library, kernel, way, group)
        if key not in self.objects:
            so = os.path.join(self.folder, f"o{len(self.objects)}.so")
            r = subprocess.run([ex.MSLC, "build", library, "--emit=obj", "--function", kernel, "-o", so, "--group",
                                ",".join(map(str, group)), *options], capture_output=True, text=True, timeout=120)
            assert r.returncode == 0, r.stderr + r.stdout
            self.objects[key] = so
        run = types.SimpleNamespace(args=dict(enumerate(arrays)), memory=threadgroup or {}, grid=grid, group=group)
        placed = {i: ex.between_pages(a, True) for i, a in enumerate(arrays)}
        ex.reports.clear()
        ex.execute(run, self.objects[key], placed)
        assert not ex.reports, f"{kernel} {way}: {ex.reports[0]}"
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
    check_matmul(kernels, source, "mm", F16, sizes, way, 64, 32, groups)
