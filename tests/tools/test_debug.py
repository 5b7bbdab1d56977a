# SPDX-License-Identifier: Apache-2.0
"""ingot debug: gdb on kernels and stages. Each session is gdb in batch mode, and what it prints is looked at."""
import json
import os
import re
import subprocess

import pytest

from conftest import BUILD

INGOT = BUILD / "bin" / "ingot"
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

KERNEL = """#include <metal_stdlib>
using namespace metal;
struct Particle {
    float3 position;
    float mass;
};
float scale(float x, float k) {
    float r = x * k;
    r += 1.0f;
    return r;
}
float twice(float x) {
    float y = scale(x, 2.0f);
    return y;
}
kernel void mirror(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                   uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]],
                   uint n [[threads_per_threadgroup]]) {
    threadgroup float tile[64];
    float4 v = float4(in[i], 1.0f, 2.0f, float(t));
    float3x3 m = float3x3(1.0f);
    m[0][1] = in[i];
    Particle p;
    p.position = v.xyz;
    p.mass = twice(in[i]);
    tile[t] = p.mass;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float other = tile[n - 1 - t];
    out[i] = other + m[0][1];
}
"""
RUN = ["k.metal", "mirror", "--grid", 8, "--group", 4, "--arg", "0=f32[8]=iota", "--arg", "1=f32[8]"]
RESULT = "buffer 1 f32[8]: 7 6 5 4 19 18 17 16"


def line_of(text, source=KERNEL):
    return next(n for n, line in enumerate(source.splitlines(), 1) if text in line)


class Session:
    """What a session of gdb said, with the answer to each --ex behind its own mark."""

    def __init__(self, tool, *args, ex=(), **env):
        marked = [word for n, command in enumerate(ex) for word in ("--ex", f"echo @@{n}\\n", "--ex", command)]
        r = tool("debug", "--batch", *marked, *args, **env)
        self.text = r.stdout + r.stderr
        parts = re.split(r"^@@\d+\n", r.stdout, flags=re.M)
        self.start, self.answers, self.errors = parts[0], parts[1:], r.stderr

    def __getitem__(self, n):
        return self.answers[n]


def values(session, first=0):
    """What `print` said: $1 = X."""
    return [re.sub(r"^\$\d+ = ", "", a.strip()) for a in session.answers[first:]]


def test_line_variables_and_inlined_functions(ingot):
    ingot.write("k.metal", KERNEL)
    s = Session(ingot, *RUN, "--thread", 6, "--break", line_of("r += 1"),
                ex=["bt", "print x", "print r", "next", "print r", "up 2", "print v", "print v.z", "print m", "print p.position",
                    "print i", "print thread_position_in_grid", "print thread_position_in_threadgroup.x", "delete",
                    "continue"])
    frames = re.findall(r"^#\d+ +(?:0x\w+ in )?(\w+) \(.*\) at .*/k\.metal:(\d+)$", s[0], re.M)
    assert frames == [("scale", str(line_of("r += 1"))), ("twice", str(line_of("= scale"))),
                      ("mirror", str(line_of("= twice")))], s.text
    assert values(s)[1:3] == ["6", "12"], s.text
    assert s[3].startswith(str(line_of("return r"))), s.text
    assert values(s)[4] == "13", s.text
    assert values(s)[6:13] == ["(6, 1, 2, 2)", "2", "columns (1, 6, 0) (0, 1, 0) (0, 0, 1)", "(6, 1, 2)", "6",
                               "{x = 6, y = 0, z = 0}", "2"], s.text
    assert RESULT in s[14], s.text


def test_conditions_and_steps(ingot):
    """Lines in order, over the barrier, in the same thread."""
    ingot.write("k.metal", KERNEL)
    first = line_of("tile[t] =")
    s = Session(ingot, "--break", f"k.metal:{first} if thread_position_in_grid.x == 5", INGOT, "run", *RUN,
                ex=["print i", "next", "next", "next", "print other", "print i", "info locals"])
    assert [s[k].split()[0] for k in (1, 2, 3)] == [str(first + k) for k in (1, 2, 3)], s.text
    assert [values(s)[k] for k in (0, 4, 5)] == ["5", "13", "5"], s.text
    assert "p = {position = (5, 1, 2), mass = 11}" in s[6] and "v = (5, 1, 2, 1)" in s[6], s.text


