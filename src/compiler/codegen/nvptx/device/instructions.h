// SPDX-License-Identifier: Apache-2.0
// instructions.h: what the device library is made of: registers and instructions of a warp. A test
// has the same for threads of the host (tests/compiler/warp.h), and says so by INGOT_WARP.
#ifndef INGOT_NVPTX_INSTRUCTIONS_H
#define INGOT_NVPTX_INSTRUCTIONS_H
#include <stdint.h>

typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t i32;
typedef int64_t i64;
typedef float f32;
typedef float f32x2 __attribute__((vector_size(8)));
#define INLINE static inline __attribute__((always_inline))
#define ALL_LANES 0xffffffffu

INLINE u32 bits_of(f32 x) {
    union {
        f32 x;
        u32 bits;
    } both = {x};
    return both.bits;
}
INLINE f32 float_of(u32 bits) {
    union {
        u32 bits;
        f32 x;
    } both = {bits};
    return both.x;
}

#ifdef INGOT_WARP
#include INGOT_WARP
#else
// A function of the library: part of the kernel that calls it.
#define API __attribute__((always_inline, convergent))
#define UNROLL _Pragma("clang loop unroll(full)")

INLINE u32 thread_at(u32 d) {
    return d == 0   ? __nvvm_read_ptx_sreg_tid_x()
           : d == 1 ? __nvvm_read_ptx_sreg_tid_y()
                    : __nvvm_read_ptx_sreg_tid_z();
}
INLINE u32 block_at(u32 d) {
    return d == 0   ? __nvvm_read_ptx_sreg_ctaid_x()
           : d == 1 ? __nvvm_read_ptx_sreg_ctaid_y()
                    : __nvvm_read_ptx_sreg_ctaid_z();
}
INLINE u32 lane(void) { return __nvvm_read_ptx_sreg_laneid(); }
INLINE void barrier(void) { __syncthreads(); }
INLINE void warp_barrier(u32 mask) { __nvvm_bar_warp_sync(mask); }
INLINE u32 shuffle(u32 mask, u32 x, u32 from) {
    return (u32)__nvvm_shfl_sync_idx_i32(mask, (int)x, (int)from, 31);
}
INLINE u32 ballot(u32 mask, _Bool x) { return (u32)__nvvm_vote_ballot_sync(mask, x); }

#define REDUX(name, instruction, type)                                                             \
    INLINE type name(u32 mask, type x) {                                                           \
        type r;                                                                                    \
        __asm__ volatile("redux.sync." instruction " %0, %1, %2;" : "=r"(r) : "r"(x), "r"(mask));  \
        return r;                                                                                  \
    }
REDUX(redux_add, "add.u32", u32)
REDUX(redux_min, "min.u32", u32)
REDUX(redux_max, "max.u32", u32)
REDUX(redux_min_signed, "min.s32", i32)
REDUX(redux_max_signed, "max.s32", i32)
REDUX(redux_and, "and.b32", u32)
REDUX(redux_or, "or.b32", u32)
REDUX(redux_xor, "xor.b32", u32)

// Sums of 16 x 8, products along 8. Thread t holds rows t / 4 and t / 4 + 8, of the sums columns
// 2 (t % 4) and the next; of A as tf32 columns t % 4 and t % 4 + 4, of B those rows, column t / 4.
INLINE void mma_tf32(f32 *c, const u32 *a, const u32 *b) {
    __asm__ volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, "
                     "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
INLINE void mma_f16(f32 *c, u32 a, u32 b) { // the lower eight rows are empty
    __asm__ volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, "
                     "{%6}, {%0,%1,%2,%3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(a), "r"(0), "r"(b));
}
INLINE u32 to_tf32(f32 x) {
    u32 r;
    __asm__("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
    return r;
}
INLINE u32 to_halves(f32 low, f32 high) {
    u32 r;
    __asm__("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
}
INLINE u32 transpose_halves(u32 x) { // of an 8 x 8 matrix, two in each lane
    u32 r;
    __asm__ volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r) : "r"(x));
    return r;
}
#endif
#endif
