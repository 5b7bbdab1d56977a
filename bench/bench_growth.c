// SPDX-License-Identifier: Apache-2.0
// bench_growth.c: what one more costs when there are many. Each case is run with numbers from a
// thousand up; shown are the processor time of one at the smallest and the largest number, the
// exponent that a line through all of them gives (1: one costs the same however many there are),
// and for objects the memory of one. Then eight queues at once beside one.
//
//     bench_growth [CASE]     only those whose name contains it
#include <ingot/metal.h>
#include <ingot/tensor.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include "../examples/util.h"
#include "bench_kernels.h"

enum { MAX_SIZES = 5, REPEAT = 3, QUEUES = 8, PER_QUEUE = 20000 };

static MTLDevice *device;
static MTLCommandQueue *queue;
static MTLComputePipelineState *touch;
static MTLRenderPipelineState *shade;
static MTLBuffer *floats;
static MTLTexture *picture;
static void **objects; // of the cases that keep them

static double processor_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double resident_bytes(void) {
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%*d %ld", &pages) != 1) pages = 0;
    if (f) fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

// ---- Commands ----

static void dispatch(MTLComputeCommandEncoder *e, MTLBuffer *buffer) {
    mtl_compute_command_encoder_set_buffer(e, buffer, 0, 0);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(32, 1, 1),
                                                 mtl_size_make(32, 1, 1));
}

static MTLCommandBuffer *begin(MTLCommandQueue *q, MTLComputeCommandEncoder **e) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(q);
    *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(*e, touch);
    return commands;
}

static void finish(MTLCommandBuffer *commands, MTLComputeCommandEncoder *e) {
    mtl_compute_command_encoder_end_encoding(e);
    complete(commands);
    mtl_release(commands);
}

static void dispatches(size_t n) {
    MTLComputeCommandEncoder *e;
    MTLCommandBuffer *commands = begin(queue, &e);
    for (size_t i = 0; i < n; i++) dispatch(e, floats);
    finish(commands, e);
}

static void command_buffers_of(MTLCommandQueue *q, MTLBuffer *buffer, size_t n) {
    MTLCommandBuffer *last = NULL;
    for (size_t i = 0; i < n; i++) {
        MTLComputeCommandEncoder *e;
        MTLCommandBuffer *commands = begin(q, &e);
        dispatch(e, buffer);
        mtl_compute_command_encoder_end_encoding(e);
        mtl_command_buffer_commit(commands);
        mtl_release(last);
        last = commands;
    }
    mtl_command_buffer_wait_until_completed(last);
    require_completed(last);
    mtl_release(last);
}

static void command_buffers(size_t n) { command_buffers_of(queue, floats, n); }

static void draws(size_t n) {
    MTLRenderPassDescriptor pass = {.color_attachments[0] = {.texture = picture,
                                                             .load_action = MTLLoadActionClear,
                                                             .store_action = MTLStoreActionStore}};
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &pass);
    mtl_render_command_encoder_set_render_pipeline_state(e, shade);
    for (size_t i = 0; i < n; i++) {
        const float at[2] = {(float)(i % 97) / 49 - 1, (float)(i % 89) / 45 - 1};
        mtl_render_command_encoder_set_vertex_bytes(e, at, sizeof at, 0);
        mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangle, 0, 3);
    }
    mtl_render_command_encoder_end_encoding(e);
    complete(commands);
    mtl_release(commands);
}

// ---- Objects ----

static void release_all(size_t n) {
    // Not in the order they were made in: every 7th, round and round.
    for (size_t first = 0; first < 7; first++)
        for (size_t i = first; i < n; i += 7) mtl_release(objects[i]);
}

static void keep_buffers(size_t n, size_t i) {
    (void)n;
    objects[i] = mtl_device_new_buffer(device, 1024, 0);
}

static void keep_textures(size_t n, size_t i) {
    (void)n;
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, 16, 16, false);
    objects[i] = mtl_device_new_texture(device, &d);
}

