# SPDX-License-Identifier: Apache-2.0
"""Random tensors and slices of slices in kernels, against NumPy.

A kernel takes a tensor (a handle, or made from a pointer in device, threadgroup or thread memory, with
static or dynamic extents and any index type), cuts slices from it with random origins, some with
static sizes, and adds to every element of the last one what tells its place. Sizes and strides of all
slices come back too. Every kernel runs in every vector width, and checked.
"""
import os
import tempfile

import numpy as np
import pytest

import test_exec as exec_

LONG = os.environ.get("INGOT_TEST_LONG") == "1"
SEEDS = int(os.environ.get("INGOT_TENSOR_SEEDS", "100" if LONG else "3"))  # files of 4 kernels each
WAYS = [w for w in exec_.WAYS + exec_.CHECKED if w[0] in ("w32", "w16", "w1", "w32-checked", "w1-checked")]
ELEMENTS = {"float": ("f32", np.float32), "half": ("f16", np.float16), "int": ("i32", np.int32),
            "ushort": ("u16", np.uint16), "char": ("i8", np.int8), "uint": ("u32", np.uint32)}
GRID = 32


def extents_text(index, sizes, static):
    if not any(static):
        return f"dextents<{index}, {len(sizes)}>", ", ".join(map(str, sizes))
    words = [str(s) if known else "dynamic_extent" for s, known in zip(sizes, static)]
    return f"extents<{index}, {', '.join(words)}>", ", ".join(str(s) for s, known in zip(sizes, static) if not known)


