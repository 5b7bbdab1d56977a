// SPDX-License-Identifier: Apache-2.0
// property.c: accessors that the compiler synthesises, and small helpers that it calls.
#include "mac/objc/objc_int.h"
#include <string.h>

enum { N_LOCKS = 64 };
static pthread_mutex_t locks[N_LOCKS]; // of atomic properties, by the address of the variable
static pthread_once_t locks_made = PTHREAD_ONCE_INIT;
static void make_locks(void) {
    for (int i = 0; i < N_LOCKS; i++) pthread_mutex_init(&locks[i], NULL);
}
static pthread_mutex_t *lock_of(const void *variable) {
    pthread_once(&locks_made, make_locks);
    return &locks[address_hash(variable) % N_LOCKS];
}

OBJC_EXPORT id objc_getProperty(id self, SEL name, ptrdiff_t offset, BOOL atomic);
OBJC_EXPORT void objc_setProperty(id self, SEL name, ptrdiff_t offset, id value, BOOL atomic,
                                  signed char copy);
OBJC_EXPORT void objc_setProperty_atomic(id self, SEL name, id value, ptrdiff_t offset);
OBJC_EXPORT void objc_setProperty_nonatomic(id self, SEL name, id value, ptrdiff_t offset);
OBJC_EXPORT void objc_setProperty_atomic_copy(id self, SEL name, id value, ptrdiff_t offset);
OBJC_EXPORT void objc_setProperty_nonatomic_copy(id self, SEL name, id value, ptrdiff_t offset);
OBJC_EXPORT void objc_copyStruct(void *to, const void *from, ptrdiff_t n_bytes, BOOL atomic,
                                 BOOL strong);
OBJC_EXPORT void objc_getCppObjectAtomic(void *to, const void *from,
                                         void (*copy)(void *, const void *));
OBJC_EXPORT void objc_setCppObjectAtomic(void *to, const void *from,
                                         void (*copy)(void *, const void *));
OBJC_EXPORT void objc_copyCppObjectAtomic(void *to, const void *from,
                                          void (*copy)(void *, const void *));

id objc_getProperty(id self, SEL name, ptrdiff_t offset, BOOL atomic) {
    (void)name;
    id *variable = (id *)(void *)((char *)self + offset);
    if (!atomic) return *variable;
    pthread_mutex_t *lock = lock_of(variable);
    pthread_mutex_lock(lock);
    id value = objc_retain(*variable);
    pthread_mutex_unlock(lock);
    return objc_autorelease(value);
}

enum { COPY_NONE, COPY_PLAIN, COPY_MUTABLE };
void objc_setProperty(id self, SEL name, ptrdiff_t offset, id value, BOOL atomic,
                      signed char copy) {
    (void)name;
    id *variable = (id *)(void *)((char *)self + offset);
    if (copy == COPY_MUTABLE)
        value = SEND_WITH(value, objc_sel.mutableCopyWithZone, NULL);
    else if (copy)
        value = SEND_WITH(value, objc_sel.copyWithZone, NULL);
    else
        value = objc_retain(value);
    pthread_mutex_t *lock = atomic ? lock_of(variable) : NULL;
    if (lock) pthread_mutex_lock(lock);
    id old = *variable;
    *variable = value;
    if (lock) pthread_mutex_unlock(lock);
    objc_release(old);
}
void objc_setProperty_atomic(id self, SEL name, id value, ptrdiff_t offset) {
    objc_setProperty(self, name, offset, value, YES, COPY_NONE);
}
void objc_setProperty_nonatomic(id self, SEL name, id value, ptrdiff_t offset) {
    objc_setProperty(self, name, offset, value, NO, COPY_NONE);
}
void objc_setProperty_atomic_copy(id self, SEL name, id value, ptrdiff_t offset) {
    objc_setProperty(self, name, offset, value, YES, COPY_PLAIN);
}
void objc_setProperty_nonatomic_copy(id self, SEL name, id value, ptrdiff_t offset) {
    objc_setProperty(self, name, offset, value, NO, COPY_PLAIN);
}

// One of the two is the object's: both are locked, in the order of their locks.
static void lock_both(const void *a, const void *b, bool lock) {
    pthread_mutex_t *first = lock_of(a), *second = lock_of(b);
    if (first > second) {
        pthread_mutex_t *swap = first;
        first = second, second = swap;
    }
    if (lock) pthread_mutex_lock(first);
    if (lock && second != first) pthread_mutex_lock(second);
    if (!lock && second != first) pthread_mutex_unlock(second);
    if (!lock) pthread_mutex_unlock(first);
}
void objc_copyStruct(void *to, const void *from, ptrdiff_t n_bytes, BOOL atomic, BOOL strong) {
    (void)strong;
    if (atomic) lock_both(to, from, true);
    memmove(to, from, (size_t)n_bytes);
    if (atomic) lock_both(to, from, false);
}
void objc_copyCppObjectAtomic(void *to, const void *from, void (*copy)(void *, const void *)) {
    lock_both(to, from, true);
    copy(to, from);
    lock_both(to, from, false);
}
void objc_getCppObjectAtomic(void *to, const void *from, void (*copy)(void *, const void *)) {
    objc_copyCppObjectAtomic(to, from, copy);
}
void objc_setCppObjectAtomic(void *to, const void *from, void (*copy)(void *, const void *)) {
    objc_copyCppObjectAtomic(to, from, copy);
}

static void (*_Atomic mutation_handler)(id object);
void objc_setEnumerationMutationHandler(void (*handler)(id object)) { mutation_handler = handler; }
void objc_enumerationMutation(id object) {
    void (*handler)(id) = mutation_handler;
    if (handler) handler(object);
    objc_fatal("%s %p changed while it was enumerated", object_getClassName(object),
               (void *)object);
}
