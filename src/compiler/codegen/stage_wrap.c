// SPDX-License-Identifier: Apache-2.0
// stage_wrap.c: the thread function of a vertex or fragment function -> ingot_vertex or
// ingot_fragment (codegen/support/stage.c).
//   settle   fragment functions: a pixel that is discarded, or runs along only for the derivatives
//            of its neighbours, has no effects: `live` says which still count, stores to memory and
//            texture writes stand behind a branch on it, and at the end the lanes that are left are
//            the step's `kept`. After optimisation: what is left then are real memory accesses.
//   wrap     vectorise (one version, with a mask), link codegen/support/stage.c
// requires: cg->thread optimised and surveyed
#include "compiler/codegen/stage_int.h"
#include "compiler/codegen/wrap.h"
#include <stdlib.h>
#include <string.h>

#define KEEP "__ingot_keep"

static LLVMValueRef marker(Cg *cg, const char *name) {
    MslContext *cx = &cg->cx;
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(cx->llvm), NULL, 0, 0);
    LLVMValueRef f = LLVMGetNamedFunction(cx->module, name);
    if (f) return f;
    f = LLVMAddFunction(cx->module, name, type);
    static const char *const attributes[] = {"nounwind", "convergent", "noduplicate", "nomerge"};
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        msl_add_attribute(cx, f, LLVMAttributeFunctionIndex, attributes[i], 0);
    return f;
}

void msl_mark_stage_end(Cg *cg) {
    LLVMValueRef f = marker(cg, KEEP);
    LLVMBuildCall2(cg->cx.builder, LLVMGlobalGetValueType(f), f, NULL, 0, "");
}

// ---- effects ----

// Memory of the thread, or the rows of the step: `depth` bounds the walk through phis.
static bool is_own_memory(Cg *cg, LLVMValueRef p, int depth) {
    for (;;) {
        if (LLVMIsAAllocaInst(p) || p == msl_stage_step(cg)) return true;
        if (LLVMIsAGetElementPtrInst(p) || LLVMIsABitCastInst(p) || LLVMIsAAddrSpaceCastInst(p)) {
            p = LLVMGetOperand(p, 0);
            continue;
        }
        break;
    }
    if (depth > 4) return false;
    if (LLVMIsALoadInst(p)) { // a pointer that the step holds
        LLVMValueRef at = LLVMGetOperand(p, 0);
        LLVMValueRef last = LLVMIsAGetElementPtrInst(at) ? LLVMGetOperand(at, 1) : NULL;
        if (last && LLVMIsAConstantInt(last) && cg->fn->stage == RF_FRAGMENT &&
            LLVMConstIntGetZExtValue(last) == offsetof(CpuFragmentStep, threadgroup))
            return false; // memory of the tile
        while (LLVMIsAGetElementPtrInst(at)) at = LLVMGetOperand(at, 0);
        return at == msl_stage_step(cg);
    }
    if (LLVMIsASelectInst(p))
        return is_own_memory(cg, LLVMGetOperand(p, 1), depth + 1) &&
               is_own_memory(cg, LLVMGetOperand(p, 2), depth + 1);
    if (!LLVMIsAPHINode(p)) return false;
    for (unsigned i = 0; i < LLVMCountIncoming(p); i++)
        if (LLVMGetIncomingValue(p, i) != p &&
            !is_own_memory(cg, LLVMGetIncomingValue(p, i), depth + 1))
            return false;
    return true;
}

// Whether others could see that this instruction ran.
static bool has_effect(Cg *cg, LLVMValueRef i) {
    unsigned op;
    if (LLVMIsAStoreInst(i)) return !is_own_memory(cg, LLVMGetOperand(i, 1), 0);
    if (LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i))
        return !is_own_memory(cg, LLVMGetOperand(i, 0), 0);
    if (!LLVMIsACallInst(i)) return false;
    const char *name = msl_callee(i);
    if (msl_starts(name, "llvm.memcpy") || msl_starts(name, "llvm.memmove") ||
        msl_starts(name, "llvm.memset"))
        return !is_own_memory(cg, LLVMGetOperand(i, 0), 0);
    unsigned what = msl_texture_call(i, &op);
    return what == 'w' || what == 'a' || msl_starts(name, "__ingot_log") ||
           msl_starts(name, "ingot_report"); // of shader validation
}

typedef struct Found {
    LLVMValueRef *at;
    unsigned n, capacity;
} Found;

