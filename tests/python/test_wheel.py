# SPDX-License-Identifier: Apache-2.0
"""`pip install .` in a fresh virtual environment: the wheel has all that it needs.

The wheel is made of this build, which is up to date. Machines without a compiler: packaging/dist_test.
"""

import os
import pathlib
import subprocess
import sys
import venv

import pytest

ROOT = pathlib.Path(os.environ.get("INGOT_SOURCE_DIR", pathlib.Path(__file__).parents[2]))

PROGRAM = """
import struct, sys
import pymetal as pm
assert pm.__file__.startswith(sys.prefix), pm.__file__
device = pm.create_system_default_device()
library = device.new_library_with_source('''
#include <metal_stdlib>
using namespace metal;
kernel void root(device float *a [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    a[i] = sqrt(a[i]);
}''')
pipeline = device.new_compute_pipeline_state(library.new_function("root"))
buffer = device.new_buffer(16, pm.ResourceStorageModeShared)
memoryview(buffer)[:] = struct.pack("4f", 1, 4, 9, 16)
commands = device.new_command_queue().command_buffer()
encoder = commands.compute_command_encoder()
encoder.set_compute_pipeline_state(pipeline)
encoder.set_buffer(buffer, 0, 0)
encoder.dispatch_threads(4, 1, 1, 4, 1, 1)
encoder.end_encoding()
commands.commit()
commands.wait_until_completed()
print(struct.unpack("4f", bytes(buffer)))
import ingot
assert ingot.__file__.startswith(sys.prefix), ingot.__file__
assert (ingot.ones(2, 3) @ ingot.ones(3)).relu().tolist() == [3, 3]
assert ingot.from_dlpack(buffer.view("float32", (4,))).sum().item() == 10
"""


def call(*command, **environment):
    # Nothing of this build or of the user may help the installed package.
    clean = {key: value for key, value in os.environ.items()
             if not key.startswith(("PYTHON", "INGOT_", "LD_"))}
    done = subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=850, env={**clean, **environment},
                          cwd="/")
    assert done.returncode == 0, done.stdout[-5000:]
    return done.stdout


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The interpreter of a virtual environment with the wheel in it."""
    folder = tmp_path_factory.mktemp("venv")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    build = os.environ.get("INGOT_WHEEL_BUILD", ROOT / "build")
    call(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", ROOT,
         "--config-settings", f"build-dir={build}")
    return python


def test_runs(python, tmp_path):
    assert call(python, "-c", PROGRAM, INGOT_CACHE_DIR=str(tmp_path)) == "(1.0, 2.0, 3.0, 4.0)\n"


def site(python):
    return pathlib.Path(call(python, "-c", "import pymetal; print(pymetal.__path__[0])").strip()).parent


def test_files(python):
    folder = site(python)
    for name in ("pymetal/__init__.py", "pymetal/__init__.pyi", "pymetal/py.typed", "pymetal/enums.pyi",
                 "pymetal/_pymetal.abi3.so", "ingot/__init__.py", "ingot/_tensor.pyi", "ingot/py.typed",
                 "ingot/_tensor.abi3.so", "ingot/nn/__init__.py", "ingot/nn/functional.py",
                 "ingot_metal/lib/libingot.so.0", "ingot_metal/lib/libingot-tensor.so.0", "ingot_metal/bin/mslc",
                 "ingot_metal/share/ingot/stdlib/metal_stdlib"):
        assert (folder / name).is_file(), name
    assert os.access(folder / "ingot_metal" / "bin" / "mslc", os.X_OK)
    assert not list((folder / "ingot_metal").rglob("*.a")) and not list((folder / "ingot_metal").rglob("*.h.in"))


def test_needs(python):
    """Nothing but glibc 2.35, where this build could be made so."""
    if "INGOT_PORTABLE_COMPILER=ON" not in os.environ.get("INGOT_WHEEL_KIND", ""):
        pytest.skip("this build uses LLVM's shared libraries")
    call(sys.executable, ROOT / "packaging" / "needs.py", site(python) / "ingot_metal", "--glibc", "2.35")


def test_commands(python, tmp_path):
    version = call(python, "-c", "import ingot; print(ingot.__version__)").strip()
    assert call(python.parent / "ingot", "--version") == f"ingot {version}\n"
    assert call(python.parent / "mslc", "--version").startswith(f"mslc {version} ")
    assert "--steps" in call(python.parent / "train_siren", "--help")
    (tmp_path / "a.metal").write_text("kernel void f(device int *x) { x[0] = 41; }\n")
    call(python.parent / "mslc", "build", tmp_path / "a.metal", "-o", tmp_path / "a.metallib", INGOT_CACHE_DIR=str(tmp_path))
    assert (tmp_path / "a.metallib").stat().st_size > 100


def test_another_pymetal(python):
    """Two distributions with one package: both modules say so."""
    other = site(python) / "pymetal-9.9.dist-info"
    other.mkdir()
    try:
        for module in ("pymetal", "ingot"):
            assert "ingot-metal and pymetal-9.9" in call(python, "-c", f"import {module}")
    finally:
        other.rmdir()
    assert call(python, "-c", "import pymetal, ingot") == ""


def test_removal(python):
    """Runs last: pip takes away what it installed."""
    call(python, "-m", "pip", "uninstall", "--quiet", "--yes", "ingot-metal")
    done = subprocess.run([python, "-c", "import pymetal"], cwd="/", stderr=subprocess.PIPE,
                          env={"PATH": os.environ["PATH"]})
    assert done.returncode != 0
