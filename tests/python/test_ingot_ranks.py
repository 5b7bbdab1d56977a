# SPDX-License-Identifier: Apache-2.0
"""Median, quantiles, different elements, repetition, stacks of products and long running sums
against NumPy."""

import numpy as np
import pytest

import ingot as ig

RNG = np.random.default_rng(5)


def same(t, a, tolerance=2e-6):
    assert t.shape == np.shape(a), (t.shape, np.shape(a))
    np.testing.assert_allclose(t.numpy(), a, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("shape", [(1,), (7,), (8,), (5, 6), (3, 1, 17), (2, 113)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_median_and_quantiles(shape, keepdims):
    a = RNG.standard_normal(shape).astype("f4")
    t = ig.tensor(a)
    for axis in (None, 0, -1, tuple(range(len(shape)))):
        same(np.median(t, axis, keepdims=keepdims), np.median(a, axis, keepdims=keepdims))
        for method in ("linear", "lower", "higher", "nearest", "midpoint"):
            for q in (0, 0.5, 0.37, [0.1, 1.0, 0.25]):
                same(ig.quantile(t, q, axis, keepdims, method),
                     np.quantile(a.astype("f8"), q, axis, keepdims=keepdims, method=method), 1e-5)


def test_median_of_types_and_edges():
    assert np.median(ig.tensor([4, 1, 3, 2])).item() == 2.5
    assert np.median(ig.tensor([4, 1, 3], dtype="uint8")).dtype == ig.float32
    assert ig.tensor([4, 1, 3], dtype="uint8").median().dtype == ig.uint8
    assert ig.tensor([1.0, 2.0], dtype="float16").median().dtype == ig.float16
    assert np.isnan(np.median(ig.tensor([1.0, np.nan, 2.0])).item())
    assert ig.tensor([np.inf, np.inf]).median().item() == np.inf
    assert ig.tensor([[1.0, np.nan], [3.0, 4.0]]).quantile(0.25, dim=1).tolist()[1] == 3.25
    with pytest.raises(ig.IndexOutOfRange, match="no elements"):
        ig.zeros((0, 3)).median(0)
    with pytest.raises(ValueError, match="between 0 and 1"):
        ig.ones(3).quantile(1.5)
    with pytest.raises(ValueError, match="'cubic'"):
        ig.ones(3).quantile(0.5, interpolation="cubic")
    with pytest.raises(TypeError, match="'axes'"):
        ig.ones(3).quantile(0.5, axes=1)


def test_gradients():
    x = ig.tensor(RNG.permutation(24).reshape(4, 6).astype("f4") / 4)
    for function in (lambda v: v.median(1).values * ig.arange(4),
                     lambda v: v.quantile([0.3, 0.8], axis=0).square()):
        assert ig.gradient_check(function, [x])["passed"]
    y = ig.tensor([3.0, 1.0, 3.0]).requires_grad_()
    (ig.unique(y) * ig.tensor([2.0, 5.0])).sum().backward()
    assert y.grad.tolist() == [5.0, 2.0, 0.0]


@pytest.mark.parametrize("dtype", ["int64", "uint8", "int16", "bool", "float32", "float16"])
@pytest.mark.parametrize("shape", [(0,), (1,), (40,), (6, 7), (3000,)])
def test_unique(dtype, shape):
    a = RNG.integers(0, 2 if dtype == "bool" else 9, shape).astype(dtype)
    values, inverse, counts = ig.unique(ig.tensor(a), return_inverse=True, return_counts=True)
    want, places, many = np.unique(a, return_inverse=True, return_counts=True)
    assert values.dtype == dtype and values.tolist() == want.tolist()
    assert inverse.tolist() == places.reshape(shape).tolist() and counts.tolist() == many.tolist()
    assert ig.tensor(a).unique().tolist() == want.tolist()


def test_unique_of_nan():
    values, counts = ig.unique(ig.tensor([np.nan, 1.0, -0.0, np.nan, 0.0]), return_counts=True)
    assert values.tolist()[:2] == [0, 1] and counts.tolist() == [2, 1, 2]


def test_repeat():
    a = np.arange(6).reshape(2, 3)
    t = ig.tensor(a)
    assert t.repeat(2, 3).tolist() == np.tile(a, (2, 3)).tolist(), "the method is PyTorch's"
    assert t.repeat(2, 1, 2).shape == (2, 2, 6)
    for repeats, axis in ((2, None), (3, 1), ([1, 0, 2], 1), ([2], 0), (np.array([3, 1]), -2)):
        assert ig.repeat(t, repeats, axis).tolist() == np.repeat(a, repeats, axis).tolist()
    for repeats in ([1, 2], [1, -1, 2]):
        with pytest.raises(ValueError, match="axis of 3"):
            ig.repeat(t, repeats, 1)
    with pytest.raises(IndexError):
        ig.repeat(t, [1, 2], 4)


def test_bmm():
    a, b = RNG.random((4, 3, 5), "f4"), RNG.random((4, 5, 2), "f4")
    same(ig.bmm(a, b), a @ b, 1e-5)
    same(ig.tensor(a).bmm(ig.tensor(b)), a @ b, 1e-5)
    for x, y in ((a[0], b), (a, b[:1]), (a, b[0])):
        with pytest.raises(ig.ShapeError, match="B, M, K"):
            ig.bmm(x, y)


# Lines that a SIMD-group walks over, alone and in blocks. The blocks are several dispatches, of
# which one may end its command buffer: a reader waits for the last.
@pytest.mark.parametrize("shape", [(127,), (128,), (257,), (3, 1000), (20000,), (2, 1 << 17),
                                   (1 << 20,)])
def test_long_running_sums(shape):
    ones = ig.ones(shape).requires_grad_()
    for _ in range(3):
        total = ones.cumsum(-1)
        assert (total.detach().numpy() == np.arange(1, shape[-1] + 1)).all()
    total.sum().backward()
    assert (ones.grad.numpy() == np.arange(shape[-1], 0, -1)).all()
    a = RNG.random(shape, "f4")
    same(ig.tensor(a).cumsum(-1) / shape[-1], a.astype("f8").cumsum(-1) / shape[-1])
    signs = np.where(RNG.random(shape) < 0.5, -1, 1)
    assert (ig.tensor(signs, dtype="float16").cumprod(-1).numpy() == signs.cumprod(-1)).all()
