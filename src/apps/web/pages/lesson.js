// lesson.js: share files, which are Metal files with comments that hold settings and a lesson
// (play_file.c), the lesson's text (a little Markdown), and its checks.
"use strict";
(function () {
    const {el} = Ingot;

    // {settings, lesson, source} of a text.
    function split(text) {
        const out = {settings: {}, lesson: "", source: ""};
        let rest = text.replace(/\r\n?/g, "\n");
        for (;;) {
            const m = rest.match(/^(?:\s|\/\/[^\n]*\n)*\/\*(play|lesson)(?=[\s{])/);
            const end = m ? rest.indexOf("*/", m[0].length) : -1;
            if (end < 0) break;
            const inside = rest.slice(m[0].length, end);
            if (m[1] === "play") out.settings = JSON.parse(inside);
            else out.lesson = inside.trim();
            rest = rest.slice(end + 2);
        }
        out.source = rest.replace(/^\n+/, "");
        return out;
    }
    function join({settings, lesson, source}) {
        const json = JSON.stringify(settings, null, 1).replaceAll("*/", "*\\/");
        return `/*play ${json} */\n${lesson ? `/*lesson\n${lesson}\n*/\n` : ""}${source}`;
    }

    // `code`, **strong** and *em* in a line.
    function words(line) {
        return line.split(/(`[^`]+`|\*\*[^*]+\*\*|\*\w[^*]*\*)/).filter(Boolean).map(part =>
            part.startsWith("`") ? el("code", {textContent: part.slice(1, -1)}) :
            part.startsWith("**") ? el("strong", {textContent: part.slice(2, -2)}) :
            part.length > 2 && part.startsWith("*") ? el("em", {textContent: part.slice(1, -1)}) : part);
    }
    // Headings, paragraphs, lists, and code (four spaces).
    function markdown(text) {
        const out = [];
        for (const block of text.split(/\n\s*\n/)) {
            const lines = block.replace(/^\n+|\s+$/g, "").split("\n"), first = lines[0] || "";
            const heading = first.match(/^(#+) (.*)/);
            if (!first) continue;
            if (heading) {
                out.push(el(heading[1].length > 1 ? "h3" : "h2", {}, ...words(heading[2])));
                if (lines.length > 1) out.push(...markdown(lines.slice(1).join("\n")));
            } else if (lines.every(l => l.startsWith("    "))) {
                const pre = el("pre");
                pre.innerHTML = lines.map(l => Ingot.highlight(l.slice(4), {})).join("\n"); // escaped there
                out.push(pre);
            } else if (/^(-|\d+\.) /.test(first)) {
                const items = [];
                for (const l of lines) {
                    const m = l.match(/^(?:-|\d+\.) (.*)/);
                    if (m) items.push(m[1]);
                    else items[items.length - 1] += " " + l.trim();
                }
                out.push(el(first[0] === "-" ? "ul" : "ol", {}, ...items.map(i => el("li", {}, ...words(i)))));
            } else out.push(el("p", {}, ...words(lines.map(l => l.trim()).join(" "))));
        }
        return out;
    }

    // The panel: text, buttons, results of the checks.
    function lessonPanel(parent, {lesson, checks, check, solution, previous, next}) {
        parent.hidden = !lesson;
        if (!lesson) return;
        const results = el("ul", {className: "checks", "aria-live": "polite"});
        const button = (name, title, act, off) => {
            const b = el("button", {textContent: name, title, disabled: !!off});
            b.addEventListener("click", act);
            return b;
        };
        const run = async () => {
            results.replaceChildren(el("li", {textContent: "checking ..."}));
            const lines = await check();
            results.replaceChildren(...lines.map(({ok, text}) =>
                el("li", {className: ok ? "ok" : "no", textContent: (ok ? "\u2713 " : "\u2717 ") + text})));
        };
        const nav = el("nav", {});
        if (checks) nav.append(Object.assign(button("Check", "Compare with what is expected (Alt+C)", run), {className: "main", id: "check"}));
        if (solution) nav.append(button("Solution", "Show a solution in the editor", solution));
        nav.append(button("Previous", "The lesson before", previous || (() => {}), !previous),
            button("Next", "The next lesson", next || (() => {}), !next));
        parent.replaceChildren(...markdown(lesson), nav, results);
        parent.scrollTop = 0;
    }

    Object.assign(Ingot, {split, join, markdown, lessonPanel});
})();
