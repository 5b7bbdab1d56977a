// SPDX-License-Identifier: Apache-2.0
// cpu.h: the CPU device as the runtime sees it. Code objects are loaded, dispatches run on a pool
// of worker threads and on the thread that asks, and whatever goes wrong inside a kernel ends in
// the run's fault instead of the process. Input is assumed valid: the runtime has checked it.
#ifndef INGOT_CPU_CPU_H
#define INGOT_CPU_CPU_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "abi/cpu_kernel.h"
#include "abi/cpu_stage.h"
#include "os/timer.h"

// ---- Code objects (code.c) ----

typedef struct CpuCode CpuCode;
// Loads an ELF shared object that follows abi/cpu_kernel.h; NULL and a sentence in `why` if it does
// not.
CpuCode *cpu_code_load(const void *bytes, size_t n_bytes, char *why, size_t why_bytes);
CpuCode *cpu_code_retain(CpuCode *code);
void cpu_code_release(CpuCode *code); // NULL is a no-op
const CpuKernelInfo *cpu_code_info(const CpuCode *code);
// Of code of a vertex or fragment function, which cannot be dispatched; NULL of other code.
CpuVertexFn *cpu_code_vertex(const CpuCode *code);
CpuFragmentFn *cpu_code_fragment(const CpuCode *code);
const AbiStageInfo *cpu_code_stage_info(const CpuCode *code);

// ---- A run: the kernels of one command buffer (thread.c, watchdog.c) ----

typedef enum CpuFault {
    CPU_FAULT_NONE = 0,
    CPU_FAULT_TIMEOUT,
    CPU_FAULT_MEMORY,  // SIGSEGV, SIGBUS
    CPU_FAULT_ILLEGAL, // SIGILL, SIGFPE: a trap in the code
    CPU_FAULT_STACK,
    CPU_FAULT_NO_MEMORY,
} CpuFault;

typedef struct CpuRun {
    atomic_int fault;           // CpuFault; once set, nothing more of the run starts
    atomic_bool described;      // the first fault's details are being, or are, written
    uintptr_t address;          // of a memory fault
    const char *_Atomic kernel; // name of the kernel that runs, for messages; owned by the caller
    const char
        *faulting; // the kernel at the time of the fault; like address, to be read after the end
    bool has_deadline;
    OsTimer deadline;
    CpuLogFn *log;               // may be NULL; called with no kernel code "running"
    void *log_context;           // for log, through cpu_run_log_context
    CpuReportFn *report;         // the same for what shader validation finds
    void *report_context;        // through cpu_run_report_context
} CpuRun;

// A run with a deadline is watched between the two calls. {0} plus log is a valid start.
bool cpu_run_begin(CpuRun *run, uint32_t timeout_ms);
void cpu_run_end(CpuRun *run);
// Marks the run; the first fault stays.
void cpu_run_fail(CpuRun *run, CpuFault fault, uintptr_t address);
// From inside CpuRun.log: the context of the run that logs.
void *cpu_run_log_context(const CpuLaunch *launch);
void *cpu_run_report_context(const CpuLaunch *launch);
// And the context of the dispatch.
void *cpu_launch_context(const CpuLaunch *launch);

// ---- Dispatch (dispatch.c) ----

typedef struct CpuDispatch {
    CpuCode *code;
    void *const *args; // CpuLaunch.args
    uint32_t threads_per_grid[3], groups_per_grid[3], group_size[3];
    uint32_t threadgroup_bytes; // static and dynamic together
    // For code that checks its accesses (CPU_KERNEL_VALIDATE), else NULL.
    const uint64_t *lengths; // CpuLaunch.lengths
    const AbiSpan *spans;
    size_t n_spans;
    void *context; // of reports
} CpuDispatch;

// Runs one dispatch, or several that do not depend on each other, and returns when all is done. The
// calling thread takes part. False if the run has a fault (also an earlier one).
bool cpu_dispatch(CpuRun *run, const CpuDispatch *dispatches, size_t n);
#endif
