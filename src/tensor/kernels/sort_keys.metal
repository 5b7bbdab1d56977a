// SPDX-License-Identifier: Apache-2.0
// sort_keys.metal: unsigned numbers in the order that is wanted, and rows of up to 4096 by them
// (sort.c).
//
// Macros: ELEMENT=half,float,bfloat,char,short,int,uchar KEY=uint
// Macros: ELEMENT=half,float,bfloat,char,short,int,uchar KEY=uint V=1,2,4
// Macros: ELEMENT=long KEY=ulong
#include <metal_stdlib>
using namespace metal;
typedef ELEMENT T;

inline uint order(float x) {
    uint u = as_type<uint>(x == 0 ? 0.0f : x); // -0 is 0
    return isnan(x) ? 0xFFFFFFFFu : u >> 31 ? ~u : u | 0x80000000u;
}

// 16 bits of it say everything; a half has as many after a shift of its exponent.
inline uint key(float x) { return order(x); }
inline uint key(bfloat x) { return order(float(x)) >> 16; }
inline uint key(half x) {
    uint u = as_type<ushort>(x == half(0) ? half(0) : x);
    return isnan(x) ? 0xFFFFu : u >> 15 ? u ^ 0xFFFFu : u | 0x8000u;
}

inline uint key(char x) { return uint(int(x) + 128); }
inline uint key(uchar x) { return x; }
inline uint key(short x) { return uint(int(x) + 32768); }
inline uint key(int x) { return uint(x) ^ 0x80000000u; }
inline ulong key(long x) { return ulong(x) ^ (1ul << 63); }

