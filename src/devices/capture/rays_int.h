// SPDX-License-Identifier: Apache-2.0
// rays_int.h: what a build of an acceleration structure reads, one range after the other: recording
// reaches them, keeps copies of them, and a replay puts its own addresses in their place.
#ifndef INGOT_CAPTURE_RAYS_INT_H
#define INGOT_CAPTURE_RAYS_INT_H
#include "base/arena.h"
#include "devices/table/rays.h"

#define CAP_ANY UINT64_MAX // elements that indices choose: not known

// All of it but the memory that ranges name. False: no memory.
bool cap_build_copy(DevRayBuild *to, const DevRayBuild *from, BaseArena *arena);
// n elements of `stride` bytes are read from a range. False: it ends there, and is false.
typedef bool CapRangeFn(void *context, DevRange *range, uint64_t n, uint64_t stride);
// Every range of a copy that is there. False: it was ended.
bool cap_build_ranges(DevRayBuild *build, CapRangeFn *visit, void *context);
#endif
