// SPDX-License-Identifier: Apache-2.0
// promote_masks.c: masks as words, on CPUs whose blends and masked accesses ask for signs.
//   purpose   AVX2 has no mask registers. LLVM keeps a mask that lives across blocks as bytes: each
//             blend of floats unpacks them first, each comparison packs them, and a test for any
//             lane is one more round. As words of 0 or -1 they are what comparisons make and blends
//             take.
//   requires  the last optimisation has run: it would undo this
// Masks that are phis or made of other masks become words; comparisons stay what they are, and are
// extended where they join them.
#include <stdlib.h>
#include "base/hash_table.h"
#include "compiler/codegen/lower/lower.h"

typedef LLVMValueRef Value;

typedef struct Word {
    HashNode node;
    Value mask, word;
} Word;

typedef struct Words {
    MslContext *cx;
    HashTable table;
    Word *all;          // [n] masks and their words
    size_t n, capacity; // capacity: masks that become words
} Words;

static bool is_mask(LLVMTypeRef t) {
    return msl_is_mask(t) && LLVMGetVectorSize(t) >= 8; // not of a vector of the program
}

static bool becomes_word(Value i) {
    if (!is_mask(LLVMTypeOf(i))) return false;
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMPHI:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMSelect:
    case LLVMFreeze: return true;
    default: return false;
    }
}

static Word *find_word(const Words *w, Value mask) {
    uint64_t hash = hash_bytes(&mask, sizeof mask);
    for (HashNode *n = hash_chain(&w->table, hash); n; n = n->next)
        if (((Word *)(void *)n)->mask == mask) return (Word *)(void *)n;
    return NULL;
}

static void add_word(Words *w, Value mask, Value word) {
    Word *e = &w->all[w->n++];
    *e = (Word){.node.hash = hash_bytes(&mask, sizeof mask), .mask = mask, .word = word};
    if (!hash_add(&w->table, &e->node)) msl_fail(w->cx, "out of memory");
}

static LLVMTypeRef words(const Words *w, Value mask) {
    return LLVMVectorType(msl_int(w->cx, 32), LLVMGetVectorSize(LLVMTypeOf(mask)));
}

static void place_behind(Words *w, Value i) {
    Value next = LLVMGetNextInstruction(i);
    while (LLVMIsAPHINode(next)) next = LLVMGetNextInstruction(next);
    LLVMPositionBuilderBefore(w->cx->builder, next);
}

static Value make_word(Words *w, Value i);

// The words of an operand of `user`.
static Value word_of(Words *w, Value mask, Value user) {
    LLVMBuilderRef b = w->cx->builder;
    LLVMTypeRef t = words(w, mask);
    Word *known = find_word(w, mask);
    if (known) return known->word;
    if (LLVMIsPoison(mask)) return LLVMGetPoison(t);
    if (LLVMIsUndef(mask)) return LLVMGetUndef(t);
    if (!LLVMIsAInstruction(mask)) { // a constant, or a parameter
        LLVMPositionBuilderBefore(b, user);
        return LLVMBuildSExt(b, mask, t, "");
    }
    Value word;
    if (becomes_word(mask)) {
        word = make_word(w, mask);
    } else {
        place_behind(w, mask);
        word = LLVMBuildSExt(b, mask, t, "");
    }
    add_word(w, mask, word);
    return word;
}

static bool is_zero(Value v) { return LLVMIsAConstantAggregateZero(v) != NULL; }

static Value make_word(Words *w, Value i) {
    LLVMBuilderRef b = w->cx->builder;
    Value o[3];
    int n = LLVMGetNumOperands(i);
    for (int k = 0; k < n; k++) {
        Value v = LLVMGetOperand(i, (unsigned)k);
        o[k] = is_mask(LLVMTypeOf(v)) ? word_of(w, v, i) : v;
    }
    LLVMPositionBuilderBefore(b, i);
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMAnd: return LLVMBuildAnd(b, o[0], o[1], "");
    case LLVMOr: return LLVMBuildOr(b, o[0], o[1], "");
    case LLVMXor: return LLVMBuildXor(b, o[0], o[1], "");
    case LLVMFreeze: return LLVMBuildFreeze(b, o[0], "");
    default: break;
    }
    if (!is_mask(LLVMTypeOf(LLVMGetOperand(i, 0)))) return LLVMBuildSelect(b, o[0], o[1], o[2], "");
    // Lanes the condition does not choose may be poison: `and` alone would let it through.
    Value chosen = is_zero(o[1]) ? NULL : LLVMBuildAnd(b, o[0], LLVMBuildFreeze(b, o[1], ""), "");
    Value other = is_zero(o[2]) ? NULL
                                : LLVMBuildAnd(b, LLVMBuildNot(b, o[0], ""),
                                               LLVMBuildFreeze(b, o[2], ""), "");
    if (!chosen) return other ? other : LLVMConstNull(words(w, i));
    return other ? LLVMBuildOr(b, chosen, other, "") : chosen;
}

// ---- uses ----

static Value as_mask(Words *w, Value word) {
    return LLVMBuildICmp(w->cx->builder, LLVMIntSLT, word, LLVMConstNull(LLVMTypeOf(word)), "");
}

