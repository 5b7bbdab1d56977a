// SPDX-License-Identifier: Apache-2.0
// block.c: blocks: copying them and what they capture to the heap; their classes; methods made of
// blocks.
#include "mac/objc/objc_int.h"
#include "mac/objc/block.h"
#include <Block.h>
#include <stdlib.h>
#include <string.h>

enum {                   // flags of a block and of a captured variable
    COUNT_MASK = 0xfffe, // in steps of 2
    COUNT_ONE = 2,
    NEEDS_FREE = 1 << 24,
    HAS_HELPERS = 1 << 25,
};
enum { // kinds of captured values
    FIELD_OBJECT = 3,
    FIELD_BLOCK = 7,
    FIELD_VARIABLE = 8, // __block
    FIELD_WEAK = 16,
    FIELD_OF_VARIABLE = 128, // the object in a __block variable: not counted
};

typedef struct Variable { // a __block variable
    void *isa;
    struct Variable *forwarding;
    atomic_int flags;
    uint32_t n_bytes;
    void (*keep)(struct Variable *to, struct Variable *from); // both only with HAS_HELPERS
    void (*dispose)(struct Variable *variable);
} Variable;

__attribute__((visibility("default"))) struct objc_class block_stack_class __asm__(
    "_NSConcreteStackBlock");
__attribute__((visibility("default"))) struct objc_class block_global_class __asm__(
    "_NSConcreteGlobalBlock");
__attribute__((visibility("default"))) struct objc_class block_heap_class __asm__(
    "_NSConcreteMallocBlock");
static struct objc_class metas[3];

void *_Block_copy(const void *from) {
    Block *block = (Block *)(uintptr_t)from;
    if (!block) return NULL;
    int flags = atomic_load_explicit(&block->flags, memory_order_relaxed);
    if (flags & BLOCK_GLOBAL) return block;
    if (flags & NEEDS_FREE) {
        atomic_fetch_add_explicit(&block->flags, COUNT_ONE, memory_order_relaxed);
        return block;
    }
    Block *copy = objc_must(malloc(block->descriptor->n_bytes));
    memcpy((void *)copy, block, block->descriptor->n_bytes);
    atomic_init(&copy->flags, (flags & ~COUNT_MASK) | NEEDS_FREE | COUNT_ONE);
    copy->isa = &block_heap_class;
    if (flags & HAS_HELPERS) ((BlockHelpers *)(copy->descriptor + 1))->copy(copy, block);
    return copy;
}

void _Block_release(const void *p) {
    Block *block = (Block *)(uintptr_t)p;
    if (!block || !(atomic_load_explicit(&block->flags, memory_order_relaxed) & NEEDS_FREE)) return;
    int before = atomic_fetch_sub_explicit(&block->flags, COUNT_ONE, memory_order_acq_rel);
    if ((before & COUNT_MASK) != COUNT_ONE) return;
    if (before & HAS_HELPERS) ((BlockHelpers *)(block->descriptor + 1))->dispose(block);
    objc_ingot_destroyed(block);
    free(block);
}

static bool block_try_retain(void *p) {
    Block *block = p;
    int flags = atomic_load(&block->flags);
    if (!(flags & NEEDS_FREE)) return true;
    while (flags & COUNT_MASK)
        if (atomic_compare_exchange_weak(&block->flags, &flags, flags + COUNT_ONE)) return true;
    return false;
}

const char *_Block_signature(void *p) {
    Block *block = p;
    int flags = block ? atomic_load(&block->flags) : 0;
    if (!(flags & BLOCK_HAS_SIGNATURE)) return NULL;
    const char *at = (const char *)(block->descriptor + 1);
    if (flags & HAS_HELPERS) at += sizeof(BlockHelpers);
    return *(const char *const *)(const void *)at;
}

// ---- Captured values ----

