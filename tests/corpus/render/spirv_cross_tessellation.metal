// A tessellation control and evaluation shader as SPIRV-Cross writes them: the control shader is a
// kernel that fills buffers of control points, values of patches and factors.
#pragma clang diagnostic ignored "-Wmissing-prototypes"
#pragma clang diagnostic ignored "-Wmissing-braces"
#include <metal_stdlib>
#include <simd/simd.h>
using namespace metal;

template<typename T, size_t Num>
struct spvUnsafeArray
{
    T elements[Num ? Num : 1];
    thread T& operator [] (size_t pos) thread { return elements[pos]; }
    constexpr const thread T& operator [] (size_t pos) const thread { return elements[pos]; }
    device T& operator [] (size_t pos) device { return elements[pos]; }
    constexpr const device T& operator [] (size_t pos) const device { return elements[pos]; }
    constexpr const constant T& operator [] (size_t pos) const constant { return elements[pos]; }
};

struct UBO
{
    float4x4 projection;
    float4x4 modelview;
    float4 lightPos;
    float4 frustumPlanes[6];
    float displacementFactor;
    float tessellationFactor;
    float2 viewportDim;
    float tessellatedEdgeSize;
};

struct main0_out
{
    float3 outNormal;
    float2 outUV;
    float4 gl_Position;
};
struct main0_patchOut
{
    float4 patchTint;
};
struct main0_in
{
    float3 inNormal;
    ushort2 m_12;
    float2 inUV;
    float4 gl_Position;
};

static inline __attribute__((always_inline))
float screenSpaceTessFactor(thread const float4& p0, thread const float4& p1, constant UBO& ubo)
{
    float4 midPoint = (p0 + p1) * 0.5;
    float radius = distance(p0, p1) / 2.0;
    float4 v0 = ubo.modelview * midPoint;
    float4 clip0 = ubo.projection * (v0 - float4(radius, float3(0.0)));
    float4 clip1 = ubo.projection * (v0 + float4(radius, float3(0.0)));
    clip0 /= float4(clip0.w);
    clip1 /= float4(clip1.w);
    float2 _80 = clip0.xy * ubo.viewportDim;
    clip0 = float4(_80.x, _80.y, clip0.z, clip0.w);
    float2 _86 = clip1.xy * ubo.viewportDim;
    clip1 = float4(_86.x, _86.y, clip1.z, clip1.w);
    return fast::clamp((distance(clip0, clip1) / ubo.tessellatedEdgeSize) * ubo.tessellationFactor, 1.0, 64.0);
}

kernel void terrain_tesc(constant UBO& ubo [[buffer(0)]], device main0_out* spvOut [[buffer(28)]], constant uint* spvIndirectParams [[buffer(29)]], device main0_patchOut* spvPatchOut [[buffer(27)]], device MTLQuadTessellationFactorsHalf* spvTessLevel [[buffer(26)]], device main0_in* spvIn [[buffer(22)]], uint3 gl_GlobalInvocationID [[thread_position_in_grid]])
{
    device main0_out* gl_out = &spvOut[gl_GlobalInvocationID.x - gl_GlobalInvocationID.x % 4];
    device main0_patchOut& patchOut = spvPatchOut[gl_GlobalInvocationID.x / 4];
    device main0_in* gl_in = &spvIn[min(gl_GlobalInvocationID.x / 4, spvIndirectParams[1] - 1) * spvIndirectParams[0]];
    uint gl_InvocationID = gl_GlobalInvocationID.x % 4;
    uint gl_PrimitiveID = min(gl_GlobalInvocationID.x / 4, spvIndirectParams[1] - 1);
    if (gl_InvocationID == 0)
    {
        if (ubo.tessellationFactor > 0.0)
        {
            float4 param = gl_in[3].gl_Position;
            float4 param_1 = gl_in[0].gl_Position;
            spvTessLevel[gl_PrimitiveID].edgeTessellationFactor[0] = half(screenSpaceTessFactor(param, param_1, ubo));
            float4 param_2 = gl_in[1].gl_Position;
            spvTessLevel[gl_PrimitiveID].edgeTessellationFactor[1] = half(screenSpaceTessFactor(param_1, param_2, ubo));
            spvTessLevel[gl_PrimitiveID].edgeTessellationFactor[2] = half(1.0);
            spvTessLevel[gl_PrimitiveID].edgeTessellationFactor[3] = half(1.0);
            spvTessLevel[gl_PrimitiveID].insideTessellationFactor[0] = half(mix(float(spvTessLevel[gl_PrimitiveID].edgeTessellationFactor[0]), float(spvTessLevel[gl_PrimitiveID].edgeTessellationFactor[3]), 0.5));
            spvTessLevel[gl_PrimitiveID].insideTessellationFactor[1] = spvTessLevel[gl_PrimitiveID].insideTessellationFactor[0];
        }
        else
        {
            spvTessLevel[gl_PrimitiveID].edgeTessellationFactor[0] = half(0.0);
        }
        patchOut.patchTint = float4(float(gl_PrimitiveID));
    }
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    gl_out[gl_InvocationID].outNormal = gl_in[gl_InvocationID].inNormal;
    gl_out[gl_InvocationID].outUV = gl_in[gl_InvocationID].inUV;
}

