// SPDX-License-Identifier: Apache-2.0
// fast_pack.h: operands of any type and strides become words in scratch, see fast.h.
#ifndef INGOT_CPU_TENSOR_FAST_PACK_H
#define INGOT_CPU_TENSOR_FAST_PACK_H
#include "devices/cpu/tensor/fast.h"

// An operand: lanes are rows of the thin one, columns of the wide one.
typedef struct CpuOperand {
    const unsigned char *data;
    uint32_t type;
    int64_t lane, k; // strides in elements
} CpuOperand;

// Elements of a word of that kind, along k.
static inline int cpu_kind_elements(CpuKind kind) {
    return kind == CPU_KIND_BYTE ? 4 : kind == CPU_KIND_SHORT || kind == CPU_KIND_BFLOAT ? 2 : 1;
}

static inline int cpu_element_bytes(uint32_t type) { return (int)abi_tensor_element_bytes(type); }

#define CPU_PACK_LANES 64 // at most, in one call
// Words along k: to begin and to end sums takes as long as four steps (Zen 4, 256 x 512 x 784 with
// B^T, 128 steps: 91.5 % of the peak, 256: 93.6).
#define CPU_PACK_STEPS (V_WIDTH >= 8 ? 256 : 128)
#define CPU_PANEL_LANES (V_WIDTH * (V_WIDTH == 16 ? 4 : 2)) // of the wide operand, of one tile

// Lanes lane .. lane + n_lanes - 1, elements k .. k + n_k - 1, as words out[step][lane]: `width`
// words to a step, zeros beyond n_lanes up to `padded` and beyond n_k.
void ISA(cpu_pack_wide)(CpuKind kind, const CpuOperand *from, int64_t lane, int n_lanes, int64_t k,
                        int n_k, int width, uint32_t *out);
// The same in panels of CPU_PANEL_LANES, the last one perhaps narrower. That of lane l begins at
// word l * CPU_PACK_STEPS.
void ISA(cpu_pack_panels)(CpuKind kind, const CpuOperand *from, int64_t lane, int n_lanes,
                          int64_t k, int n_k, uint32_t *out);
// The same for the thin operand, as words out[lane][step] or out[step][lane], whichever is nearer
// to how it lies. Gives the distances in bytes. `out` has room for all lanes and steps.
void ISA(cpu_pack_thin)(CpuKind kind, const CpuOperand *from, int64_t lane, int n_lanes, int64_t k,
                        int n_k, uint32_t *out, int64_t *lane_bytes, int64_t *step_bytes);
#endif
