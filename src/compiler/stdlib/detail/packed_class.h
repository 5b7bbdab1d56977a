// SPDX-License-Identifier: Apache-2.0
// packed_class.h: the class packed_vec<T, N>: N elements without padding, aligned as one element. A
// storage format: it converts to and from vec<T, N> by itself, and its operators give vectors.
// Included by vec.h once for each N; macros as for vec_class.h, __MSL_FROM initialises from s.
template <class T> struct packed_vec<T, __MSL_N> {
    static_assert(__is_number<T>, "packed vectors have integer or floating-point elements");
    union {
        struct { T __MSL_XYZW; };
        struct { T __MSL_RGBA; };
    };

    packed_vec() = default;
    METAL_FUNC constexpr packed_vec(__nv<T, __MSL_N> s, __raw) : __MSL_FROM {}
    METAL_FUNC constexpr packed_vec(const vec<T, __MSL_N> &s) : packed_vec(s.__get(), __raw{}) {}
    METAL_FUNC constexpr packed_vec(T s) : packed_vec(__splat<T, __MSL_N>(s), __raw{}) {}
    METAL_FUNC constexpr packed_vec(__MSL_T_PARAMS)
        : packed_vec(__nv<T, __MSL_N>{__MSL_T_NAMES}, __raw{}) {}
    template <class A, class B, class... R>
        requires(sizeof...(R) + 2 < __MSL_N && __fills<T, __MSL_N, A, B, R...>)
    METAL_FUNC constexpr packed_vec(A a, B b, R... r)
        : packed_vec(__gather<T>(make_index_sequence<__MSL_N>{}, a, b, r...), __raw{}) {}
    template <class U>
        requires(!__is_same(U, T))
    METAL_FUNC explicit constexpr packed_vec(const vec<U, __MSL_N> &s)
        : packed_vec(vec<T, __MSL_N>(s)) {}
    template <class U>
        requires(!__is_same(U, T))
    METAL_FUNC explicit constexpr packed_vec(const packed_vec<U, __MSL_N> &s)
        : packed_vec(vec<T, __MSL_N>(s)) {}

    METAL_FUNC constexpr __nv<T, __MSL_N> __get() const { return {__MSL_XYZW}; }
    METAL_FUNC constexpr operator vec<T, __MSL_N>() const {
        return vec<T, __MSL_N>(__get(), __raw{});
    }
    METAL_FUNC constexpr T &operator[](size_t i) {
        if consteval { __MSL_INDEX } else { return ((T *)this)[i]; }
    }
    METAL_FUNC constexpr const T &operator[](size_t i) const {
        if consteval { __MSL_INDEX } else { return ((const T *)this)[i]; }
    }

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

#define __MSL_OP(OP) \
    template <class B> METAL_FUNC constexpr packed_vec &operator OP##=(B q) { \
        return *this = vec<T, __MSL_N>(*this) OP q; \
    }
    __MSL_OP(+) __MSL_OP(-) __MSL_OP(*) __MSL_OP(/) __MSL_OP(%) __MSL_OP(&) __MSL_OP(|) __MSL_OP(^)
    __MSL_OP(<<) __MSL_OP(>>)
#undef __MSL_OP
    METAL_FUNC constexpr vec<T, __MSL_N> operator-() const { return -vec<T, __MSL_N>(*this); }
    METAL_FUNC constexpr vec<T, __MSL_N> operator+() const { return *this; }
    METAL_FUNC constexpr vec<T, __MSL_N> operator~() const
        requires(__is_integer<T>) { return ~vec<T, __MSL_N>(*this); }
    METAL_FUNC constexpr packed_vec &operator++() { return *this = vec<T, __MSL_N>(*this) + T(1); }
    METAL_FUNC constexpr packed_vec &operator--() { return *this = vec<T, __MSL_N>(*this) - T(1); }
    METAL_FUNC constexpr packed_vec operator++(int) {
        packed_vec old = *this;
        ++*this;
        return old;
    }
    METAL_FUNC constexpr packed_vec operator--(int) {
        packed_vec old = *this;
        --*this;
        return old;
    }
};
#undef __MSL_N
#undef __MSL_XYZW
#undef __MSL_RGBA
#undef __MSL_FROM
#undef __MSL_INDEX
#undef __MSL_T_PARAMS
#undef __MSL_T_NAMES
#undef __MSL_SWIZZLES
