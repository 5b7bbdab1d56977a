// SPDX-License-Identifier: Apache-2.0
// rig.h: the CUDA device's table on the fake driver, and a command buffer's worth of calls to it.
#ifndef INGOT_TESTS_CUDA_RIG_H
#define INGOT_TESTS_CUDA_RIG_H
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "abi/cuda_kernel.h"
#include "abi/kernel.h"
#include "devices/cuda/driver.h"
#include "devices/table/device.h"
#include "fake.h"

extern const DevTable cuda_device;

static inline void *rig_open(DevFacts *facts) {
    char why[256] = "";
    DevFacts ignored;
    void *d = cuda_device.open(0, facts ? facts : &ignored, why, sizeof why);
    if (!d) fail_msg("no device: %s", why);
    return d;
}

// A kernel of the fake's with two slots: an address and a number.
static inline DevCode *rig_code_with(void *device, const char *name, const DevCache *cache,
                                     char why[256]) {
    static RfArg args[2] = {{.kind = RF_ARG_BUFFER, .count = 1, .slot = 0}};
    static RfFunction function = {.n_slots = 2, .args = args, .n_args = 1};
    char bytes[sizeof(CudaKernelInfo) + 128];
    CudaKernelInfo info = {.magic = CUDA_KERNEL_MAGIC, .abi = ABI_VERSION, .n_slots = 2};
    if (strstr(name, "constant")) info.n_constants = 1, info.constants[0] = 1 << 8;
    memcpy(bytes, &info, sizeof info);
    int n = snprintf(bytes + sizeof info, 128, "%s", name);
    DevCodeSource source = {.bytes = bytes,
                            .n_bytes = sizeof info + (size_t)n + 1,
                            .function = &function,
                            .cache = cache};
    return cuda_device.code_load(device, &source, why, 256);
}

static inline DevCode *rig_code(void *device, const char *name) {
    char why[256] = "", text[100];
    snprintf(text, sizeof text, "// fake: %s\n", name);
    DevCode *code = rig_code_with(device, text, NULL, why);
    if (!code) fail_msg("no code: %s", why);
    return code;
}

static inline DevMemory rig_memory(void *device, size_t n_bytes, DevStorage storage) {
    DevMemory m;
    assert_true(cuda_device.memory_make(device, n_bytes, storage, &m));
    return m;
}

static inline void rig_begin(DevRun *run, void *device, DevLimits limits) {
    memset(run, 0, sizeof *run);
    run->context = device;
    assert_true(cuda_device.run_begin(run, limits));
}

static inline bool rig_dispatch(DevRun *run, DevCode *code, const char *name, void *address,
                                uint64_t count) {
    void *args[2] = {address, (void *)(uintptr_t)count};
    DevDispatch d = {.code = code,
                     .args = args,
                     .threads_per_grid = {64, 1, 1},
                     .groups_per_grid = {1, 1, 1},
                     .group_size = {64, 1, 1}};
    atomic_store(&run->kernel, name);
    return cuda_device.dispatch(run, &d, 1);
}

// One command buffer that adds 1 to `count` ints from the memory's start on. Its fault.
static inline DevFault rig_add_one(void *device, DevCode *code, const DevMemory *m,
                                   uint64_t count) {
    DevRun run;
    rig_begin(&run, device, (DevLimits){0});
    cuda_device.use(&run, m, true);
    rig_dispatch(&run, code, "add_one", m->address, count);
    cuda_device.run_end(&run);
    return (DevFault)atomic_load(&run.fault);
}
#endif
