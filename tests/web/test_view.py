# SPDX-License-Identifier: Apache-2.0
"""Captures on a page: what the server says about one, the file of --html, and the page in a real browser, also with
10,000 commands and two captures side by side. A program of our own is captured, so that every number is known."""
import json
import os
import pathlib
import struct
import subprocess
import time

import pytest

from conftest import BUILD, ROOT, Server, environment

# Dispatches and a pass: `n` turns of a kernel that counts, in command buffers of 100; then two triangles, the second
# before the first, and a third that depth keeps out, at the pixel in the middle.
PROGRAM = r"""
#include <ingot/metal.h>
#include <stdlib.h>
static const char source[] =
    "#include <metal_stdlib>\nusing namespace metal;\nstruct P { float2 place; uint hits; };\n"
    "kernel void step(device P *p [[buffer(0)]], constant float &add [[buffer(1)]], uint i [[thread_position_in_grid]]) {\n"
    "    p[i].place += add;\n    p[i].hits++;\n}\n"
    "struct In { float3 place [[attribute(0)]]; };\nstruct V { float4 at [[position]]; };\n"
    "vertex V corner(In in [[stage_in]]) { return {float4(in.place, 1)}; }\n"
    "fragment float4 paint(V in [[stage_in]], constant float4 &color [[buffer(0)]]) { return color; }\n";
int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 10;
    float special = argc > 2 ? (float)atof(argv[2]) : 1;
    MTLDevice *device = mtl_create_system_default_device();
    MTLLibrary *library = mtl_device_new_library_with_source(device, source, NULL, NULL);
    MTLFunction *step = mtl_library_new_function(library, "step");
    MTLComputePipelineState *compute = mtl_device_new_compute_pipeline_state(device, step, NULL);
    MTLBuffer *points = mtl_device_new_buffer(device, 16 * 16, 0);
    mtl_buffer_set_label(points, "points");
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    for (int k = 0; k < n; k += 100) {
        MTLCommandBuffer *c = mtl_command_queue_command_buffer(queue);
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(c);
        mtl_compute_command_encoder_set_compute_pipeline_state(e, compute);
        mtl_compute_command_encoder_set_buffer(e, points, 0, 0);
        for (int i = 0; i < 100 && k + i < n; i++) {
            float add = k + i == 5 ? special : 1;
            mtl_compute_command_encoder_set_bytes(e, &add, 4, 1);
            mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(16, 1, 1), mtl_size_make(16, 1, 1));
        }
        mtl_compute_command_encoder_end_encoding(e);
        mtl_command_buffer_commit(c);
        mtl_command_buffer_wait_until_completed(c);
        mtl_release(c);
    }
    MTLRenderPipelineDescriptor d = {
        .vertex_function = mtl_library_new_function(library, "corner"),
        .fragment_function = mtl_library_new_function(library, "paint"),
        .vertex_descriptor = &(MTLVertexDescriptor){.attributes[0] = {.format = MTLVertexFormatFloat3},
                                                    .layouts[0] = {.stride = 12}},
        .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm,
        .depth_attachment_pixel_format = MTLPixelFormatDepth32Float};
    MTLRenderPipelineState *render = mtl_device_new_render_pipeline_state(device, &d, NULL);
    MTLTextureDescriptor t = mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, 64, 64, false);
    t.usage = MTLTextureUsageRenderTarget;
    MTLTexture *picture = mtl_device_new_texture(device, &t);
    mtl_texture_set_label(picture, "picture");
    t.pixel_format = MTLPixelFormatDepth32Float;
    MTLRenderPassDescriptor pass = mtl_render_pass_descriptor_make();
    pass.color_attachments[0].texture = picture;
    pass.color_attachments[0].load_action = MTLLoadActionClear;
    pass.depth_attachment.texture = mtl_device_new_texture(device, &t);
    pass.depth_attachment.store_action = MTLStoreActionStore;
    MTLCommandBuffer *c = mtl_command_queue_command_buffer(queue);
    mtl_command_buffer_set_label(c, "the frame");
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(c, &pass);
    mtl_render_command_encoder_set_label(e, "triangles");
    mtl_render_command_encoder_set_render_pipeline_state(e, render);
    mtl_render_command_encoder_set_depth_stencil_state(e, mtl_device_new_depth_stencil_state(
        device, &(MTLDepthStencilDescriptor){.depth_compare_function = MTLCompareFunctionLess, .depth_write_enabled = true}));
    const float depths[3] = {0.75f, 0.25f, 0.5f}, colors[3][4] = {{1, 0, 0, 1}, {0, 1, 0, 1}, {0, 0, 1, 1}};
    for (int i = 0; i < 3; i++) {
        float z = depths[i], v[9] = {-1, -1, z, 3, -1, z, -1, 3, z};
        MTLBuffer *vertices = mtl_device_new_buffer_with_bytes(device, v, sizeof v, 0);
        mtl_render_command_encoder_set_vertex_buffer(e, vertices, 0, 0);
        mtl_render_command_encoder_set_fragment_bytes(e, colors[i], sizeof colors[i], 0);
        mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangle, 0, 3);
    }
    mtl_render_command_encoder_end_encoding(e);
    mtl_command_buffer_commit(c);
    mtl_command_buffer_wait_until_completed(c);
    return mtl_command_buffer_status(c) != MTLCommandBufferStatusCompleted;
}
"""
N = 10  # dispatches: commands 0 to 9; the pass is 10, its draws 11 to 13


