# SPDX-License-Identifier: Apache-2.0
"""ingot.linalg against numpy.linalg in double precision, and gradients against differences."""

import ctypes
import os
import subprocess
import sys

import numpy as np
import pytest

import ingot as ig
from ingot import linalg as la

RNG = np.random.default_rng(11)


def random(*shape):
    return RNG.standard_normal(shape).astype("f4")


def definite(*shape):
    a = random(*shape)
    return a @ a.swapaxes(-1, -2) + np.eye(shape[-1], dtype="f4")


def same(t, a, tolerance=2e-5):
    """Rounding of float32 results, relative to the largest element."""
    a = np.asarray(a)
    assert t.shape == a.shape, (t.shape, a.shape)
    scale = np.abs(a).max(initial=1e-30)
    np.testing.assert_allclose(t.numpy() / scale, a / scale, rtol=0, atol=tolerance)


STACKS = [(), (3,), (2, 1)]


@pytest.mark.parametrize("stack", STACKS, ids=str)
@pytest.mark.parametrize("n", [1, 2, 5, 17, 64])
def test_equations(stack, n):
    a, b = random(*stack, n, n) + 3 * np.eye(n, dtype="f4"), random(*stack, n, 3)
    wide = a.astype("f8")
    same(la.solve(ig.tensor(a), b), np.linalg.solve(wide, b))
    same(la.inv(a), np.linalg.inv(wide))
    if n < 20:  # float32 ends at 3e38
        same(la.det(a), np.linalg.det(wide))
    sign, log = la.slogdet(a)
    same(sign, np.linalg.slogdet(wide)[0])
    same(log, np.linalg.slogdet(wide)[1])
    vector = b.reshape(-1, n, 3)[0, :, 0]
    same(la.solve(a, vector), (np.linalg.inv(wide) @ vector[:, None])[..., 0])
    same(la.matrix_power(a, 3), wide @ wide @ wide)
    same(la.matrix_power(a, -2), np.linalg.inv(wide @ wide))


def test_stacks_broadcast():
    a, b = definite(4, 1, 3, 3), random(2, 3, 5)
    same(la.solve(a, b), np.linalg.inv(a.astype("f8")) @ b)


@pytest.mark.parametrize("stack", STACKS, ids=str)
@pytest.mark.parametrize("m, n", [(1, 1), (4, 4), (7, 3), (3, 8), (40, 33), (33, 50)])
def test_factors(stack, m, n):
    a = random(*stack, m, n)
    wide = a.astype("f8")
    q, r = la.qr(a)
    want_q, want_r = np.linalg.qr(wide)
    same(q, want_q)
    same(r, want_r)
    for full in (True, False):
        u, s, vh = la.svd(a, full_matrices=full)
        assert [x.shape for x in (u, s, vh)] == [x.shape for x in np.linalg.svd(wide, full)]
        same(s, np.linalg.svd(wide, compute_uv=False))
        k = min(m, n)
        same((u[..., :k] * s.unsqueeze(-2)) @ vh[..., :k, :], wide)
        for t in (u.mT @ u, vh @ vh.mT):
            same(t, np.broadcast_to(np.eye(t.shape[-1]), t.shape))
    same(la.pinv(a), np.linalg.pinv(wide), 2e-4)
    b = random(*stack, m, 2)
    if not stack:
        x, residuals, rank, s = la.lstsq(a, b)
        want = np.linalg.lstsq(wide, b, rcond=None)
        same(x, want[0], 2e-4)
        assert residuals.shape == want[1].shape and rank.item() == want[2]
        if residuals.size:
            same(residuals, want[1], 2e-4)
        same(la.lstsq(a, b[:, 0]).solution, want[0][:, 0], 2e-4)


@pytest.mark.parametrize("stack", STACKS, ids=str)
@pytest.mark.parametrize("n", [1, 2, 3, 12, 50])
def test_symmetric(stack, n):
    a = definite(*stack, n, n)
    wide = a.astype("f8")
    same(la.cholesky(a), np.linalg.cholesky(wide))
    s = a - n * np.eye(n, dtype="f4")
    values, v = la.eigh(s)
    same(values, np.linalg.eigvalsh(s.astype("f8")))
    same(v * values.unsqueeze(-2) @ v.mT, s)
    same(v.mT @ v, np.broadcast_to(np.eye(n), v.shape))
    upper = np.triu(s) + 7 * np.tril(np.ones((n, n), "f4"), -1)
    same(la.eigvalsh(upper, UPLO="U"), np.linalg.eigvalsh(s.astype("f8")))


@pytest.mark.parametrize("a", [
    np.zeros((4, 3)), np.ones((5, 5)), np.diag([3.0, 3, 0, 0, 1]), np.diag([1e-20, 1, 1e18]),
    np.eye(6)[:, ::-1], np.outer(np.arange(1.0, 8), np.arange(4.0)), np.zeros((0, 3)),
    np.vander(np.linspace(0, 1, 9)), 1e-30 * np.ones((3, 2)), 1e30 * np.ones((2, 3))],
    ids=lambda a: str(a.shape))
