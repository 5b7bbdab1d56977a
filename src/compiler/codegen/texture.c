// SPDX-License-Identifier: Apache-2.0
// texture.c: functions of textures and of ray tracing on their way to the vectoriser
// (passes/emit_texture.c) or to the reference code (lanes.c).
//   purpose   tells the optimiser what __ingot_texture_*() and __ingot_rays_*() do to memory: what
//             a texture or an acceleration structure holds is memory of its own, that neither
//             buffers nor variables share; and turns size queries into loads from AbiTexture
//   requires  msl_load; the queries: everything inlined
#include "compiler/codegen/gpu.h"
#include "abi/cpu_kernel.h"
#include <stdio.h>
#include <string.h>

// LLVM's encoding of memory(...): two bits, read and write, for each kind of memory.
enum { MEMORY_NONE = 0, INACCESSIBLE_READ = 1 << 2, INACCESSIBLE_BOTH = 3 << 2 };

unsigned msl_texture_call(LLVMValueRef i, unsigned *op) {
    static const char *const prefixes[] = {"__ingot_texture_", "__ingot_rays_"};
    for (size_t k = 0; k < 2 && LLVMIsACallInst(i); k++) {
        const char *at = strstr(msl_callee(i), prefixes[k]);
        char what[16];
        if (at && sscanf(at + strlen(prefixes[k]), "%15[a-z_]ILj%uE", what, op) == 2)
            return (unsigned char)what[0];
    }
    return 0;
}

void msl_describe_textures(Cg *cg) {
    MslContext *cx = &cg->cx;
    static const struct {
        const char *name;
        uint64_t memory;
    } table[] = {
        {"__ingot_texture_sample", INACCESSIBLE_READ}, {"__ingot_texture_read", INACCESSIBLE_READ},
        {"__ingot_texture_load", INACCESSIBLE_READ},   {"__ingot_texture_write", INACCESSIBLE_BOTH},
        {"__ingot_texture_atomic", INACCESSIBLE_BOTH}, {"__ingot_texture_info", MEMORY_NONE},
        {"__ingot_rays_trace", INACCESSIBLE_READ},     {"__ingot_rays_path", INACCESSIBLE_READ},
        {"__ingot_rays_matrix", INACCESSIBLE_READ},
    };
    static const char *const common[] = {"nounwind", "willreturn", "nofree"};
    for (LLVMValueRef f = LLVMGetFirstFunction(cx->module); f; f = LLVMGetNextFunction(f)) {
        size_t n;
        const char *at = strstr(LLVMGetValueName2(f, &n), "__ingot_");
        for (size_t k = 0; at && k < sizeof table / sizeof *table; k++) {
            if (!msl_starts(at, table[k].name)) continue;
            msl_add_attribute(cx, f, LLVMAttributeFunctionIndex, "memory", table[k].memory);
            for (size_t c = 0; c < sizeof common / sizeof *common; c++)
                msl_add_attribute(cx, f, LLVMAttributeFunctionIndex, common[c], 0);
            // All but an implicit level of detail.
            if (!msl_starts(at, "__ingot_texture_sampleI")) msl_allow_motion(f);
            break;
        }
    }
}

// What a handle stands for on a GPU: one of a pool is looked up there (nvptx/device/position.c).
LLVMValueRef msl_gpu_texture(Cg *cg, LLVMValueRef handle) {
    LLVMTypeRef i64 = msl_int(&cg->cx, 64), type = LLVMFunctionType(i64, &i64, 1, 0);
    LLVMValueRef f = LLVMGetNamedFunction(cg->cx.module, "ingot_live_view");
    if (!f) f = LLVMAddFunction(cg->cx.module, "ingot_live_view", type);
    return LLVMBuildCall2(cg->cx.builder, type, f, &handle, 1, "");
}

// The texture in a pool that a handle stands for, if it stands for one (abi/cpu_texture.h).
static LLVMValueRef pooled_texture(Cg *cg, LLVMValueRef handle) {
    MslContext *cx = &cg->cx;
    LLVMTypeRef ptr = msl_ptr(cx), i64 = msl_int(cx, 64), type = LLVMFunctionType(ptr, NULL, 0, 0);
    LLVMValueRef launch = LLVMGetNamedFunction(cx->module, "__ingot_launch");
    if (!launch) launch = LLVMAddFunction(cx->module, "__ingot_launch", type);
    LLVMValueRef p = LLVMBuildCall2(cx->builder, type, launch, NULL, 0, "");
    const size_t path[] = {offsetof(CpuLaunch, textures), offsetof(CpuTextureOps, pool)};
    for (int k = 0; k < 2; k++) {
        LLVMValueRef offset = LLVMConstInt(i64, path[k], 0);
        p = LLVMBuildInBoundsGEP2(cx->builder, msl_int(cx, 8), p, &offset, 1, "");
        p = LLVMBuildLoad2(cx->builder, ptr, p, "");
        msl_set_invariant(cg, p);
    }
    LLVMValueRef at =
        LLVMBuildAnd(cx->builder, handle, LLVMConstInt(i64, ABI_VIEW_POOL_SLOTS - 1, 0), "");
    at = LLVMBuildMul(cx->builder, at, LLVMConstInt(i64, sizeof(AbiTexture), 0), "");
    return LLVMBuildGEP2(cx->builder, msl_int(cx, 8), p, &at, 1, "");
}

// u32 __ingot_texture_info(texture, word): a load from the texture, or, where there is none, from
// zeros.
void msl_lower_texture_info(Cg *cg) {
    enum { N_WORDS = offsetof(AbiTexture, n_samples) / 4 + 1 };
    MslContext *cx = &cg->cx;
    LLVMValueRef f = LLVMGetNamedFunction(cx->module, "__ingot_texture_info"), none = NULL;
    LLVMTypeRef i32 = msl_int(cx, 32), i64 = msl_int(cx, 64);
    for (LLVMUseRef use; f && (use = LLVMGetFirstUse(f));) {
        LLVMValueRef call = LLVMGetUser(use), handle = LLVMGetOperand(call, 0);
        if (!none) none = msl_zeros(cg, i32, N_WORDS, "no_texture");
        LLVMPositionBuilderBefore(cx->builder, call);
        if (cx->nvptx) {
            LLVMValueRef there = msl_pointer_or(cg, msl_gpu_texture(cg, handle), none);
            msl_replace_by_word(cg, call, i32, N_WORDS, there);
            continue;
        }
        LLVMValueRef p = msl_pointer_or(cg, handle, none);
        LLVMValueRef mark =
            LLVMBuildAnd(cx->builder, handle, LLVMConstInt(i64, ~(ABI_VIEW_POOL_SLOTS - 1), 0), "");
        LLVMValueRef is_pooled = LLVMBuildICmp(cx->builder, LLVMIntEQ, mark,
                                               LLVMConstInt(i64, ABI_TEXTURE_POOLED, 0), "");
        p = LLVMBuildSelect(cx->builder, is_pooled, pooled_texture(cg, handle), p, "");
        msl_replace_by_word(cg, call, i32, N_WORDS, p);
    }
}
