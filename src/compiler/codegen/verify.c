// SPDX-License-Identifier: Apache-2.0
// verify.c: the bitcode of a library is not trusted.
//   purpose   a metallib may come from anybody: what LLVM can say and our front end never writes
//             (assembly, sections, constructors of its own, functions of the host, ...) is refused
//             before anything is made of it. What is allowed is a list, bitcode.def; what may be
//             declared without a body is another, builtins.def
//   when      msl_verify_library: a module as it was opened, its function bodies unread.
//             msl_verify_code: when all that the kernel reaches has joined (verify_code.c has
//             the instructions)
//   leaves    what is wrong with the program itself to later steps: functions without a body,
//             recursion, constants without a value
#include "compiler/codegen/verify_int.h"
#include <llvm-c/Analysis.h>
#include <llvm-c/Comdat.h>
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void msl_refuse(Verify *v, const char *what, const char *name) {
    // A name may be as long and as odd as its author likes.
    char readable[120];
    size_t n = 0;
    for (; name && name[n] && n < sizeof readable - 1; n++)
        readable[n] = name[n] >= ' ' && name[n] <= '~' ? name[n] : '?';
    readable[n] = 0;
    base_arena_free(&v->arena);
    msl_fail(&v->cg->cx, "the library's code is refused: %s%s%s%s", what, n ? " ('" : "", readable,
             n ? "')" : "");
}

// ---- Functions that have a meaning of their own ----

typedef struct Builtin {
    const char *name, *signature; // as in builtins.def
    bool is_template;
} Builtin;

static const Builtin builtins[] = {
#define NAMED(name, signature) {"__ingot_" name, signature, false},
#define BOTH(op, type, signature)                                                                  \
    NAMED("simd_" #op "_" type, signature) NAMED("quad_" #op "_" type, signature)
#define REDUCE_INT(op)                                                                             \
    BOTH(op, "i32", "ii") BOTH(op, "u32", "ii") BOTH(op, "i64", "ll") BOTH(op, "u64", "ll")
#define REDUCE(op) REDUCE_INT(op) BOTH(op, "f32", "ff")
#define SCAN(op) REDUCE(op)
#define SHUFFLE(op) BOTH(op, "i32", "iii") BOTH(op, "i64", "lli") BOTH(op, "f32", "ffi")
#define SHUFFLE1(op) BOTH(op, "i32", "ii") BOTH(op, "i64", "ll") BOTH(op, "f32", "ff")
#define SHUFFLE4(op) BOTH(op, "i32", "iiiii") BOTH(op, "i64", "lllii") BOTH(op, "f32", "fffii")
#define VOTE(op, simd, quad) NAMED("simd_" #op, simd) NAMED("quad_" #op, quad)
#define OTHER(name, signature) NAMED(#name, signature)
#define TEMPLATE(name, signature) {"__ingot_" #name, signature, true},
#include "compiler/builtins.def"
};

static bool is_vector(LLVMTypeRef t, unsigned n, LLVMTypeKind kind) {
    return LLVMGetTypeKind(t) == LLVMVectorTypeKind && LLVMGetVectorSize(t) == n &&
           LLVMGetTypeKind(LLVMGetElementType(t)) == kind;
}

static bool is_words(LLVMTypeRef t, unsigned n) {
    return is_vector(t, n, LLVMIntegerTypeKind) && LLVMGetIntTypeWidth(LLVMGetElementType(t)) == 32;
}

static bool is_integer(LLVMTypeRef t, unsigned bits) {
    return LLVMGetTypeKind(t) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(t) == bits;
}

static bool fits_letter(LLVMTypeRef t, char letter) {
    switch (letter) {
    case 'v': return LLVMGetTypeKind(t) == LLVMVoidTypeKind;
    case 'b': return is_integer(t, 1);
    case 'i': return is_integer(t, 32);
    case 'l': return is_integer(t, 64);
    case 'f': return LLVMGetTypeKind(t) == LLVMFloatTypeKind;
    case 'p': return LLVMGetTypeKind(t) == LLVMPointerTypeKind;
    case 'F': return is_vector(t, 2, LLVMFloatTypeKind);
    case 'H': return is_vector(t, 2, LLVMHalfTypeKind);
    case 'B': return is_vector(t, 2, LLVMBFloatTypeKind);
    case '4': return is_words(t, 4);
    case 'X': return is_words(t, 16);
    case 'Y': return is_words(t, 32);
    default: return false;
    }
}

static bool is_scalar(LLVMTypeRef t) {
    LLVMTypeKind kind = LLVMGetTypeKind(t);
    return kind == LLVMPointerTypeKind || kind == LLVMFloatTypeKind || kind == LLVMVoidTypeKind ||
           (kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(t) <= 64);
}

static bool fits(LLVMTypeRef function, const char *signature) {
    enum { ROWS = 16, MAX = 64 };
    LLVMTypeRef params[MAX];
    unsigned n = LLVMCountParamTypes(function), at = 0;
    if (n > MAX || LLVMIsFunctionVarArg(function)) return false;
    LLVMGetParamTypes(function, params);
    LLVMTypeRef result = LLVMGetReturnType(function);
    if (*signature == '*') {
        bool all = is_scalar(result);
        for (unsigned i = 0; i < n; i++) all &= is_scalar(params[i]);
        return all;
    }
    if (!fits_letter(result, *signature)) return false;
    for (const char *s = signature + 1; *s; s++)
        for (int k = *s == 'r' ? ROWS : 1; k > 0; k--)
            if (at >= n || !fits_letter(params[at++], *s == 'r' ? 'i' : *s)) return false;
    return at == n;
}

// "_Z10__ingot_tgI...": where the name within begins; NULL: not of a function of this form.
static const char *in_template(const char *name) {
    if (!msl_starts(name, "_Z")) return NULL;
    const char *at = name + 2 + strspn(name + 2, "0123456789");
    return at > name + 2 && msl_starts(at, "__ingot_") ? at : NULL;
}

static bool is_builtin(const char *name, LLVMTypeRef type) {
    const char *within = in_template(name);
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++) {
        const Builtin *b = &builtins[i];
        size_t n = strlen(b->name);
        if (b->is_template ? within && !strncmp(within, b->name, n) && within[n] == 'I'
                           : !strcmp(name, b->name))
            return fits(type, b->signature);
    }
    return false;
}

