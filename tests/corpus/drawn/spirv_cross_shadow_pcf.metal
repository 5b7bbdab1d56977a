// SPIRV-Cross: a shadow map with a comparing sampler of its own (t_shadowSmplr) and a table of offsets.
#pragma clang diagnostic ignored "-Wmissing-prototypes"
#include <metal_stdlib>
#include <simd/simd.h>
using namespace metal;

struct Push { float4x4 light; float bias0; float texel; };
constant float2 _poisson[4] = { float2(-0.94, -0.4), float2(0.95, -0.77), float2(-0.09, 0.93), float2(0.34, 0.29) };

struct v_out { float3 world [[user(locn0)]]; float4 gl_Position [[position]]; };
vertex v_out vmain(uint gl_VertexIndex [[vertex_id]]) {
    v_out out = {};
    float2 p = float2(float((int(gl_VertexIndex) << 1) & 2), float(int(gl_VertexIndex) & 2));
    out.world = float3(p * 2.0 - 1.0, 0.25);
    out.gl_Position = float4(p * 2.0 - 1.0, 0.0, 1.0);
    return out;
}
struct f_in { float3 world [[user(locn0)]]; };
struct f_out { float4 color [[color(0)]]; };
static inline __attribute__((always_inline))
float pcf(depth2d<float> t_shadow, sampler t_shadowSmplr, thread const float3& coord, constant Push& push) {
    float sum = 0.0;
    for (int i = 0; i < 4; i++) {
        float3 _c = float3(coord.xy + _poisson[i] * push.texel, coord.z - push.bias0);
        sum += t_shadow.sample_compare(t_shadowSmplr, _c.xy, _c.z);
    }
    return sum * 0.25;
}
fragment f_out fmain(f_in in [[stage_in]], constant Push& push [[buffer(0)]], depth2d<float> t_shadow [[texture(1)]], sampler t_shadowSmplr [[sampler(1)]]) {
    f_out out = {};
    float4 lp = push.light * float4(in.world, 1.0);
    float3 ndc = lp.xyz / float3(lp.w);
    float3 c = float3(ndc.xy * 0.5 + 0.5, ndc.z);
    out.color = float4(float3(pcf(t_shadow, t_shadowSmplr, c, push)), 1.0);
    return out;
}
