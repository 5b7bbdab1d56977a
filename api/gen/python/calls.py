# SPDX-License-Identifier: Apache-2.0
"""calls.py: properties and methods that are one call of libingot, as C source.

Arguments are converted by their kind, the result by Apple's type.
"""
import re

from names import prefix, snake
from objc.bind import RETAINED, Unbound
from python.fill import STRUCT_OF, spec
from python.rows import SLOTS, quoted
from table import Method, setter

PASSED = {"K_BOOL": "a[{0}].b", "K_STR": "a[{0}].s", "K_TEXT": "a[{0}].s", "K_PATH": "a[{0}].s", "K_EVENT": "a[{0}].p",
          "K_GRID": "to_grid(a[{0}].py)"}


class Calls:
    def __init__(self, api, types, headers, faces, rules, fill):
        self.api, self.types, self.headers, self.faces, self.rules, self.fill = api, types, headers, faces, rules, fill

    # ---- The function of a row ----

    def function(self, cls, owner, method):
        """The C function that a message of the row reaches."""
        if method.binding == "hand":  # Objective-C's is; Python's goes by the rule
            method = method._replace(binding="")
        for name in self.faces.functions(cls, owner, method):
            if name in self.headers.functions:
                try:
                    self.faces.binder.bind(method, name, "m", method.binding.partition(" ")[2])
                    return self.headers.functions[name]
                except Unbound:
                    continue
        raise SystemExit(f"{method.where}: no C function of {method.selector}")

    def plain(self, cls, owner, function):
        """A function's name without the object's."""
        for one in [cls] + self.api.chain(owner):
            start = prefix(one.on or one.name)
            if function.name.startswith(start):
                return function.name[len(start):]
        return re.sub(r"^(mtl4?|ca)_", "", function.name)

    # ---- Properties ----

    def result(self, text, call, new=False):
        """The Python object of what a call gives."""
        kind, t = self.rules.kind(text), self.types.bare(text)
        if t == "MTLSizeAndAlign":
            return f"from_size_and_align({call})"
        if t.startswith("NSError"):
            return f"error_object(state, {call})"
        if not kind:
            raise SystemExit(f"{call}: {text} has no kind in Python")
        if t == "MTLResourceID":
            return f"from_u64({call}.impl)"
        if t == "MTLSize":
            return f"from_size3(state, {call})"
        if kind.kind in ("K_OBJECT", "K_EVENT") and kind.id[2:] in self.rules.classes:
            if new:
                return f"wrap_new(state, {kind.id}, {call})"
            if "kept" in self.rules.classes[kind.id[2:]].python:
                return f"wrap_owned_by(state, {kind.id}, {call}, self)"
            return f"wrap(state, {kind.id}, {call})"
        how = {"K_BOOL": "from_bool({})", "K_DOUBLE": "from_double({})", "K_STR": "from_str({})", "K_U64": "from_u64({})",
               "K_U32": "from_u64({})", "K_U8": "from_u64({})", "K_ENUM": f"from_enum(state, {kind.id}, (long){{}})"}
        if kind.kind not in how:
            raise SystemExit(f"{call}: {text} is no result")
        return how[kind.kind].format(call)

    def getter(self, p, f):
        """Statements that give a property's value."""
        if "array" not in p.binding.split():
            return f"    return {self.result(p.type, f'{f.name}(self->native)', new='owned' in p.binding.split())};\n"
        item = re.search(r"<(.*)>", self.types.bare(p.type))[1]
        one = self.result(item, f"{f.name}(self->native, i)")
        return (f"    PyObject *list = PyList_New(0);\n    for (size_t i = 0; list && i < {f.name}_count(self->native); i++)\n"
                f"        list = list_with(list, {one});\n    return list;\n")

    def prop(self, cls, owner, p):
        """(functions, row of the table) of a property that asks the library."""
        name, signature = self.rules.class_name(cls), self.rules.signature(p)
        get = Method(False, p.type, p.getter or p.name, [], p.binding, p.where)
        f = self.function(cls, owner, get)
        prop = signature.name or (snake(p.name) if "array" in p.binding.split() else self.plain(cls, owner, f))
        out = (f"static PyObject *{name}_get_{prop}(Object *self, State *state) {{\n    (void)state;\n"
               f"{self.getter(p, f)}}}\n")
        shown = signature.type or self.rules.shown(p.type)
        if p.readonly:
            return out, f'    {{"{prop}", "{shown}", {quoted(p.python[1])}, {name}_get_{prop}, NULL, ANY("{prop}")}},\n'
        f = self.function(cls, owner, Method(False, "void", setter(p.name), [(p.type, "value")], p.binding, p.where))
        arg = self.rules.field(p._replace(python=(f": {signature.kind}" if signature.kind else "", "")), None)
        arg = arg._replace(name=prop, default=("\"None\"", "0") if arg.kind.or_none else None)
        value = self.passed(arg, 0, f.params[1][0]).replace("a[0]", "v[0]")
        out += (f"static void {name}_set_{prop}(Object *self, State *state, const Arg *v) {{\n    (void)state;\n"
                f"    {f.name}(self->native, {value});\n}}\n")
        return out, (f'    {{"{prop}", "{shown}", {quoted(p.python[1])}, {name}_get_{prop}, {name}_set_{prop}, '
                     f'{spec(arg)}}},\n')

    # ---- Methods ----

    def passed(self, arg, i, ctype):
        """The C argument of a Python one."""
        kind = arg.kind
        if kind.kind in PASSED:
            return PASSED[kind.kind].format(i)
        if kind.id in STRUCT_OF:
            return f"{STRUCT_OF[kind.id]}(a[{i}].o)"
        if kind.kind == "K_OBJECT":
            return f"a[{i}].p"
        if kind.kind == "K_DOUBLE":
            return f"({ctype})a[{i}].f" if ctype != "double" else f"a[{i}].f"
        if self.types.bare(arg.type) == "MTLResourceID":
            return f"(MTLResourceID){{a[{i}].u}}"
        if kind.kind in ("K_U8", "K_U32", "K_U64", "K_ENUM"):
            return f"a[{i}].u" if ctype in ("size_t", "uint64_t") else f"({ctype})a[{i}].u"
        raise SystemExit(f"{arg.name}: {arg.type} is no argument of a plain call")

    def struct_of(self, arg):
        """The struct that an argument fills, if it is a descriptor."""
        cls = self.rules.classes.get(arg.kind.id[2:]) if arg.kind.kind == "K_OBJECT" else None
        return self.faces.filler.struct(cls) if cls and self.faces.filler.is_value(cls) else None

    def zero(self, struct):
        """What a struct is before it is filled."""
        make = "mtl_" + snake(struct.removeprefix("MTL")) + "_make_default"
        return make + "()" if make in self.headers.functions else "{0}"

    def carry_descriptor(self, arg, i, struct):
        name = arg.kind.id[2:]
        self.fill.needed.add(name)
        test = f"if (a[{i}].o) " if arg.kind.or_none else ""
        return [f"{struct} d{i} = {self.zero(struct)};", f"{test}fill_{name}(a[{i}].o, &d{i});"], f"&d{i}"

    def carry(self, arg, i, ctype, method):
        """(statements before the call, its argument)."""
        struct, into = self.struct_of(arg), self.faces.binder.struct_of(ctype) if "*" in ctype else None
        if struct:
            return self.carry_descriptor(arg, i, struct)
        if arg.kind.kind == "K_EXTENTS":
            return [f"MTLTensorExtents e{i};", f"to_extents(a[{i}].py, &e{i});"], f"&e{i}"
        if arg.kind.kind == "K_LIST":
            check = f'if (!list_natives(state, a[{i}].py, {arg.kind.id}, "{arg.name}", &n{i}, &count{i})) return NULL;'
            return [f"void **n{i};", f"size_t count{i};", check], f"(void *)n{i}, count{i}"
        if arg.kind.kind == "K_ANY":
            kind = re.search(r"MTL(\w+)", arg.type)[1]
            named = f', "{method}"' if kind == "Resource" else ""
            return [f"MTL{kind} *r{i} = to_{kind.lower()}(state, a[{i}].py{named});", f"if (!r{i}) return NULL;"], f"r{i}"
        if into:  # one number of a descriptor stands for it
            field = self.headers.structs[into][arg.name]
            return [], f"&({into}){{.{arg.name} = {self.passed(arg, i, field.type)}}}"
        return [], self.passed(arg, i, ctype)

    def slots(self, args, method):
        """(statements that check indices, the condition under which the call is made)."""
        checks, conditions = [], []
        for i, arg in enumerate(args):
            if arg.kind.id in SLOTS:
                what, most, n = SLOTS[arg.kind.id]
                checks.append(f'if (!check_index(state, "{method}", "{what}", a[{i}].u, {most})) return NULL;')
                conditions += [f"a[{i}].u < {n}"] * bool(n)
        return checks, f"if ({' && '.join(conditions)}) " if conditions else ""

    def method(self, cls, owner, m):
        """(name, C source)."""
        name, signature = self.rules.class_name(cls), self.rules.signature(m)
        f = self.function(cls, owner, m)
        args = self.rules.arguments(m, cls)
        if args is None:
            raise SystemExit(f"{m.where}: a parameter has no kind in Python")
        method = signature.name or self.plain(cls, owner, f)
        before, test = self.slots(args, f"{name}.{method}")
        lists = any(arg.kind.kind == "K_LIST" for arg in args)
        if (lists or test) and m.result != "void" or signature.nogil and (lists or test or any(map(self.struct_of, args))):
            # What a struct points to may change meanwhile; lists and conditions have no other form yet.
            raise SystemExit(f"{m.where}: no plain call")
        given, behind, places = [], [], [p for p, n in f.params[1:] if not (lists and n == "count")]
        for i, arg in enumerate(args):
            more, one = self.carry(arg, i, places[i], method)
            before += more
            given.append(one)
            behind += [f"free(n{i});"] * (arg.kind.kind == "K_LIST")
        how = m.binding.partition(" ")[2]
        given += how[5:].split(", ") if how.startswith("with ") else ["&error"] * bool(signature.error)
        call = f"{f.name}({', '.join(['self->native'] + given)})"
        body = self.body(m, f, signature, test + call, behind)
        lines = "".join(f"    {line}\n" for line in ([] if args else ["(void)a;"]) + before + body)
        shown = signature.type or ("None" if signature.error and m.result == "BOOL" else self.rules.shown(m.result))
        head = f'{name}, {method}, "{shown}", {quoted(m.python[1])}'
        if not args:
            return method, f"METHOD0({head}) {{\n{lines}}}\n"
        specs = ",\n       ".join(spec(arg) for arg in args)
        return method, f"METHOD({head},\n       {specs}) {{\n{lines}}}\n"

    def body(self, m, f, signature, call, behind):
        """The call and what it gives."""
        if signature.error:
            return self.raising(m, f, signature, call)
        if m.result == "void":
            return [f"WITHOUT_GIL({call});" if signature.nogil else f"{call};"] + behind + ["return none(state);"]
        new = bool(RETAINED.match(m.selector)) or "owned" in m.binding.split()
        if not signature.nogil:
            return ["(void)state;", f"return {self.result(m.result, call, new)};"]
        return [f"{f.result}{'' if '*' in f.result else ' '}made;", f"WITHOUT_GIL(made = {call});",
                f"return {self.result(m.result, 'made', new)};"]

    def raising(self, m, f, signature, call):
        """A call that gives NULL or false and an error."""
        error = signature.error.removesuffix("Error").upper()
        fail = f"return raise_error(state, ERROR_{error}, {quoted(signature.prefix)}, error);"
        do = f"WITHOUT_GIL(made = {call});" if signature.nogil else f"made = {call};"
        give = "none(state)" if f.result == "bool" else self.result(m.result, "made", new=True)
        return ["MTLError *error = NULL;", f"{f.result}{'' if '*' in f.result else ' '}made;", do, f"if (!made) {fail}",
                "mtl_release(error); // warnings", f"return {give};"]
