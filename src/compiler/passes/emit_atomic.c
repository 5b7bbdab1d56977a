// SPDX-License-Identifier: Apache-2.0
// emit_atomic.c: atomic read-modify-write. In general a loop over the active lanes. When all lanes
// hit one place with an integer operation, one atomic operation with the combined value does: 32
// lanes that count into one counter cost one locked add. Results, where used, are what the lanes
// would have seen one after the other in their order. Threadgroup memory belongs to one thread of
// the machine: what is atomic for its lanes, which take turns, needs no lock.
#include "compiler/passes/passes_int.h"

// Whether the memory is the threadgroup's.
static bool is_shared(const Vec *x, Value p) {
    while (LLVMIsAGetElementPtrInst(p)) p = operand(p, 0);
    return x->cx->local && p == LLVMGetLastParam(x->thread);
}

static Value changed(Vec *x, LLVMAtomicRMWBinOp op, Value old, Value v) {
    Type t = LLVMTypeOf(v);
    const char *pick = NULL;
    switch (op) {
    case LLVMAtomicRMWBinOpXchg: return v;
    case LLVMAtomicRMWBinOpAdd: return LLVMBuildAdd(x->b, old, v, "");
    case LLVMAtomicRMWBinOpSub: return LLVMBuildSub(x->b, old, v, "");
    case LLVMAtomicRMWBinOpAnd: return LLVMBuildAnd(x->b, old, v, "");
    case LLVMAtomicRMWBinOpOr: return LLVMBuildOr(x->b, old, v, "");
    case LLVMAtomicRMWBinOpXor: return LLVMBuildXor(x->b, old, v, "");
    case LLVMAtomicRMWBinOpFAdd: return LLVMBuildFAdd(x->b, old, v, "");
    case LLVMAtomicRMWBinOpFSub: return LLVMBuildFSub(x->b, old, v, "");
    case LLVMAtomicRMWBinOpMax: pick = "llvm.smax"; break;
    case LLVMAtomicRMWBinOpMin: pick = "llvm.smin"; break;
    case LLVMAtomicRMWBinOpUMax: pick = "llvm.umax"; break;
    case LLVMAtomicRMWBinOpUMin: pick = "llvm.umin"; break;
    default: return NULL;
    }
    Value a[] = {old, v};
    return msl_intrinsic(x, pick, &t, 1, a, 2);
}

bool msl_is_locked(const Vec *x, Value i) {
    return LLVMIsAAtomicCmpXchgInst(i) ||
           (LLVMIsAAtomicRMWInst(i) && (LLVMGetVolatile(i) || !is_shared(x, operand(i, 0))));
}

Value msl_unlocked(Vec *x, Value i, Value copy) {
    if (!LLVMIsAAtomicRMWInst(i) || msl_is_locked(x, i)) return copy;
    LLVMPositionBuilderBefore(x->b, copy);
    Value p = operand(copy, 0), old = LLVMBuildLoad2(x->b, LLVMTypeOf(copy), p, "");
    LLVMSetAlignment(old, LLVMGetAlignment(copy));
    Value fresh = changed(x, LLVMGetAtomicRMWBinOp(copy), old, operand(copy, 1));
    if (fresh) LLVMSetAlignment(LLVMBuildStore(x->b, fresh, p), LLVMGetAlignment(copy));
    LLVMPositionBuilderAtEnd(x->b, LLVMGetInstructionParent(copy));
    LLVMInstructionEraseFromParent(fresh ? copy : old);
    return fresh ? old : copy;
}

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
    copy = msl_unlocked(x, i, copy);
    if (!used) return;
    Value old = msl_splat(x, copy);
    o->v[0] = op == LLVMAtomicRMWBinOpAdd ? LLVMBuildAdd(x->b, old, before, "")
                                          : LLVMBuildSub(x->b, old, before, "");
}
