# SPDX-License-Identifier: Apache-2.0
"""train_siren as a user types it: its lines, its files, its exit codes, and bad input of every kind."""
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import time
import zlib

import pytest

BUILD = pathlib.Path(os.environ.get("INGOT_BUILD", "build")).resolve()
TOOL = BUILD / "bin" / "train_siren"


def png(width, height, pixels, color_type=2, depth=8, extra=b""):
    """A PNG of rows of bytes, without filters."""
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
    rows = len(pixels) // height
    raw = b"".join(b"\0" + pixels[y * rows:(y + 1) * rows] for y in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color_type, 0, 0, 0))
            + extra + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))


def read_png(data):
    """Size and RGBA bytes; enough for what the tool writes."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, idat = 8, b""
    while at < len(data):
        n, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + n]
        if kind == b"IHDR":
            width, height, depth, color = struct.unpack(">IIBB", body[:10])
        idat += body if kind == b"IDAT" else b""
        at += 12 + n
    assert (depth, color) == (8, 6), "RGBA, 8 bits"
    raw, rows, last = zlib.decompress(idat), [], bytes(width * 4)
    for y in range(height):
        kind, row = raw[y * (width * 4 + 1)], bytearray(raw[y * (width * 4 + 1) + 1:(y + 1) * (width * 4 + 1)])
        for i in range(len(row)):
            a, b, c = (row[i - 4] if i >= 4 else 0), last[i], (last[i - 4] if i >= 4 else 0)
            p = a + b - c
            best = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            row[i] = (row[i] + [0, a, b, (a + b) // 2, best][kind]) & 255
        last = bytes(row)
        rows.append(last)
    return width, height, b"".join(rows)


def picture(side=16):
    return png(side, side, bytes(c for y in range(side) for x in range(side)
                                 for c in (255 * x // side, 255 * y // side, 128 if x > y else 40)))


class Tool:
    def __init__(self, folder, cache):
        self.folder = folder
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("INGOT_", "MTL_"))}
        self.env.update(INGOT_CACHE_DIR=str(cache), INGOT_MSLC=str(BUILD / "bin" / "mslc"))
        (folder / "in.png").write_bytes(picture())

    def start(self, *args, **env):
        return subprocess.Popen([TOOL, *map(str, args)], cwd=self.folder, env={**self.env, **env},
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def __call__(self, *args, status=0, **env):
        p = self.start(*args, **env)
        out, err = p.communicate(timeout=240)
        assert p.returncode == status, f"status {p.returncode}, not {status}\n{out}\n{err}"
        return out, err

    def weights(self, name="trained_siren.json"):
        return json.loads((self.folder / name).read_text())


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def tool(tmp_path, cache):
    return Tool(tmp_path, cache)


SMALL = ("--hidden", 16, "--layers", 1, "--train-batch", 64)


def test_lines_and_files(tool):
    out, err = tool("--input", "in.png", *SMALL, "--steps", 105, "--eval-interval", 40)
    folder = tool.folder.resolve()
    wanted = [r"step    1  loss \d\.\d{6}", r"          psnr \d+\.\d\d dB  mse \d\.\d{6}", r"step   50  loss \d\.\d{6}",
              r"          psnr \d+\.\d\d dB  mse \d\.\d{6}", r"step  100  loss \d\.\d{6}", r"step  105  loss \d\.\d{6}",
              r"          psnr \d+\.\d\d dB  mse \d\.\d{6}",
              r"Sample weights \[(-?\d\.\d{6}, ){7}-?\d\.\d{6}\]", r"Sample pixel RGBA: \[\d+, \d+, \d+, 255\]",
              r"Finished\. Best loss \d\.\d{6}, PSNR \d+\.\d\d dB",
              re.escape(f"Weights saved to {folder}/trained_siren.json"),
              re.escape(f"Reconstruction saved to {folder}/trained_output.png"), r"Average training step \d+\.\d{3} ms"]
    lines = out.splitlines()
    assert len(lines) == len(wanted), out
    for line, pattern in zip(lines, wanted):
        assert re.fullmatch(pattern, line), (line, pattern)
    assert err == ""
    w = tool.weights()
    layers = w["mlp"]["layers"]
    assert [(len(l["weights"]), len(l["weights"][0]), len(l["biases"])) for l in layers] == \
        [(16, 2, 16), (16, 16, 16), (3, 16, 3)]
    assert w["metadata"]["mode"] == "image"
    assert (w["metadata"]["image"]["width"], w["metadata"]["image"]["height"]) == (16, 16)
    assert w["model"]["type"] == "siren"
    assert len(w["samples"]) == w["sample_count"] == 256
    assert "training" not in w
    width, height, pixels = read_png((tool.folder / "trained_output.png").read_bytes())
    assert (width, height) == (16, 16)
    first = re.search(r"RGBA: \[(\d+), (\d+), (\d+), 255\]", out)
    assert tuple(pixels[:3]) == tuple(map(int, first.groups()))
    shown = re.search(r"Sample weights \[(.*)\]", out).group(1).split(", ")
    assert [f"{row[0]:.6f}" for row in layers[0]["weights"][:8]] == shown


def test_short_options_and_other_names(tool):
    out, _ = tool("-i", "in.png", "-w", "w.json", "-o", "o.png", "-s", 3, "-l", 1, "-e", 2, "--lr", "1e-2", *SMALL)
    assert [l.split()[:2] for l in out.splitlines()[:5]] == \
        [["step", "1"], ["step", "2"], ["psnr", out.splitlines()[2].split()[1]], ["step", "3"],
         ["psnr", out.splitlines()[4].split()[1]]]
    assert (tool.folder / "w.json").exists() and (tool.folder / "o.png").exists()


def test_defaults_are_the_network_of_the_seed(tool):
    tool("-i", "in.png", "-s", 1)
    layers = tool.weights()["mlp"]["layers"]
    assert [len(l["weights"]) for l in layers] == [64] * 9 + [3]
    assert [len(l["weights"][0]) for l in layers] == [2] + [64] * 9


def test_the_picture_is_learnt_and_runs_repeat(tool):
    first, _ = tool("-i", "in.png", "-s", 500, "--hidden", 32, "--layers", 2, "--train-batch", 256)
    kept = (tool.folder / "trained_siren.json").read_bytes(), (tool.folder / "trained_output.png").read_bytes()
    assert float(re.findall(r"psnr ([\d.]+)", first)[-1]) > 30
    for threads in ("1", "2", "8"):
        tool("-i", "in.png", "-s", 500, "--hidden", 32, "--layers", 2, "--train-batch", 256, INGOT_THREADS=threads)
        assert (tool.folder / "trained_siren.json").read_bytes() == kept[0], f"{threads} threads"
        assert (tool.folder / "trained_output.png").read_bytes() == kept[1]
    tool("-i", "in.png", "-s", 500, "--hidden", 32, "--layers", 2, "--train-batch", 256, "--seed", 7)
    assert (tool.folder / "trained_siren.json").read_bytes() != kept[0]


@pytest.mark.parametrize("precision", ["half", "bfloat"])
def test_precision(tool, precision):
    out, _ = tool("-i", "in.png", "-s", 200, "--hidden", 32, "--layers", 2, "--train-batch", 256, "--precision", precision)
    assert float(re.findall(r"psnr ([\d.]+)", out)[-1]) > 25


def test_interrupted_runs_resume_to_the_same_end(tool):
    run = ("-i", "in.png", "--hidden", 64, "--layers", 4, "--train-batch", 1024, "-s", 400, "-l", 1000, "-e", 1000)
    p = tool.start(*run)
    assert p.stdout.readline().startswith("step    1")
    time.sleep(0.3)
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=120)
    if p.returncode == 0:
        pytest.skip("finished before it could be interrupted")
    assert p.returncode == 130
    assert "Weights saved to" in out and "Reconstruction saved to" in out
    step = int(re.search(r"interrupted after step (\d+) of 400", err).group(1))
    assert 0 < step < 400
    assert tool.weights()["training"]["step"] == step
    read_png((tool.folder / "trained_output.png").read_bytes())
    tool("-i", "in.png", "--resume", "trained_siren.json", "-w", "resumed.json", "-o", "resumed.png", "-l", 1000, "-e", 1000)
    tool(*run, "-w", "whole.json", "-o", "whole.png")
    assert (tool.folder / "resumed.json").read_bytes() == (tool.folder / "whole.json").read_bytes()
    assert (tool.folder / "resumed.png").read_bytes() == (tool.folder / "whole.png").read_bytes()
    _, err = tool("-i", "in.png", "--resume", "trained_siren.json", "--hidden", 32, status=1)
    assert "--hidden differs" in err
    _, err = tool("-i", "in.png", "--resume", "trained_siren.json", "-s", 1, status=1)
    assert "already has" in err
    _, err = tool("-i", "in.png", "--resume", "whole.json", status=1)
    assert "whole.json: training" in err


def test_resuming_takes_the_same_pixels(tool):
    run = ("-i", "in.png", "--limit", 100, "--hidden", 64, "--layers", 4, "-s", 400, "-l", 1000, "-e", 1000)
    p = tool.start(*run)
    assert p.stdout.readline().startswith("step    1")
    p.send_signal(signal.SIGINT)
    p.communicate(timeout=120)
    if p.returncode == 0:
        pytest.skip("finished before it could be interrupted")
    assert tool.weights()["training"]["limit"] == 100
    tool("-i", "in.png", "--resume", "trained_siren.json", "-w", "resumed.json", "-o", "resumed.png")
    tool(*run, "-w", "whole.json", "-o", "whole.png")
    assert (tool.folder / "resumed.json").read_bytes() == (tool.folder / "whole.json").read_bytes()
    _, err = tool("-i", "in.png", "--resume", "trained_siren.json", "--limit", 50, status=1)
    assert "--limit differs" in err
    _, err = tool("-i", "resumed.png", "--resume", "trained_siren.json", "-o", "other.png", status=1)
    assert "resumed.png is 100 x 1, not 16 x 16" in err


def test_limit(tool):
    out, _ = tool("-i", "in.png", "--limit", 10, "-s", 50, *SMALL)
    width, height, _ = read_png((tool.folder / "trained_output.png").read_bytes())
    assert (width, height) == (10, 1)
    assert tool.weights()["sample_count"] == 10
    tool("-i", "in.png", "--limit", 100000, "-s", 1, *SMALL)
    assert read_png((tool.folder / "trained_output.png").read_bytes())[:2] == (16, 16)


@pytest.mark.parametrize("option, value", [("-s", -5), ("-s", 0), ("-l", 0), ("-e", -1), ("--train-batch", 0),
                                           ("--limit", -3), ("--lr", "-1")])
def test_numbers_below_the_least_are_mistakes(tool, option, value):
    _, err = tool("-i", "in.png", option, value, *SMALL, status=2)
    assert " must be " in err and f"not {value}" in err
    assert not (tool.folder / "trained_output.png").exists()


def test_help(tool):
    for flag in ("-h", "--help"):
        out, err = tool(flag)
        assert out.startswith("usage: train_siren") and err == ""
        for option in ("--input", "--weights", "--output-image", "--steps", "--log-interval", "--eval-interval",
                       "--learning-rate", "--limit", "--train-batch", "--seed", "--hidden", "--layers", "--precision",
                       "--device", "--resume"):
            assert option in out


@pytest.mark.parametrize("args, message, usage", [
    ([], "Missing --input path", True),
    (["--steps", "5"], "Missing --input path", True),
    (["--bogus"], "Unknown argument: --bogus", True),
    (["picture.png"], "Unknown argument: picture.png", True),
    (["-i", "in.png", "--steps"], "Missing value for --steps", True),
    (["-i", "in.png", "--steps", "many"], "Invalid integer for --steps", False),
    (["-i", "in.png", "-s", "1.5"], "Invalid integer for --steps", False),
    (["-i", "in.png", "-s", "99999999999999999999"], "Invalid integer for --steps", False),
    (["-i", "in.png", "-l", ""], "Invalid integer for --log-interval", False),
    (["-i", "in.png", "-e", "x"], "Invalid integer for --eval-interval", False),
    (["-i", "in.png", "--limit", "ten"], "Invalid integer for --limit", False),
    (["-i", "in.png", "--train-batch", "0x10"], "Invalid integer for --train-batch", False),
    (["-i", "in.png", "--lr", "fast"], "Invalid float for --learning-rate", False),
    (["-i", "in.png", "--learning-rate", "nan"], "Invalid float for --learning-rate", False),
    (["-i", "in.png", "--lr", "inf"], "Invalid float for --learning-rate", False),
    (["-i", "in.png", "--hidden", "0"], "--hidden must be 1 to 1024, not 0", False),
    (["-i", "in.png", "--hidden", "2000"], "--hidden must be 1 to 1024, not 2000", False),
    (["-i", "in.png", "--layers", "15"], "--layers must be 0 to 14, not 15", False),
    (["-i", "in.png", "--seed", "-1"], "--seed must be at least 0", False),
    (["-i", "in.png", "--precision", "double"], "Invalid --precision 'double'", False),
    (["-i", "in.png", "--train-batch", "99999999"], "--train-batch must be 1 to 16777216", False),
])
def test_bad_command_lines(tool, args, message, usage):
    out, err = tool(*args, status=2)
    assert out == ""
    assert err.splitlines()[0].startswith(f"train_siren: {message}"), err
    assert ("usage: train_siren" in err) == usage


def test_bad_pictures(tool):
    f = tool.folder
    whole = picture()
    (f / "empty.png").write_bytes(b"")
    (f / "text.png").write_text("no picture")
    (f / "cut.png").write_bytes(whole[:len(whole) // 2])
    (f / "folder").mkdir()
    cases = {"nothing.png": "Failed to open image at nothing.png", "folder": "Failed to open image at folder",
             "empty.png": "Failed to decode image at empty.png", "text.png": "Failed to decode image at text.png",
             "cut.png": "Failed to decode image at cut.png"}
    for name, message in cases.items():
        out, err = tool("-i", name, status=1)
        assert message in err and len(err.splitlines()) == 1 and out == "", (name, err)
        assert not (f / "trained_siren.json").exists()


def test_pictures_of_other_kinds(tool):
    f = tool.folder
    palette = struct.pack(">I", 6) + b"PLTE" + bytes([255, 0, 0, 0, 0, 255])
    palette += struct.pack(">I", zlib.crc32(palette[4:]))
    (f / "one.png").write_bytes(png(1, 1, b"\x10\x20\x30"))
    (f / "grey.png").write_bytes(png(4, 4, bytes(range(16)), 0))
    (f / "deep.png").write_bytes(png(2, 2, bytes(24), 2, 16))
    (f / "alpha.png").write_bytes(png(2, 2, bytes([255, 255, 255, 0] * 4), 6))
    (f / "palette.png").write_bytes(png(2, 2, bytes([0, 1, 1, 0]), 3, 8, palette))
    for name in ("one", "grey", "deep", "alpha", "palette"):
        tool("-i", f"{name}.png", "-s", 2, *SMALL)
    samples = {tuple(s["position"]): s["value"] for s in tool.weights()["samples"]}
    assert samples[(-0.5, -0.5)] == [1, 0, 0] and samples[(0.5, -0.5)] == [0, 0, 1]


def test_outputs_are_checked_before_training(tool):
    f = tool.folder
    (f / "folder").mkdir()
    for args in (["-w", "none/w.json"], ["-o", "none/o.png"], ["-w", "folder"], ["-o", "folder"], ["-w", "same", "-o", "same"],
                 ["-o", "in.png"], ["-w", "in.png"], ["-w", "same", "-o", "./same"], ["-w", "folder/../same", "-o", f / "same"],
                 ["-o", "folder/../in.png"], ["-o", "r.json", "--resume", "r.json"]):
        (f / "r.json").write_text("earlier")
        out, err = tool("-i", "in.png", *args, status=1)
        assert out == "" and len(err.splitlines()) == 1, (args, out, err)
        assert (f / "r.json").read_text() == "earlier"
    assert (f / "in.png").read_bytes() == picture()
    tool("-i", "in.png", "-w", "/dev/null", "-o", "/dev/null", "-s", 1, *SMALL)  # no file


def test_a_loss_that_is_not_finite_stops_with_advice(tool):
    (tool.folder / "trained_siren.json").write_text("earlier")
    _, err = tool("-i", "in.png", "--lr", "1e6", "--precision", "half", "-s", 200, *SMALL, status=1)
    assert "Loss is not finite" in err and "--learning-rate" in err
    assert (tool.folder / "trained_siren.json").read_text() == "earlier"


def test_devices(tool):
    tool("-i", "in.png", "-s", 1, *SMALL, "--device", 0)
    _, err = tool("-i", "in.png", "--device", "no such thing", status=1)
    assert "no device 'no such thing'" in err


def test_progress_bar_on_a_terminal(tool):
    """Bar and lines share the terminal: the bar goes before a line comes."""
    child, fd = os.forkpty()
    if child == 0:
        os.chdir(tool.folder)
        os.execve(TOOL, [str(TOOL), "-i", "in.png", "-s", "300", "-l", "300", "-e", "300"], tool.env)
    text = b""
    while True:
        try:
            part = os.read(fd, 4096)
        except OSError:
            break
        if not part:
            break
        text += part
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert re.search(rb"training \[#*\.*\] \d+/300 loss \d", text), text
    assert b"\r\x1b[Kstep  300  loss" in text
    assert text.rstrip().splitlines()[-1].startswith(b"Average training step")


def test_bad_resume_files(tool):
    f = tool.folder
    (f / "bad.json").write_text('{"mlp": ')
    for name in ("nothing.json", "bad.json", "in.png"):
        _, err = tool("-i", "in.png", "--resume", name, status=1)
        assert name in err and len(err.splitlines()) == 1
