// A meshlet renderer as an engine would write it for Metal 3: the object function culls meshlets by
// their bounds and packs the ones that are left with SIMD-group functions; the mesh function decodes
// packed vertices and triangles.
#include <metal_stdlib>
using namespace metal;

constant bool kDebugColors [[function_constant(0)]];
constexpr constant uint kMeshletsPerObject = 32;
constexpr constant uint kMaxVertices = 64;
constexpr constant uint kMaxTriangles = 124;

struct Frame {
    float4x4 viewProjection;
    float4x4 previousViewProjection;
    float4 planes[6];
    packed_float3 eye;
    uint instanceCount;
};
struct Instance {
    float4x4 transform;
    float scale;
    uint firstMeshlet, meshletCount, material;
};
struct Meshlet {
    packed_float3 center;
    float radius;
    char4 cone;
    uint vertexOffset, triangleOffset;
    uchar vertexCount, triangleCount;
    ushort pad;
};
struct Vertex {
    ushort4 position; // w: octahedral normal, two bytes
    half2 uv;
};
struct Scene {
    const device Meshlet *meshlets [[id(0)]];
    const device uint *indices [[id(1)]];
    const device uchar *triangles [[id(2)]];
    const device Vertex *vertices [[id(3)]];
};
struct Payload {
    uint instance;
    ushort meshlets[kMeshletsPerObject];
    atomic_uint drawn;
};

static bool visible(const device Meshlet &m, const device Instance &instance,
                    constant Frame &frame) {
    float3 c = (instance.transform * float4(float3(m.center), 1)).xyz;
    float r = m.radius * instance.scale;
    bool inside = true;
    for (int i = 0; i < 6; i++) inside = inside && dot(frame.planes[i].xyz, c) + frame.planes[i].w > -r;
    float3 axis = float3(char3(m.cone.xyz)) / 127.0f, view = c - float3(frame.eye);
    return inside && dot(view, axis) < float(m.cone.w) / 127.0f * length(view) + r;
}

[[object, max_total_threads_per_threadgroup(kMeshletsPerObject),
  max_total_threadgroups_per_mesh_grid(kMeshletsPerObject)]]
void cullMeshlets(object_data Payload &payload [[payload]], mesh_grid_properties grid,
                  constant Frame &frame [[buffer(0)]],
                  const device Instance *instances [[buffer(1)]],
                  constant Scene &scene [[buffer(2)]],
                  uint2 group [[threadgroup_position_in_grid]],
                  uint lane [[thread_index_in_simdgroup]],
                  uint thread_index [[thread_index_in_threadgroup]]) {
    const device Instance &instance = instances[group.y];
    uint index = group.x * kMeshletsPerObject + thread_index;
    bool keep = index < instance.meshletCount &&
                visible(scene.meshlets[instance.firstMeshlet + index], instance, frame);
    uint place = simd_prefix_exclusive_sum(keep ? 1u : 0u);
    uint total = simd_sum(keep ? 1u : 0u);
    if (keep) payload.meshlets[place] = ushort(index);
    if (simd_is_first()) {
        payload.instance = group.y;
        grid.set_threadgroups_per_grid(uint3(total, 1, 1));
    }
    (void)lane;
}

struct MeshVertex {
    float4 position [[position]];
    float3 normal;
    float2 uv;
    float4 previous [[center_no_perspective]];
};
struct MeshPrimitive {
    uint material [[flat]];
    half3 debugColor [[flat, function_constant(kDebugColors)]];
    bool culled [[primitive_culled]];
};
using MeshletMesh = metal::mesh<MeshVertex, MeshPrimitive, kMaxVertices, kMaxTriangles,
                                metal::topology::triangle>;

static float3 decodeNormal(ushort packed) {
    float2 e = (float2(packed & 255, packed >> 8) / 255.0f) * 2 - 1;
    float3 n = float3(e, 1 - abs(e.x) - abs(e.y));
    float t = saturate(-n.z);
    n.xy += select(float2(t), float2(-t), n.xy >= 0);
    return normalize(n);
}

[[mesh, max_total_threads_per_threadgroup(128)]]
void meshletMesh(MeshletMesh output, const object_data Payload &payload [[payload]],
                 constant Frame &frame [[buffer(0)]], const device Instance *instances [[buffer(1)]],
                 constant Scene &scene [[buffer(2)]],
                 uint group [[threadgroup_position_in_grid]],
                 uint t [[thread_position_in_threadgroup]]) {
    threadgroup float4 clip[kMaxVertices];
    const device Instance &instance = instances[payload.instance];
    const device Meshlet &m = scene.meshlets[instance.firstMeshlet + payload.meshlets[group]];
    if (t < m.vertexCount) {
        Vertex v = scene.vertices[scene.indices[m.vertexOffset + t]];
        float3 p = float3(m.center) + (float3(v.position.xyz) / 65535.0f * 2 - 1) * m.radius;
        float4 world = instance.transform * float4(p, 1);
        MeshVertex out;
        out.position = clip[t] = frame.viewProjection * world;
        out.previous = frame.previousViewProjection * world;
        out.normal = decodeNormal(v.position.w);
        out.uv = float2(v.uv);
        output.set_vertex(t, out);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t < m.triangleCount) {
        const device uchar *corner = scene.triangles + m.triangleOffset + t * 3;
        uchar a = corner[0], b = corner[1], c = corner[2];
        output.set_index(t * 3 + 0, a);
        output.set_index(t * 3 + 1, b);
        output.set_index(t * 3 + 2, c);
        float2 pa = clip[a].xy / clip[a].w, pb = clip[b].xy / clip[b].w, pc = clip[c].xy / clip[c].w;
        float2 u = pb - pa, v = pc - pa;
        MeshPrimitive primitive;
        primitive.material = instance.material;
        if (kDebugColors) {
            uint hash = (instance.firstMeshlet + payload.meshlets[group]) * 2654435761u;
            primitive.debugColor = half3(hash & 255, hash >> 8 & 255, hash >> 16 & 255) / 255.0h;
        }
        primitive.culled = u.x * v.y - u.y * v.x <= 0 && all(float3(clip[a].w, clip[b].w, clip[c].w) > 0);
        output.set_primitive(t, primitive);
    }
    if (t == 0) output.set_primitive_count(m.triangleCount);
}

struct FragmentIn {
    MeshVertex vertex_data;
    MeshPrimitive primitive_data;
};
struct GBuffer {
    half4 albedo [[color(0)]];
    half2 normal [[color(1)]];
    half2 motion [[color(2)]];
    uint material [[color(3)]];
};
fragment GBuffer meshletFragment(FragmentIn in [[stage_in]],
                                 texture2d<half> albedo [[texture(0)]]) {
    constexpr sampler s(filter::linear, mip_filter::linear, address::repeat);
    GBuffer out;
    out.albedo = albedo.sample(s, in.vertex_data.uv);
    if (kDebugColors) out.albedo.rgb *= in.primitive_data.debugColor;
    out.normal = half2(in.vertex_data.normal.xy * 0.5f + 0.5f);
    out.motion = half2(in.vertex_data.previous.xy / in.vertex_data.previous.w);
    out.material = in.primitive_data.material;
    return out;
}
