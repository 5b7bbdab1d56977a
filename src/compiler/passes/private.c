// SPDX-License-Identifier: Apache-2.0
// private.c: private memory. An alloca of the thread function holds a copy for each lane.
// Purpose: choose their layout, and keep accesses inside. Outside is the host's stack, and programs
// that are right on a GPU go there: a loop begins below zero in the threads past the end of a row,
// and writes to scratch memory that nobody reads.
// Requires: the CFG of prepare.c. Preserves: everything.
//   SoA: in cells as large as the largest element accessed: cell e of lane l at
//        (e * lanes + l) * S. A byte offset o becomes o * lanes, so pointers stay linear with
//        stride S and accesses with a uniform index are consecutive. Smaller elements, members of
//        structures, lie in their cell where they did: `rest` bytes behind its start, which every
//        pointer reached through GEP, phi and select must be known by.
//   AoS: one block for each lane, otherwise (arrays of several sizes, pointers that escape).
#include "compiler/passes/passes_int.h"

// Pointers reached from one alloca.
typedef struct Reach {
    Value *seen;
    int *from; // which one each was reached from
    int *rest; // of each
    int n, capacity;
    Map ix;
    int sizes, joined; // of elements accessed, of those of vectors: the sum of all that there are
    int size;          // of the largest
} Reach;

enum { MAX_CELL = 8, WORD = 4 };

static int element_bytes(Vec *x, Type t) {
    if (is_vector(t)) t = LLVMGetElementType(t);
    return is_aggregate(t) ? -1 : (int)LLVMABISizeOfType(x->dl, t);
}

static void reach_add(Vec *x, Reach *r, Value p, int from) {
    if (msl_map_get(&r->ix, p) >= 0) return;
    if (r->n == r->capacity) {
        r->capacity = 2 * r->capacity + 64;
        Value *seen = vec_alloc(x, (size_t)r->capacity, sizeof *seen);
        int *origin = vec_alloc(x, (size_t)r->capacity, sizeof *origin);
        if (r->n) memcpy(seen, r->seen, sizeof *seen * (size_t)r->n);
        if (r->n) memcpy(origin, r->from, sizeof *origin * (size_t)r->n);
        r->seen = seen, r->from = origin;
    }
    msl_map_put(x->cx, &x->arena, &r->ix, p, r->n);
    r->from[r->n] = from;
    r->seen[r->n++] = p;
}

// The bytes of an element that `user` accesses at p; 0: none; -1: it escapes.
static int accessed_bytes(Vec *x, Value user, Value p, bool *joined) {
    *joined = false;
    switch (LLVMGetInstructionOpcode(user)) {
    case LLVMLoad:
    case LLVMStore: {
        bool store = LLVMIsAStoreInst(user) != NULL;
        Type t = LLVMTypeOf(store ? operand(user, 0) : user);
        *joined = is_vector(t);
        return store && operand(user, 0) == p ? -1 : element_bytes(x, t);
    }
    case LLVMGetElementPtr:
    case LLVMPHI:
    case LLVMSelect: return 0;
    case LLVMCall:
        *joined = true;
        if (starts_with(callee_of(user), "llvm.lifetime")) return 0;
        return msl_tensor_element_bytes(x, user, p);
    default: return -1;
    }
}

// All uses of a pointer are accesses to elements, or lead to other pointers.
static bool find_uses(Vec *x, Reach *r, int k) {
    Value p = r->seen[k];
    for (LLVMUseRef u = LLVMGetFirstUse(p); u; u = LLVMGetNextUse(u)) {
        Value user = LLVMGetUser(u);
        bool joined;
        int bytes = LLVMIsAInstruction(user) ? accessed_bytes(x, user, p, &joined) : -1;
        if (bytes < 0 || bytes > MAX_CELL || (bytes & (bytes - 1))) return false;
        if (!bytes && !LLVMIsACallInst(user)) reach_add(x, r, user, k);
        r->sizes |= bytes;
        if (joined) r->joined |= bytes;
        if (bytes > r->size) r->size = bytes;
    }
    return true;
}

static bool find_all(Vec *x, Reach *r, Value alloca) {
    reach_add(x, r, alloca, 0);
    for (int k = 0; k < r->n; k++)
        if (!find_uses(x, r, k)) return false;
    return r->size != 0;
}

