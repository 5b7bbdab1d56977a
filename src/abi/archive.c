// SPDX-License-Identifier: Apache-2.0
// archive.c: binary archives in memory and as bytes (see archive.h).
#include "abi/archive.h"
#include "base/array.h"
#include "abi/container.h"
#include "base/arena.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const ContainerFormat format = {
    {'I', 'N', 'G', 'O', 'T', 'A', 'R', 'C'}, 2, "it is not a binary archive made by Ingot", true};

struct Archive {
    atomic_uint refs;
    pthread_mutex_t lock;
    BaseArena arena;        // entries and their strings; under lock, as all below
    ArchiveEntry **entries; // in the order they were added
    size_t n, capacity;
    ArchiveOrigin origin; // of the file; set before anybody else sees the archive
};

Archive *archive_new(void) {
    Archive *a = calloc(1, sizeof *a);
    if (!a) return NULL;
    atomic_init(&a->refs, 1);
    pthread_mutex_init(&a->lock, NULL);
    a->origin.compiler_id = a->origin.machine_name = "";
    return a;
}

Archive *archive_retain(Archive *a) {
    if (a) atomic_fetch_add_explicit(&a->refs, 1, memory_order_relaxed);
    return a;
}

void archive_release(Archive *a) {
    if (!a || atomic_fetch_sub_explicit(&a->refs, 1, memory_order_acq_rel) != 1) return;
    for (size_t i = 0; i < a->n; i++) blob_release(a->entries[i]->owner);
    free(a->entries);
    base_arena_free(&a->arena);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

bool archive_recognised(const void *data, size_t n) {
    return container_recognised(&format, data, n);
}

bool archive_seal(Blob *bytes, const SealKey *key, char *why, size_t why_bytes) {
    return seal_make(key, "archive", container_hash(bytes), container_seal(bytes), why, why_bytes);
}

bool archive_trusted(const Blob *bytes, const SealKey *key) {
    return seal_holds(key, "archive", container_hash(bytes), container_seal(bytes));
}

ArchiveOrigin archive_origin(const Archive *a) { return a->origin; }

// ---- entries ----

static const ArchiveEntry *find_entry(const Archive *a, const unsigned char key[SHA256_BYTES]) {
    for (size_t i = 0; i < a->n; i++)
        if (!memcmp(a->entries[i]->key, key, SHA256_BYTES)) return a->entries[i];
    return NULL;
}

static const char *keep_str(Archive *a, const char *s) {
    return base_arena_str(&a->arena, s ? s : "", s ? strlen(s) : 0);
}

// A place at the end with room in the list; NULL without memory.
static ArchiveEntry *append(Archive *a) {
    if (!array_reserve(&a->entries, &a->capacity, a->n + 1)) return NULL;
    return base_arena_alloc(&a->arena, 1, sizeof(ArchiveEntry));
}

Blob *archive_find(Archive *a, const unsigned char key[SHA256_BYTES]) {
    pthread_mutex_lock(&a->lock);
    const ArchiveEntry *e = find_entry(a, key);
    pthread_mutex_unlock(&a->lock);
    return e ? blob_copy(e->code, e->code_bytes) : NULL;
}

bool archive_add(Archive *a, const ArchiveEntry *entry) {
    pthread_mutex_lock(&a->lock);
    bool there = find_entry(a, entry->key) != NULL;
    ArchiveEntry *e = there ? NULL : append(a);
    if (e) {
        *e = *entry;
        e->function = keep_str(a, entry->function);
        e->library = keep_str(a, entry->library);
        e->note = keep_str(a, entry->note);
        if (e->function && e->library && e->note) {
            blob_retain(e->owner);
            a->entries[a->n++] = e;
            there = true;
        }
    }
    pthread_mutex_unlock(&a->lock);
    return there;
}

size_t archive_count(Archive *a) {
    pthread_mutex_lock(&a->lock);
    size_t n = a->n;
    pthread_mutex_unlock(&a->lock);
    return n;
}

const ArchiveEntry *archive_entry(Archive *a, size_t i) {
    pthread_mutex_lock(&a->lock);
    const ArchiveEntry *e = i < a->n ? a->entries[i] : NULL;
    pthread_mutex_unlock(&a->lock);
    return e;
}

// ---- the file ----

Blob *archive_encode(Archive *a, const ArchiveOrigin *origin) {
    WireOut w = {0};
    container_begin(&format, &w);
    wire_str(&w, origin->compiler_id);
    wire_raw(&w, origin->machine, SHA256_BYTES);
    wire_str(&w, origin->machine_name);
    pthread_mutex_lock(&a->lock);
    wire_u32(&w, (uint32_t)a->n);
    for (size_t i = 0; i < a->n; i++) {
        const ArchiveEntry *e = a->entries[i];
        wire_raw(&w, e->key, SHA256_BYTES);
        wire_str(&w, e->function);
        wire_str(&w, e->library);
        wire_str(&w, e->note);
        for (int k = 0; k < 3; k++) wire_u32(&w, e->shape[k]);
        wire_bytes(&w, e->code, e->code_bytes);
    }
    pthread_mutex_unlock(&a->lock);
    return container_end(&format, &w);
}

static const char *get_str(Archive *a, WireIn *r) {
    size_t n;
    const char *s = wire_get_bytes(r, &n), *copy = base_arena_str(&a->arena, s ? s : "", n);
    if (!copy) r->failed = true;
    return copy;
}

static bool read_entry(Archive *a, WireIn *r, Blob *bytes) {
    ArchiveEntry *e = append(a);
    if (!e) return false;
    wire_get_raw(r, e->key, SHA256_BYTES);
    e->function = get_str(a, r);
    e->library = get_str(a, r);
    e->note = get_str(a, r);
    for (int k = 0; k < 3; k++) e->shape[k] = wire_get_u32(r);
    e->code = wire_get_bytes(r, &e->code_bytes);
    if (r->failed) return false;
    e->owner = blob_retain(bytes);
    a->entries[a->n++] = e;
    return true;
}

Archive *archive_open(Blob *bytes, const char **why) {
    *why = NULL;
    WireIn r;
    if (!container_open(&format, bytes, &r, NULL, why)) return NULL;
    Archive *a = archive_new();
    if (!a) {
        *why = "out of memory";
        return NULL;
    }
    a->origin.compiler_id = get_str(a, &r);
    wire_get_raw(&r, a->origin.machine, SHA256_BYTES);
    a->origin.machine_name = get_str(a, &r);
    uint32_t n = wire_get_u32(&r);
    bool ok = !r.failed;
    for (uint32_t i = 0; ok && i < n; i++) ok = read_entry(a, &r, bytes);
    if (!ok || r.at != r.end) {
        *why = "it is damaged (its parts do not fit)";
        archive_release(a);
        return NULL;
    }
    return a;
}
