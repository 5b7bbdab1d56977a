# SPDX-License-Identifier: Apache-2.0
"""Render shaders in the styles of cross-compilers, engines and applications, drawn by `ingot render` and
compared with NumPy pixel by pixel. Places where a rounding decides (an edge, a texel between two) are left
out by a stated share of pixels that may differ."""
import os
import pathlib
import struct
import subprocess

import numpy as np
import pytest

HERE = pathlib.Path(__file__).parent / "drawn"
INGOT = os.environ["INGOT_BIN"]
F = np.float32


@pytest.fixture
def draw(tmp_path):
    """draw(file, vertex, fragment, options...): the first -o as an array. Arrays given as options are files."""
    def run(name, vertex, fragment, *options, size=(32, 32), outputs=("o.npy",)):
        words = [INGOT, "render", str(HERE / f"{name}.metal"), "--vertex", vertex, "-q", "--size", f"{size[0]}x{size[1]}"]
        if fragment:
            words += ["--fragment", fragment]
        for i, option in enumerate(options):
            if isinstance(option, tuple):  # ("--arg", "0", array)
                path = tmp_path / f"in{i}.npy"
                values = option[2]
                np.save(path, np.frombuffer(values, np.uint8) if isinstance(values, bytes) else np.ascontiguousarray(values))
                words += [option[0], f"{option[1]}={path}"]
            else:
                words.append(option)
        for output in outputs:
            words += ["-o", output]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        assert done.stderr == "", done.stderr
        arrays = [np.load(tmp_path / o.split("=")[-1]) for o in outputs]
        return arrays[0] if len(arrays) == 1 else arrays
    return run


def centers(width=32, height=32):
    """x and y of the centres of pixels, 0 to 1 from the top left, and the same in clip space."""
    y, x = np.mgrid[0:height, 0:width] + 0.5
    u, v = x / width, y / height
    return u, v, 2 * u - 1, 1 - 2 * v


def close(got, wanted, tolerance=1e-4, share=0.0):
    """At most that share of the pixels differs by more."""
    wanted = np.broadcast_to(wanted, got.shape)
    far = (np.abs(got.astype(float) - wanted) > tolerance).reshape(got.shape[0] * got.shape[1], -1).any(-1)
    assert far.mean() <= share, f"{far.sum()} of {far.size} pixels, such as {np.argwhere(far.reshape(got.shape[:2]))[0]}: " \
        f"{got.reshape(far.size, -1)[far][0]}, not {wanted.reshape(far.size, -1)[far][0]}"


def columns(matrix):
    return np.asarray(matrix, F).T.copy()  # as Metal has them


def bilinear(texture, u, v, repeat=True):
    """Samples (height, width, n) at 0 to 1, as a linear filter does."""
    h, w = texture.shape[:2]
    x, y = u * w - 0.5, v * h - 0.5
    x0, y0 = np.floor(x).astype(int), np.floor(y).astype(int)
    fx, fy = (x - x0)[..., None], (y - y0)[..., None]

    def at(i, j):
        return texture[j % h, i % w] if repeat else texture[np.clip(j, 0, h - 1), np.clip(i, 0, w - 1)]
    return (at(x0, y0) * (1 - fx) + at(x0 + 1, y0) * fx) * (1 - fy) + (at(x0, y0 + 1) * (1 - fx) + at(x0 + 1, y0 + 1) * fx) * fy


def unit(v):
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def dot(a, b):
    return (a * b).sum(-1)


def smoothstep(a, b, x):
    t = np.clip((x - a) / (b - a), 0, 1)
    return t * t * (3 - 2 * t)


STRIP = ("--count", "4", "--primitive", "triangle-strip")


def test_perspective_floor(draw):
    f, near, far = 1.2, 0.5, 20.0  # OpenGL's projection, looking along -z from height 1
    mvp = np.array([[f, 0, 0, 0], [0, f, 0, -f], [0, 0, (far + near) / (near - far), 2 * far * near / (near - far)],
                    [0, 0, -1, 0]])
    places = np.array([[x, 0, z] for x, z in ((-4, -1), (4, -1), (-4, -9), (4, -9))], F)
    uvs = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], F)
    block = columns(mvp).tobytes() + struct.pack("4f f 12x", 0.9, 0.6, 0.3, 1, 8)
    got = draw("spirv_cross_perspective", "main0", "main1", ("--arg", "0", block), ("--attribute", "a_pos", places),
               ("--attribute", "a_uv", uvs), "--primitive", "triangle-strip", "--clear", "0,0,0,0", size=(64, 64))
    _, _, x, y = centers(64, 64)
    with np.errstate(divide="ignore", invalid="ignore"):
        w = -f / y  # of the floor: y_clip = -f
        px, pz = x * w / f, -w
        inside = (y < 0) & (np.abs(px) < 4) & (pz < -1) & (pz > -9)
        u, v = (px + 4) / 8, (-pz - 1) / 8
        check = (np.floor(u * 8) + np.floor(v * 8)) % 2
    wanted = np.where(inside[..., None], np.dstack([0.1 + check * (c - 0.1) for c in (0.9, 0.6, 0.3)] + [v]), 0)
    close(got, wanted, 1e-3, 0.01)  # edges of the floor and of tiles


