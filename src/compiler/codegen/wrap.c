// SPDX-License-Identifier: Apache-2.0
// wrap.c: vectorised versions of the thread function -> ingot_kernel (codegen/support/group.c).
//   purpose   define what group.c leaves open: ingot_full and ingot_some (or, for kernels with
//             barriers, the coroutines ingot_full_start and ingot_some_start) and its constants
//   requires  cg->thread optimised and surveyed
// Slots are read from the launch in each version; the loads are marked invariant, so that LLVM
// hoists them out of the group loop although the kernel's own stores might alias them as far as it
// knows.
#include "compiler/codegen/codegen.h"
#include "abi/cpu_kernel.h"
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(offsetof(CpuLaunch, args) == 0, "slots are read from the launch's first word");

void msl_load_slots(Cg *cg, LLVMValueRef launch, LLVMValueRef *out) {
    MslContext *cx = &cg->cx;
    unsigned invariant = LLVMGetMDKindIDInContext(cx->llvm, "invariant.load", 14);
    LLVMValueRef empty = LLVMMetadataAsValue(cx->llvm, LLVMMDNodeInContext2(cx->llvm, NULL, 0));
    if (!cg->fn->n_slots) return;
    LLVMValueRef args = LLVMBuildLoad2(cx->builder, msl_ptr(cx), launch, "args");
    LLVMSetMetadata(args, invariant, empty);
    for (unsigned i = 0; i < cg->fn->n_slots; i++) {
        LLVMValueRef at = msl_const(cx, 64, i);
        out[i] =
            LLVMBuildLoad2(cx->builder, msl_ptr(cx),
                           LLVMBuildInBoundsGEP2(cx->builder, msl_ptr(cx), args, &at, 1, ""), "");
        LLVMSetMetadata(out[i], invariant, empty);
    }
}

// If the kind of loop asks for it.
static void set_constant(Cg *cg, const char *name, LLVMValueRef value) {
    LLVMValueRef g = LLVMGetNamedGlobal(cg->cx.module, name);
    if (!g) return;
    LLVMSetInitializer(g, value);
    LLVMSetGlobalConstant(g, 1);
    LLVMSetLinkage(g, LLVMInternalLinkage);
}

void msl_copy_slot_attributes(Cg *cg, LLVMValueRef to) {
    static const char *const names[] = {"noalias", "readonly", "dereferenceable", "align"};
    for (unsigned p = 1; p <= cg->fn->n_slots + 1; p++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            unsigned kind = LLVMGetEnumAttributeKindForName(names[i], strlen(names[i]));
            LLVMAttributeRef a = LLVMGetEnumAttributeAtIndex(cg->thread, p, kind);
            if (a) LLVMAddAttributeAtIndex(to, p, a);
        }
}

LLVMValueRef msl_define(Cg *cg, const char *name, const char *file, LLVMValueRef *args) {
    MslContext *cx = &cg->cx;
    LLVMValueRef f = LLVMGetNamedFunction(cx->module, name);
    if (!f) msl_fail(cx, "internal error: %s has no '%s'", file, name);
    LLVMSetLinkage(f, LLVMInternalLinkage);
    LLVMPositionBuilderAtEnd(cx->builder, LLVMAppendBasicBlockInContext(cx->llvm, f, "entry"));
    msl_load_slots(cg, LLVMGetParam(f, 0), args);
    return f;
}

// Gives a function that group.c declares its body: a call of `simd` with the slots of the launch.
//   (launch, memory, gx, gy, gz, sx, sy, sz, first[, mask][, frame or large])
static LLVMValueRef define_version(Cg *cg, const char *name, LLVMValueRef simd, bool has_mask) {
    MslContext *cx = &cg->cx;
    LLVMValueRef args[300], f = msl_define(cg, name, "group.c", args);
    unsigned n = cg->fn->n_slots;
    args[n++] = LLVMGetParam(f, 1);
    args[n++] = LLVMGetParam(f, 0);
    for (unsigned i = 2; i < 9; i++) args[n++] = LLVMGetParam(f, i);
    LLVMTypeRef lanes = LLVMTypeOf(LLVMGetParam(simd, n));
    if (has_mask) {
        LLVMValueRef bits =
            LLVMBuildIntCast2(cx->builder, LLVMGetParam(f, 9), msl_int(cx, cx->width), 0, "");
        args[n++] = LLVMBuildBitCast(cx->builder, bits, lanes, "");
    } else {
        args[n++] = LLVMConstAllOnes(lanes);
    }
    LLVMBuildCall2(cx->builder, LLVMGlobalGetValueType(simd), simd, args, n, "");
    LLVMBuildRetVoid(cx->builder);
    return f;
}

