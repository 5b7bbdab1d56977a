// SPDX-License-Identifier: Apache-2.0
// thread.h: threads of the library's own, and locks between them.
#ifndef INGOT_OS_THREAD_H
#define INGOT_OS_THREAD_H
#include <pthread.h>
#include <stdbool.h>

// A thread that takes none of the application's signals: those stay with its own threads.
bool os_thread_start(pthread_t *id, void *(*run)(void *context), void *context);
// For a lock that is held for some ns: who meets it spins a little before it sleeps.
void os_short_lock_init(pthread_mutex_t *lock);
#endif
