// SPDX-License-Identifier: Apache-2.0
// split_wide.c: operations on many registers become one for each.
//   purpose   vectors of the program in the order of memory (passes/emit_packed.c) are eight
//             registers, and in the end shuffles of two of them make numbers of lanes. LLVM would
//             do all of the first operation, then all of the second: what is between them waits on
//             the stack. Cut up, schedule.c can bring together what follows from each other.
//   requires  the last optimisation has run; preserves everything
// Only what nobody sees but such shuffles, so that nothing is put together again.
#include "compiler/codegen/lower/lower.h"
#include <llvm-c/DebugInfo.h>

enum { MOST = 512, PIECES = 32 };

static unsigned size_of(const Cg *cg, LLVMValueRef v) {
    return (unsigned)LLVMABISizeOfType(cg->cx.layout, LLVMGetElementType(LLVMTypeOf(v)));
}

static LLVMValueRef shuffle(MslContext *cx, LLVMValueRef a, LLVMValueRef b, const int *ix,
                            unsigned n) {
    LLVMValueRef all[MOST];
    LLVMTypeRef word = LLVMInt32TypeInContext(cx->llvm);
    for (unsigned k = 0; k < n; k++)
        all[k] = ix[k] < 0 ? LLVMGetPoison(word) : LLVMConstInt(word, (unsigned)ix[k], 0);
    if (!b) b = LLVMGetPoison(LLVMTypeOf(a));
    return LLVMBuildShuffleVector(cx->builder, a, b, LLVMConstVector(all, n), "");
}

// Whether v is one vector and another of the same length behind it.
static bool is_concat(LLVMValueRef v) {
    if (!LLVMIsAShuffleVectorInst(v)) return false;
    unsigned n = LLVMGetNumMaskElements(v);
    if (n != 2 * LLVMGetVectorSize(LLVMTypeOf(LLVMGetOperand(v, 0)))) return false;
    for (unsigned k = 0; k < n; k++)
        if (LLVMGetMaskValue(v, k) != (int)k) return false;
    return true;
}

LLVMValueRef msl_elements(Cg *cg, LLVMValueRef v, unsigned from, unsigned n) {
    LLVMTypeRef t = LLVMTypeOf(v);
    if (from == 0 && n == LLVMGetVectorSize(t)) return v;
    if (is_concat(v)) {
        unsigned half = LLVMGetVectorSize(t) / 2, side = from >= half;
        if (from + n <= half || side)
            return msl_elements(cg, LLVMGetOperand(v, side), from - side * half, n);
    }
    LLVMValueRef in = LLVMIsABitCastInst(v) ? LLVMGetOperand(v, 0) : NULL;
    if (in && LLVMGetTypeKind(LLVMTypeOf(in)) == LLVMVectorTypeKind) {
        unsigned mine = size_of(cg, v), its = size_of(cg, in);
        if (from * mine % its == 0 && n * mine % its == 0)
            return LLVMBuildBitCast(cg->cx.builder,
                                    msl_elements(cg, in, from * mine / its, n * mine / its),
                                    LLVMVectorType(LLVMGetElementType(t), n), "");
    }
    int ix[MOST];
    for (unsigned k = 0; k < n; k++) ix[k] = (int)(from + k);
    return shuffle(&cg->cx, v, NULL, ix, n);
}

static bool is_alike(LLVMValueRef i) { // for all elements
    return LLVMIsABinaryOperator(i) || LLVMIsAFPExtInst(i) || LLVMIsASIToFPInst(i) ||
           LLVMIsAUIToFPInst(i) || LLVMIsASExtInst(i) || LLVMIsAZExtInst(i) ||
           msl_starts(msl_callee(i), "llvm.fm");
}

// The pieces of `each` elements that a shuffle takes some from: one or two. False: it takes more.
static bool find_pieces(LLVMValueRef shuffle, LLVMValueRef of, unsigned each, int which[2]) {
    which[0] = which[1] = -1;
    if (!LLVMIsAShuffleVectorInst(shuffle) || LLVMGetOperand(shuffle, 0) != of ||
        !LLVMIsPoison(LLVMGetOperand(shuffle, 1)))
        return false;
    for (unsigned k = 0; k < LLVMGetNumMaskElements(shuffle); k++) {
        int at = LLVMGetMaskValue(shuffle, k), piece = at < 0 ? -1 : at / (int)each;
        if (piece < 0 || piece == which[0] || piece == which[1]) continue;
        if (which[1] >= 0) return false;
        which[which[0] >= 0] = piece;
    }
    return which[0] >= 0;
}

