# SPDX-License-Identifier: Apache-2.0
"""Sources that must compile, and sources in which exactly the marked lines are errors."""
import pathlib
import re

import pytest

from harness import mslc

HERE = pathlib.Path(__file__).parent


@pytest.mark.parametrize("path", sorted((HERE / "accept").glob("*.metal")), ids=lambda p: p.stem)
def test_accept(path):
    done = mslc(str(path))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", sorted((HERE / "reject").glob("*.metal")), ids=lambda p: p.stem)
def test_reject(path):
    done = mslc(str(path))
    assert done.returncode == 1, "it compiled"
    log = done.stdout + done.stderr
    found = {}
    for line, text in re.findall(rf"{re.escape(path.name)}:(\d+):\d+: error: (.*)", log):
        found.setdefault(int(line), []).append(text)
    expected = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if mark := re.search(r"// error: (.*)$", line):
            expected[number] = mark.group(1)
    assert set(found) == set(expected), f"lines {sorted(set(found) ^ set(expected))}\n{log}"
    for line, text in expected.items():
        assert any(text in message for message in found[line]), (line, text, found[line])
