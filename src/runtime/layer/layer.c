// SPDX-License-Identifier: Apache-2.0
// layer.c: CAMetalLayer: its properties, the pool of drawables, its window.
#include "runtime/layer/layer.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/files.h"
#include "runtime/object/error.h"
#include "runtime/object/validation.h"
#include "os/clock.h"

// A texture comes to the layer, or leaves it. Under the lock.
static void note(CAMetalLayer *layer, MTLTexture *texture, bool comes) {
    MTLAllocation *allocation = (MTLAllocation *)texture;
    if (!layer->residency || !texture ||
        mtl_residency_set_contains_allocation(layer->residency, allocation) == comes)
        return;
    if (comes)
        mtl_residency_set_add_allocation(layer->residency, allocation);
    else
        mtl_residency_set_remove_allocation(layer->residency, allocation);
    mtl_residency_set_commit(layer->residency);
}

static void drop_textures(CAMetalLayer *layer) {
    for (int i = 0; i < RT_LAYER_DRAWABLES; i++) {
        note(layer, layer->idle[i], false);
        mtl_release(layer->idle[i]);
        layer->idle[i] = NULL;
    }
}

void mtl_layer_destroy(CAMetalLayer *layer) {
    drop_textures(layer);
    rt_window_close(layer->window);
    mtl_release(layer->residency);
    mtl_release(layer->queue);
    mtl_release(layer->device);
    pthread_cond_destroy(&layer->released);
    pthread_mutex_destroy(&layer->lock);
    rt_free(layer);
}

static void layer_destroy(void *self) { mtl_layer_destroy(self); }

RT_CLASS rt_layer_class = {.name = "CAMetalLayer", .destroy = layer_destroy};
_Static_assert(sizeof(CAMetalLayer) <= MTL_LAYER_BYTES, "variables of subclasses begin there");

static bool valid(const CAMetalLayer *layer, const char *call) {
    if (layer && (layer->object.cls == &rt_layer_class || layer->object.cls->base)) return true;
    rt_misuse(NULL, layer ? RT_RULE_wrong_class : RT_RULE_null_object, call, "layer");
    return false;
}

MTLClass *mtl_layer_subclass(void (*destroy)(void *layer)) {
    RtClass *record = rt_alloc_aligned(sizeof *record, _Alignof(RtClass));
    if (!record) return NULL;
    *record = (RtClass){.name = rt_layer_class.name, .destroy = destroy, .base = &rt_layer_class};
    return (MTLClass *)record;
}

CAMetalLayer *mtl_layer_new(const MTLClass *record, size_t n_bytes) {
    CAMetalLayer *layer = rt_new((const RtClass *)record, n_bytes);
    if (!layer) return NULL;
    pthread_mutex_init(&layer->lock, NULL);
    pthread_condattr_t clock; // waits must not follow the clock on the wall
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&layer->released, &clock);
    pthread_condattr_destroy(&clock);
    layer->format = MTLPixelFormatBGRA8Unorm;
    layer->framebuffer_only = layer->timeout = true;
    layer->max_drawables = RT_LAYER_DRAWABLES;
    layer->last_show = &layer->shows;
    return layer;
}

CAMetalLayer *ca_metal_layer_new(void) {
    return mtl_layer_new((const MTLClass *)&rt_layer_class, sizeof(CAMetalLayer));
}

// ---- Properties ----

static pthread_mutex_t *lock_of(const CAMetalLayer *layer) {
    return (pthread_mutex_t *)(uintptr_t)&layer->lock; // reading takes it too
}

void ca_metal_layer_set_device(CAMetalLayer *layer, MTLDevice *device) {
    if (!valid(layer, __func__)) return;
    pthread_mutex_lock(&layer->lock);
    MTLDevice *old = layer->device;
    MTLCommandQueue *queue = layer->queue;
    layer->device = mtl_retain(device);
    layer->queue = NULL;
    drop_textures(layer);
    mtl_release(layer->residency); // of the device before
    layer->residency = NULL;
    pthread_mutex_unlock(&layer->lock);
    mtl_release(queue);
    mtl_release(old);
}

