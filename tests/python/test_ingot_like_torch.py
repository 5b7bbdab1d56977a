# SPDX-License-Identifier: Apache-2.0
"""Programs that mean the same with PyTorch. Each is run with `T` and says what it must give: by hand
for ingot, and the same for PyTorch where that is installed, so that the expectations are right."""

import numpy as np
import pytest

import ingot

try:
    import torch
except ImportError:
    torch = None
LIBRARIES = [pytest.param(ingot, id="ingot"),
             pytest.param(torch, id="torch", marks=pytest.mark.skipif(torch is None, reason="no torch"))]
both = pytest.mark.parametrize("T", LIBRARIES)
Failure = (RuntimeError, ValueError, IndexError, TypeError, ingot.Error)


def leaf(T, values):
    return T.tensor(values, requires_grad=True)


def near(got, want, tolerance=1e-5):
    np.testing.assert_allclose(np.array(got.tolist() if hasattr(got, "tolist") else got), want,
                               rtol=tolerance, atol=tolerance)


# ---- Gradients are objects ----

@both
def test_the_loop_of_tutorials(T):
    """Gradient descent by hand on (w - 3)^2: the error is multiplied by 0.6 in each step."""
    w = leaf(T, [0.0])
    for _ in range(40):
        loss = ((w - 3.0) ** 2).sum()
        loss.backward()
        with T.no_grad():
            w -= 0.2 * w.grad
        w.grad.zero_()
    near(w, [3 - 3 * 0.6 ** 40], 1e-6)
    assert loss.item() < 1e-12


@both
def test_grad_is_one_object(T):
    w = leaf(T, [1.0, 2.0])
    (w * w).sum().backward()
    g = w.grad
    assert g is w.grad and g.tolist() == [2, 4]
    g /= 2
    assert w.grad.tolist() == [1, 2]
    (w * w).sum().backward()
    assert g is w.grad and g.tolist() == [3, 6], "collected where it was"
    w.grad[0] = 7.0
    w.grad.data[1] = 8.0
    assert g.tolist() == [7, 8]
    own = T.tensor([5.0, 5.0])
    w.grad = own
    assert w.grad is own
    own.fill_(6.0)
    assert w.grad.tolist() == [6, 6]
    w.grad = None
    assert w.grad is None and g.tolist() == [7, 8]


@both
def test_grad_of_a_sum_can_be_changed(T):
    """What is one number in memory at first is a tensor like others."""
    w = leaf(T, [[1.0, 2.0], [3.0, 4.0]])
    w.sum().backward()
    w.grad[0] = 5.0
    w.grad *= 2
    assert w.grad.tolist() == [[10, 10], [2, 2]]
    a, b = leaf(T, [1.0]), leaf(T, [1.0])
    (a + b).sum().backward()
    a.grad.zero_()
    assert b.grad.tolist() == [1]


@both
def test_steps_see_what_was_done_to_gradients(T):
    w = leaf(T, [1.0])
    optimizer = T.optim.SGD([w], lr=1.0)
    (3 * w).sum().backward()
    w.grad /= 6
    optimizer.step()
    assert w.tolist() == [0.5]
    optimizer.zero_grad(set_to_none=False)
    assert w.grad.tolist() == [0]
    optimizer.zero_grad()
    assert w.grad is None


# ---- data, state_dict ----

@both
def test_data_is_the_tensor(T):
    w = leaf(T, [1.0, 2.0, 3.0])
    w.data.copy_(T.tensor([4.0, 5.0, 6.0]))
    assert w.tolist() == [4, 5, 6] and w.requires_grad and w.is_leaf
    w.data[0] = 9.0
    w.data.mul_(2)
    assert w.tolist() == [18, 10, 12]
    w.data.zero_()
    assert w.tolist() == [0, 0, 0]
    values = T.tensor([7.0, 7.0, 7.0])
    w.data = values
    values[1] = 8.0
    assert w.tolist() == [7, 8, 7] and w.requires_grad


