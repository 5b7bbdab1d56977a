// SPIRV-Cross for MoltenVK: image views with swizzles done in the shader, gathers of a component.
#pragma clang diagnostic ignored "-Wmissing-prototypes"
#include <metal_stdlib>
#include <simd/simd.h>
using namespace metal;

template<typename T> struct spvRemoveReference { typedef T type; };
template<typename T> struct spvRemoveReference<thread T&> { typedef T type; };
template<typename T> struct spvRemoveReference<thread T&&> { typedef T type; };
template<typename T> inline constexpr thread T&& spvForward(thread typename spvRemoveReference<T>::type& x) { return static_cast<thread T&&>(x); }
template<typename T> inline constexpr thread T&& spvForward(thread typename spvRemoveReference<T>::type&& x) { return static_cast<thread T&&>(x); }

enum class spvSwizzle : uint { none = 0, zero, one, red, green, blue, alpha };

template<typename T> inline T spvGetSwizzle(vec<T, 4> x, T c, spvSwizzle s) {
    switch (s) {
        case spvSwizzle::none: return c;
        case spvSwizzle::zero: return 0;
        case spvSwizzle::one: return 1;
        case spvSwizzle::red: return x.r;
        case spvSwizzle::green: return x.g;
        case spvSwizzle::blue: return x.b;
        case spvSwizzle::alpha: return x.a;
    }
}
template<typename T> inline vec<T, 4> spvTextureSwizzle(vec<T, 4> x, uint s) {
    if (!s) return x;
    return vec<T, 4>(spvGetSwizzle(x, x.r, spvSwizzle((s >> 0) & 0xFF)), spvGetSwizzle(x, x.g, spvSwizzle((s >> 8) & 0xFF)), spvGetSwizzle(x, x.b, spvSwizzle((s >> 16) & 0xFF)), spvGetSwizzle(x, x.a, spvSwizzle((s >> 24) & 0xFF)));
}
template<typename T, template<typename, access = access::sample, typename = void> class Tex, typename... Ts>
inline vec<T, 4> spvGatherSwizzle(const thread Tex<T>& t, sampler s, uint sw, component c, Ts... params) METAL_CONST_ARG(c) {
    if (sw) {
        switch (spvSwizzle((sw >> (uint(c) * 8)) & 0xFF)) {
            case spvSwizzle::none: break;
            case spvSwizzle::zero: return vec<T, 4>(0, 0, 0, 0);
            case spvSwizzle::one: return vec<T, 4>(1, 1, 1, 1);
            case spvSwizzle::red: return t.gather(s, spvForward<Ts>(params)..., component::x);
            case spvSwizzle::green: return t.gather(s, spvForward<Ts>(params)..., component::y);
            case spvSwizzle::blue: return t.gather(s, spvForward<Ts>(params)..., component::z);
            case spvSwizzle::alpha: return t.gather(s, spvForward<Ts>(params)..., component::w);
        }
    }
    switch (c) {
        case component::x: return t.gather(s, spvForward<Ts>(params)..., component::x);
        case component::y: return t.gather(s, spvForward<Ts>(params)..., component::y);
        case component::z: return t.gather(s, spvForward<Ts>(params)..., component::z);
        case component::w: return t.gather(s, spvForward<Ts>(params)..., component::w);
    }
}
struct v_out { float2 uv [[user(locn0)]]; float4 gl_Position [[position]]; };
vertex v_out vmain(uint gl_VertexIndex [[vertex_id]]) {
    v_out out = {};
    out.uv = float2(float((int(gl_VertexIndex) << 1) & 2), float(int(gl_VertexIndex) & 2));
    out.gl_Position = float4(out.uv * 2.0 - 1.0, 0.0, 1.0);
    out.gl_Position.y = -(out.gl_Position.y); // Invert Y-axis for Metal
    return out;
}
struct f_in { float2 uv [[user(locn0)]]; };
struct f_out { float4 a [[color(0)]]; float4 b [[color(1)]]; };
fragment f_out fmain(f_in in [[stage_in]], constant uint* spvSwizzleConstants [[buffer(30)]], texture2d<float> tex [[texture(0)]], sampler texSmplr [[sampler(0)]]) {
    f_out out = {};
    constant uint& texSwzl = spvSwizzleConstants[0];
    out.a = spvTextureSwizzle(tex.sample(texSmplr, in.uv, level(0.0)), texSwzl);
    out.b = spvGatherSwizzle<float, metal::texture2d, float2, int2>(tex, texSmplr, texSwzl, component::y, in.uv, int2(1, 0));
    return out;
}
