# SPDX-License-Identifier: Apache-2.0
"""Kernels of this project and of the corpora become PTX, and NVIDIA's assembler reads it where it is installed.

A sample of the files; all of them, whose kernels need nothing that GPUs lack, with INGOT_TEST_LONG=1.
"""
import glob
import os
import re
import shutil
import subprocess
import tempfile

import pytest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
MSLC = os.environ.get("INGOT_MSLC") or os.path.join(ROOT, "build/bin/mslc")
PTXAS = shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")
LONG = os.environ.get("INGOT_TEST_LONG") == "1"
SAMPLE = ["bench/kernels.metal", "tests/exec/barriers.metal", "tests/exec/simdgroup.metal", "tests/exec/exits.metal",
          "tests/corpus/tensors/linear.metal"]
EVERY = ["tests/exec/*.metal", "bench/*.metal", "examples/*/*.metal", "tests/corpus/*/*.metal", "src/*/kernels/*.metal", "src/*/*/kernels/*.metal"]
# What no GPU does: a kernel is refused for one of these, by name, or it becomes PTX.
REFUSED = re.compile(r"is not a kernel|uses ray tracing|function constant|no linked function|fatal error|no kernel")


def build(path, *words):
    return subprocess.run([MSLC, "build", "-q", os.path.join(ROOT, path), *words], capture_output=True, text=True,
                          timeout=600)


