// SPDX-License-Identifier: Apache-2.0
// divergence.c: divergence analysis: which values are uniform, linear in the lane (affine, constant
// stride), or varying; which branches diverge.
// Requires: cfg.c, private.c, position.c's plan. Changes nothing but Val.c, Blk.divergent,
// Blk.mask_id and Loop.divergent. A forward data-flow analysis to a fixed point from optimistic
// TOP; classes only descend: TOP, linear, linear in segments or shaped, varying. Three kinds of
// divergence:
//   data       an operand differs between lanes
//   control    a phi joins paths that different lanes took (their masks differ)
//   temporal   a value leaves a loop that lanes leave in different iterations
// structurizecfg fills its phis with poison: a divergent join with one defined value keeps the
// class of that value, otherwise every induction variable would become varying.
#include "compiler/passes/passes_int.h"

static const Class uniform_class = {LINEAR, .nsw = true, .nuw = true, .max = UINT64_MAX,
                                    .bits = UINT64_MAX};
static const Class varying_class = {VARYING, .max = UINT64_MAX};

Class msl_linear(int64_t stride, bool nsw, bool nuw) {
    return (Class){LINEAR,           .nsw = nsw || !stride, .nuw = nuw || !stride,
                   .stride = stride, .max = UINT64_MAX,     .bits = UINT64_MAX};
}

Val *msl_val(const Vec *x, Value v) {
    int i = msl_map_get(&x->val_ix, v);
    return i < 0 ? NULL : &x->vals[i];
}

Class msl_class(const Vec *x, Value v) {
    Val *k = msl_val(x, v);
    if (k) return k->c;
    Class c = uniform_class;
    if (LLVMIsAConstantInt(v) && int_bits(LLVMTypeOf(v)) <= 64) {
        c.max = c.bits = LLVMConstIntGetZExtValue(v);
        c.sure = true;
    }
    return c;
}

bool msl_uniform(const Vec *x, Value v) {
    Class c = msl_class(x, v);
    return c.kind == LINEAR && c.stride == 0 && !c.segmented;
}

static bool flat_class(Class c) {
    return c.kind == LINEAR && c.stride == 0;
} // uniform in a segment

static bool has_base(Class c) { return c.kind == LINEAR || c.kind == SHAPED; }

static uint64_t greater(uint64_t a, uint64_t b) { return a > b ? a : b; }

// Distance of the bases of neighbouring segments, if it is known.
static bool row_of(const Vec *x, Class c, int64_t *row) {
    *row = c.segmented ? c.row : c.stride * (int64_t)x->segment;
    return !c.segmented || c.rows;
}

