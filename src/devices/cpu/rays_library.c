// SPDX-License-Identifier: Apache-2.0
// rays_library.c: libingot_rays, loaded from beside libingot when a program first asks for rays.
// Until then, and where it is missing, kernels' rays hit nothing.
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "devices/cpu/cpu.h"
#include "devices/cpu/rays/rays.h"

static const CpuRays *_Atomic loaded;
static char reason[256];

static void miss(uint64_t structure, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                 const uint32_t *rows, uint32_t *out) {
    (void)structure, (void)op, (void)mask, (void)rows;
    memset(out, 0, (size_t)n_lanes * CPU_PATH_RESULTS * sizeof *out); // kind, and all of a path
}

static void stand_still(uint64_t structure, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                        const uint32_t *rows, uint32_t *out) {
    (void)structure, (void)op, (void)mask, (void)rows;
    memset(out, 0, (size_t)n_lanes * CPU_TRANSFORM_RESULTS * sizeof *out);
}

const CpuRayOps *cpu_ray_ops(void) {
    static const CpuRayOps none = {.trace = miss, .path = miss, .transform = stand_still};
    const CpuRays *rays = atomic_load_explicit(&loaded, memory_order_acquire);
    return rays ? &rays->ops : &none;
}

// A library in the folder of the file that this function is in.
static void *open_beside(const char *name) {
    Dl_info info;
    char path[4096];
    if (!dladdr((void *)(uintptr_t)&reason, &info) || !info.dli_fname) return NULL;
    const char *slash = strrchr(info.dli_fname, '/');
    int folder = slash ? (int)(slash - info.dli_fname) : -1;
    if (folder < 0 ||
        snprintf(path, sizeof path, "%.*s/%s", folder, info.dli_fname, name) >= (int)sizeof path)
        return NULL;
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

// Embree is C++. The libraries of that language are the system's where it has them: a process has
// room for one of each name, and what else it loads may need a newer one than was installed along.
static void open_cxx(void) {
    static const char *const names[][2] = {{"libgcc_s.so.1", "ingot/fallback/libgcc_s.so.1"},
                                           {"libstdc++.so.6", "ingot/fallback/libstdc++.so.6"}};
    for (int i = 0; i < 2; i++)
        if (!dlopen(names[i][0], RTLD_NOW | RTLD_LOCAL)) open_beside(names[i][1]);
}

static void *open_library(void) {
    void *library = open_beside(CPU_RAYS_LIBRARY);
    if (library) return library;
    open_cxx();
    library = open_beside(CPU_RAYS_LIBRARY);
    return library ? library : dlopen(CPU_RAYS_LIBRARY, RTLD_NOW | RTLD_LOCAL);
}

static void load(void) {
    void *library = open_library();
    CpuRaysFn *start = NULL;
    if (library) *(void **)&start = dlsym(library, CPU_RAYS_SYMBOL);
    if (!start) {
        snprintf(reason, sizeof reason, "ray tracing is in " CPU_RAYS_LIBRARY ", and: %s",
                 dlerror());
        return;
    }
    const CpuRays *rays = start(reason, sizeof reason);
    if (rays && rays->abi == ABI_VERSION)
        atomic_store_explicit(&loaded, rays, memory_order_release);
    else if (rays)
        snprintf(reason, sizeof reason, CPU_RAYS_LIBRARY " is of another version");
}

const DevRays *cpu_rays(void *context, char *why, size_t why_bytes) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)context;
    pthread_once(&once, load);
    const CpuRays *rays = atomic_load_explicit(&loaded, memory_order_acquire);
    if (!rays) snprintf(why, why_bytes, "%s", reason);
    return rays ? &rays->table : NULL;
}
