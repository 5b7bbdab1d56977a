# SPDX-License-Identifier: Apache-2.0
"""table.py: reads the table of Metal's API (api/*.api) into plain objects.

A line is a row, `#` begins a comment, rows below a protocol or class belong to it:

    header MTLBuffer                          the header that Objective-C programs import it by
    enum NSUInteger MTLStorageMode [// TEXT]  or: options; `enum ours` is not Apple's. Rows below:
        NAME = VALUE [MARKS] [// TEXT]        marks: objc (an old name, for Objective-C alone), ours (not Apple's),
                                              nopython; the text stands in C's header
        python "TEXT" [prefix WORD] [exported N]  an enumeration of Python's; exported: its members are also the
                                              module's, those of a higher N where names are the same
        python constants [without WORD]       plain numbers of the module; a word of the row above where both are
    struct MTLSize [tag TAG] NSUInteger w; .. the fields; without a tag as Apple has most of them
    typedef uint64_t MTLGPUAddress
    block MTLLogHandler void (NSString *a, ...)
    string MTLIOErrorDomain "text"
    protocol MTLBuffer : MTLResource          [on CLASS]: the class of libingot that has its methods;
                                              [values]: objects of it are made here;
                                              [program]: programs have classes of it, we send
    class MTLHeapDescriptor : NSObject        [fills STRUCT] [on CLASS] [after] [byhand]; [bytes N]: programs may
                                              have subclasses, whose variables begin there
    array MTLxArray of MTLx 8
    property [readonly] [getter=isX] [made] TYPE name [default EXPRESSION] [=> BINDING]
                                              made: its getter makes the object that it would give nil for, as it does
                                              where the type is null_resettable; nullability is Apple's
    slot TYPE name                            a property that programs do not see
    default name EXPRESSION                   of a property of the superclass
    doc name TEXT                             Python's docstring of a row of the superclass
    - (TYPE)selector:(TYPE)name ... [=> BINDING]
    ours ROW                                  a property, method or class that is not Apple's: Python has it, Objective-C
                                              does not

Python's part of a row stands behind `::`, the docstring last: `:: TEXT`, or `:: SIGNATURE :: TEXT` where the rule
(python/rows.py) would give another signature than pymetal has. A row without it is not pymetal's, and a class is
pymetal's by a row below it:

    python "TEXT" [name NAME] [factory NAME] [constructible] [kept] [fill] [slots NAME] [props NAME]
           [free_aux FUNCTION] [called FUNCTION] [inherits FIELD] [without FIELD]
    python hand NAME ...
                                              factory: the class method that makes one with Metal's defaults;
                                              kept: it keeps the object that gave it; fill: fill_NAME is for hand-written
                                              code too; slots, props, free_aux, called: of python/pymetal_ext;
                                              inherits: the superclass's fields stand behind this one ("first": before
                                              all), not at the end; without: one of them that it lacks; hand: methods of
                                              python/pymetal_ext

Rows `c` and `.` below a class are C's plain accessors (accessor_rows.py).

Marks stand behind a row's binding, before Python's part: [KEY=VALUE, ...].
    swift=copy(from:to:)                      Apple's name in Swift where the rule (names.py: swift) gives another: of a method with
                                              its labels, else (property, enumerator, class) a word; `swift=-`: Swift has it
                                              by hand (NS_REFINED_FOR_SWIFT)
    since=macos13.0                           the first macOS that has it; without: its owner's, else Metal's first (SINCE)

Bindings of methods: nothing (the rule of names: names.py), a function of include/ingot ("owned"
behind it: it gives a reference; "array": it and NAME_count make a NSArray; "with A, B": more arguments
at its end), `hand` (a function face_CLASS_selector_ in src/mac/face), `new` (an object of
the class), `set` (stores its arguments in the properties of their names), `reset`,
`answer EXPRESSION` (a fact of this device), `refused REASON`.
Of a descriptor's properties: nothing or .field or !.field of the struct that it fills, `after` (the
hand-written face_after_CLASS fills it: such a class has the word `after`; with `byhand` all of
face_fill_CLASS is hand-written), `kept REASON` (remembered, without effect: why nothing differs),
`refused REASON`, `hand`.
"""
import collections
import pathlib
import re
import shlex
from accessor_rows import read_accessor, read_group

# swift, since: what the marks say, or None (Api.since: with what is inherited); python: (signature, docstring) or None.
Property = collections.namedtuple("Property", "type name readonly getter made default binding where hidden swift since python",
                                  defaults=[None, None, None])
