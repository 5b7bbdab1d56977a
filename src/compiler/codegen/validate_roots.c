// SPDX-License-Identifier: Apache-2.0
// validate_roots.c: what an address is made from, and how many bytes are there.
//   in    the thread function, optimised; threadgroup memory as calls of __ingot_place
//   out   for each pointer the parameters, variables or loaded pointers it may be based on
// A pointer that was read from memory is a root of its own: its extent is looked up at run time
// among the device's live resources (codegen/support/validate.c), and among the variables of this
// function whose address it stores anywhere: an array of pointers into threadgroup memory.
#include "compiler/codegen/validate_int.h"
#include "abi/data_types.h"
#include <stddef.h>
#include <string.h>

enum { MAX_WALK = 256 };

static Root *add_root(Validation *v, Value value) {
    for (size_t i = 0; i < v->n_roots; i++)
        if (v->roots[i]->value == value) return v->roots[i];
    v->roots = msl_validate_grow(v, v->roots, v->n_roots, &v->max_roots);
    Root *r = msl_validate_alloc(v, 1, sizeof *r);
    *r = (Root){.value = value, .slot = UINT32_MAX};
    v->roots[v->n_roots++] = r;
    return r;
}

static uint64_t safe_bytes(Validation *v, unsigned parameter) {
    unsigned kind = LLVMGetEnumAttributeKindForName("dereferenceable", 15);
    LLVMAttributeRef a = LLVMGetEnumAttributeAtIndex(v->cg->thread, parameter + 1, kind);
    return a ? LLVMGetEnumAttributeValue(a) : 0;
}

// Is the argument a vector of three?
static bool is_three(Validation *v, uint32_t slot) {
    enum { // vectors follow their scalar
        FLOAT3 = DT_FLOAT + 2,
        HALF3 = DT_HALF + 2,
        INT3 = DT_INT + 2,
        BOOL3 = DT_BOOL + 2,
        LONG3 = DT_LONG + 2,
        ULONG3 = DT_ULONG + 2,
        BFLOAT3 = DT_BFLOAT + 2,
    };
    const RfFunction *fn = v->cg->fn;
    for (uint32_t a = 0; a < fn->n_args; a++) {
        const RfArg *arg = &fn->args[a];
        if (arg->kind != RF_ARG_BUFFER || arg->slot != slot || arg->type >= v->cg->lib->n_types)
            continue;
        uint32_t t = v->cg->lib->types[arg->type].data_type; // MTLDataType
        return t == FLOAT3 || t == HALF3 || t == LONG3 || t == ULONG3 || t == BFLOAT3 ||
               (t >= INT3 && t <= BOOL3 && t % 4 == INT3 % 4);
    }
    return false;
}

static bool is_memory(uint8_t kind) {
    switch (kind) {
    case RF_ARG_BUFFER:
    case RF_ARG_PAYLOAD:
    case RF_ARG_MESH_GRID:
    case RF_ARG_MESH:
    case RF_ARG_IMAGEBLOCK: return true;
    default: return false;
    }
}

static Root *parameter_root(Validation *v, Value value) {
    const RfFunction *fn = v->cg->fn;
    Root *r = add_root(v, value);
    uint32_t slot = 0;
    while (LLVMGetParam(v->cg->thread, slot) != value) slot++;
    r->trusted = slot >= fn->n_slots; // threadgroup memory, the step
    // Handles are no memory, whatever the program takes them for; tables of functions are looked
    // up.
    r->space = ABI_SPACE_POINTER;
    for (uint32_t a = 0; a < fn->n_args; a++) {
        const RfArg *arg = &fn->args[a];
        if (!is_memory(arg->kind) || slot < arg->slot || slot - arg->slot >= arg->count) continue;
        r->space = ABI_SPACE_BUFFER;
        r->slot = slot;
    }
    if (r->space == ABI_SPACE_POINTER) return r;
    r->safe = r->needed = safe_bytes(v, slot);
    if (r->safe && is_three(v, slot)) r->needed = r->safe / 4 * 3;
    return r;
}

