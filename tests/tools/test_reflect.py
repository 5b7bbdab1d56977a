# SPDX-License-Identifier: Apache-2.0
"""ingot reflect: every argument with index, type and access; struct layouts; function constants."""
import hashlib
import json

SHADER = """#include <metal_stdlib>
using namespace metal;
struct Params { float3 origin; float scale; uint counts[4]; };
constant float gain [[function_constant(3)]];
kernel void first(device const half *in [[buffer(1)]], device float4 *out [[buffer(0)]],
                  constant Params &p [[buffer(4)]], threadgroup float *tile [[threadgroup(0)]],
                  uint2 gid [[thread_position_in_grid]], ushort lane [[thread_index_in_simdgroup]]) {
    tile[lane] = float(in[gid.x]);
    out[gid.x] = float4(tile[lane] * p.scale * gain);
}
[[kernel, max_total_threads_per_threadgroup(64)]] void second(device atomic_uint *n) {
    atomic_fetch_add_explicit(n, 1u, memory_order_relaxed);
}
"""


def test_json(ingot):
    ingot.write("s.metal", SHADER)
    r = json.loads(ingot("reflect", "s.metal", "--json").stdout)
    functions = {f["name"]: f for f in r["functions"]}
    assert set(functions) == {"first", "second"}
    args = {a["name"]: a for a in functions["first"]["args"]}
    assert args["in"]["index"] == 1 and args["in"]["type"] == "half" and args["in"]["access"] == "read"
    assert args["out"]["index"] == 0 and args["out"]["size"] == 16 and args["out"]["space"] == "device"
    assert args["p"]["type"] == "Params" and args["p"]["space"] == "constant"
    assert args["tile"]["kind"] == "threadgroup" and args["tile"]["index"] == 0
    assert args["gid"]["builtin"] == "thread_position_in_grid" and args["gid"]["type"] == "uint2"
    assert args["lane"]["builtin"] == "thread_index_in_simdgroup"
    assert functions["first"]["constants"] == [{"name": "gain", "index": 3, "type": "float"}]
    assert functions["second"]["max_total_threads"] == 64
    params = next(s for s in r["structs"] if s["name"] == "Params")
    assert params["size"] == 48 and params["align"] == 16  # float3 takes 16 bytes
    assert [(m["name"], m["offset"]) for m in params["members"]] == [("origin", 0), ("scale", 16),
                                                                     ("counts", 20)]


def test_text(ingot):
    ingot.write("s.metal", SHADER)
    out = ingot("reflect", "s.metal").stdout
    assert "kernel first" in out and "struct Params, 48 bytes" in out and "gain" in out


def test_metallib(ingot):
    ingot.write("s.metal", SHADER)
    ingot("build", "s.metal", "-o", "s.metallib")
    assert ingot("reflect", "s.metallib").stdout == ingot("reflect", "s.metal").stdout
    data = (ingot.folder / "s.metallib").read_bytes()
    for bad in [data[:100], data[:-1], data[:200] + b"x" + data[201:]]:
        ingot.write("bad.metallib", bad)
        r = ingot("reflect", "bad.metallib", status=1)
        assert "bad.metallib" in r.stderr and "damaged" in r.stderr


def test_names_of_a_file_do_not_reach_the_terminal(ingot):
    """A metallib whose names have escape sequences and line ends, and whose checksum is right."""
    ingot.write("s.metal", SHADER.replace("first", "a_function").replace("Params", "Some_struct"))
    ingot("build", "s.metal", "-o", "s.metallib")
    data = bytearray((ingot.folder / "s.metallib").read_bytes())
    head = next(n for n in range(8, 64) if hashlib.sha256(data[n + 32:]).digest() == data[n:n + 32]) + 32
    body = bytes(data[head:]).replace(b"a_function", b"f\x1b[2J\nkern").replace(b"Some_struct", b"S\r\x1b[1mxxxxx")
    ingot.write("names.metallib", bytes(data[:head - 32]) + hashlib.sha256(body).digest() + body)
    out = ingot("reflect", "names.metallib").stdout
    assert "kernel f\\x1b[2J\\x0akern" in out and "struct S\\x0d\\x1b[1mxxxxx" in out
    assert "\x1b" not in out and "\r" not in out
