// SPDX-License-Identifier: Apache-2.0
// bench_matmul.c: matmul2d of 1024^3 through a kernel, and the calls it comes down to, against the
// rate of fused multiply-adds of this machine measured in the same run.
// usage: bench_matmul [substring]. Tab-separated: name, ms (calls: ns), GFLOP/s, % of the f32 rate,
// and for kernels % of it by processor time, which counts on a busy machine: the best of some runs
// each, for the rate of the machine too. Kernels are rated against all threads, calls against one.
#include <ingot/metal.h>
#include <immintrin.h>
#include <pthread.h>
#include "bench_kernels.h"
#include "cases.h"
#include "devices/cpu/tensor/ops.h"

#define SIZE 1024
#define REPEATS 9

typedef struct Product {
    const char *name, *kernel;
    uint32_t type;
} Product;
static const Product products[] = {
    {"matmul2d f32 1024", "f32", ABI_TENSOR_FLOAT32},
    {"matmul2d f32 1024, A^T", "f32_tn", ABI_TENSOR_FLOAT32},
    {"matmul2d f32 1024, B^T", "f32_nt", ABI_TENSOR_FLOAT32},
    {"matmul2d f16 1024", "f16", ABI_TENSOR_FLOAT16},
    {"matmul2d f16 1024, B^T", "f16_nt", ABI_TENSOR_FLOAT16},
    {"matmul2d bf16 1024", "bf16", ABI_TENSOR_BFLOAT16},
    {"matmul2d bf16 1024, B^T", "bf16_nt", ABI_TENSOR_BFLOAT16},
    {"matmul2d i8 1024", "i8", ABI_TENSOR_INT8},
};

static void require(const void *object, const MTLError *error, const char *what) {
    if (object) return;
    fprintf(stderr, "bench_matmul: %s: %s\n", what,
            error ? mtl_error_localized_description(error) : "failed");
    exit(1);
}

