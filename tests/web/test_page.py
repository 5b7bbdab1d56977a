# SPDX-License-Identifier: Apache-2.0
"""The playground in a real browser: what is typed, clicked and dragged does what it should."""
import re

import pytest

from conftest import Server

GALLERY = "document.querySelectorAll('#gallery .places')"
TEXT = "document.querySelector('.ed-input').value"
HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"


@pytest.fixture
def page(play, browser):
    browser.size(1360, 860)
    browser.open(play.address)
    browser.wait("document.body?.dataset.ready === '1'")
    yield browser
    assert browser.errors() == []


def load(page, name, lesson=False):
    page.click("#open")
    page.wait("document.getElementById('gallery').open")
    page.js("document.getElementById('state').textContent = ''")  # what it says next is about this one
    page.js(f"[...{GALLERY}[{0 if lesson else 1}].children].find(b => b.textContent.includes('{name}')).click()")
    page.wait("!document.getElementById('gallery').open")
    page.wait("/compiled/.test(document.getElementById('state').textContent)")


def replace(page, text):
    page.click(".ed-scroll", y=0.5)
    page.key("a", 2)
    page.js("document.getElementById('state').textContent = ''")
    page.type(text)
    page.wait("/compiled|error/.test(document.getElementById('state').textContent)")


def color(page, x, y, canvas="#picture"):
    return page.js(f"[...document.querySelector('{canvas}').getContext('2d').getImageData({x}, {y}, 1, 1).data]")


def test_pictures_move(page):
    first = color(page, 200, 200)
    page.wait(f"JSON.stringify([...document.querySelector('#picture').getContext('2d').getImageData(200, 200, 1, 1).data]) !== "
              f"JSON.stringify({first})")
    page.click("#pause")
    page.wait("document.getElementById('pause').getAttribute('aria-pressed') === 'true'")
    page.key("p", 1)
    page.wait("document.getElementById('pause').getAttribute('aria-pressed') === 'false'")


def test_typing_shows_the_picture(page):
    replace(page, HEAD + "fragment float4 f(float4 p [[position]]) { return float4(0.2, 0.4, 1, 1); }")
    page.wait("document.querySelector('#picture').getContext('2d').getImageData(9, 9, 1, 1).data[2] === 255")
    assert color(page, 100, 300) == [51, 102, 255, 255]
    assert page.js("document.getElementById('title').textContent").endswith("*")


def test_errors_stand_under_their_line(page):
    replace(page, HEAD + "kernel void k() {\n    float a = nothing;\n}\n")
    page.wait("!!document.querySelector('.ed-note.bad')")
    assert page.js("document.querySelector('.ed-note').textContent") == "use of undeclared identifier 'nothing'"
    place = page.js("(() => { const b = s => document.querySelector(s).getBoundingClientRect();"
                    "const line = document.querySelectorAll('.ed-line')[3].firstChild.getBoundingClientRect();"
                    "return [line.bottom, b('.ed-note').top, b('.ed-waves div').left - line.left, "
                    "document.querySelectorAll('.ed-line')[4].getBoundingClientRect().top - b('.ed-note').bottom]; })()")
    assert abs(place[0] - place[1]) < 3 and abs(place[3]) < 3, place
    assert 100 < place[2] < 130, f"the wave is under column 15: {place}"  # 14 characters of about 8 pixels
    page.key("End")
    page.key("ArrowUp"), page.key("End")
    page.js("document.querySelector('.ed-input').setSelectionRange(0, 0)")
    replace(page, HEAD + "kernel void k(device float *x [[buffer(0)]]) { x[0] = 1; }\n")
    page.wait("!document.querySelector('.ed-note')")


def test_keys_of_the_editor(page):
    replace(page, "a {")
    for key, modifiers, text in (("Enter", 0, "a {\n    "), ("b", 0, "a {\n    b"), ("Tab", 0, "a {\n    b   "), ("Enter", 0, "a {\n    b   \n    "),
                                 ("}", 0, "a {\n    b   \n}"), ("z", 2, "a {\n    b   \n    ")):
        page.key(key, modifiers)
        assert page.js(TEXT) == text, key
    page.key("a", 2), page.key("/", 2)
    assert page.js(TEXT).startswith("// a {\n    // b")
    page.key("Home", 2)
    page.wait("document.querySelector('.ed-caret').offsetTop < 20")
    page.key("Escape"), page.key("Tab")  # then Tab leaves
    assert page.js("document.activeElement.className") != "ed-input"


def test_the_mouse_in_the_editor(page):
    replace(page, "alpha beta\ngamma delta\n")
    page.click(".ed-line:nth-child(2) .ed-code", x=0.02, count=1)
    assert page.js("document.querySelector('.ed-input').selectionStart") == 11
    page.click(".ed-line:nth-child(2) .ed-code", x=0.8, count=1)
    page.click(".ed-line:nth-child(2) .ed-code", x=0.8, count=2)
    assert page.js("(e => e.value.slice(e.selectionStart, e.selectionEnd))(document.querySelector('.ed-input'))") == "delta"
    assert page.js("document.querySelectorAll('.ed-marks div').length") == 1
    box = page.js("(() => { const m = document.querySelector('.ed-marks div').getBoundingClientRect(), "
                  "l = document.querySelectorAll('.ed-line')[1].getBoundingClientRect(); return m.top - l.top; })()")
    assert abs(box) < 2, "the mark is not on its line"


