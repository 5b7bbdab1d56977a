# SPDX-License-Identifier: Apache-2.0
"""ingot bench tensors: the table, its files, comparison with a baseline, bad input. No times are judged."""
import json
import re
import xml.etree.ElementTree as ET

import pytest

HEAD = ["Operation", "Size", "Avg (ms)", "Min (ms)", "Max (ms)", "GFLOPS", "GB/s"]


@pytest.fixture(scope="module")
def baseline(tmp_path_factory, shared_cache):
    """One quick run with all rows: (what it printed, its JSON, its chart)."""
    from conftest import Tool
    tool = Tool(tmp_path_factory.mktemp("bench"), shared_cache)
    out = tool("bench", "tensors", "--quick", "--json", "base.json", "--svg", "chart.svg").stdout
    return out, (tool.folder / "base.json").read_text(), (tool.folder / "chart.svg").read_text()


def test_table(baseline):
    out = baseline[0]
    assert all(h in out.splitlines()[2] for h in HEAD)
    for operation in ("matmul f16", "matmul f32", "add f32", "mul f16", "relu f32", "gelu f32", "sum f32",
                      "host to device", "device to host", "small operation", "training step"):
        assert re.search(rf"^{operation}.*\d", out, re.M), operation
    assert "Separate (ms)" in out and "Fused (ms)" in out and "add + relu" in out
    assert "No pool (ms)" in out and "Pooled (ms)" in out
    assert re.search(r"peak [\d.]+ GFLOPS", out) and re.search(r"peak [\d.]+ GB/s", out)
    assert re.search(r"training loop: [\d.]+ % of the buffers reused", out)


def test_json(baseline):
    report = json.loads(baseline[1])
    assert report["format"] == "ingot-bench-tensors" and report["version"] == 1
    rows = {(r["operation"], r["size"]): r for r in report["rows"]}
    assert len(rows) == len(report["rows"]) > 25
    for r in rows.values():
        assert 0 < r["min_ms"] <= r["max_ms"] and r["runs"] == 3, r
        assert r["min_ms"] <= r["avg_ms"] * 1.000001 and r["avg_ms"] <= r["max_ms"] * 1.000001, r
    m = rows["matmul f32", "64x64"]
    assert m["gflops"] == pytest.approx(2 * 64**3 / m["avg_ms"] * 1e-6, rel=1e-3)
    assert m["gbs"] == pytest.approx(3 * 64**2 * 4 / m["avg_ms"] * 1e-6, rel=1e-3)
    a = rows["add f16", "1000"]
    assert a["gbs"] == pytest.approx(3 * 1000 * 2 / a["avg_ms"] * 1e-6, rel=1e-3)
    assert all((r["other_ms"] > 0) == (r["group"] in ("fusion", "pool")) for r in rows.values())
    assert 0.95 < report["training"]["reuse"] <= 1 and report["training"]["growth_bytes"] == 0


def test_chart(baseline):
    root = ET.fromstring(baseline[2])
    ns = "{http://www.w3.org/2000/svg}"
    bars = root.findall(f"{ns}rect")[1:]  # the first is the paper
    assert len(bars) == len(json.loads(baseline[1])["rows"])
    width, height = float(root.get("width")), float(root.get("height"))
    for b in bars:
        assert float(b.get("width")) > 0 and float(b.get("x")) + float(b.get("width")) < width
        assert float(b.get("y")) + float(b.get("height")) < height


def scaled(text, factor):
    report = json.loads(text)
    for r in report["rows"]:
        r["min_ms"] *= factor
    return json.dumps(report)


