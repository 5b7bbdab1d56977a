// SPDX-License-Identifier: Apache-2.0
// bench_compile.c: what compiling costs, in processor time of this thread: a source to a library,
// then every entry point of it to code (kernels for any threadgroup), as pipelines are made. The
// compiler is linked in and warm: the first source is compiled once before the clock starts.
// BENCH_STDLIB and BENCH_PCH are set by the build.
//   bench_compile [-DNAME=VALUE]... [--kernels N] [--repeat N] [--cpu NAME] [--group X,Y,Z]
//                 [--baseline] [--each] [--steps] [--shared] FILE...
// A line for each file, then medians and the worst; function constants are one, attributes of
// vertices floats or bytes. --kernels: at most so many functions of each library, evenly picked;
// --repeat: the quickest of so many tries counts; --group: code for threadgroups of this shape;
// --each: a line for each; --steps: where their time goes; --shared: large libraries by several
// processes, in real time.
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "abi/data_types.h"
#include "abi/source_files.h"
#include "base/files.h"
#include "compiler/compiler.h"

enum { MAX_MACROS = 16, MAX_STEPS = 32, STACK_BYTES = 256 << 20 };

typedef struct Times {
    double *ms;
    size_t n, capacity;
} Times;

typedef struct Bench {
    const char *macros[MAX_MACROS];
    size_t n_macros, max_kernels;
    unsigned repeats; // of which the quickest counts
    bool steps, each, baseline, shared;
    const char *cpu;   // LLVM's name; NULL: this machine
    uint32_t group[3]; // 0: for any
    char **files;
    int n_files;
    Times libraries, first, kernels; // first: of a library and its first function
    struct {
        char name[16];
        double ms;
    } step[MAX_STEPS];
    size_t n_steps;
} Bench;

