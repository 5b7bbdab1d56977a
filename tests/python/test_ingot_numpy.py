# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions with tensors among their arguments, and out=."""

import numpy as np
import pytest

import ingot as ig

A = np.random.default_rng(3).uniform(0.1, 0.9, (3, 4, 5)).astype("f4")
M = A[0]


def check(got, want, exact=False):
    assert isinstance(got, ig.Tensor), type(got)
    assert got.shape == np.shape(want)
    if exact:
        np.testing.assert_array_equal(got.numpy(), want)
    else:
        np.testing.assert_allclose(got.numpy(), want, rtol=2e-5, atol=2e-6)


REDUCTIONS = ["sum", "mean", "prod", "max", "min", "std", "var", "argmax", "argmin", "any", "all",
              "amax", "amin", "count_nonzero"]


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
    function, t = getattr(np, name), ig.tensor(A)
    check(function(t), function(A))
    for axis in (0, -1) if name.startswith("arg") else (0, -1, (0, 2)):
        check(function(t, axis), function(A, axis))
        check(function(t, axis=axis, keepdims=True), function(A, axis=axis, keepdims=True))


@pytest.mark.parametrize("call", [
    lambda x: np.cumsum(x), lambda x: np.cumsum(x, 1), lambda x: np.cumprod(x, axis=-1),
    lambda x: np.sort(x), lambda x: np.sort(x, axis=None), lambda x: np.argsort(x, 0),
    lambda x: np.transpose(x), lambda x: np.transpose(x, (1, 0, 2)), lambda x: np.ravel(x),
    lambda x: np.reshape(x, (5, 12)), lambda x: np.swapaxes(x, 0, 2), lambda x: np.squeeze(x[:1]),
    lambda x: np.expand_dims(x, 1), lambda x: np.moveaxis(x, 0, 2), lambda x: np.flip(x, 1),
    lambda x: np.roll(x, 2, 1), lambda x: np.tile(x, (1, 2, 1)), lambda x: np.tril(x[0]),
    lambda x: np.triu(x[0], 1), lambda x: np.diagonal(x), lambda x: np.take(x, [1, 0], 1),
    lambda x: np.concatenate([x, A, x], 1), lambda x: np.concatenate([x, x], None),
    lambda x: np.stack([x, x], 1), lambda x: np.where(x > 0.5, x, 0),
    lambda x: np.clip(x, 0.3, 0.6),
    lambda x: np.round(x, 1), lambda x: np.dot(x[0], x[0].T), lambda x: np.dot(M, x[1].T),
    lambda x: np.outer(x[0, 0], x[0, 1]), lambda x: np.median(x, (0, 2)),
    lambda x: np.percentile(x, [10, 35.5], 1), lambda x: np.quantile(x, 0.3),
    lambda x: np.repeat(x, 2, 1), lambda x: np.unique(np.round(x, 1)),
    lambda x: np.dot(x[0], x.swapaxes(1, 2)), lambda x: np.einsum("bij,kj->bik", x, M),
    lambda x: np.broadcast_to(x[0], (2, 4, 5)), lambda x: np.zeros_like(x),
    lambda x: np.full_like(x, 3), lambda x: np.isclose(x, A), lambda x: np.sum(x, dtype=np.float32),
    lambda x: np.take_along_axis(x, np.zeros((3, 1, 5), int), 1)])
def test_functions(call):
    check(call(ig.tensor(A)), call(A))


UNARY = ("negative absolute sqrt exp log sin cos tan tanh sinh cosh arcsin arccos arctan floor "
         "ceil rint trunc sign square reciprocal exp2 expm1 log2 log10 log1p isnan isinf isfinite "
         "logical_not").split()
BINARY = ("add subtract multiply divide power remainder floor_divide minimum maximum equal less "
          "greater_equal arctan2 logical_and logical_xor").split()


@pytest.mark.parametrize("name", UNARY)
def test_unary_ufuncs(name):
    check(getattr(np, name)(ig.tensor(A)), getattr(np, name)(A))


