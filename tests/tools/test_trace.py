# SPDX-License-Identifier: Apache-2.0
"""ingot trace: the file, the exit status, programs that die, programs that start others."""
import os
import signal
import subprocess

import pytest

from conftest import ADD, BUILD
from trace_check import Trace

INGOT = BUILD / "bin" / "ingot"
ADD_ARGS = ["add", "--grid", 1000, "--group", 100, "--arg", "0=f32[1000]=iota", "--arg",
            "1=f32[1000]=fill:1", "--arg", "2=f32[1000]", "-q"]


def test_all_dispatches_are_there(ingot):
    ingot.write("a.metal", ADD)
    r = ingot("trace", "-o", "t.json", INGOT, "run", "a.metal", *ADD_ARGS)
    assert "t.json" in r.stderr and "perfetto" in r.stderr
    t = Trace(ingot.folder / "t.json")
    assert not t.unfinished
    buffers, dispatches = t.all("command_buffer"), t.all("dispatch")
    assert len(buffers) >= 1 and len(dispatches) == len(buffers)
    for d in dispatches:
        assert d.name == "add" and d.args["kernel"] == "add"
        assert d.args["grid"] == [1000, 1, 1] and d.args["threadgroup"] == [100, 1, 1]
        assert d.args["bytes"] == 3 * 4000
    assert [e.name for e in t.all("encoder")] == ["MTLComputeCommandEncoder"] * len(buffers)
    compiles = t.all("compile")
    assert any(c.name == "compile a.metal" and c.args["functions"] == 1 for c in compiles)
    assert any(c.name == "code of add" for c in compiles)
    assert {c.args["from"] for c in compiles} <= {"compiler", "cache"}
    assert any(e["ph"] == "C" and e["args"]["bytes"] >= 12000 for e in t.events)
    assert "MTLCommandQueue 1" in t.names.values()


def test_cached_compiles_say_so(own):
    own.write("a.metal", ADD)
    for origin in ("compiler", "cache"):
        own("trace", "-q", INGOT, "run", "a.metal", *ADD_ARGS)
        t = Trace(own.folder / "trace.json")
        assert origin in {c.args["from"] for c in t.all("compile")}


@pytest.mark.parametrize("grid, repeat, made", [(1000, 3, False), (1 << 22, 1, True), (1000, 10000, True)])
def test_code_for_a_shape_is_made_when_it_pays(own, grid, repeat, made):
    """Not for a few small grids; before a huge one runs; in the background for the many, which here
    take long enough for it to come."""
    rounds = 500 if repeat > 3 else 0
    own.write("a.metal", ADD.replace("c[i] =", f"float x = 0;\nfor (int k = 0; k < {rounds}; k++) x = fma(x, b[i], a[i]);\n"
                                     "c[i] = x +"))
    numbers = [x for i in range(3) for x in ("--arg", f"{i}=f32[{grid}]")]
    own("trace", "-q", INGOT, "run", "a.metal", "add", "--grid", grid, "--group", 100, "--repeat", repeat,
        *numbers, "-q")
    t = Trace(own.folder / "trace.json")
    shapes = [c.args["threadgroup"] for c in t.all("compile") if c.name == "code of add"]
    assert shapes == [[0, 0, 0]] + [[100, 1, 1]] * made


def test_no_grid_waits_for_code_that_takes_seconds(own):
    steps = "".join(f"x += a[i * {k} % 1000] * precise::tan(x);\n" for k in range(36))
    own.write("a.metal", ADD.replace("c[i] =", "float x = 0;\n" + steps + "c[i] = x +"))
    numbers = [x for i in range(3) for x in ("--arg", f"{i}=f32[20000]")]
    own("trace", "-q", INGOT, "run", "a.metal", "add", "--grid", 20000, "--group", 100, *numbers, "-q")
    codes = [c for c in Trace(own.folder / "trace.json").all("compile") if c.name == "code of add"]
    assert [c.args["threadgroup"] for c in codes] == [[0, 0, 0]]
    assert codes[0].args["bytes"] > 24 << 10


def test_a_long_dispatch_asks_for_code_while_it_runs(own):
    """A small grid, the first of its kernel: seconds in the code that was made quickly."""
    own.write("a.metal", ADD.replace("c[i] =", "float x = 0;\nfor (int k = 0; k < 120000; k++) "
                                     "x = precise::sin(x + b[i]);\nc[i] = x +"))
    numbers = [x for i in range(3) for x in ("--arg", f"{i}=f32[6400]")]
    own("trace", "-q", INGOT, "run", "a.metal", "add", "--grid", 6400, "--group", 100, *numbers, "-q",
        INGOT_THREADS="1")
    codes = [c for c in Trace(own.folder / "trace.json").all("compile") if c.name == "code of add"]
    assert [c.args["threadgroup"] for c in codes] == [[0, 0, 0], [100, 1, 1]]


@pytest.mark.parametrize("status", [0, 1, 7, 130])
def test_exit_status_is_the_program_s(ingot, status):
    r = ingot("trace", "sh", "-c", f"exit {status}", status=status)
    assert "nothing was recorded" in r.stderr
    assert not (ingot.folder / "trace.json").exists()


