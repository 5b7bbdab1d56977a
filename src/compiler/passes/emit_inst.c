// SPDX-License-Identifier: Apache-2.0
// emit_inst.c: one instruction of the thread function becomes its scalar or vector form.
// Requires: classes (divergence.c), x->mask. Uniform: the instruction itself; linear: the same on
// the first lane of each segment; varying: one vector instruction for each scalar leaf.
#include "compiler/passes/passes_int.h"

// Element-wise intrinsics: which types overload them (-1 result, k: argument k, -2 none) and which
// arguments stay scalar (bit set).
static const struct {
    const char *name;
    int overload[2];
    unsigned immediate;
} elementwise[] = {
#define E(n) {"llvm." n, {-1, -2}, 0}
    E("fmuladd"),
    E("fma"),
    E("sqrt"),
    E("fabs"),
    E("minnum"),
    E("maxnum"),
    E("minimumnum"),
    E("maximumnum"),
    E("minimum"),
    E("maximum"),
    E("floor"),
    E("ceil"),
    E("trunc"),
    E("rint"),
    E("nearbyint"),
    E("roundeven"),
    E("round"),
    E("copysign"),
    E("canonicalize"),
    E("smin"),
    E("smax"),
    E("umin"),
    E("umax"),
    E("ctpop"),
    E("bswap"),
    E("bitreverse"),
    E("fshl"),
    E("fshr"),
    E("sadd.sat"),
    E("uadd.sat"),
    E("ssub.sat"),
    E("usub.sat"),
    E("sshl.sat"),
    E("ushl.sat"),
    E("arithmetic.fence"),
    {"llvm.abs", {-1, -2}, 2},
    {"llvm.ctlz", {-1, -2}, 2},
    {"llvm.cttz", {-1, -2}, 2},
    {"llvm.is.fpclass", {0, -2}, 2},
    {"llvm.ldexp", {-1, 1}, 0},
    {"llvm.fptosi.sat", {-1, 0}, 0},
    {"llvm.fptoui.sat", {-1, 0}, 0},
    {"llvm.scmp", {-1, 0}, 0},
    {"llvm.ucmp", {-1, 0}, 0},
    {"llvm.sadd.with.overflow", {0, -2}, 0},
    {"llvm.uadd.with.overflow", {0, -2}, 0},
    {"llvm.ssub.with.overflow", {0, -2}, 0},
    {"llvm.usub.with.overflow", {0, -2}, 0},
    {"llvm.smul.with.overflow", {0, -2}, 0},
    {"llvm.umul.with.overflow", {0, -2}, 0},
#undef E
};

static int elementwise_ix(const char *name) {
    if (!starts_with(name, "llvm.")) return -1;
    for (unsigned k = 0; k < sizeof elementwise / sizeof *elementwise; k++) {
        size_t n = strlen(elementwise[k].name);
        if (!strncmp(name, elementwise[k].name, n) && (name[n] == '.' || !name[n])) return (int)k;
    }
    return -1;
}
bool msl_is_elementwise(const char *name) { return elementwise_ix(name) >= 0; }

bool msl_is_dropped(const char *name) {
    static const char *const dropped[] = {
        "llvm.lifetime",       "llvm.dbg",       "llvm.assume",     "llvm.experimental.noalias",
        "llvm.var.annotation", "llvm.donothing", "llvm.sideeffect", "llvm.invariant"};
    for (unsigned k = 0; k < sizeof dropped / sizeof *dropped; k++)
        if (starts_with(name, dropped[k])) return true;
    return false;
}

