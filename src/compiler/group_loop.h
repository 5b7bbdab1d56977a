// SPDX-License-Identifier: Apache-2.0
// group_loop.h: between a kernel's code and the loop over threadgroups (codegen/support/group.c),
// an object that is linked to it: what the loop is told, in one constant of the kernel's code, and
// what it calls there.
#ifndef INGOT_GROUP_LOOP_H
#define INGOT_GROUP_LOOP_H
#include <stdint.h>

#define LOOP_SYMBOL "ingot_loop"           // the constant, a LoopPlan
#define LOOP_STEPS_SYMBOL "ingot_run_full" // steps.c: all steps of some threadgroups
#define LOOP_ROWS_SYMBOL "ingot_run_rows"
#define LOOP_FULL_SYMBOL "ingot_full" // one step of the version for all threads: steps.c's
#define LOOP_SOME_SYMBOL "ingot_some" // of that for some of them
#define LOOP_FULL_START_SYMBOL "ingot_full_start" // the same as coroutines
#define LOOP_SOME_START_SYMBOL "ingot_some_start"

typedef struct LoopPlan {
    uint32_t shape[3];      // 0,0,0: not known
    uint32_t loose;         // `some` expects threads where they stand in the shape, cut or not
    uint32_t rows;          // no shape, and the kernel looks only at its position in the grid
    uint32_t shuffles;      // SIMD-groups run in the order of CpuLaunch.schedule, all as `some`
    uint32_t width;         // threads a call of `some` runs,
    uint32_t full_width;    // and of `full`: the same, or several SIMD-groups side by side
    uint32_t has_full;      // whether there is a `full` version
    uint32_t suspends;      // `some` is a coroutine
    uint32_t full_suspends; // `full` is one: not if it runs the threadgroup at once
    uint32_t stream_bytes;  // that a thread moves, if nobody reads soon what it stores
                            // (codegen/nontemporal.c); 0: unknown
    uint64_t stride;        // bytes of a frame
} LoopPlan;
#endif
