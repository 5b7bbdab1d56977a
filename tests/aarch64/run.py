#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the libraries and some test programs for AArch64, and runs them in an emulator (CMakeLists.txt here).

    run.py OPTIONS build TARGETS...     configures and builds BUILD
    run.py OPTIONS test REGEX           runs the tests of that build whose names match

Ends with 77, and says why, where the cross compiler, qemu or the arm64 libraries are not there: scripts/bootstrap
installs the first two, scripts/sysroot fetches the others.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77


def missing(build: pathlib.Path) -> str | None:
    for program in "aarch64-linux-gnu-gcc", "aarch64-linux-gnu-g++", "qemu-aarch64":
        if not shutil.which(program):
            return f"{program} is not installed"
    if not (build / "sysroot/complete").exists():
        return f"no arm64 libraries: scripts/sysroot {build / 'sysroot'}"
    return None


def make(options: argparse.Namespace) -> None:
    # Quick to build rather than fast: what takes time here is the emulator.
    subprocess.run([options.cmake, "--no-warn-unused-cli", "-G", options.generator, "-S", options.source, "-B", options.build,
                    f"-DCMAKE_TOOLCHAIN_FILE={options.source}/cmake/aarch64.cmake",
                    f"-DINGOT_SYSROOT={options.build}/sysroot", "-DCMAKE_C_FLAGS_RELEASE=-O2 -DNDEBUG",
                    "-DCMAKE_BUILD_TYPE=Release", "-DINGOT_COMPILER=OFF", "-DINGOT_RAYS=OFF", "-DINGOT_EXAMPLES=OFF",
                    f"-DINGOT_MSLC={options.mslc}", f"-DINGOT_LLVM={options.llvm}"], check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run([options.cmake, "--build", options.build, "--target", *options.words, "--", "--quiet"], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in "source", "cmake", "generator", "mslc", "llvm", "build":
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("action", choices=("build", "test"))
    parser.add_argument("words", nargs="+")
    options = parser.parse_args()
    if why := missing(pathlib.Path(options.build)):
        print(f"skipped: {why}")
        sys.exit(SKIPPED)
    if options.action == "build":
        make(options)
        return
    ctest = [pathlib.Path(options.cmake).with_name("ctest"), "--test-dir", options.build, "--output-on-failure",
             "--no-tests=error", "-R", options.words[0]]
    sys.exit(subprocess.run(ctest, check=False, env={**os.environ, "INGOT_EMULATED": "1"}).returncode)


main()
