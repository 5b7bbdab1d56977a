// SPDX-License-Identifier: Apache-2.0
// ops.c: the functions kernels call: handles become textures and samplers, the call goes to the vector
// code or, if that does not take it, to the general code.
#include "cpu/texture/ops.h"
#include <string.h>
#include "cpu/texture/texture_int.h"

static void zero(uint32_t n_lanes, uint32_t *out) { memset(out, 0, (size_t)n_lanes * 16); }

static const CpuTexture *texture_of(uint64_t handle) {
    return (const CpuTexture *)(uintptr_t)handle;
}

// Of its own, for its stack frame.
static __attribute__((noinline)) void sample_blocked(CpuSampleCall *call) {
    CpuBlockCache blocks;
    memset(blocks.block, 0, sizeof blocks.block);
    call->blocks = &blocks;
    cpu_sample_general(call);
}

static void sample(uint64_t texture, uint64_t sampler, uint32_t op, uint32_t n_lanes,
                   const uint32_t *mask, const uint32_t *rows, uint32_t *out) {
    const CpuTexture *t = texture_of(texture);
    if (!t || cpu_type_is_multisample(t->type) || t->type == CPU_TEXTURE_BUFFER) {
        zero(n_lanes, out);
        return;
    }
    CpuSampleCall call = {
        .t = t, .op = op, .n_lanes = n_lanes, .mask = mask, .rows = rows, .out = out};
    cpu_sampler_unpack(sampler, &call.s);
    if (cpu_format_is_blocked(t->format)) sample_blocked(&call);
    else cpu_sample_general(&call);
}

static void read(uint64_t texture, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                 const uint32_t *rows, uint32_t *out) {
    const CpuTexture *t = texture_of(texture);
    if (!t) zero(n_lanes, out);
    else cpu_read_general(t, op, n_lanes, mask, rows, out);
}

static void write(uint64_t texture, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                  const uint32_t *rows, uint32_t *out) {
    const CpuTexture *t = texture_of(texture);
    (void)out;
    if (t) cpu_write_general(t, op, n_lanes, mask, rows);
}

static void atomic(uint64_t texture, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                   const uint32_t *rows, uint32_t *out) {
    const CpuTexture *t = texture_of(texture);
    if (!t) zero(n_lanes, out);
    else cpu_atomic_general(t, op, n_lanes, mask, rows, out);
}

const CpuTextureOps *cpu_texture_ops(void) {
    static const CpuTextureOps ops = {sample, read, write, atomic};
    return &ops;
}
