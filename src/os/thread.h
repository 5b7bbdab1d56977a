// SPDX-License-Identifier: Apache-2.0
// thread.h: threads of the library's own.
#ifndef INGOT_OS_THREAD_H
#define INGOT_OS_THREAD_H
#include <pthread.h>
#include <stdbool.h>

// A thread that takes none of the application's signals: those stay with its own threads.
bool os_thread_start(pthread_t *id, void *(*run)(void *context), void *context);
#endif