def test_output_and_input_are_the_program_s(ingot):
    r = ingot("trace", "-q", "sh", "-c", "echo out; echo err >&2; cat; exit 3", status=3)
    assert r.stdout == "out\n" and r.stderr == "err\n"


def test_wrong_command_lines(ingot):
    assert "a program is required" in ingot("trace", status=2).stderr
    assert "cannot start" in ingot("trace", "./no-such-program", status=127).stderr
    ingot.write("data", "no program")
    ingot("trace", "./data", status=126)
    ingot("trace", "-o", status=2)
    ingot("trace", "--wrong", "true", status=2)
    assert "plain file" in ingot("trace", "-o", "/dev/null", "true", status=1).stderr
    assert "PROGRAM ARGS" in ingot("trace", "--help").stdout
    no_folder = ingot("trace", "-q", "-o", "no/such/folder/t.json", "true", status=1)  # before the program runs
    assert "cannot write 'no/such/folder/t.json': No such file" in no_folder.stderr


DYING = r"""
#include <ingot/metal.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
    MTLDevice *device = mtl_create_system_default_device();
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLCaptureManager *manager = mtl_capture_manager_shared_capture_manager();
    for (int i = 0; i < 10; i++) {
        if (argc > 1 && *argv[1] == 'c' && i == 4 &&
            !mtl_capture_manager_start_capture(manager, &(MTLCaptureDescriptor){
                queue, MTLCaptureDestinationGPUTraceDocument, "capture.json"}, NULL)) return 9;
        if (i == 7) mtl_capture_manager_stop_capture(manager);
        MTLCommandBuffer *c = mtl_command_queue_command_buffer(queue);
        mtl_command_buffer_set_label(c, "quotes \" and \\ and \n and \xff");
        mtl_command_buffer_commit(c);
        mtl_command_buffer_wait_until_completed(c);
        mtl_release(c);
    }
    if (argc > 1 && *argv[1] == 'a') abort();
    if (argc > 1 && *argv[1] == 'e') _exit(5);
    puts("ready"), fflush(stdout);
    if (argc > 1 && *argv[1] == 'w') for (;;) pause();
    if (argc > 1 && *argv[1] == 'f') { // a child that opens no device adds nothing
        if (fork() == 0) {
            MTLCommandBuffer *c = mtl_command_queue_command_buffer(queue);
            mtl_release(c);
            exit(0);
        }
        sleep(1);
    }
}
"""


@pytest.fixture(scope="module")
def dying(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dying")
    (folder / "dying.c").write_text(DYING)
    include = os.path.join(os.path.dirname(__file__), "..", "..", "include")
    subprocess.run(["cc", "-o", folder / "dying", folder / "dying.c", "-I", include,
                    f"-L{BUILD}/lib", "-lingot", f"-Wl,-rpath,{BUILD}/lib"], check=True)
    return folder / "dying"


@pytest.mark.parametrize("how, status", [("abort", 134), ("exit", 5), ("fork", 0), ("no", 0)])
def test_whole_file_however_it_ends(ingot, dying, how, status):
    r = ingot("trace", "-o", "t.json", dying, how, status=status)
    t = Trace(ingot.folder / "t.json")
    assert len(t.all("command_buffer")) == 10 and not t.unfinished
    assert {b.name for b in t.all("command_buffer")} == {'quotes " and \\ and \n and \ufffd'}
    assert ("ended early" in r.stderr) == (how in ("abort", "exit"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_killed_while_it_runs(ingot, dying, number):
    p = subprocess.Popen([INGOT, "trace", "-o", "t.json", dying, "wait"], cwd=ingot.folder,
                         env=ingot.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         start_new_session=True)
    assert p.stdout.readline() == b"ready\n"
    if number == signal.SIGTERM:
        p.send_signal(number)  # passed on to the program
    elif number == signal.SIGINT:
        os.killpg(p.pid, number)  # Ctrl-C
    else:
        child = subprocess.run(["pgrep", "-P", str(p.pid)], capture_output=True, check=True)
        os.kill(int(child.stdout), number)
    p.communicate(timeout=30)
    assert p.returncode == 128 + number
    assert len(Trace(ingot.folder / "t.json").all("command_buffer")) == 10


def test_a_capture_inside_a_trace(ingot, dying):
    ingot("trace", "-q", "-o", "t.json", dying, "capture", MTL_CAPTURE_ENABLED="1")
    assert len(Trace(ingot.folder / "t.json").all("command_buffer")) == 10
    assert len(Trace(ingot.folder / "capture.json").all("command_buffer")) == 3


def test_processes_of_a_program_have_their_own_files(ingot, dying):
    ingot("trace", "-q", "-o", "t.json", "sh", "-c", f"{dying}; {dying}")
    files = sorted(ingot.folder.glob("t*.json"))
    assert len(files) == 2
    for f in files:
        assert len(Trace(f).all("command_buffer")) == 10


def test_an_old_trace_is_replaced(ingot, dying):
    ingot.write("t.json", "old")
    ingot("trace", "-q", "-o", "t.json", dying)
    assert len(Trace(ingot.folder / "t.json").all("command_buffer")) == 10