@both
def test_detached_shares_memory(T):
    w = leaf(T, [1.0, 2.0])
    d = w.detach()
    d.fill_(3.0)
    assert w.tolist() == [3, 3]
    with T.no_grad():
        w += 1
    assert d.tolist() == [4, 4]


@both
def test_state_dict_is_the_model(T):
    model = T.nn.Linear(2, 1)
    state = model.state_dict()
    state["weight"].copy_(T.tensor([[1.0, 2.0]]))
    state["bias"].fill_(0.5)
    near(model(T.tensor([[10.0, 1.0]])), [[12.5]])
    with T.no_grad():
        model.weight.zero_()
    assert state["weight"].tolist() == [[0, 0]]


@both
def test_copies_are_copies(T):
    import copy
    x = T.tensor([1.0, 2.0])
    copies = [x.clone(), T.tensor(x.tolist()), copy.deepcopy(x), x + 0, T.zeros(2).copy_(x)]
    x.fill_(5.0)
    assert [c.tolist() for c in copies] == [[1, 2]] * 5
    copies[0].zero_()
    assert x.tolist() == [5, 5]
    y = T.tensor([1.0, 2.0])
    x.copy_(y)
    x += 1
    y += 5
    assert x.tolist() == [2, 3] and y.tolist() == [6, 7]


@both
def test_parameters_share_what_they_are_made_of(T):
    x = T.tensor([1.0, 2.0])
    p = T.nn.Parameter(x)
    x[0] = 9.0
    assert p.tolist() == [9, 2]


# ---- Views ----

VIEWS = {
    "row": (lambda x: x[1], [[0, 1, 2], [9, 9, 9]]),
    "column": (lambda x: x[:, 1], [[0, 9, 2], [3, 9, 5]]),
    "steps": (lambda x: x[:, ::2], [[9, 1, 9], [9, 4, 9]]),
    "corner": (lambda x: x[1:, 2:], [[0, 1, 2], [3, 4, 9]]),
    "transposed": (lambda x: x.T[0], [[9, 1, 2], [9, 4, 5]]),
    "line": (lambda x: x.view(-1)[2:4], [[0, 1, 9], [9, 4, 5]]),
    "reshaped": (lambda x: x.reshape(3, 2)[1], [[0, 1, 9], [9, 4, 5]]),
    "new axis": (lambda x: x[None, :, 0], [[9, 1, 2], [9, 4, 5]]),
    "unsqueezed": (lambda x: x.unsqueeze(0).squeeze(0)[0, 0], [[9, 1, 2], [3, 4, 5]]),
    "chunk": (lambda x: x.chunk(3, 1)[1], [[0, 9, 2], [3, 9, 5]]),
    "diagonal": (lambda x: x.diagonal(), [[9, 1, 2], [3, 9, 5]]),
    "diagonal of a transposed": (lambda x: x.T.diagonal(), [[9, 1, 2], [3, 9, 5]]),
    "flattened": (lambda x: x.flatten()[5], [[0, 1, 2], [3, 4, 9]]),
    "permuted": (lambda x: x.permute(1, 0)[2], [[0, 1, 9], [3, 4, 9]]),
}


@both
@pytest.mark.parametrize("name", VIEWS)
def test_writes_through_views(T, name):
    view, want = VIEWS[name]
    for write in (lambda v: v.fill_(9), lambda v: v.copy_(T.tensor(9.0)), lambda v: v.__setitem__(..., 9)):
        for x in (T.arange(6).float().reshape(2, 3), T.arange(6).reshape(2, 3)):
            write(view(x))
            assert x.tolist() == want
    x = T.zeros(2, 3)  # one number in memory
    x += T.arange(6).float().reshape(2, 3) * 0
    view(x).fill_(9)
    assert x.tolist() == (np.array(want) * (np.array(want) == 9)).tolist()
    x = T.zeros(2, 3)
    view(x).fill_(9)
    assert x.tolist() == (np.array(want) * (np.array(want) == 9)).tolist()


