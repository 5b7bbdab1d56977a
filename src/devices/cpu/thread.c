// SPDX-License-Identifier: Apache-2.0
// thread.c: kernel code on a thread, and how it is left when it faults.
//
// Kernel code holds no locks and owns no resources, so aborting it is safe: the signal handler
// resumes the thread where the range of threadgroups was started. Kernels run on their own stack
// between guard pages (stack.S): a kernel that writes past its arrays, or over its own frames,
// reaches nothing that this thread needs to return. A signal that is not ours (raised outside
// kernel code, or on a foreign thread) is forwarded to the previous handler.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include "devices/cpu/engine.h"
#include "os/pool.h"

#define ALT_STACK_BYTES (64u << 10) // an AVX-512 and AMX signal frame is 11 KiB
// Addresses cost nothing, and an index that is wrong by some millions still lands there. The second
// is for processes with few addresses.
#define GUARD_BYTES ((size_t)256 << 20)
#define SMALL_GUARD_BYTES ((size_t)1 << 20)

// initial-exec: reading it in a signal handler must never allocate. stack.S reads it too.
extern _Thread_local CpuThread *cpu_current __attribute__((tls_model("initial-exec")));
_Thread_local CpuThread *cpu_current __attribute__((tls_model("initial-exec")));
// How often a signal was passed on from this thread without a return: handlers may leave by a jump,
// and two handlers may know each other as predecessors. The circle ends with the default action.
static _Thread_local int passed_on __attribute__((tls_model("initial-exec")));
#define MAX_PASSED_ON 4
static pthread_key_t thread_key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

CpuThread *_Atomic cpu_workers;
pthread_mutex_t cpu_threads_lock = PTHREAD_MUTEX_INITIALIZER; // threads are the process's
CpuThread *cpu_threads;

// ---- Records ----

// What was allocated, the margin first.
static void *threadgroup_block(const CpuThread *t) {
    return t->threadgroup_memory ? (char *)t->threadgroup_memory - CPU_THREADGROUP_MARGIN : NULL;
}

void cpu_thread_free_memory(CpuThread *t) {
    if (t->stack) munmap(t->stack, CPU_KERNEL_STACK + 2 * t->guard_bytes);
    free(threadgroup_block(t));
    free(t->frames);
}

static void thread_free(void *record) {
    CpuThread *t = record;
    cpu_current = NULL;
    pthread_mutex_lock(&cpu_threads_lock);
    for (CpuThread **at = &cpu_threads; *at; at = &(*at)->next) {
        if (*at != t) continue;
        *at = t->next;
        break;
    }
    pthread_mutex_unlock(&cpu_threads_lock);
    if (t->alt_stack) {
        stack_t off = {.ss_flags = SS_DISABLE};
        sigaltstack(&off, NULL);
        munmap(t->alt_stack, ALT_STACK_BYTES);
    }
    cpu_thread_free_memory(t);
    free(t);
}

static void after_fork(void) { // the child has one thread
    atomic_store(&cpu_workers, NULL);
    pthread_mutex_init(&cpu_threads_lock, NULL);
    cpu_threads = cpu_current;
    if (cpu_current) cpu_current->next = NULL;
}

static void make_key(void) {
    pthread_key_create(&thread_key, thread_free);
    pthread_atfork(NULL, NULL, after_fork);
}

static void give_alt_stack(CpuThread *t) {
    stack_t now;
    if (sigaltstack(NULL, &now) != 0 || !(now.ss_flags & SS_DISABLE))
        return; // the thread brought one
    void *stack =
        mmap(NULL, ALT_STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED) return; // only stack overflows need it
    stack_t ours = {.ss_sp = stack, .ss_size = ALT_STACK_BYTES};
    if (sigaltstack(&ours, NULL) == 0)
        t->alt_stack = stack;
    else
        munmap(stack, ALT_STACK_BYTES);
}

static bool give_stack(CpuThread *t, size_t guard_bytes) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
    size_t n_bytes = CPU_KERNEL_STACK + 2 * guard_bytes;
    char *low = mmap(NULL, n_bytes, PROT_NONE, flags, -1, 0);
    if (low == MAP_FAILED) return false;
    if (mprotect(low + guard_bytes, CPU_KERNEL_STACK, PROT_READ | PROT_WRITE) != 0) {
        munmap(low, n_bytes);
        return false;
    }
    t->stack = low;
    t->guard_bytes = guard_bytes;
    t->escape.top = low + guard_bytes + CPU_KERNEL_STACK;
    return true;
}

CpuThread *cpu_thread_current(void) { return cpu_current; }

// The watchdog may signal a worker: unlike other threads it never exits.
static void join_workers(CpuThread *t) {
    t->is_worker = true;
    CpuThread *head = atomic_load(&cpu_workers);
    do t->next_worker = head;
    while (!atomic_compare_exchange_weak(&cpu_workers, &head, t));
}

