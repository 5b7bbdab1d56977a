// SPDX-License-Identifier: Apache-2.0
// private.c: private memory. An alloca of the thread function holds a copy for each lane.
// Purpose: choose their layout, and keep accesses inside. Outside is the host's stack, and programs
// that are right on a GPU go there: a loop begins below zero in the threads past the end of a row,
// and writes to scratch memory that nobody reads.
// Requires: the CFG of prepare.c. Preserves: everything.
//   SoA: element e of lane l at (e * lanes + l) * S, when every access reached through
//        GEP, phi and select has elements of one size S. A byte offset o becomes o * lanes, so
//        pointers stay linear with stride S and accesses with a uniform index are consecutive.
//   AoS: one block for each lane, otherwise (mixed sizes, pointers that escape).
#include "compiler/passes/passes_int.h"

// Pointers reached from one alloca.
typedef struct Reach {
    Value *seen;
    int n, capacity;
    Map ix;
    int size; // of the elements accessed; 0: none yet
} Reach;

static int element_bytes(Vec *x, Type t) {
    if (is_vector(t)) t = LLVMGetElementType(t);
    return is_aggregate(t) ? -1 : (int)LLVMABISizeOfType(x->dl, t);
}

static void reach_add(Vec *x, Reach *r, Value p) {
    if (msl_map_get(&r->ix, p) >= 0) return;
    if (r->n == r->capacity) {
        Value *more = vec_alloc(x, 2 * (size_t)r->capacity + 64, sizeof *more);
        if (r->n) memcpy(more, r->seen, sizeof *more * (size_t)r->n);
        r->seen = more;
        r->capacity = 2 * r->capacity + 64;
    }
    msl_map_put(x->cx, &x->arena, &r->ix, p, r->n);
    r->seen[r->n++] = p;
}

// All uses of pointer p agree with element size r->size.
static bool uses_agree(Vec *x, Reach *r, Value p) {
    for (LLVMUseRef u = LLVMGetFirstUse(p); u; u = LLVMGetNextUse(u)) {
        Value user = LLVMGetUser(u);
        int bytes = -1;
        if (!LLVMIsAInstruction(user)) return false;
        switch (LLVMGetInstructionOpcode(user)) {
        case LLVMLoad: bytes = element_bytes(x, LLVMTypeOf(user)); break;
        case LLVMStore:
            if (operand(user, 0) == p) return false;
            bytes = element_bytes(x, LLVMTypeOf(operand(user, 0)));
            break;
        case LLVMGetElementPtr:
        case LLVMPHI:
        case LLVMSelect: reach_add(x, r, user); continue;
        case LLVMCall:
            if (starts_with(callee_of(user), "llvm.lifetime")) continue;
            bytes = msl_tensor_element_bytes(x, user, p);
            break;
        default: return false;
        }
        if (bytes <= 0 || bytes > 8 || (r->size && r->size != bytes)) return false;
        r->size = bytes;
    }
    return true;
}

// A phi or select among the pointers must not mix in one from elsewhere.
static bool closed(const Reach *r) {
    for (int k = 0; k < r->n; k++) {
        Value p = r->seen[k];
        if (!LLVMIsAPHINode(p) && !LLVMIsASelectInst(p)) continue;
        for (int o = LLVMIsASelectInst(p) ? 1 : 0; o < LLVMGetNumOperands(p); o++)
            if (!LLVMIsUndef(operand(p, o)) && msl_map_get(&r->ix, operand(p, o)) < 0) return false;
    }
    return true;
}

// Offsets must fall on elements: a GEP over bytes or odd structs could point inside one.
static bool offsets_fit(Vec *x, const Reach *r) {
    for (int k = 0; k < r->n; k++) {
        Value p = r->seen[k];
        if (!LLVMIsAGetElementPtrInst(p)) continue;
        Type t = LLVMGetGEPSourceElementType(p);
        for (int o = 1; o < LLVMGetNumOperands(p); o++) {
            Value ix = operand(p, o);
            uint64_t offset;
            if (o > 1 && LLVMGetTypeKind(t) == LLVMStructTypeKind) {
                unsigned field = (unsigned)LLVMConstIntGetZExtValue(ix);
                offset = LLVMOffsetOfElement(x->dl, t, field);
                t = LLVMStructGetTypeAtIndex(t, field);
            } else {
                if (o > 1) t = LLVMGetElementType(t);
                int64_t c;
                offset = LLVMABISizeOfType(x->dl, t);
                if (get_const(ix, &c)) offset *= (uint64_t)c;
            }
            if (offset % (uint64_t)r->size) return false;
        }
    }
    return true;
}

void msl_analyse_private(Vec *x) {
    for (Value i = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(x->thread)); i;
         i = LLVMGetNextInstruction(i)) {
        if (!LLVMIsAAllocaInst(i)) continue;
        if (!LLVMIsAConstantInt(operand(i, 0)) || LLVMConstIntGetZExtValue(operand(i, 0)) != 1)
            msl_fail_at(x, "private memory of a size unknown at compile time", i);
        Reach r = {0};
        reach_add(x, &r, i);
        bool ok = true;
        for (int k = 0; ok && k < r.n; k++) ok = uses_agree(x, &r, r.seen[k]);
        if (!ok || !r.size || !closed(&r) || !offsets_fit(x, &r)) continue;
        for (int k = 0; k < r.n; k++) msl_map_put(x->cx, &x->arena, &x->soa, r.seen[k], r.size);
    }
}

bool msl_is_soa(const Vec *x, Value p) { return msl_map_get(&x->soa, p) >= 0; }

int64_t msl_private_stride(const Vec *x, Value alloca) {
    int s = msl_map_get(&x->soa, alloca);
    if (s > 0) return s;
    int64_t size = (int64_t)LLVMABISizeOfType(x->dl, LLVMGetAllocatedType(alloca));
    int64_t align = LLVMGetAlignment(alloca);
    return (size + align - 1) / align * align;
}

static bool constant_indices(Value gep) {
    for (int k = 1; k < LLVMGetNumOperands(gep); k++)
        if (!LLVMIsAConstantInt(operand(gep, k))) return false;
    return true;
}

Value msl_unsure_private(Value p) {
    bool sure = true;
    for (; LLVMIsAGetElementPtrInst(p); p = operand(p, 0)) sure &= constant_indices(p);
    return LLVMIsAAllocaInst(p) && !sure ? p : NULL;
}

Value msl_emit_alloca(Vec *x, Value alloca) {
    uint64_t bytes = msl_is_soa(x, alloca) ? LLVMABISizeOfType(x->dl, LLVMGetAllocatedType(alloca))
                                           : (uint64_t)msl_private_stride(x, alloca);
    return msl_entry_alloca(x, LLVMArrayType2(x->i8, (bytes + 7) / 8 * 8 * x->lanes), 64);
}
