# SPDX-License-Identifier: Apache-2.0
"""tinygrad with DEV=METAL: its own tests, and ours of what its Metal device has: operations, a training loop, tensor
cores (simdgroup matrices), graphs (indirect command buffers), BEAM search."""
import pathlib
import re

CHECKS = pathlib.Path(__file__).parent / "checks" / "tinygrad_checks.py"


def run(p):
    source = p.sdist("tinygrad")
    python = p.python(f"tinygrad=={p.version}", "numpy", "pytest")
    tests = source / "test" / "test_tiny.py"

    def both(command, env, log):
        """On Ingot and on tinygrad's CPU device, warm: the first run compiles every kernel."""
        metal = [p.ingot, "mac", *command]
        first = p.sh(metal, env={**env, "DEV": "METAL"}, log=f"{log}-metal-first")
        again = p.sh(metal, env={**env, "DEV": "METAL"}, log=f"{log}-metal")
        cpu = p.sh(command, env={**env, "DEV": "CPU"}, log=f"{log}-cpu")
        return first, again, cpu

    cache = {"CACHEDB": str(p.folder / "cache.db")}
    for part, what, env in [("graph", "TinyJit graphs through indirect command buffers", {}),
                            ("train", "a CNN trained with Adam", {}),
                            ("matmul", "matrix products with simdgroup matrices (TC=1)", {"TC": "1"}),
                            ("ops", "operations against NumPy", {}), ("beam", "BEAM=2 search", {"BEAM": "2"}),
                            ("matmul", "matrix products without (TC=0)", {"TC": "0"})]:
        first, again, cpu = both([python, CHECKS, part], {**cache, **env}, f"{part}{env.get('TC', '')}")
        failed = max(max(r.count("^FAIL"), r.status != 0) for r in (first, again)) # an exception ends it without a FAIL
        times = re.findall(r"^time of (.*)", again.text, re.MULTILINE)
        cpu_times = [t.split(": ")[1] for t in re.findall(r"^time of (.*)", cpu.text, re.MULTILINE)]
        p.row(what, again.count("^PASS"), failed, 0, again.seconds, cpu.seconds, "; ".join(
            [f"first run {first.seconds:.3g} s"] + [f"{metal} (its CPU {own})" for metal, own in zip(times, cpu_times)]))
    first, again, cpu = both([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rN", tests], cache, "tiny")

    def tally(result, word):
        return sum(int(n) for n in re.findall(rf"(\d+) {word}", result.text))
    failed = max(max(tally(r, "failed") + tally(r, "error"), r.status != 0) for r in (first, again))
    p.row("its own test_tiny.py", tally(again, "passed"), failed, tally(again, "skipped"), again.seconds, cpu.seconds,
          f"first run {first.seconds:.3g} s")
