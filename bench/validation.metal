// Bilinear sampling with the texture from each of the places it can come from: an argument of the
// kernel, an argument buffer, one of many that the threadgroup or every thread chooses.
#include <metal_stdlib>
using namespace metal;

constexpr sampler bilinear(filter::linear, address::repeat);

static void put(device float4 *out, uint2 p, float4 v) { out[p.y * 1024 + p.x] = v; }
static float2 place(uint2 p, int k) { return float2(p) * (1.0f / 512) + 0.0007f * k; }

kernel void sample_bound(device float4 *out [[buffer(0)]], texture2d<float> t [[texture(0)]],
                         uint2 p [[thread_position_in_grid]]) {
    put(out, p, t.sample(bilinear, place(p, 0)));
}

struct Scene {
    texture2d<float> t;
};
kernel void sample_argument(device float4 *out [[buffer(0)]], constant Scene &s [[buffer(1)]],
                            uint2 p [[thread_position_in_grid]]) {
    put(out, p, s.t.sample(bilinear, place(p, 0)));
}
kernel void sample_loop(device float4 *out [[buffer(0)]], constant Scene &s [[buffer(1)]],
                        uint2 p [[thread_position_in_grid]]) {
    float4 sum = 0;
    for (int k = 0; k < 8; k++) sum += s.t.sample(bilinear, place(p, k));
    put(out, p, sum);
}

struct Many {
    array<texture2d<float>, 64> t;
};
kernel void sample_group(device float4 *out [[buffer(0)]], constant Many &m [[buffer(1)]],
                         uint2 p [[thread_position_in_grid]],
                         uint2 g [[threadgroup_position_in_grid]]) {
    put(out, p, m.t[(g.x + 3 * g.y) % 64].sample(bilinear, place(p, 0)));
}
kernel void sample_thread(device float4 *out [[buffer(0)]], device const Many &m [[buffer(1)]],
                          uint2 p [[thread_position_in_grid]]) {
    put(out, p, m.t[(p.x / 8 + p.y) % 64].sample(bilinear, place(p, 0)));
}
