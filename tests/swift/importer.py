# SPDX-License-Identifier: Apache-2.0
"""importer.py: the real importer of Swift as the oracle of names. It reads our Objective-C headers (build/face/include), and
every enumerator, property and method that has a name in the table must be there under the name that we generate."""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "api/gen"))
import table  # noqa: E402
from swift import spelling, values  # noqa: E402

# Swift's own Foundation, Dispatch and their C modules stay out: our headers are what is imported.
OURS_INSTEAD = {"CoreFoundation", "dispatch", "Block", "os", "_foundation_unicode", "_FoundationCShims", "linux"}
NEEDED = ("Swift", "SwiftOnoneSupport", "_Concurrency", "_StringProcessing", "_Builtin_float", "Synchronization")
# Apple's notes on the interface name these, the importer's rule does not.
BY_NOTES = {"MTLPixelFormat", "MTLDataType", "MTLTensorDataType", "MTLAttributeFormat", "MTLIOCompressionMethod"}
UNSIGNED = re.compile(r"(UInt|UShort|UChar)")  # .uint16, where the rule would have uInt16


def resources(system, folder):
    """A resource directory like the compiler's, without what would be imported in place of our headers."""
    info = json.loads(system.run(["swiftc", "-print-target-info"], capture_output=True, text=True).stdout)
    theirs = pathlib.Path(info["paths"]["runtimeResourcePath"])
    seen = theirs if not system.root else system.root / theirs.relative_to("/")
    out = folder / "resources"
    (out / "linux").mkdir(parents=True)
    for path in seen.iterdir():
        if path.name not in OURS_INSTEAD:
            (out / path.name).symlink_to(theirs / path.name)
    for name in NEEDED:
        if (seen / f"linux/{name}.swiftmodule").exists():
            (out / f"linux/{name}.swiftmodule").symlink_to(theirs / f"linux/{name}.swiftmodule")
    return out


def questions(api):
    """Lines of Swift, each with the name that it asks for."""
    for e in api.enums.values():
        if e.base != "ours" and e.name not in BY_NOTES:
            for i, value in values.numbers(e):
                if UNSIGNED.search(i.name) or e.kind == "options" and not value:  # [] in Swift, and beside it for programs that name it
                    continue
                yield f"let _ = {e.name}.{spelling.tick(spelling.case(e, i))}", i.name
    for n, c in enumerate(c for c in api.order if c.kind != "array"):
        above = {p.name for a in api.chain(c)[1:] for p in a.properties}
        for k, p in enumerate(c.properties):
            if not p.hidden and p.name not in above:
                yield f"func p{n}_{k}(x: {c.name}) {{ _ = x.{spelling.tick(spelling.property_name(p))} }}", f"{c.name}.{p.name}"
        for k, m in enumerate(c.methods):
            # Our NSError is no error to the importer: methods that throw keep their last argument there.
            if m.swift and m.swift != "-" and not m.static and "rror:" not in m.selector:
                name = m.swift.removesuffix("()") if m.swift.endswith("()") else m.swift
                yield f"func m{n}_{k}(x: {c.name}) {{ _ = x.{name} }}", f"-[{c.name} {m.selector}]"


def check(swift, folder, build):
    rows = list(questions(table.read(ROOT / "api")))
    source = folder / "names.swift"
    source.write_text("import Metal\nimport QuartzCore\n" + "".join(line + "\n" for line, _ in rows))
    done = swift.system.run(["swiftc", "-frontend", "-typecheck", source, "-enable-objc-interop", "-I", build / "face/include",
                             "-resource-dir", resources(swift.system, folder), "-Xcc", "-fobjc-runtime=macosx-10.15", "-Xcc", "-fblocks",
                             "-module-cache-path", folder / "cache"], capture_output=True, text=True)
    text = done.stdout + done.stderr
    wrong = {}
    for line in text.splitlines():
        if ".swift:" in line and " error: " in line and "ambiguous" not in line:
            at = int(line.split(".swift:")[1].split(":")[0]) - 3
            wrong.setdefault(at, line.split(" error: ")[1])
    if done.returncode and not wrong and " error: " in text and "ambiguous" not in text:
        raise SystemExit(f"FAILED: the importer cannot read our headers:\n{text[:2000]}")
    for at, why in sorted(wrong.items()):
        print(f"WRONG: {rows[at][1]}: {why}" if 0 <= at < len(rows) else why)
    if wrong:
        raise SystemExit(f"FAILED: {len(wrong)} of {len(rows)} names are not the importer's")
    print(f"{len(rows)} names are the importer's")
