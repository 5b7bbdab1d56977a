# SPDX-License-Identifier: Apache-2.0
"""Commands on a stranger's shaders: the walls around the compiler and around kernels, and what is printed of files."""
import pathlib
import re
import shutil
import subprocess
import xml.etree.ElementTree

import pytest

from conftest import ADD, BUILD

SANITIZED = "san" in BUILD.name
WRITER = "kernel void writer(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = i; }\n"
WRITER_TOML = '[writer]\ngrid = [8]\nargs = ["0=f32[2]"]\nexpect = ["0=0,1"]\n'
RUN = ("run", "w.metal", "writer", "--grid", 8, "--arg", "0=f32[2]")


# ---- Kernels ----


def test_reports_are_failures(ingot):
    """A kernel that writes eight floats into two: the numbers are right, and it is wrong."""
    ingot.write("w.metal", WRITER)
    ingot.write("w.test.toml", WRITER_TOML)
    assert "0 1" in ingot(*RUN).stdout
    r = ingot(*RUN, status=1, MTL_SHADER_VALIDATION="1")
    assert "shader validation reported" in r.stderr and "0 1" in r.stdout, r.stderr
    r = ingot("test", "w.metal", status=1)
    assert "not ok 2 - w.metal: writer" in r.stdout and "shader validation reported" in r.stdout, r.stdout
    assert "ok 2 - w.metal: writer" in ingot("test", "--trusted", "w.metal").stdout


@pytest.mark.skipif(SANITIZED, reason="sanitizers have processes of their own")
def test_kernels_of_tests_run_in_a_process_of_their_own(ingot):
    """Which has nothing of the environment, be there secrets in it; and `ingot run` has little."""
    ingot.write("add.metal", ADD)
    ingot.write("add.test.toml", '[add]\ngrid = [1]\nargs = ["0=f32[1]", "1=f32[1]", "2=f32[1]"]\nexpect = ["2=0"]\n')
    for words, apart in ((["test", "add.metal"], True), (["test", "--trusted", "add.metal"], False)):
        started = processes(ingot, *words)
        assert any("ingot-device" in p for p in started) == apart, started
        for p in started[1:]:  # the first is what the user typed
            assert "mslc" in p or "ingot" in p
            if apart or "mslc" in p:
                assert "5ecret" not in p, p
    assert any("5ecret" in p for p in started[1:])  # what a trusted one sees


def test_names_that_are_options(ingot):
    ingot.write("-q.metal", WRITER)
    ingot.write("-q.test.toml", WRITER_TOML.replace("[2]", "[8]").replace("0,1", "0,1,2,3,4,5,6,7"))
    assert "ok 2 - ./-q.metal: writer" in ingot("test").stdout
    ingot.write("-q.test.toml", WRITER_TOML.replace("[writer]", '["--out=0=x.npy"]'))
    assert "no kernel has a name that begins with '-'" in ingot("test", status=1).stdout


# ---- The compiler ----


def processes(ingot, *words):
    """execve of all that a command starts, with their environments, in order."""
    strace = shutil.which("strace")
    if not strace:
        pytest.skip("there is no strace")
    r = subprocess.run([strace, "-f", "-v", "-s", "100000", "-o", "trace.txt", "-e", "trace=execve,seccomp,landlock_restrict_self",
                        BUILD / "bin" / "ingot", *map(str, words)], cwd=ingot.folder, capture_output=True, text=True,
                       env={**ingot.env, "SECRET": "5ecret", "GITHUB_TOKEN": "5ecret"}, timeout=120)
    if "ptrace" in r.stderr:
        pytest.skip("nothing can be traced here")
    assert r.returncode == 0, r.stdout + r.stderr
    ingot.calls = (ingot.folder / "trace.txt").read_text().splitlines()
    return [line for line in ingot.calls if "execve(" in line and line.endswith("= 0")]


@pytest.mark.skipif(SANITIZED, reason="the compiler is not confined with a sanitizer in it")
@pytest.mark.parametrize("words", [
    ["build", "add.metal"], ["build", "add.metal", "-o", "out/add.metallib"], ["build", "--check", "add.metal"],
    ["build", "-c", "add.metal", "-MMD"], ["build", "--archive", "add.archive", "add.metal"], ["test", "add.metal"],
    ["run", "add.metal", "add", "--grid", "1", "--arg", "0=f32[1]", "--arg", "1=f32[1]", "--arg", "2=f32[1]"],
    ["reflect", "add.metal"]], ids=lambda words: " ".join(words[:3]))
