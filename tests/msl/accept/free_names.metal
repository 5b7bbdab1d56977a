// The names of namespace metal, of the C library and of the dialect underneath are free for the user.
#include <metal_stdlib>
// no using namespace: the names of namespace metal are free
float dot(metal::float3 a, metal::float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
float length(metal::float2 v) { return v.x; }
template <typename T> T clamp(T x, T lo, T hi) { return x < lo ? lo : x > hi ? hi : x; }
template <typename T> struct array { T v[3]; };
struct matrix { float m[9]; };
struct vec { float x; };
struct atomic { int a; };
int select(int a, int b, bool c) { return c ? b : a; }
float erf(float x) { return x; }
float erfinv(float x) { return x; }
float expm1f(float x) { return x; }
float lgamma(float x) { return x; }
float tgamma(float x) { return x; }
float sinf(float x) { return x; }
int abs(int x) { return x < 0 ? -x : x; }
int strlen(constant char *s) { int n = 0; while (s[n]) n++; return n; }
void memcpy(device char *d, constant char *s, int n) { for (int i = 0; i < n; i++) d[i] = s[i]; }
int get_global_id(int x) { return x; }
int printf(int x) { return x; }
float isnan(float x) { return x != x; }
namespace simd { int local(int x) { return x; } }
struct global { int local; int generic; int pipe; int uniform; int read_only; int vec_step; int channel; int image2d_t; int sampler_t; int event_t; int queue_t; };
int mad(int a, int b, int c) { return a * b + c; }
int barrier(int x) { return x; }
typedef unsigned int uint;
typedef unsigned char byte;
using float4_t = metal::float4;
constant char msg[] = "hi";
kernel void k(device float *o [[ buffer(0) ]], device char *c [[ buffer( 1 ) ]], uint tid [[ thread_position_in_grid ]]) {
  global g = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  vec v{1}; matrix m; m.m[0] = v.x; array<float> a; a.v[0] = 1; atomic at{3};
  int local = 3, generic = 4, pipe = 5, uniform = 6, channel = 7, image = 8;
  memcpy(c, msg, strlen(msg));
  o[tid] = dot(metal::float3(1), metal::float3(2)) + length(metal::float2(1)) + clamp(1.0f, 2.0f, 3.0f) + m.m[0] + a.v[0] + at.a + select(1, 2, true) + erf(1) + erfinv(1) + expm1f(1) + lgamma(1) + tgamma(1) + sinf(1) + abs(-1) + get_global_id(0) + printf(3) + isnan(1) + simd::local(3) + g.local + mad(1, 2, 3) + barrier(1) + local + generic + pipe + uniform + channel + image;
}
