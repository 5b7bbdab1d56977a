# SPDX-License-Identifier: Apache-2.0
"""One row per element-wise operation against NumPy in float64; broadcasting; types; fusion."""

import operator

import numpy as np
import pytest
from helpers import gelu

import ig

RNG = np.random.default_rng(1)
ANY = (-4.0, 4.0)
POSITIVE = (0.05, 9.0)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


UNARY = {
    "neg": (np.negative, ANY), "abs": (np.abs, ANY), "sign": (np.sign, ANY),
    "floor": (np.floor, ANY), "ceil": (np.ceil, ANY), "round": (np.rint, ANY),
    "trunc": (np.trunc, ANY), "square": (np.square, ANY), "reciprocal": (np.reciprocal, POSITIVE),
    "sqrt": (np.sqrt, POSITIVE), "rsqrt": (lambda x: 1 / np.sqrt(x), POSITIVE), "exp": (np.exp, ANY),
    "log": (np.log, POSITIVE), "sin": (np.sin, ANY), "cos": (np.cos, ANY),
    "tan": (np.tan, (-1.2, 1.2)), "tanh": (np.tanh, ANY), "sigmoid": (sigmoid, ANY),
    "softplus": (lambda x: np.log1p(np.exp(x)), ANY), "relu": (lambda x: np.maximum(x, 0), ANY),
    "gelu": (gelu, ANY), "silu": (lambda x: x * sigmoid(x), ANY),
    "logical_not": (np.logical_not, ANY),
}
CLOSED = {"neg", "abs", "sign", "floor", "ceil", "round", "trunc", "square", "relu"}
# Rounding of the result, and a few units for what the function itself loses in float.
TOLERANCE = {ig.F32: 2e-6, ig.F16: 1e-3, ig.BF16: 8e-3}


def close(got, want, kind, scale=1.0):
    want = np.asarray(want, np.float64)
    limit = TOLERANCE[kind] * (np.abs(want) + scale * 0.1)
    bad = ~((np.abs(got - want) <= limit) | (np.isnan(want) & np.isnan(got)) | (got == want))
    assert not bad.any(), (got[bad][:5], want[bad][:5])


def values(shape, span, kind):
    a = RNG.uniform(*span, shape).astype(np.float32)
    if kind == ig.F16:
        return a.astype(np.float16)
    if kind == ig.BF16:
        return (a.view(np.uint32) & 0xFFFF0000).view(np.float32).reshape(shape)
    return a


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("kind", [ig.F32, ig.F16, ig.BF16])
def test_unary(name, kind):
    reference, span = UNARY[name]
    a = values((3, 67), span, kind)
    got = getattr(ig, name)(ig.tensor(a, kind))
    assert got.type == (ig.BOOL if name == "logical_not" else kind)
    if name == "logical_not":
        assert (got.numpy() == reference(a)).all()
    else:
        close(got.numpy(), reference(a.astype(np.float64)), kind)


@pytest.mark.parametrize("name", ["neg", "abs", "sign", "square", "relu", "floor", "exp"])
def test_unary_integers(name):
    a = RNG.integers(-9, 9, 37).astype(np.int32)
    got = getattr(ig, name)(ig.tensor(a))
    want = UNARY[name][0](a.astype(np.float64))
    if name in CLOSED:
        assert got.type == ig.I32 and (got.numpy() == want).all()
    else:
        assert got.type == ig.F32
        close(got.numpy(), want, ig.F32)


def test_gelu_of_negative_numbers():
    """1 + tanh(u) has few digits left where tanh is near -1; the result has all of them."""
    x = np.linspace(-8, -2, 1001).astype("f4")
    wide = x.astype("f8")
    want = wide / (1 + np.exp(-2 * np.sqrt(2 / np.pi) * (wide + 0.044715 * wide ** 3)))
    assert np.abs(ig.gelu(ig.tensor(x)).numpy() / want - 1).max() < 1e-5


