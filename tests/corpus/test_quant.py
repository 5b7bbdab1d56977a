# SPDX-License-Identifier: Apache-2.0
"""quant/quant_lib.metal: the inference library against NumPy."""
import numpy as np
import pytest

from runner import DEEP, EVERY, QUICK, USUAL, bf16, check, from_bf16, run_kernel, some, struct_bytes

LIB = "quant/quant_lib.metal"
TABLE = np.array([-120, -97, -76, -59, -45, -31, -19, -8, 2, 12, 23, 36, 51, 68, 88, 114], np.float32)
BLOCKS = {
    "s4": np.dtype([("s", "<f2"), ("q", "u1", 16)]),
    "a4": np.dtype([("s", "<f2"), ("b", "<f2"), ("q", "u1", 16)]),
    "s5": np.dtype([("s", "<f2"), ("hi", "u1", 4), ("lo", "u1", 16)]),
    "s8": np.dtype([("s", "<f2"), ("q", "i1", 32)]),
    "k4": np.dtype([("d", "<f2"), ("m", "<f2"), ("sc", "u1", 8), ("q", "u1", 128)]),
    "t4": np.dtype([("s", "<f2"), ("q", "u1", 16)]),
}


def rng(seed=1):
    return np.random.default_rng(seed)


def nibbles(q):
    return np.stack([q & 15, q >> 4], -1).reshape(*q.shape[:-1], -1).astype(np.float32)