def test_threads_at_a_barrier(ingot):
    ingot.write("k.metal", KERNEL)
    barrier = line_of("threadgroup_barrier")
    s = Session(ingot, *RUN, "--thread", 6, "--break", line_of("tile[t] ="),
                ex=["info metal-threads", "metal-thread 4", "print p.mass", "bt", "info metal-threads", "metal-thread 5 print v",
                    "metal-thread all print t", "metal-thread 7", "metal-thread 1,0,0", "metal-thread x", "next",
                    "print i", "delete", "continue"])
    lines = [re.sub(" +", " ", line) for line in s[0].strip().splitlines()]
    assert lines == ["threadgroup 1,0,0, 4 threads", f" 4,0,0 at a barrier, k.metal:{barrier}",
                     f" 5,0,0 at a barrier, k.metal:{barrier}", f"* 6,0,0 running, k.metal:{line_of('tile[t] =')}",
                     " 7,0,0 not begun"], s.text
    assert f"k.metal:{barrier}" in s[1] and "i=4, t=0" in s[1], s.text
    assert values(s)[2] == "9" and values(s)[5] == "(5, 1, 2, 1)", s.text
    assert re.findall(r"mirror|\?\?|run_lane", s[3]) == ["mirror"], s.text  # none of Ingot's own frames
    assert re.search(r"^\* 4,0,0", s[4], re.M), s.text
    assert re.findall(r"= (\d)", s[6]) == ["0", "1", "2"], s.text
    assert "thread 7,0,0 is not begun" in s.errors, s.text
    assert "1,0,0 is not one of the threads that run now: 4,0,0 to 7,0,0" in s.errors, s.text
    assert "'x' is not a position" in s.errors, s.text
    # It looked at thread 4; what goes on is 6, and all results are as they should be.
    assert s[10].startswith(str(barrier)) and values(s)[11] == "6", s.text
    assert RESULT in s[13], s.text


