// SPDX-License-Identifier: Apache-2.0
// timer.h: something to do at a moment of the monotonic clock, on a thread of the library's own.
#ifndef INGOT_RUNTIME_TIMER_H
#define INGOT_RUNTIME_TIMER_H
#include <stdbool.h>
#include <stdint.h>

typedef struct RtTimer { // embedded in the caller's object; {0} plus fire is a valid start
    struct RtTimer *next;
    uint64_t at_ns;
    // Called once, on the timer thread, with the timers' lock held: it must not start or cancel
    // one.
    void (*fire)(struct RtTimer *timer);
} RtTimer;

// False: the thread could not be started.
bool rt_timer_start(RtTimer *timer, uint64_t at_ns);
// After it the timer will not fire any more; one that fires now has returned.
void rt_timer_cancel(RtTimer *timer);
#endif
