# SPDX-License-Identifier: Apache-2.0
"""Concatenation and its like, indexing, normalisation: values against NumPy, gradients, errors."""

import os

import numpy as np
import pytest
from test_autograd import check, span

import ig

RNG = np.random.default_rng(21)


@pytest.mark.parametrize("dtype", ["f4", "f2", "i1", "i8"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_concat_stack_pad(dtype, axis):
    a = (RNG.standard_normal((3, 4, 5)) * 9).astype(dtype)
    pieces = [np.take(a, range(k), axis) for k in (3, 0, 1, 2, 3, 1)]
    got = ig.concat([ig.tensor(np.ascontiguousarray(p)) for p in pieces], axis)
    assert np.array_equal(got.numpy(), np.concatenate(pieces, axis)) and got.type == ig.TYPES[a.dtype]
    x = ig.tensor(a)
    assert np.array_equal(ig.stack([x, x], axis).numpy(), np.stack([a, a], axis))
    widths = [(0, 0)] * 3
    widths[axis] = (2, 1)
    assert np.array_equal(ig.pad(x, axis, 2, 1, -3).numpy(), np.pad(a, widths, constant_values=-3))
    flipped = ig.transpose(x, 0, 2)  # not contiguous, part of a larger whole
    assert np.array_equal(ig.cat([ig.slice_(flipped, 1, 1, 3, 1)] * 2, 0).numpy(),
                          np.concatenate([a.T[:, 1:3]] * 2, 0))


@pytest.mark.parametrize("shape", [(3, 40), (2, 17, 33), (40, 1), (1, 300), (5, 2, 16)])
def test_long_lines(shape):
    """Lines of 32 elements and more have a kernel of their own."""
    for dtype in ("f4", "f2", "i1", "i8"):
        a = (RNG.standard_normal(shape) * 50).astype(dtype)
        x = ig.tensor(a)
        for axis in range(len(shape)):
            widths = [(0, 0)] * len(shape)
            widths[axis] = (3, 19)
            assert np.array_equal(ig.pad(x, axis, 3, 19, -7).numpy(), np.pad(a, widths, constant_values=-7))
            b = np.concatenate([a, a[:1].repeat(shape[0], 0)] * 2, axis)
            pieces = [x, ig.tensor(np.ascontiguousarray(a[:1].repeat(shape[0], 0)))] * 2
            assert np.array_equal(ig.concat(pieces, axis).numpy(), b)
    part = ig.slice_(ig.tensor(a), 0, shape[0] // 2, shape[0], 1)  # begins inside its memory
    assert np.array_equal(ig.pad(part, -1, 1, 2, 5).numpy(),
                          np.pad(a[shape[0] // 2:], [(0, 0)] * (len(shape) - 1) + [(1, 2)], constant_values=5))


@pytest.mark.parametrize("lengths", [(40, 32, 33, 64, 100, 40), (50, 3, 70, 70), (5000, 4097, 1, 0, 33)])
def test_concat_of_many(lengths):
    """Four pieces with long lines at a time."""
    for dtype in ("f4", "i1"):
        for axis in (0, 1):
            pieces = [(RNG.standard_normal((19, n) if axis else (n, 19)) * 50).astype(dtype) for n in lengths]
            got = ig.concat([ig.tensor(p) for p in pieces], axis).numpy()
            assert np.array_equal(got, np.concatenate(pieces, axis))


def test_concat_types_and_errors():
    a, b = ig.tensor(np.ones((2, 3), "f2")), ig.tensor(np.ones((2, 1), "i4"))
    assert ig.concat([a, b], 1).type == ig.F16
    for f, text in ((lambda: ig.concat([a, b], 0), "(2, 3) and (2, 1) differ beside axis 0"),
                    (lambda: ig.concat([], 0), "no tensors"), (lambda: ig.concat([a], 2), "axis 2"),
                    (lambda: ig.stack([a, b], 0), "(2, 3) and (2, 1)"),
                    (lambda: ig.pad(a, 0, -1, 0, 0), "-1 before"),
                    (lambda: ig.split(a, 0, 0), "pieces of 0"), (lambda: ig.chunk(a, 0, 0), "0 chunks"),
                    (lambda: ig.split(a, 1, 1, room=2), "3 pieces of shape (2, 3), room for 2")):
        with pytest.raises(ig.Error) as e:
            f()
        assert text in str(e.value), str(e.value)


def test_split_chunk_unstack():
    a = np.arange(35).reshape(5, 7).astype("i4")
    x = ig.tensor(a)
    for got, want in ((ig.split(x, 3, 1), np.split(a, [3, 6], 1)), (ig.chunk(x, 2, 0), [a[:3], a[3:]]),
                      (ig.unstack(x, 1), list(a.T)), (ig.split(x, 1, 0), np.split(a, 5))):
        assert len(got) == len(want)
        assert all(np.array_equal(g.numpy(), w) for g, w in zip(got, want))


def test_index_select_and_embedding():
    a, i = span(-2, 2, 5, 4, 3), np.array([3, 0, 3, 1, 3])
    for axis in (0, 1, 2):
        k = i % a.shape[axis]
        check(lambda x: ig.index_select(x, axis, ig.tensor(k)), lambda x: np.take(x, k, axis), a)
    ids = RNG.integers(0, 6, (2, 3)).astype("i4")
    check(lambda t: ig.embedding(t, ig.tensor(ids)), lambda t: t[ids], span(-2, 2, 6, 4))
    words = RNG.integers(-100, 100, (6, 4)).astype("i8")
    assert np.array_equal(ig.embedding(ig.tensor(words), ig.tensor(ids)).numpy(), words[ids])


@pytest.mark.parametrize("inner", [31, 32, 113, 300])
def test_long_rows(inner):
    """Rows of 32 and more have kernels of their own."""
    i = RNG.integers(0, 7, 37)
    for dtype in ("f4", "f2", "i1", "i8"):
        a = (RNG.standard_normal((7, inner)) * 50).astype(dtype)
        assert np.array_equal(ig.index_select(ig.tensor(a), 0, ig.tensor(i)).numpy(), a[i])
    x, w = ig.leaf(span(-1, 1, 7, inner)), span(-1, 1, 37, inner)
    ig.backward(ig.index_select(x, 0, ig.tensor(i)), ig.tensor(w))
    want = np.zeros((7, inner))
    np.add.at(want, i, w)
    assert np.allclose(ig.grad(x).numpy(), want, atol=1e-5)


def test_gather_and_scatter():
    a, i = span(-2, 2, 4, 5), RNG.integers(0, 4, (3, 5))
    check(lambda x: ig.gather(x, 0, ig.tensor(i)), lambda x: np.take_along_axis(x, i, 0), a)
    j = RNG.integers(0, 5, (4, 2))
    check(lambda x: ig.gather(x, -1, ig.tensor(j)), lambda x: np.take_along_axis(x, j, 1), a)

    def scatter(x, s):
        y = x.copy()
        np.add.at(y, (i, np.arange(5)[None]), s)
        return y
    check(lambda x, s: ig.scatter_add(x, 0, ig.tensor(i), s), scatter, a, span(-2, 2, 3, 5))


@pytest.mark.parametrize("shape, axis, k", [((70, 1024), 0, 101), ((2, 33, 2048), 1, 17), ((300, 1024), 0, 20)])
@pytest.mark.parametrize("dtype", ["f4", "f2", "i8"])
def test_gather_from_rows_that_are_pages_apart(shape, axis, k, dtype):
    """Columns lie together while they are read, unless few rows are asked for."""
    a = (RNG.standard_normal(shape) * 50).astype(dtype)
    sizes = list(shape)
    sizes[axis] = k
    i = RNG.integers(0, shape[axis], sizes)
    for index in (i, i.astype("i4")):
        assert np.array_equal(ig.gather(ig.tensor(a), axis, ig.tensor(index)).numpy(), np.take_along_axis(a, i, axis))


@pytest.mark.parametrize("shape, axis", [((600, 140), 0), ((3, 513, 45), 1), ((70000, 9), 0), ((2100, 32), 0)])
def test_scatter_to_many_rows(shape, axis):
    """Columns lie together while rows of a large matrix are added to; sums in order, but on GPUs."""
    k = list(shape)
    k[axis] = 301
    a, s = RNG.standard_normal(shape).astype("f4"), RNG.standard_normal(k).astype("f4")
    for dtype in ("i4", "i8"):
        i = RNG.integers(0, shape[axis], k).astype(dtype)
        i[(slice(None),) * axis + (slice(0, 40),)] = 5  # many on one row
        want, place = a.copy(), list(np.indices(k))
        place[axis] = i
        np.add.at(want, tuple(place), s)
        got = ig.scatter_add(ig.tensor(a), axis, ig.tensor(i), ig.tensor(s)).numpy()
        assert np.abs(got - want).max() <= (1e-5 if os.environ.get("INGOT_TENSORS") == "gpu" else 0)


def test_many_equal_indices_in_half():
    """3000 ones on one row: added in float, in order, rounded once."""
    table = ig.leaf(np.zeros((2, 3), "f2"))
    y = ig.embedding(table, ig.tensor(np.ones(3000, "i4")))
    ig.backward(ig.sum(y, ig.ALL, False))
    assert ig.grad(table).numpy().tolist() == [[0] * 3, [3000] * 3]


def test_index_errors():
    x = ig.tensor(np.zeros((4, 5), "f4"))
    for f, code, text in (
            (lambda: ig.index_select(x, 0, ig.tensor(np.array([0, 4]))), ig.INDEX, "index 4 at position 1, there are 4"),
            (lambda: ig.embedding(x, ig.tensor(np.array([-1]))), ig.INDEX, "index -1"),
            (lambda: ig.index_select(x, 0, ig.tensor(np.array([0.5], "f4"))), ig.TYPE, "float32"),
            (lambda: ig.index_select(x, 0, ig.tensor(np.zeros((2, 2), "i4"))), ig.SHAPE, "(2, 2) for shape (4, 5)"),
            (lambda: ig.gather(x, 0, ig.tensor(np.zeros((2, 6), "i4"))), ig.SHAPE, "(2, 6) for shape (4, 5)"),
            (lambda: ig.scatter_add(x, 0, ig.tensor(np.zeros((2, 5), "i4")), x), ig.SHAPE, "(2, 5)"),
            (lambda: ig.layer_norm(x, 3), ig.ARGUMENT, "last 3 axes of shape (4, 5)"),
            (lambda: ig.rms_norm(x, 1, ig.full((4,), 1)), ig.SHAPE, "(4,)")):
        with pytest.raises(ig.Error) as e:
            f()
        assert e.value.code == code and text in str(e.value), str(e.value)


@pytest.mark.parametrize("dtype", ["i4", "i8"])
@pytest.mark.parametrize("n", [131072, 131073, 139999])
def test_one_of_many_indices_is_outside(n, dtype):
    """Kernels look at many: each is seen, the first and the last, and the host says which."""
    x, right = ig.tensor(np.arange(5, dtype="f4")), RNG.integers(0, 5, n).astype(dtype)
    assert np.array_equal(ig.index_select(x, 0, ig.tensor(right)).numpy(), np.arange(5)[right])
    for at in (0, 31, n // 2, n - 32, n - 1):
        for value in (-1, 5, np.iinfo(dtype).min, np.iinfo(dtype).max):
            wrong = right.copy()
            wrong[at] = value
            with pytest.raises(ig.Error) as e:
                ig.index_select(x, 0, ig.tensor(wrong))
            assert e.value.code == ig.INDEX and f"at position {at}, there are 5" in str(e.value), str(e.value)


def norm(x, w, b, axes):
    m = x.mean(axes, keepdims=True)
    return (x - m) / np.sqrt(((x - m) ** 2).mean(axes, keepdims=True) + 1e-5) * w + b


def test_norms():
    check(lambda x, w, b: ig.layer_norm(x, 1, w, b), lambda x, w, b: norm(x, w, b, -1),
          span(-2, 2, 4, 7), span(0.5, 2, 7), span(-1, 1, 7), tolerance=1e-4)
    check(lambda x: ig.layer_norm(x, 2), lambda x: norm(x, 1, 0, (1, 2)), span(-2, 2, 3, 4, 2), tolerance=1e-4)
    check(lambda x, w: ig.rms_norm(x, 1, w), lambda x, w: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * w,
          span(-2, 2, 4, 7), span(0.5, 2, 7), tolerance=1e-4)
    half = ig.layer_norm(ig.tensor((RNG.standard_normal((2, 500)) * 300).astype("f2")))
    assert half.type == ig.F16 and np.allclose(half.numpy().astype("f4").std(-1), 1, atol=1e-2)


@pytest.mark.parametrize("n", (127, 128, 160, 1000, 40000))
def test_cumsum_of_lines(n):
    """Long enough for a SIMD-group a line, or several; whole numbers, so that every order is exact."""
    a = RNG.integers(-2, 3, (3, n)).astype(np.float32)
    x, weights = ig.leaf(a), RNG.integers(-2, 3, (3, n)).astype(np.float32)
    assert (ig.cumsum(x, 1).numpy() == np.cumsum(a, 1)).all()
    ig.backward(ig.sum(ig.mul(ig.cumsum(x, 1), ig.tensor(weights)), ig.ALL, False))
    got, want = ig.grad(x).numpy(), np.flip(np.cumsum(np.flip(weights, 1), 1), 1)
    assert (got == want).all(), np.abs(got - want).max()


@pytest.mark.parametrize("shape", ((64, 64), (40, 9), (9, 200), (33, 65), (3, 70, 31)))
@pytest.mark.parametrize("kind", ("float32", "int32"))
def test_turned_over(shape, kind):
    a = RNG.integers(-1000, 1000, shape).astype(kind)
    turned = ig.contiguous(ig.transpose(ig.tensor(a), -1, -2)).numpy()
    assert (turned == np.swapaxes(a, -1, -2)).all()


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_cumsum(axis):
    check(lambda x: ig.cumsum(x, axis), lambda x: np.cumsum(x, axis), span(-2, 2, 3, 4, 5))
    a = RNG.integers(-100, 100, (3, 4, 5)).astype("i1")
    got = ig.cumsum(ig.tensor(a), axis)
    assert got.type == ig.INT64 and np.array_equal(got.numpy(), np.cumsum(a.astype("i8"), axis))


def test_cumsum_of_half_adds_in_float():
    got = ig.cumsum(ig.full((3000,), 1, ig.F16), 0).numpy()
    assert got[2047] == 2048 and got[2999] == 3000


# ---- Replacing, running products ----

def scattered(x, axis, i, s):
    y = x.copy()
    where = list(np.indices(i.shape))
    where[axis] = i
    for k in np.ndindex(*i.shape):  # in order: of equal indices the last counts
        y[tuple(w[k] for w in where)] = s[k]
    return y


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_scatter(axis):
    a = span(-2, 2, 4, 5, 3)
    i = RNG.integers(0, a.shape[axis], (3, 4, 2))
    check(lambda x, s: ig.scatter(x, axis, ig.tensor(i), s), lambda x, s: scattered(x, axis, i, s),
          a, span(-2, 2, 3, 4, 2))
    for dtype in ("i1", "i8", "?", "f2"):
        x, s = (RNG.integers(0, 2, n).astype(dtype) for n in (a.shape, i.shape))
        got = ig.scatter(ig.tensor(x), axis, ig.tensor(i), ig.tensor(s)).numpy()
        assert np.array_equal(got, scattered(x, axis, i, s))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_index_copy_and_add(axis):
    a = span(-2, 2, 4, 5, 3)
    i = np.array([2, 0, 2])
    shape = list(a.shape)
    shape[axis] = 3

    def copy(x, s):
        y = np.moveaxis(x.copy(), axis, 0)
        for k, n in enumerate(i):
            y[n] = np.moveaxis(s, axis, 0)[k]
        return np.moveaxis(y, 0, axis)

    def add(x, s):
        y = np.moveaxis(x.copy(), axis, 0)
        np.add.at(y, i, np.moveaxis(s, axis, 0))
        return np.moveaxis(y, 0, axis)
    check(lambda x, s: ig.index_copy(x, axis, ig.tensor(i), s), copy, a, span(-2, 2, *shape))
    check(lambda x, s: ig.index_add(x, axis, ig.tensor(i), s), add, a, span(-2, 2, *shape))
    b = ig.tensor(a.T)
    view = ig.permute(b, [2, 1, 0])
    got = ig.index_copy(view, axis, ig.tensor(i), ig.full(shape, 7)).numpy()
    assert np.array_equal(got, copy(a, np.full(shape, 7, "f4")))


def test_replacing_nothing_and_errors():
    x = ig.tensor(np.arange(6).reshape(2, 3))
    none = ig.tensor(np.zeros((0, 3), "i8"))
    assert np.array_equal(ig.scatter(x, 0, none, none).numpy(), x.numpy())
    assert np.array_equal(ig.index_copy(x, 0, ig.tensor(np.zeros(0, "i8")), none).numpy(), x.numpy())
    one = ig.tensor(np.zeros((1, 3), "i8"))
    for f, code, text in (
            (lambda: ig.scatter(x, 0, ig.tensor(np.full((1, 3), 2)), one), ig.INDEX, "index 2"),
            (lambda: ig.scatter(x, 0, one, x), ig.SHAPE, "indices of shape (1, 3), elements of shape (2, 3)"),
            (lambda: ig.scatter(x, 0, one, ig.full((1, 3), 1)), ig.TYPE, "float32 to int64"),
            (lambda: ig.index_copy(x, 1, ig.tensor(np.array([0])), one), ig.SHAPE, "(1, 3), for axis 1 of shape (2, 3)"),
            (lambda: ig.index_copy(x, 0, ig.tensor(np.array([-1])), one), ig.INDEX, "index -1"),
            (lambda: ig.index_add(x, 0, ig.tensor(np.array([0])), one), ig.TYPE, "int64"),
            (lambda: ig.cumprod(ig.full((), 1), 0), ig.SHAPE, "scalar"), (lambda: ig.cumsum(x, 2), ig.INDEX, "axis 2")):
        with pytest.raises(ig.Error) as e:
            f()
        assert e.value.code == code and text in str(e.value), str(e.value)


@pytest.mark.parametrize("shape,axis", [((100_003,), 0), ((3, 5000), 1), ((5000, 3), 0), ((2, 3000, 2), 1), ((0, 3), 0)])
def test_long_running_sums(shape, axis):
    """Cut into blocks: whole numbers are exact, sums of floats as good as one by one."""
    a = RNG.integers(-1000, 1000, shape)
    assert np.array_equal(ig.cumsum(ig.tensor(a), axis).numpy(), np.cumsum(a, axis))
    f = RNG.standard_normal(shape).astype("f4")
    want = np.cumsum(f.astype("f8"), axis)
    # Rounding of sums of n numbers of about 1 that reach some hundreds: 6e-8 each, at random.
    assert np.allclose(ig.cumsum(ig.tensor(f), axis).numpy(), want, atol=2e-3)
    x = ig.leaf(f)
    ig.backward(ig.sum(ig.cumsum(x, axis), ig.ALL, False))
    n = np.arange(shape[axis], 0, -1).reshape([-1 if i == axis else 1 for i in range(len(shape))])
    assert np.array_equal(ig.grad(x).numpy(), np.broadcast_to(n, shape).astype("f4"))


def test_cumprod():
    for axis in (0, 1):
        check(lambda x: ig.cumprod(x, axis), lambda x: np.cumprod(x, axis), span(0.5, 1.5, 5, 7))
        a = span(-1.5, 1.5, 5, 7)
        a[2, 3] = a[4, 3] = a[2, 5] = a[0, 0] = 0  # one zero in a line, and two
        check(lambda x: ig.cumprod(x, axis), lambda x: np.cumprod(x, axis), a)
    b = RNG.integers(-3, 4, (4, 9)).astype("i1")
    got = ig.cumprod(ig.tensor(b), 1)
    assert got.type == ig.INT64 and np.array_equal(got.numpy(), np.cumprod(b.astype("i8"), 1))
    ones = RNG.choice([1, -1], 3001).astype("f4")
    assert np.array_equal(ig.cumprod(ig.tensor(ones), 0).numpy(), np.cumprod(ones))
