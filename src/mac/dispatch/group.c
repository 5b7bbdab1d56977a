// SPDX-License-Identifier: Apache-2.0
// group.c: groups of works, and semaphores.
#include "mac/dispatch/dispatch_int.h"
#include <objc/objc-arc.h>
#include <stdlib.h>

struct dispatch_group_s {
    DispatchHead head;
    pthread_mutex_t lock;
    pthread_cond_t empty;
    size_t n; // works that are in it; while there are some, the group holds itself
    WorkList notifies;
};
typedef struct dispatch_group_s Group;

static void group_dealloc(id self, SEL name) {
    Group *g = (Group *)self;
    pthread_mutex_destroy(&g->lock), pthread_cond_destroy(&g->empty);
    (void)name;
    object_dispose(self);
}

Group *dispatch_group_create(void) {
    Group *g = dispatch_new(dispatch_classes.group, sizeof(Group));
    pthread_mutex_init(&g->lock, NULL), pthread_cond_init(&g->empty, NULL);
    return g;
}
void dispatch_group_enter(Group *g) {
    pthread_mutex_lock(&g->lock);
    bool first = !g->n++;
    pthread_mutex_unlock(&g->lock);
    if (first) objc_retain((id)g);
}
void group_leave(Group *g) {
    WorkList notifies = {0};
    pthread_mutex_lock(&g->lock);
    if (!g->n) dispatch_fatal("dispatch_group_leave without dispatch_group_enter");
    bool last = !--g->n;
    if (last) {
        notifies = g->notifies;
        if (notifies.first == NULL) notifies.last = NULL;
        g->notifies = (WorkList){0};
        pthread_cond_broadcast(&g->empty);
    }
    pthread_mutex_unlock(&g->lock);
    for (Work *work = notifies.first, *next; work; work = next) {
        next = work->next;
        queue_push(work->queue, work);
    }
    if (last) objc_release((id)g);
}
void dispatch_group_leave(Group *g) { group_leave(g); }

intptr_t dispatch_group_wait(Group *g, dispatch_time_t limit) {
    if (limit == DISPATCH_TIME_NOW) limit = dispatch_time(DISPATCH_TIME_NOW, 0);
    int late = 0;
    pthread_mutex_lock(&g->lock);
    while (g->n && !late) late = wait_until(&g->empty, &g->lock, limit);
    late = g->n != 0;
    pthread_mutex_unlock(&g->lock);
    return late;
}
void dispatch_group_async_f(Group *g, Queue *q, void *context, dispatch_function_t function) {
    Work *work = work_new(q, function, context, false);
    dispatch_group_enter(g);
    work->group = g;
    queue_push(q, work);
}
void dispatch_group_notify_f(Group *g, Queue *q, void *context, dispatch_function_t function) {
    Work *work = work_new(q, function, context, false);
    pthread_mutex_lock(&g->lock);
    bool now = !g->n;
    if (!now) list_add(&g->notifies, work);
    pthread_mutex_unlock(&g->lock);
    if (now) queue_push(q, work);
}
OBJC_EXPORT void dispatch_group_async(Group *g, Queue *q, void *block);
OBJC_EXPORT void dispatch_group_notify(Group *g, Queue *q, void *block);
void dispatch_group_async(Group *g, Queue *q, void *block) {
    dispatch_group_async_f(g, q, block_kept(block), block_call_and_release);
}
void dispatch_group_notify(Group *g, Queue *q, void *block) {
    dispatch_group_notify_f(g, q, block_kept(block), block_call_and_release);
}

// ---- Semaphores ----

struct dispatch_semaphore_s {
    DispatchHead head;
    pthread_mutex_t lock;
    pthread_cond_t raised;
    intptr_t value;
    size_t waiting;
};
typedef struct dispatch_semaphore_s Semaphore;

static void semaphore_dealloc(id self, SEL name) {
    Semaphore *s = (Semaphore *)self;
    pthread_mutex_destroy(&s->lock), pthread_cond_destroy(&s->raised);
    (void)name;
    object_dispose(self);
}
Semaphore *dispatch_semaphore_create(intptr_t value) {
    if (value < 0) return NULL;
    Semaphore *s = dispatch_new(dispatch_classes.semaphore, sizeof(Semaphore));
    pthread_mutex_init(&s->lock, NULL), pthread_cond_init(&s->raised, NULL);
    s->value = value;
    return s;
}
intptr_t dispatch_semaphore_wait(Semaphore *s, dispatch_time_t limit) {
    if (limit == DISPATCH_TIME_NOW) limit = dispatch_time(DISPATCH_TIME_NOW, 0);
    int late = 0;
    pthread_mutex_lock(&s->lock);
    s->waiting++;
    while (s->value <= 0 && !late) late = wait_until(&s->raised, &s->lock, limit);
    s->waiting--;
    late = s->value <= 0;
    if (!late) s->value--;
    pthread_mutex_unlock(&s->lock);
    return late;
}
intptr_t dispatch_semaphore_signal(Semaphore *s) { // 1: a thread was woken
    pthread_mutex_lock(&s->lock);
    s->value++;
    bool woken = s->waiting > 0;
    pthread_cond_signal(&s->raised);
    pthread_mutex_unlock(&s->lock);
    return woken;
}

__attribute__((constructor(104))) static void start(void) {
    static const objc_ingot_method group[] = {{"-dealloc", (IMP)group_dealloc, "v16@0:8"},
                                              {NULL, NULL, NULL}};
    static const objc_ingot_method semaphore[] = {{"-dealloc", (IMP)semaphore_dealloc, "v16@0:8"},
                                                  {NULL, NULL, NULL}};
    objc_ingot_add_methods(dispatch_classes.group, group);
    objc_ingot_add_methods(dispatch_classes.semaphore, semaphore);
}
