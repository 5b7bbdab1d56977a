// Built-in values of the wrong type, in the wrong stage.
#include <metal_stdlib>
using namespace metal;
// ====
kernel void k(float x [[thread_position_in_grid]]) {} // expect-error: type 'float' is not valid for attribute 'thread_position_in_grid'
// ====
kernel void k(int x [[thread_position_in_grid]]) {} // expect-error: type 'int' is not valid for attribute 'thread_position_in_grid'
// ====
kernel void k(uint4 x [[thread_position_in_grid]]) {} // expect-error: type 'uint4' is not valid for attribute 'thread_position_in_grid'
// ====
kernel void k(bool x [[thread_position_in_grid]]) {} // expect-error: type 'bool' is not valid for attribute 'thread_position_in_grid'
// ====
kernel void k(int3 x [[thread_position_in_threadgroup]]) {} // expect-error: type 'int3' is not valid for attribute 'thread_position_in_threadgroup'
// ====
kernel void k(float3 x [[threadgroup_position_in_grid]]) {} // expect-error: type 'float3' is not valid for attribute 'threadgroup_position_in_grid'
// ====
kernel void k(uint4 x [[threads_per_threadgroup]]) {} // expect-error: type 'uint4' is not valid for attribute 'threads_per_threadgroup'
// ====
kernel void k(ulong x [[threads_per_grid]]) {} // expect-error: type 'ulong' is not valid for attribute 'threads_per_grid'
// ====
kernel void k(short2 x [[threadgroups_per_grid]]) {} // expect-error: type 'short2' is not valid for attribute 'threadgroups_per_grid'
// ====
kernel void k(uchar x [[dispatch_threads_per_threadgroup]]) {} // expect-error: type 'uchar' is not valid for attribute 'dispatch_threads_per_threadgroup'
// ====
kernel void k(uint2 x [[thread_index_in_threadgroup]]) {} // expect-error: type 'uint2' is not valid for attribute 'thread_index_in_threadgroup'
// ====
kernel void k(int x [[thread_index_in_threadgroup]]) {} // expect-error: type 'int' is not valid for attribute 'thread_index_in_threadgroup'
// ====
kernel void k(float x [[thread_index_in_threadgroup]]) {} // expect-error: type 'float' is not valid for attribute 'thread_index_in_threadgroup'
// ====
kernel void k(uint2 x [[thread_index_in_simdgroup]]) {} // expect-error: type 'uint2' is not valid for attribute 'thread_index_in_simdgroup'
// ====
kernel void k(int x [[thread_index_in_simdgroup]]) {} // expect-error: type 'int' is not valid for attribute 'thread_index_in_simdgroup'
// ====
kernel void k(float x [[thread_index_in_simdgroup]]) {} // expect-error: type 'float' is not valid for attribute 'thread_index_in_simdgroup'
// ====
kernel void k(uint3 x [[simdgroup_index_in_threadgroup]]) {} // expect-error: type 'uint3' is not valid for attribute 'simdgroup_index_in_threadgroup'
// ====
kernel void k(bool x [[threads_per_simdgroup]]) {} // expect-error: type 'bool' is not valid for attribute 'threads_per_simdgroup'
// ====
kernel void k(half x [[simdgroups_per_threadgroup]]) {} // expect-error: type 'half' is not valid for attribute 'simdgroups_per_threadgroup'
// ====
kernel void k(ulong x [[thread_index_in_quadgroup]]) {} // expect-error: type 'ulong' is not valid for attribute 'thread_index_in_quadgroup'
// ====
kernel void k(ushort2 x [[quadgroup_index_in_threadgroup]]) {} // expect-error: type 'ushort2' is not valid for attribute 'quadgroup_index_in_threadgroup'
// ====
kernel void k(int x [[quadgroups_per_threadgroup]]) {} // expect-error: type 'int' is not valid for attribute 'quadgroups_per_threadgroup'
// ====
kernel void k(char x [[thread_execution_width]]) {} // expect-error: type 'char' is not valid for attribute 'thread_execution_width'
// ====
kernel void k(device uint *a, uint2 g [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) {} // expect-error: they must match
// ====
kernel void k(device uint *a, ushort3 g [[thread_position_in_threadgroup]], ushort2 n [[threads_per_threadgroup]]) {} // expect-error: they must match
// ====
kernel void k(device uint *a, uint2 g [[threadgroup_position_in_grid]], uint3 n [[threadgroups_per_grid]]) {} // expect-error: they must match
// ====
kernel void k(constant uint &i [[thread_position_in_grid]]) {} // expect-error: is not valid for attribute 'thread_position_in_grid'
// ====
kernel void k(thread uint *i [[thread_position_in_grid]]) {} // expect-error: is not valid for attribute 'thread_position_in_grid'
// ====
kernel void k(uint x [[vertex_id]]) {} // expect-error: 'vertex_id' attribute cannot be applied to a parameter of a kernel function
// ====
kernel void k(uint x [[instance_id]]) {} // expect-error: 'instance_id' attribute cannot be applied to a parameter of a kernel function
// ====
kernel void k(bool x [[front_facing]]) {} // expect-error: 'front_facing' attribute cannot be applied to a parameter of a kernel function
// ====
kernel void k(float4 x [[position]]) {} // expect-error: 'position' attribute cannot be applied to a parameter of a kernel function
// ====
kernel void k(uint x [[primitive_id]]) {} // expect-error: 'primitive_id' attribute cannot be applied to a parameter of a kernel function
// ====
kernel void k(uint x [[sample_id]]) {} // expect-error: 'sample_id' attribute cannot be applied to a parameter of a kernel function
// ====
kernel void k(float2 x [[point_coord]]) {} // expect-error: 'point_coord' attribute cannot be applied to a parameter of a kernel function
// ====
kernel void k(uint x [[base_vertex]]) {} // expect-error: 'base_vertex' attribute cannot be applied to a parameter of a kernel function
// ====
kernel void k(uint x [[patch_id]]) {} // expect-error: 'patch_id' attribute cannot be applied to a parameter of a kernel function
// ====
kernel void k(float3 x [[barycentric_coord]]) {} // expect-error: 'barycentric_coord' attribute cannot be applied to a parameter of a kernel function
// ====
vertex float4 v(bool x [[front_facing]]) { return 0; } // expect-error: 'front_facing' attribute cannot be applied to a parameter of a vertex function
// ====
vertex float4 v(uint x [[sample_id]]) { return 0; } // expect-error: 'sample_id' attribute cannot be applied to a parameter of a vertex function
// ====
vertex float4 v(float2 x [[point_coord]]) { return 0; } // expect-error: 'point_coord' attribute cannot be applied to a parameter of a vertex function
// ====
vertex float4 v(uint x [[thread_position_in_grid]]) { return 0; } // expect-error: 'thread_position_in_grid' attribute cannot be applied to a parameter of a vertex function
// ====
vertex float4 v(uint x [[thread_index_in_threadgroup]]) { return 0; } // expect-error: 'thread_index_in_threadgroup' attribute cannot be applied to a parameter of a vertex function
// ====
vertex float4 v(float3 x [[barycentric_coord]]) { return 0; } // expect-error: 'barycentric_coord' attribute cannot be applied to a parameter of a vertex function
// ====
vertex float4 v(uint x [[sample_mask]]) { return 0; } // expect-error: 'sample_mask' attribute cannot be applied to a parameter of a vertex function
// ====
vertex float4 v(float4 x [[position]]) { return 0; } // expect-error: 'position' attribute cannot be applied to a parameter of a vertex function
// ====
vertex float4 v(float4 x [[color(0)]]) { return 0; } // expect-error: 'color' attribute cannot be applied to a parameter of a vertex function
// ====
vertex float4 v(uint x [[render_target_array_index]]) { return 0; } // expect-error: 'render_target_array_index' attribute cannot be applied to a parameter of a vertex function
// ====
fragment float4 f(uint x [[vertex_id]]) { return 0; } // expect-error: 'vertex_id' attribute cannot be applied to a parameter of a fragment function
// ====
fragment float4 f(uint x [[instance_id]]) { return 0; } // expect-error: 'instance_id' attribute cannot be applied to a parameter of a fragment function
// ====
fragment float4 f(uint x [[base_instance]]) { return 0; } // expect-error: 'base_instance' attribute cannot be applied to a parameter of a fragment function
// ====
fragment float4 f(uint x [[patch_id]]) { return 0; } // expect-error: 'patch_id' attribute cannot be applied to a parameter of a fragment function
// ====
fragment float4 f(uint2 x [[thread_position_in_grid]]) { return 0; } // expect-error: 'thread_position_in_grid' attribute cannot be applied to a parameter of a fragment function
// ====
fragment float4 f(uint x [[threads_per_grid]]) { return 0; } // expect-error: 'threads_per_grid' attribute cannot be applied to a parameter of a fragment function
// ====
fragment float4 f(uint x [[base_vertex]]) { return 0; } // expect-error: 'base_vertex' attribute cannot be applied to a parameter of a fragment function
// ====
vertex float4 v(float x [[vertex_id]]) { return 0; } // expect-error: type 'float' is not valid for attribute 'vertex_id'
// ====
vertex float4 v(int x [[vertex_id]]) { return 0; } // expect-error: type 'int' is not valid for attribute 'vertex_id'
// ====
vertex float4 v(uint2 x [[instance_id]]) { return 0; } // expect-error: type 'uint2' is not valid for attribute 'instance_id'
// ====
vertex float4 v(float x [[base_vertex]]) { return 0; } // expect-error: type 'float' is not valid for attribute 'base_vertex'
// ====
vertex float4 v(int x [[base_instance]]) { return 0; } // expect-error: type 'int' is not valid for attribute 'base_instance'
// ====
vertex float4 v(int x [[amplification_id]]) { return 0; } // expect-error: type 'int' is not valid for attribute 'amplification_id'
// ====
vertex float4 v(float x [[amplification_count]]) { return 0; } // expect-error: type 'float' is not valid for attribute 'amplification_count'
// ====
[[object]] void o(uint2 x [[amplification_id]]) {} // expect-error: type 'uint2' is not valid for attribute 'amplification_id'
// ====
kernel void k(uint x [[amplification_count]]) {} // expect-error: 'amplification_count' attribute cannot be applied to a parameter of a kernel function
// ====
fragment float4 f(uint x [[front_facing]]) { return 0; } // expect-error: type 'uint' is not valid for attribute 'front_facing'
// ====
fragment float4 f(float x [[front_facing]]) { return 0; } // expect-error: type 'float' is not valid for attribute 'front_facing'
// ====
fragment float4 f(float3 x [[position]]) { return 0; } // expect-error: type 'float3' is not valid for attribute 'position'
// ====
fragment float4 f(half4 x [[position]]) { return 0; } // expect-error: type 'half4' is not valid for attribute 'position'
// ====
fragment float4 f(float3 x [[point_coord]]) { return 0; } // expect-error: type 'float3' is not valid for attribute 'point_coord'
// ====
fragment float4 f(int x [[primitive_id]]) { return 0; } // expect-error: type 'int' is not valid for attribute 'primitive_id'
// ====
fragment float4 f(float x [[sample_id]]) { return 0; } // expect-error: type 'float' is not valid for attribute 'sample_id'
// ====
fragment float4 f(int x [[sample_mask]]) { return 0; } // expect-error: type 'int' is not valid for attribute 'sample_mask'
// ====
fragment float4 f(float4 x [[barycentric_coord]]) { return 0; } // expect-error: type 'float4' is not valid for attribute 'barycentric_coord'
// ====
fragment float4 f(int x [[barycentric_coord]]) { return 0; } // expect-error: type 'int' is not valid for attribute 'barycentric_coord'
// ====
fragment float4 f(float x [[render_target_array_index]]) { return 0; } // expect-error: type 'float' is not valid for attribute 'render_target_array_index'
// ====
fragment float4 f(bool4 x [[color(0)]]) { return 0; } // expect-error: type 'bool4' is not valid for attribute 'color'
// ====
fragment float4 f(float4x4 x [[color(0)]]) { return 0; } // expect-error: type 'float4x4' is not valid for attribute 'color'
// ====
fragment float4 f(float2 x [[pixel_position_in_tile]]) { return 0; } // expect-error: type 'float2' is not valid for attribute 'pixel_position_in_tile'
// ====
[[patch(quad, 4)]] vertex float4 v(float3 p [[position_in_patch]]) { return 0; } // expect-error: does not go with quad patches
// ====
[[patch(triangle, 4)]] vertex float4 v(float2 p [[position_in_patch]]) { return 0; } // expect-error: does not go with triangle patches
// ====
vertex float4 v(uint p [[patch_id]]) { return 0; } // expect-error: does not go with no patches
// ====
[[patch(quad, 4)]] vertex float4 v(uint i [[vertex_id]]) { return 0; } // expect-error: does not go with quad patches
// ====
fragment float4 f(float4 c [[color(8)]]) { return c; } // expect-error: must be between 0 and 7
// ====
fragment float4 f(float4 c [[color(-1)]]) { return c; } // expect-error: must be between 0 and 7
// ====
fragment float4 f(float4 c [[color]]) { return c; } // expect-error: 'color' attribute takes one argument
// ====
vertex float4 v(uint x [[thread_index_in_simdgroup]]) { return 0; } // expect-error: 'thread_index_in_simdgroup' attribute cannot be applied to a parameter of a vertex function
// ====
vertex float4 v(uint x [[thread_index_in_quadgroup]]) { return 0; } // expect-error: 'thread_index_in_quadgroup' attribute cannot be applied to a parameter of a vertex function
// ====
vertex float4 v(uint x [[threads_per_simdgroup]]) { return 0; } // expect-error: 'threads_per_simdgroup' attribute cannot be applied to a parameter of a vertex function
// ====
uint gid [[thread_position_in_grid]];
kernel void k(device float *a) { gid = 3; } // expect-error: expression is not assignable
