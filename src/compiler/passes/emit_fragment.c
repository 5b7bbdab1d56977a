// SPDX-License-Identifier: Apache-2.0
// emit_fragment.c: 8x8 matrices as rows (fragment.c): loads, stores, products, and the way to and
// from the lanes that hold two elements each.
// The machine sees pieces of a register: two rows of floats with AVX-512, else one. A product is
// d = fma(a[r][k], b[k][c], d) for k = 0..7, starting from c: the same bits on every machine.
#include "compiler/passes/passes_int.h"
#include <stdio.h>

enum { SIDE = 8, N = MATRIX_ELEMENTS };

// Lane l holds row (l/4 & 4) + (l/2 & 3), columns (l/4 & 2)*2 + (l & 1)*2 and the next.
static int place_of(int l, int e) {
    return ((l / 4 & 4) + (l / 2 & 3)) * SIDE + (l / 4 & 2) * 2 + (l & 1) * 2 + e;
}
static int lane_of(int place) {
    int row = place / SIDE, column = place % SIDE;
    return (row & 4) * 4 + (row & 3) * 2 + (column & 4) * 2 + (column >> 1 & 1);
}

static void emit_rows(Vec *x, Value i, Val *o) {
    int ix[N];
    for (int k = 0; k < N; k++) ix[k] = lane_of(k) + (k & 1) * MAX_WIDTH;
    Value a = LLVMBuildFreeze(x->b, msl_vector(x, operand(i, 0), 0), "");
    Value b = LLVMBuildFreeze(x->b, msl_vector(x, operand(i, 1), 0), "");
    o->base[0] = msl_shuffle(x, a, b, ix, N);
}

// A matrix as one value. Where lanes that ran apart brought it here, each has it whole.
static Value whole(Vec *x, Value v) {
    if (msl_uniform(x, v)) return msl_scalar(x, v);
    Value lane =
        LLVMBuildAnd(x->b, msl_first_lane(x, x->mask), const_int(x->bits_type, x->width - 1), "");
    Value r = LLVMGetPoison(LLVMTypeOf(v));
    for (int k = 0; k < N; k++) {
        Value e = LLVMBuildExtractElement(x->b, msl_vector(x, v, k), lane, "");
        r = msl_insert_leaf(x, r, LLVMBuildFreeze(x->b, e, ""), k);
    }
    return r;
}

static void emit_lane(Vec *x, Value i, Val *o) {
    int ix[MAX_WIDTH];
    int64_t e = 0;
    get_const(operand(i, 1), &e);
    for (int l = 0; l < MAX_WIDTH; l++) ix[l] = place_of(l, (int)e);
    Value rows = whole(x, operand(i, 0));
    o->v[0] = msl_shuffle(x, rows, rows, ix, MAX_WIDTH);
}

// The argument all lanes are promised to share.
static Value shared(Vec *x, Value v) {
    if (msl_uniform(x, v)) return msl_scalar(x, v);
    Value at =
        LLVMBuildAnd(x->b, msl_first_lane(x, x->mask), const_int(x->bits_type, x->width - 1), "");
    return LLVMBuildFreeze(x->b, LLVMBuildExtractElement(x->b, msl_vector(x, v, 0), at, ""), "");
}

static Value transposed(Vec *x, Value rows, Value on) {
    int64_t k;
    if (get_const(on, &k) && !k) return rows;
    int ix[N];
    for (int p = 0; p < N; p++) ix[p] = p % SIDE * SIDE + p / SIDE;
    Value t = msl_shuffle(x, rows, rows, ix, N);
    return get_const(on, &k) ? t : LLVMBuildSelect(x->b, on, t, rows, "");
}

static Value row_pointer(Vec *x, Type t, Value p, Value stride, int row) {
    Value at = LLVMBuildMul(x->b, stride, const_int(x->i64, row), "");
    return LLVMBuildGEP2(x->b, t, p, &at, 1, "");
}

