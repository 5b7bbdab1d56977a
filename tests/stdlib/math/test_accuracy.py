# SPDX-License-Identifier: Apache-2.0
"""Every function of the specification's tables of errors in every math mode and name space (accuracy.py): all halves
and bfloats, floats of every exponent, every pair of exponents, special values. The largest error of each function is
what the guide says, or less.
"""
import numpy as np
import pytest

from accuracy import (BFLOAT, FLOAT, HALF, LONG, MODES, ONE, TWO, call, chunks, documented, functions, harness,
                      measure, run, samples)

# The machine's own code; 256-bit vectors; x86-64 as of 2003, without FMA or rounding.
TARGETS = {"": (), "avx2": ("--cpu=x86-64-v3",), "sse2": ("--cpu=x86-64",)}
IDS = {"ids": lambda kind: kind.name}


def check(kind, arguments, mode, target=""):
    table = documented()
    assert set(table) == {f.name for f in ONE + TWO}
    seen = 0
    for width, f, variant, error, wrong in measure(kind, arguments, mode, TARGETS[target]):
        seen += 1
        assert not wrong, f"width {width}, {mode}, {variant} {kind.name}: {wrong}"
        if f.name in table and target != "sse2":
            said = table[f.name][2 if kind is HALF else 1 if variant.endswith("fast") else 0]
            assert error <= said + 0.005, f"{variant} {kind.name} {f.name}: {error} ulp, the guide says {said}"
    assert seen >= len(functions(kind, arguments))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("arguments", [1, 2])
@pytest.mark.parametrize("kind", [FLOAT, HALF], **IDS)
def test_errors(kind, arguments, mode):
    check(kind, arguments, mode)


@pytest.mark.parametrize("mode", ["safe", "fast"])
def test_errors_of_every_bfloat(mode):
    """A bfloat argument is converted, and the result is a float."""
    check(BFLOAT, 1, mode)


@pytest.mark.parametrize("mode,target", [("fast", "avx2"), ("safe", "sse2")], ids=["avx2", "sse2"])
def test_errors_of_other_processors(mode, target):
    check(FLOAT, 1, mode, target)


def same(a, b):
    """Of arrays of bits of floats: equal, or NaN both."""
    return (a == b) | np.isnan(a.view(np.float32)) & np.isnan(b.view(np.float32))


@pytest.mark.parametrize("arguments", [1, 2])
def test_plain_names_are_variants(arguments):
    """metal::f is precise::f in mode safe and fast::f in relaxed and fast, bit for bit; precise::f is the same in each."""
    inputs = [v[:4096] for v in samples(FLOAT, arguments)]
    for rows in chunks(functions(FLOAT, arguments)):
        calls = [call(f, space) for f in rows for space in ("", "precise::", "fast::")]
        safe = None
        for mode in MODES:
            for width, out in run(FLOAT, calls, inputs, mode):
                safe = safe or out
                for f in rows:
                    plain, precise = out[call(f)], out[call(f, "precise::")]
                    assert same(precise, safe[call(f, "precise::")]).all(), (f.name, mode, width)
                    is_precise = mode == "safe" or f.name[-3:] in ("max", "min")
                    variant = precise if is_precise else out[call(f, "fast::")]
                    either = np.zeros(len(plain), bool)
                    if f.name[-3:] in ("max", "min"):  # of two zeros either comes back
                        either = (plain << 1 == 0) & (variant << 1 == 0)
                    if f.name == "divide":  # the reciprocal may be shared, or not
                        continue
                    assert (same(plain, variant) | either).all(), (f.name, mode, width)


def test_precise_functions_by_option():
    """-fmetal-math-fp32-functions=precise, in any place, makes the plain names precise."""
    inputs = samples(FLOAT, 1)
    for options in [("-fmetal-math-fp32-functions=precise", "-fmetal-math-mode=fast"), ("-fno-fast-math",)]:
        for width, out in run(FLOAT, ["sin(a)", "precise::sin(a)"], inputs, "fast", options):
            assert same(out["sin(a)"], out["precise::sin(a)"]).all(), (options, width)


