# SPDX-License-Identifier: Apache-2.0
"""xcode.py: an Xcode project as a SwiftPM package: targets, sources, resources and test targets are read from the project
file; a package of links to them is made below .build. Files with views are left out by name, with what needs them; their
plain declarations (a protocol that models refer to) stay."""
import json
import pathlib
import re
import shutil
import sys

from system import fail

TOKEN = re.compile(r'\s*(?://[^\n]*|/\*.*?\*/|("(?:[^"\\]|\\.)*")|([A-Za-z0-9_.$/:-]+)|([{}()=;,]))', re.S)
VIEWS = re.compile(r"\bsome View\b|:\s*(?:\w+\s*,\s*)*(?:View|App|Scene|NSViewRepresentable|UIViewRepresentable|NSView|UIView|MTKView|"
                   r"NSViewController|UIViewController|NSApplicationDelegate|UIApplicationDelegate)\b|@main\b|@NSApplicationMain|"
                   r"\bimport (?:AppKit|UIKit|Cocoa|WatchKit|RealityKit|SceneKit|ARKit)\b")
TOP = re.compile(r"^(?:(?:public|internal|private|fileprivate|final|@\w+(?:\([^)]*\))?)\s+)*"
                 r"(protocol|struct|class|enum|actor|extension|typealias)\s+(\w+)", re.M)
SHADERS, SOURCES = {".metal"}, {".swift"}
IGNORED = {".xcassets", ".storyboard", ".xib", ".entitlements", ".plist", ".md", ".py", ".h", ".strings", ".xcstrings"}


# ---- The project file: a property list of the old kind ----

class Parser:
    def __init__(self, text, path):
        self.path, self.tokens, at = path, [], 0
        while at < len(text):
            found = TOKEN.match(text, at)
            if not found or found.end() == at:
                if text[at:].strip():
                    self.wrong(text.count("\n", 0, at) + 1)
                break
            if found[1] or found[2] or found[3]:
                self.tokens.append((found[1] or found[2] or found[3], bool(found[3])))
            at = found.end()
        self.at = 0

    def wrong(self, line=None):
        fail(f"{self.path}: not a project file that can be read" + (f" (line {line})" if line else ""))

    def next(self, wanted=None):
        if self.at >= len(self.tokens):
            self.wrong()
        token, _ = self.tokens[self.at]
        self.at += 1
        if wanted and token != wanted:
            self.wrong()
        return token

    def value(self):
        token = self.next()
        if token == "{":
            out = {}
            while self.peek() != "}":
                key = self.text(self.next())
                self.next("=")
                out[key] = self.value()
                self.next(";")
            self.next()
            return out
        if token == "(":
            out = []
            while self.peek() != ")":
                out.append(self.value())
                if self.peek() == ",":
                    self.next()
            self.next()
            return out
        return self.text(token)

    def peek(self):
        return self.tokens[self.at][0] if self.at < len(self.tokens) else self.wrong()

    @staticmethod
    def text(token):
        return token[1:-1].replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\") if token.startswith('"') else token


class Project:
    def __init__(self, path):
        self.path = pathlib.Path(path).resolve()
        file = self.path / "project.pbxproj"
        if self.path.suffix != ".xcodeproj" or not file.exists():
            fail(f"{path}: not an Xcode project (a folder NAME.xcodeproj with project.pbxproj)")
        tree = Parser(file.read_text(errors="replace"), file).value()
        self.objects = isinstance(tree, dict) and tree.get("objects") or fail(f"{file}: not a project file that can be read")
        self.root = self.objects.get(tree.get("rootObject")) or fail(f"{file}: it names no project")
        self.folder = self.path.parent / self.root.get("projectDirPath", "")
        self.parents = {c: i for i, o in self.objects.items() if isinstance(o, dict) for c in o.get("children", [])}
        self.targets = [self.objects[i] | {"id": i} for i in self.root.get("targets", [])
                        if self.objects[i].get("isa") == "PBXNativeTarget"]

    def place(self, ident):
        """The path of a file or group."""
        o = self.objects[ident]
        if o.get("sourceTree") == "SOURCE_ROOT" or ident not in self.parents:
            above = self.folder
        else:
            above = self.place(self.parents[ident])
        return above / o["path"] if "path" in o else above

    def files(self, target):
        """Everything a target is made of: what its phases list, and folders that are in it as a whole."""
        out = []
        for phase in target.get("buildPhases", []):
            for f in self.objects[phase].get("files", []):
                ref = self.objects.get(f, {}).get("fileRef")
                if ref in self.objects:
                    out.append(self.place(ref))
        for group in target.get("fileSystemSynchronizedGroups", []):
            without = {self.place(group) / name for e in self.objects[group].get("exceptions", [])
                       if self.objects[e].get("target") == target["id"] for name in self.objects[e].get("membershipExceptions", [])}
            out += sorted(p for p in self.place(group).rglob("*") if p.is_file() and p not in without
                          and not any(part.endswith((".xcassets", ".xcdatamodeld")) for part in p.parts))
        return [p for p in dict.fromkeys(out) if p.exists()]

    def needs(self, target):
        return [self.objects[self.objects[d]["target"]]["name"] for d in target.get("dependencies", [])
                if self.objects.get(d, {}).get("target") in self.objects]

    @staticmethod
    def tests(target):
        return "test" in target.get("productType", "")