static Variable *variable_copy(Variable *from) {
    from = from->forwarding;
    int flags = atomic_load_explicit(&from->flags, memory_order_relaxed);
    if (flags & NEEDS_FREE) {
        atomic_fetch_add_explicit(&from->flags, COUNT_ONE, memory_order_relaxed);
        return from;
    }
    Variable *heap = objc_must(malloc(from->n_bytes));
    memcpy((void *)heap, from, from->n_bytes);
    // Two references: the block's, and the frame's, which lets go at its end.
    atomic_init(&heap->flags, (flags & ~COUNT_MASK) | NEEDS_FREE | 2 * COUNT_ONE);
    heap->forwarding = heap, from->forwarding = heap;
    if (flags & HAS_HELPERS) heap->keep(heap, from);
    return heap;
}

static void variable_release(Variable *variable) {
    variable = variable->forwarding;
    if (!(atomic_load_explicit(&variable->flags, memory_order_relaxed) & NEEDS_FREE)) return;
    int before = atomic_fetch_sub_explicit(&variable->flags, COUNT_ONE, memory_order_acq_rel);
    if ((before & COUNT_MASK) != COUNT_ONE) return;
    if (before & HAS_HELPERS) variable->dispose(variable);
    free(variable);
}

void _Block_object_assign(void *to, const void *from, const int kind) {
    void *object = (void *)(uintptr_t)from;
    switch (kind & ~FIELD_WEAK) {
    case FIELD_OBJECT: *(id *)to = objc_retain(object); break;
    case FIELD_BLOCK: *(void **)to = _Block_copy(object); break;
    case FIELD_VARIABLE: *(Variable **)to = variable_copy(object); break;
    default: *(void **)to = object;
    }
}

void _Block_object_dispose(const void *p, const int kind) {
    void *object = (void *)(uintptr_t)p;
    switch (kind & ~FIELD_WEAK) {
    case FIELD_OBJECT: objc_release(object); break;
    case FIELD_BLOCK: _Block_release(object); break;
    case FIELD_VARIABLE: variable_release(object); break;
    default: break; // of a __block variable without ARC: never counted
    }
}

// ---- Blocks as objects ----

id objc_retainBlock(id block) { return _Block_copy(block); }
static void block_retain(void *p) { // one on the stack stays there until it is copied
    if (atomic_load(&((Block *)p)->flags) & NEEDS_FREE) _Block_copy(p);
}
static void block_release(void *block) { _Block_release(block); }
static size_t block_count(void *p) {
    int flags = atomic_load(&((Block *)p)->flags);
    return flags & NEEDS_FREE ? (size_t)(flags & COUNT_MASK) / COUNT_ONE : 1;
}
static id block_copy(id self, SEL name) {
    (void)name;
    return _Block_copy(self);
}
static id block_copy_zone(id self, SEL name, void *zone) {
    (void)name, (void)zone;
    return _Block_copy(self);
}

void block_start(void) {
    static const objc_ingot_counting counting = {block_retain, block_release, block_try_retain,
                                                 block_count};
    Class classes[3] = {&block_stack_class, &block_global_class, &block_heap_class};
    static const char *const names[3] = {"__NSStackBlock__", "__NSGlobalBlock__",
                                         "__NSMallocBlock__"};
    // One superclass, as on a Mac, for those who ask isKindOfClass:NSClassFromString(@"NSBlock").
    static struct objc_class base, base_meta;
    class_define(&base, &base_meta, "NSBlock", &objc_class_NSObject, 0);
    atomic_store(&base.info->counting, &counting);
    atomic_fetch_and(&base.info->flags, ~(unsigned)CLASS_COUNTED);
    class_put_method(&base, objc_selector("copy"), (IMP)block_copy, "@16@0:8");
    class_put_method(&base, objc_sel.copyWithZone, (IMP)block_copy_zone, "@24@0:8^v16");
    class_enter(&base);
    for (int i = 0; i < 3; i++) {
        class_define(classes[i], &metas[i], names[i], &base, 0);
        class_enter(classes[i]);
    }
}
