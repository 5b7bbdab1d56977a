// Neighbours in a quad: shuffles, derivatives of both kinds, helper threads, barycentric coordinates.
#include <metal_stdlib>
using namespace metal;
struct Out { float4 position [[position]]; float value; float linear [[center_no_perspective]]; };
struct In { float value; float linear [[center_no_perspective]]; };
vertex Out quad_vs(uint i [[vertex_id]]) {
    float w = i == 1 ? 2.0f : 1.0f;
    float2 p = float2(i == 1 ? 3 : -1, i == 2 ? 3 : -1);
    return {float4(p * w, 0, w), float(i == 1), float(i == 1)};
}
struct Targets { float4 a [[color(0)]]; float4 b [[color(1)]]; };
fragment Targets quad_fs(In in [[stage_in]], float4 p [[position]], float3 bary [[barycentric_coord]], uint id [[thread_index_in_quadgroup]]) {
    float x = floor(p.x), y = floor(p.y);
    Targets o;
    o.a = float4(quad_shuffle_xor(x, 1), quad_shuffle_xor(y, 2), quad_sum(x + 100 * y), float(id));
    o.b = float4(in.value, in.linear, bary.y, dfdx(x * x) + 1000 * fwidth(y));
    return o;
}
