// SPDX-License-Identifier: Apache-2.0
// metal_sync.h: fences, events and shared events.
// Part of metal.h, which says how names, lifetimes, errors and threads work; include that.
#ifndef INGOT_METAL_SYNC_H
#define INGOT_METAL_SYNC_H
#include "ingot/metal.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
