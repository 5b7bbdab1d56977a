// SPDX-License-Identifier: Apache-2.0
// uninitialised.c: variables of a thread that are read before they are written (races watched for).
//   msl_mark_variables      functions as the front end wrote them: each variable of the program is
//                           escapes to an opaque call, so that it stays in memory
//   msl_note_uninitialised  all is inlined and pointers are values: beside each variable lies
//                           another with a byte for each of its bytes, 1 until it is written.
//                           Stores clear them, copies copy them, and before a load stands
//                               void __ingot_unwritten(i1 bad, i32 name)
// The optimiser then does what a data-flow analysis would: both variables become values, and where
// all paths write first the condition folds to false (msl_settle_uninitialised takes those out,
// before a loop is held up by one). What is left is decided at run time (watch.c). Variables begin
// as zeros here: what is read too early is the same in every run.
//
// A number that is only copied counts as read. Vectors and structures may be written in parts:
// their bytes go along through copies, shuffles and insertions, and count where they are used.
// Left out: variables whose address goes where nobody can follow, and copies of structures into
// memory that threads share (their padding is never written).
#include "compiler/codegen/codegen.h"
#include "compiler/passes/map.h"
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

typedef LLVMValueRef Value;
typedef LLVMTypeRef Type;
typedef LLVMBasicBlockRef Block;

#define SHOWN "__ingot_variable" // void (ptr, i32 name)
enum { MAX_BYTES = 4096 };

bool msl_finds_uninitialised(const Cg *cg) {
    return cg->request->watch & (MSL_WATCH_RACES | MSL_WATCH_NOTES) && cg->request->width != 1 &&
           !cg->cx.nvptx;
}

// ---- before anything is inlined ----

static Value declare(Cg *cg, const char *name, Type *types, unsigned n) {
    Value f = LLVMGetNamedFunction(cg->cx.module, name);
    if (f) return f;
    f = LLVMAddFunction(cg->cx.module, name,
                        LLVMFunctionType(LLVMVoidTypeInContext(cg->cx.llvm), types, n, 0));
    enum { INACCESSIBLE = 3 << 2 }; // memory that nobody else sees
    msl_add_attribute(&cg->cx, f, LLVMAttributeFunctionIndex, "memory", INACCESSIBLE);
    msl_add_attribute(&cg->cx, f, LLVMAttributeFunctionIndex, "nounwind", 0);
    msl_add_attribute(&cg->cx, f, LLVMAttributeFunctionIndex, "willreturn", 0);
    return f;
}

static uint32_t add_name(Cg *cg, const char *name) {
    CgName *all = realloc(cg->report.names, (cg->report.n_names + 1) * sizeof *all);
    if (!all) msl_fail(&cg->cx, "out of memory");
    cg->report.names = all;
    size_t n = strlen(name) < sizeof all->text ? strlen(name) : sizeof all->text - 1;
    memset(&all[cg->report.n_names], 0, sizeof *all);
    memcpy(all[cg->report.n_names].text, name, n);
    return (uint32_t)cg->report.n_names++;
}

// Not a parameter ("x.addr"), a value between ("ref.tmp") or one of our own.
static bool is_variable(const Cg *cg, Value a, const char *name) {
    Type t = LLVMGetAllocatedType(a);
    if (!*name || strchr(name, '.') || !strcmp(name, "retval") || msl_starts(name, "tmp") ||
        msl_starts(name, "__") || LLVMGetTypeKind(t) == LLVMPointerTypeKind ||
        !LLVMIsAConstantInt(LLVMGetOperand(a, 0)) ||
        LLVMConstIntGetZExtValue(LLVMGetOperand(a, 0)) != 1)
        return false;
    uint64_t n = LLVMABISizeOfType(cg->cx.layout, t);
    return n && n <= MAX_BYTES;
}

