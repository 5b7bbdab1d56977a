# SPDX-License-Identifier: Apache-2.0
"""Sorting and the largest elements against NumPy's stable sort; gradients; errors."""

import numpy as np
import pytest
from test_autograd import check, span

import ig

RNG = np.random.default_rng(47)


def numbers(shape, dtype):
    """Many equals, and what is special."""
    if dtype == "?":
        return RNG.random(shape) < 0.5
    if dtype[0] == "i":
        bits = np.iinfo(dtype)
        a = RNG.integers(-50, 50, shape)
        flat = a.reshape(-1)
        if flat.size > 4:
            flat[RNG.integers(flat.size)] = bits.min
            flat[RNG.integers(flat.size)] = bits.max
        return a.astype(dtype)
    a = (RNG.integers(-20, 20, shape) * RNG.choice([1, 0.37, 1e3, 1e-3], shape)).astype(dtype)
    flat = a.reshape(-1)
    for v in (np.nan, np.inf, -np.inf, -0.0, 0.0, np.nan):
        if flat.size > 8:
            flat[RNG.integers(flat.size)] = v
    return a


def order(a, axis, descending):
    if not descending:
        return np.argsort(a, axis, kind="stable")
    # The other way round and stable: ranks of the negative order.
    if a.dtype.kind == "f":
        key = np.where(np.isnan(a), -np.inf, -a.astype("f8"))
        key = np.where(np.isnan(a), -np.inf, np.where(a == np.inf, -1e300, key))
        return np.argsort(key, axis, kind="stable")
    return np.argsort(~a.astype("i8"), axis, kind="stable")


SHAPES = [(1,), (17,), (3, 1), (29, 5), (7, 113), (2, 3, 31), (2, 512), (3, 513), (2000,), (2, 1500, 2)]


@pytest.mark.parametrize("dtype", ["f4", "f2", "i1", "i4", "i8", "?"])
def test_sort(dtype):
    for shape in SHAPES:
        a = numbers(shape, dtype)
        x = ig.tensor(a)
        for axis in range(len(shape)):
            for descending in (False, True):
                values, indices = ig.sort(x, axis, descending)
                want = order(a, axis, descending)
                assert indices.type == ig.INT64 and values.type == ig.TYPES[a.dtype]
                assert np.array_equal(indices.numpy(), want), (shape, axis, descending)
                got = values.numpy()
                assert got.tobytes() == np.ascontiguousarray(np.take_along_axis(a, want, axis)).tobytes()
    assert np.array_equal(ig.argsort(x, 1, False).numpy(), order(a, 1, False))


@pytest.mark.parametrize("n", [17, 32, 33, 64, 65, 127, 128, 129, 1024, 4000, 4096, 4097])
def test_sizes_of_networks(n):
    """Rows without equals, some that differ in the last bits of their keys alone, and some of one number."""
    a = RNG.standard_normal((6, n)).astype("f4")
    a[1] = (np.float32(3).view("u4") + RNG.permutation(n).astype("u4")).view("f4")
    a[2, ::2] = a[2, 1]
    a[3] = -np.sort(-a[3])
    a[4] = np.nan
    for b in (a, a.astype("f2"), a[:4].view("i4")):
        for descending in (False, True):
            got = ig.argsort(ig.tensor(b), 1, descending).numpy()
            assert np.array_equal(got, order(b, 1, descending)), (b.dtype, descending)


def test_bfloat_and_views():
    a = (numbers((700,), "f4").view("u4") & 0xFFFF0000).view("f4")
    got = ig.argsort(ig.tensor(a, ig.BF16), 0, False).numpy()
    assert np.array_equal(got, order(a, 0, False))
    b = numbers((31, 40), "f4")
    view = ig.slice_(ig.transpose(ig.tensor(b), 0, 1), 0, 3, 40, 2)
    assert np.array_equal(ig.argsort(view, 1, True).numpy(), order(b.T[3::2], 1, True))


def test_long_axis():
    for a in (RNG.standard_normal(1_000_003).astype("f4"), RNG.integers(0, 1 << 62, 300_000)):
        values, indices = ig.sort(ig.tensor(a), 0)
        want = np.argsort(a, kind="stable")
        assert np.array_equal(indices.numpy(), want) and np.array_equal(values.numpy(), a[want])


@pytest.mark.parametrize("n", [9, 31, 113, 128, 129, 900])
def test_topk(n):
    a = numbers((5, n), "f4")
    for k in (0, 1, 7, n):
        for largest in (True, False):
            values, indices = ig.topk(ig.tensor(a), k, 1, largest)
            want = order(a, 1, largest)[:, :k]
            assert np.array_equal(indices.numpy(), want)
            assert np.array_equal(values.numpy(), np.take_along_axis(a, want, 1), equal_nan=True)
    values, _ = ig.topk(ig.tensor(a), 2, 0)
    assert values.shape == (2, n)


def test_gradients():
    for n in (13, 530):
        a = (RNG.permutation(2 * n).reshape(2, n) / n).astype("f4")
        f = [(lambda t: ig.sort(t, 1)[0], lambda x: np.sort(x, 1)),
             (lambda t: ig.sort(t, 1, True)[0], lambda x: -np.sort(-x, 1)),
             (lambda t: ig.topk(t, 3, 1)[0], lambda x: -np.sort(-x, 1)[:, :3])]
        if n < 100:
            f.append((lambda t: ig.sort(t, 0)[0], lambda x: np.sort(x, 0)))
            for g, h in f:
                check(g, h, a)
            continue
        for k in (n, 3):
            x, w = ig.leaf(a), span(0, 1, 2, k)
            values, indices = ig.topk(x, k, 1)
            ig.backward(values, ig.tensor(w))
            want = np.zeros(a.shape)
            np.put_along_axis(want, indices.numpy(), w, 1)
            assert np.array_equal(ig.grad(x).numpy(), want.astype("f4"))
    x = ig.leaf(a[:, :13])
    y = ig.sum(ig.pow_scalar(ig.topk(x, 4, 1)[0], 3), ig.ALL, False)
    g = ig.grad_of([y], [x], create=True)[0]
    second = ig.grad_of([ig.sum(g, ig.ALL, False)], [x])[0].numpy()
    top = a[:, :13] >= -np.sort(-a[:, :13], 1)[:, 3:4]
    assert np.allclose(second, top * 6 * a[:, :13], rtol=1e-5)


def test_nothing_and_errors():
    values, indices = ig.sort(ig.full((0, 4), 1), 1)
    assert values.shape == (0, 4) and indices.numpy().size == 0
    assert ig.sort(ig.full((3, 0), 1), 1)[0].shape == (3, 0)
    x = ig.full((3, 4), 1)
    for f, code, text in ((lambda: ig.topk(x, 5, 1), ig.ARGUMENT, "5 of axis 1 of shape (3, 4)"),
                          (lambda: ig.topk(x, -1, 1), ig.ARGUMENT, "-1 of shape (3, 4)"),
                          (lambda: ig.sort(x, 2), ig.INDEX, "axis 2"),
                          (lambda: ig.sort(ig.full((), 1), 0), ig.SHAPE, "scalar")):
        with pytest.raises(ig.Error) as e:
            f()
        assert e.value.code == code and text in str(e.value), str(e.value)
