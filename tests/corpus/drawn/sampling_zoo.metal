// Every way to ask a texture: bias, gradients, offsets, gathers, comparisons, reads, sizes.
#include <metal_stdlib>
using namespace metal;
struct V { float4 position [[position]]; float2 uv; };
vertex V zoo_vs(uint i [[vertex_id]]) {
    float2 uv = float2((i << 1) & 2, i & 2);
    return {float4(uv.x * 2 - 1, 1 - uv.y * 2, 0, 1), uv};
}
struct Targets { float4 a [[color(0)]]; float4 b [[color(1)]]; float4 c [[color(2)]]; float4 d [[color(3)]]; };
fragment Targets zoo_fs(V in [[stage_in]], texture2d<float> t [[texture(0)]], depth2d<float> shadow [[texture(1)]]) {
    constexpr sampler trilinear(filter::linear, mip_filter::linear, address::repeat);
    constexpr sampler point(filter::nearest, mip_filter::nearest, address::clamp_to_edge);
    constexpr sampler compare(filter::nearest, address::clamp_to_edge, compare_func::less);
    constexpr sampler pixels(coord::pixel, filter::nearest, address::clamp_to_edge);
    Targets o;
    o.a = t.sample(trilinear, in.uv, bias(1.0f));           // one texel a pixel: level 1
    o.b = float4(t.sample(point, in.uv, int2(2, -1)).r, t.sample(pixels, in.uv * float2(t.get_width(), t.get_height())).g,
                 t.read(uint2(in.uv * 8), 2).b, t.sample(trilinear, in.uv, gradient2d(float2(4.0f / 32, 0), float2(0, 1.0f / 32))).a);
    o.c = t.gather(point, in.uv + 0.5f / 32, int2(0), component::z);
    o.d = float4(shadow.gather_compare(compare, in.uv, 0.5f).x, shadow.sample_compare(compare, in.uv, 0.25f),
                 float(t.get_num_mip_levels()), t.calculate_unclamped_lod(trilinear, in.uv * 4));
    return o;
}
