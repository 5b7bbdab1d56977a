# SPDX-License-Identifier: Apache-2.0
"""Texture functions in kernels.

First the contract: every overload of every texture type is called once, with a table of texture
functions that answer with what they were asked (texture_host.c); the operation, the handles and the
rows must be those of src/abi/cpu_texture.h. Then kernels as programs have them, on the device's own
texture functions, against NumPy. All of it in every vector width and for several CPUs.
"""
import ctypes
import os
import zlib

import numpy as np
import pytest

import test_exec as exec_

HERE = exec_.HERE
HOST = os.environ.get("INGOT_TEXTURE_HOST", os.path.join(os.path.dirname(exec_.MSLC), "../tests/exec/texture_host.so"))
WAYS = exec_.WAYS
libraries = exec_.libraries


class Launch(ctypes.Structure):
    _fields_ = exec_.Launch._fields_[:7] + [("textures", ctypes.c_void_p), ("lengths", ctypes.c_void_p),
                                            ("report", ctypes.c_void_p)]


host = ctypes.CDLL(HOST)
for name in ("host_texture_new", "host_ops", "host_probe"):
    getattr(host, name).restype = ctypes.c_void_p
host.host_texture_copy.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p,
                                   ctypes.c_uint64, ctypes.c_uint32, ctypes.c_int]
host.host_probe_writes.argtypes = [ctypes.c_void_p, ctypes.c_uint32]

# name: MTLPixelFormat, NumPy type, components
FORMATS = {"r8unorm": (10, np.uint8, 1), "rg8unorm": (30, np.uint8, 2), "rgba8unorm": (70, np.uint8, 4),
           "r32float": (55, np.float32, 1), "rgba32float": (125, np.float32, 4), "rgba16float": (115, np.float16, 4),
           "r32uint": (53, np.uint32, 1), "r32sint": (54, np.int32, 1), "rgba8uint": (73, np.uint8, 4),
           "rgba32uint": (123, np.uint32, 4), "rg32uint": (103, np.uint32, 2), "depth32float": (252, np.float32, 1),
           "rgba16sint": (114, np.int16, 4)}
TYPES = {"1d": 0, "1d_array": 1, "2d": 2, "2d_array": 3, "2d_ms": 4, "cube": 5, "cube_array": 6, "3d": 7,
         "2d_ms_array": 8, "buffer": 9}


