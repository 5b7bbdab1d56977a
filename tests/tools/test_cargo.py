# SPDX-License-Identifier: Apache-2.0
"""`ingot cargo`: what its wrappers answer and add (with a rustc of our own), its mistakes, and, where a rustc is, crates without
dependencies that are built and run."""
import os
import re
import shutil
import subprocess
import textwrap
from pathlib import Path

import pytest

from conftest import BUILD

INGOT = BUILD / "bin/ingot"
TOOLS = BUILD / "libexec/ingot/cargo-bin"
LIB = BUILD / "lib/mac"
EXAMPLE = Path(__file__).parents[2] / "examples/rust"
pytestmark = pytest.mark.skipif("san" in BUILD.name, reason="a program without the sanitizer cannot load the library")
needs_rust = pytest.mark.skipif(not shutil.which("cargo") or not shutil.which("rustc"), reason="there is no rustc here")


def run(args, folder, status=0, **environment):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("INGOT_CARGO", "CARGO_TARGET", "CARGO_PKG", "RUSTC", "RUSTDOC"))}
    env.update({k: str(v) for k, v in environment.items()})
    r = subprocess.run([str(a) for a in args], cwd=folder, env=env, capture_output=True, text=True, timeout=600)
    assert r.returncode == status, f"{args}: {r.returncode}\n{r.stdout}\n{r.stderr}"
    return r


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + textwrap.dedent(text))
    path.chmod(0o755)
    return path


def crate(folder, files, name="app", manifest=""):
    for path, text in {"Cargo.toml": f'[package]\nname = "{name}"\nversion = "0.1.0"\nedition = "2021"\n{manifest}', **files}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(textwrap.dedent(text))
    return folder


# ---- the wrappers, with a rustc that says what it was told

@pytest.fixture
def rustc(tmp_path):
    return script(tmp_path / "bin/rustc", """\
        case "$*" in
            *--print=cfg*) printf '___\\ntarget_os="linux"\\ntarget_vendor="unknown"\\nunix\\n';;
            -vV) printf 'rustc 1.90.0\\nhost: x86_64-unknown-linux-gnu\\n';;
            *) echo "$*"; echo "mode $INGOT_RUSTC_MODE preload $LD_PRELOAD";;
        esac
        """)


def wrapped(rustc, tmp_path, *args, plan="", package="metal", **environment):
    (tmp_path / "ingot.plan").write_text("# 1;;;\n" + plan)
    return run([TOOLS / "ingot-rustc", rustc, *args], tmp_path, INGOT_CARGO_FOLDER=tmp_path, CARGO_PKG_NAME=package,
               CARGO_PKG_VERSION="1.0.0", **environment).stdout


def test_cargo_is_told_of_both_systems(rustc, tmp_path):
    said = wrapped(rustc, tmp_path, "-", "--crate-name", "___", "--print=file-names", "--print=cfg")
    assert said == '___\ntarget_os="linux"\ntarget_vendor="apple"\nunix\ntarget_os="macos"\n'
    # A build script that asks gets rustc's own answer.
    assert "macos" not in wrapped(rustc, tmp_path, "--print=cfg")


def test_the_version_has_the_settings(rustc, tmp_path):
    assert wrapped(rustc, tmp_path, "-vV") == "rustc 1.90.0\nhost: x86_64-unknown-linux-gnu\ningot: # 1;;;\n"


def test_crates_are_compiled_for_their_system(rustc, tmp_path):
    plan = "metal 1.0.0 mac a binding\nlibc 1.0.0 linux uses nothing of a Mac\n"
    said = wrapped(rustc, tmp_path, "--crate-name", "metal", "--crate-type", "lib", "src/lib.rs", plan=plan)
    assert f"mode mac preload {LIB}/libingot-rustc.so" in said and f"-L native={LIB}" in said and "rpath" not in said
    said = wrapped(rustc, tmp_path, "--crate-name", "libc", "--crate-type", "lib", plan=plan, package="libc")
    assert "mode linux" in said
    said = wrapped(rustc, tmp_path, "--crate-name", "nobody", "--crate-type", "lib", plan=plan, package="nobody")
    assert "mode linux" in said
    said = wrapped(rustc, tmp_path, "--crate-name", "app", "--crate-type", "bin", plan=plan)
    assert f"-C link-arg=-Wl,-rpath,{LIB} -C link-arg=-lSystem" in said
    said = wrapped(rustc, tmp_path, "--crate-name", "m", "--crate-type", "proc-macro", plan=plan)
    assert "mode linux" in said and "native" not in said


