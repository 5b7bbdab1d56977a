// Visible functions by one name, tables at indices that are not theirs.
#include <metal_stdlib>
using namespace metal;
[[visible]] int twin(int x) { return x; }
[[visible]] float twin(float x) { return x; } // expect-error: there is already an entry point called 'twin'
kernel void wrong_place(visible_function_table<int(int)> t [[texture(0)]], device int *p [[buffer(0)]]) { p[0] = t[0](1); } // expect-error: attribute
kernel void taken(visible_function_table<int(int)> t [[buffer(1)]], device int *p [[buffer(1)]]) { p[0] = t[0](1); } // expect-error: cannot reserve 'buffer' resource location at index 1
kernel void outside(visible_function_table<int(int)> t [[buffer(31)]], device int *p [[buffer(1)]]) { p[0] = t[0](1); } // expect-error: out of bounds
