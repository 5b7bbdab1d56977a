// SPDX-License-Identifier: Apache-2.0
// cmd_bench.c: `ingot bench`: a few quick measurements through the public API: latencies of the
// queue, times of the compiler, and the speed of three kernels (memory and textures:
// bench_resources.c). Medians; ratios between machines mean more than single figures. The full set
// lives in the project's bench folder.
#include "base/files.h"
#include "base/progress.h"
#include "base/text.h"
#include "apps/tools/bench_tensors.h"
#include "apps/tools/tools.h"
#include "tools_texts.h"
#include <ftw.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

typedef struct Job {
    uint32_t compile_once; // a number for the source
    bool has_compile_once;
    const char *archive_once;
    const char *device;
} Job;

static const Option rows[] = {
    DEVICE_ROW(OPT_AT(Job, device)),
    // used by ourselves
    {"--compile-once", "N", NULL, OPT_WHOLE, OPT_AT(Job, compile_once), 0, 1e9,
     OPT_GIVEN(Job, has_compile_once)},
    {"--archive-once", "FILE", NULL, OPT_TEXT, OPT_AT(Job, archive_once)},
};
static const CommandLine line = {
    .program = "ingot bench",
    .usage = "[options]\n       ingot bench tensors [options]",
    .about = "Measures this machine: latencies, compile times, and the throughput of kernels, "
             "copies and\n"
             "textures. Takes a few seconds. `ingot bench tensors` measures the tensor library.",
    OPT_ROWS(rows),
};

typedef struct Bench {
    MTLDevice *device;
    MTLCommandQueue *queue;
    MTLLibrary *library;
} Bench;

static MTLComputePipelineState *pipeline(Bench *b, MTLLibrary *library, const char *name) {
    MTLError *error = NULL;
    MTLFunction *f = library ? mtl_library_new_function(library, name) : NULL;
    MTLComputePipelineState *p =
        f ? mtl_device_new_compute_pipeline_state(b->device, f, &error) : NULL;
    if (!p) complain(EXIT_INPUT, "bench", "'%s': %s", name, mtl_error_localized_description(error));
    mtl_release(error);
    mtl_release(f);
    return p;
}

static MTLLibrary *compile(Bench *b, const char *source) {
    MTLError *error = NULL;
    MTLLibrary *l = mtl_device_new_library_with_source(b->device, source, NULL, &error);
    if (!l) complain(EXIT_INPUT, "bench", "%s", mtl_error_localized_description(error));
    mtl_release(error);
    return l;
}

// Seconds from commit to completed of one dispatch (or none), as the program sees them.
static double once(Bench *b, MTLComputePipelineState *p, MTLBuffer *const *buffers,
                   size_t n_buffers, uint32_t n, MTLSize grid, MTLSize group) {
    MTLCommandBuffer *c = mtl_command_queue_command_buffer(b->queue);
    if (p) {
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(c);
        mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
        for (size_t i = 0; i < n_buffers; i++)
            mtl_compute_command_encoder_set_buffer(e, buffers[i], 0, i);
        if (n) mtl_compute_command_encoder_set_bytes(e, &n, sizeof n, n_buffers);
        mtl_compute_command_encoder_dispatch_threads(e, grid, group);
        mtl_compute_command_encoder_end_encoding(e);
    }
    double t = seconds_now();
    mtl_command_buffer_commit(c);
    mtl_command_buffer_wait_until_completed(c);
    t = seconds_now() - t;
    bool ok = mtl_command_buffer_status(c) == MTLCommandBufferStatusCompleted;
    mtl_release(c);
    return ok ? t : -1;
}

static double typical(Bench *b, MTLComputePipelineState *p, MTLBuffer *const *buffers,
                      size_t n_buffers, uint32_t n, MTLSize grid, MTLSize group, size_t repeat) {
    double *times = must_alloc(repeat, sizeof *times), m = -1;
    // Until the code is there that stays, which is made while quick code runs.
    double until = seconds_now() + (p ? 0.25 : 0);
    for (size_t i = 0; i < 3 || seconds_now() < until; i++)
        if (once(b, p, buffers, n_buffers, n, grid, group) < 0) break;
    size_t k = 0;
    while (k < repeat && (times[k] = once(b, p, buffers, n_buffers, n, grid, group)) >= 0) k++;
    if (k == repeat) m = median(times, repeat);
    free(times);
    return m;
}

void bench_line(const char *what, double value, const char *unit) {
    if (value < 0)
        printf("  %-44s failed\n", what);
    else
        printf("  %-44s %10.2f %s\n", what, value, unit);
    fflush(stdout);
}

