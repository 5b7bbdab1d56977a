// SPDX-License-Identifier: Apache-2.0
// single_flight.c: a short list of the computations in flight, under one lock (see
// single_flight_int.h).
#include "runtime/program/single_flight_int.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct Flight {
    Flight *next; // all fields under `lock`
    CacheKey key;
    unsigned refs;
    bool landed;
    void *result;
    void (*drop)(void *);
};

// Of the process, as the cache is: devices that want the same code wait for each other.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t landed = PTHREAD_COND_INITIALIZER;
static Flight *flights; // those that have not landed

Flight *flight_join(const CacheKey *key, bool *leader) {
    *leader = true;
    pthread_mutex_lock(&lock);
    Flight *f = flights;
    while (f && memcmp(&f->key, key, sizeof *key)) f = f->next;
    if (f) {
        *leader = false;
        f->refs++;
        while (!f->landed) pthread_cond_wait(&landed, &lock);
    } else if ((f = calloc(1, sizeof *f))) {
        f->key = *key;
        f->refs = 1;
        f->next = flights;
        flights = f;
    }
    pthread_mutex_unlock(&lock);
    return f;
}

void flight_land(Flight *f, void *result, void (*drop)(void *)) {
    pthread_mutex_lock(&lock);
    f->result = result;
    f->drop = drop;
    f->landed = true;
    for (Flight **p = &flights; *p; p = &(*p)->next)
        if (*p == f) {
            *p = f->next;
            break;
        }
    pthread_cond_broadcast(&landed);
    pthread_mutex_unlock(&lock);
}

void *flight_result(const Flight *f) { return f->result; }

void flight_leave(Flight *f) {
    pthread_mutex_lock(&lock);
    bool last = --f->refs == 0;
    pthread_mutex_unlock(&lock);
    if (!last) return;
    if (f->drop) f->drop(f->result);
    free(f);
}

void flight_before_fork(void) { pthread_mutex_lock(&lock); }

void flight_after_fork(bool child) {
    if (child) { // the leaders are threads of the parent: here nobody would ever land
        flights = NULL;
        pthread_cond_init(&landed, NULL);
        pthread_mutex_init(&lock, NULL);
    } else {
        pthread_mutex_unlock(&lock);
    }
}
