// An emulator's übershader: everything decided at run time, many varyings, integer interpolants.
#include <metal_stdlib>
using namespace metal;
struct VertexConstants { uint components; float4 transforms[64]; float4 viewport; int4 lights[8]; };
struct PixelConstants { int4 colors[4]; int4 alpha; uint stages[16]; uint n_stages; float4 texdims[8]; };
struct VertexInput {
    float4 rawpos [[attribute(0)]]; uint4 posmtx [[attribute(1)]]; float3 rawnormal [[attribute(2)]];
    float4 rawcolor0 [[attribute(5)]]; float4 rawcolor1 [[attribute(6)]]; float3 rawtex0 [[attribute(8)]]; float3 rawtex1 [[attribute(9)]];
};
struct v2f { float4 pos [[position]]; float4 colors_0 [[user(color0)]]; float4 colors_1 [[user(color1)]]; float3 tex0 [[user(tex0)]]; float3 tex1 [[user(tex1)]]; uint layer [[user(layer), flat]]; float clipDist0 [[clip_distance]]; };
vertex v2f uber_vertex(VertexInput in [[stage_in]], constant VertexConstants &vc [[buffer(0)]], device const uint *extra [[buffer(1)]], uint vid [[vertex_id]], uint iid [[instance_id]]) {
    v2f o;
    float4 p = float4(in.rawpos.xyz, 1);
    uint base = (vc.components & 2u) ? in.posmtx.r : 0;
    o.pos = float4(dot(vc.transforms[base], p), dot(vc.transforms[base + 1], p), dot(vc.transforms[base + 2], p), dot(vc.transforms[base + 3], p));
    o.colors_0 = (vc.components & 4u) ? in.rawcolor0 : float4(1);
    o.colors_1 = (vc.components & 8u) ? in.rawcolor1 : o.colors_0;
    if (vc.components & 16u) { float3 n = normalize(in.rawnormal); int4 l = 0; for (uint i = 0; i < 8; i++) l += int4(round(float4(vc.lights[i]) * max(n.z, 0.0f))); o.colors_0 *= float4(clamp(l, 0, 255)) / 255.0f; }
    o.tex0 = in.rawtex0; o.tex1 = in.rawtex1;
    o.layer = iid + extra[vid & 3u];
    o.clipDist0 = o.pos.z + o.pos.w;
    return o;
}
struct f2v { float4 colors_0 [[user(color0)]]; float4 colors_1 [[user(color1)]]; float3 tex0 [[user(tex0)]]; float3 tex1 [[user(tex1)]]; uint layer [[user(layer), flat]]; };
struct PSOut { float4 ocol0 [[color(0), index(0)]]; float4 ocol1 [[color(0), index(1)]]; float depth [[depth(any)]]; };
static int4 sample_stage(uint which, float3 uv, texture2d_array<float> a, texture2d_array<float> b, sampler s, uint layer) {
    switch (which & 3u) {
    case 0: return int4(round(a.sample(s, uv.xy / uv.z, layer) * 255.0f));
    case 1: return int4(round(b.sample(s, uv.xy / uv.z, layer) * 255.0f));
    case 2: return int4(255);
    default: return int4(0);
    }
}
fragment PSOut uber_fragment(f2v in [[stage_in]], float4 rawpos [[position]], constant PixelConstants &pc [[buffer(0)]], texture2d_array<float> t0 [[texture(0)]], texture2d_array<float> t1 [[texture(1)]], sampler s [[sampler(0)]]) {
    int4 prev = pc.colors[0], c0 = pc.colors[1];
    for (uint stage = 0; stage <= pc.n_stages && stage < 16; stage++) {
        uint ops = pc.stages[stage];
        int4 tex = sample_stage(ops >> 8, ops & 1u ? in.tex1 : in.tex0, t0, t1, s, in.layer);
        int4 ras = int4(round((ops & 2u ? in.colors_1 : in.colors_0) * 255.0f));
        int4 a = select(prev, tex, bool4(ops & 4u)), b = select(c0, ras, bool4(ops & 8u));
        prev = clamp((a * (255 - b) + tex * b + 127) / 255, -1024, 1023);
    }
    if (prev.a <= pc.alpha.r) discard_fragment();
    PSOut o;
    o.ocol0 = float4(prev & 255) / 255.0f;
    o.ocol1 = float4(prev.aaaa) / 255.0f;
    o.depth = rawpos.z;
    return o;
}
