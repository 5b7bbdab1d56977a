# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for the tools that build systems of macOS call: from the build folder and installed."""
import os
import subprocess

import pytest

from conftest import ADD, BUILD

MAC_BIN = BUILD / "libexec" / "ingot" / "mac-bin"


@pytest.fixture
def sh(ingot):
    env = {**ingot.env, "PATH": f"{MAC_BIN}:{os.environ['PATH']}"}

    def run(command, status=0):
        r = subprocess.run(["bash", "-c", command], cwd=ingot.folder, env=env, capture_output=True, text=True,
                           stdin=subprocess.DEVNULL, timeout=120)
        assert r.returncode == status, f"{command}\n{r.stdout}\n{r.stderr}"
        return r
    return run


def test_facts(sh):
    assert sh("xcrun --sdk macosx --show-sdk-version").stdout == "26.0\n"
    assert os.path.isdir(sh("xcrun -sdk macosx --show-sdk-path").stdout.strip())
    assert sh("sw_vers -productVersion").stdout == sh("sw_vers --productVersion").stdout == "26.0\n"
    assert "macOS" in sh("sw_vers").stdout
    assert sh("xcrun --sdk macosx --find metal").stdout.strip() == str(MAC_BIN / "metal")
    assert sh("xcrun -f metallib").stdout.strip() == str(MAC_BIN / "metallib")
    r = sh("xcrun --find no-such-tool", 72)
    assert "no-such-tool" in r.stderr
    sh("xcrun no-such-tool", 72)
    sh("xcrun", 2)
    assert sh("xcrun echo hello").stdout == "hello\n"


def test_metal_and_metallib(ingot, sh):
    ingot.write("a.metal", ADD)
    ingot.write("b.metal", ADD.replace("add", "other"))
    sh("xcrun -sdk macosx metal -c a.metal -o a.air && xcrun -sdk macosx metal -Wall -O3 -c b.metal")
    sh("xcrun -sdk macosx metallib a.air b.air -o ab.metallib")
    assert "other" in ingot("reflect", "ab.metallib").stdout
    sh("metal a.metal b.metal && test -s default.metallib")
    sh("metal-ar rcs two.metalar a.air b.air && metallib two.metalar -o two.metallib && test -s two.metallib")
    sh("metal-libtool -static -o three.metalar a.air b.air && metallib three.metalar -o three.metallib")
    assert "metal: " in sh("metal nowhere.metal", 1).stderr
    sh("metal --version")


def test_pipe_of_ggml_and_of_mlx(ingot, sh):
    ingot.write("a.metal", ADD)
    ingot.write("bad.metal", "kernel void f() { oops }\n")
    sh("xcrun -sdk macosx metal -O3 -c a.metal -o - | xcrun -sdk macosx metallib - -o a.metallib")
    assert "add" in ingot("reflect", "a.metallib").stdout
    sh("xcrun -sdk macosx metal -O3 -c bad.metal -o - | xcrun -sdk macosx metallib - -o bad.metallib", 1)
    assert not (ingot.folder / "bad.metallib").exists()
    assert sh("""zsh -c "echo __METAL_VERSION__ | xcrun -sdk macosx metal -mmacosx-version-min=14.0 -E -x metal -P - |
                 tail -1 | tr -d '\\n'" """).stdout == "310"


def test_clang_through_xcrun(ingot, sh):
    ingot.write("p.c", "int main(void) { return 0; }\n")
    sh("xcrun --sdk macosx clang -c p.c -o p.o")
