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
    for (unsigned m = 0; m < n; m++) part[m] = msl_part(x, rows[m], r * SIDE, SIDE);
    return msl_concat(x, part, n);
}

// Matrices in memory, row by row: where the machine takes single elements from. Once a block.
static Value in_memory(Vec *x, const Value *rows, unsigned n) {
    Block here = LLVMGetInsertBlock(x->b);
    Value second = n > 1 ? rows[1] : NULL;
    for (Spilt *s = x->spilt; s; s = s->next)
        if (s->rows[0] == rows[0] && s->rows[1] == second && s->in == here) return s->at;
    Value at = msl_entry_alloca(x, LLVMVectorType(x->f32, n * N), 64);
    for (unsigned r = 0; r < SIDE; r++) {
        Value to = const_int(x->i64, (int64_t)(r * n * SIDE));
        Value p = LLVMBuildGEP2(x->b, x->f32, at, &to, 1, "");
        LLVMSetAlignment(LLVMBuildStore(x->b, row_of(x, rows, n, r), p), n * SIDE * 4);
    }
    Spilt *s = vec_alloc(x, 1, sizeof *s);
    *s = (Spilt){{rows[0], second}, at, here, x->spilt};
    x->spilt = s;
    return at;
}

// Eight rows of sums in registers 0 to 7, and for each k: a row of b, and its product with eight
// elements of a. As assembly, because left to itself LLVM spreads the elements of a over registers
// that do not exist, and works on all products of a loop at once. As a routine of the module with
// registers of its own choice, because a kernel has dozens of products, and their code would not
// fit the machine's cache for instructions.
static size_t write_product(char *text, size_t room, bool embedded, int n) {
    const char *wide = n > 1 ? "zmm" : "ymm";
    size_t at = 0;
    for (int k = 0; k < SIDE; k++) {
        at += (size_t)snprintf(text + at, room - at, "vmovups %d(%%rcx), %%%s8\n", k * n * SIDE * 4,
                               wide);
        for (int r = 0; r < SIDE; r++) {
            int element = (r * SIDE + k) * 4;
            at += (size_t)(embedded ? snprintf(text + at, room - at,
                                               "vfmadd231ps %d(%%rax){1to%d}, %%%s8, %%%s%d\n",
                                               element, n * SIDE, wide, wide, r)
                                    : snprintf(text + at, room - at,
                                               "vbroadcastss %d(%%rax), %%ymm%d\n"
                                               "vfmadd231ps %%ymm%d, %%ymm8, %%ymm%d\n",
                                               element, 9 + r % 4, 9 + r % 4, r));
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
    const size_t length = write_product(text, sizeof text, x->cx->avx512, (int)n);
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
static size_t write_constraints(char *text, size_t room, unsigned n) {
    size_t at = 0;
    for (int r = 0; r < SIDE; r++)
        at += (size_t)snprintf(text + at, room - at, "={%smm%d},", n > 1 ? "z" : "y", r);
    for (int r = 0; r < SIDE; r++) at += (size_t)snprintf(text + at, room - at, "%d,", r);
    at += (size_t)snprintf(text + at, room - at, "{rax},{rcx},i");
    for (int k = 8; k < 13; k++) at += (size_t)snprintf(text + at, room - at, ",~{xmm%d}", k);
    return at + (size_t)snprintf(text + at, room - at, ",~{memory}");
}

// Products of one matrix a with n others.
static void emit_mma_machine(Vec *x, Value a, const Value *b, Value *sums, unsigned n) {
    char constraints[256];
    const char *text = "callq ${18:P}";
    Type types[SIDE + 3];
    Value args[SIDE + 3], part[2][SIDE];
    for (unsigned k = 0; k < SIDE; k++) types[k] = LLVMVectorType(x->f32, n * SIDE);
    Type result = LLVMStructTypeInContext(x->llvm, types, SIDE, 0);
    for (unsigned k = SIDE; k < SIDE + 3; k++) types[k] = x->ptr;
    for (unsigned r = 0; r < SIDE; r++) args[r] = row_of(x, sums, n, r);
    args[SIDE] = in_memory(x, &a, 1);
    args[SIDE + 1] = in_memory(x, b, n);
    args[SIDE + 2] = product_routine(x, n);
    Type f = LLVMFunctionType(result, types, SIDE + 3, 0);
    size_t length = write_constraints(constraints, sizeof constraints, n);
    Value code = LLVMGetInlineAsm(f, text, strlen(text), constraints, length, 1, 0,
                                  LLVMInlineAsmDialectATT, 0);
    Value d = LLVMBuildCall2(x->b, f, code, args, SIDE + 3, "");
    for (unsigned r = 0; r < SIDE; r++) {
        Value row = LLVMBuildExtractValue(x->b, d, r, "");
        for (unsigned m = 0; m < n; m++) part[m][r] = msl_part(x, row, m * SIDE, SIDE);
    }
    for (unsigned m = 0; m < n; m++) sums[m] = msl_concat(x, part[m], SIDE);
}

// Is it known by now, before everything behind it in the block?
static bool is_known(Vec *x, Value v) {
    Val *k = msl_val(x, v);
    return !k || k->base[0] || (k->all && k->all[0]);
}

// Another product of the same matrix a further on in the block that can be computed along.
static Value companion(Vec *x, Value i) {
    if (!x->cx->avx512) return NULL;
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
        emit_mma_machine(x, a, bs, sums, other ? 2 : 1);
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