// (pointer, elements from row to row, transposed)
static void emit_load(Vec *x, Value i, Val *o) {
    Type t = LLVMGetElementType(LLVMTypeOf(i)), row = LLVMVectorType(t, SIDE);
    Value p = shared(x, operand(i, 0)), stride = shared(x, operand(i, 1)), part[SIDE];
    for (int r = 0; r < SIDE; r++) {
        part[r] = LLVMBuildLoad2(x->b, row, row_pointer(x, t, p, stride, r), "");
        LLVMSetAlignment(part[r], LLVMABIAlignmentOfType(x->dl, t));
    }
    o->base[0] = transposed(x, msl_concat(x, part, SIDE), shared(x, operand(i, 2)));
}

static void emit_store(Vec *x, Value i) {
    Value rows = whole(x, operand(i, 0)), p = shared(x, operand(i, 1));
    Value stride = shared(x, operand(i, 2));
    Type t = LLVMGetElementType(LLVMTypeOf(rows));
    rows = transposed(x, rows, shared(x, operand(i, 3)));
    for (int r = 0; r < SIDE; r++)
        LLVMSetAlignment(LLVMBuildStore(x->b, msl_part(x, rows, (unsigned)(r * SIDE), SIDE),
                                        row_pointer(x, t, p, stride, r)),
                         LLVMABIAlignmentOfType(x->dl, t));
}

// Rows of one matrix, or of two side by side.
static Value row_of(Vec *x, const Value *rows, unsigned n, unsigned r) {
    Value part[2];
    for (Sums *s = n > 1 ? x->sums : NULL; s; s = s->next)
        if (s->of[0] == rows[0] && s->of[1] == rows[1]) return s->rows[r];
    for (unsigned m = 0; m < n; m++) part[m] = msl_part(x, rows[m], r * SIDE, SIDE);
    return msl_concat(x, part, n);
}

static void position_after_phis(Vec *x, Block b) {
    Value i = LLVMGetFirstInstruction(b);
    while (i && LLVMIsAPHINode(i)) i = LLVMGetNextInstruction(i);
    if (i)
        LLVMPositionBuilderBefore(x->b, i);
    else
        LLVMPositionBuilderAtEnd(x->b, b);
}

// Behind whichever of the matrices is computed last, if that is in this block: rows that are loaded
// and put down at once need no registers until their product comes.
static void position_behind(Vec *x, const Value *rows, unsigned n, Block here) {
    for (Value i = LLVMGetLastInstruction(here); i; i = LLVMGetPreviousInstruction(i))
        for (unsigned m = 0; m < n; m++)
            if (i == rows[m] && !LLVMIsAPHINode(i)) {
                Value next = LLVMGetNextInstruction(i);
                if (next) LLVMPositionBuilderBefore(x->b, next); // else: at the end, as it stands
                return;
            }
}

// Matrices in memory, row by row: where the machine takes single elements from. Once a block.
static Value in_memory(Vec *x, const Value *rows, unsigned n) {
    Block here = LLVMGetInsertBlock(x->b);
    Value second = n > 1 ? rows[1] : NULL;
    for (Spilt *s = x->spilt; s; s = s->next)
        if (s->rows[0] == rows[0] && s->rows[1] == second && s->in == here) return s->at;
    Value at = msl_entry_alloca(x, LLVMVectorType(x->f32, n * N), 64);
    position_behind(x, rows, n, here);
    for (unsigned r = 0; r < SIDE; r++) {
        Value to = const_int(x->i64, (int64_t)(r * n * SIDE));
        Value p = LLVMBuildGEP2(x->b, x->f32, at, &to, 1, "");
        LLVMSetAlignment(LLVMBuildStore(x->b, row_of(x, rows, n, r), p), n * SIDE * 4);
    }
    LLVMPositionBuilderAtEnd(x->b, here);
    Spilt *s = vec_alloc(x, 1, sizeof *s);
    *s = (Spilt){{rows[0], second}, at, here, x->spilt};
    x->spilt = s;
    return at;
}

