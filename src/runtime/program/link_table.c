// SPDX-License-Identifier: Apache-2.0
// link_table.c: MTLVisibleFunctionTable: numbers of a pipeline's functions in memory that kernels
// read; what intersection function tables (link_intersection.c) share with it. Entries are words
// that are stored one by one: a kernel that runs meanwhile sees the old or the new function, never
// half of one.
#include <string.h>
#include "runtime/memory/own_memory.h"
#include "runtime/program/link.h"
#include "runtime/object/validation.h"

enum { MAX_FUNCTIONS = 1 << 20 };

void rt_function_table_clear(MTLVisibleFunctionTable *table) {
    rt_span_remove(&table->span);
    if (!table->resource.own.address) rt_free(table->table);
    rt_free_own_memory(&table->resource);
    rt_resource_clear(&table->resource);
    mtl_release(table->stage->pipeline);
}

static void table_destroy(void *self) {
    rt_function_table_clear(self);
    rt_free(self);
}

RT_CLASS rt_function_table_class = {.name = "MTLVisibleFunctionTable", .destroy = table_destroy};

MTLVisibleFunctionTable *rt_function_table_make(const RtStage *stage, const char *call,
                                                RtClass *class, size_t n_object, size_t n,
                                                size_t n_more) {
    if (!rt_device_needs(stage->device, DEV_FUNCTION_POINTERS, call)) return NULL;
    if (n == 0 || n > MAX_FUNCTIONS) {
        rt_misuse(stage->device, RT_RULE_function_table_count, call, "%zu", n);
        return NULL;
    }
    MTLVisibleFunctionTable *table = rt_new(class, n_object);
    if (!table) return NULL;
    size_t entries = (sizeof *table->table + n * sizeof table->table->ids[0] + 7) & ~(size_t)7;
    mtl_retain(stage->pipeline);
    table->stage = stage;
    rt_resource_init(&table->resource, stage->device, MTLResourceStorageModeShared,
                     entries + n_more);
    const DevFacts *facts = &stage->device->facts;
    if (!facts->is_apart && facts->unified_memory && !stage->device->table->memory_make)
        table->table = rt_alloc(entries + n_more);
    else if (rt_own_argument_memory(&table->resource, entries + n_more))
        table->table = (AbiFunctionTable *)(void *)table->resource.own.host;
    if (!table->table) {
        mtl_release(table);
        return NULL;
    }
    table->count = n;
    table->buffers_at = n_more ? entries : 0;
    table->table->count = (uint32_t)n;
    table->table->buffers = (uint32_t)table->buffers_at;
    rt_span_add(&table->span, &table->resource, table->table, entries + n_more);
    return table;
}

MTLVisibleFunctionTable *rt_function_table_new(const RtStage *stage,
                                               const MTLVisibleFunctionTableDescriptor *descriptor,
                                               const char *call) {
    return rt_function_table_make(stage, call, &rt_function_table_class,
                                  sizeof(MTLVisibleFunctionTable), descriptor->function_count, 0);
}

MTLVisibleFunctionTable *mtl_compute_pipeline_state_new_visible_function_table(
    MTLComputePipelineState *state, const MTLVisibleFunctionTableDescriptor *descriptor) {
    if (!rt_given(state ? state->device : NULL, descriptor, "descriptor", __func__)) return NULL;
    return rt_function_table_new(state->stage, descriptor, __func__);
}

bool rt_function_table_has(const MTLVisibleFunctionTable *table, MTLRange range, const char *call) {
    size_t n = table->count;
    if (range.length <= n && range.location <= n - range.length) return true;
    rt_misuse(table->resource.device, RT_RULE_function_table_index, call,
              "%zu from %zu on, '%s' has %zu", range.length, range.location,
              rt_label(&table->resource.label), n);
    return false;
}

bool rt_function_table_set(MTLVisibleFunctionTable *table, MTLFunctionHandle *handle, size_t index,
                           const char *call) {
    MTLDevice *device = table->resource.device;
    if (!rt_function_table_has(table, mtl_range_make(index, 1), call)) return false;
    if (handle && strcmp(mtl_class_name(handle), "MTLFunctionHandle") != 0) {
        rt_misuse(device, RT_RULE_wrong_class, call, "a %s", mtl_class_name(handle));
        return false;
    }
    if (handle && !handle->linkage) { // of no pipeline: that of the table may have the function
        MTLFunctionHandle *here = rt_linkage_handle(table->stage->linkage, handle->function);
        if (!here) {
            rt_misuse(device, RT_RULE_function_handle_foreign, call,
                      "'%s' is not linked to the pipeline of the table '%s'",
                      mtl_function_name(handle->function), rt_label(&table->resource.label));
            return false;
        }
        handle = here;
    }
    if (handle && handle->linkage != table->stage->linkage) {
        const RtStage *from = handle->linkage->stage, *to = table->stage;
        rt_misuse(device, RT_RULE_function_handle_foreign, call,
                  "'%s' is a function of '%s' in pipeline '%s', the table '%s' belongs to '%s' in "
                  "'%s'",
                  mtl_function_name(handle->function), mtl_function_name(from->function),
                  rt_label(from->label), rt_label(&table->resource.label),
                  to->linkage ? mtl_function_name(to->function) : "",
                  to->linkage ? rt_label(to->label) : "");
        return false;
    }
    bool intersection = handle && handle->function->function->stage == RF_INTERSECTION;
    if (handle && intersection != rt_is(table, &rt_intersection_table_class)) {
        rt_misuse(device, RT_RULE_function_table_kind, call, "'%s' is %s intersection function",
                  mtl_function_name(handle->function), intersection ? "an" : "no");
        return false;
    }
    unsigned tags, primitive;
    if (intersection && rf_intersection(handle->function->function, &tags, &primitive) &&
        !rt_intersection_table_takes((MTLIntersectionFunctionTable *)(void *)table, tags,
                                     mtl_function_name(handle->function), call))
        return false;
    __atomic_store_n(&table->table->ids[index], handle ? handle->id : 0, __ATOMIC_RELEASE);
    return true;
}

void rt_function_table_set_range(MTLVisibleFunctionTable *table,
                                 MTLFunctionHandle *const *functions, MTLRange range,
                                 const char *call) {
    if (!table || (!functions && range.length)) {
        rt_misuse(table ? table->resource.device : NULL,
                  table ? RT_RULE_null_argument : RT_RULE_null_object, call,
                  table ? "functions" : NULL);
        return;
    }
    if (!rt_function_table_has(table, range, call)) return;
    for (size_t i = 0; i < range.length; i++)
        if (!rt_function_table_set(table, functions[i], range.location + i, call)) return;
}

void mtl_visible_function_table_set_function(MTLVisibleFunctionTable *table,
                                             MTLFunctionHandle *function, size_t index) {
    if (table)
        rt_function_table_set(table, function, index, __func__);
    else
        rt_misuse(NULL, RT_RULE_null_object, __func__, NULL);
}

void mtl_visible_function_table_set_functions(MTLVisibleFunctionTable *table,
                                              MTLFunctionHandle *const *functions, MTLRange range) {
    rt_function_table_set_range(table, functions, range, __func__);
}

// ---- Properties ----

#include "accessors/program/link_table.inc" // plain accessors, from the table
