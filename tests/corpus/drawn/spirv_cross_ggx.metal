// SPIRV-Cross: Cook-Torrance with GGX for an array of lights in a uniform block.
#pragma clang diagnostic ignored "-Wmissing-prototypes"
#pragma clang diagnostic ignored "-Wmissing-braces"
#include <metal_stdlib>
#include <simd/simd.h>
using namespace metal;

template<typename T, size_t Num>
struct spvUnsafeArray {
    T elements[Num ? Num : 1];
    thread T& operator [] (size_t pos) thread { return elements[pos]; }
    constexpr const thread T& operator [] (size_t pos) const thread { return elements[pos]; }
    constexpr const constant T& operator [] (size_t pos) const constant { return elements[pos]; }
};
struct Light { packed_float3 position; float radius; float3 color; };
struct Material { packed_float3 albedo; float metallic; float roughness; int light_count; };
struct Block { Light lights[3]; Material m; float4 eye; };

constant spvUnsafeArray<float2, 3> _corner = spvUnsafeArray<float2, 3>({ float2(-1.0), float2(3.0, -1.0), float2(-1.0, 3.0) });

struct vs_out { float2 v_ndc [[user(locn0)]]; float4 gl_Position [[position]]; };
vertex vs_out vs(uint gl_VertexIndex [[vertex_id]]) {
    vs_out out = {};
    out.v_ndc = _corner[int(gl_VertexIndex)];
    out.gl_Position = float4(out.v_ndc, 0.0, 1.0);
    return out;
}
struct fs_in { float2 v_ndc [[user(locn0)]]; };
struct fs_out { float4 color [[color(0)]]; };

static inline __attribute__((always_inline)) float DistributionGGX(thread const float3& N, thread const float3& H, thread const float& roughness) {
    float a = roughness * roughness;
    float a2 = a * a;
    float NdotH = fast::max(dot(N, H), 0.0);
    float denom = (NdotH * NdotH) * (a2 - 1.0) + 1.0;
    return a2 / ((3.1415927410125732421875 * denom) * denom);
}
static inline __attribute__((always_inline)) float GeometrySchlickGGX(thread const float& NdotV, thread const float& roughness) {
    float r = roughness + 1.0;
    float k = (r * r) / 8.0;
    return NdotV / (NdotV * (1.0 - k) + k);
}
static inline __attribute__((always_inline)) float3 fresnelSchlick(thread const float& cosTheta, thread const float3& F0) {
    return F0 + (float3(1.0) - F0) * powr(1.0 - cosTheta, 5.0);
}
fragment fs_out fs(fs_in in [[stage_in]], constant Block& _b [[buffer(0)]]) {
    fs_out out = {};
    float r2 = dot(in.v_ndc, in.v_ndc);
    if (r2 >= 0.81) { out.color = float4(0.0); return out; }
    float3 P = float3(in.v_ndc, sqrt(0.81 - r2)); // a ball
    float3 N = normalize(P);
    float3 V = normalize(_b.eye.xyz - P);
    float3 albedo = float3(_b.m.albedo);
    float3 F0 = mix(float3(0.039999999105930328369140625), albedo, float3(_b.m.metallic));
    float3 Lo = float3(0.0);
    for (int i = 0; i < _b.m.light_count; i++) {
        float3 d = float3(_b.lights[i].position) - P;
        float3 L = normalize(d);
        float3 H = normalize(V + L);
        float attenuation = 1.0 / dot(d, d);
        float param_rough = _b.m.roughness;
        float NDF = DistributionGGX(N, H, param_rough);
        float NdotV = fast::max(dot(N, V), 0.0), NdotL = fast::max(dot(N, L), 0.0);
        float G = GeometrySchlickGGX(NdotV, param_rough) * GeometrySchlickGGX(NdotL, param_rough);
        float hv = fast::max(dot(H, V), 0.0);
        float3 F = fresnelSchlick(hv, F0);
        float3 specular = (F * (NDF * G)) / float3((4.0 * NdotV) * NdotL + 9.9999997473787516355514526367188e-05);
        float3 kD = (float3(1.0) - F) * (1.0 - _b.m.metallic);
        Lo += ((kD * albedo) / float3(3.1415927410125732421875) + specular) * (_b.lights[i].color * attenuation) * NdotL;
    }
    out.color = float4(Lo, 1.0);
    return out;
}
