// SPDX-License-Identifier: Apache-2.0
// verify_code.c: types, constants and instructions of a library's bitcode (verify.c says why).
#include "compiler/codegen/verify_int.h"
#include <stdint.h>
#include <string.h>

enum {
    MAX_DEPTH = 128, // of types and constants within each other
    MAX_BITS = 1024, // of an integer
};
#define MAX_BYTES ((uint64_t)1 << 48) // of a type: sizes computed later stay in range

// ---- Types ----

static uint64_t times(uint64_t a, uint64_t b) {
    return b && a > MAX_BYTES / b ? MAX_BYTES + 1 : a * b;
}

// Returns an upper limit of its size, MAX_BYTES + 1 for one that is too large.
// A size as the map keeps it: 8 bits and a power of two, rounded up, by less than a hundredth for
// each structure that another is in.
static int size_code(uint64_t bytes) {
    int power = 0;
    while (bytes >> power > 255) power++;
    uint64_t mantissa = (bytes + ((uint64_t)1 << power) - 1) >> power;
    if (mantissa > 255) mantissa = 128, power++;
    return power << 8 | (int)mantissa;
}

static uint64_t size_of_code(int code) { return (uint64_t)(code & 255) << (code >> 8); }

static uint64_t verify_type(Verify *v, LLVMTypeRef t, int depth) {
    uint64_t bytes = 0, n;
    if (depth > MAX_DEPTH) msl_refuse(v, "types too deep within each other", NULL);
    switch (LLVMGetTypeKind(t)) {
    case LLVMVoidTypeKind:
    case LLVMLabelTypeKind: return 0;
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind:
    case LLVMFloatTypeKind:
    case LLVMDoubleTypeKind: return 16;
    case LLVMMetadataTypeKind: return 0; // operands of intrinsics, which are a list
    case LLVMIntegerTypeKind:
        if (LLVMGetIntTypeWidth(t) > MAX_BITS) msl_refuse(v, "an integer that is too wide", NULL);
        return 2 * MAX_BITS / 8;
    case LLVMPointerTypeKind:
        if (LLVMGetPointerAddressSpace(t) != 0)
            msl_refuse(v, "an address space of the machine", NULL);
        return 16;
    case LLVMFunctionTypeKind:
    case LLVMStructTypeKind: break;
    case LLVMArrayTypeKind:
        n = LLVMGetArrayLength2(t);
        return times(n, verify_type(v, LLVMGetElementType(t), depth + 1));
    case LLVMVectorTypeKind:
        n = LLVMGetVectorSize(t);
        return times(n, verify_type(v, LLVMGetElementType(t), depth + 1));
    default: msl_refuse(v, "a type that Metal does not have", NULL);
    }
    int known = msl_map_get(&v->seen, t); // or a structure of structures takes for ever
    if (known >= 0) return size_of_code(known);
    bool is_function = LLVMGetTypeKind(t) == LLVMFunctionTypeKind;
    if (is_function ? LLVMIsFunctionVarArg(t) : LLVMIsOpaqueStruct(t))
        msl_refuse(v, "a type that Metal does not have", NULL);
    n = is_function ? LLVMCountParamTypes(t) : LLVMCountStructElementTypes(t);
    LLVMTypeRef *members = msl_arena_alloc(&v->cg->cx, &v->arena, (n + 1) * sizeof *members);
    if (is_function)
        LLVMGetParamTypes(t, members);
    else
        LLVMGetStructElementTypes(t, members);
    for (uint64_t i = 0; i < n && bytes <= MAX_BYTES; i++)
        bytes += verify_type(v, members[i], depth + 1) + MSL_MAX_ALIGNMENT;
    if (is_function) verify_type(v, LLVMGetReturnType(t), depth + 1);
    int code = size_code(is_function ? 0 : bytes);
    msl_map_put(&v->cg->cx, &v->arena, &v->seen, t, code);
    return size_of_code(code);
}

void msl_verify_type(Verify *v, LLVMTypeRef t) {
    if (msl_map_get(&v->seen, t) >= 0) return;
    uint64_t bytes = verify_type(v, t, 0);
    if (bytes > MAX_BYTES) msl_refuse(v, "a type of more than 256 TB", NULL);
    if (msl_map_get(&v->seen, t) < 0) msl_map_put(&v->cg->cx, &v->arena, &v->seen, t, 0);
}

// ---- Constants ----

static bool is_allowed(LLVMOpcode opcode) {
    switch (opcode) {
#define OPCODE(name) case LLVM##name:
#include "compiler/codegen/bitcode.def"
        return true;
    default: return false;
    }
}

