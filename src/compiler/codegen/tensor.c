// SPDX-License-Identifier: Apache-2.0
// tensor.c: operations on tensors (compiler/tensor_call.h) on their way to the vectoriser
// (passes/emit_tensor.c) or to the reference code (lanes.c).
//   purpose   tells the optimiser what __ingot_tensor_*() do: they read and write the memory their
//             arguments point to, keep no pointer and return; that thread positions, which the
//             headers ask for too, are free to move; and how cooperative tensors are spread
//   requires  msl_load
#include "compiler/tensor_call.h"
#include "compiler/codegen/codegen.h"
#include <string.h>

enum { MEMORY_ARGUMENTS = 3 }; // LLVM's encoding of memory(argmem: readwrite)

static void describe(MslContext *cx, LLVMValueRef f) {
    static const char *const attributes[] = {"nounwind", "willreturn", "nofree"};
    for (size_t k = 0; k < sizeof attributes / sizeof *attributes; k++)
        msl_add_attribute(cx, f, LLVMAttributeFunctionIndex, attributes[k], 0);
    msl_add_attribute(cx, f, LLVMAttributeFunctionIndex, "memory", MEMORY_ARGUMENTS);
    for (unsigned p = 0; p < LLVMCountParams(f); p++)
        if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetParam(f, p))) == LLVMPointerTypeKind)
            msl_add_attribute(cx, f, p + 1, "captures", 0); // none
}

// Clang takes every function of this dialect for convergent.
static void free_position(MslContext *cx, LLVMValueRef f) {
    unsigned convergent = LLVMGetEnumAttributeKindForName("convergent", 10);
    static const char *const attributes[] = {"nounwind", "willreturn", "nofree", "nosync",
                                             "speculatable"};
    LLVMRemoveEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, convergent);
    for (size_t k = 0; k < sizeof attributes / sizeof *attributes; k++)
        msl_add_attribute(cx, f, LLVMAttributeFunctionIndex, attributes[k], 0);
    msl_add_attribute(cx, f, LLVMAttributeFunctionIndex, "memory", 0);
    for (LLVMUseRef use = LLVMGetFirstUse(f); use; use = LLVMGetNextUse(use))
        if (LLVMIsACallInst(LLVMGetUser(use)))
            LLVMRemoveCallSiteEnumAttribute(LLVMGetUser(use), LLVMAttributeFunctionIndex,
                                            convergent);
}

static uint64_t slab_bytes(LLVMValueRef call, unsigned layout_arg) {
    LLVMValueRef v = LLVMGetOperand(call, layout_arg);
    if (!LLVMIsAConstantInt(v)) return 0;
    uint32_t layout = (uint32_t)LLVMConstIntGetZExtValue(v);
    enum { ELEMENT = 4, COPIES = 2 }; // the slab, and storage for threads that are not there
    return layout && tensor_kind(layout) != 1 ? (uint64_t)tensor_capacity(layout) * ELEMENT * COPIES
                                              : 0;
}

uint64_t msl_tensor_stack(LLVMValueRef call) {
    const char *name = msl_callee(call);
    enum { OPERATION = 64 }; // its description, and what the function called needs
    if (strstr(name, TENSOR_CONVOLUTION))
        return OPERATION + slab_bytes(call, TENSOR_CONVOLUTION_LAYOUT);
    if (!strstr(name, TENSOR_MATMUL)) return 0;
    uint64_t bytes = OPERATION;
    for (unsigned m = 0; m < 3; m++) bytes += slab_bytes(call, TENSOR_LAYOUT_A + m);
    return bytes;
}

static void answer_tiled(Cg *cg) {
    LLVMValueRef f = LLVMGetNamedFunction(cg->cx.module, "__ingot_tiled");
    for (LLVMUseRef use; f && (use = LLVMGetFirstUse(f));) {
        LLVMValueRef call = LLVMGetUser(use);
        LLVMReplaceAllUsesWith(call, LLVMConstInt(LLVMTypeOf(call), cg->cx.nvptx, 0));
        LLVMInstructionEraseFromParent(call);
    }
}

void msl_describe_tensors(Cg *cg) {
    MslContext *cx = &cg->cx;
    answer_tiled(cg);
    for (LLVMValueRef f = LLVMGetFirstFunction(cx->module); f; f = LLVMGetNextFunction(f)) {
        size_t n;
        const char *name = LLVMGetValueName2(f, &n);
        if (strstr(name, "__ingot_tensor_") && LLVMIsDeclaration(f)) describe(cx, f);
        if (!strcmp(name, "__ingot_position")) free_position(cx, f);
    }
}
