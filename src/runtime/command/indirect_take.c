// SPDX-License-Identifier: Apache-2.0
// indirect_take.c: see indirect_take_int.h.
#include "runtime/command/indirect_take_int.h"
#include "os/zeros.h"
#include "runtime/object/validation.h"

// ---- Commands ----

bool rt_commands_set(RtCommands *to, const RtSite *site, MTLIndirectCommandBuffer *icb,
                     MTLRange range, const void *range_at) {
    *to = (RtCommands){icb, range, range_at};
    if (!rt_is(icb, &rt_indirect_class)) {
        rt_misuse_at(site, icb ? RT_RULE_wrong_class : RT_RULE_null_argument, "buffer %s",
                     mtl_class_name(icb));
        return false;
    }
    return (range_at || rt_indirect_valid_range(icb, site->commands, site->call, range)) &&
           rt_cb_use(site->commands, &icb->resource, false);
}

const char *rt_commands_range_at(const RtSite *site, MTLBuffer *buffer, size_t offset) {
    if (!rt_valid_place(site, buffer, "indirect_range_buffer", offset)) return NULL;
    if (offset % 4 != 0 ||
        buffer->length - offset < sizeof(MTLIndirectCommandBufferExecutionRange)) {
        rt_misuse_at(site, RT_RULE_indirect_offset, "offset %zu, length %zu", offset,
                     buffer->length);
        return NULL;
    }
    return rt_cb_use(site->commands, &buffer->resource, false) ? buffer->memory + offset : NULL;
}

bool rt_commands_visit(RtExecution *x, const RtCommands *commands, RtVisitCommand *visit,
                       void *context) {
    const AbiIndirectHead *head = &commands->icb->head;
    MTLRange range = commands->range;
    if (commands->range_at) {
        MTLIndirectCommandBufferExecutionRange r;
        if (!rt_execution_read(x, &r, commands->range_at, sizeof r)) return false;
        size_t first = r.location < head->n_commands ? r.location : head->n_commands;
        size_t left = head->n_commands - first;
        range = mtl_range_make(first, r.length < left ? r.length : left);
    }
    if (!range.length) return true;
    void *copies;
    char *records = (char *)rt_execution_commands(x, commands->icb, range, &copies);
    bool ok = records != NULL;
    for (size_t i = 0; ok && i < range.length; i++)
        ok = visit(context, range.location + i,
                   (AbiIndirectCommand *)(void *)(records + i * head->stride));
    rt_free(copies);
    return ok;
}

bool rt_commands_fail(RtExecution *x, const RtCommands *commands, size_t index, const char *what) {
    if (!x->error && *what)
        x->error = rt_error_new(MTLCommandBufferErrorDomain, MTLCommandBufferErrorInvalidResource,
                                "Command %zu of indirect command buffer '%s' %s.", index,
                                rt_label(&commands->icb->resource.label), what);
    x->error = x->error ? x->error : rt_error_no_memory();
    return false;
}

// ---- Arguments ----

static const char *take_buffer(const RtIndirectTake *t, const RfArg *arg, uint32_t k,
                               bool required) {
    const MTLDevice *device = t->stage->device;
    const RfLibrary *lib = rt_stage_library(t->stage);
    const RfType *type = arg->type < lib->n_types ? &lib->types[arg->type] : NULL;
    RtIndirectBuffer b = t->buffer(t->command, (size_t)arg->index + k);
    const uint32_t slot = arg->slot + k;
    if (!b.address && required && !rt_tolerates(device, t->missing_buffer))
        return "lacks a buffer its function needs";
    if (type && type->align >= 16 && (uintptr_t)b.address % type->align != 0 &&
        !rt_tolerates(device, RT_RULE_dispatch_offset_alignment))
        return "has a buffer that is not aligned for its argument";
    t->args[slot] = b.address || !required ? b.address : os_zeros();
    if (t->lengths) t->lengths[slot] = b.n_bytes;
    const size_t whole = rt_short_of(t->stage, arg, b.n_bytes);
    if (!whole || !b.address || !t->alloc) return NULL;
    // Code may read a constant as a whole: what is missing of it is 0.
    char *copy = t->alloc(t->command, whole);
    if (!copy || !rt_execution_read(t->x, copy, b.address, b.n_bytes)) return "";
    t->args[slot] = copy;
    if (t->lengths) t->lengths[slot] = whole;
    return NULL;
}

// An offset in the threadgroup memory, behind what is there already.
static const char *take_memory(RtIndirectTake *t, const RfArg *arg, bool required) {
    const size_t most = RT_MAX_THREADGROUP_MEMORY;
    size_t n = t->memory(t->command, arg->index);
    if (n % 16 != 0 && n <= most &&
        rt_tolerates(t->stage->device, RT_RULE_threadgroup_memory_multiple))
        n = (n + 15) & ~(size_t)15;
    if (n == 0 && required) return "lacks a length of threadgroup memory its function needs";
    if (n % 16 != 0) return "has a length of threadgroup memory that is no multiple of 16";
    if (n > t->memory_left) return "needs more threadgroup memory than there is";
    t->memory_left -= n;
    t->args[arg->slot] = (void *)(uintptr_t)t->threadgroup_bytes;
    if (t->lengths) t->lengths[arg->slot] = n;
    t->threadgroup_bytes += (n + t->memory_align - 1) & ~(t->memory_align - 1);
    return NULL;
}

static bool is_set_elsewhere(const RfArg *arg) { // by the pipeline or the device
    return arg->kind == RF_ARG_BUILTIN || arg->kind == RF_ARG_IMAGEBLOCK ||
           arg->kind >= RF_ARG_PAYLOAD;
}

const char *rt_indirect_take(RtIndirectTake *t) {
    const RfFunction *f = t->stage->entry;
    const char *wrong = NULL;
    for (uint32_t a = 0; a < f->n_args && !wrong; a++) {
        const RfArg *arg = &f->args[a];
        const bool required = t->stage->arg_use[a] == RT_ARG_REQUIRED;
        if (!rt_stage_takes(t->stage, a)) continue;
        if (arg->kind == RF_ARG_BUFFER) {
            for (uint32_t k = 0; k < arg->count && arg->slot + k < f->n_slots && !wrong; k++)
                wrong = take_buffer(t, arg, k, required);
        } else if (arg->kind == RF_ARG_THREADGROUP && t->memory) {
            wrong = take_memory(t, arg, required);
        } else if (required && !is_set_elsewhere(arg)) {
            wrong = "has a function with arguments that indirect commands cannot set";
        }
    }
    return wrong;
}
