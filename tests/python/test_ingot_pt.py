# SPDX-License-Identifier: Apache-2.0
"""Files of torch.save(): written here by hand as PyTorch does, by PyTorch where it is installed, and damaged."""

import collections
import io
import pickle
import struct
import types
import zipfile

import numpy as np
import pytest
from test_ingot_like_torch import torch

import ingot

needs_torch = pytest.mark.skipif(torch is None, reason="no torch")


class Call:
    """A call of such a name."""

    def __init__(self, name, *arguments):
        self.name, self.arguments = name, arguments

    def __reduce__(self):
        return self.name, self.arguments


class Storage:
    def __init__(self, kind, key, count):
        self.pid = ("storage", kind, key, "cpu", count)


class Writer(pickle._Pickler):
    """Names are written without looking whether they exist."""

    def persistent_id(self, item):
        return item.pid if isinstance(item, Storage) else None

    def save(self, item, *more, **named):
        if isinstance(item, types.FunctionType) and hasattr(item, "place"):
            self.write(b"c" + "\n".join(item.place).encode() + b"\n")
        else:
            super().save(item, *more, **named)


def name(module, attribute):
    def function():
        pass
    function.place = (module, attribute)
    return function


REBUILD, PARAMETER = name("torch._utils", "_rebuild_tensor_v2"), name("torch._utils", "_rebuild_parameter")
FLOATS = name("torch", "FloatStorage")


def pickled(content):
    file = io.BytesIO()
    Writer(file, 2).dump(content)
    return file.getvalue()


