// SPDX-License-Identifier: Apache-2.0
// constants.c: constants that a program gives with a command come as parameters of the kernel.
//   idea      such bytes (setBytes) lie in memory of the host's: the first thread that reads them
//             waits for microseconds. The host knows them when it launches, so the words that a
//             kernel reads at known places of its constants are parameters (abi/cuda_kernel.h). A
//             constant that lies in a buffer is read there as ever: a bit for each slot says which
//   requires  the thread function's arguments as they are; before the library joins
#include "compiler/codegen/gpu.h"
#include <string.h>

#define WORD "ingot_constant_word" // codegen/nvptx/library/position.c

static unsigned words_of(Cg *cg, LLVMTypeRef type) {
    unsigned long long bytes = LLVMStoreSizeOfType(LLVMGetModuleDataLayout(cg->cx.module), type);
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    bool plain = kind == LLVMIntegerTypeKind || kind == LLVMFloatTypeKind ||
                 kind == LLVMDoubleTypeKind || kind == LLVMVectorTypeKind;
    return plain && bytes % 4 == 0 && bytes <= 16 ? (unsigned)(bytes / 4) : 0;
}

// Bytes from the argument to where it is read; -1: not known.
static long long offset_from(LLVMValueRef argument, LLVMValueRef pointer) {
    if (pointer == argument) return 0;
    if (!LLVMIsAGetElementPtrInst(pointer) || LLVMGetOperand(pointer, 0) != argument ||
        LLVMGetNumOperands(pointer) != 2)
        return -1;
    LLVMTypeRef step = LLVMGetGEPSourceElementType(pointer);
    LLVMValueRef index = LLVMGetOperand(pointer, 1);
    if (LLVMGetTypeKind(step) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(step) != 8 ||
        !LLVMIsAConstantInt(index))
        return -1;
    return LLVMConstIntGetSExtValue(index);
}

// The parameter that holds a word; -1: there are too many.
static int parameter_of(Cg *cg, unsigned slot, unsigned word) {
    uint16_t name = (uint16_t)(slot << 8 | word);
    for (unsigned i = 0; i < cg->gpu.n_constants; i++)
        if (cg->gpu.constants[i] == name) return (int)i;
    if (cg->gpu.n_constants == CUDA_MAX_CONSTANTS) return -1;
    cg->gpu.constants[cg->gpu.n_constants] = name;
    return (int)cg->gpu.n_constants++;
}

static LLVMValueRef word_at(Cg *cg, unsigned parameter, unsigned slot, LLVMValueRef pointer,
                            unsigned word) {
    MslContext *cx = &cg->cx;
    LLVMTypeRef in[] = {msl_int(cx, 32), msl_int(cx, 32), msl_ptr(cx)},
                type = LLVMFunctionType(msl_int(cx, 32), in, 3, 0);
    LLVMValueRef f = LLVMGetNamedFunction(cx->module, WORD), bytes = msl_const(cx, 64, word * 4);
    if (!f) f = LLVMAddFunction(cx->module, WORD, type);
    LLVMValueRef at = LLVMBuildInBoundsGEP2(cx->builder, msl_int(cx, 8), pointer, &bytes, 1, ""),
                 args[] = {msl_const(cx, 32, parameter), msl_const(cx, 32, slot), at};
    return LLVMBuildCall2(cx->builder, type, f, args, 3, "");
}

static void replace_load(Cg *cg, LLVMValueRef load, unsigned slot, unsigned first, unsigned n) {
    MslContext *cx = &cg->cx;
    int parameters[4];
    for (unsigned i = 0; i < n; i++)
        if ((parameters[i] = parameter_of(cg, slot, first + i)) < 0) return;
    LLVMPositionBuilderBefore(cx->builder, load);
    LLVMValueRef value = LLVMGetUndef(LLVMVectorType(msl_int(cx, 32), n));
    for (unsigned i = 0; i < n; i++)
        value = LLVMBuildInsertElement(
            cx->builder, value,
            word_at(cg, (unsigned)parameters[i], slot, LLVMGetOperand(load, 0), i),
            msl_const(cx, 32, i), "");
    LLVMReplaceAllUsesWith(load, LLVMBuildBitCast(cx->builder, value, LLVMTypeOf(load), ""));
    LLVMInstructionEraseFromParent(load);
}

static bool is_constant(const Cg *cg, unsigned slot) {
    static const char *const names[] = {"noalias", "readonly"};
    for (size_t i = 0; i < 2; i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(names[i], strlen(names[i]));
        if (!LLVMGetEnumAttributeAtIndex(cg->thread, slot + 1, kind)) return false;
    }
    return true;
}

// Every load of the thread function's from a known place of the argument. False: `each` said so.
typedef bool Each(Cg *cg, LLVMValueRef load, const RfArg *arg, unsigned at);
static bool for_loads(Cg *cg, const RfArg *arg, Each *each) {
    LLVMValueRef argument = LLVMGetParam(cg->thread, arg->slot);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(cg->thread); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            long long at = LLVMIsALoadInst(i) ? offset_from(argument, LLVMGetOperand(i, 0)) : -1;
            if (at >= 0 && at < UINT32_MAX && !each(cg, i, arg, (unsigned)at)) return false;
        }
    return true;
}

// Beyond the type that is pointed to there are more of them: an array, which lies in a buffer.
static bool is_within(Cg *cg, LLVMValueRef load, const RfArg *arg, unsigned at) {
    (void)load;
    return at < cg->lib->types[arg->type].size;
}

static bool take(Cg *cg, LLVMValueRef load, const RfArg *arg, unsigned at) {
    unsigned n = words_of(cg, LLVMTypeOf(load));
    if (n && at % 4 == 0 && at + n * 4 <= CUDA_CONSTANT_BYTES && LLVMGetAlignment(load) >= 4 &&
        !LLVMGetVolatile(load) && LLVMGetOrdering(load) == LLVMAtomicOrderingNotAtomic)
        replace_load(cg, load, arg->slot, at / 4, n);
    return true;
}

static bool is_all_words(LLVMValueRef pointer) {
    for (LLVMUseRef u = LLVMGetFirstUse(pointer); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        bool word = LLVMIsACallInst(user) && !strcmp(msl_callee(user), WORD);
        if (!word && !(LLVMIsAGetElementPtrInst(user) && is_all_words(user))) return false;
    }
    return true;
}

void msl_take_constants(Cg *cg) {
    for (uint32_t a = 0; a < cg->fn->n_args; a++) {
        const RfArg *arg = &cg->fn->args[a];
        if (arg->kind == RF_ARG_BUFFER && arg->count == 1 && arg->slot < CUDA_CONSTANT_SLOTS &&
            is_constant(cg, arg->slot) && for_loads(cg, arg, is_within)) {
            for_loads(cg, arg, take);
            if (is_all_words(LLVMGetParam(cg->thread, arg->slot)))
                cg->gpu.only_constants |= 1u << arg->slot;
        }
    }
}