def assemble(name, ptx, target):
    if not PTXAS:
        return
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "kernel.ptx")
        open(source, "w").write(ptx)
        done = subprocess.run([PTXAS, "-arch=" + target, "-O1", "-c", source, "-o", os.path.join(folder, "kernel.cubin")],
                              capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"


def kernels_of(text):
    return re.findall(r"^// kernel (\S+)\n(.*?)(?=^// kernel |\Z)", text, re.M | re.S)


@pytest.mark.parametrize("path", SAMPLE)
@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_sample(path, target):
    if target == "sm_80" and path != SAMPLE[0] and not LONG:
        pytest.skip("its turn is in the long run")
    done = build(path, "--emit=ptx", "--target", target)
    assert done.returncode == 0, done.stderr
    kernels = kernels_of(done.stdout)
    assert len(kernels) >= 3
    for name, ptx in kernels:
        assert f".target {target}" in ptx and ".visible .entry ingot_kernel(" in ptx
        assemble(f"{path}: {name}", ptx, target)


EFFECTS = """
#include <metal_stdlib>
using namespace metal;
struct Table { device float *other; };
kernel void sum(device const float *a [[buffer(0)]], constant float &k [[buffer(1)]],
                device float *out [[buffer(2)]], uint i [[thread_position_in_grid]]) { out[i] = a[i] + k; }
kernel void count(device atomic_uint *n [[buffer(0)]], device const uint *x [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) { atomic_fetch_add_explicit(n + x[i], 1, memory_order_relaxed); }
kernel void either(device float *a [[buffer(0)]], device float *b [[buffer(1)]], device const int *which [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) { device float *p = which[i] ? a : b; p[i] = 1; }
kernel void walk(device float *a [[buffer(0)]], device const float *b [[buffer(1)]], constant int &n [[buffer(2)]],
                 uint i [[thread_position_in_grid]]) {
    threadgroup float t[64];
    t[i % 64] = b[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    device float *p = a;
    for (int k = 0; k < n; k++, p += 3) *p = t[63 - i % 64];
}
kernel void through(constant Table &t [[buffer(0)]], device float *a [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) { t.other[i] = a[i]; }
kernel void number(device const ulong *at [[buffer(0)]], device float *a [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) { *reinterpret_cast<device float *>(at[i]) = a[i]; }
kernel void picture(texture2d<float, access::write> t [[texture(0)]], device const float *a [[buffer(0)]],
                    uint2 i [[thread_position_in_grid]]) { t.write(a[i.x], i); }
"""


def test_effects(tmp_path):
    """Which arguments a kernel reads and writes; of one that may reach anything nothing is said."""
    source = tmp_path / "effects.metal"
    source.write_text(EFFECTS)
    done = build(str(source), "--emit=ptx", "--target", "sm_90")
    assert done.returncode == 0, done.stderr
    found = {name: ptx.strip().splitlines()[-1] for name, ptx in kernels_of(done.stdout)}
    anything = "// may reach any memory"
    assert found == {"sum": "// reads 0 1; writes 2", "count": "// reads 0 1; writes 0",
                     "either": "// reads 2; writes 0 1", "walk": "// reads 1 2; writes 0",
                     "through": anything, "number": anything, "picture": anything}


@pytest.mark.skipif(not LONG, reason="minutes")
@pytest.mark.parametrize("path", [os.path.relpath(p, ROOT) for g in EVERY for p in sorted(glob.glob(os.path.join(ROOT, g)))])
def test_every(path):
    text = open(os.path.join(ROOT, path)).read()
    macros = [["-D" + m.split(",")[0] if "(" not in m else "-D" + m for m in line.split()]
              for line in re.findall(r"^// Macros: (.*)$", text, re.M)] or [[]]
    for chosen in macros:
        words = ["-I", os.path.join(ROOT, "src"), "-I", os.path.join(ROOT, "src/base"), *chosen]
        for name in re.findall(r"^\s*kernel\s+void\s+(\w+)\s*\(", text, re.M):
            done = build(path, "--emit=ptx", "--target", "sm_90a", "--function", name, *words)
            if done.returncode:
                assert REFUSED.search(done.stderr), done.stderr
                continue
            assemble(f"{path}: {name}", kernels_of(done.stdout)[0][1], "sm_90a")


SOURCE = """#include <metal_stdlib>
#include <metal_logging>
using namespace metal;
using namespace metal::raytracing;
constant float order[4] = {1, 2, 3, 4};
kernel void textured(texture2d<float> t [[texture(0)]], device float4 *c [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    c[i] = t.read(uint2(i, 0)) * order[i & 3];
}
kernel void sampled(texture2d<float> t [[texture(0)]], sampler s [[sampler(0)]], device float4 *c [[buffer(0)]],
                    uint i [[thread_position_in_grid]]) {
    if (i % 5) c[i] = t.sample(s, float2(i, 0.5f) / t.get_width());
}
kernel void logs(uint i [[thread_position_in_grid]]) { os_log_default.log_info("thread %u of %s", i, "all"); }
kernel void traced(primitive_acceleration_structure s [[buffer(0)]], device float *c [[buffer(1)]]) {
    intersector<> i;
    c[0] = i.intersect(ray(float3(0), float3(1)), s).distance;
}
struct Scale { uint n; float2 by; char rest[8]; };
kernel void scaled(constant Scale &s [[buffer(0)]], constant float *w [[buffer(1)]], device float *c [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    if (i < s.n) c[i] = c[i] * s.by.x + s.by.y * w[0] + w[5];
}
vertex float4 corner(uint i [[vertex_id]]) { return float4(i); }
kernel void add(device atomic_uint *a [[buffer(0)]], threadgroup uint *b [[threadgroup(0)]],
                uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    b[lane] = i;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i % 3 == 1) atomic_fetch_add_explicit(a, simd_sum(b[31 - lane]), memory_order_relaxed);
}
"""


@pytest.fixture(scope="module")
def source():
    with tempfile.NamedTemporaryFile("w", suffix=".metal") as f:
        f.write(SOURCE)
        f.flush()
        yield f.name


def test_what_is_missing_is_named(source):
    for name, words in (("traced", "uses ray tracing"), ("corner", "is not a kernel")):
        done = build(source, "--emit=ptx", "--function", name)
        assert done.returncode == 1 and words in done.stderr and not done.stdout
    for target in ("sm_52", "sm_banana", "sm_"):
        done = build(source, "--emit=ptx", "--function", "add", "--target", target)
        assert done.returncode == 1 and "no code for" in done.stderr
    for words in (["--width", "1"], ["--cpu", "x86-64"]):
        done = build(source, "--emit=ptx", "--function", "add", *words)
        assert done.returncode == 1 and "code for GPUs (sm_90) does not have" in done.stderr
    done = build(source, "--emit=asm", "--function", "add", "--target", "sm_90")
    assert done.returncode == 1 and "ll, scalar-ll or ptx" in done.stderr


def test_textures(source):
    """Functions of textures are called, and are in the text; an implicit level of detail looks at the quad."""
    for name, function in (("textured", "ingot_texture_read"), ("sampled", "ingot_texture_sample")):
        ptx = build(source, "--emit=ptx", "--function", name).stdout
        assert f".visible .func {function}(" in ptx and ".extern .func" not in ptx
        assert ("shfl.sync" in ptx) == (name == "sampled")
        assemble(name, ptx, "sm_90")


def test_blocks():
    """What decodes compressed blocks, and what stands in its place, need nothing else, and are one function each."""
    folder = os.path.join(os.path.dirname(MSLC), "../src/compiler/device/nvptx")
    for name in ("blocks", "no_blocks"):
        with open(os.path.join(folder, name + ".ptx"), encoding="utf-8") as file:
            ptx = file.read()
        assert re.findall(r"\.visible \.func\s+(?:\(.*?\)\s+)?(\w+)\(", ptx) == ["texel_decode_block_in"]
        assert ".extern .func" not in ptx
        assemble(name, ptx, "sm_90")


PRODUCT = """#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;
kernel void product(device half *a [[buffer(0)]], device half *b [[buffer(1)]], device float *c [[buffer(2)]], constant int &n [[buffer(3)]],
                    uint2 g [[threadgroup_position_in_grid]]) {
    tensor<device half, dextents<int, 2>, tensor_inline> A(a, dextents<int, 2>(n, n)), B(b, dextents<int, 2>(n, n));
    tensor<device float, dextents<int, 2>, tensor_inline> C(c, dextents<int, 2>(n, n));
    auto x = A.slice(0, int(g.y) * 128), y = B.slice(int(g.x) * 128, 0);
    auto z = C.slice(int(g.x) * 128, int(g.y) * 128);
    constexpr auto what = matmul2d_descriptor(128, 128);
    matmul2d<what, execution_simdgroups<4>> op;
    auto sums = op.get_destination_cooperative_tensor<decltype(x), decltype(y), float>();
    op.run(x, y, sums);
    sums.store(z);
}
"""


@pytest.mark.parametrize("target, instruction", [("sm_80", "mma.sync.aligned.m16n8k16"), ("sm_90a", "wgmma.mma_async")])
def test_products(tmp_path, target, instruction):
    """Products are tensor cores', the widest that the processor has, and their sums stay in registers."""
    path = tmp_path / "product.metal"
    path.write_text(PRODUCT)
    done = build(str(path), "--emit=ptx", "--target", target)
    assert done.returncode == 0, done.stderr
    ptx = done.stdout
    assert ptx.count(instruction) >= 8 and "cp.async.cg.shared.global" in ptx
    at = ptx.index("cp.async.wait_group")
    assert "ld.local" not in ptx[at:at + ptx[at:].index("cp.async.wait_group 0")]
    assemble("product", ptx, target)


def test_atomics():
    """Every atomic function has an instruction of its own, with the scope of the device or of the threadgroup."""
    ptx = build("tests/compiler/atomics.metal", "--emit=ptx", "--target", "sm_80").stdout
    for word in ("add.f32", "min.u64", "max.u64", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32", "exch.b32"):
        assert f"global.{word}" in ptx
    assert "atom.shared.add.u32" in ptx and "cta.shared.cas.b32" in ptx and "gpu.global.cas.b32" in ptx
    assert ".sys" not in ptx and "fence.sc.gpu" in ptx
    assemble("atomics", ptx, "sm_80")


def test_checks_and_logs(source):
    """A kernel that checks its accesses, or logs, has a parameter more, and tells the host."""
    plain = build(source, "--emit=ptx", "--function", "add").stdout
    checked = build(source, "--emit=ptx", "--function", "add", "--validate")
    assert checked.returncode == 0, checked.stderr
    parameters = lambda ptx: len(set(re.findall(r"ingot_kernel_param_\d+", ptx)))
    assert parameters(checked.stdout) > parameters(plain) and "ingot_report" in checked.stdout
    assemble("checked", checked.stdout, "sm_90")
    logs = build(source, "--emit=ptx", "--function", "logs", "-fmetal-enable-logging")
    assert logs.returncode == 0 and "ingot_log" in logs.stdout, logs.stderr
    assemble("logs", logs.stdout, "sm_90")


FUNCTIONS = """#include <metal_stdlib>
using namespace metal;
kernel void functions(device float *a, uint i [[thread_position_in_grid]]) {
    a[i] = FUNCTION(a[i]);
}
"""


@pytest.mark.parametrize("function, instruction", [("sin", "sin.approx.f32"), ("cos", "cos.approx.f32"), ("exp", "ex2.approx.ftz.f32"),
                                                   ("exp2", "ex2.approx.ftz.f32")])
def test_functions(tmp_path, function, instruction):
    """fast:: functions are the GPU's instruction, precise:: ones are not."""
    path = tmp_path / "functions.metal"
    path.write_text(FUNCTIONS)
    for kind in ("fast", "precise"):
        done = build(str(path), "--emit=ptx", "--target", "sm_80", "-D", f"FUNCTION={kind}::{function}")
        assert done.returncode == 0, done.stderr
        assert (instruction in done.stdout) == (kind == "fast")
        assert function != "exp" or kind != "fast" or "max.NaN.f32" in done.stdout  # what is not a number stays so
        assemble("functions", done.stdout, "sm_80")


def test_threads_have_registers(tmp_path):
    """So many threads as the program says, or as the shape has, can be started, whatever the code needs."""
    path = tmp_path / "functions.metal"
    path.write_text(FUNCTIONS.replace("kernel void", "KIND kernel void"))
    words = ["--emit=ptx", "--target", "sm_80", "-D", "FUNCTION=sin", "-D"]
    assert ".maxntid" not in build(str(path), *words, "KIND=").stdout
    assert ".maxntid 512" in build(str(path), *words, "KIND=", "--group", "32,16").stdout
    assert ".maxntid 768" in build(str(path), *words, "KIND=[[max_total_threads_per_threadgroup(768)]]").stdout


def test_constants(source):
    """Words of a constant that is one object are parameters; arrays are read where they lie."""
    ptx = build(source, "--emit=ptx", "--function", "scaled", "--target", "sm_80").stdout
    words = len(re.findall(r"\.param \.u32 ingot_kernel_param", ptx)) - 22  # those of the grid
    assert words == 3 and len(re.findall(r"@p ld\.global\.nc\.b32", ptx)) == 3
    assert len(re.findall(r"\tld\.global\.nc", ptx)) == 2
    assemble("scaled", ptx, "sm_80")


def test_scopes_and_masks(source):
    """Atomics are the device's, accesses know their memory, and a sum under a branch has the branch's mask."""
    ptx = build(source, "--emit=ptx", "--function", "add").stdout
    assert re.search(r"(atom|red)\.(relaxed\.gpu\.)?global\.add\.u32", ptx)
    assert "vote.sync.ballot" in ptx and "activemask" not in ptx
    assert re.search(r"st\.shared\.b32", ptx) and "bar.sync" in ptx