// Names that mean something to later steps: a library's own functions have others.
static bool is_reserved(const char *name) {
    return msl_starts(name, "llvm.") || msl_starts(name, "__ingot_") || in_template(name) ||
           msl_starts(name, "ingot_") || msl_starts(name, MSL_LINKED);
}

static bool is_intrinsic_allowed(unsigned id) {
    static const char *const names[] = {
#define INTRINSIC(name) "llvm." #name,
#include "compiler/codegen/bitcode.def"
    };
    size_t n;
    const char *name = LLVMIntrinsicGetName(id, &n);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == n && !memcmp(names[i], name, n)) return true;
    return false;
}

static void verify_name(Verify *v, LLVMValueRef f) {
    size_t n;
    const char *name = LLVMGetValueName2(f, &n);
    unsigned id = LLVMGetIntrinsicID(f);
    if (!n || strlen(name) != n) msl_refuse(v, "a function without a name", name);
    if (!LLVMIsDeclaration(f)) {
        if (is_reserved(name)) msl_refuse(v, "the definition of a reserved name", name);
    } else if (id) {
        if (!is_intrinsic_allowed(id))
            msl_refuse(v, "an intrinsic that Metal has no use for", name);
    } else if (is_reserved(name)) {
        if (!is_builtin(name, LLVMGlobalGetValueType(f)))
            msl_refuse(v, "a built-in function that does not exist", name);
    } else if (msl_is_host_symbol(name)) { // of the others entry.c says that nobody defines them
        msl_refuse(v, "a function of the host", name);
    }
}

// ---- The module ----

static bool is_listed(const char *name, size_t n, const char *const *list, size_t n_list) {
    for (size_t i = 0; i < n_list; i++)
        if (strlen(list[i]) == n && !memcmp(list[i], name, n)) return true;
    return false;
}

