// SPDX-License-Identifier: Apache-2.0
// simd/types.h: another name that programs include.
#ifndef INGOT_MAC_SIMD_TYPES_H
#define INGOT_MAC_SIMD_TYPES_H
#include "vector_types.h"
#include "matrix_types.h"
#endif
