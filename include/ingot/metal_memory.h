// SPDX-License-Identifier: Apache-2.0
// metal_memory.h: heaps, residency sets and purgeable memory.
// Part of metal.h, which says how names, lifetimes, errors and threads work; include that.
#ifndef INGOT_METAL_MEMORY_H
#define INGOT_METAL_MEMORY_H
#include "ingot/metal.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
