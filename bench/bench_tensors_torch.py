#!/usr/bin/env python3
"""The tensor library against PyTorch (oneDNN, MKL), NumPy's OpenBLAS and STREAM, in one process.

usage: bench_tensors_torch.py LIBRARY-FOLDER [--stream PROGRAM] [--only SUBSTRING] [--rounds N]
       PYTHONPATH=build/python bench_tensors_torch.py LIBRARY-FOLDER --table [--only SUBSTRING]

Every round runs us and then each peer, so that all see the same machine; a row shows the medians of
the times and of the ratios of the rounds. Two threads each. With --table the operations of
tensor_operations.py, which need the Python package ingot, and which of them fall short of their goals.
With INGOT_CPU=x86-64-v3 the peers use the instructions of AVX2 as well. Rows without it:
  matmul   f32 512, 1024, 2048: against the better of torch.mm and OpenBLAS with the kernels for
           AVX-512 where the machine has it; f16 against our own f32
  GELU     a product with GELU behind it against the product alone
  fusion   relu(a + b) in one kernel against two, 16M elements
  add      16M elements against STREAM's add (bench_stream), GB/s
  MLP      a training step of 784-512-512-10, batch 256, cross-entropy, SGD with momentum
  small    microseconds per small operation, recorded, encoded and run, 256 elements
"""
import argparse
import ctypes as C
import importlib
import os
import re
import statistics
import subprocess
import sys
import time