static void collect(Cg *cg, Found *found, LLVMValueRef i) {
    if (found->n == found->capacity) {
        unsigned capacity = found->capacity ? found->capacity * 2 : 64;
        LLVMValueRef *at = realloc(found->at, capacity * sizeof *at);
        if (!at) {
            free(found->at);
            msl_fail(&cg->cx, "out of memory");
        }
        found->at = at, found->capacity = capacity;
    }
    found->at[found->n++] = i;
}

static Found collect_if(Cg *cg, bool (*is)(Cg *, LLVMValueRef)) {
    Found found = {0};
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(cg->thread); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (is(cg, i)) collect(cg, &found, i);
    return found;
}

static bool is_discard(Cg *cg, LLVMValueRef i) {
    (void)cg;
    return strcmp(msl_callee(i), "__ingot_discard_fragment") == 0;
}
static bool is_question(Cg *cg, LLVMValueRef i) {
    (void)cg;
    return strcmp(msl_callee(i), "__ingot_is_helper") == 0;
}
static bool is_end(Cg *cg, LLVMValueRef i) {
    (void)cg;
    return strcmp(msl_callee(i), KEEP) == 0;
}

// ---- settling ----

static LLVMValueRef load_live(Cg *cg, LLVMValueRef live) {
    return LLVMBuildLoad2(cg->cx.builder, msl_int(&cg->cx, 1), live, "live");
}

// i1 in memory, true for covered lanes.
static LLVMValueRef begin_live(Cg *cg) {
    MslContext *cx = &cg->cx;
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(cg->thread);
    LLVMPositionBuilderBefore(cx->builder, LLVMGetFirstInstruction(entry));
    LLVMValueRef live = LLVMBuildAlloca(cx->builder, msl_int(cx, 1), "");
    LLVMValueRef covered =
        msl_stage_load(cg, msl_int(cx, 32), msl_stage_step(cg), offsetof(CpuFragmentStep, covered));
    LLVMValueRef lane = msl_call_position(cg, RF_THREAD_INDEX_IN_SIMDGROUP, 0);
    LLVMValueRef bit = LLVMBuildLShr(cx->builder, covered, lane, "");
    LLVMBuildStore(cx->builder, LLVMBuildTrunc(cx->builder, bit, msl_int(cx, 1), ""), live);
    return live;
}

// The instruction runs only where the pixel counts; elsewhere its result is 0.
static void guard(Cg *cg, LLVMValueRef i, LLVMValueRef live) {
    MslContext *cx = &cg->cx;
    LLVMBasicBlockRef before = LLVMGetInstructionParent(i), in = bridge_split_before(i);
    LLVMBasicBlockRef after = bridge_split_before(LLVMGetNextInstruction(i));
    LLVMPositionBuilderAtEnd(cx->builder, in);
    LLVMBuildBr(cx->builder, after);
    LLVMPositionBuilderAtEnd(cx->builder, before);
    LLVMBuildCondBr(cx->builder, load_live(cg, live), in, after);
    LLVMTypeRef type = LLVMTypeOf(i);
    if (LLVMGetTypeKind(type) == LLVMVoidTypeKind || !LLVMGetFirstUse(i)) return;
    LLVMValueRef first = LLVMGetFirstInstruction(after);
    LLVMPositionBuilderBefore(cx->builder, first);
    LLVMValueRef phi = LLVMBuildPhi(cx->builder, type, "");
    LLVMReplaceAllUsesWith(i, phi);
    LLVMAddIncoming(phi, (LLVMValueRef[]){LLVMConstNull(type), i},
                    (LLVMBasicBlockRef[]){before, in}, 2);
}

// A vote of the lanes that are there.
static LLVMValueRef call_vote(Cg *cg, const char *name, LLVMTypeRef result, LLVMValueRef on) {
    MslContext *cx = &cg->cx;
    LLVMTypeRef i1 = msl_int(cx, 1), type = LLVMFunctionType(result, &i1, 1, 0);
    LLVMValueRef f = LLVMGetNamedFunction(cx->module, name);
    if (!f) {
        f = LLVMAddFunction(cx->module, name, type);
        msl_add_attribute(cx, f, LLVMAttributeFunctionIndex, "convergent", 0);
        msl_add_attribute(cx, f, LLVMAttributeFunctionIndex, "nounwind", 0);
    }
    return LLVMBuildCall2(cx->builder, type, f, &on, 1, "");
}

