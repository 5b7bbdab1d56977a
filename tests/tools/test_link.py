# SPDX-License-Identifier: Apache-2.0
"""ingot build with several files: objects and what links them, and what the preprocessor says."""
import shutil
import subprocess

import pytest

from conftest import BUILD

HELPER = "#include <metal_stdlib>\nfloat twice(float x) { return 2 * x; }\n"
USER = """#include <metal_stdlib>
float twice(float x);
kernel void run(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = twice(x[i]) + 1; }
"""
OTHER = "#include <metal_stdlib>\nkernel void three(device float *x [[buffer(0)]]) { x[0] = 3; }\n"


def value(ingot, library, kernel, *more):
    return ingot("run", library, kernel, "--grid", 1, "--arg", "0=f32[1]=fill:5", *more, "--print", 0,
                 "-q").stdout.strip()


def test_calls_across_objects(ingot):
    ingot.write("helper.metal", HELPER)
    ingot.write("user.metal", USER)
    ingot.write("other.metal", OTHER)
    ingot("build", "-c", "helper.metal", "-o", "helper.air")
    ingot("build", "-c", "user.metal", "other.metal")  # user.air, other.air
    ingot("build", "user.air", "helper.air", "other.air", "-o", "all.metallib")
    assert value(ingot, "all.metallib", "run") == "11"
    assert value(ingot, "all.metallib", "three") == "3"


def test_sources_objects_and_libraries_mix(ingot):
    ingot.write("helper.metal", HELPER)
    ingot.write("user.metal", USER)
    ingot.write("other.metal", OTHER)
    ingot("build", "-c", "helper.metal")
    ingot("build", "other.metal", "-o", "other.metallib")
    ingot("build", "user.metal", "helper.air", "other.metallib", "-o", "all.metallib")
    assert value(ingot, "all.metallib", "run") == "11"
    ingot("build", "user.metal", "helper.metal")  # nothing is written, but it links
    assert "twice(float)" in ingot("build", "user.metal", "other.metal", status=1).stderr


def test_each_file_has_its_own_inline_functions(ingot):
    """Libraries have headers that define a template twice, for two kinds of kernels."""
    for name, start in (("a", 10), ("b", 20)):
        ingot.write(name + ".metal", f"""#include <metal_stdlib>
namespace lib {{
constexpr constant int kStep = {start};
inline float step() {{ return kStep; }}
template <typename T> struct Sum {{ T v = {start}; void add(T x) thread {{ v += x + step(); }} }};
}}
kernel void {name}(device float *x [[buffer(0)]]) {{ lib::Sum<float> s; s.add(x[0]); x[0] = s.v; }}
""")
    for order in (("a.metal", "b.metal"), ("b.metal", "a.metal")):
        ingot("build", *order, "-o", "all.metallib")
        assert value(ingot, "all.metallib", "a") == "25"
        assert value(ingot, "all.metallib", "b") == "45"


@pytest.mark.skipif(not shutil.which("ar"), reason="no ar")
def in_parts(ingot, name):
    """Whether the library keeps a module for each of its files (src/abi/modules.h)."""
    return b"INGOTMDS" in (ingot.folder / name).read_bytes()


def test_files_that_do_not_call_each_other_stay_apart(ingot):
    """A pipeline then opens one of them: with hundreds of kernels in each that is most of its time."""
    for name in "abc":
        ingot.write(name + ".metal", f"""#include <metal_stdlib>
constant float k [[function_constant(0)]];
static float add(float x) {{ return x + {ord(name)}; }}
[[visible]] float {name}_seen(float x) {{ return add(x); }}
kernel void {name}(device float *x [[buffer(0)]]) {{ x[0] = add(x[0]) * k; }}
""")
    ingot("build", "a.metal", "b.metal", "-o", "ab.metallib")
    ingot("build", "ab.metallib", "c.metal", "-o", "abc.metallib")  # linked once more
    assert in_parts(ingot, "ab.metallib") and in_parts(ingot, "abc.metallib")
    for name in "abc":
        assert value(ingot, "abc.metallib", name, "--constant", "0=2") == str(2 * (5 + ord(name)))
    ingot.write("helper.metal", HELPER)
    ingot.write("user.metal", USER)
    ingot("build", "user.metal", "helper.metal", "a.metal", "-o", "all.metallib")
    assert not in_parts(ingot, "all.metallib")
    assert value(ingot, "all.metallib", "run") == "11"


