# SPDX-License-Identifier: Apache-2.0
"""ingot run: right answers (against NumPy) and clear words for everything that does not fit."""
import numpy as np
import pytest

from conftest import ADD

KERNELS = ADD + """
kernel void scale(device float *x [[buffer(0)]], constant float &s [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) { x[i] *= s; }
kernel void plane(device uint *x [[buffer(0)]], uint2 p [[thread_position_in_grid]],
                  uint2 n [[threads_per_grid]]) { x[p.y * n.x + p.x] = p.y * 1000 + p.x; }
kernel void reverse(device const int *in [[buffer(0)]], device int *out [[buffer(1)]],
                    threadgroup int *t [[threadgroup(0)]], uint i [[thread_index_in_threadgroup]],
                    uint n [[threads_per_threadgroup]], uint g [[threadgroup_position_in_grid]]) {
    t[i] = in[g * n + i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[g * n + i] = t[n - 1 - i];
}
constant int offset [[function_constant(2)]];
kernel void shift(device int *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] += offset; }
struct Pair { float a; float b; };
kernel void pair(device float *x [[buffer(0)]], constant Pair &p [[buffer(1)]]) { x[0] = p.a - p.b; }
kernel void endless(device volatile int *x [[buffer(0)]]) { while (x[0] == 0) { } }
"""
TYPES = {"f32": np.float32, "f16": np.float16, "i8": np.int8, "u8": np.uint8, "i16": np.int16,
         "u16": np.uint16, "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64}
METAL = {"f32": "float", "f16": "half", "i8": "char", "u8": "uchar", "i16": "short", "u16": "ushort",
         "i32": "int", "u32": "uint", "i64": "long", "u64": "ulong"}


@pytest.fixture
def run(ingot):
    ingot.write("k.metal", KERNELS)
    return lambda *args, **kw: ingot("run", "k.metal", *args, **kw)


def test_vector_add_from_files(ingot, run):
    a, b = (np.random.default_rng(s).random(1000, dtype=np.float32) for s in (1, 2))
    np.save(ingot.folder / "a.npy", a)
    np.save(ingot.folder / "b.npy", b)
    r = run("add", "--grid", 1000, "--arg", "0=a.npy", "--arg", "b=b.npy", "--arg", "2=f32[1000]",
            "--out", "2=sum.npy")
    assert np.array_equal(np.load(ingot.folder / "sum.npy"), a + b)
    assert r.stdout.startswith("add: 1000 x 1 x 1 threads")


def test_default_report(run):
    r = run("add", "--grid", 3, "--arg", "0=f32[3]=iota", "--arg", "1=f32[3]=fill:0.5", "--arg",
            "2=f32[3]")
    assert "buffer 2 f32[3]: 0.5 1.5 2.5\n" in r.stdout
    assert "buffer 0" not in r.stdout  # only what the kernel writes


def test_scalar_and_repeat(run):
    r = run("scale", "--grid", 4, "--arg", "0=f32[4]=iota", "--arg", "s=f32:2.5", "--print", "x",
            "--repeat", 5)
    assert r.stdout.splitlines()[1] == "0 2.5 5 7.5"  # of the first run, not scaled five times
    assert "median of 5" in r.stdout


def test_two_dimensions(ingot, run):
    run("plane", "--grid", "37,5", "--group", "8,2", "--arg", "0=u32[5,37]", "--out", "0=p.npy")
    y, x = np.mgrid[0:5, 0:37]
    out = np.load(ingot.folder / "p.npy")
    assert out.shape == (5, 37) and np.array_equal(out, y * 1000 + x)


def test_threadgroup_memory(ingot, run):
    run("reverse", "--grid", 64, "--group", 16, "--arg", "0=i32[64]=iota", "--arg", "1=i32[64]",
        "--tg", "0=64", "--out", "1=r.npy")
    assert np.array_equal(np.load(ingot.folder / "r.npy"),
                          np.arange(64).reshape(4, 16)[:, ::-1].reshape(64))


@pytest.mark.parametrize("key", ["2", "offset"])
def test_function_constant(run, key):
    r = run("shift", "--grid", 3, "--arg", "0=i32[3]=iota", "--constant", f"{key}=-5", "--print", 0, "-q")
    assert r.stdout == "-5 -4 -3\n"


def test_struct_from_a_list(run):
    assert run("pair", "--grid", 1, "--arg", "0=f32[1]", "--arg", "1=f32:7,2", "--print", 0,
               "-q").stdout == "5\n"


@pytest.mark.parametrize("name", TYPES)
def test_every_type(ingot, name):
    ingot.write("t.metal", "#include <metal_stdlib>\n"
                f"kernel void twice(device {METAL[name]} *x, uint i [[thread_position_in_grid]])"
                " { x[i] = x[i] + x[i]; }\n")
    rng = np.random.default_rng(5)
    a = (rng.random(100) * 60).astype(TYPES[name])
    np.save(ingot.folder / "in.npy", a)
    ingot("run", "t.metal", "twice", "--grid", 100, "--arg", "0=in.npy", "--out", "0=out.npy")
    out = np.load(ingot.folder / "out.npy")
    assert out.dtype == a.dtype and np.array_equal(out, a + a)


def test_bfloat(ingot):
    ingot.write("t.metal", "#include <metal_stdlib>\nkernel void twice(device bfloat *x, "
                "uint i [[thread_position_in_grid]]) { x[i] = x[i] + x[i]; }\n")
    r = ingot("run", "t.metal", "twice", "--grid", 3, "--arg", "0=bf16[3]=fill:3.14", "--print", 0,
              "--out", "0=b.npy", "-q")
    assert r.stdout == "6.281 6.281 6.281\n"
    assert np.load(ingot.folder / "b.npy").tolist() == [6.28125] * 3  # bfloat's nearest, as float32


@pytest.mark.parametrize("value, expected", [
    ("i32[4]=iota", [0, 1, 2, 3]), ("u8[3]=fill:0xff", [255] * 3), ("i64[2]=fill:-9223372036854775808",
                                                                    [-2**63] * 2),
    ("f32[2]=fill:inf", [np.inf] * 2), ("bool[3]=iota", [False, True, False]), ("i16[2]", [0, 0]),
])
def test_generators(ingot, value, expected):
    ingot.write("n.metal", "kernel void nothing(device void *x) {}\n")
    ingot("run", "n.metal", "nothing", "--grid", 1, "--arg", f"0={value}", "--out", "0=g.npy")
    assert np.load(ingot.folder / "g.npy").tolist() == expected


def test_random_is_repeatable_and_in_range(ingot, run):
    outs = []
    for seed in (7, 7, 8):
        run("scale", "--grid", 1, "--arg", f"0=f32[2000]=random:{seed}", "--arg", "1=f32:1", "--out",
            "0=r.npy")
        outs.append(np.load(ingot.folder / "r.npy"))
    assert np.array_equal(outs[0], outs[1]) and not np.array_equal(outs[0], outs[2])
    assert outs[0].min() >= 0 and outs[0].max() < 1 and 0.45 < outs[0].mean() < 0.55


def test_kernel_that_never_ends(run):
    r = run("endless", "--grid", 1, "--arg", "0=i32[1]", "--timeout", 200, status=1)
    assert "'endless' failed" in r.stderr
    run("endless", "--grid", 1, "--arg", "0=i32[1]", "--timeout", 0, status=2)


def test_kernel_that_never_ends_without_a_limit(run):
    """Ten seconds: the one place where the limit that is there by default is waited for."""
    r = run("endless", "--grid", 1, "--arg", "0=i32[1]", status=1)
    assert "kernel 'endless' was stopped" in r.stderr
    assert "INGOT_TIMEOUT_MS=0" in r.stderr and "10 s" in r.stderr


ADD_ARGS = ["--arg", "0=f32[4]", "--arg", "1=f32[4]", "--arg", "2=f32[4]"]


@pytest.mark.parametrize("args, status, hint", [
    (["nope", "--grid", 1], 1, "it has: add"),
    (["add", "--grid", 4, "--arg", "0=f32[4]", "--arg", "1=f32[4]"], 1, "buffer 2 of 'add' is missing"),
    (["add", "--grid", 4, *ADD_ARGS, "--arg", "7=f32[4]"], 1, "it takes: 0 a (float)"),
    (["add", "--grid", 4, *ADD_ARGS, "--arg", "2=f32[4]"], 2, "twice"),
    (["add", "--grid", 4, *ADD_ARGS, "--arg", "c=f32[4]"], 2, "same buffer"),
    (["add", "--grid", 4, *ADD_ARGS, "--out", "5=x.npy"], 1, "no such buffer"),
    (["add", "--grid", 4, *ADD_ARGS, "--out", "2=no/folder/x.npy"], 1, "no/folder/x.npy"),
    (["add", "--grid", 4, *ADD_ARGS, "--group", 2000], 1, "thread"),
    (["reverse", "--grid", 4, "--arg", "0=i32[4]", "--arg", "1=i32[4]"], 1, "--tg 0=..."),
    (["reverse", "--grid", 4, "--arg", "0=i32[4]", "--arg", "1=i32[4]", "--tg", "0=99999999"], 1,
     "threadgroup"),
    (["pair", "--grid", 1, "--arg", "0=f32[1]", "--arg", "1=f32:7"], 1, "takes 8"),
    (["scale", "--grid", 1, "--arg", "0=f32:1", "--arg", "1=f32:7"], 1, "give it an array"),
    (["shift", "--grid", 1, "--arg", "0=i32[1]", "--constant", "nope=1"], 1, "no function constant"),
    (["shift", "--grid", 1, "--arg", "0=i32[1]", "--constant", "2=x"], 1, "'x'"),
    (["shift", "--grid", 1, "--arg", "0=i32[1]"], 1, "offset"),
    (["add"], 2, "--grid"), (["add", "--grid", "0"], 2, "positive"), (["add", "--grid", "1,2,3,4"], 2,
                                                                     "positive"),
    (["add", "--grid", "-1"], 2, "positive"), (["add", "--grid", 1, "--repeat", 0], 2, "--repeat"),
    (["add", "--grid", 1, "--arg", "0"], 2, "N=VALUE"), (["add", "--grid", 1, "--arg"], 2, "--arg"),
    (["add", "--grid", 1, "--tg", "0=x"], 2, "N=BYTES"), (["add", "--grid", 1, "--what"], 2, "--what"),
    (["add", "extra", "--grid", 1], 2, "extra"),
])
def test_wrong_arguments(run, args, status, hint):
    assert hint in run(*args, status=status).stderr


@pytest.mark.parametrize("value", [
    "f64[4]", "f32[]", "f32[0]", "f32[-1]", "f32[4", "f32[4]x", "f32[4]=what", "f32[4]=fill:x",
    "f32[4]=random:x", "f32[99999999999999999999]", "f32[9999999999,9999999999]", "f32", "f32:", "u8:256",
    "i32:1.5", "", "absent.npy", "f32[1073741824]", "bool:2",
])
def test_wrong_values(run, value):
    r = run("scale", "--grid", 1, "--arg", f"0={value}", "--arg", "1=f32:1", status=1)
    assert "--arg 0:" in r.stderr


def test_other_number_type_is_pointed_out(run):
    r = run("scale", "--grid", 1, "--arg", "0=i32[4]", "--arg", "1=f32:1")
    assert "warning" in r.stderr and "float" in r.stderr


def test_failed_run_leaves_the_old_file(ingot, run):
    ingot.write("old.npy", "precious")
    run("endless", "--grid", 1, "--arg", "0=i32[1]", "--timeout", 200, "--out", "0=old.npy", status=1)
    assert (ingot.folder / "old.npy").read_text() == "precious"


def test_info(ingot):
    out = ingot("info").stdout
    assert "Ingot" in out and "32 KiB" in out and "1024 x 1024 x 1024" in out