static void erase_barriers(Cg *cg, LLVMValueRef f) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (!msl_starts(msl_callee(i), "__ingot_threadgroup_barrier")) continue;
            // The compiler must still not move memory accesses across it.
            LLVMPositionBuilderBefore(cg->cx.builder, i);
            LLVMBuildFence(cg->cx.builder, LLVMAtomicOrderingSequentiallyConsistent, 1, "");
            LLVMInstructionEraseFromParent(i);
        }
}

// __ingot_log(...) becomes ingot_log(launch, ...) of group.c. The vectoriser does not know it, so
// it makes one call for each active thread, and keeps the arguments' memory in one piece per
// thread.
void msl_redirect_logs(Cg *cg) {
    MslContext *cx = &cg->cx;
    enum { MAX_ARGS = 6 };
    LLVMValueRef log = LLVMGetNamedFunction(cx->module, "__ingot_log"), to = NULL, launch = NULL;
    for (LLVMUseRef use; log && (use = LLVMGetFirstUse(log));) {
        LLVMValueRef call = LLVMGetUser(use), args[MAX_ARGS];
        LLVMTypeRef types[MAX_ARGS], launch_type = LLVMFunctionType(msl_ptr(cx), NULL, 0, 0);
        unsigned n = LLVMGetNumArgOperands(call);
        if (n + 1 > MAX_ARGS) msl_fail(cx, "internal error: __ingot_log with %u arguments", n);
        LLVMPositionBuilderBefore(cx->builder, call);
        if (!launch) launch = LLVMGetNamedFunction(cx->module, "__ingot_launch");
        if (!launch) launch = LLVMAddFunction(cx->module, "__ingot_launch", launch_type);
        args[0] = LLVMBuildCall2(cx->builder, launch_type, launch, NULL, 0, "");
        for (unsigned i = 0; i < n; i++) args[i + 1] = LLVMGetOperand(call, i);
        for (unsigned i = 0; i <= n; i++) types[i] = LLVMTypeOf(args[i]);
        LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(cx->llvm), types, n + 1, 0);
        if (!to) to = LLVMAddFunction(cx->module, "ingot_log", type);
        LLVMBuildCall2(cx->builder, type, to, args, n + 1, "");
        LLVMInstructionEraseFromParent(call);
    }
}

// What decides how many SIMD-groups run side by side.
typedef struct Carried {
    unsigned registers; // that the loop with the most vectors carries between iterations
    unsigned instructions;
    bool divergent; // lanes leave a loop at different times
    bool refuse;    // private arrays, atomics
    bool calls;     // textures: a call for all lanes of a step
} Carried;

// Blocks stand in the order of the source: an edge from a block to itself or backwards is a loop's.
bool msl_is_header(LLVMBasicBlockRef b) {
    LLVMValueRef phi = LLVMGetFirstInstruction(b);
    for (LLVMBasicBlockRef at = b; at && LLVMIsAPHINode(phi); at = LLVMGetNextBasicBlock(at))
        for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
            if (LLVMGetIncomingBlock(phi, i) == at) return true;
    return false;
}

// What only runs when validation has found something.
static bool is_slow_path(LLVMBasicBlockRef b) {
    if (msl_starts(LLVMGetBasicBlockName(b), "again")) return true; // passes/emit_check.c
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
        if (msl_starts(msl_callee(i), "ingot_slow") || msl_starts(msl_callee(i), "ingot_report"))
            return true;
    return false;
}

