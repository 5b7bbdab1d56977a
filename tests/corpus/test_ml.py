# SPDX-License-Identifier: Apache-2.0
"""ml/kernels: a tensor library made of templates, macros and headers, against NumPy."""
import numpy as np
import pytest

from runner import DEEP, EVERY, QUICK, USUAL, bf16, compare, from_bf16, run_kernel, some

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


@pytest.mark.parametrize("op,t", some(UNARY_CASES, 4))
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


@pytest.mark.parametrize("op,t", some(BINARY_CASES, 5))
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


@pytest.mark.parametrize("src,dst", sorted(set(some(COPIES, 5) + WALKED)))
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


@pytest.mark.parametrize("op,t", some(RED_CASES, 3))
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


@pytest.mark.parametrize("kind,op,t", some(SCANS, 3))
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
