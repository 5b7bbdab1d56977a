# SPDX-License-Identifier: Apache-2.0
"""What the README and the guide print runs as it stands there: Python, Metal, C, Objective-C, commands."""
import os
import pathlib
import re
import shlex
import subprocess
import sys

import pytest

from conftest import BUILD

ROOT = pathlib.Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
BLOCKS = [(page.name, n, kind, text) for page in PAGES
          for n, (kind, text) in enumerate(re.findall(r"^```(\w+)\n(.*?)^```", page.read_text(), re.S | re.M))]
SANITIZED = pytest.mark.skipif("san" in BUILD.name, reason="a program without the sanitizer cannot load the library")


def blocks(*kinds, page=None):
    rows = [b for b in BLOCKS if b[2] in kinds and page in (None, b[0])]
    assert rows, kinds
    return pytest.mark.parametrize("text", [b[3] for b in rows], ids=[f"{b[0]}-{b[1]}" for b in rows])


def call(*command, cwd, env):
    done = subprocess.run([str(c) for c in command], cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True,
                          timeout=200)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@SANITIZED
@blocks("python")
def test_python(ingot, text):
    call(sys.executable, "-c", text, cwd=ingot.folder, env={**ingot.env, "PYTHONPATH": str(BUILD / "python")})


@blocks("metal")
def test_metal(ingot, text):
    ingot.write("a.metal", text)
    ingot("build", "--check", "-q", "a.metal")


@blocks("toml", page="ci.md")
def test_expectation(ingot, text):
    ingot.write("saxpy.metal", (ROOT / "examples" / "saxpy.metal").read_text())
    ingot.write("saxpy.test.toml", text)
    assert "ok 2 - saxpy.metal: saxpy" in ingot("test", "saxpy.metal").stdout


@blocks("sh", page="README.md")
def test_commands(ingot, text):
    """Those of the tool; `make` has its own tests."""
    for command in text.replace("\\\n", " ").splitlines():
        words = shlex.split(command, comments=True)
        if words[0] != "make":
            assert words.pop(0) == "build/bin/ingot"
            call(BUILD / "bin" / "ingot", *words, cwd=ROOT, env=ingot.env)


def kernel(spelling):
    """The README's kernel as a string of another language."""
    text = next(b[3] for b in BLOCKS if b[0] == "README.md" and b[2] == "metal")
    return "\n".join(spelling + '"' + line.replace('"', '\\"') + '\\n"' for line in text.splitlines())


@SANITIZED
@blocks("c", page="README.md")
def test_c(ingot, text):
    ingot.write("p.c", "#include <ingot/metal.h>\nint main(void) {\nMTLError *error = NULL;\n"
                f"const char *source = {kernel('')};\n{text}\nreturn !pipeline;\n}}\n")
    call("cc", "p.c", "-o", "p", f"-I{ROOT / 'include'}", f"-L{BUILD / 'lib'}", "-lingot", f"-Wl,-rpath,{BUILD / 'lib'}",
         cwd=ingot.folder, env=ingot.env)
    call("./p", cwd=ingot.folder, env=ingot.env)


@SANITIZED
@pytest.mark.skipif(not (BUILD / "lib/mac/libMetal.so").exists(), reason="built without Objective-C")
@blocks("objc", page="README.md")
def test_objc(ingot, text):
    lines = kernel("").split("\n")
    ingot.write("saxpy.m", "#import <Foundation/Foundation.h>\n#import <Metal/Metal.h>\nint main(void) {\n"
                "@autoreleasepool {\nNSError *error = nil;\nNSString *source = @" + "\n".join(lines) +
                f";\n{text}\nreturn pipeline == nil;\n}}\n}}\n")
    ingot("cc", "-fobjc-arc", "saxpy.m", "-o", "saxpy", "-framework", "Metal", "-framework", "Foundation")
    call("./saxpy", cwd=ingot.folder, env=ingot.env)
