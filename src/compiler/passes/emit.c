// SPDX-License-Identifier: Apache-2.0
// emit.c: forms of a value in the vector function, shuffles and masks, and the lane loop.
// Scalar form: uniform values, and the first lane of linear ones (one for each segment). Vector
// form: made where it is used; the optimiser merges copies. Poison: an inactive lane may hold it.
// Masks combine by select, never by `and`; linear bases carry no nsw, nuw or inbounds, because they
// compute lane 0, which may be inactive.
#include "compiler/passes/passes_int.h"

void msl_fail_at(Vec *x, const char *why, Value instruction) {
    char *text = LLVMPrintValueToString(instruction), copy[600];
    strncpy(copy, text, sizeof copy - 1);
    copy[sizeof copy - 1] = 0;
    LLVMDisposeMessage(text);
    msl_fail(x->cx, "internal error: %s:%s", why, copy);
}

Type msl_vector_type(const Vec *x, Type t) {
    return LLVMVectorType(t, x->width * (x->wide ? x->wide : 1));
}
Value msl_zero_mask(const Vec *x) { return LLVMConstNull(x->mask_type); }
Value msl_full_mask(const Vec *x) { return LLVMConstAllOnes(x->mask_type); }
Block msl_new_block(Vec *x, const char *name) {
    return LLVMAppendBasicBlockInContext(x->llvm, x->f, name);
}

Value msl_intrinsic(Vec *x, const char *name, Type *overloads, unsigned n_overloads, Value *args,
                    unsigned n) {
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    if (!id) msl_fail(x->cx, "internal error: no intrinsic %s", name);
    Value d = LLVMGetIntrinsicDeclaration(x->module, id, overloads, n_overloads);
    return LLVMBuildCall2(x->b, LLVMGlobalGetValueType(d), d, args, n, "");
}

Value msl_entry_alloca(Vec *x, Type t, unsigned align) {
    Block here = LLVMGetInsertBlock(x->b), entry = LLVMGetEntryBasicBlock(x->f);
    Value first = LLVMGetFirstInstruction(entry);
    LLVMMetadataRef line = LLVMGetCurrentDebugLocation2(x->b); // a new place has its own
    if (first)
        LLVMPositionBuilderBefore(x->b, first);
    else
        LLVMPositionBuilderAtEnd(x->b, entry);
    Value a = LLVMBuildAlloca(x->b, t, "");
    LLVMSetAlignment(a, align);
    LLVMPositionBuilderAtEnd(x->b, here);
    LLVMSetCurrentDebugLocation2(x->b, line);
    return a;
}

// ---- shuffles ----

Value msl_shuffle(Vec *x, Value a, Value b, const int *ix, unsigned n) {
    Value e[2 * MAX_WIDE];
    for (unsigned i = 0; i < n; i++)
        e[i] = ix[i] < 0 ? LLVMGetPoison(x->i32) : const_int(x->i32, ix[i]);
    return LLVMBuildShuffleVector(x->b, a, b, LLVMConstVector(e, n), "");
}

Value msl_part(Vec *x, Value v, unsigned from, unsigned n) {
    if (!from && n == LLVMGetVectorSize(LLVMTypeOf(v))) return v;
    int ix[2 * MAX_WIDE];
    for (unsigned i = 0; i < n; i++) ix[i] = (int)(from + i);
    return msl_shuffle(x, v, LLVMGetPoison(LLVMTypeOf(v)), ix, n);
}

Value msl_concat(Vec *x, Value *parts, unsigned n) {
    int ix[2 * MAX_WIDE];
    for (int i = 0; i < 2 * MAX_WIDE; i++) ix[i] = i;
    for (; n > 1; n /= 2)
        for (unsigned k = 0; k < n / 2; k++)
            parts[k] = msl_shuffle(x, parts[2 * k], parts[2 * k + 1], ix,
                                   2 * LLVMGetVectorSize(LLVMTypeOf(parts[2 * k])));
    return parts[0];
}