// Gives r, a value made from a and c, the shape of its segments; `row` if both rows are known.
static void set_segments(const Vec *x, Class *r, Class a, Class c,
                         int64_t (*combine)(int64_t, int64_t)) {
    int64_t p, q;
    r->segmented = a.segmented || c.segmented;
    r->rows = false;
    r->row = 0;
    if (!r->segmented || !row_of(x, a, &p) || !row_of(x, c, &q) || !combine) return;
    r->rows = true;
    r->row = combine(p, q);
}
static int64_t sum(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static int64_t difference(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }
static int64_t first_of(int64_t a, int64_t b) {
    (void)b;
    return a;
}

static Class join(const Vec *x, Class a, Class b) {
    if (a.kind == TOP) return b;
    if (b.kind == TOP) return a;
    Class r = varying_class;
    if (a.kind == LINEAR && b.kind == LINEAR && a.stride == b.stride) {
        int64_t p, q;
        r = (Class){LINEAR, .nsw = a.nsw && b.nsw, .nuw = a.nuw && b.nuw, .stride = a.stride,
                    .sure = a.sure && b.sure};
        set_segments(x, &r, a, b, row_of(x, a, &p) && row_of(x, b, &q) && p == q ? first_of : NULL);
    }
    if (a.kind == SHAPED && b.kind == SHAPED && a.shape == b.shape)
        r = (Class){SHAPED, .nsw = a.nsw && b.nsw, .nuw = a.nuw && b.nuw, .sure = a.sure && b.sure,
                    .shape = a.shape};
    r.max = greater(a.max, b.max);
    r.bits = a.bits | b.bits;
    return r;
}

static bool same(Class a, Class b) {
    return a.kind == b.kind && a.segmented == b.segmented && a.nsw == b.nsw && a.nuw == b.nuw &&
           a.stride == b.stride && a.max == b.max && a.sure == b.sure && a.rows == b.rows &&
           a.row == b.row && a.shape == b.shape && a.bits == b.bits;
}

static uint64_t type_max(Type t) {
    if (!is_integer(t) || int_bits(t) > 64) return UINT64_MAX;
    return int_bits(t) == 64 ? UINT64_MAX : (1ull << int_bits(t)) - 1;
}

// Finishes a linear class of type t: a value below the sign bit is the same signed and unsigned.
static Class settle(Class c, Type t) {
    uint64_t top = type_max(t);
    if (c.max > top) c.max = top;
    if (c.max > (1u << 30)) c.sure = false; // wide of any wrap
    if (has_base(c) && !flat_class(c) && top != UINT64_MAX && c.max <= top / 2)
        c.nsw = c.nuw = c.nsw || c.nuw;
    return c;
}

// ---- arithmetic ----

static uint64_t add_max(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }
static uint64_t mul_max(uint64_t a, uint64_t b) {
    return a == UINT64_MAX || b == UINT64_MAX || (b && a > UINT64_MAX / b) ? UINT64_MAX : a * b;
}

// The class of a sum, difference, product: stride and the promises that survive. `exact`: greatest
// value the operation can reach without wrapping; UINT64_MAX if unknown.
static Class arithmetic(const Vec *x, Value i, Class a, Class c, int64_t stride, uint64_t exact) {
    uint64_t top = type_max(LLVMTypeOf(i));
    bool fits = exact != UINT64_MAX && exact <= top,
         fits_signed = exact != UINT64_MAX && exact <= top / 2;
    bool nsw = false, nuw = false;
    if (LLVMGetInstructionOpcode(i) != LLVMOr) {
        nsw = LLVMGetNSW(i);
        // LLVM hoists `i - k` with the nuw it found behind `i >= k`: the first active lane may then
        // be one that wraps and is thrown away by a select. (Above, all lanes behind it wrap as
        // well.)
        nuw = LLVMGetNUW(i) && LLVMGetInstructionOpcode(i) != LLVMSub;
    } else {
        nsw = nuw = true; // disjoint: no carries at all
    }
    Class r =
        msl_linear(stride, (nsw || fits_signed) && a.nsw && c.nsw, (nuw || fits) && a.nuw && c.nuw);
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    set_segments(x, &r, a, c,
                 op == LLVMAdd || op == LLVMOr ? sum
                 : op == LLVMSub               ? difference
                                               : NULL);
    r.sure = a.sure && c.sure && fits_signed;
    r.max = fits ? exact : nuw && exact != UINT64_MAX ? top : UINT64_MAX;
    return r;
}

// Without segments, as far as the promises hold for all lanes.
static Class unsegmented(Class c) {
    if (c.segmented) c.nsw = c.nuw = c.sure;
    c.segmented = c.rows = false;
    return c;
}

static Class class_of_shapes(Vec *x, Value i, Class a, Class c, bool minus, uint64_t exact) {
    int64_t p[MAX_WIDTH * MAX_PARTS], q[MAX_WIDTH * MAX_PARTS];
    if (!msl_shape_of(x, a, p) || !msl_shape_of(x, c, q)) return varying_class;
    Class r = arithmetic(x, i, unsegmented(a), unsegmented(c), 1, exact);
    for (unsigned l = 0; l < x->lanes; l++) p[l] = minus ? difference(p[l], q[l]) : sum(p[l], q[l]);
    msl_set_shape(x, &r, p);
    return r;
}

static Class class_of_sum(Vec *x, Value i, LLVMOpcode op) {
    Class a = msl_class(x, operand(i, 0)), c = msl_class(x, operand(i, 1));
    if (a.kind == VARYING || c.kind == VARYING ||
        (op == LLVMOr && !LLVMGetIsDisjoint(i) && !(flat_class(a) && flat_class(c)))) {
        Class r = varying_class;
        uint64_t both = add_max(a.max, c.max);
        if (op == LLVMSub)
            r.max = LLVMGetNUW(i) ? a.max : UINT64_MAX;
        else if (both <= type_max(LLVMTypeOf(i)))
            r.max = both;
        return r;
    }
    if (a.kind == SHAPED || c.kind == SHAPED)
        return class_of_shapes(x, i, a, c, op == LLVMSub,
                               op == LLVMSub ? UINT64_MAX : add_max(a.max, c.max));
    if (op == LLVMSub) {
        Class r = arithmetic(x, i, a, c, a.stride - c.stride, UINT64_MAX);
        if (LLVMGetNUW(i) && !r.stride) r.max = a.max;
        return r;
    }
    return arithmetic(x, i, a, c, a.stride + c.stride, add_max(a.max, c.max));
}

static Class class_of_product(Vec *x, Value i, LLVMOpcode op) {
    Value f = operand(i, 1), v = operand(i, 0);
    int64_t k = 0;
    bool constant = get_const(f, &k);
    if (!constant && op == LLVMMul && get_const(v, &k)) {
        constant = true;
        v = operand(i, 1);
        f = operand(i, 0);
    }
    Class a = msl_class(x, v), c = msl_class(x, f);
    uint64_t most = mul_max(a.max, c.max);
    if (op == LLVMShl) most = constant && k >= 0 && k < 63 ? mul_max(a.max, 1ull << k) : UINT64_MAX;
    Class vary = varying_class;
    if (most <= type_max(LLVMTypeOf(i))) vary.max = most;
    if (a.kind == VARYING || c.kind == VARYING) return vary;
    bool shift_ok = op == LLVMMul || (k >= 0 && k < (int64_t)int_bits(LLVMTypeOf(i)) && k <= 62);
    if (!constant || !shift_ok)
        return flat_class(a) && flat_class(c) ? arithmetic(x, i, a, c, 0, most) : vary;
    int64_t row, factor = op == LLVMShl ? (int64_t)(1ull << k) : k;
    int64_t stride = a.kind == SHAPED ? 1 : (int64_t)((uint64_t)a.stride * (uint64_t)factor);
    Class r = arithmetic(x, i, a, c, stride, most);
    if (r.segmented && row_of(x, a, &row)) {
        r.rows = true;
        r.row = (int64_t)((uint64_t)row * (uint64_t)factor);
    }
    if (a.kind == SHAPED) {
        int64_t at[MAX_WIDTH * MAX_PARTS];
        for (unsigned l = 0; l < x->lanes; l++)
            at[l] = (int64_t)((uint64_t)a.shape[l] * (uint64_t)factor);
        msl_set_shape(x, &r, at);
    }
    if (op == LLVMMul && k < 0) r.nuw = false; // as an unsigned factor it is another number
    if (op == LLVMShl && k == (int64_t)int_bits(LLVMTypeOf(i)) - 1) r.nsw = false;
    return r;
}

static Class class_of_extension(Vec *x, Value i, LLVMOpcode op) {
    Class a = msl_class(x, operand(i, 0));
    Class r = varying_class;
    uint64_t sign = type_max(LLVMTypeOf(operand(i, 0))) / 2;
    bool keeps_max = op == LLVMZExt || a.max <= sign;
    if (a.kind == SHAPED) {
        bool keeps = op == LLVMSExt ? a.nsw : a.nuw || (LLVMGetNNeg(i) && a.nsw);
        if (keeps || msl_map_get(&x->sunk, i) >= 0)
            r = (Class){
                SHAPED,         .nsw = true,      .nuw = !keeps || op == LLVMZExt || keeps_max,
                .sure = a.sure, .shape = a.shape, .max = UINT64_MAX};
    } else if (a.kind == LINEAR) {
        if (!a.stride || msl_map_get(&x->sunk, i) >= 0) {
            r = msl_linear(a.stride, true, true);
        } else if (op == LLVMSExt ? a.nsw : a.nuw || (LLVMGetNNeg(i) && a.nsw)) {
            r = msl_linear(a.stride, true, op == LLVMZExt || keeps_max);
        }
        if (r.kind == LINEAR) {
            r.segmented = a.segmented;
            r.rows =
                a.segmented && a.rows && a.sure; // between segments lies no wrap, active or not
            r.row = r.rows ? a.row : 0;
            r.sure = a.sure;
        }
    }
    if (keeps_max) r.max = a.max;
    return r;
}

static Class class_of_trunc(Vec *x, Value i) {
    Class a = msl_class(x, operand(i, 0));
    bool fits = a.max <= type_max(LLVMTypeOf(i));
    if (has_base(a)) {
        a.nuw = (a.nuw && fits) || flat_class(a);
        a.nsw = (a.nsw && a.max <= type_max(LLVMTypeOf(i)) / 2) || flat_class(a);
    }
    if (!fits) a.max = UINT64_MAX;
    a.sure = a.sure && fits;
    return a;
}

// An address of which a part is shaped.
static Class class_of_shaped_gep(Vec *x, Value g) {
    int64_t at[MAX_WIDTH * MAX_PARTS], part[MAX_WIDTH * MAX_PARTS],
        scale = msl_is_soa(x, g) ? (int64_t)x->lanes : 1;
    if (!msl_shape_of(x, msl_class(x, operand(g, 0)), at)) return varying_class;
    Type t = LLVMGetGEPSourceElementType(g);
    for (int k = 1; k < LLVMGetNumOperands(g); k++) {
        Value ix = operand(g, k);
        if (k > 1 && LLVMGetTypeKind(t) == LLVMStructTypeKind) {
            t = LLVMStructGetTypeAtIndex(t, (unsigned)LLVMConstIntGetZExtValue(ix));
            continue;
        }
        if (k > 1) t = LLVMGetElementType(t);
        Class c = msl_class(x, ix);
        if (!msl_shape_of(x, c, part) || (!flat_class(c) && int_bits(LLVMTypeOf(ix)) < 64))
            return varying_class;
        int64_t size = (int64_t)LLVMABISizeOfType(x->dl, t) * scale;
        for (unsigned l = 0; l < x->lanes; l++) at[l] += part[l] * size;
    }
    Class r = msl_linear(1, true, true);
    msl_set_shape(x, &r, at);
    return r;
}

static Class class_of_gep(Vec *x, Value g) {
    for (int k = 0; k < LLVMGetNumOperands(g); k++)
        if (msl_class(x, operand(g, k)).kind == SHAPED) return class_of_shaped_gep(x, g);
    Class r = msl_class(x, operand(g, 0));
    if (r.kind != LINEAR) return r;
    int64_t stride = r.stride, scale = msl_is_soa(x, g) ? (int64_t)x->lanes : 1, row, total_row;
    bool segmented = r.segmented, rows = row_of(x, r, &total_row);
    Type t = LLVMGetGEPSourceElementType(g);
    for (int k = 1; k < LLVMGetNumOperands(g); k++) {
        Value ix = operand(g, k);
        Class c = msl_class(x, ix);
        if (k > 1 && LLVMGetTypeKind(t) == LLVMStructTypeKind) {
            t = LLVMStructGetTypeAtIndex(t, (unsigned)LLVMConstIntGetZExtValue(ix));
            continue;
        }
        if (k > 1) t = LLVMGetElementType(t);
        if (c.kind == TOP) return c;
        if (c.kind != LINEAR || (c.stride && int_bits(LLVMTypeOf(ix)) < 64)) return varying_class;
        int64_t size = (int64_t)LLVMABISizeOfType(x->dl, t) * scale;
        stride += c.stride * size;
        segmented |= c.segmented;
        rows &= row_of(x, c, &row) && int_bits(LLVMTypeOf(ix)) == 64;
        total_row += row * size;
    }
    r = msl_linear(stride, true, true);
    r.segmented = segmented;
    r.rows = segmented && rows;
    r.row = r.rows ? total_row : 0;
    return r;
}

// ---- phis ----

static Class class_of_phi(Vec *x, Value i, int b) {
    Class r = {0};
    Value one = NULL;
    bool all_same = true;
    int defined = 0;
    for (unsigned p = 0; p < LLVMCountIncoming(i); p++) {
        Value v = LLVMGetIncomingValue(i, p);
        if (LLVMIsUndef(v)) continue;
        defined++;
        if (one && one != v) all_same = false;
        one = v;
        r = join(x, r, msl_class(x, v));
    }
    if (!one) return uniform_class;
    const Blk *k = &x->blocks[b];
    if (k->exit >= 0 && x->loops[k->exit].divergent) {
        Value v = LLVMGetIncomingValue(i, 0);
        bool inside = LLVMIsAInstruction(v) &&
                      msl_in_loop(x, k->exit, msl_block_ix(x, LLVMGetInstructionParent(v)));
        if (inside && r.kind != TOP) r = (Class){VARYING, .max = r.max};
        return r;
    }
    if (k->header >= 0) {
        r.max = UINT64_MAX; // a bound that grows with each iteration is no bound
        return r;
    }
    if (all_same) return r;
    for (int p = 1; p < k->n_pred; p++)
        if (x->blocks[k->pred[p]].mask_id != x->blocks[k->pred[0]].mask_id)
            return defined == 1 || r.kind == TOP ? r : (Class){VARYING, .max = r.max};
    return r;
}

// ---- the rest ----

static bool only_selects(Value i) {
    for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = LLVMGetNextUse(u))
        if (!LLVMIsASelectInst(LLVMGetUser(u)) || operand(LLVMGetUser(u), 0) != i) return false;
    return true;
}