// A pointer that the step of a vertex or fragment function holds, or the launch: rows, and buffers
// of vertex attributes, whose fetches look at the length themselves.
static bool is_of_step(Validation *v, Value value) {
    for (int depth = 0; msl_is_graphics(v->cg) && depth < 4 && LLVMIsALoadInst(value); depth++) {
        Value p = LLVMGetOperand(value, 0);
        while (LLVMIsAGetElementPtrInst(p)) p = LLVMGetOperand(p, 0);
        if (p == LLVMGetLastParam(v->cg->thread) || msl_starts(msl_callee(p), "__ingot_launch"))
            return true;
        value = p;
    }
    return false;
}

Root *msl_root_of(Validation *v, Value value) {
    if (LLVMIsAArgument(value)) return parameter_root(v, value);
    Root *r = add_root(v, value);
    if (LLVMIsAAllocaInst(value)) {
        r->space = ABI_SPACE_THREAD;
    } else if (LLVMIsAGlobalVariable(value)) {
        r->space = ABI_SPACE_CONSTANT;
    } else if (msl_starts(msl_callee(value), "__ingot_place")) {
        r->space = ABI_SPACE_THREADGROUP;
        r->slot = (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(value, 2));
    } else if (msl_starts(msl_callee(value), "__ingot_launch") || is_of_step(v, value)) {
        r->trusted = true; // and what is made from it
    } else {
        r->space = ABI_SPACE_POINTER;
    }
    return r;
}

int msl_step_back(Value p, Value *out) {
    if (LLVMIsAGetElementPtrInst(p) ||
        (LLVMIsAConstantExpr(p) && LLVMGetConstOpcode(p) == LLVMGetElementPtr)) {
        out[0] = LLVMGetOperand(p, 0);
        return 1;
    }
    if (!LLVMIsAInstruction(p)) return 0;
    switch (LLVMGetInstructionOpcode(p)) {
    case LLVMAddrSpaceCast:
    case LLVMBitCast:
    case LLVMFreeze: out[0] = LLVMGetOperand(p, 0); return 1;
    case LLVMCall: out[0] = LLVMGetOperand(p, 0); return msl_starts(msl_callee(p), "llvm.ptrmask");
    case LLVMSelect:
        out[0] = LLVMGetOperand(p, 1);
        out[1] = LLVMGetOperand(p, 2);
        return 2;
    case LLVMPHI: {
        int n = (int)LLVMCountIncoming(p);
        if (n > MSL_MAX_BACK) return -1;
        for (int i = 0; i < n; i++) out[i] = LLVMGetIncomingValue(p, (unsigned)i);
        return n;
    }
    default: return 0;
    }
}

int msl_find_roots(Validation *v, Value pointer, Root **out) {
    Value seen[MAX_WALK], ends[MAX_ROOTS];
    int n_seen = 1, n_ends = 0;
    bool cut = true; // not all was seen
    seen[0] = pointer;
    for (int at = 0; at < n_seen; at++) {
        Value back[MSL_MAX_BACK];
        int n = msl_step_back(seen[at], back);
        if (n < 0) goto too_many;
        bool known = n > 0;
        for (int e = 0; !n && e < n_ends; e++) known |= ends[e] == seen[at];
        if (!known && !LLVMIsUndef(seen[at])) {
            if (n_ends == MAX_ROOTS) goto too_many;
            ends[n_ends++] = seen[at];
        }
        for (int b = 0; b < n; b++) {
            bool old = false;
            for (int k = 0; k < n_seen; k++) old |= seen[k] == back[b];
            if (old) continue;
            if (n_seen == MAX_WALK) goto too_many;
            seen[n_seen++] = back[b];
        }
    }
    cut = false;
    bool loaded = false;
    int n_trusted = 0;
    for (int e = 0; e < n_ends; e++) {
        out[e] = msl_root_of(v, ends[e]);
        n_trusted += out[e]->trusted;
        loaded |= out[e]->space == ABI_SPACE_POINTER && !out[e]->trusted;
    }
    if (n_ends && n_trusted == n_ends) return n_ends;
    while (LLVMIsAGetElementPtrInst(pointer)) pointer = LLVMGetOperand(pointer, 0);
    // A loaded pointer may come through a phi that it does not dominate: that is looked up instead.
    if (n_ends && !n_trusted && (!loaded || pointer == ends[0])) return n_ends;
too_many: // looked up at run time, unless it may be in memory that no resource is
    while (LLVMIsAGetElementPtrInst(pointer)) pointer = LLVMGetOperand(pointer, 0);
    out[0] = add_root(v, pointer);
    out[0]->space = ABI_SPACE_POINTER;
    bool elsewhere = cut;
    for (int k = 0; k < n_seen; k++)
        elsewhere |= LLVMIsAAllocaInst(seen[k]) || LLVMIsAGlobalVariable(seen[k]) ||
                     LLVMIsAArgument(seen[k]) || msl_starts(msl_callee(seen[k]), "__ingot_");
    if (elsewhere && !out[0]->start) msl_choose_bounds(v, out[0]);
    return 1;
}