@pytest.mark.parametrize("name", BINARY)
def test_binary_ufuncs(name):
    function, t = getattr(np, name), ig.tensor(A)
    for x, y in ((t, M), (M, t), (t, 0.5), (np.float32(0.5), t), (t, t)):
        check(function(x, y), function(np.asarray(x), np.asarray(y)))


def test_ufunc_methods_and_bits():
    t, n = ig.tensor(A), np.arange(6, dtype="i4")
    check(np.add.reduce(t), A.sum(0))
    check(np.maximum.reduce(t, axis=None), A.max())
    check(np.multiply.accumulate(t, axis=1), np.multiply.accumulate(A, axis=1))
    check(np.invert(ig.tensor(n)), ~n, True)
    check(np.left_shift(ig.tensor(n), 2), n << 2, True)
    check(np.bitwise_and(n, ig.tensor(n)), n, True)


def test_gradients_go_through():
    x = ig.tensor(A, requires_grad=True)
    (np.float64(3) * np.sum(np.exp(x) * A)).backward()
    np.testing.assert_allclose(x.grad.numpy(), 3 * np.exp(A) * A, rtol=1e-5)


def test_what_only_numpy_has():
    t = ig.tensor(A)
    for got, want in ((np.nanmax(t), np.nanmax(A)), (np.ptp(t), np.ptp(A)),
                      (np.heaviside(t, 1), np.heaviside(A, 1)), (np.frexp(t)[0], np.frexp(A)[0]),
                      (np.sum(t, where=A > 0.5), np.sum(A, where=A > 0.5)),
                      (np.add(t, 1, casting="safe"), A + 1), (np.add.outer(t[0, 0], M[0]),
                                                             np.add.outer(M[0], M[0]))):
        assert not isinstance(got, ig.Tensor)
        np.testing.assert_allclose(got, want, rtol=1e-5)
    assert np.allclose(t, A) is True and np.array_equal(t, A) is True
    assert np.shape(t) == (3, 4, 5) and np.ndim(t) == 3 and np.size(t) == 60
    assert [i.tolist() for i in np.nonzero(ig.tensor([0, 3]))] == [[1]]
    np.testing.assert_allclose(t, A)


def test_out():
    t = ig.tensor(A)
    out, array = ig.zeros((3, 4, 5)), np.zeros((3, 4, 5), "f4")
    assert ig.exp(t, out=out) is out and np.allclose(out, np.exp(A))
    assert ig.add(t, 1, out=out) is out and np.allclose(out, A + 1)
    assert t.mul(2.0, out=out) is out and np.allclose(out, A * 2)
    assert np.exp(t, out=out) is out and np.exp(t, out=array) is array
    np.testing.assert_allclose(array, np.exp(A), rtol=1e-5)
    array += t
    np.testing.assert_allclose(array, np.exp(A) + A, rtol=1e-5)
    line = ig.zeros(5)
    assert ig.sum(t, (0, 1), out=line) is line and np.sum(t, (0, 1), out=line) is line
    np.testing.assert_allclose(line, A.sum((0, 1)), rtol=1e-5)
    product = ig.zeros((4, 4))
    assert ig.matmul(M, ig.tensor(M).T, out=product) is product and np.allclose(product, M @ M.T)
    half = ig.zeros((3, 4, 5), dtype="float16")
    assert ig.sqrt(t, out=half).dtype == ig.float16, "the tensor's type stays"
    assert ig.sum(t, out=None).shape == ()
    with pytest.raises(ig.ShapeError, match="sum"):
        ig.sum(t, 0, out=line)
    with pytest.raises(ig.DTypeError, match="float32.*int32"):
        ig.exp(t, out=ig.zeros((3, 4, 5), dtype="int32"))
    with pytest.raises(TypeError, match="'out' must be Tensor, not list"):
        ig.exp(t, out=[])
    with pytest.raises(TypeError, match="signature"):
        ig.exp(t, there=out)


def test_to_cpu():
    t = ig.ones(3)
    assert t.to("cpu") is t and t.to("cpu", "float16").dtype == ig.float16 and t.cpu() is t
    net = ig.nn.BatchNorm1d(3)
    weight = net.weight
    assert net.to("cpu").weight is weight and net.to("float16").weight.dtype == ig.float16
    assert net.num_batches_tracked.dtype == ig.int64
