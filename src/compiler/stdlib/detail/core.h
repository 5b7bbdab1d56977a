// SPDX-License-Identifier: Apache-2.0
// core.h: the ground the Metal headers stand on: scalar types, the compiler's own
// functions (builtins.def), threadgroup allocation, and small tools the other headers share.
// Written in MSL plus Clang's extensions; the front end compiles it once, into the precompiled
// prelude.
#pragma once
#include "language.h"

// ---- scalars
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
typedef decltype(nullptr) nullptr_t;

namespace metal {
using ::bfloat;
using ::uchar;
using ::uint;
using ::ulong;
using ::ushort;
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::int8_t;
using ::intptr_t;
using ::nullptr_t;
using ::ptrdiff_t;
using ::size_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;
using ::uintptr_t;
} // namespace metal

// Lists of scalar types for generated overloads: M(type, extra arguments). Overloads on the exact
// scalar types (rather than templates) keep Metal's rules of overload resolution: max(1u, 0) is
// ambiguous here as it is there.
#define __MSL_EACH(M, T, ...) M(T __VA_OPT__(, ) __VA_ARGS__)
#define __MSL_INTS(M, ...) \
    __MSL_EACH(M, char, __VA_ARGS__) __MSL_EACH(M, uchar, __VA_ARGS__) \
    __MSL_EACH(M, short, __VA_ARGS__) __MSL_EACH(M, ushort, __VA_ARGS__) \
    __MSL_EACH(M, int, __VA_ARGS__) __MSL_EACH(M, uint, __VA_ARGS__) \
    __MSL_EACH(M, long, __VA_ARGS__) __MSL_EACH(M, ulong, __VA_ARGS__)
#define __MSL_FLOATS(M, ...) __MSL_EACH(M, half, __VA_ARGS__) __MSL_EACH(M, float, __VA_ARGS__)

// Members overloaded on the address space of the object keep it in what they return:
// M(space, const).
// On temporaries these overloads would tie, hence ref-qualifiers where the list is used.
#define __MSL_SPACES(M) \
    M(__constant, const) M(device, ) M(device, const) M(threadgroup, ) M(threadgroup, const) \
    M(thread, ) M(thread, const)

