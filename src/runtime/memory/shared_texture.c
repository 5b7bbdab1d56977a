// SPDX-License-Identifier: Apache-2.0
// shared_texture.c: textures over memory that others see too. Between processes it is a shared file
// (object/shared_file.h): the texels, then a page that says what texture it is. A handle is a
// descriptor of the file. The page is read once, and what it says is checked as a program's
// descriptor is. Over a surface it is the program's memory.
#include "ingot/metal_share.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "runtime/memory/own_memory.h"
#include "runtime/memory/texture.h"
#include "runtime/object/device.h"
#include "runtime/object/error.h"
#include "runtime/object/shared_file.h"
#include "runtime/object/validation.h"

#define MAGIC 0x7865742d746f676eu // "ngot-tex"
#define PAGE_BYTES 4096u
#define KIND "texture"

typedef struct Page { // the last one of the file
    uint64_t magic, id[2], texel_bytes;
    uint32_t type, format, width, height, depth, levels, samples, layers, usage, options;
    char label[64];
} Page;

struct MTLSharedTextureHandle {
    RtSharedHandle base;
};
_Static_assert(sizeof((Page *)0)->label == sizeof((RtSharedHandle *)0)->label, "one length");

static RT_CLASS handle_class = {.name = "MTLSharedTextureHandle",
                                .destroy = rt_shared_handle_destroy};

// ---- The file ----

static size_t file_bytes(uint64_t texel_bytes) { return (size_t)texel_bytes + PAGE_BYTES; }

// A new sealed file for what the page says, mapped: the texels are at its beginning. NULL: errno.
static char *create_file(Page *page, int *descriptor) {
    size_t n = file_bytes(page->texel_bytes);
    int fd = rt_shared_file_new(KIND, n, page->id);
    if (fd < 0) return NULL;
    page->magic = MAGIC;
    char *memory = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        close(fd);
        return NULL;
    }
    memcpy(memory + page->texel_bytes, page, sizeof *page);
    *descriptor = fd;
    return memory;
}

// The page of a descriptor of unknown origin; false and why it is none of ours.
static bool read_page(int descriptor, Page *page, const char **why) {
    off_t n;
    if (!rt_shared_file_check(KIND, descriptor, &n, why) || n < (off_t)PAGE_BYTES ||
        pread(descriptor, page, sizeof *page, n - (off_t)PAGE_BYTES) != (ssize_t)sizeof *page ||
        page->magic != MAGIC || page->texel_bytes != (uint64_t)n - PAGE_BYTES)
        return false;
    page->label[sizeof page->label - 1] = '\0';
    return true;
}

// ---- Textures ----

// Takes the mapping, also on failure.
static MTLTexture *texture_over(const RtSite *site, const MTLTextureDescriptor *d, char *memory,
                                size_t n_bytes, int descriptor) {
    MTLTexture *texture = rt_texture_new_over(site, d, rt_texture_options(d), memory);
    if (!texture) {
        munmap(memory, n_bytes);
        if (descriptor >= 0) close(descriptor);
        return NULL;
    }
    MTLResource *r = &texture->resource;
    r->own = (DevMemory){.address = memory, .host = memory, .n_bytes = n_bytes};
    r->owner = RT_OWNER_FILE;
    r->allocated_bytes = n_bytes;
    atomic_fetch_add(&r->device->allocated_bytes, n_bytes);
    texture->shared_file = descriptor;
    return texture;
}

