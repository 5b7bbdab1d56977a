// SPDX-License-Identifier: Apache-2.0
// simd.c: functions of SIMD-groups and quads. `mask` says which lanes take part
// (passes/lane_masks.c): each instruction waits for them. A lane that reads from one that does not
// take part gets 0, as on the CPU.
#include "compiler/codegen/nvptx/library/instructions.h"

API u32 ingot_ballot(u32 mask, _Bool x) { return ballot(mask, x); }
API void ingot_masked_simdgroup_barrier(u32 mask, u32 flags) {
    (void)flags;
    warp_barrier(mask);
}

INLINE u32 quad_of(u32 mask) { return mask & 15u << (lane() & ~3u); }

#define FROM(type) from_##type
INLINE u32 FROM(u32)(u32 mask, u32 x, u32 l) { return shuffle(mask, x, l); }
INLINE i32 FROM(i32)(u32 mask, i32 x, u32 l) { return (i32)shuffle(mask, (u32)x, l); }
INLINE f32 FROM(f32)(u32 mask, f32 x, u32 l) { return float_of(shuffle(mask, bits_of(x), l)); }
INLINE u64 FROM(u64)(u32 mask, u64 x, u32 l) {
    u32 low = shuffle(mask, (u32)x, l);
    return (u64)shuffle(mask, (u32)(x >> 32), l) << 32 | low;
}
INLINE i64 FROM(i64)(u32 mask, i64 x, u32 l) { return (i64)from_u64(mask, (u64)x, l); }

// ---- reductions ----

#define OP_sum(t, a, b) ((a) + (b))
#define OP_product(t, a, b) ((a) * (b))
#define OP_min(t, a, b) least_##t(a, b)
#define OP_max(t, a, b) most_##t(a, b)
#define OP_and(t, a, b) ((a) & (b))
#define OP_or(t, a, b) ((a) | (b))
#define OP_xor(t, a, b) ((a) ^ (b))
#define ORDER(t)                                                                                   \
    INLINE t least_##t(t a, t b) { return a < b ? a : b; }                                         \
    INLINE t most_##t(t a, t b) { return a > b ? a : b; }
ORDER(i32)
ORDER(u32)
ORDER(i64)
ORDER(u64)
INLINE f32 least_f32(f32 a, f32 b) { return __builtin_fminf(a, b); }
INLINE f32 most_f32(f32 a, f32 b) { return __builtin_fmaxf(a, b); }

// All `size` lanes: pairs of halves, which gives each of them the same sum, and the CPU's. Else one
// lane after the other; `mask` takes part in each step, `group` counts.
#define REDUCE(t, op, size)                                                                        \
    INLINE t reduce_##op##_##t##_##size(u32 mask, u32 group, t x) {                                \
        u32 first = lane() & ~(size - 1u);                                                         \
        if (size == 32 ? mask == ALL_LANES : ballot(mask, group == 15u << first) == mask) {        \
            UNROLL for (u32 d = size / 2; d > 0; d /= 2) {                                         \
                t y = from_##t(mask, x, lane() ^ d);                                               \
                x = OP_##op(t, x, y);                                                              \
            }                                                                                      \
            return x;                                                                              \
        }                                                                                          \
        u32 start = (u32)__builtin_ctz(group);                                                     \
        t r = from_##t(mask, x, start);                                                            \
        for (u32 k = 0; k < size; k++) {                                                           \
            t y = from_##t(mask, x, first + k);                                                    \
            if (first + k != start && (group >> (first + k) & 1)) r = OP_##op(t, r, y);            \
        }                                                                                          \
        return r;                                                                                  \
    }                                                                                              \
    API t REDUCE_NAME_##size(op, t)(u32 mask, t x) {                                               \
        return reduce_##op##_##t##_##size(mask, size == 4 ? quad_of(mask) : mask, x);              \
    }
