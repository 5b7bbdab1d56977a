// SPDX-License-Identifier: Apache-2.0
// face.c: results, errors, blocks, and the objects that hold values (descriptors).
#include "mac/face/face.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dispatch/dispatch.h>
#include <objc/message.h>

// ---- Memory of a call ----

typedef struct FaceChunk {
    struct FaceChunk *next;
    max_align_t bytes[];
} FaceChunk;

void *face_alloc(FaceArena *arena, size_t n_bytes) {
    FaceChunk *chunk = calloc(1, sizeof *chunk + n_bytes);
    if (!chunk) { // as the runtime does: Objective-C has no way to say it
        fputs("Metal: out of memory\n", stderr);
        abort();
    }
    chunk->next = arena->first;
    arena->first = chunk;
    return chunk->bytes;
}

void face_arena_free(FaceArena *arena) {
    while (arena->first) {
        FaceChunk *next = arena->first->next;
        free(arena->first);
        arena->first = next;
    }
}

// ---- Results, errors ----

id face_lend(id object) { return objc_autorelease(objc_retain(object)); }

id *face_error_begin(id *error) {
    if (error) *error = NULL;
    return error;
}

void face_error_end(id *error) {
    if (error && *error) objc_autorelease(*error);
}

void face_refuse(const char *method, const char *reason) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static const char *said[512]; // methods are string constants: their addresses tell them apart
    static size_t n;
    pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < n && said[i] != method) i++;
    if (i == n && n < sizeof said / sizeof *said) {
        said[n++] = method;
        fprintf(stderr, "Metal: %s is not supported: %s\n", method, reason);
    }
    pthread_mutex_unlock(&lock);
}

void face_refuse_with(id *error, const char *method, const char *reason) {
    char text[512];
    snprintf(text, sizeof text, "%s is not supported: %s", method, reason);
    if (error)
        *error = objc_autorelease(
            (id)mtl_error_new(MTLDeviceErrorDomain, MTLDeviceErrorInvalidInput, text));
    else
        face_refuse(method, reason);
}

// ---- Blocks: what every block begins with ----

typedef struct FaceBlock {
    void *isa;
    int flags, reserved;
    void (*invoke)(void);
} FaceBlock;

void *face_block_copy(id block) { return block ? objc_retainBlock(block) : NULL; }

typedef struct FaceCall {
    void *block;
    uintptr_t with[4];
} FaceCall;

// The conventions of both architectures let a function have more arguments than it takes.
static void call_block(void *p) {
    const FaceCall *c = p;
    void (*invoke)(void *, uintptr_t, uintptr_t, uintptr_t, uintptr_t) =
        (void (*)(void *, uintptr_t, uintptr_t, uintptr_t, uintptr_t))((FaceBlock *)c->block)
            ->invoke;
    invoke(c->block, c->with[0], c->with[1], c->with[2], c->with[3]);
}

void face_block_call(void *block, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d) {
    void *pool = objc_autoreleasePoolPush();
    dispatch_ingot_guarded(call_block, &(FaceCall){block, {a, b, c, d}}, "a handler of Metal's");
    objc_autoreleasePoolPop(pool);
}
void face_block_done(void *block) { objc_release(block); }
void face_block_keep(void *block) { (void)block; }

// ---- Objects that hold values ----

static id send(id object, const char *name) {
    id (*message)(id, SEL) = (id (*)(id, SEL))objc_msgSend;
    return message(object, sel_registerName(name));
}

id face_make_object(const char *cls) { return send((id)objc_getClass(cls), "new"); }

id face_new(Class self, SEL _cmd) {
    (void)_cmd;
    return objc_autorelease(send((id)self, "new"));
}

void face_make(id *slot, const char *cls) {
    if (!*slot) *slot = face_make_object(cls);
}

void face_store(id *slot, id value, bool copy) {
    id old = *slot;
    *slot = copy ? send(value, "copy") : objc_retain(value);
    objc_release(old);
}

// Descriptors and memory inside a descriptor belong to it; strings and arrays do not change; the
// rest is shared.
static bool is_value(id object) {
    const char *name = object_getClassName(object);
    size_t n = strlen(name);
    if (strcmp(name, "NSMutableData") == 0) return true;
    return strncmp(name, "MTL", 3) == 0 && ((n > 10 && !strcmp(name + n - 10, "Descriptor")) ||
                                            (n > 15 && !strcmp(name + n - 15, "DescriptorArray")));
}

static id copy_of(id object) {
    bool memory = strcmp(object_getClassName(object), "NSMutableData") == 0;
    return memory ? send(object, "mutableCopy") : send(object, "copy");
}

id face_copy(id self, size_t n_bytes, const size_t *slots) {
    id copy = class_createInstance(object_getClass(self), 0);
    memcpy((char *)copy + sizeof(Class), (char *)self + sizeof(Class), n_bytes - sizeof(Class));
    for (; *slots; slots++) {
        id *slot = (id *)(void *)((char *)copy + *slots);
        if (*slot) *slot = is_value(*slot) ? copy_of(*slot) : objc_retain(*slot);
    }
    return copy;
}

void face_dealloc(id self, const size_t *slots) {
    for (; *slots; slots++) objc_release(*(id *)(void *)((char *)self + *slots));
    struct objc_super up = {self, objc_getClass("NSObject")};
    void (*message)(struct objc_super *, SEL) =
        (void (*)(struct objc_super *, SEL))objc_msgSendSuper;
    message(&up, sel_registerName("dealloc"));
}

void face_reset(id self, size_t n_bytes, const size_t *slots) {
    for (; *slots; slots++) objc_release(*(id *)(void *)((char *)self + *slots));
    memset((char *)self + sizeof(Class), 0, n_bytes - sizeof(Class));
}

id face_attachment(id *items, size_t count, unsigned long i, const char *cls) {
    if (i >= count) return NULL;
    face_make(&items[i], cls);
    return face_lend(items[i]);
}

void face_set_attachment(id *items, size_t count, unsigned long i, id value) {
    if (i < count) face_store(&items[i], value, true);
}
