# SPDX-License-Identifier: Apache-2.0
"""The kernels of this folder through the public API, on the device that INGOT_DEVICE names (the CPU without it):
`make test DEVICE=cuda:0` is this, on a machine with a GPU. Runs that test_exec.py's comments ask for in ways that no
program can (tensors as bare records, accesses outside of arrays) are left out, and say so.

    python3 test_device.py [PART OF A NAME ...]     a line for each run, and how many failed: needs no pytest
"""
import os
import sys

import numpy as np
import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_exec as te  # noqa: E402

import pymetal as pm  # noqa: E402

def left_out(run):
    if run.tensors or any("handle(" in text for text in run.args.values()) or any(i >= 100 for i in run.args):
        return "tensors as records"
    if run.outside:
        return "accesses outside of its arrays"
    return None


class Device:
    """The device named, or the one that followed when it was lost."""

    def __init__(self):
        self.made, self.device = {}, None

    def get(self):
        device = pm.create_system_default_device()
        assert device is not None, "there is no such device"
        if device != self.device:
            self.made, self.device, self.queue = {}, device, device.new_command_queue()
        return device

    def library(self, path):
        if path not in self.made:
            self.made[path] = self.get().new_library_with_source(open(path).read())
        return self.made[path]


HERE = Device()


def pipeline_of(run):
    device = HERE.get()
    library = HERE.library(run.path)
    if not run.constants:
        return device.new_compute_pipeline_state(library.new_function(run.kernel))
    values = pm.FunctionConstantValues.function_constant_values()
    for text in run.constants:
        name, value = text.split("=")
        value = {"true": True, "false": False, "1": True, "0": False}.get(value, value)
        kind = pm.DataType.Bool if isinstance(value, bool) else pm.DataType.Float if "." in value else pm.DataType.Int
        value = value if isinstance(value, bool) else float(value) if "." in value else int(value)
        if name.isdigit():
            values.set_constant_value(value, kind, int(name))
        else:
            values.set_constant_value_with_name(value, kind, name)
    return device.new_compute_pipeline_state(library.new_function_with_constant_values(run.kernel, values))


def check(run):
    device, env, buffers = HERE.get(), te.names_of(run), {}
    pipeline = pipeline_of(run)
    for index, text in run.args.items():
        value = np.ascontiguousarray(eval(text, env)).ravel()
        env[f"a{index}"] = value.copy()
        buffers[index] = device.new_buffer(max(value.nbytes, 1), pm.ResourceStorageModeShared), value.dtype
        buffers[index][0].contents()[:value.nbytes] = value.view(np.uint8)
    commands = HERE.queue.command_buffer()
    encoder = commands.compute_command_encoder()
    encoder.set_compute_pipeline_state(pipeline)
    for index, (buffer, _) in buffers.items():
        encoder.set_buffer(buffer, 0, index)
    for index, n_bytes in run.memory.items():
        encoder.set_threadgroup_memory_length((int(n_bytes) + 15) // 16 * 16, index)
    encoder.dispatch_threads(*run.grid, *run.group)
    encoder.end_encoding()
    commands.commit()
    commands.wait_until_completed()
    assert commands.status == pm.CommandBufferStatus.Completed, str(commands.error)
    for index, text in list(run.expect.items()) + list(run.close.items()):
        got = buffers[index][0].contents().view(buffers[index][1])
        want = np.asarray(eval(text, env)).astype(got.dtype).ravel()
        same = (got == want) | ((got != got) & (want != want))
        if index in run.close:
            same |= np.isclose(got, want, rtol=1e-5, atol=1e-5)
        at = int(np.argmin(same))
        assert same.all(), (f"arg {index}[{at}] is {got[at]!r}, not {want[at]!r}; "
                            f"{int((~same).sum())} of {same.size} differ")


@pytest.mark.parametrize("run", te.RUNS, ids=str)
def test_on_device(run):
    why = left_out(run)
    if why:
        pytest.skip(why)
    check(run)


def main():
    passed = failed = skipped = 0
    for run in te.RUNS:
        if len(sys.argv) > 1 and not any(part in str(run) for part in sys.argv[1:]):
            continue
        why = left_out(run)
        if why:
            skipped += 1
            continue
        try:
            check(run)
            passed += 1
        except Exception as error:  # each has its line
            failed += 1
            print(f"FAIL {run}: {str(error)[:600]}", flush=True)
    print(f"{HERE.get().name}: {passed} passed, {failed} failed, {skipped} left out")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