def test_sliders_change_what_runs(page):
    load(page, "saxpy")
    page.wait("document.querySelector('#outputs .row span:nth-child(2)')?.textContent === '0.5665615'")
    second = "document.querySelectorAll('#outputs .output')[0].querySelectorAll('.row')[1].children[1].textContent"
    before = float(page.js(second))
    page.js("document.querySelector('#u-a-0').focus()")
    page.key("ArrowRight")  # a step of a slider with any step: a hundredth of its range, or more
    page.wait(f"{second} !== '{page.js(second)}' || +{second} > {before}")
    page.js("(e => { e.value = 1; e.dispatchEvent(new Event('input')); })(document.querySelector('#u-a-0'))")
    page.wait(f"Math.abs(+{second} - {before - 0.1 + 1}) < 1e-5")


def test_buffers_are_typed_in_and_looked_at(page):
    load(page, "saxpy")
    page.js("(e => { e.value = 'f32[64]=fill:2'; e.dispatchEvent(new Event('change')); })(document.getElementById('b-y'))")
    page.wait("document.querySelector('#outputs .row span:nth-child(2)').textContent === '2'")
    page.js("[...document.querySelectorAll('#outputs .tabs button')].find(b => b.textContent === 'Hex').click()")
    page.wait("document.querySelector('#outputs .row span:nth-child(2)').textContent.startsWith('00 00 00 40')")
    page.js("(e => { e.value = 'f32[nonsense'; e.dispatchEvent(new Event('change')); })(document.getElementById('b-y'))")
    page.wait("/a size is missing/.test(document.getElementById('message').textContent)")


def test_endless_loops_are_stopped_and_said(cache, browser):
    server = Server(cache, "play", "--no-browser", "--timeout", "300")
    try:
        browser.open(server.address)
        browser.wait("document.body?.dataset.ready === '1'")
        replace(browser, HEAD + "fragment float4 f(float4 p [[position]], constant float &time [[buffer(0)]]) {\n"
                "    float s = time;\n    while (s < 1e30) s = s * 0.5 + 1;\n    return s;\n}\n")
        browser.wait("/time limit of 300 ms/.test(document.getElementById('message').textContent)")
        browser.wait("document.getElementById('pause').getAttribute('aria-pressed') === 'true'")
        replace(browser, HEAD + "fragment float4 f(float4 p [[position]]) { return float4(0, 1, 0, 1); }")
        browser.wait("document.querySelector('#picture').getContext('2d').getImageData(9, 9, 1, 1).data[1] === 255")
        browser.wait("document.getElementById('message').hidden")
    finally:
        server.close()
        browser.open("about:blank")


def test_a_lesson_is_solved(page):
    load(page, "threads", lesson=True)
    assert page.js("document.querySelector('#lesson h2').textContent") == "1. Threads"
    page.click("#check")
    page.wait("document.querySelectorAll('.checks .no').length === 2")
    page.js("[...document.querySelectorAll('#lesson nav button')].find(b => b.textContent === 'Solution').click()")
    page.wait(f"/x\\[i\\] \\* x\\[i\\] \\+ 1/.test({TEXT})")
    page.key("c", 1)
    page.wait("document.querySelectorAll('.checks .ok').length === 2")
    page.js("[...document.querySelectorAll('#lesson nav button')].find(b => b.textContent === 'Next').click()")
    page.wait("document.querySelector('#lesson h2').textContent === '2. Threadgroups'")


def test_saving_writes_a_share_file(cache, browser, tmp_path):
    path = tmp_path / "mine.metal"
    path.write_text("/*play {\"grid\": [8], \"title\": \"Mine\"} */\n" + HEAD +
                    "kernel void k(device float *x [[buffer(0)]], constant float &a [[buffer(1)]],\n"
                    "              uint i [[thread_position_in_grid]]) { x[i] = a; }\n")
    server = Server(cache, "play", path, "--no-browser")
    try:
        browser.open(server.address)
        browser.wait("document.body?.dataset.ready === '1'")
        browser.js("(e => { e.value = 0.25; e.dispatchEvent(new Event('input')); })(document.querySelector('#u-a-0'))")
        browser.wait("document.querySelector('#outputs .row span:nth-child(2)').textContent === '0.25'")
        browser.key("s", 2)
        browser.wait("/saved/.test(document.getElementById('state').textContent)")
        text = path.read_text()
        assert re.match(r'/\*play \{\s+"grid": \[\s+8\s+\],\s+"title": "Mine",\s+"values": \{\s+"a": 0.25', text), text
        assert text.rstrip().endswith("{ x[i] = a; }")
        browser.js("document.body.dataset.ready = 'before'")
        browser.call("Page.reload")  # what was saved comes back
        browser.wait("document.body?.dataset.ready === '1' && document.querySelector('#u-a-0')?.value === '0.25'")
    finally:
        server.close()
        browser.open("about:blank")


@pytest.mark.parametrize("size", [(1360, 860), (900, 700), (480, 900)])
@pytest.mark.parametrize("dark", [False, True])
def test_nothing_is_cut_off_and_all_can_be_read(page, size, dark):
    load(page, "particles")
    page.dark(dark)
    page.size(*size)
    assert page.js("document.documentElement.scrollWidth <= innerWidth"), "the page is wider than the window"
    contrast = page.js("""(() => {
        const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).slice(0, 3).map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
                             return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        const back = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
                            if (!/, 0\\)|transparent/.test(c)) return c; } return 'rgb(255, 255, 255)'; };
        let worst = [99, ''];
        for (const e of document.querySelectorAll('header *, footer *, #controls *, #outputs h3, .ed-line span')) {
            if (!e.textContent.trim() || e.children.length || !e.getClientRects().length) continue;
            const a = light(getComputedStyle(e).color), b = light(back(e));
            const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
            if (ratio < worst[0]) worst = [ratio, e.outerHTML.slice(0, 80)];
        }
        return worst; })()""")
    assert contrast[0] >= 4.5, contrast
    page.dark(False)
