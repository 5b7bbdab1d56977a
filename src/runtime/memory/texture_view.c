// SPDX-License-Identifier: Apache-2.0
// texture_view.c: views of textures, and pools of views that are nothing but a resource id.
#include <string.h>
#include "runtime/object/error.h"
#include "runtime/memory/texture.h"

#define MAX_POOL ((size_t)ABI_VIEW_POOL_SLOTS)

// ---- Views ----

// Formats that differ in sRGB only may be exchanged without asking for it first.
static bool same_but_srgb(const AbiPixelFormat *a, const AbiPixelFormat *b) {
    bool kinds = (a->kind == ABI_KIND_UNORM && b->kind == ABI_KIND_SRGB) ||
                 (a->kind == ABI_KIND_SRGB && b->kind == ABI_KIND_UNORM) ||
                 (a->kind == ABI_KIND_XR && b->kind == ABI_KIND_XR_SRGB) ||
                 (a->kind == ABI_KIND_XR_SRGB && b->kind == ABI_KIND_XR);
    if (!kinds || a->coding != b->coding || a->block_bytes != b->block_bytes ||
        a->view_class != b->view_class)
        return false;
    for (int i = 0; i < 4; i++)
        if (a->bits[i].shift != b->bits[i].shift || a->bits[i].n_bits != b->bits[i].n_bits)
            return false;
    return true;
}

static bool valid_format(const RtSite *site, const MTLTexture *texture, MTLPixelFormat format) {
    const AbiPixelFormat *mine = texture->record.format, *f = abi_pixel_format(format);
    char name[RT_TEXTURE_NAME];
    if (!f || !abi_format_view_compatible(mine, f)) {
        rt_misuse_at(site, RT_RULE_texture_view_format, "format %d (%s), texture %s", (int)format,
                     f ? f->name : "unknown", rt_texture_name(texture, name));
        return false;
    }
    // The stencil part of a depth and stencil texture is its own format by another name.
    bool stencil = f->value == MTLPixelFormatX32_Stencil8 || f->value == MTLPixelFormatX24_Stencil8;
    return f == mine || stencil || same_but_srgb(mine, f) || texture->usage == 0 ||
           texture->usage & MTLTextureUsagePixelFormatView ||
           rt_misuse_at(site, RT_RULE_texture_view_usage, "%s of texture %s, usage 0x%x", f->name,
                        rt_texture_name(texture, name), texture->usage);
}

static bool valid_range(const RtSite *site, const MTLTexture *texture, const char *what,
                        MTLRange *range, size_t n) {
    char name[RT_TEXTURE_NAME];
    if (range->length == 0 && range->location < n) range->length = n - range->location;
    if (range->length > 0 && range->location < n && range->length <= n - range->location)
        return true;
    rt_misuse_at(site, RT_RULE_texture_view_range, "%s %zu and %zu more of %zu, texture %s", what,
                 range->location, range->length, n, rt_texture_name(texture, name));
    return false;
}

bool rt_texture_view(const RtSite *site, const MTLTexture *texture,
                     const MTLTextureViewDescriptor *d, AbiTexture *out) {
    const AbiTexture *t = &texture->record;
    MTLTextureSwizzleChannels s = d->swizzle;
    MTLRange levels = d->level_range, slices = d->slice_range;
    MTLPixelFormat format = d->pixel_format ? d->pixel_format : (MTLPixelFormat)t->pixel_format;
    MTLTextureType type =
        d->texture_type_is_set || d->texture_type ? d->texture_type : (MTLTextureType)t->type;
    char name[RT_TEXTURE_NAME];
    if (!valid_format(site, texture, format) ||
        !valid_range(site, texture, "levels", &levels, t->n_levels) ||
        !valid_range(site, texture, "slices", &slices, abi_texture_n_slices(t)))
        return false;
    if (s.red > 5 || s.green > 5 || s.blue > 5 || s.alpha > 5) {
        rt_misuse_at(site, RT_RULE_texture_swizzle, "swizzle %u %u %u %u", s.red, s.green, s.blue,
                     s.alpha);
        return false;
    }
    AbiTextureView view = {.type = (uint32_t)type,
                           .pixel_format = (uint32_t)format,
                           .first_level = (uint32_t)levels.location,
                           .n_levels = (uint32_t)levels.length,
                           .first_slice = (uint32_t)slices.location,
                           .n_slices = (uint32_t)slices.length,
                           .swizzled = (s.red | s.green | s.blue | s.alpha) != 0,
                           .swizzle = {s.red, s.green, s.blue, s.alpha}};
    if ((unsigned)type > MTLTextureTypeTextureBuffer || !abi_texture_view(t, &view, out)) {
        rt_misuse_at(site, RT_RULE_texture_view_type, "%s of %zu slices, texture %s",
                     rt_texture_type_name((unsigned)type), slices.length,
                     rt_texture_name(texture, name));
        return false;
    }
    return true;
}