def tool(cache, *args, status=0):
    done = subprocess.run([BUILD / "bin" / "ingot", *map(str, args)], capture_output=True, text=True, timeout=120,
                          env=environment(cache))
    assert done.returncode == status, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("program")
    (folder / "p.c").write_text(PROGRAM)
    subprocess.run(["cc", "p.c", "-o", "p", f"-I{ROOT / 'include'}", f"-L{BUILD / 'lib'}", "-lingot",
                    f"-Wl,-rpath,{BUILD / 'lib'}"], cwd=folder, check=True)
    return folder / "p"


@pytest.fixture(scope="module")
def trace(program, cache):
    def make(*args):
        path = program.parent / f"{'-'.join(map(str, args)) or 'plain'}.ingottrace"
        if not path.exists():
            tool(cache, "capture", "-q", "-o", path, program, *args)
        return path
    return make


@pytest.fixture(scope="module")
def view(trace, cache):
    server = Server(cache, "view", "--no-browser", trace(N))
    yield server
    assert server.process.poll() is None, "the server is gone"
    server.close()


def parts(data):
    n, = struct.unpack("<I", data[:4])
    return json.loads(data[4:4 + n]), data[4 + n:]


@pytest.fixture(scope="module")
def index(view):
    status, data = view.ask("api/index")
    assert status == 200, data
    return json.loads(data)


def command(index, number):
    return next(e for e in index["events"] if e.get("command") == number)


def test_index(index):
    assert index["commands"] == N + 4
    assert [e["class"] for e in index["events"] if e["event"] == "encoder"][0] == "MTLComputeCommandEncoder"
    assert "triangles" in [e.get("label") for e in index["events"] if e["event"] == "encoder"]
    dispatch, draw = command(index, 3), command(index, N + 1)
    assert dispatch["grid"] == [16, 1, 1] and [a["name"] for a in dispatch["kernel"]["arguments"]] == ["p", "add"]
    library = index["libraries"][index["reflection"][str(dispatch["kernel"]["function"])]]
    assert {"P", "float"} <= {t["name"] for t in library["types"]}
    assert draw["vertices"] == 3 and draw["state"]["depthCompare"] == 1
    assert any("kernel void step" in s["text"] for s in index["sources"])


@pytest.mark.parametrize("at", [0, 4, 9, 2])  # also back
def test_memory_after_a_command(view, index, at):
    address = command(index, at)["kernel"]["arguments"][0]["value"]
    status, data = view.ask(f"api/bytes?{at},{address},48")
    assert status == 200, data
    assert struct.unpack("<ffI", parts(data)[1][:12]) == (at + 1, at + 1, at + 1)


def texture(view, index, at, key):
    handle = next(t["handle"] for t in index["textures"] if t["texture"] == command(index, N)[key]["texture"])
    number = next(r["number"] for r in index["resources"] if r["handle"] == handle)
    status, data = view.ask(f"api/texture?{at},{number},0,0")
    assert status == 200, data
    return number, *parts(data)


