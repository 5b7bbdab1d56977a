# SPDX-License-Identifier: Apache-2.0
"""ingot.nn, ingot.optim, files, kernels of one's own."""

import copy
import math
import pickle

import numpy as np
import pytest

import ingot as ig
from ingot import nn, optim
from ingot.nn import functional as F


def close(t, a, tolerance=1e-5):
    np.testing.assert_allclose(t.detach().numpy(), a, rtol=tolerance, atol=tolerance)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8, seed=1)
        self.rest = nn.Sequential(nn.ReLU(), nn.Dropout(0.5, seed=1), nn.BatchNorm1d(8),
                                  nn.Linear(8, 3, bias=False, seed=2))
        self.scale = nn.Parameter([1.0])

    def forward(self, x):
        return self.rest(self.first(x)) * self.scale


def test_module():
    net = Net()
    assert [name for name, _ in net.named_parameters()] == [
        "scale", "first.weight", "first.bias", "rest.2.weight", "rest.2.bias", "rest.3.weight"]
    assert [name for name, _ in net.named_buffers()] == [
        "rest.2.running_mean", "rest.2.running_var", "rest.2.num_batches_tracked"]
    assert len(list(net.modules())) == 7 and net(ig.randn(5, 4, seed=3)).shape == (5, 3)
    assert net.rest[2].num_batches_tracked.item() == 1
    assert net.training and not net.eval().rest[1].training and net.train().rest[1].training
    assert "Linear(4, 8, bias=True)" in repr(net)
    net.requires_grad_(False)
    assert not any(p.requires_grad for p in net.parameters())
    net.requires_grad_()
    net(ig.randn(5, 4)).sum().backward()
    assert all(p.grad is not None for p in net.parameters())
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())
    with pytest.raises(TypeError):
        net.first = 3
    with pytest.raises(AttributeError):
        net.nothing
    with pytest.raises(NotImplementedError):
        nn.Module()(1)
    assert net.half().scale.dtype == ig.float16 and net.float().scale.dtype == ig.float32
    twin = copy.deepcopy(net)
    assert twin.scale is not net.scale and ig.array_equal(twin.first.weight, net.first.weight)
    assert isinstance(pickle.loads(pickle.dumps(net)).scale, nn.Parameter)


def test_state_dict(tmp_path):
    net, other = Net(), Net()
    with ig.no_grad():
        for p in net.parameters():
            p += 1
    other.load_state_dict(net.state_dict())
    for a, b in zip(net.parameters(), other.parameters()):
        assert ig.array_equal(a, b) and b.requires_grad and b.is_leaf
    path = tmp_path / "net.safetensors"
    net.save(path)
    third = Net()
    third.load(path)
    assert ig.array_equal(third.first.weight, net.first.weight)
    state = net.state_dict()
    state["scale"] = ig.ones(2)
    with pytest.raises(ig.ShapeError, match="scale"):
        other.load_state_dict(state)
    del state["scale"]
    with pytest.raises(KeyError, match="scale"):
        other.load_state_dict(state)
    other.load_state_dict(state, strict=False)
    state["more"] = ig.ones(1)
    with pytest.raises(KeyError, match="more"):
        other.load_state_dict({**net.state_dict(), "more": ig.ones(1)})


def test_layers():
    x = np.random.default_rng(1).normal(size=(4, 6)).astype("f4")
    layer = nn.Linear(6, 3, seed=1)
    close(layer(x), x @ layer.weight.detach().numpy().T + layer.bias.detach().numpy())
    assert abs(layer.weight).max().item() <= 1 / math.sqrt(6)
    close(F.linear(x, layer.weight), x @ layer.weight.detach().numpy().T)
    norm = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    close(nn.LayerNorm(6)(x), norm, 1e-4)
    close(nn.RMSNorm((6,), eps=1e-6)(x), x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-6), 1e-4)
    batch = nn.BatchNorm1d(6)
    close(batch(x), (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5), 1e-4)
    close(batch.running_mean, 0.1 * x.mean(0), 1e-4)
    close(batch.running_var, 0.9 + 0.1 * x.var(0, ddof=1), 1e-4)
    batch.eval()
    close(batch(x), (x - 0.1 * x.mean(0)) / np.sqrt(0.9 + 0.1 * x.var(0, ddof=1) + 1e-5), 1e-4)
    table = nn.Embedding(5, 3, seed=1)
    close(table([[0, 4]]), table.weight.detach().numpy()[[[0, 4]]])
    drop = nn.Dropout(0.25, seed=1)
    y = drop(ig.ones(4000))
    assert abs((y == 0).float().mean().item() - 0.25) < 0.03
    assert not ig.array_equal(y, drop(ig.ones(4000)))
    assert drop.eval()(ig.ones(5)).tolist() == [1] * 5
    assert nn.Flatten()(ig.zeros(2, 3, 4)).shape == (2, 12)
    close(nn.Sine(2.0)(x), np.sin(2 * x))
    for kind in (nn.ReLU, nn.GELU, nn.SiLU, nn.Sigmoid, nn.Tanh, nn.LeakyReLU, nn.ELU, nn.Softplus,
                 nn.Softmax, nn.LogSoftmax, nn.Identity):
        assert kind()(ig.tensor(x)).shape == (4, 6)


