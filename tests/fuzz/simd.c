// SPDX-License-Identifier: Apache-2.0
// simd.c: SIMD-group and quad-group functions, in uniform flow, under divergence and in loops.
// AT(depth, n), ITER(depth) tell the reference where a lane is; see kernel.h.
#include "kernel.h"
#define X                                                                                          \
    int x = GID(0), y = GID(1);                                                                    \
    int id = ROW(y) + x;                                                                           \
    int step = 0;                                                                                  \
    (void)x, (void)id, (void)step
#define NEXT AT(0, ++step)
#define ALL_REDUCE(s, T, v)                                                                        \
    T r_##s = 0;                                                                                   \
    NEXT;                                                                                          \
    r_##s += __ingot_simd_sum_##s(v);                                                              \
    NEXT;                                                                                          \
    r_##s = r_##s * 3 + __ingot_simd_product_##s(v);                                               \
    NEXT;                                                                                          \
    r_##s = r_##s * 3 + __ingot_simd_min_##s(v);                                                   \
    NEXT;                                                                                          \
    r_##s = r_##s * 3 + __ingot_simd_max_##s(v);                                                   \
    NEXT;                                                                                          \
    r_##s = r_##s * 3 + __ingot_quad_sum_##s(v);                                                   \
    NEXT;                                                                                          \
    r_##s = r_##s * 3 + __ingot_quad_product_##s(v);                                               \
    NEXT;                                                                                          \
    r_##s = r_##s * 3 + __ingot_quad_min_##s(v);                                                   \
    NEXT;                                                                                          \
    r_##s = r_##s * 3 + __ingot_quad_max_##s(v);                                                   \
    NEXT;                                                                                          \
    r_##s = r_##s * 3 + __ingot_simd_prefix_inclusive_sum_##s(v);                                  \
    NEXT;                                                                                          \
    r_##s = r_##s * 3 + __ingot_simd_prefix_exclusive_sum_##s(v);                                  \
    NEXT;                                                                                          \
    r_##s = r_##s * 3 + __ingot_simd_prefix_inclusive_product_##s(v);                              \
    NEXT;                                                                                          \
    r_##s = r_##s * 3 + __ingot_simd_prefix_exclusive_product_##s(v)
#define ALL_LOGIC(s, v)                                                                            \
    NEXT;                                                                                          \
    r_##s = r_##s * 3 + __ingot_simd_and_##s(v);                                                   \
    NEXT;                                                                                          \
    r_##s = r_##s * 3 + __ingot_simd_or_##s(v);                                                    \
    NEXT;                                                                                          \
    r_##s = r_##s * 3 + __ingot_simd_xor_##s(v);                                                   \
    NEXT;                                                                                          \
    r_##s = r_##s * 3 + __ingot_quad_and_##s(v);                                                   \
    NEXT;                                                                                          \
    r_##s = r_##s * 3 + __ingot_quad_or_##s(v);                                                    \
    NEXT;                                                                                          \
    r_##s = r_##s * 3 + __ingot_quad_xor_##s(v)
#define REDUCE_KERNEL(s, T, cast)                                                                  \
    void k_reduce_##s(KARGS) {                                                                     \
        X;                                                                                         \
        unsigned long res = 0;                                                                     \
        if (p[id] & 3) {                                                                           \
            T v = (T)(cast)p[id] * (T)0x10001;                                                     \
            ALL_REDUCE(s, T, v);                                                                   \
            ALL_LOGIC(s, v);                                                                       \
            res = (unsigned long)r_##s;                                                            \
        }                                                                                          \
        q[id] = (int)res;                                                                          \
        q[id + 16384] = (int)(res >> 32);                                                          \
    }
REDUCE_KERNEL(i32, int, int)
REDUCE_KERNEL(u32, unsigned, int)
REDUCE_KERNEL(i64, long, int)
REDUCE_KERNEL(u64, unsigned long, int)
void k_reduce_f32(KARGS) {
    X;
    float o = 0;
    if (a[id] > -6) {
        float v = a[id];
        ALL_REDUCE(f32, float, v);
        o = r_f32;
    }
    c[id] = o;
}
void k_reduce_full(KARGS) {
    X;
    NEXT;
    float s = __ingot_simd_sum_f32(a[id]);
    NEXT;
    float m = __ingot_simd_max_f32(a[id]);
    NEXT;
    int i = __ingot_simd_min_i32(p[id]);
    c[id] = s + m;
    q[id] = i;
}
#define VOTE(value)                                                                                \
    NEXT;                                                                                          \
    r = r * 7 + (value)
void k_votes(KARGS) {
    X;
    unsigned long r = 0;
    if (p[id] & 6) {
        _Bool t = (p[id] & 5) == 4;
        VOTE(__ingot_simd_ballot(t));
        VOTE(__ingot_quad_ballot(t));
        VOTE(__ingot_simd_all(t));
        VOTE(__ingot_simd_any(t));
        VOTE(__ingot_quad_all(t));
        VOTE(__ingot_quad_any(t));
        VOTE(__ingot_simd_is_first());
        VOTE(__ingot_quad_is_first());
        VOTE(__ingot_simd_active_mask());
        VOTE(__ingot_quad_active_mask());
        VOTE((unsigned long)__ingot_simd_broadcast_first_i32(p[id]));
        VOTE((unsigned long)__ingot_quad_broadcast_first_i64(p[id]));
    }
    q[id] = (int)r;
    q[id + 16384] = (int)(r >> 32);
}
// A result counts only where its source lane is active: that is all the language defines.
#define FROM(m, l) (((m) >> ((l) & 31)) & 1)
#define MOVE(fn, s, T, v, by, src)                                                                 \
    {                                                                                              \
        NEXT;                                                                                      \
        T t_ = __ingot_##fn##_##s(v, by);                                                          \
        if (FROM(on, src)) r = r * 5 + (long)t_;                                                   \
    }
