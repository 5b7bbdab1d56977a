// Texture and sampler arguments: indices given and left out, arrays, conditions, argument buffers.
#include <metal_stdlib>
using namespace metal;
constant bool wide [[function_constant(0)]];
struct Args {
    texture2d<float> color [[id(0)]];
    sampler smp [[id(1)]];
    array<texture2d<half, access::write>, 4> outs [[id(2)]];
    device float *data [[id(6)]];
    depthcube<float> shadow [[id(7)]];
};
kernel void all(texture2d<float> a, texture2d<half, access::write> b [[texture(0)]], sampler s,
                array<texture2d<uint, access::read_write>, 3> c [[texture(5)]], sampler t [[sampler(0)]],
                device float *out, depth2d_array<float, access::read> d,
                texture3d<short, access::read> e [[texture(100), function_constant(wide)]],
                constant Args &args [[buffer(2)]], array<sampler, 2> u, texture_buffer<int, access::read> f,
                texture2d_ms<float> g, texturecube_array<ushort> h[2], uint2 gid [[thread_position_in_grid]]) {
    out[0] = a.read(gid).x;
}
// reflect: constant 0 bool wide
// reflect: kernel all uses wide
// reflect:   a texture2d<float, access::sample>  read index 1 count 1 slot 0 type 58 size 8 align 8
// reflect:   b texture2d<half, access::write>  write index 0 count 1 slot 1 type 58 size 8 align 8
// reflect:   s sampler  read index 1 count 1 slot 2 type 59 size 8 align 8
// reflect:   c texture2d<uint, access::read_write>  read_write index 5 count 3 slot 3 type 58 size 8 align 8
// reflect:   t sampler  read index 0 count 1 slot 6 type 59 size 8 align 8
// reflect:   out float device read_write index 0 count 1 slot 7 type 3 size 4 align 4
// reflect:   d depth2d_array<float, access::read>  read index 2 count 1 slot 8 type 58 size 8 align 8
// reflect:   e texture3d<short, access::read>  read index 100 count 1 slot 9 if wide type 58 size 8 align 8
// reflect:   args Args constant read index 2 count 1 slot 10 type 1 size 64 align 8
// reflect:   u sampler  read index 2 count 2 slot 11 type 59 size 8 align 8
// reflect:   f texture_buffer<int, access::read>  read index 3 count 1 slot 13 type 58 size 8 align 8
// reflect:   g texture2d_ms<float, access::read>  read index 4 count 1 slot 14 type 58 size 8 align 8
// reflect:   h texturecube_array<ushort, access::sample>  read index 8 count 2 slot 15 type 58 size 8 align 8
// reflect:   gid uint2 thread_position_in_grid type 34 size 8 align 8
// reflect: struct Args size 64 align 8
// reflect:   +0 texture2d<float, access::sample> color type 58 id 0
// reflect:   +8 sampler smp type 59 id 1
// reflect:   +16 metal::array<metal::texture2d<half, metal::access::write>, 4> outs type 2 elements 4 stride 8 id 2
// reflect:   +48 device float * data type 60 id 6
// reflect:   +56 depthcube<float, access::sample> shadow type 58 id 7
