# SPDX-License-Identifier: Apache-2.0
"""Tensors between processes: every call, type and operation against NumPy; bad calls; ends."""
import sys

import pytest

HEAD = """
import numpy as np, ingot, sys
from ingot import distributed as d
r, n = d.rank(), d.size()
def same(got, want):
    got = got.numpy()
    assert got.shape == want.shape and (got == want).all(), (r, got, want)
"""

CALLS = HEAD + """
assert n == int(sys.argv[1]) if len(sys.argv) > 1 else True
def mine(rank, dtype):                     # of process `rank`
    return ((np.arange(24).reshape(8, 3) * 5 + rank * 7) % 11).astype(dtype)
for dtype in (np.float32, np.float16, np.int8, np.int16, np.int32, np.int64, np.uint8):
    every = np.stack([mine(k, dtype) for k in range(n)])
    x = ingot.tensor(mine(r, dtype))
    same(d.all_reduce(x), every.sum(0).astype(dtype))
    same(d.all_reduce(x, "min"), every.min(0))
    same(d.all_reduce(x, op="max"), every.max(0))
    total = every.sum(0).astype(np.float32)
    same(d.all_reduce(x, "mean"), (total / n if dtype in (np.float32, np.float16)
                                   else total // n).astype(dtype))
    same(d.broadcast(x, n - 1), mine(n - 1, dtype))
    same(d.all_gather(x), every.reshape(n * 8, 3))
    same(d.reduce_scatter(x), every.sum(0).astype(dtype)[r * 8 // n:(r + 1) * 8 // n])
same(d.all_reduce(ingot.tensor(mine(r, np.float32)).T), sum(mine(k, np.float32) for k in range(n)).T)
same(d.all_reduce(ingot.tensor(float(r))), np.float32(sum(range(n))))
same(d.all_gather(ingot.zeros(0, 2)), np.zeros((0, 2), np.float32))
big = ingot.full((3_000_001,), float(r + 1))
same(d.all_reduce(big), np.full(3_000_001, n * (n + 1) / 2, np.float32))
d.barrier()
assert d.transport() == ("mpi" if n > 1 else "alone")
print(f"process {r} is done")
"""


@pytest.mark.parametrize("n", [0, 2, 4])
def test_calls(python, n):
    out = python(n, CALLS)
    for rank in range(n or 1):
        assert f"process {rank} is done" in out, out


@pytest.mark.parametrize("n", [2, 4])
def test_calls_of_nccl(nccl, python, n):
    out = python(n, CALLS)
    assert f"fake NCCL of {n}" in out and out.count("is done") == n, out


def test_bad_calls(python):
    out = python(2, HEAD + """
def refuses(what, call):
    try: call()
    except ValueError as e: assert what in str(e), e
    else: assert False, what
x = ingot.zeros(3, 2)
refuses("'sum', 'mean', 'min' or 'max'", lambda: d.all_reduce(x, "product"))
refuses("no process 2 of 2", lambda: d.broadcast(x, 2))
refuses("has no 2 equal parts", lambda: d.reduce_scatter(x))
refuses("has no first axis", lambda: d.all_gather(ingot.tensor(1.0)))
d.barrier()
print("fine")
""")
    assert out.count("fine") == 2, out


def test_a_failing_process_ends_the_others(python):
    out = python(2, HEAD + """
if r: raise RuntimeError("this one fails")
d.barrier()
print("never here")
""", status=1)
    assert "this one fails" in out and "never here" not in out, out


def test_a_signal_is_heard_while_waiting(python):
    out = python(2, HEAD + """
import signal, os
class Stop(Exception): pass
def stop(*_): raise Stop
signal.signal(signal.SIGTERM, stop)
if r: os._exit(9)
try: d.barrier()
except Stop: print("told to stop", flush=True)
""", status=1)
    assert "told to stop" in out, out


def test_closed(python):
    out = python(2, HEAD + """
d.close()
try: d.barrier()
except ingot.GroupError as e: print(e)
""")
    assert out.count("group: it was closed") == 2, out


def test_the_launcher(run, tmp_path):
    (tmp_path / "show.py").write_text("""
import os, sys
from ingot import distributed as d
assert os.environ["RANK"] == str(d.rank()) and os.environ["WORLD_SIZE"] == str(d.size())
assert os.environ["LOCAL_RANK"] == str(d.local_rank())
sys.stdout.write(f"got {sys.argv[1:]} {__name__}\\n")  # in one piece: two processes write here
""")
    out = run(0, sys.executable, "-m", "ingot.distributed", "-n", "2", "show.py", "a", "b")
    assert out.count("got ['a', 'b'] __main__") == 2, out
    out = run(0, sys.executable, "-m", "ingot.distributed", "-n", "2", "none.py", status=1)
    assert "there is no file none.py" in out
    out = run(0, sys.executable, "-m", "ingot.distributed", "-n", status=1)
    assert out.startswith("usage: python3 -m ingot.distributed")


def test_variables_without_mpi(python, environment):
    environment["WORLD_SIZE"] = "2"
    try:
        out = python(0, HEAD, status=1)
    finally:
        del environment["WORLD_SIZE"]
    assert "WORLD_SIZE is 2, but no MPI is around this process; start it with mpirun" in out, out


def test_no_library(python, environment):
    environment["INGOT_MPI"] = "libnot-there.so"
    try:
        out = python(2, HEAD, status=1)
    finally:
        del environment["INGOT_MPI"]
    assert "Open MPI is not there: libnot-there.so" in out, out
