# SPDX-License-Identifier: Apache-2.0
"""Products of matrices: shapes, layouts, stacks, vectors, types, and what runs behind them."""

import numpy as np
import pytest
from helpers import gelu

import ig

# A dot product in float of k terms: a few roundings of the sum of their sizes; one more to half.
TOLERANCE = {"f4": 2e-6, "f2": 1e-3}


def layouts(a):
    yield ig.tensor(a)
    yield ig.transpose(ig.tensor(np.ascontiguousarray(a.T)), 0, 1)


@pytest.mark.parametrize("dtype", ["f4", "f2"])
@pytest.mark.parametrize("m,k,n", [(1, 1, 1), (3, 5, 7), (65, 17, 129), (113, 255, 29),
                                   (200, 270, 515)])
def test_layouts(dtype, m, k, n, rng):
    a, b = rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((k, n)).astype(dtype)
    want = a.astype("f8") @ b.astype("f8")
    limit = TOLERANCE[dtype] * (np.abs(a).astype("f8") @ np.abs(b).astype("f8") + 1e-3)
    for x in layouts(a):
        for y in layouts(b):
            got = ig.matmul(x, y).numpy()
            assert got.shape == want.shape and (np.abs(got - want) <= limit).all()


@pytest.mark.parametrize("sa,sb", [((2, 3, 5, 7), (3, 7, 4)), ((4, 5, 7), (4, 7, 4)), ((7,), (7,)),
                                   ((4, 5, 7), (7,)), ((5,), (4, 5, 7)), ((3, 5, 7), (7, 2)),
                                   ((5, 7), (3, 7, 2)), ((2, 1, 5, 7), (1, 3, 7, 2)),
                                   ((3, 0), (0, 4)), ((0, 3), (3, 2)), ((2, 3), (3, 0))])
def test_stacks_and_vectors(sa, sb, rng):
    a, b = rng.standard_normal(sa).astype("f4"), rng.standard_normal(sb).astype("f4")
    got = ig.matmul(ig.tensor(a), ig.tensor(b)).numpy()
    want = a.astype("f8") @ b.astype("f8")
    assert got.shape == want.shape and np.allclose(got, want, atol=1e-5)


def test_strided(rng):
    a = rng.standard_normal((9, 20)).astype("f4")
    x = ig.slice_(ig.slice_(ig.tensor(a), 1, 0, 20, 2), 0, 1, 9, 3)
    v = a[1:9:3, ::2]
    assert np.allclose(ig.matmul(x, ig.transpose(x, 0, 1)).numpy(), v @ v.T, atol=1e-5)


def test_integers(rng):
    a, b = rng.integers(-99, 99, (5, 6)).astype("i4"), rng.integers(-99, 99, (6, 3)).astype("i4")
    got = ig.matmul(ig.tensor(a), ig.tensor(b))
    assert got.type == ig.I32 and (got.numpy() == a @ b).all()


def test_mixed_types(rng):
    a, b = rng.standard_normal((5, 6)).astype("f2"), rng.standard_normal((6, 3)).astype("f4")
    got = ig.matmul(ig.tensor(a), ig.tensor(b))
    assert got.type == ig.F32 and np.allclose(got.numpy(), a.astype("f8") @ b, atol=1e-5)


@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_epilogue(dtype, rng):
    """Bias, residual and activation are part of the product's kernel, with the bits of separate
    kernels."""
    a, b = rng.standard_normal((70, 33)).astype(dtype), rng.standard_normal((33, 65)).astype(dtype)
    bias, rest = rng.standard_normal(65).astype(dtype), rng.standard_normal((70, 65)).astype(dtype)
    x, w, c, r = (ig.tensor(v) for v in (a, b, bias, rest))
    before = ig.statistics().kernels
    fused = ig.evaluate(ig.gelu(ig.add(ig.add(ig.matmul(x, w), c), r)))
    assert ig.statistics().kernels - before == 1
    y = ig.evaluate(ig.matmul(x, w))
    y = ig.evaluate(ig.add(y, c))
    y = ig.evaluate(ig.add(y, r))
    y = ig.gelu(y)
    assert fused.numpy().tobytes() == y.numpy().tobytes()
    want = gelu(a.astype("f8") @ b.astype("f8") + bias + rest)
    assert np.abs(fused.numpy() - want).max() < (1e-4 if dtype == "f4" else 0.1)


def test_product_used_twice(rng):
    a = rng.standard_normal((8, 8)).astype("f4")
    p = ig.matmul(ig.tensor(a), ig.tensor(a))
    y, z = ig.relu(p), ig.neg(p)
    want = a @ a
    assert np.allclose(y.numpy(), np.maximum(want, 0), atol=1e-5)
    assert np.allclose(z.numpy(), -want, atol=1e-5) and np.allclose(p.numpy(), want, atol=1e-5)
    q = ig.matmul(ig.tensor(a), ig.tensor(a))
    assert np.allclose(ig.add(q, ig.transpose(q, 0, 1)).numpy(), want + want.T, atol=1e-5)
