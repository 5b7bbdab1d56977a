// SPDX-License-Identifier: Apache-2.0
// scene.c: the life of scenes and of the records behind handles; the library's table.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "devices/cpu/rays/scene_int.h"

RTCDevice rays_device;

Scene *rays_scene_new(void) {
    Scene *scene = calloc(1, sizeof *scene);
    if (!scene) return NULL;
    atomic_init(&scene->count, 1);
    scene->n_keyframes = 1;
    scene->rtc = rtcNewScene(rays_device);
    if (scene->rtc) return scene;
    free(scene);
    return NULL;
}

Scene *rays_scene_hold(Scene *scene) {
    if (scene) atomic_fetch_add(&scene->count, 1);
    return scene;
}

void rays_scene_release(Scene *scene) {
    if (!scene || atomic_fetch_sub(&scene->count, 1) != 1) return;
    if (scene->rtc) rtcReleaseScene(scene->rtc);
    for (uint32_t i = 0; i < scene->n_geometries; i++) {
        free(scene->geometries[i].boxes);
        rays_caps_free(scene->geometries[i].caps);
    }
    for (uint32_t i = 0; i < scene->n_instances; i++) {
        rays_scene_release(scene->instances[i].scene);
        free(scene->instances[i].transforms);
        free(scene->instances[i].components);
    }
    free(scene->data);
    free(scene->geometries);
    free(scene->instances);
    free(scene);
}

void rays_put(uint64_t handle, Scene *scene) {
    rays_scene_release(atomic_exchange(&acceleration_of(handle)->scene, scene));
}

void rays_scene_measure(Scene *scene) {
    struct RTCBounds b;
    rtcGetSceneBounds(scene->rtc, &b);
    float x = b.upper_x - b.lower_x, y = b.upper_y - b.lower_y, z = b.upper_z - b.lower_z;
    scene->reach = 0.02f * (x + y + z); // NaN of an empty one: never near
}

// ---- Records that are alive ----

enum { N_BUCKETS = 4096 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Acceleration *live[N_BUCKETS]; // under lock

static Acceleration **place_of(uint64_t handle) {
    Acceleration **at = &live[(handle * 0x9e3779b97f4a7c15u) >> 52];
    while (*at && (*at)->handle != handle) at = &(*at)->next;
    return at;
}

Scene *rays_scene_behind(uint64_t handle) {
    pthread_mutex_lock(&lock);
    Acceleration *a = *place_of(handle);
    Scene *scene = a ? rays_scene_hold(atomic_load(&a->scene)) : NULL;
    pthread_mutex_unlock(&lock);
    return scene;
}

// ---- The device's table ----

static bool create_scene(void *context, uint64_t wanted, DevHandle *handle) {
    (void)context;
    Acceleration *a = wanted ? acceleration_of(wanted) : malloc(sizeof *a);
    if (!a) return false;
    static atomic_uint number;
    *a = (Acceleration){.handle = wanted ? wanted : abi_handle_of(a, atomic_fetch_add(&number, 1)),
                        .lent = wanted != 0};
    *handle = (DevHandle){.value = a->handle, .n_bytes = sizeof *a};
    pthread_mutex_lock(&lock);
    *place_of(handle->value) = a;
    pthread_mutex_unlock(&lock);
    return true;
}

static void free_handle(void *context, DevHandle *handle) {
    (void)context;
    if (!handle->value) return;
    Acceleration *a = acceleration_of(handle->value);
    pthread_mutex_lock(&lock);
    *place_of(handle->value) = a->next;
    pthread_mutex_unlock(&lock);
    rays_put(handle->value, NULL);
    if (!a->lent) free(a);
    *handle = (DevHandle){0};
}

// What Embree takes for a primitive, measured with room to spare; the numbers decide nothing but
// what a program reserves.
static DevRaySizes sizes(void *context, const DevRayBuild *build) {
    enum { HEAD = 1024, TRIANGLE = 160, OTHER = 128, INSTANCE = 256 };
    (void)context;
    uint64_t n = HEAD, count = 0;
    for (uint32_t i = 0; i < build->n_geometries; i++) {
        const DevGeometry *g = &build->geometries[i];
        uint64_t each = g->shape == DEV_TRIANGLES ? TRIANGLE : OTHER;
        n += HEAD + g->n_primitives * (each * build->n_keyframes + g->data_bytes);
        count += g->n_primitives;
    }
    if (build->instanced) n += (uint64_t)build->instances.n * INSTANCE, count = build->instances.n;
    n = (n + 255) & ~(uint64_t)255;
    return (DevRaySizes){n, (count * 32 + HEAD + 255) & ~(uint64_t)255, HEAD};
}

static bool build_scene(DevRun *run, uint64_t to, const DevRayBuild *build) {
    Scene *scene = build->instanced ? rays_build_instances(build) : rays_build_primitives(build);
    if (!scene) {
        dev_run_fail(run, DEV_FAULT_NO_MEMORY, 0);
        return false;
    }
    rays_put(to, scene);
    return true;
}

// A refit is a build: scenes do not change, since instances may hold them.
static bool refit(DevRun *run, uint64_t to, uint64_t from, const DevRayBuild *build) {
    (void)from;
    return build_scene(run, to, build);
}

static bool copy(DevRun *run, uint64_t to, uint64_t from) {
    (void)run;
    rays_put(to, rays_scene_behind(from));
    return true;
}

static uint64_t compacted(DevRun *run, uint64_t structure) {
    (void)run;
    const Scene *scene = scene_of(structure);
    return scene ? scene->n_bytes : 0;
}

static const void *data_of(void *context, uint64_t structure, uint64_t *n_bytes) {
    (void)context;
    const Scene *scene = scene_of(structure);
    *n_bytes = scene ? scene->n_data : 0;
    return scene ? scene->data : NULL;
}

__attribute__((visibility("default"))) CpuRaysFn ingot_rays;

const CpuRays *ingot_rays(char *why, size_t why_bytes) {
    static const CpuRays rays = {
        .abi = ABI_VERSION,
        .ops = {.trace = rays_trace, .path = rays_path, .transform = rays_transform},
        .table = {.make = create_scene,
                  .free = free_handle,
                  .sizes = sizes,
                  .build = build_scene,
                  .refit = refit,
                  .copy = copy,
                  .compacted = compacted,
                  .data = data_of},
    };
    if (!rays_device) rays_device = rtcNewDevice(NULL);
    if (rays_device) return &rays;
    snprintf(why, why_bytes, "Embree cannot be used: error %d", (int)rtcGetDeviceError(NULL));
    return NULL;
}
