# SPDX-License-Identifier: Apache-2.0
"""ml/kernels: a tensor library made of templates, macros and headers, against NumPy."""
import numpy as np
import pytest

from runner import DEEP, EVERY, QUICK, USUAL, bf16, compare, from_bf16, run_kernel, some, struct_bytes

ELEM, REDUCE = "ml/kernels/elementwise.metal", "ml/kernels/reduce.metal"
F = np.float32
TYPES = {"float32": F, "float16": np.float16, "bfloat16": "bf16", "int8": np.int8, "uint8": np.uint8, "int16": np.int16,
         "uint16": np.uint16, "int32": np.int32, "uint32": np.uint32, "int64": np.int64, "uint64": np.uint64,
         "bool": np.bool_, "complex64": np.complex64}
TOLERANCE = {"float16": 2e-3, "bfloat16": 1e-2}


def rng(seed=1):
    return np.random.default_rng(seed)


def store(a, tname):
    """An array as the kernel's type sees it: bytes of complex numbers and bits of bfloat included."""
    if tname == "bfloat16":
        return bf16(a)
    a = np.ascontiguousarray(a).astype(TYPES[tname])
    return a.view(F) if tname == "complex64" else a.view(np.uint8) if tname == "bool" else a


def load(a, tname, shape):
    if tname == "bfloat16":
        a = from_bf16(a)
    elif tname == "complex64":
        a = np.ascontiguousarray(a).view(np.complex64)
    elif tname == "bool":
        a = a.astype(bool)
    return a.reshape(shape)


def rounded(a, tname):
    return load(store(a, tname), tname, np.shape(a))


def data(tname, shape, seed):
    r = rng(seed)
    if tname == "bool":
        return r.random(shape) < 0.5
    if tname == "complex64":
        return (r.normal(size=shape) + 1j * r.normal(size=shape)).astype(np.complex64)
    if "float" in tname:
        return rounded((r.normal(size=shape) * 3).astype(F), tname)
    low = 0 if tname.startswith("u") else -60
    return r.integers(low, 60, shape).astype(TYPES[tname])


def go(file, kernel, grid, group, args, out, out_type, want, modes=QUICK, rtol=None, atol=1e-6, **kw):
    """args: NumPy arrays already stored; out: the index of the result, of type out_type."""
    want = np.asarray(want)
    blank = store(np.zeros(want.shape, F), out_type)
    rtol = rtol or TOLERANCE.get(out_type, 2e-6)
    for mode in modes:
        got = run_kernel(file, kernel, grid, group, {**args, out: blank}, [out], mode=mode, **kw)[out]
        got = load(got, out_type, want.shape)
        exact = want.dtype.kind in "iub"
        compare(got, want, 0 if exact else rtol, 0 if exact else atol, f"{kernel} {mode}")


# ------------------------------------------------------------------------------- element-wise

def sign(x):
    if np.iscomplexobj(x):
        return x / np.abs(x)
    return np.sign(x)


UNARY = {"Sqrt": np.sqrt, "Exp": np.exp, "Sigmoid": lambda x: 1 / (1 + np.exp(-x.astype(float))), "Floor": np.floor,
         "Abs": np.abs, "Negate": np.negative, "Square": np.square, "Sign": sign, "BitNot": np.invert,
         "LogicalNot": np.logical_not}
UNARY_CASES = ([(op, t) for op in ("Sqrt", "Exp", "Sigmoid", "Floor", "Abs", "Negate", "Square", "Sign")
                for t in ("float32", "float16", "bfloat16")]
               + [(op, t) for op in ("Square", "Negate", "BitNot")
                  for t in ("int32", "int8", "uint8", "int16", "int64", "uint32")]
               + [("Abs", t) for t in ("int32", "int16", "uint8")]
               + [(op, "complex64") for op in ("Abs", "Exp", "Sign", "Square", "Negate")]
               + [("LogicalNot", "bool"), ("Floor", "int32")])


