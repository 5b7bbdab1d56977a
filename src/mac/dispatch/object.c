// SPDX-License-Identifier: Apache-2.0
// object.c: dispatch objects are Objective-C objects: their classes, counting, contexts.
#include "mac/dispatch/dispatch_int.h"
#include <objc/objc-arc.h>
#include <Block.h>
#include <stdio.h>
#include <stdlib.h>

struct DispatchClasses dispatch_classes;

void dispatch_fatal(const char *what) {
    fprintf(stderr, "dispatch: %s\n", what);
    abort();
}
void *dispatch_alloc(size_t n_bytes) {
    void *p = calloc(1, n_bytes);
    if (!p) dispatch_fatal("no memory");
    return p;
}
void *dispatch_new(Class cls, size_t n_bytes) {
    void *object = class_createInstance(cls, n_bytes - class_getInstanceSize(cls));
    if (!object) dispatch_fatal("no memory");
    return object;
}

void dispatch_retain(dispatch_object_t object) { objc_retain(object); }
void dispatch_release(dispatch_object_t object) { objc_release(object); }
void dispatch_activate(dispatch_object_t object) { (void)object; }
void dispatch_set_context(dispatch_object_t object, void *context) {
    ((DispatchHead *)object)->context = context;
}
void *dispatch_get_context(dispatch_object_t object) { return ((DispatchHead *)object)->context; }
void dispatch_set_finalizer_f(dispatch_object_t object, dispatch_function_t finalizer) {
    ((DispatchHead *)object)->finalizer = finalizer;
}

// ---- Blocks ----

typedef struct BlockHead {
    void *isa;
    int flags, reserved;
    void (*invoke)(void *block);
} BlockHead;
void *block_kept(void *block) { return _Block_copy(block); }
void block_call(void *block) { ((BlockHead *)block)->invoke(block); }
static void let_go(void **block) { _Block_release(*block); }
void block_call_and_release(void *block) {
    void *own __attribute__((cleanup(let_go))) = block; // also if it throws
    block_call(own);
}

// ---- Classes ----

static void keep(void *object) { (void)object; }
static const objc_ingot_counting immortal = {keep, keep, NULL, NULL};

static Class new_class(const char *name, Class superclass, size_t n_bytes) {
    Class cls = objc_ingot_new_class(name, superclass, n_bytes);
    if (!cls) dispatch_fatal("a class of libdispatch is there already");
    return cls;
}
static Class new_immortal(const char *name, Class superclass) {
    Class cls = objc_ingot_adopt(dispatch_alloc(OBJC_INGOT_CLASS_WORDS * sizeof(void *)), name,
                                 superclass, &immortal);
    if (!cls) dispatch_fatal("a class of libdispatch is there already");
    return cls;
}

void dispatch_objects_start(void) {
    struct DispatchClasses *c = &dispatch_classes;
    Class object = new_class("OS_dispatch_object", objc_getClass("NSObject"), sizeof(DispatchHead));
    c->queue = new_class("OS_dispatch_queue", object, 0);
    c->serial = new_class("OS_dispatch_queue_serial", c->queue, 0);
    c->concurrent = new_class("OS_dispatch_queue_concurrent", c->queue, 0);
    c->global = new_immortal("OS_dispatch_queue_global", c->queue);
    c->main = new_immortal("OS_dispatch_queue_main", c->queue);
    c->attributes = new_immortal("OS_dispatch_queue_attr", object);
    c->group = new_class("OS_dispatch_group", object, 0);
    c->semaphore = new_class("OS_dispatch_semaphore", object, 0);
    c->data = new_class("OS_dispatch_data", object, 0);
}
