// SPDX-License-Identifier: Apache-2.0
// argument_table.h: MTL4ArgumentTable: bindings that encoders of Metal 4 share; the slots of a
// dispatch or draw are filled from it.
#ifndef INGOT_RUNTIME_ARGUMENT_TABLE_H
#define INGOT_RUNTIME_ARGUMENT_TABLE_H
#include "ingot/metal4.h"
#include "runtime/command/compute.h"

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

// Fills the slots of a dispatch from its table. False after a message.
bool rt_table_bind(MTLComputeCommandEncoder *e, const char *call);
// The same with all addresses of the table, for indirect commands that inherit them.
void rt_table_bind_all(MTLComputeCommandEncoder *e);
// What a table has at the index; 0: nothing.
uint64_t rt_table_texture(const MTL4ArgumentTable *table, size_t index);
uint64_t rt_table_sampler(const MTL4ArgumentTable *table, size_t index);
#endif
