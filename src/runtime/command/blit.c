// SPDX-License-Identifier: Apache-2.0
// blit.c: MTLBlitCommandEncoder: its life, buffers, hints and fences. Textures: blit_texture.c,
// mipmaps: blit_mipmaps.c. A command is checked when it is encoded and leaves addresses and
// distances in the command stream, which the device copies by.
#include "runtime/memory/own_memory.h"
#include "runtime/command/blit.h"
#include <stdio.h>
#include "runtime/command/fence.h"
#include "runtime/command/execute.h"

RT_CLASS rt_blit_encoder_class = {.name = "MTLBlitCommandEncoder", .owner = rt_encoder_owner};

// ---- Opening, ending, names ----

MTLBlitCommandEncoder *mtl_command_buffer_blit_command_encoder(MTLCommandBuffer *buffer) {
    return rt_encoder_open(buffer, &rt_blit_encoder_class, sizeof(MTLBlitCommandEncoder), __func__);
}

MTLBlitCommandEncoder *mtl_command_buffer_blit_command_encoder_with_descriptor(
    MTLCommandBuffer *buffer, const MTLBlitPassDescriptor *pass) {
    MTLBlitCommandEncoder *e =
        rt_encoder_open(buffer, &rt_blit_encoder_class, sizeof(MTLBlitCommandEncoder), __func__);
    if (e && pass) rt_inspector.begin_pass(e, pass->sample_buffer_attachments, __func__);
    return e;
}

// ---- Rules ----

bool rt_blit_valid(MTLBlitCommandEncoder *encoder, const char *call, RtSite *site) {
    if (!rt_encoder_valid(encoder, &rt_blit_encoder_class, call)) return false;
    MTLCommandBuffer *buffer = encoder->encoder.buffer;
    *site = (RtSite){buffer->device, buffer, call};
    return true;
}

bool rt_blit_valid_buffer(const RtSite *site, const MTLBuffer *buffer, const char *argument,
                          size_t offset, size_t n_bytes) {
    if (!rt_is(buffer, &rt_buffer_class)) {
        rt_misuse_at(site, buffer ? RT_RULE_wrong_class : RT_RULE_null_argument, "%s%s%s", argument,
                     buffer ? " is a " : "", mtl_class_name(buffer));
        return false;
    }
    if (offset <= buffer->length && n_bytes <= buffer->length - offset) return true;
    rt_misuse_at(site, RT_RULE_blit_buffer_range, "%s '%s': %zu bytes at %zu of %zu", argument,
                 rt_label(&buffer->resource.label), n_bytes, offset, buffer->length);
    return false;
}

// A copy or fill of n bytes at an offset, cut to what the buffer has; without the debug layer only.
static bool valid_range(const RtSite *site, const MTLBuffer *buffer, const char *argument,
                        size_t offset, size_t *n_bytes) {
    if (!rt_blit_valid_buffer(site, buffer, argument, 0, 0)) return false;
    size_t left = offset < buffer->length ? buffer->length - offset : 0;
    if (*n_bytes <= left && offset <= buffer->length) return true;
    rt_misuse_at(site, RT_RULE_blit_copy_range, "%s '%s': %zu bytes at %zu of %zu", argument,
                 rt_label(&buffer->resource.label), *n_bytes, offset, buffer->length);
    *n_bytes = left;
    return rt_tolerates(site->device, RT_RULE_blit_copy_range);
}

bool rt_blit_valid_texture(const RtSite *site, const MTLTexture *texture, const char *argument) {
    char name[RT_TEXTURE_NAME];
    if (!rt_is_texture(site, texture, argument)) return false;
    if (rt_storage_mode(&texture->resource) != MTLStorageModeMemoryless) return true;
    rt_misuse_at(site, RT_RULE_blit_memoryless, "%s %s", argument, rt_texture_name(texture, name));
    return false;
}

// ---- Buffers ----

typedef struct CopyOp {
    RtOp op;
    const char *from;
    char *to;
    size_t n_bytes;
} CopyOp;

static RtOpResult run_copy(RtOp *op, RtExecution *x) {
    const CopyOp *copy = (const CopyOp *)(const void *)op;
    const DevTable *table = x->buffer->device->table;
    return dev_copy(table, x->run, copy->to, copy->from, copy->n_bytes) ? RT_OP_DONE : RT_OP_FAILED;
}

static void describe_copy(const RtOp *op, char *text, size_t n_bytes) {
    snprintf(text, n_bytes, "\"bytes\":%zu", ((const CopyOp *)(const void *)op)->n_bytes);
}

