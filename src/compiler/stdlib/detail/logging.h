// SPDX-License-Identifier: Apache-2.0
// logging.h: <metal_logging>: os_log. A message goes to the host as its format string and one
// record per value; the host formats it (vectors in a format are %v<n><conversion>, as in OpenCL).
//
// __ingot_log(level, name, format, records, n):
//   level    MTLLogLevel: 1 debug, 2 info, 3 notice, 4 error, 5 fault
//   name     "subsystem\0category\0", both empty for os_log_default
//   records  n pairs of 64-bit words, tag and value. Tag: bits 0-7 the kind (1 signed, 2 unsigned,
//            3 floating point, 4 pointer, 5 string), bits 8-15 the size of the element in bytes,
//            bits 16-23 how many components of one vector are left from here (1 for a scalar).
//            Value: integers extended to 64 bits by their sign, floating point as the bits of a
//            float, pointers and strings as addresses.
#pragma once

namespace metal {
enum log_type {
    log_type_debug = 1,
    log_type_info,
    log_type_default,
    log_type_error,
    log_type_fault
};

template <class T> struct __log_record {
    template <class U> static METAL_FUNC ulong tag(uint left) {
        ulong kind = __is_pointer(U)       ? 4
                     : __floating<U>       ? 3
                     : __is_unsigned(U)    ? 2
                                           : 1;
        if constexpr (__is_pointer(U))
            if constexpr (__is_same(__bare<remove_pointer_t<U>>, char)) kind = 5;
        return kind | (ulong)sizeof(U) << 8 | (ulong)left << 16;
    }
    template <class U> static METAL_FUNC ulong bits(U x) {
        if constexpr (__is_pointer(U)) return (ulong)x;
        else if constexpr (__floating<U>) return __builtin_bit_cast(uint, (float)x);
        else return (ulong)x;
    }
};
template <class A> METAL_FUNC uint __log_words(thread ulong *out, A a) {
    if constexpr (__is_vec<A>) {
        using E = __element_t<A>;
        for (int i = 0; i < __count_of<A>; i++) {
            out[2 * i] = __log_record<E>::template tag<E>(__count_of<A> - i);
            out[2 * i + 1] = __log_record<E>::template bits<E>(a[i]);
        }
        return 2 * __count_of<A>;
    } else {
        static_assert(__is_arith<A> || __is_enum(A) || __is_pointer(A),
                      "a log message takes scalars, vectors, pointers and string literals");
        out[0] = __log_record<A>::template tag<A>(1);
        out[1] = __log_record<A>::template bits<A>(a);
        return 2;
    }
}

struct os_log {
    static constexpr constant int __capacity = 256;
    char __name[__capacity];

    METAL_FUNC constexpr os_log() : __name{} {}
    METAL_FUNC constexpr os_log(const constant char *subsystem, const constant char *category)
        : __name{} {
        int n = 0;
        while (*subsystem != 0 && n < __capacity - 2) __name[n++] = *subsystem++;
        n++;
        while (*category != 0 && n < __capacity - 1) __name[n++] = *category++;
    }
#define __MSL_L(F, LEVEL) \
    template <class... A> METAL_FUNC void F(const constant char *format, A... args) const { \
        log_with_type(LEVEL, format, args...); \
    }
    __MSL_L(log, log_type_default)
    __MSL_L(log_debug, log_type_debug)
    __MSL_L(log_info, log_type_info)
    __MSL_L(log_error, log_type_error)
    __MSL_L(log_fault, log_type_fault)
#undef __MSL_L
    template <class... A>
    METAL_FUNC void log_with_type(log_type type, const constant char *format, A... args) const {
        constexpr int words = 2 * (0 + ... + __count_of<A>);
        ulong records[words + 1];
        uint n = 0;
        ((n += __log_words<A>(records + n, args)), ...);
        __ingot_log((uint)type, (const constant char *)__name, format, records, n / 2);
    }
};
inline constexpr constant os_log os_log_default{};
} // namespace metal
