# SPDX-License-Identifier: Apache-2.0
"""Names that PyTorch's programs expect: data, parameters, pictures, encoders. By hand, and the same program with
PyTorch where it is installed."""

import numpy as np
import pytest
from test_ingot_like_torch import Failure, both, leaf, near

import ingot

# ---- Names of tutorials ----

@both
def test_batches(T):
    data = T.utils.data
    x = data.TensorDataset(T.arange(10).reshape(5, 2), T.arange(5))
    batches = list(data.DataLoader(x, batch_size=2, pin_memory=False))
    assert [y.tolist() for _, y in batches] == [[0, 1], [2, 3], [4]] and batches[1][0].tolist() == [[4, 5], [6, 7]]
    assert len(data.DataLoader(x, batch_size=2, drop_last=True)) == 2
    assert sorted(y.item() for _, y in data.DataLoader(x, shuffle=True)) == [0, 1, 2, 3, 4]
    assert [y.tolist() for _, y in data.DataLoader(x, batch_sampler=[[4, 0], [1]])] == [[4, 0], [1]]
    both_of = data.ConcatDataset([data.Subset(x, [3, 1]), x])
    assert len(both_of) == 7 and [both_of[i][1].item() for i in (0, 1, 2, -1)] == [3, 1, 0, 4]
    parts = data.random_split(x, [3, 2])
    assert sorted(y.item() for part in parts for _, y in part) == [0, 1, 2, 3, 4] and len(parts[1]) == 2
    for bad in (lambda: both_of[-8], lambda: data.ConcatDataset([])[0],
                lambda: data.DataLoader(x, batch_size=2, batch_sampler=[[1]]), lambda: data.random_split(x, [3, 3])):
        with pytest.raises((ValueError, IndexError, AssertionError)):
            bad()


@both
def test_parameters_as_a_vector(T):
    utils = T.nn.utils
    a, b = leaf(T, [[1.0, 2.0], [3.0, 4.0]]), leaf(T, [5.0])
    vector = utils.parameters_to_vector([a, b])
    assert vector.tolist() == [1, 2, 3, 4, 5]
    vector.sum().backward()
    assert a.grad.tolist() == [[1, 1], [1, 1]]
    utils.vector_to_parameters(T.tensor([6.0, 7.0, 8.0, 9.0, 10.0]), [a, b])
    assert a.tolist() == [[6, 7], [8, 9]] and b.tolist() == [10] and a.requires_grad and a.is_leaf
    with pytest.raises(Failure):
        utils.vector_to_parameters(T.tensor([1.0, 2.0]), [a, b])


@both
def test_limits_for_gradients(T):
    """Gradients (3, 3) and (-4): norms sqrt(34), 10 and 4 by 2, 1 and the greatest."""
    for norm_type, want in ((2.0, 34 ** 0.5), (1, 10), (float("inf"), 4)):
        a, b, unused = leaf(T, [1.0, 1.0]), leaf(T, [1.0]), leaf(T, [1.0])
        (3 * a.sum() - 4 * b.sum()).backward()
        near(T.nn.utils.clip_grad_norm_([a, b, unused], 100.0, norm_type=norm_type), want)
        near(a.grad, [3, 3])
        T.nn.utils.clip_grad_norm_([a, b, unused], 1.0, norm_type=norm_type)
        near(a.grad, [3 / want, 3 / want])
        near(b.grad, [-4 / want])
        T.nn.utils.clip_grad_value_([a, b], 0.01)
        near(b.grad, [-0.01])


@both
def test_inference_mode(T):
    w = leaf(T, [1.0])
    with T.inference_mode():
        assert not (w * 2).requires_grad
    with T.inference_mode(False):
        assert (w * 2).requires_grad

    @T.inference_mode()
    def twice(x):
        return x * 2
    assert not twice(w).requires_grad and (w * 2).requires_grad


@both
def test_save_takes_the_tensors_first(T, tmp_path):
    T.save({"a": T.tensor([1.0, 2.0])}, tmp_path / "a")
    assert T.load(tmp_path / "a")["a"].tolist() == [1, 2]
    T.save(T.tensor([3]), str(tmp_path / "b"))
    assert T.load(str(tmp_path / "b")).tolist() == [3]


