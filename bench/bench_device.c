// SPDX-License-Identifier: Apache-2.0
// bench_device.c: what a device costs besides its arithmetic, and the benchmark kernels on private
// memory:
//     INGOT_DEVICE=cuda bench_device kernels.metal
// kernels.cu is the same kernels in CUDA C, for the same GPU. A line each: name, microseconds,
// rate.
#include <ingot/metal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../examples/clock.h"

static double now_seconds(void) { return now_ms() * 1e-3; }

static MTLDevice *device;
static MTLCommandQueue *queue;
static MTLLibrary *library;

static void die(const char *what, const MTLError *error) {
    fprintf(stderr, "bench_device: %s: %s\n", what, mtl_error_localized_description(error));
    exit(1);
}

static MTLComputePipelineState *pipeline(const char *name) {
    MTLError *error = NULL;
    MTLFunction *f = mtl_library_new_function(library, name);
    MTLComputePipelineState *p = mtl_device_new_compute_pipeline_state(device, f, &error);
    if (!p) die(name, error);
    mtl_release(f);
    return p;
}

static MTLBuffer *buffer(size_t n_bytes, MTLResourceOptions options) {
    MTLBuffer *b = mtl_device_new_buffer(device, n_bytes, options);
    if (!b) die("no memory", NULL);
    return b;
}

static void line(const char *name, double seconds, const char *format, double rate) {
    printf("%-44s %12.2f us   ", name, seconds * 1e6);
    printf(format, rate);
    printf("\n");
    fflush(stdout);
}

// Waits for a command buffer; seconds since `start`.
static double done(MTLCommandBuffer *commands, double start) {
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    double seconds = now_seconds() - start;
    if (mtl_command_buffer_status(commands) != MTLCommandBufferStatusCompleted)
        die("a command buffer", mtl_command_buffer_error(commands));
    mtl_release(commands);
    return seconds;
}

// ---- What starting work costs ----

static double least(double a, double b) { return a < b ? a : b; }

static void empty_command_buffers(void) {
    double sum = 0, best = 1;
    enum { N = 2000 };
    for (int i = 0; i < N; i++) {
        double t = done(mtl_command_queue_command_buffer(queue), now_seconds());
        sum += t;
        best = least(best, t);
    }
    line("empty command buffer, committed to completed", sum / N, "best %.2f us", best * 1e6);
}

// n dispatches of a kernel that does nothing; `group` makes sequences differ. Seconds of commit to
// completed.
static double many(MTLComputePipelineState *p, MTLBuffer *x, int n, size_t group) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
    for (int i = 0; i < n; i++)
        mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(group, 1, 1),
                                                     mtl_size_make(group, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    return done(commands, now_seconds());
}

static void launches(void) {
    MTLComputePipelineState *p = pipeline("nothing");
    MTLBuffer *x = buffer(65536, MTLResourceStorageModePrivate);
    double single = 1, plain = 1, again = 1;
    for (int i = 0; i < 200; i++) single = least(single, many(p, x, 1, 32));
    for (size_t i = 1; i <= 30; i++) plain = least(plain, many(p, x, 1000, 32 * i)); // all differ
    for (int i = 0; i < 30; i++) again = least(again, many(p, x, 1000, 64));
    line("one dispatch, committed to completed", single, "", 0);
    line("a dispatch in a command buffer of 1,000", plain / 1000, "", 0);
    line("the same command buffer again", again / 1000, "", 0);
    mtl_release(x);
    mtl_release(p);
}

static void indirect_commands(void) {
    enum { N = 1000 };
    MTLError *error = NULL;
    MTLFunction *f = mtl_library_new_function(library, "nothing");
    MTLComputePipelineDescriptor d = {.compute_function = f,
                                      .support_indirect_command_buffers = true};
    MTLComputePipelineState *p =
        mtl_device_new_compute_pipeline_state_with_descriptor(device, &d, 0, NULL, &error);
    if (!p) die("nothing", error);
    MTLIndirectCommandBufferDescriptor id = {.command_types =
                                                 MTLIndirectCommandTypeConcurrentDispatch,
                                             .max_kernel_buffer_bind_count = 1};
    MTLIndirectCommandBuffer *icb =
        mtl_device_new_indirect_command_buffer(device, &id, N, MTLResourceStorageModeShared);
    MTLBuffer *x = buffer(65536, MTLResourceStorageModePrivate);
    for (size_t i = 0; icb && i < N; i++) {
        MTLIndirectComputeCommand *c =
            mtl_indirect_command_buffer_indirect_compute_command_at_index(icb, i);
        mtl_indirect_compute_command_set_compute_pipeline_state(c, p);
        mtl_indirect_compute_command_set_kernel_buffer(c, x, 0, 0);
        mtl_indirect_compute_command_concurrent_dispatch_threadgroups(c, mtl_size_make(1, 1, 1),
                                                                      mtl_size_make(32, 1, 1));
    }
    double best = 1;
    for (int i = 0; icb && i < 30; i++) {
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
        mtl_compute_command_encoder_use_resource(e, (MTLResource *)x, MTLResourceUsageWrite);
        mtl_compute_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(0, N));
        mtl_compute_command_encoder_end_encoding(e);
        best = least(best, done(commands, now_seconds()));
    }
    if (icb) line("a command of an indirect buffer of 1,000", best / N, "", 0);
    mtl_release(icb);
    mtl_release(x);
    mtl_release(p);
    mtl_release(f);
}

