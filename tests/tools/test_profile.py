# SPDX-License-Identifier: Apache-2.0
"""ingot profile: where the time goes, by line; ingot build --remarks: why. How many samples there are is up to the
machine; that they are where the work is, is not."""
import json
import os
import sys
import xml.etree.ElementTree

from conftest import BUILD

INGOT = BUILD / "bin" / "ingot"

WORK = """#include <metal_stdlib>
using namespace metal;
float2 square(float2 z) {
    return float2(z.x * z.x - z.y * z.y, 2 * z.x * z.y);
}
kernel void work(device uint *out [[buffer(0)]], uint2 g [[thread_position_in_grid]],
                 uint2 n [[threads_per_grid]]) {
    float2 c = float2(g) / float2(n) * 0.1f, z = 0;
    uint k = 0;
    while (k < 1000 && dot(z, z) < 4.0f) {
        z = square(z) + c;
        k++;
    }
    out[g.y * n.x + g.x] = k;
}
"""
LOOP = {4, 10, 11, 12}  # lines of the loop, and of what it calls
RUN = ["run", "w.metal", "work", "--grid", "512,512", "--arg", "0=u32[262144]", "--repeat", 6, "-q"]


def test_lines_functions_and_files(ingot):
    ingot.write("w.metal", WORK)
    r = ingot("profile", "--json", "p.json", "--svg", "p.svg", "--keep", "kept", INGOT, *RUN)
    p = json.loads((ingot.folder / "p.json").read_text())
    assert p["samples"] > 20 and p["lost"] == 0, p
    assert p["kernels"] == [{"name": "work", "self": p["samples"], "all": p["samples"]}]
    lines = {line["line"]: line for line in p["lines"]}
    hot = sum(line["self"] for n, line in lines.items() if n in LOOP)
    assert hot > 0.9 * p["samples"], p["lines"]
    assert all(line["file"].endswith("/w.metal") for line in p["lines"] if line["line"]), p["lines"]
    assert any(line["text"] == "while (k < 1000 && dot(z, z) < 4.0f) {" for line in p["lines"]), p["lines"]
    assert {f["name"] for f in p["functions"]} == {"work", "square"}, p["functions"]
    assert sum(s["count"] for s in p["stacks"]) == p["samples"]
    assert all(s["frames"][0]["function"] == "work" for s in p["stacks"]), p["stacks"]
    texts = {e.text for e in xml.etree.ElementTree.parse(ingot.folder / "p.svg").iter() if e.text and e.text.strip()}
    assert f"{p['samples']} samples in Metal functions" in texts and "work" in texts, texts
    assert "w.metal:10  while (k < 1000" in r.stdout, r.stdout
    assert any(name.startswith("code-") for name in os.listdir(ingot.folder / "kept"))


DRAW = """#include <metal_stdlib>
using namespace metal;
vertex float4 vs(uint id [[vertex_id]]) { return float4(id == 1 ? 3 : -1, id == 2 ? 3 : -1, 0, 1); }
fragment float4 fs(float4 at [[position]], texture2d<float> t [[texture(0)]]) {
    constexpr sampler s(filter::linear);
    float4 sum = 0;
    for (int k = 0; k < 200; k++)
        sum += t.sample(s, at.xy / 512 + k * 0.01f);
    return sum;
}
"""


def test_draws_and_textures(ingot):
    import numpy as np
    ingot.write("d.metal", DRAW)
    np.save(ingot.folder / "t.npy", np.ones((16, 16, 4), np.float32))
    r = ingot("profile", "--json", "p.json", INGOT, "render", "d.metal", "--vertex", "vs", "--fragment", "fs", "--texture",
              "0=t.npy", "-o", "o.png")
    p = json.loads((ingot.folder / "p.json").read_text())
    assert p["draws"][0]["name"] == "draw 1: fs", p["draws"]
    assert p["library"] > 0.5 * p["samples"] > 0, p  # in the device's texture functions,
    sampling = sum(line["self"] for line in p["lines"] if line["line"] == 8)
    assert sampling > 0.8 * p["samples"], p["lines"]  # which belong to the line that calls them
    assert "draw 1: fs" in r.stdout, r.stdout


