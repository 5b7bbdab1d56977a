// SPDX-License-Identifier: Apache-2.0
// sparse_device.c: what a device says about tiles, and regions of pixels as regions of tiles.
#include "runtime/memory/sparse.h"

size_t mtl_device_sparse_tile_size_in_bytes_for_sparse_page_size(const MTLDevice *device,
                                                                 MTLSparsePageSize size) {
    return rt_device_has(device, DEV_TEXTURES) ? rt_sparse_page_bytes(size) : 0;
}

MTLSize mtl_device_sparse_tile_size_with_sparse_page_size(const MTLDevice *device,
                                                          MTLTextureType texture_type,
                                                          MTLPixelFormat pixel_format,
                                                          size_t sample_count,
                                                          MTLSparsePageSize size) {
    uint32_t tile[3];
    if (!rt_device_has(device, DEV_TEXTURES) ||
        !rt_sparse_tile(texture_type, pixel_format, sample_count, size, tile))
        return (MTLSize){0, 0, 0};
    return (MTLSize){tile[0], tile[1], tile[2]};
}

MTLSize mtl_device_sparse_tile_size(const MTLDevice *device, MTLTextureType texture_type,
                                    MTLPixelFormat pixel_format, size_t sample_count) {
    return mtl_device_sparse_tile_size_with_sparse_page_size(device, texture_type, pixel_format,
                                                             sample_count, MTLSparsePageSize16);
}

// One axis, in tiles.
static void convert(size_t at, size_t n, size_t tile, bool inward, size_t *to_at, size_t *to_n) {
    size_t first = inward ? (at + tile - 1) / tile : at / tile;
    size_t end = inward ? (at + n) / tile : (at + n + tile - 1) / tile;
    *to_at = first;
    *to_n = end > first ? end - first : 0;
}

void mtl_device_convert_sparse_pixel_regions(const MTLDevice *device,
                                             const MTLRegion *pixel_regions,
                                             MTLRegion *tile_regions, MTLSize tile_size,
                                             MTLSparseTextureRegionAlignmentMode mode,
                                             size_t count) {
    bool inward = mode == MTLSparseTextureRegionAlignmentModeInward;
    if (!device || (count && (!pixel_regions || !tile_regions)) || !tile_size.width ||
        !tile_size.height || !tile_size.depth) {
        rt_misuse((MTLDevice *)device, RT_RULE_null_argument, __func__, "regions or tile_size");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        MTLRegion p = pixel_regions[i], t;
        convert(p.origin.x, p.size.width, tile_size.width, inward, &t.origin.x, &t.size.width);
        convert(p.origin.y, p.size.height, tile_size.height, inward, &t.origin.y, &t.size.height);
        convert(p.origin.z, p.size.depth, tile_size.depth, inward, &t.origin.z, &t.size.depth);
        tile_regions[i] = t;
    }
}

void mtl_device_convert_sparse_tile_regions(const MTLDevice *device, const MTLRegion *tile_regions,
                                            MTLRegion *pixel_regions, MTLSize s, size_t count) {
    if (!device || (count && (!pixel_regions || !tile_regions))) {
        rt_misuse((MTLDevice *)device, RT_RULE_null_argument, __func__, "regions");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        MTLRegion t = tile_regions[i];
        pixel_regions[i] =
            (MTLRegion){{t.origin.x * s.width, t.origin.y * s.height, t.origin.z * s.depth},
                        {t.size.width * s.width, t.size.height * s.height, t.size.depth * s.depth}};
    }
}

#include "accessors/memory/sparse_device.inc" // plain accessors, from the table
