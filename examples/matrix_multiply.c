// SPDX-License-Identifier: Apache-2.0
// matrix_multiply.c: C = A * B for square matrices in three steps of a GPU programmer's education:
// naive (each thread reads its row and column from memory), tiled (threadgroups share 16x16 tiles),
// and optimised (each thread keeps 8x2 results in registers). Beside OpenBLAS if installed.
#include "util.h"
#include <dlfcn.h>
#include <math.h>

static const char *source =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void naive(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],\n"
    "                  device float *c [[buffer(2)]], constant uint &n [[buffer(3)]],\n"
    "                  uint2 p [[thread_position_in_grid]]) {\n"
    "    float sum = 0;\n"
    "    for (uint k = 0; k < n; k++) sum += a[p.y * n + k] * b[k * n + p.x];\n"
    "    c[p.y * n + p.x] = sum;\n"
    "}\n"
    "constant constexpr uint T = 16;\n"
    "kernel void tiled(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],\n"
    "                  device float *c [[buffer(2)]], constant uint &n [[buffer(3)]],\n"
    "                  uint2 t [[thread_position_in_threadgroup]], uint2 p "
    "[[thread_position_in_grid]]) {\n"
    "    threadgroup float at[T][T], bt[T][T];\n"
    "    float sum = 0;\n"
    "    for (uint k0 = 0; k0 < n; k0 += T) {\n"
    "        at[t.y][t.x] = a[p.y * n + k0 + t.x];\n"
    "        bt[t.y][t.x] = b[(k0 + t.y) * n + p.x];\n"
    "        threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "        for (uint k = 0; k < T; k++) sum += at[t.y][k] * bt[k][t.x];\n"
    "        threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    }\n"
    "    c[p.y * n + p.x] = sum;\n"
    "}\n"
    "// A threadgroup of 32 threads computes 8 rows of 64 columns: each value of b is used 8 "
    "times.\n"
    "kernel void optimised(device const float *a [[buffer(0)]], device const float *b "
    "[[buffer(1)]],\n"
    "                      device float *c [[buffer(2)]], constant uint &n [[buffer(3)]],\n"
    "                      uint lane [[thread_index_in_threadgroup]],\n"
    "                      uint2 g [[threadgroup_position_in_grid]]) {\n"
    "    uint row = g.y * 8, col = g.x * 64 + lane;\n"
    "    float sum[8][2] = {};\n"
    "    for (uint k = 0; k < n; k++) {\n"
    "        float b0 = b[k * n + col], b1 = b[k * n + col + 32];\n"
    "        for (uint r = 0; r < 8; r++) {\n"
    "            float x = a[(row + r) * n + k];\n"
    "            sum[r][0] += x * b0;\n"
    "            sum[r][1] += x * b1;\n"
    "        }\n"
    "    }\n"
    "    for (uint r = 0; r < 8; r++) {\n"
    "        c[(row + r) * n + col] = sum[r][0];\n"
    "        c[(row + r) * n + col + 32] = sum[r][1];\n"
    "    }\n"
    "}\n";

typedef struct Variant {
    const char *name;
    uint32_t group[2]; // threads of a threadgroup
    uint32_t block[2]; // columns and rows of C that a threadgroup computes
} Variant;
static const Variant variants[] = {
    {"naive", {32, 8}, {32, 8}},
    {"tiled", {16, 16}, {16, 16}},
    {"optimised", {32, 1}, {64, 8}},
};

typedef struct Work {
    MTLCommandQueue *queue;
    MTLComputePipelineState *pipeline;
    MTLBuffer *a, *b, *c;
    uint32_t n;
    const Variant *variant;
} Work;

