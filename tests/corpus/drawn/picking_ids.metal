// An editor's picking pass: ids of instance, primitive and face, as whole numbers.
#include <metal_stdlib>
using namespace metal;
struct PickOut { float4 position [[position]]; uint instance [[flat]]; };
struct PickIn { uint instance [[flat]]; };
vertex PickOut pick_vs(uint v [[vertex_id]], uint i [[instance_id]]) {
    float2 p = float2(v & 1, v >> 1);
    if (i & 1) p.x = 1 - p.x; // turned around
    PickOut o;
    o.position = float4((p + float2(i, 0)) * float2(1, 2) - 1, 0.5f, 1);
    o.instance = i;
    return o;
}
fragment uint4 pick_fs(PickIn in [[stage_in]], uint primitive [[primitive_id]], bool front [[front_facing]]) {
    return uint4(in.instance + 100, primitive, front, 7);
}
