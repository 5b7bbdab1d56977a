// Vertex texture fetch, texture arrays and 3D textures, a sky cube, fog; one struct for both stages.
#include <metal_stdlib>
using namespace metal;
struct Frame { float4x4 view_proj; float3 eye; float scale; float2 fog; };
struct TerrainVarying {
    float4 position [[position]];
    float3 world;
    float2 uv;
    float4 weights;
    float height;
};
vertex TerrainVarying terrain_vertex(uint vid [[vertex_id]], uint iid [[instance_id]], constant Frame &f [[buffer(0)]], texture2d<float> heights [[texture(0)]], sampler s [[sampler(0)]]) {
    TerrainVarying o;
    uint2 grid = uint2(vid % 65, vid / 65);
    float2 uv = (float2(grid) + float2(iid % 8, iid / 8) * 64) / 512;
    float h = heights.sample(s, uv, level(0)).x;
    o.world = float3(uv.x, h, uv.y) * f.scale;
    o.position = f.view_proj * float4(o.world, 1);
    o.uv = uv;
    o.height = h;
    o.weights = saturate(float4(1 - h * 4, h * 4, h * 2 - 0.5, h - 0.7));
    return o;
}
fragment float4 terrain_fragment(TerrainVarying in [[stage_in]], constant Frame &f [[buffer(0)]], texture2d_array<float> layers [[texture(1)]], texture3d<float> noise [[texture(2)]], sampler s [[sampler(0)]]) {
    float4 c = 0;
    for (ushort i = 0; i < 4; i++) c += layers.sample(s, in.uv * 32, i) * in.weights[i];
    float3 n = normalize(cross(dfdy(in.world), dfdx(in.world)));
    c.rgb *= 0.3 + 0.7 * saturate(dot(n, normalize(float3(1, 2, 1)))) * noise.sample(s, in.world).x;
    float fog = saturate((distance(in.world, f.eye) - f.fog.x) / (f.fog.y - f.fog.x));
    return mix(c, float4(0.6, 0.7, 0.9, 1), fog);
}
struct SkyOut { float4 position [[position]]; float3 dir; };
vertex SkyOut sky_vertex(uint vid [[vertex_id]], constant Frame &f [[buffer(0)]]) {
    constexpr float2 corners[] = {float2(-1, -1), float2(3, -1), float2(-1, 3)};
    SkyOut o;
    o.position = float4(corners[vid], 1, 1);
    o.dir = (f.view_proj * o.position).xyz;
    return o;
}
fragment float4 sky_fragment(SkyOut in [[stage_in]], texturecube<float> sky [[texture(0)]], sampler s [[sampler(0)]]) {
    return sky.sample(s, in.dir);
}
