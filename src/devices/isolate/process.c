// SPDX-License-Identifier: Apache-2.0
// process.c: starting the child, and its end. It is a program of its own, ingot-device, beside
// libingot as mslc is: a fork of an application with threads could not run anything, and would
// show the kernels all of the application's memory.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/files.h"
#include "devices/isolate/isolate_int.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/pool.h"
#include "os/zeros.h"

extern char **environ;

#define START_NS 20000000000u          // until it says that it is there; drivers take a while
#define MOST_BYTES ((size_t)1 << 42)   // of a device's memory
#define CONTROL_MORE ((size_t)1 << 20) // iso_range_take wants some behind
#define FIRST_FD 16 // ours stay away from the numbers that the child gives its own

static char *find_program(void) {
    static const char *const beside[] = {"ingot/ingot-device", "../bin/ingot-device"};
    Dl_info info;
    if (!dladdr((void *)(uintptr_t)&beside, &info) || !info.dli_fname) return NULL;
    char *file = realpath(info.dli_fname, NULL), *slash = file ? strrchr(file, '/') : NULL;
    char *path = NULL;
    if (slash) *slash = '\0';
    for (size_t i = 0; slash && !path && i < sizeof beside / sizeof *beside; i++) {
        path = path_join(file, beside[i]);
        if (path && access(path, X_OK)) {
            free(path);
            path = NULL;
        }
    }
    free(file);
    return path;
}

static int move_up(int fd) {
    int up = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD);
    if (fd >= 0) close(fd);
    return up;
}

static int spawn(const char *path, IsoDevice *d, int life) {
    char base[32], n_bytes[32], threads[48];
    snprintf(base, sizeof base, "%zx", (size_t)d->range.base);
    snprintf(n_bytes, sizeof n_bytes, "%zx", d->range.n_bytes);
    snprintf(threads, sizeof threads, "INGOT_THREADS=%u", os_pool_threads());
    char *argv[] = {"ingot-device", base, n_bytes, NULL}, *few[] = {threads, NULL};
    char **environment = d->store.base ? environ : few; // a driver has settings of its own
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int e = posix_spawn_file_actions_init(&actions);
    if (e) return e;
    if ((e = posix_spawnattr_init(&attr))) {
        posix_spawn_file_actions_destroy(&actions);
        return e;
    }
    e = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
    if (!e) e = posix_spawn_file_actions_adddup2(&actions, 0, 1);
    if (!e) e = posix_spawn_file_actions_adddup2(&actions, 0, 2);
    if (!e) e = posix_spawn_file_actions_adddup2(&actions, d->range.file, ISO_FD_MEMORY);
    if (!e) e = posix_spawn_file_actions_adddup2(&actions, life, ISO_FD_LIFE);
    if (!e) e = posix_spawn_file_actions_adddup2(&actions, d->control.file, ISO_FD_HEAD);
    if (!e && d->store.base)
        e = posix_spawn_file_actions_adddup2(&actions, d->store.file, ISO_FD_STORE);
    if (!e) e = posix_spawnattr_setsigmask(&attr, &none);
    if (!e) e = posix_spawnattr_setsigdefault(&attr, &all);
    if (!e)
        e = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                POSIX_SPAWN_SETSID);
    if (!e) e = posix_spawn(&d->pid, path, &actions, &attr, argv, environment);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&actions);
    return e;
}

bool iso_is_alive(IsoDevice *d) {
    if (atomic_load(&d->is_lost)) return false;
    struct pollfd p = {.fd = d->process, .events = POLLIN};
    bool ended = d->process >= 0 ? poll(&p, 1, 0) > 0 : waitpid(d->pid, NULL, WNOHANG) != 0;
    if (ended) iso_lose(d);
    return !ended;
}

