// SPDX-License-Identifier: Apache-2.0
// prepare_memory.c: memory accesses of a thread function become loads and stores of scalars and
// small vectors with elements of 8, 16, 32 or 64 bits. Requires, preserves: as prepare.c.
//   memcpy, memmove, memset   short and constant: loads, then stores; else a loop (a helper
//                             function, inlined, because LLVM-C cannot split blocks)
//   aggregates                one access for each member
//   i1, i24, i96, i128, <4 x i1>   whole bytes, joined and split by shifts
#include "compiler/passes/passes_int.h"
#include <stdio.h>

enum { UNROLL_BYTES = 256 };

static unsigned argument_align(Value call, unsigned parameter) {
    unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
    LLVMAttributeRef a = LLVMGetCallSiteEnumAttribute(call, parameter, kind);
    return a ? (unsigned)LLVMGetEnumAttributeValue(a) : 1;
}

static Value at_byte(Vec *x, Value p, uint64_t offset) {
    if (!offset) return p;
    Value o = const_int(x->i64, (int64_t)offset);
    return LLVMBuildGEP2(x->b, x->i8, p, &o, 1, "");
}

static Value load_at(Vec *x, Type t, Value p, uint64_t offset, unsigned align, bool is_volatile) {
    Value v = LLVMBuildLoad2(x->b, t, at_byte(x, p, offset), "");
    LLVMSetAlignment(v, align);
    LLVMSetVolatile(v, is_volatile);
    return v;
}

static void store_at(Vec *x, Value v, Value p, uint64_t offset, unsigned align, bool is_volatile) {
    Value s = LLVMBuildStore(x->b, v, at_byte(x, p, offset));
    LLVMSetAlignment(s, align);
    LLVMSetVolatile(s, is_volatile);
}

static unsigned align_at(unsigned align, uint64_t offset) {
    while (offset % align) align /= 2;
    return align;
}

// ---- memcpy and friends ----

// Bytes of the elements that all of a type is made of; 0: of different ones.
static unsigned element_size(Vec *x, Type t) {
    if (LLVMGetTypeKind(t) == LLVMStructTypeKind) {
        unsigned size = 0;
        for (unsigned k = 0; k < LLVMCountStructElementTypes(t); k++) {
            unsigned n = element_size(x, LLVMStructGetTypeAtIndex(t, k));
            if (!n || (size && size != n)) return 0;
            size = n;
        }
        return size;
    }
    if (LLVMGetTypeKind(t) == LLVMArrayTypeKind || is_vector(t))
        return element_size(x, LLVMGetElementType(t));
    uint64_t n = LLVMABISizeOfType(x->dl, t);
    return n == 1 || n == 2 || n == 4 || n == 8 ? (unsigned)n : 0;
}

// Of the variable of the thread that p points into: copied in these, it can be laid out by element
// (private.c).
static unsigned variable_unit(Vec *x, Value p) {
    while (LLVMIsAGetElementPtrInst(p)) p = operand(p, 0);
    return LLVMIsAAllocaInst(p) ? element_size(x, LLVMGetAllocatedType(p)) : 0;
}

// Bytes to copy or set at a time; 1 where n, which may be unknown, is not a multiple of more.
// memory: neither side is such a variable.
static unsigned unit_of(Vec *x, Value i, bool set, bool *memory) {
    int64_t n;
    unsigned to = variable_unit(x, operand(i, 0)), from = set ? 0 : variable_unit(x, operand(i, 1));
    unsigned unit = to && from ? (to < from ? to : from) : to + from;
    *memory = !unit;
    if (!unit) { // memory: as far as alignment allows
        unsigned align = argument_align(i, 1), align2 = set ? 4 : argument_align(i, 2);
        for (unit = 4; unit > 1 && (align % unit || align2 % unit);) unit /= 2;
    }
    if (!get_const(operand(i, 2), &n)) return 1;
    while (unit > 1 && n % unit) unit /= 2;
    return unit;
}

static Value repeated(Vec *x, Value byte, Type t) {
    Value v = LLVMBuildZExtOrBitCast(x->b, byte, t, "");
    return int_bits(t) == 8 ? v
                            : LLVMBuildMul(x->b, v, LLVMConstInt(t, 0x0101010101010101u, 0), "");
}