def test_pictures():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(2, 3, 6, 5)).astype("f4")
    conv = nn.Conv2d(3, 4, 3, padding=1, stride=2, seed=1)
    w, b = conv.weight.detach().numpy(), conv.bias.detach().numpy()
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))[:, :, ::2, ::2]
    close(conv(x), np.einsum("nchwij,ocij->nohw", windows, w) + b[:, None, None], 1e-4)
    blocks = x[:, :, :6, :4].reshape(2, 3, 3, 2, 2, 2)
    close(nn.MaxPool2d(2)(x), blocks.max((3, 5)))
    close(nn.AvgPool2d(2)(x), blocks.mean((3, 5)), 1e-5)
    close(nn.AdaptiveAvgPool2d(1)(x), x.mean((2, 3), keepdims=True), 1e-5)
    assert nn.BatchNorm2d(3)(x).shape == x.shape
    assert nn.GroupNorm(3, 3)(x).shape == x.shape
    with pytest.raises(ValueError):
        nn.Conv2d(3, 4, 3, groups=2)
    with pytest.raises(ValueError):
        ig.conv2d(x, w, stride=0)


def test_losses():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 4, 5)).astype("f4")
    close(F.mse_loss(x, y), ((x - y) ** 2).mean())
    close(nn.L1Loss("sum")(x, y), np.abs(x - y).sum())
    assert F.mse_loss(x, y, reduction="none").shape == (4, 5)
    d = np.abs(x - y)
    close(F.huber_loss(x, y), np.where(d < 1, d * d / 2, d - 0.5).mean())
    p, t = 1 / (1 + np.exp(-x)), (y > 0).astype("f4")
    exact = -(t * np.log(p) + (1 - t) * np.log(1 - p)).mean()
    close(F.binary_cross_entropy(p, t), exact, 1e-4)
    close(nn.BCEWithLogitsLoss()(x, t), exact, 1e-4)
    labels = np.array([0, 4, 2, 1])
    logp = x - np.log(np.exp(x).sum(1, keepdims=True))
    close(F.cross_entropy(x, labels), -logp[np.arange(4), labels].mean(), 1e-4)
    close(nn.CrossEntropyLoss()(x, ig.one_hot(labels, 5)), -logp[np.arange(4), labels].mean(), 1e-4)
    with pytest.raises(IndexError):
        F.cross_entropy(x, [0, 5, 1, 1])
    with pytest.raises(ValueError):
        F.mse_loss(x, y[0])
    with pytest.raises(ValueError):
        F.mse_loss(x, y, reduction="median")


def adam(w, g, state, t, lr=1e-3, b1=0.9, b2=0.999, eps=1e-8):
    state[0] = b1 * state[0] + (1 - b1) * g
    state[1] = b2 * state[1] + (1 - b2) * g * g
    return w - lr * (state[0] / (1 - b1**t)) / (np.sqrt(state[1] / (1 - b2**t)) + eps)


def test_adam():
    w = nn.Parameter(ig.randn(5, seed=1))
    exact, state = w.detach().numpy().astype("f8"), [0, 0]
    optimizer = optim.Adam([w])
    for t in range(1, 6):
        optimizer.zero_grad()
        ((w - 3) ** 2).sum().backward()
        optimizer.step()
        exact = adam(exact, 2 * (exact - 3), state, t)
    close(w, exact, 1e-5)


@pytest.mark.parametrize("make", [
    lambda p: optim.SGD(p, 0.05), lambda p: optim.SGD(p, 0.05, momentum=0.9, nesterov=True),
    lambda p: optim.Adam(p, 0.1), lambda p: optim.AdamW(p, 0.1), lambda p: optim.RMSprop(p, 0.05)],
    ids=["sgd", "nesterov", "adam", "adamw", "rmsprop"])
def test_optimizers(make, tmp_path):
    def run(w, optimizer, n):
        for _ in range(n):
            optimizer.zero_grad()
            ((w - 1) ** 2).sum().backward()
            optimizer.step()
    w = nn.Parameter(ig.zeros(3))
    optimizer = make([w])
    run(w, optimizer, 10)
    assert ((w - 1) ** 2).sum().item() < 3
    # Saved, loaded elsewhere, and both go on alike.
    twin = nn.Parameter(w.detach())
    other = make([twin])
    other.load_state_dict(optimizer.state_dict())
    third = nn.Parameter(w.detach())
    another = make([third])
    optimizer.save(tmp_path / "state.safetensors")
    another.load(tmp_path / "state.safetensors")
    for p, o in ((w, optimizer), (twin, other), (third, another)):
        run(p, o, 5)
    assert ig.array_equal(w, twin) and ig.array_equal(w, third)


