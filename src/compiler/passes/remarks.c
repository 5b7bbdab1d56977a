// SPDX-License-Identifier: Apache-2.0
// remarks.c: what keeps a kernel from being fast, at its source lines, for its author (`ingot build
// --remarks`). Reads the classes that divergence.c gave to values: what emit_memory.c and the
// others will make of them is known then. Requires: msl_analyse, instructions with source lines. A
// remark is a line of MslContext.remarks: FILE <tab> LINE <tab> COLUMN <tab> KIND <tab> TEXT.
#include "compiler/passes/passes_int.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void msl_add_remark(MslContext *cx, LLVMMetadataRef scope, unsigned line, unsigned column,
                    const char *kind, const char *format, ...) {
    char text[400], whole[1400];
    LLVMMetadataRef file = scope ? LLVMDIScopeGetFile(scope) : NULL;
    unsigned n = 0;
    const char *name = file ? LLVMDIFileGetFilename(file, &n) : "";
    if (!cx->remarks || !line) return;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(whole, sizeof whole, "%.*s\t%u\t%u\t%s\t%s\n", (int)(n < 800 ? n : 800), name, line,
             column, kind, text);
    if (*cx->remarks && strstr(*cx->remarks, whole)) return; // said, of another copy
    size_t before = *cx->remarks ? strlen(*cx->remarks) : 0;
    char *joined = realloc(*cx->remarks, before + strlen(whole) + 1);
    if (!joined) return;
    strcpy(joined + before, whole);
    *cx->remarks = joined;
}

static unsigned line_of(Value i) {
    LLVMMetadataRef at = LLVMIsAInstruction(i) ? LLVMInstructionGetDebugLoc(i) : NULL;
    return at ? LLVMDILocationGetLine(at) : 0;
}

#define REMARK(x, i, kind, ...)                                                                    \
    do {                                                                                           \
        LLVMMetadataRef at_ = LLVMInstructionGetDebugLoc(i);                                       \
        if (at_)                                                                                   \
            msl_add_remark((x)->cx, LLVMDILocationGetScope(at_), LLVMDILocationGetLine(at_),       \
                           LLVMDILocationGetColumn(at_), kind, __VA_ARGS__);                       \
    } while (0)

// ---- Why a value has no order between threads ----

static bool in_order(const Vec *x, Value v) {
    return LLVMIsConstant(v) || LLVMIsAArgument(v) || msl_class(x, v).kind == LINEAR;
}

static const char *operation(LLVMOpcode op) {
    switch (op) {
    case LLVMUDiv:
    case LLVMSDiv: return "a division";
    case LLVMURem:
    case LLVMSRem: return "a remainder";
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMLShr:
    case LLVMAShr: return "bit operations";
    case LLVMMul: return "a product of values that differ between threads";
    case LLVMFPToSI:
    case LLVMFPToUI: return "a conversion from floating point";
    case LLVMZExt: return "an index that may wrap around";
    default: return NULL;
    }
}

// A clause about the value, in `text`.
static void say_why(const Vec *x, Value v, int depth, char *text, size_t room) {
    Value cause = NULL;
    for (int k = 0; LLVMIsAInstruction(v) && k < LLVMGetNumOperands(v) && !cause; k++)
        if (!LLVMValueIsBasicBlock(operand(v, k)) && !LLVMIsAFunction(operand(v, k)) &&
            !in_order(x, operand(v, k)))
            cause = operand(v, k);
    if (!LLVMIsAInstruction(v) || depth > 24) {
        snprintf(text, room, "its address has no regular stride between threads");
        return;
    }
    LLVMOpcode op = LLVMGetInstructionOpcode(v);
    const char *made = op == LLVMXor && LLVMIsConstant(operand(v, 1)) &&
                               operand(v, 1) == LLVMConstAllOnes(LLVMTypeOf(v)) // of a difference
                           ? operation(LLVMZExt)
                           : operation(op);
    unsigned line = line_of(v);
    char where[32] = "";
    if (line) snprintf(where, sizeof where, " (line %u)", line);
    if (op == LLVMLoad)
        snprintf(text, room, "its index is read from memory%s", where);
    else if (op == LLVMPHI)
        snprintf(text, room, "its index depends on a divergent branch%s", where);
    else if (op == LLVMCall)
        snprintf(text, room, "its index comes from a function of the thread%s", where);
    else if (made && (op == LLVMFPToSI || op == LLVMFPToUI || !cause))
        snprintf(text, room, "its index is made by %s%s", made, where);
    else if (cause)
        say_why(x, cause, depth + 1, text, room);
    else
        snprintf(text, room, "its address has no regular stride between threads");
}

