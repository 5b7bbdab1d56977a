// SPDX-License-Identifier: Apache-2.0
// residency_use.c: residency sets of queues and command buffers, which hold what is in them.
#include "runtime/command/residency_use.h"
#include "runtime/command/command_buffer.h"
#include "runtime/object/validation.h"

void rt_residency_edit_queue(MTLCommandQueue *queue, MTLResidencySet *const *sets, size_t count,
                             bool add, const char *call) {
    if (!queue) {
        rt_misuse(NULL, RT_RULE_null_object, call, NULL);
        return;
    }
    if (!sets && count > 1) count = 1;
    for (size_t i = 0; i < count; i++) {
        MTLResidencySet *set = sets ? sets[i] : NULL;
        if (!rt_residency_present(set, call)) continue;
        RtResidencySets *own = &queue->residency;
        pthread_mutex_lock(&queue->lock);
        size_t at = 0;
        while (at < own->n && own->sets[at] != set) at++;
        bool full = add && at == own->n && own->n == RT_MAX_RESIDENCY_SETS;
        bool removed = !add && at < own->n;
        if (removed)
            own->sets[at] = own->sets[--own->n];
        else if (add && at == own->n && !full)
            own->sets[own->n++] = mtl_retain(set);
        atomic_store(&queue->has_residency, own->n > 0);
        pthread_mutex_unlock(&queue->lock);
        if (removed) mtl_release(set);
        if (full)
            rt_misuse(queue->device, RT_RULE_residency_limit, call, "queue '%s', set '%s'",
                      rt_label(&queue->label), mtl_residency_set_label(set));
    }
}

void mtl_command_queue_add_residency_set(MTLCommandQueue *queue, MTLResidencySet *set) {
    rt_residency_edit_queue(queue, &set, 1, true, __func__);
}

void mtl_command_queue_add_residency_sets(MTLCommandQueue *queue, MTLResidencySet *const *sets,
                                          size_t count) {
    rt_residency_edit_queue(queue, sets, count, true, __func__);
}

void mtl_command_queue_remove_residency_set(MTLCommandQueue *queue, MTLResidencySet *set) {
    rt_residency_edit_queue(queue, &set, 1, false, __func__);
}

void mtl_command_queue_remove_residency_sets(MTLCommandQueue *queue, MTLResidencySet *const *sets,
                                             size_t count) {
    rt_residency_edit_queue(queue, sets, count, false, __func__);
}

// Now: the set may be edited before the commands run.
void rt_residency_hold(MTLCommandBuffer *buffer, MTLResidencySet *set) {
    void *committed = rt_residency_committed(set);
    MTLAllocation *const *items;
    size_t n = rt_residency_items(committed, &items);
    if (committed) rt_cb_hold(buffer, committed);
    // What commands do with it is not known: they may write it.
    for (size_t i = 0; buffer->device->table->use && i < n; i++)
        rt_cb_tell(buffer, (const MTLResource *)(const void *)items[i], true);
    mtl_release(committed);
}

void rt_residency_commit(MTLCommandBuffer *buffer) {
    MTLCommandQueue *queue = buffer->queue;
    MTLResidencySet *sets[RT_MAX_RESIDENCY_SETS];
    if (!atomic_load(&queue->has_residency)) return;
    pthread_mutex_lock(&queue->lock);
    size_t n = queue->residency.n;
    for (size_t i = 0; i < n; i++) sets[i] = mtl_retain(queue->residency.sets[i]);
    pthread_mutex_unlock(&queue->lock);
    for (size_t i = 0; i < n; i++) {
        rt_residency_hold(buffer, sets[i]);
        mtl_release(sets[i]);
    }
}

static void use(MTLCommandBuffer *buffer, MTLResidencySet *const *sets, size_t count,
                const char *call) {
    if (!rt_cb_recording(buffer, call)) return;
    if (!sets && count > 1) count = 1;
    for (size_t i = 0; i < count; i++) {
        MTLResidencySet *set = sets ? sets[i] : NULL;
        if (!rt_is_residency_set(set))
            rt_misuse_encoding(buffer, set ? RT_RULE_wrong_class : RT_RULE_null_argument, call,
                               "residency set%s%s", set ? ": a " : "", mtl_class_name(set));
        else
            rt_residency_hold(buffer, set);
    }
    buffer->has_residency = true;
}

void mtl_command_buffer_use_residency_set(MTLCommandBuffer *buffer, MTLResidencySet *set) {
    use(buffer, &set, 1, __func__);
}

void mtl_command_buffer_use_residency_sets(MTLCommandBuffer *buffer, MTLResidencySet *const *sets,
                                           size_t count) {
    use(buffer, sets, count, __func__);
}
