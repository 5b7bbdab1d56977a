# SPDX-License-Identifier: Apache-2.0
"""Reading .npy files: every version, and every way a file can be wrong."""
import io

import numpy as np
import pytest

COPY = """#include <metal_stdlib>
kernel void touch(device float *x [[buffer(0)]]) { x[0] = x[0] + 0.0f; }
"""


@pytest.fixture
def touch(ingot):
    ingot.write("t.metal", COPY)

    def call(data, status=0):
        ingot.write("in.npy", data)
        return ingot("run", "t.metal", "touch", "--grid", 1, "--arg", "0=in.npy", "--out", "0=out.npy",
                     status=status)
    return call


def save(a, version=None):
    f = io.BytesIO()
    np.lib.format.write_array(f, a, version=version)
    return f.getvalue()


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("shape", [(5,), (2, 3), (2, 1, 3), ()])
def test_versions_and_shapes(ingot, touch, version, shape):
    a = np.random.default_rng(1).random(shape, dtype=np.float32).reshape(shape)
    touch(save(a, version))
    out = np.load(ingot.folder / "out.npy")
    assert out.shape == a.shape and np.array_equal(out, a)


def test_truncated_anywhere(touch):
    data = save(np.arange(6, dtype=np.float32))
    for n in [0, 1, 5, 6, 7, 8, 9, 10, 11, 50, 100, 127, 128, 129, len(data) - 1]:
        r = touch(data[:n], status=1)
        assert "in.npy" in r.stderr and ("truncated" in r.stderr or "not an .npy" in r.stderr)


def test_extra_bytes_are_harmless(touch):
    touch(save(np.arange(6, dtype=np.float32)) + b"more")


@pytest.mark.parametrize("a, hint", [
    (np.arange(4, dtype=np.float64), "astype('float32')"),
    (np.arange(4, dtype=">f4"), "big-endian"),
    (np.asfortranarray(np.zeros((2, 3), np.float32)), "ascontiguousarray"),
    (np.zeros(3, np.complex64), "c8"),
    (np.zeros(3, [("a", "f4"), ("b", "i4")]), "records"),
    (np.zeros(0, np.float32), "empty"),
    (np.array(["text"]), "type"),
])
def test_unsupported(touch, a, hint):
    assert hint in touch(save(a), status=1).stderr


def header(text):
    text = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(64)


@pytest.mark.parametrize("text", [
    "", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (4,",
    "{'descr': '<f4', 'fortran_order': False, 'shape': 4}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4294967296), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000,), }",
    "{'descr': '<f4" + "x" * 60 + "', 'fortran_order': False, 'shape': (4,)}",
    "{'descr'", "{'descr': '", "{'descr': '', 'fortran_order': False, 'shape': (4,)}",
])
def test_nonsense_headers(touch, text):
    assert "in.npy" in touch(header(text), status=1).stderr


def test_header_in_other_clothes(touch):
    touch(header('{"shape":(2,8,),"fortran_order":False,"descr":"<f4"}'))
