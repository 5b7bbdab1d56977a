// SPDX-License-Identifier: Apache-2.0
// array.h: arrays that grow. The room doubles, so that n additions cost O(n); sizes that overflow
// are no memory; without memory an array is as it was, and who grows it says so in his own way.
//
//     if (!array_reserve(&list->items, &list->capacity, list->n + 1)) return false;
//     list->items[list->n++] = item;
//
// {NULL, 0} is an array without room. What is new is not initialised. free() ends it.
#ifndef INGOT_BASE_ARRAY_H
#define INGOT_BASE_ARRAY_H
#include <stdbool.h>
#include <stddef.h>

// Room for n items. items: T **; capacity: size_t *. False: no memory.
#define array_reserve(items, capacity, n)                                                          \
    base_array_reserve((items), (capacity), (n), sizeof **(items))
// Room for one behind n, in an array whose capacity is not kept: it is the power of two from n on.
// Only this makes room in it.
#define array_more(items, n) base_array_more((items), (n), sizeof **(items))

// What they call. items: the address of the pointer, of any type.
bool base_array_reserve(void *items, size_t *capacity, size_t n, size_t item_bytes);
bool base_array_more(void *items, size_t n, size_t item_bytes);
// The policy, for other allocators: the capacity that an array takes which needs room for n.
// False: its bytes overflow.
bool base_array_capacity(size_t capacity, size_t n, size_t item_bytes, size_t *larger);
#endif
