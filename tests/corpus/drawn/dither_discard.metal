// A game's screen-door transparency: a Bayer matrix and discard; what is left has its depth written.
#include <metal_stdlib>
using namespace metal;
constant float bayer[16] = {0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5};
struct FragOut { float4 color [[color(0)]]; float depth [[depth(greater)]]; };
vertex float4 door_vertex(uint i [[vertex_id]]) { return float4(i == 1 ? 3 : -1, i == 2 ? 3 : -1, 0.25, 1); }
fragment FragOut door_fragment(float4 pos [[position]], constant float &alpha [[buffer(0)]]) {
    uint2 p = uint2(pos.xy) & 3;
    if ((bayer[p.y * 4 + p.x] + 0.5f) / 16 > alpha) discard_fragment();
    FragOut o;
    o.color = float4(pos.xy, pos.z, pos.w);
    o.depth = pos.z + 0.125f;
    return o;
}
