// SPDX-License-Identifier: Apache-2.0
// backend.c: one kernel of a library -> a code object for a CPU, or PTX: the pipeline.
#include "compiler/codegen/gpu.h"
#include "compiler/codegen/wrap.h"
#include "abi/cpu_stage.h"
#include "compiler/group_loop.h"
#include "compiler/passes/map.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char *copy_text(const char *s) { return strdup(s); }

// IR text as the result, when the caller asked for it after this step.
static bool emit_ir(Cg *cg, const char *kind, MslKernel *out) {
    if (!cg->request->emit || strcmp(cg->request->emit, kind) != 0) return false;
    char *text = LLVMPrintModuleToString(cg->cx.module);
    out->code = (unsigned char *)copy_text(text);
    out->code_bytes = strlen(text);
    LLVMDisposeMessage(text);
    if (!out->code) msl_fail(&cg->cx, "out of memory");
    return true;
}

static void check_request(Cg *cg) {
    const MslKernelRequest *r = cg->request;
    MslContext *cx = &cg->cx;
    if (r->width != 0 && r->width != 1 && r->width != 8 && r->width != 16 && r->width != 32)
        msl_fail(cx, "a vector width of %u is not supported: 1, 8, 16 or 32", r->width);
    uint64_t threads = (uint64_t)r->shape[0] * r->shape[1] * r->shape[2];
    bool any = r->shape[0] || r->shape[1] || r->shape[2];
    if (any && (threads == 0 || threads > 1024 || r->shape[0] > 1024 || r->shape[1] > 1024 ||
                r->shape[2] > 1024))
        msl_fail(cx, "a threadgroup of %u x %u x %u threads is not possible", r->shape[0],
                 r->shape[1], r->shape[2]);
    bool gpu = msl_ptx_version(r->target) != NULL;
    if (r->debug == MSL_DEBUG_FULL && (r->width != 1 || gpu))
        msl_fail(cx, "code for debuggers runs thread by thread on a CPU: its width is 1");
    if (r->emit && strcmp(r->emit, "ll") && strcmp(r->emit, "scalar-ll") &&
        strcmp(r->emit, gpu ? "ptx" : "asm"))
        msl_fail(cx, "unknown output '%s': ll, scalar-ll or %s", r->emit, gpu ? "ptx" : "asm");
    if (gpu) msl_check_gpu(cg);
}

// SIMD-group functions and barriers need all 32 threads in one vector.
static unsigned choose_width(const Cg *cg) {
    unsigned asked = cg->request->width;
    if (asked == 1) return 1;
    if (msl_is_graphics(cg)) return 32; // a step of the rasteriser
    return cg->request->watch || cg->uses.simd || cg->uses.meet || asked == 0 ? 32 : asked;
}

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID,
                  &t); // this thread's: other work on the machine does not count
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

// One line of the log for each step, if the caller asked for dump_after = "time".
static void note_time(Cg *cg, const char *name, double ms) {
    if (!cg->request->dump_after || strcmp(cg->request->dump_after, "time") != 0) return;
    char line[80];
    int n = snprintf(line, sizeof line, "%-14s %8.2f ms\n", name, ms);
    size_t before = *cg->cx.log ? strlen(*cg->cx.log) : 0;
    char *joined = realloc(*cg->cx.log, before + (size_t)n + 1);
    if (!joined) return;
    memcpy(joined + before, line, (size_t)n + 1);
    *cg->cx.log = joined;
}

void msl_step(Cg *cg, const char *name, void (*run)(Cg *)) {
    double start = now_ms();
    run(cg);
    note_time(cg, name, now_ms() - start);
    msl_dump(&cg->cx, name);
}

static unsigned count_instructions(LLVMValueRef f) {
    unsigned n = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) n++;
    return n;
}

