# SPDX-License-Identifier: Apache-2.0
"""ingot.Tensor against NumPy: creation, operators, functions, types."""

import copy
import math
import pickle

import numpy as np
import pytest

import ingot as ig

FLOATS = ["float16", "float32", "bfloat16"]
INTS = ["int8", "uint8", "int16", "int32", "int64"]
# One rounding of the type after an operation in float: half an ulp, and as much for the argument.
TOLERANCE = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 3e-6}


def same(t, a, tolerance=1e-6):
    assert t.shape == np.shape(a), (t.shape, np.shape(a))
    np.testing.assert_allclose(t.numpy().astype(np.float64), np.asarray(a, np.float64),
                               rtol=tolerance, atol=tolerance)


@pytest.fixture
def rng():
    return np.random.default_rng(3)


# ---- Creation ----

@pytest.mark.parametrize("dtype", FLOATS + INTS + ["bool"])
def test_creation(dtype):
    assert ig.zeros(2, 3, dtype=dtype).tolist() == [[0] * 3] * 2
    assert ig.ones((2, 3), dtype=dtype).tolist() == [[1] * 3] * 2
    t = ig.full((2,), 1, dtype=dtype)
    assert t.dtype == dtype and t.dtype.name == dtype and t.itemsize == t.dtype.itemsize
    assert ig.zeros_like(t).dtype == t.dtype and ig.zeros_like(t, dtype="int32").dtype == ig.int32
    assert ig.tensor([[1, 0]], dtype=dtype).tolist() == [[1, 0]]
    assert ig.zeros((0, 3), dtype=dtype).tolist() == []