// Twelve chains of fused multiply-adds: more than latency times units of any processor so far.
#define CHAINS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define PEAK(name, isa, vector, set)                                                               \
    __attribute__((target(isa), noinline)) static float name(long n) {                             \
        vector x = set(0.999f), y = set(0.001f);                                                   \
        CHAINS(PEAK_INIT_##name)                                                                   \
        for (; n > 0; n--) {                                                                       \
            CHAINS(PEAK_STEP_##name)                                                               \
        }                                                                                          \
        vector sum = x;                                                                            \
        CHAINS(PEAK_SUM_##name)                                                                    \
        float f;                                                                                   \
        memcpy(&f, &sum, sizeof f);                                                                \
        return f;                                                                                  \
    }
#define PEAK_INIT_wide(i) __m512 s##i = _mm512_set1_ps(i);
#define PEAK_STEP_wide(i) s##i = _mm512_fmadd_ps(s##i, x, y);
#define PEAK_SUM_wide(i) sum = _mm512_add_ps(sum, s##i);
#define PEAK_INIT_narrow(i) __m256 s##i = _mm256_set1_ps(i);
#define PEAK_STEP_narrow(i) s##i = _mm256_fmadd_ps(s##i, x, y);
#define PEAK_SUM_narrow(i) sum = _mm256_add_ps(sum, s##i);
PEAK(wide, "avx512f", __m512, _mm512_set1_ps)
PEAK(narrow, "avx2,fma", __m256, _mm256_set1_ps)

// Processor time of this thread or of all, in ms.
static double cpu_ms(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static volatile float sink;
static void *spin(void *steps) {
    sink = __builtin_cpu_supports("avx512f") ? wide(*(long *)steps) : narrow(*(long *)steps);
    return NULL;
}

// GFLOP/s of all threads at once by the clock on the wall, or of one by its processor time: the
// best of some tries.
static double peak(int n_threads) {
    long steps = 2000000;
    double lanes = __builtin_cpu_supports("avx512f") ? 16 : 8, least = 1e30;
    for (int r = 0; r < 5; r++) {
        pthread_t threads[64];
        double begin = n_threads > 1 ? now_ms() : cpu_ms(CLOCK_THREAD_CPUTIME_ID);
        for (int i = 1; i < n_threads; i++) pthread_create(&threads[i], NULL, spin, &steps);
        spin(&steps);
        for (int i = 1; i < n_threads; i++) pthread_join(threads[i], NULL);
        double ms = (n_threads > 1 ? now_ms() : cpu_ms(CLOCK_THREAD_CPUTIME_ID)) - begin;
        if (ms < least) least = ms;
    }
    return 2 * lanes * 12 * (double)steps * n_threads / least * 1e-6;
}

static double best(const double *times) {
    double least = times[0];
    for (int i = 1; i < REPEATS; i++)
        if (times[i] < least) least = times[i];
    return least;
}

static size_t bytes_of(uint32_t type) {
    return type == ABI_TENSOR_INT8 ? 1 : type == ABI_TENSOR_FLOAT32 ? 4 : 2;
}

static void fill(void *data, uint32_t type, size_t n) {
    float *f = malloc(n * sizeof *f);
    fill_input(f, n, 7);
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &f[i], 4);
        if (type == ABI_TENSOR_FLOAT32) ((float *)data)[i] = f[i];
        if (type == ABI_TENSOR_BFLOAT16) ((uint16_t *)data)[i] = (uint16_t)(bits >> 16);
        if (type == ABI_TENSOR_FLOAT16) // about 0.5 to 1 with a sign
            ((uint16_t *)data)[i] = (uint16_t)((bits >> 16 & 0x8000) | 0x3800 | (bits & 0x3ff));
        if (type == ABI_TENSOR_INT8) ((int8_t *)data)[i] = (int8_t)(f[i] * 255);
    }
    free(f);
}

static void run_product(MTLDevice *device, MTLCommandQueue *queue, MTLLibrary *library,
                        const Product *p, double rate, double rate_of_one) {
    MTLError *error = NULL;
    MTLFunction *function = mtl_library_new_function(library, p->kernel);
    require(function, NULL, p->kernel);
    MTLComputePipelineState *pipeline =
        mtl_device_new_compute_pipeline_state(device, function, &error);
    require(pipeline, error, p->kernel);
    MTLBuffer *buffers[3];
    for (int i = 0; i < 3; i++) {
        size_t n_bytes = (size_t)SIZE * SIZE * (i < 2 ? bytes_of(p->type) : 4);
        buffers[i] = mtl_device_new_buffer(device, n_bytes, MTLResourceStorageModeShared);
        require(buffers[i], NULL, "buffer");
        if (i < 2) fill(mtl_buffer_contents(buffers[i]), p->type, (size_t)SIZE * SIZE);
    }
    double times[REPEATS], cpu_times[REPEATS];
    for (int r = -2; r < REPEATS; r++) {
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLComputeCommandEncoder *encoder = mtl_command_buffer_compute_command_encoder(commands);
        mtl_compute_command_encoder_set_compute_pipeline_state(encoder, pipeline);
        for (size_t i = 0; i < 3; i++)
            mtl_compute_command_encoder_set_buffer(encoder, buffers[i], 0, i);
        int32_t n = SIZE;
        mtl_compute_command_encoder_set_bytes(encoder, &n, sizeof n, 3);
        mtl_compute_command_encoder_dispatch_threadgroups(
            encoder, mtl_size_make(SIZE / 64, SIZE / 64, 1), mtl_size_make(128, 1, 1));
        mtl_compute_command_encoder_end_encoding(encoder);
        double begin = now_ms(), cpu_begin = cpu_ms(CLOCK_PROCESS_CPUTIME_ID);
        mtl_command_buffer_commit(commands);
        mtl_command_buffer_wait_until_completed(commands);
        if (r >= 0) {
            times[r] = now_ms() - begin;
            cpu_times[r] = cpu_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin;
        }
        if (mtl_command_buffer_status(commands) != MTLCommandBufferStatusCompleted)
            require(NULL, mtl_command_buffer_error(commands), p->name);
        mtl_release(commands);
    }
    double ms = best(times), gflops = 2.0 * SIZE * SIZE * SIZE / ms * 1e-6;
    double by_cpu = 2.0 * SIZE * SIZE * SIZE / best(cpu_times) * 1e-6;
    printf("%s\t%.3f\t%.1f\t%.1f %%\t%.1f %%\n", p->name, ms, gflops, 100 * gflops / rate,
           100 * by_cpu / rate_of_one);
    for (int i = 0; i < 3; i++) mtl_release(buffers[i]);
    mtl_release(pipeline), mtl_release(function);
}

// What one SIMD-group does for a layer of 64 inputs and outputs: rows x 64 x 64, in cache.
static void run_calls(const char *type_name, uint32_t type, int rows, const char *only,
                      double rate) {
    static unsigned char a[128 * 64 * 4] __attribute__((aligned(64)));
    static unsigned char b[64 * 64 * 4] __attribute__((aligned(64)));
    static unsigned char c[128 * 64 * 4] __attribute__((aligned(64)));
    fill(a, type, 128 * 64);
    fill(b, type, 64 * 64);
    for (int form = 0; form < 4; form++) {
        bool ta = form & 1, tb = form & 2;
        char name[64];
        snprintf(name, sizeof name, "call %s %dx64x64 %s %s", type_name, rows, ta ? "A^T" : "A",
                 tb ? "B^T" : "B");
        if (only && !strstr(name, only)) continue;
        uint32_t c_type = type == ABI_TENSOR_INT8 ? ABI_TENSOR_INT32 : ABI_TENSOR_FLOAT32;
        CpuMatmul op = {.a = {a, ta ? 1 : 64, ta ? rows : 1, rows, 64, type, 0},
                        .b = {b, tb ? 1 : 64, tb ? 64 : 1, 64, 64, type, 0},
                        .c = {c, 64, 1, rows, 64, c_type, 0},
                        .n_rows = rows,
                        .n = 64,
                        .k = 64};
        double times[REPEATS];
        for (int r = 0; r < REPEATS; r++) {
            double begin = cpu_ms(CLOCK_THREAD_CPUTIME_ID);
            for (int i = 0; i < 1000; i++) cpu_tensor_ops()->matmul(&op);
            times[r] = (cpu_ms(CLOCK_THREAD_CPUTIME_ID) - begin) * 1e3; // of one, in ns
        }
        double ns = best(times), gflops = 2.0 * rows * 64 * 64 / ns;
        printf("%s\t%.0f\t%.1f\t%.1f %%\n", name, ns, gflops, 100 * gflops / rate);
    }
}

int main(int argc, char **argv) {
    const char *only = argc > 1 ? argv[1] : NULL;
    setenv("INGOT_SYNC_SPECIALISE", "1", 0); // measure the code, not the wait for it
    MTLError *error = NULL;
    MTLDevice *device = mtl_create_system_default_device();
    require(device, NULL, "device");
    MTLLibrary *library =
        mtl_device_new_library_with_source(device, bench_kernel_matmul_metal, NULL, &error);
    require(library, error, "kernels");
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    int n_threads = (int)mtl_device_worker_count(device);
    if (n_threads > 64) n_threads = 64;
    double one = peak(1), all = peak(n_threads);
    printf("fused multiply-add, %d threads\t\t%.1f\t100 %%\n", n_threads, all);
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        if (!only || strstr(products[i].name, only))
            run_product(device, queue, library, &products[i], all, one);
    printf("fused multiply-add, 1 thread\t\t%.1f\t100 %%\n", one);
    for (int rows = 16; rows <= 128; rows += 112) {
        run_calls("f32", ABI_TENSOR_FLOAT32, rows, only, one);
        run_calls("f16", ABI_TENSOR_FLOAT16, rows, only, one);
        run_calls("bf16", ABI_TENSOR_BFLOAT16, rows, only, one);
        run_calls("i8", ABI_TENSOR_INT8, rows, only, one);
    }
    mtl_release(queue), mtl_release(library), mtl_release(device);
    return 0;
}
