# SPDX-License-Identifier: Apache-2.0
"""Views: what they show, that they do not copy, and what is refused."""

import numpy as np
import pytest

import ig


def step(rng, a, h):
    """One random view of both."""
    what = rng.integers(0, 8)
    if what == 0:
        axes = rng.permutation(a.ndim)
        return a.transpose(axes), ig.permute(h, axes)
    if what == 1 and a.ndim:
        axis = int(rng.integers(-a.ndim, a.ndim))
        n = a.shape[axis]
        start, stop = (int(v) for v in rng.integers(-n - 1, n + 2, 2))
        by = int(rng.integers(1, 4))
        index = [slice(None)] * a.ndim
        index[axis] = slice(start, stop, by)
        return a[tuple(index)], ig.slice_(h, axis, start, stop, by)
    if what == 2:
        n = a.size
        d = int(rng.choice([d for d in range(1, n + 1) if n % d == 0])) if n else 0
        shape = [d, n // d if d else 3]
        shape = [1] + shape if rng.integers(2) else shape
        return a.reshape(shape), ig.reshape(h, *shape)
    if what == 3 and a.ndim and all(a.shape):
        axis = int(rng.integers(0, a.ndim))
        i = int(rng.integers(-a.shape[axis], a.shape[axis]))
        return np.take(a, i, axis), ig.select(h, axis, i)
    if what == 4 and a.ndim < 6:
        axis = int(rng.integers(-a.ndim - 1, a.ndim + 1))
        return np.expand_dims(a, axis), ig.unsqueeze(h, axis)
    if what == 5:
        return np.squeeze(a), ig.squeeze(h, ig.ALL)
    if what == 6 and a.ndim < 6:
        shape = (2,) + tuple(3 if n == 1 else n for n in a.shape)
        return np.broadcast_to(a, shape), ig.expand(h, *shape)
    return np.negative(a), ig.neg(h)


@pytest.mark.parametrize("seed", range(150))
def test_random_views(seed):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal(rng.integers(1, 5, rng.integers(0, 5))).astype("f4")
    h = ig.tensor(np.asarray(a))
    for _ in range(rng.integers(1, 7)):
        if a.size > 3000:
            break
        a, h = step(rng, a, h)
        assert h.shape == np.shape(a)
    assert np.array_equal(h.numpy(), a)
    assert np.array_equal(ig.contiguous(h).numpy(), a)


def test_views_share_memory():
    x = ig.tensor(np.arange(24, dtype="f4").reshape(2, 3, 4))
    before = ig.pool_statistics().live_memory
    views = [ig.reshape(x, 6, -1), ig.transpose(x, 0, 2), ig.slice_(x, 1, 0, 3, 2),
             ig.expand(ig.unsqueeze(x, 0), 9, 2, 3, 4), ig.flatten(x, 0, 1), ig.select(x, 0, 1)]
    assert ig.pool_statistics().live_memory == before
    assert [v.shape for v in views] == [(6, 4), (4, 3, 2), (2, 2, 4), (9, 2, 3, 4), (6, 4), (3, 4)]
    assert views[1].strides == (1, 4, 12)


def test_write_reaches_views():
    x = ig.tensor(np.zeros((2, 3), "f4"))
    old = ig.transpose(x, 0, 1)
    y = ig.add_scalar(x, 1)  # not run yet
    x.write(np.full((2, 3), 5))
    assert (x.numpy() == 5).all() and (old.numpy() == 5).all() and (y.numpy() == 1).all()


@pytest.mark.parametrize("make,code,text", [
    (lambda x: ig.reshape(x, 4, 2), ig.SHAPE, "(4, 2) does not fit shape (2, 3)"),
    (lambda x: ig.reshape(x, -1, -1), ig.SHAPE, "more than one -1"),
    (lambda x: ig.reshape(x, -1, 4), ig.SHAPE, "(2, 3)"),
    (lambda x: ig.reshape(x, *[1] * 9), ig.SHAPE, "0 to 8 axes, not 9"),
    (lambda x: ig.reshape(x, -2, 3), ig.SHAPE, "negative"),
    (lambda x: ig.reshape(x, 2, -2**63), ig.SHAPE, "negative"),
    (lambda x: ig.reshape(x, 2**62, 4, -1), ig.SHAPE, "2^31"),
    (lambda x: ig.reshape(x, 2**40, 2**40, -1, -1), ig.SHAPE, "more than one -1"),
    (lambda x: ig.permute(x, [0, 0]), ig.INDEX, "axis 0 comes twice"),
    (lambda x: ig.permute(x, [0, 2]), ig.INDEX, "axis 2"),
    (lambda x: ig.transpose(x, 0, -3), ig.INDEX, "axis -3"),
    (lambda x: ig.slice_(x, 2, 0, 1, 1), ig.INDEX, "axis 2"),
    (lambda x: ig.slice_(x, 0, 0, 1, 0), ig.ARGUMENT, "step"),
    (lambda x: ig.select(x, 1, 3), ig.INDEX, "index 3 of axis 1, which has 3"),
    (lambda x: ig.expand(x, 2, 4), ig.SHAPE, "(2, 3) does not expand to (2, 4)"),
    (lambda x: ig.expand(x, 3), ig.SHAPE, "(2, 3)"),
    (lambda x: ig.squeeze(x, 0), ig.SHAPE, "axis 0 of shape (2, 3) is not 1"),
    (lambda x: ig.unsqueeze(x, 4), ig.INDEX, "axis 4"),
    (lambda x: ig.cast(x, 77), ig.TYPE, "77"),
    (lambda x: ig.sum(x, 2, False), ig.INDEX, "axis 2"),
    (lambda x: ig.matmul(x, x), ig.SHAPE, "(2, 3) and (2, 3)"),
    (lambda x: ig.matmul(x, ig.scalar(ig.device, ig.F32, 1)), ig.SHAPE, "()"),
    (lambda x: ig.item(x), ig.SHAPE, "(2, 3)"),
    (lambda x: ig.full((1 << 20, 1 << 20), 0), ig.SHAPE, "2^31"),
    (lambda x: ig.full((2,), 0, 9), ig.TYPE, "9"),
    (lambda x: ig.max(ig.slice_(x, 0, 0, 0, 1), 0, False), ig.SHAPE, "nothing to choose from"),
])
def test_errors(make, code, text):
    with pytest.raises(ig.Error) as e:
        make(ig.tensor(np.zeros((2, 3), "f4")))
    assert e.value.code == code and text in str(e.value), str(e.value)


def test_null_in_null_out():
    import ctypes as C
    error = C.c_void_p()
    assert ig.lib.ig_add(None, None, C.byref(error)) in (None, 0) and not error.value
    assert not ig.lib.ig_reshape(None, 0, None, C.byref(error)) and not error.value
    assert ig._rank(None) == 0 and not ig._shape(None)
    ig._release(None)


def test_sizes_are_exact():
    x = ig.tensor(np.zeros((2, 3), "f4"))
    import ctypes as C
    for n in (0, 23, 25):
        with pytest.raises(ig.Error) as e:
            ig.call(ig._read, x, C.create_string_buffer(64), n)
        assert e.value.code == ig.ARGUMENT and "24" in str(e.value) and "(2, 3)" in str(e.value)
        with pytest.raises(ig.Error):
            ig.call(ig._write, x, C.create_string_buffer(64), n)


def test_check_finite():
    a = np.zeros((3, 4), "f4")
    assert ig.check_finite(ig.tensor(a))
    a[1, 2] = np.nan
    with pytest.raises(ig.Error) as e:
        ig.check_finite(ig.tensor(a))
    assert e.value.code == ig.FINITE and "(1, 2)" in str(e.value)


def test_creation():
    assert (ig.full((2, 3), 7, ig.I8).numpy() == 7).all()
    assert (ig.arange(ig.device, ig.F32, 1, 0.5, 5).numpy() == [1, 1.5, 2, 2.5, 3]).all()
    assert ig.item(ig.scalar(ig.device, ig.F16, 1.5)) == 1.5
    assert ig.full((0, 4), 1).numpy().shape == (0, 4)


def test_random():
    """Philox's published words for a key and counter of 0, and what numbers of this kind are like."""
    words = np.array([0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8])
    assert np.array_equal(ig.uniform((4,), 0, 1, 0).numpy(), (words >> 8) / 2**24)
    u, n = ig.uniform((100, 201), -1, 3, 5).numpy(), ig.randn((100, 201), 5).numpy()
    assert u.min() >= -1 and u.max() < 3 and abs(u.mean() - 1) < 0.03
    assert abs(n.mean()) < 0.03 and abs(n.std() - 1) < 0.02 and abs((n**4).mean() - 3) < 0.2
    assert np.array_equal(u.ravel()[:9], ig.uniform((9,), -1, 3, 5).numpy())
    assert not np.array_equal(n, ig.randn((100, 201), 6).numpy())
    assert ig.randn((3,), 1, ig.F16).type == ig.F16
    with pytest.raises(ig.Error):
        ig.randn((3,), 1, ig.I32)
