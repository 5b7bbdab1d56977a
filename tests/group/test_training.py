# SPDX-License-Identifier: Apache-2.0
"""Training in several processes ends where one process with the same batch ends."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from conftest import BUILD

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples" / "python"
PICTURE = pathlib.Path(__file__).parents[2] / "docs" / "images" / "siren.png"
SMALL = ["--input", PICTURE, "--steps", "30", "--limit", "3000", "--seed", "5"]


@pytest.mark.parametrize("precision", ["float", "half"])
def test_siren_bit_for_bit(run, tmp_path, precision):
    files = []
    for n in (0, 2, 4):
        out = run(n, BUILD / "bin" / "train_siren", *SMALL, "--train-batch", "1500", "--precision",
                  precision, "--weights", f"{n}.json", "--output-image", f"{n}.png")
        assert out.count("Finished.") == 1, out # one process speaks
        files.append([(tmp_path / f"{n}.{kind}").read_bytes() for kind in ("json", "png")])
    assert files[0] == files[1] == files[2]


def test_more_processes_than_shares(run, tmp_path):
    for n in (0, 4):  # a batch of 300 is two threadgroups
        run(n, BUILD / "bin" / "train_siren", *SMALL, "--train-batch", "300", "--weights", f"{n}.json",
            "--output-image", "x.png")
    assert (tmp_path / "0.json").read_bytes() == (tmp_path / "4.json").read_bytes()


@pytest.mark.parametrize("model", ["instant-ngp", "fourier"])
def test_other_models(run, tmp_path, model):
    for n in (0, 2):
        run(n, BUILD / "bin" / "ingot", "implicit", "train", "--model", model, *SMALL,
            "--train-batch", "1024", "--weights", f"{n}.json", "--output-image", f"{n}.png")
    one, two = (json.loads((tmp_path / f"{n}.json").read_text()) for n in (0, 2))

    def numbers(x):
        if isinstance(x, dict):
            return [v for k in sorted(x) for v in numbers(x[k])]
        if isinstance(x, list):
            return [v for i in x for v in numbers(i)]
        return [float(x)] if isinstance(x, (int, float)) else []
    one, two = np.array(numbers(one)), np.array(numbers(two))
    assert one.shape == two.shape and np.abs(one - two).max() < 2e-3, np.abs(one - two).max()


def wait_for_line(process, text):
    lines = []
    for line in process.stdout:
        lines.append(line)
        if text in line:
            return
    pytest.fail("".join(lines))


def test_a_dead_process_leaves_a_checkpoint(start, run, tmp_path):
    process = start(2, BUILD / "bin" / "train_siren", "--input", PICTURE, "--limit", "3000", "--steps",
                    "1000000", "--log-interval", "5", "--eval-interval", "1000000", "--weights", "w.json",
                    "--output-image", "w.png")
    wait_for_line(process, "step   10")
    found = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True)
    os.kill(int(found.stdout.split()[1]), signal.SIGKILL)
    out = process.communicate(timeout=60)[0]
    assert process.returncode and "process 0 of 2 ends after step" in out, out
    assert "to go on, add: --resume w.json" in out, out
    reached = json.loads((tmp_path / "w.json").read_text())["training"]["step"]
    assert reached >= 10
    out = run(2, BUILD / "bin" / "train_siren", "--input", PICTURE, "--resume", "w.json", "--steps",
              str(reached + 3), "--weights", "w2.json", "--output-image", "w.png")
    assert "Finished." in out


def test_the_example(run, tmp_path):
    """examples/python/08_distributed.py: the losses of 1, 2 and 4 processes."""
    losses = []
    for n in (1, 2, 4):
        out = run(0, sys.executable, "-m", "ingot.distributed", "-n", n, EXAMPLES / "08_distributed.py",
                  "--steps", "12")
        got = [float(line.split()[-1]) for line in out.splitlines() if line.startswith("step")]
        assert len(got) == 12 and got[-1] < got[0], out
        losses.append(got)
    assert np.abs(np.subtract(losses[0], losses[1])).max() < 1e-5
    assert np.abs(np.subtract(losses[0], losses[2])).max() < 1e-5


def test_the_example_saves_when_told_to_stop(start, tmp_path):
    process = start(2, sys.executable, EXAMPLES / "08_distributed.py", "--steps", "1000000")
    wait_for_line(process, "step 5 ")
    time.sleep(0.2)
    found = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True)
    os.kill(int(found.stdout.split()[0]), signal.SIGKILL)
    out = process.communicate(timeout=60)[0]
    assert process.returncode and "saved to distributed.safetensors" in out, out
    assert (tmp_path / "distributed.safetensors").stat().st_size > 1000


@pytest.mark.parametrize("way", ["host", "nccl"])
@pytest.mark.parametrize("bucket", [1, 4096, 0])
def test_buckets(request, python, bucket, way):
    """Averaged gradients are those of the whole batch, whatever the buckets; halves too."""
    if way == "nccl":
        request.getfixturevalue("nccl")
    out = python(2, f"""
import numpy as np, ingot
from ingot import distributed as d, nn
r, n = d.rank(), d.size()
rng = np.random.default_rng(3)
x, y = rng.normal(size=(64, 12)).astype("f"), rng.normal(size=(64, 3)).astype("f")
net = nn.Sequential(nn.Linear(12, 40), nn.Tanh(), nn.Linear(40, 30), nn.Tanh(), nn.Linear(30, 3))
d.broadcast_parameters(net.parameters())
def gradients(x, y):
    for p in net.parameters(): p.zero_grad()
    nn.functional.mse_loss(net(ingot.tensor(x)), ingot.tensor(y)).backward()
gradients(x, y)
whole = [p.grad.numpy() for p in net.parameters()]
gradients(x[r * 32:r * 32 + 32], y[r * 32:r * 32 + 32])
alone = [p.grad.numpy() for p in net.parameters()]
d.average_gradients(net.parameters(), {bucket})
worst = max(np.abs(p.grad.numpy() - w).max() for p, w in zip(net.parameters(), whole))
assert worst < 1e-6, worst
assert max(np.abs(a - w).max() for a, w in zip(alone, whole)) > 1e-3
h = ingot.tensor(np.ones(5, np.float16)).requires_grad_()
(h * float(r + 1)).sum().backward()
d.average_gradients([h])
assert h.grad.dtype == ingot.float16 and (h.grad.numpy() == 1.5).all()
print("fine")
""")
    assert out.count("fine") == 2 and ("fake NCCL of 2" in out) == (way == "nccl"), out


def test_no_gradient(python):
    out = python(2, """
import ingot
from ingot import distributed as d
try: d.average_gradients([ingot.ones(3).requires_grad_()])
except ingot.GradientError as e: print(e)
""")
    assert out.count("parameter 0 has no gradient") == 2, out
