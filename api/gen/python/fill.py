# SPDX-License-Identifier: Apache-2.0
"""fill.py: the fields of Python's descriptors, and how libingot's structs are filled from them.

fill_NAME(o, to) stores numbers, strings, objects of the library and structs in structs; lists and pointers to other
descriptors are for hand-written code, which calls it too where the class's row says `fill`.
"""
from python.rows import quoted
from table import Property

STRUCT_OF = {"C_Size": "to_size", "C_Origin": "to_origin", "C_Range": "to_range", "C_ClearColor": "to_clear_color"}


def word(cls, name):
    """The word behind one of a class's python row."""
    return cls.python[cls.python.index(name) + 1] if name in cls.python else None


def spec(arg):
    """An ArgSpec of object.h."""
    text, value = arg.default or ("NULL", "0")
    kind = arg.kind
    number = kind.id if kind.kind in ("K_ENUM", "K_OBJECT", "K_LIST") else "0"
    return f'{{"{arg.name}", {kind.kind}, {number}, {text}, {value}, {"true" if kind.or_none else "false"}}}'


class Fill:
    def __init__(self, api, rules, headers, filler):
        self.api, self.rules, self.headers, self.filler = api, rules, headers, filler
        self.needed = set()  # names of the classes that somebody fills

    # ---- Fields ----

    def rows(self, cls):
        """(owner, row) of the class and of those above it, each name once."""
        seen, docs = set(), {}
        for owner in self.api.chain(cls) + [c for c in self.api.order if c.on == cls.name and c is not cls]:
            docs = {**owner.docs, **docs}
            for row in owner.rows:
                key = row.name if isinstance(row, Property) else row.selector
                if row.python and key not in seen:
                    seen.add(key)
                    yield owner, row._replace(python=(row.python[0], docs.get(key, row.python[1])))

    def fields(self, cls):
        """[(row, Argument)] in the order that the constructor has."""
        defaults = {}
        for one in reversed(self.api.chain(cls)):
            defaults.update({p.name: p.default for p in one.rows if isinstance(p, Property) and p.default}, **one.defaults)
        own, above = [], []
        for owner, row in self.rows(cls):
            if isinstance(row, Property):
                (own if owner is cls else above).append((row, self.rules.field(row, defaults.get(row.name))))
        above = [f for f in above if f[1].name != word(cls, "without")]
        behind = word(cls, "inherits")  # the field behind which those of the superclass stand
        at = len(own) if not behind else 0 if behind == "first" else [f[1].name for f in own].index(behind) + 1
        return own[:at] + above + own[at:]

    def table(self, cls):
        name = self.rules.class_name(cls)
        rows = "".join(f"    {{{spec(arg)}, {quoted(row.python[1])}, "
                       f"{'true' if self.rules.signature(row).readonly else 'false'}}},\n" for row, arg in self.fields(cls))
        return f"static const Field {name}_fields[] = {{\n{rows}    NO_FIELD,\n}};\n"

    # ---- Structs ----

    def struct(self, cls):
        """void fill_NAME(): the fields that are numbers, strings and objects of the library."""
        name, struct = self.rules.class_name(cls), self.filler.struct(cls)
        members, rows = self.headers.structs[struct], []
        for row, arg in self.fields(cls):
            turned, member = row.binding.startswith("!"), row.binding.lstrip("!.")
            if not row.binding or row.binding.split()[0] in ("after", "kept", "refused"):
                member = arg.name
            if member not in members:
                continue
            f, kind = members[member], arg.kind.kind
            flag = f" to->{member}_is_set = true;" if member + "_is_set" in members else ""
            if kind in ("K_U8", "K_U32", "K_U64", "K_ENUM") and "*" not in f.type:
                value = f'({f.type})field_u(o, "{arg.name}")'
            elif kind == "K_BOOL":
                value = f'{"!" if turned else ""}field_b(o, "{arg.name}")'
            elif kind == "K_DOUBLE":
                value = f'({f.type})field_f(o, "{arg.name}")'
            elif kind == "K_STR":
                value = f'field_s(o, "{arg.name}")'
            elif kind == "K_OBJECT":
                rows += self.fill_object(arg, f)
                continue
            else:
                continue
            rows.append(f"to->{member} = {value};{flag}")
        shared = "" if "fill" in cls.python else "static "
        return f"{shared}void fill_{name}(const Object *o, {struct} *to) {{\n" + "".join(f"    {r}\n" for r in rows) + "}\n"

    def fill_object(self, arg, f):
        """Statements; none where the struct has a pointer to another struct, which is for hand-written code."""
        name = arg.kind.id[2:]
        given, to = f'field_o(o, "{arg.name}")', f"to->{f.name}"
        if arg.kind.id in STRUCT_OF:
            return [f"if ({given}) {to} = {STRUCT_OF[arg.kind.id]}({given});"]
        if not self.filler.is_value(self.rules.classes[name]):
            return [f'{to} = field_p(o, "{arg.name}");'] if f.type.count("*") == 1 else []
        if self.filler.struct(self.rules.classes[name]) != f.type:
            return []
        self.needed.add(name)
        return [f"if ({given}) fill_{name}({given}, &{to});"]

    def source(self):
        """(functions that fill structs, declarations of those for hand-written code)."""
        made, header = {}, ""
        for c in self.rules.classes.values():
            if "fill" in c.python:
                self.needed.add(self.rules.class_name(c))
                header += f"void fill_{self.rules.class_name(c)}(const Object *o, {self.filler.struct(c)} *to);\n"
        while self.needed - set(made):  # one may need another
            for name in sorted(self.needed - set(made)):
                made[name] = self.struct(self.rules.classes[name])
        return "".join(reversed(made.values())), header
