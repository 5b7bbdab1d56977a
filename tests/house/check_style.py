# SPDX-License-Identifier: Apache-2.0
"""One hand for all C sources: the formatter's layout, and the habits it does not know.

    python3 tests/house/check_style.py [--fix] [FILE ...]

Without files: all that git knows (or, without git, all there are). Checked, and mended with --fix:
  - clang-format 22 with .clang-format
  - `i++`, not `++i`, where the value is not used, in C
  - section comments: // ---- Title ----
  - comments end before column 101 (paragraphs are wrapped again)
Files that are written in other people's style, or are data of tests, are left out (OTHERS).
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
COLUMNS = 100
OTHERS = ("tests/corpus/", "tests/msl/", "tests/stdlib/library/", "src/compiler/stdlib/", "src/apps/neural/kernels/")
TOOL = shutil.which("clang-format-22")
SKIPPED = 77


def sources():
    """Paths from the root of the C files that are ours to shape."""
    try:
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.c", "*.h", "*.cpp"], cwd=ROOT,
                                check=True, capture_output=True, text=True).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        listed = [str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if p.suffix in (".c", ".h", ".cpp")
                  and not str(p.relative_to(ROOT)).startswith(("build", "."))]
    return sorted(f for f in listed if not f.startswith(OTHERS) and (ROOT / f).exists())


def masked(text):
    """The text with strings, characters and comments blank, so that only code is looked at."""
    pattern = r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)


PLACE = r"[A-Za-z_](?:\w|->|\.(?=\w)|\[[^\[\]\n]*\])*"


def third_clauses(code):
    """Start and end of the last clause of every for (...)."""
    for start in re.finditer(r"\bfor \(", code):
        depth, semicolons, at = 1, [], start.end()
        while depth and at < len(code):
            depth += {"(": 1, ")": -1}.get(code[at], 0)
            if code[at] == ";" and depth == 1:
                semicolons.append(at)
            at += 1
        if len(semicolons) == 2:
            yield semicolons[1] + 1, at - 1


def increments(text):
    """Where ++i or --i stands for i++ or i--: (start of the signs, end of the name)."""
    code = masked(text)
    found = set()
    for begin, end in third_clauses(code):
        for m in re.finditer(rf"(?:^|(?<=,))\s*((?:\+\+|--){PLACE})\s*(?=,|$)", code[begin:end]):
            found.add((begin + m.start(1), begin + m.end(1)))
    for m in re.finditer(rf"(?:(?<=[;{{}})])|(?<=\belse)|(?<=:))\s+((?:\+\+|--){PLACE});", code):
        found.add((m.start(1), m.end(1)))
    return sorted(found)


def turned(text):
    for start, end in reversed(increments(text)):
        text = text[:start] + text[start + 2:end] + text[start:start + 2] + text[end:]
    return text


SECTION = re.compile(r"^([ \t]*)// ?[-=]{3,8} (.*?\S)( [-=]{2,})?$", re.M)


def sections(text):
    """One form of titles. What has no dashes behind it and goes on in the next line is a paragraph."""
    text = re.sub(r"(?m)^(\s*// -{4} .*) -{4}\n\s*// ?-{4,}$", r"\1 ----", text)  # a title broken in two
    lines = text.split("\n")
    for i, line in enumerate(lines):
        m = SECTION.match(line)
        if not m:
            continue
        goes_on = not m[3] and (lines[i + 1].strip().startswith("//") or lines[i - 1].strip().startswith("// "))
        lines[i] = f"{m[1]}// {m[2]}" if goes_on else f"{m[1]}// ---- {m[2].rstrip('.')} ----"
    return "\n".join(lines)


def paragraphs(text):
    """Comments of whole lines that are too long are wrapped, with the lines they run on with."""
    lines, out, i = text.split("\n"), [], 0
    shape = re.compile(r"^(\s*//)(\s+)(\S.*)$")
    while i < len(lines):
        head = shape.match(lines[i])
        if not head or len(lines[i]) <= COLUMNS or "SPDX" in lines[i] or SECTION.match(lines[i]):
            out.append(lines[i])
            i += 1
            continue
        block, j = [head[3]], i + 1
        indent = head[2]
        mark = re.match(r"[-*] ", head[3])
        inner = indent + "  " if mark else indent
        while j < len(lines):
            more = shape.match(lines[j])
            if not more or more[1] != head[1] or more[2] != inner or re.match(r"[-*] |[\w-]+ {2,}|\d+\.", more[3]):
                break
            block.append(more[3])
            j += 1
        out += textwrap.wrap(" ".join(block), COLUMNS, initial_indent=head[1] + indent,
                             subsequent_indent=head[1] + inner, break_long_words=False, break_on_hyphens=False)
        i = j
    return "\n".join(out)


def long_comments(text):
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > COLUMNS and "//" in line and '"' not in line:
            yield number, line


def check(name, text):
    """What is wrong with a file, as (line, what)."""
    for start, _ in [] if name.endswith(".cpp") else increments(text):  # iterators know the difference
        yield text.count("\n", 0, start) + 1, "the habit here is i++"
    for m in SECTION.finditer(text):
        if m[0] != f"{m[1]}// ---- {m[2]} ----":
            yield text.count("\n", 0, m.start()) + 1, "section comments are // ---- Title ----"
    for number, _ in long_comments(text):
        yield number, f"more than {COLUMNS} columns"


def formatted(names):
    """What clang-format would change, as its own messages; '' if nothing."""
    wrong = ""
    for i in range(0, len(names), 100):
        done = subprocess.run([TOOL, "--dry-run", "-Werror", *names[i:i + 100]], cwd=ROOT, capture_output=True, text=True)
        wrong += "".join(line + "\n" for line in done.stderr.splitlines() if "error:" in line)
        if done.returncode and not wrong:
            wrong = done.stderr
    return wrong


def fix(names):
    for name in names:
        path = ROOT / name
        text = path.read_text(encoding="utf-8")
        new = paragraphs(sections(text if name.endswith(".cpp") else turned(text)))
        if new != text:
            path.write_text(new, encoding="utf-8")
    for i in [*range(0, len(names), 100)] * 2:  # a second time for what the first one moved
        subprocess.run([TOOL, "-i", *names[i:i + 100]], cwd=ROOT, check=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--fix", action="store_true", help="mend what can be mended")
    p.add_argument("files", nargs="*", help="paths from the root of the project")
    a = p.parse_args()
    names = [os.path.relpath(os.path.abspath(f), ROOT) for f in a.files] or sources()
    if not TOOL:
        print("clang-format-22 is not installed (scripts/bootstrap installs it)")
        return SKIPPED
    if a.fix:
        fix(names)
    wrong = 0
    for name in names:
        for number, what in check(name, (ROOT / name).read_text(encoding="utf-8")):
            print(f"{name}:{number}: {what}")
            wrong += 1
    layout = formatted(names)
    sys.stdout.write(layout)
    wrong += layout.count("\n")
    print(f"{len(names)} files, {wrong} things wrong" + (" (make format mends most)" if wrong else ""))
    return 1 if wrong or not names else 0


if __name__ == "__main__":
    sys.exit(main())
