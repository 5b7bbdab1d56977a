// SPDX-License-Identifier: Apache-2.0
// reports.c: what checked kernels report (MTL_SHADER_VALIDATION). A kernel reports once for each
// thread and access; only the first of each site is kept, with a count. Messages are formatted at
// the end: a report may be made on a small stack (reference code).
#include "runtime/command/checked.h"
#include "runtime/inspect/inspect_int.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/object/validation.h"
#include "runtime/program/render_pipeline.h"

enum { MAX_REPORTS = 256, MAX_TEXT = 1024 };

struct MTLFunctionLog {
    RtObject object;
    struct MTLFunctionLog *next;
    AbiReport report; // of the first thread
    uint64_t count;
    MTLFunction *function; // retained
    char *encoder_label, *buffer_label, *text;
};

// ---- Reports ----

static void log_destroy(void *self) {
    MTLFunctionLog *log = self;
    mtl_release(log->function);
    rt_free(log->encoder_label);
    rt_free(log->buffer_label);
    rt_free(log->text);
    rt_free(log);
}

static RT_CLASS function_log_class = {.name = "MTLFunctionLog", .destroy = log_destroy};

static bool same_place(const MTLFunctionLog *log, const AbiReport *r, const MTLFunction *f) {
    const AbiReport *o = &log->report;
    return log->function == f && o->access == r->access && o->space == r->space &&
           o->slot == r->slot && o->n_bytes == r->n_bytes && o->line == r->line &&
           o->column == r->column && o->other.line == r->other.line &&
           o->other.column == r->other.column;
}

static MTLFunctionLog *new_log(const AbiReport *r, const RtValidated *what) {
    MTLFunctionLog *log = rt_new(&function_log_class, sizeof *log);
    if (!log) return NULL;
    log->report = *r;
    log->function = mtl_retain(what->function);
    log->encoder_label = rt_strdup(what->encoder ? rt_label(&what->encoder->label) : "");
    const MTLBuffer *buffer = NULL;
    // Of a device in a process of its own the numbers are anybody's.
    if (r->space == ABI_SPACE_BUFFER && r->slot < what->n_buffers) buffer = what->buffers[r->slot];
    log->buffer_label = buffer ? rt_strdup(rt_label(&buffer->resource.label)) : NULL;
    return log;
}

void rt_report_from_kernel(void *context, void *dispatch, const AbiReport *r) {
    MTLCommandBuffer *buffer = context;
    const RtValidated *what = dispatch;
    pthread_mutex_lock(&buffer->queue->lock);
    MTLFunctionLog **at = &buffer->logs;
    AbiReport turned;
    bool has_turned = rt_turn_race(r, &turned); // the same pair of lines the other way round
    while (*at && !same_place(*at, r, what->function) &&
           !(has_turned && same_place(*at, &turned, what->function)))
        at = &(*at)->next;
    if (!*at && buffer->n_logs < MAX_REPORTS) {
        *at = new_log(r, what);
        buffer->n_logs += *at != NULL;
    }
    if (*at) (*at)->count += r->count ? r->count : 1;
    pthread_mutex_unlock(&buffer->queue->lock);
}

// ---- Sentences ----

static const RfArg *arg_of(const RfFunction *f, uint32_t slot) {
    for (uint32_t i = 0; i < f->n_args; i++)
        if (f->args[i].kind != RF_ARG_BUILTIN && slot >= f->args[i].slot &&
            slot - f->args[i].slot < f->args[i].count)
            return &f->args[i];
    return NULL;
}

// What was accessed: "buffer 'Out' (argument 'c', index 2)".
static void describe_memory(const MTLFunctionLog *log, char *text, size_t n_bytes) {
    const AbiReport *r = &log->report;
    const RfArg *arg = r->slot == UINT32_MAX ? NULL : arg_of(log->function->function, r->slot);
    const char *name = arg && arg->name ? arg->name : "?";
    uint32_t index = arg ? arg->index + (r->slot - arg->slot) : 0;
    switch ((AbiSpace)r->space) {
    case ABI_SPACE_BUFFER:
        if (!arg)
            snprintf(text, n_bytes, "a buffer of stage inputs%s%s%s",
                     log->buffer_label ? ", '" : "", log->buffer_label ? log->buffer_label : "",
                     log->buffer_label ? "'" : "");
        else if (!log->buffer_label)
            snprintf(text, n_bytes, "the bytes of argument '%s' (buffer index %u)", name, index);
        else
            snprintf(text, n_bytes, "buffer '%s' (argument '%s', buffer index %u)",
                     log->buffer_label, name, index);
        return;
    case ABI_SPACE_THREADGROUP:
        if (arg)
            snprintf(text, n_bytes, "threadgroup memory (argument '%s', threadgroup index %u)",
                     name, index);
        else if (*r->name)
            snprintf(text, n_bytes, "threadgroup variable '%s'", r->name);
        else
            snprintf(text, n_bytes, "a threadgroup variable");
        return;
    case ABI_SPACE_THREAD: snprintf(text, n_bytes, "an array of the thread"); return;
    case ABI_SPACE_CONSTANT: snprintf(text, n_bytes, "a constant of the program"); return;
    case ABI_SPACE_HANDLE:
        if (arg) {
            snprintf(text, n_bytes, "texture argument '%s' (texture index %u)", name, index);
            return;
        }
        snprintf(text, n_bytes, "a texture");
        return;
    case ABI_SPACE_POINTER: break;
    }
    snprintf(text, n_bytes, "memory");
}

