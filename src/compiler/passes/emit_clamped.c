// SPDX-License-Identifier: Apache-2.0
// emit_clamped.c: loads at indices that are clamped, where clamps do something (version.c) or what
// they do is not known at the entry. a[row + clamp(x + dx, 0, w - 1)] follows no line, yet each
// lane reads one of three: its own place on the line x + dx, the place of the lower bound, that of
// the upper one. So: a masked load of the lanes that are not clamped, and one element for each
// bound, instead of a gather (5x5 blur of 1024 x 1024 on one thread of a Zen 4, AVX2: the two edges
// took 0.67 of 1.64 ms, now 0.1).
// The lanes that are not clamped lie on a line of addresses for the reason that prepare.c gives
// for extensions next to their access.
#include "compiler/passes/passes_int.h"

typedef struct Clamped {
    Value value;    // the clamped index
    Value line;     // what it is where it is not clamped
    Value bound[2]; // what else it may be; [1] NULL: nothing
    int64_t bytes;  // between the addresses of neighbours on the line
    bool segmented;
} Clamped;

// Uniform, or uniform in each segment.
static bool is_flat(const Vec *x, Value v) {
    Class c = msl_class(x, v);
    return c.kind == LINEAR && c.stride == 0;
}

static void note_segments(const Vec *x, Clamped *c, Value v) {
    c->segmented |= msl_class(x, v).segmented;
}

static bool is_min_max(Value v) {
    const char *n = callee_of(v);
    return (starts_with(n, "llvm.smin") || starts_with(n, "llvm.smax") ||
            starts_with(n, "llvm.umin") || starts_with(n, "llvm.umax")) &&
           !is_vector(LLVMTypeOf(v));
}

// min(max(line, bound), bound), or one of them.
static bool find_bounds(const Vec *x, Clamped *c, Value v) {
    Value line = v;
    c->value = v;
    for (int k = 0; k < 2 && is_min_max(line); k++) {
        int flat = is_flat(x, operand(line, 1)) ? 1 : 0;
        if (!is_flat(x, operand(line, flat))) return false;
        c->bound[k] = operand(line, flat);
        note_segments(x, c, c->bound[k]);
        line = operand(line, 1 - flat);
    }
    Class k = msl_class(x, line);
    c->line = line;
    c->bytes *= k.stride;
    note_segments(x, c, line);
    return k.kind == LINEAR && k.stride > 0;
}

// Whether v is a sum of what is flat and one clamped index.
static bool find_clamp(const Vec *x, Clamped *c, Value v) {
    if (!LLVMIsAInstruction(v)) return false;
    if (is_min_max(v)) return find_bounds(x, c, v);
    Value on = NULL;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMOr:
        if (!LLVMGetIsDisjoint(v)) return false; // fall through
    case LLVMAdd:
        on = operand(v, is_flat(x, operand(v, 0)) ? 1 : 0);
        note_segments(x, c, operand(v, on == operand(v, 0) ? 1 : 0));
        return is_flat(x, operand(v, on == operand(v, 0) ? 1 : 0)) && find_clamp(x, c, on);
    case LLVMSub:
        note_segments(x, c, operand(v, 1));
        return is_flat(x, operand(v, 1)) && find_clamp(x, c, operand(v, 0));
    case LLVMSExt:
    case LLVMZExt: return msl_map_get(&x->sunk, v) >= 0 && find_clamp(x, c, operand(v, 0));
    default: return false;
    }
}

static bool find_address(const Vec *x, Clamped *c, Value p) {
    if (!LLVMIsAGetElementPtrInst(p) || LLVMGetNumOperands(p) != 2) return false;
    Value from = operand(p, 0), index = operand(p, 1);
    c->bytes = (int64_t)LLVMABISizeOfType(x->dl, LLVMGetGEPSourceElementType(p));
    if (is_flat(x, index)) { // a constant behind it
        note_segments(x, c, index);
        return find_address(x, c, from);
    }
    note_segments(x, c, from);
    return is_flat(x, from) && int_bits(LLVMTypeOf(index)) == 64 && find_clamp(x, c, index);
}

// The scalar v of a segment where the clamped index is `number`.
static Value with_index(Vec *x, const Clamped *c, Value v, Value number, unsigned segment) {
    if (v == c->value) return number;
    if (is_flat(x, v)) return msl_scalar_of(x, v, segment);
    Value a = with_index(x, c, operand(v, 0), number, segment), b;
    LLVMOpcode op = LLVMGetInstructionOpcode(v);
    if (op == LLVMSExt || op == LLVMZExt) return LLVMBuildCast(x->b, op, a, LLVMTypeOf(v), "");
    b = with_index(x, c, operand(v, 1), number, segment);
    if (op == LLVMGetElementPtr) {
        if (int_bits(LLVMTypeOf(b)) < 64) b = LLVMBuildSExt(x->b, b, x->i64, "");
        return LLVMBuildGEP2(x->b, LLVMGetGEPSourceElementType(v), a, &b, 1, "");
    }
    return op == LLVMSub ? LLVMBuildSub(x->b, a, b, "") : LLVMBuildAdd(x->b, a, b, "");
}

// Memory that may always be read.
static Value nothing(Vec *x) {
    static const char name[] = "ingot.nothing";
    Value g = LLVMGetNamedGlobal(x->module, name);
    if (g) return g;
    g = LLVMAddGlobal(x->module, x->i64, name);
    LLVMSetInitializer(g, LLVMConstNull(x->i64));
    LLVMSetGlobalConstant(g, 1);
    LLVMSetLinkage(g, LLVMInternalLinkage);
    LLVMSetAlignment(g, 8);
    return g;
}