def test_build_scripts_see_one_system(rustc, tmp_path):
    for package, system in (("metal", "mac"), ("libc", "linux")):
        said = wrapped(rustc, tmp_path, "--crate-name", "build_script_build", "--crate-type", "bin", "build.rs", package=package,
                       plan="metal 1.0.0 mac a binding\n")
        assert f"link-arg={LIB}/build-script-{system}.o" in said and "mode linux" in said and "rpath" not in said


def test_objective_c_goes_to_ingot_cc(tmp_path):
    (tmp_path / "a.m").write_text("#import <Foundation/Foundation.h>\nint a(void) { return (int)@\"abc\".length; }\n")
    (tmp_path / "main.c").write_text("int main(void) { return 7; }\n")
    run([TOOLS / "ingot-rust-cc", "-c", "a.m", "-o", "a.o"], tmp_path)
    run([TOOLS / "ingot-rust-cc", "main.c", "-o", "main"], tmp_path, INGOT_CARGO_CC="cc -O1")
    run([tmp_path / "main"], tmp_path, status=7)
    assert "cannot run nothing-here" in run([TOOLS / "ingot-rust-c++", "main.c"], tmp_path, status=127, INGOT_CARGO_CXX="nothing-here").stderr


# ---- mistakes

def one_line(said, *words):
    lines = [x for x in said.splitlines() if x.startswith("ingot cargo: ")]
    assert len(lines) == 1, said
    for word in words:
        assert word in lines[0], lines[0]


def test_no_rust(tmp_path):
    one_line(run([INGOT, "cargo", "build"], tmp_path, status=1, PATH="/nowhere").stderr, "cannot run rustc")
    assert "usage" in run([INGOT, "cargo"], tmp_path, status=2).stderr
    assert "INGOT_CARGO_MAC" in run([INGOT, "cargo", "--help"], tmp_path).stdout
    assert "called by cargo" in run([TOOLS / "ingot-rustc"], tmp_path, status=2).stderr


def test_a_static_rustc_is_named(tmp_path):
    root = tmp_path / "root"
    (root / "bin").mkdir(parents=True)
    (tmp_path / "a.c").write_text("void _start(void) { for (;;) {} }\n")
    run(["cc", "-static", "-nostdlib", "-o", root / "bin/rustc", "a.c"], tmp_path)
    path = script(tmp_path / "bin/rustc", f"""\
        case "$*" in -vV) echo host: x86_64-unknown-linux-gnu;; *) echo {root};; esac
        """).parent
    said = run([INGOT, "cargo", "build"], tmp_path, status=1, PATH=f"{path}:{os.environ['PATH']}").stderr
    one_line(said, f"{root}/bin/rustc is linked statically", "rustup's or Debian's")


@needs_rust
def test_crates_that_are_not_there(tmp_path):
    crate(tmp_path, {"src/lib.rs": ""})
    said = run([INGOT, "cargo", "build", "--offline"], tmp_path, status=1, INGOT_CARGO_MAC="nobody").stderr
    one_line(said, "INGOT_CARGO_MAC names 'nobody'")
    assert "--path" in run([INGOT, "cargo", "install", "thing"], tmp_path, status=2).stderr


# ---- crates of our own

@needs_rust
def test_the_example_beside_plain_cargo(tmp_path):
    folder = tmp_path / "rust"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("target", "Cargo.lock"))
    assert run([INGOT, "cargo", "run", "--offline", "-q"], folder).stdout == "[1.0, 11.0, 21.0, 31.0, 41.0, 51.0, 61.0, 71.0]\n"
    assert (folder / "target/ingot/debug/saxpy").exists() and not (folder / "target/debug").exists()
    assert "no Metal" in run(["cargo", "run", "--offline", "-q"], folder).stdout  # the other cargo, its own folder
    said = run([INGOT, "cargo", "run", "--locked", "--offline"], folder).stderr
    assert "Compiling" not in said
    said = run([INGOT, "cargo", "test", "--offline"], folder).stdout  # the unit test and the one in a comment
    assert said.count("test result: ok. 1 passed") == 2, said
    assert "0 passed" in run(["cargo", "test", "--offline", "--lib"], folder).stdout
    run([INGOT, "cargo", "doc", "--offline", "-q"], folder)
    assert (folder / "target/ingot/doc/saxpy/fn.saxpy.html").exists()
    run([INGOT, "cargo", "install", "--offline", "-q", "--path", ".", "--root", tmp_path / "root"], folder)
    assert "71.0" in run([tmp_path / "root/bin/saxpy"], tmp_path).stdout


