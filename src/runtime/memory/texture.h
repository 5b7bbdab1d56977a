// SPDX-License-Identifier: Apache-2.0
// texture.h: MTLTexture and what blits, heaps and encoders need of it. The texels' layout, formats
// and conversions: abi/texture_layout.h, src/texel.
#ifndef INGOT_RUNTIME_TEXTURE_H
#define INGOT_RUNTIME_TEXTURE_H
#include "abi/texture_layout.h"
#include "runtime/memory/buffer.h"
#include "runtime/memory/resource.h"
#include "runtime/object/validation.h"

#define RT_MAX_TEXTURES 128u
#define RT_MAX_SAMPLERS 16u

struct MTLTexture {
    MTLResource resource;
    AbiTexture record; // what it is
    DevHandle handle;  // gpu_resource_id, and what kernels get
    MTLTextureUsage usage;
    MTLTextureCompressionType compression;
    bool allow_gpu_optimized;
    MTLTexture *parent; // views; retained
    size_t parent_level, parent_slice;
    struct RtSparse *sparse; // memory/sparse.h; NULL: not sparse, or a view. Owned
    MTLBuffer *buffer;       // over a buffer's memory, also through a view; retained
    size_t buffer_offset, buffer_row_bytes;
    int shared_file;    // of shared_texture.c; -1: none
    RtSpan record_span; // of the handle: the debug layer finds the texture of a resource id
};

struct MTLSamplerState {
    RtObject object;
    MTLDevice *device; // retained
    RtLabel label;
    bool in_arguments; // support_argument_buffers
    AbiSampler record; // what it is
    DevHandle handle;  // gpu_resource_id
    RtSpan span;       // of the handle
};

extern RtClass rt_texture_class, rt_sampler_class;

// ---- Where a rule is broken ----

typedef struct RtSite {
    MTLDevice *device;
    MTLCommandBuffer *commands; // not NULL: being encoded, it will end in error
    const char *call;
} RtSite;
// True: the rule is tolerated, go on (validation.h).
bool rt_misuse_at(const RtSite *site, RtRule rule, const char *detail, ...)
    __attribute__((format(printf, 3, 4)));
// "'label' (2D, 256 x 256 x 1, RGBA8Unorm)", in a buffer of RT_TEXTURE_NAME bytes.
#define RT_TEXTURE_NAME 160
const char *rt_texture_name(const MTLTexture *texture, char *text);
const char *rt_texture_type_name(unsigned type); // "2D array"

// ---- Making textures (texture.c) ----

// The options a descriptor stands for.
MTLResourceOptions rt_texture_options(const MTLTextureDescriptor *descriptor);
// The shape behind a descriptor, zeros replaced by ones. False after a message: a rule is broken.
bool rt_texture_shape(const RtSite *site, const MTLTextureDescriptor *descriptor,
                      AbiTextureShape *shape);
// For heaps: bytes and alignment a texture takes. False after a message.
bool rt_texture_size_and_align(const RtSite *site, const MTLTextureDescriptor *descriptor,
                               MTLSizeAndAlign *out);
// For heaps: a texture over memory of that size and alignment, which begins as whatever is there.
// The caller then fills in resource.heap and so on; rt_resource_clear is called when the texture
// goes. NULL: no memory, or a message.
MTLTexture *rt_texture_new_over(const RtSite *site, const MTLTextureDescriptor *descriptor,
                                MTLResourceOptions options, void *memory);

// For sparse heaps and placement sparse textures: one with addresses of its own and no tile mapped.
// The heap's reference is the texture's from then on; NULL: placement. NULL: no memory, or a
// message.
MTLTexture *rt_texture_new_sparse(const RtSite *site, const MTLTextureDescriptor *descriptor,
                                  MTLResourceOptions options, MTLSparsePageSize size,
                                  MTLHeap *heap);

// The layout of a texture over the buffer's memory. False after a message.
bool rt_texture_over_buffer(const RtSite *site, MTLBuffer *buffer, const MTLTextureDescriptor *d,
                            size_t offset, size_t bytes_per_row, AbiTexture *out);

// ---- Rules for regions (texture_validate.c), for the CPU's copies and for blits ----

bool rt_is_texture(const RtSite *site, const MTLTexture *texture, const char *argument);
// Are there such a level and slice, is the region inside it, does it keep to blocks?
bool rt_valid_region(const RtSite *site, const MTLTexture *texture, size_t level, size_t slice,
                     MTLRegion region);
// Distances in linear memory for a region of `texel` bytes per texel (or block). On success
// *n_bytes is how much memory the region takes from its first byte to its last, and the distances
// hold what 0 stands for. twiddled: blocks in Z order, which have no rows.
bool rt_valid_strides(const RtSite *site, const MTLTexture *texture, MTLSize size, size_t texel,
                      bool twiddled, size_t *bytes_per_row, size_t *bytes_per_image,
                      size_t *n_bytes);
// Does memory hold its blocks in Z order, unless a call says otherwise? So it is with PVRTC.
static inline bool rt_texture_twiddled(const MTLTexture *texture) {
    return abi_format_is_pvrtc(texture->record.format);
}

// Copies of texels (texture_copy.c). Everything is valid.
// One side of a copy: a place in a texture.
DevSide rt_texture_side(const AbiTexture *texture, size_t level, size_t slice, MTLOrigin origin,
                        size_t sample);
// The rest of a copy: how much of a format a size is.
void rt_texture_extent(DevMove *move, const AbiPixelFormat *format, MTLSize size);
// The texture is complete: what kernels get for it. False: no memory.
bool rt_texture_make_handle(MTLTexture *texture);
// A sampler that differs in the levels of detail it is limited to; NULL: no memory.
MTLSamplerState *rt_sampler_clamped(const MTLSamplerState *sampler, const float clamps[2]);

// ---- Views (texture_view.c) ----

bool rt_texture_view(const RtSite *site, const MTLTexture *texture,
                     const MTLTextureViewDescriptor *descriptor, AbiTexture *out);

#endif