// Whether the version for all threads becomes part of the loop around it. LLVM would count what it
// costs, at a tenth of all time, and then leave a large one alone as well.
static void choose_inlined(Cg *cg) {
    enum { MAX_INLINED = 160 }; // instructions
    LLVMValueRef f = LLVMGetNamedFunction(cg->cx.module, LOOP_FULL_SYMBOL);
    if (!f || LLVMIsDeclaration(f)) return;
    msl_add_attribute(&cg->cx, f, LLVMAttributeFunctionIndex,
                      count_instructions(f) <= MAX_INLINED ? "alwaysinline" : "noinline", 0);
}

// Whether a block leads to itself or to one that stands before it: without that there is no loop.
static bool may_loop(Cg *cg, LLVMValueRef f) {
    BaseArena arena = {0};
    Map seen = {0};
    bool found = false;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        msl_map_put(&cg->cx, &arena, &seen, b, 1);
        for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++)
            found |= msl_map_get(&seen, LLVMGetSuccessor(end, s)) >= 0;
    }
    base_arena_free(&arena);
    return found;
}

// What O2 does to this code that matters: inline the versions into the loop, fold the loop's
// constants, simplify, hoist, unroll. What is the same is found before anything is copied: of a
// step of several vectors most is. GVN takes long to find what early-cse has not, and in code
// without loops there is nothing.
static void finish_vector(Cg *cg) {
    MslContext *cx = &cg->cx;
    msl_run_passes(cx, NULL, "globaldce,function(early-cse),always-inline,globaldce");
    choose_inlined(cg);
    msl_run_passes(cx, NULL,
                   "cgscc(inline<only-mandatory>,inline),globalopt,ipsccp<no-func-spec>,globaldce,"
                   "function<eager-inv>(sroa<modify-cfg>,early-cse<memssa>,simplifycfg," INSTCOMBINE
                   ")");
    for (LLVMValueRef f = LLVMGetFirstFunction(cx->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f)) continue;
        msl_run_passes(cx, f,
                       may_loop(cg, f)
                           ? "loop-mssa(loop-rotate,licm),simplifycfg," INSTCOMBINE
                             ",loop(indvars,loop-deletion),gvn," INSTCOMBINE
                             ",dse,adce,loop-mssa(licm),simplifycfg,"
                             "loop-unroll<O2>," INSTCOMBINE ",early-cse<memssa>,simplifycfg"
                           : "dse,adce,simplifycfg," INSTCOMBINE ",early-cse<memssa>,simplifycfg");
    }
    msl_run_passes(cx, NULL, "globaldce");
}

static void finish(Cg *cg) {
    static const char baseline[] =
        "cgscc(inline<only-mandatory>,inline),globalopt,ipsccp,globaldce,"
        "function<eager-inv>(sroa<modify-cfg>,early-cse<memssa>,simplifycfg," INSTCOMBINE
        ",loop-mssa(licm),dse,adce,simplifycfg),globaldce";
    // A vertex or fragment function has no group loop whose constants would fold.
    static const char baseline_stage[] =
        "always-inline,globaldce,"
        "function<eager-inv>(sroa<modify-cfg>,early-cse<memssa>,simplifycfg," INSTCOMBINE
        ",loop-mssa(licm),dse,adce,simplifycfg),globaldce";
    if (cg->cx.width > 1 && cg->request->tier == TIER_OPTIMISED && !msl_is_debugged(cg))
        finish_vector(cg);
    else
        msl_run_passes(&cg->cx, NULL,
                       msl_is_debugged(cg)   ? "globaldce"
                       : cg->cx.width == 1   ? "default<O1>"
                       : msl_is_graphics(cg) ? baseline_stage
                                             : baseline);
    // From a check that holds straight on: the ways meet again in between (passes/emit_check.c).
    if (cg->request->validate && cg->cx.width > 1 && cg->request->tier == TIER_OPTIMISED)
        msl_run_passes(&cg->cx, NULL, "function<eager-inv>(jump-threading,simplifycfg)");
    msl_repair_masked_stores(&cg->cx);
    msl_settle_fragments(&cg->cx);
}

