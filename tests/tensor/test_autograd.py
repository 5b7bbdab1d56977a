# SPDX-License-Identifier: Apache-2.0
"""Gradients: each operation against its derivative in float64 (central differences of NumPy's
function where that is simpler), the way back, its errors, second derivatives."""

import gc

import numpy as np
import pytest
from helpers import gelu, numeric

import ig

RNG = np.random.default_rng(5)
ANY, POSITIVE = (-2.5, 2.5), (0.3, 3.0)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def span(low, high, *shape):
    return RNG.uniform(low, high, shape).astype("f4")


def check(f, reference, *arrays, tolerance=2e-5, leaves=None):
    """The gradient of sum(f * w), w random, against that of the reference in float64."""
    leaves = range(len(arrays)) if leaves is None else leaves
    xs = [ig.leaf(a) if i in leaves else ig.tensor(a) for i, a in enumerate(arrays)]
    y = f(*xs)
    want = np.asarray(reference(*[a.astype("f8") for a in arrays]))
    assert y.shape == want.shape
    w = np.asarray(RNG.uniform(0.5, 1.5, want.shape), "f4")
    ig.backward(y, ig.tensor(w))
    for i in leaves:
        def part(v, i=i):
            full = [a.astype("f8") for a in arrays]
            full[i] = v
            return (np.asarray(reference(*full)) * w).sum()
        g, e = ig.grad(xs[i]).numpy(), numeric(part, arrays[i].astype("f8"))
        assert g.shape == e.shape
        assert np.allclose(g, e, rtol=tolerance * 20, atol=tolerance * max(1, np.abs(e).max())), (g, e)


UNARY = {
    "neg": (np.negative, ANY), "abs": (np.abs, ANY), "sign": (np.sign, ANY), "floor": (np.floor, ANY),
    "ceil": (np.ceil, ANY), "round": (np.rint, ANY), "trunc": (np.trunc, ANY),
    "square": (np.square, ANY), "reciprocal": (np.reciprocal, POSITIVE), "sqrt": (np.sqrt, POSITIVE),
    "rsqrt": (lambda x: x**-0.5, POSITIVE), "exp": (np.exp, ANY), "log": (np.log, POSITIVE),
    "sin": (np.sin, ANY), "cos": (np.cos, ANY), "tan": (np.tan, (-1, 1)), "tanh": (np.tanh, ANY),
    "sigmoid": (sigmoid, ANY), "softplus": (lambda x: np.log1p(np.exp(x)), ANY),
    "relu": (lambda x: np.maximum(x, 0), ANY), "gelu": (gelu, ANY),
    "silu": (lambda x: x * sigmoid(x), ANY),
}


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    check(getattr(ig, name), UNARY[name][0], span(*UNARY[name][1], 13))


SCALAR = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
          "minimum": np.minimum, "maximum": np.maximum, "pow": np.power}


@pytest.mark.parametrize("name", SCALAR)
def test_scalar(name):
    f = getattr(ig, name + "_scalar")
    check(lambda x: f(x, 1.5), lambda x: SCALAR[name](x, 1.5), span(*POSITIVE, 13))
    if name == "pow":
        for p in (0, 1, 2, 3):
            check(lambda x: f(x, p), lambda x: x**p, span(*ANY, 7))


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "pow", "minimum", "maximum"])
def test_binary_with_broadcasting(name):
    f, g = getattr(ig, name), SCALAR[name]
    check(f, g, span(*POSITIVE, 3, 4), span(*POSITIVE, 3, 4))
    check(f, g, span(*POSITIVE, 2, 1, 4), span(*POSITIVE, 3, 1))
    check(f, g, span(*POSITIVE, 3, 4), span(*POSITIVE), leaves=[1])


def test_remainder():
    check(ig.remainder, np.remainder, np.array([5.3, -4.1, 2.9], "f4"), np.array([2.0, 1.7, -2.2], "f4"))


def test_clamp_where_cast():
    check(lambda x: ig.clamp(x, -0.5, 1), lambda x: np.clip(x, -0.5, 1), span(*ANY, 20))
    c = RNG.integers(0, 2, (3, 1)).astype(bool)
    check(lambda a, b: ig.where(ig.tensor(c), a, b), lambda a, b: np.where(c, a, b),
          span(*ANY, 3, 4), span(*ANY, 4))
    x = ig.leaf(np.array([1, 2, 3], "f2"))
    y = ig.sum(ig.mul_scalar(ig.cast(x, ig.F32), 3), ig.ALL, False)
    assert y.type == ig.F32
    ig.backward(y)
    g = ig.grad(x)
    assert g.type == ig.F16 and g.numpy().tolist() == [3, 3, 3]
    assert not ig.requires_grad(ig.cast(x, ig.I32)) and not ig.requires_grad(ig.gt_scalar(x, 0))


