// Per-sample work: sample ids, coverage in and out, sample interpolation, custom resolve.
#include <metal_stdlib>
using namespace metal;
struct In {
    float4 position [[position]];
    float2 a [[sample_perspective]];
    float2 b [[centroid_perspective]];
    float c [[sample_no_perspective]];
    float d [[centroid_no_perspective]];
};
struct Out { float4 color [[color(0)]]; uint mask [[sample_mask]]; };
fragment Out per_sample(In in [[stage_in]], uint id [[sample_id]], uint coverage [[sample_mask, post_depth_coverage]]) {
    Out o;
    o.color = float4(in.a + in.b, in.c, in.d) * (1.0f / float(id + 1));
    o.mask = coverage & (id & 1 ? 0xf0fu : ~0u);
    return o;
}
fragment float4 resolve(float4 p [[position]], texture2d_ms<float> t [[texture(0)]]) {
    float4 sum = 0;
    uint n = t.get_num_samples();
    for (uint i = 0; i < n; i++) sum += t.read(uint2(p.xy), i) / (1 + t.read(uint2(p.xy), i).w);
    return sum / n;
}
fragment half4 alpha_to_coverage(float4 p [[position]], float3 bary [[barycentric_coord]], uint prim [[primitive_id]]) {
    float edge = min3(bary.x, bary.y, bary.z) / max(fwidth(bary.x), 1e-5);
    return half4(half3(prim & 1u, prim >> 1 & 1u, prim >> 2 & 1u), half(saturate(edge)));
}
