// SPDX-License-Identifier: Apache-2.0
// data.c: dispatch data: bytes in one piece that do not change.
#include "mac/dispatch/dispatch_int.h"
#include <objc/objc-arc.h>
#include <Block.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct dispatch_data_s {
    DispatchHead head;
    const void *bytes;
    size_t n;
    void *destructor;              // a block, or one of the two below, or NULL: bytes are its own
    Queue *queue;                  // where the block is called; retained; NULL: the default one
    struct dispatch_data_s *whole; // of a part: what it is of; retained
};
typedef struct dispatch_data_s Data;

// Two blocks that are known by their address; calling them does nothing.
typedef struct FakeBlock {
    void *isa;
    int flags, reserved;
    void (*invoke)(void *block);
    const uintptr_t *descriptor;
} FakeBlock;
static void nothing(void *block) { (void)block; }
static const uintptr_t descriptor[2] = {0, sizeof(FakeBlock)};
enum { BLOCK_GLOBAL = 1 << 28 };
static FakeBlock free_block = {_NSConcreteGlobalBlock, BLOCK_GLOBAL, 0, nothing, descriptor};
static FakeBlock munmap_block = {_NSConcreteGlobalBlock, BLOCK_GLOBAL, 0, nothing, descriptor};
OBJC_EXPORT void *const _dispatch_data_destructor_free, *const _dispatch_data_destructor_munmap;
void *const _dispatch_data_destructor_free = &free_block;
void *const _dispatch_data_destructor_munmap = &munmap_block;

struct dispatch_global_s {
    Data data;
};
struct dispatch_global_s _dispatch_data_empty;

static void data_dealloc(id self, SEL name) {
    Data *d = (Data *)self;
    void *bytes = (void *)(uintptr_t)d->bytes;
    if (d->whole)
        objc_release((id)d->whole);
    else if (!d->destructor || d->destructor == &free_block)
        free(bytes);
    else if (d->destructor == &munmap_block)
        munmap(bytes, d->n);
    else
        dispatch_async_f(d->queue ? d->queue : dispatch_get_global_queue(0, 0), d->destructor,
                         block_call_and_release);
    objc_release((id)d->queue);
    (void)name;
    object_dispose(self);
}

OBJC_EXPORT Data *dispatch_data_create(const void *bytes, size_t n, Queue *queue, void *destructor);
Data *dispatch_data_create(const void *bytes, size_t n, Queue *queue, void *destructor) {
    Data *d = dispatch_new(dispatch_classes.data, sizeof *d);
    d->n = n, d->bytes = bytes;
    d->queue = (Queue *)objc_retain((id)queue);
    if (destructor)
        d->destructor = destructor == &free_block || destructor == &munmap_block
                            ? destructor
                            : block_kept(destructor);
    else {
        void *copy = dispatch_alloc(n ? n : 1);
        if (n) memcpy(copy, bytes, n);
        d->bytes = copy;
    }
    return d;
}

size_t dispatch_data_get_size(Data *d) { return d ? d->n : 0; }
Data *dispatch_data_create_map(Data *d, const void **bytes, size_t *n) {
    if (bytes) *bytes = d->bytes;
    if (n) *n = d->n;
    return (Data *)objc_retain((id)d);
}
Data *dispatch_data_create_concat(Data *a, Data *b) {
    char *bytes = dispatch_alloc(a->n + b->n + 1);
    if (a->n) memcpy(bytes, a->bytes, a->n);
    if (b->n) memcpy(bytes + a->n, b->bytes, b->n);
    return dispatch_data_create(bytes, a->n + b->n, NULL, &free_block);
}
Data *dispatch_data_create_subrange(Data *d, size_t offset, size_t n) {
    if (offset > d->n) offset = d->n;
    if (n > d->n - offset) n = d->n - offset;
    Data *part = dispatch_new(dispatch_classes.data, sizeof *part);
    part->bytes = (const char *)d->bytes + offset, part->n = n;
    part->whole = (Data *)objc_retain((id)d);
    return part;
}
OBJC_EXPORT bool dispatch_data_apply(Data *d, void *applier);
bool dispatch_data_apply(Data *d, void *applier) {
    struct {
        void *isa;
        int flags, reserved;
        bool (*invoke)(void *block, Data *region, size_t offset, const void *bytes, size_t n);
    } *b = applier;
    return !d->n || b->invoke(applier, d, 0, d->bytes, d->n);
}

static const void *bytes_of(id self, SEL name) {
    (void)name;
    return ((Data *)self)->bytes;
}
static size_t length_of(id self, SEL name) {
    (void)name;
    return ((Data *)self)->n;
}
static void keep(void *object) { (void)object; }

__attribute__((constructor(104))) static void start(void) {
    // bytes and length, so that it can be handed to whoever takes an NSData
    static const objc_ingot_method methods[] = {{"-dealloc", (IMP)data_dealloc, "v16@0:8"},
                                                {"-bytes", (IMP)bytes_of, "^v16@0:8"},
                                                {"-length", (IMP)length_of, "Q16@0:8"},
                                                {NULL, NULL, NULL}};
    static const objc_ingot_counting immortal = {keep, keep, NULL, NULL};
    static void *record[OBJC_INGOT_CLASS_WORDS];
    objc_ingot_add_methods(dispatch_classes.data, methods);
    _dispatch_data_empty.data.head.isa =
        objc_ingot_adopt(record, "OS_dispatch_data_empty", dispatch_classes.data, &immortal);
}
