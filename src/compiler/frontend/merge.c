// SPDX-License-Identifier: Apache-2.0
// merge.c: msl_merge, several objects -> one library: what `metallib` and `ingot build` do with
// .air files.
//   purpose   functions of one translation unit may be called in another; the entry points of all
//             are those of the library
//   idea      LLVM links the modules. Reflection names symbols, so what would be renamed by the
//             linker, or must stay apart, is renamed here before and carries the object's number:
//             variables of one file, its inline functions and templates (a Mac has inlined them
//             before it links, so that two files may differ in what they call by one name),
//             function constants and bindings that have a symbol in common and nothing else,
//             instances of one kernel template under different host names
//   requires  modules as module.c finished them
//   result    a module for each object if none needs another one (abi/modules.h), else all in one
// Two entry points of one name are an error, and so are two definitions of a function that is not
// inline. At the end the checks of module.c look at the whole: recursion, functions without a body.
#include "compiler/frontend/frontend_int.h"
#include "abi/modules.h"
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Comdat.h>
#include <llvm-c/Core.h>
#include <llvm-c/Linker.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Merge {
    const MslObject *objects;
    LLVMContextRef context;
    LLVMModuleRef module;         // all so far
    RfLibrary *lib;               // of all so far
    uint32_t *owners;             // of lib's functions: the object
    LLVMMemoryBufferRef *modules; // each as it was before it joined; NULL: not asked for
    Text *log;
    bool joined; // one calls another: they stay one module
    bool failed; // said why, but for memory
} Merge;

static void wrong(Merge *g, const char *format, const char *what, const char *first,
                  const char *second) {
    char text[1024];
    snprintf(text, sizeof text, format, what, first, second);
    text_printf(g->log, "error: %s\n", text);
    g->failed = true;
}

static void on_llvm(LLVMDiagnosticInfoRef info, void *context) {
    Merge *g = context;
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError) return;
    char *text = LLVMGetDiagInfoDescription(info);
    text_printf(g->log, "error: %s\n", text);
    LLVMDisposeMessage(text);
    g->failed = true;
}

// ---- Names ----

static void replace(char **name, const char *old, const char *new, bool *failed) {
    if (!*name || strcmp(*name, old) != 0) return;
    char *copy = strdup(new);
    *failed |= !copy;
    if (!copy) return;
    free(*name);
    *name = copy;
}

static void replace_in(RfArg *a, const char *old, const char *new, bool *failed) {
    replace(&a->condition, old, new, failed);
    replace(&a->symbol, old, new, failed);
    replace(&a->given.constant, old, new, failed);
}

static void replace_values(RfValue *v, const char *old, const char *new, bool *failed) {
    replace(&v->condition, old, new, failed);
    replace(&v->given.constant, old, new, failed);
}

static const RfConstant *find_constant(const RfLibrary *lib, const char *symbol) {
    for (uint32_t i = 0; i < lib->n_constants; i++)
        if (!strcmp(lib->constants[i].symbol, symbol)) return &lib->constants[i];
    return NULL;
}

static const RfArg *find_binding(const RfLibrary *lib, const char *symbol) {
    for (uint32_t i = 0; i < lib->n_bindings; i++)
        if (!strcmp(lib->bindings[i].symbol, symbol)) return &lib->bindings[i];
    return NULL;
}

static bool is_named(LLVMModuleRef m, const char *symbol) {
    return LLVMGetNamedGlobal(m, symbol) || LLVMGetNamedFunction(m, symbol);
}

// With the number of the object, or the next one that is free: objects may have been merged before,
// and have such names already. malloc'd.
static char *numbered(const Merge *g, LLVMModuleRef m, const RfLibrary *rf, uint32_t number,
                      const char *symbol) {
    for (;; number++) {
        char *name = text_format("%u:%s", number, symbol);
        if (!name ||
            !(is_named(g->module, name) || is_named(m, name) || find_constant(g->lib, name) ||
              find_constant(rf, name) || find_binding(g->lib, name) || find_binding(rf, name)))
            return name;
        free(name);
    }
}

