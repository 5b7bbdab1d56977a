// SPDX-License-Identifier: Apache-2.0
// emit_simd.c: SIMD-group and quad-group functions as vector operations.
//
// Who takes part. The lanes active in the block take part in an operation together: those that
// reached the same dynamic instance, that is, the same instruction in the same iteration of every
// loop around it in the structured CFG. A path with such an operation that ends in `break` or
// `return` is part of the loop there (codegen/exits.c), so lanes that leave in different iterations
// run it apart.
//
// Reductions and scans use the active lanes only, shuffles may read any lane (an inactive one: some
// value). Floating point in a fixed order, the same bits on every machine:
//   reduce   t[l] += t[l + d] for d = 16, 8, 4, 2, 1; inactive lanes hold the neutral element
//            (-0.0, 1.0; NaN for min and max, which are IEEE 754-2019 minimumNumber/maximumNumber);
//            quads: (0 + 2) + (1 + 3)
//   scan     t[l] += t[l - d] for d = 1, 2, 4, 8, 16; exclusive: the neighbour's, plus 0.0 or
//   times 1.0
#include "compiler/passes/passes_int.h"
#include <math.h>

enum { QUAD = 4 };

static bool is_reduction(Op op) { return op >= OP_SUM && op <= OP_XOR; }

Class msl_builtin_class(Vec *x, Value i, Builtin which) {
    Class uniform = msl_linear(0, true, true), vary = {VARYING, .max = UINT64_MAX};
    if (is_reduction(which.op)) return which.quad ? vary : uniform;
    switch (which.op) {
    case OP_LAUNCH:
    case OP_NEVER:
    case OP_FRAME:
    case OP_INSIDE:
    case OP_TENSOR_MATMUL:
    case OP_TENSOR_CONVOLUTION:
    case OP_FRAGMENT_ROWS:
    case OP_FRAGMENT_LOAD:
    case OP_FRAGMENT_STORE:
    case OP_FRAGMENT_MMA:
    case OP_BARRIER:
    case OP_SIMD_BARRIER: return uniform;
    case OP_BALLOT:
    case OP_ALL:
    case OP_ANY:
    case OP_ACTIVE: return which.quad ? vary : uniform;
    case OP_BROADCAST:
    case OP_SHUFFLE:
        if (!which.quad && msl_uniform(x, operand(i, 1))) return uniform; // fall through
    case OP_UP:
    case OP_DOWN:
    case OP_SHUFFLE_XOR:
    case OP_ROTATE_UP:
    case OP_ROTATE_DOWN: return msl_uniform(x, operand(i, 0)) ? uniform : vary;
    case OP_FIRST: return !which.quad || msl_uniform(x, operand(i, 0)) ? uniform : vary;
    default: return vary;
    }
}

static Value c32(Vec *x, int64_t v) { return const_int(x->i32, v); }
static Value lanes32(Vec *x) { return msl_lane_offsets(x, x->i32, 1, x->width); }

// ---- reductions and scans ----

static Value neutral(Op op, Type t, bool is_unsigned) {
    bool fp = !is_integer(t);
    unsigned bits = fp ? 0 : int_bits(t);
    switch (op) {
    case OP_PRODUCT: return fp ? LLVMConstReal(t, 1.0) : const_int(t, 1);
    case OP_MIN:
        if (fp) return LLVMConstReal(t, NAN);
        return is_unsigned ? LLVMConstAllOnes(t) : LLVMConstInt(t, (1ull << (bits - 1)) - 1, 0);
    case OP_MAX:
        if (fp) return LLVMConstReal(t, NAN);
        return is_unsigned ? LLVMConstNull(t) : LLVMConstInt(t, 1ull << (bits - 1), 0);
    case OP_AND: return LLVMConstAllOnes(t);
    default: return fp ? LLVMConstReal(t, -0.0) : LLVMConstNull(t);
    }
}

