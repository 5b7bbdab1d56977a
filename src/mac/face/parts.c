// SPDX-License-Identifier: Apache-2.0
// parts.c: weak references to parts: an encoder is a part of its command buffer, a member of its
// reflection; a part ends with its owner, which alone is announced. Who is referred to weakly is
// remembered under its owner until that one goes.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "mac/face/face.h"
#include "ingot/classes.h"

typedef struct Part {
    struct Part *next;
    void *owner, *part;
} Part;

enum { N_LISTS = 64 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // for the lists
static Part *lists[N_LISTS];                             // by owner
static atomic_size_t n_parts; // 0, as in most programs: a death costs no lock

static Part **list_of(const void *owner) { return &lists[(uintptr_t)owner / 64 % N_LISTS]; }

bool face_try_retain(void *object) {
    void *owner = mtl_owner(object);
    if (!mtl_retain_if_alive(object)) return false;
    if (!owner) return true;
    pthread_mutex_lock(&lock);
    Part *p = *list_of(owner);
    while (p && (p->owner != owner || p->part != object)) p = p->next;
    if (!p) {
        if (!(p = malloc(sizeof *p))) abort(); // as face_alloc
        *p = (Part){*list_of(owner), owner, object};
        *list_of(owner) = p;
        atomic_fetch_add(&n_parts, 1);
    }
    pthread_mutex_unlock(&lock);
    return true;
}

void face_died(void *object) {
    while (atomic_load_explicit(&n_parts, memory_order_acquire)) {
        pthread_mutex_lock(&lock);
        Part **at = list_of(object);
        while (*at && (*at)->owner != object) at = &(*at)->next;
        Part *p = *at;
        if (p) *at = p->next;
        pthread_mutex_unlock(&lock);
        if (!p) break;
        objc_ingot_destroyed(p->part);
        free(p);
        atomic_fetch_sub(&n_parts, 1);
    }
    objc_ingot_destroyed(object);
}