// A symbol of an object gets the object's number; what reflection calls it follows. v: what has
// it, or NULL if nothing uses it. Not as msl_part_symbol writes the parts of a pipeline: a library
// that was merged may be such a part.
static void rename_symbol(Merge *g, LLVMModuleRef m, const char *symbol, LLVMValueRef v,
                          uint32_t number, RfLibrary *rf) {
    char *old = strdup(symbol), *new = numbered(g, m, rf, number, symbol);
    if (!old || !new) {
        g->failed = true;
        free(old), free(new);
        return;
    }
    if (v) {
        LLVMSetComdat(v, NULL); // of the old name: the linker keeps one of a group
        LLVMSetValueName2(v, new, strlen(new));
    }
    for (uint32_t i = 0; i < rf->n_constants; i++)
        replace(&rf->constants[i].symbol, old, new, &g->failed);
    for (uint32_t i = 0; i < rf->n_bindings; i++)
        replace_in(&rf->bindings[i], old, new, &g->failed);
    for (uint32_t i = 0; i < rf->n_functions; i++) {
        RfFunction *f = &rf->functions[i];
        replace(&f->symbol, old, new, &g->failed);
        for (uint32_t k = 0; k < f->n_args; k++) replace_in(&f->args[k], old, new, &g->failed);
        for (uint32_t k = 0; k < f->n_inputs; k++)
            replace_values(&f->inputs[k], old, new, &g->failed);
        for (uint32_t k = 0; k < f->n_outputs; k++)
            replace_values(&f->outputs[k], old, new, &g->failed);
    }
    free(old), free(new);
}

// One that a file with the same header declares too.
static bool same_constant(const RfLibrary *a, const RfConstant *x, const RfLibrary *b,
                          const RfConstant *y) {
    return !strcmp(x->symbol, y->symbol) && !strcmp(x->name, y->name) && x->index == y->index &&
           a->types[x->type].data_type == b->types[y->type].data_type;
}

static void separate_constants(Merge *g, LLVMModuleRef m, uint32_t number, RfLibrary *rf) {
    for (uint32_t i = 0; i < rf->n_constants; i++) {
        RfConstant *mine = &rf->constants[i];
        const RfConstant *its = find_constant(g->lib, mine->symbol);
        if (its && !same_constant(rf, mine, g->lib, its))
            rename_symbol(g, m, mine->symbol, LLVMGetNamedGlobal(m, mine->symbol), number, rf);
    }
}

// A variable at program scope that is bound to the same place in both files.
static bool same_binding(const RfLibrary *a, const RfArg *x, const RfLibrary *b, const RfArg *y) {
    return x->kind == y->kind && x->index == y->index && x->count == y->count &&
           !strcmp(a->types[x->type].name, b->types[y->type].name);
}

static void separate_bindings(Merge *g, LLVMModuleRef m, uint32_t number, RfLibrary *rf) {
    for (uint32_t i = 0; i < rf->n_bindings; i++) {
        RfArg *mine = &rf->bindings[i];
        const RfArg *its = find_binding(g->lib, mine->symbol);
        if (its && !same_binding(rf, mine, g->lib, its))
            rename_symbol(g, m, mine->symbol, LLVMGetNamedGlobal(m, mine->symbol), number, rf);
    }
}

// Variables other than function constants are constants of their file.
static void separate_variables(Merge *g, LLVMModuleRef m, uint32_t number, RfLibrary *rf) {
    for (LLVMValueRef v = LLVMGetFirstGlobal(m); v; v = LLVMGetNextGlobal(v)) {
        size_t n;
        const char *name = LLVMGetValueName2(v, &n);
        LLVMValueRef other = LLVMGetNamedGlobal(g->module, name);
        if (!other || LLVMIsDeclaration(v) || LLVMIsDeclaration(other) ||
            LLVMGetLinkage(v) == LLVMAppendingLinkage)
            continue;
        LLVMSetLinkage(v, LLVMInternalLinkage);
        rename_symbol(g, m, name, v, number, rf);
    }
}

static bool is_strong(LLVMValueRef f) {
    return !LLVMIsDeclaration(f) && LLVMGetLinkage(f) == LLVMExternalLinkage;
}

// Of every file that calls it, in C++'s eyes one.
static bool is_inline(LLVMValueRef f) {
    LLVMLinkage linkage = LLVMGetLinkage(f);
    return linkage == LLVMLinkOnceODRLinkage || linkage == LLVMLinkOnceAnyLinkage ||
           linkage == LLVMWeakODRLinkage || linkage == LLVMWeakAnyLinkage;
}

static RfFunction *entry_of(RfLibrary *rf, const char *symbol) {
    for (uint32_t i = 0; i < rf->n_functions; i++)
        if (!strcmp(rf->functions[i].symbol, symbol)) return &rf->functions[i];
    return NULL;
}

static LLVMModuleRef parse(Merge *g, AbiModule from) {
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange((const char *)from.bitcode,
                                                                       from.n_bytes, "object", 0);
    LLVMModuleRef m = NULL;
    bool bad = LLVMParseBitcodeInContext2(g->context, buffer, &m);
    LLVMDisposeMemoryBuffer(buffer);
    return bad ? NULL : m;
}

// All of an object, which may have been linked itself; NULL if it is damaged.
static LLVMModuleRef parse_all(Merge *g, const MslObject *o) {
    uint32_t n = abi_modules_count(o->bitcode, o->bitcode_bytes);
    LLVMModuleRef all = NULL;
    for (uint32_t i = 0; i < n; i++) {
        LLVMModuleRef m = parse(g, abi_module_at(o->bitcode, o->bitcode_bytes, i));
        if (m && (!all || !LLVMLinkModules2(all, m))) {
            all = all ? all : m;
            continue;
        }
        if (all) LLVMDisposeModule(all);
        return NULL;
    }
    return all;
}

