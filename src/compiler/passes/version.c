// SPDX-License-Identifier: Apache-2.0
// version.c: clamped indices. clamp(x + dx, 0, w - 1) is not linear, so an image filter would
// gather everything. Yet only SIMD-groups at the border are touched by it: the function gets a fast
// copy in which such a clamp counts as its linear operand, a slow one without the assumption, and
// one check at the entry that no lane is clamped. (One check for each load instead is nearly twice
// as slow.) A clamp qualifies if it can be computed at the entry from parameters, positions and
// what `constant` parameters point to (the size of an image is such a load), and the counter of a
// loop around it whose ends can be (-radius and radius): what goes up or down with the counter
// touches no bound if it does not in the first and in the last round. Reference: analysis and guard
// must agree; both ask msl_assumed_clamp.
#include "compiler/passes/passes_int.h"

static unsigned enum_attribute(const char *name) {
    return LLVMGetEnumAttributeKindForName(name, strlen(name));
}

// The offset of a load from a `constant` parameter, which nothing writes while the kernel runs, if
// it may be made at the entry: it lies inside what the parameter is known to point to, or is made
// in the first block anyway. -1: no such load.
static int64_t invariant_load(Vec *x, Value v, Value *parameter) {
    if (LLVMGetInstructionOpcode(v) != LLVMLoad || LLVMGetVolatile(v) ||
        LLVMGetOrdering(v) != LLVMAtomicOrderingNotAtomic)
        return -1;
    int64_t offset = 0;
    Value p = operand(v, 0);
    while (LLVMIsAGetElementPtrInst(p)) {
        int64_t k;
        if (LLVMGetNumOperands(p) != 2 || !get_const(operand(p, 1), &k)) return -1;
        offset += k * (int64_t)LLVMABISizeOfType(x->cx->layout, LLVMGetGEPSourceElementType(p));
        p = operand(p, 0);
    }
    if (offset < 0 || !LLVMIsAArgument(p)) return -1;
    unsigned ix = 0;
    while (LLVMGetParam(x->thread, ix) != p) ix++;
    if (!LLVMGetEnumAttributeAtIndex(x->thread, ix + 1, enum_attribute("noalias")) ||
        !LLVMGetEnumAttributeAtIndex(x->thread, ix + 1, enum_attribute("readonly")))
        return -1;
    LLVMAttributeRef known =
        LLVMGetEnumAttributeAtIndex(x->thread, ix + 1, enum_attribute("dereferenceable"));
    int64_t bytes = known ? (int64_t)LLVMGetEnumAttributeValue(known) : 0;
    bool inside = offset + (int64_t)LLVMABISizeOfType(x->cx->layout, LLVMTypeOf(v)) <= bytes;
    if (!inside && LLVMGetInstructionParent(v) != LLVMGetEntryBasicBlock(x->thread)) return -1;
    *parameter = p;
    return offset;
}

// A pure function of parameters, constants, positions and invariant loads.
static bool at_entry(Vec *x, Value v) {
    if (!LLVMIsAInstruction(v)) return !is_pointer(LLVMTypeOf(v));
    int known = msl_map_get(&x->entry_ok, v);
    if (known >= 0) return known;
    msl_map_put(x->cx, &x->arena, &x->entry_ok, v, 0); // a cycle is not at the entry
    int n = LLVMGetNumOperands(v);
    bool ok = is_integer(LLVMTypeOf(v)) && int_bits(LLVMTypeOf(v)) <= 64;
    Value parameter;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMLoad:
        ok = ok && invariant_load(x, v, &parameter) >= 0;
        n = 0;
        break;
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMTrunc:
    case LLVMICmp:
    case LLVMSelect:
    case LLVMFreeze: break;
    case LLVMSExt:
    case LLVMZExt: // of an inactive first lane that wrapped: not on the line of the others
        ok = ok &&
             (int_bits(LLVMTypeOf(operand(v, 0))) >= 32 || !msl_class(x, operand(v, 0)).stride);
        break;
    case LLVMCall:
        if (msl_builtin_of(v).op == OP_POSITION)
            n = 0;
        else if (is_min_max(v))
            n = 2;
        else
            ok = false;
        break;
    default: ok = false;
    }
    for (int o = 0; ok && o < n; o++) ok = at_entry(x, operand(v, o));
    msl_map_put(x->cx, &x->arena, &x->entry_ok, v, ok);
    return ok;
}

