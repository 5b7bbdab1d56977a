// Every way to feed an argument: indices given and left out, spaces, arrays of pointers, built-ins.
#include <metal_stdlib>
using namespace metal;
struct Inner { half2 h; char c; };
struct Params {
    uint n;
    float3 scale;
    packed_float3 packed;
    float4x4 m;
    half3x2 hm;
    Inner inner[3];
    bool flag;
    ulong big;
    atomic_uint counter;
};
constant int mode [[function_constant(3)]];
constant bool wide = mode > 2;
constant float4 unused [[function_constant(1)]];

[[max_total_threads_per_threadgroup(256)]]
kernel void all(device const float *a, device float4 *b [[buffer(5)]], constant Params &p,
                threadgroup float *tg [[threadgroup(0)]], threadgroup half4 *tg2,
                device float *opt [[buffer(7), function_constant(wide)]],
                device int *list[2] [[buffer(10)]], device atomic_int *counter,
                uint3 gid [[thread_position_in_grid]], ushort [[thread_index_in_simdgroup]],
                ushort3 size [[threads_per_threadgroup]], uint lane [[threads_per_simdgroup]]) {
    b[gid.x] = a[gid.x] * p.scale.x + mode;
    tg[0] = 0;
    tg2[0] = 0;
    list[1][0] = lane + size.x;
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}
[[kernel, required_threads_per_threadgroup(8, 4, 1)]] void none() {}

template <typename T> [[kernel]] void copy(device const T *in [[buffer(0)]], device T *out [[buffer(1)]],
                                           uint i [[thread_position_in_grid]]) { out[i] = in[i]; }
template [[host_name("copy_f")]] [[kernel]] void copy<float>(device const float *, device float *, uint);
template [[host_name("copy_h")]] kernel decltype(copy<half>) copy<half>;
namespace inner { kernel void spaced(device uchar *x [[buffer(3)]]) { x[0] = 1; } }
// reflect: constant 3 int mode
// reflect: constant 1 float4 unused
// reflect: kernel all max 256 uses mode
// reflect:   a float device read index 0 count 1 slot 0 type 3 size 4 align 4
// reflect:   b float4 device read_write index 5 count 1 slot 1 type 6 size 16 align 16
// reflect:   p Params constant read index 1 count 1 slot 2 type 1 size 176 align 16
// reflect:   tg float threadgroup read_write index 0 count 1 slot 3 type 3 size 4 align 4
// reflect:   tg2 half4 threadgroup read_write index 1 count 1 slot 4 type 19 size 8 align 8
// reflect:   opt float device read_write index 7 count 1 slot 5 if _ZL4wide type 3 size 4 align 4
// reflect:   list int device read_write index 10 count 2 slot 6 type 29 size 4 align 4
// reflect:   counter atomic_int device read_write index 2 count 1 slot 8 type 29 size 4 align 4
// reflect:   gid uint3 thread_position_in_grid type 35 size 16 align 16
// reflect:    ushort thread_index_in_simdgroup type 41 size 2 align 2
// reflect:   size ushort3 threads_per_threadgroup type 43 size 8 align 8
// reflect:   lane uint threads_per_simdgroup type 33 size 4 align 4
// reflect: kernel none required 8,4,1
// reflect: kernel copy_f
// reflect:   in float device read index 0 count 1 slot 0 type 3 size 4 align 4
// reflect:   out float device read_write index 1 count 1 slot 1 type 3 size 4 align 4
// reflect:   i uint thread_position_in_grid type 33 size 4 align 4
// reflect: kernel copy_h
// reflect:   in half device read index 0 count 1 slot 0 type 16 size 2 align 2
// reflect:   out half device read_write index 1 count 1 slot 1 type 16 size 2 align 2
// reflect:   i uint thread_position_in_grid type 33 size 4 align 4
// reflect: kernel inner::spaced
// reflect:   x uchar device read_write index 3 count 1 slot 0 type 49 size 1 align 1
// reflect: struct Params size 176 align 16
// reflect:   +0 uint n type 33
// reflect:   +16 float3 scale type 5
// reflect:   +32 packed_float3 packed type 5
// reflect:   +48 float4x4 m type 15
// reflect:   +112 half3x2 hm type 23
// reflect:   +124 Inner[3] inner type 2 elements 3 stride 8
// reflect:   +148 bool flag type 53
// reflect:   +152 ulong big type 85
// reflect:   +160 atomic_uint counter type 33
// reflect: struct Inner size 8 align 4
// reflect:   +0 half2 h type 17
// reflect:   +4 char c type 45
