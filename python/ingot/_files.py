# SPDX-License-Identifier: Apache-2.0
"""Tensors in files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from . import _tensor
from ._tensor import Tensor

__all__ = ["save", "load"]


def save(path: Any, tensors: Any, metadata: dict[str, str] | None = None) -> None:
    """Writes a tensor to a .npy file, or a dict of named tensors to a safetensors file. The file
    is there as a whole or not at all. save(tensors, path), PyTorch's order, is the same."""
    if isinstance(path, (Tensor, Mapping)) and isinstance(tensors, (str, os.PathLike)):
        path, tensors = tensors, path
    if isinstance(tensors, Tensor):
        if metadata:
            raise ValueError("save(): a .npy file has no metadata")
        _tensor._save_npy(path, tensors)
    else:
        names = dict(tensors)
        _tensor._save_safetensors(path, list(names), list(names.values()), dict(metadata or {}))


def load(path: Any, device: Any = None, return_metadata: bool = False, *, map_location: Any = None,
         weights_only: bool = True) -> Any:
    """A tensor from a .npy file, a dict of tensors from a safetensors file, what torch.save() wrote of
    tensors, dicts and lists from a .pt file (by what the file begins with, not by its name). No code in
    a file is run, so that weights_only cannot be False. return_metadata: (dict, metadata) of
    safetensors. map_location: the device."""
    if not weights_only:
        raise ValueError("load(): tensors are read, and no other objects: weights_only cannot be False")
    device = map_location if device is None else device
    with open(path, "rb") as file:
        start = file.read(6)
    if start == b"\x93NUMPY":
        return _tensor._load_npy(path, device)
    if start[:4] == b"PK\x03\x04":
        from ._pt import load_pt
        return load_pt(path, device)
    tensors, metadata = _tensor._load_safetensors(path, device)
    return (tensors, metadata) if return_metadata else tensors