// ---- counters of loops ----

typedef struct Counter {
    Value phi, first, bound; // the last two can be computed at the entry
    int64_t step;
    LLVMIntPredicate on; // another round comes if it holds of what is tested and the bound
    bool tests_next;     // tested is the number of the next round, not of this one
} Counter;

static LLVMIntPredicate swapped(LLVMIntPredicate p) {
    static const LLVMIntPredicate to[] = {LLVMIntEQ,  LLVMIntNE,  LLVMIntULT, LLVMIntULE,
                                          LLVMIntUGT, LLVMIntUGE, LLVMIntSLT, LLVMIntSLE,
                                          LLVMIntSGT, LLVMIntSGE};
    return to[p - LLVMIntEQ];
}

// Whether every round of the loop ends at the end of this block unless a counter is below a bound.
static bool find_test(Vec *x, Counter *c, Value next, int loop, int block) {
    Value branch = LLVMGetBasicBlockTerminator(x->blocks[block].old);
    if (!LLVMIsABranchInst(branch) || !LLVMIsConditional(branch)) return false;
    bool stays[2];
    for (unsigned k = 0; k < 2; k++)
        stays[k] = msl_in_loop(x, loop, msl_block_ix(x, LLVMGetSuccessor(branch, k)));
    Value test = LLVMGetCondition(branch);
    if (stays[0] == stays[1] || !LLVMIsAICmpInst(test)) return false;
    int side = operand(test, 0) == next || operand(test, 0) == c->phi ? 0 : 1;
    Value tested = operand(test, side);
    if (tested != next && tested != c->phi) return false;
    LLVMIntPredicate p = LLVMGetICmpPredicate(test);
    if (side == 1) p = swapped(p);
    c->on = stays[0] ? p : opposite(p);
    c->tests_next = tested == next;
    c->bound = operand(test, 1 - side);
    int64_t first, bound;
    bool meets = c->on == LLVMIntNE && // and does not step over it
                 (c->step == 1 || (get_const(c->first, &first) && get_const(c->bound, &bound) &&
                                   (bound - first) % c->step == 0));
    return (meets || c->on == LLVMIntULT || c->on == LLVMIntULE || c->on == LLVMIntSLT ||
            c->on == LLVMIntSLE) &&
           at_entry(x, c->bound);
}

static bool find_counter(Vec *x, Value phi, Counter *c) {
    enum { MOST = 1 << 16 };
    Type t = LLVMTypeOf(phi);
    int header = msl_block_ix(x, LLVMGetInstructionParent(phi)), loop = x->blocks[header].header;
    if (loop < 0 || !is_integer(t) || (int_bits(t) != 32 && int_bits(t) != 64) ||
        LLVMCountIncoming(phi) != 2)
        return false;
    int latch = x->loops[loop].latch;
    unsigned back = LLVMGetIncomingBlock(phi, 0) == x->blocks[latch].old ? 0 : 1;
    Value next = LLVMGetIncomingValue(phi, back);
    *c = (Counter){.phi = phi, .first = LLVMGetIncomingValue(phi, 1 - back)};
    if (LLVMGetIncomingBlock(phi, back) != x->blocks[latch].old || !LLVMIsAInstruction(next) ||
        LLVMGetInstructionOpcode(next) != LLVMAdd || operand(next, 0) != phi ||
        !get_const(operand(next, 1), &c->step) || c->step <= 0 || c->step > MOST ||
        !at_entry(x, c->first))
        return false;
    return find_test(x, c, next, loop, latch) || find_test(x, c, next, loop, header);
}

// The counter with which v goes up by one, or down: *sign. False: v is not such a number.
static bool find_counted(Vec *x, Value v, Counter *c, int *sign) {
    if (!LLVMIsAInstruction(v)) return false;
    int clamp;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMPHI: *sign = 1; return find_counter(x, v, c);
    case LLVMAdd:
        if (at_entry(x, operand(v, 1))) return find_counted(x, operand(v, 0), c, sign);
        return at_entry(x, operand(v, 0)) && find_counted(x, operand(v, 1), c, sign);
    case LLVMSub:
        if (at_entry(x, operand(v, 1))) return find_counted(x, operand(v, 0), c, sign);
        if (!at_entry(x, operand(v, 0)) || !find_counted(x, operand(v, 1), c, sign)) return false;
        *sign = -*sign;
        return true;
    case LLVMTrunc: return find_counted(x, operand(v, 0), c, sign);
    case LLVMCall:
        clamp = is_min_max(v) ? msl_assumed_clamp(x, v) : 0;
        return clamp && find_counted(x, operand(v, clamp - 1), c, sign);
    default: return false;
    }
}

