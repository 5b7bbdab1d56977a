// SPDX-License-Identifier: Apache-2.0
// ops.c: which function serves which operation on this machine.
#include "devices/cpu/tensor/ops.h"
#include "devices/cpu/isa/isa.h"

#if defined(__x86_64__)
#define ISAS(X)                                                                                    \
    X(CPU_ISA_BASE, base, base)                                                                    \
    X(CPU_ISA_AVX2, avx2, avx2)                                                                    \
    X(CPU_ISA_AVX512, avx512, avx512)                                                              \
    X(CPU_ISA_VNNI, vnni, avx512)                                                                  \
    X(CPU_ISA_BF16, bf16, avx512)                                                                  \
    X(CPU_ISA_AMX, amx, avx512)
#else
#define ISAS(X) X(CPU_ISA_BASE, base, base)
#endif

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
    [CPU_ISA_NONE] = {cpu_matmul_general, cpu_convolution_general}, ISAS(TABLE)};

const CpuTensorOps *cpu_tensor_ops(void) { return &tables[cpu_isa()]; }