void msl_mark_variables(Cg *cg, Value f) {
    MslContext *cx = &cg->cx;
    Type types[2] = {msl_ptr(cx), msl_int(cx, 32)};
    Value behind = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f));
    while (LLVMIsAAllocaInst(behind)) behind = LLVMGetNextInstruction(behind);
    LLVMPositionBuilderBefore(cx->builder, behind);
    LLVMSetCurrentDebugLocation2(cx->builder, NULL);
    LLVMMetadataRef line = LLVMInstructionGetDebugLoc(behind);
    if (line) LLVMSetCurrentDebugLocation2(cx->builder, line);
    for (Value a = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f)); LLVMIsAAllocaInst(a);
         a = LLVMGetNextInstruction(a)) {
        size_t n;
        const char *name = LLVMGetValueName2(a, &n);
        if (!is_variable(cg, a, name)) continue;
        Value shown = declare(cg, SHOWN, types, 2),
              args[2] = {a, msl_const(cx, 32, add_name(cg, name))};
        LLVMBuildCall2(cx->builder, LLVMGlobalGetValueType(shown), shown, args, 2, "");
    }
}

// ---- when everything is ----

typedef struct Pair {
    Value of, shadow; // a pointer and what lies beside it; a vector and a byte for each element
    uint32_t name;
} Pair;
typedef struct Notes {
    Cg *cg;
    Arena arena;
    Map known; // value -> its number
    Pair *pairs;
    size_t n, max;
} Notes;

static const Pair *find_shadow(const Notes *s, Value v) {
    int k = msl_map_get(&s->known, v);
    return k < 0 ? NULL : &s->pairs[k];
}

static void add_shadow(Notes *s, Value of, Value shadow, uint32_t name) {
    MslContext *cx = &s->cg->cx;
    if (s->n == s->max) {
        Pair *more = msl_arena_alloc(cx, &s->arena, (2 * s->max + 64) * sizeof *more);
        if (s->n) memcpy(more, s->pairs, s->n * sizeof *more);
        s->pairs = more;
        s->max = 2 * s->max + 64;
    }
    msl_map_put(cx, &s->arena, &s->known, of, (int)s->n);
    s->pairs[s->n++] = (Pair){of, shadow, name};
}

static bool is_copy(const char *name) {
    return msl_starts(name, "llvm.memcpy") || msl_starts(name, "llvm.memmove") ||
           msl_starts(name, "llvm.memset");
}

// Every use of the pointer is one that can be followed.
static bool is_followed(Value p) {
    for (LLVMUseRef u = LLVMGetFirstUse(p); u; u = LLVMGetNextUse(u)) {
        Value i = LLVMGetUser(u);
        const char *name = msl_callee(i);
        if (LLVMIsAGetElementPtrInst(i)) {
            if (!is_followed(i)) return false;
        } else if (LLVMIsAStoreInst(i)) {
            if (LLVMGetOperand(i, 0) == p) return false;
        } else if (!LLVMIsALoadInst(i) && !is_copy(name) && !msl_starts(name, "llvm.lifetime") &&
                   strcmp(name, SHOWN) != 0) {
            return false;
        }
    }
    return true;
}

static uint64_t size_of(const Notes *s, Type t) { return LLVMStoreSizeOfType(s->cg->cx.layout, t); }

// The variables, each with another one beside it. What shows them is gone.
static void pair_variables(Notes *s) {
    MslContext *cx = &s->cg->cx;
    LLVMBuilderRef b = cx->builder;
    Value shown = LLVMGetNamedFunction(cx->module, SHOWN);
    for (LLVMUseRef use; shown && (use = LLVMGetFirstUse(shown));) {
        Value i = LLVMGetUser(use), a = LLVMGetOperand(i, 0);
        uint32_t name = (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(i, 1));
        if (LLVMIsAAllocaInst(a) && is_followed(a) &&
            LLVMGetBasicBlockParent(LLVMGetInstructionParent(i)) == s->cg->thread) {
            const Pair *known = find_shadow(s, a);
            uint64_t bytes = LLVMABISizeOfType(cx->layout, LLVMGetAllocatedType(a));
            Value n = msl_const(cx, 64, bytes), shadow = known ? known->shadow : NULL;
            if (!shadow) {
                LLVMPositionBuilderBefore(b, a);
                shadow = LLVMBuildAlloca(b, LLVMArrayType2(msl_int(cx, 8), bytes), "");
                LLVMSetAlignment(shadow, 16);
                add_shadow(s, a, shadow, name);
            }
            LLVMPositionBuilderBefore(b, i);
            LLVMBuildMemSet(b, a, msl_const(cx, 8, 0), n, LLVMGetAlignment(a));
            LLVMBuildMemSet(b, shadow, msl_const(cx, 8, 1), n, 16);
        }
        LLVMInstructionEraseFromParent(i);
    }
}