// Operations that may run once for each segment on scalars: cheap and without traps.
static bool segment_safe(Value i) {
    int64_t k;
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMAnd:
    case LLVMXor:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMFreeze:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
    case LLVMBitCast:
    case LLVMAddrSpaceCast:
    case LLVMExtractElement:
    case LLVMOr:
    case LLVMExtractValue: return true;
    case LLVMICmp: return only_selects(i); // a clamped row; a mask is better made as a vector
    case LLVMUDiv:
    case LLVMURem: return get_const(operand(i, 1), &k) && k != 0;
    case LLVMSDiv:
    case LLVMSRem: return get_const(operand(i, 1), &k) && k != 0 && k != -1;
    case LLVMLoad: return LLVMGetOrdering(i) == LLVMAtomicOrderingNotAtomic && !LLVMGetVolatile(i);
    case LLVMCall: return is_min_max(i) || starts_with(callee_of(i), "llvm.abs");
    default: return false;
    }
}

// From the operands alone: uniform, uniform in segments, or varying.
static Class class_by_operands(Vec *x, Value i) {
    bool top = false, segmented = false, scalar_type = !is_vector(LLVMTypeOf(i));
    int n = LLVMIsACallInst(i) ? (int)LLVMGetNumArgOperands(i) : LLVMGetNumOperands(i);
    for (int o = 0; o < n; o++) {
        Value v = operand(i, o);
        if (LLVMValueIsBasicBlock(v)) continue;
        Class c = msl_class(x, v);
        if (c.kind != TOP && !flat_class(c)) return varying_class;
        segmented |= c.segmented;
        top |= c.kind == TOP;
    }
    if (segmented && !(segment_safe(i) && (scalar_type || LLVMIsALoadInst(i))))
        return varying_class;
    if (top) return (Class){0};
    Class r = uniform_class;
    r.segmented = segmented; // rows: not known
    return r;
}