// ---- extents ----

static void invariant(Validation *v, Value load) {
    LLVMSetMetadata(load, LLVMGetMDKindIDInContext(v->cg->cx.llvm, "invariant.load", 14), v->empty);
}

static bool is_place(Value i) { return msl_starts(msl_callee(i), "__ingot_place"); }

static bool is_number_of_argument(Value i) {
    return LLVMIsAPtrToIntInst(i) && LLVMIsAArgument(LLVMGetOperand(i, 0));
}

// Behind the variables and what msl_hoist_places put there.
static void position_at_entry(Validation *v) {
    Value i = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(v->cg->thread));
    while (LLVMIsAAllocaInst(i) || is_place(i) || is_number_of_argument(i))
        i = LLVMGetNextInstruction(i);
    LLVMPositionBuilderBefore(v->cg->cx.builder, i);
}

static Value slot_length(Validation *v, uint32_t slot) {
    MslContext *cx = &v->cg->cx;
    position_at_entry(v);
    Value at = msl_const(cx, 64, offsetof(CpuLaunch, lengths)), launch = msl_launch(v, NULL);
    Value p = LLVMBuildInBoundsGEP2(cx->builder, msl_int(cx, 8), launch, &at, 1, "");
    Value lengths = LLVMBuildLoad2(cx->builder, msl_ptr(cx), p, "lengths"),
          ix = msl_const(cx, 64, slot);
    p = LLVMBuildInBoundsGEP2(cx->builder, msl_int(cx, 64), lengths, &ix, 1, "");
    Value length = LLVMBuildLoad2(cx->builder, msl_int(cx, 64), p, "length");
    invariant(v, lengths);
    invariant(v, length);
    return length;
}

bool msl_is_lookup(const char *name) {
    return msl_starts(name, "ingot_span") || msl_starts(name, "ingot_live");
}

void msl_position_behind(Validation *v, Value value) {
    if (!LLVMIsAInstruction(value)) { // an argument, a null pointer, an address out of thin air
        position_at_entry(v);
        return;
    }
    Value next = LLVMGetNextInstruction(value);
    while (LLVMIsAPHINode(next)) next = LLVMGetNextInstruction(next);
    LLVMPositionBuilderBefore(v->cg->cx.builder, next);
}

// ---- threadgroup memory at the entry ----

// A number there, where the builder stands; NULL: it is not known.
static Value at_entry(Validation *v, Value value) {
    if (LLVMIsAConstant(value) || LLVMIsAArgument(value)) return value;
    if (!is_number_of_argument(value)) return NULL;
    return LLVMBuildPtrToInt(v->cg->cx.builder, LLVMGetOperand(value, 0), LLVMTypeOf(value), "");
}

static bool is_same_place(Value a, Value b) {
    for (unsigned o = 0; o < 3; o++) {
        Value x = LLVMGetOperand(a, o), y = LLVMGetOperand(b, o);
        if (LLVMIsAPtrToIntInst(x)) x = LLVMGetOperand(x, 0);
        if (LLVMIsAPtrToIntInst(y)) y = LLVMGetOperand(y, 0);
        if (x != y) return false;
    }
    return true;
}

static Value place_at_entry(Validation *v, Value place) {
    Value args[3];
    position_at_entry(v);
    for (unsigned o = 0; o < 3; o++)
        if (!(args[o] = at_entry(v, LLVMGetOperand(place, o)))) return NULL;
    return LLVMBuildCall2(v->cg->cx.builder, LLVMGetCalledFunctionType(place),
                          LLVMGetCalledValue(place), args, 3, "");
}