static Value bits_of(Vec *x, Value mask) {
    Type t = LLVMTypeOf(mask);
    return LLVMBuildBitCast(x->b, mask, LLVMIntTypeInContext(x->llvm, LLVMGetVectorSize(t)), "");
}

static Value splat(Vec *x, Value v, unsigned n) {
    int zeros[MAX_WIDTH] = {0};
    Value one = LLVMGetPoison(LLVMVectorType(LLVMTypeOf(v), n));
    one = LLVMBuildInsertElement(x->b, one, v, const_int(x->i32, 0), "");
    return msl_shuffle(x, one, LLVMGetPoison(LLVMTypeOf(one)), zeros, n);
}

// The element of a bound, for the lanes of `mask`; without any, nothing in particular.
static Value load_bound(Vec *x, const Clamped *c, Value p, int k, unsigned segment, Value mask,
                        Type t, unsigned align) {
    Value bits = bits_of(x, mask);
    Value any = LLVMBuildICmp(x->b, LLVMIntNE, bits, LLVMConstNull(LLVMTypeOf(bits)), "");
    Value at = with_index(x, c, p, msl_scalar_of(x, c->bound[k], segment), segment);
    Value v = LLVMBuildLoad2(x->b, LLVMGetElementType(t),
                             LLVMBuildSelect(x->b, any, at, nothing(x), ""), "");
    LLVMSetAlignment(v, align);
    return splat(x, v, LLVMGetVectorSize(t));
}

// The lanes that are not clamped, the others being those of `rest`: the first of them says where
// the line is.
static Value load_line(Vec *x, const Clamped *c, Value p, unsigned segment, Value mask, Value rest,
                       unsigned align) {
    Type t = LLVMTypeOf(rest);
    Value bits = bits_of(x, mask), number = msl_scalar_of(x, c->line, segment);
    Type bits_type = LLVMTypeOf(bits), index = LLVMTypeOf(number);
    Value args[] = {bits, const_int(x->i1, 0)};
    Value first = msl_intrinsic(x, "llvm.cttz", &bits_type, 1, args, 2);
    Value ahead = LLVMBuildMul(x->b, LLVMBuildIntCast2(x->b, first, index, 0, ""),
                               const_int(index, msl_class(x, c->line).stride), "");
    number = LLVMBuildAdd(x->b, number, ahead, "");
    Value back = LLVMBuildMul(x->b, LLVMBuildIntCast2(x->b, first, x->i64, 0, ""),
                              const_int(x->i64, -c->bytes), "");
    Value at = with_index(x, c, p, number, segment);
    at = LLVMBuildGEP2(x->b, x->i8, at, &back, 1, "");
    Type overload[] = {t, LLVMTypeOf(at)};
    Value a[] = {at, mask, rest};
    return msl_set_align(x, msl_intrinsic(x, "llvm.masked.load", overload, 2, a, 3), 1, align);
}

static bool find_line(const Vec *x, Clamped *c, Value p, Type element) {
    // shorter runs: LLVM 22.1 widens such masks wrongly (emit_memory.c)
    enum { LEAST = 16 };
    if (!(x->cx->avx512 || x->cx->avx2) || x->cx->terse || x->covered ||
        msl_is_narrow(x, element) || is_pointer(element) || !find_address(x, c, p) ||
        c->bytes != (int64_t)LLVMABISizeOfType(x->dl, element))
        return false;
    return (c->segmented ? x->segment : x->width) * c->bytes >= LEAST;
}

bool msl_is_clamped_line(const Vec *x, Value p, Type element) {
    Clamped c = {0};
    return find_line(x, &c, p, element);
}

Value msl_load_clamped(Vec *x, Value p, Type element, unsigned align) {
    Clamped c = {0};
    if (!find_line(x, &c, p, element)) return NULL;
    unsigned segments = x->n_segments / x->parts, runs = c.segmented ? segments : 1;
    unsigned lanes = x->width / runs;
    Type t = LLVMVectorType(element, lanes);
    Value value = msl_vector(x, c.value, 0), line = msl_vector(x, c.line, 0), part[MAX_SEGMENTS];
    for (unsigned r = 0; r < runs; r++) {
        unsigned segment = x->part * segments + r;
        Value mask = msl_part(x, x->mask, r * lanes, lanes);
        Value now = msl_part(x, value, r * lanes, lanes);
        Value own = LLVMBuildICmp(x->b, LLVMIntEQ, now, msl_part(x, line, r * lanes, lanes), "");
        Value out = LLVMBuildAnd(x->b, mask, LLVMBuildNot(x->b, own, ""), "");
        Value is_first = NULL, first = out, other = NULL;
        if (c.bound[1]) {
            Value bound = splat(x, msl_scalar_of(x, c.bound[0], segment), lanes);
            is_first = LLVMBuildICmp(x->b, LLVMIntEQ, now, bound, "");
            other = LLVMBuildAnd(x->b, out, LLVMBuildNot(x->b, is_first, ""), "");
            first = LLVMBuildAnd(x->b, out, is_first, "");
        }
        Value bound = load_bound(x, &c, p, 0, segment, first, t, align);
        if (other)
            bound = LLVMBuildSelect(x->b, is_first, bound,
                                    load_bound(x, &c, p, 1, segment, other, t, align), "");
        part[r] = load_line(x, &c, p, segment, LLVMBuildAnd(x->b, mask, own, ""), bound, align);
    }
    return msl_concat(x, part, runs);
}
