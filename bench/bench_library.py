#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels as libraries write them (library.metal), beside what a user would run instead.

    PYTHONPATH=build/python python3 bench/bench_library.py [--rounds N] [NAME ...]

The peer is PyTorch where it is installed and NumPy otherwise (and where PyTorch has no such operation),
on as many threads as Ingot. Every round runs both in turns; a row gives the medians of the times and of
the ratios. Results are compared: a row that differs says so, and the exit status is 1."""

import argparse
import os
import statistics
import sys
import time

import numpy as np

import pymetal as pm

try:
    import torch
except ImportError:
    torch = None

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "library.metal")
RNG = np.random.default_rng(7)
CASES = {}
GOAL = 0.9  # of the speed of the peer


class Case:
    """Arguments in the order of the kernel's buffers (arrays, or ints as constants), the result's place
    among them, the grid in threads, the threadgroup, the peer's function and what the result must be."""

    def __init__(self, args, out, grid, group, peer, expected=None, tolerance=1e-4, shared=0, work=0):
        self.args, self.out, self.grid, self.group = args, out, grid, group
        self.peer, self.expected, self.tolerance = peer, expected, tolerance
        self.shared, self.work = shared, work  # bytes of threadgroup memory; bytes moved, for the rate


def case(function):
    CASES[function.__name__] = function
    return function


def floats(*shape):
    return RNG.standard_normal(shape, dtype=np.float32)


def of(array):
    """What the peer works on."""
    return torch.from_numpy(array) if torch else array


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


def product(weights, x):
    """Peer and result of a product with a vector, of weights that are float already."""
    w, v = of(weights), of(x)
    return (lambda: w @ v), weights @ x


# ---- language models ----

ROWS, COLUMNS = 4096, 4096


@case
def mv_half():
    a, x = floats(ROWS, COLUMNS).astype(np.float16), floats(COLUMNS)
    w, v = of(a), of(x.astype(np.float16))
    return Case([a, x, zeros(ROWS), COLUMNS], 2, (ROWS * 32,), (32,), lambda: w @ v,
                a.astype(np.float32) @ x, 1e-3, work=a.nbytes)


@case
def mv_float():
    a, x = floats(ROWS, COLUMNS), floats(COLUMNS)
    peer, result = product(a, x)
    return Case([a, x, zeros(ROWS), COLUMNS], 2, (ROWS * 32,), (32,), peer, result, 1e-3, work=a.nbytes)


