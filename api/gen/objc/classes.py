# SPDX-License-Identifier: Apache-2.0
"""classes.py: writes face_classes.c: every method of the table and the classes that have them, in the
form in which a compiler leaves classes for the runtime (mac/objc/abi.h).

A protocol of Metal gets a class of its own name with "_" before it, whose methods are those of the
protocol and of the protocols it stands on; libingot's class records become its subclasses (adopt.c).
"""
import re
from objc.bind import Unbound
from objc.fill import symbol_of
from names import implied, snake


class Classes:
    def __init__(self, api, types, headers, binder, filler):
        self.api, self.types, self.headers, self.binder, self.filler = api, types, headers, binder, filler
        self.report = []  # (class, selector, state, detail)
        self.hands = {}   # prototype by symbol
        self.parents = {c.parent for c in api.order}

    # ---- One message ----

    def functions(self, cls, owner, method):
        """Names to try for a message of `owner` to an object of class `cls`."""
        word = method.binding.split()[0] if method.binding else ""
        if word:
            return [word.replace("*", snake(re.sub("^(MTL4?|CA)", "", cls.name)))]
        names = []
        for one in [cls] + self.api.chain(owner):
            names += implied(one.on or one.name, method.selector)
        return names

    def hand(self, cls, method):
        symbol = f"face_{cls.name}_{'class_' if method.static else ''}{method.selector.replace(':', '_')}"
        params = "".join(f", {self.types.c(t)} {n}".replace("* ", "*") for t, n in method.params)
        self.hands[symbol] = f"{self.types.result(method.result)} {symbol}(id self, SEL _cmd{params});\n".replace("* face", "*face")
        return symbol

    def answer(self, method, symbol, value):
        """A fact; a setter of one changes nothing."""
        result = self.types.result(method.result)
        params = "".join(f", {self.types.c(t)} {n}" for t, n in method.params)
        unused = "".join(f", (void){n}" for _, n in method.params)
        give = "" if result == "void" else f"    return {value};\n"
        return f"static {result} {symbol}(id self, SEL _cmd{params}) {{\n    (void)self, (void)_cmd{unused};\n{give}}}\n"

    def refused(self, cls, method, symbol, reason):
        types = self.types
        params = "".join(f", {types.c(t)} {n}".replace("* ", "*") for t, n in method.params)
        text = f"{'+' if method.static else '-'}[{cls.name} {method.selector}]"
        error = next((n for t, n in method.params if types.kind(t) == "error"), None)
        call = f"face_refuse_with({error}, \"{text}\", \"{reason}\");" if error else f"face_refuse(\"{text}\", \"{reason}\");"
        unused = "".join(f", (void){n}" for _, n in method.params if n != error)
        result = types.result(method.result)
        give = "" if result == "void" else f"    return ({result}){{0}};\n"
        return (f"static {result} {symbol}(id self, SEL _cmd{params}) {{\n    (void)self, (void)_cmd{unused};\n"
                f"    {call}\n{give}}}\n")

    def message(self, cls, owner, method, prop):
        """(symbol, C source or "", state). `owner`: the class whose row it is. None: only those below have it."""
        binding, symbol = method.binding, symbol_of(cls, method)
        if binding == "hand":
            return self.hand(owner, method), "", "hand"
        if binding == "new":
            return "face_new", "", "ok"
        if binding.startswith("answer "):
            return symbol, self.answer(method, symbol, binding[7:]), "kept" if prop and not prop.readonly else "ok"
        if binding == "set":
            return symbol, self.filler.assign(cls, method), "ok"
        if binding == "reset":
            return f"reset_{cls.name}", "", "ok"
        if binding.startswith("refused"):
            if prop and self.filler.is_value(cls):
                return symbol, self.filler.accessor(cls, method, prop), "refused"
            return symbol, self.refused(cls, method, symbol, binding[8:] or "not supported"), "refused"
        if self.filler.is_value(cls):
            if not prop:
                raise SystemExit(f"{method.where}: a method of values needs a binding")
            return symbol, self.filler.accessor(cls, method, prop), "kept" if binding.startswith("kept") else "ok"
        how = binding.partition(" ")[2]
        why = "no function of " + ", ".join(self.functions(cls, owner, method))
        for name in self.functions(cls, owner, method):
            if name in self.headers.functions:
                try:
                    return symbol, self.binder.bind(method, name, symbol, how), "ok"
                except Unbound as reason:
                    why = f"{name}: {reason}"
        if owner is cls and cls.name in self.parents:
            return None
        raise SystemExit(f"{method.where}: -[{cls.name} {method.selector}]: {why}")

    # ---- One class ----

    def messages(self, cls):
        """(owner, method, property) of everything an object of the class answers."""
        seen = set()
        above = [cls] if self.filler.is_value(cls) else self.api.chain(cls)
        merged = [c for c in self.api.order if c.on == cls.name and c is not cls]
        for owner in above + merged:
            for method, prop in self.api.messages(owner):
                key = (method.static, method.selector)
                if key not in seen:
                    seen.add(key)
                    yield owner, method, prop

    def rows(self, cls):
        """C source of the methods, and the two lists of them."""
        source, lists = [], {False: [], True: []}
        for owner, method, prop in self.messages(cls):
            made = self.message(cls, owner, method, prop)
            state = "below" if made is None else made[2]
            if owner is cls or owner.on == cls.name:
                self.report.append((owner.name, ("+" if method.static else "-") + method.selector, state, method.binding))
            if made is None:
                continue
            source.append(made[1])
            lists[method.static].append((method.selector, self.types.signature(method), made[0]))
        return source, lists

    def value_rows(self, cls, lists):
        """What every class of values has: init with defaults, copying, the end."""
        filler, name, source = self.filler, cls.name, []
        slots = filler.object_slots(cls)
        own = "".join(f"{s}, " for s in slots)
        source.append(f"static const size_t slots_{name}[] = {{{own}0}};\n")
        init = filler.init(cls)
        if init:
            source.append(init)
            lists[False].append(("init", "@16@0:8", f"init_{name}"))
        source.append(f"static id copy_{name}(id self, SEL _cmd, void *zone) {{\n    (void)_cmd, (void)zone;\n"
                      f"    return face_copy(self, sizeof(O_{name}), slots_{name});\n}}\n"
                      f"static void dealloc_{name}(id self, SEL _cmd) {{\n    (void)_cmd;\n"
                      f"    face_dealloc(self, slots_{name});\n}}\n")
        lists[False] += [("copyWithZone:", "@24@0:8^v16", f"copy_{name}"), ("dealloc", "v16@0:8", f"dealloc_{name}")]
        if any(m.binding == "reset" for m in cls.methods):
            again = f"    init_{name}(self, _cmd);\n" if init else ""
            source.append(f"static void reset_{name}(id self, SEL _cmd) {{\n    (void)_cmd;\n"
                          f"    face_reset(self, sizeof(O_{name}), slots_{name});\n{again}}}\n")
        if cls.kind == "array":
            source.append(self.array_methods(cls))
            lists[False] += [("objectAtIndexedSubscript:", "@24@0:8Q16", f"get_{name}"),
                             ("setObject:atIndexedSubscript:", "v32@0:8@16Q24", f"set_{name}")]
            for selector in ("-objectAtIndexedSubscript:", "-setObject:atIndexedSubscript:"):
                self.report.append((name, selector, "ok", ""))
        return source

    @staticmethod
    def array_methods(cls):
        n, at = cls.name, f"((O_{cls.name} *)self)->items"
        return (f"static id get_{n}(id self, SEL _cmd, unsigned long i) {{\n    (void)_cmd;\n"
                f"    return face_attachment({at}, {cls.count}, i, \"{cls.item}\");\n}}\n"
                f"static void set_{n}(id self, SEL _cmd, id value, unsigned long i) {{\n    (void)_cmd;\n"
                f"    face_set_attachment({at}, {cls.count}, i, value);\n}}\n")

    def abi(self, cls, lists):
        """The class and its metaclass as the compiler would write them."""
        value, name = self.filler.is_value(cls), cls.name
        shown = name if cls.kind != "protocol" else "_" + name
        out = ""
        for static, kind in ((False, "methods"), (True, "class_methods")):
            items = lists[static]
            if items:
                rows = "".join(f'        {{"{s}", "{t}", (IMP){f}}},\n' for s, t, f in items)
                out += (f"static struct {{\n    uint32_t item_bytes, count;\n    AbiMethod items[{len(items)}];\n}} "
                        f"{kind}_{name} = {{sizeof(AbiMethod), {len(items)}, {{\n{rows}    }}}};\n")
        above = self.api.classes.get(cls.parent)
        parent = above.name if value and above and above.kind != "protocol" else self.foreign(cls)
        size = f"sizeof(O_{name})" if value else cls.bytes or "8"
        methods = f"(AbiMethods *)&methods_{name}" if lists[False] else "NULL"
        class_methods = f"(AbiMethods *)&class_methods_{name}" if lists[True] else "NULL"
        adopted = [c.name for c in self.api.order if c.kind == "protocol" and (c is cls or c.on == name)]
        protocols = "NULL"
        if adopted:
            out += (f"static struct {{\n    uintptr_t count;\n    AbiProtocol *items[{len(adopted)}];\n}} adopts_{name} = "
                    f"{{{len(adopted)}, {{{', '.join('&protocol_' + p for p in adopted)}}}}};\n")
            protocols = f"(AbiProtocols *)&adopts_{name}"
        return out + (f'FACE_CLASS({name}, "{shown}", {parent}, {size}, {methods}, {class_methods}, {protocols})\n')

    def foreign(self, cls):
        """The class above one, where that is none of the table's."""
        return "NSObject" if cls.kind == "protocol" or cls.parent in self.api.classes else cls.parent or "NSObject"

    def protocol(self, cls):
        above = [c for c in self.api.chain(cls)[1:2] if c.kind == "protocol"]
        adopted = f"(AbiProtocols *)&conforms_{above[0].name}" if above else "NULL"
        return (f'static AbiProtocol protocol_{cls.name} = {{.name = "{cls.name}", .protocols = {adopted}, '
                f".n_bytes = sizeof(AbiProtocol)}};\n"
                f"static struct {{\n    uintptr_t count;\n    AbiProtocol *items[1];\n}} conforms_{cls.name} __attribute__((unused)) = "
                f"{{1, {{&protocol_{cls.name}}}}};\n"
                f'__attribute__((section("objc_protolist"), used)) static AbiProtocol *listed_{cls.name} = '
                f"&protocol_{cls.name};\n")

    def has_objects(self, cls):
        """Not so: protocols that others stand on, and what libingot does not have."""
        return not (cls.on and cls.on != cls.name) and (
            cls.kind != "protocol" or cls.values or cls.name in self.headers.handles)

    def report_rows(self, cls):
        for method, _ in self.api.messages(cls):
            if not method.binding.startswith("refused") and cls.name not in self.parents and not cls.program:
                raise SystemExit(f"{method.where}: {cls.name} is no class of libingot")
            state = "refused" if method.binding.startswith("refused") else "below"
            self.report.append((cls.name, ("+" if method.static else "-") + method.selector, state, method.binding))

    # ---- The file ----

    def source(self):
        order, prototypes = sorted(self.api.order, key=lambda c: len(self.api.chain(c))), []
        body = [self.protocol(cls) for cls in order if cls.kind == "protocol"]
        for cls in order:
            if cls.on and cls.on != cls.name:
                continue  # its methods stand in another class
            if not self.has_objects(cls):
                self.report_rows(cls)
                continue
            rows, lists = self.rows(cls)
            if self.filler.is_value(cls):
                rows = rows + self.value_rows(cls, lists)
            if self.filler.is_value(cls) and self.filler.struct(cls) and cls.kind == "class":
                rows += [self.filler.fill(cls), self.filler.fill_all(cls)]
                prototypes.append(self.filler.fill_prototypes(cls))
            body.append(f"\n// ---- {cls.name} ----\n\n" + "\n".join(r for r in rows if r) + self.abi(cls, lists))
        header = self.structs() + "".join(self.filler.memory(c) for c in self.api.order if self.filler.is_value(c))
        return "".join(body), header + "".join(prototypes) + "".join(self.hands.values())

    def structs(self):
        """Metal's structs of numbers that libingot does not have: methods that are refused give them."""
        out = ""
        for s in self.api.structs.values():
            fields = [f.split(" ", 1) for f in s.fields]
            if s.name not in self.headers.structs and all(self.types.plain(t) for t, _ in fields):
                rows = "".join(f"    {self.types.c(t)} {n};\n" for t, n in fields)
                out += f"typedef struct {s.name} {{\n{rows}}} {s.name};\n"
        return out

    def names(self):
        """For adopt.c: the classes that libingot's records become subclasses of."""
        rows = ""
        for cls in self.api.order:
            if not self.filler.is_value(cls) and self.has_objects(cls):
                rows += f'    {{"{cls.name}", &face_class_{cls.name}, {"true" if cls.kind == "protocol" else "false"}}},\n'
        return f"const FaceName face_names[] = {{\n{rows}    {{NULL, NULL, false}}}};\n"