// The object before this one that defines the symbol, for a message.
static const char *definer(Merge *g, const char *symbol, uint32_t number) {
    for (uint32_t i = 0; i < number; i++) {
        LLVMModuleRef m = parse_all(g, &g->objects[i]);
        if (!m) continue;
        LLVMValueRef f = LLVMGetNamedFunction(m, symbol);
        bool found = f && is_strong(f);
        LLVMDisposeModule(m);
        if (found) return g->objects[i].name;
    }
    return g->objects[0].name;
}

static void separate_functions(Merge *g, LLVMModuleRef m, uint32_t number, RfLibrary *rf) {
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
        size_t n;
        const char *name = LLVMGetValueName2(f, &n);
        LLVMValueRef other = LLVMIsDeclaration(f) ? NULL : LLVMGetNamedFunction(g->module, name);
        const RfFunction *mine = entry_of(rf, name);
        if (other && !mine && !LLVMIsDeclaration(other) && is_inline(f)) {
            LLVMSetLinkage(f, LLVMInternalLinkage);
            rename_symbol(g, m, name, f, number, rf);
            continue;
        }
        if (!other || !is_strong(f) || !is_strong(other)) continue;
        if (mine && mine->stage != RF_VISIBLE && mine->stage != RF_STITCHABLE) {
            rename_symbol(g, m, name, f, number, rf); // nobody calls it by this name
            continue;
        }
        char *readable = msl_demangle(name);
        wrong(g, "duplicate symbol: function '%s' is defined in '%s' and in '%s'",
              readable ? readable : name, definer(g, name, number), g->objects[number].name);
        free(readable);
    }
}

// ---- Reflection ----

static RfLibrary *copy_reflection(const RfLibrary *rf) {
    WireOut w = {0};
    rf_encode(rf, &w);
    WireIn r = {.at = w.data, .end = w.data ? w.data + w.n_bytes : NULL};
    RfLibrary *copy = w.failed ? NULL : rf_decode(&r);
    wire_free(&w);
    return copy;
}

static void check_entries(Merge *g, const RfLibrary *rf, uint32_t number) {
    for (uint32_t i = 0; i < rf->n_functions; i++) {
        const RfFunction *other = rf_find_function(g->lib, rf->functions[i].name);
        if (other)
            wrong(g, "duplicate entry point '%s': it is in '%s' and in '%s'", other->name,
                  g->objects[g->owners[other - g->lib->functions]].name, g->objects[number].name);
    }
}

static void *grow(Merge *g, void *array, uint32_t n, uint32_t more, size_t size) {
    void *grown = realloc(array, (n + more ? n + more : 1) * size);
    g->failed |= !grown;
    return grown ? grown : array;
}

static void shift(uint32_t *type, uint32_t by) {
    if (*type != UINT32_MAX) *type += by;
}

// Moves the parts of a copy into the library; the copy is gone then.
static void take_reflection(Merge *g, RfLibrary *rf, uint32_t number) {
    RfLibrary *lib = g->lib;
    const uint32_t first = lib->n_types;
    lib->types = grow(g, lib->types, first, rf->n_types, sizeof *lib->types);
    lib->functions =
        grow(g, lib->functions, lib->n_functions, rf->n_functions, sizeof *lib->functions);
    lib->constants =
        grow(g, lib->constants, lib->n_constants, rf->n_constants, sizeof *lib->constants);
    lib->bindings = grow(g, lib->bindings, lib->n_bindings, rf->n_bindings, sizeof *lib->bindings);
    g->owners = grow(g, g->owners, lib->n_functions, rf->n_functions, sizeof *g->owners);
    if (g->failed) {
        rf_free(rf);
        return;
    }
    for (uint32_t i = 0; i < rf->n_constants; i++) {
        RfConstant *c = &rf->constants[i];
        if (find_constant(lib, c->symbol)) { // the same one
            free(c->name), free(c->symbol);
            continue;
        }
        shift(&c->type, first);
        lib->constants[lib->n_constants++] = *c;
    }
    for (uint32_t i = 0; i < rf->n_bindings; i++) {
        RfArg *a = &rf->bindings[i];
        if (find_binding(lib, a->symbol)) {
            rf_free_arg(a);
            continue;
        }
        shift(&a->type, first);
        lib->bindings[lib->n_bindings++] = *a;
    }
    for (uint32_t i = 0; i < rf->n_types; i++) {
        RfType *t = &rf->types[i];
        shift(&t->element, first);
        for (uint32_t k = 0; k < t->n_members; k++) shift(&t->members[k].type, first);
        lib->types[lib->n_types++] = *t;
    }
    for (uint32_t i = 0; i < rf->n_functions; i++) {
        RfFunction *f = &rf->functions[i];
        for (uint32_t k = 0; k < f->n_args; k++) shift(&f->args[k].type, first);
        g->owners[lib->n_functions] = number;
        lib->functions[lib->n_functions++] = *f;
    }
    rf->n_types = rf->n_functions = rf->n_constants = rf->n_bindings = 0;
    rf_free(rf);
}

