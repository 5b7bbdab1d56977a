// As a 2D library's shader generator writes them: _in, _out, globals passed by thread reference.
#include <metal_stdlib>
#include <simd/simd.h>
#ifdef __clang__
#pragma clang diagnostic ignored "-Wall"
#endif
using namespace metal;
struct Uniforms { float4 sk_RTAdjust; float4 clip; };
struct Inputs { float2 position [[attribute(0)]]; float4 color [[attribute(1)]]; float4 circleEdge [[attribute(2)]]; };
struct Outputs { float4 sk_Position [[position]]; float4 vcolor_S0 [[user(locn0)]]; float4 vedge_S0 [[user(locn1)]]; float sk_PointSize [[point_size]]; };
vertex Outputs vertexMain(Inputs _in [[stage_in]], constant Uniforms& _uniforms [[buffer(0)]], uint sk_VertexID [[vertex_id]], uint sk_InstanceID [[instance_id]]) {
    Outputs _out;
    (void)_out;
    _out.vcolor_S0 = _in.color;
    _out.vedge_S0 = _in.circleEdge;
    float2 _tmp_0_inPosition = _in.position;
    _out.sk_Position = float4(_in.position.x, _in.position.y, 0.0, 1.0);
    _out.sk_Position = float4(_out.sk_Position.xy * _uniforms.sk_RTAdjust.xz + _out.sk_Position.ww * _uniforms.sk_RTAdjust.yw, 0.0, _out.sk_Position.w);
    _out.sk_PointSize = _tmp_0_inPosition.x > 0 ? 1.0 : 2.0;
    return _out;
}
struct FInputs { float4 sk_FragCoord [[position]]; bool sk_Clockwise [[front_facing]]; float4 vcolor_S0 [[user(locn0)]]; float4 vedge_S0 [[user(locn1)]]; };
struct FOutputs { half4 sk_FragColor [[color(0), index(0)]]; half4 sk_SecondaryFragColor [[color(0), index(1)]]; };
struct Globals { constant Uniforms* u; };
half4 Circle_S1(thread Globals& _globals, FInputs _in, half4 _input) {
    half d = half(length(_in.vedge_S0.xy - _globals.u->clip.xy) * 0.5);
    return _input * clamp(d, 0.0h, 1.0h);
}
fragment FOutputs fragmentMain(FInputs _in [[stage_in]], constant Uniforms& _uniforms [[buffer(0)]]) {
    Globals _globals{&_uniforms};
    FOutputs _out;
    (void)_out;
    half4 outputColor_S0 = half4(_in.vcolor_S0);
    float d = length(_in.vedge_S0.xy);
    half distanceToOuterEdge = half(_in.vedge_S0.z * (1.0 - d));
    half edgeAlpha = saturate(distanceToOuterEdge);
    half4 outputCoverage_S0 = half4(edgeAlpha);
    _out.sk_FragColor = Circle_S1(_globals, _in, outputColor_S0) * outputCoverage_S0;
    _out.sk_SecondaryFragColor = outputCoverage_S0 * (_in.sk_Clockwise ? 1.0h : 0.5h);
    return _out;
}
