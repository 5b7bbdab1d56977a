// SPDX-License-Identifier: Apache-2.0
// emit_call.c: functions that are called, not inlined (codegen/outline.c).
// Purpose: __ingot_dispatch_<n>(id, frame, uniform...) becomes calls of __ingot_dispatch_<n>.simd,
//   one for each number that active lanes have, with the mask of those lanes.
// Requires: one part; the function of that name, with scalars where the call has values.
#include "compiler/passes/passes_int.h"
#include <stdio.h>

enum { MAX_ARGS = 96 };

static void call(Vec *x, Value f, Value *args, unsigned n, Value mask) {
    args[n++] = x->launch;
    for (int d = 0; d < 3; d++) args[n++] = x->group[d];
    for (int d = 0; d < 3; d++) args[n++] = x->size[d];
    args[n++] = x->first;
    args[n++] = mask;
    LLVMBuildCall2(x->b, LLVMGlobalGetValueType(f), f, args, n, "");
}

void msl_emit_dispatch(Vec *x, Value i) {
    char name[96];
    snprintf(name, sizeof name, "%s.simd", callee_of(i));
    Value f = LLVMGetNamedFunction(x->module, name), args[MAX_ARGS], lanes[MAX_ARGS] = {0};
    unsigned n = LLVMGetNumArgOperands(i);
    bool varying = false;
    if (!f || n + 9 > MAX_ARGS) msl_fail_at(x, "call of no function", i);
    for (unsigned k = 0; k < n; k++) {
        if (msl_uniform(x, operand(i, (int)k)))
            args[k] = msl_scalar(x, operand(i, (int)k));
        else
            lanes[k] = msl_vector(x, operand(i, (int)k), 0), varying = true;
    }
    if (!varying) {
        call(x, f, args, n, x->mask);
        return;
    }
    Value bits0 = msl_mask_bits(x, x->mask);
    Block before = LLVMGetInsertBlock(x->b), loop = msl_new_block(x, "choice"),
          done = msl_new_block(x, "chosen");
    LLVMBuildBr(x->b, loop);
    LLVMPositionBuilderAtEnd(x->b, loop);
    Value bits = LLVMBuildPhi(x->b, x->bits_type, ""), z[] = {bits, const_int(x->i1, 1)};
    Value lane = msl_intrinsic(x, "llvm.cttz", &x->bits_type, 1, z, 2);
    Value mask = LLVMBuildBitCast(x->b, bits, x->mask_type, "");
    for (unsigned k = 0; k < n; k++) {
        if (!lanes[k]) continue;
        args[k] = LLVMBuildExtractElement(x->b, lanes[k], lane, "");
        Value same = LLVMBuildICmp(x->b, LLVMIntEQ, lanes[k], msl_splat(x, args[k]), "");
        mask = msl_mask_and(x, mask, same);
    }
    call(x, f, args, n, mask);
    Value rest = LLVMBuildAnd(x->b, bits, LLVMBuildNot(x->b, msl_mask_bits(x, mask), ""), "");
    LLVMBuildCondBr(x->b, LLVMBuildICmp(x->b, LLVMIntNE, rest, LLVMConstNull(x->bits_type), ""),
                    loop, done);
    LLVMAddIncoming(bits, (Value[]){bits0, rest}, (Block[]){before, loop}, 2);
    LLVMPositionBuilderAtEnd(x->b, done);
}

// Memory of the SIMD-group: so many bytes for each lane.
Value msl_emit_frame(Vec *x, Value i) {
    int64_t bytes;
    if (!get_const(operand(i, 0), &bytes)) msl_fail_at(x, "a frame of unknown size", i);
    return msl_entry_alloca(x, LLVMArrayType2(x->i8, (uint64_t)bytes * x->lanes + 1), 64);
}