def test_ties():
    x, y = ig.leaf(np.array([1, 2, 0], "f4")), ig.leaf(np.array([1, 0, 2], "f4"))
    ig.backward(ig.sum(ig.maximum(x, y), ig.ALL, False))
    assert ig.grad(x).numpy().tolist() == [0.5, 1, 0] and ig.grad(y).numpy().tolist() == [0.5, 0, 1]
    x = ig.leaf(np.array([[3, 3, 1], [0, 5, 2]], "f4"))
    ig.backward(ig.sum(ig.max(x, 1, False), ig.ALL, False))
    assert ig.grad(x).numpy().tolist() == [[0.5, 0.5, 0], [0, 1, 0]]
    x = ig.leaf(np.array([0.0, -1, 1], "f4"))
    ig.backward(ig.sum(ig.add(ig.relu(x), ig.abs(x)), ig.ALL, False))
    assert ig.grad(x).numpy().tolist() == [0, -1, 2]


VIEWS = {
    "reshape": (lambda x: ig.reshape(x, 4, -1), lambda x: x.reshape(4, -1)),
    "flatten": (lambda x: ig.flatten(x, 1, 2), lambda x: x.reshape(2, 12)),
    "permute": (lambda x: ig.permute(x, [2, 0, 1]), lambda x: x.transpose(2, 0, 1)),
    "transpose": (lambda x: ig.transpose(x, 0, 2), lambda x: x.transpose(2, 1, 0)),
    "slice": (lambda x: ig.slice_(x, 1, 0, 2, 1), lambda x: x[:, :2]),
    "slice_step": (lambda x: ig.slice_(x, 2, 1, 4, 2), lambda x: x[:, :, 1:4:2]),
    "slice_empty": (lambda x: ig.slice_(x, 2, 3, 1, 1), lambda x: x[:, :, 3:1]),
    "select": (lambda x: ig.select(x, 1, -1), lambda x: x[:, -1]),
    "expand": (lambda x: ig.expand(ig.unsqueeze(x, 0), 5, 2, 3, 4), lambda x: np.broadcast_to(x, (5, 2, 3, 4))),
    "squeeze": (lambda x: ig.squeeze(ig.unsqueeze(x, 1), 1), lambda x: x),
    "copy": (lambda x: ig.reshape(ig.transpose(x, 0, 2), 24), lambda x: x.transpose(2, 1, 0).reshape(24)),
    "contiguous": (lambda x: ig.contiguous(ig.transpose(x, 0, 1)), lambda x: x.transpose(1, 0, 2)),
    "pad": (lambda x: ig.pad(x, 1, 2, 1, 7), lambda x: np.pad(x, ((0, 0), (2, 1), (0, 0)), constant_values=7)),
    "stack": (lambda x: ig.stack([x, ig.square(x)], 1), lambda x: np.stack([x, x * x], 1)),
    "concat": (lambda x: ig.concat([x, ig.slice_(x, 2, 0, 3, 1), ig.tensor(np.ones((2, 3, 2), "f4"))], -1),
               lambda x: np.concatenate([x, x[:, :, :3], np.ones((2, 3, 2))], -1)),
    "split": (lambda x: ig.mul(*ig.split(x, 2, 2)), lambda x: x[..., :2] * x[..., 2:]),
    "unstack": (lambda x: ig.mul(*ig.unstack(x, 0)), lambda x: x[0] * x[1]),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views(name):
    check(VIEWS[name][0], VIEWS[name][1], span(*ANY, 2, 3, 4))


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "max", "min"])
@pytest.mark.parametrize("axis,keep", [(None, False), (0, False), (1, True)])
def test_reductions(name, axis, keep):
    check(lambda x: getattr(ig, name)(x, ig.ALL if axis is None else axis, keep),
          lambda x: getattr(np, name)(x, axis=axis, keepdims=keep), span(*POSITIVE, 3, 4))


