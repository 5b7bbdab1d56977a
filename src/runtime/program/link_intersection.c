// SPDX-License-Identifier: Apache-2.0
// link_intersection.c: MTLIntersectionFunctionTable: a table as link_table.c has it. Its functions
// look at primitives while a ray is traced, and what is bound to the arguments of those functions.
#include <string.h>
#include "runtime/memory/buffer.h"
#include "runtime/object/validation.h"
#include "runtime/program/link.h"
#include "runtime/program/render_pipeline.h"

static void table_destroy(void *self) {
    MTLIntersectionFunctionTable *table = self;
    for (size_t i = 0; i < ABI_TABLE_BUFFERS; i++) mtl_release(table->bound[i]);
    rt_function_table_clear(&table->base);
    rt_free(table);
}

RT_CLASS rt_intersection_table_class = {.name = "MTLIntersectionFunctionTable",
                                        .destroy = table_destroy};

MTLIntersectionFunctionTable *rt_intersection_table_new(
    const RtStage *stage, const MTLIntersectionFunctionTableDescriptor *descriptor,
    const char *call) {
    return (MTLIntersectionFunctionTable *)(void *)rt_function_table_make(
        stage, call, &rt_intersection_table_class, sizeof(MTLIntersectionFunctionTable),
        descriptor->function_count, ABI_TABLE_BUFFERS * sizeof(uint64_t));
}

MTLIntersectionFunctionTable *mtl_compute_pipeline_state_new_intersection_function_table(
    MTLComputePipelineState *state, const MTLIntersectionFunctionTableDescriptor *descriptor) {
    if (!rt_given(state ? state->device : NULL, descriptor, "descriptor", __func__)) return NULL;
    return rt_intersection_table_new(state->stage, descriptor, __func__);
}

static bool present(const MTLIntersectionFunctionTable *table, const char *call) {
    if (rt_is(table, &rt_intersection_table_class)) return true;
    rt_misuse(NULL, table ? RT_RULE_wrong_class : RT_RULE_null_object, call, "%s",
              table ? mtl_class_name(table) : "");
    return false;
}

// ---- Entries ----

void mtl_intersection_function_table_set_function(MTLIntersectionFunctionTable *table,
                                                  MTLFunctionHandle *function, size_t index) {
    if (present(table, __func__)) rt_function_table_set(&table->base, function, index, __func__);
}

void mtl_intersection_function_table_set_functions(MTLIntersectionFunctionTable *table,
                                                   MTLFunctionHandle *const *functions,
                                                   MTLRange range) {
    if (present(table, __func__))
        rt_function_table_set_range(&table->base, functions, range, __func__);
}

bool rt_intersection_table_takes(MTLIntersectionFunctionTable *table, unsigned tags,
                                 const char *name, const char *call) {
    uint32_t none = 0, mine = tags + 1;
    if (__atomic_compare_exchange_n(&table->signature, &none, mine, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE) ||
        none == mine)
        return true;
    rt_misuse(table->base.resource.device, RT_RULE_intersection_signature, call,
              "'%s' has signature %#x, the functions of the table '%s' have %#x", name, tags,
              rt_label(&table->base.resource.label), none - 1);
    return false;
}

// Without code: every primitive that is looked up there is a hit. Its signature counts as that of
// the other functions does.
static void set_opaque(MTLIntersectionFunctionTable *table, int id,
                       MTLIntersectionFunctionSignature signature, MTLRange range,
                       const char *call) {
    if (!present(table, call) || !rt_function_table_has(&table->base, range, call) ||
        !range.length ||
        !rt_intersection_table_takes(table, signature, "the opaque function", call))
        return;
    for (size_t i = 0; i < range.length; i++)
        __atomic_store_n(&table->base.table->ids[range.location + i], (uint32_t)id,
                         __ATOMIC_RELEASE);
}

void mtl_intersection_function_table_set_opaque_triangle_intersection_function(
    MTLIntersectionFunctionTable *table, MTLIntersectionFunctionSignature signature, size_t index) {
    set_opaque(table, ABI_FUNCTION_OPAQUE_TRIANGLE, signature, mtl_range_make(index, 1), __func__);
}
void mtl_intersection_function_table_set_opaque_triangle_intersection_functions(
    MTLIntersectionFunctionTable *table, MTLIntersectionFunctionSignature signature,
    MTLRange range) {
    set_opaque(table, ABI_FUNCTION_OPAQUE_TRIANGLE, signature, range, __func__);
}
void mtl_intersection_function_table_set_opaque_curve_intersection_function(
    MTLIntersectionFunctionTable *table, MTLIntersectionFunctionSignature signature, size_t index) {
    set_opaque(table, ABI_FUNCTION_OPAQUE_CURVE, signature, mtl_range_make(index, 1), __func__);
}
void mtl_intersection_function_table_set_opaque_curve_intersection_functions(
    MTLIntersectionFunctionTable *table, MTLIntersectionFunctionSignature signature,
    MTLRange range) {
    set_opaque(table, ABI_FUNCTION_OPAQUE_CURVE, signature, range, __func__);
}