// Elements of a piece; 0: i stays whole.
static unsigned piece_of(const Cg *cg, LLVMValueRef i) {
    LLVMTypeRef t = LLVMTypeOf(i);
    if (LLVMGetTypeKind(t) != LLVMVectorTypeKind || !is_alike(i)) return 0;
    unsigned size = size_of(cg, i), its = size_of(cg, LLVMGetOperand(i, 0));
    unsigned each = (cg->cx.avx512 ? 64u : 32u) / (size > its ? size : its);
    unsigned n = LLVMGetVectorSize(t);
    int which[2];
    if (!each || n % each || n / each < 4 || n / each > PIECES) return 0;
    for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = LLVMGetNextUse(u))
        if (!find_pieces(LLVMGetUser(u), i, each, which)) return 0;
    return LLVMGetFirstUse(i) ? each : 0;
}

// Piece k of what i makes.
static LLVMValueRef make_piece(Cg *cg, LLVMValueRef i, unsigned k, unsigned each) {
    LLVMBuilderRef b = cg->cx.builder;
    LLVMValueRef in[3], r;
    int n = LLVMIsACallInst(i) ? (int)LLVMGetNumArgOperands(i) : LLVMGetNumOperands(i);
    LLVMTypeRef t = LLVMVectorType(LLVMGetElementType(LLVMTypeOf(i)), each);
    for (int a = 0; a < n; a++)
        in[a] = msl_elements(cg, LLVMGetOperand(i, (unsigned)a), k * each, each);
    if (LLVMIsACallInst(i)) {
        unsigned id = LLVMGetIntrinsicID(LLVMGetCalledValue(i));
        r = LLVMBuildCall2(b, LLVMIntrinsicGetType(cg->cx.llvm, id, &t, 1),
                           LLVMGetIntrinsicDeclaration(cg->cx.module, id, &t, 1), in, (unsigned)n,
                           "");
    } else if (n == 2) {
        r = LLVMBuildBinOp(b, LLVMGetInstructionOpcode(i), in[0], in[1], "");
    } else {
        r = LLVMBuildCast(b, LLVMGetInstructionOpcode(i), in[0], t, "");
    }
    msl_copy_flags(i, r);
    return r;
}

static void split_into_pieces(Cg *cg, LLVMValueRef i, unsigned each) {
    MslContext *cx = &cg->cx;
    LLVMValueRef piece[PIECES] = {0};
    LLVMSetCurrentDebugLocation2(cx->builder, LLVMInstructionGetDebugLoc(i));
    for (LLVMUseRef u; (u = LLVMGetFirstUse(i));) {
        LLVMValueRef user = LLVMGetUser(u);
        int which[2], ix[MOST];
        unsigned n = LLVMGetNumMaskElements(user);
        bool as_is = n == each;
        find_pieces(user, i, each, which);
        LLVMPositionBuilderBefore(cx->builder, i);
        for (int w = 0; w < 2; w++)
            if (which[w] >= 0 && !piece[which[w]])
                piece[which[w]] = make_piece(cg, i, (unsigned)which[w], each);
        for (unsigned k = 0; k < n; k++) {
            int at = LLVMGetMaskValue(user, k);
            bool second = at >= 0 && at / (int)each != which[0];
            ix[k] = at < 0 ? -1 : at % (int)each + (second ? (int)each : 0);
            as_is &= ix[k] == (int)k;
        }
        LLVMPositionBuilderBefore(cx->builder, user);
        LLVMReplaceAllUsesWith(user, as_is ? piece[which[0]]
                                           : shuffle(cx, piece[which[0]],
                                                     which[1] < 0 ? NULL : piece[which[1]], ix, n));
        LLVMInstructionEraseFromParent(user);
    }
    LLVMInstructionEraseFromParent(i);
}

void msl_split_wide(Cg *cg) {
    if (cg->request->tier == TIER_BASELINE || !(cg->cx.avx512 || cg->cx.avx2)) return;
    for (LLVMValueRef f = LLVMGetFirstFunction(cg->cx.module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetLastInstruction(b), before; i; i = before) {
                before = LLVMGetPreviousInstruction(i);
                unsigned each = piece_of(cg, i);
                if (each) split_into_pieces(cg, i, each);
            }
}
