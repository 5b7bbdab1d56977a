# SPDX-License-Identifier: Apache-2.0
"""start(n, command): n processes of a command, as mpirun starts them."""
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

BUILD = pathlib.Path(os.environ.get("INGOT_BUILD", "build")).resolve()


@pytest.fixture(scope="session")
def environment(tmp_path_factory):
    # Open MPI refuses root without these, and looks for many cores.
    return dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                PYTHONPATH=str(BUILD / "python"), INGOT_MSLC=str(BUILD / "bin" / "mslc"),
                INGOT_CACHE_DIR=str(tmp_path_factory.mktemp("cache")), INGOT_TIMEOUT_MS="60000")


@pytest.fixture
def nccl(environment, monkeypatch):
    """Tensors travel as between GPUs, through a library that stands for NCCL."""
    for name, value in {"INGOT_TENSORS": "gpu", "INGOT_NCCL": os.environ["INGOT_FAKE_NCCL"],
                        "INGOT_CUDA_LIBRARY": os.environ["INGOT_FAKE_NCCL"]}.items():
        monkeypatch.setitem(environment, name, value)


@pytest.fixture
def start(environment, tmp_path):
    if not shutil.which("mpirun"):
        pytest.skip("there is no mpirun (openmpi-bin)")

    def begin(n, *command):
        many = ["mpirun", "-n", str(n), "--oversubscribe", "--bind-to", "none"] if n else []
        return subprocess.Popen([*many, *map(str, command)], cwd=tmp_path, env=environment,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return begin


@pytest.fixture
def run(start):
    def wait(n, *command, status=0):
        process = start(n, *command)
        out = process.communicate(timeout=120)[0]
        assert process.returncode == status or (status and process.returncode), out
        return out
    return wait


@pytest.fixture
def python(run, tmp_path):
    """Runs a script in n processes."""
    def start_script(n, text, status=0):
        script = tmp_path / "script.py"
        script.write_text(text)
        return run(n, sys.executable, script, status=status)
    return start_script
