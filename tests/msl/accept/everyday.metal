// Everyday shader arithmetic: mixed literals, scalars against vectors, own helpers beside metal's.
#include <metal_stdlib>
using namespace metal;
template <typename T> METAL_FUNC T erf(T in) { return in; }
float erfinv(float x) { return x; }
float expm1f(float x) { return x; }
template <typename T> T sum(T a, T b) { return a + b; }
template <typename T> T log1p(T x) { return log(1 + x); }
float log1p(float x) { return x; }
int gcd(int a, int b) { return a; }
float lerp(float a, float b, float t) { return mix(a, b, t); }
float sigmoid(float x) { return 1.0 / (1.0 + exp(-x)); }
float sqr(float x) { return x * x; }
float4 unpack(uint x) { return unpack_unorm4x8_to_float(x); }
float rand(uint s) { return s; }
float3 hsv(float3 c) { return c; }
float hash(float2 p) { return fract(sin(dot(p, float2(12.9898, 78.233))) * 43758.5453); }
struct ray { float3 o, d; };
struct interval { float lo, hi; };
struct simdgroup { int x; };
kernel void k(device float *o, uint2 id [[thread_position_in_grid]]) {
  o[0] = erf(1.0f) + erfinv(1) + expm1f(1) + sum(1.0f, 2.0f) + log1p(1.0f) + log1p(1.0h) + gcd(1, 2) + lerp(1, 2, 0.5) + sigmoid(1) + sqr(2) + unpack(3).x + rand(1) + hsv(1).x + hash(float2(id));
  float2 uv = (float2(id) + 0.5) / 512.0; 
  float3 col = 0.5 + 0.5 * cos(uv.xyx * 6.28 + float3(0, 2, 4));
  col = pow(col, 2.2); col = mix(col, float3(1), 0.5); col *= 1.0 - 0.3 * length(uv - 0.5); col = clamp(col, 0.0, 1.0); col = max(col, 0.0); col = step(0.5, col); col = smoothstep(0.0, 1.0, col); col = fmod(col, 2.0); col = min(col, float3(1.0)); col = select(col, 1.0 - col, col > 0.5);
  o[1] = col.x + abs(-1) + max(1u, 2u) + min(1, 2) + int(floor(1.7)) + round(1.2f) + 1 / 2.0 + 3 % 2;
  float x = 1.0; x += 1e-5; x = x > 0.5 ? 1 : 0; half hh = x; hh = hh * 2.0h; hh += 1; uint u = -1; u >>= 3; int i = u; char ch = 3; ch += 200; ushort s = 70000 & 0xffff; ulong l = 1ul << 40; o[2] = l + s + ch + i + hh; bool b = i && l; o[3] = b ? 1.0 : 0;
  int3 i3 = int3(1, 2, 3); i3 = i3 * 2 + 1; i3 = i3 >> 1; i3 &= 3; i3 = -i3; uint3 u3 = uint3(i3); u3 = ~u3; float3 f3 = float3(i3) / 3; f3 = f3.zyx; f3 = float3(f3.xy, 1); f3.yz = f3.zy; o[4] = f3[1] + u3.z + i3.r;
  float4x4 m = float4x4(1.0); m = m * m; m[3] = float4(1, 2, 3, 4); m = transpose(m); o[5] = determinant(m) + (m * float4(1)).x + (float4(1) * m).y + m[1][2]; m *= 2.0; m = m + m; float3x3 r = float3x3(m[0].xyz, m[1].xyz, m[2].xyz); o[6] = (r * float3(1)).x;
}
