// SPDX-License-Identifier: Apache-2.0
// bindings.h: what is bound to one function of an encoder, by index. Two things fill it: the
// set_... calls of Metal 3's encoders, at once and for good, and the argument tables of Metal 4,
// before each dispatch or draw and only where its function looks (argument_table.c). The checks and
// snapshots that read it cannot tell which of them it was.
#ifndef INGOT_RUNTIME_BINDINGS_H
#define INGOT_RUNTIME_BINDINGS_H
#include "runtime/command/command_buffer.h"
#include "runtime/memory/buffer.h"
#include "runtime/memory/texture.h"
#include "runtime/program/pipeline.h"

typedef struct RtSlot {             // a buffer binding
    MTLBuffer *buffer;              // NULL: bytes in the arena, an address alone, or nothing
    char *address;                  // with the offset; NULL: nothing bound
    size_t n_bytes;                 // from the address on
    MTLVisibleFunctionTable *table; // bound in place of a buffer; of either kind
    MTLAccelerationStructure *acceleration; // likewise; the address is its handle
} RtSlot;

typedef struct RtTextureSlot {
    uint64_t handle;     // what kernels get; 0: nothing bound
    MTLTexture *texture; // NULL: an id that nobody has looked up, or a view of a pool
} RtTextureSlot;

typedef struct RtTextureSlots {       // set and read by the functions below: an encoder has many
    uint64_t values[RT_MAX_TEXTURES]; // a MTLTexture, or an id where there is a bit in
    uint64_t is_id[RT_MAX_TEXTURES / 64];
} RtTextureSlots;

typedef struct RtBindings { // the command buffer knows everything that is bound here
    RtSlot slots[RT_MAX_BUFFERS];
    RtTextureSlots textures;
    uint64_t samplers[RT_MAX_SAMPLERS];         // handles
    uint32_t threadgroup_bytes[RT_MAX_BUFFERS]; // not of vertex functions
} RtBindings;

static inline RtTextureSlot rt_texture_at(const RtBindings *b, size_t index) {
    if (index >= RT_MAX_TEXTURES) return (RtTextureSlot){0};
    uint64_t value = b->textures.values[index];
    if (b->textures.is_id[index / 64] >> index % 64 & 1) return (RtTextureSlot){.handle = value};
    MTLTexture *texture = (MTLTexture *)(uintptr_t)value;
    return (RtTextureSlot){texture ? texture->handle.value : 0, texture};
}
static inline void rt_texture_set(RtBindings *b, size_t index, MTLTexture *texture, uint64_t id) {
    uint64_t *bits = &b->textures.is_id[index / 64], bit = (uint64_t)1 << index % 64;
    *bits = texture ? *bits & ~bit : *bits | bit;
    b->textures.values[index] = texture ? (uint64_t)(uintptr_t)texture : id;
}

void rt_bindings_clear(RtBindings *b); // but threadgroup memory, which no table has

// The bodies of set_... calls; everything is checked, indices too.
void rt_bind_buffer(RtBindings *b, const RtSite *site, MTLBuffer *buffer, size_t offset,
                    size_t index);
// The buffer whose offset changes. NULL after a message: there is none at the index.
MTLBuffer *rt_bound_buffer(const RtBindings *b, const RtSite *site, size_t index);
void rt_bind_bytes(RtBindings *b, const RtSite *site, const void *bytes, size_t length,
                   size_t index);
void rt_bind_function_table(RtBindings *b, const RtSite *site, MTLVisibleFunctionTable *table,
                            size_t index);
void rt_bind_intersection_table(RtBindings *b, const RtSite *site,
                                MTLIntersectionFunctionTable *table, size_t index);
// Is it a table of the argument's kind? table: not NULL.
bool rt_table_fits(const RfLibrary *lib, const RfArg *arg, const MTLVisibleFunctionTable *table);
void rt_bind_texture(RtBindings *b, const RtSite *site, MTLTexture *texture, size_t index);
// clamps: NULL, or the lowest and highest level of detail instead of the sampler's own.
void rt_bind_sampler(RtBindings *b, const RtSite *site, MTLSamplerState *sampler,
                     const float *clamps, size_t index);
// Several at once: is the array there, and the range one of indices below max? Says so if not.
bool rt_bind_range(const RtSite *site, const void *array, MTLRange range, size_t max, RtRule rule);
// Is it a buffer, and the offset inside it? Says so if not; `argument` is its name.
bool rt_valid_place(const RtSite *site, const MTLBuffer *buffer, const char *argument,
                    size_t offset);

// ---- What a function reads of it (bindings_check.c) ----

// A `constant` argument whose buffer ends before its type does. Code may read the type as a whole:
// it gets a copy, with zeros behind, which is made when it runs.
typedef struct RtShort {
    struct RtShort *next;
    uint32_t slot;
    size_t n_bytes;
    const char *from;
    char *copy;
} RtShort;

typedef struct RtTake { // the arguments of a stage, on their way into its slots
    const RtStage *stage;
    const RtBindings *from;
    const RtSite *site;
    void **args; // [stage->entry->n_slots]
    RtShort *shorts;
} RtTake;
// Bytes of the argument's type; 0: not known.
static inline size_t rt_argument_bytes(const RtStage *stage, const RfArg *arg) {
    const RfLibrary *lib = rt_stage_library(stage);
    return arg->type < lib->n_types ? lib->types[arg->type].size : 0;
}
// Of a `constant` argument that is bound to fewer bytes than its type has: those of the type. Else
// 0.
static inline size_t rt_short_of(const RtStage *stage, const RfArg *arg, size_t n_bytes) {
    if (arg->space != RF_CONSTANT) return 0;
    size_t whole = rt_argument_bytes(stage, arg);
    return n_bytes < whole ? whole : 0;
}
// Element k of a buffer, table or tensor argument is what lies in a slot that is not empty; what
// the function writes is noted. False: no memory.
bool rt_take_short(RtTake *t, const RfArg *arg, uint32_t k, const RtSlot *slot, size_t whole);
static inline bool rt_take_slot(RtTake *t, const RfArg *arg, uint32_t k, const RtSlot *slot) {
    t->args[arg->slot + k] = slot->address;
    if (slot->buffer && arg->access != RF_READ_ONLY &&
        !rt_cb_use(t->site->commands, &slot->buffer->resource, true))
        return false;
    size_t whole = rt_short_of(t->stage, arg, slot->n_bytes);
    return !whole || rt_take_short(t, arg, k, slot, whole);
}
// The handles of a texture, sampler or acceleration structure, if they are right for the argument.
// False after a message.
static inline bool rt_is_handle(const RfArg *arg) {
    return arg->kind == RF_ARG_TEXTURE || arg->kind == RF_ARG_SAMPLER ||
           arg->kind == RF_ARG_ACCELERATION;
}
bool rt_take_handles(const RtTake *t, const RfArg *arg, bool required);

// ---- Acceleration structures (acceleration_bind.c) ----

bool rt_valid_acceleration(const RtSite *site, const MTLAccelerationStructure *structure,
                           const char *argument);
void rt_bind_acceleration(RtBindings *b, const RtSite *site, MTLAccelerationStructure *structure,
                          size_t index);
bool rt_take_accelerations(const RtTake *t, const RfArg *arg, bool required); // as textures
#endif