// ---- What is remarked ----

enum { FAR = 16 }; // elements: up to there neighbours come with one vector and a shuffle

static bool is_apart(Class c, int64_t bytes) {
    return c.kind == LINEAR && c.stride != 0 && llabs(c.stride) > FAR * bytes;
}

bool msl_is_gathered(const Vec *x, Value p, int64_t bytes) {
    if (msl_uniform(x, p) || msl_is_soa(x, p)) return false;
    Class c = msl_class(x, p);
    return is_apart(c, bytes) || (c.kind != LINEAR && c.kind != SHAPED);
}

static void remark_access(const Vec *x, Value i, bool store) {
    Value p = operand(i, store);
    Type t = LLVMTypeOf(store ? operand(i, 0) : i);
    int64_t bytes = (int64_t)LLVMABISizeOfType(x->dl, t);
    Class c = msl_class(x, p);
    const char *what = store ? "store" : "load", *kind = store ? "scatter" : "gather";
    char why[256];
    if (!msl_is_gathered(x, p, bytes) || (!store && msl_is_clamped_line(x, p, t))) return;
    if (is_apart(c, bytes))
        REMARK(x, i, kind,
               "%s of %lld bytes becomes a %s: neighbouring threads are %lld bytes apart", what,
               (long long)bytes, kind, (long long)llabs(c.stride));
    if (c.kind == LINEAR || c.kind == SHAPED) return;
    say_why(x, p, 0, why, sizeof why);
    REMARK(x, i, kind, "%s of %lld bytes becomes a %s: %s", what, (long long)bytes, kind, why);
}

static void remark_call(const Vec *x, Value i) {
    const char *name = callee_of(i);
    if (!strstr(name, "__ingot_texture_") || msl_uniform(x, operand(i, 0))) return;
    REMARK(x, i, "serial", "the texture differs between threads: one call for each that there is");
}

static void remark_atomic(const Vec *x, Value i) {
    if (msl_uniform(x, operand(i, 0)) && LLVMGetInstructionOpcode(i) == LLVMAtomicRMW) return;
    REMARK(x, i, "serial", "an atomic operation on addresses that differ: serialised over threads");
}

static void remark_branch(const Vec *x, const Blk *k) {
    Value end = LLVMGetBasicBlockTerminator(k->old);
    char why[256];
    if (k->n_succ != 2 || !k->divergent) return;
    bool loop = k->latch >= 0 || k->exit >= 0 ||
                (k->loop >= 0 && x->loops[k->loop].divergent &&
                 x->loops[k->loop].header == (int)(k - x->blocks));
    Value condition = LLVMGetCondition(end);
    if (loop) {
        snprintf(why, sizeof why, "its end differs between threads");
        REMARK(x, end, "loop", "the loop runs until the last of %u threads has left it: %s",
               x->width, why);
    } else if (!in_order(x, condition)) {
        REMARK(x, end, "branch",
               "divergent branch: threads of a SIMD-group take both sides, which run one after the "
               "other under masks");
    }
}

void msl_remark_all(const Vec *x) {
    if (!x->cx->remarks || !x->asked.remarks) return;
    for (int b = 0; b < x->n_blocks; b++) {
        const Blk *k = &x->blocks[b];
        for (Value i = LLVMGetFirstInstruction(k->old); i; i = LLVMGetNextInstruction(i)) {
            LLVMOpcode op = LLVMGetInstructionOpcode(i);
            if (op == LLVMLoad || op == LLVMStore) remark_access(x, i, op == LLVMStore);
            if (op == LLVMAtomicRMW || op == LLVMAtomicCmpXchg) remark_atomic(x, i);
            if (op == LLVMCall) remark_call(x, i);
        }
        remark_branch(x, k);
    }
}
