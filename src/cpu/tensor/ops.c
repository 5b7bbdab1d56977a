// SPDX-License-Identifier: Apache-2.0
// ops.c: which function serves which operation on this machine.
#include "cpu/tensor/ops.h"
#include <stdatomic.h>

bool cpu_amx_exists(void); // amx.c

#define ISAS(X)                                                                                    \
    X(CPU_TENSOR_SSE2, sse2, sse2)                                                                 \
    X(CPU_TENSOR_AVX2, avx2, avx2)                                                                 \
    X(CPU_TENSOR_AVX512, avx512, avx512)                                                           \
    X(CPU_TENSOR_VNNI, vnni, avx512)                                                               \
    X(CPU_TENSOR_BF16, bf16, avx512)                                                               \
    X(CPU_TENSOR_AMX, amx, avx512)

// The products of a convolution are those of matmul.
#define FUNCTIONS(isa, name, build)                                                                \
    void cpu_matmul_##name(const CpuMatmul *op);                                                   \
    void cpu_convolution_##build(const CpuConvolution *op, void (*matmul)(const CpuMatmul *op));   \
    static void convolution_##name(const CpuConvolution *op) {                                     \
        cpu_convolution_##build(op, cpu_matmul_##name);                                            \
    }
ISAS(FUNCTIONS)

#define TABLE(isa, name, build) [isa] = {cpu_matmul_##name, convolution_##name},
static const CpuTensorOps tables[] = {
    [CPU_TENSOR_GENERAL] = {cpu_matmul_general, cpu_convolution_general}, ISAS(TABLE)};

// Every processor with AVX2 has F16C, for which clang 14 has no name here.
static bool has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool has_avx512(void) {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}

static bool has_vnni(void) { return has_avx512() && __builtin_cpu_supports("avx512vnni"); }
static bool has_bf16(void) { return has_vnni() && __builtin_cpu_supports("avx512bf16"); }

static _Atomic(const CpuTensorOps *) chosen;

bool cpu_tensor_use(CpuTensorIsa isa) {
    bool has = isa >= CPU_TENSOR_AMX      ? has_bf16() && cpu_amx_exists()
               : isa >= CPU_TENSOR_BF16   ? has_bf16()
               : isa >= CPU_TENSOR_VNNI   ? has_vnni()
               : isa >= CPU_TENSOR_AVX512 ? has_avx512()
               : isa >= CPU_TENSOR_AVX2   ? has_avx2()
                                          : true;
    if (has) atomic_store(&chosen, &tables[isa]);
    return has;
}

const CpuTensorOps *cpu_tensor_ops(void) {
    const CpuTensorOps *ops = atomic_load_explicit(&chosen, memory_order_acquire);
    if (ops) return ops;
    int isa = CPU_TENSOR_N_ISAS - 1;
    while (!cpu_tensor_use((CpuTensorIsa)isa)) isa--;
    return &tables[isa];
}
