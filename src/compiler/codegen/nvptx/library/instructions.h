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
#define ONCE _Pragma("clang loop unroll(disable)")
#define FOUR_TIMES _Pragma("clang loop unroll_count(4)")

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
INLINE u32 blocks_at(u32 d) { // how many there are
    return d == 0 ? __nvvm_read_ptx_sreg_nctaid_x() : __nvvm_read_ptx_sreg_nctaid_y();
}
INLINE u32 lane(void) { return __nvvm_read_ptx_sreg_laneid(); }
INLINE void barrier(void) { __syncthreads(); }
INLINE void warp_barrier(u32 mask) { __nvvm_bar_warp_sync(mask); }
INLINE u32 shuffle(u32 mask, u32 x, u32 from) {
    return (u32)__nvvm_shfl_sync_idx_i32(mask, (int)x, (int)from, 31);
}
INLINE u32 ballot(u32 mask, _Bool x) { return (u32)__nvvm_vote_ballot_sync(mask, x); }

// x, or if `have` is 0 the word at an address of global memory that nothing changes.
INLINE u32 word_or(u32 x, u32 have, const u32 *at) {
    u32 r;
    __asm__("{ .reg .pred p; setp.eq.u32 p, %2, 0; mov.b32 %0, %1; @p ld.global.nc.b32 %0, [%3]; }"
            : "=&r"(r)
            : "r"(x), "r"(have), "l"((const __attribute__((address_space(1))) void *)at));
    return r;
}

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
// The same along 32 bytes: lane t holds of A and, as columns, of B 4 bytes at 4 (t % 4) and 16 on.
#define MMA(name, instruction, word, type)                                                         \
    INLINE void name(type *c, const u32 *a, const u32 *b) {                                        \
        __asm__ volatile("mma.sync.aligned." instruction " {%0,%1,%2,%3}, {%4,%5,%6,%7}, "         \
                         "{%8,%9}, {%0,%1,%2,%3};"                                                 \
                         : "+" word(c[0]), "+" word(c[1]), "+" word(c[2]), "+" word(c[3])          \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));      \
    }
MMA(mma_halves, "m16n8k16.row.col.f32.f16.f16.f32", "f", f32)
MMA(mma_bfloats, "m16n8k16.row.col.f32.bf16.bf16.f32", "f", f32)
MMA(mma_bytes, "m16n8k32.row.col.s32.s8.s8.s32", "r", i32)
MMA(mma_unsigned_bytes, "m16n8k32.row.col.s32.u8.u8.s32", "r", i32)

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
INLINE u32 to_bfloats(f32 low, f32 high) {
    u32 r;
    __asm__("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
}
INLINE u32 transpose_halves(u32 x) { // of an 8 x 8 matrix, two in each lane
    u32 r;
    __asm__ volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r) : "r"(x));
    return r;
}

// ---- shared memory, by 32-bit addresses ----

#define SHARED __attribute__((address_space(3)))
extern SHARED unsigned char ingot_shared[]; // what the library has of it comes first
INLINE u32 library_memory(void) { return (u32)(u64)ingot_shared; }
INLINE _Bool in_shared(const void *p) { return __nvvm_isspacep_shared(p); }
INLINE u32 shared_address(const void *p) { return (u32)(u64)(const SHARED void *)p; }
INLINE u32 shared_word(u32 at) { return *(const SHARED u32 *)(u64)at; }
typedef u32 u32x4 __attribute__((vector_size(16)));
INLINE void shared_words(u32 *r, u32 at) { // sixteen bytes
    u32x4 v = *(const SHARED u32x4 *)(u64)at;
    for (u32 i = 0; i < 4; i++) r[i] = v[i];
}
INLINE void set_shared_words(u32 at, const u32 *x) {
    *(SHARED u32x4 *)(u64)at = (u32x4){x[0], x[1], x[2], x[3]};
}
// Four matrices of 8 x 8 halves, or of 8 x 16 bytes: lanes 8 i on name the rows of matrix i.
INLINE void load_matrices(u32 *r, u32 at) {
    __asm__ volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(at)
                     : "memory");
}
INLINE void load_matrices_transposed(u32 *r, u32 at) {
    __asm__ volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(at)
                     : "memory");
}
// Sixteen bytes of global memory, zeros from n_bytes on, in the background.
INLINE void copy_async(u32 to, const void *from, u32 n_bytes) {
    __asm__ volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                     :
                     : "r"(to), "l"((const __attribute__((address_space(1))) void *)from),
                       "r"(n_bytes)
                     : "memory");
}
INLINE void end_copies(void) { __asm__ volatile("cp.async.commit_group;" : : : "memory"); }
INLINE void wait_for_copies(u32 but) { // all but the last so many groups of them
    if (but == 0) __asm__ volatile("cp.async.wait_group 0;" : : : "memory");
    if (but == 1) __asm__ volatile("cp.async.wait_group 1;" : : : "memory");
    if (but == 2) __asm__ volatile("cp.async.wait_group 2;" : : : "memory");
    if (but >= 3) __asm__ volatile("cp.async.wait_group 3;" : : : "memory");
}
// Of the first n threads of the block: those of whole warps.
INLINE void barrier_of(u32 n_threads) {
    __asm__ volatile("bar.sync 1, %0;" : : "r"(n_threads) : "memory");
}
#endif
#endif