MTLTexture *mtl_device_new_shared_texture(MTLDevice *device,
                                          const MTLTextureDescriptor *descriptor) {
    const RtSite site = {device, NULL, __func__};
    if (!rt_given(device, descriptor, "descriptor", __func__)) return NULL;
    const MTLTextureDescriptor *d = descriptor;
    MTLSizeAndAlign size;
    MTLResourceOptions options = rt_texture_options(d);
    if (dev_has_memory(device->table) || (options >> 4 & 15) == MTLStorageModeMemoryless ||
        d->placement_sparse_page_size) {
        rt_misuse_at(&site, RT_RULE_texture_unsupported, "shared textures of this storage mode");
        return NULL;
    }
    if (!rt_texture_size_and_align(&site, d, &size)) return NULL;
    Page page = {.texel_bytes = (size.size + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES,
                 .type = (uint32_t)d->texture_type,
                 .format = (uint32_t)d->pixel_format,
                 .width = (uint32_t)d->width,
                 .height = (uint32_t)d->height,
                 .depth = (uint32_t)d->depth,
                 .levels = (uint32_t)d->mipmap_level_count,
                 .samples = (uint32_t)d->sample_count,
                 .layers = (uint32_t)d->array_length,
                 .usage = (uint32_t)d->usage,
                 .options = (uint32_t)options};
    int file = -1;
    char *memory = create_file(&page, &file);
    return memory ? texture_over(&site, d, memory, file_bytes(page.texel_bytes), file) : NULL;
}

MTLTexture *mtl_device_new_shared_texture_with_handle(MTLDevice *device,
                                                      MTLSharedTextureHandle *handle) {
    const RtSite site = {device, NULL, __func__};
    if (!rt_given(device, handle, "handle", __func__)) return NULL;
    if (!rt_is(handle, &handle_class)) {
        rt_misuse(device, RT_RULE_wrong_class, __func__, "handle: a %s", mtl_class_name(handle));
        return NULL;
    }
    Page p;
    const char *why;
    if (!read_page(handle->base.descriptor, &p, &why)) {
        rt_misuse(device, RT_RULE_handle_no_descriptor, __func__, "%s", why);
        return NULL;
    }
    MTLTextureDescriptor d = mtl_texture_descriptor_make_default();
    d.texture_type = (MTLTextureType)p.type;
    d.pixel_format = (MTLPixelFormat)p.format;
    d.width = p.width, d.height = p.height, d.depth = p.depth;
    d.mipmap_level_count = p.levels, d.sample_count = p.samples, d.array_length = p.layers;
    d.usage = p.usage;
    d.resource_options = p.options;
    MTLSizeAndAlign size;
    if (!rt_texture_size_and_align(&site, &d, &size)) return NULL;
    size_t n = file_bytes(p.texel_bytes);
    if (size.size > p.texel_bytes) {
        rt_misuse(device, RT_RULE_handle_no_descriptor, __func__, "its memory is too short");
        return NULL;
    }
    char *memory = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, handle->base.descriptor, 0);
    if (memory == MAP_FAILED) return NULL;
    MTLTexture *texture =
        texture_over(&site, &d, memory, n, fcntl(handle->base.descriptor, F_DUPFD_CLOEXEC, 0));
    if (texture) rt_label_set(&texture->resource.label, handle->base.label);
    return texture;
}

// ---- Handles ----

static MTLSharedTextureHandle *handle_new(int descriptor, const Page *page) {
    return rt_shared_handle_new(&handle_class, KIND, descriptor, page->id, page->label);
}

MTLSharedTextureHandle *mtl_texture_new_shared_texture_handle(MTLTexture *texture) {
    if (!rt_is(texture, &rt_texture_class)) {
        rt_misuse(NULL, texture ? RT_RULE_wrong_class : RT_RULE_null_object, __func__, "%s",
                  mtl_class_name(texture));
        return NULL;
    }
    MTLDevice *device = texture->resource.device;
    const char *why = "it is not shareable", *label = rt_label(&texture->resource.label);
    Page page;
    int file = -1;
    if (mtl_texture_is_shareable(texture) && read_page(texture->shared_file, &page, &why))
        file = fcntl(texture->shared_file, F_DUPFD_CLOEXEC, 0);
    if (file < 0) {
        rt_misuse(device, RT_RULE_texture_not_shared, __func__, "texture '%s': %s", label, why);
        return NULL;
    }
    // What the label is when the handle is made goes with it; if it cannot, another process sees
    // none.
    snprintf(page.label, sizeof page.label, "%s", label);
    off_t at = (off_t)(page.texel_bytes + offsetof(Page, label));
    (void)!pwrite(file, page.label, sizeof page.label, at);
    MTLSharedTextureHandle *handle = handle_new(file, &page);
    if (handle) handle->base.device = mtl_retain(device);
    return handle;
}

MTLDevice *mtl_shared_texture_handle_device(const MTLSharedTextureHandle *handle) {
    if (!handle) return NULL;
    return handle->base.device ? handle->base.device : rt_device_if_any();
}

const char *mtl_shared_texture_handle_label(const MTLSharedTextureHandle *handle) {
    return handle ? handle->base.label : "";
}

const char *mtl_shared_texture_handle_name(const MTLSharedTextureHandle *handle) {
    return handle ? handle->base.name : "";
}

