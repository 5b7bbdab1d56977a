// SPDX-License-Identifier: Apache-2.0
// bits.c: which bits of a value all lanes share, and which the lane itself gives.
//   purpose   kernels take the number of a thread in its threadgroup apart: `t / 4 % 8 * 16`. Of
//             t = 32 * k + lane the first part is the same for all lanes and has its low bits
//             clear: masks, shifts and divisions by powers of two then work on both parts alone,
//             and what comes out is again one number plus a constant of the lane (shape.c)
//   leaves    Class.bits: bits of lane 0 that may be set, whether it is active or not
#include "compiler/passes/passes_int.h"

static uint64_t all_of(Type t) {
    if (!is_integer(t) || int_bits(t) >= 64) return UINT64_MAX;
    return (1ull << int_bits(t)) - 1;
}

// Bits from the lowest of b on: where carries may go.
static uint64_t from_lowest(uint64_t b) { return b ? ~((b & -b) - 1) : 0; }

static uint64_t of_sum(uint64_t a, uint64_t c) { return a & c ? from_lowest(a | c) : a | c; }

// A power of two: the shift that divides by it; -1: none.
static int shift_of(int64_t k) {
    return k > 0 && !(k & (k - 1)) ? __builtin_ctzll((uint64_t)k) : -1;
}

static uint64_t of_product(uint64_t a, int64_t k) {
    int s = shift_of(k);
    if (s >= 0) return a << s;
    return k ? from_lowest(a) << __builtin_ctzll((uint64_t)k) : 0;
}

static uint64_t of_operand(const Vec *x, Value i, int k) {
    Value v = operand(i, (unsigned)k);
    int64_t n;
    if (get_const(v, &n)) return (uint64_t)n & all_of(LLVMTypeOf(v));
    Class c = msl_class(x, v);
    bool one = (c.kind == LINEAR || c.kind == SHAPED) && !c.segmented;
    return one ? c.bits & all_of(LLVMTypeOf(v)) : all_of(LLVMTypeOf(v));
}

static uint64_t of_extension(const Vec *x, Value i, bool is_signed) {
    Type from = LLVMTypeOf(operand(i, 0));
    uint64_t a = of_operand(x, i, 0), sign = all_of(from) / 2 + 1;
    // lane 0 may be inactive and have wrapped: then it is counted back from another lane
    if (!msl_class(x, operand(i, 0)).sure && !msl_uniform(x, operand(i, 0))) return UINT64_MAX;
    return is_signed && (a & sign) ? a | ~all_of(from) : a;
}

// What operation i does to two kinds of bits alike: a mask and a shift to the right; false: more.
static bool masks(const Vec *x, Value i, uint64_t *mask, int *shift) {
    int64_t k;
    Type t = LLVMTypeOf(i);
    if (LLVMGetNumOperands(i) < 2 || !get_const(operand(i, 1), &k)) return false;
    int bits = (int)int_bits(t), power = shift_of(k);
    bool positive = !(of_operand(x, i, 0) >> (bits - 1));
    *mask = all_of(t);
    *shift = 0;
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMAnd: *mask = (uint64_t)k; return true;
    case LLVMLShr: *shift = (int)k; return k >= 0 && k < bits;
    case LLVMAShr: *shift = (int)k; return k >= 0 && k < bits && positive;
    case LLVMUDiv: *shift = power; return power >= 0 && power < bits;
    case LLVMSDiv: *shift = power; return power >= 0 && power < bits - 1 && positive;
    case LLVMURem: *mask = (uint64_t)k - 1; return power >= 0;
    case LLVMSRem: *mask = (uint64_t)k - 1; return power >= 0 && power < bits - 1 && positive;
    default: return false;
    }
}

uint64_t msl_base_bits(Vec *x, Value i) {
    uint64_t all = all_of(LLVMTypeOf(i)), mask, r;
    int shift;
    int64_t k;
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMAdd:
    case LLVMOr: r = of_sum(of_operand(x, i, 0), of_operand(x, i, 1)); break;
    case LLVMMul:
        r = get_const(operand(i, 1), &k) ? of_product(of_operand(x, i, 0), k) : all;
        break;
    case LLVMShl:
        r = get_const(operand(i, 1), &k) && k >= 0 && k < 63
                ? of_product(of_operand(x, i, 0), (int64_t)(1ull << k))
                : all;
        break;
    case LLVMZExt:
    case LLVMSExt: r = of_extension(x, i, LLVMIsASExtInst(i) != NULL); break;
    case LLVMTrunc:
    case LLVMFreeze: r = of_operand(x, i, 0); break;
    default: r = masks(x, i, &mask, &shift) ? (of_operand(x, i, 0) & mask) >> shift : all;
    }
    return r & all;
}

bool msl_class_of_bits(Vec *x, Value i, Class *r) {
    uint64_t mask, of_lanes = 0;
    int shift;
    if (!masks(x, i, &mask, &shift)) return false;
    Class a = msl_class(x, operand(i, 0));
    int64_t at[MAX_WIDTH * MAX_PARTS];
    if (a.segmented || !msl_shape_of(x, a, at)) return false;
    uint64_t all = all_of(LLVMTypeOf(i)), shared = of_operand(x, i, 0);
    for (unsigned l = 0; l < x->lanes; l++) of_lanes |= (uint64_t)at[l];
    if ((of_lanes & shared) || of_lanes > all / 2) return false;
    for (unsigned l = 0; l < x->lanes; l++) at[l] = (int64_t)(((uint64_t)at[l] & mask) >> shift);
    *r = msl_linear(1, true, true);
    msl_set_shape(x, r, at);
    r->max = ((shared | of_lanes) & mask) >> shift;
    r->sure = true;
    return true;
}
