# SPDX-License-Identifier: Apache-2.0
"""Holds the documentation to what is there: links, anchors, paths, indexes, the length of the README, figures,
variables of the environment, the version.

    python3 tests/house/check_docs.py [ROOT]

Prints one line for each thing that is wrong, as file:line: what, and fails if there was one.
"""
import fnmatch
import os
import pathlib
import re
import sys

README_LINES = 120
FOLDERS = ("src", "include", "docs", "tests", "python", "examples", "bench", "scripts")
PAGE = re.compile(r"docs/[\w./-]+\.md")
LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"")
CODE = re.compile(r"`([^`\n]+)`")
# What is certainly the name of a file of ours: a source, alone or with folders before it.
SOURCE = re.compile(r"[\w./*{},-]*\w[\w*{},-]*\.(?:c|cpp|h|def|py|cmake)")
VARIABLE = r'getenv\("(\w+)"|"((?:INGOT|MTL|METAL)_[A-Z_]+(?<!_H))"'
# Names of the same form that are not ours: the user's own, and headers of others.
OTHERS = {"Python.h"}


def tracked(root):
    """All files of the tree, as paths with slashes from its root."""
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = [f for f in folders if not f.startswith((".", "build", "__pycache__"))]
        found += [os.path.relpath(os.path.join(folder, f), root).replace(os.sep, "/") for f in files]
    return found


def without_blocks(text):
    """The lines of a page, those of code blocks blank."""
    lines, inside = [], False
    for line in text.splitlines():
        fence = line.lstrip().startswith("```")
        lines.append("" if inside or fence or line.startswith("    ") else line)
        inside ^= fence
    return lines


def anchors(text):
    """The fragments that headings of a page can be reached by, as GitHub makes them."""
    heads = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", h.strip().lower()).replace(" ", "-") for h in heads}


def braces(pattern):
    """a{b,c} as [ab, ac]."""
    found = re.search(r"\{([^{}]*)\}", pattern)
    if not found:
        return [pattern]
    return [p for part in found[1].split(",")
            for p in braces(pattern[:found.start()] + part + pattern[found.end():])]


