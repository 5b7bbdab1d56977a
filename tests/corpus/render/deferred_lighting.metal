// A deferred renderer of the tile-based kind: G-buffer targets read back by framebuffer fetch.
#include <metal_stdlib>
using namespace metal;
struct GBufferData {
    half4 lighting        [[color(0), raster_order_group(0)]];
    half4 albedo_specular [[color(1), raster_order_group(1)]];
    half4 normal_shadow   [[color(2), raster_order_group(1)]];
    float depth           [[color(3), raster_order_group(1)]];
};
struct AccumLightBuffer { half4 lighting [[color(0), raster_order_group(0)]]; };
struct FrameData { float4x4 projection, view, shadow; float3 sun_eye_direction; float shininess; uint width, height; };
struct Vertex { float3 position [[attribute(0)]]; float2 tex_coord [[attribute(1)]]; half3 normal [[attribute(2)]]; half3 tangent [[attribute(3)]]; };
struct ColorInOut {
    float4 position [[position]];
    float2 tex_coord;
    float2 shadow_uv;
    half shadow_depth;
    float3 eye_position;
    half3 tangent, normal;
};
vertex ColorInOut gbuffer_vertex(Vertex in [[stage_in]], constant FrameData &frame [[buffer(2)]]) {
    ColorInOut out;
    float4 eye = frame.view * float4(in.position, 1.0);
    out.position = frame.projection * eye;
    out.tex_coord = in.tex_coord;
    out.eye_position = eye.xyz;
    float3 s = (frame.shadow * float4(in.position, 1.0)).xyz;
    out.shadow_uv = s.xy;
    out.shadow_depth = half(s.z);
    half3x3 m = half3x3(half3(frame.view[0].xyz), half3(frame.view[1].xyz), half3(frame.view[2].xyz));
    out.tangent = normalize(m * in.tangent);
    out.normal = normalize(m * in.normal);
    return out;
}
fragment GBufferData gbuffer_fragment(ColorInOut in [[stage_in]], texture2d<half> base [[texture(0)]], texture2d<half> bump [[texture(1)]], depth2d<float> shadow_map [[texture(2)]]) {
    constexpr sampler linear(mip_filter::linear, mag_filter::linear, min_filter::linear);
    constexpr sampler shadow(coord::normalized, filter::linear, mip_filter::none, address::clamp_to_edge, compare_func::less);
    half4 color = base.sample(linear, in.tex_coord);
    half4 n = bump.sample(linear, in.tex_coord);
    half3 tangent_normal = normalize((n.xyz * 2.0h) - 1.0h);
    half3 eye_normal = normalize(in.tangent * tangent_normal.x + cross(in.tangent, in.normal) * tangent_normal.y + in.normal * tangent_normal.z);
    half lit = shadow_map.sample_compare(shadow, in.shadow_uv, in.shadow_depth);
    GBufferData g;
    g.albedo_specular = half4(color.xyz, n.w);
    g.normal_shadow = half4(eye_normal, lit);
    g.depth = in.eye_position.z;
    g.lighting = half4(0);
    return g;
}
struct QuadInOut { float4 position [[position]]; float3 eye_position; };
vertex QuadInOut quad_vertex(constant float2 *vertices [[buffer(0)]], constant FrameData &frame [[buffer(2)]], uint vid [[vertex_id]]) {
    QuadInOut out;
    out.position = float4(vertices[vid], 0, 1);
    out.eye_position = (frame.projection * out.position).xyz;
    return out;
}
fragment AccumLightBuffer sun_fragment(QuadInOut in [[stage_in]], constant FrameData &frame [[buffer(2)]], GBufferData gbuffer) {
    half3 n = gbuffer.normal_shadow.xyz;
    half k = max(dot(n, half3(frame.sun_eye_direction)), 0.0h);
    float3 eye = in.eye_position * gbuffer.depth / in.eye_position.z;
    half s = powr(max(dot(normalize(half3(eye)), n), 0.0h), half(frame.shininess)) * gbuffer.albedo_specular.w;
    AccumLightBuffer out;
    out.lighting = gbuffer.lighting + half4(gbuffer.albedo_specular.xyz * k + s, 1) * gbuffer.normal_shadow.w;
    return out;
}
