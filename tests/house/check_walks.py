# SPDX-License-Identifier: Apache-2.0
"""Holds the walks of docs/internals/walks.md to the code: every hop names a file and functions that are there.

    python3 tests/house/check_walks.py [ROOT]

A hop is a line `N. `file`: `function` ...`; names in backquotes before the first full stop of a sentence that are
identifiers must be defined in the file (or, for files that are not C, occur in it). A walk has at most 15 hops.
"""
import pathlib
import re
import sys

PAGE = "docs/internals/walks.md"
HOP = re.compile(r"^(\d+)\. `([^`]+)`: (.*)$")
NAME = re.compile(r"`([A-Za-z_]\w+)`")
MOST = 15


def is_defined(name, path, text):
    """Does C text define a function of this name? A definition begins a line and ends in a brace, not in a semicolon."""
    if path.suffix not in {".c", ".cpp", ".m"}:
        return re.search(rf"\b{name}\b", text) is not None
    return re.search(rf"^[A-Za-z_][^;{{}}=]*\b{name}\b\)?\([^;{{}}]*\{{", text, re.M) is not None


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    wrong, hops, walks = [], 0, 0
    for number, line in enumerate((root / PAGE).read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("## "):
            walks, hops = walks + 1, 0
        if re.match(r"\d+\. ", line):
            hop = HOP.match(line)
            hops += 1
            if not hop or int(hop[1]) != hops or hops > MOST:
                wrong.append(f"{PAGE}:{number}: not hop {hops} of at most {MOST}, as `file`: `function`")
                continue
            path = root / hop[2]
            if not path.is_file():
                wrong.append(f"{PAGE}:{number}: there is no {hop[2]}")
                continue
            names, text = NAME.findall(hop[3]), path.read_text(encoding="utf-8")
            wrong += [f"{PAGE}:{number}: {hop[2]} defines no {name}" for name in names if not is_defined(name, path, text)]
            if not names:
                wrong.append(f"{PAGE}:{number}: names no function")
    if walks != 3:
        wrong.append(f"{PAGE}: {walks} walks, not 3")
    print("\n".join(wrong) or "every hop is there")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
