# SPDX-License-Identifier: Apache-2.0
"""classes.py: the classes of pymetal as C source, in the form of python/pymetal_ext/object.h.

Fields of descriptors, properties and methods are those rows that have a part of Python's. What python/pymetal_ext has by
hand joins the class by the words of its `python` row.
"""
from python.calls import Calls
from python.enums import NOTE
from python.fill import Fill, word
from python.rows import Rules, quoted
from table import Property

# What a class may have by hand: word of its row -> (member of Class, declaration).
HOOKS = {"slots": ("slots", "extern const PyType_Slot {}[]"), "props": ("own_props", "extern const Prop {}[]"),
         "free_aux": ("free_aux", "void {}(void *aux)"),
         "called": ("called", "void {}(Object *self, const Method *method, const Arg *a)")}


class Classes:
    def __init__(self, api, types, headers, faces):
        self.api, self.filler = api, faces.filler
        self.rules = Rules(api, types)
        self.fill = Fill(api, self.rules, headers, faces.filler)
        self.calls = Calls(api, types, headers, faces, self.rules, self.fill)
        self.hooks = {}  # declarations of what is by hand

    def source(self, cls):
        name, words = self.rules.class_name(cls), cls.python
        value = self.filler.is_value(cls)
        out, parts, listed, props = "", [], [], ""
        if value and self.fill.fields(cls):
            out += self.fill.table(cls)
            parts.append(f".fields = {name}_fields")
        for owner, row in self.fill.rows(cls):
            if isinstance(row, Property) and not value:
                functions, entry = self.calls.prop(cls, owner, row)
                out, props = out + functions, props + entry
            elif not isinstance(row, Property):
                method, text = self.calls.method(cls, owner, row)
                out += text
                listed.append(method)
        if props:
            out += f"static const Prop {name}_table[] = {{\n{props}    NO_PROP,\n}};\n"
            parts.append(f".props = {name}_table")
        if set(listed) & set(cls.hand):
            raise SystemExit(f"{cls.name}: by hand and in the table: {set(listed) & set(cls.hand)}")
        out += "".join(f"extern const Method {name}_{m};\n" for m in cls.hand)
        if listed or cls.hand:
            rows = "".join(f"&{name}_{m}, " for m in listed + cls.hand)
            out += f"static const Method *const {name}_methods[] = {{{rows}NULL}};\n"
            parts.append(f".methods = {name}_methods")
        return out + self.record(cls, name, words, parts)

    def record(self, cls, name, words, parts):
        """The Class."""
        for key, (member, declared) in HOOKS.items():
            if key in words:
                self.hooks[declared.format(word(cls, key)) + ";\n"] = None
                parts.append(f".{member} = {word(cls, key)}")
        if "factory" in words:
            parts.append(f'.factory = "{word(cls, "factory")}"')
        if "constructible" in words:
            parts.append(".constructible = true")
        above = self.api.classes.get(cls.parent)
        if above and above.python and self.filler.is_value(cls):
            parts.append(f".base = C_{self.rules.class_name(above)} + 1")
        if any(c.parent == cls.name and c.python for c in self.api.order) and self.filler.is_value(cls):
            parts.append(".subclassed = true")
        return f"DEFINE_CLASS({name}, {quoted(words[0])}, {', '.join(parts)});\n"

    def ordered(self):
        return sorted(self.rules.classes.values(), key=lambda c: len(self.api.chain(c)))

    def files(self):
        """name -> text."""
        bodies = [f"\n// ---- {self.rules.class_name(c)} ----\n\n{self.source(c)}" for c in self.ordered()]
        fills, header = self.fill.source()
        header = "".join(self.hooks) + header
        names = "".join(f"CLASS({self.rules.class_name(c)})\n" for c in self.ordered())
        return {"classes.def": f"{NOTE}{names}#undef CLASS\n",
                "table.h": f'{NOTE}#ifndef PYMETAL_TABLE_H\n#define PYMETAL_TABLE_H\n{header}#endif\n',
                "table.c": f'{NOTE}#include <float.h>\n#include <stdlib.h>\n#include "object.h"\n\n{fills}{"".join(bodies)}'}