// Reference code keeps the program's own control flow: only what makes it smaller.
static void tidy_reference(Cg *cg) {
    if (msl_is_debugged(cg)) return;
    msl_run_passes(&cg->cx, NULL, "function(sroa,early-cse,simplifycfg,dce)");
    msl_fuse_short_floats(cg);
    msl_spread_dots(cg);
    msl_contract(cg);
}

// By the device, or by the loop over threadgroups.
static bool is_called(const Cg *cg, const char *name) {
    static const char *const by_loop[] = {LOOP_STEPS_SYMBOL, LOOP_ROWS_SYMBOL, LOOP_SOME_SYMBOL,
                                          LOOP_FULL_START_SYMBOL, LOOP_SOME_START_SYMBOL};
    for (size_t i = 0; cg->loop.linked && i < sizeof by_loop / sizeof *by_loop; i++)
        if (!strcmp(name, by_loop[i])) return true;
    return !strcmp(name, cg->fn->stage == RF_VERTEX     ? CPU_VERTEX_SYMBOL
                         : cg->fn->stage == RF_FRAGMENT ? CPU_FRAGMENT_SYMBOL
                                                        : CPU_KERNEL_SYMBOL);
}

// From here on only entry points are seen from outside; what they do not call may go.
static void internalise(Cg *cg) {
    for (LLVMValueRef f = LLVMGetFirstFunction(cg->cx.module); f; f = LLVMGetNextFunction(f)) {
        size_t n;
        const char *name = LLVMGetValueName2(f, &n);
        if (LLVMIsDeclaration(f) || is_called(cg, name)) continue;
        LLVMSetVisibility(f, LLVMDefaultVisibility);
        LLVMSetLinkage(f, LLVMInternalLinkage);
    }
    for (uint32_t a = 0; a < cg->fn->n_args; a++) { // specialise.c kept what decides over them
        const char *condition = cg->fn->args[a].condition;
        LLVMValueRef g =
            condition && *condition ? LLVMGetNamedGlobal(cg->cx.module, condition) : NULL;
        if (g && !LLVMIsDeclaration(g)) LLVMSetLinkage(g, LLVMInternalLinkage);
    }
}

