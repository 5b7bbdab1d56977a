// SPDX-License-Identifier: Apache-2.0
// safetensors.c: headers of safetensors files, see safetensors.h.
#include "base/safetensors.h"
#include "base/array.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Whole numbers are read as double.
#define MAX_NUMBER 9007199254740992u

static const struct {
    const char *name;
    char kind;
    size_t n_bytes;
} types[] = {{"F16", 'f', 2}, {"F32", 'f', 4}, {"F64", 'f', 8}, {"BF16", 'B', 2}, {"I8", 'i', 1},
             {"I16", 'i', 2}, {"I32", 'i', 4}, {"I64", 'i', 8}, {"U8", 'u', 1},   {"U16", 'u', 2},
             {"U32", 'u', 4}, {"U64", 'u', 8}, {"BOOL", 'b', 1}};
enum { N_TYPES = sizeof types / sizeof *types };

const char *safetensors_dtype(char kind, size_t n_bytes) {
    for (int i = 0; i < N_TYPES; i++)
        if (types[i].kind == kind && types[i].n_bytes == n_bytes) return types[i].name;
    return "";
}

typedef struct Reader {
    SafeTensors *out;
    const char *name; // of the file
    JsonReader *json;
    char *message, *scratch; // scratch: as long as the header, so that any text in it fits
    size_t n_scratch;
} Reader;

// ---- The header ----

static bool read_type(Reader *r, SafeTensor *t) {
    if (!json_string_value(r->json, t->dtype, sizeof t->dtype)) return false;
    for (int i = 0; i < N_TYPES; i++)
        if (!strcmp(types[i].name, t->dtype)) {
            t->kind = types[i].kind;
            t->n_bytes = types[i].n_bytes;
        }
    return true;
}

// Up to max whole numbers.
static bool read_numbers(Reader *r, uint64_t *to, size_t max, size_t *n) {
    *n = 0;
    if (!json_enter_array(r->json)) return false;
    while (json_next_item(r->json)) {
        if (*n == max) return json_fail(r->json, "more than %zu numbers", max);
        if (!json_uint(r->json, &to[(*n)++], 0, MAX_NUMBER)) return false;
    }
    return json_ok(r->json);
}

static bool take_shape(Reader *r, SafeTensor *t, const uint64_t *lengths) {
    uint64_t product = 1, n = 1; // product: without those that are 0, which must be sane, too
    for (size_t i = 0; i < t->rank; i++) {
        if (lengths[i] > INT32_MAX || (product *= lengths[i] ? lengths[i] : 1) > INT32_MAX)
            return json_message(r->message, "%s: a shape that is too large", r->name);
        n *= lengths[i];
        t->shape[i] = (int64_t)lengths[i];
    }
    t->n_elements = (int64_t)n;
    return true;
}

static bool read_item(Reader *r, SafeTensor *t) {
    bool seen[3] = {false, false, false};
    uint64_t lengths[SAFETENSORS_RANK], offsets[2] = {0, 0};
    size_t n = 0;
    if (!json_enter_object(r->json)) return false;
    char key[32];
    while (json_next_key_text(r->json, key, sizeof key)) {
        int which = !strcmp(key, "dtype") ? 0 : !strcmp(key, "shape") ? 1 : 2;
        if (which == 2 && strcmp(key, "data_offsets")) return json_fail(r->json, "an unknown key");
        if (seen[which]) return json_fail(r->json, "it comes twice");
        seen[which] = true;
        if (!(which == 0   ? read_type(r, t)
              : which == 1 ? read_numbers(r, lengths, SAFETENSORS_RANK, &t->rank)
                           : read_numbers(r, offsets, 2, &n)))
            return false;
    }
    if (!json_ok(r->json)) return false;
    if (!seen[0] || !seen[1] || n != 2)
        return json_message(r->message,
                            "%s: tensor '%s' lacks a dtype, a shape or two data_offsets", r->name,
                            t->name);
    t->begin = offsets[0], t->end = offsets[1];
    return take_shape(r, t, lengths);
}

static bool add_text(SafeTensors *s, const char *text) {
    if (!array_reserve(&s->metadata, &s->metadata_capacity, s->n_metadata + 1)) return false;
    char *copy = strdup(text);
    if (copy) s->metadata[s->n_metadata++] = copy;
    return copy != NULL;
}

static bool read_metadata(Reader *r) {
    SafeTensors *s = r->out;
    if (!json_enter_object(r->json)) return false;
    while (json_next_key_text(r->json, r->scratch, r->n_scratch)) {
        for (size_t i = 0; i < s->n_metadata; i += 2)
            if (!strcmp(s->metadata[i], r->scratch)) return json_fail(r->json, "it comes twice");
        if (!*r->scratch) return json_fail(r->json, "an empty key");
        if (!add_text(s, r->scratch) || !json_string_value(r->json, r->scratch, r->n_scratch) ||
            !add_text(s, r->scratch))
            return false;
    }
    return json_ok(r->json);
}

