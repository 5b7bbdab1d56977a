# SPDX-License-Identifier: Apache-2.0
"""`pip install .` in a fresh virtual environment: the wheel has all that it needs.

The package index must be reachable (pip fetches the build back end), unless scikit-build-core
is installed. The build folder is the build's own, so that a second run is quick.
"""

import os
import pathlib
import subprocess
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
    """The interpreter of a virtual environment with pymetal in it."""
    folder = tmp_path_factory.mktemp("venv")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    fetched = subprocess.run([python, "-m", "pip", "download", "--quiet", "--no-deps", "-d", folder,
                              "scikit-build-core>=0.10"], capture_output=True, text=True)
    if fetched.returncode != 0:
        pytest.skip("pip cannot fetch scikit-build-core here: " + fetched.stderr.strip()[-200:])
    build = os.environ.get("INGOT_WHEEL_BUILD", ROOT / "build" / "wheel")
    call(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", ROOT,
         "--config-settings", f"build-dir={build}")
    return python


def test_runs(python, tmp_path):
    assert call(python, "-c", PROGRAM, INGOT_CACHE_DIR=str(tmp_path)) == "(1.0, 2.0, 3.0, 4.0)\n"


def test_files(python):
    folder = pathlib.Path(call(python, "-c", "import pymetal; print(pymetal.__path__[0])").strip())
    for name in ("__init__.py", "__init__.pyi", "py.typed", "enums.pyi", "_pymetal.abi3.so",
                 "lib/libingot.so.0", "bin/mslc", "share/ingot/stdlib/metal_stdlib"):
        assert (folder / name).is_file(), name
    for name in ("__init__.py", "_tensor.pyi", "py.typed", "_tensor.abi3.so",
                 "nn/__init__.py", "nn/functional.py"):
        assert (folder.parent / "ingot" / name).is_file(), name
    assert (folder / "lib" / "libingot-tensor.so.0").is_file()
    assert os.access(folder / "bin" / "mslc", os.X_OK)
    assert not list(folder.rglob("*.a")) and not list(folder.rglob("*.cmake"))


def test_removal(python):
    """Runs last: pip takes away what it installed."""
    call(python, "-m", "pip", "uninstall", "--quiet", "--yes", "pymetal")
    done = subprocess.run([python, "-c", "import pymetal"], cwd="/", stderr=subprocess.PIPE,
                          env={"PATH": os.environ["PATH"]})
    assert done.returncode != 0
