// Vectors, matrices and functions of them.
#include <metal_stdlib>
using namespace metal;
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = b[0]; } // expect-error: no viable
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { b[0] = a[0]; } // expect-error: no viable
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = h[0]; } // expect-error: no viable
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { h[0] = a[0]; } // expect-error: no viable
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = a[0] + b[0]; } // expect-error: invalid operands
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = a[0] * h[0]; } // expect-error: invalid operands
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = a[0] + c[0]; } // expect-error: invalid operands
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { b[0] = b[0] * 1.5f; } // expect-error: integer vector and a floating-point scalar
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { b[0] += 1.5f; } // expect-error: floating-point
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = a[0] % 2; } // expect-error: invalid operands
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = a[0] & 1; } // expect-error: invalid operands
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = a[0] << 1; } // expect-error: invalid operands
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = ~a[0]; } // expect-error: invalid argument type
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = !a[0]; } // expect-error: invalid argument type
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = float4(c[0]); } // expect-error: no matching
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = float4(c[0], 1, 2); } // expect-error: no matching constructor
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = float4(1, 2, 3, 4, 5); } // expect-error: no matching constructor
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = float4(b[0].xyz, 1); } // expect-error: no matching constructor
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = float4(m[0]); } // expect-error: no matching
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { c[0] = float3(a[0].xy); } // expect-error: no matching
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = {1, 2, 3, 4, 5}; } // expect-error: no
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { c[0] = a[0]; } // expect-error: no viable
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { float2 f = a[0]; } // expect-error: no viable conversion
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { float f = a[0]; } // expect-error: no viable conversion
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { int i = b[0]; } // expect-error: no viable conversion
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0].xx = float2(1); } // expect-error: duplicate components
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0].xyx = float3(1); } // expect-error: duplicate components
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0].xg = 1; } // expect-error: no member named 'xg'
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0].q = 1; } // expect-error: no member named 'q'
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { c[0].w = 1; } // expect-error: no member named 'w'
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { c[0].xyzw; } // expect-error: no member named 'xyzw'
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0].xyzwx; } // expect-error: no member named 'xyzwx'
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0].stpq; } // expect-error: no member named 'stpq'
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0].xy = c[0]; } // expect-error: no viable
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0].xyz = float2(1); } // expect-error: no viable
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { c[0].a = 1; } // expect-error: no member named 'a'
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { thread float &r = a[0].x; } // expect-error: address space
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0](); } // expect-error: does not provide a call operator
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { if (a[0]) o[0] = true; } // expect-error: not contextually convertible
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { if (a[0] == a[1]) o[0] = true; } // expect-error: not contextually convertible
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { o[0] = a[0] < 1; } // expect-error: assigning to 'bool'
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { o[0] = a[0] && a[1]; }
// expect-error@87: invalid operands
// expect-error@87: not contextually convertible
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = a[0] < a[1] ? 1 : 2; } // expect-error: not
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = as_type<float4>(h[0]); } // expect-error: no matching function
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = as_type<float4>(1); } // expect-error: no matching function
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { o[0] = as_type<bool>(1); } // expect-error: no matching function
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = reinterpret_cast<float4>(b[0]); } // expect-error: reinterpret_cast
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = (float4)c[0]; } // expect-error: no matching
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = static_cast<float4>(c[0]); } // expect-error: no matching
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { m[0] = float4x4(1, 2); } // expect-error: no matching
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { m[0] = float4x4(a[0], a[0], a[0]); } // expect-error: no matching
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { m[0] = float4x4(c[0], c[0], c[0], c[0]); } // expect-error: no matching
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { float3x3 n = m[0]; } // expect-error: no viable conversion
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { m[0] = float3x3(1); } // expect-error: no viable
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { m[0] = half4x4(1); } // expect-error: no viable
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { m[0] = m[0] + 1; } // expect-error: invalid operands
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { m[0] = m[0] / m[0]; } // expect-error: invalid operands
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { m[0] = m[0] * float3x3(1); } // expect-error: invalid operands
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { c[0] = m[0] * c[0]; } // expect-error: invalid operands
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = m[0] * 2; } // expect-error: no viable
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = m[0][0][0][0]; } // expect-error: subscript
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { m[0].x = 1; } // expect-error: no member named 'x'
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = float2x3(1) * a[0]; } // expect-error: invalid operands
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { int4x4 i; } // expect-error: unknown type name 'int4x4'
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { float5 f; } // expect-error: float5
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { float1x4 f; } // expect-error: float1x4
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { vec<float, 5> f; } // expect-error: vec
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { matrix<int, 2, 2> f; } // expect-error: floating-point elements
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { vec<float4, 2> f; } // expect-error: vec
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { packed_float3x3 f; } // expect-error: packed_float3x3
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { bool4x4 f; } // expect-error: bool4x4
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = max(a[0], b[0]); } // expect-error: no matching function
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = dot(a[0], c[0]); } // expect-error: no matching function
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { c[0] = cross(a[0].xy, a[0].zw); } // expect-error: no matching function
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = length(m[0]); } // expect-error: no matching function
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = normalize(b[0]); } // expect-error: no matching function
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { m[0] = transpose(a[0]); } // expect-error: no matching function
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = determinant(float2x3(1)); } // expect-error: no matching function
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = mix(a[0], a[1], b[0]); } // expect-error: no matching function
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = select(a[0], a[1], bool3(true)); } // expect-error: no matching function
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { o[0] = any(a[0]); } // expect-error: no matching function
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { b[0] = popcount(a[0]); } // expect-error: no matching function
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = clamp(a[0], c[0], a[1]); } // expect-error: no matching function
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { b[0] = sin(b[0]); } // expect-error: no matching function
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0].x = clamp(a[0].x, 0, 1); } // expect-error: ambiguous
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { b[0].x = max(b[0].x, 1u); } // expect-error: ambiguous
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = fma(a[0], a[0], c[0]); } // expect-error: no matching function
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0] = pow(a[0], c[0]); } // expect-error: no matching function
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0].x = sin(); } // expect-error: no matching function
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0].x = sin(1.0f, 2.0f); } // expect-error: no matching function
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0].x = cbrt(a[0].x); } // expect-error: cbrt
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0].x = erf(a[0].x); } // expect-error: erf
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { a[0].x = hypot(a[0].x, 1.0f); } // expect-error: hypot
// ====
kernel void k(device float4 *a, device int4 *b, device float3 *c, device float4x4 *m, device half4 *h, device bool *o) { float f = fmod(1.0f, c[0]); } // expect-error: no
