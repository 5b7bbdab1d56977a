// SPDX-License-Identifier: Apache-2.0
// emit_texture.c: texture functions, and those of ray tracing. A call of the thread function,
//     <4 x i32> __ingot_texture_<what><op>(i64 texture, i64 sampler, i32 row0, ..., i32 row15)
//     <n x i32> __ingot_rays_<what><op>(i64 structure, i64 0, i32 row0, ..., i32 row15)
// becomes one call of CpuLaunch.textures or .rays for all lanes of the step: the rows that the
// operation needs are stored as arrays of lanes on the stack, the mask as bits, and the results are
// loaded back (src/abi/cpu_texture.h, cpu_rays.h). Where texture or sampler differ between lanes, a
// loop runs over the distinct pairs. A call whose inputs are all uniform is made for one lane.
// Lanes that do not take part hold any value in the rows; an implicit level of detail of a quad
// that is not complete is undefined in Metal too.
#include "compiler/passes/passes_int.h"
#include "abi/cpu_kernel.h"
#include "abi/texture_layout.h"
#include <stdio.h>

enum { ROW0 = 2, MAX_COMPONENTS = CPU_TRANSFORM_RESULTS }; // first operand that is a row

static bool is_call_of(Value i, const char *what, unsigned *op) {
    const char *at = strstr(callee_of(i), what);
    return at && sscanf(at + strlen(what), "ILj%uE", op) == 1;
}

Op msl_texture_op(Value i, unsigned *op) {
    unsigned none;
    if (!op) op = &none;
    static const struct {
        const char *name;
        Op op;
    } table[] = {
        {"__ingot_texture_sample", OP_TEX_SAMPLE}, {"__ingot_texture_sample_at", OP_TEX_SAMPLE},
        {"__ingot_texture_read", OP_TEX_READ},     {"__ingot_texture_load", OP_TEX_READ},
        {"__ingot_texture_write", OP_TEX_WRITE},   {"__ingot_texture_atomic", OP_TEX_ATOMIC},
        {"__ingot_rays_trace", OP_RAY_TRACE},      {"__ingot_rays_path", OP_RAY_PATH},
        {"__ingot_rays_matrix", OP_RAY_MATRIX},
    };
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (is_call_of(i, table[k].name, op)) return table[k].op;
    return OP_NONE;
}

static bool is_zero(Value v) {
    int64_t n;
    return get_const(v, &n) && n == 0;
}

// Rows of coordinates: bits of the dimensions, and of the slice.
static unsigned coordinate_rows(unsigned op, bool sampling) {
    enum { X = 1, Y = 2, Z = 4, SLICE = 1 << CPU_TEX_SLICE };
    switch (op & CPU_TEX_TYPE_MASK) {
    case ABI_TEXTURE_1D_ARRAY: return X | SLICE;
    case ABI_TEXTURE_2D:
    case ABI_TEXTURE_2D_MS: return X | Y;
    case ABI_TEXTURE_2D_ARRAY:
    case ABI_TEXTURE_2D_MS_ARRAY: return X | Y | SLICE;
    case ABI_TEXTURE_CUBE: return X | Y | (sampling ? Z : SLICE);
    case ABI_TEXTURE_CUBE_ARRAY: return X | Y | SLICE | (sampling ? Z : 0);
    case ABI_TEXTURE_3D: return X | Y | Z;
    default: return X; // 1D, buffer
    }
}

static unsigned needed_ray_rows(Op which, unsigned op) {
    if (which == OP_RAY_PATH) return (1u << CPU_PATH_ROWS) - 1;
    if (which == OP_RAY_MATRIX) return (1u << CPU_TRANSFORM_ROWS) - 1;
    unsigned rows = ((1u << CPU_RAY_MASK) - 1) | 1u << CPU_RAY_FLAGS;
    if (op & CPU_RAY_MASKED) rows |= 1u << CPU_RAY_MASK;
    if (op & CPU_RAY_TIME) rows |= 1u << CPU_RAY_AT;
    if (op & CPU_RAY_AFTER) rows |= 31u << CPU_RAY_LAST;
    return rows;
}