def write(path, content, storages, order=b"little", kind=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", kind) as archive:
        archive.writestr("x/data.pkl", content if isinstance(content, bytes) else pickled(content))
        archive.writestr("x/byteorder", order)
        for key, data in storages.items():
            archive.writestr(f"x/data/{key}", data)
    return path


def tensor(offset, shape, strides, count=6, kind=FLOATS, key="0"):
    return Call(REBUILD, Storage(kind, key, count), offset, shape, strides, False, collections.OrderedDict())


SIX = {"0": struct.pack("<6f", 0, 1, 2, 3, 4, 5)}


def test_by_hand(tmp_path):
    path = write(tmp_path / "x.pt", {
        "rows": tensor(0, (2, 3), (3, 1)), "columns": tensor(0, (3, 2), (1, 3)), "end": tensor(4, (2,), (1,)),
        "every other": tensor(1, (2,), (2,)), "none": tensor(0, (0, 3), (3, 1)), "one": tensor(5, (), ()),
        "parameter": Call(PARAMETER, tensor(0, (1,), (1,)), True, collections.OrderedDict()),
        "rest": [1, 2.5, "a", None, True, (3, -70000, 2 ** 40)]}, SIX)
    got = ingot.load(path, map_location="cpu", weights_only=True)
    assert got["rows"].tolist() == [[0, 1, 2], [3, 4, 5]] and got["columns"].tolist() == [[0, 3], [1, 4], [2, 5]]
    assert got["end"].tolist() == [4, 5] and got["every other"].tolist() == [1, 3] and got["one"].item() == 5
    assert got["none"].shape == (0, 3) and got["parameter"].requires_grad and not got["rows"].requires_grad
    assert got["rest"] == [1, 2.5, "a", None, True, (3, -70000, 2 ** 40)]


@pytest.mark.parametrize("kind, letter, dtype", [
    ("FloatStorage", "f", "float32"), ("DoubleStorage", "d", "float32"), ("HalfStorage", "e", "float16"),
    ("LongStorage", "q", "int64"), ("IntStorage", "i", "int32"), ("ShortStorage", "h", "int16"),
    ("CharStorage", "b", "int8"), ("ByteStorage", "B", "uint8"), ("BoolStorage", "?", "bool")])
def test_types(tmp_path, kind, letter, dtype):
    path = write(tmp_path / "x.pt", tensor(0, (2,), (1,), 2, name("torch", kind)), {"0": struct.pack("<2" + letter, 1, 0)})
    assert ingot.load(path).dtype.name == dtype and ingot.load(path).tolist() == [1, 0]


def test_bfloat16(tmp_path):
    path = write(tmp_path / "x.pt", tensor(0, (2,), (1,), 2, name("torch", "BFloat16Storage")), {"0": b"\x80\x3f\x40\xc0"})
    assert ingot.load(path).dtype == ingot.bfloat16 and ingot.load(path).tolist() == [1, -3]


def test_nothing_is_run(tmp_path):
    target = tmp_path / "made"
    for place in (("os", "mkdir"), ("posix", "mkdir"), ("builtins", "eval"), ("builtins", "getattr"), ("torch", "load")):
        path = write(tmp_path / "x.pt", Call(name(*place), str(target)), {})
        with pytest.raises(ingot.FileError, match=f"{place[0]}.{place[1]} is asked for"):
            ingot.load(path)
    assert not target.exists()
    with pytest.raises(ValueError, match="weights_only"):
        ingot.load(path, weights_only=False)


GLOBAL = b"ctorch._utils\n_rebuild_tensor_v2\n"


@pytest.mark.parametrize("content", [
    tensor(0, (2, 3), (3, 2)), tensor(6, (1,), (1,)), tensor(-1, (1,), (1,)), tensor(0, (2 ** 40, 2 ** 40), (0, 0)),
    tensor(0, (7,), (0,)), tensor(0, (2,), (-1,)), tensor(0, (2,), ()), tensor(0, (2.5,), (1,)), tensor(0, (1,), (2 ** 70,)),
    tensor(0, (1,), (1,), 5), tensor(0, (1,), (1,), key="1"), tensor(0, (1,), (1,), kind=name("torch", "ComplexFloatStorage")),
    tensor(0, (1,), (1,), key="../data.pkl"), Call(REBUILD, 3, 0, (1,), (1,)), Call(PARAMETER, 3, True),
    b"", b"\x80", b"\x80\x02", b"\x80\x02.", b"\x80\x02}b.", b"\x80\x02" + GLOBAL + b"}X\x01\x00\x00\x00a" + b"K\x01sb.",
    b"\x80\x02Nr\xff\xff\xff\x7f.", b"\x80\x02h\x05.", b"\x80\x05\x96" + b"\xff" * 7 + b"\x00.", b"\x80\x02" + b"(" * 100000])
def test_damaged(tmp_path, content):
    path = write(tmp_path / "x.pt", content, SIX)
    with pytest.raises(ingot.FileError, match="not tensors that PyTorch saved"):
        ingot.load(path)


def test_damaged_zips(tmp_path):
    good = tensor(0, (6,), (1,))
    whole = write(tmp_path / "x.pt", good, SIX).read_bytes()
    assert ingot.load(tmp_path / "x.pt").tolist() == [0, 1, 2, 3, 4, 5]
    for cut in range(4, len(whole), 7):
        (tmp_path / "cut.pt").write_bytes(whole[:cut])
        with pytest.raises(ingot.FileError):
            ingot.load(tmp_path / "cut.pt")
    for broken in (lambda: write(tmp_path / "y.pt", good, SIX, order=b"big"),
                   lambda: write(tmp_path / "y.pt", good, SIX, kind=zipfile.ZIP_DEFLATED)):
        with pytest.raises(ingot.FileError):
            ingot.load(broken())
    with zipfile.ZipFile(tmp_path / "z.pt", "w") as archive:
        archive.writestr("a", "b")
    with pytest.raises(ingot.FileError, match="no data.pkl"):
        ingot.load(tmp_path / "z.pt")


def test_changed_bytes(tmp_path):
    """Whatever a byte becomes: values, or an error of files."""
    whole = write(tmp_path / "x.pt", {"a": tensor(0, (2, 3), (3, 1))}, SIX).read_bytes()
    for i in range(4, len(whole), 3):
        (tmp_path / "y.pt").write_bytes(whole[:i] + bytes([whole[i] ^ (1 << i % 8)]) + whole[i + 1:])
        try:
            ingot.load(tmp_path / "y.pt")
        except ingot.FileError:
            pass


@needs_torch
def test_by_pytorch(tmp_path):
    theirs = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2), torch.nn.Flatten(), torch.nn.Linear(8, 3))
    nn = ingot.nn
    ours = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten(), nn.Linear(8, 3))
    torch.save(theirs.state_dict(), tmp_path / "x.pt")
    ours.load_state_dict(ingot.load(tmp_path / "x.pt", map_location="cpu"))
    x = np.random.default_rng(1).standard_normal((2, 1, 4, 4)).astype("f4")
    np.testing.assert_allclose(ours.eval()(x).tolist(), theirs.eval()(torch.tensor(x)).tolist(), rtol=1e-4, atol=1e-5)
    optimizer = torch.optim.Adam(theirs.parameters())
    theirs(torch.tensor(x)).sum().backward()
    optimizer.step()
    many = {"t": torch.arange(6).reshape(2, 3).T, "half": torch.tensor([1.5]).half(), "b": torch.tensor([2.5]).bfloat16(),
            "double": torch.tensor([0.1]).double(), "size": torch.Size([1, 2]), "optimizer": optimizer.state_dict(),
            "parameter": theirs[3].weight, "epoch": 3}
    torch.save(many, tmp_path / "y.pt")
    got = ingot.load(tmp_path / "y.pt")
    for key in ("t", "half", "b", "parameter"):
        assert got[key].tolist() == many[key].tolist(), key
    assert got["double"].item() == pytest.approx(0.1) and got["size"] == (1, 2) and got["epoch"] == 3
    state = got["optimizer"]["state"][0]
    assert state["exp_avg"].tolist() == optimizer.state_dict()["state"][0]["exp_avg"].tolist() and got["parameter"].requires_grad
