// SPDX-License-Identifier: Apache-2.0
// resource_state.c: MTLResourceStateCommandEncoder: mappings of sparse textures, in the order of
// commands. What a command names is checked when it is encoded; what it reads from a buffer is cut
// to what there is when it runs.
#include "runtime/command/command_buffer.h"
#include "runtime/command/execute.h"
#include "runtime/command/fence.h"
#include "runtime/memory/sparse.h"

struct MTLResourceStateCommandEncoder {
    MTLCommandEncoder encoder;
};
static RT_CLASS encoder_class = {.name = "MTLResourceStateCommandEncoder",
                                 .owner = rt_encoder_owner};

// ---- Opening, ending, names ----

MTLResourceStateCommandEncoder *mtl_command_buffer_resource_state_command_encoder(
    MTLCommandBuffer *buffer) {
    return rt_encoder_open(buffer, &encoder_class, sizeof(MTLResourceStateCommandEncoder),
                           __func__);
}

MTLResourceStateCommandEncoder *mtl_command_buffer_resource_state_command_encoder_with_descriptor(
    MTLCommandBuffer *buffer, const MTLResourceStatePassDescriptor *pass) {
    MTLResourceStateCommandEncoder *e =
        rt_encoder_open(buffer, &encoder_class, sizeof(MTLResourceStateCommandEncoder), __func__);
    if (e && pass) rt_inspector.begin_pass(e, pass->sample_buffer_attachments, __func__);
    return e;
}

// ---- Operations ----

typedef struct MapOp { // an update, or a move
    RtOp op;
    MTLTexture *texture, *to; // held by the command buffer; to: of a move
    MTLSparseTextureMappingMode mode;
    RtTiles tiles, places;
    const char *indirect; // not NULL: MTLMapIndirectArguments there
} MapOp;

static RtOpResult run_map(RtOp *op, RtExecution *x) {
    MapOp *m = (MapOp *)op;
    RtTiles tiles = m->tiles;
    MTLMapIndirectArguments arguments;
    if (m->indirect) {
        if (!rt_execution_read(x, &arguments, m->indirect, sizeof arguments)) return RT_OP_FAILED;
        tiles = rt_sparse_cut(m->texture, &arguments);
    }
    // What ran before may still be at work on the device.
    if (!dev_finish(x->buffer->device->table, x->run)) return RT_OP_FAILED;
    if (m->to)
        rt_sparse_move(m->texture, &tiles, m->to, &m->places);
    else if (m->mode == MTLSparseTextureMappingModeUnmap)
        rt_sparse_unmap(m->texture, &tiles);
    else if (!rt_sparse_map(m->texture, &tiles))
        rt_misuse(x->buffer->device, RT_RULE_sparse_full,
                  "mtl_resource_state_command_encoder_update_texture_mapping", "texture '%s'",
                  rt_label(&m->texture->resource.label));
    return RT_OP_DONE;
}

static const RtOpClass map_class = {.name = "map tiles", .run = run_map, .by_host = true};

static void append(const RtSite *site, const MapOp *op) {
    MapOp *copy = rt_cb_alloc(site->commands, sizeof *copy);
    if (!copy) {
        rt_cb_no_memory(site->commands);
        return;
    }
    *copy = *op;
    if (rt_cb_use(site->commands, &op->texture->resource, true) &&
        (!op->to || rt_cb_use(site->commands, &op->to->resource, true)) &&
        rt_cb_hold(site->commands, op->texture) && (!op->to || rt_cb_hold(site->commands, op->to)))
        rt_cb_append(site->commands, &copy->op, &map_class);
}

static bool valid(MTLResourceStateCommandEncoder *encoder, MTLSparseTextureMappingMode mode,
                  const char *call, RtSite *site) {
    if (!rt_encoder_valid(encoder, &encoder_class, call)) return false;
    MTLCommandBuffer *buffer = encoder->encoder.buffer;
    *site = (RtSite){buffer->device, buffer, call};
    if ((unsigned)mode <= MTLSparseTextureMappingModeUnmap) return true;
    rt_misuse_at(site, RT_RULE_encoder_option, "mode %d", (int)mode);
    return false;
}

