# SPDX-License-Identifier: Apache-2.0
"""Holds the names of files in src to words that a newcomer knows: those of the field, or of our glossary.

    python3 tests/house/check_names.py [ROOT]

The words of a name stand between underscores. tests/house/vocabulary.txt lists words of the field and plain English;
the first column of docs/internals/glossary.md explains the rest. A plural counts as its singular. Files named after a
class of Apple's (NSString.m) have Apple's name. Prints one line for each unknown word.
"""
import pathlib
import re
import sys

VOCABULARY = "tests/house/vocabulary.txt"
GLOSSARY = "docs/internals/glossary.md"
APPLE = re.compile(r"(NS|CA|CF|CG|MTK|MTL|MPS|IO)[A-Z][A-Za-z0-9]+|CoreFoundation|MetalPerformancePrimitives")


def singulars(word):
    """The word itself, and what it may be the plural of."""
    return {word, word[:-1] if word.endswith("s") else word, word[:-2] if word.endswith("es") else word,
            word[:-3] + "y" if word.endswith("ies") else word}


def words_of(path):
    base = path.name.split(".")[0]
    if not base or base == "CMakeLists" or APPLE.fullmatch(base):
        return []
    parts = re.sub(r"([a-z])([A-Z])", r"\1_\2", base).lower()
    return [w for w in re.split(r"[_+-]+", parts) if w and not w.isdigit()]


def glossary_words(text):
    """The words of the first column of its tables."""
    rows = re.findall(r"^\| ([^|]+) \|", text, re.M)
    return {w for row in rows for w in re.findall(r"[a-z][a-z0-9]*", row.lower())}


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2])
    lines = (root / VOCABULARY).read_text(encoding="utf-8").splitlines()
    known = {w for line in lines if not line.startswith("#") for w in line.split()}
    explained = glossary_words((root / GLOSSARY).read_text(encoding="utf-8"))
    wrong, n = [], 0
    for path in sorted(p for p in (root / "src").rglob("*") if p.is_file()):
        n += 1
        for word in words_of(path):
            if not singulars(word) & (known | explained):
                wrong.append(f"{path.relative_to(root)}: '{word}': use the field's word, or explain it in {GLOSSARY}; "
                             f"if it is one, add it to {VOCABULARY}")
    print("\n".join(wrong + [f"{n} files, {len(wrong)} things wrong"]))
    return 1 if wrong or n < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
