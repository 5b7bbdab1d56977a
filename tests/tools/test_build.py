# SPDX-License-Identifier: Apache-2.0
"""ingot build: diagnostics, outputs, options, and input that is as bad as it gets."""
import os
import random
import re
import subprocess

import pytest

from conftest import ADD, BUILD


def test_good_file_says_nothing(ingot):
    ingot.write("a.metal", ADD)
    r = ingot("build", "a.metal")
    assert r.stdout == "" and r.stderr == ""


def test_all_errors_with_place_and_caret(ingot):
    ingot.write("bad.metal", """#include <metal_stdlib>
kernel void f(device float *x [[buffer(0)]]) {
    x[0] = missing;
    device int *p = x;
}
""")
    r = ingot("build", "bad.metal", status=1)
    assert "bad.metal:3:12: error: use of undeclared identifier 'missing'" in r.stderr
    assert "bad.metal:4:17: error:" in r.stderr
    assert "x[0] = missing;\n" in r.stderr and "^~~~~~~" in r.stderr
    assert "__global" not in r.stderr


def test_warning_is_no_error_unless_asked(ingot):
    ingot.write("w.metal", "#include <metal_stdlib>\n#warning mind the gap\n" + ADD)
    assert "warning: mind the gap" in ingot("build", "w.metal").stderr
    assert "error: mind the gap" in ingot("build", "w.metal", "-Werror", status=1).stderr


def test_metallib_is_written_and_runs(ingot):
    ingot.write("a.metal", ADD)
    ingot("build", "a.metal", "-o", "a.metallib")
    assert (ingot.folder / "a.metallib").read_bytes()[:8] == b"INGOTLIB"
    r = ingot("run", "a.metallib", "add", "--grid", 4, "--arg", "0=f32[4]=iota", "--arg",
              "1=f32[4]=fill:1", "--arg", "2=f32[4]", "--print", 2, "-q")
    assert r.stdout == "1 2 3 4\n"


def test_failed_build_leaves_the_old_output(ingot):
    ingot.write("bad.metal", "kernel void f() { oops }\n")
    ingot.write("x.metallib", "precious")
    ingot("build", "bad.metal", "-o", "x.metallib", status=1)
    assert (ingot.folder / "x.metallib").read_text() == "precious"
    assert sorted(p.name for p in ingot.folder.iterdir()) == ["bad.metal", "x.metallib"]


def test_unwritable_output(ingot):
    ingot.write("a.metal", ADD)
    r = ingot("build", "a.metal", "-o", "no/such/folder/a.metallib", status=1)
    assert "no/such/folder/a.metallib" in r.stderr and "No such file" in r.stderr


@pytest.mark.parametrize("emit, sign", [("asm", "ingot_run_rows:"), ("ll", "define"),
                                        ("scalar-ll", "define")])
def test_emit(ingot, emit, sign):
    ingot.write("a.metal", ADD)
    r = ingot("build", "a.metal", f"--emit={emit}")
    assert sign in r.stdout
    ingot("build", "a.metal", f"--emit={emit}", "-o", "out.txt", "--function", "add")
    assert sign in (ingot.folder / "out.txt").read_text()


@pytest.mark.parametrize("cpu", ["x86-64-v3", "x86-64-v4"])
def test_bfloats_are_rounded_as_vectors(ingot, cpu):
    """No call for each of 32 threads, as LLVM has it before AVX512-BF16."""
    ingot.write("b.metal", "#include <metal_stdlib>\nkernel void f(device bfloat *y, device const float *x, "
                           "uint i [[thread_position_in_grid]]) { y[i] = bfloat(x[i]) * y[i]; }\n")
    text = ingot("build", "b.metal", "--emit=asm", "--cpu", cpu).stdout
    assert "ingot_run_rows:" in text and "__truncsfbf2" not in text


