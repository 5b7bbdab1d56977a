# SPDX-License-Identifier: Apache-2.0
"""Runs the kernels of this folder, straight from code object to memory, and checks the result.

Each *.metal says in comments how (several runs may stand in one file; `run:` starts the next):

    // run: KERNEL grid=100,10 group=64,2 [constant=NAME=VALUE] [outside]
    // arg N = NUMPY EXPRESSION        an array, or bytes of a scalar such as u32(7)
    // threadgroup N = BYTES           length of a threadgroup argument
    // tensor N = M, TYPE, EXTENTS, STRIDES [, OFFSET]   a handle over arg M, from element OFFSET on;
                                       TYPE is f32, f16, bf16, i8, ..., i4, u4
    // expect N = NUMPY EXPRESSION     what arg N holds afterwards (NaN equals NaN)
    // close N = NUMPY EXPRESSION      the same, within 1e-5 of it

`outside`: it leaves its arrays on purpose, which checks of every access report, so there are none.
Arguments and tensors from 100 on take no slot: what other arguments point to, as handle(100).

Expressions know numpy as np, the types f32 u32 i32 ..., iota(n, type), rand(n, seed), the arguments as
they were before as a0, a1, ..., and per thread of the grid (x fastest): gx gy gz (position in the
grid), lx ly lz (in the threadgroup), tx ty tz (the threadgroup), sx sy sz (actual size of its
threadgroup), li (index in the threadgroup), lane, simd (its SIMD-group), n (number of threads).

Every run is repeated in several ways: vector widths 32, 16 and 1, with and without the threadgroup size
known, for CPUs without AVX-512, with checks of every access, and for debuggers: same answer everywhere. Width 32
and the reference always, of the others two and one of the last in turn; all with INGOT_TEST_LONG=1.

With INGOT_TARGET=aarch64 the code is for that architecture, and INGOT_RUN_CODE says what runs it: an emulator and
run_code.c. Vectors of SVE are as long there as the features say. Kernels on tensors are left out.
"""
import ctypes
import glob
import os
import re
import signal
import struct
import subprocess
import tempfile
import traceback

import numpy as np
import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
MSLC = os.environ.get("INGOT_MSLC") or os.path.join(os.environ.get("INGOT_BUILD", os.path.join(HERE, "../../build")),
                                                    "bin/mslc")
TARGET, RUN_CODE = os.environ.get("INGOT_TARGET"), os.environ.get("INGOT_RUN_CODE", "").split()
# (name, width, shape known, CPU and features)
WAYS = [("w32", 32, True, None), ("w32-any", 32, False, None), ("w16", 16, True, None), ("w1", 1, False, None),
        ("w32-avx2", 32, True, "x86-64-v3"), ("w16-avx2-any", 16, False, "x86-64-v3"), ("w32-sse2", 32, True, "x86-64")]
if TARGET:
    WAYS = WAYS[:4] + [
        ("w32-fp16", 32, True, "neoverse-n1"), ("w32-sve256", 32, True, "neoverse-v1 +sve,sve-bits=256"),
        ("w32-sve512-any", 32, False, "generic +fullfp16,+sve,sve-bits=512"),
        ("w16-sve256", 16, True, "generic +sve,sve-bits=256")]
# With checks of every access (shader validation): nothing to report, the same answer. And as for a debugger.
CHECKED = [("w32-checked", 32, True, None), ("w16-any-checked", 16, False, None), ("w1-checked", 1, False, None),
           ("w1-debug", 1, False, None)]
LONG = os.environ.get("INGOT_TEST_LONG") == "1"
TIMEOUT = 60  # seconds: a kernel that hangs is a failure, not a wait