static void note(Notes *s, Value at, Value bad, uint32_t name, Value line) {
    MslContext *cx = &s->cg->cx;
    Type types[2] = {msl_int(cx, 1), msl_int(cx, 32)};
    Value f = declare(s->cg, MSL_UNINITIALISED, types, 2), args[2] = {bad, msl_const(cx, 32, name)};
    LLVMMetadataRef place = LLVMInstructionGetDebugLoc(line);
    LLVMPositionBuilderBefore(cx->builder, at);
    Value call = LLVMBuildCall2(cx->builder, LLVMGlobalGetValueType(f), f, args, 2, "");
    if (place) LLVMInstructionSetDebugLoc(call, place);
}

static Value number(Notes *s, uint64_t bytes) {
    return LLVMConstNull(LLVMIntTypeInContext(s->cg->cx.llvm, (unsigned)(8 * bytes)));
}

static bool is_vector(Type t) { return LLVMGetTypeKind(t) == LLVMVectorTypeKind; }

// Bytes of memory beside a vector's <-> one for each element, which is written as a whole.
static Value picked(Notes *s, Value v, unsigned n, uint64_t from, uint64_t to) {
    enum { MAX = 256 };
    Value at[MAX];
    Type i32 = msl_int(&s->cg->cx, 32);
    if (n > MAX) return NULL;
    for (unsigned k = 0; k < n; k++) at[k] = LLVMConstInt(i32, k * from / to, 0);
    return LLVMBuildShuffleVector(s->cg->cx.builder, v, LLVMGetPoison(LLVMTypeOf(v)),
                                  LLVMConstVector(at, n), "");
}

static void read_variable(Notes *s, Value i, const Pair *p) {
    MslContext *cx = &s->cg->cx;
    Type t = LLVMTypeOf(i), i8 = msl_int(cx, 8);
    uint64_t bytes = size_of(s, t);
    LLVMTypeKind k = LLVMGetTypeKind(t);
    LLVMPositionBuilderBefore(cx->builder, i);
    if (is_vector(t)) {
        unsigned n = LLVMGetVectorSize(t);
        if (bytes % n || bytes > 256) return;
        Value all = LLVMBuildLoad2(cx->builder, LLVMVectorType(i8, (unsigned)bytes), p->shadow, "");
        LLVMSetAlignment(all, 1);
        add_shadow(s, i, bytes == n ? all : picked(s, all, n, bytes / n, 1), p->name);
        return;
    }
    if (k == LLVMStructTypeKind || k == LLVMArrayTypeKind) return;
    Value none = number(s, bytes),
          flags = LLVMBuildLoad2(cx->builder, LLVMTypeOf(none), p->shadow, "");
    LLVMSetAlignment(flags, 1);
    note(s, i, LLVMBuildICmp(cx->builder, LLVMIntNE, flags, none, ""), p->name, i);
}

static void write_variable(Notes *s, Value i, const Pair *p) {
    MslContext *cx = &s->cg->cx;
    Value v = LLVMGetOperand(i, 0);
    const Pair *from = is_vector(LLVMTypeOf(v)) ? find_shadow(s, v) : NULL;
    uint64_t bytes = size_of(s, LLVMTypeOf(v));
    LLVMPositionBuilderBefore(cx->builder, i);
    if (!from && bytes > 64) {
        LLVMBuildMemSet(cx->builder, p->shadow, msl_const(cx, 8, 0), msl_const(cx, 64, bytes), 1);
        return;
    }
    Value flags = number(s, bytes);
    if (from) {
        unsigned n = LLVMGetVectorSize(LLVMTypeOf(v));
        flags = bytes == n ? from->shadow : picked(s, from->shadow, (unsigned)bytes, 1, bytes / n);
    }
    LLVMSetAlignment(LLVMBuildStore(cx->builder, flags, p->shadow), 1);
}