def test_special_values():
    a = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 3e38], np.float32)
    x = ig.tensor(a)
    with np.errstate(all="ignore"):
        for name in ("sqrt", "exp", "log", "abs", "sign", "floor", "relu", "tanh", "reciprocal"):
            got, want = getattr(ig, name)(x).numpy(), UNARY[name][0](a).astype(np.float32)
            assert np.allclose(got, want, rtol=1e-6, equal_nan=True), (name, got, want)
    assert ig.sigmoid(x).numpy()[2:4].tolist() == [1, 0]
    assert np.array_equal(ig.maximum_scalar(x, 1).numpy(), np.maximum(a, np.float32(1)), equal_nan=True)


BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
          "minimum": np.minimum, "maximum": np.maximum, "remainder": np.remainder,
          "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
          "ge": np.greater_equal, "logical_and": np.logical_and, "logical_or": np.logical_or}


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("dtype", ["f4", "f2", "i4", "i8"])
def test_binary(name, dtype):
    a = (RNG.standard_normal((5, 1, 7)) * 4).astype(dtype)
    b = (RNG.standard_normal((4, 7)) * 4).astype(dtype)
    b[b == 0] = 1
    a[0, 0, :3] = b[0, :3]
    got, want = getattr(ig, name)(ig.tensor(a), ig.tensor(b)), None
    if dtype == "f2":  # computed in float, rounded once
        want = BINARY[name](a.astype("f4"), b.astype("f4"))
        want = want if want.dtype == bool else want.astype("f2")
    else:
        want = BINARY[name](a, b)
    if name == "div" and dtype[0] == "i":
        want = a.astype("f4") / b.astype("f4")
    got = got.numpy()
    assert got.shape == want.shape and got.dtype == want.dtype
    if name == "remainder" and dtype[0] == "f":
        assert np.allclose(got, want, atol=1e-5)
    else:
        assert (got == want).all()


def test_pow():
    a = RNG.uniform(0.1, 3, (11,)).astype("f4")
    b = RNG.uniform(-3, 3, (4, 11)).astype("f4")
    close(ig.pow(ig.tensor(a), ig.tensor(b)).numpy(), np.power(a.astype("f8"), b), ig.F32, 20)
    close(ig.pow_scalar(ig.tensor(-a), 3).numpy(), (-a.astype("f8")) ** 3, ig.F32)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "minimum", "maximum", "eq", "lt"])
def test_scalar(name):
    f = getattr(ig, name + "_scalar")
    a = np.arange(-5, 6)
    assert (f(ig.tensor(a.astype("f4")), 2).numpy() == BINARY[name](a.astype("f4"), 2)).all()
    got = f(ig.tensor(a.astype("i4")), 0.5).numpy()  # becomes float
    assert np.allclose(got, BINARY[name](a, 0.5)) and got.dtype in (np.float32, bool)
    if name != "div":
        got = f(ig.tensor(a.astype("i8")), 3).numpy()
        assert (got == BINARY[name](a, 3)).all() and got.dtype in (np.int64, bool)


def test_promotion():
    kinds = [ig.F16, ig.F32, ig.BF16, ig.I8, ig.I32, ig.INT64, ig.BOOL]
    order = [ig.BOOL, ig.I8, ig.I32, ig.INT64]
    for a in kinds:
        for b in kinds:
            x = ig.cast(ig.full((2,), 1), a)
            y = ig.cast(ig.full((2,), 1), b)
            if a == b:
                want = a
            elif a in order and b in order:
                want = max(a, b, key=order.index)
            elif a in order or b in order:
                want = b if a in order else a
            else:
                want = ig.F32
            assert ig.add(x, y).type == (ig.I32 if want == ig.BOOL else want)


