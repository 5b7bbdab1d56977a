#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A network learns which arm of a spiral a point belongs to.

    PYTHONPATH=build/python python3 examples/python/05_mlp_training.py [--steps N]

No NumPy, no data: points are made on the device. Shows modules, AdamW with a schedule, evaluation
without gradients, saving and loading, and how often the pool's memory was used again.
"""

import argparse
import os
import tempfile

import ingot
from ingot import nn, optim

ARMS = 3


def spiral(n, seed):
    """n points in the plane (n, 2) and the number of their arm (n)."""
    arm = ingot.randint(0, ARMS, (n,), seed=seed)
    radius = ingot.rand(n, seed=seed + 1)
    angle = radius * 4 + arm.float() * (2 * ingot.pi / ARMS) + ingot.randn(n, seed=seed + 2) * 0.15
    return ingot.stack([radius * angle.cos(), radius * angle.sin()], axis=1), arm


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=600)
    steps = parser.parse_args().steps

    net = nn.Sequential(nn.Linear(2, 64, seed=1), nn.ReLU(), nn.Linear(64, 64, seed=2), nn.ReLU(),
                        nn.Linear(64, ARMS, seed=3))
    optimizer = optim.AdamW(net.parameters(), lr=1e-2)
    schedule = optim.CosineLR(optimizer, period=steps, warmup=20)
    for step in range(steps):
        x, y = spiral(256, seed=10 * step)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        nn.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 100 == 0 or step == steps - 1:
            print(f"step {step:4d}  loss {loss.item():.4f}  rate {optimizer.lr:.2e}")

    # Evaluation, of what was saved and loaded again.
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "spiral.safetensors")
        net.save(path)
        with ingot.no_grad():
            nn.init.zeros_(net[0].weight)
        net.load(path)
    net.eval()
    x, y = spiral(2000, seed=-1000)
    with ingot.no_grad():
        right = (net(x).argmax(axis=1) == y).float().mean().item()
    print(f"right: {100 * right:.1f} %")
    print(f"memory used again: {100 * ingot.pool().reuse_rate:.1f} %")


if __name__ == "__main__":
    main()
