// SPDX-License-Identifier: Apache-2.0
// queue.c: queues. A queue hands out works in their order; a barrier waits until all before it are
// done and holds up all behind it. On a serial queue every work is a barrier. What is handed out
// goes to the queue's target, at the end to the pool, or to the main thread.
#include "mac/dispatch/dispatch_int.h"
#include <objc/objc-arc.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local Queue *current; // whose work this thread runs
struct dispatch_global_s {
    DispatchHead head;
};
struct dispatch_global_s _dispatch_queue_attr_concurrent;
Queue _dispatch_main_q; // a Mac's dispatch_get_main_queue() is a macro that names it
static Queue global_queues[5];
static pthread_t main_thread;

// ---- Handing out ----

static void submit(Queue *q, Work *work) {
    if (work->sync && !q->is_main) { // the thread that waits runs it
        pthread_mutex_lock(&work->sync->lock);
        work->sync->turn = true;
        pthread_cond_signal(&work->sync->changed);
        pthread_mutex_unlock(&work->sync->lock);
    } else if (q->is_main)
        main_queue_submit(work);
    else if (q->target && !q->target->is_global)
        queue_push(q->target, work);
    else
        pool_submit(work);
}

// Takes works off the queue as long as they may run. Locked; what it gives is submitted unlocked.
static WorkList pump(Queue *q) {
    WorkList out = {0};
    while (q->waiting.first && !q->suspended && !q->barrier_running) {
        bool barrier = q->waiting.first->barrier;
        if (barrier && q->running) break;
        q->running++, q->barrier_running = barrier;
        list_add(&out, list_take(&q->waiting));
    }
    return out;
}

static void submit_all(Queue *q, WorkList *list) {
    for (Work *work; (work = list_take(list));) submit(q, work);
}

static void hand_out(Queue *q) {
    pthread_mutex_lock(&q->lock);
    WorkList out = pump(q);
    pthread_mutex_unlock(&q->lock);
    submit_all(q, &out);
}

Work *work_new(Queue *q, dispatch_function_t function, void *context, bool barrier) {
    if (!q) dispatch_fatal("a NULL queue");
    Work *work = dispatch_alloc(sizeof *work);
    *work = (Work){
        .function = function, .context = context, .queue = q, .barrier = barrier || q->serial};
    objc_retain((id)q);
    return work;
}

// A queue may be a work's target: the work then waits on it, too, and counts for both.
static void run_nested(void *p) { work_run(p); }

void queue_push(Queue *q, Work *work) {
    if (work->queue != q) work = work_new(q, run_nested, work, false);
    if (q->is_global) { // no order to keep
        pool_submit(work);
        return;
    }
    pthread_mutex_lock(&q->lock);
    list_add(&q->waiting, work);
    WorkList out = pump(q);
    pthread_mutex_unlock(&q->lock);
    submit_all(q, &out);
}

static void finished(Work *work) {
    Queue *q = work->queue;
    if (!q->is_global) {
        pthread_mutex_lock(&q->lock);
        q->running--;
        if (work->barrier) q->barrier_running = false;
        WorkList out = pump(q);
        pthread_mutex_unlock(&q->lock);
        submit_all(q, &out);
    }
    if (work->group) group_leave(work->group);
    objc_release((id)q);
}

static _Atomic(dispatch_ingot_guard) guard_now;

void dispatch_ingot_set_guard(dispatch_ingot_guard guard) { atomic_store(&guard_now, guard); }

void dispatch_ingot_guarded(dispatch_function_t function, void *context, const char *where) {
    dispatch_ingot_guard guard = atomic_load_explicit(&guard_now, memory_order_acquire);
    if (guard)
        guard(function, context, where);
    else
        function(context);
}

static void call(Work *work) {
    Queue *outer = current;
    current = work->queue;
    void *pool = objc_autoreleasePoolPush();
    dispatch_ingot_guarded(work->function, work->context, work->queue->label);
    objc_autoreleasePoolPop(pool);
    current = outer;
}

void work_run(Work *work) {
    SyncWait *sync = work->sync;
    call(work);
    finished(work);
    if (sync) { // of the main queue: somebody waits for its end; the work is that thread's
        pthread_mutex_lock(&sync->lock);
        sync->turn = true;
        pthread_cond_signal(&sync->changed);
        pthread_mutex_unlock(&sync->lock);
    } else
        free(work);
}

// ---- async, sync, apply ----

