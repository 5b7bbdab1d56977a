# SPDX-License-Identifier: Apache-2.0
"""Random threadgroup sizes and grids: threads are where they should be, whatever is cut off.

Kernels of the other files are run over shapes nobody would write down: 7 x 33 x 2 threads on a grid of
11 x 100 x 1. INGOT_SHAPES=N tries N shapes from another seed each time (a fixed few without it).
"""
import os
import random

import pytest

import test_exec as exec_

WAYS = [("w32", 32, True), ("w32-any", 32, False), ("w16", 16, True)]
SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 32, 33, 64, 100, 128, 256, 512, 1024]
MORE = int(os.environ.get("INGOT_SHAPES", 0))


def random_shapes(n, seed):
    pick = random.Random(seed)
    while n:
        group = [pick.choice(SIZES), pick.choice(SIZES + [1] * 8), pick.choice(SIZES + [1] * 20)]
        if group[0] * group[1] * group[2] > 1024:
            continue
        grid = [pick.randint(1, 3 * group[0] + 40), pick.randint(1, 3 * group[1] + 3), pick.randint(1, 3 * group[2] + 3)]
        while grid[0] * grid[1] * grid[2] > 60000:
            grid = [max(1, v // 2) for v in grid]
        n -= 1
        yield tuple(grid), tuple(group)


def run_everywhere(libraries, tmp_path, file, kernel, grid, group, args, expect=None, close=None):
    path = os.path.join(exec_.HERE, file)
    words = [kernel, "grid=" + ",".join(map(str, grid)), "group=" + ",".join(map(str, group))]
    run = exec_.Run(path, 0, words)
    run.args, run.expect, run.close = args, expect or {}, close or {}
    for way, width, shaped in WAYS:
        so = str(tmp_path / f"{kernel}-{way}.so")
        command = [libraries(path), "--emit=obj", "--function", kernel, "--width", str(width), "-o", so]
        result = exec_.mslc(*command, *(["--group", ",".join(map(str, group))] if shaped else []))
        assert result.returncode == 0, result.stderr
        exec_.check_in_child(run, way, so)


libraries = exec_.libraries
SHAPES = list(random_shapes(MORE or 4, None if MORE else 2026))


@pytest.mark.parametrize("grid,group", SHAPES)
def test_shape(grid, group, libraries, tmp_path):
    everywhere = lambda *a, **k: run_everywhere(libraries, tmp_path, *a, **k)
    everywhere("attributes.metal", "positions", grid, group, {0: "np.zeros((n, 12), u32)"},
               {0: "np.stack([gx, gy, gz, lx, ly, lz, tx, ty, tz, sx, sy, sz], 1)"})
    everywhere("edges.metal", "volume", grid, group, {0: "np.zeros(n, u32)"}, {0: "gx + 100 * gy + 10000 * gz"})
    w, h = grid[:2]
    everywhere("edges.metal", "blur", (w, h, 1), (group[0], group[1], 1),
               {0: f"rand({w * h})", 1: f"np.zeros({w * h}, f32)", 2: f"np.array([{w}, {h}], i32)"},
               close={1: f"(lambda p: sum(p[2 + y:{h + 2} + y, 2 + x:{w + 2} + x] for y in range(-2, 3)"
                         f" for x in range(-2, 3)) / 25)(np.pad(a0.reshape({h}, {w}), 2, mode='edge'))"})
    if group[0] <= 128:
        everywhere("barriers.metal", "reverse", (w, 1, 1), (group[0], 1, 1), {0: f"iota({w}, u32)"},
                   {0: f"tx * {group[0]} + sx - 1 - lx"})
    everywhere("barriers.metal", "scan_hillis_steele", (3 * group[0], 1, 1), (group[0], 1, 1),
               {0: f"ints({3 * group[0]}, -50, 50).astype(i32)"},
               {0: f"np.cumsum(a0.reshape(3, {group[0]}), axis=1)"})