class Checker:
    def __init__(self, root):
        self.root, self.files, self.wrong = root, tracked(root), 0
        self.folders = {str(pathlib.PurePosixPath(f).parents[i]) for f in self.files
                        for i in range(len(pathlib.PurePosixPath(f).parents))}

    def say(self, page, line, what):
        print(f"{page}:{line}: {what}")
        self.wrong += 1

    def exists(self, name):
        """Is there a file or folder of this path, or (for a source) one whose path ends so?"""
        name = name.rstrip("/")
        if name in self.folders:
            return True
        return any(f == name or fnmatch.fnmatch(f, name) or fnmatch.fnmatch(f, "*/" + name) for f in self.files)

    def link(self, page, number, target):
        if re.match(r"[a-z]+:", target):
            return
        path, _, fragment = target.partition("#")
        full = os.path.normpath(os.path.join(self.root, os.path.dirname(page), path)) if path else os.path.join(self.root, page)
        if not os.path.exists(full):
            self.say(page, number, f"the link {target} leads nowhere")
        elif fragment and full.endswith(".md") and fragment not in anchors(pathlib.Path(full).read_text(encoding="utf-8")):
            self.say(page, number, f"no heading of {path or page} is #{fragment}")

    def names(self, page, number, code):
        """Paths and file names in a piece of code must be there."""
        words = re.split(r"[\s()=:;]+", code)
        for word in words:
            ours = word.split("/")[0] in FOLDERS and "/" in word and "<" not in word and "..." not in word
            if not ours and (not SOURCE.fullmatch(word) or word in OTHERS):
                continue
            for name in braces(word.rstrip(".,")):
                if not self.exists(name):
                    self.say(page, number, f"there is no {name}")

    def page(self, page):
        text = pathlib.Path(self.root, page).read_text(encoding="utf-8")
        for number, line in enumerate(without_blocks(text), 1):
            for found in LINK.finditer(line):
                self.link(page, number, found[1] or found[2])
            for found in CODE.finditer(line):
                self.names(page, number, found[1])

    def index(self, folder):
        """Every page of a folder is named by its index."""
        text = pathlib.Path(self.root, folder, "README.md").read_text(encoding="utf-8")
        for file in self.files:
            if os.path.dirname(file) == folder and file.endswith(".md") and not file.endswith("README.md"):
                if f"({os.path.basename(file)})" not in text:
                    self.say(folder + "/README.md", 1, f"{os.path.basename(file)} is not in the index")

    def mentions(self):
        """Pages that sources, scripts and headers name."""
        for file in self.files:
            if not file.endswith((".c", ".h", ".cpp", ".py", ".def", ".metal", ".txt", ".cmake", ".toml")):
                continue
            text = pathlib.Path(self.root, file).read_text(encoding="utf-8", errors="replace")
            for number, line in enumerate(text.splitlines(), 1):
                for found in PAGE.finditer(line):
                    if not os.path.exists(os.path.join(self.root, found[0])):
                        self.say(file, number, f"there is no {found[0]}")

    def environment(self, page):
        """Every variable that the sources read, and no other."""
        read = set()
        for file in self.files:
            if file.startswith(("src/", "python/")) and file.endswith((".c", ".m", ".cpp", ".py")):
                text = pathlib.Path(self.root, file).read_text(encoding="utf-8", errors="replace")
                read |= {a or b for a, b in re.findall(VARIABLE, text)}
        said = set(re.findall(r"`([A-Za-z_]+)`", "\n".join(
            line.split("|")[1] for line in pathlib.Path(self.root, page).read_text(encoding="utf-8").splitlines()
            if line.startswith("|"))))
        for name in sorted(read - said):
            self.say(page, 1, f"{name} is read and not here")
        for name in sorted(said - read):
            self.say(page, 1, f"nothing reads {name}")

    def figures(self, page):
        """Sections that scripts/figures.py can find again, each with the day it was measured."""
        text = pathlib.Path(self.root, page).read_text(encoding="utf-8")
        marks = re.findall(r"<!-- (begin|end) ([\w-]+) -->", text)
        pairs = [key for kind, key in marks if kind == "begin"]
        if marks != [(kind, key) for key in pairs for kind in ("begin", "end")] or len(set(pairs)) != len(pairs):
            self.say(page, 1, "the comments around sections do not pair up")
        for section in re.findall(r"<!-- begin [\w-]+ -->\n(.*?)<!-- end", text, re.S):
            if not re.match(r"## .*\n\n.*; \d+ \w+ \d{4}\.\n", section):
                self.say(page, 1, f"no machine and day below {section.splitlines()[0]}")

    def version(self):
        """The newest version of the changelog is that of CMakeLists.txt, which no other file repeats as its own."""
        cmake = pathlib.Path(self.root, "CMakeLists.txt").read_text(encoding="utf-8")
        version = re.search(r"^project\(ingot VERSION ([\d.]+)", cmake, re.M)[1]
        newest = re.search(r"^## (\S+)", pathlib.Path(self.root, "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
        if not newest or newest[1] != version:
            self.say("CHANGELOG.md", 1, f"does not begin with version {version}")
        for file in ("pyproject.toml", *(f for f in self.files if re.fullmatch(r"python/\w+/__init__\.py", f))):
            text = pathlib.Path(self.root, file).read_text(encoding="utf-8")
            if re.search(r"^\s*(__version__|version)\s*=\s*[\"']", text, re.M):
                self.say(file, 1, "has a version of its own")


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else str(pathlib.Path(__file__).resolve().parents[2])
    checker = Checker(root)
    pages = [f for f in checker.files if f.endswith(".md")]
    for page in pages:
        checker.page(page)
    for folder in ("docs/guide", "docs/internals"):
        checker.index(folder)
    checker.mentions()
    checker.environment("docs/guide/environment.md")
    checker.figures("docs/figures.md")
    checker.version()
    length = len(pathlib.Path(root, "README.md").read_text(encoding="utf-8").splitlines())
    if length > README_LINES:
        checker.say("README.md", length, f"more than {README_LINES} lines")
    print(f"{len(pages)} pages, {checker.wrong} things wrong")
    return 1 if checker.wrong or len(pages) < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