static Value splat_n(Vec *x, Value s, unsigned n) {
    Type t = LLVMVectorType(LLVMTypeOf(s), n);
    if (LLVMIsPoison(s)) return LLVMGetPoison(t);
    if (LLVMIsUndef(s)) return LLVMGetUndef(t);
    if (LLVMIsAConstantInt(s) || LLVMIsAConstantFP(s) || LLVMIsAConstantPointerNull(s)) {
        Value e[MAX_WIDTH];
        for (unsigned i = 0; i < n; i++) e[i] = s;
        return LLVMConstVector(e, n);
    }
    Value v = LLVMBuildInsertElement(x->b, LLVMGetPoison(t), s, const_int(x->i64, 0), "");
    return LLVMBuildShuffleVector(x->b, v, LLVMGetPoison(t),
                                  LLVMConstNull(LLVMVectorType(x->i32, n)), "");
}
Value msl_splat(Vec *x, Value s) { return splat_n(x, s, x->width); }

Value msl_lane_offsets(Vec *x, Type t, int64_t stride, unsigned n) {
    (void)x;
    Value e[MAX_WIDTH];
    for (unsigned i = 0; i < n; i++) {
        // Wraps like the lanes' own arithmetic does.
        e[i] = const_int(t, (int64_t)((uint64_t)i * (uint64_t)stride));
    }
    return LLVMConstVector(e, n);
}

// ---- forms of a value ----

unsigned msl_n_bases(const Vec *x, Class c) { return c.segmented && !c.rows ? x->n_segments : 1; }

Value msl_scalar_of(Vec *x, Value v, unsigned segment) {
    Val *k = msl_val(x, v);
    if (!k) return v;
    if (k->c.kind == VARYING || !k->base[0]) msl_fail_at(x, "no scalar form", v);
    if (msl_n_bases(x, k->c) > 1) return k->base[segment];
    int64_t offset =
        k->c.kind == SHAPED
            ? k->c.shape[segment * x->segment]
            : (int64_t)segment * (k->c.segmented ? k->c.row : k->c.stride * (int64_t)x->segment);
    if (!offset) return k->base[0];
    Type t = LLVMTypeOf(v);
    if (!is_pointer(t)) return LLVMBuildAdd(x->b, k->base[0], const_int(t, offset), "");
    Value o = const_int(x->i64, offset);
    return LLVMBuildGEP2(x->b, x->i8, k->base[0], &o, 1, "");
}
Value msl_scalar(Vec *x, Value v) { return msl_scalar_of(x, v, 0); }

static unsigned segments_of_part(const Vec *x) { return x->n_segments / x->parts; }
Value msl_part_base(Vec *x, Value v) { return msl_scalar_of(x, v, x->part * segments_of_part(x)); }

Value msl_segment_mask(Vec *x, unsigned segment) {
    unsigned n = segments_of_part(x);
    return msl_part(x, x->masks[segment / n], segment % n * x->segment, x->segment);
}

void msl_set_part(Vec *x, unsigned part) {
    x->part = part;
    x->mask = x->masks[part];
}

// base + stride * lane over n lanes.
static Value line(Vec *x, Value base, int64_t stride, unsigned n) {
    Type t = LLVMTypeOf(base);
    if (!stride) return splat_n(x, base, n);
    if (is_pointer(t)) {
        Value o = msl_lane_offsets(x, x->i64, stride, n);
        return LLVMBuildGEP2(x->b, x->i8, base, &o, 1, "");
    }
    return LLVMBuildAdd(x->b, splat_n(x, base, n), msl_lane_offsets(x, t, stride, n), "");
}