// Memory that calls for each lane, or of textures, take and give: no array of the program.
static bool is_for_calls(LLVMValueRef alloca) {
    size_t n;
    const char *name = LLVMGetValueName2(alloca, &n);
    return msl_starts(name, "texture") || msl_starts(name, "lanes.slot");
}

// Searches among what lives: once a step, or once a lane, and nothing that a step carries.
static bool is_search(LLVMValueRef call) {
    return msl_starts(msl_callee(call), "ingot_live") || msl_starts(msl_callee(call), "ingot_span");
}

// `f` and the versions it chooses between (clamped indices).
static void look_at(const Cg *cg, LLVMValueRef f, Carried *c) {
    const MslContext *cx = &cg->cx;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
        if (is_slow_path(b)) continue;
        bool header = msl_is_header(b);
        unsigned registers = 0;
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            LLVMTypeRef type = LLVMTypeOf(i);
            LLVMValueRef callee =
                LLVMIsACallInst(i) ? LLVMIsAFunction(LLVMGetCalledValue(i)) : NULL;
            c->instructions++;
            if (callee && !LLVMIsDeclaration(callee) && !is_search(i)) look_at(cg, callee, c);
            if (LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i)) c->refuse = true;
            if (LLVMIsAAllocaInst(i)) *(is_for_calls(i) ? &c->calls : &c->refuse) = true;
            if (!header || !LLVMIsAPHINode(i) || LLVMGetTypeKind(type) != LLVMVectorTypeKind)
                continue;
            if (LLVMGetElementType(type) == msl_int(cx, 1)) c->divergent = true;
            registers += (unsigned)((LLVMABISizeOfType(cx->layout, type) + 63) / 64);
        }
        if (registers > c->registers) c->registers = registers;
    }
}

// Where a loop carries more than the registers hold, a step of a part of a SIMD-group spills less
// (512 x 512 product, 4 x 4 results a thread: AVX-512 1.1x with 16 lanes; AVX2 1.6x with 8, where
// the sums alone take all registers, 3.7x with 4). 32 lanes else.
static unsigned narrow_step(const MslContext *cx, const Carried *c, uint32_t n_threads) {
    unsigned room = cx->avx512 ? 24 : 6, least = cx->avx512 ? 16 : 4, lanes = cx->width;
    for (unsigned held = c->registers; held > room && lanes > least; held /= 2) lanes /= 2;
    return c->calls || c->divergent || n_threads % lanes ? cx->width : lanes;
}

// Whether a step of so many rows, a piece of each, can be made of a threadgroup.
static bool has_rows(const Cg *cg, unsigned rows) {
    const MslContext *cx = &cg->cx;
    return !cg->uses.barrier && cx->shape[0] % cx->width == 0 && cx->shape[1] % rows == 0 &&
           msl_may_stand_apart(cg->thread);
}

// Filters: nothing is carried, and clamped indices have a fast copy, so that most of what rows
// above each other load is the same. Measured against four rows of 16 threads with AVX2, two of 32
// with AVX-512 (5x5 blur): 1.14x and 1.4x with eight. Small ones are slower so (3x3 Sobel: 0.8x).
enum { FILTER_ROWS = 8 };

static unsigned filter_step(const MslContext *cx) {
    return FILTER_ROWS * (cx->avx512 ? cx->width : cx->width / 2);
}

static bool is_filter(const Cg *cg, const Carried *c) {
    enum { LEAST = 1000, MOST = 3000 }; // instructions of one SIMD-group, both copies
    const MslContext *cx = &cg->cx;
    return (cx->avx512 || cx->avx2) && cx->slow && !c->calls && !cg->request->validate &&
           c->instructions >= LEAST && c->instructions <= MOST && has_rows(cg, FILTER_ROWS);
}