class Case:
    """One kernel: its text, its arguments and what must come out."""

    def __init__(self, rng, name):
        self.name = name
        rank = int(rng.integers(1, 5))
        self.kind = str(rng.choice(["handle", "device", "threadgroup", "thread"]))
        self.element = str(rng.choice(list(ELEMENTS)))
        self.index = str(rng.choice(["int", "uint", "short", "long"]))
        most = {"handle": 9, "device": 9, "threadgroup": 5, "thread": 3}[self.kind]
        self.sizes = [int(n) for n in rng.integers(1, most + 1, rank)]
        self.strides, reach = [], 1
        for n in self.sizes:
            self.strides.append(reach + (int(rng.integers(0, 3)) if reach > 1 and rng.random() < 0.5 else 0))
            reach = self.strides[-1] * n
        self.n_elements = 1 + sum((n - 1) * s for n, s in zip(self.sizes, self.strides))
        self.static = [bool(rng.random() < 0.4) for _ in self.sizes] if self.kind != "handle" else [False] * rank
        self.slices = []  # (origin, static sizes or None)
        sizes = list(self.sizes)
        for _ in range(int(rng.integers(0, 4))):
            origin = [int(rng.integers(0, n)) for n in sizes]
            sizes = [n - o for n, o in zip(sizes, origin)]
            fixed = None
            if rng.random() < 0.5:
                fixed = [int(rng.integers(1, n + 1)) if rng.random() < 0.5 else None for n in sizes]
                sizes = [n if f is None else f for n, f in zip(sizes, fixed)]
            self.slices.append((origin, fixed))
        self.last = sizes

    def text(self):
        rank, e = len(self.sizes), self.element
        extents, given = extents_text(self.index, self.sizes, self.static)
        strides = f"array<int, {rank}>{{{', '.join(map(str, self.strides))}}}"
        body = []
        # Thread and threadgroup memory begin as a copy of x and are copied back; of thread memory
        # every thread has its own, and the first one's counts.
        if self.kind == "handle":
            head, body = f"tensor<device {e}, dextents<{self.index}, {rank}>> t0 [[buffer(0)]]", []
        else:
            head = f"device {e} *x [[buffer(0)]]"
            memory = "x"
            if self.kind != "device":
                memory = "memory"
                body.append(f"{'threadgroup ' if self.kind == 'threadgroup' else ''}{e} memory[{self.n_elements}];")
                body.append(f"for (int i = 0; i < {self.n_elements}; i++) "
                            + ("if (l == 0) " if self.kind == "threadgroup" else "") + "memory[i] = x[i];")
                body.append("threadgroup_barrier(mem_flags::mem_threadgroup);")
            body.append(f"tensor<{'device' if self.kind == 'device' else self.kind} {e}, {extents}, tensor_inline> "
                        f"t0({memory}, {extents}({given}), {strides});")
        for k, (origin, fixed) in enumerate(self.slices):
            sizes = "" if fixed is None else "<" + ", ".join("dynamic_extent" if f is None else str(f) for f in fixed) + ">"
            body.append(f"auto t{k + 1} = t{k}.slice{sizes}({', '.join(map(str, origin))});")
        n = int(np.prod(self.last))
        last = f"t{len(self.slices)}"
        # A thread takes every GRID-th element; of thread memory all threads take all.
        step, first = ("1", "0") if self.kind == "thread" else (str(GRID), "l")
        body.append(f"for (uint i = {first}; i < {n}; i += {step}) {{ uint rest = i;")
        words = []
        for d in range(rank):
            body.append(f"uint c{d} = rest % uint({last}.get_extent({d})); rest /= uint({last}.get_extent({d}));")
            words.append(f"c{d}")
        place = " + ".join(f"c{d} * {10 ** d % 97}" for d in range(rank))
        body.append(f"{last}[{', '.join(words)}] += {e}({place} + 1); }}")
        body.append(f"if (l == 0) for (int d = 0; d < {rank}; d++) {{")
        for k in range(len(self.slices) + 1):
            body.append(f"o[{2 * rank * k} + d] = t{k}.get_extent(d); o[{2 * rank * k + rank} + d] = t{k}.get_stride(d);")
        body.append("}")
        if self.kind in ("threadgroup", "thread"):
            body.append("threadgroup_barrier(mem_flags::mem_threadgroup);")
            body.append(f"if (l == 0) for (int i = 0; i < {self.n_elements}; i++) x[i] = memory[i];")
        return (f"kernel void {self.name}({head}, device int *o [[buffer(1)]], uint l [[thread_position_in_grid]]) {{\n    "
                + "\n    ".join(body) + "\n}\n")

    def run(self):
        """As the harness of test_exec knows it."""
        kind, dtype = ELEMENTS[self.element]
        data = (np.arange(self.n_elements) % 50).astype(dtype)
        rank = len(self.sizes)
        want = data.copy()
        view = np.lib.stride_tricks.as_strided(want, self.sizes[::-1], [s * want.itemsize for s in self.strides[::-1]])
        numbers = list(self.sizes) + list(self.strides)
        for origin, fixed in self.slices:
            cut = []
            for d in range(rank):
                end = None if fixed is None or fixed[d] is None else origin[d] + fixed[d]
                cut.append(slice(origin[d], end))
            view = view[tuple(cut[::-1])]
            numbers += list(view.shape[::-1]) + list(self.strides)
        place = np.zeros(view.shape, np.int64) + 1
        for d in range(rank):
            shape = [1] * rank
            shape[rank - 1 - d] = -1
            place = place + np.arange(view.shape[rank - 1 - d]).reshape(shape) * (10 ** d % 97)
        view += place.astype(dtype)
        r = exec_.Run(__file__, self.name, [self.name, f"grid={GRID}", f"group={GRID}"])
        where = 100 if self.kind == "handle" else 0
        r.args[where] = "data.copy()"
        r.args[1] = f"i32s(np.zeros({len(numbers)}))"
        if self.kind == "handle":
            r.tensors[0] = f"100, {kind}, {tuple(self.sizes)}, {tuple(self.strides)}"
        r.expect[where] = "want"
        r.expect[1] = str(numbers)
        r.names = {"data": data, "want": want}
        return r


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_slices(seed, monkeypatch):
    rng = np.random.default_rng(int(os.environ.get("INGOT_TENSOR_FIRST_SEED", "1000")) + seed)
    cases = [Case(rng, f"k{i}") for i in range(4)]
    source = "#include <metal_stdlib>\n#include <metal_tensor>\nusing namespace metal;\n" + "".join(c.text() for c in cases)
    plain = exec_.names_of
    monkeypatch.setattr(exec_, "names_of", lambda run: plain(run) | run.names)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "slices.metal")
        with open(path, "w") as f:
            f.write(source)
        library = os.path.join(folder, "slices.metallib")
        made = exec_.mslc(path, "-o", library)
        assert made.returncode == 0, made.stderr + made.stdout + source
        for case in cases:
            for way, width, shaped, cpu in WAYS:
                so = os.path.join(folder, f"{case.name}-{way}.so")
                words = [library, "--emit=obj", "--function", case.name, "--width", str(width), "-o", so]
                words += ["--group", str(GRID)] if shaped else []
                words += ["--validate"] if way.endswith("checked") else []
                made = exec_.mslc(*words)
                assert made.returncode == 0, made.stderr + made.stdout + source
                try:
                    exec_.check_in_child(case.run(), way, so)
                except pytest.fail.Exception as e:
                    pytest.fail(f"seed {seed}, {way}: {e}\n{case.text()}")
