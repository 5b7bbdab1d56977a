# SPDX-License-Identifier: Apache-2.0
"""Tensor operations, the same work for ingot and for PyTorch: the table of bench_tensors_torch.py.

A Case makes its arrays for a size and says what both libraries do with them. Where both spell an
operation alike, one function is enough: it gets the library as its first argument.
"""
import ingot
import numpy as np
import torch
import torch.nn.functional as F

N = ingot.nn.functional
GOAL = 1.2


class Case:
    """One operation. sizes: what `arrays` is called with, a tuple each; ours, theirs: take the tensors of
    the arrays and give the result (a tensor or several; the first `checked` of them must agree); trains:
    tensors that get gradients."""

    def __init__(self, name, sizes, arrays, ours, theirs=None, goal=GOAL, trains=(), tolerance=2e-3,
                 checked=9):
        self.name, self.sizes, self.arrays, self.goal = name, sizes, arrays, goal
        self.ours = ours if theirs else lambda *a: ours(ingot, *a)
        self.theirs = theirs or (lambda *a: ours(torch, *a))
        self.trains, self.tolerance, self.checked = trains, tolerance, checked

    def runs(self, size):
        """Functions that do the work once, ours (waited for) and theirs."""
        arrays = self.arrays(np.random.default_rng(7), *size)
        mine, his = [ingot.tensor(a) for a in arrays], [torch.from_numpy(a.copy()) for a in arrays]
        for i in self.trains:
            mine[i].requires_grad_()
            his[i].requires_grad_()
        return self._ours(mine), self._theirs(his)

    def _ours(self, tensors):
        leaves = [tensors[i] for i in self.trains]

        def run():
            result = several(self.ours(*tensors))
            if leaves:
                result = ingot.grad(result[0], leaves, ingot.ones_like(result[0]))
            for t in result:
                t.eval()
            ingot.synchronize()
            return result
        return run

    def _theirs(self, tensors):
        leaves = [tensors[i] for i in self.trains]

        def run():
            result = several(self.theirs(*tensors))
            return torch.autograd.grad(result[0], leaves, torch.ones_like(result[0])) if leaves else result
        return run

    def same(self, mine, his):
        """Whether two results agree, as far as numbers of this type can."""
        for a, b in list(zip(mine, his))[:self.checked]:
            a, b = np.asarray(a.numpy(), "f8"), b.detach().to(torch.float64).numpy()
            if a.shape != b.shape or np.abs(a - b).max() > self.tolerance * max(1.0, np.abs(b).max()):
                return False
        return True


