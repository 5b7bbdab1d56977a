// SPDX-License-Identifier: Apache-2.0
// vecdrive.c: the vectoriser alone, for its tests.
//   vecdrive in.ll out.o [--width N] [--parts N] [--shape X,Y,Z] [--cpu NAME] [--features TEXT]
//   [--ll FILE] [--quick] [--time]
// Every function k_* of the module (a thread function, see passes.h) gets two companions,
//   void k_*_full(const void *args, const void *launch, const uint32_t at[7], const void *mask)
//   void k_*_edge(...)  the same for groups that need not have the full shape
// where args points at a struct of the kernel's parameters and at holds gx gy gz sx sy sz first,
// and mask at one bit for each lane. A mask of all lanes is passed as a constant, as the real
// wrapper does. --quick: O1 and one copy only.
#include "compiler/passes/passes.h"
#include <llvm-c/Analysis.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static MslContext cx;
static bool quick;
static unsigned parts = 1;

static void die(const char *text) {
    fprintf(stderr, "vecdrive: %s\n", text);
    exit(2);
}

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void text_attribute(LLVMValueRef f, const char *k, const char *v) {
    LLVMAddAttributeAtIndex(
        f, LLVMAttributeFunctionIndex,
        LLVMCreateStringAttribute(cx.llvm, k, (unsigned)strlen(k), v, (unsigned)strlen(v)));
}

static void set_target(LLVMValueRef f) {
    text_attribute(f, "target-cpu", cx.cpu);
    text_attribute(f, "target-features", cx.features);
    text_attribute(f, "prefer-vector-width", cx.avx512 ? "512" : "256");
    if (cx.avx512) text_attribute(f, "min-legal-vector-width", "512");
}

static void call_simd(LLVMValueRef f, LLVMValueRef simd, LLVMValueRef mask) {
    LLVMBuilderRef b = cx.builder;
    LLVMValueRef own[4], a[80];
    LLVMGetParams(f, own);
    unsigned n = LLVMCountParams(simd), n_args = n - 9;
    LLVMTypeRef t[80], i32 = LLVMInt32TypeInContext(cx.llvm);
    LLVMGetParamTypes(LLVMGlobalGetValueType(simd), t);
    LLVMTypeRef args = LLVMStructTypeInContext(cx.llvm, t, n_args, 0);
    for (unsigned k = 0; k < n_args; k++)
        a[k] = LLVMBuildLoad2(b, t[k], LLVMBuildStructGEP2(b, args, own[0], k, ""), "");
    a[n_args] = own[1];
    for (unsigned k = 0; k < 7; k++) {
        LLVMValueRef o = LLVMConstInt(i32, k, 0);
        a[n_args + 1 + k] = LLVMBuildLoad2(b, i32, LLVMBuildGEP2(b, i32, own[2], &o, 1, ""), "");
    }
    a[n - 1] = mask;
    LLVMBuildCall2(b, LLVMGlobalGetValueType(simd), simd, a, n, "");
    LLVMBuildRetVoid(b);
}

static void companion(LLVMValueRef thread, LLVMValueRef simd, const char *suffix) {
    LLVMTypeRef ptr = LLVMPointerTypeInContext(cx.llvm, 0);
    LLVMTypeRef bits = LLVMIntTypeInContext(cx.llvm, cx.width * parts),
                i1 = LLVMInt1TypeInContext(cx.llvm);
    LLVMTypeRef mask = LLVMVectorType(i1, cx.width * parts), p[] = {ptr, ptr, ptr, ptr};
    char name[256];
    size_t n;
    snprintf(name, sizeof name, "%s%s", LLVMGetValueName2(thread, &n), suffix);
    LLVMValueRef f =
        LLVMAddFunction(cx.module, name, LLVMFunctionType(LLVMVoidTypeInContext(cx.llvm), p, 4, 0));
    set_target(f);
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(cx.llvm, f, ""),
                      all = LLVMAppendBasicBlockInContext(cx.llvm, f, "all"),
                      some = LLVMAppendBasicBlockInContext(cx.llvm, f, "some");
    LLVMPositionBuilderAtEnd(cx.builder, entry);
    LLVMValueRef on = LLVMBuildLoad2(cx.builder, bits, LLVMGetParam(f, 3), "");
    LLVMValueRef whole = LLVMBuildICmp(cx.builder, LLVMIntEQ, on, LLVMConstAllOnes(bits), "");
    if (quick) whole = LLVMConstNull(i1);
    LLVMBuildCondBr(cx.builder, whole, all, some);
    LLVMPositionBuilderAtEnd(cx.builder, all);
    call_simd(f, simd, LLVMConstAllOnes(mask));
    LLVMPositionBuilderAtEnd(cx.builder, some);
    call_simd(f, simd, LLVMBuildBitCast(cx.builder, on, mask, ""));
}

