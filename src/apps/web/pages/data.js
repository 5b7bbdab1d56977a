// data.js: bytes as what they are. Types are those of the shader's reflection (reflect_web.c):
// scalars, vectors, matrices, structs, arrays. Tables draw only the rows that can be seen.
"use strict";
var Ingot = window.Ingot || {};
window.Ingot = Ingot;

(function () {
    // First MTLDataType of each scalar and its vectors, and how one is read.
    const SCALARS = [
        [3, "float", 4, (v, at) => v.getFloat32(at, true)],
        [16, "half", 2, (v, at) => half(v.getUint16(at, true))],
        [29, "int", 4, (v, at) => v.getInt32(at, true)],
        [33, "uint", 4, (v, at) => v.getUint32(at, true)],
        [37, "short", 2, (v, at) => v.getInt16(at, true)],
        [41, "ushort", 2, (v, at) => v.getUint16(at, true)],
        [45, "char", 1, (v, at) => v.getInt8(at)],
        [49, "uchar", 1, (v, at) => v.getUint8(at)],
        [53, "bool", 1, (v, at) => v.getUint8(at)],
        [81, "long", 8, (v, at) => Number(v.getBigInt64(at, true))],
        [85, "ulong", 8, (v, at) => Number(v.getBigUint64(at, true))],
        [121, "bfloat", 2, (v, at) => bfloat(v.getUint16(at, true))],
    ].map(([first, name, size, read]) => ({first, name, size, read, real: /float|half/.test(name)}));

    const scratch = new DataView(new ArrayBuffer(4));
    function bfloat(bits) {
        scratch.setUint32(0, bits << 16 >>> 0);
        return scratch.getFloat32(0);
    }
    function half(bits) {
        const sign = bits & 0x8000 ? -1 : 1, exponent = bits >> 10 & 31, fraction = bits & 1023;
        if (exponent === 31) return fraction ? NaN : sign * Infinity;
        return exponent ? sign * 2 ** (exponent - 15) * (1 + fraction / 1024) : sign * 2 ** -14 * (fraction / 1024);
    }

    // {scalar, columns, rows} of a data type; null: it has no numbers of its own.
    function numbersOf(dataType) {
        for (const [first, name] of [[7, "float"], [20, "half"]])
            if (dataType >= first && dataType < first + 9) {
                const scalar = SCALARS.find(s => s.name === name), k = dataType - first;
                return {scalar, columns: 2 + Math.floor(k / 3), rows: 2 + k % 3};
            }
        const scalar = SCALARS.find(s => dataType >= s.first && dataType < s.first + 4);
        return scalar ? {scalar, columns: 1, rows: dataType - scalar.first + 1} : null;
    }

    const LETTERS = "xyzw", MAX_COLUMNS = 256;
    // The numbers in a type, one after the other: [{name, offset, scalar}].
    function flatten(types, index, name = "", offset = 0, out = []) {
        const type = types[index];
        if (!type || out.length >= MAX_COLUMNS) return out;
        const numbers = numbersOf(type.data_type);
        if (type.members) {
            for (const m of type.members)
                flatten(types, m.type, name ? `${name}.${m.name}` : m.name, offset + m.offset, out);
        } else if (type.n && type.element !== undefined) {
            for (let i = 0; i < type.n && out.length < MAX_COLUMNS; i++)
                flatten(types, type.element, `${name}[${i}]`, offset + i * type.stride, out);
        } else if (numbers) {
            const {scalar, columns, rows} = numbers, stride = columns > 1 ? type.size / columns : 0;
            for (let c = 0; c < columns; c++)
                for (let r = 0; r < rows; r++) {
                    const part = columns > 1 ? `[${c}].${LETTERS[r]}` : rows > 1 ? `.${LETTERS[r]}` : "";
                    out.push({name: (name + part).replace(/^\./, ""), offset: offset + c * stride + r * scalar.size, scalar});
                }
        } else if (type.size === 8 || type.data_type === 60) { // a pointer or handle
            out.push({name: name || type.name, offset, scalar: SCALARS.find(s => s.name === "ulong"), hex: true});
        }
        return out;
    }

    function show(value, column) {
        if (column && column.hex) return "0x" + value.toString(16);
        if (column && column.scalar.name === "bool") return value ? "true" : "false";
        if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
        if (!Number.isFinite(value)) return String(value);
        const size = Math.abs(value);
        return size >= 1e6 || size < 1e-3 ? value.toExponential(4) : String(+value.toPrecision(7));
    }

    // ---- Tables ----

    const ROW = 20;
    // A list of any length: row(i) gives the cells of a row, as texts or {text, className}.
    function grid(element, {columns, count, row, onRow, height}) {
        element.classList.add("grid");
        element.tabIndex = 0;
        if (height) element.style.maxHeight = height + "px";
        const head = document.createElement("div"), rows = document.createElement("div");
        head.className = "head";
        rows.className = "rows";
        for (const c of columns) {
            const cell = document.createElement("span");
            cell.textContent = c.name;
            cell.title = c.name;
            cell.style.width = c.width + "px";
            head.append(cell);
        }
        rows.style.height = Math.min(count * ROW, 3e7) + "px";
        rows.style.width = columns.reduce((sum, c) => sum + c.width, 0) + "px";
        element.replaceChildren(head, rows);
        const live = new Map();
        function draw() {
            const first = Math.max(0, Math.floor(element.scrollTop / ROW) - 4);
            const last = Math.min(count, Math.ceil((element.scrollTop + (element.clientHeight || 400)) / ROW) + 4);
            for (const [i, node] of live)
                if (i < first || i >= last) {
                    node.remove();
                    live.delete(i);
                }
            for (let i = first; i < last; i++) {
                if (live.has(i)) continue;
                const node = document.createElement("div");
                node.className = "row";
                node.style.top = i * ROW + "px";
                row(i).forEach((cell, k) => {
                    const span = document.createElement("span");
                    span.style.width = columns[k].width + "px";
                    span.textContent = cell.text === undefined ? cell : cell.text;
                    if (cell.className) span.className = cell.className;
                    node.append(span);
                });
                if (onRow) node.addEventListener("click", () => onRow(i));
                rows.append(node);
                live.set(i, node);
            }
        }
        element.onscroll = draw;
        if (element.resizer) element.resizer.disconnect();
        element.resizer = new ResizeObserver(draw);
        element.resizer.observe(element);
        draw();
        return {redraw() { for (const node of live.values()) node.remove(); live.clear(); draw(); }};
    }

    // Bytes as elements of a type. before: other bytes; what differs is marked.
    function table(element, bytes, types, index, options = {}) {
        const columns = flatten(types, index), size = Math.max(1, types[index] ? types[index].size : 4);
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        const other = options.before && options.before.byteLength === bytes.byteLength
            ? new DataView(options.before.buffer, options.before.byteOffset, options.before.byteLength) : null;
        if (!columns.length) return hex(element, bytes, options);
        return grid(element, {
            columns: [{name: "#", width: 64}, ...columns.map(c => ({name: c.name || types[index].name,
                width: Math.max(92, 8 * c.name.length + 20)}))],
            count: Math.floor(bytes.byteLength / size),
            height: options.height,
            row(i) {
                return [String(i), ...columns.map(c => {
                    const at = i * size + c.offset;
                    if (at + c.scalar.size > view.byteLength) return "";
                    const value = c.scalar.read(view, at);
                    const text = show(value, c);
                    return other && !Object.is(value, c.scalar.read(other, at)) ? {text, className: "differs"} : text;
                })];
            },
        });
    }

    function hex(element, bytes, options = {}) {
        return grid(element, {
            columns: [{name: "offset", width: 84}, {name: "bytes", width: 400}, {name: "text", width: 150}],
            count: Math.ceil(bytes.byteLength / 16),
            height: options.height,
            row(i) {
                const part = bytes.subarray(i * 16, i * 16 + 16);
                return [(i * 16).toString(16).padStart(8, "0"),
                    Array.from(part, b => b.toString(16).padStart(2, "0")).join(" ").padEnd(47),
                    Array.from(part, b => b >= 32 && b < 127 ? String.fromCharCode(b) : ".").join("").padEnd(16)];
            },
        });
    }

    // Columns of numbers: [{name, values}] of at most four of the type's, thinned to `most` points.
    function series(bytes, types, index, most = 65536) {
        const columns = flatten(types, index).filter(c => !c.hex).slice(0, 4);
        const size = Math.max(1, types[index] ? types[index].size : 4);
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        const n = Math.floor(bytes.byteLength / size), step = Math.max(1, Math.ceil(n / most));
        return columns.map(c => {
            const values = new Float64Array(Math.ceil(n / step));
            for (let i = 0; i < values.length; i++) values[i] = c.scalar.read(view, i * step * size + c.offset);
            return {name: c.name, values};
        });
    }

    // ---- Plots ----

    // The colour that a variable of the style sheet stands for here and now, as canvases take it.
    function colorOf(element, variable) {
        const probe = document.createElement("span");
        probe.style.color = `var(${variable})`;
        element.parentElement.append(probe);
        const color = getComputedStyle(probe).color;
        probe.remove();
        return color;
    }

    function plot(canvas, lines) {
        const ratio = window.devicePixelRatio || 1, box = canvas.getBoundingClientRect();
        const width = canvas.width = Math.max(50, Math.round(box.width * ratio));
        const height = canvas.height = Math.max(40, Math.round(box.height * ratio));
        const g = canvas.getContext("2d");
        let low = Infinity, high = -Infinity;
        for (const {values} of lines)
            for (const v of values)
                if (Number.isFinite(v)) {
                    low = Math.min(low, v);
                    high = Math.max(high, v);
                }
        if (low > high) low = 0, high = 1;
        if (low === high) low -= 0.5, high += 0.5;
        const left = 58 * ratio, top = 6 * ratio, bottom = height - 6 * ratio, right = width - 6 * ratio;
        const y = v => bottom - (v - low) / (high - low) * (bottom - top);
        g.clearRect(0, 0, width, height);
        g.font = `${11 * ratio}px sans-serif`;
        g.fillStyle = colorOf(canvas, "--dim");
        g.strokeStyle = colorOf(canvas, "--line");
        g.lineWidth = ratio;
        g.textAlign = "right";
        for (const [v, baseline] of [[high, "top"], [low, "bottom"]]) {
            g.textBaseline = baseline;
            g.fillText(show(+v.toPrecision(4)), left - 6 * ratio, y(v));
        }
        const lineAt = at => {
            g.beginPath();
            g.moveTo(left, at);
            g.lineTo(right, at);
            g.stroke();
        };
        lineAt(y(low));
        lineAt(y(high));
        if (low < 0 && high > 0) lineAt(y(0));
        lines.forEach(({values}, k) => {
            g.strokeStyle = g.fillStyle = colorOf(canvas, `--plot${k}`);
            g.lineWidth = 1.5 * ratio;
            const x = i => left + (values.length > 1 ? i / (values.length - 1) : 0.5) * (right - left);
            g.beginPath();
            let pen = false;
            values.forEach((v, i) => {
                if (!Number.isFinite(v)) {
                    pen = false;
                    return;
                }
                if (pen) g.lineTo(x(i), y(v));
                else g.moveTo(x(i), y(v));
                pen = true;
            });
            g.stroke();
            if (values.length <= 64)
                values.forEach((v, i) => Number.isFinite(v) && g.fillRect(x(i) - 1.5 * ratio, y(v) - 1.5 * ratio, 3 * ratio, 3 * ratio));
        });
        if (lines.length < 2) return;
        let at = left + 6 * ratio; // which line is which
        g.textAlign = "left";
        g.textBaseline = "bottom";
        lines.forEach(({name}, k) => {
            g.fillStyle = colorOf(canvas, `--plot${k}`);
            g.fillText(name, at, bottom - 2 * ratio);
            at += g.measureText(name + "  ").width;
        });
    }

    // ---- Replies ----

    // {...json, bytes} of a body with JSON and bytes.
    function unpack(buffer) {
        const n = new DataView(buffer).getUint32(0, true);
        const json = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, n)));
        json.data = new Uint8Array(buffer, 4 + n);
        return json;
    }

    // The bytes of a reply: in a buffer of the pool, or a new one. A megabyte sixty times a second is a third
    // cheaper for the browser if it need not find memory for each.
    async function bytesOf(reply, pool) {
        const n = +reply.headers.get("Content-Length");
        if (!pool || !n || !reply.body || !window.ReadableStreamBYOBReader) return reply.arrayBuffer();
        let buffer = pool.pop();
        if (!buffer || buffer.byteLength < n) buffer = new ArrayBuffer(n + 1024);
        const reader = reply.body.getReader({mode: "byob"});
        for (let at = 0; at < n;) {
            const {value, done} = await reader.read(new Uint8Array(buffer, at, n - at));
            if (done) throw new Error("the reply ends too early");
            buffer = value.buffer;
            at += value.byteLength;
        }
        return buffer;
    }

    // pool: buffers that may be used; who gives one back has no more use for the reply.
    async function ask(path, body, pool) {
        const reply = await fetch(path, body === undefined ? {} : {method: "POST", body});
        const binary = (reply.headers.get("Content-Type") || "").startsWith("application/octet-stream");
        if (reply.ok) return binary ? unpack(await bytesOf(reply, pool)) : (reply.headers.get("Content-Type") || "")
            .startsWith("text/") ? reply.text() : reply.json();
        const error = new Error((await reply.json().catch(() => ({}))).error || reply.statusText);
        error.status = reply.status;
        throw error;
    }

    // An element with properties, attributes (names with "-" or "role") and children.
    function el(tag, properties, ...children) {
        const node = document.createElement(tag);
        for (const [key, value] of Object.entries(properties || {}))
            if (key.includes("-") || key === "role" || key === "list" || key === "for") node.setAttribute(key, value);
            else node[key] = value;
        node.append(...children.filter(c => c !== null && c !== undefined));
        return node;
    }

    function theme(button) {
        const order = ["", "light", "dark"], names = {"": "Auto", light: "Light", dark: "Dark"};
        let at = 0;
        try { at = Math.max(0, order.indexOf(localStorage.getItem("ingot-theme") || "")); } catch (e) { /* none kept */ }
        const set = () => {
            if (order[at]) document.documentElement.dataset.theme = order[at];
            else delete document.documentElement.dataset.theme;
            button.textContent = names[order[at]];
            button.title = "Colours: " + names[order[at]].toLowerCase();
            window.dispatchEvent(new Event("themechange"));
        };
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", set);
        button.addEventListener("click", () => {
            at = (at + 1) % order.length;
            try { localStorage.setItem("ingot-theme", order[at]); } catch (e) { /* not kept */ }
            set();
        });
        set();
    }

    Object.assign(Ingot, {numbersOf, flatten, show, grid, table, hex, series, plot, colorOf, unpack, ask, el, theme, ROW});
})();
