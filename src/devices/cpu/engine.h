// SPDX-License-Identifier: Apache-2.0
// engine.h: code, and the threads that run it, as the files of the CPU device and the rasteriser
// share them.
#ifndef INGOT_CPU_ENGINE_H
#define INGOT_CPU_ENGINE_H
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include "devices/cpu/cpu.h"
#include "devices/cpu/elf.h"
#include "os/timer.h"

#define CPU_KERNEL_STACK (64u << 20) // of each thread; touched only where somebody needs it
#define CPU_MAX_FRAME (CPU_KERNEL_STACK / 4 * 3) // the rest is for what kernels call

typedef struct CpuRange {
    const char *start, *end;
} CpuRange;

typedef struct CpuCode {
    DevCode head;                         // first
    CpuElf elf;                           // as it was read; its bytes are gone
    char *base;                           // of its addresses
    void *debugged;                       // its library, if it is loaded for a debugger
    CpuRange image;                       // where it lies,
    CpuRange constants[CPU_ELF_SEGMENTS]; // and what of it nobody writes
    size_t n_constants;
    struct CpuCode *next; // of all that are loaded
    CpuKernelFn *kernel;  // NULL in code of a vertex or fragment function
    CpuVertexFn *vertex;
    CpuFragmentFn *fragment;
    CpuKernelInfo info;
    const CpuSite *sites; // of code that is watched, else NULL
    AbiStageInfo stage;
    atomic_uint ns_per_group_x16; // running estimate of the cost of one threadgroup; 0: unknown
    atomic_uint n_calm;           // dispatches without a fault, up to CPU_CALM
} CpuCode;
static inline CpuCode *cpu_code(const DevCode *code) { return (CpuCode *)(uintptr_t)code; }
// Whether the text, to its NUL, is a constant of the code object that the caller is part of.
bool cpu_code_has_text(const void *caller, const char *text);

// A text of the code object, to its zero; NULL: it has none, or no end.
const char *cpu_code_text(const CpuCode *code, CpuElfSymbol symbol, size_t *n_bytes);

// What the device keeps in DevRun.part.
typedef struct CpuRunPart {
    OsTimer deadline; // first
    DevRun *run;
    bool has_deadline;
    bool handled;     // the handlers of signals were looked at since it began
    bool dispatched;  // something has run
    uint32_t step_ms; // DevLimits.step_ms; 0: nobody watches
} CpuRunPart;
_Static_assert(sizeof(CpuRunPart) <= sizeof(((DevRun *)0)->part), "it has room there");
static inline CpuRunPart *cpu_run_part(DevRun *run) { return (CpuRunPart *)(void *)run->part; }

// The way out of compiled code. stack.S knows this layout.
typedef struct CpuEscape {
    void *sp;                     // of the thread's own stack, at the call
    volatile sig_atomic_t inside; // compiled code runs: a signal may end it
    void *top;                    // of the stack it runs on
} CpuEscape;
_Static_assert(offsetof(CpuEscape, inside) == 8 && offsetof(CpuEscape, top) == 16,
               "stack.S knows this layout");

// A thread that has run, or runs, kernels: a worker, or the thread of a caller who waits.
typedef struct CpuThread {
    CpuEscape escape;                 // first
    sigjmp_buf jump;                  // from where compiled code was called to the guard around it
    volatile sig_atomic_t signal;     // which one ended the call; 0: none did
    volatile uintptr_t fault_address; // where it happened
    DevRun *_Atomic run;              // while in a range of it
    pthread_t id;
    bool is_worker;
    bool is_deaf; // it blocks the signal that ends kernels
    // For the watchdog. What this thread writes:
    atomic_uint calls;   // of kernel code, this one included
    atomic_uint step_ms; // limit of such a call; 0: none
    // What the watchdog writes: the call that is over its limit, and what it saw last.
    atomic_uint late;
    unsigned seen_calls;
    uint64_t seen_ns;         // the thread's time when that call was seen first
    unsigned n_untimed;       // runs of short code since one was timed (dispatch.c)
    uint64_t handled_ns;      // when it last looked whether handlers of signals are ours
    void *stack;              // the mapping that compiled code's stack lies in, guards included
    size_t guard_bytes;       // below it, and as many above
    void *threadgroup_memory; // 128-byte aligned, with CPU_THREADGROUP_MARGIN around it
    size_t threadgroup_capacity;
    void *frames;
    size_t frames_capacity;
    struct Samples *samples;               // profile.c: of this thread, or NULL
    const struct CpuContextLaunch *launch; // of the last call of compiled code, while profiled
    void *alt_stack;                       // for signals; NULL if the thread had one of its own
    struct CpuThread *next_worker;         // list of workers, for the watchdog
    struct CpuThread *next;                // list of all, under cpu_threads_lock
} CpuThread;

// A launch with what its reports belong to: every launch the device makes is the first member of
// one.
typedef struct CpuContextLaunch {
    CpuLaunch launch;
    void *context;   // DevDispatch.context
    uint32_t number; // of the draw in its pass, from 1; 0: none
} CpuContextLaunch;
// Everything but the arguments and the grid.
void cpu_launch_init(CpuContextLaunch *launch, DevRun *run, void *context);

