# SPDX-License-Identifier: Apache-2.0
"""idioms/idioms.metal: what programs say and compilers trip over, against plain Python."""
import numpy as np
import pytest

from runner import DEEP, EVERY, USUAL, bf16, check, from_bf16, run_kernel, struct_bytes

FILE = "idioms/idioms.metal"
F = np.float32
M32, M64 = (1 << 32) - 1, (1 << 64) - 1


def rng(seed=1):
    return np.random.default_rng(seed)


def signed(v, bits=32):
    v &= (1 << bits) - 1
    return v - (1 << bits) if v >> (bits - 1) else v


def cdiv(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def test_shared_types():
    r, n = rng(1), 40
    m = r.normal(size=(4, 4)).astype(F)
    u = np.zeros(128, np.uint8)
    u[:64] = m.reshape(-1).view(np.uint8)
    u[64:76] = np.array([1, 2, 3], F).view(np.uint8)
    u[80:88] = np.array([2, 0.5], F).view(np.uint8)
    u[88:96] = np.array([7, 9], np.uint32).view(np.uint8)
    u[96:100] = np.array([0.25], F).view(np.uint8)
    body = np.dtype({"names": ["p", "s", "k"], "formats": [("f4", 4), ("f2", 2), "i4"], "offsets": [0, 16, 20], "itemsize": 32})
    b = np.zeros(n, body)
    b["p"], b["s"], b["k"] = r.normal(size=(n, 4)), r.integers(0, 100, (n, 2)), np.arange(n)
    want = b["p"].astype(float) @ m
    want[:, :3] += np.array([1, 2, 3]) * 0.25
    want[:, :2] *= [2, 0.5]
    for mode in DEEP:
        out = run_kernel(FILE, "shared_types", n, 32, {0: u, 1: np.frombuffer(b.tobytes(), np.uint8), 2: np.zeros((n, 4), F)}, [1, 2],
                         mode=mode)
        g = np.frombuffer(out[1].tobytes(), body)
        assert np.allclose(out[2], want, rtol=1e-4, atol=1e-5), mode
        assert (g["k"] == b["k"] + 14).all() and (g["s"] == b["s"][:, ::-1] * 2).all(), mode


@pytest.mark.parametrize("d", [7, -3, 1, 1 << 20])
def test_divisions(d):
    edge = [0, 1, -1, 2, -7, 100, -(1 << 31), (1 << 31) - 1, 65536, -65536, 32767, -32768]
    a = np.array([x for x in edge for _ in edge], np.int64)
    b = np.array([y for _ in edge for y in edge], np.int64)
    want = []
    for x, y in zip(a.tolist(), b.tolist()):
        if y == 0 or (x == -(1 << 31) and -1 in (y, d)):
            want.append(12345)
            continue
        sx, sy = signed(x, 16), signed(y, 16)
        if sy == 0:
            want.append(None)  # a division by zero among the shorts: any value
            continue
        parts = [cdiv(x, y), x - cdiv(x, y) * y, (x & M32) // (y & M32), signed(cdiv(sx, sy), 16), cdiv(x * 3, y),
                 (x & M32) % (y & M32), cdiv(x, d) + (x - cdiv(x, d) * d), cdiv(x << 20, d)]
        want.append(signed(sum(parts)))
    keep = np.array([w is not None for w in want])
    for mode in EVERY:
        got = run_kernel(FILE, "divisions", a.size, 32, {0: a.astype(np.int32), 1: b.astype(np.int32), 2: np.zeros(a.size, np.int32),
                                                         3: np.int32(d)}, [2], mode=mode)[2]
        w = np.array([0 if x is None else x for x in want])
        assert (got[keep] == w[keep]).all(), (mode, np.argwhere(got[keep] != w[keep])[:5])


@pytest.mark.parametrize("n,m", [(0, 0), (5, 3), (-1, -1)])
def test_uniform_division_does_not_trap(n, m):
    check(FILE, "uniform_division", 50, 32, {0: np.zeros(50, np.int32), 1: np.int32(n), 2: np.int64(m)},
          {0: np.arange(50, dtype=np.int32)}, modes=EVERY)


def test_shifts():
    a = rng(2).integers(0, 1 << 32, 128).astype(np.uint32)
    s = (np.arange(128) % 70).astype(np.uint32)
    want = []
    for x, k in zip(a.tolist(), s.tolist()):
        k5, k6 = k & 31, k & 63
        v = [x << k5, x << ((k + 1) & 31), x << 3, x << 31]
        want += [(x << k5) & M32, x >> k5, (signed(x) >> k5) & M32, (x << k6) & M64, (signed(x << 32, 64) >> k6) & M64,
                 (v[0] ^ v[1] ^ v[2] ^ v[3]) & M32]
    check(FILE, "shifts", 128, 32, {0: a, 1: s, 2: np.zeros(len(want), np.uint64)}, {2: np.array(want, np.uint64)}, modes=EVERY)


def test_conversions():
    x = np.array([0, 0.9, -0.9, 1.5, -2.5, 127.9, -128.4, 1e6, -1e6, 2147483520.0, -2147483648.0, 123456.789, -77.7, 65504, 300.4],
                 F)
    want = []
    for v in x:
        t = int(v)
        both = F(F(t) + F(abs(t)))
        want += [t, int(abs(v)), t, int(abs(v)), int(np.clip(v, -128, 127)), int(both.view(np.int32)),
                 int(np.float16(v).view(np.uint16)), int(bf16(np.array([v]))[0])]
    with np.errstate(over="ignore"):
        check(FILE, "conversions", x.size, 32, {0: x, 1: np.zeros(x.size * 8, np.int64)}, {1: np.array(want, np.int64)}, modes=EVERY)
    # beyond int: unsigned and 64 bits
    big = np.array([3e9, 4294967040.0, 2.5e9, 4e9], F)
    got = run_kernel(FILE, "conversions", 4, 32, {0: big, 1: np.zeros(32, np.int64)}, [1])[1].reshape(4, 8)
    assert (got[:, 1] == big.astype(np.int64)).all() and (got[:, 2] == big.astype(np.int64)).all()
    assert (got[:, 3] == big.astype(np.int64)).all()


def test_rounding_of_narrow_types():
    r = rng(3)
    a, b = (r.normal(size=(2, 400)) * 8).astype(np.float16)
    want = np.stack([a + b, a * b, a / b, np.sqrt(np.abs(a))], -1)
    for mode in EVERY:
        got = run_kernel(FILE, "half_rounding", 400, 32, {0: a, 1: b, 2: np.zeros((400, 4), np.float16)}, [2], mode=mode)[2]
        ulp = np.abs(got.view(np.int16).astype(int) - want.view(np.int16).astype(int))
        assert ulp[:, :2].max() == 0, mode  # sum and product are rounded correctly
        assert ulp.max() <= 1, mode
    ab, bb = bf16((r.normal(size=400) * 8).astype(F)), bf16((r.normal(size=400) * 8).astype(F))
    x, y = from_bf16(ab), from_bf16(bb)
    want = bf16(np.stack([x + y, x * y, x / y], -1).astype(F))
    for mode in EVERY:
        got = run_kernel(FILE, "bfloat_rounding", 400, 32, {0: ab, 1: bb, 2: np.zeros((400, 3), np.uint16)}, [2], mode=mode)[2]
        off = np.abs(got.astype(int) - want.astype(int))
        assert off[:, :2].max() == 0 and off.max() <= 1, (mode, np.argwhere(off > 0)[:5])


def test_private_memory():
    x = rng(4).integers(0, 1 << 32, 300).astype(np.uint32)
    want = []
    for v in x.tolist():
        heap = [v * (k + 1) & M32 for k in range(600)]
        at = v % 600
        for r in range(40):
            heap[at] ^= (heap[(at * 7 + r) % 600] + r) & M32
            at = heap[at] % 600
        want.append((heap[at] + at) & M32)
    check(FILE, "private_large", 300, 256, {0: x, 1: x * 0, 2: np.uint32(40)}, {1: np.array(want, np.uint32)}, modes=EVERY)


def test_pointers():
    x = rng(5).integers(-1000, 1000, 200).astype(np.int32)
    want = []
    for v in x.tolist():
        a, b = [v + k for k in range(8)], [v * k for k in range(8)]
        p = a if v & 1 else b
        q, at = (p, 3) if v & 2 else (a, 1)
        q[at] += 100
        p[0], p[7] = p[7], p[0]
        s = 0
        for k in range(8):
            s = s * 3 + a[k] - b[k] + p[k]
        want.append(signed(s))
    check(FILE, "pointer_choice", 200, 64, {0: x, 1: x * 0}, {1: np.array(want, np.int32)}, modes=EVERY)

    u = rng(6).integers(0, 1 << 32, 100).astype(np.uint32)
    want = []
    for v in u.tolist():
        by = bytearray(b"".join(((v + k) & M32).to_bytes(4, "little") for k in range(4)))
        i, j = v % 16, 15 - v % 16
        by[i], by[j] = by[j], by[i]
        at = v % 4 * 4
        by[at:at + 2] = ((int.from_bytes(by[at:at + 2], "little") + 5) & 0xFFFF).to_bytes(2, "little")
        w = [int.from_bytes(by[4 * k:4 * k + 4], "little") for k in range(4)]
        want.append((w[0] ^ w[1] * 3 ^ w[2] * 5 ^ w[3] * 7) & M32)
    check(FILE, "byte_view", 100, 32, {0: u, 1: u * 0}, {1: np.array(want, np.uint32)}, modes=EVERY)

    x = np.arange(1, 90, dtype=np.int32)
    want = []
    for v in x.tolist():
        s = at = guard = 0
        while True:
            s = s * 31 + v * (at + 1)
            if at == v % 6:
                break
            guard += 1
            if guard > 20:
                break
            at = (at * 5 + 2) % 6
        want.append(signed(s))
    check(FILE, "list_in_registers", x.size, 32, {0: x, 1: x * 0}, {1: np.array(want, np.int32)}, modes=EVERY)


@pytest.mark.parametrize("n,group", [(5000, 64), (777, 100)])
def test_scattered_bytes(n, group):
    perm = rng(7).permutation(n).astype(np.uint32)
    i = np.arange(n)
    b, h, f = np.zeros(n, np.uint8), np.zeros(n, np.uint16), np.zeros(n, np.uint8)
    wb, wh, wf = b.copy(), h.copy(), f.copy()
    wb[perm], wh[perm], wf[perm] = i & 255, i * 3 & 65535, i % 3 == 0
    check(FILE, "scatter_bytes", n, group, {0: perm, 1: b, 2: h, 3: f}, {1: wb, 2: wh, 3: wf}, modes=DEEP)


def test_indices():
    a = rng(8).normal(size=200).astype(F)
    i = np.arange(120)
    k = i * i % 57
    check(FILE, "negative_indices", 120, 32, {0: a, 1: np.zeros(120, F), 2: np.int32(100)},
          {1: a[100 - k] + a[100 + k] + a[101 - i % 13]}, modes=EVERY)
    stride, n = 28, 70
    raw = rng(9).integers(0, 256, n * stride).astype(np.uint8)
    rows = raw.reshape(n, stride)
    v = rows[:, 2:10].copy().view(np.int16).astype(np.int64)
    w = rows[:, 12:24].copy().view(np.int32).astype(np.int64)
    j = np.arange(n)
    full = v @ np.array([1, 2, 3, 4]) + w[j, j % 3]
    # the int sum goes through float in the source: compare to float's precision
    check(FILE, "strided_records", n, 32, {0: raw, 1: np.zeros(n, np.int32), 2: np.uint64(stride)},
          {1: full.astype(float)}, modes=EVERY, rtol=1e-6, atol=2)


def test_simd_exchange():
    x = rng(10).normal(size=256).astype(F)
    g = x.reshape(-1, 32)
    left = np.roll(g, 1, 1)
    check(FILE, "simd_exchange", 256, 128, {0: x, 1: x * 0}, {1: ((left * 2)[:, ::-1] + left).reshape(-1)}, modes=EVERY)


def test_shuffles():
    x = rng(11).integers(0, 100, 96).astype(np.int32)
    lane = np.arange(32)
    want = np.zeros((3, 32, 16), np.int64)
    for k, v in enumerate(x.reshape(3, 32).astype(np.int64)):
        o = want[k]
        o[:, 0], o[:, 1] = v[(lane * 7 + 3) % 32], v[lane ^ 5]
        o[:31, 2], o[3:, 3] = v[1:], v[:-3]
        o[:, 4], o[:, 5], o[:, 6] = np.roll(v, -9), np.roll(v, 4), v[17]
        o[:, 7], o[:, 8] = v[::-1] + 1, v[lane ^ 16] & 63
        o[:, 9], o[:, 10] = np.concatenate([v[6:], [-7] * 6]), np.concatenate([2 * v[28:], v[:28]])
        q = v.reshape(8, 4)
        o[:, 11] = v[lane ^ 1] + np.repeat(q.sum(1), 4) + np.repeat(q[:, 2], 4)
        o[:, 12] = v.max() + ((int(v[5]) << 20 | 5) & M32)
        o[:, 13] = np.bitwise_xor.reduce(v) ^ np.bitwise_and.reduce(v | 3) ^ np.bitwise_or.reduce(v & 12)
        p = 1
        for i in range(32):
            o[i, 14] = signed(p)
            p = p * int(v[i] % 3 + 2)
        o[:, 15] = (v > 50).sum() + 1 + 0
    check(FILE, "shuffles", 96, 32, {0: x, 1: np.zeros((96, 16), np.int32)}, {1: want.reshape(96, 16).astype(np.int32)}, modes=EVERY)


@pytest.mark.parametrize("n,group", [(128, 64), (100, 40)])
def test_simd_divergence(n, group):
    x = rng(12).integers(0, 64, n).astype(np.int32)
    want = np.zeros(n, np.int64)
    for g0 in range(0, n, group):
        for s0 in range(g0, min(g0 + group, n), 32):
            ids = list(range(s0, min(s0 + 32, g0 + group, n)))
            v = {i: int(x[i]) for i in ids}
            r = {i: 0 for i in ids}
            lane = {i: i - s0 for i in ids}
            odd = [i for i in ids if v[i] & 1]
            for i in odd:
                r[i] = sum(v[j] for j in odd)
                sub = [j for j in odd if (v[j] & 2) == (v[i] & 2)]
                r[i] += 1000 * max(v[j] for j in sub) if v[i] & 2 else -min(v[j] for j in sub)
            even = [i for i in ids if not v[i] & 1]
            for i in even:
                trips = (v[i] >> 1) % 4
                r[i] = sum(sum(1 for j in even if (v[j] >> 1) % 4 > k) for k in range(trips)) * 10 + min(lane[j] for j in even)
            for i in ids:
                c = min(v[i] % 5, 3)
                same = [j for j in ids if min(v[j] % 5, 3) == c]
                if c == 0:
                    m = 0
                    for j in same:
                        m |= 1 << (lane[j] & 7)
                    r[i] ^= m
                elif c == 1:
                    r[i] += 7 if i == same[0] else 3
                elif c == 2:
                    r[i] += 2 * (same.index(i) + 1)
                elif len(same) == 32:
                    r[i] = -1
            for i in ids:
                want[i] = r[i]
    check(FILE, "simd_under_divergence", n, group, {0: x, 1: x * 0}, {1: want.astype(np.int32)}, modes=EVERY)


def test_vote_loop():
    x = rng(13).integers(1, 200, 96).astype(np.uint32)
    want = np.zeros((96, 2), np.uint32)
    for s0 in range(0, 96, 32):
        v = {i: int(x[i]) for i in range(s0, s0 + 32)}
        steps, together, live = {i: 0 for i in v}, {i: 0 for i in v}, set(v)
        while live:
            live -= {i for i in live if v[i] == 1}
            for i in live:
                v[i] = 3 * v[i] + 1 if v[i] & 1 else v[i] // 2
                steps[i] += 1
            if live and all(v[i] > 4 for i in live):
                for i in live:
                    together[i] += 1
        for i in v:
            want[i] = steps[i], max(together.values())
    check(FILE, "vote_loop", 96, 96, {0: x, 1: want * 0}, {1: want}, modes=EVERY)


@pytest.mark.parametrize("group", [32, 96, 40, 256])
def test_barrier_wave(group):
    n, rounds = 2 * group, 7
    x = rng(14).integers(0, 1000, n).astype(np.int32)
    want = []
    for g in x.reshape(2, group).tolist():
        mine = g
        for r in range(rounds):
            a = mine[:]
            left = [a[(t + group - 1) % group] for t in range(group)]
            if r % 3 == 1:
                a = [v + 1 for v in left]
                left = [a[(t * 3 + r) % group] for t in range(group)]
            new = []
            for m, l in zip(mine, left):
                if m & 1:
                    m = m // 2 + l
                else:
                    k = 0
                    while k < (m & 3):
                        m += l % 5
                        k += 1
                new.append(m & 0xFFFF)
            mine = new
        want += mine
    check(FILE, "barrier_wave", n, group, {0: x, 1: x * 0, 2: np.uint32(rounds)}, {1: np.array(want, np.int32)}, modes=EVERY)


def test_modern():
    fib = [0, 1]
    while len(fib) < 12:
        fib.append(fib[-1] + fib[-2])
    pts = [(1, 2, 3), (4, 5, 6), (7, 7, 7)]
    want = []
    for i in range(80):
        t = 1 + 16 + 4
        t += 5 * i
        t += 6
        t += 1 + 2 + 3 + 1
        t += 10 + 60
        f = fib[i % 12]
        t += f if f > 3 else 0
        t += pts[i % 3][1] + 2
        t += ord("hello"[i % 5])
        t += 1 if i & 1 else 4
        t += 3 + (3 if i & 1 else 1)
        t += (9, 8, 7)[i % 3]
        t += (i & 15) * (i >> 4)
        want.append(t)
    check(FILE, "modern", 80, 32, {0: np.zeros(80, np.int32)}, {0: np.array(want, np.int32)}, modes=EVERY)


# ------------------------------------------------------------------------------ projects.metal

PROJECTS = "idioms/projects.metal"


def limbs(values, n):
    return np.array([[v >> (32 * k) & M32 for k in range(n)] for v in values], np.uint32)


def test_field():
    p = (1 << 255) - 19
    r = rng(20)
    big = lambda: int.from_bytes(r.bytes(32), "little") % p
    a, b, e = [0, 1, p - 1] + [big() for _ in range(40)], [5, p - 1, p - 1] + [big() for _ in range(40)], r.integers(0, 9, 43)
    want = [(x * y + pow(x, int(k), p)) % p for x, y, k in zip(a, b, e)]
    check(PROJECTS, "field_25519", 43, 32, {0: limbs(a, 8), 1: limbs(b, 8), 2: limbs(a, 8) * 0, 3: e.astype(np.uint32)},
          {2: limbs(want, 8)}, modes=DEEP)
    a, b = [(1 << 128) - 1] * 2 + [int.from_bytes(r.bytes(16), "little") for _ in range(70)], [(1 << 128) - 1, 1] + \
        [int.from_bytes(r.bytes(16), "little") for _ in range(70)]
    check(PROJECTS, "mul128", 72, 32, {0: limbs(a, 4), 1: limbs(b, 4), 2: np.zeros((72, 8), np.uint32)},
          {2: limbs([x * y for x, y in zip(a, b)], 8)}, modes=EVERY)


def test_reports():
    ix = np.array([5, 50, -1, 7, 101, 3, 99, 100], np.int32)
    for mode in DEEP:
        out = run_kernel(PROJECTS, "check_index", 8, 8, {0: np.zeros(4 + 4 * 48, np.uint8), 1: ix}, [0], mode=mode)[0]
        assert out[:4].view(np.uint32)[0] == 2
        texts = {bytes(e[20:]).split(b"\0")[0] for e in out[4:].reshape(4, 48)[:2]}
        assert texts == {b"index is negative", b"index is beyond the end"}, mode
        assert all(bytes(e[4:20]).split(b"\0")[0] == b"check_index" for e in out[4:].reshape(4, 48)[:2]), mode


def test_translated_hlsl():
    x = np.zeros((64, 4), np.uint32)
    f = rng(21).normal(size=64).astype(F)
    x[:, 0], x[:, 2] = f.view(np.uint32), np.arange(64) * 10
    want = x.copy()
    want[:, 1] = (f * F(2) - F(2)).astype(F).view(np.uint32)
    old = np.where(np.arange(64) < 40, x[:, 2], 0).reshape(2, 32)[:, ::-1].reshape(-1)
    want[:40, 2] += 1
    want[:, 3] = old + 0x10 + 0
    par = struct_bytes(("f4", [0.5, 0.5, 0, 0]), ("u4", [40, 0, 0, 0]))
    for mode in EVERY:
        got = run_kernel(PROJECTS, "computeMain", 64, 32, {0: par, 1: x}, [1], mode=mode)[1]
        assert np.allclose(got[:, 1].view(F), want[:, 1].view(F), rtol=1e-6), mode
        assert (got[:, [0, 2, 3]] == want[:, [0, 2, 3]]).all(), mode


def test_ported_opencl():
    w = rng(22).integers(0, 1 << 32, (100, 4)).astype(np.uint32)
    turn = lambda v, n: (v << n | v >> (32 - n)) & M32
    pick = lambda x, y, z: (x & y) | (~x & z & M32)
    want, hits = [], 0
    for v in w.tolist():
        a, b, c, d = 0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476
        a = turn((a + v[0] + pick(b, c, d)) & M32, 3)
        d = turn((d + v[1] + pick(a, b, c)) & M32, 7)
        c = turn((c + 0x5A827999 + v[2] + pick(d, a, b)) & M32, 11)
        b = turn((b + 0x5A827999 + v[3] + pick(c, d, a)) & M32, 19)
        d = (d + (a >> 8 & 255)) & M32
        hits += a & 7 == 0
        want.append(a ^ b ^ c ^ d ^ (a & 63) * 2654435761 & M32)
    check(PROJECTS, "digest", 128, 64, {0: w, 1: np.zeros(100, np.uint32), 2: np.zeros(1, np.uint32), 3: np.uint64(100)},
          {1: np.array(want, np.uint32), 2: np.array([hits], np.uint32)}, modes=EVERY)


@pytest.mark.parametrize("name,dtype", [("max_f32", F), ("max_i64", np.int64), ("max_u8", np.uint8)])
@pytest.mark.parametrize("group", [32, 128])
def test_switch_of_sizes(name, dtype, group):
    a = (rng(23).normal(size=(3, 300)) * 50 + 100).clip(0, 255).astype(dtype)
    check(PROJECTS, name, 3 * group, group, {0: a, 1: np.zeros(3, dtype), 2: np.uint32(300)}, {1: a.max(1)}, modes=DEEP, rtol=0, atol=0)


def test_fragments():
    a, b = rng(24).normal(size=(2, 8, 8)).astype(F), rng(25).normal(size=(8, 8)).astype(np.float16)
    want = 2 * (a.astype(float) @ b.astype(float)) + np.array([0, 1])[:, None, None]
    check(PROJECTS, "fragments", 64, 64, {0: a, 1: b, 2: a * 0}, {2: want}, modes=EVERY, rtol=1e-4, atol=1e-4)


def test_context():
    job, launch = struct_bytes(("i4", 3), ("f4", 2.0)), struct_bytes(("i4", 50), ("f4", 0.5))
    i = np.arange(50)
    check(PROJECTS, "render", 64, 32, {0: job, 1: launch, 2: np.zeros(50, F)}, {2: (i + 3 + 0.0625) * 2 + 11}, modes=DEEP)