def two_results(kind):
    """Expressions and what they are, exactly, of a; b is an exponent."""
    nan = LONG(np.nan)

    def parts(x):
        mantissa, exponent = np.frexp(x)
        return mantissa, np.where(np.isfinite(x), exponent, 0)

    return {
        "modf(a, part)": lambda x, k: np.copysign(np.where(np.isinf(x), 0, x - np.trunc(x)), x),
        "(modf(a, part), part)": lambda x, k: np.copysign(np.trunc(x), x),
        "frexp(a, whole)": lambda x, k: parts(x)[0],
        "T((frexp(a, whole), whole))": lambda x, k: LONG(parts(x)[1]),
        "ldexp(a, b)": lambda x, k: kind.rounded(np.ldexp(x, k)),
        "T(ilogb(a) / 2)": lambda x, k: kind.rounded(np.where(
            np.isinf(x), LONG(2**30 - 1), np.where((x == 0) | np.isnan(x), -LONG(2**30),
                                                   np.trunc(LONG(parts(x)[1] - 1) / 2) + LONG(0)))),
        "sign(a)": lambda x, k: np.where(np.isnan(x), LONG(0), np.where(x == 0, x, np.sign(x))),
        "step(T(0.5), a)": lambda x, k: np.where(x < 0.5, LONG(0), LONG(1)),
        "saturate(a)": lambda x, k: np.where(np.isnan(x), nan, np.clip(x, 0, 1)),
        "clamp(a, T(-0.25), T(0.75))": lambda x, k: np.where(np.isnan(x), nan, np.clip(x, LONG(-0.25), LONG(0.75))),
    }


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [FLOAT, HALF], **IDS)
def test_exact_parts(kind, mode):
    """modf, frexp, ldexp, ilogb and the common functions, of every half and of floats by exponent."""
    (raw,) = samples(kind, 1)
    n = len(raw)
    exponents = np.random.default_rng(7).integers(-320, 320, n).astype(np.int32)
    exponents[::16] = np.resize([0, 1, -1, 127, 128, -126, -149, 2**31 - 1, -2**31], len(exponents[::16]))
    cases = two_results(kind)
    body = "".join(f"o[i + {k * n}u] = {case}; " for k, case in enumerate(cases))
    source = (f"typedef {kind.name} T; kernel void k(device const T *x, device const int *y, device T *o, "
              f"uint i [[thread_position_in_grid]]) {{ T a = x[i], part; int b = y[i], whole; {body}}}")
    x = kind.wide(raw)
    k = np.clip(exponents, -1000, 1000)
    for width, (out,) in harness.run(source, [raw, exponents], [(kind.bits, n * len(cases))], n,
                                     options=(f"--math={mode}",)):
        for (case, reference), bits in zip(cases.items(), out.reshape(len(cases), n)):
            got, want = kind.wide(bits), reference(x, k)
            right = (got == want) & ((got != 0) | (np.signbit(got) == np.signbit(want))) | np.isnan(got) & np.isnan(want)
            if case.startswith(("saturate", "clamp")):  # zeros may swap; what becomes of NaN: test_nan_is_left_out
                right |= (got == want) | np.isnan(x)
            if case.startswith("sign") and mode != "safe":  # which ignore the sign of zero
                right |= got == want
            at = np.flatnonzero(~right)
            assert not len(at), (f"width {width}, {mode}, {kind.name}: {case} of {x[at[0]]}, {k[at[0]]} is {got[at[0]]}, "
                                 f"expected {want[at[0]]}; {len(at)} of {n} wrong")


@pytest.mark.parametrize("mode", MODES)
def test_nan_is_left_out(mode):
    """precise::clamp and saturate answer the lower end to NaN in every mode, the plain names in mode safe."""
    nan = np.array([0x7fc00000, 0xffc00000] * 32, np.uint32)
    calls = ["precise::saturate(a)", "precise::clamp(a, 0.25f, 0.75f)"] + ["saturate(a)", "clamp(a, 0.25f, 0.75f)"] * (
        mode == "safe")
    for width, out in run(FLOAT, calls, [nan], mode):
        for k, text in enumerate(calls):
            assert (FLOAT.wide(out[text]) == (0 if k % 2 == 0 else 0.25)).all(), (width, text, out[text])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [FLOAT, HALF], **IDS)
def test_both_of_sincos(kind, mode):
    """Both results are those of sin and cos, and so within their bounds."""
    (raw,) = samples(kind, 1)
    spaces = ["", "precise::", "fast::"] if kind is FLOAT else [""]
    cases = [c for s in spaces for c in (f"({{ T c; {s}sincos(a, c); }})", f"{s}sin(a)",
                                         f"({{ T c; {s}sincos(a, c); c; }})", f"{s}cos(a)")]
    for width, out in run(kind, [c.replace("T c", f"{kind.name} c") for c in cases], [raw], mode):
        rows = list(out.values())
        for at in range(0, len(rows), 2):
            a, b = kind.wide(rows[at]), kind.wide(rows[at + 1])
            wrong = np.flatnonzero(~((a == b) | np.isnan(a) & np.isnan(b)))
            assert not len(wrong), (width, cases[at], kind.wide(raw)[wrong[0]], a[wrong[0]], b[wrong[0]])