static void store_kept(Cg *cg, LLVMValueRef end, LLVMValueRef live) {
    MslContext *cx = &cg->cx;
    LLVMPositionBuilderBefore(cx->builder, end);
    LLVMValueRef bits = call_vote(cg, "__ingot_simd_ballot", msl_int(cx, 64), load_live(cg, live));
    LLVMValueRef at = msl_stage_offset(cg, msl_stage_step(cg), offsetof(CpuFragmentStep, kept));
    LLVMSetAlignment(
        LLVMBuildStore(cx->builder, LLVMBuildTrunc(cx->builder, bits, msl_int(cx, 32), ""), at), 4);
}

// Roughly the work from a block to the end of the function, each block once.
static unsigned work_from(LLVMBasicBlockRef b, Found *seen, Cg *cg) {
    enum { TEXTURE = 40 };
    unsigned n = 0, op;
    for (unsigned i = 0; i < seen->n; i++)
        if (seen->at[i] == LLVMBasicBlockAsValue(b)) return 0;
    collect(cg, seen, LLVMBasicBlockAsValue(b));
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
        n += msl_texture_call(i, &op) ? TEXTURE : 1;
    LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
    for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++)
        n += work_from(LLVMGetSuccessor(end, s), seen, cg);
    return n;
}

static bool contains(const Found *list, LLVMBasicBlockRef b) {
    for (unsigned i = 0; i < list->n; i++)
        if (list->at[i] == LLVMBasicBlockAsValue(b)) return true;
    return false;
}

// All lanes come by here, once and together: every way through the function leads through the
// block, and none leads back to it.
static bool all_meet_at(Cg *cg, LLVMBasicBlockRef b, LLVMBasicBlockRef last) {
    Found around = {0}, after = {0};
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(cg->thread);
    collect(cg, &around, LLVMBasicBlockAsValue(b)); // not through b
    work_from(entry, &around, cg);
    bool met = b == entry || b == last || !contains(&around, last);
    LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
    for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++)
        work_from(LLVMGetSuccessor(end, s), &after, cg);
    met = met && !contains(&after, b);
    free(around.at);
    free(after.at);
    return met;
}

// Where the ways of all pixels meet after a discard and none counts any more, the rest of the
// function is left out if there is much of it. `end`: the only end.
static void leave_early(Cg *cg, const Found *discards, LLVMValueRef end, LLVMValueRef live) {
    enum { MUCH = 80 };
    MslContext *cx = &cg->cx;
    LLVMTypeRef i1 = msl_int(cx, 1);
    Found joins = {0};
    for (unsigned i = 0; i < discards->n; i++) {
        LLVMValueRef branch =
            LLVMGetBasicBlockTerminator(LLVMGetInstructionParent(discards->at[i]));
        if (LLVMGetNumSuccessors(branch) != 1) continue;
        LLVMBasicBlockRef b = LLVMGetSuccessor(branch, 0);
        LLVMValueRef first = LLVMGetFirstInstruction(b);
        while (LLVMIsAPHINode(first)) first = LLVMGetNextInstruction(first);
        bool known = first == end;
        for (unsigned k = 0; k < joins.n; k++) known |= joins.at[k] == first;
        Found seen = {0};
        if (!known && work_from(b, &seen, cg) >= MUCH &&
            all_meet_at(cg, b, LLVMGetInstructionParent(end)))
            collect(cg, &joins, first);
        free(seen.at);
    }
    if (joins.n) {
        LLVMBasicBlockRef before = LLVMGetInstructionParent(end), last = bridge_split_before(end);
        LLVMPositionBuilderAtEnd(cx->builder, before);
        LLVMBuildBr(cx->builder, last);
        for (unsigned i = 0; i < joins.n; i++) {
            LLVMBasicBlockRef join = LLVMGetInstructionParent(joins.at[i]);
            LLVMBasicBlockRef rest = bridge_split_before(joins.at[i]);
            LLVMPositionBuilderAtEnd(cx->builder, join);
            LLVMValueRef any = call_vote(cg, "__ingot_simd_any", i1, load_live(cg, live));
            LLVMBuildCondBr(cx->builder, any, rest, last);
        }
    }
    free(joins.at);
}

static bool is_sample_query(Cg *cg, LLVMValueRef i) {
    (void)cg;
    const char *name = msl_callee(i);
    return !strcmp(name, "__ingot_num_samples") || !strcmp(name, "__ingot_sample_position");
}

