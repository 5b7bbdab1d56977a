// SPDX-License-Identifier: Apache-2.0
// leaks.c: see leaks.h. Objects stand in a hash table by address while they live. Its memory is the
// system's, not the allocator hook's: a test that counts allocations must not see it.
#include "runtime/object/leaks.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash_table.h"
#include "runtime/object/async.h"

enum { MAX_LINES = 200, TEXT_BYTES = 1 << 16, MAX_WAIT_MS = 5000 };

typedef struct Node {
    HashNode base;
    const RtObject *object;
} Node;

atomic_int rt_leaks_state;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // one report, of the process
static HashTable living;                                 // under lock

static uint64_t hash_of(const RtObject *object) {
    uintptr_t h = (uintptr_t)object >> 4;
    return h ^ h >> 12;
}

static void at_exit(void) {
    char *text = malloc(TEXT_BYTES);
    if (!text) return;
    size_t n = mtl_copy_live_objects(text, TEXT_BYTES);
    if (n) fprintf(stderr, "Ingot: %zu objects were not released:\n%s", n, text);
    free(text);
}

bool rt_leaks_ask(void) {
    pthread_mutex_lock(&lock);
    int state = atomic_load(&rt_leaks_state);
    if (state == 0) {
        const char *value = getenv("INGOT_LEAKS");
        state = value && *value && strcmp(value, "0") != 0 && atexit(at_exit) == 0 ? 2 : 1;
        atomic_store(&rt_leaks_state, state);
    }
    pthread_mutex_unlock(&lock);
    return state == 2;
}

void rt_leaks_born(RtObject *object) {
    Node *node = malloc(sizeof *node);
    if (!node) return; // the report will lack it
    *node = (Node){.base.hash = hash_of(object), .object = object};
    pthread_mutex_lock(&lock);
    bool added = hash_add(&living, &node->base);
    pthread_mutex_unlock(&lock);
    if (!added) free(node);
}

void rt_leaks_died(RtObject *object) {
    pthread_mutex_lock(&lock);
    HashNode *found = hash_chain(&living, hash_of(object));
    while (found && ((Node *)found)->object != object) found = found->next;
    if (found) hash_remove(&living, found);
    pthread_mutex_unlock(&lock);
    free(found);
}

// ---- The list: one line for each class and label ----

typedef struct Line {
    const char *name, *label;
    size_t n;
} Line;

static const char *label_of(const RtObject *object) {
    if (!object->cls->label_at) return "";
    return rt_label((const RtLabel *)(const void *)((const char *)object + object->cls->label_at));
}

static int by_name(const void *a, const void *b) {
    const Line *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->label, y->label);
}

// Under lock. Returns how many lines there are; what does not fit is counted in *n only.
static size_t collect(Line *lines, size_t *n) {
    size_t n_lines = 0;
    for (size_t b = 0; b < living.n_buckets; b++)
        for (const HashNode *node = living.buckets[b]; node; node = node->next) {
            const RtObject *object = ((const Node *)node)->object;
            const char *name = object->cls->name, *label = label_of(object);
            // The device lives as long as the process; some objects are others' own affair.
            if (!strcmp(name, "MTLDevice") || strncmp(name, "MTL", 3)) continue;
            size_t k = 0;
            while (k < n_lines && (strcmp(lines[k].name, name) || strcmp(lines[k].label, label)))
                k++;
            if (k == n_lines && n_lines < MAX_LINES) lines[n_lines++] = (Line){name, label, 0};
            if (k < n_lines) lines[k].n++;
            ++*n;
        }
    qsort(lines, n_lines, sizeof *lines, by_name);
    return n_lines;
}

size_t mtl_copy_live_objects(char *text, size_t n_bytes) {
    Line lines[MAX_LINES];
    size_t n = 0, at = 0;
    if (text && n_bytes) *text = '\0';
    if (!rt_leaks_wanted()) return 0;
    rt_async_wait(MAX_WAIT_MS); // work in the background holds objects
    pthread_mutex_lock(&lock);
    size_t n_lines = collect(lines, &n);
    for (size_t k = 0; text && k < n_lines && at < n_bytes; k++)
        at += (size_t)snprintf(text + at, n_bytes - at,
                               *lines[k].label ? "  %6zu %s '%s'\n" : "  %6zu %s%s\n", lines[k].n,
                               lines[k].name, lines[k].label);
    pthread_mutex_unlock(&lock);
    return n;
}
