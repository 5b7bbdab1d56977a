// Structures that are aggregates by the rule of C++14 and C++17, and what a program can ask about its language.
#include <metal_stdlib>
using namespace metal;
// ==== 3.2 the language of Metal 3 is C++14's
static_assert(__cplusplus == 201402L, "C++14");
// ==== 4.0 that of Metal 4 is C++17's
static_assert(__cplusplus == 201703L, "C++17");
// ==== constructors that are all defaulted leave an aggregate
struct A { uint i; float v; constexpr A() = default; };
struct B { uint i; float v; constexpr B() threadgroup = default; };
struct C { public: C() = default; C(const thread C &) = default; inline constexpr C(thread C &&) = default; uint i; float v; };
template <typename T> struct alignas(8) D { uint i; T v; constexpr D<T>() threadgroup = default; D() thread = default; };
template <typename T> struct D<T *> { T v; D() = default; };
struct E : A { float w; E() = default; };
class F { public: F() = default; float v; ~F() = default; };
kernel void k(device float *o, device D<float> *d, threadgroup B *b) {
    o[0] = A{1u, 2.0f}.v + C{1u, 2.0f}.v + D<float>{1u, 2.0f}.v + E{{1u, 2.0f}, 3.0f}.w;
    *d = D<float>{.i = 1u, .v = 3.0f};
    *b = B{1u, 2.0f};
    A all[] = {{1u, 2.0f}, {3u, 4.0f}}, none;
    none = all[1];
    C copy = C(C{5u, 6.0f});
    o[1] = none.v + copy.v + b->v + F{7.0f}.v;
}
// ==== other constructors still count
struct G { uint i; float v; G() = default; G(uint n) : i(n), v(2.0f) {} };
struct H { float v; explicit H() = default; H(float x) { v = x; } };
struct I { struct J { uint i; J() = default; }; J j; float v; I() { v = 1.0f; } };
kernel void k(device float *o) { G g, h = G{3u}; o[0] = g.v + h.v + H(3.0f).v + I::J{4u}.i + I().v; }
// ==== names of Apple's headers that programs use
struct Indexed { uint i; float v; };
template <> struct metal::_numeric_limits_impl<Indexed> {
    static constexpr METAL_FUNC Indexed lowest() { return Indexed{0, numeric_limits<float>::lowest()}; }
};
static_assert(vec_elements<float4>::value == 4 && vec_elements<half2>::value == 2 && vec_elements<int>::value == 0, "");
static_assert(__is_valid_simdgroup_type<float>::value && __is_valid_simdgroup_type<ushort3>::value, "");
static_assert(!__is_valid_simdgroup_type<long>::value && !__is_valid_simdgroup_type<bfloat>::value, "");
static_assert(!__is_valid_simdgroup_type<Indexed>::value, "");
kernel void k(device float *o) { o[0] = numeric_limits<Indexed>::lowest().v; }
