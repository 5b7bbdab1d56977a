# SPDX-License-Identifier: Apache-2.0
"""A generated library of 600 kernels and more than 10,000 lines: one parse opens it, a pipeline compiles
one kernel of it. The kernels are arithmetic on a small register machine, so that Python can do it too."""
import os
import subprocess

import numpy as np
import pytest

from runner import INGOT, check

N_KERNELS = 600
OPS = ["a = a * {c}u + b", "b ^= a >> {s}", "c += rotate(a, {s}u)", "a -= c & {m}u", "b = min(b, c) + {c}u",
       "c = a > b ? c - {c}u : c ^ {m}u", "a = (a << {s}) | (b >> {t})", "b += popcount(c) * {c}u"]
M = (1 << 32) - 1


def program(k):
    """The statements of kernel k: (operation, constants)."""
    r = np.random.default_rng(k)
    return [(int(r.integers(len(OPS))), int(r.integers(1, 1 << 16)), int(r.integers(1, 31))) for _ in range(9)]


def run(k, a, b, c):
    for _ in range(k % 5 + 1):
        for op, const, s in program(k):
            m, t = const * 77 & M, 32 - s
            if op == 0:
                a = (a * const + b) & M
            elif op == 1:
                b ^= a >> s
            elif op == 2:
                c = (c + (a << s | a >> t)) & M
            elif op == 3:
                a = (a - (c & m)) & M
            elif op == 4:
                b = (min(b, c) + const) & M
            elif op == 5:
                c = (c - const) & M if a > b else c ^ m
            elif op == 6:
                a = (a << s | b >> t) & M
            else:
                b = (b + bin(c).count("1") * const) & M
            a &= M
    return (a ^ b ^ c) & M


def source():
    lines = ["// generated: do not edit", "#include <metal_stdlib>", "using namespace metal;", "",
             "struct Seed {", "    uint b;", "    uint c;", "};", ""]
    for k in range(N_KERNELS):
        lines += [f"// kernel {k}", f"static inline uint mix_{k}(uint a, uint b, uint c)", "{",
                  f"    for (uint round = 0; round < {k % 5 + 1}u; ++round)", "    {"]
        for op, const, s in program(k):
            lines.append("        " + OPS[op].format(c=const, s=s, m=const * 77 & M, t=32 - s) + ";")
        lines += ["    }", "    return a ^ b ^ c;", "}", "",
                  f"kernel void kernel_{k:03d}(device const uint *in [[buffer(0)]], device uint *out [[buffer(1)]],",
                  "                       constant Seed &seed [[buffer(2)]], uint i [[thread_position_in_grid]])",
                  "{", f"    out[i] = mix_{k}(in[i], seed.b, seed.c);", "}", ""]
    return "\n".join(lines)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    path = tmp_path_factory.mktemp("library") / "library.metal"
    path.write_text(source())
    assert source().count("\n") > 10000
    return str(path)


def test_opens_and_lists(library, tmp_path):
    done = subprocess.run([INGOT, "build", library, "-o", str(tmp_path / "x.metallib")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert os.path.getsize(tmp_path / "x.metallib") > 100000
    listed = subprocess.run([INGOT, "reflect", str(tmp_path / "x.metallib")], capture_output=True, text=True, check=False)
    assert listed.returncode == 0 and listed.stdout.count("kernel kernel_") == N_KERNELS, listed.stderr[-2000:]


@pytest.mark.parametrize("k", [0, 1, 77, 299, 300, 451, 598, 599])
def test_kernels(library, k):
    x = np.random.default_rng(k).integers(0, 1 << 32, 100).astype(np.uint32)
    want = np.array([run(k, v, 12345, 999983) for v in x.tolist()], np.uint32)
    check(library, f"kernel_{k:03d}", 100, 32, {0: x, 1: x * 0, 2: np.array([12345, 999983], np.uint32)}, {1: want})


def test_runs_from_the_metallib(library, tmp_path):
    lib = str(tmp_path / "x.metallib")
    subprocess.run([INGOT, "build", library, "-o", lib], check=True)
    x = np.arange(70, dtype=np.uint32)
    want = np.array([run(123, v, 1, 2) for v in x.tolist()], np.uint32)
    check(lib, "kernel_123", 70, 64, {0: x, 1: x * 0, 2: np.array([1, 2], np.uint32)}, {1: want})
