// SPDX-License-Identifier: Apache-2.0
// emit_check.c: i1 __ingot_inside(pointer, start, limit, pointer, start, limit, ...) of shader
// validation (codegen/validate.c): true only if pointer - start < limit (unsigned) for every triple
// and every active lane of the step.
//   uniform   one compare
//   linear    the ends of the line, or of each segment's: inactive lanes count too. If that fails,
//             all is compared again lane by lane, under the mask
//   else      a vector compare under the mask
//   linear with a common term: start[a + b], start[a + c], ...: the least and the greatest of b, c,
//             ... stand for all (the 25 texels of a 5x5 blur: 5 rows with a column range that LLVM
//             finds to be the same)
// The same pointer classes as the accesses themselves have: what is found inside here is what they
// will touch. A line between two ends inside holds no wrap: its length is far below 2^63.
#include "compiler/passes/passes_int.h"

enum { MAX_REACH = 1 << 30 }; // bytes a line may span; more: lane by lane

static Value distance(Vec *x, Value p, Value start, Type to) {
    return LLVMBuildSub(x->b, LLVMBuildPtrToInt(x->b, p, to, ""),
                        LLVMBuildPtrToInt(x->b, start, to, ""), "");
}

static Value both(Vec *x, Value a, Value b) { return a ? LLVMBuildAnd(x->b, a, b, "") : b; }

static bool short_line(Vec *x, Class c) {
    int64_t reach = c.stride * (int64_t)x->lanes, rows = c.row * (int64_t)x->n_segments;
    if (c.stride > MAX_REACH || c.stride < -MAX_REACH || c.row > MAX_REACH || c.row < -MAX_REACH)
        return false;
    return reach <= MAX_REACH && reach >= -MAX_REACH && rows <= MAX_REACH && rows >= -MAX_REACH;
}

// Every active lane of every part.
static Value check_lanes(Vec *x, Value p, Value start, Value limit) {
    Value bad = NULL;
    for (unsigned k = 0; k < x->parts; k++) {
        msl_set_part(x, k);
        Value d =
            distance(x, msl_vector(x, p, 0), msl_vector(x, start, 0), msl_vector_type(x, x->i64));
        Value out = LLVMBuildICmp(x->b, LLVMIntUGE, d, msl_vector(x, limit, 0), "");
        Value m = msl_mask_and(x, x->mask, out);
        bad = bad ? LLVMBuildOr(x->b, bad, m, "") : m;
    }
    msl_set_part(x, 0);
    return LLVMBuildNot(x->b, msl_any(x, bad), "");
}

// The first and the last lane of `lanes` that start in `segment`.
static Value check_ends(Vec *x, Value p, Value start, Value limit, unsigned segment, int64_t ahead,
                        Value ok) {
    Value first = distance(x, msl_scalar_of(x, p, segment), start, x->i64);
    ok = both(x, ok, LLVMBuildICmp(x->b, LLVMIntULT, first, limit, ""));
    if (!ahead) return ok;
    Value last = LLVMBuildAdd(x->b, first, const_int(x->i64, ahead), "");
    return both(x, ok, LLVMBuildICmp(x->b, LLVMIntULT, last, limit, ""));
}

// Bits of the active lanes of the step's ends: the first and the last one's number, i64.
static void active_ends(Vec *x, Value ends[2]) {
    ends[0] = ends[1] = const_int(x->i64, 0);
    for (unsigned k = 0; k < x->parts; k++) {
        unsigned p = x->parts - 1 - k; // the first of all comes last
        Value first = LLVMBuildZExtOrBitCast(x->b, msl_first_lane(x, x->masks[p]), x->i64, "");
        Value last = LLVMBuildZExtOrBitCast(x->b, msl_last_lane(x, x->masks[k]), x->i64, "");
        first = LLVMBuildAdd(x->b, first, const_int(x->i64, (int64_t)p * x->width), "");
        last = LLVMBuildAdd(x->b, last, const_int(x->i64, (int64_t)k * x->width), "");
        ends[0] = LLVMBuildSelect(x->b, msl_any(x, x->masks[p]), first, ends[0], "");
        ends[1] = LLVMBuildSelect(x->b, msl_any(x, x->masks[k]), last, ends[1], "");
    }
}