def test_compare(ingot, baseline):
    args = ["bench", "tensors", "--quick", "--only", "matmul f32"]
    ingot.write("slow.json", scaled(baseline[1], 1e4))
    out = ingot(*args, "--compare", "slow.json", "--svg", "c.svg").stdout
    assert "faster" in out and "SLOWER" not in out and "2 rows" in out
    assert "baseline" in (ingot.folder / "c.svg").read_text()
    ingot.write("fast.json", scaled(baseline[1], 1e-4))
    out = ingot(*args, "--compare", "fast.json", status=3).stdout
    assert out.count("SLOWER") == 2 and "2 slower by more than 20 %" in out
    out = ingot(*args, "--compare", "fast.json", "--threshold", 10000, status=3).stdout
    assert "by more than 10000 %" in out


BROKEN = {
    "empty": ("", "empty.json"),
    "not json": ("# hello", "not"),
    "another format": ('{"format": "other", "version": 1, "rows": []}', "format"),
    "no format": ("{}", "format"),
    "version": ('{"format": "ingot-bench-tensors", "version": 2, "rows": []}', "version"),
    "no rows": ('{"format": "ingot-bench-tensors", "version": 1}', "rows"),
    "rows is text": ('{"format": "ingot-bench-tensors", "version": 1, "rows": "x"}', "rows"),
    "no time": ('{"format": "ingot-bench-tensors", "version": 1, "rows": [{"group": "matmul", "operation": "a",'
                ' "size": "1"}]}', "min_ms"),
    "negative": ('{"format": "ingot-bench-tensors", "version": 1, "rows": [{"group": "matmul", "operation": "a",'
                 ' "size": "1", "min_ms": -1}]}', "min_ms"),
    "group": ('{"format": "ingot-bench-tensors", "version": 1, "rows": [{"group": "x", "operation": "a"}]}', "'x'"),
    "too many": ('{"format": "ingot-bench-tensors", "version": 1, "rows": ['
                 + ",".join(['{"group": "matmul", "operation": "a", "min_ms": 1}'] * 200) + "]}", "more than"),
    "deep": ('{"format": "ingot-bench-tensors", "version": 1, "rows": ' + "[" * 5000, "deep.json"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_broken_baseline(ingot, what):
    text, said = BROKEN[what]
    name = what.replace(" ", "_") + ".json"
    ingot.write(name, text)
    r = ingot("bench", "tensors", "--quick", "--compare", name, status=1)
    assert name in r.stderr and said in r.stderr and r.stdout == "", r.stderr


def test_cut_baseline(ingot, baseline):
    for at in range(0, len(baseline[1]) - 3, max(1, len(baseline[1]) // 23)):
        ingot.write("cut.json", baseline[1][:at])
        assert "cut.json" in ingot("bench", "tensors", "--quick", "--compare", "cut.json", status=1).stderr


def test_bad_input(ingot, baseline):
    assert "nothere.json" in ingot("bench", "tensors", "--compare", "nothere.json", status=1).stderr
    assert "no/such/file" in ingot("bench", "tensors", "--quick", "--only", "matmul f32", "--json", "no/such/file",
                                   status=1).stderr
    assert "'zzz'" in ingot("bench", "tensors", "--quick", "--only", "zzz", status=1).stderr
    for bad in (["--runs", "0"], ["--runs", "x"], ["--warmups", "-1"], ["--seconds", "nan"], ["--threshold", ""],
                ["--json"], ["--what"], ["more"]):
        assert ingot("bench", "tensors", *bad, status=2).stderr
    other = json.loads(baseline[1])
    other["rows"] = [r for r in other["rows"] if r["group"] == "pool"]
    ingot.write("other.json", json.dumps(other))
    r = ingot("bench", "tensors", "--quick", "--only", "matmul f32", "--compare", "other.json", status=1)
    assert "none of these rows" in r.stderr


def test_help(ingot):
    out = ingot("bench", "tensors", "--help").stdout
    for option in ("--runs", "--warmups", "--seconds", "--quick", "--only", "--json", "--compare", "--threshold",
                   "--svg"):
        assert option in out
    assert "ingot bench tensors" in ingot("bench", "--help").stdout