static bool narrow_int(Type t) { return is_integer(t) && int_bits(t) >= 8 && int_bits(t) <= 32; }

// Uniform, or uniform in each segment.
static bool flat_in_segment(Vec *x, Value v) {
    Class c = msl_class(x, v);
    return c.kind == LINEAR && c.stride == 0;
}

int msl_assumed_clamp(Vec *x, Value i) {
    if (!x->assume || !narrow_int(LLVMTypeOf(i))) return 0;
    if (LLVMIsASelectInst(i)) {
        Value c = operand(i, 0);
        if (!LLVMIsAICmpInst(c) || LLVMGetICmpPredicate(c) == LLVMIntEQ ||
            LLVMGetICmpPredicate(c) == LLVMIntNE || msl_uniform(x, c) ||
            !narrow_int(LLVMTypeOf(operand(c, 0))))
            return 0;
        Class a = msl_class(x, operand(c, 0)), z = msl_class(x, operand(c, 1));
        if (a.kind != LINEAR || z.kind != LINEAR || a.stride < 0 || z.stride < 0 ||
            (a.stride != 0) == (z.stride != 0))
            return 0;
        for (int k = 1; k < 3; k++) {
            Class l = msl_class(x, operand(i, k));
            if (l.kind == LINEAR && l.stride > 0 && flat_in_segment(x, operand(i, 3 - k)))
                return at_entry(x, i) ? k + 1 : 0;
        }
        return 0;
    }
    if (!LLVMIsACallInst(i) || !is_min_max(i)) return 0;
    for (int k = 0; k < 2; k++) {
        Class c = msl_class(x, operand(i, k));
        if (c.kind != LINEAR || c.stride <= 0 || !flat_in_segment(x, operand(i, 1 - k))) continue;
        Counter counter;
        int sign;
        bool known = at_entry(x, i) || (at_entry(x, operand(i, 1 - k)) &&
                                        find_counted(x, operand(i, k), &counter, &sign));
        return known ? k + 1 : 0;
    }
    return 0;
}

bool msl_has_clamps(Vec *x) {
    for (int i = 0; i < x->n_vals; i++)
        if (LLVMIsAInstruction(x->vals[i].old) && msl_assumed_clamp(x, x->vals[i].old)) return true;
    return false;
}

// ---- the guard ----

typedef struct Slice { // values of one segment's first lane at the entry
    Map ix;
    Value *v;
    int n;
    unsigned segment;
    bool last; // counters of loops are what they are in the last round, not in the first
} Slice;

static Value slice(Vec *x, Slice *s, Value v);

static Value both(Vec *x, Value a, Value b) { return a ? LLVMBuildAnd(x->b, a, b, "") : b; }

static Value widened(Vec *x, Value v, bool is_signed) {
    return LLVMBuildIntCast2(x->b, v, x->i64, is_signed, "");
}