def test_ggx(draw):
    lights = [((1.5, 1.5, 2.0), (9, 7, 5)), ((-2, 0.5, 1), (2, 4, 8)), ((0, -2, 2.5), (3, 3, 3))]
    albedo, metallic, roughness = np.array([0.8, 0.4, 0.2]), 0.3, 0.35
    block = b"".join(struct.pack("3f f 3f 4x", *p, 1.0, *c) for p, c in lights)
    block += struct.pack("3f f f i 8x", *albedo, metallic, roughness, 3)[:32] + struct.pack("4f", 0, 0, 4, 1)
    got = draw("spirv_cross_ggx", "vs", "fs", ("--arg", "_b", block))
    _, _, x, y = centers()
    r2 = x * x + y * y
    p = np.dstack([x, y, np.sqrt(np.maximum(0.81 - r2, 1e-9))])
    n, v = unit(p), unit(np.array([0, 0, 4]) - p)
    f0 = 0.04 * (1 - metallic) + albedo * metallic
    total, a2 = 0, roughness ** 4
    k = (roughness + 1) ** 2 / 8
    for place, color in lights:
        d = np.array(place) - p
        light = unit(d)
        h = unit(v + light)
        nh, nv, nl, hv = (np.maximum(dot(a, b), 0) for a, b in ((n, h), (n, v), (n, light), (h, v)))
        ndf = a2 / (np.pi * (nh ** 2 * (a2 - 1) + 1) ** 2)
        g = nv / (nv * (1 - k) + k) * nl / (nl * (1 - k) + k)
        fresnel = f0 + (1 - f0) * (1 - hv[..., None]) ** 5
        specular = fresnel * (ndf * g)[..., None] / (4 * nv * nl + 1e-4)[..., None]
        total = total + ((1 - fresnel) * (1 - metallic) * albedo / np.pi + specular) * np.array(color) / dot(d, d)[..., None] * nl[..., None]
    wanted = np.where((r2 < 0.81)[..., None], np.dstack([total, np.ones_like(x)]), 0)
    close(got, wanted, 4e-3, 0.005)


def test_shadow_pcf(draw):
    depths = np.random.default_rng(3).random((16, 16)).astype(F)
    light = np.array([[1, 0, 0, 0], [0, -1, 0, 0], [0, 0, 1, 0.2], [0, 0, 0, 1]])
    push = columns(light).tobytes() + struct.pack("2f 8x", 0.01, 0.07)
    got = draw("spirv_cross_shadow_pcf", "vmain", "fmain", ("--arg", "push", push), ("--texture", "t_shadow", depths),
               "--sampler", "t_shadowSmplr=linear,clamp,less-equal")
    u, v, _, _ = centers()
    lit = (0.25 + 0.2 - 0.01 <= depths).astype(float)[..., None]
    offsets = [(-0.94, -0.4), (0.95, -0.77), (-0.09, 0.93), (0.34, 0.29)]
    wanted = sum(bilinear(lit, u + a * 0.07, v + b * 0.07, False) for a, b in offsets) / 4
    close(got[..., :3], wanted, 2e-3)


def test_skinning(draw):
    rng = np.random.default_rng(4)
    pose = [np.eye(4) + np.pad(rng.random((2, 4)) * 0.3 - 0.15, ((0, 2), (0, 0))) for _ in range(4)]
    places = np.array([[-0.7, -0.7], [0.8, -0.5], [-0.1, 0.8]], F)
    joints = np.array([[0, 1, 2, 3], [3, 2, 1, 0], [1, 1, 99, 0]], np.uint8)  # 99: the last one there is
    weights = np.array([[128, 64, 32, 31], [255, 0, 0, 0], [51, 51, 51, 102]], np.uint8)
    skeleton = np.concatenate([columns(m).ravel() for m in pose])
    got = draw("naga_skinning", "vs_main", "fs_main", ("--attribute", "pos", places), ("--attribute", "joints", joints),
               ("--attribute", "weights", weights), ("--arg", "globals", columns(np.eye(4)).tobytes() + struct.pack("I12x", 4)),
               ("--arg", "skeleton", skeleton), "--arg", "_buffer_sizes=u32:256", "--clear", "0,0,0,0")
    at, colors = [], []
    for p, j, w in zip(places, joints, weights / 255):
        at.append(sum(w[i] * pose[min(j[i], 3)] @ [*p, 0, 1] for i in range(4)))
        colors.append(sum(w[i] * np.array([j[i] & 1, (j[i] >> 1) & 1, 0.25]) for i in range(4)))
    at, colors = np.array(at), np.array(colors)
    _, _, x, y = centers()
    # Barycentric coordinates with each corner's own w.
    clip = np.stack([at[:, 0], at[:, 1], at[:, 3]])
    b = np.einsum("ij,jhw->ihw", np.linalg.inv(clip), np.stack([x, y, np.ones_like(x)]))
    inside = (b > 0).all(0)
    wanted = np.einsum("ihw,ic->hwc", b / b.sum(0), colors)
    close(got, np.where(inside[..., None], np.dstack([wanted, np.ones_like(x)]), 0), 1e-4, 0.02)
    assert inside.sum() > 150


