// Flat shading without normals: the cross product of derivatives of the place; line width by fwidth.
#include <metal_stdlib>
using namespace metal;
struct Out { float4 position [[position]]; float3 world; float3 bary; };
struct In { float3 world; float3 bary; };
vertex Out facets_vs(uint i [[vertex_id]], constant packed_float3 *points [[buffer(0)]]) {
    Out o;
    o.world = points[i];
    o.position = float4(o.world.xy, 0.5f, 1);
    o.bary = float3(i % 3 == 0, i % 3 == 1, i % 3 == 2);
    return o;
}
fragment float4 facets_fs(In in [[stage_in]]) {
    float3 n = normalize(cross(dfdy(in.world), dfdx(in.world)));
    float3 d = fwidth(in.bary);
    float3 edge = smoothstep(float3(0), d * 1.5f, in.bary);
    return float4(n, min3(edge.x, edge.y, edge.z));
}