// The number of the last round, or one that is not reached; *ok: it is one, some rounds behind the
// first, and no round has wrapped.
static Value last_of(Vec *x, Slice *s, const Counter *c, Value *ok) {
    const int64_t far = 1ll << 40, many = 1ll << 31;
    Type t = LLVMTypeOf(c->phi);
    Value first = slice(x, s, c->first), bound = slice(x, s, c->bound), rounds;
    if (c->on == LLVMIntNE) {
        int64_t short_of = c->tests_next ? c->step : 0;
        rounds = LLVMBuildSub(x->b, bound, const_int(t, short_of), "");
        rounds = widened(x, LLVMBuildSub(x->b, rounds, first, ""), false);
    } else {
        bool is_signed = c->on >= LLVMIntSGT, is_less = c->on == LLVMIntULT || c->on == LLVMIntSLT;
        unsigned bits = int_bits(t);
        int64_t most = bits == 64 ? far : is_signed ? INT32_MAX : UINT32_MAX;
        Value from = widened(x, first, is_signed);
        Value to = LLVMBuildAdd(x->b, widened(x, bound, is_signed),
                                const_int(x->i64, (c->tests_next ? 0 : c->step) - is_less), "");
        *ok = both(x, *ok,
                   LLVMBuildICmp(x->b, LLVMIntSLE, to, const_int(x->i64, most - c->step), ""));
        if (bits == 64) {
            *ok = both(x, *ok, LLVMBuildICmp(x->b, LLVMIntSGE, to, const_int(x->i64, -far), ""));
            *ok = both(x, *ok, LLVMBuildICmp(x->b, LLVMIntSGE, from, const_int(x->i64, -far), ""));
            *ok = both(x, *ok, LLVMBuildICmp(x->b, LLVMIntSLE, from, const_int(x->i64, far), ""));
        }
        rounds = LLVMBuildSub(x->b, to, from, "");
        Value args[] = {rounds, const_int(x->i64, 0)};
        rounds = msl_intrinsic(x, "llvm.smax", &x->i64, 1, args, 2);
    }
    *ok = both(x, *ok, LLVMBuildICmp(x->b, LLVMIntULT, rounds, const_int(x->i64, many), ""));
    return LLVMBuildAdd(x->b, first, LLVMBuildIntCast2(x->b, rounds, t, 0, ""), "");
}

static Value slice(Vec *x, Slice *s, Value v) {
    if (!LLVMIsAInstruction(v)) return msl_scalar(x, v);
    int known = msl_map_get(&s->ix, v);
    if (known >= 0) return s->v[known];
    Value r, ops[3];
    int clamp = msl_assumed_clamp(x, v), n = LLVMIsACallInst(v) ? 2 : LLVMGetNumOperands(v);
    if (!clamp) clamp = msl_kept_operand(x, v); // as emission does: the first lane may be inactive
    Counter counter;
    if (clamp) {
        r = slice(x, s, operand(v, clamp - 1));
    } else if (LLVMIsAPHINode(v) && find_counter(x, v, &counter)) {
        Value ok = NULL; // check_rounds asks
        r = s->last ? last_of(x, s, &counter, &ok) : slice(x, s, counter.first);
    } else if (msl_builtin_of(v).op == OP_POSITION) {
        r = msl_position_base(x, v, s->segment);
    } else if (LLVMIsALoadInst(v)) {
        Value parameter, offset = const_int(x->i64, invariant_load(x, v, &parameter));
        r = LLVMBuildLoad2(x->b, LLVMTypeOf(v),
                           LLVMBuildGEP2(x->b, x->i8, msl_scalar(x, parameter), &offset, 1, ""),
                           "");
        LLVMSetAlignment(r, LLVMGetAlignment(v));
    } else {
        for (int o = 0; o < n; o++) ops[o] = slice(x, s, operand(v, o));
        Type t = LLVMTypeOf(v);
        LLVMOpcode op = LLVMGetInstructionOpcode(v);
        if (LLVMIsACallInst(v)) {
            char name[16] = {0};
            strncpy(name, callee_of(v), 9); // "llvm.smin"
            r = msl_intrinsic(x, name, &t, 1, ops, 2);
        } else if (op == LLVMSelect)
            r = LLVMBuildSelect(x->b, ops[0], ops[1], ops[2], "");
        else if (op == LLVMICmp)
            r = LLVMBuildICmp(x->b, LLVMGetICmpPredicate(v), ops[0], ops[1], "");
        else if (op == LLVMFreeze)
            r = LLVMBuildFreeze(x->b, ops[0], "");
        else if (n == 1)
            r = LLVMBuildCast(x->b, op, ops[0], t, "");
        else
            r = LLVMBuildBinOp(x->b, op, ops[0], ops[1], "");
    }
    msl_map_put(x->cx, &x->arena, &s->ix, v, s->n);
    s->v[s->n++] = r;
    return r;
}

static Value greatest(Vec *x, unsigned bits, bool is_signed) {
    return const_int(x->i64, is_signed ? (1ll << (bits - 1)) - 1 : (1ll << bits) - 1);
}

