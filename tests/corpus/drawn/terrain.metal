// An engine's terrain: heights read in the vertex function, normals from differences, grass and rock by slope.
#include <metal_stdlib>
using namespace metal;
struct TerrainParams { uint size; float heightScale; float2 lightXZ; };
struct TerrainOut { float4 position [[position]]; float height; float3 normal; };
vertex TerrainOut terrainVertex(uint vid [[vertex_id]], constant TerrainParams &p [[buffer(0)]], texture2d<float> heightMap [[texture(0)]]) {
    uint2 cell = uint2(vid / 6 % (p.size - 1), vid / 6 / (p.size - 1));
    const uint2 corners[6] = {uint2(0, 0), uint2(1, 0), uint2(0, 1), uint2(1, 0), uint2(1, 1), uint2(0, 1)};
    uint2 at = cell + corners[vid % 6];
    auto height = [&](int2 q) { return heightMap.read(uint2(clamp(q, int2(0), int2(p.size - 1)))).x * p.heightScale; };
    int2 q = int2(at);
    float dx = height(q + int2(1, 0)) - height(q - int2(1, 0));
    float dz = height(q + int2(0, 1)) - height(q - int2(0, 1));
    TerrainOut out;
    float2 ndc = float2(at) / float(p.size - 1) * 2 - 1;
    out.height = height(q);
    out.normal = normalize(float3(-dx, 2.0f / float(p.size - 1), -dz));
    out.position = float4(ndc.x, -ndc.y, 0.5f - 0.25f * out.height, 1); // seen from above
    return out;
}
fragment float4 terrainFragment(TerrainOut in [[stage_in]], constant TerrainParams &p [[buffer(0)]]) {
    float3 n = normalize(in.normal);
    float3 albedo = select(float3(0.4f, 0.35f, 0.3f), float3(0.2f, 0.5f, 0.15f), bool3(n.y > 0.7f));
    float lambert = saturate(dot(n, normalize(float3(p.lightXZ.x, 1, p.lightXZ.y))));
    return float4(albedo * lambert, in.height);
}
