// SPDX-License-Identifier: Apache-2.0
// stage_code.c: a stage's code in tiers. Making a pipeline takes optimised code from an archive or
// the cache, or has baseline code made, for any threadgroup shape. The first dispatch with a shape
// asks the cache for code made for it. Else that comes from the compiler, in the background while
// the first code runs: for a large grid at once, and the dispatch goes on with it when it comes;
// for small ones once there were a few or they took long: programs run many kernels only once or
// twice. Code that takes long to compile is asked for at the second large grid. Only a huge grid
// waits (INGOT_SYNC_SPECIALISE=1: every one), and a large one of a stage that began with optimised
// code. Draws have one shape: the second asks, and draws after it is there use it; a draw keeps
// what it was encoded with. Binary archives, if the descriptor names any, come before cache and
// compiler. All code lives as long as the pipeline.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/wire.h"
#include "os/clock.h"
#include "os/thread.h"
#include "runtime/object/async.h"
#include "runtime/object/trace.h"
#include "runtime/program/archive.h"
#include "runtime/program/cache.h"
#include "runtime/program/link.h"
#include "runtime/program/stage.h"

// Arrays that optimising would have turned into registers may make baseline code need much stack.
enum { BASELINE_STACK_BYTES = 1 << 20 }; // of a SIMD-group

static void code_free(const MTLDevice *device, DevCode *code) {
    if (code) device->table->code_free(code);
}

void rt_tiers_free(RtTiers *t, const MTLDevice *device) {
    for (unsigned i = 0; i < atomic_load(&t->n_variants); i++)
        code_free(device, atomic_load(&t->variants[i].code));
    for (unsigned i = 0; i < RT_N_REACH; i++) code_free(device, atomic_load(&t->wider[i]));
    code_free(device, atomic_load(&t->any.code));
    code_free(device, t->first);
    pthread_mutex_destroy(&t->lock);
}

// ---- Making ----

static void *find_kept(const unsigned char key[SHA256_BYTES], size_t *n_bytes) {
    CacheKey k;
    memcpy(k.hash, key, sizeof k.hash);
    Blob *blob = cache_find_kernel(&k);
    void *copy = blob ? malloc(blob->n_bytes) : NULL;
    if (copy) memcpy(copy, blob->data, *n_bytes = blob->n_bytes);
    blob_release(blob);
    return copy;
}

static void store_kept(const unsigned char key[SHA256_BYTES], const void *bytes, size_t n_bytes) {
    CacheKey k;
    memcpy(k.hash, key, sizeof k.hash);
    Blob *blob = blob_copy(bytes, n_bytes);
    if (blob) cache_store_kernel(&k, blob);
    blob_release(blob);
}

// Is it the code of the function? Vertex functions have slots for the buffers of attributes, too.
static bool fits(const RtStage *stage, const DevCode *code, const char **why) {
    const RfFunction *f = stage->entry;
    const AbiStageInfo *info = code->stage;
    *why = "its arguments are not those of the library";
    if (!info && code->n_slots != f->n_slots) return false;
    *why = "it is not that of the function";
    if (f->stage != RF_VERTEX && f->stage != RF_FRAGMENT) return !info;
    return info && info->stage == f->stage && info->n_inputs <= ABI_MAX_VARYINGS &&
           info->n_outputs <= ABI_MAX_VARYINGS;
}

// bytes: what the compiler made of the query; NULL for a device that needs none. NULL and a
// sentence in `why`.
static DevCode *load(const RtStage *stage, const RtKernelQuery *query, const Blob *bytes, char *why,
                     size_t why_bytes) {
    static const DevCache cache = {.find = find_kept, .store = store_kept};
    const DevTable *table = stage->device->table;
    DevCodeSource source = {.bytes = bytes ? bytes->data : NULL,
                            .n_bytes = bytes ? bytes->n_bytes : 0,
                            .function = stage->entry,
                            .cache = &cache};
    WireOut question = {0};
    if (table->wants_requests && rt_kernel_question(query, &question)) {
        source.request = question.data;
        source.request_bytes = question.n_bytes;
        source.libraries = query->libraries;
        source.n_libraries = query->code.n_parts + 1;
    }
    DevCode *code = table->code_load(stage->device->context, &source, why, why_bytes);
    wire_free(&question);
    const char *wrong;
    if (code) code->n_bytes = source.n_bytes;
    if (!code || fits(stage, code, &wrong)) return code;
    snprintf(why, why_bytes, "%s", wrong);
    table->code_free(code);
    return NULL;
}