// The rows an operation reads. A constant offset of nothing is none: *op says so afterwards.
static unsigned needed_rows(Value i, Op which, unsigned *op) {
    if (which >= OP_RAY_TRACE) return needed_ray_rows(which, *op);
    unsigned at = coordinate_rows(*op, which == OP_TEX_SAMPLE), dims = at & 7, rows = at,
             type = *op & CPU_TEX_TYPE_MASK;
    bool multisample = type == ABI_TEXTURE_2D_MS || type == ABI_TEXTURE_2D_MS_ARRAY;
    if (which != OP_TEX_SAMPLE) {
        rows |= multisample                  ? 1u << CPU_TEX_SAMPLE
                : type == ABI_TEXTURE_BUFFER ? 0
                                             : 1u << CPU_TEX_LEVEL;
        return which == OP_TEX_READ ? rows : rows | 15u << CPU_TEX_VALUE;
    }
    if (*op & CPU_TEX_COMPARE) rows |= 1u << CPU_TEX_REFERENCE;
    if (*op & CPU_TEX_MIN_LOD) rows |= 1u << CPU_TEX_LOD_CLAMP;
    unsigned lod = *op & CPU_TEX_LOD_MASK;
    if (lod == CPU_TEX_LOD_BIAS || lod == CPU_TEX_LOD_LEVEL) rows |= 1u << CPU_TEX_LEVEL;
    if (lod == CPU_TEX_LOD_GRADIENT) rows |= dims << CPU_TEX_DX | dims << CPU_TEX_DY;
    if (!(*op & CPU_TEX_OFFSET)) return rows;
    bool offset = false;
    for (int d = 0; d < 3; d++)
        offset |= (dims >> d & 1) && !is_zero(operand(i, ROW0 + CPU_TEX_OFFSETS + d));
    if (offset) return rows | dims << CPU_TEX_OFFSETS;
    *op &= ~(unsigned)CPU_TEX_OFFSET;
    return rows;
}

Class msl_texture_class(Vec *x, Value i) {
    Class uniform = msl_linear(0, true, true), vary = {VARYING, .max = UINT64_MAX};
    unsigned op;
    Op which = msl_texture_op(i, &op);
    unsigned rows = needed_rows(i, which, &op);
    if (which == OP_TEX_ATOMIC) return vary; // every thread does it
    for (int k = 0; k < ROW0 + CPU_TEX_ROWS; k++)
        if ((k < ROW0 || rows >> (k - ROW0) & 1) && !msl_uniform(x, operand(i, k))) return vary;
    return uniform;
}

// ---- emission ----

typedef struct Call {
    unsigned op, rows, n_lanes, n_components;
    Op which;
    Value at_rows, at_out, at_mask; // stack memory
} Call;

static Value address(Vec *x, Value base, uint64_t bytes) {
    Value offset = LLVMConstInt(x->i64, bytes, 0);
    return bytes ? LLVMBuildInBoundsGEP2(x->b, x->i8, base, &offset, 1, "") : base;
}

static unsigned stack_align(unsigned n_lanes) { return n_lanes % 16 ? 16 : 64; }

static void store_to(Vec *x, Value v, Value base, uint64_t bytes, unsigned align) {
    LLVMSetAlignment(LLVMBuildStore(x->b, v, address(x, base, bytes)), align);
}

// Memory that lives for one call: the coroutine of a barrier must not keep it.
static void lifetime(Vec *x, const Call *c, const char *name) {
    Value memory[] = {c->at_rows, c->at_mask, c->at_out};
    for (int k = 0; k < 3; k++) {
        Value args[] = {memory[k]};
        msl_intrinsic(x, name, &x->ptr, 1, args, 1);
    }
}

static void begin_call(Vec *x, Value i, Call *c, unsigned n_lanes) {
    c->which = msl_texture_op(i, &c->op);
    c->rows = needed_rows(i, c->which, &c->op);
    c->n_lanes = n_lanes;
    Type type = LLVMTypeOf(i);
    c->n_components = LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 0;
    unsigned last = 31 - (unsigned)__builtin_clz(c->rows), align = stack_align(n_lanes);
    c->at_rows = msl_entry_alloca(x, LLVMArrayType2(x->i32, (last + 1) * n_lanes), align);
    c->at_out =
        msl_entry_alloca(x, LLVMArrayType2(x->i32, (uint64_t)c->n_components * n_lanes), align);
    c->at_mask = msl_entry_alloca(x, LLVMArrayType2(x->i32, (n_lanes + 31) / 32), 64);
    LLVMSetValueName2(c->at_rows, "texture.rows", 12);
    LLVMSetValueName2(c->at_out, "texture.out", 11);
    LLVMSetValueName2(c->at_mask, "texture.mask", 12);
    lifetime(x, c, "llvm.lifetime.start");
}

