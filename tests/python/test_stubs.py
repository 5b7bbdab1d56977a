# SPDX-License-Identifier: Apache-2.0
"""The .pyi files, which python/pymetal_stubs.py makes with every build, say what the module has."""

import ast
import importlib.util
import inspect
import os
import pathlib

import pytest

import pymetal as pm

ROOT = pathlib.Path(os.environ.get("INGOT_SOURCE_DIR", pathlib.Path(__file__).parents[2]))


@pytest.fixture(scope="module")
def stubs():
    spec = importlib.util.spec_from_file_location("stubs", ROOT / "python" / "pymetal_stubs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tree(stubs):
    return ast.parse(stubs.package())


def test_current(stubs):
    """The package has all of them, as the script makes them now, and no others."""
    folder = pathlib.Path(pm.__file__).parent
    assert {path.name for path in folder.glob("*.pyi")} == set(stubs.files())
    for name, content in stubs.files().items():
        assert (folder / name).read_text(encoding="utf-8") == content, name


def test_every_name(tree):
    """What the package has, the stub has, and nothing else."""
    named = {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    named |= {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)}
    named |= {alias.asname for node in tree.body if isinstance(node, ast.ImportFrom)
              for alias in node.names if node.level}
    assert named - {"__version__", "__all__"} == set(pm.__all__)


def test_every_member(tree):
    for node in tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        kind = getattr(pm, node.name)
        members = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
        members |= {item.targets[0].id for item in node.body if isinstance(item, ast.Assign)}
        assert all(hasattr(kind, name) for name in members if name != "__buffer__"), node.name
        real = {name for name in vars(kind) if not name.startswith("_")}
        assert real - {"None"} <= members | {"value", "name"}, node.name


def test_arguments(tree):
    """Names of arguments are those that inspect.signature gives."""
    for node in tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        for item in node.body:
            if not isinstance(item, ast.FunctionDef) or item.decorator_list or (
                    item.name.startswith("__") and "dlpack" not in item.name):
                continue
            method = getattr(getattr(pm, node.name), item.name)
            if inspect.isgetsetdescriptor(method):
                continue
            names = [argument.arg for argument in item.args.args]
            assert names == list(inspect.signature(method).parameters), (node.name, item.name)


def test_types_are_known(tree):
    """Every name in an annotation is of Python, of the imports, or of the package."""
    known = set(dir(__builtins__)) | set(__builtins__ if isinstance(__builtins__, dict) else ())
    known |= set(pm.__all__) | {"Any", "Callable", "Sequence", "Final", "BytesLike", "numpy", "os",
                                "enum"}
    for node in ast.walk(tree):
        parts = []
        if isinstance(node, ast.FunctionDef):
            parts = [node.returns] + [argument.annotation for argument in node.args.args]
        for part in filter(None, parts):
            for name in ast.walk(part):
                if isinstance(name, ast.Name):
                    assert name.id in known, (node.name, name.id)