// How many threads one step of the full version runs: SIMD-groups side by side, or a part of one.
// Measured with AVX-512, 2026-11, against one:
//   a loop that carries few vectors waits for each result in turn; others fill that time and share
//   what they load in common (naive matrix multiply: 3.5x with four)
//   rows above each other share what they load (5x5 blur: 1.4x with four)
//   a whole threadgroup at once needs no coroutines (tree reduction: 1.9x, tiled multiply: 1.6x)
//   when lanes leave loops at different times, all wait for the last (mandelbrot: 1.1x with two,
//   0.6x with four)
// With AVX2, whose registers are half as many and half as long, two at most (naive matrix multiply:
// 1.9x, with four 1.0x; blur 1.2x; as four halves of rows: choose_rows), one where lanes leave
// loops at different times (mandelbrot: 0.9x with two), and a whole threadgroup only if it carries
// nothing (tree reduction 1.2x; tiled multiply 0.7x). NEON's registers hold as much as AVX2's: the
// same.
// `full` is the version for one SIMD-group.
static unsigned choose_step(const Cg *cg, LLVMValueRef full, uint32_t n_threads) {
    enum { MAX_CARRIED = 16, MAX_CARRIED_DIVERGENT = 24, MAX_CARRIED_AVX2 = 4 }; // of 64 bytes
    enum { MAX_INSTRUCTIONS = 6000, MAX_PARTS = 8 };
    const MslContext *cx = &cg->cx;
    Carried c = {0};
    if (!(cx->avx512 || cx->avx2 || cx->aarch64) || cg->uses.simd || cg->uses.log ||
        cx->width != ABI_SIMD_WIDTH || cg->request->watch)
        return cx->width;
    look_at(cg, full, &c);
    if (c.refuse) return cx->width;
    if (cg->request->validate) c.instructions /= 2; // checks and the other path
    unsigned whole = n_threads % cx->width == 0 ? n_threads / cx->width : 0;
    bool whole_fits = whole && whole <= MAX_PARTS && (whole & (whole - 1)) == 0;
    if (cg->uses.barrier && whole_fits && !c.divergent && c.registers <= (cx->avx512 ? 2 : 0) &&
        c.instructions * whole <= MAX_INSTRUCTIONS)
        return n_threads;
    bool shares_rows = c.registers == 0 && cx->shape[1] > 1 && !cg->uses.barrier;
    if (!c.registers && !shares_rows) return cx->width;
    if (shares_rows && is_filter(cg, &c)) return filter_step(cx);
    unsigned most = cx->avx512 ? c.divergent ? 2 : 4 : c.divergent ? 1 : 2;
    unsigned budget = c.divergent  ? MAX_CARRIED_DIVERGENT
                      : cx->avx512 ? MAX_CARRIED
                                   : MAX_CARRIED_AVX2;
    for (unsigned parts = most; parts > 1; parts /= 2)
        if (n_threads % (cx->width * parts) == 0 && c.registers * parts <= budget &&
            c.instructions * parts <= MAX_INSTRUCTIONS)
            return cx->width * parts;
    return cg->uses.barrier ? cx->width : narrow_step(cx, &c, n_threads);
}

// Of how many rows above each other a step of so many threads has pieces. Without AVX-512 two rows
// of 32 threads share less than four of 16, which fill as many registers (naive matrix multiply of
// 512: 1.16x; of groups of 64 x 4 threads 1.7x).
static unsigned choose_rows(const Cg *cg, unsigned step) {
    enum { ROWS = 4 };
    const MslContext *cx = &cg->cx;
    if (step == filter_step(cx) && has_rows(cg, FILTER_ROWS)) return FILTER_ROWS;
    return !cx->avx512 && step == 2 * cx->width && has_rows(cg, ROWS) ? ROWS : 1;
}

// How the group loop will run a kernel, and its versions.
typedef struct Plan {
    bool shaped; // the threadgroup's size is known
    bool rows;   // not known and of no interest: threads run row by row
    bool loose;  // cut threadgroups keep the arrangement of the shape
    bool suspends, full_suspends;
    unsigned full_width; // threads of a step of `full`
    unsigned full_rows;  // that they are pieces of, above each other; 1: one behind the other
    uint32_t stream_bytes;
    bool prebuilt;           // baseline code: the loop is an object that is linked to it
    LLVMValueRef full, some; // full: NULL if there is none
} Plan;

// Code for all threads where clamps may do something serves some of them as well.
static bool shares_slow(const Cg *cg, const Plan *plan) { return plan->loose && !cg->uses.barrier; }

