#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""build_kernels.py MSLC FOLDER FILE...: compiles kernels of our own libraries without the library.
FOLDER is where headers of all of them are.

A file says in its opening comment which macros it wants, a line for each set of them:
    // Macros: ELEMENT=half,float STEP=1
and is compiled for every combination of the values, warnings being errors."""
import itertools
import re
import subprocess
import sys


def combinations(text):
    sets = re.findall(r"^// Macros: (.*)$", text, re.M) or [""]
    for line in sets:
        names, values = [], []
        for macro in line.split():
            name, value = macro.split("=", 1)
            names.append(name)
            values.append(value.split(","))
        for chosen in itertools.product(*values):
            yield [f"-D{n}={v}" for n, v in zip(names, chosen)]


def main():
    mslc, folder, failed = sys.argv[1], sys.argv[2], 0
    for path in sys.argv[3:]:
        with open(path, encoding="ascii") as file:
            text = file.read()
        for macros in combinations(text):
            command = [mslc, "build", path, "-Werror", "-I", folder, *macros]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                print(" ".join(command), done.stdout, done.stderr, sep="\n")
                failed = 1
    sys.exit(failed)


main()