int mtl_shared_texture_handle_new_file_descriptor(const MTLSharedTextureHandle *handle) {
    return rt_shared_handle_file(handle, &handle_class, __func__);
}

MTLSharedTextureHandle *mtl_shared_texture_handle_new_with_file_descriptor(int descriptor,
                                                                           MTLError **error) {
    const char *why;
    Page page;
    if (error) *error = NULL;
    if (!read_page(descriptor, &page, &why)) return rt_shared_handle_bad(error, KIND, why);
    int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    MTLSharedTextureHandle *handle = copy < 0 ? NULL : handle_new(copy, &page);
    if (!handle) rt_error_set(error, NULL);
    return handle;
}

MTLSharedTextureHandle *mtl_shared_texture_handle_new_with_name(const char *name,
                                                                MTLError **error) {
    if (error) *error = NULL;
    if (!name) return rt_shared_handle_bad(error, KIND, "the name is NULL");
    uint64_t id[2];
    const char *why;
    int descriptor = rt_shared_file_open(KIND, name, id, &why);
    if (descriptor < 0) return rt_shared_handle_bad(error, KIND, why);
    why = RT_SHARED_FILE_GONE;
    Page page;
    MTLSharedTextureHandle *handle;
    if (!read_page(descriptor, &page, &why) || page.id[0] != id[0] || page.id[1] != id[1]) {
        close(descriptor);
        return rt_shared_handle_bad(error, KIND, why);
    }
    handle = handle_new(descriptor, &page);
    if (!handle) rt_error_set(error, NULL);
    return handle;
}

// ---- Surfaces ----

typedef struct RtSurface { // of a texture
    MTLSurface surface;
    size_t plane;
} RtSurface;

static void let_go(void *bytes, size_t length, void *context) {
    (void)bytes, (void)length;
    RtSurface *s = context;
    if (s->surface.release) s->surface.release(s->surface.object);
    rt_free(s);
}

// The plane as a buffer that holds the surface.
static MTLBuffer *buffer_of(MTLDevice *device, const MTLSurface *surface, size_t plane,
                            MTLResourceOptions options) {
    const MTLSurfacePlane *p = &surface->planes[plane];
    RtSurface *held = rt_alloc(sizeof *held);
    if (!held) return NULL;
    *held = (RtSurface){*surface, plane};
    if (surface->retain) surface->retain(surface->object);
    MTLBuffer *buffer =
        rt_buffer_new_around(device, p->base, p->bytes_per_row * p->height, options, let_go, held);
    if (!buffer) let_go(p->base, 0, held);
    return buffer;
}

MTLTexture *mtl_device_new_texture_with_iosurface(MTLDevice *device,
                                                  const MTLTextureDescriptor *descriptor,
                                                  const MTLSurface *surface, size_t plane) {
    const RtSite site = {device, NULL, __func__};
    if (!rt_given(device, descriptor, "descriptor", __func__) ||
        !rt_given(device, surface, "iosurface", __func__))
        return NULL;
    const MTLSurfacePlane *p = plane < 4 ? &surface->planes[plane] : NULL;
    if (plane >= surface->plane_count || !p || !p->base || descriptor->width > p->width ||
        descriptor->height > p->height) {
        rt_misuse_at(&site, RT_RULE_texture_surface, "plane %zu of %zu, %zu x %zu", plane,
                     surface->plane_count, descriptor->width, descriptor->height);
        return NULL;
    }
    MTLBuffer *buffer = buffer_of(device, surface, plane, rt_texture_options(descriptor));
    if (!buffer) return NULL;
    MTLTexture *texture = mtl_buffer_new_texture(buffer, descriptor, 0, p->bytes_per_row);
    mtl_release(buffer); // the texture holds it
    return texture;
}

static const RtSurface *surface_of(const MTLTexture *texture) {
    const MTLBuffer *b = texture ? texture->buffer : NULL;
    return b && b->deallocator == let_go ? b->deallocator_context : NULL;
}

void *mtl_texture_iosurface(const MTLTexture *texture) {
    const RtSurface *s = surface_of(texture);
    return s ? s->surface.object : NULL;
}

size_t mtl_texture_iosurface_plane(const MTLTexture *texture) {
    const RtSurface *s = surface_of(texture);
    return s ? s->plane : 0;
}

#include "accessors/memory/shared_texture.inc" // plain accessors, from the table
