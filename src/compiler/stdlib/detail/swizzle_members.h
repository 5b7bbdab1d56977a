// SPDX-License-Identifier: Apache-2.0
// swizzle_members.h: the swizzles of a vector class, as properties. Included inside the classes of
// vec_class.h and packed_class.h, for each number of components; no include guard.
#define __MSL_GET(C, N, A) \
    METAL_FUNC constexpr vec<T, C> __g##N() const { return vec<T, C>(__get().N, __raw{}); }
#define __MSL_R(C, N, A) \
    __MSL_GET(C, N, A) \
    __declspec(property(get = __g##N)) vec<T, C> N; \
    __declspec(property(get = __g##N)) vec<T, C> A;
#define __MSL_W(C, N, A) \
    __declspec(property(get = __g##N, put = __p##N)) vec<T, C> N; \
    __declspec(property(get = __g##N, put = __p##N)) vec<T, C> A;
#define __MSL_W2(a, b, N, A) \
    __MSL_GET(2, N, A) \
    METAL_FUNC constexpr vec<T, 2> __p##N(vec<T, 2> s) { a = s.x; b = s.y; return s; } \
    __MSL_W(2, N, A)
#define __MSL_W3(a, b, c, N, A) \
    __MSL_GET(3, N, A) \
    METAL_FUNC constexpr vec<T, 3> __p##N(vec<T, 3> s) { a = s.x; b = s.y; c = s.z; return s; } \
    __MSL_W(3, N, A)
#define __MSL_W4(a, b, c, d, N, A) \
    __MSL_GET(4, N, A) \
    METAL_FUNC constexpr vec<T, 4> __p##N(vec<T, 4> s) { \
        a = s.x; b = s.y; c = s.z; d = s.w; \
        return s; \
    } \
    __MSL_W(4, N, A)
    __MSL_SWIZZLES(__MSL_R, __MSL_W2, __MSL_W3, __MSL_W4)
#undef __MSL_GET
#undef __MSL_R
#undef __MSL_W
#undef __MSL_W2
#undef __MSL_W3
#undef __MSL_W4
