// SPDX-License-Identifier: Apache-2.0
// argument_table.h: MTL4ArgumentTable: bindings that encoders of Metal 4 share; those of a dispatch
// or draw are filled from it.
#ifndef INGOT_RUNTIME_ARGUMENT_TABLE_H
#define INGOT_RUNTIME_ARGUMENT_TABLE_H
#include "ingot/metal4.h"
#include "runtime/command/bindings.h"

typedef struct RtBinding {
    uint64_t value; // an address, or the id of a tensor or function table
    bool resource;
    bool has_stride;
    size_t stride; // of vertex attributes
} RtBinding;

struct MTL4ArgumentTable {
    RtObject object;
    MTLDevice *device; // retained
    RtLabel label;
    uint32_t n_buffers, n_textures, n_samplers;
    bool strides;
    _Atomic uint64_t version; // raised by each change
    RtBinding *buffers;       // behind the struct, as the others
    uint64_t *textures, *samplers;
};
extern RtClass rt_argument_table_class;

// ---- Into bindings (argument_fill.c) ----

typedef struct RtFill { // a stage that is about to run, and where its bindings come from
    const MTL4ArgumentTable *table;
    RtBindings *to;
    const RtSite *site;
    const RtStage *stage;
    unsigned how; // RT_FILL_
} RtFill;
enum {
    // How far memory reaches is always looked up, since fetches of the device are bounded by it: of
    // draws. Else only where somebody needs to know.
    RT_FILL_BOUNDED = 1,
    RT_FILL_CHECKED = 2, // the function's code is: the buffers' labels are needed later
};
// What the arguments of the function need. What does not fit its argument stays empty: it is then
// reported as missing, if it is needed. False after a message.
bool rt_table_fill(const RtFill *fill);
// A buffer that is no argument: of vertex attributes.
bool rt_table_fill_buffer(const RtFill *fill, size_t index);
// All buffers, for indirect commands that inherit them. An address in nobody's memory stays empty.
bool rt_table_fill_all(const MTL4ArgumentTable *table, RtBindings *to, MTLCommandBuffer *commands);
#endif
