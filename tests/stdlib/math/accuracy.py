# SPDX-License-Identifier: Apache-2.0
"""What the Metal Shading Language Specification (version 4, tables 8.1 to 8.3) asks of every function of
<metal_math>, as data: test_accuracy.py holds kernels to it, and

    MSLC=build/bin/mslc python3 tests/stdlib/math/accuracy.py

prints the table of docs/guide/math.md from what it measures. The reference is the C library in the 64 bits of
x86's long double: our functions use no library, and it has 40 bits more than a float.
"""
import dataclasses
import pathlib
import sys
from typing import Callable

import numpy as np

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "library"))
import harness  # noqa: E402

np.seterr(all="ignore")
LONG = np.longdouble
INF = LONG(np.inf)
PI = 4 * np.arctan(LONG(1))
MODES = ["safe", "relaxed", "fast"]


# ---- formats ----

@dataclasses.dataclass
class Kind:
    """A binary format: bits of precision, exponent of the least unit, exponent behind the largest number."""
    name: str
    bits: type
    digits: int
    least: int
    top: int

    def wide(self, raw):
        if self.name == "bfloat":
            return (raw.astype(np.uint32) << 16).view(np.float32).astype(LONG)
        return raw.view(np.float16 if self.name == "half" else np.float32).astype(LONG)

    def unit(self, x):
        """The distance of neighbours around x."""
        _, exponent = np.frexp(np.where(np.isfinite(x), x, 0))
        exponent = np.where(x == 0, self.least, exponent)
        return np.ldexp(LONG(1), np.clip(exponent - self.digits, self.least, self.top - self.digits))

    def rounded(self, x):
        unit = self.unit(x)
        r = np.where(np.isfinite(x), np.rint(x / unit) * unit, x)
        return np.where(np.abs(r) >= LONG(2) ** self.top, np.copysign(INF, r), r)

    def errors(self, got, want):
        """In ulp. NaN answers NaN alone, zeros agree in sign, and infinity stands for the number behind the largest."""
        end = LONG(2) ** self.top
        off = np.abs(np.clip(got, -end, end) - np.clip(want, -end, end)) / self.unit(want)
        zeros = (got == 0) & (want == 0) & (np.signbit(got) != np.signbit(want))
        off = np.where(zeros | np.isnan(got) | np.isnan(want), INF, off)
        return np.where(np.isnan(got) & np.isnan(want), LONG(0), off)


HALF = Kind("half", np.uint16, 11, -24, 16)
BFLOAT = Kind("bfloat", np.uint16, 8, -133, 128)
FLOAT = Kind("float", np.uint32, 24, -149, 128)


# ---- references ----

def quadrant(x):
    """abs(x) * pi as a rest of at most pi / 4 and the number of its quarter."""
    r = np.fmod(np.abs(x), LONG(2))
    n = np.rint(2 * r)
    return (r - n / 2) * PI, np.where(np.isnan(n), 0, n).astype(int) & 3


def sinpi(x):
    a, q = quadrant(x)
    v = np.where(q & 1, np.cos(a), np.sin(a))
    return np.copysign(LONG(1), x) * np.where((q & 2 != 0) & (v != 0), -v, v)


def cospi(x):
    a, q = quadrant(x)
    v = np.where(q & 1, np.sin(a), np.cos(a))
    return np.where((q & 1 != 0) & (a == 0), LONG(0), np.where((q == 1) | (q == 2), -v, v))


def half_away(x):
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(LONG(1), x), np.copysign(whole, x))


def fract(kind):
    """Below 1, also where the difference rounds to it."""
    last = LONG(1) - LONG(2) ** -kind.digits
    return lambda x: np.where(np.isfinite(x), np.minimum(x - np.floor(x), last), LONG(np.nan))


def larger(x, y):
    return np.where(np.isnan(y) | (x > y), x, y)


def smaller(x, y):
    return np.where(np.isnan(y) | (x < y), x, y)


