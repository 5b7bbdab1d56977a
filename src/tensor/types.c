// SPDX-License-Identifier: Apache-2.0
// types.c: element types: names, sizes, what they become together, and single elements as numbers.
#include <math.h>
#include <string.h>
#include "base/numbers.h"
#include "tensor/tensor_int.h"

static const struct {
    const char *name, *metal, *compute;
    size_t size;
    int rank; // in promotion; those that share one meet in the first that holds both
} types[IG_N_TYPES] = {
    [IgFloat16] = {"float16", "half", "float", 2, 5},
    [IgFloat32] = {"float32", "float", "float", 4, 6},
    [IgBFloat16] = {"bfloat16", "bfloat", "float", 2, 5},
    [IgInt8] = {"int8", "char", "int", 1, 1},
    [IgInt32] = {"int32", "int", "int", 4, 3},
    [IgInt64] = {"int64", "long", "long", 8, 4},
    [IgBool] = {"bool", "uchar", "int", 1, 0},
    [IgUInt8] = {"uint8", "uchar", "int", 1, 1},
    [IgInt16] = {"int16", "short", "int", 2, 2},
};

bool ig_is_type(IgType type) { return (unsigned)type < IG_N_TYPES; }
bool ig_is_float(IgType type) { return types[type].rank >= 5; }
const char *ig_type_name(IgType type) { return ig_is_type(type) ? types[type].name : ""; }
size_t ig_type_size(IgType type) { return ig_is_type(type) ? types[type].size : 0; }
const char *ig_type_metal(IgType type) { return types[type].metal; }
const char *ig_type_bits(IgType type) {
    static const char *const names[] = {[1] = "uchar", [2] = "ushort", [4] = "uint", [8] = "ulong"};
    return names[types[type].size];
}
const char *ig_type_compute(IgType type) { return types[type].compute; }

IgType ig_promote(IgType a, IgType b) {
    if (a == b) return a;
    if (types[a].rank == types[b].rank) return ig_is_float(a) ? IgFloat32 : IgInt16;
    return types[a].rank > types[b].rank ? a : b;
}

double ig_element_get(IgType type, const void *data, int64_t i) {
    switch (type) {
    case IgFloat16: return (double)float_from_half(((const uint16_t *)data)[i]);
    case IgFloat32: return (double)((const float *)data)[i];
    case IgBFloat16: return (double)float_from_bfloat(((const uint16_t *)data)[i]);
    case IgInt8: return ((const int8_t *)data)[i];
    case IgInt32: return ((const int32_t *)data)[i];
    case IgInt64: return (double)((const int64_t *)data)[i];
    case IgBool: return ((const uint8_t *)data)[i] != 0;
    case IgUInt8: return ((const uint8_t *)data)[i];
    case IgInt16: return ((const int16_t *)data)[i];
    }
    return 0;
}

// Rounded towards zero and kept inside the type.
static int64_t integer(double v, int64_t low, int64_t high) {
    if (!(v == v)) return 0;
    if (v <= (double)low) return low;
    return v >= (double)high ? high : (int64_t)v;
}

void ig_element_set(IgType type, void *data, int64_t i, double v) {
    switch (type) {
    case IgFloat16: ((uint16_t *)data)[i] = half_from_float((float)v); break;
    case IgFloat32: ((float *)data)[i] = (float)v; break;
    case IgBFloat16: ((uint16_t *)data)[i] = bfloat_from_float((float)v); break;
    case IgInt8: ((int8_t *)data)[i] = (int8_t)integer(v, INT8_MIN, INT8_MAX); break;
    case IgInt32: ((int32_t *)data)[i] = (int32_t)integer(v, INT32_MIN, INT32_MAX); break;
    case IgInt64: ((int64_t *)data)[i] = integer(v, INT64_MIN, INT64_MAX); break;
    case IgBool: ((uint8_t *)data)[i] = v != 0; break;
    case IgUInt8: ((uint8_t *)data)[i] = (uint8_t)integer(v, 0, UINT8_MAX); break;
    case IgInt16: ((int16_t *)data)[i] = (int16_t)integer(v, INT16_MIN, INT16_MAX); break;
    }
}
