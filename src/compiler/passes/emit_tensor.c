// SPDX-License-Identifier: Apache-2.0
// emit_tensor.c: operations on tensors. A call of the thread function (compiler/tensor_call.h)
// becomes one call of CpuLaunch.tensors for the SIMD-group: a step is exactly one SIMD-group, since
// these count as SIMD-group functions. All threads of the SIMD-group call with the same scalars, as
// Metal wants it; where that cannot be seen, those of the first active lane are taken.
//
// The storage of a cooperative tensor, laid out by element (private.c), is already the slab that
// the function wants: element e of lane l at position e * 32 + l. It is passed as it is. Where it
// is laid out by lane, or differs between lanes, or positions are permuted, it goes through a copy:
// shuffles for fragments of 16 x 16, a loop for the rest.
#include "compiler/passes/passes_int.h"
#include "abi/cpu_kernel.h"
#include "abi/tensor.h"
#include "compiler/tensor_call.h"

enum { SIMD_LANES = ABI_SIMD_WIDTH };

Op msl_tensor_op(Value call) {
    const char *n = callee_of(call);
    if (!strstr(n, "__ingot_tensor_")) return OP_NONE;
    if (strstr(n, TENSOR_MATMUL)) return OP_TENSOR_MATMUL;
    return strstr(n, TENSOR_CONVOLUTION) ? OP_TENSOR_CONVOLUTION : OP_NONE;
}

static uint32_t constant(Vec *x, Value call, int k) {
    int64_t v;
    if (!get_const(operand(call, k), &v))
        msl_fail_at(x, "a tensor operation of unknown kind", call);
    return (uint32_t)v;
}

// The operand that is the data of matrix m, its type and its layout.
static int data_of(int m) { return TENSOR_A + m * TENSOR_MATRIX_ARGS + TENSOR_DATA; }
static unsigned type_of(Vec *x, Value call, int m) {
    return constant(x, call, TENSOR_TYPES) >> 8 * m & 0xff;
}
static uint32_t layout_of(Vec *x, Value call, int m) {
    return constant(x, call, TENSOR_LAYOUT_A + m);
}

int msl_tensor_element_bytes(Vec *x, Value call, Value pointer) {
    int bytes = 0;
    if (msl_tensor_op(call) == OP_TENSOR_CONVOLUTION) {
        if (operand(call, TENSOR_DESTINATION) != pointer ||
            !constant(x, call, TENSOR_CONVOLUTION_LAYOUT))
            return -1;
        uint32_t types = constant(x, call, TENSOR_CONVOLUTION_TYPES);
        return (int)abi_tensor_element_bytes(types >> 16 & 0xff);
    }
    if (msl_tensor_op(call) != OP_TENSOR_MATMUL) return -1;
    for (int m = 0; m < 3; m++) {
        if (operand(call, data_of(m)) != pointer) continue;
        int n = layout_of(x, call, m) ? (int)abi_tensor_element_bytes(type_of(x, call, m)) : -1;
        if (n <= 0 || (bytes && bytes != n)) return -1;
        bytes = n;
    }
    return bytes ? bytes : -1;
}

// ---- emission ----

static Value at(Vec *x, Value base, Value bytes) {
    return LLVMBuildGEP2(x->b, x->i8, base, &bytes, 1, "");
}
static Value at_field(Vec *x, Value base, size_t bytes) {
    return at(x, base, LLVMConstInt(x->i64, bytes, 0));
}

// The value all lanes share.
static Value shared(Vec *x, Value v) {
    if (msl_uniform(x, v)) return msl_scalar(x, v);
    return LLVMBuildExtractElement(x->b, msl_vector(x, v, 0), msl_first_lane(x, x->masks[0]), "");
}

// Storage that goes through a copy.
typedef struct Copy {
    Value slab, lanes; // [capacity * 32] elements; [32] pointers to the first element of each
    uint64_t step;     // bytes from one element of a lane to the next
    uint32_t layout;
    unsigned bytes;
    bool by_element; // fragments laid out by element: `lanes` is the first of them
} Copy;