@both
def test_normalize(T):
    F = T.nn.functional
    x = leaf(T, [[3.0, 4.0], [0.0, 0.0]])
    near(F.normalize(x), [[0.6, 0.8], [0, 0]])
    near(F.normalize(x, p=1.0, dim=-1), [[3 / 7, 4 / 7], [0, 0]])
    near(F.normalize(x, dim=0), [[1, 1], [0, 0]])
    F.normalize(x[:1])[0, 0].backward()
    near(x.grad, [[16 / 125, -12 / 125], [0, 0]])  # (1 - 0.36) / 5 and -0.48 / 5


@both
def test_padding_same(T):
    """Ones with ones: how many taps lie on the row. Of an even number of taps one more lies behind."""
    F = T.nn.functional
    x = T.ones(1, 1, 5)
    assert F.conv1d(x, T.ones(1, 1, 3), padding="same").tolist() == [[[2, 3, 3, 3, 2]]]
    assert F.conv1d(x, T.ones(1, 1, 4), padding="same").tolist() == [[[3, 4, 4, 3, 2]]]
    assert F.conv1d(x, T.ones(1, 1, 2), padding="same", dilation=3).tolist() == [[[1, 2, 2, 1, 1]]]
    assert F.conv1d(x, T.ones(1, 1, 4), padding="valid").tolist() == [[[4, 4]]]
    layer = T.nn.Conv2d(2, 3, (3, 4), padding="same", dilation=(2, 1))
    assert tuple(layer(T.ones(1, 2, 7, 6)).shape) == (1, 3, 7, 6)
    assert tuple(T.nn.Conv1d(2, 3, 5, padding="same")(T.ones(1, 2, 7)).shape) == (1, 3, 7)
    for bad in (lambda: T.nn.Conv2d(1, 1, 3, stride=2, padding="same"), lambda: F.conv1d(x, T.ones(1, 1, 3), padding="full"),
                lambda: F.conv1d(x, T.ones(1, 1, 3), stride=2, padding="same")):
        with pytest.raises(Failure):
            bad()


