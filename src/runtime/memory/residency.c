// SPDX-License-Identifier: Apache-2.0
// residency.c: MTLResidencySet. The CPU reaches all memory at any time, so a set has two things to
// do: to hold its allocations, and to have the system read in what it swapped out. Two lists: the
// one the program edits, and the one it committed last, which is what residency and command buffers
// hold.
#include "runtime/memory/residency.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "runtime/object/validation.h"
#include "runtime/memory/heap.h"
#include "runtime/memory/tensor.h"
#include "runtime/memory/texture.h"
#include "runtime/object/error.h"

#define MAX_INITIAL_CAPACITY 65536u // items of memory for a hint

typedef struct List {
    MTLAllocation **items; // retained
    size_t n, capacity;
} List;

// What was committed; command buffers hold it as a whole. Never changes.
typedef struct Committed {
    RtObject object;
    uint64_t n_bytes;
    size_t n;
    MTLAllocation *items[]; // retained
} Committed;

struct MTLResidencySet {
    RtObject object;
    MTLDevice *device; // retained
    RtLabel label;
    pthread_mutex_t lock;
    List edited;          // under lock
    Committed *committed; // retained; NULL: nothing yet. Under lock
};

static void list_clear(List *list) {
    for (size_t i = 0; i < list->n; i++) mtl_release(list->items[i]);
    list->n = 0;
}

static size_t find_allocation(const List *list, const MTLAllocation *allocation) {
    size_t i = 0;
    while (i < list->n && list->items[i] != allocation) i++;
    return i;
}

static void committed_destroy(void *self) {
    Committed *committed = self;
    for (size_t i = 0; i < committed->n; i++) mtl_release(committed->items[i]);
    rt_free(committed);
}

static RT_CLASS committed_class = {.name = "committed allocations", .destroy = committed_destroy};

static void set_destroy(void *self) {
    MTLResidencySet *set = self;
    list_clear(&set->edited);
    rt_free(set->edited.items);
    mtl_release(set->committed);
    pthread_mutex_destroy(&set->lock);
    rt_label_free(&set->label);
    mtl_release(set->device);
    rt_free(set);
}

static RT_CLASS set_class = {.name = "MTLResidencySet",
                             .destroy = set_destroy,
                             .label_at = offsetof(MTLResidencySet, label)};

bool rt_residency_present(const MTLResidencySet *set, const char *call) {
    if (rt_is(set, &set_class)) return true;
    rt_misuse(NULL, set ? RT_RULE_wrong_class : RT_RULE_null_object, call, "%s",
              mtl_class_name(set));
    return false;
}

static bool is_allocation(const void *object) {
    return object && (rt_is_resource(object) || rt_is(object, &rt_heap_class));
}

size_t mtl_allocation_allocated_size(const MTLAllocation *allocation) {
    if (!is_allocation(allocation)) return 0;
    return mtl_resource_allocated_size((const MTLResource *)allocation);
}

// ---- Making and editing ----

MTLResidencySet *mtl_device_new_residency_set(MTLDevice *device,
                                              const MTLResidencySetDescriptor *descriptor,
                                              MTLError **error) {
    if (error) *error = NULL;
    if (!device) {
        rt_misuse(NULL, RT_RULE_null_object, __func__, NULL);
        return NULL;
    }
    MTLResidencySet *set = rt_new(&set_class, sizeof *set);
    if (!set) goto fail;
    set->device = mtl_retain(device);
    pthread_mutex_init(&set->lock, NULL);
    if (descriptor) {
        rt_label_set(&set->label, descriptor->label);
        size_t n = descriptor->initial_capacity; // a hint, and taken as one
        if (n > MAX_INITIAL_CAPACITY) n = MAX_INITIAL_CAPACITY;
        if (n > 0 &&
            !rt_grow(&set->edited.items, &set->edited.capacity, n, sizeof *set->edited.items))
            goto fail;
    }
    return set;

fail:
    mtl_release(set);
    rt_error_set(error, rt_error_no_memory());
    return NULL;
}