def make_blocks(kind, rows, cols, seed):
    """Random blocks (rows, blocks) and the float32 weights (rows, cols) they stand for."""
    r = rng(seed)
    per = 256 if kind == "k4" else 32
    b = np.zeros((rows, cols // per), BLOCKS[kind])
    for name in b.dtype.names:
        field = b[name]
        if field.dtype.kind == "f":
            b[name] = r.uniform(0.01, 0.1, field.shape) / (60 if kind in ("t4", "s8") else 1)
        elif field.dtype.kind == "u":
            b[name] = r.integers(0, 256, field.shape)
        else:
            b[name] = r.integers(-127, 128, field.shape)
    return b, weights(kind, b)


def weights(kind, b):
    rows = b.shape[0]
    if kind == "s4":
        w = b["s"].astype(np.float32)[..., None] * (nibbles(b["q"]) - 8)
    elif kind == "a4":
        w = b["s"].astype(np.float32)[..., None] * nibbles(b["q"]) + b["b"].astype(np.float32)[..., None]
    elif kind == "s5":
        bit = np.unpackbits(b["hi"], axis=-1, bitorder="little").astype(np.float32)
        w = b["s"].astype(np.float32)[..., None] * (nibbles(b["lo"]) + 16 * bit - 16)
    elif kind == "s8":
        w = b["s"].astype(np.float32)[..., None] * b["q"].astype(np.float32)
    elif kind == "k4":
        sc = (b["sc"] & 15).astype(np.float32) * b["d"].astype(np.float32)[..., None]
        mn = (b["sc"] >> 4).astype(np.float32) * b["m"].astype(np.float32)[..., None]
        w = nibbles(b["q"]) * np.repeat(sc, 32, -1) - np.repeat(mn, 32, -1)
    else:
        w = b["s"].astype(np.float32)[..., None] * TABLE[nibbles(b["q"]).astype(int)]
    return w.reshape(rows, -1)


def raw(b):
    return np.frombuffer(b.tobytes(), np.uint8).copy()


@pytest.mark.parametrize("kind", list(BLOCKS))
def test_unpack(kind):
    b, w = make_blocks(kind, 3, 512, 5)
    n16 = w.size // 16
    check(LIB, f"kernel_unpack_{kind}_f32", n16 + 7, 48, {0: raw(b), 1: np.zeros_like(w), 2: np.int32(n16)},
          {1: w}, modes=DEEP, rtol=1e-5)


@pytest.mark.parametrize("kind", ["s4", "s8"])
def test_unpack_half(kind):
    b, w = make_blocks(kind, 3, 512, 6)
    n16 = w.size // 16
    check(LIB, f"kernel_unpack_{kind}_f16", n16, 33,
          {0: raw(b), 1: np.zeros(w.shape, np.float16), 2: np.int32(n16)}, {1: w}, rtol=2e-3)


@pytest.mark.parametrize("kind", ["s8", "s4", "a4", "t4"])
def test_pack(kind):
    n = 77
    x = rng(7).normal(size=(n, 32)).astype(np.float32)
    x[5] = 0
    out = np.zeros(n * BLOCKS[kind].itemsize, np.uint8)
    for mode in DEEP:
        got = run_kernel(LIB, f"kernel_pack_{kind}", n, 32, {0: x, 1: out, 2: np.int32(n)}, [1], mode=mode)[1]
        b = np.frombuffer(got.tobytes(), BLOCKS[kind]).reshape(n, 1)
        w = weights(kind, b)
        span = np.abs(x).max(1, keepdims=True)
        tolerance = {"s8": 0.006, "s4": 0.14, "a4": 0.08, "t4": 0.14}[kind]
        assert (np.abs(w - x) <= tolerance * span + 1e-6).all(), mode
        assert (w[5] == 0).all()


def binary_args(shape_d, a, b):
    """C-order arrays of 4 dimensions -> args_binary, innermost first."""
    def st(x):
        return [int(s) for s in x.strides[::-1]]
    d = np.zeros(shape_d, a.dtype)
    return d, struct_bytes(("i4", d.shape[::-1]), ("u8", st(d)), ("i4", a.shape[::-1]), ("u8", st(a)),
                           ("i4", b.shape[::-1]), ("u8", st(b)))


@pytest.mark.parametrize("group", [32, 7, 100])
def test_add_broadcast(group):
    r = rng(8)
    a = r.normal(size=(2, 3, 5, 41)).astype(np.float32)
    b = r.normal(size=(1, 3, 1, 41)).astype(np.float32)
    d, args = binary_args(a.shape, a, b)
    check(LIB, "kernel_add", (5 * group, 3, 2), (group, 1, 1), {0: args, 1: a, 2: b, 3: d}, {3: a + b},
          modes=DEEP if group == 7 else USUAL)


@pytest.mark.parametrize("name,dtype,op", [
    ("sub_f32", np.float32, np.subtract), ("mul_f32", np.float32, np.multiply),
    ("div_f32", np.float32, np.divide), ("min_f32", np.float32, np.minimum),
    ("sub_f16", np.float16, np.subtract), ("mul_f16", np.float16, np.multiply),
    ("mul_i32", np.int32, np.multiply), ("min_i64", np.int64, np.minimum),
    ("div_i16", np.int16, lambda x, y: np.trunc(x / y).astype(np.int16))])
def test_binary(name, dtype, op):
    r = rng(9)
    a = (r.normal(size=(1, 2, 4, 50)) * 100).astype(dtype)
    b = (r.normal(size=(1, 2, 4, 1)) * 20 + 50).astype(dtype)
    b[b == 0] = 3
    d, args = binary_args(a.shape, a, b)
    check(LIB, f"kernel_{name}", (4 * 33, 2, 1), (33, 1, 1), {0: args, 1: a, 2: b, 3: d}, {3: op(a, b)},
          rtol=1e-6 if dtype != np.float16 else 1e-3)


def erf(x):
    from math import erf as e
    return np.vectorize(e)(x.astype(np.float64))


def gelu(x):
    x = x.astype(np.float64)
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * x * (1 + 0.044715 * x * x)))


def silu(x):
    return x / (1 + np.exp(-x.astype(np.float64)))


