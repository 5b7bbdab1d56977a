// Blending in the fragment function: a subpass input as a cross-compiler reads it, in the order of the draws.
#include <metal_stdlib>
using namespace metal;
struct Out { float4 position [[position]]; float4 color [[flat]]; };
struct In { float4 color [[flat]]; };
vertex Out layers_vs(uint v [[vertex_id]], uint i [[instance_id]], constant float4 *colors [[buffer(0)]]) {
    float2 p = float2(v & 1, v >> 1) * 2 - 1;
    return {float4(p * (1 - 0.15f * i), 0, 1), colors[i]};
}
struct Result { float4 color [[color(0), raster_order_group(0)]]; };
fragment Result overlay_fs(In in [[stage_in]], float4 gl_LastFragData [[color(0), raster_order_group(0)]]) {
    float4 b = gl_LastFragData, s = in.color;
    float3 overlay = select(1 - 2 * (1 - b.rgb) * (1 - s.rgb), 2 * b.rgb * s.rgb, b.rgb < 0.5f);
    return {float4(mix(b.rgb, overlay, s.a), b.a + 1)};
}
