// SPDX-License-Identifier: Apache-2.0
// texture_info.c: what a texture says about itself.
#include "runtime/memory/sparse.h"
#include "runtime/memory/texture.h"

MTLTextureSwizzleChannels mtl_texture_swizzle(const MTLTexture *texture) {
    if (!texture) return (MTLTextureSwizzleChannels){0, 0, 0, 0};
    const uint8_t *s = texture->record.swizzle;
    return (MTLTextureSwizzleChannels){s[0], s[1], s[2], s[3]};
}

bool mtl_texture_is_framebuffer_only(const MTLTexture *texture) {
    (void)texture;
    return false; // only drawables of a layer are
}

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

MTLPurgeableState mtl_texture_set_purgeable_state(MTLTexture *texture, MTLPurgeableState state) {
    if (texture) return mtl_resource_set_purgeable_state((MTLResource *)texture, state);
    rt_misuse(NULL, RT_RULE_null_object, __func__, NULL);
    return MTLPurgeableStateKeepCurrent;
}

MTLResource *mtl_texture_root_resource(const MTLTexture *texture) {
    if (!texture) return NULL;
    while (texture->parent) texture = texture->parent;
    return texture->buffer ? &texture->buffer->resource : (MTLResource *)texture;
}

MTLBuffer *mtl_texture_buffer(const MTLTexture *texture) {
    return texture && !mtl_texture_iosurface(texture) ? texture->buffer : NULL;
}

bool mtl_device_supports_texture_sample_count(const MTLDevice *device, size_t count) {
    return rt_device_has(device, DEV_TEXTURES) &&
           (count == 1 || count == 2 || count == 4 || count == 8);
}

MTLReadWriteTextureTier mtl_device_read_write_texture_support(const MTLDevice *device) {
    return rt_device_has(device, DEV_TEXTURES) ? MTLReadWriteTextureTier2
                                               : MTLReadWriteTextureTierNone;
}

#include "accessors/memory/texture_info.inc" // plain accessors, from the table