// launch->textures->fn(texture[, sampler], op, n_lanes, mask, rows, out), or launch->rays
static void emit_call(Vec *x, const Call *c, Value texture, Value sampler) {
    static const unsigned slot[] = {
        offsetof(CpuTextureOps, sample), offsetof(CpuTextureOps, read),
        offsetof(CpuTextureOps, write),  offsetof(CpuTextureOps, atomic),
        offsetof(CpuRayOps, trace),      offsetof(CpuRayOps, path),
        offsetof(CpuRayOps, transform)};
    size_t ops =
        c->which >= OP_RAY_TRACE ? offsetof(CpuLaunch, rays) : offsetof(CpuLaunch, textures);
    unsigned kind = LLVMGetMDKindIDInContext(x->llvm, "invariant.load", 14), n = 0;
    Value empty = LLVMMetadataAsValue(x->llvm, LLVMMDNodeInContext2(x->llvm, NULL, 0));
    Value table = LLVMBuildLoad2(x->b, x->ptr, address(x, x->launch, ops), "textures");
    LLVMSetMetadata(table, kind, empty);
    Value f =
        LLVMBuildLoad2(x->b, x->ptr, address(x, table, slot[c->which - OP_TEX_SAMPLE]), "texture");
    LLVMSetMetadata(f, kind, empty);
    Value args[7];
    Type types[7];
    args[n++] = texture;
    if (c->which == OP_TEX_SAMPLE) args[n++] = sampler;
    args[n++] = LLVMConstInt(x->i32, c->op, 0);
    args[n++] = LLVMConstInt(x->i32, c->n_lanes, 0);
    args[n++] = c->at_mask, args[n++] = c->at_rows, args[n++] = c->at_out;
    for (unsigned k = 0; k < n; k++) types[k] = LLVMTypeOf(args[k]);
    Value call = LLVMBuildCall2(x->b, LLVMFunctionType(x->none, types, n, 0), f, args, n, "");
    unsigned nounwind = LLVMGetEnumAttributeKindForName("nounwind", 8);
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(x->llvm, nounwind, 0));
}

static void emit_uniform(Vec *x, Value i, Val *o) {
    Call c;
    begin_call(x, i, &c, 1);
    for (unsigned r = 0; r < CPU_TEX_ROWS; r++)
        if (c.rows >> r & 1)
            store_to(x, msl_scalar(x, operand(i, (int)(ROW0 + r))), c.at_rows, r * 4ull, 4);
    store_to(x, const_int(x->i32, 1), c.at_mask, 0, 4);
    emit_call(x, &c, msl_scalar(x, operand(i, 0)), msl_scalar(x, operand(i, 1)));
    if (o) {
        o->base[0] = LLVMBuildLoad2(x->b, LLVMTypeOf(i), c.at_out, "");
        LLVMSetAlignment(o->base[0], 16);
    }
    lifetime(x, &c, "llvm.lifetime.end");
}

static void store_rows(Vec *x, Value i, const Call *c) {
    unsigned align = stack_align(x->width);
    for (unsigned p = 0; p < x->parts; p++) {
        msl_set_part(x, p);
        for (unsigned r = 0; r < CPU_TEX_ROWS; r++)
            if (c->rows >> r & 1)
                store_to(x, msl_vector(x, operand(i, (int)(ROW0 + r)), 0), c->at_rows,
                         (r * (uint64_t)x->lanes + p * x->width) * 4, align);
    }
}

static Value result_of(Vec *x, const Call *c, unsigned part, unsigned component) {
    Value at =
        address(x, c->at_out, (component * (uint64_t)x->lanes + part * (uint64_t)x->width) * 4);
    Value v = LLVMBuildLoad2(x->b, msl_vector_type(x, x->i32), at, "");
    LLVMSetAlignment(v, stack_align(x->width));
    return v;
}

// `bits`: one integer per part, of as many bits as lanes.
static void store_mask(Vec *x, const Call *c, Value *bits) {
    for (unsigned p = 0; p < x->parts; p++) {
        Value w = x->width < 32 ? LLVMBuildZExt(x->b, bits[p], x->i32, "") : bits[p];
        if (x->width >= 32 || x->parts == 1) {
            store_to(x, w, c->at_mask, p * 4ull, 4);
        } else { // several parts in one word
            store_to(x, bits[p], c->at_mask, p * (uint64_t)x->width / 8, 1);
        }
    }
}