static void copy_variable(Notes *s, Value i) {
    LLVMBuilderRef b = s->cg->cx.builder;
    const Pair *to = find_shadow(s, LLVMGetOperand(i, 0)),
               *from = find_shadow(s, LLVMGetOperand(i, 1));
    if (!to) return;
    LLVMPositionBuilderBefore(b, i);
    if (from && !msl_starts(msl_callee(i), "llvm.memset"))
        LLVMBuildMemMove(b, to->shadow, 1, from->shadow, 1, LLVMGetOperand(i, 2));
    else
        LLVMBuildMemSet(b, to->shadow, msl_const(&s->cg->cx, 8, 0), LLVMGetOperand(i, 2), 1);
}

static Value elements_of(Notes *s, Value v) {
    const Pair *p = find_shadow(s, v);
    return p ? p->shadow
             : LLVMConstNull(
                   LLVMVectorType(msl_int(&s->cg->cx, 8), LLVMGetVectorSize(LLVMTypeOf(v))));
}

// What is known of a vector made of vectors. False: i is a use of its operands.
static bool passes_on(Notes *s, Value i) {
    LLVMBuilderRef b = s->cg->cx.builder;
    Value next = LLVMGetNextInstruction(i), made;
    const Pair *p = find_shadow(s, LLVMGetOperand(i, 0));
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMInsertElement:
        if (!p || !LLVMIsAConstantInt(LLVMGetOperand(i, 2))) return false;
        LLVMPositionBuilderBefore(b, next);
        made = LLVMBuildInsertElement(b, p->shadow, msl_const(&s->cg->cx, 8, 0),
                                      LLVMGetOperand(i, 2), "");
        add_shadow(s, i, made, p->name);
        return true;
    case LLVMShuffleVector: {
        if (!p) p = find_shadow(s, LLVMGetOperand(i, 1));
        if (!p) return false;
        enum { MAX = 64 };
        Value at[MAX], low = elements_of(s, LLVMGetOperand(i, 0)),
                       high = elements_of(s, LLVMGetOperand(i, 1));
        unsigned n = LLVMGetNumMaskElements(i);
        if (n > MAX) return true;
        Type i32 = msl_int(&s->cg->cx, 32);
        Value zero = LLVMConstNull(LLVMTypeOf(low));
        LLVMPositionBuilderBefore(b, next);
        // What the mask leaves open is nobody's: it is taken of zeros.
        unsigned wide = LLVMGetVectorSize(LLVMTypeOf(low));
        for (unsigned k = 0; k < n; k++) {
            int m = LLVMGetMaskValue(i, k);
            at[k] = LLVMConstInt(i32, m < 0 || m >= (int)wide ? 0 : (unsigned)m, 0);
        }
        Value first = LLVMBuildShuffleVector(b, low, zero, LLVMConstVector(at, n), "");
        for (unsigned k = 0; k < n; k++) {
            int m = LLVMGetMaskValue(i, k);
            at[k] = LLVMConstInt(i32, m < (int)wide ? 0 : (unsigned)m - wide, 0);
        }
        Value second = LLVMBuildShuffleVector(b, high, zero, LLVMConstVector(at, n), "");
        made = LLVMConstNull(LLVMTypeOf(first));
        for (unsigned k = 0; k < n; k++) {
            int m = LLVMGetMaskValue(i, k);
            Value e = LLVMConstInt(i32, k, 0);
            if (m < 0) continue;
            made = LLVMBuildInsertElement(
                b, made, LLVMBuildExtractElement(b, m < (int)wide ? first : second, e, ""), e, "");
        }
        add_shadow(s, i, made, p->name);
        return true;
    }
    default: return false;
    }
}

