// What functions for patches, object and mesh functions may not take or give.
#include <metal_stdlib>
using namespace metal;
struct Point { float4 p [[attribute(0)]]; };
struct Patch { patch_control_point<Point> points; }; // expect-error: 'points': control points are for stage inputs of functions with the attribute 'patch'
vertex float4 no_patch(Patch in [[stage_in]]) { return in.points[0].p; }
vertex float4 no_patch_id(uint i [[patch_id]]) { return i; } // expect-error: input 'i' of vertex function 'no_patch_id' does not go with no patches
[[patch(quad, 4)]] vertex float4 with_id(uint i [[vertex_id]]) { return i; } // expect-error: input 'i' of vertex function 'with_id' does not go with quad patches
[[patch(quad, 4)]] vertex float4 wide(float3 p [[position_in_patch]]) { return p.xyzz; } // expect-error: input 'p' of vertex function 'wide' does not go with quad patches
[[patch(triangle, 3)]] vertex float4 narrow(float2 p [[position_in_patch]]) { return p.xyxy; } // expect-error: input 'p' of vertex function 'narrow' does not go with triangle patches
[[patch(triangle, 3)]] vertex float4 bare(patch_control_point<float4> p [[stage_in]]) { return p[0]; } // expect-error: type 'float4' is not valid for a control point: it must be a structure
struct V { float4 p [[position]]; };
struct NoPosition { float4 c; };
struct Layer { float4 p [[position]]; uint l [[render_target_array_index]]; }; // expect-error: 'render_target_array_index' attribute cannot be applied to the result of a mesh function
struct Prim { float4 p [[position]]; }; // expect-error: 'position' attribute cannot be applied to the result of a mesh function
mesh void no_mesh(uint i [[thread_position_in_grid]]) {} // expect-error: mesh function 'no_mesh' has no mesh
mesh void no_position(mesh<NoPosition, void, 3, 1, topology::triangle> m) {} // expect-error: the vertices of mesh function 'no_position' have no position: a member of 'NoPosition' must have the attribute 'position'
mesh void many(mesh<V, void, 257, 1, topology::triangle> m) {} // expect-error: the mesh of 'many' has 257 vertices and 1 primitives: there may be 1 to 256 and 1 to 512
mesh void more(mesh<V, void, 3, 513, topology::triangle> m) {} // expect-error: the mesh of 'more' has 3 vertices and 513 primitives: there may be 1 to 256 and 1 to 512
mesh void two(mesh<V, void, 3, 1, topology::triangle> m, mesh<V, void, 3, 1, topology::point> n) {} // expect-error: mesh function 'two' has more than one mesh
mesh void layered(mesh<Layer, void, 3, 1, topology::triangle> m) {}
mesh void placed(mesh<V, Prim, 3, 1, topology::triangle> m) {}
mesh void with_grid(mesh<V, void, 3, 1, topology::triangle> m, mesh_grid_properties g) {} // expect-error: parameter 'g' cannot be one of mesh function 'with_grid'
object void with_mesh(mesh<V, void, 3, 1, topology::triangle> m) {} // expect-error: parameter 'm' cannot be one of object function 'with_mesh'
struct Large { uint n[4097]; };
object void large(object_data Large &p [[payload]], mesh_grid_properties g) {} // expect-error: the payload 'p' takes 16388 bytes: there may be 16384
object int result(mesh_grid_properties g) { return 1; } // expect-error: object function 'result' must have void return type
kernel void payload(device uint *p [[payload]]) {} // expect-error: 'payload' attribute cannot be applied to a parameter of a kernel function
kernel void grid(mesh_grid_properties g) {} // expect-error: invalid type
[[mesh, max_total_threadgroups_per_mesh_grid(4)]] void max_groups(mesh<V, void, 3, 1, topology::triangle> m) {} // expect-error: 'max_total_threadgroups_per_mesh_grid' attribute takes a positive number and only applies to object functions