Value msl_vector(Vec *x, Value v, int leaf) {
    if (x->wide) return msl_packed(x, v);
    Type t = LLVMTypeOf(v);
    Val *k = msl_val(x, v);
    if (k && k->c.kind == VARYING) {
        Value r = k->all[(int)x->part * k->n + leaf];
        if (!r) msl_fail_at(x, "no vector form", v);
        return r;
    }
    if (k && k->c.kind == SHAPED) {
        if (!is_pointer(t))
            return LLVMBuildAdd(x->b, msl_splat(x, msl_scalar(x, v)), msl_shape_vector(x, k->c, t),
                                "");
        Value o = msl_shape_vector(x, k->c, x->i64);
        return LLVMBuildGEP2(x->b, x->i8, msl_scalar(x, v), &o, 1, "");
    }
    bool many = is_vector(t) || is_aggregate(t);
    if (!k || !k->c.segmented) {
        Value s = k ? msl_part_base(x, v) : v;
        if (many) s = msl_extract_leaf(x, s, leaf);
        return line(x, s, k ? k->c.stride : 0, x->width);
    }
    Value part[MAX_SEGMENTS];
    unsigned n = segments_of_part(x);
    for (unsigned g = 0; g < n; g++) {
        Value base = msl_scalar_of(x, v, x->part * n + g),
              s = many ? msl_extract_leaf(x, base, leaf) : base;
        part[g] = line(x, s, k->c.stride, x->segment);
    }
    return msl_concat(x, part, n);
}

// ---- masks ----

Value msl_mask_and(Vec *x, Value mask, Value condition) {
    if (mask == msl_full_mask(x)) return condition;
    return LLVMBuildSelect(x->b, mask, condition, msl_zero_mask(x), "");
}
Value msl_mask_bits(Vec *x, Value mask) { return LLVMBuildBitCast(x->b, mask, x->bits_type, ""); }
Value msl_any(Vec *x, Value mask) {
    return LLVMBuildICmp(x->b, LLVMIntNE, msl_mask_bits(x, mask), LLVMConstNull(x->bits_type), "");
}
Value msl_is_full(Vec *x, const Value *masks, unsigned n) {
    Value all = masks[0];
    for (unsigned p = 1; p < n; p++) all = msl_mask_and(x, all, masks[p]);
    return LLVMBuildICmp(x->b, LLVMIntEQ, msl_mask_bits(x, all), LLVMConstAllOnes(x->bits_type),
                         "");
}
Value msl_first_lane(Vec *x, Value mask) {
    Value a[] = {msl_mask_bits(x, mask), const_int(x->i1, 0)};
    return msl_intrinsic(x, "llvm.cttz", &x->bits_type, 1, a, 2);
}
Value msl_last_lane(Vec *x, Value mask) {
    Value a[] = {msl_mask_bits(x, mask), const_int(x->i1, 0)};
    Value z = msl_intrinsic(x, "llvm.ctlz", &x->bits_type, 1, a, 2);
    return LLVMBuildSub(x->b, const_int(x->bits_type, x->width - 1), z, "");
}

// Extension of a linear value: its first active lane is extended and the others counted from there.
// Exact whenever the class says that active lanes lie on one line (nsw for sext, nuw for zext), and
// in addresses by the argument in prepare.c. For a full mask the optimiser removes all but the
// cast.
static Value extend_from(Vec *x, LLVMOpcode op, Value base, Class c, Value mask_bits, Type to) {
    Type bits = LLVMTypeOf(mask_bits);
    Value a[] = {mask_bits, const_int(x->i1, 0)};
    Value first = msl_intrinsic(x, "llvm.cttz", &bits, 1, a, 2);
    Value ahead = c.kind == SHAPED ? LLVMBuildIntCast2(x->b, msl_shape_at(x, c, first), to, 1, "")
                                   : LLVMBuildMul(x->b, LLVMBuildIntCast2(x->b, first, to, 0, ""),
                                                  const_int(to, c.stride), "");
    Value v = LLVMBuildAdd(x->b, base, LLVMBuildTrunc(x->b, ahead, LLVMTypeOf(base), ""), "");
    return LLVMBuildSub(x->b, LLVMBuildCast(x->b, op, v, to, ""), ahead, "");
}

// The masks of all parts as one integer.
static Value all_bits(Vec *x) {
    if (x->parts == 1) return msl_mask_bits(x, x->masks[0]);
    Type t = LLVMIntTypeInContext(x->llvm, x->lanes);
    Value all = LLVMConstNull(t);
    for (unsigned p = 0; p < x->parts; p++) {
        Value bits = LLVMBuildZExt(x->b, msl_mask_bits(x, x->masks[p]), t, "");
        all = LLVMBuildOr(x->b, all, LLVMBuildShl(x->b, bits, LLVMConstInt(t, p * x->width, 0), ""),
                          "");
    }
    return all;
}

