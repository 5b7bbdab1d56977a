# SPDX-License-Identifier: Apache-2.0
"""ingot profile: where the time goes, by line; ingot build --remarks: why. How many samples there are is up to the
machine; that they are where the work is, is not."""
import json
import os
import shutil
import struct
import subprocess
import sys
import xml.etree.ElementTree

import pytest

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
    assert "a program is required" in ingot("profile", status=2).stderr
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
    assert "divergent branch" in said.get((12, "branch"), said.get((13, "branch"), "")), said
    assert "serialised over threads" in said[14, "serial"], said
    assert not any(line in (9, 15) for line, _ in said), said
    assert {r["kind"] for r in remarks if r["kernel"] == "fast"} == {"step"}, remarks
    text = ingot("build", "--remarks", "--function", "slow", "s.metal").stdout
    assert "s.metal:7:15: remark: load of 4 bytes becomes a gather" in text and "fast" not in text, text
    assert "--remarks takes no value or =json, not 'xml'" in ingot("build", "--remarks=xml", "s.metal", status=2).stderr


def counts(ingot, name, source, *args):
    ingot.write("c.metal", source)
    ingot("profile", "-q", "--lanes", "--json", "c.json", INGOT, "run", "c.metal", name, *args, "-q")
    rows = json.loads((ingot.folder / "c.json").read_text())["counts"]
    assert all(r["kernel"] == name for r in rows), rows
    return {r["line"]: r for r in rows if r["line"]}, {k: sum(r[k] for r in rows) for k in rows[0] if k not in ("kernel", "file")}


def test_lanes_that_are_active(ingot):
    # 64 threads of 16 groups: one thread in four takes the branch, and lane l of a SIMD-group turns l % 4 times.
    lines, all_lines = counts(ingot, "lanes", """#include <metal_stdlib>
using namespace metal;
kernel void lanes(device float *x [[buffer(0)]], device const float *y [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    float v = x[i];
    if (i % 4 == 0)
        v = sqrt(v) / y[i];
    for (uint k = 0; k < i % 4; k++)
        v = sin(v);
    x[i] = v;
}
""", "--grid", 1024, "--group", 64, "--arg", "0=f32[1024]=random:1", "--arg", "1=f32[1024]=fill:2")
    assert all_lines["threads"] == 1024, all_lines
    assert lines[4]["active"] == lines[4]["room"] > 0, lines[4]  # every thread
    assert lines[6]["active"] * 4 == lines[6]["room"] > 0, lines[6]  # one in four
    # 0 + 1 + 2 + 3 turns of four lanes, in three turns of all
    assert lines[8]["active"] * 2 == lines[8]["room"] > 0, lines[8]
    assert lines[4]["read"] == 4 * 1024 and lines[6]["read"] == 4 * 256 and lines[9]["written"] == 4 * 1024, lines
    assert all_lines["read"] == 4 * 1280 and all_lines["written"] == 4 * 1024, all_lines


def test_what_is_done_once_and_what_one_by_one(ingot):
    lines, _ = counts(ingot, "kinds", """#include <metal_stdlib>
using namespace metal;
kernel void kinds(device float *x [[buffer(0)]], device const uint *at [[buffer(1)]], constant float &scale [[buffer(2)]],
                  device atomic_uint *bins [[buffer(3)]], uint i [[thread_position_in_grid]]) {
    float twice = scale * 2;
    uint from = at[i];
    x[i] = x[from] * twice;
    atomic_fetch_add_explicit(&bins[from & 7], 1, memory_order_relaxed);
}
""", "--grid", 256, "--group", 64, "--arg", "0=f32[256]", "--arg", "1=u32[256]", "--arg", "2=f32:3", "--arg", "3=u32[8]")
    assert lines[5]["room"] == 0 and lines[5]["scalar"] > 0, lines[5]  # the same for all threads: once for 32 of them
    assert lines[5]["read"] == 4 * 256 // 32, lines[5]
    assert lines[6]["gathers"] == 0 and lines[7]["gathers"] == 256, lines
    assert lines[8]["serial"] == 256, lines[8]


def test_lanes_of_draws(ingot):
    # A triangle that covers the left half of 64 x 64 pixels, and a discard in one column of pixels in two.
    ingot.write("d.metal", """#include <metal_stdlib>
using namespace metal;
vertex float4 vs(uint id [[vertex_id]]) { return float4(id == 1 ? 3 : -1, id == 2 ? 3 : -1, 0, 1); }
fragment float4 fs(float4 at [[position]]) {
    if (uint(at.x) % 2)
        return float4(sin(at.x));
    return float4(0);
}
""")
    ingot("profile", "-q", "--lanes", "--json", "d.json", INGOT, "render", "d.metal", "--vertex", "vs", "--fragment", "fs",
          "--size", "64,64", "-o", "o.png")
    rows = json.loads((ingot.folder / "d.json").read_text())["counts"]
    threads = {k: sum(r["threads"] for r in rows if r["kernel"] == k) for k in ("vs", "fs")}
    assert threads == {"vs": 3, "fs": 4096}, threads
    odd = next(r for r in rows if r["line"] == 6)
    assert odd["active"] * 2 == odd["room"] > 0, odd


