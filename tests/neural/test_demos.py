# SPDX-License-Identifier: Apache-2.0
"""ingot implicit train and sdf, ingot compress, ingot denoise: what they write, that it is what they
say, and what users type wrong."""
import json
import os
import re
import signal
import subprocess

import numpy as np
import pytest

import np_model as nm
from conftest import BUILD


@pytest.fixture
def picture(ingot):
    ingot("implicit", "picture", "-o", "p.png", "--size", "72x56")
    return nm.read_png(ingot.folder / "p.png")


def psnr(a, b):
    mse = np.mean((a.astype(float) - b.astype(float)) ** 2) / 255 ** 2
    return -10 * np.log10(mse)


def model_of(path):
    f = json.loads(path.read_text())
    layers = [(np.array(x["weights"]), np.array(x["biases"])) for x in f["mlp"]["layers"]]
    return f, layers


@pytest.mark.parametrize("model, least, args", [
    ("fourier", 20, ["--layers", "2", "--hidden", "32", "--frequencies", "32"]),
    ("instant-ngp", 24, ["--levels", "8", "--log2-hashmap-size", "9", "--hidden", "16"]),
    ("siren", 20, ["--layers", "2", "--hidden", "32", "--lr", "3e-3"])])
def test_train(ingot, picture, model, least, args):
    out = ingot("implicit", "train", "--model", model, "-i", "p.png", "-w", "w.json", "-o", "o.png", "--curve", "c.svg",
                "--steps", "120", "-l", "60", "-e", "120", "--train-batch", "1024", *args).stdout
    lines = out.splitlines()
    assert [x.split()[1] for x in lines if x.startswith("step ")] == ["1", "60", "120"]
    assert re.search(r"^ {10}psnr \d+\.\d\d dB  mse 0\.\d{6}$", out, re.M)
    said = float(re.search(r"Finished\. Best loss 0\.\d{6}, PSNR (\d+\.\d\d) dB", out)[1])
    assert "Weights saved to /" in out and "Reconstruction saved to /" in out and "Average training step" in out
    assert said > least
    assert abs(psnr(nm.read_png(ingot.folder / "o.png"), picture) - said) < 0.2
    # The weights are that picture: by the model in NumPy, and by render and eval.
    f, layers = model_of(ingot.folder / "w.json")
    assert f["model"]["type"] == model and f["metadata"]["image"]["width"] == 72 and len(f["samples"]) == 256
    if model == "fourier":
        x, hidden = nm.fourier_features(nm.centres(72, 56), np.array(f["fourier"]["B"])), "relu"
    elif model == "instant-ngp":
        e = f["encoding"]
        table = np.array(e["hash_table"]["data"]).reshape(e["hash_table"]["shape"])
        x, hidden = nm.grid_features(nm.ends(72, 56, 0.0), table), "relu"
    else:
        x, hidden = nm.centres(72, 56), "sine"
    want = nm.forward(layers, x, hidden).reshape(56, 72, 3) * 255
    assert np.abs(nm.read_png(ingot.folder / "o.png") - want).max() < 1.5
    ingot("implicit", "eval", "w.json", "--image", "p.png", "--min-psnr", str(said - 0.3))
    assert (ingot.folder / "c.svg").read_text().startswith("<svg") and "polyline" in (ingot.folder / "c.svg").read_text()


@pytest.mark.parametrize("model", ["fourier", "instant-ngp"])
def test_training_is_reproducible(ingot, picture, model):
    args = ["implicit", "train", "--model", model, "-i", "p.png", "-o", "o.png", "--steps", "30", "--hidden", "16",
            "--log2-hashmap-size", "8", "--train-batch", "512"]
    for name, seed in (("a", "7"), ("b", "7"), ("c", "8")):
        ingot(*args, "-w", f"{name}.json", "--seed", seed)
    a, b, c = ((ingot.folder / f"{x}.json").read_text() for x in "abc")
    assert a == b and a != c