// The class of an extension's operand decides; the result's bases are returned one at a time.
static Value extend_segment(Vec *x, Value i, unsigned segment, bool segmented) {
    Value a = operand(i, 0);
    Class c = msl_class(x, a);
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    Builtin which = msl_builtin_of(a);
    bool exact = which.op == OP_POSITION; // never wraps, not even in inactive lanes
    if (op == LLVMZExt && !c.nuw && c.nsw && LLVMGetNNeg(i)) op = LLVMSExt;
    Value base = msl_scalar_of(x, a, segment);
    if (exact || (c.kind == LINEAR && !c.stride) || (x->lead && !segmented))
        return LLVMBuildCast(x->b, op, base, LLVMTypeOf(i), "");
    Type bits = LLVMIntTypeInContext(x->llvm, x->segment);
    Value on =
        segmented ? LLVMBuildBitCast(x->b, msl_segment_mask(x, segment), bits, "") : all_bits(x);
    return extend_from(x, op, base, c, on, LLVMTypeOf(i));
}

// ---- scalar copies ----

void msl_copy_flags(Value from, Value to) {
    if (!LLVMIsAInstruction(to)) return;
    LLVMOpcode op = LLVMGetInstructionOpcode(from);
    if (LLVMGetInstructionOpcode(to) == op) {
        if (op == LLVMAdd || op == LLVMSub || op == LLVMMul || op == LLVMShl) {
            LLVMSetNSW(to, LLVMGetNSW(from));
            LLVMSetNUW(to, LLVMGetNUW(from));
        } else if (op == LLVMLShr || op == LLVMAShr) {
            LLVMSetExact(to, LLVMGetExact(from));
        }
    }
    if (LLVMCanValueUseFastMathFlags(from) && LLVMCanValueUseFastMathFlags(to))
        LLVMSetFastMathFlags(to, LLVMGetFastMathFlags(from));
}

// Scalar copy of i for one segment; strip: without promises, which hold for active lanes only.
Value msl_clone(Vec *x, Value i, bool strip, unsigned segment) {
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    if (strip && (op == LLVMZExt || op == LLVMSExt)) {
        Val *o = msl_val(x, i);
        return extend_segment(x, i, segment, o->c.segmented);
    }
    if (op == LLVMOr && strip && LLVMGetIsDisjoint(i) &&
        !is_vector(LLVMTypeOf(i))) // as or, lanes would not add up
        return LLVMBuildAdd(x->b, msl_scalar_of(x, operand(i, 0), segment),
                            msl_scalar_of(x, operand(i, 1), segment), "");
    Value c = LLVMInstructionClone(i);
    for (int o = 0; o < LLVMGetNumOperands(c); o++) {
        Value v = operand(i, o);
        if (!LLVMValueIsBasicBlock(v)) LLVMSetOperand(c, (unsigned)o, msl_scalar_of(x, v, segment));
    }
    LLVMInsertIntoBuilder(x->b, c);
    if (strip) {
        switch (op) {
        case LLVMAdd:
        case LLVMSub:
        case LLVMMul:
        case LLVMShl:
        case LLVMTrunc:
            LLVMSetNSW(c, 0);
            LLVMSetNUW(c, 0);
            break;
        case LLVMLShr:
        case LLVMAShr:
        case LLVMUDiv:
        case LLVMSDiv: LLVMSetExact(c, 0); break;
        case LLVMGetElementPtr: LLVMGEPSetNoWrapFlags(c, 0); break;
        case LLVMOr: LLVMSetIsDisjoint(c, 0); break;
        default: break;
        }
    }
    return c;
}

// ---- lane by lane ----

Lanes msl_begin_lanes(Vec *x) {
    Lanes l = {.before = LLVMGetInsertBlock(x->b),
               .loop = msl_new_block(x, "lane"),
               .done = msl_new_block(x, "lanes.done"),
               .on = msl_mask_bits(x, x->mask)};
    // A block runs with an active lane (flat ones hold no such instruction), but not in every part.
    if (x->parts == 1)
        LLVMBuildBr(x->b, l.loop);
    else
        LLVMBuildCondBr(x->b, msl_any(x, x->mask), l.loop, l.done);
    LLVMPositionBuilderAtEnd(x->b, l.loop);
    l.bits = LLVMBuildPhi(x->b, x->bits_type, "");
    return l;
}