#define REDUCE_NAME_32(op, t) ingot_masked_simd_##op##_##t
#define REDUCE_NAME_4(op, t) ingot_masked_quad_##op##_##t
#define REDUCE_WIDE(op) REDUCE(i64, op, 32) REDUCE(u64, op, 32)
#define REDUCE_QUAD(op) REDUCE(i32, op, 4) REDUCE(u32, op, 4) REDUCE(i64, op, 4) REDUCE(u64, op, 4)
// clang-format off
REDUCE_WIDE(sum) REDUCE_WIDE(product) REDUCE_WIDE(min) REDUCE_WIDE(max)
REDUCE_WIDE(and) REDUCE_WIDE(or) REDUCE_WIDE(xor)
REDUCE_QUAD(sum) REDUCE_QUAD(product) REDUCE_QUAD(min) REDUCE_QUAD(max)
REDUCE_QUAD(and) REDUCE_QUAD(or) REDUCE_QUAD(xor)
REDUCE(f32, sum, 32) REDUCE(f32, product, 32) REDUCE(f32, min, 32) REDUCE(f32, max, 32)
REDUCE(f32, sum, 4) REDUCE(f32, product, 4) REDUCE(f32, min, 4) REDUCE(f32, max, 4)
REDUCE(i32, product, 32) REDUCE(u32, product, 32)
// clang-format on

// There is an instruction for the other ones of 32 bits.
#define REDUX_BOTH(op, instruction)                                                                \
    API u32 ingot_masked_simd_##op##_u32(u32 mask, u32 x) { return instruction(mask, x); }         \
    API i32 ingot_masked_simd_##op##_i32(u32 mask, i32 x) {                                        \
        return (i32)instruction(mask, (u32)x);                                                     \
    }
    // clang-format off
REDUX_BOTH(sum, redux_add) REDUX_BOTH(and, redux_and)
REDUX_BOTH(or, redux_or) REDUX_BOTH(xor, redux_xor)
API u32 ingot_masked_simd_min_u32(u32 mask, u32 x) { return redux_min(mask, x); }
// clang-format on
API u32 ingot_masked_simd_max_u32(u32 mask, u32 x) { return redux_max(mask, x); }
API i32 ingot_masked_simd_min_i32(u32 mask, i32 x) { return redux_min_signed(mask, x); }
API i32 ingot_masked_simd_max_i32(u32 mask, i32 x) { return redux_max_signed(mask, x); }

// ---- scans ----

#define SCAN(name, op, zero, t, inclusive)                                                         \
    API t ingot_masked_simd_prefix_##name##_##t(u32 mask, t x) {                                   \
        u32 l = lane();                                                                            \
        t r = (t)(zero);                                                                           \
        if (mask == ALL_LANES) {                                                                   \
            UNROLL for (u32 d = 1; d < 32; d *= 2) {                                               \
                t y = from_##t(mask, x, (l - d) & 31);                                             \
                if (l >= d) x = OP_##op(t, y, x);                                                  \
            }                                                                                      \
            if (inclusive) return x;                                                               \
            t y = from_##t(mask, x, (l - 1) & 31);                                                 \
            return l ? y : r;                                                                      \
        }                                                                                          \
        for (u32 k = 0; k < 32; k++) {                                                             \
            t y = from_##t(mask, x, k);                                                            \
            if ((mask >> k & 1) && (k < l || (inclusive && k == l))) r = OP_##op(t, r, y);         \
        }                                                                                          \
        return r;                                                                                  \
    }
#define SCANS(t, zero)                                                                             \
    SCAN(inclusive_sum, sum, zero, t, 1)                                                           \
    SCAN(exclusive_sum, sum, zero, t, 0)                                                           \
    SCAN(inclusive_product, product, 1, t, 1) SCAN(exclusive_product, product, 1, t, 0)
SCANS(i32, 0)
SCANS(u32, 0)
SCANS(i64, 0)
SCANS(u64, 0)
SCANS(f32, 0)

// ---- shuffles ----

// The value of the lane that is number n of the group of `size`; 0 if it does not take part.
#define GIVEN(t, size)                                                                             \
    INLINE t given_##t##_##size(u32 mask, t x, u32 n) {                                            \
        u32 l = (lane() & ~(size - 1u)) + n % size;                                                \
        t y = from_##t(mask, x, l);                                                                \
        return mask >> l & 1 ? y : (t)0;                                                           \
    }
