// inspect.js: what one command of a capture is about, in tabs: state, arguments, contents, mesh,
// source, statistics, history of a pixel, differences.
"use strict";
(function () {
    const {el} = Ingot;
    const STAGES = ["kernel", "vertex", "fragment", "object", "mesh", "tile"];
    const WORDS = {
        primitive: ["points", "lines", "line strip", "triangles", "triangle strip"], cull: ["none", "front faces", "back faces"],
        winding: ["clockwise", "counter-clockwise"], fill: ["fill", "lines"],
        compare: ["never", "less", "equal", "less or equal", "greater", "not equal", "greater or equal", "always"],
        load: ["don't care", "load", "clear"], store: ["don't care", "store", "resolve", "store and resolve"],
        factor: ["0", "1", "source", "1 - source", "source alpha", "1 - source alpha", "destination", "1 - destination",
            "destination alpha", "1 - destination alpha", "source alpha saturated", "blend colour", "1 - blend colour", "blend alpha",
            "1 - blend alpha", "source 1", "1 - source 1", "source 1 alpha", "1 - source 1 alpha"],
        op: ["+", "-", "reverse -", "min", "max"],
    };
    // Bytes that are asked for at first, of buffers and of other memory; a file made with --html has those.
    const FIRST = 65536, OTHER = 4096;
    function first(site, value) {
        const at = number(value);
        const r = site.resources.findLast(x => x.kind === 1 && at >= number(x.address) && at - number(x.address) < x.bytes);
        return r ? Math.min(FIRST, r.bytes - (at - number(r.address))) : OTHER;
    }

    function facts(rows) {
        const list = el("dl", {className: "facts"});
        for (const [name, value] of rows) if (value !== undefined && value !== "") list.append(el("dt", {textContent: name}), el("dd", {}, value));
        return list;
    }
    const bytes = n => n < 10240 ? `${n} bytes` : n < 10 << 20 ? `${(n / 1024).toFixed(1)} KiB` : `${(n / 1048576).toFixed(1)} MiB`;
    const section = (title, ...inner) => el("section", {}, el("h2", {textContent: title}), ...inner);
    const number = v => parseInt(v, 16);

    // Everything a command takes: [{stage, arg, reflected, type, types}].
    function argumentsOf(site, event) {
        const out = [];
        for (const stage of STAGES) {
            const f = event[stage];
            if (!f || !f.arguments) continue;
            const library = site.libraries[site.reflection[f.function]];
            const known = library && library.functions.find(x => x.name === f.name);
            for (const arg of f.arguments) {
                const reflected = known && known.args.find(a => a.name === arg.name);
                out.push({stage, arg, types: library ? library.types : [], type: reflected ? reflected.type : -1, reflected});
            }
        }
        return out;
    }
    const resource = (site, arg) => arg.resource === undefined ? null : site.resources[arg.resource];

    // Attachments of the pass that a command belongs to: [{name, target, resource}].
    function targetsOf(site, pass) {
        const out = [];
        for (const [name, t] of Object.entries(pass || {}))
            if (/^(color\d|depth|stencil)$/.test(name) && t.texture !== undefined) {
                const handle = site.handles.get(t.texture), r = site.resources.find(x => x.handle === handle && handle !== undefined);
                out.push({name, target: t, resource: r});
                const to = site.handles.get(t.resolve), resolved = to !== undefined && site.resources.find(x => x.handle === to);
                if (resolved) out.push({name: name + ", resolved", target: t, resource: resolved});
            }
        return out;
    }

    // ---- The debugger ----

    // The words that start it at a place of a command, with a button that copies them, and one that opens a terminal
    // where there is one. place: "", "thread 1,2,3", "pixel 4,5", "vertex 6".
    function debugLine(site, command, place) {
        const words = `${site.debug} --command ${command}${place ? " --" + place : ""}`;
        const code = el("code", {className: "debug", textContent: words}), copy = el("button", {textContent: "Copy"});
        copy.addEventListener("click", async () => {
            try {
                await navigator.clipboard.writeText(words);
                copy.textContent = "Copied";
            } catch { // not in a file, or not allowed: to be copied by hand
                getSelection().selectAllChildren(code);
                copy.textContent = "Selected";
            }
        });
        const line = el("span", {className: "debugline"}, code, copy);
        if (site.terminal && !site.held) {
            const open = el("button", {textContent: "Debug"});
            open.addEventListener("click", () => Ingot.ask(`api/debug?${command}${place ? "," + place.replace(" ", ",") : ""}`, "")
                .then(() => { open.textContent = "Opened"; }).catch(error => { open.textContent = error.message; }));
            line.append(open);
        }
        return line;
    }
    function debugSection(site, node) {
        const e = node.event, draw = e.event === "draw";
        if (!e.kernel && !draw) return [];
        if (draw && e.mesh) return [section("Debug", el("p", {}, debugLine(site, e.command, "")))];
        const at = draw ? ["vertex"] : ["x", "y", "z"], line = el("p", {});
        const inputs = at.map((name, i) => el("input", {type: "number", min: 0, max: draw ? undefined : e.grid[i] - 1, value: 0, "aria-label": name, disabled: !draw && e.grid[i] === 1}));
        const show = () => line.replaceChildren(debugLine(site, e.command, draw ? `vertex ${+inputs[0].value}` : `thread ${inputs.map(i => +i.value).join(",")}`));
        for (const i of inputs) i.addEventListener("input", show);
        show();
        return [section("Debug", el("p", {className: "tabs"}, draw ? "vertex" : "thread", ...inputs, el("span", {className: "dim", textContent: draw ? "or a pixel: click it in Textures" : "stops in this thread, in gdb"})), line)];
    }

    // ---- Tabs ----

    function stateTab(site, node) {
        const e = node.event, out = [];
        for (const text of node.said || []) out.push(el("div", {className: "said" + (text.bad ? " bad" : ""), textContent: text.text}));
        out.push(section(node.name, facts([
            ["command", e.command], ["label", e.label], ["class", e.class], ["queue", e.queue && `${e.queue} ${e.queueLabel || ""}`],
            ["grid", e.grid && `${e.grid.join(" x ")} threads`], ["threadgroup", e.threadgroup && e.threadgroup.join(" x ")],
            ["size", e.width && `${e.width} x ${e.height}`], ["samples", e.samples > 1 ? e.samples : undefined],
            ["vertices", e.event === "draw" ? `${e.vertices} x ${e.instances} instances${e.indexBytes && e.indices ? `, ${e.indexBytes * 8} bit indices` : ""}` : undefined],
            ["threadgroups", e.groups && e.groups.join(" x ")], ["bytes", e.bytes && bytes(e.bytes)], ["from", e.from], ["to", e.to],
            ["took", node.ns ? `${(node.ns / 1e6).toFixed(3)} ms when replayed` : undefined]])));
        const s = e.state;
        if (s) {
            const blend = s.blend.map((b, i) => b[0] ? `colour ${i}: ${WORDS.factor[b[3]]} ${WORDS.op[b[1]]} ${WORDS.factor[b[4]]}, alpha: ${WORDS.factor[b[5]]} ${WORDS.op[b[2]]} ${WORDS.factor[b[6]]}` : "").filter(Boolean);
            out.push(section("State", facts([["primitive", WORDS.primitive[s.primitive]], ["cull", WORDS.cull[s.cull]], ["front faces", WORDS.winding[s.winding]],
                ["fill mode", WORDS.fill[s.fill]], ["depth test", `${WORDS.compare[s.depthCompare]}${s.depthWrite ? ", writes" : ""}`],
                ["stencil test", s.stencil ? "yes" : "no"], ["blending", blend.join("; ") || "none"],
                ["viewport", s.viewports.map(v => v.join(" ")).join("; ") || "the whole target"], ["rasterization", s.discard ? "disabled" : "enabled"]])));
        }
        if (e.structure) out.push(...buildSections(site, e));
        const targets = targetsOf(site, e.event === "draw" ? node.pass : e);
        if (targets.length)
            out.push(section("Attachments", table(["attachment", "texture", "load", "store"], targets.map(t =>
                [t.name, t.resource ? t.resource.what : `texture ${t.target.texture}`, WORDS.load[t.target.load], WORDS.store[t.target.store]]))));
        const args = argumentsOf(site, e);
        if (args.length || (e.vertexBuffers || []).length)
            out.push(section("Arguments", table(["stage", "name", "type", "index", "holds"], [...args.map(({stage, arg, types, type, reflected}) =>
                [stage, arg.name, (reflected && reflected.space ? reflected.space + " " : "") + (types[type] ? types[type].name : arg.kind), arg.index,
                    holds(site, arg)]),
                ...vertexBuffers(site, e).map(v => ["vertex", "(vertex buffer)", `stride ${v.stride}`, v.index, holds(site, v)])])));
        out.push(...debugSection(site, node));
        return out;
    }
    // What an acceleration structure is built of.
    function buildSections(site, e) {
        const held = arg => arg ? holds(site, arg) : "none";
        const out = [section("Acceleration structure", facts([["structure", held(e.structure)], ["source", e.source && held(e.source)],
            ["keyframes", e.keyframes > 1 ? e.keyframes : undefined], ["usage", e.usage || undefined], ["instances", e.instances],
            ["instance records", e.records && held(e.records)], ["motion transforms", e.transforms && held(e.transforms)],
            ["structures", e.structures && e.structures.map(held).join(", ")]]))];
        if (e.geometries)
            out.push(section("Geometries", table(["shape", "primitives", "opaque", "elements", "stride", "indices", "transform", "primitive data"], e.geometries.map(g =>
                [g.shape, g.primitives, g.opaque ? "yes" : "no", held(g.elements), g.stride, held(g.indices), held(g.transform), held(g.data)]))));
        return out;
    }
    function holds(site, arg) {
        const r = resource(site, arg);
        if (r) return `${r.what}${arg.offset ? `, from byte ${arg.offset}` : ""}`;
        if (arg.kind === "threadgroup") return "threadgroup memory";
        return number(arg.value) ? `bytes at ${arg.value}` : "nothing";
    }
    function table(heads, rows) {
        return el("table", {className: "plain"}, el("thead", {}, el("tr", {}, ...heads.map(h => el("th", {textContent: h})))),
            el("tbody", {}, ...rows.map(r => el("tr", {}, ...r.map(c => el("td", {}, c === undefined ? "" : c instanceof Node ? c : String(c)))))));
    }

    // A buffer's bytes in ways to look at them. before: those of another capture.
    function content(title, note, data, types, type, before) {
        const box = el("section", {className: "content"}), tabs = el("span", {className: "tabs"}), inner = el("div");
        const looks = type >= 0 && types[type] ? ["Table", "Plot", "Hex"] : ["Floats", "Plot", "Hex"];
        const float = [{name: "float", data_type: 3, size: 4}];
        const [use, ix] = type >= 0 && types[type] ? [types, type] : [float, 0];
        const show = look => {
            for (const b of tabs.children) b.setAttribute("aria-pressed", b.textContent === look);
            const grid = el("div", {"aria-label": title});
            inner.replaceChildren(look === "Plot" ? el("canvas", {className: "plot", role: "img", "aria-label": "Plot of " + title}) : grid);
            if (look === "Plot") requestAnimationFrame(() => Ingot.plot(inner.firstChild, Ingot.series(data, use, ix)));
            else if (look === "Hex") Ingot.hex(grid, data);
            else Ingot.table(grid, data, use, ix, {before});
        };
        for (const look of looks) {
            const b = el("button", {textContent: look});
            b.addEventListener("click", () => show(look));
            tabs.append(b);
        }
        box.append(el("h3", {}, title, el("span", {className: "dim", textContent: note}), el("span", {className: "space"}), tabs), inner);
        requestAnimationFrame(() => show(looks[0]));
        return box;
    }
    const pathOf = (command, address, n) => `bytes?${command},${address},${n}`;

    // How many bytes of an argument are worth a look: one element of a uniform, a whole buffer.
    function lengthOf(site, arg, type) {
        const r = resource(site, arg);
        return r ? Math.min(FIRST, r.bytes - (arg.offset || 0)) : Math.min(FIRST, Math.max(16, type ? type.size : 256));
    }
    // MTLVertexFormat to MTLDataType and bytes, of formats that are numbers as they lie.
    const FORMATS = {28: [3, 4], 29: [4, 8], 30: [5, 12], 31: [6, 16], 25: [17, 4], 26: [18, 6], 27: [19, 8], 53: [16, 2], 32: [29, 4], 33: [30, 8],
        34: [31, 12], 35: [32, 16], 36: [33, 4], 37: [34, 8], 38: [35, 12], 39: [36, 16], 3: [52, 4], 9: [52, 4], 42: [52, 4], 45: [49, 1]};
    // The buffers of a draw's vertex descriptor, with their strides and a type made of their attributes.
    function vertexBuffers(site, e) {
        const code = e.vertex && site.functions.find(c => c.function === e.vertex.function);
        return (e.vertexBuffers || []).map(v => {
            const mine = code ? code.attributes.filter(a => a[3] === v.index) : [];
            const stride = v.stride || (code && code.strides[v.index]) || 4, types = [{name: `${stride} bytes`, data_type: 1, size: stride, members: []}];
            for (const [index, format, offset] of mine) {
                const [type, size] = FORMATS[format] || [33, 4];
                types[0].members.push({name: `attribute ${index}`, type: types.length, offset});
                types.push({name: "", data_type: type, size});
            }
            const first = mine.find(a => a[1] === 30 || a[1] === 31 || a[1] === 29);
            return {...v, stride, types, place: first ? first[2] : 0};
        });
    }
    async function buffersTab(site, node) {
        const e = node.event, out = [], list = argumentsOf(site, e).filter(a => a.arg.kind === "buffer" && number(a.arg.value));
        for (const v of vertexBuffers(site, e))
            list.push({stage: "vertex buffer", arg: {...v, name: String(v.index)}, types: v.types, type: 0});
        if (e.indices) {
            const wide = e.indexBytes === 4;
            list.push({stage: "indices", arg: {...e.indices, name: ""}, types: [{name: wide ? "uint" : "ushort", data_type: wide ? 33 : 41, size: e.indexBytes}], type: 0});
        }
        if (e.to) list.push({stage: "destination", arg: {value: e.to, name: ""}, types: [], type: -1});
        for (const {stage, arg, types, type} of list) {
            const title = `${stage} ${arg.name}`.trim();
            try {
                const reply = await site.ask(pathOf(e.command, arg.value, first(site, arg.value)));
                const n = Math.min(reply.data.length, lengthOf(site, arg, types[type]));
                out.push(content(title, `${types[type] ? types[type].name + ", " : ""}${bytes(n)}${n < reply.left && resource(site, arg) && resource(site, arg).bytes - (arg.offset || 0) > n ? " of more" : ""} after this command`,
                    reply.data.slice(0, n), types, type));
            } catch (error) {
                out.push(el("section", {}, el("h3", {textContent: title}), el("div", {className: "said", textContent: error.message})));
            }
        }
        return out.length ? out : [el("p", {className: "dim", textContent: "This command has no buffers."})];
    }

    function texturesTab(site, node, pickPixel) {
        const e = node.event, found = new Map();
        const targets = targetsOf(site, e.event === "draw" ? node.pass : e); // what samples were resolved to comes first
        for (const t of targets.sort((a, b) => b.name.includes("resolved") - a.name.includes("resolved")))
            if (t.resource) found.set(t.resource.number, t.name);
        for (const {arg} of argumentsOf(site, e)) if (arg.kind === "texture" && resource(site, arg)) found.set(arg.resource, found.get(arg.resource) || arg.name);
        const boxes = [...found].map(([n, name]) => {
            const r = site.resources[n];
            return Ingot.viewer({...r, label: `${name}: ${r.label || "texture " + n}`}, (level, slice) => site.ask(`texture?${e.command},${n},${level},${slice}`),
                targetsOf(site, node.pass).some(t => t.resource === r) && e.event === "draw" ? (x, y) => pickPixel(n, x, y) : null);
        });
        return boxes.length ? [el("div", {className: "pictures"}, ...boxes),
            el("p", {className: "dim", textContent: e.event === "draw" ? "As they are after this command. A click on an attachment shows which draws changed that pixel." : "As they are after this command."})]
            : [el("p", {className: "dim", textContent: "This command has no textures."})];
    }

    // Positions: the first vertex buffer's, or those of a buffer whose elements have three numbers at their beginning.
    async function meshTab(site, node) {
        const e = node.event, sources = vertexBuffers(site, e).map(v => ({name: `vertex buffer ${v.index}`, arg: v, stride: v.stride, offset: v.place}));
        for (const {stage, arg, types, type} of argumentsOf(site, e))
            if (arg.kind === "buffer" && stage !== "fragment" && types[type] && types[type].size >= 8 && resource(site, arg))
                sources.push({name: `${stage} ${arg.name}`, arg, stride: types[type].size});
        if (!sources.length) return [el("p", {className: "dim", textContent: "This draw reads no vertices from a buffer: its functions compute them."})];
        const pick = el("select", {"aria-label": "positions"}, ...sources.map((s, i) => el("option", {value: i, textContent: s.name})));
        const stride = el("input", {type: "number", min: 4, value: sources[0].stride, "aria-label": "stride"}), offset = el("input", {type: "number", min: 0, value: sources[0].offset || 0, "aria-label": "offset"});
        const canvas = el("canvas", {className: "wire", tabIndex: 0, role: "img", "aria-label": "Wireframe"}), note = el("p", {className: "dim"}), hold = el("div");
        stride.style.width = offset.style.width = "80px";
        async function draw() {
            const s = sources[pick.value], fresh = canvas.cloneNode();
            hold.replaceChildren(fresh);
            try {
                const r = resource(site, s.arg), most = r ? Math.min(4 << 20, r.bytes - (s.arg.offset || 0)) : FIRST;
                const reply = await site.ask(pathOf(e.command, s.arg.value, most <= FIRST ? first(site, s.arg.value) : most)).catch(() => site.ask(pathOf(e.command, s.arg.value, first(site, s.arg.value))));
                const view = new DataView(reply.data.buffer, reply.data.byteOffset, reply.data.byteLength), step = Math.max(4, +stride.value);
                const n = Math.max(0, Math.floor((view.byteLength - +offset.value - 8) / step) + 1), points = new Float32Array(3 * n);
                for (let i = 0; i < n; i++)
                    for (let c = 0; c < 3; c++) {
                        const at = i * step + +offset.value + 4 * c;
                        points[3 * i + c] = at + 4 <= view.byteLength && 4 * c + 4 <= step ? view.getFloat32(at, true) : 0;
                    }
                let corners = Array.from({length: Math.min(n, e.vertices)}, (_, i) => i + (e.first || 0)).filter(i => i < n), lost = e.vertices - corners.length;
                if (e.indices) {
                    const wide = e.indexBytes === 4, need = e.vertices * e.indexBytes;
                    const x = await site.ask(pathOf(e.command, e.indices.value, need <= FIRST ? first(site, e.indices.value) : need)).catch(() => site.ask(pathOf(e.command, e.indices.value, first(site, e.indices.value))));
                    const iv = new DataView(x.data.buffer, x.data.byteOffset, x.data.byteLength), k = Math.min(e.vertices, Math.floor(iv.byteLength / e.indexBytes));
                    const all = Array.from({length: k}, (_, i) => (wide ? iv.getUint32(4 * i, true) : iv.getUint16(2 * i, true)) + (e.first || 0));
                    corners = all.filter(i => i < n);
                    lost = e.vertices - corners.length;
                }
                const {edges, cut} = Ingot.wireframe(fresh, points, corners, e.state ? e.state.primitive : 3);
                note.textContent = `${corners.length} corners, ${edges} edges${lost > 0 ? `; ${lost} corners lie outside of what was read` : ""}${cut ? "; more edges are not drawn" : ""}. Positions are those that the vertex function reads. Drag, or arrows, + and -.`;
            } catch (error) {
                note.textContent = error.message;
            }
        }
        pick.addEventListener("change", () => { stride.value = sources[pick.value].stride; offset.value = sources[pick.value].offset || 0; draw(); });
        for (const i of [stride, offset]) i.addEventListener("change", draw);
        requestAnimationFrame(draw);
        return [el("div", {className: "tabs"}, el("label", {}, "positions ", pick), el("label", {}, "stride ", stride), el("label", {}, "offset ", offset)), hold, note];
    }

    // ---- What lines cost ----

    // Samples and counts by command: {commands: Map(command -> [{kernel, file, line, ms, ...counts}]), remarks}. Asked
    // for once; the server replays the capture under its profiler then.
    function linesOf(site) {
        return site.lines ||= site.ask("lines").then(reply => {
            const commands = new Map(), rows = new Map();
            const row = (command, kernel, file, line) => {
                const key = `${command} ${kernel} ${file} ${line}`;
                if (!rows.has(key)) {
                    const made = {kernel: reply.kernels[kernel], file: reply.files[file], line, samples: 0, ms: 0, ...NOTHING};
                    rows.set(key, made);
                    if (!commands.has(command)) commands.set(command, []);
                    commands.get(command).push(made);
                }
                return rows.get(key);
            };
            for (const [command, kernel, file, line, n] of reply.samples) {
                const r = row(command, kernel, file, line);
                r.samples += n;
                r.ms += n * reply.intervalUs / 1000 / reply.turns;
            }
            for (const {at, ...counts} of reply.counts) addCounts(row(...at), counts);
            return {commands, remarks: reply.remarks.map(([file, line, kind, text]) => ({file: reply.files[file], line, kind, text}))};
        });
    }
    const NOTHING = {threads: 0, room: 0, active: 0, scalar: 0, gathers: 0, serial: 0, texels: 0, read: 0, written: 0};
    function addCounts(to, more) {
        for (const k of Object.keys(NOTHING)) to[k] += more[k];
        return to;
    }
    const share = (part, whole) => whole ? `${(100 * part / whole).toFixed(part < whole && part > 0.999 * whole ? 1 : 0)} %` : "";
    const lastPart = path => path.slice(path.lastIndexOf("/") + 1);
    const isOf = (file, source) => lastPart(file) === lastPart(source.name) || lastPart(file) === lastPart(source.name) + ".metal";
    const count = n => n.toLocaleString("en");

    // Rows of the lines of one source, summed over commands: Map(line -> row).
    function sumLines(measured, commands, names, source) {
        const lines = new Map();
        for (const c of commands)
            for (const r of measured.commands.get(c) || []) {
                if (!names.includes(r.kernel) || !isOf(r.file, source)) continue;
                const sum = lines.get(r.line) || {samples: 0, ms: 0, ...NOTHING};
                sum.samples += r.samples;
                sum.ms += r.ms;
                lines.set(r.line, addCounts(sum, r));
            }
        return lines;
    }
    function describeLine(r) {
        const parts = [`${r.ms.toFixed(3)} ms (${r.samples} samples)`];
        if (r.room) parts.push(`${share(r.active, r.room)} of the lanes active`);
        if (r.scalar && !r.room) parts.push("the same for all threads: done once for 32");
        if (r.read || r.written) parts.push(`${bytes(r.read)} read, ${bytes(r.written)} written`);
        if (r.gathers) parts.push(`${count(r.gathers)} accesses one by one`);
        if (r.serial) parts.push(`${count(r.serial)} operations one by one`);
        if (r.texels) parts.push(`${count(r.texels)} texture calls`);
        return parts.join("\n");
    }
    // Fills in the columns beside the text. Returns how many samples there are.
    function showLines(pre, lines, remarks) {
        let all = 0, samples = 0;
        for (const r of lines.values()) all += r.ms, samples += r.samples;
        for (const row of pre.querySelectorAll(".l")) {
            const r = lines.get(+row.dataset.n), told = remarks.filter(m => m.line === +row.dataset.n && m.kind !== "step");
            const part = r && all ? r.ms / all : 0;
            row.dataset.time = part >= 0.0005 ? `${(100 * part).toFixed(1)} %` : "";
            row.querySelector(".lanes")?.remove();
            row.prepend(el("span", {className: "lanes", textContent: r && r.room ? share(r.active, r.room) : ""}));
            row.style.setProperty("--heat", Math.sqrt(part).toFixed(3));
            row.title = [r ? describeLine(r) : "", ...told.map(m => `${m.kind}: ${m.text}`)].filter(Boolean).join("\n");
            row.classList.toggle("told", told.length > 0);
            row.querySelector(".why")?.remove();
            if (told.length && part > 0.01) row.append(el("span", {className: "why", textContent: [...new Set(told.map(m => m.text))].slice(0, 2).join("; ")}));
        }
        return samples;
    }
    function measureSource(site, node, names, source, pre) {
        const note = el("span", {className: "dim", textContent: "measuring the lines ..."}), pick = el("select", {"aria-label": "of which commands", hidden: true},
            el("option", {value: "this", textContent: "of this command"}), el("option", {value: "all", textContent: "of all commands"}));
        linesOf(site).then(measured => {
            const remarks = measured.remarks.filter(m => isOf(m.file, source)), own = node.kind === "pass" || node.kind === "command" ? [node.event.command] : [];
            const show = () => {
                const lines = sumLines(measured, pick.value === "this" ? own : [...measured.commands.keys()], names, source);
                const n = showLines(pre, lines, remarks);
                note.textContent = `time and active lanes of each line, from ${n} samples`;
                pre.dataset.measured = pick.value;
                return n;
            };
            pick.hidden = false;
            pre.prepend(el("span", {className: "columns"}, el("span", {textContent: "time"}), el("span", {textContent: "lanes"}), el("span", {textContent: "line"})));
            if (show() < 20) { // too few to say anything
                pick.value = "all";
                show();
            }
            pick.addEventListener("change", show);
        }).catch(error => { note.textContent = error.message; });
        return el("p", {className: "measured"}, pick, " ", note);
    }

    function sourceTab(site, node) {
        const out = [], seen = new Set();
        for (const stage of STAGES) {
            const f = node.event[stage];
            if (!f) continue;
            const code = site.functions.find(c => c.function === f.function), source = code && site.sources.find(s => s.library === code.library);
            if (!source) {
                out.push(el("p", {className: "dim", textContent: `The source of ${f.name} is not in the capture.`}));
                continue;
            }
            const key = code.library;
            if (seen.has(key)) continue;
            seen.add(key);
            const state = {}, names = STAGES.map(s => node.event[s] && node.event[s].name).filter(Boolean);
            const entry = new RegExp(`\\b(${names.map(n => n.replace(/\W/g, "\\$&")).join("|")})\\s*\\(`);
            const pre = el("pre", {className: "source", tabIndex: 0, "aria-label": "Source"});
            source.text.split("\n").forEach((line, i) => {
                const row = el("span", {className: "l" + (entry.test(line) ? " entry" : "")});
                row.dataset.n = i + 1;
                row.innerHTML = Ingot.highlight(line, state) || " "; // escaped there
                pre.append(row);
            });
            out.push(section(source.name || f.name, measureSource(site, node, names, source, pre), pre));
        }
        return out.length ? out : [el("p", {className: "dim", textContent: "This command runs no function."})];
    }

    // What can be said of a command without running it: invocations, bytes that it may read and write.
    function statisticsOf(site, node) {
        const e = node.event, s = {invocations: 0, reads: 0, writes: 0};
        if (e.event === "dispatch" || e.grid) s.invocations = e.grid.reduce((a, b) => a * b, 1);
        if (e.event === "draw") s.invocations = e.groups ? e.groups.reduce((a, b) => a * b, 1) : e.vertices * e.instances;
        for (const {arg, reflected} of argumentsOf(site, e)) {
            const r = resource(site, arg), n = r ? (r.bytes || r.width * r.height * 4 || 0) - (arg.offset || 0) : 0;
            const access = reflected ? reflected.access : arg.access === 0 ? "read" : "read_write";
            if (access !== "write") s.reads += n;
            if (access !== "read") s.writes += n;
        }
        if (e.bytes) s.writes += e.bytes, s.reads += e.from ? e.bytes : 0;
        return s;
    }
    // What was counted while the commands ran, by function.
    function ranTable(measured, nodes) {
        const by = new Map();
        for (const n of nodes)
            for (const r of measured.commands.get(n.event.command) || []) {
                const sum = by.get(r.kernel) || {ms: 0, ...NOTHING};
                sum.ms += r.ms;
                by.set(r.kernel, addCounts(sum, r));
            }
        if (!by.size) return [el("p", {className: "dim", textContent: "No function of these commands was counted."})];
        return [table(["function", "threads", "lanes active", "vector use", "read", "written", "one by one", "texture calls", "time on all cores"], [...by].sort((a, b) => b[1].ms - a[1].ms).map(([name, r]) =>
            [name, count(r.threads), share(r.active, r.room), share(r.room / 32, r.room / 32 + r.scalar), bytes(r.read), bytes(r.written), count(r.gathers + r.serial), count(r.texels), `${r.ms.toFixed(3)} ms`])),
            el("p", {className: "dim", textContent: "Threads that began. Lanes active: of the 32 threads of a SIMD-group, how many took part in instructions that each thread has its own values in; the others waited for a branch or a loop. Vector use: how many instructions are of that kind; the rest is done once for all 32. Read and written: bytes of buffers that the instructions moved. One by one: accesses and operations that had to be done for each thread."})];
    }
    function statisticsTab(site, node, below) {
        const own = node.kind === "command" ? [node] : below, // of a pass: its draws, too
             sum = {commands: 0, invocations: 0, reads: 0, writes: 0, ns: 0}, by = new Map();
        for (const n of own) {
            const s = statisticsOf(site, n), name = STAGES.map(k => n.event[k] && n.event[k].name).filter(Boolean).join(", ") || n.event.event;
            const row = by.get(name) || {commands: 0, invocations: 0, reads: 0, writes: 0, ns: 0};
            for (const k of ["invocations", "reads", "writes"]) sum[k] += s[k], row[k] += s[k];
            sum.ns += n.ns || 0, row.ns += n.ns || 0;
            sum.commands++, row.commands++;
            by.set(name, row);
        }
        const ms = ns => ns ? (ns / 1e6).toFixed(3) + " ms" : "";
        const ran = el("div", {className: "ran"}, el("p", {className: "dim", textContent: "counting ..."}));
        linesOf(site).then(measured => ran.replaceChildren(...ranTable(measured, own))).catch(error => ran.replaceChildren(el("p", {className: "dim", textContent: error.message})));
        return [section("All", facts([["commands", sum.commands], ["invocations", sum.invocations.toLocaleString("en")], ["may read", bytes(sum.reads)],
            ["may write", bytes(sum.writes)], ["time", ms(sum.ns)]])),
            section("As it ran", ran),
            section("By function", table(["function", "commands", "invocations", "may read", "may write", "time"], [...by].sort((a, b) => b[1].ns - a[1].ns).map(([name, r]) =>
                [name, r.commands, r.invocations.toLocaleString("en"), bytes(r.reads), bytes(r.writes), ms(r.ns)]))),
            el("p", {className: "dim", textContent: "Invocations are threads of kernels, vertices of draws, threadgroups of mesh draws. Bytes are those of the bound resources. Times are the quickest of two replays; a pass's draws run together, and the pass has their time."})];
    }

    async function historyTab(site, node, picked, go) {
        if (!picked) return [el("p", {className: "dim", textContent: "Click a pixel of an attachment in Textures (or Enter on it) first."})];
        const [n, x, y] = picked, targets = targetsOf(site, node.pass), depth = targets.find(t => t.name === "depth" && t.resource);
        // What samples are resolved to is written when the pass ends: the draws write the samples.
        const resolved = targets.find(t => t.resource && t.resource.number === n && t.name.endsWith(", resolved"));
        const samples = resolved && targets.find(t => t.resource && t.name + ", resolved" === resolved.name);
        const ask = of => site.ask(`history?${node.event.command},${of},${depth ? depth.resource.number : of},${x},${y}`);
        let reply, r = samples ? samples.resource : site.resources[n];
        try {
            reply = await ask(r.number).catch(error => {
                if (!samples) throw error;
                r = site.resources[n]; // they have no memory
                return ask(n);
            });
        } catch (error) {
            return [el("div", {className: "said", textContent: error.message})];
        }
        const color = v => {
            const b = v.slice(0, 3).map(c => Math.round(255 * Math.min(1, Math.max(0, c))));
            const swatch = el("span", {className: "swatch"});
            swatch.style.background = `rgb(${b})`;
            return el("span", {}, swatch, v.map(c => Ingot.show(+c.toPrecision(5))).join(" "));
        };
        const rows = reply.draws.map(d => {
            const at = site.commands.get(d.command), s = at && at.event.state, b = s && s.blend[0];
            const link = el("button", {textContent: `${d.command}: ${at ? at.name : ""}`});
            link.addEventListener("click", () => go(d.command));
            return [link, color(d.before), color(d.after), depth ? `${Ingot.show(+d.beforeDepth.toPrecision(6))} to ${Ingot.show(+d.afterDepth.toPrecision(6))}` : "", s ? `${WORDS.compare[s.depthCompare]}${s.depthWrite ? ", writes" : ""}` : "",
                b && b[0] ? `${WORDS.factor[b[3]]} ${WORDS.op[b[1]]} ${WORDS.factor[b[4]]}` : "none",
                !reply.counted ? "changed it" : d.passed ? `wrote${d.covered > d.passed ? `, ${d.passed} of ${d.covered} samples` : ""}` : "failed the depth or stencil test"];
        });
        return [section(`Pixel (${x}, ${y}) of ${r.what}`, el("p", {}, "At the beginning of the pass: ", color(reply.begin)),
            rows.length ? table(["draw", "before", "after", "depth", "depth test", "blending", "result"], rows) : el("p", {textContent: "No draw of this pass touched it."})),
            ...(reply.draws.length ? [section("Debug this pixel", ...reply.draws.filter(d => !reply.counted || d.passed).map(d => el("p", {}, debugLine(site, d.command, `pixel ${x},${y}`))))] : []),
            el("p", {className: "dim", textContent: `${reply.looked} of ${reply.of} draws of the pass were looked at. ${reply.counted ? "Draws whose fragments were discarded are not listed." : "Draws that changed it are listed."}`})];
    }

    // Contents of the same command in two captures, side by side; what differs is marked.
    async function differencesTab(site, node) {
        const e = node.event, other = site.other && site.other.commands.get(e.command), out = [];
        if (!other) return [el("p", {className: "dim", textContent: "The other capture has no such command."})];
        out.push(el("div", {className: "sides"}, section(site.file, facts([["", node.name]])), section(site.other.file, facts([["", other.name]]))));
        const mine = argumentsOf(site, e), theirs = argumentsOf(site.other, other.event);
        for (const {stage, arg, types, type} of mine.filter(a => a.arg.kind === "buffer" && number(a.arg.value))) {
            const twin = theirs.find(t => t.stage === stage && t.arg.name === arg.name);
            if (!twin) continue;
            try {
                const [a, b] = await Promise.all([site.ask(pathOf(e.command, arg.value, first(site, arg.value))), site.other.ask(pathOf(e.command, twin.arg.value, first(site.other, twin.arg.value)))]);
                const n = Math.min(a.data.length, b.data.length, lengthOf(site, arg, types[type])), x = a.data.slice(0, n), y = b.data.slice(0, n);
                const same = x.every((v, i) => v === y[i]), note = same ? "the same in both" : "differs";
                out.push(el("div", {className: "sides"}, content(`${stage} ${arg.name}`, note, x, types, type, y), content(`${stage} ${arg.name}`, note, y, types, type, x)));
            } catch (error) {
                out.push(el("div", {className: "said", textContent: `${arg.name}: ${error.message}`}));
            }
        }
        const a = texturesTab(site, node), b = texturesTab(site.other, other);
        out.push(el("div", {className: "sides"}, el("div", {}, ...a), el("div", {}, ...b)));
        return out;
    }

    Object.assign(Ingot, {inspect: {stateTab, buffersTab, texturesTab, meshTab, sourceTab, statisticsTab, historyTab, differencesTab, argumentsOf, targetsOf}});
})();
