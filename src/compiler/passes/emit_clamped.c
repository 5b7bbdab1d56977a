// SPDX-License-Identifier: Apache-2.0
// emit_clamped.c: loads at indices that are clamped, where clamps do something (version.c) or what
// they do is not known at the entry. a[row + clamp(x + dx, 0, w - 1)] follows no line, yet each
// lane reads one of three: its own place on the line x + dx, the place of the lower bound, that of
// the upper one. So: a masked load of the lanes that are not clamped, and one element for each
// bound, instead of a gather (5x5 blur of 1024 x 1024 on one thread of a Zen 4, AVX2: the two edges
// took 0.67 of 1.64 ms, now 0.1). All of an address but the row is the same in every row of a
// filter: which element of a bound is read is chosen as an index, once for all of them.
// The lanes that are not clamped lie on a line of addresses for the reason that prepare.c gives
// for extensions next to their access.
#include "compiler/passes/passes_int.h"

typedef struct Clamped {
    Value value;    // the clamped index
    Value line;     // what it is where it is not clamped
    Value bound[2]; // what else it may be; [1] NULL: nothing
    Value shift;    // a constant to be added to line and bound[1], or NULL
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

static bool is_clamp(Value v) { return is_min_max(v) && !is_vector(LLVMTypeOf(v)); }

// min(max(line, bound), bound), or one of them; of max(x - 1, 0) LLVM makes max(x, 1) - 1.
static bool find_bounds(const Vec *x, Clamped *c, Value v) {
    Value line = v;
    c->value = v;
    for (int k = 0; k < 2 && is_clamp(line); k++) {
        int flat = is_flat(x, operand(line, 1)) ? 1 : 0;
        if (!is_flat(x, operand(line, flat))) return false;
        c->bound[k] = operand(line, flat);
        note_segments(x, c, c->bound[k]);
        line = operand(line, 1 - flat);
        if (!k && LLVMIsAInstruction(line) && LLVMGetInstructionOpcode(line) == LLVMAdd &&
            LLVMIsAConstantInt(operand(line, 1)) && is_min_max(operand(line, 0))) {
            c->shift = operand(line, 1);
            line = operand(line, 0);
        }
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
    if (is_clamp(v)) return find_bounds(x, c, v);
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

typedef struct Place { // of an element, in a segment
    Value number;      // the clamped index
    Value ahead;       // i64, added to it when it is one of 64 bits; or NULL
    unsigned segment;
} Place;

// The scalar v where the clamped index is the place's.
static Value with_index(Vec *x, const Clamped *c, const Place *at, Value v) {
    if (v == c->value) return at->number;
    if (is_flat(x, v)) return msl_scalar_of(x, v, at->segment);
    Value a = with_index(x, c, at, operand(v, 0)), b;
    LLVMOpcode op = LLVMGetInstructionOpcode(v);
    if (op == LLVMSExt || op == LLVMZExt) return LLVMBuildCast(x->b, op, a, LLVMTypeOf(v), "");
    b = with_index(x, c, at, operand(v, 1));
    return op == LLVMSub ? LLVMBuildSub(x->b, a, b, "") : LLVMBuildAdd(x->b, a, b, "");
}

// `v`, a sum, may be extended term by term.
static bool is_exact(Value v, LLVMOpcode extension) {
    if (int_bits(LLVMTypeOf(v)) == 64 || LLVMGetInstructionOpcode(v) == LLVMOr) return true;
    return extension == LLVMSExt ? LLVMGetNSW(v) : LLVMGetNUW(v);
}

// The address of the element of this type with the index v. What is flat is added first: loads of
// one row, and loads at one clamped index, then have most of it in common.
static Value with_offset(Vec *x, const Clamped *c, const Place *at, Type type, Value base, Value v,
                         LLVMOpcode extension) {
    LLVMOpcode op = v != c->value && !is_flat(x, v) ? LLVMGetInstructionOpcode(v) : LLVMPHI;
    if ((op == LLVMSExt || op == LLVMZExt) && int_bits(LLVMTypeOf(v)) == 64)
        return with_offset(x, c, at, type, base, operand(v, 0), op);
    if ((op == LLVMAdd || op == LLVMOr) && is_exact(v, extension)) {
        int flat = is_flat(x, operand(v, 0)) ? 0 : 1;
        base = with_offset(x, c, at, type, base, operand(v, flat), extension);
        return with_offset(x, c, at, type, base, operand(v, 1 - flat), extension);
    }
    Value index = with_index(x, c, at, v);
    if (int_bits(LLVMTypeOf(index)) < 64) index = LLVMBuildCast(x->b, extension, index, x->i64, "");
    if (at->ahead && !is_flat(x, v)) index = LLVMBuildAdd(x->b, index, at->ahead, "");
    return LLVMBuildGEP2(x->b, type, base, &index, 1, "");
}

static Value address_of(Vec *x, const Clamped *c, const Place *at, Value p) {
    if (is_flat(x, p)) return msl_scalar_of(x, p, at->segment);
    Value base = address_of(x, c, at, operand(p, 0));
    return with_offset(x, c, at, LLVMGetGEPSourceElementType(p), base, operand(p, 1), LLVMSExt);
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

static Value shifted(Vec *x, const Clamped *c, Value v) {
    if (!c->shift) return v;
    bool many = is_vector(LLVMTypeOf(v));
    Value by = many ? splat(x, c->shift, LLVMGetVectorSize(LLVMTypeOf(v))) : c->shift;
    return LLVMBuildAdd(x->b, v, by, "");
}

static Value bound_of(Vec *x, const Clamped *c, int k, unsigned segment) {
    Value bound = msl_scalar_of(x, c->bound[k], segment);
    return k ? shifted(x, c, bound) : bound;
}

// The element of a bound, for the lanes of `mask`; without any, nothing in particular: where lane 0
// is known to run that is what it reads, at the index `own`.
static Value load_bound(Vec *x, const Clamped *c, Value p, int k, unsigned segment, Value mask,
                        Value own, Type t, unsigned align) {
    Value bits = bits_of(x, mask);
    Value any = LLVMBuildICmp(x->b, LLVMIntNE, bits, LLVMConstNull(LLVMTypeOf(bits)), "");
    Place place = {.number = bound_of(x, c, k, segment), .segment = segment};
    if (own) place.number = LLVMBuildSelect(x->b, any, place.number, own, "");
    Value at = address_of(x, c, &place, p);
    if (!own) at = LLVMBuildSelect(x->b, any, at, nothing(x), "");
    Value v = LLVMBuildLoad2(x->b, LLVMGetElementType(t), at, "");
    LLVMSetAlignment(v, align);
    return splat(x, v, LLVMGetVectorSize(t));
}

// The lanes that are not clamped, the others being those of `rest`: the first of them says where
// the line is.
static Value load_line(Vec *x, const Clamped *c, Value p, unsigned segment, Value mask, Value rest,
                       unsigned align) {
    Type t = LLVMTypeOf(rest);
    Value bits = bits_of(x, mask), number = shifted(x, c, msl_scalar_of(x, c->line, segment));
    Type bits_type = LLVMTypeOf(bits), index = LLVMTypeOf(number);
    Value args[] = {bits, const_int(x->i1, 0)};
    Value first = msl_intrinsic(x, "llvm.cttz", &bits_type, 1, args, 2);
    int64_t stride = msl_class(x, c->line).stride;
    Value ahead = LLVMBuildMul(x->b, LLVMBuildIntCast2(x->b, first, index, 0, ""),
                               const_int(index, stride), "");
    Place place = {.number = LLVMBuildAdd(x->b, number, ahead, ""), .segment = segment};
    place.ahead = LLVMBuildMul(x->b, LLVMBuildIntCast2(x->b, first, x->i64, 0, ""),
                               const_int(x->i64, -stride), "");
    Value at = address_of(x, c, &place, p);
    Type overload[] = {t, LLVMTypeOf(at)};
    Value a[] = {at, mask, rest};
    return msl_set_align(x, msl_intrinsic(x, "llvm.masked.load", overload, 2, a, 3), 1, align);
}

static bool find_line(const Vec *x, Clamped *c, Value p, Type element) {
    // shorter runs: LLVM 22.1 widens such masks wrongly (emit_memory.c)
    enum { LEAST = 16 };
    if (!(x->cx->avx512 || x->cx->avx2) || x->asked.terse || x->covered ||
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
    Value value = msl_vector(x, c.value, 0), part[MAX_SEGMENTS];
    Value line = shifted(x, &c, msl_vector(x, c.line, 0));
    for (unsigned r = 0; r < runs; r++) {
        unsigned segment = x->part * segments + r;
        Value mask = msl_part(x, x->mask, r * lanes, lanes);
        Value now = msl_part(x, value, r * lanes, lanes);
        Value own = LLVMBuildICmp(x->b, LLVMIntEQ, now, msl_part(x, line, r * lanes, lanes), "");
        Value out = LLVMBuildAnd(x->b, mask, LLVMBuildNot(x->b, own, ""), "");
        Value is_first = NULL, first = out, other = NULL;
        if (c.bound[1]) {
            Value bound = splat(x, bound_of(x, &c, 0, segment), lanes);
            is_first = LLVMBuildICmp(x->b, LLVMIntEQ, now, bound, "");
            other = LLVMBuildAnd(x->b, out, LLVMBuildNot(x->b, is_first, ""), "");
            first = LLVMBuildAnd(x->b, out, is_first, "");
        }
        Value lane = NULL;
        if (x->mask == msl_full_mask(x))
            lane = LLVMBuildExtractElement(x->b, now, const_int(x->i32, 0), "");
        Value bound = load_bound(x, &c, p, 0, segment, first, lane, t, align);
        if (other)
            bound = LLVMBuildSelect(x->b, is_first, bound,
                                    load_bound(x, &c, p, 1, segment, other, lane, t, align), "");
        part[r] = load_line(x, &c, p, segment, LLVMBuildAnd(x->b, mask, own, ""), bound, align);
    }
    return msl_concat(x, part, runs);
}
