// SPDX-License-Identifier: Apache-2.0
// bulk.h: boxes of a matrix in global memory that the copy engine brings to shared memory (sm_90a).
// What the matrix is stands in a map of 128 bytes in global memory, which a warp makes; who copies
// says it to a barrier in shared memory, and who waits for the bytes waits there.
#ifndef INGOT_NVPTX_BULK_H
#define INGOT_NVPTX_BULK_H
#include "compiler/codegen/nvptx/library/instructions.h"

typedef __attribute__((address_space(1))) unsigned char Global;
enum { MAP = 128, PROCESSORS = 256 };
// Two for each processor: a block that has more than half of its shared memory has it for itself.
static __attribute__((address_space(1), aligned(128))) unsigned char ingot_maps[PROCESSORS][2][MAP];
INLINE Global *map_of_block(u32 which) {
    u32 processor;
    __asm__ volatile("mov.u32 %0, %%smid;" : "=r"(processor));
    return ingot_maps[processor % PROCESSORS][which];
}

typedef struct Matrix { // of 16-bit numbers
    const void *data;
    u32 width, height; // that exist: what is beyond is 0
    u64 pitch;         // bytes, a multiple of 16
    u32 box;           // lines of a box, which is 64 numbers wide
} Matrix;

#define REPLACE(field, type, letter, value)                                                        \
    __asm__ volatile("tensormap.replace.tile." field ".shared::cta.b1024." type ";"                \
                     :                                                                             \
                     : "r"(room), letter(value)                                                    \
                     : "memory")
// By a warp; `room`: 128 bytes of shared memory.
INLINE void make_map(Global *map, u32 room, const Matrix *m, _Bool bfloats) {
    *(SHARED u32 *)(u64)(room + lane() * 4) = 0;
    warp_barrier(ALL_LANES);
    if (lane() == 0) {
        REPLACE("global_address", "b64 [%0], %1", "l", m->data);
        REPLACE("rank", "b32 [%0], %1", "n", 1);
        REPLACE("box_dim", "b32 [%0], 0, %1", "r", 64);
        REPLACE("box_dim", "b32 [%0], 1, %1", "r", m->box);
        REPLACE("global_dim", "b32 [%0], 0, %1", "r", m->width);
        REPLACE("global_dim", "b32 [%0], 1, %1", "r", m->height);
        REPLACE("global_stride", "b64 [%0], 0, %1", "l", m->pitch);
        REPLACE("element_stride", "b32 [%0], 0, %1", "r", 1);
        REPLACE("element_stride", "b32 [%0], 1, %1", "r", 1);
        if (bfloats)
            REPLACE("elemtype", "b32 [%0], %1", "n", 10);
        else
            REPLACE("elemtype", "b32 [%0], %1", "n", 6);
        REPLACE("interleave_layout", "b32 [%0], %1", "n", 0);
        REPLACE("swizzle_mode", "b32 [%0], %1", "n", 3); // lines of 128 bytes, as in matmul.c
        REPLACE("fill_mode", "b32 [%0], %1", "n", 0);
    }
    warp_barrier(ALL_LANES);
    __asm__ volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu."
                     "sync.aligned [%0], [%1], 128;"
                     :
                     : "l"(map), "r"(room)
                     : "memory");
}
INLINE void take_map(const Global *map) { // by the thread that copies
    __asm__ volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;"
                     :
                     : "l"(map)
                     : "memory");
}
INLINE void copy_box(u32 to, const Global *map, i32 x, i32 y, u32 barrier_at) {
    __asm__ volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%2, %3}], [%4];"
                     :
                     : "r"(to), "l"((const void *)map), "r"(x), "r"(y), "r"(barrier_at)
                     : "memory");
}

INLINE void make_barrier(u32 at, u32 arrivals) {
    __asm__ volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(at), "r"(arrivals) : "memory");
}
INLINE void show_barriers(void) {
    __asm__ volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
}
INLINE void end_barrier(u32 at) {
    __asm__ volatile("mbarrier.inval.shared.b64 [%0];" : : "r"(at) : "memory");
}
INLINE void expect_bytes(u32 at, u32 n_bytes) { // and arrives
    __asm__ volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;"
                     :
                     : "r"(at), "r"(n_bytes)
                     : "memory");
}
INLINE void arrive(u32 at) {
    __asm__ volatile("mbarrier.arrive.shared.b64 _, [%0];" : : "r"(at) : "memory");
}
INLINE void wait_for_barrier(u32 at, u32 parity) {
    __asm__ volatile("{ .reg .pred p; AGAIN: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; "
                     "@!p bra AGAIN; }"
                     :
                     : "r"(at), "r"(parity)
                     : "memory");
}
#endif
