# SPDX-License-Identifier: Apache-2.0
"""`ingot debug` of a stranger's capture, in a stranger's folder: nothing of it is a command."""
import pytest

from conftest import BUILD

INGOT = BUILD / "bin" / "ingot"
SOURCE = """#include <metal_stdlib>
using namespace metal;
%skernel void shout(device uint *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    x[i] = i;
}
"""


def capture(ingot, name, attribute="", source="c.metal"):
    ingot.write(source, SOURCE % attribute)
    ingot("capture", "-q", "-o", "c.ingottrace", INGOT, "run", source, name, "--grid", "4", "--arg", "0=u32[4]", "-q")


@pytest.mark.parametrize("name", ['shout if $_shell("touch ran") == 0', "shout\nshell touch ran\n", "shout thread 1", "a;b"])
def test_names_of_functions(ingot, name):
    """A host name may be any text: gdb would take it for a condition, or for another command."""
    quoted = name.replace('"', '\\"').replace("\n", "\\n")
    capture(ingot, name, f'[[host_name("{quoted}")]] ')
    r = ingot("debug", "--batch", "c.ingottrace", status=1)
    assert "gdb cannot handle this function name" in r.stderr and r.stderr.count("\n") == 1, r.stderr
    assert not (ingot.folder / "ran").exists()


@pytest.mark.parametrize("source, said", [("a b.metal", None), ('a" -function x if $_shell("touch ran").metal', "source"),
                                          ("a\nshell touch ran\n.metal", "source")])
def test_names_of_sources(ingot, source, said):
    capture(ingot, "shout", source=source)
    r = ingot("debug", "--batch", "c.ingottrace", "--ex", "print i", "--ex", "kill", status=1 if said else 0)
    if said:
        assert "gdb cannot handle this source name" in r.stderr, r.stderr
    else:
        assert "$1 = 0" in r.stdout, r.stdout + r.stderr
    assert not (ingot.folder / "ran").exists()


def test_scripts_of_the_folder(ingot):
    """gdb reads none, whatever the user's own settings say of others."""
    capture(ingot, "shout")
    ingot.write(".gdbinit", "shell touch ran\n")
    ingot.write("home/.gdbinit", "set auto-load safe-path /\nset auto-load local-gdbinit on\n")
    ingot("debug", "--batch", "c.ingottrace", "--ex", "kill", HOME=str(ingot.folder / "home"))
    assert not (ingot.folder / "ran").exists()
