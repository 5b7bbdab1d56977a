# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel `ingot-metal`: what pip calls for `pip install .` (PEP 517), and `make wheel`.

    pymetal/, ingot/            the Python packages, with their extensions (abi3: one wheel for CPython 3.11 and later)
    ingot_metal/lib             the libraries, by the names they are loaded by: a wheel has no symbolic links
    ingot_metal/bin, share      commands, compiler, Metal headers
    ingot_metal/__init__.py     the commands on the path start here

It needs nothing from the package index. What the build needs is looked for before it starts.
Settings: -C build-dir=FOLDER (default build/wheel) uses, and keeps, a CMake build folder.
"""
import base64
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import needs  # noqa: E402
import tree  # noqa: E402

COMMANDS = ("ingot", "train_siren", "mslc")
LLVM = os.environ.get("LLVM_ROOT", "/usr/lib/llvm-22")
# What must be there: (what is looked for, Debian's package).
PROGRAMS = (("cmake", "cmake"), ("ninja", "ninja-build"), ("cc", "gcc"), ("c++", "g++"), ("readelf", "binutils"))
FILES = (("lib/libLLVMCore.a", "llvm-22-dev"), ("lib/libclangFrontend.a", "libclang-22-dev"), ("bin/clang", "clang-22"),
         ("lib/liblldELF.a", "liblld-22-dev"), ("bin/ld.lld", "lld-22"))
HEADERS = (("zlib.h", "zlib1g-dev"), ("zstd.h", "libzstd-dev"), ("png.h", "libpng-dev"),
           ("jpeglib.h", "libjpeg62-turbo-dev"), ("embree3/rtcore.h", "libembree-dev"))


def check_machine():
    """Ends the build with a list of what is missing, before anything is compiled."""
    missing = [(name, package) for name, package in PROGRAMS if not shutil.which(name)]
    missing += [(f"{LLVM}/{name}", package) for name, package in FILES if not os.path.exists(f"{LLVM}/{name}")]
    missing += [(name, package) for name, package in HEADERS if not os.path.exists(f"/usr/include/{name}")]
    if not list(pathlib.Path("/usr/include").glob("python3.*/Python.h")):
        missing.append(("Python.h", "python3-dev"))
    if missing:
        raise SystemExit("\nIngot is compiled here (the wheel of a release needs none of this), and lacks:\n" +
                         "".join(f"  {name}   (Debian: {package})\n" for name, package in missing) +
                         "  apt install " + " ".join(package for _, package in missing) + "\n")


def compile_all(build):
    """A build folder of somebody else's making is brought up to date, not configured anew."""
    if not (pathlib.Path(build) / "CMakeCache.txt").exists():
        subprocess.run(["cmake", "-G", "Ninja", "-S", tree.ROOT, "-B", build, "-DCMAKE_BUILD_TYPE=Release",
                        "-DBUILD_TESTING=OFF", "-DINGOT_EXAMPLES=OFF", f"-DLLVM_ROOT={LLVM}"],
                       check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", build, "--quiet"], check=True)


def arrange(installed, wheel):
    """The files of a wheel from those of an installation."""
    home = wheel / "ingot_metal"
    shutil.move(installed / "lib" / "python" / "pymetal", wheel / "pymetal")
    shutil.move(installed / "lib" / "python" / "ingot", wheel / "ingot")
    shutil.copytree(tree.ROOT / "python" / "ingot_metal", home, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("bin", "share"):
        shutil.copytree(installed / name, home / name)
    libraries = home / "lib"
    libraries.mkdir()
    if (installed / "lib" / "ingot" / "bundled").is_dir():
        shutil.copytree(installed / "lib" / "ingot" / "bundled", libraries / "ingot" / "bundled")
    (libraries / "ingot").mkdir(exist_ok=True)
    for name in ("libingot.so.0", "libingot-tensor.so.0", "libingot_rays.so", "ingot/ingot-device"):
        if (installed / "lib" / name).exists():
            shutil.copy(installed / "lib" / name, libraries / name)


def platform_tag(folder):
    """manylinux where the files need nothing else; the name of this machine alone otherwise."""
    complaints, glibc, _ = needs.check(folder, (2, 99))
    glibc = max(glibc, (2, 35))
    if complaints:
        print("this wheel is for machines like this one:\n" + "\n".join(complaints), file=sys.stderr)
        return f"linux_{tree.machine()}"
    return f"manylinux_{glibc[0]}_{glibc[1]}_{tree.machine()}"


def metadata():
    p = tree.project()
    lines = ["Metadata-Version: 2.1", f"Name: {p['name']}", f"Version: {tree.version()}",
             f"Summary: {p['description']}", f"License: {p['license']['text']}",
             f"Requires-Python: {p['requires-python']}", *(f"Classifier: {c}" for c in p["classifiers"])]
    for extra, packages in p.get("optional-dependencies", {}).items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {package}; extra == "{extra}"' for package in packages]
    lines += ["Description-Content-Type: text/markdown", "", (tree.ROOT / p["readme"]).read_text()]
    return "\n".join(lines)


def info_name():
    return f"{tree.project()['name'].replace('-', '_')}-{tree.version()}.dist-info"


def write_info(folder, tag):
    info = folder / info_name()
    info.mkdir()
    (info / "METADATA").write_text(metadata())
    (info / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: ingot\nRoot-Is-Purelib: false\nTag: {tag}\n")
    (info / "entry_points.txt").write_text(
        "[console_scripts]\n" + "".join(f"{name} = ingot_metal:{name}\n" for name in COMMANDS))
    shutil.copy(tree.ROOT / "LICENSE", info)
    return info


def pack(folder, path):
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        def add(name, data, mode):
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
            z.writestr(entry, data)
        for file in sorted(p for p in folder.rglob("*") if p.is_file()):
            name, data = file.relative_to(folder).as_posix(), file.read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}")
            add(name, data, 0o755 if os.access(file, os.X_OK) else 0o644)
        name = f"{info_name()}/RECORD"
        add(name, "\n".join([*record, f"{name},,", ""]), 0o644)


def make_wheel(build, wheel_directory):
    """The wheel of a finished build; its file name."""
    with tempfile.TemporaryDirectory(prefix="ingot-wheel-") as temporary:
        folder = pathlib.Path(temporary) / "wheel"
        folder.mkdir()
        arrange(tree.install(build, pathlib.Path(temporary) / "installed"), folder)
        tag = f"cp311-abi3-{platform_tag(folder)}"
        write_info(folder, tag)
        name = f"{tree.project()['name'].replace('-', '_')}-{tree.version()}-{tag}.whl"
        pathlib.Path(wheel_directory).mkdir(parents=True, exist_ok=True)
        pack(folder, pathlib.Path(wheel_directory) / name)
    return name


# What pip calls.
def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    check_machine()
    build = (config_settings or {}).get("build-dir", str(tree.ROOT / "build" / "wheel"))
    compile_all(build)
    return make_wheel(build, wheel_directory)


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """Without it pip makes a whole wheel to read these, and then another."""
    write_info(pathlib.Path(metadata_directory), f"cp311-abi3-linux_{tree.machine()}")
    return info_name()


def get_requires_for_build_wheel(config_settings=None):
    check_machine()
    return []


def build_sdist(sdist_directory, config_settings=None):
    """The files that git knows, without what only a checkout needs."""
    name = f"{tree.project()['name'].replace('-', '_')}-{tree.version()}"
    files = subprocess.run(["git", "ls-files", "-z"], cwd=tree.ROOT, check=True, capture_output=True, text=True)
    with tarfile.open(pathlib.Path(sdist_directory) / f"{name}.tar.gz", "w:gz") as tar:
        for file in filter(None, files.stdout.split("\0")):
            if not file.startswith(("tests/", "bench/", "docs/")):
                tar.add(tree.ROOT / file, f"{name}/{file}")
        with tempfile.NamedTemporaryFile("w") as f:
            f.write(metadata())
            f.flush()
            tar.add(f.name, f"{name}/PKG-INFO")
    return f"{name}.tar.gz"


if __name__ == "__main__":
    print(make_wheel(sys.argv[1], sys.argv[2]))