def test_particles(draw):
    places = np.array([[-0.5, -0.5], [0.25, 0.5], [0.75, -0.75]], F)
    seeds = np.array([1, 2, 0xdeadbeef], np.uint32)
    corners = np.array([[-1, -1], [1, -1], [-1, 1], [1, 1]], F)
    got = draw("naga_particles", "vs_main", "fs_main", ("--instance-attribute", "particle_pos", places),
               ("--instance-attribute", "seed", seeds), ("--attribute", "corner", corners), "--primitive", "triangle-strip",
               "--instances", "3", "--clear", "0,0,0,0")
    wanted = np.zeros((32, 32, 4))
    for (px, py), seed in zip(places, seeds.tolist()):
        h = seed ^ (seed >> 16)
        h = h * 2146121005 & 0xffffffff
        h ^= h >> 15
        x, y = round((px + 1) * 16), round((1 - py) * 16)
        wanted[y - 1:y + 1, x - 1:x + 1] = [h % 256 / 255, h // 256 % 256 / 255, 0, 1]
    close(got, wanted, 1e-6)


def test_blur(draw):
    source = np.random.default_rng(5).random((32, 32, 4)).astype(F)
    got = draw("slang_blur", "vertexMain", "fragmentMain", ("--texture", "0", source), "--sampler", "0=nearest,repeat",
               ("--arg", "params_1", struct.pack("2f i f", 1 / 32, 0, 4, 2.0)))
    weights = [np.exp(-0.5 * (i / 2) ** 2) for i in range(-4, 5)]
    wanted = sum(w * np.roll(source, -i, 1) for w, i in zip(weights, range(-4, 5))) / sum(weights)
    close(got, wanted, 1e-5)


def test_tonemap(draw):
    hdr = (np.random.default_rng(6).random((32, 32, 4)) * 6).astype(F)
    got = draw("slang_tonemap", "vs", "ps", ("--texture", "hdr_0", hdr), "--arg", "entryPointParams_0=f32:0.8,2.2")
    x = hdr[..., :3].astype(float) * 0.8
    x = np.clip(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0, 1)
    close(got[..., :3], x ** (1 / 2.2), 2e-5)


def test_ssao(draw):
    rng = np.random.default_rng(7)
    depths = rng.random((32, 32)).astype(F)
    offsets = np.hstack([rng.random((8, 2)) * 2 - 1, np.zeros((8, 1)), rng.random((8, 1))]).astype(F)
    got = draw("tint_ssao", "main_vs", "main_fs", ("--texture", "depth_tex", depths),
               ("--arg", "k", offsets.tobytes() + struct.pack("2f 8x", 5.0, 0.02)))
    y, x = np.mgrid[0:32, 0:32]
    hidden = 0
    for o in offsets:
        step = np.trunc(o[:2] * F(5)).astype(int)
        there = depths[np.clip(y + step[1], 0, 31), np.clip(x + step[0], 0, 31)]
        hidden = hidden + np.where(there < depths - F(0.02), o[3], 0)
    close(got[..., 0], 1 - hidden / 8, 1e-5)


def test_sdf_text(draw):
    n = 32
    yy, xx = (np.mgrid[0:n, 0:n] + 0.5) / n - 0.5
    field = np.clip(0.5 - (np.hypot(xx, yy) - 0.3) * 2, 0, 1).astype(F)  # a full stop
    places = np.array([[-1, -1], [1, -1], [-1, 1], [1, 1]], F)
    uvs = np.array([[0, 1], [1, 1], [0, 0], [1, 0]], F)
    got = draw("tint_sdf_text", "vs", "fs", ("--attribute", "pos", places), ("--attribute", "uv", uvs),
               ("--texture", "glyphs", field[..., None]), "--sampler", "tint_sampler=linear,clamp,no-mips", "--arg",
               "ink=f32:1,0.5,0.25,1", "--primitive", "triangle-strip", size=(64, 64))
    u, v, _, _ = centers(64, 64)
    d = bilinear(field[..., None].astype(float), u, v, False)[..., 0]
    quad = d.reshape(32, 2, 32, 2)
    dx = np.abs(quad[:, :, :, 1:] - quad[:, :, :, :1]).repeat(2, 3).reshape(64, 64)
    dy = np.abs(quad[:, 1:] - quad[:, :1]).repeat(2, 1).reshape(64, 64)
    w = dx + dy
    a = np.where(w > 0, smoothstep(0.5 - w, 0.5 + np.maximum(w, 1e-9), d), d >= 0.5)
    # Of a quad, the first row's and column's differences count for all four, or each its own: both are Metal.
    close(got, np.dstack([a, a * 0.5, a * 0.25, a]), 0.02, 0.01)


def test_skybox(draw, tmp_path):
    import zlib
    faces = np.random.default_rng(8).integers(0, 256, (6, 4, 4, 3), np.uint8)
    for i, face in enumerate(faces):
        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        raw = b"".join(b"\0" + row.tobytes() for row in face)
        (tmp_path / f"f{i}.png").write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 8, 2, 0, 0, 0)) +
                                             chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))
    a, b = 0.6, -0.4
    turn = np.array([[np.cos(a), 0, np.sin(a), 0], [0, 1, 0, 0], [-np.sin(a), 0, np.cos(a), 0], [0, 0, 0, 1]]) @ \
        np.array([[1, 0, 0, 0], [0, np.cos(b), -np.sin(b), 0], [0, np.sin(b), np.cos(b), 0], [0, 0, 0, 1]])
    inverse = turn @ np.diag([1.5, 1.5, 0, 1]) + np.pad(turn[:3, 2:3] * -1, ((0, 1), (3, 0)))
    got = draw("skybox", "skybox_vertex", "skybox_fragment", ("--arg", "uniforms", columns(inverse)), "--texture",
               "sky=" + ",".join(f"f{i}.png" for i in range(6)), "--depth=less-equal")
    _, _, x, y = centers()
    d = np.einsum("ij,jhw->hwi", inverse[:3], np.stack([x, y, np.ones_like(x), np.ones_like(x)]))
    axis = np.abs(d).argmax(-1)
    major = np.take_along_axis(d, axis[..., None], -1)[..., 0]
    face = axis * 2 + (major < 0)
    dx, dy, dz = d[..., 0], d[..., 1], d[..., 2]
    sc = np.choose(face, [-dz, dz, dx, dx, dx, -dx])
    tc = np.choose(face, [-dy, -dy, dz, -dz, -dy, -dy])
    s, t = ((c / np.abs(major) + 1) / 2 for c in (sc, tc))
    wanted = faces[face, np.clip((t * 4).astype(int), 0, 3), np.clip((s * 4).astype(int), 0, 3)] / 255
    close(got[..., :3], wanted, 1e-3, 0.02)
    assert len(np.unique(face)) >= 3