static bool read_header(Reader *r) {
    SafeTensors *s = r->out;
    bool metadata = false;
    if (!json_enter_object(r->json)) return false;
    while (json_next_key_text(r->json, r->scratch, r->n_scratch)) {
        if (!strcmp(r->scratch, "__metadata__")) {
            if (metadata) return json_fail(r->json, "it comes twice");
            metadata = true;
            if (!read_metadata(r)) return false;
            continue;
        }
        if (!*r->scratch) return json_fail(r->json, "a tensor without a name");
        if (!array_reserve(&s->items, &s->capacity, s->n + 1)) return false;
        SafeTensor *t = &s->items[s->n];
        *t = (SafeTensor){.name = strdup(r->scratch)};
        if (!t->name) return false;
        s->n++;
        if (!read_item(r, t)) return false;
    }
    return json_finish(r->json);
}

// ---- What it says of the data ----

static int by_name(const void *a, const void *b) {
    const SafeTensor *x = *(SafeTensor *const *)a, *y = *(SafeTensor *const *)b;
    return strcmp(x->name, y->name);
}

static int by_place(const void *a, const void *b) {
    const SafeTensor *x = *(SafeTensor *const *)a, *y = *(SafeTensor *const *)b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

static bool check_item(Reader *r, const SafeTensor *t, uint64_t at) {
    const uint64_t n = (uint64_t)t->n_elements * t->n_bytes;
    if (t->end < t->begin || (t->kind && t->end - t->begin != n))
        return json_message(
            r->message,
            "%s: tensor '%s' of %lld elements of %s has %llu bytes, its offsets are %llu "
            "and %llu",
            r->name, t->name, (long long)t->n_elements, t->dtype, (unsigned long long)n,
            (unsigned long long)t->begin, (unsigned long long)t->end);
    if (t->begin != at)
        return json_message(r->message,
                            "%s: tensor '%s' begins at %llu, the one before it ends at %llu",
                            r->name, t->name, (unsigned long long)t->begin, (unsigned long long)at);
    return true;
}

// No name twice; no holes, no overlaps, nothing outside.
static bool check_items(Reader *r, uint64_t n_data) {
    SafeTensors *s = r->out;
    SafeTensor **order = malloc((s->n + 1) * sizeof *order);
    if (!order) return false;
    for (size_t i = 0; i < s->n; i++) order[i] = &s->items[i];
    qsort(order, s->n, sizeof *order, by_name);
    bool ok = true;
    for (size_t i = 1; ok && i < s->n; i++)
        if (!strcmp(order[i]->name, order[i - 1]->name))
            ok = json_message(r->message, "%s: tensor '%s' comes twice", r->name, order[i]->name);
    qsort(order, s->n, sizeof *order, by_place);
    uint64_t at = 0;
    for (size_t i = 0; ok && i < s->n; i++) {
        ok = check_item(r, order[i], at);
        at = order[i]->end;
    }
    free(order);
    if (!ok || at == n_data) return ok;
    return json_message(r->message, "%s: the tensors take %llu bytes, the file has %llu", r->name,
                        (unsigned long long)at, (unsigned long long)n_data);
}

// The length of the header, checked.
static bool read_length(const char *name, const unsigned char *bytes, size_t n_bytes, size_t *n,
                        char *message) {
    uint64_t length = 0;
    if (n_bytes < 8) return json_message(message, "%s: it is no safetensors file", name);
    for (int i = 0; i < 8; i++) length |= (uint64_t)bytes[i] << 8 * i;
    if (length > SAFETENSORS_MAX_HEADER || length > n_bytes - 8)
        return json_message(
            message,
            "%s: it is truncated, or no safetensors file: a header of %llu bytes, and "
            "%zu in the file",
            name, (unsigned long long)length, n_bytes);
    *n = (size_t)length;
    return true;
}

bool safetensors_read(SafeTensors *s, const void *bytes, size_t n_bytes, const char *name,
                      char *message) {
    *s = (SafeTensors){0};
    message[0] = 0;
    size_t n = 0;
    if (!read_length(name, bytes, n_bytes, &n, message)) return false;
    const unsigned char *header = (const unsigned char *)bytes + 8;
    Reader r = {.out = s,
                .name = name,
                .json = malloc(sizeof *r.json),
                .message = message,
                .scratch = malloc(n + 64),
                .n_scratch = n + 64};
    bool ok = r.json && r.scratch;
    if (ok) {
        json_begin(r.json, (const char *)header, n, name, message);
        ok = read_header(&r) && check_items(&r, n_bytes - 8 - n);
    }
    s->data = header + n;
    free(r.scratch);
    free(r.json);
    if (!ok) safetensors_free(s);
    return ok;
}

void safetensors_free(SafeTensors *s) {
    for (size_t i = 0; i < s->n; i++) free(s->items[i].name);
    for (size_t i = 0; i < s->n_metadata; i++) free(s->metadata[i]);
    free(s->items);
    free(s->metadata);
    *s = (SafeTensors){0};
}

const SafeTensor *safetensors_find(const SafeTensors *s, const char *name) {
    for (size_t i = 0; i < s->n; i++)
        if (!strcmp(s->items[i].name, name)) return &s->items[i];
    return NULL;
}