void mtl_resource_state_command_encoder_update_texture_mappings(
    MTLResourceStateCommandEncoder *encoder, MTLTexture *texture, MTLSparseTextureMappingMode mode,
    const MTLRegion *regions, const size_t *levels, const size_t *slices, size_t count) {
    RtSite site;
    if (!valid(encoder, mode, __func__, &site)) return;
    if (count && (!regions || !levels || !slices)) {
        rt_misuse_at(&site, RT_RULE_null_argument, "regions, levels or slices");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        MapOp op = {.texture = texture, .mode = mode};
        if (!rt_sparse_valid(&site, texture, regions[i], levels[i], slices[i], false, &op.tiles))
            return;
        append(&site, &op);
    }
}

void mtl_resource_state_command_encoder_update_texture_mapping(
    MTLResourceStateCommandEncoder *encoder, MTLTexture *texture, MTLSparseTextureMappingMode mode,
    MTLRegion region, size_t level, size_t slice) {
    RtSite site;
    MapOp op = {.texture = texture, .mode = mode};
    if (valid(encoder, mode, __func__, &site) &&
        rt_sparse_valid(&site, texture, region, level, slice, false, &op.tiles))
        append(&site, &op);
}

void mtl_resource_state_command_encoder_update_texture_mapping_indirect(
    MTLResourceStateCommandEncoder *encoder, MTLTexture *texture, MTLSparseTextureMappingMode mode,
    MTLBuffer *indirect_buffer, size_t indirect_buffer_offset) {
    RtSite site;
    MapOp op = {.texture = texture, .mode = mode};
    if (!valid(encoder, mode, __func__, &site) ||
        !rt_sparse_valid(&site, texture, (MTLRegion){0}, 0, 0, false, &op.tiles))
        return;
    if (!rt_is(indirect_buffer, &rt_buffer_class) || indirect_buffer_offset % 4 ||
        indirect_buffer->length < sizeof(MTLMapIndirectArguments) ||
        indirect_buffer_offset > indirect_buffer->length - sizeof(MTLMapIndirectArguments)) {
        rt_misuse_at(&site, indirect_buffer ? RT_RULE_indirect_offset : RT_RULE_null_argument,
                     "offset %zu", indirect_buffer_offset);
        return;
    }
    op.indirect = indirect_buffer->memory + indirect_buffer_offset;
    if (rt_cb_use(site.commands, &indirect_buffer->resource, false)) append(&site, &op);
}

static bool same_tiles(const MTLTexture *a, const MTLTexture *b) {
    for (int i = 0; i < 3; i++)
        if (a->sparse->abi.tile[i] != b->sparse->abi.tile[i]) return false;
    return a->sparse->page_size == b->sparse->page_size &&
           a->record.format->block_bytes == b->record.format->block_bytes;
}

void mtl_resource_state_command_encoder_move_texture_mappings(
    MTLResourceStateCommandEncoder *encoder, MTLTexture *source, size_t source_slice,
    size_t source_level, MTLOrigin source_origin, MTLSize source_size, MTLTexture *destination,
    size_t destination_slice, size_t destination_level, MTLOrigin destination_origin) {
    RtSite site;
    MapOp op = {.texture = source, .to = destination};
    if (!valid(encoder, 0, __func__, &site) ||
        !rt_sparse_valid(&site, source, (MTLRegion){source_origin, source_size}, source_level,
                         source_slice, false, &op.tiles) ||
        !rt_sparse_valid(&site, destination, (MTLRegion){destination_origin, source_size},
                         destination_level, destination_slice, false, &op.places))
        return;
    bool tail = source_level >= source->sparse->abi.tail_level;
    if (tail || destination_level >= destination->sparse->abi.tail_level ||
        !same_tiles(source, destination))
        rt_misuse_at(&site, RT_RULE_sparse_texture,
                     "tiles that move have one size and are none of a tail");
    else
        append(&site, &op);
}

#include "accessors/command/resource_state.inc" // plain accessors, from the table