// The comparison must choose the linear side in the first and in the last lane of the segment.
static Value check_select(Vec *x, Slice *s, Value i, int side, Value ok) {
    Value c = operand(i, 0), at[2], top = NULL;
    LLVMIntPredicate p = LLVMGetICmpPredicate(c);
    bool is_signed = p >= LLVMIntSGT;
    for (int k = 0; k < 2; k++)
        at[k] = LLVMBuildCast(x->b, is_signed ? LLVMSExt : LLVMZExt, slice(x, s, operand(c, k)),
                              x->i64, "");
    for (unsigned end = 0; end < 2; end++) {
        Value v[2];
        for (int k = 0; k < 2; k++) {
            int64_t ahead =
                end ? (int64_t)(x->segment - 1) * msl_class(x, operand(c, k)).stride : 0;
            v[k] = LLVMBuildAdd(x->b, at[k], const_int(x->i64, ahead), "");
        }
        Value chosen =
            LLVMBuildICmp(x->b, is_signed ? p : p - LLVMIntUGT + LLVMIntSGT, v[0], v[1], "");
        if (side == 3) chosen = LLVMBuildNot(x->b, chosen, "");
        top = v[msl_class(x, operand(c, 1)).stride ? 1 : 0];
        ok = both(x, ok, chosen);
    }
    Value limit = greatest(x, int_bits(LLVMTypeOf(operand(c, 0))), is_signed);
    return both(x, ok, LLVMBuildICmp(x->b, LLVMIntSLE, top, limit, ""));
}

static Value check_min_max(Vec *x, Slice *s, Value i, int side, Value ok) {
    const char *n = callee_of(i);
    bool is_signed = n[5] == 's';
    LLVMOpcode extend = is_signed ? LLVMSExt : LLVMZExt;
    Value low = LLVMBuildCast(x->b, extend, slice(x, s, operand(i, side - 1)), x->i64, "");
    Value bound = LLVMBuildCast(x->b, extend, slice(x, s, operand(i, 2 - side)), x->i64, "");
    int64_t ahead = (int64_t)(x->segment - 1) * msl_class(x, operand(i, side - 1)).stride;
    Value high = LLVMBuildAdd(x->b, low, const_int(x->i64, ahead), "");
    Value c = starts_with(n + 6, "min") ? LLVMBuildICmp(x->b, LLVMIntSLE, high, bound, "")
                                        : LLVMBuildICmp(x->b, LLVMIntSGE, low, bound, "");
    Value limit = greatest(x, int_bits(LLVMTypeOf(i)), is_signed);
    return both(x, both(x, ok, c), LLVMBuildICmp(x->b, LLVMIntSLE, high, limit, ""));
}

// A clamp whose line goes with a counter: the line has not wrapped between the first round and the
// last, where it is asked too.
static Value check_rounds(Vec *x, Slice s[2], Value i, int side, Value ok) {
    Counter counter;
    int sign;
    if (LLVMIsASelectInst(i) || at_entry(x, i) ||
        !find_counted(x, operand(i, side - 1), &counter, &sign))
        return ok;
    bool is_signed = callee_of(i)[5] == 's';
    Value at[2];
    for (int k = 0; k < 2; k++) at[k] = slice(x, &s[k], operand(i, side - 1));
    ok = both(x, ok,
              LLVMBuildICmp(x->b, is_signed ? LLVMIntSLE : LLVMIntULE, at[sign > 0 ? 0 : 1],
                            at[sign > 0 ? 1 : 0], ""));
    last_of(x, &s[1], &counter, &ok);
    return check_min_max(x, &s[1], i, side, ok);
}

Value msl_build_guard(Vec *x) {
    Value ok = NULL;
    for (unsigned g = 0; g < x->n_segments; g++) {
        Slice s[2];
        for (int k = 0; k < 2; k++)
            s[k] = (Slice){
                .segment = g, .last = k == 1, .v = vec_alloc(x, (size_t)x->n_vals, sizeof(Value))};
        for (int i = 0; i < x->n_vals; i++) {
            Value v = x->vals[i].old;
            int side = LLVMIsAInstruction(v) ? msl_assumed_clamp(x, v) : 0;
            if (!side) continue;
            ok = LLVMIsASelectInst(v) ? check_select(x, s, v, side, ok)
                                      : check_min_max(x, s, v, side, ok);
            ok = check_rounds(x, s, v, side, ok);
        }
    }
    return LLVMBuildFreeze(x->b, ok,
                           ""); // a shift behind a test of its amount may be poison up here
}
