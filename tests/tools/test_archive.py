# SPDX-License-Identifier: Apache-2.0
"""ingot build --archive, and ingot reflect of what it wrote."""
import json

from conftest import ADD

TWO = ADD + """
constant int n [[function_constant(0)]];
kernel void fill(device int *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = n; }
"""


def entries(ingot, name):
    return json.loads(ingot("reflect", name, "--json").stdout)["entries"]


def test_archive_of_all_kernels(ingot):
    ingot.write("a.metal", TWO)
    ingot("build", "a.metal", "--archive", "a.binarchive", "-o", "a.metallib", "--group", "64",
          "--group", "8x8", "--constant", "n=7")
    found = {(e["function"], *e["threadgroup"]) for e in entries(ingot, "a.binarchive")}
    shapes = [(0, 0, 0), (64, 1, 1), (8, 8, 1)]
    assert found == {(f, *s) for f in ("add", "fill") for s in shapes}
    notes = {e["function"]: e["note"] for e in entries(ingot, "a.binarchive")}
    assert notes == {"add": "", "fill": "n=0x00000007"}
    text = ingot("reflect", "a.binarchive").stdout
    assert "binary archive of 6" in text and "8 x 8 x 1" in text and "any threadgroup" in text
    assert (ingot.folder / "a.metallib").read_bytes()[:8] == b"INGOTLIB"


def test_one_function(ingot):
    ingot.write("a.metal", TWO)
    ingot("build", "a.metal", "--archive=a.binarchive", "--function", "add")
    assert [e["function"] for e in entries(ingot, "a.binarchive")] == ["add"]


def test_what_is_wrong_is_said(ingot):
    ingot.write("a.metal", TWO)
    ingot.write("old", "precious")
    r = ingot("build", "a.metal", "--archive", "old", "--function", "sub", status=1)
    assert "no kernel 'sub'" in r.stderr
    r = ingot("build", "a.metal", "--archive", "old", "--constant", "m=1", status=1)
    assert "m=1" in r.stderr
    r = ingot("build", "a.metal", "--archive", "old", "--constant", "n=blue", status=1)
    assert "blue" in r.stderr
    ingot.write("bad.metal", "kernel void f() { oops }\n")
    assert "oops" in ingot("build", "bad.metal", "--archive", "old", status=1).stderr
    assert (ingot.folder / "old").read_text() == "precious"
    ingot("build", "a.metal", "--archive", status=2)
    ingot("build", "--archive", "x", status=2)
    ingot("build", "a.metal", "--archive", "x", "--group", "0", status=2)
    r = ingot("build", "a.metal", "--constant", "n=1", "--archive", "no/such/folder/x", status=1)
    assert "no/such/folder/x" in r.stderr
    assert "--group" in ingot("build", "--archive", "--help").stdout


def test_damaged_archive_is_not_listed(ingot):
    ingot.write("a.metal", ADD)
    ingot("build", "a.metal", "--archive", "a.binarchive")
    data = bytearray((ingot.folder / "a.binarchive").read_bytes())
    data[-1] ^= 1
    ingot.write("b.binarchive", bytes(data))
    assert "checksum" in ingot("reflect", "b.binarchive", status=1).stderr