#define SHUFFLES(kind, t, size)                                                                    \
    GIVEN(t, size)                                                                                 \
    API t ingot_masked_##kind##_broadcast_##t(u32 mask, t x, u32 n) {                              \
        return given_##t##_##size(mask, x, n);                                                     \
    }                                                                                              \
    API t ingot_masked_##kind##_shuffle_##t(u32 mask, t x, u32 n) {                                \
        return given_##t##_##size(mask, x, n);                                                     \
    }                                                                                              \
    API t ingot_masked_##kind##_shuffle_xor_##t(u32 mask, t x, u32 n) {                            \
        return given_##t##_##size(mask, x, lane() ^ n);                                            \
    }                                                                                              \
    API t ingot_masked_##kind##_shuffle_up_##t(u32 mask, t x, u32 n) {                             \
        u32 i = lane() % size;                                                                     \
        return given_##t##_##size(mask, x, i >= n ? i - n : i);                                    \
    }                                                                                              \
    API t ingot_masked_##kind##_shuffle_down_##t(u32 mask, t x, u32 n) {                           \
        u32 i = lane() % size;                                                                     \
        return given_##t##_##size(mask, x, n < size - i ? i + n : i);                              \
    }                                                                                              \
    API t ingot_masked_##kind##_shuffle_rotate_up_##t(u32 mask, t x, u32 n) {                      \
        return given_##t##_##size(mask, x, lane() - n);                                            \
    }                                                                                              \
    API t ingot_masked_##kind##_shuffle_rotate_down_##t(u32 mask, t x, u32 n) {                    \
        return given_##t##_##size(mask, x, lane() + n);                                            \
    }                                                                                              \
    API t ingot_masked_##kind##_shuffle_and_fill_up_##t(u32 mask, t x, t fill, u32 n, u32 m) {     \
        m = modulo(m, size);                                                                       \
        u32 i = lane() % size, from = i / m * m + (i % m + m - n) % m;                             \
        t y = given_##t##_##size(mask, x, from), f = given_##t##_##size(mask, fill, from);         \
        return i % m < n ? f : y;                                                                  \
    }                                                                                              \
    API t ingot_masked_##kind##_shuffle_and_fill_down_##t(u32 mask, t x, t fill, u32 n, u32 m) {   \
        m = modulo(m, size);                                                                       \
        u32 i = lane() % size, from = i / m * m + (i % m + n) % m;                                 \
        t y = given_##t##_##size(mask, x, from), f = given_##t##_##size(mask, fill, from);         \
        return i % m + n >= m ? f : y;                                                             \
    }                                                                                              \
    API t ingot_masked_##kind##_broadcast_first_##t(u32 mask, t x) {                               \
        return from_##t(mask, x, (u32)__builtin_ctz(size == 4 ? quad_of(mask) : mask));            \
    }
INLINE u32 modulo(u32 m, u32 size) { return m == 0 || m > size || (m & (m - 1)) ? size : m; }
SHUFFLES(simd, i32, 32)
SHUFFLES(simd, i64, 32)
SHUFFLES(simd, f32, 32)
SHUFFLES(quad, i32, 4)
SHUFFLES(quad, i64, 4)
SHUFFLES(quad, f32, 4)

// ---- votes ----

INLINE u32 in_quad(u32 bits) { return quad_of(bits) >> (lane() & ~3u); }
API u64 ingot_masked_simd_ballot(u32 mask, _Bool x) { return ballot(mask, x); }
API u32 ingot_masked_quad_ballot(u32 mask, _Bool x) { return in_quad(ballot(mask, x)); }
API _Bool ingot_masked_simd_all(u32 mask, _Bool x) { return ballot(mask, !x) == 0; }
API _Bool ingot_masked_simd_any(u32 mask, _Bool x) { return ballot(mask, x) != 0; }
API _Bool ingot_masked_quad_all(u32 mask, _Bool x) { return quad_of(ballot(mask, !x)) == 0; }
API _Bool ingot_masked_quad_any(u32 mask, _Bool x) { return quad_of(ballot(mask, x)) != 0; }
API _Bool ingot_masked_simd_is_first(u32 mask) { return lane() == (u32)__builtin_ctz(mask); }
API _Bool ingot_masked_quad_is_first(u32 mask) {
    return lane() == (u32)__builtin_ctz(quad_of(mask));
}
API u64 ingot_masked_simd_active_mask(u32 mask) { return mask; }
API u32 ingot_masked_quad_active_mask(u32 mask) { return in_quad(mask); }