// A line between two active lanes: exact unless lanes between them that are off go astray.
static Value check_active(Vec *x, Value p, Value start, Value limit, const Value ends[2],
                          Value ok) {
    Value s = msl_scalar(x, start), l = msl_scalar(x, limit);
    Value first = distance(x, msl_scalar(x, p), s, x->i64);
    for (int e = 0; e < 2; e++) {
        Value far = LLVMBuildMul(x->b, ends[e], const_int(x->i64, msl_class(x, p).stride), "");
        Value at = LLVMBuildAdd(x->b, first, far, "");
        ok = both(x, ok, LLVMBuildICmp(x->b, LLVMIntULT, at, l, ""));
    }
    return ok;
}

static bool is_line(Vec *x, Value i, int k) {
    Class c = msl_class(x, operand(i, k));
    return c.kind == LINEAR && !c.segmented && short_line(x, c) &&
           msl_uniform(x, operand(i, k + 1)) && msl_uniform(x, operand(i, k + 2));
}

// *exact: nothing is left to be compared lane by lane.
static Value check(Vec *x, Value p, Value start, Value limit, bool *exact) {
    Class c = msl_class(x, p);
    bool ends =
        c.kind == LINEAR && msl_uniform(x, start) && msl_uniform(x, limit) && short_line(x, c);
    *exact = !ends || (!c.stride && !c.segmented);
    if (!ends) return check_lanes(x, p, start, limit);
    Value s = msl_scalar(x, start), l = msl_scalar(x, limit), ok = NULL;
    int64_t ahead = (int64_t)(x->segment - 1) * c.stride;
    if (!c.segmented) { // one line over all parts
        return check_ends(x, p, s, l, 0, (int64_t)(x->lanes - 1) * c.stride, NULL);
    }
    for (unsigned g = 0; g < x->n_segments; g++) {
        if (c.rows && g && g != x->n_segments - 1) continue; // between two rows that are inside
        ok = check_ends(x, p, s, l, g, ahead, ok);
    }
    return ok;
}

// ---- a common term ----

// An address start[extension of (term[0] + term[1])] that is linear.
typedef struct Sum {
    Value start, limit, term[2];
    int64_t size; // of an element
    bool is_signed, done;
    Class c;
} Sum;

static bool read_sum(Vec *x, Value i, int k, Sum *s) {
    Value p = operand(i, k);
    *s = (Sum){.start = operand(i, k + 1), .limit = operand(i, k + 2), .c = msl_class(x, p)};
    if (s->c.kind != LINEAR || !short_line(x, s->c) || !LLVMIsAGetElementPtrInst(p) ||
        LLVMGetNumOperands(p) != 2 || operand(p, 0) != s->start || !msl_uniform(x, s->start) ||
        !msl_uniform(x, s->limit))
        return false;
    Value index = operand(p, 1);
    s->is_signed = LLVMIsASExtInst(index) != NULL;
    s->size = (int64_t)LLVMABISizeOfType(x->dl, LLVMGetGEPSourceElementType(p));
    // Buffers end below 2^32 bytes: then the sum without wrap is the index if it is inside.
    if ((!s->is_signed && !LLVMIsAZExtInst(index)) || (s->is_signed && s->size < 2) ||
        s->size < 1 || s->size > 256)
        return false;
    Value sum = operand(index, 0);
    if (!is_integer(LLVMTypeOf(sum)) || int_bits(LLVMTypeOf(sum)) != 32 ||
        !LLVMIsAInstruction(sum) || LLVMGetInstructionOpcode(sum) != LLVMAdd)
        return false;
    for (int t = 0; t < 2; t++) {
        s->term[t] = operand(sum, t);
        if (msl_class(x, s->term[t]).kind != LINEAR) return false;
    }
    return true;
}

static bool alike(const Sum *a, const Sum *b) {
    return a->start == b->start && a->limit == b->limit && a->size == b->size &&
           a->is_signed == b->is_signed && a->c.stride == b->c.stride &&
           a->c.segmented == b->c.segmented && a->c.rows == b->c.rows && a->c.row == b->c.row;
}

// The term of `s` that is not `common`; NULL if common is none of them.
static Value other_term(const Sum *s, Value common) {
    if (s->term[0] == common) return s->term[1];
    return s->term[1] == common ? s->term[0] : NULL;
}