// get_num_samples() and get_sample_position(): loads from the step; the middle where there is no
// such sample.
static void lower_sample_query(Cg *cg, LLVMValueRef call) {
    MslContext *cx = &cg->cx;
    bool is_count = !strcmp(msl_callee(call), "__ingot_num_samples");
    LLVMValueRef step = msl_stage_step(cg), value;
    LLVMBasicBlockRef before = NULL, in = NULL, after = NULL;
    if (!is_count) { // split first: the loads stand where the call stood
        before = LLVMGetInstructionParent(call);
        in = bridge_split_before(call);
        after = bridge_split_before(call);
    }
    LLVMPositionBuilderAtEnd(cx->builder, before ? before : LLVMGetInstructionParent(call));
    if (is_count) LLVMPositionBuilderBefore(cx->builder, call);
    bool is_fragment = cg->fn->stage == RF_FRAGMENT;
    LLVMValueRef n = is_fragment ? msl_stage_load(cg, msl_int(cx, 32), step,
                                                  offsetof(CpuFragmentStep, n_samples))
                                 : msl_const(cx, 32, 0);
    if (is_count) {
        LLVMValueRef none = LLVMBuildICmp(cx->builder, LLVMIntEQ, n, msl_const(cx, 32, 0), "");
        value = LLVMBuildSelect(cx->builder, none, msl_const(cx, 32, 1), n, "");
    } else {
        LLVMValueRef index = LLVMGetOperand(call, 0), dim = LLVMGetOperand(call, 1);
        LLVMBuildCondBr(cx->builder, LLVMBuildICmp(cx->builder, LLVMIntULT, index, n, ""), in,
                        after);
        LLVMPositionBuilderAtEnd(cx->builder, in);
        LLVMValueRef positions =
            msl_stage_load(cg, msl_ptr(cx), step, offsetof(CpuFragmentStep, sample_positions));
        LLVMValueRef at = LLVMBuildAdd(
            cx->builder, LLVMBuildShl(cx->builder, index, msl_const(cx, 32, 1), ""), dim, "");
        at = LLVMBuildZExt(cx->builder, at, msl_int(cx, 64), "");
        LLVMTypeRef f32 = msl_float(cx);
        LLVMValueRef p = LLVMBuildGEP2(cx->builder, f32, positions, &at, 1, "");
        LLVMValueRef found = LLVMBuildLoad2(cx->builder, f32, p, "");
        LLVMSetAlignment(found, 4);
        LLVMBuildBr(cx->builder, after);
        LLVMPositionBuilderBefore(cx->builder, LLVMGetFirstInstruction(after));
        value = LLVMBuildPhi(cx->builder, f32, "");
        LLVMAddIncoming(value, (LLVMValueRef[]){LLVMConstReal(f32, 0.5), found},
                        (LLVMBasicBlockRef[]){before, in}, 2);
    }
    LLVMReplaceAllUsesWith(call, value);
    LLVMInstructionEraseFromParent(call);
}

// Note what only optimised code tells: whether it discards, has effects, looks at its quad.
static void note_flags(Cg *cg, bool discards, bool effects) {
    if (discards) cg->stage.flags |= ABI_STAGE_DISCARD;
    if (effects) cg->stage.flags |= ABI_STAGE_EFFECTS;
    if (cg->uses.simd || cg->uses.quads) cg->stage.flags |= ABI_STAGE_QUADS;
}

