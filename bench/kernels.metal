// The benchmark kernels, as a Metal programmer writes them. kernels.cl holds the same ones in OpenCL C.
#include <metal_stdlib>
using namespace metal;

kernel void vadd(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
                 device float *c [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    c[i] = a[i] + b[i];
}

struct Size { int w, h; };

kernel void blur(device const float *a [[buffer(0)]], constant float *weights [[buffer(1)]],
                 device float *c [[buffer(2)]], constant Size &size [[buffer(3)]],
                 uint2 p [[thread_position_in_grid]]) {
    float s = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++) {
            int x = clamp(int(p.x) + dx, 0, size.w - 1), y = clamp(int(p.y) + dy, 0, size.h - 1);
            s += weights[(dy + 2) * 5 + dx + 2] * a[y * size.w + x];
        }
    c[p.y * size.w + p.x] = s;
}

kernel void matmul(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
                   device float *c [[buffer(2)]], constant int &n [[buffer(3)]],
                   uint2 p [[thread_position_in_grid]]) {
    int col = p.x, row = p.y;
    float s = 0;
    for (int k = 0; k < n; k++) s += a[row * n + k] * b[k * n + col];
    c[row * n + col] = s;
}

kernel void matmul_tiled(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
                         device float *c [[buffer(2)]], constant int &n [[buffer(3)]],
                         uint2 t [[thread_position_in_threadgroup]],
                         uint2 g [[threadgroup_position_in_grid]]) {
    threadgroup float As[16][16], Bs[16][16];
    int tx = t.x, ty = t.y, row = g.y * 16 + ty, col = g.x * 16 + tx;
    float s = 0;
    for (int k0 = 0; k0 < n; k0 += 16) {
        As[ty][tx] = a[row * n + k0 + tx];
        Bs[ty][tx] = b[(k0 + ty) * n + col];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (int k = 0; k < 16; k++) s += As[ty][k] * Bs[k][tx];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    c[row * n + col] = s;
}

kernel void reduce(device const float *a [[buffer(0)]], device float *c [[buffer(1)]],
                   uint i [[thread_position_in_grid]], uint t [[thread_position_in_threadgroup]],
                   uint n [[threads_per_threadgroup]], uint g [[threadgroup_position_in_grid]]) {
    threadgroup float sums[256];
    sums[t] = a[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint s = n / 2; s > 0; s >>= 1) {
        if (t < s) sums[t] += sums[t + s];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (t == 0) c[g] = sums[0];
}

kernel void mandelbrot(device float *c [[buffer(0)]], constant int &limit [[buffer(1)]],
                       uint2 p [[thread_position_in_grid]]) {
    float cx = p.x * (3.0f / 1024) - 2.0f, cy = p.y * (2.0f / 1024) - 1.0f, zx = 0, zy = 0;
    int i = 0;
    while (i < limit && zx * zx + zy * zy <= 4.0f) {
        float nx = zx * zx - zy * zy + cx;
        zy = 2.0f * zx * zy + cy;
        zx = nx;
        i++;
    }
    c[p.y * 1024 + p.x] = float(i);
}

kernel void nothing(device float *c [[buffer(0)]], uint i [[thread_position_in_grid]]) { c[i] = 1; }
