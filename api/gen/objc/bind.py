# SPDX-License-Identifier: Apache-2.0
"""bind.py: a method on a function of include/ingot, as C source.

Arguments are carried over one by one: numbers are cast, strings become UTF-8, descriptors are filled
into libingot's structs (fill.py), arrays become pointer and count, blocks become a function and the
block. Errors: nil is stored first, what comes back is autoreleased.
"""
import re

RETAINED = re.compile(r"_*(new|copy|alloc|mutableCopy|init)([A-Z:]|$)")


class Unbound(Exception):
    pass


class Binder:
    def __init__(self, api, types, headers):
        self.api, self.types, self.headers = api, types, headers

    def bind(self, method, function, symbol, how=""):
        """C source of `symbol`. how: "", "owned", "array" or "with A, B". Raises Unbound."""
        f = self.headers.functions[function]
        call = Call(self, method, f, symbol)
        more = how[5:].split(", ") if how.startswith("with ") else []
        call.carry_arguments(skip=1 if how == "array" else len(more))
        call.args += more
        return call.source_of_array() if how == "array" else call.source(how == "owned")

    def struct_of(self, ctype):
        name = re.sub(r"\bconst\b|\*", "", ctype).strip()
        return name if name in self.headers.structs else None


class Call:
    def __init__(self, binder, method, function, symbol):
        self.b, self.m, self.f, self.symbol = binder, method, function, symbol
        self.args, self.before, self.after, self.helpers = [], [], [], ""
        self.declared, self.arena = ["id self", "SEL _cmd"], False
        self.places = list(function.params)
        if not method.static:
            if not self.places:
                raise Unbound("takes no object")
            self.places.pop(0)
            self.args.append("(void *)self")

    def take(self, name):
        if not self.places:
            raise Unbound(f"no place for {name}")
        return self.places.pop(0)[0]

    def carry_arguments(self, skip=0):
        types = self.b.types
        for text, name in self.m.params:
            getattr(self, "carry_" + types.kind(text))(text, name)
            self.declared.append(f"{types.c(text)} {name}".replace("* ", "*"))
        if len(self.places) != skip:
            raise Unbound(f"wants {len(self.places)} more")

    def carry_number(self, text, name):
        c = self.take(name)
        if "*" in c or c in self.b.headers.structs:
            raise Unbound(f"{name}: a number for {c}")
        self.args.append(f"({c}){name}")

    def carry_struct(self, text, name):
        c = self.take(name)
        if c != self.b.types.c(text):
            raise Unbound(f"{name}: {text} for {c}")
        self.args.append(name)

    def carry_pointer(self, text, name):
        c = self.take(name)
        if "*" not in c:
            raise Unbound(f"{name}: {text} for {c}")
        # Arrays of objects are libingot's as they are; arrays of descriptors are not.
        element = re.match(r"(?:const )?(\w+) \*", text)
        if element and element[1] in self.b.api.classes and self.b.struct_of(c):
            raise Unbound(f"{name}: an array of descriptors")
        self.args.append(f"(void *){name}")

    def carry_string(self, text, name):
        if self.take(name) != "const char *":
            raise Unbound(f"{name}: a string")
        self.args.append(f"face_utf8({name})")

    def carry_url(self, text, name):
        if self.take(name) != "const char *":
            raise Unbound(f"{name}: an URL")
        self.args.append(f"face_path({name})")

    def carry_error(self, text, name):
        if self.take(name) != "MTLError **":
            raise Unbound(f"{name}: an error")
        self.args.append(f"(MTLError **)face_error_begin({name})")
        self.after.append(f"face_error_end({name});")

    def carry_out(self, text, name):
        c = self.take(name)
        if c.count("*") != 2:
            raise Unbound(f"{name}: {text} for {c}")
        self.args.append(f"(void *)face_error_begin({name})")
        self.after.append(f"face_error_end({name});")

    def carry_object(self, text, name):
        c = self.take(name)
        if c.count("*") != 1:
            raise Unbound(f"{name}: an object for {c}")
        struct = self.b.struct_of(c)
        if not struct:
            self.args.append(f"(void *){name}")
            return
        self.arena = True
        self.before.append(f"{struct} {name}_;")
        self.args.append(f"face_fill_{self.filling(text, struct)}(&{name}_, {name}, &arena)")

    def filling(self, text, struct):
        """The class whose objects fill the struct."""
        for name in re.findall(r"\w+", text):
            cls = self.b.api.classes.get(name)
            if cls and (cls.fills or cls.name) == struct:
                return name
        raise Unbound(f"{text} for {struct}")

    def carry_array(self, text, name):
        c = self.take(name)
        if not self.places or self.places[0][0] != "size_t":
            raise Unbound(f"{name}: an array for {c}")
        self.take(name)
        struct, self.arena = self.b.struct_of(c), True
        self.before.append(f"size_t {name}_n = face_count({name});")
        if c.count("*") == 2:
            items = f"(void *)face_items(&arena, {name})"
        elif struct:
            items = f"face_fill_all_{self.filling(text, struct)}({name}, &arena)"
        else:
            raise Unbound(f"{name}: an array for {c}")
        self.args += [items, f"{name}_n"]

    def carry_data(self, text, name):
        if "void *" not in self.take(name):
            raise Unbound(f"{name}: data")
        self.take(name)
        self.args += [f"face_bytes({name})", f"face_length({name})"]

    def carry_dictionary(self, text, name):
        raise Unbound(f"{name}: a dictionary")

    def carry_block(self, text, name):
        c = self.take(name)
        callback = self.b.headers.callbacks.get(c)
        if not callback:
            raise Unbound(f"{name}: a block for {c}")
        self.take(name)
        ctypes = [t for t, _ in callback[:-1]]
        values = [f"face_string(a{i})" if t == "const char *" else f"a{i}" for i, t in enumerate(ctypes)]
        params = ", ".join(f"{t} a{i}".replace("* a", "*a") for i, t in enumerate(ctypes))
        given = [f"(uintptr_t){v}" for v in values] + ["0"] * (4 - len(values))
        once = "face_block_done" if not c.startswith("MTLLogHandler") else "face_block_keep"
        self.helpers = (
            f"static void block_{self.symbol}({params}, void *context) {{\n"
            f"    void *pool = objc_autoreleasePoolPush();\n"
            f"    face_block_call(context, {', '.join(given)});\n"
            f"    objc_autoreleasePoolPop(pool);\n    {once}(context);\n}}\n")
        self.args += [f"{name} ? block_{self.symbol} : NULL", f"face_block_copy({name})"]

    def value(self, call, owned):
        """The C expression of the result, and its type."""
        types, m, c = self.b.types, self.m, self.f.result
        kind = types.kind(m.result)
        if kind in ("number", "struct"):
            if "*" in c or c == "void":
                raise Unbound(f"gives {c}")
            if kind == "struct" and c != types.c(m.result):
                raise Unbound(f"gives {c} for {m.result}")
            return call if kind == "struct" else f"({types.result(m.result)}){call}"
        if kind == "string" and c == "const char *":
            return f"face_{'label' if m.selector == 'label' else 'string'}({call})"
        if kind == "url" and c == "const char *":
            return f"face_url({call})"
        if kind == "pointer" and "*" in c:
            return f"(void *){call}"
        if kind in ("object", "out") and "*" in c and not self.b.struct_of(c):
            if RETAINED.match(m.selector):
                return f"(id){call}"
            return f"objc_autorelease((id){call})" if owned else f"face_lend((id){call})"
        raise Unbound(f"gives {c} for {m.result}")

    def source(self, owned):
        call = f"{self.f.name}({', '.join(self.args)})"
        result = self.b.types.result(self.m.result)
        lines = ["FaceArena arena = {0};"] * self.arena + self.before
        after = self.after + ["face_arena_free(&arena);"] * self.arena
        if result == "void":
            lines += [call + ";"] + after
        else:
            value = self.value(call, owned)
            lines += [f"{result} result = {value};"] + after + ["return result;"] if after \
                else [f"return {value};"]
        return self.wrap(result, lines)

    def source_of_array(self):
        count = self.f.name + "_count"
        if count not in self.b.headers.functions:
            raise Unbound(f"no {count}")
        item = f"{self.f.name}({', '.join(self.args + ['i'])})"
        make = "face_string" if self.f.result == "const char *" else "(id)"
        if self.b.struct_of(self.f.result):
            raise Unbound(f"gives {self.f.result}")
        lines = [f"size_t n = {count}({', '.join(self.args)});", "FaceArena arena = {0};",
                 "id *items = face_alloc(&arena, (n + 1) * sizeof *items);",
                 f"for (size_t i = 0; i < n; i++) items[i] = {make}({item});",
                 "id result = face_array(items, n);", "face_arena_free(&arena);", "return result;"]
        return self.wrap("id", lines)

    def wrap(self, result, lines):
        unused = "(void)self, (void)_cmd;" if self.m.static else "(void)_cmd;"
        body = "".join(f"    {line}\n" for line in [unused] + lines)
        return (f"{self.helpers}static {result} {self.symbol}({', '.join(self.declared)}) {{\n{body}}}\n"
                .replace("* m_", "*m_"))
