// SPDX-License-Identifier: Apache-2.0
// layer.h: CAMetalLayer and MTLDrawable.
//
// A layer holds textures, a drawable one of them, and the layer, while it lives. Presenting goes
// through `show`: at once when the moment has come, else by a thread that lives while something
// waits to be shown. Pictures are shown in the order they were presented.
#ifndef INGOT_RUNTIME_LAYER_H
#define INGOT_RUNTIME_LAYER_H
#include <pthread.h>
#include "runtime/layer/window.h"
#include "runtime/object/object.h"

enum { RT_LAYER_DRAWABLES = 3 };

typedef struct RtShow RtShow;

struct CAMetalLayer {
    RtObject object;
    pthread_mutex_t lock;    // everything below; held while a picture is put into the window
    pthread_cond_t released; // a drawable is gone
    MTLDevice *device;       // retained
    MTLCommandQueue *queue;  // retained; made for the first present of a drawable itself
    MTLPixelFormat format;
    bool framebuffer_only, timeout;
    CGSize size;
    size_t max_drawables, n_drawables;
    size_t next_id;
    MTLTexture *idle[RT_LAYER_DRAWABLES]; // textures of no drawable
    MTLResidencySet *residency;           // of all its textures; NULL: nobody asked. Retained
    RtWindow *window;
    bool tried_window;
    RtShow *shows, **last_show; // to be shown, in order; a thread is at it unless empty
    double last_time;           // when the picture seen now was shown
};

typedef struct RtPresented {
    struct RtPresented *next;
    MTLDrawablePresentedHandler call;
    void *context;
} RtPresented;

struct MTLDrawable {
    RtObject object;
    CAMetalLayer *layer; // retained
    MTLTexture *texture; // retained
    size_t id;
    atomic_bool presented;                 // asked for, once
    _Atomic double shown;                  // 0: not yet
    RtPresented *handlers, **last_handler; // under the layer's lock
    MTLEvent *event; // of Metal 4: signalled when it may be shown; under the layer's lock
};

extern RtClass rt_layer_class, rt_drawable_class;

// When: seconds of the host's clock, or (after) since the picture before.
typedef struct RtPresentTime {
    double time, after;
} RtPresentTime;
double rt_layer_now(void);
void rt_layer_return(CAMetalLayer *layer, MTLTexture *texture); // of a drawable that is gone
// Metal 4: signal_drawable of a queue. The event that stands for it, made at the first call,
// borrowed.
MTLEvent *rt_drawable_event(MTLDrawable *drawable);
#endif
