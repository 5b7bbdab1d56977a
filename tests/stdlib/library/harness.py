# SPDX-License-Identifier: Apache-2.0
"""Compiles a kernel with mslc and runs it in this process, for tests of the Metal headers.

No runtime is needed: a code object is a shared library with one entry (src/abi/cpu_kernel.h), and
this file plays the device. MSLC names the compiler. Every kernel runs vectorised, and every third (all with
INGOT_TEST_LONG=1) also one thread at a time (the reference): both must agree with the expected values.
"""
import ctypes
import os
import mmap
import pathlib
import re
import signal
import subprocess
import tempfile
import traceback
import zlib

import numpy as np

MSLC = os.environ.get("MSLC", "mslc")
WIDTHS = [int(w) for w in os.environ.get("INGOT_TEST_WIDTHS", "1,32").split(",")]
LONG = os.environ.get("INGOT_TEST_LONG") == "1"
CPU = os.environ.get("INGOT_TEST_CPU")  # an LLVM name that this machine can run, such as x86-64-v3
PREAMBLE = "#include <metal_stdlib>\nusing namespace metal;\n"

# The number this file plays: read from the contract, so that a new one is looked at in one place.
ABI = int(re.search(r"#define ABI_VERSION (\d+)u",
                    (pathlib.Path(__file__).parents[3] / "src/abi/kernel.h").read_text())[1])
LOG_FN = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_char_p,
                          ctypes.POINTER(ctypes.c_uint64), ctypes.c_uint32)


class Launch(ctypes.Structure):  # CpuLaunch
    _fields_ = [("args", ctypes.c_void_p), ("threads_per_grid", ctypes.c_uint32 * 3),
                ("groups_per_grid", ctypes.c_uint32 * 3), ("group_size", ctypes.c_uint32 * 3),
                ("grid_origin", ctypes.c_uint32 * 3), ("log", LOG_FN),
                ("log_context", ctypes.c_void_p), ("textures", ctypes.c_void_p),
                ("lengths", ctypes.c_void_p), ("report", ctypes.c_void_p)]


class Info(ctypes.Structure):  # CpuKernelInfo
    _fields_ = [("abi", ctypes.c_uint32), ("flags", ctypes.c_uint32), ("width", ctypes.c_uint32),
                ("n_slots", ctypes.c_uint32), ("shape", ctypes.c_uint32 * 3),
                ("threadgroup_bytes", ctypes.c_uint32), ("frame_stride", ctypes.c_uint64),
                ("stack_bytes", ctypes.c_uint64)]


assert Launch.log.offset == 56


def mslc(*arguments, source=None):
    """Runs `mslc build`; with `source`, on that text. Returns the finished process."""
    command = [MSLC, "build", *arguments]
    if source is not None:
        command.append("-")
    return subprocess.run(command, input=source, capture_output=True, text=True, timeout=120)


def compile_kernel(source, kernel="k", width=32, options=()):
    """The code object of one kernel, loaded. The preamble is added to the source."""
    text = PREAMBLE + source
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "kernel.so"
        done = mslc("--emit=obj", f"--function={kernel}", f"--width={width}", "-o", str(path),
                    *([f"--cpu={CPU}"] if CPU else []), *options, source=text)
        assert done.returncode == 0, f"{done.stdout}{done.stderr}\n{text}"
        return ctypes.CDLL(str(path))


def aligned(n_bytes):
    raw = np.zeros(n_bytes + 256, np.uint8)
    start = -raw.ctypes.data % 128
    return raw[start:start + n_bytes]


def shared(array):
    """A copy of an array in memory that a forked process shares."""
    memory = mmap.mmap(-1, max(array.nbytes, 1))
    copy = np.frombuffer(memory, np.uint8, array.nbytes).view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def in_child(work):
    """Runs `work` in a forked process, so that a kernel that traps fails one test, not all."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
            os._exit(0)
        except BaseException:  # the parent only needs to know that it failed
            traceback.print_exc()
            os._exit(1)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status < 0:
        raise AssertionError(f"the kernel died: {signal.Signals(-status).name}")
    assert status == 0


def launch(code, buffers, grid, group, dynamic_bytes=0, log=None):
    """Runs all threadgroups of a one-dimensional grid; arrays in `buffers` are used in place."""
    info = Info.in_dll(code, "ingot_kernel_info")
    assert info.abi == ABI and info.n_slots >= len(buffers)
    slots = (ctypes.c_void_p * max(info.n_slots, 1))()
    for i, buffer in enumerate(buffers):
        if isinstance(buffer, np.ndarray):
            assert buffer.flags.c_contiguous
            slots[i] = buffer.ctypes.data
        else:
            slots[i] = buffer
    n_groups = -(-grid // group)
    call = Launch(ctypes.addressof(slots), (grid, 1, 1), (n_groups, 1, 1), (group, 1, 1), (0, 0, 0),
                  LOG_FN(log) if log else LOG_FN(0), None)
    memory = aligned(info.threadgroup_bytes + dynamic_bytes + 128)
    frames = aligned(info.frame_stride * 32 + 128)
    entry = code.ingot_kernel
    entry.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_void_p,
                      ctypes.c_void_p]
    entry.restype = None
    entry(ctypes.addressof(call), 0, n_groups, memory.ctypes.data, frames.ctypes.data)


def widths_for(source):
    """The widths of WIDTHS that a kernel is tried at; the reference's turn depends on its text alone."""
    return [w for w in WIDTHS if LONG or w != 1 or len(WIDTHS) == 1 or zlib.crc32(source.encode()) % 3 == 0]


def run(source, inputs, outputs, grid, group=64, kernel="k", **options):
    """Compiles and runs `source` at the widths that are its turn; yields the outputs of each as a list of arrays.

    `outputs` are (dtype, count) or arrays, which are copied.
    """
    log = options.pop("log", None)
    dynamic = options.pop("dynamic_bytes", 0)
    for width in widths_for(source):
        code = compile_kernel(source, kernel, width, **options)
        made = [shared(o if isinstance(o, np.ndarray) else np.zeros(o[1], o[0])) for o in outputs]
        # in pages of their own: a kernel may rely on the alignment of long4, which NumPy does not give
        buffers = [shared(np.ascontiguousarray(i)) for i in inputs] + made
        in_child(lambda: launch(code, buffers, grid, group, dynamic, log))
        yield width, made