static Value combine(Vec *x, Op op, Value a, Value b, bool is_unsigned) {
    static const char *const extremes[2][3] = {{"llvm.minimumnum", "llvm.umin", "llvm.smin"},
                                               {"llvm.maximumnum", "llvm.umax", "llvm.smax"}};
    Type t = LLVMTypeOf(a);
    bool fp = !is_integer(LLVMGetElementType(t));
    Value args[] = {a, b};
    switch (op) {
    case OP_PRODUCT: return fp ? LLVMBuildFMul(x->b, a, b, "") : LLVMBuildMul(x->b, a, b, "");
    case OP_MIN:
    case OP_MAX:
        return msl_intrinsic(x,
                             extremes[op == OP_MAX][fp            ? 0
                                                    : is_unsigned ? 1
                                                                  : 2],
                             &t, 1, args, 2);
    case OP_AND: return LLVMBuildAnd(x->b, a, b, "");
    case OP_OR: return LLVMBuildOr(x->b, a, b, "");
    case OP_XOR: return LLVMBuildXor(x->b, a, b, "");
    default: return fp ? LLVMBuildFAdd(x->b, a, b, "") : LLVMBuildAdd(x->b, a, b, "");
    }
}

static Value active_or(Vec *x, Value v, Value scalar) {
    return LLVMBuildSelect(x->b, x->mask, v, msl_splat(x, scalar), "");
}

static void emit_reduce(Vec *x, Value i, Val *o, Builtin which) {
    Type t = LLVMTypeOf(operand(i, 0));
    Value w =
        active_or(x, msl_vector(x, operand(i, 0), 0), neutral(which.op, t, which.is_unsigned));
    int ix[MAX_WIDTH];
    if (which.quad) {
        for (int d = 2; d; d /= 2) {
            for (int l = 0; l < (int)x->width; l++) ix[l] = l ^ d;
            w = combine(x, which.op, w, msl_shuffle(x, w, w, ix, x->width), which.is_unsigned);
        }
        o->v[0] = w;
        return;
    }
    for (unsigned n = x->width; n > 1; n /= 2)
        w = combine(x, which.op, msl_part(x, w, 0, n / 2), msl_part(x, w, n / 2, n / 2),
                    which.is_unsigned);
    o->base[0] = LLVMBuildExtractElement(x->b, w, const_int(x->i64, 0), "");
}

static Value scan(Vec *x, Op op, Value w, Value zero) {
    int ix[MAX_WIDTH], n = (int)x->width;
    for (int d = 1; d < n; d *= 2) {
        for (int l = 0; l < n; l++) ix[l] = l < d ? n : l - d;
        w = combine(x, op, w, msl_shuffle(x, w, msl_splat(x, zero), ix, x->width), false);
    }
    return w;
}

static Value shifted_by_one(Vec *x, Value w, Value zero) {
    int ix[MAX_WIDTH], n = (int)x->width;
    for (int l = 0; l < n; l++) ix[l] = l ? l - 1 : n;
    return msl_shuffle(x, w, msl_splat(x, zero), ix, x->width);
}

static void emit_scan(Vec *x, Value i, Val *o, Builtin which) {
    Type t = LLVMTypeOf(operand(i, 0));
    bool product = which.op == OP_SCAN_PRODUCT || which.op == OP_SCAN_PRODUCT_EX;
    bool exclusive = which.op == OP_SCAN_SUM_EX || which.op == OP_SCAN_PRODUCT_EX;
    Op op = product ? OP_PRODUCT : OP_SUM;
    Value zero = neutral(op, t, false), w = active_or(x, msl_vector(x, operand(i, 0), 0), zero);
    w = scan(x, op, w, zero);
    if (exclusive) {
        w = shifted_by_one(x, w, zero);
        if (!product && !is_integer(t))
            w = LLVMBuildFAdd(x->b, w, msl_splat(x, LLVMConstReal(t, 0.0)), "");
    }
    o->v[0] = w;
}

