// A renderer's G-buffer: normals as an octahedron, material packed into bits, two targets.
#include <metal_stdlib>
using namespace metal;
struct VSOut { float4 position [[position]]; float2 ndc; };
vertex VSOut gbuffer_vs(uint id [[vertex_id]]) {
    float2 p = float2(id == 1 ? 3 : -1, id == 2 ? 3 : -1);
    return {float4(p, 0, 1), p};
}
static float2 oct_wrap(float2 v) { return (1.0f - abs(v.yx)) * select(float2(-1), float2(1), v >= 0.0f); }
static float2 oct_encode(float3 n) {
    n /= abs(n.x) + abs(n.y) + abs(n.z);
    n.xy = n.z >= 0 ? n.xy : oct_wrap(n.xy);
    return n.xy * 0.5f + 0.5f;
}
struct GBuffer { float4 normal [[color(0)]]; uint4 packed [[color(1)]]; };
fragment GBuffer gbuffer_fs(VSOut in [[stage_in]], constant float &metalness [[buffer(0)]]) {
    float a = in.ndc.x * M_PI_F, b = in.ndc.y * M_PI_2_F;
    float3 n = float3(cos(b) * cos(a), sin(b), cos(b) * sin(a));
    GBuffer out;
    out.normal = float4(oct_encode(n), 0, 1);
    uint bits = insert_bits(0u, uint(round(saturate(metalness) * 255)), 8, 8);
    out.packed = uint4(pack_float_to_unorm4x8(float4(0.25f, 0.5f, 0.75f, 1)), pack_float_to_snorm2x16(in.ndc), bits, popcount(bits));
    return out;
}
