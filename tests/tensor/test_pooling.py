# SPDX-License-Identifier: Apache-2.0
"""Pooling against loops over NumPy arrays in float64; gradients; errors."""

import numpy as np
import pytest
from test_autograd import check, span

import ig

RNG = np.random.default_rng(43)


def pair(v):
    return (v, v) if isinstance(v, int) else tuple(v)


def windows(n, k, s, p, d, ceil):
    reach = d * (k - 1) + 1
    m = (n + 2 * p - reach + (s - 1 if ceil else 0)) // s + 1
    if ceil and (m - 1) * s >= n + p:
        m -= 1
    return [(i * s - p, min(i * s - p + k, n + p), [j for j in range(i * s - p, i * s - p + reach, d) if 0 <= j < n])
            for i in range(m)]


def pool(x, kernel, stride=0, padding=0, dilation=1, ceil_mode=False, excludes=False, f="max"):
    k, p, d = pair(kernel), pair(padding), pair(dilation)
    s = tuple(a or b for a, b in zip(pair(stride), k))
    ys, xs = (windows(x.shape[-2 + i], k[i], s[i], p[i], d[i], ceil_mode) for i in range(2))
    y = np.zeros(x.shape[:-2] + (len(ys), len(xs)))
    for i, (a0, a1, rows) in enumerate(ys):
        for j, (b0, b1, columns) in enumerate(xs):
            w = x[..., rows, :][..., columns].reshape(x.shape[:-2] + (-1,))
            if f == "max":
                y[..., i, j] = w.max(-1)
            else:
                y[..., i, j] = w.sum(-1) / (w.shape[-1] if excludes else (a1 - a0) * (b1 - b0))
    return y


# Values of windows are far apart, so that a step of central differences changes no maximum.
def picture(*shape):
    n = int(np.prod(shape))
    return (RNG.permutation(n).reshape(shape) / n * 4 - 2).astype("f4")


CASES = {
    "plain": ((2, 3, 8, 6), {"kernel": 2}), "rest": ((1, 2, 7, 5), {"kernel": (2, 3)}),
    "overlap": ((2, 1, 9, 7), {"kernel": 3, "stride": 2, "padding": 1}),
    "dense": ((1, 2, 5, 6), {"kernel": 3, "stride": 1, "padding": (1, 0)}),
    "ceil": ((1, 2, 7, 8), {"kernel": 3, "stride": 2, "ceil_mode": True}),
    "ceil_padded": ((1, 1, 6, 5), {"kernel": (2, 3), "stride": (2, 3), "padding": 1, "ceil_mode": True}),
    "gaps": ((1, 2, 9, 10), {"kernel": 2, "stride": (3, 4)}), "three_axes": ((3, 5, 7), {"kernel": 2, "stride": 1}),
    "one": ((1, 1, 1, 1), {"kernel": 1}), "all": ((2, 2, 5, 4), {"kernel": (5, 4)}),
}


@pytest.mark.parametrize("shape, options", [((2, 40, 14, 14), {"kernel": 3, "stride": 2, "padding": 1}),
                                            ((1, 2, 150, 121), {"kernel": 2, "stride": 1}),
                                            ((3, 2, 33, 70), {"kernel": (4, 5), "stride": 2, "padding": (2, 1)}),
                                            ((1, 1, 6, 400), {"kernel": 7, "stride": 3, "ceil_mode": True}),
                                            ((1, 1, 4, 2500), {"kernel": 2}),
                                            ((1, 1, 3, 300), {"kernel": (3, 90), "stride": (1, 2)})])
def test_averages_of_lines(shape, options):
    x = picture(*shape)
    for e in (False, True):
        got = ig.avg_pool2d(ig.tensor(x), excludes=e, **options).numpy()
        want = pool(x.astype("f8"), f="avg", excludes=e, **options)
        assert got.shape == want.shape and np.allclose(got, want, atol=1e-5)


@pytest.mark.parametrize("shape, options", [((4, 40, 14, 14), {"kernel": 2}), ((2, 3, 15, 17), {"kernel": 3, "stride": 2}),
                                            ((1, 2, 50, 121), {"kernel": 2, "stride": 1}),
                                            ((3, 2, 33, 70), {"kernel": (4, 5), "stride": (1, 3)}),
                                            ((1, 1, 5, 2500), {"kernel": (2, 3), "stride": 2})])
@pytest.mark.parametrize("dtype", ("f4", "f2"))
def test_maxima_of_lines(shape, options, dtype):
    x = picture(*shape).astype(dtype)
    x.flat[7] = np.nan
    got = ig.max_pool2d(ig.tensor(x), **options).numpy()
    want, where = ig.max_pool2d(ig.tensor(x), indices=True, **options)  # by places
    assert np.array_equal(got, want.numpy(), equal_nan=True) and np.isnan(got).any()
    x.flat[7] = 0
    assert np.array_equal(ig.max_pool2d(ig.tensor(x), **options).numpy(), pool(x.astype("f8"), **options))


@pytest.mark.parametrize("name", CASES)
def test_pools(name):
    shape, options = CASES[name]
    x = picture(*shape)
    check(lambda t: ig.max_pool2d(t, **options), lambda a: pool(a, **options), x)
    for e in (False, True):
        check(lambda t: ig.avg_pool2d(t, excludes=e, **options),
              lambda a: pool(a, f="avg", excludes=e, **options), x)
    y, where = ig.max_pool2d(ig.tensor(x), indices=True, **options)
    want = pool(x, **options)
    flat = x.reshape(x.shape[:-2] + (-1,))
    assert where.type == ig.INT64 and np.array_equal(y.numpy(), want)
    assert np.array_equal(np.take_along_axis(flat, where.numpy().reshape(y.shape[:-2] + (-1,)), -1).reshape(y.shape), want)


