// SPDX-License-Identifier: Apache-2.0
// simd/vector.h: another name that programs include.
#ifndef INGOT_MAC_SIMD_VECTOR_H
#define INGOT_MAC_SIMD_VECTOR_H
#include "simd.h"
#endif
