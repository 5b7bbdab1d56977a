// SPDX-License-Identifier: Apache-2.0
// texture.c: MTLTexture: making one from a descriptor, over a buffer or over given memory, and its
// end. Memory of its own is a mapping, zeroed by the system, with room behind the last texel so
// that wide loads of sampling code stay inside. Properties are in texture_info.c.
#include "runtime/memory/texture.h"
#include <string.h>
#include <unistd.h>
#include "runtime/memory/heap.h"
#include "runtime/memory/own_memory.h"
#include "runtime/memory/sparse.h"

#define SLACK 64u // bytes behind the last texel
#define LINEAR_ALIGNMENT 16u

static void texture_destroy(void *self) {
    MTLTexture *texture = self;
    rt_span_remove(&texture->record_span);
    const MTLDevice *device = texture->resource.device;
    dev_handle_free(device->table, device->context, &texture->handle);
    const bool shared = texture->resource.owner == RT_OWNER_FILE;
    if (shared && texture->shared_file >= 0) close(texture->shared_file);
    rt_free_own_memory(&texture->resource);
    MTLTexture *parent = texture->parent;
    MTLBuffer *buffer = texture->buffer;
    rt_sparse_free(texture->sparse, texture->resource.heap);
    rt_resource_clear(&texture->resource);
    // A stale handle finds an empty texture, mostly.
    memset(&texture->record, 0, sizeof texture->record);
    rt_free(texture);
    mtl_release(parent);
    mtl_release(buffer);
}

RT_CLASS rt_texture_class = {.name = "MTLTexture",
                             .destroy = texture_destroy,
                             .label_at = offsetof(MTLTexture, resource.label)};

// ---- Descriptors ----

MTLTextureDescriptor mtl_texture_descriptor_make_default(void) {
    return (MTLTextureDescriptor){
        .texture_type = MTLTextureType2D,
        .pixel_format = MTLPixelFormatRGBA8Unorm,
        .width = 1,
        .height = 1,
        .depth = 1,
        .mipmap_level_count = 1,
        .sample_count = 1,
        .array_length = 1,
        .usage = MTLTextureUsageShaderRead,
        .allow_gpu_optimized_contents = true,
        .swizzle = {MTLTextureSwizzleRed, MTLTextureSwizzleGreen, MTLTextureSwizzleBlue,
                    MTLTextureSwizzleAlpha},
    };
}

static size_t full_levels(size_t size) {
    size_t n = 1;
    while (size >>= 1) n++;
    return n;
}

MTLTextureDescriptor mtl_texture_descriptor_2d(MTLPixelFormat format, size_t width, size_t height,
                                               bool mipmapped) {
    MTLTextureDescriptor d = mtl_texture_descriptor_make_default();
    d.pixel_format = format;
    d.width = width;
    d.height = height;
    d.mipmap_level_count = mipmapped ? full_levels(width > height ? width : height) : 1;
    return d;
}

MTLTextureDescriptor mtl_texture_descriptor_cube(MTLPixelFormat format, size_t size,
                                                 bool mipmapped) {
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(format, size, size, mipmapped);
    d.texture_type = MTLTextureTypeCube;
    return d;
}

MTLTextureDescriptor mtl_texture_descriptor_texture_buffer(MTLPixelFormat format, size_t width,
                                                           MTLResourceOptions options,
                                                           MTLTextureUsage usage) {
    MTLTextureDescriptor d = mtl_texture_descriptor_make_default();
    d.texture_type = MTLTextureTypeTextureBuffer;
    d.pixel_format = format;
    d.width = width;
    d.resource_options = options;
    d.usage = usage;
    return d;
}

// ---- Making ----

static void apply_swizzle(AbiTexture *record, MTLTextureSwizzleChannels s) {
    const uint8_t channels[4] = {s.red, s.green, s.blue, s.alpha};
    if (!(s.red | s.green | s.blue | s.alpha)) return;
    for (int i = 0; i < 4; i++) {
        record->swizzle[i] = channels[i];
        if (channels[i] != MTLTextureSwizzleRed + i) record->swizzled = 1;
    }
}