def test_groups_and_schedules():
    a, b = nn.Parameter(ig.ones(1)), nn.Parameter(ig.ones(1))
    optimizer = optim.SGD([{"params": [a]}, {"params": b, "lr": 0.5}], lr=0.1)
    assert [g["lr"] for g in optimizer.param_groups] == [0.1, 0.5]
    (a + b).backward()
    optimizer.step()
    assert abs(a.item() - 0.9) < 1e-6 and abs(b.item() - 0.5) < 1e-6
    optimizer.param_groups[0]["lr"] = 0.2
    assert optimizer.lr == 0.2 and dict(optimizer.param_groups[1])["momentum"] == 0
    schedule = optim.CosineLR(optimizer, period=10, warmup=5)
    rates = []
    for _ in range(17):
        rates.append(optimizer.lr)
        schedule.step()
    assert rates[0] == pytest.approx(0.04) and max(rates) == pytest.approx(0.2)
    assert rates[-1] == pytest.approx(0, abs=1e-9) and rates.index(max(rates)) in (4, 5)
    again = optim.CosineLR(optimizer, period=10, warmup=5)
    again.load_state_dict({"last_step": 4, "base_rates": [0.2, 0.5]})
    assert again.get_last_lr() == pytest.approx([0.2, 0.5])
    for kind in (optim.StepLR(optimizer, 2), optim.ExponentialLR(optimizer, 0.9),
                 optim.LinearLR(optimizer, 4), optim.ConstantLR(optimizer)):
        kind.step()
    with pytest.raises(KeyError):
        optimizer.param_groups[0]["momentum"] = 1
    for bad in (lambda: optim.SGD([]), lambda: optim.SGD([a], lr=-1), lambda: optim.SGD([3]),
                lambda: optim.Adam([a], betas=(1.5, 0.9)), lambda: optim.SGD([a], nesterov=True),
                lambda: optim.SGD([{"params": [a], "speed": 3}]), lambda: optim.SGD([a * 2])):
        with pytest.raises((ValueError, TypeError, ig.Error)):
            bad()
    optimizer.zero_grad()
    before = a.tolist()
    optimizer.step()  # nothing has a gradient
    assert a.tolist() == before


def test_clipping():
    a, b = nn.Parameter(ig.ones(2)), nn.Parameter(ig.ones(3))
    (3 * a.sum() + 4 * b.sum()).backward()
    norm = nn.clip_grad_norm_([a, b], 1.0)
    assert norm.item() == pytest.approx(math.sqrt(2 * 9 + 3 * 16), rel=1e-5)
    assert math.hypot(*a.grad.tolist(), *b.grad.tolist()) == pytest.approx(1, rel=1e-4)
    nn.clip_grad_value_([a, b], 0.1)
    assert b.grad.max().item() == pytest.approx(0.1)


def test_first_values_are_those_of_the_c_modules():
    for layer, shape, fan in ((nn.Linear(6, 3, seed=5), (3, 6), 6), (nn.Conv2d(2, 4, 3, seed=5), (4, 2, 3, 3), 18)):
        bound = 1 / math.sqrt(fan)
        assert ig.array_equal(layer.weight, ig.uniform(shape, -bound, bound, seed=5))
        assert layer.bias.shape == shape[:1] and 0 < layer.bias.abs().max().item() <= bound
        assert layer.weight.is_leaf and layer.weight.requires_grad and layer.bias.requires_grad
    first, again, other = (nn.Linear(6, 3, seed=seed) for seed in (1, 1, 2))
    assert ig.array_equal(first.bias, again.bias) and not ig.array_equal(first.bias, other.bias)


def test_init():
    w = nn.Parameter(ig.zeros(64, 32))
    nn.init.kaiming_uniform_(w, seed=1)
    assert w.abs().max().item() <= math.sqrt(6 / 32) and w.is_leaf and w.requires_grad
    nn.init.xavier_normal_(w, seed=1)
    assert w.std().item() == pytest.approx(math.sqrt(2 / 96), rel=0.1)
    nn.init.constant_(w, 3)
    assert w.min().item() == 3 and nn.init.zeros_(w).max().item() == 0
    with pytest.raises(ig.ShapeError):
        nn.init.xavier_uniform_(ig.zeros(3))