// The calling thread's record, made at first use. NULL: no memory.
CpuThread *cpu_thread_self(void);
// The same if there is one already. Safe in a signal handler.
CpuThread *cpu_thread_current(void);
void cpu_thread_free_memory(CpuThread *t); // its stack for kernels, and what they have on it
bool cpu_thread_reserve(CpuThread *t, size_t threadgroup_bytes, size_t frame_bytes);
// Runs threadgroups first .. end-1 of a launch on this thread. False: fault, recorded in the run.
bool cpu_thread_run(CpuThread *t, DevRun *run, const CpuCode *code, const CpuLaunch *launch,
                    uint64_t first, uint64_t end);
// Calls body(argument) so that compiled code in it may fault: the body calls such code with
// cpu_thread_call, and a fault comes back here out of the middle. False: fault, recorded in the
// run.
bool cpu_thread_guard(CpuThread *t, DevRun *run, void (*body)(void *argument), void *argument);
// stack.S
typedef void CpuCodeFn(void); // a function of a code object, whatever it takes
int cpu_stack_call(CpuCodeFn *f, const void *a, uint64_t b, uint64_t c, void *d, void *e);
_Noreturn void cpu_stack_escape(void);
// profile.c
extern bool cpu_profiled;                                                // INGOT_PROFILE
void cpu_profile_code(const DevCode *code, const DevCodeSource *source); // is loaded
void cpu_profile_thread(CpuThread *t);                                   // is about to run code
void cpu_profile_run_ended(void);
CpuCountFn cpu_profile_count;
void cpu_profile_mark(void *context, uint64_t command); // DevTable.mark
// jitdump.c; one call at a time
void cpu_jitdump_begin(const char *folder);
void cpu_jitdump_code(const CpuCode *code, const DevCodeSource *source, const char *function);
// debug.c
extern bool cpu_debugged;   // MTL_SHADER_DEBUG=1
void cpu_debug_enter(void); // one thread at a time runs code then
void cpu_debug_leave(void);
// A code object as a library that debuggers know, and where it begins. NULL: nobody debugs, or
// there is no place for its file.
char *cpu_debug_open(const void *bytes, size_t n_bytes, void **library);
void cpu_debug_close(void *library);
// For the watchdog and the profiler: compiled code is about to run.
static inline void cpu_thread_count(CpuThread *t, const void *launch) {
    unsigned calls = atomic_load_explicit(&t->calls, memory_order_relaxed);
    atomic_store_explicit(&t->calls, calls + 1, memory_order_relaxed);
    if (cpu_profiled) t->launch = launch;
}
// Calls f, inside of a guard, with up to five arguments that are words, on the stack for compiled
// code.
static inline void cpu_thread_enter(CpuThread *t, CpuCodeFn *f, const void *a, uint64_t b,
                                    uint64_t c, void *d, void *e) {
    if (cpu_debugged) cpu_debug_enter();
    int left = cpu_stack_call(f, a, b, c, d, e);
    if (cpu_debugged) cpu_debug_leave();
    if (left) siglongjmp(t->jump, 1);
}
// The same for compiled code.
static inline void cpu_thread_call(CpuThread *t, CpuCodeFn *f, const void *a, uint64_t b,
                                   uint64_t c, void *d, void *e) {
    cpu_thread_count(t, a);
    cpu_thread_enter(t, f, a, b, c, d, e);
}
// Code of ours that calls compiled code very often goes to its stack once (cpu_thread_enter),
// leaves its state at once, and returns to it for each call: a call alone costs little then.
static inline void cpu_thread_pause(CpuThread *t) { t->escape.inside = 0; }
static inline void cpu_thread_resume(CpuThread *t, const void *launch) {
    cpu_thread_count(t, launch);
    t->escape.inside = 1;
}
// Must kernels of the run not run on this thread? One that we did not make may not be signalled.
static inline bool cpu_run_needs_worker(DevRun *run, const CpuThread *t) {
    const CpuRunPart *limits = cpu_run_part(run);
    return !t->is_worker && (limits->has_deadline || (limits->step_ms && t->is_deaf));
}
// Is the run to end, also because this call takes too long? Safe in a signal handler.
bool cpu_thread_stops(CpuThread *t, DevRun *run);
// Makes sure that the handlers are ours; one system call if they are.
void cpu_signals_install(void);
// Before code of the run: the same once for each run, as somebody may have put a handler over ours
// a moment ago. That system call is a tenth of a small command buffer. So a thread that looked
// less than CPU_HANDLED_NS ago does not look again for code that has often run without a fault.
enum { CPU_CALM = 64, CPU_HANDLED_NS = 20000 };
void cpu_run_handle_signals(DevRun *run, CpuThread *t, bool is_calm); // t may be NULL: not calm
int cpu_signal_kick(void);                // the signal that makes a thread look at its run's fault
void cpu_thread_kick(const CpuThread *t); // sends it

extern CpuThread *_Atomic cpu_workers; // of the pool that have run kernels; grows only
// All that have; whoever exits leaves the list first.
extern pthread_mutex_t cpu_threads_lock;
extern CpuThread *cpu_threads; // under the lock
#endif
