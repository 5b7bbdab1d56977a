// SPDX-License-Identifier: Apache-2.0
// mask_phis.c: masks that go from block to block, on AArch64.
//   purpose   NEON has no registers for masks. Inside a block LLVM keeps them as vectors of the
//             size of what was compared; between blocks it takes them apart into a register for
//             each lane. Here they go as vectors of bytes: two registers for a SIMD-group.
//   requires  the last optimisation has run; preserves everything else
#include "compiler/codegen/lower/lower.h"
#include <stdlib.h>

typedef struct Phis {
    LLVMValueRef *of, *bytes; // a mask, and the same as bytes
    size_t n, room;
} Phis;

static LLVMTypeRef bytes_type(MslContext *cx, LLVMTypeRef mask) {
    return LLVMVectorType(msl_int(cx, 8), LLVMGetVectorSize(mask));
}

static LLVMValueRef first_behind_phis(LLVMBasicBlockRef b) {
    LLVMValueRef i = LLVMGetFirstInstruction(b);
    while (LLVMIsAPHINode(i)) i = LLVMGetNextInstruction(i);
    return i;
}

// A mask as bytes, made where the mask is made.
static LLVMValueRef bytes_of(Cg *cg, const Phis *phis, LLVMValueRef mask) {
    MslContext *cx = &cg->cx;
    LLVMTypeRef type = bytes_type(cx, LLVMTypeOf(mask));
    for (size_t i = 0; i < phis->n; i++)
        if (phis->of[i] == mask) return phis->bytes[i];
    if (LLVMIsAInstruction(mask)) {
        LLVMValueRef next = LLVMGetNextInstruction(mask);
        if (LLVMIsASExtInst(next) && LLVMGetOperand(next, 0) == mask && LLVMTypeOf(next) == type)
            return next;
        LLVMPositionBuilderBefore(cx->builder, next);
    } else if (LLVMIsAArgument(mask)) {
        LLVMPositionBuilderBefore(
            cx->builder, first_behind_phis(LLVMGetEntryBasicBlock(LLVMGetParamParent(mask))));
    }
    return LLVMBuildSExt(cx->builder, mask, type, "");
}

// The mask again, in every block but `home` where it is used.
static void use_bytes(Cg *cg, LLVMValueRef mask, LLVMValueRef bytes, LLVMBasicBlockRef home) {
    MslContext *cx = &cg->cx;
    for (;;) {
        LLVMBasicBlockRef block = NULL;
        LLVMValueRef again = NULL;
        for (LLVMUseRef u = LLVMGetFirstUse(mask), next; u; u = next) {
            next = LLVMGetNextUse(u);
            LLVMValueRef user = LLVMGetUser(u);
            LLVMBasicBlockRef at = LLVMGetInstructionParent(user);
            if (at == home || LLVMIsAPHINode(user) || (block && at != block)) continue;
            if (!block) {
                block = at;
                LLVMPositionBuilderBefore(cx->builder, first_behind_phis(block));
                again = LLVMBuildICmp(cx->builder, LLVMIntSLT, bytes,
                                      LLVMConstNull(LLVMTypeOf(bytes)), "");
            }
            int times = 0;
            for (int k = 0; k < LLVMGetNumOperands(user); k++)
                if (LLVMGetOperand(user, (unsigned)k) == mask) {
                    LLVMSetOperand(user, (unsigned)k, again);
                    times++;
                }
            if (times > 1) next = LLVMGetFirstUse(mask); // the next may be gone with it
        }
        if (!block) return;
    }
}

static void add_phi(Cg *cg, Phis *phis, LLVMValueRef phi) {
    MslContext *cx = &cg->cx;
    if (phis->n == phis->room) {
        phis->room = phis->room ? 2 * phis->room : 64;
        LLVMValueRef *of = realloc(phis->of, phis->room * sizeof *of);
        if (of) phis->of = of;
        LLVMValueRef *bytes = of ? realloc(phis->bytes, phis->room * sizeof *bytes) : NULL;
        if (bytes) phis->bytes = bytes;
        if (!bytes) msl_fail(cx, "out of memory");
    }
    LLVMPositionBuilderBefore(cx->builder, phi);
    phis->of[phis->n] = phi;
    phis->bytes[phis->n++] = LLVMBuildPhi(cx->builder, bytes_type(cx, LLVMTypeOf(phi)), "");
}

static void lower_phis(Cg *cg, LLVMValueRef f, Phis *phis) {
    phis->n = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i && LLVMIsAPHINode(i); i = next) {
            next = LLVMGetNextInstruction(i);
            if (msl_is_mask(LLVMTypeOf(i))) add_phi(cg, phis, i);
        }
    for (size_t p = 0; p < phis->n; p++) {
        for (unsigned k = 0; k < LLVMCountIncoming(phis->of[p]); k++) {
            LLVMValueRef v = bytes_of(cg, phis, LLVMGetIncomingValue(phis->of[p], k));
            LLVMBasicBlockRef from = LLVMGetIncomingBlock(phis->of[p], k);
            LLVMAddIncoming(phis->bytes[p], &v, &from, 1);
        }
        use_bytes(cg, phis->of[p], phis->bytes[p], NULL);
    }
    for (size_t p = 0; p < phis->n; p++)
        LLVMReplaceAllUsesWith(phis->of[p], LLVMGetPoison(LLVMTypeOf(phis->of[p])));
    for (size_t p = 0; p < phis->n; p++) LLVMInstructionEraseFromParent(phis->of[p]);
    phis->n = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            bool elsewhere = false;
            if (!msl_is_mask(LLVMTypeOf(i))) continue;
            for (LLVMUseRef u = LLVMGetFirstUse(i); u && !elsewhere; u = LLVMGetNextUse(u))
                elsewhere = LLVMGetInstructionParent(LLVMGetUser(u)) != b;
            if (elsewhere) use_bytes(cg, i, bytes_of(cg, phis, i), b);
        }
}

void msl_lower_mask_phis(Cg *cg) {
    if (!cg->cx.aarch64) return;
    Phis phis = {0};
    for (LLVMValueRef f = LLVMGetFirstFunction(cg->cx.module); f; f = LLVMGetNextFunction(f))
        lower_phis(cg, f, &phis);
    free(phis.of);
    free(phis.bytes);
}