def test_terrain(draw):
    n = 9
    heights = np.random.default_rng(9).random((n, n)).astype(F) * F(0.3)
    got = draw("terrain", "terrainVertex", "terrainFragment", ("--arg", "p", struct.pack("I f 2f", n, 2.0, 0.3, -0.2)),
               ("--texture", "heightMap", heights), "--count", str(6 * (n - 1) ** 2), "--depth", size=(64, 64))
    h = heights.astype(float) * 2
    pad = np.pad(h, 1, mode="edge")
    dx, dz = pad[1:-1, 2:] - pad[1:-1, :-2], pad[2:, 1:-1] - pad[:-2, 1:-1]
    normals = unit(np.dstack([-dx, np.full_like(h, 2 / (n - 1)), -dz]))
    u, v, _, _ = centers(64, 64)
    x, y = u * (n - 1), v * (n - 1)
    i, j = x.astype(int), y.astype(int)
    fx, fy = x - i, y - j
    upper = fx + fy < 1

    def mix(a):
        shape = (...,) + (None,) * (a.ndim - 2)
        p, q, low = fx[shape], fy[shape], upper[shape]
        one = a[j, i] + (a[j, i + 1] - a[j, i]) * p + (a[j + 1, i] - a[j, i]) * q
        two = a[j + 1, i + 1] + (a[j + 1, i] - a[j + 1, i + 1]) * (1 - p) + (a[j, i + 1] - a[j + 1, i + 1]) * (1 - q)
        return np.where(low, one, two)
    normal = unit(mix(normals))
    albedo = np.where(normal[..., 1:2] > 0.7, [0.2, 0.5, 0.15], [0.4, 0.35, 0.3])
    lambert = np.clip(dot(normal, unit(np.array([0.3, 1, -0.2]))), 0, 1)[..., None]
    close(got, np.dstack([albedo * lambert, mix(h)]), 1e-3, 0.005)


def test_fxaa(draw):
    yy, xx = np.mgrid[0:32, 0:32]
    picture = np.dstack([np.where(xx + 2 * yy > 48, v, 0.1) for v in (0.9, 0.7, 0.5)] + [np.ones((32, 32))]).astype(F)
    got = draw("post_fxaa", "quadVertex", "fxaa", ("--texture", "tex", picture), "--sampler", "s=linear,clamp", *STRIP)
    u, v, _, _ = centers()
    rgb, luma = picture[..., :3].astype(float), np.array([0.299, 0.587, 0.114])

    def tap(du, dv):
        return bilinear(rgb, u + du / 32, v + dv / 32, False)
    nw, ne, sw, se, m = (dot(tap(*o), luma) for o in ((-1, -1), (1, -1), (-1, 1), (1, 1), (0, 0)))
    low, high = np.min([nw, ne, sw, se, m], 0), np.max([nw, ne, sw, se, m], 0)
    d = np.dstack([-((nw + ne) - (sw + se)), (nw + sw) - (ne + se)])
    reduce = np.maximum((nw + ne + sw + se) / 32, 1 / 128)
    d = np.clip(d / (np.abs(d).min(-1) + reduce)[..., None], -8, 8)

    def along(k):
        return tap(d[..., 0] * k, d[..., 1] * k)
    a = 0.5 * (along(1 / 3 - 0.5) + along(2 / 3 - 0.5))
    b = a * 0.5 + 0.25 * (along(-0.5) + along(0.5))
    lb = dot(b, luma)
    close(got[..., :3], np.where(((lb < low) | (lb > high))[..., None], a, b), 2e-3, 0.02)
    assert np.abs(got[..., :3] - rgb).max() > 0.05  # it does something


def test_bloom_from_mipmaps(draw):
    picture = np.random.default_rng(10).random((32, 32, 4)).astype(F)
    got = draw("bloom_mips", "full", "bloom", ("--texture", "source", picture),
               ("--arg", "b", struct.pack("2f 8x 4f", 0.45, 0.1, 1.0, 0.5, 0.25, 0.125)))
    u, v, _, _ = centers()
    level, wanted = picture[..., :3].astype(float), 0
    for weight in (1.0, 0.5, 0.25, 0.125):
        c = bilinear(level, u, v, False)
        bright = c.max(-1)
        soft = np.clip(bright - 0.45 + 0.1, 0, 0.2) ** 2 / (0.4 + 1e-4)
        wanted = wanted + c * (np.maximum(soft, bright - 0.45) / np.maximum(bright, 1e-4))[..., None] * weight
        h = level.shape[0] // 2
        level = level.reshape(h, 2, h, 2, 3).mean((1, 3))
    close(got[..., :3], wanted, 6e-3)  # halves