// Eight registers of sums, 0 to 7, and for each k: a row of b, and its product with elements of a.
// With AVX-512 the sums are eight rows of one matrix or of two; with AVX2 eight rows of one, or
// four of two, which takes fewer loads: an element of a serves two products.
// As assembly, because left to itself LLVM spreads the elements of a over registers that do not
// exist, and works on all products of a loop at once. As a routine of the module with registers of
// its own choice, because a kernel has dozens of products, and their code would not fit the
// machine's cache for instructions.
static size_t write_product(char *text, size_t room, bool embedded, unsigned n) {
    const char *wide = embedded && n > 1 ? "zmm" : "ymm";
    const unsigned columns = embedded ? 1 : n, rows = SIDE / columns;
    size_t at = 0;
    for (unsigned k = 0; k < SIDE; k++) {
        for (unsigned c = 0; c < columns; c++)
            at += (size_t)snprintf(text + at, room - at, "vmovups %u(%%rcx), %%%s%u\n",
                                   (k * n + c) * SIDE * 4, wide, 8 + c);
        for (unsigned r = 0; r < rows; r++) {
            const unsigned element = (r * SIDE + k) * 4, copy = 8 + columns + r % 4;
            if (embedded) {
                at += (size_t)snprintf(text + at, room - at,
                                       "vfmadd231ps %u(%%rax){1to%u}, %%%s8, %%%s%u\n", element,
                                       n * SIDE, wide, wide, r);
                continue;
            }
            at += (size_t)snprintf(text + at, room - at, "vbroadcastss %u(%%rax), %%ymm%u\n",
                                   element, copy);
            for (unsigned c = 0; c < columns; c++)
                at += (size_t)snprintf(text + at, room - at,
                                       "vfmadd231ps %%ymm%u, %%ymm%u, %%ymm%u\n", copy, 8 + c,
                                       r * columns + c);
        }
    }
    return at + (size_t)snprintf(text + at, room - at, "retq\n");
}

static const char *const routines[] = {"ingot_product", "ingot_two_products"};

static void add_attribute(LLVMContextRef llvm, Value f, const char *name) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(llvm, kind, 0));
}

void msl_settle_fragments(MslContext *cx) {
    bool any = false;
    for (int n = 0; n < 2; n++) any |= LLVMGetNamedFunction(cx->module, routines[n]) != NULL;
    for (Value f = LLVMGetFirstFunction(cx->module); any && f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) add_attribute(cx->llvm, f, "noredzone");
}

static Value product_routine(Vec *x, unsigned n) {
    const char *name = routines[n - 1];
    Value f = LLVMGetNamedFunction(x->module, name);
    if (f) return f;
    char text[8192];
    const size_t length = write_product(text, sizeof text, x->cx->avx512, n);
    Type t = LLVMFunctionType(x->none, NULL, 0, 0);
    f = LLVMAddFunction(x->module, name, t);
    LLVMSetLinkage(f, LLVMInternalLinkage);
    const char *kinds[] = {"naked", "noinline", "nounwind"};
    for (int k = 0; k < 3; k++) add_attribute(x->llvm, f, kinds[k]);
    Block before = LLVMGetInsertBlock(x->b);
    LLVMPositionBuilderAtEnd(x->b, LLVMAppendBasicBlockInContext(x->llvm, f, ""));
    Value code = LLVMGetInlineAsm(t, text, length, "", 0, 1, 0, LLVMInlineAsmDialectATT, 0);
    LLVMBuildCall2(x->b, t, code, NULL, 0, "");
    LLVMBuildUnreachable(x->b);
    LLVMPositionBuilderAtEnd(x->b, before);
    return f;
}

// Operands of the call: sums in and out, pointers to a and b, the routine.
static size_t write_constraints(char *text, size_t room, bool wide) {
    size_t at = 0;
    for (int r = 0; r < SIDE; r++)
        at += (size_t)snprintf(text + at, room - at, "={%smm%d},", wide ? "z" : "y", r);
    for (int r = 0; r < SIDE; r++) at += (size_t)snprintf(text + at, room - at, "%d,", r);
    at += (size_t)snprintf(text + at, room - at, "{rax},{rcx},i");
    for (int k = 8; k < 14; k++) at += (size_t)snprintf(text + at, room - at, ",~{xmm%d}", k);
    return at + (size_t)snprintf(text + at, room - at, ",~{memory}");
}

