// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"
#include <dlfcn.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static RfType types[TY_N] = {
    [TY_FLOAT] = {.data_type = 3, .name = "float", .size = 4, .align = 4, .element = UINT32_MAX},
    [TY_UINT] = {.data_type = 33, .name = "uint", .size = 4, .align = 4, .element = UINT32_MAX},
    [TY_UINT2] = {.data_type = 34, .name = "uint2", .size = 8, .align = 8, .element = UINT32_MAX},
    [TY_UINT3] = {.data_type = 35, .name = "uint3", .size = 16, .align = 16, .element = UINT32_MAX},
    [TY_USHORT] = {.data_type = 41, .name = "ushort", .size = 2, .align = 2, .element = UINT32_MAX},
    [TY_USHORT2] =
        {.data_type = 42, .name = "ushort2", .size = 4, .align = 4, .element = UINT32_MAX},
    [TY_USHORT3] =
        {.data_type = 43, .name = "ushort3", .size = 8, .align = 8, .element = UINT32_MAX},
    [TY_BOOL] = {.data_type = 53, .name = "bool", .size = 1, .align = 1, .element = UINT32_MAX},
    [TY_PAIR] = {.data_type = 1, .name = "Pair", .size = 8, .align = 4, .element = UINT32_MAX},
};

const Way ways[] = {
    {1, false, NULL},     {32, true, NULL},     {32, false, NULL},       {16, true, NULL},
    {16, false, NULL},    {8, true, NULL},      {32, true, "x86-64-v3"}, {16, false, "x86-64-v3"},
    {32, true, "x86-64"}, {1, false, "x86-64"},
};
const size_t n_ways = sizeof ways / sizeof *ways;

static LLVMMemoryBufferRef assemble(const char *ir) {
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module;
    char *error = NULL;
    LLVMMemoryBufferRef text = LLVMCreateMemoryBufferWithMemoryRangeCopy(ir, strlen(ir), "fixture");
    if (LLVMParseIRInContext(context, text, &module, &error)) fail_msg("fixture: %s", error);
    LLVMMemoryBufferRef bitcode = LLVMWriteBitcodeToMemoryBuffer(module);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return bitcode;
}

MslKernel compile_fixture(const Fixture *f) {
    uint32_t reached[8]; // all constants
    assert_true(f->n_constants <= 8);
    for (uint32_t i = 0; i < f->n_constants; i++) reached[i] = i;
    RfFunction kernel = {.name = (char *)"k",
                         .symbol = (char *)"k",
                         .n_slots = f->n_slots,
                         .n_args = f->n_args,
                         .args = (RfArg *)f->args,
                         .n_constants = f->n_constants,
                         .constants = reached};
    RfLibrary lib = {.n_types = TY_N,
                     .types = types,
                     .n_functions = 1,
                     .functions = &kernel,
                     .n_constants = f->n_constants,
                     .constants = (RfConstant *)f->constants};
    LLVMMemoryBufferRef bitcode = assemble(f->ir);
    MslKernelRequest request = {.bitcode = (const unsigned char *)LLVMGetBufferStart(bitcode),
                                .bitcode_bytes = LLVMGetBufferSize(bitcode),
                                .reflection = &lib,
                                .function = f->function ? f->function : "k",
                                .constants = f->values,
                                .n_constants = f->n_values,
                                .shape = {f->shape[0], f->shape[1], f->shape[2]},
                                .cpu = f->cpu,
                                .width = f->width,
                                .emit = f->emit,
                                .dump_after = f->dump_after};
    MslKernel out;
    msl_backend(&request, &out);
    LLVMDisposeMemoryBuffer(bitcode);
    return out;
}

void expect_error(const Fixture *f, const char *part) {
    MslKernel k = compile_fixture(f);
    if (k.ok) fail_msg("compiled, but should fail with '%s'", part);
    if (!strstr(k.error, part)) fail_msg("error is '%s', should contain '%s'", k.error, part);
    assert_null(k.code);
    msl_kernel_free(&k);
}

// The descriptor stays open while the code is loaded: the loader takes equal paths for equal files.
static void *load_code(const MslKernel *k, int *kept) {
    int fd = *kept = memfd_create("kernel", MFD_CLOEXEC);
    assert_true(fd >= 0 && write(fd, k->code, k->code_bytes) == (ssize_t)k->code_bytes);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!so) fail_msg("dlopen: %s", dlerror());
    return so;
}

CpuKernelFn *load_kernel(const MslKernel *k, CpuKernelInfo *info) {
    int fd;
    void *so = load_code(k, &fd); // stays loaded until the test ends
    CpuKernelFn *run;
    *(void **)&run = dlsym(so, CPU_KERNEL_SYMBOL);
    const CpuKernelInfo *found = dlsym(so, CPU_KERNEL_INFO_SYMBOL);
    assert_true(run && found);
    *info = *found;
    return run;
}

void run_fixture(const Fixture *f, const uint32_t grid[3], const uint32_t group[3], void **slots,
                 uint32_t dynamic_bytes) {
    MslKernel k = compile_fixture(f);
    if (!k.ok) fail_msg("width %u, cpu %s: %s", f->width, f->cpu ? f->cpu : "host", k.error);
    int fd;
    void *so = load_code(&k, &fd);
    CpuKernelFn *run;
    *(void **)&run = dlsym(so, CPU_KERNEL_SYMBOL);
    const CpuKernelInfo *info = dlsym(so, CPU_KERNEL_INFO_SYMBOL);
    assert_non_null(info);
    assert_int_equal(info->abi, ABI_VERSION);
    assert_int_equal(info->n_slots, f->n_slots);
    CpuLaunch launch = {.args = slots};
    uint64_t n = 1;
    for (int d = 0; d < 3; d++) {
        launch.threads_per_grid[d] = grid[d];
        launch.group_size[d] = group[d];
        launch.groups_per_grid[d] = (grid[d] + group[d] - 1) / group[d];
        n *= launch.groups_per_grid[d];
    }
    size_t memory_bytes = (info->threadgroup_bytes + dynamic_bytes + 255) / 128 * 128;
    char *memory = aligned_alloc(128, memory_bytes);
    memset(memory, 0xa5, memory_bytes);
    uint64_t frame_bytes = info->frame_stride *
                           ((group[0] * group[1] * group[2] + ABI_SIMD_WIDTH - 1) / ABI_SIMD_WIDTH);
    char *frames = info->frame_stride ? aligned_alloc(128, frame_bytes) : NULL;
    if (frames) memset(frames, 0xa5, frame_bytes);
    run(&launch, 0, n / 2, memory, frames); // in two calls, as two workers would
    run(&launch, n / 2, n, memory, frames);
    free(memory);
    free(frames);
    dlclose(so);
    close(fd);
    msl_kernel_free(&k);
}

void run_all_ways(const Fixture *f, const uint32_t grid[3], const uint32_t group[3], void **slots,
                  uint32_t dynamic_bytes, void (*check)(const Way *, void **),
                  void (*reset)(void **)) {
    for (size_t w = 0; w < n_ways; w++) {
        Fixture one = *f;
        one.width = ways[w].width;
        one.cpu = ways[w].cpu;
        for (int d = 0; d < 3; d++) one.shape[d] = ways[w].shaped ? group[d] : 0;
        if (reset) reset(slots);
        run_fixture(&one, grid, group, slots, dynamic_bytes);
        check(&ways[w], slots);
    }
}
