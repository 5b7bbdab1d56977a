// SPDX-License-Identifier: Apache-2.0
// simd/quaternion.h: quaternions, simd_quatf and simd_quatd: the vector holds i, j, k and the real
// part last.
#ifndef INGOT_MAC_SIMD_QUATERNION_H
#define INGOT_MAC_SIMD_QUATERNION_H
#include "matrix.h"

typedef struct {
    simd_half4 vector;
} simd_quath;
typedef struct {
    simd_float4 vector;
} simd_quatf;
typedef struct {
    simd_double4 vector;
} simd_quatd;

#define __SIMD_Q static inline SIMD_CFUNC
#define __SIMD_QUATERNION(t, Q, f)                                                                 \
    __SIMD_Q Q simd_quaternion(simd_##t##1 ix, simd_##t##1 iy, simd_##t##1 iz, simd_##t##1 r) {    \
        return (Q){{ix, iy, iz, r}};                                                               \
    }                                                                                              \
    __SIMD_Q Q simd_quaternion(simd_##t##4 xyzr) { return (Q){xyzr}; }                             \
    __SIMD_Q simd_##t##1 simd_real(Q q) { return q.vector.w; }                                     \
    __SIMD_Q simd_##t##3 simd_imag(Q q) { return q.vector.xyz; }                                   \
    __SIMD_Q simd_##t##1 simd_dot(Q p, Q q) { return simd_dot(p.vector, q.vector); }               \
    __SIMD_Q simd_##t##1 simd_length(Q q) { return simd_length(q.vector); }                        \
    __SIMD_Q Q simd_normalize(Q q) {                                                               \
        return simd_length_squared(q.vector) == 0 ? (Q){{0, 0, 0, 1}}                              \
                                                  : (Q){simd_normalize(q.vector)};                 \
    }                                                                                              \
    __SIMD_Q Q simd_conjugate(Q q) { return (Q){q.vector * (simd_##t##4){-1, -1, -1, 1}}; }        \
    __SIMD_Q Q simd_inverse(Q q) {                                                                 \
        return (Q){simd_conjugate(q).vector / simd_length_squared(q.vector)};                      \
    }                                                                                              \
    __SIMD_Q Q simd_negate(Q q) { return (Q){-q.vector}; }                                         \
    __SIMD_Q Q simd_add(Q p, Q q) { return (Q){p.vector + q.vector}; }                             \
    __SIMD_Q Q simd_sub(Q p, Q q) { return (Q){p.vector - q.vector}; }                             \
    __SIMD_Q Q simd_mul(Q q, simd_##t##1 a) { return (Q){a * q.vector}; }                          \
    __SIMD_Q Q simd_mul(simd_##t##1 a, Q q) { return (Q){a * q.vector}; }                          \
    __SIMD_Q Q simd_mul(Q p, Q q) {                                                                \
        const simd_##t##4 a = p.vector, b = q.vector;                                              \
        return (Q){{a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,                                 \
                    a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,                                 \
                    a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,                                 \
                    a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z}};                               \
    }                                                                                              \
    __SIMD_Q simd_##t##1 simd_angle(Q q) {                                                         \
        return 2 * (simd_##t##1)__builtin_atan2##f(simd_length(q.vector.xyz), q.vector.w);         \
    }                                                                                              \
    __SIMD_Q simd_##t##3 simd_axis(Q q) { return simd_normalize(q.vector.xyz); }                   \
    __SIMD_Q Q simd_quaternion(simd_##t##1 angle, simd_##t##3 axis) {                              \
        const simd_##t##3 i = (simd_##t##1)__builtin_sin##f(angle / 2) * axis;                     \
        return (Q){{i.x, i.y, i.z, (simd_##t##1)__builtin_cos##f(angle / 2)}};                     \
    }                                                                                              \
    /* the shortest turn from one unit vector to another, by the vector half way between */        \
    __SIMD_Q Q __simd_turn(simd_##t##3 from, simd_##t##3 to) {                                     \
        const simd_##t##3 half_way = simd_normalize(from + to), i = simd_cross(from, half_way);    \
        return (Q){{i.x, i.y, i.z, simd_dot(from, half_way)}};                                     \
    }                                                                                              \
    __SIMD_Q Q simd_quaternion(simd_##t##3 from, simd_##t##3 to) {                                 \
        if (simd_dot(from, to) >= 0) return __simd_turn(from, to);                                 \
        const simd_##t##3 sum = from + to;                                                         \
        if (simd_length_squared(sum) >                                                             \
            0) { /* a wide turn in two narrow ones, each of them exact */                          \
            const simd_##t##3 middle = simd_normalize(sum);                                        \
            return simd_mul(__simd_turn(middle, to), __simd_turn(from, middle));                   \
        }                                                                                          \
        /* half a turn about any axis across */                                                    \
        const simd_##t##3 size = simd_abs(from);                                                   \
        const simd_##t##3 other = size.x <= size.y && size.x <= size.z ? (simd_##t##3){1, 0, 0}    \
                                  : size.y <= size.z                   ? (simd_##t##3){0, 1, 0}    \
                                                                       : (simd_##t##3){0, 0, 1};   \
        const simd_##t##3 i = simd_normalize(simd_cross(from, other));                             \
        return (Q){{i.x, i.y, i.z, 0}};                                                            \
    }                                                                                              \
    /* by the largest of the four parts, so that nothing small is divided by */                    \
    __SIMD_Q Q simd_quaternion(simd_##t##3x3 m) {                                                  \
        const simd_##t##3 *c = m.columns;                                                          \
        const simd_##t##1 xx = c[0].x, yy = c[1].y, zz = c[2].z;                                   \
        simd_##t##4 v;                                                                             \
        if (xx + yy + zz >= 0)                                                                     \
            v = (simd_##t##4){c[1].z - c[2].y, c[2].x - c[0].z, c[0].y - c[1].x,                   \
                              1 + xx + yy + zz};                                                   \
        else if (xx >= yy && xx >= zz)                                                             \
            v = (simd_##t##4){1 + xx - yy - zz, c[1].x + c[0].y, c[2].x + c[0].z,                  \
                              c[1].z - c[2].y};                                                    \
        else if (yy >= zz)                                                                         \
            v = (simd_##t##4){c[1].x + c[0].y, 1 - xx + yy - zz, c[2].y + c[1].z,                  \
                              c[2].x - c[0].z};                                                    \
        else                                                                                       \
            v = (simd_##t##4){c[2].x + c[0].z, c[2].y + c[1].z, 1 - xx - yy + zz,                  \
                              c[0].y - c[1].x};                                                    \
        return (Q){simd_normalize(v)};                                                             \
    }                                                                                              \
    __SIMD_Q Q simd_quaternion(simd_##t##4x4 m) {                                                  \
        return simd_quaternion(                                                                    \
            (simd_##t##3x3){{m.columns[0].xyz, m.columns[1].xyz, m.columns[2].xyz}});              \
    }                                                                                              \
    __SIMD_Q simd_##t##3x3 simd_matrix3x3(Q q) {                                                   \
        const simd_##t##4 r = q.vector;                                                            \
        return (simd_##t##3x3){{{1 - 2 * (r.y * r.y + r.z * r.z), 2 * (r.x * r.y + r.z * r.w),     \
                                 2 * (r.x * r.z - r.y * r.w)},                                     \
                                {2 * (r.x * r.y - r.z * r.w), 1 - 2 * (r.z * r.z + r.x * r.x),     \
                                 2 * (r.y * r.z + r.x * r.w)},                                     \
                                {2 * (r.z * r.x + r.y * r.w), 2 * (r.y * r.z - r.x * r.w),         \
                                 1 - 2 * (r.y * r.y + r.x * r.x)}}};                               \
    }                                                                                              \
    __SIMD_Q simd_##t##4x4 simd_matrix4x4(Q q) {                                                   \
        const simd_##t##3x3 m = simd_matrix3x3(q);                                                 \
        return (simd_##t##4x4){{simd_make_##t##4(m.columns[0], 0),                                 \
                                simd_make_##t##4(m.columns[1], 0),                                 \
                                simd_make_##t##4(m.columns[2], 0),                                 \
                                {0, 0, 0, 1}}};                                                    \
    }                                                                                              \
    __SIMD_Q simd_##t##3 simd_act(Q q, simd_##t##3 v) {                                            \
        const simd_##t##3 t2 = 2 * simd_cross(q.vector.xyz, v);                                    \
        return v + q.vector.w * t2 + simd_cross(q.vector.xyz, t2);                                 \
    }                                                                                              \
    __SIMD_Q Q simd_log(Q q) {                                                                     \
        const simd_##t##1 l = simd_length(q.vector.xyz),                                           \
                          a = (simd_##t##1)__builtin_atan2##f(l, q.vector.w);                      \
        const simd_##t##3 i = l > 0 ? a / l * q.vector.xyz : (simd_##t##3)0;                       \
        return (Q){{i.x, i.y, i.z, (simd_##t##1)__builtin_log##f(simd_length(q))}};                \
    }                                                                                              \
    __SIMD_Q Q simd_exp(Q q) {                                                                     \
        const simd_##t##1 a = simd_length(q.vector.xyz),                                           \
                          e = (simd_##t##1)__builtin_exp##f(q.vector.w);                           \
        const simd_##t##3 i =                                                                      \
            a > 0 ? e * (simd_##t##1)__builtin_sin##f(a) / a * q.vector.xyz : (simd_##t##3)0;      \
        return (Q){{i.x, i.y, i.z, e * (simd_##t##1)__builtin_cos##f(a)}};                         \
    }                                                                                              \
    /* along the arc, `longest` the other way round; nearly equal ends are mixed */                \
    __SIMD_Q Q __simd_slerp(Q p, Q q, simd_##t##1 u) {                                             \
        const simd_##t##1 angle =                                                                  \
            2 * (simd_##t##1)__builtin_atan2##f(simd_length(p.vector - q.vector),                  \
                                                simd_length(p.vector + q.vector));                 \
        const simd_##t##1 s = (simd_##t##1)__builtin_sin##f(angle);                                \
        if (!(s > (simd_##t##1)1e-6))                                                              \
            return simd_normalize((Q){simd_mix(p.vector, q.vector, (simd_##t##4)u)});              \
        return simd_normalize((Q){(simd_##t##1)__builtin_sin##f((1 - u) * angle) / s * p.vector +  \
                                  (simd_##t##1)__builtin_sin##f(u * angle) / s * q.vector});       \
    }                                                                                              \
    __SIMD_Q Q simd_slerp(Q p, Q q, simd_##t##1 u) {                                               \
        return simd_dot(p, q) >= 0 ? __simd_slerp(p, q, u) : __simd_slerp(p, simd_negate(q), u);   \
    }                                                                                              \
    __SIMD_Q Q simd_slerp_longest(Q p, Q q, simd_##t##1 u) {                                       \
        return simd_dot(p, q) >= 0 ? __simd_slerp(p, simd_negate(q), u) : __simd_slerp(p, q, u);   \
    }                                                                                              \
    __SIMD_Q Q simd_bezier(Q a, Q b, Q c, Q d, simd_##t##1 u) {                                    \
        const Q ab = simd_slerp(a, b, u), bc = simd_slerp(b, c, u), cd = simd_slerp(c, d, u);      \
        return simd_slerp(simd_slerp(ab, bc, u), simd_slerp(bc, cd, u), u);                        \
    }                                                                                              \
    /* between b and c, with a and d as the neighbours that give the curve its direction there */  \
    __SIMD_Q Q __simd_control(Q a, Q b, Q c) {                                                     \
        const Q i = simd_inverse(b), to = simd_log(simd_mul(i, c)),                                \
                back = simd_log(simd_mul(i, a));                                                   \
        return simd_mul(b, simd_exp((Q){(to.vector + back.vector) / -4}));                         \
    }                                                                                              \
    __SIMD_Q Q simd_spline(Q a, Q b, Q c, Q d, simd_##t##1 u) {                                    \
        const Q s = __simd_control(a, b, c), e = __simd_control(b, c, d);                          \
        return simd_slerp(simd_slerp(b, c, u), simd_slerp(s, e, u), 2 * u * (1 - u));              \
    }
__SIMD_QUATERNION(float, simd_quatf, f)
__SIMD_QUATERNION(double, simd_quatd, )
#undef __SIMD_QUATERNION
#undef __SIMD_Q

#define simd_matrix_from_quaternion simd_matrix4x4

#ifdef __cplusplus
namespace simd {
#define __SIMD_QUATERNION(t, Q, C)                                                                 \
    struct Q : ::C {                                                                               \
        Q() : ::C(::simd_quaternion((t##4){0, 0, 0, 1})) {}                                        \
        Q(::C q) : ::C(q) {}                                                                       \
        Q(t##4 xyzr) : ::C(::simd_quaternion(xyzr)) {}                                             \
        Q(t##1 angle, t##3 axis) : ::C(::simd_quaternion(angle, axis)) {}                          \
        Q(t##1 ix, t##1 iy, t##1 iz, t##1 r) : ::C(::simd_quaternion(ix, iy, iz, r)) {}            \
        Q(t##3 from, t##3 to) : ::C(::simd_quaternion(from, to)) {}                                \
        explicit Q(::simd_##t##3x3 m) : ::C(::simd_quaternion(m)) {}                               \
        explicit Q(::simd_##t##4x4 m) : ::C(::simd_quaternion(m)) {}                               \
        t##1 real() const { return ::simd_real(*this); }                                           \
        t##3 imag() const { return ::simd_imag(*this); }                                           \
        t##1 angle() const { return ::simd_angle(*this); }                                         \
        t##3 axis() const { return ::simd_axis(*this); }                                           \
        t##1 length() const { return ::simd_length(*this); }                                       \
        t##3 operator()(t##3 v) const { return ::simd_act(*this, v); }                             \
    };                                                                                             \
    static inline SIMD_CPPFUNC Q operator+(const Q p, const Q q) { return ::simd_add(p, q); }      \
    static inline SIMD_CPPFUNC Q operator-(const Q p, const Q q) { return ::simd_sub(p, q); }      \
    static inline SIMD_CPPFUNC Q operator-(const Q q) { return ::simd_negate(q); }                 \
    static inline SIMD_CPPFUNC Q operator*(const Q p, const Q q) { return ::simd_mul(p, q); }      \
    static inline SIMD_CPPFUNC Q operator*(const Q q, t##1 a) { return ::simd_mul(q, a); }         \
    static inline SIMD_CPPFUNC Q operator*(t##1 a, const Q q) { return ::simd_mul(a, q); }         \
    static inline SIMD_CPPFUNC t##3 operator*(const Q q, t##3 v) { return ::simd_act(q, v); }      \
    static inline SIMD_CPPFUNC bool operator==(const Q &p, const Q &q) {                           \
        return ::simd_equal(p.vector, q.vector);                                                   \
    }                                                                                              \
    static inline SIMD_CPPFUNC bool operator!=(const Q &p, const Q &q) {                           \
        return !::simd_equal(p.vector, q.vector);                                                  \
    }                                                                                              \
    static inline SIMD_CPPFUNC t##1 dot(const Q p, const Q q) { return ::simd_dot(p, q); }         \
    static inline SIMD_CPPFUNC t##1 length(const Q q) { return ::simd_length(q); }                 \
    static inline SIMD_CPPFUNC Q normalize(const Q q) { return ::simd_normalize(q); }              \
    static inline SIMD_CPPFUNC Q conjugate(const Q q) { return ::simd_conjugate(q); }              \
    static inline SIMD_CPPFUNC Q inverse(const Q q) { return ::simd_inverse(q); }                  \
    static inline SIMD_CPPFUNC Q log(const Q q) { return ::simd_log(q); }                          \
    static inline SIMD_CPPFUNC Q exp(const Q q) { return ::simd_exp(q); }                          \
    static inline SIMD_CPPFUNC t##3 act(const Q q, t##3 v) { return ::simd_act(q, v); }            \
    static inline SIMD_CPPFUNC Q slerp(const Q p, const Q q, t##1 u) {                             \
        return ::simd_slerp(p, q, u);                                                              \
    }                                                                                              \
    static inline SIMD_CPPFUNC Q slerp_longest(const Q p, const Q q, t##1 u) {                     \
        return ::simd_slerp_longest(p, q, u);                                                      \
    }                                                                                              \
    static inline SIMD_CPPFUNC Q bezier(const Q a, const Q b, const Q c, const Q d, t##1 u) {      \
        return ::simd_bezier(a, b, c, d, u);                                                       \
    }                                                                                              \
    static inline SIMD_CPPFUNC Q spline(const Q a, const Q b, const Q c, const Q d, t##1 u) {      \
        return ::simd_spline(a, b, c, d, u);                                                       \
    }                                                                                              \
    static inline SIMD_CPPFUNC t##3x3 matrix3x3(const Q q) { return ::simd_matrix3x3(q); }         \
    static inline SIMD_CPPFUNC t##4x4 matrix4x4(const Q q) { return ::simd_matrix4x4(q); }
__SIMD_QUATERNION(float, quatf, simd_quatf)
__SIMD_QUATERNION(double, quatd, simd_quatd)
#undef __SIMD_QUATERNION
} // namespace simd
#endif
#endif