Value msl_lane_number(Vec *x, const Lanes *l) {
    Value z[] = {l->bits, const_int(x->i1, 1)};
    return msl_intrinsic(x, "llvm.cttz", &x->bits_type, 1, z, 2);
}

static void end_lanes(Vec *x, const Lanes *l, Value rest) {
    LLVMAddIncoming(l->bits, (Value[]){l->on, rest}, (Block[]){l->before, l->loop}, 2);
    Value more = LLVMBuildICmp(x->b, LLVMIntNE, rest, LLVMConstNull(x->bits_type), "");
    LLVMBuildCondBr(x->b, more, l->loop, l->done);
    LLVMPositionBuilderAtEnd(x->b, l->done);
}

void msl_end_lanes(Vec *x, const Lanes *l) {
    Value less = LLVMBuildSub(x->b, l->bits, const_int(x->bits_type, 1), "");
    end_lanes(x, l, LLVMBuildAnd(x->b, l->bits, less, ""));
}

void msl_end_lanes_but(Vec *x, const Lanes *l, Value done) {
    end_lanes(x, l, LLVMBuildAnd(x->b, l->bits, LLVMBuildNot(x->b, done, ""), ""));
}

// A vector as the loop over lanes reads it: from memory, written once. LLVM writes a register of
// 512 bits to the stack in every turn. Bits have no place of their own there.
Value msl_to_read_by_lane(Vec *x, Value v, unsigned slot) {
    Type t = LLVMTypeOf(v);
    unsigned bits = (unsigned)LLVMSizeOfTypeInBits(x->dl, LLVMGetElementType(t));
    if (LLVMIsConstant(v) || bits < 8 || bits > 64 || slot >= MAX_SLOTS) return v;
    if (!x->slots[slot]) {
        x->slots[slot] = msl_entry_alloca(x, LLVMVectorType(x->i64, x->width), 64);
        LLVMSetValueName2(x->slots[slot], "lanes.slot", 10);
    }
    Value at = x->slots[slot];
    LLVMSetAlignment(LLVMBuildStore(x->b, v, at), 64);
    return at;
}

Value msl_of_lane(Vec *x, Value from, Type t, Value lane) {
    if (is_vector(LLVMTypeOf(from))) return LLVMBuildExtractElement(x->b, from, lane, "");
    Value i = LLVMBuildIntCast2(x->b, lane, x->i64, 0, "");
    return LLVMBuildLoad2(x->b, t, LLVMBuildGEP2(x->b, t, from, &i, 1, ""), "");
}

// What a lane's address is made of in the loop: less is written for it than whole addresses.
typedef struct LaneAddress {
    Value base, index, from; // p = base[index]; from: where the indices are. NULL: no such thing
    LLVMOpcode extension;    // of the index to 64 bits; LLVMPHI: it has them
    Type element;
    int64_t stride; // or base + stride * lane, bytes; 0: not so
} LaneAddress;

static LaneAddress split_address(Vec *x, Value p) {
    LaneAddress a = {.extension = LLVMPHI};
    if (!is_pointer(LLVMTypeOf(p))) return a;
    Class c = msl_class(x, p);
    if (c.kind == LINEAR && !c.segmented) {
        a.stride = c.stride;
        a.base = msl_part_base(x, p);
        return a;
    }
    if (c.kind != VARYING || !LLVMIsAGetElementPtrInst(p) || LLVMGetNumOperands(p) != 2 ||
        !msl_uniform(x, operand(p, 0)) || is_vector(LLVMTypeOf(operand(p, 1))))
        return a;
    a.index = operand(p, 1);
    if (LLVMIsASExtInst(a.index) || LLVMIsAZExtInst(a.index)) {
        a.extension = LLVMGetInstructionOpcode(a.index);
        a.index = operand(a.index, 0);
    } else if (int_bits(LLVMTypeOf(a.index)) < 64) {
        a.extension = LLVMSExt;
    }
    a.base = msl_scalar(x, operand(p, 0));
    a.element = LLVMGetGEPSourceElementType(p);
    return a;
}