// No thread of a whole threadgroup is left to the version for some.
static bool serves_edges(const Cg *cg, const Plan *plan) {
    const uint32_t *shape = cg->cx.shape;
    return plan->full && shape[0] * shape[1] * shape[2] % cg->cx.width == 0;
}

// The version for some threads. Threadgroups that the grid cuts off lie at its edge, where clamps
// do something: a fast copy for where they do not would be in vain. What the version for all
// threads falls back on at the edge may be the same code: once, with a mask.
static LLVMValueRef vectorise_some(Cg *cg, const Plan *plan, LLVMValueRef slow) {
    MslContext *cx = &cg->cx;
    if (slow && shares_slow(cg, plan)) {
        msl_keep_apart(cx, slow);
        msl_add_text_attribute(cx, slow, MSL_EDGES, "");
        return slow;
    }
    // Else it runs the rest of every threadgroup.
    cx->unversioned = plan->full != NULL;
    cx->terse |= serves_edges(cg, plan);
    LLVMValueRef some = msl_vectorise(cx, cg->thread, plan->loose || plan->rows);
    cx->unversioned = cx->terse = false;
    return some;
}

static void remark_step(Cg *cg, const Plan *plan) {
    unsigned line = cg->source ? LLVMDISubprogramGetLine(cg->source) : 0;
    const char *why = plan->full_width > cg->cx.width
                          ? "several SIMD-groups side by side share loads"
                      : cg->uses.simd ? "it uses SIMD-group functions"
                      : !plan->shaped ? "the threadgroup's size is not known"
                                      : "more would spill (register pressure)";
    msl_add_remark(&cg->cx, cg->source, line, 1, "step", "'%s' runs %u threads in a step: %s",
                   cg->fn->name, plan->full_width, why);
    if (plan->suspends && plan->full_width >= 1 && cg->uses.barrier)
        msl_add_remark(&cg->cx, cg->source, line, 1, "barrier",
                       "'%s' is left and entered again at each barrier: a threadgroup is more than "
                       "one step",
                       cg->fn->name);
}

static void vectorise_versions(Cg *cg, Plan *plan, uint32_t n_threads) {
    MslContext *cx = &cg->cx;
    // Baseline code has one version: that for any threads runs them all.
    bool has_full = plan->shaped
                        ? n_threads >= cx->width
                        : (plan->rows || !cg->uses.plane) && cg->request->tier == TIER_OPTIMISED;
    if (!plan->shaped) cx->shape[1] = cx->shape[2] = 1; // lines: x runs with the lanes
    plan->full_width = cx->width;
    plan->full_rows = 1;
    cx->local = true;
    cx->whole = cg->request->tier == TIER_OPTIMISED;
    cx->split = cx->whole && !cg->request->validate;
    if (has_full) plan->full = msl_vectorise(cx, cg->thread, true);
    char **remarks = cx->remarks;
    if (has_full) cx->remarks = NULL; // the other versions are for the edges
    LLVMValueRef slow = has_full ? cx->slow : NULL;
    if (has_full && plan->shaped) plan->full_width = choose_step(cg, plan->full, n_threads);
    if (plan->full_width != cx->width) {
        LLVMDeleteFunction(plan->full); // what it calls is internal, and goes as dead code
        unsigned width = cx->width;
        plan->full_rows = choose_rows(cg, plan->full_width);
        cg->filter = plan->full_rows == FILTER_ROWS;
        if (plan->full_rows > 1) {
            cx->width = plan->full_width / plan->full_rows;
            cx->apart = cx->shape[0];
        }
        if (plan->full_width < width) cx->width = plan->full_width;
        slow = NULL; // that of one SIMD-group, which is not there any more
        plan->full = msl_vectorise_step(cx, cg->thread, true, plan->full_width / cx->width);
        cx->width = width;
        cx->apart = 0;
    }
    cx->split = cx->whole = false;
    if (!plan->rows) memcpy(cx->shape, cg->request->shape, sizeof cx->shape);
    plan->some = vectorise_some(cg, plan, slow);
    cx->remarks = remarks;
    remark_step(cg, plan);
    memcpy(cx->shape, cg->request->shape, sizeof cx->shape);
    if (has_full) msl_copy_slot_attributes(cg, plan->full);
    msl_copy_slot_attributes(cg, plan->some);
    LLVMDeleteFunction(cg->thread);
    cg->thread = NULL;
    msl_dump(cx, "vectorise");
    msl_verify_ours(cx, "vectorise");
}