// ---- compile times: each in a process of its own, in a cache folder of its own ----

// Source that no number but this one has; NULL: no memory.
static char *tiny_source(int number) {
    return text_format("#define FACTOR %d.0f\n%s", number, tools_text_bench_tiny_metal);
}

// In the child: library and pipeline of a tiny kernel; prints the seconds.
static int compile_once(int number) {
    char *source = tiny_source(number);
    Bench b = {.device = mtl_create_system_default_device()};
    if (!source || !b.device) return EXIT_INPUT;
    double t = seconds_now();
    MTLLibrary *l = compile(&b, source);
    MTLComputePipelineState *p = pipeline(&b, l, "tiny");
    t = seconds_now() - t;
    if (p) printf("%.9f\n", t);
    bool ok = p != NULL;
    mtl_release(p);
    mtl_release(l);
    mtl_release(b.device);
    free(source);
    return ok ? EXIT_FINE : EXIT_INPUT;
}

// In the child: library from a metallib file, pipeline from an archive; prints the seconds. Files:
// NAME.metallib and NAME.binarchive.
static int archive_once(const char *name) {
    MTLDevice *device = mtl_create_system_default_device();
    char *metallib = text_format("%s.metallib", name), *file = text_format("%s.binarchive", name);
    MTLError *error = NULL;
    double t = seconds_now();
    MTLLibrary *l = mtl_device_new_library_with_url(device, metallib, &error);
    MTLFunction *f = l ? mtl_library_new_function(l, "tiny") : NULL;
    MTLBinaryArchive *archive = f ? mtl_device_new_binary_archive(
                                        device, &(MTLBinaryArchiveDescriptor){.url = file}, &error)
                                  : NULL;
    MTLComputePipelineDescriptor d = {
        .compute_function = f, .binary_archives = &archive, .binary_archive_count = 1};
    MTLComputePipelineState *p =
        archive ? mtl_device_new_compute_pipeline_state_with_descriptor(
                      device, &d, MTLPipelineOptionFailOnBinaryArchiveMiss, NULL, &error)
                : NULL;
    t = seconds_now() - t;
    bool ok = p != NULL;
    if (ok)
        printf("%.9f\n", t);
    else
        complain(EXIT_INPUT, "bench", "%s", mtl_error_localized_description(error));
    mtl_release(p), mtl_release(archive), mtl_release(f), mtl_release(l), mtl_release(error);
    free(metallib), free(file);
    return ok ? EXIT_FINE : EXIT_INPUT;
}

// The two files of archive_once, of the tiny kernel. False: said why.
static bool make_archive(const char *name) {
    char *source = tiny_source(2);
    Bench b = {.device = mtl_create_system_default_device()};
    MTLLibrary *l = source && b.device ? compile(&b, source) : NULL;
    free(source);
    MTLFunction *f = l ? mtl_library_new_function(l, "tiny") : NULL;
    MTLBinaryArchive *archive = f ? mtl_device_new_binary_archive(b.device, NULL, NULL) : NULL;
    char *metallib = text_format("%s.metallib", name), *file = text_format("%s.binarchive", name);
    size_t n = 0;
    void *data = l ? mtl_library_copy_data(l, &n) : NULL;
    bool ok = archive && data && file_write_atomic(metallib, data, n, false) &&
              mtl_binary_archive_add_compute_pipeline_functions(
                  archive, &(MTLComputePipelineDescriptor){.compute_function = f}, NULL) &&
              mtl_binary_archive_serialize_to_url(archive, file, NULL);
    mtl_free_data(data);
    free(metallib), free(file);
    mtl_release(archive), mtl_release(f), mtl_release(l), mtl_release(b.device);
    return ok;
}

static double in_child(char *what, char *argument, char **environment) {
    char *argv[] = {"ingot", "bench", what, argument, NULL};
    int pair[2], status = 0;
    pid_t pid;
    posix_spawn_file_actions_t actions;
    double seconds = -1;
    if (pipe(pair)) return -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pair[1], 1);
    posix_spawn_file_actions_addclose(&actions, pair[0]);
    if (!posix_spawn(&pid, "/proc/self/exe", &actions, NULL, argv, environment)) {
        close(pair[1]);
        FILE *f = fdopen(pair[0], "r");
        if (!f || fscanf(f, "%lf", &seconds) != 1) seconds = -1;
        if (f) fclose(f);
        waitpid(pid, &status, 0);
    } else {
        close(pair[0]);
        close(pair[1]);
    }
    posix_spawn_file_actions_destroy(&actions);
    return seconds;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw) {
    (void)st, (void)flag, (void)ftw;
    return remove(path);
}