def test_an_editors_commands_put_the_registers_back(ingot):
    """Over gdb/MI no hooks of commands run."""
    ingot.write("k.metal", KERNEL)
    script = ingot("debug", "--script").stdout.strip()
    talk = ["-gdb-set mi-async off", f"-break-insert -f k.metal:{line_of('float other')}", "-exec-run",
            '-interpreter-exec console "metal-thread 2"', "-data-evaluate-expression t", "-break-delete", "-exec-continue"]
    gdb = subprocess.Popen(["gdb", "-q", "--interpreter=mi2", "-x", script, "--args", INGOT, "run", *map(str, RUN)],
                           cwd=ingot.folder, env={**ingot.env, "MTL_SHADER_DEBUG": "1"}, text=True,
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = ""
    for command in talk:
        gdb.stdin.write(command + "\n")
        gdb.stdin.flush()
        while line := gdb.stdout.readline():
            said += line
            if line.startswith("*stopped") or (line.startswith("^done") and "exec" != command[1:5]) or "^error" in line:
                break
    gdb.stdin.write("-gdb-exit\n")
    gdb.stdin.close()
    said += gdb.stdout.read()
    gdb.wait(timeout=60)
    assert 'value="2"' in said and 'reason="exited-normally"' in said, said
    assert RESULT in said, said


class Mi:
    """gdb as editors that speak MI drive it: VS Code's C/C++ extension, Emacs."""

    def __init__(self, tool, *args):
        script = tool("debug", "--script").stdout.strip()
        self.gdb = subprocess.Popen(["gdb", "-q", "-i=mi", "-x", script, "--args", *map(str, args)], cwd=tool.folder, text=True,
                                    env={**tool.env, "MTL_SHADER_DEBUG": "1"}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                    stderr=subprocess.STDOUT)
        self.said = ""

    def ask(self, command, until=r"\^(done|error)"):
        """The line of the answer, or (until) of what happens then."""
        self.gdb.stdin.write(command + "\n")
        self.gdb.stdin.flush()
        while line := self.gdb.stdout.readline():
            self.said += line
            if re.match(until, line):
                return line
        raise AssertionError(self.said)

    def value(self, expression):
        return re.search(r'value="((?:[^"\\]|\\.)*)"', self.ask(f'-data-evaluate-expression "{expression}"'))[1]


def test_an_editor_over_mi(ingot):
    """A breakpoint by file and line, before the shader is compiled; its condition comes in a second command."""
    ingot.write("k.metal", KERNEL)
    mi, line = Mi(ingot, INGOT, "run", *RUN), line_of("tile[t] =")
    mi.ask("-enable-pretty-printing")
    number = re.search(r'number="(\d+)"', mi.ask(f"-break-insert -f {ingot.folder}/k.metal:{line}"))[1]
    assert mi.ask(f'-break-condition {number} "thread_position_in_grid.x == 5"').startswith("^done"), mi.said
    stopped = mi.ask("-exec-run", r"\*stopped")
    assert f'line="{line}"' in stopped and "k.metal" in stopped and 'reason="breakpoint-hit"' in stopped, mi.said
    assert mi.value("i") == "5" and mi.value("v") == "(5, 1, 2, 1)" and mi.value("p.position") == "(5, 1, 2)", mi.said
    assert mi.value("m") == "columns (1, 5, 0) (0, 1, 0) (0, 0, 1)", mi.said
    for k in (1, 2, 3):
        assert f'line="{line + k}"' in mi.ask("-exec-next", r"\*stopped"), mi.said
    assert mi.value("other") == "13" and mi.value("i") == "5", mi.said
    assert 'func="mirror"' in mi.ask("-stack-list-frames"), mi.said
    mi.ask("-break-delete")
    assert 'reason="exited-normally"' in mi.ask("-exec-continue", r"\*stopped"), mi.said
    assert RESULT in mi.said, mi.said
    mi.gdb.communicate("-gdb-exit\n", timeout=60)


class Dap:
    """gdb as editors that speak the Debug Adapter Protocol drive it: Neovim, Helix, Zed, Emacs' dape."""

    def __init__(self, gdb, tool):
        script = tool("debug", "--script").stdout.strip()
        self.gdb = subprocess.Popen([gdb, "-q", "-i=dap", "-x", script], cwd=tool.folder, env=tool.env, stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.number, self.events = 0, []

    def receive(self):
        n = 0
        while head := self.gdb.stdout.readline().strip():
            if head.lower().startswith(b"content-length:"):
                n = int(head.split(b":")[1])
        assert n, "gdb is gone"
        return json.loads(self.gdb.stdout.read(n))

    def send(self, command, **arguments):
        self.number += 1
        data = json.dumps({"seq": self.number, "type": "request", "command": command, "arguments": arguments}).encode()
        self.gdb.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.gdb.stdin.flush()
        return self.number

    def answer(self, number):
        while True:
            m = self.receive()
            if m["type"] == "response" and m["request_seq"] == number:
                assert m["success"], m
                return m.get("body", {})
            self.events.append(m)

    def ask(self, command, **arguments):
        return self.answer(self.send(command, **arguments))

    def event(self, name):
        while True:
            for m in self.events:
                if m.get("event") == name:
                    self.events.remove(m)
                    return m.get("body", {})
            self.events.append(self.receive())


def test_an_editor_over_dap(ingot):
    """gdb 14 speaks it; INGOT_TEST_GDB names one that is not the system's."""
    gdb = os.environ.get("INGOT_TEST_GDB", "gdb")
    version = subprocess.run([gdb, "--version"], capture_output=True, text=True, check=True).stdout.split("\n")[0]
    if int(re.search(r"(\d+)\.\d", version)[1]) < 14:
        pytest.skip(f"{version} speaks no DAP")
    ingot.write("k.metal", KERNEL)
    line, path = line_of("tile[t] ="), str(ingot.folder / "k.metal")
    dap = Dap(gdb, ingot)
    dap.ask("initialize", adapterID="ingot", linesStartAt1=True)
    launch = dap.send("launch", program=str(INGOT), args=["run", *map(str, RUN)], cwd=str(ingot.folder),
                      env={**ingot.env, "MTL_SHADER_DEBUG": "1"})
    dap.event("initialized")
    dap.ask("setBreakpoints", source={"path": path}, breakpoints=[{"line": line, "condition": "thread_position_in_grid.x == 5"}])
    dap.ask("configurationDone")
    dap.answer(launch)
    thread = dap.event("stopped")["threadId"]

    def top():
        return dap.ask("stackTrace", threadId=thread)["stackFrames"][0]

    def value(expression):
        return dap.ask("evaluate", expression=expression, frameId=top()["id"], context="watch")["result"]

    assert (top()["name"], top()["line"], top()["source"]["path"]) == ("mirror", line, path)
    assert [value(e) for e in ("i", "v", "p.position")] == ["5", "(5, 1, 2, 1)", "(5, 1, 2)"]
    scopes = {s["name"]: s["variablesReference"] for s in dap.ask("scopes", frameId=top()["id"])["scopes"]}
    locals_ = {v["name"]: v["value"] for v in dap.ask("variables", variablesReference=scopes["Locals"])["variables"]}
    assert locals_["v"] == "(5, 1, 2, 1)" and locals_["m"] == "columns (1, 5, 0) (0, 1, 0) (0, 0, 1)", locals_
    for k in (1, 2, 3):
        dap.ask("next", threadId=thread)
        dap.event("stopped")
        assert top()["line"] == line + k
    assert value("other") == "13"
    dap.ask("setBreakpoints", source={"path": path}, breakpoints=[])
    dap.ask("continue", threadId=thread)
    assert dap.event("exited")["exitCode"] == 0
    dap.gdb.communicate(timeout=60)


STAGES = """#include <metal_stdlib>
using namespace metal;
struct Out {
    float4 position [[position]];
    float2 uv;
};
float3 shade(float2 uv) {
    float3 c = float3(uv, 0.5f);
    return c * c;
}
vertex Out vs(uint id [[vertex_id]]) {
    float2 p = float2(id == 1 ? 3 : -1, id == 2 ? 3 : -1);
    Out o;
    o.position = float4(p, 0, 1);
    o.uv = p * 0.5f + 0.5f;
    return o;
}
fragment float4 fs(Out in [[stage_in]], texture2d<float> t [[texture(0)]]) {
    constexpr sampler s(filter::linear, address::repeat);
    float4 c = t.sample(s, in.uv);
    float3 shaded = shade(in.uv);
    return float4(shaded, 1) + c * 0.1f;
}
"""


@pytest.fixture
def drawing(ingot):
    import numpy as np
    ingot.write("s.metal", STAGES)
    np.save(ingot.folder / "t.npy", (np.arange(64, dtype=np.float32) / 64).reshape(4, 4, 4))
    return [INGOT, "render", "s.metal", "--vertex", "vs", "--fragment", "fs", "--size", "16x16", "--texture", "0=t.npy",
            "-o", "o.png"]


def test_fragment_function(ingot, drawing):
    s = Session(ingot, "--break", f"s.metal:{line_of('c * c', STAGES)} if pixel_position.x == 3 && pixel_position.y == 2",
                *drawing,
                ex=["bt 2", "print c", "finish", "print in", "print t", "print $texel(t, 1, 2)", "print $texel(t, 9, 0)",
                    "print s", "info metal-threads", "metal-thread 5,2 print in.uv"])
    assert re.findall(r"^#\d+ +(\w+) ", s[0], re.M) == ["shade", "fs"], s.text
    assert values(s)[1] == "(0.21875, 0.84375, 0.5)", s.text
    assert values(s)[3] == "{position = (3.5, 2.5, 0, 1), uv = (0.21875, 0.84375)}", s.text
    assert values(s)[4] == "4 x 4 RGBA32Float, 2D, 3 levels", s.text
    assert values(s)[5] == '"(0.5625, 0.578125, 0.59375, 0.609375)"', s.text  # 9 * 4 / 64 and the next
    assert "level 0 has 4 x 4 texels" in s.errors, s.text
    assert values(s)[7] == "min linear, mag linear, repeat", s.text
    assert re.search(r"^\* 3,2 +running", s[8], re.M), s.text
    assert values(s)[9] == "(0.34375, 0.84375)", s.text


def test_vertex_function(ingot, drawing):
    s = Session(ingot, "--break", f"s.metal:{line_of('o.uv', STAGES)} if vertex_id == 2", *drawing,
                ex=["print id", "print o.position", "next", "print o.uv", "info metal-threads"])
    assert [values(s)[k] for k in (0, 1, 3)] == ["2", "(-1, 3, 0, 1)", "(0, 2)"], s.text
    assert [line.split()[:2] for line in s[4].splitlines()[1:3]] == [["0", "done"], ["1", "done"]], s.text
    assert s[4].splitlines()[3].split()[:3] == ["*", "2", "running,"], s.text


PROGRAM = r"""
#include <ingot/metal.h>
#include <stdio.h>
int main(void) {
    MTLDevice *device = mtl_create_system_default_device();
    MTLLibrary *library = mtl_device_new_library_with_source(device,
        "kernel void square(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
        "    float v = x[i];\n"
        "    x[i] = v * v;\n"
        "}\n", NULL, NULL);
    MTLFunction *f = mtl_library_new_function(library, "square");
    MTLComputePipelineState *p = mtl_device_new_compute_pipeline_state(device, f, NULL);
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLBuffer *b = mtl_device_new_buffer(device, 16, MTLResourceStorageModeShared);
    for (int i = 0; i < 4; i++) ((float *)mtl_buffer_contents(b))[i] = (float)i;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_set_buffer(e, b, 0, 0);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(4, 1, 1), mtl_size_make(4, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    printf("status %d, last %g\n", (int)mtl_command_buffer_status(commands), ((float *)mtl_buffer_contents(b))[3]);
}
"""


def test_a_c_program_with_its_source_as_text(ingot, tmp_path):
    """The text is in a file of the cache folder, and a long look does not end the kernel."""
    ingot.write("square.c", PROGRAM)
    subprocess.run(["cc", "-g", "-o", tmp_path / "square", ingot.folder / "square.c", "-I", os.path.join(ROOT, "include"),
                    f"-L{BUILD}/lib", "-lingot", f"-Wl,-rpath,{BUILD}/lib"], check=True)
    s = Session(ingot, "--break", "program_source.metal:3 if i == 3", tmp_path / "square",
                ex=["print v", "list 2,2", "shell sleep 0.5", "next", "print x[3]", "continue"], INGOT_TIMEOUT_MS="100")
    assert values(s)[0] == "3" and "float v = x[i];" in s[1], s.text
    assert values(s)[4] == "9", s.text
    assert "status 4, last 9" in s[5], s.text


def test_a_python_program(ingot):
    ingot.write("p.py", '''import pymetal
device = pymetal.create_system_default_device()
library = device.new_library_with_source("""
kernel void add(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    float v = x[i] + 1.0f;
    x[i] = v;
}
""")
pipeline = device.new_compute_pipeline_state(library.new_function("add"))
buffer = device.new_buffer(16, pymetal.ResourceStorageModeShared)
queue = device.new_command_queue()
commands = queue.command_buffer()
encoder = commands.compute_command_encoder()
encoder.set_compute_pipeline_state(pipeline)
encoder.set_buffer(buffer, 0, 0)
encoder.dispatch_threads(4, 1, 1, 4, 1, 1)
encoder.end_encoding()
commands.commit()
commands.wait_until_completed()
print("it computed", memoryview(buffer.contents()).cast("B").cast("f").tolist())
''')
    s = Session(ingot, "--break", "program_source.metal:4 if i == 2", "python3", "p.py", ex=["print v", "bt 1", "continue"],
                PYTHONPATH=str(BUILD / "python"))
    assert values(s)[0] == "1" and "#0  add (" in s[1], s.text
    assert "it computed [1.0, 1.0, 1.0, 1.0]" in s[2], s.text


def test_a_library_built_with_notes(ingot):
    ingot.write("k.metal", KERNEL)
    ingot("build", "-g", "k.metal", "-o", "k.metallib")
    s = Session(ingot, "k.metallib", *RUN[1:], "--break", f"k.metal:{line_of('r += 1')}", ex=["print r", "bt"])
    assert values(s)[0] == "0" and s[1].count("k.metal:") == 3, s.text
    assert RESULT in ingot("run", "k.metallib", *RUN[1:]).stdout  # and it runs as any other


def test_what_is_wrong_is_one_line(ingot):
    ingot.write("k.metal", KERNEL)
    for words, status, said in ((["--thread", "5,x"], 2, "--thread needs a position in the grid, X, X,Y or X,Y,Z, not '5,x'"),
                                (["--thread", "8"], 2, "thread 8,0,0 lies outside the grid of 8 x 1 x 1"),
                                (["--thread", "1,2,3,4"], 2, "--thread needs a position"),
                                (["--gdb", "no-such-gdb"], 1, "'no-such-gdb' not found: install gdb")):
        r = ingot("debug", *RUN, *words, status=status)
        assert r.stderr.count("\n") == 1 and r.stderr.startswith("ingot debug: ") and said in r.stderr, r.stderr
    assert "a shader, capture or program is required" in ingot("debug", status=2).stderr
    assert "a kernel of 'k.metal' is required" in ingot("debug", "k.metal", status=2).stderr
    assert os.path.isfile(ingot("debug", "--script").stdout.strip())


# ---- Captures ----

COUNT = """#include <metal_stdlib>
using namespace metal;
kernel void count(device uint *x [[buffer(0)]], uint2 g [[thread_position_in_grid]], uint2 n [[threads_per_grid]]) {
    uint at = g.y * n.x + g.x;
    uint before = x[at];
    x[at] = before + at;
}
"""


@pytest.fixture
def counted(ingot):
    """Commands 0, 1 and 2 of a capture add to the same numbers."""
    ingot.write("c.metal", COUNT)
    ingot("capture", "-q", "-o", "c.ingottrace", INGOT, "run", "c.metal", "count", "--grid", "16,4", "--group", "8,2", "--arg",
          "0=u32[64]", "--repeat", 3, "-q")
    listed = ingot("replay", "c.ingottrace", "--list").stdout
    assert len(re.findall("dispatch count", listed)) >= 3, listed
    return ingot


def test_a_thread_of_a_command_of_a_capture(counted):
    """It stops in that command and that thread; what ran before did its work, and quickly: there is one stop."""
    s = Session(counted, "c.ingottrace", "--command", 2, "--thread", "5,3", ex=["bt 1", "next", "next", "print before", "print at",
                                                                             "print g", "continue"])
    assert re.search(r"Breakpoint 1, count \(.*g=\(5, 3\)", s.start), s.text
    assert [values(s)[k] for k in (3, 4, 5)] == [str(2 * 53), "53", "(5, 3)"], s.text
    assert "exited normally" in s[6] and "Breakpoint" not in s[6], s.text


def test_the_source_is_that_of_the_capture(counted):
    counted.write("c.metal", "// another text\n" * 20)
    s = Session(counted, "--break", line_of("x[at] = before", COUNT), "--thread", 7, "c.ingottrace", "--command", 0,
                ex=["list 6,6", "print before", "print at"])
    assert "x[at] = before + at;" in s[0] and values(s)[1:] == ["0", "7"], s.text


@pytest.fixture
def captured_drawing(ingot, drawing):
    ingot("capture", "-q", "-o", "d.ingottrace", *drawing)  # which ends with an -o of its own
    listed = ingot("replay", "d.ingottrace", "--list").stdout
    return re.search(r"(\d+): draw vs, fs", listed)[1]


def test_a_pixel_and_a_vertex_of_a_draw(ingot, captured_drawing):
    s = Session(ingot, "d.ingottrace", "--command", captured_drawing, "--pixel", "3,2",
                ex=["print in", "print pixel_position", "delete", "continue"])
    assert "Breakpoint 1, fs (" in s.start, s.text
    assert values(s)[0] == "{position = (3.5, 2.5, 0, 1), uv = (0.21875, 0.84375)}", s.text
    assert values(s)[1] == "{x = 3, y = 2}" and "exited normally" in s[3], s.text
    s = Session(ingot, "d.ingottrace", "--command", captured_drawing, "--vertex", 2, ex=["print id", "continue"])
    assert "Breakpoint 1, vs (" in s.start and values(s)[0] == "2", s.text
    assert "exited normally" in s[1], s.text


@pytest.mark.parametrize("args, status, said", [
    (["--command", "99"], 1, "no command 99"), (["--command", "0", "--thread", "16,0"], 1, "lies outside the grid of 16 x 4 x 1"),
    (["--command", "0", "--pixel", "1,1"], 1, "is a dispatch: use --thread"), (["--thread", "1,2,3,4"], 2, "--thread needs a position"),
    (["--pixel", "4"], 2, "--pixel needs a pixel, X,Y, not '4'"), (["--vertex", "x"], 2, "--vertex needs a number"),
    (["--thread", "1", "--vertex", "1"], 2, "one of --thread, --pixel and --vertex"), (["more"], 2, "unexpected argument")])
def test_places_of_a_capture_that_are_not_there(counted, args, status, said):
    r = counted("debug", "--batch", "c.ingottrace", *args, status=status)
    assert said in r.stderr and r.stderr.count("\n") == 1, r.stderr


def test_captures_that_cannot_be_debugged(counted):
    counted.write("no.ingottrace", b"nothing of the kind")
    r = counted("debug", "--batch", "no.ingottrace", status=1)
    assert r.stderr.startswith("ingot debug: no.ingottrace: ") and r.stderr.count("\n") == 1, r.stderr
    counted.write("c.metal", COUNT)
    counted("build", "c.metal", "-o", "c.metallib")
    counted("capture", "-q", "-o", "lib.ingottrace", INGOT, "run", "c.metallib", "count", "--grid", "16,4", "--arg", "0=u32[64]", "-q")
    r = counted("debug", "--batch", "lib.ingottrace", status=1)
    assert "does not hold the source of 'count'" in r.stderr, r.stderr
