// SPDX-License-Identifier: Apache-2.0
// Traits, limits, functions in constant expressions, arrays, uniform values, and that every header of
// the library exists.
#include <metal_array>
#include <metal_atomic>
#include <metal_common>
#include <metal_compute>
#include <metal_config>
#include <metal_extended_vector>
#include <metal_geometric>
#include <metal_initializer_list>
#include <metal_integer>
#include <metal_limits>
#include <metal_logging>
#include <metal_math>
#include <metal_matrix>
#include <metal_numeric>
#include <metal_pack>
#include <metal_quadgroup>
#include <metal_relational>
#include <metal_simdgroup>
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
#include <metal_type_traits>
#include <metal_types>
#include <metal_uniform>
#include <metal_utility>
#include <simd/simd.h>
using namespace metal;
static_assert(__METAL_VERSION__ >= 100 && __HAVE_BFLOAT__);

// ---- traits
static_assert(is_integral_v<int> && is_integral<int4>::value && is_integral_v<bool> && !is_integral_v<half>);
static_assert(is_floating_point_v<half> && is_floating_point_v<bfloat> && is_floating_point<float2>::value);
static_assert(is_signed_v<char> && is_unsigned_v<ushort> && is_arithmetic_v<bfloat> && is_scalar_v<float>);
static_assert(!is_scalar_v<float2> && is_vector_v<float2> && is_matrix_v<float2x2> && is_enum_v<mem_flags>);
static_assert(is_same_v<remove_cv_t<const volatile int>, int> && is_same_v<decay_t<const float4 &>, float4>);
static_assert(is_same_v<remove_addrspace_t<device int>, int> && is_same_v<remove_pointer_t<device int *>, device int>);
static_assert(is_same_v<make_signed_t<uint>, int> && is_same_v<make_unsigned<char3>::type, uchar3>);
static_assert(is_same_v<conditional_t<true, int, float>, int> && is_same_v<common_type_t<int, float>, float>);
static_assert(is_same_v<enable_if_t<true, half>, half> && is_convertible_v<int, float> && is_pointer_v<thread int *>);
static_assert(conjunction_v<true_type, true_type> && !disjunction_v<false_type> && negation_v<false_type>);
static_assert(is_base_of_v<true_type, is_integral<int>> && integral_constant<int, 3>::value == 3);
static_assert(rank_v<int[2][3]> == 2 && extent_v<int[2][3], 1> == 3 && alignment_of_v<float3> == 16);
static_assert(index_sequence_for<int, float>::size() == 2 && is_same_v<make_scalar_t<float4>, float>);
struct Empty {};
static_assert(is_class_v<Empty> && is_trivially_copyable_v<float4> && is_trivial_v<packed_half3>);

// ---- limits
static_assert(numeric_limits<int>::max() == INT_MAX && numeric_limits<int>::min() == INT_MIN && INT_MIN < 0);
static_assert(numeric_limits<char>::lowest() == -128 && numeric_limits<uchar>::max() == UCHAR_MAX);
static_assert(numeric_limits<short>::digits == 15 && numeric_limits<ulong>::max() == ULONG_MAX);
static_assert(numeric_limits<long>::min() == LONG_MIN && numeric_limits<bool>::max() && LONG_MIN < 0);
static_assert(numeric_limits<float>::max() == FLT_MAX && numeric_limits<float>::epsilon() == FLT_EPSILON);
static_assert(numeric_limits<float>::denorm_min() > 0 && numeric_limits<float>::min() == FLT_MIN);
static_assert(numeric_limits<half>::max() == 65504.0h && numeric_limits<half>::epsilon() == 0.0009765625h);
static_assert(numeric_limits<half>::denorm_min() == HALF_MIN * HALF_EPSILON && HALF_MAX == MAXHALF);
static_assert(float(numeric_limits<bfloat>::max()) == 0x1.fep127f && numeric_limits<bfloat>::digits == 8);
static_assert(numeric_limits<float>::infinity() == INFINITY && isnan(numeric_limits<half>::quiet_NaN()));
static_assert(numeric_limits<const float>::is_iec559 && !numeric_limits<Empty>::is_specialized);
static_assert(M_PI_F > 3.14159f && M_PI_H == 3.14h && M_SQRT2_F * M_SQRT2_F > 1.9999f && CHAR_BIT == 8);

