// SPDX-License-Identifier: Apache-2.0
// event.h: MTLEvent and MTLSharedEvent: a number that grows, and those who wait for it.
//
// The number and its futex word lie in the object, or, once a handle exists, on a page that
// processes share (event_handle.c). Whoever raises the number in this process serves this process's
// waiters; what other processes do is seen by a thread that watches the page while somebody waits.
#ifndef INGOT_RUNTIME_EVENT_H
#define INGOT_RUNTIME_EVENT_H
#include <sys/types.h>
#include "runtime/object/object.h"

#define RT_EVENT_MAGIC 0x746e6576746f676eu // "ngotvent"
#define RT_EVENT_VERSION 1u

typedef struct RtEventState { // the format of the shared page
    uint64_t magic;
    uint32_t version, n_bytes;
    uint64_t id[2]; // random
    char label[64];
    _Atomic uint64_t value;
    atomic_uint changes; // counts raises and other reasons to look again; the futex word
} RtEventState;

// Somebody who is to be told. Both functions are called once at most, with no lock held.
typedef struct RtEventWaiter {
    struct RtEventWaiter *next;
    uint64_t value;
    void (*reached)(struct RtEventWaiter *waiter, MTLEvent *event);
    void (*dropped)(struct RtEventWaiter *waiter); // the event goes; NULL: it holds a reference
} RtEventWaiter;

struct MTLEvent {
    RtObject object;
    MTLDevice *device; // retained
    RtLabel label;
    RtEventState own;
    RtEventState *_Atomic state; // &own, or a page of shared memory
    int descriptor;              // of that page; -1: none. Under lock.
    atomic_uint sleepers;        // CPU threads asleep in this process
    pthread_mutex_t lock;
    RtEventWaiter *waiters, **last_waiter; // under lock
    bool closing;                          // under lock
    // The committed work that will raise the number to this value, so that who waits for exactly
    // that can help with it; retained until the number is there. Under lock
    MTLCommandBuffer *signaller;
    uint64_t signaller_value;
    bool watched; // by `watcher`, a thread of process watcher_pid
    pthread_t watcher;
    pid_t watcher_pid;
};

struct MTLSharedEvent {
    MTLEvent event;
};

bool rt_is_event(const void *object); // of either class
bool rt_is_shared_event(const void *object);
MTLSharedEvent *rt_shared_event_new(MTLDevice *device);
uint64_t rt_event_value(const MTLEvent *event);
void rt_event_signal(MTLEvent *event, uint64_t value);
// Says which committed command buffer will signal the value.
void rt_event_expect(MTLEvent *event, uint64_t value, MTLCommandBuffer *signaller);
typedef enum RtEventWait { RT_EVENT_REACHED, RT_EVENT_PENDING, RT_EVENT_NO_THREAD } RtEventWait;
// REACHED: now, or already: the waiter is not needed. PENDING: it will be told.
RtEventWait rt_event_wait(MTLEvent *event, RtEventWaiter *waiter);
// Takes a waiter back. False: it was told, or is being told.
bool rt_event_forget(MTLEvent *event, RtEventWaiter *waiter);
// Takes a reference unless the last one is gone.
bool rt_event_try_retain(MTLEvent *event);

// event_handle.c
bool rt_event_watch(MTLEvent *event); // lock held: sees to it that a thread watches the page
void rt_event_end_watch(MTLEvent *event);
void rt_event_release_page(MTLEvent *event);

// event.c, for event_handle.c: serves those whose value is reached.
void rt_event_serve(MTLEvent *event);
void rt_event_announce(MTLEvent *event, RtEventState *state); // wakes sleepers and watchers
#endif
