# SPDX-License-Identifier: Apache-2.0
"""Reductions over every axis of awkward shapes, whole and with views; sums are exact for integers
and lose no more than float does otherwise."""

import numpy as np
import pytest

import ig

SHAPES = [(7,), (5, 40), (40, 5), (3, 4, 50), (100, 1), (3, 9000), (9000, 3), (70000,)]


def check(name, a, h, axis, keep, dtype):
    got = getattr(ig, name)(h, ig.ALL if axis is None else axis, keep).numpy()
    if name in ("argmax", "argmin"):
        want = np.asarray(getattr(np, name)(a, axis=axis))
        assert got.shape == want.shape and (got == want).all()
        return
    exact = a.astype("f8" if dtype in ("f4", "f2") else "i8")
    want = np.asarray(getattr(np, name)(exact, axis=axis, keepdims=keep))
    assert got.shape == want.shape
    if name in ("max", "min") or (name == "sum" and exact.dtype == np.int64):
        assert (got == want).all()
        return
    # A sum in float of n terms: a few roundings of the sum of their sizes, and one to the type.
    sizes = np.abs(exact.astype("f8")).sum(axis=axis, keepdims=keep)
    sizes = sizes / (1 if name == "sum" else exact.size / want.size)
    eps = 1e-3 if dtype == "f2" else 1e-5
    assert (np.abs(got - want) <= eps * (sizes + 1e-3)).all()


@pytest.mark.parametrize("dtype", ["f4", "f2", "i4", "?"])
@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "argmax", "argmin"])
def test_reductions(name, dtype, rng):
    for shape in SHAPES if dtype == "f4" and name in ("sum", "max", "argmax") else [(5, 40), (70000,)]:
        a = (rng.standard_normal(shape) * 3).astype(dtype) if dtype != "?" else rng.random(shape) > 0.5
        h = ig.tensor(a)
        for axis in [None] + list(range(len(shape))):
            check(name, a, h, axis, axis == 0, dtype) if not name.startswith("arg") else check(
                name, a, h, axis, False, dtype)
        if len(shape) > 1:
            check(name, a.T, ig.permute(h, range(len(shape))[::-1]), 0, False, dtype)


def test_prod(rng):
    a = rng.uniform(0.5, 1.5, (4, 9)).astype("f4")
    for axis in (None, 0, 1):
        got = ig.prod(ig.tensor(a), ig.ALL if axis is None else axis, False).numpy()
        assert np.allclose(got, np.prod(a.astype("f8"), axis=axis), rtol=1e-5)
    assert ig.item(ig.prod(ig.arange(ig.device, ig.I32, 1, 1, 15), ig.ALL, False)) == 1307674368000


def test_sum_axes(rng):
    a = rng.integers(-9, 9, (2, 3, 4, 5)).astype("i4")
    for axes in [(0, 2), (1, 3), (0, 1, 2, 3), (), (-1, 0)]:
        for keep in (False, True):
            got = ig.sum_axes(ig.tensor(a), axes, keep).numpy()
            assert np.array_equal(got, a.sum(axis=axes, keepdims=keep))


def test_half_sums_in_float():
    ones = ig.full((5000,), 1, ig.F16)
    assert ig.item(ig.sum(ones, ig.ALL, False)) == 5000  # in half it would stick at 2048
    assert ig.item(ig.mean(ig.full((3000,), 60000, ig.F16), ig.ALL, False)) == 60000


def test_not_a_number_wins():
    a = np.array([1, np.nan, 3, np.nan], "f4")
    assert np.isnan(ig.item(ig.max(ig.tensor(a), 0, False)))
    assert np.isnan(ig.item(ig.min(ig.tensor(a), 0, False)))
    assert ig.item(ig.argmax(ig.tensor(a), 0, False)) == 1


@pytest.mark.parametrize("n", [1, 31, 33, 100, 5000])
def test_places_of_rows(n):
    """The first of equals; what is not a number wins; rows of one value."""
    for share in (0, 0.1, 1):
        a = np.random.default_rng(n).integers(-3, 3, (9, n)).astype("f4")
        a[np.random.default_rng(1).random((9, n)) < share] = np.nan
        a[3], a[5] = np.inf, -np.inf
        b = np.where(np.isnan(a), 0, np.clip(a, -2.0**31, 2.0**31 - 256)).astype("i4")
        for x in (a, b):
            assert np.array_equal(ig.argmax(ig.tensor(x), 1, False).numpy(), np.argmax(x, 1))
            assert np.array_equal(ig.argmin(ig.tensor(x), 1, False).numpy(), np.argmin(x, 1))


def test_prologue_is_on_the_way(rng):
    x, y = (ig.tensor(rng.standard_normal((30, 50)).astype("f4")) for _ in range(2))
    ig.evaluate(x)
    before = ig.statistics().kernels
    got = ig.mean(ig.square(ig.sub(x, y)), -1, False)
    ig.evaluate(got)
    assert ig.statistics().kernels - before == 1
    assert np.allclose(got.numpy(), ((x.numpy() - y.numpy()) ** 2).mean(-1), rtol=1e-5)


def test_empty():
    x = ig.full((0, 4), 1)
    assert ig.item(ig.sum(x, ig.ALL, False)) == 0 and ig.sum(x, 0, False).numpy().tolist() == [0] * 4
    assert ig.max(x, 1, False).shape == (0,)
    assert np.isnan(ig.mean(x, 0, False).numpy()).all()