// ---- What the functions get ----

static void bind(MTLIntersectionFunctionTable *table, MTLResource *resource, const void *address,
                 size_t index) {
    uint64_t *slots = (uint64_t *)((char *)table->base.table + table->base.buffers_at);
    __atomic_store_n(&slots[index], (uint64_t)(uintptr_t)address, __ATOMIC_RELEASE);
    MTLResource *old = table->bound[index];
    table->bound[index] = mtl_retain(resource);
    mtl_release(old);
}

static bool valid_index(const MTLIntersectionFunctionTable *table, size_t index, const char *call) {
    if (index < ABI_TABLE_BUFFERS) return true;
    rt_misuse(table->base.resource.device, RT_RULE_buffer_index, call, "index %zu", index);
    return false;
}

static void set_buffer(MTLIntersectionFunctionTable *table, MTLBuffer *buffer, size_t offset,
                       size_t index, const char *call) {
    MTLDevice *device = table->base.resource.device;
    if (!valid_index(table, index, call)) return;
    if (buffer && !rt_is(buffer, &rt_buffer_class))
        rt_misuse(device, RT_RULE_wrong_class, call, "a %s", mtl_class_name(buffer));
    else if (buffer && offset >= buffer->length)
        rt_misuse(device, RT_RULE_buffer_offset, call, "offset %zu, length %zu of buffer '%s'",
                  offset, buffer->length, rt_label(&buffer->resource.label));
    else
        bind(table, buffer ? &buffer->resource : NULL, buffer ? buffer->memory + offset : NULL,
             index);
}

void mtl_intersection_function_table_set_buffer(MTLIntersectionFunctionTable *table,
                                                MTLBuffer *buffer, size_t offset, size_t index) {
    if (present(table, __func__)) set_buffer(table, buffer, offset, index, __func__);
}

// Is the array of objects there?
static bool valid_list(const MTLIntersectionFunctionTable *table, const void *list, size_t n,
                       const char *call) {
    if (!present(table, call)) return false;
    if (list || !n) return true;
    rt_misuse(table->base.resource.device, RT_RULE_null_argument, call, "the array");
    return false;
}

void mtl_intersection_function_table_set_buffers(MTLIntersectionFunctionTable *table,
                                                 MTLBuffer *const *buffers, const size_t *offsets,
                                                 MTLRange range) {
    if (!valid_list(table, buffers, range.length, __func__)) return;
    for (size_t i = 0; i < range.length; i++)
        set_buffer(table, buffers[i], offsets ? offsets[i] : 0, range.location + i, __func__);
}

static void set_table(MTLIntersectionFunctionTable *table, MTLVisibleFunctionTable *other,
                      size_t index, const char *call) {
    MTLDevice *device = table->base.resource.device;
    if (!valid_index(table, index, call)) return;
    if (other && !rt_is(other, &rt_function_table_class))
        rt_misuse(device, RT_RULE_wrong_class, call, "a %s", mtl_class_name(other));
    else if (other && other->stage->linkage != table->base.stage->linkage)
        rt_misuse(device, RT_RULE_function_table_foreign, call, "'%s'",
                  rt_label(&other->resource.label));
    else
        bind(table, other ? &other->resource : NULL, other ? other->table : NULL, index);
}

void mtl_intersection_function_table_set_visible_function_table(MTLIntersectionFunctionTable *table,
                                                                MTLVisibleFunctionTable *functions,
                                                                size_t buffer_index) {
    if (present(table, __func__)) set_table(table, functions, buffer_index, __func__);
}

void mtl_intersection_function_table_set_visible_function_tables(
    MTLIntersectionFunctionTable *table, MTLVisibleFunctionTable *const *tables, MTLRange range) {
    if (!valid_list(table, tables, range.length, __func__)) return;
    for (size_t i = 0; i < range.length; i++)
        set_table(table, tables[i], range.location + i, __func__);
}

// ---- Properties ----

MTLResourceID mtl_function_handle_gpu_resource_id(const MTLFunctionHandle *handle) {
    return (MTLResourceID){handle ? handle->id : 0};
}

#include "accessors/program/link_intersection.inc" // plain accessors, from the table