Value msl_prefix_sum_exclusive(Vec *x, Value v) {
    Value zero = LLVMConstNull(LLVMGetElementType(LLVMTypeOf(v)));
    return shifted_by_one(x, scan(x, OP_SUM, active_or(x, v, zero), zero), zero);
}

Value msl_reduce_int(Vec *x, LLVMAtomicRMWBinOp op, Value v) {
    static const struct {
        LLVMAtomicRMWBinOp op;
        Op neutral;
        bool is_unsigned;
        const char *name;
    } table[] = {
        {LLVMAtomicRMWBinOpAdd, OP_SUM, false, "llvm.vector.reduce.add"},
        {LLVMAtomicRMWBinOpSub, OP_SUM, false, "llvm.vector.reduce.add"},
        {LLVMAtomicRMWBinOpAnd, OP_AND, false, "llvm.vector.reduce.and"},
        {LLVMAtomicRMWBinOpOr, OP_OR, false, "llvm.vector.reduce.or"},
        {LLVMAtomicRMWBinOpXor, OP_XOR, false, "llvm.vector.reduce.xor"},
        {LLVMAtomicRMWBinOpMax, OP_MAX, false, "llvm.vector.reduce.smax"},
        {LLVMAtomicRMWBinOpMin, OP_MIN, false, "llvm.vector.reduce.smin"},
        {LLVMAtomicRMWBinOpUMax, OP_MAX, true, "llvm.vector.reduce.umax"},
        {LLVMAtomicRMWBinOpUMin, OP_MIN, true, "llvm.vector.reduce.umin"},
    };
    Type t = LLVMTypeOf(v);
    for (unsigned k = 0; k < sizeof table / sizeof *table; k++) {
        if (table[k].op != op) continue;
        Value w =
            active_or(x, v, neutral(table[k].neutral, LLVMGetElementType(t), table[k].is_unsigned));
        return msl_intrinsic(x, table[k].name, &t, 1, &w, 1);
    }
    msl_fail(x->cx, "internal error: atomic operation %d", (int)op);
}

// ---- shuffles ----

// v[ix] for every lane; ix may be poison in inactive lanes.
static Value permute(Vec *x, Value v, Value ix) {
    Type t = LLVMTypeOf(v), e = LLVMGetElementType(t);
    ix = LLVMBuildFreeze(x->b, LLVMBuildAnd(x->b, ix, msl_splat(x, c32(x, x->width - 1)), ""), "");
    v = LLVMBuildFreeze(x->b, v, "");
    if (x->cx->avx512 && x->width == 32 && LLVMABISizeOfType(x->dl, e) == 4) { // two vpermt2d
        Value w = LLVMBuildBitCast(x->b, v, msl_vector_type(x, x->i32), ""), r[2];
        for (unsigned h = 0; h < 2; h++) {
            Value a[] = {msl_part(x, w, 0, 16), msl_part(x, ix, h * 16, 16),
                         msl_part(x, w, 16, 16)};
            r[h] = msl_intrinsic(x, "llvm.x86.avx512.vpermi2var.d.512", NULL, 0, a, 3);
        }
        return LLVMBuildBitCast(x->b, msl_concat(x, r, 2), t, "");
    }
    Value memory = msl_entry_alloca(x, t, 64);
    LLVMSetAlignment(LLVMBuildStore(x->b, v, memory), 64);
    Value a[] = {LLVMBuildGEP2(x->b, e, memory, &ix, 1, ""), msl_full_mask(x), LLVMGetPoison(t)};
    Type overload[] = {t, LLVMTypeOf(a[0])};
    return msl_intrinsic(x, "llvm.masked.gather", overload, 2, a, 3);
}

