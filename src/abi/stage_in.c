// SPDX-License-Identifier: Apache-2.0
// stage_in.c: the buffers of a kernel's stage inputs as arguments.
#include "abi/stage_in.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MORE = 2 * MSL_MAX_VERTEX + 1, NAME_BYTES = 24 };

typedef struct Extended {
    RfFunction function;
    uint32_t n_more;
    char names[MAX_MORE][NAME_BYTES];
    char nothing[1];
    RfArg args[];
} Extended;

static void add_argument(Extended *e, RfArgKind kind, uint32_t buffer, const char *what) {
    RfFunction *f = &e->function;
    char *name = e->names[e->n_more++];
    snprintf(name, NAME_BYTES, "%s.%u", what, buffer);
    f->args[f->n_args++] = (RfArg){.name = name,
                                   .kind = (uint8_t)kind,
                                   .space = RF_DEVICE,
                                   .access = RF_READ_ONLY,
                                   .param = ABI_STAGE_IN_PARAM,
                                   .index = buffer,
                                   .count = 1,
                                   .slot = f->n_slots++,
                                   .type = UINT32_MAX,
                                   .condition = e->nothing,
                                   .symbol = e->nothing};
}

RfFunction *abi_stage_in_function(const RfFunction *f, const MslVertexDescriptor *d) {
    Extended *e = calloc(1, sizeof *e + (f->n_args + (size_t)MAX_MORE) * sizeof *e->args);
    if (!e) return NULL;
    e->function = *f;
    e->function.args = e->args;
    if (f->n_args) memcpy(e->args, f->args, f->n_args * sizeof *e->args);
    uint32_t used = 0;
    for (unsigned i = 0; i < MSL_MAX_VERTEX; i++)
        if (d->attributes[i].format && d->attributes[i].buffer < MSL_MAX_VERTEX)
            used |= 1u << d->attributes[i].buffer;
    for (uint32_t i = 0; i < MSL_MAX_VERTEX; i++)
        if (used >> i & 1) add_argument(e, RF_ARG_BUFFER, i, "vertexBuffer");
    if (d->index_bytes && !(d->index_buffer < MSL_MAX_VERTEX && used >> d->index_buffer & 1))
        add_argument(e, RF_ARG_BUFFER, d->index_buffer, "indexBuffer");
    for (uint32_t i = 0; i < MSL_MAX_VERTEX; i++)
        if (used >> i & 1 && d->layouts[i].stride == MSL_STRIDE_DYNAMIC)
            add_argument(e, RF_ARG_STRIDE, i, "stride");
    return &e->function;
}

uint32_t abi_stage_in_slot(const RfFunction *f, RfArgKind kind, uint32_t buffer) {
    for (uint32_t i = 0; i < f->n_args; i++)
        if (f->args[i].param == ABI_STAGE_IN_PARAM && f->args[i].kind == kind &&
            f->args[i].index == buffer)
            return f->args[i].slot;
    return UINT32_MAX;
}
