// SPDX-License-Identifier: Apache-2.0
// replay.c: captures on a device of the runtime: what a replay (src/devices/capture) asks of the
// compiler.
#include <stdio.h>
#include <stdlib.h>
#include "devices/capture/replay.h"
#include "runtime/inspect/replay.h"
#include "runtime/object/device.h"
#include "runtime/program/compiler_client.h"
#include "runtime/program/stage.h"

static Blob *compile(void *owner, const MslKernelRequest *q, Metallib *const *libraries,
                     CapCodeFor what, char why[CAP_WHY]) {
    const MTLDevice *device = owner;
    bool fast = what == CAP_FOR_SPEED && device->debug == MSL_DEBUG_FULL;
    RtLinks links = {.libraries = (Metallib **)(uintptr_t)(libraries + 1),
                     .n_libraries = q->n_parts,
                     .functions = (MslLinkedFunction *)(uintptr_t)q->linked,
                     .n_functions = q->n_linked,
                     .dynamic = (uint32_t *)(uintptr_t)q->dynamic,
                     .n_dynamic = q->n_dynamic,
                     .call_depth = q->call_depth};
    bool linked = q->n_parts || q->n_linked || q->n_dynamic;
    // As it was asked, but for this device, and without checks: who hears of them is not here.
    RtKernelRequest request = {.library = libraries[0],
                               .function = q->function,
                               .constants = q->constants,
                               .n_constants = q->n_constants,
                               .links = linked ? &links : NULL,
                               .vertex = q->vertex,
                               .shape = {q->shape[0], q->shape[1], q->shape[2]},
                               .width = fast ? 0 : device->width,
                               .target = device->facts.target,
                               .debug = fast ? MSL_DEBUG_NONE : device->debug,
                               .watch = rt_watch(device, false, false),
                               .reach = q->reach,
                               .tier = q->tier};
    RtCompileError error = {0};
    Blob *bytes = rt_compile_kernel(&request, &error);
    if (!bytes)
        snprintf(why, CAP_WHY, "%.*s", CAP_WHY - 1, error.log ? error.log : "out of memory");
    rt_compile_error_clear(&error);
    return bytes;
}

CapReplay *rt_replay_open(const Capture *capture, MTLDevice *device, char why[CAP_WHY]) {
    CapDevice d = {.table = device->table,
                   .context = device->context,
                   .limits = {.run_ms = atomic_load(&device->timeout_ms),
                              .step_ms = atomic_load(&device->step_ms)},
                   .compile = *device->facts.target ? compile : NULL,
                   .owner = device};
    return cap_replay_new(capture, &d, why);
}