// Calls the routine for n matrices b on eight registers of sums.
static void call_routine(Vec *x, Value a, Value b, Value *sums, unsigned n) {
    char constraints[256];
    const char *text = "callq ${18:P}";
    Type types[SIDE + 3];
    Value args[SIDE + 3];
    for (unsigned k = 0; k < SIDE; k++) types[k] = LLVMTypeOf(args[k] = sums[k]);
    Type result = LLVMStructTypeInContext(x->llvm, types, SIDE, 0);
    for (unsigned k = SIDE; k < SIDE + 3; k++) types[k] = x->ptr;
    args[SIDE] = a;
    args[SIDE + 1] = b;
    args[SIDE + 2] = product_routine(x, n);
    Type f = LLVMFunctionType(result, types, SIDE + 3, 0);
    size_t length = write_constraints(constraints, sizeof constraints, x->cx->avx512 && n > 1);
    Value code = LLVMGetInlineAsm(f, text, strlen(text), constraints, length, 1, 0,
                                  LLVMInlineAsmDialectATT, 0);
    Value d = LLVMBuildCall2(x->b, f, code, args, SIDE + 3, "");
    for (unsigned k = 0; k < SIDE; k++) sums[k] = LLVMBuildExtractValue(x->b, d, k, "");
}

static void remember(Vec *x, const Value *sums, const Value *rows) {
    Sums *s = vec_alloc(x, 1, sizeof *s);
    *s = (Sums){.of = {sums[0], sums[1]}, .next = x->sums};
    memcpy(s->rows, rows, sizeof s->rows);
    x->sums = s;
}

// Products of one matrix a with n others: rows of all sums side by side.
static void emit_rows_of_products(Vec *x, Value a, const Value *b, Value *sums, unsigned n) {
    Value row[SIDE], part[2][SIDE];
    Block here = LLVMGetInsertBlock(x->b);
    const bool carried = n > 1 && LLVMIsAPHINode(sums[0]) && LLVMIsAPHINode(sums[1]) &&
                         sums[0] != sums[1] &&
                         LLVMGetInstructionParent(sums[0]) == LLVMGetInstructionParent(sums[1]);
    if (carried) position_after_phis(x, LLVMGetInstructionParent(sums[0]));
    for (unsigned r = 0; r < SIDE; r++) row[r] = row_of(x, sums, n, r);
    if (carried) remember(x, sums, row);
    LLVMPositionBuilderAtEnd(x->b, here);
    Value of_a = in_memory(x, &a, 1);
    call_routine(x, of_a, in_memory(x, b, n), row, n);
    for (unsigned r = 0; r < SIDE; r++)
        for (unsigned m = 0; m < n; m++) part[m][r] = msl_part(x, row[r], m * SIDE, SIDE);
    for (unsigned m = 0; m < n; m++) sums[m] = msl_concat(x, part[m], SIDE);
    if (n > 1) remember(x, sums, row);
}

// Products of one matrix a with two others, four rows at a time.
static void emit_halves_of_products(Vec *x, Value a, const Value *b, Value *sums) {
    Value part[2][SIDE], of_a = in_memory(x, &a, 1), of_b = in_memory(x, b, 2);
    for (unsigned half = 0; half < 2; half++) {
        Value row[SIDE], ahead = const_int(x->i64, half * N / 2);
        for (unsigned k = 0; k < SIDE; k++)
            row[k] = msl_part(x, sums[k % 2], (half * 4 + k / 2) * SIDE, SIDE);
        call_routine(x, LLVMBuildGEP2(x->b, x->f32, of_a, &ahead, 1, ""), of_b, row, 2);
        for (unsigned k = 0; k < SIDE; k++) part[k % 2][half * 4 + k / 2] = row[k];
    }
    for (unsigned m = 0; m < 2; m++) sums[m] = msl_concat(x, part[m], SIDE);
}