#define MOVES(s, T, v, d)                                                                          \
    MOVE(simd_shuffle, s, T, v, d, d)                                                              \
    MOVE(simd_shuffle_up, s, T, v, d, l >= (d) ? l - (d) : l)                                      \
    MOVE(simd_shuffle_down, s, T, v, d, l + (d) < 32 ? l + (d) : l)                                \
    MOVE(simd_shuffle_xor, s, T, v, d, l ^ (d))                                                    \
    MOVE(simd_shuffle_rotate_up, s, T, v, d, l - (d))                                              \
    MOVE(simd_shuffle_rotate_down, s, T, v, d, l + (d))                                            \
    MOVE(quad_shuffle, s, T, v, (d) & 3, (l & ~3) + ((d) & 3))                                     \
    MOVE(quad_shuffle_xor, s, T, v, (d) & 3, l ^ ((d) & 3))                                        \
    MOVE(quad_shuffle_up, s, T, v, (d) & 3, (l & 3) >= ((d) & 3) ? l - ((d) & 3) : l)              \
    MOVE(quad_shuffle_down, s, T, v, (d) & 3, (l & 3) + ((d) & 3) < 4 ? l + ((d) & 3) : l)         \
    MOVE(quad_shuffle_rotate_up, s, T, v, (d) & 3, (l & ~3) + (((l & 3) - ((d) & 3)) & 3))         \
    MOVE(quad_shuffle_rotate_down, s, T, v, (d) & 3, (l & ~3) + (((l & 3) + ((d) & 3)) & 3))
#define MOVE_KERNEL(name, s, T, from, by)                                                          \
    void k_move_##name(KARGS) {                                                                    \
        X;                                                                                         \
        long r = 0;                                                                                \
        if (p[id] & 7) {                                                                           \
            NEXT;                                                                                  \
            unsigned long on = __ingot_simd_active_mask();                                         \
            int l = LANE();                                                                        \
            T v = (T)from;                                                                         \
            int d = by;                                                                            \
            MOVES(s, T, v, d)                                                                      \
        }                                                                                          \
        q[id] = (int)r;                                                                            \
        q[id + 16384] = (int)(r >> 32);                                                            \
    }
MOVE_KERNEL(i32_constant, i32, int, p[id], 5)
MOVE_KERNEL(i32_uniform, i32, int, p[id], (h & 31))
MOVE_KERNEL(i32_varying, i32, int, p[id], (p[id + 1] & 31))
MOVE_KERNEL(i64_constant, i64, long, p[id] * 77777l, 18)
MOVE_KERNEL(i64_varying, i64, long, p[id] * 77777l, (p[id + 1] & 31))
MOVE_KERNEL(f32_constant, f32, float, a[id] * 8, 1)
MOVE_KERNEL(f32_varying, f32, float, a[id] * 8, (p[id + 1] & 31))
#define WHOLE                                                                                      \
    NEXT;                                                                                          \
    if (__ingot_simd_active_mask() != 0xffffffffu)                                                 \
    return // what other lanes hold is defined only then
void k_fill(KARGS) {
    X;
    long r = 0;
    int d = h & 3;
    WHOLE;
    NEXT;
    r = r * 5 + __ingot_simd_shuffle_and_fill_up_i32(p[id], q[id], 3, 32);
    NEXT;
    r = r * 5 + __ingot_simd_shuffle_and_fill_down_i32(p[id], q[id], 7, 32);
    NEXT;
    r = r * 5 + __ingot_simd_shuffle_and_fill_up_i64(p[id], q[id], 3, 8);
    NEXT;
    r = r * 5 + __ingot_simd_shuffle_and_fill_down_i32(p[id], q[id], (unsigned)d, 16);
    NEXT;
    r = r * 5 + (long)__ingot_simd_shuffle_and_fill_up_f32(a[id], b[id], (unsigned)d, 16);
    NEXT;
    r = r * 5 + __ingot_quad_shuffle_and_fill_up_i32(p[id], q[id], 1, 4);
    NEXT;
    r = r * 5 + __ingot_quad_shuffle_and_fill_down_i32(p[id], q[id], (unsigned)d, 4);
    q[id + 16384] = (int)r;
}
void k_matrix(KARGS) {
    X;
    WHOLE;
    f2 u = {a[2 * id], a[2 * id + 1]}, v = {b[2 * id], b[2 * id + 1]}, z = {1, -2};
    NEXT;
    f2 d = __ingot_simdgroup_mma_f32(u, v, z);
    NEXT;
    d = __ingot_simdgroup_mma_f32(d, u, v);
    c[id] = d.x;
    c[id + 16384] = d.y;
}
void k_in_divergent_loop(KARGS) { // lanes leave in different iterations
    X;
    int s = 0;
    AT(0, 1);
    for (int i = 0; i < (p[id] & 15); i++) {
        ITER(0);
        AT(1, 0);
        s += __ingot_simd_sum_i32(i + x);
        AT(1, 1);
        if (s & 1) {
            AT(2, 0);
            s ^= (int)__ingot_simd_ballot(s & 2);
        }
    }
    AT(0, 1000);
    s += __ingot_simd_prefix_exclusive_sum_i32(s & 255);
    q[id] = s;
}
void k_after_early_return(KARGS) {
    X;
    if (p[id] & 1) {
        q[id] = 1;
        return;
    }
    NEXT;
    int s = __ingot_simd_sum_i32(p[id]);
    if (s & 4) {
        NEXT;
        s += __ingot_simd_broadcast_first_i32(x);
    }
    q[id] = s;
}
