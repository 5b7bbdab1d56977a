// SPDX-License-Identifier: Apache-2.0
// What a thread does by itself: divisions, shifts, texels outside.
#include <metal_stdlib>
using namespace metal;

// run grid 32 group 32 fill 1=iota
kernel void divide(device uint *out [[buffer(0)]], device const uint *x [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
    out[i] = 100 / x[i]; //! division
}
// run grid 32 group 32 fill 1=iota
kernel void divide_right(device uint *out [[buffer(0)]], device const uint *x [[buffer(1)]],
                         uint i [[thread_position_in_grid]]) {
    out[i] = x[i] ? 100 / x[i] : 0;
}
// run grid 32 group 32 fill 1=iota
kernel void remainder(device int *out [[buffer(0)]], device const int *x [[buffer(1)]],
                      uint i [[thread_position_in_grid]]) {
    out[i] = 7 % (x[i] - 5); //! division
}
// run grid 32 group 32 fill 1=iota
kernel void remainder_right(device int *out [[buffer(0)]], device const int *x [[buffer(1)]],
                            uint i [[thread_position_in_grid]]) {
    out[i] = 7 % (x[i] + 5);
}
// run grid 32 group 32 fill 1=2147483648
kernel void least_by_minus_one(device int *out [[buffer(0)]], device const int *x [[buffer(1)]],
                               uint i [[thread_position_in_grid]]) {
    out[i] = x[i] / (int)(i - 4); //! division
}
// run grid 32 group 32 fill 1=iota
kernel void vectors(device uint4 *out [[buffer(0)]], device const uint *x [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
    uint4 d = uint4(1, 2, x[i], 4);
    out[i] = uint4(9) / d; //! division
}
// run grid 32 group 32 fill 1=iota
kernel void vectors_right(device uint4 *out [[buffer(0)]], device const uint *x [[buffer(1)]],
                          uint i [[thread_position_in_grid]]) {
    out[i] = uint4(9) / uint4(1, 2, x[i] + 1, 4) % 5;
}
// run grid 32 group 32 fill 1=iota
kernel void unused_branch(device uint *out [[buffer(0)]], device const uint *x [[buffer(1)]],
                          uint i [[thread_position_in_grid]]) {
    if (x[i] > 3) out[i] = 100 / (x[i] - 3);
}
// run grid 64 group 32 fill 1=iota
kernel void shift(device uint *out [[buffer(0)]], device const uint *x [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
    out[i] = 1u << x[i]; //! shift
}
// run grid 64 group 32 fill 1=iota
kernel void shift_right(device uint *out [[buffer(0)]], device const uint *x [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
    out[i] = 1u << (x[i] & 31);
}
// run grid 64 group 32 fill 1=iota
kernel void shift_below(device int *out [[buffer(0)]], device const int *x [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
    out[i] = 1 >> (x[i] - 8); //! shift
}
// run grid 64 group 32 fill 1=iota
kernel void shift_long(device ulong *out [[buffer(0)]], device const uint *x [[buffer(1)]],
                       uint i [[thread_position_in_grid]]) {
    out[i] = 1ul << x[i];
}
// run grid 32 group 32 fill 1=iota
kernel void shift_vectors(device uint2 *out [[buffer(0)]], device const uint *x [[buffer(1)]],
                          uint i [[thread_position_in_grid]]) {
    out[i] = uint2(1, 2) << uint2(x[i], 30 + x[i]); //! shift
}
// run grid 32 group 32 fill 1=iota
kernel void shift_vectors_right(device uint2 *out [[buffer(0)]], device const uint *x [[buffer(1)]],
                                uint i [[thread_position_in_grid]]) {
    out[i] = uint2(1, 2) << uint2(x[i], x[i] / 2);
}
// run grid 32 group 32 fill 1=iota
kernel void library(device uint *out [[buffer(0)]], device const uint *x [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
    uint v = x[i];
    out[i] = rotate(v, 40u) + clz(v) + ctz(v) + extract_bits(v, 3, 0) + mulhi(v, v) + hadd(v, v);
}
// run grid 16 group 16 texture 8x8
kernel void texel(texture2d<float, access::write> t [[texture(0)]],
                  uint i [[thread_position_in_grid]]) {
    t.write(float4(1), uint2(i, 2)); //! texel
}
// run grid 8 group 8 texture 8x8
kernel void texel_inside(texture2d<float, access::write> t [[texture(0)]],
                         uint i [[thread_position_in_grid]]) {
    t.write(float4(1), uint2(i, 2));
}
// run grid 8x8 group 8x8 texture 8x8
kernel void texel_read(texture2d<float, access::read> t [[texture(0)]],
                       device float *out [[buffer(0)]], uint2 p [[thread_position_in_grid]]) {
    out[p.y * 8 + p.x] = t.read(p + uint2(0, 1)).x; //! texel
}
// run grid 8x7 group 8x7 texture 8x8
kernel void texel_read_inside(texture2d<float, access::read> t [[texture(0)]],
                              device float *out [[buffer(0)]],
                              uint2 p [[thread_position_in_grid]]) {
    out[p.y * 8 + p.x] = t.read(p + uint2(0, 1)).x;
}
// run grid 8 group 8 texture 8x8
kernel void texel_level(texture2d<float, access::read> t [[texture(0)]],
                        device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    out[i] = t.read(uint2(0), i).x; //! texel
}
// run grid 16 group 16 texture 8x8
kernel void texel_race(texture2d<float, access::write> t [[texture(0)]],
                       uint i [[thread_position_in_grid]]) {
    t.write(float4(i), uint2(i / 2, 1)); //! race a
}
// run grid 7 group 7 texture 8x8
kernel void texel_read_write(texture2d<float, access::read_write> t [[texture(0)]],
                             uint i [[thread_position_in_grid]]) {
    float4 v = t.read(uint2(i + 1, 0)); //! race a
    t.write(v, uint2(i, 0));            //! race a
}
// run grid 7 group 7 texture 8x8
kernel void texel_ordered(texture2d<float, access::read_write> t [[texture(0)]],
                          uint i [[thread_position_in_grid]]) {
    float4 v = t.read(uint2(i + 1, 0));
    threadgroup_barrier(mem_flags::mem_texture);
    t.write(v, uint2(i, 0));
}
// run grid 7 group 7 texture 8x8
kernel void texel_wrong_flag(texture2d<float, access::read_write> t [[texture(0)]],
                             uint i [[thread_position_in_grid]]) {
    float4 v = t.read(uint2(i + 1, 0)); //! race a
    threadgroup_barrier(mem_flags::mem_device);
    t.write(v, uint2(i, 0)); //! race a
}
// run grid 8x8 group 4x4 texture 8x8
kernel void texel_in_place(texture2d<float, access::read_write> t [[texture(0)]],
                           uint2 p [[thread_position_in_grid]]) {
    t.write(t.read(p) * 2, p);
}