// Positions of fragments, as a table.
static Value position_table(Vec *x, uint32_t layout, uint64_t n) {
    Value *at = vec_alloc(x, n, sizeof *at);
    for (uint32_t q = 0; q < n; q++) at[q] = LLVMConstInt(x->i32, tensor_position(layout, q), 0);
    Value table = LLVMAddGlobal(x->module, LLVMArrayType2(x->i32, n), "tensor.positions");
    LLVMSetInitializer(table, LLVMConstArray2(x->i32, at, n));
    LLVMSetGlobalConstant(table, 1);
    LLVMSetLinkage(table, LLVMInternalLinkage);
    return table;
}

// for (q = 0; q < capacity * 32; q++) slab[position(q)] = element q / 32 of lane q % 32, or back
static void emit_copy(Vec *x, const Copy *c, bool back) {
    Block before = LLVMGetInsertBlock(x->b), loop = msl_new_block(x, "slab"),
          done = msl_new_block(x, "slab.done");
    uint64_t n = (uint64_t)tensor_capacity(c->layout) * SIMD_LANES;
    Type element = LLVMIntTypeInContext(x->llvm, c->bytes * 8);
    LLVMBuildBr(x->b, loop);
    LLVMPositionBuilderAtEnd(x->b, loop);
    Value q = LLVMBuildPhi(x->b, x->i64, ""), one = LLVMConstInt(x->i64, 1, 0);
    Value lane = LLVMBuildAnd(x->b, q, LLVMConstInt(x->i64, SIMD_LANES - 1, 0), "");
    Value e = LLVMBuildLShr(x->b, q, LLVMConstInt(x->i64, 5, 0), "");
    Value p = LLVMBuildLoad2(x->b, x->ptr, LLVMBuildGEP2(x->b, x->ptr, c->lanes, &lane, 1, ""), "");
    p = at(x, p, LLVMBuildMul(x->b, e, LLVMConstInt(x->i64, c->step, 0), ""));
    Value to = q;
    if (tensor_is_fragments(c->layout)) {
        Value table = position_table(x, c->layout, n);
        to = LLVMBuildLoad2(x->b, x->i32, LLVMBuildGEP2(x->b, x->i32, table, &q, 1, ""), "");
        to = LLVMBuildZExt(x->b, to, x->i64, "");
    } else if (tensor_kind(c->layout) != 1) {
        to = LLVMBuildMul(x->b, q, LLVMConstInt(x->i64, tensor_kind(c->layout), 0), "");
        to = LLVMBuildAdd(x->b, to, LLVMConstInt(x->i64, TENSOR_SHIFT, 0), "");
        to = LLVMBuildURem(x->b, to, LLVMConstInt(x->i64, n, 0), "");
    }
    Value s = LLVMBuildGEP2(x->b, element, c->slab, &to, 1, "");
    Value v = LLVMBuildLoad2(x->b, element, back ? s : p, "");
    LLVMSetAlignment(v, c->bytes);
    LLVMSetAlignment(LLVMBuildStore(x->b, v, back ? p : s), c->bytes);
    Value next = LLVMBuildAdd(x->b, q, one, "");
    LLVMAddIncoming(q, (Value[]){LLVMConstNull(x->i64), next}, (Block[]){before, loop}, 2);
    LLVMBuildCondBr(x->b, LLVMBuildICmp(x->b, LLVMIntULT, next, LLVMConstInt(x->i64, n, 0), ""),
                    loop, done);
    LLVMPositionBuilderAtEnd(x->b, done);
}