def test_textures_after_each_draw(view, index):
    for at, color in ((N, (0, 0, 0, 255)), (N + 1, (255, 0, 0, 255)), (N + 2, (0, 255, 0, 255)), (N + 3, (0, 255, 0, 255))):
        _, about, data = texture(view, index, at, "color0")
        assert (about["width"], about["height"], about["packing"]) == (64, 64, "bytes")
        assert tuple(data[4 * (32 * 64 + 32):][:4]) == color, at
    _, about, data = texture(view, index, N + 1, "depth")
    assert about["packing"] == "one" and struct.unpack_from("<f", data, 4 * (32 * 64 + 32)) == (0.75,)


def test_history_of_a_pixel(view, index):
    number, depth = texture(view, index, N, "color0")[0], texture(view, index, N, "depth")[0]
    status, data = view.ask(f"api/history?{N + 3},{number},{depth},32,32")
    assert status == 200, data
    history = json.loads(data)
    assert [(d["command"], d["covered"], d["passed"], d["after"][:3]) for d in history["draws"]] == [
        (N + 1, 1, 1, [1, 0, 0]), (N + 2, 1, 1, [0, 1, 0]), (N + 3, 1, 0, [0, 1, 0])]
    assert [(d["beforeDepth"], d["afterDepth"]) for d in history["draws"]] == [(1, 0.75), (0.75, 0.25), (0.25, 0.25)]
    assert history["looked"] == history["of"] == 3  # the third is behind: it covers the pixel and fails


def test_times(view):
    status, data = view.ask("api/times")
    times = json.loads(data)
    assert status == 200 and len(times) == N + 4 and all(t > 0 for t in times[:N + 1])


def test_lines(view):
    """Counts are exact: they do not depend on the machine; samples are some."""
    status, data = view.ask("api/lines")
    assert status == 200, data
    reply = json.loads(data)
    counts = [(c["at"][0], reply["kernels"][c["at"][1]], reply["files"][c["at"][2]], c["at"][3], c) for c in reply["counts"]]
    for at in range(N):
        mine = [c for command, kernel, _, _, c in counts if command == at and kernel == "step"]
        assert sum(c["threads"] for c in mine) == 16 and sum(c["written"] for c in mine) == 16 * 12, (at, mine)
        assert sum(c["active"] for c in mine) * 2 == sum(c["room"] for c in mine) > 0  # 16 threads of 32 lanes
    threads = {}
    for command, kernel, _, _, c in counts:
        threads[command, kernel] = threads.get((command, kernel), 0) + c["threads"]
    assert all(threads[N + k, "corner"] == 3 for k in (1, 2, 3)), threads
    assert [threads.get((N + k, "paint"), 0) for k in (1, 2, 3)] == [4096, 4096, 0], threads  # the third is behind
    assert {(f, line) for _, k, f, line, _ in counts if k == "step" and line} >= {("program_source", 5), ("program_source", 6)}


def test_the_debugger(view, index, trace, cache, tmp_path):
    """The words that the page gives are a command that works; and a terminal is opened with them."""
    words = f"{index['debug']} --command 3 --thread 5,0,0 --batch --ex 'print i' --ex 'print p[5].hits'"
    done = subprocess.run(words, shell=True, capture_output=True, text=True, timeout=120, env=environment(cache))
    assert "$1 = 5" in done.stdout and "$2 = 3" in done.stdout, done
    assert index["terminal"] is False
    status, data = view.ask("api/debug?3,thread,5,0,0", "")
    assert status == 404 and b"no terminal" in data
    terminal = tmp_path / "terminal"
    terminal.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/new && mv {tmp_path}/new {tmp_path}/said\n')
    terminal.chmod(0o755)
    os.environ["TERMINAL"] = str(terminal)
    server = Server(cache, "view", "--no-browser", trace(N))
    del os.environ["TERMINAL"]
    try:
        assert json.loads(server.ask("api/index")[1])["terminal"] is True
        assert server.ask("api/debug?3,thread,5,0,0", "")[0] == 200
        end = time.monotonic() + 20
        while not (tmp_path / "said").exists() and time.monotonic() < end:
            time.sleep(0.02)
        said = (tmp_path / "said").read_text().split("\n")
        assert said[2:] == ["debug", str(trace(N)), "--command", "3", "--thread", "5,0,0", ""], said
        for wrong in ("", "x", "3,thread,;ls", "3,pixels,1", "3,thread,1;"):
            status, data = server.ask(f"api/debug?{wrong}", "")
            assert status == 404 and b"it is COMMAND" in data, (wrong, data)
        assert server.ask("api/debug?3")[0] == 404  # not by a link
    finally:
        server.close()


