// SPDX-License-Identifier: Apache-2.0
// classes.h: what a second face of libingot's objects needs, such as that of Objective-C.
//
// The first word of every object is the address of its class record. A record begins with five
// words that are nobody's: a runtime that keeps its classes in records of that size (Objective-C's
// class, superclass, cache, table, data) may fill them in and has made libingot's objects its own,
// with no wrapper and no map between the two. Counting stays mtl_retain and mtl_release.
//
//     for (MTLClass *c = mtl_class_next(NULL); c; c = mtl_class_next(c)) adopt(c->words, c->name);
//
// Not part of metal.h: a program that uses Metal has no business here.
#ifndef INGOT_CLASSES_H
#define INGOT_CLASSES_H
#include "ingot/metal.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MTLClass {
    void *words[5];   // the other runtime's; 0 until it comes
    const char *name; // "MTLBuffer"; several records may have the same
} MTLClass;

// The record behind `after`, the first one for NULL; NULL: that was the last.
MTL_API MTLClass *mtl_class_next(const MTLClass *after);
typedef void (*MTLDeathWatch)(void *object);
// Called when the last reference to an object is gone, before anything of it is; NULL: nobody wants
// to know. Parts of another object (an encoder of its command buffer, a member of its reflection)
// end with that one, unreported.
MTL_API void mtl_set_death_watch(MTLDeathWatch died);
// The object that this one is a part of, with whose last reference it ends; NULL: none.
MTL_API void *mtl_owner(const void *object);
// As mtl_retain, but NULL when the last reference is already gone (to its owner, if it is a part):
// for those who keep an address without a reference and are told by the watch.
MTL_API void *mtl_retain_if_alive(void *object);

// Layers are the only objects that another runtime has subclasses of. A record for one of them,
// never freed; destroy is called when the last reference to a layer is gone, and ends by calling
// mtl_layer_destroy. NULL: no memory.
MTL_API MTLClass *mtl_layer_subclass(void (*destroy)(void *layer));
#define MTL_LAYER_BYTES 512 // a layer's own memory; the subclass's variables come behind it
MTL_API CAMetalLayer *mtl_layer_new(const MTLClass *record, size_t n_bytes); // all of them, zeroed
MTL_API void mtl_layer_destroy(CAMetalLayer *layer);

#ifdef __cplusplus
}
#endif
#endif
