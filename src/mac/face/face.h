// SPDX-License-Identifier: Apache-2.0
// face.h: what the generated methods of the Objective-C face stand on. C, no Objective-C:
// libingot's types have the names of Metal's classes.
#ifndef INGOT_FACE_H
#define INGOT_FACE_H
#include <objc/objc-arc.h>
#include <objc/objc-ingot.h>
#include "mac/face/bridge.h"
#include "ingot/metal.h"

// ---- Results, errors ----

id face_lend(id object); // a result that the caller does not own: retained and autoreleased
// Stores nil, as every method with an error does first; what is there at the end is autoreleased.
id *face_error_begin(id *error);
void face_error_end(id *error);
// Says once on standard error that a method is refused, or puts it into *error.
void face_refuse(const char *method, const char *reason);
void face_refuse_with(id *error, const char *method, const char *reason);

extern const char
    face_encoder_infos[]; // the key under which an error has what its encoders came to

// ---- Blocks ----

void *face_block_copy(id block);
// Calls a block with up to four arguments that are pointers or whole numbers; an exception that
// it throws is reported and ends there.
void face_block_call(void *block, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d);
void face_block_done(void *block); // after the only call
void face_block_keep(void *block); // after one of many

// ---- Objects that hold values ----

id face_new(Class self, SEL _cmd);         // +descriptor and its kin
id face_make_object(const char *cls);      // owned
void face_make(id *slot, const char *cls); // unless there is one
void face_store(id *slot, id value, bool copy);
// `slots`: offsets of objects, ended by 0. Objects of this kind are copied with the object, others
// shared.
id face_copy(id self, size_t n_bytes, const size_t *slots);
void face_dealloc(id self, const size_t *slots);
void face_reset(id self, size_t n_bytes, const size_t *slots);
id face_attachment(id *items, size_t count, unsigned long i, const char *cls);
void face_set_attachment(id *items, size_t count, unsigned long i, id value);

// ---- Classes (adopt.c) ----

typedef struct FaceName {
    const char *name; // of libingot's class records
    void *cls;        // that has the methods
    bool protocol;    // its name begins with "_", and the record keeps the plain one
} FaceName;
extern const FaceName face_names[];
struct MTLClass;
bool face_adopt_record(struct MTLClass *record, const char *name, Class parent); // false: taken
void face_layers_start(void);                                                    // hand_layer.c
// parts.c: for weak references; the end of an object of libingot's, with its parts.
bool face_try_retain(void *object);
void face_died(void *object);
#endif
