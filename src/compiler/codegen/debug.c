// SPDX-License-Identifier: Apache-2.0
// debug.c: code for debuggers (MSL_DEBUG_FULL): the reference back end without optimisation.
//
// A function of the program (one with a DISubprogram: those of our headers have none, see
// bridge_forget_headers) stays as Clang wrote it: every variable has memory of its own. Our
// headers' functions are cleaned up before they are inlined, and belong to the lines that call
// them. In the end all is one function which has the kernel's own record: in a debugger it is the
// kernel, and what it calls are inlined functions.
#include "compiler/codegen/codegen.h"
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

static unsigned kind_of(const char *name) {
    return LLVMGetEnumAttributeKindForName(name, strlen(name));
}

static void remove_attribute(LLVMValueRef f, const char *name) {
    LLVMRemoveEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, kind_of(name));
}

// With `optnone` LLVM's passes leave a function alone.
static void shield(Cg *cg) {
    for (LLVMValueRef f = LLVMGetFirstFunction(cg->cx.module); f; f = LLVMGetNextFunction(f)) {
        static const char *const against[] = {"alwaysinline", "minsize", "optsize"};
        if (LLVMIsDeclaration(f) || !LLVMGetSubprogram(f)) continue;
        for (size_t i = 0; i < sizeof against / sizeof *against; i++)
            remove_attribute(f, against[i]);
        msl_add_attribute(&cg->cx, f, LLVMAttributeFunctionIndex, "optnone", 0);
        msl_add_attribute(&cg->cx, f, LLVMAttributeFunctionIndex, "noinline", 0);
    }
}

void msl_begin_debug(Cg *cg) {
    if (!cg->request->debug && !cg->request->validate) LLVMStripModuleDebugInfo(cg->cx.module);
    cg->cx.lines = cg->request->debug == MSL_DEBUG_LINES;
    if (cg->cx.lines) bridge_drop_variables(cg->cx.module);
    if (!msl_is_debugged(cg)) return;
    shield(cg);
    msl_run_passes(&cg->cx, NULL, "function(sroa,early-cse,simplifycfg)");
}

void msl_inline_debug(Cg *cg) {
    msl_run_passes(&cg->cx, NULL,
                   "globaldce,function(sroa<modify-cfg>,early-cse,simplifycfg),ipsccp,"
                   "function(simplifycfg),globaldce");
    for (LLVMValueRef f = LLVMGetFirstFunction(cg->cx.module); f; f = LLVMGetNextFunction(f))
        remove_attribute(f, "optnone");
    // Branches that function constants decide are gone: what they read may have no value.
    msl_run_passes(&cg->cx, NULL, "function(sccp)");
}

static LLVMValueRef return_of(LLVMValueRef f) {
    for (LLVMBasicBlockRef b = LLVMGetLastBasicBlock(f); b; b = LLVMGetPreviousBasicBlock(b))
        if (LLVMIsAReturnInst(LLVMGetBasicBlockTerminator(b)))
            return LLVMGetBasicBlockTerminator(b);
    return NULL;
}

MslSourceNotes msl_take_source(LLVMValueRef from) {
    enum { SUBPROGRAM = 0 }; // LLVM's number of !dbg
    LLVMValueRef end = return_of(from);
    MslSourceNotes notes = {LLVMGetSubprogram(from), end ? LLVMInstructionGetDebugLoc(end) : NULL};
    if (notes.function) LLVMGlobalEraseMetadata(from, SUBPROGRAM);
    return notes;
}

void msl_give_source(LLVMValueRef to, MslSourceNotes notes) {
    LLVMValueRef end = return_of(to);
    if (!notes.function) return;
    LLVMSetSubprogram(to, notes.function);
    if (end && notes.end) LLVMInstructionSetDebugLoc(end, notes.end);
}

// ---- What can be asked about the thread that runs ----

typedef struct Names {
    LLVMDIBuilderRef builder;
    LLVMMetadataRef file, unit, word, vectors[4];
    Cg *cg;
} Names;

static LLVMMetadataRef basic(Names *n, const char *name, uint64_t bits) {
    enum { UNSIGNED = 7 }; // DW_ATE_unsigned
    return LLVMDIBuilderCreateBasicType(n->builder, name, strlen(name), bits, UNSIGNED, 0);
}

static LLVMMetadataRef vector(Names *n, unsigned components) {
    static const char *const names[] = {"", "uint", "uint2", "uint3"}, *const letters = "xyz";
    LLVMMetadataRef members[3];
    if (components == 1) return n->word;
    if (n->vectors[components]) return n->vectors[components];
    for (unsigned i = 0; i < components; i++)
        members[i] = LLVMDIBuilderCreateMemberType(n->builder, n->unit, letters + i, 1, n->file, 0,
                                                   32, 32, i * 32ull, 0, n->word);
    const char *name = names[components];
    return n->vectors[components] = LLVMDIBuilderCreateStructType(
               n->builder, n->unit, name, strlen(name), n->file, 0, components * 32ull, 32, 0, NULL,
               members, components, 0, NULL, name, strlen(name));
}

