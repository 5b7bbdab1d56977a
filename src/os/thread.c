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
