// SPIRV-Cross: a floor in perspective, checkered; GL depth range mended, interface by location.
#pragma clang diagnostic ignored "-Wmissing-prototypes"
#include <metal_stdlib>
#include <simd/simd.h>
using namespace metal;

struct UBO { float4x4 u_mvp; float4 u_tint; float u_scale; };
struct main0_out { float2 v_uv [[user(locn0)]]; float v_fade [[user(locn1)]]; float4 gl_Position [[position]]; };
struct main0_in { float3 a_pos [[attribute(0)]]; float2 a_uv [[attribute(1)]]; };

vertex main0_out main0(main0_in in [[stage_in]], constant UBO& _19 [[buffer(0)]]) {
    main0_out out = {};
    out.gl_Position = _19.u_mvp * float4(in.a_pos, 1.0);
    out.v_uv = in.a_uv * _19.u_scale;
    out.v_fade = in.a_uv.y;
    out.gl_Position.z = (out.gl_Position.z + out.gl_Position.w) * 0.5; // Adjust clip-space for Metal
    return out;
}

struct main1_out { float4 o_color [[color(0)]]; };
struct main1_in { float2 v_uv [[user(locn0)]]; float v_fade [[user(locn1)]]; };
template<typename Tx, typename Ty> inline Tx mod(Tx x, Ty y) { return x - y * floor(x / y); }
static inline __attribute__((always_inline)) float checker(thread const float2& uv) {
    return mod(floor(uv.x) + floor(uv.y), 2.0);
}
fragment main1_out main1(main1_in in [[stage_in]], constant UBO& _42 [[buffer(0)]]) {
    main1_out out = {};
    float2 param = in.v_uv;
    float c = checker(param);
    out.o_color = float4(mix(float3(0.1), _42.u_tint.xyz, float3(c)), in.v_fade);
    return out;
}
