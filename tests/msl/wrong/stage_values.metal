// What goes between stages and into attachments, and cannot.
#include <metal_stdlib>
using namespace metal;
// ====
struct S { float4 color; };
vertex S v() { return {}; } // expect-error: returns no position
// ====
struct S { half4 p [[position]]; }; // expect-error: type 'half4' is not valid for attribute 'position'
vertex S v() { return {}; }
// ====
struct S { float3 p [[position]]; }; // expect-error: type 'float3' is not valid for attribute 'position'
vertex S v() { return {}; }
// ====
struct S { int4 p [[position]]; }; // expect-error: type 'int4' is not valid for attribute 'position'
vertex S v() { return {}; }
// ====
struct S { float4 p [[position]]; float4 q [[position]]; }; // expect-error: 'position' is used twice
vertex S v() { return {}; }
// ====
struct S { float4 p [[position]]; int s [[point_size]]; }; // expect-error: type 'int' is not valid for attribute 'point_size'
vertex S v() { return {}; }
// ====
struct S { float4 p [[position]]; float2 s [[point_size]]; }; // expect-error: type 'float2' is not valid for attribute 'point_size'
vertex S v() { return {}; }
// ====
struct S { float4 p [[position]]; float s [[point_size]]; float t [[point_size]]; }; // expect-error: 'point_size' is used twice
vertex S v() { return {}; }
// ====
struct S { float4 p [[position]]; half c [[clip_distance]]; }; // expect-error: type 'half' is not valid for attribute 'clip_distance'
vertex S v() { return {}; }
// ====
struct S { float4 p [[position]]; float c [[clip_distance]][9]; }; // expect-error: is not valid for attribute 'clip_distance'
vertex S v() { return {}; }
// ====
struct S { float4 p [[position]]; int l [[render_target_array_index]]; }; // expect-error: type 'int' is not valid for attribute 'render_target_array_index'
vertex S v() { return {}; }
// ====
struct S { float4 p [[position]]; float l [[viewport_array_index]]; }; // expect-error: type 'float' is not valid for attribute 'viewport_array_index'
vertex S v() { return {}; }
// ====
struct S { float4 p [[position]]; long b; }; // expect-error: is not valid for a value between stages
vertex S v() { return {}; }
// ====
struct S { float4 p [[position]]; device float *b; }; // expect-error: is not valid for a value between stages
vertex S v() { return {}; }
// ====
struct S { float4 p [[position]]; texture2d<float> b; }; // expect-error: is not valid for a value between stages
vertex S v() { return {}; }
// ====
struct S { float4 p [[position]]; float4x4 m; }; // expect-error: is not valid for a value between stages
vertex S v() { return {}; }
// ====
struct S { float4 p [[position]]; float a[33]; }; // expect-error: is not valid for a value between stages
vertex S v() { return {}; }
// ====
struct S { float4 p [[position]]; float4 a[32]; };
vertex S v() { return {}; } // expect-error: there may be 124
// ====
struct S { float4 p [[position]]; float a [[user(x)]]; float b [[user(x)]]; }; // expect-error: are called 'x'
vertex S v() { return {}; }
// ====
struct S { float4 p [[position]]; float d [[depth(any)]]; }; // expect-error: 'depth' attribute cannot be applied to the result of a vertex function
vertex S v() { return {}; }
// ====
struct S { float4 p [[position]]; float4 d [[color(0)]]; }; // expect-error: 'color' attribute cannot be applied to the result of a vertex function
vertex S v() { return {}; }
// ====
struct S { float4 p [[position]]; uint d [[vertex_id]]; }; // expect-error: 'vertex_id' attribute cannot be applied to the result of a vertex function
vertex S v() { return {}; }
// ====
struct S { float4 p [[position]]; uint d [[sample_mask]]; }; // expect-error: 'sample_mask' attribute cannot be applied to the result of a vertex function
vertex S v() { return {}; }
// ====
struct S { float4 p [[position]]; int i [[center_perspective]]; }; // expect-error: interpolat
vertex S v() { return {}; }
// ====
struct S { float4 p [[position]]; float x [[flat, center_perspective]]; }; // expect-error: interpolat
vertex S v() { return {}; }
// ====
struct S { float4 p [[invariant]]; }; // expect-error: invariant
vertex S v() { return {}; } // expect-error: returns no position
// ====
vertex float3 v() { return 0; } // expect-error: type 'float3' is not valid for attribute 'position'
// ====
vertex int v() { return 0; } // expect-error: type 'int' is not valid for attribute 'position'
// ====
vertex bool v() { return true; } // expect-error: type 'bool' is not valid for attribute 'position'
// ====
fragment float4x4 f() { return float4x4(1); } // expect-error: type 'float4x4' is not valid for attribute 'color'
// ====
fragment bool f() { return true; } // expect-error: type 'bool' is not valid for attribute 'color'
// ====
fragment long4 f() { return 1; } // expect-error: type 'long4' is not valid for attribute 'color'
// ====
fragment device float *f(device float *a) { return a; } // expect-error: is not valid for attribute 'color'
// ====
struct S { float4 c [[color(8)]]; }; // expect-error: must be between 0 and 7
fragment S f() { return {}; }
// ====
struct S { float4 c [[color(-1)]]; }; // expect-error: must be between 0 and 7
fragment S f() { return {}; }
// ====
struct S { float4 c [[color]]; }; // expect-error: 'color' attribute takes one argument
fragment S f() { return {}; }
// ====
struct S { float4 c [[color(0)]]; float4 d [[color(0)]]; }; // expect-error: 'color(0)' is used twice
fragment S f() { return {}; }
// ====
struct S { float4 c [[color(0), index(2)]]; }; // expect-error: must be between 0 and 1
fragment S f() { return {}; }
// ====
struct S { bool4 c [[color(0)]]; }; // expect-error: type 'bool4' is not valid for attribute 'color'
fragment S f() { return {}; }
// ====
struct S { ulong c [[color(0)]]; }; // expect-error: type 'ulong' is not valid for attribute 'color'
fragment S f() { return {}; }
// ====
struct S { half d [[depth(any)]]; }; // expect-error: type 'half' is not valid for attribute 'depth'
fragment S f() { return {}; }
// ====
struct S { int d [[depth(less)]]; }; // expect-error: type 'int' is not valid for attribute 'depth'
fragment S f() { return {}; }
// ====
struct S { float d [[depth(closer)]]; }; // expect-error: takes any, greater or less
fragment S f() { return {}; }
// ====
struct S { float d [[depth(any)]]; float e [[depth(any)]]; }; // expect-error: 'depth' is used twice
fragment S f() { return {}; }
// ====
struct S { int s [[stencil]]; }; // expect-error: type 'int' is not valid for attribute 'stencil'
fragment S f() { return {}; }
// ====
struct S { float s [[stencil]]; }; // expect-error: type 'float' is not valid for attribute 'stencil'
fragment S f() { return {}; }
// ====
struct S { int s [[sample_mask]]; }; // expect-error: type 'int' is not valid for attribute 'sample_mask'
fragment S f() { return {}; }
// ====
struct S { float4 s [[position]]; }; // expect-error: 'position' attribute cannot be applied to the result of a fragment function
fragment S f() { return {}; }
// ====
struct S { uint s [[primitive_id]]; }; // expect-error: 'primitive_id' attribute cannot be applied to the result of a fragment function
fragment S f() { return {}; }
// ====
struct S { float4 p [[attribute(0)]]; float2 uv; }; // expect-error: must have the attribute 'attribute(n)'
vertex float4 v(S s [[stage_in]]) { return s.p; }
// ====
struct S { float4 p [[attribute(31)]]; }; // expect-error: must be between 0 and 30
vertex float4 v(S s [[stage_in]]) { return s.p; }
// ====
struct S { float4 p [[attribute]]; }; // expect-error: 'attribute' attribute takes one argument
vertex float4 v(S s [[stage_in]]) { return s.p; }
// ====
struct S { float4 p [[attribute(1)]]; float4 q [[attribute(1)]]; }; // expect-error: 'attribute(1)' is used twice
vertex float4 v(S s [[stage_in]]) { return s.p; }
// ====
struct S { float4x4 p [[attribute(1)]]; }; // expect-error: type 'float4x4' is not valid for attribute 'attribute'
vertex float4 v(S s [[stage_in]]) { return s.p[0]; }
// ====
struct S { bool p [[attribute(1)]]; }; // expect-error: type 'bool' is not valid for attribute 'attribute'
vertex float4 v(S s [[stage_in]]) { return s.p; }
// ====
struct S { device float *p [[attribute(1)]]; }; // expect-error: is not valid for attribute 'attribute'
vertex float4 v(S s [[stage_in]]) { return 0; }
// ====
vertex float4 v(float4 p [[stage_in]]) { return p; } // expect-error: type 'float4' is not valid for attribute 'stage_in'
// ====
struct S { float4 p [[attribute(0)]]; };
vertex float4 v(constant S &s [[stage_in]]) { return s.p; } // expect-error: is not valid for attribute 'stage_in'
// ====
struct S { float4 p [[position]]; };
fragment float4 f(S s [[stage_in]], S t [[stage_in]]) { return s.p; } // expect-error: more than one 'stage_in'
// ====
struct S { float4 p; }; // expect-error: must have the attribute 'attribute(n)'
kernel void k(S s [[stage_in]]) {}
// ====
struct S { float4 p [[position]]; uint v [[vertex_id]]; }; // expect-error: 'vertex_id' attribute cannot be applied to an input of a fragment function
fragment float4 f(S s [[stage_in]]) { return s.p; }
// ====
struct S { half4 p [[position]]; }; // expect-error: type 'half4' is not valid for attribute 'position'
fragment float4 f(S s [[stage_in]]) { return 0; }