Method = collections.namedtuple("Method", "static result selector params binding where swift since python",
                                defaults=[None, None, None])
Enum = collections.namedtuple("Enum", "kind base name doc items header python swift since",  # python: the words of its row
                              defaults=[None, None])
Item = collections.namedtuple("Item", "name value marks doc swift since", defaults=[None, None])
Struct = collections.namedtuple("Struct", "name tag fields header swift since", defaults=[None, None])

SINCE = "macos10.11"
MARK = r"(?:(?:swift|since)=[^\s,\]]+|objc|ours|nopython)"
MARKS = re.compile(rf" \[({MARK}(?:, {MARK})*)\](?= // |$)")


class Class:
    """A protocol, class or array of attachments."""

    def __init__(self, kind, name, parent, header):
        self.kind, self.name, self.parent, self.header = kind, name, parent, header
        self.on = self.fills = self.item = self.bytes = self.swift = self.since = None
        self.count, self.defaults, self.docs = 0, {}, {}
        self.after = self.byhand = self.values = self.program = False
        self.properties, self.methods, self.accessors = [], [], []
        self.rows = []  # both in their order, with ours
        self.python, self.hand = [], []  # the words of its row, and methods of Python's by hand


class Api:
    def __init__(self):
        self.enums, self.structs, self.typedefs, self.blocks = {}, {}, {}, {}
        self.strings, self.classes, self.order, self.headers = {}, {}, [], []
        self.ours = []  # classes that are not Apple's
        self.lists = {}  # of accessors, by name

    def chain(self, cls):
        """The class and what it stands on, nearest first."""
        out = [cls]
        while out[-1].parent in self.classes:
            out.append(self.classes[out[-1].parent])
        return out

    @staticmethod
    def since(row, owner=None):
        """The first macOS that has what a row says, as macos10.13."""
        return row.since or owner and owner.since or SINCE

    def messages(self, cls):
        """(Method, Property or None) of a class alone: a property is its getter and setter."""
        for p in cls.properties:
            if p.hidden:
                continue
            yield Method(False, p.type, p.getter or p.name, [], p.binding, p.where, p.swift, p.since), p
            if not p.readonly:
                yield Method(False, "void", setter(p.name), [(p.type, "value")], p.binding, p.where, p.swift, p.since), p
        for m in cls.methods:
            yield m, None


def setter(name):
    return f"set{name[0].upper()}{name[1:]}:"


def read_python(line):
    """The row without Python's part, and that."""
    parts = line.split(" :: ")
    if len(parts) == 1:
        return line, None
    return parts[0].rstrip(), (parts[1].strip() if len(parts) == 3 else "", parts[-1].strip())


def read_row(cls, line, named, python, where, ours=False):
    """A property, slot or method of a class."""
    text, _, binding = line.partition(" => ")
    word, _, rest = text.strip().partition(" ")
    binding = binding.strip()
    if word in "+-":
        row, rows = read_method(text.strip(), binding, where), cls.methods
    elif word == "property":
        row, rows = read_property(rest, binding, where), cls.properties
    else:
        row, rows = read_property(rest, "after", where)._replace(hidden=True), cls.properties
    row = row._replace(python=python, **named)
    cls.rows.append(row)
    if not ours:
        rows.append(row)


def read_method(text, binding, where):
    found = re.fullmatch(r"([+-]) \((.+?)\)(\w+)(.*)", text) or fail(where, "not a method")
    # A result may have parentheses of its own only in blocks, which no method of Metal returns.
    rest = found[3] + found[4]
    if ":" not in rest:
        return Method(found[1] == "+", found[2], rest.strip(), [], binding, where)
    keys, params, at = [], [], 0
    while at < len(rest):
        piece = re.compile(r"\s*(\w*):\(").match(rest, at) or fail(where, f"parameter at '{rest[at:]}'")
        depth, end = 1, piece.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(rest[end], 0)
            end += 1
        name = re.compile(r"(\w+)").match(rest, end)
        keys.append(piece[1] + ":")
        params.append((rest[piece.end():end - 1], name[1]))
        at = name.end()
    return Method(found[1] == "+", found[2], "".join(keys), params, binding, where)


def read_marks(line):
    """(the line without them, plain words, {"swift": ..., "since": ...})."""
    found = MARKS.search(line)
    words = found[1].split(", ") if found else []
    named = dict(word.split("=", 1) for word in words if "=" in word)
    return MARKS.sub("", line), [word for word in words if "=" not in word], named


