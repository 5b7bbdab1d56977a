# SPDX-License-Identifier: Apache-2.0
"""ingot.fft against numpy.fft in double precision, ingot.Complex against NumPy's."""

import numpy as np
import pytest

import ingot as ig
from ingot import fft

RNG = np.random.default_rng(17)
# Lengths: one product, divisors, primes and multiples of primes (a chirp), powers of two.
LENGTHS = [1, 2, 3, 5, 8, 17, 64, 65, 67, 100, 113, 128, 134, 360, 1000, 1009, 4096, 4099, 30030]


def numbers(*shape):
    return (RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)).astype("c8")


def same(t, a, tolerance=1e-6):
    """A few units of float32, relative to the root mean square: transforms spread errors."""
    a = np.asarray(a)
    assert t.shape == a.shape, (t.shape, a.shape)
    scale = np.sqrt(np.mean(np.abs(a) ** 2)) if a.size else 1
    error = np.sqrt(np.mean(np.abs(t.numpy() - a) ** 2)) if a.size else 0
    assert error <= tolerance * scale, (error, scale)


@pytest.mark.parametrize("n", LENGTHS)
def test_lengths(n):
    a = numbers(2, n)
    wide = a.astype("c16")
    same(fft.fft(a), np.fft.fft(wide))
    same(fft.ifft(a), np.fft.ifft(wide))
    same(fft.ifft(fft.fft(a)), wide)
    real = wide.real
    same(fft.rfft(real), np.fft.rfft(real))
    half = np.fft.rfft(real)
    same(fft.irfft(half, n), real)


def test_a_long_line():
    a = numbers(1 << 17)
    same(fft.fft(a), np.fft.fft(a.astype("c16")))


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
def test_norms_lengths_and_axes(norm):
    a = numbers(3, 6, 5)
    wide = a.astype("c16")
    for axis in (0, 1, -1):
        for n in (None, 4, 9, 1):
            for name in ("fft", "ifft", "irfft"):
                if name == "irfft" and n == 1:
                    continue
                same(getattr(fft, name)(a, n, axis, norm),
                     getattr(np.fft, name)(wide, n, axis, norm))
            same(fft.rfft(a.real, n, axis, norm), np.fft.rfft(wide.real, n, axis, norm))
    for s, axes in ((None, None), ((4, 8), None), (None, (0, 2)), ((7, 2), (1, 0))):
        for name in ("fftn", "ifftn"):
            same(getattr(fft, name)(a, s, axes, norm), getattr(np.fft, name)(wide, s, axes, norm))
        same(fft.rfftn(a.real, s, axes, norm), np.fft.rfftn(wide.real, s, axes, norm))
        same(fft.irfftn(a, s, axes, norm), np.fft.irfftn(wide, s, axes, norm), 2e-6)
    for name in ("fft2", "ifft2"):
        same(getattr(fft, name)(a, norm=norm), getattr(np.fft, name)(wide, norm=norm))
    same(fft.irfft2(fft.rfft2(a.real, norm=norm), (6, 5), norm=norm), wide.real)


def test_frequencies():
    for n in (1, 2, 7, 8):
        np.testing.assert_allclose(fft.fftfreq(n, 0.5), np.fft.fftfreq(n, 0.5), rtol=1e-6)
        np.testing.assert_allclose(fft.rfftfreq(n), np.fft.rfftfreq(n), rtol=1e-6)
    a = numbers(4, 5)
    for axes in (None, 0, (1,), (0, 1)):
        same(fft.fftshift(ig.Complex(a), axes), np.fft.fftshift(a, axes))
        same(fft.ifftshift(a.real, axes), np.fft.ifftshift(a.real, axes))


