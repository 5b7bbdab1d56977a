// SPDX-License-Identifier: Apache-2.0
// dict.c: named tensors and metadata. Entries stand in the order in which they came; a table of
// hashes finds them, so that files with very many names are read in linear time.
#include <stdlib.h>
#include <string.h>
#include "base/hash_table.h"
#include "ingot/tensor_files.h"
#include "tensor/tensor_int.h"

typedef struct Entry {
    HashNode node;
    char *name;
    IgTensor *tensor; // or the value of metadata:
    char *value;
} Entry;

typedef struct Table {
    Entry **entries; // in the order in which they came
    int n, capacity;
    HashTable names;
} Table;

struct IgDict {
    atomic_uint refs;
    Table tensors, metadata;
};

static Entry *find_entry(const Table *t, const char *name) {
    const uint64_t hash = hash_text(name);
    for (HashNode *n = hash_chain(&t->names, hash); n; n = n->next)
        if (n->hash == hash && !strcmp(((Entry *)n)->name, name)) return (Entry *)n;
    return NULL;
}

static void free_entry(HashNode *node) {
    Entry *e = (Entry *)node;
    ig_release(e->tensor);
    free(e->value);
    free(e->name);
    free(e);
}

static bool grow(Table *t) {
    if (t->n < t->capacity) return true;
    int capacity = t->capacity ? t->capacity * 2 : 16;
    Entry **entries = realloc(t->entries, (size_t)capacity * sizeof *entries);
    if (!entries) return false;
    t->entries = entries;
    t->capacity = capacity;
    return true;
}

// The entry of that name, new and empty if there was none; NULL: no memory.
static Entry *entry_for(Table *t, const char *name) {
    Entry *e = find_entry(t, name);
    if (e) return e;
    e = calloc(1, sizeof *e);
    if (e) e->name = strdup(name);
    if (!e || !e->name || !grow(t)) goto fail;
    e->node.hash = hash_text(name);
    if (!hash_add(&t->names, &e->node)) goto fail;
    return t->entries[t->n++] = e;
fail:
    if (e) free_entry(&e->node);
    return NULL;
}

static bool remove_entry(Table *t, const char *name) {
    Entry *e = find_entry(t, name);
    if (!e) return false;
    int at = 0;
    while (t->entries[at] != e) at++;
    memmove(&t->entries[at], &t->entries[at + 1], (size_t)(--t->n - at) * sizeof *t->entries);
    hash_remove(&t->names, &e->node);
    free_entry(&e->node);
    return true;
}

static void free_table(Table *t) {
    hash_clear(&t->names, free_entry);
    free(t->entries);
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
    return dict && i >= 0 && i < dict->tensors.n ? dict->tensors.entries[i]->name : NULL;
}

IgTensor *ig_dict_tensor(const IgDict *dict, int i) {
    return dict && i >= 0 && i < dict->tensors.n ? dict->tensors.entries[i]->tensor : NULL;
}

IgTensor *ig_dict_get(const IgDict *dict, const char *name) {
    const Entry *e = dict && name ? find_entry(&dict->tensors, name) : NULL;
    return e ? e->tensor : NULL;
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
    return dict && i >= 0 && i < dict->metadata.n ? dict->metadata.entries[i]->name : NULL;
}

const char *ig_dict_metadata(const IgDict *dict, const char *key) {
    const Entry *e = dict && key ? find_entry(&dict->metadata, key) : NULL;
    return e ? e->value : NULL;
}
