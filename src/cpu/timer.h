// SPDX-License-Identifier: Apache-2.0
// timer.h: something to do at a moment of the monotonic clock, on a thread of the library's own.
#ifndef INGOT_CPU_TIMER_H
#define INGOT_CPU_TIMER_H
#include <stdbool.h>
#include <stdint.h>

typedef struct CpuTimer { // embedded in the caller's object; {0} plus fire is a valid start
    struct CpuTimer *next;
    uint64_t at_ns;
    // Called on the timer thread, with the timers' lock held: it must not start or cancel one.
    // Returns when to call it again; 0: never, and the timer may be gone then.
    uint64_t (*fire)(struct CpuTimer *timer);
} CpuTimer;

// False: the thread could not be started.
bool cpu_timer_start(CpuTimer *timer, uint64_t at_ns);
// After it the timer will not fire any more; one that fires now has returned.
void cpu_timer_cancel(CpuTimer *timer);
#endif
