# SPDX-License-Identifier: Apache-2.0
"""generated/*.metal: shaders as translators and tensor compilers write them, against NumPy."""
import numpy as np
import pytest

from runner import DEEP, EVERY, USUAL, bf16, check, from_bf16, run_kernel, some, struct_bytes

SPIRV, NAGA, TINT = "generated/spirv_style.metal", "generated/naga_style.metal", "generated/tint_style.metal"
FLAT, TORCH = "generated/flat_style.metal", "generated/torch_style.metal"
F = np.float32
M32 = (1 << 32) - 1


def rng(seed=1):
    return np.random.default_rng(seed)


# ------------------------------------------------------------------------------- SPIR-V style

def test_spirv_main():
    r = rng(1)
    n, pad = 90, 96
    x = r.normal(size=(n, 4)).astype(F)
    m5 = r.normal(size=(4, 4)).astype(F)  # columns
    m6 = r.integers(0, 50, (3, 4)).astype(np.uint32)
    p = np.zeros(1, np.dtype({"names": ["n", "b", "c", "v", "e", "m5", "m6"], "itemsize": 144,
                              "offsets": [0, 4, 8, 12, 24, 32, 96],
                              "formats": ["u4", "u4", "f4", ("f4", 3), "f4", ("f4", (4, 4)), ("u4", (3, 4))]}))
    p["n"], p["c"], p["v"], p["m5"], p["m6"] = n, 0.5, [1, 2, 3], m5, m6
    w = np.array([0.0625, 0.25, 0.375, 0.25, 0.0625])
    idx = np.arange(pad).clip(0, n - 1)
    tent = sum(w[k + 2] * x[(idx + k).clip(0, n - 1)].astype(float) for k in range(-2, 3))
    mirrored = tent.reshape(-1, 32, 4)[:, ::-1].reshape(-1, 4)[:n]
    tent = tent[:n]
    res = np.zeros((n, 4))
    res[:, :3] = (np.concatenate([tent[:, :3], np.ones((n, 1))], 1) @ m5.astype(float))[:, :3] + [1, 2, 3]
    res[:, 3] = mirrored[:, 3] + 0.5
    a = np.zeros((n, 8))
    a[:, 0] = 1
    for k in range(8):
        a[:, k] = tent[:, 0] * k + a[:, 7 - k]
    i = np.arange(n)
    res[:, 1] -= 3 * np.floor(res[:, 1] / 3)
    res[:, 2] += m6[i % 3, i & 3]
    res[:, 3] += (a[:, 3] + a[:, 6]) * np.array([4, 8])[i & 1]
    check(SPIRV, "main0", pad, 32, {0: np.frombuffer(p.tobytes(), np.uint8), 1: x, 2: x * 0}, {2: res}, modes=EVERY,
          rtol=1e-4, atol=1e-4)


def test_spirv_bits():
    v = np.concatenate([[0, 1, 2, 0x80000000, M32, 0x7FFFFFFF, 0xFFFFFFFE, 0x12345678],
                        rng(2).integers(0, 1 << 32, 60)]).astype(np.uint64)
    want = np.zeros((v.size, 16), np.uint32)
    for k, u in enumerate(v.tolist()):
        s = u - (1 << 32) if u >> 31 else u
        rev = int(f"{u:032b}"[::-1], 2)
        sr = rev - (1 << 32) if rev >> 31 else rev
        msb = lambda x: x.bit_length() - 1
        e = (s >> 9) & 0x7FF
        e = e - 0x800 if e & 0x400 else e
        wide = u | rev << 32
        total = (u + rev) & M32
        h = u & 2080406523
        rot = rev & 31
        want[k] = [x & M32 for x in (
            msb(u), msb(~s if s < 0 else s), (u & -u).bit_length() - 1, (u >> 5) & 127, e,
            (u & ~(0x1FFF << 3)) | ((4660 & 0x1FFF) << 3), rev, bin(u).count("1"), total, int(total < max(u, rev)),
            u * rev >> 32, s * sr >> 32, wide >> 13, wide >> 45, (h >> 16) | (h & 0xFFFF) << 16,
            (u << rot | u >> (32 - rot)) if rot else u)]
    sizes = np.array([v.size * 4], np.uint32)
    check(SPIRV, "bit_ops", v.size + 20, 32, {0: v.astype(np.uint32), 1: want * 0, 25: sizes}, {1: want}, modes=EVERY)