@pytest.mark.parametrize("more", [["--layers", "2"], ["--layers", "0"], ["--layers", "1", "--limit", "100", "--seed", "3"]],
                         ids=lambda a: "".join(a))
def test_siren_is_train_sirens(ingot, picture, more):
    """The same trainer behind both commands: the same weights, to the last digit."""
    args = ["-i", "p.png", "--steps", "40", "--hidden", "16", "--train-batch", "256", *more]
    ingot("implicit", "train", "--model", "siren", *args, "-w", "a.json", "-o", "a.png")
    subprocess.run([BUILD / "bin" / "train_siren", *args, "-w", "b.json", "-o", "b.png"], cwd=ingot.folder,
                   env=ingot.env, check=True, capture_output=True)
    a, b = (json.loads((ingot.folder / f).read_text()) for f in ("a.json", "b.json"))
    assert a["mlp"] == b["mlp"] and a["metadata"] == b["metadata"]
    assert (ingot.folder / "a.png").read_bytes() == (ingot.folder / "b.png").read_bytes()
    assert (ingot.folder / "a.json").read_bytes() == (ingot.folder / "b.json").read_bytes()


def test_interrupted_training_saves_what_there_is(ingot, picture):
    p = ingot.start("implicit", "train", "--model", "fourier", "-i", "p.png", "-w", "w.json", "-o", "o.png", "--steps",
                    "1000000", "--log-interval", "5", "--train-batch", "64", "--hidden", "8")
    for line in p.stdout:
        if line.startswith(b"step   10"):
            p.send_signal(signal.SIGINT)
            break
    out, err = p.communicate(timeout=60)
    assert p.returncode == 130, err
    assert b"Weights saved to" in out and b"Reconstruction saved to" in out
    out = ingot("implicit", "eval", "w.json", "--image", "o.png").stdout  # both are of the same step
    assert float(re.search(r"image .* psnr ([\d.]+) dB", out)[1]) > 40


@pytest.mark.parametrize("model, more", [("siren", ["--layers", "2"]), ("fourier", ["--frequencies", "16"]),
                                         ("instant-ngp", ["--levels", "4", "--log2-hashmap-size", "8"])])
def test_interrupted_runs_resume_to_the_same_end(ingot, picture, model, more):
    run = ["implicit", "train", "--model", model, "-i", "p.png", "--hidden", "16", "--train-batch", "64", "--steps", "3000",
           "--log-interval", "100", "--eval-interval", "10000", *more]
    p = ingot.start(*run, "-w", "cut.json", "-o", "cut.png")
    for line in p.stdout:
        if line.startswith(b"step  200"):
            p.send_signal(signal.SIGINT)
            break
    _, err = p.communicate(timeout=60)
    if p.returncode == 0:
        pytest.skip("finished before it could be interrupted")
    assert p.returncode == 130 and b"--resume cut.json" in err, err
    ingot("implicit", "train", "-i", "p.png", "--resume", "cut.json", "-w", "resumed.json", "-o", "resumed.png")
    ingot(*run, "-w", "whole.json", "-o", "whole.png")
    for kind in ("json", "png"):
        assert (ingot.folder / f"resumed.{kind}").read_bytes() == (ingot.folder / f"whole.{kind}").read_bytes()
    for args in (["--model", "siren" if model != "siren" else "fourier"], ["--hidden", "17"], ["--seed", "1"]):
        assert f"{args[0]} differs" in ingot("implicit", "train", "-i", "p.png", "--resume", "cut.json", *args,
                                             status=1).stderr


