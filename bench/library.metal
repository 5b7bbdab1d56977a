// SPDX-License-Identifier: Apache-2.0
// library.metal: kernels as libraries write them, for bench_library.py: language models, array
// frameworks, images, physics. None is written for this machine: a SIMD-group a row, four elements
// a lane, threadgroup memory where a GPU wants it.
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

// ---- language models ----

kernel void mv_half(device const half4 *a [[buffer(0)]], device const float4 *x [[buffer(1)]],
                    device float *y [[buffer(2)]], constant int &n [[buffer(3)]],
                    uint row [[threadgroup_position_in_grid]],
                    ushort lane [[thread_index_in_simdgroup]]) {
    device const half4 *r = a + row * (n / 4);
    float s = 0;
    for (int i = lane; i < n / 4; i += 32) s += dot(float4(r[i]), x[i]);
    s = simd_sum(s);
    if (lane == 0) y[row] = s;
}

kernel void mv_float(device const float4 *a [[buffer(0)]], device const float4 *x [[buffer(1)]],
                     device float *y [[buffer(2)]], constant int &n [[buffer(3)]],
                     uint row [[threadgroup_position_in_grid]],
                     ushort lane [[thread_index_in_simdgroup]]) {
    device const float4 *r = a + row * (n / 4);
    float s = 0;
    for (int i = lane; i < n / 4; i += 32) s += dot(r[i], x[i]);
    s = simd_sum(s);
    if (lane == 0) y[row] = s;
}

struct Block8 { // 32 numbers
    half scale;
    char q[32];
};
kernel void mv_int8(device const Block8 *a [[buffer(0)]], device const float *x [[buffer(1)]],
                    device float *y [[buffer(2)]], constant int &n [[buffer(3)]],
                    uint row [[threadgroup_position_in_grid]],
                    ushort lane [[thread_index_in_simdgroup]]) {
    const int blocks = n / 32, part = lane % 4;
    device const Block8 *r = a + row * blocks;
    float s = 0;
    for (int b = lane / 4; b < blocks; b += 8) {
        device const char *q = r[b].q + 8 * part;
        device const float *v = x + 32 * b + 8 * part;
        float t = 0;
        for (int i = 0; i < 8; i++) t += float(q[i]) * v[i];
        s += t * float(r[b].scale);
    }
    s = simd_sum(s);
    if (lane == 0) y[row] = s;
}

struct Block4 { // 32 numbers, low halves first
    half scale;
    uchar q[16];
};
kernel void mv_int4(device const Block4 *a [[buffer(0)]], device const float *x [[buffer(1)]],
                    device float *y [[buffer(2)]], constant int &n [[buffer(3)]],
                    uint row [[threadgroup_position_in_grid]],
                    ushort lane [[thread_index_in_simdgroup]]) {
    const int blocks = n / 32, part = lane % 2;
    device const Block4 *r = a + row * blocks;
    float s = 0;
    for (int b = lane / 2; b < blocks; b += 16) {
        device const uchar *q = r[b].q + 8 * part;
        device const float *v = x + 32 * b + 8 * part;
        float t = 0;
        for (int i = 0; i < 8; i++)
            t += (float(q[i] & 15) - 8) * v[i] + (float(q[i] >> 4) - 8) * v[i + 16];
        s += t * float(r[b].scale);
    }
    s = simd_sum(s);
    if (lane == 0) y[row] = s;
}

kernel void rms_norm(device const float4 *x [[buffer(0)]], device const float4 *w [[buffer(1)]],
                     device float4 *y [[buffer(2)]], constant int &n [[buffer(3)]],
                     threadgroup float *shared [[threadgroup(0)]],
                     uint row [[threadgroup_position_in_grid]],
                     uint t [[thread_position_in_threadgroup]],
                     uint threads [[threads_per_threadgroup]],
                     ushort lane [[thread_index_in_simdgroup]],
                     ushort group [[simdgroup_index_in_threadgroup]]) {
    device const float4 *r = x + row * (n / 4);
    float s = 0;
    for (uint i = t; i < uint(n / 4); i += threads) s += dot(r[i], r[i]);
    s = simd_sum(s);
    if (lane == 0) shared[group] = s;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    s = simd_sum(lane < threads / 32 ? shared[lane] : 0);
    const float scale = rsqrt(s / n + 1e-5f);
    for (uint i = t; i < uint(n / 4); i += threads) y[row * (n / 4) + i] = r[i] * scale * w[i];
}

