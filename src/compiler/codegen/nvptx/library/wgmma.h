// SPDX-License-Identifier: Apache-2.0
// wgmma.h: products of four warps at once (sm_90a): 64 rows, 16 of each warp, by 64, 128 or 256
// columns, both operands in shared memory, 16 halves along k; or 8 floats (as tf32), of A in
// registers. The sums lie in registers as tiles of 16 x 8 do. They belong to the instruction until
// finish_products.
#ifndef INGOT_NVPTX_WGMMA_H
#define INGOT_NVPTX_WGMMA_H
#include "compiler/codegen/nvptx/library/instructions.h"

// Lines of 128 bytes whose pieces are exchanged, eight of them 1,024 bytes apart; `across`: bytes
// between panels of 64 indices, of an operand whose lines are not along k.
INLINE u64 describe_lines(u32 at, u32 across) {
    return (u64)(at >> 4 & 0x3fff) | (u64)(across ? across >> 4 : 1) << 16 |
           (u64)(1024 >> 4) << 32 | (u64)1 << 62;
}
INLINE void start_products(void) { __asm__ volatile("wgmma.fence.sync.aligned;" : : : "memory"); }
INLINE void end_products(void) {
    __asm__ volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
}
INLINE void finish_products(_Bool but_one) { // all, but for the last group of them
    if (but_one)
        __asm__ volatile("wgmma.wait_group.sync.aligned 1;" : : : "memory");
    else
        __asm__ volatile("wgmma.wait_group.sync.aligned 0;" : : : "memory");
}
// What the thread copied is seen by those instructions.
INLINE void show_copies(void) { __asm__ volatile("fence.proxy.async.shared::cta;" : : : "memory"); }

// clang-format off
#define SUMS_4(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SUMS_16(d, i) SUMS_4(d, i), SUMS_4(d, i + 4), SUMS_4(d, i + 8), SUMS_4(d, i + 12)
#define SUMS_32(d, i) SUMS_16(d, i), SUMS_16(d, i + 16)
#define SUMS_64(d, i) SUMS_32(d, i), SUMS_32(d, i + 32)
#define SUMS_128(d, i) SUMS_64(d, i), SUMS_64(d, i + 64)
#define WORDS_32 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define WORDS_64 WORDS_32 ", " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define WORDS_128 WORDS_64 ", " \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
// clang-format on

#define PRODUCT(columns, half, first, second, type, across)                                        \
    __asm__ volatile("wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." type "." type         \
                     " {" WORDS_##half "}, %" first ", %" second ", 1, 1, 1, 0, " across ";"       \
                     : SUMS_##half(sum, 0)                                                         \
                     : "l"(a), "l"(b))
#define PRODUCTS(columns, half, first, second)                                                     \
    INLINE void multiply_wide_##columns(f32 *sum, u64 a, u64 b, _Bool bfloats, _Bool across) {     \
        if (!bfloats && !across) PRODUCT(columns, half, first, second, "f16", "0");                \
        if (!bfloats && across) PRODUCT(columns, half, first, second, "f16", "1");                 \
        if (bfloats && !across) PRODUCT(columns, half, first, second, "bf16", "0");                \
        if (bfloats && across) PRODUCT(columns, half, first, second, "bf16", "1");                 \
    }
PRODUCTS(64, 32, "32", "33")
PRODUCTS(128, 64, "64", "65")
PRODUCTS(256, 128, "128", "129")

// The first of a sum takes no notice of what the registers hold.
#define PRODUCT_TF32(columns, half, a0, a1, a2, a3, b0, first)                                     \
    __asm__ volatile("wgmma.mma_async.sync.aligned.m64n" #columns                                  \
                     "k8.f32.tf32.tf32 {" WORDS_##half "}, {%" a0 ", %" a1 ", %" a2 ", %" a3       \
                                                       "}, %" b0 ", " first ", 1, 1;"              \
                     : SUMS_##half(sum, 0)                                                         \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b))
#define PRODUCTS_TF32(columns, half, a0, a1, a2, a3, b0)                                           \
    INLINE void multiply_tf32_##columns(f32 *sum, const u32 *a, u64 b, _Bool is_first) {           \
        if (is_first)                                                                              \
            PRODUCT_TF32(columns, half, a0, a1, a2, a3, b0, "0");                                  \
        else                                                                                       \
            PRODUCT_TF32(columns, half, a0, a1, a2, a3, b0, "1");                                  \
    }
PRODUCTS_TF32(64, 32, "32", "33", "34", "35", "36")
PRODUCTS_TF32(128, 64, "64", "65", "66", "67", "68")
#endif
