// view.js: the page of `ingot view`: the tree of a capture, its timeline, and the command that is
// looked at. Rows of the tree are drawn only where they can be seen.
"use strict";
(function () {
    const {el, inspect} = Ingot;
    const $ = id => document.getElementById(id);
    const ROW = 22;
    const answers = $("answers") ? JSON.parse($("answers").textContent) : null;
    const cache = new Map();

    // Answers of the server, or those that this file holds.
    function asker(prefix) {
        return path => {
            const key = prefix + path;
            if (!cache.has(key)) {
                if (cache.size > 400) cache.delete(cache.keys().next().value);
                const promise = answers ? held(path) : Ingot.ask(key);
                cache.set(key, promise);
                promise.catch(() => cache.delete(key));
            }
            return cache.get(key);
        };
    }
    async function held(path) {
        const blob = document.getElementById("blob" + answers[path]);
        if (!blob) throw new Error("this file does not hold it: open the capture with `ingot view`");
        const raw = Uint8Array.from(atob(blob.textContent), c => c.charCodeAt(0));
        return path.startsWith("bytes") || path.startsWith("texture") ? Ingot.unpack(raw.buffer) : JSON.parse(new TextDecoder().decode(raw));
    }

    // ---- The tree ----

    // Nodes in the order of the events: {event, name, depth, parent, end (behind the last below it)}.
    function build(site) {
        const nodes = [], stack = [];
        let pass = null;
        const top = () => stack[stack.length - 1];
        const add = (event, name, extra) => {
            const node = {event, name, depth: stack.length, parent: top() || null, index: nodes.length, open: true, ...extra};
            nodes.push(node);
            return node;
        };
        const leave = kind => {
            while (stack.length && top().kind !== kind) stack.pop().end = nodes.length;
            if (stack.length) stack.pop().end = nodes.length;
        };
        const leavePass = () => {
            if (stack.length && top().kind === "pass") stack.pop().end = nodes.length;
            pass = null;
        };
        const buffers = new Map();
        site.commands = new Map();
        for (const e of site.events) {
            if (e.event !== "draw" && e.event !== "operation") leavePass();
            if (e.event === "begin") {
                while (stack.length) stack.pop().end = nodes.length;
                const node = add(e, `command buffer ${e.label || e.serial}${e.resumed ? " goes on" : ""}`, {kind: "buffer"});
                buffers.set(e.serial, node);
                stack.push(node);
            } else if (e.event === "encoder") stack.push(add(e, `${e.label || e.class}`, {kind: "encoder"}));
            else if (e.event === "encoderEnd") leave("encoder");
            else if (e.event === "push") stack.push(add(e, e.title || e.name, {kind: "group"}));
            else if (e.event === "pop") leave("group");
            else if (e.event === "signpost") add(e, e.title || e.name, {kind: "note"});
            else if (e.event === "unknown") (add(e, e.title || e.name, {kind: "note"})).said = [{text: e.title || e.name}];
            else if (e.event === "status") {
                const node = buffers.get(e.serial);
                if (node && e.error) {
                    node.bad = true;
                    (node.said ||= []).push({bad: true, text: e.error});
                }
            } else if (e.command !== undefined) {
                const node = add(e, e.what, {kind: "command", pass});
                site.commands.set(e.command, node);
                if (e.event === "render pass") {
                    pass = e;
                    node.kind = "pass";
                    node.pass = e;
                    stack.push(node);
                }
            }
        }
        while (stack.length) stack.pop().end = nodes.length;
        for (const n of nodes) if (n.end === undefined) n.end = n.index + 1;
        site.nodes = nodes;
    }
    function prepare(site, ask) {
        site.ask = ask;
        site.held = !!answers;
        site.handles = new Map(site.textures.map(t => [t.texture, t.handle]));
        // What a texture is, also of those that were released before the end.
        const made = new Map(site.textures.map(t => [t.handle, t]));
        for (const r of site.resources) {
            const t = made.get(r.handle);
            if (!t || r.kind !== 2) continue;
            const {texture, handle, ...facts} = t;
            Object.assign(r, facts);
            r.what = `texture ${r.number}${r.label ? ` '${r.label}'` : ""}: ${r.width} x ${r.height}${r.depth > 1 ? ` x ${r.depth}` : ""}, ${r.format}`;
        }
        build(site);
        return site;
    }

    let site, visible = [], rows, live = new Map(), selected = null, tab = "State", picked = null, found = new Set();
    function refold() {
        visible = [];
        for (let i = 0; i < site.nodes.length;) {
            const n = site.nodes[i];
            visible.push(n);
            i = n.open ? i + 1 : n.end;
        }
        rows.style.height = visible.length * ROW + "px";
        for (const node of live.values()) node.remove();
        live.clear();
        drawTree();
    }
    function drawTree() {
        const tree = $("tree"), first = Math.max(0, Math.floor(tree.scrollTop / ROW) - 5);
        const last = Math.min(visible.length, Math.ceil((tree.scrollTop + tree.clientHeight) / ROW) + 5);
        for (const [i, node] of live)
            if (i < first || i >= last) {
                node.remove();
                live.delete(i);
            }
        for (let i = first; i < last; i++) {
            if (live.has(i)) continue;
            const n = visible[i], more = n.end > n.index + 1;
            const row = el("div", {className: "node" + (n.bad ? " bad" : "") + (n.kind === "note" ? " note" : "") + (n.differs ? " differs" : "") +
                (found.has(n) ? " found" : ""), role: "treeitem", "aria-level": n.depth + 1, "aria-selected": String(n === selected), id: "node" + n.index});
            if (more) row.setAttribute("aria-expanded", String(n.open));
            row.style.top = i * ROW + "px";
            row.style.paddingLeft = 4 + 14 * n.depth + "px";
            row.append(el("span", {className: "fold", textContent: more ? n.open ? "\u25be" : "\u25b8" : ""}));
            if (n.event.command !== undefined) row.append(el("span", {className: "number", textContent: n.event.command}));
            row.append(el("span", {className: "name", textContent: n.name, title: n.name}));
            if (n.ns) row.append(el("span", {className: "cost", textContent: n.ns < 1e6 ? `${(n.ns / 1e3).toFixed(0)} us` : `${(n.ns / 1e6).toFixed(1)} ms`}));
            row.addEventListener("click", event => {
                if (event.target.className === "fold" && more) fold(n, !n.open);
                else select(n);
            });
            rows.append(row);
            live.set(i, row);
        }
    }
    function fold(n, open) {
        n.open = open;
        if (!open && selected && selected.index > n.index && selected.index < n.end) select(n);
        refold();
    }
    function reveal(n) {
        let hidden = false;
        for (let p = n.parent; p; p = p.parent) if (!p.open) p.open = hidden = true;
        if (hidden) refold();
        const i = visible.indexOf(n), tree = $("tree");
        if (i * ROW < tree.scrollTop) tree.scrollTop = i * ROW - ROW;
        if ((i + 2) * ROW > tree.scrollTop + tree.clientHeight) tree.scrollTop = (i + 2) * ROW - tree.clientHeight;
    }
    function select(n) {
        if (!n) return;
        selected = n;
        reveal(n);
        for (const [i, row] of live) row.setAttribute("aria-selected", String(visible[i] === n));
        $("tree").setAttribute("aria-activedescendant", "node" + n.index);
        $("place").textContent = n.event.command === undefined ? "" : `command ${n.event.command} of ${site.commands.size}`;
        drawTimeline();
        showTabs();
    }
    function step(by) {
        let i = selected ? selected.index : -1;
        do i += by; while (site.nodes[i] && site.nodes[i].event.command === undefined);
        select(site.nodes[i]);
    }

    // ---- The command ----

    let turn = 0;
    async function showTabs() {
        const n = selected, e = n.event, command = e.command !== undefined;
        const names = ["State", ...(command ? ["Buffers", "Textures"] : []), ...(e.event === "draw" && !e.mesh ? ["Mesh"] : []),
            ...(["kernel", "vertex", "fragment", "mesh"].some(k => e[k]) ? ["Source"] : []), "Statistics",
            ...(e.event === "draw" || e.event === "render pass" ? ["Pixel history"] : []), ...(site.other && command ? ["Differences"] : [])];
        const now = names.includes(tab) ? tab : "State";
        $("tabs").replaceChildren(...names.map(name => {
            const b = el("button", {textContent: name, role: "tab", "aria-selected": String(name === now)});
            b.addEventListener("click", () => { tab = name; showTabs(); });
            return b;
        }));
        const mine = ++turn, below = () => site.nodes.slice(n.index, n.end).filter(x => x.event.command !== undefined);
        let content;
        document.body.dataset.shown = "";
        if (now === "State") content = inspect.stateTab(site, n);
        else if (now === "Buffers") content = await inspect.buffersTab(site, n);
        else if (now === "Textures") content = inspect.texturesTab(site, n, (number, x, y) => {
            picked = [number, x, y];
            tab = "Pixel history";
            showTabs();
        });
        else if (now === "Mesh") content = await inspect.meshTab(site, n);
        else if (now === "Source") content = inspect.sourceTab(site, n);
        else if (now === "Statistics") content = inspect.statisticsTab(site, n, below());
        else if (now === "Pixel history") content = await inspect.historyTab(site, n, picked, c => select(site.commands.get(c)));
        else content = await inspect.differencesTab(site, n);
        if (mine !== turn) return; // another was chosen meanwhile
        $("body").replaceChildren(...content);
        $("body").scrollTop = 0;
        const entry = $("body").querySelector(".entry");
        if (entry) entry.scrollIntoView({block: "center"});
        document.body.dataset.shown = `${now} ${e.command}`;
    }

    // ---- The timeline ----

    let bars = [];
    function drawTimeline() {
        const canvas = $("timeline"), ratio = devicePixelRatio || 1, box = canvas.getBoundingClientRect();
        const w = canvas.width = box.width * ratio, h = canvas.height = box.height * ratio, g = canvas.getContext("2d");
        const list = [...site.commands.values()], cost = n => !site.timed ? 1 : n.kind === "pass" && n.event.draws ? 0 : n.event.event === "draw" && n.parent && n.parent.ns ? n.parent.ns / n.parent.event.draws : n.ns || 0, all = list.reduce((s, n) => s + cost(n), 0) || 1;
        g.clearRect(0, 0, w, h);
        g.font = `${11 * ratio}px sans-serif`;
        g.textBaseline = "middle";
        let at = 0, encoder, buffer, from = {};
        bars = [];
        const colors = [0, 1, 2, 3].map(k => Ingot.colorOf(canvas, `--plot${k}`)), line = Ingot.colorOf(canvas, "--line"), text = Ingot.colorOf(canvas, "--text"),
            panel = Ingot.colorOf(canvas, "--raised");
        const up = (n, kind) => { for (let p = n; p; p = p.parent) if (p.kind === kind) return p; return null; };
        const band = (node, x0, x1, y, hue) => {
            if (!node || x1 - x0 < 0.3) return;
            g.fillStyle = panel;
            g.fillRect(x0, y, x1 - x0, 17 * ratio);
            g.fillStyle = hue;
            g.fillRect(x0, y + 15 * ratio, Math.max(1, x1 - x0 - 1), 2 * ratio);
            g.fillStyle = text;
            g.save();
            g.beginPath();
            g.rect(x0, y, Math.max(0, x1 - x0 - 4 * ratio), 17 * ratio);
            g.clip();
            if (x1 - x0 > 30 * ratio) g.fillText(node.name, x0 + 4 * ratio, y + 8 * ratio);
            g.restore();
        };
        const flush = (kind, node, x, y, hue) => { band(node, from[kind], x, y, hue); };
        list.forEach(n => {
            const x0 = at / all * w, b = up(n, "buffer"), e = up(n, "encoder");
            if (b !== buffer) { flush("buffer", buffer, x0, 2 * ratio, colors[3]); buffer = b; from.buffer = x0; }
            if (e !== encoder) { flush("encoder", encoder, x0, 21 * ratio, colors[2]); encoder = e; from.encoder = x0; }
            at += cost(n);
            const x1 = at / all * w;
            bars.push({n, x0, x1});
            g.fillStyle = n === selected ? Ingot.colorOf(canvas, "--accent") : n.event.event === "dispatch" ? colors[0] : n.event.event === "draw" || n.kind === "pass" ? colors[1] : line;
            g.globalAlpha = n === selected ? 1 : 0.65;
            g.fillRect(x0, 41 * ratio, Math.max(n === selected ? 3 : 0.6, x1 - x0 - (x1 - x0 > 3 ? 1 : 0)), 20 * ratio);
            g.globalAlpha = 1;
        });
        flush("buffer", buffer, w, 2 * ratio, colors[3]);
        flush("encoder", encoder, w, 21 * ratio, colors[2]);
    }
    function at(event) {
        const box = $("timeline").getBoundingClientRect(), x = (event.clientX - box.left) * ($("timeline").width / box.width);
        return bars.findLast(b => b.x0 <= x);
    }
    $("timeline").addEventListener("click", e => { const b = at(e); if (b) select(b.n); });
    $("timeline").addEventListener("pointermove", e => { const b = at(e); if (b) $("timeline").title = b.n.name + (b.n.ns ? `, ${(b.n.ns / 1e3).toFixed(1)} us` : ""); });
    $("timeline").addEventListener("keydown", e => {
        if (e.key === "ArrowLeft") step(-1);
        else if (e.key === "ArrowRight") step(1);
        else return;
        e.preventDefault();
    });

    // ---- Keys, finding ----

    $("tree").addEventListener("keydown", e => {
        if (e.altKey || e.ctrlKey || e.metaKey) return;
        const i = visible.indexOf(selected), page = Math.floor($("tree").clientHeight / ROW) - 1;
        const to = {ArrowDown: i + 1, ArrowUp: i - 1, PageDown: Math.min(visible.length - 1, i + page), PageUp: Math.max(0, i - page), Home: 0, End: visible.length - 1}[e.key];
        if (to !== undefined) select(visible[to]);
        else if (e.key === "ArrowRight" && selected) selected.open ? select(site.nodes[selected.index + 1]) : fold(selected, true);
        else if (e.key === "ArrowLeft" && selected) selected.open && selected.end > selected.index + 1 ? fold(selected, false) : select(selected.parent);
        else return;
        e.preventDefault();
    });
    $("tree").addEventListener("scroll", drawTree);
    new ResizeObserver(() => site && (drawTree(), drawTimeline())).observe($("tree"));
    addEventListener("themechange", () => site && drawTimeline());
    $("find").addEventListener("input", () => {
        const words = $("find").value.toLowerCase();
        found = new Set(words ? site.nodes.filter(n => (n.name + " " + ["kernel", "vertex", "fragment", "mesh"].map(k => n.event[k] ? n.event[k].name : "").join(" ")).toLowerCase().includes(words)) : []);
        refold();
        $("state").textContent = words ? `${found.size} found` : summary();
        const next = site.nodes.find(n => found.has(n));
        if (next) reveal(next);
    });
    $("find").addEventListener("keydown", e => {
        if (e.key !== "Enter") return;
        const list = site.nodes.filter(n => found.has(n)), i = list.indexOf(selected);
        select(list[(i + (e.shiftKey ? list.length - 1 : 1)) % list.length]);
    });
    $("previous").addEventListener("click", () => step(-1));
    $("next").addEventListener("click", () => step(1));
    addEventListener("keydown", e => {
        if (e.altKey && (e.key === "ArrowDown" || e.key === "ArrowUp")) step(e.key === "ArrowDown" ? 1 : -1);
        else if ((e.ctrlKey || e.metaKey) && e.key === "f") $("find").focus();
        else return;
        e.preventDefault();
    });

    // ---- The start ----

    const summary = () => `${site.commands.size} commands, ${site.resources.length} resources${site.cut ? ", the capture ends early" : ""}${site.other ? `, compared with ${site.other.file}` : ""}`;
    // Commands of two captures that are not the same by what they are.
    function compare() {
        for (const [c, n] of site.commands) {
            const o = site.other.commands.get(c);
            n.differs = !o || o.name !== n.name;
        }
    }
    (async () => {
        Ingot.theme($("theme"));
        rows = el("div", {className: "rows"});
        $("tree").append(rows);
        try {
            const ask = asker(answers ? "" : "api/");
            site = prepare(await ask("index"), ask);
            if (site.other && !answers) {
                const other = asker("other/");
                site.other = prepare(await other("index"), other);
                compare();
            } else site.other = null;
        } catch (error) {
            $("state").textContent = error.message;
            return;
        }
        $("title").textContent = site.file;
        document.title = `${site.file} - Ingot view`;
        $("state").textContent = summary();
        refold();
        select(site.commands.get(0) || site.nodes[0]);
        if (document.activeElement === document.body) $("tree").focus(); // arrows move at once
        document.body.dataset.ready = "1";
        try {
            const times = await site.ask("times");
            times.forEach((ns, i) => { const n = site.commands.get(i); if (n && n.event.event !== "draw") n.ns = ns; }); // draws of a pass run together
            site.timed = true;
            refold();
            drawTimeline();
            document.body.dataset.timed = "1";
        } catch (error) {
            $("place").textContent = error.message;
        }
    })();
})();
