// SPDX-License-Identifier: Apache-2.0
// simd/logic.h: the results of comparisons: a lane is true when its highest bit is set.
#ifndef INGOT_MAC_SIMD_LOGIC_H
#define INGOT_MAC_SIMD_LOGIC_H
#include "vector_types.h"

#define __SIMD_LOGIC(name, scalar, n, mask, lane)                                                  \
    static inline SIMD_CFUNC simd_bool simd_any(simd_##name x) {                                   \
        return __builtin_reduce_or((simd_##mask)x) < 0;                                            \
    }                                                                                              \
    static inline SIMD_CFUNC simd_bool simd_all(simd_##name x) {                                   \
        return __builtin_reduce_and((simd_##mask)x) < 0;                                           \
    }
__SIMD_INTEGER_VECTORS(__SIMD_LOGIC)
#undef __SIMD_LOGIC

// bits of `y` where the mask has ones, of `x` elsewhere; select looks at the highest bit of a lane
// alone
#define __SIMD_LOGIC(name, scalar, n, mask, lane)                                                  \
    static inline SIMD_CFUNC simd_##name simd_bitselect(simd_##name x, simd_##name y,              \
                                                        simd_##mask m) {                           \
        return (simd_##name)(((simd_##mask)x & ~m) | ((simd_##mask)y & m));                        \
    }                                                                                              \
    static inline SIMD_CFUNC simd_##name simd_select(simd_##name x, simd_##name y,                 \
                                                     simd_##mask m) {                              \
        return simd_bitselect(x, y, (simd_##mask)(m < 0));                                         \
    }
__SIMD_ALL_VECTORS(__SIMD_LOGIC)
#undef __SIMD_LOGIC

#define vector_any simd_any
#define vector_all simd_all
#define vector_select simd_select
#define vector_bitselect simd_bitselect

#ifdef __cplusplus
namespace simd {
template <typename V> SIMD_CPPFUNC bool any(V x) { return ::simd_any(x); }
template <typename V> SIMD_CPPFUNC bool all(V x) { return ::simd_all(x); }
template <typename V> SIMD_CPPFUNC V select(V x, V y, get_mask_t<V> m) {
    return ::simd_select(x, y, m);
}
template <typename V> SIMD_CPPFUNC V bitselect(V x, V y, get_mask_t<V> m) {
    return ::simd_bitselect(x, y, m);
}
} // namespace simd
#endif
#endif
