# SPDX-License-Identifier: Apache-2.0
"""An installation somewhere else: the tools run from it, and programs build against it both ways."""
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from conftest import ADD, BUILD

SOURCE = pathlib.Path(__file__).parents[2]

PROGRAM = r"""
#include <ingot/metal.h>
#include <stdio.h>
int main(void) {
    MTLDevice *device = mtl_create_system_default_device();
    MTLError *error = NULL;
    MTLLibrary *library = mtl_device_new_library_with_source(device,
        "kernel void f(device int *x) { x[0] = 41; }", NULL, &error);
    printf("%s\n", library ? mtl_library_function_name(library, 0) : mtl_error_localized_description(error));
    mtl_release(library);
    mtl_release(error);
    mtl_release(device);
    return !library;
}
"""


def sh(*args, **kw):
    r = subprocess.run([str(a) for a in args], capture_output=True, text=True, timeout=300, **kw)
    assert r.returncode == 0, f"{args}\n{r.stdout}\n{r.stderr}"
    return r.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prefix")
    sh("cmake", "--install", BUILD, "--prefix", folder)
    moved = folder.parent / "moved"
    shutil.move(folder, moved)  # nothing in it may depend on where it was
    return moved


@pytest.fixture
def env(tmp_path, shared_cache, prefix):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("INGOT_")}
    lib = next(prefix.rglob("libingot.so")).parent
    return {**clean, "INGOT_CACHE_DIR": str(shared_cache), "PKG_CONFIG_PATH": str(lib / "pkgconfig"),
            "LD_LIBRARY_PATH": str(lib)}


def test_uninstall(tmp_path):
    """Nothing stays behind, the images of the headers included; nor is anything of others taken."""
    (tmp_path / "p" / "lib").mkdir(parents=True)
    (tmp_path / "p" / "lib" / "another.so").write_text("x")
    sh("cmake", "--install", BUILD, "--prefix", tmp_path / "p")
    manifest = shutil.move(BUILD / "install_manifest.txt", tmp_path / "installed.txt")
    assert list(tmp_path.glob("p/share/ingot/pch/*.pch"))
    sh("cmake", f"-DLIST={manifest}", f"-DPREFIX={tmp_path / 'p'}", "-P", SOURCE / "cmake" / "uninstall.cmake")
    assert sorted(p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*")) == ["p", "p/lib", "p/lib/another.so"]


def test_images_of_headers(prefix, env, tmp_path):
    """Those that were built serve elsewhere, whatever the headers' times; not when a header has changed."""
    place = tmp_path / "place"
    shutil.copytree(prefix, place, symlinks=True, copy_function=shutil.copy)  # times are new
    for path in (place / "share/ingot/stdlib").rglob("*"):
        os.utime(path, (1000000000, 1000000000))
    source = tmp_path / "x.metal"
    for text in (ADD, "kernel void f(device int *x) { x[0] = 41; }\n"):
        source.write_text(text)
        for mode in ("fast", "relaxed", "safe"):
            cache = tmp_path / f"cache-{mode}"
            sh(place / "bin/mslc", "build", f"-fmetal-math-mode={mode}", source, "-o", tmp_path / "x.metallib",
               env={**env, "INGOT_CACHE_DIR": str(cache)})
            assert not list(cache.rglob("*.pch")), mode
    with open(place / "share/ingot/stdlib/detail/types.h", "a") as header:
        header.write("#define INGOT_TEST_CHANGED 1\n")
    source.write_text("kernel void f(device int *x) { x[0] = INGOT_TEST_CHANGED; }\n")
    cache = tmp_path / "cache-changed"
    sh(place / "bin/mslc", "build", source, "-o", tmp_path / "x.metallib", env={**env, "INGOT_CACHE_DIR": str(cache)})
    assert list(cache.rglob("*.pch"))


def test_needs(prefix):
    """What is installed runs elsewhere: glibc 2.35 and what came along is all that it needs."""
    if not list(prefix.rglob("bundled")) or "libLLVM" in sh("readelf", "-d", prefix / "bin" / "mslc"):
        pytest.skip("this build is not portable")
    sh(sys.executable, SOURCE / "packaging" / "needs.py", prefix)


def test_manual(prefix):
    """Manual pages and completion have the sub-commands and their options."""
    page = (prefix / "share/man/man1/ingot.1").read_text()
    assert ".SH INGOT RUN\n" in page and ".SH INGOT IMPLICIT TRAIN\n" in page and "\\-\\-grid" in page
    for name in ("mslc", "train_siren"):
        assert (prefix / f"share/man/man1/{name}.1").read_text().startswith(".TH")
    script = prefix / "share/bash-completion/completions/ingot"
    for words, wanted in (("ingot rend", "render"), ("ingot run --gri", "--grid"), ("ingot implicit tra", "train")):
        said = sh("bash", "-c", f"source {script}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); "
                  '_ingot; echo "${COMPREPLY[0]}"', cwd=prefix)
        assert said == wanted + "\n", words


def test_tool(prefix, env, tmp_path):
    (tmp_path / "a.metal").write_text(ADD + "// installed\n")
    out = sh(prefix / "bin" / "ingot", "run", "a.metal", "add", "--grid", 2, "--arg", "0=f32[2]=iota", "--arg",
             "1=f32[2]=fill:1", "--arg", "2=f32[2]", "--print", 2, "-q", cwd=tmp_path,
             env={k: v for k, v in env.items() if k != "LD_LIBRARY_PATH"})
    assert out == "1 2\n"
    sh(prefix / "bin" / "ingot", "build", "a.metal", "-o", "a.metallib", cwd=tmp_path, env=env)


@pytest.mark.skipif("san" in BUILD.name, reason="a program without the sanitizer cannot load the library")
def test_pkg_config(prefix, env, tmp_path):
    (tmp_path / "p.c").write_text(PROGRAM)
    flags = sh("pkg-config", "--cflags", "--libs", "ingot", env=env).split()
    sh("cc", "p.c", "-o", "p", *flags, cwd=tmp_path, env=env)
    assert sh("./p", cwd=tmp_path, env=env) == "f\n"


@pytest.mark.skipif("san" in BUILD.name, reason="a program without the sanitizer cannot load the library")
def test_cmake_package(prefix, env, tmp_path):
    (tmp_path / "p.c").write_text(PROGRAM)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(p C)\nfind_package(ingot 0.1 REQUIRED)\n"
        "add_executable(p p.c)\ntarget_link_libraries(p ingot::ingot)\n"
        "ingot_add_metal_library(shaders a.metal b.metal OPTIONS -DTWO=2)\nadd_dependencies(p shaders)\n")
    (tmp_path / "a.metal").write_text("#include \"c.h\"\nkernel void a(device int *x) { x[0] = TWO + C; }\n")
    (tmp_path / "b.metal").write_text("kernel void b(device int *x) { x[0] = TWO; }\n")
    (tmp_path / "c.h").write_text("#define C 1\n")
    sh("cmake", "-S", ".", "-B", "b", f"-DCMAKE_PREFIX_PATH={prefix}", cwd=tmp_path, env=env)
    sh("cmake", "--build", "b", cwd=tmp_path, env=env)
    assert sh("b/p", cwd=tmp_path, env=env) == "f\n"
    reflected = sh(prefix / "bin" / "ingot", "reflect", "b/shaders.metallib", cwd=tmp_path, env=env)
    assert "kernel a" in reflected and "kernel b" in reflected
    (tmp_path / "c.h").write_text("#define C nothing\n")  # the library is made anew when a header has changed
    again = subprocess.run(["cmake", "--build", "b"], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert again.returncode and "nothing" in again.stdout + again.stderr
