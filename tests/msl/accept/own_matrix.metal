// Matrices have their names in namespace metal alone: a program has its own.
#include <metal_stdlib>
struct float3x3 { float3 x, y, z; };
kernel void k(device float3x3 *m [[buffer(0)]], constant metal::float3x3 &n [[buffer(1)]]) { m->x = n[0]; }