def test_fog(draw):
    places = np.array([[-1, -1, 0.1], [1, -1, 0.9], [-1, 1, 0.3], [1, 1, 0.7]], F)
    normals = np.array([[0, 0, 2], [1, 0, 1], [0, 1, 1], [-1, -1, 0.5]], F)
    eye = columns(np.eye(4)).tobytes()
    light, fog = unit(np.array([0.3, 0.4, 0.9])), np.array([0.5, 0.6, 0.7])
    got = draw("hlslcc_fog", "xlatMtlMain", "xlatMtlFrag", ("--attribute", "0", places), ("--attribute", "1", normals),
               ("--arg", "VGlobals", eye + eye + struct.pack("4f", 0, 0, -1.2, 1.1)),
               ("--arg", "FGlobals", struct.pack("4f 4e 8x", *light, 0, *fog, 1)), "--primitive", "triangle-strip")
    u, v, x, y = centers()
    p, q = (x + 1) / 2, (y + 1) / 2
    lower = (p + q < 1)[..., None]

    def mix(a):
        a = np.asarray(a, float).reshape(4, -1)
        p_, q_ = p[..., None], q[..., None]
        return np.where(lower, a[0] + (a[1] - a[0]) * p_ + (a[2] - a[0]) * q_,
                        a[3] + (a[2] - a[3]) * (1 - p_) + (a[1] - a[3]) * (1 - q_))
    n = mix(unit(normals.astype(float)))
    lit = np.maximum(n @ light, 0)[..., None]
    k = np.clip(mix(places[:, 2] * -1.2 + 1.1), 0, 1)
    close(got[..., :3], fog + k * (lit - fog), 2e-3)


def test_point_sprites(draw):
    particles = [(-0.5, 0.5, 0.0, 0x800000ff), (0.25, -0.25, 1.0, 0xff00ff00), (0.5, 0.5, 2.0, 0xffffffff)]
    data = b"".join(struct.pack("3f I", *p) for p in particles)
    got = draw("point_sprites", "particle_vertex", "particle_fragment", ("--arg", "particles", data), "--primitive", "point",
               "--count", "3", "--clear", "0,0,0,0", size=(64, 64))
    wanted = np.zeros((64, 64, 4))
    y, x = np.mgrid[0:64, 0:64] + 0.5
    for (px, py, age, _), color in zip(particles[:2], ((1, 0, 0), (0, 1, 0))):  # the third is dead
        cx, cy, size = (px + 1) * 32, (1 - py) * 32, 8 + 8 * age
        u, v = (x - cx) / size + 0.5, (y - cy) / size + 0.5
        d = np.hypot(u - 0.5, v - 0.5)
        wanted[d <= 0.5] = np.dstack([*(np.full_like(d, c) for c in color), 1 - 2 * d])[d <= 0.5]
    close(got, wanted, 1e-4, 0.002)


def test_gbuffer(draw):
    normal, packed = draw("gbuffer_octahedral", "gbuffer_vs", "gbuffer_fs", "--arg", "metalness=f32:0.7",
                          outputs=("0=n.npy", "1=p.npy"))
    _, _, x, y = centers()
    a, b = x * np.pi, y * np.pi / 2
    n = np.dstack([np.cos(b) * np.cos(a), np.sin(b), np.cos(b) * np.sin(a)])
    e = normal[..., :2].astype(float) * 2 - 1  # decoded again
    z = 1 - np.abs(e).sum(-1)
    t = np.maximum(-z, 0)
    back = unit(np.dstack([e[..., 0] - np.sign(e[..., 0]) * t, e[..., 1] - np.sign(e[..., 1]) * t, z]))
    close(back, n, 1e-5)
    assert (packed[..., 0] == 0xffbf8040).all() and packed.dtype == np.uint32
    snorm = np.rint(np.stack([x, y]) * 32767).astype(int)
    got = np.stack([(packed[..., 1] & 0xffff).astype(np.uint16).view(np.int16), (packed[..., 1] >> 16).astype(np.uint16).view(np.int16)])
    assert np.abs(got - snorm).max() <= 1
    assert (packed[..., 2] == 179 << 8).all() and (packed[..., 3] == bin(179).count("1")).all()


def test_dither(draw):
    color, depth = draw("dither_discard", "door_vertex", "door_fragment", "--arg", "alpha=f32:0.4", "--depth", "--clear",
                        "0,0,0,0", outputs=("o.npy", "depth=d.npy"))
    bayer = np.array([0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5]).reshape(4, 4)
    kept = np.tile((bayer + 0.5) / 16 <= 0.4, (8, 8))
    y, x = np.mgrid[0:32, 0:32] + 0.5
    close(color, np.where(kept[..., None], np.dstack([x, y, x * 0 + 0.25, x * 0 + 1]), 0), 0)
    close(depth[..., None], np.where(kept, 0.375, 1)[..., None], 0)


