// SPDX-License-Identifier: Apache-2.0
// plan.c: which versions of a kernel are made, and of how many threads their steps are.
//   purpose   everything is decided before anything is emitted: by the shape, by what the kernel
//             looks at, and by what one SIMD-group of it would need of the machine, as the analysis
//             of its thread function tells (passes/demand.c)
//   requires  cg->thread optimised and surveyed
#include "compiler/codegen/plan.h"
#include "compiler/codegen/wrap.h"
#include <llvm-c/DebugInfo.h>
#include <string.h>

// Where a loop carries more than the registers hold, a step of a part of a SIMD-group spills less
// (512 x 512 product, 4 x 4 results a thread: AVX-512 1.1x with 16 lanes; AVX2 1.6x with 8, where
// the sums alone take all registers, 3.7x with 4). 32 lanes else.
static unsigned narrow_step(const MslContext *cx, const MslDemand *c, uint32_t n_threads) {
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
static unsigned filter_step(const MslContext *cx) {
    return MSL_FILTER_ROWS * (cx->avx512 ? cx->width : cx->width / 2);
}

static bool is_filter(const Cg *cg, const MslDemand *c) {
    enum { LEAST = 16, MOST = 64 }; // loads of a thread: 3x3 is too few, 5x5 enough
    const MslContext *cx = &cg->cx;
    return (cx->avx512 || cx->avx2) && c->clamps && !c->calls && !cg->request->validate &&
           c->loads >= LEAST && c->loads <= MOST && has_rows(cg, MSL_FILTER_ROWS);
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
static unsigned choose_step(const Cg *cg, MslDemand c, uint32_t n_threads) {
    enum { MAX_CARRIED = 16, MAX_CARRIED_DIVERGENT = 24, MAX_CARRIED_AVX2 = 4 }; // of 64 bytes
    enum { MAX_INSTRUCTIONS = 6000, MAX_PARTS = 8 };
    const MslContext *cx = &cg->cx;
    if (c.refuses) return cx->width;
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
    if (step == filter_step(cx) && has_rows(cg, MSL_FILTER_ROWS)) return MSL_FILTER_ROWS;
    return !cx->avx512 && step == 2 * cx->width && has_rows(cg, ROWS) ? ROWS : 1;
}

// Whether a step may be anything but one SIMD-group.
static bool may_choose(const Cg *cg) {
    const MslContext *cx = &cg->cx;
    return (cx->avx512 || cx->avx2 || cx->aarch64) && !cg->uses.simd && !cg->uses.log &&
           cx->width == ABI_SIMD_WIDTH && !cg->request->watch;
}

// What the version for whole steps is to be.
static void plan_full(Cg *cg, MslPlan *plan, uint32_t n_threads) {
    MslContext *cx = &cg->cx;
    bool optimised = cg->request->tier == TIER_OPTIMISED;
    MslVersion *v = &plan->full;
    *v = (MslVersion){.width = cx->width,
                      .parts = 1,
                      .full_shape = true,
                      .whole = optimised,
                      .split = optimised && !cg->request->validate,
                      .terse = !optimised,
                      .remarks = true};
    memcpy(v->shape, cx->shape, sizeof v->shape);
    if (!plan->shaped) v->shape[1] = v->shape[2] = 1; // lines: x runs with the lanes
    if (!plan->has_full || !plan->shaped || !may_choose(cg)) return;
    MslDemand demand = msl_measure_demand(cx, cg->thread, v);
    v->remarks = false; // made, of one SIMD-group
    plan->full_width = choose_step(cg, demand, n_threads);
    if (plan->full_width == cx->width) return;
    plan->full_rows = choose_rows(cg, plan->full_width);
    if (plan->full_rows > 1) {
        v->width = plan->full_width / plan->full_rows;
        v->apart = cx->shape[0];
    } else if (plan->full_width < cx->width) {
        v->width = plan->full_width;
    }
    v->parts = plan->full_width / v->width;
}

// What the version for some threads is to be: all, where there is none for whole steps. Code for
// all threads where clamps may do something serves some of them as well.
static void plan_some(Cg *cg, MslPlan *plan) {
    const MslContext *cx = &cg->cx;
    bool terse = cg->request->tier == TIER_BASELINE || plan->serves_edges;
    plan->shares_slow = plan->loose && !cg->uses.barrier && plan->full_width == cx->width;
    plan->some = (MslVersion){.width = cx->width,
                              .parts = 1,
                              .full_shape = plan->loose || plan->rows,
                              .terse = terse,
                              .one_copy = plan->has_full,
                              .remarks = !plan->has_full};
    memcpy(plan->some.shape, plan->rows ? plan->full.shape : cx->shape, sizeof plan->some.shape);
}

static void remark_step(Cg *cg, const MslPlan *plan) {
    unsigned line = cg->source ? LLVMDISubprogramGetLine(cg->source) : 0;
    const char *why = plan->full_width > cg->cx.width
                          ? "several SIMD-groups side by side share loads"
                      : cg->uses.simd ? "it uses SIMD-group functions"
                      : !plan->shaped ? "the threadgroup's size is not known"
                                      : "more would spill (register pressure)";
    msl_add_remark(&cg->cx, cg->source, line, 1, "step", "'%s' runs %u threads in a step: %s",
                   cg->fn->name, plan->full_width, why);
    if (plan->has_full ? plan->full_suspends : plan->suspends)
        msl_add_remark(&cg->cx, cg->source, line, 1, "barrier",
                       "'%s' is left and entered again at each barrier: a threadgroup is more than "
                       "one step",
                       cg->fn->name);
}

MslPlan msl_make_plan(Cg *cg) {
    const MslContext *cx = &cg->cx;
    const CgUses *uses = &cg->uses;
    bool baseline = cg->request->tier == TIER_BASELINE;
    // By SIMD-groups, as the program knows them.
    bool ordered = cg->request->watch & MSL_WATCH_ORDER;
    uint32_t n_threads = cx->shape[0] * cx->shape[1] * cx->shape[2];
    MslPlan plan = {.shaped = n_threads != 0, .full_width = cx->width, .full_rows = 1};
    plan.rows = !plan.shaped && !uses->group && !uses->barrier && !uses->packing && !ordered;
    plan.loose = plan.shaped && !uses->packing && !ordered;
    plan.stream_bytes = msl_nontemporal_bytes(cg);
    // Baseline code has one version: that for any threads runs them all.
    plan.has_full = plan.shaped ? n_threads >= cx->width : (plan.rows || !uses->plane) && !baseline;
    plan.serves_edges = plan.has_full && n_threads % cx->width == 0;
    plan_full(cg, &plan, n_threads);
    plan_some(cg, &plan);
    // One step that is the whole threadgroup has nobody to wait for.
    plan.suspends = uses->barrier && (!plan.shaped || n_threads > cx->width);
    plan.full_suspends =
        plan.suspends && plan.has_full && (!plan.shaped || n_threads > plan.full_width);
    remark_step(cg, &plan);
    return plan;
}
