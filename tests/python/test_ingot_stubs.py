# SPDX-License-Identifier: Apache-2.0
"""The stub of ingot._tensor says what the module has, and everything has a docstring."""

import ast
import importlib.util
import inspect
import os
import pathlib

import pytest

import ingot as ig
from ingot import _tensor, backend, fused, nn, optim

ROOT = pathlib.Path(os.environ.get("INGOT_SOURCE_DIR", pathlib.Path(__file__).parents[2]))


@pytest.fixture(scope="module")
def content():
    spec = importlib.util.spec_from_file_location("ingot_stubs",
                                                  ROOT / "python" / "ingot_stubs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.module()


def test_current(content):
    folder = pathlib.Path(ig.__file__).parent
    assert (folder / "_tensor.pyi").read_text(encoding="utf-8") == content
    assert (folder / "py.typed").exists()


def test_every_name(content):
    tree = ast.parse(content)
    named = {n.name for n in tree.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))}
    named |= {n.target.id for n in tree.body if isinstance(n, ast.AnnAssign)}
    named -= {"TensorLike", "DTypeLike", "DeviceLike"}
    assert named == {name for name in vars(_tensor) if not name.startswith("__")}
    (tensor,) = (n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Tensor")
    members = {n.name for n in tensor.body if isinstance(n, ast.FunctionDef)}
    members |= {n.targets[0].id for n in tensor.body if isinstance(n, ast.Assign)}
    real = {name for name in vars(ig.Tensor) if not name.startswith("_")}
    assert real <= members, real - members
    assert all(hasattr(ig.Tensor, name) for name in members - {"__buffer__"})


def test_types_are_not_methods(content):
    """Tensor.bool is a method: an annotation means Python's bool, and says so."""
    (tensor,) = (n for n in ast.parse(content).body if isinstance(n, ast.ClassDef) and n.name == "Tensor")
    methods = {n.name for n in tensor.body if isinstance(n, ast.FunctionDef)}
    assert {"bool", "float"} <= methods
    for item in (n for n in tensor.body if isinstance(n, ast.FunctionDef)):
        for part in [item.returns] + [argument.annotation for argument in item.args.args]:
            names = {n.id for n in ast.walk(part) if isinstance(n, ast.Name)} if part else set()
            assert not names & methods, (item.name, names & methods)


def test_docstrings():
    for name in ig.__all__:
        item = getattr(ig, name)
        if callable(item) or inspect.ismodule(item):
            assert inspect.getdoc(item), name
    for module in (nn, optim, fused, backend):
        for name in module.__all__:
            item = getattr(module, name)
            assert inspect.getdoc(item), name
            if inspect.isclass(item) and item.__module__ == module.__name__:
                for part, member in vars(item).items():
                    if inspect.isfunction(member) and not part.startswith("_") and part not in (
                            "forward", "extra_repr"):
                        assert inspect.getdoc(member), (name, part)
    for name in dir(ig.Tensor):
        if not name.startswith("_"):
            assert inspect.getdoc(getattr(ig.Tensor, name)), name


def test_signatures():
    """inspect.signature works for everything, and help() with it."""
    for name in ig.__all__:
        item = getattr(ig, name)
        if inspect.isroutine(item):
            assert inspect.signature(item) is not None
    assert str(inspect.signature(ig.softmax)) == "(x, axis=-1, *, out=None)"
    assert list(inspect.signature(ig.Tensor.sum).parameters) == [
        "self", "axis", "keepdim", "out"]
