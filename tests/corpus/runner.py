# SPDX-License-Identifier: Apache-2.0
"""Runs a kernel of the corpus through `ingot run` and compares what it wrote with a reference.

A program is run in one or several of these ways (all with INGOT_TEST_LONG=1), which must all give the
reference's answer:
  shaped     code made for the threadgroup's size (what a repeated dispatch uses)
  general    code for any size (what a first dispatch uses)
  reference  one thread at a time (INGOT_WIDTH=1), slow: small sizes only
  half       16 lanes a step (INGOT_WIDTH=16)
  avx2       the shaped code for a CPU without AVX-512
"""
import os
import shutil
import subprocess
import tempfile
import zlib

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
INGOT = os.environ.get("INGOT_BIN") or shutil.which("ingot") or "ingot"
EXHAUSTIVE = os.environ.get("INGOT_TEST_LONG") == "1"
TIMEOUT_MS = 60000

MODES = {
    "shaped": {"INGOT_SYNC_SPECIALISE": "1"},
    "general": {"INGOT_SYNC_SPECIALISE": "0"},
    "reference": {"INGOT_WIDTH": "1"},
    "half": {"INGOT_WIDTH": "16", "INGOT_SYNC_SPECIALISE": "1"},
    "avx2": {"INGOT_CPU": "x86-64-v3", "INGOT_SYNC_SPECIALISE": "1"},
    "checked": {"MTL_SHADER_VALIDATION": "1", "INGOT_SYNC_SPECIALISE": "1"},  # and nothing to report
}
QUICK = ("shaped",)
USUAL = ("shaped", "general")
DEEP = ("shaped", "general", "reference")
EVERY = tuple(MODES)


class Failed(AssertionError):
    pass


def some(cases, every):
    """A fixed sample of many similar cases; all of them with INGOT_TEST_LONG=1."""
    cases = list(cases)
    return cases if EXHAUSTIVE else cases[::every]


def chosen(modes, kernel, grid):
    """All modes with INGOT_TEST_LONG=1; else shaped or general code by turns, and one of the others asked for."""
    if EXHAUSTIVE:
        return EVERY
    if not set(USUAL) <= set(modes):
        return modes
    turn = zlib.crc32(f"{kernel} {numbers(grid)}".encode())
    others = [m for m in modes if m not in USUAL]
    return (USUAL[turn % 2], *others[turn % max(len(others), 1):][:1])


def bf16(a):
    """float32 -> the bits of bfloat16, rounded to nearest even (no NaN among the test data)."""
    u = np.ascontiguousarray(a, np.float32).view(np.uint32)
    return ((u + 0x7FFF + ((u >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(u):
    return (np.asarray(u, np.uint16).astype(np.uint32) << 16).view(np.float32)


def struct_bytes(*fields):
    """A C struct with natural alignment: pairs (type, value), value a number or a sequence."""
    dtype = np.dtype([(f"f{i}", t, np.shape(v)) for i, (t, v) in enumerate(fields)], align=True)
    rec = np.zeros(1, dtype)
    for i, (_, v) in enumerate(fields):
        rec[f"f{i}"] = v
    return np.frombuffer(rec.tobytes(), np.uint8).copy()


def numbers(v):
    return ",".join(str(int(x)) for x in (v if np.iterable(v) else (v,)))


def path_of(name):
    return name if os.path.isabs(name) else os.path.join(HERE, name)


def run_kernel(file, kernel, grid, group, args, outs, constants=None, tg=None, include=(), defines=(),
               mode="shaped", extra=()):
    """args: {index: array or NumPy scalar}; outs: indices to bring back. Returns {index: array}."""
    with tempfile.TemporaryDirectory(prefix="corpus") as tmp:
        cmd = [INGOT, "run", path_of(file), kernel, "--grid", numbers(grid), "--group", numbers(group),
               "--timeout", str(TIMEOUT_MS), "-q"]
        for index, value in args.items():
            npy = os.path.join(tmp, f"in{index}.npy")
            value = np.atleast_1d(np.ascontiguousarray(value))
            np.save(npy, value)
            cmd += ["--arg", f"{index}={npy}"]
        for index in outs:
            cmd += ["--out", f"{index}={os.path.join(tmp, f'out{index}.npy')}"]
        for index, n_bytes in (tg or {}).items():
            cmd += ["--tg", f"{index}={n_bytes}"]
        for key, value in (constants or {}).items():
            cmd += ["--constant", f"{key}={value}"]
        for d in include:
            cmd += ["-I", path_of(d)]
        for d in defines:
            cmd += ["-D", d]
        cmd += list(extra)
        env = dict(os.environ, **MODES[mode])
        done = subprocess.run(cmd, env=env, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != 0:
            raise Failed(f"{kernel} ({mode}) exit {done.returncode}\n{' '.join(cmd)}\n"
                         f"{done.stdout[-2000:]}{done.stderr[-6000:]}")
        if "Ingot: kernel" in done.stderr:  # what shader validation found, of any kind
            raise Failed(f"{kernel} ({mode})\n{' '.join(cmd)}\n{done.stderr[-6000:]}")
        return {i: np.load(os.path.join(tmp, f"out{i}.npy")).view(np.atleast_1d(args[i]).dtype)
                .reshape(np.shape(np.atleast_1d(args[i]))) for i in outs}


def compare(got, want, rtol, atol, what):
    want = np.asarray(want)
    got = np.asarray(got).reshape(want.shape)
    if rtol == 0 and atol == 0 and want.dtype.kind in "iub":
        bad = got != want
    else:
        g, w = got.astype(np.complex128 if np.iscomplexobj(got) else np.float64), want
        with np.errstate(all="ignore"):
            bad = ~((np.abs(g - w) <= atol + rtol * np.abs(w)) | (g == w) | (np.isnan(g) & np.isnan(w)))
    if bad.any():
        at = np.argwhere(bad)
        lines = [f"  {tuple(int(x) for x in i)}: got {got[tuple(i)]!r}, want {want[tuple(i)]!r}"
                 for i in at[:8]]
        raise Failed(f"{what}: {len(at)} of {want.size} wrong\n" + "\n".join(lines))


def check(file, kernel, grid, group, args, expect, modes=USUAL, rtol=1e-5, atol=1e-6, **kw):
    """Runs in each mode; expect: {index: array}. Integers are compared exactly."""
    for mode in chosen(modes, kernel, grid):
        got = run_kernel(file, kernel, grid, group, args, list(expect), mode=mode, **kw)
        for index, want in expect.items():
            want = np.asarray(want)
            exact = want.dtype.kind in "iub"
            compare(got[index], want, 0 if exact else rtol, 0 if exact else atol,
                    f"{os.path.basename(str(file))}: {kernel} grid {numbers(grid)} group "
                    f"{numbers(group)} {mode} buffer {index}")
    return got
