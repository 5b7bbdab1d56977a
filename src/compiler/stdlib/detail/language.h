// SPDX-License-Identifier: Apache-2.0
// language.h: what the language is without its library: switches of the dialect, macros, bfloat, and what
// the front end writes into sources (token_*.c, repair.c). All that a source has that includes no Metal
// header.
#pragma once
#pragma clang system_header
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
#pragma OPENCL EXTENSION __cl_clang_variadic_functions : enable
#pragma OPENCL EXTENSION __cl_clang_bitfields : enable
#pragma OPENCL EXTENSION __cl_clang_non_portable_kernel_param_types : enable
#undef __OPENCL_CPP_VERSION__
#undef __OPENCL_VERSION__
#undef __OPENCL_C_VERSION__

#ifndef __METAL_VERSION__
#define __METAL_VERSION__ 400
#endif
#ifndef __METAL__
#define __METAL__ 1
#endif
#ifndef __METAL_MACOS__
#define __METAL_MACOS__ 1
#endif
#ifndef __INGOT_FAST_MATH // the variant of float functions outside metal::fast and metal::precise
#ifdef __FAST_MATH__
#define __INGOT_FAST_MATH 1
#else
#define __INGOT_FAST_MATH 0
#endif
#endif
#if __METAL_VERSION__ >= 310 && !defined(__HAVE_BFLOAT__)
#define __HAVE_BFLOAT__ 1
#endif
#if __METAL_VERSION__ >= 400
#define __HAVE_TENSOR__ 1
#define __HAVE_INT4B_FORMAT_TYPE__ 1
#define __HAVE_PACKED_NUMERIC__ 1
#define __HAVE_EXECUTION_UNIT__ 1
#endif

#define METAL_FUNC inline __attribute__((__always_inline__))
#define METAL_INTERNAL METAL_FUNC
#define METAL_CONST __attribute__((__const__))
#define METAL_PURE __attribute__((__pure__))
#define METAL_VALID_ARGS(...)
#define METAL_CONST_ARG(...)
#define METAL_ZERO_ARG(...)

typedef __bf16 bfloat; // a keyword of Metal's

// Static threadgroup memory: `threadgroup T x;` in a function becomes a reference to __msl_tg. The
// tag, a struct local to that function, makes every variable of every instantiation its own symbol.
template <unsigned long Size, unsigned long Align, class Tag>
__attribute__((nothrow)) threadgroup void *__ingot_tg();
template <class T, class Tag> METAL_FUNC threadgroup T &__msl_tg() {
    return *(threadgroup T *)__ingot_tg<sizeof(T), alignof(T), Tag>();
}
// Repairs of the front end: a by-value identity, and half <-> bfloat by way of float.
// decltype(name) without the space of the variable, which Clang counts to its type.
template <class T> struct __msl_unplaced { using type = T; };
template <class T> struct __msl_unplaced<thread T> { using type = T; };
template <class T> using __msl_unplaced_t = typename __msl_unplaced<T>::type;
template <class T> METAL_FUNC constexpr T __msl_rv(T x) { return x; }
// a temporary, which lies in thread memory, as an object there
template <class T>
    requires(!__is_lvalue_reference(T))
METAL_FUNC thread T &__msl_lv(T &&x) {
    return (thread T &)x;
}
template <class T> METAL_FUNC constexpr auto __msl_f(T x) {
    if constexpr (__is_same(T, half) || __is_same(T, bfloat)) return (float)x;
    else return x;
}
// a vector that a program made, for a cast to another one with as many elements
template <class V> struct __msl_convertible {
    V v;
    template <class W> METAL_FUNC constexpr operator W() const { return __builtin_convertvector(v, W); }
};
template <class V> METAL_FUNC constexpr __msl_convertible<V> __msl_convert(V v) { return {v}; }
// 1.5bf
METAL_FUNC constexpr bfloat __msl_bf(float x) { return (bfloat)x; }

// The function at an index of a table, null outside the table and for a function with another
// signature. Its mangled name tells signatures apart, also to reflection.
struct __ingot_table {
    unsigned count, buffers;
};
template <class S>
__attribute__((nothrow, pure)) S *__ingot_table_entry(const device __ingot_table *table,
                                                      unsigned index);