def positive_difference(x, y):
    return np.where(x <= y, LONG(0), x - y)


def next_number(kind):
    def follow(x, y):
        unit = kind.unit(x)
        toward = np.where(x < y, LONG(1), LONG(-1))
        mantissa, _ = np.frexp(x)
        # Below a power of two numbers are twice as close.
        near = (np.abs(mantissa) == 0.5) & (toward * mantissa < 0) & (unit > LONG(2) ** kind.least)
        step = x + toward * np.where(near, unit / 2, unit)
        end = LONG(2) ** kind.top
        step = np.where(np.isinf(x), np.copysign(end - kind.unit(end / 2), x), step)
        step = np.where(np.abs(step) >= end, np.copysign(INF, step), step)
        step = np.where(step == 0, np.copysign(LONG(0), x), step)
        return np.where(np.isnan(x) | np.isnan(y), LONG(np.nan), np.where(x == y, y, step))
    return follow


def powr(x, y):
    """C's pow of numbers that are not negative, else NaN."""
    return np.where(x >= 0, np.power(np.abs(x), y), LONG(np.nan))


# ---- the tables ----

EXACT = 0.5  # correctly rounded


@dataclasses.dataclass
class Function:
    """`fast` gives the specification's bound in ulp for the fast variant, as a number or of (x, want) or (x, y, want):
    infinite where nothing is promised. `formula` says that the specification names a formula instead: the bound is
    what the formula gives, or ours."""
    name: str
    reference: Callable
    precise: float
    fast: Callable | float
    formula: str = ""
    arguments: int = 1


def absolute(bound, most):
    """At most `bound` in absolute terms up to `most`, in ulp."""
    return lambda x, want: np.where(np.abs(x) <= most, np.maximum(bound / FLOAT.unit(want), 0.5), INF)


def within(bound, low, high):
    return lambda x, want: np.where((np.abs(x) >= low) & (np.abs(x) <= high), LONG(bound), INF)


def growing(x, want):
    return 3 + np.floor(np.abs(2 * x))


def near_one(bound, ulps):
    return lambda x, want: np.where((x >= 0.5) & (x <= 2), np.maximum(bound / FLOAT.unit(want), ulps), LONG(ulps))


def of_power(x, y, want):
    """exp2(y * log2(x)): the errors of both, and that of the product, which exp2 magnifies."""
    product = np.abs(y * np.log2(x))
    one = np.where((x >= 0.5) & (x <= 2), 2.8 * np.abs(y), LONG(0))
    return np.where((x > 0) & np.isfinite(x) & np.isfinite(y) & ~np.isnan(want), 3 + 5.5 * product + one, INF)


def usual(x, y, want):
    return np.where(np.isnan(x) | np.isnan(y), INF, LONG(6))


def divisible(x, y, want):
    return np.where((np.abs(x) <= np.abs(y) * 2**22) & np.isfinite(y) & (y != 0), LONG(0), INF)


def quotient(x, y, want):
    """Divisors from 2^-126 to 2^126; not where the quotient is denormal or infinite."""
    fits = (np.abs(y) >= LONG(2) ** -126) & (np.abs(y) <= LONG(2) ** 126) & np.isfinite(x)
    return np.where(fits & (np.abs(want) >= LONG(2) ** -126) & np.isfinite(FLOAT.rounded(want)), LONG(2.5), INF)


def numbers(x, y, want):
    return np.where(np.isnan(x) | np.isnan(y), INF, LONG(0))


