// SPDX-License-Identifier: Apache-2.0
// object.c: objects: their memory, their count, their end. Sixteen bytes before an object hold its
// count; classes that count otherwise (classes themselves, constants, blocks, adopted objects) have
// no such head and say how (objc_ingot_counting).
#include "mac/objc/objc_int.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/single_threaded.h>

// ---- Memory ----

static void construct(Class cls, id object) { // C++ members, from the root down
    if (cls->superclass) construct(cls->superclass, object);
    if (cls->info->cxx_construct)
        ((void (*)(id, SEL))cls->info->cxx_construct)(object, objc_sel.cxx_construct);
}

static void destruct(id object) { // and what they hold, from the class up
    for (Class c = object->isa; c; c = c->superclass)
        if (c->info->cxx_destruct)
            ((void (*)(id, SEL))c->info->cxx_destruct)(object, objc_sel.cxx_destruct);
}

void objc_ingot_construct(id object) { construct(object->isa, object); }
void objc_ingot_destruct(id object) { destruct(object); }

id class_createInstance(Class cls, size_t extra_bytes) {
    if (!cls) return NULL;
    ObjectHead *head = calloc(1, sizeof *head + cls->info->instance_bytes + extra_bytes);
    if (!head) return NULL;
    atomic_init(&head->count, 1);
    return objc_constructInstance(cls, head + 1);
}

id objc_constructInstance(Class cls, void *bytes) {
    if (!cls || !bytes) return NULL;
    id object = bytes;
    object->isa = cls;
    construct(cls, object);
    return object;
}

void *objc_destructInstance(id object) {
    if (!object) return NULL;
    destruct(object);
    unsigned marks = atomic_load(&object_head(object)->flags);
    if (marks & HEAD_ASSOCIATED) associated_clear(object);
    if (marks & HEAD_WEAK) weak_clear(object);
    return object;
}

// NSZombieEnabled=YES: memory is kept, and the class changes to one that reports every message.
static Class zombie_class(Class cls) {
    char name[256];
    snprintf(name, sizeof name, ZOMBIE_PREFIX "%s", class_getName(cls));
    Class zombie = objc_lookUpClass(name);
    if (zombie) return zombie;
    zombie = objc_allocateClassPair(NULL, name, 0);
    if (!zombie) return objc_lookUpClass(name);                       // another thread was first
    atomic_fetch_and(&zombie->info->flags, ~(unsigned)CLASS_COUNTED); // counting is a message, too
    objc_registerClassPair(zombie);
    return zombie;
}

static bool zombies(void) {
    static atomic_int enabled = -1;
    int answer = atomic_load_explicit(&enabled, memory_order_relaxed);
    if (answer < 0) {
        const char *setting = getenv("NSZombieEnabled");
        answer = setting && (*setting == 'Y' || *setting == 'y' || *setting == '1');
        atomic_store(&enabled, answer);
    }
    return answer;
}

id object_dispose(id object) {
    if (!object) return NULL;
    objc_destructInstance(object);
    if (zombies())
        object->isa = zombie_class(object->isa);
    else
        free(object_head(object));
    return NULL;
}

id object_copy(id object, size_t n_bytes) {
    if (!object) return NULL;
    size_t size = object->isa->info->instance_bytes;
    id copy = class_createInstance(object->isa, n_bytes > size ? n_bytes - size : 0);
    if (copy)
        memcpy((char *)copy + sizeof(Class), (char *)object + sizeof(Class),
               (n_bytes > size ? n_bytes : size) - sizeof(Class));
    return copy;
}
void *object_getIndexedIvars(id object) {
    if (!object) return NULL;
    return (char *)object + ((object->isa->info->instance_bytes + 7u) & ~7u);
}

// ---- Counting ----

static inline const objc_ingot_counting *counting(const ClassInfo *info) {
    return atomic_load_explicit(&info->counting, memory_order_relaxed);
}

// Adds to a count; what it was. As long as the process has one thread, without the cost of an
// atomic operation (two of them take 15 ns where a message takes 2).
static inline uint64_t count_add(_Atomic(uint64_t) *count, uint64_t n, memory_order order) {
    if (!__libc_single_threaded) return atomic_fetch_add_explicit(count, n, order);
    uint64_t before = atomic_load_explicit(count, memory_order_relaxed);
    atomic_store_explicit(count, before + n, memory_order_relaxed);
    return before;
}

static inline id plain_retain(id object) {
    count_add(&object_head(object)->count, 1, memory_order_relaxed);
    return object;
}

static inline void plain_release(id object) {
    ObjectHead *head = object_head(object);
    if (count_add(&head->count, (uint64_t)-1, memory_order_acq_rel) != 1) return;
    // dealloc may retain and release its object: the count must not come to 0 a second time.
    atomic_store_explicit(&head->count, OBJECT_DYING, memory_order_relaxed);
    SEND(object, objc_sel.dealloc);
}

