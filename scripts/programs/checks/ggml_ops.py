#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""checks/ggml_ops.py TEST_BACKEND_OPS OUT.json [--op NAME,...] [--limit SECONDS]: ggml's own operator tests on Metal.

Runs ggml's test program once per operator, so that a slow one does not hide the others, and writes what each gave:
passed, failed, not supported by its Metal back end, and the time. Operators already in OUT.json are not run again
unless they are named.
"""
import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time

RESULT = re.compile(r"^  ([A-Z0-9_]+)\((.*)\): .*?(OK|FAIL|not supported|skipping)")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def run(command, limit):
    """The counts of one run, its failures and the slowest cases."""
    start = last = time.monotonic()
    row = {"passed": 0, "failed": 0, "unsupported": 0, "ended": "yes"}
    failures, slow = [], []
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               errors="replace", start_new_session=True,
                               env=dict(os.environ, GGML_NO_BACKTRACE="1"))
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(process.pid, signal.SIGKILL))
    signal.alarm(limit)
    tail = []
    for line in process.stdout:
        line = COLOUR.sub("", line.rstrip())
        tail = (tail + [line])[-20:]
        found = RESULT.match(line)
        if not found:
            continue
        now = time.monotonic()
        name = f"{found[1]}({found[2]})"
        if found[3] == "OK":
            row["passed"] += 1
            slow.append((round(now - last, 2), name))
        elif found[3] == "FAIL":
            row["failed"] += 1
            failures.append(name)
        else:
            row["unsupported"] += 1
        last = now
    process.wait()
    signal.alarm(0)
    row["seconds"] = round(time.monotonic() - start, 1)
    if process.returncode == -signal.SIGKILL:
        row["ended"] = f"no, stopped after {limit} s"
    elif process.returncode not in (0, 1):
        row["ended"] = f"no, code {process.returncode}: {tail[-3:]}"
    row["failures"] = failures
    row["slowest"] = sorted(slow, reverse=True)[:5]
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("out")
    parser.add_argument("--op", default="")
    parser.add_argument("--limit", type=int, default=600)
    args = parser.parse_args()
    rows = {}
    if os.path.exists(args.out):
        with open(args.out, encoding="utf-8") as file:
            rows = json.load(file)
    text = subprocess.run([args.program, "--list-ops"], capture_output=True, text=True, check=True).stdout
    names = [line.strip() for line in text.splitlines() if re.fullmatch(r"\s+[A-Z0-9_]+", line)]
    wanted = args.op.split(",") if args.op else [n for n in names if n not in rows]
    for name in wanted:
        rows[name] = run([args.program, "test", "-b", "MTL0", "-o", name], args.limit)
        with open(args.out + ".new", "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
        os.replace(args.out + ".new", args.out)
        print(name, {k: v for k, v in rows[name].items() if k not in ("slowest",)}, flush=True)
    return 1 if any(row["failed"] or row["ended"] != "yes" for row in rows.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
