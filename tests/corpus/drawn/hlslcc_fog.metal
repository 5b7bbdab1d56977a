// HLSLcc, as an engine ships it: registers u_xlat, everything in one line of swizzles, fog in w.
#include <metal_stdlib>
#include <metal_texture>
using namespace metal;
#ifndef XLT_REMAP_O
#define XLT_REMAP_O {0, 1, 2, 3, 4, 5, 6, 7}
#endif
constexpr constant uint xlt_remap_o[] = XLT_REMAP_O;
struct VGlobals_Type { float4 hlslcc_mtx4x4unity_ObjectToWorld[4]; float4 hlslcc_mtx4x4unity_MatrixVP[4]; float4 unity_FogParams; };
struct Mtl_VertexIn { float4 POSITION0 [[attribute(0)]]; float3 NORMAL0 [[attribute(1)]]; };
struct Mtl_VertexOut { float4 mtl_Position [[position, invariant]]; float3 TEXCOORD0 [[user(TEXCOORD0)]]; float TEXCOORD1 [[user(TEXCOORD1)]]; };
vertex Mtl_VertexOut xlatMtlMain(constant VGlobals_Type& VGlobals [[buffer(0)]], Mtl_VertexIn input [[stage_in]]) {
    Mtl_VertexOut output;
    float4 u_xlat0;
    float4 u_xlat1;
    float u_xlat6;
    u_xlat0 = input.POSITION0.yyyy * VGlobals.hlslcc_mtx4x4unity_ObjectToWorld[1];
    u_xlat0 = fma(VGlobals.hlslcc_mtx4x4unity_ObjectToWorld[0], input.POSITION0.xxxx, u_xlat0);
    u_xlat0 = fma(VGlobals.hlslcc_mtx4x4unity_ObjectToWorld[2], input.POSITION0.zzzz, u_xlat0);
    u_xlat0 = u_xlat0 + VGlobals.hlslcc_mtx4x4unity_ObjectToWorld[3];
    u_xlat1 = u_xlat0.yyyy * VGlobals.hlslcc_mtx4x4unity_MatrixVP[1];
    u_xlat1 = fma(VGlobals.hlslcc_mtx4x4unity_MatrixVP[0], u_xlat0.xxxx, u_xlat1);
    u_xlat1 = fma(VGlobals.hlslcc_mtx4x4unity_MatrixVP[2], u_xlat0.zzzz, u_xlat1);
    u_xlat0 = fma(VGlobals.hlslcc_mtx4x4unity_MatrixVP[3], u_xlat0.wwww, u_xlat1);
    output.mtl_Position = u_xlat0;
    output.TEXCOORD1 = fma(u_xlat0.z, VGlobals.unity_FogParams.z, VGlobals.unity_FogParams.w);
    u_xlat6 = dot(input.NORMAL0.xyz, input.NORMAL0.xyz);
    u_xlat6 = max(u_xlat6, 1.17549435e-38);
    u_xlat6 = rsqrt(u_xlat6);
    output.TEXCOORD0.xyz = float3(u_xlat6) * input.NORMAL0.xyz;
    return output;
}
struct FGlobals_Type { float4 _Light; half4 _Fog; };
struct Mtl_FragmentIn { float3 TEXCOORD0 [[user(TEXCOORD0)]]; float TEXCOORD1 [[user(TEXCOORD1)]]; };
struct Mtl_FragmentOut { half4 SV_Target0 [[color(xlt_remap_o[0])]]; };
fragment Mtl_FragmentOut xlatMtlFrag(constant FGlobals_Type& FGlobals [[buffer(0)]], Mtl_FragmentIn input [[stage_in]]) {
    Mtl_FragmentOut output;
    half3 u_xlat16_0;
    bool u_xlatb1;
    float u_xlat1;
    u_xlat1 = dot(input.TEXCOORD0.xyz, FGlobals._Light.xyz);
    u_xlatb1 = 0.0<u_xlat1;
    u_xlat16_0.xyz = (bool(u_xlatb1)) ? half3(float3(u_xlat1)) : half3(0.0h);
    u_xlat1 = clamp(input.TEXCOORD1, 0.0f, 1.0f);
    output.SV_Target0.xyz = half3(fma(float3(u_xlat1), float3(u_xlat16_0.xyz) - float3(FGlobals._Fog.xyz), float3(FGlobals._Fog.xyz)));
    output.SV_Target0.w = 1.0h;
    return output;
}