// Lanes with the texture and the sampler of the first lane that is left take part in one round.
static void emit_rounds(Vec *x, Value i, const Call *c, Val *o) {
    enum { MAX_RESULTS = MAX_PARTS * MAX_COMPONENTS };
    Value left0[MAX_PARTS], left[MAX_PARTS], now[MAX_PARTS], rest[MAX_PARTS], handles[2],
        acc[MAX_RESULTS], next[MAX_RESULTS];
    unsigned parts = x->parts, n = c->n_components, n_results = o ? parts * n : 0;
    for (unsigned h = 0; h < 2; h++) {
        handles[h] = msl_entry_alloca(x, LLVMArrayType2(x->i64, x->lanes), 64);
        LLVMSetValueName2(handles[h], "texture.handles", 15);
        for (unsigned p = 0; p < parts; p++) {
            msl_set_part(x, p);
            store_to(x, msl_vector(x, operand(i, (int)h), 0), handles[h], p * x->width * 8ull, 16);
        }
    }
    for (unsigned p = 0; p < parts; p++) left0[p] = msl_mask_bits(x, x->masks[p]);
    Block before = LLVMGetInsertBlock(x->b), loop = msl_new_block(x, "round"),
          done = msl_new_block(x, "rounds.done");
    LLVMBuildBr(x->b, loop); // a lane is active: the block runs
    LLVMPositionBuilderAtEnd(x->b, loop);
    for (unsigned p = 0; p < parts; p++) left[p] = LLVMBuildPhi(x->b, x->bits_type, "left");
    for (unsigned k = 0; k < n_results; k++)
        acc[k] = LLVMBuildPhi(x->b, msl_vector_type(x, x->i32), "");
    Value first = LLVMConstNull(x->i64), zero = LLVMConstNull(x->bits_type);
    for (unsigned p = parts; p-- > 0;) {
        Value a[] = {left[p], const_int(x->i1, 0)};
        Value lane = LLVMBuildIntCast2(x->b, msl_intrinsic(x, "llvm.cttz", &x->bits_type, 1, a, 2),
                                       x->i64, 0, "");
        lane = LLVMBuildAdd(x->b, lane, const_int(x->i64, (int64_t)p * x->width), "");
        first = LLVMBuildSelect(x->b, LLVMBuildICmp(x->b, LLVMIntNE, left[p], zero, ""), lane,
                                first, "");
    }
    Value one[2];
    for (unsigned h = 0; h < 2; h++)
        one[h] = LLVMBuildLoad2(x->b, x->i64,
                                LLVMBuildInBoundsGEP2(x->b, x->i64, handles[h], &first, 1, ""), "");
    Value any = LLVMConstNull(x->bits_type);
    for (unsigned p = 0; p < parts; p++) {
        now[p] = left[p];
        for (unsigned h = 0; h < 2; h++) {
            Value v = LLVMBuildLoad2(x->b, msl_vector_type(x, x->i64),
                                     address(x, handles[h], p * x->width * 8ull), "");
            LLVMSetAlignment(v, 16);
            Value same = LLVMBuildICmp(x->b, LLVMIntEQ, v, msl_splat(x, one[h]), "");
            now[p] = LLVMBuildAnd(x->b, now[p], msl_mask_bits(x, same), "");
        }
        rest[p] = LLVMBuildXor(x->b, left[p], now[p], "");
        any = LLVMBuildOr(x->b, any, rest[p], "");
    }
    store_mask(x, c, now);
    emit_call(x, c, one[0], one[1]);
    for (unsigned k = 0; k < n_results; k++) {
        unsigned p = k / n;
        Value on = LLVMBuildBitCast(x->b, now[p], x->mask_type, "");
        next[k] = LLVMBuildSelect(x->b, on, result_of(x, c, p, k % n), acc[k], "");
        LLVMAddIncoming(acc[k], (Value[]){LLVMGetPoison(LLVMTypeOf(acc[k])), next[k]},
                        (Block[]){before, loop}, 2);
        o->all[k] = next[k];
    }
    for (unsigned p = 0; p < parts; p++)
        LLVMAddIncoming(left[p], (Value[]){left0[p], rest[p]}, (Block[]){before, loop}, 2);
    LLVMBuildCondBr(x->b, LLVMBuildICmp(x->b, LLVMIntNE, any, zero, ""), loop, done);
    LLVMPositionBuilderAtEnd(x->b, done);
}

static void emit_all_lanes(Vec *x, Value i, Val *o) {
    Call c;
    Value bits[MAX_PARTS];
    begin_call(x, i, &c, x->lanes);
    store_rows(x, i, &c);
    if (!msl_uniform(x, operand(i, 0)) || !msl_uniform(x, operand(i, 1))) {
        emit_rounds(x, i, &c, o);
    } else {
        for (unsigned p = 0; p < x->parts; p++) bits[p] = msl_mask_bits(x, x->masks[p]);
        store_mask(x, &c, bits);
        emit_call(x, &c, msl_scalar(x, operand(i, 0)), msl_scalar(x, operand(i, 1)));
        for (unsigned k = 0; o && k < x->parts * c.n_components; k++)
            o->all[k] = result_of(x, &c, k / c.n_components, k % c.n_components);
    }
    lifetime(x, &c, "llvm.lifetime.end");
    msl_set_part(x, 0);
}

void msl_emit_texture(Vec *x, Value i, Val *o) {
    Class c = o ? o->c : msl_texture_class(x, i);
    if (c.kind == LINEAR)
        emit_uniform(x, i, o);
    else
        emit_all_lanes(x, i, o);
}
