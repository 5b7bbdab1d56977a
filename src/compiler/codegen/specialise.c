// SPDX-License-Identifier: Apache-2.0
// specialise.c: function constants get their values.
//   requires  msl_load: each constant is an external global without a value
//   does      a constant with a value becomes an internal constant of its bytes;
//             __ingot_fc_defined() becomes 0 or 1; initialisers of derived constants are evaluated
//             by globalopt. One left out where others have values reads as 0, as on a Mac
//   breaks    nothing; where none has a value they stay external, and msl_check_constants()
//             complains if the optimised kernel still reads one ("used" is what is left after
//             folding, so a use behind is_function_constant_defined() is fine, as in Metal)
#include "compiler/codegen/codegen.h"
#include "abi/data_types.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Signed and unsigned integers of one width are the same bits; every other difference is an error.
// MTLDataType: Int 29-32, UInt 33-36, Short 37-40, UShort 41-44, Char 45-48, UChar 49-52, Long
// 81-84, ULong 85-88.
static uint32_t without_sign(uint32_t t) {
    bool is_unsigned = (t >= 33 && t <= 36) || (t >= 41 && t <= 44) || (t >= 49 && t <= 52) ||
                       (t >= 85 && t <= 88);
    return is_unsigned ? t - 4 : t;
}

static const MslConstantValue *value_of(const CgPart *part, const RfConstant *c) {
    const MslConstantValue *found = NULL;
    for (size_t i = 0; i < part->n_constants; i++) { // the last one set wins
        const MslConstantValue *v = &part->constants[i];
        if (v->name ? !strcmp(v->name, c->name) : v->index == c->index) found = v;
    }
    return found;
}

static void give_value(Cg *cg, const CgPart *part, const RfConstant *c, const char *symbol,
                       const MslConstantValue *v) {
    MslContext *cx = &cg->cx;
    LLVMValueRef global = LLVMGetNamedGlobal(cx->module, symbol);
    const RfType *type = &part->lib->types[c->type];
    if (!global || !LLVMIsDeclaration(global)) return;
    if (v->data_type && without_sign(v->data_type) != without_sign(type->data_type))
        msl_fail(
            cx, "function constant '%s' (index %u) is of type %s; the value given has another type",
            c->name, c->index, type->name);
    uint64_t size = LLVMABISizeOfType(cx->layout, LLVMGlobalGetValueType(global));
    if (!v->data || v->n_bytes == 0 || v->n_bytes > size)
        msl_fail(cx, "function constant '%s' (index %u): %zu bytes given for a %s", c->name,
                 c->index, v->n_bytes, type->name);
    char *bytes = calloc(1, size);
    if (!bytes) msl_fail(cx, "out of memory");
    memcpy(bytes, v->data, v->n_bytes);
    if (type->data_type == DT_BOOL) bytes[0] = bytes[0] != 0; // Bool: any nonzero byte is true
    LLVMValueRef init = LLVMConstStringInContext2(cx->llvm, bytes, size, 1);
    free(bytes);
    LLVMValueRef fresh = LLVMAddGlobal(cx->module, LLVMTypeOf(init), "");
    LLVMSetInitializer(fresh, init);
    LLVMSetGlobalConstant(fresh, 1);
    LLVMSetLinkage(fresh, LLVMInternalLinkage);
    LLVMSetAlignment(fresh, 16);
    LLVMReplaceAllUsesWith(global, fresh);
    // Conditions of arguments look the symbol up later: the new global takes the name over.
    LLVMSetValueName2(global, "", 0);
    LLVMSetValueName2(fresh, symbol, strlen(symbol));
    LLVMDeleteGlobal(global);
}

static const RfConstant *constant_of(const Cg *cg, LLVMValueRef v, uint32_t *at) {
    size_t n;
    if (!LLVMIsAGlobalVariable(v)) return NULL;
    const char *name = LLVMGetValueName2(v, &n);
    char *end = NULL;
    unsigned long number = *name >= '0' && *name <= '9' ? strtoul(name, &end, 10) : 0;
    const bool of_part = end && *end == '.' && number < cg->n_parts; // msl_part_symbol's
    if (of_part) name = end + 1;
    const CgPart *part = &cg->parts[of_part ? number : 0];
    for (uint32_t i = 0; i < part->lib->n_constants; i++)
        if (!strcmp(part->lib->constants[i].symbol, name))
            return *at = part->first_set + i, &part->lib->constants[i];
    return NULL;
}

