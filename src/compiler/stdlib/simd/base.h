// SPDX-License-Identifier: Apache-2.0
// part of <simd/simd.h>
#include "simd.h"
