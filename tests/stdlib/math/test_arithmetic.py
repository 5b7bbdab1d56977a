# SPDX-License-Identifier: Apache-2.0
"""Arithmetic in every math mode against tables 8.1 to 8.5 of the Metal Shading Language Specification:
operators, divisions by constants, roots. Every half and every bfloat once on each side, floats of every
exponent; the expected value is computed in double precision and rounded once, by this file.
"""
import pathlib
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "library"))
import harness  # noqa: E402

np.seterr(all="ignore")
MODES = ["fast", "relaxed", "safe"]


class Kind:
    """A binary format: bits of precision and the exponent of its least unit, as arrays of double."""

    def __init__(self, name, bits, digits, least, most):
        self.name, self.bits, self.digits, self.least, self.most = name, bits, digits, least, most

    def wide(self, raw):
        if self.name == "bfloat":
            raw = (raw.astype(np.uint32) << 16).view(np.float32)
        return (raw.view(np.float16) if self.name == "half" else raw.view(np.float32)).astype(np.float64)

    def raw(self, x):
        if self.name == "half":
            return np.float16(x).view(np.uint16)
        return np.float32(x).view(np.uint32) >> (32 - 8 * np.dtype(self.bits).itemsize)

    def unit(self, x):
        """The distance of neighbours around x."""
        _, exponent = np.frexp(x)
        return np.ldexp(1.0, np.maximum(exponent - self.digits, self.least))

    def rounded(self, x):
        unit = self.unit(np.where(np.isfinite(x), x, 0))
        r = np.where(np.isfinite(x), np.rint(x / unit) * unit, x)
        return np.where(np.abs(r) > self.most, np.copysign(np.inf, r), r)

    def tiny(self, x):
        return (x != 0) & (np.abs(x) < np.ldexp(1.0, self.least + self.digits - 1))


HALF = Kind("half", np.uint16, 11, -24, 65504.0)
BFLOAT = Kind("bfloat", np.uint16, 8, -133, float.fromhex("0x1.fep127"))
FLOAT = Kind("float", np.uint32, 24, -149, float.fromhex("0x1.fffffep127"))

# Of half and bfloat doubles hold every sum, and every quotient well enough to round it.
OPERATORS = {"a + b": np.add, "a - b": np.subtract, "a * b": np.multiply, "a / b": np.divide,
             "T(1) / a": lambda a, b: 1 / a, "a / T(3)": lambda a, b: a / 3,
             "a / T(-10)": lambda a, b: a / -10}
# A double of a root is not exact, but no root of a short number lies near a tie.
FUNCTIONS = {"sqrt(a)": lambda a, b: np.sqrt(a), "rsqrt(a)": lambda a, b: 1 / np.sqrt(a),
             "divide(a, b)": np.divide, "fmod(a, b)": np.fmod,
             "fdim(a, b)": lambda a, b: np.where(np.isnan(a) | np.isnan(b), np.nan,
                                                 np.where(a > b, a - b, 0))}


def results(kind, cases, a, b, mode, before=""):
    """The results of each case at every width, as doubles."""
    n = len(a)
    body = "".join(f"o[i + {k * n}] = {case}; " for k, case in enumerate(cases))
    source = (f"{before}typedef {kind.name} T; kernel void k(device const T *x, device const T *y, device T *o, "
              f"uint i [[thread_position_in_grid]]) {{ T a = x[i], b = y[i]; {body}}}")
    for width, (out,) in harness.run(source, [a, b], [(kind.bits, n * len(cases))], n,
                                     options=(f"--math={mode}",)):
        for case, got in zip(cases, out.reshape(len(cases), n)):
            yield f"width {width}, {mode}: {case} of {kind.name}", case, kind.wide(got)


def expect(right, what, a, b, got, want):
    wrong = np.flatnonzero(~right)
    assert not len(wrong), (f"{what}: {len(wrong)} wrong, first a = {a[wrong[0]]!r}, b = {b[wrong[0]]!r}: "
                            f"{got[wrong[0]]!r}, expected {want[wrong[0]]!r}")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [HALF, BFLOAT], ids=["half", "bfloat"])
