# SPDX-License-Identifier: Apache-2.0
"""Swift programs on Ingot. usage: with_swift.py BUILD-FOLDER programs|packages|memory|names

Skipped (77) where there is no Swift, in PATH or in the cache (scripts/swift-system); SWIFT=1: that fails.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def run(words, **more):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False, **more)


class Swift:
    def __init__(self, build):
        self.ingot = build / "bin/ingot"
        self.modules = run([self.ingot, "swift", "modules"])
        if self.modules.returncode:
            print(self.modules.stderr, end="")
            missing = "no Swift here" in self.modules.stderr
            raise SystemExit(77 if missing and os.environ.get("SWIFT") != "1" else 1)
        sys.path.insert(0, str(ROOT / "src/mac/swift/driver"))
        import system
        self.system = system.find()

    def program(self, source, folder, *flags):
        """Compiled; the path of the program."""
        out = folder / pathlib.Path(source).stem
        done = run([self.ingot, "swiftc", "-O", *flags, source, "-o", out])
        expect(f"{pathlib.Path(source).name} compiles:\n{done.stderr}{done.stdout}", done.returncode == 0)
        return out

    def start(self, program, *words, **env):
        return self.system.run([program, *words], env={**os.environ, **env}, cwd=str(program.parent), capture_output=True, text=True)


def expect(what, condition):
    if not condition:
        raise SystemExit(f"FAILED: {what}")


def programs(swift, folder):
    """Programs as on a Mac: what they print is in their last lines, behind `// prints: `."""
    for source in sorted([*HERE.glob("programs/*.swift"), *(ROOT / "examples/swift").glob("*.swift")]):
        wanted = re.findall(r"^// prints: (.*)$", source.read_text(), re.M)
        done = swift.start(swift.program(source, folder), str(folder / (source.stem + ".png")))
        expect(f"{source.name} ends well: {done.stdout}{done.stderr}", done.returncode == 0)
        for line in wanted:
            expect(f"{source.name} prints `{line}`: {done.stdout}", re.search(line, done.stdout, re.M))
        print(f"{source.name}: {len(wanted)} lines as wanted")


def packages(swift, folder):
    """A package with a shader and tests, untouched, and an Xcode project."""
    for name, words in (("Adder", []), ("Project", ["--project", "Scaler.xcodeproj"])):
        shutil.copytree(HERE / name, folder / name)
        done = run([swift.ingot, "swift", "test", *words], cwd=folder / name)
        expect(f"{name}: {done.stdout}{done.stderr}", done.returncode == 0 and re.search(r"Executed \d+ tests?, with 0 failures", done.stdout + done.stderr))
        print(f"{name}: tests pass")


def memory(swift, folder):
    """Objects come and go without growth; sanitizers find nothing, whoever is loaded first."""
    source = HERE / "memory.swift"
    done = swift.start(swift.program(source, folder))
    expect(f"flat: {done.stdout}{done.stderr}", done.returncode == 0 and "flat" in done.stdout)
    for kind in ("address", "thread"):
        program = swift.program(source, folder, f"-sanitize={kind}")
        done = swift.start(program, "few", ASAN_OPTIONS="detect_leaks=0", TSAN_OPTIONS="halt_on_error=1")
        expect(f"{kind}: {done.stdout[-2000:]}{done.stderr[-4000:]}", done.returncode == 0 and "Sanitizer" not in done.stderr)
        print(f"{kind} sanitizer: nothing")


def names(swift, folder):
    """Names are those of the real importer over our headers."""
    import importer
    importer.check(swift, folder, swift.ingot.parents[1])


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    swift = Swift(build)
    sys.path.insert(0, str(HERE))
    with tempfile.TemporaryDirectory() as temp:
        {"programs": programs, "packages": packages, "memory": memory, "names": names}[sys.argv[2]](swift, pathlib.Path(temp))


if __name__ == "__main__":
    main()