UNARY = {
    "relu": lambda x: np.maximum(x, 0), "sigmoid": lambda x: 1 / (1 + np.exp(-x.astype(np.float64))),
    "tanh": np.tanh, "gelu": gelu, "gelu_erf": lambda x: 0.5 * x * (1 + erf(x * np.sqrt(0.5))),
    "elu": lambda x: np.where(x > 0, x, np.expm1(x.astype(np.float64))), "sqr": np.square,
    "sqrt": lambda x: np.sqrt(np.abs(x)), "sin": np.sin, "cos": np.cos, "log": lambda x: np.log(np.abs(x)),
    "neg": np.negative, "abs": np.abs, "sgn": np.sign, "step": lambda x: (x > 0).astype(np.float32),
    "hardswish": lambda x: x * np.clip((x + 3) / 6, 0, 1), "exp": np.exp,
    "leaky_relu": lambda x: np.where(x > 0, x, 0.1 * x),
}


@pytest.mark.parametrize("name", some(UNARY, 2))
def test_unary(name):
    x = np.concatenate([np.linspace(-12, 12, 999), rng(3).normal(size=500)]).astype(np.float32)
    want = UNARY[name](x)
    check(LIB, f"kernel_{name}", x.size, 96, {0: x, 1: np.zeros_like(x)}, {1: want}, modes=QUICK,
          rtol=3e-6, atol=1e-5)


@pytest.mark.parametrize("name,f", [("gelu_4", gelu), ("gelu_erf_4", UNARY["gelu_erf"]), ("silu_4", silu)])
def test_unary_4(name, f):
    x = np.linspace(-30, 30, 4 * 75).astype(np.float32)
    check(LIB, f"kernel_{name}", 75, 32, {0: x, 1: np.zeros_like(x)}, {1: f(x)}, modes=DEEP, rtol=1e-5,
          atol=1e-5)


def test_scale():
    x = np.linspace(-30, 30, 4 * 75).astype(np.float32)
    check(LIB, "kernel_scale_4", 75, 25, {0: x, 1: x * 0, 2: np.float32(0.25), 3: np.float32(2)},
          {1: x * 0.25 + 2})


@pytest.mark.parametrize("name,gate", [("reglu", lambda a: np.maximum(a, 0)), ("geglu", gelu), ("swiglu", silu)])
def test_gated(name, gate):
    x = rng(4).normal(size=(6, 2 * 53)).astype(np.float32) * 3
    d = np.zeros((6, 53), np.float32)
    check(LIB, f"kernel_{name}", 6 * 40, 40,
          {0: x, 1: d, 2: np.uint64(x.strides[0]), 3: np.uint64(d.strides[0]), 4: np.int32(53)},
          {1: gate(x[:, :53]) * x[:, 53:]}, rtol=1e-5, atol=1e-5)


def norm_args(x, eps=1e-5):
    return struct_bytes(("i4", x.shape[1]), ("u8", x.strides[0]), ("f4", eps))


@pytest.mark.parametrize("n,group", some([(n, g) for n in (1, 31, 200, 1000) for g in (32, 96, 256, 40)], 3))
def test_sum_rows(n, group):
    x = rng(n).normal(size=(5, n)).astype(np.float32)
    d = np.zeros(5, np.float32)
    modes = DEEP if n == 200 else QUICK
    check(LIB, "kernel_sum_rows", 5 * group, group, {0: norm_args(x), 1: x, 2: d}, {2: x.sum(1)},
          tg={0: 128}, modes=modes, atol=2e-4)
    check(LIB, "kernel_mean_rows", 5 * group, group, {0: norm_args(x), 1: x, 2: d}, {2: x.mean(1)},
          tg={0: 128}, modes=QUICK, atol=2e-4)


def softmax(x):
    e = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


SOFTMAX = [(s, m, n, g) for m in (0, 1) for n, g in ((64, 32), (300, 128), (1024, 1024))
           for s in ("f32", "f16", "f32_4", "f16_4")]


@pytest.mark.parametrize("suffix,has_mask,n,group", some(SOFTMAX, 3))
def test_softmax(suffix, has_mask, n, group):
    mask_type = np.float16 if "f16" in suffix else np.float32
    r = rng(n)
    x = (r.normal(size=(8, n)) * 4).astype(np.float32)
    m = np.where(r.random((4, n)) < 0.2, -1e4 if mask_type is np.float16 else -np.inf, r.normal(size=(4, n)))
    m = m.astype(mask_type)
    args = struct_bytes(("i4", n), ("i4", 4), ("f4", 0.5), ("f4", 0.25), ("i4", has_mask))
    full = x.astype(np.float64) * 0.5 + (0.25 * np.tile(m.astype(np.float64), (2, 1)) if has_mask else 0)
    check(LIB, f"kernel_softmax_{suffix}", 8 * group, group, {0: args, 1: x, 2: m, 3: np.zeros_like(x)},
          {3: softmax(full)}, tg={0: 128}, modes=DEEP if n == 64 else QUICK, rtol=2e-5, atol=1e-7)