// ---- The whole ----

// Something that another object, or nobody, has a body or a value for.
static bool needs_others(LLVMModuleRef m, const RfLibrary *rf) {
    size_t n;
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        if (LLVMIsDeclaration(f) && !LLVMGetIntrinsicID(f) && LLVMGetFirstUse(f) &&
            !strstr(LLVMGetValueName2(f, &n), "__ingot_"))
            return true;
    for (LLVMValueRef v = LLVMGetFirstGlobal(m); v; v = LLVMGetNextGlobal(v))
        if (LLVMIsDeclaration(v) && LLVMGetFirstUse(v) &&
            !find_constant(rf, LLVMGetValueName2(v, &n)) &&
            !find_binding(rf, LLVMGetValueName2(v, &n)))
            return true;
    return false;
}

static void add_module(Merge *g, uint32_t number) {
    const MslObject *o = &g->objects[number];
    LLVMModuleRef m = parse_all(g, o);
    bool bad = !m;
    RfLibrary *rf = copy_reflection(o->reflection);
    if (bad || !rf) {
        if (bad) wrong(g, "'%s': its code is damaged%s%s", o->name, "", "");
        if (!bad) LLVMDisposeModule(m);
        g->failed = true;
        if (rf) rf_free(rf);
        return;
    }
    check_entries(g, rf, number);
    separate_constants(g, m, number, rf);
    separate_bindings(g, m, number, rf);
    separate_variables(g, m, number, rf);
    separate_functions(g, m, number, rf);
    if (g->failed) {
        LLVMDisposeModule(m);
        rf_free(rf);
        return;
    }
    if (!number) LLVMSetTarget(g->module, LLVMGetTarget(m));
    if (!number) LLVMSetDataLayout(g->module, LLVMGetDataLayoutStr(m));
    g->joined = g->joined || needs_others(m, rf);
    if (!g->joined) g->modules[number] = LLVMWriteBitcodeToMemoryBuffer(m);
    take_reflection(g, rf, number);
    g->failed |= LLVMLinkModules2(g->module, m);
}

static bool pack(const Merge *g, uint32_t n, MslLibrary *out) {
    AbiModule *modules = calloc(n + 1, sizeof *modules);
    WireOut w = {.failed = !modules};
    for (uint32_t i = 0; modules && i < n; i++)
        modules[i] = (AbiModule){(const unsigned char *)LLVMGetBufferStart(g->modules[i]),
                                 LLVMGetBufferSize(g->modules[i])};
    if (modules) abi_modules_encode(modules, n, g->owners, g->lib->n_functions, &w);
    free(modules);
    if (w.failed) {
        wire_free(&w);
        return false;
    }
    out->bitcode = w.data;
    out->bitcode_bytes = w.n_bytes;
    return true;
}

bool msl_merge(const MslObject *objects, size_t n, bool allow_undefined, MslLibrary *out) {
    Text log = {0};
    Merge g = {.objects = objects, .log = &log};
    *out = (MslLibrary){0};
    g.context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(g.context, on_llvm, &g);
    g.module = LLVMModuleCreateWithNameInContext("library", g.context);
    g.lib = calloc(1, sizeof *g.lib);
    g.modules = calloc(n + 1, sizeof *g.modules);
    g.failed = !g.lib || !g.modules;
    g.joined = allow_undefined || n < 2;
    for (uint32_t i = 0; i < n && !g.failed; i++) add_module(&g, i);
    out->ok =
        !g.failed && module_finish_linked(g.module, &log, g.lib, allow_undefined,
                                          g.joined ? &out->bitcode : NULL, &out->bitcode_bytes);
    if (out->ok && !g.joined) out->ok = pack(&g, (uint32_t)n, out);
    if (out->ok)
        out->reflection = g.lib;
    else if (g.lib)
        rf_free(g.lib);
    if (!out->ok && !log.n_bytes) text_add(&log, "error: out of memory\n");
    out->log = text_take(&log);
    LLVMDisposeModule(g.module);
    LLVMContextDispose(g.context);
    for (size_t i = 0; g.modules && i < n; i++)
        if (g.modules[i]) LLVMDisposeMemoryBuffer(g.modules[i]);
    free(g.modules);
    free(g.owners);
    return out->ok;
}