// Phis that are taken to be multiples while what they are made of is looked at.
typedef struct Assumed {
    Value phi;
    const struct Assumed *up;
    int depth;
} Assumed;

static bool is_multiple(Value v, int64_t of, const Assumed *a);

static bool are_multiples(Value i, int from, int64_t of, const Assumed *a) {
    for (int o = from; o < LLVMGetNumOperands(i); o++)
        if (!is_multiple(operand(i, o), of, a)) return false;
    return true;
}

// A number of the program is known to be a multiple of a power of two.
static bool is_multiple(Value v, int64_t of, const Assumed *a) {
    enum { DEEP = 8 };
    int64_t c;
    if (of <= 1) return true;
    if (get_const(v, &c)) return c % of == 0;
    for (const Assumed *up = a; up; up = up->up)
        if (up->phi == v) return true;
    if (!LLVMIsAInstruction(v) || (a && a->depth == DEEP)) return false;
    const Assumed self = {LLVMIsAPHINode(v) ? v : NULL, a, a ? a->depth + 1 : 1};
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMShl:
        if (!get_const(operand(v, 1), &c) || c < 1 || c > 62) return false;
        return is_multiple(operand(v, 0), of >> c, NULL);
    case LLVMAnd:
    case LLVMMul: return is_multiple(operand(v, 0), of, &self) || are_multiples(v, 1, of, &self);
    case LLVMSelect: return are_multiples(v, 1, of, &self);
    case LLVMAdd:
    case LLVMSub:
    case LLVMOr:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMPHI: return are_multiples(v, 0, of, &self);
    default: return false;
    }
}

// What an index adds to the rest; false: it may point into the middle of a cell.
static bool add_offsets(Vec *x, const Reach *r, Value gep, int *rest) {
    Type t = LLVMGetGEPSourceElementType(gep);
    uint64_t sum = (uint64_t)*rest, cell = (uint64_t)r->size;
    for (int o = 1; o < LLVMGetNumOperands(gep); o++) {
        Value ix = operand(gep, o);
        int64_t c;
        if (o > 1 && LLVMGetTypeKind(t) == LLVMStructTypeKind) {
            unsigned field = (unsigned)LLVMConstIntGetZExtValue(ix);
            sum += LLVMOffsetOfElement(x->dl, t, field);
            t = LLVMStructGetTypeAtIndex(t, field);
            continue;
        }
        if (o > 1) t = LLVMGetElementType(t);
        uint64_t bytes = LLVMABISizeOfType(x->dl, t);
        if (get_const(ix, &c))
            sum += bytes * (uint64_t)c;
        else if (bytes % cell &&
                 !(cell % bytes == 0 && is_multiple(ix, (int64_t)(cell / bytes), NULL)))
            return false;
    }
    *rest = (int)(sum & (cell - 1));
    return true;
}

// A phi or select among the pointers must not mix in one from elsewhere, nor other rests.
static bool is_closed(const Reach *r, int k) {
    Value p = r->seen[k];
    if (!LLVMIsAPHINode(p) && !LLVMIsASelectInst(p)) return true;
    for (int o = LLVMIsASelectInst(p) ? 1 : 0; o < LLVMGetNumOperands(p); o++) {
        int from = msl_map_get(&r->ix, operand(p, o));
        if (!LLVMIsUndef(operand(p, o)) && (from < 0 || r->rest[from] != r->rest[k])) return false;
    }
    return true;
}

static bool accesses_fit(Vec *x, const Reach *r, int k) {
    for (LLVMUseRef u = LLVMGetFirstUse(r->seen[k]); u; u = LLVMGetNextUse(u)) {
        bool joined;
        int bytes = accessed_bytes(x, LLVMGetUser(u), r->seen[k], &joined);
        if (bytes && r->rest[k] % bytes) return false;
    }
    return true;
}

static bool has_cells(Vec *x, Reach *r, Value alloca) {
    if (!find_all(x, r, alloca) || (r->joined && r->joined != r->size)) return false;
    r->rest = vec_alloc(x, (size_t)r->n, sizeof *r->rest);
    for (int k = 1; k < r->n; k++) {
        r->rest[k] = r->rest[r->from[k]];
        if (LLVMIsAGetElementPtrInst(r->seen[k]) && !add_offsets(x, r, r->seen[k], &r->rest[k]))
            return false;
    }
    for (int k = 0; k < r->n; k++)
        if (!is_closed(r, k) || !accesses_fit(x, r, k)) return false;
    return true;
}

