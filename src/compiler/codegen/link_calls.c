// SPDX-License-Identifier: Apache-2.0
// link_calls.c: calls through function pointers become ordinary control flow.
//   purpose   a function pointer is a number: that of a linked function (its place in the
//             pipeline's list, from 1), or a higher one for a function whose address the source
//             takes. A call is a switch on the number over the functions of its type; what no case
//             takes does nothing and gives zero. All of it is inlined into the thread function, so
//             the vectoriser sees divergent branches and nothing new; many functions stay functions
//             (outline.c).
//   requires  everything else is inlined into cg->thread and into the linked functions
//   idea      rounds: a call through a pointer inside a function that a case inlined is met in the
//             next round. As many rounds as the pipeline's max_call_stack_depth allows; with the
//             default of 1, until none is left, unless the functions may call each other in a
//             circle, which cannot be told from recursion without end.
#include "compiler/codegen/codegen.h"
#include "abi/function_table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROUNDS = 8, MAX_INSTRUCTIONS = 300000, MAX_CANDIDATES = 65536 };

#define FUNCTION_ENTRY "__ingot_function_entryI" // then the tags

typedef struct Calls {
    Cg *cg;
    MslCandidate *candidates;
    size_t n, capacity;
    MslCandidate *fits; // [n] for one call
    LLVMValueRef *list; // calls of one round
    size_t n_list, capacity_list;
    bool failed;
} Calls;

static void add_candidate(Calls *c, LLVMValueRef f, uint64_t id, uint64_t key) {
    if (c->n == c->capacity) {
        size_t capacity = c->capacity ? c->capacity * 2 : 64;
        MslCandidate *more =
            capacity > MAX_CANDIDATES ? NULL : realloc(c->candidates, capacity * sizeof *more);
        if (!more) {
            c->failed = true;
            return;
        }
        c->candidates = more, c->capacity = capacity;
    }
    for (size_t i = 0; i < c->n; i++)
        if (c->candidates[i].key == key) key = 0; // the first one has it
    c->candidates[c->n++] = (MslCandidate){f, id, key};
}

static void add_call(Calls *c, LLVMValueRef call) {
    if (c->n_list == c->capacity_list) {
        size_t capacity = c->capacity_list ? c->capacity_list * 2 : 64;
        LLVMValueRef *more = realloc(c->list, capacity * sizeof *more);
        if (!more) {
            c->failed = true;
            return;
        }
        c->list = more, c->capacity_list = capacity;
    }
    c->list[c->n_list++] = call;
}

static LLVMValueRef number_as_pointer(MslContext *cx, uint64_t id) {
    return LLVMConstIntToPtr(msl_const(cx, 64, id), msl_ptr(cx));
}

static bool is_table_entry(LLVMValueRef call) {
    return strstr(msl_callee(call), "__ingot_table_entryI") != NULL;
}

static bool is_function_entry(LLVMValueRef call) {
    return strstr(msl_callee(call), FUNCTION_ENTRY) != NULL;
}

// A call of a value, not of a function or of inline assembly.
static bool is_indirect(LLVMValueRef i) {
    return LLVMIsACallInst(i) && !LLVMIsAFunction(LLVMGetCalledValue(i)) &&
           !LLVMIsAInlineAsm(LLVMGetCalledValue(i));
}

// The calls of this round, and how long the thread function is by now.
static size_t collect(Calls *c) {
    size_t n = 0;
    c->n_list = 0;
    LLVMValueRef thread = c->cg->thread;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(thread); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i), n++)
            if (is_indirect(i) || is_table_entry(i) || is_function_entry(i)) add_call(c, i);
    return n;
}

// ---- functions with a number ----

// A use of f other than as the function that a call calls.
static bool address_taken(LLVMValueRef f) {
    for (LLVMUseRef u = LLVMGetFirstUse(f); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (!LLVMIsACallInst(user) || LLVMGetCalledValue(user) != f) return true;
        for (unsigned k = 0; k < LLVMGetNumArgOperands(user); k++)
            if (LLVMGetOperand(user, k) == f) return true;
    }
    return false;
}

static bool called(LLVMValueRef f) {
    for (LLVMUseRef u = LLVMGetFirstUse(f); u; u = LLVMGetNextUse(u))
        if (LLVMIsACallInst(LLVMGetUser(u)) && LLVMGetCalledValue(LLVMGetUser(u)) == f) return true;
    return false;
}