@pytest.mark.parametrize("path", ["api/bytes?", "api/bytes?0,0x10,64", "api/texture?0,99,0,0", "api/texture?x", "api/history?0,0,0,0,0",
                                  "api/nothing", "other/index", "api/bytes?99999999,0x10,4"])
def test_what_there_is_not(view, path):
    status, data = view.ask(path)
    assert status == 404 and json.loads(data)["error"], data


def test_command_lines_that_are_wrong(cache, tmp_path, trace):
    (tmp_path / "no").write_bytes(b"nothing of the kind")
    for args, status in ((["view"], 2), (["view", tmp_path / "no"], 1), (["view", tmp_path / "none"], 1),
                         (["view", trace(N), trace(N), "--html", "x"], 2), (["view", trace(N), "--html", tmp_path / "no" / "x"], 1)):
        done = tool(cache, *args, status=status)
        assert done.stderr.startswith("ingot view: ") and done.stderr.count("\n") == 1, done


# ---- In a browser ----

def choose(page, number, tab):
    page.js(f"[...document.querySelectorAll('#tree .node')].find(r => r.querySelector('.number')?.textContent === '{number}').click()")
    page.js(f"[...document.querySelectorAll('#tabs button')].find(b => b.textContent === '{tab}').click()")
    page.wait(f"document.body.dataset.shown === '{tab} {number}'")


@pytest.fixture
def page(view, browser):
    browser.size(1360, 860)
    browser.open(view.address)
    browser.wait("document.body?.dataset.ready === '1'")
    yield browser
    assert browser.errors() == []
    browser.open("about:blank")


def look(page):
    """What is the same on a server's page and in a file."""
    choose(page, 4, "Buffers")
    page.wait("document.querySelectorAll('.content .row').length >= 8")
    assert page.js("[...document.querySelector('.content .row').children].map(c => c.textContent)") == ["0", "5", "5", "5"]
    assert page.js("[...document.querySelectorAll('.content .head')[0].children].map(c => c.textContent)") == ["#", "place.x", "place.y", "hits"]
    choose(page, N + 2, "Textures")
    page.wait("document.querySelectorAll('.picture[data-ready]').length === 2")
    page.move(".picture canvas.image", 0.5, 0.5)
    page.wait("/r 0  g 1  b 0  a 1/.test(document.querySelector('.picture .value').textContent)")
    choose(page, N + 1, "State")
    assert page.js("/less, writes/.test(document.querySelector('#body').textContent)")
    choose(page, 4, "State")
    page.js("(i => { i.value = 7; i.dispatchEvent(new Event('input')); })(document.querySelector('[aria-label=x]'))")
    assert page.js("document.querySelector('code.debug').textContent").endswith(".ingottrace --command 4 --thread 7,0,0")
    choose(page, N + 1, "Mesh")
    page.wait("document.querySelector('canvas.wire')?.dataset.edges === '3'")
    choose(page, 0, "Source")
    assert page.js("document.querySelector('.source .entry').textContent").startswith("kernel void step")
    page.wait("document.querySelector('pre.source').dataset.measured")
    assert page.js("document.querySelector('.source .l[data-n=\"6\"] .lanes').textContent") == "50 %"
    choose(page, 0, "Statistics")
    page.wait("document.querySelectorAll('.ran tbody tr').length === 1")
    assert page.js("[...document.querySelectorAll('.ran tbody td')].slice(0, 3).map(c => c.textContent)") == ["step", "16", "50 %"]


def test_page(page):
    look(page)
    page.wait("document.body.dataset.timed === '1'")
    page.js("[...document.querySelectorAll('#tree .name')].find(n => n.textContent === 'command buffer the frame').click()")
    page.js("[...document.querySelectorAll('#tabs button')].find(b => b.textContent === 'Statistics').click()")
    page.wait("/corner, paint/.test(document.querySelector('#body').textContent)")


