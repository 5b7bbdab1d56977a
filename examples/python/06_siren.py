#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A picture as a network: a SIREN learns the colour of every pixel from its place.

    PYTHONPATH=build/python python3 examples/python/06_siren.py [--steps N] [OUT.png]

Left the picture, right what the network has made of it. Needs nothing but ingot: the picture is
computed, and the PNG file is written by hand.
"""

import argparse
import struct
import zlib

import ingot
from ingot import nn, optim


def siren(widths, w0=30.0):
    """sin(w0 (W x + b)) in every layer but the last; W within 1 / n, then sqrt(6 / n) / w0."""
    layers = []
    for i, (n, m) in enumerate(zip(widths, widths[1:])):
        layer = nn.Linear(n, m, seed=2 * i + 1)
        bound = 1 / n if i == 0 else (6 / n) ** 0.5 / w0
        nn.init.uniform_(layer.weight, -bound, bound, seed=100 + i)
        layers += [layer, nn.Sine(w0)]
    return nn.Sequential(*layers[:-1])


def picture(size):
    """Places (size * size, 2) and colours (size * size, 3), from -1 to 1: rings in a square."""
    line = ingot.linspace(-1, 1, size)
    x, y = (t.reshape(-1) for t in ingot.meshgrid(line, line))
    r = (x * x + y * y).sqrt()
    inside = (r < 0.8).float() * 2 - 1
    return ingot.stack([x, y], 1), ingot.stack([(r * 14).sin() * inside, x * y, inside * y], 1)


def write_png(path, rgb):
    """rgb: (height, width, 3), from 0 to 255."""
    height, width, _ = rgb.shape
    rows = b"".join(b"\0" + bytes(v for pixel in row for v in pixel)
                    for row in rgb.clamp(0, 255).round().int().tolist())
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        for kind, data in ((b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
                           (b"IDAT", zlib.compress(rows)), (b"IEND", b"")):
            file.write(struct.pack(">I", len(data)) + kind + data
                       + struct.pack(">I", zlib.crc32(kind + data)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("out", nargs="?", default="siren.png")
    options = parser.parse_args()
    size = 64
    places, colours = picture(size)
    net = siren([2, 64, 64, 3])
    optimizer = optim.Adam(net.parameters(), lr=1e-3)
    for step in range(options.steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(places), colours)
        loss.backward()
        optimizer.step()
        if step % 50 == 0 or step == options.steps - 1:
            value = loss.item()
            print(f"step {step:4d}  loss {value:.5f}  "
                  f"PSNR {10 * ingot.log10(4 / ingot.tensor(value)).item():.1f} dB")
    with ingot.no_grad():
        both = ingot.concat([colours.reshape(size, size, 3), net(places).reshape(size, size, 3)], 1)
    write_png(options.out, (both + 1) * 127.5)
    print(f"Image saved to: {options.out}")


if __name__ == "__main__":
    main()