// ---- functions as constants
static_assert(clz(1) == 31 && clz((uchar)0) == 8 && ctz(8u) == 3 && popcount(255) == 8 && abs(-3) == 3);
static_assert(mulhi(0x40000000, 8) == 2 && mulhi(~0ul, ~0ul) == ~0ul - 1 && mulhi(-1l, 1l) == -1);
static_assert(madsat(INT_MAX, 2, 0) == INT_MAX && madsat(LONG_MIN, 2l, 0l) == LONG_MIN);
static_assert(all(absdiff(int2(INT_MIN, 5), int2(INT_MAX, 7)) == uint2(~0u, 2)));
static_assert(extract_bits(0xf0, 4, 4) == -1 && insert_bits(0u, 7u, 3, 2) == 24u && rotate(1, 33) == 2);
static_assert(all(max(int3(1, 2, 3), 2) == int3(2, 2, 3)) && all(clamp(int2(5, -5), 0, 3) == int2(3, 0)));
static_assert(isnan(NAN) && isinf(-INFINITY) && signbit(-0.0f) && isnormal(1.0h) && !isnormal(1e-40f));
static_assert(dot(float3(1, 2, 3), float3(1)) == 6 && all(cross(float3(1, 0, 0), float3(0, 1, 0)) == float3(0, 0, 1)));
static_assert(saturate(2.0f) == 1 && sign(-2.0h) == -1 && step(1.0f, 2.0f) == 1 && mix(0.0f, 2.0f, 0.5f) == 1);
static_assert(all(select(int2(1), int2(2), bool2(true, false)) == int2(2, 1)) && all(not bool2(false)));
constexpr constant float3x3 M = float3x3(1, 2, 3, 4, 5, 6, 7, 8, 10);
static_assert(determinant(M) == -3 && M[1][2] == 6 && transpose(M)[2][1] == 6);
static_assert(all(M * float3(1, 0, 0) == float3(1, 2, 3)) && all(float3(1, 0, 0) * M == float3(1, 4, 7)));
static_assert(M + M == M * 2 && float2x2(1) == float2x2(float2(1, 0), float2(0, 1)) && -M != M);
static_assert(half2x2(float2x2(2))[1][1] == 2.0h && determinant(float4x4(2)) == 16);
template <int N> struct Sized { float data[N]; };
static_assert(sizeof(Sized<max(3, 4) + popcount(7u)>) == 28); // as template arguments

// ---- array, array_ref, uniform, utilities
constexpr constant array<int, 3> numbers = {1, 2, 3};
static_assert(numbers[2] == 3 && numbers.size() == 3 && !numbers.empty() && sizeof(numbers) == 12);
struct Holder { array<float4, 2> v; array<array<int, 2>, 2> nested; };
float sum(array_ref<float> a) {
    float s = 0;
    for (size_t i = 0; i < a.size(); i++) s += a[i];
    return s;
}
kernel void uses(device Holder *h, constant Holder &c, device float *o, uint i [[thread_position_in_grid]]) {
    h[i].v[1] = c.v[0] + h[i].nested[1][0];
    device float4 *p = &h[i].v[0];
    p->x = 1;
    array<float, 4> local = {1, 2, 3, 4};
    thread float *q = &local[1];
    *q = 7;
    for (float x : local) o[i] += x;
    o[i] += sum(local) + sum(make_array_ref(q, 2));
    uniform<int> u = make_uniform(3);
    uniform<int> w = u * u + make_uniform(1);
    int plain = w + (int)i;
    o[plain] = max(plain, 2);
    float a = 1, b = 2;
    swap(a, b);
    swap(o[0], o[1]);
    o[i] = a + vec<float, 8>(1.0f)[3];
    auto f = [=](float x) { return x * a; };
    o[i] = f(2);
    initializer_list<int> l = {1, 2, 3};
    for (int x : l) o[i] += x;
    threadgroup array<float, 8> shared;
    shared[i] = o[i];
}
