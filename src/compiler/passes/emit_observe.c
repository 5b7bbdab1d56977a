// SPDX-License-Identifier: Apache-2.0
// emit_observe.c: void __ingot_observe(i32 site, value) of watched code (codegen/watch.c): what
// each thread that comes by has in hand, an address or a number, told to the device once for all
// lanes of a step (abi/cpu_watch.h). A line is its base and its stride, addresses that are lines in
// segments (rows of a threadgroup that is 16 wide) are one for each; anything else is an array.
// Requires: one part, of 32 lanes.
#include "abi/cpu_kernel.h"
#include "compiler/passes/passes_int.h"

static Value word_at(Vec *x, Value base, uint64_t offset) {
    Value o = LLVMConstInt(x->i64, offset, 0);
    Value v = LLVMBuildLoad2(x->b, x->ptr, LLVMBuildInBoundsGEP2(x->b, x->i8, base, &o, 1, ""), "");
    LLVMSetMetadata(v, LLVMGetMDKindIDInContext(x->llvm, "invariant.load", 14),
                    LLVMMetadataAsValue(x->llvm, LLVMMDNodeInContext2(x->llvm, NULL, 0)));
    return v;
}

static void call(Vec *x, size_t which, Value *args, unsigned n) {
    Type types[6];
    for (unsigned k = 0; k < n; k++) types[k] = LLVMTypeOf(args[k]);
    Value f = word_at(x, word_at(x, x->launch, offsetof(CpuLaunch, watch)), which);
    LLVMBuildCall2(x->b, LLVMFunctionType(x->none, types, n, 0), f, args, n, "");
}

static Value as_word(Vec *x, Value v, Type to) {
    Type t = LLVMTypeOf(v);
    if (is_vector(t)) t = LLVMGetElementType(t);
    return is_pointer(t) ? LLVMBuildPtrToInt(x->b, v, to, "")
                         : LLVMBuildIntCast2(x->b, v, to, 0, "");
}

void msl_emit_observe(Vec *x, Value i) {
    Value value = operand(i, 1), on = x->mask;
    Class c = msl_class(x, value);
    if (x->parts != 1 || x->width != ABI_SIMD_WIDTH) msl_fail_at(x, "watched in parts", i);
    if (x->covered)
        on = LLVMBuildAnd(x->b, on, x->covered, ""); // pixels that only help do not count
    Value args[6] = {x->launch, operand(i, 0), x->first, msl_mask_bits(x, on)};
    if (c.kind == LINEAR && (!c.segmented || is_pointer(LLVMTypeOf(value)))) {
        unsigned n = c.segmented ? x->n_segments : 1;
        Value all = args[3];
        for (unsigned g = 0; g < n; g++) {
            uint64_t lanes = (UINT64_C(1) << x->width / n) - 1;
            int64_t behind = (int64_t)(g * x->segment) * c.stride; // the base is that of lane 0
            args[3] = LLVMBuildAnd(x->b, all,
                                   LLVMConstInt(LLVMTypeOf(all), lanes << g * x->segment, 0), "");
            args[4] = LLVMBuildSub(x->b, as_word(x, msl_scalar_of(x, value, g), x->i64),
                                   const_int(x->i64, behind), "");
            args[5] = const_int(x->i64, c.stride);
            call(x, offsetof(CpuWatch, line), args, 6);
        }
        return;
    }
    Type vector = msl_vector_type(x, x->i64);
    Value memory = msl_entry_alloca(x, vector, 64);
    LLVMSetValueName2(memory, "texture.values", 14); // codegen/wrap.c knows it by name
    msl_intrinsic(x, "llvm.lifetime.start", &x->ptr, 1, &memory, 1);
    LLVMSetAlignment(LLVMBuildStore(x->b, as_word(x, msl_vector(x, value, 0), vector), memory), 64);
    args[4] = memory;
    call(x, offsetof(CpuWatch, lanes), args, 5);
    msl_intrinsic(x, "llvm.lifetime.end", &x->ptr, 1, &memory, 1);
}
