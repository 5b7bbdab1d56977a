# SPDX-License-Identifier: Apache-2.0
"""The installed tree that every kind of package is made of, and the facts that all of them state."""
import pathlib
import platform
import re
import shutil
import subprocess
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[1]


def version():
    """The project's one version: the number in CMakeLists.txt."""
    text = (ROOT / "CMakeLists.txt").read_text()
    return re.search(r"^project\(ingot VERSION ([\d.]+)", text, re.M)[1]


def project():
    """The [project] table of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def machine():
    return platform.machine()


def install(build, folder, component=None):
    """Installs a build into an empty folder, stripped."""
    folder = pathlib.Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    command = ["cmake", "--install", build, "--strip", "--prefix", folder]
    if component:
        command += ["--component", component]
    subprocess.run([str(c) for c in command], check=True, stdout=subprocess.DEVNULL)
    return folder


def installed_bytes(folder):
    return sum(p.lstat().st_size for p in pathlib.Path(folder).rglob("*") if not p.is_dir())
