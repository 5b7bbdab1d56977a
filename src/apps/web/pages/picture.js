// picture.js: textures as pictures (levels, slices, channels, range, histogram, the value under the
// mouse), and meshes as wireframes that can be turned.
"use strict";
(function () {
    const {el} = Ingot;
    const CHANNELS = {RGB: [0, 1, 2], RGBA: [0, 1, 2, 3], R: [0], G: [1], B: [2], A: [3]};

    const encode = v => v <= 0.0031308 ? v * 12.92 : 1.055 * Math.pow(v, 1 / 2.4) - 0.055;

    // r, g, b, a of every texel of an answer, as floats.
    function texelsOf(reply) {
        const n = reply.shownWidth * reply.shownHeight, out = new Float32Array(4 * n), from = reply.data;
        if (reply.packing === "bytes") {
            const curve = Float32Array.from({length: 256}, (_, i) => !reply.srgb ? i / 255 : i <= 10 ? i / 255 / 12.92 : ((i / 255 + 0.055) / 1.055) ** 2.4);
            for (let i = 0; i < 4 * n; i++) out[i] = i % 4 === 3 ? from[i] / 255 : curve[from[i]];
            return out;
        }
        const size = reply.packing === "one" ? 4 : 16, floats = new Float32Array(from.buffer.slice(from.byteOffset, from.byteOffset + n * size));
        if (size === 16) return floats;
        for (let i = 0; i < n; i++) out[4 * i] = floats[i], out[4 * i + 3] = 1;
        return out;
    }

    // Texels as RGBA bytes: low and high become 0 and 1.
    function paint(image, texels, {channels, low, high, srgb}) {
        const out = image.data, one = channels.length === 1, scale = 1 / (high - low || 1);
        for (let i = 0; i < texels.length; i += 4) {
            for (let c = 0; c < 3; c++) {
                let v = (texels[i + (one ? channels[0] : c)] - low) * scale;
                v = v > 0 ? v < 1 ? v : 1 : 0; // NaN: 0
                out[i + c] = 255 * (srgb && !(one && channels[0] === 3) ? encode(v) : v) + 0.5;
            }
            out[i + 3] = channels.length === 4 ? 255 * Math.min(1, Math.max(0, texels[i + 3])) : 255;
        }
    }

    function limits(texels, channels) {
        let low = Infinity, high = -Infinity;
        for (let i = 0; i < texels.length; i += 4)
            for (const c of channels) {
                const v = texels[i + c];
                if (v < low) low = v;
                if (v > high) high = v;
            }
        return low <= high ? [low, high] : [0, 1];
    }

    function histogram(canvas, texels, channels, low, high) {
        const N = 64, g = canvas.getContext("2d");
        canvas.width = 256;
        canvas.height = 70;
        g.clearRect(0, 0, 256, 70);
        const all = channels.filter(c => c < 3 || channels.length === 1).map(c => {
            const bins = new Uint32Array(N);
            for (let i = c; i < texels.length; i += 4) {
                const k = Math.floor((texels[i] - low) / (high - low || 1) * N);
                if (k >= 0 && k <= N) bins[Math.min(N - 1, k)]++;
            }
            return bins;
        });
        const most = Math.max(1, ...all.map(b => Math.max(...b)));
        g.globalCompositeOperation = all.length > 1 ? "lighter" : "source-over";
        all.forEach((bins, k) => {
            g.fillStyle = all.length > 1 ? ["#d33", "#3a3", "#36e"][k] : Ingot.colorOf(canvas, "--plot0");
            bins.forEach((n, i) => {
                const h = Math.sqrt(n / most) * 68; // roots: rare values are to be seen, too
                g.fillRect(i * 4, 70 - h, 4, h);
            });
        });
    }

    // A viewer. load(level, slice) gives {width, height, step, shownWidth, shownHeight, data, ...}; pick(x, y): a click.
    function viewer(resource, load, pick) {
        const box = el("div", {className: "picture"}), canvas = el("canvas", {className: "image", tabIndex: 0,
            "aria-label": resource.what}), bars = el("canvas", {className: "bars", role: "img", "aria-label": "Histogram"});
        const value = el("div", {className: "value", "aria-live": "polite"}), bar = el("div", {className: "setting"});
        const choose = (name, list) => {
            const s = el("select", {"aria-label": name}, ...list.map((text, i) => el("option", {value: i, textContent: text})));
            bar.append(el("label", {}, name + " ", s));
            s.addEventListener("change", name === "channels" ? draw : get);
            return s;
        };
        const count = n => Array.from({length: Math.min(n, 256)}, (_, i) => String(i));
        const level = resource.levels > 1 ? choose("level", count(resource.levels)) : {value: 0};
        const n = resource.type === 7 ? resource.depth : resource.slices;
        const slice = n > 1 ? choose("slice", count(n)) : {value: 0};
        const names = Object.keys(CHANNELS), channels = choose("channels", names);
        const low = el("input", {type: "number", step: "any", "aria-label": "black is"}), high = el("input", {type: "number", step: "any",
            "aria-label": "white is"}), fit = el("button", {textContent: "fit", title: "Black and white are the least and greatest values"});
        low.style.width = high.style.width = "76px";
        bar.append(el("label", {}, "range ", low), high, fit);
        box.append(el("h3", {}, resource.label || `texture ${resource.number}`, el("span", {className: "dim",
            textContent: `${resource.format} ${resource.width} x ${resource.height}${resource.samples > 1 ? `, ${resource.samples} samples` : ""}`})),
            bar, canvas, value, bars);
        let texels = null, now = null;
        function draw() {
            if (!texels) return;
            const list = CHANNELS[names[channels.value]], image = new ImageData(now.shownWidth, now.shownHeight);
            paint(image, texels, {channels: list, low: +low.value, high: +high.value, srgb: now.srgb});
            canvas.width = now.shownWidth;
            canvas.height = now.shownHeight;
            canvas.style.width = Math.min(480, Math.max(now.shownWidth, Math.min(320, now.shownWidth * 16))) + "px";
            canvas.getContext("2d").putImageData(image, 0, 0);
            histogram(bars, texels, list, +low.value, +high.value);
        }
        async function get() {
            try {
                now = await load(+level.value, +slice.value);
            } catch (error) {
                texels = null;
                value.textContent = error.message;
                canvas.hidden = bars.hidden = true;
                return;
            }
            canvas.hidden = bars.hidden = false;
            value.textContent = "";
            texels = texelsOf(now);
            if (now.depth) channels.value = names.indexOf("R");
            const [a, b] = now.integer || now.depth ? limits(texels, now.depth ? [0] : [0, 1, 2]) : [0, 1];
            low.value = +a.toPrecision(6);
            high.value = +(a === b ? a + 1 : b).toPrecision(6);
            draw();
            box.dataset.ready = "1";
        }
        const place = event => {
            const r = canvas.getBoundingClientRect();
            return [Math.min(now.shownWidth - 1, Math.max(0, Math.floor((event.clientX - r.left) / r.width * now.shownWidth))),
                Math.min(now.shownHeight - 1, Math.max(0, Math.floor((event.clientY - r.top) / r.height * now.shownHeight)))];
        };
        let cursor = [0, 0];
        function tell(x, y) {
            cursor = [x, y];
            const i = 4 * (y * now.shownWidth + x), v = [...texels.slice(i, i + 4)];
            value.textContent = `(${x * now.step}, ${y * now.step}): ` + v.map((n, k) => "rgba"[k] + " " + Ingot.show(+n.toPrecision(7))).join("  ") +
                (now.step > 1 ? `   every ${now.step}th texel is shown` : "");
        }
        canvas.addEventListener("pointermove", e => texels && tell(...place(e)));
        canvas.addEventListener("click", e => texels && pick && pick(...place(e).map(v => v * now.step)));
        canvas.addEventListener("keydown", e => {
            const step = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[e.key];
            if (step && texels) {
                e.preventDefault();
                const by = e.shiftKey ? 10 : 1;
                tell(Math.min(now.shownWidth - 1, Math.max(0, cursor[0] + by * step[0])),
                    Math.min(now.shownHeight - 1, Math.max(0, cursor[1] + by * step[1])));
            } else if (e.key === "Enter" && texels && pick) pick(...cursor.map(v => v * now.step));
        });
        for (const i of [low, high]) i.addEventListener("change", draw);
        fit.addEventListener("click", () => {
            if (!texels) return;
            const [a, b] = limits(texels, CHANNELS[names[channels.value]].filter((c, _, l) => c < 3 || l.length === 1));
            low.value = +a.toPrecision(6);
            high.value = +b.toPrecision(6);
            draw();
        });
        get();
        return box;
    }

    // Triangles (or lines, points) of a draw: positions [x, y, z] and a list of corners; turned with the mouse or arrows.
    function wireframe(canvas, points, corners, primitive) {
        let a = 0.6, b = 0.4, zoom = 1;
        const n = points.length / 3, used = corners || Array.from({length: n}, (_, i) => i);
        let low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
        for (const i of used)
            for (let c = 0; c < 3; c++) {
                const v = points[3 * i + c];
                if (v < low[c]) low[c] = v;
                if (v > high[c]) high[c] = v;
            }
        const middle = low.map((v, c) => (v + high[c]) / 2), size = Math.max(1e-9, Math.hypot(...low.map((v, c) => high[c] - v)));
        const edges = [];
        const strip = primitive === 4, triangles = primitive === 3 || strip, lines = primitive === 1 || primitive === 2;
        const MOST = 60000; // edges that are drawn
        if (triangles)
            for (let i = 0; i + 2 < used.length && edges.length < 2 * MOST; i += strip ? 1 : 3)
                edges.push(used[i], used[i + 1], used[i + 1], used[i + 2], used[i + 2], used[i]);
        else if (lines) for (let i = 0; i + 1 < used.length; i += primitive === 2 ? 1 : 2) edges.push(used[i], used[i + 1]);
        function draw() {
            const ratio = devicePixelRatio || 1, r = canvas.getBoundingClientRect(), w = canvas.width = r.width * ratio, h = canvas.height = r.height * ratio;
            const g = canvas.getContext("2d"), s = Math.min(w, h) / size * 0.95 * zoom;
            const ca = Math.cos(a), sa = Math.sin(a), cb = Math.cos(b), sb = Math.sin(b);
            const at = i => {
                const x = points[3 * i] - middle[0], y = points[3 * i + 1] - middle[1], z = points[3 * i + 2] - middle[2];
                const u = x * ca + z * sa, d = -x * sa + z * ca;
                return [w / 2 + u * s, h / 2 - (y * cb - d * sb) * s];
            };
            g.clearRect(0, 0, w, h);
            g.strokeStyle = g.fillStyle = Ingot.colorOf(canvas, "--plot0");
            g.lineWidth = ratio * (edges.length > 5000 ? 0.4 : 0.8);
            g.beginPath();
            for (let i = 0; i < edges.length; i += 2) {
                g.moveTo(...at(edges[i]));
                g.lineTo(...at(edges[i + 1]));
            }
            g.stroke();
            if (!edges.length) for (const i of used) g.fillRect(...at(i), 2 * ratio, 2 * ratio);
        }
        canvas.addEventListener("pointermove", e => {
            if (!e.buttons) return;
            a += e.movementX * 0.01;
            b += e.movementY * 0.01;
            draw();
        });
        canvas.addEventListener("wheel", e => {
            e.preventDefault();
            zoom *= Math.exp(-e.deltaY * 0.001);
            draw();
        }, {passive: false});
        canvas.addEventListener("keydown", e => {
            const turn = {ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1]}[e.key];
            if (turn) a += turn[0], b += turn[1];
            else if (e.key === "+") zoom *= 1.2;
            else if (e.key === "-") zoom /= 1.2;
            else return;
            e.preventDefault();
            draw();
        });
        new ResizeObserver(draw).observe(canvas);
        addEventListener("themechange", draw);
        canvas.dataset.edges = edges.length / 2;
        return {edges: edges.length / 2, cut: triangles && used.length > MOST};
    }

    Object.assign(Ingot, {viewer, wireframe});
})();
