#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds and tests the project without LLVM, on code that this build's compiler made (CMakeLists.txt here).

1. FOLDER gets prebuilt.metallib, prebuilt.archive, and a cache that the given test programs filled.
2. CMake configures BUILD with INGOT_COMPILER=OFF, told that there is no LLVM; everything is built.
3. Nothing that was built may know LLVM; then the tests run. An id of the compiler that differs between the two
   builds would show there: archive and cache would be another compiler's.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys


def make(folder: pathlib.Path, source: pathlib.Path, mslc: str, programs: list[str], layer: list[str]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    environment = {**os.environ, "INGOT_MSLC": mslc, "INGOT_CACHE_DIR": str(folder / "cache")}
    subprocess.run([mslc, "build", source / "tests/prebuilt/prebuilt.metal", "-o", folder / "prebuilt.metallib"],
                   check=True, env=environment)
    subprocess.run([programs[0], "make", folder], check=True, env=environment)
    for program in programs[1:]:
        name = pathlib.Path(program).name.removeprefix("test_api_")
        settings = {"MTL_DEBUG_LAYER": "1"} if name in layer else {}
        done = subprocess.run([program], cwd=folder, env={**environment, **settings}, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{program} fails with a compiler, too:\n{done.stdout}{done.stderr}")


def build(options: argparse.Namespace) -> None:
    subprocess.run([options.cmake, "--no-warn-unused-cli", "-G", options.generator, "-S", options.source, "-B", options.build,
                    "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_C_COMPILER={options.compiler}", "-DINGOT_COMPILER=OFF",
                    "-DLLVM_ROOT=/nonexistent", "-DCMAKE_DISABLE_FIND_PACKAGE_LLVM=ON",
                    f"-DINGOT_LLVM={options.llvm}", "-DINGOT_OBJC=OFF", f"-DINGOT_PREBUILT={options.folder}"], check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run([options.cmake, "--build", options.build, "--", "--quiet"], check=True)


def check_no_llvm(folder: pathlib.Path, source: str) -> None:
    commands = json.loads((folder / "compile_commands.json").read_text())
    for command in commands:
        for word in command["command"].split():
            if "llvm" in word.replace(str(folder), "").replace(source, "").lower():
                sys.exit(f"{command['file']} is compiled with {word}")
    objects = [p for p in (folder / "lib").glob("*.so*") if not p.is_symlink()] + [folder / "bin/ingot"]
    assert len(objects) > 2, objects
    for path in objects:
        needs = subprocess.run(["readelf", "-d", path], check=True, capture_output=True, text=True).stdout
        if "LLVM" in needs or "clang" in needs:
            sys.exit(f"{path} needs LLVM:\n{needs}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in "source", "cmake", "generator", "mslc", "llvm", "compiler", "layer", "folder", "build":
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("programs", nargs="+")
    options = parser.parse_args()
    make(pathlib.Path(options.folder), pathlib.Path(options.source), options.mslc, options.programs,
         options.layer.split(";"))
    build(options)
    check_no_llvm(pathlib.Path(options.build), options.source)
    # Not again: tests of the tree, and long ones of objects that are the same in both builds.
    ctest = [pathlib.Path(options.cmake).with_name("ctest"), "--test-dir", options.build, "--output-on-failure", "-j2",
             "-E", r"^(house\.|texture\.|raster\.random|base\.compiler_id)"]
    sys.exit(subprocess.run(ctest, check=False).returncode)


main()
