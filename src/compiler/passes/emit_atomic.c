// SPDX-License-Identifier: Apache-2.0
// emit_atomic.c: atomic read-modify-write. In general a loop over the active lanes. When all lanes
// hit one place with an integer operation, one atomic operation with the combined value does: 32
// lanes that count into one counter cost one locked add. Results, where used, are what the lanes
// would have seen one after the other in their order.
#include "compiler/passes/passes_int.h"

static bool combines(Value i, bool *ordered) {
    *ordered = false;
    if (!is_integer(LLVMTypeOf(i)) || LLVMGetVolatile(i)) return false;
    switch (LLVMGetAtomicRMWBinOp(i)) {
    case LLVMAtomicRMWBinOpAdd:
    case LLVMAtomicRMWBinOpSub: *ordered = true; return true;
    case LLVMAtomicRMWBinOpAnd:
    case LLVMAtomicRMWBinOpOr:
    case LLVMAtomicRMWBinOpXor:
    case LLVMAtomicRMWBinOpMax:
    case LLVMAtomicRMWBinOpMin:
    case LLVMAtomicRMWBinOpUMax:
    case LLVMAtomicRMWBinOpUMin: return true;
    default: return false;
    }
}

static Value count_active(Vec *x, Type t) {
    Value bits = msl_mask_bits(x, x->mask);
    return LLVMBuildIntCast2(x->b, msl_intrinsic(x, "llvm.ctpop", &x->bits_type, 1, &bits, 1), t, 0,
                             "");
}

void msl_emit_rmw(Vec *x, Value i, Val *o) {
    bool ordered, used = LLVMGetFirstUse(i) != NULL;
    Value p = operand(i, 0), v = operand(i, 1);
    if (!msl_uniform(x, p) || !combines(i, &ordered) || (used && !ordered)) {
        msl_lane_loop(x, i, o);
        return;
    }
    LLVMAtomicRMWBinOp op = LLVMGetAtomicRMWBinOp(i);
    Type t = LLVMTypeOf(i);
    Value total, before = NULL;
    if (msl_uniform(x, v) && ordered) {
        Value one = LLVMBuildSelect(x->b, x->mask, msl_splat(x, const_int(t, 1)),
                                    LLVMConstNull(msl_vector_type(x, t)), "");
        total = LLVMBuildMul(x->b, msl_scalar(x, v), count_active(x, t), "");
        if (used)
            before = LLVMBuildMul(x->b, msl_prefix_sum_exclusive(x, one), msl_vector(x, v, 0), "");
    } else {
        Value all = msl_vector(x, v, 0);
        total = msl_reduce_int(x, op, all);
        if (used) before = msl_prefix_sum_exclusive(x, all);
    }
    Value copy = LLVMInstructionClone(i);
    LLVMSetOperand(copy, 0, msl_scalar(x, p));
    LLVMSetOperand(copy, 1, total);
    LLVMInsertIntoBuilder(x->b, copy);
    if (!used) return;
    Value old = msl_splat(x, copy);
    o->v[0] = op == LLVMAtomicRMWBinOpAdd ? LLVMBuildAdd(x->b, old, before, "")
                                          : LLVMBuildSub(x->b, old, before, "");
}
