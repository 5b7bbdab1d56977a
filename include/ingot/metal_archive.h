// SPDX-License-Identifier: Apache-2.0
// metal_archive.h: binary archives: pipelines with their machine code, in a file.
// Part of metal.h, which says how names, lifetimes, errors and threads work; include that.
#ifndef INGOT_METAL_ARCHIVE_H
#define INGOT_METAL_ARCHIVE_H
#include "ingot/metal.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
