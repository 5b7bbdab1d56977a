// naga: particles as instances, two vertex buffers, integer arithmetic that must not trap.
#include <metal_stdlib>
#include <simd/simd.h>
using metal::uint;

struct vs_mainInput {
    metal::float2 particle_pos [[attribute(0)]];
    uint seed [[attribute(1)]];
    metal::float2 corner [[attribute(2)]];
};
struct vs_mainOutput { metal::float4 position [[position]]; metal::float4 color [[user(loc0), flat]]; };
uint naga_mod(uint lhs, uint rhs) { return lhs % metal::select(rhs, 1u, rhs == 0u); }
uint naga_div(uint lhs, uint rhs) { return lhs / metal::select(rhs, 1u, rhs == 0u); }
uint hash(uint x) {
    uint h = x;
    h = h ^ (h >> 16u);
    h = h * 2146121005u;
    h = h ^ (h >> 15u);
    return h;
}
vertex vs_mainOutput vs_main(vs_mainInput varyings [[stage_in]]) {
    uint h = hash(varyings.seed);
    metal::float4 color = metal::float4(
        static_cast<float>(naga_mod(h, 256u)) / 255.0, static_cast<float>(naga_mod(naga_div(h, 256u), 256u)) / 255.0,
        static_cast<float>(naga_mod(h, 0u)), 1.0);
    return vs_mainOutput { metal::float4(varyings.particle_pos + varyings.corner * 0.0625, 0.0, 1.0), color };
}
struct fs_mainInput { metal::float4 color [[user(loc0), flat]]; };
struct fs_mainOutput { metal::float4 member [[color(0)]]; };
fragment fs_mainOutput fs_main(fs_mainInput varyings_1 [[stage_in]]) { return fs_mainOutput { varyings_1.color }; }