static double run_once(const void *context) {
    const Work *w = context;
    const Variant *v = w->variant;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(w->queue);
    MTLComputeCommandEncoder *encoder = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(encoder, w->pipeline);
    mtl_compute_command_encoder_set_buffer(encoder, w->a, 0, 0);
    mtl_compute_command_encoder_set_buffer(encoder, w->b, 0, 1);
    mtl_compute_command_encoder_set_buffer(encoder, w->c, 0, 2);
    mtl_compute_command_encoder_set_bytes(encoder, &w->n, sizeof w->n, 3);
    mtl_compute_command_encoder_dispatch_threadgroups(
        encoder, mtl_size_make(w->n / v->block[0], w->n / v->block[1], 1),
        mtl_size_make(v->group[0], v->group[1], 1));
    mtl_compute_command_encoder_end_encoding(encoder);
    double ms = complete(commands);
    mtl_release(commands);
    return ms;
}

// The largest error of 64 x 64 entries spread over the matrix, against sums in double.
static double largest_error(const float *a, const float *b, const float *c, uint32_t n) {
    double worst = 0;
    for (uint32_t row = 0; row < n; row += n / 64)
        for (uint32_t col = 1; col < n; col += n / 64) {
            double sum = 0;
            for (uint32_t k = 0; k < n; k++) sum += (double)a[row * n + k] * (double)b[k * n + col];
            worst = fmax(worst, fabs(sum - (double)c[row * n + col]));
        }
    return worst;
}

// cblas_sgemm without its header: OpenBLAS is used if it is there.
typedef void Sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a,
                   int lda, const float *b, int ldb, float beta, float *c, int ldc);

static Sgemm *find_openblas(void) {
    void *lib = dlopen("libopenblas.so.0", RTLD_NOW);
    union {
        void *object;
        Sgemm *function;
    } symbol = {lib ? dlsym(lib, "cblas_sgemm") : NULL};
    return symbol.function;
}

typedef struct Product {
    Sgemm *sgemm;
    const float *a, *b;
    float *c;
    int n;
} Product;

static double run_sgemm(const void *context) {
    const Product *p = context;
    int n = p->n;
    double start = now_ms();
    p->sgemm(101, 111, 111, n, n, n, 1, p->a, n, p->b, n, 0, p->c, n);
    return now_ms() - start;
}

static void print_row(const char *name, Timing t, double flops) {
    printf("  %-10s %8.2f ms %8.2f ms %8.1f GFLOP/s", name, t.first_ms, t.steady_ms,
           flops / t.steady_ms * 1e-6);
}

int main(void) {
    const uint32_t n = 512;
    const size_t bytes = (size_t)n * n * sizeof(float);
    MTLDevice *device = default_device();
    MTLLibrary *library = library_of(device, source);
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLBuffer *a = mtl_device_new_buffer(device, bytes, 0),
              *b = mtl_device_new_buffer(device, bytes, 0);
    MTLBuffer *c = mtl_device_new_buffer(device, bytes, 0);
    if (!a || !b || !c) return 1;
    float *av = mtl_buffer_contents(a), *bv = mtl_buffer_contents(b), *cv = mtl_buffer_contents(c);
    unsigned seed = 3;
    for (uint32_t i = 0; i < n * n; i++) av[i] = random_float(&seed), bv[i] = random_float(&seed);
    double flops = 2.0 * n * n * n;
    bool ok = true;

    printf("matrix multiply %u x %u\n", n, n);
    printf("  %-10s %11s %11s %16s\n", "kernel", "first run", "steady", "steady");
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
        const Variant *variant = &variants[v];
        MTLComputePipelineState *pipeline = compute_pipeline(device, library, variant->name);
        Timing t = time_runs(run_once, &(Work){queue, pipeline, a, b, c, n, variant});
        double worst = largest_error(av, bv, cv, n);
        print_row(variant->name, t, flops);
        printf("   largest error %.2g\n", worst);
        ok = ok && worst < 1e-3;
        mtl_release(pipeline);
    }
    Sgemm *sgemm = find_openblas();
    if (sgemm) {
        print_row("OpenBLAS", time_runs(run_sgemm, &(Product){sgemm, av, bv, cv, (int)n}), flops);
        putchar('\n');
    }
    mtl_release(a), mtl_release(b), mtl_release(c), mtl_release(queue), mtl_release(library),
        mtl_release(device);
    return !ok;
}
