// SPDX-License-Identifier: Apache-2.0
// event.c: MTLEvent and MTLSharedEvent: the number, raising it, and waiting for it on the CPU.
#include "runtime/command/command_buffer.h"
#include "runtime/command/event.h"
#include <errno.h>
#include <time.h>
#include <unistd.h>
#include "runtime/object/device.h"
#include "runtime/object/validation.h"
#include "os/clock.h"
#include "os/futex.h"

#define WAIT_SPIN_NS 20000u

static void event_destroy(void *self) {
    MTLEvent *event = self;
    rt_event_end_watch(event);
    for (RtEventWaiter *w = event->waiters, *next; w; w = next) {
        next = w->next;
        if (w->dropped) w->dropped(w);
    }
    rt_event_release_page(event);
    pthread_mutex_destroy(&event->lock);
    rt_label_free(&event->label);
    mtl_release(event->device);
    rt_free(event);
}

static RT_CLASS event_class = {
    .name = "MTLEvent", .destroy = event_destroy, .label_at = offsetof(MTLEvent, label)};
static RT_CLASS shared_event_class = {
    .name = "MTLSharedEvent", .destroy = event_destroy, .label_at = offsetof(MTLEvent, label)};

bool rt_is_event(const void *object) {
    return rt_is(object, &event_class) || rt_is(object, &shared_event_class);
}

bool rt_is_shared_event(const void *object) { return rt_is(object, &shared_event_class); }

static MTLEvent *event_new(MTLDevice *device, const RtClass *cls) {
    MTLEvent *event = rt_new(cls, sizeof(MTLSharedEvent));
    if (!event) return NULL;
    event->device = mtl_retain(device);
    event->descriptor = -1;
    atomic_init(&event->state, &event->own);
    pthread_mutex_init(&event->lock, NULL);
    event->last_waiter = &event->waiters;
    return event;
}

MTLSharedEvent *rt_shared_event_new(MTLDevice *device) {
    return (MTLSharedEvent *)event_new(device, &shared_event_class);
}

bool rt_event_try_retain(MTLEvent *event) { return rt_retain_if_alive(&event->object); }

// ---- The number ----

uint64_t rt_event_value(const MTLEvent *event) { return atomic_load(&event->state)->value; }

void rt_event_announce(MTLEvent *event, RtEventState *state) {
    atomic_fetch_add(&state->changes, 1);
    if (state != &event->own || atomic_load(&event->sleepers) > 0)
        os_futex_wake_shared(&state->changes);
}

static RtEventWaiter *take_reached(MTLEvent *event) { // lock held
    uint64_t value = rt_event_value(event);
    RtEventWaiter *reached = NULL, **last = &reached;
    for (RtEventWaiter **at = &event->waiters; *at;) {
        RtEventWaiter *w = *at;
        if (w->value > value) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        *last = w;
        last = &w->next;
    }
    *last = NULL;
    event->last_waiter = &event->waiters;
    while (*event->last_waiter) event->last_waiter = &(*event->last_waiter)->next;
    return reached;
}

void rt_event_serve(MTLEvent *event) {
    pthread_mutex_lock(&event->lock);
    RtEventWaiter *reached = take_reached(event);
    pthread_mutex_unlock(&event->lock);
    for (RtEventWaiter *w = reached, *next; w; w = next) {
        next = w->next; // it may be gone once it was told
        w->reached(w, event);
    }
}

void rt_event_signal(MTLEvent *event, uint64_t value) {
    // Under the lock: the number must not move to a shared page meanwhile.
    pthread_mutex_lock(&event->lock);
    RtEventState *state = atomic_load(&event->state);
    uint64_t old = atomic_load(&state->value);
    while (old < value && !atomic_compare_exchange_weak(&state->value, &old, value)) continue;
    MTLCommandBuffer *signaller = NULL;
    if (event->signaller && event->signaller_value <= value) {
        signaller = event->signaller;
        event->signaller = NULL;
    }
    pthread_mutex_unlock(&event->lock);
    if (old < value) {
        rt_event_announce(event, state);
        rt_event_serve(event);
    }
    mtl_release(signaller); // it holds the event
}

void rt_event_expect(MTLEvent *event, uint64_t value, MTLCommandBuffer *signaller) {
    pthread_mutex_lock(&event->lock);
    MTLCommandBuffer *old = NULL;
    if (rt_event_value(event) < value) {
        old = event->signaller;
        event->signaller = mtl_retain(signaller);
        event->signaller_value = value;
    }
    pthread_mutex_unlock(&event->lock);
    mtl_release(old);
}

// The work that will raise the event to the value, if it is known, is done here where nobody else
// has begun it: two threads less to wake. Only for those who wait for ever: work has no time limit.
static void help(MTLEvent *event, uint64_t value) {
    pthread_mutex_lock(&event->lock);
    MTLCommandBuffer *signaller =
        event->signaller_value == value ? mtl_retain(event->signaller) : NULL;
    pthread_mutex_unlock(&event->lock);
    if (signaller) rt_queue_help(signaller->queue, signaller);
    mtl_release(signaller);
}

