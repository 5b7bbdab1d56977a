// SPDX-License-Identifier: Apache-2.0
// counters.c: MTL4CounterHeap: time stamps that commands write, and their way to the CPU and to
// memory.
#include <inttypes.h>
#include <stdio.h>
#include "runtime/command/execute.h"
#include "runtime/command/fence.h"
#include "runtime/metal4/recording_int.h"
#include "runtime/object/validation.h"
#include "os/clock.h"

#define MAX_ENTRIES ((size_t)1 << 20)

struct MTL4CounterHeap {
    RtObject object;
    MTLDevice *device; // retained
    RtLabel label;
    size_t n;
    _Atomic uint64_t entries[]; // nanoseconds; 0: not written
};

static void heap_destroy(void *self) {
    MTL4CounterHeap *heap = self;
    rt_label_free(&heap->label);
    mtl_release(heap->device);
    rt_free(heap);
}

static RT_CLASS heap_class = {.name = "MTL4CounterHeap",
                              .destroy = heap_destroy,
                              .label_at = offsetof(MTL4CounterHeap, label)};

MTL4CounterHeap *mtl_device_new_counter_heap(MTLDevice *device,
                                             const MTL4CounterHeapDescriptor *descriptor,
                                             MTLError **error) {
    if (error) *error = NULL;
    if (!rt_given(device, descriptor, "descriptor", __func__)) return NULL;
    size_t n = descriptor->count;
    if (descriptor->type != MTL4CounterHeapTypeTimestamp || n == 0 || n > MAX_ENTRIES) {
        rt_error_set(error, rt_error_new(MTLDeviceErrorDomain, MTLDeviceErrorInvalidInput,
                                         "%s: %s; type %d, count %zu.", __func__,
                                         "a counter heap is of type timestamp and has 1 to 1048576 "
                                         "entries",
                                         (int)descriptor->type, n));
        return NULL;
    }
    MTL4CounterHeap *heap = rt_new(&heap_class, sizeof *heap + n * sizeof heap->entries[0]);
    if (!heap) {
        rt_error_set(error, NULL);
        return NULL;
    }
    heap->device = mtl_retain(device);
    heap->n = n;
    return heap;
}

size_t mtl_device_size_of_counter_heap_entry(const MTLDevice *device, MTL4CounterHeapType type) {
    return device && type == MTL4CounterHeapTypeTimestamp ? sizeof(MTL4TimestampHeapEntry) : 0;
}

uint64_t mtl_device_query_timestamp_frequency(const MTLDevice *device) {
    return device ? 1000000000u : 0;
}

static bool inside(const MTL4CounterHeap *heap, MTLRange range) {
    return range.length > 0 && range.location < heap->n && range.length <= heap->n - range.location;
}

static bool valid_range(const MTL4CounterHeap *heap, MTLRange range, const char *call) {
    if (!rt_is(heap, &heap_class)) {
        rt_misuse(NULL, heap ? RT_RULE_wrong_class : RT_RULE_null_object, call, "%s",
                  mtl_class_name(heap));
        return false;
    }
    if (inside(heap, range)) return true;
    rt_misuse(heap->device, RT_RULE_metal4_counter_range, call, "%zu + %zu of %zu, heap '%s'",
              range.location, range.length, heap->n, rt_label(&heap->label));
    return false;
}

bool mtl4_counter_heap_resolve_counter_range(const MTL4CounterHeap *heap, MTLRange range,
                                             MTL4TimestampHeapEntry *entries) {
    if (!valid_range(heap, range, __func__)) return false;
    if (!entries) {
        rt_misuse(heap->device, RT_RULE_null_argument, __func__, "entries, heap '%s'",
                  rt_label(&heap->label));
        return false;
    }
    for (size_t i = 0; i < range.length; i++)
        entries[i].timestamp = atomic_load(&heap->entries[range.location + i]);
    return true;
}

void mtl4_counter_heap_invalidate_counter_range(MTL4CounterHeap *heap, MTLRange range) {
    if (!valid_range(heap, range, __func__)) return;
    for (size_t i = 0; i < range.length; i++) atomic_store(&heap->entries[range.location + i], 0);
}

// ---- In the command stream ----

typedef struct Counting {
    RtOp op;
    MTL4CounterHeap *heap; // held by the command buffer
    MTLRange range;
    char *to; // resolve; in a buffer that is held
} Counting;

static RtOpResult run_stamp(RtOp *op, RtExecution *x) {
    const Counting *c = (const Counting *)(const void *)op;
    if (!dev_finish(x->buffer->device->table, x->run)) return RT_OP_FAILED;
    atomic_store(&c->heap->entries[c->range.location], os_now_ns());
    return RT_OP_DONE;
}

static RtOpResult run_resolve(RtOp *op, RtExecution *x) {
    enum { AT_ONCE = 64 };
    const Counting *c = (const Counting *)(const void *)op;
    const DevTable *table = x->buffer->device->table;
    uint64_t values[AT_ONCE];
    for (size_t i = 0, n; i < c->range.length; i += n) {
        n = c->range.length - i < AT_ONCE ? c->range.length - i : AT_ONCE;
        for (size_t k = 0; k < n; k++)
            values[k] = atomic_load(&c->heap->entries[c->range.location + i + k]);
        if (!dev_copy(table, x->run, c->to + i * sizeof *values, values, n * sizeof *values) ||
            !dev_finish(table, x->run)) // they are this function's
            return RT_OP_FAILED;
    }
    return RT_OP_DONE;
}

