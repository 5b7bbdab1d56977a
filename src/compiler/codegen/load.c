// SPDX-License-Identifier: Apache-2.0
// load.c: the bitcode of a library -> a module with one kernel and what it reaches.
// A library may hold hundreds of kernels. The module of this one (abi/modules.h) is opened lazily
// (function bodies stay unread), everything but the wanted kernel is made internal, and then it is
// linked into an empty module: the linker reads an internal function only when something refers to
// it. LLVM-C cannot materialise a function otherwise.
#include "compiler/codegen/codegen.h"
#include "abi/modules.h"
#include "abi/stage_in.h"
#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <stdio.h>
#include <string.h>

LLVMModuleRef msl_open_lazily(Cg *cg, const void *bitcode, size_t n_bytes) {
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRange((const char *)bitcode, n_bytes, "library", 0);
    LLVMModuleRef module = NULL;
    // On success the module owns the buffer.
    if (LLVMGetBitcodeModuleInContext2(cg->cx.llvm, buffer, &module)) {
        LLVMDisposeMemoryBuffer(buffer);
        msl_fail(&cg->cx, "the library's code is damaged: %s",
                 cg->diagnostics ? cg->diagnostics : "not bitcode");
    }
    return module;
}

void msl_hide_all_but(LLVMModuleRef m, bool (*keep)(LLVMValueRef f, void *context), void *context) {
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f) || keep(f, context)) continue;
        LLVMSetLinkage(f, LLVMInternalLinkage);
        LLVMSetVisibility(f, LLVMDefaultVisibility);
    }
    for (LLVMValueRef g = LLVMGetFirstGlobal(m); g; g = LLVMGetNextGlobal(g)) {
        size_t n;
        if (LLVMIsDeclaration(g) || msl_starts(LLVMGetValueName2(g, &n), "llvm.")) continue;
        LLVMSetLinkage(g, LLVMInternalLinkage);
        LLVMSetVisibility(g, LLVMDefaultVisibility);
    }
}

LLVMModuleRef msl_open_code(Cg *cg, const void *code, size_t n_bytes, uint32_t number) {
    AbiModule m = abi_module_at(code, n_bytes, number);
    LLVMModuleRef module = msl_open_lazily(cg, m.n_bytes ? m.bitcode : code, m.n_bytes);
    msl_verify_library(cg, module);
    return module;
}

static bool is_kernel(LLVMValueRef f, void *kernel) { return f == kernel; }

static void check_link(Cg *cg, bool failed) {
    if (failed || cg->diagnostics)
        msl_fail(&cg->cx, "the library's code is damaged: %s",
                 cg->diagnostics ? cg->diagnostics : "cannot be linked");
}

void msl_join(Cg *cg, LLVMModuleRef library) {
    MslContext *cx = &cg->cx;
    char *triple = LLVMGetTargetMachineTriple(cx->machine);
    LLVMSetTarget(library, triple);
    LLVMSetModuleDataLayout(library, cx->layout);
    LLVMDisposeMessage(triple);
    check_link(cg, LLVMLinkModules2(cx->module, library));
}

static bool value_of(void *context, const RfConstant *c, int64_t *value) {
    const Cg *cg = context;
    bool found = false;
    for (size_t i = 0; i < cg->request->n_constants; i++) {
        const MslConstantValue *v = &cg->request->constants[i];
        if (v->name ? strcmp(v->name, c->name) != 0 : v->index != c->index) continue;
        found = rf_integer(v->data, v->n_bytes, cg->lib->types[c->type].data_type, value);
    }
    return found;
}

// Indices that function constants give.
static void place(Cg *cg) {
    const char *wrong;
    if (rf_is_placed(cg->fn)) return;
    cg->placed = rf_place(cg->lib, cg->fn, value_of, cg, &wrong);
    if (!cg->placed && wrong)
        msl_fail(&cg->cx,
                 "the index of '%s' of '%s', which a function constant gives, is not "
                 "valid",
                 wrong, cg->fn->name);
    if (!cg->placed) msl_fail(&cg->cx, "out of memory");
    cg->fn = cg->placed;
}

void msl_load(Cg *cg) {
    MslContext *cx = &cg->cx;
    cg->fn = rf_find_function(cg->lib, cg->request->function);
    if (!cg->fn) msl_fail(cx, "the library has no function '%s'", cg->request->function);
    uint32_t number = abi_module_of(cg->request->bitcode, cg->request->bitcode_bytes,
                                    (uint32_t)(cg->fn - cg->lib->functions));
    if (cg->fn->stage > RF_MESH)
        msl_fail(cx, "'%s' is not an entry point of a pipeline", cg->request->function);
    if (cg->fn->stage == RF_KERNEL && cg->request->vertex) {
        cg->stage_in = abi_stage_in_function(cg->fn, cg->request->vertex);
        if (!cg->stage_in) msl_fail(cx, "out of memory");
        cg->fn = cg->stage_in;
    }
    place(cg);
    LLVMModuleRef library =
        msl_open_code(cg, cg->request->bitcode, cg->request->bitcode_bytes, number);
    LLVMValueRef kernel = LLVMGetNamedFunction(library, cg->fn->symbol);
    if (!kernel || LLVMIsDeclaration(kernel)) {
        LLVMDisposeModule(library);
        msl_fail(cx, "the library has no code for '%s'", cg->request->function);
    }
    LLVMSetLinkage(kernel, LLVMExternalLinkage);
    msl_hide_all_but(library, is_kernel, kernel);
    cx->module = LLVMModuleCreateWithNameInContext(cg->fn->name, cx->llvm);
    LLVMSetModuleDataLayout(cx->module, cx->layout);
    char *triple = LLVMGetTargetMachineTriple(cx->machine);
    LLVMSetTarget(cx->module, triple);
    LLVMDisposeMessage(triple);
    msl_join(cg, library);
    cg->entry = LLVMGetNamedFunction(cx->module, cg->fn->symbol);
    if (!cg->entry) msl_fail(cx, "the library has no code for '%s'", cg->request->function);
    LLVMSetLinkage(cg->entry, LLVMInternalLinkage);
    msl_link_parts(cg);
}

// Code from device/ joins the module. Its exported names stay external until wrap.c has what it
// needs.
void msl_link_device_code(Cg *cg, MslDevicePart part) {
    MslElf code = msl_device_code(cg, part);
    msl_join(cg, msl_open_lazily(cg, code.bytes, code.n_bytes));
}