static MTLTexture *texture_new(MTLDevice *device, const MTLTextureDescriptor *d,
                               MTLResourceOptions options, size_t allocated_bytes) {
    MTLTexture *texture = rt_new(&rt_texture_class, sizeof *texture);
    if (!texture) return NULL;
    rt_resource_init(&texture->resource, device, options, allocated_bytes);
    texture->shared_file = -1;
    texture->usage = d->usage;
    texture->compression = d->compression_type;
    texture->allow_gpu_optimized = d->allow_gpu_optimized_contents;
    return texture;
}

bool rt_texture_make_handle(MTLTexture *texture) {
    MTLDevice *device = texture->resource.device;
    DevHandle *h = &texture->handle;
    if (!dev_texture_make(device->table, device->context, &texture->record, h)) return false;
    rt_span_add_handle(&texture->record_span, device, &texture->resource, ABI_LIVE_TEXTURE, h);
    return true;
}

bool rt_texture_size_and_align(const RtSite *site, const MTLTextureDescriptor *descriptor,
                               MTLSizeAndAlign *out) {
    AbiTextureShape shape;
    AbiTextureSize size;
    if (!rt_texture_shape(site, descriptor, &shape)) return false;
    if (!abi_texture_layout(&shape, NULL, NULL, &size)) {
        rt_misuse_at(site, RT_RULE_texture_size, "%zu x %zu x %zu", descriptor->width,
                     descriptor->height, descriptor->depth);
        return false;
    }
    *out = (MTLSizeAndAlign){size.n_bytes + SLACK, size.alignment};
    return true;
}

// A texture over its memory, with a handle; NULL, and it is gone: it has none.
static MTLTexture *complete(MTLTexture *texture, const MTLTextureDescriptor *descriptor,
                            bool has_memory) {
    if (has_memory) {
        apply_swizzle(&texture->record, descriptor->swizzle);
        if (rt_texture_make_handle(texture)) return texture;
    }
    mtl_release(texture);
    return NULL;
}

MTLTexture *rt_texture_new_over(const RtSite *site, const MTLTextureDescriptor *descriptor,
                                MTLResourceOptions options, void *memory) {
    AbiTextureShape shape;
    AbiTextureSize size;
    if (!rt_texture_shape(site, descriptor, &shape)) return NULL;
    MTLTexture *texture = texture_new(site->device, descriptor, options, 0);
    if (!texture) return NULL;
    return complete(texture, descriptor,
                    abi_texture_layout(&shape, memory, &texture->record, &size));
}

static bool own_memory(MTLTexture *texture, const MTLSizeAndAlign *size, bool whole_pages) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (size->size > SIZE_MAX / 2) return false;
    size_t slot = !whole_pages && size->align <= RT_SLOT_ALIGNMENT
                      ? rt_slot_bytes(texture->resource.device, size->size)
                      : 0;
    size_t n_bytes = slot ? slot : (size->size + page - 1) & ~(page - 1);
    if (slot ? !rt_own_slot(&texture->resource, size->size, true)
             : !rt_own_memory(&texture->resource, n_bytes))
        return false;
    texture->resource.allocated_bytes = n_bytes;
    atomic_fetch_add(&texture->resource.device->allocated_bytes, n_bytes);
    return true;
}

// With memory of its own; complete but for its handle.
static MTLTexture *new_with_memory(const RtSite *site, const MTLTextureDescriptor *descriptor,
                                   MTLResourceOptions options, bool whole_pages) {
    MTLSizeAndAlign size;
    if (!rt_texture_size_and_align(site, descriptor, &size)) return NULL;
    MTLTexture *texture = texture_new(site->device, descriptor, options, 0);
    if (!texture) return NULL;
    AbiTextureShape shape;
    AbiTextureSize bytes;
    if (!own_memory(texture, &size, whole_pages) || !rt_texture_shape(site, descriptor, &shape) ||
        !abi_texture_layout(&shape, texture->resource.own.address, &texture->record, &bytes)) {
        mtl_release(texture);
        return NULL;
    }
    apply_swizzle(&texture->record, descriptor->swizzle);
    return texture;
}

