// Resources at program scope: arguments of the entry points that reach them, and of no others.
#include <metal_stdlib>
using namespace metal;
struct Light { float4 at; half3 colour; };
constant Light *constant lights [[buffer(4)]];
constant Light &sun [[buffer(5)]];
device float *out [[buffer(0)]];
texture2d<float> constant picture [[texture(0)]];
constant array<texture2d<half>, 3> pictures [[texture(2)]];
sampler constant smooth [[sampler(0)]];
constant array<sampler, 4> samplers [[sampler(1)]];
threadgroup float4 *constant tile [[threadgroup(2)]];
constant bool shadows [[function_constant(3)]];
depth2d<float> constant shadow [[texture(9), function_constant(shadows)]];
namespace scene { device const uint *constant index [[buffer(7)]]; }
struct Bindless { texture2d<float> t [[id(0)]]; device float *p [[id(1)]]; };
constant Bindless &bindless [[buffer(8)]];
float4 look(float2 at) { return picture.sample(smooth, at); }
template <typename T> T lit(uint i) { return T(lights[scene::index[i]].at.x); }
kernel void nothing(device float *a) { a[0] = 1; }
kernel void direct(uint i [[thread_position_in_grid]]) { out[i] = look(0).x; }
template <typename T> kernel void made(device T *mine) { mine[0] = lit<T>(3); }
template [[host_name("made_f")]] kernel void made<float>(device float *);
fragment float4 drawn() { return look(1) * float4(sun.at) + float4(pictures[1].sample(samplers[2], 0)); }
vertex float4 placed(uint i [[vertex_id]]) { return lights[i].at; }
kernel void dark(uint i [[thread_index_in_threadgroup]]) { tile[i] = 0; if (shadows) out[i] = shadow.sample(smooth, float2(0)); }
kernel void pointed() { out[0] = bindless.p[0] + bindless.t.read(uint2(0)).x; }
// reflect: constant 3 bool shadows
// reflect: kernel nothing
// reflect:   a float device read_write index 1 count 1 slot 0 type 3 size 4 align 4
// reflect: kernel direct
// reflect:   i uint thread_position_in_grid type 33 size 4 align 4
// reflect:   out float device read_write index 0 count 1 slot 0 type 3 size 4 align 4
// reflect:   picture texture2d<float, access::sample>  read index 0 count 1 slot 1 type 58 size 8 align 8
// reflect:   smooth sampler  read index 0 count 1 slot 2 type 59 size 8 align 8
// reflect: kernel made_f
// reflect:   mine float device read_write index 1 count 1 slot 0 type 3 size 4 align 4
// reflect:   lights Light constant read index 4 count 1 slot 1 type 1 size 32 align 16
// reflect:   scene::index uint device read index 7 count 1 slot 2 type 33 size 4 align 4
// reflect: fragment drawn
// reflect:   sun Light constant read index 5 count 1 slot 0 type 1 size 32 align 16
// reflect:   picture texture2d<float, access::sample>  read index 0 count 1 slot 1 type 58 size 8 align 8
// reflect:   pictures texture2d<half, access::sample>  read index 2 count 3 slot 2 type 58 size 8 align 8
// reflect:   smooth sampler  read index 0 count 1 slot 5 type 59 size 8 align 8
// reflect:   samplers sampler  read index 1 count 4 slot 6 type 59 size 8 align 8
// reflect:   out  color type 6 n 4 +0 index 0
// reflect: vertex placed
// reflect:   lights Light constant read index 4 count 1 slot 0 type 1 size 32 align 16
// reflect:   in i vertex_id type 33 n 1 +0
// reflect:   out  position type 6 n 4 +0
// reflect: kernel dark uses shadows
// reflect:   i uint thread_index_in_threadgroup type 33 size 4 align 4
// reflect:   out float device read_write index 0 count 1 slot 0 type 3 size 4 align 4
// reflect:   smooth sampler  read index 0 count 1 slot 1 type 59 size 8 align 8
// reflect:   tile float4 threadgroup read_write index 2 count 1 slot 2 type 6 size 16 align 16
// reflect:   shadow depth2d<float, access::sample>  read index 9 count 1 slot 3 if shadows type 58 size 8 align 8
// reflect: kernel pointed
// reflect:   out float device read_write index 0 count 1 slot 0 type 3 size 4 align 4
// reflect:   bindless Bindless constant read index 8 count 1 slot 1 type 1 size 16 align 8
// reflect: struct Light size 32 align 16
// reflect:   +0 float4 at type 6
// reflect:   +16 half3 colour type 18
// reflect: struct Bindless size 16 align 8
// reflect:   +0 texture2d<float, access::sample> t type 58 id 0
// reflect:   +8 device float * p type 60 id 1