static void verify_notes(Verify *v, LLVMModuleRef m) {
    static const char *const lists[] = {
#define LIST(name) #name,
#include "compiler/codegen/bitcode.def"
    };
    static const char *const flags[] = {
#define FLAG(name) #name,
#include "compiler/codegen/bitcode.def"
    };
    size_t n;
    for (LLVMNamedMDNodeRef l = LLVMGetFirstNamedMetadata(m); l; l = LLVMGetNextNamedMetadata(l)) {
        const char *name = LLVMGetNamedMetadataName(l, &n);
        if (!is_listed(name, n, lists, sizeof lists / sizeof *lists))
            msl_refuse(v, "notes for somebody else", name);
    }
    size_t n_flags = 0;
    LLVMModuleFlagEntry *entries = LLVMCopyModuleFlagsMetadata(m, &n_flags);
    const char *other = NULL;
    for (unsigned i = 0; i < n_flags && !other; i++) {
        const char *name = LLVMModuleFlagEntriesGetKey(entries, i, &n);
        if (!is_listed(name, n, flags, sizeof flags / sizeof *flags)) other = name;
    }
    LLVMDisposeModuleFlagsMetadata(entries);
    if (other) msl_refuse(v, "a flag for somebody else", NULL);
}

// Clang leaves some for OpenCL. Where the function stands in its source is the only one of use.
static void drop_notes(LLVMValueRef global) {
    size_t n = 0;
    LLVMValueMetadataEntry *entries = LLVMGlobalCopyAllMetadata(global, &n);
    for (unsigned i = 0; i < n; i++) {
        unsigned kind = LLVMValueMetadataEntriesGetKind(entries, i);
        if (kind != 0 || !LLVMIsAFunction(global)) LLVMGlobalEraseMetadata(global, kind);
    }
    LLVMDisposeValueMetadataEntries(entries);
}

// Data. One of LLVM's lists is written by our front end, that of initialisers, which specialise.c
// evaluates and takes out; and notes in the source are data of a section that is never made.
static void verify_global(Verify *v, LLVMValueRef g) {
    size_t n;
    const char *name = LLVMGetValueName2(g, &n);
    LLVMValueRef value = LLVMIsDeclaration(g) ? NULL : LLVMGetInitializer(g);
    LLVMLinkage linkage = LLVMGetLinkage(g);
    if (msl_starts(name, "llvm.") ? strcmp(name, "llvm.global_ctors") != 0 : is_reserved(name))
        msl_refuse(v, "data with a reserved name", name);
    const char *section = LLVMGetSection(g);
    if (section && *section && strcmp(section, "llvm.metadata") != 0)
        msl_refuse(v, "data in a section", section);
    if (LLVMIsThreadLocal(g)) msl_refuse(v, "data of each thread of the host", name);
    if (LLVMIsExternallyInitialized(g) || LLVMGetDLLStorageClass(g) != LLVMDefaultStorageClass ||
        linkage == LLVMCommonLinkage || linkage == LLVMExternalWeakLinkage ||
        (linkage == LLVMAppendingLinkage && !msl_starts(name, "llvm.")))
        msl_refuse(v, "data that the host would define", name);
    if (LLVMGetAlignment(g) > MSL_MAX_ALIGNMENT) msl_refuse(v, "data with a huge alignment", name);
    drop_notes(g);
    msl_verify_type(v, LLVMGlobalGetValueType(g));
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(g)) != 0)
        msl_refuse(v, "an address space of the machine", name);
    if (value) msl_verify_constant(v, value, 0);
}

static void verify_module(Verify *v, LLVMModuleRef m) {
    size_t n;
    LLVMGetModuleInlineAsm(m, &n);
    if (n) msl_refuse(v, "module assembly", NULL);
    if (LLVMGetFirstGlobalAlias(m)) msl_refuse(v, "an alias", NULL);
    if (LLVMGetFirstGlobalIFunc(m)) msl_refuse(v, "an indirect function", NULL);
    verify_notes(v, m);
    for (LLVMValueRef g = LLVMGetFirstGlobal(m); g; g = LLVMGetNextGlobal(g)) verify_global(v, g);
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) verify_name(v, f);
}

void msl_verify_library(Cg *cg, LLVMModuleRef m) {
    Verify v = {.cg = cg};
    verify_module(&v, m);
    base_arena_free(&v.arena);
}

// ---- Functions ----