// ---- what the compiler lowers itself; builtins.def is the list
#define __MSL_BUILTIN __attribute__((convergent, nothrow))
extern "C" {
#define __MSL_5(M) M(i32, int) M(u32, uint) M(i64, long) M(u64, ulong) M(f32, float)
#define __MSL_4(M) M(i32, int) M(u32, uint) M(i64, long) M(u64, ulong)
#define __MSL_3(M) M(i32, int) M(i64, long) M(f32, float)
// Of one value, of a value and a lane or distance, of two values with a distance and a modulus; of
// both kinds of groups
#define __MSL_B1(S, T, F) __MSL_BUILTIN T __ingot_##F##_##S(T);
#define __MSL_B2(S, T, F) __MSL_BUILTIN T __ingot_##F##_##S(T, uint);
#define __MSL_B4(S, T, F) __MSL_BUILTIN T __ingot_##F##_##S(T, T, uint, uint);
#define __MSL_GROUPS(B, S, T, F) B(S, T, simd_##F) B(S, T, quad_##F)
#define __MSL_B(S, T) \
    __MSL_GROUPS(__MSL_B1, S, T, sum) __MSL_GROUPS(__MSL_B1, S, T, product) \
    __MSL_GROUPS(__MSL_B1, S, T, min) __MSL_GROUPS(__MSL_B1, S, T, max) \
    __MSL_B1(S, T, simd_prefix_inclusive_sum) __MSL_B1(S, T, simd_prefix_exclusive_sum) \
    __MSL_B1(S, T, simd_prefix_inclusive_product) __MSL_B1(S, T, simd_prefix_exclusive_product)
__MSL_5(__MSL_B)
#undef __MSL_B
#define __MSL_B(S, T) \
    __MSL_B1(S, T, simd_and) __MSL_B1(S, T, simd_or) __MSL_B1(S, T, simd_xor) \
    __MSL_B1(S, T, quad_and) __MSL_B1(S, T, quad_or) __MSL_B1(S, T, quad_xor)
__MSL_4(__MSL_B)
#undef __MSL_B
#define __MSL_B(S, T) \
    __MSL_GROUPS(__MSL_B1, S, T, broadcast_first) __MSL_GROUPS(__MSL_B2, S, T, broadcast) \
    __MSL_GROUPS(__MSL_B2, S, T, shuffle) __MSL_GROUPS(__MSL_B2, S, T, shuffle_up) \
    __MSL_GROUPS(__MSL_B2, S, T, shuffle_down) __MSL_GROUPS(__MSL_B2, S, T, shuffle_xor) \
    __MSL_GROUPS(__MSL_B2, S, T, shuffle_rotate_up) \
    __MSL_GROUPS(__MSL_B2, S, T, shuffle_rotate_down) \
    __MSL_GROUPS(__MSL_B4, S, T, shuffle_and_fill_up) \
    __MSL_GROUPS(__MSL_B4, S, T, shuffle_and_fill_down)
__MSL_3(__MSL_B)
#undef __MSL_B
#undef __MSL_GROUPS
#undef __MSL_B4
#undef __MSL_B2
#undef __MSL_B1
#undef __MSL_3
#undef __MSL_4
#undef __MSL_5
__MSL_BUILTIN ulong __ingot_simd_ballot(bool);
__MSL_BUILTIN uint __ingot_quad_ballot(bool);
__MSL_BUILTIN bool __ingot_simd_all(bool);
__MSL_BUILTIN bool __ingot_simd_any(bool);
__MSL_BUILTIN bool __ingot_quad_all(bool);
__MSL_BUILTIN bool __ingot_quad_any(bool);
__MSL_BUILTIN bool __ingot_simd_is_first();
__MSL_BUILTIN bool __ingot_quad_is_first();
__MSL_BUILTIN ulong __ingot_simd_active_mask();
__MSL_BUILTIN uint __ingot_quad_active_mask();
typedef float __ingot_f32x2 __attribute__((ext_vector_type(2)));
__MSL_BUILTIN __ingot_f32x2 __ingot_simdgroup_mma_f32(__ingot_f32x2, __ingot_f32x2, __ingot_f32x2);
typedef half __ingot_f16x2 __attribute__((ext_vector_type(2)));
typedef __bf16 __ingot_bf16x2 __attribute__((ext_vector_type(2)));
#define __MSL_B(S) \
    __attribute__((convergent, nothrow, pure)) __ingot_##S##x2 __ingot_simdgroup_load_##S( \
        const void *, ulong, bool); \
    __MSL_BUILTIN void __ingot_simdgroup_store_##S(__ingot_##S##x2, void *, ulong, bool);
__MSL_B(f32)
__MSL_B(f16)
__MSL_B(bf16)
#undef __MSL_B
__MSL_BUILTIN void __ingot_threadgroup_barrier(uint flags);
// Before `break` and `return` in loops (the front end puts them there): codegen/exits.c
__MSL_BUILTIN bool __ingot_leave_break();
__MSL_BUILTIN bool __ingot_leave_return();
__MSL_BUILTIN void __ingot_simdgroup_barrier(uint flags);
// RfBuiltin of reflect.h and a dimension, both constants
__attribute__((const, nothrow, noconvergent)) uint __ingot_position(uint builtin, uint dim);
__attribute__((nothrow, noconvergent)) ulong
__ingot_fc_defined(const constant void *function_constant);
__attribute__((const, nothrow, noconvergent)) bool __ingot_tiled(); // cooperative_tensor.h
__attribute__((nothrow)) void __ingot_log(uint type, const constant char *subsystem_category,
                                          const constant char *format, const thread ulong *args,
                                          uint n);
}
enum { // of RfBuiltin
    __MSL_THREAD_INDEX_IN_SIMDGROUP = 10,
    __MSL_THREAD_INDEX_IN_QUADGROUP = 16
};

// Braced lists need this name and these two members.
namespace std {
template <class E> class initializer_list {
    // the compiler expects a pointer without an address space, which only a decayed array gives
    using pointer = __decay(const E[1]);
    pointer first;
    size_t count;
    constexpr initializer_list(pointer p, size_t n) : first(p), count(n) {}

public:
    using value_type = E;
    using reference = const E &;
    using const_reference = const E &;
    using size_type = size_t;
    using iterator = const E *;
    using const_iterator = const E *;
    constexpr initializer_list() : first(nullptr), count(0) {}
    constexpr size_t size() const { return count; }
    constexpr const E *begin() const { return first; }
    constexpr const E *end() const { return first + count; }
};
} // namespace std
namespace metal {
using std::initializer_list;
}