MTLTexture *mtl_device_new_texture(MTLDevice *device, const MTLTextureDescriptor *descriptor) {
    const RtSite site = {device, NULL, __func__};
    if (!rt_given(device, descriptor, "descriptor", __func__)) return NULL;
    if (descriptor->placement_sparse_page_size)
        return rt_texture_new_sparse(&site, descriptor, rt_texture_options(descriptor),
                                     descriptor->placement_sparse_page_size, NULL);
    MTLTexture *texture = new_with_memory(&site, descriptor, rt_texture_options(descriptor), false);
    if (!texture || rt_texture_make_handle(texture)) return texture;
    mtl_release(texture);
    return NULL;
}

// The addresses are there for all tiles; what the system gives them counts for nobody: tiles do.
static void count_nothing(MTLTexture *texture) {
    atomic_fetch_sub(&texture->resource.device->allocated_bytes, texture->resource.allocated_bytes);
    texture->resource.allocated_bytes = 0;
}

MTLTexture *rt_texture_new_sparse(const RtSite *site, const MTLTextureDescriptor *descriptor,
                                  MTLResourceOptions options, MTLSparsePageSize size,
                                  MTLHeap *heap) {
    uint32_t tile[3];
    if (!rt_sparse_tile(descriptor->texture_type, descriptor->pixel_format,
                        descriptor->sample_count, size, tile) ||
        (options >> 4 & 15) != MTLStorageModePrivate || dev_has_memory(site->device->table)) {
        rt_misuse_at(site, RT_RULE_heap_sparse, "type %d, format %d, page size %d, options 0x%x",
                     (int)descriptor->texture_type, (int)descriptor->pixel_format, (int)size,
                     options);
        return NULL;
    }
    MTLTexture *texture = new_with_memory(site, descriptor, options, true);
    if (!texture) return NULL;
    count_nothing(texture);
    texture->sparse = rt_sparse_new(&texture->record, size, !heap);
    if (texture->sparse) texture->record.sparse = &texture->sparse->abi;
    if (texture->sparse && rt_texture_make_handle(texture)) {
        texture->resource.heap = mtl_retain(heap);
        return texture;
    }
    mtl_release(texture);
    return NULL;
}

MTLSizeAndAlign mtl_device_heap_texture_size_and_align(MTLDevice *device,
                                                       const MTLTextureDescriptor *descriptor) {
    const RtSite site = {device, NULL, __func__};
    MTLSizeAndAlign out = {0, 0};
    if (!device || !descriptor)
        rt_misuse_at(&site, device ? RT_RULE_null_argument : RT_RULE_null_object, "descriptor");
    else
        rt_texture_size_and_align(&site, descriptor, &out);
    return out;
}

// ---- Over a buffer ----

static const AbiPixelFormat *linear_format(const RtSite *site, MTLPixelFormat format) {
    const AbiPixelFormat *f = abi_pixel_format(format);
    if (f && !abi_format_is_blocked(f) && !(f->caps & (ABI_FORMAT_DEPTH | ABI_FORMAT_STENCIL)))
        return f;
    rt_misuse_at(site, RT_RULE_texture_linear_format, "%s", f ? f->name : "an unknown format");
    return NULL;
}

static size_t minimum_alignment(const AbiPixelFormat *f) {
    return f->block_bytes > LINEAR_ALIGNMENT ? f->block_bytes : LINEAR_ALIGNMENT;
}

size_t mtl_device_minimum_linear_texture_alignment_for_pixel_format(MTLDevice *device,
                                                                    MTLPixelFormat format) {
    const RtSite site = {device, NULL, __func__};
    const AbiPixelFormat *f = linear_format(&site, format);
    return f ? minimum_alignment(f) : 0;
}

size_t mtl_device_minimum_texture_buffer_alignment_for_pixel_format(MTLDevice *device,
                                                                    MTLPixelFormat format) {
    const RtSite site = {device, NULL, __func__};
    const AbiPixelFormat *f = linear_format(&site, format);
    if (f && f->caps & ABI_FORMAT_BUFFER) return minimum_alignment(f);
    if (f) rt_misuse_at(&site, RT_RULE_texture_linear_format, "no texture buffers of %s", f->name);
    return 0;
}