int main(int argc, char **argv) {
    const char *volatile ll = NULL; // volatile: kept over the longjmp of a failure
    volatile bool timing = false;
    char *text = NULL;
    if (argc < 3) die("usage: vecdrive in.ll out.o [options]");
    cx.width = 32;
    cx.reach = 32;
    cx.cpu = LLVMGetHostCPUName();
    cx.features = LLVMGetHostCPUFeatures();
    for (int i = 3; i < argc; i++) {
        if (!strcmp(argv[i], "--time"))
            timing = true;
        else if (!strcmp(argv[i], "--quick"))
            quick = true;
        else if (i + 1 == argc)
            die("option without a value");
        else if (!strcmp(argv[i], "--width"))
            cx.width = (unsigned)atoi(argv[++i]);
        else if (!strcmp(argv[i], "--parts"))
            parts = (unsigned)atoi(argv[++i]);
        else if (!strcmp(argv[i], "--shape"))
            sscanf(argv[++i], "%u,%u,%u", &cx.shape[0], &cx.shape[1], &cx.shape[2]);
        else if (!strcmp(argv[i], "--cpu"))
            cx.cpu = argv[++i];
        else if (!strcmp(argv[i], "--features"))
            cx.features = argv[++i];
        else if (!strcmp(argv[i], "--ll"))
            ll = argv[++i];
        else
            die("unknown option");
    }
    cx.avx512 = strstr(cx.features, "+avx512f") && strstr(cx.features, "+avx512bw");
    cx.avx2 = strstr(cx.features, "+avx2") && strstr(cx.features, "+fma");
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    cx.llvm = LLVMContextCreate();
    LLVMMemoryBufferRef file;
    if (LLVMCreateMemoryBufferWithContentsOfFile(argv[1], &file, &text) ||
        LLVMParseIRInContext(cx.llvm, file, &cx.module, &text))
        die(text);
    LLVMTargetRef target;
    char *triple = LLVMGetDefaultTargetTriple();
    if (LLVMGetTargetFromTriple(triple, &target, &text)) die(text);
    cx.machine = LLVMCreateTargetMachine(target, triple, cx.cpu, cx.features,
                                         quick ? LLVMCodeGenLevelLess : LLVMCodeGenLevelDefault,
                                         LLVMRelocPIC, LLVMCodeModelDefault);
    cx.layout = LLVMCreateTargetDataLayout(cx.machine);
    cx.builder = LLVMCreateBuilderInContext(cx.llvm);
    if (setjmp(cx.fail)) die(cx.error);

    LLVMValueRef threads[512];
    int n = 0;
    size_t length;
    for (LLVMValueRef f = LLVMGetFirstFunction(cx.module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && !strncmp(LLVMGetValueName2(f, &length), "k_", 2) && n < 512)
            threads[n++] = f;
    double t0 = now_ms();
    for (int k = 0; k < n; k++) {
        MslVersion v = {.width = cx.width,
                        .parts = parts,
                        .shape = {cx.shape[0], cx.shape[1], cx.shape[2]},
                        .full_shape = cx.shape[0] && cx.shape[1] && cx.shape[2],
                        .split = true,
                        .whole = true}; // as codegen asks for it
        LLVMValueRef whole = msl_vectorise(&cx, threads[k], &v, NULL);
        v.whole = false;
        LLVMValueRef full = msl_vectorise(&cx, threads[k], &v, NULL);
        v.split = v.full_shape = false, v.terse = true;
        LLVMValueRef edge = msl_vectorise(&cx, threads[k], &v, NULL);
        set_target(whole);
        set_target(full);
        set_target(edge);
        companion(threads[k], whole, "_whole");
        companion(threads[k], full, "_full");
        companion(threads[k], edge, "_edge");
    }
    double t1 = now_ms();
    for (int k = 0; k < n; k++) LLVMDeleteFunction(threads[k]);
    for (LLVMValueRef f = LLVMGetFirstFunction(cx.module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) set_target(f);
    if (LLVMVerifyModule(cx.module, LLVMReturnStatusAction, &text)) die(text);
    if (ll && !strcmp(ll, "raw")) LLVMPrintModuleToFile(cx.module, "raw.ll", &text);
    msl_run_passes(&cx, NULL, quick ? "default<O1>" : "default<O2>");
    msl_repair_masked_stores(&cx);
    double t2 = now_ms();
    if (ll && strcmp(ll, "raw")) LLVMPrintModuleToFile(cx.module, ll, &text);
    if (LLVMTargetMachineEmitToFile(cx.machine, cx.module, argv[2], LLVMObjectFile, &text))
        die(text);
    if (timing)
        fprintf(stderr, "%d kernels: vectorise %.1f ms, optimise %.1f, emit %.1f\n", n, t1 - t0,
                t2 - t1, now_ms() - t2);
    return 0;
}
