// SPDX-License-Identifier: Apache-2.0
// associated.c: what belongs to an object without being in it: associated objects, and the locks of
// @synchronized.
#include "mac/objc/objc_int.h"
#include <objc/objc-sync.h>
#include <stdlib.h>

// ---- Associated objects ----

typedef struct Association {
    struct Association *next;
    const void *key;
    id value;
    objc_AssociationPolicy policy;
} Association;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // for the table and the lists in it
static Table associations;                               // object -> Association

static Association *find_association(id object, const void *key) {
    Association *a = table_get(&associations, object);
    while (a && a->key != key) a = a->next;
    return a;
}

static void let_go(id value, objc_AssociationPolicy policy) {
    if (policy & 3) objc_release(value);
}

id objc_getAssociatedObject(id object, const void *key) {
    if (!object) return NULL;
    pthread_mutex_lock(&lock);
    Association *a = find_association(object, key);
    id value = a ? a->value : NULL;
    bool keep = value && a->policy & 3;
    if (keep) objc_retain(value);
    pthread_mutex_unlock(&lock);
    return keep ? objc_autorelease(value) : value;
}

void objc_setAssociatedObject(id object, const void *key, id value, objc_AssociationPolicy policy) {
    if (!object) return;
    if (value && (policy & 3) == OBJC_ASSOCIATION_COPY_NONATOMIC)
        value = SEND_WITH(value, objc_sel.copyWithZone, NULL);
    else if (value && policy & 3)
        objc_retain(value);
    if (value) object_mark(object, HEAD_ASSOCIATED);
    Association old = {0};
    pthread_mutex_lock(&lock);
    Association *a = find_association(object, key);
    if (a) {
        old = *a;
        a->value = value, a->policy = policy;
    } else if (value) {
        a = objc_zeroed(sizeof *a);
        *a = (Association){table_get(&associations, object), key, value, policy};
        table_set(&associations, object, a);
    }
    pthread_mutex_unlock(&lock);
    let_go(old.value, old.policy);
}

void associated_clear(id object) {
    pthread_mutex_lock(&lock);
    Association *a = table_remove(&associations, object);
    pthread_mutex_unlock(&lock);
    while (a) {
        Association *next = a->next;
        let_go(a->value, a->policy);
        free(a);
        a = next;
    }
}
void objc_removeAssociatedObjects(id object) {
    if (object) associated_clear(object);
}

// ---- @synchronized ----

typedef struct Monitor {
    pthread_mutex_t mutex; // recursive
    size_t users;          // threads in it or waiting; under monitors_lock
    id object;
    struct Monitor *next_free;
} Monitor;
static pthread_mutex_t monitors_lock = PTHREAD_MUTEX_INITIALIZER;
static Table monitors; // object -> Monitor in use
static Monitor *unused;

static Monitor *take_monitor(void) {
    Monitor *m = unused;
    if (m) {
        unused = m->next_free;
        return m;
    }
    m = objc_zeroed(sizeof *m);
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&m->mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return m;
}

int objc_sync_enter(id object) {
    if (!object) return OBJC_SYNC_SUCCESS;
    pthread_mutex_lock(&monitors_lock);
    Monitor *m = table_get(&monitors, object);
    if (!m) table_set(&monitors, object, m = take_monitor());
    m->users++;
    pthread_mutex_unlock(&monitors_lock);
    pthread_mutex_lock(&m->mutex);
    return OBJC_SYNC_SUCCESS;
}

int objc_sync_exit(id object) {
    if (!object) return OBJC_SYNC_SUCCESS;
    pthread_mutex_lock(&monitors_lock);
    Monitor *m = table_get(&monitors, object);
    bool owned = m && !pthread_mutex_unlock(&m->mutex);
    if (owned && !--m->users) {
        table_remove(&monitors, object);
        m->next_free = unused, unused = m;
    }
    pthread_mutex_unlock(&monitors_lock);
    return owned ? OBJC_SYNC_SUCCESS : OBJC_SYNC_NOT_OWNING_THREAD_ERROR;
}
