// SPDX-License-Identifier: Apache-2.0
// emit_packed.c: vectors of the program in the order of memory.
//   purpose   half4, float4, char2: a record for each lane. Their components as vectors of lanes
//             cost shuffles, which are most of the work of `s += dot(float4(a[i]), b[i])`. What
//             treats all components alike needs none: it is one operation on as many lanes times
//             components, in the order in which they lie in memory.
//   leaves    Val.packed beside the components; whichever nobody uses is dropped by the optimiser
// Made by loads of records (emit_memory.c), kept by element-wise operations on such and uniform
// values, carried by the phis of loops (emit_control.c), taken by stores.
#include "compiler/passes/passes_int.h"

// ---- from records to components ----

enum { CHUNK = 4 }; // registers that are taken apart together

// Four registers of records of four -> four of components, by halves of registers: AVX2 has no
// permutation of two registers.
static void unpack_by_halves(Vec *x, const Value *in, Value *out) {
    static const int low[] = {0, 1, 2, 3, 8, 9, 10, 11}, high[] = {4, 5, 6, 7, 12, 13, 14, 15},
                     front[] = {0, 8, 1, 9, 4, 12, 5, 13}, back[] = {2, 10, 3, 11, 6, 14, 7, 15},
                     even[] = {0, 1, 8, 9, 4, 5, 12, 13}, odd[] = {2, 3, 10, 11, 6, 7, 14, 15};
    Value p = msl_shuffle(x, in[0], in[2], low, 8), q = msl_shuffle(x, in[0], in[2], high, 8),
          r = msl_shuffle(x, in[1], in[3], low, 8), s = msl_shuffle(x, in[1], in[3], high, 8);
    Value front_pq = msl_shuffle(x, p, q, front, 8), front_rs = msl_shuffle(x, r, s, front, 8),
          back_pq = msl_shuffle(x, p, q, back, 8), back_rs = msl_shuffle(x, r, s, back, 8);
    out[0] = msl_shuffle(x, front_pq, front_rs, even, 8);
    out[1] = msl_shuffle(x, front_pq, front_rs, odd, 8);
    out[2] = msl_shuffle(x, back_pq, back_rs, even, 8);
    out[3] = msl_shuffle(x, back_pq, back_rs, odd, 8);
}

// The same with permutations of two registers of 16: first two components of each pair, then all.
static void unpack_by_pairs(Vec *x, const Value *in, Value *out) {
    Value half[2][2]; // [pair][components 0 and 1, or 2 and 3]
    int ix[16];
    for (int pair = 0; pair < 2; pair++)
        for (int c = 0; c < 2; c++) {
            for (int i = 0; i < 16; i++) ix[i] = i % 8 * 4 + 2 * c + i / 8;
            half[pair][c] = msl_shuffle(x, in[2 * pair], in[2 * pair + 1], ix, 16);
        }
    for (int c = 0; c < 4; c++) {
        for (int i = 0; i < 16; i++) ix[i] = c % 2 * 8 + i % 8 + i / 8 * 16;
        out[c] = msl_shuffle(x, half[0][c / 2], half[1][c / 2], ix, 16);
    }
}

// Elements of a register, if these records are taken apart in steps; 0: one shuffle for each
// component will do.
static unsigned in_steps(const Vec *x, Type wide, int n) {
    unsigned each = x->cx->avx512 ? 16 : 8;
    bool words = LLVMABISizeOfType(x->dl, LLVMGetElementType(wide)) == 4;
    return (x->cx->avx512 || x->cx->avx2) && words && n == CHUNK &&
                   LLVMGetVectorSize(wide) % (each * CHUNK) == 0
               ? each
               : 0;
}

