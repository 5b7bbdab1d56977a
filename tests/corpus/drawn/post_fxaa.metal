// A game's FXAA, the short one: luma of the corners, a direction, two pairs of taps.
#include <metal_stdlib>
using namespace metal;
#define FXAA_REDUCE_MIN (1.0 / 128.0)
#define FXAA_REDUCE_MUL (1.0 / 8.0)
#define FXAA_SPAN_MAX 8.0
typedef struct { float4 position [[position]]; float2 texCoord; } QuadOut;
vertex QuadOut quadVertex(unsigned int vid [[vertex_id]]) {
    QuadOut o;
    float2 t = float2(vid & 1, vid >> 1);
    o.position = float4(t * 2.0 - 1.0, 0.0, 1.0);
    o.texCoord = float2(t.x, 1.0 - t.y);
    return o;
}
fragment float4 fxaa(QuadOut in [[stage_in]], texture2d<float> tex [[texture(0)]], sampler s [[sampler(0)]]) {
    const float3 luma = float3(0.299, 0.587, 0.114);
    float2 inv = 1.0 / float2(tex.get_width(), tex.get_height());
    float lNW = dot(tex.sample(s, in.texCoord + float2(-1.0, -1.0) * inv, level(0)).rgb, luma);
    float lNE = dot(tex.sample(s, in.texCoord + float2(1.0, -1.0) * inv, level(0)).rgb, luma);
    float lSW = dot(tex.sample(s, in.texCoord + float2(-1.0, 1.0) * inv, level(0)).rgb, luma);
    float lSE = dot(tex.sample(s, in.texCoord + float2(1.0, 1.0) * inv, level(0)).rgb, luma);
    float lM = dot(tex.sample(s, in.texCoord, level(0)).rgb, luma);
    float lMin = min(lM, min(min(lNW, lNE), min(lSW, lSE))), lMax = max(lM, max(max(lNW, lNE), max(lSW, lSE)));
    float2 dir = float2(-((lNW + lNE) - (lSW + lSE)), ((lNW + lSW) - (lNE + lSE)));
    float reduce = max((lNW + lNE + lSW + lSE) * (0.25 * FXAA_REDUCE_MUL), FXAA_REDUCE_MIN);
    float scale = 1.0 / (min(abs(dir.x), abs(dir.y)) + reduce);
    dir = clamp(dir * scale, -FXAA_SPAN_MAX, FXAA_SPAN_MAX) * inv;
    float3 a = 0.5 * (tex.sample(s, in.texCoord + dir * (1.0 / 3.0 - 0.5), level(0)).rgb + tex.sample(s, in.texCoord + dir * (2.0 / 3.0 - 0.5), level(0)).rgb);
    float3 b = a * 0.5 + 0.25 * (tex.sample(s, in.texCoord - dir * 0.5, level(0)).rgb + tex.sample(s, in.texCoord + dir * 0.5, level(0)).rgb);
    float lB = dot(b, luma);
    return float4((lB < lMin || lB > lMax) ? a : b, 1.0);
}
