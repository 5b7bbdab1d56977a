# SPDX-License-Identifier: Apache-2.0
"""Attention, recurrent layers and transposed convolutions against NumPy in double precision, with
PyTorch's names of parameters; gradients against differences."""

import numpy as np
import pytest

import ingot as ig
from ingot import nn
from ingot.nn import functional as F

RNG = np.random.default_rng(23)


def random(*shape):
    return RNG.standard_normal(shape).astype("f4")


def same(t, a, tolerance=3e-5):
    assert t.shape == np.shape(a), (t.shape, np.shape(a))
    np.testing.assert_allclose(t.detach().numpy(), a, rtol=tolerance, atol=tolerance)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def values(module):
    return {name: t.numpy().astype("f8") for name, t in module.state_dict().items()}


# ---- Attention ----

def attention(q, k, v, mask=0.0, scale=None):
    scores = q @ np.swapaxes(k, -1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale) + mask
    return softmax(scores) @ v


def test_scaled_dot_product_attention():
    q, k, v = random(2, 3, 5, 8), random(2, 3, 7, 8), random(2, 3, 7, 4)
    wide = [x.astype("f8") for x in (q, k, v)]
    same(F.scaled_dot_product_attention(q, k, v), attention(*wide))
    same(F.scaled_dot_product_attention(q, k, v, scale=0.3), attention(*wide, scale=0.3))
    take = RNG.random((5, 7)) < 0.6
    take[:, 0] = True
    off = np.where(take, 0, -np.inf)
    same(F.scaled_dot_product_attention(q, k, v, ig.tensor(take)), attention(*wide, off))
    added = random(3, 5, 7)
    same(F.scaled_dot_product_attention(q, k, v, added), attention(*wide, added))
    causal = np.where(np.tril(np.ones((5, 7))) > 0, 0, -np.inf)
    same(F.scaled_dot_product_attention(q, k, v, is_causal=True), attention(*wide, causal))
    with pytest.raises(ValueError, match="not both"):
        F.scaled_dot_product_attention(q, k, v, added, is_causal=True)
    small = [ig.tensor(x[0, 0]) for x in (q, k, v)]
    check = ig.gradient_check(F.scaled_dot_product_attention, small)
    assert check["passed"], check


@pytest.mark.parametrize("batch, queries, keys, length, width", [
    ((), 1, 1, 1, 1), ((3,), 70, 129, 17, 33), ((2, 5), 64, 64, 32, 32), ((1, 20), 33, 300, 64, 100),
    ((2,), 40, 260, 8, 200), ((0,), 4, 5, 6, 7)])
def test_attention_in_one_kernel(batch, queries, keys, length, width):
    q, k, v = random(*batch, queries, length), random(*batch, keys, length), random(*batch, keys, width)
    same(F.scaled_dot_product_attention(q, k, v), attention(*(x.astype("f8") for x in (q, k, v))))
    turned = np.swapaxes(q, -1, -2)  # not contiguous
    same(F.scaled_dot_product_attention(ig.tensor(turned).mT, k, v, scale=2),
         attention(*(x.astype("f8") for x in (q, k, v)), scale=2))


def test_attention_of_large_scores():
    """Scores of +-1000, and keys that are infinitely far away before one that is not."""
    q, k, v = np.ones((1, 4), "f4"), np.linspace(-250, 250, 200 * 4).astype("f4").reshape(200, 4), random(200, 3)
    same(F.scaled_dot_product_attention(q, k, v, scale=1), attention(q, k, v, scale=1))
    k[:150] = -np.inf
    same(F.scaled_dot_product_attention(q, k, v, scale=1), attention(q, k, v, scale=1))
    k[7] = np.nan
    assert np.isnan(F.scaled_dot_product_attention(q, k, v).numpy()).all()
    with pytest.raises(ig.ShapeError, match="keys"):
        F.scaled_dot_product_attention(q, k, v[:-1])


