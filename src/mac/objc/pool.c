// SPDX-License-Identifier: Apache-2.0
// pool.c: autorelease pools: a stack of objects for each thread; a pool is a height of it. What is
// autoreleased where there is no pool is never released, as on a Mac: programs that own such a
// result by mistake (callers through ctypes) must not meet a second release at the thread's end.
#include "mac/objc/objc_int.h"
#include <stdlib.h>

typedef struct PoolStack {
    id *items;
    size_t n, room, depth;
} PoolStack;
static _Thread_local PoolStack stack;
static pthread_key_t key; // its destructor ends a thread's stack
static pthread_once_t key_made = PTHREAD_ONCE_INIT;

static void end_thread(void *unused) {
    (void)unused;
    objc_autoreleasePoolPop((void *)(uintptr_t)1);
    free(stack.items);
    stack = (PoolStack){0};
}
static void make_key(void) { pthread_key_create(&key, end_thread); }

static void grow(void) {
    pthread_once(&key_made, make_key);
    pthread_setspecific(key, &stack);
    stack.room = stack.room ? stack.room * 2 : 256;
    stack.items = objc_must(realloc(stack.items, stack.room * sizeof *stack.items));
}

void pool_add(id object) {
    if (!stack.depth) return;
    if (stack.n == stack.room) grow();
    stack.items[stack.n++] = object;
}

void *objc_autoreleasePoolPush(void) {
    stack.depth++;
    return (void *)(stack.n + 1); // never NULL
}

void objc_autoreleasePoolPop(void *pool) {
    size_t height = (size_t)(uintptr_t)pool - 1;
    while (stack.n > height) objc_release(stack.items[--stack.n]); // releases may add to this pool
    if (stack.depth) stack.depth--;
}

OBJC_EXPORT size_t objc_ingot_pool_count(void);
size_t objc_ingot_pool_count(void) { return stack.n; }