@both
def test_views_see_writes(T):
    x = T.arange(6).float().reshape(2, 3)
    row, turned, later = x[0], x.T, x * 2
    x[0][1] = 7.0
    x += 1
    assert row.tolist() == [1, 8, 3] and turned.tolist() == [[1, 4], [8, 5], [3, 6]]
    assert later.tolist() == [[0, 2, 4], [6, 8, 10]], "what was computed stays"
    row[:2] = T.tensor([[5.0, 6.0]])  # axes of length 1 in front
    assert x.tolist() == [[5, 6, 3], [4, 5, 6]]
    for i, r in enumerate(x):
        r.fill_(i)
    assert x.tolist() == [[0, 0, 0], [1, 1, 1]]
    x[:, 0], x[:, 2] = x[:, 1].clone(), 4
    assert x.tolist() == [[0, 0, 4], [1, 1, 4]]
    x[1:] = x[:1]
    assert x.tolist() == [[0, 0, 4]] * 2
    del x
    row.fill_(3)
    assert turned.tolist() == [[3, 0], [3, 0], [3, 4]]


@both
def test_versions(T):
    x = T.zeros(3)
    y = x[1:]
    before = x._version
    y += 1
    x[0] = 2
    assert x._version == y._version == before + 2
    x.data.fill_(1)
    assert x._version == before + 2


@both
def test_expanded_tensors_cannot_be_written(T):
    x = T.zeros(3, 1)
    y = x.expand(3, 4)
    with pytest.raises(Failure, match="single memory location|one in memory"):
        y += 1
    y = x.expand(3, 4).clone()
    y[0, 0] = 1
    assert y.sum().item() == 1 and x.sum().item() == 0


@both
def test_view_wants_a_view(T):
    with pytest.raises(Failure):
        T.zeros(2, 3).T.view(6)
    assert T.zeros(2, 3).T.reshape(6).shape == (6,)


# ---- Changes in place and gradients ----

@both
def test_leaves_are_not_changed(T):
    w = leaf(T, [1.0, 2.0])
    with pytest.raises(Failure, match="leaf|view"):
        w += 1
    with pytest.raises(Failure, match="leaf|view"):
        w[0] = 1.0
    with pytest.raises(Failure, match="leaf|view"):
        w[0].fill_(1.0)
    with pytest.raises(Failure, match="leaf|view"):
        w.zero_()
    with T.no_grad():
        w[0] = 5.0
        w.zero_()
    assert w.is_leaf and w.requires_grad and w.tolist() == [0, 0]


@both
def test_overtaken_values(T):
    """What backward needs has been changed: exp needs its result, x * x its operands, sums nothing."""
    w = leaf(T, [1.0, 2.0])
    y = w.exp()
    y += 1
    with pytest.raises(Failure, match="in ?place"):
        y.sum().backward()
    x = w * 1
    y = (x * x).sum()
    x[0] = 3.0
    with pytest.raises(Failure, match="in ?place"):
        y.backward()
    y = (w * w).sum()
    with T.no_grad():
        w += 1
    with pytest.raises(Failure, match="in ?place"):
        y.backward()
    w.grad = None
    x = w * 2
    y = x.sum()
    x.fill_(0)
    y.backward()
    assert w.grad.tolist() == [2, 2]
    y = (w * w).sum()
    w.data.mul_(1)  # not noticed
    y.backward()


