// SPDX-License-Identifier: Apache-2.0
// version.c: clamped indices. clamp(x + dx, 0, w - 1) is not linear, so an image filter would
// gather everything. Yet only SIMD-groups at the border are touched by it: the function gets a fast
// copy in which such a clamp counts as its linear operand, a slow one without the assumption, and
// one check at the entry that no lane is clamped. (One check for each load instead is nearly twice
// as slow.) A clamp qualifies if it can be computed at the entry from parameters, positions and
// what `constant` parameters point to (the size of an image is such a load). Reference: analysis
// and guard must agree; both ask msl_assumed_clamp.
#include "compiler/passes/passes_int.h"

static bool is_min_max(const char *n) {
    return starts_with(n, "llvm.smin") || starts_with(n, "llvm.smax") ||
           starts_with(n, "llvm.umin") || starts_with(n, "llvm.umax");
}

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
        else if (is_min_max(callee_of(v)))
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
    if (!LLVMIsACallInst(i) || !is_min_max(callee_of(i))) return 0;
    for (int k = 0; k < 2; k++) {
        Class c = msl_class(x, operand(i, k));
        if (c.kind == LINEAR && c.stride > 0 && flat_in_segment(x, operand(i, 1 - k)))
            return at_entry(x, i) ? k + 1 : 0;
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
} Slice;

static Value slice(Vec *x, Slice *s, Value v) {
    if (!LLVMIsAInstruction(v)) return msl_scalar(x, v);
    int known = msl_map_get(&s->ix, v);
    if (known >= 0) return s->v[known];
    Value r, ops[3];
    int clamp = msl_assumed_clamp(x, v), n = LLVMIsACallInst(v) ? 2 : LLVMGetNumOperands(v);
    if (!clamp) clamp = msl_kept_operand(x, v); // as emission does: the first lane may be inactive
    if (clamp) {
        r = slice(x, s, operand(v, clamp - 1));
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

static Value both(Vec *x, Value a, Value b) { return a ? LLVMBuildAnd(x->b, a, b, "") : b; }

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

Value msl_build_guard(Vec *x) {
    Value ok = NULL;
    for (unsigned g = 0; g < x->n_segments; g++) {
        Slice s = {.segment = g, .v = vec_alloc(x, (size_t)x->n_vals, sizeof(Value))};
        for (int i = 0; i < x->n_vals; i++) {
            Value v = x->vals[i].old;
            int side = LLVMIsAInstruction(v) ? msl_assumed_clamp(x, v) : 0;
            if (!side) continue;
            ok = LLVMIsASelectInst(v) ? check_select(x, &s, v, side, ok)
                                      : check_min_max(x, &s, v, side, ok);
        }
    }
    return LLVMBuildFreeze(x->b, ok,
                           ""); // a shift behind a test of its amount may be poison up here
}