static RtKernelQuery query_of(const RtStage *stage, const uint32_t shape[3], unsigned reach) {
    const MTLDevice *device = stage->device;
    RtKernelQuery query = {.libraries = &stage->function->library->lib,
                           .archives = stage->archives,
                           .code = {.function = stage->entry->name,
                                    .constants = stage->constants,
                                    .n_constants = stage->n_constants,
                                    .vertex = stage->inputs,
                                    .shape = {shape[0], shape[1], shape[2]},
                                    .target = device->facts.target,
                                    .width = device->width,
                                    .debug = device->debug,
                                    .validate = stage->validate,
                                    .watch = rt_watch(device, stage->validate, stage->draws),
                                    .reach = rt_reach_bits[reach]}};
    const RtLinkage *l = stage->linkage;
    if (!l) return query;
    query.libraries = l->libraries;
    query.code.n_parts = l->n_libraries - 1;
    query.code.linked = l->linked;
    query.code.n_linked = l->n_linked;
    query.code.dynamic = l->dynamic_numbers;
    query.code.n_dynamic = l->n_dynamic;
    query.code.call_depth = l->call_depth;
    return query;
}

static void trace_code(const MslKernelRequest *request, const Blob *code, RtOrigin origin,
                       uint64_t start_ns) {
    static const char *const names[] = {"compiler", "cache", "archive"};
    char name[96], args[128];
    snprintf(name, sizeof name, "code of %s", request->function);
    snprintf(args, sizeof args, "\"from\":\"%s\",\"threadgroup\":[%u,%u,%u],\"bytes\":%zu",
             code ? names[origin] : "nowhere: an error", request->shape[0], request->shape[1],
             request->shape[2], code ? code->n_bytes : 0);
    rt_trace_host_span("compile", name, start_ns, args);
}

typedef enum How { IF_CACHED, BASELINE, OPTIMISED, IN_BACKGROUND } How; // the last two: alike

static DevCode *compile_code(const RtStage *stage, const uint32_t shape[3], unsigned reach, How how,
                             MTLError **error) {
    static const uint32_t any[3]; // baseline code is for all shapes, also if there is one only
    RtKernelQuery query = query_of(stage, how == BASELINE ? any : shape, reach);
    query.background = how == IN_BACKGROUND;
    query.cached_only = how == IF_CACHED;
    query.code.tier = how == BASELINE ? TIER_BASELINE : TIER_OPTIMISED;
    RtCompileError answer = {0};
    DevCode *code = NULL;
    uint64_t start = rt_is_tracing() ? os_now_ns() : 0;
    bool compiles = *stage->device->facts.target != 0;
    Blob *bytes = compiles ? rt_compile_kernel(&query, &answer) : NULL;
    if (start && (bytes || how != IF_CACHED)) trace_code(&query.code, bytes, answer.origin, start);
    if (bytes || !compiles) {
        char why[256] = "";
        code = load(stage, &query, bytes, why, sizeof why);
        if (!code && error)
            *error =
                rt_stage_error(stage, MTLComputePipelineErrorInternal,
                               "The code of '%s' cannot be used: %s.", query.code.function, why);
    } else if (error) {
        long kind = answer.status == RT_COMPILE_FAILED ? MTLComputePipelineErrorInvalidInput
                                                       : MTLComputePipelineErrorInternal;
        *error = rt_error_from_compiler(rt_stage_domain(stage), kind, &answer, "");
    }
    blob_release(bytes);
    rt_compile_error_clear(&answer);
    return code;
}

