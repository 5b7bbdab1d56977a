# SPDX-License-Identifier: Apache-2.0
"""kinds.py: a type of the table in Swift, and how its values cross the border to the C functions (calls.py).

Objects cross as pointers that own a reference, strings, URLs and bundles as UTF-8, structs as structs of the same
layout, arrays, data and blocks as objects made for one call.
"""
import re

NUMBER = {"BOOL": "Bool", "NSUInteger": "Int", "NSInteger": "Int", "uint64_t": "UInt64", "int64_t": "Int64", "uint32_t": "UInt32",
          "int32_t": "Int32", "uint16_t": "UInt16", "uint8_t": "UInt8", "int": "Int32", "float": "Float", "double": "Double",
          "size_t": "Int", "CFTimeInterval": "Double", "NSTimeInterval": "Double", "CGFloat": "CGFloat", "kern_return_t": "Int32",
          "task_id_token_t": "UInt32"}
RAW = {"NSUInteger": "UInt", "NSInteger": "Int", "uint8_t": "UInt8", "uint16_t": "UInt16", "uint32_t": "UInt32", "uint64_t": "UInt64"}
# What an array holds that the table, as Apple's older headers, only calls an array: by the end of its name.
ELEMENTS = (("MTL4RenderPipelineBinaryFunctionsDescriptor.*", "id<MTL4BinaryFunction>"), (".*[fF]unctions", "id<MTLFunction>"),
            (".*[lL]ibraries", "id<MTLDynamicLibrary>"), (".*nodes", "MTLFunctionStitchingFunctionNode *"),
            (".*dimensions", "MTLTensorExtents *"))


class ByHand(Exception):
    """A member that no rule gives: src/mac/swift/Metal has it."""


def optional(text):
    return "[" not in text and bool(re.search(r"\bnullable\b|_Nullable", text))


def maybe(text, yes):
    return (f"({text})?" if " " in text else f"{text}?") if yes else text


