# SPDX-License-Identifier: Apache-2.0
"""Operations made of others: values against NumPy in float64, gradients, errors."""

import gc
import math

import numpy as np
import pytest
from test_autograd import check, span

import ig

RNG = np.random.default_rng(31)
A = span(-2, 2, 17, 5)
erf = np.vectorize(math.erf)

# What is computed, NumPy's function, and the input; float sums of at most 113 numbers of size 2 lose
# a few units of 1e-7 relative, so 2e-5 leaves room for the functions on top.
ROWS = {
    "var": (lambda x: ig.var(x, 0, 1, False), lambda x: x.var(0, ddof=1)),
    "var_all": (lambda x: ig.var(x, ig.ALL, 0, False), lambda x: x.var()),
    "std": (lambda x: ig.std(x, 1, 0, True), lambda x: x.std(1, keepdims=True)),
    "norm2": (lambda x: ig.norm(x, 2, 1, False), lambda x: np.linalg.norm(x, 2, 1)),
    "norm2_all": (lambda x: ig.norm(x, 2, ig.ALL, False), lambda x: np.sqrt((x * x).sum())),
    "norm1": (lambda x: ig.norm(x, 1, 0, True), lambda x: np.abs(x).sum(0, keepdims=True)),
    "norm3": (lambda x: ig.norm(x, 3, 1, False), lambda x: np.linalg.norm(x, 3, 1)),
    "norm_inf": (lambda x: ig.norm(x, math.inf, 1, False), lambda x: np.abs(x).max(1)),
    "norm_-inf": (lambda x: ig.norm(x, -math.inf, 0, False), lambda x: np.abs(x).min(0)),
    "logsumexp": (lambda x: ig.logsumexp(x, 1, False), lambda x: np.log(np.exp(x).sum(1))),
    "logsumexp_all": (lambda x: ig.logsumexp(x, ig.ALL, False), lambda x: np.log(np.exp(x).sum())),
    "mean_axes": (lambda x: ig.mean_axes(x, [0, 1]), lambda x: x.mean()),
    "tril": (lambda x: ig.tril(x, 1), lambda x: np.tril(x, 1)),
    "triu": (lambda x: ig.triu(x, -2), lambda x: np.triu(x, -2)),
    "flip": (lambda x: ig.flip(x, 0), lambda x: np.flip(x, 0)),
    "flip_view": (lambda x: ig.flip(ig.transpose(x, 0, 1), 1), lambda x: np.flip(x.T, 1)),
    "roll": (lambda x: ig.roll(x, 3, 0), lambda x: np.roll(x, 3, 0)),
    "roll_back": (lambda x: ig.roll(x, -7, 1), lambda x: np.roll(x, -7, 1)),
    "tile": (lambda x: ig.tile(x, 2, 1, 3), lambda x: np.tile(x, (2, 1, 3))),
    "tile_less": (lambda x: ig.tile(x, 2), lambda x: np.tile(x, 2)),
    "repeat": (lambda x: ig.repeat_interleave(x, 3, 1), lambda x: np.repeat(x, 3, 1)),
    "diagonal": (lambda x: ig.diagonal(x, 0, 0, 1), lambda x: np.diagonal(x)),
    "diagonal_up": (lambda x: ig.diagonal(x, 2, 1, 0), lambda x: np.diagonal(x, 2, 1, 0)),
    "diagonal_none": (lambda x: ig.diagonal(x, 9, 0, 1), lambda x: np.diagonal(x, 9)),
    "leaky_relu": (lambda x: ig.leaky_relu(x, 0.1), lambda x: np.where(x > 0, x, 0.1 * x)),
    "elu": (lambda x: ig.elu(x, 0.7), lambda x: np.where(x > 0, x, 0.7 * np.expm1(x))),
    "gelu_erf": (ig.gelu_erf, lambda x: 0.5 * x * (1 + erf(x / np.sqrt(2)))),
    "exp2": (ig.exp2, np.exp2), "expm1": (ig.expm1, np.expm1), "atan": (ig.atan, np.arctan),
    "sinh": (ig.sinh, np.sinh), "cosh": (ig.cosh, np.cosh), "erf": (ig.erf, erf),
    "log2": (lambda x: ig.log2(ig.add_scalar(x, 3)), lambda x: np.log2(x + 3)),
    "log10": (lambda x: ig.log10(ig.add_scalar(x, 3)), lambda x: np.log10(x + 3)),
    "log1p": (lambda x: ig.log1p(ig.add_scalar(x, 2.5)), lambda x: np.log1p(x + 2.5)),
    "asin": (lambda x: ig.asin(ig.mul_scalar(x, 0.45)), lambda x: np.arcsin(x * 0.45)),
    "acos": (lambda x: ig.acos(ig.mul_scalar(x, 0.45)), lambda x: np.arccos(x * 0.45)),
    "remainder": (lambda x: ig.remainder_scalar(x, 0.7), lambda x: np.remainder(x, 0.7)),
    "floor_divide": (lambda x: ig.floor_divide_scalar(x, 0.7), lambda x: np.floor_divide(x, 0.7)),
}


