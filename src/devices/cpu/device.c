// SPDX-License-Identifier: Apache-2.0
// device.c: the CPU device's table: this computer's processor, on the host's own memory. What it
// leaves out is done the host's way (devices/table/host.c).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "devices/cpu/cpu.h"
#include "devices/cpu/engine.h"
#include "devices/cpu/raster/raster.h"
#include "abi/requests.h"
#include "devices/cpu/texture/view_pool.h"
#include "devices/table/device.h"
#include "os/pool.h"

// "model name : Intel(R) Xeon(R) ..." of /proc/cpuinfo, blanks tidied.
static void read_name(char *name, size_t n_bytes) {
    snprintf(name, n_bytes, "Ingot CPU");
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (!file) return;
    char line[512];
    while (fgets(line, sizeof line, file)) {
        char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !value) continue;
        value += strspn(value, ": \t");
        value[strcspn(value, "\n")] = '\0';
        snprintf(name, n_bytes, "Ingot CPU (%.100s)", value);
        break;
    }
    fclose(file);
}

// As Apple's GPUs; kernels for devices with more of it can be tried here, too.
static uint32_t threadgroup_bytes(void) {
    enum { APPLE = 32768, MOST = 262144 };
    const char *wanted = getenv("INGOT_THREADGROUP_MEMORY");
    long bytes = wanted ? strtol(wanted, NULL, 10) : 0;
    return bytes > APPLE && bytes <= MOST ? (uint32_t)bytes : APPLE;
}

static void *open_cpu(unsigned index, DevFacts *facts, char *why, size_t why_bytes) {
    static char context; // there is one, and all it has are its threads
    (void)index;
    if (!os_pool_start()) {
        snprintf(why, why_bytes, "no thread could be started");
        return NULL;
    }
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    *facts = (DevFacts){
        .features = DEV_TEXTURES | DEV_RENDER | DEV_TENSORS | DEV_INDIRECT_COMMANDS |
                    DEV_FUNCTION_POINTERS | DEV_VALIDATION | DEV_VIEW_POOLS,
        .memory_bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0,
        .max_buffer_bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : SIZE_MAX / 4,
        .max_threads = 1024,
        .max_threadgroup_bytes = threadgroup_bytes(),
        .n_workers = os_pool_threads(),
        .unified_memory = true,
        .is_host = true,
        .target = MSL_TARGET_SELF,
        // What compute programs find out by asking for a family: SIMD-group functions and
        // reductions, simdgroup_matrix, bfloat, non-uniform threadgroups. Families that promise ray
        // tracing or mesh shading in hardware wait until those exist.
        .families = {.apple = 8, .mac = 2, .common = 3, .metal = 4}};
    read_name(facts->name, sizeof facts->name);
    // Programs read the generation out of the end of Apple's names ("applegpu_g14g" is of family
    // Apple8) and choose kernels by it: ours ends in that of the family that is promised.
    struct utsname host;
    snprintf(facts->architecture, sizeof facts->architecture, "ingot_%.40s_g%dg",
             uname(&host) == 0 ? host.machine : "cpu", facts->families.apple + 6);
    return &context;
}

static uint64_t take_views(void *context, size_t n) {
    (void)context;
    return cpu_view_pool_take(n);
}

static void give_views(void *context, uint64_t first, size_t n) {
    (void)context;
    cpu_view_pool_give(first, n);
}

static bool set_view(void *context, uint64_t id, const AbiTexture *record) {
    (void)context;
    *cpu_view_pool_slot(id) = *record;
    return true;
}

static const AbiTexture *view_at(void *context, uint64_t id) {
    (void)context;
    return (id & ~(ABI_VIEW_POOL_SLOTS - 1)) == ABI_TEXTURE_POOLED ? cpu_texture_of(id) : NULL;
}

static DevCode *load_code(void *context, const DevCodeSource *source, char *why, size_t why_bytes) {
    (void)context;
    DevCode *code = cpu_code_load(source->bytes, source->n_bytes, why, why_bytes);
    if (code) cpu_profile_code(code, source);
    return code;
}

static void free_code(DevCode *code) {
    if (!cpu_profiled) cpu_code_free(code); // its places are still to be named
}

const DevTable cpu_device = {
    .name = "cpu",
    .open = open_cpu,
    .views_take = take_views,
    .views_give = give_views,
    .view_set = set_view,
    .view_at = view_at,
    .code_load = load_code,
    .code_free = free_code,
    .run_begin = cpu_run_begin,
    .run_end = cpu_run_end,
    .dispatch = cpu_dispatch,
    .render = cpu_raster,
    .rays = cpu_rays,
    .mark = cpu_profile_mark,
};
