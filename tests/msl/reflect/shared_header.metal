// A header shared with the host, in the style of application templates: NS_ENUM, simd types, #import.
#include <metal_stdlib>
#include <simd/simd.h>
#import "../headers/shared_types.h"
using namespace metal;
kernel void compute(device float4 *p [[buffer(BufferIndexPositions)]], constant Uniforms &u [[buffer(BufferIndexUniforms)]],
                    device Packed *q [[buffer(1)]], uint2 gid [[thread_position_in_grid]], uint2 grid [[threads_per_grid]]) {
    const uint i = gid.y * grid.x + gid.x;
    if (gid.x >= u.size.x || gid.y >= u.size.y) return;
    p[i] = u.projection * float4(u.light, 1) + u.tint;
    q[i].b = q[i].a;
}
// reflect: kernel compute
// reflect:   p float4 device read_write index 0 count 1 slot 0 type 6 size 16 align 16
// reflect:   u Uniforms constant read index 2 count 1 slot 1 type 1 size 176 align 16
// reflect:   q Packed device read_write index 1 count 1 slot 2 type 1 size 5 align 1
// reflect:   gid uint2 thread_position_in_grid type 34 size 8 align 8
// reflect:   grid uint2 threads_per_grid type 34 size 8 align 8
// reflect: struct Uniforms size 176 align 16
// reflect:   +0 float4x4 projection type 15
// reflect:   +64 float3 light type 5
// reflect:   +80 float4 tint type 6
// reflect:   +96 uint2 size type 34
// reflect:   +104 int2 off type 30
// reflect:   +112 float3x3 n type 11
// reflect:   +160 float f type 3
// reflect: struct Packed size 5 align 1
// reflect:   +0 uchar a type 49
// reflect:   +1 uint b type 33
