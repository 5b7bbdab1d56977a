# SPDX-License-Identifier: Apache-2.0
"""modules.py: Metal and its neighbours as modules for the Swift at hand. A compiled module is bound to one compiler, so
sources are shipped, compiled once and kept in the user's cache."""
import fcntl
import pathlib
import shutil
import subprocess
import sys

from system import cache_folder, digest, fail

# In the order of their imports.
MODULES = ("Metal", "QuartzCore", "simd", "MetalKit", "MetalFX", "os")
STAND_INS = ("SwiftUI",)  # of ours, for model files of Xcode projects alone


class Modules:
    def __init__(self, system, sources, lib):
        self.system, self.sources, self.lib = system, pathlib.Path(sources), pathlib.Path(lib)
        if not (self.lib / "libIngotFace.so").exists() or not (self.sources / "Metal/API.swift").exists():
            fail("the Swift part of Ingot is not here (libIngotFace, its modules): build or install it whole")
        self.folder = cache_folder() / "modules" / digest([], system.version, str(self.lib))

    def ready(self):
        """Compiles what is not there or has changed; several programs may want it at once."""
        (self.folder / "stand-ins").mkdir(parents=True, exist_ok=True)
        with open(self.folder / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            shutil.copytree(self.sources / "CIngotMetal", self.folder / "CIngotMetal", dirs_exist_ok=True)
            below = ""  # of all modules but the first: they import it
            for name in MODULES + STAND_INS:
                made = self.compile(name, self.folder / "stand-ins" if name in STAND_INS else self.folder, below)
                below = below or made
        return self

    def compile(self, name, out, below):
        """The digest of what the module is made of."""
        folders = [self.sources / name] + [self.sources / "CIngotMetal"] * (not below)
        files = sorted(p for f in folders for p in f.iterdir())
        made, stamp = digest(files, below), out / f"{name}.made"
        if stamp.exists() and stamp.read_text() == made:
            return made
        if name == MODULES[0]:
            print(f"ingot swift: compiling {name} for {self.system.version} (once; a minute or two)", file=sys.stderr)
        # A copy: the shipped ones may be replaced meanwhile, by a build or an installation.
        copies = self.folder / "sources" / name
        copies.mkdir(parents=True, exist_ok=True)
        files = [pathlib.Path(shutil.copy(p, copies)) for p in files]
        library = f"IngotSwift{name}"
        words = ["swiftc", "-O", "-wmo", "-parse-as-library", "-emit-module", "-emit-library", "-module-name", name,
                 "-module-link-name", library, "-swift-version", "5", "-I", self.folder, "-I", self.folder / "CIngotMetal",
                 "-emit-module-path", out / f"{name}.swiftmodule", "-o", out / f"lib{library}.so",
                 *(p for p in files if p.suffix == ".swift"),
                 "-L", self.folder, "-L", self.lib, *self.link([self.folder, self.lib]), "-Xlinker", "-soname",
                 "-Xlinker", f"lib{library}.so", *["-lIngotFace"] * (name == MODULES[0])]
        done = self.system.run(words, capture_output=True, text=True, cwd=self.folder)
        if done.returncode:
            print(done.stderr + done.stdout, file=sys.stderr)
            fail(f"the module {name} does not compile with {self.system.version}")
        stamp.write_text(made)
        return made

    @staticmethod
    def link(folders):
        return [w for f in folders for w in ("-Xlinker", "-rpath", "-Xlinker", str(f))]

    def flags(self, stand_ins=False):
        """Words for swiftc."""
        folders = [self.folder] + [self.folder / "stand-ins"] * stand_ins
        return [w for f in folders for w in ("-I", f, "-L", f)] + ["-I", self.folder / "CIngotMetal"] + self.link(folders + [self.lib])

    def package_flags(self, stand_ins=False):
        """The same for `swift build`."""
        out, words = [], iter(str(w) for w in self.flags(stand_ins))
        for w in words:
            out += ["-Xlinker", next(words)] if w == "-Xlinker" else ["-Xlinker", "-L" + next(words)] if w == "-L" else \
                ["-Xswiftc", w, "-Xswiftc", next(words)]
        return out


def metal_library(ingot, files, output, what):
    """Shaders become a library where makeDefaultLibrary() looks."""
    if not files or output.exists() and all(output.stat().st_mtime > f.stat().st_mtime for f in files):
        return
    if subprocess.run([ingot, "build", *map(str, files), "-o", str(output)], check=False).returncode:
        fail(f"the shaders of {what} do not compile")