def test_remarks_stand_beside_the_samples(ingot):
    ingot.write("g.metal", """#include <metal_stdlib>
using namespace metal;
kernel void gather(device float *x [[buffer(0)]], device const uint *at [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    float sum = 0;
    for (uint k = 0; k < 4000; k++)
        sum += x[at[(i + k) & 65535]];
    x[i + 65536] = sum;
}
""")
    r = ingot("profile", "--json", "g.json", INGOT, "run", "g.metal", "gather", "--grid", 65536, "--arg", "0=f32[131072]",
              "--arg", "1=u32[65536]", "-q")
    lines = r.stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if "g.metal:6" in line)
    below = [line.strip() for line in lines[at + 1:at + 3]]
    assert "gather: load of 4 bytes becomes a gather: its index is read from memory (line 6)" in below, r.stdout
    remarks = json.loads((ingot.folder / "g.json").read_text())["remarks"]
    assert any(m["line"] == 6 and m["kind"] == "gather" for m in remarks), remarks


# ---- perf ----

def read_jitdump(path):
    """[(name, address, code, {address: (line, file)})], by Linux's jitdump-specification.txt."""
    data = path.read_bytes()
    magic, version, size, machine, _, pid, _, _ = struct.unpack_from("<6I2Q", data)
    assert (magic, version, size) == (0x4A695444, 1, 40) and f"jit-{pid}.dump" == path.name, (magic, version, size, pid)
    at, found, lines = size, [], {}
    while at < len(data):
        kind, size, _ = struct.unpack_from("<2IQ", data, at)
        record, at = data[at + 16:at + size], at + size
        if kind == 2:
            start, n = struct.unpack_from("<2Q", record)
            place = 16
            for _ in range(n):
                address, line, _ = struct.unpack_from("<Q2I", record, place)
                end = record.index(0, place + 16)
                lines[address] = (line, record[place + 16:end].decode())
                place = end + 1
            assert place == len(record), (place, len(record))
        else:
            assert kind == 0, kind
            _, _, _, address, n, number = struct.unpack_from("<2I4Q", record)
            name, _, _ = record[40:].partition(b"\0")
            found.append((name.decode(), address, record[41 + len(name):], lines))
            assert len(found[-1][2]) == n and number == len(found)
            lines = {}
    return found


def test_jitdump_says_what_line_tables_say(ingot):
    ingot.write("w.metal", WORK)
    ingot("profile", "-q", "--keep", "kept", INGOT, *RUN)
    kept = ingot.folder / "kept"
    codes = read_jitdump(next(kept.glob("jit-*.dump")))
    assert codes and {name for name, _, _, _ in codes} == {"metal:work"}, codes
    objects = {p: p.read_bytes() for p in kept.glob("code-*.so")}
    for _, start, code, lines in codes:
        path, data = next((p, d) for p, d in objects.items() if code in d)
        first = next(p for p in struct.iter_unpack("<2I6Q", data[64:64 + 56 * 7]) if p[1] & 1)[3]  # of the code, as it is linked
        assert len(lines) > 10 and {f for _, f in lines.values()} == {str(ingot.folder / "w.metal")}, lines
        offsets = sorted(lines)[:-1]
        asked = "".join(f"{a - start + first:x}\n" for a in offsets)
        said = subprocess.run([BUILD / "bin" / "mslc", "lines", path], input=asked, capture_output=True, text=True, check=True).stdout
        innermost = {}
        for row in said.splitlines():
            offset, _, _, line = row.split("\t")
            innermost.setdefault(int(offset, 16), int(line))
        same = [innermost.get(a - start + first) == lines[a][0] for a in offsets]
        assert sum(same) > 0.9 * len(same), (innermost, lines)  # of several rows at one address the last counts


def test_perf_shows_kernels_and_lines(ingot):
    perf = shutil.which("perf")
    record = ["record", "-q", "-k", "1", "-e", "cpu-clock", "-o"]
    if not perf or subprocess.run([perf, *record, "/dev/null", "true"], capture_output=True).returncode:
        pytest.skip("perf is not here, or may not be used (apt install linux-perf)")
    ingot.write("w.metal", WORK)
    ingot("profile", "-q", "--keep", "kept", perf, *record, "perf.data", INGOT, *RUN)
    subprocess.run([perf, "inject", "--jit", "-i", "perf.data", "-o", "jit.data"], cwd=ingot.folder, check=True, capture_output=True)
    said = subprocess.run([perf, "report", "-i", "jit.data", "--stdio", "-s", "symbol,srcline"], cwd=ingot.folder, check=True,
                          capture_output=True, text=True).stdout
    rows = [line for line in said.splitlines() if "metal:work" in line]
    assert rows and any(f"w.metal:{n}" in rows[0] for n in LOOP), said[:2000]