// Order:
//   load         only what the kernel reaches: everything later is proportional to one kernel
//   exits        SIMD-group functions on paths that leave a loop stay in it: before anything is
//                inlined, so that a function has its own loops only
//   specialise   before inlining: dead branches of function constants are then never copied
//   entry        parameters become slots and __ingot_position() calls
//   notes        if races are watched for: what the optimiser would take for impossible
//   inline       the vectoriser and the survey of what the kernel uses need one function
//   matrices     if threads run one by one or are checked: their accesses to SIMD-group matrices
//   optimise     scalar optimisation; without vectorisers, the vectoriser wants scalar code
//   constants    what is still read from an unset function constant after folding is an error
//   validate     if asked for: checks around memory accesses. After the survey: what it adds to
//                name the thread in reports does not make a kernel one that looks at positions
//   settle       vertex and fragment functions: pixels that do not count have no effects, and are
//                not reported
//   gpu          for a GPU this ends it: its threads run the scalar function (nvptx/lower.c)
//   wrap         vectorise, coroutines for barriers, the group loop
//   finish       optimisation of the whole: versions into the loop, the loop's constants folded
//   lower        what the code generator does badly in other words: lower/lower.c has the order
static void compile(Cg *cg, MslKernel *out) {
    MslContext *cx = &cg->cx;
    bool reference = cg->request->width == 1;
    check_request(cg);
    msl_open_target(cg);
    msl_step(cg, "load", msl_load);
    msl_step(cg, "exits", msl_hold_exits);
    msl_begin_debug(cg);
    msl_begin_tables(cg);
    msl_describe_textures(cg);
    msl_describe_handles(cg);
    msl_describe_tensors(cg);
    if (cx->nvptx) msl_use_gpu_sines(cg);
    msl_set_target_attributes(cg);
    msl_step(cg, "specialise", msl_specialise);
    msl_step(cg, "entry", msl_build_entry);
    msl_verify_ours(cx, "entry");
    if (cg->request->watch & (MSL_WATCH_RACES | MSL_WATCH_NOTES))
        msl_step(cg, "notes", msl_note_arithmetic);
    msl_step(cg, "inline", msl_inline_all);
    if (reference || cg->request->validate || cx->nvptx)
        msl_step(cg, "matrices", msl_expand_matrices);
    msl_step(cg, "optimise", reference ? tidy_reference : msl_optimise_thread);
    msl_run_passes(cx, NULL, "globaldce");
    msl_check_constants(cg);
    msl_survey(cg);
    bool graphics = msl_is_graphics(cg);
    msl_step(cg, "validate", msl_validate);
    if (graphics) msl_step(cg, "settle", msl_settle_stage);
    if (emit_ir(cg, "scalar-ll", out)) return;
    if (cx->nvptx) {
        msl_step(cg, "gpu", msl_lower_gpu);
        if (!emit_ir(cg, "ll", out)) msl_emit_gpu(cg, out);
        return;
    }
    msl_lower_texture_info(cg);
    msl_lower_handle_words(cg);
    cx->width = choose_width(cg);
    cx->reach = cg->request->reach ? cg->request->reach : MSL_REACH;
    msl_step(cg, "wrap", reference ? msl_wrap_lanes : graphics ? msl_wrap_stage : msl_wrap);
    internalise(cg);
    msl_set_target_attributes(cg);
    msl_finish_info(cg);
    msl_finish_tables(cg);
    if (msl_is_debugged(cg)) msl_finish_debug(cg);
    msl_verify(cx, "wrap");
    msl_step(cg, "finish", finish);
    if (emit_ir(cg, "ll", out)) return;
    msl_verify_ours(cx, "finish");
    msl_lower(cg);
    if (cg->request->debug == MSL_DEBUG_LINES) msl_finish_lines(cg);
    double start = now_ms();
    LLVMMemoryBufferRef object = msl_emit(cg);
    note_time(cg, "emit", now_ms() - start);
    start = now_ms();
    msl_link(cg, object, out);
    note_time(cg, "link", now_ms() - start);
}

static bool attempt(const MslKernelRequest *request, MslKernel *out) {
    Cg *cg = malloc(sizeof *cg); // on the heap: its contents must survive the longjmp
    char **log = &out->log;
    *out = (MslKernel){0};
    if (!cg || !msl_context_open(cg, request, log)) {
        free(cg);
        out->error = copy_text("out of memory");
        return false;
    }
    if (setjmp(cg->cx.fail) == 0) {
        compile(cg, out);
        out->ok = true;
    } else {
        free(out->code);
        out->code = NULL;
        out->code_bytes = 0;
    }
    out->error = copy_text(out->ok ? "" : cg->cx.error);
    if (!out->log) out->log = copy_text("");
    msl_context_close(cg);
    free(cg);
    return out->ok;
}

bool msl_backend(const MslKernelRequest *request, MslKernel *out) {
    *out = (MslKernel){0};
    if (!msl_knows_target(request->target)) {
        out->error = copy_text("this compiler makes no code for the device's target");
        out->log = copy_text("");
        return false;
    }
    if (attempt(request, out)) return true;
    if (request->tier == TIER_OPTIMISED) return false;
    // What is wrong may be something that optimising removes, such as a use of a constant.
    MslKernelRequest again = *request;
    again.tier = TIER_OPTIMISED;
    msl_kernel_free(out);
    return attempt(&again, out);
}

void msl_kernel_free(MslKernel *k) {
    free(k->error);
    free(k->code);
    free(k->log);
    *k = (MslKernel){0};
}