static MTLTexture *new_view(MTLTexture *texture, const char *call,
                            const MTLTextureViewDescriptor *d) {
    const RtSite site = {rt_is(texture, &rt_texture_class) ? texture->resource.device : NULL, NULL,
                         call};
    AbiTexture record;
    if (!texture) {
        rt_misuse_at(&site, RT_RULE_null_object, NULL);
        return NULL;
    }
    if (!rt_is_texture(&site, texture, "the object") ||
        !rt_texture_view(&site, texture, d, &record))
        return NULL;
    MTLTexture *view = rt_new(&rt_texture_class, sizeof *view);
    if (!view) return NULL;
    rt_resource_init(&view->resource, site.device, texture->resource.options, 0);
    view->record = record;
    view->usage = texture->usage;
    view->compression = texture->compression;
    view->allow_gpu_optimized = texture->allow_gpu_optimized;
    view->parent = mtl_retain(texture);
    view->parent_level = d->level_range.location;
    view->parent_slice = d->slice_range.location;
    view->buffer = mtl_retain(texture->buffer);
    view->buffer_offset = texture->buffer_offset;
    view->buffer_row_bytes = texture->buffer_row_bytes;
    view->resource.tracked = &texture->resource;
    if (rt_texture_make_handle(view)) return view;
    mtl_release(view);
    return NULL;
}

MTLTexture *mtl_texture_new_texture_view(MTLTexture *texture, MTLPixelFormat format) {
    return new_view(texture, __func__, &(MTLTextureViewDescriptor){.pixel_format = format});
}

// A range given here is what it says: empty is an error.
static MTLTexture *new_view_in(MTLTexture *texture, const char *call, MTLPixelFormat format,
                               MTLTextureType type, MTLRange levels, MTLRange slices,
                               MTLTextureSwizzleChannels swizzle) {
    if (levels.length == 0 || slices.length == 0) {
        rt_misuse(rt_is(texture, &rt_texture_class) ? texture->resource.device : NULL,
                  RT_RULE_texture_view_range, call, "%zu levels, %zu slices", levels.length,
                  slices.length);
        return NULL;
    }
    return new_view(texture, call,
                    &(MTLTextureViewDescriptor){.pixel_format = format,
                                                .texture_type_is_set = true,
                                                .texture_type = type,
                                                .level_range = levels,
                                                .slice_range = slices,
                                                .swizzle = swizzle});
}

MTLTexture *mtl_texture_new_texture_view_with_ranges(MTLTexture *texture, MTLPixelFormat format,
                                                     MTLTextureType type, MTLRange levels,
                                                     MTLRange slices) {
    return new_view_in(texture, __func__, format, type, levels, slices,
                       (MTLTextureSwizzleChannels){0});
}

MTLTexture *mtl_texture_new_texture_view_with_swizzle(MTLTexture *texture, MTLPixelFormat format,
                                                      MTLTextureType type, MTLRange levels,
                                                      MTLRange slices,
                                                      MTLTextureSwizzleChannels swizzle) {
    return new_view_in(texture, __func__, format, type, levels, slices, swizzle);
}

