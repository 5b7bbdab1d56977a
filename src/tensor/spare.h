// SPDX-License-Identifier: Apache-2.0
// spare.h: memory of small objects that are gone, kept by the thread for its next ones: recording
// makes and frees some hundred of them in a step of a training, more than malloc keeps at hand.
#ifndef INGOT_TENSOR_SPARE_H
#define INGOT_TENSOR_SPARE_H
#include <stddef.h>

typedef enum IgSpare { IG_SPARE_EXPR, IG_SPARE_DATA, IG_N_SPARES } IgSpare;
void *ig_spare_take(IgSpare kind, size_t n_bytes); // as malloc; all of a kind have one size
void ig_spare_give(IgSpare kind, void *memory);    // by any thread
#endif
