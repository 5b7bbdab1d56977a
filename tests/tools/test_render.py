# SPDX-License-Identifier: Apache-2.0
"""ingot render: pixels against NumPy, and clear words for everything that does not fit."""
import struct
import time
import zlib

import numpy as np
import pytest

SHADER = """#include <metal_stdlib>
using namespace metal;
vertex float4 whole(uint i [[vertex_id]]) { return float4(i == 1 ? 3 : -1, i == 2 ? 3 : -1, 0.25, 1); }
fragment float4 place(float4 p [[position]]) { return float4(p.xy / 16, 0.5, 0.25); }
fragment float4 one(constant float4 &c [[buffer(0)]]) { return c; }
struct In { float2 p [[attribute(0)]]; float4 c [[attribute(1)]]; };
struct Out { float4 p [[position]]; float4 c [[flat]]; };
vertex Out corners(In in [[stage_in]]) { return {float4(in.p, 0.5, 1), in.c}; }
fragment float4 flat_color(Out in [[stage_in]]) { return in.c; }
struct Moved { float2 p [[attribute(0)]]; float2 by [[attribute(1)]]; uint kind [[attribute(2)]]; };
vertex Out moved(Moved in [[stage_in]], constant float &scale [[buffer(3)]]) {
    return {float4(in.p * scale + in.by, in.kind * 0.1f, 1), float4(in.kind, 0, 0, 1)};
}
struct Strip { float4 p [[position]]; float2 uv; };
vertex Strip strip(uint i [[vertex_id]]) {
    float2 uv = float2(i & 1, i >> 1);
    return {float4(uv * 2 - 1, 0, 1), float2(uv.x, 1 - uv.y)};
}
fragment float4 sampled(Strip in [[stage_in]], texture2d<float> t [[texture(2)]], sampler s [[sampler(1)]]) {
    return t.sample(s, in.uv, level(0));
}
fragment float4 array_sampled(Strip in [[stage_in]], texture2d_array<float> t [[texture(0)]]) {
    constexpr sampler s;
    return t.sample(s, in.uv, uint(in.uv.x * 2));
}
fragment float4 sky(Strip in [[stage_in]], texturecube<float> t [[texture(0)]]) {
    constexpr sampler s;
    return t.sample(s, float3(1, 1 - 2 * in.uv.y, 0) * float3(0.5f, 1, 1));
}
struct Two { float4 a [[color(0)]]; uint4 b [[color(1)]]; };
fragment Two two(float4 p [[position]]) { return {float4(1, 0, 0, 1), uint4(uint2(p.xy), 7, 8)}; }
constant float level_of [[function_constant(0)]];
fragment float4 constant_color() { return float4(level_of); }
fragment float4 endless(constant float4 &c [[buffer(0)]], device atomic_int *x [[buffer(1)]]) {
    while (atomic_load_explicit(x, memory_order_relaxed) == 0) { }
    return c;
}
kernel void k(device int *x [[buffer(0)]]) { x[0] = 1; }
"""


