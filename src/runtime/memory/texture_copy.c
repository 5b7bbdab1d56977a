// SPDX-License-Identifier: Apache-2.0
// texture_copy.c: texels between a texture and the program's memory, at once: replace_region and
// get_bytes. Row by row; rows that follow each other in both places go as one.
#include "runtime/memory/texture.h"

DevSide rt_texture_side(const AbiTexture *t, size_t level, size_t slice, MTLOrigin o,
                        size_t sample) {
    const AbiTextureLevel *l = &t->levels[level];
    // Slices and planes lie the same way, and only one of the two is not 0.
    return (DevSide){.at = (char *)abi_texture_at(t, (uint32_t)level, (uint32_t)o.x, (uint32_t)o.y,
                                                  (uint32_t)(slice + o.z), (uint32_t)sample),
                     .row = l->row_bytes,
                     .plane = l->layer_bytes,
                     .step = t->format->block_bytes,
                     .texture = t,
                     .level = (uint32_t)level,
                     .slice = (uint32_t)slice,
                     .sample = (uint32_t)sample,
                     .x = (uint32_t)o.x,
                     .y = (uint32_t)o.y,
                     .z = (uint32_t)o.z};
}

void rt_texture_extent(DevMove *move, const AbiPixelFormat *f, MTLSize size) {
    move->n_elements = abi_format_columns(f, (uint32_t)size.width);
    move->row = move->n_elements * f->block_bytes;
    move->n_rows = abi_format_rows(f, (uint32_t)size.height);
    move->n_planes = size.depth;
    bool twiddled = move->from.twiddled || move->to.twiddled;
    if (!move->element && !twiddled && move->n_rows > 1 && move->row == move->from.row &&
        move->row == move->to.row) { // no gaps between rows
        move->row *= move->n_rows;
        move->n_rows = 1;
    }
}

// A region of the texture and linear memory of the host, in one direction or the other.
static void move_at_once(const MTLTexture *texture, size_t level, size_t slice, MTLRegion region,
                         const DevSide *linear, bool to_texture) {
    DevMove move;
    DevSide place = rt_texture_side(&texture->record, level, slice, region.origin, 0);
    move = (DevMove){.from = to_texture ? *linear : place, .to = to_texture ? place : *linear};
    rt_texture_extent(&move, texture->record.format, region.size);
    dev_move(texture->resource.device->table, DEV_OUTSIDE(texture->resource.device->context),
             &move);
}

static bool valid_copy(const RtSite *site, const MTLTexture *texture, const void *bytes,
                       MTLRegion region, size_t level, size_t slice, size_t *bytes_per_row,
                       size_t *bytes_per_image) {
    char name[RT_TEXTURE_NAME];
    size_t n_bytes;
    if (!texture) {
        rt_misuse_at(site, RT_RULE_null_object, NULL);
        return false;
    }
    if (!rt_is_texture(site, texture, "the object")) return false;
    if (!bytes) {
        rt_misuse_at(site, RT_RULE_null_argument, "bytes, texture %s",
                     rt_texture_name(texture, name));
        return false;
    }
    MTLStorageMode storage = rt_storage_mode(&texture->resource);
    if (storage == MTLStorageModePrivate || storage == MTLStorageModeMemoryless ||
        texture->record.n_samples > 1) {
        rt_misuse_at(site, RT_RULE_texture_cpu_access, "storage mode %d, %u samples, texture %s",
                     (int)storage, texture->record.n_samples, rt_texture_name(texture, name));
        return false;
    }
    return rt_valid_region(site, texture, level, slice, region) &&
           rt_valid_strides(site, texture, region.size, texture->record.format->block_bytes,
                            rt_texture_twiddled(texture), bytes_per_row, bytes_per_image, &n_bytes);
}

static MTLDevice *device_of(const MTLTexture *texture) {
    return rt_is(texture, &rt_texture_class) ? texture->resource.device : NULL;
}

static void replace(MTLTexture *texture, const char *call, MTLRegion region, size_t level,
                    size_t slice, const void *bytes, size_t bytes_per_row, size_t bytes_per_image) {
    const RtSite site = {device_of(texture), NULL, call};
    if (!valid_copy(&site, texture, bytes, region, level, slice, &bytes_per_row, &bytes_per_image))
        return;
    const DevSide linear = {.at = (char *)(uintptr_t)bytes,
                            .row = bytes_per_row,
                            .plane = bytes_per_image,
                            .twiddled = rt_texture_twiddled(texture)};
    move_at_once(texture, level, slice, region, &linear, true);
}

void mtl_texture_replace_region(MTLTexture *texture, MTLRegion region, size_t level,
                                const void *bytes, size_t bytes_per_row) {
    replace(texture, __func__, region, level, 0, bytes, bytes_per_row, 0);
}

void mtl_texture_replace_region_slice(MTLTexture *texture, MTLRegion region, size_t level,
                                      size_t slice, const void *bytes, size_t bytes_per_row,
                                      size_t bytes_per_image) {
    replace(texture, __func__, region, level, slice, bytes, bytes_per_row, bytes_per_image);
}

static void get_region(const MTLTexture *texture, const char *call, void *bytes,
                       size_t bytes_per_row, size_t bytes_per_image, MTLRegion region, size_t level,
                       size_t slice) {
    const RtSite site = {device_of(texture), NULL, call};
    if (!valid_copy(&site, texture, bytes, region, level, slice, &bytes_per_row, &bytes_per_image))
        return;
    const DevSide linear = {.at = bytes,
                            .row = bytes_per_row,
                            .plane = bytes_per_image,
                            .twiddled = rt_texture_twiddled(texture)};
    move_at_once(texture, level, slice, region, &linear, false);
}

void mtl_texture_get_bytes(const MTLTexture *texture, void *bytes, size_t bytes_per_row,
                           MTLRegion region, size_t level) {
    get_region(texture, __func__, bytes, bytes_per_row, 0, region, level, 0);
}

void mtl_texture_get_bytes_slice(const MTLTexture *texture, void *bytes, size_t bytes_per_row,
                                 size_t bytes_per_image, MTLRegion region, size_t level,
                                 size_t slice) {
    get_region(texture, __func__, bytes, bytes_per_row, bytes_per_image, region, level, slice);
}