// Does the descriptor fit over the buffer? Fills in the shape.
static bool valid_linear(const RtSite *site, const MTLBuffer *buffer, const MTLTextureDescriptor *d,
                         size_t offset, size_t bytes_per_row, AbiTextureShape *shape) {
    const AbiPixelFormat *f = linear_format(site, d->pixel_format);
    if (!f) return false;
    if (d->texture_type != MTLTextureType2D && d->texture_type != MTLTextureTypeTextureBuffer) {
        rt_misuse_at(site, RT_RULE_texture_type, "type %d: over a buffer 2D or texture buffer",
                     (int)d->texture_type);
        return false;
    }
    if (!rt_texture_shape(site, d, shape)) return false;
    if (shape->n_levels != 1) {
        rt_misuse_at(site, RT_RULE_texture_levels, "%u levels over a buffer", shape->n_levels);
        return false;
    }
    if ((rt_texture_options(d) >> 4 & 15) != (buffer->resource.options >> 4 & 15)) {
        rt_misuse_at(site, RT_RULE_texture_linear_storage, "texture %u, buffer '%s' %u",
                     rt_texture_options(d) >> 4 & 15, rt_label(&buffer->resource.label),
                     buffer->resource.options >> 4 & 15);
        return false;
    }
    size_t alignment = minimum_alignment(f);
    if (offset % alignment != 0 ||
        (d->texture_type == MTLTextureType2D && bytes_per_row % alignment != 0)) {
        rt_misuse_at(site, RT_RULE_texture_linear_alignment,
                     "offset %zu, bytes per row %zu, alignment %zu", offset, bytes_per_row,
                     alignment);
        return false;
    }
    shape->row_bytes = bytes_per_row;
    AbiTextureSize size;
    if (bytes_per_row == 0 || offset > buffer->length || bytes_per_row > buffer->length ||
        !abi_texture_layout(shape, NULL, NULL, &size) || size.n_bytes > buffer->length - offset) {
        rt_misuse_at(site, RT_RULE_texture_linear_range,
                     "%u x %u %s, offset %zu, bytes per row %zu, buffer '%s' of %zu bytes",
                     shape->width, shape->height, f->name, offset, bytes_per_row,
                     rt_label(&buffer->resource.label), buffer->length);
        return false;
    }
    return true;
}

bool rt_texture_over_buffer(const RtSite *site, MTLBuffer *buffer, const MTLTextureDescriptor *d,
                            size_t offset, size_t bytes_per_row, AbiTexture *out) {
    AbiTextureShape shape;
    AbiTextureSize size;
    if (!valid_linear(site, buffer, d, offset, bytes_per_row, &shape) ||
        !abi_texture_layout(&shape, buffer->memory + offset, out, &size))
        return false;
    apply_swizzle(out, d->swizzle);
    return true;
}

MTLTexture *mtl_buffer_new_texture(MTLBuffer *buffer, const MTLTextureDescriptor *descriptor,
                                   size_t offset, size_t bytes_per_row) {
    const RtSite site = {buffer ? buffer->resource.device : NULL, NULL, __func__};
    if (!rt_given(site.device, descriptor, "descriptor", __func__)) return NULL;
    AbiTexture record;
    if (!rt_texture_over_buffer(&site, buffer, descriptor, offset, bytes_per_row, &record))
        return NULL;
    MTLTexture *texture = texture_new(site.device, descriptor, buffer->resource.options, 0);
    if (!texture) return NULL;
    texture->record = record;
    texture->buffer = mtl_retain(buffer);
    texture->buffer_offset = offset;
    texture->buffer_row_bytes = bytes_per_row;
    texture->resource.tracked = &buffer->resource;
    if (rt_texture_make_handle(texture)) return texture;
    mtl_release(texture);
    return NULL;
}

// ---- What there is not ----

MTLTexture *mtl_texture_new_remote_texture_view_for_device(MTLTexture *texture, MTLDevice *device) {
    rt_misuse(texture ? texture->resource.device : NULL,
              !texture  ? RT_RULE_null_object
              : !device ? RT_RULE_null_argument
                        : RT_RULE_buffer_remote,
              __func__, "device");
    return NULL;
}
