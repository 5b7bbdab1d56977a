// SPDX-License-Identifier: Apache-2.0
// atomic.h: <metal_atomic>, on Clang's __atomic builtins. Which operation exists for which type and
// address space follows the specification: integers have all, float adds and subtracts in device
// memory, bool exchanges, ulong has minimum and maximum without a result in device memory.
#pragma once

namespace metal {
enum memory_order {
    memory_order_relaxed = __ATOMIC_RELAXED,
    memory_order_acquire = __ATOMIC_ACQUIRE,
    memory_order_release = __ATOMIC_RELEASE,
    memory_order_acq_rel = __ATOMIC_ACQ_REL,
    memory_order_seq_cst = __ATOMIC_SEQ_CST
};
enum thread_scope {
    thread_scope_thread,
    thread_scope_simdgroup,
    thread_scope_threadgroup,
    thread_scope_device
};

template <class T> struct __atomic_kind {
    static constexpr constant bool word = __is_same(T, int) || __is_same(T, uint);
    static constexpr constant bool real = __is_same(T, float);
    static constexpr constant bool flag = __is_same(T, bool);
    static constexpr constant bool wide = __is_same(T, ulong);
    static constexpr constant bool plain = word || real || flag; // load, store, exchange, compare
};
template <class T> struct atomic {
    static_assert(__atomic_kind<T>::plain || __atomic_kind<T>::wide,
                  "atomic<T> needs int, uint, bool, ulong or float");
    T __value;
    atomic() = default;
    atomic(const atomic &) = delete;
    atomic &operator=(const atomic &) = delete;
};
template <class T> using _atomic = atomic<T>; // the name in Apple's headers, which some sources use
typedef atomic<int> atomic_int;
typedef atomic<uint> atomic_uint;
typedef atomic<bool> atomic_bool;
typedef atomic<ulong> atomic_ulong;
typedef atomic<float> atomic_float;

// The value as T, for arithmetic, and as an integer of its size, for moving it. volatile adds
// nothing to an atomic access, and would keep the optimiser from handling it.
template <class T>
using __word_t =
    conditional_t<__is_same(T, float), uint, conditional_t<__is_same(T, bool), uchar, T>>;
#define __MSL_SPACE(AS) \
    template <class T> METAL_FUNC AS T *__cell(const volatile AS atomic<T> *a) { \
        return (AS T *)&a->__value; \
    } \
    template <class T> METAL_FUNC AS __word_t<T> *__word(const volatile AS atomic<T> *a) { \
        return (AS __word_t<T> *)&a->__value; \
    }
__MSL_SPACE(device)
__MSL_SPACE(threadgroup)
#undef __MSL_SPACE
#define __MSL_FETCH(AS, KEY, WHEN) \
    template <class T> \
        requires(WHEN) \
    METAL_FUNC T atomic_fetch_##KEY##_explicit(volatile AS atomic<T> *object, \
                                               type_identity_t<T> operand, memory_order order) { \
        return __atomic_fetch_##KEY(__cell(object), operand, order); \
    }
#define __MSL_SPACE(AS) \
    template <class T> \
        requires(__atomic_kind<T>::plain) \
    METAL_FUNC void atomic_store_explicit(volatile AS atomic<T> *object, \
                                          type_identity_t<T> desired, memory_order order) { \
        __atomic_store_n(__word(object), __builtin_bit_cast(__word_t<T>, desired), order); \
    } \
    template <class T> \
        requires(__atomic_kind<T>::plain) \
    METAL_FUNC T atomic_load_explicit(const volatile AS atomic<T> *object, memory_order order) { \
        return __builtin_bit_cast(T, __atomic_load_n(__word(object), order)); \
    } \
    template <class T> \
        requires(__atomic_kind<T>::plain) \
    METAL_FUNC T atomic_exchange_explicit(volatile AS atomic<T> *object, \
                                          type_identity_t<T> desired, memory_order order) { \
        __word_t<T> word = __builtin_bit_cast(__word_t<T>, desired); \
        return __builtin_bit_cast(T, __atomic_exchange_n(__word(object), word, order)); \
    } \
    template <class T> \
        requires(__atomic_kind<T>::plain) \
    METAL_FUNC bool atomic_compare_exchange_weak_explicit( \
        volatile AS atomic<T> *object, thread type_identity_t<T> *expected, \
        type_identity_t<T> desired, memory_order success, memory_order failure) { \
        __word_t<T> word = __builtin_bit_cast(__word_t<T>, *expected); \
        bool done = __atomic_compare_exchange_n( \
            __word(object), &word, __builtin_bit_cast(__word_t<T>, desired), true, success, \
            failure); \
        *expected = __builtin_bit_cast(T, word); \
        return done; \
    } \
    __MSL_FETCH(AS, add, __atomic_kind<T>::word) \
    __MSL_FETCH(AS, sub, __atomic_kind<T>::word) \
    __MSL_FETCH(AS, and, __atomic_kind<T>::word) \
    __MSL_FETCH(AS, or, __atomic_kind<T>::word) \
    __MSL_FETCH(AS, xor, __atomic_kind<T>::word) \
    __MSL_FETCH(AS, min, __atomic_kind<T>::word) \
    __MSL_FETCH(AS, max, __atomic_kind<T>::word)
__MSL_SPACE(device)
__MSL_SPACE(threadgroup)
__MSL_FETCH(device, add, __atomic_kind<T>::real)
__MSL_FETCH(device, sub, __atomic_kind<T>::real)
#undef __MSL_SPACE
#undef __MSL_FETCH
template <class T>
    requires(__atomic_kind<T>::wide)
METAL_FUNC void atomic_min_explicit(volatile device atomic<T> *object, type_identity_t<T> operand,
                                    memory_order order) {
    (void)__atomic_fetch_min(__cell(object), operand, order);
}
template <class T>
    requires(__atomic_kind<T>::wide)
METAL_FUNC void atomic_max_explicit(volatile device atomic<T> *object, type_identity_t<T> operand,
                                    memory_order order) {
    (void)__atomic_fetch_max(__cell(object), operand, order);
}

// A flag is one word: 0 clear, 1 set.
struct atomic_flag {
    atomic<uint> __state;
};
#define ATOMIC_FLAG_INIT {}
#define __MSL_SPACE(AS) \
    METAL_FUNC bool atomic_flag_test_and_set_explicit(volatile AS atomic_flag *flag, \
                                                      memory_order order) { \
        return __atomic_exchange_n(__cell(&flag->__state), 1u, order) != 0; \
    } \
    METAL_FUNC void atomic_flag_clear_explicit(volatile AS atomic_flag *flag, \
                                               memory_order order) { \
        __atomic_store_n(__cell(&flag->__state), 0u, order); \
    }
__MSL_SPACE(device)
__MSL_SPACE(threadgroup)
#undef __MSL_SPACE
} // namespace metal