@case
def mv_int8():
    q = RNG.integers(-127, 128, (ROWS, COLUMNS // 32, 32), np.int8)
    scale = RNG.random((ROWS, COLUMNS // 32, 1), np.float32).astype(np.float16)
    blocks = np.concatenate([scale.view(np.int8), q], axis=2)
    x, weights = floats(COLUMNS), (q * scale.astype(np.float32)).reshape(ROWS, COLUMNS)
    peer, result = product(weights, x)
    return Case([blocks, x, zeros(ROWS), COLUMNS], 2, (ROWS * 32,), (32,), peer, result, 1e-3,
                work=blocks.nbytes)


@case
def mv_int4():
    q = RNG.integers(0, 256, (ROWS, COLUMNS // 32, 16), np.uint8)
    scale = RNG.random((ROWS, COLUMNS // 32, 1), np.float32).astype(np.float16)
    blocks = np.concatenate([scale.view(np.uint8), q], axis=2)
    numbers = np.concatenate([q & 15, q >> 4], axis=2).astype(np.float32) - 8
    x, weights = floats(COLUMNS), (numbers * scale.astype(np.float32)).reshape(ROWS, COLUMNS)
    peer, result = product(weights, x)
    return Case([blocks, x, zeros(ROWS), COLUMNS], 2, (ROWS * 32,), (32,), peer, result, 1e-3,
                work=blocks.nbytes)


@case
def rms_norm():
    x, w = floats(512, 4096), floats(4096)
    a, b = of(x), of(w)
    result = x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-5) * w
    peer = ((lambda: torch.nn.functional.rms_norm(a, (4096,), b, 1e-5)) if torch
            else lambda: x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-5) * w)
    return Case([x, w, zeros(512, 4096), 4096], 2, (512 * 256,), (256,), peer, result, shared=128,
                work=2 * x.nbytes)


def normal(x, w):
    d = x - x.mean(1, keepdims=True)
    return d / np.sqrt((d * d).mean(1, keepdims=True) + 1e-5) * w


@case
def layer_norm():
    x, w = floats(512, 4096), floats(4096)
    a, b = of(x), of(w)
    peer = (lambda: torch.nn.functional.layer_norm(a, (4096,), b)) if torch else lambda: normal(x, w)
    return Case([x, w, zeros(512, 4096), 4096], 2, (512 * 32,), (32,), peer, normal(x, w),
                work=2 * x.nbytes)


def weights_of(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


@case
def soft_max():
    x = floats(1024, 2048)
    a = of(x)
    peer = (lambda: torch.softmax(a, 1)) if torch else lambda: weights_of(x)
    return Case([x, zeros(1024, 2048), 2048], 1, (1024 * 32,), (32,), peer, weights_of(x),
                work=2 * x.nbytes)


@case
def rope():
    x, pairs, length = floats(2048, 1024, 2), 1024, 2048
    power = of(10000 ** -(np.arange(pairs, dtype=np.float32) / pairs))
    places, c, a = of(np.arange(length, dtype=np.float32)[:, None]), torch or np, of(x)

    def turned():
        angle = places * power
        cos, sin = c.cos(angle), c.sin(angle)
        return c.stack([a[..., 0] * cos - a[..., 1] * sin, a[..., 0] * sin + a[..., 1] * cos], -1)
    return Case([x, zeros(length, pairs, 2), pairs], 1, (pairs, length), (32, 8), turned,
                np.asarray(turned()), 5e-3, work=2 * x.nbytes)


@case
def swiglu():
    g, u = floats(1 << 22).astype(np.float16), floats(1 << 22).astype(np.float16)
    wide = g.astype(np.float32)
    result = wide / (1 + np.exp(-wide)) * u
    a, b = of(g), of(u)
    peer = (lambda: torch.nn.functional.silu(a) * b) if torch else lambda: g / (1 + np.exp(-g)) * u
    return Case([g, u, zeros(1 << 22, dtype=np.float16)], 2, (1 << 20,), (256,), peer, result, 2e-3,
                work=3 * g.nbytes)


@case
def decode_attention():
    heads, length = 32, 1024
    q, k, v = floats(heads, 1, 128), floats(heads, length, 128), floats(heads, length, 128)
    s = (q @ k.transpose(0, 2, 1))[:, 0] / np.sqrt(128)
    result = (weights_of(s)[:, None, :] @ v)[:, 0]
    a, b, c = of(q), of(k), of(v)
    peer = ((lambda: torch.nn.functional.scaled_dot_product_attention(a, b, c)) if torch
            else lambda: weights_of((q @ k.transpose(0, 2, 1))[:, 0])[:, None, :] @ v)
    return Case([q, k, v, zeros(heads, 128), length], 3, (heads * 32,), (32,), peer, result, 1e-3,
                work=k.nbytes + v.nbytes)


@case
def arg_max():
    x = floats(64, 128256)
    a = of(x)
    return Case([x, zeros(64, dtype=np.int32), 128256], 1, (64 * 32,), (32,), lambda: a.argmax(1),
                x.argmax(1), 0, work=x.nbytes)


@case
def embedding():
    ids, table = RNG.integers(0, 32000, 1024, np.int32), floats(32000, 1024)
    i, t = of(ids.astype(np.int64)), of(table)
    return Case([ids, table, zeros(1024, 1024), 256], 2, (256, 1024), (256, 1), lambda: t[i],
                table[ids], 0, work=2 * 1024 * 4096)


# ---- array frameworks ----

MANY = 1 << 22


@case
def multiply_add():
    x = [floats(MANY) for _ in range(3)]
    a, b, c = map(of, x)
    return Case([*x, zeros(MANY)], 3, (MANY // 4,), (256,), lambda: a * b + c, x[0] * x[1] + x[2],
                1e-5, work=16 * MANY)


@case
def gelu():
    x = floats(MANY)
    a = of(x)
    result = 0.5 * x * (1 + np.tanh(0.79788456 * (x + 0.044715 * x ** 3)))
    peer = ((lambda: torch.nn.functional.gelu(a, approximate="tanh")) if torch
            else lambda: 0.5 * x * (1 + np.tanh(0.79788456 * (x + 0.044715 * x * x * x))))
    return Case([x, zeros(MANY), MANY], 1, (MANY,), (256,), peer, result, 1e-5, work=8 * MANY)


@case
def select_where():
    m, x, y = RNG.integers(0, 2, MANY, np.uint8), floats(MANY), floats(MANY)
    a, b, c, lib = of(m.astype(bool)), of(x), of(y), torch or np
    return Case([m, x, y, zeros(MANY), MANY], 3, (MANY,), (256,), lambda: lib.where(a, b, c),
                np.where(m, x, y), 0, work=13 * MANY)


@case
def half_to_float():
    x = floats(MANY).astype(np.float16)
    a = of(x)
    peer = (lambda: a.float() * 0.5) if torch else lambda: x.astype(np.float32) * 0.5
    return Case([x, zeros(MANY), MANY], 1, (MANY,), (256,), peer, x.astype(np.float32) * 0.5, 0,
                work=6 * MANY)


@case
def row_sum():
    x = floats(2048, 2048)
    a = of(x)
    return Case([x, zeros(2048), 2048], 1, (2048 * 32,), (32,), lambda: a.sum(1), x.sum(1), 1e-3,
                work=x.nbytes)


@case
def column_sum():
    x = floats(2048, 2048)
    a = of(x)
    return Case([x, zeros(2048), 2048, 2048], 1, (2048,), (64,), lambda: a.sum(0), x.sum(0), 1e-3,
                work=x.nbytes)


@case
def transpose():
    x = floats(2048, 2048)
    a = of(x)
    peer = (lambda: a.t().contiguous()) if torch else lambda: np.ascontiguousarray(x.T)
    return Case([x, zeros(2048, 2048), 2048], 1, (2048, 2048), (16, 16), peer, x.T, 0, work=2 * x.nbytes)


@case
def cumulative_sum():
    x = floats(512, 8192)
    a = of(x)
    return Case([x, zeros(512, 8192), 8192], 1, (512 * 32,), (32,), lambda: a.cumsum(1),
                x.cumsum(1, dtype=np.float64), 1e-2, work=2 * x.nbytes)


@case
def product_matrices():
    a, b = floats(512, 512), floats(512, 512)
    peer, result = product(a, b)
    return Case([a, b, zeros(512, 512), 512], 2, (512, 16), (32, 1), peer, result, 1e-3)


@case
def product_registers():
    a, b = floats(512, 512), floats(512, 512)
    peer, result = product(a, b)
    return Case([a, b, zeros(512, 512), 512], 2, (128, 128), (32, 4), peer, result, 1e-3)


# ---- images ----

@case
def gray():
    x = RNG.integers(0, 256, (1 << 21, 4), np.uint8)
    w, a = np.float32([0.299, 0.587, 0.114]), of(x)
    weights = of(w)
    peer = ((lambda: (a[:, :3].float() @ weights).to(torch.uint8)) if torch
            else lambda: (x[:, :3] @ w).astype(np.uint8))
    return Case([x, zeros(1 << 21, dtype=np.uint8)], 1, (1 << 21,), (256,), peer,
                (x[:, :3] @ w).astype(np.uint8), 1, work=5 << 21)


def edges(x):
    v = np.pad(x, 1, mode="edge")
    n = len(x)
    at = lambda j, i: v[j:j + n, i:i + n]  # noqa: E731
    h = at(0, 2) + 2 * at(1, 2) + at(2, 2) - at(0, 0) - 2 * at(1, 0) - at(2, 0)
    w = at(2, 0) + 2 * at(2, 1) + at(2, 2) - at(0, 0) - 2 * at(0, 1) - at(0, 2)
    return np.sqrt(h * h + w * w)


@case
def sobel():
    x = floats(1024, 1024)
    peer = lambda: edges(x)  # noqa: E731
    if torch:
        h = torch.tensor([[-1., 0, 1], [-2, 0, 2], [-1, 0, 1]])
        both = torch.stack([h, h.t()])[:, None]
        a = of(x)[None, None]
        pad = torch.nn.functional.pad

        def peer():
            return torch.conv2d(pad(a, (1, 1, 1, 1), mode="replicate"), both).norm(dim=1)
    return Case([x, zeros(1024, 1024), 1024], 1, (1024, 1024), (32, 8), peer, edges(x), 1e-3,
                work=2 * x.nbytes)


@case
def histogram():
    x = RNG.integers(0, 256, MANY, np.uint8)
    a = of(x)
    peer = (lambda: torch.bincount(a, minlength=256)) if torch else lambda: np.bincount(x, minlength=256)
    return Case([x, zeros(256, dtype=np.uint32), MANY], 1, (64 * 256,), (256,), peer,
                np.bincount(x, minlength=256), 0, work=MANY)


def enlarged(x, m):
    n = len(x)
    at = np.maximum((np.arange(m, dtype=np.float32) + 0.5) * n / m - 0.5, 0)
    low = at.astype(int)
    high, f = np.minimum(low + 1, n - 1), (at - low).astype(np.float32)
    rows = x[low] * (1 - f)[:, None] + x[high] * f[:, None]
    return rows[:, low] * (1 - f) + rows[:, high] * f


@case
def resize():
    x = floats(768, 768)
    a = of(x)
    peer = ((lambda: torch.nn.functional.interpolate(a[None, None], (1024, 1024), mode="bilinear")) if torch
            else lambda: enlarged(x, 1024))
    return Case([x, zeros(1024, 1024), 768, 1024], 1, (1024, 1024), (32, 8), peer, enlarged(x, 1024), 1e-3,
                work=4 << 20)


# ---- physics ----

def pulls(x, lib):
    d = x[None, :, :3] - x[:, None, :3]
    r = ((d * d).sum(-1) + 1e-4) ** -1.5
    f = (d * (r * x[None, :, 3])[..., None]).sum(1)
    return lib.concatenate([f, f[:, :1] * 0], 1)


@case
def bodies():
    x = np.abs(floats(2048, 4))
    a = of(x)
    return Case([x, zeros(2048, 4), 2048], 1, (2048,), (64,), lambda: pulls(a, torch or np),
                pulls(x, np), 2e-2)


def spread(x):
    y = x.clone() if torch and isinstance(x, torch.Tensor) else x.copy()
    y[1:-1, 1:-1] += 0.2 * (x[1:-1, :-2] + x[1:-1, 2:] + x[:-2, 1:-1] + x[2:, 1:-1] - 4 * x[1:-1, 1:-1])
    return y


@case
def heat():
    x = floats(2048, 2048)
    a = of(x)
    return Case([x, zeros(2048, 2048), 2048], 1, (2048, 2048), (32, 8), lambda: spread(a), spread(x),
                work=2 * x.nbytes)


def fallen(p, v, lib):
    v = v - lib.asarray([0, 0.00981, 0, 0], dtype=v.dtype)
    p = p + v * 0.001
    low = p[:, 1] < 0
    p[:, 1] = lib.where(low, -p[:, 1], p[:, 1])
    v[:, 1] = lib.where(low, -0.5 * v[:, 1], v[:, 1])
    return p


@case
def particles():
    p, v = floats(1 << 19, 4), floats(1 << 19, 4)
    a, b = of(p.copy()), of(v.copy())
    return Case([p, v], 0, (1 << 19,), (256,), lambda: fallen(a, b, torch or np), fallen(p, v, np), 1e-5,
                work=4 * p.nbytes)


def pulled(ends, p, lib):
    d = p[ends[:, 1]] - p[ends[:, 0]]
    l = (d[:, :3] * d[:, :3]).sum(1) ** 0.5
    return d * ((l - 1) / lib.clip(l, 1e-6, None))[:, None]


@case
def springs():
    n = 1 << 18
    ends, p = RNG.integers(0, n, (1 << 19, 2), np.int32), floats(n, 4)
    a, b = of(ends.astype(np.int64)), of(p)
    return Case([ends, p, zeros(1 << 19, 4)], 2, (1 << 19,), (256,), lambda: pulled(a, b, torch or np),
                pulled(ends, p, np), 1e-3, work=(1 << 19) * 56)


# ---- running ----

class Runner:
    def __init__(self):
        self.device = pm.create_system_default_device()
        self.queue = self.device.new_command_queue()
        with open(SOURCE, encoding="utf-8") as file:
            self.library = self.device.new_library_with_source(file.read())

    def buffer(self, value):
        array = np.array(value, np.int32) if isinstance(value, int) else value
        b = self.device.new_buffer(max(array.nbytes, 4), pm.ResourceStorageModeShared)
        np.frombuffer(b.contents(), np.uint8)[:array.nbytes] = np.ascontiguousarray(array).view(np.uint8).ravel()
        return b

    def prepare(self, name, c):
        """A function that runs the kernel once, and one for its result."""
        state = self.device.new_compute_pipeline_state(self.library.new_function(name))
        buffers = [self.buffer(a) for a in c.args]
        grid, group = (*c.grid, 1, 1)[:3], (*c.group, 1, 1)[:3]

        def run():
            commands = self.queue.command_buffer()
            encoder = commands.compute_command_encoder()
            encoder.set_compute_pipeline_state(state)
            for i, b in enumerate(buffers):
                encoder.set_buffer(b, 0, i)
            if c.shared:
                encoder.set_threadgroup_memory_length(c.shared, 0)
            encoder.dispatch_threads(*grid, *group)
            encoder.end_encoding()
            commands.commit()
            commands.wait_until_completed()

        def result():
            out = c.args[c.out]
            return np.frombuffer(buffers[c.out].contents(), out.dtype)[:out.size].reshape(out.shape)
        return run, result


def milliseconds(function, least=0.05):
    """The median of as many calls as fit into a short while, five at least."""
    times, end = [], time.perf_counter() + least
    while len(times) < 5 or time.perf_counter() < end:
        begin = time.perf_counter()
        function()
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("names", nargs="*", help="only these kernels")
    a = p.parse_args()
    runner, wrong = Runner(), 0
    if torch:
        torch.set_num_threads(os.cpu_count())
    print(f"{'kernel':<20} {'Ingot, ms':>10} {'GB/s':>6} {'torch' if torch else 'NumPy':>9} {'ratio':>7}")
    short = []
    for name, make in CASES.items():
        if a.names and name not in a.names:
            continue
        c = make()
        run, result = runner.prepare(name, c)
        run()
        got, want = result().astype(np.float64), np.asarray(c.expected, np.float64).reshape(result().shape)
        error = np.abs(got - want).max() / max(1.0, np.abs(want).max())
        for _ in range(12):  # until the fast code is there
            run()
        time.sleep(0.5)
        mine, theirs = [], []
        for _ in range(a.rounds):
            mine.append(milliseconds(run))
            theirs.append(milliseconds(c.peer))
        ms = statistics.median(mine)
        rate = f"{c.work / ms / 1e6:.1f}" if c.work else ""
        ratio = statistics.median(t / m for t, m in zip(theirs, mine))
        if ratio < GOAL:
            short.append(f"{name} {ratio:.2f}")
        bad = "" if error <= c.tolerance else f"  RESULTS DIFFER by {error:.2g}"
        wrong += bool(bad)
        print(f"{name:<20} {ms:10.3f} {rate:>6} {statistics.median(theirs):9.3f} {ratio:6.2f}x{bad}", flush=True)
    print(f"short of {GOAL:g} times the peer: " + (", ".join(short) or "none"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
