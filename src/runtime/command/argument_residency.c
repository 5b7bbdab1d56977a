// SPDX-License-Identifier: Apache-2.0
// argument_residency.c: a warning of the debug layer. Here every buffer is always resident, so a
// kernel may follow a pointer in an argument buffer that no use_resource announced; on a Mac that
// is a fault. At each dispatch the pointers that lie in its argument buffers now are looked up
// among the live buffers. Only the first level: what those point to again is not followed.
#include "runtime/memory/own_memory.h"
#include "runtime/command/argument_residency_int.h"
#include <stdio.h>
#include <string.h>
#include "runtime/program/argument_layout.h"
#include "runtime/memory/spans.h"
#include "runtime/object/validation.h"

enum { MAX_LOOKUPS = 512 }; // each walks the list of live buffers

typedef struct Lookup {
    const MTLCommandBuffer *commands;
    bool announced;
    const char *what;
    char label[96];
    MTLResource *resource; // retained; of Metal 4
} Lookup;

static bool noted(const MTLResource *resource, const MTLCommandBuffer *commands) {
    for (const MTLResource *r = resource; r; r = r->tracked)
        if (atomic_load_explicit(&r->mark, memory_order_relaxed) / 2 == commands->serial)
            return true;
    return false;
}

static void check_span(const RtSpan *span, void *context) {
    Lookup *l = context;
    const MTLResource *resource = span->resource;
    if (l->commands->recorder) {
        l->resource = mtl_retain((void *)(uintptr_t)resource);
        return;
    }
    l->announced = noted(resource, l->commands) ||
                   (resource->heap && noted((const MTLResource *)resource->heap, l->commands));
    l->what =
        strcmp(mtl_class_name(resource), "MTLTensor") == 0 ? "is tensor" : "points into buffer";
    snprintf(l->label, sizeof l->label, "%s", rt_label(&resource->label));
}

// False after a message: one is enough.
static bool check(const RtResidencyCheck *k, const RfArg *arg, const void *pointer) {
    Lookup l = {.commands = k->commands};
    if (!pointer || !rt_span_find(k->commands->device, pointer, check_span, &l) || l.announced)
        return true;
    if (l.resource) { // sets are known at commit
        bool ok = k->commands->recorder->use_through(k->commands, l.resource, arg->name);
        mtl_release(l.resource);
        return ok;
    }
    rt_misuse(k->commands->device, RT_RULE_argument_not_resident, k->call, "'%s' of '%s' %s '%s'",
              arg->name, k->stage->entry->name, l.what, l.label);
    return false;
}

// Where the host sees what is bound; NULL: nowhere, or nobody knows what it is.
static const char *host_of(const RtSlot *slot) {
    const MTLBuffer *b = slot->buffer;
    if (slot->table || slot->n_bytes >= SIZE_MAX >> 1) return NULL;
    if (!b) return slot->address; // bytes of the command buffer
    rt_show_memory(&b->resource);
    return b->contents ? (char *)b->contents + (slot->address - b->memory) : NULL;
}

static bool check_argument(const RtResidencyCheck *c, const RfArg *arg, const RtSlot *slot) {
    RtArgLayout layout;
    const char *host =
        rt_type_is_argument_buffer(rt_stage_library(c->stage), arg->type) ? host_of(slot) : NULL;
    if (!host || !rt_arg_layout_of_type(&layout, rt_stage_library(c->stage), arg->type))
        return true;
    bool ok = true;
    size_t n_left = MAX_LOOKUPS, size = layout.n_bytes ? layout.n_bytes : 1;
    for (size_t at = 0; ok && n_left && slot->n_bytes - at >= size; at += size)
        for (size_t i = 0; ok && n_left && i < layout.n; i++) {
            const RtArgLeaf *leaf = &layout.leaves[i];
            if (leaf->data_type != MTLDataTypePointer &&
                leaf->data_type != MTLDataTypeIndirectCommandBuffer &&
                leaf->data_type != MTLDataTypeTensor &&
                (leaf->data_type != MTLDataTypeTexture || !c->commands->recorder))
                continue;
            for (uint32_t k = 0; ok && n_left && k < leaf->n; k++, n_left--) {
                const void *pointer;
                memcpy(&pointer, host + at + leaf->offset + (size_t)k * leaf->stride,
                       sizeof pointer);
                ok = check(c, arg, pointer);
            }
        }
    rt_arg_layout_free(&layout);
    return ok;
}

void rt_check_residency(const RtResidencyCheck *k) {
    const MTLCommandBuffer *commands = k->commands;
    // Parts of parallel encoders overwrite each other's marks: they are left alone.
    if (commands->whole ||
        (!commands->recorder && (commands->unretained || commands->has_residency ||
                                 atomic_load(&commands->queue->has_residency))))
        return; // announced in other ways, which are not looked at
    for (uint32_t i = 0; i < k->stage->entry->n_args; i++) {
        const RfArg *arg = &k->stage->entry->args[i];
        if (arg->kind != RF_ARG_BUFFER || k->stage->arg_use[i] == RT_ARG_OFF) continue;
        for (uint32_t n = 0; n < arg->count && arg->index + n < RT_MAX_BUFFERS; n++)
            if (!check_argument(k, arg, &k->slots[arg->index + n])) return;
    }
}

void rt_warn_residency(MTLComputeCommandEncoder *e, const char *call) {
    rt_check_residency(&(RtResidencyCheck){.commands = e->encoder.buffer,
                                           .call = call,
                                           .stage = e->pipeline->stage,
                                           .slots = e->bound.slots});
}