static void tell_loop(Cg *cg, const char *name, LLVMValueRef value) {
    LLVMValueRef g = LLVMAddGlobal(cg->cx.module, LLVMTypeOf(value), name);
    LLVMSetInitializer(g, value);
    LLVMSetGlobalConstant(g, 1);
    LLVMSetVisibility(g, LLVMHiddenVisibility);
}

// What the object of group.c asks of the code.
static void declare_for_loop(Cg *cg, const Plan *plan) {
    MslContext *cx = &cg->cx;
    LLVMTypeRef types[11] = {msl_ptr(cx), msl_ptr(cx)};
    for (int i = 2; i < 10; i++) types[i] = msl_int(cx, 32);
    types[10] = msl_ptr(cx);
    LLVMAddFunction(
        cx->module, plan->suspends ? MSL_SOME_START_SYMBOL : MSL_SOME_SYMBOL,
        LLVMFunctionType(LLVMVoidTypeInContext(cx->llvm), types, plan->suspends ? 11 : 10, 0));
    if (!plan->suspends) tell_loop(cg, "ingot_rows", msl_const(cx, 32, plan->rows));
}

static void link_group_loop(Cg *cg, const Plan *plan) {
    MslContext *cx = &cg->cx;
    if (plan->prebuilt) {
        declare_for_loop(cg, plan);
        return;
    }
    bool shuffled = cg->request->watch & MSL_WATCH_ORDER;
    msl_link_device_code(cg, shuffled         ? MSL_DEVICE_SHUFFLED
                             : plan->suspends ? MSL_DEVICE_WAITING
                             : plan->rows     ? MSL_DEVICE_ROWS
                                              : MSL_DEVICE_STEPS);
    LLVMValueRef shape[3];
    for (int d = 0; d < 3; d++) shape[d] = msl_const(cx, 32, cx->shape[d]);
    set_constant(cg, "ingot_shape", LLVMConstArray2(msl_int(cx, 32), shape, 3));
    const struct {
        const char *name;
        uint32_t value;
    } constants[] = {
        {"ingot_width", cx->width},
        {"ingot_full_width", plan->full_width},
        {"ingot_full_rows", plan->full_rows},
        {"ingot_has_full", plan->full != NULL},
        {"ingot_loose", plan->loose},
        {"ingot_suspends", plan->suspends},
        {"ingot_full_suspends", plan->full_suspends},
        {"ingot_stream_bytes", plan->stream_bytes},
    };
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        set_constant(cg, constants[i].name, msl_const(cx, 32, constants[i].value));
}

