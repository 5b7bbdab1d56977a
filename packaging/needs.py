#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the ELF files below a folder need of the machine that they run on.

    packaging/needs.py FOLDER [--glibc 2.35]

Reads the needed libraries, symbol versions and run paths of every ELF file (readelf). Fails when a library is neither
in the folder nor part of every system with glibc, when a version is newer than the one allowed, or when the loader would
look for libraries in a folder that depends on where the program is started.
"""
import argparse
import pathlib
import re
import subprocess
import sys

# libgcc_s is a part of glibc's own needs (threads that are cancelled).
SYSTEM = re.compile(r"(lib(c|m|dl|rt|pthread)\.so\.\d|ld-linux.*\.so\.\d|libgcc_s\.so\.1)$")
# Embree and what it needs: C++, whose library is a part of systems (and of manylinux), and in lib/ingot/fallback for
# those that have none. Those are newer than the oldest glibc.
CXX_USERS = re.compile(r"lib(embree3|tbb)\.so\.")
FALLBACK = (2, 36)
# The C++ library of the systems that have the oldest glibc allowed.
LIMITS = {"GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13), "GCC": (12, 0)}


def elf_files(folder):
    """Programs and libraries; not objects (ET_REL), which `ingot cargo` links into programs of others."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            with open(path, "rb") as f:
                head = f.read(18)
                if head[:4] == b"\x7fELF" and head[16] != 1:
                    yield path


def needs(path):
    """(needed libraries, {(kind, version)}) of one file."""
    text = subprocess.run(["readelf", "-dVW", path], capture_output=True, text=True, check=True).stdout
    libraries = re.findall(r"\(NEEDED\).*\[(.*?)\]", text)
    wanted = text[text.find("Version needs section"):] if "Version needs section" in text else ""
    versions = {(kind, tuple(int(n) for n in number.split(".")))
                for kind, number in re.findall(r"Name: ([A-Z]+)_(\d[\d.]*)", wanted)}
    return libraries, versions


def loose_run_paths(path):
    """Entries of the run path that are not a fixed place: empty ones are the current folder, relative ones in it."""
    text = subprocess.run(["readelf", "-dW", path], capture_output=True, text=True, check=True).stdout
    return [entry for paths in re.findall(r"\((?:RPATH|RUNPATH)\).*?\[(.*)\]", text) for entry in paths.split(":")
            if not entry.startswith(("/", "$ORIGIN"))]


def missing_guards(path):
    """Guards of cmake/harden.cmake that a file of ours lacks. A stack without arrays needs none."""
    text = subprocess.run(["readelf", "-hldnW", "--dyn-syms", path], capture_output=True, text=True, check=True).stdout
    wanted = {"position independent": r"Type:\s+DYN", "-z now": r"\bBIND_NOW\b|Flags:.*\bNOW\b", "relro": "GNU_RELRO",
              "no code on the stack": r"GNU_STACK.* RW\s"}
    if "X86-64" in text:
        wanted["shadow stack"] = r"x86 feature:.*SHSTK"
    if path.stat().st_size > 100_000:
        wanted["stack protector"] = "__stack_chk_fail"
    return [guard for guard, pattern in wanted.items() if not re.search(pattern, text)]


def check(folder, glibc=(2, 35)):
    """(complaints, newest glibc that is needed, number of files)."""
    files = list(elf_files(folder))
    here = {p.name for p in folder.rglob("*.so*")}
    complaints, newest = [], (2, 17)
    for path in files:
        libraries, versions = needs(path)
        complaints += [f"{path}: looks for libraries in '{entry}'" for entry in loose_run_paths(path)]
        fallback = path.parent.name == "fallback"
        limits = {**LIMITS, "GLIBC": max(glibc, FALLBACK) if fallback else glibc}
        for name in libraries:
            allowed = (CXX_USERS.match(path.name) if name.startswith("libstdc++") else
                       SYSTEM.match(name) or name in here)
            if not allowed:
                complaints.append(f"{path}: needs {name}")
        for kind, version in sorted(versions):
            if version > limits.get(kind, version):
                complaints.append(f"{path}: needs {kind}_{'.'.join(map(str, version))}")
        if not fallback:
            newest = max([newest, *(v for kind, v in versions if kind == "GLIBC")])
    return complaints, newest, len(files)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--glibc", default="2.35", help="newest version of its symbols that may be needed")
    options = parser.parse_args()
    complaints, newest, n = check(options.folder, tuple(int(x) for x in options.glibc.split(".")))
    if not n:
        sys.exit(f"no ELF files in {options.folder}")
    print(f"{n} files, glibc {'.'.join(map(str, newest))}")
    sys.exit("\n".join(complaints) if complaints else 0)


if __name__ == "__main__":
    main()