static void name_variable(Names *n, const char *symbol, const char *name, LLVMMetadataRef type) {
    enum { VARIABLE = 0 }; // LLVM's number of !dbg
    LLVMValueRef g = LLVMGetNamedGlobal(n->cg->cx.module, symbol);
    if (!g) msl_fail(&n->cg->cx, "the reference code has no '%s'", symbol);
    LLVMMetadataRef what = LLVMDIBuilderCreateGlobalVariableExpression(
        n->builder, n->unit, name, strlen(name), "", 0, n->file, 0, type, 0,
        LLVMDIBuilderCreateExpression(n->builder, NULL, 0), NULL, 0);
    LLVMGlobalSetMetadata(g, VARIABLE, what);
}

void msl_finish_debug(Cg *cg) {
    enum { WORDS = 8 }; // of ingot_debug
    LLVMValueRef f = LLVMGetNamedFunction(cg->cx.module, "ingot_thread");
    LLVMMetadataRef source = f ? LLVMGetSubprogram(f) : NULL;
    if (!source) return; // of a library that knows nothing of its source
    // In the unit of the kernel: where several kernels are loaded, a debugger takes its own.
    Names n = {.cg = cg, .file = LLVMDIScopeGetFile(source)};
    n.builder = bridge_debug_builder(cg->cx.module, source, &n.unit);
    n.word = basic(&n, "uint", 32);
#define SEEN(name, components) name_variable(&n, "ingot_at_" #name, #name, vector(&n, components));
#include "compiler/seen.def"
    LLVMMetadataRef four = LLVMDIBuilderGetOrCreateSubrange(n.builder, 0, 4);
    name_variable(&n, "ingot_wanted", "ingot_wanted",
                  LLVMDIBuilderCreateArrayType(n.builder, 4 * 32, 32, n.word, &four, 1));
    LLVMMetadataRef size = LLVMDIBuilderGetOrCreateSubrange(n.builder, 0, WORDS);
    LLVMMetadataRef words =
        LLVMDIBuilderCreateArrayType(n.builder, WORDS * 64, 64, basic(&n, "ulong", 64), &size, 1);
    name_variable(&n, "ingot_debug", "ingot_debug", words);
    LLVMDIBuilderFinalize(n.builder);
    LLVMDisposeDIBuilder(n.builder);
}

// ---- Lines of optimised code ----

// Until the end no function has a record, and places count from the functions of the program
// (LLVM looks at places only in functions with records): what was made of the kernel may be several
// functions by then. Each gets a record of its own, in which the kernel is inlined.
static LLVMMetadataRef place_under(Cg *cg, LLVMMetadataRef place, LLVMMetadataRef root) {
    LLVMMetadataRef outer = LLVMDILocationGetInlinedAt(place);
    return LLVMDIBuilderCreateDebugLocation(
        cg->cx.llvm, LLVMDILocationGetLine(place), LLVMDILocationGetColumn(place),
        LLVMDILocationGetScope(place), outer ? place_under(cg, outer, root) : root);
}

static LLVMMetadataRef record_of(const Names *n, LLVMValueRef f) {
    size_t length;
    const char *name = LLVMGetValueName2(f, &length);
    LLVMMetadataRef type = LLVMDIBuilderCreateSubroutineType(n->builder, n->file, NULL, 0, 0);
    LLVMMetadataRef record =
        LLVMDIBuilderCreateFunction(n->builder, n->unit, name, length, "", 0, n->file, 0, type, 1,
                                    1, 0, LLVMDIFlagArtificial, 1);
    LLVMSetSubprogram(f, record);
    return LLVMDIBuilderCreateDebugLocation(n->cg->cx.llvm, 0, 0, record, NULL);
}

void msl_finish_lines(Cg *cg) {
    if (!cg->source) return; // of a library that knows nothing of its source
    Names n = {.cg = cg, .file = LLVMDIScopeGetFile(cg->source)};
    n.builder = bridge_debug_builder(cg->cx.module, cg->source, &n.unit);
    for (LLVMValueRef f = LLVMGetFirstFunction(cg->cx.module); f; f = LLVMGetNextFunction(f)) {
        LLVMMetadataRef root = NULL;
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                LLVMMetadataRef place = LLVMInstructionGetDebugLoc(i);
                if (!place) continue;
                if (!root) root = record_of(&n, f);
                LLVMInstructionSetDebugLoc(i, place_under(cg, place, root));
            }
    }
    LLVMDIBuilderFinalize(n.builder);
    LLVMDisposeDIBuilder(n.builder);
}