class Launch(ctypes.Structure):
    _fields_ = [("args", ctypes.c_void_p), ("threads_per_grid", ctypes.c_uint32 * 3),
                ("groups_per_grid", ctypes.c_uint32 * 3), ("group_size", ctypes.c_uint32 * 3),
                ("grid_origin", ctypes.c_uint32 * 3), ("log", ctypes.c_void_p), ("log_context", ctypes.c_void_p),
                ("textures", ctypes.c_void_p), ("lengths", ctypes.c_void_p), ("report", ctypes.c_void_p),
                ("live", ctypes.c_void_p), ("tensors", ctypes.c_void_p), ("grid_size", ctypes.c_uint32 * 3)]


class Live(ctypes.Structure):  # AbiLive
    _fields_ = [("spans", ctypes.c_void_p), ("n_spans", ctypes.c_uint64), ("handles", ctypes.c_void_p),
                ("mask", ctypes.c_uint64)]
    TENSOR = 3  # ABI_LIVE_TENSOR

    @classmethod
    def of(cls, arrays, tensors):
        """Memory of the arrays, and handles of the tensors."""
        spans = sorted((a.ctypes.data, a.ctypes.data + a.nbytes) for a in arrays if a.nbytes)
        live = cls(n_spans=len(spans), mask=255)
        assert len(tensors) < live.mask
        live.span_memory = (ctypes.c_uint64 * (2 * len(spans) + 2))(*(x for pair in spans for x in pair))
        live.handle_memory = (ctypes.c_uint64 * (2 * (live.mask + 1)))()
        for handle in map(ctypes.addressof, tensors):
            place = (handle * 0x9e3779b97f4a7c15 & 2**64 - 1) >> 32
            while live.handle_memory[2 * (place & live.mask)]:
                place += 1
            live.handle_memory[2 * (place & live.mask)] = handle
            live.handle_memory[2 * (place & live.mask) + 1] = cls.TENSOR
        live.spans = ctypes.addressof(live.span_memory)
        live.handles = ctypes.addressof(live.handle_memory)
        return live


def tensor_ops():
    """The device's functions on tensors; none where the test has no need of them."""
    if "INGOT_TENSOR_HOST" not in os.environ:
        return None
    host = ctypes.CDLL(os.environ["INGOT_TENSOR_HOST"])
    host.host_tensor_ops.restype = ctypes.c_void_p
    return host.host_tensor_ops()


class Report(ctypes.Structure):
    _fields_ = [("access", ctypes.c_uint32), ("space", ctypes.c_uint32), ("slot", ctypes.c_uint32),
                ("n_bytes", ctypes.c_uint32), ("offset", ctypes.c_int64), ("length", ctypes.c_uint64),
                ("thread", ctypes.c_uint32 * 3), ("line", ctypes.c_uint32), ("column", ctypes.c_uint32)]


REPORT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(Report))
reports = []


@REPORT
def note_report(launch, report):
    r = report.contents
    reports.append(f"access {r.access} of {r.n_bytes} bytes in space {r.space}, slot {r.slot}, offset {r.offset} of "
                   f"{r.length}, thread {tuple(r.thread)}")