def test_training_in_half():
    """float16 parameters learn what float32 ones do: there is a copy that is the truth."""
    x = ig.randn(64, 8, seed=1)
    y = (x @ ig.randn(8, 1, seed=2)).half()
    net = nn.Linear(8, 1, dtype="float16", seed=3)
    optimizer = optim.Adam(net.parameters(), lr=3e-2)
    for _ in range(150):
        optimizer.zero_grad()
        loss = F.mse_loss(net(x.half()), y)
        loss.backward()
        optimizer.step()
    assert loss.item() < 1e-2


# ---- Files ----

@pytest.mark.parametrize("dtype", ["float16", "float32", "bfloat16", "int8", "uint8", "int16",
                                   "int32", "int64", "bool"])
def test_files(dtype, tmp_path):
    t = ig.tensor([[0, 1, 1], [1, 0, 1]], dtype=dtype)
    ig.save(tmp_path / "t.npy", t)
    back = ig.load(tmp_path / "t.npy")
    assert back.tolist() == t.tolist() and (back.dtype == dtype or dtype == "bfloat16")
    if dtype != "bfloat16":
        assert np.load(tmp_path / "t.npy").tolist() == t.tolist()
    ig.save(str(tmp_path / "t.st"), {"a": t, "b.c": t.T}, metadata={"about": "a test"})
    tensors, metadata = ig.load(tmp_path / "t.st", return_metadata=True)
    assert metadata == {"about": "a test"} and list(tensors) == ["a", "b.c"]
    assert tensors["a"].dtype == dtype and tensors["b.c"].tolist() == t.T.tolist()


def test_bad_files(tmp_path):
    path = tmp_path / "x"
    for content in (b"", b"\x93NUMPY", b"\x93NUMPY\x01\x00\xff\xff{}", b"\xff" * 64,
                    (10**18).to_bytes(8, "little") + b"{}",
                    (2).to_bytes(8, "little") + b"[]",
                    (57).to_bytes(8, "little")
                    + b'{"a":{"dtype":"F32","shape":[9],"data_offsets":[0,36]}}  '):
        path.write_bytes(content)
        with pytest.raises(ig.FileError):
            ig.load(path)
    with pytest.raises(OSError):
        ig.load(tmp_path / "nowhere")
    with pytest.raises(OSError):
        ig.save(tmp_path / "nowhere" / "x", ig.ones(1))
    for bad in (lambda: ig.save(path, {"a": "b"}), lambda: ig.save(path, {1: ig.ones(1)}),
                lambda: ig.save(path, {"a": ig.ones(1)}, metadata={"a": 1}),
                lambda: ig.save("a\0b", ig.ones(1)), lambda: ig.save(3.5, ig.ones(1))):
        with pytest.raises((TypeError, ValueError)):
            bad()


# ---- Kernels ----

SOURCE = """#include <metal_stdlib>
using namespace metal;
kernel void scaled_relu(device const float *input [[buffer(0)]], device float *output [[buffer(1)]],
                        constant float &scale [[buffer(2)]], uint id [[thread_position_in_grid]]) {
    output[id] = scale * max(input[id], 0.0f);
}"""


def test_kernel():
    kernel = ig.kernel(SOURCE, "scaled_relu")
    x = ig.tensor([[-1.0, 2.0], [3.0, -4.0]])
    y = kernel(x, scalars=[2.5])
    assert y.tolist() == [[0, 5], [7.5, 0]] and not y.requires_grad
    assert kernel(x.T, scalars=[1.0]).tolist() == [[0, 3], [2, 0]]

    @kernel.backward
    def gradient(inputs, output, grad, scalars):
        return [ig.where(inputs[0] > 0, grad * scalars[0], 0.0)]
    x.requires_grad_()
    (kernel(x, scalars=[2.5]) * 2).sum().backward()
    assert x.grad.tolist() == [[0, 5], [5, 0]]

    @kernel.backward
    def broken(inputs, output, grad, scalars):
        raise KeyError("gone")
    with pytest.raises(KeyError):
        kernel(x, scalars=[2.5]).sum().backward()
    with pytest.raises(ig.CompileError):
        ig.kernel("kernel void f( {", "f")
    with pytest.raises(ig.Error):
        ig.kernel(SOURCE, "nothing")
    with pytest.raises(ig.Error):
        kernel(ig.ones(3, dtype="int32"), scalars=[1.0])
    with pytest.raises(ValueError):
        kernel()


def test_elementwise_kernel():
    kernel = ig.Kernel.elementwise("x,b", "max(x * s + b, 0.0f)", scalars="s")
    x, b = ig.tensor([[1.0, -1.0], [2.0, 3.0]]), ig.tensor([0.5, -0.5])
    assert kernel(x, b, scalars=[2.0]).tolist() == [[2.5, 0], [4.5, 5.5]]
