// SPDX-License-Identifier: Apache-2.0
// graphics.metal: the functions of the scenes (graphics_scenes.h); graphics.glsl is the same in GLSL.
#include <metal_stdlib>
using namespace metal;

struct Uniforms {
    float4x4 matrix;
    float4 light;
};
struct LitIn {
    float3 place [[attribute(0)]];
    float3 normal [[attribute(1)]];
};
struct LitOut {
    float4 place [[position]];
    float3 normal;
};
vertex LitOut lit_v(LitIn in [[stage_in]], constant Uniforms &u [[buffer(1)]]) {
    return {u.matrix * float4(in.place, 1), in.normal};
}
fragment float4 lit_f(LitOut in [[stage_in]], constant Uniforms &u [[buffer(1)]]) {
    float d = max(dot(normalize(in.normal), u.light.xyz), 0.0f);
    return float4(float3(0.9f, 0.7f, 0.4f) * (0.1f + 0.9f * d), 1);
}

struct TriangleOut {
    float4 place [[position]];
    float3 color;
};
vertex TriangleOut triangle_v(uint i [[vertex_id]]) {
    const float2 at[3] = {{0, 0.8f}, {0.8f, -0.8f}, {-0.8f, -0.8f}};
    const float3 colors[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    return {float4(at[i], 0.5f, 1), colors[i]};
}
fragment float4 triangle_f(TriangleOut in [[stage_in]]) { return float4(in.color, 1); }

struct QuadIn {
    float2 place [[attribute(0)]];
    float2 uv [[attribute(1)]];
};
struct QuadOut {
    float4 place [[position]];
    float2 uv;
};
vertex QuadOut quad_v(QuadIn in [[stage_in]]) {
    return {float4(in.place.x, -in.place.y, 0.5f, 1), in.uv};
}
fragment float4 quad_f(QuadOut in [[stage_in]], texture2d<float> t [[texture(0)]],
                       sampler s [[sampler(0)]]) {
    return t.sample(s, in.uv);
}

vertex QuadOut steps_v(uint i [[vertex_id]]) {
    float2 uv = float2((i << 1) & 2, i & 2);
    return {float4(uv.x * 2 - 1, 1 - uv.y * 2, 0.5f, 1), uv};
}
fragment float4 steps_f(QuadOut in [[stage_in]]) {
    float2 c = float2(in.uv.x * 3.0f - 2.1f, in.uv.y * 2.4f - 1.2f);
    float zx = 0, zy = 0;
    for (int i = 0; i < 64; i++) {
        float nx = zx * zx - zy * zy + c.x;
        zy = clamp(2.0f * zx * zy + c.y, -2.0f, 2.0f);
        zx = clamp(nx, -2.0f, 2.0f);
    }
    return float4(abs(zx) * 0.5f, abs(zy) * 0.5f, zx * zx * 0.25f, 1);
}