static void find_candidates(Calls *c) {
    Cg *cg = c->cg;
    MslContext *cx = &cg->cx;
    for (size_t i = 0; i < cg->request->n_linked; i++) {
        char name[40];
        snprintf(name, sizeof name, MSL_LINKED "%zu", i);
        LLVMValueRef f = LLVMGetNamedFunction(cx->module, name);
        if (f) add_candidate(c, f, i + 1, cg->request->linked[i].key);
    }
    uint64_t next = cg->request->n_linked + 1;
    for (LLVMValueRef f = LLVMGetFirstFunction(cx->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && f != cg->thread && !msl_is_linked(f) && address_taken(f))
            add_candidate(c, f, next++, 0);
    for (size_t i = 0; i < c->n; i++) {
        LLVMValueRef f = c->candidates[i].f;
        // Inlining has dissolved every call by name but those of a function by itself.
        if (called(f)) continue; // check_calls names it
        LLVMReplaceAllUsesWith(f, number_as_pointer(cx, c->candidates[i].id));
    }
}

// ---- lookups in tables ----

// Whether a function has the signature that the symbol of a lookup names.
static bool has_signature(const RfFunction *fn, const char *symbol) {
    const char *at = strstr(symbol, FUNCTION_ENTRY);
    unsigned wanted, tags, primitive;
    if (at && sscanf(at + sizeof FUNCTION_ENTRY - 1, "Lj%uE", &wanted) == 1)
        return rf_intersection(fn, &tags, &primitive) && tags == wanted;
    return fn->signature && (!*fn->signature || strcmp(fn->signature, symbol) == 0);
}

// 1 if the number is one of a function that tables may hold and whose signature is the symbol's:
// runs of numbers, mostly one.
static LLVMValueRef build_signature_check(Cg *cg, LLVMValueRef id, const char *signature) {
    MslContext *cx = &cg->cx;
    const MslKernelRequest *q = cg->request;
    LLVMValueRef ok = msl_const(cx, 1, 0);
    for (size_t i = 0; i < q->n_linked;) {
        size_t first = i;
        for (; i < q->n_linked; i++) {
            const MslLinkedFunction *l = &q->linked[i];
            const RfLibrary *lib = l->library ? q->parts[l->library - 1].reflection : cg->lib;
            const RfFunction *fn = rf_find_function(lib, l->function);
            if (l->by_name_only || !fn || !has_signature(fn, signature)) break;
            if (l->key)
                ok = LLVMBuildOr(
                    cx->builder, ok,
                    LLVMBuildICmp(cx->builder, LLVMIntEQ, id, msl_const(cx, 32, l->key), ""), "");
        }
        if (i == first) {
            i++;
            continue;
        }
        LLVMValueRef from = LLVMBuildSub(cx->builder, id, msl_const(cx, 32, first + 1), "");
        LLVMValueRef in =
            LLVMBuildICmp(cx->builder, LLVMIntULT, from, msl_const(cx, 32, i - first), "");
        ok = LLVMBuildOr(cx->builder, ok, in, "");
    }
    return ok;
}

static LLVMBasicBlockRef block_before(Cg *cg, LLVMBasicBlockRef next) {
    return LLVMInsertBasicBlockInContext(cg->cx.llvm, next, "");
}

// ptr __ingot_table_entry<S>(ptr table, i32 index): null for a null table, an index past its end, a
// function of another type.
static void lower_table_entry(Cg *cg, LLVMValueRef call) {
    MslContext *cx = &cg->cx;
    LLVMBuilderRef b = cx->builder;
    LLVMTypeRef i32 = msl_int(cx, 32), i8 = msl_int(cx, 8);
    LLVMValueRef table = LLVMGetOperand(call, 0), index = LLVMGetOperand(call, 1);
    LLVMBasicBlockRef start = LLVMGetInstructionParent(call), join = bridge_split_before(call);
    LLVMBasicBlockRef counted = block_before(cg, join), inside = block_before(cg, join);
    LLVMPositionBuilderAtEnd(b, start);
    LLVMBuildCondBr(b, LLVMBuildIsNull(b, table, ""), join, counted);
    LLVMPositionBuilderAtEnd(b, counted);
    LLVMValueRef count = LLVMBuildLoad2(b, i32, table, "");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, index, count, ""), inside, join);
    LLVMPositionBuilderAtEnd(b, inside);
    LLVMValueRef wide = LLVMBuildZExt(b, index, msl_int(cx, 64), "");
    LLVMValueRef offset = msl_const(cx, 64, offsetof(AbiFunctionTable, ids));
    LLVMValueRef ids = LLVMBuildInBoundsGEP2(b, i8, table, &offset, 1, "");
    LLVMValueRef id = LLVMBuildLoad2(b, i32, LLVMBuildInBoundsGEP2(b, i32, ids, &wide, 1, ""), "");
    id = LLVMBuildSelect(b, build_signature_check(cg, id, msl_callee(call)), id,
                         msl_const(cx, 32, 0), "");
    LLVMBuildBr(b, join);
    LLVMPositionBuilderBefore(b, call);
    LLVMValueRef phi = LLVMBuildPhi(b, i32, "function");
    LLVMValueRef values[] = {msl_const(cx, 32, 0), msl_const(cx, 32, 0), id};
    LLVMBasicBlockRef blocks[] = {start, counted, inside};
    LLVMAddIncoming(phi, values, blocks, 3);
    LLVMValueRef pointer =
        LLVMBuildIntToPtr(b, LLVMBuildZExt(b, phi, msl_int(cx, 64), ""), msl_ptr(cx), "");
    LLVMReplaceAllUsesWith(call, pointer);
    LLVMInstructionEraseFromParent(call);
}