def test_sizes_that_others_cannot_have(ingot, picture):
    ingot("implicit", "picture", "-o", "wide.png", "--size", "65501x1")
    assert "Saved to x.ingot" in ingot("compress", "wide.png", "-o", "x.ingot", "--steps", "1", "--bytes", "900").stdout
    p = ingot("implicit", "train", "--model", "instant-ngp", "-i", "p.png", "--levels", "32", "--features", "8",
              "--log2-hashmap-size", "22", status=1)
    assert "too large" in p.stderr, p.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_under_standard_output(ingot, picture):
    for args in (["implicit", "picture", "-o", "q.png"],
                 ["implicit", "train", "--model", "siren", "-i", "p.png", "--steps", "1", "--hidden", "4"]):
        with open("/dev/full", "w") as full:
            p = subprocess.run([BUILD / "bin" / "ingot", *args], cwd=ingot.folder, env=ingot.env, stdout=full,
                               stderr=subprocess.PIPE, text=True)
        assert p.returncode == 1 and "cannot write to standard output" in p.stderr, (args, p.stderr)


def test_results_do_not_overwrite_inputs_or_each_other(ingot, picture):
    before = (ingot.folder / "p.png").read_bytes()
    few = ["--steps", "1", "--hidden", "4"]
    ingot("implicit", "train", "--model", "siren", "-i", "p.png", "-w", "w.json", *few)
    weights = (ingot.folder / "w.json").read_bytes()
    (ingot.folder / "sub").mkdir()
    train = ["implicit", "train", "--model", "siren", "-i", "p.png", *few]
    for args in ([*train, "-o", "p.png"], [*train, "-w", "sub/../p.png"], [*train, "-w", "n", "-o", "./n"], [*train, "-o", "c", "--curve", "c"],
                 ["implicit", "render", "w.json", "-o", "./w.json"], ["implicit", "sdf", "--image", "p.png", "-o", "p.png"],
                 ["implicit", "sdf", "--shape", "star", "-o", "n", "-w", "n"], ["compress", "p.png", "-o", "p.png"],
                 ["compress", "p.png", "--decoded", "p.png"], ["denoise", "p.png", "-o", "p.png"], ["denoise", "p.png", "--noisy", "p.png"]):
        p = ingot(*args, status=1)
        assert ("would" in p.stderr or "same path" in p.stderr) and len(p.stderr.splitlines()) == 1, (args, p.stderr)
        assert (ingot.folder / "p.png").read_bytes() == before and (ingot.folder / "w.json").read_bytes() == weights
        assert not (ingot.folder / "n").exists()


def test_compress_and_back(ingot, picture):
    out = ingot("compress", "p.png", "-o", "x.ingot", "--bytes", "900", "--steps", "400", "--decoded", "d.png").stdout
    size = (ingot.folder / "x.ingot").stat().st_size
    assert size <= 900 and size < (ingot.folder / "p.png").stat().st_size
    said = re.search(r"this network +(\d+) +[\d.]+ +([\d.]+)", out)
    assert int(said[1]) == size and out.count("JPEG quality") == 11
    decoded = nm.read_png(ingot.folder / "d.png")
    assert abs(psnr(decoded, picture) - float(said[2])) < 0.02 and float(said[2]) > 18
    out = ingot("compress", "x.ingot", "-o", "back.png").stdout
    assert f"72 x 56 pixels from {size} bytes" in out
    assert np.abs(nm.read_png(ingot.folder / "back.png").astype(int) - decoded).max() <= 1
    ingot("compress", "x.ingot", "-o", "large.png", "--size", "144x112")
    assert nm.read_png(ingot.folder / "large.png").shape == (112, 144, 3)
    # to a PSNR instead, and one that cannot be reached
    out = ingot("compress", "p.png", "-o", "y.ingot", "--psnr", "17", "--steps", "200").stdout
    assert float(re.search(r"this network +\d+ +[\d.]+ +([\d.]+)", out)[1]) >= 17
    data = bytearray((ingot.folder / "x.ingot").read_bytes())
    data[60] ^= 1
    ingot.write("bad.ingot", bytes(data))
    assert "bad.ingot: the file is damaged" in ingot("compress", "bad.ingot", status=1).stderr
    ingot.write("cut.ingot", bytes(data[:40]))
    assert "cut.ingot" in ingot("compress", "cut.ingot", status=1).stderr


