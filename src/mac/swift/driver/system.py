# SPDX-License-Identifier: Apache-2.0
"""system.py: the Swift that programs are compiled with: the machine's own, or a Debian with Swift in the user's cache
(scripts/swift-system), which sees the machine's folders under their own names."""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

SUITES = ("trixie", "sid")
# Folders of the machine that the cached system has none of its own of, or lends.
LENT = ("dev", "proc", "sys", "tmp", "run")
ITS_OWN = {"bin", "boot", "etc", "lib", "lib32", "lib64", "libx32", "sbin", "usr", "var", "media", "mnt", "lost+found"}
ENTER = """root=$1 cwd=$2; shift 2
for d in $INGOT_LENT; do mkdir -p "$root/$d" && mount --rbind "/$d" "$root/$d" || exit 125; done
exec chroot "$root" /bin/sh -c 'cd "$0" && exec "$@"' "$cwd" "$@"
"""


def fail(text):
    """One line, and the end."""
    print(f"ingot swift: {text}", file=sys.stderr)
    raise SystemExit(1)


def cache_folder():
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "ingot/swift"


class System:
    """Runs commands where Swift is. root None: the machine itself."""

    def __init__(self, root=None):
        self.root = root
        self.version = self.ask_version()

    def ask_version(self):
        done = self.run(["swiftc", "--version"], capture_output=True, text=True)
        if done.returncode:
            fail(f"swiftc does not start: {(done.stderr.strip().splitlines() or ['no reason given'])[-1]}")
        return done.stdout.strip().splitlines()[0]

    def command(self, words, cwd):
        if not self.root:
            return words
        namespaces = ["--mount"] if os.geteuid() == 0 else ["--mount", "--map-root-user"]
        return ["unshare", *namespaces, "sh", "-c", ENTER, "sh", str(self.root), cwd or os.getcwd(), *words]

    def run(self, words, env=None, cwd=None, **more):
        """As subprocess.run."""
        env = dict(os.environ if env is None else env)
        if self.root:
            own = [d.name for d in pathlib.Path("/").iterdir() if d.is_dir() and not d.is_symlink()
                   and d.name not in ITS_OWN | set(LENT)]
            env["INGOT_LENT"] = " ".join([d for d in (*LENT, *own, "usr/local") if pathlib.Path("/", d).is_dir()])
            env["PATH"] = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
        return subprocess.run([str(w) for w in self.command(words, cwd)], env=env, cwd=cwd, check=False, **more)


def find():
    """The machine's Swift, or a cached system. INGOT_SWIFT: `machine`, a suite, or the folder of a system."""
    wanted = os.environ.get("INGOT_SWIFT", "")
    if wanted in ("", "machine") and shutil.which("swiftc"):
        return System()
    if wanted.startswith("/"):
        if not pathlib.Path(wanted, "usr/bin/swiftc").exists():
            fail(f"INGOT_SWIFT: no Swift in {wanted}")
        return System(pathlib.Path(wanted))
    for suite in [wanted] if wanted else SUITES:
        if (cache_folder() / suite / "complete").exists():
            return System(cache_folder() / suite)
    fail("no Swift here: install it (swiftc in PATH), or run scripts/swift-system, which makes a Debian with it in the cache")


def digest(paths, *words):
    h = hashlib.sha256("\0".join(words).encode())
    for path in paths:
        h.update(path.name.encode() + b"\0" + path.read_bytes())
    return h.hexdigest()[:16]
