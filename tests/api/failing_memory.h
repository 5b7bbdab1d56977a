// SPDX-License-Identifier: Apache-2.0
// failing_memory.h: an allocator that counts its blocks and fails when it is told to, and a test
// of every allocation of a piece of work.
#ifndef INGOT_TESTS_FAILING_MEMORY_H
#define INGOT_TESTS_FAILING_MEMORY_H
#include <unistd.h>
#include "api_test.h"

static atomic_long alive;          // blocks
static atomic_long countdown = -1; // allocations until the one that fails; negative: none
static bool fails_on;              // all after it fail too, until countdown is set again
static atomic_bool failed;

static void *count_allocate(void *context, size_t length, size_t alignment) {
    (void)context;
    long left = atomic_load(&countdown);
    if (left > 0 || (left == 0 && !fails_on)) left = atomic_fetch_sub(&countdown, 1);
    if (left == 0) {
        atomic_store(&failed, true);
        return NULL;
    }
    void *p = alignment <= 16
                  ? malloc(length)
                  : aligned_alloc(alignment, (length + alignment - 1) & ~(alignment - 1));
    if (p) atomic_fetch_add(&alive, 1);
    return p;
}

static void count_deallocate(void *context, void *pointer) {
    (void)context;
    atomic_fetch_sub(&alive, 1);
    free(pointer);
}

static const MTLAllocator counting = {count_allocate, count_deallocate, NULL};

// How many blocks more there are than *before. A worker lets go of what it ran a moment after those
// who wait for it were woken: it gets its time, and where *before was taken in that moment, the
// smaller number stands from now on.
static inline long left_behind(long *before) {
    for (int k = 0; k < 20000 && atomic_load(&alive) > *before; k++) usleep(500);
    long left = atomic_load(&alive) - *before;
    if (left < 0) *before += left;
    return left > 0 ? left : 0;
}

// Each allocation of `run` fails once; it works before and after.
static inline void fail_each(bool (*run)(void), const char *name) {
    assert_true(run());
    assert_true(run());
    long before = atomic_load(&alive);
    int n = 0;
    for (bool more = true; more; n++) {
        atomic_store(&failed, false);
        atomic_store(&countdown, n);
        bool ok = run();
        atomic_store(&countdown, -1);
        more = atomic_load(&failed);
        if (!more && !ok) fail_msg("%s: no allocation failed, and yet it did not work", name);
        long left = left_behind(&before);
        if (left) fail_msg("%s: allocation %d failed, %ld leaked", name, n, left);
        if (n > 5000) fail_msg("%s: too many allocations", name);
    }
    assert_true(n > 10);
    assert_true(run());
}
#endif
