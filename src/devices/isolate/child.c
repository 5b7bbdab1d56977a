// SPDX-License-Identifier: Apache-2.0
// child.c: ingot-device: maps the memory of its device where the host has it, starts the threads
// that run kernels, gives up its rights, and serves. It ends with the host, or with a kernel that
// breaks it. A device with memory of its own runs no code of strangers in here, and its driver
// needs files: such a process keeps its rights.
//
//     ingot-device BASE BYTES     (of libingot; hexadecimal, with descriptors 3 and up)
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include "devices/isolate/child.h"
#include "devices/isolate/range.h"
#include "os/futex.h"
#include "os/pool.h"
#include "os/timer.h"
#include "os/zeros.h"

enum { BEAT_MS = 250 };

extern const DevTable cpu_device;
IsoServed iso_served = {.table = &cpu_device};

static void say(IsoHead *head, unsigned state) {
    atomic_store(&head->state, state);
    os_futex_wake_shared(&head->state);
}

static uint64_t once(OsTimer *timer) {
    (void)timer;
    return 0;
}

// All threads there will be.
static bool start_threads(IsoHead *head) {
    static OsTimer timer = {.fire = once}; // starts the watchdog's thread
    if (!head->store && (!os_pool_start() || !os_timer_start(&timer, 1))) return false;
    // They run kernels too: their stacks are as large as the workers', and signals reach them.
    pthread_attr_t attributes;
    bool ok =
        !pthread_attr_init(&attributes) && !pthread_attr_setstacksize(&attributes, OS_WORKER_STACK);
    for (size_t i = 0; ok && i <= ISO_CHANNELS; i++) {
        pthread_t id;
        ok = !pthread_create(&id, &attributes, iso_serve, &head->channels[i]);
    }
    return ok;
}

// ---- A device with memory of its own ----

static IsoRange store;
static void *take_pages(size_t n_bytes) { return iso_range_take(&store, n_bytes); }
static void give_pages(void *pages, size_t n_bytes) { iso_range_give(&store, pages, n_bytes); }

static bool open_own(IsoHead *head) {
    static const DevPages pages = {.take = take_pages, .give = give_pages};
    head->device[sizeof head->device - 1] = '\0';
    const DevTable *const *t = device_list;
    while (*t && strcmp((*t)->name, head->device) != 0) t++;
    snprintf(head->why, sizeof head->why, "it knows no such device");
    if (!*t) return false;
    snprintf(head->why, sizeof head->why, "addresses that it needs are taken");
    if (!iso_range_join(&store, ISO_FD_STORE, head->store, head->store_bytes)) return false;
    dev_pages = &pages;
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    iso_served.table = *t;
    iso_served.context =
        iso_served.table->open(head->index, &head->facts, head->why, sizeof head->why);
    return iso_served.context != NULL;
}

int main(int n_args, char **args) {
    if (n_args != 3) {
        fputs("ingot-device: a part of libingot, which starts it\n", stderr);
        return 2;
    }
    char *base = (char *)(uintptr_t)strtoull(args[1], NULL, 16);
    size_t n_bytes = (size_t)strtoull(args[2], NULL, 16);
    void *p = mmap(base, n_bytes, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, ISO_FD_MEMORY, 0);
    if (p != base) return 3; // the host sees that it ended
    close(ISO_FD_MEMORY);
    IsoHead *head = iso_served.head = iso_range_map(ISO_FD_HEAD, sizeof *head);
    if (!head) return 3;
    close(ISO_FD_HEAD);
    syscall(SYS_close_range, (head->store ? ISO_FD_STORE : ISO_FD_LIFE) + 1, ~0u, 0);
    const char *why = NULL;
    if (head->version != ISO_VERSION)
        why = "it is of another version of Ingot";
    else if (head->zeros && !os_zeros_at(head->zeros))
        why = "addresses that it needs are taken";
    if (why) snprintf(head->why, sizeof head->why, "%s", why);
    bool own = head->store != NULL;
    bool ok = !why && (own ? open_own(head) : iso_confine_files(head->why, sizeof head->why));
    if (ok && !(ok = start_threads(head)))
        snprintf(head->why, sizeof head->why, "no thread could be started");
    if (!ok || (!own && !iso_confine(head->why, sizeof head->why))) {
        say(head, ISO_FAILED);
        return 4;
    }
    say(head, ISO_READY);
    struct pollfd life = {.fd = ISO_FD_LIFE, .events = POLLIN};
    for (unsigned beats = 1;; beats++) {
        int n = poll(&life, 1, BEAT_MS);
        if (n > 0) _exit(0); // whatever a driver still waits for
        atomic_store(&head->beats, beats);
    }
}
