# SPDX-License-Identifier: Apache-2.0
"""What the loader makes of our files: libraries come from fixed places, whatever folder a command is started in."""
import os
import pathlib
import subprocess
import sys

import pytest

from conftest import BUILD

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "packaging"))
import needs  # noqa: E402


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run(["cmake", "--install", BUILD, "--prefix", folder], check=True, stdout=subprocess.DEVNULL)
    return folder


def loose(folder):
    files = list(needs.elf_files(folder))
    assert len(files) > 10
    return {str(path): entries for path in files if (entries := needs.loose_run_paths(path))}


def test_run_paths_of_the_build():
    """CMake's own trial programs aside: nobody starts them again."""
    found = {p: e for p, e in loose(BUILD).items() if "/CMakeFiles/" not in p}
    assert not found, found


def test_run_paths_of_an_installation(installed):
    assert not loose(installed)


@pytest.mark.skipif("san" in BUILD.name, reason="sanitizers have guards of their own")
def test_guards(installed):
    """Commands, libraries and Python's modules as they are installed; what other projects made is theirs to guard."""
    ours = [p for p in needs.elf_files(installed) if p.parent.name not in ("bundled", "fallback")]
    assert len(ours) > 10
    found = {str(p.relative_to(installed)): guards for p in ours if (guards := needs.missing_guards(p))}
    assert not found, found


@pytest.mark.parametrize("tree", ["build", "installed"])
def test_library_of_a_strangers_folder(tree, tmp_path, installed):
    """A repository with libraries in it, in which somebody asks for `ingot info`: the loader opens none of them."""
    home = BUILD if tree == "build" else installed
    program = home / "bin" / "ingot"
    needed = {name for path in [program, *home.glob("lib/*.so*")] for name in needs.needs(path)[0]}
    assert any("jpeg" in name for name in needed) or "san" in BUILD.name
    for name in needed:
        (tmp_path / name).write_text("no library")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("LD_", "INGOT_"))}
    r = subprocess.run([program, "info"], cwd=tmp_path, capture_output=True, text=True, timeout=60,
                       env={**env, "INGOT_CACHE_DIR": "off"})
    assert r.returncode == 0, r.stderr
