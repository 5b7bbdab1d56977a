# SPDX-License-Identifier: Apache-2.0
"""ingot implicit render, eval, picture: against the models in NumPy, and what users type wrong."""
import json

import numpy as np
import pytest

import np_model as nm


def siren_file(path, sizes, seed=1, **more):
    layers = nm.layers_of(np.random.default_rng(seed), sizes)
    layers[0] = (layers[0][0] / np.sqrt(6 / sizes[0]) / sizes[0], layers[0][1] / np.sqrt(6 / sizes[0]) / sizes[0])
    layers = nm.to_float32(layers)
    nm.write_json(path, {"mlp": {"layers": nm.layers_json(layers)}, **more})
    return layers


def check_picture(path, want, width, height, tolerance=1.001):
    got = nm.read_png(path)
    assert got.shape == (height, width, 3)
    off = np.abs(got.reshape(-1, 3) - want * 255)
    assert off.max() <= tolerance, f"{off.max()} at {off.argmax()}"


@pytest.mark.parametrize("kernel", ["coop", "thread"])
@pytest.mark.parametrize("sizes", [[2, 3], [2, 64, 64, 3], [2, 17, 29, 5, 3], [2] + [32] * 15 + [3], [2, 113, 255, 3], [2, 300, 1000, 3],
                                   [2, 64, 64, 64, 64, 64, 64, 64, 64, 64, 3]], ids=str)
def test_siren_is_what_it_describes(ingot, kernel, sizes):
    layers = siren_file(ingot.folder / "w.json", sizes)
    out = ingot("implicit", "render", "w.json", "-o", "o.png", "--size", "67x41", "--kernel", kernel).stdout
    assert "Rendered 67 x 41" in out and f"{kernel} kernel" in out and "saved to o.png" in out
    check_picture(ingot.folder / "o.png", nm.forward(layers, nm.centres(67, 41), "sine"), 67, 41)


def test_the_kernels_agree(ingot):
    siren_file(ingot.folder / "w.json", [2, 64, 64, 64, 3])
    for kernel in ("coop", "thread"):
        ingot("implicit", "render", "w.json", "-o", f"{kernel}.png", "--size", "200x130", "--kernel", kernel)
    a, b = (nm.read_png(ingot.folder / f"{k}.png").astype(int) for k in ("coop", "thread"))
    assert np.abs(a - b).max() <= 1 and (a != b).mean() < 0.01


@pytest.mark.parametrize("precision, most", [("half", 2), ("bfloat", 6)])
def test_lower_precision_is_close(ingot, precision, most):
    """Inputs of products are rounded, sums and coordinates are not: 8 hidden layers lose little."""
    layers = siren_file(ingot.folder / "w.json", [2] + [64] * 9 + [3])
    layers = [(w * 0.5, b * 0.5) if i else (w, b) for i, (w, b) in enumerate(layers)]  # as tame as trained ones
    nm.write_json(ingot.folder / "w.json", {"mlp": nm.layers_json(layers)})
    ingot("implicit", "render", "w.json", "-o", "o.png", "--size", "150x100", "--precision", precision)
    check_picture(ingot.folder / "o.png", nm.forward(layers, nm.centres(150, 100), "sine"), 150, 100, most + 0.5)
    r = ingot("implicit", "render", "w.json", "--precision", precision, "--kernel", "thread", status=1)
    assert "float" in r.stderr


def test_bare_array_and_a_file_by_another_trainer(ingot):
    """Keys, nesting and numbers as the trainer in Python writes them: ends of the image at +-1."""
    rng = np.random.default_rng(5)
    width, height = 31, 23
    layers = nm.layers_of(rng, [2, 64, 64, 3], 0.2)
    grid = nm.ends(width, height)
    picture = nm.forward(layers, grid, "sine")
    at = rng.choice(len(grid), 64, replace=False)
    samples = [{"position": grid[i].tolist(), "value": picture[i].tolist()} for i in at]
    meta = {"mode": "image", "image": {"width": width, "height": height, "aspect_ratio": width / height}}
    for mlp in ({"layers": nm.layers_json(layers)}, nm.layers_json(layers)):
        nm.write_json(ingot.folder / "w.json", {
            "metadata": meta, "model": {"type": "siren"}, "mlp": mlp, "sample_count": 64,
            "sample_seed": 1337, "samples": samples}, indent=2)
        ingot("implicit", "render", "w.json", "-o", "o.png")
        check_picture(ingot.folder / "o.png", picture, width, height)
        out = ingot("implicit", "eval", "w.json", "--image", "o.png", "--min-psnr", "45").stdout
        assert "samples 64  mse 0.000000" in out and "image 31 x 23" in out
        # told otherwise, it is another picture
        ingot("implicit", "render", "w.json", "-o", "c.png", "--coordinates", "centres")
        check_picture(ingot.folder / "c.png", nm.forward(layers, nm.centres(width, height), "sine"), width, height)