static Value reduce_or(Words *w, Value v) {
    LLVMTypeRef t = LLVMTypeOf(v);
    unsigned id = LLVMLookupIntrinsicID("llvm.vector.reduce.or", 21);
    Value f = LLVMGetIntrinsicDeclaration(w->cx->module, id, &t, 1);
    return LLVMBuildCall2(w->cx->builder, LLVMGlobalGetValueType(f), f, &v, 1, "");
}

// Bits that are only compared with none or all: no need to collect them.
static bool ask_signs(Words *w, Value bits, Value word) {
    for (LLVMUseRef u = LLVMGetFirstUse(bits); u; u = LLVMGetNextUse(u)) {
        Value c = LLVMGetUser(u);
        if (!LLVMIsAICmpInst(c) || LLVMGetICmpPredicate(c) > LLVMIntNE) return false;
        Value k = LLVMGetOperand(c, 1);
        if (!LLVMIsAConstantInt(k) || !(LLVMIsNull(k) || k == LLVMConstAllOnes(LLVMTypeOf(k))))
            return false;
    }
    LLVMBuilderRef b = w->cx->builder;
    for (LLVMUseRef u = LLVMGetFirstUse(bits), next; u; u = next) {
        next = LLVMGetNextUse(u);
        Value c = LLVMGetUser(u);
        LLVMPositionBuilderBefore(b, c);
        bool all = !LLVMIsNull(LLVMGetOperand(c, 1));
        Value some = reduce_or(w, all ? LLVMBuildNot(b, word, "") : word);
        Value r = LLVMBuildICmp(b, LLVMGetICmpPredicate(c), some, msl_const(w->cx, 32, 0), "");
        LLVMReplaceAllUsesWith(c, r);
        LLVMInstructionEraseFromParent(c);
        next = LLVMGetFirstUse(bits);
    }
    return true;
}

// The first user that stays.
static Value user_of(Value mask) {
    for (LLVMUseRef u = LLVMGetFirstUse(mask); u; u = LLVMGetNextUse(u))
        if (!becomes_word(LLVMGetUser(u))) return LLVMGetUser(u);
    return NULL;
}

static void replace_uses(Words *w, const Word *e) {
    for (Value user; (user = user_of(e->mask));) {
        if (LLVMGetInstructionOpcode(user) == LLVMBitCast && ask_signs(w, user, e->word)) {
            LLVMInstructionEraseFromParent(user);
            continue;
        }
        LLVMPositionBuilderBefore(w->cx->builder, user);
        Value m = as_mask(w, e->word);
        for (int k = 0; k < LLVMGetNumOperands(user); k++)
            if (LLVMGetOperand(user, (unsigned)k) == e->mask) LLVMSetOperand(user, (unsigned)k, m);
    }
}

// ---- one function ----

static void fill_phi(Words *w, Value phi, Value word) {
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, k);
        Value v = word_of(w, LLVMGetIncomingValue(phi, k), LLVMGetBasicBlockTerminator(from));
        LLVMAddIncoming(word, &v, &from, 1);
    }
}

// Masks that become words, phis first: those that others wait for. The number of phis.
static size_t collect(Words *w, Value f, Value *to) {
    size_t n = 0, phis = 0;
    for (int pass = 0; pass < 2; pass++)
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (Value i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                if (becomes_word(i) && (LLVMIsAPHINode(i) == NULL) == pass) {
                    to[n++] = i;
                    phis += !pass;
                }
    w->capacity = n;
    return phis;
}

static size_t count_masks(Value f) {
    size_t n = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (Value i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            n += is_mask(LLVMTypeOf(i));
    return n;
}

static void convert(Words *w, Value *old, size_t n, size_t phis) {
    for (size_t k = 0; k < phis; k++) {
        LLVMPositionBuilderBefore(w->cx->builder, old[k]);
        add_word(w, old[k], LLVMBuildPhi(w->cx->builder, words(w, old[k]), ""));
    }
    for (size_t k = phis; k < n; k++) word_of(w, old[k], NULL);
    for (size_t k = 0; k < phis; k++) fill_phi(w, old[k], find_word(w, old[k])->word);
    for (size_t k = 0; k < n; k++) replace_uses(w, find_word(w, old[k]));
    for (size_t k = 0; k < n; k++)
        LLVMReplaceAllUsesWith(old[k], LLVMGetPoison(LLVMTypeOf(old[k])));
    for (size_t k = 0; k < n; k++) LLVMInstructionEraseFromParent(old[k]);
}

static void leave(HashNode *node) { (void)node; }

void msl_promote_masks(Cg *cg) {
    if (!cg->cx.avx2 || cg->cx.avx512 || cg->request->tier == TIER_BASELINE) return;
    for (Value f = LLVMGetFirstFunction(cg->cx.module); f; f = LLVMGetNextFunction(f)) {
        size_t all = count_masks(f);
        Words w = {.cx = &cg->cx, .all = calloc(all + 1, sizeof *w.all)};
        Value *old = calloc(all + 1, sizeof *old);
        if (!w.all || !old) msl_fail(&cg->cx, "out of memory");
        size_t phis = collect(&w, f, old);
        if (phis) convert(&w, old, w.capacity, phis);
        hash_clear(&w.table, leave);
        free(w.all);
        free(old);
    }
}
