#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `ingot play` costs: frames a second that Chromium shows of a simple shader, the processor time of a
frame in the server, its device and the browser, and the time from a source to its picture.

    python3 bench/bench_play.py [FILE.metal] [--seconds 8]
"""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "web"))
TICK = os.sysconf("SC_CLK_TCK")


def processes():
    """{number: (parent, name, processor seconds)}"""
    found = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text()
        except OSError:
            continue
        name, rest = text[text.index("(") + 1:text.rindex(")")], text[text.rindex(")") + 2:].split()
        kind = re.search(rb"--type=([\w-]+)", (path.parent / "cmdline").read_bytes())
        found[int(path.parent.name)] = (int(rest[1]), f"{name} {kind[1].decode()}" if kind else name,
                                        (int(rest[11]) + int(rest[12])) / TICK)
    return found


def below(root):
    """{name: processor seconds} of a process and all that it started."""
    all_, times = processes(), {}
    for number, (parent, name, seconds) in all_.items():
        at = number
        while at not in (0, 1, root):
            at = all_[at][0] if at in all_ else 0
        if at == root:
            times[name] = times.get(name, 0) + seconds
    return times


def main():
    from browser import Browser
    options = argparse.ArgumentParser()
    options.add_argument("file", nargs="?", default=str(ROOT / "examples/play/01-plasma.metal"))
    options.add_argument("--seconds", type=float, default=8)
    options = options.parse_args()
    server = subprocess.Popen([str(ROOT / "build/bin/ingot"), "play", "--no-browser", options.file],
                              stdout=subprocess.PIPE, text=True)
    address = next(m[0] for m in (re.search(r"http://\S+", line) for line in server.stdout) if m)
    page = Browser(1360, 860)
    try:
        page.open(address)
        page.wait("document.body.dataset.fps > 0")
        before, begin = (below(server.pid), below(page.process.pid)), time.monotonic()
        shown = page.js("Ingot.frames")
        time.sleep(options.seconds)
        frames = page.js("Ingot.frames") - shown
        after, seconds = (below(server.pid), below(page.process.pid)), time.monotonic() - begin
        print(f"{frames / seconds:.1f} frames a second")
        for was, now in zip(before, after):
            for name, s in sorted(now.items()):
                if s - was.get(name, 0) > 0.02:
                    print(f"  {name:<32} {1e3 * (s - was.get(name, 0)) / frames:6.2f} ms of processor time a frame")
        waits = []
        for k in range(15):
            page.js("delete document.body.dataset.latency, document.querySelector('#editor textarea').focus()")
            page.type(f"/* {k} */")
            waits.append(page.wait("document.body.dataset.latency"))
        print(f"source to picture: {statistics.median(map(float, waits)):.0f} ms (median of 15)")
    finally:
        page.close()
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
