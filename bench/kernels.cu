// SPDX-License-Identifier: Apache-2.0
// kernels.cu: kernels.metal in CUDA C, with the sizes of bench_device.c: nvcc -O3 -arch=native kernels.cu
#include <cstdio>
#include <ctime>
#include <cuda_runtime.h>

__global__ void vadd(const float *__restrict__ a, const float *__restrict__ b, float *c) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}

__global__ void blur(const float *__restrict__ a, const float *__restrict__ weights, float *c, int w, int h) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    float s = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++) {
            int x = min(max(px + dx, 0), w - 1), y = min(max(py + dy, 0), h - 1);
            s += weights[(dy + 2) * 5 + dx + 2] * a[y * w + x];
        }
    c[py * w + px] = s;
}

__global__ void matmul(const float *__restrict__ a, const float *__restrict__ b, float *c, int n) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float s = 0;
    for (int k = 0; k < n; k++) s += a[row * n + k] * b[k * n + col];
    c[row * n + col] = s;
}

__global__ void matmul_tiled(const float *__restrict__ a, const float *__restrict__ b, float *c, int n) {
    __shared__ float As[16][16], Bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float s = 0;
    for (int k0 = 0; k0 < n; k0 += 16) {
        As[ty][tx] = a[row * n + k0 + tx];
        Bs[ty][tx] = b[(k0 + ty) * n + col];
        __syncthreads();
        for (int k = 0; k < 16; k++) s += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    c[row * n + col] = s;
}

__global__ void reduce(const float *__restrict__ a, float *c) {
    __shared__ float sums[256];
    unsigned t = threadIdx.x, n = blockDim.x;
    sums[t] = a[blockIdx.x * n + t];
    __syncthreads();
    for (unsigned s = n / 2; s > 0; s >>= 1) {
        if (t < s) sums[t] += sums[t + s];
        __syncthreads();
    }
    if (t == 0) c[blockIdx.x] = sums[0];
}

__global__ void mandelbrot(float *c, int limit) {
    unsigned px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    float cx = px * (3.0f / 1024) - 2.0f, cy = py * (2.0f / 1024) - 1.0f, zx = 0, zy = 0;
    int i = 0;
    while (i < limit && zx * zx + zy * zy <= 4.0f) {
        float nx = zx * zx - zy * zy + cx;
        zy = 2.0f * zx * zy + cy;
        zx = nx;
        i++;
    }
    c[py * 1024 + px] = float(i);
}

__global__ void nothing(float *c) { c[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

template <typename F> static void measure(const char *name, F launch) {
    enum { REPEAT = 10 };
    cudaEvent_t a, b;
    cudaEventCreate(&a), cudaEventCreate(&b);
    float best = 1e9f, ms;
    for (int round = 0; round < 5; round++) {
        cudaEventRecord(a);
        for (int i = 0; i < REPEAT; i++) launch();
        cudaEventRecord(b);
        cudaEventSynchronize(b);
        cudaEventElapsedTime(&ms, a, b);
        best = ms / REPEAT < best ? ms / REPEAT : best;
    }
    printf("kernel %-37s %12.2f us   %s\n", name, best * 1e3f, cudaGetErrorString(cudaGetLastError()));
}

int main() {
    float *p[3], *host = new float[1 << 26];
    unsigned seed = 7;
    for (int i = 0; i < 1 << 26; i++) seed = seed * 1664525u + 1013904223u, host[i] = (seed >> 8) / 16777216.0f - 0.5f;
    for (float *&x : p) cudaMalloc(&x, (size_t)4 << 26), cudaMemcpy(x, host, (size_t)4 << 26, cudaMemcpyHostToDevice);
    measure("vadd", [&] { vadd<<<1 << 18, 256>>>(p[0], p[1], p[2]); });
    measure("blur", [&] { blur<<<dim3(128, 512), dim3(32, 8)>>>(p[0], p[1], p[2], 4096, 4096); });
    measure("matmul", [&] { matmul<<<dim3(64, 256), dim3(32, 8)>>>(p[0], p[1], p[2], 2048); });
    measure("matmul_tiled", [&] { matmul_tiled<<<dim3(128, 128), dim3(16, 16)>>>(p[0], p[1], p[2], 2048); });
    measure("reduce", [&] { reduce<<<1 << 18, 256>>>(p[0], p[2]); });
    measure("mandelbrot", [&] { mandelbrot<<<dim3(32, 128), dim3(32, 8)>>>(p[2], 256); });
    for (int round = 0; round < 3; round++) {
        timespec a, b;
        cudaDeviceSynchronize();
        clock_gettime(CLOCK_MONOTONIC, &a);
        for (int i = 0; i < 1000; i++) nothing<<<1, 64>>>(p[2]);
        cudaDeviceSynchronize();
        clock_gettime(CLOCK_MONOTONIC, &b);
        printf("a launch among 1,000                         %12.2f us\n",
               ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) * 1e-6);
    }
    return 0;
}
