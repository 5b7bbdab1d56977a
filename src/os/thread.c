// SPDX-License-Identifier: Apache-2.0
// thread.c: see thread.h. A thread inherits the mask of signals of the one that makes it.
#include "os/thread.h"
#include <signal.h>
#include <stddef.h>

bool os_thread_start(pthread_t *id, void *(*run)(void *context), void *context) {
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool ok = pthread_create(id, NULL, run, context) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return ok;
}

void os_short_lock_init(pthread_mutex_t *lock) {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(lock, &kind);
    pthread_mutexattr_destroy(&kind);
}
