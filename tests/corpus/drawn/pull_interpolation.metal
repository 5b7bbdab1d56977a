// Interpolation on demand: the value at the centre and at an offset from the pixel's corner.
#include <metal_stdlib>
using namespace metal;
struct Out { float4 position [[position]]; float2 uv; };
struct In { interpolant<float2, interpolation::perspective> uv; };
vertex Out pull_vs(uint i [[vertex_id]]) {
    float2 uv = float2((i << 1) & 2, i & 2);
    return {float4(uv.x * 2 - 1, 1 - uv.y * 2, 0, 1), uv};
}
fragment float4 pull_fs(In in [[stage_in]]) { return float4(in.uv.interpolate_at_center(), in.uv.interpolate_at_offset(float2(0.75f, 0.25f))); }
