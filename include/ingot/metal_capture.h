// SPDX-License-Identifier: Apache-2.0
// metal_capture.h: the capture manager, its scopes and traces; counter sample buffers.
// Part of metal.h, which says how names, lifetimes, errors and threads work; include that.
#ifndef INGOT_METAL_CAPTURE_H
#define INGOT_METAL_CAPTURE_H
#include "ingot/metal.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
