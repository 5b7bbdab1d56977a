// SPDX-License-Identifier: Apache-2.0
// <simd/simd.h> in C++: the names of namespace simd, constructors and operators.
#include "check.h"
#include <simd/simd.h>

using namespace simd;

int main() {
    const float3 a = {3, 0, 4};
    CHECK(simd::length(a) == 5 && simd::dot(a, a) == 25);
    CHECK(simd::equal(simd::cross(float3{1, 0, 0}, float3{0, 1, 0}), float3{0, 0, 1}));
    CHECK(simd::equal(simd::max(a, float3{1, 1, 1}), float3{3, 1, 4}) && simd::all(a >= 0));
    CHECK(simd::fabs(simd::sin(float2{0.5f, -0.5f}).y + std::sin(0.5f)) < 1e-6f);
    float4x4 m((float4){1, 2, 3, 4}, (float4){5, 6, 7, 8}, (float4){9, 1, 2, 3},
               (float4){4, 5, 6, 8});
    CHECK(m[1][2] == 7 && (m * 2.0f)[3][3] == 16 && (m + m == 2.0f * m) && m != -m);
    CHECK(almost_equal_elements(m * inverse(m), float4x4(1.0f), 1e-3f));
    CHECK(simd::equal(m * float4{0, 1, 0, 0}, m[1]) && transpose(transpose(m)) == m);
    m *= float4x4(float4{1, 0, 0, 0}, float4{0, 1, 0, 0}, float4{0, 0, 1, 0}, float4{0, 0, 0, 1});
    m[0].x = 42;
    CHECK(m.columns[0].x == 42);
    const float3x2 wide(float2{1, 2}, float2{3, 4}, float2{5, 6});
    CHECK((wide * float2x3(float3{1, 0, 0}, float3{0, 0, 1}))[1].y == 6);
    ::simd_float4x4 plain = m; // both ways, as programs pass them on
    CHECK(float4x4(plain) == m);
    const quatf q((float)M_PI_2, float3{0, 0, 1});
    CHECK(simd::distance(q * float3{1, 0, 0}, float3{0, 1, 0}) < 1e-6f);
    return check_result();
}
