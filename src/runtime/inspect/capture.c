// SPDX-License-Identifier: Apache-2.0
// capture.c: MTLCaptureManager and MTLCaptureScope: who decides when a capture with contents
// (contents.c), or the timeline of trace.c for a file called .json, is open.
#include <string.h>
#include "devices/capture/record.h"
#include "runtime/command/command_buffer.h"
#include "runtime/inspect/inspect_int.h"
#include "runtime/object/trace.h"
#include "runtime/object/validation.h"

struct MTLCaptureManager {
    RtObject object;
};

struct MTLCaptureScope {
    RtObject object;
    MTLDevice *device;      // retained
    MTLCommandQueue *queue; // retained, or NULL
    RtLabel label;
};

static void never_destroyed(void *self) { atomic_store(&((RtObject *)self)->refs, 1); }

static void scope_destroy(void *self) {
    MTLCaptureScope *scope = self;
    rt_label_free(&scope->label);
    mtl_release(scope->queue);
    mtl_release(scope->device);
    rt_free(scope);
}

static RT_CLASS manager_class = {.name = "MTLCaptureManager", .destroy = never_destroyed};
static RT_CLASS scope_class = {.name = "MTLCaptureScope",
                               .destroy = scope_destroy,
                               .label_at = offsetof(MTLCaptureScope, label)};
static MTLCaptureManager manager_object = {{&manager_class, 1}};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // there is one capture manager
static bool capturing, has_file, is_timeline;            // under lock, as all here
static void *capture_object;                             // retained while capturing
static MTLCaptureScope *default_scope;

MTLCaptureManager *mtl_capture_manager_shared_capture_manager(void) { return &manager_object; }

static bool is_manager(const MTLCaptureManager *manager, const char *call) {
    if (manager == &manager_object) return true;
    rt_misuse(NULL, manager ? RT_RULE_wrong_class : RT_RULE_null_object, call, NULL);
    return false;
}

static bool is_scope(const MTLCaptureScope *scope, const char *call) {
    if (rt_is(scope, &scope_class)) return true;
    rt_misuse(NULL, scope ? RT_RULE_wrong_class : RT_RULE_null_object, call, NULL);
    return false;
}

bool mtl_capture_manager_supports_destination(const MTLCaptureManager *manager,
                                              MTLCaptureDestination destination) {
    return manager && destination == MTLCaptureDestinationGPUTraceDocument && cap_is_allowed();
}

bool mtl_capture_manager_is_capturing(const MTLCaptureManager *manager) {
    pthread_mutex_lock(&lock);
    bool yes = manager && capturing;
    pthread_mutex_unlock(&lock);
    return yes;
}

// ---- Start and stop ----

static bool is_a(const void *object, const char *name) {
    return strcmp(mtl_class_name(object), name) == 0;
}

// A MTL4CommandQueue begins with a MTLCommandQueue.
static bool is_queue(const void *object) {
    return is_a(object, "MTLCommandQueue") || is_a(object, "MTL4CommandQueue");
}

static bool capturable(const void *object) {
    return is_a(object, "MTLDevice") || is_queue(object) || is_a(object, "MTLCaptureScope");
}

// What is wrong with a descriptor, or NULL.
static MTLError *check_descriptor(const MTLCaptureDescriptor *d, const char *call) {
    if (d->destination != MTLCaptureDestinationGPUTraceDocument)
        return rt_error_new(MTLCaptureErrorDomain, MTLCaptureErrorNotSupported,
                            "%s: there are no developer tools to capture to: the destination is "
                            "MTLCaptureDestinationGPUTraceDocument.",
                            call);
    if (!cap_is_allowed())
        return rt_error_new(MTLCaptureErrorDomain, MTLCaptureErrorNotSupported,
                            "%s: capturing is not enabled: set MTL_CAPTURE_ENABLED=1 in the "
                            "environment.",
                            call);
    if (!d->capture_object || !capturable(d->capture_object))
        return rt_error_new(MTLCaptureErrorDomain, MTLCaptureErrorInvalidDescriptor,
                            "%s: capture_object is a device, a command queue or a capture scope.",
                            call);
    if (!d->output_url || !*d->output_url)
        return rt_error_new(MTLCaptureErrorDomain, MTLCaptureErrorInvalidDescriptor,
                            "%s: output_url names the file to write.", call);
    return NULL;
}

