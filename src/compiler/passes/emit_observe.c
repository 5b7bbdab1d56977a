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

static size_t line_function(uint64_t tell) {
    return tell == CPU_TELL_GROUP     ? offsetof(CpuWatch, group)
           : tell == CPU_TELL_BARRIER ? offsetof(CpuWatch, barrier)
                                      : offsetof(CpuWatch, line);
}

// Addresses of rows in threadgroup memory: one call, with where each begins.
static void tell_rows(Vec *x, Value value, Class c, Value *args) {
    unsigned n = x->n_segments;
    Type array = LLVMArrayType2(x->i64, n);
    Value bases = msl_entry_alloca(x, array, 64);
    LLVMSetValueName2(bases, "texture.values", 14);
    msl_intrinsic(x, "llvm.lifetime.start", &x->ptr, 1, &bases, 1);
    for (unsigned g = 0; g < n; g++) {
        Value o = LLVMConstInt(x->i64, 8 * g, 0);
        LLVMBuildStore(x->b, as_word(x, msl_scalar_of(x, value, g), x->i64),
                       LLVMBuildInBoundsGEP2(x->b, x->i8, bases, &o, 1, ""));
    }
    args[4] = bases;
    args[5] = LLVMConstInt(x->i64, (uint32_t)c.stride | (uint64_t)x->segment << CPU_ROWS_LANES, 0);
    call(x, offsetof(CpuWatch, rows), args, 6);
    msl_intrinsic(x, "llvm.lifetime.end", &x->ptr, 1, &bases, 1);
}

void msl_emit_observe(Vec *x, Value i) {
    Value value = operand(i, 1), on = x->mask;
    uint64_t site = LLVMConstIntGetZExtValue(operand(i, 0)), tell = site >> CPU_TELL_SHIFT;
    Class c = msl_class(x, value);
    if (x->parts != 1 || x->width != ABI_SIMD_WIDTH) msl_fail_at(x, "watched in parts", i);
    if (x->covered)
        on = LLVMBuildAnd(x->b, on, x->covered, ""); // pixels that only help do not count
    Value args[6] = {x->launch, const_int(LLVMTypeOf(operand(i, 0)), (int64_t)(uint16_t)site),
                     x->first, msl_mask_bits(x, on)};
    if (c.kind == LINEAR && (!c.segmented || is_pointer(LLVMTypeOf(value)))) {
        unsigned n = c.segmented ? x->n_segments : 1;
        Value all = args[3];
        if (n > 1 && tell == CPU_TELL_GROUP && c.stride == (int32_t)c.stride) {
            tell_rows(x, value, c, args);
            return;
        }
        for (unsigned g = 0; g < n; g++) {
            uint64_t lanes = (UINT64_C(1) << x->width / n) - 1;
            int64_t behind = (int64_t)(g * x->segment) * c.stride; // the base is that of lane 0
            args[3] = LLVMBuildAnd(x->b, all,
                                   LLVMConstInt(LLVMTypeOf(all), lanes << g * x->segment, 0), "");
            args[4] = LLVMBuildSub(x->b, as_word(x, msl_scalar_of(x, value, g), x->i64),
                                   const_int(x->i64, behind), "");
            args[5] = const_int(x->i64, c.stride);
            call(x, line_function(tell), args, 6);
        }
        return;
    }
    Type vector = msl_vector_type(x, x->i64);
    Value memory = msl_entry_alloca(x, vector, 64);
    LLVMSetValueName2(memory, "texture.values", 14);
    msl_intrinsic(x, "llvm.lifetime.start", &x->ptr, 1, &memory, 1);
    LLVMSetAlignment(LLVMBuildStore(x->b, as_word(x, msl_vector(x, value, 0), vector), memory), 64);
    args[4] = memory;
    call(x, offsetof(CpuWatch, lanes), args, 5);
    msl_intrinsic(x, "llvm.lifetime.end", &x->ptr, 1, &memory, 1);
}
