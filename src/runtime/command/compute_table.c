// SPDX-License-Identifier: Apache-2.0
// compute_table.c: visible function tables in compute encoders.
#include "runtime/command/compute_validate.h"
#include "runtime/object/validation.h"
#include "runtime/program/link.h"

static void bind(MTLComputeCommandEncoder *e, MTLVisibleFunctionTable *table, size_t index,
                 const char *call) {
    if (!rt_valid_slot(e, call, index)) return;
    if (!table) {
        e->slots[index] = (RtSlot){0};
    } else if (!rt_is(table, &rt_function_table_class)) {
        rt_misuse_encoding(e->encoder.buffer, RT_RULE_wrong_class, call, "a %s",
                           mtl_class_name(table));
    } else if (rt_cb_use(e->encoder.buffer, &table->resource, false)) {
        e->slots[index] = (RtSlot){.table = table,
                                   .address = (char *)table->table,
                                   .n_bytes = table->resource.allocated_bytes};
    }
}

void mtl_compute_command_encoder_set_visible_function_table(MTLComputeCommandEncoder *encoder,
                                                            MTLVisibleFunctionTable *table,
                                                            size_t index) {
    if (rt_valid_encoder(encoder, __func__)) bind(encoder, table, index, __func__);
}

void mtl_compute_command_encoder_set_visible_function_tables(MTLComputeCommandEncoder *encoder,
                                                             MTLVisibleFunctionTable *const *tables,
                                                             MTLRange range) {
    if (!rt_valid_encoder(encoder, __func__)) return;
    if (!tables && range.length) {
        rt_misuse_encoding(encoder->encoder.buffer, RT_RULE_null_argument, __func__, "tables");
        return;
    }
    if (range.length > RT_MAX_BUFFERS || range.location > RT_MAX_BUFFERS - range.length) {
        rt_misuse_encoding(encoder->encoder.buffer, RT_RULE_buffer_index, __func__,
                           "%zu from %zu on", range.length, range.location);
        return;
    }
    for (size_t i = 0; i < range.length; i++)
        bind(encoder, tables[i], range.location + i, __func__);
}

bool rt_valid_table_arg(MTLComputeCommandEncoder *e, const char *call, const RfArg *arg,
                        uint32_t k) {
    size_t index = (size_t)arg->index + k;
    const MTLVisibleFunctionTable *table = index < RT_MAX_BUFFERS ? e->slots[index].table : NULL;
    const char *kernel = rt_pipeline_function(e->pipeline)->name;
    if (!table) {
        rt_misuse_encoding(e->encoder.buffer, RT_RULE_dispatch_missing_function_table, call,
                           "'%s' needs a visible function table at index %zu for '%s'", kernel,
                           index, arg->name);
        return false;
    }
    if (table->state != e->pipeline) {
        rt_misuse_encoding(e->encoder.buffer, RT_RULE_function_table_foreign, call,
                           "'%s' at index %zu of '%s'", rt_label(&table->resource.label), index,
                           kernel);
        return false;
    }
    return true;
}
