# SPDX-License-Identifier: Apache-2.0
"""accessors.py: plain accessors of the C API, from the rows `c` and `.` of the table (accessor_rows.py).

Their declarations stand in include/ingot where the header has them (c.py keeps them as the table says); their bodies are
written by the build into accessors/FOLDER/FILE.inc, which the file of src/runtime that owns the object includes.
"""
import collections
import re
from names import prefix, snake

NOTE = "// Written by api/gen/generate.py from api/*.api: do not edit.\n"
NUMBERS = {"NSUInteger": "size_t", "NSInteger": "long", "BOOL": "bool", "CFTimeInterval": "double",
           "MTLGPUAddress": "uint64_t", "NSRange": "MTLRange"}
LABEL = re.compile(r"label(?: (\S+))?")
Function = collections.namedtuple("Function", "name result params body where")  # params: with the object


class Accessors:
    def __init__(self, api, types):
        self.api, self.types = api, types

    def ctype(self, text):
        """A type of the table in include/ingot."""
        bare = re.sub(r"\b(nullable|null_resettable|nonnull|_Nullable|_Nonnull)\b", "", text).strip()
        kind = self.types.kind(text)
        if kind in ("string", "url"):
            return "const char *"
        if kind == "object":
            return re.search(r"<(\w+)>|(\w+) \*", bare)[0].strip("<> *") + " *"
        return NUMBERS.get(bare, bare)

    def nothing(self, ctype):
        """What a getter gives for no object."""
        if ctype == "const char *":
            return '""'
        if ctype.endswith("*"):
            return "NULL"
        if ctype == "bool":
            return "false"
        if ctype in self.api.structs or ctype == "MTLRange":
            return f"({ctype}){{0}}"
        return f"({ctype})0" if ctype in self.api.enums else "0"

    def property(self, cls, name):
        for one in self.api.chain(cls):
            for p in one.properties:
                if p.name == name:
                    return p
        return None

    def functions(self, cls, group):
        """All functions of the rows of a group, those of the lists that it is like first."""
        for name in group.like:
            if name not in self.api.lists:
                raise SystemExit(f"{cls.name}: no list {name}")
        rows = [row for name in group.like for row in self.api.lists[name].rows if row.name not in group.without] + group.rows
        for row in rows:
            yield from self.method(cls, group, row) if row.params is not None else self.pair(cls, group, row)

    def method(self, cls, group, row):
        """A function with arguments, or one that looks at its object itself."""
        call = self.expression(group, cls, row.value)
        body = f"{call};" if row.type == "void" else f"return {call};"
        yield Function(prefix(cls.name) + row.name, row.type, [f"{cls.name} *{self.object(cls)}", *row.params], body, row.where)

    def object(self, cls):
        """The name of the parameter: `state` of a MTLComputePipelineState."""
        return re.search(r"[A-Z][a-z0-9]*$", cls.name)[0].lower()

    def expression(self, group, cls, text):
        """A path of fields, or any expression with `self`; `CLASS`: what the group says."""
        if re.fullmatch(r"[a-z_]\w*(\[\w+\])?((\.|->)\w+)*", text):
            text = f"self->{text}"
        text = text.replace("CLASS", group.word)
        return re.sub(r"\bself\b", self.object(cls), text)

    def pair(self, cls, group, row):
        """The getter of a property, and its setter if it has one."""
        p = self.property(cls, row.name)
        if not p and not row.type:
            raise SystemExit(f"{row.where}: {cls.name} has no property {row.name}: name its type")
        ctype = row.type or self.ctype(p.type)
        name = snake(p.getter or p.name) if p else row.name
        me, field = self.object(cls), row.value or name
        label = LABEL.fullmatch(row.value or "")
        if label:
            field = self.expression(group, cls, label[1] or "label")
            value = f"rt_label(&{field})"
        else:
            value = field = self.expression(group, cls, field)
        if ctype in self.api.enums:
            value = f"({ctype}){value}" if re.fullmatch(r"[\w.>\[\]-]+|\w+\(.*\)", value) else f"({ctype})({value})"
        look = self.expression(group, cls, group.check) if group.check else me
        body = f"return {value};" if row.unguarded else f"return {look} ? {value} : {row.otherwise or self.nothing(ctype)};"
        yield Function(prefix(cls.name) + name, ctype, [f"const {cls.name} *{me}"], body, row.where)
        if p and not p.readonly and not row.readonly and not row.unguarded:
            yield self.setter(cls, group, row, p, ctype, f"rt_label_set(&{field}, %s)" if label else f"{field} = %s")

    def setter(self, cls, group, row, p, ctype, what):
        me, given = self.object(cls), snake(p.name)
        given = given + "_" if given == me else given
        look = group.setting or group.check
        look = self.expression(group, cls, look) if look else me
        return Function(f"{prefix(cls.name)}set_{snake(p.name)}", "void", [f"{cls.name} *{me}", joined(ctype, given)],
                        f"if ({look}) {what % given};", row.where)

    def all(self):
        """(class, group, function) of every row."""
        for cls in self.api.order:
            for group in cls.accessors:
                if group.file:
                    for f in self.functions(cls, group):
                        yield cls, group, f

    def files(self):
        """Path of a file to include -> its text."""
        out = collections.defaultdict(lambda: NOTE)
        for _, group, f in self.all():
            path = re.sub(r"^runtime/(.*)\.c$", r"\1.inc", group.file)
            out[path] += f"\n{joined(f.result, f.name)}({', '.join(f.params)}) {{\n    {f.body}\n}}\n"
        return dict(out)

    def declarations(self):
        """Name -> its declaration."""
        return {f.name: declaration(f) for _, _, f in self.all()}


def joined(ctype, name):
    return f"{ctype}{name}" if ctype.endswith("*") else f"{ctype} {name}"


def declaration(f, width=100):
    """In lines of at most `width` columns, as clang-format breaks them."""
    head = f"MTL_API {joined(f.result, f.name)}("
    line = f"{head}{', '.join(f.params)});"
    if len(line) <= width:
        return line
    rows = [head, "   "]
    for i, p in enumerate(f.params):
        text = p + (");" if i == len(f.params) - 1 else ",")
        if len(rows[-1]) + 1 + len(text) > width:
            rows.append("   ")
        rows[-1] += " " + text
    return "\n".join(rows)