def test_denoise(ingot):
    ingot("implicit", "picture", "-o", "p.png", "--size", "128x96", "--detail", "0.2")
    clean = nm.read_png(ingot.folder / "p.png")
    out = ingot("denoise", "p.png", "--steps", "400", "--hidden", "32", "--radius", "2", "--curve", "c.svg").stdout
    noisy = float(re.search(r"noisy +psnr ([\d.]+) dB", out)[1])
    better = float(re.search(r"network +psnr ([\d.]+) dB", out)[1])
    assert abs(noisy - 20.2) < 0.6 and better > noisy + 5  # 25 of 255 is 20.17 dB, clipping helps a little
    a, b = nm.read_png(ingot.folder / "noisy.png"), nm.read_png(ingot.folder / "denoised.png")
    assert abs(psnr(a, clean) - noisy) < 0.5 and abs(psnr(b, clean) - better) < 1.5
    assert (ingot.folder / "c.svg").exists()


def star_distance(p):
    """The distance to the star's outline, by brute force over its edges."""
    angle = np.pi * (np.arange(10) / 5 - 0.5)
    r = np.where(np.arange(10) % 2, 0.34, 0.8)
    v = np.stack([r * np.cos(angle), r * np.sin(angle)], -1)
    best, inside = np.full(len(p), np.inf), np.zeros(len(p), bool)
    for a, b in zip(v, np.roll(v, -1, 0)):
        t = np.clip(((p - a) @ (b - a)) / ((b - a) @ (b - a)), 0, 1)
        best = np.minimum(best, np.linalg.norm(p - a - t[:, None] * (b - a), axis=-1))
        crosses = ((a[1] > p[:, 1]) != (b[1] > p[:, 1]))
        with np.errstate(divide="ignore", invalid="ignore"):
            at = (b[0] - a[0]) * (p[:, 1] - a[1]) / (b[1] - a[1]) + a[0]
        inside ^= crosses & (p[:, 0] < at)
    return np.where(inside, -best, best)


def sdf_of(path, p):
    f, layers = model_of(path)
    x = p
    for i, (w, b) in enumerate(layers):
        x = x @ w.T + b
        if i + 1 < len(layers):
            x = np.sin(x * (f["model"].get("omega", 30) if i == 0 else 1))
    return f, x[:, 0]


def test_sdf_of_a_shape(ingot):
    out = ingot("implicit", "sdf", "--shape", "star", "--steps", "300", "--hidden", "32", "--layers", "2",
                "--size", "120x80").stdout
    assert "root mean square error" in out
    p = np.random.default_rng(1).uniform(-1, 1, (4000, 2))
    f, d = sdf_of(ingot.folder / "sdf.json", p)
    assert f["metadata"]["mode"] == "sdf" and len(f["samples"][0]["value"]) == 1
    assert np.sqrt(np.mean((d - star_distance(p)) ** 2)) < 0.05
    assert nm.read_png(ingot.folder / "sdf.png").shape == (80, 120, 3)
    first = (ingot.folder / "sdf.png").read_bytes()
    ingot("implicit", "sdf", "sdf.json", "-o", "again.png", "--size", "120x80")
    assert (ingot.folder / "again.png").read_bytes() == first
    assert "sdf" in ingot("implicit", "render", "sdf.json", status=1).stderr


def test_sdf_of_a_silhouette_and_in_space(ingot):
    y, x = np.mgrid[0:64, 0:64]
    disc = np.where((x - 31.5) ** 2 + (y - 31.5) ** 2 < 20 ** 2, 0, 255).astype(np.uint8)
    nm.write_png(ingot.folder / "disc.png", np.repeat(disc[:, :, None], 3, 2))
    ingot("implicit", "sdf", "--image", "disc.png", "--steps", "300", "--hidden", "32", "--layers", "1", "--size", "64")
    p = np.random.default_rng(2).uniform(-0.95, 0.95, (2000, 2))
    _, d = sdf_of(ingot.folder / "sdf.json", p)
    assert np.sqrt(np.mean((d - (np.linalg.norm(p, axis=-1) - 20 / 32)) ** 2)) < 0.05
    nm.write_png(ingot.folder / "white.png", np.full((8, 8, 3), 255))
    assert "nothing is inside" in ingot("implicit", "sdf", "--image", "white.png", status=1).stderr
    ingot("implicit", "sdf", "--shape", "box", "--steps", "200", "--hidden", "32", "--layers", "1", "--size", "64x64",
          "-o", "box.png")
    box = nm.read_png(ingot.folder / "box.png").astype(int)
    warm = box[:, :, 0] > box[:, :, 2] + 30  # the body, not the background
    assert 0.05 < warm.mean() < 0.6 and warm[24:40, 24:40].mean() > 0.5 and not warm[:4].any()


