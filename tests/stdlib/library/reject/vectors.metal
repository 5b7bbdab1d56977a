// SPDX-License-Identifier: Apache-2.0
// What Metal does not accept of vectors; each line names the error it must give.
#include <metal_stdlib>
using namespace metal;
kernel void k(device float4 *a, device int4 *b, device float3 *c, device packed_float3 *p) {
    a[0] = b[0]; // error: no viable overloaded '='
    a[0] = a[0] + b[0]; // error: invalid operands
    b[0] = b[0] * 1.5f; // error: integer vector and a floating-point scalar
    b[0] = 1.5f - b[0]; // error: integer vector and a floating-point scalar
    a[0] = float4(c[0]); // error: no matching conversion
    a[0] = float4(c[0], 1, 2); // error: no matching constructor
    a[0] = float4(b[0].xyz, 1); // error: no matching constructor
    a[0].xx = float2(1); // error: duplicate components
    a[0].xg = 1; // error: no member named 'xg'
    c[0].w = 1; // error: no member named 'w'
    c[0].xyzw; // error: no member named 'xyzw'
    a[0].xy = c[0]; // error: no viable conversion
    float2 f = a[0]; // error: no viable conversion
    bool t = a[0] < 1; // error: no viable conversion
    int i = b[0]; // error: no viable conversion
    a[0] = a[0] % 2; // error: invalid operands
    a[0] = a[0] & 1; // error: invalid operands
    a[0] = !a[0]; // error: invalid argument type
    float4 m = as_type<float4>(half4(1)); // error: no matching function
    b[0] = as_type<int4>(bool4(1)); // error: no matching function
    p[0] = packed_float3(p[0].xy); // error: no matching conversion
    packed_vec<bool, 3> pb; // error: integer or floating-point elements
    c[0] = c[0] + a[0]; // error: invalid operands
    if (a[0] == a[1]) c[0] = 0; // error: not contextually convertible
    thread float2 *ptr = &a[0].xy; // error: address of a temporary
}
