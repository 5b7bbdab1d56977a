// Errors of everyday life, in Metal's words.
#include <metal_stdlib>
using namespace metal;
struct Params { float3 scale; uint n; void touch() { n = 1; } };
kernel void k(device float *a [[buffer(0)]], constant float *c [[buffer(1)]], threadgroup float *t [[threadgroup(0)]],
              device Params *p [[buffer(2)]]) {
    thread float *x = a; // expect-error: cannot initialize a variable of type 'thread float *' with an lvalue of type 'device float *'
    device float *q = t; // expect-error: cannot initialize a variable of type 'device float *' with an lvalue of type 'threadgroup float *'
    constant float *r = a; // expect-error: cannot initialize a variable of type 'constant float *' with an lvalue of type 'device float *'
    c[0] = 1; // expect-error: not assignable
    float3 v = float3(1, 2, 3);
    float w = v.w; // expect-error: no member named 'w' in 'float3'
    v.xq = 2; // expect-error: no member named 'xq' in 'float3'
    v.xx = 2; // expect-error: vector is not assignable (contains duplicate components)
    float *plain = t; // expect-error: pointer type must have explicit address space qualifier
    undeclared(3); // expect-error: use of undeclared identifier 'undeclared'
    float2 two = float3(1); // expect-error: no viable conversion from 'float3' to 'float2'
    float4 four = v + float4(1); // expect-error: invalid operands to binary expression ('float3' and 'float4')
    int y = "text"; // expect-error: cannot initialize a variable of type 'int'
    p->touch(); // expect-error: device
    auto l = [](float *z) { return z[0]; }; // expect-error: pointer type must have explicit address space qualifier
    static_assert(sizeof(float3) == 12, "size of float3"); // expect-error: size of float3
    float m = max(v, 1.0f, 2); // expect-error: no matching function for call to 'max'
}
void by_reference(float &r) { r = 1; } // expect-error: reference type must have explicit address space qualifier
kernel void semicolon(device float *a) { a[0] = 1 } // expect-error: expected ';' after expression