ONE = [
    Function("acos", np.arccos, 4, within(5, 0, 1)),
    Function("acosh", np.arccosh, 4, 4, "log(x + sqrt(x * x - 1))"),
    Function("asin", np.arcsin, 4, within(5, 2.0**-125, 1)),
    Function("asinh", np.arcsinh, 4, 4, "log(x + sqrt(x * x + 1))"),
    Function("atan", np.arctan, 5, 5),
    Function("atanh", np.arctanh, 5, 5, "0.5 * log((1 + x) / (1 - x))"),
    Function("cos", np.cos, 4, absolute(LONG(2) ** -13, np.pi)),
    Function("cosh", np.cosh, 4, 4, "0.5 * (exp(x) + exp(-x))"),
    Function("cospi", cospi, 4, absolute(LONG(2) ** -13, 1)),
    Function("exp", np.exp, 4, growing),
    Function("exp2", np.exp2, 4, growing),
    Function("exp10", lambda x: np.power(LONG(10), x), 4, 4, "exp2(x * log2(10))"),
    Function("log", np.log, 4, near_one(LONG(2) ** -21, 3)),
    Function("log2", np.log2, 4, near_one(LONG(2) ** -22, 2)),
    Function("log10", np.log10, 4, 4, "log2(x) * log10(2)"),
    Function("rsqrt", lambda x: 1 / np.sqrt(x), EXACT, 2),
    Function("sin", np.sin, 4, absolute(LONG(2) ** -13, np.pi)),
    Function("sinh", np.sinh, 4, 4, "0.5 * (exp(x) - exp(-x))"),
    Function("sinpi", sinpi, 4, absolute(LONG(2) ** -13, 1)),
    Function("tan", np.tan, 6, within(6, 0, np.pi), "sin(x) / cos(x)"),
    Function("tanh", np.tanh, 5, 5, "(t - 1) / (t + 1), t = exp(2 * x)"),
    Function("tanpi", lambda x: sinpi(x) / cospi(x), 6, 6, "tan(x * pi)"),
]
TWO = [
    Function("atan2", np.arctan2, 6, usual, "by atan(y / x)", 2),
    Function("pow", np.power, 16, of_power, "exp2(y * log2(x))", 2),
    Function("powr", powr, 16, of_power, "exp2(y * log2(x))", 2),
]
# No error at all, or one rounding.
ONE_EXACT = {"abs": np.abs, "ceil": np.ceil, "fabs": np.abs, "floor": np.floor, "rint": np.rint, "round": half_away,
             "sqrt": np.sqrt, "trunc": np.trunc}
TWO_EXACT = {"copysign": np.copysign, "divide": np.divide, "fdim": positive_difference, "fmax": larger, "fmin": smaller,
             "fmod": np.fmod, "max": larger, "min": smaller}
TWO_FAST = {"divide": quotient, "fmod": divisible, "fmax": numbers, "fmin": numbers, "max": numbers, "min": numbers}


def functions(kind, arguments):
    """All of a count of arguments, for results of a kind. Half has one variant: 1 ulp, or exact."""
    if arguments == 1:
        exact = ONE_EXACT | {"fract": fract(kind)}
    else:
        exact = TWO_EXACT | {"nextafter": next_number(kind)}
    rows = (ONE if arguments == 1 else TWO) + [
        Function(name, f, EXACT, TWO_FAST.get(name, EXACT), "", arguments) for name, f in exact.items()]
    if kind is HALF:
        rows = [dataclasses.replace(f, precise=min(f.precise, 1)) for f in rows]
    return rows


# ---- arguments ----