def test_hard_matrices(a):
    a = a.astype("f4")
    u, s, vh = la.svd(a, False)
    if a.size:
        same(s, np.linalg.svd(a.astype("f8"), compute_uv=False))
        same(u * s @ vh, a)
        same(u.T @ u, np.eye(min(a.shape)))
        same(vh @ vh.T, np.eye(min(a.shape)))
        assert la.matrix_rank(a).item() == np.linalg.matrix_rank(a)
    if a.shape[0] == a.shape[1]:
        b = a + a.T
        values, v = la.eigh(b)
        same(values, np.linalg.eigvalsh(b.astype("f8")))
        same(v.T @ v, np.eye(len(a)))


@pytest.mark.parametrize("n, last", [(40, -3), (60, -12), (150, -30)])
def test_values_of_many_sizes(n, last):
    q, p = (np.linalg.qr(RNG.standard_normal((n, n)))[0] for _ in range(2))
    a = (q * np.logspace(0, last, n) @ p).astype("f4")
    u, s, vh = la.svd(a)
    same(s, np.linalg.svd(a.astype("f8"), compute_uv=False))
    same(u * s @ vh, a)
    same(u.T @ u, np.eye(n))
    a = (a @ a.T).astype("f4")
    a = (a + a.T) / 2
    values, v = la.eigh(a)
    same(values, np.linalg.eigvalsh(a.astype("f8")))
    same(v.T @ v, np.eye(n))


def test_norms():
    a, v = random(3, 4, 5), random(6)
    for p in (None, 0, 1, 2, 3, 0.5, np.inf, -np.inf):
        same(la.norm(v, p), np.linalg.norm(v.astype("f8"), p))
        same(la.norm(a, p, axis=1, keepdims=True), np.linalg.norm(a.astype("f8"), p, 1, True))
    for p in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
        same(la.norm(a[0], p), np.linalg.norm(a[0].astype("f8"), p))
        same(la.norm(a, p, axis=(2, 0)), np.linalg.norm(a.astype("f8"), p, (2, 0)))
        same(la.norm(a, p, (0, 1), True), np.linalg.norm(a.astype("f8"), p, (0, 1), True))
    same(la.norm(a), np.linalg.norm(a.astype("f8")))
    same(la.cond(a[0]), np.linalg.cond(a[0].astype("f8")), 1e-4)
    for bad in (dict(ord="fro", axis=0), dict(ord=3, axis=(0, 1)), dict(ord=1)):
        with pytest.raises(ValueError, match="norm"):
            la.norm(a, **bad)


def check(function, *arrays):
    result = ig.gradient_check(function, [ig.tensor(a) for a in arrays], step=3e-3)
    assert result["passed"], result


def even(a):
    return (a + a.mT) / 2


SPREAD = np.diag([1.0, 2.5, 4.5]).astype("f4") + 0.2 * random(2, 3, 3)


@pytest.mark.parametrize("function", [
    lambda a: la.inv(a) * W, lambda a: la.det(a), lambda a: la.slogdet(a).logabsdet,
    lambda a: la.solve(a, W), lambda a: la.solve(W + 3 * ig.eye(3), a),
    lambda a: la.cholesky(even(a)) * W, lambda a: la.qr(a).Q * W, lambda a: la.qr(a).R * W,
    lambda a: la.svdvals(a) * W[0], lambda a: la.svd(a).U.square() * W,
    lambda a: la.svd(a, False).Vh.square() * W, lambda a: la.eigvalsh(even(a)) * W[0],
    lambda a: la.eigh(even(a)).eigenvectors.square() * W, lambda a: la.norm(a, "nuc", (-2, -1)),
    lambda a: la.pinv(a) * W, lambda a: la.lstsq(a, W).solution.square()])
def test_gradients(function):
    check(function, SPREAD)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5)])
def test_gradients_of_oblong_matrices(shape):
    a = random(*shape)
    w = ig.tensor(random(5, 5))
    check(lambda a: la.svd(a, False).U.square() * w[:shape[0], :3], a)
    check(lambda a: la.svd(a, False).Vh.square() * w[:3, :shape[1]], a)
    check(lambda a: la.svd(a).S * w[0, :3], a)
    x = ig.tensor(a).requires_grad_()
    with pytest.raises(ig.GradientError, match="full vectors"):
        la.svd(x).U.abs().sum().backward()
    if shape[0] > shape[1]:
        check(lambda a: la.qr(a).Q * w[:, :3], a)
    else:
        with pytest.raises(ig.GradientError, match="wider than tall"):
            la.qr(x).R.sum().backward()


W = ig.tensor(random(3, 3))


def test_determinant_of_singular_matrices():
    a = ig.tensor([[1.0, 2.0], [2.0, 4.0]]).requires_grad_()
    d = la.det(a)
    d.backward()
    assert abs(d.item()) < 1e-6
    np.testing.assert_allclose(a.grad.numpy(), [[4, -2], [-2, 1]], atol=1e-5)
    sign, log = la.slogdet(ig.zeros((2, 2)))
    assert sign.item() == 0 and log.item() == -np.inf