def test_command_lines(ingot, picture):
    for args in (["implicit", "train"], ["implicit", "train", "--model", "gan"], ["implicit", "train", "--model", "fourier"],
                 ["implicit", "train", "--model", "siren", "-i", "p.png", "--steps", "many"],
                 ["implicit", "train", "--model", "siren", "-i", "p.png", "--lr", "x"],
                 ["implicit", "train", "--model", "siren", "-i", "p.png", "--hidden", "5000"],
                 ["implicit", "train", "--model", "siren", "-i", "p.png", "--what"],
                 ["implicit", "sdf"], ["implicit", "sdf", "--shape", "dog"], ["implicit", "sdf", "--shape", "star", "w.json"],
                 ["compress"], ["compress", "p.png", "--bits", "99"], ["compress", "p.png", "--bytes", "-4"],
                 ["compress", "p.png", "--psnr", "none"], ["compress", "p.png", "--size", "x"],
                 ["denoise"], ["denoise", "p.png", "--radius", "9"], ["denoise", "p.png", "--noise"]):
        r = ingot(*args, status=2)
        assert r.stderr.startswith("ingot ") and r.stderr.count("\n") == 1 and not r.stdout, args
    for args in (["implicit", "train", "--help"], ["implicit", "sdf", "-h"], ["compress", "--help"], ["denoise", "-h"]):
        r = ingot(*args)
        assert r.stdout.startswith("usage: ") and max(map(len, r.stdout.splitlines())) <= 100
    assert "Invalid integer for --steps" in ingot("implicit", "train", "--model", "siren", "-i", "p.png", "--steps", "1.5",
                                                  status=2).stderr


def test_bad_input(ingot, picture):
    ingot.write("text.png", "no picture")
    for args, text in ((["implicit", "train", "--model", "siren", "-i", "none.png"], "Failed to open image at none.png"),
                       (["implicit", "train", "--model", "fourier", "-i", "text.png"], "Failed to decode image at text.png"),
                       (["implicit", "train", "--model", "siren", "-i", "p.png", "-w", "no/w.json"], "cannot write 'no/w.json'"),
                       (["implicit", "train", "--model", "siren", "-i", "p.png", "--curve", "no/c.svg"], "cannot write 'no/c.svg'"),
                       (["implicit", "sdf", "none.json"], "none.json"),
                       (["compress", "none.png"], "none.png"), (["compress", "text.png"], "Failed to decode image at text.png"),
                       (["compress", "p.png", "-o", "no/x.ingot"], "cannot write 'no/x.ingot'"),
                       (["compress", "."], "Is a directory"),
                       (["denoise", "none.png"], "none.png"), (["denoise", "p.png", "-o", "no/o.png"], "cannot write 'no/o.png'")):
        r = ingot(*args, status=1)
        assert text in r.stderr and r.stderr.count("\n") == 1, r.stderr
    nm.write_png(ingot.folder / "one.png", np.array([[[200, 100, 50]]], np.uint8))
    for model in ("siren", "fourier", "instant-ngp"):  # one pixel is a picture too
        ingot("implicit", "train", "--model", model, "-i", "one.png", "--steps", "3", "--hidden", "8",
              "--log2-hashmap-size", "4")
    assert "must be larger" in ingot("denoise", "one.png", status=1).stderr
