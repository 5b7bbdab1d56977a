// An engine's shadow caster: positions only, quantised to 16 bits, no fragment function.
#include <metal_stdlib>
using namespace metal;
struct DepthIn { float3 position [[attribute(0)]]; };
vertex float4 depth_only(DepthIn in [[stage_in]], constant float4x4 &light [[buffer(0)]]) { return light * float4(in.position, 1); }
