// SPDX-License-Identifier: Apache-2.0
// images.metal: filters on images that live in buffers: bytes, packed pixels, floats.
#include <metal_stdlib>
using namespace metal;

struct ImageSize {
    uint width;
    uint height;
};

static inline float at(device const float *image, constant ImageSize &s, int x, int y) {
    x = clamp(x, 0, int(s.width) - 1);
    y = clamp(y, 0, int(s.height) - 1);
    return image[y * s.width + x];
}

// 5x5, weights from a program-scope table
constant float gauss[5] = { 1.0 / 16, 4.0 / 16, 6.0 / 16, 4.0 / 16, 1.0 / 16 };

kernel void gaussian5(device const float *in [[buffer(0)]],
                      device float *out [[buffer(1)]],
                      constant ImageSize &s [[buffer(2)]],
                      uint2 gid [[thread_position_in_grid]])
{
    if (gid.x >= s.width || gid.y >= s.height) return;
    float sum = 0;
    for (int dy = -2; dy <= 2; ++dy)
        for (int dx = -2; dx <= 2; ++dx)
            sum += gauss[dx + 2] * gauss[dy + 2] * at(in, s, int(gid.x) + dx, int(gid.y) + dy);
    out[gid.y * s.width + gid.x] = sum;
}

// separable blur of a row in threadgroup memory with a halo
constant constexpr int kRadius = 4;
constant constexpr int kTile = 64;

kernel void blur_row_tiled(device const float *in [[buffer(0)]],
                           device float *out [[buffer(1)]],
                           constant ImageSize &s [[buffer(2)]],
                           ushort2 lid [[thread_position_in_threadgroup]],
                           ushort2 wg [[threadgroup_position_in_grid]])
{
    threadgroup float tile[kTile + 2 * kRadius];
    int x0 = wg.x * kTile;
    int y = wg.y;
    for (int i = lid.x; i < kTile + 2 * kRadius; i += kTile)
        tile[i] = at(in, s, x0 + i - kRadius, y);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    int x = x0 + lid.x;
    if (x >= int(s.width)) return;
    float sum = 0.0f;
    for (int k = -kRadius; k <= kRadius; ++k)
        sum += tile[lid.x + kRadius + k];
    out[y * s.width + x] = sum / (2 * kRadius + 1);
}

kernel void sobel(device const uchar *in [[buffer(0)]],
                  device uchar *out [[buffer(1)]],
                  constant ImageSize &s [[buffer(2)]],
                  uint2 gid [[thread_position_in_grid]])
{
    const int2 p = int2(gid);
    if (any(gid >= uint2(s.width, s.height))) return;
    if (p.x == 0 || p.y == 0 || p.x == int(s.width) - 1 || p.y == int(s.height) - 1) {
        out[p.y * s.width + p.x] = 0;
        return;
    }
    int gx = 0, gy = 0;
    for (int j = -1; j <= 1; j++) {
        for (int i = -1; i <= 1; i++) {
            int v = in[(p.y + j) * s.width + (p.x + i)];
            gx += v * i * (j == 0 ? 2 : 1);
            gy += v * j * (i == 0 ? 2 : 1);
        }
    }
    out[p.y * s.width + p.x] = uchar(min(255, int(sqrt(float(gx * gx + gy * gy)))));
}

template <typename T> inline void sort2(thread T &a, thread T &b) {
    T lo = min(a, b);
    b = max(a, b);
    a = lo;
}

kernel void median3(device const uchar *in [[buffer(0)]],
                    device uchar *out [[buffer(1)]],
                    constant ImageSize &s [[buffer(2)]],
                    uint2 gid [[thread_position_in_grid]],
                    uint2 grid [[threads_per_grid]])
{
    uchar v[9];
    int n = 0;
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++) {
            int x = clamp(int(gid.x) + i, 0, int(grid.x) - 1);
            int y = clamp(int(gid.y) + j, 0, int(grid.y) - 1);
            v[n++] = in[y * s.width + x];
        }
    // selection by an incomplete bubble sort: enough for the middle
    for (int i = 0; i < 5; i++)
        for (int j = 8; j > i; j--)
            sort2(v[j - 1], v[j]);
    out[gid.y * s.width + gid.x] = v[4];
}

