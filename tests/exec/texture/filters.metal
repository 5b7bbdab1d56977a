// Image filters in the styles of public Metal code.
#include <metal_stdlib>
using namespace metal;

// ---- blur: weights in constant memory, clamped by the sampler
constant float weights[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
kernel void blur_sampled(texture2d<float, access::sample> source [[texture(0)]],
                         texture2d<float, access::write> dest [[texture(1)]], uint2 gid [[thread_position_in_grid]]) {
    if (gid.x >= dest.get_width() || gid.y >= dest.get_height()) return;
    constexpr sampler s(coord::pixel, address::clamp_to_edge, filter::nearest);
    float4 sum = 0;
    for (int y = -2; y <= 2; y++)
        for (int x = -2; x <= 2; x++)
            sum += weights[x + 2] * weights[y + 2] * source.sample(s, float2(gid) + 0.5f + float2(x, y));
    dest.write(sum, gid);
}

// ---- Sobel: reads with clamped indices
static float luma(texture2d<float, access::read> t, int2 p) {
    int2 size = int2(t.get_width(), t.get_height());
    return dot(t.read(uint2(clamp(p, int2(0), size - 1))).rgb, float3(0.25f, 0.5f, 0.25f));
}
kernel void sobel(texture2d<float, access::read> in [[texture(0)]], texture2d<float, access::write> out [[texture(1)]],
                  uint2 gid [[thread_position_in_grid]]) {
    if (any(gid >= uint2(out.get_width(), out.get_height()))) return;
    int2 p = int2(gid);
    float gx = 0, gy = 0;
    for (int k = -1; k <= 1; k++) {
        float w = k == 0 ? 2.0f : 1.0f;
        gx += w * (luma(in, p + int2(1, k)) - luma(in, p + int2(-1, k)));
        gy += w * (luma(in, p + int2(k, 1)) - luma(in, p + int2(k, -1)));
    }
    out.write(float4(gx, gy, abs(gx) + abs(gy), 1), gid);
}

// ---- histogram of one channel
kernel void histogram(texture2d<half, access::read> in [[texture(0)]], device atomic_uint *bins [[buffer(0)]],
                      ushort2 gid [[thread_position_in_grid]]) {
    if (gid.x >= in.get_width() || gid.y >= in.get_height()) return;
    half4 c = in.read(gid);
    atomic_fetch_add_explicit(&bins[uint(c.r * 255.0h + 0.5h)], 1, memory_order_relaxed);
}

// ---- bilateral: radius given at run time, weights of range and distance
struct BilateralParams { int radius; float range; };
kernel void bilateral(texture2d<float> in [[texture(0)]], texture2d<float, access::write> out [[texture(1)]],
                      constant BilateralParams &p [[buffer(0)]], uint2 gid [[thread_position_in_grid]]) {
    const uint w = in.get_width(), h = in.get_height();
    if (gid.x >= w || gid.y >= h) return;
    float center = in.read(gid).r, sum = 0, total = 0;
    for (int y = -p.radius; y <= p.radius; ++y)
        for (int x = -p.radius; x <= p.radius; ++x) {
            int2 q = int2(gid) + int2(x, y);
            if (q.x < 0 || q.y < 0 || q.x >= int(w) || q.y >= int(h)) continue;
            float v = in.read(uint2(q)).r, d = v - center;
            float weight = 1.0f / (1.0f + p.range * d * d + float(x * x + y * y));
            sum += weight * v;
            total += weight;
        }
    out.write(float4(sum / total), gid);
}

// ---- the next mip level from the one before, by a bilinear tap in the middle of four
kernel void downsample(texture2d<float, access::sample> from [[texture(0)]], texture2d<float, access::read_write> to [[texture(1)]],
                       constant uint &target [[buffer(0)]], uint2 gid [[thread_position_in_grid]]) {
    uint2 size = uint2(to.get_width(target), to.get_height(target));
    if (gid.x >= size.x || gid.y >= size.y) return;
    constexpr sampler s(filter::linear, mip_filter::nearest, address::clamp_to_edge);
    float2 uv = (float2(gid) + 0.5f) / float2(size);
    to.write(from.sample(s, uv, level(float(target - 1))), gid, target);
}

// ---- a colour cube
kernel void apply_lut(texture2d<float, access::read> in [[texture(0)]], texture3d<float> lut [[texture(1)]],
                      texture2d<float, access::write> out [[texture(2)]], uint2 gid [[thread_position_in_grid]]) {
    constexpr sampler s(coord::normalized, filter::linear, address::clamp_to_edge);
    float3 c = in.read(gid).rgb;
    float n = float(lut.get_width());
    out.write(float4(lut.sample(s, c * ((n - 1) / n) + 0.5f / n).rgb, 1), gid);
}

// ---- shadows: percentage closer, four taps
kernel void shadow(depth2d<float> map [[texture(0)]], device const float3 *points [[buffer(0)]],
                   device float *lit [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    constexpr sampler s(coord::normalized, filter::nearest, address::clamp_to_edge, compare_func::less_equal);
    float3 p = points[i];
    float sum = 0;
    sum += map.sample_compare(s, p.xy, p.z, level(0), int2(0, 0));
    sum += map.sample_compare(s, p.xy, p.z, level(0), int2(1, 0));
    sum += map.sample_compare(s, p.xy, p.z, level(0), int2(0, 1));
    sum += map.sample_compare(s, p.xy, p.z, level(0), int2(1, 1));
    lit[i] = sum / 4;
}

// ---- video: full-size luma, half-size chroma
kernel void yuv_to_rgb(texture2d<float, access::sample> y [[texture(0)]], texture2d<float, access::sample> uv [[texture(1)]],
                       texture2d<float, access::write> out [[texture(2)]], uint2 gid [[thread_position_in_grid]]) {
    const float3x3 matrix = float3x3(float3(1, 1, 1), float3(0, -0.25f, 2), float3(1.5f, -0.5f, 0));
    float3 v = float3(y.read(gid).r, uv.read(gid / 2).rg - 0.5f);
    out.write(float4(saturate(matrix * v), 1), gid);
}

// ---- a threadgroup reads a tile with its border, once
kernel void tiled_box(texture2d<float, access::read> in [[texture(0)]], texture2d<float, access::write> out [[texture(1)]],
                      uint2 gid [[thread_position_in_grid]], uint2 lid [[thread_position_in_threadgroup]],
                      uint2 tile [[threadgroup_position_in_grid]]) {
    threadgroup float cells[10][10];
    int2 corner = int2(tile) * 8 - 1;
    for (uint k = lid.y * 8 + lid.x; k < 100; k += 64) {
        int2 p = corner + int2(k % 10, k / 10);
        cells[k / 10][k % 10] = in.read(uint2(p)).r; // outside: zero
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float sum = 0;
    for (uint y = 0; y < 3; y++)
        for (uint x = 0; x < 3; x++) sum += cells[lid.y + y][lid.x + x];
    out.write(float4(sum), gid);
    threadgroup_barrier(mem_flags::mem_threadgroup);
}