struct tese_out
{
    float3 outNormal [[user(locn0)]];
    float2 outUV [[user(locn1)]];
    float3 outViewVec [[user(locn2)]];
    float4 outTint [[user(locn3)]];
    float4 gl_Position [[position, invariant]];
};
struct tese_in
{
    float3 inNormal [[attribute(0)]];
    float2 inUV [[attribute(1)]];
    float4 gl_Position [[attribute(2)]];
};
struct tese_patchIn
{
    float4 patchTint [[attribute(3)]];
    patch_control_point<tese_in> gl_in;
};

[[ patch(quad, 4) ]] vertex tese_out terrain_tese(tese_patchIn patchIn [[stage_in]], constant UBO& ubo [[buffer(0)]], texture2d<float> displacementMap [[texture(0)]], sampler displacementMapSmplr [[sampler(0)]], float2 gl_TessCoord [[position_in_patch]], uint gl_PrimitiveID [[patch_id]])
{
    tese_out out = {};
    spvUnsafeArray<float2, 4> uvs = spvUnsafeArray<float2, 4>({ patchIn.gl_in[0].inUV, patchIn.gl_in[1].inUV, patchIn.gl_in[2].inUV, patchIn.gl_in[3].inUV });
    float2 uv1 = mix(uvs[0], uvs[1], float2(gl_TessCoord.x));
    float2 uv2 = mix(uvs[3], uvs[2], float2(gl_TessCoord.x));
    out.outUV = mix(uv1, uv2, float2(gl_TessCoord.y));
    float3 n1 = mix(patchIn.gl_in[0].inNormal, patchIn.gl_in[1].inNormal, float3(gl_TessCoord.x));
    float3 n2 = mix(patchIn.gl_in[3].inNormal, patchIn.gl_in[2].inNormal, float3(gl_TessCoord.x));
    out.outNormal = mix(n1, n2, float3(gl_TessCoord.y));
    float4 pos1 = mix(patchIn.gl_in[0].gl_Position, patchIn.gl_in[1].gl_Position, float4(gl_TessCoord.x));
    float4 pos2 = mix(patchIn.gl_in[3].gl_Position, patchIn.gl_in[2].gl_Position, float4(gl_TessCoord.x));
    float4 pos = mix(pos1, pos2, float4(gl_TessCoord.y));
    pos.y -= (displacementMap.sample(displacementMapSmplr, out.outUV, level(0.0)).x * ubo.displacementFactor);
    out.gl_Position = (ubo.projection * ubo.modelview) * pos;
    out.outViewVec = -pos.xyz;
    out.outTint = patchIn.patchTint + float4(float(int(gl_PrimitiveID)));
    return out;
}

struct frag_in
{
    float3 inNormal [[user(locn0)]];
    float2 inUV [[user(locn1)]];
    float3 inViewVec [[user(locn2)]];
    float4 inTint [[user(locn3)]];
};
struct frag_out
{
    float4 outFragColor [[color(0)]];
};
fragment frag_out terrain_frag(frag_in in [[stage_in]])
{
    frag_out out = {};
    float3 N = fast::normalize(in.inNormal);
    out.outFragColor = float4(float3(dot(N, fast::normalize(in.inViewVec))), 1.0) + in.inTint;
    return out;
}