@pytest.mark.parametrize("name", ROWS)
def test_values_and_gradients(name):
    f, reference = ROWS[name]
    a = A
    want = np.asarray(reference(a.astype("f8")))
    got = f(ig.tensor(a)).numpy()
    assert got.shape == want.shape and got.dtype == np.float32
    assert np.allclose(got, want, rtol=2e-5, atol=2e-5), np.abs(got - want).max()
    turned = ig.transpose(ig.tensor(np.ascontiguousarray(a.T)), 0, 1)  # not contiguous
    assert np.array_equal(f(turned).numpy(), got) or np.allclose(f(turned).numpy(), got, rtol=1e-6)
    half = f(ig.tensor(a.astype("f2")))
    assert half.type == ig.F16
    if name not in ("remainder", "floor_divide"):  # they jump
        want = reference(a.astype("f2").astype("f8"))
        assert np.allclose(half.numpy(), want, rtol=6e-3, atol=6e-3)
    check(f, reference, a)


def test_atan2():
    check(ig.atan2, np.arctan2, span(-2, 2, 3, 7), span(0.5, 2, 7))


def test_second_derivatives():
    for f in (ig.erf, ig.log1p, ig.expm1, lambda x: ig.var(x, 0, 0, False), ig.sinh,
              lambda x: ig.batch_norm(x), lambda x: ig.logsumexp(x, 0, False)):
        x = ig.leaf(span(0.2, 0.8, 4, 3))

        def slope(t, f=f):
            y = ig.sum(ig.square(f(t)), ig.ALL, False)
            return ig.sum(ig.square(ig.grad_of([y], [t], create=True)[0]), ig.ALL, False)
        y = slope(x)
        got = ig.grad_of([y], [x])[0].numpy()
        a, step = x.numpy(), 1e-3
        for i in [(0, 0), (3, 1)]:
            def at(d, i=i):
                b = a.copy()
                b[i] += d
                return ig.item(slope(ig.leaf(b)))
            want = (at(step) - at(-step)) / (2 * step)
            assert abs(got[i] - want) < 2e-2 * max(1, abs(want)), (f, got[i], want)


def test_erf_and_its_like_at_the_ends():
    x = np.array([0, -0.0, 1e-7, -3e-5, 0.999, 1, 1.001, 3.99, 4.01, 30, -30, np.inf, -np.inf, np.nan], "f4")
    want = erf(x.astype("f8"))
    assert np.allclose(ig.erf(ig.tensor(x)).numpy(), want, rtol=3e-7, atol=1e-12, equal_nan=True)
    with np.errstate(all="ignore"):
        assert np.allclose(ig.expm1(ig.tensor(x)).numpy(), np.expm1(x.astype("f8")), rtol=1e-6, equal_nan=True)
        x = np.array([0, 1e-9, -1e-7, 3e-4, -1, -2, np.inf, 1e30, np.nan], "f4")
        assert np.allclose(ig.log1p(ig.tensor(x)).numpy(), np.log1p(x.astype("f8")), rtol=1e-6, equal_nan=True)


