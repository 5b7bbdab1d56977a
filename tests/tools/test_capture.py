# SPDX-License-Identifier: Apache-2.0
"""ingot capture, replay and diff: round trips bit for bit, programs that die, damaged files, a full disk."""
import hashlib
import json
import os
import pathlib
import random
import struct
import subprocess
import sys

import pytest

from conftest import ADD, BUILD

INGOT = BUILD / "bin" / "ingot"
SOURCE = pathlib.Path(__file__).resolve().parents[2]
ADD_ARGS = ["add", "--grid", 1000, "--group", 100, "--arg", "0=f32[1000]=iota", "--arg",
            "1=f32[1000]=fill:1", "--arg", "2=f32[1000]", "-q"]
SAME = "results are those of the capture"


def capture_add(ingot, name="t.ingottrace", value=1):
    ingot.write("a.metal", ADD)
    args = [str(a).replace("fill:1", f"fill:{value}") for a in ADD_ARGS]
    ingot("capture", "-q", "-o", name, INGOT, "run", "a.metal", *args)
    return ingot.folder / name


# ---- Round trips ----

EXAMPLES = ["argument_buffer", "heap", "indirect_commands", "indirect_rendering", "mesh_shader", "metal4_network",
            "metal4_render", "mipmaps", "msaa", "shared_event", "tessellation", "textured_cube", "tile_shading",
            "function_table", "vector_add", "ray_shadows", "cornell_box", "ambient_occlusion", "motion_blur"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_come_out_the_same(ingot, name):
    program = BUILD / "examples" / name
    if not program.exists():
        pytest.skip("built without examples")
    plain = subprocess.run([program], cwd=ingot.folder, env=ingot.env, capture_output=True, timeout=100)
    r = ingot("capture", program, "-o", "x.ingottrace", status=plain.returncode)
    assert " command" in r.stderr and "early" not in r.stderr
    assert SAME in ingot("replay", "--check", "x.ingottrace").stdout


@pytest.mark.parametrize("name", ["argument_buffer", "textured_cube", "indirect_rendering"])
def test_on_a_device_whose_memory_lies_elsewhere(ingot, name):
    program = BUILD / "examples" / name
    if not program.exists():
        pytest.skip("built without examples")
    ingot("capture", "-q", "-o", "x.ingottrace", program)
    assert SAME in ingot("replay", "--device", "isolated", "--check", "x.ingottrace").stdout


# ---- Captures of earlier versions ----

CAPTURES = pathlib.Path(__file__).parent / "captures"


def test_a_capture_of_version_1_replays(ingot):
    """What frame.c did before the records had schemas: dispatches, indirect ones, draws, copies, bit for bit."""
    old = CAPTURES / "version1.ingottrace"
    assert SAME in ingot("replay", "--check", old).stdout
    assert SAME in ingot("replay", "--device", "isolated", "--check", old).stdout


def test_the_same_program_is_captured_as_then(ingot):
    subprocess.run(["cc", "-O1", CAPTURES / "frame.c", "-o", "frame", f"-I{SOURCE / 'include'}", f"-L{BUILD / 'lib'}", "-lingot",
                    "-lz", "-lm", f"-Wl,-rpath,{BUILD / 'lib'}"], cwd=ingot.folder, check=True)
    ingot("capture", "-q", "-o", "now.ingottrace", "./frame")
    lists = [ingot("replay", "--list", path).stdout for path in (CAPTURES / "version1.ingottrace", "now.ingottrace")]
    assert lists[0] == lists[1] and "draw corner, lit 6 vertices, indexed" in lists[0]
    for path in (CAPTURES / "version1.ingottrace", "now.ingottrace"):
        ingot("replay", "-q", path, "--until", 10, "--save", f"result={pathlib.Path(path).stem}")
    assert (ingot.folder / "version1").read_bytes() == (ingot.folder / "now").read_bytes()


def test_objective_c(ingot):
    program = BUILD / "examples" / "objc" / "triangle"
    if not program.exists():
        pytest.skip("built without Objective-C")
    ingot("capture", "-q", "-o", "x.ingottrace", program)
    assert SAME in ingot("replay", "--check", "x.ingottrace").stdout
    assert "MTLRenderCommandEncoder" in ingot("replay", "--list", "x.ingottrace").stdout


# Inputs of 4 MiB that stay as they are are soon watched by the system instead of being read. Then they change after all: one
# word by the program, a part by a system call, a part by a command, the same by what was there already.
WATCHED = r"""
#include <ingot/metal.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
enum { N = 1 << 20 };
int main(void) {
    MTLDevice *device = mtl_create_system_default_device();
    MTLLibrary *library = mtl_device_new_library_with_source(device,
        "kernel void add(device uint *a [[buffer(0)]], device uint *sums [[buffer(1)]], constant uint &k [[buffer(2)]],\n"
        "                uint i [[thread_position_in_grid]]) { sums[i] = sums[i] * 3 + a[i] + k; }", NULL, NULL);
    MTLComputePipelineState *p =
        mtl_device_new_compute_pipeline_state(device, mtl_library_new_function(library, "add"), NULL);
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLBuffer *a = mtl_device_new_buffer(device, 4 * N, 0), *sums = mtl_device_new_buffer(device, 4 * N, 0);
    mtl_buffer_set_label(sums, "sums");
    unsigned *words = mtl_buffer_contents(a);
    for (unsigned i = 0; i < N; i++) words[i] = i * 2654435761u;
    for (unsigned k = 0; k < 40; k++) {
        MTLCommandBuffer *c = mtl_command_queue_command_buffer(queue);
        if (k == 10) words[700001]++;
        if (k == 15) {
            int fd = open("/proc/self/exe", O_RDONLY);
            if (read(fd, words + 5000, 9000) != 9000) return 1;
            close(fd);
        }
        if (k == 20) words[3] = words[3];
        if (k == 25) {
            MTLBlitCommandEncoder *b = mtl_command_buffer_blit_command_encoder(c);
            mtl_blit_command_encoder_fill_buffer(b, a, mtl_range_make(1 << 20, 4096), 7);
            mtl_blit_command_encoder_end_encoding(b);
        }
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(c);
        mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
        mtl_compute_command_encoder_set_buffer(e, a, 0, 0);
        mtl_compute_command_encoder_set_buffer(e, sums, 0, 1);
        mtl_compute_command_encoder_set_bytes(e, &k, 4, 2);
        mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(N, 1, 1), mtl_size_make(256, 1, 1));
        mtl_compute_command_encoder_end_encoding(e);
        mtl_command_buffer_commit(c);
        mtl_command_buffer_wait_until_completed(c);
        mtl_release(c);
    }
    FILE *f = fopen("sums", "wb");
    fwrite(mtl_buffer_contents(sums), 4, N, f);
    return fclose(f);
}
"""


def test_memory_that_is_not_read_again_until_it_is_written(ingot):
    ingot.write("w.c", WATCHED)
    subprocess.run(["cc", "-O1", "w.c", "-o", "w", f"-I{SOURCE / 'include'}", f"-L{BUILD / 'lib'}", "-lingot",
                    f"-Wl,-rpath,{BUILD / 'lib'}"], cwd=ingot.folder, check=True)
    ingot("capture", "-q", "-o", "w.ingottrace", "./w")
    assert SAME in ingot("replay", "--check", "w.ingottrace").stdout
    ingot("replay", "-q", "w.ingottrace", "--until", 40, "--save", "sums=again")
    assert (ingot.folder / "again").read_bytes() == (ingot.folder / "sums").read_bytes()


def test_steps_of_training_in_python(ingot):
    if not (BUILD / "python" / "ingot").exists():
        pytest.skip("built without Python")
    env = {"PYTHONPATH": str(BUILD / "python")}
    ingot("capture", "-q", "-o", "x.ingottrace", sys.executable, SOURCE / "examples/python/05_mlp_training.py",
          "--steps", 3, **env)
    assert SAME in ingot("replay", "--check", "x.ingottrace").stdout


PYMETAL = """
import pymetal as pm
device = pm.create_system_default_device()
buffer, queue = device.new_buffer(4096, 0), device.new_command_queue()
d = pm.CaptureDescriptor()
d.capture_object, d.destination = device, pm.CaptureDestination.GPUTraceDocument
d.output_url = "p.ingottrace"
pm.shared_capture_manager().start_capture(d)
commands = queue.command_buffer()
encoder = commands.blit_command_encoder()
encoder.fill_buffer(buffer, pm.Range(0, 4096), 7)
encoder.end_encoding()
commands.commit()
commands.wait_until_completed()
pm.shared_capture_manager().stop_capture()
"""


def test_capture_manager_of_pymetal(ingot):
    if not (BUILD / "python" / "pymetal").exists():
        pytest.skip("built without Python")
    ingot.write("p.py", PYMETAL)
    r = run(ingot, sys.executable, "p.py", MTL_CAPTURE_ENABLED="1", PYTHONPATH=str(BUILD / "python"))
    assert r.returncode == 0, r.stderr
    assert SAME in ingot("replay", "--check", "p.ingottrace").stdout
    assert "0: fill 4096 bytes" in ingot("replay", "--list", "p.ingottrace").stdout
    ingot("replay", "-q", "--save", "buffer 0=b.raw", "p.ingottrace")
    assert set((ingot.folder / "b.raw").read_bytes()) == {7}


MANAGER = r"""
#include <ingot/metal.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <signal.h>
static const char *source = "kernel void twice(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]])"
                            "{ x[i] *= 2; }";
int main(int argc, char **argv) {
    MTLDevice *device = mtl_create_system_default_device();
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLError *error = NULL;
    MTLLibrary *library = mtl_device_new_library_with_source(device, source, NULL, &error);
    MTLFunction *function = mtl_library_new_function(library, "twice");
    MTLComputePipelineState *state = mtl_device_new_compute_pipeline_state(device, function, &error);
    float ones[256];
    for (int i = 0; i < 256; i++) ones[i] = 1;
    MTLBuffer *buffer = mtl_device_new_buffer_with_bytes(device, ones, sizeof ones, 0);
    mtl_buffer_set_label(buffer, "numbers");
    MTLCaptureManager *manager = mtl_capture_manager_shared_capture_manager();
    MTLCaptureDescriptor d = {device, MTLCaptureDestinationGPUTraceDocument, argv[1]};
    for (int i = 0; i < 6; i++) {
        if (i == 2 && *argv[1] != '-' && !mtl_capture_manager_start_capture(manager, &d, &error)) {
            fprintf(stderr, "%s\n", mtl_error_localized_description(error));
            return 9;
        }
        if (i == 4) mtl_capture_manager_stop_capture(manager);
        MTLCommandBuffer *c = mtl_command_queue_command_buffer(queue);
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(c);
        mtl_compute_command_encoder_push_debug_group(e, "the group");
        mtl_compute_command_encoder_set_compute_pipeline_state(e, state);
        mtl_compute_command_encoder_set_buffer(e, buffer, 0, 0);
        mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(256, 1, 1), mtl_size_make(64, 1, 1));
        mtl_compute_command_encoder_pop_debug_group(e);
        mtl_compute_command_encoder_end_encoding(e);
        mtl_command_buffer_commit(c);
        mtl_command_buffer_wait_until_completed(c);
        mtl_release(c);
        if (argc > 2 && i == 4) raise(SIGKILL);
    }
    return 0;
}
"""


def compiled(folder, name, text):
    (folder / f"{name}.c").write_text(text)
    subprocess.run(["cc", "-o", folder / name, folder / f"{name}.c", "-I", SOURCE / "include",
                    f"-L{BUILD}/lib", "-lingot", f"-Wl,-rpath,{BUILD}/lib"], check=True)
    return folder / name


@pytest.fixture(scope="module")
def manager(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("manager"), "manager", MANAGER)


def run(ingot, *args, **env):
    return subprocess.run([*map(str, args)], cwd=ingot.folder, env={**ingot.env, **env}, capture_output=True,
                          timeout=100)


def read_floats(path):
    data = path.read_bytes()
    return struct.unpack(f"<{len(data) // 4}f", data)


def test_the_capture_manager_writes_the_part_it_is_told(ingot, manager):
    r = run(ingot, manager, "m.ingottrace", MTL_CAPTURE_ENABLED="1")
    assert r.returncode == 0, r.stderr
    assert "2 commands" in ingot("replay", "--check", "m.ingottrace").stdout
    listed = ingot("replay", "--list", "m.ingottrace").stdout
    assert "[the group]" in listed and "1: dispatch twice 256x1x1 by 64x1x1" in listed
    # Before it two were done: 4 is what the third began with.
    ingot("replay", "-q", "--until", 0, "--save", "numbers=n.raw", "m.ingottrace")
    assert set(read_floats(ingot.folder / "n.raw")) == {8.0}
    ingot("replay", "-q", "--until", 1, "--save", "numbers=n.raw", "m.ingottrace")
    assert set(read_floats(ingot.folder / "n.raw")) == {16.0}


# ---- Ray tracing ----

# Boxes, curves, motion, instances of instances, indirect ones, refits, compacted copies, intersection functions and tables: the
# programs that test them are captured.
@pytest.mark.parametrize("name", ["rays", "rays_instances", "rays_functions", "rays_shapes", "rays_stages"])
def test_ray_tracing_comes_out_the_same(ingot, name):
    program = BUILD / "tests" / "api" / f"test_api_{name}"
    if not program.exists():
        pytest.skip("built without ray tracing")
    ingot("capture", "-q", "-o", "x.ingottrace", program)
    r = ingot("replay", "--check", "x.ingottrace")
    assert SAME in r.stdout and "not hold" not in r.stdout + r.stderr
    assert "build acceleration structure: " in ingot("replay", "--list", "x.ingottrace").stdout


# A square is built, compacted and instanced; then its vertices are overwritten, and one more is refitted, before the capture: two
# dispatches of it are captured, and a refit between them.
BEFORE = r"""
#include <ingot/metal.h>
#include <stdio.h>
#include <string.h>
static const char *source =
    "#include <metal_raytracing>\nusing namespace metal; using namespace raytracing;\n"
    "struct Held { instance_acceleration_structure s; };\n"
    "kernel void look(constant Held &held [[buffer(0)]], primitive_acceleration_structure p [[buffer(1)]],\n"
    "                 device float *out [[buffer(2)]], uint i [[thread_position_in_grid]]) {\n"
    "    ray r(float3(i % 16 / 8.0f - 1, i / 16 / 8.0f - 1, -5), float3(0, 0, 1));\n"
    "    auto a = intersector<triangle_data, instancing>().intersect(r, held.s);\n"
    "    auto b = intersector<triangle_data>().intersect(r, p);\n"
    "    out[i] += (a.type == intersection_type::none ? -1 : a.distance)\n"
    "            + 100 * (b.type == intersection_type::none ? -1 : b.distance);\n"
    "}";
static MTLDevice *device;
static MTLCommandQueue *queue;
static MTLAccelerationStructure *make(const MTLAccelerationStructureDescriptor *d) {
    return mtl_device_new_acceleration_structure(
        device, mtl_device_acceleration_structure_sizes(device, d).acceleration_structure_size);
}
typedef enum { BUILD, REFIT, COMPACT } What;
static void command(What what, MTLAccelerationStructure *to, MTLAccelerationStructure *from,
                    const MTLAccelerationStructureDescriptor *d) {
    MTLCommandBuffer *c = mtl_command_queue_command_buffer(queue);
    MTLAccelerationStructureCommandEncoder *e = mtl_command_buffer_acceleration_structure_command_encoder(c);
    if (what == BUILD) mtl_acceleration_structure_command_encoder_build_acceleration_structure(e, to, d, NULL, 0);
    if (what == REFIT)
        mtl_acceleration_structure_command_encoder_refit_acceleration_structure(e, from, d, to, NULL, 0);
    if (what == COMPACT)
        mtl_acceleration_structure_command_encoder_copy_and_compact_acceleration_structure(e, from, to);
    mtl_acceleration_structure_command_encoder_end_encoding(e);
    mtl_command_buffer_commit(c);
    mtl_command_buffer_wait_until_completed(c);
    mtl_release(c);
}
static void put(MTLBuffer *b, float z) {
    const float corners[4][3] = {{-0.5f, -0.5f, z}, {0.5f, -0.5f, z}, {0.5f, 0.5f, z}, {-0.5f, 0.5f, z}};
    memcpy(mtl_buffer_contents(b), corners, sizeof corners);
}
int main(int argc, char **argv) {
    MTLError *error = NULL;
    device = mtl_create_system_default_device();
    queue = mtl_device_new_command_queue(device);
    MTLLibrary *library = mtl_device_new_library_with_source(device, source, NULL, &error);
    if (!library) return fprintf(stderr, "%s\n", mtl_error_localized_description(error)), 8;
    MTLComputePipelineState *state = mtl_device_new_compute_pipeline_state(
        device, mtl_library_new_function(library, "look"), &error);
    const uint16_t order[6] = {0, 1, 2, 0, 2, 3};
    MTLBuffer *corners = mtl_device_new_buffer(device, 1 << 20, 0), *out = mtl_device_new_buffer(device, 1024, 0),
              *indices = mtl_device_new_buffer_with_bytes(device, order, sizeof order, 0);
    mtl_buffer_set_label(out, "out");
    MTLAccelerationStructureGeometryDescriptor g = {.vertex_buffer = corners, .index_buffer = indices, .triangle_count = 2};
    MTLAccelerationStructureDescriptor d = {.geometry_descriptors = &g, .geometry_descriptor_count = 1,
                                            .usage = MTLAccelerationStructureUsageRefit};
    MTLAccelerationStructure *first = make(&d), *small = make(&d), *second = make(&d);
    put(corners, 1);
    command(BUILD, first, NULL, &d);
    command(COMPACT, small, first, NULL);
    command(BUILD, second, NULL, &d);
    MTLAccelerationStructureInstanceDescriptor where = {
        .transformation_matrix = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.25f, 0, 2}}}, .mask = 255};
    MTLBuffer *records = mtl_device_new_buffer_with_bytes(device, &where, sizeof where, 0);
    MTLAccelerationStructureDescriptor all = {.kind = MTLAccelerationStructureKindInstance,
        .instance_descriptor_buffer = records, .instance_count = 1,
        .instanced_acceleration_structures = &small, .instanced_acceleration_structure_count = 1};
    MTLAccelerationStructure *scene = make(&all);
    command(BUILD, scene, NULL, &all);
    put(corners, 3);
    command(REFIT, second, second, &d);
    put(corners, 50); // nobody is to see it
    memset(mtl_buffer_contents(records), 0, sizeof where);
    MTLResourceID id = mtl_acceleration_structure_gpu_resource_id(scene);
    MTLBuffer *held = mtl_device_new_buffer_with_bytes(device, &id, sizeof id, 0);
    MTLCaptureDescriptor to = {device, MTLCaptureDestinationGPUTraceDocument, argv[1]};
    if (!mtl_capture_manager_start_capture(mtl_capture_manager_shared_capture_manager(), &to, &error)) return 9;
    for (int i = 0; i < 2; i++) {
        MTLCommandBuffer *c = mtl_command_queue_command_buffer(queue);
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(c);
        mtl_compute_command_encoder_set_compute_pipeline_state(e, state);
        mtl_compute_command_encoder_set_buffer(e, held, 0, 0);
        mtl_compute_command_encoder_set_acceleration_structure(e, second, 1);
        mtl_compute_command_encoder_set_buffer(e, out, 0, 2);
        mtl_compute_command_encoder_use_resource(e, (MTLResource *)scene, MTLResourceUsageRead);
        mtl_compute_command_encoder_use_resource(e, (MTLResource *)small, MTLResourceUsageRead);
        mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(256, 1, 1), mtl_size_make(64, 1, 1));
        mtl_compute_command_encoder_end_encoding(e);
        mtl_command_buffer_commit(c);
        mtl_command_buffer_wait_until_completed(c);
        if (i == 0) put(corners, 7), command(REFIT, second, second, &d);
    }
    mtl_capture_manager_stop_capture(mtl_capture_manager_shared_capture_manager());
    FILE *file = fopen("out.raw", "wb");
    fwrite(mtl_buffer_contents(out), 1, 1024, file);
    return fclose(file);
}
"""


def test_structures_of_before_the_capture(ingot):
    if not (BUILD / "lib" / "libingot_rays.so").exists():
        pytest.skip("built without ray tracing")
    program = compiled(ingot.folder, "before", BEFORE)
    r = run(ingot, program, "b.ingottrace", MTL_CAPTURE_ENABLED="1")
    assert r.returncode == 0, r.stderr
    r = ingot("replay", "--check", "b.ingottrace")
    assert SAME in r.stdout and "not known" not in r.stdout + r.stderr
    listed = ingot("replay", "--list", "b.ingottrace").stdout
    assert "[built before the capture]" in listed and listed.count("build acceleration structure: 2 triangles") == 3
    assert "build acceleration structure: 1 instances of 1" in listed
    assert listed.count("refit acceleration structure: 2 triangles") == 1
    ingot("replay", "-q", "--save", "out=o.raw", "b.ingottrace")
    out = read_floats(ingot.folder / "o.raw")
    assert out == read_floats(ingot.folder / "out.raw")
    assert out[8 * 16 + 8] == (8 + 100 * 8) + (8 + 100 * 12) and out[0] == 2 * -101


def test_a_build_is_a_command_of_a_page(ingot):
    program = BUILD / "examples" / "motion_blur"
    if not program.exists():
        pytest.skip("built without examples, or without ray tracing")
    ingot("capture", "-q", "-o", "x.ingottrace", program)
    whole = json.loads(ingot("replay", "--json", "x.ingottrace").stdout)
    builds = [e for e in whole["events"] if e["event"] == "build acceleration structure"]
    assert builds and all("acceleration structure" in whole["resources"][b["structure"]["resource"]]["what"] for b in builds)
    assert any(g["primitives"] and int(g["elements"]["value"], 16) for b in builds for g in b.get("geometries", []))
    assert any(b.get("instances") for b in builds)
    assert all(b["what"].startswith("build acceleration structure: ") for b in builds)
    assert f"{whole['commands']} commands" in ingot("view", "x.ingottrace", "--html", "x.html").stdout


def test_a_program_that_is_not_allowed_gets_an_error(ingot, manager):
    r = run(ingot, manager, "m.ingottrace")
    assert r.returncode == 9 and b"MTL_CAPTURE_ENABLED" in r.stderr


def test_a_killed_program_leaves_whole_command_buffers(ingot, manager):
    r = ingot("capture", "-o", "k.ingottrace", manager, "-", "kill", status=137)
    assert "early" in r.stderr
    r = ingot("replay", "--check", "k.ingottrace")
    assert "5 commands" in r.stdout and SAME in r.stdout and "ends early" in r.stdout


# ---- Looking at it ----

def test_times_and_files(ingot):
    capture_add(ingot)
    r = ingot("replay", "--repeat", 3, "t.ingottrace")
    assert "dispatch add" in r.stdout and "in 3 turns" in r.stdout
    r = ingot("replay", "--until", 0, "t.ingottrace")
    assert "buffer 0" in r.stdout and "4000 bytes" in r.stdout
    sums = []
    for i in range(3):
        ingot("replay", "-q", "--until", 0, "--save", f"buffer {i}=b{i}.raw", "--save", f"buffer {i}@f32=b{i}.npy",
              "t.ingottrace")
        sums.append(read_floats(ingot.folder / f"b{i}.raw"))
        assert (ingot.folder / f"b{i}.npy").read_bytes()[:6] == b"\x93NUMPY"
    assert sorted(s[999] for s in sums) == [1.0, 999.0, 1000.0]


def test_json_has_arguments_by_name(ingot):
    capture_add(ingot)
    whole = json.loads(ingot("replay", "--json", "t.ingottrace").stdout)
    assert whole["commands"] >= 1 and len(whole["resources"]) == 3
    command = next(e for e in whole["events"] if e["event"] == "dispatch")
    arguments = command["kernel"]["arguments"]
    assert [a["name"] for a in arguments if a["kind"] == "buffer"] == ["a", "b", "c"]
    assert len({a["resource"] for a in arguments if a["kind"] == "buffer"}) == 3
    assert "kernel void add" in whole["sources"][0]["text"]


def test_pictures(ingot):
    program = BUILD / "examples" / "textured_cube"
    if not program.exists():
        pytest.skip("built without examples")
    ingot("capture", "-q", "-o", "x.ingottrace", program)
    listed = ingot("replay", "--list", "x.ingottrace").stdout
    last = [line.split(":")[0].strip() for line in listed.splitlines() if ": draw" in line][-1]
    objects = ingot("replay", "--until", last, "x.ingottrace").stdout
    pictures = [line.split(":")[0].split("'")[0].strip() for line in objects.splitlines()
                if line.startswith("texture") and "Depth" not in line]
    for i, picture in enumerate(pictures):
        ingot("replay", "-q", "--until", last, "--save", f"{picture}={i}.png", "x.ingottrace")
        assert (ingot.folder / f"{i}.png").read_bytes()[1:4] == b"PNG"


def test_wrong_command_lines(ingot):
    capture_add(ingot)
    assert "a program is required" in ingot("capture", status=2).stderr
    assert "a capture is required" in ingot("replay", status=2).stderr
    assert "two captures are required" in ingot("diff", "t.ingottrace", status=2).stderr
    assert "no command 99" in ingot("replay", "--until", 99, "t.ingottrace", status=1).stderr
    assert "no resource 'nobody'" in ingot("replay", "--save", "nobody=x", "t.ingottrace", status=1).stderr
    assert "No such file" in ingot("replay", "none.ingottrace", status=1).stderr
    assert "is no capture" in ingot("replay", "a.metal", status=1).stderr
    assert "plain file" in ingot("capture", "-o", "/dev/null", "true", status=1).stderr


# ---- Two of them ----

def test_diff_names_the_first_command(ingot):
    capture_add(ingot, "a.ingottrace")
    capture_add(ingot, "b.ingottrace")
    assert "the same results" in ingot("diff", "a.ingottrace", "b.ingottrace").stdout
    capture_add(ingot, "c.ingottrace", value=2)
    r = ingot("diff", "a.ingottrace", "c.ingottrace", status=1)
    assert "command 0 (dispatch add" in r.stdout and "element 0" in r.stdout
    assert "as float 1\n" in r.stdout and "as float 2\n" in r.stdout


# ---- Files that are not right ----

HEAD, CHUNK = 16, 64
COMMANDS_OF_RUN = 2


def chunks(data):
    """(place, kind, stored, raw, commands) of each chunk."""
    at, found = HEAD, []
    while at + CHUNK <= len(data):
        magic, kind, stored, raw, commands = struct.unpack_from("<IIQQQ", data, at)
        if magic != 0x4B484349:
            break
        found.append((at, kind, stored, raw, commands))
        at += CHUNK + stored
    return found


def one_line(result):
    text = result.stderr.strip()
    return text.count("\n") == 0 and text.startswith("ingot replay: ")


def test_truncated_anywhere(ingot, manager):
    ingot("capture", "-q", "-o", "k.ingottrace", manager, "-")
    data = (ingot.folder / "k.ingottrace").read_bytes()
    ends = [at + CHUNK + stored for at, kind, stored, _, _ in chunks(data) if kind == COMMANDS_OF_RUN]
    rng = random.Random(1)
    for cut in [0, 7, 15, 16, 40, *rng.sample(range(len(data)), 12), *ends[:3], len(data) - 1]:
        ingot.write("cut.ingottrace", data[:cut])
        whole = sum(1 for e in ends if e <= cut)
        p = ingot.start("replay", "--check", "cut.ingottrace")
        out, err = p.communicate(timeout=60)
        assert p.returncode in (0, 1), (cut, err)
        if p.returncode == 0:
            assert f" {min(whole, 6)} command".encode() in out, (cut, whole, out)
        else:
            assert whole == 0 and err.count(b"\n") == 1, (cut, whole, err)


def test_another_version(ingot):
    path = capture_add(ingot)
    data = bytearray(path.read_bytes())
    data[8] = 77
    path.write_bytes(data)
    assert "version 77" in ingot("replay", path, status=1).stderr


def flip(data, rng):
    """A byte anywhere is another."""
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def reseal(data, at, stored, commands, body):
    """Other events for a run, with a checksum that fits."""
    head = struct.pack("<IIQQQ", 0x4B484349, COMMANDS_OF_RUN, len(body), len(body), commands)
    # Without the index: it would say other lengths.
    index = [c[0] for c in chunks(data) if c[1] == 3]
    end = index[0] if index else len(data)
    data[:] = data[:at] + head + hashlib.sha256(body).digest() + body + data[at + CHUNK + stored:end]


def mutate_event(data, rng):
    """A byte of the events of a run is another, and the checksum fits: what is in them must be looked at."""
    runs = [c for c in chunks(data) if c[1] == COMMANDS_OF_RUN]
    at, _, stored, raw, commands = rng.choice(runs)
    body = bytes(data[at + CHUNK:at + CHUNK + stored])
    if stored != raw:
        body = subprocess.run(["zstd", "-dc"], input=body, capture_output=True, check=True).stdout
    body = bytearray(body)
    for _ in range(rng.randrange(1, 4)):
        i = rng.randrange(len(body))
        body[i] = rng.choice([0, 1, 0x7F, 0xFF, body[i] ^ 1, rng.randrange(256)])
    reseal(data, at, stored, commands, body)


def rename(data, old, new):
    """The same capture with other bytes, as many, in the events of its last run that has them."""
    for at, kind, stored, raw, commands in chunks(data):
        if kind != COMMANDS_OF_RUN:
            continue
        body = bytes(data[at + CHUNK:at + CHUNK + stored])
        if stored != raw:
            body = subprocess.run(["zstd", "-dc"], input=body, capture_output=True, check=True).stdout
        if old in body:
            reseal(data, at, stored, commands, body.replace(old, new))
            return
    raise AssertionError(old)


def test_names_of_a_file_do_not_reach_the_terminal(ingot):
    """Escape sequences and line ends in labels and names of functions are shown, not obeyed."""
    data = bytearray((CAPTURES / "version1.ingottrace").read_bytes())
    rename(data, b"picture", b"p\x1b[2J\nx")
    rename(data, b"texels", b"t\x1b[1m\r")
    ingot.write("names.ingottrace", bytes(data))
    listed = ingot("replay", "--list", "names.ingottrace").stdout
    assert "p\\x1b[2J\\x0ax" in listed
    objects = ingot("replay", "--until", 2, "names.ingottrace").stdout
    assert "t\\x1b[1m\\x0d" in objects
    assert not set(listed + objects) & set("\x1b\r\x07\x00")
    assert len(listed.splitlines()) == len(ingot("replay", "--list", CAPTURES / "version1.ingottrace").stdout.splitlines())


@pytest.mark.parametrize("how", [flip, mutate_event])
@pytest.mark.sample(24)
@pytest.mark.parametrize("seed", range(400))
def test_damage_is_one_clear_line(ingot, shared_captures, how, seed):
    rng = random.Random(seed)
    data = bytearray(rng.choice(shared_captures))
    how(data, rng)
    ingot.write("bad.ingottrace", bytes(data))
    p = ingot.start("replay", "--check", "--device", "isolated" if seed % 8 == 7 else "cpu", "bad.ingottrace",
                    INGOT_TIMEOUT_MS="3000")
    _, err = p.communicate(timeout=60)
    assert p.returncode in (0, 1), f"seed {seed}: {p.returncode} {err}"
    assert p.returncode == 0 or err.count(b"\n") == 1, f"seed {seed}: {err}"


@pytest.fixture(scope="module")
def shared_captures(tmp_path_factory, shared_cache):
    from conftest import Tool
    tool = Tool(tmp_path_factory.mktemp("captures"), shared_cache)
    found = [capture_add(tool).read_bytes()]
    for name in ("textured_cube", "argument_buffer", "mesh_shader"):
        if (BUILD / "examples" / name).exists():
            tool("capture", "-q", "-o", f"{name}.ingottrace", BUILD / "examples" / name)
            found.append((tool.folder / f"{name}.ingottrace").read_bytes())
    return found


def test_full_disk(ingot):
    """The program goes on; the file holds what fitted."""
    program = BUILD / "examples" / "vector_add"
    if not program.exists():
        pytest.skip("built without examples")
    limit = 10 << 20  # of each file: room for code, and not for two vectors of numbers
    r = ingot("capture", "-o", "f.ingottrace", "sh", "-c",
              f"trap '' XFSZ; ulimit -f {limit // 512}; exec {program}")
    assert (ingot.folder / "f.ingottrace").stat().st_size <= 2 * limit
    assert "File too large" in r.stderr, r.stderr  # what the system said, not a riddle
    for nowhere in ("/dev/full/f.ingottrace", "no/such/folder/f.ingottrace"):
        assert "cannot write" in ingot("capture", "-o", nowhere, program, status=1).stderr