// (Maths that LLVM would send to libm for every lane, such as llvm.sin, is not in the list: a lane
// loop calls it for the active lanes only. The maths library of the headers needs none of it.)
static void emit_elementwise(Vec *x, Value i, Val *o, int k) {
    Type result = LLVMTypeOf(i), overload[2];
    bool pair = is_aggregate(result); // {T, i1} of the overflow checks
    int n = (int)LLVMGetNumArgOperands(i), copies = pair ? 1 : o->n;
    unsigned n_overloads = 0;
    for (int q = 0; q < 2 && elementwise[k].overload[q] > -2; q++) {
        int w = elementwise[k].overload[q];
        Type t = w < 0 ? result : LLVMTypeOf(operand(i, w));
        overload[n_overloads++] = msl_vector_type(x, msl_leaf_type(t, 0));
    }
    if (pair && is_vector(LLVMStructGetTypeAtIndex(result, 0))) {
        msl_lane_loop(x, i, o);
        return;
    }
    for (int c = 0; c < copies; c++) {
        Value a[4];
        for (int q = 0; q < n; q++)
            a[q] =
                elementwise[k].immediate >> q & 1 ? operand(i, q) : msl_vector(x, operand(i, q), c);
        Value r = msl_intrinsic(x, elementwise[k].name, overload, n_overloads, a, (unsigned)n);
        msl_copy_flags(i, r);
        if (!pair) o->v[c] = r;
        for (int f = 0; pair && f < 2; f++)
            o->v[f] = LLVMBuildExtractValue(x->b, r, (unsigned)f, "");
    }
}

// llvm.vector.reduce.*: over a small vector of the program, leaf by leaf.
static bool emit_vector_reduce(Vec *x, Value i, Val *o) {
    static const struct {
        const char *name;
        LLVMOpcode op;
        const char *intrinsic;
    } ops[] = {
        {"fadd", LLVMFAdd, NULL},         {"fmul", LLVMFMul, NULL},
        {"add", LLVMAdd, NULL},           {"mul", LLVMMul, NULL},
        {"and", LLVMAnd, NULL},           {"or", LLVMOr, NULL},
        {"xor", LLVMXor, NULL},           {"smax", 0, "llvm.smax"},
        {"smin", 0, "llvm.smin"},         {"umax", 0, "llvm.umax"},
        {"umin", 0, "llvm.umin"},         {"fmax.", 0, "llvm.maxnum"},
        {"fmin.", 0, "llvm.minnum"},      {"fmaximum.", 0, "llvm.maximum"},
        {"fminimum.", 0, "llvm.minimum"},
    };
    const char *name = callee_of(i);
    if (!starts_with(name, "llvm.vector.reduce.")) return false;
    name += 19;
    bool ordered = starts_with(name, "fadd") || starts_with(name, "fmul");
    Value src = operand(i, ordered),
          acc = ordered ? msl_vector(x, operand(i, 0), 0) : msl_vector(x, src, 0);
    for (unsigned k = 0; k < sizeof ops / sizeof *ops; k++) {
        if (!starts_with(name, ops[k].name)) continue;
        for (int c = !ordered; c < msl_leaves(LLVMTypeOf(src)); c++) {
            Value a[] = {acc, msl_vector(x, src, c)};
            Type t = LLVMTypeOf(acc);
            acc = ops[k].intrinsic ? msl_intrinsic(x, ops[k].intrinsic, &t, 1, a, 2)
                                   : LLVMBuildBinOp(x->b, ops[k].op, a[0], a[1], "");
            msl_copy_flags(i, acc);
        }
        o->v[0] = acc;
        return true;
    }
    return false;
}

// ---- division ----

// The divisor with 0 (and -1 under the least dividend) replaced by 1: x86 traps on them.
static Value safe_divisor(Vec *x, bool is_signed, Value a, Value d) {
    Type t = LLVMTypeOf(d), e = is_vector(t) ? LLVMGetElementType(t) : t;
    Value one = is_vector(t) ? msl_splat(x, const_int(e, 1)) : const_int(e, 1);
    d = LLVMBuildFreeze(x->b, d, "");
    if (!is_signed) {
        Value args[] = {d, one};
        return msl_intrinsic(x, "llvm.umax", &t, 1, args, 2);
    }
    Value least = LLVMConstInt(e, 1ull << (int_bits(e) - 1), 0), all = LLVMConstAllOnes(t);
    if (is_vector(t)) least = msl_splat(x, least);
    Value bad = LLVMBuildICmp(x->b, LLVMIntEQ, d, LLVMConstNull(t), "");
    Value over =
        LLVMBuildAnd(x->b, LLVMBuildICmp(x->b, LLVMIntEQ, d, all, ""),
                     LLVMBuildICmp(x->b, LLVMIntEQ, LLVMBuildFreeze(x->b, a, ""), least, ""), "");
    return LLVMBuildSelect(x->b, LLVMBuildOr(x->b, bad, over, ""), one, d, "");
}

