// The C++ that shaders are written in: templates, lambdas, operators, enum classes, local arrays of structs, switches, matrices.
#include <metal_stdlib>
using namespace metal;
namespace noise {
    template <typename T, int N> struct Ring {
        T items[N];
        thread T &at(int i) { return items[(i % N + N) % N]; }
        T sum() const { T s = T(0); for (int i = 0; i < N; i++) s += items[i]; return s; }
    };
    enum class Kind : ushort { plain, twisted = 5 };
    struct Complex {
        float re, im;
        Complex operator*(Complex o) const { return {re * o.re - im * o.im, re * o.im + im * o.re}; }
        Complex operator+(Complex o) const { return {re + o.re, im + o.im}; }
    };
}
template <typename F> static float integrate(F f, float a, float b, int n) {
    float s = 0;
    for (int i = 0; i < n; i++) s += f(a + (b - a) * (float(i) + 0.5f) / float(n));
    return s * (b - a) / float(n);
}
constexpr constant int table[3][2] = {{1, 2}, {3, 4}, {5, 6}};
template <int N> struct Factorial { static constexpr constant int value = N * Factorial<N - 1>::value; };
template <> struct Factorial<0> { static constexpr constant int value = 1; };
vertex float4 zoo_vs(uint i [[vertex_id]]) { return float4(i == 1 ? 3 : -1, i == 2 ? 3 : -1, 0, 1); }
struct Targets { float4 a [[color(0)]]; float4 b [[color(1)]]; };
fragment Targets zoo_fs(float4 p [[position]], constant float4x4 &m [[buffer(0)]]) {
    int x = int(p.x), y = int(p.y);
    noise::Ring<float, 5> ring;
    for (int i = 0; i < 5; i++) ring.at(i + x) = float(i * i);
    noise::Complex z = {0.1f * float(x) / 32, 0.2f}, c = {0.3f, 0.1f * float(y) / 32};
    for (int i = 0; i < 6; i++) z = z * z + c;
    auto square = [=](float t) { return t * t + float(y); };
    noise::Kind kind = x & 1 ? noise::Kind::twisted : noise::Kind::plain;
    float k = 0;
    do { k += kind == noise::Kind::twisted ? 2 : 1; if (k > 20) break; else continue; } while (k < float(y));
    float3x3 r = float3x3(m[0].xyz, m[1].xyz, m[2].xyz);
    float3 v = transpose(r) * (float3(x, y, 1) * r);
    Targets o;
    o.a = float4(ring.at(-1) + ring.sum() * 100, z.re, z.im, integrate(square, 0, 3, 30));
    o.b = float4(k + float(table[y % 3][x & 1]) * 100, determinant(m), v.x + v.y * 0.5f, float(Factorial<5>::value) + float(as_type<uint>(1.0f) >> 23));
    return o;
}
