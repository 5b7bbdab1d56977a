// SPDX-License-Identifier: Apache-2.0
// known.c: which Swift object stands for an object (border.h). Tables of open addressing, striped
// by address: what is asked at every getter of an object must not wait for others.
#include "border.h"
#include <pthread.h>
#include <stdlib.h>

enum { STRIPES = 64, LEAST = 16 };

typedef struct Entry {
    void *object, *swift; // object NULL: free
} Entry;

typedef struct Stripe {
    _Alignas(64) pthread_mutex_t lock;
    Entry *entries;
    size_t room, n; // room: a power of two
} Stripe;

static Stripe stripes[STRIPES];
static void *(*try_retain)(void *);

void ingot_begin(void *(*of_swift)(void *)) {
    for (int i = 0; i < STRIPES; i++) pthread_mutex_init(&stripes[i].lock, NULL);
    try_retain = of_swift;
}

static size_t hash(const void *object) {
    return ((uintptr_t)object >> 4) * 0x9e3779b97f4a7c15u >> 20;
}
static Stripe *stripe_of(const void *object) { return &stripes[hash(object) % STRIPES]; }

// The place of an object, or the free one where it would stand. There is always a free one.
static Entry *find_entry(const Stripe *s, const void *object) {
    size_t i = hash(object) / STRIPES & (s->room - 1);
    while (s->entries[i].object && s->entries[i].object != object) i = (i + 1) & (s->room - 1);
    return &s->entries[i];
}

static void grow(Stripe *s) {
    Stripe wider = {.room = s->room ? 2 * s->room : LEAST, .n = s->n};
    wider.entries = calloc(wider.room, sizeof(Entry));
    if (!wider.entries) abort(); // as Swift does
    for (size_t i = 0; i < s->room; i++)
        if (s->entries[i].object) *find_entry(&wider, s->entries[i].object) = s->entries[i];
    free(s->entries);
    s->entries = wider.entries, s->room = wider.room;
}

void *ingot_known(void *object) {
    Stripe *s = stripe_of(object);
    pthread_mutex_lock(&s->lock);
    Entry *e = s->n ? find_entry(s, object) : NULL;
    void *swift = e && e->object ? try_retain(e->swift) : NULL;
    pthread_mutex_unlock(&s->lock);
    return swift;
}

void *ingot_know(void *object, void *swift) {
    Stripe *s = stripe_of(object);
    pthread_mutex_lock(&s->lock);
    if (4 * (s->n + 1) > 3 * s->room) grow(s);
    Entry *e = find_entry(s, object);
    void *other = e->object ? try_retain(e->swift) : NULL;
    if (!other) {
        s->n += !e->object;
        *e = (Entry){object, swift};
    }
    pthread_mutex_unlock(&s->lock);
    return other ? other : swift;
}

// What stood behind the freed place and would have stood there moves up, so that searches need no
// marks.
static void close_gap(Stripe *s, size_t gap) {
    s->entries[gap] = (Entry){NULL, NULL};
    for (size_t i = (gap + 1) & (s->room - 1); s->entries[i].object; i = (i + 1) & (s->room - 1)) {
        size_t home = hash(s->entries[i].object) / STRIPES & (s->room - 1);
        if (((i - home) & (s->room - 1)) < ((i - gap) & (s->room - 1))) continue;
        s->entries[gap] = s->entries[i];
        s->entries[i] = (Entry){NULL, NULL};
        gap = i;
    }
}

void ingot_forget(void *object, void *swift) {
    Stripe *s = stripe_of(object);
    pthread_mutex_lock(&s->lock);
    Entry *e = s->n ? find_entry(s, object) : NULL;
    if (e && e->object && e->swift == swift) {
        close_gap(s, (size_t)(e - s->entries));
        s->n--;
    }
    pthread_mutex_unlock(&s->lock);
}
