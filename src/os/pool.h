// SPDX-License-Identifier: Apache-2.0
// pool.h: the worker threads, one pool for the process. They run tasks (a command queue with
// something to do) and help with jobs (work that several threads share).
#ifndef INGOT_OS_POOL_H
#define INGOT_OS_POOL_H
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define OS_WORKER_STACK (8u << 20) // reserved, touched only when somebody needs it

// What reaches a worker: faults of the code it runs, and SIGURG, with which a device may interrupt
// such code. A trap is an illegal instruction on x86-64 and a breakpoint on AArch64.
#define OS_WORKER_SIGNALS {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGURG}

// Starts the workers at first call (INGOT_THREADS or the number of cores). False: no thread
// started. A worker never exits.
bool os_pool_start(void);
unsigned os_pool_threads(void);
bool os_pool_is_worker(void); // is the calling thread one?
// Where the calling thread begins in a job whose parts are numbered, so that it finds what it used
// in the job before in the caches of its core. Workers have numbers of their own; 0 is that of the
// application's threads and of one worker, which is called behind the others.
unsigned os_pool_place(void);

// What a thread that waits may help with: any job, or only such as are over soon.
typedef enum OsPatience { OS_PATIENT, OS_HASTY } OsPatience;

// Something for a worker to do. Embedded in the caller's object; may be submitted again once it has
// started or was cancelled.
typedef struct OsTask {
    void (*run)(struct OsTask *task);
    struct OsTask *next;
    bool queued; // under the pool's lock
    // Threads that wait for it and will help, by OsPatience, and jobs with which these may.
    atomic_uint waiters[2], n_open[2];
} OsTask;
void os_pool_submit(OsTask *task);
// Takes a task back that no worker has started. False: too late.
bool os_pool_cancel(OsTask *task);
// Jobs that the calling thread opens from now on belong to this task, which it has taken back;
// NULL: to none. Returns what held before. A worker needs no such call for a task that it runs.
OsTask *os_pool_run_for(OsTask *task);
// A thread that waits for something that a worker does in the task helps with its jobs, instead of
// a worker that would have to be woken. Between these two calls it is reckoned with,
void os_pool_begin_wait(OsTask *task, OsPatience patience);
void os_pool_end_wait(OsTask *task, OsPatience patience);
// and calls this one again and again, and once behind them. False: there is nothing to help with,
// or `done` is no longer 0, or the thread does not hear the signals that end kernels.
bool os_pool_help(OsTask *task, OsPatience patience, const atomic_uint *done);
// Around calls of the application's code from a task, so that it may wait for other tasks. The
// second takes what the first returned.
bool os_pool_enter_user_code(void);
void os_pool_leave_user_code(bool entered);

// A piece of work that several threads share, on the list of the pool while it is open.
typedef struct OsJob {
    void (*help)(struct OsJob *job); // runs on each helper, returns when nothing is left to take
    unsigned max_helpers;
    bool for_waiters;   // not only for workers, also for those that wait for the task,
    bool is_short;      // and for the hasty of them
    bool takes_part;    // its owner works too, and does without helpers if none come
    bool on_board;      // it is where helpers join it without a lock: the owner's
    OsTask *task;       // that it belongs to, or NULL: set by the pool
    unsigned helpers;   // under the pool's lock: how many ever joined
    atomic_uint active; // helpers inside, on the board a large number less those that left; the
                        // owner waits for 0
    struct OsJob *next; // under the pool's lock
} OsJob;
void os_pool_open_job(OsJob *job);
void os_pool_close_job(OsJob *job); // returns when no helper is inside

// Calls run(context, 0 .. n - 1) from this thread and idle workers and returns when all is done
// (parallel.c).
void os_parallel(size_t n, void (*run)(void *context, size_t i), void *context);
#endif
