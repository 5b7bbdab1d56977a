// SPDX-License-Identifier: Apache-2.0
// link_load.c: the code a kernel needs from elsewhere joins its module.
//   purpose   linked (visible) functions arrive as "ingot.linked.<number>", external until
//             link_calls.c has used them; functions without a body are found among the linked
//             functions and in the dynamic libraries, and of those what they need
//   requires  the kernel in cx->module (load.c)
//   idea      names of different libraries must not meet: all but what is wanted is internal (the
//             linker renames those), wanted functions are renamed, and so are the two kinds of
//             declarations that have an identity: function constants, whose values differ from
//             function to function, and threadgroup memory
// What is still undefined afterwards is reported only if the kernel calls it (entry.c).
#include "compiler/codegen/codegen.h"
#include "abi/modules.h"
#include "compiler/frontend/bridge.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *msl_part_symbol(Cg *cg, uint32_t part, const char *symbol) {
    if (!part) return symbol;
    size_t n = strlen(symbol) + 16;
    char *name = realloc(cg->scratch, n);
    if (!name) msl_fail(&cg->cx, "out of memory");
    cg->scratch = name;
    snprintf(name, n, "%u.%s", part, symbol);
    return name;
}

bool msl_is_linked(LLVMValueRef f) {
    size_t n;
    return msl_starts(LLVMGetValueName2(f, &n), MSL_LINKED);
}

static const RfLibrary *reflection_of(const Cg *cg, uint32_t library) {
    return library ? cg->request->parts[library - 1].reflection : cg->lib;
}

static AbiModule code_of(const Cg *cg, uint32_t library) {
    const MslKernelRequest *q = cg->request;
    return library ? (AbiModule){q->parts[library - 1].bitcode, q->parts[library - 1].bitcode_bytes}
                   : (AbiModule){q->bitcode, q->bitcode_bytes};
}

static LLVMModuleRef open_part(Cg *cg, uint32_t library, uint32_t number) {
    AbiModule code = code_of(cg, library);
    return msl_open_code(cg, code.bitcode, code.n_bytes, number);
}

// Declarations with an identity get the part's number.
static void rename_declarations(Cg *cg, LLVMModuleRef m, uint32_t part) {
    const RfLibrary *lib = cg->parts[part].lib;
    for (uint32_t i = 0; i < lib->n_constants; i++) {
        LLVMValueRef g = LLVMGetNamedGlobal(m, lib->constants[i].symbol);
        if (!g || !LLVMIsDeclaration(g)) continue;
        const char *name = msl_part_symbol(cg, part, lib->constants[i].symbol);
        LLVMSetValueName2(g, name, strlen(name));
    }
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
        size_t n;
        const char *old = LLVMGetValueName2(f, &n);
        if (!LLVMIsDeclaration(f) || !strstr(old, "__ingot_tgI")) continue;
        const char *name = msl_part_symbol(cg, part, old);
        LLVMSetValueName2(f, name, strlen(name));
    }
}

static uint32_t add_part(Cg *cg, uint32_t library, const MslConstantValue *constants, size_t n) {
    const CgPart *last = &cg->parts[cg->n_parts - 1];
    cg->parts[cg->n_parts] = (CgPart){reflection_of(cg, library), constants, n,
                                      last->first_set + last->lib->n_constants};
    return cg->n_parts++;
}

// ---- linked functions ----

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

// The module that a linked function is in. 0 for one that is not there: link_function says so.
static uint32_t module_of(const Cg *cg, const MslLinkedFunction *l) {
    const RfLibrary *lib = reflection_of(cg, l->library);
    const RfFunction *fn = rf_find_function(lib, l->function);
    AbiModule code = code_of(cg, l->library);
    return fn ? abi_module_of(code.bitcode, code.n_bytes, (uint32_t)(fn - lib->functions)) : 0;
}

// Whether two linked functions can share one copy of their library.
static bool same_part(const Cg *cg, const MslLinkedFunction *a, const MslLinkedFunction *b) {
    if (a->library != b->library || a->n_constants != b->n_constants ||
        module_of(cg, a) != module_of(cg, b))
        return false;
    for (size_t i = 0; i < a->n_constants; i++) {
        const MslConstantValue *x = &a->constants[i], *y = &b->constants[i];
        if (!same_text(x->name, y->name) || x->index != y->index || x->data_type != y->data_type ||
            x->n_bytes != y->n_bytes || memcmp(x->data, y->data, x->n_bytes) != 0)
            return false;
    }
    return true;
}

