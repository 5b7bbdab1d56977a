// SPDX-License-Identifier: Apache-2.0
// blob.c: shared immutable bytes (see blob.h).
#include "base/blob.h"
#include <stdlib.h>
#include <string.h>

Blob *blob_take(void *data, size_t n) {
    Blob *b = malloc(sizeof *b);
    if (!b) {
        free(data);
        return NULL;
    }
    atomic_init(&b->refs, 1);
    b->data = data;
    b->n_bytes = n;
    return b;
}

Blob *blob_copy(const void *data, size_t n) {
    void *copy = malloc(n ? n : 1);
    if (!copy) return NULL;
    if (n) memcpy(copy, data, n);
    return blob_take(copy, n);
}

Blob *blob_retain(Blob *b) {
    if (b) atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
    return b;
}

void blob_release(Blob *b) {
    if (!b || atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) != 1) return;
    free(b->data);
    free(b);
}