def test_casts_saturate():
    a = np.array([300.7, -300, 127.9, -1.5, np.nan, np.inf, -3e30], np.float32)
    x = ig.tensor(a)
    assert ig.cast(x, ig.I8).numpy().tolist() == [127, -128, 127, -1, 0, 127, -128]
    i = ig.cast(x, ig.I32).numpy().tolist()
    assert i == [300, -300, 127, -1, 0, 2**31 - 1, -(2**31)]
    assert ig.cast(x, ig.BOOL).numpy().tolist() == [True] * 7
    half = ig.cast(ig.tensor(np.array([1 / 3, 65519, 65520, 1e-8], "f4")), ig.F16).numpy()
    assert np.array_equal(half, np.array([1 / 3, 65519, np.inf, 1e-8], "f4").astype("f2"))


def test_where_and_clamp():
    c = RNG.integers(0, 2, (4, 1)).astype(bool)
    a, b = RNG.standard_normal((4, 5)).astype("f4"), np.float32(2)
    got = ig.where(ig.tensor(c), ig.tensor(a), ig.tensor(b)).numpy()
    assert (got == np.where(c, a, b)).all()
    got = ig.where(ig.tensor(c.astype("i4") * 3), ig.tensor(a), ig.tensor(b)).numpy()
    assert (got == np.where(c, a, b)).all()
    assert (ig.clamp(ig.tensor(a), -0.5, 0.25).numpy() == np.clip(a, -0.5, 0.25)).all()


SHAPES = [(), (1,), (3,), (4, 1), (1, 3), (4, 3), (2, 1, 1), (2, 4, 3), (5, 1, 1, 3), (0,), (2, 0, 3)]


def test_broadcasting_matrix():
    for sa in SHAPES:
        for sb in SHAPES:
            a, b = (np.asarray(RNG.random(s), "f4") for s in (sa, sb))
            try:
                want = a + b
            except ValueError:
                with pytest.raises(ig.Error) as e:
                    ig.add(ig.tensor(a), ig.tensor(b))
                assert e.value.code == ig.SHAPE
                for s in (sa, sb):
                    assert str(s) in str(e.value)
                continue
            got = ig.add(ig.tensor(a), ig.tensor(b)).numpy()
            assert got.shape == want.shape and (got == want).all()


def test_chain_is_one_kernel():
    x, s, b = (ig.tensor(RNG.standard_normal((33, 65)).astype("f4")) for _ in range(3))
    before = ig.statistics()
    ig.evaluate(ig.relu(ig.add(ig.mul(x, s), b)))
    after = ig.statistics()
    assert after.kernels - before.kernels == 1 and after.fused - before.fused == 2


def test_numbers_need_no_new_kernel():
    x = ig.tensor(np.ones(10, "f4"))
    ig.evaluate(ig.add_scalar(ig.mul_scalar(x, 2), 3))
    before = ig.statistics().compiled
    assert (ig.add_scalar(ig.mul_scalar(x, 5), -1).numpy() == 4).all()
    assert ig.statistics().compiled == before


STEPS_1 = ["neg", "abs", "square", "tanh", "relu", "sigmoid", "atan", "erf", "expm1", "exp2", "cosh", "isfinite",
           "gelu_erf", lambda x: ig.remainder_scalar(x, 0.75), lambda x: ig.floor_divide_scalar(x, 0.75),
           lambda x: ig.log1p(ig.abs(x)), lambda x: ig.leaky_relu(x, 0.1), lambda x: ig.elu(x, 0.5)]
STEPS_2 = ["add", "mul", "maximum", "sub", "atan2", "logical_xor"]


def step(f, *tensors):
    return f(*tensors) if callable(f) else getattr(ig, f)(*tensors)