def test_a_python_program(ingot):
    ingot.write("p.py", '''import pymetal
device = pymetal.create_system_default_device()
library = device.new_library_with_source("""
kernel void spin(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    float v = x[i];
    for (int k = 0; k < 60000; k++) v = v * 0.999f + 0.5f;
    x[i] = v;
}
""")
pipeline = device.new_compute_pipeline_state(library.new_function("spin"))
buffer = device.new_buffer(65536 * 4, pymetal.ResourceStorageModeShared)
commands = device.new_command_queue().command_buffer()
encoder = commands.compute_command_encoder()
encoder.set_compute_pipeline_state(pipeline)
encoder.set_buffer(buffer, 0, 0)
encoder.dispatch_threads(65536, 1, 1, 256, 1, 1)
encoder.end_encoding()
commands.commit()
commands.wait_until_completed()
''')
    r = ingot("profile", sys.executable, "p.py", PYTHONPATH=str(BUILD / "python"))
    assert "program_source.metal:4  for (int k = 0; k < 60000; k++)" in r.stdout, r.stdout


def test_what_is_wrong_is_one_line(ingot):
    r = ingot("profile", "true")
    assert "true ran no Metal function on the CPU device" in r.stderr and r.stderr.count("\n") == 1
    assert "cannot start 'no-such-program'" in ingot("profile", "no-such-program", status=127).stderr
    assert "which program?" in ingot("profile", status=2).stderr
    assert ingot("profile", "sh", "-c", "exit 7", status=7)
    ingot.write("w.metal", WORK)
    r = ingot("profile", "-q", "--svg", "nowhere/p.svg", INGOT, *RUN, status=1)
    assert "cannot write 'nowhere/p.svg'" in r.stderr


SLOW = """#include <metal_stdlib>
using namespace metal;
kernel void slow(device const float *a [[buffer(0)]], device const uint *index [[buffer(1)]],
                 device float *out [[buffer(2)]], device atomic_uint *bins [[buffer(3)]],
                 constant uint &n [[buffer(4)]], uint i [[thread_position_in_grid]]) {
    float x = a[index[i]];
    float y = a[i * 64];
    float z = a[(i * 7) % n];
    uint steps = index[i];
    for (uint k = 0; k < steps; k++)
        x += y;
    if (x > 3)
        z = sin(z) * a[i];
    atomic_fetch_add_explicit(&bins[index[i] & 15], 1, memory_order_relaxed);
    out[i] = x + y + z;
}
kernel void fast(device const float *a [[buffer(0)]], device float *b [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    b[i] = a[i] * 2.0f;
}
"""


def test_remarks(ingot):
    ingot.write("s.metal", SLOW)
    remarks = json.loads(ingot("build", "--remarks=json", "s.metal").stdout)
    said = {(r["line"], r["kind"]): r["text"] for r in remarks if r["kernel"] == "slow"}
    assert said[6, "gather"] == "load of 4 bytes becomes a gather: its index is read from memory (line 6)", said
    assert said[7, "gather"] == "load of 4 bytes becomes a gather: neighbouring threads are 256 bytes apart", said
    assert "its index is made by a remainder" in said[8, "gather"], said
    assert "until the last of 32 threads" in said[10, "loop"], said
    assert "both are run" in said[12, "branch"] if (12, "branch") in said else "both are run" in said[13, "branch"], said
    assert "one thread after the other" in said[14, "serial"], said
    assert not any(line in (9, 15) for line, _ in said), said
    assert {r["kind"] for r in remarks if r["kernel"] == "fast"} == {"step"}, remarks
    text = ingot("build", "--remarks", "--function", "slow", "s.metal").stdout
    assert "s.metal:7:15: remark: load of 4 bytes becomes a gather" in text and "fast" not in text, text
    assert "--remarks are text, or =json, not 'xml'" in ingot("build", "--remarks=xml", "s.metal", status=2).stderr