def test_max_pool_dilated_ties_and_types():
    x = picture(2, 2, 9, 11)
    check(lambda t: ig.max_pool2d(t, 3, stride=2, padding=1, dilation=2),
          lambda a: pool(a, 3, 2, 1, 2), x)
    # Wider than the picture, and begun inside of it.
    check(lambda t: ig.max_pool2d(t, (2, 6), stride=2, dilation=(1, 3), ceil_mode=True),
          lambda a: pool(a, (2, 6), 2, 0, (1, 3), True), picture(1, 2, 8, 15))
    with pytest.raises(ig.Error):
        ig.max_pool2d(ig.tensor(x), (2, 6), stride=2, dilation=(1, 3))
    a = np.array([[[1, 3, 3, 0], [3, 1, 0, 0], [np.nan, 1, 0, 0], [5, np.nan, 0, 0]]], "f4")
    y, where = ig.max_pool2d(ig.tensor(a), 2, indices=True)
    assert np.array_equal(y.numpy(), [[[3, 3], [np.nan, 0]]], equal_nan=True)
    assert where.numpy().tolist() == [[[1, 2], [8, 10]]]  # the first of equals
    for dtype in ("f2",):
        h = x.astype(dtype)
        assert np.array_equal(ig.max_pool2d(ig.tensor(h), 2).numpy(), pool(h, 2).astype(dtype))
        assert np.allclose(ig.avg_pool2d(ig.tensor(h), 3).numpy(), pool(h.astype("f8"), 3, f="avg"), atol=1e-3)
    view = ig.permute(ig.tensor(np.ascontiguousarray(x.transpose(2, 3, 1, 0))), [3, 2, 0, 1])
    assert np.array_equal(ig.max_pool2d(view, 2).numpy(), pool(x, 2))
    assert ig.max_pool2d(ig.full((0, 3, 4, 4), 1), 2).shape == (0, 3, 2, 2)


@pytest.mark.parametrize("size", [(1, 1), (3, 2), (7, 5), (9, 11)])
def test_adaptive(size):
    def adaptive(x):
        h, w = x.shape[-2:]
        y = np.zeros(x.shape[:-2] + size)
        for i in range(size[0]):
            for j in range(size[1]):
                y[..., i, j] = x[..., i * h // size[0]:-(-(i + 1) * h // size[0]),
                                 j * w // size[1]:-(-(j + 1) * w // size[1])].mean((-2, -1))
        return y
    check(lambda t: ig.adaptive_avg_pool2d(t, *size), adaptive, picture(2, 2, 7, 5))


def test_global():
    check(ig.global_avg_pool, lambda a: a.mean((2, 3)), picture(2, 3, 5, 7))
    check(ig.global_max_pool, lambda a: a.max((2, 3)), picture(2, 3, 5, 7))


def test_second_derivatives():
    x = ig.leaf(picture(1, 2, 6, 6))
    y = ig.sum(ig.pow_scalar(ig.avg_pool2d(x, 3, stride=2, padding=1), 3), ig.ALL, False)
    g = ig.grad_of([y], [x], create=True)[0]
    got = ig.grad_of([ig.sum(ig.square(g), ig.ALL, False)], [x])[0].numpy()
    a, step = x.numpy().astype("f8"), 1e-4

    def size(a):
        y = pool(a, 3, 2, 1, f="avg")
        one = np.zeros(a.shape)
        for i in np.ndindex(*y.shape):
            rows, columns = (range(max(0, v * 2 - 1), min(6, v * 2 + 2)) for v in i[2:])
            one[i[0], i[1], rows.start:rows.stop, columns.start:columns.stop] += 3 * y[i] ** 2 / 9
        return (one ** 2).sum()
    for i in ((0, 0, 0, 0), (0, 1, 3, 4)):
        u, d = a.copy(), a.copy()
        u[i] += step
        d[i] -= step
        assert abs(got[i] - (size(u) - size(d)) / (2 * step)) < 1e-3 * max(1, np.abs(got).max())
    z = ig.sum(ig.pow_scalar(ig.max_pool2d(x, 2), 3), ig.ALL, False)
    g = ig.grad_of([z], [x], create=True)[0]
    got = ig.grad_of([ig.sum(g, ig.ALL, False)], [x])[0].numpy()
    top = a == np.repeat(np.repeat(pool(a, 2), 2, 2), 2, 3)
    assert np.allclose(got, top * 6 * a, atol=1e-4)


def test_errors():
    x = ig.full((2, 3, 5, 6), 1)
    for f, code, text in (
            (lambda: ig.max_pool2d(x, 7), ig.SHAPE, "(2, 3, 5, 6) is smaller than a kernel of (7, 7)"),
            (lambda: ig.avg_pool2d(x, 3, padding=2), ig.ARGUMENT, "padding 2"),
            (lambda: ig.max_pool2d(x, 0), ig.ARGUMENT, "a kernel of 0"), (lambda: ig.avg_pool2d(x, 2, dilation=2), ig.ARGUMENT, "dilation"),
            (lambda: ig.max_pool2d(ig.full((5, 6), 1), 2), ig.SHAPE, "(5, 6)"),
            (lambda: ig.max_pool2d(ig.cast(x, ig.I32), 2), ig.TYPE, "int32"),
            (lambda: ig.adaptive_avg_pool2d(x, 0, 3), ig.ARGUMENT, "0 x 3"), (lambda: ig.global_avg_pool(ig.full((5, 6), 1)), ig.SHAPE, "(5, 6)")):
        with pytest.raises(ig.Error) as e:
            f()
        assert e.value.code == code and text in str(e.value), str(e.value)
