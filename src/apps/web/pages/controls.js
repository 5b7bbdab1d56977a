// controls.js: what a program's functions take, as things to move: which function, its grid or
// picture, uniforms as sliders, buffers as texts, pictures for textures. Everything is found in the
// reflection; what was chosen is in the settings, which a share file holds.
"use strict";
(function () {
    const {el, numbersOf} = Ingot;
    const KNOWN = /^i?(time|mouse|resolution|frame)$/i;
    const PICTURES = ["hills", "checker", "noise", "gradient"];

    // The uniforms in a type: [{path, name, type}] for numbers, by the rules of play_bind.c.
    function uniforms(types, index, path, name, out = []) {
        const type = types[index];
        if (type.members)
            for (const m of type.members) uniforms(types, m.type, `${path}.${m.name}`, m.name, out);
        else if (numbersOf(type.data_type)) out.push({path, name, type});
        return out;
    }

    // What of the program will run with these settings: its functions, the first being the one that was chosen.
    function chosen(program, settings) {
        const first = stage => program.functions.find(f => f.stage === stage);
        const named = name => program.functions.find(f => f.name === name);
        const main = named(settings.function) || first("fragment") || first("kernel");
        if (!main || main.stage === "kernel") return main ? [main] : [];
        const mesh = named(settings.mesh) || first("mesh");
        const others = mesh ? [mesh, named(settings.object) || first("object")] : [named(settings.vertex) || first("vertex")];
        return [main, ...others.filter(Boolean)];
    }

    // A row with a slider for each component of a uniform.
    function sliders(u, settings, changed) {
        const {scalar, columns, rows} = numbersOf(u.type.data_type), rowsOut = [];
        if (columns > 1) return [];
        const initial = scalar.real ? 0.5 : 1, isColor = scalar.real && rows >= 3 && /colou?r|tint/i.test(u.name);
        const read = () => {
            const given = settings.values[u.path], list = given === undefined ? [initial] : [].concat(given);
            return Array.from({length: rows}, (_, i) => list[Math.min(i, list.length - 1)]);
        };
        const write = (i, v) => {
            const list = read();
            list[i] = v;
            settings.values[u.path] = rows === 1 ? list[0] : list;
            changed();
        };
        if (scalar.name === "bool" && rows === 1) {
            const box = el("input", {type: "checkbox", checked: !!read()[0], id: "u-" + u.path});
            box.addEventListener("change", () => write(0, box.checked ? 1 : 0));
            return [[el("label", {textContent: u.path, for: box.id}), box]];
        }
        const parts = [];
        for (let i = 0; i < rows; i++) {
            const range = settings.ranges[u.path] || (settings.ranges[u.path] = scalar.real ? [0, 1] : [0, 16]);
            const step = scalar.real ? "any" : 1, id = `u-${u.path}-${i}`, value = read()[i];
            const name = rows > 1 ? `${u.path}.${"xyzw"[i]}` : u.path;
            const slider = el("input", {type: "range", id, min: range[0], max: range[1], step, value, title: name});
            const number = el("input", {type: "number", step, value: +(+value).toPrecision(5), "aria-label": name + ", value"});
            const bound = k => {
                const b = el("input", {type: "number", className: "bound", step: "any", value: range[k],
                    "aria-label": `${name}, ${k ? "greatest" : "least"} value of the slider`});
                b.addEventListener("change", () => {
                    if (!Number.isFinite(b.valueAsNumber)) return;
                    range[k] = b.valueAsNumber;
                    for (const s of parts) s[k ? "max" : "min"] = range[k];
                });
                return b;
            };
            slider.addEventListener("input", () => {
                number.value = +slider.valueAsNumber.toPrecision(5);
                write(i, slider.valueAsNumber);
            });
            number.addEventListener("change", () => {
                if (!Number.isFinite(number.valueAsNumber)) return;
                slider.value = number.value;
                write(i, number.valueAsNumber);
            });
            slider.number = number;
            parts.push(slider);
            rowsOut.push([el("label", {textContent: name, for: id, title: `${name}: ${u.type.name}`}),
                el("div", {className: "slide"}, bound(0), slider, bound(1), number)]);
        }
        if (isColor) {
            const hex = () => "#" + read().slice(0, 3).map(v => Math.round(Math.min(1, Math.max(0, v)) * 255).toString(16).padStart(2, "0")).join("");
            const pick = el("input", {type: "color", value: hex(), "aria-label": u.path + ", colour"});
            pick.addEventListener("input", () => {
                for (let i = 0; i < 3; i++) {
                    const v = parseInt(pick.value.slice(1 + 2 * i, 3 + 2 * i), 16) / 255;
                    parts[i].value = v;
                    parts[i].number.value = +v.toPrecision(3);
                    write(i, v);
                }
            });
            rowsOut[0][1].prepend(pick);
        }
        return rowsOut;
    }

    function sizesOf(text) {
        const list = text.split(/[\s,x]+/).filter(Boolean).map(Number);
        return list.length && list.length <= 3 && list.every(n => Number.isInteger(n) && n > 0) ? list : null;
    }

    // A text that is sizes: "64" or "8, 8".
    function sizeBox(name, settings, key, changed, {empty} = {}) {
        const box = el("input", {type: "text", value: (settings[key] || []).join(", "), placeholder: empty || "",
            "aria-label": name});
        box.addEventListener("change", () => {
            const list = sizesOf(box.value);
            box.setAttribute("aria-invalid", !list && !(empty && !box.value.trim()));
            if (list) settings[key] = list;
            else if (empty && !box.value.trim()) delete settings[key];
            else return;
            changed(true);
        });
        return el("label", {}, name, box);
    }
    function choice(name, settings, key, words, changed) {
        const box = el("select", {"aria-label": name}, ...words.map(w => el("option", {value: w, textContent: w})));
        box.value = settings[key] || words[0];
        box.addEventListener("change", () => {
            settings[key] = box.value;
            changed(true);
        });
        return el("label", {}, name, box);
    }
    function flag(name, settings, key, changed) {
        const box = el("input", {type: "checkbox", checked: !!settings[key]});
        box.addEventListener("change", () => {
            settings[key] = box.checked;
            changed(true);
        });
        return el("label", {}, box, name);
    }
    function number(name, settings, key, fallback, changed) {
        const box = el("input", {type: "number", min: 1, step: 1, value: settings[key] || fallback, "aria-label": name});
        box.style.width = "84px";
        box.addEventListener("change", () => {
            if (box.valueAsNumber >= 1) settings[key] = Math.round(box.valueAsNumber), changed(true);
        });
        return el("label", {}, name, box);
    }

    function runBox(program, settings, functions, changed) {
        const names = program.functions.filter(f => f.stage === "kernel" || f.stage === "fragment").map(f => f.name);
        const which = el("select", {"aria-label": "Function"}, ...names.map(n => el("option", {value: n, textContent: n})));
        if (functions.length) which.value = functions[0].name;
        which.addEventListener("change", () => {
            settings.function = which.value;
            changed(true);
        });
        const row = el("div", {className: "setting"}, el("label", {}, "Function", which));
        if (functions[0].stage === "kernel") {
            row.append(sizeBox("Grid", settings, "grid", changed, {empty: "64"}),
                sizeBox("Threadgroup", settings, "group", changed, {empty: "auto"}));
            if (functions[0].args.some(a => a.kind === "texture"))
                row.append(sizeBox("Picture", settings, "size", changed, {empty: "512, 512"}));
        } else {
            row.append(sizeBox("Picture", settings, "size", changed, {empty: "512, 512"}));
            const mesh = functions.some(f => f.stage === "mesh");
            if (mesh)
                row.append(sizeBox("Threadgroups", settings, "grid", changed, {empty: "64"}),
                    sizeBox("Threads of one", settings, "group", changed, {empty: "32"}));
            else if (functions.length > 1)
                row.append(number("Vertices", settings, "vertices", 3, changed), number("Instances", settings, "instances", 1, changed),
                    choice("Of", settings, "primitive", ["triangle", "triangle-strip", "line", "line-strip", "point"], changed));
            if (functions.length > 1)
                row.append(flag("depth", settings, "depth", changed), flag("wireframe", settings, "wireframe", changed),
                    choice("Cull", settings, "cull", ["none", "front", "back"], changed));
        }
        row.append(flag("fast, unchecked", settings, "unchecked", changed));
        return el("fieldset", {}, el("legend", {textContent: "Run"}), row);
    }

    // What an argument holds without a word about it, as `ingot run` would write it.
    function usual(arg, type, settings) {
        const numbers = numbersOf(type.data_type), grid = (settings.grid || [64]).reduce((a, b) => a * b, 1);
        const names = {float: "f32", half: "f16", bfloat: "bf16", int: "i32", uint: "u32", short: "i16", ushort: "u16",
            char: "i8", uchar: "u8", bool: "bool", long: "i64", ulong: "u64"};
        if (!numbers) return `${type.size * grid} bytes of zeros`;
        const n = grid * type.size / numbers.scalar.size;
        return `${names[numbers.scalar.name]}[${n}]${arg.access === "write" ? "" : "=iota"}`;
    }

    function bufferRow(arg, type, settings, changed) {
        const id = "b-" + arg.name;
        const box = el("input", {type: "text", id, className: "mono", value: settings.buffers[arg.name] || "",
            placeholder: usual(arg, type, settings), list: "fills",
            title: "f32[64]=iota, f32[64]=random:1, f32[8]=fill:2, f32:1,2,3"});
        box.addEventListener("change", () => {
            if (box.value.trim()) settings.buffers[arg.name] = box.value.trim();
            else delete settings.buffers[arg.name];
            changed(true);
        });
        return [el("label", {textContent: arg.name, for: id, title: `${arg.name}: ${arg.space} ${type.name}, buffer ${arg.index}`}), box];
    }

    // Draws everything for the program; changed(whether it must run at once).
    function controls(parent, program, settings, changed) {
        const functions = chosen(program, settings);
        if (!functions.length) {
            parent.replaceChildren();
            return functions;
        }
        settings.values ||= {};
        settings.ranges ||= {};
        settings.buffers ||= {};
        settings.textures ||= {};
        const seen = new Set(), moving = [], holding = [];
        for (const f of functions)
            for (const arg of f.args) {
                const key = arg.kind + arg.name;
                if (seen.has(key)) continue;
                seen.add(key);
                const type = program.types[arg.type];
                if (arg.kind === "buffer" && arg.space === "constant" && !settings.buffers[arg.name]) {
                    for (const u of uniforms(program.types, arg.type, arg.name, arg.name))
                        if (!KNOWN.test(u.name) || settings.values[u.path] !== undefined)
                            moving.push(...sliders(u, settings, changed));
                } else if (arg.kind === "buffer") {
                    holding.push(bufferRow(arg, type, settings, changed));
                } else if (arg.kind === "texture" && arg.access === "read") {
                    const row = choice(arg.name, settings.textures, arg.name, PICTURES, changed);
                    holding.push([el("label", {textContent: arg.name}), row.querySelector("select")]);
                }
            }
        const box = (title, rows) => rows.length ? el("fieldset", {}, el("legend", {textContent: title}),
            el("div", {className: "pair"}, ...rows.flat())) : null;
        parent.replaceChildren(...[runBox(program, settings, functions, changed), box("Uniforms", moving),
            box("Buffers and textures", holding)].filter(Boolean));
        return functions;
    }

    // Whether a picture moves by itself, and whether it follows the mouse.
    function follows(program, functions) {
        const names = new Set();
        for (const f of functions)
            for (const arg of f.args)
                if (arg.kind === "buffer" && arg.space === "constant")
                    for (const u of uniforms(program.types, arg.type, arg.name, arg.name)) names.add(u.name.toLowerCase().replace(/^i/, ""));
        return {time: names.has("time") || names.has("frame"), mouse: names.has("mouse")};
    }

    Object.assign(Ingot, {controls, chosen, follows});
})();