def test_archive_of_objects(ingot):
    ingot.write("a_name_of_more_than_sixteen_letters.metal", HELPER)
    ingot.write("user.metal", USER)
    ingot("build", "-c", "a_name_of_more_than_sixteen_letters.metal", "user.metal")
    subprocess.run(["ar", "rcs", "lib.metalar", "user.air", "a_name_of_more_than_sixteen_letters.air"],
                   cwd=ingot.folder, check=True)
    ingot("build", "lib.metalar", "-o", "all.metallib")
    assert value(ingot, "all.metallib", "run") == "11"
    whole = (ingot.folder / "lib.metalar").read_bytes()
    ingot.write("cut.metalar", whole[:-100])
    assert "damaged" in ingot("build", "cut.metalar", "-o", "x.metallib", status=1).stderr


def test_duplicates_are_errors(ingot):
    ingot.write("a.metal", OTHER)
    ingot.write("b.metal", OTHER)
    r = ingot("build", "a.metal", "b.metal", "-o", "x.metallib", status=1)
    assert "duplicate entry point 'three'" in r.stderr and "'a.metal'" in r.stderr and "'b.metal'" in r.stderr
    ingot.write("c.metal", HELPER)
    ingot.write("d.metal", HELPER + "kernel void k(device float *x) { x[0] = twice(1); }\n")
    r = ingot("build", "c.metal", "d.metal", "-o", "x.metallib", status=1)
    assert "duplicate symbol" in r.stderr and "twice(float)" in r.stderr and "'c.metal'" in r.stderr
    assert not (ingot.folder / "x.metallib").exists()


def test_what_headers_bring_twice_is_no_duplicate(ingot):
    ingot.write("shared.h", """#pragma once
#include <metal_stdlib>
constant float table[2] = {10, 20};
constant int which [[function_constant(0)]];
constant int chosen = metal::is_function_constant_defined(which) ? which : 0;
inline float pick() { return table[chosen]; }
static float mine() { return 1; }
template <typename T> T same(T x) { return x; }
template <int N> kernel void fill(device float *x [[buffer(0)]]) { x[0] = N + mine(); }
""")
    ingot.write("a.metal", '#include "shared.h"\nkernel void first(device float *x [[buffer(0)]]) { x[0] = same(pick()); }\n'
                           'template [[host_name("fill_a")]] kernel void fill<4>(device float *);\n')
    ingot.write("b.metal", '#include "shared.h"\nkernel void second(device float *x [[buffer(0)]]) { x[0] = same(pick()) + 1; }\n'
                           'template [[host_name("fill_b")]] kernel void fill<4>(device float *);\n')
    ingot("build", "a.metal", "b.metal", "-o", "all.metallib")
    assert value(ingot, "all.metallib", "first") == "10"
    assert value(ingot, "all.metallib", "second", "--constant", "which=1") == "21"
    assert value(ingot, "all.metallib", "fill_a") == "5" and value(ingot, "all.metallib", "fill_b") == "5"


def test_constants_of_one_name_stay_apart(ingot):
    ingot.write("a.metal", "constant int n [[function_constant(0)]];\n"
                           "kernel void first(device float *x [[buffer(0)]]) { x[0] = n; }\n")
    ingot.write("b.metal", "constant float n [[function_constant(3)]];\nconstant bool on = n > 1;\n"
                           "kernel void second(device float *x [[buffer(0)]], device float *y [[buffer(1), "
                           "function_constant(on)]]) { x[0] = on ? n : -1; }\n")
    ingot.write("c.metal", "constant bool on = false;\n"
                           "kernel void third(device float *x [[buffer(0)]], device float *y [[buffer(1), "
                           "function_constant(on)]]) { x[0] = on; }\n")
    ingot("build", "a.metal", "b.metal", "c.metal", "-o", "all.metallib")
    assert value(ingot, "all.metallib", "first", "--constant", "0=7") == "7"
    assert value(ingot, "all.metallib", "second", "--constant", "3=0.5", "--arg", "1=f32[1]") == "-1"
    assert value(ingot, "all.metallib", "third", "--arg", "1=f32[1]") == "0"


