#!/usr/bin/env python3
"""The training and rendering of bench_siren.c in PyTorch, for comparison.

usage: bench_siren_torch.py [--threads N] [--compile] [--batches 1024,2048,...]

Prints a line for each case: name, samples (pixels) per second of time, and per second of CPU time. Written with care: no Python work
inside a step but the calls, the fused Adam, gradients set to None, data in one tensor each, samples
drawn with replacement; rendering in inference mode in pieces of 16384 pixels. --compile puts the
network through torch.compile, which needs a C++ compiler and half a minute.
"""
import argparse
import math
import time

import torch
import torch.nn.functional as F


class Siren(torch.nn.Module):
    """2 -> 64, 8 x 64 -> 64 with sines (omega 30, then 1), 64 -> 3 with a sigmoid."""

    def __init__(self, hidden=64, layers=8):
        super().__init__()
        sizes = [2] + [hidden] * (layers + 1) + [3]
        self.linear = torch.nn.ModuleList(torch.nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        with torch.no_grad():
            for i, l in enumerate(self.linear):
                bound = 1 / 2 if i == 0 else math.sqrt(6 / l.in_features)
                l.weight.uniform_(-bound, bound)
                l.bias.uniform_(-bound, bound)
            self.linear[-1].bias.zero_()

    def forward(self, x):
        x = torch.sin(30 * self.linear[0](x))
        for l in self.linear[1:-1]:
            x = torch.sin(l(x))
        return torch.sigmoid(self.linear[-1](x))


def picture(n=512):
    c = (torch.arange(n) + 0.5) / n * 2 - 1
    y, x = torch.meshgrid(c, c, indexing="ij")
    xy = torch.stack([x, y], -1).reshape(-1, 2).contiguous()
    rgb = torch.stack([torch.sin(5 * x + 3 * y), torch.cos(7 * x * y), torch.sin(9 * (x * x + y * y))], -1)
    return xy, (rgb.reshape(-1, 3) * 0.5 + 0.5).contiguous()


def train(net, batch, seconds):
    xy, rgb = picture()
    adam = torch.optim.Adam(net.parameters(), lr=1e-3, fused=True)

    def step():
        i = torch.randint(0, xy.shape[0], (batch,))
        loss = F.mse_loss(net(xy[i]), rgb[i])
        adam.zero_grad(set_to_none=True)
        loss.backward()
        adam.step()

    for _ in range(3):
        step()
    n, began, cpu = 0, time.perf_counter(), time.process_time()
    while True:
        step()
        n += 1
        took = time.perf_counter() - began
        if took > seconds:
            return n * batch / took, n * batch / (time.process_time() - cpu)


def render(net, width, height):
    c = torch.rand(width * height, 2) * 2 - 1
    with torch.inference_mode():
        net(c[:16384])
        began, cpu = time.perf_counter(), time.process_time()
        out = [(net(p) * 255).round().to(torch.uint8) for p in c.split(16384)]
        took, cpu = time.perf_counter() - began, time.process_time() - cpu
    n = sum(len(o) for o in out)
    return n / took, n / cpu


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--seconds", type=float, default=1.0)
    p.add_argument("--compile", action="store_true")
    p.add_argument("--batches", default="1024,2048,4096,16384")
    p.add_argument("--render", action="store_true")
    a = p.parse_args()
    torch.set_num_threads(a.threads)
    torch.manual_seed(1)
    net = Siren()
    if a.compile:
        net = torch.compile(net)
    for batch in [int(b) for b in a.batches.split(",") if b]:
        print("train {}\t{:.0f}\t{:.0f}".format(batch, *train(net, batch, a.seconds)), flush=True)
    if a.render:
        print("render 1080p\t{:.0f}\t{:.0f}".format(*render(net, 1920, 1080)), flush=True)


if __name__ == "__main__":
    main()
