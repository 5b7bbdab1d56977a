# SPDX-License-Identifier: Apache-2.0
"""The playground's calls: programs that compile and do not, runs of every kind, strangers' code, files, exercises."""
import json
import re
import struct
import subprocess
import time

import pytest

from conftest import BUILD, ROOT, Server, environment

HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"
EXAMPLES = sorted((ROOT / "examples" / "play").glob("*.metal"))
LESSONS = sorted((ROOT / "docs" / "course").glob("*.metal"))


def settings_of(path):
    settings = json.loads(re.search(r"/\*play(.*?)\*/", path.read_text(), re.S)[1])
    return {k: v for k, v in settings.items() if k not in ("title", "ranges", "checks")}


def kernel(body, arguments="device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]"):
    return f"{HEAD}kernel void k({arguments}) {{ {body} }}\n"


def floats(data):
    return list(struct.unpack(f"<{len(data) // 4}f", data))


def test_messages_name_their_places(play):
    reply = play.compile(HEAD + "kernel void k() {\n    float x = y;\n}\n")
    assert reply["program"] == 0
    assert [(d["line"], d["column"], d["severity"], d["message"]) for d in reply["diagnostics"]] == [
        (4, 15, 3, "use of undeclared identifier 'y'")]


def test_kernel_with_given_numbers(play):
    program = play.compile(kernel("x[i] = x[i] * 2 + a;", "device float *x [[buffer(0)]], constant float &a [[buffer(1)]],"
                                  "uint i [[thread_position_in_grid]]"))
    reply, data = play.run(program, grid=[4], buffers={"x": "f32:1,2,3,4"}, values={"a": 0.25})
    assert reply["error"] is None and reply["log"] == ""
    assert [(o["name"], o["written"], o["bytes"]) for o in reply["outputs"]] == [("x", True, 16)]
    assert floats(data) == [2.25, 4.25, 6.25, 8.25]


def test_buffers_without_a_word_count_up(play):
    program = play.compile(kernel("x[i] += 1;"))
    assert floats(play.run(program, grid=[5])[1]) == [1, 2, 3, 4, 5]


def test_uniforms_by_name(play):
    program = play.compile(HEAD + "struct U { float time; float2 resolution; uint frame; float4 mouse; float3 color; int n; };\n"
                           "kernel void k(device float *x [[buffer(0)]], constant U &u [[buffer(1)]]) {\n"
                           "x[0] = u.time; x[1] = u.resolution.x; x[2] = u.resolution.y; x[3] = u.frame; x[4] = u.mouse.y;\n"
                           "x[5] = u.color.y; x[6] = u.n; }\n")
    _, data = play.run(program, grid=[1], buffers={"x": "f32[7]"}, time=1.5, frame=9, mouse=[3, 4, 0, 0], size=[64, 32],
                       values={"u.color": [0.1, 0.75, 0.3]})
    assert floats(data) == [1.5, 64, 32, 9, 4, 0.75, 1]


def pixel(reply, data, x, y):
    out = next(o for o in reply["outputs"] if o["picture"])
    at = out["at"] + 4 * (y * out["width"] + x)
    return tuple(data[at:at + 4])


def test_picture(play):
    program = play.compile(HEAD + "fragment float4 f(float4 p [[position]]) { return float4(p.x / 4, p.y / 4, 0.2, 1); }\n")
    reply, data = play.run(program, size=[4, 2])
    assert reply["error"] is None and len(data) == 32
    assert pixel(reply, data, 3, 1) == (223, 96, 51, 255)  # (3.5 / 4, 1.5 / 4, 0.2) * 255, rounded


def test_picture_of_vertices_with_depth(play):
    program = play.compile(HEAD + "struct V { float4 p [[position]]; float c; };\n"
                           "vertex V v(uint i [[vertex_id]], uint n [[instance_id]]) {\n"
                           "return {float4(i == 1 ? 3 : -1, i == 2 ? 3 : -1, n ? 0.2 : 0.8, 1), n ? 1.0f : 0.5f}; }\n"
                           "fragment float4 f(V in [[stage_in]]) { return in.c; }\n")
    for depth, first in ((True, 255), (False, 255)):
        reply, data = play.run(program, size=[8, 8], instances=2, depth=depth)
        assert reply["error"] is None and pixel(reply, data, 4, 4)[0] == first
    # the nearer one first: only the depth test keeps it
    swapped = play.compile(HEAD + "struct V { float4 p [[position]]; float c; };\n"
                           "vertex V v(uint i [[vertex_id]], uint n [[instance_id]]) {\n"
                           "return {float4(i == 1 ? 3 : -1, i == 2 ? 3 : -1, n ? 0.8 : 0.2, 1), n ? 1.0f : 0.5f}; }\n"
                           "fragment float4 f(V in [[stage_in]]) { return in.c; }\n")
    assert pixel(*play.run(swapped, size=[8, 8], instances=2, depth=True), 4, 4)[0] == 128
    assert pixel(*play.run(swapped, size=[8, 8], instances=2, depth=False), 4, 4)[0] == 255


@pytest.mark.parametrize("path", EXAMPLES + LESSONS, ids=lambda p: p.stem)
def test_examples_and_lessons_run(play, path):
    reply, data = play.run(play.compile(path.read_text()), time=1.0, mouse=[100, 100, 0, 0], **settings_of(path))
    assert reply["error"] is None and reply["outputs"], reply
    assert not reply["log"], reply["log"]
    assert len(set(data)) > 1, "all bytes of its results are the same"


# ---- Strangers' code ----

