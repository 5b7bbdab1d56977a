# SPDX-License-Identifier: Apache-2.0
"""spelling.py: Swift's names of properties and enumerators, as the importer of Swift makes them from Apple's headers
(that of methods: names.py). A row whose name is another has it as a mark."""
import re

from names import low

KEYWORDS = set("""as break case class continue default do else enum extension false for func if import in init internal is let
                  nil operator private protocol public repeat return self static struct super switch throw true try var
                  where while""".split())


def tick(name):
    return f"`{name}`" if name in KEYWORDS else name


def words(name):
    return re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]+\d*(?![a-z])|[A-Z][a-z]+|[a-z]+|\d+|_", name)


def property_name(p):
    return p.swift or low(p.getter or p.name)


def common_words(enum, names):
    """The words that the type and all of its enumerators begin with."""
    common = words(enum)
    for name in names:
        w = words(name)
        if len(w) >= len(common) and common[-1] == w[len(common) - 1] + "s":  # MTLStages has MTLStageVertex
            common[-1] = common[-1][:-1]
        common = [x for i, x in enumerate(common) if w[:i + 1] == common[:i + 1]]
    # Where a digit would begin one, the word before it stays, of all of them: .type2D and .typeCube.
    if any(n[len("".join(common)):][:1].isdigit() or n == "".join(common) for n in names):
        common.pop()
    return common


def lower_first(text):
    """As low(), but a type's letters are one word: uint16 of UInt16."""
    return low(re.sub(r"^(UInt|UShort|UChar|ULong|BFloat)", lambda m: m[1].lower(), text))


def format_case(rest):
    """rgba8Unorm_srgb, rgb10a2Unorm, astc_4x4_hdr: the parts between underlines one by one."""
    parts = re.sub(r"^(UInt|UShort|UChar|ULong|BFloat)", lambda m: m[1].lower(), rest).split("_")
    parts = [re.sub(r"^[A-Z0-9]+(?=[A-Z][a-z]|$)", lambda m: m[0].lower(), p) for p in parts]
    return "_".join(p.lower() if p in ("sRGB", "Stencil8") or p.isupper() else low(p) for p in parts)


def case(e, item):
    """MTLStorageModeShared is .shared."""
    if item.swift:
        return item.swift
    rest = item.name[len("".join(common_words(e.name, [i.name for i in e.items]))):].lstrip("_")
    return format_case(rest) if e.name in ("MTLPixelFormat", "MTLDataType") else lower_first(rest)
