// SPDX-License-Identifier: Apache-2.0
// range_coder.c: see range_coder.h. Probabilities have 12 bits and move by 1/16 of what is missing.
#include "apps/neural/range_coder.h"
#include "base/array.h"
#include <stdlib.h>

enum { ONE_BITS = 12, ONE = 1 << ONE_BITS, RATE = 4 };
#define TOP (1u << 24)

void range_model_init(RangeModel *m, unsigned n_bits) {
    m->n_bits = n_bits;
    for (size_t i = 0; i < (size_t)1 << n_bits; i++) m->zero[i] = ONE / 2;
}

static void adapt(uint16_t *zero, bool bit) {
    if (bit)
        *zero = (uint16_t)(*zero - (*zero >> RATE));
    else
        *zero = (uint16_t)(*zero + ((ONE - *zero) >> RATE));
}

static void put_byte(RangeEncoder *e, unsigned char byte) {
    if (!array_reserve(&e->data, &e->capacity, e->n + 1)) {
        e->failed = true;
        return;
    }
    e->data[e->n++] = byte;
}

// The top byte of low is settled unless a carry may still come: 0xff bytes wait.
static void shift_low(RangeEncoder *e) {
    if (e->low < 0xff000000u || e->low > 0xffffffffu) {
        const unsigned char carry = (unsigned char)(e->low >> 32);
        unsigned char byte = e->cache;
        do {
            put_byte(e, (unsigned char)(byte + carry));
            byte = 0xff;
        } while (--e->n_pending && !e->failed);
        e->cache = (unsigned char)(e->low >> 24);
    }
    e->n_pending++;
    e->low = (e->low & 0x00ffffffu) << 8;
}

void range_encode_begin(RangeEncoder *e) {
    *e = (RangeEncoder){.range = 0xffffffffu, .n_pending = 1};
}

void range_encode(RangeEncoder *e, RangeModel *m, uint32_t number) {
    uint32_t node = 1;
    for (unsigned i = m->n_bits; i-- > 0;) {
        const bool bit = number >> i & 1;
        const uint32_t bound = (e->range >> ONE_BITS) * m->zero[node];
        if (bit)
            e->low += bound, e->range -= bound;
        else
            e->range = bound;
        adapt(m->zero + node, bit);
        node = node << 1 | bit;
        while (e->range < TOP) {
            e->range <<= 8;
            shift_low(e);
        }
    }
}

bool range_encode_end(RangeEncoder *e) {
    for (int i = 0; i < 5; i++) shift_low(e);
    return !e->failed;
}

static uint32_t next(RangeDecoder *d) {
    if (d->at == d->end) {
        d->over = true;
        return 0;
    }
    return *d->at++;
}

void range_decode_begin(RangeDecoder *d, const unsigned char *data, size_t n) {
    *d = (RangeDecoder){.at = data, .end = data + n, .range = 0xffffffffu};
    for (int i = 0; i < 5; i++) d->code = d->code << 8 | next(d);
}

uint32_t range_decode(RangeDecoder *d, RangeModel *m) {
    uint32_t node = 1;
    for (unsigned i = m->n_bits; i-- > 0;) {
        const uint32_t bound = (d->range >> ONE_BITS) * m->zero[node];
        const bool bit = d->code >= bound;
        if (bit)
            d->code -= bound, d->range -= bound;
        else
            d->range = bound;
        adapt(m->zero + node, bit);
        node = node << 1 | bit;
        while (d->range < TOP) {
            d->range <<= 8;
            d->code = d->code << 8 | next(d);
        }
    }
    return node - (1u << m->n_bits);
}
