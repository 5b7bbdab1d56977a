// SPDX-License-Identifier: Apache-2.0
// candidate.h: what an intersection function is told of a primitive, and what it answers. One
// structure of words for all of them, in memory of the thread: the Metal headers
// (stdlib/detail/ray_functions.h) fill it in, the function around the program's own
// (codegen/intersection.c) hands out what that asks for. frontend/reflect_intersection.c knows
// which attribute is which word. Change anything: raise ABI_VERSION.
#ifndef INGOT_ABI_CANDIDATE_H
#define INGOT_ABI_CANDIDATE_H
#include <stdint.h>

enum {                      // words
    ABI_CAND_KIND = 0,      // CPU_HIT_TRIANGLE, ...
    ABI_CAND_ACCEPT,        // an answer; as long as nobody answers 0
    ABI_CAND_CONTINUE,      // an answer; as long as nobody answers 1
    ABI_CAND_DISTANCE,      // of triangles and curves; of a box the answer
    ABI_CAND_ORIGIN,        // .. +2: in the primitive's space
    ABI_CAND_DIRECTION = 7, // .. +2
    ABI_CAND_MIN = 10,
    ABI_CAND_MAX,
    ABI_CAND_PRIMITIVE,
    ABI_CAND_GEOMETRY,
    ABI_CAND_INSTANCE, // outermost
    ABI_CAND_USER,
    ABI_CAND_U, // .. +1; of a curve: its parameter
    ABI_CAND_FRONT = 18,
    ABI_CAND_OPAQUE,
    ABI_CAND_INSTANCE_OFFSET, // into the table
    ABI_CAND_GEOMETRY_OFFSET,
    ABI_CAND_TIME,
    ABI_CAND_START, // .. +1: and end, of the motion of primitives
    ABI_CAND_KEYFRAMES = 25,
    ABI_CAND_WORLD_ORIGIN,         // .. +2
    ABI_CAND_WORLD_DIRECTION = 29, // .. +2
    ABI_CAND_TO_WORLD = 32,        // .. +11, column by column
    ABI_CAND_TO_OBJECT = 44,       // .. +11
    ABI_CAND_FUNCTION = 56,        // the entry of the table that was called
    ABI_CAND_LEVELS,               // of instances
    ABI_CAND_DATA,                 // .. +1: address of the primitive's data
    ABI_CAND_USER_DATA = 60,       // .. +1: address
    ABI_CAND_INSTANCES = 62,       // .. +31: of all levels
    ABI_CAND_USERS = 94,           // .. +31
    ABI_CAND_WORDS = 126,
};

// Bits of MTLIntersectionFunctionSignature: what a function, a table and an intersector agree on.
enum {
    ABI_TAG_INSTANCING = 1,
    ABI_TAG_TRIANGLE_DATA = 2,
    ABI_TAG_WORLD_SPACE_DATA = 4,
    ABI_TAG_INSTANCE_MOTION = 8,
    ABI_TAG_PRIMITIVE_MOTION = 16,
    ABI_TAG_EXTENDED_LIMITS = 32,
    ABI_TAG_MAX_LEVELS = 64,
    ABI_TAG_CURVE_DATA = 128,
    ABI_TAG_FUNCTION_BUFFER = 256,
    ABI_TAG_USER_DATA = 512,
};
#endif
