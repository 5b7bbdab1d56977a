# SPDX-License-Identifier: Apache-2.0
"""Debian packages with dpkg-deb, one for each part of an installation (CMake's components)."""
import gzip
import pathlib
import shutil
import subprocess
import tempfile

import tree

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
MAINTAINER = "Ingot maintainers <maintainers@ingot.invalid>"
CHANGES = "  * Packaged by `make dist`; what changed is in the project's history.\n"
PACKAGES = {
    "lib": ("libingot0", "libs", "libc6 (>= 2.35), libgcc-s1, libstdc++6 (>= 11)", "ingot-tools (= {version})",
            "Metal without a Mac: run-time libraries",
            "Metal's objects on the processors of this machine, tensors on top of them, and\n"
            " Metal, Foundation and their kin for programs in Objective-C."),
    "dev": ("libingot-dev", "libdevel", "libingot0 (= {version})", "ingot-tools (= {version})",
            "Metal without a Mac: headers for programs in C and Objective-C",
            "Headers, a CMake package, pkg-config files and a CMake toolchain for projects\n"
            " that are written for macOS."),
    "tools": ("ingot-tools", "devel", "libingot0 (= {version}), libc6 (>= 2.35)", "",
              "Metal without a Mac: compiler and commands",
              "mslc, the compiler of the Metal Shading Language with its headers; ingot, which\n"
              " builds, runs and draws with Metal sources; train_siren, which trains networks."),
    "python": ("python3-ingot", "python", "libingot0 (= {version}), ingot-tools (= {version}), libc6 (>= 2.35), python3 (>= 3.11)",
               "python3-numpy", "Metal without a Mac: pymetal and ingot for Python",
               "pymetal has the interface of PyMetal; ingot has tensors with gradients,\n"
               " networks and optimisers."),
}
# What a checker of packages says of these on purpose.
OVERRIDES = {
    "lib": ("embedded-library",          # libpng, libz: the same file on systems that have another one, or none
            "package-name-doesnt-match-sonames", "custom-library-search-path", "no-symbols-control-file",
            "shared-library-lacks-version", "lacks-unversioned-link-to-shared-library",
            "sharedobject-in-library-directory-missing-soname"),
    "dev": (),
    "tools": ("embedded-library",        # LLVM is a part of mslc
              "custom-library-search-path", "hardening-no-pie"),  # addresses are fixed: it starts in 3 ms
    "python": ("custom-library-search-path", "python-package-missing-depends-on-python"),
}


def put(path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(mode)


def documents(root, name, part, version):
    doc = root / "usr" / "share" / "doc" / name
    notices = "".join(f"\n\n{p.name}, a part of which is in this package:\n\n{p.read_text()}"
                      for p in sorted((root / "usr/share/doc/ingot/licences").glob("*")))
    shutil.rmtree(root / "usr" / "share" / "doc" / "ingot", ignore_errors=True)
    put(doc / "copyright", "Ingot, Metal without a Mac\n\nCopyright (C) 2026 the authors of Ingot\n\nLicense: Apache-2.0. "
        f"On Debian systems its text is in /usr/share/common-licenses/Apache-2.0.\n{notices}")
    for page in root.glob("usr/share/man/man1/*.1"):
        put(page.with_suffix(".1.gz"), gzip.compress(page.read_bytes(), mtime=0))
        page.unlink()
    log = f"ingot ({version}) unstable; urgency=medium\n\n{CHANGES}\n -- {MAINTAINER}  Thu, 01 Jan 2026 00:00:00 +0000\n"
    put(doc / "changelog.gz", gzip.compress(log.encode(), mtime=0))
    if OVERRIDES[part]:
        put(root / "usr/share/lintian/overrides" / name, "".join(f"{name}: {tag}\n" for tag in OVERRIDES[part]))


def control(root, part, version):
    name, section, depends, recommends, summary, text = PACKAGES[part]
    kib = (tree.installed_bytes(root) + 1023) // 1024
    fields = [("Package", name), ("Source", "ingot"), ("Version", version), ("Section", section),
              ("Priority", "optional"), ("Architecture", ARCHITECTURES[tree.machine()]),
              ("Maintainer", MAINTAINER), ("Installed-Size", kib), ("Depends", depends.format(version=version)),
              ("Recommends", recommends.format(version=version)), ("Description", f"{summary}\n {text}")]
    put(root / "DEBIAN" / "control", "".join(f"{k}: {v}\n" for k, v in fields if v))
    if part == "lib":
        put(root / "DEBIAN" / "triggers", "activate-noawait ldconfig\n")
        put(root / "DEBIAN" / "shlibs", f"libingot 0 libingot0 (>= {version})\nlibingot-tensor 0 libingot0 (>= {version})\n")
    if part == "python":
        for script, command in (("postinst", "py3compile -p"), ("prerm", "py3clean -p")):
            put(root / "DEBIAN" / script, f"#!/bin/sh\nset -e\nif command -v {command.split()[0]} >/dev/null 2>&1; then\n"
                f"    {command} {name}\nfi\n", 0o755)
    sums = subprocess.run("find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum", shell=True, check=True,
                          cwd=root, capture_output=True, text=True).stdout
    put(root / "DEBIAN" / "md5sums", sums)


def make_debs(build, out):
    version, made = tree.version(), []
    for part, (name, *_) in PACKAGES.items():
        with tempfile.TemporaryDirectory(prefix="ingot-deb-") as temporary:
            root = pathlib.Path(temporary) / name
            tree.install(build, root / "usr", part)
            if part == "python":
                (root / "usr/lib/python3").mkdir()
                shutil.move(root / "usr/lib/python", root / "usr/lib/python3/dist-packages")
            if part == "dev":  # for every architecture that one builds for
                shutil.move(root / "usr/lib/pkgconfig", root / "usr/share/pkgconfig")
            documents(root, name, part, version)
            control(root, part, version)
            for path in (root, *root.rglob("*")):
                if not path.is_symlink():
                    runs = path.is_dir() or path.stat().st_mode & 0o100 and not path.name.endswith((".so", ".h")) \
                        and ".so." not in path.name
                    path.chmod(0o755 if runs else 0o644)
            path = out / f"{name}_{version}_{ARCHITECTURES[tree.machine()]}.deb"
            subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "--build", root, path], check=True,
                           stdout=subprocess.DEVNULL)
            made.append(path)
    return made