def test_product_of_zeros():
    a = np.array([[2, 3, 4], [2, 0, 4], [0, 0, 4]], "f4")
    x = ig.leaf(a)
    ig.backward(ig.sum(ig.prod(x, 1, False), ig.ALL, False))
    assert ig.grad(x).numpy().tolist() == [[12, 8, 6], [0, 8, 0], [0, 0, 0]]


@pytest.mark.parametrize("sa,sb", [((3, 5), (5, 2)), ((2, 3, 5), (5, 4)), ((2, 3, 5), (2, 5, 4)),
                                   ((3, 5), (2, 5, 4)), ((2, 1, 3, 5), (4, 5, 2)), ((5,), (5,)),
                                   ((3, 5), (5,)), ((5,), (5, 3)), ((2, 3, 5), (5,))])
def test_matmul(sa, sb):
    check(ig.matmul, np.matmul, span(*ANY, *sa), span(*ANY, *sb))


def test_matmul_half():
    a, b = span(*ANY, 6, 9).astype("f2"), span(*ANY, 9, 4).astype("f2")
    x, y = ig.leaf(a), ig.leaf(b)
    ig.backward(ig.sum(ig.relu(ig.matmul(x, y)), ig.ALL, False))
    g = (a.astype("f8") @ b.astype("f8") > 0).astype("f8")
    assert np.allclose(ig.grad(x).numpy(), g @ b.T.astype("f8"), atol=2e-2)
    assert np.allclose(ig.grad(y).numpy(), a.T.astype("f8") @ g, atol=2e-2)


def test_network():
    """Two layers with everything fused, against NumPy by hand."""
    def net(x, w1, b1, w2, b2):
        return ig.mean(ig.square(ig.add(ig.matmul(ig.gelu(ig.add(ig.matmul(x, w1), b1)), w2), b2)), ig.ALL, False)

    def reference(x, w1, b1, w2, b2):
        return ((gelu(x @ w1 + b1) @ w2 + b2) ** 2).mean()
    check(net, reference, span(*ANY, 5, 4), span(-1, 1, 4, 6), span(-1, 1, 6), span(-1, 1, 6, 3),
          span(-1, 1, 3))


# ---- The way back ----

def test_accumulation_and_diamonds():
    x = ig.leaf(np.array([2.0], "f4"))
    y = ig.mul(x, x)
    z = ig.add(ig.mul(y, y), y)  # x^4 + x^2
    ig.backward(z, retain=True)
    assert ig.item(ig.grad(x)) == 36
    ig.backward(z)
    assert ig.item(ig.grad(x)) == 72
    ig.zero_grad(x)
    assert not ig.has_grad(x)


def test_errors():
    x = ig.leaf(np.ones((2, 3), "f4"))
    plain = ig.tensor(np.ones(1, "f4"))

    def fails(code, text, f):
        with pytest.raises(ig.Error) as e:
            f()
        assert e.value.code == code and text in str(e.value), str(e.value)
    fails(ig.GRADIENT, "does not require a gradient", lambda: ig.backward(plain))
    fails(ig.GRADIENT, "(2, 3) is not a scalar", lambda: ig.backward(ig.neg(x)))
    fails(ig.SHAPE, "(3,) for a tensor of shape (2, 3)",
          lambda: ig.backward(ig.neg(x), ig.tensor(np.ones(3, "f4"))))
    fails(ig.TYPE, "float16 for a tensor of float32",
          lambda: ig.backward(ig.neg(x), ig.tensor(np.ones((2, 3), "f2"))))
    y = ig.sum(ig.exp(x), ig.ALL, False)
    ig.backward(y)
    fails(ig.GRADIENT, "the graph is gone", lambda: ig.backward(y))
    fails(ig.GRADIENT, "the graph is gone", lambda: ig.backward(ig.neg(y)))
    fails(ig.GRADIENT, "no gradient available", lambda: ig.grad(plain))
    fails(ig.GRADIENT, "only leaves", lambda: ig.grad(ig.neg(x)))
    fails(ig.GRADIENT, "result of", lambda: ig.set_requires_grad(ig.neg(x), True))
    fails(ig.TYPE, "int32", lambda: ig.leaf(np.ones(3, "i4")))
    fails(ig.GRADIENT, "input 0", lambda: ig.grad_of([ig.sum(x, ig.ALL, False)], [plain]))