// ---- The first code ----

// Nothing is baseline code that will be kept (archives), or that is asked for to be looked at:
// checked, or of another width.
static bool may_be_baseline(const RtStage *stage) {
    const MTLDevice *device = stage->device;
    return !stage->archives.record && !stage->archives.only && !stage->validate &&
           !device->schedule && !device->sync_specialise && !device->width && *device->facts.target;
}

typedef struct Work {
    RtStage *stage;
    MTLError *wrong;
} Work;

static void *compile(void *context) {
    Work *w = context;
    RtTiers *t = &w->stage->tiers;
    if (may_be_baseline(w->stage)) {
        DevCode *code = compile_code(w->stage, w->stage->required, t->reach, BASELINE, &w->wrong);
        if (code && code->stack_bytes > BASELINE_STACK_BYTES) {
            code_free(w->stage->device, code);
        } else {
            t->first = code;
            t->tier = TIER_BASELINE;
            t->any.reach = t->reach;
            atomic_store(&t->any.counting, true);
            return NULL;
        }
    }
    t->first = compile_code(w->stage, w->stage->required, t->reach, OPTIMISED, &w->wrong);
    return NULL;
}

// Functions that need the compiler have a process of it each, as far as there are any: this thread
// waits for the first, others for the rest. What goes into an archive goes there in order.
bool rt_stages_compile(RtStage *const *stages, size_t n, MTLError **error) {
    Work left[RT_MAX_STAGES] = {0};
    pthread_t threads[RT_MAX_STAGES];
    bool started[RT_MAX_STAGES] = {0}, ok = true;
    size_t n_left = 0;
    for (size_t i = 0; i < n; i++) {
        if (!stages[i]) continue;
        RtTiers *t = &stages[i]->tiers;
        t->reach = stages[i]->draws ? RT_N_REACH - 1 : rt_device_reach(stages[i]->device);
        if (may_be_baseline(stages[i]))
            t->first = compile_code(stages[i], stages[i]->required, t->reach, IF_CACHED, NULL);
        if (!t->first) left[n_left++].stage = stages[i];
    }
    for (size_t i = 1; i < n_left; i++) {
        const RtStage *stage = left[i].stage;
        if (!stage->archives.record && *stage->device->facts.target)
            started[i] = os_thread_start(&threads[i], compile, &left[i]);
    }
    for (size_t i = 0; i < n_left; i++)
        if (!started[i]) compile(&left[i]);
    for (size_t i = 0; i < n_left; i++) {
        if (started[i]) pthread_join(threads[i], NULL);
        if (ok)
            *error = left[i].wrong;
        else
            mtl_release(left[i].wrong);
        ok &= left[i].stage->tiers.first != NULL;
    }
    return ok;
}

// ---- Optimised code ----

typedef struct Job {
    RtStage *stage; // its pipeline is retained
    RtVariant *variant;
} Job;

static void run_job(void *context) {
    const Job *job = context;
    RtVariant *v = job->variant;
    void *pipeline = job->stage->pipeline;
    atomic_store(&v->code, compile_code(job->stage, v->shape, v->reach, IN_BACKGROUND, NULL));
    rt_free(context);
    mtl_release(pipeline);
}

static void make_in_background(RtStage *stage, RtVariant *variant) {
    Job *job = rt_alloc(sizeof *job);
    if (!job) return;
    *job = (Job){stage, variant};
    mtl_retain(stage->pipeline);
    if (rt_async(run_job, job)) return;
    mtl_release(stage->pipeline);
    rt_free(job);
}

static RtVariant *find_variant(RtTiers *t, const uint32_t shape[3], unsigned reach) {
    unsigned n = atomic_load_explicit(&t->n_variants, memory_order_acquire);
    for (unsigned i = 0; i < n; i++)
        if (memcmp(t->variants[i].shape, shape, 3 * sizeof *shape) == 0 &&
            t->variants[i].reach == reach)
            return &t->variants[i];
    return NULL;
}

