// SPDX-License-Identifier: Apache-2.0
// simd/packed.h: another name that programs include.
#ifndef INGOT_MAC_SIMD_PACKED_H
#define INGOT_MAC_SIMD_PACKED_H
#include "vector_types.h"
#endif
