// Point sprites simulated by a kernel: point size, point coordinates, soft edges.
#include <metal_stdlib>
using namespace metal;
struct Particle { packed_float3 position; float size; packed_float3 velocity; float life; };
struct ParticleOut { float4 position [[position]]; float size [[point_size]]; half4 color; };
kernel void simulate(device Particle *p [[buffer(0)]], constant float &dt [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    p[i].position = float3(p[i].position) + float3(p[i].velocity) * dt;
    p[i].life -= dt;
}
vertex ParticleOut particle_vertex(const device Particle *particles [[buffer(0)]], constant float4x4 &vp [[buffer(1)]], unsigned int vid [[vertex_id]]) {
    ParticleOut out;
    device const Particle &p = particles[vid];
    out.position = vp * float4(float3(p.position), 1);
    out.size = p.life > 0 ? p.size / out.position.w : 0;
    out.color = half4(half3(mix(float3(1, 0.2, 0), float3(1, 1, 0.4), p.life)), half(p.life));
    return out;
}
fragment half4 particle_fragment(ParticleOut in [[stage_in]], float2 point [[point_coord]], depth2d<float> scene [[texture(0)]]) {
    float d = distance(point, float2(0.5));
    if (d > 0.5) discard_fragment();
    float z = scene.read(uint2(in.position.xy));
    half soft = half(smoothstep(0.0, 0.01, z - in.position.z));
    return half4(in.color.rgb, in.color.a * half(1 - smoothstep(0.4, 0.5, d)) * soft);
}
