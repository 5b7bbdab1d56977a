// SPDX-License-Identifier: Apache-2.0
// effects.c: which of its arguments a kernel reads and writes.
//   idea      dispatches that do not touch each other's memory may run side by side, and the device
//             wants to know which (devices/cuda/dependencies.c). When all is inlined, every access
//             of a kernel that has no pointers in buffers leads back to an argument, to the block's
//             memory or to the thread's own. One that does not, or a call nobody can look into: it
//             may reach anything, and nothing is said
//   requires  the kernel as it will be emitted
#include "compiler/codegen/gpu.h"
#include <string.h>

enum { SHARED = 3, CONSTANT = 4, LOCAL = 5, PARAMETER = 101 }; // LLVM's address spaces
enum { MAX_SEEN = 64 };

typedef struct Trace {
    const Cg *cg;
    LLVMValueRef kernel;
    LLVMValueRef seen[MAX_SEEN]; // where ways meet
    unsigned n_seen;
    uint64_t slots; // that the pointer may come from
} Trace;

static bool is_pointer(LLVMValueRef v) {
    return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind;
}

// Adds where the pointer comes from. False: it is not known.
static bool trace(Trace *t, LLVMValueRef v) {
    for (;;) {
        if (!is_pointer(v)) return false;
        unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(v));
        if (space == SHARED || space == CONSTANT || space == LOCAL || space == PARAMETER ||
            LLVMIsAAllocaInst(v) || LLVMIsAConstantPointerNull(v) || LLVMIsUndef(v))
            return true;
        if (LLVMIsAArgument(v)) {
            for (unsigned i = 0; i < t->cg->fn->n_slots && i < 64; i++)
                if (LLVMGetParam(t->kernel, i) == v) {
                    t->slots |= (uint64_t)1 << i;
                    return true;
                }
            return false;
        }
        if (LLVMIsAGlobalVariable(v)) return LLVMIsGlobalConstant(v);
        LLVMOpcode op = LLVMIsAConstantExpr(v)  ? LLVMGetConstOpcode(v)
                        : LLVMIsAInstruction(v) ? LLVMGetInstructionOpcode(v)
                                                : (LLVMOpcode)0;
        if (op == LLVMGetElementPtr || op == LLVMBitCast || op == LLVMAddrSpaceCast ||
            op == LLVMFreeze) {
            v = LLVMGetOperand(v, 0);
            continue;
        }
        if (op != LLVMPHI && op != LLVMSelect) return false;
        for (unsigned i = 0; i < t->n_seen; i++)
            if (t->seen[i] == v) return true;
        if (t->n_seen == MAX_SEEN) return false;
        t->seen[t->n_seen++] = v;
        unsigned n = op == LLVMPHI ? LLVMCountIncoming(v) : 2;
        for (unsigned i = 0; i < n; i++)
            if (!trace(t, op == LLVMPHI ? LLVMGetIncomingValue(v, i) : LLVMGetOperand(v, i + 1)))
                return false;
        return true;
    }
}

enum { READS = 1, WRITES = 2, MAY_WRITE = 4 };

// Slots that the kernel says it only reads.
static uint64_t read_only(const Cg *cg) {
    uint64_t slots = 0;
    for (uint32_t a = 0; a < cg->fn->n_args; a++) {
        const RfArg *arg = &cg->fn->args[a];
        bool only = arg->kind == RF_ARG_BUFFER && arg->access == RF_READ_ONLY;
        for (uint32_t k = 0; only && k < arg->count && arg->slot + k < 64; k++)
            slots |= (uint64_t)1 << (arg->slot + k);
    }
    return slots;
}

static bool reaches(Cg *cg, LLVMValueRef kernel, LLVMValueRef pointer, int how) {
    Trace t = {.cg = cg, .kernel = kernel};
    if (!trace(&t, pointer)) return false;
    if (how & READS) cg->gpu.slots_read |= t.slots;
    if (how & WRITES) cg->gpu.slots_written |= t.slots;
    if (how & MAY_WRITE) cg->gpu.slots_written |= t.slots & ~read_only(cg);
    return true;
}

// A number that code nobody looks into may take for an address: one that was an argument's, which
// was noted there, or none. Small ones are places in the block's memory.
static bool is_harmless(LLVMValueRef v) {
    LLVMTypeRef type = LLVMTypeOf(v);
    bool wide = LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) > 32;
    return !wide || LLVMIsAConstantInt(v) || LLVMIsAPtrToIntInst(v);
}

static bool call_is_known(Cg *cg, LLVMValueRef kernel, LLVMValueRef call) {
    bool intrinsic = msl_starts(msl_callee(call), "llvm.");
    if (!intrinsic && !LLVMIsAInlineAsm(LLVMGetCalledValue(call))) return false;
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
        LLVMValueRef v = LLVMGetOperand(call, i);
        if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMMetadataTypeKind) continue;
        if (is_pointer(v) ? !reaches(cg, kernel, v, READS | MAY_WRITE)
                          : !intrinsic && !is_harmless(v))
            return false;
    }
    return true;
}

static bool copy_is_known(Cg *cg, LLVMValueRef kernel, LLVMValueRef call) {
    bool fill = msl_starts(msl_callee(call), "llvm.memset");
    return reaches(cg, kernel, LLVMGetOperand(call, 0), WRITES) &&
           (fill || reaches(cg, kernel, LLVMGetOperand(call, 1), READS));
}

static bool is_known(Cg *cg, LLVMValueRef kernel, LLVMValueRef i) {
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad: return reaches(cg, kernel, LLVMGetOperand(i, 0), READS);
    case LLVMStore:
        if (!reaches(cg, kernel, LLVMGetOperand(i, 1), WRITES)) return false;
        return !is_pointer(LLVMGetOperand(i, 0));
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg: return reaches(cg, kernel, LLVMGetOperand(i, 0), READS | WRITES);
    case LLVMPtrToInt: return reaches(cg, kernel, LLVMGetOperand(i, 0), READS | MAY_WRITE);
    case LLVMCall:
        if (msl_starts(msl_callee(i), "llvm.memcpy") || msl_starts(msl_callee(i), "llvm.memmove") ||
            msl_starts(msl_callee(i), "llvm.memset"))
            return copy_is_known(cg, kernel, i);
        return call_is_known(cg, kernel, i);
    default: return true;
    }
}

void msl_note_effects(Cg *cg, LLVMValueRef kernel) {
    cg->gpu.slots_read = cg->gpu.slots_written = 0;
    cg->gpu.effects_known = !cg->gpu.has_surroundings && cg->fn->n_slots <= 64;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(kernel); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && cg->gpu.effects_known;
             i = LLVMGetNextInstruction(i))
            cg->gpu.effects_known = is_known(cg, kernel, i);
}