@pytest.mark.parametrize("options, fused", [
    (("--emit=asm", "--cpu", "sapphirerapids"), "vfmadd...ph"),
    (("--emit=asm", "--cpu", "x86-64-v4"), "vfmadd...ps"),
    (("--emit=asm", "--target", "aarch64", "--features", "+fullfp16"), r"fmla\tv\d+\.8h"),
    (("--emit=asm", "--target", "aarch64"), r"fml[as]\tv\d+\.4s"),
    (("--emit=ptx",), "fma.rn.f16")])
def test_halves_are_fused(ingot, options, fused):
    """By the machine's own instruction where it has one, in float elsewhere."""
    ingot.write("h.metal", "#include <metal_stdlib>\nkernel void f(device half *y, device const half *x, constant half &a, "
                           "uint i [[thread_position_in_grid]]) { y[i] = a * x[i] + y[i]; }\n")
    text = ingot("build", "h.metal", *options).stdout
    assert re.search(fused, text)


@pytest.mark.parametrize("cpu", ["x86-64-v3", "x86-64-v4"])
def test_rows_share_clamped_indices(ingot, cpu):
    """At the edges of a picture no address is chosen for each row: an index is, for all of them. And where nothing
    follows a line what the threads share is added to one base, not to a vector of indices for each row."""
    ingot.write("b.metal", """#include <metal_stdlib>
kernel void f(device const float *a, device float *c, constant int2 &size, uint2 p [[thread_position_in_grid]]) {
    float s = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            int x = metal::clamp(int(p.x) + dx, 0, size.x - 1), y = metal::clamp(int(p.y) + dy, 0, size.y - 1);
            s += a[y * size.x + x];
        }
    c[p.y * size.x + p.x] = s;
}
""")
    text = ingot("build", "b.metal", "--emit=ll", "--cpu", cpu, "--group", "32,8").stdout
    assert "masked.load" in text and not re.search(r"select i1 .*, ptr", text)
    assert len(re.findall("call <32 x float> @llvm.masked.gather", text)) == 15
    assert len(re.findall("sext <32 x i32>", text)) == 3


@pytest.mark.parametrize("cpu", ["x86-64-v3", "x86-64-v4"])
def test_what_lanes_count_is_written_as_it_is_read(ingot, cpu):
    """Increments lane by lane: the indices are written for them as the bytes they are, not as addresses, and what a
    barrier had saved is not read again for each."""
    ingot.write("h.metal", """#include <metal_stdlib>
using namespace metal;
kernel void f(device const uchar *x, device atomic_uint *bins, constant uint &n, uint i [[thread_position_in_grid]],
              uint all [[threads_per_grid]], uint t [[thread_position_in_threadgroup]]) {
    threadgroup atomic_uint mine[256];
    atomic_store_explicit(&mine[t], 0, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = i; k < n; k += all) atomic_fetch_add_explicit(&mine[x[k]], 1, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    atomic_fetch_add_explicit(&bins[t], atomic_load_explicit(&mine[t], memory_order_relaxed), memory_order_relaxed);
}
""")
    text = ingot("build", "h.metal", "--emit=ll", "--cpu", cpu, "--group", "256").stdout
    assert "store <32 x i8>" in text and "<32 x ptr>" not in text
    loops = [b for b in text.split("\n\n") if "zext i8" in b and "llvm.cttz" in b]
    assert loops and not any(re.search(r"= load .*, ptr %\.reload\.addr", b) for b in loops)


def test_lanes_are_known_to_be_few(ingot):
    """Every thread enters the loop: no test before it, around which what follows would be made twice."""
    ingot.write("l.metal", "#include <metal_stdlib>\nkernel void f(threadgroup float *t, device float *y, uint lane [[thread_index_in_simdgroup]]) { "
                           "for (int i = lane; i < 2400; i += 32) t[i] = 0;\n metal::simdgroup_barrier(metal::mem_flags::mem_threadgroup); y[lane] = t[lane ^ 1]; }\n")
    text = ingot("build", "l.metal", "--emit=scalar-ll").stdout
    assert text.count("icmp") == 1


