// SPDX-License-Identifier: Apache-2.0
// event_handle.c: shared events across processes. The number moves to a page of a shared file
// (object/shared_file.h); a handle is a descriptor of that file. What a foreign process writes
// there is a number and a count, nothing that is trusted further.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "runtime/object/error.h"
#include "runtime/object/shared_file.h"
#include "runtime/command/event.h"
#include "runtime/object/validation.h"
#include "os/futex.h"
#include "os/thread.h"

#define PAGE_BYTES 4096u
#define KIND "event"

struct MTLSharedEventHandle {
    RtSharedHandle base;
};
_Static_assert(sizeof((RtEventState *)0)->label == sizeof((RtSharedHandle *)0)->label,
               "one length");

static RT_CLASS handle_class = {.name = "MTLSharedEventHandle",
                                .destroy = rt_shared_handle_destroy};

// ---- The page ----

static RtEventState *map_page(int descriptor) {
    void *page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return page == MAP_FAILED ? NULL : page;
}

// A new sealed page with a number on it. NULL: errno says why.
static RtEventState *create_page(uint64_t value, const char *label, int *descriptor) {
    uint64_t id[2];
    int fd = rt_shared_file_new(KIND, PAGE_BYTES, id);
    RtEventState *page = fd < 0 ? NULL : map_page(fd);
    if (!page) {
        if (fd >= 0) close(fd);
        return NULL;
    }
    memcpy(page->id, id, sizeof page->id);
    page->magic = RT_EVENT_MAGIC;
    page->version = RT_EVENT_VERSION;
    page->n_bytes = PAGE_BYTES;
    snprintf(page->label, sizeof page->label, "%s", label);
    atomic_init(&page->value, value);
    *descriptor = fd;
    return page;
}

// Maps a descriptor of unknown origin if it is one of ours; NULL and why not.
static RtEventState *open_page(int descriptor, const char **why) {
    off_t n;
    if (!rt_shared_file_check(KIND, descriptor, &n, why) || n != PAGE_BYTES) return NULL;
    RtEventState *page = map_page(descriptor);
    if (!page) {
        *why = "it cannot be mapped";
        return NULL;
    }
    if (page->magic == RT_EVENT_MAGIC && page->version == RT_EVENT_VERSION &&
        page->n_bytes == PAGE_BYTES)
        return page;
    munmap(page, PAGE_BYTES);
    return NULL;
}

void rt_event_release_page(MTLEvent *event) {
    RtEventState *state = atomic_load(&event->state);
    if (state != &event->own) munmap(state, PAGE_BYTES);
    if (event->descriptor >= 0) close(event->descriptor);
}

// ---- Watching it ----

static void *watch(void *argument) {
    MTLEvent *event = argument; // joins this thread before it goes
    for (;;) {
        RtEventState *state = atomic_load(&event->state);
        unsigned seen = atomic_load(&state->changes);
        pthread_mutex_lock(&event->lock);
        bool closing = event->closing;
        pthread_mutex_unlock(&event->lock);
        if (closing) return NULL;
        rt_event_serve(event);
        os_futex_wait_shared(&state->changes, seen, NULL);
    }
}

bool rt_event_watch(MTLEvent *event) {
    if (event->watched && event->watcher_pid == getpid()) return true;
    event->watched = os_thread_start(&event->watcher, watch, event);
    event->watcher_pid = getpid();
    return event->watched;
}

void rt_event_end_watch(MTLEvent *event) {
    pthread_mutex_lock(&event->lock);
    event->closing = true;
    pthread_mutex_unlock(&event->lock);
    if (!event->watched || event->watcher_pid != getpid()) return;
    rt_event_announce(event, atomic_load(&event->state));
    pthread_join(event->watcher, NULL);
}

// ---- Handles ----

static MTLSharedEventHandle *handle_new(int descriptor, const RtEventState *page) {
    return rt_shared_handle_new(&handle_class, KIND, descriptor, page->id, page->label);
}

