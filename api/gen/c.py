# SPDX-License-Identifier: Apache-2.0
"""c.py: what the table has in include/ingot/metal*.h: Apple's enumerators and the declarations of plain accessors.

The headers are written by hand, but for what stands between the braces of an enumeration of the table, whose place and
type are the header's, and for the declarations of the table's accessors: `MTL_API mtl_buffer_length();` says where one
shall stand. They lie in the tree, so that the headers are what programmers read, and a change of the public interface
is seen in review.
"""
import re
from accessors import Accessors
from types_ import Types

WIDTH = 100
BLOCK = re.compile(r"(?P<open>typedef enum (?P<enum>\w+) \{|typedef \w+ (?P<bits>\w+);[^\n]*\nenum \{)[^{}]*(?P<close>\})|"
                   r"(?P<type>typedef uint64_t (?P<big>\w+);\n)(?:#define \w+ \(\((?P=big)\)[^\n]*\n)+")

DECLARATION = re.compile(r"^MTL_API\b[^;{}()]*?\b(\w+)\([^;{}]*?\);", re.M)


def comments(rows):
    """Rows of (text, comment): comments of rows that follow each other stand in one column."""
    out, at = [], 0
    while at < len(rows):
        end = at
        while end < len(rows) and rows[end][1]:
            end += 1
        column = max((len(text) for text, _ in rows[at:end]), default=0)
        out += [f"{text.ljust(column)} // {doc}\n" for text, doc in rows[at:end]]
        if end < len(rows):
            out.append(rows[end][0] + "\n")
        at = end + 1
    return "".join(out)


def squeezed(text):
    """Without what formatting may change."""
    return re.sub(r"\s+", "", text)


def declare(text, declarations, seen):
    """The table's declarations for those that the text has; their names go into `seen`."""
    def one(found):
        if found[1] not in declarations:
            return found[0]
        seen.add(found[1])
        ours = declarations[found[1]]
        return found[0] if squeezed(found[0]) == squeezed(ours) else ours
    return DECLARATION.sub(one, text)


def header(api, path, text):
    """The header's text with the table's enumerators."""
    def block(found):
        e = api.enums.get(found["enum"] or found["bits"] or found["big"])
        if not e:
            return found[0]
        items = [i for i in e.items if "objc" not in i.marks]
        if found["big"]:  # wider than an int, which C's enumerators are
            return found["type"] + comments([(f"#define {i.name} (({e.name}){i.value})", i.doc) for i in items])
        body = comments([(f"    {i.name} = {i.value},", i.doc) for i in items])
        return f"{found['open']}{' // ' + e.doc if e.doc else ''}\n{body}}}"
    text = BLOCK.sub(block, text)
    long = [line for line in text.split("\n") if len(line) > WIDTH]
    if long:
        raise SystemExit(f"{path}: longer than {WIDTH} columns: {long[0]}")
    return text


def headers(api, include):
    """path -> text of every header of Metal's."""
    declarations, seen = Accessors(api, Types(api)).declarations(), set()
    out = {path: path.read_text() for path in sorted((include / "ingot").glob("metal*.h"))}
    out = {path: header(api, path, declare(text, declarations, seen)) for path, text in out.items()}
    if set(declarations) - seen:
        name = min(set(declarations) - seen)
        raise SystemExit(f"{name}: a row without a place (write MTL_API {name}(); in a header of include/ingot)")
    return out
