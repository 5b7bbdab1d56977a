# SPDX-License-Identifier: Apache-2.0
"""ingot swift: Swift with Ingot's Metal. Called by `ingot` (cmd_swift.c): INGOT-PROGRAM LIBRARIES MODULES WORDS..."""
import pathlib
import shutil
import sys

from modules import Modules, metal_library
from package import Package
from system import fail, find
from xcode import Bridge, Project

USAGE = """usage: ingot swift build|run|test [--project X.xcodeproj [--target T]] [OPTIONS OF SWIFT]
       ingot swift exec PROGRAM [ARGUMENTS]
       ingot swift modules
       ingot swiftc [OPTIONS OF SWIFTC] FILES

Builds, runs and tests Swift packages that use Metal, as they are: `import Metal`, MetalKit, QuartzCore
and simd are Ingot's, and .metal files become default.metallib. An Xcode project is read
as a package; its files with views are left out, by name. `exec` runs a program that was built where Swift's own
libraries are; `modules` prints where the compiled modules are.

Swift is the machine's (swiftc in PATH) or a Debian with it in the cache (scripts/swift-system [trixie|sid]).
"""


def take(words, name):
    """The value of an option of ours, taken out of the words."""
    for i, w in enumerate(words):
        if w == name:
            if i + 1 == len(words):
                fail(f"{name} needs a value")
            del words[i]
            return words.pop(i)
    return None


def project(path, verb, words, system, modules, ingot):
    target = take(words, "--target")
    bridge = Bridge(Project(path), target)
    package = Package(bridge.write(), system, modules, ingot, stand_ins=True)
    # A program on a Mac finds shaders and resources in its bundle; here they lie beside it.
    products = []

    def shaders(folder):
        products.append(folder)
        metal_library(ingot, bridge.shaders, folder / "default.metallib", bridge.project.path.name)
        for r in bridge.resources:
            shutil.copy(r, folder / r.name)
    package.shaders = shaders
    package.do(verb, words)


def main():
    ingot, lib, sources, command, *words = sys.argv[1:]
    if not words or words[0] in ("--help", "-h"):
        print(USAGE, end="", file=sys.stdout if words else sys.stderr)
        return 0 if words else 2
    if command == "swift" and words[0] not in ("build", "run", "test", "exec", "modules"):
        fail(f"what is '{words[0]}'? (`ingot swift --help`)")
    system = find()
    modules = Modules(system, sources, lib).ready()
    if command == "swiftc":
        return system.run(["swiftc", *modules.flags(), *words]).returncode
    verb, words = words[0], words[1:]
    if verb == "exec":
        return system.run(words).returncode if words else fail("exec needs a program")
    if verb == "modules":
        print(modules.folder)
        return 0
    path = take(words, "--project")
    if path:
        return project(path, verb, words, system, modules, ingot)
    return Package(pathlib.Path.cwd(), system, modules, ingot).do(verb, words)


if __name__ == "__main__":
    sys.exit(main())
