// SPDX-License-Identifier: Apache-2.0
// adopt.c: libingot's class records become Objective-C classes, below the classes that have the
// methods (face_classes.c). From then on every object of libingot takes messages; its count stays
// libingot's.
#include <stdio.h>
#include <string.h>
#include <objc/message.h>
#include "mac/face/face.h"
#include "ingot/classes.h"

static void retain(void *object) { mtl_retain(object); }
static size_t count(void *object) { return mtl_retain_count(object); }
static const objc_ingot_counting counting = {retain, mtl_release, face_try_retain, count};

// ---- MTLError is a NSError ----

static id error_domain(id self, SEL _cmd) {
    (void)_cmd;
    return face_string(mtl_error_domain((void *)self));
}
static long error_code(id self, SEL _cmd) {
    (void)_cmd;
    return mtl_error_code((void *)self);
}
static id error_text(id self, SEL _cmd) {
    (void)_cmd;
    return face_string(mtl_error_localized_description((void *)self));
}
const char face_encoder_infos[] = "MTLCommandBufferEncoderInfoErrorKey";
static id error_info(id self, SEL _cmd) {
    (void)_cmd;
    id infos = objc_getAssociatedObject(self, face_encoder_infos);
    id keys[] = {face_string("NSLocalizedDescription"), face_string(face_encoder_infos)};
    id values[] = {error_text(self, NULL), infos};
    return face_dictionary(keys, values, infos ? 2 : 1);
}
static const objc_ingot_method error_methods[] = {
    {"-domain", (IMP)error_domain, "@16@0:8"},
    {"-code", (IMP)error_code, "q16@0:8"},
    {"-localizedDescription", (IMP)error_text, "@16@0:8"},
    {"-userInfo", (IMP)error_info, "@16@0:8"},
    {NULL, NULL, NULL},
};

// ---- Classes of libingot's that programs make objects of ----

static id make_values(Class self, SEL _cmd) {
    (void)self, (void)_cmd;
    return (id)mtl_function_constant_values_new();
}
static id make_listener(Class self, SEL _cmd) {
    (void)self, (void)_cmd;
    return (id)mtl_shared_event_listener_new();
}
static id make_options(Class self, SEL _cmd) {
    (void)self, (void)_cmd;
    return (id)mtl4_commit_options_new();
}

static void add_makers(void) {
    static const struct {
        const char *cls;
        id (*make)(Class self, SEL _cmd);
    } makers[] = {{"MTLFunctionConstantValues", make_values},
                  {"MTLSharedEventListener", make_listener},
                  {"MTL4CommitOptions", make_options}};
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        const objc_ingot_method methods[] = {
            {"+alloc", (IMP)makers[i].make, "@16@0:8"},
            {"+allocWithZone:", (IMP)makers[i].make, "@24@0:8^v16"},
            {NULL, NULL, NULL}};
        objc_ingot_add_methods(objc_getClass(makers[i].cls), methods);
    }
}

// ---- Messages beside Apple's headers ----

// A Mac's devices understand it, no header has it, and the crate `metal` sends it; wgpu, through
// that, for every compute pipeline.
static id new_compute_pipeline(id self, SEL _cmd, id descriptor, id *error) {
    (void)_cmd;
    typedef id Send(id self, SEL _cmd, id descriptor, unsigned long options, id *info, id *error);
    static const char name[] = "newComputePipelineStateWithDescriptor:options:reflection:error:";
    Send *send = (Send *)objc_msgSend;
    return send(self, sel_registerName(name), descriptor, 0, NULL, error);
}
static const objc_ingot_method device_methods[] = {
    {"-newComputePipelineStateWithDescriptor:error:", (IMP)new_compute_pipeline, "@32@0:8@16^@24"},
    {NULL, NULL, NULL}};

// ---- Adopting ----

static Class parent_of(const MTLClass *record, bool *plain_name) {
    *plain_name = true;
    if (strcmp(record->name, "MTLError") == 0) return objc_getClass("NSError");
    for (const FaceName *n = face_names; n->name; n++) {
        if (strcmp(n->name, record->name)) continue;
        *plain_name = n->protocol;
        return n->cls;
    }
    return objc_getClass("NSObject"); // of libingot's inside, or without methods
}

bool face_adopt_record(MTLClass *record, const char *name, Class parent) {
    return objc_ingot_adopt(record, name, parent, &counting) != NULL;
}

// A name is taken if the class has it, or if libingot has two records for a class.
static Class adopt(MTLClass *record) {
    bool plain;
    Class parent = parent_of(record, &plain), made = NULL;
    char name[96];
    snprintf(name, sizeof name, "%s%s", plain ? "" : "_", record->name);
    made = objc_ingot_adopt(record, name, parent, &counting);
    for (int i = 2; !made && i < 10; i++) {
        snprintf(name, sizeof name, "_%s_%d", record->name, i);
        made = objc_ingot_adopt(record, name, parent, &counting);
    }
    return made;
}

// After the image's own classes are registered (constructors of 101), before the program's code.
__attribute__((constructor(110))) static void start(void) {
    for (MTLClass *c = mtl_class_next(NULL); c; c = mtl_class_next(c)) {
        Class made = adopt(c);
        if (strcmp(c->name, "MTLError") == 0) objc_ingot_add_methods(made, error_methods);
        if (strcmp(c->name, "MTLDevice") == 0) objc_ingot_add_methods(made, device_methods);
    }
    add_makers();
    face_layers_start();
    mtl_set_death_watch(face_died);
}