// Our environment with another cache folder, and with another compiler or our own (NULL). Not
// setenv: the runtime's threads read ours meanwhile.
static char **with_cache(char *setting, char *compiler) {
    size_t n = 0, k = 0;
    while (environ[n]) n++;
    char **copy = must_alloc(n + 3, sizeof *copy);
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], "INGOT_CACHE_DIR=", 16) &&
            (!compiler || strncmp(environ[i], "INGOT_MSLC=", 11)))
            copy[k++] = environ[i];
    copy[k++] = setting;
    copy[k] = compiler;
    return copy;
}

static double compile_in_child(int number, char **environment) {
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    return in_child("--compile-once", text, environment);
}

static void compile_times(void) {
    char setting[] = "INGOT_CACHE_DIR=/tmp/ingot-bench-XXXXXX", *folder = strchr(setting, '/');
    if (!mkdtemp(folder)) return;
    char **environment = with_cache(setting, NULL);
    char **bare = with_cache("INGOT_CACHE_DIR=off", "INGOT_MSLC=/nowhere/mslc");
    puts("compiler, library and pipeline of a tiny kernel");
    bench_line("the very first, with an empty cache", compile_in_child(1, environment) * 1e3, "ms");
    double cold[5], cached[9];
    for (int i = 0; i < 5; i++) cold[i] = compile_in_child(i + 2, environment) * 1e3;
    for (int i = 0; i < 9; i++) cached[i] = compile_in_child(2, environment) * 1e3;
    bench_line("cold: new source, compiler not running", median(cold, 5), "ms");
    bench_line("cached, in a new process", median(cached, 9), "ms");
    char *files = text_format("%s/tiny", folder);
    if (files && make_archive(files)) {
        for (int i = 0; i < 9; i++) cached[i] = in_child("--archive-once", files, bare) * 1e3;
        bench_line("metallib and archive, no compiler", median(cached, 9), "ms");
    }
    free(files);
    free(environment);
    free(bare);
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void latencies(Bench *b) {
    MTLBuffer *x = mtl_device_new_buffer(b->device, 4096, 0);
    MTLComputePipelineState *p = pipeline(b, b->library, "nothing");
    MTLSize one = {32, 1, 1};
    puts("latency, commit to completed");
    bench_line("empty command buffer", typical(b, NULL, NULL, 0, 0, one, one, 2000) * 1e6, "us");
    if (p) bench_line("one threadgroup", typical(b, p, &x, 1, 0, one, one, 2000) * 1e6, "us");
    mtl_release(p);
    mtl_release(x);
}

// Command buffers of one small dispatch each, encoded and committed, not waited for; per second.
static double commit_rate(Bench *b, MTLComputePipelineState *p, MTLBuffer *x) {
    enum { N = 100000 };
    MTLSize one = {32, 1, 1};
    MTLCommandBuffer *last = NULL;
    double t = seconds_now();
    for (int i = 0; i < N; i++) {
        MTLCommandBuffer *c = mtl_command_queue_command_buffer(b->queue);
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(c);
        mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
        mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
        mtl_compute_command_encoder_dispatch_threads(e, one, one);
        mtl_compute_command_encoder_end_encoding(e);
        mtl_command_buffer_commit(c);
        mtl_release(last);
        last = c;
    }
    t = seconds_now() - t;
    mtl_command_buffer_wait_until_completed(last);
    bool ok = mtl_command_buffer_status(last) == MTLCommandBufferStatusCompleted;
    mtl_release(last);
    return ok ? N / t : -1;
}

static void rates(Bench *b) {
    MTLBuffer *x = mtl_device_new_buffer(b->device, 4096, 0);
    MTLComputePipelineState *p = pipeline(b, b->library, "nothing");
    puts("rates, one thread");
    if (p) {
        double runs[5];
        for (int i = 0; i < 5; i++) runs[i] = commit_rate(b, p, x);
        bench_line("encode and commit a small dispatch", median(runs, 5) * 1e-3, "thousand/s");
    }
    mtl_release(p);
    mtl_release(x);
}

static void kernels(Bench *b) {
    const size_t n = (size_t)16 << 20, size = 512;
    MTLBuffer *buffers[3];
    puts("kernels");
    for (int i = 0; i < 3; i++) {
        buffers[i] = mtl_device_new_buffer(b->device, n * 4, 0);
        if (!buffers[i]) {
            bench_line("(not enough memory)", -1, "");
            while (i) mtl_release(buffers[--i]);
            return;
        }
        float *p = mtl_buffer_contents(buffers[i]);
        for (size_t k = 0; k < n; k++) p[k] = (float)(k & 1023) * 0x1p-10f;
    }
    MTLComputePipelineState *add = pipeline(b, b->library, "add");
    MTLComputePipelineState *matmul = pipeline(b, b->library, "matmul");
    MTLComputePipelineState *reduce = pipeline(b, b->library, "reduce");
    Progress progress;
    progress_begin(&progress, "measuring", 3);
    double t =
        add ? typical(b, add, buffers, 3, 0, (MTLSize){n, 1, 1}, (MTLSize){256, 1, 1}, 11) : -1;
    progress_end(&progress);
    bench_line("vector add, 16 M floats", t < 0 ? t : (double)n * 12e-9 / t, "GB/s");
    t = matmul ? typical(b, matmul, buffers, 3, (uint32_t)size, (MTLSize){size, size, 1},
                         (MTLSize){32, 8, 1}, 11)
               : -1;
    bench_line("naive matrix product, 512 x 512",
               t < 0 ? t : 2e-9 * (double)(size * size * size) / t, "GFLOP/s");
    MTLBuffer *in_out[2] = {buffers[0], buffers[1]};
    t = reduce ? typical(b, reduce, in_out, 2, 0, (MTLSize){n, 1, 1}, (MTLSize){256, 1, 1}, 11)
               : -1;
    bench_line("tree reduction with barriers, 16 M floats", t < 0 ? t : (double)n * 4e-9 / t,
               "GB/s");
    mtl_release(add);
    mtl_release(matmul);
    mtl_release(reduce);
    for (int i = 0; i < 3; i++) mtl_release(buffers[i]);
}

// The same kernel with and without checks of its accesses, in turns: what else the machine does
// meets both.
static void validation(Bench *b) {
    enum { SIZE = 1024, REPEAT = 41 };
    MTLFunction *f = mtl_library_new_function(b->library, "blur");
    MTLComputePipelineState *p[2] = {NULL, NULL};
    MTLBuffer *buffers[3];
    double times[2][REPEAT];
    bool ok = f != NULL;
    for (int i = 0; i < 3; i++) {
        buffers[i] = mtl_device_new_buffer(b->device, i == 1 ? 25 * 4 : SIZE * SIZE * 4, 0);
        ok = ok && buffers[i];
    }
    for (int i = 0; ok && i < 2; i++) {
        MTLComputePipelineDescriptor d = {.compute_function = f,
                                          .shader_validation = i ? MTLShaderValidationEnabled
                                                                 : MTLShaderValidationDisabled};
        p[i] = mtl_device_new_compute_pipeline_state_with_descriptor(b->device, &d, 0, NULL, NULL);
        ok = p[i] != NULL;
    }
    MTLSize grid = {SIZE, SIZE, 1}, group = {32, 8, 1};
    for (int k = -3; ok && k < REPEAT; k++)
        for (int i = 0; i < 2; i++) {
            double t = once(b, p[i], buffers, 3, SIZE, grid, group);
            if (k >= 0) times[i][k] = t * 1e3;
            ok = ok && t >= 0;
        }
    double plain = ok ? median(times[0], REPEAT) : -1, checked = ok ? median(times[1], REPEAT) : -1;
    puts("shader validation");
    bench_line("5x5 blur, 1024 x 1024", plain, "ms");
    bench_line("the same with MTL_SHADER_VALIDATION", checked, "ms");
    bench_line("ratio", ok ? checked / plain : -1, "x");
    for (int i = 0; i < 2; i++) mtl_release(p[i]);
    for (int i = 0; i < 3; i++) mtl_release(buffers[i]);
    mtl_release(f);
}

int cmd_bench(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "tensors")) return bench_tensors(argc - 1, argv + 1);
    Job job = {0};
    int status = options_read(&line, &job, argc, argv);
    if (status != OPTIONS_GO_ON) return status;
    if (job.has_compile_once) return compile_once((int)job.compile_once);
    if (job.archive_once) return archive_once(job.archive_once);
    Bench b = {.device = open_device_named(job.device, "bench")};
    if (!b.device) return EXIT_INPUT;
    printf("%s, %zu threads\n", mtl_device_name(b.device), mtl_device_worker_count(b.device));
    b.queue = mtl_device_new_command_queue(b.device);
    b.library = compile(&b, tools_text_bench_metal);
    bool ok = b.queue && b.library;
    if (ok) {
        latencies(&b);
        rates(&b);
        compile_times();
        kernels(&b);
        validation(&b);
        bench_resources(b.device, b.queue);
    }
    mtl_release(b.library);
    mtl_release(b.queue);
    mtl_release(b.device);
    return ok ? EXIT_FINE : EXIT_INPUT;
}
