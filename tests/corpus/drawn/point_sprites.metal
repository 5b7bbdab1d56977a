// A particle system with points: size and colour by age, a soft disc by point_coord, dead ones culled.
#include <metal_stdlib>
using namespace metal;
struct Particle { packed_float2 position; float age; uint color; };
struct PointOut { float4 position [[position]]; float size [[point_size]]; float4 color; };
vertex PointOut particle_vertex(const device Particle *particles [[buffer(0)]], uint id [[vertex_id]]) {
    Particle p = particles[id];
    PointOut out;
    out.position = p.age > 1 ? float4(NAN) : float4(float2(p.position), 0, 1);
    out.size = mix(8.0f, 16.0f, p.age);
    out.color = unpack_unorm4x8_to_float(p.color);
    return out;
}
fragment float4 particle_fragment(PointOut in [[stage_in]], float2 pc [[point_coord]]) {
    float d = distance(pc, float2(0.5f));
    if (d > 0.5f) discard_fragment();
    return float4(in.color.rgb, 1 - 2 * d);
}