static bool inside(const Queue *q) { // this thread runs a work of q
    return current == q || (q->is_main && pthread_equal(pthread_self(), main_thread));
}

// A work on the thread that waited for its turn. What it throws is the caller's, as on a Mac: the
// queue goes on by then.
typedef struct Here {
    Work *work;
    Queue *outer;
} Here;

static void leave(Here *here) {
    current = here->outer;
    finished(here->work);
    free(here->work);
}

static void call_here(Work *work) {
    Here here __attribute__((cleanup(leave))) = {work, current};
    current = work->queue;
    work->function(work->context);
}

static void sync_work(Queue *q, void *context, dispatch_function_t function, bool barrier) {
    if (!q) dispatch_fatal("a NULL queue");
    if (q->serial && inside(q))
        dispatch_fatal("dispatch_sync on the serial queue that this thread is running: it would "
                       "wait for ever");
    if (q->is_global) {
        function(context);
        return;
    }
    SyncWait wait = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    Work *work = work_new(q, function, context, barrier);
    work->sync = &wait;
    bool is_main = q->is_main;
    queue_push(q, work);
    pthread_mutex_lock(&wait.lock);
    while (!wait.turn) pthread_cond_wait(&wait.changed, &wait.lock);
    pthread_mutex_unlock(&wait.lock);
    pthread_mutex_destroy(&wait.lock), pthread_cond_destroy(&wait.changed);
    if (is_main)
        free(work);
    else
        call_here(work);
}

void dispatch_async_f(Queue *q, void *context, dispatch_function_t f) {
    queue_push(q, work_new(q, f, context, false));
}
void dispatch_barrier_async_f(Queue *q, void *context, dispatch_function_t f) {
    queue_push(q, work_new(q, f, context, true));
}
void dispatch_sync_f(Queue *q, void *context, dispatch_function_t f) {
    sync_work(q, context, f, false);
}
void dispatch_async_and_wait_f(Queue *q, void *context, dispatch_function_t f) {
    sync_work(q, context, f, false);
}
void dispatch_barrier_sync_f(Queue *q, void *context, dispatch_function_t f) {
    sync_work(q, context, f, true);
}

OBJC_EXPORT void dispatch_async(Queue *q, void *block);
OBJC_EXPORT void dispatch_barrier_async(Queue *q, void *block);
OBJC_EXPORT void dispatch_sync(Queue *q, void *block);
OBJC_EXPORT void dispatch_async_and_wait(Queue *q, void *block);
OBJC_EXPORT void dispatch_barrier_sync(Queue *q, void *block);
OBJC_EXPORT void dispatch_apply(size_t n, Queue *q, void *block);
void dispatch_async(Queue *q, void *block) {
    dispatch_async_f(q, block_kept(block), block_call_and_release);
}
void dispatch_barrier_async(Queue *q, void *block) {
    dispatch_barrier_async_f(q, block_kept(block), block_call_and_release);
}
void dispatch_sync(Queue *q, void *block) { sync_work(q, block, block_call, false); }
void dispatch_async_and_wait(Queue *q, void *block) { sync_work(q, block, block_call, false); }
void dispatch_barrier_sync(Queue *q, void *block) { sync_work(q, block, block_call, true); }

typedef struct Apply {
    atomic_size_t next, helpers; // helpers: threads that are still in it, with this one
    size_t n;
    void *context;
    void (*work)(void *, size_t);
    SyncWait done;
} Apply;

typedef struct ApplyOne {
    const Apply *all;
    size_t i;
} ApplyOne;

static void apply_one(void *p) {
    ApplyOne *one = p;
    one->all->work(one->all->context, one->i);
}

static void apply_some(void *p) {
    Apply *a = p;
    for (size_t i; (i = atomic_fetch_add(&a->next, 1)) < a->n;)
        dispatch_ingot_guarded(apply_one, &(ApplyOne){a, i}, "dispatch_apply");
    if (atomic_fetch_sub(&a->helpers, 1) != 1) return;
    pthread_mutex_lock(&a->done.lock);
    a->done.turn = true;
    pthread_cond_signal(&a->done.changed);
    pthread_mutex_unlock(&a->done.lock);
}