// An `and` that keeps every bit the active lanes have (ushort arithmetic is full of them) is its
// operand.
int msl_kept_operand(Vec *x, Value i) {
    int64_t m;
    if (LLVMGetInstructionOpcode(i) != LLVMAnd || !get_const(operand(i, 1), &m) || m <= 0 ||
        (m & (m + 1)))
        return 0;
    Class a = msl_class(x, operand(i, 0));
    return has_base(a) && !flat_class(a) && a.max <= (uint64_t)m ? 1 : 0;
}

// An upper bound from the operation, whatever the class.
static uint64_t bound_of(Vec *x, Value i) {
    int64_t k;
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMAnd: {
        uint64_t a = msl_class(x, operand(i, 0)).max, c = msl_class(x, operand(i, 1)).max;
        return a < c ? a : c;
    }
    case LLVMLShr:
        if (get_const(operand(i, 1), &k) && k >= 0 && k < 64) {
            uint64_t a = msl_class(x, operand(i, 0)).max, top = type_max(LLVMTypeOf(operand(i, 0)));
            return (a < top ? a : top) >> k;
        }
        return UINT64_MAX;
    case LLVMURem: return get_const(operand(i, 1), &k) && k > 0 ? (uint64_t)k - 1 : UINT64_MAX;
    case LLVMUDiv: {
        uint64_t a = msl_class(x, operand(i, 0)).max;
        return get_const(operand(i, 1), &k) && k > 0 && a != UINT64_MAX ? a / (uint64_t)k
                                                                        : UINT64_MAX;
    }
    default: return UINT64_MAX;
    }
}

