// SPDX-License-Identifier: Apache-2.0
// replay.c: captures on a device of the runtime: what a replay (src/devices/capture) asks of the
// compiler.
#include <stdio.h>
#include <stdlib.h>
#include "devices/capture/replay.h"
#include "abi/replay.h"
#include "runtime/object/device.h"
#include "runtime/program/compiler_client.h"
#include "runtime/program/stage.h"

static Blob *compile(void *owner, const MslKernelRequest *q, Metallib *const *libraries,
                     CapCodeFor what, char why[CAP_WHY]) {
    const MTLDevice *device = owner;
    bool fast = what == CAP_FOR_SPEED && device->debug == MSL_DEBUG_FULL;
    // As it was asked, but for this device, and without checks: who hears of them is not here.
    RtKernelQuery query = {.code = *q, .libraries = libraries};
    MslKernelRequest *code = &query.code;
    code->target = device->facts.target;
    code->cpu = code->features = code->emit = code->dump_after = NULL;
    code->width = fast ? 0 : device->width;
    code->debug = fast ? MSL_DEBUG_NONE : device->debug;
    code->validate = false;
    code->watch = rt_watch(device, false, false);
    RtCompileError error = {0};
    Blob *bytes = rt_compile_kernel(&query, &error);
    if (!bytes)
        snprintf(why, CAP_WHY, "%.*s", CAP_WHY - 1, error.log ? error.log : "out of memory");
    rt_compile_error_clear(&error);
    return bytes;
}

CapReplay *rt_replay_open(const Capture *capture, MTLDevice *device, char *why) {
    CapDevice d = {.table = device->table,
                   .context = device->context,
                   .limits = {.run_ms = atomic_load(&device->timeout_ms),
                              .step_ms = atomic_load(&device->step_ms)},
                   .compile = *device->facts.target ? compile : NULL,
                   .owner = device};
    return cap_replay_new(capture, &d, why);
}
