# SPDX-License-Identifier: Apache-2.0
"""Which folder of src includes which: prints the matrix, and fails on a cycle or on an arrow that is not allowed.

Headers: `x.h` is for neighbours, `x_int.h` for its own folder. So no other folder includes an `x_int.h`, nor does an
`x.h` that others include, which would hand it on; and in LAYERS an `x.h` that reaches no other folder has the wrong name.

    python3 tests/house/check_includes.py [ROOT]

A folder may include from itself, from those listed for it in ALLOWED, and from include/. A new arrow is a decision: it
is added here, in the commit that needs it, if it points down.
"""
import collections
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
SOURCES = {".c", ".h", ".cpp", ".m", ".mm", ".def"}
APART = ("compiler/stdlib",)  # Metal's own headers, in MSL

LAYERS = ("runtime/",)  # where headers are held to their names in both directions

# A file that fills the table of a device stands above the folders that it brings together.
ABOVE = {"devices/cpu/device.c": "devices/cpu/device.c"}

LOW = "base os abi devices/table"
ALLOWED = {
    "base": "",
    "os": "base",
    "abi": "base",
    "runtime/network": "base",
    "devices/table": "abi os base",
    "devices/capture": "devices/table texel abi os base",
    "devices/null": "devices/table abi os base",
    "devices/cuda": "devices/table abi os base",
    "devices/isolate": "devices/cpu devices/cpu/raster devices/cpu/texture abi os base devices/table",  # the CPU device, in another process
    "devices/cpu/isa": "base",
    "texel": "abi base",  # formats, conversions, sampling: for devices and runtime, and compiled again for GPUs
    "image": "base",
    "devices/cpu/texture": "devices/cpu/isa texel abi base devices/table",
    "devices/cpu/tensor": "devices/cpu/isa abi base",
    "devices/cpu/rays": "abi devices/table",
    "devices/cpu": "devices/cpu/rays devices/cpu/tensor devices/cpu/texture abi os base devices/table",
    "devices/cpu/raster": "devices/cpu devices/cpu/isa devices/cpu/texture texel abi os base devices/table",
    "devices/cpu/device.c": "devices/cpu devices/cpu/raster devices/cpu/rays devices/cpu/tensor devices/cpu/texture devices/cpu/isa texel abi os base devices/table",
    # The runtime's layers, from below; CMake holds them to it, too.
    "runtime/object": LOW,
    "runtime/memory": LOW + " runtime/object",
    "runtime/program": LOW + " runtime/network runtime/object runtime/memory",
    # texel: mipmaps read and write texels of every format.
    "runtime/command": LOW + " texel runtime/object runtime/memory runtime/program",
    "runtime/io": LOW + " runtime/object runtime/memory runtime/program runtime/command",
    "runtime/layer": LOW + " runtime/object runtime/memory runtime/program runtime/command",
    "runtime/inspect": LOW + " devices/capture runtime/object runtime/memory runtime/program runtime/command",
    "runtime/metal4": LOW + " runtime/network runtime/object runtime/memory runtime/program runtime/command runtime/layer",
    "compiler": "abi base os",
    "compiler/frontend": "compiler abi base",
    "compiler/passes": "compiler abi base",
    "compiler/codegen": "compiler compiler/frontend compiler/passes abi base",
    "compiler/codegen/support": "compiler abi",
    "compiler/codegen/lower": "compiler compiler/codegen compiler/passes base",
    "compiler/codegen/nvptx": "compiler compiler/codegen abi",
    "compiler/codegen/nvptx/library": "compiler compiler/codegen/support base texel abi",
    "mac/objc": "",
    "mac/foundation": "mac/objc",  # invocations
    "mac/face": "mac/objc",
    "mac/appkit": "",
    "mac/mps": "",
    "mac/metalkit": "image",
    "mac/launch": "abi base os",  # a compiler service that writes our container; locks of one word
    "mac/cargo": "base",
    "tensor": "base",
    "apps/neural": "image base",
    "apps/web": "os base",
    # abi/replay.h is what libingot shows the tools beside the public headers
    "apps/tools": "apps/web mac/launch mac/cargo apps/neural devices/capture image texel abi base",  # what a Mac answers
}


