// Textures and samplers: access, coordinates, results, kinds.
#include <metal_stdlib>
using namespace metal;
// ====
kernel void k(texture2d<float, access::write> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.read(p); } // expect-error: cannot be read
// ====
kernel void k(texture2d<float, access::write> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.sample(s, float2(0)); } // expect-error: access::sample
// ====
kernel void k(texture2d<float, access::read> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.sample(s, float2(0)); } // expect-error: access::sample
// ====
kernel void k(texture2d<float, access::read_write> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.sample(s, float2(0)); } // expect-error: access::sample
// ====
kernel void k(texture2d<float, access::read> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { t.write(float4(0), p); } // expect-error: access::write or access::read_write
// ====
kernel void k(texture2d<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { t.write(float4(0), p); } // expect-error: access::write or access::read_write
// ====
kernel void k(texture2d<float, access::read> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.gather(s, float2(0)); } // expect-error: access::sample
// ====
kernel void k(texture2d<float, access::write> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.gather(s, float2(0)); } // expect-error: access::sample
// ====
kernel void k(texture2d<float, access::read> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { t.fence(); } // expect-error: fence() needs access::read_write
// ====
kernel void k(texture2d<float, access::write> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { t.fence(); } // expect-error: fence() needs access::read_write
// ====
kernel void k(texture2d<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { t.fence(); } // expect-error: fence() needs access::read_write
// ====
kernel void k(texture2d<float, access::read_write> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { t.atomic_fetch_add(p, float4(1)); } // expect-error: texture atomics need int, uint or ulong components
// ====
kernel void k(texture2d<uint> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { t.atomic_fetch_add(p, uint4(1)); } // expect-error: access::read_write
// ====
kernel void k(texture2d<uint, access::read_write> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { t.atomic_fetch_add(p, float4(1)); } // expect-error: no matching
// ====
kernel void k(texture3d<half, access::read_write> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { t.atomic_load(uint3(0)); } // expect-error: components
// ====
kernel void k(texture2d<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.sample(s, float3(0)); } // expect-error: no matching member function
// ====
kernel void k(texture2d<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.sample(float2(0)); } // expect-error: no matching member function
// ====
kernel void k(texture2d<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.sample(s, uint2(0), 1); } // expect-error: no matching member function
// ====
kernel void k(texture2d<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.sample(s, float2(0), level(0), level(1)); } // expect-error: no matching member function
// ====
kernel void k(texture2d<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.read(int2(0)); } // expect-error: no matching member function
// ====
kernel void k(texture2d<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.read(float2(0)); } // expect-error: no matching member function
// ====
kernel void k(texture2d<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.read(uint3(0)); } // expect-error: no matching member function
// ====
kernel void k(texture2d<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.read(); } // expect-error: no matching member function
// ====
kernel void k(texture2d<float, access::write> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { t.write(half4(0), p); } // expect-error: no matching member function
// ====
kernel void k(texture2d<float, access::write> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { t.write(int4(0), p); } // expect-error: no matching member function
// ====
kernel void k(texture2d<float, access::write> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { t.write(p); } // expect-error: no matching member function
// ====
kernel void k(texture2d<half> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.sample(s, float2(0)); } // expect-error: no viable
// ====
kernel void k(texture2d<uint> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.read(p); } // expect-error: no viable
// ====
kernel void k(texture1d<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.sample(s, float2(0)); } // expect-error: no viable conversion
// ====
kernel void k(texture1d<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.gather(s, 0.5f); } // expect-error: no member named 'gather'
// ====
kernel void k(texture3d<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.sample(s, float2(0)); } // expect-error: no matching member function
// ====
kernel void k(texture3d<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.gather(s, float3(0)); } // expect-error: no member named 'gather'
// ====
kernel void k(texture2d_array<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.sample(s, float2(0)); } // expect-error: no matching member function
// ====
kernel void k(texturecube<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.sample(s, float2(0)); } // expect-error: no matching member function
// ====
kernel void k(texturecube<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.sample(s, float3(0), int3(1)); } // expect-error: no matching member function
// ====
kernel void k(texturecube<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.sample(s, float3(0), gradient2d(float2(0), float2(0))); } // expect-error: no matching member function
// ====
kernel void k(texture2d_ms<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.sample(s, float2(0)); } // expect-error: no member named 'sample'
// ====
kernel void k(texture2d_ms<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.read(p); } // expect-error: no matching member function
// ====
kernel void k(texture_buffer<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.sample(s, 0.5f); } // expect-error: no member named 'sample'
// ====
kernel void k(texture_buffer<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.read(p); } // expect-error: no viable conversion
// ====
kernel void k(depth2d<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.sample(s, float3(0)); } // expect-error: no matching member function
// ====
kernel void k(depth2d<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.gather(s, float2(0), int2(0), component::x); } // expect-error: too many arguments
// ====
kernel void k(depth2d<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { t.write(0.0f, p); } // expect-error: no member named 'write'
// ====
kernel void k(depth2d<float, access::read> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.sample_compare(s, float2(0), 1.0f); } // expect-error: access::sample
// ====
kernel void k(depth2d<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.sample_compare(s, float2(0)); } // expect-error: no matching member function
// ====
kernel void k(texture2d<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.sample_compare(s, float2(0), 1.0f); } // expect-error: no member named 'sample_compare'
// ====
kernel void k(texture2d<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.gather_compare(s, float2(0), 1.0f); } // expect-error: no member named 'gather_compare'
// ====
kernel void k(depthcube<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.sample(s, float2(0)); } // expect-error: no matching member function
// ====
kernel void k(texture2d<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.get_depth(); } // expect-error: no member named 'get_depth'
// ====
kernel void k(texture2d<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.get_array_size(); } // expect-error: no member named 'get_array_size'
// ====
kernel void k(texture2d<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.get_num_samples(); } // expect-error: no member named 'get_num_samples'
// ====
kernel void k(texture1d<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.get_height(); } // expect-error: no member named 'get_height'
// ====
kernel void k(texture2d_ms<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.get_num_mip_levels(); } // expect-error: no member named 'get_num_mip_levels'
// ====
kernel void k(texture_buffer<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.get_height(); } // expect-error: no member named 'get_height'
// ====
kernel void k(texture2d<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t[0]; } // expect-error: subscript
// ====
kernel void k(texture2d<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t + 1; } // expect-error: invalid operands
// ====
kernel void k(texture2d<float> t, device float4 *o, sampler s, uint2 p [[thread_position_in_grid]]) { o[0] = t.size(); } // expect-error: no member named 'size'
// ====
kernel void k(texture2d<char> t) {} // expect-error: a component of a texture is float, half, int
// ====
kernel void k(texture2d<uchar> t) {} // expect-error: a component of a texture is float, half, int
// ====
kernel void k(texture2d<long> t) {} // expect-error: a component of a texture is float, half, int
// ====
kernel void k(texture2d<bool> t) {} // expect-error: a component of a texture is float, half, int
// ====
kernel void k(texture2d<float4> t) {} // expect-error: a component of a texture is float, half, int
// ====
kernel void k(texture2d<bfloat> t) {} // expect-error: a component of a texture is float, half, int
// ====
kernel void k(depth2d<int> t) {} // expect-error: of a depth texture float
// ====
kernel void k(depth2d<half> t) {} // expect-error: of a depth texture float
// ====
kernel void k(depth2d<float, access::write> t) {} // expect-error: the access of a depth texture is sample or read
// ====
kernel void k(depthcube<float, access::read_write> t) {} // expect-error: the access of a depth texture is sample or read
// ====
kernel void k(texture2d_ms<float, access::sample> t) {} // expect-error: the access of a multisample texture is read
// ====
kernel void k(texture2d_ms<float, access::write> t) {} // expect-error: the access of a multisample texture is read
// ====
kernel void k(depth2d_ms<float, access::sample> t) {} // expect-error: read
// ====
kernel void k(texture_buffer<float, access::sample> t) {} // expect-error: cannot be sampled
// ====
kernel void k(texture2d t) {} // expect-error: texture2d
// ====
kernel void k(texture2d<> t) {} // expect-error: texture2d
// ====
kernel void k(texture2d<float, 7> t) {} // expect-error: not implicitly convertible to 'access'
// ====
kernel void k(texture4d<float> t) {} // expect-error: texture4d
// ====
kernel void k(texture1d_ms<float> t) {} // expect-error: texture1d_ms
// ====
kernel void k(depth3d<float> t) {} // expect-error: depth3d
// ====
kernel void k(device float *a) { auto s = sampler(filter::cubical); (void)s; } // expect-error: no member named 'cubical'
// ====
kernel void k(device float *a) { auto s = sampler(address::wrap); (void)s; } // expect-error: no member named 'wrap'
// ====
kernel void k(device float *a) { auto s = sampler(compare_func::sometimes); (void)s; } // expect-error: no member named 'sometimes'
// ====
kernel void k(device float *a) { auto s = sampler(coord::texel); (void)s; } // expect-error: no member named 'texel'
// ====
kernel void k(device float *a) { constexpr sampler s(1.5f); (void)s; } // expect-error: no matching constructor
// ====
kernel void k(device float *a) { constexpr sampler s("linear"); (void)s; } // expect-error: no matching constructor
// ====
kernel void k(device float *a) { constexpr sampler s(lod_clamp(a[0], 1)); (void)s; } // expect-error: constant expression
// ====
kernel void k(device float *a) { auto s = sampler(border_color::red); (void)s; } // expect-error: no member named 'red'
// ====
constexpr sampler s(filter::linear);
kernel void k() { s = sampler(); } // expect-error: no viable overloaded '='
