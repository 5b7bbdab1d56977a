// SPDX-License-Identifier: Apache-2.0
// bench_rays.c: ray tracing beside Embree itself, in one run and on one thread: a structure of a
// million triangles is built, and half a million rays are sent through it, coherent ones (a
// picture's) and incoherent ones. Ingot's rays come from a kernel that reads and writes buffers;
// Embree's from a loop of packets of 16. Prints milliseconds of processor time, and Ingot's speed
// in per cent of Embree's: medians of the rounds.
#include <embree3/rtcore.h>
#include <ingot/metal.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIDE = 708, N_TRIANGLES = 2 * (SIDE - 1) * (SIDE - 1), N_RAYS = 1 << 19, ROUNDS = 5 };

typedef struct Ray {
    float o[3], d[3];
} Ray;

static const char *const source =
    "#include <metal_stdlib>\n#include <metal_raytracing>\nusing namespace metal;\n"
    "using namespace metal::raytracing;\n"
    "struct Ray { packed_float3 o, d; };\n"
    "kernel void trace(primitive_acceleration_structure s [[buffer(0)]],\n"
    "    device const Ray *rays [[buffer(1)]], device float *out [[buffer(2)]],\n"
    "    uint i [[thread_position_in_grid]]) {\n"
    "    out[i] = intersector<>().intersect(ray(rays[i].o, rays[i].d), s).distance;\n"
    "}\n";

static float (*vertices)[3];
static uint32_t (*triangles)[3];
static Ray *rays;               // in a buffer of Metal's, which both read
static float distances[N_RAYS]; // Embree's

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static float next(void) {
    static uint32_t state = 1;
    state = state * 1664525u + 1013904223u;
    return (float)(state >> 8) * 0x1p-24f;
}

// Hills.
static void make_scene(void) {
    vertices = malloc(sizeof *vertices * SIDE * SIDE);
    triangles = malloc(sizeof *triangles * N_TRIANGLES);
    if (!vertices || !triangles) exit(1);
    for (int i = 0; i < SIDE * SIDE; i++) {
        float x = (float)(i % SIDE) / SIDE, z = (float)(i / SIDE) / SIDE;
        vertices[i][0] = x, vertices[i][2] = z;
        vertices[i][1] = 0.05f * sinf(40 * x) * cosf(30 * z) + 0.002f * next();
    }
    for (int i = 0; i < N_TRIANGLES; i++) {
        uint32_t at = (uint32_t)(i / 2 / (SIDE - 1) * SIDE + i / 2 % (SIDE - 1));
        triangles[i][0] = i % 2 ? at + 1 : at;
        triangles[i][1] = i % 2 ? at + SIDE + 1 : at + 1;
        triangles[i][2] = at + SIDE;
    }
}

static void aim(bool coherent) {
    for (int i = 0; i < N_RAYS; i++) {
        float x = (float)(i % 1024) / 1024, y = (float)(i / 1024) / 512;
        rays[i] = coherent ? (Ray){{0.5f, 0.5f, -0.3f}, {x - 0.5f, -0.7f * y, 1}}
                           : (Ray){{next(), 0.2f, next()}, {next() - 0.5f, -next(), next() - 0.5f}};
    }
}

// ---- Embree ----

static RTCScene embree_build(RTCDevice device) {
    RTCScene scene = rtcNewScene(device);
    RTCGeometry g = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
    memcpy(
        rtcSetNewGeometryBuffer(g, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 12, SIDE * SIDE),
        vertices, sizeof *vertices * SIDE * SIDE);
    memcpy(rtcSetNewGeometryBuffer(g, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 12, N_TRIANGLES),
           triangles, sizeof *triangles * N_TRIANGLES);
    rtcCommitGeometry(g);
    rtcAttachGeometry(scene, g);
    rtcReleaseGeometry(g);
    rtcSetSceneFlags(scene, RTC_SCENE_FLAG_ROBUST);
    rtcCommitScene(scene);
    return scene;
}

static void embree_trace(RTCScene scene, bool coherent) {
    struct RTCIntersectContext context;
    _Alignas(64) int valid[16];
    rtcInitIntersectContext(&context);
    if (coherent) context.flags = RTC_INTERSECT_CONTEXT_FLAG_COHERENT;
    for (int k = 0; k < 16; k++) valid[k] = -1;
    for (int i = 0; i < N_RAYS; i += 16) {
        _Alignas(64) struct RTCRayHit16 r;
        for (int k = 0; k < 16; k++) {
            const Ray *from = &rays[i + k];
            r.ray.org_x[k] = from->o[0], r.ray.org_y[k] = from->o[1], r.ray.org_z[k] = from->o[2];
            r.ray.dir_x[k] = from->d[0], r.ray.dir_y[k] = from->d[1], r.ray.dir_z[k] = from->d[2];
            r.ray.tnear[k] = 0, r.ray.tfar[k] = INFINITY, r.ray.time[k] = 0;
            r.ray.mask[k] = ~0u, r.ray.id[k] = 0, r.ray.flags[k] = 0;
            r.hit.geomID[k] = RTC_INVALID_GEOMETRY_ID;
        }
        rtcIntersect16(valid, scene, &context, &r);
        for (int k = 0; k < 16; k++)
            distances[i + k] = r.hit.geomID[k] == RTC_INVALID_GEOMETRY_ID ? 0 : r.ray.tfar[k];
    }
}

// ---- Ingot ----

