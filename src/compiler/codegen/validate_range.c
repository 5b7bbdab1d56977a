// SPDX-License-Identifier: Apache-2.0
// validate_range.c: accesses that cannot leave memory of a known length need no check.
//   in    an access, its root with a constant length (threadgroup variables, constants, arrays)
//   out   whether the largest offset it may have is inside
// How large a number may be, as an unsigned one: positions in a threadgroup are below its size, a
// remainder below its divisor, `x` below `y` where a branch on x < y leads, a counter below what
// ends its loop. tile[ty][k], sums[t + s] behind t < s with s halved from n / 2. Only upper ends
// are known: indices that are subtracted from are not.
#include "compiler/codegen/validate_int.h"

enum { MAX_STEPS = 256, MAX_CHAIN = 16, MAX_ASSUMED = 4 };
#define UNKNOWN UINT64_MAX

typedef struct Assumed { // of a phi that is being looked at
    Value phi;
    uint64_t most;
} Assumed;
typedef struct Search {
    const Validation *v;
    int steps; // left
    Assumed assumed[MAX_ASSUMED];
    int n_assumed;
} Search;

static uint64_t most(Search *s, Value x, Block at);

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t largest(uint64_t a, uint64_t b) { return a > b ? a : b; }

static unsigned bits_of(Value x) { return LLVMGetIntTypeWidth(LLVMTypeOf(x)); }
static uint64_t type_max(Value x) { return UINT64_MAX >> (64 - bits_of(x)); }

static bool add_up(uint64_t a, uint64_t b, uint64_t *sum) {
    return a != UNKNOWN && b != UNKNOWN && !__builtin_add_overflow(a, b, sum);
}

static bool multiply(uint64_t a, uint64_t b, uint64_t *product) {
    return a != UNKNOWN && b != UNKNOWN && !__builtin_mul_overflow(a, b, product);
}

// ---- what branches say ----

// The one block that leads to b; NULL: none, or several.
static Block only_predecessor(Block b) {
    Block found = NULL;
    for (LLVMUseRef u = LLVMGetFirstUse(LLVMBasicBlockAsValue(b)); u; u = LLVMGetNextUse(u)) {
        Value end = LLVMGetUser(u);
        if (!LLVMIsATerminatorInst(end)) return NULL;
        if (found && found != LLVMGetInstructionParent(end)) return NULL;
        found = LLVMGetInstructionParent(end);
    }
    return found;
}

// The most that x is where the edge from -> to was taken; `bound` is what is known otherwise.
static uint64_t on_edge(Search *s, Value x, Block from, Block to, uint64_t bound) {
    Value end = LLVMGetBasicBlockTerminator(from);
    if (!LLVMIsABranchInst(end) || !LLVMIsConditional(end)) return bound;
    Value c = LLVMGetCondition(end);
    bool yes = LLVMGetSuccessor(end, 0) == to;
    if (!LLVMIsAICmpInst(c) || LLVMGetSuccessor(end, 0) == LLVMGetSuccessor(end, 1)) return bound;
    LLVMIntPredicate p = LLVMGetICmpPredicate(c);
    Value a = LLVMGetOperand(c, 0), b = LLVMGetOperand(c, 1);
    bool left = a == x, right = b == x;
    if (left == right) return bound;
    Value other = left ? b : a;
    bool below = (p == LLVMIntULT && yes && left) || (p == LLVMIntUGT && yes && right) ||
                 (p == LLVMIntUGE && !yes && left) || (p == LLVMIntULE && !yes && right);
    bool not_above = (p == LLVMIntULE && yes && left) || (p == LLVMIntUGE && yes && right) ||
                     (p == LLVMIntUGT && !yes && left) || (p == LLVMIntULT && !yes && right);
    bool equal = (p == LLVMIntEQ && yes) || (p == LLVMIntNE && !yes);
    bool other_than = (p == LLVMIntNE && yes) || (p == LLVMIntEQ && !yes);
    if (other_than && LLVMIsAConstantInt(other)) {
        uint64_t n = LLVMConstIntGetZExtValue(other);
        return n && bound == n ? n - 1 : bound;
    }
    if (!below && !not_above && !equal) return bound;
    uint64_t n = most(s, other, from);
    if (n == UNKNOWN) return bound;
    return least(bound, below && n ? n - 1 : n);
}

