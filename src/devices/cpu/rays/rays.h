// SPDX-License-Identifier: Apache-2.0
// rays.h: the library of ray tracing, libingot_rays: Embree under Ingot's tables. The CPU device
// loads it on first use (devices/cpu/rays_library.c), so that programs without rays do not wait for
// it and Ingot runs where it is missing. It exports one function.
#ifndef INGOT_CPU_RAYS_H
#define INGOT_CPU_RAYS_H
#include "abi/cpu_rays.h"
#include "abi/kernel.h"
#include "devices/table/rays.h"

#define CPU_RAYS_SYMBOL "ingot_rays"
#define CPU_RAYS_LIBRARY "libingot_rays.so"

typedef struct CpuRays {
    uint32_t abi; // ABI_VERSION: it comes with this libingot
    CpuRayOps ops;
    DevRays table;
} CpuRays;
// NULL and a sentence in `why`: it cannot be used here.
typedef const CpuRays *CpuRaysFn(char *why, size_t why_bytes);
#endif
