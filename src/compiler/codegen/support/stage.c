// SPDX-License-Identifier: Apache-2.0
// stage.c: ingot_vertex and ingot_fragment: one step of a vertex or fragment function. Compiled to
// bitcode when mslc is built, like group.c; stage_wrap.c defines ingot_step, and only the one of
// the two functions that the code object is for stays.
#include "abi/cpu_stage.h"

typedef uint32_t u32;

// provided by stage_wrap.c
extern void ingot_step(const CpuLaunch *launch, void *step, u32 mask);

void ingot_log(const CpuLaunch *launch, u32 type, const char *category, const char *format,
               const uint64_t *args, u32 n);
__attribute__((noinline)) void ingot_log(const CpuLaunch *launch, u32 type, const char *category,
                                         const char *format, const uint64_t *args, u32 n) {
    if (launch->log) launch->log(launch, type, category, format, args, n);
}

__attribute__((visibility("default"))) void ingot_vertex(const CpuLaunch *launch,
                                                         const CpuVertexStep *step) {
    u32 n = step->n;
    if (n) ingot_step(launch, (void *)step, n >= CPU_STAGE_LANES ? ~0u : (1u << n) - 1);
}

// Quads without a covered pixel stay out; in the others all four lanes run, for their derivatives.
__attribute__((visibility("default"))) void ingot_fragment(const CpuLaunch *launch,
                                                           CpuFragmentStep *step) {
    u32 covered = step->covered, quads = covered | covered >> 1;
    quads = (quads | quads >> 2) & 0x11111111u;
    step->kept = covered;
    if (covered) ingot_step(launch, step, quads * 15u);
}