@pytest.mark.parametrize("n,group", [(64, 32), (512, 128), (516, 256), (132, 50)])
def test_norms(n, group):
    r = rng(n)
    x = (r.normal(size=(7, n)) * 2 + 1).astype(np.float32)
    w, b = r.normal(size=(2, n)).astype(np.float32)
    d, g = np.zeros_like(x), 7 * group
    x64 = x.astype(np.float64)
    ln = (x64 - x64.mean(1, keepdims=True)) / np.sqrt(x64.var(1, keepdims=True) + 1e-5)
    rms = x64 / np.sqrt((x64 ** 2).mean(1, keepdims=True) + 1e-5)
    kw = dict(tg={0: 128}, rtol=2e-5, atol=2e-5, modes=DEEP if n == 64 else USUAL)
    check(LIB, "kernel_layer_norm", g, group, {0: norm_args(x), 1: x, 2: d}, {2: ln}, **kw)
    check(LIB, "kernel_rms", g, group, {0: norm_args(x), 1: x, 2: w, 3: b, 4: d}, {4: rms}, **kw)
    check(LIB, "kernel_rms_mul", g, group, {0: norm_args(x), 1: x, 2: w, 3: b, 4: d}, {4: rms * w}, **kw)
    check(LIB, "kernel_rms_mul_add", g, group, {0: norm_args(x), 1: x, 2: w, 3: b, 4: d}, {4: rms * w + b}, **kw)


@pytest.mark.parametrize("n,group", [(1, 32), (100, 32), (999, 160), (3000, 1024)])
def test_argmax_cumsum(n, group):
    x = rng(n).integers(-50, 50, size=(6, n)).astype(np.float32)
    check(LIB, "kernel_argmax", 6 * group, group, {0: norm_args(x), 1: x, 2: np.zeros(6, np.int32)},
          {2: x.argmax(1).astype(np.int32)}, tg={0: 128, 1: 128}, modes=EVERY if n == 100 else USUAL)
    check(LIB, "kernel_cumsum", 6 * 32, 32, {0: norm_args(x), 1: x, 2: np.zeros_like(x)}, {2: x.cumsum(1)},
          modes=EVERY if n == 100 else USUAL)


def mv_args(cols, rows, row_bytes, vecs, ld=None):
    return struct_bytes(("i4", cols), ("i4", rows), ("u8", row_bytes), ("i4", vecs), ("u8", cols * 4),
                        ("i4", ld or rows))


@pytest.mark.parametrize("kind,kernel,per_group", [
    ("s4", "s4_r4", 4), ("s4", "s4_r1", 1), ("a4", "a4_r4", 4), ("s8", "s8_r2", 2), ("s5", "s5", None),
    ("k4", "k4", None), ("t4", "t4", None)])