kernel void layer_norm(device const float *x [[buffer(0)]], device const float *w [[buffer(1)]],
                       device float *y [[buffer(2)]], constant int &n [[buffer(3)]],
                       uint row [[threadgroup_position_in_grid]],
                       ushort lane [[thread_index_in_simdgroup]]) {
    device const float *r = x + row * n;
    float s = 0, q = 0;
    for (int i = lane; i < n; i += 32) s += r[i];
    const float mean = simd_sum(s) / n;
    for (int i = lane; i < n; i += 32) q += (r[i] - mean) * (r[i] - mean);
    const float scale = rsqrt(simd_sum(q) / n + 1e-5f);
    for (int i = lane; i < n; i += 32) y[row * n + i] = (r[i] - mean) * scale * w[i];
}

kernel void soft_max(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],
                     constant int &n [[buffer(2)]], uint row [[threadgroup_position_in_grid]],
                     ushort lane [[thread_index_in_simdgroup]]) {
    device const float *r = x + row * n;
    float m = -INFINITY, s = 0;
    for (int i = lane; i < n; i += 32) m = max(m, r[i]);
    m = simd_max(m);
    for (int i = lane; i < n; i += 32) s += exp(r[i] - m);
    s = 1 / simd_sum(s);
    for (int i = lane; i < n; i += 32) y[row * n + i] = exp(r[i] - m) * s;
}

kernel void rope(device const float2 *x [[buffer(0)]], device float2 *y [[buffer(1)]],
                 constant int &pairs [[buffer(2)]], uint2 p [[thread_position_in_grid]]) {
    const float angle = float(p.y) * exp2(-float(p.x) / pairs * 13.28771238f); // 10000 ^ -x
    const float c = cos(angle), s = sin(angle);
    const float2 v = x[p.y * pairs + p.x];
    y[p.y * pairs + p.x] = float2(v.x * c - v.y * s, v.x * s + v.y * c);
}

kernel void swiglu(device const half4 *gate [[buffer(0)]], device const half4 *up [[buffer(1)]],
                   device half4 *y [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    const float4 g = float4(gate[i]);
    y[i] = half4(g / (1 + exp(-g)) * float4(up[i]));
}

kernel void decode_attention(device const float4 *q [[buffer(0)]],
                             device const float4 *k [[buffer(1)]],
                             device const float4 *v [[buffer(2)]], device float4 *o [[buffer(3)]],
                             constant int &length [[buffer(4)]],
                             uint head [[threadgroup_position_in_grid]],
                             ushort lane [[thread_index_in_simdgroup]]) {
    const float4 mine = q[head * 32 + lane] * 0.08838834764f; // 128 numbers, four a lane
    float m = -INFINITY, sum = 0;
    float4 acc = 0;
    for (int t = 0; t < length; t++) {
        const int at = (head * length + t) * 32 + lane;
        const float s = simd_sum(dot(mine, k[at])), next = max(m, s), old = exp(m - next),
                    p = exp(s - next);
        sum = sum * old + p;
        acc = acc * old + p * v[at];
        m = next;
    }
    o[head * 32 + lane] = acc / sum;
}

kernel void arg_max(device const float *x [[buffer(0)]], device int *y [[buffer(1)]],
                    constant int &n [[buffer(2)]], uint row [[threadgroup_position_in_grid]],
                    ushort lane [[thread_index_in_simdgroup]]) {
    device const float *r = x + row * n;
    float best = -INFINITY;
    int at = n;
    for (int i = lane; i < n; i += 32)
        if (r[i] > best) best = r[i], at = i;
    const float most = simd_max(best);
    at = simd_min(best == most ? at : n);
    if (lane == 0) y[row] = at;
}

kernel void embedding(device const int *ids [[buffer(0)]], device const float4 *table [[buffer(1)]],
                      device float4 *y [[buffer(2)]], constant int &n4 [[buffer(3)]],
                      uint2 p [[thread_position_in_grid]]) {
    y[p.y * n4 + p.x] = table[ids[p.y] * n4 + p.x];
}

// ---- array frameworks ----

kernel void multiply_add(device const float4 *a [[buffer(0)]], device const float4 *b [[buffer(1)]],
                         device const float4 *c [[buffer(2)]], device float4 *y [[buffer(3)]],
                         uint i [[thread_position_in_grid]]) {
    y[i] = fma(a[i], b[i], c[i]);
}

kernel void gelu(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],
                 constant uint &n [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    if (i >= n) return;
    const float v = x[i];
    y[i] = 0.5f * v * (1 + precise::tanh(0.79788456f * (v + 0.044715f * v * v * v)));
}

kernel void select_where(device const uchar *mask [[buffer(0)]],
                         device const float *a [[buffer(1)]], device const float *b [[buffer(2)]],
                         device float *y [[buffer(3)]], constant uint &n [[buffer(4)]],
                         uint i [[thread_position_in_grid]]) {
    if (i < n) y[i] = mask[i] ? a[i] : b[i];
}

kernel void half_to_float(device const half *x [[buffer(0)]], device float *y [[buffer(1)]],
                          constant uint &n [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    if (i < n) y[i] = float(x[i]) * 0.5f;
}

kernel void row_sum(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],
                    constant int &n [[buffer(2)]], uint row [[threadgroup_position_in_grid]],
                    ushort lane [[thread_index_in_simdgroup]]) {
    float s = 0;
    for (int i = lane; i < n; i += 32) s += x[row * n + i];
    s = simd_sum(s);
    if (lane == 0) y[row] = s;
}

kernel void column_sum(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],
                       constant int &rows [[buffer(2)]], constant int &n [[buffer(3)]],
                       uint c [[thread_position_in_grid]]) {
    float s = 0;
    for (int r = 0; r < rows; r++) s += x[r * n + c];
    y[c] = s;
}