typedef struct Ours {
    MTLDevice *device;
    MTLCommandQueue *queue;
    MTLComputePipelineState *state;
    MTLBuffer *vertices, *triangles, *rays, *out;
    MTLAccelerationStructure *structure;
} Ours;

static void finish(MTLCommandBuffer *commands) {
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    if (mtl_command_buffer_status(commands) != MTLCommandBufferStatusCompleted) exit(1);
    mtl_release(commands);
}

static void build(Ours *o) {
    MTLAccelerationStructureGeometryDescriptor g = {.vertex_buffer = o->vertices,
                                                    .index_buffer = o->triangles,
                                                    .index_type = MTLIndexTypeUInt32,
                                                    .triangle_count = N_TRIANGLES};
    MTLAccelerationStructureDescriptor d = {.geometry_descriptors = &g,
                                            .geometry_descriptor_count = 1};
    if (!o->structure)
        o->structure = mtl_device_new_acceleration_structure_with_descriptor(o->device, &d);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(o->queue);
    MTLAccelerationStructureCommandEncoder *e =
        mtl_command_buffer_acceleration_structure_command_encoder(commands);
    mtl_acceleration_structure_command_encoder_build_acceleration_structure(e, o->structure, &d,
                                                                            NULL, 0);
    mtl_acceleration_structure_command_encoder_end_encoding(e);
    finish(commands);
}

static void trace(Ours *o) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(o->queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, o->state);
    mtl_compute_command_encoder_set_acceleration_structure(e, o->structure, 0);
    mtl_compute_command_encoder_set_buffer(e, o->rays, 0, 1);
    mtl_compute_command_encoder_set_buffer(e, o->out, 0, 2);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(N_RAYS, 1, 1),
                                                 mtl_size_make(64, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    finish(commands);
}

static bool open_ours(Ours *o) {
    o->device = mtl_create_system_default_device();
    if (!o->device || !mtl_device_supports_raytracing(o->device)) return false;
    MTLLibrary *library = mtl_device_new_library_with_source(o->device, source, NULL, NULL);
    MTLFunction *f = mtl_library_new_function(library, "trace");
    o->state = mtl_device_new_compute_pipeline_state(o->device, f, NULL);
    o->queue = mtl_device_new_command_queue(o->device);
    o->vertices =
        mtl_device_new_buffer_with_bytes(o->device, vertices, sizeof *vertices * SIDE * SIDE, 0);
    o->triangles =
        mtl_device_new_buffer_with_bytes(o->device, triangles, sizeof *triangles * N_TRIANGLES, 0);
    o->rays = mtl_device_new_buffer(o->device, sizeof *rays * N_RAYS, 0);
    o->out = mtl_device_new_buffer(o->device, sizeof distances, 0);
    rays = mtl_buffer_contents(o->rays);
    mtl_release(f), mtl_release(library);
    return o->state && o->out;
}

// ---- Rows ----

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_row(const char *name, double (*t)[2]) {
    double ours[ROUNDS], theirs[ROUNDS], ratio[ROUNDS];
    for (int i = 0; i < ROUNDS; i++)
        ours[i] = t[i][0], theirs[i] = t[i][1], ratio[i] = t[i][1] / t[i][0];
    qsort(ours, ROUNDS, sizeof *ours, by_size);
    qsort(theirs, ROUNDS, sizeof *theirs, by_size);
    qsort(ratio, ROUNDS, sizeof *ratio, by_size);
    printf("%-32s %8.1f %8.1f %7.0f %%\n", name, 1e3 * ours[ROUNDS / 2], 1e3 * theirs[ROUNDS / 2],
           100 * ratio[ROUNDS / 2]);
}

int main(void) {
    Ours o = {0};
    double t[ROUNDS][2];
    setenv("INGOT_THREADS", "1", 1);
    make_scene();
    if (!open_ours(&o)) {
        printf("this device has no ray tracing\n");
        return 0;
    }
    RTCDevice device = rtcNewDevice("threads=1");
    RTCScene scene = NULL;
    printf("%-32s %8s %8s %9s\n", "processor time, ms", "Ingot", "Embree", "speed");
    for (int i = 0; i < ROUNDS; i++) {
        double a = seconds();
        build(&o);
        double b = seconds();
        if (scene) rtcReleaseScene(scene);
        scene = embree_build(device);
        t[i][0] = b - a, t[i][1] = seconds() - b;
    }
    print_row("build of 1 M triangles", t);
    for (int coherent = 1; coherent >= 0; coherent--) {
        aim(coherent);
        trace(&o); // the code for the shape
        for (int i = 0; i < ROUNDS; i++) {
            double a = seconds();
            trace(&o);
            double b = seconds();
            embree_trace(scene, coherent);
            t[i][0] = b - a, t[i][1] = seconds() - b;
        }
        print_row(coherent ? "512 K coherent rays" : "512 K incoherent rays", t);
        const float *ours = mtl_buffer_contents(o.out);
        int differ = 0;
        for (int i = 0; i < N_RAYS; i++) differ += !(fabsf(ours[i] - distances[i]) < 1e-3f);
        if (differ > N_RAYS / 1000) {
            printf("RESULTS DIFFER: %d rays\n", differ);
            return 1;
        }
    }
    rtcReleaseScene(scene);
    rtcReleaseDevice(device);
    mtl_release(o.structure), mtl_release(o.out), mtl_release(o.rays), mtl_release(o.triangles);
    mtl_release(o.vertices), mtl_release(o.state), mtl_release(o.queue), mtl_release(o.device);
    free(vertices), free(triangles);
    return 0;
}
