// SPDX-License-Identifier: Apache-2.0
// lower.c: the late passes in their order, and what they share.
//   requires  the last optimisation has run: it would undo most of this
//   preserves what the code computes, to the last bit
// Each is a step as those of backend.c are: `--dump-after` knows its name, its time is noted, and
// debug builds verify what it leaves.
#include "compiler/codegen/lower/lower.h"

static const struct {
    const char *name;
    void (*run)(Cg *);
} passes[] = {
    // First: it finds shifts and truncations as the optimiser writes them.
    {"bytes", msl_lower_byte_conversions},
    // Makes comparisons and selections: before masks are looked at.
    {"bfloats", msl_lower_bfloat_rounding},
    // Before masks are taken apart: it follows them from comparison to use.
    {"promote-masks", msl_promote_masks},
    // Before expand-masks, which writes out, lane by lane, each gather that is left.
    {"gather-scatter", msl_lower_gather_scatter},
    {"expand-masks", msl_expand_masks},
    // When nobody makes masks any more: those that still go from block to block.
    {"mask-phis", msl_lower_mask_phis},
    // Before blocks are cut and put in order: it asks for loops of one block, whole.
    {"widen-indices", msl_widen_indices},
    // Before schedule, which moves the pieces it makes.
    {"split-wide", msl_split_wide},
    {"schedule", msl_schedule},
    // After schedule, which would take the loads out of the order of memory.
    {"split-sums", msl_split_sums},
    // When all loads and stores are there: it counts them.
    {"memory-chains", msl_break_memory_chains},
    // Last: the others copy the alignment of what they replace.
    {"alignment", msl_drop_alignment},
};

void msl_lower(Cg *cg) {
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        msl_step(cg, passes[i].name, passes[i].run);
        msl_verify_ours(&cg->cx, passes[i].name);
    }
}

LLVMValueRef msl_constant_splat(LLVMTypeRef vector, unsigned value) {
    LLVMValueRef e[64], one = LLVMConstInt(LLVMGetElementType(vector), value, 0);
    unsigned n = LLVMGetVectorSize(vector);
    for (unsigned k = 0; k < n; k++) e[k] = one;
    return LLVMConstVector(e, n);
}