class Tensor(ctypes.Structure):  # AbiTensor
    _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_uint32), ("rank", ctypes.c_uint32),
                ("extents", ctypes.c_int64 * 16), ("strides", ctypes.c_int64 * 16)]
    # name: number, bits
    TYPES = {"f32": (3, 32), "f16": (16, 16), "bf16": (121, 16), "i8": (45, 8), "u8": (49, 8), "i16": (37, 16),
             "u16": (41, 16), "i32": (29, 32), "u32": (33, 32), "i4": (143, 4), "u4": (144, 4)}

    @classmethod
    def over(cls, array, kind, extents, strides, offset=0):
        number, bits = cls.TYPES[kind]
        t = cls(array.ctypes.data + offset * bits // 8, number, len(extents))
        for d in range(16):
            t.extents[d] = extents[d] if d < len(extents) else 1
            t.strides[d] = strides[d] if d < len(strides) else 0
        return t


class Info(ctypes.Structure):
    _fields_ = [("abi", ctypes.c_uint32), ("flags", ctypes.c_uint32), ("width", ctypes.c_uint32),
                ("n_slots", ctypes.c_uint32), ("shape", ctypes.c_uint32 * 3), ("threadgroup_bytes", ctypes.c_uint32),
                ("frame_stride", ctypes.c_uint64), ("stack_bytes", ctypes.c_uint64)]


class Run:
    def __init__(self, path, line, words):
        self.path, self.line, self.kernel = path, line, words[0]
        options = dict(w.split("=", 1) for w in words[1:] if "=" in w and not w.startswith("constant="))
        self.constants = [w.split("=", 1)[1] for w in words[1:] if w.startswith("constant=")]
        self.outside = "outside" in words[1:]
        three = lambda s: tuple(([int(v) for v in s.split(",")] + [1, 1])[:3])
        self.grid, self.group = three(options["grid"]), three(options["group"])
        self.args, self.memory, self.expect, self.close, self.tensors = {}, {}, {}, {}, {}

    def __str__(self):
        name = os.path.splitext(os.path.basename(self.path))[0]
        return f"{name}-{self.kernel}-{'x'.join(map(str, self.grid))}-{'x'.join(map(str, self.group))}-{self.line}"


def read_runs(path):
    runs, into = [], None
    for number, line in enumerate(open(path), 1):
        if m := re.match(r"// run: (.*)", line):
            runs.append(Run(path, number, m[1].split()))
        elif m := re.match(r"// (arg|threadgroup|expect|close|tensor) (\d+) = (.*)", line):
            into = {"arg": runs[-1].args, "threadgroup": runs[-1].memory, "expect": runs[-1].expect,
                    "close": runs[-1].close, "tensor": runs[-1].tensors}[m[1]]
            into[int(m[2])] = m[3]
    return runs


def in_turn(ways, turn, others=2, always=("w32", "w1")):
    """Of the ways a kernel can be compiled: those of `always`, and `others` more whose turn it is."""
    rest = [w for w in ways if w[0] not in always]
    if LONG or len(rest) <= others:
        return list(ways)
    return [w for w in ways if w[0] in always] + [rest[(turn * others + i) % len(rest)] for i in range(others)]


def names_of(run):
    """Names an expression may use."""
    env = {"np": np, "iota": lambda n, t=np.float32: np.arange(n).astype(t),
           "rand": lambda n, seed=1: np.random.default_rng(seed).random(n, np.float32),
           "ints": lambda n, lo, hi, seed=1: np.random.default_rng(seed).integers(lo, hi, n)}
    for short, t in {"f16": np.float16, "f32": np.float32, "i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16,
                     "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64}.items():
        env[short] = t
        env[short + "s"] = lambda v, t=t: np.asarray(v).astype(t)
    (GX, GY, GZ), (SX, SY, SZ) = run.grid, run.group
    z, y, x = (v.ravel() for v in np.meshgrid(np.arange(GZ), np.arange(GY), np.arange(GX), indexing="ij"))
    size = lambda pos, whole, cut: np.minimum(cut, whole - pos // cut * cut)
    sx, sy, sz = size(x, GX, SX), size(y, GY, SY), size(z, GZ, SZ)
    li = x % SX + sx * (y % SY + sy * (z % SZ))
    env.update(gx=x, gy=y, gz=z, lx=x % SX, ly=y % SY, lz=z % SZ, tx=x // SX, ty=y // SY, tz=z // SZ, sx=sx, sy=sy, sz=sz,
               li=li, lane=li % 32, simd=li // 32, n=GX * GY * GZ)
    return env


def execute(run, so, arrays, tensors={}):
    code = ctypes.CDLL(so)
    info = Info.in_dll(code, "ingot_kernel_info")
    slots = (ctypes.c_void_p * max(1, info.n_slots))()
    lengths = (ctypes.c_uint64 * max(1, info.n_slots))()
    order = sorted(i for i in [*run.args, *run.tensors] if i < 100)
    dynamic = 0
    for slot, index in enumerate(order):
        slots[slot] = ctypes.addressof(tensors[index]) if index in tensors else arrays[index].ctypes.data
        lengths[slot] = 0 if index in tensors else arrays[index].nbytes
    for slot, index in enumerate(sorted(run.memory), len(order)):  # threadgroup arguments stand last
        slots[slot] = info.threadgroup_bytes + dynamic
        lengths[slot] = int(run.memory[index])
        dynamic += (int(run.memory[index]) + 15) // 16 * 16
    launch = Launch(ctypes.cast(slots, ctypes.c_void_p))
    launch.lengths = ctypes.cast(lengths, ctypes.c_void_p)
    launch.report = ctypes.cast(note_report, ctypes.c_void_p)
    launch.tensors = tensor_ops()
    live = Live.of(arrays.values(), tensors.values())
    launch.live = ctypes.addressof(live)
    groups = 1
    for d in range(3):
        launch.threads_per_grid[d], launch.group_size[d] = run.grid[d], run.group[d]
        launch.grid_size[d] = run.grid[d]
        launch.groups_per_grid[d] = -(-run.grid[d] // run.group[d])
        groups *= launch.groups_per_grid[d]
    frames = info.frame_stride * -(-run.group[0] * run.group[1] * run.group[2] // 32)
    margin = 128  # CPU_THREADGROUP_MARGIN, before and behind
    block = ctypes.create_string_buffer(info.threadgroup_bytes + dynamic + frames + 512 + 2 * margin)
    ctypes.memset(block, 0xA5, len(block))
    memory = -(-ctypes.addressof(block) // 128) * 128 + margin
    frame = -(-(memory + info.threadgroup_bytes + dynamic + margin) // 128) * 128
    kernel = code.ingot_kernel
    kernel.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p]
    kernel.restype = None
    for first, end in ((0, groups // 2), (groups // 2, groups)):
        kernel(ctypes.addressof(launch), first, end, memory, frame if frames else None)


def execute_elsewhere(run, way, so, arrays, at_end):
    order = sorted(run.args)
    memory = [int(run.memory[i]) for i in sorted(run.memory)]
    with open(so + ".request", "wb") as f:
        f.write(struct.pack("9I", *run.grid, *run.group, at_end, len(order), len(memory)))
        for i in order:
            f.write(struct.pack("Q", arrays[i].nbytes) + arrays[i].tobytes())
        f.write(struct.pack(f"{len(memory)}Q", *memory))
    env = dict(os.environ)
    if sve := re.search(r"sve(\d+)", way):
        env["QEMU_CPU"] = f"max,sve-default-vector-length={int(sve[1]) // 8}"
    done = subprocess.run([*RUN_CODE, so, so + ".request", so + ".result"], capture_output=True, text=True,
                          timeout=TIMEOUT, env=env)
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr}"
    result = open(so + ".result", "rb").read()
    at = 8
    reports.extend(["in the emulator"] * struct.unpack("Q", result[:8])[0])
    for i in order:
        arrays[i][:] = np.frombuffer(result[at:at + arrays[i].nbytes], arrays[i].dtype)
        at += arrays[i].nbytes


PAGE = 4096
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_size_t]


def between_pages(value, at_end):
    """A copy of an array that starts or ends at a page nobody may touch, not even lanes that are off."""
    value = np.atleast_1d(value).ravel()
    room = -(-value.nbytes // PAGE) * PAGE
    base = LIBC.mmap(None, room + 2 * PAGE, 0, 0x22, -1, 0)
    assert LIBC.mprotect(ctypes.c_void_p(base + PAGE), ctypes.c_size_t(room), 3) == 0
    start = base + PAGE + (room - value.nbytes if at_end else 0)
    array = np.frombuffer((ctypes.c_char * value.nbytes).from_address(start), value.dtype)
    array[:] = value
    return array


def check(run, way, so):
    for at_end in (False, True):
        check_placed(run, way, so, at_end)


def check_placed(run, way, so, at_end):
    env = names_of(run)
    arrays, tensors = {}, {}

    def place(index, text):
        value = np.ascontiguousarray(eval(text, env))
        env[f"a{index}"] = value.copy()
        arrays[index] = between_pages(value, at_end)

    for index, text in run.args.items():
        if "handle(" not in text:
            place(index, text)
    for index, text in run.tensors.items():
        of, kind, rest = text.split(",", 2)
        tensors[index] = Tensor.over(arrays[int(of)], kind.strip(), *eval(rest, env))
    env["handle"] = lambda i: ctypes.addressof(tensors[i])
    for index, text in run.args.items():
        if "handle(" in text:
            place(index, text)
    reports.clear()
    if RUN_CODE:
        execute_elsewhere(run, way, so, arrays, at_end)
    else:
        execute(run, so, arrays, tensors)
    assert not reports, f"{run} {way}: {len(reports)} reports, first: {reports[0]}"
    for index, text in list(run.expect.items()) + list(run.close.items()):
        got = arrays[index]
        want = np.asarray(eval(text, env)).astype(got.dtype).ravel()
        assert want.shape == got.shape, f"expect {index}: {want.shape} values for {got.shape}"
        same = (got == want) | ((got != got) & (want != want))
        if index in run.close:
            same |= np.isclose(got, want, rtol=1e-5, atol=1e-5)
        if not same.all():
            at = int(np.argmin(same))
            raise AssertionError(f"arg {index}[{at}] is {got[at]!r}, not {want[at]!r}; "
                                 f"{int((~same).sum())} of {same.size} differ\n"
                                 f"rerun: pytest '{__file__}' -k '{run}'")


def in_child(name, run):
    """Runs run(); a crash or a hang of one kernel must not end the others."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(TIMEOUT)
        status = 0
        try:
            run()
        except BaseException as e:
            os.write(write, (str(e) if isinstance(e, AssertionError) else traceback.format_exc()).encode()[:4000])
            status = 1
        os._exit(status)
    os.close(write)
    text = b""
    while part := os.read(read, 4096):
        text += part
    os.close(read)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        reason = signal.Signals(os.WTERMSIG(status)).name
        pytest.fail(f"{name}: the kernel ended with {reason}{' (it hung)' if reason == 'SIGALRM' else ''}")
    if status:
        pytest.fail(f"{name}: {text.decode(errors='replace')}")


def check_in_child(run, way, so):
    in_child(f"{run} {way}", lambda: check(run, way, so))


def mslc(*words):
    return subprocess.run([MSLC, "build", *words], capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def libraries():
    with tempfile.TemporaryDirectory() as folder:
        made = {}

        def get(path):
            if path not in made:
                out = os.path.join(folder, os.path.basename(path) + "lib")
                result = mslc("-g", path, "-o", out)
                assert result.returncode == 0, result.stderr + result.stdout
                made[path] = out
            return made[path]

        yield get


RUNS = [r for path in sorted(glob.glob(os.path.join(HERE, "*.metal"))) for r in read_runs(path)
        if not (TARGET and r.tensors)]


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_run(run, libraries):
    library = libraries(run.path)
    with tempfile.TemporaryDirectory() as folder:
        turn = RUNS.index(run)
        for way, width, shaped, processor in in_turn(WAYS, turn, 2) + ([] if run.outside else in_turn(CHECKED, turn, 1, ())):
            so = os.path.join(folder, way + ".so")
            words = [library, "--emit=obj", "--function", run.kernel, "--width", str(width), "-o", so]
            if shaped:
                words += ["--group", ",".join(map(str, run.group))]
            if TARGET:
                words += ["--target", TARGET]
            if processor:
                words += [x for pair in zip(("--cpu", "--features"), processor.split()) for x in pair]
            if way.endswith("checked"):
                words += ["--validate"]
            if way.endswith("debug"):
                words += ["-g"]
            for c in run.constants:
                words += ["--constant", c]
            result = mslc(*words)
            assert result.returncode == 0, f"{run} {way}: {result.stderr}{result.stdout}"
            check_in_child(run, way, so)
