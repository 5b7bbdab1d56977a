// SPDX-License-Identifier: Apache-2.0
// free_list.h: per-thread free lists of small objects: recording allocates and frees some hundred
// of them per training step, more than malloc's thread cache holds.
#ifndef INGOT_TENSOR_FREE_LIST_H
#define INGOT_TENSOR_FREE_LIST_H
#include <stddef.h>

typedef enum IgFreeList { IG_FREE_LIST_EXPR, IG_FREE_LIST_DATA, IG_N_FREE_LISTS } IgFreeList;
void *ig_free_list_pop(IgFreeList kind, size_t n_bytes); // as malloc; all of a kind have one size
void ig_free_list_push(IgFreeList kind, void *memory);   // by any thread
#endif
