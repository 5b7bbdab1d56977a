// SPDX-License-Identifier: Apache-2.0
// cmd_info.c: `ingot info`: the devices and their limits, and what confines the compiler.
#include "apps/tools/tools.h"
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

static const CommandLine line = {
    .program = "ingot info",
    .usage = "",
    .about = "Lists the Metal devices of this machine with their limits, and how the compiler is "
             "sandboxed.",
};

static void print_bytes(const char *what, uint64_t n) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double v = (double)n;
    int u = 0;
    while (v >= 1024 && u < 4) {
        v /= 1024;
        u++;
    }
    printf("  %-34s %.4g %s\n", what, v, units[u]);
}

static void print_families(const MTLDevice *d) {
    static const struct {
        MTLGPUFamily family;
        const char *name;
    } families[] = {
        {MTLGPUFamilyApple1, "Apple1"},   {MTLGPUFamilyApple2, "Apple2"},
        {MTLGPUFamilyApple3, "Apple3"},   {MTLGPUFamilyApple4, "Apple4"},
        {MTLGPUFamilyApple5, "Apple5"},   {MTLGPUFamilyApple6, "Apple6"},
        {MTLGPUFamilyApple7, "Apple7"},   {MTLGPUFamilyApple8, "Apple8"},
        {MTLGPUFamilyApple9, "Apple9"},   {MTLGPUFamilyApple10, "Apple10"},
        {MTLGPUFamilyMac2, "Mac2"},       {MTLGPUFamilyCommon1, "Common1"},
        {MTLGPUFamilyCommon2, "Common2"}, {MTLGPUFamilyCommon3, "Common3"},
        {MTLGPUFamilyMetal3, "Metal3"},   {MTLGPUFamilyMetal4, "Metal4"},
    };
    printf("  %-34s", "families");
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (mtl_device_supports_family(d, families[i].family)) printf(" %s", families[i].name);
    putchar('\n');
}

static void print_device(const MTLDevice *d) {
    MTLSize m = mtl_device_max_threads_per_threadgroup(d);
    printf("%s\n", mtl_device_name(d));
    printf("  %-34s %s\n", "architecture", mtl_device_architecture_name(d));
    printf("  %-34s %zu\n", "worker threads", mtl_device_worker_count(d));
    printf("  %-34s %zu x %zu x %zu\n", "threads per threadgroup, at most", m.width, m.height,
           m.depth);
    print_bytes("threadgroup memory", mtl_device_max_threadgroup_memory_length(d));
    print_bytes("buffer length, at most", mtl_device_max_buffer_length(d));
    print_bytes("recommended working set", mtl_device_recommended_max_working_set_size(d));
    printf("  %-34s %s\n", "unified memory", mtl_device_has_unified_memory(d) ? "yes" : "no");
    printf("  %-34s %d\n", "argument buffers tier",
           (int)mtl_device_argument_buffers_support(d) + 1);
    print_families(d);
}

// The compiler says itself what keeps it in: it depends on the kernel.
static void print_compiler(void) {
    extern char **environ;
    char *path = find_compiler(), *argv[] = {path, "confinement", NULL};
    pid_t pid;
    int status = 1;
    printf("compiler\n  %-34s ", "confinement");
    fflush(stdout);
    if (path && !posix_spawnp(&pid, path, NULL, NULL, argv, environ)) waitpid(pid, &status, 0);
    if (status) puts("no compiler");
    free(path);
}

int cmd_info(int argc, char **argv) {
    int status = options_read(&line, NULL, argc, argv);
    if (status != OPTIONS_GO_ON) return status;
    MTLDevice *devices[16];
    size_t n = mtl_copy_all_devices(devices, 16);
    if (n > 16) n = 16;
    if (!n) return complain(EXIT_INPUT, "info", "no device");
    for (size_t i = 0; i < n; i++) {
        print_device(devices[i]);
        mtl_release(devices[i]);
    }
    print_compiler();
    return EXIT_FINE;
}