class Texture:
    def __init__(self, kind, format, width, height=1, depth=1, layers=1, levels=1, samples=1):
        self.number, self.dtype, self.n = FORMATS[format]
        self.size = width, height, depth
        shape = (ctypes.c_uint32 * 8)(TYPES[kind], self.number, width, height, depth, layers, levels, samples)
        self.handle = host.host_texture_new(shape)
        assert self.handle, "no such texture"

    def shape(self, level):
        return (max(1, self.size[1] >> level), max(1, self.size[0] >> level)) + ((self.n,) if self.n > 1 else ())

    def put(self, value, level=0, layer=0):
        a = np.ascontiguousarray(np.asarray(value).astype(self.dtype).reshape(self.shape(level)))
        assert host.host_texture_copy(self.handle, level, layer, a.ctypes.data, a.nbytes // a.shape[0], a.shape[0], 1)
        return self

    def get(self, level=0, layer=0):
        a = np.empty(self.shape(level), self.dtype)
        assert host.host_texture_copy(self.handle, level, layer, a.ctypes.data, a.nbytes // a.shape[0], a.shape[0], 0)
        return a


def launch(so, slots, grid, group, ops):
    code = ctypes.CDLL(so)
    info = exec_.Info.in_dll(code, "ingot_kernel_info")
    assert info.n_slots == len(slots), f"{info.n_slots} slots"
    values = (ctypes.c_void_p * max(1, len(slots)))()
    for i, s in enumerate(slots):
        values[i] = s if isinstance(s, int) else s.handle if isinstance(s, Texture) else s.ctypes.data
    n = Launch(ctypes.cast(values, ctypes.c_void_p))
    n.textures = ops
    groups = 1
    for d in range(3):
        n.threads_per_grid[d], n.group_size[d] = grid[d], group[d]
        n.groups_per_grid[d] = -(-grid[d] // group[d])
        groups *= n.groups_per_grid[d]
    frames = info.frame_stride * -(-group[0] * group[1] * group[2] // 32)
    block = ctypes.create_string_buffer(info.threadgroup_bytes + frames + 768)
    ctypes.memset(block, 0xA5, len(block))
    memory = -(-ctypes.addressof(block) // 128) * 128 + 128  # with margins
    frame = -(-(memory + info.threadgroup_bytes + 128) // 128) * 128
    kernel = code.ingot_kernel
    kernel.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p]
    kernel.restype = None
    kernel(ctypes.addressof(n), 0, groups, memory, frame if frames else None)


def three(v):
    v = (v,) if isinstance(v, int) else v
    return tuple((list(v) + [1, 1])[:3])


def everywhere(library, folder, kernel, grid, group, run, ways=WAYS, constants=()):
    """run(launch of so) checks; called for each way whose turn it is, in a process of its own."""
    grid, group = three(grid), three(group)
    for way, width, shaped, cpu in exec_.in_turn(ways, zlib.crc32(kernel.encode())):
        so = os.path.join(folder, f"{kernel}-{way}.so")
        words = [library, "--emit=obj", "--function", kernel, "--width", str(width), "-o", so]
        words += ["--group", ",".join(map(str, group))] if shaped else []
        words += ["--cpu", cpu] if cpu else []
        for c in constants:
            words += ["--constant", c]
        result = exec_.mslc(*words)
        assert result.returncode == 0, f"{kernel} {way}: {result.stderr}"
        exec_.in_child(f"{kernel} {way}", lambda: run(lambda slots, ops: launch(so, slots, grid, group, ops)))


def library_of(folder, name, source):
    path, out = os.path.join(folder, name + ".metal"), os.path.join(folder, name + ".metallib")
    with open(path, "w") as f:
        f.write("#include <metal_stdlib>\nusing namespace metal;\n" + source)
    result = exec_.mslc(path, "-o", out)
    assert result.returncode == 0, result.stderr + result.stdout
    return out


# ---- the contract

BIAS, LEVEL, GRADIENT, MIN_LOD, OFFSET, COMPARE, GATHER = 1 << 8, 2 << 8, 3 << 8, 1 << 10, 1 << 11, 1 << 12, 1 << 13
QUERY, DEPTH, INT, UINT = 1 << 16, 1 << 6, 1 << 4, 2 << 4
X, Y, Z, SLICE, REF, LOD, DX, DY, CLAMP, OFF, SAMPLE, VALUE = 0, 1, 2, 3, 4, 5, 6, 9, 12, 13, 6, 8

# In the kernels: float f = x * 0.5 + 0.25, u = x + 7, k = x & 3; here the same for all threads.
N = 70
x = np.arange(N, dtype=np.uint32)
f = (x.astype(np.float32) * np.float32(0.5) + np.float32(0.25))
u, k = x + 7, x & 3


def bits(v):
    v = np.broadcast_to(v, (N,))
    return v.astype(np.float32).view(np.uint32) if v.dtype.kind == "f" else v.astype(np.uint32)


def point(*c):
    return dict(enumerate(c))


def sampled():
    """(type, call, operation, rows) of all overloads that sample."""
    shapes = [("texture2d", 2, 2, ""), ("texture2d_array", 3, 2, ", k"), ("texture3d", 7, 3, ""),
              ("texturecube", 5, 4, ""), ("texturecube_array", 6, 4, ", k")]
    depths = [("depth2d", 2, 2, ""), ("depth2d_array", 3, 2, ", k"), ("depthcube", 5, 4, ""), ("depthcube_array", 6, 4, ", k")]
    yield "texture1d<float>", "sample(s, f)", 0, point(f)
    yield "texture1d_array<half>", "sample(s, f, k)", 1, {**point(f), SLICE: k}
    for depth, (name, number, dims, array) in [(0, v) for v in shapes] + [(1, v) for v in depths]:
        for T, data in [("float", 0)] if depth else [("float", 0), ("half", 0), ("int", INT), ("ushort", UINT)]:
            n = min(dims, 3)
            coord = f"float{n}({', '.join(['f', 'f + 1', 'f + 2'][:n])})"
            at = point(*[f, f + 1, f + 2][:n])
            if array:
                at[SLICE] = k
            base = number | data | (DEPTH if depth else 0)
            grad = {2: "gradient2d", 3: "gradient3d", 4: "gradientcube"}[dims]
            grads = {DX + i: 10.0 + i for i in range(n)} | {DY + i: f for i in range(n)}
            dxdy = f"{grad}(float{n}({', '.join(['10', '11', '12'][:n])}), float{n}(f))"
            offset, off = ("", {}) if dims == 4 else (f", int{n}({', '.join(['1', '-2', '3'][:n])})",
                                                      {OFF + i: np.array([1, -2, 3][i]) for i in range(n)})
            calls = [("sample", "", 0, {})] + ([("sample_compare", ", f", COMPARE, {REF: f})] if depth else [])
            for call, extra, op, rows in calls:
                head = f"{call}(s, {coord}{array}{extra}"
                for options, op2, rows2 in [("", 0, {}), (", bias(f)", BIAS, {LOD: f}), (", level(2)", LEVEL, {LOD: 2.0}),
                                            (", level(f)", LEVEL, {LOD: f}), (f", {dxdy}", GRADIENT, grads),
                                            (", min_lod_clamp(f)", MIN_LOD, {CLAMP: f}),
                                            (", bias(1), min_lod_clamp(f)", BIAS | MIN_LOD, {LOD: 1.0, CLAMP: f}),
                                            (f", {dxdy}, min_lod_clamp(1.5)", GRADIENT | MIN_LOD, {**grads, CLAMP: 1.5})]:
                    if T != "float" and options not in ("", ", level(f)"):
                        continue
                    all_rows = {**at, **rows, **rows2}
                    yield f"{name}<{T}>", head + options + ")", base | op | op2, all_rows
                    if offset and T == "float":
                        yield f"{name}<{T}>", head + options + offset + ")", base | op | op2 | OFFSET, {**all_rows, **off}
            if dims != 3:
                yield f"{name}<{T}>", f"gather(s, {coord}{array})", base | GATHER, at
                if offset:
                    yield f"{name}<{T}>", f"gather(s, {coord}{array}{offset})", base | GATHER | OFFSET, {**at, **off}
                if not depth:
                    for c, letter in enumerate("xyzw"):
                        zero = ", int2(0)" if offset else ""
                        yield (f"{name}<{T}>", f"gather(s, {coord}{array}{zero}, component::{letter})",
                               base | GATHER | c << 14, at)
            if depth:
                yield (f"{name}<{T}>", f"gather_compare(s, {coord}{array}, f)", base | GATHER | COMPARE, {**at, REF: f})
                if offset:
                    yield (f"{name}<{T}>", f"gather_compare(s, {coord}{array}, f{offset})",
                           base | GATHER | COMPARE | OFFSET, {**at, **off, REF: f})
            where = {r: v for r, v in at.items() if r != SLICE}
            if T == "float":
                yield f"{name}<{T}>", f"calculate_clamped_lod(s, {coord})", base | QUERY, where
                yield f"{name}<{T}>", f"calculate_unclamped_lod(s, {coord})", base | QUERY, where


def texels():
    """(type, coordinates, of a ushort, number, rows) for read and write."""
    for i in ("uint", "ushort"):
        c = lambda *v: ", ".join(f"{i}({w})" for w in v)
        yield "texture1d", f"{i}(x)", i, 0, point(x)
        yield "texture1d_array", c("x", "k"), i, 1, {**point(x), SLICE: k}
        yield "texture2d", f"{i}2(x, u)", i, 2, point(x, u)
        yield "texture2d_array", f"{i}2(x, u), {i}(k)", i, 3, {**point(x, u), SLICE: k}
        yield "texture3d", f"{i}3(x, u, k)", i, 7, point(x, u, k)
        yield "texturecube", f"{i}2(x, u), {i}(k)", i, 5, {**point(x, u), SLICE: k}
        yield "texturecube_array", f"{i}2(x, u), {i}(k), {i}(u)", i, 6, {**point(x, u), SLICE: k + 6 * u}


def reads():
    for name, at, i, number, rows in texels():
        yield f"{name}<float, access::read>", f"read({at})", number, {**rows, LOD: 0}
        yield f"{name}<uint, access::sample>", f"read({at}, {i}(k))", number | UINT, {**rows, LOD: k}
        yield f"{name}<short, access::read_write>", f"read({at})", number | INT, {**rows, LOD: 0}
        if name in ("texture2d", "texture2d_array", "texturecube", "texturecube_array"):
            depth = name.replace("texture", "depth")
            yield f"{depth}<float, access::read>", f"read({at}, k)", number | DEPTH, {**rows, LOD: k}
    for i in ("uint", "ushort"):
        two = f"{i}2(x, u)"
        yield "texture2d_ms<float>", f"read({two}, {i}(k))", 4, {**point(x, u), SAMPLE: k}
        yield "depth2d_ms<float>", f"read({two}, {i}(k))", 4 | DEPTH, {**point(x, u), SAMPLE: k}
        yield "texture2d_ms_array<int>", f"read({two}, {i}(u), {i}(k))", 8 | INT, {**point(x, u), SLICE: u, SAMPLE: k}
        yield "depth2d_ms_array<float>", f"read({two}, {i}(u), {i}(k))", 8 | DEPTH, {**point(x, u), SLICE: u, SAMPLE: k}
    yield "texture_buffer<float>", "read(x)", 9, point(x)


def writes():
    for name, at, i, number, rows in texels():
        yield f"{name}<float, access::write>", f"write(float4(f, 1, 2, 3), {at})", number, {**rows, LOD: 0}, [f, 1.0, 2.0, 3.0]
        yield f"{name}<half, access::read_write>", f"write(half4(half(f), 1, 2, 3), {at}, k)", number, {**rows, LOD: k}, [f, 1.0, 2.0, 3.0]
    yield "texture2d<int, access::write>", "write(int4(-3, int(x), 0, 1), uint2(x, u))", 2 | INT, {**point(x, u), LOD: 0}, [np.array(-3), x, 0, 1]
    yield "texture2d<short, access::write>", "write(short4(-3, short(x), 0, 1), uint2(x, u))", 2 | INT, {**point(x, u), LOD: 0}, [np.array(-3), x, 0, 1]
    yield "texture2d<ushort, access::write>", "write(ushort4(65535, ushort(x), 0, 1), uint2(x, u))", 2 | UINT, {**point(x, u), LOD: 0}, [65535, x, 0, 1]
    yield "texture2d<float, access::write>", "write(0.5f, uint2(x, u))", 2, {**point(x, u), LOD: 0}, [0.5] * 4
    yield "texture_buffer<uint, access::write>", "write(uint4(x), x)", 9 | UINT, point(x), [x] * 4


def atomics():
    for name, at, i, number, rows in texels():
        if "cube" in name:
            continue
        for n, call in enumerate(["exchange", None, "fetch_add", "fetch_sub", "fetch_and", "fetch_or", "fetch_xor",
                                  "fetch_min", "fetch_max"], 2):
            if call and (i == "uint" or call == "fetch_add"):
                yield f"{name}<uint, access::read_write>", f"atomic_{call}({at}, u)", number | UINT | n << 20, {**rows, VALUE: u}
        yield f"{name}<int, access::read_write>", f"atomic_load({at})", number | INT, rows
    yield "texture_buffer<int, access::read_write>", "atomic_fetch_add(x, int4(int(u)))", 9 | INT | 4 << 20, {X: x, VALUE: u}


PRE = "float f = float(x) * 0.5f + 0.25f; uint u = x + 7; uint k = x & 3; (void)f; (void)u; (void)k;"
TEXTURE, SAMPLER = 0x123456789AB0, 0x1122334455667788


def mixed(rows):
    sum_ = np.zeros(N, np.uint32)
    for r, v in rows.items():
        sum_ += bits(v) * np.uint32((2654435761 * (2 * r + 1)) & 0xFFFFFFFF)
    return sum_


def fold(handle):
    return (handle ^ handle >> 32) & 0xFFFFFFFF


def narrow(type_, call):
    """One component, or components too small for the probe's answer."""
    return "half" in type_ or "short" in type_


def result_expression(t, type_, call):
    """The answer as a uint4."""
    T = type_[type_.index("<") + 1:].rstrip(">").split(",")[0]
    depth, whole = type_.startswith("depth"), "gather" in call
    if "calculate" in call:
        first = f"as_type<uint>({t}.{call})"
        return f"uint4({first}, 0, 0, 0)"
    if depth and not whole:
        return f"uint4(as_type<uint>({t}.{call}), 0, 0, 0)"
    if T in ("float", "int", "uint"):
        return f"as_type<uint4>({t}.{call})"
    return f"uint4(uint(as_type<ushort>({t}.{call}.x)))"


def kernel_source(name, cases, sampler):
    """One kernel that makes all calls, each into a part of its own of `out`."""
    types = sorted({c[0] for c in cases})
    params = [f"{t} t{i}" for i, t in enumerate(types)] + (["sampler s"] if sampler else [])
    text = f"kernel void {name}({', '.join(params)}, device uint *out, uint x [[thread_position_in_grid]]) {{ {PRE} uint4 v;\n"
    for n, (type_, call, *_) in enumerate(cases):
        text += (f"  v = {result_expression(f't{types.index(type_)}', type_, call)};\n"
                 f"  for (int c = 0; c < 4; c++) out[4 * (x + {n * N}) + c] = v[c];\n")
    return text + "}\n"


def one_component(type_, call):
    return (type_.startswith("depth") and "gather" not in call) or "calculate" in call


FAST_WAYS = [WAYS[0], WAYS[2], WAYS[3], WAYS[6]]
TOGETHER = 16  # calls in one kernel


def check_answers(cases, got, sampler):
    types = sorted({c[0] for c in cases})
    for n, (type_, call, op, rows) in enumerate(cases):
        handles = fold((TEXTURE + types.index(type_) + 3 * (SAMPLER if sampler else 0)) & (1 << 64) - 1)
        want = [np.full(N, w, np.uint32) if np.isscalar(w) else w for w in (op, handles, mixed(rows), 1)]
        check = range(4)
        if one_component(type_, call):
            check = [0]
            want[0] = np.full(N, handles if "unclamped" in call else op, np.uint32)
        elif narrow(type_, call):
            check = [0]  # the probe's bits went through a conversion
            if "half" in type_:
                with np.errstate(over="ignore"):
                    want[0] = want[0].view(np.float32).astype(np.float16).view(np.uint16).astype(np.uint32)
            else:
                want[0] = want[0] & 0xFFFF
        for c in check:
            bad = np.flatnonzero(got[n][:, c] != want[c])
            assert len(bad) == 0, (f"{type_} {call}: {['operation', 'handles', 'rows', 'lanes'][c]} of thread {bad[0]} "
                                   f"is {got[n][bad[0], c]:#x}, not {want[c][bad[0]]:#x}")


CONTRACT = {"sampled": (list(sampled()), True), "reads": (list(reads()), False), "atomics": (list(atomics()), False)}


@pytest.mark.parametrize("name", CONTRACT)
def test_contract(name, tmp_path):
    cases, sampler = CONTRACT[name]
    groups = [cases[i:i + TOGETHER] for i in range(0, len(cases), TOGETHER)]
    library = library_of(str(tmp_path), name, "".join(kernel_source(f"k{i}", g, sampler) for i, g in enumerate(groups)))
    for i, group in enumerate(groups):
        def run(go):
            out = exec_.between_pages(np.zeros(4 * N * len(group), np.uint32), True)
            types = len({c[0] for c in group})
            go([TEXTURE + t for t in range(types)] + ([SAMPLER] if sampler else []) + [out], host.host_probe())
            check_answers(group, out.reshape(len(group), N, 4), sampler)
        ways = 2 if exec_.LONG else 1
        everywhere(library, str(tmp_path), f"k{i}", N, 32, run, [FAST_WAYS[(i + w) % 4] for w in range(ways)])


def test_contract_writes(tmp_path):
    cases = list(writes())
    source = "".join(f"kernel void k{i}({t} t, uint x [[thread_position_in_grid]]) {{ {PRE} t.{c}; }}\n"
                     for i, (t, c, *_) in enumerate(cases))
    library = library_of(str(tmp_path), "writes", source)
    for i, (type_, call, op, rows, values) in enumerate(cases):
        def run(go):
            words = np.zeros((N, 8), np.uint32)
            host.host_probe_writes(words.ctypes.data, words.size)
            go([TEXTURE], host.host_probe())
            want = np.stack([np.full(N, op, np.uint32), np.full(N, fold(TEXTURE), np.uint32), mixed(rows),
                             np.ones(N, np.uint32)] + [bits(np.asarray(v)) for v in values], 1)
            bad = np.argwhere(words != want)
            assert not len(bad), (f"{type_} {call}: word {bad[0][1]} of thread {bad[0][0]}: {words[tuple(bad[0])]:#x}, "
                                  f"not {want[tuple(bad[0])]:#x}")
        everywhere(library, str(tmp_path), f"k{i}", N, 32, run, [FAST_WAYS[i % len(FAST_WAYS)]])


# ---- kernels as programs have them, on the device's texture functions

SOME_WAYS = [WAYS[0], WAYS[1], WAYS[2], WAYS[3], WAYS[4]]


def sampler_of(mini=0, mag=0, mip=0, address=(0, 0, 0), compare=0, border=0, pixel=0):
    """A packed sampler, as a constexpr one."""
    h = 1 | mini << 1 | mag << 2 | mip << 3 | compare << 14 | border << 18 | pixel << 20 | 0x7C00 << 48
    return h | address[0] << 5 | address[1] << 8 | address[2] << 11


PIXELS = sampler_of(pixel=1)


def same(got, want, what="", tolerance=0.0):
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    assert got.shape == want.shape, f"{what}: {got.shape}, not {want.shape}"
    bad = np.argwhere(~(np.abs(got - want) <= tolerance))
    assert not len(bad), f"{what} at {tuple(bad[0])}: {got[tuple(bad[0])]}, not {want[tuple(bad[0])]}; {len(bad)} differ"


def image(h, w, n=4, seed=1, top=256):
    return np.random.default_rng(seed).integers(0, top, (h, w, n) if n > 1 else (h, w))


def buffer(shape, dtype=np.float32):
    return exec_.between_pages(np.zeros(shape, dtype), True)


class Kernels:
    def __init__(self, libraries, tmp_path, file):
        self.library, self.folder = libraries(os.path.join(HERE, "texture", file)), str(tmp_path)

    def __call__(self, kernel, grid, group, run, ways=SOME_WAYS, constants=()):
        everywhere(self.library, self.folder, kernel, grid, group, lambda go: run(lambda *s: go(list(s), host.host_ops())),
                   ways, constants)


@pytest.fixture
def filters(libraries, tmp_path):
    return Kernels(libraries, tmp_path, "filters.metal")


@pytest.fixture
def cases(libraries, tmp_path):
    return Kernels(libraries, tmp_path, "cases.metal")


def test_blur(filters):
    h, w = 37, 53
    source = image(h, w)
    k = np.array([1, 4, 6, 4, 1]) / 16
    padded = np.pad(source / 255, ((2, 2), (2, 2), (0, 0)), mode="edge")
    want = sum(k[y] * k[x] * padded[y:y + h, x:x + w] for y in range(5) for x in range(5))

    def run(go):
        out = Texture("2d", "rgba32float", w, h)
        go(Texture("2d", "rgba8unorm", w, h).put(source), out)
        same(out.get(), want, "blur", 2e-6)
    filters("blur_sampled", (64, 48), (16, 16), run, WAYS)


def test_sobel(filters):
    h, w = 21, 70
    source = image(h, w, top=200) / np.float32(8)
    l = np.pad(source[..., :3] @ [0.25, 0.5, 0.25], 1, mode="edge")
    at = lambda y, x: l[1 + y:1 + y + h, 1 + x:1 + x + w]
    gx = sum((2 if k == 0 else 1) * (at(k, 1) - at(k, -1)) for k in (-1, 0, 1))
    gy = sum((2 if k == 0 else 1) * (at(1, k) - at(-1, k)) for k in (-1, 0, 1))

    def run(go):
        out = Texture("2d", "rgba32float", w, h)
        go(Texture("2d", "rgba32float", w, h).put(source), out)
        same(out.get(), np.stack([gx, gy, abs(gx) + abs(gy), np.ones_like(gx)], 2), "sobel", 1e-4)
    filters("sobel", (w, h), (8, 8), run)


def test_histogram(filters):
    h, w = 40, 50
    source = image(h, w)

    def run(go):
        bins = buffer(256, np.uint32)
        go(Texture("2d", "rgba8unorm", w, h).put(source), bins)
        same(bins, np.bincount(source[..., 0].ravel(), minlength=256), "bin")
    filters("histogram", (64, 64), (32, 4), run)


def test_bilateral(filters):
    h, w, radius = 13, 40, 2
    source = image(h, w, 1) / 256
    params = np.array([radius, 0], np.int32)
    params[1:].view(np.float32)[:] = 4
    want = np.zeros((h, w))
    for y in range(h):
        for i in range(w):
            sum_ = total = 0
            for b in range(max(0, y - radius), min(h, y + radius + 1)):
                for a in range(max(0, i - radius), min(w, i + radius + 1)):
                    weight = 1 / (1 + 4 * (source[b, a] - source[y, i]) ** 2 + (a - i) ** 2 + (b - y) ** 2)
                    sum_ += weight * source[b, a]
                    total += weight
            want[y, i] = sum_ / total

    def run(go):
        out = Texture("2d", "r32float", w, h)
        go(Texture("2d", "r32float", w, h).put(source), out, exec_.between_pages(params, True))
        same(out.get(), want, "bilateral", 1e-5)
    filters("bilateral", (w, h), (32, 1), run)


def test_mip_levels(filters):
    source = image(32, 64) / np.float32(256)

    def run(go):
        t = Texture("2d", "rgba32float", 64, 32, levels=7).put(source)
        want = source
        for level in range(1, 5):
            go(t, t, exec_.between_pages(np.array([level], np.uint32), True))
            want = want.reshape(want.shape[0] // 2, 2, want.shape[1] // 2, 2, 4).mean((1, 3))
            same(t.get(level), want, f"level {level}", 1e-5)
    filters("downsample", (32, 16), (8, 8), run)


def test_lut(filters):
    n = 5
    grid = np.linspace(0, 1, n)
    table = np.stack(np.meshgrid(grid, grid, grid, indexing="ij"), 3)[..., ::-1]  # [z][y][x] -> (x, y, z)
    source = image(9, 33) / np.float32(255)

    def run(go):
        lut = Texture("3d", "rgba32float", n, n, n)
        for z in range(n):
            lut.put(np.concatenate([1 - table[z], np.ones((n, n, 1))], 2), layer=z)
        out = Texture("2d", "rgba32float", 33, 9)
        go(Texture("2d", "rgba32float", 33, 9).put(source), lut, out)
        same(out.get()[..., :3], 1 - source[..., :3], "lut", 5e-3)  # 1/256 of a cell is the hardware's precision
    filters("apply_lut", (33, 9), (33, 3), run)


def test_shadow(filters):
    rng = np.random.default_rng(3)
    depth = rng.random((16, 16), np.float32)
    points = rng.random((100, 4), np.float32)
    ix = np.minimum((points[:, :2] * 16).astype(int), 15)
    taps = [depth[np.minimum(ix[:, 1] + b, 15), np.minimum(ix[:, 0] + a, 15)] for b in (0, 1) for a in (0, 1)]

    def run(go):
        lit = buffer(100)
        go(Texture("2d", "depth32float", 16, 16).put(depth), exec_.between_pages(points, True), lit)
        same(lit, np.mean([points[:, 2] <= t for t in taps], 0), "lit")
    filters("shadow", 100, 64, run)


def test_yuv(filters):
    h, w = 18, 34
    y, uv = image(h, w, 1), image(h // 2, w // 2, 2)
    c = uv.repeat(2, 0).repeat(2, 1) / 255 - 0.5
    v = np.dstack([y / 255, c])
    m = np.array([[1, 1, 1], [0, -0.25, 2], [1.5, -0.5, 0]])  # columns

    def run(go):
        out = Texture("2d", "rgba32float", w, h)
        go(Texture("2d", "r8unorm", w, h).put(y), Texture("2d", "rg8unorm", w // 2, h // 2).put(uv), out)
        same(out.get()[..., :3], np.clip(v @ m, 0, 1), "yuv", 1e-5)
    filters("yuv_to_rgb", (w, h), (16, 4), run)


def test_tiles_and_barriers(filters):
    h, w = 24, 40
    source = image(h, w, 1)
    p = np.pad(source, 1)

    def run(go):
        out = Texture("2d", "r32float", w, h)
        go(Texture("2d", "r32float", w, h).put(source), out)
        same(out.get(), sum(p[y:y + h, a:a + w] for y in range(3) for a in range(3)), "box")
    filters("tiled_box", (w, h), (8, 8), run, WAYS)


def test_varying_handles(cases):
    n = 100
    which = np.random.default_rng(5).integers(0, 8, n).astype(np.uint32)
    images = [image(8, 8, seed=s) for s in range(4)]
    column = (np.arange(n) & 7)
    want = np.array([images[k & 3][min(k, 7), c] if k >> 2 == 0 else images[k & 3][min(k, 7), c] for k, c in zip(which, column)])

    def run(go):
        out = buffer((n, 4))
        clamp, repeat = sampler_of(pixel=1), sampler_of(pixel=1, address=(0, 0, 0), border=1)
        go(*[Texture("2d", "rgba32float", 8, 8).put(i) for i in images], clamp, repeat, exec_.between_pages(which, True), out)
        same(out.reshape(n, 4), want, "sample")
    cases("varying_handles", n, 64, run, WAYS)


def test_varying_writes_and_sizes(cases):
    n = 120
    which = np.random.default_rng(6).integers(0, 9, n).astype(np.uint32)

    def run(go):
        t = [Texture("2d", "r32uint", 16, 8) for _ in range(3)]
        go(*t, exec_.between_pages(which, True))
        for k in range(3):
            want = np.zeros(128, np.uint32)
            want[:n] = np.where(which % 3 == k, np.arange(n) + 1, 0)
            same(t[k].get().ravel(), want, f"texture {k}")
    cases("varying_write", n, 40, run)
    sizes = [(5, 9), (16, 16), (33, 2), (1, 1)]

    def run_sizes(go):
        out = buffer(n, np.uint32)
        t = [Texture("2d", "r32float", w, h, levels=1 + (max(w, h) > 1)) for w, h in sizes]
        go(*t, exec_.between_pages(which, True), out)
        same(out, [sizes[k & 3][0] * 100 + max(1, sizes[k & 3][1] // 2) for k in which], "size")
    cases("varying_sizes", n, 40, run_sizes)


def test_control_flow(cases):
    n = 200
    values = image(16, 16, 1, 7).astype(np.float32)
    numbers = image(16, 16, 1, 8)
    steps = np.random.default_rng(9).integers(0, 20, n).astype(np.uint32)
    i = np.arange(n)
    px, py = i % 16, i // 16

    def branches(go):
        out = buffer(n)
        go(Texture("2d", "r32float", 16, 16).put(values), Texture("2d", "r32uint", 16, 16).put(numbers), out)
        want = np.where(numbers[py, px] % 3 == 0, values[py, px], np.where(i % 5 == 1, values[px, py] + 100, -1))
        same(out, want, "branch")
    cases("in_branches", n, 64, branches, WAYS)

    def loops(go):
        out = buffer(n)
        go(Texture("2d", "r32float", 16, 16).put(values), exec_.between_pages(steps, True), out)
        want = []
        for t in range(n):
            sum_ = 0
            for k in range(steps[t]):
                v = values[(t + k) % 16, k % 16]
                if v > 240:
                    break
                sum_ += v
            want.append(sum_)
        same(out, want, "loop")
    cases("in_loops", n, 64, loops, WAYS)

    def written(go):
        t = Texture("2d", "r32uint", 16, 16)
        go(t, exec_.between_pages(steps, True))
        want = np.zeros(256, np.uint32)
        want[:n] = np.where(steps & 1, i + 1, np.where(steps & 2, 1000 + i, 0))
        same(t.get().ravel(), want, "written")
    cases("write_in_branch", n, 64, written)

    def returned(go):
        out = buffer(n)
        go(Texture("2d", "r32float", 16, 16).put(values), out, exec_.between_pages(np.array([77], np.uint32), True))
        same(out, np.where(i < 77, values[py, px], 0), "value")
    cases("early_return", n, 64, returned)


def test_uniform_call(cases):
    values = image(16, 16).astype(np.float32)

    def run(go):
        out = buffer((70, 4))
        go(Texture("2d", "rgba32float", 16, 16).put(values), out, exec_.between_pages(np.array([3, 5], np.float32), True))
        middle = (values[4, 2] + values[4, 3] + values[5, 2] + values[5, 3]) / 4
        same(out.reshape(70, 4), middle + values[5, 3] + np.arange(70)[:, None], "value", 1e-3)
    cases("uniform_call", 70, 32, run)


def test_read_write(cases):
    values = image(9, 33, 1)

    def run(go):
        t = Texture("2d", "r32uint", 33, 9).put(values)
        go(t)
        same(t.get(), values * 2 + 6, "texel")
    cases("in_place", (33, 9), (16, 2), run)

    def barrier(go):
        t, out = Texture("2d", "r32uint", 128, 3), buffer(3 * 128, np.uint32)
        go(t, out)
        i = np.arange(3 * 128)
        same(out, (i // 128 * 128 + 127 - i % 128) * 3 + 1, "other")
    cases("across_barrier", 3 * 128, 128, barrier, WAYS)


def test_atomics(cases):
    n = 100

    def run(go):
        t, least, old = Texture("2d", "r32uint", 4, 4), Texture("1d", "r32sint", 4), buffer(n, np.uint32)
        go(t, least, old)
        got = t.get()
        same(got[0, :3], [34, 33, 33], "counts")
        for k in range(3):
            same(np.sort(old[k::3]), np.arange(len(old[k::3])), "old values")
        same(got[1, 0], 99, "max")
        same(got[1, 1], np.bitwise_xor.reduce(np.arange(n)), "xor")
        assert 1 <= got[1, 2] <= n and got[2, 0] == 1, "compare_exchange"
        assert 1 <= got[2, 1] <= n, "exchange"
        same(got[2, 2], 77, "store")
        same(least.get().ravel()[0], -99, "min")
    cases("count", n, 64, run)

    def wide(go):
        t = Texture("2d", "rg32uint", 2, 1).put(np.array([[[0, 0], [0xFFFFFFFF, 0xFFFFFFFF]]], np.uint32))
        go(t)
        same(t.get()[0], [[99 - 49, 49], [5, 0]], "ulong")
    cases("wide_atomics", 50, 32, wide)


def test_sizes_and_nothing(cases):
    def run(go):
        make = lambda *a, **k: Texture(*a, **k)
        out = buffer((40, 22), np.uint32)
        go(make("1d", "r32float", 7), make("1d_array", "r32float", 6, layers=3), make("2d", "r32float", 20, 12, levels=4),
           make("2d_array", "r32float", 4, 4, layers=5), make("3d", "r32float", 8, 6, 4, levels=2), make("cube", "r32float", 8, 8, levels=3),
           make("cube_array", "r32float", 4, 4, layers=2), make("2d_ms", "r32float", 3, 3, samples=4), make("buffer", "r32float", 50),
           0, out)
        want = [7, 6, 3, 20, 12, 5, 1, 4, 5, 4, 3, 2, 8, 3, 2, 3, 4, 50, 0, 0, 1, 0]
        same(out.reshape(40, 22), np.tile(want, (40, 1)), "size")
    cases("sizes", 40, 32, run)

    def nothing(go):
        out = buffer((40, 4))
        go(0, 0, 0, out)
        same(out.reshape(40, 4), np.ones((40, 4)), "value")
    cases("nothing", 40, 32, nothing)


def test_function_constants(cases):
    values = image(16, 16, 1).astype(np.float32)

    def run(with_table):
        def inner(go):
            out = buffer(100)
            go(Texture("2d", "r32float", 16, 16).put(values), Texture("1d", "r32float", 10).put(np.arange(10) * 7) if with_table else 0, out)
            flat = values.ravel()[:100]
            same(out, flat % 10 * 7 if with_table else flat, "value")
        return inner
    cases("optional", 100, 32, run(True), constants=["0=true"])
    cases("optional", 100, 32, run(False), constants=["0=false"])


def test_argument_buffer(cases):
    images = [image(16, 16, 1, s).astype(np.float32) for s in (1, 2)]
    i = np.arange(100)

    def run(go):
        out = buffer(100)
        t = [Texture("2d", "r32float", 16, 16).put(v) for v in images]
        table = np.zeros(8, np.uint64)
        for k in range(2):
            table[4 * k:4 * k + 3] = t[k].handle, PIXELS, out.ctypes.data
            table[4 * k + 3:4 * k + 4].view(np.float32)[0] = k + 2
        go(exec_.between_pages(table, True))
        same(out, np.where(i & 1, images[1].ravel()[:100] * 3, images[0].ravel()[:100] * 2), "value")
    cases("from_arguments", 100, 32, run)


def test_quads(cases):
    values = np.random.default_rng(2).integers(0, 64, 128).astype(np.float32)
    q = values.reshape(-1, 4)
    dx = np.stack([q[:, 1] - q[:, 0]] * 2 + [q[:, 3] - q[:, 2]] * 2, 1).ravel()
    dy = np.stack([q[:, 2] - q[:, 0], q[:, 3] - q[:, 1]] * 2, 1).ravel()

    def run(go):
        out = buffer((128, 5))
        go(exec_.between_pages(values, True), out)
        same(out.reshape(128, 5), np.stack([dx, dy, abs(dx) + abs(dy), 2 * dx, dy], 1), "derivative")
    cases("derivatives", 128, 64, run)

    def levels(go):
        t = Texture("2d", "r32float", 256, 256, levels=9)
        for k in range(9):
            t.put(np.full((256 >> k, 256 >> k), k, np.float32), level=k)
        for step in (0.25, 1.0, 3.0, 8.0):
            out = buffer((64, 4))
            go(t, out, exec_.between_pages(np.array([step], np.float32), True))
            lod = np.log2(2 * step)  # thread 2 of a quad is the next row, two steps away
            want = [np.clip(lod, 0, 8), np.clip(lod + 0.5, 0, 8), lod, np.clip(np.log2(step), 0, 8)]
            same(out.reshape(64, 4), np.tile(want, (64, 1)), f"step {step}", 0.02)
    cases("implicit_level", 64, 32, levels, WAYS)

    def sampler_levels(go):
        t = Texture("2d", "r32float", 256, 256, levels=9)
        for k in range(9):
            t.put(np.full((256 >> k, 256 >> k), k, np.float32), level=k)
        for step in (0.5, 3.0, 20.0):
            out = buffer((64, 3))
            go(t, out, exec_.between_pages(np.array([step], np.float32), True))
            lod = np.log2(2 * step)
            want = [np.clip(lod, 1.25, 3.5), np.clip(lod - 1.5, 0.5, 8), np.clip(lod + 2, 0.5, 2.25)]
            same(out.reshape(64, 3), np.tile(want, (64, 1)), f"step {step}", 0.02)
    cases("sampler_levels", 64, 32, sampler_levels)


@pytest.mark.parametrize("group", [(8, 4), (16, 16), (5, 3), (32, 2), (7, 1)])
def test_quads_of_planes(cases, group):
    """Four consecutive threads of a threadgroup, wherever its edge and the grid's cut them."""
    grid, step = (37, 21), np.array([1.5, 6.0], np.float32)
    env = exec_.names_of(exec_.Run("", 0, ["k", f"grid={grid[0]},{grid[1]}", f"group={group[0]},{group[1]}"]))
    where = {(gx // group[0], gy // group[1], li): n for n, (gx, gy, li) in enumerate(zip(env["gx"], env["gy"], env["li"]))}
    uv = np.stack([env["gx"], env["gy"]], 1) * step  # texels
    want = np.full(len(uv), np.nan)
    for (tx, ty, li), n in where.items():
        quad = [where.get((tx, ty, li // 4 * 4 + k)) for k in range(4)]
        if None in quad or li // 32 != (li // 4 * 4 + 3) // 32:
            continue  # not complete: no derivatives
        q, lane = uv[quad], li % 4
        dx, dy = q[lane | 1] - q[lane & 2], q[lane & 1 | 2] - q[lane & 1]
        want[n] = np.clip(np.log2(max(np.hypot(*dx), np.hypot(*dy))), 0, 8)
    whole = ~np.isnan(want)

    def run(go):
        t = Texture("2d", "r32float", 256, 256, levels=9)
        for k in range(9):
            t.put(np.full((256 >> k, 256 >> k), k, np.float32), level=k)
        out = buffer((len(uv), 2))
        go(t, out, exec_.between_pages(step, True))
        got = out.reshape(-1, 2)
        same(got[whole, 0], want[whole], "level sampled", 0.05)
        same(got[whole, 1], want[whole], "level asked", 0.05)
    cases("implicit_plane", grid, group, run)


def test_layers_faces_samples(cases):
    n = 48
    i = np.arange(n)
    px, py = i % 4, i // 4 % 4

    def run(go):
        a = Texture("2d_array", "r32float", 4, 4, layers=3)
        c = Texture("cube", "r32float", 4, 4)
        m = Texture("2d_ms", "r32float", 4, 4, samples=4)
        b = Texture("buffer", "r32float", n).put(i * 5)
        d = Texture("1d_array", "r32float", 4, layers=2)
        w = Texture("2d_array", "r32float", 4, 4, layers=2)
        arrays = [image(4, 4, 1, s) for s in range(9)]
        for k in range(3):
            a.put(arrays[k], layer=k)
        for k in range(6):
            c.put(np.full((4, 4), 10 * k) + arrays[k] % 10, layer=k)
        for k in range(2):
            d.put(np.arange(4) + 100 * k, layer=k)
        out = buffer((n, 6))
        go(a, c, m, b, d, w, out)
        got = out.reshape(n, 6)
        same(got[:, 0], [arrays[k % 3][y, v] for k, v, y in zip(i, px, py)], "array")
        same(got[:, 1], [10 * (k % 6) + arrays[k % 6][y, v] % 10 for k, v, y in zip(i, px, py)], "face")
        same(got[:, 2], np.zeros(n), "sample")
        same(got[:, 3], i * 5, "buffer")
        same(got[:, 4], i % 4 + 100 * (i % 2), "1d array")
        same(got[:, 5] // 10, i % 6, "cube")
        for k in range(2):
            last = {(v, y): t for t, v, y in zip(i, px, py) if t % 2 == k}
            same(w.get(layer=k)[0, k], last[(k, 0)], "written layer")
    cases("layers", n, 48, run)


# ---- random programs: vectorised against one thread at a time

class Program:
    """A kernel with nested control flow around texture functions; every thread writes its own results."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.loops = 0
        body = "".join(self.statement(0) for _ in range(8))
        self.source = f"""
constexpr sampler near(coord::pixel, filter::nearest, address::clamp_to_edge);
constexpr sampler over(coord::pixel, filter::nearest, address::repeat);
kernel void random(array<texture2d<float>, 3> t, texture2d<uint, access::read> u, texture2d<uint, access::write> w,
                   texture2d<float, access::read_write> rw, texture3d<float> v, device const uint *in, device float *out,
                   uint2 own [[thread_position_in_grid]]) {{
  uint i = own.y * 16 + own.x;
  float a = float(i % 7), b = 1, c = float(in[i] % 5);
  uint n = in[i] % 16, m = i % 16;
{body}  out[i] = a + 3 * b + 7 * c + float(n) + float(m);
  w.write(uint4(n, m, 0, 0), own);
}}
"""

    def pick(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def number(self):
        return self.pick("n", "m", "i % 16", "(n + m) % 16", "3u", f"{self.rng.integers(16)}u", "n ^ 5", "in[i] % 16")

    def index(self):
        return self.pick("0", "1", "2", f"({self.number()}) % 3", f"({self.number()}) % 3")

    def value(self):
        x, y, t = self.number(), self.number(), f"t[{self.index()}]"
        return self.pick(f"{t}.read(uint2({x}, {y})).x", f"{t}.sample(near, float2({x}, {y}) + 0.5f, level(0)).x",
                         f"{t}.sample(over, float2({x}, {y}) * 2 + 0.5f, level(0)).x", f"{t}.gather(near, float2({x}, {y})).y",
                         f"{t}.sample({self.pick('near', 'over')}, float2({x}, {y}) + 0.5f, level(0), int2(1, -2)).x",
                         f"rw.read(own).x", f"float(u.read(uint2({x}, {y})).x)",
                         f"v.sample(near, float3({x}, {y}, 1) + 0.5f, level(0)).x", f"float({t}.get_width(1))",
                         self.pick("a", "b", "c"), self.pick("a", "b", "c") + " + 1")

    def condition(self):
        return self.pick(f"({self.number()}) % 3 == 0", f"{self.pick('a', 'b', 'c')} > 20", f"({self.number()}) > 7",
                         f"u.read(uint2({self.number()}, {self.number()})).x % 2 == 0")

    def statement(self, depth):
        pad = "  " * (depth + 1)
        kind = self.rng.integers(10 if depth < 3 else 6)
        if kind < 4:
            return f"{pad}{self.pick('a', 'b', 'c')} = {self.value()};\n"
        if kind == 4:
            return f"{pad}{self.pick('n', 'm')} = uint({self.value()}) % 16;\n"
        if kind == 5:
            return f"{pad}rw.write(float4({self.value()}), own);\n"
        inside = "".join(self.statement(depth + 1) for _ in range(self.rng.integers(1, 4)))
        if kind < 8:
            other = "" if self.rng.integers(2) else f" else {{\n{self.statement(depth + 1)}{pad}}}"
            return f"{pad}if ({self.condition()}) {{\n{inside}{pad}}}{other}\n"
        self.loops += 1
        k = f"k{self.loops}"
        leave = f"{pad}  if ({self.condition()}) {self.pick('break', 'continue')};\n" if self.rng.integers(2) else ""
        return f"{pad}for (uint {k} = 0; {k} < ({self.number()}) % 5; {k}++) {{\n{inside}{leave}{pad}}}\n"


RANDOM = int(os.environ.get("INGOT_TEXTURE_PROGRAMS", 0))


@pytest.mark.parametrize("seed", range(1000, 1000 + RANDOM) if RANDOM else range(6))
def test_random(seed, tmp_path):
    program = Program(seed)
    library = library_of(str(tmp_path), "random", program.source)
    n = 16 * 13
    values = np.random.default_rng(seed).integers(0, 1000, n).astype(np.uint32)
    results = {}

    def run_way(way):
        def run(go):
            t = [Texture("2d", "r32float", 16, 16).put(image(16, 16, 1, s, 64)) for s in range(3)]
            u, w = Texture("2d", "r32uint", 16, 16).put(image(16, 16, 1, 9)), Texture("2d", "rgba32uint", 16, 16)
            rw, v = Texture("2d", "r32float", 16, 16).put(image(16, 16, 1, 5, 64)), Texture("3d", "r32float", 16, 16, 4)
            v.put(image(16, 16, 1, 6, 64), layer=1)
            out = buffer(n)
            go(t + [u, w, rw, v, exec_.between_pages(values, True), out], host.host_ops())
            np.savez(str(tmp_path / (way + ".npz")), out=out, w=w.get(), rw=rw.get())
        return run
    for way in WAYS:
        group = [(16, 4), (8, 8), (16, 16), (13, 2), (4, 3), (16, 8)][seed % 6]  # some steps are several SIMD-groups
        everywhere(library, str(tmp_path), "random", (16, 13), group, run_way(way[0]), [way])
        results[way[0]] = np.load(str(tmp_path / (way[0] + ".npz")))
    for way in results:
        for name in ("out", "w", "rw"):
            got, want = results[way][name], results["w1"][name]
            assert np.array_equal(got, want, equal_nan=True), (
                f"seed {seed} {way}: {name}[{np.argwhere(got != want)[0]}] {got[got != want][0]}, not {want[got != want][0]}\n"
                f"{program.source}")