MTLTexture *mtl_texture_new_texture_view_with_descriptor(
    MTLTexture *texture, const MTLTextureViewDescriptor *descriptor) {
    if (texture && !descriptor) {
        rt_misuse(texture->resource.device, RT_RULE_null_argument, __func__, "descriptor");
        return NULL;
    }
    return new_view(texture, __func__, descriptor);
}

// ---- Pools ----

struct MTLTextureViewPool {
    RtObject object;
    MTLDevice *device; // retained
    RtLabel label;
    size_t n;
    pthread_mutex_t lock; // of kept
    void **kept;          // per slot: the texture or buffer it shows; retained
    uint64_t first;       // id of slot 0; a slot that was not set is no texture
};

static void pool_destroy(void *self) {
    MTLTextureViewPool *pool = self;
    for (size_t i = 0; pool->kept && i < pool->n; i++) mtl_release(pool->kept[i]);
    rt_free(pool->kept);
    if (pool->first) pool->device->table->views_give(pool->device->context, pool->first, pool->n);
    rt_label_free(&pool->label);
    pthread_mutex_destroy(&pool->lock);
    mtl_release(pool->device);
    rt_free(pool);
}

static RT_CLASS pool_class = {.name = "MTLTextureViewPool",
                              .destroy = pool_destroy,
                              .label_at = offsetof(MTLTextureViewPool, label)};

MTLTextureViewPool *mtl_device_new_texture_view_pool(
    MTLDevice *device, const MTLResourceViewPoolDescriptor *descriptor, MTLError **error) {
    if (error) *error = NULL;
    if (!rt_given(device, descriptor, "descriptor", __func__)) return NULL;
    MTLError *lacks = rt_device_lacks(device, DEV_VIEW_POOLS | DEV_TEXTURES);
    if (lacks) {
        rt_error_set(error, lacks);
        return NULL;
    }
    size_t n = descriptor->resource_view_count;
    if (n == 0 || n > MAX_POOL) {
        if (error)
            *error = rt_error_new(MTLDeviceErrorDomain, MTLDeviceErrorInvalidInput,
                                  "A texture view pool holds 1 to %zu views; %zu were asked for.",
                                  MAX_POOL, n);
        return NULL;
    }
    MTLTextureViewPool *pool = rt_new(&pool_class, sizeof *pool);
    if (!pool) goto no_memory;
    pthread_mutex_init(&pool->lock, NULL);
    pool->device = mtl_retain(device);
    pool->n = n;
    rt_label_set(&pool->label, descriptor->label);
    pool->kept = rt_alloc(n * sizeof *pool->kept);
    pool->first = device->table->views_take(device->context, n);
    if (!pool->kept || !pool->first) goto no_memory;
    return pool;
no_memory:
    mtl_release(pool);
    if (error) *error = rt_error_no_memory();
    return NULL;
}

MTLResourceID mtl_texture_view_pool_resource_id(const MTLTextureViewPool *pool, size_t index) {
    return (MTLResourceID){pool && index < pool->n ? pool->first + index : 0};
}

static bool valid_pool(const MTLTextureViewPool *pool, const char *call, size_t index, size_t n) {
    if (!pool) {
        rt_misuse(NULL, RT_RULE_null_object, call, NULL);
        return false;
    }
    if (!rt_is(pool, &pool_class)) {
        rt_misuse(NULL, RT_RULE_wrong_class, call, "a %s", mtl_class_name(pool));
        return false;
    }
    if (n <= pool->n && index <= pool->n - n) return true;
    rt_misuse(pool->device, RT_RULE_texture_pool_index, call, "index %zu of %zu, pool '%s'",
              index + n - 1, pool->n, rt_label(&pool->label));
    return false;
}

