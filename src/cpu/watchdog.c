// SPDX-License-Identifier: Apache-2.0
// watchdog.c: time limits. When the deadline of a run passes, the run is marked and the workers
// inside its kernels are signalled (again and again, a signal may meet them outside kernel code)
// until the run ends.
//
// Only workers run kernels of a run with a deadline: they never exit, so signalling them is safe.
#include "cpu/engine.h"
#include "os/clock.h"
#include "os/timer.h"

#define KICK_INTERVAL_NS 1000000u

static uint64_t too_late(OsTimer *timer) {
    DevRun *run = ((CpuRunPart *)(void *)timer)->run;
    dev_run_fail(run, DEV_FAULT_TIMEOUT, 0);
    for (CpuThread *t = atomic_load(&cpu_workers); t; t = t->next_worker)
        if (atomic_load(&t->run) == run) pthread_kill(t->id, cpu_signal_kick());
    return os_now_ns() + KICK_INTERVAL_NS;
}

bool cpu_run_begin(DevRun *run, uint32_t timeout_ms) {
    cpu_signals_install(); // somebody may have put a handler over ours
    CpuRunPart *part = cpu_run_part(run);
    part->run = run;
    part->has_deadline = false;
    if (timeout_ms == 0) return true;
    part->deadline = (OsTimer){.fire = too_late};
    part->has_deadline =
        os_timer_start(&part->deadline, os_now_ns() + (uint64_t)timeout_ms * 1000000u);
    return part->has_deadline;
}

void cpu_run_end(DevRun *run) {
    if (cpu_run_part(run)->has_deadline) os_timer_cancel(&cpu_run_part(run)->deadline);
}