@pytest.mark.parametrize("order", [("a.metal", "b.metal"), ("b.metal", "a.metal")])
def test_a_constant_that_only_an_argument_asks_for(ingot, order):
    """Nothing but a condition reads it, and another file has one of its name."""
    for name, index in (("a", 1), ("b", 2)):
        ingot.write(f"{name}.metal", f"constant bool on [[function_constant({index})]];\n"
                                     f"kernel void {name}(device float *x [[buffer(0)]], constant float &y "
                                     f"[[buffer(1), function_constant(on)]]) {{ x[0] = y + {index}; }}\n")
    ingot("build", *order, "-o", "all.metallib")
    for name, index in (("a", 1), ("b", 2)):
        sum_ = value(ingot, "all.metallib", name, "--constant", f"{index}=true", "--arg", "1=f32:5")
        assert sum_ == str(5 + index)


def test_whether_a_constant_of_one_name_is_defined(ingot):
    for name, index in (("a", 1), ("b", 2)):
        ingot.write(f"{name}.metal", "#include <metal_stdlib>\nusing namespace metal;\n"
                                     f"constant int n [[function_constant({index})]];\n"
                                     "constant int m = is_function_constant_defined(n) ? n : -1;\n"
                                     f"kernel void {name}(device float *x [[buffer(0)]]) {{ x[0] = m; }}\n")
    ingot("build", "a.metal", "b.metal", "-o", "all.metallib")
    assert value(ingot, "all.metallib", "a", "--constant", "1=5") == "5"
    assert value(ingot, "all.metallib", "b", "--constant", "2=6") == "6"
    assert value(ingot, "all.metallib", "a") == value(ingot, "all.metallib", "b") == "-1"
    ingot.write("both.metal", "#include <metal_stdlib>\nusing namespace metal;\n"
                              "constant int n [[function_constant(3)]];\nkernel void c(device float *x [[buffer(0)]]) "
                              "{ x[0] = is_function_constant_defined(n) ? n : -2; }\n")
    ingot("build", "all.metallib", "both.metal", "-o", "more.metallib")
    assert value(ingot, "more.metallib", "b", "--constant", "2=8") == "8"
    assert value(ingot, "more.metallib", "c", "--constant", "3=9") == "9"


def test_recursion_across_files(ingot):
    ingot.write("a.metal", "float g(float);\nfloat f(float x) { return g(x) + 1; }\n"
                           "kernel void k(device float *x) { x[0] = f(1); }\n")
    ingot.write("b.metal", "float f(float);\nfloat g(float x) { return f(x) + 1; }\n")
    assert "recursive" in ingot("build", "a.metal", "b.metal", status=1).stderr


def test_an_object_is_no_library(ingot):
    ingot.write("other.metal", OTHER)
    ingot("build", "-c", "other.metal")
    r = ingot("run", "other.air", "three", "--grid", 1, "--arg", "0=f32[1]", status=1)
    assert "object" in r.stderr and "ingot build" in r.stderr


def test_visible_functions_may_come_later(ingot):
    ingot.write("v.metal", "#include <metal_stdlib>\n[[visible]] float later(float);\n"
                           "kernel void k(device float *x) { x[0] = later(1); }\n")
    ingot.write("other.metal", OTHER)
    ingot("build", "v.metal", "other.metal", "-o", "all.metallib")