@pytest.mark.parametrize("rows,cols,group", [(13, 256, 64), (8, 2304, 128)])
def test_mv_blocks(kind, kernel, per_group, rows, cols, group):
    b, w = make_blocks(kind, rows, cols, 11)
    y = rng(12).normal(size=(3, cols)).astype(np.float32)
    per = per_group or group // 32
    n_groups = -(-rows // per)
    check(LIB, f"kernel_mv_{kernel}", (n_groups * group, 3, 1), (group, 1, 1),
          {0: mv_args(cols, rows, b.dtype.itemsize * b.shape[1], 3), 1: raw(b), 2: y,
           3: np.zeros((3, rows), np.float32)},
          {3: y.astype(np.float64) @ w.astype(np.float64).T}, tg={0: 4 * 128},
          modes=DEEP if cols == 256 else USUAL, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("kernel", ["f32_f32", "f16_f32", "f16_f16", "bf16_f32"])
@pytest.mark.parametrize("cols", [100, 132, 515])
def test_mv_plain(kernel, cols):
    r = rng(cols)
    w = r.normal(size=(9, (cols + 3) & ~3)).astype(np.float32)
    y = r.normal(size=(2, w.shape[1])).astype(np.float32)
    store = {"f32": lambda a: a, "f16": lambda a: a.astype(np.float16), "bf16": bf16}
    load = {"f32": lambda a: a, "f16": lambda a: a.astype(np.float32), "bf16": from_bf16}
    tw, ty = kernel.split("_")
    ws, ys = store[tw](w), store[ty](y)
    args = struct_bytes(("i4", cols), ("i4", 9), ("u8", ws.strides[0]), ("i4", 2), ("u8", ys.strides[0]), ("i4", 9))
    want = load[ty](ys)[:, :cols].astype(np.float64) @ load[tw](ws)[:, :cols].T
    check(LIB, f"kernel_mv_{kernel}", (5 * 64, 2, 1), (64, 1, 1),
          {0: args, 1: ws, 2: ys, 3: np.zeros((2, 9), np.float32)}, {3: want}, tg={0: 16},
          modes=DEEP if cols == 132 else USUAL, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("kind", ["s4", "k4", "f16"])
def test_mv_routed(kind):
    experts, rows, cols, vecs = 4, 6, 512, 5
    if kind == "f16":
        w = rng(3).normal(size=(experts, rows, cols)).astype(np.float16)
        data, row_bytes = w, cols * 2
    else:
        b, w = make_blocks(kind, experts * rows, cols, 21)
        data, row_bytes = raw(b), b.dtype.itemsize * b.shape[1]
        w = w.reshape(experts, rows, cols)
    y = rng(5).normal(size=(vecs, cols)).astype(np.float32)
    route = np.array([3, 0, 0, 2, 1], np.int32)
    want = np.stack([w[e].astype(np.float64) @ v for e, v in zip(route, y)])
    check(LIB, f"kernel_mv_routed_{kind}", (3 * 64, vecs, 1), (64, 1, 1),
          {0: mv_args(cols, rows, row_bytes, vecs), 1: data, 2: y, 3: np.zeros((vecs, rows), np.float32),
           4: route, 5: np.uint64(rows * row_bytes)}, {3: want}, tg={0: 512}, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("kind", ["f32", "f32_half", "f16", "s4", "a4", "s5", "s8", "k4", "t4"])
@pytest.mark.parametrize("m,n,k", [(32, 32, 256), (45, 37, 256)])
def test_mm(kind, m, n, k):
    batches, share = 2, 2
    if kind.startswith("f"):
        w = rng(m).normal(size=(m, k)).astype(np.float16 if kind == "f16" else np.float32)
        data, row_bytes = w, w.strides[0]
    else:
        b, w = make_blocks(kind, m, k, 31)
        data, row_bytes = raw(b), b.dtype.itemsize * b.shape[1]
    y = rng(n).normal(size=(batches, n, k)).astype(np.float32)
    args = struct_bytes(("i4", k), ("i4", m), ("i4", n), ("u8", row_bytes), ("u8", k * 4), ("u8", 0),
                        ("u8", n * k * 4), ("i2", share))
    # rounded to half where the kernel keeps the weights as half
    wr = w.astype(np.float32) if kind == "f32" else w.astype(np.float16).astype(np.float32)
    want = y.astype(np.float64) @ wr.astype(np.float64).T
    check(LIB, f"kernel_mm_{kind}", (-(-m // 32) * 128, -(-n // 32), batches), (128, 1, 1),
          {0: args, 1: data, 2: y, 3: np.zeros((batches, n, m), np.float32)}, {3: want},
          tg={0: 32 * 32 * 8}, modes=DEEP if m == 32 and kind in ("f32", "s4") else QUICK, rtol=1e-3, atol=3e-2)
