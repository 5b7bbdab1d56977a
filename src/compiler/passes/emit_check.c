// SPDX-License-Identifier: Apache-2.0
// emit_check.c: i1 __ingot_inside(pointer, start, limit, pointer, start, limit, ...) of shader
// validation (codegen/validate.c): true only if pointer - start < limit (unsigned) for every triple
// and every active lane of the step.
//   uniform   one compare
//   linear    the ends of the line, or of each segment's: inactive lanes count too. If that fails,
//             all is compared again lane by lane, under the mask
//   else      a vector compare under the mask
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
        Value d = distance(x, msl_vector(x, p, 0), msl_vector(x, start, 0),
                           msl_vector_type(x, x->i64));
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

// *exact: nothing is left to be compared lane by lane.
static Value check(Vec *x, Value p, Value start, Value limit, bool *exact) {
    Class c = msl_class(x, p);
    bool ends = c.kind == LINEAR && msl_uniform(x, start) && msl_uniform(x, limit) &&
                short_line(x, c);
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

void msl_emit_inside(Vec *x, Value i, Val *o) {
    int n = (int)LLVMGetNumArgOperands(i);
    Value ok = NULL;
    bool all_exact = true, exact;
    for (int k = 0; k < n; k += 3) {
        ok = both(x, ok, check(x, operand(i, k), operand(i, k + 1), operand(i, k + 2), &exact));
        all_exact &= exact;
    }
    o->base[0] = ok ? ok : LLVMConstAllOnes(x->i1);
    if (!ok || all_exact) return;
    Block before = LLVMGetInsertBlock(x->b), again = msl_new_block(x, "again"),
          done = msl_new_block(x, "checked");
    LLVMBuildCondBr(x->b, ok, done, again);
    LLVMPositionBuilderAtEnd(x->b, again);
    Value lanes = NULL;
    for (int k = 0; k < n; k += 3)
        lanes = both(x, lanes, check_lanes(x, operand(i, k), operand(i, k + 1), operand(i, k + 2)));
    Block last = LLVMGetInsertBlock(x->b);
    LLVMBuildBr(x->b, done);
    LLVMPositionBuilderAtEnd(x->b, done);
    o->base[0] = LLVMBuildPhi(x->b, x->i1, "");
    LLVMAddIncoming(o->base[0], (Value[]){LLVMConstAllOnes(x->i1), lanes}, (Block[]){before, last},
                    2);
}
