// SPDX-License-Identifier: Apache-2.0
// wire.c: writer and reader of structured bytes (see wire.h). The writer grows by doubling and
// stops at the first failed allocation; the reader checks every length against what is left before
// it moves.
#include "base/wire.h"
#include "base/array.h"
#include <stdlib.h>
#include <string.h>

static bool reserve(WireOut *w, size_t n) {
    if (w->failed) return false;
    if (n <= w->capacity - w->n_bytes) return true;
    size_t all;
    w->failed =
        __builtin_add_overflow(w->n_bytes, n, &all) || !array_reserve(&w->data, &w->capacity, all);
    return !w->failed;
}

static void put_little(WireOut *w, uint64_t v, unsigned n) {
    if (!reserve(w, n)) return;
    for (unsigned i = 0; i < n; i++) w->data[w->n_bytes++] = (unsigned char)(v >> (8 * i));
}

void wire_u8(WireOut *w, uint8_t v) { put_little(w, v, 1); }
void wire_u32(WireOut *w, uint32_t v) { put_little(w, v, 4); }
void wire_u64(WireOut *w, uint64_t v) { put_little(w, v, 8); }

void wire_raw(WireOut *w, const void *data, size_t n) {
    if (!n || !reserve(w, n)) return;
    memcpy(w->data + w->n_bytes, data, n);
    w->n_bytes += n;
}

void wire_bytes(WireOut *w, const void *data, size_t n) {
    wire_u64(w, n);
    wire_raw(w, data, n);
}

void wire_str(WireOut *w, const char *s) { wire_bytes(w, s ? s : "", s ? strlen(s) : 0); }

void wire_free(WireOut *w) {
    free(w->data);
    *w = (WireOut){0};
}

static uint64_t get_little(WireIn *r, unsigned n) {
    if (r->failed || (size_t)(r->end - r->at) < n) {
        r->failed = true;
        return 0;
    }
    uint64_t v = 0;
    for (unsigned i = 0; i < n; i++) v |= (uint64_t)r->at[i] << (8 * i);
    r->at += n;
    return v;
}

uint8_t wire_get_u8(WireIn *r) { return (uint8_t)get_little(r, 1); }
uint32_t wire_get_u32(WireIn *r) { return (uint32_t)get_little(r, 4); }
uint64_t wire_get_u64(WireIn *r) { return get_little(r, 8); }

void wire_get_raw(WireIn *r, void *to, size_t n) {
    if (r->failed || (size_t)(r->end - r->at) < n) {
        r->failed = true;
        memset(to, 0, n);
        return;
    }
    memcpy(to, r->at, n);
    r->at += n;
}

const void *wire_get_bytes(WireIn *r, size_t *n) {
    uint64_t length = wire_get_u64(r);
    if (r->failed || length > (uint64_t)(r->end - r->at)) {
        r->failed = true;
        *n = 0;
        return NULL;
    }
    const void *data = r->at;
    r->at += length;
    *n = (size_t)length;
    return data;
}

char *wire_get_str(WireIn *r) {
    size_t n;
    const void *data = wire_get_bytes(r, &n);
    char *s = malloc(n + 1);
    if (!s) {
        r->failed = true;
        return NULL;
    }
    if (n) memcpy(s, data, n);
    s[n] = 0;
    return s;
}
