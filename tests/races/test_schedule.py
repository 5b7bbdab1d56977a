# SPDX-License-Identifier: Apache-2.0
"""INGOT_SCHEDULE: a seed gives an order, another seed another one, and all of them are legal. And
values of the variables that mean nothing: one line."""
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
PROGRAM = """
import sys, numpy as np, pymetal as pm
name, grid, group = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
device = pm.create_system_default_device()
library = device.new_library_with_source(open(sys.argv[1]).read())
pipeline = device.new_compute_pipeline_state(library.new_function(name))
buffers = [device.new_buffer(4096, 0) for _ in range(2)]
commands = device.new_command_queue().command_buffer()
encoder = commands.compute_command_encoder()
encoder.set_compute_pipeline_state(pipeline)
for i, buffer in enumerate(buffers[:1 if name == "hasty" else 2]):
    encoder.set_buffer(buffer, 0, i)
encoder.dispatch_threads(grid, 1, 1, group, 1, 1)
encoder.end_encoding()
commands.commit()
commands.wait_until_completed()
print(*np.frombuffer(buffers[0 if name == "hasty" else 1].contents(), np.uint32)[:int(sys.argv[5])])
"""


def run(name, grid, group, n, **environment):
    done = subprocess.run([sys.executable, "-c", PROGRAM, HERE / "order.metal", name, str(grid),
                           str(group), str(n)], env={**os.environ, **environment},
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return [int(v) for v in done.stdout.split()], done.stderr


def test_threadgroups():
    first, _ = run("groups", 32 * 50, 32, 50, INGOT_SCHEDULE="1")
    again, _ = run("groups", 32 * 50, 32, 50, INGOT_SCHEDULE="1")
    other, _ = run("groups", 32 * 50, 32, 50, INGOT_SCHEDULE="2")
    assert sorted(first) == list(range(50)) and sorted(other) == list(range(50))
    assert first == again, (first, again)
    assert first != other and first != list(range(50)) != other


def test_simdgroups():
    seen = {tuple(run("simdgroups", 512, 512, 16, INGOT_SCHEDULE=str(seed))[0])
            for seed in range(4)}
    assert len(seen) == 4 and all(sorted(s) == list(range(16)) for s in seen), seen


def test_rounds_end_at_barriers():
    order, _ = run("rounds", 256, 256, 24, INGOT_SCHEDULE="5")
    rounds = [order[i:i + 8] for i in (0, 8, 16)]
    assert all(sorted(r) == list(range(8)) for r in rounds), order
    assert rounds[0] != rounds[1] or rounds[1] != rounds[2]


def test_order_shows_what_hangs_on_it():
    found = {tuple(run("hasty", 256, 256, 512, INGOT_SCHEDULE=str(seed))[0]) for seed in range(6)}
    assert len(found) > 1


def test_races_with_a_schedule():
    order, _ = run("groups", 32 * 50, 32, 50, INGOT_SCHEDULE="1", MTL_SHADER_VALIDATION="races")
    assert order == run("groups", 32 * 50, 32, 50, INGOT_SCHEDULE="1")[0]


@pytest.mark.parametrize("variable, value, line", [
    ("INGOT_SCHEDULE", "soon", "Ingot: INGOT_SCHEDULE: 'soon' is no seed: a number from 0 to "
                               "18446744073709551615"),
    ("MTL_SHADER_VALIDATION", "rases", "Ingot: MTL_SHADER_VALIDATION: 'rases' is not known: 0, 1, "
                                       "or a list of races and nan"),
])
def test_wrong_values(variable, value, line):
    order, said = run("groups", 32, 32, 1, **{variable: value})
    assert order == [0]
    assert [s for s in said.splitlines() if s] == [line]
