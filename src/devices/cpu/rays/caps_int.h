// SPDX-License-Identifier: Apache-2.0
// caps_int.h: caps of round curves (caps.c), for the file that builds curves.
#ifndef INGOT_CPU_RAYS_CAPS_H
#define INGOT_CPU_RAYS_CAPS_H
#include "devices/cpu/rays/scene_int.h"

// Ends of segments of geometry `number`: 2 * segment, + 1 for its last point. NULL: no memory.
Caps *rays_caps_new(const Scene *scene, uint32_t number, bool spheres, const uint32_t *ends,
                    size_t n);
// End i at a keyframe: where it is, its radius, and the direction away from the curve.
void rays_caps_set(Caps *caps, uint32_t frame, uint32_t i, const float point[4],
                   const float out[3]);
// As geometry `id` of Embree's. The caps stay the caller's, who keeps them. False: no memory.
bool rays_caps_attach(const Scene *scene, uint32_t id, Caps *caps);
#endif
