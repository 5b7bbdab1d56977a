// SPDX-License-Identifier: Apache-2.0
// <simd/simd.h> as C has it: layouts as shaders have them, and values against sums written out
// here.
#include "check.h"
#include <simd/simd.h>

_Static_assert(sizeof(simd_float3) == 16 && sizeof(simd_packed_float2) == 8 &&
                   sizeof(simd_uchar4) == 4,
               "vectors");
_Static_assert(sizeof(matrix_float3x3) == 48 && sizeof(simd_float4x2) == 32 &&
                   sizeof(simd_half3x3) == 24,
               "matrices");
_Static_assert(_Alignof(simd_packed_float4) == 4 && _Alignof(simd_float4) == 16, "alignment");

static bool near(double a, double b) { return fabs(a - b) <= 1e-5 * (1 + fabs(b)); }

static float at(uint32_t *seed) { // -2 to 2
    *seed = *seed * 1664525u + 1013904223u;
    return (float)(*seed >> 8) / (1 << 22) - 2;
}

static void vectors(void) {
    const simd_float3 a = {1, 2, 3}, b = {-4, 5, 0.5f};
    CHECK(simd_dot(a, b) == 7.5f && vector_dot(a, b) == 7.5f);
    CHECK(simd_equal(simd_cross(a, b),
                     (simd_float3){2 * 0.5f - 3 * 5, 3 * -4 - 1 * 0.5f, 1 * 5 - 2 * -4}));
    CHECK(near(vector_length(a), sqrt(14.0)) && near(simd_length(simd_normalize(b)), 1));
    CHECK(simd_equal(simd_make_float4(a, 1), (simd_float4){1, 2, 3, 1}));
    CHECK(simd_equal(simd_make_float4(a), (simd_float4){1, 2, 3, 0}));
    CHECK(simd_equal(simd_make_float2(a), (simd_float2){1, 2}));
    CHECK(simd_equal(vector4(a, 9.0f), (simd_float4){1, 2, 3, 9}));
    CHECK(simd_equal(simd_clamp(b, -1, 1), (simd_float3){-1, 1, 0.5f}));
    CHECK(simd_equal(simd_select(a, b, a > 1.5f), (simd_float3){1, 5, 0.5f}));
    CHECK(simd_all(a > 0) && !simd_all(b > 0) && simd_any(b > 0) && !simd_any(b > 9));
    CHECK(simd_reduce_add(b) == 1.5f && simd_reduce_max(b) == 5 && simd_reduce_min(b) == -4);
    CHECK(simd_equal(simd_sign(b), (simd_float3){-1, 1, 1}) && simd_fract(-0x1p-30f) < 1);
    CHECK(simd_equal(simd_reflect(a, (simd_float3){0, 1, 0}), (simd_float3){1, -2, 3}));
    CHECK(simd_equal(simd_int((simd_float4){1.9f, -1.9f, 0, 7}), (simd_int4){1, -1, 0, 7}));
    CHECK(
        simd_equal(simd_uchar_sat((simd_float4){-3, 300, 12.7f, 0}), (simd_uchar4){0, 255, 12, 0}));
    CHECK(
        simd_equal(simd_int_sat((simd_float2){1e30f, -1e30f}), (simd_int2){INT32_MAX, INT32_MIN}));
    CHECK(simd_equal(simd_short_sat((simd_uint2){70000, 5}), (simd_short2){INT16_MAX, 5}));
    const simd_float3 two = {2, 2, 2}, s = sin(a), p = pow(a, two);
    CHECK(near(s.y, sin(2.0)) && near(p.z, 9) && sin(1.0) == __builtin_sin(1.0));
    const simd_double2 y = {1, -1}, x = {1, 2};
    CHECK(near(atan2(y, x).y, atan2(-1.0, 2.0)));
}