// The lock is held. 0 or errno.
static int start(void *object, const char *path) {
    MTLCaptureScope *scope = is_a(object, "MTLCaptureScope") ? object : NULL;
    const MTLCommandQueue *queue = scope ? scope->queue : is_queue(object) ? object : NULL;
    const MTLDevice *device = scope ? scope->device : queue ? queue->device : object;
    const char *dot = path ? strrchr(path, '.') : NULL;
    is_timeline = dot && !strcmp(dot, ".json");
    int e = 0;
    if (path && is_timeline)
        e = rt_trace_open(RT_TRACE_CAPTURE, path, queue, scope == NULL);
    else if (path)
        e = rt_contents_open(path, device, queue, scope == NULL);
    if (e) return e;
    capturing = true;
    has_file = path != NULL;
    capture_object = mtl_retain(object);
    return 0;
}

bool mtl_capture_manager_start_capture(MTLCaptureManager *manager,
                                       const MTLCaptureDescriptor *descriptor, MTLError **error) {
    if (error) *error = NULL;
    MTLError *wrong = NULL;
    if (!is_manager(manager, __func__) || !descriptor) {
        if (manager) rt_misuse(NULL, RT_RULE_null_argument, __func__, "descriptor");
        wrong = rt_error_new(MTLCaptureErrorDomain, MTLCaptureErrorInvalidDescriptor,
                             "%s: a capture manager and a descriptor are required.", __func__);
        rt_error_set(error, wrong);
        return false;
    }
    wrong = check_descriptor(descriptor, __func__);
    pthread_mutex_lock(&lock);
    if (!wrong && capturing)
        wrong = rt_error_new(MTLCaptureErrorDomain, MTLCaptureErrorAlreadyCapturing,
                             "%s: a capture is already running.", __func__);
    int e = wrong ? 0 : start(descriptor->capture_object, descriptor->output_url);
    pthread_mutex_unlock(&lock);
    if (e)
        wrong = rt_error_new(MTLCaptureErrorDomain, MTLCaptureErrorInvalidDescriptor,
                             "%s: '%s' cannot be created: %s.", __func__, descriptor->output_url,
                             strerror(e));
    if (!wrong) return true;
    rt_error_set(error, wrong);
    return false;
}

static void start_without_file(MTLCaptureManager *manager, void *object, const char *class_name,
                               const char *call) {
    if (!is_manager(manager, call)) return;
    if (!object || !is_a(object, class_name)) {
        rt_misuse(NULL, object ? RT_RULE_wrong_class : RT_RULE_null_argument, call, "%s",
                  class_name);
        return;
    }
    pthread_mutex_lock(&lock);
    if (!capturing) start(object, NULL);
    pthread_mutex_unlock(&lock);
}

void mtl_capture_manager_start_capture_with_device(MTLCaptureManager *manager, MTLDevice *device) {
    start_without_file(manager, device, "MTLDevice", __func__);
}

void mtl_capture_manager_start_capture_with_command_queue(MTLCaptureManager *manager,
                                                          MTLCommandQueue *queue) {
    start_without_file(manager, queue, "MTLCommandQueue", __func__);
}

void mtl_capture_manager_start_capture_with_scope(MTLCaptureManager *manager,
                                                  MTLCaptureScope *scope) {
    start_without_file(manager, scope, "MTLCaptureScope", __func__);
}