static bool harmless_divisor(Value d) {
    int64_t k;
    return get_const(d, &k) && k != 0 && k != -1;
}

// Up to 32 bits through double: exact, no traps, and the only vector form x86 has. 64 bits: LLVM
// divides lane by lane, with a divisor that cannot trap.
static Value emit_vector_division(Vec *x, Value i, int c) {
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    Value a = msl_vector(x, operand(i, 0), c), d = msl_vector(x, operand(i, 1), c);
    Type t = LLVMTypeOf(a), e = LLVMGetElementType(t), f = msl_vector_type(x, x->f64);
    bool is_signed = op == LLVMSDiv || op == LLVMSRem;
    if (harmless_divisor(operand(i, 1))) return LLVMBuildBinOp(x->b, op, a, d, "");
    if (int_bits(e) > 32) {
        d = LLVMBuildSelect(x->b, x->mask, safe_divisor(x, is_signed, a, d),
                            msl_splat(x, const_int(e, 1)), "");
        return LLVMBuildBinOp(x->b, op, a, d, "");
    }
    Value n = is_signed ? LLVMBuildSIToFP(x->b, a, f, "") : LLVMBuildUIToFP(x->b, a, f, "");
    Value m = is_signed ? LLVMBuildSIToFP(x->b, d, f, "") : LLVMBuildUIToFP(x->b, d, f, "");
    Value q = LLVMBuildFDiv(x->b, n, m, "");
    q = is_signed ? LLVMBuildFPToSI(x->b, q, t, "") : LLVMBuildFPToUI(x->b, q, t, "");
    q = LLVMBuildFreeze(x->b, q, "");
    if (op == LLVMSDiv || op == LLVMUDiv) return q;
    return LLVMBuildSub(x->b, a, LLVMBuildMul(x->b, q, d, ""), "");
}

static Value emit_scalar_division(Vec *x, Value i) {
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    Value a = msl_scalar(x, operand(i, 0)), d = msl_scalar(x, operand(i, 1));
    bool is_signed = op == LLVMSDiv || op == LLVMSRem;
    return LLVMBuildBinOp(x->b, op, a, safe_divisor(x, is_signed, a, d), "");
}

// ---- casts and vectors of the program ----

static void emit_bitcast(Vec *x, Value i, Val *o) {
    Value s = operand(i, 0);
    Type from = LLVMTypeOf(s), to = LLVMTypeOf(i);
    int n = msl_leaves(from), m = o->n;
    unsigned a = (unsigned)LLVMSizeOfTypeInBits(x->dl, msl_leaf_type(from, 0));
    unsigned b = (unsigned)LLVMSizeOfTypeInBits(x->dl, msl_leaf_type(to, 0));
    Type ai = LLVMIntTypeInContext(x->llvm, a), bi = LLVMIntTypeInContext(x->llvm, b);
    for (int c = 0; c < m; c++) {
        Type t = msl_vector_type(x, msl_leaf_type(to, c));
        if (n == m) {
            o->v[c] = LLVMBuildBitCast(x->b, msl_vector(x, s, c), t, "");
            continue;
        }
        if ((a > b ? a % b : b % a) != 0) msl_fail_at(x, "unsupported cast", i);
        Value r = NULL;
        if (b > a) { // join
            int k = (int)(b / a);
            for (int q = 0; q < k; q++) {
                Value part =
                    LLVMBuildBitCast(x->b, msl_vector(x, s, c * k + q), msl_vector_type(x, ai), "");
                part = LLVMBuildZExt(x->b, part, msl_vector_type(x, bi), "");
                part = LLVMBuildShl(x->b, part, msl_splat(x, const_int(bi, q * (int)a)), "");
                r = r ? LLVMBuildOr(x->b, r, part, "") : part;
            }
        } else { // split
            int k = (int)(a / b);
            Value whole =
                LLVMBuildBitCast(x->b, msl_vector(x, s, c / k), msl_vector_type(x, ai), "");
            whole = LLVMBuildLShr(x->b, whole, msl_splat(x, const_int(ai, c % k * (int)b)), "");
            r = LLVMBuildTrunc(x->b, whole, msl_vector_type(x, bi), "");
        }
        o->v[c] = LLVMBuildBitCast(x->b, r, t, "");
    }
}