void ca_metal_layer_set_pixel_format(CAMetalLayer *layer, MTLPixelFormat format) {
    if (!valid(layer, __func__)) return;
    if (format != MTLPixelFormatBGRA8Unorm && format != MTLPixelFormatBGRA8Unorm_sRGB &&
        format != MTLPixelFormatRGBA16Float && format != MTLPixelFormatRGB10A2Unorm &&
        format != MTLPixelFormatBGR10A2Unorm) {
        rt_misuse(layer->device, RT_RULE_layer_pixel_format, __func__, "format %u",
                  (unsigned)format);
        return;
    }
    pthread_mutex_lock(&layer->lock);
    layer->format = format;
    pthread_mutex_unlock(&layer->lock);
}

void ca_metal_layer_set_framebuffer_only(CAMetalLayer *layer, bool only) {
    if (!valid(layer, __func__)) return;
    pthread_mutex_lock(&layer->lock);
    layer->framebuffer_only = only;
    pthread_mutex_unlock(&layer->lock);
}

CGSize ca_metal_layer_drawable_size(const CAMetalLayer *layer) {
    CGSize size = {0, 0};
    if (!valid(layer, __func__)) return size;
    pthread_mutex_lock(lock_of(layer));
    size = layer->size;
    pthread_mutex_unlock(lock_of(layer));
    return size;
}

void ca_metal_layer_set_drawable_size(CAMetalLayer *layer, CGSize size) {
    if (!valid(layer, __func__)) return;
    if (!(size.width >= 0 && size.width <= 16384 && size.height >= 0 && size.height <= 16384)) {
        rt_misuse(layer->device, RT_RULE_layer_drawable_size, __func__, "%g x %g", size.width,
                  size.height);
        return;
    }
    pthread_mutex_lock(&layer->lock);
    layer->size = size;
    pthread_mutex_unlock(&layer->lock);
}

void ca_metal_layer_set_maximum_drawable_count(CAMetalLayer *layer, size_t count) {
    if (!valid(layer, __func__)) return;
    if (count != 2 && count != 3) {
        rt_misuse(layer->device, RT_RULE_layer_drawable_count, __func__, "%zu", count);
        return;
    }
    pthread_mutex_lock(&layer->lock);
    layer->max_drawables = count;
    pthread_cond_broadcast(&layer->released);
    pthread_mutex_unlock(&layer->lock);
}

// ---- The pool ----

double rt_layer_now(void) { return (double)os_now_ns() * 1e-9; }

void rt_layer_return(CAMetalLayer *layer, MTLTexture *texture) {
    pthread_mutex_lock(&layer->lock);
    for (int i = 0; texture && i < RT_LAYER_DRAWABLES; i++)
        if (!layer->idle[i]) {
            layer->idle[i] = texture;
            texture = NULL;
        }
    layer->n_drawables--;
    note(layer, texture, false); // one too many
    pthread_cond_broadcast(&layer->released);
    pthread_mutex_unlock(&layer->lock);
    mtl_release(texture);
}

// A texture as the layer has them now: one that is there already, or a new one. Under the lock.
static MTLTexture *take_texture(CAMetalLayer *layer) {
    size_t width = (size_t)layer->size.width, height = (size_t)layer->size.height;
    MTLTextureUsage usage = MTLTextureUsageRenderTarget;
    if (!layer->framebuffer_only) usage |= MTLTextureUsageShaderRead | MTLTextureUsageShaderWrite;
    for (int i = 0; i < RT_LAYER_DRAWABLES; i++) {
        MTLTexture *t = layer->idle[i];
        layer->idle[i] = NULL;
        if (t && mtl_texture_width(t) == width && mtl_texture_height(t) == height &&
            mtl_texture_pixel_format(t) == layer->format && mtl_texture_usage(t) == usage)
            return t;
        note(layer, t, false);
        mtl_release(t); // of another size
    }
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(layer->format, width, height, false);
    d.usage = usage;
    return mtl_device_new_texture(layer->device, &d);
}

// Until fewer drawables exist than the layer allows. Under the lock.
static bool wait_for_room(CAMetalLayer *layer) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec++;
    while (layer->n_drawables >= layer->max_drawables) {
        if (!layer->timeout)
            pthread_cond_wait(&layer->released, &layer->lock);
        else if (pthread_cond_timedwait(&layer->released, &layer->lock, &until) == ETIMEDOUT)
            return false;
    }
    return true;
}

