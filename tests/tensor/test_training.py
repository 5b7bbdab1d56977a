# SPDX-License-Identifier: Apache-2.0
"""Softmax, losses, optimisers against their formulas in float64, clipping, rates, and networks that
learn."""

import numpy as np
import pytest
from helpers import numeric

import ig

RNG = np.random.default_rng(11)


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


@pytest.mark.parametrize("shape,axis", [((5, 33), -1), ((4, 3, 7), 1), ((9,), 0)])
def test_softmax(shape, axis):
    a = (RNG.standard_normal(shape) * 5).astype("f4")
    w = RNG.standard_normal(shape).astype("f4")
    for f, g in ((ig.softmax, lambda x: softmax(x, axis)),
                 (ig.log_softmax, lambda x: np.log(softmax(x, axis)))):
        x = ig.leaf(a)
        y = f(x, axis)
        assert np.allclose(y.numpy(), g(a.astype("f8")), rtol=1e-5, atol=1e-6)
        ig.backward(y, ig.tensor(w))
        want = numeric(lambda v: (g(v) * w).sum(), a.astype("f8"))
        assert np.allclose(ig.grad(x).numpy(), want, rtol=1e-3, atol=2e-5)


@pytest.mark.parametrize("shape", [(1, 32), (17, 64), (2, 3, 96), (64, 128), (5, 160)])
def test_softmax_of_short_rows(shape):
    """Rows of 32, 64, 96 and 128 have a kernel that holds them."""
    a = (RNG.standard_normal(shape) * 5).astype("f4")
    a[..., 0, 3] = -np.inf
    for f, g in ((ig.softmax, softmax), (ig.log_softmax, lambda x: np.log(softmax(x)))):
        for x, bound in ((a, 2e-6), (a.astype("f2"), 2e-2)):
            with np.errstate(divide="ignore"):
                want = g(x.astype("f8"))
            assert np.allclose(f(ig.tensor(x), -1).numpy(), want, rtol=bound * 5, atol=bound)
    a[..., 0, 5] = np.nan
    assert np.isnan(ig.softmax(ig.tensor(a), -1).numpy()[..., 0, :]).all()


def test_softmax_of_large_and_half():
    x = np.array([[60000, 60000, -60000]], "f2")
    assert ig.softmax(ig.tensor(x), 1).numpy().tolist() == [[0.5, 0.5, 0]]
    big = ig.softmax(ig.full((3000,), 1, ig.F16), 0).numpy()
    assert np.allclose(big, 1 / 3000, rtol=1e-2)


def test_softmax_twice():
    a = RNG.standard_normal(4).astype("f4")
    x = ig.leaf(a)
    g, = ig.grad_of([ig.sum(ig.square(ig.softmax(x, 0)), ig.ALL, False)], [x], create=True)
    h, = ig.grad_of([ig.sum(ig.square(g), ig.ALL, False)], [x])

    def first(v):
        return numeric(lambda u: (softmax(u) ** 2).sum(), v, 1e-5)
    assert np.allclose(h.numpy(), numeric(lambda v: (first(v) ** 2).sum(), a.astype("f8"), 1e-4), atol=1e-4)


def huber(d):
    return np.where(np.abs(d) <= 0.7, d * d / 2, 0.7 * (np.abs(d) - 0.35))


