// A full-screen triangle and a signed distance field, as shader toys have them.
#include <metal_stdlib>
using namespace metal;
struct FullscreenOut { float4 pos [[position]]; float2 uv; };
vertex FullscreenOut fullscreen(uint vid [[vertex_id]]) {
    float2 uv = float2((vid << 1) & 2, vid & 2);
    return {float4(uv * float2(2, -2) + float2(-1, 1), 0, 1), uv};
}
static float map(float3 p, float t) {
    float3 q = fmod(abs(p) + 2.0, 4.0) - 2.0;
    float s = length(q) - 1.0 + 0.1 * sin(5 * p.x + t) * sin(5 * p.y) * sin(5 * p.z);
    return min(s, p.y + 1.5);
}
static float3 normal(float3 p, float t) {
    const float2 e = float2(1, -1) * 0.001;
    return normalize(e.xyy * map(p + e.xyy, t) + e.yyx * map(p + e.yyx, t) + e.yxy * map(p + e.yxy, t) + e.xxx * map(p + e.xxx, t));
}
fragment float4 raymarch(FullscreenOut in [[stage_in]], constant float2 &resolution [[buffer(0)]], constant float &time [[buffer(1)]]) {
    float2 uv = (in.pos.xy * 2 - resolution) / min(resolution.x, resolution.y);
    float3 ro = float3(0, 0, -4), rd = normalize(float3(uv.x, -uv.y, 1.5));
    float t = 0;
    int i = 0;
    for (; i < 80; ++i) {
        float d = map(ro + rd * t, time);
        if (d < 0.001 || t > 40) break;
        t += d;
    }
    if (t > 40) return float4(0.5, 0.7, 1, 1) - rd.y * 0.3;
    float3 n = normal(ro + rd * t, time);
    float ao = 1 - float(i) / 80;
    return float4(float3(max(0.0, dot(n, normalize(float3(1, 1, -1))))) * ao, 1);
}
