# SPDX-License-Identifier: Apache-2.0
"""Runs the ingot command of the build tree ($INGOT_BUILD) with a cache folder of its own."""
import os
import pathlib
import shutil
import subprocess

import pytest

BUILD = pathlib.Path(os.environ.get("INGOT_BUILD", "build")).resolve()

ADD = """#include <metal_stdlib>
using namespace metal;
kernel void add(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
                device float *c [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    c[i] = a[i] + b[i];
}
"""


class Tool:
    """Calls `ingot` in a folder; `files` appear there by being written."""

    def __init__(self, folder, cache):
        self.folder = folder
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("INGOT_", "MTL_"))}
        self.env["INGOT_CACHE_DIR"] = str(cache)
        self.env["INGOT_COMPILE_TIMEOUT_MS"] = "60000"

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(text)
        return path

    def start(self, *args, **env):
        whole = {**self.env, **env}
        whole = {k: v for k, v in whole.items() if v is not None}
        return subprocess.Popen([BUILD / "bin" / "ingot", *map(str, args)], cwd=self.folder, env=whole,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def __call__(self, *args, status=0, **env):
        p = self.start(*args, **env)
        out, err = p.communicate(timeout=120)
        result = subprocess.CompletedProcess(args, p.returncode, out.decode(errors="replace"),
                                             err.decode(errors="replace"))
        said = f"ingot {' '.join(map(str, args))}\n{result.stdout}\n{result.stderr}"
        assert result.returncode == status, f"exit status {result.returncode}, not {status}: {said}"
        return result


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory):
    """A cache folder with the precompiled headers already in it: they take most of a second."""
    cache = tmp_path_factory.mktemp("cache")
    tool = Tool(tmp_path_factory.mktemp("warm"), cache)
    tool.write("a.metal", ADD)
    tool("build", "a.metal")
    return cache


@pytest.fixture
def ingot(tmp_path, shared_cache):
    """The tool; the cache (and with it the precompiled headers) is shared by the session's tests."""
    return Tool(tmp_path, shared_cache)


@pytest.fixture
def own(tmp_path, shared_cache):
    """The tool with a cache of its own: empty but for the precompiled headers."""
    (tmp_path / "work").mkdir()
    if (shared_cache / "pch").exists():
        shutil.copytree(shared_cache / "pch", tmp_path / "cache" / "pch")
    return Tool(tmp_path / "work", tmp_path / "cache")
