# SPDX-License-Identifier: Apache-2.0
"""PyTorch's files (torch.save): a zip of a pickle and of the bytes of storages. Nothing in them is run: a
pickle may build tensors, dicts, lists, tuples, strings and numbers, and names nothing else."""

from __future__ import annotations

import collections
import io
import math
import os
import pickle
import pickletools
import struct
import sys
import zipfile
from collections.abc import Callable
from typing import Any

from . import _tensor
from ._tensor import Tensor

# Storage: (bytes of an element, letter of struct, type of the tensor). bfloat16 has no letter.
_STORAGES = {"FloatStorage": (4, "f", "float32"), "DoubleStorage": (8, "d", "float32"),
             "HalfStorage": (2, "e", "float16"), "BFloat16Storage": (2, "", "bfloat16"),
             "LongStorage": (8, "q", "int64"), "IntStorage": (4, "i", "int32"), "ShortStorage": (2, "h", "int16"),
             "CharStorage": (1, "b", "int8"), "ByteStorage": (1, "B", "uint8"), "BoolStorage": (1, "?", "bool")}

# What torch.save writes. Others could reserve memory out of proportion to the file.
_OPCODES = set("""PROTO STOP MARK GLOBAL REDUCE BUILD BINPERSID BINPUT LONG_BINPUT BINGET LONG_BINGET NONE NEWTRUE NEWFALSE
    BININT BININT1 BININT2 LONG1 BINFLOAT BINUNICODE EMPTY_DICT SETITEM SETITEMS EMPTY_LIST APPEND APPENDS EMPTY_TUPLE
    TUPLE TUPLE1 TUPLE2 TUPLE3""".split())


class _Maker:
    """A function that a pickle can call and not change."""

    __slots__ = ("_function",)

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, *arguments: Any) -> Any:
        return self._function(*arguments)

    def __setstate__(self, state: Any) -> None:
        raise pickle.UnpicklingError("a function has no state")


class _Named(collections.OrderedDict):  # type: ignore[type-arg]
    """An OrderedDict; a state_dict() has versions of modules as its state, which are dropped."""

    def __setstate__(self, state: Any) -> None:
        pass


def _flat(data: bytes, letter: str, dtype: str, device: Any) -> Tensor:
    """The elements of a storage in one axis."""
    if not data:
        values: Any = []
    elif letter == "e":  # memoryview has no such letter before Python 3.12
        values = list(struct.unpack(f"={len(data) // 2}e", data))
    elif letter:
        values = memoryview(data).cast(letter)
    else:  # bfloat16: the upper half of a float32
        wide = bytearray(2 * len(data))
        wide[2::4], wide[3::4] = data[0::2], data[1::2]
        values = memoryview(wide).cast("f")
    return _tensor.tensor(values, dtype=dtype, device=device)


def _strided(flat: Tensor, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> Tensor:
    """The elements of a tensor within its storage."""
    numbers = (offset, *shape, *strides)
    if len(shape) != len(strides) or any(type(n) is not int or not 0 <= n < 2 ** 48 for n in numbers):
        raise ValueError(f"a tensor of {shape} by steps of {strides} from {offset}")
    n = math.prod(shape)
    last = offset + sum((length - 1) * step for length, step in zip(shape, strides)) if n else 0
    if last >= max(flat.shape[0], 1) or n > flat.shape[0]:
        raise ValueError(f"a tensor of {shape} by steps of {strides} from {offset} in a storage of {flat.shape[0]}")
    dense = [math.prod(shape[i + 1:]) for i in range(len(shape))]
    if not n or all(step == want for step, want, length in zip(strides, dense, shape) if length > 1):
        return flat[offset:offset + n].reshape(shape).clone()
    places = _tensor.full(shape, offset, dtype="int64")
    for i, (length, step) in enumerate(zip(shape, strides)):
        along = _tensor.arange(length, dtype="int64") * step
        places = places + along.reshape([length if k == i else 1 for k in range(len(shape))])
    return _tensor.index_select(flat, 0, places.reshape(-1).to(device=flat.device)).reshape(shape)


class _Unpickler(pickle.Unpickler):
    def __init__(self, archive: zipfile.ZipFile, folder: str, device: Any) -> None:
        data = archive.read(f"{folder}data.pkl")
        for opcode, argument, _ in pickletools.genops(data):
            if opcode.name not in _OPCODES or "PUT" in opcode.name and argument > len(data):
                raise pickle.UnpicklingError(f"{opcode.name} in the pickle")
        super().__init__(io.BytesIO(data))
        self._archive, self._folder, self._device = archive, folder, device
        self._storages: dict[tuple[str, str], Tensor] = {}

    def find_class(self, module: str, name: str) -> Any:
        if module == "torch" and name in _STORAGES:
            return name
        known = {"collections.OrderedDict": _Named, "torch.Size": _Maker(tuple),
                 "torch._utils._rebuild_tensor_v2": _Maker(self._tensor),
                 "torch._utils._rebuild_parameter": _Maker(self._parameter)}
        if f"{module}.{name}" not in known:
            raise pickle.UnpicklingError(f"{module}.{name} is asked for, and only tensors, dicts, lists, tuples, strings "
                                         "and numbers are read")
        return known[f"{module}.{name}"]

    def persistent_load(self, pid: Any) -> Tensor:
        kind, storage, key, _, count = pid
        if kind != "storage" or storage not in _STORAGES or not isinstance(key, str) or type(count) is not int:
            raise pickle.UnpicklingError(f"{pid!r} is no storage")
        if (storage, key) not in self._storages:
            size, letter, dtype = _STORAGES[storage]
            data = self._archive.read(f"{self._folder}data/{key}")
            if len(data) != count * size:
                raise ValueError(f"storage {key} has {len(data)} bytes, not {count} x {size}")
            self._storages[storage, key] = _flat(data, letter, dtype, self._device)
        return self._storages[storage, key]

    @staticmethod
    def _tensor(flat: Any, offset: Any, shape: Any, strides: Any, requires_grad: Any = False, *_: Any) -> Tensor:
        if not isinstance(flat, Tensor) or flat.ndim != 1:
            raise TypeError("a tensor without a storage")
        made = _strided(flat, offset, tuple(shape), tuple(strides))
        return made.requires_grad_() if requires_grad is True else made

    @staticmethod
    def _parameter(tensor: Any, requires_grad: Any, *_: Any) -> Tensor:
        if not isinstance(tensor, Tensor):
            raise TypeError("a parameter without a tensor")
        return tensor.requires_grad_(bool(requires_grad))


def load_pt(path: Any, device: Any) -> Any:
    """What torch.save() wrote: tensors, and dicts, lists, tuples, strings and numbers around them."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
                raise ValueError("compressed parts")
            if sum(entry.file_size for entry in entries) > os.path.getsize(path):
                raise ValueError("parts that overlap")
            folders = [entry.filename[:-len("data.pkl")] for entry in entries if entry.filename.endswith("data.pkl")]
            if len(folders) != 1:
                raise ValueError("no data.pkl in the zip" if not folders else "more than one data.pkl in the zip")
            order = f"{folders[0]}byteorder"
            if order in archive.namelist() and archive.read(order) != sys.byteorder.encode():
                raise ValueError("another order of bytes")
            return _Unpickler(archive, folders[0], device).load()
    except (MemoryError, _tensor.DeviceError):
        raise
    except Exception as error:  # of a damaged file zipfile and pickle raise almost anything
        raise _tensor.FileError(f"{os.fspath(path)}: not tensors that PyTorch saved: {error}") from error