// ---- Memory ----

static void memory(void) {
    enum { BYTES = 64 << 20 };
    MTLComputePipelineState *p = pipeline("nothing");
    double t = now_seconds();
    for (int i = 0; i < 100; i++) mtl_release(buffer(1 << 20, MTLResourceStorageModePrivate));
    line("a private buffer of 1 MiB, made and released", (now_seconds() - t) / 100, "", 0);
    MTLBuffer *a = buffer(BYTES, MTLResourceStorageModePrivate),
              *b = buffer(BYTES, MTLResourceStorageModePrivate);
    double best = 1;
    for (int i = 0; i < 10; i++) {
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLBlitCommandEncoder *e = mtl_command_buffer_blit_command_encoder(commands);
        for (int k = 0; k < 20; k++)
            mtl_blit_command_encoder_copy_from_buffer(e, a, 0, b, 0, BYTES);
        mtl_blit_command_encoder_end_encoding(e);
        best = least(best, done(commands, now_seconds()) / 20);
    }
    line("copy of 64 MiB on the device", best, "%.0f GB/s", 2e-9 * BYTES / best);
    MTLBuffer *s = buffer(BYTES, MTLResourceStorageModeShared);
    double hidden = 1, shown = 1, first;
    for (int i = 0; i < 20; i++) hidden = least(hidden, many(p, s, 1, 32));
    t = now_seconds();
    char *contents = mtl_buffer_contents(s);
    first = now_seconds() - t;
    for (int i = 0; i < 20; i++) {
        contents[12345] = (char)i;
        shown = least(shown, many(p, s, 1, 32));
    }
    line("shared 64 MiB, contents never asked for", hidden, "", 0);
    line("contents() for the first time", first, "", 0);
    line("shared 64 MiB, contents known, one word changed", shown, "%.1f GB/s",
         1e-9 * BYTES / shown);
    mtl_release(a);
    mtl_release(b);
    mtl_release(s);
    mtl_release(p);
}

// ---- Kernels ----

typedef struct Kernel {
    const char *name;
    size_t n_buffers, floats[3];
    int ints[2], n_ints;
    size_t grid[2], group[2];
    double flops, bytes;
} Kernel;

static const Kernel kernels[] = {
    {"vadd", 3, {1 << 26, 1 << 26, 1 << 26}, {0}, 0, {1 << 26, 1}, {256, 1}, 0, 12.0 * (1 << 26)},
    {"blur",
     3,
     {1 << 24, 25, 1 << 24},
     {4096, 4096},
     2,
     {4096, 4096},
     {32, 8},
     50.0 * (1 << 24),
     0},
    {"matmul", 3, {1 << 22, 1 << 22, 1 << 22}, {2048}, 1, {2048, 2048}, {32, 8}, 0x1p34, 0},
    {"matmul_tiled", 3, {1 << 22, 1 << 22, 1 << 22}, {2048}, 1, {2048, 2048}, {16, 16}, 0x1p34, 0},
    {"reduce", 2, {1 << 26, 1 << 18}, {0}, 0, {1 << 26, 1}, {256, 1}, 0, 4.0 * (1 << 26)},
    {"mandelbrot", 1, {1 << 20}, {256}, 1, {1024, 1024}, {32, 8}, 0, 0},
};

// Pseudo-random floats, through a shared buffer.
static void fill(MTLBuffer *to, size_t n) {
    float *x = malloc(n * sizeof *x);
    uint32_t seed = 7;
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)(seed >> 8) / 16777216.0f - 0.5f;
    }
    MTLBuffer *from =
        mtl_device_new_buffer_with_bytes(device, x, n * sizeof *x, MTLResourceStorageModeShared);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLBlitCommandEncoder *e = mtl_command_buffer_blit_command_encoder(commands);
    mtl_blit_command_encoder_copy_from_buffer(e, from, 0, to, 0, n * sizeof *x);
    mtl_blit_command_encoder_end_encoding(e);
    done(commands, 0);
    mtl_release(from);
    free(x);
}

