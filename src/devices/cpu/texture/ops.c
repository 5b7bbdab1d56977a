// SPDX-License-Identifier: Apache-2.0
// ops.c: the functions kernels call: handles become textures and samplers, the call goes to the
// vector code or, if that does not take it, to the general code.
#include "devices/cpu/texture/ops.h"
#include <stdatomic.h>
#include <string.h>
#include "abi/sparse.h"
#include "devices/cpu/isa/isa.h"
#include "devices/cpu/texture/view_pool.h"
#include "devices/cpu/texture/fast_ops.h"

// Of the instruction set when the table was last asked for; NULL: general code only.
static _Atomic(const CpuFastOps *) fast;

static const CpuFastOps *fast_ops(void) {
    return atomic_load_explicit(&fast, memory_order_acquire);
}

static void zero(uint32_t n_lanes, uint32_t *out) { memset(out, 0, (size_t)n_lanes * 16); }

static void sample_call(TexelSampleCall *call) {
    const CpuFastOps *f = fast_ops();
    if (!f || !f->sample(call)) texel_sample_general(call);
}

// Of its own, for its stack frame.
static __attribute__((noinline)) void sample_blocked(TexelSampleCall *call) {
    TexelBlockCache blocks;
    memset(blocks.block, 0, sizeof blocks.block);
    call->blocks = &blocks;
    sample_call(call);
}

// All lanes are there, or those of a mask.
static void answer_residency(uint32_t op, uint32_t n_lanes, const uint32_t *there, uint32_t *out) {
    for (uint32_t l = 0; l < n_lanes; l++) {
        TexelValue answer;
        texel_residency_answer(op, !there || texel_lane_active(there, l), &answer);
        for (uint32_t i = 0; i < 4; i++) out[i * n_lanes + l] = answer.u[i];
    }
}

static void sample_residency(const AbiTexture *t, uint64_t sampler, uint32_t op, uint32_t n_lanes,
                             const uint32_t *mask, const uint32_t *rows, uint32_t *out) {
    if (!t->sparse) {
        answer_residency(op, n_lanes, NULL, out);
        return;
    }
    TexelSampleCall call = {.t = t,
                            .op = op,
                            .n_lanes = n_lanes,
                            .mask = mask,
                            .rows = rows,
                            .out = out,
                            .residency = true};
    texel_sampler_unpack(sampler, &call.s);
    texel_sample_general(&call);
}

void cpu_sample_any(uint64_t texture, uint64_t sampler, uint32_t op, uint32_t n_lanes,
                    const uint32_t *mask, const uint32_t *rows, uint32_t *out) {
    const AbiTexture *t = cpu_texture_of(texture & ~ABI_TEXTURE_RESIDENCY);
    if (!t || texel_type_is_multisample(t->type) || t->type == ABI_TEXTURE_BUFFER) {
        zero(n_lanes, out);
        return;
    }
    if (texture & ABI_TEXTURE_RESIDENCY) {
        sample_residency(t, sampler, op, n_lanes, mask, rows, out);
        return;
    }
    const CpuFastOps *f = fast_ops();
    if (f && f->bytes(t, sampler, op, n_lanes, mask, rows, out)) return;
    TexelSampleCall call = {
        .t = t, .op = op, .n_lanes = n_lanes, .mask = mask, .rows = rows, .out = out};
    texel_sampler_unpack(sampler, &call.s);
    if (abi_format_is_blocked(t->format))
        sample_blocked(&call);
    else
        sample_call(&call);
}

#define MAX_LANES 1024u