static void resolve_defined(Cg *cg) {
    MslContext *cx = &cg->cx;
    LLVMValueRef f = LLVMGetNamedFunction(cx->module, "__ingot_fc_defined");
    // The call sits in is_function_constant_defined(): only inlining shows which constant is meant.
    if (f) msl_run_passes(cx, NULL, "always-inline,function(sroa,early-cse)");
    for (LLVMUseRef use; f && (use = LLVMGetFirstUse(f));) {
        LLVMValueRef call = LLVMGetUser(use);
        uint32_t at;
        const RfConstant *c =
            LLVMIsACallInst(call) ? constant_of(cg, LLVMGetOperand(call, 0), &at) : NULL;
        if (!c)
            msl_fail(cx, "is_function_constant_defined() needs the name of a function constant");
        LLVMReplaceAllUsesWith(call, LLVMConstInt(LLVMTypeOf(call), cg->constant_set[at], 0));
        LLVMInstructionEraseFromParent(call);
    }
}

// Clang calls all initialisers of a file from one function; globalopt gives up on that function at
// the first constant without a value. As separate constructors each is evaluated on its own.
static void separate_constructors(Cg *cg) {
    MslContext *cx = &cg->cx;
    LLVMValueRef ctors = LLVMGetNamedGlobal(cx->module, "llvm.global_ctors");
    LLVMValueRef list = ctors ? LLVMGetInitializer(ctors) : NULL;
    if (!list || !LLVMIsAConstantArray(list)) return;
    enum { MAX = 4096 };
    LLVMValueRef *entries = malloc(MAX * sizeof *entries);
    if (!entries) msl_fail(cx, "out of memory");
    unsigned n = 0;
    LLVMTypeRef entry_type = LLVMGetElementType(LLVMTypeOf(list));
    for (int k = 0; k < LLVMGetNumOperands(list); k++) {
        LLVMValueRef entry = LLVMGetOperand(list, (unsigned)k), all = LLVMGetOperand(entry, 1);
        LLVMBasicBlockRef body = LLVMIsAFunction(all) ? LLVMGetFirstBasicBlock(all) : NULL;
        for (LLVMValueRef i = body ? LLVMGetFirstInstruction(body) : NULL; i && n < MAX;
             i = LLVMGetNextInstruction(i)) {
            if (!*msl_callee(i) || LLVMGetNumOperands(i) != 1) continue;
            LLVMValueRef parts[3] = {msl_const(cx, 32, 65535), LLVMGetCalledValue(i),
                                     LLVMConstNull(msl_ptr(cx))};
            entries[n++] = LLVMConstStructInContext(cx->llvm, parts, 3, 0);
        }
    }
    LLVMValueRef array = LLVMConstArray2(entry_type, entries, n);
    free(entries);
    LLVMDeleteGlobal(ctors);
    LLVMValueRef fresh = LLVMAddGlobal(cx->module, LLVMTypeOf(array), "llvm.global_ctors");
    LLVMSetInitializer(fresh, array);
    LLVMSetLinkage(fresh, LLVMAppendingLinkage);
}

// A scalar or vector in any number of structs; NULL: another type.
static LLVMTypeRef value_in(LLVMTypeRef type) {
    while (LLVMGetTypeKind(type) == LLVMStructTypeKind && LLVMCountStructElementTypes(type) == 1)
        type = LLVMStructGetTypeAtIndex(type, 0);
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    return kind == LLVMArrayTypeKind || kind == LLVMStructTypeKind ? NULL : type;
}

// globalopt evaluates loads and stores, but neither memcpy, which is how a vector is copied, nor
// the notes on aliasing that inlining leaves.
static void simplify_constructor(Cg *cg, LLVMValueRef f) {
    MslContext *cx = &cg->cx;
    LLVMBuilderRef build = LLVMCreateBuilderInContext(cx->llvm);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            // The place of a fourth element behind three is nothing that globalopt can store to.
            if (msl_starts(msl_callee(i), "llvm.experimental.noalias.scope.decl") ||
                (LLVMIsAStoreInst(i) && LLVMIsUndef(LLVMGetOperand(i, 0)))) {
                LLVMInstructionEraseFromParent(i);
                continue;
            }
            if (!msl_starts(msl_callee(i), "llvm.memcpy.")) continue;
            LLVMValueRef to = LLVMGetOperand(i, 0), size = LLVMGetOperand(i, 2);
            LLVMTypeRef whole = LLVMIsAGlobalVariable(to) ? LLVMGlobalGetValueType(to) : NULL;
            LLVMTypeRef type = whole ? value_in(whole) : NULL;
            if (!type || !LLVMIsAConstantInt(size) ||
                LLVMConstIntGetZExtValue(size) != LLVMABISizeOfType(cx->layout, whole))
                continue;
            LLVMPositionBuilderBefore(build, i);
            LLVMBuildStore(build, LLVMBuildLoad2(build, type, LLVMGetOperand(i, 1), ""), to);
            LLVMInstructionEraseFromParent(i);
        }
    LLVMDisposeBuilder(build);
}