@both
def test_history_follows(T):
    w = leaf(T, [1.0, 2.0])
    y = w * 3
    y[0] = w[1] * 5  # y = (5 w1, 3 w1)
    y.sum().backward()
    assert w.grad.tolist() == [0, 8]
    w.grad = None
    y = w * 2
    part = y[1:]
    part *= 10  # y = (2 w0, 20 w1)
    (y.sum() + part.sum()).backward()
    assert w.grad.tolist() == [2, 40]
    w.grad = None
    x = T.zeros(2, 2)
    row = x[1]
    row += w  # a tensor without gradients becomes a result
    assert x.requires_grad
    (x * T.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    assert w.grad.tolist() == [3, 4]
    w.grad = None
    y = w * 2
    y.zero_()
    y.sum().backward()
    assert w.grad.tolist() == [0, 0]
    w.grad = None
    a = T.tensor([3.0, 4.0])
    a *= w  # its old value is kept for the gradient of w
    a.sum().backward()
    assert w.grad.tolist() == [3, 4]
    w.grad = None
    y = w.clone()
    y.T[0] = w[0] * w[1]
    y.sum().backward()
    assert w.grad.tolist() == [2, 2]


@both
def test_second_derivative_through_a_write(T):
    w = leaf(T, [2.0, 3.0])
    y = w ** 3
    y[0] = w[1] ** 2
    first, = (T.grad if T is ingot else T.autograd.grad)([y.sum()], [w], create_graph=True)
    assert first.tolist() == [0, 33]  # 2 w1 + 3 w1^2
    first.sum().backward()
    assert w.grad.tolist() == [0, 20]  # 2 + 6 w1


@both
def test_rows_filled_in_a_loop(T):
    w = leaf(T, [2.0])
    x = T.zeros(5, 1)
    for i in range(5):
        x[i] = w ** i
    assert x.flatten().tolist() == [1, 2, 4, 8, 16]
    x.sum().backward()
    near(w.grad, [49])  # 1 + 4 + 12 + 32


# ---- Functions whose results differed ----

@both
def test_extremes_along_an_axis(T):
    x = T.tensor([[1.0, 5.0, 5.0], [7.0, 2.0, 3.0]])
    values, indices = x.max(dim=1)
    assert values.tolist() == [5, 7] and indices.tolist() == [1, 0]
    both_of = T.min(x, 0, keepdim=True)
    assert both_of.values.tolist() == [[1, 2, 3]] and both_of.indices.tolist() == [[0, 1, 1]]
    assert x.max().item() == 7 and x.amax(dim=1).tolist() == [5, 7] and T.amin(x, (0, 1)).item() == 1
    assert T.max(x, T.tensor(4.0)).tolist() == [[4, 5, 5], [7, 4, 4]]
    w = leaf(T, [[2.0, 2.0]])
    w.max(dim=1).values.sum().backward()
    assert w.grad.tolist() == [[1, 0]], "the first of equals has the gradient"


@both
def test_median(T):
    assert T.tensor([4.0, 1.0, 3.0, 2.0]).median().item() == 2
    values, indices = T.tensor([[3, 1, 2], [6, 4, 5]]).median(dim=1)
    assert values.tolist() == [2, 5] and indices.tolist() == [2, 2] and values.dtype == T.int64
    assert np.isnan(T.tensor([1.0, float("nan"), 2.0]).median().item())


@both
def test_spread(T):
    x = T.tensor([[1.0, 2.0, 3.0, 6.0]])  # squared distances to the mean, 3: 4 + 1 + 0 + 9
    near(x.var(), 14 / 3)
    near(x.std(dim=1), [np.sqrt(14 / 3)])
    near(x.var(1, False), [14 / 4])
    near(x.var(dim=1, correction=2, keepdim=True), [[14 / 2]])
    near(T.std(x, unbiased=False), np.sqrt(14 / 4))


@both
def test_gelu(T):
    """x Phi(x); with tanh -0.0454 in place of -0.0455 at -2."""
    x = T.tensor([-2.0, -1.0, 0.5, 3.0])
    exact = [-0.04550026, -0.15865525, 0.34573123, 2.99595031]
    near(T.nn.GELU()(x), exact, 1e-6)
    near(T.nn.functional.gelu(x), exact, 1e-6)
    near(T.nn.functional.gelu(x, approximate="tanh"), [-0.04540229, -0.15880801, 0.34571401, 2.99636269], 1e-6)


@both
def test_numbers_that_do_not_fit(T):
    for make in (lambda: T.tensor(300, dtype=T.uint8), lambda: T.tensor([1, 200], dtype=T.int8),
                 lambda: T.full((2,), 300, dtype=T.uint8), lambda: T.zeros(2, dtype=T.uint8).fill_(256),
                 lambda: T.zeros(2, dtype=T.int8).__setitem__(0, 1000)):
        with pytest.raises((OverflowError, RuntimeError), match="fit|overflow"):
            make()
    assert T.tensor([255, 0], dtype=T.uint8).tolist() == [255, 0]
    assert T.tensor(3.7, dtype=T.int32).item() == 3


def run_twice(code):
    import os
    import subprocess
    import sys
    return [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                           env=os.environ).stdout for _ in range(2)]


