# SPDX-License-Identifier: Apache-2.0
"""package.py: SwiftPM packages, as they are: `swift build`, `run` and `test` with Ingot's modules. Shaders become
default.metallib where Xcode would put it: in the resource bundle of a target that has one, else beside the program."""
import json
import pathlib
import re

from modules import metal_library
from system import fail

# What a Mac's own modules (XCTest, AppKit, ...) re-export, so that files there need not import it.
NAMES = re.compile(r"\b(MTL4?[A-Z]\w+|CAMetalLayer|CACurrentMediaTime)\b")
IMPORTS = re.compile(r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*import[ \t]+(?:\w+[ \t]+)?(\w+)", re.M)
HAS_METAL = {"Metal", "MetalKit", "MetalPerformanceShaders", "QuartzCore"}


def needs_import(text):
    return bool(NAMES.search(re.sub(r"//.*", "", text))) and not HAS_METAL & set(IMPORTS.findall(text))


class Package:
    def __init__(self, folder, system, modules, ingot, stand_ins=False):
        self.folder, self.system, self.ingot = pathlib.Path(folder).resolve(), system, ingot
        if not (self.folder / "Package.swift").exists():
            fail(f"no Package.swift in {self.folder}: go to a package, or name an Xcode project (--project X.xcodeproj)")
        self.flags = modules.package_flags(stand_ins)
        self.targets = self.describe()
        if any(needs_import(p.read_text(errors="replace")) for t in self.targets for p in self.sources(t, ".swift")):
            for name in ("Metal", "QuartzCore"):
                self.flags += ["-Xswiftc", "-Xfrontend", "-Xswiftc", "-import-module", "-Xswiftc", "-Xfrontend", "-Xswiftc", name]

    def swift(self, words, **more):
        return self.system.run(["swift", *words], cwd=self.folder, **more)

    def describe(self):
        done = self.swift(["package", "describe", "--type", "json"], capture_output=True, text=True)
        start = done.stdout.find("{")
        if done.returncode or start < 0:
            fail(f"the package cannot be read: {(done.stderr.strip().splitlines() or ['no reason given'])[-1]}")
        return json.loads(done.stdout[start:])["targets"]

    def sources(self, target, suffix):
        folder = self.folder / target["path"]
        return sorted(p for p in folder.rglob("*" + suffix) if ".build" not in p.relative_to(self.folder).parts)

    def build(self, words):
        if self.swift(["build", *words, *self.flags]).returncode:
            raise SystemExit(1)
        options = [w for i, w in enumerate(words) if w in ("-c", "--configuration") or words[i - 1] in ("-c", "--configuration")]
        done = self.swift(["build", "--show-bin-path", *options, *self.flags], capture_output=True, text=True)
        self.shaders(pathlib.Path(done.stdout.strip()))

    def shaders(self, products):
        beside = []
        for t in self.targets:
            files = self.sources(t, ".metal")
            bundles = list(products.glob(f"*_{t['name']}.resources"))
            if bundles:
                metal_library(self.ingot, files, bundles[0] / "default.metallib", f"target {t['name']}")
            beside += files
        metal_library(self.ingot, beside, products / "default.metallib", "the package")

    def do(self, verb, words):
        rest = words[words.index("--") + 1:] if "--" in words else []
        own = words[:words.index("--")] if "--" in words else words
        options, names, i = [], [], 0
        while i < len(own):  # what `swift build` knows goes there; the rest to `swift run` or `swift test`
            both = own[i] in ("-c", "--configuration", "--product", "--target", "-j", "--jobs", "--sanitize", "--build-path", "--scratch-path")
            taken = own[i:i + 2] if both else own[i:i + 1]
            (options if both or own[i] in ("-v", "--verbose", "-q", "--quiet", "--enable-testing") else names).extend(taken)
            i += len(taken)
        if verb == "build":
            return self.build(own)
        self.build(options + ["--build-tests"] * (verb == "test"))
        done = self.swift([verb, "--skip-build", *options, *self.flags, *names, *rest])
        raise SystemExit(done.returncode)
