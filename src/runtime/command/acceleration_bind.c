// SPDX-License-Identifier: Apache-2.0
// acceleration_bind.c: acceleration structures as arguments: bound at indices of buffers, read as
// handles. A kernel that reaches others through an instance structure finds them held by it.
#include "runtime/command/bindings.h"
#include "runtime/command/compute_validate.h"
#include "runtime/memory/acceleration.h"

bool rt_valid_acceleration(const RtSite *site, const MTLAccelerationStructure *structure,
                           const char *argument) {
    if (rt_is(structure, &rt_acceleration_class)) return true;
    rt_misuse_at(site, structure ? RT_RULE_wrong_class : RT_RULE_null_argument, "%s%s%s", argument,
                 structure ? " is a " : "", mtl_class_name(structure));
    return false;
}

void rt_bind_acceleration(RtBindings *b, const RtSite *site, MTLAccelerationStructure *structure,
                          size_t index) {
    if (index >= RT_MAX_BUFFERS)
        rt_misuse_at(site, RT_RULE_buffer_index, "index %zu", index);
    else if (!structure)
        b->slots[index] = (RtSlot){0};
    else if (rt_valid_acceleration(site, structure, "structure") &&
             rt_cb_use(site->commands, &structure->resource, false))
        b->slots[index] = (RtSlot){.acceleration = structure,
                                   .address = (char *)(uintptr_t)structure->handle.value,
                                   .n_bytes = structure->handle.n_bytes};
}

bool rt_take_accelerations(const RtTake *t, const RfArg *arg, bool required) {
    for (uint32_t k = 0; k < arg->count && arg->slot + k < t->stage->entry->n_slots; k++) {
        size_t index = (size_t)arg->index + k;
        const RtSlot *slot = index < RT_MAX_BUFFERS ? &t->from->slots[index] : NULL;
        // An argument table holds ids, which nobody has looked up.
        bool there =
            slot && slot->address &&
            (slot->acceleration || (!slot->buffer && !slot->table && slot->n_bytes == SIZE_MAX));
        t->args[arg->slot + k] = there ? slot->address : NULL;
        if (there || !required || arg->count != 1) continue;
        rt_misuse_at(t->site, RT_RULE_dispatch_missing_acceleration,
                     "'%s' needs an acceleration structure at buffer index %zu for '%s'",
                     t->stage->entry->name, index, arg->name);
        return false;
    }
    return true;
}

void mtl_compute_command_encoder_set_acceleration_structure(MTLComputeCommandEncoder *encoder,
                                                            MTLAccelerationStructure *structure,
                                                            size_t buffer_index) {
    if (!rt_valid_encoder(encoder, __func__)) return;
    MTLCommandBuffer *commands = encoder->encoder.buffer;
    rt_bind_acceleration(&encoder->bound, &(const RtSite){commands->device, commands, __func__},
                         structure, buffer_index);
}