// only: NULL, or the scope whose end it is.
static void stop(const MTLCaptureScope *only) {
    pthread_mutex_lock(&lock);
    bool mine = capturing && (!only || (capture_object == only && has_file));
    void *object = mine ? capture_object : NULL;
    bool file = mine && has_file;
    if (mine) {
        capturing = has_file = false;
        capture_object = NULL;
    }
    // Under our lock: the next start comes after it.
    if (file && is_timeline) rt_trace_close(RT_TRACE_CAPTURE);
    if (file && !is_timeline) rt_contents_close();
    pthread_mutex_unlock(&lock);
    mtl_release(object);
}

void mtl_capture_manager_stop_capture(MTLCaptureManager *manager) {
    if (is_manager(manager, __func__)) stop(NULL);
}

// ---- Scopes ----

MTLCaptureScope *mtl_capture_manager_default_capture_scope(const MTLCaptureManager *manager) {
    pthread_mutex_lock(&lock);
    MTLCaptureScope *scope = manager ? default_scope : NULL;
    pthread_mutex_unlock(&lock);
    return scope;
}

void mtl_capture_manager_set_default_capture_scope(MTLCaptureManager *manager,
                                                   MTLCaptureScope *scope) {
    if (!is_manager(manager, __func__) || (scope && !is_scope(scope, __func__))) return;
    pthread_mutex_lock(&lock);
    MTLCaptureScope *old = default_scope;
    default_scope = mtl_retain(scope);
    pthread_mutex_unlock(&lock);
    mtl_release(old);
}

static MTLCaptureScope *new_scope(const MTLCaptureManager *manager, MTLDevice *device,
                                  MTLCommandQueue *queue, const char *call) {
    if (!is_manager(manager, call)) return NULL;
    if (!device) {
        rt_misuse(NULL, RT_RULE_null_argument, call, NULL);
        return NULL;
    }
    MTLCaptureScope *scope = rt_new(&scope_class, sizeof *scope);
    if (!scope) return NULL;
    scope->device = mtl_retain(device);
    scope->queue = mtl_retain(queue);
    return scope;
}

MTLCaptureScope *mtl_capture_manager_new_capture_scope_with_device(MTLCaptureManager *manager,
                                                                   MTLDevice *device) {
    return new_scope(manager, device, NULL, __func__);
}

MTLCaptureScope *mtl_capture_manager_new_capture_scope_with_command_queue(
    MTLCaptureManager *manager, MTLCommandQueue *queue) {
    return new_scope(manager, mtl_command_queue_device(queue), queue, __func__);
}

MTLCaptureScope *mtl_capture_manager_new_capture_scope_with_mtl4_command_queue(
    MTLCaptureManager *manager, MTL4CommandQueue *queue) {
    return new_scope(manager, mtl4_command_queue_device(queue), (MTLCommandQueue *)(void *)queue,
                     __func__);
}

MTLCommandQueue *mtl_capture_scope_command_queue(const MTLCaptureScope *scope) {
    return scope && !is_a(scope->queue, "MTL4CommandQueue") ? scope->queue : NULL;
}

MTL4CommandQueue *mtl_capture_scope_mtl4_command_queue(const MTLCaptureScope *scope) {
    bool is_one = scope && is_a(scope->queue, "MTL4CommandQueue");
    return is_one ? (MTL4CommandQueue *)(void *)scope->queue : NULL;
}

static void mark(const MTLCaptureScope *scope, bool begins) {
    const char *label = rt_label(&scope->label);
    if (rt_is_tracing()) rt_trace_scope(*label ? label : "MTLCaptureScope", scope, begins);
}

void mtl_capture_scope_begin_scope(MTLCaptureScope *scope) {
    if (!is_scope(scope, __func__)) return;
    pthread_mutex_lock(&lock);
    bool mine = capturing && has_file && capture_object == scope;
    if (mine && is_timeline) rt_trace_resume(RT_TRACE_CAPTURE);
    if (mine && !is_timeline) rt_contents_resume();
    pthread_mutex_unlock(&lock);
    mark(scope, true);
}

void mtl_capture_scope_end_scope(MTLCaptureScope *scope) {
    if (!is_scope(scope, __func__)) return;
    mark(scope, false);
    stop(scope);
}

#include "accessors/inspect/capture.inc" // plain accessors, from the table
