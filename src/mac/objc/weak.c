// SPDX-License-Identifier: Apache-2.0
// weak.c: weak references. For each object that has some, a list of the places that hold its
// address; they become nil when it goes. Objects are spread over stripes by address, each with a
// lock of its own; a place is written with the lock of the object it held and of the one it gets.
#include "mac/objc/objc_int.h"
#include <stdlib.h>

enum { N_STRIPES = 64 };
typedef struct WeakList {
    id **places;
    size_t n, room;
} WeakList;
typedef struct Stripe {
    pthread_mutex_t lock;
    Table lists; // object -> WeakList
} Stripe;
static Stripe stripes[N_STRIPES];
atomic_bool objc_foreign_marks;

void weak_start(void) {
    for (int i = 0; i < N_STRIPES; i++) pthread_mutex_init(&stripes[i].lock, NULL);
}
static Stripe *stripe_of(id object) { return &stripes[address_hash(object) % N_STRIPES]; }
static id load(id *place) { return __atomic_load_n(place, __ATOMIC_ACQUIRE); }
static void store(id *place, id object) { __atomic_store_n(place, object, __ATOMIC_RELEASE); }

// In the order of their addresses, so that two threads never wait for each other.
static void lock_two(Stripe *a, Stripe *b) {
    if (a > b) {
        Stripe *c = a;
        a = b, b = c;
    }
    if (a) pthread_mutex_lock(&a->lock);
    if (b && b != a) pthread_mutex_lock(&b->lock);
}
static void unlock_two(Stripe *a, Stripe *b) {
    if (a) pthread_mutex_unlock(&a->lock);
    if (b && b != a) pthread_mutex_unlock(&b->lock);
}

static void add_place(Stripe *s, id object, id *place) {
    WeakList *list = table_get(&s->lists, object);
    if (!list) table_set(&s->lists, object, list = objc_zeroed(sizeof *list));
    if (list->n == list->room) {
        list->room = list->room ? list->room * 2 : 4;
        list->places = objc_must(realloc(list->places, list->room * sizeof *list->places));
    }
    list->places[list->n++] = place;
}

static void drop(Stripe *s, id object, id *place) {
    WeakList *list = table_get(&s->lists, object);
    for (size_t i = 0; list && i < list->n; i++) {
        if (list->places[i] != place) continue;
        list->places[i] = list->places[--list->n];
        if (list->n) return;
        table_remove(&s->lists, object);
        free(list->places), free(list);
        return;
    }
}

// Whether the object can be referred to: a dying one cannot. Takes and gives back a reference, so
// that it is not called with a lock held.
static bool referable(id object) {
    if (!object_try_retain(object)) return false;
    object_mark(object, HEAD_WEAK);
    return true;
}

static id store_weak(id *place, id object) {
    bool taken = object && referable(object);
    if (!taken) object = NULL;
    Stripe *to = object ? stripe_of(object) : NULL, *from;
    id old;
    for (;;) { // the old one may go, or change, until its stripe is locked
        old = load(place);
        from = old ? stripe_of(old) : NULL;
        lock_two(from, to);
        if (load(place) == old) break;
        unlock_two(from, to);
    }
    if (old) drop(from, old, place);
    if (object) add_place(to, object, place);
    store(place, object);
    unlock_two(from, to);
    if (taken) objc_release(object);
    return object;
}

// The optimiser takes the result for the argument and counts on it (what is retained here is
// released there): so it is, even if the place holds nil because the object is going or refuses.
id objc_storeWeak(id *place, id object) {
    store_weak(place, object);
    return object;
}
id objc_storeWeakOrNil(id *place, id object) { return store_weak(place, object); }
id objc_initWeakOrNil(id *place, id object) {
    *place = NULL;
    return object ? store_weak(place, object) : NULL;
}
id objc_initWeak(id *place, id object) {
    objc_initWeakOrNil(place, object);
    return object;
}
void objc_destroyWeak(id *place) { store_weak(place, NULL); }

id objc_loadWeakRetained(id *place) {
    for (;;) {
        id object = load(place);
        if (!object) return NULL;
        Stripe *s = stripe_of(object);
        pthread_mutex_lock(&s->lock);
        bool same = load(place) == object; // then it is not freed while the stripe is locked
        bool alive = same && object_try_retain(object);
        pthread_mutex_unlock(&s->lock);
        if (same) return alive ? object : NULL;
    }
}
id objc_loadWeak(id *place) { return objc_autorelease(objc_loadWeakRetained(place)); }

void objc_copyWeak(id *to, id *from) {
    id object = objc_loadWeakRetained(from);
    objc_initWeak(to, object);
    objc_release(object);
}
void objc_moveWeak(id *to, id *from) {
    objc_copyWeak(to, from);
    objc_destroyWeak(from);
}

void weak_clear(id object) {
    Stripe *s = stripe_of(object);
    pthread_mutex_lock(&s->lock);
    WeakList *list = table_remove(&s->lists, object);
    for (size_t i = 0; list && i < list->n; i++) store(list->places[i], NULL);
    pthread_mutex_unlock(&s->lock);
    if (list) free(list->places), free(list);
}

void objc_ingot_destroyed(void *object) {
    if (!atomic_load_explicit(&objc_foreign_marks, memory_order_acquire)) return;
    associated_clear(object);
    weak_clear(object);
}
