// SPDX-License-Identifier: Apache-2.0
// dict.c: named tensors and metadata. Entries stand in the order in which they came; a table of
// hashes finds them, so that files with very many names are read in linear time.
#include <stdlib.h>
#include <string.h>
#include "ingot/tensor_files.h"
#include "tensor/tensor_int.h"

typedef struct Entry {
    char *name;
    uint64_t hash;
    IgTensor *tensor; // or the value of metadata:
    char *value;
} Entry;

typedef struct Table {
    Entry *entries;
    int n, capacity;
    int32_t *slots; // 1 + number of an entry; 0: free. A power of two, at least twice n
    size_t n_slots;
} Table;

struct IgDict {
    atomic_uint refs;
    Table tensors, metadata;
};

static uint64_t hash_of(const char *name) {
    uint64_t h = 1469598103934665603u;
    for (; *name; name++) h = (h ^ (unsigned char)*name) * 1099511628211u;
    return h ^ h >> 29;
}

static int find(const Table *t, const char *name, uint64_t hash) {
    for (size_t i = hash; t->n_slots; i++) {
        int32_t slot = t->slots[i & (t->n_slots - 1)];
        if (!slot) break;
        const Entry *e = &t->entries[slot - 1];
        if (e->hash == hash && !strcmp(e->name, name)) return slot - 1;
    }
    return -1;
}

static void fill_slots(Table *t) {
    memset(t->slots, 0, t->n_slots * sizeof *t->slots);
    for (int i = 0; i < t->n; i++) {
        size_t at = t->entries[i].hash;
        while (t->slots[at & (t->n_slots - 1)]) at++;
        t->slots[at & (t->n_slots - 1)] = i + 1;
    }
}

static bool grow(Table *t) {
    if (t->n < t->capacity) return true;
    int capacity = t->capacity ? t->capacity * 2 : 16;
    Entry *entries = realloc(t->entries, (size_t)capacity * sizeof *entries);
    if (!entries) return false;
    t->entries = entries;
    int32_t *slots = realloc(t->slots, (size_t)capacity * 2 * sizeof *slots);
    if (!slots) return false;
    t->slots = slots;
    t->n_slots = (size_t)capacity * 2;
    t->capacity = capacity;
    fill_slots(t);
    return true;
}

// The entry of that name, new and empty if there was none; NULL: no memory.
static Entry *entry_for(Table *t, const char *name) {
    uint64_t hash = hash_of(name);
    int at = find(t, name, hash);
    if (at >= 0) return &t->entries[at];
    char *copy = strdup(name);
    if (!copy || !grow(t)) {
        free(copy);
        return NULL;
    }
    size_t slot = hash;
    while (t->slots[slot & (t->n_slots - 1)]) slot++;
    t->slots[slot & (t->n_slots - 1)] = t->n + 1;
    t->entries[t->n] = (Entry){.name = copy, .hash = hash};
    return &t->entries[t->n++];
}

static void clear_entry(Entry *e) {
    ig_release(e->tensor);
    free(e->value);
    free(e->name);
}

static bool remove_entry(Table *t, const char *name) {
    int at = find(t, name, hash_of(name));
    if (at < 0) return false;
    clear_entry(&t->entries[at]);
    memmove(&t->entries[at], &t->entries[at + 1], (size_t)(--t->n - at) * sizeof *t->entries);
    fill_slots(t);
    return true;
}

static void free_table(Table *t) {
    for (int i = 0; i < t->n; i++) clear_entry(&t->entries[i]);
    free(t->entries);
    free(t->slots);
}

// ---- The public functions ----

IgDict *ig_dict_new(void) {
    IgDict *dict = calloc(1, sizeof *dict);
    if (dict) atomic_init(&dict->refs, 1);
    return dict;
}

IgDict *ig_dict_retain(IgDict *dict) {
    if (dict) atomic_fetch_add_explicit(&dict->refs, 1, memory_order_relaxed);
    return dict;
}

void ig_dict_release(IgDict *dict) {
    if (!dict || atomic_fetch_sub_explicit(&dict->refs, 1, memory_order_acq_rel) != 1) return;
    free_table(&dict->tensors);
    free_table(&dict->metadata);
    free(dict);
}

static bool good_name(const char *call, const IgDict *dict, const char *name, MTLError **error) {
    if (!dict) return ig_fail(error, IgErrorArgument, "%s: no dictionary", call);
    if (name && *name) return true;
    return ig_fail(error, IgErrorArgument, "%s: an empty name", call);
}

bool ig_dict_set(IgDict *dict, const char *name, IgTensor *tensor, MTLError **error) {
    if (!good_name("ig_dict_set", dict, name, error) || !tensor) return false;
    Entry *e = entry_for(&dict->tensors, name);
    if (!e) return ig_fail_no_memory(error);
    IgTensor *old = e->tensor;
    e->tensor = ig_retain(tensor);
    ig_release(old);
    return true;
}

bool ig_dict_remove(IgDict *dict, const char *name) {
    return dict && name && remove_entry(&dict->tensors, name);
}

int ig_dict_count(const IgDict *dict) { return dict ? dict->tensors.n : 0; }

const char *ig_dict_name(const IgDict *dict, int i) {
    return dict && i >= 0 && i < dict->tensors.n ? dict->tensors.entries[i].name : NULL;
}

IgTensor *ig_dict_tensor(const IgDict *dict, int i) {
    return dict && i >= 0 && i < dict->tensors.n ? dict->tensors.entries[i].tensor : NULL;
}

IgTensor *ig_dict_get(const IgDict *dict, const char *name) {
    return dict && name ? ig_dict_tensor(dict, find(&dict->tensors, name, hash_of(name))) : NULL;
}

bool ig_dict_set_metadata(IgDict *dict, const char *key, const char *value, MTLError **error) {
    if (!good_name("ig_dict_set_metadata", dict, key, error)) return false;
    if (!value) {
        remove_entry(&dict->metadata, key);
        return true;
    }
    char *copy = strdup(value);
    Entry *e = copy ? entry_for(&dict->metadata, key) : NULL;
    if (!e) {
        free(copy);
        return ig_fail_no_memory(error);
    }
    free(e->value);
    e->value = copy;
    return true;
}

int ig_dict_metadata_count(const IgDict *dict) { return dict ? dict->metadata.n : 0; }

const char *ig_dict_metadata_key(const IgDict *dict, int i) {
    return dict && i >= 0 && i < dict->metadata.n ? dict->metadata.entries[i].name : NULL;
}

const char *ig_dict_metadata(const IgDict *dict, const char *key) {
    int i = dict && key ? find(&dict->metadata, key, hash_of(key)) : -1;
    return i >= 0 ? dict->metadata.entries[i].value : NULL;
}
