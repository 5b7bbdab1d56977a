// SPDX-License-Identifier: Apache-2.0
// validate_tensor.c: operations on tensors (compiler/tensor_call.h) behind a check: every tensor in
// memory must lie in what its address was made from, as far as the operation reads or writes it.
//   if (all inside) operation; else report each that is not       left out as a whole
// Operands are clipped to the tensors' extents by the operation itself, so a report means extents
// or strides that do not fit the memory. Storage of cooperative tensors needs no check.
#include "compiler/codegen/validate_int.h"
#include "compiler/tensor_call.h"
#include <string.h>

static bool is_convolution(Value i) { return strstr(msl_callee(i), TENSOR_CONVOLUTION) != NULL; }
bool msl_is_tensor_call(Value i) {
    return strstr(msl_callee(i), TENSOR_MATMUL) || is_convolution(i);
}

static uint32_t constant(Value i, unsigned k) {
    return (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(i, k));
}
static bool in_memory(Value i, unsigned m) {
    if (is_convolution(i)) return m < 2 || constant(i, TENSOR_CONVOLUTION_LAYOUT) == 0;
    return constant(i, TENSOR_LAYOUT_A + m) == 0;
}
static Value data_of(Value i, unsigned m) {
    return LLVMGetOperand(i, m * (is_convolution(i) ? TENSOR_TENSOR_ARGS : TENSOR_MATRIX_ARGS));
}
static unsigned type_of(Value i, unsigned m) {
    return constant(i, is_convolution(i) ? TENSOR_CONVOLUTION_TYPES : TENSOR_TYPES) >> 8 * m & 0xff;
}

// Before anything is checked: then an address may come out of a branch, and say no more what it was
// made from.
void msl_note_tensor(Validation *v, Value i) {
    v->tensors = msl_validate_grow(v, v->tensors, v->n_tensors, &v->max_tensors);
    TensorAccess *a = msl_validate_alloc(v, 1, sizeof *a);
    *a = (TensorAccess){.i = i};
    v->tensors[v->n_tensors++] = a;
    for (unsigned m = 0; m < TENSOR_OPERANDS; m++) {
        if (!in_memory(i, m)) continue;
        int n = msl_find_roots(v, data_of(i, m), a->roots[m]);
        bool trusted = false;
        for (int r = 0; r < n; r++) trusted |= a->roots[m][r]->trusted;
        if (trusted) continue;
        a->n_roots[m] = n;
        for (int r = 0; r < n; r++) msl_root_values(v, a->roots[m][r]);
        for (Value p = data_of(i, m); LLVMIsAGetElementPtrInst(p); p = LLVMGetOperand(p, 0))
            LLVMGEPSetNoWrapFlags(p, 0); // it may well be out of bounds
    }
}

static const TensorAccess *noted(const Validation *v, Value i) {
    for (size_t k = 0; k < v->n_tensors; k++)
        if (v->tensors[k]->i == i) return v->tensors[k];
    return NULL;
}

// ---- arithmetic of 64 bits ----

static Value c64(Validation *v, int64_t n) { return msl_const(&v->cg->cx, 64, (uint64_t)n); }
static Value arg64(Validation *v, Value i, unsigned k) {
    return LLVMBuildIntCast2(v->cg->cx.builder, LLVMGetOperand(i, k), msl_int(&v->cg->cx, 64), 1,
                             "");
}
static Value least(Validation *v, Value a, Value b) {
    LLVMBuilderRef x = v->cg->cx.builder;
    return LLVMBuildSelect(x, LLVMBuildICmp(x, LLVMIntSLT, a, b, ""), a, b, "");
}
static Value greatest(Validation *v, Value a, Value b) {
    LLVMBuilderRef x = v->cg->cx.builder;
    return LLVMBuildSelect(x, LLVMBuildICmp(x, LLVMIntSGT, a, b, ""), a, b, "");
}
static Value times(Validation *v, Value a, Value b) {
    return LLVMBuildMul(v->cg->cx.builder, a, b, "");
}
static Value plus(Validation *v, Value a, Value b) {
    return LLVMBuildAdd(v->cg->cx.builder, a, b, "");
}
static Value minus(Validation *v, Value a, Value b) {
    return LLVMBuildSub(v->cg->cx.builder, a, b, "");
}