static const RtOpClass copy_class = {
    .name = "copy buffer", .run = run_copy, .describe = describe_copy};

void mtl_blit_command_encoder_copy_from_buffer(MTLBlitCommandEncoder *encoder, MTLBuffer *source,
                                               size_t source_offset, MTLBuffer *destination,
                                               size_t destination_offset, size_t size) {
    RtSite site;
    if (rt_blit_valid(encoder, __func__, &site))
        rt_blit_copy_buffer(&site, source, source_offset, destination, destination_offset, size);
}

void rt_blit_copy_buffer(const RtSite *site, MTLBuffer *source, size_t source_offset,
                         MTLBuffer *destination, size_t destination_offset, size_t size) {
    if (!valid_range(site, source, "source", source_offset, &size) ||
        !valid_range(site, destination, "destination", destination_offset, &size))
        return;
    if (size == 0) return; // the offsets may lie anywhere then
    // By address: buffers of a heap or over one memory may be the same bytes under two names.
    const char *from = source->memory + source_offset;
    char *to = destination->memory + destination_offset;
    if (from < to + size && to < from + size) {
        rt_misuse_at(site, RT_RULE_blit_copy_overlap, "'%s' at %zu, '%s' at %zu, %zu bytes",
                     rt_label(&source->resource.label), source_offset,
                     rt_label(&destination->resource.label), destination_offset, size);
        if (!rt_tolerates(site->device, RT_RULE_blit_copy_overlap)) return;
    }
    CopyOp *op = rt_cb_alloc(site->commands, sizeof *op);
    if (!op) {
        rt_cb_no_memory(site->commands);
        return;
    }
    op->from = from;
    op->to = to;
    op->n_bytes = size;
    if (rt_cb_use(site->commands, &source->resource, false) &&
        rt_cb_use(site->commands, &destination->resource, true))
        rt_cb_append(site->commands, &op->op, &copy_class);
}

typedef struct FillOp {
    RtOp op;
    char *to;
    size_t n_bytes;
    uint8_t value;
} FillOp;

static RtOpResult run_fill(RtOp *op, RtExecution *x) {
    const FillOp *fill = (const FillOp *)(const void *)op;
    const DevTable *table = x->buffer->device->table;
    return dev_fill(table, x->run, fill->to, fill->value, fill->n_bytes) ? RT_OP_DONE
                                                                         : RT_OP_FAILED;
}

static void describe_fill(const RtOp *op, char *text, size_t n_bytes) {
    snprintf(text, n_bytes, "\"bytes\":%zu", ((const FillOp *)(const void *)op)->n_bytes);
}

static const RtOpClass fill_class = {
    .name = "fill buffer", .run = run_fill, .describe = describe_fill};

void mtl_blit_command_encoder_fill_buffer(MTLBlitCommandEncoder *encoder, MTLBuffer *buffer,
                                          MTLRange range, uint8_t value) {
    RtSite site;
    if (rt_blit_valid(encoder, __func__, &site)) rt_blit_fill(&site, buffer, range, value);
}

void rt_blit_fill(const RtSite *site, MTLBuffer *buffer, MTLRange range, uint8_t value) {
    if (!valid_range(site, buffer, "buffer", range.location, &range.length)) return;
    if (range.length == 0) {
        rt_misuse_at(site, RT_RULE_blit_copy_range, "'%s': 0 bytes at %zu",
                     rt_label(&buffer->resource.label), range.location);
        return;
    }
    FillOp *op = rt_cb_alloc(site->commands, sizeof *op);
    if (!op) {
        rt_cb_no_memory(site->commands);
        return;
    }
    op->to = buffer->memory + range.location;
    op->n_bytes = range.length;
    op->value = value;
    if (rt_cb_use(site->commands, &buffer->resource, true))
        rt_cb_append(site->commands, &op->op, &fill_class);
}

// ---- Hints: checked, then nothing, where memory is one ----

static bool managed(const RtSite *site, const MTLResource *resource) {
    // Harmless on a Mac without the debug layer, so an error only with it.
    if (!site->device->debug_layer || rt_storage_mode(resource) == MTLStorageModeManaged)
        return true;
    rt_misuse_at(site, RT_RULE_blit_synchronize_storage, "'%s' has storage mode %d",
                 rt_label(&resource->label), (int)rt_storage_mode(resource));
    return false;
}