def test_no_grad_and_detach():
    x = ig.leaf(np.array([3.0], "f4"))
    with ig.no_grad():
        with ig.no_grad():
            pass
        assert not ig.grad_enabled() and not ig.requires_grad(ig.neg(x))
    assert ig.grad_enabled() and ig.requires_grad(ig.neg(x))
    y = ig.mul(x, ig.detach(x))
    ig.backward(y)
    assert ig.item(ig.grad(x)) == 3
    ig.set_requires_grad(x, False)
    assert not ig.requires_grad(x)


def test_values_of_the_time():
    """What a gradient needs must not be changed in place before it was there."""
    x = ig.leaf(np.array([3.0], "f4"))
    y = ig.square(x)
    x.write(np.array([100.0]))
    with pytest.raises(ig.Error, match="changed in place since"):
        ig.backward(y)
    y = ig.neg(x)  # needs nothing
    x.write(np.array([5.0]))
    ig.backward(y)
    assert ig.item(ig.grad(x)) == -1
    y = ig.neg(x)
    y.write(np.array([1.0]))
    assert ig.requires_grad(y) and ig.item(y) == 1


def test_grad_of_results():
    x = ig.leaf(np.array([2.0], "f4"))
    unused = ig.leaf(np.array([2.0, 1], "f4"))
    y = ig.square(x)
    z = ig.exp(ig.mul_scalar(y, 0.5))
    gy, gx, gu = ig.grad_of([z], [y, x, unused], retain=True)
    assert np.isclose(ig.item(gy), 0.5 * np.exp(2)) and np.isclose(ig.item(gx), 2 * np.exp(2))
    assert gu.numpy().tolist() == [0, 0] and not ig.has_grad(x)
    a, b = ig.grad_of([y, z], [x, y])
    assert np.isclose(ig.item(a), 4 * (1 + 0.5 * np.exp(2))) and np.isclose(ig.item(b), 1 + 0.5 * np.exp(2))


SECOND = ["square", "reciprocal", "sqrt", "rsqrt", "exp", "log", "sin", "cos", "tan", "tanh", "sigmoid",
          "softplus", "gelu", "silu"]


@pytest.mark.parametrize("name", SECOND)
def test_second_derivatives(name):
    """d/dx sum((df/dx)^2) against differences of the first derivative."""
    a = span(0.3, 1.2, 5)
    x = ig.leaf(a)
    g, = ig.grad_of([ig.sum(getattr(ig, name)(x), ig.ALL, False)], [x], create=True)
    h, = ig.grad_of([ig.sum(ig.square(g), ig.ALL, False)], [x])
    f = UNARY[name][0]

    def slope(v, e=1e-5):
        return (f(v + e) - f(v - e)) / (2 * e)
    want = numeric(lambda v: (slope(v) ** 2).sum(), a.astype("f8"), 1e-4)
    assert np.allclose(h.numpy(), want, rtol=2e-3, atol=2e-4), (h.numpy(), want)


def test_second_derivatives_of_products():
    a, b = span(*ANY, 3, 4), span(*ANY, 4, 2)
    x, y = ig.leaf(a), ig.leaf(b)
    loss = ig.sum(ig.tanh(ig.div_scalar(ig.matmul(x, y), 2)), ig.ALL, False)
    gx, gy = ig.grad_of([loss], [x, y], create=True)
    hx, hy = ig.grad_of([ig.add(ig.sum(ig.square(gx), ig.ALL, False), ig.sum(ig.square(gy), ig.ALL, False))], [x, y])

    def penalty(u, v):
        t = 1 - np.tanh(u @ v / 2) ** 2
        return ((t / 2 @ v.T) ** 2).sum() + ((u.T @ t / 2) ** 2).sum()
    assert np.allclose(hx.numpy(), numeric(lambda u: penalty(u, b.astype("f8")), a.astype("f8")), atol=1e-3)
    assert np.allclose(hy.numpy(), numeric(lambda v: penalty(a.astype("f8"), v), b.astype("f8")), atol=1e-3)


