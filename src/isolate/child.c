// SPDX-License-Identifier: Apache-2.0
// child.c: ingot-device: maps the memory of its device where the host has it, starts the threads
// that run kernels, gives up its rights, and serves. It ends with the host, or with a kernel that
// breaks it.
//
//     ingot-device BASE BYTES     (of libingot; hexadecimal, with descriptors 3 and 4)
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "cpu/cpu.h"
#include "isolate/child.h"
#include "os/futex.h"
#include "os/pool.h"
#include "os/timer.h"
#include "os/zeros.h"

enum { BEAT_MS = 250 };

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
    if (!os_pool_start() || !os_timer_start(&timer, 1)) return false;
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
    syscall(SYS_close_range, ISO_FD_LIFE + 1, ~0u, 0);
    IsoHead *head = (IsoHead *)(void *)base;
    const char *why = NULL;
    if (head->version != ISO_VERSION)
        why = "it is of another version of Ingot";
    else if (head->zeros && !os_zeros_at(head->zeros))
        why = "addresses that it needs are taken";
    if (why) snprintf(head->why, sizeof head->why, "%s", why);
    bool ok = !why && iso_confine_files(head->why, sizeof head->why);
    if (ok && !(ok = start_threads(head)))
        snprintf(head->why, sizeof head->why, "no thread could be started");
    if (!ok || !iso_confine(head->why, sizeof head->why)) {
        say(head, ISO_FAILED);
        return 4;
    }
    say(head, ISO_READY);
    struct pollfd life = {.fd = ISO_FD_LIFE, .events = POLLIN};
    for (unsigned beats = 1;; beats++) {
        int n = poll(&life, 1, BEAT_MS);
        if (n > 0) return 0;
        atomic_store(&head->beats, beats);
    }
}
