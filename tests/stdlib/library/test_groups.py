# SPDX-License-Identifier: Apache-2.0
"""SIMD-group and quad-group functions, SIMD-group matrices, threadgroup memory, atomics, logging."""
import ctypes

import numpy as np
import pytest

import harness
from harness import run

TYPES = {"char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16,
         "int": np.int32, "uint": np.uint32, "long": np.int64, "ulong": np.uint64,
         "half": np.float16, "float": np.float32}
N = 128  # four SIMD-groups in two threadgroups
LANES = np.arange(N) % 32
# who runs the function: everyone, or a divergent part
MASKS = {"true": np.ones(N, bool), "(lane & 1) == 0": LANES % 2 == 0,
         "lane % 3 != 1 && lane > 4": (LANES % 3 != 1) & (LANES > 4)}
CASES = [(e, m) for e in TYPES for m in MASKS if m.startswith("lane") or e in ("int", "half", "float")]


def data_for(dtype, seed):
    rng = np.random.default_rng(seed)
    if np.issubdtype(dtype, np.floating):
        return rng.choice(np.array([-2, -1, -0.5, 0.5, 1, 1.5, 2]), N).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(max(info.min, -100), min(info.max, 100), N).astype(dtype)


def groups(size):
    return [np.arange(g * size, (g + 1) * size) for g in range(N // size)]


def by_group(x, mask, size, f):
    """f(values of the active lanes) for every group, given to all of them."""
    out = x.copy()
    for lanes in groups(size):
        active = lanes[mask[lanes]]
        if active.size:
            out[active] = f(x[active])
    return out


def reduce_with(op):
    def f(v):
        total = v[0] if np.issubdtype(v.dtype, np.floating) else int(v[0])
        for item in v[1:]:
            total = op(total, item if np.issubdtype(v.dtype, np.floating) else int(item))
        return total if np.issubdtype(v.dtype, np.floating) else np.array(
            [total & (2**64 - 1)], np.uint64).astype(v.dtype)[0]
    return f


def run_lanes(element, expressions, inputs, dtype, condition, count=1):
    """Each expression of x (and y, lane) on the lanes where the condition holds; others keep x."""
    vector = element if count == 1 else f"vec<{element}, {count}>"
    spread = (lambda p: f"{vector}({p}[i])") if count == 1 else (
        lambda p: f"{vector}(" + ", ".join(f"{p}[i] + ({element}){c}" for c in range(count)) + ")")
    body = "".join(
        f"    {{ {vector} r = x; if ({condition}) r = {e}; o[{row} * n + i] = r{'' if count == 1 else '.y - (' + element + ')1'}; }}\n"
        for row, e in enumerate(expressions))
    names = "xy"[:len(inputs)]
    source = ("kernel void k(" + ", ".join(f"device const {element} *p{v}" for v in names)
              + f", device {element} *o, uint i [[thread_position_in_grid]], uint n [[threads_per_grid]],"
              f" uint lane [[thread_index_in_simdgroup]]) {{\n"
              + "".join(f"    {vector} {v} = {spread('p' + v)};\n" for v in names) + body + "}\n")
    for width, (out,) in run(source, inputs, [(dtype, N * len(expressions))], N):
        yield width, out.reshape(len(expressions), N)


@pytest.mark.sample(5)
@pytest.mark.parametrize("element, condition", CASES)
def test_reductions(element, condition):
    dtype, mask = TYPES[element], MASKS[condition]
    x = data_for(dtype, 1)
    operators = {"sum": lambda a, b: a + b, "product": lambda a, b: a * b, "min": min, "max": max}
    if np.issubdtype(dtype, np.integer):
        operators |= {"and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b}
    calls, want = [], []
    for group, size in (("simd", 32), ("quad", 4)):
        for name, op in operators.items():
            if name == "product" and element == "half" and group == "simd":
                continue
            calls.append(f"{group}_{name}(x)")
            wide = x.astype(np.float64) if np.issubdtype(dtype, np.floating) else x
            with np.errstate(over="ignore"):
                want.append(by_group(wide, mask, size, reduce_with(op)).astype(dtype))
    for width, rows in run_lanes(element, calls, [x], dtype, condition):
        for call, row, expected in zip(calls, rows, want):
            close = np.isclose(row.astype(np.float64), expected.astype(np.float64), rtol=1e-3) if (
                np.issubdtype(dtype, np.floating)) else row == expected
            bad = np.flatnonzero(~close)
            assert bad.size == 0, (width, call, condition, bad[0], row[bad[0]], expected[bad[0]])


@pytest.mark.sample(5)
@pytest.mark.parametrize("element, condition", CASES)
def test_scans(element, condition):
    dtype, mask = TYPES[element], MASKS[condition]
    x = data_for(dtype, 2)
    if np.issubdtype(dtype, np.floating):
        x = np.where(np.arange(N) % 2, dtype(2), dtype(0.5))  # products stay exact
    calls, want = [], []
    for group, size in (("simd", 32), ("quad", 4)):
        for kind in ("inclusive", "exclusive"):
            for name, start, op in (("sum", 0, lambda a, b: a + b), ("product", 1, lambda a, b: a * b)):
                expected = x.copy()
                for lanes in groups(size):
                    total = start
                    for lane in lanes[mask[lanes]]:
                        value = float(x[lane]) if np.issubdtype(dtype, np.floating) else int(x[lane])
                        after = op(total, value)
                        result = after if kind == "inclusive" else total
                        expected[lane] = dtype(result) if isinstance(result, float) else np.array(
                            [result & (2**64 - 1)], np.uint64).astype(dtype)[0]
                        total = after
                calls.append(f"{group}_prefix_{kind}_{name}(x)")
                want.append(expected)
    for width, rows in run_lanes(element, calls, [x], dtype, condition):
        for call, row, expected in zip(calls, rows, want):
            bad = np.flatnonzero(row != expected)
            assert bad.size == 0, (width, call, condition, bad[0], row[bad[0]], expected[bad[0]])


def shuffle(x, size, source):
    """source(lane) -> lane within the group, or None for the own value."""
    out = x.copy()
    for lanes in groups(size):
        for own in range(size):
            at = source(own)
            if at is not None and 0 <= at < size:
                out[lanes[own]] = x[lanes[at]]
    return out


def fill(x, y, size, modulo, source):
    out = x.copy()
    for lanes in groups(size):
        for own in range(size):
            row, place = own // modulo * modulo, source(own % modulo)
            out[lanes[own]] = x[lanes[row + place]] if 0 <= place < modulo else y[
                lanes[row + place % modulo]]
    return out


@pytest.mark.sample(3)
@pytest.mark.parametrize("element, count", [(e, 1) for e in TYPES] + [("half", 4), ("uchar", 3),
                                                                      ("float", 2), ("long", 2)])
def test_shuffles(element, count):
    dtype = TYPES[element]
    x, y = data_for(dtype, 3), data_for(dtype, 4)
    calls, want = [], []
    for group, size in (("simd", 32), ("quad", 4)):
        for delta in (0, 1, 3):
            rules = {
                f"{group}_shuffle_up(x, {delta})": lambda i: i - delta,
                f"{group}_shuffle_down(x, {delta})": lambda i: i + delta,
                f"{group}_shuffle_xor(x, {delta})": lambda i: i ^ delta,
                f"{group}_shuffle_rotate_up(x, {delta})": lambda i: (i - delta) % size,
                f"{group}_shuffle_rotate_down(x, {delta})": lambda i: (i + delta) % size,
                f"{group}_broadcast(x, {delta})": lambda i: delta,
                f"{group}_shuffle(x, (lane * 7 + {delta}) % {size})":
                    lambda i: (i * 7 + delta) % size,
            }
            for call, rule in rules.items():
                calls.append(call)
                want.append(shuffle(x, size, rule))
            for modulo in ((2, 8, 32) if group == "simd" else (2, 4)):
                if delta < modulo:
                    calls.append(f"{group}_shuffle_and_fill_up(x, y, {delta}, {modulo})")
                    want.append(fill(x, y, size, modulo, lambda i: i - delta))
                    calls.append(f"{group}_shuffle_and_fill_down(x, y, {delta}, {modulo})")
                    want.append(fill(x, y, size, modulo, lambda i: i + delta))
            calls.append(f"{group}_shuffle_and_fill_up(x, y, {delta})")
            want.append(fill(x, y, size, size, lambda i: i - delta))
            calls.append(f"{group}_shuffle_and_fill_down(x, y, {delta})")
            want.append(fill(x, y, size, size, lambda i: i + delta))
    for width, rows in run_lanes(element, calls, [x, y], dtype, "true", count):
        for call, row, expected in zip(calls, rows, want):
            bad = np.flatnonzero(row != expected)
            assert bad.size == 0, (width, call, bad[0], row[bad[0]], expected[bad[0]])


@pytest.mark.parametrize("condition", MASKS)
def test_votes(condition):
    mask = MASKS[condition]
    x = data_for(np.int32, 5)
    positive = x > 0
    first = {size: by_group(np.arange(N), mask, size, lambda v: v[0]) == np.arange(N)
             for size in (32, 4)}
    where = {size: by_group(np.arange(N), mask, size, lambda v: v[0]) for size in (32, 4)}

    def ballot(size, flags):
        out = np.zeros(N, np.uint64)
        for lanes in groups(size):
            bits = sum(1 << int(p) for p, lane in enumerate(lanes) if mask[lane] and flags[lane])
            out[lanes] = bits
        return out

    calls, want = [], []
    for group, size in (("simd", 32), ("quad", 4)):
        everyone = np.ones(N, bool)
        calls += [f"(ulong){group}_vote::vote_t({group}_ballot(x > 0))",
                  f"(ulong){group}_vote::vote_t({group}_active_threads_mask())",
                  f"{group}_all(x > 0)", f"{group}_any(x > 0)", f"{group}_is_first()",
                  f"{group}_broadcast_first(x) + 1000", f"{group}_ballot(x > 0).any()",
                  f"{group}_ballot(true).all()"]
        some = ballot(size, positive)
        whole = ballot(size, everyone)
        want += [some, whole, some == whole, some != 0, first[size], x[where[size]] + 1000, some != 0,
                 whole == (1 << size) - 1]
    source = ("kernel void k(device const int *px, device ulong *o, uint i [[thread_position_in_grid]],"
              "uint n [[threads_per_grid]], uint lane [[thread_index_in_simdgroup]]) { int x = px[i];"
              + f"if ({condition}) {{"
              + "".join(f"o[{r} * n + i] = {c};" for r, c in enumerate(calls)) + "} }")
    for width, (out,) in run(source, [x], [(np.uint64, N * len(calls))], N):
        for call, row, expected in zip(calls, out.reshape(len(calls), N), want):
            bad = np.flatnonzero((row != np.asarray(expected).astype(np.uint64)) & mask)
            assert bad.size == 0, (width, call, condition, bad[0], hex(row[bad[0]]))


KINDS = {"half": (np.float16, None), "float": (np.float32, None), "bfloat": (np.uint16, "bf")}


def encode(v, element):
    if element == "bfloat":
        return (v.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return v.astype(KINDS[element][0])


def decode(v, element):
    return (v.astype(np.uint32) << 16).view(np.float32) if element == "bfloat" else v


@pytest.mark.sample(5)
@pytest.mark.parametrize("element", KINDS)
@pytest.mark.parametrize("other", KINDS)
@pytest.mark.parametrize("space", ["device", "threadgroup"])
def test_simdgroup_matrix(element, other, space):
    """D = A * B + C with A and B of two types, strides, origins and transposition."""
    rng = np.random.default_rng(6)
    a = rng.integers(-4, 5, (16, 24)).astype(np.float64)
    b = rng.integers(-4, 5, (16, 24)).astype(np.float64)
    source = f"""kernel void k(device const {element} *a, device const {other} *b, device float *d,
                               device {element} *copies, uint t [[thread_index_in_threadgroup]]) {{
        simdgroup_matrix<{element}, 8, 8> ma;
        simdgroup_matrix<{other}, 8, 8> mb;
        simdgroup_float8x8 mc(2.0f), md;
        threadgroup {element} ta[16 * 24];
        threadgroup {other} tb[16 * 24];
        for (uint j = t; j < 16 * 24; j += 32) ta[j] = a[j], tb[j] = b[j];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        {f'simdgroup_load(ma, a, 24, ulong2(8, 4)); simdgroup_load(mb, b + 3, 24, ulong2(2, 1), true);'
          if space == 'device' else
          'simdgroup_load(ma, ta, 24, ulong2(8, 4)); simdgroup_load(mb, tb + 3, 24, ulong2(2, 1), true);'}
        simdgroup_multiply_accumulate(md, ma, mb, mc);
        simdgroup_store(md, d, 8);
        simdgroup_multiply(md, ma, mb);
        simdgroup_store(md, d + 64, 8, ulong2(0), true);
        mc = make_filled_simdgroup_matrix<float, 8, 8>(0.5f);
        mc.thread_elements() += float2(1, 2);
        simdgroup_store(mc, d + 128);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        simdgroup_store(ma, ta, 24, ulong2(1, 2));
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint j = t; j < 16 * 24; j += 32) copies[j] = ta[j];
    }}"""
    left, right = a[4:12, 8:16], b[1:9, 5:13].T
    copies = a.copy()
    copies[2:10, 1:9] = left
    filled = np.tile([1.5, 2.5], (8, 4))
    want = np.stack([left @ right + 2 * np.eye(8), (left @ right).T, filled])
    for width, (d, c) in run(source, [encode(a, element), encode(b, other)],
                             [(np.float32, 192), (KINDS[element][0], 384)], 32, 32):
        assert (d.reshape(3, 8, 8) == want).all(), (width, d.reshape(3, 8, 8), want)
        assert (decode(c, element).reshape(16, 24) == copies).all(), width


@pytest.mark.parametrize("element", KINDS)
def test_matrices_through_control_flow(element):
    """Sums that live through loops, are scaled by their threads on the way, take one side of a branch, leave a loop
    that lanes leave apart, and cross a barrier; products of one matrix with several others."""
    rng = np.random.default_rng(8)
    a, b = (rng.integers(-2, 3, (4, 8, 8)).astype(np.float64) for _ in range(2))
    source = f"""kernel void k(device const {element} *a, device const {element} *b,
                               constant uint &n, device float *d, uint t [[thread_index_in_simdgroup]]) {{
        simdgroup_matrix<{element}, 8, 8> ma, mb[3];
        simdgroup_float8x8 sum[3], scaled = make_filled_simdgroup_matrix<float, 8>(0);
        for (uint j = 0; j < 3; j++) sum[j] = make_filled_simdgroup_matrix<float, 8>(float(j));
        threadgroup float t8[64];
        for (uint k = 0; k < n; k++) {{
            simdgroup_load(ma, a + k * 64);
            for (uint j = 0; j < 3; j++) simdgroup_load(mb[j], b + (k + j) % n * 64);
            for (uint j = 0; j < 3; j++) simdgroup_multiply_accumulate(sum[j], ma, mb[j], sum[j]);
            if (k == 1)
                simdgroup_multiply_accumulate(sum[0], mb[1], ma, sum[0]);
            else
                simdgroup_multiply_accumulate(sum[0], ma, ma, sum[0]);
            scaled.thread_elements() *= 0.5f;
            simdgroup_multiply_accumulate(scaled, ma, mb[0], scaled);
            simdgroup_store(scaled, t8, 8);
            threadgroup_barrier(mem_flags::mem_threadgroup);
            if (t < 2) t8[t] += 1;
            threadgroup_barrier(mem_flags::mem_threadgroup);
            simdgroup_load(scaled, t8, 8);
        }}
        for (uint j = 0; j < 3; j++) simdgroup_store(sum[j], d + j * 64, 8);
        simdgroup_store(scaled, d + 192, 8, ulong2(0), true);
        float2 own = float2(0); // lanes leave this loop apart
        for (uint k = 0; k <= t % 4; k++) own = sum[k % 3].thread_elements() + float2(k);
        simdgroup_float8x8 last;
        last.thread_elements() = own;
        simdgroup_store(last, d + 256, 8);
    }}"""
    sums, scaled = [np.full((8, 8), float(j)) for j in range(3)], np.zeros((8, 8))
    for k in range(4):
        for j in range(3):
            sums[j] = sums[j] + a[k] @ b[(k + j) % 4]
        sums[0] = sums[0] + (b[(k + 1) % 4] @ a[k] if k == 1 else a[k] @ a[k])
        scaled = scaled * 0.5 + a[k] @ b[k]
        scaled[0, :2] += 1
    t = np.arange(32)
    row, col = (t // 4 & 4) + (t // 2 & 3), (t // 4 & 2) * 2 + (t & 1) * 2
    last = np.zeros((8, 8))
    for e in range(2):
        last[row, col + e] = [sums[k % 3][r, c + e] + k for k, r, c in zip(t % 4, row, col)]
    want = np.stack([*sums, scaled.T, last])
    for width, (d,) in run(source, [encode(a, element), encode(b, element), np.array([4], np.uint32)],
                           [(np.float32, 320)], 32, 32):
        assert (d.reshape(5, 8, 8) == want).all(), (width, d.reshape(5, 8, 8) - want)


def test_thread_elements_layout():
    source = """kernel void k(device const float *a, device float2 *e, uint t [[thread_index_in_simdgroup]]) {
        simdgroup_float8x8 m;
        simdgroup_load(m, a);
        e[t] = m.thread_elements();
    }"""
    a = np.arange(64, dtype=np.float32)
    t = np.arange(32)
    row, col = (t // 4 & 4) + (t // 2 & 3), (t // 4 & 2) * 2 + (t & 1) * 2
    for width, (e,) in run(source, [a], [(np.float32, 64)], 32, 32):
        assert (e.reshape(32, 2)[:, 0] == row * 8 + col).all(), width
        assert (e.reshape(32, 2)[:, 1] == row * 8 + col + 1).all(), width


@pytest.mark.parametrize("element", ["int", "uint"])
@pytest.mark.parametrize("space", ["device", "threadgroup"])
def test_atomics(element, space):
    dtype = TYPES[element]
    n = 256
    x = np.random.default_rng(7).integers(0, 2**32, n, dtype=np.uint32).view(dtype)
    keys = ["add", "sub", "min", "max", "and", "or", "xor"]
    target = "t" if space == "threadgroup" else "d"
    body = "".join(f"atomic_fetch_{k}_explicit(&{target}[{i}], x[i], memory_order_relaxed);"
                   for i, k in enumerate(keys))
    source = f"""kernel void k(device const {element} *x, device atomic_{element} *d, device uint *order,
                               uint i [[thread_position_in_threadgroup]]) {{
        threadgroup atomic_{element} t[10];
        if (i < 10) atomic_store_explicit(&t[i], i == 2 || i == 3 || i == 4 ? x[0] : 0, memory_order_relaxed);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        {body}
        // every ticket is taken once
        order[atomic_fetch_add_explicit(&{target}[7], 1, memory_order_relaxed)] = 1;
        // compare and exchange: add x by a loop
        {element} old = atomic_load_explicit(&{target}[8], memory_order_relaxed);
        while (!atomic_compare_exchange_weak_explicit(&{target}[8], &old, old + x[i],
                                                      memory_order_relaxed, memory_order_relaxed)) {{}}
        atomic_exchange_explicit(&{target}[9], 5, memory_order_relaxed);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if ({int(space == 'threadgroup')} && i < 10)
            atomic_store_explicit(&d[i], atomic_load_explicit(&t[i], memory_order_relaxed), memory_order_relaxed);
    }}"""
    wide = x.astype(object)

    def wrap(v):
        return np.array([int(v) & 0xffffffff], np.uint64).astype(np.uint32).view(dtype)[0]

    start = np.zeros(10, dtype)
    start[2:5] = x[0]
    want = [wrap(wide.sum()), wrap(-wide.sum()), x.min(), x.max(), np.bitwise_and.reduce(x),
            np.bitwise_or.reduce(x), np.bitwise_xor.reduce(x), n, wrap(wide.sum()), 5]
    for width, (d, order) in run(source, [x], [start, (np.uint32, n)], n, n):
        assert list(d) == want, (width, list(zip(keys, d, want)))
        assert (order == 1).all(), width


def test_atomic_float_ulong_bool_flag():
    source = """kernel void k(device atomic_float *f, device atomic_ulong *u, device atomic_bool *b,
                              device uint *wins, uint i [[thread_position_in_grid]]) {
        atomic_fetch_add_explicit(&f[0], float(i), memory_order_relaxed);
        atomic_fetch_sub_explicit(&f[1], 0.5f, memory_order_relaxed);
        float seen = atomic_load_explicit(&f[2], memory_order_relaxed);
        while (!atomic_compare_exchange_weak_explicit(&f[2], &seen, max(seen, float(i ^ 37)),
                                                      memory_order_relaxed, memory_order_relaxed)) {}
        atomic_max_explicit(&u[0], ulong(i) << 40, memory_order_relaxed);
        atomic_min_explicit(&u[1], (ulong(i) + 3) << 40, memory_order_relaxed);
        if (!atomic_exchange_explicit(&b[0], true, memory_order_relaxed)) wins[0] = i + 1;
        threadgroup atomic_flag flag;
        if (i == 0) atomic_flag_clear_explicit(&flag, memory_order_relaxed);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (!atomic_flag_test_and_set_explicit(&flag, memory_order_relaxed)) wins[1] += 1;
        atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
    }"""
    start = [np.zeros(3, np.float32), np.array([0, 2**64 - 1], np.uint64), np.zeros(1, np.uint8),
             np.zeros(2, np.uint32)]
    for width, (f, u, b, wins) in run(source, [], start, 64, 64):
        assert list(f) == [2016.0, -32.0, 63.0], width
        assert list(u) == [63 << 40, 3 << 40] and b[0] == 1, width
        assert 1 <= wins[0] <= 64 and wins[1] == 1, width


def test_logging():
    """What reaches the host: level, name, format and tagged values (see detail/logging.h)."""
    source = """constant os_log mine("org.example", "kernels");
    kernel void k(device const float *x, uint i [[thread_position_in_grid]]) {
        if (i == 3) {
            os_log_default.log_info("a %d %u %f", -5, 7u, x[i]);
            mine.log_error("b %v3f %lu", float3(1, 2, 3), 1ul << 40);
            mine.log("c");
        }
    }"""
    seen = []

    def log(_, level, name, text, args, n):
        raw = ctypes.string_at(name, 256)
        seen.append((level, raw.split(b"\0")[:2], text, [int(args[i]) for i in range(2 * n)]))

    x = np.arange(32, dtype=np.float32)
    bits = [int(v) for v in np.array([3.0, 1, 2, 3], np.float32).view(np.uint32)]
    for width in harness.WIDTHS:
        quiet = harness.compile_kernel(source, width=width)  # does not log
        code = harness.compile_kernel(source, width=width, options=["-fmetal-enable-logging"])
        seen.clear()
        harness.launch(quiet, [x], 32, 32, log=log)
        harness.launch(code, [x], 32, 32, log=log)
        assert seen == [
            (2, [b"", b""], b"a %d %u %f",
             [0x10401, 2**64 - 5, 0x10402, 7, 0x10403, bits[0]]),
            (4, [b"org.example", b"kernels"], b"b %v3f %lu",
             [0x30403, bits[1], 0x20403, bits[2], 0x10403, bits[3], 0x10802, 1 << 40]),
            (3, [b"org.example", b"kernels"], b"c", [])], (width, seen)