@pytest.mark.parametrize("name", ["mul", "div", "pow", "maximum", "minimum"])
def test_second_derivatives_of_two(name):
    """Of sum(gx^2 + gx gy): all second derivatives count."""
    a, b = span(0.5, 2, 4), span(0.5, 2, 3, 4)
    x, y = ig.leaf(a), ig.leaf(b)
    gx, gy = ig.grad_of([ig.sum(getattr(ig, name)(x, y), ig.ALL, False)], [x, y], create=True)
    both = ig.sum(ig.add(ig.square(gx), ig.mul(gx, gy)), ig.ALL, False)
    if not ig.requires_grad(both):
        pytest.fail("the gradient has no history")
    hx, hy = ig.grad_of([both], [x, y])
    f, e = SCALAR[name], 1e-5

    def penalty(u, v):
        du = ((f(u + e, v) - f(u - e, v)) / (2 * e)).sum(0)
        dv = (f(u, v + e) - f(u, v - e)) / (2 * e)
        return (du * du + du * dv).sum()
    u, v = a.astype("f8"), b.astype("f8")
    wx, wy = numeric(lambda t: penalty(t, v), u, 1e-4), numeric(lambda t: penalty(u, t), v, 1e-4)
    assert np.allclose(hx.numpy(), wx, rtol=2e-3, atol=1e-3), (hx.numpy(), wx)
    assert np.allclose(hy.numpy(), wy, rtol=2e-3, atol=1e-3), (hy.numpy(), wy)


def test_third_derivative():
    x = ig.leaf(np.array([0.7], "f4"))
    y = ig.sin(x)
    for _ in range(3):
        y, = ig.grad_of([y], [x], create=True)
    assert np.isclose(ig.item(y), -np.cos(0.7), rtol=1e-5)


def test_long_graph_and_no_leak():
    """Thousands of steps deep: neither the way back nor freeing it needs a deep stack."""
    x = ig.leaf(np.ones(3, "f4"))
    y = x
    for i in range(3000):
        y = ig.add(y, x)
    ig.backward(ig.sum(y, ig.ALL, False), retain=True)
    assert ig.grad(x).numpy().tolist() == [3001] * 3
    del y
    gc.collect()


def test_backward_stores_what_it_needs():
    """Forward and backward of a layer: the input of gelu is stored with the product, not made again."""
    x, w, b = ig.tensor(span(*ANY, 8, 16)), ig.leaf(span(*ANY, 16, 8)), ig.leaf(span(*ANY, 8))
    def step():
        ig.zero_grad(w), ig.zero_grad(b)
        y = ig.gelu(ig.add(ig.matmul(x, w), b))
        ig.evaluate(y)
        ig.backward(ig.sum(y, ig.ALL, False))
        ig.evaluate(ig.grad(w)), ig.evaluate(ig.grad(b))
    step()
    before = ig.statistics()
    step()
    after = ig.statistics()
    assert after.kernels - before.kernels <= 4 and after.compiled == before.compiled


def test_gradient_check():
    xs = [ig.tensor(span(*ANY, 3, 4)), ig.tensor(span(*ANY, 4))]
    r = ig.gradient_check(lambda a, b: ig.tanh(ig.mul(a, b)), xs)
    assert r.passed and r.n_checked == 16 and r.n_failed == 0 and r.max_relative < 0.05
    r = ig.gradient_check(lambda a, b: ig.mul(ig.detach(a), b), xs)  # a wrong gradient
    assert not r.passed and r.n_failed == 12


def test_threads_share_a_leaf():
    import threading
    w, failed = ig.leaf(np.ones((4, 4), "f4")), []

    def work():
        try:
            for _ in range(50):
                x = ig.tensor(np.ones((2, 4), "f4"))
                ig.backward(ig.sum(ig.matmul(x, w), ig.ALL, False))
        except BaseException as e:  # noqa: B902
            failed.append(e)
    threads = [threading.Thread(target=work) for _ in range(2)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not failed and (ig.grad(w).numpy() == 200).all()


def test_a_circle_ends_with_zero_grad():
    """create_graph lets a leaf's gradient refer to the leaf: the memory check after the test would
    see it."""
    x = ig.leaf(np.ones(3, "f4"))
    ig.backward(ig.sum(ig.mul(ig.square(x), x), ig.ALL, False), create=True)
    assert ig.requires_grad(ig.grad(x)) and (ig.grad(x).numpy() == 3).all()
    ig.zero_grad(x)


def test_a_seed_leaves_no_history():
    """A tensor as its own seed would hold itself: the memory check after the test would see it."""
    x = ig.leaf(np.full(3, 2, "f4"))
    ig.backward(x, seed=x)
    assert not ig.requires_grad(ig.grad(x)) and (ig.grad(x).numpy() == 2).all()
    ig.backward(ig.mul(x, x), seed=ig.mul(x, x))
    assert not ig.requires_grad(ig.grad(x)) and (ig.grad(x).numpy() == 18).all()
