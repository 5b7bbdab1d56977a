# SPDX-License-Identifier: Apache-2.0
"""headers.py: writes Metal/Metal.h and QuartzCore's CAMetalLayer.h for Objective-C and C++, a header of a
line for each header of Apple's, and the string constants."""
import re

NOTE = "// Written by api/gen/generate.py from api/*.api: do not edit.\n"


class Header:
    def __init__(self, api, types, framework):
        self.api, self.types, self.framework = api, types, framework

    def mine(self, header):
        return self.framework == (header.split("/")[0] if "/" in header else "Metal")

    def text(self, guard, imports):
        classes = [c for c in self.api.order if self.mine(c.header)]
        out = [NOTE, f"#ifndef {guard}\n#define {guard}\n#pragma clang system_header\n"]
        out += [f"#import <{name}>\n" for name in imports] + ["NS_ASSUME_NONNULL_BEGIN\n\n"]
        out += [f"@protocol {c.name};\n" if c.kind == "protocol" else f"@class {c.name};\n" for c in classes]
        out += [self.enum(e) for e in self.api.enums.values() if self.mine(e.header)]
        if self.framework == "Metal":
            names = sorted(self.api.typedefs.items(), key=lambda t: t[1] in self.api.structs)
            plain = [f"typedef {base} {name};\n" for name, base in names if base not in self.api.structs]
            late = [f"typedef {base} {name};\n" for name, base in names if base in self.api.structs]
            out += plain + [self.struct(s) for s in self.ordered()] + late
            out += [self.block(name, text) for name, text in self.api.blocks.items()]
            out += [f"FOUNDATION_EXPORT {self.string_type(n)}const {n};\n" for n in self.api.strings]
            out.append("NS_ASSUME_NONNULL_END\n#import <Metal/MTLFunctions.h>\nNS_ASSUME_NONNULL_BEGIN\n")
        out += [self.declare(c) for c in sorted(classes, key=lambda c: len(self.api.chain(c)))]
        out.append("NS_ASSUME_NONNULL_END\n#endif\n")
        return "".join(out)

    def ordered(self):
        """Structs behind those that their fields are."""
        out, left = [], list(self.api.structs.values())
        while left:
            ready = [s for s in left if not any(f.split()[0] in {o.name for o in left} for f in s.fields)]
            out += ready
            left = [s for s in left if s not in ready]
        return out

    @staticmethod
    def string_type(name):
        if name.endswith("Domain"):
            return "NSErrorDomain "
        return "NSString *"

    @staticmethod
    def enum(e):
        if e.base == "ours":
            return ""
        least = {"-1": "NSUIntegerMax"} if e.base == "NSUInteger" else {}
        rows = "".join(f"    {i.name}{marks(i)} = {least.get(i.value, i.value)},\n" for i in e.items if "ours" not in i.marks)
        return f"typedef NS_{'OPTIONS' if e.kind == 'options' else 'ENUM'}({e.base}, {e.name}) {{\n{rows}}}{marks(e)};\n"

    @staticmethod
    def struct(s):
        rows = "".join(f"    {field};\n" for field in s.fields)
        return f"typedef struct {s.tag} {{\n{rows}}} {s.name}{marks(s)};\n".replace("struct  {", "struct {")

    @staticmethod
    def block(name, text):
        found = re.fullmatch(r"void \((.*)\)", text)
        return f"typedef void (^{name})({found[1]});\n"

    def property(self, p):
        kind, words = self.types.kind(p.type), ["nonatomic"]
        if p.readonly:
            words.append("readonly")
        elif kind in ("string", "array", "dictionary", "url", "block"):
            words.append("copy")
        elif kind in ("object", "data"):
            words.append("strong")
        if p.getter:
            words.append(f"getter={p.getter}")
        text = p.type
        if text.startswith(("nullable ", "null_resettable ")):
            word, text = text.split(" ", 1)
            words.append(word)
        space = "" if text.endswith("*") else " "
        return f"@property ({', '.join(words)}) {text}{space}{p.name}{marks(p)};\n"

    @staticmethod
    def method(m):
        keys = m.selector.split(":")
        if not m.params:
            return f"{'+' if m.static else '-'} ({m.result}){m.selector}{marks(m)};\n"
        parts = " ".join(f"{k}:({t}){n}" for k, (t, n) in zip(keys, m.params))
        return f"{'+' if m.static else '-'} ({m.result}){parts}{marks(m)};\n"

    def declare(self, cls):
        if cls.kind == "protocol":
            head = f"\n{class_marks(cls)}@protocol {cls.name} <{cls.parent or 'NSObject'}>\n"
        else:
            above = self.api.classes.get(cls.parent)
            adopted = f"{above.name}, " if above and above.kind == "protocol" else ""
            parent = above.name if above and above.kind != "protocol" else cls.parent if not above else None
            parent = parent or "NSObject"
            copied = f" <{adopted}NSCopying>" if not cls.on else ""  # libingot's objects are not copied
            head = f"\n{class_marks(cls)}@interface {cls.name} : {parent}{copied}\n"
        rows = [self.property(p) for p in cls.properties if not p.hidden] + [self.method(m) for m in cls.methods
                                                             if not (m.static and cls.kind == "protocol")]
        if cls.kind == "array":
            rows = [f"- ({cls.item} *)objectAtIndexedSubscript:(NSUInteger)index;\n",
                    f"- (void)setObject:(nullable {cls.item} *)object atIndexedSubscript:(NSUInteger)index;\n"]
        return head + "".join(rows) + "@end\n"


def marks(row):
    """What Apple's headers say behind a declaration: its name in Swift, and the first system that has it."""
    out = ""
    if row.swift:
        out += " NS_REFINED_FOR_SWIFT" if row.swift == "-" else f" NS_SWIFT_NAME({row.swift})"
    if row.since:
        out += f" API_AVAILABLE(macos({row.since.removeprefix('macos')}))"
    return out


def class_marks(cls):
    """The same, in the line before."""
    return marks(cls).strip() + "\n" if marks(cls) else ""


def strings(api):
    show = "__attribute__((visibility(\"default\")))"
    rows = "".join(f"{show} NSString *const {name} = @{value};\n" for name, value in api.strings.items())
    return f"{NOTE}#import <Foundation/Foundation.h>\n{rows}"
