# SPDX-License-Identifier: Apache-2.0
"""Texture functions in kernels.

First the contract: every overload of every texture type is called once, with a table of texture
functions that answer with what they were asked (texture_host.c); the operation, the handles and the
rows must be those of src/cpu/texture_abi.h. Then kernels as programs have them, on the device's own
texture functions, against NumPy. All of it in every vector width and for several CPUs.
"""
import ctypes
import os
import signal
import traceback

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
    block = ctypes.create_string_buffer(info.threadgroup_bytes + frames + 512)
    ctypes.memset(block, 0xA5, len(block))
    memory = -(-ctypes.addressof(block) // 128) * 128
    frame = -(-(memory + info.threadgroup_bytes) // 128) * 128
    kernel = code.ingot_kernel
    kernel.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p]
    kernel.restype = None
    kernel(ctypes.addressof(n), 0, groups, memory, frame if frames else None)


def three(v):
    v = (v,) if isinstance(v, int) else v
    return tuple((list(v) + [1, 1])[:3])


def in_child(name, run):
    """A crash or a hang of one kernel must not end the others."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(exec_.TIMEOUT)
        try:
            run()
        except BaseException as e:
            os.write(write, (str(e) if isinstance(e, AssertionError) else traceback.format_exc()).encode()[:4000])
            os._exit(1)
        os._exit(0)
    os.close(write)
    text = b""
    while part := os.read(read, 4096):
        text += part
    os.close(read)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        pytest.fail(f"{name}: the kernel ended with {signal.Signals(os.WTERMSIG(status)).name}")
    if status:
        pytest.fail(f"{name}: {text.decode(errors='replace')}")


def everywhere(library, folder, kernel, grid, group, run, ways=WAYS, constants=()):
    """run(launch of so) checks; called for each way, in a process of its own."""
    grid, group = three(grid), three(group)
    for way, width, shaped, cpu in ways:
        so = os.path.join(folder, f"{kernel}-{way}.so")
        words = [library, "--emit=obj", "--function", kernel, "--width", str(width), "-o", so]
        words += ["--group", ",".join(map(str, group))] if shaped else []
        words += ["--cpu", cpu] if cpu else []
        for c in constants:
            words += ["--constant", c]
        result = exec_.mslc(*words)
        assert result.returncode == 0, f"{kernel} {way}: {result.stderr}"
        in_child(f"{kernel} {way}", lambda: run(lambda slots, ops: launch(so, slots, grid, group, ops)))


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
        everywhere(library, str(tmp_path), f"k{i}", N, 32, run, [FAST_WAYS[(i + w) % 4] for w in range(2)])


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