def test_short_numbers(kind, mode):
    """Correctly rounded in every mode. Denormal bfloats may be zero: processors that convert to
    bfloat take them so, and the specification allows it."""
    raw = np.arange(65536, dtype=np.uint16)
    other = np.random.default_rng(5).permutation(raw)
    a, b = kind.wide(raw), kind.wide(other)
    cases = {**OPERATORS, **FUNCTIONS} if kind is HALF else OPERATORS
    for what, case, got in results(kind, cases, raw, other, mode):
        exact = cases[case](a, b)
        want = kind.rounded(exact)
        right = (got == want) | np.isnan(got) & np.isnan(want)
        if kind is BFLOAT:
            right |= kind.tiny(a) | kind.tiny(b) | kind.tiny(exact) & (got == 0)
        expect(right, what, a, b, got, want)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [HALF, BFLOAT, FLOAT], ids=["half", "bfloat", "float"])
def test_fused(kind, mode):
    """A product and a sum in one expression round once, in safe mode too; after the pragma twice. In fast mode also
    across statements, in safe mode not."""
    random = np.random.default_rng(9)
    # Between a half and two, where one rounding and two differ often.
    raw, other = (random.integers(0, 1 << kind.digits, 65536, dtype=kind.bits) + kind.raw(0.5) for _ in range(2))
    a, b = kind.wide(raw), kind.wide(other)
    cases = {"a * b + a": (a * b, a), "a - a * b": (-a * b, a), "a * b - b": (a * b, -b)}
    for before, cases, fused in [("", cases, True), ("#pragma METAL fp contract(off)\n", cases, False),
                                 ("", {"({ T p = a * b; p + a; })": (a * b, a)}, mode != "safe")]:
        # Doubles hold these products and sums, of float all but the last bits of sums.
        once = {k: kind.rounded(product + term) for k, (product, term) in cases.items()}
        twice = {k: kind.rounded(kind.rounded(product) + term) for k, (product, term) in cases.items()}
        # One at a time: a product that two sums share may stay one.
        for what, case, got in (r for case in cases for r in results(kind, [case], raw, other, mode, before)):
            want, other_way = (once, twice) if fused else (twice, once)
            near = np.abs(got - want[case]) <= kind.unit(want[case])
            expect(near, what, a, b, got, want[case])
            # Where a wider sum rounds to a tie of the format, one in thousands is off by a unit.
            assert np.count_nonzero(got != want[case]) <= (100 if fused else 0), what
            assert np.count_nonzero(got != other_way[case]) > 1000, what


@pytest.mark.parametrize("mode", MODES)
def test_floats(mode):
    """Sums and products are correctly rounded in every mode; quotients in safe mode, else within 2.5
    ulp, reciprocals within 1, for divisors from 2^-126 to 2^126."""
    random = np.random.default_rng(7)
    every = np.arange(256, dtype=np.uint32) << 23
    raw = np.concatenate([every | random.integers(0, 1 << 23, 256, dtype=np.uint32) | sign << 31
                          for _ in range(64) for sign in np.array([0, 1], np.uint32)])
    other = random.permutation(raw)
    a, b = FLOAT.wide(raw), FLOAT.wide(other)
    cases = {k: OPERATORS[k] for k in OPERATORS if k != "a / T(-10)"}
    for what, case, got in results(FLOAT, cases, raw, other, mode):
        exact = cases[case](a, b)
        want = FLOAT.rounded(exact)
        right = (got == want) | np.isnan(got) & np.isnan(want)
        if mode != "safe" and "/" in case:
            divisor = np.abs(a if case == "T(1) / a" else b if case == "a / b" else 3 + 0 * a)
            off = np.abs(got - exact) / FLOAT.unit(exact)
            right |= np.isfinite(off) & (off <= (1 if case == "T(1) / a" else 2.5))
            right |= (divisor < 2.0 ** -126) | (divisor > 2.0 ** 126)
            right |= ~np.isfinite(a) | ~np.isfinite(b) | FLOAT.tiny(want) & (off <= 2.5)
            right |= np.isinf(want) & (np.abs(got) >= FLOAT.most * (1 - 2.0 ** -22))
        expect(right, what, a, b, got, want)
