// SPDX-License-Identifier: Apache-2.0
// array.h: <metal_array>, array_ref, uniform<T>, and the small utilities (swap, move).
#pragma once

namespace metal {
struct sampler;
template <class T, size_t N> struct array {
    using value_type = T;
    using size_type = size_t;
    T __elements[N];
    // Each is an object of the compiler's: billions are no program.
    static_assert(!is_same_v<T, sampler> || N <= 1000000, "an array has at most 1000000 samplers");
#define __MSL_A(AS, C) \
    METAL_FUNC constexpr C AS T &operator[](size_t i) C AS & { return __elements[i]; } \
    METAL_FUNC constexpr C AS T *data() C AS & { return __elements; } \
    METAL_FUNC constexpr C AS T *begin() C AS & { return __elements; } \
    METAL_FUNC constexpr C AS T *end() C AS & { return __elements + N; }
    __MSL_SPACES(__MSL_A)
#undef __MSL_A
    METAL_FUNC constexpr T operator[](size_t i) const && { return __elements[i]; }
    METAL_FUNC static constexpr size_t size() { return N; }
    METAL_FUNC static constexpr size_t max_size() { return N; }
    METAL_FUNC static constexpr bool empty() { return N == 0; }
};
template <class T> struct array<T, 0> {
    using value_type = T;
    METAL_FUNC static constexpr size_t size() { return 0; }
    METAL_FUNC static constexpr size_t max_size() { return 0; }
    METAL_FUNC static constexpr bool empty() { return true; }
};

// A view of an array of any length and address space.
template <class T> struct array_ref {
    using value_type = T;
    array_ref() = default;
    METAL_FUNC constexpr array_ref(const T *data, size_t n) : first(data), count(n) {}
    template <size_t N>
    METAL_FUNC constexpr array_ref(const array<T, N> &a) : first((const T *)&a), count(N) {}
    template <size_t N> METAL_FUNC constexpr array_ref(const T (&a)[N]) : first(a), count(N) {}
    METAL_FUNC constexpr size_t size() const { return count; }
    METAL_FUNC constexpr bool empty() const { return count == 0; }
    METAL_FUNC constexpr const T &operator[](size_t i) const { return first[i]; }
    METAL_FUNC constexpr const T *data() const { return first; }
    METAL_FUNC constexpr const T *begin() const { return first; }
    METAL_FUNC constexpr const T *end() const { return first + count; }

private:
    const T *first = nullptr;
    size_t count = 0;
};
template <class T> METAL_FUNC constexpr array_ref<__bare<T>> make_array_ref(T *data, size_t n) {
    return array_ref<__bare<T>>(data, n);
}
template <class T, size_t N>
METAL_FUNC constexpr array_ref<T> make_array_ref(const array<T, N> &a) {
    return array_ref<T>(a);
}
template <class T, size_t N> METAL_FUNC constexpr array_ref<T> make_array_ref(const T (&a)[N]) {
    return array_ref<T>(a);
}

// ---- utilities
template <class T> METAL_FUNC constexpr remove_reference_t<T> &&move(T &&x) {
    return static_cast<remove_reference_t<T> &&>(x);
}
// (No forward: Metal has none, and programs have globals of that name beside `using namespace metal`.)
template <class T> METAL_FUNC constexpr void swap(T &a, T &b) {
    __bare<T> t = a;
    a = b;
    b = t;
}

// ---- uniform<T>: a value that is the same in all threads. Operators on uniform values give
// uniform values; with any other operand the result is plain.
template <class T> struct uniform {
    using type = T;
    T __value;
    uniform() = default;
    METAL_FUNC explicit constexpr uniform(const T &x) : __value(x) {}
    METAL_FUNC constexpr operator T() const { return __value; }
    METAL_FUNC constexpr auto operator-() const { return uniform<decltype(-__value)>(-__value); }
    METAL_FUNC constexpr auto operator~() const { return uniform<decltype(~__value)>(~__value); }
    METAL_FUNC constexpr auto operator!() const { return uniform<decltype(!__value)>(!__value); }
};
template <class T> METAL_FUNC constexpr uniform<T> make_uniform(T x) { return uniform<T>(x); }
#define __MSL_OP(OP) \
    template <class A, class B> \
    METAL_FUNC constexpr auto operator OP(uniform<A> a, uniform<B> b) { \
        return make_uniform(a.__value OP b.__value); \
    }
__MSL_OP(+) __MSL_OP(-) __MSL_OP(*) __MSL_OP(/) __MSL_OP(%) __MSL_OP(&) __MSL_OP(|) __MSL_OP(^)
__MSL_OP(<<) __MSL_OP(>>) __MSL_OP(<) __MSL_OP(>) __MSL_OP(<=) __MSL_OP(>=) __MSL_OP(==)
__MSL_OP(!=) __MSL_OP(&&) __MSL_OP(||)
#undef __MSL_OP
} // namespace metal