@pytest.mark.parametrize("kernel", ["coop", "thread"])
def test_fourier(ingot, kernel):
    rng = np.random.default_rng(2)
    matrix = rng.normal(0, 3, (2, 64)).astype(np.float32).astype(float)
    layers = nm.to_float32(nm.layers_of(rng, [128, 64, 64, 3], 0.2))
    nm.write_json(ingot.folder / "w.json", {
        "model": {"type": "fourier"}, "mlp": {"layers": nm.layers_json(layers)},
        "fourier": {"B": matrix.tolist(), "sigma": 3.0}})
    ingot("implicit", "render", "w.json", "-o", "o.png", "--size", "61x45", "--kernel", kernel)
    want = nm.forward(layers, nm.fourier_features(nm.centres(61, 45), matrix), "relu")
    check_picture(ingot.folder / "o.png", want, 61, 45)


@pytest.mark.parametrize("kernel", ["coop", "thread"])
def test_instant_ngp(ingot, kernel):
    rng = np.random.default_rng(3)
    table = rng.uniform(-1, 1, (16, 1 << 12, 2)).astype(np.float16).astype(float)
    layers = nm.to_float32(nm.layers_of(rng, [32, 64, 3], 0.3))
    nm.write_json(ingot.folder / "w.json", {
        "metadata": {"mode": "image", "image": {"width": 80, "height": 60}}, "model": {"type": "instant-ngp"},
        "mlp": {"layers": nm.layers_json(layers)},
        "encoding": {"num_levels": 16, "features_per_level": 2, "log2_hashmap_size": 12, "base_resolution": 16,
                     "max_resolution": 2048, "hash_table": {"shape": [16, 4096, 2], "data": table.ravel().tolist()}}})
    ingot("implicit", "render", "w.json", "-o", "o.png", "--kernel", kernel)
    want = nm.forward(layers, nm.grid_features(nm.ends(80, 60, 0.0), table), "relu")
    # floats at the edges of cells: a few pixels may take the neighbour's features, continuously
    check_picture(ingot.folder / "o.png", want, 80, 60, 1.5)


def test_letterbox(ingot):
    """Twice as wide as the picture: black left and right, the picture as it is in the middle."""
    image = {"metadata": {"mode": "image", "image": {"width": 40, "height": 40, "aspect_ratio": 1.0}}}
    layers = siren_file(ingot.folder / "w.json", [2, 16, 3], **image)
    want = (nm.forward(layers, nm.centres(40, 40), "sine") * 255).reshape(40, 40, 3)
    for kernel in ("coop", "thread"):
        ingot("implicit", "render", "w.json", "-o", "o.png", "--size", "80x40", "--kernel", kernel)
        got = nm.read_png(ingot.folder / "o.png").astype(float)
        assert (got[:, :20] == 0).all() and (got[:, 60:] == 0).all()
        assert np.abs(got[:, 20:60] - want).max() < 1.01
        ingot("implicit", "render", "w.json", "-o", "o.png", "--size", "40x100", "--kernel", kernel)
        got = nm.read_png(ingot.folder / "o.png").astype(float)
        assert (got[:30] == 0).all() and (got[70:] == 0).all()
        assert np.abs(got[30:70] - want).max() < 1.01
        ingot("implicit", "render", "w.json", "-o", "o.png", "--size", "80x40", "--fill", "--kernel", kernel)
        stretched = nm.forward(layers, nm.centres(80, 40), "sine")
        check_picture(ingot.folder / "o.png", stretched, 80, 40)


