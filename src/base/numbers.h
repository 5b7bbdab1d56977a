// SPDX-License-Identifier: Apache-2.0
// numbers.h: Metal's scalar types by name and MTLDataType number, half and bfloat conversion, and
// text to typed bytes. For tools and tests; kernels convert by themselves.
#ifndef INGOT_BASE_NUMBERS_H
#define INGOT_BASE_NUMBERS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The bits of a float, as the processor has them.
typedef union FloatBits {
    float f;
    uint32_t u;
} FloatBits;
static inline uint32_t float_bits(float f) { return ((FloatBits){.f = f}).u; }
static inline float float_from_bits(uint32_t u) { return ((FloatBits){.u = u}).f; }

uint16_t half_from_float(float f); // round to nearest even; NaN stays NaN
float float_from_half(uint16_t h);
uint16_t bfloat_from_float(float f);
float float_from_bfloat(uint16_t b);

typedef enum NumberKind {
    NUMBER_FLOAT,
    NUMBER_HALF,
    NUMBER_BFLOAT,
    NUMBER_INT,
    NUMBER_UINT,
    NUMBER_BOOL
} NumberKind;
typedef struct NumberType {
    const char *name;   // as in `ingot run`: "f32", "u8"
    const char *metal;  // "float", "uchar"
    uint32_t data_type; // MTLDataType of the scalar; its vectors of 2, 3, 4 follow
    NumberKind kind;
    uint32_t n_bytes;
} NumberType;

const NumberType *number_type(const char *name); // "f32" or "float"; NULL if unknown
// Scalar type and components (1..4) of an MTLDataType; NULL if it is no scalar or vector.
const NumberType *number_of_data_type(uint32_t data_type, uint32_t *n_components);

// Text to one value: decimal, hexadecimal (0x) and floating forms, true and false, inf, nan. False
// if it is not a number of that type or out of its range.
bool number_parse(const NumberType *type, const char *text, void *out);
void number_print(const NumberType *type, const void *value, char *out, size_t capacity);
// Value as double and back (rounded, saturated): for generators and summaries.
double number_get(const NumberType *type, const void *value);
void number_set(const NumberType *type, double v, void *out);

// "1.5" or "1,2,3,4" for an MTLDataType to its bytes in memory (vectors of 3 take the room of 4).
// Returns the size; 0 if the text does not fit the type.
size_t constant_parse(uint32_t data_type, const char *text, unsigned char out[32]);
#endif