static uint64_t behind_branches(Search *s, Value x, Block at, uint64_t bound) {
    for (int k = 0; k < MAX_CHAIN; k++) {
        Block from = only_predecessor(at);
        if (!from) return bound;
        bound = on_edge(s, x, from, at, bound);
        at = from;
    }
    return bound;
}

// ---- numbers ----

static uint64_t most_of_phi(Search *s, Value phi, uint64_t assumed) {
    uint64_t bound = 0;
    s->assumed[s->n_assumed++] = (Assumed){phi, assumed};
    for (unsigned k = 0; k < LLVMCountIncoming(phi) && bound != UNKNOWN; k++) {
        Value in = LLVMGetIncomingValue(phi, k);
        Block from = LLVMGetIncomingBlock(phi, k);
        uint64_t n = most(s, in, from);
        n = on_edge(s, in, from, LLVMGetInstructionParent(phi), n);
        bound = largest(bound, n);
    }
    s->n_assumed--;
    return bound;
}

// By induction: a number that is not exceeded by what comes in if the phi does not exceed it. Tried
// are what comes in at first, and what ends the loop.
static uint64_t most_phi(Search *s, Value phi) {
    for (int k = 0; k < s->n_assumed; k++)
        if (s->assumed[k].phi == phi) return s->assumed[k].most;
    if (s->n_assumed == MAX_ASSUMED) return UNKNOWN;
    uint64_t first = most_of_phi(s, phi, 0);
    if (first == UNKNOWN || most_of_phi(s, phi, first) <= first) return first;
    Block header = LLVMGetInstructionParent(phi);
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        Value end = LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(phi, k));
        if (!LLVMIsABranchInst(end) || !LLVMIsConditional(end) ||
            !LLVMIsAICmpInst(LLVMGetCondition(end)))
            continue;
        for (unsigned o = 0; o < 2; o++) {
            Value other = LLVMGetOperand(LLVMGetCondition(end), o);
            if (other == LLVMGetIncomingValue(phi, k) || LLVMTypeOf(other) != LLVMTypeOf(phi))
                continue;
            uint64_t n = most(s, other, header);
            if (n && n != UNKNOWN && most_of_phi(s, phi, n - 1) <= n - 1) return n - 1;
        }
    }
    return UNKNOWN;
}

static uint64_t most_position(const Search *s, Value call) {
    uint64_t n = msl_positions(s->v->cg, call);
    return n ? n - 1 : UNKNOWN;
}

static uint64_t most_call(Search *s, Value i, Block at) {
    const char *name = msl_callee(i);
    if (msl_starts(name, "__ingot_position")) return most_position(s, i);
    bool min = msl_starts(name, "llvm.umin."), smin = msl_starts(name, "llvm.smin."),
         max = msl_starts(name, "llvm.umax."), smax = msl_starts(name, "llvm.smax.");
    if (!min && !smin && !max && !smax) return UNKNOWN;
    uint64_t a = most(s, LLVMGetOperand(i, 0), at), b = most(s, LLVMGetOperand(i, 1), at),
             top = type_max(i) / 2; // of a number that is not negative
    if (min) return least(a, b);
    if (max) return largest(a, b);
    // max(x, 0) is not negative, whatever x is.
    if (smax) return a <= top || b <= top ? least(largest(a, b), top) : UNKNOWN;
    return a <= top && b <= top ? least(a, b) : UNKNOWN;
}