// void helper(ptr to, ptr from or i8 value, i64 n): a loop over n units; up: false counts down.
static void build_loop(Vec *x, Value f, bool set, bool up, unsigned unit) {
    Value to = LLVMGetParam(f, 0), from = LLVMGetParam(f, 1), n = LLVMGetParam(f, 2),
          zero = const_int(x->i64, 0);
    Block entry = LLVMGetInsertBlock(x->b),
          loop = LLVMAppendBasicBlockInContext(x->llvm, f, "loop"),
          done = LLVMAppendBasicBlockInContext(x->llvm, f, "done");
    LLVMBuildCondBr(x->b, LLVMBuildICmp(x->b, LLVMIntEQ, n, zero, ""), done, loop);
    LLVMPositionBuilderAtEnd(x->b, loop);
    Value i = LLVMBuildPhi(x->b, x->i64, ""),
          next = LLVMBuildAdd(x->b, i, const_int(x->i64, 1), "");
    Value at = up ? i : LLVMBuildSub(x->b, LLVMBuildSub(x->b, n, i, ""), const_int(x->i64, 1), "");
    Type t = LLVMIntTypeInContext(x->llvm, unit * 8);
    Value v = set ? repeated(x, from, t)
                  : LLVMBuildLoad2(x->b, t, LLVMBuildGEP2(x->b, t, from, &at, 1, ""), "");
    if (!set) LLVMSetAlignment(v, 1);
    LLVMSetAlignment(LLVMBuildStore(x->b, v, LLVMBuildGEP2(x->b, t, to, &at, 1, "")), 1);
    LLVMBuildCondBr(x->b, LLVMBuildICmp(x->b, LLVMIntULT, next, n, ""), loop, done);
    LLVMAddIncoming(i, (Value[]){zero, next}, (Block[]){entry, loop}, 2);
    LLVMPositionBuilderAtEnd(x->b, done);
    LLVMBuildRetVoid(x->b);
}

static Value loop_helper(Vec *x, bool set, bool move, unsigned unit) {
    char name[32];
    snprintf(name, sizeof name, "__ingot_%s%u", set ? "memset" : move ? "memmove" : "memcpy", unit);
    Value f = LLVMGetNamedFunction(x->module, name);
    if (f) return f;
    Type p[] = {x->ptr, set ? x->i8 : x->ptr, x->i64};
    f = LLVMAddFunction(x->module, name, LLVMFunctionType(x->none, p, 3, 0));
    LLVMSetLinkage(f, LLVMInternalLinkage);
    const char *attributes[] = {"alwaysinline", "nounwind"};
    for (int i = 0; i < 2; i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(attributes[i], strlen(attributes[i]));
        LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(x->llvm, kind, 0));
    }
    Block entry = LLVMAppendBasicBlockInContext(x->llvm, f, "");
    LLVMPositionBuilderAtEnd(x->b, entry);
    if (move) {
        Block up = LLVMAppendBasicBlockInContext(x->llvm, f, "up"),
              down = LLVMAppendBasicBlockInContext(x->llvm, f, "down");
        LLVMBuildCondBr(x->b,
                        LLVMBuildICmp(x->b, LLVMIntULE, LLVMGetParam(f, 0), LLVMGetParam(f, 1), ""),
                        up, down);
        LLVMPositionBuilderAtEnd(x->b, up);
        build_loop(x, f, false, true, unit);
        LLVMPositionBuilderAtEnd(x->b, down);
        build_loop(x, f, false, false, unit);
    } else {
        build_loop(x, f, set, true, unit);
    }
    return f;
}

static void expand_short(Vec *x, Value i, bool set, uint64_t bytes, unsigned unit) {
    unsigned align = argument_align(i, 1), align2 = set ? 1 : argument_align(i, 2);
    bool is_volatile = LLVMConstIntGetZExtValue(operand(i, 3)) != 0;
    Type t = LLVMIntTypeInContext(x->llvm, unit * 8);
    size_t n = bytes / unit;
    Value *v = vec_alloc(x, n + 1, sizeof *v);
    for (size_t k = 0; k < n; k++) {
        if (!set) {
            v[k] = load_at(x, t, operand(i, 1), k * unit, align_at(align2, k * unit), is_volatile);
        } else {
            v[k] = repeated(x, operand(i, 1), t);
        }
    }
    for (size_t k = 0; k < n; k++)
        store_at(x, v[k], operand(i, 0), k * unit, align_at(align, k * unit), is_volatile);
}