class Kinds:
    def __init__(self, api, types):
        self.api, self.types = api, types

    def bare(self, text):
        """Without nullability; a typedef keeps its name."""
        return " ".join(re.sub(r"\b(nullable|null_resettable|nonnull|_Nullable|_Nonnull|__autoreleasing)\b", "", text).split())

    def element(self, text):
        """The class or protocol of an object's type, or None."""
        found = re.match(r"id<(\w+)>$|(\w+) \*$", self.bare(text))
        name = (found[1] or found[2]) if found else None
        return name if name in self.api.classes else None

    def in_array(self, text, name):
        found = re.match(r"NSArray<(.+)> \*$", self.bare(text))
        inner = found[1] if found else next((e for pattern, e in ELEMENTS if re.fullmatch(pattern, name)), None)
        if not inner:
            raise ByHand(f"array of anything: {name}")
        return inner

    def leaf(self, name):
        """Whether objects of a protocol or class are of no class below it."""
        return not any(c.parent == name or c.on == name and c.name != name for c in self.api.order)

    # ---- Swift ----

    def swift(self, text, name=""):
        """The Swift type, without its question mark. name: the property's or parameter's."""
        kind, b = self.types.kind(text), self.bare(text)
        if kind == "number":
            return b if b in self.api.typedefs or b in self.api.enums else NUMBER[b]
        if kind == "struct":
            return {"NSRange": "Range<Int>"}.get(b, b)
        if kind in ("string", "url"):
            return {"string": "String", "url": "URL"}[kind]
        if kind == "data":
            return "DispatchData" if b == "dispatch_data_t" else "Data"
        if kind == "array":
            inner = self.in_array(text, name)
            return "[String]" if "NSString" in inner else f"[{self.swift(inner)}]"
        if kind == "object":
            return self.object(text)
        if kind == "pointer":
            return self.pointer(b)
        if kind == "block":
            return "@Sendable (" + ", ".join(t for t, _ in self.block(text)) + ") -> Void"
        raise ByHand(f"{kind} {b}")

    def object(self, text):
        b, name = self.bare(text), self.element(text)
        if b in ("NSBundle *", "NSError *", "dispatch_queue_t"):
            return {"NSBundle *": "Bundle", "NSError *": "Error", "dispatch_queue_t": "DispatchQueue"}[b]
        if not name:
            raise ByHand(f"object {b}")
        return f"any {name}" if self.api.classes[name].kind == "protocol" else name

    def pointer(self, b):
        if b in ("const void *", "void *"):
            return "UnsafeRawPointer" if b == "const void *" else "UnsafeMutableRawPointer"
        many = re.match(r"const id<(\w+)> \[\]$", b)
        if many:
            return f"[(any {many[1]})?]"
        one = re.match(r"(const )?(\w+) \*$", b)
        if one and (one[2] in NUMBER or one[2] in self.api.structs or one[2] in self.api.typedefs):
            item = NUMBER.get(one[2], one[2])
            return f"[{item}]" if one[1] else f"UnsafeMutablePointer<{item}>"
        raise ByHand(f"pointer {b}")

    def block(self, text):
        """(Swift type, expression of the register a0, a1, ...) of each of a block's arguments."""
        inside = re.match(r"void ?\((.*)\)$", self.api.blocks.get(self.bare(text)) or self.bare(text).replace("(^)", ""))[1]
        rows, fails = [], "NSError" in inside
        for i, arg in enumerate(x.strip() for x in inside.split(",")):
            kind, a = self.types.kind(arg), f"a{i}"
            if kind == "object" and "NSError" in arg:
                rows.append(("(any Error)?", f"_lentError({a})"))
            elif kind == "object":
                rows.append((maybe(self.swift(arg), fails), f"_lent({a}){'' if fails else '!'}"))
            elif kind == "number":
                value = f"{self.swift(arg)}(truncatingIfNeeded: {a})"
                e = self.api.enums.get(self.bare(arg))
                rows.append((self.swift(arg), f"{e.name}(rawValue: {RAW[e.base]}(truncatingIfNeeded: {a}))!" if e else value))
            elif kind == "pointer":
                rows.append(("UnsafeMutableRawPointer", f"UnsafeMutableRawPointer(bitPattern: {a})!"))
            else:
                rows.append(("String?" if fails or "LogLevel" in inside else "String", f"_lentText({a})"))
        return rows

    # ---- The border ----

    def c(self, text):
        """How the C function takes it."""
        kind, b = self.types.kind(text), self.types.bare(text)
        if kind == "struct":
            return f"C_{b}"
        if kind in ("string", "url") or self.bare(text) == "NSBundle *":
            return "const char *"
        if kind == "pointer" and (b.startswith("const") or b.endswith("]")):
            return "const void *"
        if kind == "number":
            return self.types.c(text)
        return {"void": "void", "error": "void **", "out": "void **"}.get(kind, "void *")

    def result(self, text):
        """How the C function gives it: strings and URLs are objects here."""
        return "void *" if self.c(text) == "const char *" else self.c(text)

    def to_c(self, text, name, before, label=""):
        """The expression that is passed; `before`: statements it needs."""
        kind, b, opt = self.types.kind(text), self.bare(text), optional(text)
        if kind == "number":
            if b in self.api.enums:
                return f"{name}.rawValue"
            return f"UInt(bitPattern: {name})" if NUMBER.get(b) == "Int" and self.types.c(text) in ("unsigned long", "size_t") else name
        if kind == "struct":
            return f"_range({name})" if b == "NSRange" else f"unsafeBitCast({name}, to: C_{self.types.bare(text)}.self)"
        if kind == "string":
            return name
        if kind == "url" or b == "NSBundle *":
            return f"{name}{'?' if opt else ''}.{'path' if kind == 'url' else 'bundlePath'}"
        if kind == "object" and self.element(text):
            return f"{name}{'?' if opt else ''}._ingot"
        if kind in ("data", "array", "block"):
            before.append(f"let o_{name} = {self.made(kind, text, name, opt)}")
            before.append(f"defer {{ ingot_release(o_{name}) }}")
            return f"o_{name}"
        if kind == "pointer":
            return f"{name}.map {{ $0?._ingot }}" if b.startswith("const id<") else name
        raise ByHand(f"argument {b}")

    def made(self, kind, text, name, opt):
        """An object for one call."""
        if kind != "block":
            return f"_{kind}({name})"
        call = ", ".join(e for _, e in self.block(text))
        args = ", ".join(f"a{i}" if f"a{i}" in call else "_" for i in range(4))
        body = f"{{ ({args}) in {name}{'!' if opt else ''}({call}) }}"
        return f"{name} == nil ? nil : _block({body})" if opt else f"_block({body})"

    def from_c(self, text, call, opt):
        """The Swift value of what a C function gave."""
        kind, b, end = self.types.kind(text), self.bare(text), "" if opt else "!"
        if kind == "void":
            return call
        if kind == "number":
            e = self.api.enums.get(b)
            if e:
                return f"{b}(rawValue: {call})" + ("!" if e.kind == "enum" else "")
            return f"Int(bitPattern: {call})" if NUMBER.get(b) == "Int" and self.types.c(text) in ("unsigned long", "size_t") else call
        if kind == "struct":
            return f"_range({call})" if b == "NSRange" else f"unsafeBitCast({call}, to: {b}.self)"
        if kind in ("string", "data", "array", "url"):
            return {"string": "_text", "data": "_bytes", "array": "_list", "url": "_url"}[kind] + f"({call}){end}"
        if kind == "object" and b == "NSError *":
            return f"{call}.map {{ _error($0) }}{end}"
        if kind == "object" and self.element(text):
            return self.from_object(self.element(text), call) + end
        if kind == "pointer" and b in ("void *", "float *"):
            return f"{call}{end}" if b == "void *" else f"{call}!.assumingMemoryBound(to: Float.self)"
        raise ByHand(f"result {b}")

    def from_object(self, name, call):
        """Where the class of the object is known, no conformance is looked up."""
        protocol = self.api.classes[name].kind == "protocol"
        if not self.leaf(name):
            return f"_made({call})"
        return f"_made({call}, as: {'_' * protocol}{name}.self)"