// The lane that lane l reads, for a constant argument; groups of g lanes.
static int source_lane(Op op, int l, int64_t d, int g) {
    int at = l % g, base = l - at, m = g - 1;
    int64_t from;
    switch (op) {
    case OP_BROADCAST:
    case OP_SHUFFLE: return base + (int)(d & m);
    case OP_SHUFFLE_XOR: return base + (int)((at ^ d) & m);
    case OP_ROTATE_UP: return base + (int)((at - d) & m);
    case OP_ROTATE_DOWN: return base + (int)((at + d) & m);
    case OP_UP: from = at - d; break;
    default: from = at + d; break;
    }
    return from < 0 || from >= g ? l : base + (int)from; // no source: its own value
}

// The same as a vector, for an argument known at run time.
static Value source_lanes(Vec *x, Op op, Value d, unsigned g) {
    Value lane = lanes32(x), m = msl_splat(x, c32(x, g - 1)), low = msl_splat(x, c32(x, g - 1));
    Value at = LLVMBuildAnd(x->b, lane, m, ""), base = LLVMBuildSub(x->b, lane, at, ""), from, out;
    switch (op) {
    case OP_BROADCAST:
    case OP_SHUFFLE: return LLVMBuildAdd(x->b, base, LLVMBuildAnd(x->b, d, m, ""), "");
    case OP_SHUFFLE_XOR:
        return LLVMBuildAdd(x->b, base, LLVMBuildAnd(x->b, LLVMBuildXor(x->b, at, d, ""), m, ""),
                            "");
    case OP_ROTATE_UP:
        return LLVMBuildAdd(x->b, base, LLVMBuildAnd(x->b, LLVMBuildSub(x->b, at, d, ""), m, ""),
                            "");
    case OP_ROTATE_DOWN:
        return LLVMBuildAdd(x->b, base, LLVMBuildAnd(x->b, LLVMBuildAdd(x->b, at, d, ""), m, ""),
                            "");
    case OP_UP: from = LLVMBuildSub(x->b, at, d, ""); break;
    default: from = LLVMBuildAdd(x->b, at, d, ""); break;
    }
    out = LLVMBuildICmp(x->b, LLVMIntUGT, from, low, ""); // a negative one is a great one
    return LLVMBuildSelect(x->b, out, lane, LLVMBuildAdd(x->b, base, from, ""), "");
}

static void emit_shuffle(Vec *x, Value i, Val *o, Builtin which) {
    Value data = operand(i, 0), by = operand(i, 1);
    int g = which.quad ? QUAD : (int)x->width, ix[MAX_WIDTH];
    int64_t d;
    if (o->c.kind == LINEAR) {
        if (msl_uniform(x, data)) {
            o->base[0] = msl_scalar(x, data);
            return;
        }
        Value lane =
            LLVMBuildAnd(x->b, msl_scalar(x, by), const_int(LLVMTypeOf(by), x->width - 1), "");
        o->base[0] = LLVMBuildFreeze(
            x->b, LLVMBuildExtractElement(x->b, msl_vector(x, data, 0), lane, ""), "");
        return;
    }
    Value v = msl_vector(x, data, 0);
    if (get_const(by, &d)) {
        for (int l = 0; l < (int)x->width; l++) ix[l] = source_lane(which.op, l, d & 0xffffffff, g);
        o->v[0] = LLVMBuildFreeze(x->b, msl_shuffle(x, v, v, ix, x->width), "");
        return;
    }
    o->v[0] = permute(x, v, source_lanes(x, which.op, msl_vector(x, by, 0), (unsigned)g));
}

