# SPDX-License-Identifier: Apache-2.0
"""values.py: enumerations, option sets, errors and structs of the Swift module."""
import re

from swift import spelling
from swift.kinds import NUMBER, RAW


def numbers(e):
    """(item, its value); a value may name items before it."""
    known = {"INT64_MAX": 2 ** 63 - 1}
    for i in e.items:
        if "ours" in i.marks:
            continue
        text = re.sub(r"(?<=[\dA-Fa-f])(UL|ULL|U|L|u|ul)\b", "", i.value)
        value = eval(text, {"__builtins__": {}}, known)  # numbers, shifts and names of the table
        known[i.name] = value % 2 ** 64 if RAW[e.base].startswith("U") else value
        yield i, known[i.name]


def options(e):
    rows = "".join(f"    public static let {spelling.tick(spelling.case(e, i))}: {e.name} = " +
                   (f"{e.name}(rawValue: {v})\n" if v else "[]\n") for i, v in numbers(e))
    raw = RAW[e.base]
    return (f"public struct {e.name}: OptionSet, Hashable, Sendable {{\n    public let rawValue: {raw}\n"
            f"    public init(rawValue: {raw}) {{ self.rawValue = rawValue }}\n{rows}}}\n")


def cases(e, name, indent="    "):
    """Enumerators; a second name of a value is a property."""
    out, seen = "", {}
    for i, v in numbers(e):
        c = spelling.tick(spelling.case(e, i))
        if v not in seen:
            out += f"{indent}case {c} = {v}\n"
        elif c != seen[v]:
            out += f"{indent}public static var {c}: {name} {{ .{seen[v]} }}\n"
        seen.setdefault(v, c)
    return out


def error(e, domain):
    """An error with a code, as the importer makes of NS_ERROR_ENUM: catch MTLLibraryError.compileFailure."""
    names = "".join(f"    public static var {spelling.tick(c)}: Code {{ .{spelling.tick(c)} }}\n"
                    for c in dict.fromkeys(spelling.case(e, i) for i, _ in numbers(e)))
    rows = cases(e, "Code", "        ")
    return (f"public struct {e.name}: _BridgedStoredNSError, Sendable {{\n    public let _nsError: NSError\n"
            f"    public init(_nsError error: NSError) {{ _nsError = error }}\n"
            f"    public static var _nsErrorDomain: String {{ {domain} }}\n"
            f"    public static var errorDomain: String {{ {domain} }}\n"
            f"    public enum Code: Int, _ErrorCodeProtocol, Sendable {{\n        public typealias _ErrorType = {e.name}\n{rows}    }}\n"
            f"{names}}}\n")


def domain(api, e):
    found = re.search(r"domain (\w+)", e.doc)
    return found[1] if found and found[1] in api.strings else None


def enumerations(api):
    out, errors = "", ""
    for e in api.enums.values():
        if e.base == "ours":
            continue
        if e.kind == "options":
            out += options(e)
        elif domain(api, e):
            out += error(e, domain(api, e))
            errors += f"    {domain(api, e)}: {{ {e.name}(_nsError: $0) }},\n"
        else:
            out += f"public enum {e.name}: {RAW[e.base]}, Sendable {{\n{cases(e, e.name)}}}\n"
    return out + f"nonisolated(unsafe) let _errors: [String: (NSError) -> any Error] = [\n{errors}]\n"


def zero(api, t):
    if t in NUMBER:
        return "false" if t == "BOOL" else "0"
    if t in api.enums:
        return "[]" if api.enums[t].kind == "options" else f"{t}(rawValue: 0)!"
    return "0" if api.typedefs.get(t) in NUMBER else f"{t}()"


def fields(s):
    """(type, name, elements of an array or 0)."""
    for f in s.fields:
        t, _, names = f.partition(" ")
        for n in names.split(","):
            array = re.match(r"\s*(\w+)\[(\d+)\]", n)
            yield (t, array[1], int(array[2])) if array else (t, n.strip(), 0)


def comparable(api, s):
    """Tuples, which C's arrays are, have no ==."""
    return not any(many or t in api.structs and not comparable(api, api.structs[t]) for t, _, many in fields(s))


def struct(api, s):
    rows, args, sets = "", [], ""
    for t, n, many in fields(s):
        one = NUMBER.get(t, t)
        kind = "(" + ", ".join([one] * many) + ")" if many else one
        nothing = "(" + ", ".join([zero(api, t)] * many) + ")" if many else zero(api, t)
        rows += f"    public var {n}: {kind} = {nothing}\n"
        args.append(f"{n}: {kind}")
        sets += f"        self.{n} = {n}\n"
    same = ", Hashable" if comparable(api, s) else ""
    return (f"public struct {s.name}: Sendable{same} {{\n{rows}    public init() {{}}\n"
            f"    public init({', '.join(args)}) {{\n{sets}    }}\n}}\n")


def structs(api):
    return "".join(struct(api, s) for s in api.structs.values())


def names(api):
    """Typedefs and string constants."""
    out = "".join(f"public typealias {name} = {NUMBER.get(base, base)}\n" for name, base in api.typedefs.items())
    return out + "".join(f"public let {name} = {value}\n" for name, value in api.strings.items())