// median by insertion with data-dependent inner loop
kernel void median3_insertion(device const uchar *in [[buffer(0)]],
                              device uchar *out [[buffer(1)]],
                              constant ImageSize &s [[buffer(2)]],
                              uint2 gid [[thread_position_in_grid]])
{
    uchar v[9];
    int n = 0;
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++) {
            int x = clamp(int(gid.x) + i, 0, int(s.width) - 1);
            int y = clamp(int(gid.y) + j, 0, int(s.height) - 1);
            uchar c = in[y * s.width + x];
            int k = n++;
            while (k > 0 && v[k - 1] > c) {
                v[k] = v[k - 1];
                --k;
            }
            v[k] = c;
        }
    out[gid.y * s.width + gid.x] = v[4];
}

kernel void bilateral(device const float *in [[buffer(0)]],
                      device float *out [[buffer(1)]],
                      constant ImageSize &s [[buffer(2)]],
                      constant float2 &sigma [[buffer(3)]],
                      uint2 gid [[thread_position_in_grid]])
{
    if (gid.x >= s.width || gid.y >= s.height) return;
    float centre = in[gid.y * s.width + gid.x];
    float weight = 0, sum = 0;
    for (int dy = -3; dy <= 3; ++dy) {
        int y = int(gid.y) + dy;
        if (y < 0 || y >= int(s.height)) continue;
        for (int dx = -3; dx <= 3; ++dx) {
            int x = int(gid.x) + dx;
            if (x < 0) continue;
            if (x >= int(s.width)) break;
            float v = in[y * s.width + x];
            float d = (v - centre) / sigma.y;
            float w = exp(-float(dx * dx + dy * dy) / (2 * sigma.x * sigma.x) - 0.5f * d * d);
            weight += w;
            sum += w * v;
        }
    }
    out[gid.y * s.width + gid.x] = sum / weight;
}

// packed pixels: unpack, swizzle, mix, pack
kernel void colour_twist(device const uint *in [[buffer(0)]],
                         device uint *out [[buffer(1)]],
                         constant float3x3 &twist [[buffer(2)]],
                         constant uint &n [[buffer(3)]],
                         uint i [[thread_position_in_grid]])
{
    if (i >= n) return;
    float4 c = unpack_unorm4x8_to_float(in[i]);
    c.rgb = saturate(twist * c.bgr);
    c.a = 1.0 - c.a;
    out[i] = pack_float_to_unorm4x8(c);
}

// bytes as uchar4 and half arithmetic
kernel void luma(device const uchar4 *in [[buffer(0)]],
                 device uchar *out [[buffer(1)]],
                 uint i [[thread_position_in_grid]])
{
    half3 rgb = half3(in[i].rgb) / 255.0h;
    half y = dot(rgb, half3(0.2126h, 0.7152h, 0.0722h));
    out[i] = uchar(rint(clamp(y, 0.0h, 1.0h) * 255.0h));
}

// serial along a row (error diffusion): one thread a row, bytes in and out
kernel void dither_rows(device uchar *image [[buffer(0)]],
                        constant ImageSize &s [[buffer(1)]],
                        uint y [[thread_position_in_grid]])
{
    if (y >= s.height) return;
    device uchar *row = image + y * s.width;
    int error = 0;
    for (uint x = 0; x < s.width; x++) {
        int v = row[x] + error;
        uchar q = v < 128 ? 0 : 255;
        error = v - q;
        row[x] = q;
    }
}

// ordered dither with an 8x8 matrix made of bits
kernel void dither_ordered(device const uchar *in [[buffer(0)]],
                           device uchar *out [[buffer(1)]],
                           constant ImageSize &s [[buffer(2)]],
                           ushort2 p [[thread_position_in_grid]])
{
    if (p.x >= s.width || p.y >= s.height) return;
    ushort x = p.x & 7, y = (p.x ^ p.y) & 7;
    ushort t = (extract_bits(y, 0, 1) << 5) | (extract_bits(x, 0, 1) << 4) | (extract_bits(y, 1, 1) << 3) |
               (extract_bits(x, 1, 1) << 2) | (extract_bits(y, 2, 1) << 1) | extract_bits(x, 2, 1);
    uint i = p.y * s.width + p.x;
    out[i] = in[i] > t * 4 + 2 ? 255 : 0;
}