void msl_verify_constant(Verify *v, LLVMValueRef c, int depth) {
    switch (LLVMGetValueKind(c)) {
    case LLVMFunctionValueKind:
    case LLVMGlobalVariableValueKind: return; // checked where they stand
    case LLVMUndefValueValueKind:
    case LLVMPoisonValueValueKind:
    case LLVMConstantAggregateZeroValueKind:
    case LLVMConstantDataArrayValueKind:
    case LLVMConstantDataVectorValueKind:
    case LLVMConstantIntValueKind:
    case LLVMConstantFPValueKind:
    case LLVMConstantPointerNullValueKind: msl_verify_type(v, LLVMTypeOf(c)); return;
    case LLVMConstantExprValueKind:
        if (!is_allowed(LLVMGetConstOpcode(c)))
            msl_refuse(v, "an expression that Metal does not have", NULL);
        break;
    case LLVMConstantArrayValueKind:
    case LLVMConstantStructValueKind:
    case LLVMConstantVectorValueKind: break;
    default: msl_refuse(v, "the address of a piece of code", NULL);
    }
    if (depth > MAX_DEPTH) msl_refuse(v, "constants too deep within each other", NULL);
    if (msl_map_get(&v->seen, c) >= 0) return;
    msl_map_put(&v->cg->cx, &v->arena, &v->seen, c, 0);
    msl_verify_type(v, LLVMTypeOf(c));
    for (int k = 0; k < LLVMGetNumOperands(c); k++)
        msl_verify_constant(v, LLVMGetOperand(c, (unsigned)k), depth + 1);
}

// ---- Instructions ----

static void verify_call(Verify *v, LLVMValueRef call) {
    LLVMValueRef called = LLVMGetCalledValue(call);
    if (LLVMIsAInlineAsm(called)) msl_refuse(v, "assembly", NULL);
    if (LLVMGetInstructionCallConv(call) != LLVMCCallConv)
        msl_refuse(v, "a call with a calling convention that is not the default", NULL);
    if (LLVMGetTailCallKind(call) == LLVMTailCallKindMustTail)
        msl_refuse(v, "a jump to another function", NULL);
    if (LLVMGetNumOperandBundles(call)) msl_refuse(v, "a call with notes", NULL);
    // Calls of values become choices among the functions of the program (link_calls.c).
    if (LLVMIsAFunction(called) &&
        LLVMGetCalledFunctionType(call) != LLVMGlobalGetValueType(called))
        msl_refuse(v, "a call of a function as if it had another type", NULL);
    msl_verify_attributes(v, call, LLVMGetNumArgOperands(call), LLVMGetCallSiteAttributeCount,
                          LLVMGetCallSiteAttributes);
}

static unsigned alignment_of(LLVMValueRef i, LLVMOpcode opcode) {
    bool has = opcode == LLVMAlloca || opcode == LLVMLoad || opcode == LLVMStore ||
               opcode == LLVMAtomicRMW || opcode == LLVMAtomicCmpXchg;
    return has ? LLVMGetAlignment(i) : 0;
}

// Memory of a function lies in its frame: how much there is must be known.
static void verify_alloca(Verify *v, LLVMValueRef i) {
    LLVMBasicBlockRef b = LLVMGetInstructionParent(i);
    LLVMValueRef n = LLVMGetOperand(i, 0);
    if (b != LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(b)) || !LLVMIsAConstantInt(n) ||
        LLVMConstIntGetZExtValue(n) != 1)
        msl_refuse(v, "memory of the stack that grows", NULL);
    msl_verify_type(v, LLVMGetAllocatedType(i));
}

static void verify_notes(Verify *v, LLVMValueRef i) {
    enum { PLACE = 0 }; // LLVM's number of !dbg: the line of the source, which reports say
    if (!LLVMHasMetadata(i)) return;
    size_t n = 0;
    LLVMValueMetadataEntry *entries = LLVMInstructionGetAllMetadataOtherThanDebugLoc(i, &n);
    bool other = false;
    for (unsigned k = 0; k < n; k++) {
        unsigned kind = LLVMValueMetadataEntriesGetKind(entries, k);
        if (kind == PLACE) continue; // LLVM gives it all the same
        other |= kind >= MSL_MAX_KINDS || !v->notes[kind];
    }
    LLVMDisposeValueMetadataEntries(entries);
    if (other) msl_refuse(v, "notes on an instruction", NULL);
}

static void verify_operand(Verify *v, LLVMValueRef o) {
    if (LLVMIsAInlineAsm(o)) msl_refuse(v, "assembly", NULL);
    if (LLVMValueIsBasicBlock(o) || LLVMIsAInstruction(o) || LLVMIsAArgument(o) ||
        LLVMGetValueKind(o) == LLVMMetadataAsValueValueKind)
        return;
    msl_verify_constant(v, o, 0);
}

void msl_verify_instruction(Verify *v, LLVMValueRef i) {
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
    if (!is_allowed(opcode)) msl_refuse(v, "an instruction that Metal has no use for", NULL);
    if (opcode == LLVMCall) verify_call(v, i);
    if (opcode == LLVMAlloca) verify_alloca(v, i);
    if (opcode == LLVMGetElementPtr) msl_verify_type(v, LLVMGetGEPSourceElementType(i));
    if (alignment_of(i, opcode) > MSL_MAX_ALIGNMENT) msl_refuse(v, "a huge alignment", NULL);
    msl_verify_type(v, LLVMTypeOf(i));
    verify_notes(v, i);
    for (int k = 0; k < LLVMGetNumOperands(i); k++)
        verify_operand(v, LLVMGetOperand(i, (unsigned)k));
}