static void join_threads(CpuThread *t) {
    sigset_t mask;
    t->is_deaf = pthread_sigmask(SIG_SETMASK, NULL, &mask) != 0 ||
                 sigismember(&mask, cpu_signal_kick()) != 0;
    pthread_mutex_lock(&cpu_threads_lock);
    t->next = cpu_threads;
    cpu_threads = t;
    pthread_mutex_unlock(&cpu_threads_lock);
}

CpuThread *cpu_thread_self(void) {
    if (cpu_current) return cpu_current;
    pthread_once(&key_once, make_key);
    CpuThread *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->id = pthread_self();
    if (pthread_setspecific(thread_key, t) != 0) {
        free(t);
        return NULL;
    }
    give_alt_stack(t);
    cpu_current = t;
    cpu_signals_install();
    join_threads(t);
    if (os_pool_is_worker()) join_workers(t);
    return t;
}

static bool reserve(void **memory, size_t *capacity, size_t need) {
    if (need <= *capacity) return true;
    size_t rounded = (need + 4095) & ~(size_t)4095;
    // 128 past a page: rows of different threads and of the buffers do not meet in the same cache
    // sets.
    void *fresh = aligned_alloc(128, rounded);
    if (!fresh) return false;
    free(*memory);
    *memory = fresh;
    *capacity = rounded;
    return true;
}

bool cpu_thread_reserve(CpuThread *t, size_t threadgroup_bytes, size_t frame_bytes) {
    void *block = threadgroup_block(t);
    if (!reserve(&block, &t->threadgroup_capacity, threadgroup_bytes + 2 * CPU_THREADGROUP_MARGIN))
        return false;
    t->threadgroup_memory = (char *)block + CPU_THREADGROUP_MARGIN;
    return reserve(&t->frames, &t->frames_capacity, frame_bytes);
}

// ---- Running kernel code ----

static DevFault fault_of(const CpuThread *t, const DevRun *run) {
    int known = atomic_load(&run->fault);
    if (known == DEV_FAULT_TIMEOUT) return DEV_FAULT_TIMEOUT;
    if (t->signal == SIGSEGV || t->signal == SIGBUS) {
        // Below the stack lies nothing but the guard.
        uintptr_t below = t->fault_address - (uintptr_t)t->stack;
        return below < t->guard_bytes ? DEV_FAULT_STACK : DEV_FAULT_MEMORY;
    }
    return DEV_FAULT_ILLEGAL;
}

bool cpu_thread_stops(CpuThread *t, DevRun *run) {
    if (!run) return false;
    if (atomic_load(&t->late) == atomic_load_explicit(&t->calls, memory_order_relaxed))
        dev_run_fail(run, DEV_FAULT_TIMEOUT, 0);
    return atomic_load(&run->fault) != DEV_FAULT_NONE;
}

// What AddressSanitizer knows of frames that never came back would be taken for new ones.
#if defined(__SANITIZE_ADDRESS__)
void __asan_unpoison_memory_region(const volatile void *p, size_t n_bytes);
static void forget_frames(const CpuThread *t) {
    __asan_unpoison_memory_region((char *)t->stack + t->guard_bytes, CPU_KERNEL_STACK);
}
#else
static void forget_frames(const CpuThread *t) { (void)t; }
#endif

bool cpu_thread_guard(CpuThread *t, DevRun *run, void (*body)(void *argument), void *argument) {
    if (atomic_load_explicit(&run->fault, memory_order_relaxed) != DEV_FAULT_NONE) return false;
    if (!t->stack && !give_stack(t, GUARD_BYTES) && !give_stack(t, SMALL_GUARD_BYTES)) {
        dev_run_fail(run, DEV_FAULT_NO_MEMORY, 0);
        return false;
    }
    if (cpu_profiled) cpu_profile_thread(t);
    atomic_store_explicit(&t->step_ms, cpu_run_part(run)->step_ms, memory_order_relaxed);
    atomic_store_explicit(&t->run, run, memory_order_release);
    passed_on = 0;
    if (sigsetjmp(t->jump, 0) == 0) {
        body(argument);
    } else {
        forget_frames(t);
        madvise((char *)t->stack + t->guard_bytes, CPU_KERNEL_STACK, MADV_DONTNEED);
        dev_run_fail(run, fault_of(t, run), t->fault_address);
    }
    atomic_store_explicit(&t->run, NULL, memory_order_release);
    return atomic_load_explicit(&run->fault, memory_order_relaxed) == DEV_FAULT_NONE;
}

typedef struct KernelRange {
    CpuThread *t;
    const CpuCode *code;
    const CpuLaunch *launch;
    uint64_t first, end;
} KernelRange;

static void run_kernel(void *argument) {
    const KernelRange *r = argument;
    CpuThread *t = r->t;
    cpu_thread_call(t, (CpuCodeFn *)r->code->kernel, r->launch, r->first, r->end,
                    t->threadgroup_memory, t->frames);
}

