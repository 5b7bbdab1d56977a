// Slang: an exposure and the ACES curve, from a structure of generics flattened by the compiler.
#include <metal_stdlib>
#include <metal_math>
using namespace metal;

struct Curve_0 { float a_0; float b_0; float c_0; float d_0; float e_0; };
struct EntryPointParams_0 { float exposure_0; float gamma_0; };
float3 Curve_apply_0(const Curve_0 thread* this_0, float3 x_0) {
    return saturate(x_0 * (x_0 * float3(this_0->a_0) + float3(this_0->b_0)) / (x_0 * (x_0 * float3(this_0->c_0) + float3(this_0->d_0)) + float3(this_0->e_0)));
}
Curve_0 Curve_x24init_0() {
    thread Curve_0 _S1;
    (&_S1)->a_0 = 2.50999999046325684; (&_S1)->b_0 = 0.02999999932944775; (&_S1)->c_0 = 2.43000006675720215;
    (&_S1)->d_0 = 0.5899999737739563; (&_S1)->e_0 = 0.14000000059604645;
    return _S1;
}
struct VSOutput_0 { float4 sv_position_0 [[position]]; };
[[vertex]] VSOutput_0 vs(uint vid_0 [[vertex_id]]) {
    VSOutput_0 _S2 = { float4(vid_0 == 1U ? 3.0 : -1.0, vid_0 == 2U ? 3.0 : -1.0, 0.0, 1.0) };
    return _S2;
}
struct PSOutput_0 { float4 color_0 [[color(0)]]; };
[[fragment]] PSOutput_0 ps(float4 sv_position_1 [[position]], texture2d<float, access::read> hdr_0 [[texture(0)]], EntryPointParams_0 constant* entryPointParams_0 [[buffer(0)]]) {
    Curve_0 curve_0 = Curve_x24init_0();
    uint2 _S3 = uint2(int2(sv_position_1.xy));
    float3 color_1 = hdr_0.read(_S3, uint(0)).xyz * float3(entryPointParams_0->exposure_0);
    float3 mapped_0 = Curve_apply_0(&curve_0, color_1);
    PSOutput_0 _S4 = { float4(pow(mapped_0, float3(1.0 / entryPointParams_0->gamma_0)), 1.0) };
    return _S4;
}
