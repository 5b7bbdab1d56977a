// SPDX-License-Identifier: Apache-2.0
// pipeline.c: MTLComputePipelineState. Creation compiles the kernel for any threadgroup shape, and
// quickly: unless code that is made to be fast is in an archive or the cache. The first dispatch
// with a shape asks the cache for code made for it. Else it comes from the compiler, in the
// background while the general code runs: for a large grid at once, and the dispatch goes on with
// it when it comes; for small ones once there were a few or they took long: programs run many
// kernels only once or twice. Code that takes long to compile is asked for at the second large
// grid. Only a huge grid waits (INGOT_SYNC_SPECIALISE=1: every one), and a large one of a pipeline
// whose code for any shape was not made in a hurry. Binary archives, if the descriptor names any,
// come before cache and compiler.
#include "runtime/program/pipeline.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/wire.h"
#include "runtime/program/archive.h"
#include "runtime/program/cache.h"
#include "runtime/object/async.h"
#include "runtime/object/device.h"
#include "runtime/program/link.h"
#include "runtime/program/indirect.h"
#include "runtime/program/reflection.h"
#include "runtime/program/stage_in_int.h"
#include "runtime/object/trace.h"
#include "runtime/object/validation.h"
#include "os/clock.h"

static void pipeline_destroy(void *self) {
    MTLComputePipelineState *state = self;
    rt_pipeline_forget_handle(state->device, atomic_load(&state->handle));
    rt_reflection_free(state->reflection);
    for (unsigned i = 0; i < atomic_load(&state->n_variants); i++)
        rt_code_free(state->device, atomic_load(&state->variants[i].code));
    rt_code_free(state->device, atomic_load(&state->rest.code));
    rt_code_free(state->device, state->general);
    for (unsigned i = 0; i < RT_N_REACH; i++)
        rt_code_free(state->device, atomic_load(&state->wider[i]));
    rt_free(state->arg_use);
    rt_free(state->constants);
    rt_linkage_free(state->linkage);
    rt_stage_in_free(state->stage_in);
    for (size_t i = 0; i < state->n_archives; i++) archive_release(state->archives[i]);
    rt_free(state->archives);
    rt_label_free(&state->label);
    pthread_mutex_destroy(&state->lock);
    mtl_release(state->function);
    mtl_release(state->device);
    rt_free(state);
}

RT_CLASS rt_pipeline_class = {.name = "MTLComputePipelineState",
                              .destroy = pipeline_destroy,
                              .label_at = offsetof(MTLComputePipelineState, label)};

// ---- Code ----

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

DevCode *rt_code_load(const MTLDevice *device, const RtKernelRequest *request, const Blob *bytes,
                      const RfFunction *function, char *why, size_t why_bytes) {
    static const DevCache cache = {.find = find_kept, .store = store_kept};
    DevCodeSource source = {.bytes = bytes ? bytes->data : NULL,
                            .n_bytes = bytes ? bytes->n_bytes : 0,
                            .function = function,
                            .cache = &cache};
    WireOut question = {0};
    Metallib **libraries = NULL;
    if (device->table->wants_requests &&
        rt_kernel_question(request, &question, &libraries, &source.n_libraries)) {
        source.request = question.data;
        source.request_bytes = question.n_bytes;
        source.libraries = libraries;
    }
    DevCode *code = device->table->code_load(device->context, &source, why, why_bytes);
    wire_free(&question);
    free(libraries);
    if (code) code->n_bytes = source.n_bytes;
    // Vertex functions have slots for the buffers of attributes, too.
    if (!code || code->stage || code->n_slots == function->n_slots) return code;
    snprintf(why, why_bytes, "its arguments are not those of the library");
    device->table->code_free(code);
    return NULL;
}

void rt_code_free(const MTLDevice *device, DevCode *code) {
    if (code) device->table->code_free(code);
}