kernel void transpose(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],
                      constant int &n [[buffer(2)]], uint2 group [[threadgroup_position_in_grid]],
                      uint2 t [[thread_position_in_threadgroup]]) {
    threadgroup float tile[16][17];
    tile[t.y][t.x] = x[(group.y * 16 + t.y) * n + group.x * 16 + t.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[(group.x * 16 + t.y) * n + group.y * 16 + t.x] = tile[t.x][t.y];
}

kernel void cumulative_sum(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],
                           constant int &n [[buffer(2)]],
                           uint row [[threadgroup_position_in_grid]],
                           ushort lane [[thread_index_in_simdgroup]]) {
    float before = 0;
    for (int i = lane; i < n; i += 32) {
        const float s = before + simd_prefix_inclusive_sum(x[row * n + i]);
        y[row * n + i] = s;
        before = simd_shuffle(s, 31);
    }
}

kernel void product_matrices(device const float *a [[buffer(0)]],
                             device const float *b [[buffer(1)]], device float *c [[buffer(2)]],
                             constant int &n [[buffer(3)]],
                             uint2 g [[threadgroup_position_in_grid]]) {
    simdgroup_float8x8 acc[4][4], l[4], r[4];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) acc[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0);
    for (int k = 0; k < n; k += 8) {
        for (int i = 0; i < 4; i++) simdgroup_load(l[i], a + (g.y * 32 + 8 * i) * n + k, n);
        for (int j = 0; j < 4; j++) simdgroup_load(r[j], b + k * n + g.x * 32 + 8 * j, n);
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                simdgroup_multiply_accumulate(acc[i][j], l[i], r[j], acc[i][j]);
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            simdgroup_store(acc[i][j], c + (g.y * 32 + 8 * i) * n + g.x * 32 + 8 * j, n);
}

kernel void product_registers(device const float *a [[buffer(0)]],
                              device const float4 *b [[buffer(1)]], device float4 *c [[buffer(2)]],
                              constant int &n [[buffer(3)]], uint2 p [[thread_position_in_grid]]) {
    float4 s[4] = {0, 0, 0, 0}; // four rows of four
    for (int k = 0; k < n; k++) {
        const float4 v = b[k * (n / 4) + p.x];
        for (int i = 0; i < 4; i++) s[i] += a[(4 * p.y + i) * n + k] * v;
    }
    for (int i = 0; i < 4; i++) c[(4 * p.y + i) * (n / 4) + p.x] = s[i];
}

