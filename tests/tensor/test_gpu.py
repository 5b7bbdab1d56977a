# SPDX-License-Identifier: Apache-2.0
"""Kernels for GPUs, on the CPU: several elements a thread, whatever the size, the offset and the
views; reductions by rows and columns, whole and in parts."""

import os

import numpy as np
import pytest

import ig
from test_reductions import check

assert os.environ.get("INGOT_TENSORS") == "gpu", "INGOT_TENSORS=gpu chooses these kernels"


def values(rng, shape, dtype):
    return (rng.standard_normal(shape) * 30).astype(dtype)


@pytest.mark.parametrize("n", [1 << 14, (1 << 14) + 1, (1 << 15) + 2, 20004, 16391])
@pytest.mark.parametrize("dtype", ["f4", "f2", "i8", "i1"])
def test_lines(n, dtype, rng):
    a, b = values(rng, n, dtype), values(rng, n, dtype)
    x, y = ig.tensor(a), ig.tensor(b)
    got = ig.add(ig.mul(x, y), x).numpy()
    want = a * b + a if dtype != "f2" else ((a * b).astype("f2") + a).astype("f2")
    assert (got == want).all()
    # Views that begin at any place.
    for start in (1, 2, 4, 7):
        got = ig.add(ig.slice_(x, 0, start, n, 1), ig.slice_(y, 0, 0, n - start, 1)).numpy()
        assert (got == a[start:] + b[:n - start]).all()
    got = ig.add(ig.slice_(x, 0, 0, n, 3), ig.slice_(y, 0, 0, n, 3)).numpy()
    assert (got == a[::3] + b[::3]).all()


@pytest.mark.parametrize("shape", [(128, 256), (129, 255), (40, 3, 200), (3, 200, 44)])
def test_views(shape, rng):
    a = values(rng, shape, "f4")
    row, column = values(rng, shape[-1], "f4"), values(rng, shape[:-1] + (1,), "f4")
    x = ig.tensor(a)
    assert (ig.add(x, ig.tensor(row)).numpy() == a + row).all()
    assert (ig.mul(x, ig.tensor(column)).numpy() == a * column).all()
    order = range(len(shape))[::-1]
    assert (ig.add(ig.permute(x, order), ig.permute(x, order)).numpy() == a.T + a.T).all()
    square = a[..., :shape[-1] // 2 * 2]
    halves = ig.slice_(x, -1, 0, shape[-1] // 2 * 2, 1)
    assert (ig.add(halves, halves).numpy() == square + square).all()


def test_several_results(rng):
    a = values(rng, 1 << 15, "f4")
    x = ig.leaf(a)
    y = ig.mul(ig.exp(ig.mul_scalar(x, 0.01)), x)  # what the gradient needs is stored as well
    ig.backward(ig.sum(y, ig.ALL, False))
    want = np.exp(a.astype("f8") * 0.01) * (1 + a * 0.01)
    assert np.allclose(ig.grad(x).numpy(), want, rtol=1e-5)


SHAPES = [(70000,), (300001,), (3, 9000), (9000, 3), (64, 4096), (4096, 64), (5, 300000), (300, 7, 64), (6, 64, 300),
          (2000, 1), (1, 2000), (2, 3, 4, 5)]


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "argmax", "argmin"])
@pytest.mark.parametrize("dtype", ["f4", "f2", "i4"])
def test_reductions(name, dtype, rng):
    for shape in SHAPES if dtype == "f4" and name in ("sum", "argmax") else SHAPES[1:6]:
        a = values(rng, shape, dtype)
        if dtype == "f2":
            a /= np.float16(8)  # sums stay finite
        h = ig.tensor(a)
        for axis in [None] + list(range(len(shape))):
            check(name, a, h, axis, False, dtype)
        if len(shape) == 3:
            order = (1, 0, 2)
            check(name, a.transpose(order), ig.permute(h, order), 0, False, dtype)


def test_several_axes(rng):
    a = values(rng, (6, 8, 20, 28), "f4")
    for axes in [(0, 2, 3), (0, 1), (1, 3), (0, 2), (2, 3), (0, 1, 2, 3), (1, 2)]:
        got = ig.sum_axes(ig.tensor(a), axes).numpy()
        want = a.sum(axis=axes, dtype="f8")
        assert np.allclose(got, want, atol=1e-5 * np.abs(a).sum(axis=axes).max())
    assert ig.sum(ig.full((0, 5), 1.0), 0, False).numpy().tolist() == [0] * 5
    assert ig.sum(ig.full((5, 0), 1.0), 1, False).numpy().tolist() == [0] * 5


