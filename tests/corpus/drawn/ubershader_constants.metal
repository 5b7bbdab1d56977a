// One function for all materials: function constants switch features and even arguments on.
#include <metal_stdlib>
using namespace metal;
constant bool has_texture [[function_constant(0)]];
constant int light_model [[function_constant(1)]];
constant float2 uv_scale [[function_constant(2)]];
constant bool has_scale = is_function_constant_defined(uv_scale);
constant float2 used_scale = has_scale ? uv_scale : float2(1);
struct V { float4 position [[position]]; float2 uv; };
vertex V uber_vs(uint i [[vertex_id]]) {
    float2 uv = float2((i << 1) & 2, i & 2);
    return {float4(uv.x * 2 - 1, 1 - uv.y * 2, 0, 1), uv * used_scale};
}
fragment float4 uber_fs(V in [[stage_in]], texture2d<float> albedo [[texture(0), function_constant(has_texture)]], constant float4 &tint [[buffer(0)]]) {
    constexpr sampler s(filter::nearest, address::repeat);
    float4 c = tint;
    if (has_texture) c *= albedo.sample(s, in.uv);
    switch (light_model) {
        case 0: break;
        case 1: c.rgb *= 0.5f; [[fallthrough]];
        case 2: c.rgb += 0.125f; break;
        default: c = float4(in.uv, 0, 1);
    }
    return c;
}
