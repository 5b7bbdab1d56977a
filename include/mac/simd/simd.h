// SPDX-License-Identifier: Apache-2.0
// simd/simd.h: small vectors, matrices and quaternions on the side of the program, laid out as the
// shaders have them. Needs Clang, in C, C++, Objective-C and Objective-C++.
#ifndef INGOT_MAC_SIMD_SIMD_H
#define INGOT_MAC_SIMD_SIMD_H
#include "math.h"
#include "quaternion.h"
#endif
