// Functions for patches, object and mesh functions in the forms programs write them.
#include <metal_stdlib>
using namespace metal;

struct ControlPoint {
    float4 position [[attribute(0)]];
    half2 uv [[attribute(1)]];
};
struct PatchIn {
    patch_control_point<ControlPoint> points;
    float4 tint [[attribute(2)]];
};
struct VertexOut {
    float4 position [[position]];
    float4 color;
};
[[patch(quad, 4)]]
vertex VertexOut quad_patch(PatchIn in [[stage_in]], float2 at [[position_in_patch]],
                            uint id [[patch_id]], uint instance [[instance_id]]) {
    float4 a = mix(in.points[0].position, in.points[1].position, at.x);
    float4 b = mix(in.points[2].position, in.points[3].position, at.x);
    return {mix(a, b, at.y), in.tint * float(id + instance) + float(in.points.size())};
}
[[patch(triangle, 3)]]
vertex VertexOut triangle_patch(patch_control_point<ControlPoint> points [[stage_in]],
                                float3 at [[position_in_patch]]) {
    float4 sum = 0;
    for (uint i = 0; i < points.size(); i++) sum += points[i].position * at[i];
    return {sum, float4(at, 1)};
}
[[patch(triangle)]]
vertex float4 bare_patch(float3 at [[position_in_patch]], constant float4 *corners [[buffer(0)]],
                         ushort id [[patch_id]]) {
    return corners[id * 3] * at.x + corners[id * 3 + 1] * at.y + corners[id * 3 + 2] * at.z;
}

struct Payload {
    uint n;
    float4 colors[4];
};
[[object, max_total_threads_per_threadgroup(32), max_total_threadgroups_per_mesh_grid(8)]]
void object_main(object_data Payload &payload [[payload]], mesh_grid_properties grid,
                 uint t [[thread_index_in_threadgroup]], constant float4 &k [[buffer(0)]],
                 threadgroup float *scratch [[threadgroup(0)]]) {
    scratch[t] = float(t);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t < 4) payload.colors[t] = k * scratch[t ^ 1];
    if (t == 0) grid.set_threadgroups_per_grid(uint3(2, 1, 1));
}
object void object_word(object_data uint *payload [[payload]], metal::mesh_grid_properties grid) {
    *payload = 1;
    grid.set_threadgroups_per_grid(uint3(1));
}
struct MeshVertex {
    float4 position [[position]];
    float2 uv;
    float size [[point_size]];
};
struct MeshPrimitive {
    float4 color [[flat]];
    uint id [[primitive_id]];
    uint layer [[render_target_array_index]];
    bool culled [[primitive_culled]];
};
using Triangles = mesh<MeshVertex, MeshPrimitive, 64, 126, topology::triangle>;
template <typename M> void index(M m, uint t) {
    m.set_index(t, uchar(t));
}
[[mesh, max_total_threads_per_threadgroup(64)]]
void mesh_main(Triangles m, const object_data Payload &payload [[payload]],
               uint t [[thread_index_in_threadgroup]],
               uint3 group [[threadgroup_position_in_grid]]) {
    if (t < Triangles::max_vertices) {
        m.set_vertex(t, MeshVertex{payload.colors[t % 4], float2(t), 1.0f});
        index(m, t);
        m.set_indices(4, uchar4(0, 1, 2, 3));
        m.set_indices(8, uchar2(0, 1));
    }
    if (t == 0) {
        m.set_primitive_count(1);
        m.set_primitive(0, MeshPrimitive{payload.colors[0], group.x, 0, false});
    }
}
mesh void mesh_points(metal::mesh<VertexOut, void, 256, 512, metal::topology::point> out) {
    out.set_primitive_count(0);
    out.set_vertex(0, VertexOut{});
}
// Inputs that the function interpolates itself.
struct PullIn {
    interpolant<float4, interpolation::perspective> color;
    interpolant<half, interpolation::no_perspective> a [[user(locn1)]];
    interpolant<float3, interpolation::perspective> rows[2];
};
static float3 pull(thread const PullIn &in, uint sample) {
    return in.rows[1].interpolate_at_sample(sample);
}
fragment float4 pull_fragment(PullIn in [[stage_in]], uint sample [[sample_id]]) {
    return in.color.interpolate_at_center() + in.color.interpolate_at_centroid() +
           float(in.a.interpolate_at_offset(float2(0.1) + 0.4375)) + float4(pull(in, sample), 1);
}
struct FragmentIn {
    MeshVertex v;
    MeshPrimitive p;
};
fragment float4 mesh_fragment(FragmentIn in [[stage_in]]) { return in.p.color + in.v.uv.x; }

// A kernel that reads attributes, as cross-compilers write vertex functions before a tessellator.
struct ThreadIn {
    float4 position [[attribute(0)]];
    ushort2 ids [[attribute(7)]];
};
kernel void vertices_by_kernel(ThreadIn in [[stage_in]], device float4 *out [[buffer(28)]],
                               uint3 at [[thread_position_in_grid]], uint3 size [[grid_size]],
                               uint3 base [[grid_origin]]) {
    if (any(at >= size)) return;
    out[at.y * size.x + at.x] = in.position + float4(in.ids.x, in.ids.y, base.x, base.y);
}