void iso_lose(IsoDevice *d) {
    if (atomic_exchange(&d->is_lost, true)) return;
    kill(d->pid, SIGKILL);
    while (waitpid(d->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    for (size_t i = 0; i <= ISO_CHANNELS; i++) { // whoever waits for it looks
        atomic_fetch_add(&d->head->channels[i].event, 1);
        os_futex_wake_shared(&d->head->channels[i].event);
    }
}

static void close_ranges(IsoDevice *d) {
    IsoRange *const ranges[] = {&d->range, &d->control, &d->store};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (ranges[i]->base) iso_range_close(ranges[i]);
}

static bool open_range(IsoRange *range, size_t most) {
    if (!iso_range_open(range, most)) return false;
    range->file = move_up(range->file);
    return range->file >= 0;
}

// Waits for its first word.
static bool greet(IsoDevice *d, char *why, size_t why_bytes) {
    uint64_t until = os_now_ns() + START_NS;
    while (atomic_load(&d->head->state) == ISO_STARTING && os_now_ns() < until) {
        os_futex_wait_shared(&d->head->state, ISO_STARTING, &(struct timespec){0, 20000000});
        if (!iso_is_alive(d)) break;
    }
    unsigned state = atomic_load(&d->head->state);
    if (state == ISO_READY && !atomic_load(&d->is_lost)) return true;
    char words[200];
    iso_fetch(words, d->head->why, sizeof words);
    if (state == ISO_FAILED)
        snprintf(why, why_bytes, "its process says: %.*s", (int)sizeof words, words);
    else
        snprintf(why, why_bytes, "its process does not start");
    return false;
}

static bool make_head(IsoDevice *d, const char *device, unsigned index) {
    d->head = iso_range_take(&d->control, sizeof *d->head);
    if (!d->head) return false;
    d->head->version = ISO_VERSION;
    d->head->n_threads = os_pool_threads();
    snprintf(d->head->device, sizeof d->head->device, "%s", device);
    d->head->index = index;
    d->head->store = d->store.base;
    d->head->store_bytes = d->store.n_bytes;
    d->head->zeros = os_zeros();
    bool ok = true;
    for (size_t i = 0; i <= ISO_CHANNELS; i++) {
        d->channels[i].shared = &d->head->channels[i];
        d->channels[i].room = iso_range_take(&d->range, ISO_ROOM);
        ok = ok && d->channels[i].room;
    }
    return ok;
}

IsoDevice *iso_start(const char *device, unsigned index, bool own_memory, char *why,
                     size_t why_bytes) {
    char *path = find_program();
    IsoDevice *d = calloc(1, sizeof *d);
    int ends[2] = {-1, -1}, e = 0;
    if (!path) {
        snprintf(why, why_bytes, "there is no program ingot-device beside libingot");
        goto fail;
    }
    if (!d) goto fail_memory;
    pthread_mutex_init(&d->lock, NULL);
    pthread_mutex_init(&d->code_lock, NULL);
    pthread_cond_init(&d->freed, NULL);
    if (!open_range(&d->range, MOST_BYTES) ||
        !open_range(&d->control, sizeof *d->head + CONTROL_MORE) ||
        (own_memory && !open_range(&d->store, MOST_BYTES)) || !make_head(d, device, index) ||
        pipe2(ends, O_CLOEXEC))
        goto fail_range;
    ends[0] = move_up(ends[0]);
    d->life = ends[1] = move_up(ends[1]);
    e = spawn(path, d, ends[0]);
    close(ends[0]);
    if (e) {
        snprintf(why, why_bytes, "'%s' does not start: %s", path, strerror(e));
        close(d->life);
        close_ranges(d);
        goto fail;
    }
    d->process = (int)syscall(SYS_pidfd_open, d->pid, 0);
    free(path);
    if (greet(d, why, why_bytes)) return d;
    iso_stop(d);
    return NULL;

fail_range:
    close_ranges(d);
fail_memory:
    snprintf(why, why_bytes, "no memory for it");
fail:
    free(d);
    free(path);
    return NULL;
}

void iso_stop(IsoDevice *d) {
    iso_lose(d);
    if (d->process >= 0) close(d->process);
    close(d->life);
    for (size_t i = 0; i <= ISO_CHANNELS; i++) free(d->channels[i].contexts);
    pthread_cond_destroy(&d->freed);
    pthread_mutex_destroy(&d->code_lock);
    pthread_mutex_destroy(&d->lock);
    close_ranges(d);
    free(d);
}