static void matrices(void) {
    uint32_t seed = 1;
    for (int round = 0; round < 50; round++) {
        simd_float4x4 m;
        simd_float3x4 n; // three columns of four
        for (int c = 0; c < 4; c++)
            for (int r = 0; r < 4; r++) m.columns[c][r] = at(&seed) + 4 * (c == r);
        for (int c = 0; c < 3; c++)
            for (int r = 0; r < 4; r++) n.columns[c][r] = at(&seed);
        const simd_float3x4 product = simd_mul(m, n);
        for (int c = 0; c < 3; c++)
            for (int r = 0; r < 4; r++) {
                float sum = 0;
                for (int k = 0; k < 4; k++) sum += m.columns[k][r] * n.columns[c][k];
                CHECK(near(product.columns[c][r], sum));
                CHECK(simd_transpose(n).columns[r][c] == n.columns[c][r]);
            }
        const simd_float4 v = {at(&seed), at(&seed), at(&seed), at(&seed)};
        CHECK(simd_distance(simd_mul(v, m), simd_mul(simd_transpose(m), v)) < 1e-4f);
        CHECK(simd_almost_equal_elements(simd_mul(m, simd_inverse(m)), matrix_identity_float4x4,
                                         1e-4f));
        const simd_float3x3 q = {{m.columns[0].xyz, m.columns[1].xyz, m.columns[2].xyz}};
        CHECK(simd_almost_equal_elements(matrix_multiply(matrix_invert(q), q),
                                         matrix_identity_float3x3, 1e-4f));
        const simd_double2x2 d = {{{m.columns[0].x, 1}, {2, 5}}};
        CHECK(simd_almost_equal_elements(simd_mul(d, simd_inverse(d)), matrix_identity_double2x2,
                                         1e-9));
        CHECK(fabsf(simd_determinant(simd_mul(q, q)) - simd_determinant(q) * simd_determinant(q)) <
              1e-3f * (1 + simd_determinant(q) * simd_determinant(q)));
    }
    const simd_float3x2 rows =
        simd_matrix_from_rows((simd_float3){1, 2, 3}, (simd_float3){4, 5, 6});
    CHECK(simd_equal(rows.columns[1], (simd_float2){2, 5}));
    CHECK(simd_trace(simd_diagonal_matrix((simd_float3){1, 2, 4})) == 7);
}

static void quaternions(void) {
    const simd_float3 x = {1, 0, 0}, y = {0, 1, 0}, z = {0, 0, 1};
    const simd_quatf turn = simd_quaternion((float)M_PI_2, z);
    CHECK(simd_distance(simd_act(turn, x), y) < 1e-6f);
    CHECK(simd_distance(simd_mul(simd_matrix3x3(turn), x), y) < 1e-6f);
    CHECK(near(simd_angle(turn), M_PI_2) && simd_distance(simd_axis(turn), z) < 1e-6f);
    uint32_t seed = 7;
    for (int i = 0; i < 50; i++) {
        const simd_float3 a = simd_normalize((simd_float3){at(&seed), at(&seed), at(&seed)});
        const simd_float3 b = simd_normalize((simd_float3){at(&seed), at(&seed), at(&seed)});
        const simd_quatf q = simd_quaternion(a, b);
        CHECK(simd_distance(simd_act(q, a), b) < 1e-5f);
        CHECK(simd_distance(simd_act(simd_quaternion(a, -a), a), -a) < 1e-5f);
        const simd_quatf back = simd_quaternion(simd_matrix4x4(q));
        CHECK(fabsf(simd_dot(back, q)) > 1 - 1e-5f);
        const simd_quatf half_way = simd_slerp(simd_quaternion(0, x), q, 0.5f);
        CHECK(fabsf(simd_dot(simd_mul(half_way, half_way), q)) > 1 - 1e-5f);
        CHECK(fabsf(simd_dot(simd_exp(simd_log(q)), q)) > 1 - 1e-5f);
        CHECK(simd_distance(simd_act(simd_mul(q, simd_inverse(q)), b), b) < 1e-5f);
    }
}

int main(void) {
    vectors();
    matrices();
    quaternions();
    return check_result();
}