void dispatch_apply_f(size_t n, Queue *q, void *context, void (*work)(void *, size_t)) {
    size_t helpers = pool_processors();
    if (q && q->serial && inside(q))
        dispatch_fatal("dispatch_apply on the serial queue that this thread is running: it would "
                       "wait for ever");
    if (helpers > n) helpers = n;
    if (q && q->serial) helpers = 1;
    if (!n) return;
    Apply a = {.n = n, .context = context, .work = work};
    a.done = (SyncWait){.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    atomic_init(&a.helpers, helpers);
    if (q && q->serial) {
        dispatch_sync_f(q, &a, apply_some);
        return;
    }
    for (size_t i = 1; i < helpers; i++)
        dispatch_async_f(q ? q : dispatch_get_global_queue(0, 0), &a, apply_some);
    apply_some(&a);
    pthread_mutex_lock(&a.done.lock);
    while (!a.done.turn) pthread_cond_wait(&a.done.changed, &a.done.lock);
    pthread_mutex_unlock(&a.done.lock);
}
static void call_block_at(void *block, size_t i) {
    struct {
        void *isa;
        int flags, reserved;
        void (*invoke)(void *block, size_t i);
    } *b = block;
    b->invoke(block, i);
}
void dispatch_apply(size_t n, Queue *q, void *block) {
    dispatch_apply_f(n, q, block, call_block_at);
}

// ---- Queues as objects ----

static void queue_init(Queue *q, const char *label, bool serial) {
    q->label = strdup(label ? label : "");
    q->serial = serial;
    pthread_mutex_init(&q->lock, NULL);
}

Queue *dispatch_queue_create_with_target(const char *label, dispatch_queue_attr_t attributes,
                                         Queue *target) {
    bool concurrent = (void *)attributes == (void *)&_dispatch_queue_attr_concurrent;
    Queue *q = dispatch_new(concurrent ? dispatch_classes.concurrent : dispatch_classes.serial,
                            sizeof(Queue));
    queue_init(q, label, !concurrent);
    if (target) q->target = (Queue *)objc_retain((id)target);
    return q;
}
Queue *dispatch_queue_create(const char *label, dispatch_queue_attr_t attributes) {
    return dispatch_queue_create_with_target(label, attributes, NULL);
}
dispatch_queue_attr_t dispatch_queue_attr_make_with_qos_class(dispatch_queue_attr_t a,
                                                              dispatch_qos_class_t qos,
                                                              int priority) {
    (void)qos, (void)priority;
    return a;
}
dispatch_queue_attr_t dispatch_queue_attr_make_with_autorelease_frequency(dispatch_queue_attr_t a,
                                                                          unsigned long frequency) {
    (void)frequency;
    return a;
}
void dispatch_set_target_queue(dispatch_object_t object, Queue *target) {
    Queue *q = object, *old;
    if (q->is_global || q->is_main) return;
    pthread_mutex_lock(&q->lock);
    old = q->target;
    q->target = (Queue *)objc_retain((id)target);
    pthread_mutex_unlock(&q->lock);
    objc_release((id)old);
}

Queue *dispatch_get_main_queue(void) { return &_dispatch_main_q; }
Queue *dispatch_get_global_queue(intptr_t identifier, uintptr_t flags) {
    (void)flags;
    static const short classes[] = {QOS_CLASS_BACKGROUND, QOS_CLASS_UTILITY, QOS_CLASS_DEFAULT,
                                    QOS_CLASS_USER_INITIATED, QOS_CLASS_USER_INTERACTIVE};
    static const short priorities[] = {DISPATCH_QUEUE_PRIORITY_BACKGROUND,
                                       DISPATCH_QUEUE_PRIORITY_LOW, DISPATCH_QUEUE_PRIORITY_DEFAULT,
                                       DISPATCH_QUEUE_PRIORITY_HIGH, 0x7fff};
    for (int i = 0; i < 5; i++)
        if (identifier == classes[i] || identifier == priorities[i]) return &global_queues[i];
    return NULL; // no such class
}
const char *dispatch_queue_get_label(Queue *q) {
    if (!q)
        q = current                                      ? current
            : pthread_equal(pthread_self(), main_thread) ? &_dispatch_main_q
                                                         : NULL;
    return q ? q->label : "";
}

void dispatch_suspend(dispatch_object_t object) {
    Queue *q = object;
    pthread_mutex_lock(&q->lock);
    q->suspended++;
    pthread_mutex_unlock(&q->lock);
}
void dispatch_resume(dispatch_object_t object) {
    Queue *q = object;
    pthread_mutex_lock(&q->lock);
    if (!q->suspended) dispatch_fatal("dispatch_resume without dispatch_suspend");
    q->suspended--;
    pthread_mutex_unlock(&q->lock);
    hand_out(q);
}

void dispatch_queue_set_specific(Queue *q, const void *key, void *value,
                                 dispatch_function_t destructor) {
    pthread_mutex_lock(&q->lock);
    Specific *s = q->specifics;
    while (s && s->key != key) s = s->next;
    Specific old = s ? *s : (Specific){0};
    if (!s && value) {
        s = dispatch_alloc(sizeof *s);
        s->next = q->specifics, q->specifics = s;
    }
    if (s) s->key = key, s->value = value, s->destructor = destructor;
    pthread_mutex_unlock(&q->lock);
    if (old.destructor && old.value) old.destructor(old.value);
}
void *dispatch_queue_get_specific(Queue *q, const void *key) {
    if (!q) return NULL;
    pthread_mutex_lock(&q->lock);
    Specific *s = q->specifics;
    while (s && s->key != key) s = s->next;
    void *value = s ? s->value : NULL;
    pthread_mutex_unlock(&q->lock);
    return value;
}
void *dispatch_get_specific(const void *key) {
    void *value = NULL;
    Queue *q = current                                      ? current
               : pthread_equal(pthread_self(), main_thread) ? &_dispatch_main_q
                                                            : NULL;
    for (; q && !value; q = q->target) value = dispatch_queue_get_specific(q, key);
    return value;
}
void dispatch_assert_queue(Queue *q) {
    if (!inside(q)) dispatch_fatal("dispatch_assert_queue: this thread runs no work of the queue");
}

// dealloc: works hold their queue, so none is left.
static void queue_dealloc(id self, SEL name) {
    Queue *q = (Queue *)self;
    for (Specific *s = q->specifics, *next; s; s = next) {
        next = s->next;
        if (s->destructor && s->value) s->destructor(s->value);
        free(s);
    }
    if (q->head.finalizer && q->head.context) q->head.finalizer(q->head.context);
    objc_release((id)q->target);
    pthread_mutex_destroy(&q->lock);
    free(q->label);
    (void)name;
    object_dispose(self);
}

// ---- The main queue ----

static pthread_mutex_t main_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t main_changed = PTHREAD_COND_INITIALIZER;
static WorkList main_ready;
static bool main_woken;

void main_queue_submit(Work *work) {
    pthread_mutex_lock(&main_lock);
    list_add(&main_ready, work);
    pthread_cond_signal(&main_changed);
    pthread_mutex_unlock(&main_lock);
}
void dispatch_ingot_wake_main(void) {
    pthread_mutex_lock(&main_lock);
    main_woken = true;
    pthread_cond_signal(&main_changed);
    pthread_mutex_unlock(&main_lock);
}
bool dispatch_ingot_run_main(dispatch_time_t limit) {
    bool ran = false;
    for (;;) {
        pthread_mutex_lock(&main_lock);
        while (!main_ready.first && !ran && !main_woken)
            if (wait_until(&main_changed, &main_lock, limit)) break;
        Work *work = list_take(&main_ready);
        main_woken = false;
        pthread_mutex_unlock(&main_lock);
        if (!work) return ran;
        work_run(work);
        ran = true;
    }
}
void dispatch_main(void) {
    for (;;) dispatch_ingot_run_main(DISPATCH_TIME_FOREVER);
}

__attribute__((constructor(103))) static void start(void) {
    static const char *const labels[5] = {
        "com.apple.root.background-qos", "com.apple.root.utility-qos", "com.apple.root.default-qos",
        "com.apple.root.user-initiated-qos", "com.apple.root.user-interactive-qos"};
    static const objc_ingot_method methods[] = {{"-dealloc", (IMP)queue_dealloc, "v16@0:8"},
                                                {NULL, NULL, NULL}};
    main_thread = pthread_self();
    dispatch_objects_start();
    objc_ingot_add_methods(dispatch_classes.queue, methods);
    _dispatch_main_q.head.isa = dispatch_classes.main;
    queue_init(&_dispatch_main_q, "com.apple.main-thread", true);
    _dispatch_main_q.is_main = true;
    for (int i = 0; i < 5; i++) {
        global_queues[i].head.isa = dispatch_classes.global;
        queue_init(&global_queues[i], labels[i], false);
        global_queues[i].is_global = true;
    }
    _dispatch_queue_attr_concurrent.head.isa = dispatch_classes.attributes;
}
