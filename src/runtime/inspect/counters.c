// SPDX-License-Identifier: Apache-2.0
// counters.c: MTLCounterSet and MTLCounterSampleBuffer. There is one set, of one counter: the time.
// A sample is an operation of the command stream that stores the clock; the operation before it has
// completed by then.
#include "runtime/inspect/inspect_int.h"
#include <stdio.h>
#include <string.h>
#include "runtime/command/blit.h"
#include "runtime/command/compute.h"
#include "runtime/command/execute.h"
#include "runtime/object/validation.h"
#include "os/clock.h"

enum { MAX_SAMPLES = 4096, N_ATTACHMENTS = 4 };

struct MTLCounterSet {
    RtObject object;
};

struct MTLCounterSampleBuffer {
    RtObject object;
    MTLDevice *device; // retained
    RtLabel label;
    MTLStorageMode storage;
    size_t n;
    _Atomic uint64_t samples[]; // nanoseconds, or MTLCounterErrorValue
};

static void never_destroyed(void *self) { atomic_store(&((RtObject *)self)->refs, 1); }

static void buffer_destroy(void *self) {
    MTLCounterSampleBuffer *buffer = self;
    rt_label_free(&buffer->label);
    mtl_release(buffer->device);
    rt_free(buffer);
}

static RT_CLASS set_class = {.name = "MTLCounterSet", .destroy = never_destroyed};
static RT_CLASS buffer_class = {.name = "MTLCounterSampleBuffer",
                                .destroy = buffer_destroy,
                                .label_at = offsetof(MTLCounterSampleBuffer, label)};
static MTLCounterSet timestamp_set = {{&set_class, 1}};

// ---- Sets ----

size_t mtl_device_counter_set_count(const MTLDevice *device) { return device ? 1 : 0; }

MTLCounterSet *mtl_device_counter_set(const MTLDevice *device, size_t i) {
    return device && i == 0 ? &timestamp_set : NULL;
}

const char *mtl_counter_set_name(const MTLCounterSet *set) {
    return set ? MTLCommonCounterSetTimestamp : "";
}

size_t mtl_counter_set_counter_count(const MTLCounterSet *set) { return set ? 1 : 0; }

const char *mtl_counter_set_counter_name(const MTLCounterSet *set, size_t i) {
    return set && i == 0 ? MTLCommonCounterTimestamp : NULL;
}

bool mtl_device_supports_counter_sampling(const MTLDevice *device, MTLCounterSamplingPoint point) {
    return device && (point == MTLCounterSamplingPointAtStageBoundary ||
                      point == MTLCounterSamplingPointAtDispatchBoundary ||
                      point == MTLCounterSamplingPointAtBlitBoundary);
}

// ---- Sample buffers ----

// What is wrong with a descriptor, or NULL.
static const char *wrong_with(const MTLCounterSampleBufferDescriptor *d) {
    if (!d->counter_set || !rt_is(d->counter_set, &set_class))
        return "counter_set is one of the device's";
    if (d->sample_count == 0 || d->sample_count > MAX_SAMPLES) return "sample_count is 1 to 4096";
    if (d->storage_mode != MTLStorageModeShared && d->storage_mode != MTLStorageModePrivate)
        return "storage_mode is shared or private";
    return NULL;
}

MTLCounterSampleBuffer *mtl_device_new_counter_sample_buffer(
    MTLDevice *device, const MTLCounterSampleBufferDescriptor *descriptor, MTLError **error) {
    if (error) *error = NULL;
    const char *wrong = NULL;
    if (!device || !descriptor) {
        rt_misuse(device, device ? RT_RULE_null_argument : RT_RULE_null_object, __func__,
                  device ? "descriptor" : NULL);
        wrong = device ? "descriptor is NULL" : "the device is NULL";
    } else {
        wrong = wrong_with(descriptor);
    }
    if (wrong) {
        rt_error_set(error, rt_error_new(MTLCounterErrorDomain, MTLCounterSampleBufferErrorInvalid,
                                         "%s: %s.", __func__, wrong));
        return NULL;
    }
    size_t n = descriptor->sample_count;
    MTLCounterSampleBuffer *buffer =
        rt_new(&buffer_class, sizeof *buffer + n * sizeof buffer->samples[0]);
    if (!buffer) {
        rt_error_set(error,
                     rt_error_new(MTLCounterErrorDomain, MTLCounterSampleBufferErrorOutOfMemory,
                                  "%s: out of memory.", __func__));
        return NULL;
    }
    buffer->device = mtl_retain(device);
    rt_label_set(&buffer->label, descriptor->label);
    buffer->storage = descriptor->storage_mode;
    buffer->n = n;
    for (size_t i = 0; i < n; i++) atomic_init(&buffer->samples[i], MTLCounterErrorValue);
    return buffer;
}