// Elements to bytes: of four bits, those of the byte they begin in.
static Value bytes_of(Validation *v, Value elements, unsigned type) {
    LLVMBuilderRef b = v->cg->cx.builder;
    switch (type) {
    case ABI_TENSOR_INT4:
    case ABI_TENSOR_UINT4: return LLVMBuildAShr(b, elements, c64(v, 1), "");
    case ABI_TENSOR_INT8:
    case ABI_TENSOR_UINT8: return elements;
    case ABI_TENSOR_FLOAT16:
    case ABI_TENSOR_BFLOAT16: return LLVMBuildShl(b, elements, c64(v, 1), "");
    default: return LLVMBuildShl(b, elements, c64(v, 2), "");
    }
}

// What an operation touches of an operand: elements from ... to - 1 of each dimension.
enum { MAX_DIMENSIONS = 4 };
typedef struct Part {
    int n;
    Value from[MAX_DIMENSIONS], to[MAX_DIMENSIONS], stride[MAX_DIMENSIONS];
} Part;

static Part matrix_part(Validation *v, Value i, unsigned m) {
    unsigned at = m * TENSOR_MATRIX_ARGS;
    Value first = arg64(v, i, TENSOR_FIRST_ROW), n_rows = arg64(v, i, TENSOR_N_ROWS),
          n = arg64(v, i, TENSOR_N), k = arg64(v, i, TENSOR_K), zero = c64(v, 0);
    Value rows = arg64(v, i, at + TENSOR_ROWS), cols = arg64(v, i, at + TENSOR_COLS);
    Part p = {.n = 2,
              .from = {zero, zero},
              .to = {least(v, rows, k), least(v, cols, m ? n : k)},
              .stride = {arg64(v, i, at + TENSOR_ROW_STRIDE), arg64(v, i, at + TENSOR_COL_STRIDE)}};
    if (m == 0) p.from[0] = first, p.to[0] = least(v, rows, plus(v, first, n_rows));
    if (m == 2) p.to[0] = least(v, minus(v, rows, first), n_rows); // data: its first row
    return p;
}

// Of the tile as a whole: all SIMD-groups together compute it.
static Part convolution_part(Validation *v, Value i, unsigned m) {
    unsigned at = m * TENSOR_TENSOR_ARGS;
    Value source = arg64(v, i, TENSOR_SOURCE + TENSOR_EXTENTS),
          inputs = arg64(v, i, TENSOR_WEIGHTS + TENSOR_EXTENTS + 1), one = c64(v, 1);
    Part p = {.n = 4};
    for (unsigned d = 0; d < 4; d++) {
        p.from[d] = c64(v, 0);
        p.to[d] = arg64(v, i, at + TENSOR_EXTENTS + d);
        p.stride[d] = arg64(v, i, at + TENSOR_STRIDES + d);
        if (m == 2) p.to[d] = least(v, p.to[d], arg64(v, i, TENSOR_SIZE + d));
    }
    if (m == 1) {
        p.to[0] = least(v, p.to[0], arg64(v, i, TENSOR_SIZE));
        p.to[1] = least(v, p.to[1], source);
    }
    if (m) return p;
    p.to[0] = least(v, p.to[0], inputs);
    p.to[3] = least(v, p.to[3], arg64(v, i, TENSOR_SIZE + 3));
    for (unsigned d = 0; d < 2; d++) { // the last window's last element
        Value offset = arg64(v, i, TENSOR_OFFSET + d),
              last = minus(v, arg64(v, i, TENSOR_SIZE + 1 + d), one),
              tap = minus(v, arg64(v, i, TENSOR_WEIGHTS + TENSOR_EXTENTS + 2 + d), one);
        last = plus(v, times(v, last, arg64(v, i, TENSOR_STEP + d)),
                    times(v, tap, arg64(v, i, TENSOR_DILATION + d)));
        p.from[1 + d] = greatest(v, p.from[1 + d], offset);
        p.to[1 + d] = least(v, p.to[1 + d], plus(v, plus(v, last, offset), one));
    }
    return p;
}