// The number moves to a page that others can map. Lock held.
static bool share(MTLEvent *event) {
    if (event->descriptor >= 0) return true;
    RtEventState *page =
        create_page(rt_event_value(event), rt_label(&event->label), &event->descriptor);
    if (!page) return false;
    atomic_store(&event->state, page);
    // Threads asleep on the old word look at the new one.
    atomic_fetch_add(&event->own.changes, 1);
    os_futex_wake_shared(&event->own.changes);
    return !event->waiters || rt_event_watch(event);
}

MTLSharedEventHandle *mtl_shared_event_new_shared_event_handle(MTLSharedEvent *shared) {
    if (!rt_is_shared_event(shared)) {
        rt_misuse(NULL, shared ? RT_RULE_wrong_class : RT_RULE_null_object, __func__, "%s",
                  mtl_class_name(shared));
        return NULL;
    }
    MTLEvent *event = &shared->event;
    pthread_mutex_lock(&event->lock);
    int descriptor = share(event) ? fcntl(event->descriptor, F_DUPFD_CLOEXEC, 0) : -1;
    pthread_mutex_unlock(&event->lock);
    if (descriptor >= 0) return handle_new(descriptor, atomic_load(&event->state));
    rt_misuse(event->device, RT_RULE_handle_no_descriptor, __func__, "%s", strerror(errno));
    return NULL;
}

MTLSharedEvent *mtl_device_new_shared_event_with_handle(MTLDevice *device,
                                                        MTLSharedEventHandle *handle) {
    if (!rt_given(device, handle, "handle", __func__)) return NULL;
    if (!rt_is(handle, &handle_class)) {
        rt_misuse(device, RT_RULE_wrong_class, __func__, "handle: a %s", mtl_class_name(handle));
        return NULL;
    }
    MTLSharedEvent *shared = rt_shared_event_new(device);
    if (!shared) return NULL;
    const char *why;
    int descriptor = fcntl(handle->base.descriptor, F_DUPFD_CLOEXEC, 0);
    RtEventState *page = open_page(descriptor, &why);
    if (!page) {
        rt_misuse(device, RT_RULE_handle_no_descriptor, __func__, "%s", why);
        if (descriptor >= 0) close(descriptor);
        mtl_release(shared);
        return NULL;
    }
    shared->event.descriptor = descriptor;
    atomic_store(&shared->event.state, page);
    rt_label_set(&shared->event.label, handle->base.label);
    return shared;
}

const char *mtl_shared_event_handle_label(const MTLSharedEventHandle *handle) {
    return handle ? handle->base.label : "";
}

const char *mtl_shared_event_handle_name(const MTLSharedEventHandle *handle) {
    return handle ? handle->base.name : "";
}

int mtl_shared_event_handle_new_file_descriptor(const MTLSharedEventHandle *handle) {
    return rt_shared_handle_file(handle, &handle_class, __func__);
}

MTLSharedEventHandle *mtl_shared_event_handle_new_with_file_descriptor(int descriptor,
                                                                       MTLError **error) {
    const char *why;
    if (error) *error = NULL;
    RtEventState *page = open_page(descriptor, &why);
    if (!page) return rt_shared_handle_bad(error, KIND, why);
    int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    MTLSharedEventHandle *handle = copy < 0 ? NULL : handle_new(copy, page);
    munmap(page, PAGE_BYTES);
    if (!handle) rt_error_set(error, NULL);
    return handle;
}

MTLSharedEventHandle *mtl_shared_event_handle_new_with_name(const char *name, MTLError **error) {
    if (error) *error = NULL;
    if (!name) return rt_shared_handle_bad(error, KIND, "the name is NULL");
    uint64_t id[2];
    const char *why;
    int descriptor = rt_shared_file_open(KIND, name, id, &why);
    if (descriptor < 0) return rt_shared_handle_bad(error, KIND, why);
    RtEventState *page = open_page(descriptor, &why);
    bool same = page && page->id[0] == id[0] && page->id[1] == id[1];
    MTLSharedEventHandle *handle = NULL;
    if (same)
        handle = handle_new(descriptor, page);
    else
        close(descriptor);
    if (page) munmap(page, PAGE_BYTES);
    if (!same) return rt_shared_handle_bad(error, KIND, RT_SHARED_FILE_GONE);
    if (!handle) rt_error_set(error, NULL);
    return handle;
}
