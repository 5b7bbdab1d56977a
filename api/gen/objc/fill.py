# SPDX-License-Identifier: Apache-2.0
"""fill.py: classes that hold values (descriptors): their memory, accessors, and how libingot's struct
is filled from them when a call needs it.

An object is {class, a slot for each property}, the superclass's slots first. Filling happens for each
call, so that no pointer into an object outlives it; what a struct points to lives in the call's arena.
"""
import re
from table import setter
from names import snake


class Filler:
    def __init__(self, api, types, headers):
        self.api, self.types, self.headers = api, types, headers

    def is_value(self, cls):
        """Instances are made by programs and are not libingot's."""
        return cls.values or (cls.kind in ("class", "array") and not cls.on)

    def struct(self, cls):
        name = cls.fills or cls.name
        return name if name in self.headers.structs else None

    # ---- Memory ----

    def slots(self, cls):
        """[(property, C type)] of the class and those above it."""
        out = []
        for one in reversed(self.api.chain(cls)):
            for p in one.properties:
                if p.binding != "hand" and all(p.name != q.name for q, _ in out):
                    out.append((p, self.types.c(p.type)))
        return out

    def memory(self, cls):
        if cls.kind == "array":
            return f"typedef struct O_{cls.name} {{\n    Class isa;\n    id items[{cls.count}];\n}} O_{cls.name};\n"
        rows = "".join(f"    {c} {p.name};\n".replace("* ", "*") for p, c in self.slots(cls))
        return f"typedef struct O_{cls.name} {{\n    Class isa;\n{rows}}} O_{cls.name};\n"

    def object_slots(self, cls):
        if cls.kind == "array":
            return [f"offsetof(O_{cls.name}, items[{i}])" for i in range(cls.count)]
        return [f"offsetof(O_{cls.name}, {p.name})" for p, c in self.slots(cls) if c == "id"]

    # ---- Methods ----

    def accessor(self, cls, message, p):
        """C source of a getter or setter, by the selector."""
        symbol, slot = symbol_of(cls, message), f"((O_{cls.name} *)self)->{p.name}"
        c = self.types.c(p.type)
        if message.selector == setter(p.name):
            refused = self.refusal(cls, message, p)
            if c != "id":
                store = f"{slot} = value;"
            else:
                store = f"face_store(&{slot}, value, {self.copies(p)});"
            return f"static void {symbol}(id self, SEL _cmd, {c} value) {{\n    (void)_cmd;\n{refused}    {store}\n}}\n"
        made = f"    face_make(&{slot}, \"{self.class_name(p.type)}\");\n" if self.made(p) else ""
        value = slot if c != "id" else f"face_lend({slot})"
        result = self.types.result(p.type)
        return f"static {result} {symbol}(id self, SEL _cmd) {{\n    (void)_cmd;\n{made}    return {value};\n}}\n"

    def assign(self, cls, message):
        """C source of an init... that stores its arguments in the slots of their names."""
        rows = "".join(f"    face_store(&o->{n}, {n}, {self.copies_type(t)});\n" if self.types.c(t) == "id"
                       else f"    o->{n} = {n};\n" for t, n in message.params)
        params = "".join(f", {self.types.c(t)} {n}".replace("* ", "*") for t, n in message.params)
        return (f"static id {symbol_of(cls, message)}(id self, SEL _cmd{params}) {{\n    (void)_cmd;\n"
                f"    O_{cls.name} *o = (O_{cls.name} *)self;\n{rows}    return self;\n}}\n")

    def refusal(self, cls, message, p):
        if not p.binding.startswith("refused"):
            return ""
        test = "" if self.types.kind(p.type) == "struct" else f"if (value != ({self.types.c(p.type)}){p.default or 0}) "
        return f"    {test}face_refuse(\"-[{cls.name} {message.selector}]\", \"{p.binding[8:]}\");\n"

    def copies(self, p):
        return self.copies_type(p.type)

    def copies_type(self, text):
        copied = self.types.kind(text) in ("string", "array", "dictionary", "url", "block")
        return "true" if copied else "false"

    def class_name(self, text):
        return re.sub(r"[^\w].*", "", self.types.bare(text).replace("const ", ""))

    def made(self, p):
        cls = self.api.classes.get(self.class_name(p.type))
        return p.made or p.type.startswith("null_resettable ") or bool(cls and cls.kind == "array")

    def init(self, cls):
        own = {}
        for one in reversed(self.api.chain(cls)):
            own.update({p.name: p.default for p in one.properties if p.default}, **one.defaults)
        rows = "".join(f"    o->{name} = {value};\n" for name, value in own.items())
        if not rows:
            return None
        return (f"static id init_{cls.name}(id self, SEL _cmd) {{\n    (void)_cmd;\n"
                f"    O_{cls.name} *o = (O_{cls.name} *)self;\n{rows}    return self;\n}}\n")

    # ---- Filling ----

    def fill(self, cls):
        struct = self.struct(cls)
        if cls.byhand:
            return ""
        rows = []
        for p, _ in self.slots(cls):
            row = self.fill_slot(cls, p, self.headers.structs[struct])
            if row:
                rows.append(row)
        after = f"    face_after_{cls.name}(o, to, arena);\n" if cls.after else ""
        return (f"{struct} *face_fill_{cls.name}({struct} *to, id from, FaceArena *arena) {{\n"
                f"    const O_{cls.name} *o = (const O_{cls.name} *)from;\n    (void)arena;\n"
                f"    if (!o) return NULL;\n    memset(to, 0, sizeof *to);\n"
                + "".join(f"    {r}\n" for r in rows) + after + "    return to;\n}\n")

    def fill_slot(self, cls, p, fields):
        binding = p.binding
        if binding == "after" or binding.startswith(("kept", "refused")):
            return None
        turned = binding.startswith("!")
        name = binding.lstrip("!.") if binding else self.field_name(p, fields)
        if name not in fields and p not in cls.properties and not binding:
            return None  # a property of the superclass that this kind does not need
        if name not in fields:
            raise SystemExit(f"{p.where}: no field {name} in {self.struct(cls)}")
        f, slot, kind = fields[name], f"o->{p.name}", self.types.kind(p.type)
        flag = f" to->{name}_is_set = true;" if name + "_is_set" in fields else ""
        if kind in ("number", "struct") and "*" not in f.type and not f.array:
            cast = f"({f.type})" if kind == "number" else ""
            return f"to->{name} = {'!' if turned else cast}{slot};{flag}"
        row = self.fill_object(p, f, slot, kind, fields)
        if not row:
            raise SystemExit(f"{p.where}: {p.type} does not fill {f.type} {name}")
        return row

    def field_name(self, p, fields):
        name = snake(p.name)
        return name if name in fields else name + "s"

    def fill_object(self, p, f, slot, kind, fields):
        to, struct = f"to->{f.name}", self.struct_named(f.type)
        if kind in ("string", "url") and f.type == "const char *":
            return f"{to} = face_{'utf8' if kind == 'string' else 'path'}({slot});"
        if kind == "array":
            count = f"to->{singular(f.name)}_count = face_count({slot});"
            item = re.search(r"<(\w+) \*>", p.type)
            if f.type == "const char *const *":
                return f"{to} = face_strings(arena, {slot}), {count}"
            if f.type.count("*") == 2 and not struct:
                return f"{to} = (void *)face_items(arena, {slot}), {count}"
            if struct and f.type.count("*") == 1 and item:
                return f"{to} = face_fill_all_{item[1]}({slot}, arena), {count}"
            return None
        if kind != "object":
            return None
        item = self.api.classes.get(self.class_name(p.type))
        if f.array and item and item.kind == "array":
            return (f"for (size_t i = 0; {slot} && i < sizeof {to} / sizeof *{to} && i < {item.count}; i++) "
                    f"face_fill_{item.item}(&{to}[i], ((O_{item.name} *){slot})->items[i], arena);")
        if struct and "*" in f.type:
            return f"{to} = face_fill_{item.name}(face_alloc(arena, sizeof *{to}), {slot}, arena);"
        if struct:
            return f"face_fill_{item.name}(&{to}, {slot}, arena);"
        return f"{to} = (void *){slot};" if f.type.count("*") == 1 else None

    def struct_named(self, ctype):
        name = re.sub(r"\bconst\b|\*", "", ctype).strip()
        return name if name in self.headers.structs else None

    def fill_all(self, cls):
        struct = self.struct(cls)
        if cls.byhand:
            return ""
        return (f"{struct} *face_fill_all_{cls.name}(id array, FaceArena *arena) {{\n"
                f"    size_t n = face_count(array);\n    id *items = face_items(arena, array);\n"
                f"    {struct} *all = face_alloc(arena, (n + 1) * sizeof *all);\n"
                f"    for (size_t i = 0; i < n; i++) face_fill_{cls.name}(&all[i], items[i], arena);\n"
                f"    return all;\n}}\n")

    def fill_prototypes(self, cls):
        struct = self.struct(cls)
        out = f"{struct} *face_fill_{cls.name}({struct} *to, id from, FaceArena *arena);\n"
        if not cls.byhand:
            out += f"{struct} *face_fill_all_{cls.name}(id array, FaceArena *arena);\n"
        if cls.after:
            out += f"void face_after_{cls.name}(const O_{cls.name} *from, {struct} *to, FaceArena *arena);\n"
        return out


def singular(name):
    return name[:-3] + "y" if name.endswith("ies") else name.rstrip("s")


def symbol_of(cls, message):
    return f"m_{cls.name}_{'class_' if message.static else ''}{message.selector.replace(':', '_')}"
