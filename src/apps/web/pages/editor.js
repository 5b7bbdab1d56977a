// editor.js: an editor for Metal. A textarea that nobody sees has the text, the selection, the
// keyboard, the clipboard and the history of changes, as the browser makes them; what is seen is
// drawn from it line by line, with colours, and with messages under the lines they are about.
"use strict";
(function () {
    const KEYWORDS = new Set(("alignas alignof auto break case class const constant constexpr continue decltype default " +
        "device do else enum extern false for fragment friend if inline kernel mesh namespace object object_data operator " +
        "private protected public return sizeof static static_assert struct switch template this thread threadgroup " +
        "threadgroup_imageblock true typedef typename union using vertex visible volatile while").split(" "));
    const TYPE = new RegExp("^((packed_)?(bool|char|uchar|short|ushort|int|uint|long|ulong|half|float|bfloat)([234](x[234])?)?" +
        "|void|size_t|u?int(8|16|32|64)_t|(texture|depth)(1d|2d|3d|cube|_buffer)(_array|_ms|_ms_array)?|sampler|array|vec" +
        "|matrix|atomic_(u?int|float|bool|ulong)|atomic|simdgroup_\\w+|tensor\\w*|dextents|extents|mesh_grid_properties)$");
    const TOKEN = /(\/\/.*)|(\/\*)|("(?:\\.|[^"\\])*"?)|(#\s*\w+)|(\[\[|\]\])|(\b(?:0[xX][\da-fA-F]+[uUlL]*|\d[\d.]*(?:[eE][-+]?\d+)?[fFhHuUlL]*)\b|\.\d+[fFhH]?)|([A-Za-z_]\w*)|(\s+)|(.)/g;

    const escape = s => s.replace(/[&<>]/g, c => ({"&": "&amp;", "<": "&lt;", ">": "&gt;"}[c]));
    const span = (kind, s) => `<span class="t-${kind}">${escape(s)}</span>`;

    // One line as HTML; state: inside a comment, inside [[ ]].
    function highlight(line, state) {
        let out = "", at = 0;
        if (state.comment) {
            const end = line.indexOf("*/");
            if (end < 0) return span("comment", line);
            out = span("comment", line.slice(0, end + 2));
            at = end + 2;
            state.comment = false;
        }
        TOKEN.lastIndex = at;
        for (let m; (m = TOKEN.exec(line));) {
            if (m[1]) out += span("comment", m[1]);
            else if (m[2]) {
                const end = line.indexOf("*/", m.index + 2);
                if (end < 0) {
                    state.comment = true;
                    return out + span("comment", line.slice(m.index));
                }
                out += span("comment", line.slice(m.index, end + 2));
                TOKEN.lastIndex = end + 2;
            } else if (m[3]) out += span("string", m[3]);
            else if (m[4]) out += span("keyword", m[4]);
            else if (m[5]) {
                state.attribute = m[5] === "[[";
                out += span("attribute", m[5]);
            } else if (m[6]) out += span("number", m[6]);
            else if (m[7]) {
                const kind = state.attribute ? "attribute" : KEYWORDS.has(m[7]) ? "keyword" : TYPE.test(m[7]) ? "type" :
                    line[TOKEN.lastIndex] === "(" ? "call" : "";
                out += kind ? span(kind, m[7]) : escape(m[7]);
            } else out += escape(m[0]);
        }
        state.attribute = false;
        return out;
    }

    function Editor(parent, {onChange, label}) {
        const {el} = Ingot;
        const input = el("textarea", {className: "ed-input", spellcheck: false, wrap: "off", "aria-label": label,
            autocapitalize: "off", autocomplete: "off"});
        const marks = el("div", {className: "ed-marks"}), caret = el("div", {className: "ed-caret"});
        const list = el("div", {className: "ed-lines", "aria-hidden": "true"});
        const waves = el("div", {className: "ed-waves"});
        const body = el("div", {className: "ed-body"}, marks, list, waves, caret);
        const scroll = el("div", {className: "ed-scroll"}, body, input);
        parent.append(scroll);
        let lines = [], starts = [0], shown = [], leaving = false;

        // ---- Drawing ----

        function redraw() {
            const state = {};
            lines = input.value.split("\n");
            let at = 0;
            starts = lines.map(line => { const s = at; at += line.length + 1; return s; });
            const html = lines.map(line => highlight(line, state));
            let first = 0, last = 0;
            while (first < html.length && first < shown.length && html[first] === shown[first]) first++;
            while (last < html.length - first && last < shown.length - first &&
                   html[html.length - 1 - last] === shown[shown.length - 1 - last]) last++;
            const before = list.children[shown.length - last] || null;
            for (let i = first; i < shown.length - last; i++) list.children[first].remove();
            for (let i = first; i < html.length - last; i++) {
                const code = el("span", {className: "ed-code"});
                code.innerHTML = html[i]; // spans of ours around escaped text
                list.insertBefore(el("div", {className: "ed-line"}, code), before);
            }
            shown = html;
            list.style.setProperty("--digits", String(lines.length).length);
        }

        const codeOf = i => list.children[i].firstChild;
        // A range over the first `column` characters of a line.
        function rangeTo(line, column, from = 0) {
            const range = document.createRange(), walker = document.createTreeWalker(codeOf(line), NodeFilter.SHOW_TEXT);
            range.setStart(codeOf(line), 0);
            range.setEnd(codeOf(line), 0);
            let at = 0;
            for (let node; (node = walker.nextNode());) {
                const n = node.data.length;
                if (from >= at && from <= at + n) range.setStart(node, from - at);
                if (column >= at && column <= at + n) {
                    range.setEnd(node, column - at);
                    break;
                }
                at += n;
            }
            return range;
        }
        function place(offset) {
            let low = 0, high = starts.length - 1;
            while (low < high) {
                const middle = (low + high + 1) >> 1;
                if (starts[middle] <= offset) low = middle;
                else high = middle - 1;
            }
            return [low, offset - starts[low]];
        }
        function boxOf(line, from, to) {
            const origin = body.getBoundingClientRect(), code = codeOf(line).getBoundingClientRect();
            const x = c => c ? rangeTo(line, c).getBoundingClientRect().right : list.children[line].firstChild.getBoundingClientRect().left;
            const left = x(from), right = from === to ? left : x(to);
            return {left: left - origin.left, width: right - left, top: list.offsetTop + list.children[line].offsetTop,
                height: code.height || 20};
        }
        const focus = () => input.selectionDirection === "backward" ? input.selectionStart : input.selectionEnd;

        function drawSelection() {
            if (!list.children.length) return;
            const [line, column] = place(focus()), at = boxOf(line, column, column);
            caret.style.left = at.left + "px";
            caret.style.top = at.top + "px";
            input.style.left = at.left + "px";
            input.style.top = at.top + "px";
            marks.replaceChildren();
            for (const node of list.querySelectorAll(".here")) node.classList.remove("here");
            list.children[line].classList.add("here");
            const [a, from] = place(input.selectionStart), [b, to] = place(input.selectionEnd);
            if (input.selectionStart === input.selectionEnd) return;
            const top = scroll.scrollTop - 400, bottom = scroll.scrollTop + scroll.clientHeight + 400;
            for (let i = a; i <= b; i++) {
                const y = list.children[i].offsetTop;
                if (y < top || y > bottom) continue;
                const box = boxOf(i, i === a ? from : 0, i === b ? to : lines[i].length);
                const mark = el("div");
                Object.assign(mark.style, {left: box.left + "px", top: box.top + "px", height: box.height + "px",
                    width: Math.max(box.width, i < b ? 6 : 0) + "px"});
                marks.append(mark);
            }
        }
        function reveal() {
            const top = caret.offsetTop, left = caret.offsetLeft, margin = 24;
            if (top < scroll.scrollTop + margin) scroll.scrollTop = top - margin;
            if (top + 20 > scroll.scrollTop + scroll.clientHeight - margin) scroll.scrollTop = top + 20 + margin - scroll.clientHeight;
            if (left < scroll.scrollLeft + 60) scroll.scrollLeft = left - 60;
            if (left > scroll.scrollLeft + scroll.clientWidth - margin) scroll.scrollLeft = left + margin - scroll.clientWidth;
        }
        function blink() {
            caret.style.animation = "none";
            caret.getBoundingClientRect();
            caret.style.animation = "";
        }
        function update() {
            drawSelection();
            reveal();
            blink();
        }

        // ---- Typing ----

        function insert(text) { // so that the browser's own undo knows of it
            if (!document.execCommand("insertText", false, text)) {
                input.setRangeText(text, input.selectionStart, input.selectionEnd, "end");
                input.dispatchEvent(new Event("input"));
            }
        }
        function eachLine(change) {
            const [a] = place(input.selectionStart), [b, to] = place(input.selectionEnd);
            const last = b > a && to === 0 ? b - 1 : b, begin = starts[a], end = starts[last] + lines[last].length;
            const text = lines.slice(a, last + 1).map(change).join("\n");
            input.setSelectionRange(begin, end);
            insert(text);
            input.setSelectionRange(begin, begin + text.length);
        }
        function page(direction, extend) {
            const [line, column] = place(focus()), n = Math.max(1, Math.floor(scroll.clientHeight / 20) - 2);
            const to = Math.min(lines.length - 1, Math.max(0, line + direction * n));
            select(starts[to] + Math.min(column, lines[to].length), extend);
        }
        function anchor() { return input.selectionDirection === "backward" ? input.selectionEnd : input.selectionStart; }
        function select(offset, extend) {
            const from = extend ? anchor() : offset;
            input.setSelectionRange(Math.min(from, offset), Math.max(from, offset), offset < from ? "backward" : "forward");
        }
        input.addEventListener("keydown", event => {
            const {key, shiftKey} = event, control = event.ctrlKey || event.metaKey;
            const several = lines.length > 1 && place(input.selectionStart)[0] !== place(input.selectionEnd)[0];
            if (key === "Escape") leaving = true; // then Tab goes on to the next control
            else if (key === "Tab" && !leaving && !control && !event.altKey) {
                event.preventDefault();
                if (shiftKey) eachLine(line => line.replace(/^ {1,4}/, ""));
                else if (several) eachLine(line => line && "    " + line);
                else insert(" ".repeat(4 - place(input.selectionStart)[1] % 4));
            } else if (key === "Enter" && !control && !event.isComposing) {
                event.preventDefault();
                const [line, column] = place(input.selectionStart), before = lines[line].slice(0, column);
                insert("\n" + before.match(/^ */)[0] + (/[{(]\s*$/.test(before) ? "    " : ""));
            } else if (key === "}" && !control) {
                const [line, column] = place(input.selectionStart);
                if (input.selectionStart === input.selectionEnd && /^ {4,}$/.test(lines[line].slice(0, column)))
                    input.setSelectionRange(input.selectionStart - 4, input.selectionStart);
            } else if (key === "/" && control) {
                event.preventDefault();
                const [a] = place(input.selectionStart), off = /^\s*\/\//.test(lines[a]);
                eachLine(line => off ? line.replace(/^(\s*)\/\/ ?/, "$1") : line.replace(/^(\s*)(?=\S)/, "$1// "));
            } else if (key === "PageUp" || key === "PageDown") {
                event.preventDefault();
                page(key === "PageUp" ? -1 : 1, shiftKey);
            }
            if (key !== "Escape" && key !== "Shift") leaving = leaving && key === "Tab";
        });
        input.addEventListener("input", () => {
            waves.replaceChildren(); // until the compiler has seen it
            redraw();
            update();
            onChange();
        });
        const moved = () => document.activeElement === input && update();
        document.addEventListener("selectionchange", moved);
        input.addEventListener("selectionchange", moved);
        input.addEventListener("focus", () => { scroll.classList.add("focus"); leaving = false; update(); });
        input.addEventListener("blur", () => scroll.classList.remove("focus"));

        // ---- The mouse ----

        function hit(event) {
            const y = event.clientY - list.getBoundingClientRect().top;
            let low = 0, high = lines.length - 1;
            while (low < high) {
                const middle = (low + high + 1) >> 1;
                if (list.children[middle].offsetTop <= y) low = middle;
                else high = middle - 1;
            }
            let best = 0, left = 0, right = lines[low].length; // by halves: characters have any width
            const code = codeOf(low).getBoundingClientRect().left;
            while (left <= right) {
                const middle = (left + right) >> 1;
                const edge = middle ? rangeTo(low, middle).getBoundingClientRect().right : code;
                if (edge <= event.clientX) best = middle, left = middle + 1;
                else right = middle - 1;
            }
            if (best < lines[low].length) {
                const a = best ? rangeTo(low, best).getBoundingClientRect().right : code;
                const b = rangeTo(low, best + 1).getBoundingClientRect().right;
                if (event.clientX > (a + b) / 2) best++;
            }
            return starts[low] + best;
        }
        scroll.addEventListener("mousedown", event => {
            if (event.button || event.offsetX > scroll.clientWidth && event.target === scroll) return;
            event.preventDefault();
            input.focus({preventScroll: true});
            const offset = hit(event), [line, column] = place(offset);
            if (event.detail === 2) {
                const before = lines[line].slice(0, column).match(/\w*$/)[0].length;
                const after = lines[line].slice(column).match(/^\w*/)[0].length;
                input.setSelectionRange(offset - before, offset + after);
            } else if (event.detail > 2) {
                input.setSelectionRange(starts[line], starts[line] + lines[line].length + (line + 1 < lines.length));
            } else {
                select(offset, event.shiftKey);
                const drag = e => select(hit(e), true);
                const up = () => {
                    removeEventListener("mousemove", drag);
                    removeEventListener("mouseup", up);
                };
                addEventListener("mousemove", drag);
                addEventListener("mouseup", up);
            }
            update();
        });
        scroll.addEventListener("scroll", () => input.selectionStart !== input.selectionEnd && drawSelection());
        new ResizeObserver(drawSelection).observe(scroll);

        // ---- Messages ----

        // [{line, column, severity, message}], from 1; each stands under its line, and under its word is a wave.
        let messages = [];
        function drawWaves() {
            waves.replaceChildren();
            for (const m of messages) {
                const i = m.line - 1, from = Math.max(0, (m.column || 1) - 1);
                if (m.severity < 2 || i < 0 || i >= lines.length || from > lines[i].length) continue;
                const word = lines[i].slice(from).match(/^(\w+|.?)/)[0].length, box = boxOf(i, from, from + word);
                const wave = el("div", {className: m.severity > 2 ? "bad" : "odd", textContent: "\u00a0".repeat(200)});
                Object.assign(wave.style, {left: box.left + "px", top: box.top + "px", width: Math.max(8, box.width) + "px"});
                waves.append(wave);
            }
        }
        function setMessages(list_) {
            messages = list_.filter(m => m.line <= lines.length);
            for (const node of list.querySelectorAll(".ed-note")) node.remove();
            for (const node of list.querySelectorAll(".bad, .odd")) node.classList.remove("bad", "odd");
            for (const m of list_) {
                const node = list.children[Math.min(Math.max(1, m.line), lines.length) - 1];
                if (!node) continue;
                const kind = m.severity >= 3 ? "bad" : m.severity === 2 ? "odd" : "";
                const note = el("div", {className: "ed-note " + kind, role: "alert", textContent: m.message});
                note.style.setProperty("--pad", Math.min(24, Math.max(0, (m.column || 1) - 1)) + "ch");
                if (kind) node.classList.add(kind);
                node.append(note);
            }
            drawWaves();
            drawSelection();
        }

        return {
            get value() { return input.value; },
            set value(text) {
                input.value = text.replace(/\r\n?/g, "\n");
                input.setSelectionRange(0, 0);
                waves.replaceChildren();
                redraw();
                scroll.scrollTop = 0;
                drawSelection();
            },
            goTo(line, column) {
                const i = Math.min(Math.max(1, line), lines.length) - 1;
                input.focus({preventScroll: true});
                select(starts[i] + Math.min(Math.max(0, (column || 1) - 1), lines[i].length));
                update();
            },
            focus: () => input.focus({preventScroll: true}),
            setMessages, input,
        };
    }

    Object.assign(Ingot, {Editor, highlight});
})();
