// Values between stages as published shaders have them: bools, one value without a structure, a fragment function that
// takes the vertex function's own input structure.
#include <metal_stdlib>
using namespace metal;
struct Out { float4 position [[position]]; bool repeat [[flat]]; bool2 two; float4 color; };
struct Attributes { float4 color [[attribute(1)]]; };
vertex Out triangle_vs(uint i [[vertex_id]]) {
    float2 corners[3] = {{-1, -1}, {3, -1}, {-1, 3}};
    Out o;
    o.position = float4(corners[i], 0, 1);
    o.repeat = true, o.two = bool2(false, true);
    o.color = float4(0.25, 0.5, 0.75, 1);
    return o;
}
fragment float4 bools_fs(Out in [[stage_in]]) { return in.repeat && in.two.y && !in.two.x ? float4(1, 0, 0, 1) : float4(0, 1, 0, 1); }
fragment float4 one_fs(float4 color [[stage_in]]) { return color; }
fragment float4 attributes_fs(Attributes in [[stage_in]]) { return in.color.bgra; }