// Fragments laid out by element: the four vectors of half a fragment hold 8 rows of 16 columns.
static void emit_fragments(Vec *x, const Copy *c, bool back) {
    enum { ROWS = 8, COLUMNS = 16, VECTORS = 4, ALL = ROWS * COLUMNS };
    Type element = LLVMIntTypeInContext(x->llvm, c->bytes * 8);
    Type row = LLVMVectorType(element, COLUMNS), vector = LLVMVectorType(element, SIMD_LANES);
    int order[ALL];
    for (uint32_t half = 0; half < tensor_capacity(c->layout) / VECTORS; half++) {
        uint32_t first = half * VECTORS * SIMD_LANES, columns, corner;
        corner = tensor_position(c->layout, first);               // thread 0 holds the corner
        columns = tensor_position(c->layout, first + 2) - corner; // thread 2 the row below
        Value from[ALL / COLUMNS], at_row[ROWS], at_vector[VECTORS];
        for (uint32_t y = 0; y < ROWS; y++)
            at_row[y] = at_field(x, c->slab, (uint64_t)(corner + y * columns) * c->bytes);
        for (uint32_t v = 0; v < VECTORS; v++)
            at_vector[v] = at_field(x, c->lanes, (uint64_t)(half * VECTORS + v) * c->step);
        for (uint32_t q = 0; q < ALL; q++) {
            uint32_t p = tensor_position(c->layout, first + q) - corner,
                     place = p / columns * COLUMNS + p % columns;
            order[back ? q : place] = (int)(back ? place : q);
        }
        uint32_t n = back ? ROWS : VECTORS;
        for (uint32_t k = 0; k < n; k++) {
            Value p = back ? at_row[k] : at_vector[k];
            from[k] = LLVMBuildLoad2(x->b, back ? row : vector, p, "");
            LLVMSetAlignment(from[k], c->bytes);
        }
        Value all = msl_concat(x, from, n);
        all = msl_shuffle(x, all, LLVMGetPoison(LLVMTypeOf(all)), order, ALL);
        for (uint32_t k = 0; k < (back ? VECTORS : ROWS); k++) {
            unsigned size = back ? SIMD_LANES : COLUMNS;
            Value v = msl_part(x, all, k * size, size);
            LLVMSetAlignment(LLVMBuildStore(x->b, v, back ? at_vector[k] : at_row[k]), c->bytes);
        }
    }
}

static void copy_slab(Vec *x, const Copy *c, bool back) {
    if (c->by_element)
        emit_fragments(x, c, back);
    else
        emit_copy(x, c, back);
}

static Value named_alloca(Vec *x, uint64_t bytes) {
    Value a = msl_entry_alloca(x, LLVMArrayType2(x->i8, bytes), 64);
    LLVMSetValueName2(a, "tensor.slab", 11);
    return a;
}

// Storage as a slab. c->slab stays NULL if it is one already. Lanes that are not there have no
// storage of their own to speak of: theirs is scratch.
static Value slab_of(Vec *x, Value pointer, unsigned bytes, uint32_t layout, Copy *c) {
    Class k = msl_class(x, pointer);
    bool soa = msl_is_soa(x, pointer);
    *c = (Copy){.layout = layout, .bytes = bytes, .step = bytes * (soa ? (uint64_t)x->lanes : 1)};
    bool by_element = soa && k.kind == LINEAR && !k.segmented && k.stride == (int64_t)bytes;
    if (by_element && tensor_kind(layout) == 1) return msl_scalar(x, pointer);
    uint64_t capacity = tensor_capacity(layout);
    c->slab = named_alloca(x, capacity * SIMD_LANES * bytes);
    if (by_element && tensor_is_fragments(layout)) {
        c->by_element = true;
        c->lanes = msl_scalar(x, pointer);
        copy_slab(x, c, false);
        return c->slab;
    }
    c->lanes = named_alloca(x, SIMD_LANES * 8);
    Value nowhere = named_alloca(x, capacity * c->step);
    Value v = msl_vector(x, pointer, 0);
    v = LLVMBuildSelect(x->b, x->masks[0], v, msl_splat(x, nowhere), "");
    LLVMSetAlignment(LLVMBuildStore(x->b, v, c->lanes), 64);
    copy_slab(x, c, false);
    return c->slab;
}

static void set_field(Vec *x, Value op, size_t offset, Type t, Value v) {
    v = LLVMBuildIntCast2(x->b, v, t, 1, "");
    LLVMBuildStore(x->b, v, at_field(x, op, offset));
}
static Value u32(Vec *x, uint32_t v) { return LLVMConstInt(x->i32, v, 0); }

