// SPDX-License-Identifier: Apache-2.0
// emit_helper.c: helper lanes of a fragment function: pixels that are not covered and run only for
// the derivatives of their quad. Their inputs are extrapolated, so that an index the program may
// rely on can be out of bounds: where an address is divergent, a helper lane reads 0, and writes
// nothing, unless the access is inside the object the address was derived from: an array of the
// function, a buffer argument, or a constant of the program. (Stores to buffers by helper lanes are
// suppressed in codegen/stage_wrap.c.)
#include "compiler/passes/passes_int.h"
#include "abi/cpu_kernel.h"

static Value load_at(Vec *x, Type t, Value base, uint64_t offset, unsigned align) {
    Value o = LLVMConstInt(x->i64, offset, 0);
    Value v = LLVMBuildLoad2(x->b, t, LLVMBuildGEP2(x->b, x->i8, base, &o, 1, ""), "");
    LLVMSetAlignment(v, align);
    return v;
}

void msl_begin_helpers(Vec *x) {
    x->covered = x->lengths = NULL;
    if (!x->cx->covered_offset) return;
    unsigned n_params = LLVMCountParams(x->thread);
    Value bits = load_at(x, x->i32, LLVMGetParam(x->f, n_params - 1), x->cx->covered_offset, 4);
    x->covered = LLVMBuildBitCast(x->b, bits, x->mask_type, "covered");
    // Without lengths nothing is known to be inside.
    Type zeros = LLVMArrayType2(x->i64, n_params);
    Value none = LLVMAddGlobal(x->module, zeros, "ingot.lengths");
    LLVMSetInitializer(none, LLVMConstNull(zeros));
    LLVMSetGlobalConstant(none, 1);
    LLVMSetLinkage(none, LLVMInternalLinkage);
    Value lengths = load_at(x, x->ptr, x->launch, offsetof(CpuLaunch, lengths), 8);
    x->lengths =
        LLVMBuildSelect(x->b, LLVMBuildIsNull(x->b, lengths, ""), none, lengths, "lengths");
}

// The memory a pointer of the thread function was made from: NULL if it is not obvious.
static Value root_of(Value p) {
    while (LLVMIsAGetElementPtrInst(p)) p = operand(p, 0);
    return LLVMIsAAllocaInst(p) || LLVMIsAArgument(p) || LLVMIsAGlobalVariable(p) ? p : NULL;
}

// How many bytes there are (i64); NULL: not known.
static Value extent_of(Vec *x, Value root) {
    unsigned n_params = LLVMCountParams(x->thread);
    if (LLVMIsAAllocaInst(root) || LLVMIsAGlobalVariable(root)) {
        Type t =
            LLVMIsAAllocaInst(root) ? LLVMGetAllocatedType(root) : LLVMGlobalGetValueType(root);
        return LLVMConstInt(x->i64, LLVMABISizeOfType(x->dl, t), 0);
    }
    for (unsigned i = 0; i + 1 < n_params; i++)
        if (LLVMGetParam(x->thread, i) == root) return load_at(x, x->i64, x->lengths, i * 8ull, 8);
    return NULL; // the step: its rows are never reached this way
}

Value msl_helper_mask(Vec *x, Value p, int64_t behind, int bytes) {
    if (!x->covered) return x->mask;
    Value root = root_of(p), length = root ? extent_of(x, root) : NULL, on = x->covered;
    if (length) {
        Value offset = LLVMBuildAdd(x->b, msl_offset_of(x, p, true, 0),
                                    msl_splat(x, const_int(x->i64, behind)), "");
        Value n = const_int(x->i64, bytes);
        Value room = LLVMBuildICmp(x->b, LLVMIntUGE, length, n, "");
        Value last = LLVMBuildSub(x->b, length, n, "");
        Value in = LLVMBuildICmp(x->b, LLVMIntULE, offset, msl_splat(x, last), "");
        in = LLVMBuildAnd(x->b, in, msl_splat(x, room), "");
        on = LLVMBuildOr(x->b, on, in, "");
    }
    return LLVMBuildAnd(x->b, x->mask, on, "");
}