static MTLResourceID set_slot(MTLTextureViewPool *pool, size_t index, const AbiTexture *view,
                              void *keep) {
    pthread_mutex_lock(&pool->lock);
    void *before = NULL;
    bool ok = pool->device->table->view_set(pool->device->context, pool->first + index, view);
    if (ok) {
        before = pool->kept[index];
        pool->kept[index] = mtl_retain(keep);
    }
    pthread_mutex_unlock(&pool->lock);
    mtl_release(before);
    return ok ? mtl_texture_view_pool_resource_id(pool, index) : (MTLResourceID){0};
}

MTLResourceID mtl_texture_view_pool_set_texture_view(MTLTextureViewPool *pool, MTLTexture *texture,
                                                     size_t index) {
    if (!valid_pool(pool, __func__, index, 1)) return (MTLResourceID){0};
    const RtSite site = {pool->device, NULL, __func__};
    if (!rt_is_texture(&site, texture, "texture")) return (MTLResourceID){0};
    return set_slot(pool, index, &texture->record, texture);
}

MTLResourceID mtl_texture_view_pool_set_texture_view_with_descriptor(
    MTLTextureViewPool *pool, MTLTexture *texture, const MTLTextureViewDescriptor *descriptor,
    size_t index) {
    if (!valid_pool(pool, __func__, index, 1)) return (MTLResourceID){0};
    const RtSite site = {pool->device, NULL, __func__};
    AbiTexture view;
    if (!rt_is_texture(&site, texture, "texture")) return (MTLResourceID){0};
    if (!descriptor) {
        rt_misuse_at(&site, RT_RULE_null_argument, "descriptor");
        return (MTLResourceID){0};
    }
    if (!rt_texture_view(&site, texture, descriptor, &view)) return (MTLResourceID){0};
    return set_slot(pool, index, &view, texture);
}

MTLResourceID mtl_texture_view_pool_set_texture_view_from_buffer(
    MTLTextureViewPool *pool, MTLBuffer *buffer, const MTLTextureDescriptor *descriptor,
    size_t offset, size_t bytes_per_row, size_t index) {
    if (!valid_pool(pool, __func__, index, 1)) return (MTLResourceID){0};
    const RtSite site = {pool->device, NULL, __func__};
    AbiTexture view;
    if (!rt_is(buffer, &rt_buffer_class) || !descriptor) {
        rt_misuse_at(&site, buffer && descriptor ? RT_RULE_wrong_class : RT_RULE_null_argument,
                     "%s", descriptor ? "buffer" : "descriptor");
        return (MTLResourceID){0};
    }
    if (!rt_texture_over_buffer(&site, buffer, descriptor, offset, bytes_per_row, &view))
        return (MTLResourceID){0};
    return set_slot(pool, index, &view, buffer);
}

MTLResourceID mtl_texture_view_pool_copy_resource_views(MTLTextureViewPool *pool,
                                                        const MTLTextureViewPool *source,
                                                        MTLRange source_range,
                                                        size_t destination_index) {
    size_t n = source_range.length;
    if (n == 0 || !valid_pool(pool, __func__, destination_index, n) ||
        !valid_pool(source, __func__, source_range.location, n))
        return (MTLResourceID){0};
    // Backwards where a pool is copied up inside itself.
    bool up = pool == source && destination_index > source_range.location;
    bool ok = true;
    for (size_t k = 0; k < n && ok; k++) {
        size_t i = up ? n - 1 - k : k;
        pthread_mutex_t *lock = (pthread_mutex_t *)&source->lock;
        pthread_mutex_lock(lock);
        const MTLDevice *device = source->device;
        const AbiTexture *from =
            device->table->view_at(device->context, source->first + source_range.location + i);
        const AbiTexture view = from ? *from : (AbiTexture){0};
        void *keep = mtl_retain(source->kept[source_range.location + i]);
        pthread_mutex_unlock(lock);
        ok = set_slot(pool, destination_index + i, &view, keep).impl != 0;
        mtl_release(keep);
    }
    return ok ? mtl_texture_view_pool_resource_id(pool, destination_index) : (MTLResourceID){0};
}

#include "accessors/memory/texture_view.inc" // plain accessors, from the table