// An assumed clamp (version.c) is its linear operand. The guard extends the compared value with the
// comparison's sign and finds its last lane in range: that is one promise more about this value,
// but none about another one that a select may choose.
static Class class_of_clamp(Vec *x, Value i, int clamp) {
    Value v = operand(i, clamp - 1), c = operand(i, 0);
    Class a = msl_class(x, v);
    bool is_select = LLVMIsASelectInst(i),
         compared = !is_select || operand(c, 0) == v || operand(c, 1) == v;
    bool is_signed = is_select ? LLVMGetICmpPredicate(c) >= LLVMIntSGT : callee_of(i)[5] == 's';
    Class r =
        msl_linear(a.stride, a.nsw || (compared && is_signed), a.nuw || (compared && !is_signed));
    r.segmented = a.segmented;
    return r;
}

static Class class_of_call(Vec *x, Value i) {
    Builtin which = msl_builtin_of(i);
    if (which.op == OP_POSITION) return msl_position_class(x, i);
    if (msl_is_texture_op(which.op)) return msl_texture_class(x, i);
    if (which.op != OP_NONE) return msl_builtin_class(x, i, which);
    int clamp = msl_assumed_clamp(x, i);
    const char *name = callee_of(i);
    if (clamp) return class_of_clamp(x, i, clamp);
    bool is_lookup = starts_with(name, "ingot_span") || starts_with(name, "ingot_live");
    // Unknown code runs once for every lane.
    if (!is_lookup && !starts_with(name, "llvm.")) return varying_class;
    return class_by_operands(x, i);
}

