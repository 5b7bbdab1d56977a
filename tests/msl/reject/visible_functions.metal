// What the types of visible function tables do not allow.
#include <metal_stdlib>
using namespace metal;
kernel void no_type(visible_function_table<int> t [[buffer(0)]]) { (void)t; } // expect-error: needs a function type
kernel void arguments(visible_function_table<int(int)> t [[buffer(0)]], device int *p [[buffer(1)]]) {
    p[0] = t[0](1, 2); // expect-error: too many arguments
    int x = t; // expect-error: no viable conversion
    float (*f)(float) = t[0]; // expect-error: cannot initialize a variable
    t[0] = nullptr; // expect-error: not assignable
}
