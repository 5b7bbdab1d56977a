// SPDX-License-Identifier: Apache-2.0
// array.c: see array.h.
#include "base/array.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BYTES = 64, FIRST_ITEMS = 4 };

bool base_array_capacity(size_t capacity, size_t n, size_t item_bytes, size_t *larger) {
    const size_t most = PTRDIFF_MAX / item_bytes;
    size_t first = FIRST_BYTES / item_bytes;
    if (first < FIRST_ITEMS) first = FIRST_ITEMS;
    size_t wanted = capacity > most / 2 ? most : 2 * capacity;
    if (wanted < first) wanted = first;
    if (wanted < n) wanted = n;
    *larger = wanted;
    return wanted <= most;
}

// `items` is a T ** for some T: the pointer is copied, not read as another type.
static bool resize(void *items, size_t n_bytes) {
    void *at;
    memcpy(&at, items, sizeof at);
    at = realloc(at, n_bytes);
    if (!at) return false;
    memcpy(items, &at, sizeof at);
    return true;
}

bool base_array_reserve(void *items, size_t *capacity, size_t n, size_t item_bytes) {
    size_t larger;
    if (n <= *capacity) return true;
    if (!base_array_capacity(*capacity, n, item_bytes, &larger) ||
        !resize(items, larger * item_bytes))
        return false;
    *capacity = larger;
    return true;
}

bool base_array_more(void *items, size_t n, size_t item_bytes) {
    if (n & (n - 1)) return true; // of 0, 1, 2, 4, ... there may be no more room
    if (n > PTRDIFF_MAX / 2 / item_bytes) return false;
    return resize(items, (n ? 2 * n : 1) * item_bytes);
}