def folder_of(path, folders):
    """The unit that a path from src belongs to; None: a file that a build makes, or none of ours."""
    name = path.as_posix()
    if name in ABOVE:
        return ABOVE[name]
    parent = path.parent.as_posix()
    return parent if parent in folders else None


def arrows(src):
    """{(from, to): [(file, line, include)]} over all files of src."""
    folders = {p.parent.relative_to(src).as_posix() for p in src.rglob("*") if p.suffix in SOURCES}
    found = collections.defaultdict(list)
    for path in sorted(src.rglob("*")):
        place = path.relative_to(src)
        if path.suffix not in SOURCES or place.as_posix().startswith(APART):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        for match in INCLUDE.finditer(text):
            target = pathlib.PurePosixPath(match[1])
            to = folder_of(target, folders) if len(target.parts) > 1 else None
            own = folder_of(place, folders)
            if to and to != own:
                found[own, to].append((place.as_posix(), text.count("\n", 0, match.start(1)) + 1, match[1]))
    return found


def headers(src):
    """Lines about headers whose names promise what they do not keep."""
    users = collections.defaultdict(set)
    for path in sorted(src.rglob("*")):
        if path.suffix in SOURCES:
            for match in INCLUDE.finditer(path.read_text(encoding="utf-8", errors="replace")):
                users[match[1]].add(path.relative_to(src).as_posix())

    def folder(name):
        return name.rpartition("/")[0]

    def reaches(header, seen):
        """Does another folder include the header, or one of its own folder that does?"""
        seen.add(header)
        return any(folder(user) != folder(header) or
                   (user.endswith(".h") and user not in seen and reaches(user, seen)) for user in users[header])

    wrong = []
    for header, by in sorted(users.items()):
        if not header.endswith("_int.h") or not (src / header).exists():
            continue
        for user in sorted(by):
            if folder(user) != folder(header):
                wrong.append(f"src/{user} includes {header}, which is for its own folder")
            elif user.endswith(".h") and not user.endswith("_int.h") and reaches(user, set()):
                wrong.append(f"src/{user} is for neighbours and includes {header}, which is not")
    for path in sorted(src.rglob("*.h")):
        name = path.relative_to(src).as_posix()
        if name.startswith(LAYERS) and not name.endswith("_int.h") and not reaches(name, set()):
            wrong.append(f"src/{name} is for its own folder: call it {path.stem}_int.h")
    return wrong


def cycle(edges):
    """A list of folders that include each other in a circle, or None."""
    after = collections.defaultdict(list)
    for a, b in edges:
        after[a].append(b)
    state, path = {}, []

    def visit(node):
        state[node] = 1
        path.append(node)
        for other in sorted(after[node]):
            if state.get(other) == 1:
                return path[path.index(other):] + [other]
            if other not in state:
                circle = visit(other)
                if circle:
                    return circle
        state[node] = 2
        path.pop()
        return None

    for node in sorted(after):
        if node not in state:
            circle = visit(node)
            if circle:
                return circle
    return None


def show(found):
    """The matrix as a table: a row per folder, a column per folder that is included."""
    rows = sorted({a for a, _ in found})
    columns = sorted({b for _, b in found})
    for i, name in enumerate(columns):
        print(f"{i:>3} {name}")
    wide = max(map(len, rows))
    print(" " * wide, *(f"{i:>3}" for i in range(len(columns))))
    for row in rows:
        print(f"{row:<{wide}}", *(f"{len(found.get((row, c), ())) or '.':>3}" for c in columns))


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
    found = arrows(root / "src")
    show(found)
    wrong = 0
    for (a, b), places in sorted(found.items()):
        if a in ALLOWED and b in ALLOWED[a].split():
            continue
        wrong += len(places)
        for file, line, include in places:
            print(f"src/{file}:{line}: {a} must not include {include}")
    names = headers(root / "src")
    for line in names:
        print(line)
    circle = cycle(found)
    if circle:
        print("a circle: " + " -> ".join(circle))
    unused = [f"{a} -> {b}" for a, list_ in ALLOWED.items() for b in list_.split() if not (root / "src" / b).exists()]
    for arrow in unused:
        print(f"an arrow to a folder that is not there: {arrow}")
    sys.exit(bool(wrong or names or circle or unused))


if __name__ == "__main__":
    main()
