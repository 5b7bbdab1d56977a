# SPDX-License-Identifier: Apache-2.0
"""The crate `metal` with those of its own examples that need no window."""
EXAMPLES = ("argument-buffer", "bind", "bindless", "caps", "compute", "compute-argument-buffer", "fence", "headless-render", "library",
            "reflection")


def run(p):
    folder = p.crate("metal", "0.29.0")
    for name in EXAMPLES:
        if not folder:
            p.row(name, unsupported=1, note="its crates cannot be had here")
            continue
        r = p.sh([p.ingot, "cargo", "run", "--example", name], cwd=folder, log=name)
        p.row(name, passed=r.status == 0, failed=r.status != 0, seconds=r.seconds,
              note="" if r.status == 0 else r.text.strip().split("\n")[-1][:100])