// p: xor, as two words
kernel void keys(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                 device KEY *y [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    y[i] = key(x[i]) ^ KEY(as_type<ulong>(int2(p[0], p[1])));
}

#ifdef V
// Batcher's bitonic sort by a SIMD-group: blocks of V elements a thread in registers, what is further
// apart in threadgroup memory. A key and its position are one number: no two are equal, and equal keys
// stay in the order of the row. Where a run goes down its bits are turned over, so that all code is
// for runs that go up.
enum { BLOCK = 32 * V, MOST = 4096 };
template <int BYTES> struct Number {
    typedef long type; // the key in the upper half
    static long of(uint key, int i) { return long(int(key ^ 0x80000000u)) << 32 | long(i); }
    static constant constexpr long last = LONG_MAX;
};
template <> struct Number<2> {
    typedef uint type;
    static uint of(uint key, int i) { return key << 16 | uint(i); }
    static constant constexpr uint last = UINT_MAX;
};
template <> struct Number<1> : Number<2> {};

// Whether elements e of threads belong to a run of K that goes down.
#define DOWN(K) ((K) < 32 ? (lane & (K)) != 0 : (K) < BLOCK && (e * 32 & (K)) != 0)

template <int K, int J, typename N> inline N between_threads(N v, int e, ushort lane) {
    const N other = simd_shuffle_xor(v, ushort(J)), low = min(v, other), high = max(v, other);
    return ((lane & J) != 0) != DOWN(K) ? high : low;
}

template <int K, int J, typename N> inline void in_thread(thread N (&v)[V], ushort lane) {
    for (int e = 0; e < V; e++) {
        if (e & J / 32) continue;
        const N low = min(v[e], v[e + J / 32]), high = max(v[e], v[e + J / 32]);
        v[e] = DOWN(K) ? high : low;
        v[e + J / 32] = DOWN(K) ? low : high;
    }
}

// Two runs of K / 2 become one.
template <int K, typename N> inline void merge(thread N (&v)[V], ushort lane) {
    if (K > 64) in_thread<K, 64>(v, lane);
    if (K > 32) in_thread<K, 32>(v, lane);
    for (int e = 0; e < V; e++) { // one after the other: fewer registers
        if (K > 16) v[e] = between_threads<K, 16>(v[e], e, lane);
        if (K > 8) v[e] = between_threads<K, 8>(v[e], e, lane);
        if (K > 4) v[e] = between_threads<K, 4>(v[e], e, lane);
        if (K > 2) v[e] = between_threads<K, 2>(v[e], e, lane);
        v[e] = between_threads<K, 1>(v[e], e, lane);
    }
}

template <typename N> inline void sort_block(thread N (&v)[V], ushort lane) {
    merge<2>(v, lane);
    merge<4>(v, lane);
    merge<8>(v, lane);
    merge<16>(v, lane);
    merge<32>(v, lane);
    if (V > 1) merge<(V > 1 ? 64 : 2)>(v, lane);
    if (V > 2) merge<(V > 2 ? 128 : 2)>(v, lane);
}

// One block by the upper bits of its keys alone, in half as many registers: false if two are equal.
inline bool sort_upper(device const T *x, uint flip, int n, thread int (&places)[V], ushort lane) {
    uint v[V];
    for (int e = 0; e < V; e++) {
        const int i = e * 32 + int(lane);
        v[e] = ~0u;
        if (i < n) v[e] = ((key(x[i]) ^ flip) & ~uint(BLOCK - 1)) | uint(i);
    }
    sort_block(v, lane);
    bool equal = false;
    for (int e = 0; e < V; e++) {
        uint next = simd_shuffle_down(v[e], 1);
        if (lane == 31) next = e < V - 1 ? simd_broadcast_first(v[e + 1 < V ? e + 1 : e]) : ~v[e];
        equal |= (v[e] ^ next) < BLOCK && e * 32 + int(lane) + 1 < n;
        places[e] = int(v[e] & (BLOCK - 1));
    }
    return !simd_any(equal);
}

// p: xor, as two words, n, k, a power of two of at least n and BLOCK
kernel void rows(constant int *p [[buffer(0)]], device const T *all [[buffer(1)]],
                 device int *y [[buffer(2)]], uint row [[threadgroup_position_in_grid]],
                 ushort lane [[thread_index_in_simdgroup]]) {
    typedef Number<sizeof(T)> Whole;
    typedef Whole::type N;
    threadgroup N keys[MOST];
    const uint flip = uint(p[0]);
    const int n = p[2], k = p[3], size = p[4], self = int(lane);
    device const T *x = all + int(row) * n;
    if (sizeof(T) > 2 && size == BLOCK) {
        int places[V];
        if (sort_upper(x, flip, n, places, lane)) {
            for (int e = 0; e < V; e++)
                if (e * 32 + self < k) y[int(row) * k + e * 32 + self] = places[e];
            return;
        }
    }
    for (int b = 0; b < size; b += BLOCK) {
        const N turn = size > BLOCK && b & BLOCK ? ~N(0) : 0;
        N v[V];
        for (int e = 0; e < V; e++) {
            const int i = b + e * 32 + self;
            v[e] = Whole::last;
            if (i < n) v[e] = Whole::of(key(x[i]) ^ flip, i);
            v[e] ^= turn;
        }
        sort_block(v, lane);
        for (int e = 0; e < V; e++) keys[b + e * 32 + self] = v[e] ^ turn;
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
    for (int run = 2 * BLOCK; run <= size; run *= 2) {
        for (int j = run / 2; j >= BLOCK; j /= 2) {
            for (int i = 0; i < size; i += 2 * j) {
                const N turn = i & run ? ~N(0) : 0;
                for (int l = i; l < i + j; l += 32) {
                    const N a = keys[l + self] ^ turn, b = keys[l + j + self] ^ turn;
                    keys[l + self] = min(a, b) ^ turn;
                    keys[l + j + self] = max(a, b) ^ turn;
                }
            }
            simdgroup_barrier(mem_flags::mem_threadgroup);
        }
        for (int b = 0; b < size; b += BLOCK) {
            const N turn = b & run ? ~N(0) : 0;
            N v[V];
            for (int e = 0; e < V; e++) v[e] = keys[b + e * 32 + self] ^ turn;
            merge<BLOCK>(v, lane);
            for (int e = 0; e < V; e++) keys[b + e * 32 + self] = v[e] ^ turn;
        }
        simdgroup_barrier(mem_flags::mem_threadgroup);
    }
    for (int i = self; i < k; i += 32)
        y[int(row) * k + i] = int(keys[i]) & (sizeof(T) > 2 ? ~0 : 0xFFFF);
}
#endif
