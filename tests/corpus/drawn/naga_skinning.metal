// naga: skinning with four joints, lengths of runtime arrays, qualified names.
// language: metal2.0
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;
struct _mslBufferSizes { uint size1; };

typedef metal::float4x4 type_1[1];
struct Globals { metal::float4x4 proj; uint joint_count; char _pad2[12]; };
struct VertexOutput { metal::float4 position; metal::float3 color; };

struct vs_mainInput {
    metal::float2 pos [[attribute(0)]];
    metal::uint4 joints [[attribute(1)]];
    metal::float4 weights [[attribute(2)]];
};
struct vs_mainOutput {
    metal::float4 position [[position]];
    metal::float3 color [[user(loc0), center_perspective]];
};
vertex vs_mainOutput vs_main(
  vs_mainInput varyings [[stage_in]]
, constant Globals& globals [[buffer(0)]]
, device type_1 const& skeleton [[buffer(1)]]
, constant _mslBufferSizes& _buffer_sizes [[buffer(2)]]
) {
    const auto pos = varyings.pos;
    const auto joints = varyings.joints;
    const auto weights = varyings.weights;
    metal::float4 sum = {};
    metal::float3 color = {};
    uint i = 0u;
    bool loop_init = true;
    while(true) {
        if (!loop_init) {
            uint _e20 = i;
            i = _e20 + 1u;
        }
        loop_init = false;
        uint _e5 = i;
        if (_e5 < 4u) {
        } else {
            break;
        }
        {
            uint _e7 = i;
            uint j = joints[_e7];
            float w = weights[_e7];
            metal::float4 _e14 = metal::min(unsigned(j), (_buffer_sizes.size1 - 0 - 64) / 64) * 0.0 + (skeleton[metal::min(unsigned(j), (_buffer_sizes.size1 - 0 - 64) / 64)] * metal::float4(pos, 0.0, 1.0));
            sum = sum + (_e14 * w);
            color = color + (metal::float3(static_cast<float>(j & 1u), static_cast<float>((j >> 1u) & 1u), 0.25) * w);
        }
    }
    const auto _tmp = VertexOutput {globals.proj * sum, color};
    return vs_mainOutput { _tmp.position, _tmp.color };
}
struct fs_mainInput { metal::float3 color [[user(loc0), center_perspective]]; };
struct fs_mainOutput { metal::float4 member [[color(0)]]; };
fragment fs_mainOutput fs_main(fs_mainInput varyings_1 [[stage_in]], metal::float4 position [[position]]) {
    const VertexOutput in = { position, varyings_1.color };
    return fs_mainOutput { metal::float4(in.color, 1.0) };
}