def test_endless_loop(cache):
    server = Server(cache, "play", "--no-browser", "--timeout", "300")
    try:
        program = server.compile(kernel("while (x[0] >= 0) x[i] += 1;"))
        begin = time.monotonic()
        reply, _ = server.run(program)
        assert "stopped after the time limit of 300 ms" in reply["error"] and time.monotonic() - begin < 20
        assert floats(server.run(server.compile(kernel("x[i] = 7;")), grid=[2])[1]) == [7, 7]
    finally:
        server.close()


def test_access_outside_is_reported(play):
    reply, data = play.run(play.compile(kernel("x[i + 1000000] = 1;")), grid=[4])
    assert reply["error"] is None and "store of 4 bytes outside buffer" in reply["log"]
    assert floats(data) == [0, 1, 2, 3]


def test_a_process_that_is_lost_is_replaced(play):
    # Without validation a wild pointer ends the command buffer, or the device's process; never the server.
    program = play.compile(kernel("for (ulong k = 0; k < 4096; k++) *(device float *)((i + k * 65536) * 4096 + 64) = 1;"))
    for _ in range(2):
        status, _ = play.ask("api/run", json.dumps({"program": program["program"], "unchecked": True}))
        assert status in (200, 410)
    assert floats(play.run(play.compile(kernel("x[i] = 3;")), grid=[2])[1]) == [3, 3]


def test_the_compiler_sees_no_files(play):
    reply = play.compile('#include "/etc/passwd"\n' + kernel(""))
    assert reply["program"] == 0 and reply["diagnostics"][0]["line"] == 1
    assert "root:" not in json.dumps(reply)


def test_logs_of_shaders(play):
    program = play.compile("#include <metal_stdlib>\n#include <metal_logging>\nusing namespace metal;\n"
                           'kernel void k(uint i [[thread_position_in_grid]]) { if (i == 3) os_log_default.log("here %u", i); }\n')
    assert "here 3" in play.run(program, grid=[8])[0]["log"]


@pytest.mark.parametrize("settings, says", [
    ({"grid": [0]}, "grid"), ({"grid": [1, 2, 3, 4]}, "more than 3"), ({"size": [100000, 1]}, "4096"), ({"depth": 1}, "true or false"),
    ({"primitive": "blob"}, "blob"), ({"buffers": []}, "object")])
def test_settings_that_are_wrong(play, settings, says):
    program = play.compile(kernel("x[i] = 1;"))
    status, data = play.ask("api/run", json.dumps({"program": program["program"], **settings}))
    assert status == 400 and says in json.loads(data)["error"], data


@pytest.mark.parametrize("settings, says", [
    ({"buffers": {"x": "/etc/passwd.npy"}}, "does not begin with a type"), ({"buffers": {"x": "f32[99999999999]"}}, "less than 64 MiB"),
    ({"buffers": {"x": "f32[30000000]"}}, "less than 64 MiB"), ({"function": "nobody"}, "no function 'nobody'"),
    ({"grid": [16777216, 16]}, "too large"), ({"group": [1024, 1024]}, "1024")])
def test_runs_that_cannot_be(play, settings, says):
    reply, _ = play.run(play.compile(kernel("x[i] = 1;")), **settings)
    assert reply["error"] and says in reply["error"], reply


def test_what_is_no_json(play):
    for body in ("", "{", "[]", "{\"program\": 1e400}", "\0", "{" * 100000):
        assert play.ask("api/run", body)[0] == 400, body[:20]


def test_a_program_that_is_gone(play):
    assert play.ask("api/run", '{"program": 123456}')[0] == 410


# ---- Files ----

def test_save_goes_to_the_file_and_no_other(cache, tmp_path):
    path = tmp_path / "own.metal"
    path.write_text("// before\n")
    server = Server(cache, "play", path, "--no-browser")
    try:
        assert server.ask("api/file?own") == (200, b"// before\n")
        assert server.ask("api/save", "// after\n")[0] == 200 and path.read_text() == "// after\n"
    finally:
        server.close()


def test_save_without_a_file(play):
    status, data = play.ask("api/save", "text")
    assert status == 404 and "no file was given" in json.loads(data)["error"]


def command(cache, *args):
    return subprocess.run([BUILD / "bin" / "ingot", "play", *map(str, args)], capture_output=True, text=True, timeout=120,
                          env=environment(cache))


def test_command_lines_that_are_wrong(cache, tmp_path):
    for args, status, says in (([tmp_path], 1, "is no file"), (["a", "b"], 2, "one file at a time"), (["--check"], 2, "files are required"),
                               (["--port", "70000"], 2, "--port"), (["--check", tmp_path / "none"], 1, "cannot read")):
        done = command(cache, *args)
        assert done.returncode == status and says in done.stderr and done.stderr.count("\n") == 1, done


# ---- Exercises ----

def test_solutions_are_as_expected(cache):
    solutions = sorted((ROOT / "docs" / "course" / "solutions").glob("*.metal"))
    assert [p.name for p in solutions] == [p.name for p in LESSONS]
    done = command(cache, "--check", *solutions)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok  ") == len(solutions)


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_a_lesson_begins_unsolved(cache, path):
    done = command(cache, "--check", path)
    assert done.returncode == 1 and done.stdout.startswith("FAIL"), done.stdout + done.stderr


def test_lesson_and_solution_have_the_same_text(play):
    for path in LESSONS:
        parts = [re.search(r"^(.*?/\*lesson.*?\*/)", p.read_text(), re.S)[1]
                 for p in (path, path.parent / "solutions" / path.name)]
        assert parts[0] == parts[1], path.name
