// SPDX-License-Identifier: Apache-2.0
// msl_runner.c: runs code objects of one kernel, the first of which is the reference (--width 1),
// on the same memory and grid, and compares all memory.  msl_runner X,Y,Z REFERENCE.so OTHER.so ...
// The grid is three by two by two threadgroups, those at the far edges cut.
// Code that checks its accesses (mslc build --validate) must find nothing wrong, and runs once more
// with buffers that are said to be shorter than they are: what lies behind must not change.
#include "abi/cpu_kernel.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 1 << 16, BUFFERS = 5, STACKS = 64 << 20 };
typedef struct Memory {
    uint32_t b[BUFFERS][WORDS];
} Memory;
static Memory start, expected, got;

static uint32_t seed = 99;
static uint32_t rnd(void) { return (seed = seed * 1664525u + 1013904223u) >> 8; }

static uint64_t lengths[BUFFERS + 1], n_reports;
static AbiReport first_report;
static void note(const CpuLaunch *launch, const AbiReport *report) {
    (void)launch;
    if (!n_reports++) first_report = *report;
}

static int run(const char *path, const uint32_t *shape, Memory *m, uint32_t *flags) {
    void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!so) {
        printf("%s\n", dlerror());
        return 0;
    }
    void *symbol = dlsym(so, CPU_KERNEL_SYMBOL);
    const CpuKernelInfo *info = dlsym(so, CPU_KERNEL_INFO_SYMBOL);
    if (!symbol || !info) return 0;
    CpuKernelFn *kernel;
    memcpy(&kernel, &symbol, sizeof kernel);
    int32_t sizes[4] = {64, (int32_t)shape[0] * 7 / 4 + 3, (int32_t)shape[1] * 3 / 2 + 5, 0};
    void *args[BUFFERS + 1];
    for (int i = 0; i < BUFFERS; i++) args[i] = m->b[i];
    args[BUFFERS] = sizes;
    CpuLaunch launch = {.args = args, .lengths = lengths, .report = note};
    uint64_t n = 1;
    for (int d = 0; d < 3; d++) {
        launch.group_size[d] = shape[d];
        launch.groups_per_grid[d] = d ? 2 : 3;
        launch.threads_per_grid[d] = launch.groups_per_grid[d] * shape[d] - shape[d] / 3;
        n *= launch.groups_per_grid[d];
    }
    char *memory = aligned_alloc(4096, 65536), *frames = aligned_alloc(4096, STACKS);
    memset(memory, 0, 65536);
    kernel(&launch, 0, n, memory + CPU_THREADGROUP_MARGIN, frames);
    *flags = info->flags;
    free(memory);
    free(frames);
    return 1;
}

// With short buffers: the number of words behind them that changed.
static size_t run_short(const char *path, const uint32_t *shape) {
    size_t bad = 0;
    uint32_t flags;
    got = start;
    for (int i = 0; i < BUFFERS; i++) lengths[i] = (rnd() & 4095) + 1;
    if (!run(path, shape, &got, &flags)) return 1;
    for (size_t i = 0; i < (size_t)BUFFERS * WORDS; i++)
        if (i % WORDS * 4 >= lengths[i / WORDS] &&
            got.b[i / WORDS][i % WORDS] != start.b[i / WORDS][i % WORDS])
            bad++;
    for (int i = 0; i < BUFFERS; i++) lengths[i] = sizeof start.b[i];
    return bad;
}

int main(int argc, char **argv) {
    uint32_t shape[3], flags;
    for (int i = 0; i < BUFFERS; i++) lengths[i] = sizeof start.b[i];
    lengths[BUFFERS] = 16;
    if (argc < 3 || sscanf(argv[1], "%u,%u,%u", &shape[0], &shape[1], &shape[2]) != 3) return 2;
    for (int i = 0; i < WORDS; i++) {
        for (int k = 0; k < 2; k++) {
            float f = (float)(rnd() & 2047) / 64 - 8;
            memcpy(&start.b[k][i], &f, 4);
        }
        uint32_t r = rnd() << 8 | (rnd() & 255);
        start.b[3][i] = r >> (r >> 28 & 1 ? 7 : 20);
        start.b[4][i] = rnd() & 0x7fffff;
    }
    expected = start;
    if (!run(argv[2], shape, &expected, &flags)) return 2;
    int bad = 0;
    for (int k = 3; k < argc; k++) {
        got = start;
        n_reports = 0;
        if (!run(argv[k], shape, &got, &flags)) return 2;
        size_t n_bad = 0, first = 0;
        if (n_reports) {
            bad = 1;
            printf(
                "REPORT %s: %llu, first: access %u of %u bytes, space %u, slot %u, offset %lld of "
                "%llu\n",
                argv[k], (unsigned long long)n_reports, first_report.access, first_report.n_bytes,
                first_report.space, first_report.slot, (long long)first_report.offset,
                (unsigned long long)first_report.length);
        }
        for (size_t i = 0; i < (size_t)BUFFERS * WORDS; i++) {
            uint32_t x = expected.b[i / WORDS][i % WORDS], y = got.b[i / WORDS][i % WORDS];
            if (x == y) continue;
            if (i < 3 * WORDS && (x & 0x7fffffff) > 0x7f800000 && (y & 0x7fffffff) > 0x7f800000)
                continue;
            if (!n_bad++) first = i;
        }
        if (n_bad) {
            bad = 1;
            printf("DIFF %s: %zu words, first buffer %zu word %zu: expected %08x got %08x\n",
                   argv[k], n_bad, first / WORDS, first % WORDS,
                   expected.b[first / WORDS][first % WORDS], got.b[first / WORDS][first % WORDS]);
        }
        size_t behind = flags & CPU_KERNEL_VALIDATE ? run_short(argv[k], shape) : 0;
        if (behind) bad = 1, printf("SHORT %s: %zu words changed\n", argv[k], behind);
    }
    return bad;
}
