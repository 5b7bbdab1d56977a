// SPDX-License-Identifier: Apache-2.0
// link_table.c: MTLVisibleFunctionTable: numbers of a pipeline's functions in memory that kernels
// read. Entries are words that are stored one by one: a kernel
// that runs meanwhile sees the old or the new function, never half of one.
#include <string.h>
#include "runtime/program/link.h"
#include "runtime/object/validation.h"

enum { MAX_FUNCTIONS = 1 << 20 };

static void table_destroy(void *self) {
    MTLVisibleFunctionTable *table = self;
    rt_span_remove(&table->span);
    rt_free(table->table);
    rt_resource_clear(&table->resource);
    mtl_release(table->state);
    rt_free(table);
}

RT_CLASS rt_function_table_class = {.name = "MTLVisibleFunctionTable", .destroy = table_destroy};

MTLVisibleFunctionTable *rt_function_table_new(MTLDevice *device, void *state,
                                               const RtLinkage *linkage,
                                               const MTLVisibleFunctionTableDescriptor *descriptor,
                                               const char *call) {
    if (!rt_device_needs(device, DEV_FUNCTION_POINTERS, call)) return NULL;
    size_t n = descriptor->function_count;
    if (n == 0 || n > MAX_FUNCTIONS) {
        rt_misuse(device, RT_RULE_function_table_count, call, "%zu", n);
        return NULL;
    }
    MTLVisibleFunctionTable *table = rt_new(&rt_function_table_class, sizeof *table);
    if (!table) return NULL;
    size_t n_bytes = sizeof *table->table + n * sizeof table->table->ids[0];
    table->state = mtl_retain(state);
    table->linkage = linkage;
    rt_resource_init(&table->resource, device, MTLResourceStorageModeShared, n_bytes);
    table->table = rt_alloc(n_bytes);
    if (!table->table) {
        mtl_release(table);
        return NULL;
    }
    table->table->count = (uint32_t)n;
    rt_span_add(&table->span, &table->resource, table->table, n_bytes);
    return table;
}

MTLVisibleFunctionTable *mtl_compute_pipeline_state_new_visible_function_table(
    MTLComputePipelineState *state, const MTLVisibleFunctionTableDescriptor *descriptor) {
    if (!rt_given(state ? state->device : NULL, descriptor, "descriptor", __func__)) return NULL;
    return rt_function_table_new(state->device, state, state->linkage, descriptor, __func__);
}

// One entry. False, after a message, if it does not belong there.
static bool set_entry(MTLVisibleFunctionTable *table, MTLFunctionHandle *handle, size_t index,
                      const char *call) {
    MTLDevice *device = table->resource.device;
    if (index >= table->table->count) {
        rt_misuse(device, RT_RULE_function_table_index, call, "index %zu of '%s', which has %u",
                  index, rt_label(&table->resource.label), table->table->count);
        return false;
    }
    if (handle && strcmp(mtl_class_name(handle), "MTLFunctionHandle") != 0) {
        rt_misuse(device, RT_RULE_wrong_class, call, "a %s", mtl_class_name(handle));
        return false;
    }
    if (handle && handle->linkage != table->linkage) {
        const RtLinkOwner *owner = table->linkage ? &table->linkage->owner : NULL;
        rt_misuse(
            device, RT_RULE_function_handle_foreign, call,
            "'%s' is a function of '%s' in pipeline '%s', the table '%s' belongs to '%s' in "
            "'%s'",
            mtl_function_name(handle->function), mtl_function_name(handle->linkage->owner.function),
            rt_label(handle->linkage->owner.label), rt_label(&table->resource.label),
            owner ? mtl_function_name(owner->function) : "", owner ? rt_label(owner->label) : "");
        return false;
    }
    __atomic_store_n(&table->table->ids[index], handle ? handle->id : 0, __ATOMIC_RELEASE);
    return true;
}

void mtl_visible_function_table_set_function(MTLVisibleFunctionTable *table,
                                             MTLFunctionHandle *function, size_t index) {
    if (table)
        set_entry(table, function, index, __func__);
    else
        rt_misuse(NULL, RT_RULE_null_object, __func__, NULL);
}

void mtl_visible_function_table_set_functions(MTLVisibleFunctionTable *table,
                                              MTLFunctionHandle *const *functions, MTLRange range) {
    if (!table || (!functions && range.length)) {
        rt_misuse(table ? table->resource.device : NULL,
                  table ? RT_RULE_null_argument : RT_RULE_null_object, __func__,
                  table ? "functions" : NULL);
        return;
    }
    if (range.length > table->table->count || range.location > table->table->count - range.length) {
        rt_misuse(table->resource.device, RT_RULE_function_table_index, __func__,
                  "%zu from %zu on, '%s' has %u", range.length, range.location,
                  rt_label(&table->resource.label), table->table->count);
        return;
    }
    for (size_t i = 0; i < range.length; i++)
        if (!set_entry(table, functions[i], range.location + i, __func__)) return;
}

// ---- Properties ----

MTLResourceID mtl_visible_function_table_gpu_resource_id(const MTLVisibleFunctionTable *table) {
    return (MTLResourceID){table ? (uint64_t)(uintptr_t)table->table : 0};
}

MTLDevice *mtl_visible_function_table_device(const MTLVisibleFunctionTable *table) {
    return table ? table->resource.device : NULL;
}

const char *mtl_visible_function_table_label(const MTLVisibleFunctionTable *table) {
    return table ? rt_label(&table->resource.label) : "";
}

void mtl_visible_function_table_set_label(MTLVisibleFunctionTable *table, const char *label) {
    if (table) rt_label_set(&table->resource.label, label);
}

size_t mtl_visible_function_table_function_count(const MTLVisibleFunctionTable *table) {
    return table ? table->table->count : 0;
}