static Value address_of_lane(Vec *x, const LaneAddress *a, Value lane) {
    if (a->stride) {
        Value far = LLVMBuildIntCast2(x->b, lane, x->i64, 0, "");
        far = LLVMBuildMul(x->b, far, const_int(x->i64, a->stride), "");
        return LLVMBuildGEP2(x->b, x->i8, a->base, &far, 1, "");
    }
    Value index = msl_of_lane(x, a->from, LLVMTypeOf(a->index), lane);
    if (a->extension != LLVMPHI) index = LLVMBuildCast(x->b, a->extension, index, x->i64, "");
    return LLVMBuildGEP2(x->b, a->element, a->base, &index, 1, "");
}

// The fallback: the scalar instruction once for each active lane, in the order of the lanes.
void msl_lane_loop(Vec *x, Value i, Val *o) {
    int n = o ? o->n : 0, n_ops = LLVMGetNumOperands(i);
    unsigned slot = 0;
    Type rt = LLVMTypeOf(i);
    Value **ops = vec_alloc(x, (size_t)n_ops + 1, sizeof *ops);
    LaneAddress *at = vec_alloc(x, (size_t)n_ops + 1, sizeof *at);
    for (int k = 0; k < n_ops; k++) {
        Value v = operand(i, k);
        if (LLVMValueIsBasicBlock(v) || msl_uniform(x, v)) continue;
        at[k] = split_address(x, v);
        if (at[k].index) at[k].from = msl_to_read_by_lane(x, msl_vector(x, at[k].index, 0), slot++);
        if (at[k].base) continue;
        int leaves = msl_leaves(LLVMTypeOf(v));
        ops[k] = vec_alloc(x, (size_t)leaves, sizeof **ops);
        for (int c = 0; c < leaves; c++)
            ops[k][c] = msl_to_read_by_lane(x, msl_vector(x, v, c), slot++);
    }
    Value *in = vec_alloc(x, (size_t)n + 1, sizeof *in);
    Lanes l = msl_begin_lanes(x);
    for (int c = 0; c < n; c++)
        in[c] = LLVMBuildPhi(x->b, msl_vector_type(x, msl_leaf_type(rt, c)), "");
    Value lane = msl_lane_number(x, &l), copy = LLVMInstructionClone(i);
    for (int k = 0; k < n_ops; k++) {
        Value v = operand(i, k);
        if (LLVMValueIsBasicBlock(v)) continue;
        Value s = at[k].base ? address_of_lane(x, &at[k], lane)
                  : ops[k]   ? LLVMGetPoison(LLVMTypeOf(v))
                             : msl_scalar(x, v); // uniform
        for (int c = 0; ops[k] && c < msl_leaves(LLVMTypeOf(v)); c++)
            s = msl_insert_leaf(
                x, s, msl_of_lane(x, ops[k][c], msl_leaf_type(LLVMTypeOf(v), c), lane), c);
        LLVMSetOperand(copy, (unsigned)k, s);
    }
    LLVMInsertIntoBuilder(x->b, copy);
    copy = msl_unlocked(x, i, copy);
    for (int c = 0; c < n; c++) {
        o->v[c] = LLVMBuildInsertElement(x->b, in[c], msl_extract_leaf(x, copy, c), lane, "");
        Value from[] = {LLVMGetPoison(LLVMTypeOf(in[c])), o->v[c]};
        LLVMAddIncoming(in[c], from, (Block[]){l.before, l.loop}, 2);
    }
    msl_end_lanes(x, &l);
    for (int c = 0; x->parts > 1 && c < n; c++) {
        Value join = LLVMBuildPhi(x->b, LLVMTypeOf(o->v[c]), ""),
              from[] = {LLVMGetPoison(LLVMTypeOf(o->v[c])), o->v[c]};
        LLVMAddIncoming(join, from, (Block[]){l.before, l.loop}, 2);
        o->v[c] = join;
    }
}
