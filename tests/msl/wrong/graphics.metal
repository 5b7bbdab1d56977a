// Meshes, imageblocks, patches, functions of one stage, tables and argument buffers.
#include <metal_stdlib>
using namespace metal;
// ====
struct V { float4 p [[position]]; };
[[mesh]] void m() {} // expect-error: has no mesh
// ====
[[mesh]] void m(mesh<float4, void, 3, 1, topology::triangle> m) {} // expect-error: position
// ====
struct V { float3 p [[position]]; }; // expect-error: is not valid for attribute 'position'
[[mesh]] void m(mesh<V, void, 3, 1, topology::triangle> m) {}
// ====
struct V { float4 p [[position]]; };
[[mesh]] void m(mesh<V, void, 257, 1, topology::triangle> m) {} // expect-error: there may be 1 to 256
// ====
struct V { float4 p [[position]]; };
[[mesh]] void m(mesh<V, void, 3, 513, topology::triangle> m) {} // expect-error: there may be 1 to 256 and 1 to 512
// ====
struct V { float4 p [[position]]; };
[[mesh]] void m(mesh<V, void, 0, 1, topology::triangle> m) {} // expect-error: there may be 1 to 256
// ====
struct V { float4 p [[position]]; };
[[mesh]] void m(mesh<V, void, 3, 1, topology::quad> m) {} // expect-error: no member named 'quad'
// ====
struct V { float4 p [[position]]; };
[[mesh]] void m(mesh<V, void, 3, 1, topology::triangle> a, mesh<V, void, 3, 1, topology::triangle> b) {} // expect-error: more than one mesh
// ====
struct V { float4 p [[position]]; };
[[mesh]] int m(mesh<V, void, 3, 1, topology::triangle> a) { return 1; } // expect-error: must have void return type
// ====
struct V { float4 p [[position]]; };
kernel void m(mesh<V, void, 3, 1, topology::triangle> a) {} // expect-error: invalid type
// ====
struct V { float4 p [[position]]; };
[[object]] void m(mesh<V, void, 3, 1, topology::triangle> a) {} // expect-error: cannot be one of object function
// ====
struct V { float4 p [[position]]; };
[[mesh]] void m(mesh<V, void, 3, 1, topology::triangle> a, mesh_grid_properties g) {} // expect-error: cannot be one of mesh function
// ====
[[object]] int o(mesh_grid_properties g) { return 1; } // expect-error: must have void return type
// ====
struct L { uint n[4097]; };
[[object]] void o(object_data L &p [[payload]], mesh_grid_properties g) {} // expect-error: there may be 16384
// ====
kernel void k(device uint *p [[payload]]) {} // expect-error: 'payload' attribute cannot be applied
// ====
kernel void k(mesh_grid_properties g) {} // expect-error: invalid type
// ====
[[object]] void o(mesh_grid_properties g) { g.set_threadgroups_per_grid(3, 3); } // expect-error: too many arguments
// ====
struct V { float4 p [[position]]; };
[[mesh]] void m(mesh<V, void, 3, 1, topology::triangle> a) { a.set_vertex(0, 1); } // expect-error: no
// ====
struct V { float4 p [[position]]; };
[[mesh]] void m(mesh<V, void, 3, 1, topology::triangle> a) { a.set_primitive(0, 1); } // expect-error: set_primitive
// ====
[[mesh, max_total_threadgroups_per_mesh_grid(4)]] void m() {} // expect-error: mesh
// ====
[[object, max_total_threadgroups_per_mesh_grid(0)]] void o(mesh_grid_properties g) {} // expect-error: takes a positive number
// ====
kernel void k(imageblock<float> b) {} // expect-error: the pixels of an imageblock are structures
// ====
struct G { half4 a; float b; };
kernel void k(imageblock<G, imageblock_layout_implicit> b) {} // expect-error: needs the attribute 'color(n)'
// ====
struct C { half4 c [[color(0)]]; };
kernel void k(imageblock<C> a, imageblock<C> b) {} // expect-error: more than one imageblock
// ====
struct B { float4 a[17]; };
kernel void k(imageblock<B> b) {} // expect-error: there may be 256
// ====
struct C { half4 c [[color(0)]]; };
fragment float4 f(imageblock<C> b) { return 0; } // expect-error: an imageblock is an argument of kernels
// ====
struct C { half4 c [[color(0)]]; };
vertex float4 v(imageblock<C> b) { return 0; } // expect-error: imageblock
// ====
fragment float4 f(float b [[imageblock_data]]) { return b; } // expect-error: it must be a structure
// ====
struct C { half4 c [[color(9)]]; }; // expect-error: must be between 0 and 7
kernel void k(imageblock<C> b) {}
// ====
struct C { half4 c [[color(0)]]; };
kernel void k(imageblock<C> b, ushort2 p [[thread_position_in_threadgroup]]) { b.write(half4(0), p); } // expect-error: no
// ====
struct S { float4 p [[position]]; interpolant<int, interpolation::perspective> i; }; // expect-error: an interpolant is made of float or half
fragment float4 f(S s [[stage_in]]) { return 0; }
// ====
struct I { float4 p [[attribute(0)]]; };
vertex float4 v(patch_control_point<I> p [[stage_in]]) { return 0; } // expect-error: control points are for
// ====
struct P { patch_control_point<float> p; }; // expect-error: it must be a structure
[[patch(quad, 4)]] vertex float4 v(P p [[stage_in]]) { return 0; }
// ====
kernel void k(device float *a) { discard_fragment(); } // expect-error: discard_fragment
// ====
vertex float4 v() { discard_fragment(); return 0; } // expect-error: discard_fragment
// ====
vertex float4 v() { return fwidth(1.0f); } // expect-error: fwidth
// ====
fragment float4 f() { discard_fragment(1); return 0; } // expect-error: no matching function
// ====
fragment float4 f() { return get_num_samples(1); } // expect-error: no matching function
// ====
vertex float4 v() { threadgroup_barrier(mem_flags::mem_none); return 0; } // expect-error: threadgroup_barrier
// ====
kernel void k(visible_function_table<int> t [[buffer(0)]]) {} // expect-error: needs a function type
// ====
kernel void k(visible_function_table<int(int)> t [[buffer(0)]], device int *o [[buffer(1)]]) { o[0] = t[0](1, 2); } // expect-error: too many arguments
// ====
kernel void k(visible_function_table<int(int)> t [[texture(0)]]) {} // expect-error: 'texture' attribute only applies to textures
// ====
int f(int x) { return x; }
kernel void k(device int *o) { int (*p)(float) = f; o[0] = p(1); } // expect-error: cannot initialize a variable
// ====
struct A { command_buffer c; };
kernel void k(constant A &a [[buffer(0)]]) { compute_command c = 3; } // expect-error: no viable conversion
// ====
struct A { command_buffer c; };
kernel void k(constant A &a [[buffer(0)]]) { float x = 0; compute_command(a.c, 0).set_kernel_buffer(&x, 0); } // expect-error: no matching member function
// ====
struct A { device int *p [[id(0)]]; device int *q [[id(0)]]; }; // expect-error: id
kernel void k(constant A &a [[buffer(0)]]) {}
// ====
struct A { device int *p [[id(-1)]]; }; // expect-error: id
kernel void k(constant A &a [[buffer(0)]]) {}