static bool inside(const MTLCounterSampleBuffer *buffer, MTLRange range) {
    return range.length > 0 && range.location < buffer->n &&
           range.length <= buffer->n - range.location;
}

size_t mtl_counter_sample_buffer_resolve_counter_range(const MTLCounterSampleBuffer *buffer,
                                                       MTLRange range,
                                                       MTLCounterResultTimestamp *results) {
    if (!rt_given(buffer ? buffer->device : NULL, results, "results", __func__)) return 0;
    if (buffer->storage != MTLStorageModeShared) {
        rt_misuse(buffer->device, RT_RULE_counter_storage, __func__, "%s",
                  rt_label(&buffer->label));
        return 0;
    }
    if (!inside(buffer, range)) {
        rt_misuse(buffer->device, RT_RULE_counter_range, __func__, "%zu + %zu of %zu",
                  range.location, range.length, buffer->n);
        return 0;
    }
    for (size_t i = 0; i < range.length; i++)
        results[i].timestamp = atomic_load(&buffer->samples[range.location + i]);
    return range.length * sizeof *results;
}

// ---- Samples in the command stream ----

typedef struct Sample {
    RtOp op;
    struct Sample *next; // of a pass: taken at its end
    MTLCounterSampleBuffer *buffer;
    size_t index;
} Sample;

static RtOpResult run_sample(RtOp *op, RtExecution *x) {
    const Sample *s = (const Sample *)(const void *)op;
    if (!dev_finish(x->buffer->device->table, x->run)) return RT_OP_FAILED;
    atomic_store(&s->buffer->samples[s->index], os_now_ns());
    return RT_OP_DONE;
}

static void describe_sample(const RtOp *op, char *text, size_t n_bytes) {
    snprintf(text, n_bytes, "\"index\":%zu", ((const Sample *)(const void *)op)->index);
}

static const RtOpClass sample_class = {
    .name = "sample counters", .run = run_sample, .describe = describe_sample};

// A sample that is not yet in the stream; NULL: reported.
static Sample *new_sample(MTLCommandEncoder *e, MTLCounterSampleBuffer *buffer, size_t index,
                          const char *call) {
    if (!buffer || !rt_is(buffer, &buffer_class)) {
        rt_misuse_encoding(e->buffer, buffer ? RT_RULE_wrong_class : RT_RULE_null_argument, call,
                           "%s", "sample buffer");
        return NULL;
    }
    if (index >= buffer->n) {
        rt_misuse_encoding(e->buffer, RT_RULE_counter_index, call, "%zu of %zu %s", index,
                           buffer->n, rt_label(&buffer->label));
        return NULL;
    }
    Sample *s = rt_cb_alloc(e->buffer, sizeof *s);
    if (!s) {
        rt_cb_no_memory(e->buffer);
        return NULL;
    }
    s->buffer = buffer;
    s->index = index;
    return rt_cb_retain(e->buffer, buffer) ? s : NULL;
}

static void sample(MTLCommandEncoder *e, MTLCounterSampleBuffer *buffer, size_t index,
                   const char *call) {
    Sample *s = new_sample(e, buffer, index, call);
    if (s) rt_cb_append(e->buffer, &s->op, &sample_class);
}

void mtl_compute_command_encoder_sample_counters_in_buffer(MTLComputeCommandEncoder *encoder,
                                                           MTLCounterSampleBuffer *buffer,
                                                           size_t sample_index, bool barrier) {
    (void)barrier; // what came before has run in any case
    if (rt_encoder_valid(encoder, &rt_compute_encoder_class, __func__))
        sample(&encoder->encoder, buffer, sample_index, __func__);
}