// Lanes without a source in their group of `modulo` lanes take it from the other end of `filling`.
static void emit_fill(Vec *x, Value i, Val *o, Builtin which) {
    Value v = msl_vector(x, operand(i, 0), 0), fill = msl_vector(x, operand(i, 1), 0);
    bool up = which.op == OP_FILL_UP;
    int64_t d, m;
    int group = which.quad ? QUAD : (int)x->width;
    bool constant_modulo = get_const(operand(i, 3), &m);
    if (constant_modulo && (m < 1 || m > group || (m & (m - 1)))) m = group;
    if (constant_modulo && get_const(operand(i, 2), &d)) {
        int ix[MAX_WIDTH];
        d &= m - 1;
        for (int l = 0; l < (int)x->width; l++) {
            int at = l % (int)m, from = up ? at - (int)d : at + (int)d;
            bool inside = from >= 0 && from < m;
            ix[l] = l - at + (int)((from + m) % m) + (inside ? 0 : (int)x->width);
        }
        o->v[0] = LLVMBuildFreeze(x->b, msl_shuffle(x, v, fill, ix, x->width), "");
        return;
    }
    Value mod = msl_vector(x, operand(i, 3), 0),
          low = LLVMBuildSub(x->b, mod, msl_splat(x, c32(x, 1)), "");
    Value lane = lanes32(x), at = LLVMBuildAnd(x->b, lane, low, ""),
          base = LLVMBuildSub(x->b, lane, at, "");
    Value by = LLVMBuildAnd(x->b, msl_vector(x, operand(i, 2), 0), low, "");
    Value from = up ? LLVMBuildSub(x->b, at, by, "") : LLVMBuildAdd(x->b, at, by, "");
    Value outside = LLVMBuildICmp(x->b, LLVMIntUGT, from, low, "");
    Value source = LLVMBuildAdd(x->b, base, LLVMBuildAnd(x->b, from, low, ""), "");
    o->v[0] = LLVMBuildSelect(x->b, LLVMBuildFreeze(x->b, outside, ""), permute(x, fill, source),
                              permute(x, v, source), "");
}

// ---- votes ----

static Value is_true(Vec *x, Value i) {
    Value v = msl_vector(x, operand(i, 0), 0);
    Type t = LLVMTypeOf(v);
    return LLVMGetElementType(t) == x->i1 ? v
                                          : LLVMBuildICmp(x->b, LLVMIntNE, v, LLVMConstNull(t), "");
}

// For each lane the four bits of its quad, as <width x i32>.
static Value quad_bits(Vec *x, Value mask) {
    Value bits = LLVMBuildIntCast2(x->b, msl_mask_bits(x, mask), x->i32, 0, "");
    Value base = LLVMBuildAnd(x->b, lanes32(x), msl_splat(x, c32(x, ~3)), "");
    Value low = LLVMBuildLShr(x->b, msl_splat(x, bits), base, "");
    return LLVMBuildAnd(x->b, low, msl_splat(x, c32(x, 15)), "");
}

static Value to_vector_of(Vec *x, Value v, Type t) { // bool results may be i1 or wider
    Type to = msl_vector_type(x, t);
    if (LLVMTypeOf(v) == to) return v;
    return LLVMBuildIntCast2(x->b, v, to, 0, "");
}

static void emit_vote(Vec *x, Value i, Val *o, Builtin which) {
    Type t = LLVMTypeOf(i);
    Value m = x->mask;
    if (which.op == OP_BALLOT || which.op == OP_ANY) m = msl_mask_and(x, m, is_true(x, i));
    if (which.op == OP_ALL) m = msl_mask_and(x, m, LLVMBuildNot(x->b, is_true(x, i), ""));
    if (!which.quad && which.op != OP_IS_FIRST) {
        Value bits = msl_mask_bits(x, m), zero = LLVMConstNull(x->bits_type), r = bits;
        if (which.op == OP_ALL) r = LLVMBuildICmp(x->b, LLVMIntEQ, bits, zero, "");
        if (which.op == OP_ANY) r = LLVMBuildICmp(x->b, LLVMIntNE, bits, zero, "");
        o->base[0] = LLVMBuildIntCast2(x->b, r, t, 0, "");
        return;
    }
    Value r, zero = LLVMConstNull(msl_vector_type(x, x->i32));
    if (which.op == OP_IS_FIRST && !which.quad) {
        Value first = LLVMBuildIntCast2(x->b, msl_first_lane(x, m), x->i32, 0, "");
        r = LLVMBuildICmp(x->b, LLVMIntEQ, lanes32(x), msl_splat(x, first), "");
    } else {
        r = quad_bits(x, m);
        if (which.op == OP_ALL) r = LLVMBuildICmp(x->b, LLVMIntEQ, r, zero, "");
        if (which.op == OP_ANY) r = LLVMBuildICmp(x->b, LLVMIntNE, r, zero, "");
        if (which.op == OP_IS_FIRST) { // no active lane below in the quad
            Value e[MAX_WIDTH];
            for (unsigned l = 0; l < x->width; l++) e[l] = c32(x, (1 << (l % QUAD)) - 1);
            r = LLVMBuildAnd(x->b, r, LLVMConstVector(e, x->width), "");
            r = LLVMBuildICmp(x->b, LLVMIntEQ, r, zero, "");
        }
    }
    o->v[0] = to_vector_of(x, r, t);
}

