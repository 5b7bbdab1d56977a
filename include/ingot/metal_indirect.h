// SPDX-License-Identifier: Apache-2.0
// metal_indirect.h: indirect command buffers.
// Part of metal.h, which says how names, lifetimes, errors and threads work; include that.
#ifndef INGOT_METAL_INDIRECT_H
#define INGOT_METAL_INDIRECT_H
#include "ingot/metal.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
