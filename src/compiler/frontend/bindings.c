// SPDX-License-Identifier: Apache-2.0
// bindings.c: resources bound to variables at program scope (Metal 3.2).
//   device float *constant data [[buffer(0)]];
// The token pass makes an external variable of the declaration (token_globals.c), without a value
// as a function constant is. An entry point that reaches it (module.c) has one argument more, and
// the back end reads that where the code reads the variable (codegen/bindings.c). Two variables may
// have the same place if they have the same type: they become one. Every variable says its index.
#include "compiler/frontend/frontend_int.h"
#include <llvm-c/Core.h>
#include <stdlib.h>
#include <string.h>

static const BridgeAttr *place_of(const BridgeDecl *decl) {
    static const char *const places[] = {"buffer", "texture", "sampler", "threadgroup"};
    for (size_t i = 0; i < decl->n_attrs; i++)
        for (size_t k = 0; k < sizeof places / sizeof *places; k++)
            if (strcmp(decl->attrs[i].name, places[k]) == 0) return &decl->attrs[i];
    return NULL;
}

static bool overlap(const RfArg *a, const RfArg *b) {
    static const uint8_t kinds[] = {RF_ARG_BUFFER, RF_ARG_THREADGROUP, RF_ARG_TEXTURE,
                                    RF_ARG_SAMPLER};
    for (size_t k = 0; k < sizeof kinds; k++)
        if (reflect_takes_index(a, kinds[k]) && reflect_takes_index(b, kinds[k]))
            return a->index < b->index + b->count && b->index < a->index + a->count;
    return false;
}

static bool same_place(const RfArg *a, const RfArg *b) {
    return a->kind == b->kind && a->index == b->index && a->count == b->count &&
           a->type == b->type && a->space == b->space && a->access == b->access &&
           strcmp(a->condition, b->condition) == 0;
}

// The variable that stands for a binding: the first that has its place.
static const RfArg *first_of(const RfLibrary *lib, const RfArg *binding) {
    const RfArg *first = lib->bindings;
    while (!same_place(first, binding)) first++;
    return first;
}

// Declared again it is the same, and another variable at its place has its type. Of two that
// overlap, both under function constants may be meant for different pipelines.
static void check_others(const ReflectBuilder *b, BridgeJob *job, const RfArg *arg, uint32_t at) {
    for (uint32_t i = 0; i < b->lib->n_bindings; i++) {
        const RfArg *other = &b->lib->bindings[i];
        bool again = strcmp(arg->symbol, other->symbol) == 0;
        bool clash = again || (overlap(arg, other) && !(*arg->condition && *other->condition));
        if (!clash || same_place(arg, other)) continue;
        reflect_report(job, at,
                       again ? "'%s' was declared with another type or place: '%s' at '%s(%u)'"
                             : "'%s' has another type than '%s', which is bound to the same place, "
                               "'%s(%u)'",
                       arg->name, other->name, reflect_attribute_of(other->kind), other->index);
        return;
    }
}

static bool is_bindable(const RfArg *a) {
    return a->kind == RF_ARG_BUFFER || a->kind == RF_ARG_THREADGROUP || a->kind == RF_ARG_TEXTURE ||
           a->kind == RF_ARG_SAMPLER || a->kind == RF_ARG_FUNCTION_TABLE ||
           a->kind == RF_ARG_TENSOR || a->kind == RF_ARG_ACCELERATION;
}

bool bindings_reflect(ReflectBuilder *b, BridgeJob *job, const BridgeDecl *decl) {
    const BridgeAttr *place = place_of(decl);
    RfLibrary *lib = b->lib;
    if (!place) return false;
    uint32_t capacity = b->capacity_bindings;
    RfArg *bindings = reflect_grow(lib->bindings, &capacity, lib->n_bindings, sizeof *bindings);
    if (!bindings) {
        b->failed = true;
        return true;
    }
    lib->bindings = bindings, b->capacity_bindings = capacity;
    RfArg *arg = &bindings[lib->n_bindings];
    RfFunction nowhere = {.stage = RF_KERNEL};
    reflect_argument(b, job, &nowhere, arg, decl, RF_PROGRAM_SCOPE);
    free(arg->symbol);
    arg->symbol = strdup(decl->symbol);
    b->failed |= !arg->symbol;
    bool known = false;
    if (arg->given.constant)
        reflect_report(job, place->location, "the index of '%s' at program scope is a number",
                       arg->name);
    if (b->failed || arg->given.constant || !is_bindable(arg) || arg->index == UINT32_MAX) {
        rf_free_arg(arg); // said already
        return true;
    }
    check_others(b, job, arg, decl->location);
    for (uint32_t i = 0; i < lib->n_bindings && !known; i++)
        known = strcmp(bindings[i].symbol, arg->symbol) == 0;
    if (known) // declared again
        rf_free_arg(arg);
    else
        lib->n_bindings++;
    return true;
}

void bindings_unite(LLVMModuleRef module, const RfLibrary *lib) {
    for (uint32_t i = 0; i < lib->n_bindings; i++) {
        const RfArg *first = first_of(lib, &lib->bindings[i]);
        LLVMValueRef mine = LLVMGetNamedGlobal(module, lib->bindings[i].symbol), its;
        if (first == &lib->bindings[i] || !mine) continue;
        its = LLVMGetNamedGlobal(module, first->symbol);
        if (its)
            LLVMReplaceAllUsesWith(mine, its);
        else
            LLVMSetValueName2(mine, first->symbol, strlen(first->symbol));
        if (its) LLVMDeleteGlobal(mine);
    }
}

bool bindings_reached(const RfFunction *f, const RfArg *binding) {
    for (uint32_t i = 0; i < f->n_args; i++)
        if (strcmp(f->args[i].symbol, binding->symbol) == 0) return true;
    return false;
}

void bindings_drop(RfFunction *f) {
    while (f->n_args && f->args[f->n_args - 1].param == RF_PROGRAM_SCOPE) {
        RfArg *last = &f->args[--f->n_args];
        f->n_slots -= last->count;
        rf_free_arg(last);
    }
}

const RfArg *bindings_clash(const RfFunction *f, const RfArg *binding) {
    for (uint32_t i = 0; i < f->n_args; i++)
        if (overlap(&f->args[i], binding) && !*f->args[i].condition && !*binding->condition)
            return &f->args[i];
    return NULL;
}