def test_rounded_boxes(draw):
    quads = [((3, 4, 30, 20), (2, 6, 0, 9), 2.0, 0xff336699, 0xffffffff, (0, 0, 64, 64)),
             ((20, 30, 40, 30), (5, 5, 5, 5), 3.0, 0xffcc8800, 0xff0000ff, (24, 32, 20, 20))]
    data = b"".join(struct.pack("4f 4f f I I 4f", *b, *r, w, f, e, *c) for b, r, w, f, e, c in quads)
    got = draw("ui_rounded_box", "quad_vertex", "quad_fragment", ("--arg", "quads", data), "--arg", "viewport=f32:64,64",
               "--instances", "2", "--blend", "premultiplied", "--clear", "0,0,0,0", *STRIP, size=(64, 64))
    y, x = np.mgrid[0:64, 0:64] + 0.5
    wanted = np.zeros((64, 64, 4))
    for b, r, w, fill, edge, c in quads:
        cx, cy = x - (b[0] + b[2] / 2), y - (b[1] + b[3] / 2)
        radius = np.where(cx < 0, np.where(cy < 0, r[0], r[3]), np.where(cy < 0, r[1], r[2]))
        dx, dy = np.abs(cx) - b[2] / 2 + radius, np.abs(cy) - b[3] / 2 + radius
        d = np.hypot(np.maximum(dx, 0), np.maximum(dy, 0)) + np.minimum(np.maximum(dx, dy), 0) - radius
        bytes_ = [np.array([v >> 8 * i & 255 for i in range(4)]) / 255 for v in (fill, edge)]
        f = bytes_[0].copy()
        f[:3] = np.where(f[:3] <= 0.04045, f[:3] / 12.92, ((f[:3] + 0.055) / 1.055) ** 2.4)
        t = np.clip(0.5 - (d + w), 0, 1)[..., None]
        color = (bytes_[1] + (f - bytes_[1]) * t) * np.clip(0.5 - d, 0, 1)[..., None]
        inside = (x > b[0]) & (x < b[0] + b[2]) & (y > b[1]) & (y < b[1] + b[3]) & \
            (x > c[0]) & (x < c[0] + c[2]) & (y > c[1]) & (y < c[1] + c[3])
        wanted = np.where(inside[..., None], color + wanted * (1 - color[..., 3:]), wanted)
    close(got, wanted, 2e-4, 0.001)


def test_parallax(draw):
    rng = np.random.default_rng(11)
    heights = rng.random((8, 8)).astype(F)
    got = draw("parallax", "parallax_vs", "parallax_fs", ("--texture", "height", heights[..., None]), "--sampler",
               "s=nearest,clamp,no-mips", "--arg", "eye=f32:0.5,-0.3,1.2", *STRIP)
    u, v, x, y = centers()
    view = unit(np.dstack([0.5 - x, -0.3 - y, np.full_like(x, 1.2)]))
    delta = view[..., :2] / np.maximum(view[..., 2:], 0.05) * 0.08 / 16 * [1, -1]
    at = np.dstack([u, v])
    level, n, active = np.ones_like(u), np.zeros_like(u), np.ones_like(u, bool)

    def height(p):
        i = np.clip(np.floor(p * 8).astype(int), 0, 7)
        return heights[i[..., 1], i[..., 0]]
    h = height(at)
    for _ in range(16):
        active = active & (h < level)
        level = level - active / 16
        at = at - delta * active[..., None]
        h = np.where(active, height(at), h)
        n += active
    close(got, np.dstack([at, level, n]), 1e-4, 0.02)


def test_depth_only(draw):
    places = np.array([[-16384, -16384, 0], [32767, 0, 32767], [0, 32767, 8000]], np.int16)
    light = np.diag([1, 1, 0.5, 1]) + np.pad([[0.25]], ((2, 1), (3, 0)))
    got = draw("depth_prepass", "depth_only", None, ("--attribute", "0", places), ("--arg", "light", columns(light)),
               outputs=("depth=d.npy",))
    corners = np.maximum(places / 32767, -1)
    _, _, x, y = centers()
    m = np.vstack([corners[:, :2].T, np.ones(3)])
    b = np.einsum("ij,jhw->ihw", np.linalg.inv(m), np.stack([x, y, np.ones_like(x)]))
    z = np.einsum("ihw,i->hw", b, corners[:, 2]) * 0.5 + 0.25
    close(got[..., None], np.where((b > 0).all(0), z, 1)[..., None], 2e-3, 0.02)


def test_facets(draw):
    points = np.array([[-0.9, -0.9, 0.2], [0.9, -0.9, 0.5], [-0.9, 0.9, 0.9], [0.95, -0.85, 0], [0.95, 0.95, 0.7], [-0.85, 0.95, 0.1]], F)
    got = draw("facets_derivatives", "facets_vs", "facets_fs", ("--arg", "points", points.ravel()), "--count", "6", "--clear",
               "0,0,0,0", size=(64, 64))
    _, _, x, y = centers(64, 64)
    wanted, sure = np.zeros((64, 64, 4)), np.ones((64, 64), bool)
    for t in points.astype(float).reshape(2, 3, 3):
        inverse = np.linalg.inv(np.vstack([t[:, :2].T, np.ones(3)]))
        b = np.einsum("ij,jhw->ihw", inverse, np.stack([x, y, np.ones_like(x)]))
        n = np.cross(t[1] - t[0], t[2] - t[0])
        n = unit(n * np.sign(n[2]))
        # d/dy goes down the picture
        step = np.abs(inverse[:, 0]) * 2 / 64 + np.abs(inverse[:, 1]) * 2 / 64
        edge = smoothstep(0, step[:, None, None] * 1.5, b).min(0)
        inside = (b > 0).all(0)
        wanted[inside] = np.dstack([*(np.full_like(x, c) for c in n), edge])[inside]
        sure &= (np.abs(b) > 1e-4).all(0)
    close(np.where(sure[..., None], got, 0), np.where(sure[..., None], wanted, 0), 2e-3, 0.002)