def test_check_counts_kernels(ingot):
    ingot.write("a.metal", ADD + "kernel void second(device float *x) { x[0] = 1; }\n")
    assert "2 of 2 kernels" in ingot("build", "a.metal", "--check").stderr
    assert "1 of 1 kernels" in ingot("build", "a.metal", "--check", "--function", "second").stderr


def test_check_with_function_constants(ingot):
    ingot.write("c.metal", """#include <metal_stdlib>
constant int n [[function_constant(0)]];
constant bool flag [[function_constant(1)]];
kernel void f(device int *x) { x[0] = flag ? n : 7; }
""")
    assert "1 of 1 kernels" in ingot("build", "c.metal", "--check").stderr
    ingot("build", "c.metal", "--emit=asm", "--constant", "n=5", "--constant", "1=true")
    r = ingot("build", "c.metal", "--emit=asm", "--constant", "n=five", "--constant", "1=true", status=1)
    assert "'five'" in r.stderr and "'n'" in r.stderr


def test_unknown_function(ingot):
    ingot.write("a.metal", ADD)
    assert "no kernel 'nope'" in ingot("build", "a.metal", "--check", "--function", "nope", status=1).stderr


def test_include_paths_and_macros(ingot):
    ingot.write("inc/part.h", "#define FACTOR 3\n")
    ingot.write("m.metal", '#include <metal_stdlib>\n#include "part.h"\n#if LIMIT != 5\n#error limit\n'
                           "#endif\n#ifndef PLAIN\n#error plain\n#endif\n"
                           "kernel void f(device int *x) { x[0] = FACTOR; }\n")
    ingot("build", "m.metal", "-I", "inc", "-D", "LIMIT=5", "-DPLAIN")
    assert "part.h" in ingot("build", "m.metal", "-DLIMIT=5", "-DPLAIN", status=1).stderr
    assert "error: limit" in ingot("build", "m.metal", "-Iinc", "-DPLAIN", status=1).stderr


def test_standard_input(ingot):
    assert "'-'" not in ingot("build", "-", status=1).stderr  # /dev/null: empty
    r = ingot("build", "-", status=1)
    assert "empty" in r.stderr


@pytest.mark.parametrize("args, hint", [
    ([], "--help"), (["a.metal", "--what"], "--what"), (["a.metal", "-o"], "-o"),
    (["a.metal", "-x", "fortran"], "fortran"), (["a.metal", "--emit=gold"], "gold"),
    (["a.metal", "--width", "12"], "12"), (["a.metal", "--group", "0"], "0"),
    (["a.metal", "--math=sloppy"], "sloppy"), (["a.metal", "--constant", "x"], "x"),
    (["a.metal", "-std=metalx"], "metalx"), (["a.metal", "--emit=obj"], "-o"),
])
def test_wrong_usage(ingot, args, hint):
    r = ingot("build", *args, status=2)
    assert hint in r.stderr and "ingot build" in r.stderr


def test_help(ingot):
    for command in ["info", "build", "reflect", "run", "cache", "bench"]:
        r = ingot(command, "--help")
        assert "usage: ingot " + command in r.stdout and r.stderr == ""
    assert "ingot run" in ingot("--help").stdout
    assert "unknown command" in ingot("frobnicate", status=2).stderr
    assert ingot("help", "run").stdout == ingot("run", "--help").stdout
    for typed, meant in (("rnu", "run"), ("captur", "capture"), ("reflekt", "reflect"), ("tset", "test")):
        assert f"did you mean `ingot {meant}`?" in ingot(typed, status=2).stderr
    for typed in ("frobnicate", "x", "a" * 1000, ""):
        assert "did you mean" not in ingot(typed, status=2).stderr
    assert "did you mean `ingot view`?" in ingot("help", "veiw", status=2).stderr
    ingot(status=2)


def test_missing_file(ingot):
    r = ingot("build", "absent.metal", status=1)
    assert "absent.metal" in r.stderr and "No such file" in r.stderr


