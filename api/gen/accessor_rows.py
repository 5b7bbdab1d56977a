# SPDX-License-Identifier: Apache-2.0
"""accessor_rows.py: reads the rows of the table (table.py) that are C's plain accessors (accessors.py), below a class:

    c FILE [check EXPRESSION] [setting EXPRESSION] [as WORD] [like A, B] [without C, D]
                                              the rows `.` behind it belong to that file of src. check: what a getter asks
                                              first (else: whether there is an object); setting: what a setter asks; like: also
                                              the rows of these lists, but for those of these names; there CLASS is the WORD
    c named A                                 a list of rows for several classes
    . NAME[: TYPE] [= FIELD] [else VALUE] [readonly]
                                              getter and setter of a property, by its type, its name in C and the field of
                                              that name. FIELD: a path in the struct, `label` or `label PATH` (a RtLabel), or an
                                              expression with `self`; VALUE: without an object. A NAME that is no property
                                              of the class is C's name and has a TYPE
    . NAME[: TYPE] => EXPRESSION              a getter that asks nothing itself
    . TYPE name(TYPE a, ...) => EXPRESSION    a method
"""
import collections
import re

Accessor = collections.namedtuple("Accessor", "name type params value otherwise readonly unguarded where")


class Group:
    """Accessors of a class in one file of src, or a list for several classes."""

    def __init__(self, file, **words):
        self.file, self.rows, self.name = file, [], words.get("named")
        self.check, self.setting, self.word = words.get("check"), words.get("setting"), words.get("as", "")
        self.like, self.without = ([w for w in words.get(key, "").split(", ") if w] for key in ("like", "without"))


def read_group(rest):
    """What stands behind `c`; None: not that."""
    parts = re.split(r"(?:^|\s)(check|setting|as|like|without|named)\s", rest)
    if len(parts[0].split()) > 1:
        return None
    return Group(parts[0].strip(), **dict(zip(parts[1::2], (p.strip() for p in parts[2::2]))))


def read_accessor(text, where):
    """What stands behind `.`; None: not that."""
    method = re.fullmatch(r"(.*?)(\w+)\((.*?)\) => (.*)", text)
    if method and " = " not in method[1] and ":" not in method[1]:
        params = [p for p in method[3].split(", ") if p]
        return Accessor(method[2], method[1].strip(), params, method[4], None, False, True, where)
    found = re.fullmatch(r"(\w+)(?:: ([^=]*?))?(?: (=>?) (.*?))?(?: else (.*?))?( readonly)?", text)
    return found and Accessor(found[1], found[2], None, found[4], found[5], bool(found[6]), found[3] == "=>", where)