static uint64_t most_instruction(Search *s, Value i, Block at) {
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    if (op == LLVMPHI) return most_phi(s, i);
    if (op == LLVMCall) return most_call(s, i, at);
    if (op == LLVMSelect)
        return largest(most(s, LLVMGetOperand(i, 1), at), most(s, LLVMGetOperand(i, 2), at));
    if (op == LLVMZExt || op == LLVMSExt || op == LLVMTrunc) {
        Value from = LLVMGetOperand(i, 0);
        uint64_t n = most(s, from, at);
        return op == LLVMSExt && n > type_max(from) / 2 ? UNKNOWN : n;
    }
    if (!LLVMIsABinaryOperator(i)) return UNKNOWN;
    Value right = LLVMGetOperand(i, 1);
    bool fixed = LLVMIsAConstantInt(right);
    uint64_t b = most(s, right, at), n = UNKNOWN,
             a = op == LLVMURem && fixed ? UNKNOWN : most(s, LLVMGetOperand(i, 0), at);
    switch (op) {
    case LLVMAdd: return add_up(a, b, &n) ? n : UNKNOWN;
    case LLVMMul: return multiply(a, b, &n) ? n : UNKNOWN;
    case LLVMShl: return fixed && b < 32 && multiply(a, 1ull << b, &n) ? n : UNKNOWN;
    case LLVMLShr: return fixed && b < 64 && a != UNKNOWN ? a >> b : a;
    case LLVMUDiv: return fixed && b && a != UNKNOWN ? a / b : a;
    case LLVMURem: return b && b != UNKNOWN ? least(a, b - 1) : a;
    case LLVMAnd: return least(a, b);
    case LLVMOr:
    case LLVMXor: // no bit above the highest of both
        n = largest(a, b);
        return n == UNKNOWN || !n ? n : UINT64_MAX >> __builtin_clzll(n);
    default: return UNKNOWN;
    }
}

// The largest value that x may have at the end of block `at`, as an unsigned number.
static uint64_t most(Search *s, Value x, Block at) {
    if (LLVMGetTypeKind(LLVMTypeOf(x)) != LLVMIntegerTypeKind || bits_of(x) > 64 || s->steps-- <= 0)
        return UNKNOWN;
    if (LLVMIsAConstantInt(x)) return LLVMConstIntGetZExtValue(x);
    uint64_t n = LLVMIsAInstruction(x) ? most_instruction(s, x, at) : UNKNOWN;
    return behind_branches(s, x, at, least(n, type_max(x))); // more has wrapped, and may be any
}

bool msl_stays_inside(Validation *v, const Access *a) {
    LLVMTargetDataRef layout = v->cg->cx.layout;
    Search s = {.v = v, .steps = MAX_STEPS};
    const Root *r = a->roots[0];
    uint64_t end = a->bytes;
    if (a->n_roots != 1 || !a->bytes || !LLVMIsAConstantInt(r->length)) return false;
    Value p = LLVMGetOperand(a->i, (unsigned)a->operand);
    Block at = LLVMGetInstructionParent(a->i);
    for (; p != r->start; p = LLVMGetOperand(p, 0)) {
        if (!LLVMIsAGetElementPtrInst(p)) return false;
        Type t = LLVMGetGEPSourceElementType(p);
        for (int k = 1; k < LLVMGetNumOperands(p); k++) {
            Value ix = LLVMGetOperand(p, (unsigned)k);
            uint64_t n;
            if (k > 1 && LLVMGetTypeKind(t) == LLVMStructTypeKind) {
                unsigned field = (unsigned)LLVMConstIntGetZExtValue(ix);
                n = LLVMOffsetOfElement(layout, t, field);
                t = LLVMStructGetTypeAtIndex(t, field);
            } else {
                if (k > 1) t = LLVMGetElementType(t);
                uint64_t index = most(&s, ix, at);
                // Indices are signed.
                if (index > type_max(ix) / 2 || !multiply(index, LLVMABISizeOfType(layout, t), &n))
                    return false;
            }
            if (!add_up(end, n, &end)) return false;
        }
    }
    return end <= LLVMConstIntGetZExtValue(r->length);
}