// ptr __ingot_function_entry<tags>(i32 number): null for a number of no such intersection function.
static void lower_function_entry(Cg *cg, LLVMValueRef call) {
    MslContext *cx = &cg->cx;
    LLVMBuilderRef b = cx->builder;
    LLVMPositionBuilderBefore(b, call);
    LLVMValueRef id = LLVMGetOperand(call, 0);
    id = LLVMBuildSelect(b, build_signature_check(cg, id, msl_callee(call)), id,
                         msl_const(cx, 32, 0), "");
    id = LLVMBuildZExt(b, id, msl_int(cx, 64), "");
    LLVMReplaceAllUsesWith(call, LLVMBuildIntToPtr(b, id, msl_ptr(cx), ""));
    LLVMInstructionEraseFromParent(call);
}

// ---- calls ----

static LLVMTypeRef memory_type(LLVMAttributeRef a) {
    return a ? LLVMGetTypeAttributeValue(a) : NULL;
}

static unsigned attribute_kind(const char *name) {
    return LLVMGetEnumAttributeKindForName(name, strlen(name));
}

// Same types, and hidden memory (results, structs by value) of the same size passed the same way.
static bool fits(Cg *cg, LLVMValueRef call, LLVMValueRef f) {
    static const char *const kinds[] = {"sret", "byval"};
    LLVMTypeRef type = LLVMGetCalledFunctionType(call);
    if (!msl_same_signature(type, LLVMGlobalGetValueType(f))) return false;
    for (unsigned p = 1; p <= LLVMCountParamTypes(type); p++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            unsigned kind = attribute_kind(kinds[k]);
            LLVMTypeRef x = memory_type(LLVMGetCallSiteEnumAttribute(call, p, kind)),
                        y = memory_type(LLVMGetEnumAttributeAtIndex(f, p, kind));
            if (!x != !y ||
                (x && LLVMABISizeOfType(cg->cx.layout, x) != LLVMABISizeOfType(cg->cx.layout, y)))
                return false;
        }
    return true;
}

LLVMTypeRef msl_null_call_type(const MslContext *cx) { return LLVMDoubleTypeInContext(cx->llvm); }

// Shader validation reports stores to addresses that are none. This one, of a type that Metal
// does not have, says what it stands for (validate.c), and its address whether there was a
// function.
static void build_report(Cg *cg, LLVMValueRef id) {
    MslContext *cx = &cg->cx;
    LLVMValueRef some = LLVMBuildIsNotNull(cx->builder, id, "");
    LLVMValueRef at =
        LLVMBuildSelect(cx->builder, some, msl_const(cx, 64, 8), msl_const(cx, 64, 0), "");
    LLVMValueRef to = LLVMBuildIntToPtr(cx->builder, at, msl_ptr(cx), "");
    LLVMValueRef store = LLVMBuildStore(cx->builder, LLVMConstNull(msl_null_call_type(cx)), to);
    LLVMSetVolatile(store, 1);
}

// What calling nothing gives: zero, also where the result is memory.
void msl_build_nothing(Cg *cg, LLVMValueRef call, LLVMValueRef id) {
    MslContext *cx = &cg->cx;
    if (cg->request->validate) build_report(cg, id);
    LLVMTypeRef type = LLVMGetCalledFunctionType(call);
    LLVMTypeRef result =
        LLVMCountParamTypes(type)
            ? memory_type(LLVMGetCallSiteEnumAttribute(call, 1, attribute_kind("sret")))
            : NULL;
    if (result)
        LLVMBuildMemSet(cx->builder, LLVMGetOperand(call, 0), msl_const(cx, 8, 0),
                        msl_const(cx, 64, LLVMABISizeOfType(cx->layout, result)), 1);
}