// The vector's elements are used, or one of them.
static void use_vector(Notes *s, Value i, const Pair *p) {
    LLVMBuilderRef b = s->cg->cx.builder;
    Type i8 = msl_int(&s->cg->cx, 8);
    Value flags = p->shadow, at = i;
    LLVMPositionBuilderBefore(b, at);
    if (LLVMIsAExtractElementInst(i) && LLVMIsAConstantInt(LLVMGetOperand(i, 1))) {
        Value one = LLVMBuildExtractElement(b, flags, LLVMGetOperand(i, 1), "");
        note(s, at, LLVMBuildICmp(b, LLVMIntNE, one, LLVMConstNull(i8), ""), p->name, i);
        return;
    }
    unsigned n = LLVMGetVectorSize(LLVMTypeOf(flags));
    Value bits = LLVMBuildBitCast(b, flags, LLVMIntTypeInContext(s->cg->cx.llvm, 8 * n), "");
    note(s, at, LLVMBuildICmp(b, LLVMIntNE, bits, LLVMConstNull(LLVMTypeOf(bits)), ""), p->name, i);
}

static void look_at(Notes *s, Value i) {
    const Pair *p;
    if (LLVMIsAGetElementPtrInst(i)) {
        if (!(p = find_shadow(s, LLVMGetOperand(i, 0)))) return;
        uint32_t name = p->name;
        Value beside = LLVMInstructionClone(i);
        LLVMSetOperand(beside, 0, p->shadow);
        LLVMPositionBuilderBefore(s->cg->cx.builder, i);
        msl_insert(&s->cg->cx, beside);
        add_shadow(s, i, beside, name);
        return;
    }
    if (LLVMIsALoadInst(i)) {
        if ((p = find_shadow(s, LLVMGetOperand(i, 0)))) read_variable(s, i, p);
        return;
    }
    if (LLVMIsAStoreInst(i) && (p = find_shadow(s, LLVMGetOperand(i, 1)))) {
        write_variable(s, i, p);
        return;
    }
    if (LLVMIsACallInst(i) && is_copy(msl_callee(i))) {
        copy_variable(s, i);
        return;
    }
    if (LLVMIsAPHINode(i) || passes_on(s, i)) return;
    int n = LLVMIsACallInst(i) ? (int)LLVMGetNumArgOperands(i) : LLVMGetNumOperands(i);
    for (int o = 0; o < n; o++) {
        Value v = LLVMGetOperand(i, (unsigned)o);
        if (LLVMIsAInstruction(v) && is_vector(LLVMTypeOf(v)) && (p = find_shadow(s, v))) {
            use_vector(s, i, p);
            return;
        }
    }
}

void msl_note_uninitialised(Cg *cg) {
    Notes s = {.cg = cg};
    pair_variables(&s);
    size_t n = 0, max = 0;
    for (Block b = LLVMGetFirstBasicBlock(cg->thread); s.n && b; b = LLVMGetNextBasicBlock(b))
        for (Value i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) max++;
    Value *all = msl_arena_alloc(&cg->cx, &s.arena, (max + 1) * sizeof *all); // notes join them
    for (Block b = LLVMGetFirstBasicBlock(cg->thread); s.n && b; b = LLVMGetNextBasicBlock(b))
        for (Value i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) all[n++] = i;
    for (size_t k = 0; k < n; k++) look_at(&s, all[k]);
    base_arena_free(&s.arena);
    LLVMSetCurrentDebugLocation2(cg->cx.builder, NULL);
}

void msl_settle_uninitialised(Cg *cg) {
    Value f = LLVMGetNamedFunction(cg->cx.module, MSL_UNINITIALISED);
    for (LLVMUseRef use = f ? LLVMGetFirstUse(f) : NULL, next; use; use = next) {
        Value i = LLVMGetUser(use), bad = LLVMGetOperand(i, 0);
        next = LLVMGetNextUse(use);
        if (LLVMIsAConstantInt(bad) && !LLVMConstIntGetZExtValue(bad))
            LLVMInstructionEraseFromParent(i);
    }
}