// Sums of two matrices that a loop carries stay side by side, as the products want them: one phi
// for a row of both, and the matrices themselves where something else asks for them.
static void carry_side_by_side(Vec *x, Sums *s) {
    Block home = LLVMGetInstructionParent(s->of[0]);
    const unsigned n = LLVMCountIncoming(s->of[0]);
    Value row[SIDE], part[2][SIDE];
    for (unsigned r = 0; r < SIDE; r++) {
        LLVMPositionBuilderBefore(x->b, s->of[0]);
        row[r] = LLVMBuildPhi(x->b, LLVMTypeOf(s->rows[r]), "");
        LLVMReplaceAllUsesWith(s->rows[r], row[r]);
    }
    for (unsigned k = 0; k < n; k++) {
        Block from = LLVMGetIncomingBlock(s->of[0], k);
        Value in[2] = {LLVMGetIncomingValue(s->of[0], k)};
        for (unsigned j = 0; j < n; j++)
            if (LLVMGetIncomingBlock(s->of[1], j) == from)
                in[1] = LLVMGetIncomingValue(s->of[1], j);
        LLVMPositionBuilderBefore(x->b, LLVMGetBasicBlockTerminator(from));
        for (unsigned r = 0; r < SIDE; r++) {
            Value v = row_of(x, in, 2, r);
            LLVMAddIncoming(row[r], &v, &from, 1);
        }
    }
    position_after_phis(x, home);
    for (unsigned r = 0; r < SIDE; r++)
        for (unsigned m = 0; m < 2; m++) part[m][r] = msl_part(x, row[r], m * SIDE, SIDE);
    for (unsigned m = 0; m < 2; m++) {
        Value v = msl_concat(x, part[m], SIDE);
        LLVMReplaceAllUsesWith(s->of[m], v);
        LLVMInstructionEraseFromParent(s->of[m]);
        for (Sums *o = x->sums; o; o = o->next)
            for (int e = 0; e < 2; e++)
                if (o != s && o->of[e] == s->of[m]) o->of[e] = v;
    }
}

void msl_finish_fragments(Vec *x) {
    for (Sums *s = x->sums; s; s = s->next)
        if (LLVMIsAPHINode(s->of[0]) && LLVMIsAPHINode(s->of[1])) carry_side_by_side(x, s);
    x->sums = NULL;
    x->spilt = NULL;
}

// Is it known by now, before everything behind it in the block?
static bool is_known(Vec *x, Value v) {
    Val *k = msl_val(x, v);
    return !k || k->base[0] || (k->all && k->all[0]);
}

// Another product of the same matrix a further on in the block that can be computed along.
static Value companion(Vec *x, Value i) {
    for (Value j = LLVMGetNextInstruction(i); j; j = LLVMGetNextInstruction(j))
        if (LLVMIsACallInst(j) && msl_builtin_of(j).op == OP_FRAGMENT_MMA &&
            operand(j, 0) == operand(i, 0) && is_known(x, operand(j, 1)) &&
            is_known(x, operand(j, 2)) && !msl_val(x, j)->base[0])
            return j;
    return NULL;
}

static void emit_mma(Vec *x, Value i, Val *o) {
    if (o->base[0]) return; // came along with another
    Value a = whole(x, operand(i, 0)), b = whole(x, operand(i, 1)), c = whole(x, operand(i, 2));
    if (x->cx->avx2) {
        Value other = companion(x, i), bs[] = {b, other ? whole(x, operand(other, 1)) : NULL};
        Value sums[] = {c, other ? whole(x, operand(other, 2)) : NULL};
        if (other && !x->cx->avx512)
            emit_halves_of_products(x, a, bs, sums);
        else
            emit_rows_of_products(x, a, bs, sums, other ? 2 : 1);
        o->base[0] = sums[0];
        if (other) msl_val(x, other)->base[0] = sums[1];
        return;
    }
    Type t = LLVMVectorType(x->f32, SIDE);
    Value part[SIDE];
    for (unsigned r = 0; r < SIDE; r++) part[r] = msl_part(x, c, r * SIDE, SIDE);
    for (int k = 0; k < SIDE; k++)
        for (int r = 0; r < SIDE; r++) {
            int of_a[SIDE];
            for (int e = 0; e < SIDE; e++) of_a[e] = r * SIDE + k;
            Value args[] = {msl_shuffle(x, a, a, of_a, SIDE),
                            msl_part(x, b, (unsigned)(k * SIDE), SIDE), part[r]};
            part[r] = msl_intrinsic(x, "llvm.fma", &t, 1, args, 3);
        }
    o->base[0] = msl_concat(x, part, SIDE);
}

void msl_emit_fragment(Vec *x, Value i, Val *o, Op op) {
    switch (op) {
    case OP_FRAGMENT_ROWS: emit_rows(x, i, o); return;
    case OP_FRAGMENT_LANE: emit_lane(x, i, o); return;
    case OP_FRAGMENT_LOAD: emit_load(x, i, o); return;
    case OP_FRAGMENT_STORE: emit_store(x, i); return;
    default: emit_mma(x, i, o);
    }
}