static int count_common(const Sum *sums, int n, int first, Value common) {
    int found = 0;
    for (int k = first; k < n; k++)
        found += !sums[k].done && alike(&sums[k], &sums[first]) && other_term(&sums[k], common);
    return found;
}

// All sums from `first` on that have the term in common.
static Value check_common(Vec *x, Sum *sums, int n, int first, Value common, Value ok) {
    const Sum *s = &sums[first];
    Value limit = msl_scalar(x, s->limit);
    unsigned segments = s->c.segmented ? x->n_segments : 1;
    int64_t lanes = s->c.segmented ? x->segment : x->lanes, ahead = (lanes - 1) * s->c.stride;
    for (unsigned g = 0; g < segments; g++) {
        if (s->c.rows && g && g != segments - 1) continue;
        Value ends[2] = {NULL, NULL};
        for (int k = first; k < n; k++) {
            Value other = other_term(&sums[k], common);
            if (sums[k].done || !alike(&sums[k], s) || !other) continue;
            other = msl_scalar_of(x, other, g);
            for (int e = 0; e < 2; e++) {
                Value args[2] = {ends[e], other};
                ends[e] =
                    !ends[e] ? other
                             : msl_intrinsic(x, e ? "llvm.smax" : "llvm.smin", &x->i32, 1, args, 2);
            }
        }
        Value from = LLVMBuildCast(x->b, s->is_signed ? LLVMSExt : LLVMZExt,
                                   msl_scalar_of(x, common, g), x->i64, "");
        for (int e = 0; e < 2; e++) {
            Value at = LLVMBuildAdd(x->b, from, LLVMBuildSExt(x->b, ends[e], x->i64, ""), "");
            at = LLVMBuildMul(x->b, at, const_int(x->i64, s->size), "");
            if ((ahead > 0) == (e == 1)) at = LLVMBuildAdd(x->b, at, const_int(x->i64, ahead), "");
            ok = both(x, ok, LLVMBuildICmp(x->b, LLVMIntULT, at, limit, ""));
        }
    }
    for (int k = first + 1; k < n; k++)
        if (!sums[k].done && alike(&sums[k], s) && other_term(&sums[k], common))
            sums[k].done = true;
    sums[first].done = true;
    return ok;
}

// ---- emission ----

static bool used_once(Value v) {
    LLVMUseRef u = LLVMGetFirstUse(v);
    return u && !LLVMGetNextUse(u);
}

// Addresses that only the compare lane by lane needs are computed there: before the branch they
// would be values that live on into the fast path (30 registers in a 5x5 blur).
void msl_find_late(Vec *x) {
    for (int b = 0; b < x->n_blocks; b++)
        for (Value i = LLVMGetFirstInstruction(x->blocks[b].old); i;
             i = LLVMGetNextInstruction(i)) {
            if (msl_builtin_of(i).op != OP_INSIDE) continue;
            for (int k = 0; k < (int)LLVMGetNumArgOperands(i); k += 3) {
                Sum s;
                Value p = operand(i, k);
                if (!read_sum(x, i, k, &s) || !used_once(p) ||
                    LLVMGetInstructionParent(p) != x->blocks[b].old)
                    continue;
                msl_map_put(x->cx, &x->arena, &x->late, p, 1);
                Value index = operand(p, 1);
                if (used_once(index) && LLVMGetInstructionParent(index) == x->blocks[b].old)
                    msl_map_put(x->cx, &x->arena, &x->late, index, 1);
            }
        }
}

bool msl_is_late(const Vec *x, Value i) { return msl_map_get(&x->late, i) >= 0; }

static void emit_late(Vec *x, Value p) {
    if (!msl_is_late(x, p)) return;
    if (msl_is_late(x, operand(p, 1))) msl_emit_instruction(x, operand(p, 1));
    msl_emit_instruction(x, p);
}