void msl_settle_stage(Cg *cg) {
    MslContext *cx = &cg->cx;
    if (cg->uses.barrier)
        msl_fail(cx, "'%s': threadgroup_barrier is for kernel functions", cg->fn->name);
    if (cg->threadgroup_bytes)
        msl_fail(cx, "'%s': threadgroup memory is for kernel functions", cg->fn->name);
    Found queries = collect_if(cg, is_sample_query);
    for (unsigned i = 0; i < queries.n; i++) lower_sample_query(cg, queries.at[i]);
    if (queries.n) cg->stage.flags |= ABI_STAGE_READS_POSITIONS;
    free(queries.at);
    Found ends = collect_if(cg, is_end), discards = collect_if(cg, is_discard);
    Found effects = collect_if(cg, has_effect), questions = collect_if(cg, is_question);
    bool is_fragment = cg->fn->stage == RF_FRAGMENT;
    unsigned n_real = 0; // reports change nothing that a program sees
    for (unsigned i = 0; i < effects.n; i++)
        n_real += !msl_starts(msl_callee(effects.at[i]), "ingot_report");
    note_flags(cg, discards.n > 0, n_real > 0);
    if (is_fragment && (discards.n || effects.n || questions.n)) {
        LLVMValueRef live = begin_live(cg);
        for (unsigned i = 0; i < effects.n; i++) guard(cg, effects.at[i], live);
        for (unsigned i = 0; i < discards.n; i++) {
            LLVMPositionBuilderBefore(cx->builder, discards.at[i]);
            LLVMBuildStore(cx->builder, msl_const(cx, 1, 0), live);
        }
        for (unsigned i = 0; i < questions.n; i++) {
            LLVMPositionBuilderBefore(cx->builder, questions.at[i]);
            LLVMReplaceAllUsesWith(questions.at[i],
                                   LLVMBuildNot(cx->builder, load_live(cg, live), ""));
        }
        if (ends.n == 1) leave_early(cg, &discards, ends.at[0], live);
        for (unsigned i = 0; discards.n && i < ends.n; i++) store_kept(cg, ends.at[i], live);
        cg->uses.simd |= discards.n > 0; // kept is a ballot
    } else {
        for (unsigned i = 0; i < questions.n; i++)
            LLVMReplaceAllUsesWith(questions.at[i], msl_const(cx, 1, 0));
    }
    Found *all[] = {&ends, &discards, &questions};
    for (unsigned k = 0; k < 3; k++)
        for (unsigned i = 0; i < all[k]->n; i++) LLVMInstructionEraseFromParent(all[k]->at[i]);
    free(ends.at);
    free(discards.at);
    free(effects.at);
    free(questions.at);
    if (!msl_is_debugged(cg))
        msl_run_passes(cx, cg->thread, "sroa,early-cse<memssa>,simplifycfg," INSTCOMBINE ",adce");
}

// ---- wrapping ----

// ingot_step(launch, step, mask): the vectorised function with the slots of the launch.
static void define_step(Cg *cg, LLVMValueRef simd) {
    MslContext *cx = &cg->cx;
    LLVMValueRef args[300], f = msl_define(cg, "ingot_step", "stage.c", args);
    unsigned n = cg->fn->n_slots;
    args[n++] = LLVMGetParam(f, 1);
    args[n++] = LLVMGetParam(f, 0);
    for (unsigned i = 0; i < 7; i++) // group 0, 0, 0 of 32 x 1 x 1 threads, from the first on
        args[n++] = msl_const(cx, 32, i == 3 ? CPU_STAGE_LANES : i == 4 || i == 5);
    args[n] =
        LLVMBuildBitCast(cx->builder, LLVMGetParam(f, 2), LLVMTypeOf(LLVMGetParam(simd, n)), "");
    n++;
    LLVMBuildCall2(cx->builder, LLVMGlobalGetValueType(simd), simd, args, n, "");
    LLVMBuildRetVoid(cx->builder);
}

void msl_wrap_stage(Cg *cg) {
    MslContext *cx = &cg->cx;
    bool is_vertex = cg->fn->stage == RF_VERTEX;
    msl_redirect_logs(cg);
    cx->covered_offset = is_vertex ? 0 : offsetof(CpuFragmentStep, covered);
    cx->rows = true;
    MslVersion all = {.width = cx->width,
                      .parts = 1,
                      .shape = {CPU_STAGE_LANES, 1, 1},
                      .full_shape = true,
                      .terse = cg->request->tier == TIER_BASELINE,
                      .remarks = true};
    LLVMValueRef simd = msl_vectorise(cx, cg->thread, &all, NULL);
    memset(cx->shape, 0, sizeof cx->shape);
    msl_copy_slot_attributes(cg, simd);
    LLVMDeleteFunction(cg->thread);
    cg->thread = NULL;
    msl_dump(cx, "vectorise");
    msl_verify_ours(cx, "vectorise");
    msl_link_device_code(cg, MSL_DEVICE_STAGE);
    define_step(cg, simd);
}

// ---- ingot_stage_info ----

