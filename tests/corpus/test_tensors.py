# SPDX-License-Identifier: Apache-2.0
"""tensors/*.metal: products and small networks with Metal Performance Primitives, against NumPy."""
import numpy as np
import pytest

from runner import DEEP, EVERY, USUAL, check, run_kernel, struct_bytes

LINEAR = "tensors/linear.metal"
F, H = np.float32, np.float16
SIZES = [(24, 37), (64, 128), (113, 255)]


def halves(shape, seed=1):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(H)


def sizes(*n):
    return struct_bytes(*[("i4", v) for v in n])


def wide(a):
    return a.astype(np.float64)


@pytest.mark.parametrize("m,n,k", [(128, 64, 256), (113, 29, 17), (1, 1, 1)])
def test_matrix_matrix(m, n, k):
    a, b = halves((m, k)), halves((k, n), 2)
    grid = (-(-n // 32) * 128, -(-m // 64))
    check(LINEAR, "matrix_matrix", grid, (128, 1), {0: a, 1: b, 2: np.zeros((m, n), F), 3: sizes(m, n, k)},
          {2: wide(a) @ wide(b)}, modes=DEEP if m < 128 else EVERY[:2], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("m,k", SIZES)
def test_gemv(m, k):
    """Both ways, each near the truth and within one unit in the last place of each other."""
    a, x, y = halves((m, k)), halves(k, 3), np.zeros(m, H)
    args = {0: a, 1: x, 2: y, 3: sizes(m, k, 0)}
    want = wide(a) @ wide(x)
    tensor = run_kernel(LINEAR, "gemv_tensor", (-(-m // 64) * 128,), (128,), args, [2])[2]
    by_hand = run_kernel(LINEAR, "gemv_hierarchical", (-(-m // 4) * 128,), (128,), args, [2])[2]
    for got in (tensor, by_hand):
        assert np.abs(wide(got) - want).max() < 2e-2
    ulp = np.spacing(np.maximum(np.abs(tensor), np.abs(by_hand)))
    assert (np.abs(wide(tensor) - wide(by_hand)) <= wide(ulp)).all()


@pytest.mark.parametrize("kernel,m,n,k", [("thread_matrix_matrix", 64, 32, 32), ("thread_vector_matrix", 1, 17, 31),
                                          ("thread_matrix_vector", 29, 1, 19)])
def test_thread(kernel, m, n, k):
    a, b = halves((m, k)), halves((k, n), 2)
    check(LINEAR, kernel, (1,), (1,), {0: a, 1: b, 2: np.zeros((m, n), H)}, {2: wide(a) @ wide(b)}, modes=DEEP, rtol=2e-3,
          atol=2e-3)


def test_thread_network():
    x = halves((70, 4))
    layers = [(halves((4, 256), 2), halves(256, 3)), (halves((256, 8), 4) / H(16), halves(8, 5))]
    hidden = np.maximum(wide(x) @ wide(layers[0][0]) + wide(layers[0][1]), 0)
    want = hidden @ wide(layers[1][0]) + wide(layers[1][1])
    args = {0: x, 1: layers[0][0], 2: layers[0][1], 3: layers[1][0], 4: layers[1][1], 5: np.zeros((70, 8), H)}
    check(LINEAR, "thread_network", (70,), (64,), args, {5: want}, modes=DEEP, rtol=1e-2, atol=1e-2)


def test_dynamic_network():
    widths = [4, 32, 32, 8]
    x, value = halves((70, 4)), None
    w = [halves((a, b), 7 + a) / H(4) for a, b in zip(widths, widths[1:])]
    b = [halves(n, n) for n in widths[1:]]
    value = wide(x)
    for i in range(3):
        value = value @ wide(w[i]) + wide(b[i])
        value = np.maximum(value, 0) if i < 2 else value
    args = {0: x, 1: np.concatenate([m.ravel() for m in w]), 2: np.concatenate(b), 3: np.zeros((70, 8), H),
            4: np.array(widths, np.uint32), 5: np.array([3], np.uint32)}
    check(LINEAR, "dynamic_network", (70,), (32,), args, {3: value}, modes=DEEP, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("count", [64, 100])
def test_cooperative_network(count, monkeypatch):
    points = np.random.default_rng(1).uniform(-1, 1, (count, 2)).astype(F)
    w, b = halves((3, 64, 64), 2) / H(8), halves((3, 64), 3)
    value = np.zeros((count, 64))
    value[:, :2] = points.astype(H)
    for i in range(3):
        value = np.sin(value @ wide(w[i]) + wide(b[i]))
    args = {0: points, 1: w, 2: b, 3: np.zeros((count, 3), F), 4: np.array([3], np.uint32), 5: np.array([count], np.uint32)}
    grid = (-(-count // 64) * 128,)
    modes = EVERY if count == 100 else USUAL
    check(LINEAR, "cooperative_network", grid, (128,), args, {3: value[:, :3]}, modes=modes, rtol=5e-3, atol=5e-3)
    monkeypatch.setenv("INGOT_TENSOR_LAYOUT", "random")
    check(LINEAR, "cooperative_network", grid, (128,), args, {3: value[:, :3]}, modes=DEEP, rtol=5e-3, atol=5e-3)


@pytest.mark.parametrize("inputs,outputs,batch", [(64, 64, 16), (2, 64, 113), (64, 3, 29)])
def test_weight_gradient(inputs, outputs, batch):
    x, g = halves((batch, inputs)), halves((batch, outputs), 2)
    args = {0: x, 1: g, 2: np.zeros((inputs, outputs), F), 3: sizes(inputs, outputs, batch)}
    check(LINEAR, "weight_gradient", (128,), (128,), args, {2: wide(x).T @ wide(g)}, modes=DEEP, rtol=1e-4, atol=1e-4)


def test_random_layout(monkeypatch):
    """The switch reaches the compiler, and code compiled without it is not taken for code compiled with it."""
    a, b = halves((8, 16)), halves((16, 32), 2)
    args = {0: a, 1: b, 2: np.zeros((8, 32), F)}
    for layout, right in (("", True), ("random", False), ("", True)):
        monkeypatch.setenv("INGOT_TENSOR_LAYOUT", layout)
        got = run_kernel(LINEAR, "assumes_a_layout", (32,), (32,), args, [2])[2]
        assert np.allclose(got, wide(a) @ wide(b), atol=1e-4) == right, layout
