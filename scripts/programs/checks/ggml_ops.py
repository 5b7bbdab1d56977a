#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""checks/ggml_ops.py TEST_BACKEND_OPS OUT.json [options]: ggml's own operator tests on Metal.

Runs ggml's test program once per operator, so that a slow one does not hide the others, and writes what each gave:
passed, failed, not supported by its Metal back end, and the time. Operators already in OUT.json are not run again
unless they are named. Of operators with many hundred cases a sample is run, unless --all is given.
"""
import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time

RESULT = re.compile(r"([A-Z0-9_]+)\((\S*)\): .*?(OK|FAIL|not supported|skipping)")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# Which cases of an operator are its sample: a pattern of their parameters. Most of the time goes into compiling,
# since every size of a head, type and option is a pipeline of its own: of attention every size and every type is taken.
SAMPLES = {
    "FLASH_ATTN_EXT": "nh=4,nr23=.1,1.,kv=113,nb=(1|75),mask=1,sinks=0,max_bias=0.*softcap=0.*permute=.0,1,2,3.",
    "MUL_MAT_ID": "n_mats=[48],.*b=0,",
    "CONV_2D": "stride0=1,stride1=1,padding0=0,.*cwhn=0,",
}


def start(command):
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                            start_new_session=True, env=dict(os.environ, GGML_NO_BACKTRACE="1"))


def run(command, limit):
    """The counts of one run and its failures."""
    begin = time.monotonic()
    row = {"passed": 0, "failed": 0, "unsupported": 0, "ended": "yes", "failures": []}
    process = start(command)
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(process.pid, signal.SIGKILL))
    signal.alarm(limit)
    tail = []
    for line in process.stdout:
        line = COLOUR.sub("", line.rstrip())
        tail = (tail + [line])[-3:]
        found = RESULT.search(line)
        if not found:
            continue
        if found[3] == "OK":
            row["passed"] += 1
        elif found[3] == "FAIL":
            row["failed"] += 1
            row["failures"].append(f"{found[1]}({found[2]})")
        else:
            row["unsupported"] += 1
    process.wait()
    signal.alarm(0)
    row["seconds"] = round(time.monotonic() - begin, 1)
    if process.returncode == -signal.SIGKILL:
        row["ended"] = f"no, stopped after {limit} s"
    elif process.returncode != (1 if row["failed"] else 0):
        row["ended"] = f"no, code {process.returncode}: {tail}"
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("out")
    parser.add_argument("--op", default="", help="operators, with commas between them")
    parser.add_argument("--limit", type=int, default=600, help="seconds for one operator")
    parser.add_argument("--jobs", type=int, default=1, help="cases at a time")
    parser.add_argument("--all", action="store_true", help="every case of every operator")
    args = parser.parse_args()
    rows = {}
    if os.path.exists(args.out):
        with open(args.out, encoding="utf-8") as file:
            rows = json.load(file)
    text = subprocess.run([args.program, "--list-ops"], capture_output=True, text=True, check=True).stdout
    names = [line.strip() for line in text.splitlines() if re.fullmatch(r"\s+[A-Z0-9_]+", line)]
    for name in args.op.split(",") if args.op else [n for n in names if n not in rows]:
        command = [args.program, "test", "-b", "MTL0", "-o", name, "-j", str(args.jobs)]
        sample = None if args.all else SAMPLES.get(name)
        rows[name] = run(command + (["-p", sample] if sample else []), args.limit)
        rows[name]["sample"] = bool(sample)
        with open(args.out + ".new", "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
        os.replace(args.out + ".new", args.out)
        print(name, rows[name], flush=True)
    return 1 if any(row["failed"] or row["ended"] != "yes" for row in rows.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
