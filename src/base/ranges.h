// SPDX-License-Identifier: Apache-2.0
// ranges.h: numbers that are given out in rows, and come back. Who has several threads locks.
#ifndef INGOT_BASE_RANGES_H
#define INGOT_BASE_RANGES_H
#include <stdbool.h>
#include <stddef.h>

typedef struct Ranges {
    struct Range *free; // in order, neighbours joined; NULL: none, or not begun
} Ranges;

// All of 0 ... n - 1 are free. False: no memory.
bool ranges_begin(Ranges *ranges, size_t n);
void ranges_end(Ranges *ranges);
// The first of n in a row. False: there are none.
bool ranges_take(Ranges *ranges, size_t n, size_t *first);
// Where there is no memory to remember them they are never given out again.
void ranges_give(Ranges *ranges, size_t first, size_t n);
#endif