// ---- images ----

kernel void gray(device const uchar4 *x [[buffer(0)]], device uchar *y [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) {
    const float3 c = float3(x[i].xyz);
    y[i] = uchar(dot(c, float3(0.299f, 0.587f, 0.114f)));
}

kernel void sobel(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],
                  constant int &n [[buffer(2)]], uint2 p [[thread_position_in_grid]]) {
    float v[3][3];
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            v[j][i] = x[clamp(int(p.y) + j - 1, 0, n - 1) * n + clamp(int(p.x) + i - 1, 0, n - 1)];
    const float h = v[0][2] + 2 * v[1][2] + v[2][2] - v[0][0] - 2 * v[1][0] - v[2][0];
    const float w = v[2][0] + 2 * v[2][1] + v[2][2] - v[0][0] - 2 * v[0][1] - v[0][2];
    y[p.y * n + p.x] = sqrt(h * h + w * w);
}

kernel void histogram(device const uchar *x [[buffer(0)]], device atomic_uint *bins [[buffer(1)]],
                      constant uint &n [[buffer(2)]], uint i [[thread_position_in_grid]],
                      uint threads [[threads_per_grid]],
                      uint t [[thread_position_in_threadgroup]]) {
    threadgroup atomic_uint mine[256];
    atomic_store_explicit(&mine[t], 0, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = i; k < n; k += threads)
        atomic_fetch_add_explicit(&mine[x[k]], 1, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    atomic_fetch_add_explicit(&bins[t], atomic_load_explicit(&mine[t], memory_order_relaxed),
                              memory_order_relaxed);
}

kernel void resize(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],
                   constant int &n [[buffer(2)]], constant int &m [[buffer(3)]],
                   uint2 p [[thread_position_in_grid]]) {
    const float2 at = max((float2(p) + 0.5f) * n / m - 0.5f, 0.0f);
    const int2 low = int2(at), high = min(low + 1, n - 1);
    const float2 f = at - float2(low);
    const float top = mix(x[low.y * n + low.x], x[low.y * n + high.x], f.x);
    const float bottom = mix(x[high.y * n + low.x], x[high.y * n + high.x], f.x);
    y[p.y * m + p.x] = mix(top, bottom, f.y);
}

// ---- physics ----

kernel void bodies(device const float4 *x [[buffer(0)]], device float4 *force [[buffer(1)]],
                   constant int &n [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    const float3 me = x[i].xyz;
    float3 f = 0;
    for (int j = 0; j < n; j++) {
        const float4 other = x[j];
        const float3 d = other.xyz - me;
        const float r = rsqrt(dot(d, d) + 1e-4f);
        f += d * (other.w * r * r * r);
    }
    force[i] = float4(f, 0);
}

kernel void heat(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],
                 constant int &n [[buffer(2)]], uint2 p [[thread_position_in_grid]]) {
    const int at = p.y * n + p.x;
    if (p.x == 0 || p.y == 0 || int(p.x) == n - 1 || int(p.y) == n - 1) {
        y[at] = x[at];
        return;
    }
    y[at] = x[at] + 0.2f * (x[at - 1] + x[at + 1] + x[at - n] + x[at + n] - 4 * x[at]);
}

kernel void particles(device float4 *place [[buffer(0)]], device float4 *speed [[buffer(1)]],
                      uint i [[thread_position_in_grid]]) {
    float4 p = place[i], v = speed[i];
    v.y -= 0.00981f;
    p += v * 0.001f;
    if (p.y < 0) p.y = -p.y, v.y = -0.5f * v.y;
    place[i] = p;
    speed[i] = v;
}

kernel void springs(device const int2 *ends [[buffer(0)]], device const float4 *place [[buffer(1)]],
                    device float4 *pull [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    const int2 e = ends[i];
    const float4 d = place[e.y] - place[e.x];
    const float l = length(d.xyz);
    pull[i] = d * ((l - 1) / max(l, 1e-6f));
}