static MTLHeap *heap;
static void keep_in_heap(size_t n, size_t i) {
    if (i == 0) {
        mtl_release(heap);
        size_t one = mtl_device_heap_buffer_size_and_align(device, 1024, 0).size;
        heap = mtl_device_new_heap(device, &(MTLHeapDescriptor){.size = n * one});
    }
    objects[i] = mtl_heap_new_buffer(heap, 1024, MTLResourceStorageModePrivate);
}

static void (*keep_one)(size_t n, size_t i);
static double bytes_before, bytes_of_one;

static void keep(size_t n) {
    for (size_t i = 0; i < n; i++) {
        keep_one(n, i);
        require(objects[i], NULL, "object");
    }
    bytes_of_one = (resident_bytes() - bytes_before) / (double)n;
    release_all(n);
}

// A command buffer that uses n buffers, one dispatch each.
static void use_many(size_t n) {
    MTLComputeCommandEncoder *e;
    for (size_t i = 0; i < n; i++) keep_buffers(n, i);
    MTLCommandBuffer *commands = begin(queue, &e);
    for (size_t i = 0; i < n; i++) dispatch(e, objects[i]);
    finish(commands, e);
    release_all(n);
}

// ---- Tensors ----

static IgDevice *tensors;

// x = x * 0.5 + 1, again and again, looked at once in a thousand.
static void operations(size_t n) {
    MTLError *error = NULL;
    IgTensor *x = ig_full(tensors, IgFloat32, 1, (const int64_t[]){64}, 1, &error);
    for (size_t i = 0; i < n; i++) {
        IgScope *scope = ig_scope_begin();
        IgTensor *next = i % 2 ? ig_add_scalar(x, 1, &error) : ig_mul_scalar(x, 0.5, &error);
        require(next, error, "operation");
        ig_retain(next);
        ig_scope_end(scope);
        ig_release(x);
        x = next;
        if (i % 1000 == 999 && !ig_eval(x, &error)) require(NULL, error, "tensors");
    }
    if (!ig_eval(x, &error)) require(NULL, error, "tensors");
    ig_release(x);
    ig_device_synchronize(tensors, &error);
}

// ---- Growth ----

typedef struct GrowthCase {
    const char *name;
    void (*run)(size_t n);
    void (*keep)(size_t n, size_t i); // of cases that keep objects
    size_t largest;
} GrowthCase;

static const GrowthCase cases[] = {
    {"dispatches in a command buffer", dispatches, NULL, 1000000},
    {"command buffers of one dispatch", command_buffers, NULL, 1000000},
    {"draws in a render pass", draws, NULL, 1000000},
    {"tensor operations", operations, NULL, 1000000},
    {"buffers of 1 KB", keep, keep_buffers, 100000},
    {"textures of 16 x 16", keep, keep_textures, 100000},
    {"buffers of 1 KB in a heap", keep, keep_in_heap, 100000},
    {"buffers used by a command buffer", use_many, NULL, 100000},
};

// The slope of log(total time) over log(n).
static double exponent(const double *sizes, const double *totals, int n) {
    double x = 0, y = 0, xx = 0, xy = 0;
    for (int i = 0; i < n; i++) {
        double lx = log(sizes[i]), ly = log(totals[i]);
        x += lx, y += ly, xx += lx * lx, xy += lx * ly;
    }
    return (n * xy - x * y) / (n * xx - x * x);
}

