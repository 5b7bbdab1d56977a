// A renderer's bloom: what is bright, from the mipmaps of the picture, each level weighted.
#include <metal_stdlib>
using namespace metal;
struct Bloom { float threshold; float knee; float4 weights; };
struct V { float4 p [[position]]; float2 uv; };
vertex V full(ushort i [[vertex_id]]) {
    V v;
    v.uv = float2((i << 1) & 2, i & 2);
    v.p = float4(v.uv * float2(2, -2) + float2(-1, 1), 0, 1);
    return v;
}
fragment half4 bloom(V in [[stage_in]], constant Bloom &b [[buffer(0)]], texture2d<half> source [[texture(0)]]) {
    constexpr sampler s(coord::normalized, address::clamp_to_edge, filter::linear, mip_filter::nearest);
    half3 sum = 0;
    for (ushort i = 0; i < 4; i++) {
        half3 c = source.sample(s, in.uv, level(i)).rgb;
        half bright = max3(c.r, c.g, c.b);
        half soft = clamp(bright - half(b.threshold) + half(b.knee), 0.0h, 2.0h * half(b.knee));
        soft = soft * soft / (4.0h * half(b.knee) + 1e-4h);
        sum += c * max(soft, bright - half(b.threshold)) / max(bright, 1e-4h) * half(b.weights[i]);
    }
    return half4(sum, 1);
}
