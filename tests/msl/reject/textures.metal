// What Metal refuses of textures and samplers, at the line of the program.
#include <metal_stdlib>
using namespace metal;
kernel void reads_write_only(texture2d<float, access::write> t, uint2 p [[thread_position_in_grid]]) {
    t.write(t.read(p), p); // expect-error: a texture with access::write cannot be read
}
kernel void writes_sampled(texture2d<float> t, uint2 p [[thread_position_in_grid]]) {
    t.write(float4(0), p); // expect-error: writing a texture needs access::write or access::read_write
}
kernel void samples_read_only(texture2d<float, access::read> t, sampler s, device float4 *out) {
    out[0] = t.sample(s, float2(0)); // expect-error: sampling a texture needs access::sample
}
kernel void fences_read_only(texture2d<float, access::read> t) {
    t.fence(); // expect-error: fence() needs access::read_write
}
kernel void atomic_on_float(texture2d<float, access::read_write> t, uint2 p [[thread_position_in_grid]]) {
    t.atomic_fetch_add(p, float4(1)); // expect-error: texture atomics need int, uint or ulong components
}
kernel void writes_depth(depth2d<float> t, uint2 p [[thread_position_in_grid]]) {
    t.write(0.0f, p); // expect-error: no member named 'write' in 'metal::depth2d<float>'
}
kernel void depth_of_half(depth2d<half> t) {} // expect-error: of a depth texture float
kernel void bad_component(texture2d<char> t) {} // expect-error: a component of a texture is float, half, int
kernel void written_depth(depth2d<float, access::write> t) {} // expect-error: the access of a depth texture is sample or read
kernel void sampled_multisample(texture2d_ms<float, access::sample> t) {} // expect-error: the access of a multisample texture is read
kernel void wrong_vector(texture2d<half, access::write> t, uint2 p [[thread_position_in_grid]]) {
    t.write(float4(0), p); // expect-error: no matching member function for call to 'write'
}
kernel void signed_coordinates(texture2d<float> t, device float4 *out) {
    out[0] = t.read(int2(0)); // expect-error: no matching member function for call to 'read'
}
kernel void offset_of_cube(texturecube<float> t, sampler s, device float4 *out) {
    out[0] = t.sample(s, float3(0), int3(1)); // expect-error: no matching member function for call to 'sample'
}
kernel void gradient_of_other(texture3d<float> t, sampler s, device float4 *out) {
    out[0] = t.sample(s, float3(0), gradient2d(float2(0), float2(0))); // expect-error: no matching member function
}
kernel void gathers_volume(texture3d<float> t, sampler s, device float4 *out) {
    out[0] = t.gather(s, float3(0)); // expect-error: no member named 'gather' in 'metal::texture3d<float>'
}
kernel void compares_color(texture2d<float> t, sampler s, device float *out) {
    out[0] = t.sample_compare(s, float2(0), 1.0f); // expect-error: no member named 'sample_compare'
}
kernel void samples_buffer(texture_buffer<float> t, sampler s, device float4 *out) {
    out[0] = t.sample(s, 0.0f); // expect-error: no member named 'sample' in 'metal::texture_buffer<float>'
}
constexpr sampler odd(filter::linear, 3); // expect-error: no matching constructor for initialization of 'constant sampler'