static void emit_extract_element(Vec *x, Value i, Val *o) {
    Value s = operand(i, 0), at = operand(i, 1);
    int n = msl_leaves(LLVMTypeOf(s));
    int64_t k;
    if (get_const(at, &k)) {
        o->v[0] = k >= 0 && k < n ? msl_vector(x, s, (int)k)
                                  : LLVMGetPoison(msl_vector_type(x, LLVMTypeOf(i)));
        return;
    }
    Value r = msl_vector(x, s, 0), ix = msl_vector(x, at, 0);
    for (int c = 1; c < n; c++) {
        Value here =
            LLVMBuildICmp(x->b, LLVMIntEQ, ix, msl_splat(x, const_int(LLVMTypeOf(at), c)), "");
        r = LLVMBuildSelect(x->b, here, msl_vector(x, s, c), r, "");
    }
    o->v[0] = r;
}

static void emit_insert_element(Vec *x, Value i, Val *o) {
    Value s = operand(i, 0), e = operand(i, 1), at = operand(i, 2);
    int64_t k;
    bool constant = get_const(at, &k);
    for (int c = 0; c < o->n; c++) {
        if (constant) {
            o->v[c] = k == c ? msl_vector(x, e, 0) : msl_vector(x, s, c);
            continue;
        }
        Value here = LLVMBuildICmp(x->b, LLVMIntEQ, msl_vector(x, at, 0),
                                   msl_splat(x, const_int(LLVMTypeOf(at), c)), "");
        o->v[c] = LLVMBuildSelect(x->b, here, msl_vector(x, e, 0), msl_vector(x, s, c), "");
    }
}

static void emit_members(Vec *x, Value i, Val *o) { // extractvalue, insertvalue
    Type at;
    int first =
        msl_leaf_of_path(LLVMTypeOf(operand(i, 0)), LLVMGetIndices(i), LLVMGetNumIndices(i), &at);
    if (LLVMGetInstructionOpcode(i) == LLVMExtractValue) {
        for (int c = 0; c < o->n; c++) o->v[c] = msl_vector(x, operand(i, 0), first + c);
        return;
    }
    int n = msl_leaves(at);
    for (int c = 0; c < o->n; c++)
        o->v[c] = c >= first && c < first + n ? msl_vector(x, operand(i, 1), c - first)
                                              : msl_vector(x, operand(i, 0), c);
}

// A uint index of elements of two bytes or more is below 2^31 in a buffer shorter than 4 GiB: x86
// gathers by signed 32-bit indices, sixteen at a time instead of eight.
static bool may_sign_extend(Vec *x, Value i) {
    int bits = msl_map_get(&x->sunk, i); // -1: none
    if (bits < 0 || bits + 31 < (int)x->cx->reach) return false;
    Value g = LLVMGetUser(LLVMGetFirstUse(i)); // used once
    return LLVMIsAGetElementPtrInst(g) && LLVMGetNumOperands(g) == 2 && operand(g, 1) == i &&
           LLVMABISizeOfType(x->dl, LLVMGetGEPSourceElementType(g)) >= 2;
}

static void emit_select(Vec *x, Value i, Val *o) {
    Value condition = operand(i, 0);
    bool many = is_vector(LLVMTypeOf(condition));
    for (int c = 0; c < o->n; c++) {
        Value k = many                        ? msl_vector(x, condition, c)
                  : msl_uniform(x, condition) ? msl_scalar(x, condition)
                                              : msl_vector(x, condition, 0);
        o->v[c] = LLVMBuildSelect(x->b, k, msl_vector(x, operand(i, 1), c),
                                  msl_vector(x, operand(i, 2), c), "");
        msl_copy_flags(i, o->v[c]);
    }
}

// ---- the three forms ----