def test_reduced_on_the_way(rng):
    a, b = values(rng, (300, 1000), "f4"), values(rng, 1000, "f4")
    x, y = ig.tensor(a), ig.tensor(b)
    for axis in (0, 1, None):
        want = ((a.astype("f8") - b) ** 2).mean(axis=axis)
        got = ig.mean(ig.square(ig.sub(x, y)), ig.ALL if axis is None else axis, False).numpy()
        assert np.allclose(got, want, rtol=1e-5)


def test_what_is_not_a_number(rng):
    for shape in [(5, 40000), (40000, 5)]:
        a = values(rng, shape, "f4")
        a[3, 2] = np.nan
        for axis in (0, 1):
            h = ig.tensor(a)
            assert np.array_equal(ig.max(h, axis, False).numpy(), a.max(axis), equal_nan=True)
            assert (ig.argmin(h, axis, False).numpy() == a.argmin(axis)).all()


@pytest.mark.parametrize("shape", [(3, 257), (2, 2048), (2, 2049), (1, 9000), (5, 4096)])
@pytest.mark.parametrize("dtype", ["f4", "f2", "i4"])
def test_sort(shape, dtype, rng):
    a = values(rng, shape, dtype)  # with equals, whose order stays
    for down in (False, True):
        got, where = ig.sort(ig.tensor(a), -1, down)
        want = np.argsort(-a.astype("f8") if down else a, axis=-1, kind="stable")
        assert (where.numpy() == want).all()
        assert (got.numpy() == np.take_along_axis(a, want, -1)).all()


@pytest.mark.parametrize("shape, axis", [((3, 130), 1), ((1, 5000), 1), ((2, 70001), 1), ((300, 40), 0), ((2, 3000, 3), 1)])
@pytest.mark.parametrize("dtype", ["f4", "i8"])
def test_running_sums(shape, axis, dtype, rng):
    a = rng.integers(-9, 10, shape).astype(dtype)
    assert (ig.cumsum(ig.tensor(a), axis).numpy() == np.cumsum(a, axis)).all()
    if dtype == "f4":
        x = ig.leaf(a)
        ig.backward(ig.sum(ig.cumsum(x, axis), ig.ALL, False))  # from the other end
        want = np.flip(np.cumsum(np.ones(shape), axis), axis)
        assert (ig.grad(x).numpy() == want).all()


@pytest.mark.parametrize("m, n, k", [(256, 512, 300), (100, 70, 33), (33, 1000, 1), (1, 64, 500), (500, 10, 64),
                                     (700, 900, 40)])
def test_products(m, n, k, rng):
    a, b = rng.standard_normal((m, k)).astype("f4"), rng.standard_normal((k, n)).astype("f4")
    bias = rng.standard_normal(n).astype("f4")
    want = a.astype("f8") @ b
    limit = 1e-6 * (np.abs(a).astype("f8") @ np.abs(b)) + 1e-6
    for x in (ig.tensor(a), ig.transpose(ig.tensor(a.T.copy()), 0, 1)):
        for y in (ig.tensor(b), ig.transpose(ig.tensor(b.T.copy()), 0, 1)):
            assert (np.abs(ig.matmul(x, y).numpy() - want) <= limit).all()
    got = ig.relu(ig.add(ig.matmul(ig.tensor(a), ig.tensor(b)), ig.tensor(bias))).numpy()
    assert (np.abs(got - np.maximum(want + bias, 0)) <= limit + 1e-6 * np.abs(bias)).all()


