#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes what others install of a finished build, into dist/.

    packaging/dist.py BUILD [tar] [wheel] [deb]

tar    ingot-VERSION-linux-MACHINE.tar.xz: a folder with bin, lib, include, share that runs wherever it is put
wheel  ingot_metal-VERSION-...whl (backend.py)
deb    libingot0, libingot-dev, ingot-tools, python3-ingot (debian.py)

The tree is checked first: nothing in it needs more than glibc 2.35.
"""
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import backend  # noqa: E402
import debian  # noqa: E402
import needs  # noqa: E402
import tree  # noqa: E402

MIB = 1 << 20


def checked(folder):
    complaints, glibc, n = needs.check(folder)
    if complaints:
        sys.exit("this build is not portable:\n  " + "\n  ".join(complaints))
    print(f"{n} programs and libraries, glibc {'.'.join(map(str, glibc))}, "
          f"{tree.installed_bytes(folder) / MIB:.0f} MiB installed")


def make_tar(folder, out):
    """The filter for machine code makes 8 % less of it; every xz of the last ten years takes it back."""
    path = out / f"{folder.name}.tar.xz"
    with open(path, "wb") as f:
        tar = subprocess.Popen(["tar", "-C", folder.parent, "--sort=name", "--owner=0", "--group=0", "--numeric-owner",
                                "-cf", "-", folder.name], stdout=subprocess.PIPE)
        subprocess.run(["xz", "--x86", "--lzma2=preset=9", "-c"], stdin=tar.stdout, stdout=f, check=True)
        if tar.wait():
            sys.exit("tar failed")
    return [path]


def main():
    if len(sys.argv) < 3 or set(sys.argv[2:]) - {"tar", "wheel", "deb"}:
        sys.exit(__doc__)
    build, kinds, out = pathlib.Path(sys.argv[1]), sys.argv[2:], tree.ROOT / "dist"
    out.mkdir(exist_ok=True)
    folder = tree.install(build, out / "tree" / f"ingot-{tree.version()}-linux-{tree.machine()}")
    checked(folder)
    made = []
    if "wheel" in kinds:
        made.append(out / backend.make_wheel(build, out))
    if "deb" in kinds:
        made += debian.make_debs(build, out)
    if "tar" in kinds:
        made += make_tar(folder, out)
    shutil.rmtree(out / "tree")
    for path in made:
        print(f"{path.relative_to(tree.ROOT)}  {path.stat().st_size / MIB:.1f} MiB")


if __name__ == "__main__":
    main()
