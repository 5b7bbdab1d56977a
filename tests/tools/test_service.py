# SPDX-License-Identifier: Apache-2.0
"""The compiler as a service: killed in the middle, slow, missing, gone with its user."""
import os
import pathlib
import signal
import time

from conftest import ADD
from test_build import bomb

ARGS = ["--grid", 4, "--arg", "0=f32[4]=iota", "--arg", "1=f32[4]=fill:10", "--arg", "2=f32[4]", "--print",
        2, "-q"]


def children(pid):
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def wait_for(condition, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.005)
    raise AssertionError("it did not happen")


def is_mslc(pid):
    try:
        return b"mslc\0serve" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def compiler_of(pid, other_than=None):
    return next((c for c in children(pid) if c != other_than and is_mslc(c)), None)


def test_killed_once_is_retried(ingot):
    """A source that takes a while; the first compiler is killed, the second one answers."""
    ingot("build", ingot.write("warm.metal", ADD))  # the precompiled headers are there
    ingot.write("slow.metal", bomb(15))
    p = ingot.start("reflect", "slow.metal")
    os.kill(wait_for(lambda: compiler_of(p.pid)), signal.SIGKILL)
    out, err = p.communicate(timeout=120)
    assert p.returncode == 0, err
    assert b"kernel f" in out


def test_killed_twice_is_an_error(ingot):
    ingot.write("slow.metal", bomb(26))
    p = ingot.start("reflect", "slow.metal")
    first = wait_for(lambda: compiler_of(p.pid))
    time.sleep(0.3)
    os.kill(first, signal.SIGKILL)
    second = wait_for(lambda: compiler_of(p.pid, other_than=first))
    time.sleep(0.3)
    os.kill(second, signal.SIGKILL)
    out, err = p.communicate(timeout=120)
    assert p.returncode == 1 and b"compiler failed" in err and b"signal 9" in err
    ingot.write("a.metal", ADD)
    assert ingot("run", "a.metal", "add", *ARGS).stdout == "10 11 12 13\n"


def test_compiler_goes_with_its_user(ingot):
    ingot.write("slow.metal", bomb(26))
    p = ingot.start("reflect", "slow.metal")
    compiler = wait_for(lambda: compiler_of(p.pid))
    p.kill()
    p.communicate(timeout=20)
    wait_for(lambda: not is_mslc(compiler))


def test_not_a_compiler(ingot):
    ingot.write("a.metal", ADD + "// never compiled before\n")
    r = ingot("run", "a.metal", "add", *ARGS, status=1, INGOT_MSLC="/bin/false")
    assert "does not start" in r.stderr
    r = ingot("build", "a.metal", status=1, INGOT_MSLC="/nowhere/mslc")
    assert "/nowhere/mslc" in r.stderr


def test_headers_missing(ingot):
    ingot.write("a.metal", ADD + "// never compiled before either\n")
    r = ingot("run", "a.metal", "add", *ARGS, status=1, INGOT_STDLIB="/nowhere")
    assert "metal_stdlib" in r.stderr or "headers" in r.stderr
