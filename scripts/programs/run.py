#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs third-party programs, unmodified, on Ingot. usage: run.py [--all] BUILD-FOLDER [PROGRAM...]

Sources come from the package index (sdists and wheels) into BUILD-FOLDER/programs; nothing of them is part of this
project. A program is a file of this folder with a function `run(p)`, `p` being a Program (below):

    def run(p):
        folder = p.sdist("some-package")           # unpacked; the version is noted
        r = p.sh("make check", cwd=folder, env=p.mac_env())
        p.row("its own tests", passed=r.count("PASS"), failed=r.count("FAIL"), seconds=r.seconds)

Where all of a program's tests take hours, a sample of them is run; with --all (`p.all`) they are all run. Results are
kept in BUILD-FOLDER/programs/results.json, so that one program can be run again alone; docs/programs.md is
written from all of them.
"""
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import time
import traceback
import venv
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BY_HAND = "\n## Hand-written notes\n"


class Result:
    """What a command did."""

    def __init__(self, status, text, seconds, log):
        self.status, self.text, self.seconds, self.log = status, text, seconds, log

    def count(self, pattern):
        return len(re.findall(pattern, self.text, re.MULTILINE))


class Program:
    """What a program's file is given: where to work, how to fetch, how to run, where to put results."""

    def __init__(self, name, build, everything=False, keep=lambda program: None):
        self.name, self.build, self.all, self.keep = name, build, everything, keep
        self.folder = build / "programs" / name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.ingot = build / "bin" / "ingot"
        self.version, self.rows = "", []

    def _fetch(self, package, *options):
        """Downloads into the folder, unless it is there; the path of the file."""
        store = self.folder / "download" / package
        if not store.exists() or not any(store.iterdir()):
            store.mkdir(parents=True, exist_ok=True)
            subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                            *options, package, "-d", store], check=True)
        return next(store.iterdir())

    def _unpack(self, path):
        to = self.folder / "source" / path.name
        if not to.exists():
            with tarfile.open(path) if path.name.endswith(".tar.gz") else zipfile.ZipFile(path) as archive:
                archive.extractall(to)
        self.version = self.version or re.search(r"-(\d[^-]*?)(\.tar\.gz|-)", path.name).group(1)
        return to

    def sdist(self, package):
        """The folder of a package's sources."""
        to = self._unpack(self._fetch(package, "--no-binary=:all:"))
        return next(p for p in to.iterdir() if p.is_dir())

    def wheel(self, package, platform=None):
        """The folder of a package's wheel, of another platform too: "macosx_14_0_arm64"."""
        options = ["--only-binary=:all:"] + (["--platform", platform] if platform else [])
        return self._unpack(self._fetch(package, *options))

    def crate(self, name, version):
        """A copy of a crate's sources, from wherever cargo takes crates (a registry, vendored ones); None: cargo cannot have it, or
        one that it or its tests use."""
        self.version = self.version or version
        to, ask = self.folder / "source" / f"{name}-{version}", self.folder / "ask" / name
        if not to.exists():
            (ask / "src").mkdir(parents=True, exist_ok=True)
            (ask / "src/lib.rs").write_text("")
            (ask / "Cargo.toml").write_text(f'[package]\nname = "ask"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n'
                                            f'[dependencies]\n{name} = "={version}"\n')
            asked = self.sh("cargo metadata --format-version 1 2>&1 >metadata.json", cwd=ask, log=f"{name}-crates")
            if asked.status != 0:
                return None
            packages = json.loads((ask / "metadata.json").read_text())["packages"]
            manifest = next(q["manifest_path"] for q in packages if q["name"] == name)
            shutil.copytree(pathlib.Path(manifest).parent, to)
        tests = self.sh("cargo metadata --format-version 1 >/dev/null", cwd=to, log=f"{name}-tests-crates")
        return to if tests.status == 0 else None

    def cargo_tests(self, what, folder, *args):
        """Runs `ingot cargo test` in a crate's folder and makes a row of what the test programs report. No folder: a row that says
        so."""
        if not folder:
            self.row(what, unsupported=1, note="its crates cannot be had here")
            return
        r = self.sh([self.ingot, "cargo", "test", "--no-fail-fast", *args], cwd=folder, log=re.sub(r"\W+", "-", what))
        found = re.findall(r"^test result: .*? (\d+) passed; (\d+) failed; (\d+) ignored", r.text, re.MULTILINE)
        passed, failed, ignored = (sum(int(x[i]) for x in found) for i in range(3))
        broken = not found or (r.status and not failed)
        self.row(what, passed, failed + broken, ignored, r.seconds, note=r.text.strip().split("\n")[-1][:100] if broken else "")

    def python(self, *packages):
        """The Python of an environment with these packages."""
        home = self.folder / "venv"
        python = home / "bin" / "python"
        if not python.exists():
            venv.create(home, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
        return python

    def mac_env(self):
        """Stand-ins for Apple's tools come first on PATH."""
        stand_ins = self.build / "libexec" / "ingot" / "mac-bin"
        return {"PATH": f"{stand_ins}:{self.ingot.parent}:{os.environ['PATH']}"}

    def sh(self, command, cwd=None, env=None, timeout=3600, log="log"):
        """Runs a command (a text for the shell, or a list); output goes to FOLDER/LOG.txt and into the result."""
        path = self.folder / f"{log}.txt"
        begin = time.monotonic()
        with open(path, "w") as out:
            try:
                status = subprocess.run(command, shell=isinstance(command, str), cwd=cwd or self.folder, stdout=out,
                                        stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=timeout,
                                        env={**os.environ, **(env or {})}).returncode
            except subprocess.TimeoutExpired:
                status = 124
        return Result(status, path.read_text(errors="replace"), time.monotonic() - begin, path)

    def row(self, what, passed=0, failed=0, unsupported=0, seconds=None, cpu_seconds=None, note=""):
        """A line of the report. seconds: on Ingot; cpu_seconds: the same on the program's own CPU path."""
        self.rows.append(dict(what=what, passed=int(passed), failed=int(failed), unsupported=int(unsupported), seconds=seconds,
                              cpu_seconds=cpu_seconds, note=note))
        print(f"{self.name}: {what}: {int(passed)} passed, {int(failed)} failed, {unsupported} unsupported; {note}", flush=True)
        self.keep(self)


def processor():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return "an unknown processor"


def write_report(results, path):
    def cell(seconds):
        return "" if seconds is None else f"{seconds:.3g} s"
    lines = ["# Third-party programs", "",
             "Generated by `make programs`, which downloads sources from the package index, builds and runs them unmodified, and",
             "is not part of `make test`. Times are seconds of one run, on Ingot and on the program's own CPU back end. Where all",
             "test cases would take hours, a sample is run and the row says so; `make programs ALL=1` runs them all.", "",
             "| program | version | test | passed | failed | unsupported | Ingot | its CPU back end | notes |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for name in sorted(results):
        for row in results[name]["rows"]:
            lines.append(f"| {name} | {results[name]['version']} | {row['what']} | {row['passed']} | {row['failed']} | "
                         f"{row['unsupported']} | {cell(row['seconds'])} | {cell(row['cpu_seconds'])} | {row['note']} |")
    lines += ["", "Machines and their load: "
              + "; ".join(f"{name}: {results[name]['machine']}" for name in sorted(results)) + ".", ""]
    # Hand-written notes about other programs stand below their own heading and are kept.
    before = path.read_text() if path.exists() else ""
    path.write_text("\n".join(lines) + before[before.index(BY_HAND):] if BY_HAND in before else "\n".join(lines))


def main():
    arguments = [a for a in sys.argv[1:] if a != "--all"]
    if not arguments:
        sys.exit(__doc__.splitlines()[0])
    build = pathlib.Path(arguments[0]).resolve()
    there = sorted(p.stem for p in HERE.glob("*.py") if p.stem != "run")
    chosen = arguments[1:] or there
    if unknown := set(chosen) - set(there):
        sys.exit(f"programs: unknown program {', '.join(sorted(unknown))} (known: {', '.join(there)})")
    store = build / "programs" / "results.json"
    results = json.loads(store.read_text()) if store.exists() else {}

    def keep(program): # row by row: what an interrupted run found is not lost
        results[program.name] = dict(version=program.version, rows=program.rows,
                                     machine=f"{processor()}, {os.cpu_count()} processors, load {os.getloadavg()[2]:.1f}")
        store.write_text(json.dumps(results, indent=1))
        write_report(results, ROOT / "docs" / "programs.md")
    for name in chosen:
        program = Program(name, build, "--all" in sys.argv, keep)
        spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
            module.run(program)
        except Exception as error:  # the other programs still run
            traceback.print_exc()
            program.row("run", failed=1, note=str(error).split("\n")[0][:120])
    sys.exit(any(row["failed"] for name in chosen for row in results[name]["rows"]))


main()