// From memory to memory: records of up to 16 bytes, as long as they fit, however they are aligned.
// A structure of bytes stands for several numbers in loaders of tiles.
static void copy_records(Vec *x, Value i, uint64_t bytes) {
    unsigned align = argument_align(i, 1), align2 = argument_align(i, 2);
    bool is_volatile = LLVMConstIntGetZExtValue(operand(i, 3)) != 0;
    Value v[UNROLL_BYTES];
    for (int store = 0; store < 2; store++)
        for (uint64_t at = 0, k = 0, n; at < bytes; at += n, k++) {
            for (n = 16; n > bytes - at;) n /= 2;
            Type t = n > 4 ? LLVMVectorType(x->i32, (unsigned)n / 4)
                           : LLVMIntTypeInContext(x->llvm, (unsigned)n * 8);
            if (store)
                store_at(x, v[k], operand(i, 0), at, align_at(align, at), is_volatile);
            else
                v[k] = load_at(x, t, operand(i, 1), at, align_at(align2, at), is_volatile);
        }
}

// True if a helper was called: it must be inlined.
static bool expand_memory_intrinsic(Vec *x, Value i) {
    const char *name = callee_of(i);
    bool set = starts_with(name, "llvm.memset"), move = starts_with(name, "llvm.memmove");
    if (!set && !move && !starts_with(name, "llvm.memcpy")) return false;
    Value n = operand(i, 2);
    int64_t bytes = 0;
    bool loop = !get_const(n, &bytes) || bytes < 0 || bytes > UNROLL_BYTES;
    bool memory;
    unsigned unit = unit_of(x, i, set, &memory);
    LLVMPositionBuilderBefore(x->b, i);
    if (loop) {
        Block here = LLVMGetInsertBlock(x->b);
        Value f = loop_helper(x, set, move, unit);
        LLVMPositionBuilder(x->b, here, i);
        n = LLVMBuildIntCast2(x->b, n, x->i64, 0, "");
        n = LLVMBuildUDiv(x->b, n, const_int(x->i64, unit), "");
        LLVMBuildCall2(x->b, LLVMGlobalGetValueType(f), f,
                       (Value[]){operand(i, 0), operand(i, 1), n}, 3, "");
    } else if (memory && !set) {
        copy_records(x, i, (uint64_t)bytes);
    } else {
        expand_short(x, i, set, (uint64_t)bytes, unit);
    }
    LLVMInstructionEraseFromParent(i);
    return loop;
}

// ---- odd types ----

static bool is_odd_int(Type t) {
    if (!is_integer(t)) return false;
    unsigned n = int_bits(t);
    return n != 8 && n != 16 && n != 32 && n != 64;
}
static bool is_odd(Type t) {
    return is_aggregate(t) || is_odd_int(t) || (is_vector(t) && is_odd_int(LLVMGetElementType(t)));
}