static void describe_handle(const AbiReport *r, const char *deed, char *text, size_t n_bytes) {
    const char *what = r->length == ABI_LIVE_ACCELERATION ? "acceleration structure" : "texture";
    if (!r->offset)
        snprintf(text, n_bytes, "%s of a null %s", deed, what);
    else
        snprintf(text, n_bytes, "%s through the handle 0x%llx, which is that of no live %s", deed,
                 (unsigned long long)r->offset, what);
}

// "store of 4 bytes outside buffer 'Out' (...) at offset 64, which has 64 bytes"
static void describe_deed(const MTLFunctionLog *log, char *text, size_t n_bytes) {
    static const char *const deeds[] = {"load", "store", "atomic operation"};
    const AbiReport *r = &log->report;
    const char *deed = deeds[r->access <= ABI_BAD_ATOMIC ? r->access : 0];
    char memory[400];
    describe_memory(log, memory, sizeof memory);
    if (r->access >= ABI_RACE)
        rt_describe_watched(r, memory, text, n_bytes);
    else if (r->access == ABI_BAD_CALL)
        snprintf(text, n_bytes, "call %s",
                 r->offset ? "deeper than max_call_stack_depth"
                           : "of a null function: an empty entry, an index outside the table or a "
                             "function of another type");
    else if (r->space == ABI_SPACE_HANDLE)
        describe_handle(r, deed, text, n_bytes);
    else if (r->space == ABI_SPACE_POINTER)
        snprintf(text, n_bytes, "%s of %u bytes through %s 0x%llx, where no live buffer is", deed,
                 r->n_bytes, r->offset >= 0 && r->offset < 4096 ? "a null pointer," : "the pointer",
                 (unsigned long long)r->offset);
    else
        snprintf(text, n_bytes, "%s of %u bytes outside %s at offset %lld, which has %llu bytes",
                 deed, r->n_bytes, memory, (long long)r->offset, (unsigned long long)r->length);
}

static void compose(MTLFunctionLog *log) {
    const AbiReport *r = &log->report;
    char deed[600], place[64] = "", text[MAX_TEXT];
    const char *encoder = log->encoder_label ? log->encoder_label : "";
    describe_deed(log, deed, sizeof deed);
    if (r->line) snprintf(place, sizeof place, " at line %u, column %u", r->line, r->column);
    const RfFunction *f = log->function->function;
    char who[80];
    snprintf(who, sizeof who,
             f->stage == RF_VERTEX     ? "vertex %u of instance %u"
             : f->stage == RF_FRAGMENT ? "pixel (%u, %u)"
                                       : "thread (%u, %u, %u)",
             r->thread[0], r->thread[1], r->thread[2]);
    snprintf(text, sizeof text, "%s '%s'%s%s%s, %s%s: %s (%llu %s)",
             f->stage == RF_VERTEX     ? "vertex function"
             : f->stage == RF_FRAGMENT ? "fragment function"
                                       : "kernel",
             f->name, *encoder ? " of '" : "", encoder, *encoder ? "'" : "", who, place, deed,
             (unsigned long long)log->count, log->count == 1 ? "thread" : "times");
    log->text = rt_strdup(text);
}

void rt_deliver_reports(MTLCommandBuffer *buffer) {
    for (MTLFunctionLog *log = buffer->logs; log; log = log->next) {
        compose(log);
        if (!log->text) continue;
        const char *label = rt_label(&buffer->label);
        rt_misuse_by_kernel(buffer->device, log->function->function->name, "%s%s%s%s", log->text,
                            *label ? ", command buffer '" : "", label, *label ? "'" : "");
    }
}

void rt_free_reports(MTLCommandBuffer *buffer) {
    while (buffer->logs) {
        MTLFunctionLog *next = buffer->logs->next;
        mtl_release(buffer->logs);
        buffer->logs = next;
    }
}

// ---- Public ----

MTLShaderValidation mtl_compute_pipeline_state_shader_validation(
    const MTLComputePipelineState *state) {
    return state && state->stage->validate ? MTLShaderValidationEnabled
                                           : MTLShaderValidationDisabled;
}

MTLShaderValidation mtl_render_pipeline_state_shader_validation(
    const MTLRenderPipelineState *state) {
    return state && state->validate ? MTLShaderValidationEnabled : MTLShaderValidationDisabled;
}

static bool is_done(const MTLCommandBuffer *buffer) {
    return buffer && atomic_load(&buffer->status) >= MTLCommandBufferStatusCompleted;
}

size_t mtl_command_buffer_log_count(const MTLCommandBuffer *buffer) {
    return is_done(buffer) ? buffer->n_logs : 0;
}

MTLFunctionLog *mtl_command_buffer_log(const MTLCommandBuffer *buffer, size_t i) {
    MTLFunctionLog *log = is_done(buffer) ? buffer->logs : NULL;
    while (log && i--) log = log->next;
    return log;
}

MTLFunctionLogType mtl_function_log_type(const MTLFunctionLog *log) {
    (void)log;
    return MTLFunctionLogTypeValidation;
}

const char *mtl_function_log_encoder_label(const MTLFunctionLog *log) {
    return log && log->encoder_label ? log->encoder_label : "";
}

bool mtl_function_log_debug_location(const MTLFunctionLog *log,
                                     MTLFunctionLogDebugLocation *location) {
    MTLFunctionLogDebugLocation none = {.function_name = "", .url = ""};
    if (location) *location = none;
    if (!log || !location || !log->report.line) return false;
    location->function_name = log->function->function->name;
    const char *file = log->function->library->lib->source_name;
    location->url = file ? file : "";
    location->line = log->report.line;
    location->column = log->report.column;
    return true;
}

const char *mtl_function_log_description(const MTLFunctionLog *log) {
    return log && log->text ? log->text : "";
}

#include "accessors/inspect/reports.inc" // plain accessors, from the table