def read_item(line, words, named, where):
    found = re.fullmatch(r"(\w+) = ([^\[\]]*?)(?: // (.+))?", line) or fail(where, "not an enumerator")
    return Item(found[1], found[2], words, found[3] or "", **named)


def read_property(text, binding, where):
    words, readonly, getter, made = text.split(), False, None, False
    while words:
        if words[0] == "readonly":
            readonly = True
        elif words[0] == "made":
            made = True
        elif words[0].startswith("getter="):
            getter = words[0][7:]
        else:
            break
        words.pop(0)
    text, _, default = " ".join(words).partition(" default ")
    found = re.fullmatch(r"(.*?)(\w+)", text) or fail(where, "not a property")
    return Property(found[1].strip(), found[2], readonly, getter, made, default or None, binding, where, False)


def fail(where, why):
    raise SystemExit(f"{where}: {why}")


def read(folder):
    api = Api()
    for path in sorted(pathlib.Path(folder).glob("*.api")):
        read_file(api, path)
    return api


def read_file(api, path):
    header, owner, enum, last = None, None, None, None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line, where = re.sub(r"(^|\s)#( .*|$)", "", line).strip(), f"{path}:{number}"
        if not line:
            continue
        if line.startswith(("c ", ". ")):
            read_accessors(api, owner, line, where)
            continue
        line, python = read_python(line)
        line, words, named = read_marks(line)
        if enum is not None and re.match(r"\w+ = ", line):
            enum.items.append(read_item(line, words, named, where))
            continue
        word, _, rest = line.partition(" ")
        if word in ("+", "-", "property", "slot"):
            read_row(owner, line, named, python, where)
        elif rest.startswith("class ") and word == "ours":
            last = owner = read_words("class", rest[6:], header, where)
            api.ours.append(owner)
        elif word == "ours":
            read_row(owner, rest, named, python, where, ours=True)
        elif word == "default":
            name, _, value = rest.partition(" ")
            owner.defaults[name] = value
        elif word == "doc":
            name, _, text = rest.partition(" ")
            owner.docs[name] = text
        elif word == "header":
            header = rest
            api.headers.append(header)
        elif word in ("enum", "options"):
            rest, _, doc = rest.partition(" // ")
            base, name = rest.rsplit(" ", 1)
            last = enum = api.enums[name] = Enum(word, base, name, doc, [], header, [], **named)
        elif line.startswith("python hand "):
            owner.hand += rest.split()[1:]
        elif word == "python":
            last.python.extend(shlex.split(rest))
        elif word == "struct":
            name, _, fields = rest.partition(" ")
            tag = re.match(r"tag (\w+) ", fields)
            fields = [f.strip() for f in fields[tag.end() if tag else 0:].split(";")]
            api.structs[name] = Struct(name, tag[1] if tag else "", fields, header, **named)
        elif word == "typedef":
            base, name = rest.rsplit(" ", 1)
            api.typedefs[name] = base
        elif word == "block":
            name, _, signature = rest.partition(" ")
            api.blocks[name] = signature
        elif word == "string":
            name, _, value = rest.partition(" ")
            api.strings[name] = value
        elif word in ("protocol", "class", "array"):
            last = owner = read_class(api, word, rest, header, where)
            owner.swift, owner.since = named.get("swift"), named.get("since")
        else:
            fail(where, f"unknown row '{word}'")


def read_accessors(api, cls, line, where):
    """A row `c` or `.` of a class."""
    if line.startswith("c "):
        group = read_group(line[2:]) or fail(where, "not the file of accessors")
        cls.accessors.append(group)
        api.lists[group.name] = group
    else:
        cls.accessors[-1].rows.append(read_accessor(line[2:], where) or fail(where, "not an accessor"))


def read_words(word, rest, header, where):
    words = rest.split()
    cls = Class(word, words.pop(0), None, header)
    while words:
        key = words.pop(0)
        if key == ":":
            cls.parent = words.pop(0)
        elif key in ("on", "fills", "bytes"):
            setattr(cls, key, words.pop(0))
        elif key == "of":
            cls.item, cls.count = words.pop(0), int(words.pop(0))
        elif key in ("after", "byhand", "values", "program"):
            setattr(cls, key, True)
        else:
            fail(where, f"unknown word '{key}'")
    return cls


def read_class(api, word, rest, header, where):
    cls = read_words(word, rest, header, where)
    if cls.name in api.classes:
        fail(where, f"{cls.name} stands twice")
    api.classes[cls.name] = cls
    api.order.append(cls)
    return cls