static double now_ms(bool real) {
    struct timespec t;
    clock_gettime(real ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void add(Times *t, double ms) {
    if (t->n == t->capacity) {
        t->capacity = t->capacity ? t->capacity * 2 : 64;
        t->ms = realloc(t->ms, t->capacity * sizeof *t->ms);
        if (!t->ms) exit(1);
    }
    t->ms[t->n++] = ms;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Of all times from the number `from` on, which are put in order.
static double median(Times *t, size_t from) {
    size_t n = t->n - from;
    if (!n) return 0;
    qsort(t->ms + from, n, sizeof *t->ms, by_size);
    return n % 2 ? t->ms[from + n / 2] : (t->ms[from + n / 2 - 1] + t->ms[from + n / 2]) / 2;
}

static void add_steps(Bench *b, const char *log) {
    char name[16];
    double ms;
    int length;
    for (; sscanf(log, "%15s %lf ms %n", name, &ms, &length) == 2; log += length) {
        size_t i = 0;
        while (i < b->n_steps && strcmp(b->step[i].name, name) != 0) i++;
        if (i == MAX_STEPS) return;
        if (i == b->n_steps) memcpy(b->step[b->n_steps++].name, name, sizeof name);
        b->step[i].ms += ms;
    }
}

// A buffer with all that the function reads as stage inputs; false: it reads none.
static bool describe_inputs(const RfFunction *f, MslVertexDescriptor *d) {
    bool any = false;
    *d = (MslVertexDescriptor){0};
    for (uint32_t i = 0; i < f->n_inputs; i++) {
        const RfValue *v = &f->inputs[i];
        if (v->role != RF_ATTRIBUTE || v->index >= MSL_MAX_VERTEX) continue;
        uint32_t n, scalar = rf_scalar_of(v->data_type, &n);
        bool is_signed = scalar == DT_INT || scalar == DT_SHORT || scalar == DT_CHAR;
        uint32_t format = scalar == DT_FLOAT || scalar == DT_HALF
                              ? (uint32_t)MSL_VERTEX_Float + n - 1
                          : is_signed ? (n == 1 ? MSL_VERTEX_Char : MSL_VERTEX_Char2 + n - 2)
                                      : (n == 1 ? MSL_VERTEX_UChar : MSL_VERTEX_UChar2 + n - 2);
        uint32_t buffer = v->points ? 29 : 30;
        d->attributes[v->index] = (MslVertexAttribute){format, 16 * v->index, buffer};
        d->layouts[buffer] = (MslVertexLayout){16 * MSL_MAX_VERTEX,
                                               v->points  ? MSL_STEP_PER_CONTROL_POINT
                                               : f->patch ? MSL_STEP_PER_PATCH
                                                          : MSL_STEP_PER_VERTEX,
                                               1};
        any = true;
    }
    return any;
}

static bool compile_kernel(Bench *b, const MslLibrary *lib, const RfFunction *f, double *ms,
                           size_t *code_bytes) {
    const RfLibrary *rf = lib->reflection;
    static const unsigned char ones[64] = {1};
    MslConstantValue *values = calloc(f->n_constants + 1, sizeof *values);
    if (!values) return false;
    for (uint32_t i = 0; i < f->n_constants; i++) {
        const RfConstant *c = &rf->constants[f->constants[i]];
        values[i] = (MslConstantValue){NULL, c->index, rf->types[c->type].data_type, ones,
                                       rf->types[c->type].size};
    }
    MslVertexDescriptor descriptor;
    MslKernelRequest request = {.bitcode = lib->bitcode,
                                .bitcode_bytes = lib->bitcode_bytes,
                                .reflection = rf,
                                .function = f->name,
                                .constants = values,
                                .n_constants = f->n_constants,
                                .math_mode = MSL_MATH_FAST,
                                .vertex = describe_inputs(f, &descriptor) ? &descriptor : NULL,
                                .cpu = b->cpu,
                                .tier = b->baseline ? TIER_BASELINE : TIER_OPTIMISED,
                                .shape = {b->group[0], b->group[1], b->group[2]},
                                .dump_after = b->steps ? "time" : NULL};
    bool ok = true;
    char *log = NULL;
    *ms = INFINITY;
    for (unsigned i = 0; ok && i < b->repeats; i++) {
        MslKernel out;
        double start = now_ms(false);
        ok = msl_backend(&request, &out);
        double took = now_ms(false) - start;
        *code_bytes = out.code_bytes;
        if (took < *ms) {
            *ms = took;
            free(log);
            log = strdup(out.log);
        }
        if (!ok) printf("    %s: %s\n", f->name, out.error);
        msl_kernel_free(&out);
    }
    if (ok && log && b->steps) add_steps(b, log);
    free(log);
    free(values);
    return ok;
}

static bool compile_library(const Bench *b, const char *path, MslLibrary *lib, double *ms) {
    size_t n;
    char *text = (char *)file_read(path, &n);
    if (!text) return false;
    MslSource source = {.name = path,
                        .text = text,
                        .n_bytes = n,
                        .macros = b->macros,
                        .n_macros = b->n_macros,
                        .math_mode = MSL_MATH_FAST,
                        .stdlib_dir = BENCH_STDLIB,
                        .pch_dir = BENCH_PCH,
                        .processes = b->shared};
    MslFiles files = {source_files_new(&source, NULL), source_files_find};
    source.files = &files;
    bool ok = true;
    *ms = INFINITY;
    for (unsigned i = 0; ok && i < b->repeats; i++) {
        if (i) msl_library_free(lib);
        double start = now_ms(b->shared);
        ok = msl_frontend(&source, lib);
        *ms = fmin(*ms, now_ms(b->shared) - start);
    }
    source_files_free(files.context);
    free(text);
    return ok;
}

static bool is_entry(const RfFunction *f) {
    return f->stage == RF_KERNEL || f->stage == RF_VERTEX || f->stage == RF_FRAGMENT ||
           f->stage == RF_OBJECT || f->stage == RF_MESH;
}

static void bench_file(Bench *b, const char *path) {
    MslLibrary lib;
    double ms, worst = 0;
    size_t before = b->kernels.n, n = 0, step = 1;
    if (!compile_library(b, path, &lib, &ms)) {
        printf("%-60s does not compile\n", path);
        msl_library_free(&lib);
        return;
    }
    add(&b->libraries, ms);
    for (uint32_t i = 0; i < lib.reflection->n_functions; i++)
        n += is_entry(&lib.reflection->functions[i]);
    if (b->max_kernels && n > b->max_kernels) step = n / b->max_kernels;
    n = 0;
    for (uint32_t i = 0; i < lib.reflection->n_functions; i++) {
        double one;
        size_t bytes;
        const RfFunction *f = &lib.reflection->functions[i];
        if (!is_entry(f) || n++ % step || !compile_kernel(b, &lib, f, &one, &bytes)) continue;
        if (b->each) printf("    %-60s %8.1f ms %8zu bytes\n", f->name, one, bytes);
        if (b->kernels.n == before) add(&b->first, ms + one);
        add(&b->kernels, one);
        worst = one > worst ? one : worst;
    }
    printf("%-60s library %8.1f ms  %4zu functions, median %7.1f ms, worst %7.1f ms\n", path, ms,
           b->kernels.n - before, median(&b->kernels, before), worst);
    fflush(stdout);
    msl_library_free(&lib);
}

static void *run(void *context) {
    Bench *b = context;
    MslLibrary lib;
    double ms;
    size_t bytes;
    if (compile_library(b, b->files[0], &lib, &ms) && lib.reflection->n_functions)
        compile_kernel(b, &lib, &lib.reflection->functions[0], &ms, &bytes);
    msl_library_free(&lib);
    b->n_steps = 0;
    for (int i = 0; i < b->n_files; i++) bench_file(b, b->files[i]);
    double total = 0;
    for (size_t i = 0; i < b->libraries.n; i++) total += b->libraries.ms[i];
    printf("libraries        %4zu, median %7.1f ms, all %.0f ms\n", b->libraries.n,
           median(&b->libraries, 0), total);
    printf("source to code   %4zu, median %7.1f ms\n", b->first.n, median(&b->first, 0));
    double middle = median(&b->kernels, 0);
    printf("functions        %4zu, median %7.1f ms, worst %.1f ms\n", b->kernels.n, middle,
           b->kernels.n ? b->kernels.ms[b->kernels.n - 1] : 0);
    for (size_t i = 0; i < b->n_steps; i++)
        printf("  %-14s %9.1f ms\n", b->step[i].name, b->step[i].ms);
    free(b->libraries.ms), free(b->first.ms), free(b->kernels.ms);
    return NULL;
}

// X, or X,Y or X,Y,Z: what is not said is 1.
static void read_group(Bench *b, const char *text) {
    for (int d = 0; d < 3; d++) b->group[d] = 1;
    sscanf(text, "%u,%u,%u", &b->group[0], &b->group[1], &b->group[2]);
}

int main(int argc, char **argv) {
    static Bench b = {.repeats = 1};
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (!strncmp(argv[i], "-D", 2) && b.n_macros < MAX_MACROS)
            b.macros[b.n_macros++] = argv[i] + 2;
        else if (!strcmp(argv[i], "--kernels") && i + 1 < argc)
            b.max_kernels = strtoul(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--steps"))
            b.steps = true;
        else if (!strcmp(argv[i], "--baseline"))
            b.baseline = true;
        else if (!strcmp(argv[i], "--repeat") && i + 1 < argc)
            b.repeats = (unsigned)strtoul(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--cpu") && i + 1 < argc)
            b.cpu = argv[++i];
        else if (!strcmp(argv[i], "--group") && i + 1 < argc)
            read_group(&b, argv[++i]);
        else if (!strcmp(argv[i], "--each"))
            b.each = true;
        else if (!strcmp(argv[i], "--shared"))
            b.shared = true;
        else
            break;
    }
    b.files = argv + i, b.n_files = argc - i;
    if (!b.n_files || !b.repeats || argv[i][0] == '-') {
        fputs("usage: bench_compile [-DNAME=VALUE]... [--kernels N] [--repeat N] [--cpu NAME] "
              "[--group X,Y,Z] [--baseline] [--each] [--steps] [--shared] FILE...\n",
              stderr);
        return 2;
    }
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES); // for Clang's recursion
    if (pthread_create(&thread, &attributes, run, &b)) return 1;
    pthread_join(thread, NULL);
    fflush(stdout);
    _Exit(0); // LLVM's global destructors take their time
}
