# SPDX-License-Identifier: Apache-2.0
"""Seeded faults and what is right though it looks like one: MTL_SHADER_VALIDATION=races finds each
of the first, at its lines, and none in the second.

A line that something is found at ends in a mark: `//! race a` (a pair of lines with the same
letter, or one line twice), `//! mixed a` (two barriers), or a word of KINDS.
"""
import os
import pathlib
import re
import subprocess
import sys

import pytest

from runner import split

HERE = pathlib.Path(__file__).parent
MARK = re.compile(r"//!\s*(\w+)(?:\s+(\w))?")
WHERE = re.compile(r"at line (\d+), column \d+")
KINDS = {"race on": "race", "another one": "mixed", "barrier that": "barrier",
         "is uninitialised": "unwritten", "never written": "unwritten", "division of": "division",
         "shift by": "shift", "NaN made": "nan", "must be the same": "uniform",
         "does not take part": "inactive", "which no lane is": "inactive",
         "threads of the SIMD-group": "partial", "texel (": "texel", "outside": "outside"}
FILES = {"threadgroup": "races", "device": "races", "barriers": "races", "simd": "races",
         "arithmetic": "races", "nan": "races,nan", "private": "races"}
FILES = {name: mode for name, mode in FILES.items() if (HERE / f"{name}.metal").exists()}


def expected(lines, first, last):
    """{(kind, sorted lines)} of the marks in these lines."""
    found, pairs = set(), {}
    for number in range(first, last + 1):
        for kind, letter in MARK.findall(lines[number - 1]):
            if letter:
                pairs.setdefault((kind, letter), []).append(number)
            else:
                found.add((kind, number))
    return found | {(kind, min(at), max(at)) for (kind, _), at in pairs.items()}


def told(message):
    kind = next(word for text, word in KINDS.items() if text in message)
    at = sorted(int(n) for n in WHERE.findall(message))
    if kind in ("race", "mixed"):
        return (kind, at[0], at[-1])
    return (kind, *at[:1])


def run(name, mode, **more):
    env = {**os.environ, "MTL_SHADER_VALIDATION": mode, "MTL_DEBUG_LAYER": "0", **more}
    done = subprocess.run([sys.executable, HERE / "runner.py", HERE / f"{name}.metal"], env=env,
                          capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return [line.split(": ", 1) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module", params=FILES)
def file(request):
    name = request.param
    lines = (HERE / f"{name}.metal").read_text(encoding="utf-8").splitlines()
    reports = {}
    for kernel, message in run(name, FILES[name]):
        reports.setdefault(kernel, []).append(message)
    return lines, split(HERE / f"{name}.metal"), reports


def test_each_kernel(file):
    lines, kernels, reports = file
    wrong = []
    for kernel, (_, first, last) in kernels.items():
        want = expected(lines, first, last)
        got = {told(m) for m in reports.get(kernel, [])}
        if want != got:
            wrong.append(f"{kernel}: expected {sorted(want)}, found {sorted(got)}:\n  " +
                         "\n  ".join(reports.get(kernel, [])))
    assert not wrong, "\n".join(wrong)


def test_there_are_enough():
    faults = rights = 0
    for name in FILES:
        lines = (HERE / f"{name}.metal").read_text(encoding="utf-8").splitlines()
        for _, first, last in split(HERE / f"{name}.metal").values():
            if expected(lines, first, last):
                faults += 1
            else:
                rights += 1
    assert faults >= 60 and rights >= 60, (faults, rights)
