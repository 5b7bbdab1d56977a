// As a WGSL translator writes them: metal:: everywhere, struct wrappers, bounds helpers.
// language: metal2.4
#include <metal_stdlib>
#include <simd/simd.h>
using metal::uint;

struct _mslBufferSizes { uint size1; };
struct type_3 { metal::float4 inner[4]; };
struct Globals { metal::float4x4 view_proj; metal::packed_float3 sun; float time; };
struct Instance { metal::float4 pos_scale; metal::uint color; char _pad2[12]; };
typedef Instance type_7[1];
struct VertexOutput {
    metal::float4 position;
    metal::float2 uv;
    metal::float4 color;
    metal::uint index;
};
metal::float4 unpack(uint c) { return metal::unpack_unorm4x8_to_float(c); }
struct vs_mainInput {
    metal::float2 corner [[attribute(0)]];
    metal::uint flags [[attribute(1)]];
};
struct vs_mainOutput {
    metal::float4 position [[position]];
    metal::float2 uv [[user(loc0), center_perspective]];
    metal::float4 color [[user(loc1), center_perspective]];
    metal::uint index [[user(loc2), flat]];
};
vertex vs_mainOutput vs_main(
  vs_mainInput varyings [[stage_in]]
, metal::uint instance [[instance_id]]
, metal::uint index_1 [[vertex_id]]
, constant Globals& globals [[buffer(0)]]
, device type_7 const& instances [[buffer(1)]]
, constant _mslBufferSizes& _buffer_sizes [[buffer(3)]]
) {
    const auto corner = varyings.corner;
    VertexOutput out = {};
    uint last = (_buffer_sizes.size1 - 0 - 32) / 32;
    Instance inst = instances[metal::min(unsigned(instance), last)];
    metal::float2 at = corner * inst.pos_scale.w + inst.pos_scale.xy;
    out.position = globals.view_proj * metal::float4(at, inst.pos_scale.z + metal::sin(globals.time) * 0.01, 1.0);
    out.uv = corner * metal::float2(0.5, -0.5) + metal::float2(0.5);
    out.color = unpack(inst.color);
    out.index = index_1 + varyings.flags;
    const auto _tmp = out;
    return vs_mainOutput { _tmp.position, _tmp.uv, _tmp.color, _tmp.index };
}
struct fs_mainInput {
    metal::float2 uv [[user(loc0), center_perspective]];
    metal::float4 color [[user(loc1), center_perspective]];
    metal::uint index [[user(loc2), flat]];
};
struct fs_mainOutput { metal::float4 member_1 [[color(0)]]; };
fragment fs_mainOutput fs_main(
  fs_mainInput varyings_1 [[stage_in]]
, metal::float4 position [[position]]
, metal::texture2d_array<float, metal::access::sample> sprite [[user(fake0)]]
, metal::sampler smp [[user(fake0)]]
, constant Globals& globals [[user(fake0)]]
) {
    const VertexOutput in = { position, varyings_1.uv, varyings_1.color, varyings_1.index };
    metal::float4 c = sprite.sample(smp, in.uv, in.index % 4u);
    if (c.w < 0.01) { metal::discard_fragment(); }
    metal::float2 w = metal::fwidth(in.uv);
    return fs_mainOutput { c * in.color * metal::saturate(w.x + w.y + globals.time) };
}