def test_pipes(ingot):
    ingot.write("other.metal", OTHER)
    ingot.write("bad.metal", "kernel void f() { oops }\n")
    tool = [BUILD / "bin" / "ingot"]

    def pipe(source):
        first = subprocess.Popen(tool + ["build", "-c", source, "-o", "-"], cwd=ingot.folder, env=ingot.env,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        second = subprocess.run(tool + ["build", "-", "-o", "piped.metallib"], cwd=ingot.folder, env=ingot.env,
                                stdin=first.stdout, capture_output=True, text=True)
        return first.wait(), second
    status, second = pipe("bad.metal")
    assert status == 1 and second.returncode == 1 and "standard input is empty" in second.stderr
    assert not (ingot.folder / "piped.metallib").exists()
    status, second = pipe("other.metal")
    assert (status, second.returncode) == (0, 0)
    assert value(ingot, "piped.metallib", "three") == "3"


def test_preprocessor(ingot):
    ingot.write("inc/part.h", "#define PART 7\nint part;\n")
    ingot.write("m.metal", '#include <metal_stdlib>\n#include "part.h"\n// a word\nint x = PART + WIDE; int v = __METAL_VERSION__;\n')
    r = ingot("build", "-E", "-P", "-Iinc", "-DWIDE=3", "m.metal")
    assert [line for line in r.stdout.split("\n") if line] == ["int part;", "int x = 7 + 3; int v = 400;"]
    assert "int v = 310;" in ingot("build", "-E", "-std=metal3.1", "-Iinc", "m.metal").stdout
    assert "int v = 310;" in ingot("build", "-E", "-mmacosx-version-min=14.0", "-Iinc", "m.metal").stdout
    assert "int v = 320;" in ingot("build", "-E", "-target", "air64-apple-macos15.0", "-Iinc", "m.metal").stdout
    assert "int v = 320;" in ingot("build", "-E", "-mtargetos=macos15.0", "-Iinc", "m.metal").stdout
    assert '# 1 "m.metal"' in ingot("build", "-E", "-Iinc", "m.metal", "-o", "-").stdout
    assert "a word" in ingot("build", "-E", "-C", "-Iinc", "m.metal").stdout
    assert "#define PART 7" in ingot("build", "-E", "-dM", "-Iinc", "m.metal").stdout
    r = ingot("build", "-E", "-H", "-Iinc", "m.metal", "-o", "m.txt")
    assert r.stderr == ". inc/part.h\n" and "int part" in (ingot.folder / "m.txt").read_text()
    assert "part.h" in ingot("build", "-E", "m.metal", status=1).stderr
    assert "'WIDE'" not in ingot("build", "-E", "-Iinc", "-DWIDE=1", "-UWIDE", "m.metal").stderr


def test_rules_for_make(ingot):
    ingot.write("inc/part.h", "#define PART 7\n")
    ingot.write("m.metal", '#include <metal_stdlib>\n#include "part.h"\nkernel void k(device int *x) { x[0] = PART; }\n')
    assert ingot("build", "-MM", "-Iinc", "m.metal").stdout == "m.air: m.metal inc/part.h\n"
    assert "metal_stdlib" in ingot("build", "-M", "-Iinc", "m.metal").stdout
    ingot("build", "-c", "-Iinc", "m.metal", "-o", "out.air", "-MMD", "-MP")
    assert (ingot.folder / "out.d").read_text() == "out.air: m.metal inc/part.h\ninc/part.h:\n"
    assert (ingot.folder / "out.air").exists()
    ingot("build", "-c", "-Iinc", "m.metal", "-o", "out.air", "-MMD", "-MF", "deps", "-MT", "here", "-MQ", "there")
    assert (ingot.folder / "deps").read_text() == "here there: m.metal inc/part.h\n"


def test_apples_options(ingot):
    ingot.write("first.h", "#define FIRST 1\n")
    ingot.write("a.metal", "#ifdef GONE\n#error gone\n#endif\n#if FIRST != 1\n#error first\n#endif\n" + OTHER)
    r = ingot("build", "-x", "metal", "-O2", "-gline-tables-only", "-frecord-sources", "-fmodules-cache-path=/x",
              "-fno-fast-math", "-fpreserve-invariance", "-Wall", "-Wextra", "-Wno-unused-variable", "-DGONE",
              "-UGONE", "-include", "first.h", "-isystem", ".", "-target", "air64-apple-macos14.0", "-c",
              "a.metal", "-o", "a.air")
    assert r.stderr == ""
    r = ingot("build", "-fwhatever", "-zzz", "-include", "first.h", "a.metal")
    assert "unknown option '-fwhatever'" in r.stderr and "unknown option '-zzz'" in r.stderr
    ingot.write("w.metal", OTHER + "#warning mind\nkernel void w(device int *x) { int unused; x[0] = 1; }\n")
    assert "unused" in ingot("build", "w.metal").stderr
    assert "unused" not in ingot("build", "w.metal", "-Wno-unused-variable").stderr
    assert ingot("build", "w.metal", "-w").stderr == ""
    assert "one file" in ingot("build", "-c", "a.metal", "w.metal", "-o", "x", status=2).stderr
    ingot.write("apple.metallib", b"MTLB" + bytes(100))
    assert "Apple's compiler" in ingot("build", "apple.metallib", "-o", "x", status=1).stderr