void msl_hoist_places(Validation *v) {
    Value *all = NULL, *top = NULL;
    size_t n = 0, max = 0, n_top = 0, max_top = 0;
    for (Block b = LLVMGetFirstBasicBlock(v->cg->thread); b; b = LLVMGetNextBasicBlock(b))
        for (Value i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (!is_place(i)) continue;
            all = msl_validate_grow(v, all, n, &max);
            all[n++] = i;
        }
    for (size_t k = 0; k < n; k++) {
        size_t t = 0;
        while (t < n_top && !is_same_place(top[t], all[k])) t++;
        if (t == n_top) {
            Value place = place_at_entry(v, all[k]);
            if (!place) continue;
            top = msl_validate_grow(v, top, n_top, &max_top);
            top[n_top++] = place;
        }
        LLVMReplaceAllUsesWith(all[k], top[t]);
        LLVMInstructionEraseFromParent(all[k]);
    }
}

// ---- variables whose address is kept ----

static void keep(Validation *v, Value value) {
    if (!is_place(value) && !LLVMIsAAllocaInst(value)) return;
    for (size_t k = 0; k < v->n_kept; k++)
        if (v->kept[k]->value == value) return;
    v->kept = msl_validate_grow(v, v->kept, v->n_kept, &v->max_kept);
    v->kept[v->n_kept++] = msl_root_of(v, value);
}

static void keep_all_of(Validation *v, Value pointer) {
    Value seen[MAX_WALK];
    int n_seen = 1;
    seen[0] = pointer;
    for (int at = 0; at < n_seen; at++) {
        Value back[MSL_MAX_BACK];
        int n = msl_step_back(seen[at], back);
        if (!n) keep(v, seen[at]);
        for (int b = 0; b < n; b++) {
            bool old = n_seen == MAX_WALK;
            for (int k = 0; k < n_seen; k++) old |= seen[k] == back[b];
            if (!old) seen[n_seen++] = back[b];
        }
    }
}

static void find_kept(Validation *v) {
    if (v->knows_kept) return;
    v->knows_kept = true;
    for (Block b = LLVMGetFirstBasicBlock(v->cg->thread); b; b = LLVMGetNextBasicBlock(b))
        for (Value i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsAStoreInst(i) &&
                LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(i, 0))) == LLVMPointerTypeKind)
                keep_all_of(v, LLVMGetOperand(i, 0));
}

bool msl_keeps_thread(Validation *v) {
    find_kept(v);
    for (size_t k = 0; k < v->n_kept; k++)
        if (v->kept[k]->space == ABI_SPACE_THREAD) return true;
    return false;
}

// In front of what was looked up: the variable that the pointer points into, if it is one.
static void look_among_kept(Validation *v, Root *r) {
    MslContext *cx = &v->cg->cx;
    LLVMBuilderRef b = cx->builder;
    Type i64 = msl_int(cx, 64);
    for (size_t k = 0; k < v->n_kept; k++) {
        const Root *e = v->kept[k];
        Value off = LLVMBuildSub(b, LLVMBuildPtrToInt(b, r->value, i64, ""),
                                 LLVMBuildPtrToInt(b, e->start, i64, ""), ""),
              here = LLVMBuildICmp(b, LLVMIntULT, off, e->length, "");
        r->start = LLVMBuildSelect(b, here, e->start, r->start, "");
        r->length = LLVMBuildSelect(b, here, e->length, r->length, "");
    }
}

static void look_up(Validation *v, Root *r) {
    MslContext *cx = &v->cg->cx;
    find_kept(v);
    for (size_t k = 0; k < v->n_kept; k++) msl_root_values(v, v->kept[k]);
    msl_position_behind(v, r->value);
    Value args[2] = {msl_launch(v, NULL), r->value};
    Value start = msl_call(v, "ingot_span_start", msl_int(cx, 64), args, 2);
    r->start = LLVMBuildIntToPtr(cx->builder, start, msl_ptr(cx), "");
    r->length = msl_call(v, "ingot_span_bytes", msl_int(cx, 64), args, 2);
    look_among_kept(v, r);
}

