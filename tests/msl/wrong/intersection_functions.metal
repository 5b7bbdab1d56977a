// Intersection functions: primitives, tags, inputs, answers.
#include <metal_stdlib>
#include <metal_raytracing>
using namespace metal;
using namespace metal::raytracing;
struct Box { bool yes [[accept_intersection]]; float t [[distance]]; };
struct Yes { bool yes [[accept_intersection]]; };
// ====
[[intersection(sphere)]] bool f() { return true; } // expect-error: 'intersection' attribute takes triangle, bounding_box or curve first
// ====
[[intersection(triangle, colours)]] bool f() { return true; } // expect-error: 'colours' is not a tag of intersection functions
// ====
[[intersection(triangle, user_data)]] bool f() { return true; } // expect-error: 'user_data' needs 'intersection_function_buffer'
// ====
[[intersection(triangle, max_levels<2>)]] bool f() { return true; } // expect-error: 'max_levels' needs 'instancing'
// ====
[[intersection(triangle)]] int f() { return 1; } // expect-error: must return a bool, or a structure with a member 'accept_intersection'
// ====
[[intersection(bounding_box)]] bool f() { return true; } // expect-error: must return a structure with members 'accept_intersection' and 'distance'
// ====
[[intersection(bounding_box)]] Yes f() { return {true}; } // expect-error: must return a structure with members 'accept_intersection' and 'distance'
// ====
struct Far { bool yes [[accept_intersection]]; float t [[distance]]; }; // expect-error: 'distance' attribute does not go with what 'f' looks at
[[intersection(triangle)]] Far f() { return {true, 1}; }
// ====
[[intersection(triangle)]] bool f(float2 b [[barycentric_coord]]) { return b.x > 0; } // expect-error: 'barycentric_coord' attribute needs a tag that 'intersection' of 'f' does not have
// ====
[[intersection(bounding_box, triangle_data)]] Box f(bool b [[front_facing]]) { return {b, 1}; } // expect-error: 'front_facing' attribute does not go with what 'f' looks at
// ====
[[intersection(triangle)]] bool f(bool b [[opaque]]) { return b; } // expect-error: 'opaque' attribute does not go with what 'f' looks at
// ====
[[intersection(triangle)]] bool f(uint i [[instance_id]]) { return i > 0; } // expect-error: 'instance_id' attribute needs a tag
// ====
[[intersection(triangle, instancing)]] bool f(array_ref<uint> i [[instance_id]]) { return i[0] > 0; } // expect-error: is not valid for attribute 'instance_id'
// ====
[[intersection(triangle)]] bool f(float2 o [[origin]]) { return o.x > 0; } // expect-error: type 'float2' is not valid for attribute 'origin'
// ====
[[intersection(triangle)]] bool f(int p [[primitive_id]]) { return p > 0; } // expect-error: type 'int' is not valid for attribute 'primitive_id'
// ====
[[intersection(triangle)]] bool f(thread float *d [[primitive_data]]) { return *d > 0; } // expect-error: is not valid for attribute 'primitive_data'
// ====
[[intersection(triangle)]] bool f(device float &p [[payload]]) { return p > 0; } // expect-error: must be a reference in the ray_data address space
// ====
[[intersection(triangle)]] bool f(texture2d<float> t [[texture(0)]]) { return t.get_width() > 0; } // expect-error: an intersection function takes buffers and visible function tables
// ====
[[intersection(triangle)]] bool f(threadgroup float *t [[threadgroup(0)]]) { return *t > 0; } // expect-error: cannot be in the threadgroup address space
// ====
[[intersection(triangle)]] bool f(uint i [[thread_position_in_grid]]) { return i > 0; } // expect-error: 'thread_position_in_grid' attribute cannot be applied to a parameter of an intersection function
// ====
[[intersection(triangle)]] bool f() { return true; } // expect-error: entry point 'f' cannot be called or referenced by another function
kernel void k(device bool *b [[buffer(0)]]) { *b = f(); }
