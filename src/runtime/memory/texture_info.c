// SPDX-License-Identifier: Apache-2.0
// texture_info.c: what a texture says about itself.
#include "runtime/memory/sparse.h"
#include "runtime/memory/texture.h"

MTLDevice *mtl_texture_device(const MTLTexture *texture) {
    return texture ? texture->resource.device : NULL;
}

const char *mtl_texture_label(const MTLTexture *texture) {
    return texture ? rt_label(&texture->resource.label) : "";
}

void mtl_texture_set_label(MTLTexture *texture, const char *label) {
    if (texture) rt_label_set(&texture->resource.label, label);
}

MTLTextureType mtl_texture_texture_type(const MTLTexture *texture) {
    return texture ? (MTLTextureType)texture->record.type : MTLTextureType1D;
}

MTLPixelFormat mtl_texture_pixel_format(const MTLTexture *texture) {
    return texture ? (MTLPixelFormat)texture->record.pixel_format : MTLPixelFormatInvalid;
}

size_t mtl_texture_width(const MTLTexture *texture) { return texture ? texture->record.width : 0; }

size_t mtl_texture_height(const MTLTexture *texture) {
    return texture ? texture->record.height : 0;
}

size_t mtl_texture_depth(const MTLTexture *texture) { return texture ? texture->record.depth : 0; }

size_t mtl_texture_mipmap_level_count(const MTLTexture *texture) {
    return texture ? texture->record.n_levels : 0;
}

size_t mtl_texture_sample_count(const MTLTexture *texture) {
    return texture ? texture->record.n_samples : 0;
}

size_t mtl_texture_array_length(const MTLTexture *texture) {
    return texture ? texture->record.array_length : 0;
}

MTLTextureUsage mtl_texture_usage(const MTLTexture *texture) {
    return texture ? texture->usage : MTLTextureUsageUnknown;
}

MTLTextureSwizzleChannels mtl_texture_swizzle(const MTLTexture *texture) {
    if (!texture) return (MTLTextureSwizzleChannels){0, 0, 0, 0};
    const uint8_t *s = texture->record.swizzle;
    return (MTLTextureSwizzleChannels){s[0], s[1], s[2], s[3]};
}

MTLTextureCompressionType mtl_texture_compression_type(const MTLTexture *texture) {
    return texture ? texture->compression : MTLTextureCompressionTypeLossless;
}

bool mtl_texture_allow_gpu_optimized_contents(const MTLTexture *texture) {
    return texture && texture->allow_gpu_optimized;
}

bool mtl_texture_is_framebuffer_only(const MTLTexture *texture) {
    (void)texture;
    return false; // only drawables of a layer are
}

bool mtl_texture_is_sparse(const MTLTexture *texture) { return texture && texture->record.sparse; }

MTLTextureSparseTier mtl_texture_sparse_texture_tier(const MTLTexture *texture) {
    return mtl_texture_is_sparse(texture) ? MTLTextureSparseTier2 : MTLTextureSparseTierNone;
}

size_t mtl_texture_first_mipmap_in_tail(const MTLTexture *texture) {
    if (!texture) return 0;
    const AbiTexture *t = &texture->record;
    if (!t->sparse || t->sparse->tail_level < t->sparse_level) return t->sparse ? 0 : t->n_levels;
    uint32_t level = t->sparse->tail_level - t->sparse_level;
    return level < t->n_levels ? level : t->n_levels;
}

size_t mtl_texture_tail_size_in_bytes(const MTLTexture *texture) {
    while (texture && texture->parent) texture = texture->parent;
    const RtSparse *s = texture ? texture->sparse : NULL;
    return s ? s->tail_pages * s->page_bytes : 0;
}

MTLStorageMode mtl_texture_storage_mode(const MTLTexture *texture) {
    return texture ? rt_storage_mode(&texture->resource) : MTLStorageModeShared;
}

MTLCPUCacheMode mtl_texture_cpu_cache_mode(const MTLTexture *texture) {
    return mtl_resource_cpu_cache_mode((const MTLResource *)texture);
}

MTLHazardTrackingMode mtl_texture_hazard_tracking_mode(const MTLTexture *texture) {
    return mtl_resource_hazard_tracking_mode((const MTLResource *)texture);
}

MTLResourceOptions mtl_texture_resource_options(const MTLTexture *texture) {
    return mtl_resource_resource_options((const MTLResource *)texture);
}

size_t mtl_texture_allocated_size(const MTLTexture *texture) {
    return mtl_resource_allocated_size((const MTLResource *)texture);
}

MTLHeap *mtl_texture_heap(const MTLTexture *texture) {
    return mtl_resource_heap((const MTLResource *)texture);
}

size_t mtl_texture_heap_offset(const MTLTexture *texture) {
    return mtl_resource_heap_offset((const MTLResource *)texture);
}

MTLPurgeableState mtl_texture_set_purgeable_state(MTLTexture *texture, MTLPurgeableState state) {
    if (texture) return mtl_resource_set_purgeable_state((MTLResource *)texture, state);
    rt_misuse(NULL, RT_RULE_null_object, __func__, NULL);
    return MTLPurgeableStateKeepCurrent;
}

MTLTexture *mtl_texture_parent_texture(const MTLTexture *texture) {
    return texture ? texture->parent : NULL;
}

size_t mtl_texture_parent_relative_level(const MTLTexture *texture) {
    return texture ? texture->parent_level : 0;
}

size_t mtl_texture_parent_relative_slice(const MTLTexture *texture) {
    return texture ? texture->parent_slice : 0;
}

MTLResource *mtl_texture_root_resource(const MTLTexture *texture) {
    if (!texture) return NULL;
    while (texture->parent) texture = texture->parent;
    return texture->buffer ? &texture->buffer->resource : (MTLResource *)texture;
}

MTLBuffer *mtl_texture_buffer(const MTLTexture *texture) {
    return texture && !mtl_texture_iosurface(texture) ? texture->buffer : NULL;
}

size_t mtl_texture_buffer_offset(const MTLTexture *texture) {
    return texture ? texture->buffer_offset : 0;
}

size_t mtl_texture_buffer_bytes_per_row(const MTLTexture *texture) {
    return texture ? texture->buffer_row_bytes : 0;
}

MTLResourceID mtl_texture_gpu_resource_id(const MTLTexture *texture) {
    return (MTLResourceID){texture ? texture->handle.value : 0};
}

bool mtl_device_supports_texture_sample_count(const MTLDevice *device, size_t count) {
    return rt_device_has(device, DEV_TEXTURES) &&
           (count == 1 || count == 2 || count == 4 || count == 8);
}

MTLReadWriteTextureTier mtl_device_read_write_texture_support(const MTLDevice *device) {
    return rt_device_has(device, DEV_TEXTURES) ? MTLReadWriteTextureTier2
                                               : MTLReadWriteTextureTierNone;
}

bool mtl_device_supports_bc_texture_compression(const MTLDevice *device) {
    return rt_device_has(device, DEV_TEXTURES);
}

bool mtl_device_supports_query_texture_lod(const MTLDevice *device) {
    return rt_device_has(device, DEV_TEXTURES);
}

bool mtl_device_supports_32_bit_msaa(const MTLDevice *device) {
    return rt_device_has(device, DEV_TEXTURES);
}

bool mtl_device_is_depth24_stencil8_pixel_format_supported(const MTLDevice *device) {
    return rt_device_has(device, DEV_TEXTURES);
}
