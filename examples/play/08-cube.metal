/*play {"title": "A cube: vertices and depth", "function": "shade", "vertex": "corner", "vertices": 36, "depth": true,
 "cull": "back", "clear": [0.06, 0.07, 0.1, 1], "values": {"u.speed": 0.7, "u.near": 3.2},
 "ranges": {"u.speed": [0, 3], "u.near": [2.2, 8]}} */
// A vertex function makes 36 corners of 12 triangles from nothing but their number; the depth test
// keeps what is nearest.
#include <metal_stdlib>
using namespace metal;

struct Uniforms {
    float time;
    float2 resolution;
    float speed;
    float near;
};
struct Corner {
    float4 position [[position]];
    float3 normal;
    float3 color;
};

vertex Corner corner(uint i [[vertex_id]], constant Uniforms &u [[buffer(0)]]) {
    const uint order[6] = {0, 1, 2, 2, 1, 3};
    uint side = i / 6, k = order[i % 6];
    float2 at = float2(k & 1, k >> 1) * 2 - 1;
    float sign = side & 1 ? -1.0 : 1.0;
    float3 n = 0, p;
    n[side / 2] = sign;
    p = float3(at.x * sign, at.y, 1 * sign);
    if (side / 2 == 0) p = float3(p.z, p.x, p.y);
    if (side / 2 == 1) p = float3(p.y, p.z, p.x);
    float a = u.time * u.speed, b = a * 0.6;
    float3x3 turn = float3x3(float3(cos(a), 0, -sin(a)), float3(0, 1, 0), float3(sin(a), 0, cos(a))) *
                    float3x3(float3(1, 0, 0), float3(0, cos(b), sin(b)), float3(0, -sin(b), cos(b)));
    float3 q = turn * p * 0.8;
    q.z -= u.near;
    float aspect = u.resolution.x / u.resolution.y;
    return {float4(q.x * 1.6 / aspect, q.y * 1.6, -q.z - 0.5, -q.z), turn * n, 0.5 + 0.5 * n};
}

fragment float4 shade(Corner in [[stage_in]]) {
    float light = 0.25 + 0.75 * saturate(dot(normalize(in.normal), normalize(float3(0.4, 0.7, 0.8))));
    return float4(in.color * light, 1);
}