static void describe(const RtOp *op, char *text, size_t n_bytes) {
    const Counting *c = (const Counting *)(const void *)op;
    snprintf(text, n_bytes, "\"index\":%zu", c->range.location);
}

static const RtOpClass stamp_in_encoder = {
    .name = "write timestamp", .run = run_stamp, .describe = describe};
static const RtOpClass stamp_between = {
    .name = "write timestamp", .run = run_stamp, .between = true, .describe = describe};
static const RtOpClass resolve_class = {
    .name = "resolve counters", .run = run_resolve, .between = true, .describe = describe};

// An operation that is not yet in the stream; NULL: reported.
static Counting *new_op(MTLCommandBuffer *commands, MTL4CounterHeap *heap, MTLRange range,
                        const char *call) {
    if (!rt_is(heap, &heap_class)) {
        rt_misuse_encoding(commands, heap ? RT_RULE_wrong_class : RT_RULE_null_argument, call,
                           "counter heap %s", mtl_class_name(heap));
        return NULL;
    }
    if (!inside(heap, range)) {
        rt_misuse_encoding(commands, RT_RULE_metal4_counter_range, call,
                           "%zu + %zu of %zu, heap '%s'", range.location, range.length, heap->n,
                           rt_label(&heap->label));
        return NULL;
    }
    Counting *c = rt_cb_alloc(commands, sizeof *c);
    if (!c) {
        rt_cb_no_memory(commands);
        return NULL;
    }
    c->heap = heap;
    c->range = range;
    return rt_cb_hold(commands, heap) ? c : NULL;
}

// The command buffer, being recorded and between encoders.
static MTLCommandBuffer *between(MTL4CommandBuffer *buffer, const char *call) {
    MTLCommandBuffer *commands = rt_mtl4_recording(buffer, call);
    return commands && rt_cb_between_encoders(commands, call) ? commands : NULL;
}

void mtl4_command_buffer_write_timestamp_into_heap(MTL4CommandBuffer *buffer, MTL4CounterHeap *heap,
                                                   size_t index) {
    MTLCommandBuffer *commands = between(buffer, __func__);
    Counting *c = commands ? new_op(commands, heap, mtl_range_make(index, 1), __func__) : NULL;
    if (c) rt_cb_append(commands, &c->op, &stamp_between);
}

void mtl4_compute_command_encoder_write_timestamp(MTL4ComputeCommandEncoder *encoder,
                                                  MTL4TimestampGranularity granularity,
                                                  MTL4CounterHeap *heap, size_t index) {
    if (!rt_encoder_valid(encoder, &rt_mtl4_compute_encoder_class, __func__)) return;
    MTLCommandBuffer *commands = encoder->compute.encoder.buffer;
    if (granularity != MTL4TimestampGranularityRelaxed &&
        granularity != MTL4TimestampGranularityPrecise) {
        rt_misuse_encoding(commands, RT_RULE_encoder_option, __func__, "granularity %d",
                           (int)granularity);
        return;
    }
    Counting *c = new_op(commands, heap, mtl_range_make(index, 1), __func__);
    if (c) rt_cb_append(commands, &c->op, &stamp_in_encoder);
}

void mtl4_render_command_encoder_write_timestamp(MTL4RenderCommandEncoder *encoder,
                                                 MTL4TimestampGranularity granularity,
                                                 MTLRenderStages after_stage, MTL4CounterHeap *heap,
                                                 size_t index) {
    RtSite site;
    if (!rt_render_valid_stages((void *)encoder, after_stage, __func__) ||
        !rt_render_valid((void *)encoder, __func__, &site))
        return;
    if ((unsigned)granularity > MTL4TimestampGranularityPrecise) {
        rt_misuse_at(&site, RT_RULE_encoder_option, "granularity %d", (int)granularity);
        return;
    }
    Counting *c = new_op(site.commands, heap, mtl_range_make(index, 1), __func__);
    if (!c) return;
    c->op.cls = &stamp_in_encoder;
    *encoder->last_stamp = &c->op;
    encoder->last_stamp = &c->op.next;
}

static bool is_fence(MTLCommandBuffer *commands, const MTLFence *fence, const char *call) {
    if (!fence || rt_is(fence, &rt_fence_class)) return true;
    rt_misuse_encoding(commands, RT_RULE_wrong_class, call, "fence: a %s", mtl_class_name(fence));
    return false;
}

void mtl4_command_buffer_resolve_counter_heap(MTL4CommandBuffer *buffer, MTL4CounterHeap *heap,
                                              MTLRange range, MTL4BufferRange destination,
                                              MTLFence *fence_to_wait, MTLFence *fence_to_update) {
    MTLCommandBuffer *commands = between(buffer, __func__);
    if (!commands || !is_fence(commands, fence_to_wait, __func__) ||
        !is_fence(commands, fence_to_update, __func__))
        return;
    Counting *c = new_op(commands, heap, range, __func__);
    if (!c) return;
    size_t n_bytes = range.length * sizeof(uint64_t);
    RtPlace place;
    if (destination.buffer_address % sizeof(uint64_t) || destination.length < n_bytes ||
        !rt_place_find(commands, destination.buffer_address, n_bytes, &place)) {
        rt_misuse_encoding(commands, RT_RULE_metal4_counter_destination, __func__,
                           "0x%" PRIx64 ", %" PRIu64 " bytes for %zu entries",
                           destination.buffer_address, destination.length, range.length);
        return;
    }
    c->to = (char *)(uintptr_t)destination.buffer_address;
    rt_cb_append(commands, &c->op, &resolve_class);
}

#include "accessors/metal4/counters.inc" // plain accessors, from the table