static Class class_of_known(Vec *x, const int64_t *at) {
    Class r = msl_linear(1, true, true);
    msl_set_shape(x, &r, at);
    r.max = 0;
    r.sure = true;
    r.bits = (uint64_t)at[0];
    for (unsigned l = 0; l < x->lanes; l++) r.max = greater(r.max, (uint64_t)at[l]);
    return r;
}

static Class with_bits(Vec *x, Value i, Class c) {
    if (has_base(c) && !c.segmented) c.bits = msl_base_bits(x, i);
    return c;
}

static Class transfer(Vec *x, Value i, int b) {
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    bool scalar = is_integer(LLVMTypeOf(i)) && int_bits(LLVMTypeOf(i)) <= 64;
    Class r;
    for (int o = 0; o < LLVMGetNumOperands(i) && op != LLVMPHI;
         o++) // not before all operands are known
        if (!LLVMValueIsBasicBlock(operand(i, o)) && msl_class(x, operand(i, o)).kind == TOP)
            return (Class){0};
    int64_t known[MAX_WIDTH * MAX_PARTS];
    if (scalar && op != LLVMCall && msl_known(x, i, known)) return class_of_known(x, known);
    switch (op) {
    case LLVMAlloca: return msl_linear(msl_private_stride(x, i), true, true);
    case LLVMPHI: return class_of_phi(x, i, b);
    case LLVMOr:
        if (scalar && !LLVMGetIsDisjoint(i)) return class_by_operands(x, i); // fall through
    case LLVMAdd:
    case LLVMSub: return scalar ? with_bits(x, i, class_of_sum(x, i, op)) : class_by_operands(x, i);
    case LLVMMul:
    case LLVMShl:
        return scalar ? with_bits(x, i, class_of_product(x, i, op)) : class_by_operands(x, i);
    case LLVMSExt:
    case LLVMZExt:
        return scalar ? with_bits(x, i, class_of_extension(x, i, op)) : class_by_operands(x, i);
    case LLVMTrunc: return scalar ? with_bits(x, i, class_of_trunc(x, i)) : class_by_operands(x, i);
    case LLVMPtrToInt:
    case LLVMIntToPtr:
    case LLVMFreeze:
        r = msl_class(x, operand(i, 0));
        if (has_base(r) && !flat_class(r)) {
            if (op != LLVMFreeze) r.nsw = r.nuw = false;
            return r;
        }
        return class_by_operands(x, i);
    case LLVMGetElementPtr: return class_of_gep(x, i);
    case LLVMSelect: {
        int clamp = msl_assumed_clamp(x, i);
        if (clamp) return class_of_clamp(x, i, clamp);
        r = join(x, msl_class(x, operand(i, 1)), msl_class(x, operand(i, 2)));
        if (flat_class(msl_class(x, operand(i, 0))) && flat_class(r) &&
            !msl_uniform(x, operand(i, 0))) {
            r.segmented = true;
            r.rows = false;
            r.row = 0;
        } else if (!msl_uniform(x, operand(i, 0)))
            r = (Class){VARYING, .max = r.max};
        return r;
    }
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg: return varying_class;
    case LLVMCall: return class_of_call(x, i);
    default:
        if (msl_kept_operand(x, i)) return msl_class(x, operand(i, 0));
        if (!scalar || !msl_class_of_bits(x, i, &r)) r = class_by_operands(x, i);
        if (scalar && r.kind != TOP) {
            uint64_t m = bound_of(x, i);
            if (m < r.max) r.max = m;
            r = with_bits(x, i, r);
        }
        return r;
    }
}