def test_random_numbers_of_processes():
    first, second = run_twice("import ingot; print(ingot.randn(4).tolist())")
    assert first != second
    first, second = run_twice("import ingot; ingot.manual_seed(3); print(ingot.randn(4).tolist())")
    assert first == second


LOGITS = [[[1.0, 2.0], [0.0, 1.0], [3.0, 0.0]]]  # (1, 3, 2): three classes at two places


def entropy(column, target):
    """By hand: log(sum(exp(x))) - x[target]."""
    return np.log(np.exp(column).sum()) - column[target]


@both
def test_cross_entropy_of_places(T):
    F = T.nn.functional
    x, target = T.tensor(LOGITS), T.tensor([[2, 0]])
    columns = np.array(LOGITS)[0].T
    want = [entropy(columns[0], 2), entropy(columns[1], 0)]
    near(F.cross_entropy(x, target), np.mean(want))
    near(F.cross_entropy(x, target, reduction="none"), [want])
    near(T.nn.CrossEntropyLoss(reduction="sum")(x, target), np.sum(want))
    near(F.cross_entropy(x[0, :, 0], T.tensor(2)), want[0])
    near(F.cross_entropy(x, T.tensor([[2, -100]])), want[0])
    near(F.cross_entropy(x, T.tensor([[1, 0]]), ignore_index=1), want[1])
    weight = T.tensor([1.0, 2.0, 4.0])
    near(F.cross_entropy(x, target, weight=weight), (4 * want[0] + want[1]) / 5)
    near(T.nn.CrossEntropyLoss(weight, reduction="none")(x, target), [[4 * want[0], want[1]]])
    with pytest.raises(Failure):
        F.cross_entropy(x.permute(0, 2, 1), target)  # classes are not in the last axis
    with pytest.raises(Failure):
        F.cross_entropy(x, T.tensor([[2, 3]]))


@both
def test_cross_entropy_with_shares(T):
    F = T.nn.functional
    x, target = T.tensor(LOGITS)[:, :, 0], T.tensor([2])
    column = np.array(LOGITS)[0, :, 0]
    each = np.array([entropy(column, k) for k in range(3)])
    near(F.cross_entropy(x, target, label_smoothing=0.3), 0.7 * each[2] + 0.1 * each.sum())
    weight = T.tensor([1.0, 2.0, 4.0])
    near(F.cross_entropy(x, target, weight=weight, label_smoothing=0.3),
         (0.7 * 4 * each[2] + 0.1 * (each * [1, 2, 4]).sum()) / 4)
    p = np.array([0.2, 0.3, 0.5])
    near(F.cross_entropy(x, T.tensor([p.tolist()])), (p * each).sum())
    near(F.cross_entropy(x, T.tensor([p.tolist()]), weight=weight, label_smoothing=0.3),
         ((0.7 * p + 0.1) * each * [1, 2, 4]).sum())
    w = leaf(T, LOGITS)
    F.cross_entropy(w, T.tensor([[2, -100]])).backward()
    share = np.exp(column) / np.exp(column).sum() - [0, 0, 1]
    near(w.grad, np.stack([share, [0, 0, 0]], 1)[None])


@both
def test_cube_of_logits(T):
    """(3, 3, 3): classes are axis 1, as in every input (N, C, ..)."""
    x = T.arange(27).float().reshape(3, 3, 3)
    target = T.tensor([[0, 1, 2]] * 3)
    columns = np.array([0.0, 3.0, 6.0])
    near(T.nn.functional.cross_entropy(x, target), np.mean([entropy(columns, k) for k in range(3)]))


# ---- Devices, factories, names ----

