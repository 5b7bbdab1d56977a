// SPDX-License-Identifier: Apache-2.0
// context.c: one compilation's LLVM context and the small things every file of the back end needs.
// Errors leave a pass by longjmp to msl_backend, which frees the whole context at once: nothing a
// pass allocates in LLVM needs undoing, and what it mallocs must be reachable from Cg.
#include "compiler/codegen/codegen.h"
#include <llvm-c/Analysis.h>
#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *user) {
    Cg *cg = user;
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError) return;
    char *text = LLVMGetDiagInfoDescription(info);
    if (!cg->diagnostics) cg->diagnostics = strdup(text);
    LLVMDisposeMessage(text);
}

bool msl_context_open(Cg *cg, const MslKernelRequest *request, char **log) {
    *cg = (Cg){.request = request, .lib = request->reflection};
    MslContext *cx = &cg->cx;
    cx->llvm = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(cx->llvm, on_diagnostic, cg);
    cx->builder = LLVMCreateBuilderInContext(cx->llvm);
    memcpy(cx->shape, request->shape, sizeof cx->shape);
    cx->dump_after = request->dump_after;
    cx->log = log;
    cx->remarks = request->remarks;
    // Parts: the kernel's library, and at most one for each linked function and dynamic library.
    size_t n_parts = 1 + request->n_linked + request->n_dynamic, n = cg->lib->n_constants;
    for (size_t i = 0; i < request->n_linked; i++) {
        uint32_t l = request->linked[i].library;
        n += l ? request->parts[l - 1].reflection->n_constants : cg->lib->n_constants;
    }
    for (size_t i = 0; i < request->n_dynamic; i++) {
        uint32_t l = request->dynamic[i];
        n += l ? request->parts[l - 1].reflection->n_constants : cg->lib->n_constants;
    }
    cg->constant_set = calloc(n ? n : 1, sizeof *cg->constant_set);
    cg->parts = calloc(n_parts, sizeof *cg->parts);
    if (!cg->constant_set || !cg->parts) return false;
    cg->parts[cg->n_parts++] = (CgPart){cg->lib, request->constants, request->n_constants, 0};
    return true;
}

void msl_context_close(Cg *cg) {
    msl_dispatches_free(cg);
    MslContext *cx = &cg->cx;
    if (cx->builder) LLVMDisposeBuilder(cx->builder);
    if (cx->module) LLVMDisposeModule(cx->module);
    if (cx->layout) LLVMDisposeTargetData(cx->layout);
    msl_close_target(cg);
    LLVMContextDispose(cx->llvm);
    if (cg->cpu) LLVMDisposeMessage(cg->cpu);
    if (cg->features) LLVMDisposeMessage(cg->features);
    msl_validation_free(cg);
    msl_free_tables(cg);
    free(cg->constant_set);
    free(cg->stage_in);
    free(cg->placed);
    free(cg->parts);
    free(cg->dynamic_parts);
    free(cg->scratch);
    free(cg->diagnostics);
    free(cg->report.variables);
    free(cg->report.names);
}

void msl_fail(MslContext *cx, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(cx->error, sizeof cx->error, format, args);
    va_end(args);
    longjmp(cx->fail, 1);
}

void msl_insert(MslContext *cx, LLVMValueRef instruction) {
    LLVMSetCurrentDebugLocation2(cx->builder, NULL); // the builder would write over its line
    LLVMInsertIntoBuilder(cx->builder, instruction);
}

void msl_run_passes(MslContext *cx, LLVMValueRef f, const char *pipeline) {
    msl_run_passes_with(cx, f, pipeline, true);
}

void msl_run_passes_with(MslContext *cx, LLVMValueRef f, const char *pipeline, bool unroll) {
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMPassBuilderOptionsSetLoopVectorization(options, 0);
    LLVMPassBuilderOptionsSetSLPVectorization(options, 0);
    LLVMPassBuilderOptionsSetLoopInterleaving(options, 0);
    LLVMPassBuilderOptionsSetLoopUnrolling(options, unroll);
    LLVMErrorRef e = f ? LLVMRunPassesOnFunction(f, pipeline, cx->machine, options)
                       : LLVMRunPasses(cx->module, pipeline, cx->machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (e) {
        char *text = LLVMGetErrorMessage(e), copy[512];
        snprintf(copy, sizeof copy, "%s", text);
        LLVMDisposeErrorMessage(text);
        msl_fail(cx, "internal error: passes '%.200s': %s", pipeline, copy);
    }
}

void msl_dump(MslContext *cx, const char *step) {
    if (!cx->dump_after || strcmp(cx->dump_after, step) != 0) return;
    char *text = LLVMPrintModuleToString(cx->module);
    size_t before = *cx->log ? strlen(*cx->log) : 0, n = strlen(text);
    char *joined = realloc(*cx->log, before + n + 1);
    if (joined) {
        memcpy(joined + before, text, n + 1);
        *cx->log = joined;
    }
    LLVMDisposeMessage(text);
}

void msl_verify(MslContext *cx, const char *step) {
    char *text = NULL;
    bool bad = LLVMVerifyModule(cx->module, LLVMReturnStatusAction, &text);
    char copy[1024];
    snprintf(copy, sizeof copy, "%s", text ? text : "");
    LLVMDisposeMessage(text);
    if (bad) msl_fail(cx, "internal error: invalid code after '%s': %s", step, copy);
}

LLVMTypeRef msl_int(const MslContext *cx, unsigned bits) {
    return LLVMIntTypeInContext(cx->llvm, bits);
}
LLVMTypeRef msl_ptr(const MslContext *cx) { return LLVMPointerTypeInContext(cx->llvm, 0); }
LLVMValueRef msl_const(const MslContext *cx, unsigned bits, uint64_t value) {
    return LLVMConstInt(msl_int(cx, bits), value, 0);
}

void msl_add_attribute(MslContext *cx, LLVMValueRef f, LLVMAttributeIndex at, const char *name,
                       uint64_t value) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(f, at, LLVMCreateEnumAttribute(cx->llvm, kind, value));
}

void msl_add_text_attribute(MslContext *cx, LLVMValueRef f, const char *name, const char *value) {
    LLVMAttributeRef a = LLVMCreateStringAttribute(cx->llvm, name, (unsigned)strlen(name), value,
                                                   (unsigned)strlen(value));
    LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, a);
}

const char *msl_callee(LLVMValueRef instruction) {
    if (!LLVMIsACallInst(instruction)) return "";
    LLVMValueRef f = LLVMIsAFunction(LLVMGetCalledValue(instruction));
    size_t n;
    return f ? LLVMGetValueName2(f, &n) : "";
}

bool msl_starts(const char *s, const char *prefix) {
    return strncmp(s, prefix, strlen(prefix)) == 0;
}
