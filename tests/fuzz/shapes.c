// SPDX-License-Identifier: Apache-2.0
// shapes.c: hand-made kernels, each named after its difficulty. Threads write only places of their
// own (by their index in the grid row), so that the order of lanes does not matter.
#include "kernel.h"
#define X                                                                                          \
    int x = GID(0), y = GID(1);                                                                    \
    int id = ROW(y) + x;                                                                           \
    (void)x, (void)y, (void)id

void k_vadd(KARGS) {
    X;
    c[id] = a[id] + b[id];
}
void k_guarded(KARGS) {
    X;
    if (x < n) c[id] = a[x] + b[x];
}
void k_unsigned_offset(KARGS) {
    X;
    unsigned i = (unsigned)x;
    if (i >= 5u && i < (unsigned)w) c[id] = a[i - 5u] + b[i + 3u];
}
void k_mandelbrot(KARGS) {
    X;
    float cx = x * (3.0f / 128) - 2.0f, cy = y * (2.0f / 64) - 1.0f, zx = 0, zy = 0;
    int it = 0;
    while (it < n && zx * zx + zy * zy <= 4.0f) {
        float nx = zx * zx - zy * zy + cx;
        zy = 2.0f * zx * zy + cy;
        zx = nx;
        it++;
    }
    c[id] = (float)it;
}
static int clampi(int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; }
void k_blur(KARGS) {
    X;
    float s = 0;
#pragma unroll
    for (int dy = -2; dy <= 2; dy++)
#pragma unroll
        for (int dx = -2; dx <= 2; dx++)
            s += b[(dy + 2) * 5 + dx + 2] *
                 a[(long)clampi(y + dy, 0, h - 1) * w + clampi(x + dx, 0, w - 1)];
    c[id] = s;
}
void k_matmul(KARGS) {
    X;
    float s = 0;
    for (int k = 0; k < n; k++) s += a[(long)y * n + k] * b[(long)k * n + x];
    c[id] = s;
}
void k_matmul_uint(KARGS) {
    X;
    float s = 0;
    unsigned m = (unsigned)n;
    for (unsigned k = 0; k < m; k++) s += a[(unsigned)y * m + k] * b[k * m + (unsigned)x];
    c[(unsigned)id] = s;
}
void k_collatz(KARGS) {
    X;
    unsigned v = (unsigned)p[id] & 0xffff;
    int s = 0;
    while (v > 1) {
        v = v & 1 ? 3 * v + 1 : v / 2;
        s++;
    }
    q[id] = s;
}
void k_nested_break_continue_return(KARGS) {
    X;
    int s = 0;
    for (int i = 0; i < (p[id] & 15); i++) {
        if (i == (x & 7)) continue;
        for (int j = 0; j < 12; j++) {
            if (((p[j + i] ^ x) & 7) == 5) break;
            if ((s & 31) == 7) {
                s += 3;
                continue;
            }
            s = s * 5 + j + i;
            if (s > 1000000) {
                q[id] = -s;
                return;
            }
            if (s < -1000000) goto out;
        }
        s ^= i * 77;
    }
out:
    q[id] = s + x;
}
void k_switch_fallthrough(KARGS) {
    X;
    int v = p[id], r = 0;
    switch ((unsigned)v % 9u) {
    case 0: r = v * 3; break;
    case 1: r = v + 7; // fall through
    case 2: r ^= 0x55; break;
    case 4:
        for (int i = 0; i < (v & 3); i++) r += i * x;
        break;
    case 5: q[id] = 1; return;
    case 7: r = -v; // fall through
    default: r -= 11;
    }
    q[id] = r;
}
void k_live_out_of_nested_loops(KARGS) {
    X;
    int i = 0, j = 0, t = 0, last = -1;
    do {
        j = 0;
        do {
            last = i * 100 + j;
            t += last & 3;
            j++;
        } while (j < ((p[id] + i) & 7));
        i++;
        if (t > 60) break;
    } while (i < (p[id + 1] & 15));
    q[id] = last * 64 + i * 8 + j + t;
}
void k_private_array_dynamic(KARGS) {
    X;
    int t[16];
    for (int i = 0; i < 16; i++) t[i] = p[id + i] & 255;
    int s = 0;
    for (int i = 0; i < 40; i++) {
        int k = (p[id] + i * 7) & 15;
        t[k] = t[(k + t[i & 15]) & 15] + i;
        s += t[k ^ 3];
    }
    q[id] = s + t[x & 15];
}
struct S {
    int k;
    float f;
    short m;
    char z;
};
void k_private_structs_mixed(KARGS) {
    X;
    struct S s[4];
    for (int i = 0; i < 4; i++)
        s[i] = (struct S){p[id + i], a[id + i], (short)(x * 7 + i), (char)i};
    int k = p[id] & 3;
    s[k].f += s[(k + 1) & 3].k;
    s[(k + 2) & 3].m = (short)s[k].k;
    struct S u = s[p[id + 1] & 3];
    c[id] = u.f + u.m;
    q[id] = u.k + u.z + s[1].m;
}
// Sums at an index and numbers of other sizes in one variable: cells of words.
struct Tile {
    float sums[4][2];
    short row, column;
    unsigned char tags[2];
    long long both;
    float scale;
};
void k_private_members(KARGS) {
    X;
    struct Tile t;
    t.row = (short)(x * 5), t.column = (short)p[id], t.scale = b[id] * 0.25f;
    t.tags[0] = (unsigned char)(x + 250), t.tags[1] = (unsigned char)p[id + 2];
    for (int i = 0; i < 4; i++) t.sums[i][0] = t.sums[i][1] = 0;
    t.both = p[id + 1];
    for (int i = 0; i < (p[id] & 31); i++) {
        int k = (i * 3 + (i > 9 ? x : 0)) & 3;
        t.sums[k][i & 1] += a[id + i % 5] * t.scale;
        if (k == 1) t.row = (short)(t.row + t.column * 3), t.tags[i & 1] ^= (unsigned char)i;
        if (i & 4) t.both += (long long)t.row << 30;
    }
    float s = 0;
    for (int i = 0; i < 4; i++) s = s * 0.5f + t.sums[i][0] - t.sums[3 - i][1];
    c[id] = s + t.column + t.tags[0];
    q[id] = t.row + t.tags[1] * 7 + (int)(t.both >> 29);
}
void k_float4(KARGS) {
    X;
    const f4 *va = (const f4 *)a, *vb = (const f4 *)b;
    f4 u = va[id], v = vb[id];
    f4 r = u * v + u.wzyx;
    if (r.x > r.y) r.zw += v.xy;
    r[p[id] & 3] = 1.5f;
    float d = r.x * u.x + r.y * u.y + r.z * u.z + r.w * u.w;
    ((f4 *)c)[id] = r * d - (f4)(u.x < v.y ? 2.0f : 0.5f);
}
void k_float3_cross(KARGS) {
    X;
    const f3 *va = (const f3 *)a;
    f3 u = va[id], v = va[id + 1];
    f3 r = u.yzx * v.zxy - u.zxy * v.yzx;
    c[3 * id] = r.x;
    c[3 * id + 1] = r.y;
    c[3 * id + 2] = r.z;
}
void k_pairs_and_triples(KARGS) {
    X;
    c[2 * id] = a[2 * id + 1];
    c[2 * id + 1] = a[2 * id] * b[3 * id + 1];
}
void k_backwards(KARGS) {
    X;
    c[8191 - id] = a[9000 - id] + b[id];
}
void k_int4_select(KARGS) {
    X;
    i4 v = *(const i4 *)(p + 4 * id);
    i4 m = v > (i4)0;
    i4 r = m ? v * 3 : ~v;
    ((i4 *)q)[id] = r >> 1;
}
void k_divisions(KARGS) {
    X;
    int d = p[id] & 3, v = p[id + 1];
    unsigned u = (unsigned)v;
    int r = 0;
    if (d) r = v / d + v % d + (int)(u / (unsigned)d) - (int)(u % 7u);
    if (d > 1) r += (int)(((long long)v * 77) / d);
    q[id] = r;
}
void k_divide_uniform(KARGS) {
    X;
    int r = 0;
    for (int i = -3; i < 9; i++) {
        if (i) r += p[id] / i + h % i;
    }
    q[id] = r + id / h + id % w;
}
void k_intrinsics(KARGS) {
    X;
    float v = a[id], u = b[id];
    f4 w4 = ((const f4 *)a)[id];
    c[id] = __builtin_elementwise_sqrt(__builtin_elementwise_abs(v)) +
            __builtin_elementwise_fma(v, u, 1.0f) + __builtin_elementwise_floor(u * 9) +
            __builtin_elementwise_copysign(u, v) +
            __builtin_elementwise_max(v, u) * __builtin_elementwise_minnum(v, 0.25f) +
            __builtin_elementwise_sqrt(__builtin_elementwise_abs(w4)).z + __builtin_reduce_max(w4);
    int r = __builtin_popcount((unsigned)p[id]) + __builtin_clz((unsigned)p[id] | 1u) +
            __builtin_elementwise_max(p[id], p[id + 1]) + (int)__builtin_bswap32((unsigned)p[id]) +
            (int)__builtin_rotateleft32((unsigned)p[id], (unsigned)x & 31u) +
            __builtin_elementwise_add_sat(p[id], p[id + 2] << 8);
    int o;
    if (__builtin_mul_overflow(p[id], p[id + 3], &o)) o = 7;
    q[id] = o ^ r;
}
float sinf(float);
float powf(float, float);
void k_unknown_functions(KARGS) {
    X;
    float v = a[id];
    if (v > 0) v = sinf(v * 3) + powf(v, b[id]);
    c[id] = v;
}
void k_half(KARGS) {
    X;
    const _Float16 *ha = (const _Float16 *)p;
    float v = (float)ha[id], u = (float)ha[(p[id] & 1023) + 1];
    ((_Float16 *)q)[id] = (_Float16)(v + (u < 100 ? 1 : 2));
}
void k_bytes(KARGS) {
    X;
    const unsigned char *s = (const unsigned char *)p;
    unsigned char *d = (unsigned char *)q;
    d[id] = (unsigned char)(s[id] + s[id + 3] * 3 + s[s[id] * 5 + s[id + 1]]);
    ((short *)(q + 32768))[id] = ((const short *)p)[p[id] & 2047];
}
void k_uniform_branches(KARGS) {
    X;
    int r = x;
    if (n > 3) {
        for (int i = 0; i < h; i++) r += p[i];
    } else
        r = -1;
    if (p[0] & 1)
        r ^= p[y];
    else if (x & 2)
        r += y;
    q[id] = r;
}
void k_atomics(KARGS) {
    X;
    if (p[id] & 1) __atomic_fetch_add(&q[40000 + (p[id] & 63)], x, __ATOMIC_RELAXED);
    __atomic_fetch_add(&q[40100], 3, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&q[40101], x, __ATOMIC_RELAXED);
    __atomic_fetch_or(&q[40102], p[id], __ATOMIC_RELAXED);
    if (p[id] & 2) __atomic_fetch_xor(&q[40103], p[id], __ATOMIC_RELAXED);
    __atomic_fetch_max(&q[40104], p[id], __ATOMIC_RELAXED);
    __atomic_fetch_min((unsigned *)&q[40105], (unsigned)p[id], __ATOMIC_RELAXED);
    int e = 5;
    __atomic_compare_exchange_n(&q[40200 + (x & 31)], &e, x, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
void k_atomic_results(KARGS) {
    X;
    int r = __atomic_fetch_add(&q[40000], 7, __ATOMIC_RELAXED), s = 0;
    if (p[id] & 1) s = __atomic_fetch_add(&q[40001], p[id] & 15, __ATOMIC_RELAXED);
    if (p[id] & 2) s ^= __atomic_fetch_sub(&q[40002], x, __ATOMIC_RELAXED);
    q[id] = r * 3 + s + __atomic_exchange_n(&q[40003], x, __ATOMIC_RELAXED);
}
void k_irreducible(KARGS) {
    X;
    int s = p[id] & 255, i = 0;
    if (s & 1) goto bb;
aa:
    s += p[id + (i & 3)] & 7;
    if (++i > 30) goto ee;
bb:
    s ^= i;
    if ((s & 15) != 9) goto aa;
ee:
    q[id] = s * 100 + i;
}
void k_pointer_select(KARGS) {
    X;
    int t[8], u[8];
    for (int i = 0; i < 8; i++) {
        t[i] = p[id + i];
        u[i] = ~p[id + i];
    }
    int *z = p[id] & 4 ? t : u;
    z[p[id + 1] & 7] = 5;
    const int *g = x & 1 ? p : q + 16384;
    q[id] = z[p[id + 2] & 7] + t[p[id + 3] & 7] + g[id];
}
void k_pointer_select_mixed(KARGS) {
    X;
    int t[8];
    for (int i = 0; i < 8; i++) t[i] = p[id + i];
    const int *z = p[id] & 4 ? t : p + 512;
    q[id] = z[p[id + 1] & 7];
}
void k_even_odd(KARGS) {
    X;
    float acc = 0;
    for (int i = 0; i < 64; i++) {
        float v = a[id + i];
        if (v > 0)
            acc += v * 3;
        else
            acc -= v;
        if (acc > 40) {
            acc -= 39;
            if (v > 0.4f) acc += b[i];
        }
    }
    c[id] = acc;
}
void k_uniform_store_last_lane(KARGS) {
    X;
    q[50000 + y] = x * 3;
    if (p[id] & 1) q[50100 + GID(2)] = p[id];
}
void k_memory_functions(KARGS) {
    X;
    int t[40], u[40];
    __builtin_memcpy(t, p + id, sizeof t);
    __builtin_memset(u, x & 3, (unsigned long)(n - 24) * 4);
    int m = p[id] & 31;
    __builtin_memmove(t + (m & 7), t + 3, (unsigned long)m * 4);
    int s = 0;
    for (int i = 0; i < 40; i++) s = s * 31 + t[i] + (i < 40 ? u[i] : 0);
    q[id] = s;
}
void k_memcpy_large(KARGS) {
    X;
    int t[100];
    __builtin_memcpy(t, p + id, sizeof t);
    int s = 0;
    for (int i = 0; i < 100; i++) s = s * 7 + t[(i * 13) % 100];
    q[id] = s;
}
void k_wide_integers(KARGS) {
    X;
    __int128 v = *(const __int128 *)(p + 4 * id);
    v = v * 3 + x;
    q[id] = (int)(v >> 70) ^ (int)v;
}
void k_long_mix(KARGS) {
    X;
    long v = (long)p[id] * p[id + 1];
    unsigned long u = (unsigned long)v >> (x & 31);
    q[id] = (int)(v % ((p[id + 2] & 255) + 1)) + (int)(u / 3) + (int)__builtin_popcountl(u);
}
void k_volatile(KARGS) {
    X;
    volatile int *v = q;
    v[id] = p[id];
    v[id] += x;
}
void k_tiled_access(KARGS) { // the address patterns of a 16x16-tile product
    X;
    int tx = TID(0), ty = TID(1);
    float s = 0;
    const float *as = a + 1024, *bs = b + 2048;
    for (int t = 0; t < n / 16; t++) {
        s += a[(y * n + t * 16 + tx) & 16383];
        for (int k = 0; k < 16; k++) s += as[ty * 16 + k] * bs[k * 16 + tx];
    }
    c[id] = s;
}
void k_tiled_uint(KARGS) {
    X;
    unsigned tx = (unsigned)TID(0), ty = (unsigned)TID(1);
    float s = 0;
    unsigned m = (unsigned)n;
    for (unsigned k = 0; k < m; k++) {
        s += a[(unsigned)y * m + k] * b[k * m + (unsigned)x];
        if (ty > 2 && (unsigned)x < m) s -= a[ty * 16u + k] + b[(ty - 3u) * m + tx];
    }
    c[(unsigned)id] = s;
}
void k_short_positions(KARGS) {
    X;
    unsigned short tx = (unsigned short)TID(0), ty = (unsigned short)TID(1);
    unsigned short k = (unsigned short)(ty * 16 + tx);
    c[id] = a[k] + b[(unsigned short)(k + 5)];
    ((f4 *)(c + 32768))[id & 4095] = ((const f4 *)a)[k];
}
void k_one_lane_short(KARGS) {
    X;
    if (TID(0) == 0 && TID(1) == 0) ((short *)q)[id] = (short)(p[id] * 3);
    if (TID(0) == 1) ((unsigned char *)(q + 16384))[id] = (unsigned char)(p[id] + 7);
}
void k_all_positions(KARGS) {
    X;
    int s = 0;
#pragma unroll
    for (int i = 0; i < 20; i++)
#pragma unroll
        for (int d = 0; d < 3; d++) s = s * 31 + __ingot_position(i, d);
    q[id] = s;
}
void k_endless_if_negative(KARGS) {
    X;
    int i = 0;
    if (n < 0)
        for (;;) q[i++ & 1023] += id;
    q[id] = x;
}
void k_segment_clamp(KARGS) {
    X;
    int xx = clampi(x - 2, 0, w - 1), yy = clampi(y + 1, 0, h - 1);
    c[id] = a[yy * w + xx] + a[clampi(y - 1, 0, h - 1) * w + clampi(x + 1, 0, w - 1)];
}
void k_wrapped_when_inactive(KARGS) {
    X;
    unsigned i = (unsigned)x;
    float s = 0;
    if (i >= 7u) {
        unsigned long o = (unsigned long)(i - 7u);
        for (int k = 0; k < 3; k++) s += a[o * 4u + (unsigned)k];
    }
    c[id] = s;
}
// Lanes dealt out to blocks of 34 bytes: four of them read eight bytes each, and all the first two.
void k_blocks(KARGS) {
    X;
    const unsigned char *bytes = (const unsigned char *)p;
    int lane = LANE(), sum = 0;
    for (int block = lane / 4; block < n; block += 8) {
        const unsigned char *at = bytes + block * 34, *own = at + 2 + lane % 4 * 8;
        int part = 0;
        for (int k = 0; k < 8; k++) part += (signed char)own[k] * (k + 1);
        sum += part * *(const short *)at;
    }
    q[id] = sum;
}
void k_blocks_of_words(KARGS) {
    X;
    float s = 0;
    for (int j = LANE() / 8; j < w; j += 4)
        s += a[j * 40 + LANE() % 8 * 4] * b[j * 5 + LANE() % 8 / 4] + a[j + SIMDGROUP()];
    c[id] = s;
}
void k_dealt_stores(KARGS) {
    X;
    q[id * 8 + LANE() % 4 * 2] = x;
    if (LANE() % 8 < 5) q[id * 8 + LANE() % 4 * 2 + 1] = y;
    ((short *)(q + 49152))[id * 4 + QUAD_LANE()] = (short)(x + y);
}
// The first lanes would wrap; they are not there.
void k_wrapped_shape(KARGS) {
    X;
    unsigned i = (unsigned)(LANE() / 4);
    float s = 0;
    if (i >= 5u) s = a[(unsigned long)(i - 5u) * 4u] + a[i - 3u];
    c[id] = s;
}
