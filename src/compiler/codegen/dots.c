// SPDX-License-Identifier: Apache-2.0
// dots.c: a sum of dot products that a loop carries becomes a vector of sums.
//   purpose   `s += dot(float4(a[i]), x[i])`, the loop of every product of a matrix and a vector: a
//             sum for each component, added together behind the loop. The components lie in memory
//             side by side, so vectors of threads need not be taken apart in the loop: one fused
//             multiply-add in place of a product, a sum and three shuffles.
//   requires  all is inlined, variables are values; no loop has been changed yet; contract.c,
//             which fuses what is made here, comes later
//   breaks    the order of such a sum, which fast mathematics leaves open. It hangs on the source
//             alone, as what contract.c decides: the same bits for every width and shape.
// Only products with something from memory: of numbers that are computed component by component
// four sums take more registers than one.
#include "compiler/codegen/codegen.h"

enum { LEAVES = 64, COMPONENTS = 4, PRODUCTS = LEAVES / 2 };

typedef struct Sum {        // what a loop adds to the number that it carries
    LLVMValueRef phi, user; // the number, and the sum that it is a term of
    LLVMValueRef leaves[LEAVES], products[PRODUCTS];
    unsigned n_leaves, n_products, size; // components of a product
} Sum;

// Fast mathematics, and no pragma against it.
static bool is_free(LLVMValueRef v) {
    enum { FREE = LLVMFastMathAllowContract | LLVMFastMathApproxFunc | LLVMFastMathNoSignedZeros };
    return (LLVMGetFastMathFlags(v) & FREE) == FREE;
}

static bool has_one_use(LLVMValueRef v) {
    LLVMUseRef u = LLVMGetFirstUse(v);
    return u && !LLVMGetNextUse(u);
}

static bool is_float(LLVMTypeRef t) { return LLVMGetTypeKind(t) == LLVMFloatTypeKind; }

// The terms of a tree of sums, from the left; false: too many.
static bool collect(Sum *s, LLVMValueRef v, LLVMValueRef user) {
    if (msl_as(v, LLVMFAdd) && is_free(v) && (!user || has_one_use(v)))
        return collect(s, LLVMGetOperand(v, 0), v) && collect(s, LLVMGetOperand(v, 1), v);
    if (s->n_leaves == LEAVES) return false;
    if (v == s->phi) s->user = user;
    s->leaves[s->n_leaves++] = v;
    return true;
}

static bool is_loaded(LLVMValueRef v) {
    if (msl_as(v, LLVMFPExt)) v = LLVMGetOperand(v, 0);
    return LLVMIsALoadInst(v);
}

// Whether v is a product of two vectors whose components are all used once, each by an extract.
static bool is_product(const Sum *s, LLVMValueRef v) {
    LLVMTypeRef t = LLVMTypeOf(v);
    if (!msl_as(v, LLVMFMul) || !is_free(v) || LLVMGetTypeKind(t) != LLVMVectorTypeKind)
        return false;
    unsigned size = LLVMGetVectorSize(t), n = 0;
    if (!is_float(LLVMGetElementType(t)) || (size != 2 && size != COMPONENTS)) return false;
    if (s->n_products && size != s->size) return false;
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) n++;
    return n == size && (is_loaded(LLVMGetOperand(v, 0)) || is_loaded(LLVMGetOperand(v, 1)));
}

// Leaves [at, ...) begin with all components of a product in any order: they are that.
static bool take_product(Sum *s, unsigned *at) {
    LLVMValueRef first = s->leaves[*at];
    if (!LLVMIsAExtractElementInst(first)) return false;
    LLVMValueRef product = LLVMGetOperand(first, 0);
    if (!is_product(s, product)) return false;
    unsigned size = LLVMGetVectorSize(LLVMTypeOf(product)), seen = 0;
    for (unsigned k = 0; k < size; k++) {
        LLVMValueRef e = *at + k < s->n_leaves ? s->leaves[*at + k] : NULL;
        if (!e || !LLVMIsAExtractElementInst(e) || LLVMGetOperand(e, 0) != product ||
            !has_one_use(e) || !LLVMIsAConstantInt(LLVMGetOperand(e, 1)))
            return false;
        seen |= 1u << (LLVMConstIntGetZExtValue(LLVMGetOperand(e, 1)) % 32);
    }
    if (seen != (1u << size) - 1) return false;
    s->size = size;
    s->products[s->n_products++] = product;
    *at += size;
    return true;
}

// Whether `total`, which comes back around the loop, is phi and dot products.
static bool is_sum(Sum *s, LLVMValueRef phi, LLVMValueRef total) {
    *s = (Sum){.phi = phi};
    bool carried = false;
    if (!msl_as(total, LLVMFAdd) || !is_free(total) || !collect(s, total, NULL)) return false;
    for (unsigned at = 0; at < s->n_leaves;) {
        if (s->leaves[at] == phi && !carried)
            carried = true, at++;
        else if (!take_product(s, &at))
            return false;
    }
    return carried && s->n_products;
}

// ---- where the number is used ----

enum { BLOCKS = 64 };

typedef struct Loop {
    LLVMBasicBlockRef blocks[BLOCKS]; // the header first
    unsigned n;
} Loop;

static bool is_inside(const Loop *l, LLVMBasicBlockRef b) {
    for (unsigned k = 0; k < l->n; k++)
        if (l->blocks[k] == b) return true;
    return false;
}

