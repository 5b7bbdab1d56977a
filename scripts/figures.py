"""docs/figures.md: one section for each benchmark, replaced by whoever measures it anew.

A section stands between two comments that carry its key, so that a run which measures only some (or
has no peers at hand) leaves the others as they are, with the machine and the day they came from.
"""
import datetime
import os
import re

TOP = """# Figures

`make bench` and `make bench-peers` write this page: every section says on which machine and when it was measured, and
a run replaces the sections it measures. Peers run in turns with Ingot, so that both see the same machine; ratios are
medians over the rounds of one run. Compare ratios, not times of different machines.
"""

INSTRUCTION_SETS = [("AMX", "amx_tile"), ("AVX-512", "avx512f"), ("AVX2", "avx2"), ("SSE2", "sse2")]


def machine():
    """The processor, how many threads it has here, and the widest instruction set that is used."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        text = file.read()
    name = re.search(r"^model name\s*:\s*(.*)$", text, re.M)
    flags = set((re.search(r"^flags\s*:\s*(.*)$", text, re.M) or [""] * 2)[1].split())
    sets = [label for label, flag in INSTRUCTION_SETS if flag in flags]
    if "AMX" in sets:
        sets = ["AVX-512 and AMX"]
    return f"{name[1].strip() if name else 'unknown processor'}, {os.cpu_count()} threads, {sets[0] if sets else 'x86-64'}"


def today():
    day = datetime.date.today()
    return f"{day.day} {day:%B %Y}"


def section(key, title, body, where=None):
    """The text of a section, with its comments."""
    return (f"<!-- begin {key} -->\n## {title}\n\n{where or f'{machine()}; {today()}.'}\n\n{body.strip()}\n"
            f"<!-- end {key} -->\n")


def put(path, key, text):
    """Replaces the section `key` of the page, or adds it at the end."""
    page = TOP
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            page = file.read()
    pattern = re.compile(rf"<!-- begin {re.escape(key)} -->\n.*?<!-- end {re.escape(key)} -->\n", re.S)
    if pattern.search(page):
        page = pattern.sub(lambda _: text, page)
    else:
        page = page.rstrip("\n") + "\n\n" + text
    temporary = path + ".new"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(page)
    os.replace(temporary, path)


def table(head, rows):
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def listing(text):
    """What a program printed, as it is."""
    return "```text\n" + text.strip("\n") + "\n```"