// True if the caller is to fill *variant; false: it exists, or there is no room.
static bool add_variant(RtTiers *t, const uint32_t shape[3], unsigned reach, RtVariant **variant) {
    pthread_mutex_lock(&t->lock);
    unsigned n = atomic_load(&t->n_variants);
    bool added = n < RT_MAX_VARIANTS && !find_variant(t, shape, reach);
    if (added) {
        *variant = &t->variants[n];
        memcpy((*variant)->shape, shape, 3 * sizeof *shape);
        (*variant)->reach = reach;
        atomic_store(&t->n_variants, n + 1);
    }
    pthread_mutex_unlock(&t->lock);
    return added;
}

// General code can take ten times as long, and a compile takes as long as a few such grids; that of
// a kernel whose code is heavy takes seconds, as much as much larger ones. Of 475 kernels and
// shapes in the tests of an array library, 411 are dispatched at most 8 times.
// Baseline code of a kernel that takes half a second to compile well has 42 KB and more.
enum {
    LARGE_GRID = 1 << 14,
    HUGE_GRID = 1 << 22,
    HEAVY_BYTES = 1 << 17,
    HEAVY_BASELINE_BYTES = 42 << 10,
    FEW_DISPATCHES = 8,
    FEW_DRAWS = 2,
    LONG_NS = 20000000, // in baseline code, all dispatches together
    // What is left of a dispatch should last twice as long as the compiler takes (3 to 6 us for a
    // byte of the baseline code): the two share the machine.
    NS_PER_BASELINE_BYTE = 10000,
};

static bool is_heavy(const RtTiers *t) {
    return t->first->n_bytes >= (t->tier == TIER_BASELINE ? HEAVY_BASELINE_BYTES : HEAVY_BYTES);
}

// Whether the first code has cost so much time that optimised code is worth compiling.
static bool took_long(const RtTiers *t) {
    return t->tier == TIER_BASELINE &&
           atomic_load_explicit(&t->first->spent_ns, memory_order_relaxed) > LONG_NS;
}

// Another use of the first code where there is no other. True: it is time for the caller to ask the
// compiler, and nobody else will.
static bool count_use(RtTiers *t, RtVariant *variant, unsigned few, bool at_once) {
    if (!atomic_load_explicit(&variant->counting, memory_order_acquire)) return false;
    pthread_mutex_lock(&t->lock);
    bool now = ++variant->n_uses >= few || at_once;
    now = now && atomic_exchange(&variant->counting, false);
    pthread_mutex_unlock(&t->lock);
    return now;
}

static void count_dispatch(RtStage *stage, RtVariant *variant, bool large, bool wait) {
    if (!atomic_load_explicit(&variant->counting, memory_order_acquire) ||
        !count_use(&stage->tiers, variant, FEW_DISPATCHES,
                   wait || large || took_long(&stage->tiers)))
        return;
    if (wait)
        atomic_store(&variant->code,
                     compile_code(stage, variant->shape, variant->reach, OPTIMISED, NULL));
    else
        make_in_background(stage, variant);
}

// Remembers the shape for archives that add such a pipeline later.
static void note_shape(const RtStage *stage, const uint32_t shape[3]) {
    RtKernelQuery general = query_of(stage, stage->required, 0);
    CacheKey key;
    if (rt_kernel_key(&general, &key)) rt_shapes_note(stage->device, &key, shape);
}