def test_size_is_the_files_or_512(ingot):
    siren_file(ingot.folder / "a.json", [2, 8, 3])
    ingot("implicit", "render", "a.json")
    assert nm.read_png(ingot.folder / "rendered.png").shape == (512, 512, 3)
    siren_file(ingot.folder / "b.json", [2, 8, 3], metadata={"mode": "image", "image": {"width": 30, "height": 20}})
    ingot("implicit", "render", "b.json", "-o", "b.png")
    assert nm.read_png(ingot.folder / "b.png").shape == (20, 30, 3)
    ingot("implicit", "render", "b.json", "-o", "one.png", "--size", "1x1", "--fill")
    assert nm.read_png(ingot.folder / "one.png").shape == (1, 1, 3)


def test_picture_and_eval(ingot):
    ingot("implicit", "picture", "-o", "p.png", "--size", "64x48")
    assert nm.read_png(ingot.folder / "p.png").std() > 20
    siren_file(ingot.folder / "w.json", [2, 8, 3])
    out = ingot("implicit", "eval", "w.json", "--image", "p.png").stdout
    assert "siren, 2 layers, 51 parameters" in out and "image 64 x 48  mse" in out
    r = ingot("implicit", "eval", "w.json", "--image", "p.png", "--min-psnr", "60", status=1)
    assert "below --min-psnr" in r.stderr


def test_command_line(ingot):
    siren_file(ingot.folder / "w.json", [2, 8, 3])
    for args in (["implicit"], ["implicit", "nothing"], ["implicit", "render"], ["implicit", "render", "w.json", "--size"],
                 ["implicit", "render", "w.json", "--size", "0x5"], ["implicit", "render", "w.json", "--size", "ax5"],
                 ["implicit", "render", "w.json", "--kernel", "magic"], ["implicit", "render", "w.json", "--what"],
                 ["implicit", "render", "w.json", "--repeat", "x"], ["implicit", "render", "w.json", "extra"],
                 ["implicit", "eval", "w.json", "--min-psnr", "nan"], ["implicit", "eval", "w.json", "--min-psnr", "1e9"],
                 ["implicit", "eval", "w.json", "--coordinates", "x"], ["implicit", "picture", "--detail", "9"]):
        r = ingot(*args, status=2)
        assert r.stderr.startswith(("ingot implicit", "usage:")) and not r.stdout
    for args in (["implicit", "--help"], ["implicit", "render", "--help"], ["implicit", "eval", "-h"],
                 ["implicit", "picture", "--help"]):
        r = ingot(*args)
        assert r.stdout.startswith("usage: ") and max(map(len, r.stdout.splitlines())) <= 100


def test_bad_input(ingot):
    siren_file(ingot.folder / "w.json", [2, 8, 3])
    good = json.loads((ingot.folder / "w.json").read_text())
    ingot.write("text.json", "hello")
    ingot.write("empty.json", "")
    ingot.write("nested.json", "[" * 1_000_000)
    bad = json.loads(json.dumps(good))
    bad["mlp"]["layers"][1]["weights"][0] = [1.0]
    nm.write_json(ingot.folder / "shape.json", bad)
    bad = json.loads(json.dumps(good))
    bad["mlp"]["layers"][0]["weights"][3][1] = float("nan")
    nm.write_json(ingot.folder / "nan.json", bad)
    for name, key in (("no.json", "No such file"), ("text.json", "not JSON"), ("empty.json", "empty"),
                      ("nested.json", "expected an object"), ("shape.json", "mlp.layers[1].weights[1]"),
                      ("nan.json", "mlp.layers[0].weights[3][1]"), (".", "directory")):
        for part in ("render", "eval"):
            r = ingot("implicit", part, name, status=1)
            assert r.stderr.count("\n") == 1 and name in r.stderr and key in r.stderr, r.stderr
    r = ingot("implicit", "eval", "w.json", status=1)
    assert "samples" in r.stderr
    for image, text in (("no.png", "Failed to open image at no.png"), ("text.json", "Failed to decode image at"),
                        ("empty.json", "Failed to decode image at"), (".", "Failed to open image at .")):
        r = ingot("implicit", "eval", "w.json", "--image", image, status=1)
        assert text in r.stderr and r.stderr.count("\n") == 1
    r = ingot("implicit", "render", "w.json", "-o", "no/such/o.png", status=1)
    assert "cannot write 'no/such/o.png'" in r.stderr
    r = ingot("implicit", "render", "w.json", "--size", "1000000x1000000", status=1)
    assert "more than" in r.stderr
