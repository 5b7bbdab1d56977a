// SPDX-License-Identifier: Apache-2.0
// tensor_ops_test.h: matrices between guard pages, random elements of every type, and the bound on
// the rounding of sums, for the tests of matrix operations.
#ifndef INGOT_TESTS_TENSOR_OPS_TEST_H
#define INGOT_TESTS_TENSOR_OPS_TEST_H
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>
#include "devices/cpu/tensor/element.h"
#include "devices/cpu/tensor/ops.h"
#include "devices/cpu/isa/isa.h"

static const struct {
    CpuIsa isa;
    const char *name;
} all_isas[] = {{CPU_ISA_NONE, "general"},     {CPU_ISA_BASE, "base"},
                {CPU_ISA_AVX2, "avx2"},        {CPU_ISA_AVX512, "avx512"},
                {CPU_ISA_VNNI, "avx512_vnni"}, {CPU_ISA_BF16, "avx512_bf16"},
                {CPU_ISA_AMX, "amx"}};
#define N_ISAS (sizeof all_isas / sizeof *all_isas)

static inline uint32_t random_bits(uint64_t *state) { // PCG
    uint64_t old = *state;
    *state = old * 6364136223846793005u + 1442695040888963407u;
    uint32_t x = (uint32_t)((old >> 18 ^ old) >> 27), turn = (uint32_t)(old >> 59);
    return x >> turn | x << (-turn & 31);
}
static inline int random_in(uint64_t *state, int low, int high) {
    return low + (int)(random_bits(state) % (uint32_t)(high - low + 1));
}

static inline int64_t type_bits(uint32_t type) {
    switch (type) {
    case ABI_TENSOR_INT4:
    case ABI_TENSOR_UINT4: return 4;
    case ABI_TENSOR_INT8:
    case ABI_TENSOR_UINT8: return 8;
    case ABI_TENSOR_INT16:
    case ABI_TENSOR_UINT16:
    case ABI_TENSOR_FLOAT16:
    case ABI_TENSOR_BFLOAT16: return 16;
    case ABI_TENSOR_INT64:
    case ABI_TENSOR_UINT64: return 64;
    default: return 32;
    }
}

// Memory with pages on both sides that must not be touched.
typedef struct Arena {
    unsigned char *low, *high;
} Arena;
#define ARENA_BYTES ((size_t)8 << 20)

static inline Arena arena_make(void) {
    unsigned char *p = mmap(NULL, ARENA_BYTES + 8192, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(p != MAP_FAILED);
    assert_int_equal(mprotect(p + 4096, ARENA_BYTES, PROT_READ | PROT_WRITE), 0);
    return (Arena){p + 4096, p + 4096 + ARENA_BYTES};
}

static inline void arena_free(Arena arena) { munmap(arena.low - 4096, ARENA_BYTES + 8192); }

// n_bytes that end at one guard page or begin at the other.
static inline unsigned char *arena_place(Arena arena, size_t n_bytes, size_t align, bool at_end) {
    assert_true(n_bytes <= ARENA_BYTES);
    return at_end ? arena.high - (n_bytes + align - 1) / align * align : arena.low;
}

typedef struct Run { // what a case is run with
    Arena arenas[3];
    unsigned char *places[3]; // of the operands in the arenas
    size_t n_bytes[3];
    CpuIsa isa;
    uint64_t seed;
} Run;

static inline double element_number(const void *data, uint32_t type, int64_t i) {
    return cpu_element_is_float(type) ? (double)cpu_element_float(data, type, i)
                                      : (double)cpu_element_int(data, type, i);
}

static inline void fill_random(void *data, uint32_t type, size_t n_elements, uint64_t *state) {
    for (size_t i = 0; i < n_elements; i++) {
        float f = (float)random_in(state, -2000, 2000) / 1024.0f;
        if (cpu_element_is_float(type))
            cpu_element_set_float(data, type, (int64_t)i, f);
        else
            cpu_element_set_int(data, type, (int64_t)i, (int64_t)random_bits(state));
    }
}

// Sums of n products, in any order, with one or two roundings a term: at most n units of the last
// place of the sum of magnitudes (Higham, 4.2), and denormals may be flushed.
static inline double sum_bound(int64_t n, double magnitudes) {
    return (double)(n + 3) * 0x1p-24 * magnitudes * 1.0001 + (double)(n + 1) * 0x1p-125;
}
// A value of magnitude v rounded once more to the type.
static inline double round_bound(uint32_t type, double v) {
    switch (type) {
    case ABI_TENSOR_FLOAT16: return fabs(v) * 0x1p-11 + 0x1p-25;
    case ABI_TENSOR_BFLOAT16: return fabs(v) * 0x1p-8 + 0x1p-134;
    case ABI_TENSOR_FLOAT32: return 0;
    default: return 1; // towards zero
    }
}
#endif