void rt_stage_prepare(RtStage *stage, const uint32_t shape[3], uint64_t n_threads) {
    RtTiers *t = &stage->tiers;
    RtVariant *variant;
    bool baseline = t->tier == TIER_BASELINE;
    // Of large grids that do not wait the first asks, the second if the code is heavy.
    bool large = baseline && n_threads >= LARGE_GRID,
         wait = stage->device->sync_specialise ||
                n_threads >= (baseline || is_heavy(t) ? HUGE_GRID : LARGE_GRID);
    unsigned reach = rt_device_reach(stage->device);
    if (stage->required[0] && !baseline) return; // the first code is for this shape
    if ((variant = find_variant(t, shape, reach))) {
        count_dispatch(stage, variant, large, wait);
        return;
    }
    if (!add_variant(t, shape, reach, &variant)) {
        count_dispatch(stage, &t->any, large, false);
        return;
    }
    if (!stage->required[0]) note_shape(stage, shape);
    DevCode *code = compile_code(stage, shape, reach, wait ? OPTIMISED : IF_CACHED, NULL);
    atomic_store(&variant->code, code);
    bool ask = !code && !wait && !stage->archives.only, now = large && !is_heavy(t);
    atomic_store_explicit(&variant->counting, ask && !now, memory_order_release);
    if (ask && now) make_in_background(stage, variant);
}

// The first code, for buffers longer than there were when the pipeline was made.
static DevCode *wider_code(RtStage *stage, unsigned reach) {
    RtTiers *t = &stage->tiers;
    DevCode *code = atomic_load_explicit(&t->wider[reach], memory_order_acquire);
    if (code) return code;
    pthread_mutex_lock(&t->lock);
    code = atomic_load(&t->wider[reach]);
    if (!code) code = compile_code(stage, stage->required, reach, OPTIMISED, NULL);
    atomic_store(&t->wider[reach], code);
    pthread_mutex_unlock(&t->lock);
    return code;
}

// It would be worth having now: is asked for in the background, unless it was. Any thread.
static void want_optimised(void *context, const uint32_t shape[3]) {
    RtStage *stage = context;
    RtVariant *v = find_variant(&stage->tiers, shape, rt_device_reach(stage->device));
    if (v && atomic_load_explicit(&v->counting, memory_order_relaxed) &&
        atomic_exchange(&v->counting, false))
        make_in_background(stage, v);
}

bool rt_stage_dispatch(RtStage *stage, DevDispatch *d) {
    RtTiers *t = &stage->tiers;
    unsigned reach = rt_device_reach(stage->device);
    RtVariant *v = find_variant(t, d->group_size, reach);
    d->code = v ? atomic_load_explicit(&v->code, memory_order_acquire) : NULL;
    if (!d->code && reach > t->reach)
        d->code = wider_code(stage, reach);
    else if (!d->code && !(d->code = atomic_load_explicit(&t->any.code, memory_order_acquire)))
        d->code = t->first;
    if (v && t->tier == TIER_BASELINE) {
        d->optimised = &v->code;
        d->want_optimised = want_optimised;
        d->want_context = stage;
        d->want_ns = (uint64_t)t->first->n_bytes * NS_PER_BASELINE_BYTE;
    }
    if (!d->code) return false;
    d->n_args = d->code->n_slots;
    d->static_bytes = d->code->threadgroup_bytes;
    return true;
}

DevCode *rt_stage_draw(RtStage *stage) {
    RtTiers *t = &stage->tiers;
    DevCode *code = atomic_load_explicit(&t->any.code, memory_order_acquire);
    if (code) return code;
    if (count_use(t, &t->any, FEW_DRAWS, false)) make_in_background(stage, &t->any);
    return t->first;
}

bool rt_stage_record_shapes(RtStage *stage, MTLError **error) {
    RtKernelQuery general = query_of(stage, stage->required, 0);
    uint32_t shapes[RT_MAX_VARIANTS][3];
    CacheKey key;
    if (!rt_kernel_key(&general, &key)) return false;
    size_t n = stage->required[0] ? 0 : rt_shapes_get(stage->device, &key, shapes, RT_MAX_VARIANTS);
    for (size_t i = 0; i < n; i++) {
        DevCode *code = compile_code(stage, shapes[i], stage->tiers.reach, OPTIMISED, error);
        if (!code) return false;
        code_free(stage->device, code);
    }
    return true;
}
