// SPDX-License-Identifier: Apache-2.0
// drawable.c: MTLDrawable: presenting. A drawable that is presented by itself waits for the command
// buffers that use its texture then; of Metal 4, which tracks nothing, for the signal of the queue.
#include <math.h>
#include <string.h>
#include <time.h>
#include "base/numbers.h"
#include "runtime/command/command_buffer.h"
#include "runtime/layer/layer.h"
#include "runtime/memory/texture.h"
#include "runtime/object/validation.h"

struct RtShow {
    RtShow *next;
    MTLDrawable *drawable; // a reference
    RtPresentTime when;
    MTLCommandBuffer **users; // that must be done first; references
    size_t n_users;
};

static void drawable_destroy(void *self) {
    MTLDrawable *d = self;
    while (d->handlers) {
        RtPresented *next = d->handlers->next;
        rt_free(d->handlers);
        d->handlers = next;
    }
    mtl_release(d->event);
    rt_layer_return(d->layer, d->texture);
    mtl_release(d->layer);
    rt_free(d);
}

RT_CLASS rt_drawable_class = {.name = "MTLDrawable", .destroy = drawable_destroy};

static bool valid(const MTLDrawable *drawable, const char *call) {
    if (rt_is(drawable, &rt_drawable_class)) return true;
    rt_misuse(NULL, drawable ? RT_RULE_wrong_class : RT_RULE_null_object, call, "drawable");
    return false;
}

MTLTexture *ca_metal_drawable_texture(const MTLDrawable *drawable) {
    return valid(drawable, __func__) ? drawable->texture : NULL;
}

CAMetalLayer *ca_metal_drawable_layer(const MTLDrawable *drawable) {
    return valid(drawable, __func__) ? drawable->layer : NULL;
}

void mtl_drawable_add_presented_handler(MTLDrawable *drawable, MTLDrawablePresentedHandler handler,
                                        void *context) {
    if (!valid(drawable, __func__)) return;
    MTLDevice *device = drawable->texture->resource.device;
    if (!handler || atomic_load(&drawable->presented)) {
        rt_misuse(device, handler ? RT_RULE_drawable_presented : RT_RULE_null_argument, __func__,
                  "drawable %zu", drawable->id);
        return;
    }
    RtPresented *p = rt_alloc(sizeof *p);
    if (!p) return;
    *p = (RtPresented){NULL, handler, context};
    pthread_mutex_lock(&drawable->layer->lock);
    *drawable->last_handler = p;
    drawable->last_handler = &p->next;
    pthread_mutex_unlock(&drawable->layer->lock);
}

// ---- Into the window ----

static unsigned char byte_of(float v) { // 0 to 1, NaN: 0
    return (unsigned char)((v > 0 ? v < 1 ? v : 1 : 0) * 255 + 0.5f);
}

// Rows of a texture as bytes, blue first.
static void convert(MTLPixelFormat format, const unsigned char *from, unsigned char *to, size_t n) {
    for (size_t i = 0; i < n; i++, to += 4) {
        if (format == MTLPixelFormatRGBA16Float) {
            uint16_t h[4];
            memcpy(h, from + 8 * i, sizeof h);
            for (int c = 0; c < 4; c++) to[c == 3 ? 3 : 2 - c] = byte_of(float_from_half(h[c]));
        } else { // ten bits each
            uint32_t v;
            memcpy(&v, from + 4 * i, sizeof v);
            bool blue_first = format == MTLPixelFormatBGR10A2Unorm;
            for (int c = 0; c < 3; c++) {
                uint32_t ten = v >> 10 * c & 1023;
                to[blue_first ? c : 2 - c] = (unsigned char)((ten * 255 + 511) / 1023);
            }
            to[3] = 255;
        }
    }
}

// Under the layer's lock.
static void put_into_window(CAMetalLayer *layer, const MTLTexture *texture) {
    uint32_t width = (uint32_t)mtl_texture_width(texture);
    uint32_t height = (uint32_t)mtl_texture_height(texture);
    MTLPixelFormat format = mtl_texture_pixel_format(texture);
    unsigned char *to = layer->window ? rt_window_pixels(layer->window, width, height) : NULL;
    if (!to) return;
    MTLRegion whole = mtl_region_make_2d(0, 0, width, height);
    if (format == MTLPixelFormatBGRA8Unorm || format == MTLPixelFormatBGRA8Unorm_sRGB) {
        mtl_texture_get_bytes(texture, to, 4 * (size_t)width, whole, 0);
    } else {
        size_t texel = format == MTLPixelFormatRGBA16Float ? 8 : 4;
        unsigned char *all = rt_alloc(texel * width * height);
        if (!all) return;
        mtl_texture_get_bytes(texture, all, texel * width, whole, 0);
        convert(format, all, to, (size_t)width * height);
        rt_free(all);
    }
    rt_window_show(layer->window);
}