static Value load_odd(Vec *x, Type t, Value p, uint64_t offset, unsigned align, bool is_volatile) {
    if (!is_odd(t)) return load_at(x, t, p, offset, align_at(align, offset), is_volatile);
    if (is_aggregate(t)) {
        Value r = LLVMGetPoison(t);
        bool is_struct = LLVMGetTypeKind(t) == LLVMStructTypeKind;
        unsigned n = is_struct ? LLVMCountStructElementTypes(t) : (unsigned)LLVMGetArrayLength2(t);
        for (unsigned k = 0; k < n; k++) {
            Type m = is_struct ? LLVMStructGetTypeAtIndex(t, k) : LLVMGetElementType(t);
            uint64_t o =
                is_struct ? LLVMOffsetOfElement(x->dl, t, k) : k * LLVMABISizeOfType(x->dl, m);
            r = LLVMBuildInsertValue(x->b, r, load_odd(x, m, p, offset + o, align, is_volatile), k,
                                     "");
        }
        return r;
    }
    unsigned bits = (unsigned)LLVMSizeOfTypeInBits(x->dl, t), bytes = (bits + 7) / 8;
    Type whole = LLVMIntTypeInContext(x->llvm, bytes * 8),
         given = LLVMIntTypeInContext(x->llvm, bits);
    Value r = NULL;
    for (unsigned at = 0; at < bytes;) {
        unsigned unit = 8;
        while (unit > bytes - at) unit /= 2;
        Value v = load_at(x, LLVMIntTypeInContext(x->llvm, unit * 8), p, offset + at,
                          align_at(align, offset + at), is_volatile);
        v = LLVMBuildZExtOrBitCast(x->b, v, whole, "");
        if (at) v = LLVMBuildShl(x->b, v, const_int(whole, at * 8), "");
        r = r ? LLVMBuildOr(x->b, r, v, "") : v;
        at += unit;
    }
    return LLVMBuildBitCast(x->b, LLVMBuildTruncOrBitCast(x->b, r, given, ""), t, "");
}

static void store_odd(Vec *x, Value v, Value p, uint64_t offset, unsigned align, bool is_volatile) {
    Type t = LLVMTypeOf(v);
    if (!is_odd(t)) {
        store_at(x, v, p, offset, align_at(align, offset), is_volatile);
        return;
    }
    if (is_aggregate(t)) {
        bool is_struct = LLVMGetTypeKind(t) == LLVMStructTypeKind;
        unsigned n = is_struct ? LLVMCountStructElementTypes(t) : (unsigned)LLVMGetArrayLength2(t);
        for (unsigned k = 0; k < n; k++) {
            Value m = LLVMBuildExtractValue(x->b, v, k, "");
            uint64_t o = is_struct ? LLVMOffsetOfElement(x->dl, t, k)
                                   : k * LLVMABISizeOfType(x->dl, LLVMTypeOf(m));
            store_odd(x, m, p, offset + o, align, is_volatile);
        }
        return;
    }
    unsigned bits = (unsigned)LLVMSizeOfTypeInBits(x->dl, t), bytes = (bits + 7) / 8;
    Type whole = LLVMIntTypeInContext(x->llvm, bytes * 8),
         given = LLVMIntTypeInContext(x->llvm, bits);
    v = LLVMBuildZExtOrBitCast(x->b, LLVMBuildBitCast(x->b, v, given, ""), whole, "");
    for (unsigned at = 0; at < bytes;) {
        unsigned unit = 8;
        while (unit > bytes - at) unit /= 2;
        Value part = at ? LLVMBuildLShr(x->b, v, const_int(whole, at * 8), "") : v;
        part = LLVMBuildTruncOrBitCast(x->b, part, LLVMIntTypeInContext(x->llvm, unit * 8), "");
        store_at(x, part, p, offset + at, align_at(align, offset + at), is_volatile);
        at += unit;
    }
}

void msl_prepare_memory(Vec *x) {
    bool helpers = false;
    for (Block b = LLVMGetFirstBasicBlock(x->thread); b; b = LLVMGetNextBasicBlock(b))
        for (Value i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            LLVMOpcode op = LLVMGetInstructionOpcode(i);
            if (op == LLVMCall) {
                helpers |= expand_memory_intrinsic(x, i);
            } else if (op == LLVMLoad && is_odd(LLVMTypeOf(i))) {
                LLVMPositionBuilderBefore(x->b, i);
                LLVMReplaceAllUsesWith(i, load_odd(x, LLVMTypeOf(i), operand(i, 0), 0,
                                                   LLVMGetAlignment(i), LLVMGetVolatile(i)));
                LLVMInstructionEraseFromParent(i);
            } else if (op == LLVMStore && is_odd(LLVMTypeOf(operand(i, 0)))) {
                LLVMPositionBuilderBefore(x->b, i);
                store_odd(x, operand(i, 0), operand(i, 1), 0, LLVMGetAlignment(i),
                          LLVMGetVolatile(i));
                LLVMInstructionEraseFromParent(i);
            }
        }
    if (helpers) msl_run_passes(x->cx, NULL, "always-inline");
}
