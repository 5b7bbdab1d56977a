// SPDX-License-Identifier: Apache-2.0
// shape.c: values that are one number plus a constant of the lane.
//   purpose   kernels deal their lanes out to blocks: `lane / 4 * 34 + lane % 4 * 8`. As a vector
//             of addresses that costs a gather for each byte; as one address with 32 constant
//             distances a few plain loads, several lanes at a time where they lie in a row
//   leaves    classes of kind SHAPED (divergence.c), the constants in Class.shape
// `known`: values that are constants of the lane alone, whatever computed them.
#include "compiler/passes/passes_int.h"

enum { MAX_DEPTH = 12 }; // of an expression of the lane

// ---- shapes ----

struct Shape {
    struct Shape *next;
    Value table; // in memory, if one is needed
    int64_t at[MAX_WIDTH * MAX_PARTS];
};

// Equal shapes are one, so that they are compared by address.
static const int64_t *shared(Vec *x, const int64_t *at) {
    size_t bytes = x->lanes * sizeof *at;
    for (struct Shape *s = x->shapes; s; s = s->next)
        if (!memcmp(s->at, at, bytes)) return s->at;
    struct Shape *s = vec_alloc(x, 1, sizeof *s);
    memcpy(s->at, at, bytes);
    s->next = x->shapes;
    x->shapes = s;
    return s->at;
}

void msl_set_shape(Vec *x, Class *c, const int64_t *at) {
    int64_t from_first[MAX_WIDTH * MAX_PARTS], stride = at[1] - at[0];
    bool line = true;
    for (unsigned l = 0; l < x->lanes; l++) {
        from_first[l] = at[l] - at[0];
        line &= from_first[l] == (int64_t)l * stride;
    }
    c->segmented = c->rows = false;
    c->row = 0;
    c->kind = line ? LINEAR : SHAPED;
    c->stride = line ? stride : 0;
    c->shape = line ? NULL : shared(x, from_first);
}

bool msl_shape_of(const Vec *x, Class c, int64_t *at) {
    if (c.kind != LINEAR && c.kind != SHAPED) return false;
    if (c.segmented && !c.rows) return false;
    for (unsigned l = 0; l < x->lanes; l++)
        at[l] = c.kind == SHAPED ? c.shape[l]
                : c.segmented
                    ? c.row * (int64_t)(l / x->segment) + c.stride * (int64_t)(l % x->segment)
                    : c.stride * (int64_t)l;
    return true;
}

Value msl_shape_vector(Vec *x, Class c, Type t) {
    Value e[MAX_WIDTH];
    for (unsigned l = 0; l < x->width; l++) e[l] = const_int(t, c.shape[x->part * x->width + l]);
    return LLVMConstVector(e, x->width);
}

static Value table_of(Vec *x, struct Shape *s) {
    if (s->table) return s->table;
    Value e[MAX_WIDTH * MAX_PARTS];
    for (unsigned l = 0; l < x->lanes; l++) e[l] = const_int(x->i64, s->at[l]);
    s->table = LLVMAddGlobal(x->module, LLVMArrayType2(x->i64, x->lanes), "shape");
    LLVMSetInitializer(s->table, LLVMConstArray2(x->i64, e, x->lanes));
    LLVMSetGlobalConstant(s->table, 1);
    LLVMSetLinkage(s->table, LLVMPrivateLinkage);
    return s->table;
}

Value msl_shape_at(Vec *x, Class c, Value lane) {
    struct Shape *s = x->shapes;
    while (s->at != c.shape) s = s->next;
    Value i = LLVMBuildIntCast2(x->b, lane, x->i64, 0, "");
    // where no lane is active there is no first one either
    i = LLVMBuildAnd(x->b, i, const_int(x->i64, x->lanes - 1), "");
    Value p = LLVMBuildGEP2(x->b, x->i64, table_of(x, s), &i, 1, "");
    return LLVMBuildLoad2(x->b, x->i64, p, "");
}

// ---- values that are constants of the lane ----

static bool compute(Value i, unsigned bits, uint64_t a, uint64_t b, uint64_t *r) {
    bool small = b < bits;
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMAdd: *r = a + b; return true;
    case LLVMSub: *r = a - b; return true;
    case LLVMMul: *r = a * b; return true;
    case LLVMAnd: *r = a & b; return true;
    case LLVMOr: *r = a | b; return true;
    case LLVMXor: *r = a ^ b; return true;
    case LLVMShl: *r = small ? a << b : 0; return small;
    case LLVMLShr:
    case LLVMAShr: *r = small ? a >> b : 0; return small; // nothing is negative
    case LLVMUDiv:
    case LLVMSDiv: *r = b ? a / b : 0; return b != 0;
    case LLVMURem:
    case LLVMSRem: *r = b ? a % b : 0; return b != 0;
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
    case LLVMFreeze: *r = a; return true;
    default: return false;
    }
}

// In [0, half of the type's range), so that signs and extensions make no difference.
static bool is_small(Type t, uint64_t v) { return v < 1ull << (int_bits(t) - 1); }

static bool known_to(Vec *x, Value v, uint64_t *at, int depth) {
    Type t = LLVMTypeOf(v);
    if (!depth || !is_integer(t) || int_bits(t) > 64 || int_bits(t) < 8) return false;
    int64_t k;
    if (get_const(v, &k)) {
        for (unsigned l = 0; l < x->lanes; l++) at[l] = (uint64_t)k;
        return is_small(t, (uint64_t)k);
    }
    if (!LLVMIsAInstruction(v)) return false;
    if (msl_builtin_of(v).op == OP_POSITION) return msl_known_position(x, v, at);
    int n = LLVMGetNumOperands(v);
    uint64_t a[MAX_WIDTH * MAX_PARTS], b[MAX_WIDTH * MAX_PARTS] = {0};
    if ((!LLVMIsABinaryOperator(v) && !LLVMIsACastInst(v) && !LLVMIsAFreezeInst(v)) ||
        !known_to(x, operand(v, 0), a, depth - 1) ||
        (n > 1 && !known_to(x, operand(v, 1), b, depth - 1)))
        return false;
    uint64_t all = int_bits(t) == 64 ? UINT64_MAX : (1ull << int_bits(t)) - 1;
    for (unsigned l = 0; l < x->lanes; l++) {
        if (!compute(v, int_bits(t), a[l], b[l], &at[l])) return false;
        at[l] &= all;
        if (!is_small(t, at[l])) return false;
    }
    return true;
}

bool msl_known(Vec *x, Value v, int64_t *at) {
    uint64_t values[MAX_WIDTH * MAX_PARTS];
    if (!LLVMIsAInstruction(v) || !known_to(x, v, values, MAX_DEPTH)) return false;
    for (unsigned l = 0; l < x->lanes; l++) at[l] = (int64_t)values[l];
    return true;
}
