// SPDX-License-Identifier: Apache-2.0
// isa.h: which instruction set the vector code of textures, matrices and the rasteriser uses. That
// code is built once per set (CMakeLists.txt here), and chosen at run time.
#ifndef INGOT_CPU_ISA_ISA_H
#define INGOT_CPU_ISA_ISA_H
#include <stdbool.h>

// By what each adds to the one before.
typedef enum CpuIsa {
    CPU_ISA_NONE, // general code, lane by lane; the rasteriser has none and takes the next
    CPU_ISA_BASE, // what every processor has: SSE2 on x86-64, NEON on AArch64, where it is the last
    CPU_ISA_AVX2, // with FMA and F16C
    CPU_ISA_AVX512, // F, BW, VL, DQ
    CPU_ISA_VNNI,   // dot products of bytes
    CPU_ISA_BF16,   // and of bfloats
    CPU_ISA_AMX,    // and tiles of both
    CPU_N_ISAS
} CpuIsa;

// The set in use: the last one this processor has and INGOT_CPU, where it is a level of x86-64,
// allows; or what cpu_isa_use said. Any thread.
CpuIsa cpu_isa(void);
bool cpu_isa_exists(CpuIsa isa);
// For tests and measurements: takes a lower one. False if this processor lacks it. Not while
// kernels run.
bool cpu_isa_use(CpuIsa isa);

// In files that are built once per set: the name with the set behind it.
#ifdef CPU_BUILD_ISA
#define ISA_JOIN(name, isa) name##_##isa
#define ISA_NAME(name, isa) ISA_JOIN(name, isa)
#define ISA(name) ISA_NAME(name, CPU_BUILD_ISA)
#endif
#endif
