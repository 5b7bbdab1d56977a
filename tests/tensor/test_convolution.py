# SPDX-License-Identifier: Apache-2.0
"""Convolution and pooling against loops over NumPy arrays in float64; gradients; errors."""

import numpy as np
import pytest
from test_autograd import span

import ig

RNG = np.random.default_rng(41)


def pair(v):
    return (v, v) if isinstance(v, int) else tuple(v)


def conv2d(x, w, b=None, stride=1, padding=0, dilation=1, groups=1):
    """Tap by tap."""
    (sy, sx), (py, px), (dy, dx) = pair(stride), pair(padding), pair(dilation)
    x = np.pad(x, ((0, 0), (0, 0), (py, py), (px, px)))
    n, _, h, v = x.shape
    o, c, kh, kw = w.shape
    oh, ow = (h - dy * (kh - 1) - 1) // sy + 1, (v - dx * (kw - 1) - 1) // sx + 1
    y = np.zeros((n, o, oh, ow))
    for g in range(groups):
        os = slice(g * o // groups, (g + 1) * o // groups)
        for i in range(kh):
            for j in range(kw):
                part = x[:, g * c:(g + 1) * c, i * dy:i * dy + (oh - 1) * sy + 1:sy,
                         j * dx:j * dx + (ow - 1) * sx + 1:sx]
                y[:, os] += np.einsum("nchw,oc->nohw", part, w[os, :, i, j])
    return y if b is None else y + b[:, None, None]


def conv2d_gradients(x, w, g, stride=1, padding=0, dilation=1, groups=1):
    (sy, sx), (py, px), (dy, dx) = pair(stride), pair(padding), pair(dilation)
    xp = np.pad(x, ((0, 0), (0, 0), (py, py), (px, px)))
    gx, gw = np.zeros(xp.shape), np.zeros(w.shape)
    o, c, kh, kw = w.shape
    oh, ow = g.shape[2:]
    for k in range(groups):
        os, cs = slice(k * o // groups, (k + 1) * o // groups), slice(k * c, (k + 1) * c)
        for i in range(kh):
            for j in range(kw):
                ys = slice(i * dy, i * dy + (oh - 1) * sy + 1, sy)
                xs = slice(j * dx, j * dx + (ow - 1) * sx + 1, sx)
                gx[:, cs, ys, xs] += np.einsum("nohw,oc->nchw", g[:, os], w[os, :, i, j])
                gw[os, :, i, j] = np.einsum("nohw,nchw->oc", g[:, os], xp[:, cs, ys, xs])
    h, v = x.shape[2:]
    return gx[:, :, py:py + h, px:px + v], gw, g.sum((0, 2, 3))


# x, weight, options
CASES = {
    "plain": ((2, 17, 9, 11), (29, 17, 3, 3), {}),
    "padded": ((3, 17, 13, 7), (5, 17, 3, 3), {"padding": 1}),
    "many_tiles": ((2, 70, 23, 26), (67, 70, 3, 3), {"padding": 1}),
    "wide_border": ((1, 16, 40, 9), (20, 16, 3, 3), {"padding": (2, 0)}),
    "one_result": ((1, 16, 3, 3), (16, 16, 3, 3), {}),
    "one": ((1, 1, 1, 1), (1, 1, 1, 1), {}),
    "pointwise": ((2, 19, 5, 7), (113, 19, 1, 1), {}),
    "pointwise_stride": ((2, 19, 5, 8), (3, 19, 1, 1), {"stride": 2}),
    "few_channels": ((2, 3, 17, 29), (33, 3, 5, 4), {"padding": (2, 1), "stride": 2}),
    "few_channels_stride1": ((2, 5, 17, 9), (7, 5, 3, 3), {"padding": 2}),
    "few_outputs": ((2, 33, 11, 9), (3, 33, 3, 3), {"padding": 1}),
    "stride": ((2, 17, 13, 15), (18, 17, 3, 3), {"stride": (2, 3), "padding": 1}),
    "stride_2": ((2, 70, 14, 14), (66, 70, 3, 3), {"stride": 2, "padding": 1}),
    "stride_2_odd": ((3, 37, 7, 75), (16, 37, 3, 4), {"stride": 2, "padding": (0, 2)}),
    "stride_2_long": ((1, 16, 19, 530), (16, 16, 3, 3), {"stride": 2, "padding": 1}),
    "stride_2_border": ((1, 16, 5, 6), (16, 16, 5, 5), {"stride": 2, "padding": (3, 70)}),
    "stride_beyond": ((1, 16, 10, 10), (16, 16, 2, 2), {"stride": (3, 4)}),
    "squares_wide": ((3, 18, 9, 75), (33, 18, 3, 3), {"padding": 1}),
    "squares_long": ((1, 16, 5, 300), (17, 16, 3, 3), {"padding": (0, 2)}),
    "squares_middle": ((3, 16, 14, 50), (18, 16, 3, 3), {"padding": 1}),
    "squares_small": ((9, 16, 4, 5), (70, 16, 3, 3), {"padding": 1}),
    "squares_groups": ((5, 48, 10, 17), (54, 16, 3, 3), {"padding": (2, 1), "groups": 3}),
    "halved": ((3, 18, 21, 23), (35, 18, 3, 3), {"stride": 2, "padding": 1}),
    "halved_inside": ((2, 17, 30, 31), (130, 17, 3, 3), {"stride": 2}),
    "halved_narrow": ((11, 16, 7, 8), (19, 16, 3, 3), {"stride": 2, "padding": 1}),
    "halved_line": ((40, 16, 3, 3), (16, 16, 3, 3), {"stride": 2}),
    "halved_border": ((2, 16, 9, 6), (16, 16, 3, 3), {"stride": 2, "padding": (3, 17)}),
    "halved_groups": ((2, 40, 17, 66), (36, 20, 3, 3), {"stride": 2, "padding": (2, 1), "groups": 2}),
    "halved_few": ((1, 16, 9, 9), (16, 16, 3, 3), {"stride": 2, "padding": 1}),
    "dilation": ((2, 16, 13, 15), (17, 16, 3, 2), {"dilation": (2, 3), "padding": (2, 0)}),
    "stride_dilation": ((1, 18, 17, 19), (16, 18, 3, 3), {"stride": 2, "dilation": 3, "padding": 3}),
    "rows_7": ((2, 3, 21, 130), (65, 3, 7, 7), {"stride": 2, "padding": 3}),
    "rows_7_odd": ((1, 6, 12, 271), (40, 3, 4, 7), {"stride": (3, 2), "padding": (0, 4), "groups": 2}),
    "rows_5": ((2, 5, 19, 257), (17, 5, 3, 5), {"stride": (1, 2), "padding": 1}),
    "rows_short": ((2, 3, 62, 64), (33, 3, 7, 7), {"stride": 2, "padding": 3}),
    "rows_short_middle": ((1, 8, 37, 110), (140, 4, 5, 5), {"stride": 2, "padding": (1, 2), "groups": 2}),
    "rows_border": ((1, 3, 3, 9), (16, 3, 9, 7), {"stride": 2, "padding": (5, 90)}),
    "groups": ((2, 40, 7, 9), (60, 20, 3, 3), {"groups": 2, "padding": 1}),
    "groups_few": ((2, 6, 7, 9), (9, 2, 3, 3), {"groups": 3, "padding": 1, "stride": 2}),
    "depthwise": ((2, 13, 9, 8), (13, 1, 3, 3), {"groups": 13, "padding": 1}),
    "depthwise_stride": ((2, 5, 9, 8), (10, 1, 3, 2), {"groups": 5, "stride": 2, "padding": (1, 0)}),
    "depthwise_5": ((3, 4, 28, 28), (4, 1, 5, 5), {"groups": 4, "padding": 2}),
    "depthwise_two": ((2, 4, 9, 20), (8, 1, 3, 3), {"groups": 4, "padding": 1}),
    "depthwise_tall": ((2, 3, 140, 90), (3, 1, 3, 3), {"groups": 3, "padding": 1}),
    "depthwise_many": ((3, 40, 7, 7), (40, 1, 3, 3), {"groups": 40, "padding": 1}),
    "depthwise_border": ((2, 2, 6, 33), (2, 1, 5, 5), {"groups": 2, "padding": (1, 9), "dilation": (1, 2)}),
    "depthwise_step": ((2, 3, 19, 40), (3, 1, 3, 3), {"groups": 3, "stride": 2, "padding": 1}),
    "depthwise_step_3": ((2, 3, 11, 14), (3, 1, 3, 3), {"groups": 3, "stride": (1, 3), "padding": 1}),
    "depthwise_dilated": ((2, 3, 11, 14), (3, 1, 3, 3), {"groups": 3, "dilation": 2, "padding": 2}),
    "depthwise_inside": ((2, 3, 9, 35), (3, 1, 3, 3), {"groups": 3}),
    "depthwise_long": ((1, 2, 3, 600), (2, 1, 3, 3), {"groups": 2, "padding": 1}),
    "depthwise_narrow": ((2, 3, 5, 2), (3, 1, 3, 9), {"groups": 3, "padding": (1, 4)}),
    "depthwise_walks": ((1, 2, 75, 130), (2, 1, 3, 3), {"groups": 2, "padding": 1}),
    "groups_thin": ((2, 6, 12, 10), (8, 3, 3, 3), {"groups": 2, "padding": 1}),
    "whole_picture": ((2, 17, 5, 6), (7, 17, 5, 6), {}),
    "wide_padding": ((1, 17, 2, 3), (16, 17, 2, 2), {"padding": 4}),
    "tiles": ((1, 70, 12, 13), (130, 70, 3, 3), {"padding": 1}),
}


def close(got, want, terms, kind=ig.F32):
    # Sums of `terms` products in float: rounding grows like the root of their number; then once to
    # the type.
    one = {ig.F32: 0, ig.F16: 5e-4, ig.BF16: 4e-3}[kind]
    limit = 2e-7 * np.sqrt(terms) * np.abs(want).max() * 4 + one * np.abs(want) + 1e-6
    assert got.shape == want.shape
    assert (np.abs(got - want) <= limit).all(), np.abs(got - want).max()


@pytest.mark.parametrize("name", CASES)
def test_conv2d(name):
    shape, kernel, options = CASES[name]
    x, w, b = span(-1, 1, *shape), span(-1, 1, *kernel), span(-1, 1, kernel[0])
    hs = ig.leaf(x), ig.leaf(w), ig.leaf(b)
    y = ig.conv2d(*hs, **options)
    x8, w8 = x.astype("f8"), w.astype("f8")
    want = conv2d(x8, w8, b, **options)
    terms = w[0].size
    close(y.numpy(), want, terms)
    g = span(-1, 1, *want.shape)
    ig.backward(y, ig.tensor(g))
    grads = conv2d_gradients(x8, w8, g.astype("f8"), **options)
    for h, e in zip(hs, grads):
        close(ig.grad(h).numpy(), e, max(terms, g.size / kernel[0]))


@pytest.mark.parametrize("kind", [ig.F16, ig.BF16])
@pytest.mark.parametrize("name", ["padded", "few_channels", "depthwise", "stride"])
def test_conv2d_of_small_types(name, kind):
    shape, kernel, options = CASES[name]
    x, w = (RNG.integers(-8, 9, s).astype("f4") / 8 for s in (shape, kernel))

    def of(a):
        return ig.leaf(a.astype("f2")) if kind == ig.F16 else ig.leaf(a, ig.BF16)
    hs = of(x), of(w)
    y = ig.conv2d(*hs, **options)
    assert y.type == kind
    close(y.numpy(), conv2d(x.astype("f8"), w, **options), w[0].size, kind)
    g = RNG.integers(-8, 9, y.shape).astype("f4") / 8
    ig.backward(y, of(g))
    for h, e in zip(hs, conv2d_gradients(x.astype("f8"), w, g.astype("f8"), **options)):
        close(ig.grad(h).numpy(), e, 300, kind)


@pytest.mark.parametrize("stride", [1, 2])
def test_nothing_comes_from_beside_the_picture(stride):
    """What lies behind the end of a row, or in the next picture, may be anything."""
    x = span(-1, 1, 2, 3, 8, 12)
    x[:, 1], x[:, ::2, 0, 0], x[:, ::2, 3, 11] = np.nan, np.inf, np.nan
    w = span(0.5, 1, 3, 1, 3, 3)
    got = ig.conv2d(ig.tensor(x), ig.tensor(w), padding=1, stride=stride, groups=3).numpy()
    want = conv2d(np.where(np.isfinite(x), x, 1e6).astype("f8"), w, padding=1, stride=stride, groups=3)
    touched = np.abs(want) > 1e5
    assert touched[:, 1].all() and not touched[:, ::2].all()
    assert not np.isfinite(got[touched]).any()
    close(got[~touched], want[~touched], 9)


def test_views_types_and_empty():
    x, w = span(-1, 1, 9, 7, 17, 2), span(-1, 1, 3, 3, 17, 20)
    y = ig.conv2d(ig.permute(ig.tensor(x), [3, 2, 0, 1]), ig.permute(ig.tensor(w), [3, 2, 0, 1]), padding=1)
    close(y.numpy(), conv2d(x.transpose(3, 2, 0, 1).astype("f8"), w.transpose(3, 2, 0, 1), padding=1), 153)
    part = ig.slice_(ig.slice_(ig.tensor(x), 3, 1, 2, 1), 0, 2, 9, 1)
    y = ig.conv2d(ig.permute(part, [3, 2, 0, 1]), ig.permute(ig.tensor(w), [3, 2, 0, 1]))
    close(y.numpy(), conv2d(x[2:, :, :, 1:].transpose(3, 2, 0, 1).astype("f8"), w.transpose(3, 2, 0, 1)), 153)
    i = RNG.integers(0, 5, (1, 4, 5, 5)).astype("i4")
    k = RNG.integers(0, 5, (2, 4, 3, 3)).astype("f2")
    y = ig.conv2d(ig.tensor(i), ig.tensor(k))
    assert y.type == ig.F16 and np.array_equal(y.numpy(), conv2d(i, k.astype("f8")))
    for o, c, k, stride, size in ((4, 17, 3, 1, 5), (4, 3, 3, 1, 5), (16, 16, 3, 1, 5), (16, 16, 3, 2, 33), (16, 3, 7, 2, 64)):
        h = ig.leaf(span(-1, 1, o, c, k, k))
        y = ig.conv2d(ig.full((0, c, size, size), 1), h, stride=stride)
        side = (size - k) // stride + 1
        assert y.shape == (0, o, side, side) and y.numpy().size == 0
        ig.backward(ig.sum(y, ig.ALL, False))
        assert not ig.grad(h).numpy().any()


def test_conv1d():
    x, w, b = span(-1, 1, 2, 17, 29), span(-1, 1, 6, 17, 5), span(-1, 1, 6)
    y = ig.conv1d(ig.tensor(x), ig.tensor(w), ig.tensor(b), stride=2, padding=3, dilation=2)
    want = conv2d(x[:, :, None].astype("f8"), w[:, :, None], b, (1, 2), (0, 3), (1, 2))[:, :, 0]
    close(y.numpy(), want, 85)


@pytest.mark.parametrize("options", [{}, {"stride": 2, "padding": 1, "output_padding": 1},
                                     {"stride": (3, 2), "dilation": 2}, {"groups": 2, "padding": 1}])
def test_conv_transpose2d(options):
    g = options.get("groups", 1)
    x, w, b = span(-1, 1, 2, 18, 5, 7), span(-1, 1, 18, 10, 3, 3), span(-1, 1, 10 * g)
    hs = ig.leaf(x), ig.leaf(w), ig.leaf(b)
    y = ig.conv_transpose2d(*hs, **options)
    rest = {k: v for k, v in options.items() if k != "output_padding"}
    like = np.zeros(y.shape[:1] + (10 * g,) + y.shape[2:])
    (sy, sx), (py, px), (dy, dx) = (pair(rest.get(k, d)) for k, d in
                                    (("stride", 1), ("padding", 0), ("dilation", 1)))
    op = pair(options.get("output_padding", 0))
    assert y.shape == (2, 10 * g, 4 * sy - 2 * py + 2 * dy + 1 + op[0], 6 * sx - 2 * px + 2 * dx + 1 + op[1])
    want = conv2d_gradients(like, w.astype("f8"), x.astype("f8"), **rest)[0] + b[:, None, None]
    close(y.numpy(), want, 162)
    u = span(-1, 1, *y.shape)
    ig.backward(y, ig.tensor(u))
    close(ig.grad(hs[0]).numpy(), conv2d(u.astype("f8"), w.astype("f8"), **rest), 90)
    close(ig.grad(hs[1]).numpy(), conv2d_gradients(u.astype("f8"), w.astype("f8"), x.astype("f8"), **rest)[1], 200)
    close(ig.grad(hs[2]).numpy(), u.astype("f8").sum((0, 2, 3)), 400)


@pytest.mark.parametrize("name", ["padded", "groups_few", "stride"])
def test_second_derivatives(name):
    """The gradient of |dy/dx|^2 for w, by central differences of the first gradient."""
    shape, kernel, options = CASES[name]
    x, w, step = span(-1, 1, *shape), span(-1, 1, *kernel), 1e-2

    def size(h, create=False):
        t = ig.leaf(x)
        y = ig.sum(ig.square(ig.conv2d(t, h, **options)), ig.ALL, False)
        return ig.mean(ig.square(ig.grad_of([y], [t], create=True)[0]), ig.ALL, False)
    h = ig.leaf(w)
    got = ig.grad_of([size(h)], [h])[0].numpy()
    for i in ((0, 0, 0, 0), (1, 1, 2, 1)):
        def at(d):
            v = w.copy()
            v[i] += d
            return ig.item(size(ig.leaf(v)))
        want = (at(step) - at(-step)) / (2 * step)
        assert abs(got[i] - want) < 2e-2 * np.abs(got).max(), (got[i], want)


def test_conv_errors():
    x, w = ig.full((2, 4, 5, 6), 1), ig.full((6, 4, 3, 3), 1)
    for f, code, text in (
            (lambda: ig.conv2d(x, ig.full((6, 3, 3, 3), 1)), ig.SHAPE, "x of shape (2, 4, 5, 6), weight of shape (6, 3, 3, 3)"),
            (lambda: ig.conv2d(x, w, groups=4), ig.SHAPE, "4 groups"),
            (lambda: ig.conv2d(ig.full((4, 5, 6), 1), w), ig.SHAPE, "(4, 5, 6)"),
            (lambda: ig.conv2d(x, ig.full((6, 4, 7, 3), 1)), ig.SHAPE, "a kernel of 7"),
            (lambda: ig.conv2d(x, w, dilation=3), ig.SHAPE, "dilated to 7"),
            (lambda: ig.conv2d(x, w, padding=-1), ig.ARGUMENT, "padding of -1"),
            (lambda: ig.conv2d(x, w, stride=1 << 40), ig.ARGUMENT, "stride of"),
            (lambda: ig.conv2d(x, w, ig.full((5,), 1)), ig.SHAPE, "bias of shape (5,) for 6 channels"),
            (lambda: ig.conv2d(ig.cast(x, ig.I32), ig.cast(w, ig.I32)), ig.TYPE, "int32"),
            (lambda: ig.conv2d(x, w, padding=1 << 20), ig.SHAPE, "2^31"),
            (lambda: ig.conv1d(x, w), ig.SHAPE, "ig_conv1d"),
            (lambda: ig.conv_transpose2d(x, w), ig.SHAPE, "(6, 4, 3, 3)"),
            (lambda: ig.conv_transpose2d(ig.full((2, 6, 5, 5), 1), w, stride=2, output_padding=2), ig.ARGUMENT, "output padding of 2"),
            (lambda: ig.conv2d(x, ig.full((6, 4, 0, 3), 1)), ig.SHAPE, "a kernel of 0")):
        with pytest.raises(ig.Error) as e:
            f()
        assert e.value.code == code and text in str(e.value), str(e.value)
    assert np.isfinite(ig.conv2d(x, w, stride=1 << 30).numpy()).all()