void msl_wrap(Cg *cg) {
    MslContext *cx = &cg->cx;
    uint32_t n_threads = cx->shape[0] * cx->shape[1] * cx->shape[2];
    const CgUses *uses = &cg->uses;
    Plan plan = {.shaped = n_threads != 0};
    bool ordered =
        cg->request->watch & MSL_WATCH_ORDER; // by SIMD-groups, as the program knows them
    plan.rows = !plan.shaped && !uses->group && !uses->barrier && !uses->packing && !ordered;
    plan.loose = plan.shaped && !uses->packing && !ordered;
    plan.stream_bytes = msl_nontemporal_bytes(cg);
    plan.prebuilt = cg->prebuilt_loop = cg->request->tier == TIER_BASELINE && !ordered &&
                                        !plan.shaped && cx->width == ABI_SIMD_WIDTH;
    msl_redirect_logs(cg);
    msl_vectorise_callees(cg);
    vectorise_versions(cg, &plan, n_threads);
    // One step that is the whole threadgroup has nobody to wait for.
    plan.suspends = uses->barrier && (!plan.shaped || n_threads > cx->width);
    plan.full_suspends =
        plan.suspends && plan.full && (!plan.shaped || n_threads > plan.full_width);
    link_group_loop(cg, &plan);
    // All exist before anything is inlined: LLVM deletes an internal function nobody calls.
    if (plan.full)
        plan.full = define_version(cg, plan.full_suspends ? "ingot_full_start" : "ingot_full",
                                   plan.full, false);
    plan.some = define_version(cg, plan.suspends ? MSL_SOME_START_SYMBOL : MSL_SOME_SYMBOL,
                               plan.some, true);
    if (plan.prebuilt) {
        LLVMSetLinkage(plan.some, LLVMExternalLinkage);
        LLVMSetVisibility(plan.some, LLVMHiddenVisibility);
    }
    if (plan.full) msl_add_text_attribute(cx, plan.some, MSL_EDGES, "");
    LLVMValueRef loop = LLVMGetNamedFunction(cx->module, "run_some"); // small ones are part of it
    if (loop && serves_edges(cg, &plan)) msl_add_text_attribute(cx, loop, MSL_EDGES, "");
    if (uses->barrier || plan.stream_bytes) msl_run_passes(cx, NULL, "always-inline");
    if (plan.stream_bytes && plan.full) {
        // Masked stores become plain ones.
        msl_run_passes(cx, plan.full, "sroa,early-cse," INSTCOMBINE ",simplifycfg");
        msl_store_nontemporal(cg, plan.full);
    }
    if (uses->barrier && plan.full && cg->request->tier == TIER_OPTIMISED && !cg->request->validate)
        msl_prefetch(cg, plan.full);
    if (uses->barrier && plan.full && !plan.full_suspends) erase_barriers(cg, plan.full);
    if (uses->barrier && !plan.suspends) erase_barriers(cg, plan.some);
    if (plan.suspends) {
        LLVMValueRef versions[2] = {plan.some, plan.full};
        msl_make_coroutines(cg, versions, plan.full_suspends ? 2 : 1);
        msl_split_coroutines(cg);
    }
    LLVMValueRef stride = msl_const(cx, 64, cg->frame_stride);
    if (!plan.prebuilt)
        set_constant(cg, "ingot_stride", stride);
    else if (plan.suspends)
        tell_loop(cg, "ingot_stride", stride);
}

void msl_finish_info(Cg *cg) {
    MslContext *cx = &cg->cx;
    bool lanes = cx->width == 1, graphics = msl_is_graphics(cg);
    uint32_t flags = (cg->uses.barrier ? CPU_KERNEL_BARRIER : 0) |
                     (cg->uses.simd ? CPU_KERNEL_SIMD : 0) | (lanes ? CPU_KERNEL_LANES : 0) |
                     (cg->uses.log ? CPU_KERNEL_LOG : 0) |
                     (cg->request->validate ? CPU_KERNEL_VALIDATE : 0) |
                     (LLVMGetNamedGlobal(cx->module, CPU_SITES_SYMBOL) ? CPU_KERNEL_WATCHED : 0);
    CpuKernelInfo info = {.abi = ABI_VERSION,
                          .flags = flags,
                          .width = cx->width,
                          .n_slots = cg->fn->n_slots + cg->n_vertex_buffers,
                          .shape = {cx->shape[0], cx->shape[1], cx->shape[2]},
                          .threadgroup_bytes = cg->threadgroup_bytes,
                          .frame_stride = lanes ? cg->frame_stride
                                                : cg->frame_stride * (ABI_SIMD_WIDTH / cx->width),
                          .stack_bytes = cg->private_bytes * (lanes ? 1 : cx->width)};
    LLVMValueRef bytes = LLVMConstStringInContext2(cx->llvm, (const char *)&info, sizeof info, 1);
    LLVMValueRef g = LLVMAddGlobal(cx->module, LLVMTypeOf(bytes), CPU_KERNEL_INFO_SYMBOL);
    LLVMSetInitializer(g, bytes);
    LLVMSetGlobalConstant(g, 1);
    LLVMSetAlignment(g, 8);
    if (graphics) msl_finish_stage_info(cg);
}
