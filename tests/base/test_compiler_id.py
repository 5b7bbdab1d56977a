#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The compiler's id names everything that compiled code depends on: it is the key of the disk cache.

    test_compiler_id.py CMAKE SOURCE BUILT

In a copy of the sources one byte of each contract (src/abi), and of what the contracts and the compiler use of
src/base, src/os and of the public headers, is changed: every change must give another id, every way back the first one.
Files of the compiler are many: each must stand in the list that is hashed, with the hash of its content. BUILT
is the file that the build wrote: it must be what the sources say today.
"""
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CMAKE, SOURCE, BUILT = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
FOLDERS = "src/abi", "src/base", "src/os", "src/compiler", "include"


class Id:
    """The script's answer for a tree: the id, and path -> hash of what went into it."""

    def __init__(self, text: str) -> None:
        self.llvm = re.search(r"^// llvm (\S+)$", text, re.M)[1]
        self.files = dict(re.findall(r"^// (\S+/\S+) ([0-9a-f]{64})$", text, re.M))
        self.id = re.search(r'return "([0-9a-f]{64})"', text)[1]


def id_of(tree: pathlib.Path, llvm: str) -> Id:
    out = tree / "id.c"
    subprocess.run([CMAKE, f"-DSOURCE={tree}", f"-DOUT={out}", f"-DLLVM={llvm}", f"-DDEPFILE={out}.d",
                    "-P", tree / "src/abi/compiler_id.cmake"], check=True)
    found = Id(out.read_text())
    watched = set((tree / "id.c.d").read_text().split()[1:])
    assert watched == {str(tree / f) for f in found.files}, "the build watches other files than are hashed"
    return found


def change_and_compare(tree: pathlib.Path, path: pathlib.Path, first: Id) -> None:
    content = path.read_bytes()
    # The last byte that is no line end, in a comment or not: the script must not care what it means.
    at = len(content.rstrip()) - 1
    path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1:])
    name = path.relative_to(tree)
    if name.name != "compiler_id.cmake":  # a script with a broken last line may not run at all
        assert id_of(tree, first.llvm).id != first.id, f"{name} is not part of the compiler's id"
    path.write_bytes(content)


def main() -> None:
    built = Id(BUILT.read_text())
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        for name in FOLDERS:
            shutil.copytree(SOURCE / name, tree / name)
        first = id_of(tree, built.llvm)
        assert first.id == built.id, "the built id is not that of the sources: build again"
        assert id_of(tree, "another").id != first.id, "LLVM's version is not part of the id"
        contracts = [p for p in (tree / "src/abi").rglob("*") if p.is_file()]
        assert len(contracts) > 20, contracts
        others = [tree / f for f in first.files if not f.startswith(("src/abi/", "src/compiler/"))]
        assert any(p.name == "wire.c" for p in others), "the encoding of metallibs is not part of the id"
        for path in contracts + others:
            change_and_compare(tree, path, first)
        for path in (tree / "src/compiler").rglob("*"):
            if path.is_file():
                name = str(path.relative_to(tree))
                assert first.files.get(name) == hashlib.sha256(path.read_bytes()).hexdigest(), name
        # A new file counts from the start, a file that goes, too.
        (tree / "src/abi/new.h").write_text("#define NEW 1\n")
        assert id_of(tree, built.llvm).id != first.id, "a new contract is not part of the id"
        (tree / "src/abi/new.h").unlink()
        assert id_of(tree, built.llvm).id == first.id
    print(f"{len(contracts)} contracts, {len(others)} files they use, {len(first.files)} in all")


main()