void mtl_blit_command_encoder_sample_counters_in_buffer(MTLBlitCommandEncoder *encoder,
                                                        MTLCounterSampleBuffer *buffer,
                                                        size_t sample_index, bool barrier) {
    (void)barrier;
    if (rt_encoder_valid(encoder, &rt_blit_encoder_class, __func__))
        sample(&encoder->encoder, buffer, sample_index, __func__);
}

static void add_at_end(MTLCommandEncoder *e, const MTLPassSampleBufferAttachment *a, size_t index,
                       const char *call) {
    Sample *s = index == MTLCounterDontSample ? NULL : new_sample(e, a->sample_buffer, index, call);
    if (!s) return;
    s->next = e->at_end;
    e->at_end = s;
}

void rt_counters_begin_pass(void *encoder, const MTLPassSampleBufferAttachment attachments[4],
                            const char *call) {
    MTLCommandEncoder *e = encoder;
    for (int i = 0; e && i < N_ATTACHMENTS; i++) {
        const MTLPassSampleBufferAttachment *a = &attachments[i];
        if (!a->sample_buffer) continue;
        if (a->start_of_encoder_sample_index != MTLCounterDontSample)
            sample(e, a->sample_buffer, a->start_of_encoder_sample_index, call);
        // Fragments begin with the pass, and the last vertices are made shortly before its end.
        if (a->samples_between_stages && a->start_of_fragment_sample_index != MTLCounterDontSample)
            sample(e, a->sample_buffer, a->start_of_fragment_sample_index, call);
        add_at_end(e, a, a->end_of_encoder_sample_index, call);
        if (a->samples_between_stages) add_at_end(e, a, a->end_of_vertex_sample_index, call);
    }
}

void rt_counters_end_pass(MTLCommandEncoder *encoder) {
    for (Sample *s = encoder->at_end; s; s = s->next)
        rt_cb_append(encoder->buffer, &s->op, &sample_class);
    encoder->at_end = NULL;
}

// ---- Resolving on the device ----

typedef struct Resolve {
    RtOp op;
    MTLCounterSampleBuffer *buffer;
    MTLRange range;
    unsigned char *to;
} Resolve;

static RtOpResult run_resolve(RtOp *op, RtExecution *x) {
    const Resolve *r = (const Resolve *)(const void *)op;
    for (size_t i = 0; i < r->range.length; i++) {
        uint64_t value = atomic_load(&r->buffer->samples[r->range.location + i]);
        if (!dev_copy(x->buffer->device->table, x->run, r->to + i * sizeof value, &value,
                      sizeof value))
            return RT_OP_FAILED;
    }
    return RT_OP_DONE;
}

static const RtOpClass resolve_class = {.name = "resolve counters", .run = run_resolve};

void mtl_blit_command_encoder_resolve_counters(MTLBlitCommandEncoder *encoder,
                                               MTLCounterSampleBuffer *buffer, MTLRange range,
                                               MTLBuffer *destination, size_t destination_offset) {
    RtSite site;
    if (!rt_blit_valid(encoder, __func__, &site)) return;
    MTLCommandBuffer *commands = encoder->encoder.buffer;
    if (!buffer || !rt_is(buffer, &buffer_class)) {
        rt_misuse_encoding(commands, buffer ? RT_RULE_wrong_class : RT_RULE_null_argument, __func__,
                           "%s", "sample buffer");
        return;
    }
    if (!inside(buffer, range)) {
        rt_misuse_encoding(commands, RT_RULE_counter_range, __func__, "%zu + %zu of %zu %s",
                           range.location, range.length, buffer->n, rt_label(&buffer->label));
        return;
    }
    if (destination_offset % sizeof(uint64_t)) {
        rt_misuse_encoding(commands, RT_RULE_counter_offset, __func__, "%zu", destination_offset);
        return;
    }
    if (!rt_blit_valid_buffer(&site, destination, "destination", destination_offset,
                              range.length * sizeof(uint64_t)))
        return;
    Resolve *r = rt_cb_alloc(commands, sizeof *r);
    if (!r) {
        rt_cb_no_memory(commands);
        return;
    }
    if (!rt_cb_retain(commands, buffer) || !rt_cb_use(commands, &destination->resource, true))
        return;
    r->buffer = buffer;
    r->range = range;
    r->to = (unsigned char *)destination->memory + destination_offset;
    rt_cb_append(commands, &r->op, &resolve_class);
}

#include "accessors/inspect/counters.inc" // plain accessors, from the table
