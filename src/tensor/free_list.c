// SPDX-License-Identifier: Apache-2.0
// free_list.c: one list per kind and thread, of at most MOST entries; the rest goes to malloc. A
// thread's lists are freed when it ends.
#include "tensor/free_list.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum { MOST = 256 };

typedef struct Spares {
    void *first[IG_N_FREE_LISTS]; // each begins with the address of the next one
    unsigned n[IG_N_FREE_LISTS];
    bool told; // the key knows the thread
} Spares;
static _Thread_local Spares spares;

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_key;

static void free_all(void *of) {
    Spares *s = of;
    for (int k = 0; k < IG_N_FREE_LISTS; k++) {
        for (void *p; (p = s->first[k]);) {
            s->first[k] = *(void **)p;
            free(p);
        }
        s->n[k] = MOST; // what still comes is not kept
    }
}

static void make_key(void) { has_key = pthread_key_create(&key, free_all) == 0; }

void *ig_free_list_pop(IgFreeList kind, size_t n_bytes) {
    Spares *s = &spares;
    void *p = s->first[kind];
    if (!p) return malloc(n_bytes);
    s->first[kind] = *(void **)p;
    s->n[kind]--;
    return p;
}

static bool tell(Spares *s) {
    pthread_once(&once, make_key);
    return s->told = has_key && pthread_setspecific(key, s) == 0;
}

void ig_free_list_push(IgFreeList kind, void *memory) {
    Spares *s = &spares;
    if (s->n[kind] >= MOST || (!s->told && !tell(s))) {
        free(memory);
        return;
    }
    *(void **)memory = s->first[kind];
    s->first[kind] = memory;
    s->n[kind]++;
}