typedef struct SynchronizeOp {
    RtOp op;
    DevMemory memory;
} SynchronizeOp;

static RtOpResult run_synchronize(RtOp *op, RtExecution *x) {
    const SynchronizeOp *s = (const SynchronizeOp *)(const void *)op;
    return x->buffer->device->table->synchronize(x->run, &s->memory) ? RT_OP_DONE : RT_OP_FAILED;
}

static const RtOpClass synchronize_class = {.name = "synchronize", .run = run_synchronize};

// The host's side of managed memory is to be as the device's. All of the resource, also where a
// part of a texture was asked for.
static void synchronize(const RtSite *site, MTLResource *resource) {
    DevMemory memory;
    if (!rt_cb_use(site->commands, resource, false) || !site->device->table->synchronize ||
        rt_storage_mode(resource) != MTLStorageModeManaged || !rt_memory_behind(resource, &memory))
        return;
    SynchronizeOp *s = rt_cb_alloc(site->commands, sizeof *s);
    if (!s) {
        rt_cb_no_memory(site->commands);
        return;
    }
    s->memory = memory;
    rt_cb_append(site->commands, &s->op, &synchronize_class);
}

void mtl_blit_command_encoder_synchronize_resource(MTLBlitCommandEncoder *encoder,
                                                   MTLResource *resource) {
    RtSite site;
    if (!rt_blit_valid(encoder, __func__, &site)) return;
    if (!resource || !rt_is_resource(resource))
        rt_misuse_at(&site, resource ? RT_RULE_wrong_class : RT_RULE_null_argument, "resource");
    else if (managed(&site, resource))
        synchronize(&site, resource);
}

static void hint(MTLBlitCommandEncoder *encoder, const char *call, MTLTexture *texture,
                 size_t slice, size_t level, bool is_synchronize) {
    RtSite site;
    if (rt_blit_valid(encoder, call, &site))
        rt_blit_hint(&site, texture, slice, level, is_synchronize);
}

void rt_blit_hint(const RtSite *site, MTLTexture *texture, size_t slice, size_t level,
                  bool is_synchronize) {
    if (!rt_blit_valid_texture(site, texture, "texture") ||
        (is_synchronize && !managed(site, &texture->resource)))
        return;
    const MTLRegion texel = mtl_region_make_3d(0, 0, 0, texture->record.format->block_width,
                                               texture->record.format->block_height, 1);
    MTLRegion region = texel;
    if (level < texture->record.n_levels) { // a level may be smaller than a block
        const AbiTextureLevel *l = &texture->record.levels[level];
        if (region.size.width > l->width) region.size.width = l->width;
        if (region.size.height > l->height) region.size.height = l->height;
    }
    if (!rt_valid_region(site, texture, level, slice, region)) return;
    if (is_synchronize)
        synchronize(site, &texture->resource);
    else
        rt_cb_use(site->commands, &texture->resource, false);
}

void mtl_blit_command_encoder_synchronize_texture(MTLBlitCommandEncoder *encoder,
                                                  MTLTexture *texture, size_t slice, size_t level) {
    hint(encoder, __func__, texture, slice, level, true);
}

RT_OPTIMIZE_CONTENTS(mtl_blit_command_encoder, MTLBlitCommandEncoder, gpu)
RT_OPTIMIZE_CONTENTS(mtl_blit_command_encoder, MTLBlitCommandEncoder, cpu)

void mtl_blit_command_encoder_get_texture_access_counters(MTLBlitCommandEncoder *encoder,
                                                          MTLTexture *texture, MTLRegion region,
                                                          size_t level, size_t slice, bool reset,
                                                          MTLBuffer *counters, size_t offset) {
    RtSite site;
    (void)texture, (void)region, (void)level, (void)slice, (void)reset, (void)counters,
        (void)offset;
    if (rt_blit_valid(encoder, __func__, &site))
        rt_misuse_at(&site, RT_RULE_texture_unsupported, "access counters of sparse textures");
}

void mtl_blit_command_encoder_reset_texture_access_counters(MTLBlitCommandEncoder *encoder,
                                                            MTLTexture *texture, MTLRegion region,
                                                            size_t level, size_t slice) {
    RtSite site;
    (void)texture, (void)region, (void)level, (void)slice;
    if (rt_blit_valid(encoder, __func__, &site))
        rt_misuse_at(&site, RT_RULE_texture_unsupported, "access counters of sparse textures");
}

#include "accessors/command/blit.inc" // plain accessors, from the table