static RtKernelRequest kernel_request(const MTLComputePipelineState *state, const uint32_t shape[3],
                                      unsigned reach) {
    return (RtKernelRequest){.library = state->function->library->lib,
                             .function = rt_pipeline_function(state)->name,
                             .constants = state->constants,
                             .n_constants = state->n_constants,
                             .links = state->linkage ? &state->linkage->links : NULL,
                             .vertex = state->stage_in ? &state->stage_in->descriptor : NULL,
                             .shape = {shape[0], shape[1], shape[2]},
                             .target = state->device->facts.target,
                             .width = state->device->width,
                             .debug = state->device->debug,
                             .validate = state->validate,
                             .watch = rt_watch(state->device, state->validate),
                             .reach = rt_reach_bits[reach],
                             .archives = state->archives,
                             .n_archives = state->n_archives,
                             .record = state->record};
}

static void trace_code(const RtKernelRequest *request, const Blob *code, RtOrigin origin,
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

static DevCode *make_code(const MTLComputePipelineState *state, const uint32_t shape[3],
                          unsigned reach, How how, MTLError **error) {
    static const uint32_t any[3]; // baseline code is for all shapes, also if there will be one only
    RtKernelRequest request = kernel_request(state, how == BASELINE ? any : shape, reach);
    bool cached_only = how == IF_CACHED;
    request.background = how == IN_BACKGROUND;
    request.archived_only = state->archives_only;
    request.cached_only = cached_only;
    request.tier = how == BASELINE ? TIER_BASELINE : TIER_OPTIMISED;
    RtCompileError answer = {0};
    DevCode *code = NULL;
    uint64_t start = rt_is_tracing() ? os_now_ns() : 0;
    Blob *bytes = NULL;
    bool compiles = *state->device->facts.target != 0;
    if (compiles) bytes = rt_compile_kernel(&request, &answer);
    if (start && (bytes || !cached_only)) trace_code(&request, bytes, answer.origin, start);
    if (bytes || !compiles) {
        char why[256];
        code = rt_code_load(state->device, &request, bytes, rt_pipeline_function(state), why,
                            sizeof why);
        if (!code && error)
            rt_error_set(
                error, rt_error_new(MTLComputePipelineErrorDomain, MTLComputePipelineErrorInternal,
                                    "The code of '%s' cannot be used: %s.", request.function, why));
    } else if (error) {
        long kind = answer.status == RT_COMPILE_FAILED ? MTLComputePipelineErrorInvalidInput
                                                       : MTLComputePipelineErrorInternal;
        rt_error_set(error,
                     rt_error_from_compiler(MTLComputePipelineErrorDomain, kind, &answer, ""));
    }
    blob_release(bytes);
    rt_compile_error_clear(&answer);
    return code;
}

typedef struct VariantJob {
    MTLComputePipelineState *state;
    RtVariant *variant;
} VariantJob;

static void run_variant_job(void *context) {
    VariantJob *job = context;
    const RtVariant *v = job->variant;
    atomic_store(&job->variant->code,
                 make_code(job->state, v->shape, v->reach, IN_BACKGROUND, NULL));
    mtl_release(job->state);
    rt_free(job);
}

static RtVariant *find_variant(MTLComputePipelineState *state, const uint32_t shape[3],
                               unsigned reach) {
    unsigned n = atomic_load_explicit(&state->n_variants, memory_order_acquire);
    for (unsigned i = 0; i < n; i++)
        if (memcmp(state->variants[i].shape, shape, 3 * sizeof *shape) == 0 &&
            state->variants[i].reach == reach)
            return &state->variants[i];
    return NULL;
}

// True if the caller is to fill *variant; false: it exists, or there is no room.
static bool add_variant(MTLComputePipelineState *state, const uint32_t shape[3], unsigned reach,
                        RtVariant **variant) {
    pthread_mutex_lock(&state->lock);
    unsigned n = atomic_load(&state->n_variants);
    bool added = n < RT_MAX_VARIANTS && !find_variant(state, shape, reach);
    if (added) {
        *variant = &state->variants[n];
        memcpy((*variant)->shape, shape, 3 * sizeof *shape);
        (*variant)->reach = reach;
        atomic_store(&state->n_variants, n + 1);
    }
    pthread_mutex_unlock(&state->lock);
    return added;
}

// Remembers the shape for archives that add this pipeline later.
static void note_shape(const MTLComputePipelineState *state, const uint32_t shape[3]) {
    RtKernelRequest general = kernel_request(state, state->required, 0);
    CacheKey key;
    if (rt_kernel_key(&general, &key)) rt_shapes_note(state->device, &key, shape);
}

// General code can take ten times as long, and a compile takes as long as a few such grids; that of
// a kernel whose code is heavy takes seconds, as much as much larger ones. Of 475 kernels and
// shapes in the tests of an array library, 411 are dispatched at most 8 times.
// baseline code of a kernel that takes half a second to compile well has 42 KB and more.
enum {
    LARGE_GRID = 1 << 14,
    HUGE_GRID = 1 << 22,
    HEAVY_BYTES = 1 << 17,
    HEAVY_BASELINE_BYTES = 42 << 10,
    FEW_DISPATCHES = 8,
    LONG_NS = 20000000, // in baseline code, all dispatches together
    // What is left of a dispatch should last twice as long as the compiler takes (3 to 6 us for a
    // byte of the baseline code): the two share the machine.
    NS_PER_BASELINE_BYTE = 10000,
};

static bool is_heavy(const MTLComputePipelineState *state) {
    return state->general->n_bytes >= (state->baseline ? HEAVY_BASELINE_BYTES : HEAVY_BYTES);
}

// Whether the general code has cost so much time that optimised code is worth compiling.
static bool took_long(const MTLComputePipelineState *state) {
    return state->baseline &&
           atomic_load_explicit(&state->general->spent_ns, memory_order_relaxed) > LONG_NS;
}

static void make_in_background(MTLComputePipelineState *state, RtVariant *variant) {
    VariantJob *job = rt_alloc(sizeof *job);
    if (!job) return;
    *job = (VariantJob){mtl_retain(state), variant};
    if (!rt_async(run_variant_job, job)) {
        mtl_release(state);
        rt_free(job);
    }
}

// Another dispatch of a shape without code of its own: asks the compiler when it is time.
static void count_dispatch(MTLComputePipelineState *state, RtVariant *variant, bool large,
                           bool wait) {
    if (!atomic_load_explicit(&variant->counting, memory_order_acquire)) return;
    pthread_mutex_lock(&state->lock);
    bool now = ++variant->n_dispatches >= FEW_DISPATCHES || wait || large || took_long(state);
    now = now && atomic_exchange(&variant->counting, false);
    pthread_mutex_unlock(&state->lock);
    if (!now) return;
    if (wait)
        atomic_store(&variant->code,
                     make_code(state, variant->shape, variant->reach, OPTIMISED, NULL));
    else
        make_in_background(state, variant);
}

void rt_pipeline_prepare(MTLComputePipelineState *state, const uint32_t shape[3],
                         uint64_t n_threads) {
    RtVariant *variant;
    // Of large grids that do not wait the first asks, the second if the code is heavy.
    bool large = state->baseline && n_threads >= LARGE_GRID,
         wait = state->device->sync_specialise ||
                n_threads >= (state->baseline || is_heavy(state) ? HUGE_GRID : LARGE_GRID);
    unsigned reach = rt_device_reach(state->device);
    if (state->required[0] && !state->baseline) return; // the general code is for this shape
    if ((variant = find_variant(state, shape, reach))) {
        count_dispatch(state, variant, large, wait);
        return;
    }
    if (!add_variant(state, shape, reach, &variant)) {
        count_dispatch(state, &state->rest, large, false);
        return;
    }
    if (!state->required[0]) note_shape(state, shape);
    DevCode *code = make_code(state, shape, reach, wait ? OPTIMISED : IF_CACHED, NULL);
    atomic_store(&variant->code, code);
    bool ask = !code && !wait && !state->archives_only, now = large && !is_heavy(state);
    atomic_store_explicit(&variant->counting, ask && !now, memory_order_release);
    if (ask && now) make_in_background(state, variant);
}

// The general code, for buffers longer than there were when the pipeline was made.
static DevCode *wider_code(MTLComputePipelineState *state, unsigned reach) {
    DevCode *code = atomic_load_explicit(&state->wider[reach], memory_order_acquire);
    if (code) return code;
    pthread_mutex_lock(&state->lock);
    code = atomic_load(&state->wider[reach]);
    if (!code) code = make_code(state, state->required, reach, OPTIMISED, NULL);
    atomic_store(&state->wider[reach], code);
    pthread_mutex_unlock(&state->lock);
    return code;
}

DevCode *rt_pipeline_code(MTLComputePipelineState *state, const uint32_t shape[3]) {
    unsigned reach = rt_device_reach(state->device);
    RtVariant *v = find_variant(state, shape, reach);
    DevCode *code = v ? atomic_load_explicit(&v->code, memory_order_acquire) : NULL;
    if (code) return code;
    if (reach > state->reach) return wider_code(state, reach);
    code = atomic_load_explicit(&state->rest.code, memory_order_acquire);
    return code ? code : state->general;
}

DevCode *_Atomic const *rt_pipeline_optimised(MTLComputePipelineState *state,
                                              const uint32_t shape[3], uint64_t *want_ns) {
    const RtVariant *v = find_variant(state, shape, rt_device_reach(state->device));
    *want_ns = (uint64_t)state->general->n_bytes * NS_PER_BASELINE_BYTE;
    return v && state->baseline ? &v->code : NULL;
}

void rt_pipeline_want(MTLComputePipelineState *state, const uint32_t shape[3]) {
    RtVariant *v = find_variant(state, shape, rt_device_reach(state->device));
    if (v && atomic_load_explicit(&v->counting, memory_order_relaxed) &&
        atomic_exchange(&v->counting, false))
        make_in_background(state, v);
}

// ---- Creation ----

RtArgUse rt_condition_use(const MTLFunction *function, const char *condition) {
    const RfLibrary *lib = function->library->lib->reflection;
    if (!condition || !*condition) return RT_ARG_REQUIRED;
    for (uint32_t i = 0; i < lib->n_constants; i++) {
        if (strcmp(lib->constants[i].symbol, condition) != 0) continue;
        const RtConstantValue *v = rt_constant_value_find(function->values, &lib->constants[i]);
        if (v) return v->data[0] ? RT_ARG_REQUIRED : RT_ARG_OFF;
        break;
    }
    return RT_ARG_OPTIONAL; // derived from others: only the compiler knows
}

bool rt_reads_attribute(const MTLFunction *function, const RfValue *v, bool described) {
    RtArgUse use = rt_condition_use(function, v->condition);
    return use == RT_ARG_REQUIRED || (use == RT_ARG_OPTIONAL && described);
}

static bool collect_arg_use(MTLComputePipelineState *state) {
    const RfFunction *f = rt_pipeline_function(state);
    state->arg_use = rt_alloc(f->n_args);
    for (uint32_t i = 0; state->arg_use && i < f->n_args; i++)
        state->arg_use[i] = (unsigned char)rt_condition_use(state->function, f->args[i].condition);
    return state->arg_use != NULL;
}

static size_t smaller(size_t a, size_t b) { // 0 stands for "not given"
    return a == 0 ? b : b == 0 ? a : a < b ? a : b;
}

static MTLError *invalid(const char *format, const char *name) {
    return rt_error_new(MTLComputePipelineErrorDomain, MTLComputePipelineErrorInvalidInput, format,
                        name);
}

// The limits that function, library and descriptor set, or the error they make together.
static MTLError *collect_limits(MTLComputePipelineState *state,
                                const MTLComputePipelineDescriptor *d) {
    const RfFunction *f = rt_pipeline_function(state);
    state->max_threads =
        smaller(smaller(f->max_total_threads, d->max_total_threads_per_threadgroup),
                state->function->library->max_threads);
    state->max_threads = smaller(state->max_threads, RT_MAX_THREADS);
    memcpy(state->required, f->required_threads, sizeof state->required);
    MTLSize r = d->required_threads_per_threadgroup;
    if (r.width || r.height || r.depth) {
        if (r.width > RT_MAX_THREADS || r.height > RT_MAX_THREADS || r.depth > RT_MAX_THREADS)
            return invalid("The threadgroup size required for '%s' is too large.", f->name);
        const uint32_t wanted[3] = {(uint32_t)(r.width ? r.width : 1),
                                    (uint32_t)(r.height ? r.height : 1),
                                    (uint32_t)(r.depth ? r.depth : 1)};
        if (state->required[0] && memcmp(state->required, wanted, sizeof wanted) != 0)
            return invalid("The function '%s' itself requires another threadgroup size.", f->name);
        memcpy(state->required, wanted, sizeof wanted);
    }
    if (state->required[0]) {
        for (int i = 1; i < 3;
             i++) // [[required_threads_per_threadgroup(64)]] leaves the others out
            state->required[i] = state->required[i] ? state->required[i] : 1;
        size_t n = (size_t)state->required[0] * state->required[1] * state->required[2];
        if (n > state->max_threads)
            return invalid("The threadgroup '%s' requires has more threads than are allowed.",
                           f->name);
        state->max_threads = n;
    }
    return NULL;
}

static bool collect_archives(MTLComputePipelineState *state,
                             const MTLComputePipelineDescriptor *d) {
    if (!d->binary_archives || !d->binary_archive_count) return true;
    state->archives = rt_alloc(d->binary_archive_count * sizeof *state->archives);
    if (!state->archives) return false;
    for (size_t i = 0; i < d->binary_archive_count; i++)
        if (d->binary_archives[i])
            state->archives[state->n_archives++] = archive_retain(d->binary_archives[i]->content);
    return true;
}

// Only a pass has colours for an implicit one.
static MTLError *find_imageblock(MTLComputePipelineState *state) {
    const RfFunction *f = rt_pipeline_function(state);
    for (uint32_t i = 0; i < f->n_args; i++) {
        if (f->args[i].kind != RF_ARG_IMAGEBLOCK ||
            rt_condition_use(state->function, f->args[i].condition) == RT_ARG_OFF)
            continue;
        if (f->args[i].index)
            return invalid("'%s' has an imageblock of colors: it is a tile function, of a tile "
                           "render pipeline.",
                           f->name);
        state->imageblock_bytes = f->imageblock_bytes;
        state->imageblock_slot = f->args[i].slot;
    }
    return NULL;
}

// Indirect commands set buffers only.
static bool fits_indirect(const MTLComputePipelineState *state) {
    const RfFunction *f = rt_pipeline_function(state);
    for (uint32_t i = 0; i < f->n_args; i++)
        if (state->arg_use[i] == RT_ARG_REQUIRED &&
            (f->args[i].kind == RF_ARG_TEXTURE || f->args[i].kind == RF_ARG_SAMPLER ||
             f->args[i].kind == RF_ARG_TENSOR || f->args[i].kind == RF_ARG_ACCELERATION))
            return false;
    return true;
}

// Nothing is made in a hurry that will be kept (archives), or that is asked for to be looked at:
// checked, or of another width.
static DevCode *make_general(MTLComputePipelineState *state, MTLError **error) {
    bool hurry = !state->record && !state->archives_only && !state->validate &&
                 !state->device->schedule && !state->device->sync_specialise &&
                 !state->device->width;
    DevCode *code = hurry ? make_code(state, state->required, state->reach, IF_CACHED, NULL) : NULL;
    if (hurry && !code) {
        code = make_code(state, state->required, state->reach, BASELINE, error);
        if (!code) return NULL;
        state->baseline = code->stack_bytes <= RT_BASELINE_STACK_BYTES;
        if (!state->baseline) rt_code_free(state->device, code), code = NULL;
    }
    state->rest.reach = state->reach;
    atomic_store(&state->rest.counting, state->baseline);
    return code ? code : make_code(state, state->required, state->reach, OPTIMISED, error);
}

static MTLComputePipelineState *create(MTLDevice *device, const MTLComputePipelineDescriptor *d,
                                       MTLPipelineOption options, Archive *record,
                                       MTLError **error) {
    MTLComputePipelineState *state = rt_new(&rt_pipeline_class, sizeof *state);
    MTLError *wrong = NULL;
    if (!state) goto fail;
    pthread_mutex_init(&state->lock, NULL);
    state->device = mtl_retain(device);
    state->function = mtl_retain(d->compute_function);
    state->entry = state->function->function;
    state->indirect = d->support_indirect_command_buffers;
    state->width_multiple = d->thread_group_size_is_multiple_of_thread_execution_width;
    state->validate = rt_wants_validation(device, d->label, d->shader_validation);
    rt_label_set(&state->label, d->label);
    if (d->shader_validation == MTLShaderValidationEnabled &&
        (wrong = rt_device_lacks(device, DEV_VALIDATION)))
        goto fail;
    if (rt_pipeline_function(state)->stage != RF_KERNEL) {
        wrong = invalid("'%s' is not a kernel function.", rt_pipeline_function(state)->name);
        goto fail;
    }
    if ((wrong = find_imageblock(state))) goto fail;
    wrong = rt_stage_in_make(state->function, d->stage_input_descriptor, &state->stage_in);
    if (wrong) goto fail;
    if (state->stage_in) state->entry = state->stage_in->function;
    state->archives_only = options & MTLPipelineOptionFailOnBinaryArchiveMiss;
    state->record = record;
    state->constants = rt_function_constants(state->function, &state->n_constants);
    if (!state->constants || !collect_arg_use(state) || !collect_archives(state, d)) goto fail;
    if (state->indirect && !fits_indirect(state)) {
        wrong = invalid("'%s' takes textures or samplers itself: pipelines for indirect command "
                        "buffers have them in argument buffers.",
                        rt_pipeline_function(state)->name);
        goto fail;
    }
    bool no_memory;
    wrong = rt_linkage_make(&(RtLinkOwner){state, device, state->function, &state->label,
                                           "mtl_device_new_compute_pipeline_state_with_descriptor",
                                           MTLComputePipelineErrorDomain},
                            &(RtLinkWish){d->linked_functions, d->preloaded_libraries,
                                          d->preloaded_library_count, d->max_call_stack_depth,
                                          d->support_adding_binary_functions},
                            &state->linkage, &no_memory);
    if (wrong || no_memory) goto fail;
    wrong = collect_limits(state, d);
    if (wrong) goto fail;
    MTLError **why = &wrong;
    state->reach = rt_device_reach(device);
    state->general = make_general(state, why);
    if (!state->general) goto fail;
    state->static_bytes = state->general->threadgroup_bytes;
    if (state->static_bytes > RT_MAX_THREADGROUP_MEMORY) {
        wrong = rt_error_new(
            MTLComputePipelineErrorDomain, MTLComputePipelineErrorInvalidInput,
            "Threadgroup memory size (%zu) of '%s' exceeds the maximum threadgroup "
            "memory allowed (%u).",
            state->static_bytes, rt_pipeline_function(state)->name, RT_MAX_THREADGROUP_MEMORY);
        goto fail;
    }
    return state;

fail:
    rt_error_set(error, wrong);
    mtl_release(state);
    return NULL;
}

// What a descriptor must hold. False: reported, and an error.
static bool valid_descriptor(MTLDevice *device, const MTLComputePipelineDescriptor *d,
                             const char *call, MTLError **error) {
    const char *missing = !device                ? "device"
                          : !d                   ? "descriptor"
                          : !d->compute_function ? "compute_function"
                                                 : NULL;
    if (missing) {
        rt_misuse(device, device ? RT_RULE_null_argument : RT_RULE_null_object, call, "%s",
                  missing);
        rt_error_set(error,
                     rt_error_new(MTLComputePipelineErrorDomain,
                                  MTLComputePipelineErrorInvalidInput, "%s is NULL.", missing));
        return false;
    }
    if (!rt_is(d->compute_function, &rt_function_class)) {
        rt_misuse(device, RT_RULE_wrong_class, call, "compute_function");
        rt_error_set(error, invalid("%s is not a MTLFunction.", "compute_function"));
        return false;
    }
    for (size_t i = 0; d->binary_archives && i < d->binary_archive_count; i++) {
        if (!d->binary_archives[i] || rt_is(d->binary_archives[i], &rt_archive_class)) continue;
        rt_misuse(device, RT_RULE_wrong_class, call, "binary_archives[%zu] is a %s", i,
                  mtl_class_name(d->binary_archives[i]));
        rt_error_set(error,
                     invalid("%s holds an object that is no MTLBinaryArchive.", "binary_archives"));
        return false;
    }
    return true;
}

void *rt_with_reflection(void *state, const void *reflection, MTLError **error) {
    if (reflection) return state;
    rt_error_set(error, NULL);
    mtl_release(state);
    return NULL;
}

MTLComputePipelineState *mtl_device_new_compute_pipeline_state_with_descriptor(
    MTLDevice *device, const MTLComputePipelineDescriptor *descriptor, MTLPipelineOption options,
    MTLComputePipelineReflection **reflection, MTLError **error) {
    if (error) *error = NULL;
    if (reflection) *reflection = NULL;
    if (!valid_descriptor(device, descriptor, __func__, error)) return NULL;
    MTLComputePipelineState *state = create(device, descriptor, options, NULL, error);
    if (!state || !reflection || !rt_wants_reflection(options)) return state;
    *reflection = mtl_retain(mtl_compute_pipeline_state_reflection(state));
    return rt_with_reflection(state, *reflection, error);
}

bool rt_pipeline_record(MTLDevice *device, const MTLComputePipelineDescriptor *d, Archive *record,
                        MTLError **error) {
    if (!valid_descriptor(device, d, "mtl_binary_archive_add_compute_pipeline_functions", error))
        return false;
    MTLComputePipelineState *state = create(device, d, 0, record, error);
    if (!state) return false;
    RtKernelRequest general = kernel_request(state, state->required, 0);
    uint32_t shapes[RT_MAX_VARIANTS][3];
    CacheKey key;
    bool ok = rt_kernel_key(&general, &key);
    if (!ok) rt_error_set(error, NULL);
    size_t n = ok && !state->required[0] ? rt_shapes_get(device, &key, shapes, RT_MAX_VARIANTS) : 0;
    for (size_t i = 0; ok && i < n; i++) {
        DevCode *code = make_code(state, shapes[i], state->reach, OPTIMISED, error);
        ok = code != NULL;
        rt_code_free(device, code);
    }
    mtl_release(state);
    return ok;
}

MTLComputePipelineState *mtl_device_new_compute_pipeline_state_with_reflection(
    MTLDevice *device, MTLFunction *function, MTLPipelineOption options,
    MTLComputePipelineReflection **reflection, MTLError **error) {
    return mtl_device_new_compute_pipeline_state_with_descriptor(
        device, &(MTLComputePipelineDescriptor){.compute_function = function}, options, reflection,
        error);
}

MTLComputePipelineState *mtl_device_new_compute_pipeline_state(MTLDevice *device,
                                                               MTLFunction *function,
                                                               MTLError **error) {
    return mtl_device_new_compute_pipeline_state_with_descriptor(
        device, &(MTLComputePipelineDescriptor){.compute_function = function}, 0, NULL, error);
}

// ---- In the background ----

typedef struct AsyncPipeline {
    MTLDevice *device;
    MTLComputePipelineDescriptor descriptor; // its label, function and archives are the job's own
    RtLinkWish links;                        // likewise
    MTLBinaryArchive **archives;
    MTLPipelineOption options;
    MTLNewComputePipelineStateCompletionHandler handler;
    void *context;
} AsyncPipeline;

static void async_pipeline_free(AsyncPipeline *job) {
    mtl_release(job->device);
    mtl_release(job->descriptor.compute_function);
    rt_link_disown(&job->links);
    rt_archives_disown(job->archives, job->descriptor.binary_archive_count);
    rt_free((void *)job->descriptor.label);
    rt_free(job);
}

static bool own_archives(AsyncPipeline *job) {
    MTLComputePipelineDescriptor *d = &job->descriptor;
    if (!d->binary_archives) d->binary_archive_count = 0;
    d->binary_archives = job->archives =
        rt_archives_own(d->binary_archives, d->binary_archive_count);
    return job->archives;
}

static bool own_links(AsyncPipeline *job) {
    MTLComputePipelineDescriptor *d = &job->descriptor;
    job->links = (RtLinkWish){.functions = d->linked_functions,
                              .preloaded = d->preloaded_libraries,
                              .n_preloaded = d->preloaded_library_count};
    bool ok = rt_link_own(&job->links);
    d->linked_functions = job->links.functions;
    d->preloaded_libraries = job->links.preloaded;
    d->preloaded_library_count = job->links.n_preloaded;
    return ok;
}

static void run_async_pipeline(void *context) {
    AsyncPipeline *job = context;
    MTLError *error = NULL;
    MTLComputePipelineReflection *reflection = NULL;
    MTLComputePipelineState *state = mtl_device_new_compute_pipeline_state_with_descriptor(
        job->device, &job->descriptor, job->options, &reflection, &error);
    job->handler(state, reflection, error, job->context);
    mtl_release(state);
    mtl_release(reflection);
    mtl_release(error);
    async_pipeline_free(job);
}

void mtl_device_new_compute_pipeline_state_with_descriptor_async(
    MTLDevice *device, const MTLComputePipelineDescriptor *descriptor, MTLPipelineOption options,
    MTLNewComputePipelineStateCompletionHandler handler, void *context) {
    if (!device || !descriptor || !handler) {
        rt_misuse(device, device ? RT_RULE_null_argument : RT_RULE_null_object, __func__, NULL);
        return;
    }
    AsyncPipeline *job = rt_alloc(sizeof *job);
    if (job) {
        *job = (AsyncPipeline){.device = mtl_retain(device),
                               .descriptor = *descriptor,
                               .options = options,
                               .handler = handler,
                               .context = context};
        mtl_retain(job->descriptor.compute_function);
        job->descriptor.label = rt_strdup(descriptor->label);
        bool links = own_links(job), archives = own_archives(job);
        if (links && archives && job->descriptor.label && rt_async(run_async_pipeline, job)) return;
        async_pipeline_free(job);
    }
    handler(NULL, NULL, rt_error_no_memory(), context);
}

void mtl_device_new_compute_pipeline_state_async(
    MTLDevice *device, MTLFunction *function, MTLPipelineOption options,
    MTLNewComputePipelineStateCompletionHandler handler, void *context) {
    mtl_device_new_compute_pipeline_state_with_descriptor_async(
        device, &(MTLComputePipelineDescriptor){.compute_function = function}, options, handler,
        context);
}

// ---- Properties ----

MTLDevice *mtl_compute_pipeline_state_device(const MTLComputePipelineState *state) {
    return state ? state->device : NULL;
}

const char *mtl_compute_pipeline_state_label(const MTLComputePipelineState *state) {
    return state ? rt_label(&state->label) : "";
}

size_t mtl_compute_pipeline_state_max_total_threads_per_threadgroup(
    const MTLComputePipelineState *state) {
    return state ? state->max_threads : 0;
}

size_t mtl_compute_pipeline_state_thread_execution_width(const MTLComputePipelineState *state) {
    return state ? ABI_SIMD_WIDTH : 0;
}

size_t mtl_compute_pipeline_state_static_threadgroup_memory_length(
    const MTLComputePipelineState *state) {
    return state ? state->static_bytes : 0;
}

MTLSize mtl_compute_pipeline_state_required_threads_per_threadgroup(
    const MTLComputePipelineState *state) {
    return state ? mtl_size_make(state->required[0], state->required[1], state->required[2])
                 : mtl_size_make(0, 0, 0);
}

size_t mtl_compute_pipeline_state_imageblock_memory_length_for_dimensions(
    const MTLComputePipelineState *state, MTLSize size) {
    if (!state || size.depth > 1 || size.width > UINT16_MAX || size.height > UINT16_MAX) return 0;
    return size.width * size.height * size.depth * state->imageblock_bytes;
}