def test_folder_instead_of_file(ingot):
    assert "directory" in ingot("build", ".", status=1).stderr


# Bad sources, through the command line and through libingot: an error, no crash, in bounded time.
def bomb(depth):
    return ("#include <metal_stdlib>\n"
            "template <int N, int M> struct B {\n"
            "    static constant constexpr int v = B<N - 1, M * 2>::v + B<N - 1, M * 2 + 1>::v; };\n"
            "template <int M> struct B<0, M> { static constant constexpr int v = 1; };\n"
            f"kernel void f(device int *x) {{ x[0] = B<{depth}, 0>::v; }}\n")


BAD = {
    "not_utf8": (b"kernel void f() {}\n\xff\xfe\x80 \xc3\x28\n", "UTF-8"),
    "zeros": (bytes(1000), "error"),
    "garbage": (random.Random(1).randbytes(10_000_000), "error"),
    "brackets": (b"kernel void f(device int *x) { x[0] = " + b"(" * 50000 + b"1;\n", "error"),
    "include_loop": (b'#include "bad.metal"\n', "include"),
    "include_itself_by_folder": (b'#include "."\n', "error"),
    "endless_string": (b'#include <metal_stdlib>\nconstant char s[] = "' + b"x" * 100000, "error"),
    "template_recursion": (b"template <int N> struct R { static constant constexpr int v = "
                           b"R<N + 1>::v; };\nkernel void f(device int *x) { x[0] = R<0>::v; }\n",
                           "template"),
    "macro_bomb": (b"#define A A1 A1 A1 A1 A1 A1 A1 A1 A1 A1\n"
                   + b"".join(b"#define A%d " % i + b"A%d " % (i + 1) * 10 + b"\n" for i in range(1, 9))
                   + b"#define A9 zzz\nkernel void f() { A }\n", ""),
}


def test_empty_source(ingot):
    """An application may compile an empty source, as on a Mac; a build that does has lost something."""
    ingot.write("empty.metal", "")
    assert "empty.metal' is empty" in ingot("build", "empty.metal", status=1).stderr
    assert ingot("reflect", "empty.metal").stdout == "no entry points\n"


@pytest.mark.parametrize("name", BAD)
def test_bad_source(ingot, name):
    source, hint = BAD[name]
    ingot.write("bad.metal", source)
    for command in ["build", "reflect"]:
        r = ingot(command, "bad.metal", status=1, INGOT_COMPILE_TIMEOUT_MS="20000")
        assert hint in r.stderr and r.stderr != "", r.stderr[-500:]
    ingot.write("good.metal", ADD)
    ingot("build", "good.metal")


def test_out_of_memory_is_said(ingot):
    """A table of 4 GiB, under a limit of 3: the front end gets along with it, the back end does not."""
    ingot.write("large.metal", """#include <metal_stdlib>
constant metal::array<float, 0x3fffffff> s = {1};
kernel void k(device int *o [[buffer(0)]]) { o[0] = s[o[1]]; }
""")
    r = ingot("build", "--check", "large.metal", status=1, INGOT_COMPILE_MEMORY_MB="3000")
    assert "out of memory (INGOT_COMPILE_MEMORY_MB sets the limit)" in r.stderr, r.stderr
    assert "crashed" not in r.stderr and "LLVM" not in r.stderr


def test_template_bomb_is_stopped(ingot):
    ingot.write("bomb.metal", bomb(26))
    for command in ["build", "reflect"]:
        r = ingot(command, "bomb.metal", status=1, INGOT_COMPILE_TIMEOUT_MS="2000")
        assert "INGOT_COMPILE_TIMEOUT_MS" in r.stderr


@pytest.mark.skipif("asan" in os.environ.get("INGOT_BUILD", "") or "tsan" in os.environ.get("INGOT_BUILD", ""),
                    reason="sanitizers need more address space than the limit allows")
