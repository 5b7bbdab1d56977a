// SPDX-License-Identifier: Apache-2.0
// reflect_web.c: see reflect_web.h.
#include "apps/tools/reflect_web.h"
#include "base/json.h"

static void append_key(Text *t, const char *before, const char *value) {
    text_add(t, before);
    json_string(t, value);
}

static void put_type(Text *t, const RfType *type) {
    append_key(t, "{\"name\": ", type->name);
    text_printf(t, ", \"data_type\": %u, \"size\": %u, \"align\": %u", type->data_type, type->size,
                type->align);
    if (type->n_elements)
        text_printf(t, ", \"n\": %u, \"stride\": %u", type->n_elements, type->stride);
    if (type->element != UINT32_MAX) text_printf(t, ", \"element\": %u", type->element);
    if (type->n_members) text_add(t, ", \"members\": [");
    for (uint32_t i = 0; i < type->n_members; i++) {
        append_key(t, i ? ", {\"name\": " : "{\"name\": ", type->members[i].name);
        text_printf(t, ", \"type\": %u, \"offset\": %u}", type->members[i].type,
                    type->members[i].offset);
    }
    text_add(t, type->n_members ? "]}" : "}");
}

static void put_arg(Text *t, const RfArg *a, const RfType *type) {
    static const char *const kinds[] = {
        "buffer", "threadgroup", "texture", "sampler", "stride",     "builtin",     "table",
        "tensor", "payload",     "grid",    "mesh",    "imageblock", "acceleration"};
    static const char *const spaces[] = {"", "device", "constant", "threadgroup", "thread"};
    static const char *const accesses[] = {"read", "read_write", "write"};
    append_key(t, "{\"name\": ", a->name);
    append_key(t, ", \"kind\": ", kinds[a->kind]);
    append_key(t, ", \"space\": ", spaces[a->space]);
    append_key(t, ", \"access\": ", accesses[a->kind == RF_ARG_TEXTURE ? type->access : a->access]);
    text_printf(t, ", \"index\": %d, \"count\": %u, \"type\": %u}",
                a->kind == RF_ARG_BUILTIN ? -1 : (int)a->index, a->count, a->type);
}

void reflect_web(const RfLibrary *rf, Text *json) {
    text_add(json, "\"types\": [");
    for (uint32_t i = 0; i < rf->n_types; i++) {
        if (i) text_add(json, ",\n");
        put_type(json, &rf->types[i]);
    }
    text_add(json, "], \"functions\": [");
    for (uint32_t i = 0; i < rf->n_functions; i++) {
        const RfFunction *f = &rf->functions[i];
        append_key(json, i ? ",\n{\"name\": " : "{\"name\": ", f->name);
        append_key(json, ", \"stage\": ", rf_stage_name(f->stage));
        text_add(json, ", \"args\": [");
        for (uint32_t k = 0; k < f->n_args; k++) {
            if (k) text_add(json, ", ");
            put_arg(json, &f->args[k], &rf->types[f->args[k].type]);
        }
        text_add(json, "]}");
    }
    text_add(json, "]");
}
