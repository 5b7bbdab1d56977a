# SPDX-License-Identifier: Apache-2.0
"""The models in NumPy, in double precision, written from their definitions: what the commands are
compared with. Also PNG in and out, and weights files as other trainers write them."""
import json
import struct
import zlib

import numpy as np


def read_png(path):
    """An 8-bit RGB or RGBA PNG without interlacing: (height, width, 3) bytes."""
    data, pos, idat = open(path, "rb").read(), 8, b""
    while pos < len(data):
        n, kind = struct.unpack(">I4s", data[pos:pos + 8])
        body = data[pos + 8:pos + 8 + n]
        if kind == b"IHDR":
            width, height, depth, color = struct.unpack(">IIBB", body[:10])
            assert depth == 8 and color in (2, 6)
        elif kind == b"IDAT":
            idat += body
        pos += 12 + n
    step = 3 if color == 2 else 4
    raw = np.frombuffer(zlib.decompress(idat), np.uint8).reshape(height, width * step + 1)
    out = np.zeros((height, width * step), np.int64)
    for y in range(height):
        kind, line = raw[y, 0], raw[y, 1:].astype(np.int64)
        up = out[y - 1] if y else np.zeros(width * step, np.int64)
        if kind in (0, 2):
            out[y] = (line + (up if kind else 0)) & 255
            continue
        row = out[y]
        for i in range(width * step):
            a = row[i - step] if i >= step else 0
            b, c = up[i], up[i - step] if i >= step else 0
            if kind == 1:
                p = a
            elif kind == 3:
                p = (a + b) // 2
            else:
                e = a + b - c
                p = min((abs(e - a), 0, a), (abs(e - b), 1, b), (abs(e - c), 2, c))[2]
            row[i] = (line[i] + p) & 255
    return out.reshape(height, width, step)[:, :, :3].astype(np.uint8)


def write_png(path, pixels):
    height, width, _ = pixels.shape

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    raw = b"".join(b"\0" + pixels[y].astype(np.uint8).tobytes() for y in range(height))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
                     + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))


def layers_of(rng, sizes, bound=None):
    out = []
    for a, b in zip(sizes, sizes[1:]):
        r = np.sqrt(6 / a) if bound is None else bound
        out.append((rng.uniform(-r, r, (b, a)), rng.uniform(-r, r, b)))
    return out


def forward(layers, x, hidden, omega=30.0, hidden_omega=1.0):
    for i, (w, b) in enumerate(layers):
        z = x @ w.T + b
        if i + 1 == len(layers):
            return 1 / (1 + np.exp(-z))
        x = np.sin(z * (omega if i == 0 else hidden_omega)) if hidden == "sine" else np.maximum(z, 0)


def fourier_features(x, matrix):  # matrix (2, n)
    turns = 2 * np.pi * (x @ matrix)
    return np.concatenate([np.sin(turns), np.cos(turns)], -1)


def grid_features(x, table, base=16, top=2048):  # table (levels, size, features)
    n_levels, size, _ = table.shape
    low, high = np.floor(np.log(base)), np.floor(np.log(top))
    out = []
    for level in range(n_levels):
        p = x * np.exp(low + (high - low) * (level / (n_levels - 1) if n_levels > 1 else 0))
        cell = np.floor(p).astype(np.int64)
        t = p - cell
        sum_ = 0
        for dx in (0, 1):
            for dy in (0, 1):
                cx, cy = cell[:, 0] + dx, cell[:, 1] + dy
                h = ((cx & 0xffffffff) ^ ((cy * 2654435761) & 0xffffffff)) % size
                weight = (t[:, 0] if dx else 1 - t[:, 0]) * (t[:, 1] if dy else 1 - t[:, 1])
                sum_ = sum_ + weight[:, None] * table[level][h]
        out.append(sum_)
    return np.concatenate(out, -1)


def centres(width, height):
    x, y = np.meshgrid((np.arange(width) + 0.5) / width * 2 - 1, (np.arange(height) + 0.5) / height * 2 - 1)
    return np.stack([x, y], -1).reshape(-1, 2)


def ends(width, height, low=-1.0):
    x, y = np.meshgrid(np.linspace(low, 1, width), np.linspace(low, 1, height))
    return np.stack([x, y], -1).reshape(-1, 2)


def layers_json(layers):
    return [{"weights": w.tolist(), "biases": b.tolist()} for w, b in layers]


def to_float32(layers):
    return [(w.astype(np.float32).astype(float), b.astype(np.float32).astype(float)) for w, b in layers]


def write_json(path, value, **kw):
    path.write_text(json.dumps(value, **kw))
    return path