static bool valid_allocation(MTLResidencySet *set, const MTLAllocation *allocation,
                             const char *call) {
    if (is_allocation(allocation)) return true;
    rt_misuse(set->device, allocation ? RT_RULE_residency_allocation : RT_RULE_null_argument, call,
              "set '%s'%s%s", rt_label(&set->label), allocation ? ": a " : ": allocation",
              mtl_class_name(allocation));
    return false;
}

static void edit(MTLResidencySet *set, MTLAllocation *const *allocations, size_t count, bool add,
                 const char *call) {
    if (!rt_residency_present(set, call)) return;
    if (!allocations && count > 1) count = 1; // one message for a list that is not there
    for (size_t i = 0; i < count; i++) {
        MTLAllocation *allocation = allocations ? allocations[i] : NULL;
        if (!valid_allocation(set, allocation, call)) continue;
        bool memory = true, removed = false;
        pthread_mutex_lock(&set->lock);
        List *list = &set->edited;
        size_t at = find_allocation(list, allocation);
        if (add && at == list->n) {
            memory = rt_grow(&list->items, &list->capacity, list->n + 1, sizeof *list->items);
            if (memory) list->items[list->n++] = mtl_retain(allocation);
        } else if (!add && at < list->n) {
            list->items[at] = list->items[--list->n];
            removed = true;
        }
        pthread_mutex_unlock(&set->lock);
        if (removed) mtl_release(allocation);
        if (!memory) rt_misuse(set->device, RT_RULE_residency_no_memory, call, NULL);
    }
}

void mtl_residency_set_add_allocation(MTLResidencySet *set, MTLAllocation *allocation) {
    edit(set, &allocation, 1, true, __func__);
}

void mtl_residency_set_add_allocations(MTLResidencySet *set, MTLAllocation *const *allocations,
                                       size_t count) {
    edit(set, allocations, count, true, __func__);
}

void mtl_residency_set_remove_allocation(MTLResidencySet *set, MTLAllocation *allocation) {
    edit(set, &allocation, 1, false, __func__);
}

void mtl_residency_set_remove_allocations(MTLResidencySet *set, MTLAllocation *const *allocations,
                                          size_t count) {
    edit(set, allocations, count, false, __func__);
}

void mtl_residency_set_remove_all_allocations(MTLResidencySet *set) {
    if (!rt_residency_present(set, __func__)) return;
    pthread_mutex_lock(&set->lock);
    List old = set->edited;
    set->edited = (List){0};
    pthread_mutex_unlock(&set->lock);
    list_clear(&old);
    rt_free(old.items);
}

void mtl_residency_set_commit(MTLResidencySet *set) {
    if (!rt_residency_present(set, __func__)) return;
    pthread_mutex_lock(&set->lock);
    Committed *old = set->committed;
    Committed *fresh =
        rt_new(&committed_class, sizeof *fresh + set->edited.n * sizeof *fresh->items);
    for (size_t i = 0; fresh && i < set->edited.n; i++) {
        fresh->items[fresh->n++] = mtl_retain(set->edited.items[i]);
        fresh->n_bytes += mtl_allocation_allocated_size(fresh->items[i]);
    }
    if (fresh) set->committed = fresh;
    pthread_mutex_unlock(&set->lock);
    if (fresh)
        mtl_release(old); // outside the lock: a deallocator may be called
    else
        rt_misuse(set->device, RT_RULE_residency_no_memory, __func__, NULL);
}

// ---- Questions ----

static pthread_mutex_t *lock_of(const MTLResidencySet *set) {
    return &((MTLResidencySet *)set)->lock;
}