@both
def test_devices(T):
    x = T.tensor([1.0])
    assert x.to("cpu").tolist() == [1] and x.to(T.device("cpu")).tolist() == [1] and x.cpu() is x
    assert x.to(T.int64).dtype == T.int64 and x.to(dtype=T.float16).dtype == T.float16
    assert x.to(device="cpu", dtype=T.float16).dtype == T.float16 and x.to(x) is x
    assert x.to(T.float32, copy=True) is not x and x.to("cpu", non_blocking=True).tolist() == [1]
    assert isinstance(T.cuda.is_available(), bool) and T.cuda.device_count() >= 0
    model = T.nn.Linear(2, 1)
    weight = model.weight
    assert model.to("cpu").weight is weight and model.half().weight is weight and weight.dtype == T.float16
    if not T.cuda.is_available():
        for call in (lambda: x.to("cuda"), lambda: x.cuda(), lambda: model.to("cuda"), lambda: T.zeros(1, device="cuda")):
            with pytest.raises(Exception, match="(?i)cuda|nvidia"):
                call()


def test_no_gpu_says_so():
    if ingot.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(ingot.DeviceError, match="no such GPU is here"):
        ingot.zeros(2).to("cuda")
    with pytest.raises(ingot.DeviceError, match="no such GPU is here"):
        ingot.device("cuda", 1)
    assert ingot.device("mps") == ingot.Device() and ingot.zeros(1).to("mps").tolist() == [0]


@both
def test_factories(T):
    for make in (T.zeros, T.ones, T.randn, T.rand, T.empty):
        assert make(2, 3, requires_grad=True).requires_grad and not make(2).requires_grad
    assert T.full((2,), 1.5, requires_grad=True).requires_grad and T.zeros_like(T.ones(2), requires_grad=True).requires_grad
    assert T.arange(3.0, requires_grad=True).is_leaf
    x = T.randint(10, (100,))
    assert 0 <= x.min().item() and x.max().item() <= 9 and T.randint(5, 6, (2,)).tolist() == [5, 5]
    with pytest.raises(Failure):
        T.zeros(2, dtype=T.int64, requires_grad=True)


@both
def test_sizes_and_pieces(T):
    x = T.arange(6).reshape(3, 2)
    assert tuple(x.size()) == (3, 2) and x.size(0) == 3 and x.size(-1) == 2
    assert [p.tolist() for p in x.split(2)] == [[[0, 1], [2, 3]], [[4, 5]]]
    assert [p.tolist() for p in x.split([1, 1], dim=1)] == [[[0], [2], [4]], [[1], [3], [5]]]


@both
def test_parameters_without_gradients(T):
    used, unused, frozen = leaf(T, [1.0]), leaf(T, [1.0]), T.tensor([1.0])
    optimizer = T.optim.Adam([used, unused, frozen], lr=0.5)
    used.sum().backward()
    optimizer.step()
    near(used, [0.5], 1e-4)
    assert unused.tolist() == [1] and frozen.tolist() == [1]


def test_size_is_a_number_too():
    assert ingot.zeros(2, 3).size == 6 and ingot.eval(ingot.ones(1), ingot.ones(1))[1].tolist() == [1]


def test_optimisers_are_made_after_types_changed():
    model = ingot.nn.Linear(2, 1)
    optimizer = ingot.optim.SGD(model.parameters(), lr=0.1)
    model.half()
    model(ingot.ones(1, 2, dtype="float16")).sum().backward()
    with pytest.raises(ingot.DTypeError, match="make it afterwards"):
        optimizer.step()


@both
def test_steps_are_counted_for_each_parameter(T):
    """Adam's first step of a parameter has length lr, also if others took steps before."""
    a, b = leaf(T, [1.0]), leaf(T, [1.0])
    optimizer = T.optim.Adam([a, b], lr=0.25)
    for _ in range(3):
        optimizer.zero_grad()
        a.sum().backward()
        optimizer.step()
    (3 * b).sum().backward()
    optimizer.step()
    near(b, [0.75], 1e-4)
