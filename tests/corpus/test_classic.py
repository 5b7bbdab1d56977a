# SPDX-License-Identifier: Apache-2.0
"""classic/*.metal: textbook GPU programs against NumPy or plain Python."""
import hashlib

import numpy as np
import pytest

from runner import DEEP, EVERY, QUICK, USUAL, check, run_kernel, struct_bytes

IMAGES, PARALLEL, SCIENCE = "classic/images.metal", "classic/parallel.metal", "classic/science.metal"
F = np.float32
SHAPES = [((33, 21), (8, 8)), ((64, 48), (16, 16)), ((70, 9), (32, 4)), ((100, 5), (7, 3))]


def rng(seed=1):
    return np.random.default_rng(seed)


def size_of(a):
    return np.array([a.shape[1], a.shape[0]], np.uint32)


def padded(grid, group):
    return tuple(-(-g // s) * s for g, s in zip(grid, group))


def shifted(a, dy, dx):
    h, w = a.shape
    return a[np.ix_(np.clip(np.arange(h) + dy, 0, h - 1), np.clip(np.arange(w) + dx, 0, w - 1))]


# ------------------------------------------------------------------------------------- images

@pytest.mark.parametrize("grid,group", SHAPES)
def test_float_filters(grid, group):
    a = rng(2).random(grid[::-1]).astype(F)
    d, s = np.zeros_like(a), size_of(a)
    g = np.array([1, 4, 6, 4, 1]) / 16
    want = sum(g[i] * g[j] * shifted(a, i - 2, j - 2) for i in range(5) for j in range(5))
    check(IMAGES, "gaussian5", padded(grid, group), group, {0: a, 1: d, 2: s}, {1: want}, modes=DEEP)
    check(IMAGES, "gaussian5", grid, group, {0: a, 1: d, 2: s}, {1: want}, modes=QUICK)

    sig = np.array([1.5, 0.2], F)
    num, den = np.zeros(a.shape), np.zeros(a.shape)
    for dy in range(-3, 4):
        for dx in range(-3, 4):
            v = np.full(a.shape, np.nan)
            h, w = a.shape
            ys, xs = slice(max(0, -dy), h - max(0, dy)), slice(max(0, -dx), w - max(0, dx))
            yt, xt = slice(max(0, dy), h - max(0, -dy)), slice(max(0, dx), w - max(0, -dx))
            v[ys, xs] = a[yt, xt]
            wgt = np.exp(-(dx * dx + dy * dy) / (2 * 1.5 ** 2) - 0.5 * ((v - a) / 0.2) ** 2)
            num += np.nan_to_num(wgt * v)
            den += np.nan_to_num(wgt)
    check(IMAGES, "bilateral", padded(grid, group), group, {0: a, 1: d, 2: s, 3: sig}, {1: num / den},
          modes=DEEP, rtol=2e-5)


@pytest.mark.parametrize("grid,group", SHAPES)
def test_byte_filters(grid, group):
    a = rng(3).integers(0, 256, grid[::-1]).astype(np.uint8)
    d, s = np.zeros_like(a), size_of(a)
    nine = np.stack([shifted(a, i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)])
    median = np.sort(nine, 0)[4]
    check(IMAGES, "median3", grid, group, {0: a, 1: d, 2: s}, {1: median}, modes=DEEP)
    check(IMAGES, "median3_insertion", grid, group, {0: a, 1: d, 2: s}, {1: median}, modes=DEEP)

    w = a.astype(int)
    gx = sum(shifted(w, j, i) * i * (2 if j == 0 else 1) for i in (-1, 0, 1) for j in (-1, 0, 1))
    gy = sum(shifted(w, j, i) * j * (2 if i == 0 else 1) for i in (-1, 0, 1) for j in (-1, 0, 1))
    edge = np.minimum(255, np.sqrt((gx * gx + gy * gy).astype(F)).astype(int))
    edge[0], edge[-1], edge[:, 0], edge[:, -1] = 0, 0, 0, 0
    check(IMAGES, "sobel", padded(grid, group), group, {0: a, 1: d, 2: s}, {1: edge.astype(np.uint8)})

    left, right = shifted(w, 0, -1), shifted(w, 0, 1)
    up = np.minimum(255, w + np.abs(w - left) // 2)
    down = np.maximum(0, up - (right + left + 1) // 2 // 4)
    want = ((up + down) // 2 + ((w * 300 >> 16) & 1)).astype(np.uint8)
    check(IMAGES, "sharpen_sat", padded(grid, group), group, {0: a, 1: d, 2: s}, {1: want})

    py, px = np.mgrid[:a.shape[0], :a.shape[1]]
    x, y = px & 7, (px ^ py) & 7
    bit = lambda v, k: (v >> k) & 1
    t = (bit(y, 0) << 5 | bit(x, 0) << 4 | bit(y, 1) << 3 | bit(x, 1) << 2 | bit(y, 2) << 1 | bit(x, 2))
    want = np.where(w > t * 4 + 2, 255, 0).astype(np.uint8)
    check(IMAGES, "dither_ordered", padded(grid, group), group, {0: a, 1: d, 2: s}, {1: want})


@pytest.mark.parametrize("width,height", [(64, 3), (200, 7), (61, 2)])
def test_blur_row_tiled(width, height):
    a = rng(4).random((height, width)).astype(F)
    want = sum(shifted(a, 0, k) for k in range(-4, 5)) / 9
    check(IMAGES, "blur_row_tiled", (-(-width // 64) * 64, height), (64, 1),
          {0: a, 1: np.zeros_like(a), 2: size_of(a)}, {1: want}, modes=DEEP)


def test_pixels():
    r = rng(5)
    px = r.integers(0, 1 << 32, 333, dtype=np.uint64).astype(np.uint32)
    c = np.stack([(px >> (8 * k)) & 255 for k in range(4)], -1) / 255.0
    m = r.normal(size=(3, 3)).astype(F) * 0.5
    columns = np.zeros((3, 4), F)
    columns[:, :3] = m.T
    rgb = np.clip(c[:, 2::-1] @ m.T, 0, 1)
    q = np.rint(np.concatenate([rgb, 1 - c[:, 3:]], 1) * 255)
    got = run_kernel(IMAGES, "colour_twist", 352, 32, {0: px, 1: px * 0, 2: columns, 3: np.uint32(333)}, [1])[1]
    g = np.stack([(got >> (8 * k)) & 255 for k in range(4)], -1)
    assert np.abs(g.astype(int) - q).max() <= 1 and (g != q).mean() < 0.02

    b = r.integers(0, 256, (501, 4)).astype(np.uint8)
    y = np.rint(np.clip(b[:, :3] / 255.0 @ [0.2126, 0.7152, 0.0722], 0, 1) * 255)
    for mode in DEEP:
        got = run_kernel(IMAGES, "luma", 501, 64, {0: b, 1: np.zeros(501, np.uint8)}, [1], mode=mode)[1]
        assert np.abs(got - y).max() <= 1


def test_dither_rows_and_integral():
    a = rng(6).integers(0, 256, (41, 57)).astype(np.uint8)
    want = a.astype(int)
    for row in want:
        error = 0
        for x in range(57):
            v = row[x] + error
            row[x] = 0 if v < 128 else 255
            error = v - row[x]
    check(IMAGES, "dither_rows", 64, 16, {0: a, 1: size_of(a)}, {0: want.astype(np.uint8)}, modes=EVERY)
    sat = a.astype(np.uint32).cumsum(1, dtype=np.uint32)
    check(IMAGES, "integral_rows", 64, 64, {0: a, 1: np.zeros(a.shape, np.uint32), 2: size_of(a)}, {1: sat})
    check(IMAGES, "integral_columns", 64, 32, {0: sat, 1: size_of(a)}, {0: sat.cumsum(0, dtype=np.uint32)})


def test_resize():
    a = rng(7).random((20, 31)).astype(F)
    oh, ow = 37, 45
    py = (np.arange(oh) + 0.5) * (20 / oh) - 0.5
    px = (np.arange(ow) + 0.5) * (31 / ow) - 0.5
    y0, x0 = np.floor(py).astype(int), np.floor(px).astype(int)
    ty, tx = (py - y0)[:, None], (px - x0)[None]
    get = lambda y, x: a[np.ix_(np.clip(y, 0, 19), np.clip(x, 0, 30))]
    top = get(y0, x0) * (1 - tx) + get(y0, x0 + 1) * tx
    bottom = get(y0 + 1, x0) * (1 - tx) + get(y0 + 1, x0 + 1) * tx
    check(IMAGES, "resize_bilinear", (48, 40), (16, 8),
          {0: a, 1: np.zeros((oh, ow), F), 2: size_of(a), 3: np.array([ow, oh], np.uint32)},
          {1: top * (1 - ty) + bottom * ty}, modes=DEEP, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name,dtype,extra", [("f32", F, ()), ("u8", np.uint8, ()), ("f4", F, (4,))])
@pytest.mark.parametrize("w,h", [(32, 48), (37, 19)])
def test_transpose(name, dtype, extra, w, h):
    a = rng(8).integers(0, 255, (h, w) + extra).astype(dtype)
    want = np.swapaxes(a, 0, 1)
    check(IMAGES, f"transpose_{name}", (-(-w // 16) * 16, -(-h // 16) * 16), (16, 16),
          {0: a, 1: np.zeros(want.shape, dtype), 2: size_of(a)}, {1: want}, modes=DEEP)


# ----------------------------------------------------------------------------------- parallel

@pytest.mark.parametrize("kernel", ["histogram_device", "histogram_threadgroup"])
@pytest.mark.parametrize("n,grid,group", [(1000, 1000, 64), (5000, 333, 37), (20000, 2048, 1024)])
def test_histogram(kernel, n, grid, group):
    data = (rng(n).normal(size=n) * 30 + 128).clip(0, 255).astype(np.uint8)
    want = np.bincount(data, minlength=256).astype(np.uint32)
    check(PARALLEL, kernel, grid, group, {0: data, 1: np.zeros(256, np.uint32), 2: np.uint32(n)}, {1: want},
          modes=DEEP if n == 1000 else USUAL)


@pytest.mark.parametrize("group", [32, 50])
def test_atomics(group):
    v = rng(1).integers(-1000, 1000, 700).astype(np.int32)
    e = np.zeros(1, np.dtype([("lo", "i4"), ("hi", "i4"), ("bits", "u4"), ("total", "f4")]))
    for mode in DEEP:
        raw = run_kernel(PARALLEL, "extremes", v.size, group, {0: v, 1: np.frombuffer(e.tobytes(), np.uint8)}, [1],
                         mode=mode)[1]
        got = np.frombuffer(raw.tobytes(), e.dtype)[0]
        assert got["lo"] == v.min() and got["hi"] == v.max()
        assert got["bits"] == np.bitwise_or.reduce(1 << (v.astype(np.uint32) & 31))
        assert got["total"] == v.sum()
    f = rng(2).random(900).astype(F)
    check(PARALLEL, "cas_max", 900, group, {0: f, 1: np.zeros(1, np.uint32)}, {1: np.array([f.max()]).view(np.uint32)},
          modes=EVERY)


@pytest.mark.parametrize("n,group", [(64, 32), (1000, 64), (4096, 512), (100, 8)])
def test_scans(n, group):
    a = rng(n).integers(0, 100, n).astype(np.uint32)
    groups = -(-n // (2 * group))
    block = np.zeros(groups * 2 * group, np.uint32)
    block[:n] = a
    block = block.reshape(groups, -1)
    exclusive = (block.cumsum(1, dtype=np.uint32) - block).reshape(-1)[:n]
    check(PARALLEL, "scan_blelloch", groups * group, group,
          {0: a, 1: a * 0, 2: np.zeros(groups, np.uint32), 3: np.uint32(n)},
          {1: exclusive, 2: block.sum(1, dtype=np.uint32)}, tg={0: 8 * group}, modes=DEEP if n <= 100 else USUAL)
    if group % 32 == 0:
        s = a.astype(np.int32) - 50
        groups = -(-n // group)
        block = np.zeros(groups * group, np.int32)
        block[:n] = s
        want = block.reshape(groups, -1).cumsum(1, dtype=np.int32).reshape(-1)[:n]
        check(PARALLEL, "scan_simd", groups * group, group, {0: s, 1: s * 0, 2: np.uint32(n)}, {1: want},
              modes=EVERY if n == 64 else USUAL)
        block = np.zeros(-(-n // 32) * 32, np.int32)
        block[:n] = s
        want = block.reshape(-1, 32).cumsum(1, dtype=np.int32).reshape(-1)
        check(PARALLEL, "scan_shuffle", block.size, 32, {0: block, 1: block * 0}, {1: want}, modes=DEEP)


@pytest.mark.parametrize("group", [32, 96, 40])
def test_compaction(group):
    a = rng(3).integers(-100, 100, 777).astype(np.int32)
    for mode in DEEP:
        out = run_kernel(PARALLEL, "compact_ballot", -(-777 // group) * group, group,
                         {0: a, 1: a * 0, 2: np.zeros(1, np.uint32), 3: np.uint32(777)}, [1, 2], mode=mode)
        keep = a[np.fmod(a, 3) == 0]
        assert out[2][0] == keep.size
        assert sorted(out[1][:keep.size]) == sorted(keep)
        out = run_kernel(PARALLEL, "compact_divergent", 777, group, {0: a, 1: a * 0, 2: np.zeros(1, np.uint32)}, [1, 2],
                         mode=mode)
        keep = a[a > 0]
        assert out[2][0] == keep.size
        assert sorted(out[1][:keep.size]) == sorted(keep)


def test_bitonic():
    a = rng(4).integers(0, 1 << 32, 256, dtype=np.uint64).astype(np.uint32)
    got, k = a, 2
    while k <= 256:
        j = k // 2
        while j:
            got = run_kernel(PARALLEL, "bitonic_step", 256, 64, {0: got, 1: np.array([j, k], np.uint32)}, [0])[0]
            j //= 2
        k *= 2
    assert (got == np.sort(a)).all()


@pytest.mark.parametrize("group", [32, 128, 1024])
def test_bitonic_local(group):
    a = rng(5).normal(size=(3, group)).astype(F)
    check(PARALLEL, "bitonic_local", 3 * group, group, {0: a}, {0: np.sort(a, 1)}, tg={0: 4 * group},
          modes=DEEP if group < 1000 else USUAL, rtol=0, atol=0)


@pytest.mark.parametrize("group", [32, 64, 256])
def test_radix(group):
    a = rng(6).integers(0, 1 << 12, (2, group)).astype(np.uint32)
    want = np.take_along_axis(a, np.argsort((a >> 4) & 15, axis=1, kind="stable"), 1)
    check(PARALLEL, "radix_pass", 2 * group, group, {0: a, 1: a * 0, 2: np.uint32(4)}, {1: want},
          modes=DEEP if group == 64 else USUAL)


def test_odd_even():
    a = rng(7).integers(-1000, 1000, 101).astype(np.int16)
    check(PARALLEL, "odd_even_sort", 40, 40, {0: a, 1: np.uint32(101)}, {0: np.sort(a)}, modes=EVERY)


@pytest.mark.parametrize("group", [32, 128, 256])
def test_reductions(group):
    n = 1000
    a = rng(8).normal(size=n).astype(F)
    groups = -(-n // group)
    b = np.zeros(groups * group, F)
    b[:n] = a
    top = np.full(groups * group, -np.inf)
    top[:n] = a
    want = np.stack([b.reshape(groups, -1).sum(1), top.reshape(groups, -1).max(1)], -1)
    check(PARALLEL, "reduce_tree", groups * group, group, {0: a, 1: np.zeros((groups, 2), F), 2: np.uint32(n)}, {1: want},
          tg={0: 4 * group}, modes=DEEP, atol=1e-4)
    u = rng(9).integers(0, 1000, 5000).astype(np.uint32)
    check(PARALLEL, "reduce_last_group", 4 * group, group,
          {0: u, 1: np.zeros(4, np.uint32), 2: np.zeros(1, np.uint32), 3: np.zeros(1, np.uint32), 4: np.uint32(5000)},
          {3: np.array([u.sum()], np.uint32)}, modes=DEEP)


def graph(n, seed, mean=6):
    r = rng(seed)
    counts = np.minimum(r.geometric(1 / mean, n) - 1, n)
    ptr = np.concatenate([[0], counts.cumsum()]).astype(np.uint32)
    return ptr, r.integers(0, n, ptr[-1]).astype(np.uint32)


def test_spmv():
    n = 150
    ptr, col = graph(n, 10, 20)
    val = rng(11).normal(size=col.size).astype(F)
    x = rng(12).normal(size=n).astype(F)
    want = np.array([np.dot(val[a:b].astype(float), x[col[a:b]]) for a, b in zip(ptr, ptr[1:])])
    args = {0: ptr, 1: col, 2: val, 3: x, 4: np.zeros(n, F), 5: np.uint32(n)}
    check(PARALLEL, "spmv_scalar", 160, 32, args, {4: want}, modes=EVERY, atol=1e-4)
    check(PARALLEL, "spmv_vector", -(-n // 4) * 128, 128, args, {4: want}, modes=EVERY, atol=1e-4)


def test_bfs():
    n = 120
    ptr, col = graph(n, 13, 4)
    level = np.full(n, -1, np.int32)
    level[0] = 0
    want, frontier, depth = level.copy(), [0], 0
    while frontier:
        depth += 1
        found = []
        for v in frontier:
            for w in col[ptr[v]:ptr[v + 1]]:
                if want[w] == -1:
                    want[w] = depth
                    found.append(w)
        frontier = found
    frontier, depth = np.array([0], np.uint32), 0
    while frontier.size:
        depth += 1
        out = run_kernel(PARALLEL, "bfs_step", frontier.size, 32,
                         {0: ptr, 1: col, 2: level, 3: frontier, 4: np.zeros(n, np.uint32), 5: np.zeros(1, np.uint32),
                          6: np.uint32(frontier.size), 7: np.int32(depth)}, [2, 4, 5])
        level, frontier = out[2], out[4][:out[5][0]]
    assert (level == want).all()


def test_components():
    n = 90
    edges = rng(14).integers(0, n, (80, 2)).astype(np.uint32)
    label, want = np.arange(n, dtype=np.uint32), np.arange(n)
    for _ in range(n):
        for a, b in edges:
            want[a] = want[b] = min(want[a], want[b])
    for _ in range(n):
        out = run_kernel(PARALLEL, "components_hook", 80, 16, {0: label, 1: edges, 2: np.zeros(1, np.uint32)}, [0, 2])
        label = out[0]
        if not out[2][0]:
            break
    assert (label == want).all()


def test_kmeans():
    r = rng(15)
    pts, centres = r.normal(size=(333, 3)).astype(F), r.normal(size=(5, 3)).astype(F)
    c4 = np.zeros((5, 4), F)
    c4[:, :3] = centres
    d = ((pts[:, None].astype(float) - centres) ** 2).sum(-1)
    own = d.argmin(1)
    sums = np.stack([pts[own == k].sum(0) for k in range(5)])
    check(PARALLEL, "kmeans_assign", 352, 32,
          {0: pts, 1: c4, 2: np.zeros(333, np.uint32), 3: np.zeros((5, 3), F), 4: np.zeros(5, np.uint32),
           5: np.array([333, 5], np.uint32)},
          {2: own.astype(np.uint32), 3: sums, 4: np.bincount(own, minlength=5).astype(np.uint32)}, modes=DEEP, atol=1e-3)


def test_sequences():
    r = rng(16)
    a, b = r.integers(0, 4, 50).astype(np.int8), r.integers(0, 4, 65).astype(np.int8)
    h = np.zeros((51, 66), np.int32)
    for i in range(1, 51):
        for j in range(1, 66):
            h[i, j] = max(0, h[i - 1, j - 1] + (3 if a[i - 1] == b[j - 1] else -3), h[i - 1, j] - 2, h[i, j - 1] - 2)
    check(PARALLEL, "smith_waterman", 64, 64,
          {0: a, 1: b, 2: h * 0, 3: np.array([50, 65], np.uint32), 4: np.zeros(1, np.int32)},
          {2: h, 4: np.array([h.max()], np.int32)}, modes=EVERY)

    text = r.choice(np.frombuffer(b"abc 01.\n", np.uint8), 1000)
    pat = np.frombuffer(b"a?c", np.uint8)
    hit = np.zeros(1000, np.uint8)
    for i in range(998):
        hit[i] = text[i] == ord("a") and text[i + 2] == ord("c")
    check(PARALLEL, "find_all", 1000, 100, {0: text, 1: pat, 2: np.array([1000, 3], np.uint32), 3: hit * 0}, {3: hit},
          modes=DEEP)

    run, want = 37, np.zeros((28, 4), np.uint32)
    for t in range(28):
        state = 0
        for c in bytes(text[t * run:(t + 1) * run]).decode():
            if c in " \n\t":
                want[t, 3] += 1
                state = 0
            elif c.isdigit():
                if state == 0:
                    state = 2
                    want[t, 1] += 1
            elif "a" <= c <= "z":
                if state == 0:
                    state = 1
                    want[t, 0] += 1
            else:
                want[t, 2] += 1
                state = 0
    check(PARALLEL, "count_words", 28, 28, {0: text, 1: np.uint32(1000), 2: np.uint32(run), 3: want * 0}, {3: want},
          modes=EVERY)


# ------------------------------------------------------------------------------------ science

@pytest.mark.parametrize("n,group", [(64, 32), (100, 64)])
def test_nbody(n, group):
    b = rng(n).normal(size=(n, 8)).astype(F)
    b[:, 3] = np.abs(b[:, 3])
    p, v = b[:, :3].astype(float), b[:, 4:7].astype(float)
    d = p[None] - p[:, None]
    r2 = (d ** 2).sum(-1) + 0.01
    acc = (d * (b[:, 3].astype(float)[None] / r2 ** 1.5)[..., None]).sum(1)
    want = b.astype(float)
    want[:, 4:7] = v + acc * 0.01
    want[:, :3] = p + want[:, 4:7] * 0.01
    check(SCIENCE, "nbody", -(-n // group) * group, group,
          {0: b, 1: b * 0, 2: struct_bytes(("u4", n), ("f4", 0.01), ("f4", 0.01))}, {1: want}, tg={0: 16 * group},
          modes=DEEP, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("grid,group", [((33, 20), (32, 4)), ((64, 16), (16, 16)), ((10, 10), (5, 2))])
def test_life(grid, group):
    a = rng(20).integers(0, 2, grid[::-1]).astype(np.uint8)
    n = sum(np.roll(a, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - a
    check(SCIENCE, "life", grid, group, {0: a, 1: a * 0}, {1: ((n == 3) | ((a == 1) & (n == 2))).astype(np.uint8)},
          modes=DEEP)


def test_life_words():
    bits = rng(21).integers(0, 2, (40, 64)).astype(np.uint8)
    n = sum(np.roll(bits, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - bits
    want = (n == 3) | ((bits == 1) & (n == 2))
    pack = lambda b: np.packbits(b, axis=1, bitorder="little").view("<u8").reshape(-1)
    check(SCIENCE, "life_words", 64, 32, {0: pack(bits), 1: pack(bits) * 0, 2: np.uint32(40)}, {1: pack(want)}, modes=EVERY)


@pytest.mark.parametrize("grid,group", [((12, 9, 7), (4, 4, 4)), ((32, 5, 6), (32, 1, 1))])
def test_heat(grid, group):
    a = rng(22).random(grid[::-1]).astype(F)
    want = a.copy()
    c = a[1:-1, 1:-1, 1:-1]
    want[1:-1, 1:-1, 1:-1] = c + 0.1 * (a[:-2, 1:-1, 1:-1] + a[2:, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1] + a[1:-1, 2:, 1:-1]
                                        + a[1:-1, 1:-1, :-2] + a[1:-1, 1:-1, 2:] - 6 * c)
    check(SCIENCE, "heat3d", padded(grid, group), group,
          {0: a, 1: a * 0, 2: np.array(list(grid) + [0], np.uint32), 3: F(0.1)}, {1: want}, modes=DEEP)


def test_shallow():
    cell = np.dtype({"names": ["h", "flow"], "formats": ["<f2", ("<f2", 2)], "offsets": [0, 4], "itemsize": 8})
    a = np.zeros((6, 21), cell)
    a["h"], a["flow"] = rng(23).random((6, 21)), rng(24).random((6, 21, 2))
    idx = np.arange(21)
    l, r = np.maximum(idx - 1, 0), np.minimum(idx + 1, 20)
    h, f = a["h"].astype(float), a["flow"].astype(float)
    want_f = f[..., 0] - 0.25 * (h[:, r] - h[:, l])
    want_h = h - 0.125 * (f[:, r, 0] - f[:, l, 0])
    for mode in DEEP:
        raw = run_kernel(SCIENCE, "shallow", (24, 8), (8, 4),
                         {0: np.frombuffer(a.tobytes(), np.uint8), 1: np.zeros(a.nbytes, np.uint8),
                          2: np.array([21, 6], np.uint16)}, [1], mode=mode)[1]
        got = np.frombuffer(raw.tobytes(), cell).reshape(6, 21)
        assert np.allclose(got["h"], want_h, atol=2e-3) and np.allclose(got["flow"][..., 0], want_f, atol=2e-3)
        assert (got["flow"][..., 1] == a["flow"][..., 1]).all()


@pytest.mark.parametrize("grid,group", [((64, 32), (16, 16)), ((50, 33), (32, 3)), ((40, 30), (1, 1))])
def test_mandelbrot(grid, group):
    view = struct_bytes(("f4", [-0.5, 0.0]), ("f4", 3.0), ("u4", 60))
    w, h = grid
    x = (F(-0.5) + (np.arange(w).astype(F) / F(w) - F(0.5)) * F(3))[None].repeat(h, 0)
    y = ((np.arange(h).astype(F) / F(h) - F(0.5)) * F(3))[:, None].repeat(w, 1)
    c = x.astype(complex) + 1j * y
    z, want = np.zeros_like(c), np.full(c.shape, 60)
    alive = np.ones(c.shape, bool)
    for i in range(60):
        leaving = alive & (np.abs(z) ** 2 > 4)
        want[leaving] = i
        alive &= ~leaving
        z = np.where(alive, z * z + c, z)
    for mode in DEEP:
        got = run_kernel(SCIENCE, "mandelbrot", grid, group, {0: want.astype(np.uint32) * 0, 1: view}, [0], mode=mode)[0]
        assert (got != want).mean() < 0.02, mode


def test_newton():
    w, h = 45, 33
    x = (np.arange(w) + 0.5) / w * 4 - 2
    y = (np.arange(h) + 0.5) / h * 4 - 2
    z = x[None] + 1j * y[:, None]
    roots = np.array([1, -0.5 + 0.8660254j, -0.5 - 0.8660254j])
    want = np.full(z.shape, 255)
    for _ in range(40):
        with np.errstate(all="ignore"):
            z = np.where(want == 255, z - (z ** 3 - 1) / (3 * z * z), z)
        for r in range(3):
            want[(want == 255) & (np.abs(z - roots[r]) < 1e-3)] = r
    for mode in EVERY:
        got = run_kernel(SCIENCE, "newton", (w, h), (16, 4), {0: np.zeros((h, w), np.uint8)}, [0], mode=mode)[0]
        assert (got != want).mean() < 0.02, mode


def scene(p):
    length = lambda v: np.sqrt((v * v).sum(-1))
    ball = length(p - [0.3, 0.2, 0]) - 0.7
    q = np.abs(p - [-0.6, -0.1, 0.2]) - 0.35
    box = length(np.maximum(q, 0)) + np.minimum(q.max(-1), 0)
    h = np.clip(0.5 + 0.5 * (box - ball) / 0.2, 0, 1)
    body = box * (1 - h) + ball * h - 0.2 * h * (1 - h)
    floor = p[..., 1] + 0.8
    return np.minimum(body, floor), np.where(body < floor, 1, 2)


def test_raymarch():
    w, h = 40, 30
    eye = np.array([0, 0.3, -3.5, 0], F)
    gx, gy = np.meshgrid(np.arange(w), np.arange(h))
    uv = np.stack([(2 * (gx + 0.5) - w) / h, (2 * (gy + 0.5) - h) / h, np.full(gx.shape, 1.8)], -1)
    d = uv / np.sqrt((uv ** 2).sum(-1, keepdims=True))
    t, mat, done = np.zeros(gx.shape), np.zeros(gx.shape, int), np.zeros(gx.shape, bool)
    for _ in range(64):
        dist, m = scene(eye[:3] + d * t[..., None])
        mat = np.where(done, mat, m)
        hit = ~done & (dist < 1e-3)
        done |= hit
        t = np.where(done, t, t + dist)
        far = ~done & (t > 20)
        mat[far] = 0
        done |= far
    p = eye[:3] + d * t[..., None]
    e = 1e-3
    n = np.zeros_like(p)
    for k in ([1, -1, -1], [-1, -1, 1], [-1, 1, -1], [1, 1, 1]):
        k = np.array(k, float)
        n += k * scene(p + k * e)[0][..., None]
    n /= np.sqrt((n ** 2).sum(-1, keepdims=True))
    light = np.array([0.6, 0.9, -0.5]) / np.sqrt(0.36 + 0.81 + 0.25)
    diffuse = np.clip(n @ light, 0, 1)
    refl = d - 2 * (n * d).sum(-1, keepdims=True) * n
    base = np.where((mat == 1)[..., None], [0.9, 0.4, 0.2], [0.5, 0.5, 0.5])
    col = base * (0.1 + 0.9 * diffuse[..., None]) + (np.clip(refl @ light, 0, 1) ** 16)[..., None] * 0.3
    col[(mat == 0) | ~done] = 0
    for mode in DEEP:
        got = run_kernel(SCIENCE, "raymarch", (w, h), (16, 8), {0: np.zeros((h, w, 4), F), 1: eye}, [0], mode=mode)[0]
        assert (np.abs(got[..., :3] - col).max(-1) > 0.03).mean() < 0.03, mode
        ok = (mat != 0) & done
        assert (np.abs(got[..., 3] - t)[ok] > 0.02).mean() < 0.03, mode


def test_sha256():
    r = rng(30)
    msgs = [r.integers(0, 256, int(k)).astype(np.uint8).tobytes() for k in
            [0, 1, 55, 56, 57, 63, 64, 65, 119, 120, 128, 200] + list(r.integers(0, 150, 40))]
    off = np.concatenate([[0], np.cumsum([len(m) for m in msgs])]).astype(np.uint32)
    want = np.stack([np.frombuffer(hashlib.sha256(m).digest(), np.uint8) for m in msgs])
    check(SCIENCE, "sha256", 64, 32,
          {0: np.frombuffer(b"".join(msgs), np.uint8), 1: off, 2: want * 0, 3: np.uint32(len(msgs))}, {2: want}, modes=EVERY)


def gf(a, b):
    r = 0
    while b:
        if b & 1:
            r ^= a
        a = ((a << 1) ^ (0x1B if a & 0x80 else 0)) & 255
        b >>= 1
    return r


def test_cipher():
    inv = [0] + [next(y for y in range(1, 256) if gf(x, y) == 1) for x in range(1, 256)]
    rot = lambda v, k: ((v << k) | (v >> (8 - k))) & 255
    sbox = [i ^ rot(i, 1) ^ rot(i, 2) ^ rot(i, 3) ^ rot(i, 4) ^ 0x63 for i in inv]
    assert sbox[:4] == [0x63, 0x7C, 0x77, 0x7B]
    r = rng(31)
    key, data = r.integers(0, 256, 16).astype(np.uint8), r.integers(0, 256, (100, 4)).astype(np.uint8)
    want = []
    for b in data.tolist():
        for rd in range(4):
            b = [sbox[v ^ int(key[(rd * 4 + k) % 16])] for k, v in enumerate(b)]
            b = b[1:] + b[:1]
            b = [gf(b[k], 2) ^ gf(b[(k + 1) & 3], 3) ^ b[(k + 2) & 3] ^ b[(k + 3) & 3] for k in range(4)]
        want.append(b)
    check(SCIENCE, "sbox_cipher", 128, 64, {0: data, 1: data * 0, 2: key, 3: np.uint32(100)},
          {1: np.array(want, np.uint8)}, modes=EVERY)


def test_random():
    seed, m64, m32 = 12345678901234567, (1 << 64) - 1, (1 << 32) - 1
    want = []
    for i in range(70):
        s = seed + i

        def step():
            nonlocal s
            old = s
            s = (old * 6364136223846793005 + 1442695040888963407) & m64
            x, rot = (((old >> 18) ^ old) >> 27) & m32, old >> 59
            return ((x >> rot) | (x << (-rot & 31))) & m32
        step()
        want.append([step() for _ in range(5)])
    check(SCIENCE, "pcg32", 70, 32, {0: np.zeros((70, 5), np.uint32), 1: np.uint64(seed), 2: np.uint32(5)},
          {0: np.array(want, np.uint32)}, modes=EVERY)

    want = []
    for i in range(70):
        c, k = [i, 0, 0x1234, ~i & m32], [77, 99]
        for _ in range(10):
            p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & m32, (p0 >> 32) ^ c[3] ^ k[1], p0 & m32]
            k = [(k[0] + 0x9E3779B9) & m32, (k[1] + 0xBB67AE85) & m32]
        want.append(c)
    check(SCIENCE, "philox4x32", 70, 40, {0: np.zeros((70, 4), np.uint32), 1: np.array([77, 99], np.uint32)},
          {0: np.array(want, np.uint32)}, modes=EVERY)

    bits = rng(32).integers(0, 1 << 32, (500, 2), dtype=np.uint64).astype(np.uint32)
    u, a = ((bits[:, 0] >> 8) + 1.0) * 2.0 ** -24, (bits[:, 1] >> 8) * 2.0 ** -24
    rad = np.sqrt(-2 * np.log(u))
    check(SCIENCE, "box_muller", 500, 100, {0: bits, 1: np.zeros((500, 2), F)},
          {1: np.stack([rad * np.cos(2 * np.pi * a), rad * np.sin(2 * np.pi * a)], -1)}, rtol=1e-4, atol=1e-5)


def test_perlin():
    r = rng(33)
    perm, pts = r.permutation(256).astype(np.uint8), (r.normal(size=(200, 3)) * 5).astype(F)

    def grad(h, x, y, z):
        h &= 15
        u = x if h < 8 else y
        v = y if h < 4 else (x if h in (12, 14) else z)
        return (-u if h & 1 else u) + (-v if h & 2 else v)

    want = []
    for p in pts.astype(float):
        total, amp = 0.0, 1.0
        for _ in range(3):
            f = np.floor(p)
            c, d = f.astype(int) & 255, p - f
            w = d ** 3 * (d * (d * 6 - 15) + 10)
            val = 0.0
            for k in range(8):
                o = np.array([k & 1, (k >> 1) & 1, k >> 2])
                q = (c + o) & 255
                h = int(perm[(int(perm[(int(perm[q[0]]) + q[1]) & 255]) + q[2]) & 255])
                val += grad(h, *(d - o)) * np.prod(np.where(o == 1, w, 1 - w))
            total += amp * val
            amp, p = amp / 2, p * 2
        want.append(total)
    check(SCIENCE, "perlin", 200, 64, {0: pts, 1: perm, 2: np.zeros(200, F), 3: np.uint32(3)}, {2: np.array(want)},
          modes=EVERY, rtol=1e-3, atol=1e-4)


def test_particles():
    t = np.dtype({"names": ["p", "c", "v", "age", "alive"], "itemsize": 40, "offsets": [0, 16, 24, 36, 38],
                  "formats": [("<f4", 3), ("<f2", 4), ("<f4", 3), "<u2", "?"]})
    r, n = rng(34), 75
    a = np.zeros(n, t)
    a["p"], a["v"], a["c"] = r.uniform(-1, 1, (n, 3)), r.normal(size=(n, 3)) * 5, r.random((n, 4))
    a["age"], a["alive"] = r.integers(0, 5, n), r.random(n) < 0.8
    w = a.copy()
    live = a["alive"]
    v, p = a["v"].astype(float), a["p"].astype(float)
    v[:, 1] -= 9.8 * 0.1
    p += v * 0.1
    out = (p < -1) | (p > 1)
    v[out] *= -0.5
    p = p.clip(-1, 1)
    w["p"][live], w["v"][live] = p[live], v[live]
    w["age"][live] += 1
    c = w["c"].copy()
    c[live, 3] = c[live, 3] * np.float16(0.5)
    w["c"] = c
    w["alive"] = live & (w["age"] <= 3)
    for mode in EVERY:
        raw = run_kernel(SCIENCE, "particles", 96, 32, {0: np.frombuffer(a.tobytes(), np.uint8), 1: F(0.1), 2: np.uint32(n)},
                         [0], mode=mode)[0]
        g = np.frombuffer(raw.tobytes(), t)
        assert np.allclose(g["p"], w["p"], atol=1e-5) and np.allclose(g["v"], w["v"], atol=1e-5), mode
        assert (g["age"] == w["age"]).all() and (g["alive"] == w["alive"]).all() and (g["c"] == w["c"]).all(), mode


@pytest.mark.parametrize("log_n,group", [(5, 32), (8, 64), (10, 100)])
def test_fft(log_n, group):
    n = 1 << log_n
    x = rng(n).normal(size=(3, n, 2)).astype(F)
    y = np.fft.fft(x[..., 0] + 1j * x[..., 1], axis=1)
    check(SCIENCE, "fft_row", 3 * group, group, {0: x, 1: np.uint32(log_n)}, {0: np.stack([y.real, y.imag], -1)},
          tg={0: 8 * n}, modes=DEEP if log_n < 9 else USUAL, rtol=1e-4, atol=2e-4)


def test_small_matrices():
    r = rng(35)
    m = r.normal(size=(50, 4, 4))
    a = (m @ m.transpose(0, 2, 1) + np.eye(4)).astype(F)
    low = np.linalg.cholesky(a.astype(float))
    check(SCIENCE, "cholesky4", 50, 32, {0: a, 1: a * 0, 2: np.zeros(50, F)},
          {1: low.transpose(0, 2, 1), 2: np.linalg.det(a.astype(float))}, modes=EVERY, rtol=2e-4, atol=1e-4)
    q, v = r.normal(size=(50, 4)).astype(F), r.normal(size=(50, 3)).astype(F)
    u = q.astype(float) / np.linalg.norm(q, axis=1, keepdims=True)
    t = 2 * np.cross(u[:, :3], v)
    check(SCIENCE, "quaternions", 50, 16, {0: q, 1: v, 2: v * 0}, {2: v + u[:, 3:] * t + np.cross(u[:, :3], t)},
          modes=DEEP, rtol=1e-4, atol=1e-5)


def test_collatz():
    a = np.concatenate([np.arange(1, 150), [97, 871, 6171, 77031, 837799]]).astype(np.uint32)
    steps, top = [], []
    for v in a.tolist():
        n, h = 0, v
        while v > 1:
            v = 3 * v + 1 if v & 1 else v >> 1
            h, n = max(h, v), n + 1
        steps.append(n)
        top.append(h)
    check(SCIENCE, "collatz", a.size, 64, {0: a, 1: a * 0, 2: np.zeros(a.size, np.uint64)},
          {1: np.array(steps, np.uint32), 2: np.array(top, np.uint64)}, modes=EVERY)


def test_black_scholes():
    r = rng(36)
    x = np.zeros((100, 4), F)
    x[:, :3] = r.uniform([5, 1, 0.25], [30, 100, 10], (100, 3))
    s, k, t = x[:, :3].T.astype(float)
    rate, vol = 0.02, 0.3
    from math import erf
    n = np.vectorize(lambda z: 0.5 * (1 + erf(z / np.sqrt(2))))
    d1 = (np.log(s / k) + (rate + vol * vol / 2) * t) / (vol * np.sqrt(t))
    d2 = d1 - vol * np.sqrt(t)
    disc = k * np.exp(-rate * t)
    check(SCIENCE, "black_scholes", 100, 32, {0: x, 1: np.zeros((100, 2), F), 2: np.array([rate, vol], F)},
          {1: np.stack([s * n(d1) - disc * n(d2), disc * n(-d2) - s * n(-d1)], -1)}, modes=DEEP, rtol=1e-3, atol=1e-3)