bool cpu_thread_run(CpuThread *t, DevRun *run, const CpuCode *code, const CpuLaunch *launch,
                    uint64_t first, uint64_t end) {
    KernelRange range = {t, code, launch, first, end};
    return cpu_thread_guard(t, run, run_kernel, &range);
}

// ---- Signals ----

// Handlers that were there when ours were installed. Written under install_lock; read by the signal
// handler, which sees either the old or the new one.
static struct sigaction previous[NSIG];

// The fault was not in a kernel: give it to the handler before us, or let the default happen.
static void pass_on(int number, siginfo_t *info, void *context) {
    const struct sigaction *old = &previous[number];
    bool circle = passed_on >= MAX_PASSED_ON;
    if (!circle && ((old->sa_flags & SA_SIGINFO) ||
                    (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN))) {
        passed_on++;
        if (old->sa_flags & SA_SIGINFO)
            old->sa_sigaction(number, info, context);
        else
            old->sa_handler(number);
        passed_on--;
    } else if (number != SIGURG && (circle || old->sa_handler != SIG_IGN)) {
        // Back to the default; the instruction faults again and ends the process as it should.
        struct sigaction standard = {.sa_handler = SIG_DFL};
        sigaction(number, &standard, NULL);
        // Sent with kill, or the instruction is done: it would not come again by itself.
        if (info->si_code <= 0 || number == SIGTRAP || number == SIGSYS) raise(number);
    }
}

// When the handler returns the thread goes on in cpu_stack_escape, on its own stack: what the
// kernel left in the registers, flags included, says nothing any more.
static void go_back(CpuThread *t, ucontext_t *context) {
    t->escape.inside = 0;
#if defined(__x86_64__)
    const greg_t flags = 0x100 | 0x400 | 0x40000; // single steps, direction, alignment checks
    greg_t *registers = context->uc_mcontext.gregs;
    registers[REG_RIP] = (greg_t)(uintptr_t)cpu_stack_escape;
    registers[REG_RSP] = (greg_t)(uintptr_t)t->escape.sp;
    registers[REG_EFL] &= ~flags;
#elif defined(__aarch64__)
    context->uc_mcontext.pc = (uintptr_t)cpu_stack_escape;
    context->uc_mcontext.sp = (uintptr_t)t->escape.sp;
#endif
}

// A kick carries this address: one that comes late, outside of kernels, is nobody else's.
void cpu_thread_kick(const CpuThread *t) {
    pthread_sigqueue(t->id, cpu_signal_kick(), (union sigval){.sival_ptr = &cpu_workers});
}

static bool is_kick(const siginfo_t *info) {
    return info->si_code == SI_QUEUE && info->si_value.sival_ptr == (void *)&cpu_workers;
}

static void on_signal(int number, siginfo_t *info, void *context) {
    CpuThread *t = cpu_current;
    int saved = errno;
    if (t && t->escape.inside) {
        DevRun *run = atomic_load(&t->run);
        bool kicked = info->si_code <= 0; // sent by a thread, not raised by an instruction
        if (!kicked || cpu_thread_stops(t, run)) {
            t->signal = number;
            t->fault_address = kicked ? 0 : (uintptr_t)info->si_addr;
            go_back(t, context);
            errno = saved;
            return;
        }
    }
    if (is_kick(info)) return; // late: the run it was for is over
    pass_on(number, info, context);
    errno = saved;
}

int cpu_signal_kick(void) {
#if defined(__SANITIZE_THREAD__)
    return SIGBUS; // ThreadSanitizer holds other signals back while uninstrumented code runs
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
    return SIGBUS;
#else
    return SIGURG;
#endif
#else
    return SIGURG; // ignored by default, so that a late one does no harm
#endif
}

static pthread_mutex_t install_lock = PTHREAD_MUTEX_INITIALIZER; // handlers are the process's

static bool installed(void) {
    struct sigaction now;
    return sigaction(SIGSEGV, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
           now.sa_sigaction == on_signal;
}

void cpu_run_handle_signals(DevRun *run, CpuThread *t, bool is_calm) {
    CpuRunPart *part = cpu_run_part(run);
    if (part->handled) return;
    if (is_calm && run->begun_ns && run->begun_ns - t->handled_ns < CPU_HANDLED_NS) return;
    part->handled = true;
    if (t) t->handled_ns = run->begun_ns;
    cpu_signals_install();
}

void cpu_signals_install(void) {
    static const int ours[] = OS_WORKER_SIGNALS;
    if (installed()) return;
    pthread_mutex_lock(&install_lock);
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        struct sigaction old,
            action = {.sa_sigaction = on_signal,
                      .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART};
        sigemptyset(&action.sa_mask);
        if (sigaction(ours[i], &action, &old) == 0 &&
            !((old.sa_flags & SA_SIGINFO) && old.sa_sigaction == on_signal))
            previous[ours[i]] = old;
    }
    pthread_mutex_unlock(&install_lock);
}