MTLDrawable *ca_metal_layer_next_drawable(CAMetalLayer *layer) {
    if (!valid(layer, __func__)) return NULL;
    MTLDrawable *drawable = NULL;
    MTLTexture *texture = NULL;
    if (!layer->tried_window && env_number("INGOT_WINDOW", 0))
        ca_metal_layer_open_window(layer, "Ingot", NULL); // where there is none: off-screen
    pthread_mutex_lock(&layer->lock);
    if (layer->device && layer->size.width >= 1 && layer->size.height >= 1 && wait_for_room(layer))
        texture = take_texture(layer);
    if (texture) drawable = rt_new(&rt_drawable_class, sizeof *drawable);
    if (drawable) {
        drawable->layer = mtl_retain(layer);
        drawable->texture = texture;
        drawable->id = layer->next_id++;
        drawable->last_handler = &drawable->handlers;
        layer->n_drawables++;
        note(layer, texture, true);
        texture = NULL;
    }
    pthread_mutex_unlock(&layer->lock);
    mtl_release(texture);
    return drawable;
}

MTLResidencySet *ca_metal_layer_residency_set(CAMetalLayer *layer) {
    if (!valid(layer, __func__)) return NULL;
    pthread_mutex_lock(&layer->lock);
    if (!layer->residency && layer->device) {
        layer->residency = mtl_device_new_residency_set(layer->device, NULL, NULL);
        for (int i = 0; i < RT_LAYER_DRAWABLES; i++) note(layer, layer->idle[i], true);
    }
    MTLResidencySet *set = layer->residency;
    pthread_mutex_unlock(&layer->lock);
    return set;
}

// ---- Its window ----

bool ca_metal_layer_open_window(CAMetalLayer *layer, const char *title, MTLError **error) {
    if (!valid(layer, __func__)) return false;
    bool ok = true;
    pthread_mutex_lock(&layer->lock);
    layer->tried_window = true;
    if (!layer->window && (!layer->device || layer->size.width < 1 || layer->size.height < 1)) {
        ok = false;
        if (error)
            *error = rt_error_new(CAMetalLayerErrorDomain, CAMetalLayerErrorNoDevice,
                                  "a window needs a layer with a device and a size");
    } else if (!layer->window) {
        layer->window = rt_window_open(title ? title : "", (uint32_t)layer->size.width,
                                       (uint32_t)layer->size.height, error);
        ok = layer->window != NULL;
    }
    pthread_mutex_unlock(&layer->lock);
    return ok;
}

bool ca_metal_layer_poll_window(CAMetalLayer *layer) {
    bool wanted = false;
    if (!ca_metal_layer_poll_window_asked(layer, &wanted)) return false;
    if (wanted) ca_metal_layer_close_window(layer);
    return !wanted;
}

bool ca_metal_layer_poll_window_asked(CAMetalLayer *layer, bool *close_wanted) {
    *close_wanted = false;
    if (!valid(layer, __func__)) return false;
    pthread_mutex_lock(&layer->lock);
    if (layer->window) {
        RtWindowEvents events = rt_window_poll(layer->window);
        if (events.resized && events.width && events.height)
            layer->size = (CGSize){events.width, events.height};
        *close_wanted = events.close_wanted;
        if (events.gone) {
            rt_window_close(layer->window);
            layer->window = NULL;
        }
    }
    bool open = layer->window != NULL;
    pthread_mutex_unlock(&layer->lock);
    return open;
}

void ca_metal_layer_close_window(CAMetalLayer *layer) {
    if (!valid(layer, __func__)) return;
    pthread_mutex_lock(&layer->lock);
    rt_window_close(layer->window);
    layer->window = NULL;
    pthread_mutex_unlock(&layer->lock);
}

bool ca_metal_layer_next_input(CAMetalLayer *layer, CAWindowInput *input) {
    if (!valid(layer, __func__) || !input) return false;
    pthread_mutex_lock(&layer->lock);
    const bool found = layer->window && rt_window_next_input(layer->window, input);
    pthread_mutex_unlock(&layer->lock);
    return found;
}

uint32_t ca_metal_layer_window_number(const CAMetalLayer *layer) {
    if (!valid(layer, __func__)) return 0;
    pthread_mutex_lock(lock_of(layer));
    uint32_t number = rt_window_number(layer->window);
    pthread_mutex_unlock(lock_of(layer));
    return number;
}

#include "accessors/layer/layer.inc" // plain accessors, from the table
