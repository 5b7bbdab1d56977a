// SPDX-License-Identifier: Apache-2.0
// constants.c: MTLFunctionConstantValues, a small list of values by index or name.
#include <string.h>
#include "runtime/program/library.h"
#include "runtime/object/validation.h"

#define MAX_CONSTANT_INDEX 65535u

// Scalars and vectors come in fours (T, T2, T3, T4) in MTLDataType.
static const struct {
    uint32_t first, scalar_bytes;
} families[] = {
    {MTLDataTypeFloat, 4}, {MTLDataTypeHalf, 2},   {MTLDataTypeInt, 4},   {MTLDataTypeUInt, 4},
    {MTLDataTypeShort, 2}, {MTLDataTypeUShort, 2}, {MTLDataTypeChar, 1},  {MTLDataTypeUChar, 1},
    {MTLDataTypeBool, 1},  {MTLDataTypeLong, 8},   {MTLDataTypeULong, 8}, {MTLDataTypeBFloat, 2},
};

size_t rt_data_type_bytes(uint32_t data_type) {
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (data_type >= families[i].first && data_type < families[i].first + 4)
            return families[i].scalar_bytes * (data_type - families[i].first + 1);
    return 0;
}

size_t rt_data_type_stride(uint32_t data_type) {
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        uint32_t n = data_type - families[i].first + 1;
        if (data_type >= families[i].first && n <= 4)
            return families[i].scalar_bytes * (n == 3 ? 4 : n);
    }
    return 0;
}

static void values_destroy(void *self) {
    MTLFunctionConstantValues *values = self;
    mtl_function_constant_values_reset(values);
    rt_free(values->values);
    rt_free(values);
}

static RT_CLASS values_class = {.name = "MTLFunctionConstantValues", .destroy = values_destroy};

MTLFunctionConstantValues *mtl_function_constant_values_new(void) {
    return rt_new(&values_class, sizeof(MTLFunctionConstantValues));
}

void mtl_function_constant_values_reset(MTLFunctionConstantValues *values) {
    if (!values) return;
    for (size_t i = 0; i < values->n; i++) rt_free(values->values[i].name);
    values->n = 0;
}

static RtConstantValue *find_or_add(MTLFunctionConstantValues *values, const char *name,
                                    uint32_t index) {
    for (size_t i = 0; i < values->n; i++) {
        RtConstantValue *v = &values->values[i];
        if (name ? v->name && strcmp(v->name, name) == 0 : !v->name && v->index == index) return v;
    }
    if (!rt_grow(&values->values, &values->capacity, values->n + 1, sizeof *values->values))
        return NULL;
    RtConstantValue *v = &values->values[values->n];
    *v = (RtConstantValue){.index = index};
    if (name && !(v->name = rt_strdup(name))) return NULL;
    values->n++;
    return v;
}

static void set_value(MTLFunctionConstantValues *values, const char *call, const void *value,
                      MTLDataType type, const char *name, size_t index) {
    size_t n_bytes = rt_data_type_bytes((uint32_t)type);
    if (!values)
        rt_misuse(NULL, RT_RULE_null_object, call, NULL);
    else if (!value)
        rt_misuse(NULL, RT_RULE_null_argument, call, "value");
    else if (n_bytes == 0)
        rt_misuse(NULL, RT_RULE_constant_type, call, "MTLDataType %d", (int)type);
    else if (index > MAX_CONSTANT_INDEX)
        rt_misuse(NULL, RT_RULE_constant_index, call, "index %zu", index);
    else {
        RtConstantValue *v = find_or_add(values, name, (uint32_t)index);
        if (!v) return; // no memory: the function will miss the value and say so
        v->data_type = (uint32_t)type;
        v->n_bytes = n_bytes;
        memset(v->data, 0, sizeof v->data);
        memcpy(v->data, value, n_bytes);
    }
}

void mtl_function_constant_values_set_constant_value(MTLFunctionConstantValues *values,
                                                     const void *value, MTLDataType type,
                                                     size_t index) {
    set_value(values, __func__, value, type, NULL, index);
}

void mtl_function_constant_values_set_constant_values(MTLFunctionConstantValues *values,
                                                      const void *array, MTLDataType type,
                                                      MTLRange range) {
    size_t stride = rt_data_type_stride((uint32_t)type);
    if (range.length > MAX_CONSTANT_INDEX + 1u ||
        range.location > MAX_CONSTANT_INDEX + 1u - range.length) {
        rt_misuse(NULL, RT_RULE_constant_index, __func__, "%zu from %zu on", range.length,
                  range.location);
        return;
    }
    for (size_t i = 0; i < range.length; i++)
        set_value(values, __func__, array ? (const char *)array + i * stride : NULL, type, NULL,
                  range.location + i);
}

void mtl_function_constant_values_set_constant_value_with_name(MTLFunctionConstantValues *values,
                                                               const void *value, MTLDataType type,
                                                               const char *name) {
    if (name)
        set_value(values, __func__, value, type, name, 0);
    else
        rt_misuse(NULL, RT_RULE_null_argument, __func__, "name");
}

MTLFunctionConstantValues *rt_constant_values_copy(const MTLFunctionConstantValues *values) {
    MTLFunctionConstantValues *copy = mtl_function_constant_values_new();
    if (!copy) return NULL;
    for (size_t i = 0; i < values->n; i++) {
        const RtConstantValue *from = &values->values[i];
        RtConstantValue *to = find_or_add(copy, from->name, from->index);
        if (!to) {
            mtl_release(copy);
            return NULL;
        }
        to->data_type = from->data_type;
        to->n_bytes = from->n_bytes;
        memcpy(to->data, from->data, sizeof to->data);
    }
    return copy;
}

const RtConstantValue *rt_constant_value_find(const MTLFunctionConstantValues *values,
                                              const RfConstant *constant) {
    const RtConstantValue *found = NULL;
    for (size_t i = 0; values && i < values->n; i++) {
        const RtConstantValue *v = &values->values[i];
        if (v->name && strcmp(v->name, constant->name) == 0) return v;
        if (!v->name && v->index == constant->index) found = v;
    }
    return found;
}
