// SPDX-License-Identifier: Apache-2.0
// object.c: counting references, and memory through one hook so that tests can make any allocation
// fail.
#include "runtime/object/object.h"
#include "base/array.h"
#include "runtime/object/leaks.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void *default_allocate(void *context, size_t length, size_t alignment) {
    (void)context;
    if (alignment <= _Alignof(max_align_t)) return malloc(length);
    if (length > SIZE_MAX - alignment) return NULL;
    return aligned_alloc(alignment, (length + alignment - 1) & ~(alignment - 1));
}

static void default_deallocate(void *context, void *pointer) {
    (void)context;
    free(pointer);
}

static const MTLAllocator standard = {.allocate = default_allocate,
                                      .deallocate = default_deallocate};
static MTLAllocator hook;
static atomic_bool hooked;

void mtl_set_allocator(const MTLAllocator *allocator) {
    atomic_store(&hooked, false);
    if (allocator && allocator->allocate && allocator->deallocate) {
        hook = *allocator;
        atomic_store(&hooked, true);
    }
}

static const MTLAllocator *allocator_now(void) {
    return atomic_load_explicit(&hooked, memory_order_acquire) ? &hook : &standard;
}

bool rt_allocator_is_default(void) { return !atomic_load_explicit(&hooked, memory_order_acquire); }

void *rt_alloc_aligned(size_t n_bytes, size_t alignment) {
    const MTLAllocator *a = allocator_now();
    return a->allocate(a->context, n_bytes ? n_bytes : 1, alignment);
}

void *rt_alloc(size_t n_bytes) {
    void *p = rt_alloc_aligned(n_bytes, _Alignof(max_align_t));
    if (p) memset(p, 0, n_bytes);
    return p;
}

void rt_free(void *p) {
    const MTLAllocator *a = allocator_now();
    if (p) a->deallocate(a->context, p);
}

bool rt_grow(void *array, size_t *capacity, size_t n, size_t item_bytes) {
    void **items = array;
    if (n <= *capacity) return true;
    size_t larger;
    if (!base_array_capacity(*capacity, n, item_bytes, &larger)) return false;
    void *fresh = rt_alloc(larger * item_bytes);
    if (!fresh) return false;
    if (*items) memcpy(fresh, *items, *capacity * item_bytes);
    rt_free(*items);
    *items = fresh;
    *capacity = larger;
    return true;
}

char *rt_strdup(const char *s) {
    size_t n = s ? strlen(s) : 0;
    char *copy = rt_alloc(n + 1);
    if (copy && s) memcpy(copy, s, n);
    return copy;
}

// ---- Classes: a row of records that the linker made ----

extern RtClass __start_ingot_classes[], __stop_ingot_classes[];

MTLClass *mtl_class_next(const MTLClass *after) {
    RtClass *next = after ? (RtClass *)after + 1 : __start_ingot_classes;
    return next < __stop_ingot_classes ? (MTLClass *)next : NULL;
}

static _Atomic(MTLDeathWatch) death_watch;

void mtl_set_death_watch(MTLDeathWatch died) { atomic_store(&death_watch, died); }

// ---- References ----

void rt_begin(void *memory, const RtClass *cls) {
    RtObject *object = memory;
    object->cls = cls;
    atomic_init(&object->refs, 1);
    if (rt_leaks_wanted()) rt_leaks_born(object);
}

void *rt_new(const RtClass *cls, size_t n_bytes) {
    RtObject *object = rt_alloc(n_bytes);
    if (object) rt_begin(object, cls);
    return object;
}

bool rt_is(const void *object, const RtClass *cls) {
    return object && ((const RtObject *)object)->cls == cls;
}

void *mtl_retain(void *object) {
    RtObject *o = object;
    if (!o) return NULL;
    if (o->cls->owner)
        mtl_retain(o->cls->owner(o));
    else
        atomic_fetch_add_explicit(&o->refs, 1, memory_order_relaxed);
    return object;
}

bool rt_retain_if_alive(RtObject *object) {
    size_t refs = atomic_load(&object->refs);
    while (refs > 0)
        if (atomic_compare_exchange_weak(&object->refs, &refs, refs + 1)) return true;
    return false;
}

void *mtl_owner(const void *object) {
    const RtObject *o = object;
    void *owner = NULL;
    while (o && o->cls->owner) o = owner = o->cls->owner(o); // a part may have parts
    return owner;
}

void *mtl_retain_if_alive(void *object) {
    RtObject *owner = mtl_owner(object), *o = owner ? owner : object;
    return o && rt_retain_if_alive(o) ? object : NULL;
}

void mtl_release(void *object) {
    RtObject *o = object;
    if (!o) return;
    if (o->cls->owner) {
        mtl_release(o->cls->owner(o));
        return;
    }
    if (atomic_fetch_sub_explicit(&o->refs, 1, memory_order_acq_rel) != 1) return;
    if (rt_leaks_wanted()) rt_leaks_died(o);
    MTLDeathWatch died = atomic_load_explicit(&death_watch, memory_order_acquire);
    if (died) died(o);
    o->cls->destroy(o);
}

size_t mtl_retain_count(const void *object) {
    const RtObject *o = object;
    if (!o) return 0;
    return o->cls->owner ? mtl_retain_count(o->cls->owner(o)) : atomic_load(&o->refs);
}

const char *mtl_class_name(const void *object) {
    return object ? ((const RtObject *)object)->cls->name : "";
}

// ---- Labels ----

void rt_label_set(RtLabel *label, const char *text) {
    char *fresh = text && *text ? rt_strdup(text) : NULL;
    rt_free(atomic_exchange(label, fresh));
}

const char *rt_label(const RtLabel *label) {
    const char *text = atomic_load(label);
    return text ? text : "";
}

void rt_label_free(RtLabel *label) { rt_free(atomic_exchange(label, NULL)); }
