// SPDX-License-Identifier: Apache-2.0
// raster.metal: the functions of bench_raster_msl; raster_functions_c.c has the same in C.
#include <metal_stdlib>
using namespace metal;
struct U {
    float4x4 m;
    float4 light;
};
struct Lit {
    float3 p [[attribute(0)]];
    float3 n [[attribute(1)]];
};
struct LitOut {
    float4 p [[position]];
    float3 n;
};
vertex LitOut lit_v(Lit in [[stage_in]], constant U &u [[buffer(1)]]) {
    return {u.m * float4(in.p, 1), in.n};
}
fragment float4 lit_f(LitOut in [[stage_in]], constant U &u [[buffer(1)]]) {
    float d = max(dot(normalize(in.n), u.light.xyz), 0.0f);
    return float4(float3(0.9, 0.7, 0.4) * (0.1f + 0.9f * d), 1);
}
struct Tri {
    float4 p [[position]];
    float3 c;
};
vertex Tri triangle_v(uint i [[vertex_id]]) {
    float2 p[3] = {{0, 0.8}, {0.8, -0.8}, {-0.8, -0.8}};
    return {float4(p[i], 0.5, 1), float3(i == 0, i == 1, i == 2)};
}
fragment float4 triangle_f(Tri in [[stage_in]]) { return float4(in.c, 1); }
struct Quad {
    float2 p [[attribute(0)]];
    float2 uv [[attribute(1)]];
};
struct QuadOut {
    float4 p [[position]];
    float2 uv;
};
vertex QuadOut quad_v(Quad in [[stage_in]]) { return {float4(in.p, 0.5, 1), in.uv}; }
fragment float4 quad_f(QuadOut in [[stage_in]]) { return float4(in.uv, 0.25, 0.4); }
fragment float4 trilinear_f(QuadOut in [[stage_in]], texture2d<float> t [[texture(0)]]) {
    constexpr sampler s(filter::linear, mip_filter::linear, address::repeat);
    return t.sample(s, in.uv);
}
fragment float4 nearest_f(QuadOut in [[stage_in]], texture2d<float> t [[texture(0)]]) {
    constexpr sampler s(filter::nearest, address::repeat);
    return t.sample(s, in.uv);
}
vertex QuadOut sprite_v(uint i [[vertex_id]], uint n [[instance_id]]) {
    float2 uv = float2(i == 1 || i == 2 || i == 4, i == 2 || i == 4 || i == 5);
    float2 at = float2(n * 7919u % 1920u, n * 104729u % 1080u);
    return {float4((at + uv * 6) / float2(960, -540) + float2(-1, 1), 0.5, 1), uv};
}
fragment float4 sprite_f(QuadOut in [[stage_in]]) { return float4(in.uv, 0.25, 0.4); }
vertex QuadOut fixed_v(uint i [[vertex_id]]) {
    float2 uv = float2((i << 1) & 2, i & 2);
    return {float4(uv * 2 - 1, 0.5, 1), uv};
}
fragment float4 fixed_f(QuadOut in [[stage_in]]) {
    float2 c = float2(in.uv.x * 3.0f - 2.1f, in.uv.y * 2.4f - 1.2f);
    float zx = 0, zy = 0;
    for (int i = 0; i < 64; i++) {
        float nx = zx * zx - zy * zy + c.x;
        zy = clamp(2.0f * zx * zy + c.y, -2.0f, 2.0f);
        zx = clamp(nx, -2.0f, 2.0f);
    }
    return float4(abs(zx) * 0.5f, abs(zy) * 0.5f, zx * zx * 0.25f, 1);
}