LOSSES = {
    "mse": (ig.mse_loss, lambda x, t: (x - t) ** 2, (-2, 2), (-2, 2)),
    "mae": (ig.mae_loss, lambda x, t: np.abs(x - t), (-2, 2), (-2, 2)),
    "huber": (lambda x, t, r: ig.huber_loss(x, t, 0.7, r), lambda x, t: huber(x - t), (-2, 2), (-2, 2)),
    "bce": (ig.bce_loss, lambda x, t: -(t * np.log(x) + (1 - t) * np.log(1 - x)), (0.1, 0.9), (0, 1)),
    "bce_logits": (ig.bce_logits_loss, lambda x, t: np.log1p(np.exp(x)) - x * t, (-4, 4), (0, 1)),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses(name):
    f, g, sx, st = LOSSES[name]
    a, t = RNG.uniform(*sx, (4, 5)).astype("f4"), RNG.uniform(*st, (4, 5)).astype("f4")
    for reduce, total in ((ig.MEAN, np.mean), (ig.SUM, np.sum)):
        x = ig.leaf(a)
        y = f(x, ig.tensor(t), reduce)
        assert np.isclose(ig.item(y), total(g(a.astype("f8"), t)), rtol=1e-5)
        ig.backward(y)
        want = numeric(lambda v: total(g(v, t)), a.astype("f8"))
        assert np.allclose(ig.grad(x).numpy(), want, atol=1e-4)
    assert f(ig.tensor(a), ig.tensor(t), ig.NONE).shape == (4, 5)
    with pytest.raises(ig.Error) as e:
        f(ig.tensor(a), ig.tensor(t[0]), ig.MEAN)
    assert "(4, 5)" in str(e.value) and "(5,)" in str(e.value)


def test_cross_entropy():
    a, labels = RNG.standard_normal((6, 5)).astype("f4"), RNG.integers(0, 5, 6)

    def loss(v):
        return -np.log(softmax(v))[np.arange(6), labels].mean()
    for target in (ig.tensor(labels.astype("i4")), ig.tensor(labels), ig.tensor(np.eye(5, dtype="f4")[labels])):
        x = ig.leaf(a)
        y = ig.cross_entropy_loss(x, target, ig.MEAN)
        assert np.isclose(ig.item(y), loss(a.astype("f8")), rtol=1e-5)
        ig.backward(y)
        assert np.allclose(ig.grad(x).numpy(), (softmax(a.astype("f8")) - np.eye(5)[labels]) / 6, atol=1e-6)
    for bad in (5, -1):
        labels[2] = bad
        with pytest.raises(ig.Error) as e:
            ig.cross_entropy_loss(ig.tensor(a), ig.tensor(labels), ig.MEAN)
        assert e.value.code == ig.INDEX and f"class {bad} at position 2" in str(e.value)
    with pytest.raises(ig.Error) as e:
        ig.cross_entropy_loss(ig.tensor(a), ig.tensor(labels[:4]), ig.MEAN)
    assert "(6, 5)" in str(e.value) and "(4,)" in str(e.value)


# ---- Optimisers: written down again, in float64 ----

def sgd(p, g, s, t, o):
    g = g + o["weight_decay"] * p
    if o["momentum"]:
        s["m"] = g if t == 1 else o["momentum"] * s["m"] + (1 - o["dampening"]) * g
        g = g + o["momentum"] * s["m"] if o["nesterov"] else s["m"]
    return p - o["rate"] * g


def adam(p, g, s, t, o, decoupled=False):
    if decoupled:
        p = p * (1 - o["rate"] * o["weight_decay"])
    else:
        g = g + o["weight_decay"] * p
    s["m"] = o["beta1"] * s.get("m", 0) + (1 - o["beta1"]) * g
    s["v"] = o["beta2"] * s.get("v", 0) + (1 - o["beta2"]) * g * g
    m, v = s["m"] / (1 - o["beta1"]**t), s["v"] / (1 - o["beta2"]**t)
    return p - o["rate"] * m / (np.sqrt(v) + o["epsilon"])


def rmsprop(p, g, s, t, o):
    g = g + o["weight_decay"] * p
    s["v"] = o["alpha"] * s.get("v", 0) + (1 - o["alpha"]) * g * g
    d = g / (np.sqrt(s["v"]) + o["epsilon"])
    if o["momentum"]:
        d = s["m"] = o["momentum"] * s.get("m", 0) + d
    return p - o["rate"] * d


CASES = [
    (ig.SGD, sgd, {}), (ig.SGD, sgd, dict(rate=0.1, momentum=0.9, weight_decay=0.01)),
    (ig.SGD, sgd, dict(momentum=0.9, dampening=0.3)), (ig.SGD, sgd, dict(momentum=0.8, nesterov=True)),
    (ig.ADAM, adam, {}), (ig.ADAM, adam, dict(rate=0.01, weight_decay=0.1, beta1=0.8)),
    (ig.ADAMW, lambda *a: adam(*a, decoupled=True), dict(rate=0.01)),
    (ig.RMSPROP, rmsprop, {}), (ig.RMSPROP, rmsprop, dict(momentum=0.9, weight_decay=0.01)),
]


@pytest.mark.parametrize("kind,reference,values", CASES)
def test_optimizers(kind, reference, values):
    a = RNG.standard_normal((3, 4)).astype("f4")
    p = ig.leaf(a)
    opt = ig.Optimizer(kind, [p], **values)
    o = {k: getattr(ig.options(kind, **values), k) for k, _ in ig.OptimizerOptions._fields_}
    want, state = a.astype("f8"), {}
    for t in range(1, 6):
        opt.zero_grad()
        ig.backward(ig.sum(ig.mul(ig.square(p), ig.square(p)), ig.ALL, False))
        opt.step()
        want = reference(want, 4 * want**3, state, t, o)
        assert np.allclose(p.numpy(), want, rtol=1e-4, atol=1e-5), t
    assert ig.optimizer_steps(opt) == 5


def test_half_parameters_have_a_float_truth():
    """Steps far below half's resolution add up."""
    p = ig.leaf(np.ones(4, "f2"))
    opt = ig.Optimizer(ig.SGD, [p], rate=1e-4)
    for _ in range(50):
        ig.set_grad(p, ig.full((4,), 1, ig.F16))
        opt.step()
    assert p.type == ig.F16 and np.allclose(p.numpy(), 0.995, atol=5e-4)
    assert opt.state_name(0) == "0.master"
    assert np.allclose(ig.optimizer_state(opt, 0).numpy(), 0.995, atol=1e-6)


def test_a_step_is_one_kernel_and_rates_are_numbers():
    p = ig.leaf(np.ones((30, 20), "f4"))
    opt = ig.Optimizer(ig.ADAM, [p])

    def step():
        ig.set_grad(p, g)
        before = ig.statistics()
        opt.step()
        after = ig.statistics()
        return after.kernels - before.kernels, after.compiled - before.compiled
    g = ig.tensor(RNG.standard_normal((30, 20)).astype("f4"))
    step()
    ig.optimizer_set_rate(opt, -1, 0.5)
    assert ig.optimizer_rate(opt, 0) == 0.5
    assert step() == (1, 0)


def test_groups_and_state():
    a, b = ig.leaf(np.ones(2, "f4")), ig.leaf(np.ones(3, "f4"))
    opt = ig.Optimizer(ig.ADAM, [a], rate=0.1)
    opt.add_group([b], rate=0.0)
    assert ig.optimizer_group_count(opt) == 2 and ig.optimizer_state_count(opt) == 4
    assert [opt.state_name(i) for i in range(4)] == ["0.first", "0.second", "1.first", "1.second"]

    def grads():
        for t in (a, b):
            ig.set_grad(t, ig.full(t.shape, 2))
    before = a.numpy()
    opt.step()  # nothing has a gradient
    assert (a.numpy() == before).all()
    grads(), opt.step()
    assert np.allclose(a.numpy(), 0.9) and (b.numpy() == 1).all()
    # Saved and loaded, the next step is the same.
    saved = [ig.optimizer_state(opt, i).numpy() for i in range(4)]
    other = ig.leaf(a.numpy())
    again = ig.Optimizer(ig.ADAM, [other], rate=0.1)
    for i in range(2):
        again.set_state(i, ig.tensor(saved[i]))
    ig.optimizer_set_steps(again, ig.optimizer_steps(opt))
    grads(), opt.step()
    ig.set_grad(other, ig.full((2,), 2))
    again.step()
    assert other.numpy().tobytes() == a.numpy().tobytes()
    for f, text in ((lambda: again.set_state(0, ig.full((3,), 0)), "(3,)"),
                    (lambda: again.set_state(7, ig.full((2,), 0)), "state 7 of 2"),
                    (lambda: opt.add_group([a]), "twice"),
                    (lambda: ig.Optimizer(ig.SGD, [a], rate=-1), "rate"),
                    (lambda: ig.Optimizer(ig.SGD, [a], nesterov=True), "nesterov"),
                    (lambda: ig.Optimizer(ig.SGD, [ig.neg(a)]), "leaf")):
        with pytest.raises(ig.Error) as e:
            f()
        assert text in str(e.value), str(e.value)


def test_clipping():
    a, b = ig.leaf(np.zeros(2, "f4")), ig.leaf(np.zeros(2, "f2"))
    ig.set_grad(a, ig.tensor(np.array([3, 0], "f4")))
    ig.set_grad(b, ig.tensor(np.array([0, 4], "f2")))
    assert ig.item(ig.clip_grad_norm([a, b], 10)) == 5
    assert ig.grad(a).numpy().tolist() == [3, 0]
    assert ig.item(ig.clip_grad_norm([a, b], 1)) == 5
    assert np.allclose(ig.grad(a).numpy(), [0.6, 0]) and np.allclose(ig.grad(b).numpy(), [0, 0.8], atol=1e-3)
    ig.clip_grad_value([a, b], 0.5)
    assert ig.grad(a).numpy().tolist() == [0.5, 0] and ig.grad(b).numpy().tolist() == [0, 0.5]


def test_schedules():
    rate = ig.schedule_rate
    assert rate(ig.Schedule(0, 0.1), 99) == 0.1
    assert [round(rate(ig.Schedule(0, 1, 4), i), 6) for i in range(5)] == [0.25, 0.5, 0.75, 1, 1]
    assert np.allclose([rate(ig.Schedule(1, 1, 0, 3, 0.1), i) for i in (0, 2, 3, 6)], [1, 1, 0.1, 0.01])
    assert np.allclose(rate(ig.Schedule(2, 1, 2, 0, 0.5), 5), 0.125)
    s = ig.Schedule(3, 1, 0, 10, 0, 0.2)
    assert np.allclose([rate(s, i) for i in (0, 5, 10, 99)], [1, 0.6, 0.2, 0.2])
    assert np.allclose([rate(ig.Schedule(4, 1, 0, 10, 0, 0), i) for i in (0, 5, 10)], [1, 0.5, 0])


@pytest.mark.parametrize("kind,rate,dtype", [(ig.ADAM, 0.01, "f4"), (ig.SGD, 0.05, "f4"), (ig.ADAM, 0.01, "f2")])
def test_training_reaches_a_known_loss(kind, rate, dtype):
    """Two spirals: an MLP separates them, memory does not grow, nothing is
    compiled after the first steps, and buffers come from the pool."""
    rng = np.random.default_rng(0)
    n = 64
    r = np.linspace(0.3, 1, n)
    phi = np.concatenate([r * 5, r * 5 + np.pi])
    x = np.stack([np.tile(r, 2) * np.cos(phi), np.tile(r, 2) * np.sin(phi)], 1).astype(dtype)
    labels = ig.tensor(np.repeat([0, 1], n).astype("i4"))

    def weight(i, o):
        return ig.leaf((rng.standard_normal((i, o)) * np.sqrt(2 / i)).astype(dtype))
    params = [weight(2, 32), ig.leaf(np.zeros(32, dtype)), weight(32, 32), ig.leaf(np.zeros(32, dtype)),
              weight(32, 2), ig.leaf(np.zeros(2, dtype))]
    inputs = ig.tensor(x)
    extra = dict(momentum=0.9) if kind == ig.SGD else {}
    opt = ig.Optimizer(kind, params, rate=rate, **extra)
    losses, steady = [], None
    for i in range(200):
        with ig.scope():
            h = inputs
            for k in range(0, 6, 2):
                h = ig.add(ig.matmul(h, params[k]), params[k + 1])
                h = ig.relu(h) if k < 4 else h
            loss = ig.cross_entropy_loss(h, labels, ig.MEAN)
            opt.zero_grad()
            ig.backward(loss)
            opt.step()
            losses.append(ig.item(loss) if i % 10 in (0, 9) else None)
            del h, loss
        if i == 49:
            steady = ig.pool_statistics(), ig.statistics().compiled
    end = ig.pool_statistics()
    assert losses[0] > 0.6 and losses[-1] < 0.05, [v for v in losses if v]
    assert end.live_memory <= steady[0].live_memory and ig.statistics().compiled == steady[1]
    reuse = (end.reuse_count - steady[0].reuse_count) / (end.allocation_count - steady[0].allocation_count)
    assert reuse > 0.95