// Memory that lives for one call: the coroutine of a barrier must not keep it.
static Value begin_op(Vec *x, uint64_t bytes) {
    Value op = msl_entry_alloca(x, LLVMArrayType2(x->i8, bytes), 64);
    LLVMSetValueName2(op, "tensor.op", 9);
    msl_intrinsic(x, "llvm.lifetime.start", &x->ptr, 1, &op, 1);
    return op;
}

// launch->tensors->function(op)
static void call_op(Vec *x, Value op, size_t function) {
    unsigned kind = LLVMGetMDKindIDInContext(x->llvm, "invariant.load", 14);
    Value empty = LLVMMetadataAsValue(x->llvm, LLVMMDNodeInContext2(x->llvm, NULL, 0));
    const size_t path[] = {offsetof(CpuLaunch, tensors), function};
    Value f = x->launch;
    for (int k = 0; k < 2; k++) {
        f = LLVMBuildLoad2(x->b, x->ptr, at_field(x, f, path[k]), "");
        LLVMSetMetadata(f, kind, empty);
    }
    Value call = LLVMBuildCall2(x->b, LLVMFunctionType(x->none, &x->ptr, 1, 0), f, &op, 1, "");
    unsigned nounwind = LLVMGetEnumAttributeKindForName("nounwind", 8);
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(x->llvm, nounwind, 0));
    msl_intrinsic(x, "llvm.lifetime.end", &x->ptr, 1, &op, 1);
}

// Arguments that are fields.
typedef struct Field {
    size_t offset;
    Type type;
    int arg;
} Field;
static void set_fields(Vec *x, Value op, Value i, const Field *fields, size_t n) {
    for (size_t k = 0; k < n; k++)
        set_field(x, op, fields[k].offset, fields[k].type, shared(x, operand(i, fields[k].arg)));
}

static void emit_matmul(Vec *x, Value i) {
    static const size_t matrix[] = {offsetof(CpuMatmul, a), offsetof(CpuMatmul, b),
                                    offsetof(CpuMatmul, c)};
    Copy copies[3] = {{0}};
    Value data[3];
    for (int m = 0; m < 3; m++) {
        uint32_t layout = layout_of(x, i, m);
        Value p = operand(i, data_of(m));
        data[m] =
            layout ? slab_of(x, p, abi_tensor_element_bytes(type_of(x, i, m)), layout, &copies[m])
                   : shared(x, p);
    }
    Value op = begin_op(x, sizeof(CpuMatmul));
    for (int m = 0; m < 3; m++) {
        int first = data_of(m);
        const Field fields[] = {
            {matrix[m] + offsetof(CpuMatrix, row_stride), x->i64, first + TENSOR_ROW_STRIDE},
            {matrix[m] + offsetof(CpuMatrix, col_stride), x->i64, first + TENSOR_COL_STRIDE},
            {matrix[m] + offsetof(CpuMatrix, rows), x->i32, first + TENSOR_ROWS},
            {matrix[m] + offsetof(CpuMatrix, cols), x->i32, first + TENSOR_COLS},
        };
        LLVMBuildStore(x->b, data[m], at_field(x, op, matrix[m] + offsetof(CpuMatrix, data)));
        set_fields(x, op, i, fields, sizeof fields / sizeof *fields);
        set_field(x, op, matrix[m] + offsetof(CpuMatrix, type), x->i32, u32(x, type_of(x, i, m)));
        set_field(x, op, matrix[m] + offsetof(CpuMatrix, reserved), x->i32, u32(x, 0));
    }
    const Field fields[] = {
        {offsetof(CpuMatmul, first_row), x->i32, TENSOR_FIRST_ROW},
        {offsetof(CpuMatmul, n_rows), x->i32, TENSOR_N_ROWS},
        {offsetof(CpuMatmul, n), x->i32, TENSOR_N},
        {offsetof(CpuMatmul, k), x->i32, TENSOR_K},
        {offsetof(CpuMatmul, flags), x->i32, TENSOR_FLAGS},
    };
    set_fields(x, op, i, fields, sizeof fields / sizeof *fields);
    set_field(x, op, offsetof(CpuMatmul, reserved), x->i32, u32(x, 0));
    call_op(x, op, offsetof(CpuTensorOps, matmul));
    if (copies[2].slab) copy_slab(x, &copies[2], true);
}

