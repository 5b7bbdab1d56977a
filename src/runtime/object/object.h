// SPDX-License-Identifier: Apache-2.0
// object.h: the head of every Metal object: a class record (first, so that an Objective-C face can
// be put on the same objects, classes.h) and an atomic count; and the memory they are made of.
#ifndef INGOT_RUNTIME_OBJECT_H
#define INGOT_RUNTIME_OBJECT_H
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include "ingot/metal.h"
#include "ingot/classes.h"

// Define one with RT_CLASS: the linker collects them, and mtl_class_next finds them all. 64: more
// than any compiler aligns a variable by itself, so that they lie in a row.
typedef struct RtClass {
    _Alignas(64) void *words[5]; // with the name a MTLClass: another runtime's, classes.h
    const char *name;            // "MTLBuffer"
    void (*destroy)(void *self); // the last reference is gone; frees the object too
    void *(*owner)(
        const void *); // not NULL: a part of this object, whose count is the one that counts
    size_t label_at;   // offset of its RtLabel, for the leak report; 0: it has none
    const struct RtClass *base; // not NULL: its objects begin as those of this class
} RtClass;
_Static_assert(offsetof(RtClass, name) == offsetof(MTLClass, name), "a record begins as MTLClass");
#define RT_CLASS __attribute__((section("ingot_classes"), used)) RtClass

typedef struct RtObject {
    const RtClass *cls;
    atomic_size_t refs;
} RtObject;

// Zeroed, from the allocator hook; NULL: no memory. rt_free takes NULL.
void *rt_alloc(size_t n_bytes);
void *rt_alloc_aligned(size_t n_bytes, size_t alignment); // not zeroed
void rt_free(void *p);
// Grows an array of items to hold n; contents move, the old one stays on failure.
bool rt_grow(void *array, size_t *capacity, size_t n, size_t item_bytes);
char *rt_strdup(const char *s); // NULL gives ""
bool rt_allocator_is_default(void);

// An object with one reference.
void *rt_new(const RtClass *cls, size_t n_bytes);
void rt_begin(void *memory, const RtClass *cls); // the same in memory that is there, zeroed
// False: the last reference has gone. For those who hold an address and no reference.
bool rt_retain_if_alive(RtObject *object);
bool rt_is(const void *object, const RtClass *cls); // false for NULL

// A label: set from any thread, readable until set again. rt_label gives "" if none.
typedef char *_Atomic RtLabel;
void rt_label_set(RtLabel *label, const char *text);
const char *rt_label(const RtLabel *label);
void rt_label_free(RtLabel *label);
#endif