// The functions a call may go to, in c->fits.
static size_t find_fits(Calls *c, LLVMValueRef call) {
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        if (fits(c->cg, call, c->candidates[i].f)) c->fits[n++] = c->candidates[i];
    return n;
}

static void lower_call(Calls *c, LLVMValueRef call, bool cut) {
    Cg *cg = c->cg;
    MslContext *cx = &cg->cx;
    size_t n = cut ? 0 : find_fits(c, call);
    if (msl_outline_call(cg, call, c->fits, n)) return;
    LLVMBuilderRef b = cx->builder;
    LLVMTypeRef result = LLVMTypeOf(call);
    bool value = LLVMGetTypeKind(result) != LLVMVoidTypeKind;
    LLVMBasicBlockRef start = LLVMGetInstructionParent(call), join = bridge_split_before(call);
    LLVMBasicBlockRef nothing = block_before(cg, join);
    LLVMPositionBuilderAtEnd(b, start);
    LLVMValueRef id = LLVMBuildPtrToInt(b, LLVMGetCalledValue(call), msl_int(cx, 64), "");
    LLVMValueRef choice = LLVMBuildSwitch(b, id, nothing, 8);
    LLVMPositionBuilderBefore(b, call);
    LLVMValueRef phi = value ? LLVMBuildPhi(b, result, "") : NULL;
    LLVMPositionBuilderAtEnd(b, nothing);
    msl_build_nothing(cg, call, id);
    LLVMBuildBr(b, join);
    LLVMValueRef zero = value ? LLVMConstNull(result) : NULL;
    if (value) LLVMAddIncoming(phi, &zero, &nothing, 1);
    for (size_t i = 0; i < n; i++) {
        LLVMValueRef f = c->fits[i].f;
        LLVMBasicBlockRef block = block_before(cg, join);
        LLVMAddCase(choice, msl_const(cx, 64, c->fits[i].id), block);
        if (c->fits[i].key) LLVMAddCase(choice, msl_const(cx, 64, c->fits[i].key), block);
        LLVMPositionBuilderAtEnd(b, block);
        LLVMValueRef direct = LLVMInstructionClone(call);
        LLVMSetOperand(direct, (unsigned)LLVMGetNumOperands(direct) - 1, f);
        LLVMInsertIntoBuilder(b, direct);
        LLVMBuildBr(b, join);
        if (value) LLVMAddIncoming(phi, &direct, &block, 1);
    }
    if (value) LLVMReplaceAllUsesWith(call, phi);
    LLVMInstructionEraseFromParent(call);
}

static void fail_calls(Calls *c, const char *why) {
    Cg *cg = c->cg;
    free(c->candidates);
    free(c->fits);
    free(c->list);
    msl_fail(&cg->cx, "'%s': %s", cg->fn->name, why);
}

void msl_resolve_calls(Cg *cg) {
    MslContext *cx = &cg->cx;
    Calls c = {.cg = cg};
    uint32_t depth = cg->request->call_depth;
    find_candidates(&c);
    c.fits = calloc(c.n + 1, sizeof *c.fits);
    c.failed |= !c.fits;
    for (unsigned round = 1;; round++) {
        size_t length = collect(&c);
        bool cut = depth > 1 && round > depth;
        if (c.failed) fail_calls(&c, "out of memory");
        if (!c.n_list) break;
        if (round > 1 && length > MAX_INSTRUCTIONS)
            fail_calls(&c, "its visible functions call each other in too many ways: all of them "
                           "are copied into the kernel; a smaller max_call_stack_depth may help");
        if (depth <= 1 && round > MAX_ROUNDS)
            fail_calls(&c, "its visible functions may call each other in a circle: set "
                           "max_call_stack_depth to the depth that is needed");
        for (size_t i = 0; i < c.n_list; i++) {
            if (is_table_entry(c.list[i]))
                lower_table_entry(cg, c.list[i]);
            else if (is_function_entry(c.list[i]))
                lower_function_entry(cg, c.list[i]);
            else
                lower_call(&c, c.list[i], cut);
        }
        msl_run_passes(cx, NULL, "always-inline,function(sroa<modify-cfg>,early-cse,simplifycfg)");
    }
    free(c.candidates);
    free(c.fits);
    free(c.list);
    for (LLVMValueRef f = LLVMGetFirstFunction(cx->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && msl_is_linked(f)) LLVMSetLinkage(f, LLVMInternalLinkage);
    msl_run_passes(cx, NULL, "globaldce");
}
