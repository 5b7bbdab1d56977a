// SPDX-License-Identifier: Apache-2.0
// run_code.c: runs one code object on arrays, for test_exec.py, where Python is of another machine
// than the code. usage: run_code CODE.so REQUEST RESULT
//
// The request: words grid[3], group[3], at_end, n_arrays, n_memory (32 bits); for each array its
// length (64 bits) and its bytes; the lengths of the threadgroup arguments (64 bits each). Arrays
// lie between pages that nobody may touch, at the end of the room or at its start. The result: the
// number of reports of checked accesses (64 bits), then the bytes of all arrays.
#include "abi/cpu_kernel.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX = 32, ALIGN = 128 };

static uint64_t n_reports;

static void die(const char *what) {
    fprintf(stderr, "run_code: %s\n", what);
    exit(1);
}

static void take(FILE *file, void *to, size_t n_bytes) {
    if (fread(to, 1, n_bytes, file) != n_bytes) die("the request is too short");
}

static void note_report(const CpuLaunch *launch, const AbiReport *report) {
    (void)launch, (void)report;
    n_reports++;
}

static void *between_pages(size_t n_bytes, int at_end) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (n_bytes + page - 1) / page * page;
    char *base = mmap(NULL, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED || mprotect(base + page, room, PROT_READ | PROT_WRITE))
        die("out of memory");
    return base + page + (at_end ? room - n_bytes : 0);
}

typedef struct Request {
    uint32_t grid[3], group[3], at_end, n_arrays, n_memory;
} Request;

static void run(const char *path, const Request *r, void **slots, uint64_t *lengths) {
    void *code = dlopen(path, RTLD_NOW);
    if (!code) die(dlerror());
    const CpuKernelInfo *info = dlsym(code, CPU_KERNEL_INFO_SYMBOL);
    void *symbol = dlsym(code, CPU_KERNEL_SYMBOL);
    CpuKernelFn *kernel;
    memcpy(&kernel, &symbol, sizeof kernel);
    if (!info || !kernel || info->n_slots > MAX) die("not the code of a kernel");
    uint64_t dynamic = 0, groups = 1, threads = 1;
    for (uint32_t i = r->n_arrays; i < r->n_arrays + r->n_memory; i++) {
        slots[i] = (void *)(uintptr_t)(info->threadgroup_bytes + dynamic);
        dynamic += (lengths[i] + 15) / 16 * 16;
    }
    CpuLaunch launch = {.args = slots, .lengths = lengths, .report = note_report};
    for (int d = 0; d < 3; d++) {
        launch.threads_per_grid[d] = launch.grid_size[d] = r->grid[d];
        launch.group_size[d] = r->group[d];
        launch.groups_per_grid[d] = (r->grid[d] + r->group[d] - 1) / r->group[d];
        groups *= launch.groups_per_grid[d];
        threads *= r->group[d];
    }
    size_t local = (info->threadgroup_bytes + dynamic + ALIGN - 1) / ALIGN * ALIGN +
                   2 * CPU_THREADGROUP_MARGIN,
           frames = info->frame_stride * ((threads + 31) / 32);
    size_t n_bytes = local + (frames + ALIGN) / ALIGN * ALIGN;
    char *memory = aligned_alloc(ALIGN, n_bytes);
    if (!memory) die("out of memory");
    memset(memory, 0xa5, n_bytes);
    char *own = memory + CPU_THREADGROUP_MARGIN;
    kernel(&launch, 0, groups / 2, own, frames ? memory + local : NULL);
    kernel(&launch, groups / 2, groups, own, frames ? memory + local : NULL);
    free(memory);
}

int main(int argc, char **argv) {
    void *slots[MAX] = {0};
    uint64_t lengths[MAX] = {0};
    Request r;
    if (argc != 4) die("usage: run_code CODE.so REQUEST RESULT");
    FILE *file = fopen(argv[2], "rb");
    if (!file) die("no request");
    take(file, &r, sizeof r);
    if (r.n_arrays + r.n_memory > MAX) die("too many arguments");
    for (uint32_t i = 0; i < r.n_arrays; i++) {
        take(file, &lengths[i], sizeof lengths[i]);
        slots[i] = between_pages(lengths[i], (int)r.at_end);
        take(file, slots[i], lengths[i]);
    }
    take(file, lengths + r.n_arrays, r.n_memory * sizeof *lengths);
    fclose(file);
    run(argv[1], &r, slots, lengths);
    file = fopen(argv[3], "wb");
    if (!file || !fwrite(&n_reports, sizeof n_reports, 1, file)) die("no result");
    for (uint32_t i = 0; i < r.n_arrays; i++)
        if (fwrite(slots[i], 1, lengths[i], file) != lengths[i]) die("no result");
    return fclose(file) ? 1 : 0;
}