// Its moment has come. Under the layer's lock, which the handlers are called without.
static void show_now(MTLDrawable *d) {
    CAMetalLayer *layer = d->layer;
    put_into_window(layer, d->texture);
    double now = rt_layer_now();
    layer->last_time = now;
    atomic_store(&d->shown, now);
    RtPresented *p = d->handlers;
    pthread_mutex_unlock(&layer->lock);
    for (; p; p = p->next) p->call(d, p->context);
    pthread_mutex_lock(&layer->lock);
}

static double moment(const CAMetalLayer *layer, RtPresentTime when) {
    double after = when.after > 0 ? layer->last_time + when.after : 0;
    return after > when.time ? after : when.time;
}

static void wait_for_users(RtShow *s) {
    for (size_t i = 0; i < s->n_users; i++) {
        mtl_command_buffer_wait_until_completed(s->users[i]);
        mtl_release(s->users[i]);
    }
    rt_free(s->users);
    s->users = NULL;
}

// Shows what waits, in order, and ends when nothing does.
static void *presenter(void *context) {
    CAMetalLayer *layer = context; // a reference
    pthread_mutex_lock(&layer->lock);
    while (layer->shows) {
        RtShow *s = layer->shows;
        if (s->users) {
            pthread_mutex_unlock(&layer->lock);
            wait_for_users(s);
            pthread_mutex_lock(&layer->lock);
        }
        double wait = moment(layer, s->when) - rt_layer_now();
        if (wait > 0) {
            wait = wait < 1 ? wait : 1;
            pthread_mutex_unlock(&layer->lock);
            nanosleep(&(struct timespec){.tv_nsec = (long)(wait * 999999999.0)}, NULL);
            pthread_mutex_lock(&layer->lock);
            continue;
        }
        show_now(s->drawable);
        layer->shows = s->next; // only now: what is presented meanwhile comes after it
        if (!layer->shows) layer->last_show = &layer->shows;
        pthread_mutex_unlock(&layer->lock);
        mtl_release(s->drawable); // may be the last reference but this thread's to the layer
        rt_free(s);
        pthread_mutex_lock(&layer->lock);
    }
    pthread_mutex_unlock(&layer->lock);
    mtl_release(layer);
    return NULL;
}

static bool start_presenter(CAMetalLayer *layer) {
    pthread_attr_t detached;
    pthread_t thread;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    bool ok = pthread_create(&thread, &detached, presenter, mtl_retain(layer)) == 0;
    pthread_attr_destroy(&detached);
    if (!ok) mtl_release(layer); // not the last: the drawable has one
    return ok;
}

// Takes over references to the drawable and to the users.
static void show(MTLDrawable *drawable, RtPresentTime when, MTLCommandBuffer **users,
                 size_t n_users) {
    CAMetalLayer *layer = drawable->layer;
    RtShow all = {NULL, drawable, when, users, n_users};
    pthread_mutex_lock(&layer->lock);
    bool waits = layer->shows || users || moment(layer, when) > rt_layer_now();
    RtShow *s = waits ? rt_alloc(sizeof *s) : NULL;
    bool first = !layer->shows;
    if (s) {
        *s = all;
        *layer->last_show = s;
        layer->last_show = &s->next;
        if (first && !start_presenter(layer)) { // then early rather than never
            layer->shows = NULL;
            layer->last_show = &layer->shows;
            rt_free(s);
            s = NULL;
        }
    }
    if (!s && !users) show_now(drawable);
    pthread_mutex_unlock(&layer->lock);
    if (s) return;
    if (users) { // no memory for the thread: here, then
        wait_for_users(&all);
        pthread_mutex_lock(&layer->lock);
        show_now(drawable);
        pthread_mutex_unlock(&layer->lock);
    }
    mtl_release(drawable);
}

// ---- Presenting ----

typedef struct Present { // in the memory of a command buffer that holds the drawable
    MTLDrawable *drawable;
    RtPresentTime when;
} Present;

static void when_done(MTLCommandBuffer *buffer, void *context) {
    const Present *p = context;
    (void)buffer; // also if it failed: the drawable must come back
    show(mtl_retain(p->drawable), p->when, NULL, 0);
}