def test_truth():
    a = RNG.integers(0, 2, (17, 29)) * RNG.integers(0, 2, (17, 1))
    a[3] = 1
    for dtype in ("f4", "i4", "i8", "?", "f2"):
        x = ig.tensor(a.astype(dtype))
        for axis in (ig.ALL, 0, 1):
            k = None if axis == ig.ALL else axis
            for name, f in (("any", np.any), ("all", np.all)):
                got = getattr(ig, name)(x, axis, False)
                assert got.type == ig.BOOL and np.array_equal(got.numpy(), f(a, k))
            got = ig.count_nonzero(x, axis, False)
            assert got.type == ig.INT64 and np.array_equal(got.numpy(), np.count_nonzero(a, k))
    nothing = ig.full((0, 3), 1)
    assert not ig.any(nothing, 0, False).numpy().any() and ig.all(nothing, 0, False).numpy().all()
    assert ig.any(ig.tensor(np.array([np.nan], "f4")), 0, False).numpy()
    v = np.array([1, np.nan, np.inf, -np.inf], "f4")
    for name, f in (("isnan", np.isnan), ("isinf", np.isinf), ("isfinite", np.isfinite)):
        assert np.array_equal(getattr(ig, name)(ig.tensor(v)).numpy(), f(v))
        assert np.array_equal(getattr(ig, name)(ig.tensor(np.arange(3))).numpy(), f(np.arange(3)))
    p, q = np.array([True, True, False]), np.array([True, False, False])
    assert np.array_equal(ig.logical_xor(ig.tensor(p), ig.tensor(q)).numpy(), p ^ q)


