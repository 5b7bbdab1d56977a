// Depth only, layered rendering into cascades, percentage-closer filtering.
#include <metal_stdlib>
using namespace metal;
struct Cascades { float4x4 m[4]; float4 splits; };
struct DepthOut { float4 p [[position]]; uint layer [[render_target_array_index]]; float2 uv; };
vertex DepthOut shadow_vertex(const device packed_float3 *positions [[buffer(0)]], const device float2 *uvs [[buffer(1)]], constant Cascades &c [[buffer(2)]], uint v [[vertex_id]], uint i [[instance_id]]) {
    DepthOut o;
    o.p = c.m[i] * float4(float3(positions[v]), 1);
    o.layer = i;
    o.uv = uvs[v];
    return o;
}
vertex float4 depth_only(const device packed_float3 *positions [[buffer(0)]], constant float4x4 &m [[buffer(1)]], uint v [[vertex_id]]) [[position]] { return m * float4(float3(positions[v]), 1); }
fragment void shadow_alpha(DepthOut in [[stage_in]], texture2d<half> t [[texture(0)]], sampler s [[sampler(0)]]) {
    if (t.sample(s, in.uv).a < 0.5h) discard_fragment();
}
struct LitIn { float4 p [[position]]; float3 world; float view_z; };
static half pcf(depth2d_array<float> map, float3 at, uint layer) {
    constexpr sampler s(filter::linear, compare_func::less_equal, address::clamp_to_edge);
    half sum = 0;
    for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++) sum += half(map.sample_compare(s, at.xy, layer, at.z, int2(x, y)));
    return sum / 9;
}
fragment half4 lit(LitIn in [[stage_in]], constant Cascades &c [[buffer(2)]], depth2d_array<float> map [[texture(0)]]) {
    uint layer = 3;
    for (uint i = 0; i < 4; i++)
        if (in.view_z < c.splits[i]) { layer = i; break; }
    float4 q = c.m[layer] * float4(in.world, 1);
    q.xyz /= q.w;
    return half4(half3(pcf(map, float3(q.xy * float2(.5, -.5) + .5, q.z), layer)), 1);
}
