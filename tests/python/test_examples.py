# SPDX-License-Identifier: Apache-2.0
"""Every program of examples/python runs, and prints numbers of the right kind."""

import os
import pathlib
import re
import struct
import subprocess
import sys
import zlib

import pytest

from helpers import PRELOAD

ROOT = pathlib.Path(os.environ.get("INGOT_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
FOLDER = ROOT / "examples" / "python"


def example(name, *arguments):
    done = subprocess.run([sys.executable, str(FOLDER / name), *arguments], text=True, timeout=300,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, **PRELOAD})
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert done.stderr == ""
    return done.stdout


def numbers(pattern, text, count):
    """Numbers of a repeated line: `count` of them, finite and positive."""
    found = [float(number) for number in re.findall(pattern, text)]
    assert len(found) == count and all(0 < number < 1e9 for number in found), (pattern, text)
    return found


def speeds(pattern, text, count):
    """Times and ratios of a repeated line. A busy machine may round them to 0: nothing is asked but their number."""
    found = re.findall(pattern, text)
    assert len(found) == count, (pattern, text)


def test_metal4():
    text = example("07_metal4_tensors.py")
    assert len(re.findall(r"turn \d: 300 x 500 results, largest error \S+e-0\d", text)) == 3


def test_blur():
    pytest.importorskip("scipy")
    text = example("01_image_blur.py", "--quick")
    assert "Performance Comparison: CPU vs GPU" in text
    for size in (256, 512, 1024):
        assert f"({size}x{size}):" in text
    speeds(r"  CPU: ([\d.]+) ms", text, 3)
    speeds(r"  GPU: ([\d.]+) ms", text, 3)
    speeds(r"  Speedup: ([\d.]+)x", text, 3)
    assert "All results match" in text


def test_blur_without_scipy(tmp_path):
    (tmp_path / "scipy.py").write_text("raise ImportError('hidden')")
    done = subprocess.run([sys.executable, str(FOLDER / "01_image_blur.py"), "--quick"], text=True,
                          stdout=subprocess.PIPE, timeout=300,
                          env={**os.environ, **PRELOAD, "PYTHONPATH": os.pathsep.join(
                              [str(tmp_path), os.environ.get("PYTHONPATH", "")])})
    assert done.returncode == 0 and "SciPy is not installed" in done.stdout
    speeds(r"  GPU: ([\d.]+) ms", done.stdout, 3)


def test_naive():
    text = example("02_matrix_multiply_naive.py")
    assert "Large (512x512) @ Large (512x512):" in text and "All results match" in text
    speeds(r"  NumPy: [\d.]+ ms \((\d+) GFLOPS\)", text, 3)
    speeds(r"  Metal: ([\d.]+) ms \(\d+ GFLOPS\)", text, 3)


def test_tiled():
    text = example("02_matrix_multiply_tiled.py", "--quick")
    assert "Large (1024x1024) @ Large (1024x1024):" in text and "All results match" in text
    speeds(r"Metal \(Tiled\): +[\d.]+ ms \((\d+) GFLOPS\)", text, 3)
    speeds(r"Improved over naive by ~([\d.]+)x", text, 3)


def test_optimized():
    text = example("02_matrix_multiply_optimized.py", "--quick")
    assert "Large (1024x1024):" in text and "All results match" in text
    speeds(r"  Metal: +[\d.]+ ms \((\d+) GFLOPS\)", text, 2)


def test_triangle(tmp_path):
    path = tmp_path / "triangle.ppm"
    text = example("03_triangle_rendering.py", str(path))
    assert re.match(r"Rendering 512x512 triangle on .+\nCompiling shaders...\n"
                    r"Creating render pipeline...\nRendering triangle...\n", text)
    assert f"Image saved to: {path}" in text
    words = path.read_text().split()
    assert words[:7] == ["P3", "512", "512", "255", "26", "26", "38"]
    assert len(words) == 4 + 3 * 512 * 512


def test_advanced():
    text = example("04_advanced_features.py")
    for line in ("=== Event Synchronization Demo ===",
                 "Event synchronization verified: all values = 3.0",
                 "=== Shared Events Demo ===", "Testing shared event signaling...",
                 "Initial value: 0", "After signal: 100", "Final value: 999",
                 "=== Capture Scopes Demo ===", "Capture scope began - GPU work is now traceable",
                 "Computation verified: first 5 results = [0. 2. 4. 6. 8.]"):
        assert line in text.splitlines(), line


def test_mlp():
    text = example("05_mlp_training.py", "--steps", "300")
    losses = numbers(r"loss ([\d.]+)", text, 4)
    assert losses[-1] < 0.3 < losses[0]
    assert numbers(r"right: ([\d.]+) %", text, 1)[0] > 90
    assert numbers(r"memory used again: ([\d.]+) %", text, 1)[0] > 90


def test_siren(tmp_path):
    path = tmp_path / "siren.png"
    text = example("06_siren.py", "--steps", "200", str(path))
    assert numbers(r"PSNR ([\d.]+) dB", text, 5)[-1] > 22
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", data[16:24]) == (128, 64)
    at = data.index(b"IDAT")
    rows = zlib.decompress(data[at + 4:at + 4 + struct.unpack(">I", data[at - 4:at])[0]])
    assert len(rows) == 64 * (1 + 128 * 3)


def test_distributed():
    text = example("08_distributed.py", "--steps", "60")  # with several processes: tests/group
    losses = numbers(r"loss ([\d.]+)", text, 60)
    assert losses[-1] < 0.8 * losses[0]


def test_all_are_run():
    """A new example needs a test."""
    source = pathlib.Path(__file__).read_text()
    for path in FOLDER.glob("[0-9]*.py"):
        assert path.name in source, path.name


def test_window():
    text = example("05_window.py", "5")  # off-screen where there is no display
    assert "5 frames" in text