def test_lut(draw):
    rng = np.random.default_rng(12)
    scene = np.dstack([rng.random((32, 32, 3)), np.ones((32, 32))]).astype(F)
    table = rng.random((16, 16, 16, 3))  # blue, green, red
    strip = np.dstack([table.transpose(1, 0, 2, 3).reshape(16, 256, 3), np.ones((16, 256))]).astype(F)
    got = draw("lut_grading", "blit_vs", "grade", ("--texture", "scene", scene), ("--texture", "lut", strip))
    c = scene[..., :3].astype(float) * 15
    i = np.minimum(c.astype(int), 14)
    f = c - i
    wanted = 0
    for corner in range(8):
        bit = np.array([corner & 1, corner >> 1 & 1, corner >> 2])
        w = np.where(bit, f, 1 - f).prod(-1)[..., None]
        j = i + bit
        wanted = wanted + w * table[j[..., 2], j[..., 1], j[..., 0]]
    close(got[..., :3], wanted, 6e-3)  # a filter has 8 bits between texels at least


def test_picking(draw):
    got = draw("picking_ids", "pick_vs", "pick_fs", "--instances", "2", *STRIP, "--winding", "ccw")
    u, v, _, _ = centers()
    instance = (u > 0.5).astype(int)
    s = np.where(instance, 1 - (u - 0.5) * 2, u * 2)  # along the strip
    t = 1 - v
    primitive = (s + t > 1).astype(int)
    wanted = np.dstack([instance + 100, primitive, 1 - instance, instance * 0 + 7])
    close(got, wanted, 0, 0.04)  # the diagonals
    assert got.dtype == np.uint32


def test_moltenvk_swizzles(draw):
    picture = np.random.default_rng(13).random((32, 32, 4)).astype(F)
    swizzle = 0x01030504  # r from green, g from blue, b from red, a is zero
    options = (("--texture", "tex", picture), "--sampler", "texSmplr=nearest,clamp", "--arg", f"spvSwizzleConstants=u32[1]=fill:{swizzle}")
    a, b = draw("moltenvk_swizzle", "vmain", "fmain", *options, outputs=("0=a.npy", "1=b.npy"))
    close(a, np.dstack([picture[..., 1], picture[..., 2], picture[..., 0], np.zeros((32, 32))]), 0)
    assert set(np.unique(b)) <= set(picture[..., 2].ravel())  # green of the view is blue
    y, x = np.mgrid[1:31, 1:30]
    texels = np.stack([picture[y + j, x + 1 + i, 2] for j in (-1, 0, 1) for i in (-1, 0, 1)])
    assert (np.abs(texels[..., None] - b[1:31, 1:30]).min(0) == 0).all()


def test_programmable_blending(draw):
    colors = np.random.default_rng(14).random((5, 4)).astype(F)
    got = draw("programmable_blending", "layers_vs", "overlay_fs", ("--arg", "colors", colors), "--instances", "5", *STRIP,
               "--clear", "0.25,0.5,0.75,0")
    _, _, x, y = centers()
    wanted = np.broadcast_to([0.25, 0.5, 0.75, 0], (32, 32, 4)).copy()
    for i, s in enumerate(colors.astype(float)):
        inside = (np.maximum(np.abs(x), np.abs(y)) < 1 - 0.15 * i)[..., None]
        b = wanted[..., :3]
        overlay = np.where(b < 0.5, 2 * b * s[:3], 1 - 2 * (1 - b) * (1 - s[:3]))
        after = np.dstack([b + (overlay - b) * s[3], wanted[..., 3:] + 1])
        wanted = np.where(inside, after, wanted)
    close(got, wanted, 1e-5)


@pytest.mark.parametrize("texture, model, scale", [(True, 1, 2), (False, 2, None), (False, 7, 3), (True, 0, None)])
def test_ubershader(draw, texture, model, scale):
    picture = np.random.default_rng(15).random((16, 16, 4)).astype(F)
    options = ["--arg", "tint=f32:0.5,1,0.25,1", "--constant", f"has_texture={str(texture).lower()}", "--constant", f"light_model={model}"]
    options += [("--texture", "albedo", picture)] if texture else []
    options += ["--constant", f"uv_scale={scale},{scale}"] if scale else []
    got = draw("ubershader_constants", "uber_vs", "uber_fs", *options)
    u, v, _, _ = centers()
    u, v = u * (scale or 1), v * (scale or 1)
    c = np.broadcast_to(np.array([0.5, 1, 0.25, 1]), (32, 32, 4)).copy()
    if texture:
        c *= picture[(v * 16).astype(int) % 16, (u * 16).astype(int) % 16]
    if model == 1:
        c[..., :3] *= 0.5
    if model in (1, 2):
        c[..., :3] += 0.125
    close(got, np.dstack([u, v, u * 0, u * 0 + 1]) if model == 7 else c, 1e-5)


