// SPDX-License-Identifier: Apache-2.0
// queue.h: what a CommandBuffer object holds besides the library's command buffer.
#ifndef PYMETAL_QUEUE_H
#define PYMETAL_QUEUE_H
#include <semaphore.h>
#include <stdatomic.h>
#include "object.h"

typedef struct Limit Limit;

typedef struct Commands { // owned by the Python object and, once registered, by the handler
    atomic_int n_owners;
    sem_t done;   // posted when the commands have completed
    Limit *limit; // of the queue; NULL once completed
    State *state;
    PyObject *on_scheduled, *on_completed; // lists of Python functions, NULL: none
    PyObject *module;                      // held while there are such
    bool registered, committed;            // handler given to the library; commit accepted
} Commands;

// NULL for an object that was made for a handler, long after the commit.
Commands *commands_of(const Object *buffer);
PyObject *queue_new(State *state, Object *device, size_t max_count, uint32_t timeout_ms);
#endif
