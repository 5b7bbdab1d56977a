// SPDX-License-Identifier: Apache-2.0
// validate_handle.c: handles of textures, samplers, tensors and acceleration structures before
// they are used. A handle is 64 bits, and a program may make them of anything: it is looked up
// among the live objects of the device (AbiLive, codegen/support/validate.c), and one that is none
// of them is null from there on: sizes are 0, reads give nothing, writes do nothing, no ray hits.
//   requires  the thread function, optimised, before roots are looked for
// A handle that is an argument of the function, as the encoder bound it, needs no look.
#include "compiler/codegen/validate_int.h"
#include <string.h>

typedef struct Guarded { // a handle that is looked up, and where
    Value handle, live;
    AbiLiveKind kind;
} Guarded;

typedef struct Guards {
    Validation *v;
    Guarded **list;
    size_t n, max;
} Guards;

static AbiLiveKind kind_of_argument(uint8_t kind) {
    switch (kind) {
    case RF_ARG_TEXTURE: return ABI_LIVE_TEXTURE;
    case RF_ARG_SAMPLER: return ABI_LIVE_SAMPLER;
    case RF_ARG_TENSOR: return ABI_LIVE_TENSOR;
    case RF_ARG_ACCELERATION: return ABI_LIVE_ACCELERATION;
    default: return ABI_LIVE_MEMORY;
    }
}

static bool is_bound(const Validation *v, Value param, AbiLiveKind kind) {
    const RfFunction *fn = v->cg->fn;
    for (uint32_t a = 0; a < fn->n_args; a++) {
        const RfArg *arg = &fn->args[a];
        if (kind_of_argument(arg->kind) != kind) continue;
        for (uint32_t k = 0; k < arg->count && arg->slot + k < fn->n_slots; k++)
            if (LLVMGetParam(v->cg->thread, arg->slot + k) == param) return true;
    }
    return false;
}

// Nothing, a sampler that is all in its handle (the device takes any), or what the encoder bound.
static bool is_harmless(const Validation *v, Value handle, AbiLiveKind kind, int depth) {
    if (LLVMIsAConstantInt(handle)) {
        uint64_t n = LLVMConstIntGetZExtValue(handle);
        return n == 0 || (kind == ABI_LIVE_SAMPLER && n & 1);
    }
    if (LLVMIsAPtrToIntInst(handle)) return is_bound(v, LLVMGetOperand(handle, 0), kind);
    if (LLVMIsASelectInst(handle) && depth)
        return is_harmless(v, LLVMGetOperand(handle, 1), kind, depth - 1) &&
               is_harmless(v, LLVMGetOperand(handle, 2), kind, depth - 1);
    if (!LLVMIsAInstruction(handle) || LLVMGetInstructionOpcode(handle) != LLVMOr) return false;
    Value mark = LLVMGetOperand(handle, 1); // of a question for residency
    return kind == ABI_LIVE_TEXTURE && LLVMIsAConstantInt(mark) &&
           LLVMConstIntGetZExtValue(mark) == ABI_TEXTURE_RESIDENCY && depth &&
           is_harmless(v, LLVMGetOperand(handle, 0), kind, depth - 1);
}

// Where the handle comes to be: once for all that use it.
static Value look_up(Guards *g, Value handle, AbiLiveKind kind) {
    Validation *v = g->v;
    MslContext *cx = &v->cg->cx;
    for (size_t k = 0; k < g->n; k++)
        if (g->list[k]->handle == handle && g->list[k]->kind == kind) return g->list[k]->live;
    msl_position_behind(v, handle);
    Value args[3] = {msl_launch(v, NULL), handle, msl_const(cx, 32, kind)};
    Guarded *entry = msl_validate_alloc(v, 1, sizeof *entry);
    *entry = (Guarded){handle, msl_call(v, "ingot_live", msl_int(cx, 64), args, 3), kind};
    g->list = msl_validate_grow(v, g->list, g->n, &g->max);
    g->list[g->n++] = entry;
    return entry->live;
}

static void guard(Guards *g, Value call, unsigned operand, AbiLiveKind kind) {
    enum { MAX_DEPTH = 4 };
    Value handle = LLVMGetOperand(call, operand);
    if (is_harmless(g->v, handle, kind, MAX_DEPTH)) return;
    LLVMSetOperand(call, operand, look_up(g, handle, kind));
}

void msl_guard_handles(Validation *v) {
    Guards g = {.v = v};
    Value *calls = NULL; // looking up inserts more
    size_t n = 0, max = 0;
    for (Block b = LLVMGetFirstBasicBlock(v->cg->thread); b; b = LLVMGetNextBasicBlock(b))
        for (Value i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (!strstr(msl_callee(i), "__ingot_")) continue;
            calls = msl_validate_grow(v, calls, n, &max);
            calls[n++] = i;
        }
    for (size_t k = 0; k < n; k++) {
        const char *name = strstr(msl_callee(calls[k]), "__ingot_");
        if (msl_starts(name, "__ingot_texture_")) {
            guard(&g, calls[k], 0, ABI_LIVE_TEXTURE);
            if (msl_starts(name, "__ingot_texture_sample"))
                guard(&g, calls[k], 1, ABI_LIVE_SAMPLER);
        } else if (msl_starts(name, "__ingot_handle_word")) {
            guard(&g, calls[k], 0, ABI_LIVE_TENSOR);
        } else if (msl_starts(name, "__ingot_rays_")) {
            guard(&g, calls[k], 0, ABI_LIVE_ACCELERATION);
        }
    }
}

// The handle as the program had it: NULL if it was not looked up.
Value msl_guarded_handle(Value live) {
    return LLVMIsACallInst(live) && msl_starts(msl_callee(live), "ingot_live")
               ? LLVMGetOperand(live, 1)
               : NULL;
}