void msl_unpack(Vec *x, Value w, int n, Value *leaves) {
    Type t = LLVMTypeOf(w);
    unsigned each = in_steps(x, t, n), lanes = LLVMGetVectorSize(t) / (unsigned)n;
    if (!each) {
        int ix[MAX_WIDTH];
        for (int c = 0; c < n; c++) {
            for (unsigned i = 0; i < lanes; i++) ix[i] = (int)i * n + c;
            leaves[c] = msl_shuffle(x, w, LLVMGetPoison(t), ix, lanes);
        }
        return;
    }
    Value out[CHUNK][MAX_WIDTH / 8];
    unsigned chunks = lanes / each;
    for (unsigned k = 0; k < chunks; k++) {
        Value in[CHUNK], to[CHUNK];
        for (unsigned r = 0; r < CHUNK; r++) in[r] = msl_part(x, w, (k * CHUNK + r) * each, each);
        if (each == 16)
            unpack_by_pairs(x, in, to);
        else
            unpack_by_halves(x, in, to);
        for (int c = 0; c < CHUNK; c++) out[c][k] = to[c];
    }
    for (int c = 0; c < n; c++) leaves[c] = msl_concat(x, out[c], chunks);
}

// ---- operations ----

void msl_set_packed(Vec *x, Val *o, Value w) {
    if (!o->packed) o->packed = vec_alloc(x, x->parts, sizeof *o->packed);
    o->packed[x->part] = w;
}

Value msl_packed(Vec *x, Value v) {
    const Val *k = msl_val(x, v);
    if (k && k->c.kind == VARYING) return k->packed ? k->packed[x->part] : NULL;
    if (k && !msl_uniform(x, v)) return NULL;
    int ix[MAX_WIDE], n = msl_leaves(LLVMTypeOf(v));
    for (int i = 0; i < n * (int)x->width; i++) ix[i] = i % n;
    return msl_shuffle(x, msl_scalar(x, v), LLVMGetPoison(LLVMTypeOf(v)), ix,
                       (unsigned)n * x->width);
}

Value msl_records_of(Vec *x, Value v, int n) {
    Value w = msl_packed(x, v);
    return w && LLVMGetVectorSize(LLVMTypeOf(w)) == (unsigned)n * x->width ? w : NULL;
}

static bool treats_alike(Value i);

// Whether v will be there packed, as far as one can tell before it is emitted.
bool msl_may_pack(Vec *x, Value v, int depth) {
    if (!is_vector(LLVMTypeOf(v))) return false;
    if (LLVMIsAConstant(v) || msl_uniform(x, v)) return true;
    if (LLVMIsALoadInst(v)) return true;
    const bool phi = LLVMIsAPHINode(v);
    if (phi ? msl_map_get(&x->out_ix, v) >= 0 : !LLVMIsAInstruction(v) || !treats_alike(v))
        return false;
    if (!depth) return true;
    int n = LLVMIsACallInst(v) ? (int)LLVMGetNumArgOperands(v) : LLVMGetNumOperands(v);
    for (int k = 0; k < n; k++)
        if (!msl_may_pack(x, operand(v, k), depth - 1)) return false;
    return true;
}

// Packed, if need be from the components.
Value msl_pack(Vec *x, Value v) {
    Value w = msl_packed(x, v), leaf[CHUNK];
    int n = msl_leaves(LLVMTypeOf(v));
    if (w) return w;
    for (int k = 0; k < n; k++) leaf[k] = msl_vector(x, v, k);
    return msl_interleave(x, leaf, n, n, (int)x->width);
}

static bool treats_alike(Value i) {
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
    case LLVMFDiv:
    case LLVMFNeg:
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMSExt:
    case LLVMZExt:
    case LLVMTrunc:
    case LLVMFPExt:
    case LLVMFPTrunc:
    case LLVMSIToFP:
    case LLVMUIToFP:
    case LLVMFPToSI:
    case LLVMFPToUI: return true;
    case LLVMCall:
        return starts_with(callee_of(i), "llvm.fm") || starts_with(callee_of(i), "llvm.fabs");
    default: return false;
    }
}

// Whether i is done on packed operands: some are, and the others uniform.
bool msl_packs(Vec *x, Value i) {
    Type t = LLVMTypeOf(i);
    if (!is_vector(t) || !treats_alike(i) || LLVMGetVectorSize(t) == 3) return false;
    bool some = false;
    int n = LLVMIsACallInst(i) ? (int)LLVMGetNumArgOperands(i) : LLVMGetNumOperands(i);
    for (int k = 0; k < n; k++) {
        Value v = operand(i, k);
        const Val *o = msl_val(x, v);
        bool packed = o && o->packed && o->packed[x->part];
        if (!is_vector(LLVMTypeOf(v)) || !(packed || msl_uniform(x, v))) return false;
        some |= packed;
    }
    return some;
}
