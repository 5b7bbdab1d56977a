# SPDX-License-Identifier: Apache-2.0
"""ingot debug: gdb on kernels and stages. Each session is gdb in batch mode, and what it prints is looked at."""
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
                                (["--gdb", "no-such-gdb"], 1, "there is no 'no-such-gdb' here: install gdb")):
        r = ingot("debug", *RUN, *words, status=status)
        assert r.stderr.count("\n") == 1 and r.stderr.startswith("ingot debug: ") and said in r.stderr, r.stderr
    assert "which shader or program?" in ingot("debug", status=2).stderr
    assert "which kernel of 'k.metal'?" in ingot("debug", "k.metal", status=2).stderr
    assert os.path.isfile(ingot("debug", "--script").stdout.strip())