@pytest.mark.parametrize("op,t", some(UNARY_CASES, 7))
def test_unary(op, t):
    n = 301
    x = data(t, n, 3)
    if op == "Sqrt":
        x = np.abs(x)
    with np.errstate(all="ignore"):
        want = UNARY[op](x if "bfloat" not in t else x.astype(F))
        want = want.astype(x.dtype) if x.dtype.kind in "iub" else want
    deep = DEEP if (op, t) in (("Exp", "bfloat16"), ("Square", "int8"), ("Sign", "complex64")) else QUICK
    go(ELEM, f"v_{op}{t}", -(-n // 4), 32, {0: store(x, t), 2: np.uint32(n)}, 1, t, want, deep)


@pytest.mark.parametrize("op,t,prefix", [("Exp", "float32", "g"), ("Negate", "int16", "gl"), ("Square", "complex64", "g"),
                                         ("Sigmoid", "bfloat16", "gl")])
def test_unary_strided(op, t, prefix):
    base = data(t, (6, 5, 7, 4), 4)
    view = base.transpose(2, 0, 3, 1)[:, ::2]
    shape = np.array(view.shape, np.int32)
    strides = np.array(view.strides, np.int64) // base.itemsize
    go(ELEM, f"{prefix}_{op}{t}", view.size, 48, {0: store(base, t), 2: shape, 3: strides, 4: np.int32(4)}, 1, t,
       UNARY[op](view), USUAL)


def maximum(a, b):
    return np.where(a > b, a, b) if np.iscomplexobj(a) else np.maximum(a, b)


BINARY = {"Add": np.add, "Multiply": np.multiply, "Divide": lambda a, b: a / b if a.dtype.kind in "fc" else
          (np.sign(a) * np.sign(b) * (np.abs(a.astype(object)) // np.abs(b.astype(object)))).astype(a.dtype)
          if a.dtype.kind == "i" else a // b,
          "Maximum": maximum, "Remainder": np.remainder, "LogAddExp": lambda a, b: np.logaddexp(a.astype(float), b),
          "Power": np.power, "LeftShift": np.left_shift, "Greater": np.greater, "Equal": np.equal}
REALS, INTS = ("float32", "float16", "bfloat16"), ("int32", "uint32", "int8", "uint8", "int16", "uint16", "int64", "uint64")
BINARY_CASES = ([(op, t) for op in ("Add", "Multiply", "Divide", "Maximum", "Remainder", "LogAddExp") for t in REALS]
                + [("Power", "float32")]
                + [(op, t) for op in ("Add", "Multiply", "Divide", "Maximum", "Remainder", "Power", "LeftShift")
                   for t in INTS]
                + [(op, "complex64") for op in ("Add", "Multiply", "Divide", "Maximum")]
                + [("Greater", "float32"), ("Greater", "complex64"), ("Greater", "int8"), ("Equal", "bfloat16"),
                   ("Equal", "bool")])


def operands(op, t, shape):
    a, b = data(t, shape, 5), data(t, shape, 6)
    if op in ("Divide", "Remainder"):
        b = np.where(b == 0, np.ones(1, b.dtype), b)
    if op == "Power":
        a, b = (np.abs(a), b) if t == "float32" else (a, np.abs(b) % 6)
    if op == "LeftShift":
        b = np.abs(b) % min(8 * a.itemsize, 30)
    if op == "Equal":
        b = np.where(rng(7).random(shape) < 0.5, a, b)
    return a.astype(data(t, 1, 1).dtype), b.astype(data(t, 1, 1).dtype)


def result(op, a, b):
    with np.errstate(all="ignore"):
        w = BINARY[op](a, b)
    return w if op in ("Greater", "Equal", "LogAddExp") else w.astype(a.dtype)


@pytest.mark.parametrize("op,t", some(BINARY_CASES, 9))
def test_binary(op, t):
    a, b = operands(op, t, (9, 25))
    out = "bool" if op in ("Greater", "Equal") else t
    rtol = {"float16": 4e-3, "bfloat16": 2e-2}.get(t, 2e-5)
    atol = {"float16": 2e-3, "bfloat16": 2e-2}.get(t, 1e-5)
    if op == "Remainder" and t in ("float16", "bfloat16"):
        atol = 1e-6  # fmod is exact; numbers of 3 digits
    kw = dict(rtol=rtol, atol=atol, modes=DEEP if t in ("int8", "uint16", "int64", "bfloat16") else QUICK)
    go(ELEM, f"vv2_{op}{t}", (25, 9), (16, 4), {0: store(a, t), 1: store(b, t)}, 2, out, result(op, a, b), **kw)


@pytest.mark.parametrize("op,t", [("Add", "float32"), ("Multiply", "complex64"), ("Remainder", "int8"),
                                  ("Maximum", "bfloat16"), ("Divide", "uint64")])
def test_binary_forms(op, t):
    a, b = operands(op, t, (4, 6, 10))
    sa, sb = store(a, t), store(b, t)
    kw = dict(rtol=1e-2, atol=1e-2) if t == "bfloat16" else dict(rtol=1e-5)
    flat = a.reshape(-1), b.reshape(-1)
    go(ELEM, f"ss_{op}{t}", 50, 32, {0: sa, 1: sb}, 2, t, np.repeat(result(op, flat[0][:1], flat[1][:1]), 50), **kw)
    go(ELEM, f"sv_{op}{t}", 240, 32, {0: sa, 1: sb}, 2, t, result(op, flat[0][:1], flat[1]), **kw)
    bt = b.reshape(10, 6, 4).transpose(2, 1, 0)
    shape = np.array(a.shape, np.int32)
    st = lambda v: np.array(v.strides, np.int64) // v.itemsize
    for name, grid in (("g1", (10, 6, 4)), ("g4", (3, 6, 4))):
        go(ELEM, f"{name}_{op}{t}", grid, (8, 2, 2), {0: sa, 1: sb, 3: shape, 4: st(a), 5: st(bt), 6: np.int32(3)}, 2, t,
           result(op, a, bt), modes=USUAL, **kw)


@pytest.mark.parametrize("t", ["int32", "uint8", "int64"])
def test_divmod(t):
    a, b = operands("Divide", t, 200)
    d, r = result("Divide", a, b), result("Remainder", a, b)
    for mode in EVERY:
        out = run_kernel(ELEM, f"two_DivMod{t}", 200, 64, {0: a, 1: b, 2: a * 0, 3: a * 0}, [2, 3], mode=mode)
        assert (out[2] == d).all() and (out[3] == r).all(), mode


@pytest.mark.parametrize("t", ["float32", "bfloat16", "int8", "int64", "complex64"])
def test_where(t):
    c = rng(8).random(123) < 0.5
    a, b = data(t, 123, 9), data(t, 123, 10)
    go(ELEM, f"v_Where{t}", 123, 50, {0: store(c, "bool"), 1: store(a, t), 2: store(b, t)}, 3, t, np.where(c, a, b), DEEP)


@pytest.mark.parametrize("t", ["uint8", "int16", "int64", "float32", "float16"])
def test_arange(t):
    start, step = (3, 2) if t[0] in "ui" else (0.5, 0.25)
    want = (start + step * np.arange(100)).astype(TYPES[t])
    go(ELEM, f"arange{t}", 100, 32, {0: TYPES[t](start), 1: TYPES[t](step)}, 2, t, want)


WALKED = [("float32", "bfloat16"), ("int8", "float16"), ("bool", "complex64"), ("uint64", "int64")]
COPIES = [(s, d) for s in ("float32", "float16", "bfloat16", "int32", "int8", "bool", "uint64")
          for d in ("float32", "float16", "bfloat16", "int32", "uint8", "int64", "bool", "complex64")]


@pytest.mark.parametrize("src,dst", sorted(set(some(COPIES, 9) + WALKED)))
def test_copy(src, dst):
    a = data(src, (5, 4, 7, 3), 11)
    if dst == "uint8":
        a = np.abs(a)
    conv = (lambda v: v != 0) if dst == "bool" else (lambda v: rounded(v.astype(F), dst)) if "float" in dst else \
        (lambda v: v.astype(TYPES[dst]))
    go(ELEM, f"copy_{src}{dst}", -(-a.size // 4), 64, {0: store(a, src), 2: np.uint32(a.size)}, 1, dst, conv(a), rtol=1e-6)
    if (src, dst) in WALKED:
        v = a.transpose(0, 3, 1, 2)
        st = np.array(v.strides, np.int64) // v.itemsize
        go(ELEM, f"walk3_{src}{dst}", 5, 5, {0: store(a, src), 2: np.array(v.shape, np.int32), 3: st, 4: np.int32(84)}, 1,
           dst, conv(v), EVERY, rtol=1e-6)


# --------------------------------------------------------------------------------- reductions

RED = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min, "all": np.all, "any": np.any}
WIDE = {"int8": "int32", "int16": "int32", "uint8": "uint32", "float16": "float32", "bfloat16": "float32"}
RED_CASES = ([(op, t) for op in ("sum", "max", "min") for t in ("int8", "uint8", "int16", "int32", "uint32")]
             + [(op, t) for op in ("sum", "prod", "max", "min") for t in REALS]
             + [("prod", "int32"), ("sum", "complex64"), ("sum", "int64"), ("all", "bool"), ("any", "bool")])


def reduce_data(op, t, shape):
    a = data(t, shape, 12)
    if op == "prod":
        a = np.where(rng(13).random(shape) < 0.8, 1, rounded(np.abs(a) % 2 + 1, t)).astype(a.dtype)
    if op == "all":
        a = rng(14).random(shape) < 0.99
    if op == "any":
        a = rng(15).random(shape) < 0.01
    return a


def reduced(op, t, a, axis):
    wide = a.astype(np.float64) if "float" in t and t != "complex64" else a.astype(TYPES[WIDE.get(t, t)])
    w = RED[op](wide, axis=axis)
    return w if "float" in t else np.asarray(w).astype(TYPES[WIDE.get(t, t)])


@pytest.mark.parametrize("op,t", some(RED_CASES, 5))
def test_reduce(op, t):
    out = WIDE.get(t, t)
    modes = DEEP if t in ("int8", "float16", "complex64", "int64", "bool") else QUICK
    kw = dict(modes=modes, rtol=1e-4, atol=1e-3)
    a = reduce_data(op, t, (11, 70))
    go(REDUCE, f"row_{op}_{t}", 6 * 64, 64, {0: store(a, t), 2: np.uint32(70), 3: np.uint32(11)}, 1, out,
       reduced(op, t, a, 1), **kw)
    go(REDUCE, f"col_{op}_{t}", 9 * 256, 256, {0: store(a, t), 2: np.array([70, 11], np.uint32)}, 1, out,
       reduced(op, t, a, 0), **kw)
    b = reduce_data(op, t, 1003)
    pos = (np.arange(1003) // 4 // 96) % 3
    want = np.stack([reduced(op, t, b[pos == g], 0) for g in range(3)])
    go(REDUCE, f"all_{op}_{t}", 3 * 96, 96, {0: store(b, t), 2: np.uint64(1003)}, 1, out, want, **kw)


ARGS = [(op, t, n, g) for n, g in ((10, 32), (333, 64), (1500, 128)) for op, t in
        (("argmax", "float32"), ("argmin", "float32"), ("argmax", "float16"), ("argmin", "int32"), ("argmax", "uint8"),
         ("argmax", "bfloat16"))]


@pytest.mark.parametrize("op,t,n,group", some(ARGS, 2))
def test_arg(op, t, n, group):
    a = np.abs(data(t, (4, n), n)).astype(data(t, 1, 1).dtype)
    want = getattr(np, op)(a, 1).astype(np.uint32)
    go(REDUCE, f"{op}_{t}", 4 * group, group, {0: store(a, t), 2: np.uint64(n)}, 1, "uint32", want,
       DEEP if n == 333 and t in ("float16", "uint8") else QUICK)


SCANS = [(kind, op, t) for op, t in (("sum", "int32"), ("sum", "uint8"), ("sum", "float32"), ("sum", "bool"),
                                     ("max", "int32"), ("max", "float32")) for kind in ("inc", "exc", "rinc", "rexc")]


@pytest.mark.parametrize("kind,op,t", some(SCANS, 5))
def test_scan(kind, op, t):
    n, group = 500, 64
    a = data(t, (3, n), 16)
    out = {"uint8": "uint32", "bool": "int32"}.get(t, t)
    w = a.astype(np.float64 if t == "float32" else TYPES[out])
    v = w[:, ::-1] if kind[0] == "r" else w
    acc = np.cumsum(v, 1, dtype=w.dtype) if op == "sum" else np.maximum.accumulate(v, 1)
    if kind.endswith("exc"):
        first = 0 if op == "sum" else -np.inf if t == "float32" else np.iinfo(np.int32).min
        acc = np.concatenate([np.full((3, 1), first, w.dtype), acc[:, :-1]], 1)
    want = acc[:, ::-1] if kind[0] == "r" else acc
    go(REDUCE, f"scan_{kind}_{op}_{t}", 3 * group, group, {0: store(a, t), 2: np.uint32(n)}, 1, out, want,
       EVERY if t == "int32" else QUICK, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("name,t,n,group", [("sort_float32_32_4", "float32", 100, 32), ("argsort_float32_64_4", "float32", 256, 64),
                                            ("sort_int8_128_8", "int8", 900, 128), ("argsort_int64_32_2", "int64", 60, 32),
                                            ("sort_bfloat16_64_4", "bfloat16", 200, 64),
                                            ("sort_float32_256_8", "float32", 2000, 256)])
def test_sort(name, t, n, group):
    a = data(t, (3, n), 17)
    arg = name.startswith("arg")
    want = np.argsort(a, 1, kind="stable").astype(np.uint32) if arg else np.sort(a, 1)
    go(REDUCE, name, 3 * group, group, {0: store(a, t), 2: np.int32(n)}, 1, "uint32" if arg else t, want,
       DEEP if group < 128 else USUAL, rtol=1e-7)


# -------------------------------------------------------------------------------------- gemm

GEMM, NEURAL = "ml/kernels/gemm.metal", "ml/kernels/neural.metal"
LOOSE = {"float32": 1e-4, "float16": 1e-2, "bfloat16": 4e-2}


def gemm_params(m, n, k, lda, ldb, batch):
    return struct_bytes(("i4", [m, n, k, lda, ldb, n]), ("i8", [m * k, k * n, m * n]), ("i4", [0, n]))


GEMMS = [(f"{kind}_{t}_{shape}", kind, t, m, n, k) for shape in ("32_32_16", "64_32_16") for t in REALS
         for kind in ("nn", "nt", "tn", "tt") for m, n, k in ((64, 32, 32), (70, 45, 39))]


@pytest.mark.parametrize("name,kind,t,m,n,k", some(GEMMS, 11))
def test_gemm(name, kind, t, m, n, k):
    batch = 2
    bm, bn = (32, 32) if "_32_32" in name else (64, 32)
    threads = 128 if bm == 32 else 64
    a, b, c = (data(t, s, i) / 3 for i, s in enumerate(((batch, m, k), (batch, k, n), (batch, m, n))))
    a, b, c = rounded(a, t), rounded(b, t), rounded(c, t)
    sa = a.swapaxes(1, 2) if kind[0] == "t" else a
    sb = b.swapaxes(1, 2) if kind[1] == "t" else b
    aligned = {200: "true" if m % bm == 0 else "false", 201: "true" if n % bn == 0 else "false",
               202: "true" if k % 16 == 0 else "false"}
    args = {0: store(sa, t), 1: store(sb, t), 2: store(c, t), 4: gemm_params(m, n, k, sa.shape[2], sb.shape[2], batch)}
    product = a.astype(float) @ b.astype(float)
    grid = (-(-n // bn) * threads, -(-m // bm), batch)
    kw = dict(rtol=LOOSE[t], atol=LOOSE[t] * 10, modes=("general",))
    plain = {k: v for k, v in args.items() if k != 2}
    go(GEMM, f"gemm_{name}", grid, (threads, 1, 1), plain, 3, t, product,
       constants={**aligned, 110: "false", 111: "false"}, **{**kw, "modes": QUICK if m % bm == 0 else ("reference",)})
    go(GEMM, f"gemm_{name}", grid, (threads, 1, 1), {**args, 5: np.array([0.5, 2], F)}, 3, t, 0.5 * product + 2 * c,
       constants={**aligned, 110: "true", 111: "true"}, **kw)
    go(GEMM, f"gemm_{name}", grid, (threads, 1, 1), args, 3, t, 3 * product + c,
       constants={**aligned, 110: "true", 111: "false", 112: 3.0}, **kw)


@pytest.mark.parametrize("t,per,group", [("float32", 16, 128), ("float16", 8, 64), ("bfloat16", 8, 256)])
@pytest.mark.parametrize("rows,cols", [(37, 150), (64, 512)])
def test_gemv(t, per, group, rows, cols):
    m, v = data(t, (rows, cols), 1) / 3, data(t, cols, 2)
    m = rounded(m, t)
    go(GEMM, f"gemv_{t}", -(-rows // per) * group, group, {0: store(m, t), 1: store(v, t), 3: np.array([rows, cols], np.int32)},
       2, t, m.astype(float) @ v, USUAL, rtol=LOOSE[t], atol=LOOSE[t] * 10)


def affine(rows, cols, group, bits, t, seed):
    r = rng(seed)
    q = r.integers(0, 1 << bits, (rows, cols)).astype(np.uint32)
    per = 32 // bits
    words = (q.reshape(rows, -1, per) << (np.arange(per, dtype=np.uint32) * bits)).sum(2, dtype=np.uint64).astype(np.uint32)
    s = rounded(r.uniform(0.02, 0.1, (rows, cols // group)).astype(F), t)
    b = rounded(r.normal(size=(rows, cols // group)).astype(F), t)
    return words, s, b, q * np.repeat(s, group, 1).astype(float) + np.repeat(b, group, 1)


QUANTS = [(t, g, b) for g, b in ((32, 4), (64, 4), (64, 2), (64, 8)) for t in REALS]


@pytest.mark.parametrize("t,g,b", some(QUANTS, 7))
def test_affine(t, g, b):
    m, n, k = 20, 45, 192
    words, s, z, w = affine(n, k, g, b, t, 30)
    x = rounded(data(t, (m, k), 31) / 4, t)
    want = x.astype(float) @ w.T
    scale = np.abs(want).max()
    args = {0: words, 1: store(s, t), 2: store(z, t), 3: store(x, t)}
    go(GEMM, f"qmv_{t}_gs{g}_b{b}", (-(-n // 2) * 64, m), (64, 1), {**args, 5: np.int32(k), 6: np.int32(n)}, 4, t, want,
       USUAL, rtol=LOOSE[t], atol=LOOSE[t] * scale)
    go(GEMM, f"qmm_t_{t}_gs{g}_b{b}", (-(-n // 32) * 128, -(-m // 32)), (128, 1), {**args, 5: np.array([m, n, k, 0], np.int32)},
       4, t, want, ("general",), rtol=LOOSE[t], atol=LOOSE[t] * scale)


# ------------------------------------------------------------------------------------- neural

def softmax(x):
    e = np.exp(x.astype(float) - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize("name,t,n,group", [
    ("softmax_float32", "float32", 100, 32), ("softmax_float32", "float32", 1000, 256), ("softmax_float16", "float16", 128, 32),
    ("softmax_precise_float16", "float16", 300, 96), ("softmax_precise_bfloat16", "bfloat16", 250, 64),
    ("softmax_looped_float32", "float32", 700, 64), ("softmax_looped_bfloat16", "bfloat16", 50, 32)])
def test_softmax(name, t, n, group):
    x = data(t, (5, n), n)
    go(NEURAL, name, 5 * group, group, {0: store(x, t), 2: np.int32(n)}, 1, t, softmax(x), DEEP if n <= 128 else USUAL,
       rtol=max(TOLERANCE.get(t, 1e-5), 1e-5) * 2, atol=1e-4 if t != "float32" else 1e-7)


@pytest.mark.parametrize("t", REALS)
@pytest.mark.parametrize("n,group", [(64, 32), (333, 96)])
def test_row_norm(t, n, group):
    x, w, b = data(t, (4, n), 1), data(t, n, 2), data(t, n, 3)
    z = x.astype(float)
    rms = z / np.sqrt((z ** 2).mean(1, keepdims=True) + 1e-5)
    ln = (z - z.mean(1, keepdims=True)) / np.sqrt(z.var(1, keepdims=True) + 1e-5)
    args = {0: store(x, t), 1: store(w, t), 2: store(b, t), 4: F(1e-5), 5: np.uint32(n), 6: np.uint32(1)}
    kw = dict(modes=DEEP if t == "float16" else QUICK, rtol=LOOSE[t], atol=LOOSE[t])
    go(NEURAL, f"rms_{t}", 4 * group, group, args, 3, t, rms * w, **kw)
    go(NEURAL, f"layer_norm_{t}", 4 * group, group, args, 3, t, ln * w + b, **kw)


@pytest.mark.parametrize("t,forward,traditional", [("float32", 1, 0), ("float32", 0, 1), ("float16", 1, 1), ("bfloat16", 0, 0)])
def test_rope(t, forward, traditional):
    heads, seq, dim = 3, 5, 16
    x = data(t, (heads, seq, dim), 4)
    d = np.arange(dim // 2) / (dim // 2)
    theta = 0.5 * (np.arange(seq)[:, None] + 7) * 2.0 ** (-d * np.log2(10000))
    c, s = np.cos(theta), np.sin(theta) * (1 if forward else -1)
    x1, x2 = (x[..., ::2], x[..., 1::2]) if traditional else (x[..., :dim // 2], x[..., dim // 2:])
    r1, r2 = x1 * c - x2 * s, x1 * s + x2 * c
    want = np.zeros(x.shape)
    if traditional:
        want[..., ::2], want[..., 1::2] = r1, r2
    else:
        want[..., :dim // 2], want[..., dim // 2:] = r1, r2
    st = np.array([seq * dim, dim, 1], np.int64)
    onoff = lambda v: "true" if v else "false"
    go(NEURAL, f"rope_{t}", (dim // 2, seq, 2), (8, 5, 1),
       {0: store(x, t), 2: np.int32(7), 3: F(0.5), 4: st, 5: st, 10: F(np.log2(10000)), 6: np.int32(heads)}, 1, t, want, DEEP,
       constants={1: onoff(forward), 2: onoff(traditional)}, rtol=LOOSE[t], atol=LOOSE[t])


@pytest.mark.parametrize("name,t,ti", [("gather_float32_uint32", "float32", np.uint32), ("gather_bfloat16_int64", "bfloat16", np.int64),
                                       ("gather_uint8_int8", "uint8", np.int8), ("gather_complex64_int16", "complex64", np.int16)])
def test_gather(name, t, ti):
    src = data(t, (20, 7), 5)
    ix = rng(6).integers(0 if ti == np.uint32 else -20, 20, 33).astype(ti)
    go(NEURAL, name, (7, 33), (7, 8), {0: store(src, t), 1: ix, 3: np.array([7, 20], np.uint32)}, 2, t, src[ix], DEEP)


@pytest.mark.parametrize("op,t,ti", [("add", "float32", np.uint32), ("add", "int32", np.uint8), ("add", "float16", np.uint32),
                                     ("add", "bfloat16", np.int64), ("max", "uint8", np.uint16), ("max", "int16", np.uint32),
                                     ("max", "float32", np.uint32), ("max", "uint32", np.uint32)])
def test_scatter(op, t, ti):
    n, size = 150, 24
    v = np.abs(data(t, n, 7)).round().astype(data(t, 1, 1).dtype)
    ix = rng(8).integers(0, size, n).astype(ti)
    want = np.zeros(size, v.dtype)
    (np.add if op == "add" else np.maximum).at(want, ix, v)
    go(NEURAL, f"scatter_{op}_{t}", n, 32, {0: store(v, t), 1: ix}, 2, t, want, EVERY)


def test_threefry():
    def rounds(k, c):
        m = (1 << 32) - 1
        ks = [k[0], k[1], k[0] ^ k[1] ^ 0x1BD11BDA]
        x = [(c[0] + k[0]) & m, (c[1] + k[1]) & m]
        rot = [13, 15, 26, 6, 17, 29, 16, 24]
        for r in range(5):
            for j in range(4):
                b = rot[(r & 1) * 4 + j]
                x[0] = (x[0] + x[1]) & m
                x[1] = ((x[1] << b | x[1] >> (32 - b)) & m) ^ x[0]
            x = [(x[0] + ks[(r + 1) % 3]) & m, (x[1] + ks[(r + 2) % 3] + r + 1) & m]
        return x
    keys = rng(9).integers(0, 1 << 32, (6, 2)).astype(np.uint32)
    per = 77
    want = np.stack([np.array([w for y in range(10) for w in rounds(k, (y, i))], "<u4").view(np.uint8)[:per]
                     for i, k in enumerate(keys.tolist())])
    # the generator's published test vector: zero key, zero counter
    assert rounds((0, 0), (0, 0)) == [0x6B200159, 0x99BA4EFE]
    go(NEURAL, "random_bits", (6, 10), (6, 5), {0: keys, 2: np.uint32(per)}, 1, "uint8", want, EVERY)


ATTENTION = [(*shape, *options) for options in ((0, 0, 0), (1, 0, 1), (0, 1, 0)) for shape in
             (("float32", 64, 64, 128), ("float16", 64, 64, 64), ("bfloat16", 128, 128, 32), ("float32", 96, 64, 256))]


@pytest.mark.parametrize("t,d,v,group,mask,causal,sinks", some(ATTENTION, 2) + [ATTENTION[5]])
def test_attention(t, d, v, group, mask, causal, sinks):
    heads, gqa, rows, n = 4, 2, 3, 37
    q, k = rounded(data(t, (heads, rows, d), 1) / 2, t), rounded(data(t, (heads // gqa, n, d), 2) / 2, t)
    val, sk = data(t, (heads // gqa, n, v), 3), data(t, heads, 4)
    allowed = rng(5).random((rows, n)) < 0.7 if mask else np.ones((rows, n), bool)
    if causal:
        allowed &= np.arange(n)[None] <= n - rows + np.arange(rows)[:, None]
    kk, vv = np.repeat(k, gqa, 0).astype(float), np.repeat(val, gqa, 0).astype(float)
    s = np.where(allowed, q.astype(float) @ kk.swapaxes(1, 2) * 0.125, -np.inf)
    if sinks:
        s = np.concatenate([s, np.broadcast_to(sk[:, None, None], (heads, rows, 1))], 2)
        vv = np.concatenate([vv, np.zeros((heads, 1, v))], 1)
    want = softmax(s) @ vv
    onoff = lambda x: "true" if x else "false"
    args = {0: store(q, t), 1: store(k, t), 2: store(val, t), 4: struct_bytes(("i4", [n, gqa, rows]), ("f4", 0.125))}
    if mask:
        args[5] = allowed.astype(np.uint8)
    if sinks:
        args[6] = store(sk, t)
    name = f"attention_{t}_{d}" + ("" if d == v else f"_{v}")
    go(NEURAL, name, (heads * group, rows), (group, 1), args, 3, t, want, DEEP if t == "float16" and mask else QUICK,
       constants={20: onoff(mask), 21: onoff(causal), 22: onoff(sinks)}, rtol=LOOSE[t], atol=LOOSE[t])


@pytest.mark.parametrize("n,steps", [(64, (6, 0, 0)), (360, (3, 2, 1)), (27, (0, 3, 0)), (500, (2, 0, 3))])
@pytest.mark.parametrize("inverse", [0, 1])
def test_fft(n, steps, inverse):
    x = data("complex64", (3, n), n)
    want = np.fft.ifft(x, axis=1) if inverse else np.fft.fft(x, axis=1)
    go(NEURAL, "fft_512", 3 * 64, 64, {0: store(x, "complex64"), 2: np.int32(n)}, 1, "complex64", want,
       DEEP if n == 64 else QUICK, constants={30: steps[0], 31: steps[1], 32: steps[2], 33: "true" if inverse else "false"},
       rtol=1e-4, atol=1e-3)