static void emit_convolution(Vec *x, Value i) {
    static const size_t tensor[] = {offsetof(CpuConvolution, source),
                                    offsetof(CpuConvolution, weights),
                                    offsetof(CpuConvolution, destination)};
    uint32_t layout = constant(x, i, TENSOR_CONVOLUTION_LAYOUT),
             types = constant(x, i, TENSOR_CONVOLUTION_TYPES);
    unsigned bytes = abi_tensor_element_bytes(types >> 16 & 0xff);
    Copy copy = {0};
    Value to = operand(i, TENSOR_DESTINATION);
    if (layout) { // position `first` of the tile is the first of the slab
        Value slab = slab_of(x, to, bytes, layout, &copy);
        Value before = LLVMBuildMul(x->b, shared(x, operand(i, TENSOR_FIRST)),
                                    shared(x, operand(i, TENSOR_SIZE)), "");
        before = LLVMBuildMul(x->b, LLVMBuildSExt(x->b, before, x->i64, ""),
                              const_int(x->i64, -(int64_t)bytes), "");
        to = at(x, slab, before);
    } else {
        to = shared(x, to);
    }
    Value op = begin_op(x, sizeof(CpuConvolution));
    for (int t = 0; t < 3; t++) {
        int first = t * TENSOR_TENSOR_ARGS;
        Value p = t < 2 ? shared(x, operand(i, first)) : to;
        LLVMBuildStore(x->b, p, at_field(x, op, tensor[t] + offsetof(AbiTensor, data)));
        set_field(x, op, tensor[t] + offsetof(AbiTensor, type), x->i32,
                  u32(x, types >> 8 * t & 0xff));
        set_field(x, op, tensor[t] + offsetof(AbiTensor, rank), x->i32, u32(x, 4));
        for (int d = 0; d < 4; d++) {
            const Field fields[] = {
                {tensor[t] + offsetof(AbiTensor, extents) + 8 * (size_t)d, x->i64,
                 first + TENSOR_EXTENTS + d},
                {tensor[t] + offsetof(AbiTensor, strides) + 8 * (size_t)d, x->i64,
                 first + TENSOR_STRIDES + d},
            };
            set_fields(x, op, i, fields, 2);
        }
    }
    for (int d = 0; d < 4; d++) {
        const Field field = {offsetof(CpuConvolution, size) + 4 * (size_t)d, x->i32,
                             TENSOR_SIZE + d};
        set_fields(x, op, i, &field, 1);
    }
    for (int d = 0; d < 2; d++) {
        const Field fields[] = {
            {offsetof(CpuConvolution, offset) + 4 * (size_t)d, x->i32, TENSOR_OFFSET + d},
            {offsetof(CpuConvolution, strides) + 4 * (size_t)d, x->i32, TENSOR_STEP + d},
            {offsetof(CpuConvolution, dilations) + 4 * (size_t)d, x->i32, TENSOR_DILATION + d},
        };
        set_fields(x, op, i, fields, 3);
    }
    const Field fields[] = {
        {offsetof(CpuConvolution, first), x->i32, TENSOR_FIRST},
        {offsetof(CpuConvolution, count), x->i32, TENSOR_COUNT},
        {offsetof(CpuConvolution, flags), x->i32, TENSOR_CONVOLUTION_FLAGS},
    };
    set_fields(x, op, i, fields, sizeof fields / sizeof *fields);
    set_field(x, op, offsetof(CpuConvolution, reserved), x->i32, u32(x, 0));
    call_op(x, op, offsetof(CpuTensorOps, convolution));
    if (copy.slab) copy_slab(x, &copy, true);
}

void msl_emit_tensor(Vec *x, Value i) {
    if (x->lanes != SIMD_LANES) msl_fail_at(x, "a tensor operation needs a step of 32 threads", i);
    if (msl_tensor_op(i) == OP_TENSOR_MATMUL)
        emit_matmul(x, i);
    else
        emit_convolution(x, i);
}