@pytest.mark.parametrize("n", [4, 60, 128, 516, 1000, 1024, 1028, 3000, 8192, 8196, 33])
@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_softmax_of_rows(n, dtype, rng):
    a = (rng.standard_normal((11, n)) * 3).astype(dtype)
    a[3, n // 2] = -np.inf
    wide = a.astype("f8")
    power = np.exp(wide - wide.max(1, keepdims=True))
    want = power / power.sum(1, keepdims=True)
    error = 1e-6 if dtype == "f4" else 1e-3
    assert np.abs(ig.softmax(ig.tensor(a), 1).numpy() - want).max() < error
    with np.errstate(divide="ignore"):
        log = np.log(want)
    got = ig.log_softmax(ig.tensor(a), 1).numpy().astype("f8")
    assert np.isneginf(got[3, n // 2])
    got[3, n // 2] = log[3, n // 2] = 0
    assert np.allclose(got, log, rtol=4 * error, atol=4 * error)
    a[2, 1] = np.nan
    got = ig.softmax(ig.tensor(a), 1).numpy()
    assert np.isnan(got[2]).all() and np.isfinite(got[1]).all()


@pytest.mark.parametrize("n", [4, 60, 516, 1024, 1028, 3000, 8192, 8196, 33])
@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_norms_of_rows(n, dtype, rng):
    a = (rng.standard_normal((11, n)) * 3 + 1).astype(dtype)
    weight, bias = rng.standard_normal(n).astype("f4"), rng.standard_normal(n + 4).astype("f4")
    x, w, b = ig.tensor(a), ig.tensor(weight), ig.slice_(ig.tensor(bias), 0, 4, n + 4, 1)
    wide = a.astype("f8")
    centered = wide - wide.mean(1, keepdims=True)
    want = centered / np.sqrt((centered ** 2).mean(1, keepdims=True) + 1e-5)
    error = 1e-5 if dtype == "f4" else 8e-3
    assert np.allclose(ig.layer_norm(x).numpy(), want, rtol=error, atol=error)
    got = ig.layer_norm(x, 1, w, b).numpy()
    assert np.allclose(got, want * weight + bias[4:], rtol=error, atol=error)
    if n > 4:  # rows that begin elsewhere, parameters too
        got = ig.layer_norm(x, 1, w, ig.slice_(ig.tensor(bias), 0, 1, n + 1, 1)).numpy()
        assert np.allclose(got, want * weight + bias[1:n + 1], rtol=error, atol=error)
    want = wide / np.sqrt((wide ** 2).mean(1, keepdims=True) + 1e-6)
    assert np.allclose(ig.rms_norm(x, 1, w).numpy(), want * weight, rtol=error, atol=error)


@pytest.mark.parametrize("shape", [(33000, 128), (32771, 72), (2048, 64), (2500, 516), (30, 4096), (7, 1001), (3, 3000, 72), (1, 65)])
@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_matrices_by_vectors(shape, dtype, rng):
    a, v = rng.standard_normal(shape).astype(dtype), rng.standard_normal(shape[-1]).astype(dtype)
    bias = rng.standard_normal(shape[:-1]).astype(dtype)
    want = a.astype("f8") @ v.astype("f8")
    error = dict(rtol=1e-4, atol=1e-3) if dtype == "f4" else dict(rtol=4e-3, atol=0.1)
    x, y = ig.tensor(a), ig.tensor(v)
    assert np.allclose(ig.matmul(x, y).numpy(), want, **error)
    got = ig.relu(ig.add(ig.matmul(x, y), ig.tensor(bias)))
    assert np.allclose(got.numpy(), np.maximum(want + bias, 0), **error)
    # A vector that is a column of a matrix, and rows that do not begin at multiples of four.
    columns = rng.standard_normal((shape[-1], 3)).astype(dtype)
    got = ig.matmul(x, ig.slice_(ig.tensor(columns), 1, 1, 2, 1))
    assert np.allclose(got.numpy(), (a.astype("f8") @ columns[:, 1:2].astype("f8")), **error)
    got = ig.matmul(ig.slice_(x, -1, 1, shape[-1], 1), ig.slice_(y, 0, 1, shape[-1], 1))
    assert np.allclose(got.numpy(), a[..., 1:].astype("f8") @ v[1:].astype("f8"), **error)


@pytest.mark.parametrize("n", [1, 3, 8, 24, 64, 100, 132, 256, 1000])
def test_short_rows(n, rng):
    a = values(rng, (1003, n), "f4")
    x = ig.tensor(a)
    assert np.allclose(ig.sum(x, 1, False).numpy(), a.sum(1, dtype="f8"), rtol=1e-5, atol=1e-3)
    assert (ig.max(x, 1, False).numpy() == a.max(1)).all()
    assert (ig.argmin(x, 1, False).numpy() == a.argmin(1)).all()


@pytest.mark.parametrize("rows,n", [(1, 1), (6, 5), (32, 10), (33, 64), (1000, 10), (1500, 3), (40, 65), (3, 700)])
@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_cross_entropy(rows, n, dtype, rng):
    a, labels = (rng.standard_normal((rows, n)) * 3).astype(dtype), rng.integers(0, n, rows).astype("i4")
    wide = a.astype("f8")
    power = np.exp(wide - wide.max(1, keepdims=True))
    p = power / power.sum(1, keepdims=True)
    want = -np.log(p)[np.arange(rows), labels]
    error = 1e-5 if dtype == "f4" else 4e-3
    for how, loss, scale in ((ig.MEAN, want.mean(), 1 / rows), (ig.SUM, want.sum(), 1)):
        x = ig.leaf(a)
        y = ig.cross_entropy_loss(x, ig.tensor(labels), how)
        assert np.isclose(ig.item(y), loss, rtol=error, atol=error)
        ig.backward(y)
        assert np.allclose(ig.grad(x).numpy(), (p - np.eye(n)[labels]) * scale, rtol=error, atol=error)
    a[rows // 2, 0] = np.nan
    assert np.isnan(ig.item(ig.cross_entropy_loss(ig.tensor(a), ig.tensor(labels), ig.MEAN)))
