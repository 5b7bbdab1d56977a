// Every way to declare an entry point, and threadgroup memory in odd places.
#include <metal_stdlib>
using namespace metal;
static kernel void s(device int *a) { a[0] = 1; }
kernel inline void n(device int *a) { a[0] = 1; }
namespace { kernel void anon(device int *a) { a[0] = 1; } }
kernel void proto(device int *a, uint i [[thread_position_in_grid]]);
kernel void proto(device int *a, uint i) { a[i] = 1; }
template <typename T> kernel void spec(device T *a) { a[0] = 1; }
template <> kernel void spec<int>(device int *a) { a[0] = 2; }
template kernel void spec<float>(device float *a);
void post(device int *a, uint i [[thread_position_in_grid]]) [[kernel]] { threadgroup int t[4]; threadgroup int (*p)[4] = &t; (*p)[0] = 1; a[i] = t[0]; }
struct A { static void inner(device int *a) { int z[2]; z[0] = 1; a[0] = z[0]; } };
kernel void calls(device int *a) { A::inner(a); auto l = [&](int x) { threadgroup int q; q = x; return q; }; a[1] = l(3); }
// reflect: kernel s
// reflect:   a int device read_write index 0 count 1 slot 0 type 29 size 4 align 4
// reflect: kernel n
// reflect:   a int device read_write index 0 count 1 slot 0 type 29 size 4 align 4
// reflect: kernel anon
// reflect:   a int device read_write index 0 count 1 slot 0 type 29 size 4 align 4
// reflect: kernel proto
// reflect:   a int device read_write index 0 count 1 slot 0 type 29 size 4 align 4
// reflect:   i uint thread_position_in_grid type 33 size 4 align 4
// reflect: kernel spec<int>
// reflect:   a int device read_write index 0 count 1 slot 0 type 29 size 4 align 4
// reflect: kernel spec<float>
// reflect:   a float device read_write index 0 count 1 slot 0 type 3 size 4 align 4
// reflect: kernel post
// reflect:   a int device read_write index 0 count 1 slot 0 type 29 size 4 align 4
// reflect:   i uint thread_position_in_grid type 33 size 4 align 4
// reflect: kernel calls
// reflect:   a int device read_write index 0 count 1 slot 0 type 29 size 4 align 4