static void emit_scalar(Vec *x, Value i, Val *o) {
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    unsigned n = msl_n_bases(x, o->c);
    if (op == LLVMPHI) {
        for (unsigned g = 0; g < n; g++) o->base[g] = LLVMBuildPhi(x->b, LLVMTypeOf(i), "");
        return;
    }
    if (op == LLVMGetElementPtr) {
        msl_emit_gep(x, i, o);
        return;
    }
    if (op == LLVMLoad && o->c.segmented) {
        msl_emit_load(x, i, o);
        return;
    }
    int64_t known[MAX_WIDTH * MAX_PARTS];
    if (is_integer(LLVMTypeOf(i)) && op != LLVMCall && msl_known(x, i, known)) {
        o->base[0] = const_int(LLVMTypeOf(i), known[0]);
        return;
    }
    bool apart = o->c.stride != 0 || o->c.kind == SHAPED;
    int clamp = apart ? msl_assumed_clamp(x, i) : 0;
    if (apart && !clamp) clamp = msl_kept_operand(x, i);
    bool strip = apart || o->c.segmented; // also: a uniform difference of linear values
    for (int k = 0; k < LLVMGetNumOperands(i); k++)
        if (!LLVMValueIsBasicBlock(operand(i, k))) strip |= !msl_uniform(x, operand(i, k));
    if ((op == LLVMUDiv || op == LLVMSDiv || op == LLVMURem || op == LLVMSRem) && !strip &&
        !harmless_divisor(operand(i, 1)) && is_integer(LLVMTypeOf(i))) {
        o->base[0] = emit_scalar_division(x, i);
        return;
    }
    for (unsigned g = 0; g < n; g++)
        o->base[g] = clamp ? msl_scalar_of(x, operand(i, clamp - 1), g) : msl_clone(x, i, strip, g);
    if (op == LLVMFPToSI || op == LLVMFPToUI) o->base[0] = LLVMBuildFreeze(x->b, o->base[0], "");
}

static void emit_varying(Vec *x, Value i, Val *o) {
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    Type t = LLVMTypeOf(i);
    Value a = LLVMGetNumOperands(i) > 0 ? operand(i, 0) : NULL,
          b = LLVMGetNumOperands(i) > 1 ? operand(i, 1) : NULL;
    switch (op) {
    case LLVMLoad: msl_emit_load(x, i, o); return;
    case LLVMGetElementPtr: msl_emit_gep(x, i, o); return;
    case LLVMAtomicRMW: msl_emit_rmw(x, i, o); return;
    case LLVMAtomicCmpXchg: msl_lane_loop(x, i, o); return;
    case LLVMSelect: emit_select(x, i, o); return;
    case LLVMBitCast: emit_bitcast(x, i, o); return;
    case LLVMExtractElement: emit_extract_element(x, i, o); return;
    case LLVMInsertElement: emit_insert_element(x, i, o); return;
    case LLVMExtractValue:
    case LLVMInsertValue: emit_members(x, i, o); return;
    case LLVMCall: {
        int k = elementwise_ix(callee_of(i));
        if (k >= 0)
            emit_elementwise(x, i, o, k);
        else if (!emit_vector_reduce(x, i, o))
            msl_lane_loop(x, i, o);
        return;
    }
    default: break;
    }
    for (int c = 0; c < o->n; c++) {
        Type leaf = msl_vector_type(x, msl_leaf_type(t, c));
        Value r;
        switch (op) {
        case LLVMPHI: r = LLVMBuildPhi(x->b, leaf, ""); break;
        case LLVMUDiv:
        case LLVMSDiv:
        case LLVMURem:
        case LLVMSRem: r = emit_vector_division(x, i, c); break;
        case LLVMICmp:
            r = LLVMBuildICmp(x->b, LLVMGetICmpPredicate(i), msl_vector(x, a, c),
                              msl_vector(x, b, c), "");
            break;
        case LLVMFCmp:
            r = LLVMBuildFCmp(x->b, LLVMGetFCmpPredicate(i), msl_vector(x, a, c),
                              msl_vector(x, b, c), "");
            break;
        case LLVMFNeg: r = LLVMBuildFNeg(x->b, msl_vector(x, a, c), ""); break;
        case LLVMFreeze: r = LLVMBuildFreeze(x->b, msl_vector(x, a, c), ""); break;
        case LLVMFPToUI:
        case LLVMFPToSI: // out of range: some value, not poison
            r = LLVMBuildFreeze(x->b, LLVMBuildCast(x->b, op, msl_vector(x, a, c), leaf, ""), "");
            break;
        case LLVMZExt:
            r = LLVMBuildCast(x->b, may_sign_extend(x, i) ? LLVMSExt : op, msl_vector(x, a, c),
                              leaf, "");
            break;
        case LLVMTrunc:
        case LLVMSExt:
        case LLVMUIToFP:
        case LLVMSIToFP:
        case LLVMFPTrunc:
        case LLVMFPExt:
        case LLVMPtrToInt:
        case LLVMIntToPtr:
        case LLVMAddrSpaceCast: r = LLVMBuildCast(x->b, op, msl_vector(x, a, c), leaf, ""); break;
        case LLVMShuffleVector: {
            int k = LLVMGetMaskValue(i, (unsigned)c), n = msl_leaves(LLVMTypeOf(a));
            r = k < 0 ? LLVMGetPoison(leaf) : k < n ? msl_vector(x, a, k) : msl_vector(x, b, k - n);
            o->v[c] = r;
            continue;
        }
        default:
            if (!LLVMIsABinaryOperator(i)) msl_fail_at(x, "unsupported instruction", i);
            r = LLVMBuildBinOp(x->b, op, msl_vector(x, a, c), msl_vector(x, b, c), "");
        }
        msl_copy_flags(i, r);
        o->v[c] = r;
    }
}

