// SPDX-License-Identifier: Apache-2.0
// event_listener.c: MTLSharedEventListener: handlers that are called when an event reaches a value.
// The thread that raises the event only puts a note on the listener's list: handlers run on the
// listener's thread, or where the program's dispatch function has them run.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include "runtime/command/event.h"
#include "runtime/object/leaks.h"
#include "runtime/object/validation.h"
#include "os/thread.h"

typedef struct Note { // a notification
    RtEventWaiter waiter;
    struct Note *next;
    MTLSharedEvent *event;            // retained from the moment its value is reached
    MTLSharedEventListener *listener; // retained
    MTLSharedEventNotificationHandler handler;
    void *context;
} Note;

// The thread and its list outlive the listener: the last reference may be dropped in a handler.
typedef struct Mailbox {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    Note *first, **last;
    bool closed;
    pid_t thread_of; // the process in which the thread was started; 0: not yet
} Mailbox;

struct MTLSharedEventListener {
    RtObject object;
    Mailbox *mailbox;
    MTLSharedEventDispatch dispatch; // NULL: on the own thread
    void *context;
};

static void mailbox_free(Mailbox *mailbox) {
    pthread_mutex_destroy(&mailbox->lock);
    pthread_cond_destroy(&mailbox->changed);
    rt_free(mailbox);
}

static void listener_destroy(void *self) {
    MTLSharedEventListener *listener = self;
    Mailbox *mailbox = listener->mailbox;
    pthread_mutex_lock(&mailbox->lock);
    bool threaded = mailbox->thread_of == getpid();
    mailbox->closed = true; // its list is empty: each note holds the listener
    pthread_cond_signal(&mailbox->changed);
    pthread_mutex_unlock(&mailbox->lock);
    if (!threaded) mailbox_free(mailbox);
    rt_free(listener);
}

static RT_CLASS listener_class = {.name = "MTLSharedEventListener", .destroy = listener_destroy};

static void call_handler(void *item) {
    Note *note = item;
    note->handler(note->event, rt_event_value(&note->event->event), note->context);
    mtl_release(note->event);
    mtl_release(note->listener);
    rt_free(note);
}

static void *serve(void *argument) {
    Mailbox *mailbox = argument;
    pthread_mutex_lock(&mailbox->lock);
    for (;;) {
        Note *note = mailbox->first;
        if (note) {
            mailbox->first = note->next;
            if (!mailbox->first) mailbox->last = &mailbox->first;
            pthread_mutex_unlock(&mailbox->lock);
            const MTLSharedEventListener *listener = note->listener;
            if (listener->dispatch)
                listener->dispatch(call_handler, note, listener->context);
            else
                call_handler(note);
            pthread_mutex_lock(&mailbox->lock);
        } else if (mailbox->closed) {
            break;
        } else {
            pthread_cond_wait(&mailbox->changed, &mailbox->lock);
        }
    }
    pthread_mutex_unlock(&mailbox->lock);
    mailbox_free(mailbox);
    return NULL;
}

static bool start_thread(Mailbox *mailbox) { // at the first notification
    pthread_mutex_lock(&mailbox->lock);
    bool ok = mailbox->thread_of == getpid();
    if (!ok) {
        pthread_t thread;
        ok = os_thread_start(&thread, serve, mailbox);
        if (ok) pthread_detach(thread);
        if (ok) mailbox->thread_of = getpid();
    }
    pthread_mutex_unlock(&mailbox->lock);
    return ok;
}

// ---- From the event ----

static void drop(RtEventWaiter *waiter) {
    Note *note = (Note *)waiter;
    mtl_release(note->listener);
    rt_free(note);
}

static void post(RtEventWaiter *waiter, MTLEvent *event) {
    Note *note = (Note *)waiter;
    if (!rt_event_try_retain(event)) { // the watcher saw it while the event goes
        drop(waiter);
        return;
    }
    note->event = (MTLSharedEvent *)event;
    Mailbox *mailbox = note->listener->mailbox;
    pthread_mutex_lock(&mailbox->lock);
    note->next = NULL;
    *mailbox->last = note;
    mailbox->last = &note->next;
    pthread_cond_signal(&mailbox->changed);
    pthread_mutex_unlock(&mailbox->lock);
}

// ---- Public ----

MTLSharedEventListener *mtl_shared_event_listener_new_with_dispatch(MTLSharedEventDispatch dispatch,
                                                                    void *context) {
    MTLSharedEventListener *listener = rt_new(&listener_class, sizeof *listener);
    Mailbox *mailbox = rt_alloc(sizeof *mailbox);
    if (!listener || !mailbox) {
        rt_free(mailbox);
        rt_free(listener);
        return NULL;
    }
    pthread_mutex_init(&mailbox->lock, NULL);
    pthread_cond_init(&mailbox->changed, NULL);
    mailbox->last = &mailbox->first;
    listener->mailbox = mailbox;
    listener->dispatch = dispatch;
    listener->context = context;
    return listener;
}

MTLSharedEventListener *mtl_shared_event_listener_new(void) {
    return mtl_shared_event_listener_new_with_dispatch(NULL, NULL);
}

MTLSharedEventListener *mtl_shared_event_listener_shared_listener(void) {
    static MTLSharedEventListener *_Atomic shared; // lives as long as the process
    MTLSharedEventListener *listener = atomic_load(&shared), *mine = NULL;
    if (listener || !(mine = mtl_shared_event_listener_new())) return listener;
    if (!atomic_compare_exchange_strong(&shared, &listener, mine)) { // another thread was faster
        mtl_release(mine);
        return listener;
    }
    if (rt_leaks_wanted()) rt_leaks_died(&mine->object); // meant to stay
    return mine;
}

void mtl_shared_event_notify_listener(MTLSharedEvent *event, MTLSharedEventListener *listener,
                                      uint64_t value, MTLSharedEventNotificationHandler handler,
                                      void *context) {
    MTLDevice *device = mtl_shared_event_device(event);
    if (!rt_is_shared_event(event)) {
        rt_misuse(NULL, event ? RT_RULE_wrong_class : RT_RULE_null_object, __func__, NULL);
        return;
    }
    if (!listener || !handler) {
        rt_misuse(device, RT_RULE_null_argument, __func__, "%s", listener ? "handler" : "listener");
        return;
    }
    if (!rt_is(listener, &listener_class)) {
        rt_misuse(device, RT_RULE_wrong_class, __func__, "listener: a %s",
                  mtl_class_name(listener));
        return;
    }
    Note *note = rt_alloc(sizeof *note);
    if (!note || !start_thread(listener->mailbox)) {
        rt_misuse(device, RT_RULE_notification_no_memory, __func__, NULL);
        rt_free(note);
        return;
    }
    *note = (Note){.waiter = {.value = value, .reached = post, .dropped = drop},
                   .listener = mtl_retain(listener),
                   .handler = handler,
                   .context = context};
    switch (rt_event_wait(&event->event, &note->waiter)) {
    case RT_EVENT_REACHED: post(&note->waiter, &event->event); break;
    case RT_EVENT_PENDING: break;
    case RT_EVENT_NO_THREAD:
        rt_misuse(device, RT_RULE_notification_no_memory, __func__, NULL);
        drop(&note->waiter);
        break;
    }
}