def test_types_of_python_data():
    assert ig.tensor(1.5).dtype == ig.float32 and ig.tensor(1).dtype == ig.int64
    assert ig.tensor(True).dtype == "bool" and ig.tensor([1, 2.5]).dtype == "float32"
    assert ig.tensor([True, 2]).dtype == ig.int64 and ig.tensor([]).shape == (0,)
    assert ig.tensor([[], []]).shape == (2, 0)
    assert ig.tensor([ig.tensor([1, 2]), [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert ig.tensor([ig.tensor(1.5), 2]).tolist() == [1.5, 2]
    assert ig.tensor(2**62 + 1).item() == 2**62 + 1
    assert ig.full((2,), 3).dtype == ig.int64 and ig.full((2,), 3.0).dtype == ig.float32
    assert ig.tensor(1, dtype=float).dtype == ig.float32
    assert ig.tensor(1.0, dtype=np.float16).dtype == ig.float16
    assert ig.tensor(1.0, dtype=np.dtype("int8")).dtype == ig.int8
    assert ig.float32 == "float32" and ig.float32 == np.float32 and ig.float32 != ig.float16
    assert repr(ig.float16) == "ingot.float16" and str(ig.float16) == "float16"


@pytest.mark.parametrize("kind, result", [
    ("f2", "float16"), ("f4", "float32"), ("f8", "float32"), ("i1", "int8"), ("u1", "uint8"),
    ("i2", "int16"), ("u2", "int32"), ("i4", "int32"), ("u4", "int64"), ("i8", "int64"),
    ("u8", "int64"), ("?", "bool")])
def test_from_numpy(kind, result, rng):
    a = rng.integers(0, 2, (3, 4, 5)).astype(kind)
    for b in (a, a[::2, ::-1], a.T, a[0, 0, 0], a[:0]):
        t = ig.tensor(b)
        assert t.dtype == result
        np.testing.assert_array_equal(t.numpy(), b)
        np.testing.assert_array_equal(np.asarray(t), b)


def test_default_dtype():
    assert ig.get_default_dtype() == ig.float32
    ig.set_default_dtype("float16")
    try:
        assert ig.tensor(1.5).dtype == ig.float16 and ig.rand(2).dtype == ig.float16
    finally:
        ig.set_default_dtype(ig.float32)


def test_ranges():
    same(ig.arange(5), np.arange(5))
    assert ig.arange(5).dtype == ig.int64 and ig.arange(5.0).dtype == ig.float32
    same(ig.arange(2, 11, 3), np.arange(2, 11, 3))
    same(ig.arange(1, 0, -0.25), np.arange(1, 0, -0.25))
    assert ig.arange(3, 1).shape == (0,)
    same(ig.linspace(-1, 1, 5), np.linspace(-1, 1, 5))
    same(ig.eye(3), np.eye(3))
    same(ig.eye(2, 4, 1), np.eye(2, 4, 1))
    same(ig.one_hot([[0, 2]], 3), np.eye(3)[[[0, 2]]])


def test_random():
    ig.manual_seed(5)
    a, b = ig.rand(1000), ig.rand(1000)
    ig.manual_seed(5)
    assert ig.array_equal(a, ig.rand(1000)) and not ig.array_equal(a, b)
    assert ig.array_equal(ig.randn(50, seed=1), ig.randn(50, seed=1))
    assert 0 <= a.min().item() and a.max().item() < 1 and abs(a.mean().item() - 0.5) < 0.05
    n = ig.randn(20000, seed=2)
    assert abs(n.mean().item()) < 0.03 and abs(n.std().item() - 1) < 0.03
    i = ig.randint(-3, 4, (5000,), seed=3)
    assert i.dtype == ig.int64 and set(i.tolist()) == set(range(-3, 4))
    u = ig.uniform((1000,), -2, -1, seed=4)
    assert -2 <= u.min().item() and u.max().item() <= -1


# ---- What it is ----

def test_properties():
    t = ig.arange(24.0).reshape(2, 3, 4)
    assert (t.shape, t.ndim, t.size, t.nbytes, len(t)) == ((2, 3, 4), 3, 24, 96, 2)
    assert t.strides == (12, 4, 1) and t.T.shape == (4, 3, 2) and t.mT.shape == (2, 4, 3)
    assert t.numel() == 24 and t.dim() == 3 and t.is_contiguous() and not t.T.is_contiguous()
    assert t.device == "metal" and str(t.device) == "metal:0" and t.device == ig.Device()
    assert t.device is ig.zeros(1).device and isinstance(t.device.name, str)
    assert [row.shape for row in t] == [(3, 4)] * 2
    assert not t.requires_grad and t.is_leaf and t.grad is None


def test_numbers():
    assert ig.tensor([[2.5]]).item() == 2.5 and float(ig.tensor(3)) == 3.0
    assert int(ig.tensor(3.7)) == 3 and bool(ig.tensor(0.5)) and not ig.tensor([0])
    assert [10, 20, 30][ig.tensor(1)] == 20 and f"{ig.tensor(1.25):.1f}" == "1.2"
    assert ig.tensor(float("inf")).item() == math.inf and math.isnan(ig.tensor(math.nan).item())
    for dtype in FLOATS:
        values = [0.0, -0.0, 1.0, -2.5, 0.000030517578125, math.inf, -math.inf, 6.103515625e-05]
        assert ig.tensor(values, dtype=dtype).tolist() == values
    assert ig.tensor([5.960464477539063e-08], dtype="float16").item() == 5.960464477539063e-08


def test_repr():
    assert repr(ig.tensor([1.0, 2.5])) == "tensor([    1., 2.5000])"
    assert repr(ig.tensor([[1, 2], [3, 4]])) == "tensor([[1, 2],\n        [3, 4]])"
    assert repr(ig.tensor(True)) == "tensor(True)"
    assert "dtype=float16" in repr(ig.zeros(2, dtype="float16"))
    assert "requires_grad=True" in repr(ig.zeros(2).requires_grad_())
    text = repr(ig.zeros(100, 100))
    assert "..." in text and len(text) < 600
    assert "shape=(0, 3)" in repr(ig.zeros(0, 3))


def test_copies():
    t = ig.randn(2, 3, dtype="bfloat16").requires_grad_()
    for other in (copy.copy(t), copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
        assert ig.array_equal(t.detach(), other.detach()) and other.dtype == t.dtype
        assert other.requires_grad and other is not t
    assert pickle.loads(pickle.dumps(ig.float16)) is ig.float16
    assert pickle.loads(pickle.dumps(ig.bool_)) is ig.bool_
    for t in (ig.zeros(0, 2), ig.ones(2, 3), ig.tensor(3), ig.arange(6).reshape(2, 3).T,
              ig.ones(2, dtype="float16"), ig.tensor([True, False])[::-1]):
        other = pickle.loads(pickle.dumps(t))
        assert other.shape == t.shape and other.dtype == t.dtype and other.tolist() == t.tolist()


# ---- Operators ----

OPERATORS = ["__add__", "__sub__", "__mul__", "__truediv__", "__floordiv__", "__mod__", "__pow__",
             "__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__"]
SHAPES = [((3, 4), (3, 4)), ((3, 1), (1, 4)), ((), (2, 3)), ((2, 1, 3), (4, 1)), ((0, 3), (1, 3))]


# Every new expression is a kernel to compile, so not all is combined with all: what kernels
# compute is tested where they are made (tests/tensor).
@pytest.mark.parametrize("name, shapes", [
    *((name, SHAPES[0]) for name in OPERATORS), *(("__sub__", shapes) for shapes in SHAPES[1:])],
    ids=str)
def test_operators(name, shapes, rng):
    a, b = (rng.uniform(0.5, 4, shape).astype(np.float32) for shape in shapes)
    same(getattr(ig.tensor(a), name)(ig.tensor(b)), getattr(a.astype("f8"), name)(b.astype("f8")),
         2e-5)


@pytest.mark.parametrize("name", OPERATORS)
def test_numbers_on_both_sides(name, rng):
    a = rng.uniform(0.5, 4, (3, 5)).astype(np.float32)
    reverse = {"__lt__": "__gt__", "__gt__": "__lt__", "__le__": "__ge__", "__ge__": "__le__",
               "__eq__": "__eq__", "__ne__": "__ne__"}.get(name, name.replace("__", "__r", 1))
    for number in (2, 2.5):
        same(getattr(ig.tensor(a), name)(number), getattr(a.astype("f8"), name)(number), 2e-5)
        same(getattr(ig.tensor(a), reverse)(number), getattr(a.astype("f8"), reverse)(number), 2e-5)


@pytest.mark.parametrize("name, dtype", [
    ("__add__", "int8"), ("__sub__", "int32"), ("__mul__", "int64"), ("__floordiv__", "int8"),
    ("__floordiv__", "int64"), ("__mod__", "int32")])
def test_whole_numbers(name, dtype, rng):
    a = rng.integers(-9, 10, (4, 5)).astype(dtype)
    b = rng.integers(1, 5, (4, 5)).astype(dtype)
    for x, y in ((a, b), (a, -b)):
        t = getattr(ig.tensor(x), name)(ig.tensor(y))
        assert t.dtype == dtype
        np.testing.assert_array_equal(t.numpy(), getattr(x, name)(y))
    t = getattr(ig.tensor(a), name)(3)
    assert t.dtype == dtype
    np.testing.assert_array_equal(t.numpy(), getattr(a, name)(np.dtype(dtype).type(3)))


def test_exact_whole_numbers():
    big = 2**53 + 1
    assert (ig.tensor(big) + 2).item() == big + 2 and (ig.tensor(1) + big).item() == big + 1
    assert (ig.tensor(2**62) // 3).item() == 2**62 // 3
    assert (ig.tensor(-7) // 2).item() == -4 and (ig.tensor(-7) % 3).item() == 2
    assert (ig.tensor(3) ** 4).item() == 81 and (ig.tensor(3) ** 4).dtype == ig.int64
    assert (ig.tensor([2**31 - 1], dtype="int32") > 2**40).item() is False
    assert divmod(ig.tensor(7), 3)[0].item() == 2 and divmod(7, ig.tensor(3))[1].item() == 1


def test_exact_fills():
    """int64 holds what a double does not tell apart."""
    big = 2**53 + 1
    x = ig.zeros(2, dtype="int64")
    assert ig.full_like(x, big).tolist() == [big, big]
    assert x.masked_fill(ig.tensor([True, False]), -big).tolist() == [-big, 0]
    assert x.fill_(big).tolist() == [big, big]
    assert ig.arange(big, big + 3).tolist() == [big, big + 1, big + 2]
    assert ig.arange(big + 4, big, -3).tolist() == [big + 4, big + 1]
    assert ig.arange(big, 0).tolist() == []
    assert ig.arange(-2**63, -2**63 + 2).tolist() == [-2**63, -2**63 + 1]
    with pytest.raises(OverflowError):
        x.fill_(2**63)
    with pytest.raises(ValueError):
        ig.zeros(2, dtype="int64").masked_fill(ig.ones(3, 2) > 0, big)
    y = ig.tensor([5, -5], dtype="int32")
    assert y.clamp(max=2**40).tolist() == [5, -5]
    assert ig.minimum(y, 2**40).tolist() == [5, -5]


def test_weak_numbers():
    for dtype in FLOATS:
        assert (ig.ones(2, dtype=dtype) * 2.5).dtype == dtype
        assert (1 - ig.ones(2, dtype=dtype)).dtype == dtype
    assert (ig.ones(2, dtype="int32") + 1.0).dtype == ig.float32
    assert (ig.ones(2, dtype="int32") + True).dtype == ig.int32
    assert (ig.ones(2, dtype="bool") + 1).dtype == ig.int64
    assert (ig.ones(2, dtype="int32") / 2).dtype == ig.float32
    assert (ig.ones(2, dtype="float16") + ig.ones(2, dtype="float32")).dtype == ig.float32
    assert (ig.ones(2, dtype="float16") + ig.ones(2, dtype="bfloat16")).dtype == ig.float32
    assert (ig.ones(2, dtype="int8") + ig.ones(2, dtype="int64")).dtype == ig.int64
    with pytest.raises(OverflowError):
        ig.ones(2, dtype="int8") + 1000
    with pytest.raises(OverflowError):
        ig.ones(2) + 10**400
    with pytest.raises(OverflowError):
        ig.ones(2, dtype="int64") + 2**70


def test_masks():
    a, b = ig.tensor([True, True, False, False]), ig.tensor([True, False, True, False])
    assert (a & b).tolist() == [True, False, False, False]
    assert (a | b).tolist() == [True, True, True, False]
    assert (a ^ b).tolist() == [False, True, True, False] and (~a).tolist() == (a == 0).tolist()
    assert (a & True).tolist() == a.tolist()
    assert (a & 3).tolist() == [1, 1, 0, 0] and (a & 3).dtype == ig.int64
    for operation in (lambda: a & 1.0, lambda: a << 1.0, lambda: a << b, lambda: ~ig.tensor([1.0]),
                      lambda: ig.ones(2) | 1):
        with pytest.raises(ig.DTypeError, match="bool|float32"):
            operation()


@pytest.mark.parametrize("dtype", INTS)
def test_bits(dtype, rng):
    info = np.iinfo(dtype)
    a = rng.integers(info.min, info.max, (3, 67), dtype=dtype)
    b = rng.integers(info.min, info.max, 67, dtype=dtype)
    n = rng.integers(0, 8 * a.itemsize - 1, 67, dtype=dtype)
    t = ig.tensor(a)
    for got, want in ((t & b, a & b), (t | b, a | b), (t ^ b, a ^ b), (~t, ~a), (t << n, a << n),
                      (t >> n, a >> n), (t & 5, a & 5), (5 ^ t, 5 ^ a), (t >> 2, a >> 2),
                      (t << 1, a << 1), (t + b, a + b), (t * b, a * b), (t - b, a - b), (-t, -a)):
        assert got.dtype == dtype
        np.testing.assert_array_equal(got.numpy(), want)
    u = t
    u &= 7
    u |= b
    u ^= 1
    u <<= 1
    u >>= 1
    np.testing.assert_array_equal(t.numpy(), ((a & 7 | b) ^ 1) << 1 >> 1)
    assert (ig.tensor([1, -5], dtype="int32") << 40).tolist() == [0, 0]
    assert (ig.tensor([1, -5], dtype="int32") >> 40).tolist() == [0, -1]
    assert ig.bitwise_not(t).tolist() == ig.invert(t).tolist() == (~t).tolist()


# As PyTorch's: the first type that holds both.
@pytest.mark.parametrize("a, b, both", [
    ("uint8", "int8", "int16"), ("uint8", "int16", "int16"), ("uint8", "uint8", "uint8"),
    ("int8", "int16", "int16"), ("int16", "int32", "int32"), ("uint8", "int64", "int64"),
    ("uint8", "bool", "uint8"), ("int16", "bool", "int16"), ("uint8", "float16", "float16"),
    ("int16", "bfloat16", "bfloat16"), ("int16", "float32", "float32")])
def test_promotion(a, b, both):
    for x, y in ((a, b), (b, a)):
        assert (ig.ones(3, dtype=x) + ig.ones(3, dtype=y)).dtype == both


def test_small_integers():
    t = ig.tensor([-3.9, 1.5, 255.0, 256.0, 1e9, math.nan])
    assert t.astype("uint8").tolist() == [0, 1, 255, 255, 255, 0]
    assert t.astype("int16").tolist() == [-3, 1, 255, 256, 32767, 0]
    whole = ig.tensor([-1, 256, 70000])
    assert whole.astype("uint8").tolist() == [255, 0, 112]
    assert whole.astype("int16").tolist() == [-1, 256, 4464]
    u = ig.tensor([200, 100], dtype="uint8")
    assert u.sum().item() == 300 and u.sum().dtype == ig.int64
    assert u.max().dtype == ig.uint8 and u.sort()[0].tolist() == [100, 200]
    assert (u.mean().item(), u.mean().dtype) == (150.0, ig.float32)
    assert (u > 255).tolist() == [False, False] and (u == -1).tolist() == [False, False]
    assert u.clamp(-5, 150).tolist() == [150, 100]
    assert ig.tensor([10, 20, 30])[ig.tensor([2, 0], dtype="uint8")].tolist() == [30, 10]
    for bad in (256, -1):
        with pytest.raises(OverflowError, match="uint8"):
            u + bad
    with pytest.raises(OverflowError, match="int16"):
        ig.ones(2, dtype="int16") * 40000
    with pytest.raises(ig.DTypeError, match="uint16"):
        ig.ones(2, dtype="uint16")


def test_numpy_beside_tensors(rng):
    a = rng.random((2, 3)).astype("f4")
    t = ig.tensor(a)
    for result in (a + t, t + a, a * t, a - t, a / t, a @ t.T, t @ a.T, a < t, np.float32(2) * t,
                   np.float64(2) * t, t * np.int64(2), [1.0, 2.0, 3.0] + t):
        assert isinstance(result, ig.Tensor)
    same(a - t + 1, np.ones((2, 3)))
    assert (np.float64(2) * t).dtype == ig.float32
    assert isinstance(np.sin(t), ig.Tensor)
    np.testing.assert_allclose(np.add.reduce(t, None), a.sum(), rtol=1e-6)
    assert (t == None) is False and (t != "x") is True  # noqa: E711


def test_in_place():
    t = ig.tensor([1.0, 2.0])
    other, view = t, t[:1]
    t += 1
    t *= ig.tensor([2.0, 3.0])
    assert other is t and other.tolist() == [4, 9] and view.tolist() == [4]
    t -= [1, 1]
    t /= 2
    t **= 2
    assert t.tolist() == [2.25, 16]
    i = ig.tensor([5, 7])
    i //= 2
    i %= 2
    assert i.tolist() == [0, 1]
    with pytest.raises(ig.DTypeError):
        i += 0.5
    with pytest.raises(ig.ShapeError):
        i += [[1], [2]]
    half = ig.ones(2, dtype="float16")
    half += ig.ones(2, dtype="float32")
    assert half.dtype == ig.float16 and half.tolist() == [2, 2]
    assert t.copy_([7, 8]).tolist() == [7, 8] and t.fill_(3).tolist() == [3, 3]
    assert t.zero_().tolist() == [0, 0]
    t.data = [1, 2]
    assert t.tolist() == [1, 2]


# ---- Functions ----

UNARY = {"neg": np.negative, "abs": np.abs, "sign": np.sign, "floor": np.floor, "ceil": np.ceil,
         "round": np.round, "trunc": np.trunc, "square": np.square, "reciprocal": np.reciprocal,
         "sqrt": lambda x: np.sqrt(np.abs(x)), "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1,
         "sin": np.sin, "cos": np.cos, "tan": np.tan, "sinh": np.sinh, "cosh": np.cosh,
         "tanh": np.tanh, "atan": np.arctan, "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
         "softplus": lambda x: np.log1p(np.exp(x)), "relu": lambda x: np.maximum(x, 0),
         "silu": lambda x: x / (1 + np.exp(-x)), "logical_not": np.logical_not,
         "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}


@pytest.mark.parametrize("name, dtype", [
    (name, FLOATS[i % 3]) for i, name in enumerate(UNARY)])
def test_unary(name, dtype, rng):
    t = ig.tensor(rng.uniform(-2, 2, (5, 7)), dtype=dtype)
    if name == "sqrt":
        t = t.abs()
    exact = UNARY[name](t.numpy().astype("f8"))
    for result in (getattr(ig, name)(t), getattr(t, name)()):
        same(result, exact, TOLERANCE[dtype] * (4 if name in ("tan", "reciprocal") else 1))


@pytest.mark.parametrize("name", ["log", "log2", "log10", "log1p", "rsqrt"])
def test_logarithms(name, rng):
    a = rng.uniform(0.1, 9, (4, 4)).astype("f4")
    exact = 1 / np.sqrt(a.astype("f8")) if name == "rsqrt" else getattr(np, name)(a.astype("f8"))
    same(getattr(ig, name)(a), exact, 5e-6)


def test_more_functions(rng):
    a, b = rng.normal(size=(2, 3, 4)).astype("f4")
    x, y = ig.tensor(a), ig.tensor(b)
    same(ig.minimum(x, y), np.minimum(a, b))
    same(ig.maximum(x, 0.25), np.maximum(a, 0.25))
    same(ig.where(x > 0, x, 0), np.where(a > 0, a, 0))
    same(ig.where(x > 0, 1.0, y), np.where(a > 0, 1, b))
    same(x.clamp(-0.5, 0.5), a.clip(-0.5, 0.5))
    same(x.clip(min=0), a.clip(0, None))
    same(ig.atan2(x, y), np.arctan2(a, b), 1e-5)
    same(x.masked_fill(x < 0, 7), np.where(a < 0, 7, a))
    same(ig.outer([1, 2], [3, 4]), np.outer([1, 2], [3, 4]))
    same(ig.leaky_relu(x, 0.1), np.where(a > 0, a, 0.1 * a))
    same(ig.elu(x), np.where(a > 0, a, np.expm1(a)), 1e-5)
    same(x.tril(), np.tril(a))
    same(x.triu(1), np.triu(a, 1))
    same(ig.add(x, y), a + b)
    same(ig.sub([1, 2], [3, 4]), [-2, -2])
    assert ig.eq(x, x).all().item() and x.dot(y.T).shape == (3, 3)
    assert ig.allclose(x, x + 1e-9) and not ig.allclose(x, y)
    assert ig.gelu(x, "none").shape == x.shape


REDUCTIONS = ["sum", "mean", "prod", "amax", "amin", "any", "all", "count_nonzero", "var", "std"]


AXES = [None, 0, 1, -1, (0, 2), (1, 2), (0, 1, 2), ()]


@pytest.mark.parametrize("name, axis, keepdim", [
    *(("sum", axis, keepdim) for axis in AXES for keepdim in (False, True)),
    *((name, axis, bool(i % 2)) for i, name in enumerate(REDUCTIONS) for axis in (1, (0, 2)))],
    ids=str)
def test_reductions(name, axis, keepdim, rng):
    a = rng.normal(size=(3, 4, 5)).astype("f4")
    if name in ("any", "all", "count_nonzero"):
        a = (a > 0.5).astype("f4")
    t = getattr(ig, name)(ig.tensor(a), axis=axis, keepdim=keepdim)
    exact = (np.count_nonzero(a, axis=axis, keepdims=keepdim) if name == "count_nonzero"
             else getattr(a.astype("f8"), name.removeprefix("a") if name in ("amax", "amin") else name)(
                 axis=axis, keepdims=keepdim, **({"ddof": 1} if name in ("var", "std") else {})))
    same(t, exact, 1e-5)
    same(getattr(ig.tensor(a), name)(dim=axis, keepdims=keepdim), exact, 1e-5)


def test_reductions_of_others(rng):
    i = rng.integers(-50, 50, (3, 4)).astype("i1")
    assert ig.tensor(i).sum().item() == int(i.astype("i8").sum())
    assert ig.tensor(i).sum().dtype == ig.int64 and ig.tensor(i).mean().dtype == ig.float32
    assert ig.tensor(i).argmax().item() == i.argmax()
    assert ig.tensor(i).argmin(axis=1, keepdim=True).tolist() == i.argmin(1)[:, None].tolist()
    h = ig.ones(4096, dtype="float16")
    assert h.sum().item() == 4096  # summed in float
    a = rng.normal(size=(3, 4)).astype("f4")
    same(ig.tensor(a).norm(), np.linalg.norm(a), 1e-5)
    same(ig.tensor(a).norm(1, axis=1), np.abs(a).sum(1), 1e-5)
    same(ig.tensor(a).std(correction=0), a.std(), 1e-5)
    same(ig.tensor(a).logsumexp(axis=1), np.log(np.exp(a).sum(1)), 1e-5)
    same(ig.softmax(a, axis=0), np.exp(a) / np.exp(a).sum(0), 1e-5)
    same(ig.log_softmax(a), a - np.log(np.exp(a).sum(1, keepdims=True)), 1e-5)
    same(ig.cumsum(a, axis=1), a.cumsum(1), 1e-5)
    same(ig.cumprod(a, axis=0), a.cumprod(0), 1e-5)


def test_order(rng):
    a = rng.normal(size=(4, 9)).astype("f4")
    values, places = ig.tensor(a).sort(axis=1)
    same(values, np.sort(a, 1))
    assert places.tolist() == np.argsort(a, 1, kind="stable").tolist()
    values, places = ig.topk(a, 3)
    same(values, -np.sort(-a, 1)[:, :3])
    same(ig.take_along_axis(a, places, 1), values.numpy())
    assert ig.argsort(a, descending=True).tolist() == np.argsort(-a, 1, kind="stable").tolist()


# ---- Shapes ----

def test_views(rng):
    a = rng.normal(size=(2, 3, 4)).astype("f4")
    t = ig.tensor(a)
    same(t.reshape(6, 4), a.reshape(6, 4))
    same(t.reshape((-1, 2)), a.reshape(-1, 2))
    same(t.view(4, -1), a.reshape(4, 6))
    same(t.T.reshape(-1), a.T.reshape(-1))
    same(t.permute(2, 0, 1), a.transpose(2, 0, 1))
    same(t.transpose(0, 2), a.swapaxes(0, 2))
    same(t.transpose(), a.T)
    same(t.transpose((1, 0, 2)), a.transpose(1, 0, 2))
    same(t[0].transpose(0, 1), a[0].T)
    same(t.swapaxes(-1, 0), a.swapaxes(-1, 0))
    same(t.movedim(0, 2), np.moveaxis(a, 0, 2))
    same(t.flatten(), a.ravel())
    same(t.flatten(1), a.reshape(2, 12))
    same(t.ravel(), a.ravel())
    same(t.unsqueeze(1), a[:, None])
    same(t.unsqueeze(-1).squeeze(-1), a)
    same(t[:1].squeeze(), a[0])
    same(t[:, :1].expand(2, 3, 4), np.broadcast_to(a[:, :1], (2, 3, 4)))
    same(t[:1].expand(5, -1, -1), np.broadcast_to(a[:1], (5, 3, 4)))
    same(ig.broadcast_to(t[0, 0], (3, 4)), np.broadcast_to(a[0, 0], (3, 4)))
    same(t.diagonal(0, 1, 2), np.diagonal(a, 0, 1, 2))
    assert ig.tensor(3.0).flatten().shape == (1,)


def test_together_and_apart(rng):
    a, b = rng.normal(size=(2, 3, 4)).astype("f4")
    x, y = ig.tensor(a), ig.tensor(b)
    same(ig.cat([x, y], 1), np.concatenate([a, b], 1))
    same(ig.concat((x, y)), np.concatenate([a, b]))
    same(ig.stack([x, y], axis=2), np.stack([a, b], 2))
    for pieces, exact in ((x.split(2, 1), np.split(a, 2, 1)), (x.chunk(2, 1), np.split(a, 2, 1)),
                          (x.split([1, 3], 1), np.split(a, [1], 1)), (x.unstack(0), list(a)),
                          (x.split(0), list(a[:, None])), (x.unbind(1), list(a.T))):
        assert len(pieces) == len(exact)
        for piece, e in zip(pieces, exact):
            same(piece, e)
    same(x.pad(1, 2, 1, 5.0), np.pad(a, ((0, 0), (2, 1)), constant_values=5))
    same(x.flip(0), a[::-1])
    same(x.roll(1, 1), np.roll(a, 1, 1))
    same(x.tile(2, 1), np.tile(a, (2, 1)))
    same(x.repeat_interleave(2, 0), np.repeat(a, 2, 0))
    for t, e in zip(ig.meshgrid([1, 2], [3, 4, 5]), np.meshgrid([1, 2], [3, 4, 5])):
        same(t, e)
    for t, e in zip(ig.nonzero(x > 0), np.nonzero(a > 0)):
        same(t, e)


def test_products(rng):
    for s, r in (((3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)),
                 ((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (5, 4, 2)), ((0, 4), (4, 3))):
        a, b = rng.normal(size=s).astype("f4"), rng.normal(size=r).astype("f4")
        same(ig.tensor(a) @ ig.tensor(b), a @ b, 1e-5)
        same(ig.matmul(a, b), a @ b, 1e-5)
    a, b = rng.normal(size=(3, 4)).astype("f4"), rng.normal(size=(4, 5)).astype("f4")
    same(ig.einsum("ij,jk->ki", a, b), (a @ b).T, 1e-5)
    same(ig.einsum("ij->", a), a.sum(), 1e-5)


def test_by_index(rng):
    a = rng.normal(size=(5, 4)).astype("f4")
    t = ig.tensor(a)
    same(t.index_select(0, [3, 1]), a[[3, 1]])
    same(t.take([1, -1], 1), a[:, [1, -1]])
    same(t.take([0, 19]), a.take([0, 19]))
    i = rng.integers(0, 5, (3, 4))
    same(t.gather(0, i), np.take_along_axis(a, i, 0))
    exact = a.copy()
    np.add.at(exact, (i, np.arange(4)), 1)
    same(t.scatter_add(0, i, np.ones((3, 4), "f4")), exact)
    same(ig.embedding(t, [[0, 4], [2, 2]]), a[[[0, 4], [2, 2]]])
    exact = a.copy()
    exact[[1, 3]] = 0
    same(t.index_copy(0, [1, 3], ig.zeros(2, 4)), exact)
    exact = a.copy()
    exact[[1, 3]] += 1
    same(t.index_add(0, [1, 3], ig.ones(2, 4)), exact)


ALL = FLOATS + INTS + ["bool"]


@pytest.mark.parametrize("a, b", [*zip(ALL, ALL[1:] + ALL[:1]), *zip(ALL, ALL)])
def test_casts(a, b):
    t = ig.tensor([0, 1, 1, 0], dtype=a)
    for cast in (t.astype(b), t.to(b), ig.tensor(t, dtype=b)):
        assert cast.dtype == b and cast.tolist() == [0, 1, 1, 0]


def test_to():
    t = ig.ones(2)
    assert t.to("float32") is t and t.to("metal") is t and t.to(ig.Device()) is t
    assert t.to("metal:0", "float16").dtype == ig.float16 and t.cpu() is t
    assert t.half().dtype == ig.float16 and t.long().dtype == ig.int64 and t.int().dtype == ig.int32
    assert t.bool().dtype == ig.bool_ and t.half().float().dtype == ig.float32
    assert t.bfloat16().numpy().dtype == np.float32


# ---- Devices ----

def test_statistics():
    device = ig.default_device()
    before = device.statistics
    x = ig.ones(1000)
    ((x * 2 + 1).relu() - 3).wait()
    after = device.statistics
    assert after["kernels"] == before["kernels"] + 1, "one chain is one kernel"
    assert after["fused"] > before["fused"]
    ig.synchronize()
    assert ig.pool_statistics().keys() == {
        "total_pooled", "size_classes", "total_memory", "allocation_count", "reuse_count",
        "eviction_count", "live_memory"}


def test_pool():
    pool = ig.pool()
    pool.clear()
    assert pool.total_pooled == 0 and pool.total_memory == 0 and pool.size_classes == 0
    live = pool.live_memory
    x = ig.tensor(np.zeros(100000, "f4"))
    assert pool.live_memory >= live + 400000
    del x
    assert pool.live_memory == live and pool.total_pooled == 1 and pool.total_memory >= 400000
    count = pool.reuse_count
    x = ig.tensor(np.zeros(100000, "f4"))
    assert pool.reuse_count == count + 1
    del x
    pool.clear_size(400000)
    assert pool.total_pooled == 0
    x = ig.tensor(np.zeros(100000, "f4"))
    del x
    pool.shrink_to_fit(0)
    assert pool.total_memory == 0
    assert 0 <= pool.reuse_rate <= 1
    capacity = pool.capacity
    pool.capacity = 3
    assert pool.capacity == 3
    pool.capacity = capacity
    pool.set_memory_limit(pool.live_memory + 1000000)
    try:
        with pytest.raises(MemoryError):
            ig.tensor(np.zeros(1000000, "f4"))
    finally:
        pool.set_memory_limit(None)


def test_finite():
    ig.ones(3).check_finite()
    with pytest.raises(ig.NotFiniteError, match=r"\(1, 2\)"):
        ig.where(ig.arange(6).reshape(2, 3) == 5, math.inf, 0.0).check_finite()
