# SPDX-License-Identifier: Apache-2.0
"""Render shaders in the styles that cross-compilers, engines and applications ship: every entry
point of every file compiles to machine code."""
import os
import pathlib
import re
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent / "render"
MSLC = pathlib.Path(os.environ["INGOT_BIN"]).with_name("mslc")
FILES = sorted(HERE.glob("*.metal"))


def entry_points(text):
    text = re.sub(r"//[^\n]*", "", text)
    return len(re.findall(r"\b(?:vertex|fragment|kernel)\s+(?!\w+\s*\()[\w:]+\s+\w+\s*\(|\[\[fragment\]\]"
                          r"|\[\[(?:object|mesh)\b", text))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_compiles(path):
    done = subprocess.run([MSLC, "build", path, "--check"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    made, total = map(int, re.search(r"(\d+) of (\d+) kernels", done.stderr).groups())
    assert made == total == entry_points(path.read_text()), done.stderr


def test_there_are_files():
    assert len(FILES) >= 21
