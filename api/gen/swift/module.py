# SPDX-License-Identifier: Apache-2.0
"""module.py: the Swift module Metal: protocols and classes with their members (src/mac/swift has the rest by hand).

A protocol is an empty refinement with its members in an extension, so that arguments have defaults; the class _NAME
holds an object of Ingot's. Properties, methods, inits and subscripts call the C functions of calls.py.
"""
import re

import names
import table
from swift import spelling, values
from swift.kinds import ByHand, maybe, optional

NOTE = "// Written by api/gen/generate.py from api/*.api: do not edit.\n"
OBJECTS = ("object", "string", "array", "data", "url")


class Module:
    def __init__(self, api, types, kinds, calls, by_hand):
        self.api, self.types, self.kinds, self.calls = api, types, kinds, calls
        self.by_hand = by_hand          # "CLASS selector" that the overlay says it has
        self.missing, self.unneeded, self.written = [], set(by_hand), 0

    # ---- Members ----

    def member(self, cls, selector, write):
        """The text of a member; by hand where no rule gives one, which the overlay must then say."""
        row = f"{cls.name} {selector}"
        if row in self.by_hand:
            self.unneeded.discard(row)
            self.written += 1
            return ""
        try:
            text = write()
        except ByHand as why:
            self.missing.append(f"{row}: {why}")
            return ""
        self.written += 1
        return text

    def property(self, cls, p):
        kinds, t = self.kinds, p.type
        kind = self.types.kind(t)
        opt = kind in OBJECTS + ("pointer",) and optional(t)
        swift = maybe(kinds.swift(t, f"{cls.name}.{p.name}"), opt)
        if "null_resettable" in t:
            swift += "!"
        if kind == "block" or kind == "pointer" and not kinds.bare(t) in ("void *", "float *"):
            raise ByHand(f"property {t}")
        getter = self.calls.add(cls, table.Method(False, t, p.getter or p.name, [], "", ""))
        body = f"        get {{ {kinds.from_c(t, getter + '(_ingot)', opt)} }}\n"
        if not p.readonly:
            before = []
            value = kinds.to_c("nullable " + t if "null_resettable" in t else t, "newValue", before)
            setter = self.calls.add(cls, table.Method(False, "void", table.setter(p.name), [(t, "value")], "", ""))
            body += "        set { " + "; ".join(before + [f"{setter}(_ingot, {value})"]) + " }\n"
        return f"    public var {spelling.tick(spelling.property_name(p))}: {swift} {{\n{body}    }}\n"

    def name(self, cls, m):
        """(base, labels) of a method."""
        text = m.swift if m.swift and m.swift != "-" else names.swift(cls.name, m)
        base, labels = text.removesuffix(")").split("(")
        return base, labels.split(":")[:-1]

    def default(self, cls, m, t, n, last):
        """What the importer, or Apple's overlay (of Metal 4), gives an argument that is left out."""
        b = self.kinds.bare(t)
        e, kind, four = self.api.enums.get(b), self.types.kind(t), cls.name.startswith("MTL4")
        if m.selector.startswith("set") and len(m.params) == 1:
            return ""
        if b == "MTL4VisibilityOptions":
            return " = [.device]"
        if e and e.kind == "options" and ("Options" in spelling.words(e.name) or four and b == "MTLBlitOption"):
            return " = []"
        if optional(t) and (kind == "block" and last or four and re.search(r"Options$|LinkingDescriptor$|[fF]ence$", n)):
            return " = nil"
        return ""

    def parameters(self, cls, m, labels):
        """Swift's parameters, the arguments of the C function, and what stands before and behind the call."""
        args, given, before, after = [], [], [], []
        params = [p for p in m.params if self.types.kind(p[0]) != "error"]
        left = list(labels)
        for i, (t, n) in enumerate(params):
            counted = i and params[i - 1][0].startswith("const ") and (n == "count" or re.match(r"num[A-Z]", n)) and \
                self.kinds.swift(params[i - 1][0]).startswith("[")
            label = left.pop(0) if left else "_"
            if counted:  # of the array before it
                given.append(f"UInt({params[i - 1][1]}{'?.count ?? 0' if optional(params[i - 1][0]) else '.count'})")
                continue
            n_ = spelling.tick(n)
            head = n_ if label == n else f"{label} {n_}"
            if self.types.kind(t) == "out":
                made = re.match(r"(\w+) \*", self.kinds.bare(t))[1]
                args.append(f"{head}: UnsafeMutablePointer<{made}?>?")
                before.append("var out_: UnsafeMutableRawPointer? = nil")
                given.append("&out_")
                after.append(f"{n_}?.pointee = _made(out_)")
                continue
            swift = maybe(self.kinds.swift(t, n), optional(t))
            if self.types.kind(t) == "block" and not optional(t):
                swift = "@escaping " + swift
            if self.kinds.bare(t).startswith("const id<") and self.counted(params, i):
                swift = swift.replace("(any", "any").replace(")?", "")
            args.append(f"{head}: {swift}{self.default(cls, m, t, n, i + 1 == len(params))}")
            given.append(self.kinds.to_c(t, n_, before).replace("{ $0?._ingot }", "{ $0._ingot }")
                         if "[any" in swift else self.kinds.to_c(t, n_, before))
        return args, given, before, after

    @staticmethod
    def counted(params, i):
        return i + 1 < len(params) and params[i + 1][1] == "count"

    def method(self, cls, m):
        throws = bool(m.params) and self.types.kind(m.params[-1][0]) == "error"
        base, labels = self.name(cls, m)
        args, given, before, after = self.parameters(cls, m, labels)
        symbol, kind = self.calls.add(cls, m), self.types.kind(m.result)
        opt = not throws and kind in OBJECTS + ("pointer",) and optional(m.result)
        result = "" if kind == "void" or throws and self.kinds.bare(m.result) == "BOOL" else self.kinds.swift(m.result, base)
        call = f"{symbol}({', '.join(([] if m.static else ['_ingot']) + given + ['&error_'] * throws)})"
        lines = list(dict.fromkeys(before))
        if throws:
            test = "r_" if self.kinds.bare(m.result) == "BOOL" else "r_ != nil"
            lines += ["var error_: UnsafeMutableRawPointer? = nil", f"let r_ = {call}"] + after
            lines += [f"guard {test} else {{ throw _failure(error_) }}"]
            lines += [f"return {self.kinds.from_c(m.result, 'r_', False)}"] if result else []
        elif result:
            lines += [f"let r_ = {call}"] + after + [f"return {self.kinds.from_c(m.result, 'r_', opt)}"]
        else:
            lines += [call]
        static = "class " if m.static else ""
        block = "@preconcurrency " if any(self.types.kind(t) == "block" for t, _ in m.params) else ""
        block += "@discardableResult " * bool(block and result)
        head = f"    {block}public {static}func {spelling.tick(base)}({', '.join(args)}){' throws' * throws}"
        arrow = f" -> {maybe(result, opt)}" if result else ""
        text = head + arrow + " {\n" + "".join(f"        {line}\n" for line in lines) + "    }\n"
        return text + self.asynchronous(m, base, labels, args)

    def asynchronous(self, m, base, labels, args):
        """A method with a completion handler, as one to wait for."""
        if not m.params or m.params[-1][1] != "completionHandler":
            return ""
        rows = [t.removeprefix("(").removesuffix(")?") if t.startswith("(any") else t.removesuffix("?")
                for t, _ in self.kinds.block(m.params[-1][0])][:-1]
        names_ = [a.split(":")[0].split(" ")[-1] for a in args[:-1]]
        given = ", ".join(("" if label == "_" else f"{label}: ") + n for label, n in zip(labels, names_))
        inside = ", ".join(f"v{i}" for i in range(len(rows)))
        result = rows[0] if len(rows) == 1 else f"({rows[0]}, {rows[1]}?)"
        value = "v0" if len(rows) == 1 else "(v0, v1)"
        last = labels[-1]
        return (f"    public func {spelling.tick(base)}({', '.join(args[:-1])}) async throws -> {result} {{\n"
                f"        try await withCheckedThrowingContinuation {{ (c: CheckedContinuation<{result}, any Error>) in\n"
                f"            {base}({given}{', ' if given else ''}{last}: {{ ({inside}, error) in\n"
                f"                if let v0 {{ c.resume(returning: {value}) }} else {{ c.resume(throwing: error ?? _failure(nil)) }}\n"
                f"            }})\n        }}\n    }}\n")

    def init(self, cls, m):
        keys = m.selector.split(":")[:-1]
        labels = self.name(cls, m)[1] if m.swift else [names.low(keys[0][8:])] + keys[1:]
        args, given, before, _ = self.parameters(cls, m, labels)
        made = f"self.init(_ingot: {self.calls.add(cls, m)}({', '.join(given)})!)"
        return f"    public convenience init({', '.join(args)}) {{\n" + "".join(f"        {x}\n" for x in before + [made]) + "    }\n"

    def factory(self, cls, m):
        """Whether a class method is what the importer makes an init of: +renderPassDescriptor."""
        head = re.split(r"With[A-Z]|:", m.selector)[0]
        return m.static and not m.swift and self.kinds.element(m.result) == cls.name and \
            spelling.words(cls.name)[-len(spelling.words(head)):] == spelling.words(head[:1].upper() + head[1:])

    def made_by(self, cls, m):
        """The init of a factory method; one without arguments is init() itself."""
        if not m.params:
            return ""
        keys = m.selector.split(":")[:-1]
        labels = [names.low(keys[0].split("With", 1)[1])] + keys[1:]
        args, given, before, _ = self.parameters(cls, m, labels)
        made = f"self.init(_ingot: {self.calls.add(cls, m)}({', '.join(given)})!)"
        return f"    public convenience init({', '.join(args)}) {{\n" + "".join(f"        {x}\n" for x in before + [made]) + "    }\n"

    def subscript(self, cls):
        item = f"{cls.item} *"
        get = self.calls.add(cls, table.Method(False, item, "objectAtIndexedSubscript:", [("NSUInteger", "index")], "", ""))
        put = self.calls.add(cls, table.Method(False, "void", "setObject:atIndexedSubscript:",
                                               [(item, "object"), ("NSUInteger", "index")], "", ""))
        self.written += 2
        return (f"    public subscript(index: Int) -> {cls.item}! {{\n"
                f"        get {{ {self.kinds.from_object(cls.item, f'{get}(_ingot, UInt(bitPattern: index))')} }}\n"
                f"        set {{ {put}(_ingot, newValue?._ingot, UInt(bitPattern: index)) }}\n    }}\n")

    # ---- Types ----

    def members(self, cls):
        if cls.kind == "array":
            return self.subscript(cls)
        above = {p.name for a in self.api.chain(cls)[1:] for p in a.properties} if cls.kind == "class" else ()
        out = "".join(self.member(cls, p.name, lambda p=p: self.property(cls, p)) for p in cls.properties
                      if not p.hidden and p.name not in above)
        for m in cls.methods:
            if m.static and cls.kind == "protocol":
                continue
            write = self.init if re.match(r"init(With|$)", m.selector) else self.made_by if self.factory(cls, m) else self.method
            out += self.member(cls, m.selector, lambda m=m, write=write: write(cls, m))
        return out

    def protocol(self, cls):
        parent = cls.parent if cls.parent in self.api.classes else "_IngotSends, Sendable"
        return (f"public protocol {cls.name}: {parent} {{}}\n"
                f"final class _{cls.name}: _IngotObject, {cls.name}, @unchecked Sendable {{}}\n"
                f"extension {cls.name} {{\n{self.members(cls)}}}\n")

    def class_(self, cls):
        above = self.api.classes.get(cls.parent)
        parent = above.name if above and above.kind != "protocol" else "CALayer" if cls.parent == "CALayer" else "_IngotObject"
        adopted = f", {above.name}, @unchecked Sendable" if above and above.kind == "protocol" else ""
        init, copy = f'    public convenience init() {{ self.init(_ingot: ingot_new("{cls.name}")!) }}\n', ""
        if parent == "_IngotObject" and not cls.on:
            copy = "    public func copy(with zone: NSZone? = nil) -> Any { _wrap(ingot_copy(_ingot)!) }\n"
        return (f"open class {cls.name}: {parent}{adopted}{', NSCopying' if copy else ''} {{\n"
                f"{init}{copy}{self.members(cls)}}}\n")

    def classes(self, order):
        """For the runtime: the Swift class of an Objective-C class."""
        rows = "".join(f'    "{c.name}": {"_" * (c.kind == "protocol")}{c.name}.self,\n' for c in order)
        return f"let _classes: [String: _IngotObject.Type] = [\n{rows}]\n"

    def blocks(self):
        return "".join(f"public typealias {name} = {self.kinds.swift(name)}\n" for name in self.api.blocks)

    def files(self):
        """name -> text."""
        order = self.api.order
        body = "".join(self.protocol(c) if c.kind == "protocol" else self.class_(c) for c in order)
        head = f"{NOTE}import CIngotMetal\nimport Dispatch\nimport Foundation\n"
        if self.missing or self.unneeded:
            raise SystemExit("api: no Swift for " + "; ".join(self.missing) + "".join(f"; by hand without need: {r}" for r in self.unneeded))
        return {"Types.swift": f"{NOTE}import CIngotMetal\nimport Foundation\n" + values.names(self.api) +
                values.enumerations(self.api) + values.structs(self.api) + self.blocks(),
                "API.swift": head + body + self.classes(order)}