for name in ("INGOT_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "2"
os.environ.setdefault("INGOT_SYNC_SPECIALISE", "1")  # measure the code, not the wait for it
HAS_AVX512 = " avx512f " in open("/proc/cpuinfo").read()
AVX2 = os.environ.get("INGOT_CPU") == "x86-64-v3"
if AVX2:
    os.environ.update(ATEN_CPU_CAPABILITY="avx2", ONEDNN_MAX_CPU_ISA="AVX2", MKL_ENABLE_INSTRUCTIONS="AVX2",
                      OPENBLAS_CORETYPE="Haswell")
elif HAS_AVX512:
    os.environ.setdefault("OPENBLAS_CORETYPE", "SkylakeX")

import numpy as np  # noqa: E402  (after the settings)
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

torch.set_num_threads(2)
P = C.c_void_p
F32, F16, I32 = 1, 0, 4
ALL = -1000


class Statistics(C.Structure):
    _fields_ = [(n, C.c_uint64) for n in ("kernels", "fused", "command_buffers", "compiled")]


class PoolStatistics(C.Structure):
    _fields_ = [(n, C.c_uint64) for n in (
        "total_pooled", "size_classes", "total_memory", "allocation_count", "reuse_count",
        "eviction_count", "live_memory")]


class Options(C.Structure):
    _fields_ = [("rate", C.c_double), ("weight_decay", C.c_double), ("momentum", C.c_double),
                ("dampening", C.c_double), ("nesterov", C.c_bool), ("beta1", C.c_double),
                ("beta2", C.c_double), ("alpha", C.c_double), ("epsilon", C.c_double)]


class Ingot:
    """The few functions used here; a failed call ends the program with its message."""

    def __init__(self, folder):
        self.metal = C.CDLL(os.path.join(folder, "libingot.so"))
        self.lib = C.CDLL(os.path.join(folder, "libingot-tensor.so"))
        self.metal.mtl_error_localized_description.restype = C.c_char_p
        self.metal.mtl_error_localized_description.argtypes = [P]
        self.error = P()
        self.e = C.byref(self.error)
        self.device = self.call("ig_device_default", P)(self.e)
        self.pool = self.call("ig_device_pool", P, P)(self.device)
        unary = {n: self.op(n, P) for n in ("relu", "gelu", "exp")}
        binary = {n: self.op(n, P, P) for n in ("add", "mul", "matmul")}
        self.__dict__.update(unary, **binary)
        self.add_scalar = self.op("add_scalar", P, C.c_double)
        self.cross_entropy = self.op("cross_entropy_loss", P, P, C.c_int)
        self._release = self.call("ig_release", None, P)
        self.eval = self.op("eval", P, result=C.c_bool)
        self.sync = self.op("device_synchronize", P, result=C.c_bool)
        self.begin = self.call("ig_scope_begin", P)
        self.end = self.call("ig_scope_end", None, P)
        self.backward = self.op("backward", P, P, P, result=C.c_bool)
        self.set_grad = self.op("set_requires_grad", P, C.c_bool, result=C.c_bool)
        self.item = self.op("item", P, C.POINTER(C.c_double), result=C.c_bool)
        self.step = self.op("optimizer_step", P, result=C.c_bool)
        self.zero_grad = self.call("ig_optimizer_zero_grad", None, P)
        self.new_optimizer = self.op("optimizer_new", C.c_int, C.c_int, P, P)
        self.statistics = self.call("ig_device_statistics", Statistics, P)
        self.pool_statistics = self.call("ig_pool_statistics", PoolStatistics, P)
        self.release = self._release

    def call(self, name, result, *args):
        f = getattr(self.lib, name)
        f.restype, f.argtypes = result, [*args] + ([C.POINTER(P)] if name == "ig_device_default" else [])
        return f

    def op(self, name, *args, result=P):
        f = getattr(self.lib, "ig_" + name)
        f.restype, f.argtypes = result, [*args, C.POINTER(P)]

        def run(*values):
            r = f(*values, self.e)
            if not r:
                sys.exit(f"{name}: {self.metal.mtl_error_localized_description(self.error).decode()}")
            return r
        return run

    def tensor(self, array):
        array = np.ascontiguousarray(array)
        kind = {np.dtype("f4"): F32, np.dtype("f2"): F16, np.dtype("i4"): I32}[array.dtype]
        shape = (C.c_int64 * max(1, array.ndim))(*array.shape)
        make = self.op("from_data", P, C.c_int, C.c_int, P, P)
        return make(self.device, kind, array.ndim, shape, array.ctypes.data)

    def done(self, t):
        """Makes the value, waits for it and lets it go."""
        self.eval(t)
        self.sync(self.device)
        self.release(t)


def clock(run, least=0.03):
    """Milliseconds of one call: the median of as many as fit into `least` seconds, at least 3."""
    run()
    times, begin = [], time.perf_counter()
    while len(times) < 3 or time.perf_counter() - begin < least:
        t = time.perf_counter()
        run()
        times.append(time.perf_counter() - t)
    return statistics.median(times) * 1e3


def compare(rounds, *runs, least=0.03, rest=0.01):
    """Medians of the times of each, and of the ratios of each to the first. rest: seconds between two."""
    for run in runs:
        run(), run()
    times = []
    for _ in range(rounds):
        row = []
        for run in runs:
            time.sleep(rest)  # the threads of the one before stop spinning
            row.append(clock(run, least))
        times.append(row)
    medians = [statistics.median(r[i] for r in times) for i in range(len(runs))]
    ratios = [statistics.median(r[i] / r[0] for r in times) for i in range(len(runs))]
    return medians, ratios


def row(name, text, figure, asked, good):
    print(f"{name:<22} {text:<74} {figure:>8} {asked:>9}  {'ok' if good else 'SHORT'}", flush=True)


def matmuls(ig, a):
    f32 = {}
    for n in (512, 1024, 2048):
        x, y = (np.random.default_rng(i).standard_normal((n, n)).astype("f4") for i in (1, 2))
        ix, iy, tx, ty = ig.tensor(x), ig.tensor(y), torch.tensor(x), torch.tensor(y)
        hx, hy = ig.tensor(x.astype("f2")), ig.tensor(y.astype("f2"))
        out, nout = torch.empty(n, n), np.empty((n, n), "f4")
        m, r = compare(a.rounds, lambda: ig.done(ig.matmul(ix, iy)),
                       lambda: torch.mm(tx, ty, out=out), lambda: np.matmul(x, y, out=nout),
                       lambda: ig.done(ig.matmul(hx, hy)),
                       lambda: ig.done(ig.gelu(ig.matmul(ix, iy))), rest=0.1)  # OpenBLAS's spin that long
        g = [2 * n**3 / t * 1e-6 for t in m]
        best = min(r[1], r[2])
        row(f"matmul f32 {n}", f"{m[0]:.2f} ms {g[0]:.0f} GFLOP/s; oneDNN {g[1]:.0f}, OpenBLAS {g[2]:.0f}",
            f"{100 * best:.0f} %", ">= 90 %", best >= 0.9)
        row(f"matmul f16 {n}", f"{m[3]:.2f} ms {g[3]:.0f} GFLOP/s; f32 {g[0]:.0f}",
            f"{100 / r[3]:.0f} %", ">= 100 %", r[3] <= 1)
        row(f"matmul + GELU {n}", f"{m[4]:.2f} ms; without {m[0]:.2f}", f"+{100 * (r[4] - 1):.1f} %",
            "<= 3 %", r[4] <= 1.03)
        f32[n] = m
        for t in (ix, iy, hx, hy):
            ig.release(t)


def large(ig, a):
    n = 1 << 24
    x, y = (np.random.default_rng(i).standard_normal(n).astype("f4") for i in (1, 2))
    ix, iy, tx, ty = ig.tensor(x), ig.tensor(y), torch.tensor(x), torch.tensor(y)
    out = torch.empty(n)

    def separate():
        t = ig.add(ix, iy)
        ig.eval(t)
        ig.done(ig.relu(t))
        ig.release(t)

    def fused():
        t = ig.add(ix, iy)
        ig.done(ig.relu(t))
        ig.release(t)

    stream = []
    if a.stream:
        for _ in range(a.rounds):
            text = subprocess.run([a.stream], capture_output=True, text=True, check=True).stdout
            stream.append({k: float(v) for k, v in re.findall(r"^(\w+)\t([\d.]+)", text, re.M)})
    m, r = compare(a.rounds, lambda: ig.done(ig.add(ix, iy)), lambda: torch.add(tx, ty, out=out),
                   fused, separate, lambda: ig.done(ig.relu(ix)), least=0.2)
    rate = 12 * n / m[0] * 1e-6
    if stream:
        best = max(statistics.median(s[k] for s in stream) for k in stream[0] if k.startswith("add"))
        row("add 16M", f"{m[0]:.1f} ms {rate:.1f} GB/s; STREAM add {best:.1f}, torch {12 * n / m[1] * 1e-6:.1f}",
            f"{100 * rate / best:.0f} %", ">= 85 %", rate >= 0.85 * best)
        best = max(statistics.median(s[k] for s in stream) for k in stream[0] if k.startswith("scale"))
        rate = 8 * n / m[4] * 1e-6
        row("relu 16M", f"{m[4]:.1f} ms {rate:.1f} GB/s; STREAM scale {best:.1f}",
            f"{100 * rate / best:.0f} %", ">= 85 %", rate >= 0.85 * best)
    row("add + relu 16M", f"{m[2]:.1f} ms; separate {m[3]:.1f}", f"{m[3] / m[2]:.2f}x", ">= 1.65x",
        m[3] / m[2] >= 1.65)
    ig.release(ix), ig.release(iy)


SIZES = (784, 512, 512, 10)


class OurMlp:
    def __init__(self, ig, x, labels):
        rng = np.random.default_rng(3)
        self.ig, self.x, self.labels = ig, ig.tensor(x), ig.tensor(labels)
        self.layers = [(ig.tensor((rng.standard_normal((i, o)) / i**0.5).astype("f4")),
                        ig.tensor(np.zeros(o, "f4"))) for i, o in zip(SIZES, SIZES[1:])]
        all_of = [t for layer in self.layers for t in layer]
        for t in all_of:
            ig.set_grad(t, True)
        options = Options(rate=0.01, momentum=0.9, beta1=0.9, beta2=0.999, alpha=0.99, epsilon=1e-8)
        self.optimizer = ig.new_optimizer(0, len(all_of), (P * len(all_of))(*all_of), C.addressof(options))

    def step(self):
        ig, scope = self.ig, self.ig.begin()
        h = self.x
        for i, (w, b) in enumerate(self.layers):
            h = ig.add(ig.matmul(h, w), b)
            if i < 2:
                h = ig.relu(h)
        loss = ig.cross_entropy(h, self.labels, 0)
        ig.backward(loss, None, None)
        ig.step(self.optimizer)
        ig.zero_grad(self.optimizer)
        value = C.c_double()
        ig.item(loss, C.byref(value))
        ig.end(scope)
        return value.value


def mlp(ig, a):
    rng = np.random.default_rng(2)
    x, labels = rng.standard_normal((256, 784)).astype("f4"), rng.integers(0, 10, 256).astype("i4")
    ours = OurMlp(ig, x, labels)
    tx, tl = torch.tensor(x), torch.tensor(labels).long()
    net = torch.nn.Sequential(torch.nn.Linear(784, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512),
                              torch.nn.ReLU(), torch.nn.Linear(512, 10))
    optimizer = torch.optim.SGD(net.parameters(), 0.01, 0.9, fused=True)

    def step_of(model):
        def step():
            loss = F.cross_entropy(model(tx), tl)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            return loss.item()
        return step

    peers = [step_of(net)]
    if a.compile:
        peers.append(step_of(torch.compile(net)))
    before, p0 = ig.statistics(ig.device), ig.pool_statistics(ig.pool)
    ours.step(), ours.step()
    s0 = ig.statistics(ig.device)
    ours.step()
    s1 = ig.statistics(ig.device)
    m, r = compare(a.rounds, ours.step, *peers, least=0.3)
    p1 = ig.pool_statistics(ig.pool)
    reuse = (p1.reuse_count - p0.reuse_count) / (p1.allocation_count - p0.allocation_count)
    row("MLP training step", f"{m[0]:.2f} ms, {s1.kernels - s0.kernels} kernels, "
        f"{s1.command_buffers - s0.command_buffers} command buffers; PyTorch "
        + ", compiled ".join(f"{t:.2f} ms" for t in m[1:]), f"{r[1]:.2f}x", ">= 1.5x", r[1] >= 1.5)
    row("pool reuse", f"of {p1.allocation_count - p0.allocation_count} requests, evicted "
        f"{p1.eviction_count - p0.eviction_count}", f"{100 * reuse:.1f} %", "> 95 %", reuse > 0.95)
    assert s0.compiled == s1.compiled, before.compiled


def small(ig, a):
    x = np.random.default_rng(1).standard_normal(256).astype("f4")
    ix, tx = ig.tensor(x), torch.tensor(x)
    n = 1000

    def chain_of(evaluate):
        def chain():
            t = ig.add_scalar(ix, 0.5)
            for _ in range(n):
                last, t = t, ig.add_scalar(t, 0.5)
                if evaluate:
                    ig.eval(t)
                ig.release(last)
            ig.done(t)
        return chain

    def theirs():
        t = tx
        for _ in range(n):
            t = t + 0.5

    def nothing():
        for _ in range(n):
            ig.statistics  # the loop
            ig.lib.ig_type(P(0))

    def alone():
        for _ in range(n):
            ig.done(ig.add_scalar(ix, 0.5))

    m, _ = compare(a.rounds, chain_of(True), chain_of(False), theirs, nothing, alone)
    us = [t * 1e3 / n for t in m]
    row("small op, own kernel", f"{us[0]:.2f} us (ctypes call {us[3]:.2f} us, three per op); torch {us[2]:.2f}",
        f"{us[0]:.2f} us", "< 3 us", us[0] < 3)
    row("small op, fused", f"{us[1]:.2f} us", f"{us[1]:.2f} us", "< 3 us", us[1] < 3)
    row("small op, waited for", f"{us[4]:.2f} us", f"{us[4]:.2f} us", "-", True)


def table(a):
    """tensor_operations.py: a row for each operation and size, and at the end those that fall short."""
    operations = importlib.import_module("tensor_operations")
    code = "AVX2" if AVX2 or not HAS_AVX512 else "AVX-512"
    print(f"{'operation':<26} {'size':<20} {'Ingot, ms':>10} {'PyTorch, ms':>12} {'ratio':>7} {'goal':>6}", flush=True)
    short, n, wrong = [], 0, []
    for case in operations.CASES:
        if a.only not in case.name:
            continue
        for size in case.sizes:
            ours, theirs = case.runs(size)
            title = "x".join(str(s) for s in size)
            same = case.same(ours(), theirs())
            for _ in range(12):  # until the fast code is there
                ours()
            time.sleep(0.3)
            m, r = compare(a.rounds, ours, theirs)
            n += 1
            word = "" if r[1] >= case.goal else "  SHORT"
            if word:
                short.append((r[1] / case.goal, f"{case.name} {title} {r[1]:.2f}"))
            if not same:
                wrong.append(f"{case.name} {title}")
                word += "  RESULTS DIFFER"
            print(f"{case.name:<26} {title:<20} {m[0]:>10.4f} {m[1]:>12.4f} {r[1]:>6.2f}x {case.goal:>6}{word}", flush=True)
    print(f"{n - len(short)} of {n} rows reach their goal, {code} code; short, worst first: "
          + (", ".join(text for _, text in sorted(short)) or "none"))
    return 1 if wrong else 0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder", help="where libingot-tensor.so is")
    p.add_argument("--stream", help="the program bench_stream")
    p.add_argument("--only", default="")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--compile", action="store_true", help="torch.compile too: half a minute more")
    p.add_argument("--table", action="store_true", help="the operations of tensor_operations.py")
    a = p.parse_args()
    if a.table:
        return table(a)
    ig = Ingot(a.folder)
    for name, part in (("matmul GELU", matmuls), ("add relu fusion", large), ("mlp pool", mlp), ("small", small)):
        if a.only in name:
            part(ig, a)
    return 0


if __name__ == "__main__":
    sys.exit(main())