@pytest.mark.parametrize("n", [5, 12, 67, 70])
def test_gradients(n):
    w = ig.tensor(RNG.standard_normal((n, 2)).astype("f4"))
    x = ig.tensor(RNG.standard_normal(n).astype("f4"))
    for function in (lambda v: fft.fft(v).pairs * w, lambda v: fft.rfft(v).abs(),
                     lambda v: fft.irfft(fft.rfft(v) * (2 - 1j), n) * w[:, 0]):
        # Differences of a sum of n numbers in float32.
        result = ig.gradient_check(function, [x], absolute=3e-3)
        assert result["passed"], result
    y = x.clone().requires_grad_()
    (g,) = ig.grad(fft.fft(y).pairs.square().sum(), y, create_graph=True)
    np.testing.assert_allclose(g.detach().numpy(), 2 * n * x.numpy(), rtol=1e-4, atol=1e-4)
    (h,) = ig.grad(g.square().sum(), y)
    np.testing.assert_allclose(h.numpy(), 8 * n * n * x.numpy(), rtol=1e-4, atol=1e-2)


def test_half_and_errors():
    assert fft.fft(ig.ones(8, dtype="float16")).pairs.dtype == ig.float16
    assert fft.fft([1, 2, 3]).tolist()[0] == 6
    for call, kind, text in (
            (lambda: fft.fft(1.0), IndexError, "axis -1 of 0"),
            (lambda: fft.fft([1.0], axis=1), IndexError, "axis 1"),
            (lambda: fft.fft([1.0], n=0), ValueError, "length of 0"),
            (lambda: fft.fft([1.0], norm="unit"), ValueError, "'unit'"),
            (lambda: fft.rfft(ig.Complex([1j])), ig.DTypeError, "complex"),
            (lambda: fft.fftn([1.0], (1, 2), (0,)), ValueError, "2 lengths for 1 axes"),
            (lambda: fft.fft(ig.zeros((2, 0))), (ValueError, ig.ShapeError), "length"),
            (lambda: ig.view_as_complex(ig.zeros(3)), ig.ShapeError, "pairs")):
        with pytest.raises(kind, match=text):
            call()


def test_complex_numbers():
    a, b = numbers(3, 4), numbers(4)
    x, y = ig.Complex(a), ig.complex(b.real, b.imag)
    for got, want in ((x + y, a + b), (x - b, a - b), (b - x, b - a), (x * y, a * b),
                      (x / y, a / b), (2 / y, 2 / b), (-x, -a), (x * 2j, a * 2j),
                      (x @ y.reshape(4, 1), a @ b[:, None]),
                      (x.conj(), a.conj()), (x.sum(), a.sum()), (x.mean(axis=-1), a.mean(-1)),
                      (x.sum((0, 1), True), a.sum((0, 1), keepdims=True)), (x[1:, 0], a[1:, 0]),
                      (x[..., ::2], a[..., ::2]), (x[0], a[0]), (a * y, a * b)):
        assert isinstance(got, ig.Complex)
        same(got, want)
    np.testing.assert_allclose(abs(x).numpy(), np.abs(a), rtol=1e-6)
    np.testing.assert_allclose(ig.angle(x).numpy(), np.angle(a), rtol=1e-5)
    same(ig.real(x), a.real), same(ig.imag(x), a.imag), same(ig.conj(x), a.conj())
    assert (x == a).all().item() and not (x == a + 1).any().item()
    assert x.shape == (3, 4) and x.ndim == 2 and x.size == 12 and len(x) == 3
    assert ig.is_complex(x) and not ig.is_complex(x.real) and "real=" in repr(y)
    assert ig.view_as_complex(ig.view_as_real(x)).tolist() == x.tolist()
    assert ig.Complex([[1 + 2j, 3], [4, 5j]]).tolist() == [[1 + 2j, 3], [4, 5j]]
    assert ig.Complex(ig.tensor([1, 2])).tolist() == [1, 2] and y[0].item() == complex(b[0])
    assert np.asarray(x).dtype == np.complex64
    z = ig.Complex(ig.zeros(2).requires_grad_(), ig.zeros(2))
    assert z.detach().pairs.requires_grad is False
    with pytest.raises(TypeError):
        x + "1"
