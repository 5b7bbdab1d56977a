// SPDX-License-Identifier: Apache-2.0
// hand_layer.c: CAMetalLayer: what the table cannot say, and subclasses of it.
//
// A layer is libingot's. A subclass of a program's gets a class record of libingot's of its own
// below it, made at the first alloc: its objects are libingot's layers with the program's
// variables behind them, and -dealloc runs when libingot's last reference is gone.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <objc/message.h>
#include "mac/face/face.h"
#include "face_objects.h"
#include "ingot/classes.h"

// ---- Making and ending ----

typedef struct Subclass {
    struct Subclass *next;
    Class cls;
    MTLClass *record;
} Subclass;

static void dying(void *layer) {
    void (*message)(id, SEL) = (void (*)(id, SEL))objc_msgSend;
    message(layer, sel_registerName("dealloc"));
}

// -[CAMetalLayer dealloc], which the -dealloc of a subclass ends with.
static void layer_dealloc(id self, SEL _cmd) {
    (void)_cmd;
    objc_ingot_destruct(self);
    mtl_layer_destroy((void *)self);
}

static Class programs_class(id self, SEL _cmd) {
    (void)_cmd;
    return class_getSuperclass(object_getClass(self));
}

static MTLClass *record_of(Class cls) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static Subclass *all;
    pthread_mutex_lock(&lock);
    Subclass *s = all;
    while (s && s->cls != cls) s = s->next;
    if (!s && (s = malloc(sizeof *s))) {
        char name[256];
        *s = (Subclass){all, cls, mtl_layer_subclass(dying)};
        snprintf(name, sizeof name, "_%s", class_getName(cls));
        if (s->record && face_adopt_record(s->record, name, cls)) {
            const objc_ingot_method methods[] = {{"-class", (IMP)programs_class, "#16@0:8"},
                                                 {NULL, NULL, NULL}};
            objc_ingot_add_methods((Class)s->record, methods);
            all = s;
        } else {
            free(s);
            s = NULL;
        }
    }
    MTLClass *record = s ? s->record : NULL;
    pthread_mutex_unlock(&lock);
    return record;
}

static id make_layer(Class self, SEL _cmd) {
    (void)_cmd;
    if (self == objc_getClass("CAMetalLayer")) return (id)ca_metal_layer_new();
    MTLClass *record = record_of(self);
    id layer = record ? (id)mtl_layer_new(record, class_getInstanceSize(self)) : NULL;
    if (layer) objc_ingot_construct(layer);
    return layer;
}

void face_layers_start(void) {
    const objc_ingot_method methods[] = {{"+alloc", (IMP)make_layer, "@16@0:8"},
                                         {"+allocWithZone:", (IMP)make_layer, "@24@0:8^v16"},
                                         {"-dealloc", (IMP)layer_dealloc, "v16@0:8"},
                                         {NULL, NULL, NULL}};
    objc_ingot_add_methods(objc_getClass("CAMetalLayer"), methods);
}

id face_CAMetalLayer_class_layer(id self, SEL _cmd) { return face_new((Class)self, _cmd); }

// ---- Wishes that are remembered ----

static char unsynced, transaction, extended; // their addresses are keys

static void remember(id self, const char *key, bool value) {
    objc_setAssociatedObject(self, key, value ? face_number(1) : NULL, OBJC_ASSOCIATION_RETAIN);
}
static bool remembered(id self, const char *key) {
    return objc_getAssociatedObject(self, key) != NULL;
}

// Presentation waits for nobody's display.
unsigned long face_CAMetalLayer_displaySyncEnabled(id self, SEL _cmd) {
    (void)_cmd;
    return !remembered(self, &unsynced);
}
void face_CAMetalLayer_setDisplaySyncEnabled_(id self, SEL _cmd, bool value) {
    (void)_cmd;
    remember(self, &unsynced, !value);
}

unsigned long face_CAMetalLayer_presentsWithTransaction(id self, SEL _cmd) {
    (void)_cmd;
    return remembered(self, &transaction);
}
void face_CAMetalLayer_setPresentsWithTransaction_(id self, SEL _cmd, bool value) {
    (void)_cmd;
    remember(self, &transaction, value);
}

unsigned long face_CAMetalLayer_wantsExtendedDynamicRangeContent(id self, SEL _cmd) {
    (void)_cmd;
    return remembered(self, &extended);
}
void face_CAMetalLayer_setWantsExtendedDynamicRangeContent_(id self, SEL _cmd, bool value) {
    (void)_cmd;
    remember(self, &extended, value);
}

void *face_CAMetalLayer_colorspace(id self, SEL _cmd) {
    (void)self, (void)_cmd;
    return NULL;
}
void face_CAMetalLayer_setColorspace_(id self, SEL _cmd, void *value) {
    (void)self, (void)_cmd;
    if (value) face_refuse("-[CAMetalLayer setColorspace:]", "colour spaces");
}