def multihead(p, q, k, v, heads, mask=0.0):
    """q (N, L, E), k and v (N, S, ..): result and weights (N, heads, L, S)."""
    e = q.shape[-1]
    if "in_proj_weight" in p:
        w = np.split(p["in_proj_weight"], 3)
    else:
        w = [p[f"{name}_proj_weight"] for name in "qkv"]
    b = np.split(p.get("in_proj_bias", np.zeros(3 * e)), 3)
    parts = [(x @ w[i].T + b[i]).reshape(*x.shape[:2], heads, e // heads).swapaxes(1, 2)
             for i, x in enumerate((q, k, v))]
    weights = softmax(parts[0] @ parts[1].swapaxes(-1, -2) / np.sqrt(e // heads) + mask)
    y = (weights @ parts[2]).swapaxes(1, 2).reshape(q.shape)
    return y @ p["out_proj.weight"].T + p.get("out_proj.bias", 0), weights


@pytest.mark.parametrize("named", [{}, {"bias": False}, {"kdim": 5, "vdim": 3}], ids=str)
def test_multihead_attention(named):
    layer = nn.MultiheadAttention(8, 2, batch_first=True, seed=1, **named)
    q = random(3, 4, 8)
    k, v = random(3, 6, named.get("kdim", 8)), random(3, 6, named.get("vdim", 8))
    want, weights = multihead(values(layer), q, k, v, 2)
    y, w = layer(q, k, v)
    same(y, want)
    same(w, weights.mean(1))
    same(layer(q, k, v, average_attn_weights=False)[1], weights)
    assert layer(q, k, v, need_weights=False)[1] is None
    one, w = layer(q[0], k[0], v[0])
    same(one, want[0])
    assert w.shape == (4, 6)
    other = nn.MultiheadAttention(8, 2, **named)
    other.load_state_dict(layer.state_dict())
    same(other(*(x.swapaxes(0, 1) for x in (q, k, v)))[0], want.swapaxes(0, 1))


def test_multihead_masks():
    layer = nn.MultiheadAttention(8, 4, batch_first=True, seed=2)
    assert list(layer.state_dict()) == ["in_proj_weight", "in_proj_bias", "out_proj.weight",
                                        "out_proj.bias"]
    x = random(2, 5, 8)
    padded = np.array([[False] * 5, [False] * 3 + [True] * 2])
    left_out = np.triu(np.ones((5, 5), bool), 1)
    for arguments, mask in (
            (dict(key_padding_mask=padded), np.where(padded, -np.inf, 0)[:, None, None]),
            (dict(attn_mask=left_out), np.where(left_out, -np.inf, 0)),
            (dict(is_causal=True), np.where(left_out, -np.inf, 0)),
            (dict(is_causal=True, key_padding_mask=padded),
             np.where(left_out | padded[:, None, None], -np.inf, 0)),
            (dict(attn_mask=np.repeat(left_out[None], 8, 0)), np.where(left_out, -np.inf, 0))):
        want, weights = multihead(values(layer), x, x, x, 4, mask)
        y, w = layer(x, x, x, **{name: ig.tensor(a) if isinstance(a, np.ndarray) else a
                                 for name, a in arguments.items()})
        same(y, want)
        same(w, weights.mean(1))
    with pytest.raises(ValueError, match="3 heads"):
        nn.MultiheadAttention(8, 3)
    with pytest.raises(ig.ShapeError, match="three axes"):
        layer(x, x, x[0])
    dropped = nn.MultiheadAttention(8, 4, dropout=0.5, batch_first=True, seed=2)
    assert not np.allclose(dropped(x, x, x)[0].detach(), layer(x, x, x)[0].detach())
    same(dropped.eval()(x, x, x)[0], layer(x, x, x)[0].detach().numpy())


# ---- Recurrent layers ----

def step(kind, p, suffix, x, state):
    a = x @ p["weight_ih" + suffix].T + p.get("bias_ih" + suffix, 0)
    b = state[0] @ p["weight_hh" + suffix].T + p.get("bias_hh" + suffix, 0)
    if kind in ("tanh", "relu"):
        return (np.tanh(a + b) if kind == "tanh" else np.maximum(a + b, 0),)
    if kind == "GRU":
        (ar, az, an), (br, bz, bn) = np.split(a, 3, -1), np.split(b, 3, -1)
        z, n = sigmoid(az + bz), np.tanh(an + sigmoid(ar + br) * bn)
        return ((1 - z) * n + z * state[0],)
    i, f, g, o = np.split(a + b, 4, -1)
    c = sigmoid(f) * state[1] + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def recurrent(kind, p, x, first, layers, both):
    """x (T, N, in), first: states (layers * directions, N, H)."""
    ends = []
    for layer in range(layers):
        lines = []
        for end in ("", "_reverse")[:2 if both else 1]:
            state, out = tuple(s[len(ends)] for s in first), []
            for t in (reversed if end else list)(range(len(x))):
                state = step(kind, p, f"_l{layer}{end}", x[t], state)
                out.append(state[0])
            lines.append(np.stack(out[::-1] if end else out))
            ends.append(state)
        x = np.concatenate(lines, -1)
    return x, [np.stack([e[i] for e in ends]) for i in range(len(first))]


KINDS = {"tanh": (nn.RNN, {}), "relu": (nn.RNN, {"nonlinearity": "relu"}), "LSTM": (nn.LSTM, {}),
         "GRU": (nn.GRU, {})}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layers, both, bias", [(1, False, True), (2, True, True),
                                                (1, True, False)])
def test_recurrent(kind, layers, both, bias):
    made, named = KINDS[kind]
    layer = made(3, 4, layers, bidirectional=both, bias=bias, seed=7, **named)
    p, x, n = values(layer), random(5, 2, 3), layers * (2 if both else 1)
    states = [random(n, 2, 4) for _ in range(2 if kind == "LSTM" else 1)]
    for given in (None, states):
        first = given or [np.zeros((n, 2, 4))] * len(states)
        want, ends = recurrent(kind, p, x.astype("f8"), first, layers, both)
        y, last = layer(x, given and (tuple(given) if len(given) > 1 else given[0]))
        same(y, want)
        for got, end in zip(last if kind == "LSTM" else (last,), ends):
            same(got, end)
    flipped = made(3, 4, layers, bidirectional=both, bias=bias, batch_first=True, **named)
    flipped.load_state_dict(layer.state_dict())
    same(flipped(x.swapaxes(0, 1))[0], layer(x)[0].detach().numpy().swapaxes(0, 1))
    same(layer(x[:, 0])[0], layer(x)[0].detach().numpy()[:, 0])


@pytest.mark.parametrize("cell, layer", [(nn.RNNCell, nn.RNN), (nn.LSTMCell, nn.LSTM),
                                         (nn.GRUCell, nn.GRU)])
def test_cells_and_gradients(cell, layer):
    one, line = cell(3, 4, seed=3), layer(3, 4, seed=3)
    assert list(one.state_dict()) == ["weight_ih", "weight_hh", "bias_ih", "bias_hh"]
    assert list(line.state_dict()) == [f"{name}_l0" for name in one.state_dict()]
    line.load_state_dict({f"{name}_l0": t for name, t in one.state_dict().items()})
    x, state = random(4, 2, 3), None
    for t in range(4):
        state = one(x[t], state)
    same(state[0] if cell is nn.LSTMCell else state, line(x)[0][-1].detach().numpy())
    check = ig.gradient_check(lambda v: line(v)[0], [ig.tensor(x)])
    assert check["passed"], check
    line(ig.tensor(x))[0].square().sum().backward()
    for name, parameter in line.named_parameters():
        before, step_ = parameter.detach().numpy(), 1e-2
        i = tuple(0 for _ in before.shape)
        ends = []
        for sign in (1, -1):
            moved = before.copy()
            moved[i] += sign * step_
            parameter.data = moved
            ends.append(line(x)[0].square().sum().item())
        parameter.data = before
        np.testing.assert_allclose(parameter.grad.numpy()[i], (ends[0] - ends[1]) / (2 * step_),
                                   rtol=2e-2, atol=1e-3, err_msg=name)


def test_recurrent_errors():
    for call, kind, text in (
            (lambda: nn.LSTM(3, 4)(random(5, 2, 4)), ig.ShapeError, "x of shape"),
            (lambda: nn.GRU(3, 4)(random(0, 2, 3)), ig.ShapeError, "no step"),
            (lambda: nn.GRU(3, 4)(random(5, 2, 3), random(2, 2, 4)), ig.ShapeError, "first states"),
            (lambda: nn.RNN(3, 4, nonlinearity="sin"), ValueError, "'sin'"),
            (lambda: nn.LSTM(0, 4), ValueError, "1 or more")):
        with pytest.raises(kind, match=text):
            call()
    deep = nn.LSTM(3, 4, 2, dropout=0.5, seed=1)
    x = random(6, 2, 3)
    assert not np.allclose(deep(x)[0].detach(), deep.eval()(x)[0].detach())


def test_a_lstm_learns():
    """The sum of a line of bits, by its last output."""
    bits = RNG.integers(0, 2, (8, 64, 1)).astype("f4")
    net, last = nn.LSTM(1, 16, seed=5), nn.Linear(16, 1, seed=6)
    optimizer = ig.optim.Adam([*net.parameters(), *last.parameters()], lr=2e-2)
    want = ig.tensor(bits.sum(0) / 4 - 1)  # within what outputs of tanh reach
    for _ in range(60):
        optimizer.zero_grad()
        loss = F.mse_loss(last(net(bits)[0][-1]), want)
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.02 < want.var().item()


# ---- Transposed convolutions ----

def transposed(x, w, b, stride, padding, output_padding, groups, dilation):
    """Each element of x adds its kernel to the result, element by element."""
    n, c, axes = x.shape[0], x.shape[1], x.ndim - 2
    o = w.shape[1] * groups
    shape = [(x.shape[2 + i] - 1) * stride[i] + dilation[i] * (w.shape[2 + i] - 1) + 1
             + output_padding[i] for i in range(axes)]
    y = np.zeros((n, o, *shape))
    for place in np.ndindex(*x.shape[2:]):
        for tap in np.ndindex(*w.shape[2:]):
            at = tuple(place[i] * stride[i] + tap[i] * dilation[i] for i in range(axes))
            for g in range(groups):
                ins, outs = slice(g * c // groups, (g + 1) * c // groups), slice(
                    g * o // groups, (g + 1) * o // groups)
                y[(slice(None), outs, *at)] += (x[(slice(None), ins, *place)]
                                                @ w[(ins, slice(None), *tap)])
    for i in range(axes):
        y = np.take(y, range(padding[i], y.shape[2 + i] - padding[i]), 2 + i)
    return y + (0 if b is None else b.reshape(-1, *[1] * axes))


@pytest.mark.parametrize("stride, padding, more, groups, dilation", [
    (1, 0, 0, 1, 1), (2, 1, 1, 1, 1), (3, 0, 2, 2, 1), (2, 1, 0, 2, 2)])
@pytest.mark.parametrize("axes", [1, 2])
def test_transposed_convolutions(axes, stride, padding, more, groups, dilation):
    kind = nn.ConvTranspose1d if axes == 1 else nn.ConvTranspose2d
    layer = kind(4, 6, 3, stride, padding, more, groups, dilation=dilation, seed=9)
    assert layer.weight.shape == (4, 6 // groups, *[3] * axes) and layer.bias.shape == (6,)
    x, p = random(2, 4, *[5, 4][:axes]), values(layer)
    want = transposed(x.astype("f8"), p["weight"], p["bias"], [stride] * axes, [padding] * axes,
                      [more] * axes, groups, [dilation] * axes)
    same(layer(x), want)
    check = ig.gradient_check(layer, [ig.tensor(x)], absolute=3e-3)
    assert check["passed"], check
    assert not kind(2, 2, 3, bias=False).state_dict().get("bias")
    with pytest.raises(ValueError, match="groups"):
        kind(4, 6, 3, groups=3)
