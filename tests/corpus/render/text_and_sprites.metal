// Signed distance field text, nine-patch sprites, premultiplied output; templates and namespaces.
#include <metal_stdlib>
using namespace metal;
namespace ui {
struct SpriteVertex { float2 position [[attribute(0)]]; float2 uv [[attribute(1)]]; half4 color [[attribute(2)]]; };
struct SpriteInstance { float3x3 transform; float4 clip; };
template <typename T> inline vec<T, 4> premultiply(vec<T, 4> c) { return vec<T, 4>(c.rgb * c.a, c.a); }
struct Varyings {
    float4 position [[position]];
    float clip [[clip_distance]][4];
    float2 uv [[center_no_perspective]];
    half4 color [[flat]];
};
}
using namespace ui;
vertex Varyings sprite_vertex(SpriteVertex in [[stage_in]], constant SpriteInstance *instances [[buffer(8)]], ushort iid [[instance_id]]) {
    Varyings out;
    float2 p = (instances[iid].transform * float3(in.position, 1)).xy;
    out.position = float4(p, 0, 1);
    float4 c = instances[iid].clip;
    out.clip[0] = p.x - c.x, out.clip[1] = p.y - c.y, out.clip[2] = c.z - p.x, out.clip[3] = c.w - p.y;
    out.uv = in.uv;
    out.color = in.color;
    return out;
}
struct TextIn { float2 uv [[center_no_perspective]]; half4 color [[flat]]; };
[[fragment]] half4 text_fragment(TextIn in [[stage_in]], texture2d<float> atlas [[texture(0)]], sampler smp [[sampler(0)]]) {
    float d = atlas.sample(smp, in.uv).r - 0.5;
    float w = max(fwidth(d), 1e-4);
    half a = half(clamp(d / w + 0.5, 0.0, 1.0));
    return premultiply(half4(in.color.rgb, in.color.a * a));
}
[[host_name("sprite")]] fragment float4 sprite_fragment(TextIn in [[stage_in]], texture2d<float> atlas [[texture(0)]]) {
    constexpr sampler s(coord::pixel, filter::nearest);
    return premultiply(atlas.sample(s, in.uv)) * float4(in.color);
}