@needs_rust
def test_a_workspace_with_all_kinds(tmp_path):
    (tmp_path / "Cargo.toml").write_text('[workspace]\nmembers = ["app", "plain"]\nresolver = "2"\n')
    crate(tmp_path / "plain", {"src/lib.rs": 'pub fn os() -> &\'static str { if cfg!(target_os = "macos") { "macos" } else { "linux" } }'},
          "plain", '[package.metadata.ingot]\nsystem = "linux"\n')
    crate(tmp_path / "app", {
        "build.rs": """\
            fn main() {
                let os = std::env::var("CARGO_CFG_TARGET_OS").unwrap();
                println!("cargo:rustc-env=BUILT_FOR={os}");
                println!("cargo:rerun-if-changed=a.m");
                let out = std::env::var("OUT_DIR").unwrap();
                let cc = std::env::var("CC_x86_64_unknown_linux_gnu").or(std::env::var("CC_aarch64_unknown_linux_gnu")).unwrap();
                assert!(std::process::Command::new(cc).args(["-fPIC", "-c", "a.m", "-o"]).arg(format!("{out}/a.o")).status().unwrap().success());
                println!("cargo:rustc-link-arg-bins={out}/a.o");
            }
            """,
        "a.m": "#import <Foundation/Foundation.h>\nunsigned long letters(void) { return @\"Metal\".length; }\n",
        "src/main.rs": """\
            #[link(name = "Foundation", kind = "framework")]
            extern "C" { fn letters() -> usize; }
            #[cfg(target_vendor = "apple")]
            fn vendor() -> &'static str { "apple" }
            fn main() {
                println!("{} {} {} {} {}", if cfg!(target_os = "macos") { "macos" } else { "linux" }, env!("BUILT_FOR"), vendor(),
                         plain::os(), unsafe { letters() });
            }
            """,
        "examples/e.rs": 'fn main() { println!("{}", cfg!(target_os = "macos")); }',
        "benches/b.rs": 'fn main() { println!("bench {}", cfg!(target_os = "macos")); }',
    }, manifest='build = "build.rs"\n[dependencies]\nplain = { path = "../plain" }\n[[bench]]\nname = "b"\nharness = false\n')
    assert run([INGOT, "cargo", "run", "--offline", "-q"], tmp_path).stdout == "macos macos apple linux 5\n"
    assert run([INGOT, "cargo", "run", "--offline", "-q", "--example", "e"], tmp_path).stdout == "true\n"
    assert "bench true" in run([INGOT, "cargo", "bench", "--offline", "-q", "-p", "app"], tmp_path).stdout
    said = run([INGOT, "cargo", "--crates", "--offline"], tmp_path).stdout
    assert re.search(r"^mac +app 0.1.0 ", said, re.M) and re.search(r"^linux +plain 0.1.0 ", said, re.M)
    # Another setting is another build.
    assert run([INGOT, "cargo", "run", "--offline", "-q"], tmp_path, INGOT_CARGO_MAC="plain").stdout == "macos macos apple macos 5\n"


@needs_rust
def test_errors_stand_where_they_are(tmp_path):
    line = '#[cfg(target_vendor = "apple")] fn f() -> u32 { "no" }'
    crate(tmp_path, {"src/main.rs": f"{line}\nfn main() {{}}\n"})
    said = run([INGOT, "cargo", "build", "--offline"], tmp_path, status=101).stderr
    assert "src/main.rs:1:%d" % (line.index('"no"') + 1) in said, said


