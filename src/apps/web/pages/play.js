// play.js: the playground. What is typed is compiled a moment later; what compiles runs. Pictures
// that depend on time run on, two frames under way at a time, as fast as the screen asks for them.
"use strict";
(function () {
    const {el, ask} = Ingot;
    const $ = id => document.getElementById(id);
    const picture = $("picture"), pen = picture.getContext("2d", {alpha: false});
    let settings = {}, lesson = "", name = "", program = null, functions = [], site = {};
    let version = 0, compiling = false, timer = 0, dirty = false;
    const clock = {at: 0, last: 0, paused: false, frame: 0};
    const mouse = [0, 0, 0, 0];
    const views = {}; // how each output is looked at

    const editor = Ingot.Editor($("editor"), {label: "Source", onChange() {
        dirty = true;
        showTitle();
        clearTimeout(timer);
        timer = setTimeout(compile, 120);
    }});

    // ---- Messages ----

    let said = null;
    function say(text, warn) { // every frame does: the page is laid out anew only if something changes
        const all = `${!!warn} ${text || ""}`;
        if (said === all) return;
        said = all;
        $("message").hidden = !text;
        $("message").textContent = text || "";
        $("message").classList.toggle("warn", !!warn);
    }
    function showTitle() {
        $("title").textContent = (settings.title || name || "untitled") + (dirty ? " *" : "");
        document.title = `${settings.title || name || "untitled"} - Ingot play`;
    }

    // ---- Compiling ----

    let pending = null;
    function compile() { // its promise ends when the newest text has been seen
        if (compiling) version++; // again when it is back
        else pending = compileNow();
        return pending;
    }
    async function compileNow() {
        compiling = true;
        const mine = ++version, begin = performance.now();
        try {
            const reply = await ask("api/compile", editor.value);
            compiling = false;
            if (version !== mine) return compileNow();
            editor.setMessages(reply.diagnostics);
            const errors = reply.diagnostics.filter(d => d.severity >= 3).length;
            if (!reply.program) {
                program = null;
                $("state").textContent = errors ? `${errors} error${errors > 1 ? "s" : ""}` : "does not compile";
                say(reply.error);
                return;
            }
            program = reply;
            rebuild();
            await frame();
            $("state").textContent = `compiled in ${reply.ms.toFixed(0)} ms, result after ${(performance.now() - begin).toFixed(0)} ms`;
            document.body.dataset.latency = performance.now() - begin;
        } catch (error) {
            compiling = false;
            say(error.status ? error.message : "the server is gone: start `ingot play` again");
        }
    }
    function rebuild() {
        functions = Ingot.controls($("controls"), program, settings, again => {
            dirty = true;
            showTitle();
            if (again) {
                if (program) rebuild();
            }
            if (!animating()) runOnce();
        });
        if (!functions.length) say("no kernel and no fragment function yet", true);
        wake();
    }

    // ---- Running ----

    const isPicture = () => functions.length > 0 && functions[0].stage === "fragment";
    const animating = () => program && isPicture() && !clock.paused && Ingot.follows(program, functions).time;

    function request() {
        // Functions by the names they have now; what was chosen may have been renamed.
        const {checks, ranges, title, function: f, vertex, mesh, object, ...rest} = settings;
        for (const {stage, name: now} of functions) rest[stage === "kernel" || stage === "fragment" ? "function" : stage] = now;
        return JSON.stringify({...rest, program: program.program, time: clock.at, frame: clock.frame, mouse});
    }
    // The next frame must not overtake the one before it.
    let busy = 0, sent = 0, shown = 0;
    const pool = []; // memory of frames that were shown
    async function frame() {
        if (!program || !functions.length) return;
        const turn = ++sent, of = program;
        busy++;
        try {
            const reply = await ask("api/run", request(), pool);
            if (of !== program || turn < shown) return;
            shown = turn;
            show(reply);
            if (reply.outputs.length === 1 && reply.outputs[0].picture && pool.length < 2) pool.push(reply.data.buffer);
        } catch (error) {
            if (error.status === 410) setTimeout(compile); // the device was lost meanwhile
            else {
                say(error.status ? error.message : "the server is gone: start `ingot play` again");
                pause(true);
            }
        } finally {
            busy--;
            if (!busy && wanted && !animating()) runOnce();
        }
    }
    let wanted = false;
    async function runOnce() { // changes that come while one runs are one more run
        wanted = true;
        if (busy) return;
        while (wanted) {
            wanted = false;
            await frame();
        }
    }

    let counted = 0, since = 0;
    Ingot.frames = 0;
    function tick(now) {
        looping = false;
        if (!animating()) return;
        looping = true;
        requestAnimationFrame(tick);
        if (clock.last) clock.at += Math.min(0.25, (now - clock.last) / 1000);
        clock.last = now;
        clock.frame++;
        if (busy < 2) frame();
        if (now - since > 1000) {
            $("speed").textContent = `${(counted * 1000 / (now - since)).toFixed(0)} frames/s`;
            document.body.dataset.fps = counted * 1000 / (now - since);
            counted = 0;
            since = now;
        }
        const at = clock.at.toFixed(1);
        if (at === clock.told) return;
        clock.told = at;
        $("place").textContent = `time ${at} s`;
    }
    let looping = false;
    function wake() {
        if (looping || !animating()) return;
        looping = true;
        clock.last = 0;
        since = performance.now();
        counted = 0;
        requestAnimationFrame(tick);
    }
    function pause(on) {
        clock.paused = on;
        $("pause").setAttribute("aria-pressed", on);
        $("pause").textContent = on ? "Go on" : "Pause";
        if (on) $("speed").textContent = "";
        wake();
    }

    // ---- Results ----

    function show(reply) {
        say(reply.error || "");
        if (reply.error && animating()) pause(true); // an endless loop is not asked for again and again
        if ($("log").hidden !== !reply.log) $("log").hidden = !reply.log;
        if (reply.log && $("log").textContent !== reply.log) $("log").textContent = reply.log;
        if ($("stage").hidden === isPicture()) $("stage").hidden = !isPicture();
        if (reply.error) return;
        const first = reply.outputs.find(o => o.name === "picture" && o.picture);
        if (first) {
            drawPicture(picture, pen, reply, first);
            counted++;
            Ingot.frames++; // all of them: bench/bench_play.py
        }
        const others = reply.outputs.filter(o => o !== first);
        if (others.length || $("outputs").firstChild) showOutputs(others, reply);
        if (animating()) return;
        clock.told = $("place").textContent = "";
        $("speed").textContent = `ran in ${reply.device_ms.toFixed(2)} ms`;
    }
    function drawPicture(canvas, context, reply, o) {
        if (canvas.width !== o.width || canvas.height !== o.height) {
            canvas.width = o.width;
            canvas.height = o.height;
        }
        const pixels = new Uint8ClampedArray(reply.data.buffer, reply.data.byteOffset + o.at, o.n);
        context.putImageData(new ImageData(pixels, o.width, o.height), 0, 0);
    }
    function showOutputs(outputs, reply) {
        const parent = $("outputs"), old = new Map([...parent.children].map(c => [c.dataset.key, c]));
        outputs.sort((a, b) => b.written - a.written);
        parent.replaceChildren(...outputs.map(o => {
            const key = `${o.name}|${o.picture}|${o.type}|${program.types[o.type] && program.types[o.type].name}`;
            const box = old.get(key) || el("section", {className: "output"});
            box.dataset.key = key;
            fill(box, o, reply);
            return box;
        }));
    }
    function fill(box, o, reply) {
        if (o.picture) {
            const canvas = box.querySelector("canvas") || el("canvas", {className: "image"});
            box.replaceChildren(el("h3", {}, o.name, el("span", {className: "dim", textContent: `${o.width} x ${o.height}`})), canvas);
            drawPicture(canvas, canvas.getContext("2d", {alpha: false}), reply, o);
            return;
        }
        const bytes = reply.data.subarray(o.at, o.at + o.n), type = program.types[o.type];
        const look = views[o.name] || "both", keep = box.querySelector(".grid");
        const scroll = keep ? [keep.scrollTop, keep.scrollLeft] : [0, 0];
        const tabs = el("span", {className: "tabs"});
        for (const [id, text] of [["both", "Plot and table"], ["plot", "Plot"], ["table", "Table"], ["hex", "Hex"]]) {
            const b = el("button", {textContent: text, "aria-pressed": String(look === id)});
            b.addEventListener("click", () => {
                views[o.name] = id;
                fill(box, o, reply);
                box.querySelectorAll(".tabs button")[["both", "plot", "table", "hex"].indexOf(id)].focus();
            });
            tabs.append(b);
        }
        const count = Math.floor(o.bytes / Math.max(1, type.size));
        box.replaceChildren(el("h3", {}, o.name, el("span", {className: "dim",
            textContent: `${type.name} x ${count}${o.written ? "" : ", only read"}${o.n < o.bytes ? ", the first 4 MiB" : ""}`}),
            el("span", {className: "space"}), tabs));
        if (look === "both" || look === "plot") {
            const canvas = el("canvas", {className: "plot", role: "img", "aria-label": "Plot of " + o.name});
            box.append(canvas);
            const draw = () => canvas.isConnected && Ingot.plot(canvas, Ingot.series(bytes, program.types, o.type));
            requestAnimationFrame(draw);
            box.redraw = draw;
        }
        if (look !== "plot") {
            const grid = el("div", {"aria-label": "Numbers of " + o.name});
            box.append(grid);
            if (look === "hex") Ingot.hex(grid, bytes);
            else Ingot.table(grid, bytes, program.types, o.type);
            [grid.scrollTop, grid.scrollLeft] = scroll;
        }
    }
    for (const event of ["themechange", "resize"])
        addEventListener(event, () => { for (const box of $("outputs").children) if (box.redraw) box.redraw(); });

    // ---- Files ----

    function take(text, from) {
        let parts;
        try {
            parts = Ingot.split(text);
        } catch (error) {
            say(`the settings of ${from} are not JSON: ${error.message}`);
            parts = {settings: {}, lesson: "", source: text};
        }
        ({settings, lesson} = parts);
        name = from;
        dirty = false;
        program = null;
        Object.assign(clock, {at: 0, last: 0, frame: 0});
        for (const key of Object.keys(views)) delete views[key];
        $("outputs").replaceChildren();
        say("");
        pause(false);
        editor.value = parts.source;
        $("state").textContent = "opening " + from;
        showTitle();
        const at = from.startsWith("lessons/") ? site.lessons.indexOf(from.slice(8)) : -1;
        const go = i => site.lessons[i] && (() => open("lessons/" + site.lessons[i]));
        const file = from.slice(from.indexOf("/") + 1);
        Ingot.lessonPanel($("lesson"), {lesson, checks: !!settings.checks, check, previous: at >= 0 && go(at - 1),
            next: at >= 0 && go(at + 1),
            solution: at >= 0 && site.solutions.includes(file) && (async () => {
                editor.value = Ingot.split(await ask("api/file?solutions/" + file)).source;
                dirty = true;
                showTitle();
                compile();
            })});
        return compile();
    }
    async function open(path) {
        if (dirty && !confirm("What was changed here is not saved. Open another?")) return;
        $("gallery").close();
        try {
            await take(await ask("api/file?" + path), path === "own" ? site.file : path);
        } catch (error) {
            say(error.message);
        }
    }
    async function check() {
        clearTimeout(timer);
        await compile();
        if (!program) return [{ok: false, text: "it does not compile yet"}];
        try {
            return (await ask("api/check", JSON.stringify({...settings, program: program.program}))).checks;
        } catch (error) {
            return [{ok: false, text: error.message}];
        }
    }
    function whole() { return Ingot.join({settings, lesson, source: editor.value}); }
    function download() {
        const link = el("a", {href: URL.createObjectURL(new Blob([whole()], {type: "text/plain"})),
            download: (name.split("/").pop() || "shader").replace(/(\.metal)?$/, ".metal")});
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    }
    async function save() {
        if (!site.file || name !== site.file) return download();
        try {
            await ask("api/save", whole());
            dirty = false;
            showTitle();
            $("state").textContent = "saved " + site.file;
        } catch (error) {
            say(error.message);
        }
    }
    const titleOf = file => file.replace(/\.metal$/, "").replace(/^(\d+)-/, "$1. ").replaceAll("-", " ");
    function gallery() {
        const places = (folder, files) => el("div", {className: "places"}, ...files.map(file => {
            const b = el("button", {textContent: titleOf(file)});
            b.addEventListener("click", () => open(`${folder}/${file}`));
            return b;
        }));
        const pick = el("input", {type: "file", accept: ".metal,.h,.txt", "aria-label": "A file of yours"});
        pick.addEventListener("change", async () => {
            if (!pick.files[0]) return;
            const text = await pick.files[0].text();
            $("gallery").close();
            take(text, pick.files[0].name);
        });
        const own = site.file ? el("button", {textContent: site.file}) : null;
        if (own) own.addEventListener("click", () => open("own"));
        const close = el("button", {textContent: "Close"});
        close.addEventListener("click", () => $("gallery").close());
        $("gallery").replaceChildren(el("div", {className: "bar"}, own, el("label", {}, "Your file: ", pick),
            el("span", {className: "space"}), close),
            el("h2", {textContent: "Course"}), places("lessons", site.lessons),
            el("h2", {textContent: "Examples"}), places("examples", site.examples));
        $("gallery").showModal();
    }

    // ---- Keys and the mouse ----

    picture.addEventListener("pointermove", event => {
        const box = picture.getBoundingClientRect();
        mouse[0] = (event.clientX - box.left) / box.width * picture.width;
        mouse[1] = (event.clientY - box.top) / box.height * picture.height;
        if (event.buttons) mouse[2] = mouse[0], mouse[3] = mouse[1];
        if (program && !animating() && Ingot.follows(program, functions).mouse) runOnce();
    });
    picture.addEventListener("keydown", event => { // arrows are a mouse for who has none
        const step = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
        if (!step) return;
        event.preventDefault();
        for (let i = 0; i < 2; i++) mouse[i] = Math.max(0, mouse[i] + step[i] * (event.shiftKey ? 32 : 8));
        if (program && !animating()) runOnce();
    });
    $("run").addEventListener("click", () => { clearTimeout(timer); pause(false); compile(); });
    $("pause").addEventListener("click", () => pause(!clock.paused));
    $("rewind").addEventListener("click", () => { clock.at = 0; clock.frame = 0; if (!animating()) runOnce(); });
    $("open").addEventListener("click", gallery);
    $("save").addEventListener("click", save);
    $("share").addEventListener("click", download);
    addEventListener("keydown", event => {
        const control = event.ctrlKey || event.metaKey, key = event.key.toLowerCase();
        const act = control && key === "enter" ? () => $("run").click() : control && key === "s" ? save :
            control && key === "o" ? gallery : event.altKey && key === "p" ? () => pause(!clock.paused) :
            event.altKey && key === "c" ? () => $("check") && $("check").click() : null;
        if (!act) return;
        event.preventDefault();
        act();
    });
    addEventListener("beforeunload", event => dirty && event.preventDefault());

    Ingot.theme($("theme"));
    (async () => {
        document.body.append(el("datalist", {id: "fills"}, ...["f32[64]=iota", "f32[64]=random:1", "f32[64]=fill:1", "u32[64]=iota"]
            .map(value => el("option", {value}))));
        try {
            site = await ask("api/start");
            $("place").textContent = "";
            $("where").textContent = site.isolated ? "in a process of its own" : "with shader validation alone";
            await open(site.file ? "own" : "examples/" + site.examples[0]);
            document.body.dataset.ready = "1";
        } catch (error) {
            say(error.message);
        }
    })();
})();