def several(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def line(rng, n):
    return [rng.standard_normal(n, "f4")]


def two_lines(rng, n):
    return [rng.standard_normal(n, "f4"), rng.standard_normal(n, "f4")]


def matrix(rng, *shape):
    return [rng.standard_normal(shape, "f4")]


def matrices(rng, n):
    return [rng.standard_normal((n, n), "f4") for _ in range(2)]


def halves(rng, n):
    return [a.astype("f2") for a in matrices(rng, n)]


def row_and_matrix(rng, rows, columns):
    return [rng.standard_normal((rows, columns), "f4"), rng.standard_normal(columns, "f4")]


def norm_arrays(rng, rows, columns):
    return [rng.standard_normal(s, "f4") for s in ((rows, columns), (columns,), (columns,))]


def picture_norm(rng, n, c, side):
    return [rng.standard_normal(s, "f4") for s in ((n, c, side, side), (c,), (c,))] + [
        np.zeros(c, "f4"), np.ones(c, "f4")]


def picture(rng, n, c, side):
    return [rng.standard_normal((n, c, side, side), "f4")]


def heads(rng, batch, n_heads, length, width):
    return [rng.standard_normal((batch, n_heads, length, width), "f4") for _ in range(3)]


def logits(rng, rows, classes):
    return [rng.standard_normal((rows, classes), "f4"), rng.integers(0, classes, rows)]


def indexed(rng, rows, columns):
    return [rng.standard_normal((rows, columns), "f4"), rng.integers(0, rows, (rows, columns)),
            rng.standard_normal((rows, columns), "f4")]


def table_and_ids(rng, words, width, n):
    return [rng.standard_normal((words, width), "f4"), rng.integers(0, words, n)]


def convolution(kernel, groups=None):
    """Of a picture with c channels in and out (or one per group), and weights."""
    def arrays(rng, n, c, side, out=None):
        inside = c // (groups(c) if groups else 1)
        w = rng.standard_normal((out or c, inside, kernel, kernel), "f4")
        return [rng.standard_normal((n, c, side, side), "f4"), w / np.float32((inside * kernel * kernel) ** 0.5)]
    return arrays


def conv(stride, padding, deep=False):
    def ours(x, w):
        return ingot.conv2d(x, w, stride=stride, padding=padding, groups=x.shape[1] if deep else 1)

    def theirs(x, w):
        return F.conv2d(x, w, stride=stride, padding=padding, groups=x.shape[1] if deep else 1)
    return ours, theirs


LINES = ((1 << 14,), (1 << 22,))
SHEETS = ((64, 128), (2048, 2048))
PICTURES = ((4, 64, 14), (8, 64, 56))

EACH = [
    Case("add", LINES, two_lines, lambda m, x, y: x + y),
    Case("relu", LINES, line, lambda m, x: m.relu(x)),
    Case("exp", LINES, line, lambda m, x: m.exp(x)),
    Case("sin", LINES, line, lambda m, x: m.sin(x)),
    Case("tanh", LINES, line, lambda m, x: m.tanh(x)),
    Case("gelu", LINES, line, ingot.gelu, lambda x: F.gelu(x, approximate="tanh")),
    Case("silu", LINES, line, ingot.silu, F.silu),
    Case("where(x > 0, x, y)", LINES, two_lines, lambda m, x, y: m.where(x > 0, x, y)),
    Case("x * y + x", LINES, two_lines, lambda m, x, y: x * y + x),
    Case("matrix + row", SHEETS, row_and_matrix, lambda m, x, y: x + y),
    Case("to half", LINES, line, lambda x: x.astype("float16"), lambda x: x.half(), tolerance=1e-2),
    Case("transposed copy", SHEETS, matrix, lambda x: ingot.contiguous(x.mT), lambda x: x.mT.contiguous()),
]

REDUCED = [
    Case("sum of all", LINES, line, lambda m, x: m.sum(x)),
    Case("sum, axis 0", SHEETS, matrix, lambda m, x: m.sum(x, 0)),
    Case("sum, axis 1", SHEETS, matrix, lambda m, x: m.sum(x, 1)),
    Case("sum, middle of 3", ((8, 32, 64), (16, 256, 1024)), matrix, lambda m, x: m.sum(x, 1)),
    Case("max, axis 0", SHEETS, matrix, lambda m, x: m.amax(x, 0)),
    Case("argmax, axis 1", SHEETS, matrix, lambda m, x: m.argmax(x, 1)),
    Case("var, axis 1", SHEETS, matrix, lambda m, x: m.var(x, 1, correction=0)),
    Case("cumsum, axis 1", SHEETS, matrix, lambda m, x: m.cumsum(x, 1)),
    Case("cumsum of a line", LINES, lambda rng, n: [rng.integers(-2, 3, n).astype("f4")],
         lambda m, x: m.cumsum(x, 0)),
]

NORMS = [
    Case("softmax", SHEETS, matrix, lambda m, x: m.softmax(x, -1)),
    Case("softmax, back", SHEETS, matrix, lambda m, x: m.softmax(x, -1), trains=(0,)),
    Case("cross-entropy, back", ((64, 10), (512, 8192)), logits, N.cross_entropy, F.cross_entropy, trains=(0,)),
    Case("layer norm", SHEETS, norm_arrays, lambda x, w, b: ingot.layer_norm(x, x.shape[1], w, b),
         lambda x, w, b: F.layer_norm(x, w.shape, w, b)),
    Case("layer norm, back", SHEETS, norm_arrays, lambda x, w, b: ingot.layer_norm(x, x.shape[1], w, b),
         lambda x, w, b: F.layer_norm(x, w.shape, w, b), trains=(0, 1, 2)),
    Case("batch norm", PICTURES, picture_norm, lambda x, w, b, m, v: N.batch_norm(x, m, v, w, b, True),
         lambda x, w, b, m, v: F.batch_norm(x, m, v, w, b, True)),
    Case("batch norm, back", PICTURES, picture_norm, lambda x, w, b, m, v: N.batch_norm(x, m, v, w, b, True),
         lambda x, w, b, m, v: F.batch_norm(x, m, v, w, b, True), trains=(0, 1, 2)),
    Case("attention", ((1, 4, 64, 32), (2, 8, 512, 64)), heads, N.scaled_dot_product_attention,
         F.scaled_dot_product_attention),
    Case("attention, back", ((1, 4, 64, 32), (2, 8, 512, 64)), heads, N.scaled_dot_product_attention,
         F.scaled_dot_product_attention, trains=(0, 1, 2)),
]

MAPS = [
    Case("conv 3x3", PICTURES, convolution(3), *conv(1, 1)),
    Case("conv 3x3, back", PICTURES, convolution(3), *conv(1, 1), trains=(0, 1)),
    Case("conv 3x3 stride 2", PICTURES, convolution(3), *conv(2, 1)),
    Case("conv 3x3 stride 2, back", PICTURES, convolution(3), *conv(2, 1), trains=(0, 1)),
    Case("conv 1x1", PICTURES, convolution(1), *conv(1, 0)),
    Case("conv 1x1, back", PICTURES, convolution(1), *conv(1, 0), trains=(0, 1)),
    Case("conv 7x7 stride 2 of 3", ((1, 3, 64, 32), (4, 3, 224, 64)), convolution(7), *conv(2, 3)),
    Case("conv depthwise", PICTURES, convolution(3, lambda c: c), *conv(1, 1, True)),
    Case("conv depthwise, back", PICTURES, convolution(3, lambda c: c), *conv(1, 1, True), trains=(0, 1)),
    Case("max pool 2", PICTURES, picture, lambda x: ingot.max_pool2d(x, 2), lambda x: F.max_pool2d(x, 2)),
    Case("max pool 2, back", PICTURES, picture, lambda x: ingot.max_pool2d(x, 2), lambda x: F.max_pool2d(x, 2),
         trains=(0,)),
    Case("avg pool 3 stride 2", PICTURES, picture, lambda x: ingot.avg_pool2d(x, 3, 2, 1),
         lambda x: F.avg_pool2d(x, 3, 2, 1)),
]

PLACES = [
    Case("sort, axis 1", SHEETS, matrix, lambda m, x: m.sort(x, -1), checked=1),
    Case("sort of a line", ((1 << 12,), (1 << 20,)), line, lambda m, x: m.sort(x, -1), checked=1),
    Case("topk 16", SHEETS, matrix, lambda m, x: m.topk(x, 16, -1), checked=1),
    Case("gather, axis 0", ((64, 128), (1024, 1024)), indexed, lambda m, x, i, s: m.gather(x, 0, i)),
    Case("scatter_add, axis 0", ((64, 128), (1024, 1024)), indexed, lambda m, x, i, s: m.scatter_add(x, 0, i, s)),
    Case("embedding", ((1000, 64, 256), (32000, 512, 4096)), table_and_ids, lambda w, i: ingot.embedding(w, i),
         lambda w, i: F.embedding(i, w)),
    Case("embedding, back", ((1000, 64, 256), (32000, 256, 4096)), table_and_ids,
         lambda w, i: ingot.embedding(w, i), lambda w, i: F.embedding(i, w), trains=(0,)),
    Case("cat", SHEETS, matrix, lambda x: ingot.cat([x, x], 1), lambda x: torch.cat([x, x], 1)),
]

PRODUCTS = [
    Case("product", ((128,), (512,), (1024,)), matrices, lambda m, x, y: x @ y, goal=0.9),
    Case("product of halves", ((128,), (512,), (1024,)), halves, lambda x, y: x @ y,
         lambda x, y: x @ y, goal=0.9, tolerance=1e-2),
    Case("product, GELU", ((128,), (512,)), matrices, lambda x, y: ingot.gelu(x @ y),
         lambda x, y: F.gelu(x @ y, approximate="tanh")),
    Case("einsum bij,bjk->bik", ((8, 32), (16, 256)), lambda rng, b, n: [
        rng.standard_normal((b, n, n), "f4") for _ in range(2)],
         lambda m, x, y: m.einsum("bij,bjk->bik", x, y), goal=0.9),
    Case("einsum bhld,bhsd->bhls", ((1, 4, 64, 32), (2, 8, 256, 64)), lambda rng, *s: heads(rng, *s)[:2],
         lambda m, x, y: m.einsum("bhld,bhsd->bhls", x, y), goal=0.9),
    Case("matrix by vector", ((128, 256), (4096, 4096)), row_and_matrix, lambda m, x, y: x @ y),
]

# ---- Training: state of its own, so a case each ----


def layers(sizes):
    rng = np.random.default_rng(3)
    return [((rng.standard_normal((o, i)) / i ** 0.5).astype("f4"), np.zeros(o, "f4"))
            for i, o in zip(sizes, sizes[1:])]


class Training:
    """Steps of a network with PyTorch's fused optimiser beside ours. act: between layers."""

    def __init__(self, name, sizes, batches, act, loss, optimizer, goal):
        self.name, self.layers, self.sizes, self.goal = name, sizes, batches, goal
        self.act, self.loss, self.optimizer = act, loss, optimizer

    def data(self, batch):
        rng = np.random.default_rng(2)
        x = rng.standard_normal((batch, self.layers[0]), "f4")
        wanted = (rng.integers(0, self.layers[-1], batch) if self.loss == "cross_entropy" else
                  rng.standard_normal((batch, self.layers[-1]), "f4"))
        return x, wanted

    def net(self, nn, make):
        parts = []
        for w, b in layers(self.layers):
            linear = nn.Linear(w.shape[1], w.shape[0])
            linear.weight, linear.bias = nn.Parameter(make(w)), nn.Parameter(make(b))
            parts += [linear, self.act(nn)]
        return nn.Sequential(*parts[:-1])

    def runs(self, size):
        x, wanted = self.data(*size)
        return (self.steps(ingot.nn, N, ingot.tensor, ingot.optim, x, wanted, {}),
                self.steps(torch.nn, F, torch.from_numpy, torch.optim, x, wanted, {"fused": True}))

    def steps(self, nn, functions, make, optim, x, wanted, options):
        net, x, wanted = self.net(nn, make), make(x), make(wanted)
        kind, values = self.optimizer
        optimizer = getattr(optim, kind)(net.parameters(), **values, **options)
        loss_of = getattr(functions, self.loss)

        def step():
            optimizer.zero_grad()
            loss = loss_of(net(x), wanted)
            loss.backward()
            optimizer.step()
            return loss.item()
        return step

    @staticmethod
    def same(mine, his):
        return abs(mine - his) < 0.02 * max(1.0, abs(his))


class Sine(torch.nn.Module):
    def forward(self, x):
        return torch.sin(x)


def sine(nn):
    return Sine() if nn is torch.nn else ingot.nn.Sine(1.0)


class Steps:
    """Steps of an optimiser alone, on gradients that stay."""

    def __init__(self, kind, values, sizes):
        self.name, self.kind, self.values, self.sizes, self.goal = kind + " step", kind, values, sizes, GOAL

    def runs(self, size):
        rng = np.random.default_rng(5)
        pairs = [[rng.standard_normal(size[:1], "f4") for _ in range(2)] for _ in range(size[1])]
        return self.ours(pairs), self.theirs(pairs)

    def ours(self, pairs):
        tensors = [ingot.nn.Parameter(ingot.tensor(p)) for p, _ in pairs]
        optimizer = getattr(ingot.optim, self.kind)(tensors, **self.values)
        for t, (_, g) in zip(tensors, pairs):
            (t * ingot.tensor(g)).sum().backward()

        def step():
            optimizer.step()
            for t in tensors:
                t.eval()
            ingot.synchronize()
            return tensors
        return step

    def theirs(self, pairs):
        tensors = [torch.nn.Parameter(torch.from_numpy(p.copy())) for p, _ in pairs]
        optimizer = getattr(torch.optim, self.kind)(tensors, **self.values, fused=True)
        for t, (_, g) in zip(tensors, pairs):
            t.grad = torch.from_numpy(g.copy())

        def step():
            optimizer.step()
            return tensors
        return step

    same = Case("", (), None, lambda m: None).same


TRAINED = [
    Training("MLP 784-512-512-10 step", (784, 512, 512, 10), ((128,), (256,)), lambda nn: nn.ReLU(),
             "cross_entropy", ("SGD", {"lr": 0.01, "momentum": 0.9}), 1.5),
    Training("sines 2-64-8x64-3 step", (2,) + (64,) * 9 + (3,), ((1024,), (4096,)), sine, "mse_loss",
             ("Adam", {"lr": 1e-3}), GOAL),
    Steps("SGD", {"lr": 0.01, "momentum": 0.9}, ((4096, 8), (1 << 20, 4))),
    Steps("Adam", {"lr": 1e-3}, ((4096, 8), (1 << 20, 4))),
]

CASES = EACH + REDUCED + NORMS + MAPS + PLACES + PRODUCTS + TRAINED
