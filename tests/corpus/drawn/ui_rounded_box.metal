// An interface toolkit: rectangles as instances with corners, borders and packed colours; clipped by hand.
#include <metal_stdlib>
using namespace metal;
struct Quad { packed_float4 bounds; packed_float4 radii; float border; uint fill_color; uint border_color; packed_float4 clip; };
struct QuadVertex { float4 position [[position]]; float2 at; uint id [[flat]]; float clip_distance [[clip_distance]] [4]; };
struct QuadFragment { float4 position [[position]]; float2 at; uint id [[flat]]; };
vertex QuadVertex quad_vertex(uint unit [[vertex_id]], uint id [[instance_id]], constant Quad *quads [[buffer(0)]], constant float2 &viewport [[buffer(1)]]) {
    Quad q = quads[id];
    float2 corner = float2(unit & 1, unit >> 1);
    float4 bounds = q.bounds, clip = q.clip;
    float2 at = bounds.xy + corner * bounds.zw;
    QuadVertex out;
    out.position = float4(at / viewport * float2(2, -2) + float2(-1, 1), 0, 1);
    out.at = at;
    out.id = id;
    out.clip_distance[0] = at.x - clip.x;
    out.clip_distance[1] = clip.x + clip.z - at.x;
    out.clip_distance[2] = at.y - clip.y;
    out.clip_distance[3] = clip.y + clip.w - at.y;
    return out;
}
static float quad_sdf(float2 p, float4 bounds, float4 radii) {
    float2 half_size = bounds.zw / 2, centered = p - (bounds.xy + half_size);
    float r = centered.x < 0 ? (centered.y < 0 ? radii.x : radii.w) : (centered.y < 0 ? radii.y : radii.z);
    float2 d = abs(centered) - half_size + r;
    return length(max(0.f, d)) + min(0.f, max(d.x, d.y)) - r;
}
fragment float4 quad_fragment(QuadFragment in [[stage_in]], constant Quad *quads [[buffer(0)]]) {
    Quad q = quads[in.id];
    float distance = quad_sdf(in.at, q.bounds, q.radii);
    float4 fill = unpack_unorm4x8_srgb_to_float(q.fill_color), border = unpack_unorm4x8_to_float(q.border_color);
    float inner = distance + q.border;
    float4 color = mix(border, fill, saturate(0.5f - inner));
    return color * saturate(0.5f - distance);
}