// On all components at once; they are there as well for those who want them.
static void emit_packed(Vec *x, Value i, Val *o) {
    Value w = NULL;
    Val all = {.n = 1, .v = &w};
    x->wide = (unsigned)o->n;
    emit_varying(x, i, &all);
    x->wide = 0;
    msl_set_packed(x, o, w);
    msl_unpack(x, w, o->n, o->v);
}

void msl_emit_instruction(Vec *x, Value i) {
    msl_at_line_of(x, i);
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    Val *o = msl_val(x, i);
    msl_set_part(x, 0);
    Builtin which = op == LLVMCall ? msl_builtin_of(i) : (Builtin){OP_NONE, false, false};
    if (op == LLVMCall && msl_is_dropped(callee_of(i))) return;
    if (msl_is_texture_op(which.op)) {
        msl_emit_texture(x, i, o);
        return;
    }
    if (which.op == OP_BARRIER || which.op == OP_SIMD_BARRIER || which.op >= OP_TENSOR_MATMUL ||
        (which.op != OP_NONE && o->c.kind != VARYING)) {
        if (which.op == OP_POSITION)
            msl_emit_position(x, i, o);
        else
            msl_emit_builtin(x, i, o, which);
        return;
    }
    if (op == LLVMAlloca) {
        o->base[0] = msl_emit_alloca(x, i);
        return;
    }
    if (op == LLVMStore) {
        msl_emit_store(x, i);
        return;
    }
    if (op == LLVMFence) {
        msl_clone(x, i, false, 0);
        return;
    }
    if (!o && op != LLVMCall) msl_fail_at(x, "unsupported instruction", i);
    if (o && o->c.kind != VARYING) {
        emit_scalar(x, i, o);
        return;
    }
    for (unsigned p = 0; p < x->parts; p++) msl_emit_part(x, i, p);
}

void msl_emit_part(Vec *x, Value i, unsigned p) {
    msl_at_line_of(x, i);
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    Val *o = msl_val(x, i);
    Builtin which = op == LLVMCall ? msl_builtin_of(i) : (Builtin){OP_NONE, false, false};
    if (op == LLVMCall && msl_is_dropped(callee_of(i))) return;
    msl_set_part(x, p);
    if (op == LLVMStore) {
        msl_emit_store_part(x, i);
        return;
    }
    if (o) o->v = o->all + (size_t)p * (size_t)o->n;
    if (which.op == OP_POSITION)
        msl_emit_position(x, i, o);
    else if (which.op != OP_NONE)
        msl_emit_builtin(x, i, o, which);
    else if (o && op == LLVMCall && starts_with(callee_of(i), "ingot_live"))
        msl_emit_search(x, i, o);
    else if (!o || (op == LLVMCall && !starts_with(callee_of(i), "llvm.")))
        msl_lane_loop(x, i, o); // unknown code
    else if (msl_packs(x, i))
        emit_packed(x, i, o);
    else
        emit_varying(x, i, o);
}
