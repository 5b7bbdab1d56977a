// SPDX-License-Identifier: Apache-2.0
// futex.h: sleep on a word and wake its sleepers, and the pause that goes with spinning before.
#ifndef INGOT_OS_FUTEX_H
#define INGOT_OS_FUTEX_H
#include <linux/futex.h>
#include <limits.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// Sleeps while *word is `seen`. May return early: the caller looks again.
static inline void os_futex_wait(atomic_uint *word, unsigned seen) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static inline void os_futex_wake(atomic_uint *word, int n) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0);
}

// The same for a word in memory that several processes share. `limit` is how long to sleep at most;
// NULL: no limit.
static inline void os_futex_wait_shared(atomic_uint *word, unsigned seen,
                                        const struct timespec *limit) {
    syscall(SYS_futex, word, FUTEX_WAIT, seen, limit, NULL, 0);
}

static inline void os_futex_wake_shared(atomic_uint *word) {
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static inline void os_relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}
#endif
