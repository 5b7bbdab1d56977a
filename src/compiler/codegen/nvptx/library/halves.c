// SPDX-License-Identifier: Apache-2.0
// halves.c: what functions of textures and decoders of blocks need of base/numbers.h, whose file
// has more than a GPU can.
#include "base/numbers.h"

float float_from_half(uint16_t h) {
    union {
        uint16_t bits;
        _Float16 x;
    } both = {h};
    return (float)both.x;
}
uint16_t half_from_float(float x) {
    union {
        _Float16 x;
        uint16_t bits;
    } both = {(_Float16)x};
    return both.bits;
}