// The blocks between a loop's header and the one that leads back there; false: too many.
static bool find_loop(Loop *l, LLVMBasicBlockRef header, LLVMBasicBlockRef latch) {
    l->n = 0;
    l->blocks[l->n++] = header;
    if (latch != header) l->blocks[l->n++] = latch;
    for (unsigned k = 1; k < l->n; k++) {
        LLVMUseRef u = LLVMGetFirstUse(LLVMBasicBlockAsValue(l->blocks[k]));
        for (; u; u = LLVMGetNextUse(u)) {
            if (!LLVMIsATerminatorInst(LLVMGetUser(u))) continue;
            LLVMBasicBlockRef from = LLVMGetInstructionParent(LLVMGetUser(u));
            if (is_inside(l, from)) continue;
            if (l->n == BLOCKS) return false;
            l->blocks[l->n++] = from;
        }
    }
    return true;
}

// Whether the number is used behind the loop only, but for the sum itself and its phi.
static bool is_for_later(const Loop *l, LLVMValueRef v, LLVMValueRef only) {
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef i = LLVMGetUser(u);
        if (i != only && is_inside(l, LLVMGetInstructionParent(i))) return false;
    }
    return true;
}

// ---- the vector ----

static LLVMValueRef as_free(LLVMValueRef v, LLVMValueRef like) {
    if (LLVMIsAInstruction(v)) LLVMSetFastMathFlags(v, LLVMGetFastMathFlags(like));
    return v;
}

// All components of v, in pairs: what the number is.
static LLVMValueRef add_up(const Cg *cg, LLVMBuilderRef b, LLVMValueRef v, LLVMValueRef like) {
    LLVMValueRef e[COMPONENTS];
    unsigned size = LLVMGetVectorSize(LLVMTypeOf(v));
    for (unsigned k = 0; k < size; k++)
        e[k] = LLVMBuildExtractElement(b, v, msl_const(&cg->cx, 32, k), "");
    for (; size > 1; size /= 2)
        for (unsigned k = 0; k < size / 2; k++)
            e[k] = as_free(LLVMBuildFAdd(b, e[2 * k], e[2 * k + 1], ""), like);
    return e[0];
}

static LLVMValueRef first_behind_phis(LLVMBasicBlockRef b) {
    LLVMValueRef i = LLVMGetFirstInstruction(b);
    while (LLVMIsAPHINode(i)) i = LLVMGetNextInstruction(i);
    return i;
}

// The uses of the number at the top and at the bottom of the loop get what the vectors add up to.
// Where the loop does not ask for that, later passes move it behind the loop.
static void widen(const Cg *cg, LLVMBuilderRef b, const Sum *s, LLVMValueRef total, unsigned back) {
    LLVMTypeRef t = LLVMVectorType(LLVMTypeOf(s->phi), s->size);
    LLVMValueRef in = LLVMGetIncomingValue(s->phi, 1 - back), all = LLVMConstNull(t);
    LLVMBasicBlockRef from = LLVMGetIncomingBlock(s->phi, 1 - back),
                      latch = LLVMGetIncomingBlock(s->phi, back);
    LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(from));
    if (!LLVMIsNull(in)) all = LLVMBuildInsertElement(b, all, in, msl_const(&cg->cx, 32, 0), "");
    LLVMPositionBuilderBefore(b, s->phi);
    LLVMValueRef top = LLVMBuildPhi(b, t, ""), bottom = top;
    LLVMAddIncoming(top, &all, &from, 1);
    LLVMPositionBuilderBefore(b, total);
    for (unsigned k = 0; k < s->n_products; k++)
        bottom = as_free(LLVMBuildFAdd(b, bottom, s->products[k], ""), total);
    LLVMAddIncoming(top, &bottom, &latch, 1);
    LLVMReplaceAllUsesWith(total, add_up(cg, b, bottom, total));
    LLVMPositionBuilderBefore(b, first_behind_phis(LLVMGetInstructionParent(s->phi)));
    LLVMValueRef number = add_up(cg, b, top, total);
    LLVMReplaceAllUsesWith(s->phi, number);
    LLVMInstructionEraseFromParent(s->phi); // what is left has no use: later passes drop it
}

static void try_phi(const Cg *cg, LLVMBuilderRef b, LLVMValueRef phi) {
    Sum s;
    Loop loop;
    if (!is_float(LLVMTypeOf(phi)) || LLVMCountIncoming(phi) != 2) return;
    for (unsigned back = 0; back < 2; back++) {
        LLVMValueRef total = LLVMGetIncomingValue(phi, back);
        if (!is_sum(&s, phi, total)) continue;
        if (find_loop(&loop, LLVMGetInstructionParent(phi), LLVMGetIncomingBlock(phi, back)) &&
            is_for_later(&loop, phi, s.user) && is_for_later(&loop, total, phi))
            widen(cg, b, &s, total, back);
        return;
    }
}

void msl_spread_dots(Cg *cg) {
    LLVMBuilderRef b = LLVMCreateBuilderInContext(cg->cx.llvm);
    LLVMModuleRef m = cg->cx.module;
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(f); k; k = LLVMGetNextBasicBlock(k))
            for (LLVMValueRef i = LLVMGetFirstInstruction(k), next; i && LLVMIsAPHINode(i);
                 i = next) {
                next = LLVMGetNextInstruction(i);
                try_phi(cg, b, i);
            }
    LLVMDisposeBuilder(b);
}