def test_sampling_zoo(draw):
    rng = np.random.default_rng(16)
    t, shadow = rng.random((32, 32, 4)).astype(F), rng.random((32, 32)).astype(F)
    a, b, c, d = draw("sampling_zoo", "zoo_vs", "zoo_fs", ("--texture", "t", t), ("--texture", "shadow", shadow),
                      outputs=tuple(f"{i}={i}.npy" for i in range(4)))
    levels = [t.astype(float)]
    while levels[-1].shape[0] > 1:
        n = levels[-1].shape[0] // 2
        levels.append(levels[-1].reshape(n, 2, n, 2, 4).mean((1, 3)))
    u, v, _, _ = centers()
    close(a, bilinear(levels[1], u, v), 2e-3)
    y, x = np.mgrid[0:32, 0:32]
    close(b[..., 0], t[np.clip(y - 1, 0, 31), np.clip(x + 2, 0, 31), 0], 1e-6)
    close(b[..., 1], t[..., 1], 1e-6)
    close(b[..., 2], levels[2][y // 4, x // 4, 2], 2e-3)
    close(b[..., 3], bilinear(levels[2], u, v)[..., 3], 2e-3)
    e = np.minimum(x + 1, 31), np.minimum(y + 1, 31)  # (0,1), (1,1), (1,0), (0,0) of the four around a corner
    close(c, np.dstack([t[e[1], x, 2], t[e[1], e[0], 2], t[y, e[0], 2], t[y, x, 2]]), 1e-6)
    close(d[..., 1], (0.25 < shadow).astype(float), 0)
    assert (d[..., 2] == 6).all()
    close(d[..., 3], np.full((32, 32), 2.0), 0.05)


def test_quads(draw):
    a, b = draw("quad_and_helpers", "quad_vs", "quad_fs", outputs=("0=a.npy", "1=b.npy"))
    y, x = np.mgrid[0:32, 0:32]
    four = (x // 2 * 2 * 2 + 1) * 2 + 100 * (y // 2 * 2 * 2 + 1) * 2
    close(a, np.dstack([x ^ 1, y ^ 2 // 2, four, (y & 1) * 2 + (x & 1)]), 0)
    u, v, cx, cy = centers()
    flat = np.einsum("ij,jhw->ihw", np.linalg.inv(np.array([[-1, 3, -1], [-1, -1, 3], [1, 1, 1]])), np.stack([cx, cy, cx * 0 + 1]))
    over_w = flat / np.array([1, 2, 1])[:, None, None]
    perspective = (over_w / over_w.sum(0))[1]
    slope = (x // 2 * 2 + 1) ** 2 - (x // 2 * 2) ** 2
    close(b, np.dstack([perspective, flat[1], perspective, slope + 1000]), 1e-4)


def test_samples(draw):
    got = draw("per_sample", "sample_vs", "sample_fs", "--msaa", "4", size=(8, 8))
    x = np.arange(8) + 0.5
    close(got[..., 0], np.full((8, 8), 1.5), 1e-6)  # the mean of 0 to 3
    close(got[..., 1], np.full((8, 8), 0.5), 1e-6)
    close(got[..., 2], np.broadcast_to(x, (8, 8)), 1e-5)  # the places of samples surround the centre
    got = draw("per_sample", "sample_vs", "mask_fs", "--msaa", "4", "--clear", "0,0,0,0", size=(16, 8))
    share = np.array([bin(i & 15).count("1") / 4 for i in range(16)])
    close(got[..., 1], np.broadcast_to(share, (8, 16)), 1e-6)
    close(got[..., 0], np.broadcast_to(share * 15, (8, 16)), 1e-5)


def test_language(draw):
    m = np.random.default_rng(17).random((4, 4))
    a, b = draw("language_zoo", "zoo_vs", "zoo_fs", ("--arg", "m", columns(m)), outputs=("0=a.npy", "1=b.npy"))
    r = m[:3, :3]
    wanted = np.zeros((2, 32, 32, 4))
    for y in range(32):
        for x in range(32):
            ring = [0] * 5
            for i in range(5):
                ring[(i + x) % 5] = i * i
            z, c = complex(0.1 * x / 32, 0.2), complex(0.3, 0.1 * y / 32)
            for _ in range(6):
                z = z * z + c
            s = sum((3 * (i + 0.5) / 30) ** 2 + y for i in range(30)) * 3 / 30
            k = 0
            while True:
                k += 2 if x & 1 else 1
                if k > 20 or not k < y:
                    break
            v = r.T @ (np.array([x, y, 1]) @ r)
            wanted[0, y, x] = ring[4] + 3000, z.real, z.imag, s
            wanted[1, y, x] = k + [[1, 2], [3, 4], [5, 6]][y % 3][x & 1] * 100, np.linalg.det(m), v[0] + v[1] * 0.5, 120 + 127
    close(a, wanted[0], 2e-3)
    close(b, wanted[1], 2e-2)


def test_pull(draw):
    got = draw("pull_interpolation", "pull_vs", "pull_fs")
    u, v, _, _ = centers()
    close(got, np.dstack([u, v, u + 0.25 / 32, v - 0.25 / 32]), 1e-5)


def test_there_are_files():
    assert len(list(HERE.glob("*.metal"))) >= 30


@pytest.mark.parametrize("fragment, color", [("bools_fs", [1, 0, 0, 1]), ("one_fs", [0.25, 0.5, 0.75, 1]),
                                             ("attributes_fs", [0.75, 0.5, 0.25, 1])])
def test_loose_stage_inputs(draw, fragment, color):
    assert (draw("loose_stage_inputs", "triangle_vs", fragment) == np.array(color, F)).all()
