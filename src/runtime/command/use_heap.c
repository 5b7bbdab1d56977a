// SPDX-License-Identifier: Apache-2.0
// use_heap.c: resources and heaps that encoders announce.
#include "runtime/command/compute.h"
#include "runtime/memory/heap.h"
#include "runtime/object/validation.h"

void rt_encoder_use_resources(void *encoder, const RtClass *cls, MTLResource *const *resources,
                              size_t count, MTLResourceUsage usage, const char *call) {
    if (!rt_encoder_valid(encoder, cls, call)) return;
    MTLCommandBuffer *buffer = ((MTLCommandEncoder *)encoder)->buffer;
    if (!resources && count > 1) count = 1; // one message for a list that is not there
    for (size_t i = 0; i < count; i++) {
        MTLResource *resource = resources ? resources[i] : NULL;
        if (!resource)
            rt_misuse_encoding(buffer, RT_RULE_null_argument, call, "resource");
        else if (!rt_is_resource(resource))
            rt_misuse_encoding(buffer, RT_RULE_wrong_class, call, "a %s", mtl_class_name(resource));
        else
            rt_cb_use(buffer, resource, (usage & MTLResourceUsageWrite) != 0);
    }
}

void rt_encoder_use_heaps(void *encoder, const RtClass *cls, MTLHeap *const *heaps, size_t count,
                          const char *call) {
    if (!rt_encoder_valid(encoder, cls, call)) return;
    MTLCommandBuffer *buffer = ((MTLCommandEncoder *)encoder)->buffer;
    if (!heaps && count > 1) count = 1; // one message for a list that is not there
    for (size_t i = 0; i < count; i++) {
        MTLHeap *heap = heaps ? heaps[i] : NULL;
        if (rt_is(heap, &rt_heap_class))
            rt_cb_use(buffer, &heap->resource, false);
        else
            rt_misuse_encoding(buffer, heap ? RT_RULE_wrong_class : RT_RULE_null_argument, call,
                               "heap%s%s", heap ? ": a " : "", mtl_class_name(heap));
    }
}
