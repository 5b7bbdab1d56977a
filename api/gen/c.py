# SPDX-License-Identifier: Apache-2.0
"""c.py: Apple's enumerators in include/ingot/metal*.h.

The headers are written by hand, but for what stands between the braces of an enumeration of the table: its place and
its type are the header's, its enumerators the table's. They lie in the tree, so that the headers are what programmers
read, and a change of the public interface is seen in review.
"""
import re

WIDTH = 100
BLOCK = re.compile(r"(?P<open>typedef enum (?P<enum>\w+) \{|typedef \w+ (?P<bits>\w+);[^\n]*\nenum \{)[^{}]*(?P<close>\})|"
                   r"(?P<type>typedef uint64_t (?P<big>\w+);\n)(?:#define \w+ \(\((?P=big)\)[^\n]*\n)+")


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
    """path -> text of every header that has enumerations of the table."""
    out = {path: path.read_text() for path in sorted((include / "ingot").glob("metal*.h"))}
    return {path: header(api, path, text) for path, text in out.items()}