bool mtl_residency_set_contains_allocation(const MTLResidencySet *set,
                                           const MTLAllocation *allocation) {
    if (!rt_residency_present(set, __func__)) return false;
    pthread_mutex_lock(lock_of(set));
    bool found = allocation && find_allocation(&set->edited, allocation) < set->edited.n;
    pthread_mutex_unlock(lock_of(set));
    return found;
}

size_t mtl_residency_set_copy_all_allocations(const MTLResidencySet *set,
                                              MTLAllocation **allocations, size_t capacity) {
    if (!rt_residency_present(set, __func__)) return 0;
    pthread_mutex_lock(lock_of(set));
    size_t n = set->edited.n;
    for (size_t i = 0; allocations && i < n && i < capacity; i++)
        allocations[i] = mtl_retain(set->edited.items[i]);
    pthread_mutex_unlock(lock_of(set));
    return n;
}

uint64_t mtl_residency_set_allocated_size(const MTLResidencySet *set) {
    if (!rt_residency_present(set, __func__)) return 0;
    pthread_mutex_lock(lock_of(set));
    uint64_t n_bytes = set->committed ? set->committed->n_bytes : 0;
    pthread_mutex_unlock(lock_of(set));
    return n_bytes;
}

// ---- Residency ----

static Committed *committed_of(MTLResidencySet *set) { // a reference for the caller
    pthread_mutex_lock(&set->lock);
    Committed *committed = mtl_retain(set->committed);
    pthread_mutex_unlock(&set->lock);
    return committed;
}

void *rt_residency_committed(MTLResidencySet *set) { return committed_of(set); }

size_t rt_residency_items(const void *committed, MTLAllocation *const **items) {
    const Committed *c = committed;
    *items = c ? c->items : NULL;
    return c ? c->n : 0;
}

// Tells the system that the memory will be needed.
static void bring_in(const MTLAllocation *allocation) {
    const char *memory = ((const MTLResource *)(const void *)allocation)->own.host;
    size_t page = (size_t)sysconf(_SC_PAGESIZE),
           n_bytes = mtl_allocation_allocated_size(allocation);
    size_t first = ((size_t)memory + page - 1) & ~(page - 1);
    size_t last = ((size_t)memory + n_bytes) & ~(page - 1);
    if (memory && first < last) madvise((void *)first, last - first, MADV_WILLNEED);
}

void mtl_residency_set_request_residency(MTLResidencySet *set) {
    if (!rt_residency_present(set, __func__)) return;
    Committed *committed = committed_of(set);
    for (size_t i = 0; committed && i < committed->n; i++) bring_in(committed->items[i]);
    mtl_release(committed);
}

void mtl_residency_set_end_residency(MTLResidencySet *set) {
    (void)rt_residency_present(set, __func__); // the system decides what it swaps out, and when
}

bool rt_is_residency_set(const void *object) { return rt_is(object, &set_class); }

// Does an allocation hold the memory of the resource: itself, its heap, what it is a view of?
static bool holds(const MTLAllocation *allocation, const MTLResource *resource) {
    const void *a = allocation;
    if (a == resource || (resource->heap && a == resource->heap)) return true;
    if (rt_is(resource, &rt_texture_class)) {
        const MTLTexture *t = (const MTLTexture *)(const void *)resource;
        return (t->parent && holds(allocation, &t->parent->resource)) ||
               (t->buffer && holds(allocation, &t->buffer->resource));
    }
    if (rt_is(resource, &rt_tensor_class)) {
        const MTLTensor *t = (const MTLTensor *)(const void *)resource;
        return t->buffer && holds(allocation, &t->buffer->resource);
    }
    return false;
}

bool rt_residency_contains(MTLResidencySet *set, const MTLResource *resource) {
    bool found = false;
    pthread_mutex_lock(&set->lock);
    const Committed *c = set->committed;
    for (size_t i = 0; !found && c && i < c->n; i++) found = holds(c->items[i], resource);
    pthread_mutex_unlock(&set->lock);
    return found;
}

#include "accessors/memory/residency.inc" // plain accessors, from the table
