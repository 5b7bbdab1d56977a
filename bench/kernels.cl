// The kernels of kernels.metal in OpenCL C, for PoCL.
__kernel void vadd(__global const float *a, __global const float *b, __global float *c) {
    size_t i = get_global_id(0);
    c[i] = a[i] + b[i];
}

__kernel void blur(__global const float *a, __constant float *weights, __global float *c, int w, int h) {
    int px = get_global_id(0), py = get_global_id(1);
    float s = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++) {
            int x = clamp(px + dx, 0, w - 1), y = clamp(py + dy, 0, h - 1);
            s += weights[(dy + 2) * 5 + dx + 2] * a[y * w + x];
        }
    c[py * w + px] = s;
}

__kernel void matmul(__global const float *a, __global const float *b, __global float *c, int n) {
    int col = get_global_id(0), row = get_global_id(1);
    float s = 0;
    for (int k = 0; k < n; k++) s += a[row * n + k] * b[k * n + col];
    c[row * n + col] = s;
}

__kernel void matmul_tiled(__global const float *a, __global const float *b, __global float *c, int n) {
    __local float As[16][16], Bs[16][16];
    int tx = get_local_id(0), ty = get_local_id(1);
    int row = get_group_id(1) * 16 + ty, col = get_group_id(0) * 16 + tx;
    float s = 0;
    for (int k0 = 0; k0 < n; k0 += 16) {
        As[ty][tx] = a[row * n + k0 + tx];
        Bs[ty][tx] = b[(k0 + ty) * n + col];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 16; k++) s += As[ty][k] * Bs[k][tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + col] = s;
}

__kernel void reduce(__global const float *a, __global float *c) {
    __local float sums[256];
    uint t = get_local_id(0);
    sums[t] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = get_local_size(0) / 2; s > 0; s >>= 1) {
        if (t < s) sums[t] += sums[t + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0) c[get_group_id(0)] = sums[0];
}

__kernel void mandelbrot(__global float *c, int limit) {
    int px = get_global_id(0), py = get_global_id(1);
    float cx = px * (3.0f / 1024) - 2.0f, cy = py * (2.0f / 1024) - 1.0f, zx = 0, zy = 0;
    int i = 0;
    while (i < limit && zx * zx + zy * zy <= 4.0f) {
        float nx = zx * zx - zy * zy + cx;
        zy = 2.0f * zx * zy + cy;
        zx = nx;
        i++;
    }
    c[py * 1024 + px] = (float)i;
}