def edges(kind):
    """Zeros, the smallest and largest denormals and normals, numbers around the functions' own edges, infinities, NaN."""
    least, normal = LONG(2) ** kind.least, LONG(2) ** (kind.least + kind.digits - 1)
    end = LONG(2) ** kind.top
    x = np.array([0, least, normal - least, normal, normal + least, 0.25, 0.5, 1, 1.5, 2, 2.5, 3, PI / 4, PI / 2, PI,
                  2 * PI, np.log(LONG(2)), 1 / LONG(3), 10, 88, 89, 103, 104, 126, 127, 149, 150, 1024,
                  LONG(2) ** (kind.digits - 2) + 0.5, LONG(2) ** (kind.digits - 1), LONG(2) ** (kind.digits - 1) + 1,
                  LONG(2) ** kind.digits + 1, 131072, end / 2, end - kind.unit(end / 2), INF, np.nan], LONG)
    x = kind.rounded(np.concatenate([x, 1 - LONG(2) ** -kind.digits * np.array([1, 2]), [1 + 2 * kind.unit(LONG(1))]]))
    x = np.concatenate([x, -x])
    if kind is BFLOAT:
        return (x.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return (x.astype(np.float16) if kind is HALF else x.astype(np.float32)).view(kind.bits)


def by_exponent(kind, each, seed):
    """Numbers of every exponent and both signs, `each` of them: the ends of the mantissas' range, and random ones."""
    random, low = np.random.default_rng(seed), kind.digits - 1
    mantissas = random.integers(0, 1 << low, (2 << (8 * np.dtype(kind.bits).itemsize - 1 - low - 1), each))
    ends = [0, 1, (1 << low) - 1, (1 << low) - 2, 1 << (low - 1)]
    if each > 2 * len(ends):
        mantissas[:, :len(ends)] = ends
    top = np.arange(len(mantissas))[:, None] << low
    return np.concatenate([(top | mantissas).ravel(), (top | mantissas).ravel() | 1 << (8 * np.dtype(
        kind.bits).itemsize - 1)]).astype(kind.bits)


def samples(kind, arguments):
    """Bit patterns: all of the short formats and floats by exponent; of pairs every pair of exponents and signs."""
    if arguments == 1:
        if kind is FLOAT:
            return [np.concatenate([edges(kind), by_exponent(kind, 32, 1)])]
        return [np.arange(65536, dtype=np.uint16)]
    each = 4 if kind is HALF else 1
    a, b = (by_exponent(kind, each, seed) for seed in (2, 3))
    x, y = (v.ravel() for v in np.meshgrid(a, b))
    ex, ey = (v.ravel() for v in np.meshgrid(edges(kind), edges(kind)))
    # Powers within the range of the format.
    random = np.random.default_rng(4)
    base, power = np.exp2(random.uniform(-3, 3, 8192)), random.uniform(-30, 30, 8192)
    power[4096:] = np.rint(power[4096:])
    base[6144:] *= -1
    near = [v.astype(np.float16 if kind is HALF else np.float32).view(kind.bits) for v in (base, power)]
    return [np.concatenate([ex, x, near[0]]), np.concatenate([ey, y, near[1]])]


# ---- measurements ----

def run(kind, calls, inputs, mode, options=(), result=None):
    """The results of each call (of a, b) as bits, at the widths whose turn it is."""
    n, result = len(inputs[0]), result or kind
    body = "".join(f"o[i + {k * n}u] = {call}; " for k, call in enumerate(calls))
    names = "ab"[:len(inputs)]
    source = (f"kernel void k({''.join(f'device const {kind.name} *p{v}, ' for v in names)}device {result.name} *o, "
              f"uint i [[thread_position_in_grid]]) {{ {''.join(f'{kind.name} {v} = p{v}[i]; ' for v in names)}{body}}}")
    for width, (out,) in harness.run(source, inputs, [(result.bits, n * len(calls))], n,
                                     options=(f"--math={mode}", *options)):
        yield width, dict(zip(calls, out.reshape(len(calls), n)))


def chunks(rows, size=8):
    return [rows[at:at + size] for at in range(0, len(rows), size)]


def call(f, space=""):
    return f"{space}{f.name}({'a' if f.arguments == 1 else 'a, b'})"


def worst(result, f, raw, wide, want, variant):
    """The largest error in ulp where the specification bounds it, and a sentence about the first result out of bounds."""
    got = result.wide(raw)
    off = result.errors(got, want)
    bound = f.precise if variant == "precise" else f.fast
    bound = bound(*wide, want) if callable(bound) else np.full(len(got), LONG(bound))
    if variant == "fast":  # nothing is said of NaN
        bound = np.where(np.isnan(want) | np.any([np.isnan(v) for v in wide], axis=0), INF, bound)
    if f.name[-3:] in ("max", "min"):  # either zero
        off = np.where((got == 0) & (want == 0), LONG(0), off)
    wrong = np.flatnonzero(~(off <= bound))
    said = ""
    if len(wrong):
        at = wrong[0]
        said = (f"{f.name}({', '.join(str(v[at]) for v in wide)}) = {got[at]}, expected {want[at]}: {off[at]} ulp of "
                f"{bound[at]}; {len(wrong)} of {len(got)} wrong")
    inside = np.isfinite(bound)
    return float(np.max(off, where=inside, initial=0)), said


def measure(kind, arguments, mode, options=(), inputs=None):
    """Yields (width, function, variant, largest error, what is wrong)."""
    inputs, result = inputs or samples(kind, arguments), FLOAT if kind is BFLOAT else kind
    wide = [kind.wide(v) for v in inputs]
    for rows in chunks(functions(result, arguments)):
        want = {f.name: f.reference(*wide) for f in rows}
        spaces = {"": "precise" if mode == "safe" or kind is HALF else "fast"}
        if kind is FLOAT:
            spaces = {"precise::": "precise", "fast::": "fast", **spaces}
        calls = {call(f, space): (f, space) for f in rows for space in spaces}
        for width, out in run(kind, list(calls), inputs, mode, options, result):
            for text, (f, space) in calls.items():
                # The plain names leave NaN out in every mode; only fast:: may not.
                variant = "precise" if not space and f.name[-3:] in ("max", "min") else spaces[space]
                yield width, f, space + variant, *worst(result, f, out[text], wide, want[f.name], variant)


# ---- the table of docs/guide/math.md ----

GUIDE = HERE.parents[2] / "docs/guide/math.md"


def documented():
    """name -> (precise, fast, half) of the guide's table."""
    rows = {}
    for line in GUIDE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 6 and cells[0].startswith("`"):
            rows[cells[0].strip("`")] = tuple(float(cells[k]) for k in (1, 3, 5))
    return rows


def print_table():
    """A million floats for functions of one argument; pairs and short numbers as in the tests."""
    found = {}
    for kind, arguments, mode, inputs in [(HALF, 1, "safe", None), (HALF, 2, "safe", None), (FLOAT, 2, "fast", None),
                                          (BFLOAT, 1, "safe", None), (BFLOAT, 1, "fast", None),
                                          (FLOAT, 1, "fast", [by_exponent(FLOAT, 2048, 11)])]:
        for _, f, variant, error, wrong in measure(kind, arguments, mode, inputs=inputs):
            assert not wrong, wrong
            key = f.name, "half" if kind is HALF else variant.split("::")[-1]
            found[key] = max(found.get(key, 0), error)
    print("| function | precise | allowed | fast | allowed | half |\n| --- | --- | --- | --- | --- | --- |")
    for f in ONE + TWO:
        fast = f"`{f.formula}`" if f.formula else {
            "exp": "3 + 2 abs(x)", "exp2": "3 + 2 abs(x)", "log": "3, or 2^-21 in [0.5, 2]",
            "log2": "2, or 2^-22 in [0.5, 2]", "sin": "2^-13 in [-pi, pi]", "cos": "2^-13 in [-pi, pi]",
            "sinpi": "2^-13 in [-1, 1]", "cospi": "2^-13 in [-1, 1]", "asin": "5 from 2^-125 on",
            "acos": "5"}.get(f.name, f"{f.fast}")
        error = [np.ceil(found[f.name, v] * 100) / 100 for v in ("precise", "fast", "half")]
        allowed = "correctly rounded" if f.precise == EXACT else f"{f.precise}"
        print(f"| `{f.name}` | {error[0]:.2f} | {allowed} | {error[1]:.2f} | {fast} | {error[2]:.2f} |")


if __name__ == "__main__":
    print_table()
