# SPDX-License-Identifier: Apache-2.0
"""Gradients from Python."""

import threading

import numpy as np
import pytest

import ingot as ig


def leaf(*shape, seed=1):
    return ig.randn(*shape, seed=seed).requires_grad_()


def test_backward():
    x, w = ig.randn(4, 3, seed=1), leaf(3, 2)
    loss = ((x @ w).tanh() ** 2).mean()
    assert loss.requires_grad and not loss.is_leaf and w.is_leaf and w.grad is None
    loss.backward()
    a, b = x.numpy(), w.detach().numpy()
    y = np.tanh(a @ b)
    np.testing.assert_allclose(w.grad.numpy(), a.T @ (2 * y * (1 - y * y) / y.size), rtol=1e-4,
                               atol=1e-6)
    first = w.grad.numpy()
    ((x @ w).tanh() ** 2).mean().backward()
    np.testing.assert_allclose(w.grad.numpy(), 2 * first, rtol=1e-5)
    w.grad = None
    assert w.grad is None
    w.grad = ig.ones(3, 2)
    assert w.grad.tolist() == [[1, 1]] * 3
    w.zero_grad()
    assert w.grad is None


def test_seeds_and_graphs():
    x = leaf(3)
    y = x * x
    with pytest.raises(ig.GradientError):
        y.backward()
    y.backward(ig.ones(3), retain_graph=True)
    y.backward(gradient=[1.0, 1.0, 1.0])
    np.testing.assert_allclose(x.grad.numpy(), 4 * x.detach().numpy(), rtol=1e-6)
    with pytest.raises(ig.GradientError):
        y.backward(ig.ones(3))
    with pytest.raises(ig.GradientError):
        ig.ones(1).backward()
    with pytest.raises(ig.ShapeError):
        (x * 1).backward(ig.ones(4))


def test_grad_function():
    x, y = leaf(3), leaf(3, seed=2)
    z = (x * x * y).sum()
    gx, gy = ig.grad(z, [x, y], create_graph=True)
    np.testing.assert_allclose(gx.detach().numpy(), (2 * x * y).detach().numpy(), rtol=1e-5)
    (gxx,) = ig.grad(gx.sum(), x)
    np.testing.assert_allclose(gxx.numpy(), 2 * y.detach().numpy(), rtol=1e-5)
    assert x.grad is None and y.grad is None
    (zero,) = ig.grad((x * 2).sum(), y)
    assert zero.tolist() == [0, 0, 0]
    with pytest.raises(ig.ArgumentError):
        ig.grad(z, x, [ig.ones(()), ig.ones(())])


def test_no_grad():
    x = leaf(3)
    with ig.no_grad():
        assert not ig.is_grad_enabled() and not (x * 2).requires_grad
        with ig.no_grad():
            pass
        assert not ig.is_grad_enabled()
    assert ig.is_grad_enabled() and (x * 2).requires_grad

    @ig.no_grad()
    def inside():
        return x * 2
    assert not inside().requires_grad
    with pytest.raises(KeyError):
        with ig.no_grad():
            raise KeyError
    assert ig.is_grad_enabled()
    seen = []
    with ig.no_grad():
        thread = threading.Thread(target=lambda: seen.append(ig.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True], "the mode is the thread's"


def test_leaves_in_place():
    x = leaf(3)
    with pytest.raises(ig.GradientError):
        x += 1
    before = x.detach().numpy()
    x.grad = ig.ones(3)
    with ig.no_grad():
        x -= 0.5 * x.grad
        x[0] = 9
    assert x.is_leaf and x.requires_grad and x.grad.tolist() == [1, 1, 1]
    np.testing.assert_allclose(x.detach().numpy()[1:], before[1:] - 0.5)
    y = x * 2
    y += x
    y.sum().backward()
    assert x.grad.tolist() == [4, 4, 4]


def test_detach():
    x = leaf(3)
    assert not x.detach().requires_grad and not x.data.requires_grad
    assert not ig.tensor(x).requires_grad and x.clone().requires_grad
    with pytest.raises(ig.GradientError):
        (x * 2).requires_grad = False
    with pytest.raises(ig.Error):
        ig.arange(3).requires_grad_()


def test_check():
    result = ig.gradient_check(lambda x, y: (x.sin() * y).sum(), [ig.randn(3, 2, seed=1),
                                                                 ig.randn(2, seed=2)])
    assert result["passed"] and result["n_checked"] == 8 and result["n_failed"] == 0
    wrong = ig.gradient_check(lambda x: x.detach() * x, [ig.ones(3)])
    assert not wrong["passed"] and wrong["n_failed"] == 3
    before = ig.pool().live_memory
    for _ in range(3):
        ig.gradient_check(lambda x: ig.randint(0, 2, (3,), seed=1) * x[ig.tensor([0, 1, 2])],
                          [ig.ones(3)])
    assert ig.pool().live_memory == before
    with pytest.raises(ZeroDivisionError):
        ig.gradient_check(lambda x: 1 / 0, [ig.ones(1)])
    with pytest.raises(TypeError):
        ig.gradient_check(lambda x: 3, [ig.ones(1)])
    with pytest.raises(TypeError):
        ig.gradient_check(3, [ig.ones(1)])