static void open_lists(Verify *v) {
    static const char *const notes[] = {
#define METADATA(name) #name,
#include "compiler/codegen/bitcode.def"
    };
    static const char *const attributes[] = {
#define ATTRIBUTE(name) #name,
#include "compiler/codegen/bitcode.def"
    };
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        unsigned kind =
            LLVMGetMDKindIDInContext(v->cg->cx.llvm, notes[i], (unsigned)strlen(notes[i]));
        if (kind < MSL_MAX_KINDS) v->notes[kind] = true;
    }
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(attributes[i], strlen(attributes[i]));
        if (kind && kind < MSL_MAX_KINDS) v->attributes[kind] = true;
    }
}

static void verify_attribute(Verify *v, LLVMAttributeRef a) {
    static const char *const texts[] = {
#define TEXT_ATTRIBUTE(name) #name,
#include "compiler/codegen/bitcode.def"
    };
    if (LLVMIsStringAttribute(a)) {
        unsigned n;
        const char *name = LLVMGetStringAttributeKind(a, &n);
        if (!is_listed(name, n, texts, sizeof texts / sizeof *texts))
            msl_refuse(v, "an attribute of another language", name);
        return;
    }
    unsigned kind = LLVMGetEnumAttributeKind(a);
    if (kind >= MSL_MAX_KINDS || !v->attributes[kind])
        msl_refuse(v, "an attribute of another language", NULL);
    if (kind == v->align_kind && LLVMGetEnumAttributeValue(a) > MSL_MAX_ALIGNMENT)
        msl_refuse(v, "a huge alignment", NULL);
}

void msl_verify_attributes(Verify *v, LLVMValueRef at, unsigned n_params, MslAttributeCount *count,
                           MslAttributes *get) {
    LLVMAttributeRef found[64];
    for (unsigned i = 0; i < n_params + 2; i++) { // the function, its result, its parameters
        LLVMAttributeIndex index = i ? i - 1 : (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
        unsigned n = count(at, index);
        if (n > sizeof found / sizeof *found) msl_refuse(v, "too many attributes", NULL);
        if (n) get(at, index, found);
        for (unsigned k = 0; k < n; k++) verify_attribute(v, found[k]);
    }
}

static void verify_function(Verify *v, LLVMValueRef f) {
    size_t n;
    const char *name = LLVMGetValueName2(f, &n);
    msl_verify_attributes(v, f, LLVMCountParams(f), LLVMGetAttributeCountAtIndex,
                          LLVMGetAttributesAtIndex);
    msl_verify_type(v, LLVMGlobalGetValueType(f));
    const char *section = LLVMGetSection(f);
    if (section && *section) msl_refuse(v, "a function in a section", section);
    if (LLVMGetGC(f)) msl_refuse(v, "a function with garbage collection", name);
    if (LLVMHasPersonalityFn(f)) msl_refuse(v, "a function with exceptions", name);
    if (LLVMHasPrefixData(f) || LLVMHasPrologueData(f))
        msl_refuse(v, "data in front of code", name);
    if (LLVMGetFunctionCallConv(f) != LLVMCCallConv)
        msl_refuse(v, "a function with a calling convention that is not the default", name);
    if (LLVMGetAlignment(f) > MSL_MAX_ALIGNMENT || LLVMGetLinkage(f) == LLVMExternalWeakLinkage ||
        LLVMGetDLLStorageClass(f) != LLVMDefaultStorageClass)
        msl_refuse(v, "a function of the host", name);
    LLVMMetadataRef source = v->cg->request->debug ? LLVMGetSubprogram(f) : NULL;
    LLVMGlobalClearMetadata(f); // Clang's notes for OpenCL
    if (source) LLVMSetSubprogram(f, source);
    if (LLVMGetComdat(f)) LLVMSetComdat(f, NULL); // all of it is one module now
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            msl_verify_instruction(v, i);
}

void msl_verify_code(Cg *cg) {
    Verify v = {.cg = cg};
    char *text = NULL;
    bool bad = LLVMVerifyModule(cg->cx.module, LLVMReturnStatusAction, &text);
    LLVMDisposeMessage(text);
    if (bad) msl_fail(&cg->cx, "the library's code is damaged: it is not valid");
    v.align_kind = LLVMGetEnumAttributeKindForName("align", strlen("align"));
    open_lists(&v);
    for (LLVMValueRef f = LLVMGetFirstFunction(cg->cx.module); f; f = LLVMGetNextFunction(f))
        verify_function(&v, f);
    base_arena_free(&v.arena);
}
