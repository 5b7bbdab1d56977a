# SPDX-License-Identifier: Apache-2.0
"""Einsum against NumPy's in float64; gradients; what is no equation."""

import numpy as np
import pytest
from test_autograd import check, span

import ig

RNG = np.random.default_rng(53)

EQUATIONS = [
    ("ij,jk->ik", (17, 5), (5, 29)), ("ij,jk", (3, 4), (4, 5)), ("ij,kj->ik", (3, 4), (5, 4)),
    ("ij->ji", (3, 4)), ("ba", (3, 4)), ("ij->", (3, 4)), ("ij->j", (3, 4)), ("ii", (5, 5)), ("ii->i", (5, 5)),
    ("iji->j", (3, 4, 3)), ("iij->ij", (3, 3, 4)), ("iii", (4, 4, 4)), ("i,i", (113,), (113,)),
    ("i,j->ij", (3,), (4,)), ("i,j->ji", (3,), (4,)), ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
    ("bij,bjk->ik", (2, 3, 4), (2, 4, 5)), ("bi,bi->b", (7, 5), (7, 5)), ("ij,ij->", (3, 4), (3, 4)),
    ("...ij,...jk->...ik", (2, 3, 4, 5), (3, 5, 2)), ("...ij,jk", (2, 3, 4), (4, 2)), ("...", (2, 3)),
    ("...i->i...", (2, 3, 4)), ("...,...->...", (3, 4), (2, 3, 4)), ("i...,i...->...", (3, 4), (3, 4)),
    ("...ij->...", (2, 3, 4)), ("ij,jk,kl->il", (3, 4), (4, 5), (5, 2)), ("ij,jk,kl,lm->mi", (3, 4), (4, 5), (5, 2), (2, 3)),
    ("i,ij,j->", (3,), (3, 4), (4,)), ("abc,cd,be->ade", (2, 3, 4), (4, 5), (3, 2)), ("bhqd,bhkd->bhqk", (2, 3, 5, 4), (2, 3, 6, 4)),
    ("bhqk,bhkd->bqhd", (2, 3, 5, 6), (2, 3, 6, 4)), ("a,a,a->a", (5,), (5,), (5,)), ("ab,b,c->ac", (3, 4), (4,), (2,)),
    ("ij,jk->ik", (1, 1), (1, 1)), (" i j , j k -> i k ", (3, 4), (4, 5)), ("Ab,bA->A", (3, 4), (4, 3)),
    (",->", (), ()), (",ij->ij", (), (3, 4)), ("ij,j->ij", (3, 4), (4,)), ("ij,kl->ijkl", (2, 3), (2, 2)),
    ("zyx,xw->wzy", (2, 3, 4), (4, 2)), ("ij,ij->ij", (3, 1), (3, 4)), ("ij,jk->ik", (3, 1), (4, 2)),
    ("ij,jk->ik", (0, 3), (3, 4)), ("ij,jk->ik", (2, 0), (0, 4)),
]


@pytest.mark.parametrize("equation,shapes", [(e[0], e[1:]) for e in EQUATIONS])
def test_einsum(equation, shapes):
    arrays = [span(-2, 2, *s) if s else np.asarray(RNG.uniform(-2, 2), "f4") for s in shapes]
    want = np.einsum(equation, *[a.astype("f8") for a in arrays])
    got = ig.einsum(equation, *[ig.tensor(a) for a in arrays]).numpy()
    assert got.shape == want.shape and np.allclose(got, want, rtol=1e-5, atol=1e-4)
    if all(a.size for a in arrays) and sum(a.size for a in arrays) < 400:
        check(lambda *t: ig.einsum(equation, *t), lambda *t: np.einsum(equation, *t), *arrays)
    if equation == "ij,jk->ik":
        for dtype in ("i4", "i8", "f2"):
            parts = [RNG.integers(-9, 9, s).astype(dtype) for s in shapes]
            got = ig.einsum(equation, *[ig.tensor(p) for p in parts])
            assert got.type == ig.TYPES[np.dtype(dtype)]
            assert np.array_equal(got.numpy(), np.einsum(equation, *[p.astype("f8") for p in parts]))


def test_views_and_second_derivative():
    a, b = span(-1, 1, 4, 3), span(-1, 1, 5, 4)
    got = ig.einsum("ij,jk->ik", ig.transpose(ig.tensor(a), 0, 1), ig.transpose(ig.tensor(b), 0, 1)).numpy()
    assert np.allclose(got, a.T @ b.T, atol=1e-5)
    x = ig.leaf(a)
    y = ig.sum(ig.pow_scalar(ig.einsum("ij,ij->i", x, x), 2), ig.ALL, False)
    g = ig.grad_of([y], [x], create=True)[0]
    second = ig.grad_of([ig.sum(g, ig.ALL, False)], [x])[0].numpy()
    s, t = (a * a).sum(1, keepdims=True), a.sum(1, keepdims=True)
    assert np.allclose(second, 4 * (s + 2 * a * t), rtol=1e-4, atol=1e-4)


def test_errors():
    m, v = ig.full((3, 4), 1), ig.full((4,), 1)
    for f, code, text in (
            (lambda: ig.einsum("ij,jk->ik", m, m), ig.SHAPE, "(3, 4), should have length 4"),
            (lambda: ig.einsum("ijk->i", m), ig.SHAPE, "operand 0 has 3 axes by name and shape (3, 4)"),
            (lambda: ig.einsum("i->i", m), ig.SHAPE, "(3, 4)"), (lambda: ig.einsum("ii->i", m), ig.SHAPE, "(3, 4)"),
            (lambda: ig.einsum("ij,j", m), ig.ARGUMENT, "more operands"), (lambda: ig.einsum("ij", m, v), ig.ARGUMENT, "fewer operands"),
            (lambda: ig.einsum("ij->ik", m), ig.ARGUMENT, "a letter that no operand has"), (lambda: ig.einsum("ij->ii", m), ig.ARGUMENT, "twice"),
            (lambda: ig.einsum("i1->i", m), ig.ARGUMENT, "no letter"), (lambda: ig.einsum("i.j", m), ig.ARGUMENT, "point"),
            (lambda: ig.einsum("...i...", m), ig.ARGUMENT, "twice"), (lambda: ig.einsum("ij->i->j", m), ig.ARGUMENT, "behind"),
            (lambda: ig.einsum("ij->i,j", m), ig.ARGUMENT, "behind"), (lambda: ig.einsum("ij-i", m), ig.ARGUMENT, "no letter"),
            (lambda: ig.einsum(""), ig.ARGUMENT, "0 operands"), (lambda: ig.einsum("i" * 40, m), ig.ARGUMENT, "too many"),
            (lambda: ig.einsum("abcde,fghij", ig.full((1,) * 5, 1), ig.full((1,) * 5, 1)), ig.ARGUMENT, "too many axes")):
        with pytest.raises(ig.Error) as e:
            f()
        assert e.value.code == code and text in str(e.value), str(e.value)