// Types that have a linear or segmented form at all.
static bool may_be_linear(Value i) {
    Type t = LLVMTypeOf(i);
    return is_pointer(t) || (is_integer(t) && int_bits(t) >= 8 && int_bits(t) <= 64);
}

static void number_masks(Vec *x) {
    int next = 1;
    Blk *bl = x->blocks;
    bl[0].mask_id = 0;
    for (int b = 1; b < x->n_blocks; b++) {
        int d = bl[b].idom;
        const Blk *k = &bl[b];
        if (k->exit >= 0 && d == x->loops[k->exit].latch)
            bl[b].mask_id = bl[x->loops[k->exit].preheader].mask_id;
        else if (k->header >= 0 && x->loops[k->header].divergent)
            bl[b].mask_id = next++;
        else if (bl[d].n_succ == 2 && bl[d].divergent && bl[d].latch < 0 &&
                 msl_taken_side(x, d) == b)
            bl[b].mask_id = next++;
        else
            bl[b].mask_id = bl[d].mask_id;
    }
}

static bool visit(Vec *x, Value i, int b) {
    Val *v = msl_val(x, i);
    if (!v) return false;
    Class c = transfer(x, i, b);
    if (has_base(c)) {
        if (!flat_class(c) && !may_be_linear(i)) c = varying_class;
        // a segmented value of another type may only be a load: there each segment costs one access
        if (c.segmented && !may_be_linear(i) && !LLVMIsALoadInst(i) && !LLVMIsAPHINode(i) &&
            !LLVMIsAExtractElementInst(i) && !LLVMIsAICmpInst(i))
            c = varying_class;
    }
    if (c.kind != TOP) c = settle(c, LLVMTypeOf(i));
    if (v->c.kind != TOP) c = c.kind == TOP ? v->c : join(x, v->c, c);
    if (same(c, v->c)) return false;
    v->c = c;
    return true;
}

// Values that wait for each other: a phi that begins with undef goes round with what it feeds. Any
// start is right for it, so it starts as the least there is. False: there is none.
static bool start_cycles(Vec *x) {
    bool found = false;
    for (int b = 0; b < x->n_blocks; b++)
        for (Value i = LLVMGetFirstInstruction(x->blocks[b].old); i && LLVMIsAPHINode(i);
             i = LLVMGetNextInstruction(i)) {
            Val *v = msl_val(x, i);
            if (!v || v->c.kind != TOP) continue;
            v->c = uniform_class;
            found = true;
        }
    return found;
}

static void reach_fixpoint(Vec *x) {
    for (bool changed = true; changed;) {
        changed = false;
        number_masks(x);
        for (int b = 0; b < x->n_blocks; b++) {
            Blk *k = &x->blocks[b];
            for (Value i = LLVMGetFirstInstruction(k->old); i; i = LLVMGetNextInstruction(i))
                changed |= visit(x, i, b);
            Value t = LLVMGetBasicBlockTerminator(k->old);
            if (k->n_succ != 2 || k->divergent) continue;
            Class c = msl_class(x, LLVMGetCondition(t));
            if (c.kind == VARYING || c.kind == SHAPED || c.segmented) {
                k->divergent = changed = true;
                if (k->latch >= 0) x->loops[k->latch].divergent = true;
            }
        }
    }
}

void msl_analyse_divergence(Vec *x) {
    do reach_fixpoint(x);
    while (start_cycles(x));
    for (int i = 0; i < x->n_vals; i++)
        if (x->vals[i].c.kind == TOP) x->vals[i].c = uniform_class;
}