@pytest.mark.parametrize("seed", range(5))
def test_fused_equals_unfused(seed):
    """Random graphs, once lazily and once with every value made at once: the same bits."""
    rng = np.random.default_rng(seed)
    kinds = [np.float32, np.float16][seed % 2:][:1] * 2 + [np.float32]
    inputs = [rng.standard_normal(s).astype(k)
              for s, k in zip([(6, 5), (5,), (6, 1)], kinds)]

    def build(force):
        choose = np.random.default_rng(seed + 100)
        pool = [ig.tensor(a) for a in inputs]
        for _ in range(32):
            if choose.integers(3) == 0:
                t = step(STEPS_1[choose.integers(len(STEPS_1))], pool[choose.integers(len(pool))])
            elif choose.integers(12) == 0:
                t = ig.sum(pool[choose.integers(len(pool))], -1, True)
            elif choose.integers(12) == 0:
                t = ig.transpose(pool[choose.integers(3)], 0, 0)
            else:
                a, b = (pool[int(i)] for i in choose.integers(0, len(pool), 2))
                t = step(STEPS_2[choose.integers(len(STEPS_2))], a, b)
            t = ig.clamp(t, -8, 8)
            if force:
                ig.evaluate(t)
            pool.append(t)
        return [t.numpy() for t in reversed(pool)]

    for a, b in zip(build(False), build(True)):
        assert a.dtype == b.dtype and a.tobytes() == b.tobytes()


def test_an_operand_made_on_the_way_to_another():
    """m is an operand of the sum behind the logarithm and of the last addition."""
    a = RNG.standard_normal((3, 5)).astype("f4")
    x = ig.tensor(a)
    m = ig.mul_scalar(ig.max(x, 1, True), 1)
    got = ig.add(ig.log(ig.sum(ig.exp(ig.sub(x, m)), 1, True)), m).numpy()
    assert np.allclose(got, np.log(np.exp(a.astype("f8")).sum(1, keepdims=True)), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["i1", "i4", "i8"])
def test_numbers_beyond_the_type(dtype):
    """Comparisons are exact, limits that nothing reaches are none, other operations become float."""
    limits = np.iinfo(dtype)
    a = np.array([limits.min, -1, 0, 1, limits.max], dtype)
    x, whole = ig.tensor(a), [int(v) for v in a]
    for v in [2.0**7, -2.0**7 - 1, 2.0**32, -2.0**32, 2.0**40, -2.0**40, 2.0**62, 2.0**31]:
        n = int(v)
        for name in ["eq", "ne", "lt", "le", "gt", "ge"]:
            got = getattr(ig, name + "_scalar")(x, v).numpy().tolist()
            assert got == [getattr(operator, name)(k, n) for k in whole], (name, v)
        keep = min(max(n, limits.min), limits.max)
        got = ig.minimum_scalar(x, v).numpy()
        assert got.dtype == dtype and got.tolist() == [min(k, keep) for k in whole], v
        got = ig.maximum_scalar(x, v).numpy()
        assert got.dtype == dtype and got.tolist() == [max(k, keep) for k in whole], v
    got = ig.clamp(x, -np.inf, np.inf).numpy()
    assert got.dtype == dtype and (got == a).all()
    got = ig.clamp(x, 0, 2.0**70).numpy()
    assert got.dtype == dtype and got.tolist() == [max(k, 0) for k in whole]
    got = ig.add_scalar(x, 2.0**100).numpy()
    assert got.dtype == "f4" and (got == np.float32(2.0**100)).all()


def test_floor_divide_of_the_infinite():
    a = np.array([1, -1, 0, 2.5, -2.5, np.inf, -np.inf, np.nan], "f4")
    for v in [np.inf, -np.inf, 2.0, -2.0, 0.0]:
        with np.errstate(all="ignore"):
            right = np.floor_divide(a, np.float32(v))
        assert np.array_equal(ig.floor_divide_scalar(ig.tensor(a), v).numpy(), right,
                              equal_nan=True), v


def test_long_chain():
    x = ig.tensor(np.ones(5, "f4"))
    y = x
    for _ in range(3000):
        y = ig.add(y, x)
    assert (y.numpy() == 3001).all()


def test_deep_graph_of_other_operations():
    """Recorded, not run: thousands of reductions and products deep."""
    x = ig.tensor(np.eye(3, dtype="f4"))
    y = x
    for i in range(5000):
        y = ig.matmul(y, x) if i % 2 else ig.mul(y, ig.sum(y, 0, True))
    assert (y.numpy() == np.eye(3)).all()
