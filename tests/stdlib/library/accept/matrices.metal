// SPDX-License-Identifier: Apache-2.0
// Matrices in every address space: a column keeps the space of its matrix.
#include <metal_stdlib>
using namespace metal;
struct Data { float4x4 m; half3x3 h; array<float2x2, 3> a; };
template <class T> void fill(thread T &m, int i) {
    m[i / 4][i % 4] = i;
    m[0] += 1;
    m[1].xy = 2;
    m[2][3] *= 2;
}
float trace(thread const float3x3 &m) { return m[0][0] + m[1][1] + m[2][2]; }
float mixed(constant float4x4 &m, constant float4x4 *p) {
    return m[0][0] + p[1][2].w + dot(m[3], p->columns[2]);
}
float4x4 identity() { return float4x4(1); }
kernel void k(constant Data &u, device Data *d, threadgroup float4x4 *t, uint i [[thread_position_in_grid]]) {
    device float4 *column = &d[i].m[2];
    threadgroup float4 &shared = t[1][0];
    constant float4 *fixed = &u.m[1];
    *column = shared + *fixed;
    float4x4 m = u.m * d[i].m;
    fill(m, 3);
    thread float4 *own = &m[1];
    own->x = 1;
    float4 v = m[i & 3];
    v *= m;
    d[i].m[0] *= m;
    d[i].m = m * t[0];
    d[i].m[3][2] = v[i & 3] + trace(float3x3(u.h)) + mixed(u.m, &u.m) + identity()[1][1] + (m * m)[2].x;
    d[i].a[1][1] = float2(1);
    d[i].a[i % 3][0].x += u.a[2][1].y;
    const float4x4 k = m;
    d[i].h = half3x3(half3(k[0].xyz), half3(k[1].xyz), half3(1));
    float4x4 both[2] = {m, m};
    d[i].m += both[i & 1];
    d[i].m *= 2;
    d[i].m = transpose(d[i].m);
    d[i].m.columns[2] = 1;
    *(threadgroup half2x4 *)t = (half2x4)(*(device float2x4 *)d);
}
