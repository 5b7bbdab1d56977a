# SPDX-License-Identifier: Apache-2.0
"""`ingot swift` without a Swift: project files, views, what is missing. usage: test_driver.py BUILD-FOLDER"""
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src/mac/swift/driver"))
from package import needs_import  # noqa: E402
from xcode import Bridge, Project, plain  # noqa: E402

PROJECT = """// !$*UTF8*$!
{ archiveVersion = 1; objectVersion = 77; rootObject = P; objects = {
    P = {isa = PBXProject; mainGroup = G; targets = (T, U, ); };
    G = {isa = PBXGroup; children = (S, F /* a file */, ); sourceTree = "<group>"; };
    S = {isa = PBXFileSystemSynchronizedRootGroup; path = App; sourceTree = "<group>"; };
    F = {isa = PBXFileReference; path = "Tests/With Space.swift"; sourceTree = "<group>"; };
    T = {isa = PBXNativeTarget; name = App; productType = "com.apple.product-type.application";
         buildPhases = (); fileSystemSynchronizedGroups = (S, ); };
    U = {isa = PBXNativeTarget; name = AppTests; productType = "com.apple.product-type.bundle.unit-test";
         buildPhases = (B, ); dependencies = (D, ); };
    B = {isa = PBXSourcesBuildPhase; files = (X, ); };
    X = {isa = PBXBuildFile; fileRef = F; };
    D = {isa = PBXTargetDependency; target = T; };
}; }
"""
VIEW = """import SwiftUI
import MetalKit
protocol Encoder { func encode(_ b: MTLBuffer) }
extension Encoder { func supports() -> Bool { true } }
struct ContentView: View { var body: some View { Text("a") } }
"""


def expect(what, condition):
    if not condition:
        raise SystemExit(f"FAILED: {what}")


def ingot(build, *words, **env):
    path = "/usr/bin:/bin" if "PATH" not in env else env["PATH"]
    return subprocess.run([str(build / "bin/ingot"), *words], capture_output=True, text=True, check=False,
                          env={**os.environ, "PATH": path, "INGOT_SWIFT": "", **env})


def refused(what, run):
    """A line on standard error and an exit status, no traceback."""
    expect(f"{what}: {run.stderr}", run.returncode == 1 and len(run.stderr.splitlines()) == 1 and
           run.stderr.startswith("ingot swift"))
    return run.stderr


def projects(folder):
    (folder / "App/Sub").mkdir(parents=True)
    (folder / "Tests").mkdir()
    project = folder / "App.xcodeproj"
    project.mkdir()
    (project / "project.pbxproj").write_text(PROJECT)
    (folder / "App/View.swift").write_text(VIEW)
    (folder / "App/Sub/Model.swift").write_text("struct Model {}\n")
    (folder / "App/a.metal").write_text("kernel void a() {}\n")
    (folder / "App/weights.json").write_text("{}\n")
    (folder / "Tests/With Space.swift").write_text("import XCTest\n")
    bridge = Bridge(Project(project), None)
    package = bridge.write()
    text = (package / "Package.swift").read_text()
    expect("targets", '.target(name: "App", dependencies: []' in text and
           '.testTarget(name: "AppTests", dependencies: ["App"]' in text)
    made = {p.name: p for p in (package / "Sources").rglob("*.swift")}
    expect(f"sources: {sorted(made)}", set(made) == {"App_View.swift", "App_Sub_Model.swift", "Tests_With Space.swift"})
    expect("a link to the model", made["App_Sub_Model.swift"].is_symlink())
    expect("a view's protocol stays", "protocol Encoder" in made["App_View.swift"].read_text() and
           "ContentView" not in made["App_View.swift"].read_text())
    expect("shaders and resources", [p.name for p in bridge.shaders + bridge.resources] == ["a.metal", "weights.json"])
    Bridge(Project(project), "App").write()
    expect("one target", "AppTests" not in (package / "Package.swift").read_text())
    return project


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    expect("Metal's names without an import", needs_import("import XCTest\nlet b: MTLBuffer"))
    expect("with an import", not needs_import("@testable import MetalKit\nlet b: MTLBuffer"))
    expect("in a comment", not needs_import("import XCTest\n// MTLBuffer"))
    expect("nothing plain", plain("struct A: View {}") == "")
    with tempfile.TemporaryDirectory() as temp:
        folder = pathlib.Path(temp)
        project = projects(folder)
        # A Swift that does nothing: what is asked of the project is answered before it is needed.
        (folder / "bin").mkdir()
        fake = folder / "bin/swiftc"
        fake.write_text("#!/bin/sh\n[ \"$1\" = --version ] && echo 'Swift version 0' && exit 0\nexit 1\n")
        fake.chmod(0o755)
        cache = {"XDG_CACHE_HOME": temp}
        expect("help", ingot(build, "swift", "--help").returncode == 0)
        expect("no Swift", "scripts/swift-system" in refused("no Swift", ingot(build, "swift", "build", **cache)))
        expect("a wrong word", "what is 'bild'" in refused("a wrong word", ingot(build, "swift", "bild", **cache)))
        run = ingot(build, "swift", "build", PATH=f"{folder}/bin:/usr/bin:/bin", **cache)
        expect(f"a Swift that fails: {run.stderr}", run.returncode == 1 and "does not compile with Swift version 0" in run.stderr)
        for text in ("{ objects = {", "not a project", "{ }", "{ objects = { }; rootObject = P; }"):
            (project / "project.pbxproj").write_text(text)
            done = subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT / 'src/mac/swift/driver')!r})\n"
                                   f"from xcode import Project; Project({str(project)!r})"], capture_output=True, text=True, check=False)
            refused(f"a project file {text!r}", done)
    print("fine")


if __name__ == "__main__":
    main()
