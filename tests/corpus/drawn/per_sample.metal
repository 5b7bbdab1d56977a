// Code that runs for each sample: its number, its place, and a mask that lets some through.
#include <metal_stdlib>
using namespace metal;
vertex float4 sample_vs(uint i [[vertex_id]]) { return float4(i == 1 ? 3 : -1, i == 2 ? 3 : -1, 0.5f, 1); }
fragment float4 sample_fs(float4 p [[position]], uint id [[sample_id]]) {
    return float4(float(id), get_sample_position(id).x, p.x, 1);
}
struct Masked { float4 color [[color(0)]]; uint mask [[sample_mask]]; };
fragment Masked mask_fs(float4 p [[position]], uint covered [[sample_mask]]) {
    return {float4(float(covered), 1, 1, 1), uint(p.x) & 15};
}
