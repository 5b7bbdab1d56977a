# SPDX-License-Identifier: Apache-2.0
"""Apple's enumerators have one source, the table in api; what repeats them because it cannot be made of it says the same.

    python3 tests/house/check_enums.py

Compared with include/ingot, whose enumerators check_generated.py holds to the table:
  C          an enum of src with a comment "MTLName" or "= MTLName" at its first or last line: contracts, compiler
             and devices do not include the public headers. A name must mean the enumerator with its value:
             ABI_COMPARE_LESS_EQUAL is LessEqual of MTLCompareFunction.
  MSL        the enumerations of our Metal headers that host enumerations have as values (MSL below)
  tables     pixel_formats.def and vertex_formats.def: names and values
A number where an enumerator belongs (`case 70:` of a pixel format) is an error, too.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What names in C shorten, and enumerators that are ours: counts, and types that only kernels know.
WORDS = {"SRC": "SOURCE", "DST": "DESTINATION", "SRC1": "SOURCE1", "MS": "MULTISAMPLE"}
OURS = re.compile(r"_N_[A-Z]+$|^ABI_TENSOR_U?INT64$|^DT_U?INT4$")
# Enumerations of src/compiler/stdlib/detail that carry a host enumeration's values, and what MSL calls otherwise.
MSL = {"address": "MTLSamplerAddressMode", "border_color": "MTLSamplerBorderColor", "filter": "MTLSamplerMinMagFilter",
       "min_filter": "MTLSamplerMinMagFilter", "mag_filter": "MTLSamplerMinMagFilter",
       "mip_filter": "MTLSamplerMipFilter", "compare_func": "MTLCompareFunction", "primitive_type": "MTLPrimitiveType"}
MSL_WORDS = {"mirrored_repeat": "mirror_repeat", "none": "not_mipmapped"}


def members(body: str) -> dict[str, int]:
    """Name -> value of the text between the braces of an enum."""
    found, value = {}, -1
    for item in re.sub(r"//[^\n]*", "", body).split(","):
        match = re.fullmatch(r"\s*(\w+)\s*(?:=\s*(.+?))?\s*", item, re.S)
        if match:
            value = int(eval(match[2].replace("u", ""), {}, found)) if match[2] else value + 1
            found[match[1]] = value
    return found


def public() -> dict[str, dict[str, int]]:
    enums: dict[str, dict[str, int]] = {}
    for path in sorted((ROOT / "include/ingot").glob("*.h")):
        for match in re.finditer(r"typedef enum (\w+) \{(.*?)\} \1;", path.read_text(), re.S):
            enums[match[1]] = members(match[2])
    return enums


def words(name: str) -> list[str]:
    """Upper-case words of LessEqual or LESS_EQUAL, in the long spelling."""
    if "_" in name or name.isupper():
        return [WORDS.get(w, w) for w in name.split("_")]
    return [w.upper() for w in re.findall(r"[A-Z]+(?![a-z])[0-9]*|[A-Z][a-z]*[0-9]*|[0-9]+[A-Z]?", name)]


def is_within(some: list[str], those: list[str]) -> bool:
    rest = iter(those)
    return all(w in rest for w in some)


class Check:
    def __init__(self) -> None:
        self.enums, self.n, self.wrong = public(), 0, []

    def compare(self, where: str, name: str, value: int, expected: "int | None") -> None:
        self.n += 1
        if expected is None:
            self.wrong.append(f"{where}: {name} is not in the public headers")
        elif expected != value:
            self.wrong.append(f"{where}: {name} is {value} here and {expected} in the public headers")

    def meant(self, apple: str, parts: list[str]) -> "int | None":
        """The value of the enumerator with this name, or of the one that says the least beside these words; they
        may repeat what the enumeration is called."""
        there = {n[len(apple):]: v for n, v in self.enums[apple].items()}
        for n, v in there.items():
            if n.upper() == "".join(parts):
                return v
        for some in parts, [w for w in parts if w not in words(apple[3:])]:
            close = [(len(words(n)), v) for n, v in there.items() if some and is_within(some, words(n))]
            if close:
                return min(close)[1]
        return None

    def c_enum(self, path: pathlib.Path, apple: str, body: str) -> None:
        there = self.enums.get(apple)
        where = str(path.relative_to(ROOT))
        if there is None:
            self.wrong.append(f"{where}: there is no {apple}")
            return
        mine = members(body)
        shared = re.match(r"(?:[A-Z0-9]+_)*", min(mine))[0]
        while not all(n.startswith(shared) for n in mine):
            shared = re.sub(r"[A-Z0-9]+_$", "", shared)
        for name, value in mine.items():
            if OURS.search(name):
                continue
            parts = words(name[len(shared):])
            self.compare(where, f"{name} ({apple})", value, self.meant(apple, parts))

    def c(self) -> None:
        enum = re.compile(r"enum(?: \w+)? \{(?: *// =? ?(MTL\w+)[^\n]*)?([^{}]*)\}(?: \w+)?;(?: *// =? ?(MTL\w+))?")
        for path in sorted((ROOT / "src").rglob("*.[ch]")):
            if "runtime" not in path.parts and "face" not in path.parts:
                for match in enum.finditer(path.read_text()):
                    if match[1] or match[3]:
                        self.c_enum(path, match[1] or match[3], match[2])

    def msl(self) -> None:
        found = {}
        for path in sorted((ROOT / "src/compiler/stdlib/detail").glob("*.h")):
            text = path.read_text().replace("\\\n", "\n")
            for macro, body in re.findall(r"#define (__MSL_\w+)\(NAME\)\s+enum class NAME \{(.*?)\};", text, re.S):
                for name in re.findall(macro + r"\((\w+)\)", text):
                    found[name] = path, members(body)
            for name, body in re.findall(r"enum class (\w+) \{(.*?)\};", text, re.S):
                found.setdefault(name, (path, members(body)))
        for name, apple in MSL.items():
            path, mine = found.get(name, (None, {}))
            if len(mine) < 2:
                self.wrong.append(f"src/compiler/stdlib: there is no enum class {name}")
            for member, value in mine.items():
                parts = words(MSL_WORDS.get(member, member).upper())
                self.compare(f"stdlib {path.name}", f"{name}::{member}", value, self.meant(apple, parts))

    def numbers(self) -> None:
        """switch statements over values of Apple's, where they are known by the name of what is switched over."""
        fields = r"[^\n]*?(?:->|\.)(?:value|pixel_format|data_type|compare|step)"
        switch = re.compile(r"switch \((?:" + fields + r"|function)\) \{(.*?)\n    \}", re.S)
        for path in sorted((ROOT / "src").rglob("*.[ch]")):
            for body in switch.findall(path.read_text()):
                self.n += 1
                for number in re.findall(r"case (\d+):", body):
                    self.wrong.append(f"{path.relative_to(ROOT)}: case {number} stands for an enumerator")

    def tables(self) -> None:
        for table, apple in ("pixel_formats.def", "MTLPixelFormat"), ("vertex_formats.def", "MTLVertexFormat"):
            path = next((ROOT / "src").rglob(table))
            for name, value in re.findall(r"\b(?:V|ABI_PIXEL_FORMAT)\((\w+), (\d+),", path.read_text()):
                self.compare(table, name, int(value), self.enums[apple].get(apple + name))


def main() -> int:
    check = Check()
    check.c(), check.msl(), check.numbers(), check.tables()
    for line in check.wrong:
        print(line)
    print(f"{check.n} enumerators compared, {len(check.wrong)} things wrong")
    return 1 if check.wrong or check.n < 350 else 0


if __name__ == "__main__":
    sys.exit(main())