def png(path):
    """(height, width, channels) of a PNG of 8 bits, with any filter."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, stream = 8, b""
    while at < len(data):
        n, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height, depth, color = struct.unpack(">IIBB", data[at + 8:at + 18])
        if kind == b"IDAT":
            stream += data[at + 8:at + 8 + n]
        at += 12 + n
    assert depth == 8
    c = {2: 3, 6: 4}[color]
    raw = np.frombuffer(zlib.decompress(stream), np.uint8).reshape(height, 1 + width * c)
    out = np.zeros((height, width * c), int)
    for y in range(height):
        kind = raw[y, 0]
        up = out[y - 1] if y else np.zeros(width * c, int)
        for x in range(width * c):
            a, b = (out[y, x - c] if x >= c else 0), up[x]
            d = up[x - c] if x >= c else 0
            paeth = min((abs(b - d), 0, a), (abs(a - d), 1, b), (abs(a + b - 2 * d), 2, d))[2]
            out[y, x] = (raw[y, 1 + x] + [0, a, b, (a + b) // 2, paeth][kind]) & 255
    return out.reshape(height, width, c).astype(np.uint8)


def save_png(path, pixels):
    h, w, c = pixels.shape
    raw = b"".join(b"\0" + pixels[y].tobytes() for y in range(h))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, {3: 2, 4: 6}[c], 0, 0, 0)) +
                     chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))


@pytest.fixture
def render(ingot):
    ingot.write("s.metal", SHADER)
    return lambda v, f, *args, **kw: ingot("render", "s.metal", "--vertex", v, "--fragment", f, *args, **kw)


def numbers(ingot, name="o.npy"):
    return np.load(ingot.folder / name)


def test_place_of_every_pixel(ingot, render):
    out = render("whole", "place", "--size", "16x8", "-o", "o.npy").stdout
    assert out.startswith("o.npy: 16 x 8, 3 vertices, ")
    y, x = np.mgrid[0:8, 0:16] + 0.5
    wanted = np.stack([x / 16, y / 16, np.full_like(x, 0.5), np.full_like(x, 0.25)], -1)
    assert numbers(ingot).dtype == np.float32
    np.testing.assert_array_equal(numbers(ingot), wanted.astype(np.float32))


def test_png_and_alpha(ingot, render):
    args = ["--size", "16x16", "-q"]
    assert render("whole", "place", *args, "-o", "o.png").stdout == ""
    render("whole", "place", *args, "--alpha", "-o", "a.png")
    x = np.floor((np.arange(16) + 0.5) / 16 * 255 + 0.5)
    three, four = png(ingot.folder / "o.png"), png(ingot.folder / "a.png")
    assert three.shape == (16, 16, 3) and four.shape == (16, 16, 4)
    np.testing.assert_array_equal(four[..., :3], three)
    np.testing.assert_array_equal(three[3, :, 0], x)
    np.testing.assert_array_equal(three[:, 5, 1], x)
    assert (four[..., 3] == 64).all()


def test_argument_by_index_name_and_stage(ingot, render):
    for key in ("0", "c", "fragment:0", "fragment:c"):
        render("whole", "one", "--size", "4x4", "--arg", f"{key}=f32:0.25,0.5,0.75,1", "-o", "o.npy")
        assert (numbers(ingot) == [0.25, 0.5, 0.75, 1]).all()
    err = render("whole", "one", "--arg", "vertex:0=f32:1,2,3,4", "-o", "x.npy", status=1).stderr
    assert "no such buffer; the functions take: fragment:0 c (float4)" in err
    assert "missing: c (float4). Give it with --arg 0=" in render("whole", "one", "-o", "x.npy", status=1).stderr
    assert "takes 16" in render("whole", "one", "--arg", "0=f32:1", "-o", "x.npy", status=1).stderr
    assert not (ingot.folder / "x.npy").exists()


def test_attributes_from_files(ingot, render):
    # The left half as two triangles by indices; a third attribute row is not used.
    np.save(ingot.folder / "p.npy", np.array([[-1, -1], [0, -1], [-1, 1], [0, 1]], np.float32))
    np.save(ingot.folder / "c.npy", np.array([[255, 0, 51, 255]] * 4, np.uint8))
    render("corners", "flat_color", "--attribute", "p=p.npy", "--attribute", "1=c.npy", "--indices",
           "u16:0,1,2,1,3,2", "--size", "8x8", "--clear", "0,1,0", "-o", "o.npy")
    assert np.allclose(numbers(ingot)[:, :4], [1, 0, 0.2, 1], atol=1e-7)
    assert (numbers(ingot)[:, 4:] == [0, 1, 0, 1]).all()
    render("corners", "flat_color", "--attribute", "p=p.npy", "--attribute", "c=c.npy", "--primitive",
           "triangle-strip", "--size", "8x8", "-o", "strip.npy")
    assert (numbers(ingot, "strip.npy")[:, :4] == numbers(ingot)[:, :4]).all()
    err = render("corners", "flat_color", "--attribute", "0=p.npy", "-o", "x.npy", status=1).stderr
    assert "attribute 1 of 'corners' is missing: c" in err
    err = render("corners", "flat_color", "--attribute", "0=p.npy", "--attribute", "1=c.npy", "--count", "5", "-o",
                 "x.npy", status=1).stderr
    assert "--count is 5, but there are 4 rows" in err
    err = render("corners", "flat_color", "--attribute", "0=i32[3,2]", "--attribute", "1=c.npy", "-o", "x.npy",
                 status=1).stderr
    assert "do not fit 'p'" in err


def test_instances_and_depth(ingot, render):
    # Two full squares, the second (kind 1, depth 0.1) behind the first (kind 0, depth 0).
    np.save(ingot.folder / "p.npy", np.array([[-1, -1], [1, -1], [-1, 1], [1, 1]], np.float32))
    args = ["--attribute", "p=p.npy", "--instance-attribute", "by=f32[2,2]", "--instance-attribute", "kind=u32:0,1",
            "--arg", "scale=f32:1", "--instances", "2", "--primitive", "triangle-strip", "--size", "4x4"]
    render("moved", "flat_color", *args, "-o", "o.npy")
    assert (numbers(ingot)[..., 0] == 1).all()  # the last one drawn
    render("moved", "flat_color", *args, "--depth", "-o", "o.npy", "-o", "depth=d.npy")
    assert (numbers(ingot)[..., 0] == 0).all()  # the nearest
    assert (numbers(ingot, "d.npy") == 0).all() and numbers(ingot, "d.npy").shape == (4, 4)
    render("moved", "flat_color", *args, "--depth=greater", "-o", "o.npy", "-o", "depth=d.png")
    assert (numbers(ingot)[..., 0] == 1).all()
    assert (png(ingot.folder / "d.png") == 26).all()
    args[args.index("--instances") + 1] = "3"
    err = render("moved", "flat_color", *args, "-o", "x.npy", status=1).stderr
    assert "has 2 rows, but there are 3 instances" in err


def test_textures(ingot, render):
    picture = np.random.default_rng(1).integers(0, 256, (8, 8, 4), np.uint8)
    save_png(ingot.folder / "t.png", picture)
    args = ["--count", "4", "--primitive", "triangle-strip", "--size", "8x8", "--alpha"]
    render("strip", "sampled", *args, "--texture", "2=t.png", "--sampler", "s=nearest,clamp", "-o", "o.png")
    np.testing.assert_array_equal(png(ingot.folder / "o.png"), picture)
    render("strip", "sampled", *args, "--texture", "t=t.png", "--srgb", "-o", "o.png")
    assert abs(png(ingot.folder / "o.png").astype(int) - picture).max() <= 1
    values = np.random.default_rng(2).random((8, 8, 4), np.float32)
    np.save(ingot.folder / "t.npy", values)
    render("strip", "sampled", *args, "--texture", "2=t.npy", "--sampler", "1=nearest", "-o", "o.npy")
    np.testing.assert_array_equal(numbers(ingot), values)
    save_png(ingot.folder / "u.png", 255 - picture)
    render("strip", "array_sampled", *args, "--texture", "0=t.png,u.png", "-o", "o.png")
    np.testing.assert_array_equal(png(ingot.folder / "o.png"), np.hstack([picture[:, :4], 255 - picture[:, 4:]]))


def test_cube(ingot, render):
    for i in range(6):
        save_png(ingot.folder / f"{i}.png", np.full((4, 4, 3), 40 * i, np.uint8))
    files = ",".join(f"{i}.png" for i in range(6))
    render("strip", "sky", "--count", "4", "--primitive", "triangle-strip", "--size", "4x8", "--texture", "t=" + files,
           "-o", "o.png")
    red = png(ingot.folder / "o.png")[:, 0, 0]
    assert list(red) == [80, 80, 0, 0, 0, 0, 120, 120]  # +y, +x, -y
    err = render("strip", "sky", "--texture", "t=0.png", "-o", "x.png", status=1).stderr
    assert "six square files" in err


def test_several_targets_samples_constants_blending(ingot, render):
    render("whole", "two", "--size", "4x4", "-o", "0=a.png", "-o", "1=b.npy")
    assert (png(ingot.folder / "a.png") == [255, 0, 0]).all()
    y, x = np.mgrid[0:4, 0:4]
    assert (numbers(ingot, "b.npy") == np.stack([x, y, x * 0 + 7, x * 0 + 8], -1)).all()
    assert numbers(ingot, "b.npy").dtype == np.uint32
    assert "only a .npy" in render("whole", "two", "-o", "1=b.png", status=1).stderr
    assert "writes no [[color(3)]]" in render("whole", "two", "-o", "3=b.png", status=1).stderr
    render("whole", "constant_color", "--constant", "level_of=0.5", "--size", "4x4", "-o", "o.npy")
    assert (numbers(ingot) == 0.5).all()
    render("whole", "one", "--arg", "c=f32:1,0.5,0,0.25", "--blend", "alpha", "--clear", "0,1,1,1", "--size", "4x4",
           "-o", "o.npy")
    assert (numbers(ingot) == [0.25, 0.875, 0.75, 1]).all()
    # A vertical edge at x = 1.3: of a pixel's 4 samples (at .375 .875 .125 .625) one is left of it.
    np.save(ingot.folder / "p.npy", np.array([[-1, -1], [-0.35, -1], [-1, 1], [-0.35, 1]], np.float32))
    render("corners", "flat_color", "--attribute", "p=p.npy", "--attribute", "c=f32[4,4]=fill:1", "--primitive",
           "triangle-strip", "--clear", "0,0,0,0", "--msaa", "4", "--size", "4x4", "-o", "o.npy")
    assert (numbers(ingot)[:, :, 0] == [1, 0.25, 0, 0]).all()


def test_watch_survives_errors(ingot, render):
    source = "#include <metal_stdlib>\nusing namespace metal;\n#include \"color.h\"\n" \
             "vertex float4 v(uint i [[vertex_id]]) { return float4(i == 1 ? 3 : -1, i == 2 ? 3 : -1, 0, 1); }\n" \
             "fragment float4 f() { return COLOR; }\n"
    ingot.write("w.metal", source)
    ingot.write("color.h", "#define COLOR float4(1, 0, 0, 1)\n")
    process = ingot.start("render", "w.metal", "--vertex", "v", "--fragment", "f", "--size", "2x2", "-o", "w.png", "--watch")

    def wait_for(color):
        for _ in range(600):
            if (ingot.folder / "w.png").exists() and (png(ingot.folder / "w.png") == color).all():
                return
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.05)
        raise AssertionError(f"no picture of {color}")
    try:
        wait_for([255, 0, 0])
        ingot.write("color.h", "#define COLOR float4(0, 1, 0, 1)\n")
        wait_for([0, 255, 0])
        ingot.write("w.metal", "this is not Metal\n")
        time.sleep(0.5)
        assert process.poll() is None and (png(ingot.folder / "w.png") == [0, 255, 0]).all()
        ingot.write("w.metal", source.replace("COLOR", "float4(0, 0, 1, 1)"))
        wait_for([0, 0, 255])
    finally:
        process.terminate()
        out, err = process.communicate(timeout=60)
    # The last picture is seen before the line about it is written, and the end may come between.
    assert b"w.metal:1:1: error: " in err and out.count(b"w.png: 2 x 2") >= 2


PLACE = "--vertex whole --fragment place -o x.png"
SAMPLED = "--vertex strip --fragment sampled -o x.png"


@pytest.mark.parametrize("args, status, words", [
    ("--vertex nothing --fragment place -o x.png", 1, "has no vertex function 'nothing'; it has: "),
    ("--vertex k --fragment place -o x.png", 1, "'k' is no vertex function"),
    ("--vertex whole --fragment whole -o x.png", 1, "'whole' is no fragment function"),
    ("--vertex whole --fragment flat_color -o x.png", 1, "fragment input c of 'flat_color' was not found"),
    ("--vertex whole --fragment place", 2, "-o FILE.png is required"),
    ("--vertex whole -o x.png", 2, "--fragment NAME is required"),
    ("--fragment place -o x.png", 2, "--vertex NAME is required"),
    ("--vertex whole --fragment place -o x.gif", 2, "needs a .png or .npy"),
    (PLACE + " --size 20000x4", 2, "--size"),
    (PLACE + " --size 0x4", 2, "--size"),
    (PLACE + " --msaa 3", 2, "--msaa is 1, 2, 4 or 8"),
    (PLACE + " --clear red", 2, "--clear needs"),
    (PLACE + " --primitive quad", 2, "--primitive is one of point"),
    (PLACE + " --bogus", 2, "unknown option '--bogus'"),
    ("--vertex whole --fragment place -o no/such/x.png", 1, "cannot write 'no/such/x.png'"),
    (PLACE + " -o 1=x.png", 1, "the same path"),
    (PLACE + " --indices f32:1,2", 1, "u16 or u32"),
    (SAMPLED + " --texture 2=none.png", 1, "none.png"),
    (SAMPLED + " --texture 2=cut.png", 1, "cut off"),
    (SAMPLED + " --texture 2=wrong.png", 1, "wrong.png"),
    (SAMPLED + " --texture 2=s.metal", 1, "neither PNG nor JPEG"),
    (SAMPLED + " --texture 7=ok.png", 1, "fragment:2 t (texture2d"),
    (SAMPLED, 1, "texture 2 of 'sampled' is missing: t"),
    (SAMPLED + " --texture 2=ok.png --sampler s=fuzzy", 2, "unknown word 'fuzzy'"),
    ("--vertex whole --fragment endless -o x.png --arg 0=f32:1,1,1,1 --arg 1=i32[1] --timeout 300 --size 2x2",
     1, "drawing failed"),
])
def test_bad_input(ingot, args, status, words):
    ingot.write("s.metal", SHADER)
    save_png(ingot.folder / "ok.png", np.zeros((4, 4, 3), np.uint8))
    whole = (ingot.folder / "ok.png").read_bytes()
    ingot.write("cut.png", whole[:-20])
    ingot.write("wrong.png", whole[:50] + b"\x55" + whole[51:])
    assert words in ingot("render", "s.metal", *args.split(), status=status).stderr
    assert [p.name for p in ingot.folder.glob("x.*")] == []  # nothing half-written


def test_watching_its_own_result_is_refused(ingot, render):
    save_png(ingot.folder / "t.png", np.zeros((4, 4, 3), np.uint8))
    err = render("strip", "sampled", "--texture", "2=t.png", "-o", "t.png", "--watch", status=1).stderr
    assert "overwrite the input" in err
    render("strip", "sampled", "--texture", "2=t.png", "-o", "t.png")  # once is fine


def test_an_earlier_picture_survives(ingot, render):
    ingot.write("x.png", "old")
    render("whole", "one", "-o", "x.png", status=1)
    assert (ingot.folder / "x.png").read_text() == "old"


def test_help(ingot):
    text = ingot("render", "--help").stdout
    assert "usage: ingot render FILE.metal --vertex V --fragment F" in text and "--watch" in text
    assert "ingot render" in ingot("--help").stdout
