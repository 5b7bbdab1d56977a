# SPDX-License-Identifier: Apache-2.0
"""One network trained by several processes, each on its part of every batch.

    python -m ingot.distributed -n 4 08_distributed.py [--steps N]     # or: mpirun -n 4 python 08_distributed.py
    python 08_distributed.py                                           # the same in one process

The processes draw the same batches and take their rows by RANK and WORLD_SIZE; their gradients are
averaged, so that every process takes the step that one would take alone with the whole batch, and
the losses are the same for every number of processes up to rounding. If one of them ends, the
others are told (SIGTERM): the network as it is then is saved to distributed.safetensors.
"""

import argparse
import os
import signal
import sys

import numpy as np

import ingot
from ingot import distributed, nn, optim

BATCH = 256


class Stop(Exception):
    """Another process ended, or somebody wants this one to end."""


def stop(*_):
    raise Stop


def batch(step):
    """Points of two spirals, and which of the two each belongs to."""
    random = np.random.default_rng(step)
    which = random.integers(0, 2, BATCH)
    along = random.uniform(0.2, 3.0, BATCH)
    angle = along * 2 + which * np.pi
    points = np.stack([along * np.cos(angle), along * np.sin(angle)], 1)
    return points.astype(np.float32), which.astype(np.int32)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--steps", type=int, default=300)
    steps = options.parse_args().steps
    rank = int(os.environ.get("RANK", distributed.rank()))
    size = int(os.environ.get("WORLD_SIZE", distributed.size()))
    signal.signal(signal.SIGTERM, stop)

    ingot.manual_seed(7)
    net = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2))
    distributed.broadcast_parameters(net.parameters())
    adam = optim.Adam(net.parameters(), lr=3e-3)
    mine = slice(rank * BATCH // size, (rank + 1) * BATCH // size)
    step = 0
    try:
        for step in range(1, steps + 1):
            points, which = batch(step)
            adam.zero_grad()
            loss = nn.functional.cross_entropy(net(ingot.tensor(points[mine])), ingot.tensor(which[mine]))
            loss.backward()
            distributed.average_gradients(net.parameters())
            adam.step()
            mean = distributed.all_reduce(loss, "mean").item()
            if rank == 0:
                print(f"step {step} loss {mean:.6f}", flush=True)
    except (Stop, ingot.GroupError):
        ingot.save("distributed.safetensors", net.state_dict())
        print(f"process {rank}: the network before step {step} ends is saved to distributed.safetensors",
              file=sys.stderr, flush=True)
        os._exit(1)  # the others are not waited for


if __name__ == "__main__":
    main()