id objc_retain(id object) {
    if (!object) return NULL;
    const ClassInfo *info = object->isa->info;
    if (atomic_load_explicit(&info->flags, memory_order_relaxed) & CLASS_COUNTED)
        return plain_retain(object);
    if (!counting(info)) return SEND(object, objc_sel.retain);
    counting(info)->retain(object);
    return object;
}

void objc_release(id object) {
    if (!object) return;
    const ClassInfo *info = object->isa->info;
    if (atomic_load_explicit(&info->flags, memory_order_relaxed) & CLASS_COUNTED)
        plain_release(object);
    else if (counting(info))
        counting(info)->release(object);
    else
        SEND(object, objc_sel.release);
}

id objc_root_retain(id object) {
    const ClassInfo *info = object->isa->info;
    if (info->flags & CLASS_META) return object;
    if (!counting(info)) return plain_retain(object);
    counting(info)->retain(object);
    return object;
}
void objc_root_release(id object) {
    const ClassInfo *info = object->isa->info;
    if (info->flags & CLASS_META) return;
    if (counting(info))
        counting(info)->release(object);
    else
        plain_release(object);
}
size_t objc_root_count(id object) {
    const ClassInfo *info = object->isa->info;
    if (info->flags & CLASS_META) return SIZE_MAX;
    if (counting(info)) return counting(info)->count ? counting(info)->count(object) : 1;
    uint64_t n = atomic_load(&object_head(object)->count);
    return n >= OBJECT_DYING ? 0 : n;
}

bool objc_root_try_retain(id object) {
    const ClassInfo *info = object->isa->info;
    if (info->flags & CLASS_META) return true;
    if (counting(info)) {
        if (counting(info)->try_retain) return counting(info)->try_retain(object);
        counting(info)->retain(object);
        return true;
    }
    _Atomic(uint64_t) *count = &object_head(object)->count;
    uint64_t n = atomic_load_explicit(count, memory_order_relaxed);
    while (n && n < OBJECT_DYING)
        if (atomic_compare_exchange_weak_explicit(count, &n, n + 1, memory_order_acquire,
                                                  memory_order_relaxed))
            return true;
    return false;
}

bool object_try_retain(id object) {
    const ClassInfo *info = object->isa->info;
    if (info->flags & (CLASS_COUNTED | CLASS_META) || counting(info))
        return objc_root_try_retain(object);
    return objc_ask(object, objc_sel.retainWeakReference);
}

void object_mark(id object, unsigned flag) {
    const ClassInfo *info = object->isa->info;
    if (info->flags & CLASS_META) return;
    if (counting(info))
        atomic_store(&objc_foreign_marks, true);
    else
        atomic_fetch_or(&object_head(object)->flags, flag);
}

id objc_autorelease(id object) {
    if (!object) return NULL;
    const ClassInfo *info = object->isa->info;
    if (!(info->flags & CLASS_COUNTED) && !counting(info))
        return SEND(object, objc_sel.autorelease);
    pool_add(object);
    return object;
}

// ---- What the compiler calls ----

id objc_retainAutorelease(id object) { return objc_autorelease(objc_retain(object)); }
id objc_autoreleaseReturnValue(id object) { return objc_autorelease(object); }
id objc_retainAutoreleaseReturnValue(id object) { return objc_retainAutorelease(object); }
id objc_retainAutoreleasedReturnValue(id object) { return objc_retain(object); }
id objc_claimAutoreleasedReturnValue(id object) { return objc_retain(object); }
id objc_unsafeClaimAutoreleasedReturnValue(id object) { return object; }

void objc_storeStrong(id *location, id object) {
    id old = *location;
    if (old == object) return;
    objc_retain(object);
    *location = object;
    objc_release(old);
}

OBJC_EXPORT id objc_alloc(Class cls);
OBJC_EXPORT id objc_allocWithZone(Class cls);
OBJC_EXPORT id objc_alloc_init(Class cls);
OBJC_EXPORT id objc_opt_new(Class cls);
OBJC_EXPORT id objc_opt_self(id object);
OBJC_EXPORT Class objc_opt_class(id object);
OBJC_EXPORT BOOL objc_opt_isKindOfClass(id object, Class cls);
OBJC_EXPORT BOOL objc_opt_respondsToSelector(id object, SEL name);
id objc_alloc(Class cls) { return SEND(cls, objc_sel.alloc); }
id objc_allocWithZone(Class cls) { return SEND_WITH(cls, objc_sel.allocWithZone, NULL); }
id objc_alloc_init(Class cls) { return SEND(SEND(cls, objc_sel.alloc), objc_sel.init); }
id objc_opt_new(Class cls) { return SEND(cls, objc_sel.new_); }
id objc_opt_self(id object) { return object; }
Class objc_opt_class(id object) { return (Class)SEND(object, objc_sel.class_); }
BOOL objc_opt_isKindOfClass(id object, Class cls) {
    return ASK_WITH(object, objc_sel.isKindOfClass, cls);
}
BOOL objc_opt_respondsToSelector(id object, SEL name) {
    return ASK_WITH(object, objc_sel.respondsToSelector, name);
}