static bool keep_linked(LLVMValueRef f, void *unused) {
    (void)unused;
    return msl_is_linked(f);
}

static void link_function(Cg *cg, LLVMModuleRef m, size_t i) {
    const MslLinkedFunction *l = &cg->request->linked[i];
    const RfFunction *fn = rf_find_function(reflection_of(cg, l->library), l->function);
    LLVMValueRef f = fn ? LLVMGetNamedFunction(m, fn->symbol) : NULL;
    const char *wrong =
        !fn ? "its library has no such function"
        : fn->stage != RF_VISIBLE && fn->stage != RF_STITCHABLE && fn->stage != RF_INTERSECTION
            ? "it is neither a visible nor an intersection function"
        : !f || LLVMIsDeclaration(f) ? "it is in the list twice, or has no code"
                                     : NULL;
    if (wrong) {
        LLVMDisposeModule(m);
        msl_fail(&cg->cx, "the function '%s' cannot be linked: %s", l->function, wrong);
    }
    char name[40];
    snprintf(name, sizeof name, MSL_LINKED "%zu", i);
    if (fn->stage == RF_INTERSECTION) f = msl_wrap_intersection(cg, m, f, fn);
    if (!f) msl_fail(&cg->cx, "internal error: '%s' has no signature", l->function);
    LLVMSetValueName2(f, name, strlen(name));
    LLVMSetLinkage(f, LLVMExternalLinkage);
    LLVMSetVisibility(f, LLVMDefaultVisibility);
}

static void link_functions(Cg *cg) {
    const MslKernelRequest *q = cg->request;
    for (size_t i = 0; i < q->n_linked; i++) {
        bool done = false;
        for (size_t k = 0; k < i && !done; k++) done = same_part(cg, &q->linked[k], &q->linked[i]);
        if (done) continue; // with the first of its part
        uint32_t part =
            add_part(cg, q->linked[i].library, q->linked[i].constants, q->linked[i].n_constants);
        LLVMModuleRef m = open_part(cg, q->linked[i].library, module_of(cg, &q->linked[i]));
        for (size_t k = i; k < q->n_linked; k++)
            if (same_part(cg, &q->linked[i], &q->linked[k])) link_function(cg, m, k);
        rename_declarations(cg, m, part);
        msl_hide_all_but(m, keep_linked, NULL);
        msl_join(cg, m);
    }
}

// ---- functions without a body ----

static bool same_type(LLVMTypeRef a, LLVMTypeRef b, int depth);

static bool same_members(LLVMTypeRef a, LLVMTypeRef b, int depth) {
    unsigned n = LLVMCountStructElementTypes(a);
    if (n != LLVMCountStructElementTypes(b) || LLVMIsPackedStruct(a) != LLVMIsPackedStruct(b))
        return false;
    for (unsigned i = 0; i < n; i++)
        if (!same_type(LLVMStructGetTypeAtIndex(a, i), LLVMStructGetTypeAtIndex(b, i), depth + 1))
            return false;
    return true;
}

// Equal but for the names of structs: those of another module are not yet unified with ours.
static bool same_type(LLVMTypeRef a, LLVMTypeRef b, int depth) {
    if (a == b) return true;
    if (LLVMGetTypeKind(a) != LLVMGetTypeKind(b) || depth > 16) return false;
    if (LLVMGetTypeKind(a) == LLVMStructTypeKind) return same_members(a, b, depth);
    if (LLVMGetTypeKind(a) == LLVMArrayTypeKind)
        return LLVMGetArrayLength2(a) == LLVMGetArrayLength2(b) &&
               same_type(LLVMGetElementType(a), LLVMGetElementType(b), depth + 1);
    return false;
}

bool msl_same_signature(LLVMTypeRef a, LLVMTypeRef b) {
    unsigned n = LLVMCountParamTypes(a);
    LLVMTypeRef x[256], y[256];
    if (a == b) return true;
    if (n != LLVMCountParamTypes(b) || n > 256 ||
        !same_type(LLVMGetReturnType(a), LLVMGetReturnType(b), 0))
        return false;
    LLVMGetParamTypes(a, x);
    LLVMGetParamTypes(b, y);
    for (unsigned i = 0; i < n; i++)
        if (!same_type(x[i], y[i], 0)) return false;
    return true;
}