def test_every_command_confines_the_compiler(own, words):
    own.write("add.metal", ADD)
    own.write("out/there", "")
    started = processes(own, *words)
    compilers = [p.split()[0] for p in started if re.search(r'execve\("[^"]*mslc"', p)]
    assert compilers
    assert not any("5ecret" in p for p in started if re.search(r'execve\("[^"]*mslc"', p)), started
    for pid in compilers:
        held = [line for line in own.calls if line.split()[0] == pid and re.search(r"= 0$", line)]
        assert any("seccomp(SECCOMP_SET_MODE_FILTER" in line for line in held), own.calls
        assert any("landlock_restrict_self" in line for line in held), own.calls
    assert "seccomp" in own("info").stdout


def test_files_that_the_user_names(own):
    """An ending means nothing, the project's other folders are there, and so is a file that is to be read first."""
    own.write("p/.git/HEAD", "")
    own.write("p/src/a.metal", '#include "../bin/x.fx"\nkernel void f(device int *x) { x[0] = X + P; }\n')
    own.write("p/bin/x.fx", "#define X 1\n")
    prefix = own.write("elsewhere/prefix.h", '#include "more.h"\n')
    own.write("elsewhere/more.h", "#define P 2\n")
    own("build", "p/src/a.metal", "-include", prefix, "-o", "a.metallib")
    own.write("p/src/b.metal", '#include "../../elsewhere/more.h"\n')
    assert "outside of the folders" in own("build", "p/src/b.metal", status=1).stderr
    own.write("p/src/b.metal", '#include "../bin/y.fx"\n')
    assert "outside" not in own("build", "p/src/b.metal", status=1).stderr


# ---- What is printed ----

EVIL = "x\nok 99 - forged\n::error file=a::forged\r\x1b[2J # SKIP"


def test_names_and_messages_are_text(ingot):
    """In TAP, in annotations, in JUnit's XML and on a terminal nothing of a file is a line or a command of its own."""
    ingot.write("w.metal", WRITER)
    name = EVIL.replace("\n", "\\n").replace("\r", "\\r").replace("\x1b", "\\u001b")
    ingot.write("w.test.toml", WRITER_TOML.replace("[writer]", f'["{name}"]\nkernel = "writer"'))
    ingot.write("::add-mask::b.metal", "kernel void f() { ##[error]z }\n")
    ingot.write("c\nok 98 - forged.metal", WRITER)
    r = ingot("test", "--junit", "r.xml", status=1, GITHUB_ACTIONS="true")
    lines = r.stdout.splitlines()
    assert not [c for c in r.stdout if ord(c) < 32 and c not in "\n\t"], r.stdout
    results = [line for line in lines if re.match(r"(not )?ok ", line)]
    assert len(results) == int(lines[[line.startswith("1..") for line in lines].index(True)][3:]), r.stdout
    assert not re.search(r"ok.*[^\\]# SKIP", r.stdout)
    for line in lines:
        if line.lstrip().startswith("::"):
            assert re.fullmatch(r"::error file=[^:,]*(,line=\d+,col=\d+)?::.*", line), line
    assert not re.search(r"(?<!\\)##\[", r.stdout), r.stdout
    xml.etree.ElementTree.parse(ingot.folder / "r.xml")


def test_messages_on_a_terminal(ingot):
    r = ingot("run", "\x1b[2Jno.metal", "f", "--grid", 1, status=1)
    assert "\x1b" not in r.stderr and "\\x1b[2Jno.metal" in r.stderr, r.stderr


def test_map_of_code_for_perf(ingot):
    """In a folder where everybody writes: it is not written through a link that waits there, and does not stay."""
    ingot.write("w.metal", WRITER)
    line = f"exec {BUILD}/bin/ingot run w.metal writer --grid 2 --arg '0=f32[2]' -q"
    for before in ("", "ln -s $PWD/victim /tmp/perf-$$.map; "):
        p = subprocess.Popen(["sh", "-c", before + line], cwd=ingot.folder,
                             env={**ingot.env, "INGOT_PROFILE": str(ingot.folder / "samples")})
        assert p.wait(timeout=60) == 0
        path = pathlib.Path(f"/tmp/perf-{p.pid}.map")
        left = path.is_symlink() or path.exists()
        path.unlink(missing_ok=True)
        assert left == bool(before)  # the link is another's
        assert not (ingot.folder / "victim").exists()