# ---- Views ----

def declarations(text):
    """(kind, name, text) of the declarations at the top of a file, by their braces."""
    for found in TOP.finditer(text):
        if text.count("{", 0, found.start()) != text.count("}", 0, found.start()):
            continue
        depth, at = 0, found.end()
        while at < len(text):
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
            if depth == 0 and (text[at - 1] == "}" or found[1] == "typealias" and text[at - 1] == "\n"):
                break
        yield found[1], found[2], text[found.start():at]


def plain(text):
    """What a file with views has that needs none of them: protocols, their extensions, and enumerations."""
    rows = list(declarations(text))
    kept = {name for kind, name, body in rows if kind in ("protocol", "enum") and not VIEWS.search(body)}
    imports = "".join(f"import {m}\n" for m in ("Foundation", "Metal", "QuartzCore"))
    bodies = [body for kind, name, body in rows if name in kept and not VIEWS.search(body)]
    return imports + "\n".join(bodies) + "\n" if bodies else ""


# ---- The package ----

class Bridge:
    def __init__(self, project, wanted):
        self.project = project
        names = [t["name"] for t in project.targets]
        if wanted and wanted not in names:
            fail(f"{project.path.name} has no target {wanted}; it has {', '.join(names) or 'none'}")
        self.chosen = self.closure(wanted) if wanted else project.targets
        if not self.chosen:
            fail(f"{project.path.name} has no target that is built from sources")
        self.folder = project.folder / ".build/ingot" / project.path.stem
        self.shaders, self.resources = [], []

    def closure(self, wanted):
        todo, out = [wanted], []
        while todo:
            t = next(t for t in self.project.targets if t["name"] == todo[0])
            out.append(t)
            todo = todo[1:] + [n for n in self.project.needs(t) if n not in [o["name"] for o in out]]
        return out

    def link(self, target, files):
        """Links to the sources of a target; files with views are reduced to what needs none."""
        out, sources = self.folder / "Sources" / target["name"], []
        out.mkdir(parents=True)
        for path in files:
            if path.suffix in SHADERS:
                self.shaders.append(path)
            elif path.suffix not in SOURCES:
                self.resources += [path] * (path.suffix not in IGNORED)
                continue
            if path.suffix not in SOURCES:
                continue
            name = "_".join(path.relative_to(self.project.folder).parts) if path.is_relative_to(self.project.folder) else path.name
            text = path.read_text(errors="replace")
            if not VIEWS.search(text):
                (out / name).symlink_to(path)
                sources.append(name)
                continue
            rest = plain(text)
            print(f"ingot swift: left out {path.name} (views: {VIEWS.search(text)[0].strip(': ')})" +
                  (", but for its plain declarations" if rest else ""), file=sys.stderr)
            if rest:
                (out / name).write_text(rest)
                sources.append(name)
        return sources

    def write(self):
        if self.folder.exists():
            shutil.rmtree(self.folder / "Sources", ignore_errors=True)
        rows, made = [], set()
        for t in sorted(self.chosen, key=self.project.tests):
            if not self.link(t, self.project.files(t)):
                print(f"ingot swift: target {t['name']} has nothing but views: left out", file=sys.stderr)
                shutil.rmtree(self.folder / "Sources" / t["name"])
                continue
            made.add(t["name"])
            needs = ", ".join(json.dumps(n) for n in self.project.needs(t) if n in made)
            kind = "testTarget" if self.project.tests(t) else "target"
            rows.append(f'    .{kind}(name: "{t["name"]}", dependencies: [{needs}], path: "Sources/{t["name"]}"),\n')
        if not rows:
            fail(f"{self.project.path.name}: every target needs SwiftUI or another view library, which is not here")
        (self.folder / "Package.swift").write_text(
            "// swift-tools-version:5.9\n// Written by ingot swift from " + self.project.path.name + ".\nimport PackageDescription\n"
            f'let package = Package(name: "{self.project.path.stem}", targets: [\n{"".join(rows)}], swiftLanguageVersions: [.v5])\n')
        return self.folder
