# SPDX-License-Identifier: Apache-2.0
"""Checks of tinygrad on the device that DEV names, against NumPy. usage: tinygrad_checks.py ops|train|matmul|graph|beam"""
import os
import sys
import time

import numpy as np
from tinygrad import Context, Tensor, TinyJit, device, dtypes, nn
from tinygrad.nn import optim

METAL = os.environ["DEV"] == "METAL"

rng = np.random.default_rng(1)
failures = 0


def check(name, got, want, rtol=2e-4, atol=2e-4):
    global failures
    try:
        np.testing.assert_allclose(got.numpy() if isinstance(got, Tensor) else got, want, rtol=rtol, atol=atol)
        print(f"PASS {name}", flush=True)
    except Exception as error:
        failures += 1
        print(f"FAIL {name}: {str(error).strip()[:500]}", flush=True)


def attempt(name, make, want, **tolerance):
    try:
        got = make()
    except Exception as error:
        global failures
        failures += 1
        print(f"FAIL {name}: {type(error).__name__} {error}", flush=True)
        return
    check(name, got, want, **tolerance)


def array(*shape, low=-2.0, high=2.0):
    return rng.uniform(low, high, shape).astype(np.float32)


def ops():
    x, y, pos = array(45, 65), array(45, 65), array(45, 65, low=0.2, high=3.0)
    t, u, p = Tensor(x), Tensor(y), Tensor(pos)
    unary = {"exp": np.exp, "sin": np.sin, "cos": np.cos, "abs": np.abs, "square": np.square, "neg": np.negative,
             "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "sign": np.sign, "tanh": np.tanh,
             "relu": lambda v: np.maximum(v, 0), "sigmoid": lambda v: 1 / (1 + np.exp(-v)),
             "silu": lambda v: v / (1 + np.exp(-v)), "exp2": np.exp2, "isnan": np.isnan, "sinh": np.sinh, "cosh": np.cosh,
             "softplus": lambda v: np.log1p(np.exp(v)), "hardtanh": lambda v: np.clip(v, -1, 1)}
    for name, f in unary.items():
        attempt(name, lambda: getattr(t, name)(), f(x), rtol=1e-3, atol=1e-3)
    near = x * np.float32(0.7)  # beside a pole the rounding of the argument alone is more than any tolerance
    attempt("tan", lambda: Tensor(near).tan(), np.tan(near), rtol=1e-3)
    for name, f in {"log": np.log, "sqrt": np.sqrt, "rsqrt": lambda v: 1 / np.sqrt(v), "log2": np.log2,
                    "reciprocal": np.reciprocal}.items():
        attempt(name, lambda: getattr(p, name)(), f(pos))
    for name, make, want in [
            ("add", lambda: t + u, x + y), ("sub", lambda: t - u, x - y), ("mul", lambda: t * u, x * y),
            ("div", lambda: t / p, x / pos), ("pow", lambda: p ** u, pos ** y), ("maximum", lambda: t.maximum(u), np.maximum(x, y)),
            ("minimum", lambda: t.minimum(u), np.minimum(x, y)), ("less", lambda: t < u, x < y), ("equal", lambda: t == t, x == x),
            ("where", lambda: (t > 0).where(t, u), np.where(x > 0, x, y)), ("broadcast", lambda: t + u[0], x + y[0]),
            ("scalar", lambda: 3 - t * 2, 3 - x * 2), ("clip", lambda: t.clip(-1, 1), x.clip(-1, 1))]:
        attempt(name, make, want, rtol=1e-3)
    a = array(3, 4, 5, 6)
    A = Tensor(a)
    for name in ("sum", "mean", "max", "min", "prod", "std", "var"):
        f = {"std": lambda v, **k: np.std(v, ddof=1, **k), "var": lambda v, **k: np.var(v, ddof=1, **k)}.get(name, getattr(np, name))
        attempt(name, lambda: getattr(A, name)(), f(a), atol=1e-3)
        for axis in (0, 1, 3, (0, 2)):
            attempt(f"{name} axis {axis}", lambda: getattr(A, name)(axis=axis), f(a, axis=axis), atol=1e-3)
    attempt("argmax", lambda: A.argmax(axis=2), a.argmax(axis=2))
    attempt("argmin", lambda: A.argmin(axis=1), a.argmin(axis=1))
    attempt("cumsum", lambda: A.cumsum(axis=1), a.cumsum(axis=1))
    attempt("softmax", lambda: A.softmax(axis=3), np.exp(a) / np.exp(a).sum(3, keepdims=True))
    attempt("log_softmax", lambda: A.log_softmax(axis=3), a - np.log(np.exp(a).sum(3, keepdims=True)))
    attempt("logsumexp", lambda: A.logsumexp(axis=3), np.log(np.exp(a).sum(3)))
    attempt("layernorm", lambda: A.layernorm(), (a - a.mean(3, keepdims=True)) / np.sqrt(a.var(3, keepdims=True) + 1e-5), rtol=1e-3)
    for name, make, want in [
            ("transpose", lambda: A.transpose(1, 2), a.transpose(0, 2, 1, 3)), ("permute", lambda: A.permute(3, 1, 0, 2), a.transpose(3, 1, 0, 2)),
            ("reshape", lambda: A.reshape(12, 30), a.reshape(12, 30)), ("flip", lambda: A.flip((0, 2)), np.flip(a, (0, 2))),
            ("slice", lambda: A[1:, ::2, -3:, 1:5:3], a[1:, ::2, -3:, 1:5:3]), ("index", lambda: A[:, Tensor([3, 0, 0])], a[:, [3, 0, 0]]),
            ("pad", lambda: A.pad(((0, 0), (1, 2), (0, 0), (3, 0))), np.pad(a, ((0, 0), (1, 2), (0, 0), (3, 0)))),
            ("expand", lambda: A[:, :1].expand(3, 9, 5, 6), np.broadcast_to(a[:, :1], (3, 9, 5, 6))),
            ("cat", lambda: A.cat(A, dim=1), np.concatenate([a, a], 1)), ("stack", lambda: Tensor.stack(A, A), np.stack([a, a])),
            ("repeat", lambda: A.repeat((1, 2, 1, 1)), np.tile(a, (1, 2, 1, 1))), ("roll", lambda: A.roll(2, 3), np.roll(a, 2, 3)),
            ("tril", lambda: t.tril(), np.tril(x)), ("triu", lambda: t.triu(), np.triu(x)),
            ("sort", lambda: t.sort(dim=1)[0], np.sort(x, 1)), ("gather", lambda: t.gather(1, Tensor([[0, 5]] * 45)), x[:, [0, 5]]),
            ("one_hot", lambda: Tensor([1, 3]).one_hot(5), np.eye(5)[[1, 3]]), ("arange", lambda: Tensor.arange(1000), np.arange(1000)),
            ("eye", lambda: Tensor.eye(17), np.eye(17)), ("linspace", lambda: Tensor.linspace(0, 1, 33), np.linspace(0, 1, 33))]:
        attempt(name, make, want)
    for dtype in (dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.uint16, dtypes.int32, dtypes.uint32, dtypes.int64, dtypes.uint64):
        i = rng.integers(1, 100, (33,))
        I = Tensor(i.astype(np.int32)).cast(dtype)
        attempt(f"{dtype.name} arithmetic", lambda: ((I * 1 + 3) // 2 % 7).cast(dtypes.int32), (i + 3) // 2 % 7)
        attempt(f"{dtype.name} bits", lambda: ((I & 12) | (I ^ 5)).cast(dtypes.int32), (i & 12) | (i ^ 5))
        attempt(f"{dtype.name} shift", lambda: (I << 1 >> 2).cast(dtypes.int32) if dtype.bitsize > 8 else I.cast(dtypes.int32),
                i << 1 >> 2 if dtype.bitsize > 8 else i)
    for dtype, tolerance in ((dtypes.half, 5e-3), (dtypes.bfloat16, 5e-2)):
        h = Tensor(x).cast(dtype)
        attempt(f"{dtype.name} sum", lambda: (h * h + h).float().sum(1), (x * x + x).sum(1), rtol=tolerance, atol=65 * tolerance)
        attempt(f"{dtype.name} exp", lambda: h.exp().float(), np.exp(x), rtol=4 * tolerance, atol=tolerance)
    for shape in ((1, 1, 1), (7, 5, 3), (64, 64, 64), (65, 33, 127), (1, 256, 256), (256, 1, 8)):
        m, k, n = shape
        q, r = array(m, k), array(k, n)
        attempt(f"matmul {shape}", lambda: Tensor(q) @ Tensor(r), q @ r, atol=2e-3)
    q, r = array(2, 8, 16, 16), array(4, 8, 3, 3)
    want = np.zeros((2, 4, 14, 14), np.float32)
    for i in range(14):
        for j in range(14):
            want[:, :, i, j] = np.tensordot(q[:, :, i:i + 3, j:j + 3], r, ((1, 2, 3), (1, 2, 3)))
    attempt("conv2d", lambda: Tensor(q).conv2d(Tensor(r)), want, atol=2e-3)
    pools = q.reshape(2, 8, 8, 2, 8, 2)
    attempt("max_pool2d", lambda: Tensor(q).max_pool2d((2, 2)), pools.max((3, 5)))
    attempt("avg_pool2d", lambda: Tensor(q).avg_pool2d((2, 2)), pools.mean((3, 5)))
    attempt("einsum", lambda: Tensor.einsum("abij,cbkl->acijkl", Tensor(q[:, :, :3, :3]), Tensor(r)),
            np.einsum("abij,cbkl->acijkl", q[:, :, :3, :3], r), atol=2e-3)

    def gradient():
        w = Tensor(x)
        (w.tanh() * u).sum().backward()
        return w.grad
    attempt("gradient", gradient, y / np.cosh(x) ** 2, rtol=1e-3, atol=1e-3)
    Tensor.manual_seed(3)
    uniform = Tensor.rand(10000).numpy()
    check("random numbers", [uniform.mean(), uniform.std()], [0.5, 12 ** -0.5], atol=0.02)


class Net:
    def __init__(self):
        self.layers = [nn.Conv2d(1, 8, 3), Tensor.relu, nn.BatchNorm(8), Tensor.max_pool2d, lambda v: v.flatten(1), nn.Linear(8 * 49, 10)]

    def __call__(self, v):
        return v.sequential(self.layers)


def train():
    """Sixteen steps on made-up pictures of bright quarters; what is learnt is the same on every device."""
    labels = rng.integers(0, 4, 128)
    pictures = rng.normal(0, 0.3, (128, 1, 16, 16)).astype(np.float32)
    for i, label in enumerate(labels):
        pictures[i, 0, 8 * (label // 2):8 * (label // 2) + 8, 8 * (label % 2):8 * (label % 2) + 8] += 1
    X, Y = Tensor(pictures), Tensor(labels.astype(np.int32))
    Tensor.manual_seed(7)
    net = Net()
    opt = optim.Adam(nn.state.get_parameters(net), lr=0.005)

    @TinyJit
    def step():
        with Context(TRAINING=1):
            opt.zero_grad()
            loss = net(X).sparse_categorical_crossentropy(Y).backward()
            return loss.realize(*opt.schedule_step())
    losses = [step().item() for _ in range(16)]
    print("losses", " ".join(f"{v:.5f}" for v in losses))
    check("the loss falls", losses[-1] < 0.3 * losses[0], True)
    check("what it learnt", float((net(X).argmax(1) == Y).mean().item()) > 0.95, True)


def sources_of(work):
    """The kernels' texts that reach the compiler (or its cache) while `work` runs."""
    texts, compile_cached = [], device.Compiler.compile_cached

    def note(self, source):
        texts.append(source)
        return compile_cached(self, source)
    device.Compiler.compile_cached = note
    try:
        work()
    finally:
        device.Compiler.compile_cached = compile_cached
    return texts


def matmul():
    wanted = METAL and os.environ["TC"] != "0"
    for n in (64, 128, 512, 1024):
        for dtype, tolerance in ((dtypes.float, 2e-3), (dtypes.half, 0.5)):
            a, b = array(n, n, low=-1, high=1), array(n, n, low=-1, high=1)
            A, B = Tensor(a).cast(dtype).realize(), Tensor(b).cast(dtype).realize()
            texts = sources_of(lambda: attempt(f"{dtype.name} product {n}", lambda: (A @ B).float(), a @ b,
                                               atol=tolerance, rtol=2e-2))
            check(f"{dtype.name} product {n} {'uses' if wanted else 'does without'} simdgroup matrices",
                  any("simdgroup_multiply_accumulate" in text for text in texts), wanted)
            times = []
            for _ in range(3):
                begin = time.perf_counter()
                (A @ B).realize().numpy()
                times.append(time.perf_counter() - begin)
            print(f"time of {dtype.name} {n}: {1e3 * min(times):.1f} ms")


def count_graphs():
    """A list that gets the number of commands of every indirect command buffer that is executed."""
    from tinygrad.runtime.graph.metal import MetalGraph
    counts, call = [], MetalGraph.__call__

    def note(self, *arguments, **named):
        counts.append(self.range.length)
        return call(self, *arguments, **named)
    MetalGraph.__call__ = note
    return counts


def graph():
    counts = count_graphs() if METAL else []
    for n in (1, 3, 10, 40):
        @TinyJit
        def chain(v, w):
            for i in range(n):
                v = ((v + w) * 0.5).realize()
            return v
        for attempt_number in range(4):
            a, b = array(300), array(300)
            want = a
            for _ in range(n):
                want = (want + b) * 0.5
            counts.clear()
            check(f"graph of {n} kernels, call {attempt_number}", chain(Tensor(a).realize(), Tensor(b).realize()), want)
            if METAL and n > 1 and attempt_number > 1: # the first call runs, the second records
                check(f"all {n} kernels come from indirect command buffers", sum(counts), n)


def beam():
    a, b = array(256, 256), array(256, 256)
    attempt("searched product", lambda: Tensor(a) @ Tensor(b), a @ b, atol=2e-3)
    attempt("searched sum", lambda: (Tensor(a) * Tensor(b)).sum(1), (a * b).sum(1), atol=2e-3)
    attempt("searched softmax", lambda: Tensor(a).softmax(), np.exp(a) / np.exp(a).sum(1, keepdims=True))


if __name__ == "__main__": # worker processes of the search import this file
    {"ops": ops, "train": train, "matmul": matmul, "graph": graph, "beam": beam}[sys.argv[1]]()
    sys.exit(failures > 0)