@needs_rust
def test_frameworks_that_are_not_here(tmp_path):
    crate(tmp_path, {"src/main.rs": '#[link(name = "Teleport", kind = "framework")] extern "C" {}\nfn main() { println!("fine"); }\n'})
    said = run([INGOT, "cargo", "run", "--offline"], tmp_path, status=101).stderr
    one_line(said, "crate 'app'", "framework 'Teleport'", "INGOT_CARGO_FRAMEWORKS=Teleport")
    assert run([INGOT, "cargo", "run", "--offline", "-q"], tmp_path, INGOT_CARGO_FRAMEWORKS="Teleport").stdout == "fine\n"
    (tmp_path / "src/main.rs").write_text('#[link(name = "Metal", kind = "framework")] extern "C" { fn MTLTeleport(); }\n'
                                          "fn main() { unsafe { MTLTeleport() } }\n")
    one_line(run([INGOT, "cargo", "build", "--offline"], tmp_path, status=101).stderr, "crate 'app'", "'MTLTeleport'", "INGOT_CARGO_LINUX")


@needs_rust
def test_what_is_remembered_is_looked_at(tmp_path):
    """The second build asks nobody; a manifest that has changed is seen."""
    folder, cache = tmp_path / "app", {"INGOT_CACHE_DIR": tmp_path / "cache"}
    main = 'fn main() { println!("{} {}", cfg!(target_os = "macos"), cfg!(feature = "f")); }'
    crate(folder, {"src/main.rs": main})
    go = [INGOT, "cargo", "run", "--offline", "-q"]
    assert run(go, folder, **cache).stdout == "true false\n"
    memo, = (tmp_path / "cache/cargo").iterdir()
    stamp = memo.stat().st_mtime_ns
    assert run(go, folder, **cache).stdout == "true false\n" and memo.stat().st_mtime_ns == stamp
    crate(folder, {}, manifest='[features]\ndefault = ["f"]\nf = []\n[package.metadata.ingot]\nsystem = "linux"\n')
    assert run(go, folder, **cache).stdout == "false true\n"
    crate(folder, {}, manifest='[features]\ndefault = ["f"]\nf = []\n[package.metadata.ingot]\nsystem = "mac"\n')
    assert run(go, folder, **cache).stdout == "true true\n"
    memo.write_text(memo.read_text()[:40])  # damaged
    shutil.rmtree(folder / "target")
    assert run(go, folder, **cache).stdout == "true true\n"


@needs_rust
def test_frameworks_are_loaded(tmp_path):
    """Also for a program that names nothing of them but classes, when it runs."""
    crate(tmp_path, {"src/main.rs": """\
        #[link(name = "MetalKit", kind = "framework")] extern "C" {}
        #[link(name = "CoreML", kind = "framework")] extern "C" {}
        #[cfg(target_os = "ios")] #[link(name = "UIKit", kind = "framework")] extern "C" {}
        #[link(name = "objc", kind = "dylib")] extern "C" { fn objc_getClass(name: *const u8) -> *const u8; }
        fn main() { unsafe { println!("{}", objc_getClass(b"MTKView\\0".as_ptr()).is_null()) } }
        """})
    for _ in range(2):
        assert run([INGOT, "cargo", "run", "--offline", "-q"], tmp_path).stdout == "false\n"
        (tmp_path / "src/main.rs").touch()
    assert (tmp_path / "target/ingot/ingot.ld").read_text().splitlines()[1:] == ["INPUT(-lMetalKit)"]


@needs_rust
@pytest.mark.parametrize("edition", ("2021", "2024"))  # each by itself through a pipe; several in one file
def test_conditions_in_examples_of_comments(tmp_path, edition):
    crate(tmp_path, {"src/lib.rs": """\
        /// ```
        /// assert!(cfg!(target_os = "macos") && cfg!(target_vendor = "apple"));
        /// assert!(std::env::var("LD_PRELOAD").is_err()); // only the compilers have it
        /// #[cfg(target_os = "linux")]
        /// compile_error!("a Mac's");
        /// assert_eq!(app::one(), 1);
        /// ```
        pub fn one() -> u32 { 1 }
        /// ```should_panic
        /// assert!(!cfg!(target_os = "macos"));
        /// ```
        pub fn two() {}
        """})
    toml = tmp_path / "Cargo.toml"
    toml.write_text(re.sub(r'edition = "\d+"', f'edition = "{edition}"', toml.read_text()))
    assert f'edition = "{edition}"' in toml.read_text()
    said = run([INGOT, "cargo", "test", "--offline", "--doc"], tmp_path).stdout
    assert "2 passed" in said, said
