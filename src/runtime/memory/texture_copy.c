// SPDX-License-Identifier: Apache-2.0
// texture_copy.c: texels between a texture and the program's memory, at once: replace_region and
// get_bytes. Row by row; rows that follow each other in both places go as one.
#include <string.h>
#include "runtime/memory/texture.h"

// What a copy of a region does: n_rows of row bytes in each of n_planes.
typedef struct Walk {
    unsigned char *texels;
    size_t row, n_rows, n_planes;
    size_t texture_row, texture_plane, linear_row, linear_plane;
} Walk;

static Walk walk(const AbiTexture *t, size_t level, size_t slice, MTLRegion region,
                 const RtLinear *linear) {
    const AbiTextureLevel *l = &t->levels[level];
    const AbiPixelFormat *f = t->format;
    // Slices and planes lie the same way, and only one of the two is not 0.
    Walk w = {.texels =
                  abi_texture_at(t, (uint32_t)level, (uint32_t)region.origin.x,
                                 (uint32_t)region.origin.y, (uint32_t)(slice + region.origin.z), 0),
              .row = (region.size.width + f->block_width - 1u) / f->block_width * f->block_bytes,
              .n_rows = (region.size.height + f->block_height - 1u) / f->block_height,
              .n_planes = region.size.depth,
              .texture_row = l->row_bytes,
              .texture_plane = l->layer_bytes,
              .linear_row = linear->bytes_per_row,
              .linear_plane = linear->bytes_per_image};
    if (w.row == w.texture_row && w.row == w.linear_row) { // no gaps between rows
        w.row *= w.n_rows;
        w.n_rows = 1;
    }
    return w;
}

void rt_texture_store(const AbiTexture *texture, size_t level, size_t slice, MTLRegion region,
                      const RtLinear *from) {
    Walk w = walk(texture, level, slice, region, from);
    for (size_t z = 0; z < w.n_planes; z++)
        for (size_t y = 0; y < w.n_rows; y++)
            memcpy(w.texels + z * w.texture_plane + y * w.texture_row,
                   from->bytes + z * w.linear_plane + y * w.linear_row, w.row);
}

void rt_texture_load(const AbiTexture *texture, size_t level, size_t slice, MTLRegion region,
                     const RtLinear *to) {
    Walk w = walk(texture, level, slice, region, to);
    for (size_t z = 0; z < w.n_planes; z++)
        for (size_t y = 0; y < w.n_rows; y++)
            memcpy(to->bytes + z * w.linear_plane + y * w.linear_row,
                   w.texels + z * w.texture_plane + y * w.texture_row, w.row);
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
        texture->cpu.n_samples > 1) {
        rt_misuse_at(site, RT_RULE_texture_cpu_access, "storage mode %d, %u samples, texture %s",
                     (int)storage, texture->cpu.n_samples, rt_texture_name(texture, name));
        return false;
    }
    return rt_valid_region(site, texture, level, slice, region) &&
           rt_valid_strides(site, texture, region.size, texture->cpu.format->block_bytes,
                            bytes_per_row, bytes_per_image, &n_bytes);
}

static MTLDevice *device_of(const MTLTexture *texture) {
    return rt_is(texture, &rt_texture_class) ? texture->resource.device : NULL;
}

static void replace(MTLTexture *texture, const char *call, MTLRegion region, size_t level,
                    size_t slice, const void *bytes, size_t bytes_per_row, size_t bytes_per_image) {
    const RtSite site = {device_of(texture), NULL, call};
    if (!valid_copy(&site, texture, bytes, region, level, slice, &bytes_per_row, &bytes_per_image))
        return;
    const RtLinear linear = {(char *)bytes, bytes_per_row, bytes_per_image}; // only read
    rt_texture_store(&texture->cpu, level, slice, region, &linear);
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

static void get(const MTLTexture *texture, const char *call, void *bytes, size_t bytes_per_row,
                size_t bytes_per_image, MTLRegion region, size_t level, size_t slice) {
    const RtSite site = {device_of(texture), NULL, call};
    if (!valid_copy(&site, texture, bytes, region, level, slice, &bytes_per_row, &bytes_per_image))
        return;
    const RtLinear linear = {bytes, bytes_per_row, bytes_per_image};
    rt_texture_load(&texture->cpu, level, slice, region, &linear);
}

void mtl_texture_get_bytes(const MTLTexture *texture, void *bytes, size_t bytes_per_row,
                           MTLRegion region, size_t level) {
    get(texture, __func__, bytes, bytes_per_row, 0, region, level, 0);
}

void mtl_texture_get_bytes_slice(const MTLTexture *texture, void *bytes, size_t bytes_per_row,
                                 size_t bytes_per_image, MTLRegion region, size_t level,
                                 size_t slice) {
    get(texture, __func__, bytes, bytes_per_row, bytes_per_image, region, level, slice);
}
