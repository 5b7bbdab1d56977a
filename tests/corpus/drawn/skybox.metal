// An application's skybox: rays through the inverse of the view, a cube map, drawn behind everything.
#include <metal_stdlib>
using namespace metal;
struct SkyUniforms { float4x4 inverseViewProjection; };
struct SkyInOut { float4 position [[position]]; float3 direction; };
vertex SkyInOut skybox_vertex(uint vid [[vertex_id]], constant SkyUniforms &uniforms [[buffer(0)]]) {
    float2 ndc = float2(vid == 1 ? 3 : -1, vid == 2 ? 3 : -1);
    SkyInOut out;
    out.position = float4(ndc, 1, 1); // at the far plane
    out.direction = (uniforms.inverseViewProjection * float4(ndc, 1, 1)).xyz;
    return out;
}
fragment half4 skybox_fragment(SkyInOut in [[stage_in]], texturecube<half> sky [[texture(0)]]) {
    constexpr sampler linearSampler(mip_filter::none, mag_filter::nearest, min_filter::nearest);
    return sky.sample(linearSampler, in.direction);
}
