// SPDX-License-Identifier: Apache-2.0
// validate_bounds.c: where a pointer may be one of several, start and length of its memory are
// chosen beside it: a phi of pointers has a phi of starts and one of lengths at its side, a select
// two selects. Exact for any mixture of variables, constants, arguments and loaded pointers.
#include "compiler/codegen/validate_int.h"

enum { MAX_BOUNDS = 4096 };

typedef struct Bounds { // of the memory that `pointer` is made from
    Value pointer, start, length;
} Bounds;

static Bounds *find_bounds(Validation *v, Value pointer) {
    for (size_t k = 0; k < v->n_bounds; k++)
        if (v->bounds[k]->pointer == pointer) return v->bounds[k];
    return NULL;
}

static Bounds *note(Validation *v, Value pointer, Value start, Value length) {
    if (v->n_bounds == MAX_BOUNDS)
        msl_fail(&v->cg->cx, "'%s': a pointer that may be made from too many others to be checked",
                 v->cg->fn->name);
    v->bounds = msl_validate_grow(v, v->bounds, v->n_bounds, &v->max_bounds);
    Bounds *b = msl_validate_alloc(v, 1, sizeof *b);
    *b = (Bounds){pointer, start, length};
    return v->bounds[v->n_bounds++] = b;
}

static Bounds *bounds_of(Validation *v, Value pointer);

static Bounds *bounds_of_phi(Validation *v, Value phi) {
    LLVMBuilderRef b = v->cg->cx.builder;
    LLVMPositionBuilderBefore(b, phi);
    Value start = LLVMBuildPhi(b, msl_ptr(&v->cg->cx), ""),
          length = LLVMBuildPhi(b, msl_int(&v->cg->cx, 64), "");
    // Phis are made anew when blocks are split: others know them by these.
    msl_position_behind(v, phi);
    Bounds *own = note(v, phi, LLVMBuildFreeze(b, start, ""), LLVMBuildFreeze(b, length, ""));
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        Bounds *in = bounds_of(v, LLVMGetIncomingValue(phi, k));
        Block from = LLVMGetIncomingBlock(phi, k);
        LLVMAddIncoming(start, &in->start, &from, 1);
        LLVMAddIncoming(length, &in->length, &from, 1);
    }
    return own;
}

static Bounds *bounds_of_select(Validation *v, Value select) {
    LLVMBuilderRef b = v->cg->cx.builder;
    Bounds *one = bounds_of(v, LLVMGetOperand(select, 1)),
           *other = bounds_of(v, LLVMGetOperand(select, 2));
    Value condition = LLVMGetOperand(select, 0);
    msl_position_behind(v, select);
    return note(v, select, LLVMBuildSelect(b, condition, one->start, other->start, ""),
                LLVMBuildSelect(b, condition, one->length, other->length, ""));
}

static Bounds *bounds_of_root(Validation *v, Value pointer) {
    enum { STEP_BYTES = 4096 }; // what is the device's own is never indexed by the program
    MslContext *cx = &v->cg->cx;
    if (LLVMIsUndef(pointer))
        return note(v, pointer, LLVMConstNull(msl_ptr(cx)), msl_const(cx, 64, 0));
    Root *r = msl_root_of(v, pointer);
    if (r->trusted) return note(v, pointer, pointer, msl_const(cx, 64, STEP_BYTES));
    msl_root_values(v, r);
    return note(v, pointer, r->start, r->length);
}

static Bounds *bounds_of(Validation *v, Value pointer) {
    Value back[MSL_MAX_BACK];
    for (int n = 1; n == 1;) { // casts, and indices
        Bounds *known = find_bounds(v, pointer);
        if (known) return known;
        n = LLVMIsAPHINode(pointer) ? 0 : msl_step_back(pointer, back);
        if (n == 1) pointer = back[0];
    }
    if (LLVMIsAPHINode(pointer)) return bounds_of_phi(v, pointer);
    if (LLVMIsASelectInst(pointer)) return bounds_of_select(v, pointer);
    return bounds_of_root(v, pointer);
}

void msl_choose_bounds(Validation *v, Root *root) {
    const Bounds *b = bounds_of(v, root->value);
    root->start = b->start;
    root->length = b->length;
}