void msl_root_values(Validation *v, Root *r) {
    MslContext *cx = &v->cg->cx;
    if (r->start || r->trusted) return;
    if (r->space == ABI_SPACE_POINTER) {
        look_up(v, r);
        return;
    }
    r->start = r->value;
    if (r->space == ABI_SPACE_THREAD)
        r->length =
            msl_const(cx, 64, LLVMABISizeOfType(cx->layout, LLVMGetAllocatedType(r->value)));
    else if (r->space == ABI_SPACE_CONSTANT)
        r->length =
            msl_const(cx, 64, LLVMABISizeOfType(cx->layout, LLVMGlobalGetValueType(r->value)));
    else if (r->slot == UINT32_MAX)
        r->length = LLVMGetOperand(r->value, 1); // __ingot_place
    else
        r->length = slot_length(v, r->slot);
}

// Offset of a pointer from its root, if both and all between are constants.
bool msl_constant_offset(Validation *v, Value p, const Root *root, int64_t *offset) {
    LLVMTargetDataRef layout = v->cg->cx.layout;
    *offset = 0;
    for (; p != root->value; p = LLVMGetOperand(p, 0)) {
        bool expression = LLVMIsAConstantExpr(p) && LLVMGetConstOpcode(p) == LLVMGetElementPtr;
        if (!expression && !LLVMIsAGetElementPtrInst(p)) return false;
        Type t = LLVMGetGEPSourceElementType(p);
        for (int k = 1; k < LLVMGetNumOperands(p); k++) {
            Value ix = LLVMGetOperand(p, (unsigned)k);
            if (!LLVMIsAConstantInt(ix)) return false;
            int64_t n = LLVMConstIntGetSExtValue(ix);
            if (k > 1 && LLVMGetTypeKind(t) == LLVMStructTypeKind) {
                *offset += (int64_t)LLVMOffsetOfElement(layout, t, (unsigned)n);
                t = LLVMStructGetTypeAtIndex(t, (unsigned)n);
                continue;
            }
            if (k > 1) t = LLVMGetElementType(t);
            uint64_t size = LLVMABISizeOfType(layout, t);
            *offset = (int64_t)((uint64_t)*offset + (uint64_t)n * size);
        }
    }
    return true;
}

// ---- what differs between threads ----
// A guess from the data alone: right or wrong only decides how an access is checked, not whether.

static bool starts_varying(Value i) {
    if (LLVMIsAAllocaInst(i) || LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i)) return true;
    const char *name = msl_callee(i);
    if (!LLVMIsACallInst(i) || msl_starts(name, "llvm.") || msl_starts(name, "__ingot_launch") ||
        msl_starts(name, "__ingot_place") || msl_is_lookup(name))
        return false;
    if (!msl_starts(name, "__ingot_position") || !LLVMIsAConstantInt(LLVMGetOperand(i, 0)))
        return true;
    switch (LLVMConstIntGetZExtValue(LLVMGetOperand(i, 0))) {
    case RF_THREAD_POSITION_IN_GRID:
    case RF_THREAD_POSITION_IN_THREADGROUP:
    case RF_THREAD_INDEX_IN_THREADGROUP:
    case RF_THREAD_INDEX_IN_SIMDGROUP:
    case RF_THREAD_INDEX_IN_QUADGROUP:
    case RF_QUADGROUP_INDEX_IN_THREADGROUP:
    case RF_SIMDGROUP_INDEX_IN_THREADGROUP: return true;
    default: return false;
    }
}

bool msl_varies(const Validation *v, Value value) {
    return LLVMIsAInstruction(value) && LLVMGetMetadata(value, v->varies_kind);
}

static bool becomes_varying(const Validation *v, Value i) {
    if (starts_varying(i)) return true;
    int n = LLVMIsACallInst(i) ? (int)LLVMGetNumArgOperands(i) : LLVMGetNumOperands(i);
    for (int o = 0; o < n; o++) {
        Value operand = LLVMGetOperand(i, (unsigned)o);
        if (!LLVMValueIsBasicBlock(operand) && msl_varies(v, operand)) return true;
    }
    return false;
}

void msl_mark_varying(Validation *v) {
    for (bool changed = true; changed;) {
        changed = false;
        for (Block b = LLVMGetFirstBasicBlock(v->cg->thread); b; b = LLVMGetNextBasicBlock(b))
            for (Value i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                if (msl_varies(v, i) || !becomes_varying(v, i)) continue;
                LLVMSetMetadata(i, v->varies_kind, v->empty);
                changed = true;
            }
    }
}