static void simplify_constructors(Cg *cg) {
    LLVMValueRef ctors = LLVMGetNamedGlobal(cg->cx.module, "llvm.global_ctors");
    LLVMValueRef list = ctors ? LLVMGetInitializer(ctors) : NULL;
    for (int k = 0; list && LLVMIsAConstantArray(list) && k < LLVMGetNumOperands(list); k++) {
        LLVMValueRef f = LLVMGetOperand(LLVMGetOperand(list, (unsigned)k), 1);
        if (LLVMIsAFunction(f)) simplify_constructor(cg, f);
    }
}

// The variable an instruction of a constructor may write; NULL: none, or it is not one of ours.
static LLVMValueRef written_global(LLVMValueRef i) {
    LLVMValueRef to = NULL;
    if (LLVMIsAStoreInst(i))
        to = LLVMGetOperand(i, 1);
    else if (LLVMIsACallInst(i) && !msl_starts(msl_callee(i), "llvm.invariant.") &&
             !msl_starts(msl_callee(i), "llvm.lifetime.") && LLVMGetNumOperands(i) > 1)
        to = LLVMGetOperand(i, 0); // a copy, a constructor, a result
    while (to && (LLVMIsAGetElementPtrInst(to) || LLVMIsAConstantExpr(to)))
        to = LLVMGetOperand(to, 0);
    return to && LLVMIsAGlobalVariable(to) && !LLVMIsDeclaration(to) ? to : NULL;
}

// What evaluation left over is forgotten; the variables it should have set are marked so that
// msl_check_constants can tell whether the kernel needs one.
static void drop_constructors(Cg *cg) {
    MslContext *cx = &cg->cx;
    LLVMValueRef ctors = LLVMGetNamedGlobal(cx->module, "llvm.global_ctors");
    LLVMValueRef list = ctors ? LLVMGetInitializer(ctors) : NULL;
    for (int k = 0; list && LLVMIsAConstantArray(list) && k < LLVMGetNumOperands(list); k++) {
        LLVMValueRef f = LLVMGetOperand(LLVMGetOperand(list, (unsigned)k), 1);
        if (!LLVMIsAFunction(f)) continue;
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                LLVMValueRef to = written_global(i);
                if (!to) continue;
                LLVMSetInitializer(to, NULL); // external without a value, as an unset constant is
                LLVMSetLinkage(to, LLVMExternalLinkage);
            }
    }
    if (ctors) LLVMDeleteGlobal(ctors);
}

// Programs leave out constants that their choice of the others makes unimportant. A function that
// was given none at all was not specialised: that stays an error.
static void zero_left_out(Cg *cg) {
    static const MslConstantValue zero = {.data = "", .n_bytes = 1};
    for (uint32_t p = 0; p < cg->n_parts; p++)
        for (uint32_t i = 0; cg->parts[p].n_constants && i < cg->parts[p].lib->n_constants; i++) {
            const RfConstant *c = &cg->parts[p].lib->constants[i];
            if (!cg->constant_set[cg->parts[p].first_set + i])
                give_value(cg, &cg->parts[p], c, msl_part_symbol(cg, p, c->symbol), &zero);
        }
}

// Whether the kernel can reach a constant of its library. Others have no value to be checked: in a
// library linked of several files they may share a name with one that has.
static bool is_reached(const Cg *cg, uint32_t part, uint32_t constant) {
    bool reached = part != 0;
    for (uint32_t i = 0; i < cg->fn->n_constants; i++) reached |= cg->fn->constants[i] == constant;
    return reached;
}