// An access as one of words, what lies in them as it was.
static void access_words(Vec *x, Value i) {
    bool store = LLVMIsAStoreInst(i) != NULL;
    Type t = LLVMTypeOf(store ? operand(i, 0) : i);
    unsigned bytes = (unsigned)LLVMABISizeOfType(x->dl, t);
    Type words = bytes == WORD ? x->i32 : LLVMVectorType(x->i32, bytes / WORD);
    LLVMPositionBuilderBefore(x->b, i);
    Value v = store ? LLVMBuildStore(x->b, LLVMBuildBitCast(x->b, operand(i, 0), words, ""),
                                     operand(i, 1))
                    : LLVMBuildLoad2(x->b, words, operand(i, 0), "");
    LLVMSetAlignment(v, LLVMGetAlignment(i));
    if (!store) LLVMReplaceAllUsesWith(i, LLVMBuildBitCast(x->b, v, t, ""));
    LLVMInstructionEraseFromParent(i);
}

static bool could_be_words(Vec *x, Value i) {
    if (!LLVMIsALoadInst(i) && !LLVMIsAStoreInst(i)) return false;
    Type t = LLVMTypeOf(LLVMIsAStoreInst(i) ? operand(i, 0) : i);
    Type element = is_vector(t) ? LLVMGetElementType(t) : t;
    return !LLVMGetVolatile(i) && LLVMGetOrdering(i) == LLVMAtomicOrderingNotAtomic &&
           !is_pointer(element) && LLVMABISizeOfType(x->dl, element) != WORD &&
           LLVMSizeOfTypeInBits(x->dl, t) == 8 * LLVMABISizeOfType(x->dl, t) &&
           LLVMABISizeOfType(x->dl, t) % WORD == 0;
}

void msl_unify_private(Vec *x) {
    for (Value i = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(x->thread)), next; i; i = next) {
        Reach r = {0};
        next = LLVMGetNextInstruction(i);
        if (!LLVMIsAAllocaInst(i) || !find_all(x, &r, i) || r.sizes == r.size || !(r.sizes & WORD))
            continue;
        for (int k = 0; k < r.n; k++)
            for (LLVMUseRef u = LLVMGetFirstUse(r.seen[k]), more; u; u = more) {
                more = LLVMGetNextUse(u);
                if (could_be_words(x, LLVMGetUser(u))) access_words(x, LLVMGetUser(u));
            }
    }
}

void msl_analyse_private(Vec *x) {
    for (Value i = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(x->thread)); i;
         i = LLVMGetNextInstruction(i)) {
        if (!LLVMIsAAllocaInst(i)) continue;
        if (!LLVMIsAConstantInt(operand(i, 0)) || LLVMConstIntGetZExtValue(operand(i, 0)) != 1)
            msl_fail_at(x, "private memory of a size unknown at compile time", i);
        Reach r = {0};
        if (!has_cells(x, &r, i)) continue;
        for (int k = 0; k < r.n; k++)
            msl_map_put(x->cx, &x->arena, &x->soa, r.seen[k], r.size * MAX_CELL + r.rest[k]);
    }
}

bool msl_is_soa(const Vec *x, Value p) { return msl_map_get(&x->soa, p) >= 0; }
int msl_soa_cell(const Vec *x, Value p) { return msl_map_get(&x->soa, p) / MAX_CELL; }
int msl_soa_rest(const Vec *x, Value p) { return msl_map_get(&x->soa, p) % MAX_CELL; }

int64_t msl_private_stride(const Vec *x, Value alloca) {
    if (msl_is_soa(x, alloca)) return msl_soa_cell(x, alloca);
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

int64_t msl_soa_end(const Vec *x, Value alloca) {
    uint64_t bytes = LLVMABISizeOfType(x->dl, LLVMGetAllocatedType(alloca));
    return (int64_t)((bytes + MAX_CELL - 1) / MAX_CELL * MAX_CELL * x->lanes);
}

Value msl_emit_alloca(Vec *x, Value alloca) {
    uint64_t bytes = ((uint64_t)msl_private_stride(x, alloca) + 7) / 8 * 8 * x->lanes;
    if (msl_is_soa(x, alloca)) bytes += (uint64_t)msl_soa_end(x, alloca);
    return msl_entry_alloca(x, LLVMArrayType2(x->i8, bytes), 64);
}