def test_second_derivatives():
    x = ig.tensor(SPREAD[0]).requires_grad_()
    for function in (la.inv, la.det, la.svdvals, lambda a: la.cholesky(even(a))):
        def slope(a):
            (g,) = ig.grad((function(a) ** 3).sum(), a, create_graph=True)
            return g * W
        g = slope(x)
        (got,) = ig.grad(g.sum(), x)
        step, want = 1e-2, np.zeros((3, 3))
        for i in np.ndindex(3, 3):
            ends = []
            for sign in (1, -1):
                moved = SPREAD[0].copy()
                moved[i] += sign * step
                ends.append(slope(ig.tensor(moved).requires_grad_()).sum().item())
            want[i] = (ends[0] - ends[1]) / (2 * step)
        np.testing.assert_allclose(got.numpy(), want, rtol=3e-2, atol=3e-2 * np.abs(want).max())


def test_types_and_errors():
    assert la.inv(ig.tensor([[2, 0], [0, 4]])).tolist() == [[0.5, 0], [0, 0.25]]
    assert la.inv(ig.eye(2, dtype="float16")).dtype == ig.float16
    assert la.det(np.eye(3)).dtype == ig.float32
    assert isinstance(np.linalg.solve(ig.eye(2), np.ones(2)), ig.Tensor)
    for call, kind, text in (
            (lambda: la.inv(np.ones((2, 3, 3))), la.LinAlgError, "matrix 0 .* is singular"),
            (lambda: la.solve(np.stack([np.eye(2), np.ones((2, 2))]), np.ones(2)), ValueError,
             "matrix 1 .* is singular"),
            (lambda: la.cholesky(-np.eye(2)), la.LinAlgError, "not positive definite"),
            (lambda: la.inv(np.ones((2, 3))), ig.ShapeError, r"\(2, 3\) is no stack of square"),
            (lambda: la.det(np.ones(3)), ig.ShapeError, "no stack of square"),
            (lambda: la.qr(np.ones(3)), ig.ShapeError, "no stack of matrices"),
            (lambda: la.solve(np.eye(3), np.ones((2, 1))), ig.ShapeError, "right sides"),
            (lambda: la.eigh(np.full((2, 2), np.nan)), la.LinAlgError, "finite"),
            (lambda: la.qr(np.eye(2), "all"), ValueError, "'all'"),
            (lambda: la.eigh(np.eye(2), "M"), ValueError, "'M'")):
        with pytest.raises(kind, match=text):
            call()


@pytest.mark.parametrize("n", [3, 40])  # by our own code, and by LAPACK where it is
def test_matrices_that_are_refused(n):
    singular = np.ones((2, n, n))
    singular[0] = np.eye(n)
    indefinite = np.eye(n)
    indefinite[n - 1, n - 1] = -1
    for call, text in ((lambda: la.inv(singular), "matrix 1 .* is singular"),
                       (lambda: la.solve(singular, np.ones(n)), "matrix 1 .* is singular"),
                       (lambda: la.cholesky(indefinite), "not positive definite")):
        with pytest.raises(la.LinAlgError, match=text):
            call()
    assert la.det(singular).tolist() == [1, 0]
    for bad in (np.nan, np.inf):
        a = np.eye(n)
        a[2, 1] = bad
        for function, text in ((la.svd, "finite"), (la.eigh, "finite"),
                               (la.cholesky, "not positive definite")):
            with pytest.raises(la.LinAlgError, match=text):
                function(a)


PROGRAM = """
import ingot
try:
    print(ingot.linalg.inv(2 * ingot.eye(40)).sum().item())
except ValueError as error:
    print(error)
maps = open("/proc/self/maps").read()
print("libopenblas" in maps or "liblapack" in maps)
"""


def lines_with(library):
    environment = {k: v for k, v in os.environ.items() if k != "INGOT_LAPACK"}
    if library is not None:
        environment["INGOT_LAPACK"] = library
    return subprocess.run([sys.executable, "-c", PROGRAM], env=environment, text=True, check=True,
                          capture_output=True).stdout.splitlines()


def test_which_lapack():
    def opens(name):
        try:
            return bool(ctypes.CDLL(name))
        except OSError:
            return False
    names = [n for n in ("libopenblas.so.0", "liblapack.so.3") if opens(n)]
    assert lines_with(None) == ["20.0", str(bool(names))]
    assert lines_with("none") == ["20.0", "False"]
    for name in names:
        assert lines_with(name) == ["20.0", "True"]
    for name, text in (("missing.so", "INGOT_LAPACK: missing.so: "),
                       ("libm.so.6", "INGOT_LAPACK: libm.so.6 has no function dgetrf_"),
                       (os.environ["INGOT_WIDE_LAPACK"], "has integers of 64 bits")):
        assert text in lines_with(name)[0]