def test_whole_numbers():
    a, b = np.arange(-9, 9).astype("i4"), np.array([[4], [-4], [7]], "i4")
    assert np.array_equal(ig.floor_divide(ig.tensor(a), ig.tensor(b)).numpy(), a // b)
    assert np.array_equal(ig.floor_divide_scalar(ig.tensor(a), -5).numpy(), a // -5)
    assert np.array_equal(ig.remainder_scalar(ig.tensor(a), -5).numpy(), a % -5)
    f = np.array([6.3, -6.3, 0.3, 9, np.inf], "f4")
    with np.errstate(all="ignore"):
        assert np.array_equal(ig.floor_divide_scalar(ig.tensor(f), 0.3).numpy()[:4], (f // np.float32(0.3))[:4])


def test_logsumexp_of_infinities():
    a = np.array([[-np.inf, -np.inf], [np.inf, 1], [1e4, 1e4], [-np.inf, 3]], "f4")
    want = [-np.inf, np.inf, 1e4 + np.log(2), 3]
    assert np.allclose(ig.logsumexp(ig.tensor(a), 1, False).numpy(), want)
    assert ig.logsumexp(ig.full((0, 2), 1), 0, False).numpy().tolist() == [-np.inf] * 2


def test_norm_at_zero_has_no_gradient():
    x = ig.leaf(np.array([[0, 0], [3, 4]], "f4"))
    ig.backward(ig.sum(ig.norm(x, 2, 1, False), ig.ALL, False))
    assert np.allclose(ig.grad(x).numpy(), [[0, 0], [0.6, 0.8]])


def test_patterns():
    for dtype, kind in (("f4", ig.F32), ("i8", ig.INT64), ("f2", ig.F16), ("?", ig.BOOL)):
        assert np.array_equal(ig.eye(ig.device, kind, 3, 5, 1).numpy(), np.eye(3, 5, 1, dtype))
    assert np.allclose(ig.linspace(ig.device, ig.F32, -1, 2, 29).numpy(), np.linspace(-1, 2, 29))
    assert ig.linspace(ig.device, ig.F32, 5, 9, 1).numpy().tolist() == [5]
    assert ig.linspace(ig.device, ig.I32, 0, 1, 0).shape == (0,)
    ids = np.array([[0, 2], [1, 7]])
    want = (ids[..., None] == np.arange(3)).astype("f4")
    assert np.array_equal(ig.one_hot(ig.tensor(ids), 3, ig.F32).numpy(), want)
    a = np.arange(6).reshape(2, 3)
    assert np.array_equal(ig.masked_fill(ig.tensor(a), ig.tensor(np.array([True, False, True])), -1).numpy(),
                          [[-1, 1, -1], [-1, 4, -1]])
    check(lambda x: ig.masked_fill(x, ig.tensor(A > 0), 7), lambda x: np.where(A > 0, 7, x), A)
    big = RNG.standard_normal((2, 3, 4, 3)).astype("f4")
    assert np.array_equal(ig.diagonal(ig.tensor(big), -1, 1, 3).numpy(), np.diagonal(big, -1, 1, 3))
    empty = ig.full((0, 4), 1)
    assert ig.flip(empty, 1).shape == (0, 4) and ig.roll(empty, 1, 0).shape == (0, 4)
    assert ig.tile(empty, 2, 2).shape == (0, 8) and ig.tril(empty, 0).shape == (0, 4)


def test_errors():
    x, row = ig.tensor(A), ig.tensor(A[0])
    for f, code, text in (
            (lambda: ig.masked_fill(row, x, 0), ig.SHAPE, "(17, 5) is larger than shape (5,)"),
            (lambda: ig.tril(row, 0), ig.SHAPE, "(5,)"), (lambda: ig.norm(x, -2, 0, False), ig.ARGUMENT, "-2"),
            (lambda: ig.diagonal(x, 0, 1, -1), ig.INDEX, "axis 1 twice"), (lambda: ig.flip(x, 2), ig.INDEX, "axis 2"),
            (lambda: ig.one_hot(x, 3, ig.F32), ig.TYPE, "float32"), (lambda: ig.dropout(x, 1.5, True, 1), ig.ARGUMENT, "1.5"),
            (lambda: ig.dropout(ig.tensor(np.arange(3)), 0.5, True, 1), ig.TYPE, "int64"),
            (lambda: ig.repeat_interleave(x, -1, 0), ig.ARGUMENT, "-1"), (lambda: ig.tile(x, 2, -1), ig.SHAPE, "(2, -1)"),
            (lambda: ig.batch_norm(x, weight=row, training=False), ig.ARGUMENT, "(17, 5)"),
            (lambda: ig.batch_norm(row), ig.SHAPE, "(5,)"), (lambda: ig.batch_norm(ig.full((1, 3), 1)), ig.ARGUMENT, "(1, 3)"),
            (lambda: ig.batch_norm(x, weight=ig.full((4,), 1)), ig.SHAPE, "(4,) for the channels of shape (17, 5)"),
            (lambda: ig.group_norm(x, 2, None, None, 1e-5), ig.ARGUMENT, "2 groups of the channels of shape (17, 5)"),
            (lambda: ig.assign(x, row), ig.SHAPE, "(5,) for shape (17, 5)")):
        with pytest.raises(ig.Error) as e:
            f()
        assert e.value.code == code and text in str(e.value), str(e.value)


# ---- Dropout ----

def test_dropout_keeps_what_uniform_says():
    for n in (1, 3, 113, 1000):
        x = RNG.uniform(1, 2, n).astype("f4")
        keep = ig.uniform((n,), 0, 1, 42).numpy() >= np.float32(0.3)
        got = ig.dropout(ig.tensor(x), 0.3, True, 42).numpy()
        assert np.array_equal(got != 0, keep) and np.allclose(got[keep], x[keep] / 0.7, rtol=1e-6)
    big = ig.dropout(ig.full((400, 500), 1), 0.25, True, 7).numpy()
    assert abs((big == 0).mean() - 0.25) < 0.005  # five standard deviations
    assert not np.array_equal(big, ig.dropout(ig.full((400, 500), 1), 0.25, True, 8).numpy())
    assert np.array_equal(big, ig.dropout(ig.full((400, 500), 1), 0.25, True, 7).numpy())


def test_dropout_gradient_and_ends():
    a = span(1, 2, 29, 17)
    for kind in (ig.F32, ig.F16):
        x = ig.leaf(a.astype("f2") if kind == ig.F16 else a)
        y = ig.dropout(x, 0.5, True, 3)
        assert y.type == kind
        kept = y.numpy() != 0
        ig.backward(ig.sum(y, ig.ALL, False))
        assert np.array_equal(ig.grad(x).numpy(), kept * 2.0)
    x = ig.leaf(a)
    assert np.array_equal(ig.dropout(x, 0.5, False, 3).numpy(), a) and np.array_equal(ig.dropout(x, 0, True, 3).numpy(), a)
    assert not ig.dropout(x, 1, True, 3).numpy().any()
    view = ig.dropout(ig.transpose(x, 0, 1), 0.5, True, 3).numpy()
    assert np.array_equal(view != 0, ig.dropout(ig.full((17, 29), 1), 0.5, True, 3).numpy() != 0)
    assert ig.dropout(ig.full((0, 3), 1), 0.5, True, 3).shape == (0, 3)


# ---- Normalisation ----

def bn(x, w=1, b=0, eps=1e-5):
    axes = (0,) + tuple(range(2, x.ndim))
    m, v = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    c = (-1,) + (1,) * (x.ndim - 2)
    return (x - m) / np.sqrt(v + eps) * np.reshape(w, c) + np.reshape(b, c)


@pytest.mark.parametrize("shape", [(7, 3), (2, 3, 5), (3, 3, 2, 5)])
def test_batch_norm(shape):
    check(lambda x, w, b: ig.batch_norm(x, weight=w, bias=b), lambda x, w, b: bn(x, w, b),
          span(-2, 2, *shape), span(0.5, 2, 3), span(-1, 1, 3), tolerance=1e-4)
    a = span(-2, 2, *shape)
    mean, variance = ig.tensor(np.full(3, 2, "f4")), ig.tensor(np.full(3, 3, "f4"))
    ig.evaluate(ig.batch_norm(ig.tensor(a), mean, variance, momentum=0.2))
    axes = (0,) + tuple(range(2, a.ndim))
    want = 0.8 * 2 + 0.2 * a.mean(axes), 0.8 * 3 + 0.2 * a.astype("f8").var(axes, ddof=1)
    assert np.allclose(mean.numpy(), want[0], atol=1e-5) and np.allclose(variance.numpy(), want[1], atol=1e-5)
    m, v = mean.numpy().astype("f8"), variance.numpy().astype("f8")
    c = (-1,) + (1,) * (a.ndim - 2)

    def fixed(x, w):
        return (x - m.reshape(c)) / np.sqrt(v.reshape(c) + 1e-5) * w.reshape(c)
    check(lambda x, w: ig.batch_norm(x, mean, variance, weight=w, training=False), fixed, a, span(0.5, 2, 3))
    assert np.array_equal(mean.numpy(), m)  # as they were


def bn_back(x, w, g, eps=1e-5):
    """By hand: gradients of x, weight and bias."""
    axes, c = (0,) + tuple(range(2, x.ndim)), (-1,) + (1,) * (x.ndim - 2)
    d = x - x.mean(axes, keepdims=True)
    scale = 1 / np.sqrt(x.var(axes, keepdims=True) + eps)
    y, h = d * scale, g * w.reshape(c)
    of_x = scale * (h - h.mean(axes, keepdims=True) - y * (h * y).mean(axes, keepdims=True))
    return of_x, (g * y).sum(axes), g.sum(axes)


@pytest.mark.parametrize("shape", [(2, 17, 40), (3, 16, 5, 7), (1, 20, 64), (2, 16, 2, 3, 11)])
@pytest.mark.parametrize("scaled", (False, True))
def test_batch_norm_of_many(shape, scaled):
    """Sixteen channels and more, 32 elements and more: a kernel forth and one back."""
    n = shape[1]
    a, g = (RNG.standard_normal(shape) * 2 + 3).astype("f4"), RNG.standard_normal(shape).astype("f4")
    w, b = (span(0.5, 2, n), span(-1, 1, n)) if scaled else (np.ones(n, "f4"), np.zeros(n, "f4"))
    x, tw, tb = ig.leaf(a), ig.leaf(w) if scaled else None, ig.leaf(b) if scaled else None
    mean, variance = ig.tensor(np.full(n, 2, "f4")), ig.tensor(np.full(n, 3, "f4"))
    y = ig.batch_norm(x, mean, variance, weight=tw, bias=tb, momentum=0.2)
    axes = (0,) + tuple(range(2, a.ndim))
    want = 0.8 * 2 + 0.2 * a.mean(axes), 0.8 * 3 + 0.2 * a.astype("f8").var(axes, ddof=1)
    assert np.allclose(mean.numpy(), want[0], atol=1e-5)  # before y itself is made
    assert np.allclose(y.numpy(), bn(a.astype("f8"), w, b), atol=1e-4)
    assert np.allclose(variance.numpy(), want[1], atol=1e-4)
    ig.backward(ig.sum(ig.mul(y, ig.tensor(g)), ig.ALL, False))
    back = bn_back(a.astype("f8"), w.astype("f8"), g.astype("f8"))
    for t, wanted in zip((x, tw, tb) if scaled else (x,), back):
        assert np.allclose(ig.grad(t).numpy(), wanted, atol=2e-4), np.abs(ig.grad(t).numpy() - wanted).max()


def test_group_and_instance_norm():
    def group(x, w, b, n):
        d = x.reshape(x.shape[0] * n, -1)
        d = (d - d.mean(1, keepdims=True)) / np.sqrt(d.var(1, keepdims=True) + 1e-5)
        return d.reshape(x.shape) * w.reshape(-1, 1, 1) + b.reshape(-1, 1, 1)
    args = span(-2, 2, 3, 4, 2, 5), span(0.5, 2, 4), span(-1, 1, 4)
    check(lambda x, w, b: ig.group_norm(x, 2, w, b, 1e-5), lambda x, w, b: group(x, w, b, 2), *args, tolerance=1e-4)
    check(lambda x, w, b: ig.instance_norm(x, w, b, 1e-5), lambda x, w, b: group(x, w, b, 4), *args, tolerance=1e-4)
    half = ig.batch_norm(ig.tensor((RNG.standard_normal((300, 3)) * 300).astype("f2")))
    assert half.type == ig.F16 and np.allclose(half.numpy().astype("f4").std(0), 1, atol=1e-2)


def test_assign():
    x = ig.leaf(np.ones((3, 4), "f4"))
    view = ig.slice_(x, 0, 1, 2, 1)
    ig.assign(x, ig.transpose(ig.tensor(np.arange(12).reshape(4, 3)), 0, 1))
    assert np.array_equal(x.numpy(), np.arange(12).reshape(4, 3).T) and ig.requires_grad(x) and ig.is_leaf(x)
    assert view.numpy().tolist() == [[1, 4, 7, 10]]


def test_null_gives_null_and_no_error():
    """A chain reports its first error: what gets NULL says nothing of its own."""
    x = ig.tensor(A)
    i = ig.tensor(np.zeros((1, 5), "i8"))
    picture, kernel = ig.full((1, 1, 4, 4), 1), ig.full((1, 1, 2, 2), 1)
    calls = [lambda f=getattr(ig, n): f(None) for n in
             "exp2 expm1 log2 log10 log1p asin acos atan sinh cosh erf gelu_erf isnan isinf isfinite".split()]
    calls += [lambda f=getattr(ig, n), a=a: f(*a) for n in ("logical_xor", "atan2", "floor_divide")
              for a in ((None, x), (x, None))]
    calls += [lambda f=getattr(ig, n): f(None, 0, False) for n in "any all count_nonzero logsumexp".split()]
    calls += [lambda f=getattr(ig, n): f(None, 1, 0, False) for n in ("norm",)]
    calls += [
        lambda: ig.var(None, 0, 0, False), lambda: ig.std(None, 0, 0, False), lambda: ig.masked_fill(None, x, 0),
        lambda: ig.masked_fill(x, None, 0), lambda: ig.tril(None, 0), lambda: ig.diagonal(None, 0, 0, 1),
        lambda: ig.flip(None, 0), lambda: ig.roll(None, 1, 0), lambda: ig.tile(None, 2), lambda: ig.one_hot(None, 3, ig.F32),
        lambda: ig.repeat_interleave(None, 2, 0), lambda: ig.cumsum(None, 0), lambda: ig.cumprod(None, 0),
        lambda: ig.mean_axes(None, [0]), lambda: ig.dropout(None, 0.5, True, 1), lambda: ig.batch_norm(None),
        lambda: ig.group_norm(None, 1, None, None, 0), lambda: ig.instance_norm(None, None, None, 0),
        lambda: ig.leaky_relu(None, 1), lambda: ig.elu(None, 1), lambda: ig.assign(x, None), lambda: ig.assign(None, x),
        lambda: ig.conv2d(None, kernel), lambda: ig.conv2d(picture, None), lambda: ig.conv1d(None, kernel),
        lambda: ig.conv_transpose2d(None, kernel), lambda: ig.max_pool2d(None, 2), lambda: ig.avg_pool2d(None, 2),
        lambda: ig.adaptive_avg_pool2d(None, 1, 1), lambda: ig.global_avg_pool(None), lambda: ig.global_max_pool(None),
        lambda: ig.sort(None), lambda: ig.topk(None, 1), lambda: ig.argsort(None, 0, False),
        lambda: ig.scatter(None, 0, i, x), lambda: ig.scatter(x, 0, None, x), lambda: ig.scatter(x, 0, i, None),
        lambda: ig.index_copy(None, 0, i, x), lambda: ig.index_add(x, 0, None, x)]
    for f in calls:
        with pytest.raises(ig.Error) as e:
            f()
        assert str(e.value) == "no result and no error"
    none = ig.Tensor(None)
    with pytest.raises(ig.Error) as e:
        ig.einsum("ij,jk", x, none)
    assert str(e.value) == "no result and no error"


def test_out_of_memory_is_an_error_each_time():
    """With less and less memory: every step that takes some fails once, and nothing is left."""
    x = ig.tensor(span(-1, 1, 2, 17, 20, 20))
    w = ig.tensor(span(-1, 1, 16, 17, 3, 3))
    row = ig.tensor(span(-1, 1, 3000))
    work = {
        "conv": lambda: ig.conv2d(x, w, padding=1, stride=2), "pool": lambda: ig.max_pool2d(x, 3, 2, 1),
        "sort": lambda: ig.sort(row, 0)[0], "cumsum": lambda: ig.cumsum(row, 0), "topk": lambda: ig.topk(row, 3, 0)[1],
        "dropout": lambda: ig.dropout(x, 0.5, True, 1), "norm": lambda: ig.batch_norm(x),
        "einsum": lambda: ig.einsum("nchw,ochw->no", x, ig.full((5, 17, 20, 20), 2)),
        "scatter": lambda: ig.index_copy(row, 0, ig.tensor(np.arange(4)), ig.full((4,), 1))}
    for name, f in work.items():
        want = f().numpy()
        failed = 0
        live = ig.pool_statistics().live_memory
        try:
            for more in [0, 1 << 10] + [k << 12 for k in (1, 2, 4, 8, 12, 20, 30, 50)]:
                ig.pool_clear(ig.pool)
                ig.pool_set_memory_limit(ig.pool, live + more)
                got = want
                try:
                    got = f().numpy()
                except ig.Error as e:
                    code, failed = e.code, failed + 1
                    assert code == ig.MEMORY
                gc.collect()
                assert np.array_equal(got, want)
                assert ig.pool_statistics().live_memory == live, name
        finally:
            ig.pool_set_memory_limit(ig.pool, 0)
        assert failed > 0, name
        assert np.array_equal(f().numpy(), want)
