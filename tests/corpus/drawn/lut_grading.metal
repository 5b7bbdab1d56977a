// Colour grading by a table of 16 slices laid side by side.
#include <metal_stdlib>
using namespace metal;
struct Blit { float4 position [[position]]; float2 uv; };
vertex Blit blit_vs(uint i [[vertex_id]]) {
    float2 uv = float2((i << 1) & 2, i & 2);
    return {float4(uv.x * 2 - 1, 1 - uv.y * 2, 0, 1), uv};
}
fragment float4 grade(Blit in [[stage_in]], texture2d<float> scene [[texture(0)]], texture2d<float> lut [[texture(1)]]) {
    constexpr sampler nearest(filter::nearest), linear(filter::linear, address::clamp_to_edge);
    float3 c = saturate(scene.sample(nearest, in.uv).rgb);
    const float n = 16;
    float b = c.b * (n - 1), slice = floor(b), f = b - slice;
    float2 uv = (c.rg * (n - 1) + 0.5f) / float2(n * n, n);
    float3 low = lut.sample(linear, uv + float2(slice / n, 0)).rgb;
    float3 high = lut.sample(linear, uv + float2(min(slice + 1, n - 1) / n, 0)).rgb;
    return float4(mix(low, high, f), 1);
}