// False, and a message, if it was presented before.
static bool first_time(MTLDrawable *d, const char *call) {
    if (!atomic_exchange(&d->presented, true)) return true;
    rt_misuse(d->texture->resource.device, RT_RULE_drawable_presented, call, "drawable %zu", d->id);
    return false;
}

static bool valid_time(const MTLDrawable *d, double seconds, const char *call) {
    if (isfinite(seconds)) return true;
    rt_misuse(d->texture->resource.device, RT_RULE_drawable_time, call, "drawable %zu", d->id);
    return false;
}

static void present_after(MTLCommandBuffer *buffer, MTLDrawable *d, RtPresentTime when) {
    Present *p = rt_cb_alloc_own(buffer, sizeof *p);
    if (!p || !rt_cb_hold(buffer, d)) {
        rt_cb_no_memory(buffer);
        return;
    }
    *p = (Present){d, when};
    mtl_command_buffer_add_completed_handler(buffer, when_done, p);
}

// After the event, by a command buffer of the layer's own queue.
static bool present_after_event(MTLDrawable *d, MTLEvent *event, RtPresentTime when) {
    CAMetalLayer *layer = d->layer;
    pthread_mutex_lock(&layer->lock);
    if (!layer->queue) layer->queue = mtl_device_new_command_queue(d->texture->resource.device);
    MTLCommandQueue *queue = mtl_retain(layer->queue);
    pthread_mutex_unlock(&layer->lock);
    MTLCommandBuffer *commands = queue ? mtl_command_queue_command_buffer(queue) : NULL;
    if (commands) {
        mtl_command_buffer_encode_wait_for_event(commands, event, 1);
        present_after(commands, d, when);
        mtl_command_buffer_commit(commands);
    }
    bool ok = commands != NULL;
    mtl_release(commands);
    mtl_release(queue);
    return ok;
}

static void present(MTLDrawable *d, RtPresentTime when, const char *call) {
    if (!first_time(d, call)) return;
    pthread_mutex_lock(&d->layer->lock);
    MTLEvent *event = mtl_retain(d->event);
    pthread_mutex_unlock(&d->layer->lock);
    if (!event || !present_after_event(d, event, when)) {
        size_t n = 0;
        MTLCommandBuffer **users = rt_hazard_users(&d->texture->resource, &n);
        show(mtl_retain(d), when, users, n);
    }
    mtl_release(event);
}

void mtl_drawable_present(MTLDrawable *drawable) {
    if (valid(drawable, __func__)) present(drawable, (RtPresentTime){0, 0}, __func__);
}

void mtl_drawable_present_at_time(MTLDrawable *drawable, double time) {
    if (valid(drawable, __func__) && valid_time(drawable, time, __func__))
        present(drawable, (RtPresentTime){time, 0}, __func__);
}

void mtl_drawable_present_after_minimum_duration(MTLDrawable *drawable, double duration) {
    if (valid(drawable, __func__) && valid_time(drawable, duration, __func__))
        present(drawable, (RtPresentTime){0, duration}, __func__);
}

static void present_with(MTLCommandBuffer *buffer, MTLDrawable *drawable, RtPresentTime when,
                         const char *call) {
    if (!rt_cb_recording(buffer, call)) return;
    if (!rt_is(drawable, &rt_drawable_class)) {
        rt_misuse_in(buffer, drawable ? RT_RULE_wrong_class : RT_RULE_null_argument, call,
                     "drawable");
        return;
    }
    if (valid_time(drawable, when.time + when.after, call) && first_time(drawable, call))
        present_after(buffer, drawable, when);
}

void mtl_command_buffer_present_drawable(MTLCommandBuffer *buffer, MTLDrawable *drawable) {
    present_with(buffer, drawable, (RtPresentTime){0, 0}, __func__);
}

void mtl_command_buffer_present_drawable_at_time(MTLCommandBuffer *buffer, MTLDrawable *drawable,
                                                 double time) {
    present_with(buffer, drawable, (RtPresentTime){time, 0}, __func__);
}

void mtl_command_buffer_present_drawable_after_minimum_duration(MTLCommandBuffer *buffer,
                                                                MTLDrawable *drawable,
                                                                double duration) {
    present_with(buffer, drawable, (RtPresentTime){0, duration}, __func__);
}

MTLEvent *rt_drawable_event(MTLDrawable *drawable) {
    MTLDevice *device = drawable->texture->resource.device;
    pthread_mutex_lock(&drawable->layer->lock);
    if (!drawable->event) drawable->event = mtl_device_new_event(device);
    MTLEvent *event = drawable->event;
    pthread_mutex_unlock(&drawable->layer->lock);
    return event;
}

#include "accessors/layer/drawable.inc" // plain accessors, from the table