def test_spirv_lights():
    r = rng(3)
    light = np.dtype({"names": ["p", "i", "c", "m"], "offsets": [0, 16, 20, 32], "itemsize": 48,
                      "formats": [("f4", 3), "f4", ("f4", 3), "u4"]})
    n = 12
    ls = np.zeros(n, light)
    ls["p"], ls["i"], ls["c"] = r.normal(size=(n, 3)) * 4, r.uniform(1, 9, n), r.random((n, 3))
    ls["m"] = r.integers(0, 1 << 32, n)
    head = np.zeros(16, np.uint8)
    head[:4] = np.array([n], np.uint32).view(np.uint8)
    buf = np.concatenate([head, np.frombuffer(ls.tobytes(), np.uint8)])
    x = r.normal(size=(64 * 3, 4)).astype(F)
    want = np.zeros_like(x)
    for k, v in enumerate(x.astype(float)):
        nrm = np.array([v[3], 1, 0.5])
        nrm /= np.linalg.norm(nrm)
        tot = np.zeros(3)
        for i in range(n):
            if not int(ls["m"][i]) >> i & 1:
                continue
            d = ls["p"][i] - v[:3]
            r2 = d @ d
            if r2 > 100:
                continue
            tot += ls["c"][i] * ls["i"][i] * max(nrm @ d / np.sqrt(max(r2, 1e-4)), 0) / (1 + r2)
            if (tot > 4).any():
                break
        want[k, :3] = tot.clip(0, 4)
    check(SPIRV, "lit", (64, 3), (32, 1), {0: buf, 1: x, 2: x * 0}, {2: want}, modes=EVERY, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("constants", [{}, {0: 9}, {0: 3, 1: "true"}])
def test_spirv_flow(constants):
    x = rng(4).integers(0, 1 << 32, 100).astype(np.uint32)
    rounds, leave = 2 * constants.get(0, 4), constants.get(1) == "true"
    want = []
    for v in x.tolist():
        out = None
        for _ in range(rounds):
            c, hit = v % 7, False
            if c == 0:
                v += 3
            elif c in (1, 2):
                v = v * 5 & M32
                v = (v ^ v >> 3) - 11
            elif c == 3:
                v -= 11
            elif c == 4:
                if leave:
                    hit = True
                else:
                    v = v << 1 | 1
            else:
                v = v * 1664525 + 1013904223
                hit = v & 1023 == 7
            v &= M32
            if hit:
                out = v | 1 << 31
                break
        want.append(v & 0x7FFFFFFF if out is None else out)
    check(SPIRV, "flow", 100, 32, {0: x, 1: x * 0}, {1: np.array(want, np.uint32)}, constants=constants, modes=EVERY)


def test_spirv_matrices():
    n = 40
    m = (rng(5).normal(size=(n, 3, 3)) + 2 * np.eye(3)).astype(F)  # m[i] holds columns
    pad = lambda a: np.concatenate([a, np.zeros(a.shape[:-1] + (1,), F)], -1)
    a = m.astype(float)
    mat = a.transpose(0, 2, 1)
    full = (np.linalg.inv(mat) @ mat.transpose(0, 2, 1) + mat).transpose(0, 2, 1)
    full[:, 1] *= 2
    full[:, 2, [1, 2]] = full[:, 2, [2, 1]]
    wide = np.concatenate([a, np.einsum("j,nkj->nk", [1.0, 2, 3], a)[:, None]], 1)
    wide[:, 3, 0] = a[:, 0, 0] * a[:, 1, 0] + a[:, 2, 0] * 0.01745329251
    left = np.stack([a[:, 0, :2], a[:, 1, 1:]], -1)
    mid = a[:, :, :2].transpose(0, 2, 1)
    right = np.stack([a[:, 0], a[:, 2]], -1)
    small = (left @ mid @ right).transpose(0, 2, 1)
    for mode in DEEP:
        out = run_kernel(SPIRV, "matrices", n, 32, {0: pad(m), 1: pad(m) * 0, 2: np.zeros((n, 4, 4), F),
                                                    3: np.zeros((n, 2, 2), F)}, [1, 2, 3], mode=mode)
        assert np.allclose(out[1][..., :3], full, rtol=1e-3, atol=1e-3), mode
        assert np.allclose(out[2][..., :3], wide, rtol=1e-4, atol=1e-4), mode
        assert np.allclose(out[3], small, rtol=1e-4, atol=1e-3), mode


# --------------------------------------------------------------------------------- WGSL styles

def test_naga_step():
    n = 50
    src = rng(6).uniform(-1, 1, (n, 4)).astype(F)
    par = struct_bytes(("f4", 0.04), ("f4", 0.4), ("f4", 0.2), ("u4", 1), ("u1", [0] * 8), ("f4", [0.01, -0.02, 0]))
    p, v = src[:, :2].astype(float), src[:, 2:].astype(float)
    want = np.zeros((n, 4))
    for i in range(n):
        mass, col, cnt = np.zeros(2), np.zeros(2), 0
        for j in range(n):
            if j == i:
                continue
            d = np.linalg.norm(p[j] - p[i])
            if d < 0.4:
                mass += p[j]
                cnt += 1
            if d < 0.2:
                col += -(p[j] - p[i]) + v[j] * 0.125
        if cnt:
            mass = mass / cnt - p[i]
        w = v[i] + mass * 0.02 + col * 0.05 + [0.01, -0.02]
        w = w / np.linalg.norm(w) * min(np.linalg.norm(w), 0.1)
        q = p[i] + w * 0.04
        want[i] = [*np.where(q < -1, 1, np.where(q > 1, -1, q)), *w]
    sizes = np.array([src.nbytes, 0], np.uint32)
    check(NAGA, "step_", 64, 32, {0: par, 1: src, 2: src * 0, 24: sizes}, {2: want}, modes=EVERY, rtol=1e-4, atol=1e-4)


def test_naga_ints():
    lo = -(1 << 31)
    vals = [lo, lo + 1, -7, -1, 0, 1, 5, (1 << 31) - 1]
    a = np.array([x for x in vals for _ in vals], np.int64)
    b = np.array([y for _ in vals for y in vals], np.int64)
    wrap = lambda v: (int(v) + (1 << 31)) % (1 << 32) - (1 << 31)

    def div(x, y):
        y = 1 if y == 0 or (x == lo and y == -1) else y
        q = abs(x) // abs(y)
        return q if (x < 0) == (y < 0) else -q

    want = []
    for x, y in zip(a.tolist(), b.tolist()):
        d = 1 if y == 0 or (x == lo and y == -1) else y
        ux, uy = x & M32, y & M32
        uq = ux // (uy or 1) ^ ux % (uy or 1)
        want.append([div(x, y), x - div(x, y) * d, wrap(-x + abs(y)), wrap(div(x, y) + div(y, x) + uq)])
    sizes = np.array([a.size * 4, b.size * 4], np.uint32)
    check(NAGA, "ints_", a.size, 32, {0: a.astype(np.int32), 1: b.astype(np.int32), 2: np.zeros((a.size, 4), np.int32), 24: sizes},
          {2: np.array(want, np.int32)}, modes=EVERY)


def test_naga_floats():
    x = np.array([0.5, -3.75, 100.25, 1e-3, -1e8, 7, 12345.678, -0.1, 3e6, 1.0], F)
    whole = np.trunc(x)
    man, ex = np.frexp(x)
    f = np.stack([x - whole, whole, man, np.ldexp(x, 3)], -1)
    i = np.stack([ex, (x * F(1e9)).astype(np.float64).clip(-2147483600, 2147483500).astype(F).astype(np.int64), x * 0, np.sign(x)], -1)
    check(NAGA, "floats_", x.size, 8, {0: x, 1: np.zeros((10, 4), F), 2: np.zeros((10, 4), np.int32)},
          {1: f, 2: i.astype(np.int32)}, modes=EVERY)


def test_naga_walk():
    node = np.dtype([("l", "i4"), ("r", "i4"), ("v", "f4"), ("n", "i4")])
    n, threads = 31, 70
    t = np.zeros(n, node)
    for k in range(n):
        t["l"][k], t["r"][k] = (2 * k + 1, 2 * k + 2) if 2 * k + 2 < n else (-1, -1)
    t["v"] = rng(7).integers(1, 10, n)
    visits, result = np.zeros(n, int), []
    for g in range(threads):
        stack, s = [(0, 0)], 0.0
        while stack:
            at, d = stack.pop()
            visits[at] += 1
            s += t["v"][at]
            nxt = t["l"][at] if not g >> min(d, 31) & 1 else t["r"][at]
            if nxt >= 0:
                stack.append((nxt, d + 1))
                if d & 1 and t["r"][at] >= 0 and len(stack) < 4:
                    stack.append((t["r"][at], 20))
        result.append(s)
    for mode in EVERY:
        out = run_kernel(NAGA, "walk", threads, 32, {0: np.frombuffer(t.tobytes(), np.uint8), 1: np.zeros(threads, F),
                                                     2: np.zeros(1, np.uint32)}, [0, 1, 2], mode=mode)
        assert (out[1] == result).all(), mode
        assert (np.frombuffer(out[0].tobytes(), node)["n"] == visits).all(), mode
        assert out[2][0] == max(result), mode


def test_naga_reduce():
    x = rng(8).normal(size=(5, 16)).astype(F)
    want = (x.sum(1) + (x < 0).sum(1))[:, None].repeat(16, 1)
    check(NAGA, "reduce_", 80, 16, {0: x, 1: x * 0}, {1: want}, tg={0: 64, 1: 16}, modes=EVERY, rtol=1e-5, atol=1e-5)


def test_naga_neighbours():
    w, h = 21, 10
    x = rng(9).integers(0, 100, (h, w)).astype(np.uint32)
    pad = np.pad(x, 1)
    want = pad[1:-1, :-2] + pad[1:-1, 2:] + pad[:-2, 1:-1] + pad[2:, 1:-1]
    check(NAGA, "neighbours", (32, 12), (8, 4), {0: np.array([w, h], np.uint32), 1: x, 2: x * 0}, {2: want}, modes=DEEP)


@pytest.mark.parametrize("m,k,n", [(16, 16, 16), (33, 20, 50)])
def test_tint_matmul(m, k, n):
    a, b = rng(m).normal(size=(m, k)).astype(F), rng(n).normal(size=(k, n)).astype(F)
    check(TINT, "matmul", (-(-n // 16) * 8, -(-m // 16) * 8), (8, 8),
          {0: np.array([m, k, n], np.uint32), 1: a, 2: b, 3: np.zeros((m, n), F)}, {3: a.astype(float) @ b}, tg={0: 2048},
          modes=EVERY, rtol=1e-4, atol=1e-4)


def test_tint_count():
    x = rng(10).integers(0, 12, 96).astype(np.uint32)
    g = x.reshape(3, 32)
    flag = ((g == 3) | (g == 5)).sum(1) + 10 * (g == 8).sum(1)
    want = (g[:, ::-1] + flag[:, None]).astype(np.uint32).reshape(-1)
    check(TINT, "count", 96, 32, {0: x, 1: np.zeros(64, np.uint32), 2: x * 0},
          {1: np.bincount(x, minlength=64).astype(np.uint32), 2: want}, modes=EVERY)


def test_tint_layouts():
    s = np.zeros(48, np.uint8)
    s[0:2] = np.array([3.5], np.float16).view(np.uint8)
    s[4:8] = np.array([2.5], F).view(np.uint8)
    s[8:14] = np.array([10, 20, 30], np.float16).view(np.uint8)
    s[24:36] = np.array([5.9, -6.2, 7.7], F).view(np.uint8)
    want = []
    for g in range(40):
        loc = np.array([[1, 2, 3, 4], [int(2.5 * g), 0, 0, 1], [10, 20, 30, 7], [5, -6, 7, 9]])
        i = g & 3
        want.append(loc[3 - i] + loc[i][::-1] + 3)
    check(TINT, "layouts", 40, 8, {0: s, 1: np.zeros((40, 4), np.int32)}, {1: np.array(want, np.int32)}, modes=EVERY)


# ---------------------------------------------------------------------------- tensor compilers

def test_flat_matmul():
    a, b = rng(11).normal(size=(32, 32)).astype(F), rng(12).normal(size=(32, 64)).astype(F)
    check(FLAT, "r_8_16_4_4_32", 8 * 16, 16, {0: np.zeros((32, 64), F), 1: a, 2: b}, {0: a.astype(float) @ b}, modes=EVERY,
          rtol=1e-4, atol=1e-4)
    b = b[:, :16].copy()
    check(FLAT, "r_wmma", (2 * 32, 4), (32, 1), {0: np.zeros((32, 16), F), 1: a, 2: b}, {0: a.astype(float) @ b},
          modes=EVERY, rtol=1e-4, atol=1e-4)


def test_flat_fused():
    n = 77
    v, u = rng(13).integers(-100, 100, n).astype(np.int32), rng(14).integers(0, 256, n).astype(np.uint8)
    q = (np.abs(v) // 10 * np.sign(v))
    first = (v - q * 10) < 5
    c = np.where(first, v, -v).astype(float)
    e = np.exp2(c * -0.01442695) / (1 + np.exp2(c * 0.02))
    other = np.arange(n) ^ 1
    other[other >= n] = n - 1
    want = (e.astype(np.float16).astype(float) + (u[other] >> 4)) * (~first + 1)
    check(FLAT, "E_fused", 96, 32, {0: np.zeros(n, np.float16), 1: v, 2: u, 3: np.int32(n)}, {0: want}, modes=EVERY, rtol=3e-3)


def test_flat_blur_and_dense():
    w, h = 41, 10
    x = rng(15).integers(0, 65536, (h, w)).astype(np.uint16)
    p = np.pad(x.astype(np.uint32), ((0, 0), (1, 1)), "edge")
    want = ((p[:, :-2] + 2 * p[:, 1:-1] + p[:, 2:] + 2) >> 2).astype(np.uint16)
    check(FLAT, "blur_kernel", (48, 12), (16, 4), {0: np.int32(w), 1: np.int32(h), 2: np.int32(w), 3: x, 4: x * 0},
          {4: want}, modes=EVERY)
    a, b = rng(16).normal(size=(2, 19, 30)).astype(F)
    check(FLAT, "default_function_kernel", (24, 24), (8, 8),
          {0: np.zeros((19, 19), F), 1: a, 2: b, 3: np.array([19, 30], np.int32)}, {0: a.astype(float) @ b.T}, modes=EVERY,
          rtol=1e-4, atol=1e-4)


def test_flat_cull():
    n = 75
    r = rng(17)
    vert = np.dtype({"names": ["p", "uv"], "formats": [("f4", 3), ("f4", 2)], "offsets": [0, 16], "itemsize": 24})
    v = np.zeros(n, vert)
    v["p"], v["uv"] = r.normal(size=(n, 3)), r.random((n, 2))
    m = (np.eye(4) + r.normal(size=(4, 4)) * 0.1).astype(F)
    planes = r.normal(size=(3, 4)).astype(F)
    par = struct_bytes(("f4", m), ("u4", [n, 0, 0, 0]), ("f4", planes))
    # vector times matrix: columns of m as stored
    q = np.concatenate([v["p"], np.ones((n, 1))], 1) @ m.T.astype(float)
    pos = q[:, :3] / q[:, 3:]
    ok = ((pos @ planes[:, :3].T.astype(float) + planes[:, 3]) >= 0).all(1)
    for mode in EVERY:
        out = run_kernel(FLAT, "cull", 96, 32, {0: par, 1: np.frombuffer(v.tobytes(), np.uint8), 2: np.zeros(n, np.uint32),
                                                3: np.zeros(3, np.uint32)}, [1, 2, 3], mode=mode)
        assert (out[2] == ok).all(), mode
        assert (out[3] == [ok[:32].sum(), ok[32:64].sum(), ok[64:].sum()]).all(), mode
        assert (np.frombuffer(out[1].tobytes(), vert)["uv"] == v["uv"][:, ::-1]).all(), mode


def test_flat_fields():
    begin, end = 3, 200
    tmps = struct_bytes(("i4", [begin, end]), ("f4", 0.0))
    i = np.arange(end)
    v = (F(1.5) * i.astype(F)).astype(F)
    bits = v.view(np.int32).astype(np.int64)
    second = (np.floor_divide(-i, 3) + i ** 3 + np.fmod(bits, 7)).astype(np.int32)
    want = np.zeros((end, 2), np.int32)
    want[:, 0], want[:, 1] = v.view(np.int32), second
    want[:begin] = 0
    for mode in EVERY:
        out = run_kernel(FLAT, "mtl_k0001_fill_c4_0_1", 64, 32, {0: want * 0, 1: tmps, 2: np.array([1.5], F)}, [0, 1], mode=mode)
        assert (out[0] == want).all(), mode
        assert out[1][8:].view(F)[0] == i[begin:].sum(), mode


# ------------------------------------------------------------------------------- eager framework

def real(t, shape, seed):
    r = rng(seed)
    if t in ("float", "half", "bfloat", "float2", "half2"):
        a = r.uniform(1.2, 4, shape + ((2,) if t.endswith("2") else ())).astype(F)
        return {"h": lambda: a.astype(np.float16), "b": lambda: bf16(a), "f": lambda: a}[t[0]]()
    if t == "bool":
        return (r.random(shape) < 0.5).astype(np.uint8)
    return r.integers(0, 100, shape).astype({"long": np.int64, "int": np.int32, "uchar": np.uint8}[t])


def widen(a, t):
    return from_bf16(a).astype(float) if t == "bfloat" else a.astype(float) if a.dtype.kind == "f" else a


def hurwitz(x, q):
    k = np.arange(20000)
    tail = 20000 + q
    return ((k + q) ** -x).sum() + tail ** (1 - x) / (x - 1) + 0.5 * tail ** -x


def cmul(a, b):
    c = (a[..., 0] + 1j * a[..., 1]) * (b[..., 0] + 1j * b[..., 1])
    return np.stack([c.real, c.imag], -1)


OPS = {"add": lambda a, b: a + b, "hypot": np.hypot, "make_pair": lambda a, b: np.stack([a, b], -1), "complex_mul": cmul,
       "zeta": np.vectorize(hurwitz)}
REGISTERED = ([("add", t, t) for t in ("long", "int", "float", "half", "bfloat", "uchar", "bool", "float2", "half2")]
              + [("hypot", "int", "float"), ("hypot", "float", "float"), ("hypot", "half", "half"), ("hypot", "bfloat", "bfloat"),
                 ("make_pair", "float", "float2"), ("make_pair", "half", "half2"), ("complex_mul", "float2", "float2"),
                 ("complex_mul", "half2", "half2"), ("zeta", "float", "float"), ("zeta", "bfloat", "bfloat")])


@pytest.mark.parametrize("op,ti,to", some(REGISTERED, 2))
def test_torch_binary(op, ti, to):
    a, b = real(ti, (6, 7), 20), real(ti, (6, 7), 21)
    want = OPS[op](widen(a, ti), widen(b, ti))
    if ti == "bool":
        want = (a | b)
    dtype = {"l": np.int64, "i": np.int32, "u": np.uint8, "f": F, "h": np.float16, "b": np.uint8 if to == "bool" else np.uint16}[to[0]]
    out = np.zeros(want.shape, dtype)
    tol = {"half": 2e-3, "half2": 4e-3, "bfloat": 1e-2}.get(to, 1e-5 if op != "zeta" else 1e-3)

    def verify(got, w):
        g = widen(got, to)
        assert np.allclose(g, w, rtol=tol, atol=tol), (g - w)

    for mode in USUAL:
        verify(run_kernel(TORCH, f"{op}_dense_{to}_{ti}", 42, 32, {0: out, 1: a, 2: b}, [0], mode=mode)[0], want)
    size = a.itemsize * (2 if ti.endswith("2") else 1)
    osize = out.itemsize * (2 if to.endswith("2") else 1)
    bt = np.ascontiguousarray(b.swapaxes(0, 1))
    st = lambda *s: np.array(s, np.int64)
    args = {0: out, 1: a, 2: bt, 3: st(7, 6), 4: st(osize, 7 * osize), 5: st(size, 7 * size), 6: st(6 * size, size), 7: np.uint32(2)}
    verify(run_kernel(TORCH, f"{op}_strided_{to}_{ti}", 42, 32, args, [0], mode="general")[0], want)


@pytest.mark.parametrize("t,ta", [("float", "float"), ("half", "float"), ("bfloat", "bfloat")])
def test_torch_lerp(t, ta):
    a, b = real(t, (70,), 22), real(t, (70,), 23)
    alpha = F(0.25) if ta == "float" else bf16(F(0.25))
    want = widen(a, t) + 0.25 * (widen(b, t) - widen(a, t))
    got = run_kernel(TORCH, f"lerp_alpha_dense_{t}_{t}_{ta}", 70, 32, {0: a * 0, 1: a, 2: b, 3: alpha}, [0])[0]
    assert np.allclose(widen(got, t), want, rtol=1e-2 if t == "bfloat" else 2e-3)


@pytest.mark.parametrize("t,ti", [("float", "long"), ("half", "int"), ("bfloat", "long"), ("short", "int"), ("char", "int"),
                                  ("int", "long"), ("long", "long")])
def test_torch_index(t, ti):
    n, size = 200, 13
    r = rng(24)
    v = r.integers(-3, 4, n)
    ix = r.integers(-size, size, n)
    want = np.zeros(size, np.int64)
    np.add.at(want, ix, v)
    ints = {"short": np.int16, "char": np.int8, "int": np.int32, "long": np.int64}
    vals = bf16(v.astype(F)) if t == "bfloat" else v.astype({"float": F, "half": np.float16, **ints}[t])
    if t == "long":
        vals, want = vals * (1 << 33), want * (1 << 33)
    out = np.zeros(16, vals.dtype)
    for mode in EVERY:
        got = run_kernel(TORCH, f"index_accumulate_{t}_{ti}", 224, 32,
                         {0: out, 1: vals, 2: ix.astype(ints[ti]), 3: np.array([n, size], np.uint32)}, [0], mode=mode)[0]
        assert (widen(got, t)[:size] == want).all(), mode


@pytest.mark.parametrize("t", ["float", "half", "bfloat"])
@pytest.mark.parametrize("group", [32, 160])
def test_torch_var(t, group):
    a = real(t, (4, 333), 25)
    w = widen(a, t)
    check(TORCH, f"var_mean_{t}", 4 * group, group, {0: a, 1: np.zeros((4, 2), F), 2: np.uint32(333)},
          {1: np.stack([w.mean(1), w.var(1)], -1)}, rtol=1e-4, modes=DEEP if t == "half" else USUAL)


def test_torch_fused():
    p = [rng(k).normal(size=s).astype(F) for k, s in enumerate((10, 333, 64, 1))]
    args = struct_bytes(("f4", 0.1), ("f4", 0.9), ("u4", 3))
    want = {k: v * (1 - 0.1 * 0.9) if k < 3 else v for k, v in enumerate(p)}
    check(TORCH, "fused_step", 128, 64, {0: p[0], 1: p[1], 2: p[2], 3: p[3],
                                         4: np.array([v.size for v in p], np.uint64), 5: args}, want, modes=EVERY)
