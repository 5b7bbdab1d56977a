// SPDX-License-Identifier: Apache-2.0
// dispatch_int.h: what the files of libdispatch share. The library is C: a block is memory whose
// third word is its function.
#ifndef INGOT_DISPATCH_INT_H
#define INGOT_DISPATCH_INT_H
#include <pthread.h>
#include <stdatomic.h>
#include <dispatch/dispatch.h>
#include <objc/objc-ingot.h>

typedef struct DispatchHead { // of every object
    Class isa;
    void *context;
    dispatch_function_t finalizer;
} DispatchHead;

typedef struct Work { // something to run
    struct Work *next;
    dispatch_function_t function;
    void *context;
    struct dispatch_group_s *group; // is left afterwards; retained
    struct dispatch_queue_s *queue; // it is on; retained
    struct SyncWait *sync;          // not NULL: that thread runs it
    bool barrier;
} Work;
typedef struct WorkList {
    Work *first, **last;
} WorkList;

typedef struct SyncWait {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool turn; // it may run, or has been run
} SyncWait;

typedef struct Specific {
    struct Specific *next;
    const void *key;
    void *value;
    dispatch_function_t destructor;
} Specific;

struct dispatch_queue_s {
    DispatchHead head;
    char *label;
    pthread_mutex_t lock; // for what follows
    WorkList waiting;
    size_t running; // works that were handed out and are not done
    size_t suspended;
    bool barrier_running;
    bool serial, is_main, is_global;
    struct dispatch_queue_s *target; // retained; NULL: the pool
    Specific *specifics;
};
typedef struct dispatch_queue_s Queue;

static inline void list_add(WorkList *list, Work *work) {
    if (!list->first) list->last = &list->first;
    work->next = NULL;
    *list->last = work, list->last = &work->next;
}
static inline Work *list_take(WorkList *list) {
    Work *work = list->first;
    if (work) list->first = work->next;
    return work;
}

void *dispatch_alloc(size_t n_bytes); // zeroed
void dispatch_fatal(const char *what) __attribute__((noreturn));
void *dispatch_new(Class cls, size_t n_bytes); // zeroed behind its class
extern struct DispatchClasses {
    Class queue, serial, concurrent, global, main, attributes, group, semaphore, data;
} dispatch_classes;
void dispatch_objects_start(void);

// pool.c: works that may run now, each on a thread of the pool.
void pool_submit(Work *work);
size_t pool_processors(void);
// queue.c
void work_run(Work *work); // on this thread; frees it
void queue_push(Queue *queue, Work *work);
void main_queue_submit(Work *work);
Work *work_new(Queue *queue, dispatch_function_t function, void *context, bool barrier);
// Blocks as functions.
void *block_kept(void *block);            // copied
void block_call_and_release(void *block); // a dispatch_function_t
void block_call(void *block);             // the same, not released
// time.c: absolute time of CLOCK_MONOTONIC or CLOCK_REALTIME. false: for ever.
bool time_limit(dispatch_time_t when, clockid_t *clock, struct timespec *limit);
// Waits for a change; 0 or ETIMEDOUT.
int wait_until(pthread_cond_t *changed, pthread_mutex_t *lock, dispatch_time_t limit);
// group.c
void group_leave(struct dispatch_group_s *group);
#endif