static void describe_value(const RfFunction *f, const RfValue *v, AbiStageInfo *info) {
    bool out = v->param == UINT32_MAX;
    switch (v->role) {
    case RF_VALUE:
        for (uint32_t k = 0; !out && k < v->n && v->row + k < ABI_MAX_VARYINGS; k++)
            info->inputs[v->row + k] = v->interpolation;
        break;
    case RF_POSITION: info->flags |= out ? ABI_STAGE_POSITION : 0; break;
    case RF_POINT_SIZE: info->flags |= out ? ABI_STAGE_POINT_SIZE : 0; break;
    case RF_LAYER: info->flags |= out ? ABI_STAGE_LAYER : 0; break;
    case RF_VIEWPORT: info->flags |= out ? ABI_STAGE_VIEWPORT : 0; break;
    case RF_CLIP_DISTANCE: info->n_clip = out ? v->n : info->n_clip; break;
    case RF_COLOR:
        if (out)
            info->colors |= 1u << (v->source ? ABI_MAX_COLORS : v->index);
        else
            info->colors_in |= 1u << v->index;
        break;
    case RF_DEPTH:
        info->flags |= ABI_STAGE_DEPTH | (v->qualifier == 1 ? ABI_STAGE_DEPTH_GREATER : 0) |
                       (v->qualifier == 2 ? ABI_STAGE_DEPTH_LESS : 0);
        break;
    case RF_STENCIL: info->flags |= ABI_STAGE_STENCIL; break;
    case RF_SAMPLE_MASK:
        info->flags |= out ? ABI_STAGE_SAMPLE_MASK : ABI_STAGE_READS_COVERAGE;
        break;
    case RF_POINT_COORD: info->flags |= ABI_STAGE_READS_POINT_COORD; break;
    case RF_PRIMITIVE_ID: info->flags |= ABI_STAGE_READS_PRIMITIVE_ID; break;
    case RF_BARYCENTRIC: info->flags |= ABI_STAGE_READS_BARYCENTRIC; break;
    case RF_IMAGEBLOCK:
        info->flags |= out ? ABI_STAGE_IMAGEBLOCK_OUT : ABI_STAGE_IMAGEBLOCK_IN;
        if (out && v->source) info->flags |= ABI_STAGE_IMAGEBLOCK_IN; // what the view leaves
        if (out) info->imageblock_words = ((v->source ? f->imageblock_bytes : v->stride) + 3) / 4;
        break;
    case RF_SAMPLE_ID: info->flags |= ABI_STAGE_PER_SAMPLE; break;
    default: break;
    }
    bool interpolated = !out && f->stage == RF_FRAGMENT && v->interpolation != ABI_FLAT &&
                        (v->role == RF_VALUE || v->role == RF_BARYCENTRIC);
    if (v->pull) info->flags |= ABI_STAGE_READS_CENTROID;
    if (interpolated && v->place == ABI_AT_SAMPLE) info->flags |= ABI_STAGE_PER_SAMPLE;
    if (interpolated && v->place == ABI_AT_CENTROID) info->flags |= ABI_STAGE_READS_CENTROID;
}

void msl_finish_stage_info(Cg *cg) {
    MslContext *cx = &cg->cx;
    const RfFunction *f = cg->fn;
    AbiStageInfo info = {.stage = f->stage,
                         .flags = cg->stage.flags | (f->early_tests ? ABI_STAGE_EARLY_TESTS : 0),
                         .n_inputs = f->input_rows,
                         .n_outputs = f->output_rows,
                         .n_vertex_buffers = cg->stage.n_vertex_buffers};
    memcpy(info.vertex_buffers, cg->stage.vertex_buffers, sizeof cg->stage.vertex_buffers);
    for (uint32_t i = 0; i < f->n_inputs; i++)
        if (msl_condition_holds(cg, f->inputs[i].condition))
            describe_value(f, &f->inputs[i], &info);
    for (uint32_t i = 0; i < f->n_outputs; i++)
        if (msl_condition_holds(cg, f->outputs[i].condition))
            describe_value(f, &f->outputs[i], &info);
    for (uint32_t r = 0; f->stage == RF_FRAGMENT && r < ABI_MAX_VARYINGS; r++)
        if (msl_is_of_primitive(cg, r)) info.inputs[r] = ABI_FLAT;
    LLVMValueRef bytes = LLVMConstStringInContext2(cx->llvm, (const char *)&info, sizeof info, 1);
    LLVMValueRef g = LLVMAddGlobal(cx->module, LLVMTypeOf(bytes), CPU_STAGE_INFO_SYMBOL);
    LLVMSetInitializer(g, bytes);
    LLVMSetGlobalConstant(g, 1);
    LLVMSetAlignment(g, 8);
}
