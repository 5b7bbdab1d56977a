# SPDX-License-Identifier: Apache-2.0
"""rows.py: what a row of the table is in Python: its name, its arguments, its type.

The rule: a name is that of the C function without the object's, or the property's in snake case; an argument has the
name of Apple's parameter and the kind of its type; what Apple calls nullable may be None. Where pymetal's is another,
the row says so before the docstring:

    of a property:  [NAME][: KIND][ = DEFAULT][ -> TYPE][ readonly]
    of a method:    [NAME][(ARGUMENT[: KIND][ = DEFAULT], ...)][ -> TYPE][ raises ERROR "TEXT"][ nogil]

A kind is a class, an enumeration, a list of a class ([Function]) or one of KINDS and SLOTS; `?` behind it: or None.
raises: what NULL or false becomes, with the error's text behind TEXT; nogil: other Python threads run meanwhile.
"""
import collections
import re

from names import snake
from python.enums import members, plain_name

KINDS = {"u8": "K_U8", "u32": "K_U32", "u64": "K_U64", "bool": "K_BOOL", "float": "K_DOUBLE", "str": "K_STR",
         "text": "K_TEXT", "path": "K_PATH", "grid": "K_GRID", "extents": "K_EXTENTS", "event": "K_EVENT", "any": "K_ANY",
         "macros": "K_MACROS", "strings": "K_STRINGS", "captured": "K_CAPTURED"}
# Indices as PyMetal checks them: what they count, the highest one, and how many Metal has (PyMetal accepts one more, which
# binds nothing).
SLOTS = {"buffer_slot": ("buffer", 31, 31), "texture_slot": ("texture", 31, None), "sampler_slot": ("sampler", 16, 16),
         "threadgroup_slot": ("threadgroup memory", 31, 31)}
NUMBERS = {"BOOL": "K_BOOL", "uint8_t": "K_U8", "uint32_t": "K_U32", "float": "K_DOUBLE", "double": "K_DOUBLE",
           "CFTimeInterval": "K_DOUBLE", "NSUInteger": "K_U64", "uint64_t": "K_U64", "NSInteger": "K_U64", "int64_t": "K_U64"}
STRUCTS = {"MTLSize": "Size", "MTLOrigin": "Origin", "NSRange": "Range", "MTLClearColor": "ClearColor"}
SIGNATURE = re.compile(r"(?P<name>(?!nogil\b|raises\b|readonly\b)\w+)?(?:\((?P<args>[^()]*)\))?(?:: (?P<kind>\[?\w+\]?\??))?"
                       r"(?: ?= (?P<default>[^>]+?))?(?: ?-> (?P<type>.+?))?"
                       r'(?: ?raises (?P<error>\w+) "(?P<prefix>[^"]*)")?(?P<nogil> ?nogil)?(?P<readonly> ?readonly)?$')

Kind = collections.namedtuple("Kind", "kind id or_none")
Argument = collections.namedtuple("Argument", "name kind default type")  # default: (text, C value) or None; type: Apple's
Signature = collections.namedtuple("Signature", "name args kind default type error prefix nogil readonly")


