# SPDX-License-Identifier: Apache-2.0
"""The project's own suites and examples with MTL_SHADER_VALIDATION=races: they pass, and what is reported is what
their kernels do on purpose (EXPECTED). Everything else is a false report of the checker, or a fault of ours.

A sample; all with INGOT_TEST_LONG=1, which takes the better part of an hour. ONLY=REGEX: these tests alone.
"""
import json
import os
import re
import subprocess
import tempfile

import pytest

BUILD = os.environ["INGOT_BUILD"]
ALL = re.compile(r"^(example\.|exec\.device$|corpus\.|api\.|tensor\.)")
# What says in its name that it is about one program of several, ways of running code (their kernels run already), or
# watches the clock; and what cannot be under validation: faults must reach the system, or answers are those of a Mac
# that does not validate.
LEFT_OUT = re.compile(r"\.long$|\.lanes|\.width\d+|_width\d+|\.threads\d|\.shapes$|\.specialised|\.checked|\.isolated|"
                      r"^api\.(as_a_mac|faults|shader_validation|render_validation|watchdog|timeout|archive|cache|metal4_commands)|"
                      r"^tensor\.gpu|^example\.objc\.")
SAMPLE = re.compile(r"^(example\.(vector_add|gaussian_blur|reduction|texture_blur|function_table|matmul2d|mipmaps)|"
                    r"api\.(commands|imageblock|atomics|hazard|sampling|link_tables)|tensor\.(views|convolution))$")
EXPECTED = [  # (tests, reports, why)
    (r"example\.function_table|api\..*link.*|api\.rays_functions", r"call of a null function", "empty entries give zero"),
    (r"example\.shader_validation", r"kernel 'shift'.*outside buffer 'Values'", "it shows a report"),
    (r"exec\.device", r"kernel 'return_before_barrier'.*barrier that", "threads that return are not waited for here"),
    (r"exec\.device", r"kernel 'only_a_buffer'.*race on buffer", "a kernel that knows no position"),
    (r"api\.(texture_kernels|imageblock).*", r"texel \(.* outside texture", "reads outside give zero"),
    (r"api\.imageblock", r"kernel 'sizes'.*race on", "all threads say the same"),
    (r"api\.imageblock", r"kernel 'far'.*outside the bytes of argument 'b'", "a cell that is not there"),
    (r"api\.link_tables", r"call deeper than max_call_stack_depth", "that is what it is about"),
    (r"api\.tiers", r"kernel 'meets'.*(which is uninitialised|does not take part)", "a threadgroup that is not whole"),
    (r"api\.metal4_compiler", r"kernel 'plain'.*outside buffer 'Short'", "it asks for the report"),
    (r"api\.validation", r"dispatch_threadgroup_limit", "a rule of the API"),
]


def suites():
    with tempfile.TemporaryDirectory() as folder:  # ctest writes a log where it stands: not over that of the one that runs
        with open(os.path.join(folder, "CTestTestfile.cmake"), "w", encoding="utf-8") as f:
            f.write(f'subdirs("{BUILD}")\n')
        listed = subprocess.run(["ctest", "--test-dir", folder, "--show-only=json-v1"], capture_output=True,
                                check=True).stdout
    only = re.compile(os.environ.get("ONLY", ""))
    long = os.environ.get("INGOT_TEST_LONG") == "1" or "ONLY" in os.environ
    chosen = {}
    for test in json.loads(listed)["tests"]:
        name = test["name"]
        if "command" in test and ALL.search(name) and not LEFT_OUT.search(name) and only.search(name) and (
                long or SAMPLE.search(name)):
            chosen[name] = test
    return chosen


SUITES = suites()


def is_expected(name, report):
    return any(re.fullmatch(tests, name) and re.search(text, report) for tests, text, _ in EXPECTED)


@pytest.mark.parametrize("name", SUITES)
def test_suite(name, tmp_path):
    test = SUITES[name]
    properties = {p["name"]: p["value"] for p in test["properties"]}
    env = {**os.environ, **dict(e.split("=", 1) for e in properties.get("ENVIRONMENT", [])),
           "MTL_SHADER_VALIDATION": "races", "MTL_SHADER_VALIDATION_REPORT_TO_STDERR": "1", "PYTEST_ADDOPTS": "-s",
           "INGOT_CACHE_DIR": str(tmp_path / "cache")}
    env.pop("INGOT_TEST_LONG", None)  # their samples
    done = subprocess.run(test["command"], env=env, cwd=properties["WORKING_DIRECTORY"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", timeout=1500, check=False)
    reports = [line[line.index("Ingot: "):] for line in done.stdout.splitlines()
               if re.search(r"Ingot: (kernel|vertex|fragment|object|mesh|mtl_)", line)]
    wrong = sorted({r for r in reports if not is_expected(name, r)})
    assert not wrong, "\n".join(wrong[:20])
    skipped = int(properties.get("SKIP_RETURN_CODE", -1))
    assert done.returncode in (0, skipped), f"{done.returncode}\n{done.stdout[-4000:]}"


def test_there_are_some():
    assert len(SUITES) >= (1 if "ONLY" in os.environ else 12), sorted(SUITES)
