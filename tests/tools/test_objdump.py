# SPDX-License-Identifier: Apache-2.0
"""ingot objdump: functions of compiled libraries, Ingot's and Apple's; what is none is named."""
import os
import pathlib

SOURCES = pathlib.Path(os.environ.get("INGOT_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
APPLE = SOURCES / "tests/fuzz/files/seeds/apple_metallib"
SHADER = """#include <metal_stdlib>
kernel void first(device float *x) { x[0] = 1; }
vertex float4 corner(uint i [[vertex_id]]) { return float4(i); }
"""


def refused(ingot, name, data, words):
    (ingot.folder / name).write_bytes(data)
    r = ingot("objdump", name, status=1)
    assert r.stdout == "" and words in r.stderr and r.stderr.count("\n") == 1, r.stderr


def test_ours(ingot):
    ingot.write("s.metal", SHADER)
    ingot("build", "s.metal", "-o", "s.metallib")
    lines = ingot("objdump", "s.metallib").stdout.splitlines()
    assert lines[0].startswith("Ingot metallib, executable, Metal ") and "2 functions" in lines[0]
    assert sorted(lines[1:]) == ["kernel first", "vertex corner"]


def test_apple(ingot):
    for name in ("two", "universal"):
        assert ingot("objdump", str(APPLE / name)).stdout.splitlines() == [
            "Apple metallib, version 2.7, executable, for macOS 14.0: 2 functions", "  section UUID, 16 bytes",
            "vertex first, AIR 2.6, Metal 3.1, 32 bytes", "fragment second, AIR 2.6, Metal 3.1, 32 bytes"]
    assert ingot("objdump", str(APPLE / "object")).stdout == "Apple object (.air): 32 bytes of bitcode\n"


def test_damaged(ingot):
    whole = (APPLE / "two").read_bytes()
    refused(ingot, "cut", whole[:-9], "truncated")
    refused(ingot, "header", whole[:50], "truncated")
    refused(ingot, "code", whole[:-1] + b"\1", "the bitcode of 'second' does not match its hash")
    refused(ingot, "newer", whole[:6] + b"\3" + whole[7:], "version 3.7 of Apple's format; versions up to 2 are known")


def test_foreign(ingot):
    refused(ingot, "vulkan", b"\x03\x02\x23\x07" + bytes(60), "SPIR-V")
    refused(ingot, "direct3d", b"DXBC" + bytes(60), "Direct3D")
    refused(ingot, "text", b"kernel void f() {}", "no metallib")
    refused(ingot, "nothing", b"", "empty")


def test_not_run(ingot):
    (ingot.folder / "a.metallib").write_bytes((APPLE / "two").read_bytes())
    r = ingot("run", "a.metallib", "first", "--grid", "1", status=1)
    assert "made by Apple's compiler" in r.stderr
