# SPDX-License-Identifier: Apache-2.0
"""`ingot test`: a folder of shaders with expectations; what is right, what is wrong, and how it is said."""
import pathlib
import xml.etree.ElementTree

import numpy as np
import pytest

from conftest import ADD

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"

TOML = """# beside add.metal
[add]
grid = [4]
args = ["0=f32[4]=iota", '1=f32[4]=fill:10',
        "2=f32[4]"]   # over two lines
expect = ["2=10,11,12,13"]

["add, from files"]
kernel = "add"
grid = 4
group = "2"
args = ["a=a.npy", "b=f32[4]=fill:0", "c=f32[4]"]
expect = ["c=wanted.npy"]
tolerance = 0.01
"""


@pytest.fixture
def shaders(ingot):
    ingot.write("s/add.metal", ADD)
    ingot.write("s/add.test.toml", TOML)
    ingot.write("s/sub/other.metal", "#include \"common.h\"\nkernel void f(device int *x) { x[0] = COMMON; }\n")
    ingot.write("include/common.h", "#define COMMON 3\n")
    np.save(ingot.folder / "s/a.npy", np.float32([1, 2, 3, 400]))
    np.save(ingot.folder / "s/wanted.npy", np.float32([1, 2.005, 3, 401]))
    return ingot


def test_fine(shaders):
    done = shaders("test", "s", "-I", "include", "--junit", "r.xml")
    assert done.stdout.splitlines() == [
        "TAP version 13", "ok 1 - s/add.metal: compiles", "ok 2 - s/add.metal: add",
        "ok 3 - s/add.metal: add, from files", "ok 4 - s/sub/other.metal: compiles", "1..4"]
    suite = xml.etree.ElementTree.parse(shaders.folder / "r.xml").getroot()
    assert suite.get("tests") == "4" and suite.get("failures") == "0"
    assert [c.get("name") for c in suite] == ["compiles", "add", "add, from files", "compiles"]


def test_example(ingot):
    n_files = len(list(EXAMPLES.rglob("*.metal")))
    assert ingot("test", EXAMPLES).stdout.count("\nok ") == n_files + 1  # each compiles, and saxpy runs


def test_wrong_numbers(shaders):
    shaders.write("s/add.test.toml", TOML.replace("10,11,12,13", "10,11,12,14").replace("0.01", "0.001"))
    done = shaders("test", "s/add.metal", "--junit", "r.xml", status=1)
    assert "not ok 2 - s/add.metal: add\n" in done.stdout
    assert "1 of 4 numbers are wrong; number 3 is 13, expected 14 (tolerance 1e-05)" in done.stdout
    assert "2 of 4 numbers are wrong; number 1 is 2, expected 2.005" in done.stdout
    assert done.stdout.endswith("1..3\n# 2 of 3 failed\n")
    failures = xml.etree.ElementTree.parse(shaders.folder / "r.xml").findall("testcase/failure")
    assert len(failures) == 2 and "expected 14" in failures[0].text


def test_wrong_source(shaders):
    """A file that does not compile is one failure at its line; its kernels are not run."""
    shaders.write("s/add.metal", ADD.replace("a[i] + b[i]", "a[i] + nothing"))
    done = shaders("test", "s", "-I", "include", status=1, GITHUB_ACTIONS="true")
    assert "not ok 1 - s/add.metal: compiles" in done.stdout and "ok 2 - s/sub/other.metal" in done.stdout
    assert "::error file=s/add.metal,line=5,col=19::use of undeclared identifier 'nothing'" in done.stdout


def test_kernels_that_go_wrong(shaders):
    shaders.write("s/bad.metal", "kernel void ends_never(device int *x) { while (x[0] == 0) {} }\n")
    shaders.write("s/bad.test.toml", '[ends_never]\ngrid = 1\nargs = ["x=i32[1]"]\nexpect = ["x=1"]\ntimeout = 200\n'
                  '[missing]\ngrid = 1\nexpect = ["0=1"]\n')
    done = shaders("test", "s/bad.metal", status=1)
    assert "ok 1 - s/bad.metal: compiles\nnot ok 2 - s/bad.metal: ends_never" in done.stdout
    assert "not ok 3 - s/bad.metal: missing" in done.stdout and "no kernel 'missing'" in done.stdout.replace("there is ", "")


@pytest.mark.parametrize("text, said", [
    ("grid = 1\n", ":1: a table, [name], must come first"),
    ("[add]\ngrid = 4\n", "'expect' is missing"),
    ("[add]\nexpect = ['2=1']\n", "'grid' is missing"),
    ("[add]\ngrid = [4\nexpect = 3\n", ":3: ',' or ']' is missing in the array"),
    ("[add]\ngrid = 4 5\n", ":2: there is something behind the value"),
    ("[add]\n[add]\n", ":2: there are two tables of this name"),
    ("[[add]]\n", ":1: arrays of tables are not understood"),
    ("[add]\ngird = 4\n", "line 2: 'gird' is not one of kernel, grid"),
    ("[add]\nargs = \"x\n", ":2: the string has no end"),
    ("[add]\ngrid = 4\nexpect = \"2\"\n", "'2' is not BUFFER=FILE.npy or BUFFER=1,2,3"),
    ("[add]\ngrid = 4\nkernel = []\n", "line 3: 'kernel' is empty"),
    ("", "has no table")])
def test_wrong_expectations(shaders, text, said):
    shaders.write("s/add.test.toml", text)
    assert said in shaders("test", "s/add.metal", status=1).stdout


def test_no_files(ingot):
    assert "no .metal files found" in ingot("test", status=1).stderr
    assert "'nowhere' is neither a folder" in ingot("test", "nowhere", status=1).stderr
    assert ingot("test", "--timeout", "0", status=2).stderr
