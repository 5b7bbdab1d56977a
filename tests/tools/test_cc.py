# SPDX-License-Identifier: Apache-2.0
"""`ingot cc`, `ingot c++` and the CMake toolchain: assembly as projects of a Mac embed a file, and the C++ library."""
import subprocess

import pytest

from conftest import BUILD

pytestmark = pytest.mark.skipif("san" in BUILD.name, reason="a program without the sanitizer cannot load the library")

EMBED = """
.section __DATA,__embedded
.globl _embedded_start
_embedded_start:
.incbin "{file}"
.globl _embedded_end
_embedded_end:
    .section __TEXT , __const
    .private_extern _secret
_secret:
    .asciz "_kept \\"_too\\""
.subsections_via_symbols
"""
PROGRAM = r"""
#include <stdio.h>
extern const char embedded_start[], embedded_end[], secret[];
int main(void) {
    printf("%.*s|%s\n", (int)(embedded_end - embedded_start), embedded_start, secret);
    return 0;
}
"""
EXPECTED = '_a file\n|_kept "_too"\n'


def sh(folder, *args):
    r = subprocess.run([str(a) for a in args], cwd=folder, capture_output=True, text=True, timeout=300)
    assert r.returncode == 0, f"{args}\n{r.stdout}\n{r.stderr}"
    return r.stdout


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a file.txt").write_text("_a file\n")
    (tmp_path / "embed.s").write_text(EMBED.format(file=tmp_path / "a file.txt"))
    (tmp_path / "main.c").write_text(PROGRAM)
    return tmp_path


def test_one_command(folder):
    sh(folder, BUILD / "bin" / "ingot", "cc", "main.c", "embed.s", "-o", "program")
    assert sh(folder, "./program") == EXPECTED


def test_object_of_its_own(folder):
    sh(folder, BUILD / "bin" / "ingot", "cc", "-c", "embed.s")
    sh(folder, BUILD / "bin" / "ingot", "cc", "main.c", "embed.o", "-o", "program")
    assert sh(folder, "./program") == EXPECTED


def test_mistakes_name_the_file(folder):
    (folder / "embed.s").write_text(".section __DATA,__x\n  nonsense here\n")
    r = subprocess.run([BUILD / "bin" / "ingot", "cc", "-c", "embed.s"], cwd=folder, capture_output=True, text=True)
    assert r.returncode != 0 and "embed.s:2:" in r.stderr


def test_plain_assembly_is_left_alone(folder):
    (folder / "embed.s").write_text(".data\n.globl _x\n_x: .long 7\n")
    (folder / "main.c").write_text("extern int _x; int main(void) { return _x != 7; }")
    sh(folder, BUILD / "bin" / "ingot", "cc", "main.c", "embed.s", "-o", "program")
    sh(folder, "./program")


def test_toolchain(folder):
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(p C)\nenable_language(ASM)\nadd_executable(p main.c embed.s)\n")
    sh(folder, "cmake", "-S", ".", "-B", "b", f"-DCMAKE_TOOLCHAIN_FILE={BUILD}/ingot-mac.cmake")
    sh(folder, "cmake", "--build", "b")
    assert sh(folder, "b/p") == EXPECTED


MAP = r"""
#include <string>
#include <unordered_map>
std::unordered_map<std::string, int> &table() {
    static std::unordered_map<std::string, int> t{{"a", 41}};
    return t;
}
"""
USER = r"""
#include <iostream>
#include <stdexcept>
#include <string>
#include <unordered_map>
std::unordered_map<std::string, int> &table();
int main() {
    try {
        table()["b"] = table().at("a") + 1;
        return table().at("c");
    } catch (const std::out_of_range &) { std::cout << table().at("b") << std::endl; }
}
"""


def test_cxx_library_in_two_images(folder):
    (folder / "map.cpp").write_text(MAP)
    (folder / "user.cpp").write_text(USER)
    tool = BUILD / "bin" / "ingot"
    sh(folder, tool, "c++", "-std=c++17", "-shared", "-fPIC", "map.cpp", "-o", "libmap.so")
    sh(folder, tool, "c++", "-std=c++17", "user.cpp", "./libmap.so", "-Wl,-rpath,.", "-o", "user")
    assert sh(folder, "./user") == "42\n"
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(p C CXX)\nadd_library(map SHARED map.cpp)\n"
        "add_executable(p user.cpp)\ntarget_link_libraries(p map)\n")
    sh(folder, "cmake", "-S", ".", "-B", "b", f"-DCMAKE_TOOLCHAIN_FILE={BUILD}/ingot-mac.cmake")
    sh(folder, "cmake", "--build", "b")
    assert sh(folder, "b/p") == "42\n"


def test_options_of_a_macs_linker(folder):
    (folder / "map.cpp").write_text(MAP)
    (folder / "user.cpp").write_text(USER)
    (folder / "names.sym").write_text("-U _PyNothing\n-U _PyObject_Call\n")
    (folder / "words.txt").write_text('-dead_strip "-rpath" "@loader_path/a folder" \'-z\' now')
    (folder / "a folder").mkdir()
    tool = BUILD / "bin" / "ingot"
    sh(folder, tool, "c++", "-std=c++17", "-shared", "-fPIC", "map.cpp", "-o", "a folder/libmap.so",
       "-Wl,-install_name,@rpath/libmap.so", "-Wl,-undefined,dynamic_lookup", "-Wl,@names.sym")
    sh(folder, tool, "c++", "-std=c++17", "user.cpp", "a folder/libmap.so", "-o", "user", "-Wl,@words.txt",
       "-Wl,-headerpad_max_install_names", "-Wl,-framework,Metal")
    assert sh("/", folder / "user") == "42\n"
    dynamic = sh(folder, "readelf", "-d", "user")
    assert "[libmap.so]" in dynamic and "$ORIGIN/a folder" in dynamic


SYSTEM = r"""
#include <dispatch/dispatch.h>
#include <stdio.h>
int main(void) {
    dispatch_sync(dispatch_get_global_queue(0, 0), ^{ puts("a block"); });
    return (void *)&_dispatch_main_q != (void *)dispatch_get_main_queue();
}
"""


def test_libsystem_gives_blocks_and_dispatch(tmp_path):
    """As on a Mac, without naming libdispatch; beside it frameworks of which there is nothing."""
    (tmp_path / "main.c").write_text(SYSTEM)
    lib = BUILD / "lib/mac"
    for linker in ("bfd", "lld"):
        sh(tmp_path, "clang-22", f"-fuse-ld={linker}", "-fblocks", "-I", BUILD / "face/include", "main.c", "-o", "program", f"-L{lib}",
           f"-Wl,-rpath,{lib}", "-lSystem", "-Wl,--no-as-needed", "-lCoreML", "-lSecurity", "-lCoreData")
        assert sh(tmp_path, "./program") == "a block\n"