void msl_specialise(Cg *cg) {
    MslContext *cx = &cg->cx;
    for (uint32_t p = 0; p < cg->n_parts; p++)
        for (uint32_t i = 0; i < cg->parts[p].lib->n_constants; i++) {
            const RfConstant *c = &cg->parts[p].lib->constants[i];
            const MslConstantValue *v = value_of(&cg->parts[p], c);
            cg->constant_set[cg->parts[p].first_set + i] = v != NULL;
            if (v && is_reached(cg, p, i))
                give_value(cg, &cg->parts[p], c, msl_part_symbol(cg, p, c->symbol), v);
        }
    resolve_defined(cg);
    zero_left_out(cg);
    if (!LLVMGetNamedGlobal(cx->module, "llvm.global_ctors")) return;
    separate_constructors(cg);
    for (LLVMValueRef f = LLVMGetFirstFunction(cx->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && f != cg->entry && !msl_is_linked(f))
            LLVMSetLinkage(f, LLVMInternalLinkage);
    LLVMSetLinkage(cg->entry, LLVMExternalLinkage);
    for (uint32_t a = 0; a < cg->fn->n_args;
         a++) { // a derived constant that only an argument depends on
        const char *condition = cg->fn->args[a].condition;
        LLVMValueRef g = condition && *condition ? LLVMGetNamedGlobal(cx->module, condition) : NULL;
        if (g && !LLVMIsDeclaration(g)) LLVMSetLinkage(g, LLVMExternalLinkage);
    }
    // The branches stay: `defined ? c : 7` must not read a constant that has no value.
    msl_run_passes(cx, NULL,
                   "function(sroa<preserve-cfg>,early-cse),always-inline,"
                   "function(sroa<preserve-cfg>,early-cse)");
    simplify_constructors(cg);
    msl_run_passes(cx, NULL, "globalopt");
    drop_constructors(cg);
    LLVMSetLinkage(cg->entry, LLVMInternalLinkage);
}

static bool is_binding(const Cg *cg, const char *symbol) {
    for (uint32_t p = 0; p < cg->n_parts; p++)
        for (uint32_t i = 0; i < cg->parts[p].lib->n_bindings; i++)
            if (strcmp(cg->parts[p].lib->bindings[i].symbol, symbol) == 0) return true;
    return false;
}

void msl_check_constants(Cg *cg) {
    for (LLVMValueRef g = LLVMGetFirstGlobal(cg->cx.module); g; g = LLVMGetNextGlobal(g)) {
        size_t n;
        const char *name = LLVMGetValueName2(g, &n);
        if (!LLVMIsDeclaration(g) || msl_starts(name, "llvm.") || !LLVMGetFirstUse(g)) continue;
        uint32_t at;
        const RfConstant *c = constant_of(cg, g, &at);
        if (c) msl_fail(&cg->cx, "function constant '%s' (index %u) is not set", c->name, c->index);
        if (is_binding(cg, name))
            msl_fail(&cg->cx,
                     "a linked function reads '%s', which is bound at program scope; '%s' itself "
                     "does not reach it",
                     name, cg->fn->name);
        msl_fail(&cg->cx,
                 "the constant '%s' used by '%s' depends on a function constant that is not set",
                 name, cg->fn->name);
    }
}

// An argument with [[function_constant(c)]] exists if c is true. An unset c is false.
bool msl_condition_holds(Cg *cg, const char *condition) {
    if (!condition || !*condition) return true;
    LLVMValueRef g = LLVMGetNamedGlobal(cg->cx.module, condition);
    LLVMValueRef init = g && !LLVMIsDeclaration(g) ? LLVMGetInitializer(g) : NULL;
    if (!init) {
        for (uint32_t i = 0; i < cg->lib->n_constants;
             i++) { // not in the module: nothing else reads it
            const RfConstant *c = &cg->lib->constants[i];
            const MslConstantValue *v =
                strcmp(c->symbol, condition) ? NULL : value_of(&cg->parts[0], c);
            if (v && v->n_bytes) return *(const unsigned char *)v->data != 0;
        }
        return false;
    }
    if (LLVMIsAConstantInt(init)) return LLVMConstIntGetZExtValue(init) != 0;
    size_t n = 0;
    const char *bytes = LLVMIsAConstantDataArray(init) ? LLVMGetAsString(init, &n) : NULL;
    return bytes && n && bytes[0];
}

bool msl_argument_enabled(Cg *cg, const RfArg *arg) {
    return msl_condition_holds(cg, arg->condition);
}
