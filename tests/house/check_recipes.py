# SPDX-License-Identifier: Apache-2.0
"""Follows the recipes of docs/internals in a scratch copy of the tree, and compiles what they made.

    python3 tests/house/check_recipes.py BUILD [ROOT]

A recipe says in comments what its code blocks do:

    <!-- in FILE after "TEXT" -->     the block goes behind the line that has TEXT (before: in front of it)
    <!-- in FILE replace "TEXT" -->   the block stands for TEXT
    <!-- new FILE -->                 the block is the file
    <!-- copy FROM TO a=b ... -->     no block: a copy, with words replaced

A text that is not in its file, or is there twice, is a stale recipe. Then every C file that a step touched is compiled
(without code: -fsyntax-only) by the command of the build, and each recipe has a check of its own below.
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

STEP = re.compile(r"^( *)<!-- (in|new|copy) (.*?) -->$", re.M)
WHERE = re.compile(r'^(\S+) (after|before|replace) "(.*)"$')
FOLDERS = ("src", "include", "api", "python")


class Stale(Exception):
    """A step of a recipe cannot be followed."""


def block_behind(text, at, indent):
    """The code block that follows, without the indentation of the list it is in."""
    found = re.match(rf"\n{indent}```\w*\n(.*?)\n{indent}```", text[at:], re.S)
    if not found:
        raise Stale("no code block behind a step")
    return "\n".join(line[len(indent):] for line in found[1].split("\n"))


def put(path, how, anchor, block):
    """Changes a file; the anchor must be there once."""
    text = path.read_text(encoding="utf-8")
    if text.count(anchor) != 1:
        raise Stale(f"{text.count(anchor)} times in {path}: {anchor}")
    at = text.index(anchor)
    if how == "replace":
        text = text.replace(anchor, block)
    else:
        line = text.rfind("\n", 0, at) + 1 if how == "before" else text.index("\n", at) + 1
        text = text[:line] + block + "\n" + text[line:]
    path.write_text(text, encoding="utf-8")


def follow(page, scratch):
    """Applies all steps of a page; the files that it touched."""
    text, touched = page.read_text(encoding="utf-8"), []
    for step in STEP.finditer(text):
        indent, kind, rest = step.groups()
        if kind == "copy":
            source, target, *words = rest.split()
            content = (scratch / source).read_text(encoding="utf-8")
            for old, new in (word.split("=") for word in words):
                content = re.sub(rf"\b{old}\b", new, content)
        elif kind == "new":
            target, content = rest, block_behind(text, step.end(), indent) + "\n"
        else:
            where = WHERE.match(rest)
            if not where or not (scratch / where[1]).is_file():
                raise Stale(f"not a step: {rest}")
            target, content = where[1], None
            put(scratch / target, where[2], where[3], block_behind(text, step.end(), indent))
        if content is not None:
            path = scratch / target
            if path.exists():
                raise Stale(f"{target} is there already")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
        touched.append(target)
    if not touched:
        raise Stale("no steps")
    return touched


def run(command, what, **more):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, **more)
    if done.returncode:
        raise Stale(f"{what}: {done.stderr[-2000:] or done.stdout[-2000:]}")
    return done.stdout


def compile_all(touched, commands, root, scratch):
    """Looks at the touched C files with the compiler, a new one by the command of a neighbour. What the build writes from the
    table is written again, from the scratch copy."""
    run([sys.executable, scratch / "api/gen/generate.py", "c"], "api/gen/generate.py c")
    run([sys.executable, scratch / "api/gen/generate.py", "accessors", scratch / "written/accessors"], "api/gen/generate.py")
    for name in sorted({f for f in touched if f.endswith(".c")}):
        known = commands.get(name)
        neighbours = sorted(f for f in commands if os.path.dirname(f) == os.path.dirname(name))
        neighbours = neighbours or ["src/devices/null/device.c"]
        entry, source = (known, name) if known else (commands[neighbours[0]], neighbours[0])
        words = shlex.split(entry["command"])
        words = [w for w in words if not w.endswith("ccache")]
        words = words[:words.index("-o")] + words[words.index("-o") + 2:]
        words = [w.replace(f"{root}/{source}", f"{root}/{name}").replace(f"{root}/", f"{scratch}/")
                 if f"{root}/build" not in w else w for w in words]
        words.insert(1, f"-I{scratch}/written")
        run([*words, "-fsyntax-only"], name, cwd=entry["directory"])


# ---- What each recipe promises beside that ----

def check_builtin(build, scratch):
    """The function compiles, runs and is right."""
    (scratch / "k.metal").write_text(
        "#include <metal_stdlib>\nusing namespace metal;\n"
        "kernel void k(device uint *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = parity(i); }\n")
    env = {**os.environ, "INGOT_STDLIB": str(scratch / "src/compiler/stdlib"), "INGOT_CACHE_DIR": str(scratch / "cache")}
    out = run([build / "bin/ingot", "run", scratch / "k.metal", "k", "--grid", "8", "--arg", "0=u32[8]", "--print", "0"],
              "parity", env=env)
    if "0 1 1 0 1 0 0 1" not in out:
        raise Stale(f"parity of 0 to 7: {out}")


def check_pass(build, scratch):
    """Names of the table are what --dump-after knows."""
    names = re.findall(r'^    \{"([\w-]+)", msl_\w+\},', (scratch / "src/compiler/codegen/lower/lower.c").read_text(), re.M)
    if "example" not in names:
        raise Stale("the example is no row of the table")
    source = scratch / "k.metal"
    source.write_text("kernel void k(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = 1; }\n")
    env = {**os.environ, "INGOT_CACHE_DIR": str(scratch / "cache")}
    done = subprocess.run([build / "bin/ingot", "build", source, "--emit=ll", "--function", "k", "--dump-after=memory-chains"],
                          capture_output=True, text=True, timeout=100, check=False, env=env)
    if done.returncode or (done.stdout + done.stderr).count("target triple") < 1:
        raise Stale(f"--dump-after=memory-chains: {done.stderr[-500:]}")


def check_public_call(build, scratch):
    """The generator finds the C function of the row, and refuses a row without one."""
    out = scratch / "face"
    generator = [sys.executable, scratch / "api/gen/generate.py", "objc", scratch / "include", out]
    out.mkdir()
    run(generator, "api/gen/generate.py")
    for name in ("mtl_device_is_example(", "mtl_device_example_at_index("):
        if not any(name in f.read_text(encoding="utf-8", errors="replace") for f in out.rglob("*.c")):
            raise Stale(f"no generated method calls {name}")
    if "bool mtl_device_is_example(const MTLDevice *device) {" not in (scratch / "written/accessors/object/device.inc").read_text():
        raise Stale("no generated accessor")
    run([sys.executable, scratch / "api/gen/generate.py", "python", out], "api/gen/generate.py python")
    if "Device_get_is_example" not in (out / "table.c").read_text(encoding="utf-8"):
        raise Stale("Device of Python has no is_example")
    header = scratch / "include/ingot/metal.h"
    if "MTL_API bool mtl_device_is_example(const MTLDevice *device);" not in header.read_text():
        raise Stale("generate.py c did not complete the declaration")
    header.write_text(header.read_text().replace("mtl_device_is_example", "mtl_device_is_no_example"))
    for command in (generator, [sys.executable, scratch / "api/gen/generate.py", "c", "--check"]):
        if subprocess.run(command, capture_output=True, check=False).returncode == 0:
            raise Stale("a row without its C function was taken")


CHECKS = {"builtin": check_builtin, "pass": check_pass, "public-call": check_public_call,
          "tensor-op": lambda *_: None, "device": lambda *_: None, "record": lambda *_: None}


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    root = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else pathlib.Path(__file__).parents[2]).resolve()
    entries = json.loads((build / "compile_commands.json").read_text())
    commands = {os.path.relpath(e["file"], root): e for e in reversed(entries) if e["file"].startswith(f"{root}/")}
    wrong = 0
    for page in sorted((root / "docs/internals").glob("recipe-*.md")):
        with tempfile.TemporaryDirectory() as folder:
            scratch = pathlib.Path(folder).resolve()
            try:
                for part in FOLDERS:
                    shutil.copytree(root / part, scratch / part, ignore=shutil.ignore_patterns("__pycache__"))
                touched = follow(page, scratch)
                compile_all(touched, commands, root, scratch)
                CHECKS[page.stem.removeprefix("recipe-")](build, scratch)
                print(f"{page.name}: {len(touched)} steps")
            except Stale as stale:
                wrong += 1
                print(f"{page.name}: {stale}".replace(f"{scratch}/", ""))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