static void grow(const GrowthCase *c) {
    double sizes[MAX_SIZES], totals[MAX_SIZES];
    int n_sizes = 0;
    keep_one = c->keep;
    malloc_trim(0);
    bytes_before = resident_bytes();
    c->run(100); // compiles what it needs
    for (size_t n = 1000; n <= c->largest; n *= 10) {
        double best = 0;
        for (int r = 0; r < (n > 100000 ? 1 : REPEAT); r++) {
            double t = processor_ns();
            c->run(n);
            t = processor_ns() - t;
            best = r == 0 || t < best ? t : best;
        }
        sizes[n_sizes] = (double)n;
        totals[n_sizes++] = best;
    }
    char bytes[24] = "";
    if (c->keep) snprintf(bytes, sizeof bytes, "%.0f bytes each", bytes_of_one);
    printf("  %-34s %9.0f to %7zu %9.0f %9.0f %9.2f  %s\n", c->name, sizes[0], c->largest,
           totals[0] / sizes[0], totals[n_sizes - 1] / sizes[n_sizes - 1],
           exponent(sizes, totals, n_sizes), bytes);
    fflush(stdout);
}

// ---- Queues at once ----

static void *work_a_queue(void *context) {
    (void)context;
    MTLCommandQueue *own = mtl_device_new_command_queue(device);
    MTLBuffer *buffer = mtl_device_new_buffer(device, 4096, 0);
    require(own, NULL, "queue"), require(buffer, NULL, "buffer");
    command_buffers_of(own, buffer, PER_QUEUE);
    mtl_release(buffer), mtl_release(own);
    return NULL;
}

static void queues_at_once(void) {
    double rates[2], cost[2];
    for (int many = 0; many < 2; many++) {
        pthread_t threads[QUEUES];
        int n = many ? QUEUES : 1;
        double best = 0;
        for (int r = 0; r < REPEAT; r++) {
            double t = now_ms(), used = processor_ns();
            for (int i = 0; i < n; i++)
                if (pthread_create(&threads[i], NULL, work_a_queue, NULL) != 0)
                    require(NULL, NULL, "thread");
            for (int i = 0; i < n; i++) pthread_join(threads[i], NULL);
            t = now_ms() - t;
            used = processor_ns() - used;
            if (r > 0 && t >= best) continue;
            best = t;
            rates[many] = (double)n * PER_QUEUE / t;
            cost[many] = used / ((double)n * PER_QUEUE);
        }
    }
    printf("concurrent queues, one encoding thread each: thousand command buffers per second, "
           "processor time per command buffer\n");
    printf("  one queue   %8.0f  %6.0f ns\n", rates[0], cost[0]);
    printf("  eight       %8.0f  %6.0f ns   %.2fx\n", rates[1], cost[1], rates[1] / rates[0]);
}

static void set_up(void) {
    MTLError *error = NULL;
    device = default_device();
    queue = mtl_device_new_command_queue(device);
    MTLLibrary *library = library_of(device, bench_kernel_growth_metal);
    touch = compute_pipeline(device, library, "touch");
    MTLRenderPipelineDescriptor d = {.vertex_function = mtl_library_new_function(library, "corner"),
                                     .fragment_function =
                                         mtl_library_new_function(library, "shade"),
                                     .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm};
    shade = mtl_device_new_render_pipeline_state(device, &d, &error);
    require(shade, error, "render pipeline");
    mtl_release(d.vertex_function), mtl_release(d.fragment_function), mtl_release(library);
    floats = mtl_device_new_buffer(device, 4096, 0);
    MTLTextureDescriptor t = mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, 256, 256, false);
    t.usage = MTLTextureUsageRenderTarget;
    picture = mtl_device_new_texture(device, &t);
    tensors = ig_device_new(device, &error);
    require(tensors, error, "tensors");
    objects = calloc(100000, sizeof *objects);
    require(objects, NULL, "memory");
}

int main(int argc, char **argv) {
    const char *only = argc > 1 ? argv[1] : "";
    set_up();
    printf("  %-34s %20s %9s %9s %9s\n", "", "count", "ns, few", "ns, many", "exponent");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strstr(cases[i].name, only)) grow(&cases[i]);
    if (strstr("queues", only)) queues_at_once();
    ig_device_release(tensors);
    mtl_release(heap), mtl_release(picture), mtl_release(floats), mtl_release(shade);
    mtl_release(touch), mtl_release(queue), mtl_release(device);
    free(objects);
    return 0;
}
