// SPDX-License-Identifier: Apache-2.0
// data_types.h: the numbers of types that reflection and the compiler speak of. Vectors of two,
// three and four follow their scalar.
#ifndef INGOT_ABI_DATA_TYPES_H
#define INGOT_ABI_DATA_TYPES_H

enum { // MTLDataType
    DT_NONE = 0,
    DT_STRUCT = 1,
    DT_ARRAY = 2,
    DT_FLOAT = 3,
    DT_FLOAT2X2 = 7,
    DT_HALF = 16,
    DT_HALF2X2 = 20,
    DT_INT = 29,
    DT_UINT = 33,
    DT_SHORT = 37,
    DT_USHORT = 41,
    DT_CHAR = 45,
    DT_UCHAR = 49,
    DT_BOOL = 53,
    DT_TEXTURE = 58,
    DT_SAMPLER = 59,
    DT_POINTER = 60,
    DT_RENDER_PIPELINE = 78,
    DT_COMPUTE_PIPELINE = 79,
    DT_COMMAND_BUFFER = 80,
    DT_LONG = 81,
    DT_ULONG = 85,
    DT_FUNCTION_TABLE = 115,
    DT_INTERSECTION_TABLE = 116,
    DT_ACCELERATION = 117, // primitive_acceleration_structure
    DT_INSTANCE_ACCELERATION = 118,
    DT_BFLOAT = 121,
    DT_DEPTH_STENCIL = 139,
    DT_TENSOR = 140,
    DT_INT4 = 143,
    DT_UINT4 = 144,
};
#endif