void msl_emit_inside(Vec *x, Value i, Val *o) {
    int n = (int)LLVMGetNumArgOperands(i), n_sums = 0;
    Value ok = NULL;
    bool all_exact = true, exact;
    Sum *sums = vec_alloc(x, (size_t)n / 3 + 1, sizeof *sums);
    bool *summed = vec_alloc(x, (size_t)n / 3 + 1, sizeof *summed);
    for (int k = 0; k < n; k += 3)
        if ((summed[k / 3] = read_sum(x, i, k, &sums[n_sums]))) n_sums++;
    for (int k = 0; k < n_sums; k++) {
        if (sums[k].done) continue;
        int counts[2] = {count_common(sums, n_sums, k, sums[k].term[0]),
                         count_common(sums, n_sums, k, sums[k].term[1])};
        ok = check_common(x, sums, n_sums, k, sums[k].term[counts[1] > counts[0]], ok);
        all_exact = false;
    }
    for (int k = 0; k < n; k += 3) {
        if (summed[k / 3]) continue;
        ok = both(x, ok, check(x, operand(i, k), operand(i, k + 1), operand(i, k + 2), &exact));
        all_exact &= exact;
    }
    o->base[0] = ok ? ok : LLVMConstAllOnes(x->i1);
    if (!ok || all_exact) return;
    Block before = LLVMGetInsertBlock(x->b), again = msl_new_block(x, "again"),
          done = msl_new_block(x, "checked");
    LLVMBuildCondBr(x->b, ok, done, again);
    LLVMPositionBuilderAtEnd(x->b, again);
    // First the ends of the active lanes, where all are lines: if (t < n) s[t] += s[t + n] is
    // inside for those.
    Value lanes = NULL, active = NULL, ends[2];
    bool lines = true;
    for (int k = 0; k < n; k += 3) emit_late(x, operand(i, k)), lines &= is_line(x, i, k);
    Block between = NULL;
    if (lines) {
        active_ends(x, ends);
        for (int k = 0; k < n; k += 3)
            active =
                check_active(x, operand(i, k), operand(i, k + 1), operand(i, k + 2), ends, active);
        Block each = msl_new_block(x, "again");
        between = LLVMGetInsertBlock(x->b);
        LLVMBuildCondBr(x->b, active, done, each);
        LLVMPositionBuilderAtEnd(x->b, each);
    }
    for (int k = 0; k < n; k += 3)
        lanes = both(x, lanes, check_lanes(x, operand(i, k), operand(i, k + 1), operand(i, k + 2)));
    Block last = LLVMGetInsertBlock(x->b);
    LLVMBuildBr(x->b, done);
    LLVMPositionBuilderAtEnd(x->b, done);
    o->base[0] = LLVMBuildPhi(x->b, x->i1, "");
    Value yes = LLVMConstAllOnes(x->i1);
    LLVMAddIncoming(o->base[0], (Value[]){yes, lanes}, (Block[]){before, last}, 2);
    if (lines) LLVMAddIncoming(o->base[0], &yes, &between, 1);
}

// ingot_live(launch, handle, kind) for handles that differ: looked up once for each that there is,
// not for each lane.
void msl_emit_search(Vec *x, Value i, Val *o) {
    Lanes l = msl_begin_lanes(x);
    Value found = LLVMBuildPhi(x->b, msl_vector_type(x, x->i64), ""), lane = msl_lane_number(x, &l),
          handles = msl_vector(x, operand(i, 1), 0);
    Value handle = LLVMBuildExtractElement(x->b, handles, lane, ""), copy = LLVMInstructionClone(i);
    for (int k = 0; k < 3; k++)
        LLVMSetOperand(copy, (unsigned)k, k == 1 ? handle : msl_scalar(x, operand(i, k)));
    LLVMInsertIntoBuilder(x->b, copy);
    Value same = LLVMBuildICmp(x->b, LLVMIntEQ, handles, msl_splat(x, handle), "");
    o->v[0] = LLVMBuildSelect(x->b, same, msl_splat(x, copy), found, "");
    msl_end_lanes_but(x, &l, msl_mask_bits(x, same));
    LLVMAddIncoming(found, (Value[]){LLVMConstNull(LLVMTypeOf(found)), o->v[0]},
                    (Block[]){l.before, l.loop}, 2);
    if (x->parts == 1) return;
    Value join = LLVMBuildPhi(x->b, LLVMTypeOf(found), "");
    LLVMAddIncoming(join, (Value[]){LLVMConstNull(LLVMTypeOf(found)), o->v[0]},
                    (Block[]){l.before, l.loop}, 2);
    o->v[0] = join;
}
