// SPDX-License-Identifier: Apache-2.0
// ops.c: which function serves which operation on this machine.
#include "cpu/tensor/ops.h"
#include <stdatomic.h>

void cpu_matmul_sse2(const CpuMatmul *op);
void cpu_matmul_avx2(const CpuMatmul *op);
void cpu_matmul_avx512(const CpuMatmul *op);
void cpu_matmul_vnni(const CpuMatmul *op);
void cpu_matmul_bf16(const CpuMatmul *op);

static const CpuTensorOps tables[] = {
    [CPU_TENSOR_GENERAL] = {cpu_matmul_general, cpu_convolution_general},
    [CPU_TENSOR_SSE2] = {cpu_matmul_sse2, cpu_convolution_general},
    [CPU_TENSOR_AVX2] = {cpu_matmul_avx2, cpu_convolution_general},
    [CPU_TENSOR_AVX512] = {cpu_matmul_avx512, cpu_convolution_general},
    [CPU_TENSOR_VNNI] = {cpu_matmul_vnni, cpu_convolution_general},
    [CPU_TENSOR_BF16] = {cpu_matmul_bf16, cpu_convolution_general},
};

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
    bool has = isa >= CPU_TENSOR_BF16     ? has_bf16()
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
