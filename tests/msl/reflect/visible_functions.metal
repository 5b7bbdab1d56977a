// Visible functions are listed, tables are arguments at buffer indices.
#include <metal_stdlib>
using namespace metal;
[[visible]] float f(float x) { return x; }
namespace n { float g(float x) [[visible]] { return f(x); } }
[[stitchable, host_name("other")]] float h(float x) { return x; }
struct S { visible_function_table<float(float)> t; int k; };
kernel void k(visible_function_table<float(float)> a, device int *p [[buffer(0)]],
              array<visible_function_table<float(float)>, 2> two [[buffer(4)]], constant S &s) { p[0] = int(a[0](1)) + s.k + int(two[1][0](2)); }
// reflect: kernel f
// reflect: kernel n::g
// reflect: kernel other
// reflect: kernel k
// reflect:   a visible_function_table<float (float)>  read index 1 count 1 slot 0 type 115 size 8 align 8
// reflect:   p int device read_write index 0 count 1 slot 1 type 29 size 4 align 4
// reflect:   two visible_function_table<float (float)>  read index 4 count 2 slot 2 type 115 size 8 align 8
// reflect:   s S constant read index 2 count 1 slot 4 type 1 size 16 align 8
// reflect: struct S size 16 align 8
// reflect:   +0 visible_function_table<float (float)> t type 115
// reflect:   +8 int k type 29
