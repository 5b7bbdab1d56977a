// SPDX-License-Identifier: Apache-2.0
// clock.h: the clock that everything is timed by.
#ifndef INGOT_OS_CLOCK_H
#define INGOT_OS_CLOCK_H
#include <stdint.h>
#include <time.h>

// Of the monotonic clock: it goes on while the date is set, and stops while the machine sleeps.
static inline uint64_t os_now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
#endif