static void emit_first(Vec *x, Value i, Val *o, Builtin which) {
    Value data = operand(i, 0);
    if (o->c.kind == LINEAR && msl_uniform(x, data)) {
        o->base[0] = msl_scalar(x, data);
        return;
    }
    Value v = msl_vector(x, data, 0);
    if (!which.quad) {
        Value lane = LLVMBuildAnd(x->b, msl_first_lane(x, x->mask),
                                  const_int(x->bits_type, x->width - 1), "");
        o->base[0] = LLVMBuildFreeze(x->b, LLVMBuildExtractElement(x->b, v, lane, ""), "");
        return;
    }
    Type t = msl_vector_type(x, x->i32);
    Value a[] = {quad_bits(x, x->mask), const_int(x->i1, 0)};
    Value ahead =
        LLVMBuildAnd(x->b, msl_intrinsic(x, "llvm.cttz", &t, 1, a, 2), msl_splat(x, c32(x, 3)), "");
    Value base = LLVMBuildAnd(x->b, lanes32(x), msl_splat(x, c32(x, ~3)), "");
    o->v[0] = permute(x, v, LLVMBuildAdd(x->b, base, ahead, ""));
}

void msl_emit_builtin(Vec *x, Value i, Val *o, Builtin which) {
    if (is_reduction(which.op)) {
        emit_reduce(x, i, o, which);
        return;
    }
    switch (which.op) {
    case OP_BARRIER: msl_clone(x, i, false, 0); return;
    case OP_SIMD_BARRIER: return; // the lanes run in step
    case OP_LAUNCH: o->base[0] = x->launch; return;
    case OP_NEVER: o->base[0] = LLVMConstNull(x->i1); return;
    case OP_FRAME: o->base[0] = msl_emit_frame(x, i); return;
    case OP_DISPATCH: msl_emit_dispatch(x, i); return;
    case OP_OBSERVE: msl_emit_observe(x, i); return;
    case OP_INSIDE: msl_emit_inside(x, i, o); return;
    case OP_SCAN_SUM:
    case OP_SCAN_SUM_EX:
    case OP_SCAN_PRODUCT:
    case OP_SCAN_PRODUCT_EX: emit_scan(x, i, o, which); return;
    case OP_FILL_UP:
    case OP_FILL_DOWN: emit_fill(x, i, o, which); return;
    case OP_FIRST: emit_first(x, i, o, which); return;
    case OP_BALLOT:
    case OP_ALL:
    case OP_ANY:
    case OP_IS_FIRST:
    case OP_ACTIVE: emit_vote(x, i, o, which); return;
    case OP_FRAGMENT_ROWS:
    case OP_FRAGMENT_LANE:
    case OP_FRAGMENT_LOAD:
    case OP_FRAGMENT_STORE:
    case OP_FRAGMENT_MMA: msl_emit_fragment(x, i, o, which.op); return;
    case OP_TENSOR_MATMUL:
    case OP_TENSOR_CONVOLUTION: msl_emit_tensor(x, i); return;
    default: emit_shuffle(x, i, o, which);
    }
}
