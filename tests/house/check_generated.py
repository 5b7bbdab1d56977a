# SPDX-License-Identifier: Apache-2.0
"""Files that are made by a script and kept in the tree are what the script makes now.

    python3 tests/house/check_generated.py

Such a file says so in its first lines: "made by SCRIPT.py" or "written by SCRIPT.py"; the script prints it. Apple's
enumerators and the declarations of plain accessors in include/ingot are those of the table (api/gen/c.py).
"""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAYS = re.compile(r"(?:made|written) by (\w+\.py)")


def generated():
    """Pairs of a file and the script that makes it, which lies in the same folder or above."""
    for folder, folders, files in os.walk(ROOT / "src"):
        folders[:] = [f for f in folders if f != "__pycache__"]
        for name in files:
            path = pathlib.Path(folder, name)
            if path.suffix not in (".h", ".c", ".def", ".metal"):
                continue
            with open(path, encoding="utf-8", errors="replace") as file:
                found = SAYS.search(file.readline() + file.readline())
            if not found:
                continue
            script = next((p / found[1] for p in path.parents if (p / found[1]).exists()), None)
            yield path, script or found[1]


def main():
    pairs, wrong = list(generated()), 0
    for path, script in pairs:
        name = path.relative_to(ROOT)
        if isinstance(script, str):
            print(f"{name}: there is no {script}")
            wrong += 1
            continue
        made = subprocess.run([sys.executable, str(script)], check=True, capture_output=True, text=True).stdout
        if made != path.read_text(encoding="utf-8"):
            print(f"{name}: not what {script.relative_to(ROOT)} prints (run it again)")
            wrong += 1
    wrong += subprocess.run([sys.executable, str(ROOT / "api/gen/generate.py"), "c", "--check"], check=False).returncode
    print(f"{len(pairs)} files, {wrong} things wrong")
    return 1 if wrong or not pairs else 0


if __name__ == "__main__":
    sys.exit(main())
