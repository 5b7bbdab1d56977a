// What vertex and fragment functions may not take or give.
#include <metal_stdlib>
using namespace metal;
struct NoPosition { float4 color; };
vertex NoPosition no_position() { return {}; } // expect-error: vertex function 'no_position' returns no position: a member of 'NoPosition' must have the attribute 'position'
vertex float3 bare3() { return 0; } // expect-error: type 'float3' is not valid for attribute 'position'
struct HalfPosition { half4 p [[position]]; }; // expect-error: type 'half4' is not valid for attribute 'position'
vertex HalfPosition half_position() { return {}; }
struct TwoPositions { float4 p [[position]]; float4 q [[position]]; }; // expect-error: 'position' is used twice in vertex function 'two_positions'
vertex TwoPositions two_positions() { return {}; }
struct NoAttribute { float4 p [[attribute(0)]]; float2 uv; }; // expect-error: member 'uv' of the stage_in structure of vertex function 'no_attribute' must have the attribute 'attribute(n)'
vertex float4 no_attribute(NoAttribute in [[stage_in]]) { return in.p; }
struct High { float4 p [[attribute(31)]]; }; // expect-error: 'attribute' attribute parameter is out of bounds: must be between 0 and 30
vertex float4 high(High in [[stage_in]]) { return in.p; }
struct Twice { float4 p [[attribute(2)]]; float4 q [[attribute(2)]]; }; // expect-error: 'attribute(2)' is used twice in vertex function 'twice'
vertex float4 twice(Twice in [[stage_in]]) { return in.p; }
struct Matrix { float4x4 m [[attribute(0)]]; }; // expect-error: type 'float4x4' is not valid for attribute 'attribute'
vertex float4 matrices(Matrix in [[stage_in]]) { return in.m[0]; }
vertex float4 not_a_struct(float4 p [[stage_in]]) { return p; } // expect-error: type 'float4' is not valid for attribute 'stage_in': it must be a structure
vertex float4 float_id(float v [[vertex_id]]) { return v; } // expect-error: type 'float' is not valid for attribute 'vertex_id'
vertex float4 front(bool f [[front_facing]]) { return f; } // expect-error: 'front_facing' attribute cannot be applied to a parameter of a vertex function
vertex float4 grid(uint i [[thread_position_in_grid]]) { return i; } // expect-error: 'thread_position_in_grid' attribute cannot be applied to a parameter of a vertex function
vertex float4 plain(float4 p) { return p; } // expect-error: invalid type 'float4' for parameter 'p' of an entry point
vertex float4 shared_memory(threadgroup float *t [[threadgroup(0)]]) { return t[0]; } // expect-error: parameter 't' of a vertex function cannot be in the threadgroup address space
[[early_fragment_tests]] vertex float4 early() { return 0; } // expect-error: 'early_fragment_tests' attribute only applies to fragment functions
[[patch(pentagon, 3)]] vertex float4 patches() { return 0; } // expect-error: 'patch' attribute takes triangle or quad and a number of control points
[[patch(triangle, 33)]] vertex float4 points33() { return 0; } // expect-error: 'patch' attribute parameter is out of bounds: must be between 0 and 32
struct Clips { float4 p [[position]]; float c [[clip_distance]][9]; }; // expect-error: type 'float[9]' is not valid for attribute 'clip_distance'
vertex Clips clips() { return {}; }
struct Points { float4 p [[position]]; half s [[point_size]]; }; // expect-error: type 'half' is not valid for attribute 'point_size'
vertex Points points() { return {}; }
struct Many { float4 p [[position]]; float4 a[32]; };
vertex Many many() { return {}; } // expect-error: vertex function 'many' has 128 components between stages: there may be 124
struct Same { float4 p [[position]]; float a [[user(x)]]; float b [[user(x)]]; }; // expect-error: two values of vertex function 'same' are called 'x'
vertex Same same() { return {}; }
fragment float4x4 matrix_color() { return float4x4(1); } // expect-error: type 'float4x4' is not valid for attribute 'color'
fragment bool4 bool_color() { return bool4(true); } // expect-error: type 'bool4' is not valid for attribute 'color'
struct NineColors { float4 a, b, c, d, e, f, g, h;
    float4 i; }; // expect-error: the result of fragment function 'nine_colors' has more than 8 colours
fragment NineColors nine_colors() { return {}; }
struct HighColor { float4 c [[color(8)]]; }; // expect-error: 'color' attribute parameter is out of bounds: must be between 0 and 7
fragment HighColor high_color() { return {}; }
struct SameColor { float4 c [[color(1)]]; half4 d [[color(1)]]; }; // expect-error: 'color(1)' is used twice in fragment function 'same_color'
fragment SameColor same_color() { return {}; }
struct Third { float4 c [[color(0), index(2)]]; }; // expect-error: 'index' attribute parameter is out of bounds: must be between 0 and 1
fragment Third third() { return {}; }
struct OddDepth { float d [[depth(closer)]]; }; // expect-error: 'depth' attribute takes any, greater or less, not 'closer'
fragment OddDepth odd_depth() { return {}; }
struct DoubleIn { float4 p [[position]]; };
fragment float4 two_ins(DoubleIn a [[stage_in]], DoubleIn b [[stage_in]]) { return a.p + b.p; } // expect-error: fragment function 'two_ins' has more than one 'stage_in'
fragment float4 vertex_ids(uint v [[vertex_id]]) { return v; } // expect-error: 'vertex_id' attribute cannot be applied to a parameter of a fragment function
struct KernelIn { float4 p; }; // expect-error: member 'p' of the stage_in structure of kernel function 'bare' must have the attribute 'attribute(n)'
kernel void bare(KernelIn in [[stage_in]], device float *o) { o[0] = in.p.x; }
struct A0 { float a [[attribute(0)]]; };
struct A1 { float a [[attribute(1)]]; };
kernel void two(A0 x [[stage_in]], A1 y [[stage_in]], device float *o) { o[0] = x.a + y.a; } // expect-error: kernel function 'two' has more than one 'stage_in'
kernel void number(float x [[stage_in]], device float *o) { o[0] = x; } // expect-error: type 'float' is not valid for attribute 'stage_in': it must be a structure