def quoted(text):
    """As C writes it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Rules:
    def __init__(self, api, types):
        self.api, self.types = api, types
        self.enums = {plain_name(e.name): e for e in api.enums.values() if e.python and e.python[0] != "constants"}
        self.values = {i.name: i.value for e in api.enums.values() for i in e.items}
        self.classes = {self.class_name(c): c for c in api.order + api.ours if c.python}
        self.own = {"Origin", "Size", "Range", "ClearColor"}

    @staticmethod
    def class_name(cls):
        words = cls.python
        return words[words.index("name") + 1] if "name" in words else plain_name(cls.name)

    def signature(self, row):
        found = SIGNATURE.match(row.python[0])
        if not found:
            raise SystemExit(f"{row.where}: not a signature: {row.python[0]}")
        return Signature(**found.groupdict())

    # ---- Kinds ----

    def kind(self, text, cls=None):
        """The kind that a type of Apple's has; None: there is none."""
        t = self.types.bare(text)
        or_none = "nullable" in text or "_Nullable" in text
        if t in self.api.enums:
            return self.enumeration(self.api.enums[t])
        if t in NUMBERS:
            return Kind(NUMBERS[t], "0", False)
        if t == "MTLResourceID":
            return Kind("K_U64", "0", False)
        if t in STRUCTS:
            grid = t == "MTLSize" and cls and cls.name.startswith("MTL4")
            return Kind("K_GRID", "0", False) if grid else Kind("K_OBJECT", "C_" + STRUCTS[t], False)
        if t.startswith("NSString"):
            return Kind("K_STR", "0", False)
        if t.startswith("NSURL"):
            return Kind("K_PATH", "0", or_none)
        if t.startswith("MTLTensorExtents"):
            return Kind("K_EXTENTS", "0", or_none)
        if t == "id<MTLEvent>":
            return Kind("K_EVENT", "C_Event", False)
        if t in ("id<MTLResource>", "id<MTLAllocation>"):
            return Kind("K_ANY", "0", False)
        return self.objects(t, or_none)

    def enumeration(self, e):
        if plain_name(e.name) in self.enums:
            return Kind("K_ENUM", "E_" + plain_name(e.name), False)
        wide = any(i.value == "INT64_MAX" for i in e.items)
        return Kind("K_U64" if wide else "K_U32", "0", False)

    def objects(self, t, or_none):
        listed = re.match(r"NSArray<(?:id<)?(\w+)", t) or re.match(r"const id<(\w+)>.*\]$", t)
        name = listed[1] if listed else (re.match(r"(?:id<)?(\w+)", t) or [""])[0].removeprefix("id<")
        cls = self.api.classes.get(name)
        if not cls or not cls.python:
            return None
        return Kind("K_LIST" if listed else "K_OBJECT", "C_" + self.class_name(cls), or_none and not t.endswith("]"))

    def named_kind(self, word, where):
        """A kind as a row writes it."""
        name = word.rstrip("?")
        if name in SLOTS:
            return Kind("K_U32", name, False)
        if name in KINDS:
            return Kind(KINDS[name], "0", word.endswith("?"))
        if name in self.enums:
            return Kind("K_ENUM", "E_" + name, word.endswith("?"))
        if name in self.classes or name in self.own:
            return Kind("K_OBJECT", "C_" + name, word.endswith("?"))
        if name.strip("[]") in self.classes:
            return Kind("K_LIST", "C_" + name.strip("[]"), True)
        raise SystemExit(f"{where}: unknown kind '{word}'")

    def default(self, kind, text):
        """(as Python writes it, as C does)."""
        if text == "None":
            return quoted("None"), "0"
        if kind.kind == "K_ENUM":
            e = self.enums[kind.id[2:]]
            for name, full in members(e):
                if text in (name, full) or self.number(full) == self.number(text):
                    return quoted(f"{kind.id[2:]}.{name}"), full
        if kind.kind == "K_BOOL":
            return (quoted("True"), "true") if text in ("true", "True") else (quoted("False"), "false")
        if kind.kind == "K_STR":
            return quoted('""'), "0"
        number = self.number(text)
        return quoted(text if number is None else str(number)), text

    def number(self, text):
        """Of an enumerator or a literal; None: something else."""
        text = self.values.get(text, text).strip("()")
        number, _, shift = text.partition(" << ")
        try:
            return int(number, 0) << int(shift or "0", 0)
        except ValueError:
            return None

    # ---- Arguments of methods ----

    def arguments(self, row, cls):
        """Of a method; None where a parameter has no kind."""
        signature = self.signature(row)
        given = [self.argument_text(a.strip(), row.where) for a in signature.args.split(",") if a.strip()] \
            if signature.args is not None else []
        params = [p for p in row.params if self.types.kind(p[0]) != "error"]
        if any(text.endswith("]") for text, _ in params):  # a list knows its length
            params.remove(("NSUInteger", "count"))
        if given and len(given) != len(params):
            raise SystemExit(f"{row.where}: {len(given)} arguments for {len(params)}")
        out = []
        for i, (text, name) in enumerate(params):
            own, word, default = given[i] if given else (None, None, None)
            kind = self.named_kind(word, row.where) if word else self.kind(text, cls)
            if not kind:
                return None
            if default == "None":
                kind = kind._replace(or_none=True)
            out.append(Argument(own or snake(name), kind, self.default(kind, default) if default else None, text))
        return out

    @staticmethod
    def argument_text(text, where):
        found = re.fullmatch(r"(\w+)(?:: (\[?\w+\]?\??))?(?: = (.+))?", text)
        if not found:
            raise SystemExit(f"{where}: not an argument: {text}")
        return found.groups()

    # ---- Fields of descriptors ----

    def field(self, row, default):
        """A descriptor's property; `default`: Apple's, as C writes it, or None."""
        signature = self.signature(row)
        kind = self.named_kind(signature.kind, row.where) if signature.kind else self.kind(row.type)
        if not kind:
            raise SystemExit(f"{row.where}: {row.type} has no kind in Python")
        default = signature.default or default
        name = signature.name or snake(row.name)
        if kind.kind == "K_OBJECT" and not signature.kind:
            if row.made or row.type.startswith("null_resettable ") or row.type == "MTLClearColor":
                return Argument(name, kind._replace(or_none=False), (quoted("new"), "0"), row.type)
            kind = kind._replace(or_none=True)
        if kind.kind == "K_LIST":
            return Argument(name, kind._replace(or_none=True), (quoted("()"), "0"), row.type)
        if kind.or_none:
            return Argument(name, kind, (quoted("None"), "0"), row.type)
        return Argument(name, kind, self.default(kind, default or "0"), row.type)

    # ---- Types as Python writes them ----

    def shown(self, text):
        """The type of a result or a property that is read."""
        kind = self.kind(text)
        if self.types.bare(text) == "void":
            return "None"
        if self.types.bare(text) == "MTLSizeAndAlign":
            return "tuple[int, int]"
        if self.types.bare(text).startswith("NSError"):
            return "MetalError | None"
        if self.types.bare(text).startswith("NSArray"):
            return f"list[{kind.id[2:] if kind else 'str'}]"
        names = {"K_BOOL": "bool", "K_DOUBLE": "float", "K_STR": "str"}
        if kind.kind in ("K_ENUM", "K_OBJECT", "K_EVENT"):
            return kind.id[2:] + (" | None" if kind.or_none and kind.kind == "K_OBJECT" else "")
        return names.get(kind.kind, "int")