static void run_kernel(const Kernel *k) {
    enum { REPEAT = 10 };
    MTLComputePipelineState *p = pipeline(k->name);
    MTLBuffer *buffers[3] = {0};
    for (size_t i = 0; i < k->n_buffers; i++) {
        buffers[i] = buffer(k->floats[i] * 4, MTLResourceStorageModePrivate);
        fill(buffers[i], k->floats[i]);
    }
    double best = 10;
    for (int round = 0; round < 5; round++) {
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
        mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
        for (size_t i = 0; i < k->n_buffers; i++)
            mtl_compute_command_encoder_set_buffer(e, buffers[i], 0, i);
        if (k->n_ints)
            mtl_compute_command_encoder_set_bytes(e, k->ints, (size_t)k->n_ints * sizeof(int),
                                                  k->n_buffers);
        for (int i = 0; i < REPEAT; i++)
            mtl_compute_command_encoder_dispatch_threads(
                e, mtl_size_make(k->grid[0], k->grid[1], 1),
                mtl_size_make(k->group[0], k->group[1], 1));
        mtl_compute_command_encoder_end_encoding(e);
        best = least(best, done(commands, now_seconds()) / REPEAT);
    }
    char name[64];
    snprintf(name, sizeof name, "kernel %s", k->name);
    if (k->flops > 0)
        line(name, best, "%.2f TFLOP/s", k->flops / best * 1e-12);
    else if (k->bytes > 0)
        line(name, best, "%.0f GB/s", k->bytes / best * 1e-9);
    else
        line(name, best, "", 0);
    for (size_t i = 0; i < k->n_buffers; i++) mtl_release(buffers[i]);
    mtl_release(p);
}

// ---- A new kernel ----

// Seconds: of the library, the pipeline, the first result, and all.
typedef struct Fresh {
    double library, pipeline, run, all;
} Fresh;

static Fresh from_source(unsigned number) {
    Fresh t;
    char source[400];
    MTLError *error = NULL;
    snprintf(source, sizeof source,
             "kernel void fresh(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) "
             "{ x[i] = x[i] * %u.0f + 1.0f; }",
             number);
    double start = now_seconds();
    MTLLibrary *l = mtl_device_new_library_with_source(device, source, NULL, &error);
    if (!l) die("source", error);
    t.library = now_seconds() - start;
    MTLFunction *f = mtl_library_new_function(l, "fresh");
    MTLComputePipelineState *p = mtl_device_new_compute_pipeline_state(device, f, &error);
    if (!p) die("fresh", error);
    t.pipeline = now_seconds() - start - t.library;
    MTLBuffer *x = buffer(4096, MTLResourceStorageModePrivate);
    many(p, x, 1, 32);
    t.all = now_seconds() - start;
    t.run = t.all - t.library - t.pipeline;
    mtl_release(x);
    mtl_release(p);
    mtl_release(f);
    mtl_release(l);
    return t;
}

int main(int argc, char **argv) {
    MTLError *error = NULL;
    device = mtl_create_system_default_device();
    if (!device || argc != 2) {
        fprintf(stderr, device ? "usage: bench_device KERNELS.metal\n" : "there is no device\n");
        return 1;
    }
    printf("%s\n", mtl_device_name(device));
    queue = mtl_device_new_command_queue(device);
    FILE *file = fopen(argv[1], "r");
    static char text[1 << 16];
    if (!file || !fread(text, 1, sizeof text - 1, file)) {
        perror(argv[1]);
        return 1;
    }
    fclose(file);
    library = mtl_device_new_library_with_source(device, text, NULL, &error);
    if (!library) die(argv[1], error);
    unsigned number = (unsigned)(now_seconds() * 1e3) % 1000000u;
    from_source(number); // the compiler starts, and the context
    Fresh cold = {.all = 1}, cached = {.all = 1};
    for (unsigned i = 1; i <= 5; i++) {
        Fresh once = from_source(number + i), again = from_source(number + i);
        cold = once.all < cold.all ? once : cold;
        cached = again.all < cached.all ? again : cached;
    }
    line("a new kernel, from source to result", cold.all, "", 0);
    line("  the library", cold.library, "", 0);
    line("  the pipeline", cold.pipeline, "", 0);
    line("  the first result", cold.run, "", 0);
    line("the same, cached", cached.all, "", 0);
    empty_command_buffers();
    launches();
    if (mtl_device_worker_count(device)) indirect_commands();
    memory();
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) run_kernel(&kernels[i]);
    mtl_release(library);
    mtl_release(queue);
    mtl_release(device);
    return 0;
}
