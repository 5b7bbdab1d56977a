# SPDX-License-Identifier: Apache-2.0
"""Indexing against NumPy: by hand, and by chance."""

import random
import warnings

import numpy as np
import pytest

import ingot as ig

SHAPE = (4, 3, 5)


def pair():
    a = np.arange(60, dtype="i4").reshape(SHAPE)
    return a, ig.tensor(a)


KEYS = [0, -1, slice(None), slice(1, 3), slice(None, None, 2), slice(None, None, -1),
        slice(3, 0, -2), slice(10, 20), slice(-2, None), ..., None, (0, 1), (0, 1, 2), (..., 0),
        (0, ..., -1), (None, 0, None, slice(1, 2)), (slice(None), 1), (slice(None), slice(1), 3),
        [0, 2], [-1], [], [[0, 1], [2, 3]], ([0, 1], [1, 2]), ([0, 1], slice(None), [1, 2]),
        (slice(None), [0, 2]), (slice(None), [0, 2], [1, 4]), (0, [0, 2]), (0, slice(None), [1, 2]),
        ([[0], [1]], [0, 2]), (slice(None), 1, [0, 3]), (..., [0, 1]), ([1, 2], None),
        (None, [1, 2]), ([0, 3], ..., 2), (slice(None, None, -1), [0, 1]), ()]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_keys(key):
    a, t = pair()
    got = t[key]
    np.testing.assert_array_equal(got.numpy(), a[key])
    assert got.shape == a[key].shape
    if not isinstance(key, tuple) or () != key:
        t[key] = -7
        a[key] = -7
        np.testing.assert_array_equal(t.numpy(), a)


def test_arrays_as_keys():
    a, t = pair()
    for key in (np.array([1, 2]), np.array([[True] * 3] * 4), np.int64(2), np.array(1),
                a[:, 0, 0] > 20, a > 30, (slice(None), np.array([True, False, True])),
                (a[:, 0, 0] > 20, 1)):
        np.testing.assert_array_equal(t[key].numpy(), a[key])
        if isinstance(key, np.ndarray):
            np.testing.assert_array_equal(t[ig.tensor(key)].numpy(), a[key])
    np.testing.assert_array_equal(t[t % 2 == 0].numpy(), a[a % 2 == 0])
    np.testing.assert_array_equal(t[ig.tensor([3, 0])].numpy(), a[[3, 0]])


def test_assignment():
    a, t = pair()
    for key, value in ((1, 5), ((0, 1), [1, 2, 3, 4, 5]), ((..., 0), np.ones((4, 3))),
                       (slice(1, 3), np.zeros((1, 3, 5))), ([0, 2], 9), (a % 3 == 0, -1),
                       ((slice(None), [0, 2], slice(None, None, 2)), 3), (slice(None), 8)):
        a[key] = value
        t[key if not isinstance(key, np.ndarray) else ig.tensor(key)] = value
        np.testing.assert_array_equal(t.numpy(), a)
    assert t.dtype == ig.int32
    before = t[0]
    t[0] = 100
    assert before.tolist() == t[0].tolist(), "views see what is changed"


def random_item(n):
    kind = random.randrange(6)
    if kind == 0 and n:
        return random.randrange(-n, n)
    if kind <= 2:
        step = random.choice([None, 1, 2, 3, -1, -2])
        bound = [None, *range(-n - 2, n + 3)]
        return slice(random.choice(bound), random.choice(bound), step)
    if kind == 3 and n:
        return [random.randrange(-n, n) for _ in range(3)]
    if kind == 4 and n:
        return np.array([[random.randrange(-n, n)] for _ in range(2)])
    return slice(None)


@pytest.mark.parametrize("seed", range(8))
def test_by_chance(seed):
    random.seed(seed)
    for _ in range(60):
        shape = [random.randrange(1, 5) for _ in range(random.randrange(1, 5))]
        a = np.arange(np.prod(shape), dtype="f4").reshape(shape)
        t = ig.tensor(a)
        key = [random_item(n) for n in shape[:random.randrange(0, len(shape) + 1)]]
        if random.random() < 0.3:
            key.insert(random.randrange(len(key) + 1), None)
        if random.random() < 0.3:
            key.insert(random.randrange(len(key) + 1), ...)
        key = tuple(key)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # old NumPys let some bad indices pass
                exact = a[key]
        except (IndexError, DeprecationWarning):
            with pytest.raises(IndexError):
                t[key]
            continue
        got = t[key]
        assert got.shape == exact.shape, (shape, key)
        np.testing.assert_array_equal(got.numpy(), exact, err_msg=str((shape, key)))
        if random.random() < 0.15 and exact.size:
            value = np.arange(exact.size, dtype="f4").reshape(exact.shape)
            places = np.arange(a.size).reshape(shape)[key].ravel()
            if len(set(places.tolist())) == places.size:  # else the order is anyone's
                a[key] = value
                t[key] = value
                np.testing.assert_array_equal(t.numpy(), a, err_msg=str((shape, key)))


@pytest.mark.parametrize("key", [4, -5, (0, 3), (0, 0, 0, 0), (..., ...), "x", 1.5, [4], [-5],
                                 [0.5], (slice(None), [3]), [True, False], [[0, 1], [0]],
                                 ([0, 1], [0, 1, 2]), slice(0, 4, 0), {}, ig.tensor([1.0]),
                                 2**70, (None,) * 9, np.ones((4, 2), bool)], ids=str)
def test_bad_keys(key):
    _, t = pair()
    with pytest.raises((IndexError, ValueError, TypeError)):
        t[key]
    with pytest.raises((IndexError, ValueError, TypeError)):
        t[key] = 0


def test_bad_values():
    _, t = pair()
    for value in ([1, 2], "x", None, np.ones((5, 4)), object()):
        with pytest.raises((ValueError, TypeError)):
            t[0] = value
    with pytest.raises(TypeError):
        del t[0]
    assert t.tolist() == pair()[1].tolist()


def test_gradients():
    x = ig.tensor(np.arange(12.0).reshape(3, 4), requires_grad=True)
    (x[1:, ::2].sum() + 2 * x[[0, 0]].sum() + x[x > 9].sum() + x[::-1][0, 0]).backward()
    exact = np.zeros((3, 4))
    exact[1:, ::2] += 1
    exact[0] += 4
    exact[2, 2:] += 1
    exact[2, 0] += 1
    np.testing.assert_array_equal(x.grad.numpy(), exact)
    y = x * 2
    y[0] = 0
    x.grad = None
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [[0] * 4, [2] * 4, [2] * 4])
    with pytest.raises(ig.GradientError):
        x[0] = 1


@pytest.mark.parametrize("key", [True, False, np.True_, (slice(None), True), (..., False),
                                 (True, [0, 1]), (0, True), (None, True, slice(1, 3)),
                                 (False, [0]), ([True, False, True, True], True)], ids=str)
def test_single_bools(key):
    a, t = pair()
    np.testing.assert_array_equal(t[key].numpy(), a[key])
    a[key] = 5
    t[key] = 5
    np.testing.assert_array_equal(t.numpy(), a)


def test_bool_tensor_as_key():
    _, t = pair()
    assert t[ig.tensor(True)].shape == (1, *t.shape) and t[t.sum() < -1].shape == (0, *t.shape)
    x = ig.ones(3).requires_grad_()
    x[True].sum().backward()
    assert x.grad.tolist() == [1, 1, 1]