static bool is_missing(LLVMValueRef f) {
    size_t n;
    const char *name = LLVMGetValueName2(f, &n);
    return LLVMIsDeclaration(f) && !LLVMGetIntrinsicID(f) && LLVMGetFirstUse(f) && n &&
           !strstr(name, "__ingot_");
}

// Stitched functions have no mangled name: a function of their name is found by what it is called.
static LLVMValueRef find_by_name(Cg *cg, const char *name) {
    for (LLVMValueRef f = LLVMGetFirstFunction(cg->cx.module); f; f = LLVMGetNextFunction(f)) {
        size_t n;
        if (!is_missing(f)) continue;
        char *readable = msl_demangle(LLVMGetValueName2(f, &n));
        bool found = readable && msl_starts(readable, name) && readable[strlen(name)] == '(';
        free(readable);
        if (found) return f;
    }
    return NULL;
}

// A call by name of a function that is among the linked ones.
static void resolve_linked(Cg *cg) {
    const MslKernelRequest *q = cg->request;
    for (size_t i = 0; i < q->n_linked; i++) {
        const RfFunction *fn =
            rf_find_function(reflection_of(cg, q->linked[i].library), q->linked[i].function);
        LLVMValueRef wanted = !fn              ? NULL
                              : *fn->signature ? LLVMGetNamedFunction(cg->cx.module, fn->symbol)
                                               : find_by_name(cg, fn->name);
        char name[40];
        snprintf(name, sizeof name, MSL_LINKED "%zu", i);
        LLVMValueRef f = LLVMGetNamedFunction(cg->cx.module, name);
        if (!wanted || !f || !is_missing(wanted) ||
            !msl_same_signature(LLVMGlobalGetValueType(wanted), LLVMGlobalGetValueType(f)))
            continue;
        LLVMReplaceAllUsesWith(wanted, f);
        LLVMDeleteFunction(wanted);
    }
}

static bool keep_wanted(LLVMValueRef f, void *context) {
    size_t n;
    LLVMValueRef wanted =
        LLVMGetNamedFunction(((Cg *)context)->cx.module, LLVMGetValueName2(f, &n));
    return wanted && is_missing(wanted) && LLVMGetLinkage(f) != LLVMInternalLinkage &&
           msl_same_signature(LLVMGlobalGetValueType(wanted), LLVMGlobalGetValueType(f));
}

// What one dynamic library has of what is missing. True if that was something.
static bool link_dynamic(Cg *cg, uint32_t library, uint32_t *part) {
    LLVMModuleRef m = open_part(cg, library, 0); // dynamic ones have one
    bool found = false;
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f && !found; f = LLVMGetNextFunction(f))
        found = !LLVMIsDeclaration(f) && keep_wanted(f, cg);
    if (!found) {
        LLVMDisposeModule(m);
        return false;
    }
    if (!*part) *part = add_part(cg, library, NULL, 0);
    msl_hide_all_but(m, keep_wanted, cg);
    rename_declarations(cg, m, *part);
    msl_join(cg, m);
    return true;
}

static bool any_missing(const Cg *cg) {
    for (LLVMValueRef f = LLVMGetFirstFunction(cg->cx.module); f; f = LLVMGetNextFunction(f))
        if (is_missing(f)) return true;
    return false;
}

void msl_link_parts(Cg *cg) {
    const MslKernelRequest *q = cg->request;
    link_functions(cg);
    resolve_linked(cg);
    uint32_t *parts = q->n_dynamic ? calloc(q->n_dynamic, sizeof *parts) : NULL;
    if (q->n_dynamic && !parts) msl_fail(&cg->cx, "out of memory");
    free(cg->dynamic_parts);
    cg->dynamic_parts = parts; // freed with the context, whatever happens below
    // A library found may need functions of another one in turn. Each round defines something.
    for (bool again = true; again && any_missing(cg);) {
        again = false;
        for (size_t i = 0; i < q->n_dynamic && any_missing(cg); i++)
            if (link_dynamic(cg, q->dynamic[i], &parts[i])) again = true;
    }
    msl_verify_code(cg); // all that others wrote is here now
    // Found ones are as internal as everything else from here on.
    for (LLVMValueRef f = LLVMGetFirstFunction(cg->cx.module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && !msl_is_linked(f)) LLVMSetLinkage(f, LLVMInternalLinkage);
}