// The lanes whose texel has memory. Rows that the type does not need hold nothing.
static void mapped_lanes(const AbiTexture *t, uint32_t n_lanes, const uint32_t *mask,
                         const uint32_t *rows, bool levels, uint32_t *out) {
    bool flat = t->type == ABI_TEXTURE_1D || t->type == ABI_TEXTURE_1D_ARRAY;
    bool deep = t->type == ABI_TEXTURE_3D;
    bool sliced = !deep && t->type != ABI_TEXTURE_1D && t->type != ABI_TEXTURE_2D;
    memset(out, 0, (n_lanes + 31) / 32 * sizeof *out);
    for (uint32_t l = 0; l < n_lanes; l++) {
        if (!(mask[l / 32] >> l % 32 & 1)) continue;
        uint32_t level = levels ? rows[CPU_TEX_LEVEL * n_lanes + l] : 0;
        if (level < t->n_levels &&
            abi_sparse_texel(t, level, sliced ? rows[CPU_TEX_SLICE * n_lanes + l] : 0,
                             rows[CPU_TEX_X * n_lanes + l],
                             flat ? 0 : rows[CPU_TEX_Y * n_lanes + l],
                             deep ? rows[CPU_TEX_Z * n_lanes + l] : 0))
            out[l / 32] |= 1u << l % 32;
    }
}

static void read(uint64_t texture, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                 const uint32_t *rows, uint32_t *out) {
    const AbiTexture *t = cpu_texture_of(texture & ~ABI_TEXTURE_RESIDENCY);
    const CpuFastOps *f = fast_ops();
    if (t && texture & ABI_TEXTURE_RESIDENCY) {
        uint32_t mapped[MAX_LANES / 32];
        if (t->sparse) mapped_lanes(t, n_lanes, mask, rows, true, mapped);
        answer_residency(op, n_lanes, t->sparse ? mapped : NULL, out);
        return;
    }
    if (!t)
        zero(n_lanes, out);
    else if (!f || !f->read(t, op, n_lanes, mask, rows, out))
        texel_read_general(t, op, n_lanes, mask, rows, out);
}

static void write(uint64_t texture, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                  const uint32_t *rows, uint32_t *out) {
    const AbiTexture *t = cpu_texture_of(texture);
    (void)out;
    const CpuFastOps *f = fast_ops();
    uint32_t mapped[MAX_LANES / 32];
    if (t && t->sparse) {
        mapped_lanes(t, n_lanes, mask, rows, true, mapped);
        mask = mapped;
    }
    if (t && (!f || !f->write(t, op, n_lanes, mask, rows)))
        texel_write_general(t, op, n_lanes, mask, rows);
}

static void atomic(uint64_t texture, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                   const uint32_t *rows, uint32_t *out) {
    const AbiTexture *t = cpu_texture_of(texture);
    uint32_t mapped[MAX_LANES / 32];
    if (!t || t->sparse) zero(n_lanes, out); // what an operation finds where there is no memory
    if (t && t->sparse) {
        mapped_lanes(t, n_lanes, mask, rows, false, mapped);
        mask = mapped;
    }
    if (t) texel_atomic_general(t, op, n_lanes, mask, rows, out);
}

static CpuTextureOps table = {cpu_sample_any, read, write, atomic, NULL};

// Before any id of a pool exists: nobody looks there meanwhile.
void cpu_texture_ops_set_pool(const AbiTexture *pool) { table.pool = pool; }

const CpuTextureOps *cpu_texture_ops(void) {
#if defined(__x86_64__)
    static const CpuFastOps *const ops[] = {NULL, &cpu_fast_base, &cpu_fast_avx2, &cpu_fast_avx512};
#else
    static const CpuFastOps *const ops[] = {NULL, &cpu_fast_base};
#endif
    size_t isa = cpu_isa(), last = sizeof ops / sizeof *ops - 1;
    const CpuFastOps *now = ops[isa < last ? isa : last];
    // Calls of kernels read it: write only what is new.
    CpuSampleFn *call = now ? now->call : cpu_sample_any;
    if (fast_ops() != now) atomic_store_explicit(&fast, now, memory_order_release);
    if (__atomic_load_n(&table.sample, __ATOMIC_RELAXED) != call)
        __atomic_store_n(&table.sample, call, __ATOMIC_RELAXED);
    return &table;
}