// The bytes of operand m that the operation touches: that many (0: none) from *start on.
static Value touched(Validation *v, Value i, unsigned m, Value *start) {
    LLVMBuilderRef b = v->cg->cx.builder;
    unsigned type = type_of(i, m);
    Part p = is_convolution(i) ? convolution_part(v, i, m) : matrix_part(v, i, m);
    Value low = c64(v, 0), high = low, zero = low, none = msl_const(&v->cg->cx, 1, 0);
    for (int d = 0; d < p.n; d++) {
        Value begin = times(v, p.from[d], p.stride[d]),
              end = times(v, minus(v, p.to[d], c64(v, 1)), p.stride[d]);
        low = plus(v, low, least(v, begin, end));
        high = plus(v, high, greatest(v, begin, end));
        none = LLVMBuildOr(b, none, LLVMBuildICmp(b, LLVMIntSLE, p.to[d], p.from[d], ""), "");
    }
    unsigned small = type == ABI_TENSOR_INT4 || type == ABI_TENSOR_UINT4;
    Value begin = bytes_of(v, low, type),
          end = plus(v, bytes_of(v, high, type), bytes_of(v, c64(v, small ? 2 : 1), type));
    *start = LLVMBuildGEP2(b, msl_int(&v->cg->cx, 8), data_of(i, m), &begin, 1, "");
    return LLVMBuildSelect(b, none, zero, minus(v, end, begin), "");
}

void msl_check_tensor(Validation *v, Value i) {
    MslContext *cx = &v->cg->cx;
    LLVMBuilderRef b = cx->builder;
    const TensorAccess *access = noted(v, i);
    if (!access) return;
    Block before = LLVMGetInstructionParent(i);
    Block end = bridge_split_before(LLVMGetNextInstruction(i));
    LLVMInstructionRemoveFromParent(i);
    LLVMPositionBuilderAtEnd(b, before);
    Value all = msl_const(cx, 1, 1);
    for (unsigned m = 0; m < TENSOR_OPERANDS; m++) {
        Root *const *roots = access->roots[m];
        int n = access->n_roots[m];
        if (!n) continue;
        Value start, bytes = touched(v, i, m, &start);
        Value ok = msl_whole_inside(v, start, bytes, roots, n);
        if (roots[0]->space == ABI_SPACE_POINTER) { // its root may be one past the end of another
            Value args[3] = {msl_launch(v, NULL), start, bytes};
            Value known = msl_call(v, "ingot_known", msl_int(cx, 32), args, 3);
            known = LLVMBuildICmp(b, LLVMIntNE, known, msl_const(cx, 32, 0), "");
            ok = LLVMBuildOr(b, ok, known, "");
        }
        all = LLVMBuildAnd(b, all, ok, "");
        msl_report_unless(v, ok, i, m == 2 ? ABI_BAD_STORE : ABI_BAD_LOAD, bytes, start, roots[0]);
    }
    Block at = LLVMGetInsertBlock(b),
          inside = LLVMAppendBasicBlockInContext(cx->llvm, v->cg->thread, "inside");
    LLVMMoveBasicBlockAfter(inside, at);
    LLVMBuildCondBr(b, all, inside, end);
    LLVMPositionBuilderAtEnd(b, inside);
    LLVMInsertIntoBuilder(b, i);
    LLVMBuildBr(b, end);
}
