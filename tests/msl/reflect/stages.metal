// Inputs and outputs of vertex and fragment functions: roles, rows, interpolation.
#include <metal_stdlib>
using namespace metal;
constant bool fancy [[function_constant(4)]];
struct Base { float4 p [[position, invariant]]; };
struct Inner { float2 uv; half3 n [[center_no_perspective]]; };
struct VIn { float3 p [[attribute(5)]]; uchar4 c [[attribute(1)]]; half2 t [[attribute(2), function_constant(fancy)]]; };
struct VOut : Base { Inner inner; uint id [[user(number)]]; float w[2] [[flat]]; float size [[point_size]]; float clip [[clip_distance]][2]; ushort layer [[render_target_array_index]]; };
vertex VOut v(VIn in [[stage_in]], uint id [[vertex_id]], ushort i [[instance_id]], constant float4 &k [[buffer(3)]], texture2d<float> t) { VOut o = {}; o.p = in.p.x * k; o.id = id + i; if (fancy) o.size = in.t.x; return o; }
struct FIn { float4 p [[position]]; float2 uv [[centroid_perspective]]; int id [[user(number)]]; half3 n [[sample_no_perspective]]; };
struct FOut { half4 a [[color(1)]]; float4 b [[color(0), index(1)]]; float d [[depth(greater)]]; uint s [[stencil]]; uint m [[sample_mask]]; };
struct Old { half4 c [[color(0)]]; };
[[early_fragment_tests]] fragment FOut f(FIn in [[stage_in]], Old old, bool front [[front_facing]], float3 b [[barycentric_coord, center_no_perspective]]) { return {}; }
fragment half4 bare() { return 0; }
vertex float4 bare_position() [[position]] { return 0; }
fragment void nothing(uint m [[sample_mask]]) {}
// reflect: constant 4 bool fancy
// reflect: vertex v uses fancy
// reflect:   k float4 constant read index 3 count 1 slot 0 type 6 size 16 align 16
// reflect:   t texture2d<float, access::sample>  read index 0 count 1 slot 1 type 58 size 8 align 8
// reflect:   in p attribute type 5 n 3 +0 index 5
// reflect:   in c attribute type 52 n 4 +16 index 1
// reflect:   in t attribute type 17 n 2 +20 index 2 if fancy
// reflect:   in id vertex_id type 33 n 1 +0
// reflect:   in i instance_id type 41 n 1 +0
// reflect:   out p position type 6 n 4 +0 invariant
// reflect:   out uv value type 4 n 2 +16 row 0 perspective center
// reflect:   out n value type 18 n 3 +24 row 2 linear center
// reflect:   out user(number) value type 33 n 1 +32 row 5 flat center
// reflect:   out w[0] value type 3 n 1 +36 row 6 flat center
// reflect:   out w[1] value type 3 n 1 +40 row 7 flat center
// reflect:   out size point_size type 3 n 1 +44
// reflect:   out clip clip_distance type 3 n 2 +48
// reflect:   out layer layer type 41 n 1 +56
// reflect: fragment f early
// reflect:   in p position type 6 n 4 +0
// reflect:   in uv value type 4 n 2 +16 row 0 perspective centroid
// reflect:   in user(number) value type 29 n 1 +24 row 2 flat center
// reflect:   in n value type 18 n 3 +32 row 3 linear sample
// reflect:   in c color type 19 n 4 +0 index 0
// reflect:   in front front_facing type 53 n 1 +0
// reflect:   in b barycentric type 5 n 3 +0
// reflect:   out a color type 19 n 4 +0 index 1
// reflect:   out b color type 6 n 4 +16 index 0 second
// reflect:   out d depth type 3 n 1 +32 qualifier 1
// reflect:   out s stencil type 33 n 1 +36
// reflect:   out m sample_mask type 33 n 1 +40
// reflect: fragment bare
// reflect:   out  color type 19 n 4 +0 index 0
// reflect: vertex bare_position
// reflect:   out  position type 6 n 4 +0
// reflect: fragment nothing
// reflect:   in m sample_mask type 33 n 1 +0
// reflect: struct VOut size 64 align 16
// reflect:   +0 Base  type 1
// reflect:   +16 Inner inner type 1
// reflect:   +32 uint id type 33
// reflect:   +36 float[2] w type 2 elements 2 stride 4
// reflect:   +44 float size type 3
// reflect:   +48 float[2] clip type 2 elements 2 stride 4
// reflect:   +56 ushort layer type 41
// reflect: struct Base size 16 align 16
// reflect:   +0 float4 p type 6
// reflect: struct Inner size 16 align 8
// reflect:   +0 float2 uv type 4
// reflect:   +8 half3 n type 18
// reflect: struct VIn size 32 align 16
// reflect:   +0 float3 p type 5
// reflect:   +16 uchar4 c type 52
// reflect:   +20 half2 t type 17
// reflect: struct FOut size 48 align 16
// reflect:   +0 half4 a type 19
// reflect:   +16 float4 b type 6
// reflect:   +32 float d type 3
// reflect:   +36 uint s type 33
// reflect:   +40 uint m type 33
// reflect: struct FIn size 48 align 16
// reflect:   +0 float4 p type 6
// reflect:   +16 float2 uv type 4
// reflect:   +24 int id type 29
// reflect:   +32 half3 n type 18
// reflect: struct Old size 8 align 8
// reflect:   +0 half4 c type 19
