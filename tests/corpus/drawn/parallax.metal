// A demo's parallax occlusion: a while loop over the heights with gradients taken outside.
#include <metal_stdlib>
using namespace metal;
struct Varyings { float4 position [[position]]; float2 uv; float3 view_ts; };
vertex Varyings parallax_vs(uint vid [[vertex_id]], constant float3 &eye [[buffer(0)]]) {
    Varyings v;
    float2 p = float2(vid & 1, vid >> 1);
    v.position = float4(p * 2 - 1, 0, 1);
    v.uv = float2(p.x, 1 - p.y);
    v.view_ts = eye - float3(p * 2 - 1, 0);
    return v;
}
fragment float4 parallax_fs(Varyings in [[stage_in]], texture2d<float> height [[texture(0)]], sampler s [[sampler(0)]]) {
    float3 v = normalize(in.view_ts);
    const int steps = 16;
    float2 delta = v.xy / max(v.z, 0.05f) * 0.08f / steps * float2(1, -1);
    float2 uv = in.uv, dx = dfdx(in.uv), dy = dfdy(in.uv);
    float level = 1, h = height.sample(s, uv, gradient2d(dx, dy)).r;
    int n = 0;
    while (h < level && n < steps) {
        level -= 1.0f / steps;
        uv -= delta;
        h = height.sample(s, uv, gradient2d(dx, dy)).r;
        n++;
    }
    return float4(uv, level, n);
}
