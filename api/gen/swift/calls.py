# SPDX-License-Identifier: Apache-2.0
"""calls.py: the C functions that Swift calls, one for each message, in Objective-C, so that the compiler checks them
against the headers. Objects that they give are owned by the caller; `*error` and other objects that are stored, too."""
import re

NOTE = "// Written by api/gen/generate.py from api/*.api: do not edit.\n"
RETAINED = re.compile(r"_*(new|copy|alloc|mutableCopy|init)([A-Z:]|$)")
OBJECTS = ("object", "string", "array", "data", "url", "dictionary")


class Calls:
    def __init__(self, api, types, kinds):
        self.api, self.types, self.kinds = api, types, kinds
        self.functions = {}  # symbol -> (prototype, body)

    def add(self, cls, method):
        """The symbol of the function that sends a message."""
        symbol = f"ingot_{cls.name}_{method.selector.replace(':', '_')}"
        if symbol not in self.functions:
            self.functions[symbol] = self.write(cls, method, symbol)
        return symbol

    def receiver(self, cls, method):
        if re.match(r"init(With|$)", method.selector):
            return f"[{cls.name} alloc]", False
        if method.static:
            return cls.name, False
        return (f"((id<{cls.name}>)self)" if cls.kind == "protocol" else f"(({cls.name} *)self)"), True

    def argument(self, text, name, before, after):
        """What the message gets for a parameter of the C function."""
        kind, b = self.types.kind(text), self.types.bare(text)
        if kind == "struct":
            return f"*({b} *)&{name}"
        if kind in ("string", "url") or b == "NSBundle *":
            maker = {"string": "ingot_string", "url": "ingot_url"}.get(kind, "ingot_bundle")
            before.append(f"id o_{name} = {maker}({name});")
            after.append(f"[o_{name} release];")
            return f"o_{name}"
        if kind in ("error", "out"):
            before.append(f"id e_{name} = nil;")
            after.append(f"if ({name}) *{name} = [e_{name} retain];")
            return f"(void *)&e_{name}"
        return f"({self.types.c(text)}){name}" if kind == "number" else f"(void *){name}"

    def write(self, cls, method, symbol):
        kinds, before, after = self.kinds, [], []
        whom, takes_self = self.receiver(cls, method)
        params = ["void *self"] * takes_self + [f"{kinds.c(t)} {n}_".replace("* ", "*") for t, n in method.params]
        keys = method.selector.split(":")
        sent = [self.argument(t, n + "_", before, after) for t, n in method.params]
        message = " ".join(f"{k}:{a}" for k, a in zip(keys, sent)) or method.selector
        head = f"{kinds.result(method.result)} {symbol}({', '.join(params) or 'void'})".replace("* ", "*")
        return head, self.body(method, f"[{whom} {message}]", before, after)

    def pooled(self, method):
        """Whether something may be autoreleased on the way."""
        plain = all(self.types.kind(t) in ("number", "struct", "pointer") or "id<" in t for t, _ in method.params)
        return self.types.kind(method.result) in OBJECTS or not plain

    def body(self, method, send, before, after):
        kind, result = self.types.kind(method.result), self.kinds.result(method.result)
        lines, give = [], ""
        if kind == "struct":
            send, give = f"{self.types.bare(method.result)} r = {send}", f"return *({result} *)&r;"
        elif kind in OBJECTS:
            kept = send if RETAINED.match(method.selector) else f"[{send} retain]"
            send, give = f"void *r = (void *){kept}", "return r;"
        elif kind != "void":
            send, give = f"{result} r = ({result}){send}".replace("* r", "*r"), "return r;"
        if self.pooled(method):
            before, after = ["void *pool = objc_autoreleasePoolPush();"] + before, after + ["objc_autoreleasePoolPop(pool);"]
        lines = before + [send + ";"] + after + ([give] if give else [])
        return "".join(f"    {line}\n" for line in lines)

    def structs(self):
        """C's structs of the layout of Metal's; a typedef's has both names."""
        out, done, left = "", {"NSRange", "CGSize"}, list(self.api.structs.values())
        while left:
            ready = [s for s in left if all(t in done or t not in self.api.structs for t, _ in self.types.members(s))]
            for s in ready:
                out += "typedef struct {" + "".join(self.field(f) for f in s.fields) + f" }} C_{s.name};\n"
            done |= {s.name for s in ready}
            left = [s for s in left if s.name not in done]
        return out

    def field(self, field):
        base, _, names = field.partition(" ")
        return f" {self.types.number(base)[0] if self.types.kind(base) == 'number' else 'C_' + base} {names};"

    def header(self):
        rows = "".join(f"{head};\n" for head, _ in self.functions.values())
        return f"{NOTE}#ifndef INGOT_SWIFT_CALLS_H\n#define INGOT_SWIFT_CALLS_H\n#include \"border.h\"\n{self.structs()}{rows}#endif\n"

    def source(self):
        rows = "".join(f"{head} {{\n{body}}}\n" for head, body in self.functions.values())
        return (f"{NOTE}// clang-format off\n#import <QuartzCore/QuartzCore.h>\n#include \"calls.h\"\n"
                f"#include \"mac/swift/border_objc.h\"\n{rows}")