// 16-bit accumulators and saturation
kernel void sharpen_sat(device const uchar *in [[buffer(0)]],
                        device uchar *out [[buffer(1)]],
                        constant ImageSize &s [[buffer(2)]],
                        uint2 gid [[thread_position_in_grid]])
{
    if (gid.x >= s.width || gid.y >= s.height) return;
    uint l = gid.x == 0 ? 0 : gid.x - 1u;
    uint r = min(gid.x + 1u, s.width - 1u);
    device const uchar *row = in + gid.y * s.width;
    uchar c = row[gid.x];
    uchar up = addsat(c, uchar(absdiff(c, row[l]) / 2));
    uchar down = subsat(up, uchar(rhadd(row[r], row[l]) / 4));
    out[gid.y * s.width + gid.x] = uchar(hadd(up, down) + (mulhi(ushort(c), ushort(300)) & 1));
}

// nearest and bilinear resampling
kernel void resize_bilinear(device const float *in [[buffer(0)]],
                            device float *out [[buffer(1)]],
                            constant ImageSize &src [[buffer(2)]],
                            constant ImageSize &dst [[buffer(3)]],
                            uint2 gid [[thread_position_in_grid]])
{
    if (gid.x >= dst.width || gid.y >= dst.height) return;
    float2 scale = float2(src.width, src.height) / float2(dst.width, dst.height);
    float2 p = (float2(gid) + 0.5) * scale - 0.5;
    float2 f = floor(p);
    float2 t = p - f;
    int2 a = int2(f);
    float top = mix(at(in, src, a.x, a.y), at(in, src, a.x + 1, a.y), t.x);
    float bottom = mix(at(in, src, a.x, a.y + 1), at(in, src, a.x + 1, a.y + 1), t.x);
    out[gid.y * dst.width + gid.x] = mix(top, bottom, t.y);
}

// matrix transpose, 16x16 tile with one column of padding
template <typename T>
kernel void transpose(device const T *in [[buffer(0)]],
                      device T *out [[buffer(1)]],
                      constant ImageSize &s [[buffer(2)]],
                      uint2 tid [[thread_position_in_threadgroup]],
                      uint2 wg [[threadgroup_position_in_grid]])
{
    threadgroup T tile[16][17];
    uint2 p = wg * 16 + tid;
    if (p.x < s.width && p.y < s.height)
        tile[tid.y][tid.x] = in[p.y * s.width + p.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint2 q = wg.yx * 16 + tid;
    if (q.x < s.height && q.y < s.width)
        out[q.y * s.height + q.x] = tile[tid.x][tid.y];
}

template [[host_name("transpose_f32")]] kernel void transpose<float>(device const float *, device float *, constant ImageSize &, uint2, uint2);
template [[host_name("transpose_u8")]] kernel void transpose<uchar>(device const uchar *, device uchar *, constant ImageSize &, uint2, uint2);
template [[host_name("transpose_f4")]] kernel void transpose<float4>(device const float4 *, device float4 *, constant ImageSize &, uint2, uint2);

// summed-area table: rows by one thread each, then columns
kernel void integral_rows(device const uchar *in [[buffer(0)]], device uint *out [[buffer(1)]],
                          constant ImageSize &s [[buffer(2)]], uint y [[thread_position_in_grid]])
{
    if (y >= s.height) return;
    uint sum = 0;
    for (uint x = 0; x < s.width; ++x) {
        sum += in[y * s.width + x];
        out[y * s.width + x] = sum;
    }
}

kernel void integral_columns(device uint *sat [[buffer(0)]], constant ImageSize &s [[buffer(1)]],
                             uint x [[thread_position_in_grid]])
{
    if (x >= s.width) return;
    for (uint y = 1; y < s.height; ++y)
        sat[y * s.width + x] += sat[(y - 1) * s.width + x];
}