def test_memory_bomb_is_stopped(ingot):
    ingot.write("bomb.metal", bomb(26))
    r = ingot("reflect", "bomb.metal", status=1, INGOT_COMPILE_MEMORY_MB="500",
              INGOT_COMPILE_TIMEOUT_MS="60000")
    assert "memory" in r.stderr


def many_kernels(n):
    return "#include <metal_stdlib>\nusing namespace metal;\n" + "".join(
        f"kernel void k{i}(device float *x, uint i [[thread_position_in_grid]]) {{\n"
        f"    x[i] = sqrt(x[i]) * {i}.5f;\n}}\n"
        for i in range(n))


def test_progress_is_a_bar_on_a_terminal(ingot):
    """The same work with standard error on a terminal and in a pipe."""
    ingot.write("many.metal", many_kernels(30))
    controller, terminal = os.openpty()
    p = subprocess.Popen([BUILD / "bin" / "ingot", "build", "many.metal", "--check"], cwd=ingot.folder,
                         env=ingot.env, stdin=subprocess.DEVNULL, stderr=terminal)
    os.close(terminal)
    seen = b""
    while True:
        try:
            part = os.read(controller, 65536)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        seen += part
    os.close(controller)
    assert p.wait() == 0
    assert b"checking [" in seen and b"/30 k" in seen
    assert seen.endswith(b"30 of 30 kernels compile to machine code\r\n")
    assert "\r" not in ingot("build", "many.metal", "--check").stderr


def test_one_kernel_of_a_large_library(ingot):
    """A pipeline compiles one kernel, not the library: the cache holds just that one."""
    ingot.env["INGOT_CACHE_DIR"] = str(ingot.folder / "cache")
    ingot.write("many.metal", many_kernels(300))
    ingot("run", "many.metal", "k250", "--grid", 4, "--arg", "0=f32[4]=fill:0")
    assert len(list((ingot.folder / "cache" / "kernels").iterdir())) <= 2  # any shape, this shape


def test_bench(ingot):
    out = ingot("bench").stdout
    assert "empty command buffer" in out and "GB/s" in out and "failed" not in out


SCALED = "#include <metal_stdlib>\nint scaled(int x) { return x * %d; }\n"
USER = """#include <metal_stdlib>
int scaled(int x);
kernel void k(device int *out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] = scaled(i); }
"""


def test_dynamic_libraries_are_found_beside_their_user(ingot):
    ingot.write("three.metal", SCALED % 3)
    ingot.write("user.metal", USER)
    assert "'scaled' is used but not defined" in ingot("build", "user.metal", status=1).stderr
    ingot("build", "three.metal", "--install-name", "@loader_path/three.metallib", "-o", "three.metallib")
    r = ingot("build", "user.metal", "--link", "three.metallib", "-o", "user.metallib", "--check")
    assert "1 of 1 kernels" in r.stderr
    run = ("run", "user.metallib", "k", "--grid", 4, "--arg", "0=i32[4]", "--print", 0, "-q")
    assert ingot(*run).stdout == "0 3 6 9\n"
    ingot.write("five.metal", SCALED % 5) # another library takes its place, with its name
    ingot("build", "five.metal", "--install-name", "@loader_path/three.metallib", "-o", "three.metallib")
    assert ingot(*run).stdout == "0 5 10 15\n"
    (ingot.folder / "three.metallib").unlink()
    assert "'@loader_path/three.metallib' cannot be loaded" in ingot(*run, status=1).stderr


def test_only_dynamic_libraries_are_linked_against(ingot):
    ingot.write("user.metal", USER)
    ingot.write("a.metal", ADD)
    ingot("build", "a.metal", "-o", "a.metallib")
    r = ingot("build", "user.metal", "--link", "a.metallib", status=1)
    assert "'a.metallib': not a dynamic library" in r.stderr
    assert "cannot read 'none'" in ingot("build", "user.metal", "--link", "none", status=1).stderr
    ingot.write("broken", "INGOTLIB but not really")
    ingot("build", "user.metal", "--link", "broken", status=1)
