// SPDX-License-Identifier: Apache-2.0
// range_coder.h: numbers of a few bits into as few bytes as their distribution allows: a binary
// range coder with adaptive probabilities (Martin, 1979; the carry-less form LZMA made known). The
// model learns while it codes, on both sides alike: nothing but the numbers is stored.
#ifndef INGOT_NEURAL_RANGE_CODER_H
#define INGOT_NEURAL_RANGE_CODER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RANGE_MAX_BITS = 12 };

// Probabilities for numbers of n_bits: one for each beginning of a number, top bit first.
typedef struct RangeModel {
    unsigned n_bits;
    uint16_t zero[1 << RANGE_MAX_BITS];
} RangeModel;
void range_model_init(RangeModel *m, unsigned n_bits);

typedef struct RangeEncoder {
    unsigned char *data; // owned by the caller, malloc'd
    size_t n, capacity;
    uint64_t low;
    uint32_t range;
    unsigned char cache;
    uint64_t n_pending;
    bool failed; // out of memory
} RangeEncoder;
void range_encode_begin(RangeEncoder *e);
void range_encode(RangeEncoder *e, RangeModel *m, uint32_t number);
bool range_encode_end(RangeEncoder *e);

typedef struct RangeDecoder {
    const unsigned char *at, *end;
    uint32_t range, code;
    bool over; // more was read than there is
} RangeDecoder;
void range_decode_begin(RangeDecoder *d, const unsigned char *data, size_t n);
uint32_t range_decode(RangeDecoder *d, RangeModel *m);
#endif
