// SPDX-License-Identifier: Apache-2.0
// metal_link.h: functions from several libraries: linked and visible functions, function tables, dynamic
// libraries, stitched functions.
// Part of metal.h, which says how names, lifetimes, errors and threads work; include that.
#ifndef INGOT_METAL_LINK_H
#define INGOT_METAL_LINK_H
#include "ingot/metal.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
