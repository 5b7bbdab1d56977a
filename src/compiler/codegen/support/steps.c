// SPDX-License-Identifier: Apache-2.0
// steps.c: the inner loops around the version of a kernel for all threads. Compiled to bitcode when
// mslc is built, and linked into the kernel's code: a small version becomes part of them, so that
// what is the same in all steps is computed once. The rest of the loop, which runs once for a row
// of threadgroups or at the grid's edges, is an object (group.c) that costs no time to compile.
#include "abi/cpu_kernel.h"

typedef uint32_t u32;

// provided by wrap.c; these fold
extern const u32 ingot_shape[3];   // 0,0,0: not known
extern const u32 ingot_full_width; // threads of a call of ingot_full,
extern const u32 ingot_full_rows;  // pieces of so many rows of the shape, above each other
extern void ingot_full(const CpuLaunch *launch, void *memory, u32 gx, u32 gy, u32 gz, u32 sx,
                       u32 sy, u32 sz, u32 first, u32 large);

// Else LLVM counts the threadgroups and the turns of the kernel's own loops in one index of 32
// bits, which those loops then have to extend in each turn.
static inline __attribute__((always_inline)) u32 opaque(u32 number) {
    __asm__("" : "+r"(number));
    return number;
}

#ifndef INGOT_ROWS
// All whole steps of the threadgroups gx .. gx_end - 1 of a row, which have sx x sy x sz threads.
void ingot_run_full(const CpuLaunch *launch, void *memory, u32 gx, u32 gx_end, u32 gy, u32 gz,
                    u32 sx, u32 sy, u32 sz, u32 large);
void ingot_run_full(const CpuLaunch *launch, void *memory, u32 gx, u32 gx_end, u32 gy, u32 gz,
                    u32 sx, u32 sy, u32 sz, u32 large) {
    if (ingot_shape[0]) sx = ingot_shape[0], sy = ingot_shape[1], sz = ingot_shape[2];
    const u32 n = sx * sy * sz, end = n - n % ingot_full_width;
#pragma clang loop unroll(disable)
    for (; gx < gx_end; gx++) {
        const u32 group = opaque(gx);
#pragma clang loop unroll(disable)
        for (u32 first = 0; first < end; first += ingot_full_width / ingot_full_rows) {
            ingot_full(launch, memory, group, gy, gz, sx, sy, sz, first, large);
            if (ingot_full_rows > 1 &&
                (first + ingot_full_width / ingot_full_rows) % ingot_shape[0] == 0)
                first += ingot_shape[0] * (ingot_full_rows - 1);
        }
    }
}
#else
// Only positions in the grid matter: each row is a line, as if threadgroups were one thread high.
// The versions then take the row's place in the grid for the threadgroup's.
void ingot_run_rows(const CpuLaunch *launch, void *memory, u32 gx, u32 gx_end, u32 y, u32 y_end,
                    u32 z, u32 sx, u32 large);
void ingot_run_rows(const CpuLaunch *launch, void *memory, u32 gx, u32 gx_end, u32 y, u32 y_end,
                    u32 z, u32 sx, u32 large) {
    const u32 end = sx - sx % ingot_full_width;
#pragma clang loop unroll(disable)
    for (; gx < gx_end; gx++) {
        const u32 group = opaque(gx);
#pragma clang loop unroll(disable)
        for (u32 at = y; at < y_end; at++) {
            const u32 row = opaque(at);
#pragma clang loop unroll(disable)
            for (u32 first = 0; first < end; first += ingot_full_width)
                ingot_full(launch, memory, group, row, z, sx, 1, 1, first, large);
        }
    }
}
#endif
