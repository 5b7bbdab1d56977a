// SPDX-License-Identifier: Apache-2.0
// timer.h: something to do at a moment of the monotonic clock, on a thread of the library's own.
#ifndef INGOT_OS_TIMER_H
#define INGOT_OS_TIMER_H
#include <stdbool.h>
#include <stdint.h>

typedef struct OsTimer { // embedded in the caller's object; {0} plus fire is a valid start
    struct OsTimer *next;
    uint64_t at_ns;
    // Called on the timer thread, with the timers' lock held: it must not start or cancel one.
    // Returns when to call it again; 0: never, and the timer may be gone then.
    uint64_t (*fire)(struct OsTimer *timer);
} OsTimer;

// False: the thread could not be started.
bool os_timer_start(OsTimer *timer, uint64_t at_ns);
// After it the timer will not fire any more; one that fires now has returned.
void os_timer_cancel(OsTimer *timer);
#endif