def test_a_click_on_a_pixel_tells_its_history(page):
    choose(page, N + 3, "Textures")
    page.wait("document.querySelectorAll('.picture[data-ready]').length === 2")
    page.click(".picture canvas.image")
    page.wait("document.querySelectorAll('#body tbody tr').length === 3")
    lines = page.js("[...document.querySelectorAll('code.debug')].map(c => c.textContent.replace(/.* --command/, ''))")
    assert [line[:11] for line in lines] == [" 11 --pixel", " 12 --pixel"], lines  # the draws that wrote it
    assert page.js("document.querySelectorAll('#body tbody tr')[2].lastChild.textContent") == "failed the depth or stencil test"
    page.click("#body tbody button")
    page.wait("document.getElementById('place').textContent.startsWith('command 11 ')")


def test_keys(page):
    page.key("End")  # at once: the tree has the focus
    page.wait("document.getElementById('place').textContent.startsWith('command 13 ')")
    page.click("#tree .node")
    page.js("document.getElementById('tree').focus()")
    rows = page.js("document.querySelectorAll('#tree .node').length")
    page.key("ArrowLeft")  # folds
    page.wait(f"document.querySelectorAll('#tree .node').length < {rows}")
    page.key("ArrowRight"), page.key("End")
    page.wait("document.getElementById('place').textContent.startsWith('command 13 ')")
    page.key("ArrowUp", 1)
    page.wait("document.getElementById('place').textContent.startsWith('command 12 ')")
    page.key("f", 2)
    assert page.js("document.activeElement.id") == "find"
    page.type("step")
    page.wait(f"document.getElementById('state').textContent === '{N} found'")
    page.key("Enter")
    page.wait("document.getElementById('place').textContent.startsWith('command 0 ')")
    page.click("#timeline", x=0.999)
    page.wait("document.getElementById('place').textContent.startsWith('command 13 ')")


def test_a_file_needs_nothing_else(trace, cache, browser, tmp_path):
    path = tmp_path / "capture.html"
    assert f"{N + 4} commands" in tool(cache, "view", trace(N), "--html", path).stdout
    text = path.read_text()
    assert "src=" not in text.replace("img-src", "") or 'src="' not in text
    browser.open(path.as_uri())
    browser.wait("document.body?.dataset.ready === '1'")
    look(browser)
    assert browser.errors() == []
    browser.open("about:blank")


def test_ten_thousand_commands(trace, cache, browser):
    server = Server(cache, "view", "--no-browser", trace(10000))
    try:
        browser.open(server.address)
        browser.wait("document.body?.dataset.ready === '1'")
        assert browser.js("document.querySelectorAll('#tree .node').length") < 100
        browser.js("document.getElementById('tree').scrollTop = 1e7")
        browser.wait("[...document.querySelectorAll('#tree .number')].some(n => n.textContent === '9999')")
        choose(browser, 9999, "Buffers")
        browser.wait("document.querySelector('.content .row')?.children[3].textContent === '10000'")
    finally:
        server.close()
        browser.open("about:blank")


def test_two_captures_side_by_side(trace, cache, browser):
    server = Server(cache, "view", "--no-browser", trace(N), trace(N, 3))
    try:
        browser.open(server.address)
        browser.wait("document.body?.dataset.ready === '1'")
        choose(browser, 4, "Differences")
        browser.wait("document.querySelectorAll('.sides .content .row').length > 4")
        assert browser.js("document.querySelectorAll('.differs').length") == 0
        choose(browser, 7, "Differences")
        browser.wait("document.querySelectorAll('.sides .content .row').length > 4 && document.querySelectorAll('.content .differs').length > 8")
        cells = "[...document.querySelectorAll('.sides')[1].querySelectorAll('.content')].map(c => c.querySelector('.row').children[1].textContent)"
        assert browser.js(cells) == ["8", "10"]
        assert browser.errors() == []
    finally:
        server.close()
        browser.open("about:blank")


@pytest.mark.parametrize("size", [(1360, 860), (560, 800)])
def test_nothing_is_cut_off(page, size):
    page.size(*size)
    choose(page, 4, "Buffers")
    assert page.js("document.documentElement.scrollWidth <= innerWidth"), "the page is wider than the window"