@both
def test_pictures_of_another_size(T):
    F = T.nn.functional
    row, picture = T.tensor([[[0.0, 4.0, 8.0]]]), T.tensor([[[[0.0, 1.0], [2.0, 3.0]]]])
    assert F.interpolate(row, size=6).tolist() == [[[0, 0, 4, 4, 8, 8]]]
    assert F.interpolate(row, scale_factor=1.5).tolist() == [[[0, 0, 4, 8]]]  # at i / 1.5
    assert F.interpolate(row, size=2, mode="nearest-exact").tolist() == [[[0, 8]]]  # at 0.75 and 2.25
    near(F.interpolate(row, size=5, mode="linear", align_corners=True), [[[0, 2, 4, 6, 8]]])
    near(F.interpolate(row, size=6, mode="linear"), [[[0, 1, 3, 5, 7, 8]]])  # at -0.25, 0.25, 0.75, ...
    near(F.interpolate(picture, scale_factor=2, mode="bilinear", align_corners=False),
         [[[[0, 0.25, 0.75, 1], [0.5, 0.75, 1.25, 1.5], [1.5, 1.75, 2.25, 2.5], [2, 2.25, 2.75, 3]]]])
    near(T.nn.Upsample((3, 1), mode="bilinear", align_corners=True)(picture), [[[[0], [1], [2]]]])
    assert tuple(F.interpolate(T.ones(2, 3, 2, 2, 2), size=(4, 3, 5), mode="trilinear").shape) == (2, 3, 4, 3, 5)
    w = leaf(T, [[[0.0, 4.0, 8.0]]])
    F.interpolate(w, size=6, mode="linear")[0, 0, 1].backward()
    near(w.grad, [[[0.75, 0.25, 0]]])
    for old, new in ((1, 49), (7, 49), (3, 41), (5, 3)):
        near(F.interpolate(T.arange(old).float().reshape(1, 1, old), size=new), [[[i * old // new for i in range(new)]]])
    for bad in (lambda: F.interpolate(row), lambda: F.interpolate(row, 2, 2.0), lambda: F.interpolate(row, 4, mode="cubist"),
                lambda: F.interpolate(row, 4, mode="bilinear"), lambda: F.interpolate(row, 4, align_corners=True),
                lambda: F.interpolate(row, (2, 2)), lambda: F.interpolate(row, 0)):
        with pytest.raises((*Failure, NotImplementedError)):
            bad()


# ---- Transformers ----

def encoder_layer(T, **named):
    """Parameters that are a function of their place, so that both libraries have the same."""
    layer = T.nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True, **named)
    with T.no_grad():
        for k, (name, p) in enumerate(sorted(layer.named_parameters())):
            n = int(np.prod(p.shape))
            p.copy_(T.tensor((np.sin(np.arange(n) * 0.7 + k) * 0.5 + ("norm" in name)).astype("f4").reshape(p.shape).tolist()))
    return layer


def encoded(layer, x, seen, norm_first):
    """The same in NumPy; seen[i, j]: whether i sees j."""
    p = {name: np.array(value.tolist()) for name, value in layer.named_parameters()}

    def norm(x, name):
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
        return x * p[name + ".weight"] + p[name + ".bias"]

    def attend(x):
        q, k, v = np.split(x @ p["self_attn.in_proj_weight"].T + p["self_attn.in_proj_bias"], 3, -1)
        heads = []
        for h in (slice(0, 2), slice(2, 4)):
            scores = np.where(seen, q[:, h] @ k[:, h].T / np.sqrt(2), -np.inf)
            share = np.exp(scores - scores.max(-1, keepdims=True))
            heads.append(share / share.sum(-1, keepdims=True) @ v[:, h])
        return np.concatenate(heads, -1) @ p["self_attn.out_proj.weight"].T + p["self_attn.out_proj.bias"]

    def feed(x):
        return np.maximum(x @ p["linear1.weight"].T + p["linear1.bias"], 0) @ p["linear2.weight"].T + p["linear2.bias"]
    if norm_first:
        x = x + attend(norm(x, "norm1"))
        return x + feed(norm(x, "norm2"))
    x = norm(x + attend(x), "norm1")
    return norm(x + feed(x), "norm2")


X = np.cos(np.arange(24) * 1.3).reshape(2, 3, 4)


@both
@pytest.mark.parametrize("norm_first", [False, True])
def test_encoder_layer(T, norm_first):
    layer = encoder_layer(T, norm_first=norm_first)
    parts = [f"{part}.{kind}" for part in ("linear1", "linear2", "norm1", "norm2", "self_attn.out_proj")
             for kind in ("weight", "bias")]
    assert sorted(layer.state_dict()) == sorted([*parts, "self_attn.in_proj_weight", "self_attn.in_proj_bias"])
    x, all_of, causal = T.tensor(X.astype("f4").tolist()), np.ones((3, 3), bool), np.tril(np.ones((3, 3), bool))
    near(layer(x), [encoded(layer, row, all_of, norm_first) for row in X], 1e-4)
    near(layer(x, src_mask=T.tensor((~causal).tolist())), [encoded(layer, row, causal, norm_first) for row in X], 1e-4)
    padding = [[False, False, False], [False, False, True]]
    near(layer(x, src_key_padding_mask=T.tensor(padding)),
         [encoded(layer, row, np.broadcast_to(~np.array(p), (3, 3)), norm_first) for row, p in zip(X, padding)], 1e-4)


@both
def test_encoder(T):
    layer = encoder_layer(T)
    encoder = T.nn.TransformerEncoder(layer, 2, norm=T.nn.LayerNorm(4))
    x = T.tensor(X[0].astype("f4").tolist())
    want = X[0]
    for _ in range(2):
        want = encoded(layer, want, np.ones((3, 3), bool), False)
    want = (want - want.mean(-1, keepdims=True)) / np.sqrt(want.var(-1, keepdims=True) + 1e-5)
    near(encoder(x), want, 1e-4)
    assert len(list(encoder.parameters())) == 2 * 12 + 2 and "layers.1.linear2.weight" in encoder.state_dict()
    assert encoder.layers[0].linear1.weight is not layer.linear1.weight
    (encoder(x) * T.arange(12).float().reshape(3, 4)).sum().backward()
    assert all(p.grad is not None for p in encoder.parameters()) and layer.linear1.weight.grad is None
    near(T.nn.TransformerEncoderLayer(4, 2, 8, activation="gelu").eval()(T.ones(3, 1, 4)).mean(), 0)
    with pytest.raises((RuntimeError, ValueError)):
        T.nn.TransformerEncoderLayer(4, 2, activation="sine")


def test_compile_and_amsgrad():
    def twice(x):
        return x * 2
    assert ingot.compile(twice) is twice and ingot.compile(mode="max-autotune")(twice) is twice
    w = leaf(ingot, [1.0])
    for kind in (ingot.optim.Adam, ingot.optim.AdamW):
        kind([w], amsgrad=False)
        with pytest.raises(ValueError, match="amsgrad"):
            kind([w], amsgrad=True)
