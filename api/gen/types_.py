# SPDX-License-Identifier: Apache-2.0
"""types_.py: a type as the table spells it: what kind of thing it is, how C receives it, how the
runtime encodes it."""
import re

PLAIN = {"BOOL": ("bool", "B"), "NSUInteger": ("unsigned long", "Q"), "NSInteger": ("long", "q"),
         "uint64_t": ("uint64_t", "Q"), "int64_t": ("int64_t", "q"), "uint32_t": ("uint32_t", "I"),
         "int32_t": ("int32_t", "i"), "uint16_t": ("uint16_t", "S"), "uint8_t": ("uint8_t", "C"),
         "int": ("int", "i"), "float": ("float", "f"), "double": ("double", "d"), "size_t": ("size_t", "Q"),
         "CFTimeInterval": ("double", "d"), "NSTimeInterval": ("double", "d"), "CGFloat": ("double", "d"),
         "kern_return_t": ("int", "i"), "task_id_token_t": ("unsigned", "I")}
# Structs of Foundation and CoreGraphics, and libingot's of the same layout.
FOREIGN = {"NSRange": ("MTLRange", "{_NSRange=QQ}"), "CGSize": ("CGSize", "{CGSize=dd}")}
POINTERS = {"IOSurfaceRef": "^{__IOSurface=}", "CGColorSpaceRef": "^{CGColorSpace=}",  # opaque, not objects
            "MTLIOCompressionContext": "^v"}
BYTES = {"B": 1, "C": 1, "S": 2, "I": 4, "i": 4, "f": 4, "Q": 8, "q": 8, "d": 8}
OBJECTS = {"NSString": "string", "NSURL": "url", "NSArray": "array", "NSData": "data",
           "NSDictionary": "dictionary", "NSSet": "object", "NSNumber": "object", "NSBundle": "object",
           "NSError": "object", "NSObject": "object"}


class Types:
    def __init__(self, api):
        self.api = api

    def bare(self, text):
        """Without what only the compiler of the program looks at."""
        text = re.sub(r"\b(nullable|null_resettable|nonnull|_Nullable|_Nonnull|__autoreleasing|__kindof)\b", "", text)
        text = " ".join(text.split())
        return self.api.typedefs.get(text, text)

    def kind(self, text):
        t = self.bare(text)
        if t == "void":
            return "void"
        if "(^" in t or t in self.api.blocks:
            return "block"
        if t.endswith("]") or re.search(r"\*\s*(const\s*)?\*$", t):
            return "error" if t.startswith("NSError") else "out" if self.outer(t) else "pointer"
        if re.fullmatch(r"id<\w+>\s*\*", t):
            return "out"
        if t == "id" or re.match(r"id<", t):
            return "object"
        if t in ("dispatch_data_t", "dispatch_queue_t"):
            return "data" if t == "dispatch_data_t" else "object"
        if t.endswith("*"):
            name = re.match(r"(?:const )?(\w+)", t)[1]
            if name in OBJECTS:
                return OBJECTS[name]
            return "object" if name in self.api.classes else "pointer"
        if t in self.api.structs or t in FOREIGN:
            return "struct"
        if t in POINTERS:
            return "pointer"
        if t in PLAIN or t in self.api.enums:
            return "number"
        raise SystemExit(f"unknown type '{text}'")

    @staticmethod
    def outer(t):
        return bool(re.fullmatch(r"\w+ \* ?\*", t)) and not t.startswith(("void", "const"))

    def plain(self, text):
        return self.kind(text) == "number"

    def number(self, text):
        t = self.bare(text)
        return PLAIN[self.api.enums[t].base if t in self.api.enums else t]

    def c(self, text):
        """How a function that a message reaches declares it."""
        kind, t = self.kind(text), self.bare(text)
        if kind == "void":
            return "void"
        if kind == "number":
            return self.number(t)[0]
        if kind == "struct":
            return FOREIGN[t][0] if t in FOREIGN else t
        if kind in ("error", "out"):
            return "id *"
        return "void *" if kind == "pointer" else "id"

    def result(self, text):
        """The same for results: narrow numbers fill the register, as callers without types expect."""
        c = self.c(text)
        return "unsigned long" if c in ("bool", "uint8_t", "uint16_t", "uint32_t", "unsigned") else c

    def encoding(self, text):
        """As @encode has it. BOOL is that of this processor (mac/objc/abi.h)."""
        kind, t = self.kind(text), self.bare(text)
        if kind == "void":
            return "v"
        if kind == "number":
            return '" ABI_BOOL "' if t == "BOOL" else self.number(t)[1]
        if kind == "struct":
            return FOREIGN[t][1] if t in FOREIGN else self.struct_encoding(t)
        if kind in ("error", "out"):
            return "^@"
        if kind == "pointer":
            return self.pointer_encoding(t)
        return "@?" if kind == "block" else "@"

    def pointer_encoding(self, t):
        if t in POINTERS:
            return POINTERS[t]
        inner = re.sub(r"\s*(\*(\s*const)?|\[\w*\])$", "", t)
        const = "r" if inner.startswith("const ") and not inner.endswith("*") or inner.endswith("const") else ""
        inner = inner.removeprefix("const ").removesuffix("const").rstrip()
        if inner in ("char", "uint8_t"):
            return const + "*"
        return const + "^" + self.encoding(inner)

    def struct_encoding(self, name):
        struct = self.api.structs[name]
        parts = (f"[{count}{self.encoding(base)}]" if count else self.encoding(base) for base, count in self.members(struct))
        return "{" + (struct.tag or "?") + "=" + "".join(parts) + "}"

    @staticmethod
    def members(struct):
        """(type, elements of an array or 0) of each field."""
        for field in struct.fields:
            base, _, names = field.partition(" ")
            for one in names.split(","):
                count = re.search(r"\[(\d+)\]", one)
                yield base, int(count[1]) if count else 0

    def signature(self, method):
        """As the compiler writes it: the size of the arguments, then each with its place."""
        parts, at = [], 16
        for text, _ in method.params:
            parts.append(f"{self.encoding(text)}{at}")
            at += max(self.bytes(text), 4)
        return f"{self.encoding(method.result)}{at}@0:8{''.join(parts)}"

    def bytes(self, text):
        """What a value needs; fields of structs here need no space between them."""
        kind, t = self.kind(text), self.bare(text)
        if kind == "number":
            return BYTES[self.number(t)[1]]
        if kind == "struct" and t not in FOREIGN:
            return sum(max(count, 1) * self.bytes(base) for base, count in self.members(self.api.structs[t]))
        return 16 if kind == "struct" else 8