RtEventWait rt_event_wait(MTLEvent *event, RtEventWaiter *waiter) {
    pthread_mutex_lock(&event->lock);
    RtEventWait result = RT_EVENT_PENDING;
    if (rt_event_value(event) >= waiter->value) {
        result = RT_EVENT_REACHED;
    } else {
        waiter->next = NULL;
        *event->last_waiter = waiter;
        event->last_waiter = &waiter->next;
    }
    bool watched = result == RT_EVENT_REACHED || atomic_load(&event->state) == &event->own ||
                   rt_event_watch(event);
    pthread_mutex_unlock(&event->lock);
    if (!watched) return rt_event_forget(event, waiter) ? RT_EVENT_NO_THREAD : RT_EVENT_PENDING;
    return result;
}

bool rt_event_forget(MTLEvent *event, RtEventWaiter *waiter) {
    pthread_mutex_lock(&event->lock);
    RtEventWaiter **at = &event->waiters;
    while (*at && *at != waiter) at = &(*at)->next;
    bool found = *at != NULL;
    if (found) {
        *at = waiter->next;
        if (event->last_waiter == &waiter->next) event->last_waiter = at;
    }
    pthread_mutex_unlock(&event->lock);
    return found;
}

// ---- Public: both classes ----

static bool present(const void *event, const RtClass *cls, const char *call) {
    if (rt_is(event, cls) || (cls == &event_class && rt_is(event, &shared_event_class)))
        return true;
    rt_misuse(NULL, event ? RT_RULE_wrong_class : RT_RULE_null_object, call, "%s",
              mtl_class_name(event));
    return false;
}

static MTLEvent *new_event(MTLDevice *device, const RtClass *cls, const char *call) {
    if (device) return event_new(device, cls);
    rt_misuse(NULL, RT_RULE_null_object, call, NULL);
    return NULL;
}

MTLEvent *mtl_device_new_event(MTLDevice *device) {
    return new_event(device, &event_class, __func__);
}

MTLSharedEvent *mtl_device_new_shared_event(MTLDevice *device) {
    return (MTLSharedEvent *)new_event(device, &shared_event_class, __func__);
}

uint64_t mtl_shared_event_signaled_value(const MTLSharedEvent *event) {
    return present(event, &shared_event_class, __func__) ? rt_event_value(&event->event) : 0;
}

void mtl_shared_event_set_signaled_value(MTLSharedEvent *event, uint64_t value) {
    if (!present(event, &shared_event_class, __func__)) return;
    mtl_retain(event); // whoever waits for the value may release the event at once
    rt_event_signal(&event->event, value);
    mtl_release(event);
}

// Sleeps while *word is `seen`, until the moment at most. False: the moment has come.
static bool sleep_on(atomic_uint *word, unsigned seen, uint64_t until_ns) {
    struct timespec left, *limit = NULL;
    if (until_ns != UINT64_MAX) {
        uint64_t now = os_now_ns();
        if (now >= until_ns) return false;
        left = (struct timespec){(time_t)((until_ns - now) / 1000000000u),
                                 (long)((until_ns - now) % 1000000000u)};
        limit = &left;
    }
    os_futex_wait_shared(word, seen, limit); // it may lie on a page that processes share
    return true;
}

bool mtl_shared_event_wait_until_signaled_value(MTLSharedEvent *shared, uint64_t value,
                                                uint64_t timeout_ms) {
    if (!present(shared, &shared_event_class, __func__)) return false;
    MTLEvent *event = &shared->event;
    uint64_t now = os_now_ns();
    uint64_t until =
        timeout_ms > (UINT64_MAX - now) / 1000000u ? UINT64_MAX : now + timeout_ms * 1000000u;
    if (timeout_ms == UINT64_MAX && rt_event_value(event) < value) help(event, value);
    // What comes at once is not worth a sleep.
    for (uint64_t t = now; t < until && t - now < WAIT_SPIN_NS; t = os_now_ns())
        for (int i = 0; i < 64; i++, os_relax())
            if (rt_event_value(event) >= value) return true;
    atomic_fetch_add(&event->sleepers, 1);
    bool reached, in_time = true;
    for (;;) {
        RtEventState *state = atomic_load(&event->state); // moves at most once, to the shared page
        unsigned seen = atomic_load(&state->changes);
        reached = atomic_load(&state->value) >= value;
        if (reached || !in_time) break;
        in_time = sleep_on(&state->changes, seen, until);
    }
    atomic_fetch_sub(&event->sleepers, 1);
    return reached;
}

#include "accessors/command/event.inc" // plain accessors, from the table
