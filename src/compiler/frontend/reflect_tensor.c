// SPDX-License-Identifier: Apache-2.0
// reflect_tensor.c: tensors in reflection: their types, from the templates of
// stdlib/detail/tensor.h, and arguments of entry points that are tensors or arrays of them. Only
// handles can come from the host: a tensor_inline is memory of the kernel's own.
#include "compiler/frontend/frontend_int.h"
#include <stdio.h>
#include <string.h>

enum { ARG_ELEMENT, ARG_EXTENTS, ARG_DESCRIPTOR, N_ARGS }; // of tensor<...>

static bool is_named(const ReflectBuilder *b, uint32_t type, const char *name) {
    return type < b->lib->n_types && b->infos[type].kind == BRIDGE_TYPE_METAL &&
           strcmp(b->infos[type].template_name, name) == 0;
}

// extents<Index, E...>
static bool set_extents(const ReflectBuilder *b, RfType *t, uint32_t type) {
    if (!is_named(b, type, "extents")) return false;
    const BridgeType *e = &b->infos[type];
    if (e->n_args < 1 || e->arg_types[0] >= b->lib->n_types) return false;
    t->index_type = b->lib->types[e->arg_types[0]].data_type;
    t->rank = (uint8_t)(e->n_args - 1);
    for (uint32_t i = 0; i < t->rank; i++) {
        int64_t n = e->arg_values[i + 1];
        t->extents[i] = n < 0 || n >= UINT32_MAX ? UINT32_MAX : (uint32_t)n;
    }
    return true;
}

static void name_tensor(const ReflectBuilder *b, const RfType *t, const BridgeType *info,
                        char *name, size_t n_name) {
    const RfType *index = &b->lib->types[b->infos[info->arg_types[ARG_EXTENTS]].arg_types[0]];
    bool dynamic = true, constant = info->space == BRIDGE_SPACE_CONSTANT;
    for (uint32_t i = 0; i < t->rank; i++) dynamic &= t->extents[i] == UINT32_MAX;
    int at = snprintf(name, n_name, "tensor<%s %s%s, ", constant ? "constant" : "device",
                      info->is_const && !constant ? "const " : "", b->lib->types[t->element].name);
    if (dynamic) {
        snprintf(name + at, n_name - (size_t)at, "dextents<%s, %u>>", index->name, t->rank);
        return;
    }
    at += snprintf(name + at, n_name - (size_t)at, "extents<%s", index->name);
    for (uint32_t i = 0; i < t->rank && (size_t)at < n_name; i++)
        at += t->extents[i] == UINT32_MAX
                  ? snprintf(name + at, n_name - (size_t)at, ", dynamic_extent")
                  : snprintf(name + at, n_name - (size_t)at, ", %u", t->extents[i]);
    if ((size_t)at < n_name) snprintf(name + at, n_name - (size_t)at, ">>");
}

bool reflect_tensor_type(const ReflectBuilder *b, RfType *t, const BridgeType *info, char *name,
                         size_t n_name) {
    const char *tmpl = info->template_name;
    if (strcmp(tmpl, "int4b_format") == 0 || strcmp(tmpl, "uint4b_format") == 0) {
        t->data_type = *tmpl == 'i' ? DT_INT4 : DT_UINT4;
        snprintf(name, n_name, "%s", tmpl);
        return true;
    }
    if (strcmp(tmpl, "tensor") != 0 || info->n_args != N_ARGS ||
        info->arg_types[ARG_ELEMENT] >= b->lib->n_types ||
        !is_named(b, info->arg_types[ARG_DESCRIPTOR], "tensor_handle") ||
        !set_extents(b, t, info->arg_types[ARG_EXTENTS]))
        return false;
    t->data_type = DT_TENSOR;
    t->element = info->arg_types[ARG_ELEMENT];
    t->space = (uint8_t)info->space;
    bool read_only = info->is_const || info->space == BRIDGE_SPACE_CONSTANT;
    t->access = read_only ? RF_READ_ONLY : RF_READ_WRITE;
    t->size = t->align = 8;
    BridgeType *keep = &b->infos[t - b->lib->types]; // a handle, even where nothing looks inside
    keep->size = keep->align = 8;
    name_tensor(b, t, info, name, n_name);
    return true;
}
